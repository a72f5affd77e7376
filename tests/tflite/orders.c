/* SPDX-License-Identifier: MIT */
/* Along one axis: repetition, prefix sums, order, rows of a table; remainders and powers. */
#include "case.h"

#include <math.h>
#include <string.h>

static Operand *any_of(Case *c, Random *r, ElementType t, int rank, const int *dim)
{
    Operand *x = add_input(c, t, rank, dim);
    fill_any(r, x);
    if (t == TYPE_I8) quant_any(r, x);
    return x;
}

/* ---- Repetition and reversal ------------------------------------------------------------------------------------- */

static void make_tile(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_I8, TYPE_F32, TYPE_I32 };
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 4, dim), times[MOST_DIMS], y[MOST_DIMS];
    for (int d = 0; d < rank; d++) times[d] = between(r, 1, 3), y[d] = dim[d] * times[d];
    const Operand *x = any_of(c, r, types[number % 3], rank, dim);
    add_ints(c, 1, rank, times);
    add_like(c, x, rank, y);
}

static void tile_reference(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0;
    do {
        for (int d = 0; d < x->rank; d++) in[d] = index[d] % x->dim[d];
        y->v[i++] = x->v[place_of(x, in)];
    } while (next_index(y->rank, y->dim, index));
}

static void make_reverse(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), axis = between(r, 0, rank - 1);
    const Operand *x = any_of(c, r, number % 2 ? TYPE_I8 : TYPE_F32, rank, dim);
    add_ints(c, 1, 1, &axis);
    add_like(c, x, rank, dim);
}

static void reverse_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0, axis = (int)c->in[1].v[0];
    do {
        for (int d = 0; d < x->rank; d++) in[d] = d == axis ? x->dim[d] - 1 - index[d] : index[d];
        c->out[0].v[i++] = x->v[place_of(x, in)];
    } while (next_index(x->rank, x->dim, index));
}

/* ---- Prefix sums and order --------------------------------------------------------------------------------------- */

static void make_cumsum(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), axis = between(r, -rank, rank - 1);
    const Operand *x = any_of(c, r, number % 2 ? TYPE_F32 : TYPE_I32, rank, dim);
    add_ints(c, 0, 1, &axis)->rank = 0;
    add_like(c, x, rank, dim);
    c->field[0] = chance(r, 40);
    c->field[1] = chance(r, 40);
}

static void cumsum_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int index[MOST_DIMS] = { 0 }, i = 0, axis = (int)c->in[1].v[0] + (c->in[1].v[0] < 0 ? x->rank : 0);
    do {
        int other[MOST_DIMS];
        double sum = 0;
        memcpy(other, index, sizeof other);
        for (int k = 0; k < x->dim[axis]; k++) {
            int ahead = c->field[1] != 0 ? k - index[axis] : index[axis] - k;
            other[axis] = k;
            if (ahead > 0 || (ahead == 0 && c->field[0] == 0)) sum += x->v[place_of(x, other)];
        }
        c->out[0].v[i++] = sum;
    } while (next_index(x->rank, x->dim, index));
}

static void make_topk(Case *c, Random *r, int number)
{
    static const ElementType types[] = { TYPE_F32, TYPE_I8, TYPE_I32 };
    int dim[MOST_DIMS], rank = shape_any(r, 1, 3, 5, dim), k, y[MOST_DIMS];
    dim[rank - 1] = between(r, 1, 12);
    k = between(r, 1, dim[rank - 1]);
    memcpy(y, dim, sizeof y);
    y[rank - 1] = k;
    const Operand *x = any_of(c, r, types[number % 3], rank, dim);
    add_ints(c, 0, 1, &k)->rank = 0;
    add_like(c, x, rank, y);
    add_output(c, TYPE_I32, rank, y);
}

/* Chooses k times the greatest that is left; of equal ones the first. */
static void topk_reference(Case *c)
{
    const Operand *x = &c->in[0];
    int count = x->dim[x->rank - 1], k = c->out[0].dim[x->rank - 1];
    for (int row = 0; row < elements(x) / count; row++) {
        bool is_taken[64] = { false };
        for (int i = 0; i < k; i++) {
            int best = -1;
            for (int j = 0; j < count; j++)
                if (!is_taken[j] && (best < 0 || x->v[row * count + j] > x->v[row * count + best])) best = j;
            is_taken[best] = true;
            c->out[0].v[row * k + i] = x->v[row * count + best];
            c->out[1].v[row * k + i] = best;
        }
    }
}

static void make_embedding(Case *c, Random *r, int number)
{
    int count = between(r, 1, 6), dim[3], rank = shape_any(r, 2, 3, 6, dim), y[3];
    Operand *at = add_input(c, TYPE_I32, 1, &count);
    for (int i = 0; i < count; i++) at->v[i] = between(r, 0, dim[0] - 1);
    Operand *table = any_of(c, r, number % 2 ? TYPE_I8 : TYPE_F32, rank, dim);
    table->is_constant = true;
    memcpy(y, dim, sizeof y);
    y[0] = count;
    add_like(c, table, rank, y);
}

static void embedding_reference(Case *c)
{
    const Operand *table = &c->in[1];
    int each = elements(table) / table->dim[0];
    for (int i = 0; i < elements(&c->out[0]); i++)
        c->out[0].v[i] = table->v[(int)c->in[0].v[i / each] * each + i % each];
}

/* ---- Two operands ------------------------------------------------------------------------------------------------ */

static void make_pow(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    (void)number;
    fill_real(r, add_input(c, TYPE_F32, rank, dim), 0.1, 8);
    fill_real(r, add_input(c, TYPE_F32, rank, dim), -3, 3);
    add_output(c, TYPE_F32, rank, dim);
}
static void pow_reference(Case *c)
{
    for (int i = 0; i < elements(&c->out[0]); i++) c->out[0].v[i] = (double)(float)pow(c->in[0].v[i], c->in[1].v[i]);
}

static void make_floor_mod(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    ElementType t = number % 2 ? TYPE_I64 : TYPE_I32;
    fill_any(r, add_input(c, t, rank, dim));
    Operand *b = any_of(c, r, t, rank, dim);
    for (int i = 0; i < elements(b); i++) b->v[i] = b->v[i] == 0 ? 7 : b->v[i];
    add_output(c, t, rank, dim);
}
static void floor_mod_reference(Case *c)
{
    for (int i = 0; i < elements(&c->out[0]); i++) {
        double a = c->in[0].v[i], b = c->in[1].v[i];
        c->out[0].v[i] = a - floor(a / b) * b;
    }
}

const Operator order_operators[] = {
    { "tile", 69, 2, 51, "", make_tile, tile_reference, 0 },
    { "reverse_v2", 105, 1, 81, "", make_reverse, reverse_reference, 0 },
    { "cumsum", 128, 1, 102, "bb", make_cumsum, cumsum_reference, 0 },
    { "topk_v2", 48, 2, 34, "", make_topk, topk_reference, 0 },
    { "embedding_lookup", 7, 1, 0, "", make_embedding, embedding_reference, 0 },
    { "pow", 78, 1, 56, "", make_pow, pow_reference, 4 },
    { "floor_mod", 95, 1, 72, "", make_floor_mod, floor_mod_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
