/* SPDX-License-Identifier: MIT */
/* Lowers vector loops to a target's registers. A vector loop qualifies if the vectors of runtime/simd support all its
 * statements. It is split into pieces of 16, 8 or 4 iterations (20 into 16 and 4), each a loop of kind LANES. Such a
 * loop keeps its meaning for every pass and is printed as one statement on vectors (cgen/vectors.c). Other loops are
 * left to the C compiler.
 *
 *     for (j < 32) vector: acc[i*32 + j] = fma(a[k], b[k*32 + j], acc[i*32 + j])
 * =>  for (j < 16) lanes: acc_0 = fma(a[k], b[k*32 + j], acc_0)        in C: acc_0 = lw_f32x16_fma(...)
 *     for (j < 16) lanes: acc_1 = fma(a[k], b[k*32 + 16 + j], acc_1)
 *
 * A local array that only whole aligned vectors access then becomes one variable per vector.
 *
 * Supported: contiguous loads and stores of floats and 32-bit integers, expressions that do not depend on the lane, and
 * the operations of simd.h. Vectors evaluate both sides of a select, so its sides may load only elements that are
 * loaded in any case. */
#include "lower/passes/passes.h"
#include "support/map.h"
#include "support/names.h"

/* pieces of the full width; up to two narrower ones follow */
enum { MOST_PIECES = 16, MOST_VARIABLES = 64 };

/* ---- Statements that vectors support ----------------------------------------------------------------------------- */

/* lets: variables that differ by lane */
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

static bool is_lane_type(DType t) { return t == F32 || t == I32; }

static bool is_contiguous(const LaneSupport *s, const Expr *index)
{
    int64_t coef;
    const Expr *rest;
    return split_linear(s->cx, index, s->lane, &coef, &rest) && coef == 1;
}

/* True if every load of `e` also occurs in `among`. */
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

/* Supports conversions between the lane types; loads widen narrow integers. */
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

/* 12 iterations become 8 and 4. Many equal pieces become a loop. */
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

/* ---- Arrays as variables ----------------------------------------------------------------------------------------- */

/* vector[i]: the variable for elements i .. i + lanes[i] - 1; lanes[i] is 0 outside of all vectors, MIDDLE after a
 * vector's first element. */
enum { MIDDLE = -1 };
typedef struct Array { bool is_array; int count; int64_t elems; int8_t *lanes; const Memory **vector; } Array;
typedef struct Arrays { Ctx *cx; Map of; const Code *loop; } Arrays;

static const Code *note_local(Ctx *cx, const Code *c, void *user)
{
    Arrays *a = user;
    if (c->kind != CODE_LOCAL || c->memory->kind != MEMORY_LOCAL) return c;
    Array *array = NEW(cx->arena, Array);
    array->elems = c->memory->elems->integer;
    array->is_array = !is_lane_type(c->memory->type) || array->elems > MOST_VARIABLES * 16;
    if (!array->is_array) {
        array->lanes = NEW_ARRAY(cx->arena, int8_t, array->elems);
        array->vector = NEW_ARRAY(cx->arena, const Memory *, array->elems);
    }
    map_put_ptr(&a->of, c->memory, array);
    return c;
}

/* Returns the first element of the vector that a lane loop accesses, or -1 if the access is not a whole vector. */
static int64_t first_element(const Arrays *a, const Expr *index)
{
    int64_t coef;
    const Expr *rest;
    if (!split_linear(a->cx, index, a->loop->var, &coef, &rest) || coef != 1) return -1;
    return rest->kind == EXPR_INT ? rest->integer : -1;
}

/* True if the vector is recorded already, or overlaps no other. */
static bool fits(const Array *array, int64_t first, int lanes)
{
    if (first < 0 || first + lanes > array->elems) return false;
    if (array->lanes[first] == lanes) return true;
    for (int64_t i = first; i < first + lanes; i++)
        if (array->lanes[i]) return false;
    return true;
}

static void note_access(Arrays *a, const Memory *m, const Expr *index)
{
    Array *array = map_get_ptr(&a->of, m);
    if (!array || array->is_array) return;
    int lanes = a->loop ? (int)a->loop->end->integer : 0;
    int64_t first = lanes ? first_element(a, index) : -1;
    if (!fits(array, first, lanes) || array->count == MOST_VARIABLES) {
        array->is_array = true;
        return;
    }
    if (array->lanes[first]) return;
    for (int64_t i = first + 1; i < first + lanes; i++) array->lanes[i] = MIDDLE;
    array->lanes[first] = (int8_t)lanes;
    array->count++;
}

/* Returns acc_0, acc_1, ... in element order, or acc if there is only one. */
static const Memory *vector_at(const Arrays *a, const Memory *m, Array *array, int64_t first)
{
    if (array->vector[first]) return array->vector[first];
    int number = 0;
    for (int64_t i = 0; i < first; i++) number += array->lanes[i] > 0;
    Memory proto = *m;
    proto.kind = MEMORY_SCALAR;
    proto.elems = expr_index(a->cx, 1);
    proto.lanes = array->lanes[first];
    if (array->count > 1) proto.name = name_format(a->cx, "%s_%d", m->name, number);
    return array->vector[first] = memory_new(a->cx, &proto);
}

static void note_load(const Expr *e, void *user)
{
    if (e->kind == EXPR_LOAD) note_access(user, e->ref, e->arg[0]);
}

static void note_accesses(Arrays *a, const Code *c)
{
    const Code *outer = a->loop;
    const Expr *const mine[] = { c->begin, c->end, c->cond, c->index, c->value };
    for (int i = 0; i < 5; i++)
        if (mine[i]) expr_walk(a->cx, mine[i], note_load, a);
    for (int i = 0; i < c->arg_count; i++) expr_walk(a->cx, c->args[i], note_load, a);
    if (c->kind == CODE_STORE) note_access(a, c->memory, c->index);
    if (c->kind == CODE_FOR && c->loop_kind == LOOP_LANES) a->loop = c;
    for (int i = 0; i < c->child_count; i++) note_accesses(a, c->child[i]);
    a->loop = outer;
}

static const Memory *vector_for(const Arrays *a, const Memory *m, const Expr *index)
{
    Array *array = map_get_ptr(&a->of, m);
    return array && !array->is_array && array->count ? vector_at(a, m, array, first_element(a, index)) : NULL;
}

static const Expr *replace_load(Ctx *cx, const Expr *e, void *user)
{
    const Arrays *a = user;
    const Memory *m = e->kind == EXPR_LOAD ? vector_for(a, e->ref, e->arg[0]) : NULL;
    return m ? load_expr(cx, m, a->loop->var) : e;
}

static const Code *replace_store(Ctx *cx, const Code *c, void *user)
{
    const Arrays *a = user;
    const Memory *m = c->kind == CODE_STORE ? vector_for(a, c->memory, c->index) : NULL;
    return m ? code_store(cx, m, a->loop->var, c->value) : c;
}

static const Code *replace(Ctx *cx, const Code *c, void *user)
{
    Arrays *a = user;
    if (c->kind == CODE_FOR && c->loop_kind == LOOP_LANES) {
        a->loop = c;
        return code_rewrite(cx, code_map_exprs(cx, c, replace_load, a), replace_store, a);
    }
    Array *array = c->kind == CODE_LOCAL ? map_get_ptr(&a->of, c->memory) : NULL;
    if (!array || array->is_array || !array->count) return c;
    const Code **each = NEW_ARRAY(cx->arena, const Code *, array->count);
    int count = 0;
    for (int64_t i = 0; i < array->elems; i++)
        if (array->lanes[i] > 0) each[count++] = code_local(cx, vector_at(a, c->memory, array, i));
    return code_seq(cx, each, count);
}

const Code *pass_vectors(Ctx *cx, const LowerOptions *options, const Code *c)
{
    if (!options || !options->lanes) return c;
    c = code_rewrite(cx, c, cut, &options);
    Arrays a = { cx, map_new(cx->arena), NULL };
    code_rewrite(cx, c, note_local, &a);
    note_accesses(&a, c);
    return code_rewrite(cx, c, replace, &a);
}
