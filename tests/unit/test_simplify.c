/* SPDX-License-Identifier: MIT */
/* Simplification against scalar_apply, which defines every kind. Each row of rules.def on random values of every type
 * of its domain; then random expressions over variables in random ranges, before and after. Intervals hold every value;
 * a proved claim is true. Some forms have a prescribed result.
 *
 *     test_simplify [TRIES]       random values of each type for each rule, 400 by default */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/text/formula.h"
#include "ir/algebra/rules.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
static int below(uint32_t *state, int n) { return (int)(next_random(state) % (uint32_t)n); }

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

/* Small numbers, the ends of the type, and anything. */
static int64_t random_integer(uint32_t *s, DType t)
{
    const DTypeInfo *d = dtype_info(t);
    uint64_t any = (uint64_t)next_random(s) << 40 ^ (uint64_t)next_random(s) << 20 ^ next_random(s);
    Scalar v;
    switch (below(s, 5)) {
    case 0:  v.i = below(s, 5) - 2; break;
    case 1:  v.i = below(s, 2) ? d->greatest - below(s, 3) : d->least + below(s, 3); break;
    case 2:  v.i = (int64_t)any; break;
    default: v.i = below(s, 41) - 16; break;
    }
    return dtype_wrap(t, v).i;
}

static double random_real(uint32_t *s)
{
    static const double special[] = { 0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -1e-30, 3.0 };
    if (below(s, 2)) return special[below(s, 8)];
    return ((double)next_random(s) - 8388608.0) / (double)(1 + below(s, 100000));
}

static RuleMatch random_match(Ctx *cx, uint32_t *s, DType t)
{
    RuleMatch m = { { NULL } };
    for (int i = 0; i < SLOT_COUNT; i++) {
        if (i == SLOT_P || i == SLOT_Q) m.slot[i] = expr_int(cx, BOOL, below(s, 2));
        else if (dtype_is_float(t)) m.slot[i] = expr_real(cx, t, random_real(s));
        else m.slot[i] = expr_int(cx, t, random_integer(s, t));
    }
    if (below(s, 3) == 0) m.slot[SLOT_Y] = m.slot[SLOT_X];
    if (!dtype_is_float(t) && below(s, 2)) {            /* constants that divide each other, and a y below them */
        int64_t a = 1 + below(s, 6), b = 1 + below(s, 6);
        m.slot[SLOT_C1] = expr_int(cx, t, below(s, 2) ? a * b : a);
        m.slot[SLOT_C2] = expr_int(cx, t, below(s, 2) ? a * b : a);
        m.slot[SLOT_Y] = expr_int(cx, t, below(s, (int)a * 2));
    }
    return m;
}

/* With every node worked out on whole numbers: does any leave the type? NULL slots stay unused. */
static bool stays_whole(Ctx *cx, const Expr *pattern, const RuleMatch *m, const RuleMatch *wide, DType t)
{
    for (int i = 0; i < pattern->arg_count; i++)
        if (!stays_whole(cx, pattern->arg[i], m, wide, t)) return false;
    if (pattern->type == BOOL || pattern->arg_count == 0) return true;
    return rule_build(cx, pattern, m, t, NULL, NULL)->integer
           == rule_build(cx, pattern, wide, I64, NULL, NULL)->integer;
}

static RuleMatch widened(Ctx *cx, const RuleMatch *m)
{
    RuleMatch wide = *m;
    for (int i = 0; i < SLOT_COUNT; i++)
        if (m->slot[i]->type != BOOL) wide.slot[i] = expr_cast(cx, I64, m->slot[i]);
    return wide;
}

static void check_rule(const Rule *rule_of_other_context, int kind, int at, DType t, int tries, int *tried_in_all)
{
    uint32_t seed = 7u + (uint32_t)kind * 1000u + (uint32_t)at;
    int tried = 0, wrong = 0;
    const char *text = rule_of_other_context->text;
    for (int round = 0; round < tries && wrong == 0; round += 100) {
        Ctx *cx = context_new(NULL, NULL);
        const Rule *rule = rules_of(cx)->first[kind];
        for (int i = 0; i < at; i++) rule = rule->next;
        Ranges r = ranges_new(cx, NULL);
        for (int i = 0; i < 100; i++) {
            RuleMatch m = random_match(cx, &seed, t);
            if (rule->is_exact) {
                RuleMatch wide = widened(cx, &m);
                if (t == I64 || t == U64 || !stays_whole(cx, rule->left, &m, &wide, t)) continue;
            }
            if (!rule_condition(&r, rule, &m)) continue;
            const Expr *left = rule_build(cx, rule->left, &m, t, NULL, NULL),
                       *right = rule_build(cx, rule->right, &m, t, NULL, NULL);
            tried++;
            wrong += left != right;
        }
        ctx_free(cx);
    }
    *tried_in_all += tried;
    if (wrong) check_that(false, text, "wrong for %s", dtype_info(t)->spelling);
}

/* Each rule on `tries` values of every type; on one in fifteen of them at least its condition must hold in all. */
static void rows(int tries)
{
    static const DType integers[] = { I8, U8, I16, U16, I32, U32, I64, U64 }, floats[] = { F32, F64 };
    Ctx *cx = context_new(NULL, NULL);
    const RuleTable *table = rules_of(cx);
    CHECK("rules-read", !ctx_failed(cx));
    for (Diag *d = cx->diags; d; d = d->next) printf("# %s\n", diag_text(cx, d));
    for (int k = 0; k < EXPR_KIND_COUNT; k++) {
        int at = 0;
        for (const Rule *rule = table->first[k]; rule; rule = rule->next, at++) {
            int tried = 0, before = check_failed;
            if (rule->on_floats) for (size_t t = 0; t < 2; t++) check_rule(rule, k, at, floats[t], tries, &tried);
            else for (size_t t = 0; t < 8; t++) check_rule(rule, k, at, integers[t], tries, &tried);
            if (check_failed == before)
                check_that(tried >= tries / 15, rule->text, "only %d of the random values met its condition", tried);
        }
    }
    ctx_free(cx);
}

/* ---- Random expressions ---------------------------------------------------------------------------------------- */

enum { VARS = 4 };
typedef struct World {
    Ctx *cx;
    uint32_t *s;
    DType type;
    const Expr *var[VARS];
    int64_t extent[VARS];
    const Bounds *scope;
} World;

static const Expr *random_expr(World *w, int depth);

static const Expr *random_condition(World *w, int depth)
{
    static const ExprKind kinds[] = { EXPR_LT, EXPR_LE, EXPR_EQ, EXPR_NE };
    const Expr *c = expr_binary(w->cx, kinds[below(w->s, 4)], random_expr(w, depth - 1), random_expr(w, depth - 1));
    if (depth > 1 && below(w->s, 4) == 0)
        c = expr_binary(w->cx, below(w->s, 2) ? EXPR_AND : EXPR_OR, c, random_condition(w, depth - 1));
    return below(w->s, 6) ? c : expr_unary(w->cx, EXPR_NOT, c);
}

static const Expr *random_expr(World *w, int depth)
{
    static const ExprKind kinds[] = { EXPR_ADD, EXPR_ADD, EXPR_SUB,  EXPR_MUL,  EXPR_FLOORDIV, EXPR_FLOORMOD,
                                      EXPR_MIN, EXPR_MAX, EXPR_TDIV, EXPR_TMOD, EXPR_BITAND,   EXPR_SHR };
    uint32_t *s = w->s;
    if (depth <= 0 || below(s, 6) == 0)
        return below(s, 3) ? w->var[below(s, VARS)] : expr_int(w->cx, w->type, random_integer(s, w->type));
    if (below(s, 10) == 0)
        return expr_select(w->cx, random_condition(w, depth - 1), random_expr(w, depth - 1), random_expr(w, depth - 1));
    if (below(s, 16) == 0) return expr_unary(w->cx, below(s, 2) ? EXPR_NEG : EXPR_ABS, random_expr(w, depth - 1));
    if (below(s, 16) == 0)
        return expr_cast(w->cx, w->type, expr_cast(w->cx, (DType)(I8 + below(s, 6)), random_expr(w, depth - 1)));
    ExprKind k = kinds[below(s, 12)];
    const Expr *a = random_expr(w, depth - 1);
    const Expr *b = below(s, 2) ? expr_int(w->cx, w->type, 1 + below(s, 9)) : random_expr(w, depth - 1);
    return expr_binary(w->cx, k, a, b);
}

static World random_world(Ctx *cx, uint32_t *s, DType t)
{
    World w = { .cx = cx, .s = s, .type = t };
    for (int v = 0; v < VARS; v++) {
        int64_t most = dtype_info(t)->greatest > 5000 ? 5000 : dtype_info(t)->greatest;
        w.extent[v] = 1 + (below(s, 4) ? below(s, 20) : below(s, (int)most));
        w.var[v] = expr_new_var(cx, "v", VAR_LOOP, t, 0, w.extent[v] - 1);
        w.scope = bounds_var(cx, w.scope, w.var[v], expr_int(cx, t, w.extent[v]));
    }
    return w;
}

static void random_values(const World *w, const Expr **value)
{
    for (int v = 0; v < VARS; v++)
        value[v] = expr_int(w->cx, w->type,
                            below(w->s, 3)   ? (int64_t)next_random(w->s) % w->extent[v]
                            : below(w->s, 2) ? 0
                                             : w->extent[v] - 1);
}

/* Constant folding is scalar_apply, node by node: so substituting constants evaluates. */
static const Expr *value_at(const World *w, const Expr *e, const Expr *const *value)
{
    return expr_substitute(w->cx, e, w->var, value, VARS);
}

static int nodes_of(const Expr *e)
{
    int n = 1;
    for (int i = 0; i < e->arg_count; i++) n += nodes_of(e->arg[i]);
    return n;
}

static void random_expressions(int rounds)
{
    static const DType types[] = { I32, I32, I32, I32, I8, U8, I16, U32, I64, U64 };
    uint32_t seed = 99;
    int wrong = 0, outside = 0, false_proofs = 0, grown = 0, proofs = 0, again = 0, before = 0, after = 0;
    for (int round = 0; round < rounds; round++) {
        Ctx *cx = context_new(NULL, NULL);
        for (int i = 0; i < 20; i++) {
            World w = random_world(cx, &seed, types[below(&seed, 10)]);
            const Expr *e = random_expr(&w, 4), *c = random_condition(&w, 3),
                       *fact = below(&seed, 2) ? random_condition(&w, 2) : NULL;
            const Bounds *scope = bounds_fact(cx, w.scope, fact);
            const Expr *simple = simplify(cx, e, scope), *simple_c = simplify(cx, c, scope);
            Interval range = interval_of(cx, e, scope);
            bool claimed = provably(cx, c, scope);
            proofs += claimed;
            grown += nodes_of(simple) > nodes_of(e);
            again += simplify(cx, simple, scope) != simple;
            before += nodes_of(e);
            after += nodes_of(simple);
            int shown = wrong + outside + false_proofs;
            for (int p = 0; p < 30; p++) {
                const Expr *value[VARS];
                random_values(&w, value);
                if (fact && !expr_is_int(value_at(&w, fact, value), 1)) continue;
                const Expr *x = value_at(&w, e, value);
                wrong += x != value_at(&w, simple, value) || value_at(&w, c, value) != value_at(&w, simple_c, value);
                outside += w.type != U64 && (x->integer < range.least || x->integer > range.greatest);
                false_proofs += claimed && !expr_is_int(value_at(&w, c, value), 1);
            }
            if (wrong + outside + false_proofs > shown && shown < 200) {
                Text t = text_new(cx);
                text_printf(&t, "# %s: ", dtype_info(w.type)->spelling);
                print_expr(&t, e);
                text_add(&t, "   ==>   ");
                print_expr(&t, simple);
                text_add(&t, "   and   ");
                print_expr(&t, c);
                text_add(&t, "   ==>   ");
                print_expr(&t, simple_c);
                if (fact) { text_add(&t, "   given   "); print_expr(&t, fact); }
                for (int v = 0; v < VARS; v++) text_printf(&t, " %d", (int)w.extent[v]);
                printf("%s\n", text_string(&t));
            }
        }
        if (ctx_failed(cx)) wrong += 1000;
        ctx_free(cx);
    }
    printf("# %d nodes became %d; %d grew, %d were not settled, %d of %d conditions proved\n", before, after, grown,
           again, proofs, 20 * rounds);
    CHECK("simplified-equals-original", wrong == 0);
    CHECK("intervals-hold-every-value", outside == 0);
    CHECK("proofs-are-true", false_proofs == 0);
    CHECK("simplified-is-hardly-ever-larger", grown * 10 < rounds);
    CHECK("simplifying-again-changes-little", again < rounds);
}

/* ---- Forms ----------------------------------------------------------------------------------------------------- */

typedef struct Form { const char *before, *after; } Form;
/* i < 8, j < 4, h < 100, n a size in 1..64, m < n, f < 3*n, x and y any i32 */
static const Form forms[] = {
    { "i + 1 - 1", "i" },
    { "i*4 + j - i*4", "j" },
    { "(i*4 + j) / 4", "i" },
    { "(i*4 + j) % 4", "j" },
    { "(h*8 + i*2 + 1) / 2", "h*4 + i" },
    { "(h*16 + i*4 + j) / 8", "h*2 + i/2" },
    { "(h*16 + i*4 + j) % 8", "i%2*4 + j" },
    { "(i*4 + j) / 2 % 4", "i%2*2 + j/2" },
    { "h / 4 * 4 + h % 4", "h" },
    { "x / 4 * 4 + x % 4", "x" },
    { "(h / 10) / 10", "0" },
    { "h % 20 % 5", "h % 5" },
    { "h % 20 / 5", "h / 5 % 4" },
    { "x * 2 / 2", "x * 2 / 2" },                    /* x * 2 may wrap */
    { "h * 2 / 2", "h" },
    { "x + 1 > x", "x < x + 1" },                    /* false at the greatest x */
    { "h + 1 > h", "true" },
    { "min(i, 7)", "i" },
    { "min(i, j + 8)", "i" },
    { "max(i - 8, 0)", "0" },
    { "m < n", "true" },
    { "m*4 + j < n*4", "true" },
    { "(m*n + m) / n", "m" },
    { "(m*n + m) % n", "m" },
    { "(m*7 + i) / n < 8", "true" },
    { "f / n < 3", "true" },
    { "min(f / n, 2)", "f / n" },
    { "min(n, n + i)", "n" },
    { "0 <= h + 3 && h < 100 && i < 5", "i < 5" },
    { "h - 3 < 7", "h < 10" },
    { "3 <= h*4", "1 <= h" },
    { "select(i < 8, x, y)", "x" },
    { "i32(i16(i))", "i" },
    { "!(x < y)", "y <= x" },
    { "(n + 3) / 4 * 4 < n", "false" },
};

static void known_forms(void)
{
    Ctx *cx = context_new(NULL, NULL);
    const Expr *n = expr_new_var(cx, "n", VAR_SIZE, I32, 1, 64),
               *m = expr_new_var(cx, "m", VAR_LOOP, I32, 0, INT32_MAX),
               *fused = expr_new_var(cx, "f", VAR_LOOP, I32, 0, INT32_MAX);
    const Expr *i = expr_new_var(cx, "i", VAR_LOOP, I32, 0, 7), *j = expr_new_var(cx, "j", VAR_LOOP, I32, 0, 3),
               *h = expr_new_var(cx, "h", VAR_LOOP, I32, 0, 99);
    const Expr *x = expr_new_var(cx, "x", VAR_LOCAL, I32, INT32_MIN, INT32_MAX),
               *y = expr_new_var(cx, "y", VAR_LOCAL, I32, INT32_MIN, INT32_MAX);
    const Bind binds[] = {
        BIND_V("i", i), BIND_V("j", j), BIND_V("h", h), BIND_V("n", n), BIND_V("m", m), BIND_V("f", fused), BIND_V("x",
        x), BIND_V("y", y), { NULL, NULL, NULL }
    };
    const Bounds *scope = bounds_var(cx, bounds_var(cx, NULL, m, n), fused, expr_mul(cx, n, expr_index(cx, 3)));
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const Expr *e = simplify(cx, expr_read(cx, forms[f].before, binds, I32), scope),
                   *wanted = expr_read(cx, forms[f].after, binds, I32);
        Text t = text_new(cx);
        print_expr(&t, e);
        check_that(e == wanted, forms[f].before, "%s", text_string(&t));
    }
    CHECK("forms-read-without-errors", !ctx_failed(cx));
    for (Diag *d = cx->diags; d; d = d->next) printf("# %s\n", diag_text(cx, d));
    ctx_free(cx);
}

int main(int argc, char **argv)
{
    const int tries = argc > 1 ? atoi(argv[1]) : 400;
    rows(tries);
    known_forms();
    random_expressions((tries + 9) / 10);
    return check_done();
}
