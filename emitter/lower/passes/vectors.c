/* SPDX-License-Identifier: MIT */
/* Lowers vector loops to a target's registers. A vector loop qualifies if the vectors of runtime/simd support all its
 * statements. Such a loop is split into pieces of 16, 8 or 4 iterations (20 into 16 and 4), each a loop of kind LANES.
 * Such a loop keeps its meaning for every pass and is printed as one statement on vectors (cgen/vectors.c). Other loops
 * are left to the C compiler.
 *
 *     for (j < 32) vector: y[j] = a[j] + b[j]
 * =>  for (j < 16) lanes: y[j] = a[j] + b[j]                    in C: lw_f32x16_store(y, lw_f32x16_add(...))
 *     for (j < 16) lanes: y[16 + j] = a[16 + j] + b[16 + j]
 *
 * Supported: contiguous loads and stores of floats and 32-bit integers, expressions that do not depend on the lane, and
 * the operations of simd.h. Vectors evaluate both sides of a select, so its sides may load only elements that are
 * loaded in any case. */

/* Decision: vectors remain loops until C is printed. If the target has vector registers, a vector loop is cut into
 * pieces of 16, 8 or 4 iterations, which are loops of kind `lanes`. Every pass treats these pieces as loops; the
 * printer writes them as statements on the types of `runtime/simd` (`cgen/vectors.c`). A register tile that only whole
 * vectors access becomes variables of these types (`lower/passes/registers.c`), so accumulators stay in registers
 * whatever the C compiler does with arrays. A tile that scalar code reads at the end is stored in its array after the
 * loops. On x86 the factors that a tile shares are variables as well (`lower/passes/operands.c`), with `hold` around
 * their loads. An instruction may read an operand from memory, so gcc would otherwise load a vector of weights again
 * for each position. A Zen 3 loads two vectors in a cycle and multiplies two, and a tile of 12 sums took 16 loads
 * instead of 7. `simd/simd.h` selects by the compiler's macros; `scalar.h` has all widths, so one text gives the same
 * bits anywhere. `vectorize LOOP contract` (and `unroll`) allows a*b + c to be rounded once. Where the nest's target
 * has `fma`, the interpreter and the emitted C round once, exactly in every header. The float contractions of the
 * built-in schedules take it; `--float separate` removes the feature from the target. */
#include "lower/passes/passes.h"
#include "support/map.h"

/* The most pieces of the full width. Up to two narrower pieces follow. */
enum { MOST_PIECES = 16 };

/* ---- Statements that vectors support ----------------------------------------------------------------------------- */

/* `lets` holds the variables that differ by lane. */
typedef struct LaneSupport { Ctx *cx; const Expr *lane; Map lets; } LaneSupport;

static void find_lane(const Expr *e, void *user)
{
    LaneSupport *s = user;
    if (e == s->lane || (e->kind == EXPR_VAR && map_get_ptr(&s->lets, e))) s->lane = NULL;
}

static bool differs_by_lane(const LaneSupport *s, const Expr *e)
{
    LaneSupport find = *s;
    expr_walk(s->cx, e, find_lane, &find);
    return !find.lane;
}

bool is_lane_type(DType t) { return t == F32 || t == I32; }

static bool is_contiguous(const LaneSupport *s, const Expr *index)
{
    int64_t coef;
    const Expr *rest;
    return split_linear(s->cx, index, s->lane, &coef, &rest) && coef == 1;
}

/* are_among is true if every load of an expression also occurs in `among`. */
typedef struct LoadsOf { const Expr *among; bool are_among; } LoadsOf;

static void find_new_load(const Expr *e, void *user)
{
    LoadsOf *l = user;
    if (e->kind == EXPR_LOAD && !expr_uses(l->among, e)) l->are_among = false;
}

static bool loads_only_among(Ctx *cx, const Expr *e, const Expr *among)
{
    LoadsOf l = { among, true };
    expr_walk(cx, e, find_new_load, &l);
    return l.are_among;
}

static bool supports(const LaneSupport *s, const Expr *e);

static bool supports_all(const LaneSupport *s, const Expr *e)
{
    for (int i = 0; i < e->arg_count; i++)
        if (!supports(s, e->arg[i])) return false;
    return true;
}

static bool supports_load(const LaneSupport *s, const Expr *e)
{
    const Memory *m = e->ref;
    return m->kind != MEMORY_SCALAR && is_contiguous(s, e->arg[0]);
}

/* Returns true for conversions between the lane types, and for loads that widen narrow integers. */
static bool supports_cast(const LaneSupport *s, const Expr *e)
{
    const Expr *from = e->arg[0];
    if (is_lane_type(from->type)) return is_lane_type(e->type) && supports(s, from);
    bool is_narrow = from->type == I8 || from->type == U8 || from->type == I16;
    return is_narrow && e->type == I32 && from->kind == EXPR_LOAD && supports_load(s, from);
}

static bool supports_mask(const LaneSupport *s, const Expr *e)
{
    switch (e->kind) {
    case EXPR_LT: case EXPR_LE: case EXPR_EQ: case EXPR_NE: return is_lane_type(e->arg[0]->type) && supports_all(s, e);
    case EXPR_AND: case EXPR_OR: return loads_only_among(s->cx, e->arg[1], e->arg[0]) && supports_all(s, e);
    case EXPR_NOT: return supports_all(s, e);
    default:       return false;
    }
}

static bool supports(const LaneSupport *s, const Expr *e)
{
    if (e->type == BOOL) return differs_by_lane(s, e) && supports_mask(s, e);
    if (!differs_by_lane(s, e)) return is_lane_type(e->type);
    if (e->kind == EXPR_CAST) return supports_cast(s, e);
    if (!is_lane_type(e->type)) return false;
    switch (e->kind) {
    case EXPR_VAR:  return e != s->lane;
    case EXPR_LOAD: return supports_load(s, e);
    case EXPR_ADD: case EXPR_SUB: case EXPR_MUL: case EXPR_MIN: case EXPR_MAX: return supports_all(s, e);
    case EXPR_DIV: case EXPR_NEG: case EXPR_ABS: case EXPR_SQRT: case EXPR_FMA:
        return e->type == F32 && supports_all(s, e);
    case EXPR_BITAND: case EXPR_BITOR: case EXPR_BITXOR: return supports_all(s, e);
    case EXPR_SELECT:
        return loads_only_among(s->cx, e->arg[SELECT_YES], e->arg[SELECT_COND]) &&
               loads_only_among(s->cx, e->arg[SELECT_NO], e->arg[SELECT_COND]) && supports_all(s, e);
    default: return false;
    }
}

static bool supports_statement(LaneSupport *s, const Code *c)
{
    if (c->kind == CODE_SEQ) {
        for (int i = 0; i < c->child_count; i++)
            if (!supports_statement(s, c->child[i])) return false;
        return true;
    }
    if (c->kind == CODE_STORE)
        return is_lane_type(c->memory->type) && c->memory->kind != MEMORY_SCALAR && is_contiguous(s, c->index)
               && supports(s, c->value);
    if (c->kind != CODE_LET) return false;
    bool differs = differs_by_lane(s, c->value);
    if (differs && !supports(s, c->value)) return false;
    if (differs) map_put_ptr(&s->lets, c->var, s);
    return true;
}

/* ---- Loops in pieces --------------------------------------------------------------------------------------------- */

/* Returns the number of lanes of the next piece: the largest of `most`, most/2, ... 4 that is at most `left`. */
static int lanes_of_piece(int64_t left, int most)
{
    int lanes = most;
    while (lanes > left) lanes /= 2;
    return lanes;
}

static const Code *piece(Ctx *cx, const Code *loop, int lanes, const Expr *first)
{
    const Expr *var = expr_new_var(cx, expr_as_var(loop->var)->name, VAR_LOOP, I32, 0, lanes - 1);
    const Expr *at = simplify(cx, expr_add(cx, var, first), NULL);
    const Code *body = code_substitute(cx, code_fresh(cx, loop->child[0]), loop->var, at);
    return code_for(cx, var, expr_index(cx, 0), expr_index(cx, lanes), 1, LOOP_LANES, body);
}

bool vectors_suit(Ctx *cx, const Code *c)
{
    if (c->kind != CODE_FOR || c->loop_kind != LOOP_VECTOR || c->step != 1) return false;
    if (!expr_is_int(c->begin, 0) || c->end->kind != EXPR_INT || c->end->integer < 4 || c->end->integer % 4 != 0)
        return false;
    LaneSupport s = { cx, c->var, map_new(cx->arena) };
    return supports_statement(&s, c->child[0]);
}

/* Cuts a vector loop into pieces: 12 iterations become 8 and 4. Many equal pieces become a loop. */
static const Code *cut(Ctx *cx, const Code *c, void *user)
{
    const LowerOptions *o = *(const LowerOptions *const *)user;
    if (!vectors_suit(cx, c)) return c;
    const int64_t extent = c->end->integer, whole = extent / o->lanes * o->lanes;
    const Code *part[MOST_PIECES + 3];
    int count = 0;
    int64_t at = 0;
    if (whole / o->lanes > MOST_PIECES) {
        const Expr *first = expr_new_var(cx, expr_as_var(c->var)->name, VAR_LOOP, I32, 0, whole - o->lanes);
        part[count++] = code_for(cx, first, c->begin, expr_index(cx, whole), o->lanes, LOOP_SERIAL,
                                 piece(cx, c, o->lanes, first));
        at = whole;
    }
    while (at < extent) {
        const int lanes = lanes_of_piece(extent - at, o->lanes);
        part[count++] = piece(cx, c, lanes, expr_index(cx, at));
        at += lanes;
    }
    return code_seq(cx, part, count);
}

const Code *pass_vectors(Ctx *cx, const LowerOptions *options, const Code *c)
{
    return options && options->lanes ? code_rewrite(cx, c, cut, &options) : c;
}
