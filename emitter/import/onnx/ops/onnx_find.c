/* SPDX-License-Identifier: MIT */
/* Translates operators with a data-dependent number of results. Such operators compute the maximum number of rows, and
 * the number of valid rows; the result consists of the valid rows, which come first (onnx_decided.c). */
#include <math.h>
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/ops/onnx_rows.h"

static Node *producer_of(const Tensor *t) { return t ? t->producer : NULL; }

static Tensor *size_value(OnnxCall *c, const Expr *size)
{
    return decided_value(&c->scope->import->decided, c->name, size, I64);
}

/* Splits the indices [n][1] of elements of x, in row-major order, into coordinates [n][rank]. */
static Tensor *coordinates(OnnxCall *c, const Tensor *x, Tensor *index)
{
    Tensor *column[MAX_RANK], *one = size_value(c, expr_index(c->cx, 1));
    for (int d = 0; d < x->rank; d++) {
        const Expr *behind = size_product(c->cx, x->shape + d + 1, x->rank - d - 1);
        Tensor *step = onnx_call2(c, "max", size_value(c, behind), one),
               *size = onnx_call2(c, "max", size_value(c, x->shape[d]), one);
        column[d] = onnx_call2(c, "mod", onnx_call2(c, "floor_div", index, step), size);
    }
    return ctx_failed(c->cx) ? NULL : call(c->cx, "concat", c->name, column, x->rank, ATTRS(attr_int("axis", 1)));
}

/* Returns the coordinates of the nonzero elements of x as rows [n][rank]; x is not constant. Two selections by one
 * tensor have one size. */
static Tensor *nonzero_rows(OnnxCall *c, Tensor *x, int axis)
{
    const Expr *elements = size_product(c->cx, x->shape, x->rank);
    const int64_t all = interval_of(c->cx, elements, NULL).greatest, most = onnx_most(c, 0, axis, all);
    const bool is_split = x->rank > 1 && elements->kind != EXPR_INT;
    Tensor *known = map_get_ptr(&c->scope->import->selections, x);
    const Decided *d = &c->scope->import->decided;
    const bool is_here = known && decided_inside(d, known->shape[0], d->region);
    if (is_here && !ctx_failed(c->cx) && expr_as_var(known->shape[0])->greatest == most) return known;
    Tensor *from = is_split ? onnx_view(c, x, &elements, 1) : x;
    Tensor *rows = ctx_failed(c->cx) ? NULL : onnx_call(c, "nonzero", from, attr_int("capacity", most < 1 ? 1 : most),
                                                        attr_flag("rows", true));
    const Expr *size = rows ? onnx_decided(c, 0, axis, rows->producer->out[1], 0, all) : NULL;
    Tensor *selected = size ? onnx_cut(c, rows, 0, size) : NULL;
    if (is_split && selected) selected = coordinates(c, x, selected);
    if (selected) map_put_ptr(&c->scope->import->selections, x, selected);
    return selected;
}

static void nonzero(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0]->rank ? c->in[0] : onnx_reshape(c, c->in[0], (int64_t[]){ 1 }, 1);
    if (!x) return;
    const int64_t known = tensor_is_constant(x) ? decided_nonzero_count(x) : 0;
    if (known) c->out[0] = onnx_call(c, "nonzero", x, attr_int("capacity", known));
    else if (tensor_is_constant(x)) c->out[0] = onnx_empty(c, I64, (int64_t[]){ x->rank, 0 }, 2);
    else {
        Tensor *rows = nonzero_rows(c, x, 1);
        const Expr *turned[2] = { expr_index(c->cx, 1), rows ? rows->shape[0] : NULL };
        c->out[0] = x->rank == 1 ? onnx_view(c, rows, turned, 2)
                                 : onnx_call(c, "transpose", rows, attr_list("perm", 1, 0));
    }
}

/* Returns the elements of x that the run selects by a condition, which has the length of an axis. */
Tensor *onnx_selected(OnnxCall *c, Tensor *x, Tensor *condition, int axis)
{
    Tensor *rows = nonzero_rows(c, condition, axis);
    Tensor *places = rows ? onnx_view(c, rows, &rows->shape[0], 1) : NULL;
    return onnx_call2(c, "gather", x, places, attr_int("axis", axis));
}

/* ---- Unique ------------------------------------------------------------------------------------------------------ */

/* Returns true if the slices a and b of a constant are equal; x is [outer][slices][inner]. NaN equals NaN. */
static bool are_equal(const Tensor *x, int64_t outer, int64_t slices, int64_t inner, int64_t a, int64_t b)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const Scalar v = dtype_load(x->type, x->data, (o * slices + a) * inner + i),
                         w = dtype_load(x->type, x->data, (o * slices + b) * inner + i);
            const bool is_same = !dtype_is_float(x->type) ? v.i == w.i : v.f == w.f || (isnan(v.f) && isnan(w.f));
            if (!is_same) return false;
        }
    return true;
}

/* Counts the distinct slices of a constant along `axis`; with axis -1, counts its distinct elements. */
static int64_t count_distinct(const Tensor *x, int axis)
{
    int64_t outer = 1, slices = axis < 0 ? tensor_elems(x) : tensor_dim(x, axis), inner = 1, found = 0;
    for (int d = 0; d < axis; d++) outer *= tensor_dim(x, d);
    for (int d = axis + 1; axis >= 0 && d < x->rank; d++) inner *= tensor_dim(x, d);
    for (int64_t i = 0, j; i < slices; i++) {
        for (j = 0; j < i && !are_equal(x, outer, slices, inner, i, j);) j++;
        found += j == i;
    }
    return found;
}

/* Views [n][..] as [n][elements]. */
static Tensor *row_by_row(OnnxCall *c, Tensor *x)
{
    const Expr *shape[] = { x->shape[0], size_product(c->cx, x->shape + 1, x->rank - 1) };
    return onnx_view(c, x, shape, 2);
}

/* Finds distinct elements, or distinct slices along an axis; the axis is moved to the front. */
static void unique(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0];
    bool has_axis = onnx_attr(c, "axis") != NULL;
    int axis = has_axis ? onnx_axis(c, onnx_int(c, "axis", 0), x->rank) : 0, dim = has_axis ? axis : 0;
    if (axis < 0) return;
    const Interval room = interval_of(c->cx, has_axis ? x->shape[axis] : size_product(c->cx, x->shape, x->rank), NULL);
    const int64_t known = tensor_is_constant(x) ? count_distinct(x, has_axis ? axis : -1) : 0,
                  most = known ? known : onnx_most(c, 0, dim, room.greatest), capacity = most < 1 ? 1 : most;
    if (ctx_failed(c->cx)) return;
    Tensor *base = has_axis ? x : onnx_view(c, x, (const Expr *[]){ expr_index(c->cx, -1) }, 1), *rows = base;
    if (axis > 0 && base) {
        int64_t perm[MAX_RANK] = { axis };
        for (int d = 0; d < base->rank; d++)
            if (d != axis) perm[d < axis ? d + 1 : d] = d;
        rows = onnx_call(c, "transpose", base, attr_ints("perm", perm, base->rank));
    }
    if (rows) rows = row_by_row(c, rows);
    Tensor *index = rows ? onnx_call(c, "unique", rows, attr_int("capacity", capacity),
                                     attr_flag("sorted", onnx_int(c, "sorted", 1)))
                         : NULL;
    const Node *found = producer_of(index);
    if (!found || ctx_failed(c->cx)) return;
    const Expr *size = known ? NULL : onnx_decided(c, 0, dim, found->out[3], room.least < 1 ? 0 : 1, room.greatest);
    Tensor *counts = found->out[2];
    if (size) index = onnx_cut(c, index, 0, size), counts = onnx_cut(c, counts, 0, size);
    if (ctx_failed(c->cx)) return;
    c->out[0] = call(c->cx, "gather", c->name, (Tensor *[]){ base, index }, 2, ATTRS(attr_int("axis", axis)));
    c->out[1] = index;
    c->out[2] = found->out[1];
    c->out[3] = counts;
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

/* Returns input i as a scalar of type t, or a constant if it is absent. */
static Tensor *scalar_or(OnnxCall *c, int i, DType t, double otherwise)
{
    Tensor *s = onnx_in(c, i);
    if (!s) return tensor_scalar(c->cx, c->name, t, otherwise);
    return tensor_elems(s) == 1 ? onnx_cast(c, onnx_reshape(c, s, NULL, 0), t) : NULL;
}

/* Translates NonMaxSuppression. If the file declares no shape, the capacity follows from a constant
 * max_output_boxes_per_class, otherwise from the number of boxes. */
static void non_max_suppression(OnnxCall *c)
{
    double most = 0;
    if (!onnx_requires(c, 2)) return;
    Tensor *boxes = c->in[0], *scores = c->in[1];
    if (boxes->rank != 3 || scores->rank != 3) {
        onnx_refuse(c, "the boxes are %s and the scores %s; use three dimensions each", tensor_shape_text(c->cx, boxes),
                    tensor_shape_text(c->cx, scores));
        return;
    }
    int64_t each = interval_of(c->cx, scores->shape[2], NULL).greatest;
    if (onnx_in(c, 2) && tensor_is_constant(c->in[2]) && onnx_scalar(c, 2, &most) && most < (double)each)
        each = most < 1 ? 1 : (int64_t)most;
    if (!tensor_is_fixed(boxes) || !tensor_is_fixed(scores)) boxes = onnx_equal_size(c, boxes, 1, scores->shape[2]);
    if (ctx_failed(c->cx)) return;
    Tensor *or = scalar_or(c, 2, I64, 0);
    Tensor *least_score = scalar_or(c, 3, boxes->type, 0);
    Tensor *in[] = { boxes, scores, or, least_score, scalar_or(c, 4, boxes->type, -1.0 / 0.0) };
    for (int i = 0; i < 5; i++)
        if (!in[i]) {
            onnx_refuse(c, "input %d (\"%s\") is %s; use one number", i, c->node->in[i],
                        tensor_shape_text(c->cx, c->in[i]));
            return;
        }
    const int64_t natural = interval_of(c->cx, scores->shape[0], NULL).greatest
                            * interval_of(c->cx, scores->shape[1], NULL).greatest * each,
                  capacity = onnx_most(c, 0, 0, natural);
    if (ctx_failed(c->cx)) return;
    Tensor *rows = call(c->cx, "non_max_suppression", c->name, in, 5,
                        ATTRS(attr_int("capacity", capacity < 1 ? 1 : capacity),
                              attr_flag("center", onnx_int(c, "center_point_box", 0))));
    const Expr *size = rows ? onnx_decided(c, 0, 0, rows->producer->out[1], 0, natural) : NULL;
    if (size) c->out[0] = onnx_cut(c, rows, 0, size);
}

static void roi_align(OnnxCall *c)
{
    int64_t ratio = onnx_int(c, "sampling_ratio", 0);
    if (!onnx_requires(c, 3)) return;
    if (!onnx_holds(c, ratio >= 0, "'sampling_ratio' is %lld; use 0 or more", (long long)ratio)
        || !onnx_holds(c, c->in[0]->rank == 4, "the input is %s; use [n][c][h][w]",
                       tensor_shape_text(c->cx, c->in[0]))) {
        return;
    }
    const char *mode = onnx_text(c, "coordinate_transformation_mode",
                                 c->opset < 16 ? "output_half_pixel" : "half_pixel");
    Tensor *in[] = { onnx_channels_last(c, c->in[0]), c->in[1], c->in[2] };
    if (!in[0]) return;
    Tensor *y = call(c->cx, "roi_align", c->name, in, 3,
                     ATTRS(attr_int("height", onnx_int(c, "output_height", 1)),
                           attr_int("width", onnx_int(c, "output_width", 1)), attr_int("ratio", ratio),
                           attr_flag("half", strcmp(mode, "half_pixel") == 0),
                           attr_word("mode", onnx_text(c, "mode", "avg")),
                           attr_real("scale", onnx_real(c, "spatial_scale", 1))));
    c->out[0] = onnx_channels_second(c, y);
}

static void max_roi_pool(OnnxCall *c)
{
    int64_t cells[2];
    if (!onnx_requires(c, 2)) return;
    const int count = onnx_ints(c, "pooled_shape", -1, cells, 2);
    if (count != 2) onnx_refuse(c, "'pooled_shape' has %d sizes; use 2 sizes", count < 0 ? 0 : count);
    if (c->in[0]->rank != 4)
        onnx_refuse(c, "the input is %s; use [n][c][h][w]", tensor_shape_text(c->cx, c->in[0]));
    if (ctx_failed(c->cx)) return;
    Tensor *in[] = { onnx_channels_last(c, c->in[0]), c->in[1] };
    if (!in[0]) return;
    Tensor *y = call(c->cx, "roi_pool", c->name, in, 2,
                     ATTRS(attr_int("height", cells[0]), attr_int("width", cells[1]),
                           attr_real("scale", onnx_real(c, "spatial_scale", 1))));
    c->out[0] = onnx_channels_second(c, y);
}

static void det(OnnxCall *c)
{
    int64_t shape[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    Tensor *x = c->in[0];
    if (x->rank < 2) {
        onnx_refuse(c, "the input is %s; use matrices", tensor_shape_text(c->cx, x));
        return;
    }
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    Tensor *y = onnx_reshape(c, x, (int64_t[]){ -1, shape[x->rank - 2], shape[x->rank - 1] }, 3);
    if (y) c->out[0] = onnx_reshape(c, onnx_call(c, "det", y), shape, x->rank - 2);
}

/* ---- N-grams ----------------------------------------------------------------------------------------------------- */

enum { LONGEST_GRAM = 16 };

typedef struct GramPool {
    /* words: all grams, one after the other; starts: the start of the grams of each length; outputs: the output index
     * of each gram */
    const OnnxAttr *words, *starts, *outputs;
    int count, width;                            /* count: number of grams; width: number of outputs */
} GramPool;

/* Returns the strings of the pool as indices, or NULL if there are none. */
static const OnnxAttr *words_of_strings(OnnxCall *c)
{
    const OnnxAttr *given = onnx_attr(c, "pool_strings");
    if (!given) return NULL;
    OnnxAttr *words = arena_copy(c->cx->arena, given, sizeof *given);
    int64_t *index = NEW_ARRAY(c->cx->arena, int64_t, given->text_count);
    onnx_string_indices(c->cx, c->strings, given->text_count, given->texts, index);
    words->ints = index;
    words->int_count = given->text_count;
    return words;
}

static bool read_pool(OnnxCall *c, GramPool *p)
{
    *p = (GramPool){ onnx_attr(c, "pool_int64s"), onnx_attr(c, "ngram_counts"), onnx_attr(c, "ngram_indexes"), 0,
                         0 };
    if (!p->words) p->words = words_of_strings(c);
    if (!p->words || !p->starts || !p->outputs) {
        onnx_refuse(c, "the attribute %s is missing; add it", !p->words ? "'pool_int64s' or 'pool_strings'"
                       : !p->starts ? "'ngram_counts'" : "'ngram_indexes'");
        return false;
    }
    p->count = p->outputs->int_count;
    for (int i = 0; i < p->count; i++) {
        if (p->outputs->ints[i] < 0 || p->outputs->ints[i] > 1 << 20)
            onnx_refuse(c, "ngram_indexes has the index %lld; use indexes from 0 to %d",
                           (long long)p->outputs->ints[i], 1 << 20);
        else if (p->outputs->ints[i] >= p->width) p->width = (int)p->outputs->ints[i] + 1;
    }
    return !ctx_failed(c->cx) && p->width > 0;
}

/* gram: [width][most] elements of the type; length: [width] */
typedef struct Grams { DType type; int most; void *gram; int32_t *length; } Grams;

/* Stores the grams of one length. Returns the index of the next gram, or -1 if it is refused. */
static int fill_grams(OnnxCall *c, const GramPool *p, int length, int next, bool counts,
                      const Grams *g)
{
    int64_t begin = p->starts->ints[length - 1],
            end = length < p->starts->int_count ? p->starts->ints[length] : p->words->int_count;
    if (!onnx_holds(c, begin >= 0 && end >= begin && end <= p->words->int_count, "'ngram_counts' puts the grams of "
                    "%d words at offsets %lld to %lld; use ascending offsets up to %d", length, (long long)begin,
                    (long long)end, p->words->int_count)
        || !onnx_holds(c, (end - begin) % length == 0, "'ngram_counts' gives %lld words to the grams of %d words; use "
                       "a multiple", (long long)(end - begin), length)
        || !onnx_holds(c, next + (end - begin) / length <= p->count, "there are more n-grams than the %d numbers of "
                       "'ngram_indexes'; use one index per n-gram", p->count))
        return -1;
    for (; begin < end; begin += length, next++) {
        int64_t row = p->outputs->ints[next];
        if (!counts) continue;
        if (g->length[row] > 0) {
            onnx_unsupported(c, "there are two n-grams for output %lld; use one n-gram per output", (long long)row);
            return -1;
        }
        g->length[row] = length;
        for (int j = 0; j < g->most; j++)
            dtype_store(g->type, g->gram, row * g->most + j,
                        (Scalar){ .i = p->words->ints[begin + (j < length ? j : length - 1)] });
    }
    return next;
}

/* Computes counts (TF), weights of grams that occur (IDF), or counts times weights. Outputs without a gram are 0. */
static Tensor *weighted(OnnxCall *c, const GramPool *p, Tensor *count)
{
    const char *mode = onnx_text(c, "mode", "TF");
    const OnnxAttr *given = onnx_attr(c, "weights");
    int64_t width = p->width;
    if (strcmp(mode, "TF") == 0 || !count) return count;
    if (given && given->real_count != p->count)
        onnx_refuse(c, "'weights' has %d values for %d n-grams; use one value per n-gram", given->real_count, p->count);
    if (ctx_failed(c->cx)) return NULL;
    void *data;
    Tensor *weights = tensor_zeros(c->cx, c->name, F32, 1, &width, &data);
    for (int i = 0; weights && i < p->count; i++)
        dtype_store(F32, data, p->outputs->ints[i],
                    (Scalar){ .f = given ? given->reals[i] : 1 });
    if (strcmp(mode, "IDF") == 0) count = onnx_call2(c, "min", count, onnx_scalar_like(c, count, 1));
    return onnx_call2(c, "mul", count, weights);
}

static void tf_idf(OnnxCall *c)
{
    GramPool p;
    int64_t least = onnx_int(c, "min_gram_length", 1), most = onnx_int(c, "max_gram_length", 1),
            skips = onnx_int(c, "max_skip_count", 0);
    if (!onnx_requires(c, 1) || !read_pool(c, &p)) return;
    Tensor *x = c->in[0];
    if (onnx_holds_strings(c->strings, x) != !onnx_attr(c, "pool_int64s"))
        onnx_refuse(c, "the types of the input and of the pool differ; use 'pool_strings' for strings and "
                       "'pool_int64s' for integers");
    if (least < 1 || most < least || most > LONGEST_GRAM)
        onnx_unsupported(c, "it has n-grams of %lld to %lld words; use 1 to %d words, in ascending order",
                         (long long)least, (long long)most, LONGEST_GRAM);
    if (skips < 0 || skips > 1 << 20)
        onnx_unsupported(c, "'max_skip_count' is %lld; use 0 to %d", (long long)skips, 1 << 20);
    if (!dtype_is_integer(x->type) || x->rank < 1 || x->rank > 2)
        onnx_unsupported(c, "the input is %s%s; use integers or strings with one or two dimensions",
                         dtype_info(x->type)->spelling, tensor_shape_text(c->cx, x));
    if (ctx_failed(c->cx)) return;
    void *words, *sizes;
    Tensor *gram = tensor_zeros(c->cx, c->name, x->type, 2, (int64_t[]){ p.width, most }, &words);
    Tensor *lengths = tensor_zeros(c->cx, c->name, I32, 1, (int64_t[]){ p.width }, &sizes);
    const Grams grams = { x->type, (int)most, words, sizes };
    for (int length = 1, next = 0; length <= p.starts->int_count && next >= 0 && gram && lengths; length++) {
        bool counts = length >= least && length <= most;
        next = fill_grams(c, &p, length, next, counts, &grams);
    }
    Tensor *rows = x->rank == 2 ? x : onnx_reshape(c, x, (int64_t[]){ 1, -1 }, 2);
    if (ctx_failed(c->cx) || !rows) return;
    Tensor *y = weighted(
        c, &p,
        call(c->cx, "ngram_count", c->name, (Tensor *[]){ rows, gram, lengths }, 3,
             ATTRS(attr_int("skips", skips))));
    c->out[0] = x->rank == 2 || !y ? y : onnx_reshape(c, y, (int64_t[]){ p.width }, 1);
}

const OnnxOp onnx_rows_find[] = {
    { ONNX_ROW("Det", 1, "", det) },
    { ONNX_ROW("MaxRoiPool", 2, "pooled_shape spatial_scale", max_roi_pool) },
    { ONNX_ROW("NonMaxSuppression", 5, "center_point_box", non_max_suppression), .open.keeps = KEEPS_ALL,
      .open.lists = LISTS_COMPUTED },
    { ONNX_ROW("NonZero", 1, "", nonzero), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("RoiAlign", 3,
      "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale", roi_align) },
    { ONNX_ROW("TfIdfVectorizer", 1,
      "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s pool_strings weights",
          tf_idf), .strings = STRINGS_READ },
    { ONNX_ROW("Unique", 1, "axis sorted", unique), .open.keeps = KEEPS_ALL },
    { 0 }
};
