/* SPDX-License-Identifier: MIT */
/* Translates operators that select elements by position: slices, spatial tiles, mirror padding. Constant operands
 * (sizes, begins, paddings) become attributes. */
#include "import/tflite/ops/tflite_decided.h"
#include "import/tflite/ops/tflite_rows.h"

enum {
    OPTIONS_SPACE_TO_DEPTH = 19,
    OPTIONS_GATHER = 23,
    OPTIONS_STRIDED_SLICE = 32,
    OPTIONS_SPLIT = 35,
    OPTIONS_CAST = 37,
    OPTIONS_SHAPE = 55,
    OPTIONS_PACK = 59,
    OPTIONS_UNPACK = 64,
    OPTIONS_MIRROR_PAD = 77,
    OPTIONS_SPLIT_V = 79,
    OPTIONS_DEPTH_TO_SPACE = 94
};

static int shape_of(const Tensor *x, int64_t *shape)
{
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    return x->rank;
}

static Tensor *transposed(TfliteCall *c, Tensor *x, const int64_t *perm)
{
    return x ? tflite_call(c, "transpose", x, attr_ints("perm", perm, x->rank)) : NULL;
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

static void split_at(TfliteCall *c, Tensor *x, int axis, const int64_t *sizes, int count)
{
    int64_t at = 0;
    for (int i = 0; i < count && i < TFLITE_OUTPUTS && !ctx_failed(c->cx); at += sizes[i++]) {
        if (sizes[i] < 1)
            tflite_unsupported(c, "part %d has %lld elements; use at least one element", i, (long long)sizes[i]);
        else c->out[i] = tflite_part(c, x, axis, at, at + sizes[i]);
    }
    if (!ctx_failed(c->cx) && at != tensor_dim(x, axis))
        tflite_refuse(c, "the parts have %lld elements; use parts with the %lld elements of the axis", (long long)at,
                      (long long)tensor_dim(x, axis));
}

static void split(TfliteCall *c)
{
    int64_t axis, sizes[TFLITE_OUTPUTS];
    int count = c->op->out_count;
    if (!tflite_needs(c, 2) || !tflite_list(c, 0, &axis, 1)) return;
    int d = tflite_axis(c, axis, c->in[1]->rank);
    if (d < 0) return;
    if (count < 1 || count > TFLITE_OUTPUTS) tflite_unsupported(c, "%d parts", count);
    for (int i = 0; i < count && i < TFLITE_OUTPUTS; i++) sizes[i] = tensor_dim(c->in[1], d) / count;
    if (!ctx_failed(c->cx)) split_at(c, c->in[1], d, sizes, count);
}

static void split_v(TfliteCall *c)
{
    int64_t axis, sizes[TFLITE_OUTPUTS], known = 0;
    if (!tflite_needs(c, 3) || !tflite_list(c, 2, &axis, 1)) return;
    int d = tflite_axis(c, axis, c->in[0]->rank), count = tflite_ints(c, 1, sizes, TFLITE_OUTPUTS);
    if (d < 0 || count < 0) return;
    if (count != c->op->out_count)
        tflite_refuse(c, "%d sizes are given; use %d sizes, one for each output", count, c->op->out_count);
    for (int i = 0; i < count; i++) known += sizes[i] < 0 ? 0 : sizes[i];
    for (int i = 0; i < count; i++)
        if (sizes[i] < 0) sizes[i] = tensor_dim(c->in[0], d) - known;
    if (!ctx_failed(c->cx)) split_at(c, c->in[0], d, sizes, count);
}

/* The begins or ends of slices. Entries that the run decides have no value in `value`. */
typedef struct Entries { int count; int64_t value[2 * MAX_RANK]; bool is_known[2 * MAX_RANK]; } Entries;

/* Returns the PACK before c->op that computes tensor `at`, or NULL if a different operator computes it. */
static const TfliteOperator *packing(const TfliteCall *c, int at)
{
    enum { PACK = 83 };
    const TfliteOperator *op = c->file->operator, *last = NULL;
    for (int i = 0; i < c->file->operator_count && &op[i] != c->op; i++)
        if (op[i].out_count == 1 && op[i].out[0] == at) last = &op[i];
    return last && last->code == PACK ? last : NULL;
}

/* Reads the numbers of input i. Some numbers of a computed row may be constants: x[t, 0:2] begins at PACK(t, 0). */
static bool read_entries(TfliteCall *c, int i, Entries *out)
{
    const Tensor *t = c->in[i];
    const bool is_row = t->rank == 1 && (t->type == I32 || t->type == I64) && tensor_dim(t, 0) <= 2 * MAX_RANK;
    const bool is_constant = tensor_is_constant(t) || !is_row;                  /* or refused */
    out->count = is_constant ? tflite_ints(c, i, out->value, 2 * MAX_RANK) : (int)tensor_dim(t, 0);
    const TfliteOperator *pack = is_constant ? NULL : packing(c, c->op->in[i]);
    for (int k = 0; k < out->count; k++) {
        const int part = pack && k < pack->in_count ? pack->in[k] : -1;
        const TfliteTensor *number = part < 0 ? NULL : &c->file->tensor[part];
        const bool is_number = number && number->type == TFLITE_INT32 && number->data.count == 4;
        out->is_known[k] = is_constant || is_number;
        if (!is_constant) out->value[k] = is_number ? dtype_load(I32, number->data.at, 0).i : 0;
    }
    return out->count >= 0;
}

/* Returns y[i] = x[begin + i] for i in [0, size), along dimension d. The reference fails if this is outside x; here the
 * begin is clamped. */
static Tensor *window_at(TfliteCall *c, Tensor *x, Tensor *begin, int d, int64_t size)
{
    Tensor *at = tflite_call(c, "clip", tflite_part(c, begin, 0, d, d + 1), attr_real("min", 0),
                             attr_real("max", (double)(tensor_dim(x, d) - size)));
    if (size > 1) at = tflite_call2(c, "add", at, tflite_ramp(c, begin->type, size, 0, 1));
    return tflite_call2(c, "gather", x, at, attr_int("axis", d));
}

static void slice(TfliteCall *c)
{
    int64_t end[MAX_RANK];
    /* true if the run decides the number of elements of the dimension */
    bool is_span[MAX_RANK] = { false };
    Entries begin, size;
    if (!tflite_needs(c, 3)) return;
    Tensor *x = c->in[0];
    if (!read_entries(c, 1, &begin) || !read_entries(c, 2, &size)) return;
    if (begin.count != x->rank || size.count != x->rank) {
        const int i = begin.count != x->rank ? 1 : 2;
        tflite_refuse(c, "input %d holds %d integers; use %d integers", i, i == 1 ? begin.count : size.count, x->rank);
        return;
    }
    for (int d = 0; d < x->rank; d++) {
        const int64_t most = tensor_dim(x, d);
        end[d] = size.value[d] < 0 ? most : begin.value[d] + size.value[d];
        is_span[d] = !size.is_known[d] || (!begin.is_known[d] && size.value[d] < 0);
        if (is_span[d]) begin.value[d] = 0, end[d] = most;
        if (begin.value[d] < 0 || end[d] <= begin.value[d] || end[d] > most)
            tflite_refuse(c, "the slice is %lld to %lld; use elements within 0 to %lld, at least one",
                          (long long)begin.value[d], (long long)end[d], (long long)most);
        if (!begin.is_known[d]) end[d] = most;
    }
    if (ctx_failed(c->cx)) return;
    Tensor *y = x->rank ? tflite_call(c, "slice", x, attr_ints("begin", begin.value, x->rank),
                                      attr_ints("end", end, x->rank))
                        : x;
    for (int d = 0; d < x->rank && !ctx_failed(c->cx); d++) {
        if (is_span[d]) y = tflite_span_of(c, y, d, c->in[1], c->in[2]);
        else if (!begin.is_known[d] && size.value[d] < end[d]) y = window_at(c, y, c->in[1], d, size.value[d]);
    }
    c->out[0] = y;
}

/* The slice of one dimension, after the masks: ignored begins and ends, dropped dimensions. The run may decide the
 * index of a dimension that is dropped and, with a step of 1, the begin and the end. */
typedef struct Strides { int64_t begin, end, step; bool drops, is_at_run, is_span; } Strides;

/* Returns true if the mask of begins (or ends) does not ignore entry i. */
static bool has_entry(TfliteCall *c, int mask, int i) { return !(flat_int(&c->op->options, mask, 4, 0) >> i & 1); }

/* Reads entry i of the begins, ends and steps, for a dimension with `size` elements. */
static bool read_strides(TfliteCall *c, int i, int64_t size, const Entries *begin, const Entries *end,
                         const int64_t *step, Strides *s)
{
    enum { BEGIN, END, ELLIPSIS, NEW_AXIS, SHRINK, IS_OFFSET };
    int64_t b = begin->value[i], e = end->value[i], by = step[i];
    const bool has_begin = has_entry(c, BEGIN, i), has_end = has_entry(c, END, i);
    s->drops = flat_int(&c->op->options, SHRINK, 4, 0) >> i & 1;
    if (!tflite_holds(c, by != 0, "it has a step of 0; use a different step")
        || !tflite_holds(c, size >= 1, "dimension %d of the input has no elements; use at least one element", i))
        return false;
    s->is_at_run = s->drops && has_begin && !begin->is_known[i] && by > 0;
    s->is_span = by == 1 && !s->drops && !flat_int(&c->op->options, IS_OFFSET, 1, 0)
                 && ((has_begin && !begin->is_known[i]) || (has_end && !end->is_known[i]));
    /* keeps all elements; a later call selects one element or a span */
    if (s->is_at_run || s->is_span) return true;
    if ((has_begin && !begin->is_known[i]) || (has_end && !end->is_known[i] && !s->drops)) {
        tflite_unsupported(c, "the run decides the begin or the end of entry %d, whose step is %lld; use constants, a "
                           "step of 1 without 'offset', or a single index (shrink_axis_mask) with a positive step", i,
                           (long long)by);
        return false;
    }
    int64_t first = by > 0 ? 0 : -1, last = by > 0 ? size : size - 1;
    b = !has_begin ? (by > 0 ? 0 : size - 1) : b < 0 ? b + size : b;
    if (flat_int(&c->op->options, IS_OFFSET, 1, 0)) e = b + e;
    else e = e < 0 ? e + size : e;
    if (!has_end) e = by > 0 ? size : -1;
    b = b < first ? first : b > last ? last : b;
    e = e < first ? first : e > last ? last : e;
    if (s->drops) e = b + 1, by = 1;
    s->begin = b;
    s->end = e;
    s->step = by;
    if (by > 0 ? e > b : e < b) return true;
    tflite_unsupported(c, "it has a result without elements: %lld to %lld by %lld; use at least one element",
                       (long long)b, (long long)e, (long long)by);
    return false;
}

/* Returns the number of dimensions that the ellipsis at entry i spans: the `rest` minus those of later entries. */
static int spanned(int64_t new_axes, int i, int count, int rest)
{
    for (int k = i + 1; k < count; k++) rest -= !(new_axes >> k & 1);
    return rest > 0 ? rest : 0;
}

/* Returns x[at[entry[d]]] along each dimension d that has an entry. The gather counts negative indices from the end,
 * and then clamps indices that are outside, as the reference does below the first element; behind the last element, the
 * reference reads past x. */
static Tensor *taken_at(TfliteCall *c, Tensor *x, Tensor *at, const int *entry, int rank)
{
    for (int d = rank - 1; d >= 0 && !ctx_failed(c->cx); d--)
        if (entry[d] >= 0) {
            Tensor *index = tflite_reshape(c, tflite_part(c, at, 0, entry[d], entry[d] + 1), NULL, 0);
            x = tflite_call2(c, "gather", x, index, attr_int("axis", d));
        }
    return x;
}

/* Translates STRIDED_SLICE: slices one dimension of x after the other. An ellipsis keeps the dimensions that it spans;
 * a new axis has no dimension of x. */
static void strided_slice(TfliteCall *c)
{
    enum { BEGIN, END, ELLIPSIS, NEW_AXIS };
    int64_t step[2 * MAX_RANK], shape[3 * MAX_RANK], first[MAX_RANK], last[MAX_RANK], by[MAX_RANK];
    /* the entry of an index or span that the run decides, or -1 if there is none */
    int entry[MAX_RANK], span[MAX_RANK];
    int place[MAX_RANK];                                 /* the index of the dimension in the result */
    Entries begin, end;
    if (!tflite_needs(c, 4)) return;
    Tensor *x = c->in[0];
    const int64_t new_axes = flat_int(&c->op->options, NEW_AXIS, 4, 0),
                  ellipsis = flat_int(&c->op->options, ELLIPSIS, 4, 0);
    if (!read_entries(c, 1, &begin) || !read_entries(c, 2, &end)) return;
    const int count = begin.count;
    int kept = 0, d = 0;
    bool is_whole = true;
    if (end.count != count) tflite_refuse(c, "input 2 holds %d integers; use %d integers", end.count, count);
    if (ctx_failed(c->cx) || !tflite_list(c, 3, step, count)) return;
    for (int i = 0; i < count || d < x->rank; i++) {
        const bool is_ellipsis = i >= count || (ellipsis >> i & 1);
        if (!is_ellipsis && new_axes >> i & 1) {
            shape[kept++] = 1;
            is_whole = false;
            continue;
        }
        int many = i >= count ? x->rank - d : is_ellipsis ? spanned(new_axes, i, count, x->rank - d) : 1;
        if (d + many > x->rank) {
            tflite_refuse(c, "there are %d begins for %s; use at most one begin per dimension", count,
                          tensor_shape_text(c->cx, x));
            return;
        }
        for (; many > 0; many--, d++) {
            Strides s = { 0, tensor_dim(x, d), 1, false, false, false };
            if (!is_ellipsis && !read_strides(c, i, tensor_dim(x, d), &begin, &end, step, &s)) return;
            entry[d] = s.is_at_run ? i : -1;
            span[d] = s.is_span ? i : -1;
            place[d] = kept;
            /* an end before the first element; -1 would mean the last one */
            first[d] = s.begin, last[d] = s.end < 0 ? -tensor_dim(x, d) - 1 : s.end, by[d] = s.step;
            is_whole = is_whole && (!s.drops || s.is_at_run);
            if (!s.drops)
                shape[kept++] = s.is_span ? -1 : s.step > 0 ? (s.end - s.begin + s.step - 1) / s.step
                                           : (s.begin - s.end - s.step - 1) / -s.step;
        }
    }
    if (kept > MAX_RANK) {
        tflite_unsupported(c, "it has a result of %d dimensions; use at most %d dimensions", kept, MAX_RANK);
        return;
    }
    Tensor *y = x->rank ? tflite_call(c, "slice", x, attr_ints("begin", first, x->rank),
                                      attr_ints("end", last, x->rank), attr_ints("step", by, x->rank))
                        : x;
    for (int k = 0; k < x->rank && y; k++)
        if (span[k] >= 0)
            y = tflite_span_to(c, y, k, place[k], has_entry(c, BEGIN, span[k]) ? c->in[1] : NULL,
                               has_entry(c, END, span[k]) ? c->in[2] : NULL, span[k]);
    if (y) y = taken_at(c, y, c->in[1], entry, x->rank);
    c->out[0] = is_whole ? y : tflite_reshape(c, y, shape, kept);
}

static void pack(TfliteCall *c)
{
    enum { AXIS = 1 };
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, c->in_count) || c->in_count < 1 || !tflite_has_one_scale(c, c->in_count)) return;
    const Tensor *x = c->in[0];
    int axis = tflite_axis(c, flat_int(&c->op->options, AXIS, 4, 0), x->rank + 1);
    if (axis < 0) return;
    if (x->rank == MAX_RANK)
        tflite_unsupported(c, "it has a result of %d dimensions; use at most %d dimensions", MAX_RANK + 1, MAX_RANK);
    for (int d = 0; d < x->rank && d < MAX_RANK; d++)
        shape[d < axis ? d : d + 1 < MAX_RANK ? d + 1 : d] = tensor_dim(x, d);
    Tensor **part = NEW_ARRAY(c->cx->arena, Tensor *, c->in_count);
    if (ctx_failed(c->cx)) return;
    shape[axis] = 1;
    for (int i = 0; i < c->in_count; i++) part[i] = tflite_reshape(c, c->in[i], shape, x->rank + 1);
    if (!ctx_failed(c->cx))
        c->out[0] = c->in_count == 1 ? part[0] : call(c->cx, "concat", c->name, part, c->in_count,
                                                      ATTRS(attr_int("axis", axis)));
}

static void unpack(TfliteCall *c)
{
    enum { AXIS = 1 };
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 1)) return;
    Tensor *x = c->in[0];
    int axis = tflite_axis(c, flat_int(&c->op->options, AXIS, 4, 0), x->rank), rank = 0;
    if (axis < 0) return;
    if (tensor_dim(x, axis) != c->op->out_count || c->op->out_count > TFLITE_OUTPUTS)
        tflite_unsupported(c, "it has %d outputs of %lld elements; use one output per element, and at most %d",
                           c->op->out_count, (long long)tensor_dim(x, axis), TFLITE_OUTPUTS);
    for (int d = 0; d < x->rank; d++)
        if (d != axis) shape[rank++] = tensor_dim(x, d);
    for (int i = 0; i < c->op->out_count && !ctx_failed(c->cx); i++)
        c->out[i] = tflite_reshape(c, tflite_part(c, x, axis, i, i + 1), shape, rank);
}

/* ---- By indices -------------------------------------------------------------------------------------------------- */

/* Refuses constant indices outside the dimension; negative indices count from its end. Part k of a row of `parts`
 * indexes dimension `first` + k. */
static bool has_indices(TfliteCall *c, int first, int64_t parts)
{
    const Tensor *x = c->in[0], *at = c->in[1];
    if (!tensor_is_constant(at) || (at->type != I32 && at->type != I64)) return true;
    for (int64_t i = 0; i < tensor_elems(at) && !ctx_failed(c->cx); i++) {
        const int64_t index = dtype_load(at->type, at->data, i).i, size = tensor_dim(x, first + (int)(i % parts));
        if (size >= 0 && (index < -size || index >= size))
            tflite_refuse(c, "index %lld of \"%s\" is %lld, but dimension %d of \"%s\" has %lld elements; %s",
                          (long long)i, at->name, (long long)index, first + (int)(i % parts), x->name, (long long)size,
                          indices_accepted_text(c->cx, size));
    }
    return !ctx_failed(c->cx);
}

/* Moves dimension `from` of x to `to`; the other dimensions keep their order. */
static Tensor *with_axis_at(TfliteCall *c, Tensor *x, int from, int to)
{
    int64_t perm[MAX_RANK];
    int at = 0;
    if (!x || from == to) return x;
    for (int d = 0; d < x->rank; d++) {
        if (d == to) perm[d] = from;
        else perm[d] = at == from ? ++at : at, at++;
    }
    return transposed(c, x, perm);
}

/* Gathers in batches: y[b,i,k,j] = x[b,i,index[b,k],j]. */
static Tensor *gathered_in_batches(TfliteCall *c, int axis, int batch)
{
    int64_t rows[MAX_RANK], perm[MAX_RANK];
    Tensor *at = c->in[1], *x = with_axis_at(c, c->in[0], axis, batch);
    const int parts = at->rank - batch, between = axis - batch;
    for (int d = 0; d < at->rank; d++) rows[d] = tensor_dim(at, d);
    rows[at->rank] = 1;
    at = tflite_reshape(c, at, rows, at->rank + 1);
    if (!x || !at) return NULL;
    Tensor *y = tflite_call2(c, "gather_nd", x, at, attr_int("batch", batch));
    if (!between || !y) return y;
    /* from (b, parts, between, rest) to (b, between, parts, rest) */
    for (int d = 0; d < y->rank; d++) {
        const bool is_part = d >= batch + between && d < axis + parts;
        perm[d] = d < batch || d >= axis + parts ? d : is_part ? d - between : d + parts;
    }
    return transposed(c, y, perm);
}

static void gather(TfliteCall *c)
{
    enum { AXIS, BATCH };
    if (!tflite_needs(c, 2)) return;
    const int rank = c->in[1]->rank;
    int axis = tflite_axis(c, flat_int(&c->op->options, AXIS, 4, 0), c->in[0]->rank);
    int64_t batch = flat_int(&c->op->options, BATCH, 4, 0);
    if (batch < 0) batch += rank;
    if (rank == MAX_RANK)
        tflite_refuse(c, "the indices have %d dimensions; use at most %d dimensions", rank, MAX_RANK - 1);
    if (axis >= 0 && (batch < 0 || batch > axis || batch > rank))
        tflite_refuse(c, "it has %lld batch dimensions for axis %d and indices %s; use 0 to %d batch dimensions",
                      (long long)batch, axis, tensor_shape_text(c->cx, c->in[1]), axis < rank ? axis : rank);
    if (axis >= 0 && batch && !tensor_is_fixed(c->in[1]))
        tflite_unsupported(c, "it has %lld batch dimensions and indices of %s; use no batch dimensions, or fixed sizes",
                           (long long)batch, tensor_shape_text(c->cx, c->in[1]));
    if (axis < 0 || ctx_failed(c->cx) || !has_indices(c, axis, 1)) return;
    c->out[0] = batch ? gathered_in_batches(c, axis, (int)batch)
                      : call(c->cx, "gather", c->name, c->in, 2, ATTRS(attr_int("axis", axis)));
}

static void gather_nd(TfliteCall *c)
{
    if (!tflite_needs(c, 2)) return;
    const int64_t parts = c->in[1]->rank ? tensor_dim(c->in[1], c->in[1]->rank - 1) : 0;
    if (parts >= 1 && parts <= c->in[0]->rank && !has_indices(c, 0, parts)) return;
    c->out[0] = call(c->cx, "gather_nd", c->name, c->in, 2, NULL);
}

/* Translates mirror padding, without or with the edge element. Pairs of paddings become two lists: the paddings before
 * all dimensions, then the paddings after them. */
static void mirror_pad(TfliteCall *c)
{
    enum { REFLECT };
    int64_t pairs[2 * MAX_RANK], pads[2 * MAX_RANK];
    const char *mode = flat_int(&c->op->options, 0, 1, REFLECT) == REFLECT ? "reflect" : "symmetric";
    if (!tflite_needs(c, 2)) return;
    const int rank = c->in[0]->rank;
    if (!tflite_list(c, 1, pairs, 2 * rank)) return;
    for (int d = 0; d < rank; d++) {
        pads[d] = pairs[2 * d];
        pads[rank + d] = pairs[2 * d + 1];
        if (pads[d] < 0 || pads[rank + d] < 0)
            tflite_refuse(c, "it mirrors %lld elements before and %lld after; use 0 or more", (long long)pads[d],
                          (long long)pads[rank + d]);
    }
    if (!ctx_failed(c->cx)) c->out[0] = tflite_call(c, "pad", c->in[0], attr_ints("pad", pads, 2 * rank),
                                                    attr_word("mode", mode));
}

/* Returns x with `by` - 1 values after each element along axis d but the last. */
static Tensor *dilated(TfliteCall *c, Tensor *x, int d, int64_t by, double value)
{
    int64_t s[MAX_RANK], outer = 1, inner = 1;
    const int rank = (int)shape_of(x, s);
    if (by == 1 || s[d] == 1) return x;
    for (int i = 0; i < rank; i++) *(i < d ? &outer : &inner) *= i == d ? 1 : s[i];
    Tensor *y = tflite_reshape(c, x, (int64_t[]){ outer, s[d], 1, inner }, 4);
    y = tflite_call(c, "pad", y, attr_list("pad", 0, 0, 0, 0, 0, 0, by - 1, 0), attr_real("value", value));
    y = tflite_reshape(c, y, (int64_t[]){ outer, s[d] * by, inner }, 3);
    s[d] = (s[d] - 1) * by + 1;
    return y ? tflite_reshape(c, tflite_part(c, y, 1, 0, s[d]), s, rank) : NULL;
}

/* The inputs are x, a factor for each dimension, and the value between the elements. */
static void dilate(TfliteCall *c)
{
    enum { MOST = 1 << 12 };
    int64_t by[MAX_RANK];
    if (!tflite_needs(c, 3) || !tflite_list(c, 1, by, c->in[0]->rank)) return;
    const Tensor *value = c->in[2];
    if (!tensor_is_constant(value) || tensor_elems(value) != 1 || value->type != c->in[0]->type) {
        tflite_unsupported(c, "input 2 (\"%s\") is not a constant with the type of input 0; use one constant of this "
                              "type",
                           value->name);
        return;
    }
    const Scalar v = dtype_load(value->type, value->data, 0);
    Tensor *x = c->in[0];
    for (int d = 0; d < c->in[0]->rank && x; d++)
        if (by[d] < 1 || by[d] > MOST)
            tflite_refuse(c, "it has a factor of %lld; use a factor from 1 to %d", (long long)by[d], MOST);
        else x = dilated(c, x, d, by[d], dtype_is_float(value->type) ? v.f : (double)v.i);
    if (!ctx_failed(c->cx)) c->out[0] = x == c->in[0] ? tflite_call(c, "identity", x) : x;
}

/* ---- Spatial tiles ----------------------------------------------------------------------------------------------- */

static int64_t block_of(TfliteCall *c)
{
    int64_t b = flat_int(&c->op->options, 0, 4, 0);
    if (!tflite_needs(c, 1)) return 0;
    return tflite_holds(c, c->in[0]->rank == 4, "the input is %s; use four dimensions",
                        tensor_shape_text(c->cx, c->in[0]))
           && tflite_holds(c, b >= 1 && b <= 1 << 12, "it has blocks of %lld; use blocks of 1 to 4096", (long long)b)
           ? b : 0;
}

static void space_to_depth(TfliteCall *c)
{
    int64_t s[MAX_RANK], b = block_of(c);
    if (!b) return;
    shape_of(c->in[0], s);
    Tensor *y = tflite_reshape(c, c->in[0], (int64_t[]){ s[0], s[1] / b, b, s[2] / b, b, s[3] }, 6);
    c->out[0] = tflite_reshape(c, transposed(c, y, (const int64_t[]){ 0, 1, 3, 2, 4, 5 }),
                               (int64_t[]){ s[0], s[1] / b, s[2] / b, s[3] * b * b }, 4);
}

static void depth_to_space(TfliteCall *c)
{
    int64_t s[MAX_RANK], b = block_of(c);
    if (!b) return;
    shape_of(c->in[0], s);
    Tensor *y = tflite_reshape(c, c->in[0], (int64_t[]){ s[0], s[1], s[2], b, b, s[3] / (b * b) }, 6);
    c->out[0] = tflite_reshape(c, transposed(c, y, (const int64_t[]){ 0, 1, 3, 2, 4, 5 }),
                               (int64_t[]){ s[0], s[1] * b, s[2] * b, s[3] / (b * b) }, 4);
}

/* Reads the tile sizes (the format's blocks), and the pairs of paddings or crops, of the dimensions after the batch.
 * Returns the number of these dimensions, or 0 if they are refused. */
static int read_blocks(TfliteCall *c, int64_t *block, int64_t *pairs)
{
    int count = tflite_needs(c, 3) ? tflite_ints(c, 1, block, 2) : -1;
    if (count < 1) {
        if (count == 0) tflite_refuse(c, "it has no block sizes; use one or two block sizes");
        return 0;
    }
    if (c->in[0]->rank != count + 2)
        tflite_unsupported(c,
                           "it has %d block sizes for %s; use one block size for each dimension between the first and "
                           "the last",
                           count, tensor_shape_text(c->cx, c->in[0]));
    for (int i = 0; i < count; i++)
        if (block[i] < 1 || block[i] > 1 << 12)
            tflite_refuse(c, "it has a block of %lld; use a block of 1 to 4096", (long long)block[i]);
    return !ctx_failed(c->cx) && tflite_list(c, 2, pairs, 2 * count) ? count : 0;
}

static void space_to_batch(TfliteCall *c)
{
    int64_t block[2] = { 1, 1 }, pairs[2 * MAX_RANK], s[MAX_RANK], list[8] = { 0 };
    int m = read_blocks(c, block, pairs), rank = m + 2;
    if (!m || !tflite_has_one_scale(c, 1)) return;
    for (int i = 0; i < m; i++) list[1 + i] = pairs[2 * i], list[rank + 1 + i] = pairs[2 * i + 1];
    Tensor *x = tflite_call(c, "pad", c->in[0], attr_ints("pad", list, 2 * rank),
                            attr_real("value", tflite_is_int8(c) ? tflite_zero(tflite_out_info(c, 0)) : 0));
    if (!x) return;
    shape_of(x, s);
    if (m == 1) {
        Tensor *y = tflite_reshape(c, x, (int64_t[]){ s[0], s[1] / block[0], block[0], s[2] }, 4);
        c->out[0] = tflite_reshape(c, transposed(c, y, (const int64_t[]){ 2, 0, 1, 3 }),
                                   (int64_t[]){ s[0] * block[0], s[1] / block[0], s[2] }, 3);
        return;
    }
    Tensor *y = tflite_reshape(c, x, (int64_t[]){ s[0], s[1] / block[0], block[0], s[2] / block[1], block[1], s[3] },
                               6);
    c->out[0] = tflite_reshape(c, transposed(c, y, (const int64_t[]){ 2, 4, 0, 1, 3, 5 }),
                               (int64_t[]){ s[0] * block[0] * block[1], s[1] / block[0], s[2] / block[1], s[3] }, 4);
}

static void batch_to_space(TfliteCall *c)
{
    int64_t block[2] = { 1, 1 }, pairs[2 * MAX_RANK], s[MAX_RANK];
    int m = read_blocks(c, block, pairs);
    if (!m) return;
    shape_of(c->in[0], s);
    Tensor *y;
    if (m == 1) {
        y = tflite_reshape(c, c->in[0], (int64_t[]){ block[0], s[0] / block[0], s[1], s[2] }, 4);
        y = tflite_reshape(c, transposed(c, y, (const int64_t[]){ 1, 2, 0, 3 }),
                           (int64_t[]){ s[0] / block[0], s[1] * block[0], s[2] }, 3);
    } else {
        int64_t batch = s[0] / (block[0] * block[1]);
        y = tflite_reshape(c, c->in[0], (int64_t[]){ block[0], block[1], batch, s[1], s[2], s[3] }, 6);
        y = tflite_reshape(c, transposed(c, y, (const int64_t[]){ 2, 3, 0, 4, 1, 5 }),
                           (int64_t[]){ batch, s[1] * block[0], s[2] * block[1], s[3] }, 4);
    }
    for (int i = 0; i < m && y; i++)
        y = pairs[2 * i] || pairs[2 * i + 1]
                ? tflite_part(c, y, 1 + i, pairs[2 * i], tensor_dim(y, 1 + i) - pairs[2 * i + 1])
                : y;
    c->out[0] = y;
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

static void broadcast_to(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 2)) return;
    if (!tensor_is_constant(c->in[1])) {
        c->out[0] = tflite_broadcasted(c, c->in[0], c->in[1]);
        return;
    }
    const int rank = tflite_ints(c, 1, shape, MAX_RANK);
    if (rank >= 0) c->out[0] = tflite_call(c, "expand", c->in[0], attr_ints("shape", shape, rank));
}

static void fill(TfliteCall *c)
{
    int64_t shape[MAX_RANK];
    if (!tflite_needs(c, 2)) return;
    if (!tensor_is_constant(c->in[0])) {
        c->out[0] = tflite_filled(c, c->in[1], c->in[0]);
        return;
    }
    const int rank = tflite_ints(c, 0, shape, MAX_RANK);
    if (rank >= 0) c->out[0] = tflite_call(c, "expand", c->in[1], attr_ints("shape", shape, rank));
}

static void cast(TfliteCall *c)
{
    DType to;
    if (!tflite_needs(c, 1)) return;
    const TfliteTensor *y = tflite_out_info(c, 0);
    if (!tflite_dtype(y->type, &to))
        tflite_unsupported(c, "its output has elements of type %s; use %s", tflite_type_text(c->cx, y->type),
                           tflite_types_accepted(c->cx, NULL, NULL));
    else c->out[0] = tflite_call(c, "cast", c->in[0], attr_type("to", to));
}

static void shape(TfliteCall *c)
{
    int64_t s[MAX_RANK], rank;
    int32_t s32[MAX_RANK];
    if (!tflite_needs(c, 1)) return;
    const bool is_long = tflite_out_info(c, 0)->type == 4;
    if (!tensor_is_fixed(c->in[0])) {
        c->out[0] = tflite_sizes_of(c, c->in[0], is_long ? I64 : I32);
        return;
    }
    rank = shape_of(c->in[0], s);
    for (int d = 0; d < rank; d++) s32[d] = (int32_t)s[d];
    c->out[0] = tensor_constant(c->cx, c->name, is_long ? I64 : I32, 1, &rank, is_long ? (const void *)s : s32);
}

const TfliteRow tflite_rows_move[] = {
    { 5, "DEPTH_TO_SPACE", 2, OPTIONS_DEPTH_TO_SPACE, OF_MOVED, 1, NULL, depth_to_space, TFLITE_KEEPS_NONE },
    { 26, "SPACE_TO_DEPTH", 2, OPTIONS_SPACE_TO_DEPTH, OF_MOVED, 1, NULL, space_to_depth, TFLITE_KEEPS_NONE },
    { 36, "GATHER", 7, OPTIONS_GATHER, OF_MOVED, 1, NULL, gather, TFLITE_KEEPS_INDICES },
    { 37, "BATCH_TO_SPACE_ND", 4, 0, OF_MOVED, 1, NULL, batch_to_space, TFLITE_KEEPS_NONE },
    { 38, "SPACE_TO_BATCH_ND", 4, 0, OF_MOVED, 1, NULL, space_to_batch, TFLITE_KEEPS_NONE },
    { 45, "STRIDED_SLICE", 8, OPTIONS_STRIDED_SLICE, OF_MOVED, 1, NULL, strided_slice, TFLITE_KEEPS_NONE },
    { 49, "SPLIT", 4, OPTIONS_SPLIT, OF_I32, 1, NULL, split, TFLITE_KEEPS_NONE },
    { 53, "CAST", 6, 0, OF_ALL | OF_U32 | OF_U64, 1, NULL, cast, TFLITE_KEEPS_ALL },
    { 65, "SLICE", 6, 0, OF_MOVED, 1, NULL, slice, TFLITE_KEEPS_NONE },
    { 77, "SHAPE", 1, OPTIONS_SHAPE, OF_ALL, 1, NULL, shape, TFLITE_KEEPS_DECIDED },
    { 83, "PACK", 4, OPTIONS_PACK, OF_MOVED, 64, NULL, pack, TFLITE_KEEPS_NONE },
    { 88, "UNPACK", 4, OPTIONS_UNPACK, OF_MOVED, 1, NULL, unpack, TFLITE_KEEPS_NONE },
    { 94, "FILL", 4, 0, OF_WHOLE, 1, NULL, fill, TFLITE_KEEPS_NONE },
    { 100, "MIRROR_PAD", 3, OPTIONS_MIRROR_PAD, OF_MOVED, 1, NULL, mirror_pad, TFLITE_KEEPS_NONE },
    { 102, "SPLIT_V", 2, OPTIONS_SPLIT_V, OF_MOVED, 1, NULL, split_v, TFLITE_KEEPS_NONE },
    { 107, "GATHER_ND", 5, 0, OF_MOVED, 1, NULL, gather_nd, TFLITE_KEEPS_INDICES },
    { 130, "BROADCAST_TO", 3, 0, OF_MOVED, 1, NULL, broadcast_to, TFLITE_KEEPS_NONE },
    { 203, "DILATE", 1, 0, OF_ALL, 1, NULL, dilate, TFLITE_KEEPS_NONE },
    { 0 }
};
