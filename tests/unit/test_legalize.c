/* SPDX-License-Identifier: MIT */
/* Legal expressions, computed as C computes them, equal the expressions they replace: random integer expressions of
 * every type, over variables in random ranges. Signed arithmetic must stay in its type, divisors and shifts must be
 * defined, and every call of the runtime is executed. */
#include "check.h"

#include "context/context.h"
#include "ir/algebra/legalize.h"
#include "ir/text/formula.h"
#include "runtime/lw_base.h"
#include "runtime/lw_fixed.h"
#include "runtime/lw_math.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
static int below(uint32_t *state, int n) { return (int)(next_random(state) % (uint32_t)n); }

/* ---- The runtime ------------------------------------------------------------------------------------------------- */

#define ONE(f, A) static int64_t call_##f(const int64_t *v) { return (int64_t)lw_##f((A)v[0]); }
#define TWO(f, A, B) static int64_t call_##f(const int64_t *v) { return (int64_t)lw_##f((A)v[0], (B)v[1]); }
TWO(tdiv_i32, int32_t, int32_t) TWO(tdiv_i64, int64_t, int64_t)
TWO(tmod_i32, int32_t, int32_t) TWO(tmod_i64, int64_t, int64_t)
TWO(floordiv_i32, int32_t, int32_t) TWO(floordiv_i64, int64_t, int64_t)
TWO(floormod_i32, int32_t, int32_t) TWO(floormod_i64, int64_t, int64_t)
TWO(floordiv32, int32_t, int32_t) TWO(floormod32, int32_t, int32_t)
TWO(div_u32, uint32_t, uint32_t) TWO(div_u64, uint64_t, uint64_t)
TWO(mod_u32, uint32_t, uint32_t) TWO(mod_u64, uint64_t, uint64_t)
TWO(shl_u32, uint32_t, uint64_t) TWO(shl_u64, uint64_t, uint64_t)
TWO(shr_u32, uint32_t, uint64_t) TWO(shr_u64, uint64_t, uint64_t)
TWO(shr_i32, int32_t, uint64_t) TWO(shr_i64, int64_t, uint64_t)
TWO(asr_i32, int32_t, int32_t)
TWO(mulhigh_i32, int32_t, int32_t) TWO(mulhigh_sat_i32, int32_t, int32_t)
TWO(roundshift_i32, int32_t, int32_t) TWO(roundshift_near_i32, int32_t, int32_t)
TWO(roundshift_any_i32, int32_t, int32_t)
ONE(sat_i8, int32_t)
/* Operands outside the domain in runtime/lw_fixed.h give a value of no type. */
static int64_t outside(void) { return (int64_t)1 << 62; }
static bool is_below(int64_t v, int64_t end) { return -end < v && v < end; }

static int64_t call_mulhigh_up_i32(const int64_t *v)
{
    if (v[1] < 16 || v[1] > 29 || v[2] < 0 || !is_below(v[0], (int64_t)1 << (30 - v[1]))) return outside();
    return lw_mulhigh_up_i32((int32_t)v[0], (int32_t)v[1], (int32_t)v[2]);
}
static int64_t call_scale_i8(const int64_t *v)
{
    if (v[2] < 1 || v[2] > 22 || v[1] < 0 || v[0] < -(1 << 30) || v[0] >= 1 << 30) return outside();
    return lw_scale_i8((int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]);
}

typedef struct Known { const char *name; int64_t (*call)(const int64_t *v); int reached; } Known;
#define ROW(f) { "lw_" #f, call_##f, 0 }
static Known known[] = {
    ROW(tdiv_i32), ROW(tdiv_i64), ROW(tmod_i32), ROW(tmod_i64), ROW(floordiv_i32), ROW(floordiv_i64),
    ROW(floormod_i32), ROW(floormod_i64), ROW(floordiv32), ROW(floormod32), ROW(div_u32), ROW(div_u64),
    ROW(mod_u32), ROW(mod_u64), ROW(shl_u32), ROW(shl_u64), ROW(shr_u32), ROW(shr_u64), ROW(shr_i32),
    ROW(shr_i64), ROW(asr_i32), ROW(mulhigh_i32), ROW(mulhigh_sat_i32), ROW(roundshift_i32),
    ROW(roundshift_near_i32), ROW(roundshift_any_i32), ROW(sat_i8), ROW(mulhigh_up_i32), ROW(scale_i8),
};
enum { KNOWN = sizeof known / sizeof *known };

static Known *known_of(const RuntimeFunction *f)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, f->c_name) == 0) return &known[i];
    return NULL;
}

/* ---- C ----------------------------------------------------------------------------------------------------------- */

enum { VARS = 4 };
typedef struct World {
    Ctx *cx;
    uint32_t *s;
    DType type;
    const Expr *var[VARS];
    Interval range[VARS];
    Scalar value[VARS];
    const char *fault;            /* the first operation that C does not define */
} World;

static bool fits(DType t, int64_t v) { return v >= dtype_info(t)->least && v <= dtype_info(t)->greatest; }

/* Faults of an operation on 32 and fewer bits; 64-bit operations are tested against the builtin ones. */
static const char *fault_of(const Expr *e, const Scalar *a)
{
    int64_t exact = 0;
    const bool is_signed = dtype_info(e->type)->cls == SIGNED;
    switch (e->kind) {
    case EXPR_ADD: case EXPR_SUB: case EXPR_MUL: case EXPR_NEG:
        if (!is_signed) return NULL;
        if (e->type == I64) {
            const double x = (double)a[0].i, y = (double)a[e->arg_count - 1].i;
            const double sum = e->kind == EXPR_ADD   ? x + y
                               : e->kind == EXPR_SUB ? x - y
                               : e->kind == EXPR_MUL ? x * y
                                                     : -x;
            return sum > 9.3e18 || sum < -9.3e18 ? "a 64-bit sum wraps" : NULL;
        }
        exact = e->kind == EXPR_ADD   ? a[0].i + a[1].i
                : e->kind == EXPR_SUB ? a[0].i - a[1].i
                : e->kind == EXPR_MUL ? a[0].i * a[1].i
                                      : -a[0].i;
        return fits(e->type, exact) ? NULL : "a signed sum wraps";
    case EXPR_TDIV: case EXPR_TMOD:
        return a[1].i == 0 ? "division by 0"
               : is_signed && a[1].i == -1 && a[0].i == dtype_info(e->type)->least ? "least / -1" : NULL;
    case EXPR_FLOORMOD:
        return e->arg[1]->kind == EXPR_INT && e->arg[1]->integer > 0 && !(e->arg[1]->integer & (e->arg[1]->integer - 1))
                   ? NULL : "no mask";
    case EXPR_SHR:
        if (is_signed && a[0].i < 0) return "a negative value is shifted";
        /* fall through */
    case EXPR_SHL:
        return e->arg[1]->kind == EXPR_INT && a[1].i >= 0 && a[1].i < 8 * dtype_info(e->type)->bytes
                   ? NULL : "no constant shift";
    case EXPR_FLOORDIV: case EXPR_MULHIGH: case EXPR_ROUNDSHIFT: return "no operation of C";
    default: return NULL;
    }
}

static Scalar value_of(World *w, const Expr *e)
{
    Scalar a[5] = { { 0 } };
    if (e->kind == EXPR_INT) return expr_scalar(e);
    for (int v = 0; v < VARS; v++)
        if (e == w->var[v]) return w->value[v];
    if (e->kind == EXPR_RUNTIME) {
        Known *f = known_of(e->ref);
        int64_t operand[4] = { 0 };
        for (int i = RUNTIME_OPERAND; i < e->arg_count; i++)
            operand[i - RUNTIME_OPERAND] = value_of(w, e->arg[i]).i;
        Scalar result = { 0 };
        if (f) result.i = f->call(operand);
        if (f) f->reached++;
        if (e->type != U64 && !fits(e->type, result.i)) w->fault = "a function of the runtime leaves its type";
        return result;
    }
    for (int i = 0; i < e->arg_count; i++) a[i] = value_of(w, e->arg[i]);
    const char *fault = fault_of(e, a);
    if (fault && !w->fault) w->fault = fault;
    return scalar_apply(e->kind, e->type, e->arg[e->arg_count - 1]->type, a);
}

/* ---- Random expressions ------------------------------------------------------------------------------------------ */

static int64_t random_integer(uint32_t *s, DType t)
{
    const DTypeInfo *d = dtype_info(t);
    const uint64_t any = (uint64_t)next_random(s) << 40 ^ (uint64_t)next_random(s) << 20 ^ next_random(s);
    Scalar v = { 0 };
    switch (below(s, 5)) {
    case 0:  v.i = below(s, 5) - 2; break;
    case 1:  v.i = below(s, 2) ? d->greatest - below(s, 3) : d->least + below(s, 3); break;
    case 2:  v.i = (int64_t)any; break;
    default: v.i = below(s, 41) - 16; break;
    }
    return dtype_wrap(t, v).i;
}

/* The forms of quantized operators. */
static const Expr *fixed_point(World *w, const Expr *a, const Expr *b, const Expr *c)
{
    Ctx *cx = w->cx;
    const Expr *high = expr_binary(cx, EXPR_MULHIGH, a, b), *shifted = expr_binary(cx, EXPR_ROUNDSHIFT, high, c);
    switch (below(w->s, 6)) {
    case 0: return high;
    case 1: return expr_binary(cx, EXPR_ROUNDSHIFT, a, c);
    case 2: {
        const Expr *up = expr_int(cx, I32, 15 + below(w->s, 16)), *shifted_up = expr_binary(cx, EXPR_SHL, a, up);
        const Expr *factor = expr_int(cx, I32, (1 << 30) + (int64_t)next_random(w->s) * 32);
        return expr_binary(cx, EXPR_MULHIGH, shifted_up, below(w->s, 2) ? factor : b);
    }
    case 3: shifted = expr_add(cx, shifted, expr_int(cx, I32, below(w->s, 300) - 150)); break;
    case 4: shifted = a; break;
    default: break;
    }
    shifted = expr_binary(cx, EXPR_MIN, expr_binary(cx, EXPR_MAX, shifted, expr_int(cx, I32, -128)),
                          expr_int(cx, I32, 127));
    return below(w->s, 2) ? shifted : expr_cast(cx, I32, expr_cast(cx, I8, shifted));
}

static const Expr *random_expr(World *w, int depth)
{
    static const ExprKind kinds[] = { EXPR_ADD, EXPR_ADD, EXPR_SUB,  EXPR_MUL,  EXPR_FLOORDIV, EXPR_FLOORMOD, EXPR_SHL,
                                      EXPR_MIN, EXPR_MAX, EXPR_TDIV, EXPR_TMOD, EXPR_BITAND,   EXPR_SHR };
    uint32_t *s = w->s;
    if (depth <= 0 || below(s, 6) == 0)
        return below(s, 3) ? w->var[below(s, VARS)] : expr_int(w->cx, w->type, random_integer(s, w->type));
    const Expr *a = random_expr(w, depth - 1);
    if (below(s, 12) == 0) return expr_unary(w->cx, below(s, 2) ? EXPR_NEG : EXPR_ABS, a);
    if (below(s, 16) == 0) return expr_cast(w->cx, w->type, expr_cast(w->cx, (DType)(I8 + below(s, 6)), a));
    const Expr *b = below(s, 2) ? expr_int(w->cx, w->type, 1 + below(s, 9)) : random_expr(w, depth - 1);
    if (w->type == I32 && below(s, 3) == 0) return fixed_point(w, a, b, random_expr(w, depth - 1));
    return expr_binary(w->cx, kinds[below(s, 13)], a, b);
}

static Interval random_range(uint32_t *s, DType t)
{
    int64_t a = random_integer(s, t), b = random_integer(s, t);
    if (t == I32 && below(s, 3) == 0) a = 1 + below(s, 20), b = 1 + below(s, 20);
    if (dtype_info(t)->cls == SIGNED && below(s, 4) == 0) a = -1 - below(s, 5), b = -1;
    if (t == I32 && below(s, 3) == 0) a = -below(s, 1 << 20), b = below(s, 1 << 20);
    return a < b ? (Interval){ a, b } : (Interval){ b, a };
}

static World random_world(Ctx *cx, uint32_t *s, DType t, Map *data)
{
    World w = { .cx = cx, .s = s, .type = t };
    for (int v = 0; v < VARS; v++) {
        w.range[v] = t == U64 ? (Interval){ 0, INT64_MAX } : random_range(s, t);
        w.var[v] = expr_new_var(cx, "v", VAR_LOCAL, t, w.range[v].least, w.range[v].greatest);
        map_put_const_ptr(data, w.var[v], w.var[v]);
    }
    return w;
}

static void random_values(World *w)
{
    for (int v = 0; v < VARS; v++) {
        const Interval r = w->range[v];
        const uint64_t size = (uint64_t)r.greatest - (uint64_t)r.least,
                       any = (uint64_t)next_random(w->s) << 40 ^ (uint64_t)next_random(w->s) << 20 ^ next_random(w->s);
        const uint64_t at = below(w->s, 3) ? (size == UINT64_MAX ? any : any % (size + 1)) : below(w->s, 2) ? 0 : size;
        w->value[v].i = (int64_t)((uint64_t)r.least + at);
    }
}

static void show(World *w, const Expr *e, const Expr *now)
{
    Text t = text_new(w->cx);
    text_printf(&t, "%s: ", dtype_info(w->type)->spelling);
    print_expr(&t, e);
    text_add(&t, "   ==>   ");
    print_expr(&t, now);
    for (int v = 0; v < VARS; v++)
        text_printf(&t, " [%lld, %lld]", (long long)w->range[v].least, (long long)w->range[v].greatest);
    printf("# %s%s%s\n", text_string(&t), w->fault ? ": " : "", w->fault ? w->fault : "");
}

static void random_expressions(int rounds)
{
    static const DType types[] = { I32, I32, I32, I32, I8, U8, I16, U16, U32, I64, U64 };
    uint32_t seed = 7;
    int wrong = 0, faults = 0;
    for (int round = 0; round < rounds; round++) {
        Ctx *cx = context_new(NULL, NULL);
        for (int i = 0; i < 40; i++) {
            Map data = map_new(cx->arena);
            World w = random_world(cx, &seed, types[below(&seed, 11)], &data);
            const Legalize l = { cx, NULL, &data };
            const Expr *e = random_expr(&w, 3), *now = legal_expr(&l, e);
            for (int p = 0; p < 20 && wrong + faults < 20; p++) {
                World plain = w;
                random_values(&w);
                memcpy(plain.value, w.value, sizeof w.value);
                const bool differs = value_of(&w, now).i != value_of(&plain, e).i;
                wrong += differs;
                faults += w.fault != NULL;
                if (differs || w.fault) show(&w, e, now);
                if (differs || w.fault) break;
            }
        }
        CHECK("legalizing-is-no-error", !ctx_failed(cx));
        ctx_free(cx);
    }
    CHECK("legal-equals-original", wrong == 0);
    CHECK("legal-is-defined-in-c", faults == 0);
}

/* ---- Chosen forms ------------------------------------------------------------------------------------------------ */

typedef struct Form { const char *name, *text; int64_t least, greatest; const char *legal; } Form;
static const Form forms[] = {
    { "data-may-wrap", "v + v", INT32_MIN, INT32_MAX, "bits_i32(bits_u32(v) + bits_u32(v))" },
    { "small-data-is-plain", "v + v", -100, 100, "v + v" },
    { "division-of-any-sign", "v / 3", -100, 100, "lw_floordiv32(v, 3)" },
    { "division-of-no-negative", "v / 3", 0, 100, "tdiv(v, 3)" },
    { "division-by-zero", "7 / v", -1, 100, "lw_floordiv_i32(7, v)" },
    { "mask-of-any-sign", "v % 8", -100, 100, "v % 8" },
    { "shift-of-any-sign", "v >> 2", -100, 100, "lw_shr_i32(v, 2)" },
    { "shift-of-no-negative", "v >> 2", 0, 100, "v >> 2" },
    { "saturated-byte", "min(max(v, -128), 127)", INT32_MIN, INT32_MAX, "lw_sat_i8(v)" },
    { "mulhigh-of-minima", "mulhigh(v, v)", INT32_MIN, INT32_MAX, "lw_mulhigh_sat_i32(v, v)" },
    { "mulhigh-of-others", "mulhigh(v, v)", -100, 100, "lw_mulhigh_i32(v, v)" },
    { "near-roundshift", "roundshift(v, 5)", -100, 100, "lw_roundshift_near_i32(v, 5)" },
    { "requantized-byte", "min(max(roundshift(mulhigh(v, 1500000000), 7) + 3, -128), 127)", -9999, 9999,
      "lw_scale_i8(v, 1500000000, 7, 3)" },
};

static void chosen_forms(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const Form *f = &forms[i];
        Ctx *cx = context_new(NULL, NULL);
        Map data = map_new(cx->arena);
        const Expr *v = expr_new_var(cx, "v", VAR_LOCAL, I32, f->least, f->greatest);
        const Bind binds[] = { BIND_V("v", v), { NULL, NULL, NULL } };
        const Legalize l = { cx, NULL, &data };
        map_put_const_ptr(&data, v, v);
        Text t = text_new(cx);
        print_expr(&t, legal_expr(&l, expr_read(cx, f->text, binds, I32)));
        check_that(strcmp(text_string(&t), f->legal) == 0, check_label(f->name, "has-its-legal-form"), "%s and not %s",
                   text_string(&t), f->legal);
        ctx_free(cx);
    }
}

int main(int argc, char **argv)
{
    random_expressions(argc > 1 ? atoi(argv[1]) : 400);
    chosen_forms();
    for (int i = 0; i < KNOWN; i++)
        check_that(known[i].reached > 0, check_label(known[i].name, "is-reached-by-random-expressions"),
                   "no random expression reaches this function");
    CHECK("every-row-of-the-runtime-is-known", (int)KNOWN == (int)RUNTIME_COUNT);
    return check_done();
}
