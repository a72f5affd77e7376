/* SPDX-License-Identifier: MIT */
/* Writes rows_cases.h: calls of each macro of the tables of instructions with generated numbers, strides and values,
 * and the hashes of the results by the evaluated formulas. Calls take their numbers from a case, or, as emitted code
 * does, have constants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/builtin_rows.h"
#include "context/context.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/read_instruction.h"
#include "rows_data.h"
#include "schedules/line.h"
#include "support/text.h"

enum { CASES = 48, CONSTANT_CASES = 4, MOST_WORDS = 32 };

/* The arguments of a macro that are worth cases, beside the defaults. In a name, `*` stands for any characters and `#`
 * for a digit or none. Words:
 *
 *   NAME=CHOICES      of a number, or the values of an operand; a choice is a number, a range, or a name of a number
 *   a1=CHOICES        of the stride of a's dimension 1; a0: of another dimension, where a window overlaps the next
 *   a@102             the order of a's dimensions in memory, the outermost first, if it is not theirs
 *   dense             no gaps between elements
 *   wide              of weights that two products of which pass 16 bits: not for vectors of RISC-V
 *   line              the numbers of a sum of two bytes, and of its line */
typedef struct Family { const char *macro, *words; } Family;
static const Family families[] = {
    { "LW_DOT_2X2_I16", "n=1..10 a=-128..127" },
    { "LW_DOT_2X2_I16", "n=1..10 b@1023 dense a=-128..127" },
    { "LW_DOT_2X4_I16", "n=1..20 a=-128..127 b=-32768..32639" },
    { "LW_DOT_2X4_I16", "n=1..20 a=-128..127 b=-32768..32639 dense" },
    { "LW_DOT_2X4_I16", "n=1..20 a=-128..127 b=-32768..32639 a@102" },
    { "LW_DOT_1X4_PAIRS_I8", "n=1..12 b=-32768..32639" },
    { "LW_DOT_1X4_PAIRS_I8", "n=1..12 b=-32768..32639 dense" },
    { "LW_DOT_2X*_FOURS", "n=1..40 m=1..5 a=-128..127" },
    { "LW_DOT_2X*_FOURS", "n=1..40 m=1..5 a=-128..127 dense a@102" },
    { "LW_DOT_1X*_FOURS_I8", "n=1..20 m=1..5" },
    { "LW_DOT_1X*_FOURS_I8", "n=1..20 m=1..5 dense" },
    { "LW_DOT_EIGHTS_I8", "n=1..60 m=1..5" },
    { "LW_DOT_EIGHTS_I8", "n=1..60 m=1..5 dense" },
    { "LW_DOT_1X8_EIGHTS_I8", "n=1..60" },
    { "LW_DOT_SIXTEENS_I8", "n=1..90 m=1..3 b=-2147483647..2147483647" },
    { "LW_DOT_SIXTEENS_I8", "n=1..90 m=1..3 b=-2147483647..2147483647 dense" },
    { "LW_DOT_1X16_SIXTEENS_I8", "n=1..90 b=-2147483647..2147483647" },
    { "LW_DOT_LONG_I8", "n=1..40|256..300 m=1..3" },
    { "LW_DOT_LONG_I8", "n=1..40 m=1..3 dense" },
    { "LW_DOT_1X4_LONG_I8", "n=1..40|256..300" },
    { "LW_DOT_1X4_LONG_I8", "n=1..40|256..300 dense" },
    { "LW_DOT_WORDS_I8", "n=1..100 a=-128..127 b=-127..127" },
    { "LW_DOT_WORDS_I8", "n=1..100 a=-128..127 b=-127..127 dense" },
    { "LW_PANEL*_I16", "n=1..12 m=4|8|16" },
    { "LW_PANEL*_I16", "n=1..12 m=4|8|16 dense" },
    { "LW_PANEL*_I16", "n=1..6 m=1..20" },
    { "LW_PANEL_PAIR_I8", "n=1..7 m=1..7 d=16 a0=5 dense" },
    { "LW_NIBBLES_I8", "n=1..7 m=1..9 dense" },
    { "LW_NIBBLES_PAIR_I8", "n=1..7 m=1..9 a0=5 dense" },
    { "LW_WINDOW_NIBBLES*_I8", "kh=1..3 n=1..5 m=1..9 a0=17 dense" },
    { "LW_WINDOW_PANEL_PAIR_I8", "kh=1..3 n=1..5 m=1..7 d=16 a0=5 dense" },
    { "LW_PANEL#_I8", "n=1..12 m=4 d=4|8|16 b=-127..127 dense" },
    { "LW_PANEL#_I8", "n=1..9 m=8 d=4|8 b=-127..127 dense" },
    { "LW_PANEL#_I8", "n=1..12 m=16 d=4 b=-127..127 dense" },
    { "LW_PANEL#_I8", "n=1..6 m=1..9 d=1..4|8|16 b=-127..127" },
    { "LW_WINDOW*_PANEL_I8", "kh=1..3 n=1..4 m=4 d=8|16 b=-127..127 a0=d dense" },
    { "LW_WINDOW*_PANEL_I8", "kh=1..3 n=1..4 m=8 d=4|8 b=-127..127 a1=80 a0=d dense" },
    { "LW_WINDOW*_PANEL_I8", "kh=1..3 n=1..4 m=16 d=4 b=-127..127 dense" },
    { "LW_WINDOW*_PANEL_I8", "kh=1..3 n=1..4 m=1..9 d=1..4|8|16 b=-127..127" },
    { "LW_*PANEL*_U8", "kh=1..3 n=1..9 m=8|16|32 d=4 dense" },
    { "LW_WINDOW*_U8", "kh=1..3 n=1..4 m=8|16|32 d=4 a1=48 a0=d dense" },
    { "LW_*PANEL*_U8", "kh=1..3 n=1..4 m=1..9|16 d=1..4" },
    { "LW_WINDOW_I8", "n=4|8|16 b=-127..127" },
    { "LW_WINDOW_I8", "n=1..20 kh=1..10 wide" },
    { "LW_WINDOW_I8", "n=4|8|16 kh=3 kw=3 b=-127..127 dense" },
    { "LW_WINDOW2_I8", "n=4|8|16 b=-127..127 a1=a0" },
    { "LW_WINDOW2_I8", "n=16 kh=3 kw=3 b=-127..127 a1=a0" },
    { "LW_WINDOW2_I8", "n=4|8|16 b=-127..127 a1=a2" },
    { "LW_WINDOW2_I8", "n=4|8|16 kh=3 kw=3 b=-127..127 dense" },
    { "LW_WINDOW2_I8", "n=1..20 wide" },
    { "LW_TAPS*_I8", "n=4|8|16 k=1..10 b=-127..127" },
    { "LW_TAPS*_I8", "n=1..20 k=1..10 wide" },
    { "LW_*2_TILES_I8", "n=8 kh=3 kw=3 k=1..10 b=-127..127 dense" },
    { "LW_*2_TILES_I8", "n=8 kh=3 kw=3 k=1..10 b=-127..127 dense a1=a0" },
    { "LW_*2_TILES_I8", "n=8|4|5 b=-127..127" },
    { "LW_COLUMNS_I16", "r=4 n=4 m=1..10" },
    { "LW_COLUMNS_I16", "r=4 n=4 m=1..10 dense" },
    { "LW_COLUMNS_I16", "" },
    { "LW_DOT_COLUMNS_I16", "kh=3 kw=3 n=4 m=1..8 a=-128..127 dense a1=4 a2=4 a3=1 a0=40|42" },
    { "LW_DOT_COLUMNS_I16", "n=1..5 m=1..5 a=-128..127" },
    { "LW_*_WINDOW_I8", "kh=1..16 kw=1..16 n=4|8|16 a1=4..8" },
    { "LW_*_WINDOW_I8", "n=1..20" },
    { "LW_SUM_WINDOW_I8", "kh=240..272 kw=1 n=4|8|16 a0=0" },
    { "LW_SUM_WINDOW_I8", "kh=1 kw=240..272 n=4|8|16 a1=0" },
    { "LW_*_TAPS_I8", "k=1..16 n=1..20|8|16" },
    { "LW_UNPACK#_I8", "n=1..9 m=4|16 dense least=-128..112" },
    { "LW_UNPACK#_I8", "n=1..9 m=1..20 least=-128..112" },
    { "LW_PAIRS_I16", "n=1..20" },
    { "LW_PAIRS_I16", "n=1..20 y@102 dense" },
    { "LW_FETCH_ROW_I8", "m=4..6 left=0..2 n=6..20 own=1..20 p=1" },
    { "LW_FETCH_ROW_I8", "m=1..6 n=1..20 own=n|1..20" },
    { "LW_FETCH_ROW_I8", "m=5 n=1..20 own=n p=1 dense" },
    { "LW_SCALE*_I8", "n=1..40 a=-1073741824..1073741823 m=1073741824..2147483647 s=0..30 dense" },
    { "LW_SCALE*_I8", "n=1..40 a=-300000..300000 m=1073741824..2147483647 s=6..11 dense" },
    { "LW_SCALE*_I8", "n=1..40 a=-4096..4096 m=1073741824 s=0..6 dense" },
    { "LW_SCALE*_I8", "n=1..40 a=-300000..300000 m=1073741824..2147483647 s=6..11 zero=-128 least=-128 dense" },
    { "LW_SCALE2_EACH_I8", "n=1..40 a=-300000..300000 m=1073741824..2147483647 s=6..11" },
    { "LW_COPY_PAIR_I32", "dense" },
    { "LW_ADD_I8", "n=1..40 sc=15..20" },
    { "LW_ADD_I8", "n=1..40 za=-700..700 zb=-700..700 ma=1073741824 sc=15..20" },
    { "LW_ADD_I8", "n=1..40 za=128 ma=1073741824 sa=0 sc=17" },
    { "LW_ADD_LINE_I8", "n=1..40 line" },
};
/* Of every macro. */
static const char defaults[] =
    "n=1..40|4|8|16|32 m=1..8 d=1..4 kh=1..4 kw=1..4 k=1..6 t=1..3 r=1..4 left=0..7 inner=1..6 own=1..20 p=0..1 q=0..1 "
    "fill=-128..127 zero=-128..127 least=-128|-100 most=127|120 za=-128..127 zb=-128..127 ma=1073741824..2147483647 "
    "mb=1073741824..2147483647 mc=1073741824..2147483647 sa=0..7 sb=0..7 sc=0..20";

static uint32_t seed = 1;
static int32_t draw(int32_t least, int32_t greatest) { return rows_between(least, greatest, &seed); }

static bool is_like(const char *name, const char *pattern)
{
    if (*pattern == '*') return is_like(name, pattern + 1) || (*name && is_like(name + 1, pattern));
    if (*pattern == '#')
        return is_like(name, pattern + 1) || (*name >= '0' && *name <= '9' && is_like(name + 1, pattern + 1));
    return *name == *pattern && (!*name || is_like(name + 1, pattern + 1));
}

typedef struct Operand {
    const Tensor *tensor;
    const char *name;
    char type;
    int32_t index, size[MAX_RANK], stride[MAX_RANK];
    RowsMemory memory;
    void *data;                              /* ROWS_ROOM elements */
} Operand;

typedef struct Case {
    Ctx *cx;
    const Instruction *instruction;
    const char *words;                       /* of its family */
    bool is_fine;                            /* memories have room */
    int32_t number[MAX_NUMBERS];
    int operand_count;                       /* the result is operand 0 */
    Operand operand[1 + MAX_OPERANDS];
} Case;

/* Returns the text after `name` and `mark` in the words, or NULL. */
static const char *word_of(const char *words, const char *name, char mark)
{
    const size_t length = strlen(name);
    for (const char *at = words; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && at[length] == mark) return at + length + 1;
    return NULL;
}

static const char *number_name(const Instruction *i, int k)
{
    return i->number[k]->kind == EXPR_VAR ? expr_as_var(i->number[k])->name : "";
}

/* The value of a word: an integer, the name of a number, or a stride as a0. */
static int32_t value_at(const Case *c, const char *at, const char **end)
{
    const size_t length = strcspn(at, " |.");
    for (int k = 0; k < c->instruction->number_count; k++) {
        const char *name = number_name(c->instruction, k);
        if (strlen(name) == length && strncmp(at, name, length) == 0) return *end = at + length, c->number[k];
    }
    for (int k = 0; k < c->operand_count; k++)
        if (length == 2 && at[0] == c->operand[k].name[0] && at[1] >= '0' && at[1] <= '9')
            return *end = at + length, c->operand[k].stride[at[1] - '0'];
    return (int32_t)strtol(at, (char **)(size_t)end, 10);
}

/* Draws one of the choices; false if there is no word of the name. */
static bool choose(const Case *c, const char *name, int32_t *least, int32_t *greatest)
{
    const char *at = word_of(c->words, name, '=');
    if (!at) at = word_of(defaults, name, '=');
    if (!at) return false;
    int count = 1;
    for (const char *p = at; *p && *p != ' '; p++) count += *p == '|';
    for (int skip = draw(0, count - 1); skip; skip--) at = strchr(at, '|') + 1;
    *least = *greatest = value_at(c, at, &at);
    if (at[0] == '.' && at[1] == '.') *greatest = value_at(c, at + 2, &at);
    return true;
}

static void choose_line(Case *c)
{
    ScaledSum s;
    ByteLine line;
    do {
        s = (ScaledSum){ .factor = draw(1 << 30, INT32_MAX), .shift = draw(17, 19), .zero = draw(-128, 127),
                         .least = draw(0, 1) ? -128 : -100, .most = draw(0, 1) ? 127 : 120 };
        for (int k = 0; k < 2; k++)
            s.term[k] = (ScaledTerm){ draw(-128, 127), draw(1 << 30, INT32_MAX), draw(1, 5) };
    } while (!line_of_sum(c->cx, &s, &line));
    const int64_t value[] = { line.slope[0] >> 15, line.slope[0] & 32767, line.slope[1] >> 15, line.slope[1] & 32767,
                              line.offset, line.shift, s.least, s.most, s.term[0].zero, s.term[0].factor,
                              s.term[0].shift, s.term[1].zero, s.term[1].factor, s.term[1].shift, s.factor, s.shift,
                              s.zero };
    for (int k = 0; k < (int)(sizeof value / sizeof *value); k++) c->number[1 + k] = (int32_t)value[k];
}

static void choose_numbers(Case *c)
{
    for (int k = 0; k < c->instruction->number_count; k++) {
        const Expr *e = c->instruction->number[k];
        int32_t least = (int32_t)e->integer, greatest = least;
        if (e->kind == EXPR_VAR && !choose(c, number_name(c->instruction, k), &least, &greatest)) continue;
        c->number[k] = draw(least, greatest);
    }
    if (text_has_word(c->words, "line")) choose_line(c);
}

static int32_t size_of(const Case *c, const Expr *dim)
{
    const int k = instruction_number(c->instruction, dim);
    return k >= 0 ? c->number[k] : (int32_t)dim->integer;
}

static int64_t reach_of(const Operand *o)
{
    int64_t reach = 1;
    for (int d = 0; d < o->tensor->rank; d++) reach += (int64_t)(o->size[d] - 1) * o->stride[d];
    return reach;
}

/* Strides in the order of memory, with gaps in half of all cases; then those that the words state. */
static void choose_strides(Case *c, Operand *o)
{
    const char *order = word_of(c->words, o->name, '@');
    const bool has_gaps = !text_has_word(c->words, "dense") && draw(0, 1);
    int64_t next = 1;
    for (int k = o->tensor->rank - 1; k >= 0; k--) {
        const int d = order ? order[k] - '0' : k;
        o->size[d] = size_of(c, o->tensor->shape[d]);
        o->stride[d] = (int32_t)next;
        next = next * o->size[d] + (has_gaps ? draw(0, 3) : 0);
    }
    for (int d = o->tensor->rank - 1; d >= 0; d--) {
        int32_t least, greatest;
        if (choose(c, text_format(c->cx, "%s%d", o->name, d), &least, &greatest)) o->stride[d] = draw(least, greatest);
    }
}

static char type_of(const Tensor *t)
{
    static const char type[] = { [I8] = 'b', [U8] = 'u', [I16] = 'h', [U16] = 'n', [U32] = 'l' };
    return t->type < sizeof type && type[t->type] ? type[t->type] : 'i';
}

static void choose_operand(Case *c, int k, const Tensor *t, const char *name, int turn)
{
    Operand *o = &c->operand[k];
    *o = (Operand){ .tensor = t, .name = name, .type = type_of(t), .data = o->data };
    if (strstr(c->instruction->macro, "WORDS") && k && t->type == I32) o->type = 'w';
    c->operand_count = k + 1;
    choose_strides(c, o);
    o->index = draw(0, 5);
    const int64_t extent = o->index + reach_of(o) + (k ? 0 : 4), words = o->type == 'i' ? 1000000 : INT16_MAX;
    int32_t least = t->type == I8    ? INT8_MIN
                    : t->type == I16 ? INT16_MIN
                    : t->type == U32 ? INT32_MIN
                    : t->type == U8 || t->type == U16 ? 0
                                                      : (int32_t)-words,
            greatest = t->type == I8    ? INT8_MAX
                       : t->type == U8  ? UINT8_MAX
                       : t->type == U16 ? UINT16_MAX
                       : t->type == U32 ? INT32_MAX
                                        : (int32_t)words;
    if (k) choose(c, name, &least, &greatest);
    if (!t->rank) least = greatest = draw(least, greatest);
    c->is_fine = c->is_fine && extent <= ROWS_ROOM;
    o->memory = (RowsMemory){ (int32_t)extent, least, greatest, k ? turn : 2, draw(0, INT32_MAX) };
    if (c->is_fine) rows_fill(o->type, o->data, &o->memory);
}

/* Moves `index` to the next element; false after the last one. */
static bool advance(const Operand *o, int32_t *index)
{
    for (int d = o->tensor->rank - 1; d >= 0; d--) {
        if (++index[d] < o->size[d]) return true;
        index[d] = 0;
    }
    return false;
}

static int32_t place_of(const Operand *o, const int32_t *index)
{
    int32_t at = o->index;
    for (int d = 0; d < o->tensor->rank; d++) at += index[d] * o->stride[d];
    return at;
}

/* The operand's elements without gaps, as the evaluator reads them. */
static void set_elements(Ctx *cx, Env *env, const Operand *o)
{
    void *to = env_alloc(cx, env, o->tensor);
    int32_t index[MAX_RANK] = { 0 }, k = 0;
    do rows_set(o->tensor->type == BOOL ? 'u' : o->type, to, k++, rows_get(o->type, o->data, place_of(o, index)));
    while (advance(o, index));
}

static void evaluate_case(Case *c)
{
    Env *env = env_new(c->cx);
    Operand *y = &c->operand[0];
    Tensor *out = c->instruction->stage->out[0];
    const Reducer reducer = c->instruction->stage->reducer;
    for (int k = 0; k < c->instruction->number_count; k++)
        if (c->instruction->number[k]->kind == EXPR_VAR) env_set_size(env, c->instruction->number[k], c->number[k]);
    for (int k = 1; k < c->operand_count; k++) set_elements(c->cx, env, &c->operand[k]);
    if (!evaluate(c->cx, env, &out, 1)) return;
    int32_t index[MAX_RANK] = { 0 }, k = 0;
    do {
        const int32_t at = place_of(y, index), value = rows_get(y->type, env_get(env, out), k++),
                      old = rows_get(y->type, y->data, at);
        rows_set(y->type, y->data, at, reducer == REDUCE_NONE  ? value
                                       : reducer == REDUCE_MAX ? (value > old ? value : old)
                                                               : (int32_t)((uint32_t)old + (uint32_t)value));
    } while (advance(y, index));
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

typedef struct Header { Text types, functions, calls, cases; int call_count; } Header;

/* A number of the call: a constant, or the next one of the case. */
static void put_number(Text *t, int32_t value, bool is_constant, int *next, const char *cast)
{
    if (!is_constant) text_printf(t, "%snumber[%d]", cast, (*next)++);
    else if (value == INT32_MIN) text_add(t, "INT32_MIN");
    else text_printf(t, "%s%d", cast, (int)value);
}

static void put_operand(const Case *c, Text *t, int k, bool is_constant, int *next)
{
    static const char *const type[] = { ['b'] = "int8_t", ['u'] = "uint8_t", ['h'] = "int16_t", ['n'] = "uint16_t",
                                        ['i'] = "int32_t", ['w'] = "int32_t", ['l'] = "uint32_t" };
    const Operand *o = &c->operand[k];
    if (!o->tensor->rank) {
        put_number(t, o->memory.least, is_constant, next, "");
        return;
    }
    int place = 0;
    for (int j = 1; j < k; j++) place += c->operand[j].tensor->rank > 0;
    if (k) text_printf(t, "LW_AT((const %s *)operand[%d], ", type[(int)o->type], place);
    else text_printf(t, "LW_AT((%s *)result, ", type[(int)o->type]);
    put_number(t, o->index, is_constant, next, "");
    for (int d = 0; d + 1 < o->tensor->rank; d++) {
        if (expr_is_int(o->tensor->shape[d], 1)) continue;
        text_add(t, ", ");
        put_number(t, o->stride[d], is_constant, next, "");
    }
    text_add(t, ")");
}

static void put_call(const Case *c, Header *h, bool is_constant)
{
    Text *t = &h->functions;
    const Instruction *i = c->instruction;
    int next = 0;
    text_printf(t, "#ifdef %s\nstatic void call_%d(const int32_t *number, void *result, const void *const *operand)\n"
                "{\n    (void)number, (void)operand;\n    %s(", i->macro, h->call_count, i->macro);
    for (int k = 0; k < i->argument_count; k++) {
        const bool is_byte = strcmp(number_name(i, k), "fill") == 0;
        if (i->number[k]->kind == EXPR_VAR) put_number(t, c->number[k], is_constant, &next, is_byte ? "(int8_t)" : "");
        else text_printf(t, "%d", (int)c->number[k]);
        text_add(t, ", ");
    }
    for (int k = 0; k < c->operand_count; k++) {
        if (k) text_add(t, ", ");
        put_operand(c, t, k, is_constant, &next);
    }
    text_printf(t, ");\n}\n#else\n#define call_%d NULL\n#endif\n", h->call_count);
    text_printf(&h->calls, "    call_%d,\n", h->call_count++);
}

static void put_word(Text *t, int64_t value) { text_printf(t, "%lld,", (long long)value); }

/* The numbers, in the order of put_call. */
static int put_numbers(const Case *c, Text *t)
{
    int count = 0;
    for (int k = 0; k < c->instruction->argument_count; k++)
        if (c->instruction->number[k]->kind == EXPR_VAR) put_word(t, c->number[k]), count++;
    for (int k = 0; k < c->operand_count; k++) {
        const Operand *o = &c->operand[k];
        if (!o->tensor->rank) put_word(t, o->memory.least);
        else put_word(t, o->index);
        count++;
        for (int d = 0; d + 1 < o->tensor->rank; d++)
            if (!expr_is_int(o->tensor->shape[d], 1)) put_word(t, o->stride[d]), count++;
    }
    return count;
}

static void put_case(const Case *c, Header *h, int macro, int call)
{
    Text numbers = text_new(c->cx), *t = &h->cases;
    const Operand *y = &c->operand[0];
    const int number_count = put_numbers(c, &numbers);
    int memories = 0;
    for (int k = 0; k < c->operand_count; k++) memories += !k || c->operand[k].tensor->rank > 0;
    text_printf(t, "    %d,%d,(int32_t)%uu,%d,%d,%d, ", macro, call,
                (unsigned)rows_hash(y->type, y->data, y->memory.extent), text_has_word(c->words, "wide"), memories,
                number_count);
    for (int k = 0; k < c->operand_count; k++) {
        const RowsMemory *m = &c->operand[k].memory;
        if (k && !c->operand[k].tensor->rank) continue;
        put_word(t, m->extent), put_word(t, m->least), put_word(t, m->greatest), put_word(t, m->turn);
        put_word(t, m->seed);
    }
    text_printf(t, " %s\n", text_string(&numbers));
}

/* The words of the macro's k-th family. */
static const char *words_of(const char *macro, int k)
{
    const char *of[MOST_WORDS];
    int count = 0;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        if (is_like(macro, families[f].macro) && count < MOST_WORDS) of[count++] = families[f].words;
    return count ? of[k % count] : "";
}

/* Draws a case whose memories have room. */
static void choose_case(Case *c, int k)
{
    do {
        c->is_fine = true;
        c->operand_count = 0;
        choose_numbers(c);
        choose_operand(c, 0, c->instruction->stage->out[0], "y", 2);
        for (int j = 0; j < c->instruction->operand_count; j++)
            choose_operand(c, 1 + j, c->instruction->operand[j], c->instruction->operand[j]->name, k % 4);
    } while (!c->is_fine);
    evaluate_case(c);
}

static void put_macro(Ctx *cx, Case *c, Header *h, const InstructionRow *row, int macro)
{
    c->instruction = instruction_known(cx, text_format(cx, "%.*s", (int)strcspn(row->declaration, "[("),
                                                       row->declaration));
    int call = h->call_count;
    for (int k = 0; k < CASES && !ctx_failed(cx); k++) {
        c->words = words_of(c->instruction->macro, k);
        choose_case(c, k);
        const bool is_constant = k >= CASES - CONSTANT_CASES;
        if (k == 0 || is_constant) {
            call = h->call_count;
            put_call(c, h, is_constant);
        }
        put_case(c, h, macro, call);
        if (k == 0) {
            text_printf(&h->types, "    \"");
            for (int j = 0; j < c->operand_count; j++)
                if (!j || c->operand[j].tensor->rank) text_char(&h->types, c->operand[j].type);
            text_printf(&h->types, "\", /* %d: %s */\n", macro, c->instruction->macro);
        }
    }
}

int main(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Header h = { text_new(cx), text_new(cx), text_new(cx), text_new(cx), 0 };
    Case c = { .cx = cx };
    int macro = 0;
    for (int k = 0; k <= MAX_OPERANDS; k++) c.operand[k].data = arena_alloc(cx->arena, ROWS_ROOM * sizeof(int32_t));
    for (const InstructionRow *const *table = builtin_instructions; *table; table++)
        for (const InstructionRow *row = *table; row->declaration; row++) put_macro(cx, &c, &h, row, ++macro);
    if (ctx_failed(cx)) fprintf(stderr, "rows_cases: %s\n", cx->diags->what);
    else
        printf("static const char *const rows_types[] = {\n    \"\",\n%s};\n%s"
               "static RowsCall *const rows_calls[] = {\n%s};\nstatic const int32_t rows_cases[] = {\n%s};\n",
               text_string(&h.types), text_string(&h.functions), text_string(&h.calls), text_string(&h.cases));
    const int status = ctx_failed(cx);
    ctx_free(cx);
    return status;
}
