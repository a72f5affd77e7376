/* SPDX-License-Identifier: MIT */
/* Translates operators that compute positions, compare elements with positions, or write at positions. Sizes, ranges,
 * ranks and masks of a diagonal are constants. */
#include <float.h>
#include <math.h>

#include "import/tflite/ops/tflite_decided.h"
#include "import/tflite/ops/tflite_rows.h"

enum {
    OPTIONS_SPARSE_TO_DENSE = 50,
    OPTIONS_DENSIFY = 99,
    OPTIONS_ONE_HOT = 61,
    OPTIONS_ZEROS_LIKE = 67,
    OPTIONS_RANGE = 73,
    OPTIONS_RANK = 86,
    OPTIONS_REVERSE_SEQUENCE = 87,
    OPTIONS_MATRIX_DIAG = 88,
    OPTIONS_MATRIX_SET_DIAG = 90,
    OPTIONS_NMS_V4 = 95,
    OPTIONS_NMS_V5 = 96,
    OPTIONS_SCATTER_ND = 97,
    OPTIONS_SEGMENT_SUM = 100,
    OPTIONS_BUCKETIZE = 115,
    OPTIONS_DYNAMIC_UPDATE_SLICE = 117
};

static Tensor *filled(TfliteCall *c, Tensor *value, const int64_t *shape, int rank)
{
    return tflite_call(c, "expand", tflite_reshape(c, value, NULL, 0), attr_ints("shape", shape, rank));
}

/* ---- Sizes and ranges -------------------------------------------------------------------------------------------- */

static void rank(TfliteCall *c)
{
    if (tflite_needs(c, 1)) c->out[0] = tensor_scalar(c->cx, c->name, I32, c->in[0]->rank);
}

static void zeros_like(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 1)) return;
    const Tensor *x = c->in[0];
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    c->out[0] = filled(c, tensor_scalar(c->cx, c->name, x->type, 0), shape, x->rank);
}

/* Translates RANGE. The reference counts, and adds the step to the previous value, in the type of the result. */
static void range(TfliteCall *c)
{
    double v[3];
    if (!tflite_needs(c, 3)) return;
    const DType type = c->in[0]->type;
    const bool is_float = dtype_is_float(type);
    for (int i = 0; i < 3; i++) {
        const Tensor *t = c->in[i];
        if (!tensor_is_constant(t) || t->type != type || tensor_elems(t) != 1) {
            tflite_range_by_value(c);
            return;
        }
        const Scalar s = dtype_load(type, t->data, 0);
        v[i] = is_float ? s.f : (double)s.i;
    }
    const double found = v[2] == 0  ? 0
                         : is_float ? (double)ceilf(((float)v[1] - (float)v[0]) / (float)v[2])
                                    : ceil((v[1] - v[0]) / v[2]);
    if (!(found >= 1 && found <= TFLITE_MOST_CONSTANT)) {
        tflite_unsupported(c, "it has a range of %g elements; use 1 to %d elements", found, TFLITE_MOST_CONSTANT);
        return;
    }
    const int64_t count = (int64_t)found;
    float *real = NEW_ARRAY(c->cx->arena, float, count), sum = (float)v[0];
    int64_t *whole = NEW_ARRAY(c->cx->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) {
        real[i] = sum;
        sum += (float)v[2];
        whole[i] = (int64_t)v[0] + i * (int64_t)v[2];
    }
    c->out[0] = tflite_cast(c, tensor_constant(c->cx, c->name, is_float ? F32 : I64, 1, &count,
                                           is_float ? (const void *)real : whole), type);
}

/* Translates BROADCAST_ARGS: the shape to which two shapes broadcast. */
static void broadcast_args(TfliteCall *c)
{
    int64_t a[MAX_RANK], b[MAX_RANK], y[MAX_RANK];
    const int ra = tflite_needs(c, 2) ? tflite_ints(c, 0, a, MAX_RANK) : -1,
              rb = ra >= 0 ? tflite_ints(c, 1, b, MAX_RANK) : -1;
    if (rb < 0) return;
    const int64_t rank = ra > rb ? ra : rb;
    for (int d = 0; d < rank; d++) {
        const int64_t da = d < rank - ra ? 1 : a[d - (rank - ra)], db = d < rank - rb ? 1 : b[d - (rank - rb)];
        if (da != db && da != 1 && db != 1)
            tflite_refuse(c, "it has sizes %lld and %lld; use equal sizes, or a size of 1",
                             (long long)da, (long long)db);
        y[d] = da == 1 ? db : da;
    }
    if (!ctx_failed(c->cx))
        c->out[0] = tflite_cast(c, tensor_constant(c->cx, c->name, I64, 1, &rank, y), c->in[0]->type);
}

/* ---- Elements at positions --------------------------------------------------------------------------------------- */

/* Translates ONE_HOT. An index out of range, such as a negative one, marks no element. */
static void one_hot(TfliteCall *c)
{
    int64_t depth, shape[MAX_RANK];
    if (!tflite_needs(c, 4)) return;
    const bool is_known = tensor_is_constant(c->in[1]) || tensor_elems(c->in[1]) != 1;
    if (is_known && !tflite_list(c, 1, &depth, 1)) return;
    const int rank = c->in[0]->rank + 1;
    if (rank > MAX_RANK) tflite_unsupported(c, "it has a result of %d dimensions; use at most %d dimensions",
                                               rank, MAX_RANK);
    if (c->in[2]->type != c->in[3]->type) tflite_refuse(c, "its values have two types; use values of one type");
    if (ctx_failed(c->cx)) return;
    const int axis = tflite_axis(c, flat_int(&c->op->options, 0, 4, 0), rank);
    if (axis < 0) return;
    for (int d = 0; d < rank; d++) shape[d] = d == axis ? 1 : tensor_dim(c->in[0], d < axis ? d : d - 1);
    const DType type = c->in[0]->type;
    Tensor *ramp = is_known ? tflite_ramp(c, type, depth, axis, rank)
                            : tflite_ramp_by_value(c, type, c->in[1], axis, rank),
           *is_hot = tflite_call2(c, "equal", tflite_reshape(c, c->in[0], shape, rank), ramp),
           *on = tflite_reshape(c, c->in[2], NULL, 0), *off = tflite_reshape(c, c->in[3], NULL, 0);
    if (is_hot && on && off) c->out[0] = tflite_select(c, is_hot, on, off);
}

static void reverse_sequence(TfliteCall *c)
{
    enum { TIME, BATCH };
    if (tflite_needs(c, 2))
        c->out[0] = tflite_call2(c, "reverse_sequence", c->in[0], c->in[1],
                                 attr_int("time", flat_int(&c->op->options, TIME, 4, 0)),
                                 attr_int("batch", flat_int(&c->op->options, BATCH, 4, 0)));
}

/* Counts the boundaries up to each element. */
static void bucketize(TfliteCall *c)
{
    FlatVector bound = flat_vector(&c->op->options, 0, 4);
    if (!tflite_needs(c, 1)) return;
    if (bound.count < 1 || bound.count > TFLITE_MOST_CONSTANT) {
        tflite_unsupported(c, "it has %llu boundaries; use 1 to %d boundaries", (unsigned long long)bound.count,
                           TFLITE_MOST_CONSTANT);
        return;
    }
    const int64_t count = (int64_t)bound.count;
    float *value = NEW_ARRAY(c->cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) value[i] = flat_float_at(&bound, (size_t)i);
    Tensor *sorted = tensor_constant(c->cx, "boundaries", F32, 1, &count, value), *x = tflite_cast(c, c->in[0], F32);
    if (!sorted || !x) return;
    c->out[0] = tflite_cast(c, tflite_call2(c, "searchsorted", sorted, x, attr_flag("right", true)), I32);
}

/* ---- Diagonals --------------------------------------------------------------------------------------------------- */

static Tensor *is_on_diagonal(TfliteCall *c, int64_t rows, int64_t columns)
{
    Tensor *ramp = tflite_ramp(c, I32, columns, 1, 2);
    return tflite_call2(c, "equal", tflite_ramp(c, I32, rows, 0, 2), ramp);
}

static void matrix_diag(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 1)) return;
    Tensor *x = c->in[0];
    if (x->rank < 1 || x->rank == MAX_RANK) {
        tflite_unsupported(c, "it has diagonals of %s; use 1 to %d dimensions", tensor_shape_text(c->cx, x),
                           MAX_RANK - 1);
        return;
    }
    const int64_t size = tensor_dim(x, x->rank - 1);
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    shape[x->rank] = 1;
    Tensor *is_own = is_on_diagonal(c, size, size), *column = tflite_reshape(c, x, shape, x->rank + 1);
    if (is_own && column) c->out[0] = tflite_select(c, is_own, column, tensor_scalar(c->cx, c->name, x->type, 0));
}

/* Translates MATRIX_SET_DIAG. The diagonal has the smaller size of the matrix, and is spread along the larger
 * dimension. */
static void matrix_set_diag(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 2)) return;
    Tensor *x = c->in[0], *diagonal = c->in[1];
    const int rank = x->rank;
    if (!tflite_holds(c, rank >= 2, "the input is %s; use at least two dimensions", tensor_shape_text(c->cx, x))
        || !tflite_holds(c, diagonal->rank == rank - 1 && diagonal->type == x->type, "the diagonal is %s%s and the "
                         "input %s%s; use a diagonal of the input's type with one dimension less",
                         dtype_info(diagonal->type)->spelling, tensor_shape_text(c->cx, diagonal),
                         dtype_info(x->type)->spelling, tensor_shape_text(c->cx, x))) {
        return;
    }
    const int64_t rows = tensor_dim(x, rank - 2), columns = tensor_dim(x, rank - 1);
    for (int d = 0; d < rank - 2; d++) shape[d] = tensor_dim(x, d);
    shape[rank - 2] = rows <= columns ? rows : 1;
    shape[rank - 1] = rows <= columns ? 1 : columns;
    Tensor *is_own = is_on_diagonal(c, rows, columns), *spread = tflite_reshape(c, diagonal, shape, rank);
    if (is_own && spread) c->out[0] = tflite_select(c, is_own, spread, x);
}

/* ---- Writes ------------------------------------------------------------------------------------------------------ */

/* Returns base with the rows of `update` at the rows of `index` [n][dimensions]. */
static Tensor *scattered(TfliteCall *c, Tensor *base, Tensor *index, Tensor *update, const char *reduction)
{
    Tensor *in[] = { base, index, update };
    return base && index && update
               ? call(c->cx, "scatter_nd", c->name, in, 3, ATTRS(attr_word("reduction", reduction)))
               : NULL;
}

/* Translates SCATTER_ND. Updates with equal indices are added; for bools, the result is true if any of them is true. */
static void scatter_nd(TfliteCall *c)
{
    int64_t shape[MAX_RANK], rows[MAX_RANK];
    const int rank = tflite_needs(c, 3) ? tflite_ints(c, 2, shape, MAX_RANK) : -1;
    if (rank < 0) return;
    const bool is_bool = c->in[1]->type == BOOL;
    Tensor *index = c->in[0], *update = tflite_cast(c, c->in[1], is_bool ? I8 : c->in[1]->type);
    if (!update) return;
    const int64_t each = index->rank ? tensor_dim(index, index->rank - 1) : 0, count = tensor_elems(index);
    if (!tflite_holds(c, count >= 1, "the indices are %s; use fixed sizes above 0", tensor_shape_text(c->cx, index))
        || !tflite_holds(c, each >= 1 && each <= rank, "it has indices %s for a tensor of %d dimensions; use a last "
                         "dimension from 1 to %d", tensor_shape_text(c->cx, index), rank, rank))
        return;
    int n = 0;
    rows[n++] = count / each;
    for (int d = (int)each; d < rank; d++) rows[n++] = shape[d];
    Tensor *base = filled(c, tensor_scalar(c->cx, c->name, update->type, 0), shape, rank);
    Tensor *view = tflite_reshape(c, update, rows, n);
    Tensor *y = scattered(c, base, tflite_reshape(c, index, (int64_t[]){ count / each, each }, 2), view,
                          is_bool ? "max" : "add");
    c->out[0] = tflite_cast(c, y, is_bool ? BOOL : update->type);
}

/* The inputs are the indices (a scalar, a list or rows), the shape, one value or one value per index, and the value of
 * other elements. */
static void sparse_to_dense(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    const int rank = tflite_needs(c, 4) ? tflite_ints(c, 1, shape, MAX_RANK) : -1;
    if (rank < 0) return;
    Tensor *index = c->in[0], *value = c->in[2];
    const int64_t each = index->rank == 2 ? tensor_dim(index, 1) : 1, count = tensor_elems(index);
    if (!tflite_holds(c, each == rank && count >= 1 && index->rank <= 2, "the indices are %s for %d dimensions; use "
                      "rows with one index per dimension, at least one row", tensor_shape_text(c->cx, index), rank)
        || !tflite_holds(c, value->type == c->in[3]->type, "the values are %s and %s; use values of one type",
                         dtype_info(value->type)->spelling, dtype_info(c->in[3]->type)->spelling))
        return;
    const int64_t rows = count / each;
    Tensor *filling = tensor_elems(value) == 1 ? filled(c, value, &rows, 1) : value;
    Tensor *rows_of_index = tflite_reshape(c, index, (int64_t[]){ rows, each }, 2);
    c->out[0] = scattered(c, filled(c, c->in[3], shape, rank), rows_of_index, filling, "none");
}

/* Combines the rows of x by their segments. Rows of a negative segment are combined in one additional row, which is cut
 * off. */
static void segments(TfliteCall *c, int64_t count, bool may_be_negative, const char *reduction, double empty)
{
    int64_t shape[MAX_RANK], rows[MAX_RANK];
    Tensor *x = c->in[0], *id = c->in[1];
    bool fits = id->rank >= 1 && id->rank <= x->rank && dtype_is_integer(id->type);
    for (int d = 0; fits && d < id->rank; d++) fits = tensor_dim(id, d) == tensor_dim(x, d);
    if (!tflite_holds(c, fits, "the segment numbers are %s%s and the data %s; use integers with the data's leading "
                      "dimensions", dtype_info(id->type)->spelling, tensor_shape_text(c->cx, id),
                      tensor_shape_text(c->cx, x))
        || !tflite_holds(c, count >= 1 && count <= INT32_MAX - 1, "there are %lld segments; use at least one segment",
                         (long long)count))
        return;
    int n = 1;
    rows[0] = tensor_elems(id);
    shape[0] = count + may_be_negative;
    for (int d = id->rank; d < x->rank; d++, n++) rows[n] = shape[n] = tensor_dim(x, d);
    id = tflite_reshape(c, id, (int64_t[]){ rows[0], 1 }, 2);
    if (may_be_negative && id) {
        Tensor *number = tensor_scalar(c->cx, c->name, id->type, (double)count);
        id = tflite_select(c, tflite_call2(c, "less", id, tensor_scalar(c->cx, c->name, id->type, 0)), number, id);
    }
    Tensor *view = tflite_reshape(c, x, rows, n);
    Tensor *y = scattered(c, filled(c, tensor_scalar(c->cx, c->name, x->type, empty), shape, n), id, view, reduction);
    if (y) c->out[0] = may_be_negative ? tflite_part(c, y, 0, 0, count) : y;
}

/* Translates SEGMENT_SUM. The number of segments is the last segment plus one, so the segments must be constant. */
static void segment_sum(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    const Tensor *id = c->in[1];
    if (!tensor_is_constant(id) || !dtype_is_integer(id->type) || tensor_elems(id) < 1)
        tflite_unsupported(c, "input 1 (\"%s\") is %s%s%s; use constant integers, at least one", id->name,
                           tensor_is_constant(id) ? "" : "not constant, ", dtype_info(id->type)->spelling,
                           tensor_shape_text(c->cx, id));
    else segments(c, dtype_load(id->type, id->data, tensor_elems(id) - 1).i + 1, false, "add", 0);
}

static void unsorted(TfliteCall *c, const char *reduction, double of_float, bool is_extreme, bool is_least)
{
    int64_t count;
    if (!tflite_needs(c, 3) || !tflite_list(c, 2, &count, 1)) return;
    const DTypeInfo *type = dtype_info(c->in[0]->type);
    const double bound = is_least ? (double)type->least : (double)type->greatest;
    segments(c, count, true, reduction, is_extreme && !dtype_is_float(c->in[0]->type) ? bound : of_float);
}
static void unsorted_sum(TfliteCall *c) { unsorted(c, "add", 0, false, false); }
static void unsorted_prod(TfliteCall *c) { unsorted(c, "mul", 1, false, false); }
static void unsorted_max(TfliteCall *c) { unsorted(c, "max", -(double)FLT_MAX, true, true); }
static void unsorted_min(TfliteCall *c) { unsorted(c, "min", (double)FLT_MAX, true, false); }

/* Places `update` at its begin along axis d of x: y[i] = update[i - begin] inside, elsewhere x[i]. The begin is
 * clamped, so the update is inside x. A single row is compared with its begin, and spread. */
static void dynamic_update_slice(TfliteCall *c)
{
    if (!tflite_needs(c, 3)) return;
    Tensor *x = c->in[0], *update = c->in[1], *begin = c->in[2], *is_inside = NULL;
    const int rank = x->rank;
    bool fits = update->rank == rank && update->type == x->type;
    for (int d = 0; fits && d < rank; d++)
        fits = tensor_dim(update, d) >= 1 && tensor_dim(update, d) <= tensor_dim(x, d);
    if (!tflite_holds(c, fits, "the update is %s%s and the input %s%s; use the input's type and rank, and at most its "
                      "sizes", dtype_info(update->type)->spelling, tensor_shape_text(c->cx, update),
                      dtype_info(x->type)->spelling, tensor_shape_text(c->cx, x))
        || !tflite_holds(c, dtype_is_integer(begin->type) && begin->rank == 1 && tensor_dim(begin, 0) == rank,
                         "the begins are %s%s; use %d integers, one per dimension",
                         dtype_info(begin->type)->spelling, tensor_shape_text(c->cx, begin), rank))
        return;
    Tensor *y = update;
    for (int d = 0; d < rank && !ctx_failed(c->cx); d++) {
        const int64_t size = tensor_dim(x, d), part = tensor_dim(update, d);
        if (size == part) continue;
        Tensor *first = tflite_reshape(c, tflite_part(c, begin, 0, d, d + 1), NULL, 0);
        first = tflite_call(c, "clip", first, attr_real("min", 0), attr_real("max", (double)(size - part)));
        if (part == 1) {
            Tensor *is_own = tflite_call2(c, "equal", tflite_ramp(c, begin->type, size, d, rank), first);
            is_inside = is_inside ? tflite_call2(c, "and", is_inside, is_own) : is_own;
            continue;
        }
        Tensor *at = tflite_call2(c, "sub", tflite_ramp(c, begin->type, size, d, rank), first),
               *end = tensor_scalar(c->cx, c->name, begin->type, (double)part),
               *is_below = tflite_call2(c, "less", at, end), *zero = tensor_scalar(c->cx, c->name, begin->type, 0),
               *inside = tflite_call2(c, "and", tflite_call2(c, "less_equal", zero, at), is_below);
        at = tflite_call(c, "clip", at, attr_real("min", 0), attr_real("max", (double)(part - 1)));
        y = tflite_call2(c, "gather", y, tflite_reshape(c, at, &size, 1), attr_int("axis", d));
        is_inside = is_inside ? tflite_call2(c, "and", is_inside, inside) : inside;
    }
    if (y && !ctx_failed(c->cx)) c->out[0] = is_inside ? tflite_select(c, is_inside, y, x) : y;
}

/* Translates DENSIFY to its input, because the reader of files already expands sparse constants. */
static void densify(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    if (tensor_is_constant(c->in[0])) c->out[0] = c->in[0];
    else tflite_unsupported(c, "its input is computed; use a constant");
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static Tensor *scalar_in(TfliteCall *c, int i, DType type)
{
    return tflite_cast(c, tflite_reshape(c, c->in[i], NULL, 0), type);
}

/* Results of non-maximum suppression. The inputs are boxes [n][4], scores [n], the number of results, and the
 * thresholds of overlap and score. Results beyond the number of selected boxes are 0. */
typedef struct Suppressed { Tensor *index, *score, *found, *is_found; } Suppressed;
static bool suppressed(TfliteCall *c, int count, double sigma, Suppressed *out)
{
    int64_t most;
    if (!tflite_needs(c, count) || !tflite_list(c, 2, &most, 1)) return false;
    Tensor *boxes = c->in[0], *scores = c->in[1];
    if (!tflite_holds(c, boxes->rank == 2 && scores->rank == 1 && tensor_dim(boxes, 0) == tensor_dim(scores, 0)
                             && tensor_dim(scores, 0) >= 1,
                      "the boxes are %s and the scores %s; use [n][4] and [n]", tensor_shape_text(c->cx, boxes),
                      tensor_shape_text(c->cx, scores))
        || !tflite_holds(c, most >= 1, "it requests %lld results (input 2); use 1 or more", (long long)most))
        return false;
    Tensor *overlap = scalar_in(c, 3, F32), *least = scalar_in(c, 4, F32);
    if (!overlap || !least) return false;
    const double scale = sigma > 0 ? (double)(float)(-0.5 / sigma) : 0;
    Tensor *rows = call(c->cx, "soft_suppression", c->name, (Tensor *[]){ boxes, scores, overlap, least }, 4,
                        ATTRS(attr_int("capacity", most), attr_real("scale", scale)));
    if (!rows) return false;
    out->score = rows->producer->out[1];
    Tensor *zero = tensor_scalar(c->cx, c->name, rows->type, 0);
    out->is_found = tflite_call2(c, "greater_equal", rows, zero);
    out->index = tflite_select(c, out->is_found, rows, zero);
    out->found = tflite_call(c, "reduce_sum", tflite_call(c, "cast", out->is_found, attr_type("to", I32)),
                             attr_list("axes", 0), attr_flag("keepdims", false));
    return !ctx_failed(c->cx);
}

static void suppression_v4(TfliteCall *c)
{
    Suppressed s;
    if (!suppressed(c, 5, 0, &s)) return;
    c->out[0] = tflite_cast(c, s.index, I32);
    c->out[1] = s.found;
}

static void suppression_v5(TfliteCall *c)
{
    Suppressed s;
    if (!tflite_needs(c, 6)) return;
    const Tensor *input = c->in[5];
    const double sigma = tensor_is_constant(input) && input->type == F32 && tensor_elems(input) == 1
        ? dtype_load(F32, input->data, 0).f : -1;
    if (!(sigma >= 0))
        tflite_unsupported(c,
                           "the decay of scores with the overlap (input 5, \"%s\") is negative or not constant; use a "
                           "constant sigma of at least 0",
                           input->name);
    else if (suppressed(c, 6, sigma, &s)) {
        c->out[0] = tflite_cast(c, s.index, I32);
        c->out[1] = s.score;
        c->out[2] = s.found;
    }
}

enum { OF_NUMBERS = OF_F32 | OF_I8 | OF_U8 | OF_I16 | OF_WHOLE, OF_ANY = OF_NUMBERS | OF_BOOL };

const TfliteRow tflite_rows_place[] = {
    { 68, "SPARSE_TO_DENSE", 3, OPTIONS_SPARSE_TO_DENSE, OF_WHOLE, 1, NULL, sparse_to_dense, TFLITE_KEEPS_NONE },
    { 85, "ONE_HOT", 1, OPTIONS_ONE_HOT, OF_WHOLE, 1, NULL, one_hot, TFLITE_KEEPS_NONE },
    { 93, "ZEROS_LIKE", 1, OPTIONS_ZEROS_LIKE, OF_ANY, 1, NULL, zeros_like, TFLITE_KEEPS_NONE },
    { 96, "RANGE", 2, OPTIONS_RANGE, OF_F32 | OF_WHOLE, 3, NULL, range, TFLITE_KEEPS_NONE },
    { 110, "RANK", 1, OPTIONS_RANK, OF_ANY, 1, NULL, rank, TFLITE_KEEPS_NONE },
    { 112, "REVERSE_SEQUENCE", 1, OPTIONS_REVERSE_SEQUENCE, OF_NUMBERS, 1, NULL, reverse_sequence, TFLITE_KEEPS_NONE },
    { 113, "MATRIX_DIAG", 1, OPTIONS_MATRIX_DIAG, OF_NUMBERS, 1, NULL, matrix_diag, TFLITE_KEEPS_NONE },
    { 115, "MATRIX_SET_DIAG", 1, OPTIONS_MATRIX_SET_DIAG, OF_NUMBERS, 2, NULL, matrix_set_diag, TFLITE_KEEPS_NONE },
    { 120, "NON_MAX_SUPPRESSION_V4", 1, OPTIONS_NMS_V4, OF_F32, 2, NULL, suppression_v4, TFLITE_KEEPS_NONE },
    { 121, "NON_MAX_SUPPRESSION_V5", 1, OPTIONS_NMS_V5, OF_F32, 2, NULL, suppression_v5, TFLITE_KEEPS_NONE },
    { 122, "SCATTER_ND", 1, OPTIONS_SCATTER_ND, OF_I32, 1, NULL, scatter_nd, TFLITE_KEEPS_NONE },
    { 124, "DENSIFY", 1, OPTIONS_DENSIFY, OF_F32 | OF_F16 | OF_I8, 1, NULL, densify, TFLITE_KEEPS_ALL },
    { 125, "SEGMENT_SUM", 1, OPTIONS_SEGMENT_SUM, OF_F32 | OF_I32, 1, NULL, segment_sum, TFLITE_KEEPS_NONE },
    { 145, "BROADCAST_ARGS", 1, 0, OF_WHOLE, 2, NULL, broadcast_args, TFLITE_KEEPS_NONE },
    { 147, "BUCKETIZE", 1, OPTIONS_BUCKETIZE, OF_F32 | OF_WHOLE, 1, NULL, bucketize, TFLITE_KEEPS_NONE },
    { 151, "DYNAMIC_UPDATE_SLICE", 3, OPTIONS_DYNAMIC_UPDATE_SLICE, OF_ANY, 2, NULL, dynamic_update_slice,
      TFLITE_KEEPS_NONE },
    { 153, "UNSORTED_SEGMENT_PROD", 1, 0, OF_F32 | OF_I32, 1, NULL, unsorted_prod, TFLITE_KEEPS_NONE },
    { 154, "UNSORTED_SEGMENT_MAX", 1, 0, OF_F32 | OF_I32, 1, NULL, unsorted_max, TFLITE_KEEPS_NONE },
    { 155, "UNSORTED_SEGMENT_SUM", 1, 0, OF_F32 | OF_I32, 1, NULL, unsorted_sum, TFLITE_KEEPS_NONE },
    { 157, "UNSORTED_SEGMENT_MIN", 1, 0, OF_F32 | OF_I32, 1, NULL, unsorted_min, TFLITE_KEEPS_NONE },
    { 0 }
};
