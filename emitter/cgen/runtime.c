/* SPDX-License-Identifier: MIT */
/* The runtime headers consist of pieces, each between `lw: NAME needs NAMES` and `lw: end`. A piece is required if the
 * code contains its name or a required piece needs it. Vectors have one piece per width, named lw_x8 for lw_f32x8_add
 * and all others; several headers define such a piece, and simd/simd.h selects one. */
#include "cgen/runtime.h"

#include <string.h>

#include "support/map.h"
#include "support/names.h"

static const char *const lines[] = {
#define RUNTIME_FILE(name) "\f" name,     /* a form feed starts a file */
#define RUNTIME_LINE(text) text,
#include "runtime_text.h"
#undef RUNTIME_FILE
#undef RUNTIME_LINE
};
enum { LINE_COUNT = sizeof lines / sizeof *lines };

typedef struct Piece { const char *name, *file, *needs; int first, last; bool wanted; } Piece;
typedef struct Pieces { int count; Piece *at; Map by_name; } Pieces;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static Pieces find_pieces(Ctx *cx)
{
    static const char open[] = "/* lw: ", close[] = "/* lw: end */";
    Pieces p = { 0, NEW_ARRAY(cx->arena, Piece, LINE_COUNT), map_new(cx->arena) };
    const char *file = "";
    for (int i = 0; i < LINE_COUNT; i++) {
        if (lines[i][0] == '\f') file = lines[i] + 1;
        if (strncmp(lines[i], open, sizeof open - 1) != 0) continue;
        if (strcmp(lines[i], close) == 0) {
            if (p.count) p.at[p.count - 1].last = i;
            continue;
        }
        const char *word = lines[i] + sizeof open - 1;
        size_t n = 0;
        while (is_word(word[n])) n++;
        p.at[p.count] = (Piece){ name_n(cx, word, n), file, word + n, i + 1, i + 1, false };
        map_put_ptr(&p.by_name, p.at[p.count].name, &p.at[p.count]);
        p.count++;
    }
    return p;
}

/* Returns "lw_x8" for lw_f32x8 and lw_f32x8_add, or NULL for other names. */
static const char *vector_piece(Ctx *cx, const char *word, size_t length)
{
    size_t x = 3, digits = 0;
    while (x < length && word[x] != 'x' && word[x] != '_') x++;
    if (x == length || word[x] != 'x') return NULL;
    while (x + 1 + digits < length && word[x + 1 + digits] >= '0' && word[x + 1 + digits] <= '9') digits++;
    bool ends = x + 1 + digits == length || word[x + 1 + digits] == '_';
    return digits && ends ? name_format(cx, "lw_x%.*s", (int)digits, word + x + 1) : NULL;
}

static void want(Ctx *cx, Pieces *p, const char *text);

/* Marks all pieces of a name, and their needs. */
static void want_piece(Ctx *cx, Pieces *p, const char *wanted)
{
    if (!wanted || !map_get_ptr(&p->by_name, wanted)) return;
    for (int i = 0; i < p->count; i++) {
        if (p->at[i].name != wanted || p->at[i].wanted) continue;
        p->at[i].wanted = true;
        want(cx, p, p->at[i].needs);
    }
}

/* The keyword that C++ lacks. */
static bool is_keyword(const char *word, size_t n) { return n == 8 && memcmp(word, "restrict", n) == 0; }

/* Marks the pieces named in a text, and their needs. */
static void want(Ctx *cx, Pieces *p, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (is_word(text[n])) n++;
        bool ours = (n > 3 && (memcmp(text, "lw_", 3) == 0 || memcmp(text, "LW_", 3) == 0)) || is_keyword(text, n);
        if (ours) want_piece(cx, p, name_n(cx, text, n));
        if (ours) want_piece(cx, p, vector_piece(cx, text, n));
        text += n ? n : 1;
    }
}

static bool mentions(const char *code, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(code, word); at; at = strstr(at + 1, word))
        if ((at == code || !is_word(at[-1])) && !is_word(at[n])) return true;
    return false;
}

/* Returns the header to include for a piece of this file. simd/simd.h and lw_math.h include their neighbours. */
static const char *header_of(const char *file)
{
    if (strncmp(file, "simd/", 5) == 0) return "simd/simd.h";
    return strncmp(file, "lw_math_", 8) == 0 ? "lw_math.h" : file;
}

static bool wants_header(const Pieces *p, const char *header)
{
    for (int i = 0; i < p->count; i++)
        if (p->at[i].wanted && strcmp(header_of(p->at[i].file), header) == 0) return true;
    return false;
}

void runtime_prologue(Ctx *cx, Text *out, const char *code, bool inlined)
{
    Pieces p = find_pieces(cx);
    want(cx, &p, code);
    bool math = wants_header(&p, "lw_math.h");
    if ((inlined && math) || mentions(code, "INFINITY") || mentions(code, "NAN") || mentions(code, "HUGE_VAL"))
        text_add(out, "#include <math.h>\n");
    if (inlined && math) text_add(out, "#include <string.h>\n");
    text_add(out, "\n");
    if (!inlined) {
        for (int i = 0; i < LINE_COUNT; i++)
            if (lines[i][0] == '\f' && wants_header(&p, lines[i] + 1))
                text_printf(out, "#include \"%s\"\n", lines[i] + 1);
        return;
    }
    for (int i = 0; i < p.count; i++) {
        if (!p.at[i].wanted) continue;
        for (int j = p.at[i].first; j < p.at[i].last; j++) text_printf(out, "%s\n", lines[j]);
        text_char(out, '\n');
    }
}
