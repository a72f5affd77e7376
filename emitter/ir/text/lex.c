/* SPDX-License-Identifier: MIT */
#include "ir/text/lex.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }

static const char *skip_blank(const char *s, const char *end)
{
    for (; s < end; s++) {
        if (*s == '#')
            while (s < end && *s != '\n') s++;
        if (s == end || (*s != ' ' && *s != '\t' && *s != '\r' && *s != '\n')) break;
    }
    return s;
}

static const char *end_of_name(const char *s, const char *end)
{
    while (s < end && is_word(*s)) {
        while (s < end && is_word(*s)) s++;
        if (s + 1 < end && (*s == '.' || *s == '@') && is_letter(s[1])) s++;
    }
    return s;
}

/* Returns the end of a number. A '.' followed by another '.' is not part of a number: `1..8` is two integers around
 * `..`. */
static const char *end_of_number(const char *s, const char *end, TokenKind *kind)
{
    *kind = TOKEN_INTEGER;
    if (s + 2 < end && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        for (s += 2; s < end && is_hex(*s); s++) {}
        return s;
    }
    while (s < end && is_digit(*s)) s++;
    if (s < end && *s == '.' && !(s + 1 < end && s[1] == '.')) {
        *kind = TOKEN_REAL;
        for (s++; s < end && is_digit(*s); s++) {}
    }
    if (s < end && (*s == 'e' || *s == 'E')) {
        const char *e = s + 1;
        if (e < end && (*e == '+' || *e == '-')) e++;
        if (e < end && is_digit(*e)) {
            *kind = TOKEN_REAL;
            for (s = e; s < end && is_digit(*s); s++) {}
        }
    }
    return s;
}

static const char *end_of_string(const char *s, const char *end)
{
    for (s++; s < end && *s != '"' && *s != '\n'; s++) {}
    return s < end && *s == '"' ? s + 1 : NULL;
}

/* The symbols. A longer symbol precedes its prefixes. */
static const char *const symbols[] = {
    "<<", "<=", ">>", ">=", "==", "!=", "&&", "||", "..", "<", ">", "=", "!", "&", "|", "^", "~",
    "+",  "-",  "*",  "/",  "%",  "(",  ")",  "[",  "]",  "{", "}", ",", ";", ":", "?", "'",
};

static const char *end_of_symbol(const char *s, const char *end)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        size_t n = strlen(symbols[i]);
        if (n <= (size_t)(end - s) && memcmp(s, symbols[i], n) == 0) return s + n;
    }
    return NULL;
}

/* Returns the end of the token at s, or NULL. */
static const char *scan(const char *s, const char *end, TokenKind *kind)
{
    if (is_letter(*s)) return *kind = TOKEN_NAME, end_of_name(s, end);
    if (is_digit(*s)) return end_of_number(s, end, kind);
    if (*s == '"') return *kind = TOKEN_STRING, end_of_string(s, end);
    return *kind = TOKEN_SYMBOL, end_of_symbol(s, end);
}

/* Appends a token. The initial capacity fits short formulas, of which there are hundreds. */
static void add_token(Lexer *l, int *capacity, Token t)
{
    if (l->count == *capacity) {
        const size_t old = (size_t)*capacity * sizeof(Token);
        *capacity = *capacity ? 2 * *capacity : 24;
        l->token = arena_resize(l->arena, l->token, old, (size_t)*capacity * sizeof(Token));
    }
    l->token[l->count++] = t;
}

static void report_character(const Lexer *l, const char *at)
{
    Token t = { TOKEN_SYMBOL, at, 1 };
    unsigned char c = (unsigned char)*at;
    if (c == '"') lex_error(l, t, "this string does not end on its line");
    else if (c < ' ' || c > '~') lex_error(l, t, "the byte 0x%02x is not expected here", c);
    else lex_error(l, t, "'%c' is not expected here", c);
}

static Lexer lex(Lexer l, size_t begin, size_t end)
{
    const char *s = l.text + begin, *stop = l.text + end;
    int capacity = 0;
    while ((s = skip_blank(s, stop)) < stop) {
        Token t = { TOKEN_END, s, 0 };
        const char *after = scan(s, stop, &t.kind);
        if (!after) {
            report_character(&l, s);
            break;
        }
        t.length = (int)(after - s);
        add_token(&l, &capacity, t);
        s = after;
    }
    /* An error at the end of the text is reported directly after the last token, not after blanks and comments. */
    const char *last = l.count ? l.token[l.count - 1].at + l.token[l.count - 1].length : s;
    add_token(&l, &capacity, (Token){ TOKEN_END, last, 0 });
    l.count--;
    return l;
}

Lexer lex_part(Ctx *cx, const char *text, size_t begin, size_t end, bool is_file, const char *what)
{
    return lex((Lexer){ .cx = cx, .arena = cx->arena, .text = text, .is_file = is_file, .what = what }, begin, end);
}

Lexer lex_text(Ctx *cx, const char *text, const char *what)
{
    return lex((Lexer){ .cx = cx, .arena = cx->scratch, .text = text, .what = what }, 0, strlen(text));
}

Token lex_ahead(const Lexer *l, int n) { return l->token[l->next + n < l->count ? l->next + n : l->count]; }
Token lex_peek(const Lexer *l) { return lex_ahead(l, 0); }

Token lex_take(Lexer *l)
{
    Token t = lex_peek(l);
    if (l->next < l->count) l->next++;
    return t;
}

bool token_is(Token t, const char *text)
{
    return (t.kind == TOKEN_NAME || t.kind == TOKEN_SYMBOL) && strlen(text) == (size_t)t.length &&
           memcmp(t.at, text, (size_t)t.length) == 0;
}

bool token_same(Token a, Token b)
{
    return a.kind == b.kind && a.length == b.length && memcmp(a.at, b.at, (size_t)a.length) == 0;
}

bool lex_is(const Lexer *l, const char *text) { return token_is(lex_peek(l), text); }

bool lex_accept(Lexer *l, const char *text)
{
    if (!lex_is(l, text)) return false;
    l->next++;
    return true;
}

const char *token_text(Ctx *cx, Token t)
{
    return t.kind == TOKEN_END ? "the end" : text_format(cx, "'%.*s'", t.length, t.at);
}

bool lex_expect(Lexer *l, const char *text, const char *where)
{
    if (lex_accept(l, text)) return true;
    lex_error(l, lex_peek(l), "'%s' is expected %s, not %s", text, where, token_text(l->cx, lex_peek(l)));
    return false;
}

const char *lex_name(Lexer *l, const char *what)
{
    Token t = lex_peek(l);
    if (t.kind == TOKEN_NAME) return lex_take(l), name_n(l->cx, t.at, (size_t)t.length);
    lex_error(l, t, "%s is expected, not %s", what, token_text(l->cx, t));
    return NULL;
}

uint64_t token_unsigned(Token t, bool *fits)
{
    bool hex = t.length > 2 && (t.at[1] == 'x' || t.at[1] == 'X');
    uint64_t base = hex ? 16 : 10, v = 0;
    *fits = true;
    for (int i = hex ? 2 : 0; i < t.length; i++) {
        char c = t.at[i];
        uint64_t digit = (uint64_t)(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
        if (v > (UINT64_MAX - digit) / base) *fits = false;
        v = v * base + digit;
    }
    return v;
}

bool lex_integer(Lexer *l, int64_t *out)
{
    bool negative = lex_accept(l, "-"), fits = false;
    Token t = lex_peek(l);
    uint64_t v = t.kind == TOKEN_INTEGER ? token_unsigned(t, &fits) : 0;
    if (!fits || v > INT64_MAX) {
        lex_error(l, t, t.kind == TOKEN_INTEGER ? "%s does not fit in 64 bits" : "an integer is expected, not %s",
                  token_text(l->cx, t));
        return false;
    }
    lex_take(l);
    *out = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

static const char *closing_of(Token t)
{
    return token_is(t, "(") ? ")" : token_is(t, "[") ? "]" : token_is(t, "{") ? "}" : NULL;
}

static bool closes(Token t) { return token_is(t, ")") || token_is(t, "]") || token_is(t, "}"); }

bool lex_brackets(const Lexer *l)
{
    Token *open = NEW_ARRAY(l->cx->arena, Token, l->count + 1);
    int depth = 0;
    for (int i = 0; i < l->count && !ctx_failed(l->cx); i++) {
        const Token t = l->token[i];
        if (closing_of(t)) open[depth++] = t;
        if (!closes(t)) continue;
        const char *expected = depth ? closing_of(open[--depth]) : NULL;
        if (!expected) lex_error(l, t, "'%.*s' closes no bracket", t.length, t.at);
        else if (!token_is(t, expected)) lex_error(l, t, "'%s' is missing before '%.*s'", expected, t.length, t.at);
    }
    if (depth && !ctx_failed(l->cx))
        lex_error(l, open[depth - 1], "'%.*s' is not closed: '%s' is missing", open[depth - 1].length,
                  open[depth - 1].at,
                  closing_of(open[depth - 1]));
    return !ctx_failed(l->cx);
}

bool lex_finish(Lexer *l)
{
    Token t = lex_peek(l);
    if (t.kind == TOKEN_END) return true;
    lex_error(l, t, "%s is not expected here%s", token_text(l->cx, t),
              token_is(t, "?") ? "; write select(CONDITION, VALUE, VALUE) for CONDITION ? VALUE : VALUE" : "");
    return false;
}

/* Returns the line of the token and, below it, a caret per character of the token. Tabs are copied, so that the carets
 * align at any tab width. */
static const char *caret_lines(const Lexer *l, Token at, int *line, int *column)
{
    const char *begin = at.at, *end = at.at;
    while (begin > l->text && begin[-1] != '\n') begin--;
    while (*end && *end != '\n' && *end != '\r') end++;
    *line = 1;
    for (const char *s = l->text; s < begin; s++) *line += *s == '\n';
    *column = (int)(at.at - begin) + 1;
    Text t = text_new(l->cx);
    text_add(&t, "  ");
    text_addn(&t, begin, (size_t)(end - begin));
    text_add(&t, "\n  ");
    for (const char *s = begin; s < at.at; s++) text_char(&t, *s == '\t' ? '\t' : ' ');
    int carets = at.length < 1 ? 1 : at.length;
    for (int i = 0; i < carets && (i == 0 || at.at + i < end); i++) text_char(&t, '^');
    return text_string(&t);
}

static void report(const Lexer *l, Token at, const char *what)
{
    int line, column;
    const char *source = caret_lines(l, at, &line, &column);
    const char *where = l->is_file ? text_format(l->cx, "%d:%d", line, column) : l->what;
    diag_with_source(l->cx, where, source, "%s", what);
}

void lex_error(const Lexer *l, Token at, const char *format, ...)
{
    if (ctx_failed(l->cx)) return;
    va_list args;
    va_start(args, format);
    report(l, at, text_vformat(l->cx, format, args));
    va_end(args);
}

void lex_relocate(const Lexer *l, DiagMark mark, Token at) { lex_relocate_after(l, mark, at, NULL); }

void lex_relocate_after(const Lexer *l, DiagMark mark, Token at, const char *prefix)
{
    if (mark.failed || !ctx_failed(l->cx)) return;
    const Diag *last = *mark.last;
    while (last->severity < ERROR) last = last->next;
    if (last->source) return;
    Diag *d = diag_rewind(l->cx, mark);
    while (d->severity < ERROR) d = d->next;      /* drops warnings before the error, because no call reports both */
    const char *what = d->where ? text_format(l->cx, "%s: %s", d->where, d->what) : d->what;
    report(l, at, prefix ? text_format(l->cx, "%s: %s", prefix, what) : what);
}
