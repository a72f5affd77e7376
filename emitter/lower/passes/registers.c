/* SPDX-License-Identifier: MIT */
/* Replaces local arrays that only whole vectors access, each vector at a constant index, by one variable per vector.
 *
 *     float acc[32]                                                 lw_f32x16 acc_0, acc_1
 *     for (j < 16) lanes: acc[j] = fma(a[k], b[k*32 + j], acc[j])  =>  acc_0 = fma(a[k], b[k*32 + j], acc_0)
 *
 * If other statements read the array later, the pass divides it first. Statements on whole vectors compute in
 * variables, whose values are stored in the array before the other statements. Otherwise C compilers would store an
 * array of sums in each iteration of a loop. */
#include "lower/passes/passes.h"
#include "support/map.h"
#include "support/names.h"

#include <string.h>

enum { MOST_VARIABLES = 64 };

/* vector[i] is the variable for elements i .. i + lanes[i] - 1. lanes[i] is 0 outside all vectors, and MIDDLE after a
 * vector's first element. */
enum { MIDDLE = -1 };
typedef struct Array { bool is_array; int count; int64_t elems; int8_t *lanes; const Memory **vector; } Array;
typedef struct Arrays { Ctx *cx; Map of; const Code *loop; } Arrays;

static bool is_local_array(const Code *c)
{
    return c->kind == CODE_LOCAL && c->memory->kind == MEMORY_LOCAL && !c->memory->scope;
}

static Array *note_array(Arrays *a, const Memory *m)
{
    Array *array = NEW(a->cx->arena, Array);
    array->elems = m->elems->integer;
    array->is_array = !is_lane_type(m->type) || array->elems > MOST_VARIABLES * 16;
    if (!array->is_array) {
        array->lanes = NEW_ARRAY(a->cx->arena, int8_t, array->elems);
        array->vector = NEW_ARRAY(a->cx->arena, const Memory *, array->elems);
    }
    map_put_ptr(&a->of, m, array);
    return array;
}

static const Code *note_local(Ctx *cx, const Code *c, void *user)
{
    (void)cx;
    if (is_local_array(c)) note_array(user, c->memory);
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

/* Returns true if the vector is recorded already, or overlaps no other vector. */
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

/* ---- Whole vectors before other accesses ------------------------------------------------------------------------- */

typedef struct Exchange { const Memory *from, *to; } Exchange;

static const Expr *exchange_load(Ctx *cx, const Expr *e, void *user)
{
    const Exchange *x = user;
    return e->kind == EXPR_LOAD && e->ref == x->from ? load_expr(cx, x->to, e->arg[0]) : e;
}

static const Code *exchange_store(Ctx *cx, const Code *c, void *user)
{
    const Exchange *x = user;
    return c->kind == CODE_STORE && c->memory == x->from ? code_store(cx, x->to, c->index, c->value) : c;
}

/* Returns c with the accesses of x->from replaced by accesses of x->to. */
static const Code *exchange(Ctx *cx, const Code *c, Exchange *x)
{
    return code_rewrite(cx, code_map_exprs(cx, c, exchange_load, x), exchange_store, x);
}

static bool is_computed_in_loop(const Code *c, const Memory *m)
{
    return c->kind == CODE_FOR && c->loop_kind != LOOP_LANES && code_stores(c, m);
}

/* Returns the number of statements after the declaration that access the array in whole vectors only. Returns 0 unless
 * one of the statements is a loop that computes the array, and other statements follow it. `lanes` describes these
 * statements, as in Array. */
static int whole_statements(Ctx *cx, const Code *seq, int at, int8_t *lanes)
{
    const Memory *m = seq->child[at]->memory;
    Arrays a = { cx, map_new(cx->arena), NULL };
    const Array *array = note_array(&a, m);
    bool has_loop = false;
    for (int i = at + 1; i < seq->child_count; i++) {
        if (array->is_array) return 0;
        memcpy(lanes, array->lanes, (size_t)array->elems);
        note_accesses(&a, seq->child[i]);
        if (array->is_array) return has_loop ? i - at - 1 : 0;
        has_loop = has_loop || is_computed_in_loop(seq->child[i], m);
    }
    return 0;
}

/* Returns the loop array[at + lane] = variables[at + lane]. */
static const Code *store_vector(Ctx *cx, const Memory *array, const Memory *variables, int64_t at, int lanes)
{
    const Expr *lane = expr_new_var(cx, "lane", VAR_LOOP, I32, 0, lanes - 1);
    const Expr *index = expr_add(cx, lane, expr_index(cx, at));
    return code_for(cx, lane, expr_index(cx, 0), expr_index(cx, lanes), 1, LOOP_LANES,
                    code_store(cx, array, index, load_expr(cx, variables, index)));
}

/* Rewrites `declaration; whole vectors; the rest` to `variables; whole vectors of them; declaration; stores; the
 * rest`. */
static const Code *divide_local(Ctx *cx, const Code *seq, int at)
{
    const Code *declaration = seq->child[at];
    const Memory *m = declaration->memory;
    const int64_t elems = m->elems->integer;
    int8_t *lanes = NEW_ARRAY(cx->arena, int8_t, elems);
    const int whole = whole_statements(cx, seq, at, lanes);
    if (!whole) return seq;
    Memory proto = *m;
    proto.name = name_format(cx, "%s_v", m->name);
    Exchange x = { m, memory_new(cx, &proto) };
    const Code **child = NEW_ARRAY(cx->arena, const Code *, seq->child_count + 1 + elems);
    int count = 0;
    for (int i = 0; i < seq->child_count; i++) {
        const bool is_whole = i > at && i <= at + whole;
        child[count++] = i == at ? code_local(cx, x.to) : is_whole ? exchange(cx, seq->child[i], &x) : seq->child[i];
        if (i != at + whole) continue;
        child[count++] = declaration;
        for (int64_t e = 0; e < elems; e++)
            if (lanes[e] > 0) child[count++] = store_vector(cx, m, x.to, e, lanes[e]);
    }
    return code_seq(cx, child, count);
}

static const Code *divide(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind != CODE_SEQ) return c;
    for (int i = 0; i < c->child_count; i++)
        if (is_local_array(c->child[i])) c = divide_local(cx, c, i);
    return c;
}

const Code *pass_registers(Ctx *cx, const LowerOptions *options, const Code *c)
{
    if (!options || !options->lanes) return c;
    c = code_rewrite(cx, c, divide, NULL);
    Arrays a = { cx, map_new(cx->arena), NULL };
    code_rewrite(cx, c, note_local, &a);
    note_accesses(&a, c);
    return code_rewrite(cx, c, replace, &a);
}
