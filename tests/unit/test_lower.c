/* SPDX-License-Identifier: MIT */
/* The results of lowering, in the lowered code: the position of inits, the form of conditions, the storage of tensors.
 * test_emit.c tests that the code computes the right values. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cgen/cgen.h"
#include "context/context.h"
#include "ir/text/formula.h"
#include "ir/text/print_code.h"
#include "lower/check_pointers.h"
#include "lower/count.h"
#include "lower/lower.h"
#include "lower/merge.h"
#include "lower/overlap.h"
#include "schedule/schedule.h"

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) n++;
    return n;
}

static Tensor *input(Ctx *cx, const char *name, int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t shape[] = { a, b, c, d };
    return tensor_new_fixed(cx, name, F32, rank, shape);
}

static Tensor *convolution(Ctx *cx)
{
    return FORMULA(cx, "conv[h<16,w<16,o] = sum(i,j,c) (x[h+i-1,w+j-1,c]? * k[i,j,c,o] : 0)",
                   BIND_T("x", input(cx, "x", 3, 16, 16, 4, 0)), BIND_T("k", input(cx, "k", 4, 3, 3, 4, 8)));
}

/* The lowered code of a nest under steps (closed by NULL), as the dump prints it; *c gets the C text. */
static const char *lowered(Ctx *cx, Tensor *y, const char *const *steps, const LowerOptions *options, const char **c)
{
    const Nest *n = nest_naive(cx, "f", NULL, 0, &y, 1);
    for (; n && *steps; steps++) n = sched_step(cx, n, *steps);
    const Function *f = lower_final(cx, lower_nest(cx, n, options), options);
    Text t = text_new(cx), spelled = text_new(cx);
    Program p = { .name = "m" };
    if (f) print_code(cx, &t, f);
    if (f) cgen_function(cx, &spelled, &p, f);
    if (c) *c = text_string(&spelled);
    return text_string(&t);
}
#define STEPS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define NO_STEPS   (const char *const[]){ NULL }

static void padding(Ctx *cx)
{
    const char *c, *code = lowered(cx, convolution(cx), NO_STEPS, NULL, &c);
    check_that(*code && count_of(code, "if ") == 0 && count_of(code, "select") == 0, "padding-becomes-bounds", "%s",
               code);
    check_that(count_of(code, "for ") == 6, "padding-costs-no-copies", "%s", code);
    check_that(count_of(c, "float acc = 0.0f;") == 1 && count_of(c, "acc += ") == 1, "reduction-in-a-variable", "%s",
               c);
}

/* -0 + 0 is +0. Therefore padding may be dropped from a sum with a sum as its first value, but not from one that begins
 * with an input. */
static void padded_sums(Ctx *cx)
{
    Tensor *x = input(cx, "x", 1, 16, 0, 0, 0), *k = input(cx, "k", 1, 3, 0, 0, 0), *z = input(cx, "z", 1, 16, 0, 0, 0);
    Tensor *sum = FORMULA(cx, "t[h] = sum(c<3) x[h] * k[c]", BIND_T("x", x), BIND_T("k", k));
    const char *padded = "y[h<16] = sum(i<3; t[h]) (x[h+i-1]? * k[i] : 0)";
    const char *code = lowered(cx, FORMULA(cx, padded, BIND_T("t", sum), BIND_T("x", x), BIND_T("k", k)), NO_STEPS,
                               NULL, NULL);
    check_that(*code && count_of(code, "select") == 0, "sum-that-begins-with-a-sum-skips-padding", "%s", code);
    code = lowered(cx, FORMULA(cx, padded, BIND_T("t", z), BIND_T("x", x), BIND_T("k", k)), NO_STEPS, NULL, NULL);
    check_that(count_of(code, "0.0") > 0, "sum-that-begins-with-an-input-adds-zeros", "%s", code);
}

static void inits(Ctx *cx)
{
    const char *code = lowered(cx, convolution(cx), STEPS("reorder conv.h conv.i conv.j conv.c conv.w conv.o"), NULL,
                               NULL);
    const char *init = strstr(code, "= 0.0\n"), *reduce = strstr(code, "for i");
    check_that(init && reduce && init < reduce && count_of(code, "= 0.0\n") == 1, "init-before-the-reduce-loops", "%s",
               code);
    code = lowered(cx, convolution(cx), STEPS("fuse conv.j conv.c"), NULL, NULL);
    check_that(*code && count_of(code, "== 0") == 0 && count_of(code, "if ") == 0,
               "fused-reduce-loops-need-no-conditions", "%s", code);
}

static void partitions(Ctx *cx)
{
    const char *const *steps = STEPS("split conv.w 4", "reorder conv.h conv.wo conv.i conv.j conv.c conv.wi",
                                     "unroll conv.wi");
    const char *code = lowered(cx, convolution(cx), steps, NULL, NULL);
    check_that(count_of(code, "for wo = 1 .. 3") == 1, "interior-is-cut-out", "%s", code);
    const char *inside = strstr(code, "for wo = 1 .. 3"), *next = inside ? strstr(inside + 1, "for wo") : NULL;
    const char *conditions = inside ? strstr(inside, "if ") : NULL;
    check_that(inside && (!conditions || (next && conditions > next) || !strstr(conditions, "wo")),
               "interior-has-no-conditions", "%s", code);
    LowerOptions tight = { .code_budget = 1 };
    code = lowered(cx, convolution(cx), steps, &tight, NULL);
    check_that(*code && count_of(code, "for wo") <= 2 && count_of(code, "1 .. 3") == 0, "budget-of-copies-is-kept",
               "%s", code);
}

static void registers(Ctx *cx)
{
    Tensor *a = input(cx, "a", 2, 8, 6, 0, 0), *b = input(cx, "b", 2, 6, 8, 0, 0);
    Tensor *t = FORMULA(cx, "t[i,j] = sum(k) a[i,k] * b[k,j]", BIND_T("a", a), BIND_T("b", b));
    Tensor *y = FORMULA(cx, "y[i,j] = max(t[i,j], 0)", BIND_T("t", t));
    const char *c,
        *code = lowered(cx, y,
                        STEPS("tile y.i y.j 2 2", "compute_at t y.jo", "set_scope t register", "reorder t.k t.i t.j",
                              "unroll t.i", "unroll t.j", "unroll y.ii", "unroll y.ji"),
                        NULL, &c);
    check_that(count_of(c, "float acc_") == 4 && count_of(c, "float acc[") == 0, "register-tile-is-four-variables",
               "%s%s\n%s", code, c, cx->diags ? diag_text(cx, cx->diags) : "");
}

static void views(Ctx *cx)
{
    Tensor *x = input(cx, "x", 2, 4, 3, 0, 0);
    Tensor *y = FORMULA(cx, "y[i,j] = x[i,j] * 2", BIND_T("x", x));
    const View view = { .tensor = y, .offset = 5, .stride = { 10, 1 }, .elems = 40 };
    const LowerOptions options = { .view = &view, .view_count = 1, .inputs_alias_output = true };
    const char *c, *code = lowered(cx, y, NO_STEPS, &options, &c);
    check_that(strstr(c, "i * 10 + 5") != NULL && strstr(code, "output f32 y[40]") != NULL, "views-have-strides",
               "%s\n%s", code, c);
    check_that(strstr(c, "restrict") == NULL, "no-restrict-where-memory-is-shared", "%s", c);
}

/* An input that is stored in the output is not written there again, and is no parameter. */
static void input_within_output(Ctx *cx)
{
    Tensor *x = input(cx, "x", 2, 2, 3, 0, 0);
    Tensor *y = FORMULA(cx, "y[i<4,j<5] = select(1 <= i && i < 3 && 1 <= j && j < 4, x[i-1,j-1], 7.0)", BIND_T("x", x));
    const View view = { .tensor = x, .offset = 6, .stride = { 5, 1 }, .elems = 14, .within = y },
               elsewhere = { .tensor = x, .offset = 7, .stride = { 5, 1 }, .elems = 13, .within = y };
    const LowerOptions options = { .view = &view, .view_count = 1 }, moved = { .view = &elsewhere, .view_count = 1 };
    const char *c, *code = lowered(cx, y, NO_STEPS, &options, &c);
    check_that(!strstr(c, "= x") && count_of(code, "input") == 0 && count_of(c, "= 7.0f") >= 4
                   && strstr(c, "x is stored in y"), "an-input-within-the-output-stays", "%s\n%s", code, c);
    lowered(cx, y, NO_STEPS, &moved, &c);
    check_that(count_of(c, "= y") > 0, "an-input-elsewhere-in-the-output-is-moved", "%s", c);
}

static void unused(Ctx *cx)
{
    Tensor *x = input(cx, "x", 1, 4, 0, 0, 0), *two = tensor_scalar(cx, "two", F32, 2);
    Tensor *y = FORMULA(cx, "y[i] = x[i] * two[]", BIND_T("x", x), BIND_T("two", two));
    if (!y) {
        check_skip("small-constants-stand-in-place", "the formula reader has no rank 0 read");
        return;
    }
    const char *c;
    lowered(cx, y, NO_STEPS, NULL, &c);
    check_that(strstr(c, "* 2.0f") != NULL && strstr(c, "two") == NULL, "small-constants-stand-in-place", "%s", c);
}

/* The pass legalize selects operations by the facts of a position; the dump shows them. */
static void legal_code(Ctx *cx)
{
    static const struct { const char *name, *formula, *step, *code, *c; } rows[] = {
        { "data-is-divided-by-the-runtime", "y[i<16,j<4] = i32(x[i,j]) / 3", "", "lw_floordiv32(i32(x_i[j]), 3)",
          "lw_floordiv32((int32_t)x_i[j], 3)" },
        { "an-index-of-no-negative-is-divided-by-c", "y[i<16,j<4] = x[i/2,j]", "", "x + tdiv(i, 2) * 4",
          "x + i / 2 * 4" },
        { "data-of-any-sign-is-shifted-by-the-runtime", "y[i<16,j<4] = i32(x[i,j]) >> 3", "", "lw_shr_i32(i32(",
          "lw_shr_i32((int32_t)x_i[j], 3)" },
        { "data-of-no-negative-is-shifted-by-c", "y[i<16,j<4] = (i32(x[i,j]) & 127) >> 3", "", " >> 3",
          "((int32_t)x_i[j] & 127) >> 3" },
        { "a-vector-index-begins-at-its-first-lane", "y[i<16,j<4] = f[i,j] * 2", "vectorize y.j",
          "f_i[j]", "lw_f32x4_load(f_i)" },
    };
    const LowerOptions options = { .lanes = 4, .keeps_names = true };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tensor *x = tensor_new_fixed(cx, "x", I8, 2, (int64_t[]){ 16, 4 });
        Tensor *y = FORMULA(cx, rows[i].formula, BIND_T("x", x), BIND_T("f", input(cx, "f", 2, 16, 4, 0, 0)));
        const char *const *steps = *rows[i].step ? STEPS(rows[i].step) : NO_STEPS;
        const char *c = "", *code = y ? lowered(cx, y, steps, &options, &c) : "";
        check_that(strstr(code, rows[i].code) && (!rows[i].c || strstr(c, rows[i].c)), rows[i].name, "%s%s", code, c);
    }
}

static const Function *function_of(Ctx *cx, const char *text, int64_t rows, int64_t columns)
{
    Tensor *y = FORMULA(cx, text, BIND_T("x", input(cx, "x", 2, rows, columns, 0, 0)));
    return lower_nest(cx, nest_naive(cx, "f", NULL, 0, &y, 1), NULL);
}

/* Other extents are parameters; other steps of the innermost loop, and other numbers of values, are other functions. */
static void merging(Ctx *cx)
{
    static const char twice[] = "y[i,j<4] = x[i,j] * 2";
    const Function *f[] = { function_of(cx, twice, 5, 8), function_of(cx, twice, 7, 16),
                            function_of(cx, "y[i,j<4] = x[i,2*j] * 2", 5, 8),
                            function_of(cx, "y[i,j<4] = x[i,j] * 3", 5, 8), function_of(cx, twice, 9, 8) };
    const Function *before[5];
    Map into = map_new(cx->arena);
    memcpy(before, f, sizeof f);
    functions_merge(cx, f, 5, &into);
    const Merged *m[5];
    for (int i = 0; i < 5; i++) m[i] = map_get_ptr(&into, before[i]);
    check_that(f[0] == f[1] && f[0] == f[4] && f[2] == before[2] && f[3] == before[3] && !m[2] && !m[3],
               "alike-but-for-numbers-is-one", "%d %d", f[0] == f[1], f[0] == f[4]);
    if (!m[0] || !m[1] || !m[4]) return;
    check_that(f[0]->number_count == 2 && m[0]->number[0] == 5 && m[1]->number[0] == 7 && m[4]->number[0] == 9
                   && m[0]->number[1] == 8 && m[1]->number[1] == 16 && m[4]->number[1] == 8,
               "what-differs-is-a-parameter", "%d parameters", f[0]->number_count);
    Text c = text_new(cx);
    Program p = { .name = "m" };
    cgen_function(cx, &c, &p, lower_final(cx, f[0], NULL));
    check_that(strstr(text_string(&c), "m_f(int32_t i_end, int32_t i_step, ")
                   && strstr(text_string(&c), "i < i_end; i++") && strstr(text_string(&c), "i * i_step"),
               "parameters-are-named-by-what-they-measure", "%s", text_string(&c));
}

/* The macro before a loop is part of the lowered code: the dump shows it, and C has it on a separate line. */
static void pragmas(Ctx *cx)
{
    static const struct { const char *name, *formula, *step[2], *loop, *macro; } rows[] = {
        { "short-vector-loop-is-not-unrolled", "y[i<9,j<16] = x[i,j] * 2", { "vectorize y.j" },
          "for j = 0 .. 16 vector LW_VECTOR\n",
          "LW_VECTOR\n        for (int32_t j = 0; j < 16; j++)" },
        { "long-vector-loop-has-no-macro", "y[i<9,j<17] = x[i,j] * 2", { "vectorize y.j" },
          "for j = 0 .. 17 vector\n", NULL },
        { "serial-loop-has-no-macro", "y[i<9,j<16] = x[i,j] * 2", { NULL }, "for j = 0 .. 16\n", NULL },
        { "pragma-of-the-schedule-wins", "y[i<9,j<16] = x[i,j] * 2", { "vectorize y.j", "pragma y.j unroll 4" },
          "for j = 0 .. 16 vector LW_UNROLL(4)\n", "LW_UNROLL(4)\n        for (int32_t j = 0; j < 16; j++)" },
        { "parallel-loop-has-its-macro", "y[i<9,j<16] = x[i,j] * 2", { "parallel y.i" },
          "for i = 0 .. 9 parallel LW_PARALLEL\n",
          "LW_PARALLEL\n    for (int32_t i = 0; i < 9; i++)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tensor *y = FORMULA(cx, rows[i].formula, BIND_T("x", input(cx, "x", 2, 9, 17, 0, 0)));
        const char *c, *code = lowered(cx, y, STEPS(rows[i].step[0], rows[i].step[1]), NULL, &c);
        const char *macro = rows[i].macro;
        bool in_dump = count_of(code, rows[i].loop) == 1 && count_of(code, "LW_") == (macro != NULL);
        check_that(in_dump && (macro ? strstr(c, macro) != NULL : !strstr(c, "LW_")), rows[i].name, "%s%s", code, c);
    }
}

/* One function for several layers keeps the macros of its loops. */
static void merged_pragmas(Ctx *cx)
{
    const Function *f[2];
    Map into = map_new(cx->arena);
    for (int i = 0; i < 2; i++) {
        Tensor *y = FORMULA(cx, "y[i,j<4] = x[i,j] * 2", BIND_T("x", input(cx, "x", 2, 5 + 2 * i, 8, 0, 0)));
        f[i] = lower_nest(cx, sched_step(cx, nest_naive(cx, "f", NULL, 0, &y, 1), "vectorize y.j"), NULL);
    }
    functions_merge(cx, f, 2, &into);
    Text code = text_new(cx);
    print_code(cx, &code, f[0]);
    check_that(f[0] == f[1] && f[0]->number_count == 1
                   && count_of(text_string(&code), "for j = 0 .. 4 vector LW_VECTOR\n") == 1,
               "merged-loops-keep-their-macro", "%s", text_string(&code));
}

/* The least offset of y below x, in bytes, at which each element of x is read before it is overwritten: found by hand
 * from the loops. */
typedef struct LeadCase { const char *formula, *step; int64_t lead; } LeadCase;
static const LeadCase leads[] = {
    /* A row is a moment: all of it may be written first */
    { "y[i<16,j<4] = x[i,j] * 2", "", 16 },
    /* Twice as long: its last row is the farthest ahead */
    { "y[i<16,j<8] = x[i,j/2]", "", 15 * 16 + 32 },
    { "y[i<8,j<4] = x[2*i,j]", "", 16 },                                             /* it falls back */
    /* The row above, and the one being written */
    { "y[i<16,j<4] = (x[i-1,j]? : 0) + (x[i+1,j]? : 0)", "", 2 * 16 },
    { "y[i<12,j<4] = x[i,j] + x[i+4,j]", "", 16 },
    /* The stored element is behind the read one */
    { "y[i<12,j<4] = x[i+4,j] * 2", "", 0 },
    /* backwards: the last is read first, the first last */
    { "y[i<16,j<4] = x[15-i,j] * 2", "", 16 * 16 },
    { "y[i<16,j<4] = x[i,j] * 2", "reorder y.j y.i", 15 * 16 + 4 },                  /* by columns */
    { "y[i<16,j<4] = x[i,j] * 2", "parallel y.i", 16 * 16 },                         /* in any order */
    /* Rows 11 to 14 are recomputed, from rows that are read again */
    { "y[i<16,j<4] = x[i,j] * 2", "split y.i 5 tail=shift", 5 * 16 },
};

static void overlaps(Ctx *cx)
{
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        Tensor *y = FORMULA(cx, leads[i].formula, BIND_T("x", input(cx, "x", 2, 16, 4, 0, 0)));
        const Nest *n = nest_naive(cx, "f", NULL, 0, &y, 1);
        if (n && *leads[i].step) n = sched_step(cx, n, leads[i].step);
        const Function *f = lower_nest(cx, n, NULL);
        int64_t lead = -2;
        bool found = f && overlap_lead(cx, f, f->memory[0], f->memory[1], &lead);
        check_that(found && lead == leads[i].lead, "an output over its input", "%s; %s: %lld, and not %lld",
                   leads[i].formula, leads[i].step, (long long)lead, (long long)leads[i].lead);
    }
}

/* for (i < 8) for (j = max(0, begin - i) .. 4): a pointer to x + i + j + offset, of an x of 12 elements. */
static const char *pointer_why(Ctx *cx, int64_t begin, int64_t offset)
{
    const Expr *i = expr_new_var(cx, "i", VAR_LOOP, I32, 0, 7), *j = expr_new_var(cx, "j", VAR_LOOP, I32, 0, 3),
               *zero = expr_index(cx, 0);
    Memory x = { .name = "x", .type = F32, .kind = MEMORY_INPUT, .elems = expr_index(cx, 12) };
    Memory p = { .name = "x_j", .type = F32, .kind = MEMORY_POINTER, .base = memory_new(cx, &x) };
    p.offset = expr_add(cx, expr_add(cx, i, j), expr_index(cx, offset));
    const Expr *from = expr_binary(cx, EXPR_MAX, expr_sub(cx, expr_index(cx, begin), i), zero);
    const Code *inner = code_for(cx, j, from, expr_index(cx, 4), 1, LOOP_SERIAL, code_local(cx, memory_new(cx, &p)));
    return pointers_check(cx, code_for(cx, i, zero, expr_index(cx, 8), 1, LOOP_SERIAL, inner));
}

static void pointers(Ctx *cx)
{
    const char *before = pointer_why(cx, 0, -1), *behind = pointer_why(cx, 0, 3);
    CHECK("pointers-in-their-memory", !pointer_why(cx, 0, 0) && !pointer_why(cx, 0, 2));
    check_that(before && strstr(before, "[-1, "), "pointer-before-its-memory", "%s", before ? before : "proved");
    check_that(behind && strstr(behind, ", 13]"), "pointer-behind-its-memory", "%s", behind ? behind : "proved");
    CHECK("pointer-where-two-loops-move-together", !pointer_why(cx, 1, -1) && pointer_why(cx, 1, -2));
}

/* Returns the counted instructions of y[i<8,j<4] = x[i,j] + 1 with these rows, its rows by a macro if `by_rows`. */
static int64_t counted(Ctx *cx, bool by_rows, const Costs *costs)
{
    Tensor *x = input(cx, "x", 2, 8, 4, 0, 0), *y = FORMULA(cx, "y[i,j] = x[i,j] + 1", BIND_T("x", x));
    const Nest *n = nest_naive(cx, "f", NULL, 0, &y, 1);
    if (by_rows) n = sched_step(cx, n, "instruction LW_COPY_I8(x: f32[4]) r[v<4] = 1 + x[v]");
    if (by_rows) n = sched_step(cx, n, "tensorize y.j LW_COPY_I8");
    return count_instructions(cx, lower_nest(cx, n, NULL), costs);
}

/* Eight uses of four points; 32 additions. */
static void costs(Ctx *cx)
{
    const int64_t none = counted(cx, true, &(const Costs){ .at = { COST_EACH(COPY_I8, 0) } }),
                  some = counted(cx, true, &(const Costs){ .at = { COST_BOTH(COPY_I8, 10, 0.5) } });
    check_that(some - none == 8 * 10 + 32 / 2, "a macro costs its row: uses and points", "%lld",
               (long long)(some - none));
    const int64_t hard = counted(cx, false, NULL),
                  soft = counted(cx, false, &(const Costs){ .at = { COST_EACH(F32_ADD, 50) } });
    check_that(soft - hard == 32 * 49, "an addition of floats costs its row", "%lld", (long long)(soft - hard));
}

/* The same for the formula of y[i<8,j<4] after a step; NULL: none. */
static int64_t counted_of(Ctx *cx, const char *text, const char *step, const Costs *costs)
{
    Tensor *x = input(cx, "x", 2, 8, 4, 0, 0), *y = FORMULA(cx, text, BIND_T("x", x));
    const Nest *n = nest_naive(cx, "f", NULL, 0, &y, 1);
    if (step) n = sched_step(cx, n, step);
    return count_instructions(cx, lower_nest(cx, n, NULL), costs);
}

static void compilers(Ctx *cx)
{
    const Costs division = { .at = { COST_EACH(F32_DIV, 100), COST_EACH(F32_MUL, 1) } },
                lanes = { .at = { COST_EACH(LANES, 4) } };
    const int64_t third = counted_of(cx, "y[i,j] = x[i,j] / 3.0", NULL, &division),
                  fourth = counted_of(cx, "y[i,j] = x[i,j] / 4.0", NULL, &division);
    check_that(third - fourth == 32 * 99, "a division by a power of two is a product", "%lld",
               (long long)(third - fourth));
    const Costs full = { .at = { COST_EACH(F32_MUL, 50) } },
                zeros = { .base = &full, .at = { COST_EACH(F32_MUL_RECTIFIED, 20) } };
    const char *rectified = "y[i,j] = max(x[i,j], 0.0) * 3.0", *other = "y[i,j] = max(x[i,j], 1.0) * 3.0";
    const int64_t less = counted_of(cx, rectified, NULL, &full) - counted_of(cx, rectified, NULL, &zeros),
                  equal = counted_of(cx, other, NULL, &full) - counted_of(cx, other, NULL, &zeros);
    check_that(less == 32 * 30 && !equal, "products with rectified numbers cost a row of their own", "%lld, %lld",
               (long long)less, (long long)equal);
    /* Of 12 instructions for a row, four loads, additions and stores, three are left. */
    const char *sum = "y[i,j] = x[i,j] + 1", *unroll = "unroll y.j";
    const int64_t saved = counted_of(cx, sum, unroll, NULL) - counted_of(cx, sum, unroll, &lanes);
    check_that(saved == 8 * 9, "adjacent sums are lanes of a vector", "%lld", (long long)saved);
    /* A sum beyond the reach takes an address for its load. */
    const Costs reach = { .base = &lanes, .at = { COST_EACH(LANE_REACH, 4), COST_EACH(FAR_VECTOR, 3),
                                                  COST_EACH(SPILLED_VECTOR, 9) } };
    const int64_t far = counted_of(cx, "y[i,j] = x[i,j] + x[7,j]", unroll, &reach)
                      - counted_of(cx, "y[i,j] = x[i,j] + x[7,j]", unroll, &lanes);
    check_that(far == 8 * 3, "a vector beyond an instruction's reach takes an address", "%lld", (long long)far);
    const char *largest = "y[i,j] = max(x[i,j], 1)";
    check_that(counted_of(cx, largest, unroll, NULL) == counted_of(cx, largest, unroll, &lanes),
               "adjacent maxima stay apart", "%s", "their count differs");
}

/* for i < 8: { if (i < 4) y[i] = x[0]; y[i + 8] = x[0] } */
static int64_t counted_guarded(Ctx *cx, const Costs *costs)
{
    const Expr *i = expr_new_var(cx, "i", VAR_LOOP, I32, 0, 7), *zero = expr_index(cx, 0);
    const Memory *x = memory_new(cx, &(Memory){ .name = "x", .type = F32, .kind = MEMORY_INPUT }),
                 *y = memory_new(cx, &(Memory){ .name = "y", .type = F32, .kind = MEMORY_OUTPUT });
    const Expr *value = load_expr(cx, x, zero);
    const Code *const stores[] = {
        code_if(cx, expr_binary(cx, EXPR_LT, i, expr_index(cx, 4)), code_store(cx, y, i, value), NULL),
        code_store(cx, y, expr_add(cx, i, expr_index(cx, 8)), value)
    };
    const Function f = { .name = "f", .body = code_for(cx, i, zero, expr_index(cx, 8), 1, LOOP_SERIAL,
                                                       code_seq(cx, stores, 2)) };
    return count_instructions(cx, &f, costs);
}

/* What a C compiler makes of loops, per row of y[i<8,j<4]: an iteration takes six instructions, a loop two. */
static void compiled_loops(Ctx *cx)
{
    const Costs lanes = { .at = { COST_EACH(LOOP_LANES, 4) } }, copies = { .at = { COST_EACH(UNROLLED, 100) } },
                repeated = { .at = { COST_EACH(REPEATED_LOAD, 3) } }, max = { .at = { COST_EACH(F32_MAX, 5) } };
    const char *sum = "y[i,j] = x[i,j] + 1", *same = "y[i,j] = x[i,0] + x[i,j]", *strided = "y[i,j] = x[j,i]";
    const int64_t vectors = counted_of(cx, sum, NULL, NULL) - counted_of(cx, sum, NULL, &lanes),
                  gathers = counted_of(cx, strided, NULL, NULL) - counted_of(cx, strided, NULL, &lanes);
    check_that(vectors == 8 * 18, "a loop of consecutive floats has one vector", "%lld", (long long)vectors);
    check_that(gathers == 0, "a loop of strided floats has none", "%lld", (long long)gathers);
    const int64_t unrolled = counted_of(cx, sum, NULL, NULL) - counted_of(cx, sum, NULL, &copies),
                  shared = counted_of(cx, same, NULL, NULL) - counted_of(cx, same, NULL, &copies);
    check_that(unrolled == 8 * (4 * 3 + 2), "a short loop has no counter", "%lld", (long long)unrolled);
    check_that(shared == unrolled + 8 * 3, "copies of an unrolled loop share loads", "%lld", (long long)shared);
    const int64_t again = counted_guarded(cx, &repeated) - counted_guarded(cx, NULL);
    check_that(again == 8 * 3, "a load after one under a condition computes its address", "%lld", (long long)again);
    const int64_t most = counted_of(cx, "y[i,j] = max(x[i,j], 1)", NULL, &max)
                         - counted_of(cx, "y[i,j] = max(x[i,j], 1)", NULL, NULL);
    check_that(most == 32 * 4, "a maximum of floats costs its row", "%lld", (long long)most);
    /* exp: 64 for a number, 90 for a vector; tanh stays in a loop of numbers. */
    const Costs functions = { .at = { COST_BOTH(F32_EXP, 64, 90), COST_EACH(F32_FUNCTION, 50), COST_EACH(LOOP_LANES, 4),
                                      COST_EACH(LOOP_ROWS, 1) } };
    const int64_t exps = counted_of(cx, "y[i,j] = exp(x[i,j])", NULL, &functions),
                  tanhs = counted_of(cx, "y[i,j] = tanh(x[i,j])", NULL, &functions);
    check_that(tanhs - exps == 8 * (4 * (50 + 5) - (90 + 5)), "a function costs its row, a vector its second figure",
               "%lld %lld", (long long)exps, (long long)tanhs);
}

/* Counts the traffic of a formula of y[i<8,j<200] over x[8,200] and w[200] after steps. */
static const Function *moved_by(Ctx *cx, const char *text, const char *const *step, const ReadRow *reads, Traffic *out)
{
    Tensor *x = input(cx, "x", 2, 8, 200, 0, 0), *w = input(cx, "w", 1, 200, 0, 0, 0),
           *y = FORMULA(cx, text, BIND_T("x", x), BIND_T("w", w));
    const Costs costs = { .reads = reads };
    const Nest *n = nest_naive(cx, "f", NULL, 0, &y, 1);
    for (; *step; step++) n = sched_step(cx, n, *step);
    const Function *f = lower_nest(cx, n, NULL);
    count_traffic(cx, f, &costs, out);
    return f;
}

static void check_traffic(Ctx *cx, const char *what, const char *text, const char *const *step, const ReadRow *reads,
                          int64_t of_x, int64_t of_w)
{
    Traffic moved[8] = { { 0, 0 } };
    const Function *f = moved_by(cx, text, step, reads, moved);
    for (int i = 0; i < f->memory_count; i++) {
        const bool is_x = i == 0, is_y = f->memory[i]->kind == MEMORY_OUTPUT;
        const int64_t want = is_y ? 6400 : is_x ? of_x : of_w, got = is_y ? moved[i].written : moved[i].read;
        check_that(got == want, what, "%s: %lld, %lld expected", f->memory[i]->name, (long long)got, (long long)want);
    }
}

/* Floats: x and y have 6400 bytes, w has 800. */
static void traffic(Ctx *cx)
{
    const char *const none[] = { NULL }, *const outer[] = { "reorder y.j y.i", NULL },
               *const macro[] = { "instruction LW_ADD_I8(x: f32[200], w: f32[200]) r[v<200] = x[v] * w[v]",
                                  "tensorize y.j LW_ADD_I8", NULL };
    const ReadRow twice[] = { { COST_ADD_I8, 1, 8 }, { COST_KINDS, 0, 0 } };
    const char *product = "y[i,j] = x[i,j] * w[j]";
    check_traffic(cx, "traffic-of-each-element", product, none, NULL, 6400, 6400);
    check_traffic(cx, "traffic-of-a-value-kept-in-a-loop", product, outer, NULL, 6400, 800);
    check_traffic(cx, "traffic-of-an-element-read-twice", "y[i,j] = x[i,j] * x[i,j] + x[i,0] * w[j]", none, NULL,
                  6400 + 32, 6400);
    check_traffic(cx, "traffic-of-one-arm-in-four", "y[i<8,j<200] = select(i < 2, x[i,j], w[j])", none, NULL, 1600,
                  4800);
    check_traffic(cx, "traffic-of-a-macro", product, macro, NULL, 6400, 6400);
    check_traffic(cx, "traffic-of-a-macro-by-its-row", product, macro, twice, 12800, 6400);
}

int main(void)
{
    typedef void Test(Ctx *cx);
    Test *const tests[] = {
        padding, padded_sums, inits, partitions, registers, views, input_within_output, unused, merging, overlaps,
        pragmas, merged_pragmas, legal_code, pointers, costs, compilers,
        compiled_loops, traffic
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        Ctx *cx = context_new(NULL, NULL);
        tests[i](cx);
        ctx_free(cx);
    }
    int count;
    const LowerPass *passes = lower_passes(&count);
    CHECK("passes-are-listed",
          count >= 8 && strcmp(passes[0].name, "normalize") == 0 && passes[count - 1].what[0] != 0);
    return check_done();
}
