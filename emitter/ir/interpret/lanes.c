/* SPDX-License-Identifier: MIT */
/* Implements the instructions of the fast interpreter: the work of each instruction on all lanes. Most kinds of
 * expression use scalar_apply, lane by lane. The rows of the tables below, in which real networks spend their time,
 * compute the same values. Registers do not overlap. */
#include "ir/interpret/program.h"

#include <string.h>

#include "runtime/lw_fixed.h"
#include "runtime/lw_math.h"
#include "support/text.h"

Rep rep_of(DType t)
{
    static const Rep reps[DTYPE_COUNT] = {
        [BOOL] = REP_I32, [I8] = REP_I32, [U8] = REP_I32, [I16] = REP_I32, [U16] = REP_I32, [I32] = REP_I32,
        [F32] = REP_F32, [U32] = REP_WIDE, [I64] = REP_WIDE, [U64] = REP_WIDE, [F16] = REP_WIDE, [BF16] = REP_WIDE,
        [F64] = REP_WIDE,
    };
    return reps[t];
}

size_t rep_bytes(Rep r)
{
    static const size_t bytes[] = {
        [REP_I32] = sizeof(int32_t), [REP_F32] = sizeof(float), [REP_WIDE] = sizeof(Scalar)
    };
    return bytes[r];
}

Scalar lane_get(Rep r, const void *at, int lane)
{
    Scalar s = { 0 };
    switch (r) {
    case REP_I32:  s.i = ((const int32_t *)at)[lane]; break;
    case REP_F32:  s.f = (double)((const float *)at)[lane]; break;
    case REP_WIDE: s = ((const Scalar *)at)[lane]; break;
    }
    return s;
}

void lane_put(Rep r, void *at, int lane, Scalar v)
{
    switch (r) {
    case REP_I32:  ((int32_t *)at)[lane] = (int32_t)v.i; break;
    case REP_F32:  ((float *)at)[lane] = (float)v.f; break;
    case REP_WIDE: ((Scalar *)at)[lane] = v; break;
    }
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static void general(const Instr *in, int lanes)
{
    const int arity = expr_info(in->kind)->arity;
    for (int l = 0; l < lanes; l++) {
        Scalar v[3] = { { 0 } };
        for (int i = 0; i < arity; i++) v[i] = lane_get(in->rep[i], in->arg[i], l);
        lane_put(in->rep[3], in->to, l, scalar_apply(in->kind, in->type, in->operand, v));
    }
}

/* Executes STATEMENT for each lane l. The first loop covers a multiple of a vector's elements, so that compilers
 * vectorize it at -O2 if the result is a `restrict` parameter. */
#define EACH_LANE(STATEMENT)                                                                                           \
    do {                                                                                                               \
        const int whole = lanes & ~7;                                                                                  \
        for (int l = 0; l < whole; l++) STATEMENT;                                                                     \
        for (int l = whole; l < lanes; l++) STATEMENT;                                                                 \
    } while (0)

/* Defines NAME: to[l] = VALUE of operands a, b, c of type T, for each lane l. */
#define OPERATION1(NAME, R, T, VALUE)                                                                                  \
    static void NAME##_lanes(R *restrict to, const T *a, int lanes) { EACH_LANE(to[l] = VALUE); }                      \
    static void NAME(const Instr *in, int lanes) { NAME##_lanes(in->to, in->arg[0], lanes); }
#define OPERATION2(NAME, R, T, VALUE)                                                                                  \
    static void NAME##_lanes(R *restrict to, const T *a, const T *b, int lanes) { EACH_LANE(to[l] = VALUE); }          \
    static void NAME(const Instr *in, int lanes) { NAME##_lanes(in->to, in->arg[0], in->arg[1], lanes); }
#define SELECT(NAME, T)                                                                                                \
    static void NAME##_lanes(T *restrict to, const int32_t *cond, const T *yes, const T *no, int lanes)                \
    {                                                                                                                  \
        EACH_LANE({ const T a = yes[l]; const T b = no[l]; to[l] = cond[l] ? a : b; });                                \
    }                                                                                                                  \
    static void NAME(const Instr *in, int lanes)                                                                       \
    {                                                                                                                  \
        NAME##_lanes(in->to, in->arg[0], in->arg[1], in->arg[2], lanes);                                               \
    }

/* Integers are added and multiplied as uint32_t, because this type wraps. */
#define U(x) ((uint32_t)(x))
OPERATION2(add_f32, float, float, a[l] + b[l])
OPERATION2(sub_f32, float, float, a[l] - b[l])
OPERATION2(mul_f32, float, float, a[l] * b[l])
OPERATION2(div_f32, float, float, a[l] / b[l])
OPERATION2(min_f32, float, float, lw_minf(a[l], b[l]))
OPERATION2(max_f32, float, float, lw_maxf(a[l], b[l]))
OPERATION2(lt_f32, int32_t, float, a[l] < b[l])
OPERATION2(le_f32, int32_t, float, a[l] <= b[l])
OPERATION2(add_i32, int32_t, int32_t, (int32_t)(U(a[l]) + U(b[l])))
OPERATION2(sub_i32, int32_t, int32_t, (int32_t)(U(a[l]) - U(b[l])))
OPERATION2(mul_i32, int32_t, int32_t, (int32_t)(U(a[l]) * U(b[l])))
OPERATION2(min_i32, int32_t, int32_t, a[l] < b[l] ? a[l] : b[l])
OPERATION2(max_i32, int32_t, int32_t, a[l] > b[l] ? a[l] : b[l])
OPERATION2(mulhigh_i32, int32_t, int32_t, lw_mulhigh_sat_i32(a[l], b[l]))
OPERATION2(roundshift_i32, int32_t, int32_t, lw_roundshift_any_i32(a[l], b[l]))
OPERATION2(lt_i32, int32_t, int32_t, a[l] < b[l])
OPERATION2(le_i32, int32_t, int32_t, a[l] <= b[l])
OPERATION2(eq_i32, int32_t, int32_t, a[l] == b[l])
OPERATION2(ne_i32, int32_t, int32_t, a[l] != b[l])
OPERATION2(bitand_i32, int32_t, int32_t, a[l] & b[l])
OPERATION2(and_bool, int32_t, int32_t, a[l] & b[l])
/* An arithmetic shift. If the amount is outside the type's bits, the sign remains. */
#define SHIFT_BY(n, most) ((uint64_t)(n) < (most) ? (n) : (most))
#define SHIFTED(x, n, most) ((x) < 0 ? ~(~(x) >> SHIFT_BY(n, most)) : (x) >> SHIFT_BY(n, most))
OPERATION2(shr_i32, int32_t, int32_t, SHIFTED(a[l], b[l], 31))
OPERATION2(or_bool, int32_t, int32_t, a[l] | b[l])
OPERATION1(not_bool, int32_t, int32_t, a[l] ^ 1)
OPERATION2(add_i64, Scalar, Scalar, ((Scalar){ .i = (int64_t)((uint64_t)a[l].i + (uint64_t)b[l].i) }))
OPERATION2(sub_i64, Scalar, Scalar, ((Scalar){ .i = (int64_t)((uint64_t)a[l].i - (uint64_t)b[l].i) }))
OPERATION2(mul_i64, Scalar, Scalar, ((Scalar){ .i = (int64_t)((uint64_t)a[l].i * (uint64_t)b[l].i) }))
OPERATION2(min_i64, Scalar, Scalar, a[l].i < b[l].i ? a[l] : b[l])
OPERATION2(max_i64, Scalar, Scalar, a[l].i < b[l].i ? b[l] : a[l])
OPERATION2(shr_i64, Scalar, Scalar, ((Scalar){ .i = SHIFTED(a[l].i, b[l].i, 63) }))
OPERATION1(nearbyint_f32, float, float, lw_nearbyintf(a[l]))
/* Casts saturate, and NaN gives 0. */
#define SATURATED(x, low, high) ((int32_t)((x) >= (high) ? (high) : (x) > (low) ? (x) : (x) <= (low) ? (low) : 0.0f))
OPERATION1(f32_to_i8, int32_t, float, SATURATED(a[l], -128.0f, 127.0f))
OPERATION1(f32_to_u8, int32_t, float, SATURATED(a[l], 0.0f, 255.0f))
OPERATION1(f32_to_i16, int32_t, float, SATURATED(a[l], -32768.0f, 32767.0f))
/* Wraps an integer: keeps the lowest bits, of which the highest is the sign. */
#define WRAPPED(x, sign) ((int32_t)((U(x) & (2u * (sign) - 1)) ^ (sign)) - (int32_t)(sign))
OPERATION1(i32_to_i8, int32_t, int32_t, WRAPPED(a[l], 0x80u))
OPERATION1(i32_to_i16, int32_t, int32_t, WRAPPED(a[l], 0x8000u))
OPERATION1(i64_to_i8, int32_t, Scalar, WRAPPED((uint64_t)a[l].i, 0x80u))
OPERATION1(i64_to_i16, int32_t, Scalar, WRAPPED((uint64_t)a[l].i, 0x8000u))
OPERATION1(i32_to_f32, float, int32_t, (float)a[l])
OPERATION1(i32_to_i64, Scalar, int32_t, ((Scalar){ .i = a[l] }))
OPERATION1(i64_to_i32, int32_t, Scalar, (int32_t)(uint32_t)a[l].i)
SELECT(select_i32, int32_t)
SELECT(select_f32, float)
SELECT(select_wide, Scalar)

/* Special kernels by kind, type of the result and type of the operands; ANY_I32 matches the types of REP_I32. */
enum { ANY_I32 = DTYPE_COUNT, ANY_WIDE };
static const struct { ExprKind kind; int result, operand; Kernel *run; } special[] = {
    { EXPR_ADD,    F32,      F32,      add_f32 },   { EXPR_ADD, I32,     I32,     add_i32 },
    { EXPR_SUB,    F32,      F32,      sub_f32 },   { EXPR_SUB, I32,     I32,     sub_i32 },
    { EXPR_MUL,    F32,      F32,      mul_f32 },   { EXPR_MUL, I32,     I32,     mul_i32 },
    { EXPR_MIN,    F32,      F32,      min_f32 },   { EXPR_MIN, ANY_I32, ANY_I32, min_i32 },
    { EXPR_MAX,    F32,      F32,      max_f32 },   { EXPR_MAX, ANY_I32, ANY_I32, max_i32 },
    { EXPR_LT,     BOOL,     F32,      lt_f32 },    { EXPR_LT,  BOOL,    ANY_I32, lt_i32 },
    { EXPR_LE,     BOOL,     F32,      le_f32 },    { EXPR_LE,  BOOL,    ANY_I32, le_i32 },
    { EXPR_DIV,    F32,      F32,      div_f32 },   { EXPR_EQ,  BOOL,    ANY_I32, eq_i32 },
    { EXPR_MULHIGH, I32,     I32,      mulhigh_i32 }, { EXPR_ROUNDSHIFT, I32, I32, roundshift_i32 },
    { EXPR_NOT,    BOOL,     BOOL,     not_bool },  { EXPR_NE,  BOOL,    ANY_I32, ne_i32 },
    { EXPR_AND,    BOOL,     BOOL,     and_bool },  { EXPR_OR,  BOOL,    BOOL,    or_bool },
    { EXPR_ADD,    I64,      I64,      add_i64 },   { EXPR_SUB, I64,     I64,     sub_i64 },
    { EXPR_MUL,    I64,      I64,      mul_i64 },   { EXPR_SHR, I64,     I64,     shr_i64 },
    { EXPR_MIN,    I64,      I64,      min_i64 },   { EXPR_MAX, I64,     I64,     max_i64 },
    { EXPR_SHR,    I32,      I32,      shr_i32 },   { EXPR_BITAND, I32,  I32,     bitand_i32 },
    { EXPR_CAST,   I8,       F32,      f32_to_i8 }, { EXPR_CAST, U8, F32, f32_to_u8 },
    { EXPR_CAST,   I16,      F32,      f32_to_i16 }, { EXPR_NEARBYINT, F32, F32, nearbyint_f32 },
    { EXPR_CAST,   F32,      ANY_I32,  i32_to_f32 },
    { EXPR_CAST,   I8,       ANY_I32,  i32_to_i8 }, { EXPR_CAST, I16, ANY_I32, i32_to_i16 },
    { EXPR_CAST,   I8,       I64,      i64_to_i8 }, { EXPR_CAST, I16, I64, i64_to_i16 },
    { EXPR_CAST,   I64,      ANY_I32,  i32_to_i64 },
    { EXPR_CAST,   I32,      I64,      i64_to_i32 },
    { EXPR_SELECT, ANY_I32,  ANY_I32,  select_i32 },
    { EXPR_SELECT, F32,      F32,      select_f32 },
    { EXPR_SELECT, ANY_WIDE, ANY_WIDE, select_wide },
};

static bool suits(int wanted, DType t)
{
    return wanted == (int)t || (wanted == ANY_I32 && rep_of(t) == REP_I32)
           || (wanted == ANY_WIDE && rep_of(t) == REP_WIDE);
}

Kernel *kernel_of(ExprKind k, DType result, DType operand)
{
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (special[i].kind == k && suits(special[i].result, result) && suits(special[i].operand, operand))
            return special[i].run;
    return general;
}

/* Fills blocks of a known size, because -O2 does not vectorize a loop that may be too short to gain from it. */
#define FILL(NAME, T)                                                                                                  \
    static void NAME(T *to, T value, int lanes)                                                                        \
    {                                                                                                                  \
        enum { BLOCK = 8 };                                                                                            \
        const int whole = lanes & ~(BLOCK - 1);                                                                        \
        for (int l = 0; l < whole; l += BLOCK)                                                                         \
            for (int k = 0; k < BLOCK; k++) to[l + k] = value;                                                         \
        for (int l = whole; l < lanes; l++) to[l] = value;                                                             \
    }
FILL(fill_i32, int32_t)
FILL(fill_f32, float)
FILL(fill_wide, Scalar)

#define SPLAT(NAME, FILL, T)                                                                                           \
    static void NAME(const Instr *in, int lanes) { FILL(in->to, *(const T *)in->arg[0], lanes); }
SPLAT(splat_i32, fill_i32, int32_t)
SPLAT(splat_f32, fill_f32, float)
SPLAT(splat_wide, fill_wide, Scalar)

Kernel *kernel_splat(Rep r)
{
    static Kernel *const kernels[] = { [REP_I32] = splat_i32, [REP_F32] = splat_f32, [REP_WIDE] = splat_wide };
    return kernels[r];
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* Sums in uint64_t, because an index far out of bounds may wrap in a lane that its mask disables. */
static int64_t sum_terms(int64_t start, const LaneTerm *term, int count, int lane)
{
    uint64_t sum = (uint64_t)start;
    for (int i = 0; i < count; i++) sum += (uint64_t)term[i].factor * (uint64_t)term[i].lane[lane];
    return (int64_t)sum;
}

static int64_t clamp(int64_t at)
{
    return at < -((int64_t)1 << 40) ? -((int64_t)1 << 40) : at > (int64_t)1 << 40 ? (int64_t)1 << 40 : at;
}

/* Returns the offset of an access. Clamps it to a range in which the sum of two values cannot wrap, and which extends
 * far beyond every tensor. */
int64_t access_at(const ProgramAccess *x) { return clamp(sum_terms(x->constant, x->term, x->term_count, 0)); }

void kernel_offsets(const Instr *in, int lanes)
{
    Offsets *o = in->offsets;
    for (int l = 0; l < lanes; l++) o->at[l] = clamp(sum_terms(0, o->term, o->term_count, l));
    o->least = o->greatest = o->at[0];
    o->step = lanes > 1 ? o->at[1] - o->at[0] : 0;
    o->is_even = true;
    for (int l = 0; l < lanes; l++) {
        if (o->at[l] < o->least) o->least = o->at[l];
        if (o->at[l] > o->greatest) o->greatest = o->at[l];
        o->is_even = o->is_even && o->at[l] == o->at[0] + o->step * l;
    }
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }

static bool is_on(const ProgramAccess *x, int lane) { return !x->mask || x->mask[lane * x->mask_step]; }

static void note_fault(ProgramAccess *x, int lane, int64_t at)
{
    if (x->fault_lane >= 0) return;
    x->fault_lane = lane;
    x->fault_at = at;
}

static void load_nothing(const Instr *in, int lanes)
{
    in->access->ran[PATH_LOAD_NOTHING]++;
    memset(in->to, 0, (size_t)lanes * rep_bytes(rep_of(in->access->tensor->type)));
}

/* Loads lanes that may be out of bounds. */
static void load_carefully(const Instr *in, int lanes, int64_t at)
{
    ProgramAccess *x = in->access;
    const Rep rep = rep_of(x->tensor->type);
    if (x->mask && !x->mask_step && !x->mask[0]) {
        load_nothing(in, lanes);
        return;
    }
    x->ran[PATH_LOAD_CHECKED]++;
    for (int l = 0; l < lanes; l++) {
        const int64_t elem = at + x->offsets->at[l];
        const bool is_inside = elem >= 0 && elem < x->elems;
        Scalar v = { 0 };
        if (is_on(x, l) && is_inside) v = dtype_load(x->tensor->type, x->data, elem);
        else if (is_on(x, l)) note_fault(x, l, elem);
        lane_put(rep, in->to, l, v);
    }
}

static void load_wide(const Instr *in, int lanes)
{
    in->access->fault_lane = -1;
    load_carefully(in, lanes, access_at(in->access));
}

static FastPath load_path(const Offsets *o)
{
    if (o->is_even && o->step) return o->step == 1 ? PATH_LOAD_ROW : PATH_LOAD_STEPS;
    return o->run > 1 ? PATH_LOAD_RUNS : o->row > 1 ? PATH_LOAD_ROWS : PATH_LOAD_LANES;
}

#define LOAD(NAME, M, R, FILL)                                                                                         \
    static void NAME##_row(R *restrict to, const M *from, int lanes) { EACH_LANE(to[l] = from[l]); }                   \
    static void NAME(const Instr *in, int lanes)                                                                       \
    {                                                                                                                  \
        ProgramAccess *x = in->access;                                                                                 \
        const Offsets *o = x->offsets;                                                                                 \
        const int64_t at = access_at(x), step = o->step;                                                               \
        R *restrict to = in->to;                                                                                       \
        x->fault_lane = -1;                                                                                            \
        if (!access_fits(x, at)) {                                                                                     \
            load_carefully(in, lanes, at);                                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        const M *from = (const M *)x->data + at, *even = from + o->at[0];                                              \
        const FastPath path = load_path(o);                                                                            \
        x->ran[path]++;                                                                                                \
        if (path == PATH_LOAD_ROW) NAME##_row(to, even, lanes);                                                        \
        else if (path == PATH_LOAD_STEPS) for (int l = 0; l < lanes; l++) to[l] = even[l * step];                      \
        else if (path == PATH_LOAD_RUNS)                                                                               \
            for (int l = 0; l < lanes; l += o->run) FILL(to + l, from[o->at[l]], least(o->run, lanes - l));            \
        else if (path == PATH_LOAD_ROWS)                                                                               \
            for (int l = 0; l < lanes; l += o->row) NAME##_row(to + l, from + o->at[l], least(o->row, lanes - l));     \
        else for (int l = 0; l < lanes; l++) to[l] = from[o->at[l]];                                                   \
    }
LOAD(load_i8, int8_t, int32_t, fill_i32)
LOAD(load_u8, uint8_t, int32_t, fill_i32)
LOAD(load_i16, int16_t, int32_t, fill_i32)
LOAD(load_u16, uint16_t, int32_t, fill_i32)
LOAD(load_i32, int32_t, int32_t, fill_i32)
LOAD(load_f32, float, float, fill_f32)

Kernel *kernel_load(DType t)
{
    static Kernel *const kernels[DTYPE_COUNT] = {
        [BOOL] = load_u8, [I8] = load_i8,   [U8] = load_u8,   [I16] = load_i16,
        [U16] = load_u16, [I32] = load_i32, [F32] = load_f32,
    };
    return kernels[t] ? kernels[t] : load_wide;
}

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

#define STORE(NAME, M, R)                                                                                              \
    static void NAME##_row(M *restrict to, const R *value, int lanes) { EACH_LANE(to[l] = (M)value[l]); }              \
    static void NAME(const Strip *s, int64_t at, int lanes)                                                            \
    {                                                                                                                  \
        const Sink *t = &s->sink[0];                                                                                   \
        const Offsets *o = t->access.offsets;                                                                          \
        const R *value = t->value.at;                                                                                  \
        M *to = (M *)t->access.own + at;                                                                               \
        const bool has_rows = o->row > 1 && t->value.step;                                                             \
        s->ran[has_rows ? PATH_STORE_ROWS : PATH_STORE_LANES]++;                                                       \
        if (has_rows)                                                                                                  \
            for (int l = 0; l < lanes; l += o->row)                                                                    \
                NAME##_row(to + o->at[l], value + l, least(o->row, lanes - l));                                        \
        else for (int l = 0; l < lanes; l++) to[o->at[l]] = (M)value[l * t->value.step];                               \
    }
STORE(store_8, uint8_t, int32_t)
STORE(store_16, uint16_t, int32_t)
STORE(store_i32, int32_t, int32_t)
STORE(store_f32, float, float)

Finish *finish_store(DType t)
{
    static Finish *const stores[DTYPE_COUNT] = {
        [BOOL] = store_8, [I8] = store_8,    [U8] = store_8,    [I16] = store_16,
        [U16] = store_16, [I32] = store_i32, [F32] = store_f32,
    };
    return stores[t];
}

/* Combines rows of different elements at once. In other rows, `old` stays in a register as long as the element is the
 * same. */
#define REDUCE(NAME, M, R, COMBINED)                                                                                   \
    static void NAME##_row(M *restrict to, const R *next, int lanes)                                                   \
    {                                                                                                                  \
        EACH_LANE({ const R old = (R)to[l]; const R value = next[l]; to[l] = (M)(COMBINED); });                        \
    }                                                                                                                  \
    static void NAME(const Strip *s, int64_t at, int lanes)                                                            \
    {                                                                                                                  \
        const Sink *t = &s->sink[0];                                                                                   \
        const Offsets *o = t->access.offsets;                                                                          \
        const R *next = t->value.at, *init = t->init.at;                                                               \
        const int32_t *first = s->first.at;                                                                            \
        const int value_step = t->value.step, init_step = t->init.step, first_step = s->first.step;                    \
        M *to = (M *)t->access.own + at;                                                                               \
        const bool has_rows = o->row > 1 && value_step && !first;                                                      \
        s->ran[has_rows ? PATH_REDUCE_ROWS : PATH_REDUCE_RUNS]++;                                                      \
        if (has_rows) {                                                                                                \
            for (int l = 0; l < lanes; l += o->row)                                                                    \
                NAME##_row(to + o->at[l], next + l, least(o->row, lanes - l));                                         \
            return;                                                                                                    \
        }                                                                                                              \
        for (int l = 0, end; l < lanes; l = end) {                                                                     \
            R old = (R)to[o->at[l]];                                                                                   \
            M *const place = to + o->at[l];                                                                            \
            end = l + least(o->run, lanes - l);                                                                        \
            for (int k = l; k < end; k++) {                                                                            \
                const R value = next[k * value_step];                                                                  \
                if (first && first[k * first_step]) old = init[k * init_step];                                         \
                old = COMBINED;                                                                                        \
            }                                                                                                          \
            *place = (M)old;                                                                                           \
        }                                                                                                              \
    }
REDUCE(sum_f32, float, float, old + value)
REDUCE(prod_f32, float, float, old * value)
REDUCE(max_f32_all, float, float, lw_maxf(old, value))
REDUCE(min_f32_all, float, float, lw_minf(old, value))
REDUCE(sum_i32, int32_t, int32_t, (int32_t)(U(old) + U(value)))
REDUCE(max_i32_all, int32_t, int32_t, old < value ? value : old)
REDUCE(min_i32_all, int32_t, int32_t, value < old ? value : old)
REDUCE(max_i8_all, int8_t, int32_t, old < value ? value : old)
REDUCE(min_i8_all, int8_t, int32_t, value < old ? value : old)

static const struct { Reducer reducer; DType type; Finish *finish; } reductions[] = {
    { REDUCE_SUM,  F32, sum_f32 },     { REDUCE_SUM, I32, sum_i32 },     { REDUCE_PROD, F32, prod_f32 },
    { REDUCE_MAX,  F32, max_f32_all }, { REDUCE_MAX, I32, max_i32_all }, { REDUCE_MAX, I8, max_i8_all },
    { REDUCE_MIN,  F32, min_f32_all }, { REDUCE_MIN, I32, min_i32_all }, { REDUCE_MIN, I8, min_i8_all },
};

Finish *finish_reduce(Reducer r, DType t)
{
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++)
        if (reductions[i].reducer == r && reductions[i].type == t) return reductions[i].finish;
    return NULL;
}

/* ---- The paths --------------------------------------------------------------------------------------------------- */

static const struct { Kernel *run; const char *name; } other[] = {
    { general, "any kind" },     { kernel_offsets, "offsets" }, { splat_i32, "splat i32" }, { splat_f32, "splat f32" },
    { splat_wide, "splat wide" }, { load_i8, "load i8" },       { load_u8, "load u8" },     { load_i16, "load i16" },
    { load_u16, "load u16" },    { load_i32, "load i32" },      { load_f32, "load f32" },   { load_wide, "load wide" },
};
static const struct { Finish *finish; const char *name; } stores[] = {
    { store_8, "store 8" }, { store_16, "store 16" }, { store_i32, "store i32" }, { store_f32, "store f32" },
};
enum {
    OTHERS = sizeof other / sizeof *other, SPECIALS = sizeof special / sizeof *special,
    STORES = sizeof stores / sizeof *stores, REDUCTIONS = sizeof reductions / sizeof *reductions,
};

int path_of_kernel(Kernel *run)
{
    int i = 0, k = 0;
    while (i < OTHERS && other[i].run != run) i++;
    while (k < SPECIALS && special[k].run != run) k++;
    return PATH_KERNELS + (i < OTHERS ? i : OTHERS + k);
}

int path_of_finish(Finish *f)
{
    int i = 0, k = 0;
    while (i < STORES && stores[i].finish != f) i++;
    while (k < REDUCTIONS && reductions[k].finish != f) k++;
    return PATH_KERNELS + OTHERS + SPECIALS + (i < STORES ? i : STORES + k);
}

int interpret_path_count(void) { return PATH_KERNELS + OTHERS + SPECIALS + STORES + REDUCTIONS; }

static const char *type_name(int type)
{
    return type == ANY_I32 ? "small" : type == ANY_WIDE ? "wide" : dtype_info((DType)type)->spelling;
}

static const char *special_name(Ctx *cx, int i)
{
    const char *kind = expr_info(special[i].kind)->spelling, *operand = type_name(special[i].operand);
    if (special[i].kind == EXPR_CAST) return text_format(cx, "%s to %s", operand, type_name(special[i].result));
    return text_format(cx, "%s %s", kind, operand);
}

const char *interpret_path_name(Ctx *cx, int path)
{
    static const char *const names[] = {
#define PATH(NAME, SPELLING) SPELLING,
#include "ir/interpret/paths.def"
#undef PATH
    };
    if (path < PATH_KERNELS) return names[path];
    path -= PATH_KERNELS;
    if (path < OTHERS) return other[path].name;
    path -= OTHERS;
    if (path < SPECIALS) return special_name(cx, path);
    path -= SPECIALS;
    if (path < STORES) return stores[path].name;
    path -= STORES;
    return text_format(cx, "%s %s", reducer_info(reductions[path].reducer)->spelling,
                       dtype_info(reductions[path].type)->spelling);
}
