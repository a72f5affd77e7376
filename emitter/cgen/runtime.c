/* SPDX-License-Identifier: MIT */
/* Prints the runtime. Each header consists of pieces, each between `lw: NAME needs NAMES` and `lw: end`. A piece is
 * required if the code contains its name or a required piece needs it. Vectors have one piece per width, named lw_x8
 * for lw_f32x8_add and all others; several headers define such a piece, and simd/simd.h selects one. */
#include "cgen/runtime.h"

#include <string.h>

#include "support/map.h"
#include "support/names.h"
#include "support/sha256.h"

static const char *const lines[] = {
#define RUNTIME_FILE(name) "\f" name,     /* a form feed starts a file */
#define RUNTIME_LINE(text) text,
#include "runtime_text.h"
#undef RUNTIME_FILE
#undef RUNTIME_LINE
};
enum { LINE_COUNT = sizeof lines / sizeof *lines };

/* copy: the number of pieces with this name that precede this piece in its file. */
typedef struct Piece { const char *name, *file, *needs; int first, last, copy; bool wanted; } Piece;
typedef struct Pieces { Ctx *cx; int count; Piece *at; Map by_name, read; } Pieces;

/* Returns the header to include for a piece of this file. simd/simd.h and lw_math.h include the other headers of their
 * kind. */
static const char *header_of(const char *file)
{
    if (strncmp(file, "simd/", 5) == 0) return "simd/simd.h";
    return strncmp(file, "lw_math_", 8) == 0 ? "lw_math.h" : file;
}

/* Returns the line with the name of the file, or LINE_COUNT if there is no such file. */
static int line_of_file(const char *file)
{
    int i = 0;
    while (i < LINE_COUNT && (lines[i][0] != '\f' || strcmp(lines[i] + 1, file) != 0)) i++;
    return i;
}

static void add_piece(Pieces *p, const char *file, const char *word, int line)
{
    size_t n = 0;
    int copy = 0;
    while (name_is_word(word[n])) n++;
    const char *piece = name_n(p->cx, word, n);
    for (int i = 0; i < p->count; i++) copy += p->at[i].name == piece && p->at[i].file == file;
    p->at[p->count] = (Piece){ piece, file, word + n, line + 1, line + 1, copy, false };
    map_put_ptr(&p->by_name, piece, &p->at[p->count]);
    p->count++;
}

static void read_file(Pieces *p, const char *file);

/* Reads the file that the line includes; the path is relative to the folder of `file`. */
static void read_included(Pieces *p, const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    const int folder = slash ? (int)(slash + 1 - file) : 0, length = (int)strcspn(path, "\"");
    read_file(p, name_format(p->cx, "%.*s%.*s", folder, file, length, path));
}

/* Collects the pieces of a file in the order in which a compiler reads them: the pieces of an included file follow at
 * its #include. */
static void read_file(Pieces *p, const char *file)
{
    static const char open[] = "/* lw: ", close[] = "/* lw: end */", include[] = "#include \"";
    file = name(p->cx, file);
    if (map_get_ptr(&p->read, file)) return;
    map_put_ptr(&p->read, file, p);
    for (int i = line_of_file(file) + 1; i < LINE_COUNT && lines[i][0] != '\f'; i++)
        if (strncmp(lines[i], include, sizeof include - 1) == 0) read_included(p, file, lines[i] + sizeof include - 1);
        else if (strcmp(lines[i], close) == 0) p->at[p->count - 1].last = i;
        else if (strncmp(lines[i], open, sizeof open - 1) == 0) add_piece(p, file, lines[i] + sizeof open - 1, i);
}

static Pieces find_pieces(Ctx *cx)
{
    Pieces p = { cx, 0, NEW_ARRAY(cx->arena, Piece, LINE_COUNT), map_new(cx->arena), map_new(cx->arena) };
    for (int i = 0; i < LINE_COUNT; i++)
        if (lines[i][0] == '\f' && strcmp(header_of(lines[i] + 1), lines[i] + 1) == 0) read_file(&p, lines[i] + 1);
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

/* Marks all pieces of a name, and the pieces that these need. */
static void want_piece(Ctx *cx, Pieces *p, const char *wanted)
{
    if (!wanted || !map_get_ptr(&p->by_name, wanted)) return;
    for (int i = 0; i < p->count; i++) {
        if (p->at[i].name != wanted || p->at[i].wanted) continue;
        p->at[i].wanted = true;
        want(cx, p, p->at[i].needs);
    }
}

/* Returns true for `restrict`, a keyword that C++ lacks. */
static bool is_keyword(const char *word, size_t n) { return n == 8 && memcmp(word, "restrict", n) == 0; }

/* Marks the pieces that the text names, and the pieces that these need. */
static void want(Ctx *cx, Pieces *p, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (name_is_word(text[n])) n++;
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
        if ((at == code || !name_is_word(at[-1])) && !name_is_word(at[n])) return true;
    return false;
}

static bool wants_header(const Pieces *p, const char *header)
{
    for (int i = 0; i < p->count; i++)
        if (p->at[i].wanted && strcmp(header_of(p->at[i].file), header) == 0) return true;
    return false;
}

/* ---- --standalone ------------------------------------------------------------------------------------------------ */

/* Returns the version of the runtime, which is a digest of its text. */
static const char *version(Ctx *cx)
{
    Text all = text_new(cx);
    for (int i = 0; i < LINE_COUNT; i++) text_printf(&all, "%s\n", lines[i]);
    return text_format(cx, "0x1%.7s", sha256_hex(cx, text_string(&all), all.length));
}

/* Returns a name of the piece that is unique over all files: "LW_COPY_simd_avx2_lw_x8". */
static const char *macro_of(Ctx *cx, const Piece *p)
{
    Text t = text_new(cx);
    text_add(&t, "LW_COPY_");
    for (const char *s = p->file; *s && *s != '.'; s++) text_char(&t, (char)(*s == '/' ? '_' : *s));
    text_printf(&t, "_%s", p->name);
    if (p->copy) text_printf(&t, "_%d", p->copy + 1);
    return text_string(&t);
}

static void copy_piece(Ctx *cx, Text *out, const Piece *p)
{
    const char *macro = macro_of(cx, p);
    text_printf(out, "#ifndef %s\n#define %s\n", macro, macro);
    for (int i = p->first; i < p->last; i++) text_printf(out, "%s\n", lines[i]);
    text_add(out, "#endif\n\n");
}

/* Prints the pieces. If a translation unit has two emitted files, the second one uses the pieces that the first one
 * defines. */
static void copy_pieces(Ctx *cx, Text *out, const Pieces *p)
{
    const char *own = version(cx);
    text_printf(out, "#if defined(LW_BASE_H) || (defined(LW_COPY) && LW_COPY != %s)\n"
                     "#error \"two models in one translation unit: emit both by the same compiler, both with "
                     "--standalone or neither\"\n#endif\n", own);
    text_printf(out, "#ifdef __clang__\n#pragma clang diagnostic push\n"
                     "#pragma clang diagnostic ignored \"-Wunused-macros\"\n#endif\n#define LW_COPY %s\n\n", own);
    for (int i = 0; i < p->count; i++)
        if (p->at[i].wanted) copy_piece(cx, out, &p->at[i]);
    text_add(out, "#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n\n");
}

void runtime_prologue(Ctx *cx, Text *out, const char *code, bool inlined)
{
    Pieces p = find_pieces(cx);
    want(cx, &p, code);
    bool math = wants_header(&p, "lw_math.h");
    if ((inlined && math) || mentions(code, "INFINITY") || mentions(code, "NAN") || mentions(code, "HUGE_VAL"))
        text_add(out, "#include <math.h>\n");
    const bool copies = wants_header(&p, "lw_copy.h") && !strstr(text_string(out), "#include <string.h>");
    if (inlined && (math || copies)) text_add(out, "#include <string.h>\n");
    text_add(out, "\n");
    if (!inlined) {
        for (int i = 0; i < LINE_COUNT; i++)
            if (lines[i][0] == '\f' && wants_header(&p, lines[i] + 1))
                text_printf(out, "#include \"%s\"\n", lines[i] + 1);
        return;
    }
    copy_pieces(cx, out, &p);
}

/* Returns true if the piece defines a function of its name. */
static bool is_function(const Piece *p)
{
    static const char head[] = "static inline ";
    const size_t n = strlen(p->name);
    for (int i = p->first; i < p->last; i++) {
        const char *at = strncmp(lines[i], head, sizeof head - 1) == 0 ? strstr(lines[i], p->name) : NULL;
        if (at && at[-1] == ' ' && at[n] == '(') return true;
    }
    return false;
}

const char *const *runtime_functions(Ctx *cx, const char *code, int *count)
{
    Pieces p = find_pieces(cx);
    const char **name = NEW_ARRAY(cx->arena, const char *, p.count);
    *count = 0;
    want(cx, &p, code);
    for (int i = 0; i < p.count; i++)
        if (p.at[i].wanted && is_function(&p.at[i])) name[(*count)++] = p.at[i].name;
    return name;
}
