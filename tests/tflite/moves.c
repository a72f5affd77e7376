/* SPDX-License-Identifier: MIT */
/* Operators that move elements: every reference gives, for an index of an output, the index of an input. Images of
 * another size are here, too. */
#include "case.h"

#include <math.h>

static Operand *any_input(Case *c, Random *r, int number, int rank, const int *dim)
{
    static const ElementType types[] = { TYPE_I8, TYPE_I8, TYPE_F32, TYPE_I8, TYPE_I32 };
    Operand *x = add_input(c, types[number % 5], rank, dim);
    fill_any(r, x);
    if (x->type == TYPE_I8) quant_any(r, x);
    return x;
}

static Operand *another_input(Case *c, Random *r, int rank, const int *dim)
{
    Operand *x = add_input(c, c->in[0].type, rank, dim);
    fill_any(r, x);
    copy_quant(x, &c->in[0]);
    return x;
}

static Operand *add_scalar(Case *c, int v)
{
    Operand *x = add_ints(c, 1, 1, &v);
    x->rank = 0;
    return x;
}

static void int_list(Case *c, int count, const int *v)
{
    c->list_count = count;
    for (int i = 0; i < count; i++) c->list[i] = v[i];
}

/* from: index in the output to index in input 0. */
typedef void Source(const Case *c, const int *out, int *in);

static void each_from(Case *c, Source *from)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0;
    do {
        from(c, index, in);
        y->v[i++] = x->v[place_of(x, in)];
    } while (next_index(y->rank, y->dim, index));
}

/* ---- In the same order ------------------------------------------------------------------------------------------- */

static void copy_reference(Case *c) { for (int i = 0; i < elements(&c->out[0]); i++) c->out[0].v[i] = c->in[0].v[i]; }

static void make_reshape(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), y[2] = { dim[0], 1 };
    for (int d = 1; d < rank; d++) y[1] *= dim[d];
    add_like(c, any_input(c, r, number, rank, dim), 2, y);
    int_list(c, 2, y);
    add_ints(c, 1, 2, number % 2 ? y : (const int[]){ y[0], -1 });
}

static void make_squeeze(Case *c, Random *r, int number)
{
    int dim[4] = { 1, between(r, 2, 5), between(r, 2, 5), 1 }, axis = number % 2 ? 0 : -1;
    int_list(c, number % 3 ? 1 : 0, &axis);
    Operand *x = any_input(c, r, number, 4, dim);
    if (!c->list_count) add_like(c, x, 2, dim + 1);
    else add_like(c, x, 3, axis ? dim : dim + 1);
}

static void make_expand_dims(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], y[MOST_DIMS], rank = shape_any(r, 1, 3, 5, dim), axis = between(r, 0, rank);
    for (int d = 0; d <= rank; d++) y[d] = d == axis ? 1 : dim[d < axis ? d : d - 1];
    add_like(c, any_input(c, r, number, rank, dim), rank + 1, y);
    add_scalar(c, number % 2 ? axis : axis - rank - 1);
}

static void make_shape(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 6, dim);
    any_input(c, r, number, rank, dim);
    add_output(c, TYPE_I32, 1, &rank);
    c->field[0] = TYPE_I32;
}
static void shape_reference(Case *c) { for (int d = 0; d < c->in[0].rank; d++) c->out[0].v[d] = c->in[0].dim[d]; }

static void make_broadcast(Case *c, Random *r, int number)
{
    int y[MOST_DIMS], dim[MOST_DIMS], rank = shape_any(r, 1, 4, 4, y);
    for (int d = 0; d < rank; d++) dim[d] = chance(r, 50) ? 1 : y[d];
    add_like(c, any_input(c, r, number, rank, dim), rank, y);
    add_ints(c, 1, rank, y);
}
static void spread(const Case *c, const int *out, int *in)
{
    for (int d = 0; d < c->in[0].rank; d++) in[d] = c->in[0].dim[d] == 1 ? 0 : out[d];
}
static void broadcast_reference(Case *c) { each_from(c, spread); }

static void make_fill(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    add_ints(c, 1, rank, dim);
    Operand *v = add_input(c, number % 2 ? TYPE_I8 : TYPE_F32, 0, dim);
    fill_any(r, v);
    if (v->type == TYPE_I8) quant_any(r, v);
    add_like(c, v, rank, dim);
}
static void fill_reference(Case *c) { for (int i = 0; i < elements(&c->out[0]); i++) c->out[0].v[i] = c->in[1].v[0]; }

/* ---- Padding ----------------------------------------------------------------------------------------------------- */

/* reach: -1: any; else the size minus the greatest mirrored count */
static void make_pads(Case *c, Random *r, int number, int reach)
{
    int dim[MOST_DIMS], y[MOST_DIMS], pairs[2 * MOST_DIMS], rank = shape_any(r, 1, 4, 4, dim);
    for (int i = 0; i < 2 * rank; i++) pairs[i] = between(r, 0, reach < 0 ? 2 : dim[i / 2] - reach);
    for (int d = 0; d < rank; d++) y[d] = pairs[2 * d] + dim[d] + pairs[2 * d + 1];
    Operand *x = any_input(c, r, number, rank, dim);
    add_ints(c, 2, 2 * rank, pairs);
    add_like(c, x, rank, y);
}
static void make_pad(Case *c, Random *r, int number) { make_pads(c, r, number, -1); }
static void make_padv2(Case *c, Random *r, int number)
{
    make_pads(c, r, number, -1);
    another_input(c, r, 1, (const int[]){ 1 })->is_constant = true;
}
static void make_mirror(Case *c, Random *r, int number)
{
    c->field[0] = number % 2;
    make_pads(c, r, number, number % 2 ? 0 : 1);
}

static void pad_reference(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    double value = c->in_count > 2 ? c->in[2].v[0] : y->zero;
    int index[MOST_DIMS] = { 0 }, in[MOST_DIMS], i = 0;
    do {
        bool is_inside = true;
        for (int d = 0; d < y->rank; d++) {
            in[d] = index[d] - (int)c->in[1].v[2 * d];
            is_inside = is_inside && in[d] >= 0 && in[d] < x->dim[d];
        }
        y->v[i++] = is_inside ? x->v[place_of(x, in)] : value;
    } while (next_index(y->rank, y->dim, index));
}

static void mirrored(const Case *c, const int *out, int *in)
{
    int again = (int)c->field[0];      /* is the outermost element repeated? */
    for (int d = 0; d < c->in[0].rank; d++) {
        int size = c->in[0].dim[d], at = out[d] - (int)c->in[1].v[2 * d];
        in[d] = at < 0 ? -at - again : at >= size ? 2 * (size - 1) - at + again : at;
    }
}
static void mirror_reference(Case *c) { each_from(c, mirrored); }

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static void make_slice(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], begin[MOST_DIMS], size[MOST_DIMS], y[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim);
    for (int d = 0; d < rank; d++) {
        begin[d] = between(r, 0, dim[d] - 1);
        size[d] = chance(r, 30) ? -1 : between(r, 1, dim[d] - begin[d]);
        y[d] = size[d] < 0 ? dim[d] - begin[d] : size[d];
    }
    Operand *x = any_input(c, r, number, rank, dim);
    add_ints(c, 1, rank, begin);
    add_ints(c, 1, rank, size);
    add_like(c, x, rank, y);
}
static void sliced(const Case *c, const int *out, int *in)
{
    for (int d = 0; d < c->in[0].rank; d++) in[d] = out[d] + (int)c->in[1].v[d];
}
static void slice_reference(Case *c) { each_from(c, sliced); }

/* As Python slices: the first element, and their number. */
typedef struct Steps { int first, step, count; bool drops; } Steps;
enum { BEGIN_MASK, END_MASK, SHRINK_MASK = 4 };

static Steps steps_of(const Case *c, int d)
{
    int size = c->in[0].dim[d], begin = (int)c->in[1].v[d], end = (int)c->in[2].v[d], step = (int)c->in[3].v[d];
    int least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    begin += begin < 0 ? size : 0;
    end += end < 0 ? size : 0;
    begin = (int)c->field[BEGIN_MASK] >> d & 1 ? (step > 0 ? least : most) : (int)limit(begin, least, most);
    end = (int)c->field[END_MASK] >> d & 1 ? (step > 0 ? most : least) : (int)limit(end, least, most);
    if ((int)c->field[SHRINK_MASK] >> d & 1) return (Steps){ begin, 1, 1, true };
    int span = step > 0 ? end - begin : begin - end, by = step > 0 ? step : -step;
    return (Steps){ begin, step, span > 0 ? (span + by - 1) / by : 0, false };
}

static void make_strided(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], y[MOST_DIMS], v[3][MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), y_rank = 0;
    static const int some_steps[] = { 1, 1, 2, -1, -2 };
    c->field[BEGIN_MASK] = between(r, 0, (1 << rank) - 1);
    c->field[END_MASK] = between(r, 0, (1 << rank) - 1);
    c->field[SHRINK_MASK] = number % 3 ? 0 : between(r, 0, (1 << rank) - 1) & between(r, 0, (1 << rank) - 1);
    Operand *x = any_input(c, r, number, rank, dim);
    for (int i = 0; i < 3; i++) {
        for (int d = 0; d < rank; d++)
            v[i][d] = i == 2 ? some_steps[between(r, 0, 4)] : between(r, -dim[d] - 1, dim[d] + 1);
        add_ints(c, 1, rank, v[i]);
    }
    for (int d = 0; d < rank; d++) {
        if ((int)c->field[SHRINK_MASK] >> d & 1) {
            c->field[BEGIN_MASK] = (int)c->field[BEGIN_MASK] & ~(1 << d);
            c->field[END_MASK] = (int)c->field[END_MASK] & ~(1 << d);
            c->in[1].v[d] = between(r, 0, dim[d] - 1);
            c->in[2].v[d] = c->in[1].v[d] + 1;
            c->in[3].v[d] = 1;
        }
        while (!steps_of(c, d).count)
            for (int i = 1; i < 3; i++) c->in[i].v[d] = between(r, -dim[d] - 1, dim[d] + 1);
        if (!steps_of(c, d).drops) y[y_rank++] = steps_of(c, d).count;
    }
    add_like(c, x, y_rank, y);
}
static void strided(const Case *c, const int *out, int *in)
{
    for (int d = 0, kept = 0; d < c->in[0].rank; d++) {
        Steps s = steps_of(c, d);
        in[d] = s.first + (s.drops ? 0 : out[kept++] * s.step);
    }
}
static void strided_reference(Case *c) { each_from(c, strided); }

/* ---- Several together or apart ----------------------------------------------------------------------------------- */

/* Copies between parts and the whole along an axis; `to_whole` is the direction. Parts without that axis have it
 * once. */
static void along(Operand *whole, int axis, Operand *part, int count, bool to_whole)
{
    int index[MOST_DIMS] = { 0 }, i = 0;
    do {
        int at = index[axis], which = 0, shorter[MOST_DIMS], n = 0;
        bool is_flat = part[0].rank < whole->rank;
        while (which < count - 1 && at >= (is_flat ? 1 : part[which].dim[axis]))
            at -= is_flat ? 1 : part[which++].dim[axis], which += is_flat;
        for (int d = 0; d < whole->rank; d++)
            if (d != axis || !is_flat) shorter[n++] = d == axis ? at : index[d];
        double *a = &whole->v[i++], *b = &part[which].v[place_of(&part[which], shorter)];
        *(to_whole ? a : b) = *(to_whole ? b : a);
    } while (next_index(whole->rank, whole->dim, index));
}

static void make_concat(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 4, dim), axis = between(r, 0, rank - 1), count = between(r, 1, 4),
                        y[MOST_DIMS];
    any_input(c, r, number, rank, dim);
    for (int d = 0; d < rank; d++) y[d] = dim[d];
    for (int i = 1; i < count; i++) {
        dim[axis] = between(r, 1, 4);
        another_input(c, r, rank, dim);
        y[axis] += dim[axis];
    }
    add_like(c, &c->in[0], rank, y);
    c->field[0] = number % 2 ? axis : axis - rank;
}
static void concat_reference(Case *c)
{
    int axis = (int)c->field[0];
    along(&c->out[0], axis < 0 ? axis + c->out[0].rank : axis, c->in, c->in_count, true);
}

static void make_pack(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 3, 4, dim), axis = between(r, 0, rank), count = between(r, 1, 4),
                        y[MOST_DIMS];
    any_input(c, r, number, rank, dim);
    for (int i = 1; i < count; i++) another_input(c, r, rank, dim);
    for (int d = 0; d <= rank; d++) y[d] = d == axis ? count : dim[d < axis ? d : d - 1];
    add_like(c, &c->in[0], rank + 1, y);
    c->field[0] = count;
    c->field[1] = number % 2 ? axis : axis - rank - 1;
}
static void pack_reference(Case *c)
{
    int axis = (int)c->field[1];
    along(&c->out[0], axis < 0 ? axis + c->out[0].rank : axis, c->in, c->in_count, true);
}

static void make_unpack(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 2, 4, 4, dim), axis = between(r, 0, rank - 1), y[MOST_DIMS], n = 0;
    Operand *x = any_input(c, r, number, rank, dim);
    for (int d = 0; d < rank; d++)
        if (d != axis) y[n++] = dim[d];
    for (int i = 0; i < dim[axis]; i++) add_like(c, x, rank - 1, y);
    c->field[0] = dim[axis];
    c->field[1] = number % 2 ? axis : axis - rank;
}
static void unpack_reference(Case *c)
{
    int axis = (int)c->field[1];
    along(&c->in[0], axis < 0 ? axis + c->in[0].rank : axis, c->out, c->out_count, false);
}

static void make_split(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], y[MOST_DIMS], rank = shape_any(r, 1, 4, 3, dim), axis = between(r, 0, rank - 1),
                                      count = between(r, 1, 4);
    for (int d = 0; d < rank; d++) y[d] = dim[d];
    dim[axis] *= count;
    add_scalar(c, number % 2 ? axis : axis - rank);
    Operand *x = any_input(c, r, number, rank, dim);
    for (int i = 0; i < count; i++) add_like(c, x, rank, y);
    c->field[0] = count;
}
static void split_reference(Case *c)
{
    int axis = (int)c->in[0].v[0];
    along(&c->in[1], axis < 0 ? axis + c->in[1].rank : axis, c->out, c->out_count, false);
}

static void make_split_v(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 4, dim), axis = between(r, 0, rank - 1), count = between(r, 1, 4),
                        size[4], given[4];
    dim[axis] = 0;
    for (int i = 0; i < count; i++) dim[axis] += given[i] = size[i] = between(r, 1, 3);
    if (number % 3 == 0) given[between(r, 0, count - 1)] = -1;
    Operand *x = any_input(c, r, number, rank, dim);
    add_ints(c, 1, count, given);
    add_scalar(c, number % 2 ? axis : axis - rank);
    for (int i = 0; i < count; i++) {
        dim[axis] = size[i];
        add_like(c, x, rank, dim);
    }
    c->field[0] = count;
}
static void split_v_reference(Case *c)
{
    int axis = (int)c->in[2].v[0];
    along(&c->in[0], axis < 0 ? axis + c->in[0].rank : axis, c->out, c->out_count, false);
}

/* ---- By indices -------------------------------------------------------------------------------------------------- */

static void make_transpose(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], perm[MOST_DIMS], y[MOST_DIMS], rank = shape_any(r, 1, 5, 4, dim);
    for (int d = 0; d < rank; d++) {
        int other = between(r, 0, d);
        perm[d] = perm[other];
        perm[other] = d;
    }
    for (int d = 0; d < rank; d++) y[d] = dim[perm[d]];
    Operand *x = any_input(c, r, number, rank, dim);
    add_ints(c, 1, rank, perm);
    add_like(c, x, rank, y);
}
static void transposed(const Case *c, const int *out, int *in)
{
    for (int d = 0; d < c->in[0].rank; d++) in[(int)c->in[1].v[d]] = out[d];
}
static void transpose_reference(Case *c) { each_from(c, transposed); }

static void make_gather(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 3, 5, dim), axis = between(r, 0, rank - 1), which[2], n = 0,
                        y[MOST_DIMS], which_rank = shape_any(r, 1, 2, 3, which);
    Operand *x = any_input(c, r, number, rank, dim), *indices = add_input(c, TYPE_I32, which_rank, which);
    for (int i = 0; i < elements(indices); i++) indices->v[i] = between(r, 0, dim[axis] - 1);
    indices->is_constant = number % 2;
    for (int d = 0; d < axis; d++) y[n++] = dim[d];
    for (int d = 0; d < which_rank; d++) y[n++] = which[d];
    for (int d = axis + 1; d < rank; d++) y[n++] = dim[d];
    add_like(c, x, n, y);
    c->field[0] = number % 3 ? axis : axis - rank;
}
static void gathered(const Case *c, const int *out, int *in)
{
    const Operand *x = &c->in[0], *indices = &c->in[1];
    int axis = (int)c->field[0] + (c->field[0] < 0 ? x->rank : 0);
    for (int d = 0; d < x->rank; d++)
        in[d] = d < axis    ? out[d]
                : d == axis ? (int)indices->v[place_of(indices, out + axis)]
                            : out[d - 1 + indices->rank];
}
static void gather_reference(Case *c) { each_from(c, gathered); }

static void make_gather_nd(Case *c, Random *r, int number)
{
    int dim[MOST_DIMS], rank = shape_any(r, 1, 4, 5, dim), depth = between(r, 1, rank), y[MOST_DIMS], which[2] = {
        between(r, 1, 4), depth
    };
    Operand *x = any_input(c, r, number, rank, dim), *indices = add_input(c, TYPE_I32, 2, which);
    for (int i = 0; i < elements(indices); i++) indices->v[i] = between(r, 0, dim[i % depth] - 1);
    y[0] = which[0];
    for (int d = depth; d < rank; d++) y[1 + d - depth] = dim[d];
    add_like(c, x, 1 + rank - depth, y);
}
static void gathered_nd(const Case *c, const int *out, int *in)
{
    int depth = c->in[1].dim[1];
    for (int d = 0; d < c->in[0].rank; d++)
        in[d] = d < depth ? (int)c->in[1].v[out[0] * depth + d] : out[1 + d - depth];
}
static void gather_nd_reference(Case *c) { each_from(c, gathered_nd); }

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void make_space_to_depth(Case *c, Random *r, int number)
{
    int b = between(r, 2, 3), h = between(r, 1, 3), w = between(r, 1, 3), ch = between(r, 1, 3);
    add_like(c, any_input(c, r, number, 4, (const int[]){ 1, h * b, w * b, ch }), 4,
             (const int[]){ 1, h, w, ch * b * b });
    c->field[0] = b;
}
static void in_depth(const Case *c, const int *out, int *in)
{
    int b = (int)c->field[0], ch = c->in[0].dim[3], block = out[3] / ch;
    in[0] = out[0], in[1] = out[1] * b + block / b, in[2] = out[2] * b + block % b, in[3] = out[3] % ch;
}
static void space_to_depth_reference(Case *c) { each_from(c, in_depth); }

static void make_depth_to_space(Case *c, Random *r, int number)
{
    int b = between(r, 2, 3), h = between(r, 1, 3), w = between(r, 1, 3), ch = between(r, 1, 3);
    add_like(c, any_input(c, r, number, 4, (const int[]){ 1, h, w, ch * b * b }), 4,
             (const int[]){ 1, h * b, w * b, ch });
    c->field[0] = b;
}
static void in_space(const Case *c, const int *out, int *in)
{
    int b = (int)c->field[0], ch = c->out[0].dim[3];
    in[0] = out[0], in[1] = out[1] / b, in[2] = out[2] / b, in[3] = (out[1] % b * b + out[2] % b) * ch + out[3];
}
static void depth_to_space_reference(Case *c) { each_from(c, in_space); }

static void make_space_to_batch(Case *c, Random *r, int number)
{
    int block[2] = { between(r, 1, 3), between(r, 1, 3) }, small[2] = { between(r, 1, 3), between(r, 1, 3) },
        pads[4] = { 0 }, n = between(r, 1, 2), ch = between(r, 1, 3), size[2];
    for (int d = 0; d < 2; d++) {
        size[d] = block[d] * small[d];
        for (int i = 0; i < 2; i++)
            if (size[d] > 1 && chance(r, 40)) pads[2 * d + i] = 1, size[d]--;
    }
    Operand *x = any_input(c, r, number, 4, (const int[]){ n, size[0], size[1], ch });
    add_ints(c, 1, 2, block);
    add_ints(c, 2, 4, pads);
    add_like(c, x, 4, (const int[]){ n * block[0] * block[1], small[0], small[1], ch });
}
static void space_to_batch_reference(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    int at[4] = { 0 }, i = 0, b[2] = { (int)c->in[1].v[0], (int)c->in[1].v[1] };
    do {
        int part = at[0] / x->dim[0], h = at[1] * b[0] + part / b[1] - (int)c->in[2].v[0],
            w = at[2] * b[1] + part % b[1] - (int)c->in[2].v[2];
        bool is_inside = h >= 0 && w >= 0 && h < x->dim[1] && w < x->dim[2];
        y->v[i++] = is_inside ? x->v[place_of(x, (const int[]){ at[0] % x->dim[0], h, w, at[3] })] : y->zero;
    } while (next_index(4, y->dim, at));
}

static void make_batch_to_space(Case *c, Random *r, int number)
{
    int block[2] = { between(r, 1, 3), between(r, 1, 3) }, h = between(r, 1, 3), w = between(r, 1, 3),
        ch = between(r, 1, 3), n = between(r, 1, 2);
    int crops[4] = { between(r, 0, h * block[0] > 1), 0, between(r, 0, w * block[1] > 1), 0 };
    Operand *x = any_input(c, r, number, 4, (const int[]){ n * block[0] * block[1], h, w, ch });
    add_ints(c, 1, 2, block);
    add_ints(c, 2, 4, crops);
    add_like(c, x, 4, (const int[]){ n, h * block[0] - crops[0], w * block[1] - crops[2], ch });
}
static void in_batch(const Case *c, const int *out, int *in)
{
    int b[2] = { (int)c->in[1].v[0], (int)c->in[1].v[1] }, h = out[1] + (int)c->in[2].v[0],
        w = out[2] + (int)c->in[2].v[2];
    in[0] = (h % b[0] * b[1] + w % b[1]) * c->out[0].dim[0] + out[0], in[1] = h / b[0], in[2] = w / b[1],
    in[3] = out[3];
}
static void batch_to_space_reference(Case *c) { each_from(c, in_batch); }

/* ---- Images of another size -------------------------------------------------------------------------------------- */

static void make_resize(Case *c, Random *r, int number, int first_field)
{
    int dim[4] = { between(r, 1, 2), between(r, 1, 5), between(r, 1, 5), between(r, 1, 3) }, size[2] = {
        between(r, 1, 8), between(r, 1, 8)
    };
    Operand *x = add_input(c, number % 5 == 4 ? TYPE_F32 : TYPE_I8, 4, dim);
    fill_any(r, x);
    if (x->type == TYPE_I8) quant_any(r, x);
    add_ints(c, 1, 2, size);
    add_like(c, x, 4, (const int[]){ dim[0], size[0], size[1], dim[3] });
    c->field[first_field] = number % 3 == 1;
    c->field[first_field + 1] = number % 3 == 2;
}
static void make_nearest(Case *c, Random *r, int number) { make_resize(c, r, number, 0); }
static void make_bilinear(Case *c, Random *r, int number) { make_resize(c, r, number, 2); }

static int nearest(int at, int in, int out, bool aligns, bool half)
{
    float scale = aligns && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out,
          v = ((float)at + (half ? 0.5f : 0.0f)) * scale;
    return (int)limit((int64_t)(aligns ? roundf(v) : floorf(v)), 0, in - 1);
}
static void near(const Case *c, const int *out, int *in)
{
    for (int d = 0; d < 4; d++)
        in[d] = d == 0 || d == 3
                    ? out[d]
                    : nearest(out[d], c->in[0].dim[d], c->out[0].dim[d], c->field[0] != 0, c->field[1] != 0);
}
static void nearest_reference(Case *c) { each_from(c, near); }

/* The two elements around a position, and its distance from the first: in units of 1/1024 for int8. */
typedef struct Between { int low, high; double behind; } Between;

static Between whole_between(int at, int in, int out, bool aligns, bool half)
{
    enum { UNIT = 1024 };
    int scale = aligns && out > 1 ? (UNIT * (in - 1) + (out - 1) / 2) / (out - 1) : (UNIT * in + out / 2) / out;
    int v = at * scale + (half ? scale / 2 - UNIT / 2 : 0), low = v / UNIT > 0 ? v / UNIT : 0,
        high = (v + UNIT - 1) / UNIT;
    return (Between){ low, high < in - 1 ? high : in - 1, v - UNIT * low };
}
static Between real_between(int at, int in, int out, bool aligns, bool half)
{
    float scale = aligns && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out,
          v = half ? ((float)at + 0.5f) * scale - 0.5f : (float)at * scale;
    int low = (int)limit((int64_t)floorf(v), 0, in - 1), high = (int)limit((int64_t)ceilf(v), 0, in - 1);
    return (Between){ low, high, (double)(v - (float)low) };
}

/* The element times both weights, added column by column, each step as a float where it is one. */
static double bilinear(const Operand *x, int n, int ch, const Between *b, bool is_real)
{
    const double unit = is_real ? 1 : 1024;
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        bool is_low = k % 2, is_right = k / 2;
        int h = is_low ? b[0].high : b[0].low, w = is_right ? b[1].high : b[1].low;
        double v = h < x->dim[1] && w < x->dim[2] ? x->v[place_of(x, (const int[]){ n, h, w, ch })] : 0;
        double of_row = is_low ? b[0].behind : unit - b[0].behind,
               of_column = is_right ? b[1].behind : unit - b[1].behind;
        if (is_real) sum = (double)((float)sum + (float)v * (float)of_row * (float)of_column);
        else sum += v * of_row * of_column;
    }
    return sum;
}

static void bilinear_reference(Case *c)
{
    const Operand *x = &c->in[0];
    Operand *y = &c->out[0];
    bool is_real = x->type == TYPE_F32, aligns = c->field[2] != 0, half = c->field[3] != 0;
    int at[4] = { 0 }, i = 0;
    do {
        Between b[2];
        for (int d = 0; d < 2; d++)
            b[d] = (is_real ? real_between : whole_between)(at[1 + d], x->dim[1 + d], y->dim[1 + d], aligns, half);
        double sum = bilinear(x, at[0], at[3], b, is_real);
        y->v[i++] = is_real ? sum : stored(((int64_t)sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
    } while (next_index(4, y->dim, at));
}

const Operator move_operators[] = {
    { "reshape", 22, 1, 17, "l", make_reshape, copy_reference, 0 },
    { "squeeze", 43, 1, 30, "l", make_squeeze, copy_reference, 0 },
    { "expand_dims", 70, 1, 52, "", make_expand_dims, copy_reference, 0 },
    { "shape", 77, 1, 55, "b", make_shape, shape_reference, 0 },
    { "broadcast_to", 130, 2, 104, "", make_broadcast, broadcast_reference, 0 },
    { "fill", 94, 3, 68, "", make_fill, fill_reference, 0 },
    { "pad", 34, 2, 22, "", make_pad, pad_reference, 0 },
    { "padv2", 60, 2, 43, "", make_padv2, pad_reference, 0 },
    { "mirror_pad", 100, 2, 77, "b", make_mirror, mirror_reference, 0 },
    { "slice", 65, 2, 48, "", make_slice, slice_reference, 0 },
    { "strided_slice", 45, 2, 32, "iiiii", make_strided, strided_reference, 0 },
    { "concatenation", 2, 2, 10, "ib", make_concat, concat_reference, 0 },
    { "pack", 83, 2, 59, "ii", make_pack, pack_reference, 0 },
    { "unpack", 88, 2, 64, "ii", make_unpack, unpack_reference, 0 },
    { "split", 49, 2, 35, "i", make_split, split_reference, 0 },
    { "split_v", 102, 2, 79, "i", make_split_v, split_v_reference, 0 },
    { "transpose", 39, 2, 26, "", make_transpose, transpose_reference, 0 },
    { "gather", 36, 2, 23, "ii", make_gather, gather_reference, 0 },
    { "gather_nd", 107, 2, 83, "", make_gather_nd, gather_nd_reference, 0 },
    { "space_to_depth", 26, 2, 19, "i", make_space_to_depth, space_to_depth_reference, 0 },
    { "depth_to_space", 5, 2, 94, "i", make_depth_to_space, depth_to_space_reference, 0 },
    { "space_to_batch_nd", 38, 3, 25, "", make_space_to_batch, space_to_batch_reference, 0 },
    { "batch_to_space_nd", 37, 2, 24, "", make_batch_to_space, batch_to_space_reference, 0 },
    { "resize_nearest_neighbor", 97, 3, 74, "bb", make_nearest, nearest_reference, 0 },
    { "resize_bilinear", 23, 3, 15, "--bb", make_bilinear, bilinear_reference, 0 },
    { NULL, 0, 0, 0, "", NULL, NULL, 0 },
};
