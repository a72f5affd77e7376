/* SPDX-License-Identifier: MIT */
#include "schedule/program.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "ir/text/formula.h"
#include "schedule/step/role.h"
#include "support/names.h"
#include "support/text.h"

/* A call may be in a function that calls itself, if a condition ends the recursion. */
enum { MOST_CALLS = 32, MOST_LINES = 20000, MOST_MATCHES = 64 };

/* A word of the lines and the text that replaces it: a parameter, or the variable of a loop. */
typedef struct Binding { const struct Binding *outer; const char *word, *text; } Binding;

typedef struct Program {
    Ctx *cx;
    const Nest *nest;
    const ScheduleFunction *functions;
    int depth, lines;
} Program;

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t word_length(const char *s)
{
    size_t n = 0;
    if (is_letter(*s))
        while (name_is_word(s[n])) n++;
    return n;
}

static bool is_word(const char *s, size_t n, const char *word) { return strlen(word) == n && memcmp(s, word, n) == 0; }

/* Replaces each word that is bound. A role keeps its name. */
static const char *with_bindings(Ctx *cx, const char *line, const Binding *b)
{
    Text t = text_new(cx);
    for (const char *s = line; *s;) {
        const size_t n = word_length(s);
        const Binding *found = n && !(s > line && s[-1] == '@') ? b : NULL;
        while (found && !is_word(s, n, found->word)) found = found->outer;
        if (found) text_add(&t, found->text);
        else text_addn(&t, s, n ? n : 1);
        s += n ? n : 1;
        while (!n && name_is_word(s[-1]) && name_is_word(*s)) text_char(&t, *s++);      /* a number with letters */
    }
    return text_string(&t);
}

static const char *trimmed(Ctx *cx, const char *s, const char *end)
{
    while (s < end && *s == ' ') s++;
    while (end > s && end[-1] == ' ') end--;
    return name_n(cx, s, (size_t)(end - s));
}

/* Splits a list at its commas outside brackets. Returns the number of parts, at most `most`; -1 if there are more. */
static int split_list(Ctx *cx, const char *s, const char **out, int most)
{
    int count = 0, depth = 0;
    for (const char *begin = s;; s++) {
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
        if (*s && (*s != ',' || depth)) continue;
        const char *part = trimmed(cx, begin, s);
        if (!*s && !count && !*part) return 0;
        if (count == most) return -1;
        out[count++] = part;
        begin = s + 1;
        if (!*s) return count;
    }
}

static bool begins(const char *line, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == ':');
}

/* Returns the text between the first word and the colon that ends the line; reports an error if there is no colon. */
static const char *head_of(Program *p, const WrittenStep *at, const char *line)
{
    const size_t n = strlen(line), first = word_length(line);
    if (line[n - 1] == ':') return trimmed(p->cx, line + first, line + n - 1);
    written_refuse(p->cx, at, "the line ends without a colon; write `if CONDITION:`, `else:` or `for NAME in LIST:`");
    return NULL;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

/* Replaces a role at the begin of the name by its stage, if there is exactly one. */
static const char *without_role(Program *p, const char *of)
{
    RoleFault fault;
    const size_t n = strcspn(of, ".");
    const Stage **stage = NEW_ARRAY(p->cx->arena, const Stage *, p->nest->stage_count);
    if (*of != '@' || role_stages(p->cx, p->nest, name_n(p->cx, of, n), stage, &fault) != 1) return of;
    return name_format(p->cx, "%s%s", stage[0]->name, of + n);
}

/* Returns the loop's extent if it is a number; otherwise reports the fault. */
static bool extent_of(Program *p, const WrittenStep *at, const char *full, int64_t *out)
{
    Path path;
    if (!nest_find_loop(p->nest, full, &path)) {
        written_refuse(p->cx, at, text_format(p->cx, "there is no loop %s; use a loop of the nest at this line", full));
        return false;
    }
    const Expr *extent = path.at[path.depth - 1]->extent;
    if (extent->kind == EXPR_INT) return *out = extent->integer, true;
    written_refuse(p->cx, at, text_format(p->cx, "the extent of %s is not a number; use a loop of a fixed size", full));
    return false;
}

/* Returns true if the nest has a loop or stage of this name, or a stage that reads a tensor of this name. */
static bool exists(Program *p, const char *wanted)
{
    Path path;
    bool found = nest_stage(p->nest, wanted) || nest_find_loop(p->nest, wanted, &path);
    for (int i = 0; i < p->nest->stage_count && !found; i++) {
        const Tensor **reads;
        const int count = stage_reads(p->cx, p->nest->stage[i], &reads);
        for (int r = 0; r < count; r++) found = found || text_equal(reads[r]->name, wanted);
    }
    return found;
}

/* Replaces extent(LOOP) by its number, exists(NAME) and has(FEATURE) by true or false. */
static const char *with_facts(Program *p, const WrittenStep *at, const char *condition)
{
    Text t = text_new(p->cx);
    for (const char *s = condition; *s && !ctx_failed(p->cx);) {
        const size_t n = word_length(s);
        const char *close = s[n] == '(' ? strchr(s + n, ')') : NULL;
        const char *argument = close ? without_role(p, trimmed(p->cx, s + n + 1, close)) : "";
        int64_t extent = 0;
        bool is_fact = close != NULL;
        if (close && is_word(s, n, "extent") && extent_of(p, at, argument, &extent))
            text_printf(&t, "%lld", (long long)extent);
        else if (close && is_word(s, n, "exists"))
            text_add(&t, exists(p, argument) ? "true" : "false");
        else if (close && is_word(s, n, "has"))
            text_add(&t, p->nest->features && text_has_word(p->nest->features, argument) ? "true" : "false");
        else is_fact = false;
        if (!is_fact) text_addn(&t, s, n ? n : 1);
        s = is_fact ? close + 1 : s + (n ? n : 1);
    }
    return text_string(&t);
}

static bool holds(Program *p, const WrittenStep *at, const char *condition)
{
    const char *text = with_facts(p, at, condition);
    if (ctx_failed(p->cx)) return false;
    const DiagMark mark = diag_mark(p->cx);
    const Expr *e = expr_read(p->cx, text, (const Bind[]){ { NULL, NULL, NULL } }, I32);
    if (!ctx_failed(p->cx)) e = simplify(p->cx, e, NULL);
    if (!ctx_failed(p->cx) && e->kind == EXPR_INT && e->type == BOOL) return e->integer != 0;
    diag_rewind(p->cx, mark);
    written_refuse(p->cx, at, text_format(p->cx, "'%s' is not true or false; use numbers, comparisons, extent(LOOP), "
                                          "exists(NAME) and has(FEATURE)", text));
    return false;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void run(Program *p, const WrittenStep *line, int count, const Binding *b);

/* Returns the number of lines that follow line[0] and are indented deeper. */
static int block_of(const WrittenStep *line, int count)
{
    int n = 1;
    while (n < count && line[n].indent > line[0].indent) n++;
    return n - 1;
}

static bool has_block(Program *p, const WrittenStep *line, int block)
{
    if (!block) written_refuse(p->cx, line, "no lines belong to this one; indent the steps below it deeper");
    return block > 0;
}

/* Returns the number of lines of `if`, its block, and `else` with its block. */
static int run_if(Program *p, const WrittenStep *line, int count, const char *text, const Binding *b)
{
    const char *condition = head_of(p, line, text);
    const int yes = block_of(line, count);
    const bool has_else = yes + 1 < count && line[yes + 1].indent == line->indent && begins(line[yes + 1].text, "else");
    const int no = has_else ? block_of(line + yes + 1, count - yes - 1) : 0;
    if (!condition || !has_block(p, line, yes) || (has_else && !has_block(p, line + yes + 1, no))) return count;
    const bool is_true = holds(p, line, condition);
    if (is_true) run(p, line + 1, yes, b);
    else if (has_else) run(p, line + yes + 2, no, b);
    return 1 + yes + (has_else ? 1 + no : 0);
}

/* Returns the names of the list's element: the name itself, or for a role the stages that have it, consumers first. */
static int matches_of(Program *p, const WrittenStep *at, const char *element, const char **out)
{
    RoleFault fault;
    if (*element != '@') return *out = element, 1;
    const Stage **stage = NEW_ARRAY(p->cx->arena, const Stage *, p->nest->stage_count);
    const int count = role_stages(p->cx, p->nest, element, stage, &fault);
    if (count < 0 || count > MOST_MATCHES) {
        written_refuse(p->cx, at, count < 0 ? text_format(p->cx, "%s; use %s", fault.fault, fault.accepted)
                                            : "more than 64 stages have this role; use the names of stages");
        return 0;
    }
    for (int i = 0; i < count; i++) out[i] = stage[count - 1 - i]->name;
    return count;
}

static void run_for(Program *p, const WrittenStep *line, int count, const char *text, const Binding *b)
{
    const char *head = head_of(p, line, text), *element[MOST_MATCHES], *match[MOST_MATCHES];
    const int block = block_of(line, count);
    const size_t n = head ? word_length(head) : 0;
    if (!head || !has_block(p, line, block)) return;
    if (!n || strncmp(head + n, " in ", 4) != 0) {
        written_refuse(p->cx, line, "this loop has no list; write `for NAME in LIST:`, where LIST has stages, roles or "
                                    "numbers");
        return;
    }
    const int elements = split_list(p->cx, head + n + 4, element, MOST_MATCHES);
    if (elements < 0) written_refuse(p->cx, line, "the list has more than 64 elements");
    for (int i = 0; i < elements && !ctx_failed(p->cx); i++) {
        const int matches = matches_of(p, line, element[i], match);
        for (int k = 0; k < matches && !ctx_failed(p->cx); k++) {
            const Binding variable = { b, name_n(p->cx, head, n), match[k] };
            run(p, line + 1, block, &variable);
        }
    }
}

static const ScheduleFunction *function_called(const Program *p, const char *text)
{
    const size_t n = word_length(text);
    const ScheduleFunction *f = n && text[n] == '(' && text[strlen(text) - 1] == ')' ? p->functions : NULL;
    while (f && !is_word(text, n, f->name)) f = f->outer;
    return f;
}

static void run_call(Program *p, const WrittenStep *at, const ScheduleFunction *f, const char *text)
{
    Ctx *cx = p->cx;
    const size_t n = word_length(text);
    const char *argument[MOST_PARAMETERS];
    Binding binding[MOST_PARAMETERS];
    const int count = split_list(cx, name_n(cx, text + n + 1, strlen(text) - n - 2), argument, MOST_PARAMETERS);
    if (count != f->parameter_count) {
        written_refuse(cx, at, text_format(cx, "%s has %d parameter%s; use as many arguments", f->name,
                                           f->parameter_count, f->parameter_count == 1 ? "" : "s"));
        return;
    }
    if (p->depth == MOST_CALLS) written_refuse(cx, at, "functions call each other more than 32 deep");
    for (int i = 0; i < count; i++)
        binding[i] = (Binding){ i ? &binding[i - 1] : NULL, f->parameter[i], without_role(p, argument[i]) };
    p->depth++;
    if (!ctx_failed(cx)) run(p, f->line, f->line_count, count ? &binding[count - 1] : NULL);
    p->depth--;
}

/* Runs one line with its block, and returns the number of lines. */
static int run_line(Program *p, const WrittenStep *line, int count, const Binding *b)
{
    const char *text = with_bindings(p->cx, line->text, b);
    if (++p->lines > MOST_LINES) written_refuse(p->cx, line, "the schedule has more than 20000 steps");
    if (ctx_failed(p->cx)) return count;
    if (begins(text, "if")) return run_if(p, line, count, text, b);
    if (begins(text, "else")) {
        written_refuse(p->cx, line, "there is no `if` before this line, at the same indentation");
        return count;
    }
    if (begins(text, "for")) {
        run_for(p, line, count, text, b);
        return 1 + block_of(line, count);
    }
    const ScheduleFunction *f = function_called(p, text);
    if (f) run_call(p, line, f, text);
    else {
        WrittenStep step = *line;
        step.text = text;
        p->nest = sched_written(p->cx, p->nest, &step);
    }
    return 1;
}

static void run(Program *p, const WrittenStep *line, int count, const Binding *b)
{
    for (int i = 0; i < count && !ctx_failed(p->cx);) i += run_line(p, line + i, count - i, b);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static void add_parameters(Lexer *l, ScheduleFunction *f)
{
    while (!lex_is(l, ")") && !ctx_failed(l->cx)) {
        const Token at = lex_peek(l);
        const char *parameter = lex_name(l, "a parameter of the function");
        for (int i = 0; parameter && i < f->parameter_count; i++)
            if (text_equal(f->parameter[i], parameter)) lex_error(l, at, "two parameters are named '%s'", parameter);
        if (f->parameter_count == MOST_PARAMETERS)
            lex_error(l, at, "the function has too many parameters; use at most %d", MOST_PARAMETERS);
        else f->parameter[f->parameter_count++] = parameter;
        if (!lex_is(l, ")")) lex_expect(l, ",", "between parameters");
    }
}

ScheduleFunction *sched_function(Lexer *l, const ScheduleFunction *outer, const WrittenStep *line)
{
    ScheduleFunction *f = NEW(l->cx->arena, ScheduleFunction);
    lex_take(l);
    const Token at = lex_peek(l);
    *f = (ScheduleFunction){ .outer = outer, .name = lex_name(l, "the name of the function"), .line = line };
    for (const ScheduleFunction *o = outer; o && f->name; o = o->outer)
        if (text_equal(o->name, f->name)) lex_error(l, at, "the function '%s' already exists; use a new name", f->name);
    lex_expect(l, "(", "after the name of the function");
    add_parameters(l, f);
    lex_expect(l, ")", "after the parameters");
    lex_expect(l, ":", "after the parameters");
    lex_finish(l);
    return f;
}

const Nest *sched_program(Ctx *cx, const Nest *n, const ScheduleFunction *functions, const WrittenStep *line,
                          int count)
{
    Program p = { .cx = cx, .nest = n, .functions = functions };
    if (n && !ctx_failed(cx)) run(&p, line, count, NULL);
    return p.nest;
}
