/* SPDX-License-Identifier: MIT */
/* Operators that compute positions, compare elements with positions, or write at positions. */
#include "case.h"

#include <math.h>
#include <string.h>

static const ElementType any_type[] = { TYPE_F32, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_U8, TYPE_BOOL };
enum { NUMBERS = 6, ANY = 7 };                   /* the first of any_type */

static ElementType type_of(Random *r, int count) { return any_type[between(r, 0, count - 1)]; }
static ElementType whole_type(Random *r) { return chance(r, 50) ? TYPE_I32 : TYPE_I64; }

static Operand *of_type(Case *c, Random *r, ElementType t, int rank, const int *dim)
{
    Operand *x = add_input(c, t, rank, dim);
    fill_any(r, x);
    if (t == TYPE_I8) quant_any(r, x);
    return x;
}

/* Another input of the type and the quantization of x. */
static Operand *of_same(Case *c, Random *r, const Operand *x, int rank, const int *dim)
{
    Operand *y = of_type(c, r, x->type, rank, dim);
    copy_quant(y, x);
    return y;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static void make_broadcast_args(Case *c, Random *r, int number)
{
    int dim[2][MOST_DIMS], rank = shape_any(r, 1, 5, 6, dim[0]), skipped = between(r, 0, rank - 1);
    const ElementType t = whole_type(r);
    memcpy(dim[1], dim[0], sizeof dim[0]);
    for (int d = 0; d < rank; d++)
        if (chance(r, 50)) dim[between(r, 0, 1)][d] = 1;
    for (int k = 0; k < 2; k++) {
        int from = k == number % 2 ? skipped : 0;
        add_ints(c, 1, rank - from, dim[k] + from)->type = t;
    }
    add_output(c, t, 1, &rank);
}

/* The last sizes correspond; a size that is 1 or missing gives way to the other. */
static void broadcast_args_reference(Case *c)
{
    int rank = c->out[0].dim[0];
    for (int d = 0; d < rank; d++) {
        c->out[0].v[d] = 1;
        for (int k = 0; k < 2; k++) {
            int at = d - rank + c->in[k].dim[0];
            if (at >= 0 && c->in[k].v[at] != 1) c->out[0].v[d] = c->in[k].v[at];
        }
    }
}

/* ---- Elements and positions -------------------------------------------------------------------------------------- */

static void make_bucketize(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_F32, TYPE_I32, TYPE_I64 };
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), last = -60;
    Operand *x = of_type(c, r, types[number % 3], rank, dim);
    c->list_count = between(r, 1, MOST_DIMS);
    for (int i = 0; i < c->list_count; i++) {
        float bound = (float)(last += between(r, 0, 40)) / 2;
        if (i == c->list_count - 1 && chance(r, 20)) bound = 33554432;
        memcpy(&c->list[i], &bound, 4);
    }
    if (chance(r, 30)) x->v[0] = x->type == TYPE_F32 ? 33554432 : 33554431;       /* as a float, 33554432 */
    add_output(c, TYPE_I32, rank, dim);
}

/* The number of boundaries that are no greater; all are compared as floats. */
static void bucketize_reference(Case *c)
{
    for (int i = 0; i < elements(&c->out[0]); i++) {
        c->out[0].v[i] = 0;
        for (int k = 0; k < c->list_count; k++) {
            float bound;
            memcpy(&bound, &c->list[k], 4);
            c->out[0].v[i] += bound <= (float)c->in[0].v[i];
        }
    }
}

static void make_one_hot(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], y[MOST_DIMS], rank = shape_any(r, 0, 4, 4, dim), depth = between(r, 1, 6),
        axis = between(r, -1, rank), at = axis < 0 ? rank : axis;
    (void)number;
    Operand *x = add_input(c, whole_type(r), rank, dim);
    for (int i = 0; i < elements(x); i++) x->v[i] = between(r, -2, depth + 1);
    add_ints(c, 0, 1, &depth)->rank = 0;
    Operand *on = of_type(c, r, type_of(r, ANY), 0, NULL), *off = of_same(c, r, on, 0, NULL);
    on->is_constant = off->is_constant = chance(r, 50);
    for (int d = 0; d <= rank; d++) y[d] = d == at ? depth : dim[d < at ? d : d - 1];
    add_like(c, on, rank + 1, y);
    c->field[0] = axis;
}

static void one_hot_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0, axis = c->field[0] < 0 ? x->rank : (int)c->field[0];
    do {
        for (int d = 0; d < x->rank; d++) in[d] = index[d < axis ? d : d + 1];
        c->out[0].v[i++] = c->in[x->v[place_of(x, in)] == index[axis] ? 2 : 3].v[0];
    } while (next_index(x->rank + 1, c->out[0].dim, index));
}

static void make_reverse_sequence(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 2, 4, 5, dim), time = between(r, 0, rank - 1),
        batch = (time + between(r, 1, rank - 1)) % rank;
    (void)number;
    const Operand *x = of_type(c, r, type_of(r, NUMBERS), rank, dim);
    Operand *length = add_input(c, whole_type(r), 1, &dim[batch]);
    for (int i = 0; i < dim[batch]; i++) length->v[i] = between(r, 0, dim[time]);
    add_like(c, x, rank, dim);
    c->field[0] = time, c->field[1] = batch;
}

static void reverse_sequence_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0, time = (int)c->field[0], batch = (int)c->field[1];
    do {
        int length = (int)c->in[1].v[index[batch]];
        memcpy(in, index, sizeof in);
        if (index[time] < length) in[time] = length - 1 - index[time];
        c->out[0].v[i++] = x->v[place_of(x, in)];
    } while (next_index(x->rank, x->dim, index));
}

/* ---- Diagonals --------------------------------------------------------------------------------------------------- */

static void make_matrix_diag(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    (void)number;
    const Operand *x = of_type(c, r, type_of(r, NUMBERS), rank, dim);
    dim[rank] = dim[rank - 1];
    add_like(c, x, rank + 1, dim);
}

static void make_matrix_set_diag(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 2, 4, 5, dim), diagonal[MOST_DIMS];
    (void)number;
    const Operand *x = of_type(c, r, type_of(r, NUMBERS), rank, dim);
    memcpy(diagonal, dim, sizeof dim);
    if (dim[rank - 1] < dim[rank - 2]) diagonal[rank - 2] = dim[rank - 1];
    of_same(c, r, x, rank - 1, diagonal);
    add_like(c, x, rank, dim);
}

/* Elsewhere: of input 0, or a stored 0. */
static void diagonal_reference(Case *c)
{
    const Operand *diagonal = &c->in[c->in_count - 1], *y = &c->out[0];
    int index[MOST_DIMS] = { 0 }, i = 0;
    do {
        bool is_own = index[y->rank - 2] == index[y->rank - 1];
        y->v[i] = is_own ? diagonal->v[place_of(diagonal, index)] : c->in_count > 1 ? c->in[0].v[i] : 0;
        i++;
    } while (next_index(y->rank, y->dim, index));
}

/* ---- Writes ------------------------------------------------------------------------------------------------------ */

static void make_dynamic_update(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), part[MOST_DIMS];
    (void)number;
    for (int d = 0; d < rank; d++) part[d] = between(r, 1, dim[d]);
    const Operand *x = of_type(c, r, type_of(r, ANY), rank, dim);
    of_same(c, r, x, rank, part);
    Operand *begin = add_input(c, whole_type(r), 1, &rank);
    begin->is_constant = chance(r, 25);
    for (int d = 0; d < rank; d++) begin->v[d] = between(r, -2, dim[d] + 1);
    add_like(c, x, rank, dim);
}

/* The begins are limited to those with which the update is inside. */
static void dynamic_update_reference(Case *c)
{
    const Operand *x = &c->in[0], *update = &c->in[1];
    int index[MOST_DIMS] = { 0 }, at[MOST_DIMS], i = 0;
    memcpy(c->out[0].v, x->v, (size_t)elements(x) * sizeof *x->v);
    do {
        for (int d = 0; d < x->rank; d++)
            at[d] = index[d] + (int)limit((int64_t)c->in[2].v[d], 0, x->dim[d] - update->dim[d]);
        c->out[0].v[place_of(x, at)] = update->v[i++];
    } while (next_index(update->rank, update->dim, index));
}

/* Rows of indices into the first `dims` dimensions. */
static void fill_indices(Random *r, Operand *x, int dims, const int *shape)
{
    for (int i = 0; i < elements(x); i++) x->v[i] = between(r, 0, shape[i % dims] - 1);
}

/* Returns the number of the part that row i of the indices selects. */
static int part_at(const Operand *index, int i, int dims, const int *shape)
{
    int at = 0;
    for (int d = 0; d < dims; d++) at = at * shape[d] + (int)index->v[i * dims + d];
    return at;
}

static void make_scatter_nd(Case *c, Random *r, int number)
{
    int shape[MOST_DIMS], rank = shape_any(r, 1, 4, 5, shape), dims = between(r, 1, rank), dim[2 * MOST_DIMS],
        outer = shape_any(r, 0, 2, 4, dim);
    (void)number;
    dim[outer] = dims;
    fill_indices(r, add_input(c, TYPE_I32, outer + 1, dim), dims, shape);
    for (int d = dims; d < rank; d++) dim[outer + d - dims] = shape[d];
    const Operand *update = of_type(c, r, type_of(r, ANY), outer + rank - dims, dim);
    add_ints(c, 1, rank, shape);
    add_like(c, update, rank, shape);
}

/* Modulo the range of an integer type; any bool that is not 0 is 1. */
static double wrapped(ElementType t, double v)
{
    double range = t == TYPE_I16 ? 65536 : 256, least = t == TYPE_U8 ? 0 : -range / 2;
    return t == TYPE_BOOL ? v != 0 : element_bytes(t) > 2 ? v : v - floor((v - least) / range) * range;
}

/* Updates of equal indices are added in their type. */
static void scatter_nd_reference(Case *c)
{
    Operand *y = &c->out[0];
    int dims = c->in[0].dim[c->in[0].rank - 1], part = 1;
    for (int d = dims; d < y->rank; d++) part *= y->dim[d];
    for (int i = 0; i < elements(y); i++) y->v[i] = 0;
    for (int i = 0; i < elements(&c->in[1]); i++) {
        double *v = &y->v[part_at(&c->in[0], i / part, dims, y->dim) * part + i % part];
        *v = wrapped(y->type, *v + c->in[1].v[i]);
    }
}

/* Indices as a scalar, a list or rows; one value or one for each. */
static void make_sparse_to_dense(Case *c, Random *r, int number)
{
    int shape[MOST_DIMS], rank = shape_any(r, 1, 4, 5, shape), count = between(r, 1, 8),
        index_rank = rank > 1 ? 2 : between(r, 0, 2);
    ElementType t = whole_type(r);
    if (index_rank == 0) count = 1;
    Operand *index = add_input(c, t, index_rank, (const int[]){ count, rank });
    fill_indices(r, index, rank, shape);
    index->is_constant = number % 3 == 0;
    add_ints(c, 1, rank, shape)->type = t;
    const int value_rank = between(r, 0, 1);
    const Operand *value = of_type(c, r, type_of(r, ANY), value_rank, &count);
    add_like(c, of_same(c, r, value, 0, NULL), rank, shape);
}

/* Of equal indices, the last one counts. */
static void sparse_to_dense_reference(Case *c)
{
    const Operand *index = &c->in[0], *value = &c->in[2];
    Operand *y = &c->out[0];
    for (int i = 0; i < elements(y); i++) y->v[i] = c->in[3].v[0];
    for (int i = 0; i < elements(index) / y->rank; i++)
        y->v[part_at(index, i, y->rank, y->dim)] = value->v[value->rank ? i : 0];
}

static void make_dilate(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], y[MOST_DIMS], by[MOST_DIMS], rank = shape_any(r, 1, 4, 4, dim);
    (void)number;
    for (int d = 0; d < rank; d++) by[d] = between(r, 1, 3), y[d] = (dim[d] - 1) * by[d] + 1;
    const Operand *x = of_type(c, r, type_of(r, ANY), rank, dim);
    add_ints(c, 1, rank, by);
    of_same(c, r, x, 0, NULL)->is_constant = true;
    add_like(c, x, rank, y);
}

/* An element whose indices are multiples of the factors is one of the input. */
static void dilate_reference(Case *c)
{
    const Operand *x = &c->in[0], *by = &c->in[1];
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0;
    do {
        bool is_own = true;
        for (int d = 0; d < x->rank; d++) {
            is_own = is_own && index[d] % (int)by->v[d] == 0;
            in[d] = index[d] / (int)by->v[d];
        }
        c->out[0].v[i++] = is_own ? x->v[place_of(x, in)] : c->in[2].v[0];
    } while (next_index(x->rank, c->out[0].dim, index));
}

/* ---- Without zeros ----------------------------------------------------------------------------------------------- */

/* The index at a level of the element at `place`: of its tile, or within the tile. */
static int level_index(const Case *c, int level, const int *place)
{
    const Sparse *s = &c->sparse;
    const int d = s->level[level].dimension, rank = c->in[0].rank;
    if (level >= rank) return place[d] % s->level[level].size;
    for (int l = rank; l < s->level_count; l++)
        if (s->level[l].dimension == d) return place[d] / s->level[l].size;
    return place[d];
}

/* Returns the first element that is not 0, or with `any` the first, whose indices of the levels up to `level` are those
 * in `at`; -1: there is none. */
static int first_below(const Case *c, int level, const int *at, bool any)
{
    const Operand *x = &c->in[0];
    int place[MOST_DIMS] = { 0 }, e = 0;
    do {
        bool is_below = any || x->v[e] != 0;
        for (int l = 0; l <= level && is_below; l++) is_below = level_index(c, l, place) == at[l];
        if (is_below) return e;
        e++;
    } while (next_index(x->rank, x->dim, place));
    return -1;
}

static void keep(Case *c, int level, int *at)
{
    Sparse *s = &c->sparse;
    if (level == s->level_count) {
        s->kept[s->count++] = c->in[0].v[first_below(c, level - 1, at, true)];
        return;
    }
    SparseLevel *l = &s->level[level];
    if (l->is_sparse && !l->segment_count) l->segment[l->segment_count++] = 0;
    for (at[level] = 0; at[level] < l->size; at[level]++) {
        if (l->is_sparse && first_below(c, level, at, false) < 0) continue;
        if (l->is_sparse) l->index[l->index_count++] = at[level];
        keep(c, level + 1, at);
    }
    if (l->is_sparse) l->segment[l->segment_count++] = l->index_count;
}

/* Dimensions in any order, each with a dense or a sparse level, and up to two of them in tiles. */
static void make_densify(Case *c, Random *r, int number)
{
    static const int bits[] = { 8, 16, 32 };
    Sparse *s = &c->sparse;
    int dim[MOST_DIMS], rank = shape_any(r, 1, 3, 4, dim), tile[MOST_DIMS], at[MOST_DIMS];
    for (int d = 0; d < rank; d++) {
        tile[d] = s->tiled_count < MOST_TILED && chance(r, 40) ? between(r, 2, 3) : 1;
        if (tile[d] > 1) s->tiled[s->tiled_count++] = d;
        dim[d] *= tile[d];
        const int other = between(r, 0, d);
        s->order[d] = s->order[other];
        s->order[other] = d;
    }
    Operand *x = add_input(c, number % 2 ? TYPE_F32 : TYPE_I8, rank, dim);
    fill_any(r, x);
    for (int i = 0; i < elements(x); i++)
        if (chance(r, 70)) x->v[i] = 0;
    x->v[between(r, 0, elements(x) - 1)] = 3;
    if (x->type == TYPE_I8) quant_set(x, 0.25f, 0);
    x->is_constant = true;
    add_like(c, x, rank, dim);
    s->level_count = rank + s->tiled_count;
    for (int l = 0; l < s->level_count; l++) {
        const int d = l < rank ? s->order[l] : s->tiled[l - rank];
        if (l >= rank) s->order[l] = l;
        s->level[l].dimension = d;
        s->level[l].size = l < rank ? dim[d] / tile[d] : tile[d];
        s->level[l].is_sparse = l < rank && chance(r, 60);
        s->level[l].bits = bits[between(r, elements(x) > 100, 2)];
    }
    s->kept = values_new(c, elements(x));
    keep(c, 0, at);
    x->sparse = s;
}

/* The tensor whose tree was stored. */
static void densify_reference(Case *c)
{
    for (int i = 0; i < elements(&c->in[0]); i++) c->out[0].v[i] = c->in[0].v[i];
}

const Operator place_operators[] = {
    { "densify", 124, 1, 99, "", make_densify, densify_reference, 0 },
    { "broadcast_args", 145, 1, 0, "", make_broadcast_args, broadcast_args_reference, 0 },
    { "bucketize", 147, 1, 115, "r", make_bucketize, bucketize_reference, 0 },
    { "one_hot", 85, 1, 61, "i", make_one_hot, one_hot_reference, 0 },
    { "reverse_sequence", 112, 1, 87, "ii", make_reverse_sequence, reverse_sequence_reference, 0 },
    { "matrix_diag", 113, 1, 88, "", make_matrix_diag, diagonal_reference, 0 },
    { "matrix_set_diag", 115, 1, 90, "", make_matrix_set_diag, diagonal_reference, 0 },
    { "dilate", 203, 1, 0, "", make_dilate, dilate_reference, 0 },
    { "dynamic_update_slice", 151, 1, 117, "", make_dynamic_update, dynamic_update_reference, 0 },
    { "scatter_nd", 122, 1, 97, "", make_scatter_nd, scatter_nd_reference, 0 },
    { "sparse_to_dense", 68, 1, 50, "b", make_sparse_to_dense, sparse_to_dense_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
