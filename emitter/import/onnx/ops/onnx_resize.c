/* SPDX-License-Identifier: MIT */
/* Translates Resize, Upsample and grids. Along a fixed axis, source coordinates and weights are tables computed at
 * compile time: each axis in turn is gathered (nearest) or resampled (linear, cubic). */
#include <string.h>

#include "import/onnx/graph/onnx_graph.h"
#include "import/onnx/graph/onnx_listed.h"
#include "import/onnx/ops/onnx_rows.h"
#include "support/text.h"

enum { MOST_TABLE = 1 << 20 };

/* These return floor and ceil. Coordinates beyond 2^50 pixels, which only odd regions and scales give, become 2^50. */
static int64_t floor_of(double v)
{
    const double most = 1125899906842624.0;
    const int64_t i = (int64_t)(v > most ? most : v >= -most ? v : -most);
    return (double)i > v && v >= -most ? i - 1 : i;
}
static int64_t ceil_of(double v) { return -floor_of(-v); }
static double size_of(double v) { return v < 0 ? -v : v; }

typedef struct OnnxResize {
    const char *mode, *coordinates;
    const char *nearest;             /* or NULL in operator sets below 11 */
    double cubic, extrapolated;
    bool antialias, excludes_outside, crops;
} OnnxResize;

/* An axis. start, end: the bounds of the region of interest. If a size is open, `requested` is the result's size, or
 * NULL if the scale determines it. */
typedef struct SampleLine {
    int64_t in, out;
    double scale, start, end;
    const Expr *requested;
    bool is_open;
} SampleLine;

/* Returns the length of the region. The ends and their distance are f32: 1.2f - 0.2f is 1. */
static double length_of(const SampleLine *l) { return (double)(float)(l->end - l->start); }

/* Returns size * scale. A scale that is a rounded quotient of sizes gives only nearly a size, so the result is then the
 * size. */
static double real_length(const SampleLine *l)
{
    const double real = l->scale * (double)l->in, whole = (double)l->out;
    return size_of(real - whole) < 1e-5 * real ? whole : real;
}

/* Returns the coordinate in the source of element i. Computes x / scale as x * in / out: the quotient is rounded once,
 * so whole coordinates and halves are exact. */
static double source_coordinate(const OnnxResize *r, const SampleLine *l, int64_t i)
{
    double x = (double)i, in = (double)l->in, out = real_length(l);
    if (strcmp(r->coordinates, "asymmetric") == 0) return x * in / out;
    if (strcmp(r->coordinates, "tf_half_pixel_for_nn") == 0) return (x + 0.5) * in / out;
    if (strcmp(r->coordinates, "align_corners") == 0) return out == 1 ? 0 : x * (in - 1) / (out - 1);
    if (strcmp(r->coordinates, "pytorch_half_pixel") == 0 && l->out == 1) return -0.5 + 0.5;
    if (r->crops)
        return l->out > 1 ? (double)(float)(l->start * (in - 1)) + x * length_of(l) * (in - 1) / (out - 1)
                          : 0.5 * (l->start + l->end) * (in - 1);
    double centred = strcmp(r->coordinates, "half_pixel_symmetric") == 0 ? in / 2 * (1 - (double)l->out / out) : 0;
    return centred + (x + 0.5) * in / out - 0.5;
}

/* Returns the mode of rounding. Below operator set 11, an axis that shrinks uses the next element, and any other axis
 * the previous element. */
static const char *nearest_mode(const OnnxResize *r, const SampleLine *l)
{
    return r->nearest ? r->nearest : l->scale < 1 ? "ceil" : "floor";
}

static int64_t nearest_of(const char *mode, double v)
{
    if (strcmp(mode, "floor") == 0) return floor_of(v);
    if (strcmp(mode, "ceil") == 0) return ceil_of(v);
    return strcmp(mode, "round_prefer_ceil") == 0 ? floor_of(v + 0.5) : ceil_of(v - 0.5);
}

static double kernel_at(const OnnxResize *r, double distance)
{
    double d = size_of(distance), a = r->cubic;
    if (strcmp(r->mode, "linear") == 0) return d < 1 ? 1 - d : 0;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static int64_t clamped(int64_t i, int64_t size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

static Tensor *gather_axis(OnnxCall *c, const OnnxResize *r, const SampleLine *l, Tensor *x, int axis)
{
    int32_t *index = NEW_ARRAY(c->cx->arena, int32_t, l->out);
    for (int64_t i = 0; i < l->out; i++)
        index[i] = (int32_t)clamped(nearest_of(nearest_mode(r, l), source_coordinate(r, l, i)), l->in);
    Tensor *table = tensor_constant(c->cx, c->name, I32, 1, &l->out, index);
    return x && table ? call(c->cx, "gather", c->name, (Tensor *[]){ x, table }, 2,
                             ATTRS(attr_int("axis", axis))) : NULL;
}

/* Stores the weights of the taps around coordinate v, normalized to sum 1. */
static void store_weights(const OnnxResize *r, const SampleLine *l, double v, double shrink, int64_t first,
                          int64_t taps, int32_t *index, DType type, void *weights, int64_t row)
{
    int64_t base = floor_of(v);
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t t = 0; t < taps; t++) {
            int64_t at = base + first + t;
            double w = r->excludes_outside && (at < 0 || at >= l->in) ? 0 : kernel_at(r, shrink * ((double)at - v));
            if (pass == 0) sum += w;
            else
                dtype_store(type, weights, row * taps + t,
                            dtype_wrap(type, (Scalar){ .f = sum != 0 ? w / sum : 0 }));
            index[row * taps + t] = (int32_t)clamped(at, l->in);
        }
}

static Tensor *resample_axis(OnnxCall *c, const OnnxResize *r, const SampleLine *l, Tensor *x, int axis)
{
    double shrink = r->antialias && l->scale < 1 ? l->scale : 1, reach = strcmp(r->mode, "linear") == 0 ? 1 : 2;
    int64_t first = floor_of(-reach / shrink) + 1, taps = 2 - 2 * first;
    if (taps > MOST_TABLE / l->out) {
        onnx_unsupported(c, "the result has %lld elements along an axis, each with %lld weights; use at most %d "
                         "weights in total", (long long)l->out, (long long)taps, MOST_TABLE);
        return NULL;
    }
    int32_t *index = NEW_ARRAY(c->cx->arena, int32_t, l->out * taps);
    void *data;
    Tensor *weights = tensor_zeros(c->cx, c->name, x->type, 2, (int64_t[]){ l->out, taps }, &data);
    for (int64_t i = 0; weights && i < l->out; i++)
        store_weights(r, l, source_coordinate(r, l, i), shrink, first, taps, index, x->type, data, i);
    Tensor *table = tensor_constant(c->cx, c->name, I32, 2, (int64_t[]){ l->out, taps }, index);
    return table && weights ? call(c->cx, "resample", c->name, (Tensor *[]){ x, table, weights }, 3,
                                   ATTRS(attr_int("axis", axis)))
                            : NULL;
}

/* Returns a mask along the axis that is true for source coordinates outside the input. */
static Tensor *outside_along(OnnxCall *c, const OnnxResize *r, const SampleLine *l, int trailing)
{
    uint8_t *is_outside = NEW_ARRAY(c->cx->arena, uint8_t, l->out);
    for (int64_t i = 0; i < l->out; i++) {
        double v = source_coordinate(r, l, i);
        is_outside[i] = v < 0 || v > (double)l->in - 1;
    }
    return onnx_append_ones(c, tensor_constant(c->cx, c->name, BOOL, 1, &l->out, is_outside), trailing);
}

/* ---- Open sizes -------------------------------------------------------------------------------------------------- */

/* Finds the scale as a quotient of small integers, times / per. */
static bool quotient_of(double scale, int64_t *times, int64_t *per)
{
    for (*per = 1; *per <= 1024; ++*per) {
        *times = floor_of(scale * (double)*per + 0.5);
        if (*times >= 1 && *times <= MOST_TABLE && size_of(scale - (double)*times / (double)*per) <= 1e-7 * scale)
            return true;
    }
    return false;
}

/* Returns true if the mode is available at run time. */
static bool has_open_form(const OnnxResize *r)
{
    return !r->antialias && !r->excludes_outside && !r->crops && strcmp(r->coordinates, "half_pixel_symmetric") != 0;
}

/* Resizes with the operator that computes coordinates at run time. */
static Tensor *interpolate_axis(OnnxCall *c, const OnnxResize *r, const SampleLine *l, Tensor *x, int axis)
{
    int64_t times = 1, per = 1;
    if (!has_open_form(r) || (!l->requested && !quotient_of(l->scale, &times, &per))) {
        onnx_unsupported(c,
                         "dimension %d of %s is open: use scales that are quotients of small numbers, without "
                         "antialias, exclude_outside, tf_crop_and_resize and half_pixel_symmetric",
                         axis, tensor_shape_text(c->cx, x));
        return NULL;
    }
    const Tensor *like = l->requested ? tensor_new(c->cx, c->name, x->type, 1, &l->requested) : NULL;
    if (like) x = onnx_indexed(c, onnx_after(c, x, &l->requested, 1), axis, &l->requested, 1);
    return onnx_call(c, "interpolate", x, attr_int("axis", axis), attr_word("mode", r->mode),
                     attr_word("coordinates", r->coordinates), attr_word("nearest", nearest_mode(r, l)),
                     attr_int("times", times), attr_int("per", per), attr_real("cubic", r->cubic),
                     attr_if(like, attr_tensor("like", like)));
}

/* Converts the result to the type; integers are rounded, as in ONNX's reference. Operator sets below 11 are refused,
 * because ONNX Runtime drops fractions in them. */
static Tensor *in_type(OnnxCall *c, const OnnxResize *r, Tensor *y, DType t)
{
    if (dtype_is_float(t)) return y;
    return onnx_cast(c, r->nearest ? onnx_call(c, "nearbyint", y) : y, t);
}

static Tensor *resize_axes(OnnxCall *c, const OnnxResize *r, const SampleLine *line, Tensor *x)
{
    Tensor *outside = NULL, *y = x;
    int rank = x->rank;
    bool is_nearest = strcmp(r->mode, "nearest") == 0;
    DType t = x->type;
    if (!is_nearest && !dtype_is_float(t)) y = onnx_cast(c, x, F32);
    for (int d = 0; d < rank && y; d++) {
        if (line[d].is_open) {
            y = interpolate_axis(c, r, &line[d], y, d);
            continue;
        }
        if (line[d].in == line[d].out && line[d].scale == 1 && !(r->crops && (line[d].start != 0 || line[d].end != 1)))
            continue;
        y = is_nearest || line[d].in == 1 ? gather_axis(c, r, &line[d], y, d) : resample_axis(c, r, &line[d], y, d);
        if (!r->crops) continue;
        Tensor *here = outside_along(c, r, &line[d], rank - 1 - d);
        outside = outside ? onnx_call2(c, "or", outside, here) : here;
    }
    if (outside && y) y = onnx_select(c, outside, onnx_scalar_like(c, y, r->extrapolated), y);
    return is_nearest ? y : in_type(c, r, y, t);
}

/* ---- Attributes and operands ------------------------------------------------------------------------------------- */

/* Reads the numbers of a constant input. Returns the number of values, 0 if the input is absent or empty, or -1 if the
 * input is refused. */
static int reals_of(OnnxCall *c, int index, double *out, int most)
{
    const Tensor *t = onnx_in(c, index);
    int64_t count = t ? tensor_elems(t) : 0;
    if (count == 0) return 0;
    if (!tensor_is_constant(t) || t->rank > 1 || count > most) {
        onnx_unsupported(c, "input %d (\"%s\") is %s; use a list of at most %d numbers that are known at compile time",
                         index, t->name, onnx_found_text(c->cx, t), most);
        return -1;
    }
    for (int64_t i = 0; i < count; i++) {
        Scalar s = dtype_load(t->type, t->data, i);
        out[i] = dtype_is_float(t->type) ? s.f : (double)s.i;
    }
    return (int)count;
}

static bool check_modes(OnnxCall *c, const OnnxResize *r)
{
    static const char *const modes[] = { "nearest", "linear", "cubic", NULL };
    static const char *const coordinates[] = { "half_pixel",         "half_pixel_symmetric",
                                               "pytorch_half_pixel", "align_corners",
                                               "asymmetric",         "tf_half_pixel_for_nn",
                                               "tf_crop_and_resize", NULL };
    static const char *const nearests[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL };
    const struct {
        const char *attr, *word;
        const char *const *accepted;
    } words[] = { { "mode", r->mode, modes },
                  { "coordinate_transformation_mode", r->coordinates, coordinates },
                  { "nearest_mode", r->nearest, nearests } };
    for (size_t i = 0; i < 3; i++) {
        const char *const *k = words[i].accepted;
        if (!words[i].word) continue;
        while (*k && strcmp(*k, words[i].word) != 0) k++;
        if (*k) continue;
        Text list = text_new(c->cx);
        for (k = words[i].accepted; *k; k++) text_printf(&list, "%s%s", k == words[i].accepted ? "" : ", ", *k);
        onnx_refuse(c, "'%s' is \"%s\"; use one of %s", words[i].attr, words[i].word, text_string(&list));
        return false;
    }
    return true;
}

/* Handles an axis with an open size that changes; returns false if both sizes are fixed. */
static bool resolve_open(OnnxCall *c, const double *scale, const Expr *requested, int axis, SampleLine *l)
{
    const Expr *own = c->in[0]->shape[axis];
    if (own->kind == EXPR_INT && (scale || requested->kind == EXPR_INT)) return false;
    l->is_open = scale ? *scale != 1 : requested != own;
    l->requested = scale ? NULL : requested;
    l->out = l->in;
    if (scale) l->scale = *scale;
    if (strcmp(onnx_text(c, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
        onnx_unsupported(c, "'keep_aspect_ratio_policy' is not \"stretch\" and a dimension is open; use \"stretch\"");
    return true;
}

/* Returns the size computed from a scale: the floor of the real product, as in ONNX's shape inference. ONNX Runtime
 * multiplies in f32, which may reach the next integer (5 * 2.8f: 13.9999998, or 14). If the file declares the size that
 * ONNX Runtime computes, returns that size. */
static double scaled_size(const OnnxCall *c, int64_t in, double scale, int axis)
{
    int64_t declared[MAX_RANK];
    const double real = (double)in * scale, single = (double)((float)in * (float)scale);
    const bool is_declared = onnx_declared(c, 0, declared) > axis && declared[axis] == floor_of(single);
    return is_declared && size_of(single - real) < 1e-5 * single ? single : real;
}

/* Computes output sizes from scales, or scales from sizes; the policy may impose one scale on all axes. requested: the
 * sizes, some of which may be open. */
static bool resolve_sizes(OnnxCall *c, const double *scales, const double *sizes, const Expr *const *requested,
                          int count, const int64_t *axes, SampleLine *line)
{
    const char *policy = onnx_text(c, "keep_aspect_ratio_policy", "stretch");
    double all = 0;
    for (int i = 0; sizes && i < count; i++) {
        double s = sizes[i] / (double)line[axes[i]].in;
        if (i == 0 || (strcmp(policy, "not_larger") == 0 ? s < all : s > all)) all = s;
    }
    for (int i = 0; i < count; i++) {
        SampleLine *l = &line[axes[i]];
        if (resolve_open(c, scales ? &scales[i] : NULL, requested[i], (int)axes[i], l)) continue;
        bool is_kept = sizes && strcmp(policy, "stretch") != 0;
        l->scale = scales ? scales[i] : is_kept ? all : sizes[i] / (double)l->in;
        double out = scales ? scaled_size(c, l->in, scales[i], (int)axes[i]) : is_kept ?
            (double)floor_of(all * (double)l->in + 0.5) : sizes[i];
        if (!(out >= 1 && out <= MOST_TABLE)) {
            onnx_refuse(c, "axis %d of %lld elements, resized by %g: use 1 to %d elements", (int)axes[i],
                        (long long)l->in, l->scale, MOST_TABLE);
            return false;
        }
        l->out = floor_of(out);
    }
    return true;
}

/* Notes a fraction of size * scale that ONNX Runtime and PyTorch drop; with align_corners the positions depend on
 * it. */
static void note_fraction(OnnxCall *c, const OnnxResize *r, const SampleLine *l, int axis)
{
    const double real = real_length(l);
    if (strcmp(r->coordinates, "align_corners") != 0 || l->is_open || real == (double)l->out) return;
    diag_listed(c->cx, NOTE, onnx_where(c->cx, c->node),
                "positions along axis %d follow from %lld * %g = %g elements, as in ONNX's reference; ONNX Runtime and "
                "PyTorch take %lld (docs/why-my-number-differs.md)", axis, (long long)l->in, l->scale, real,
                (long long)l->out);
}

static void resize_by(OnnxCall *c, const OnnxResize *r, const double *scales, const Expr *const *requested, int count,
                const int64_t *axes, const double *region)
{
    SampleLine line[MAX_RANK];
    Tensor *x = c->in[0];
    double sizes[MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        int64_t size = tensor_dim(x, d);
        if (size == 0)
            onnx_refuse(c, "the input is %s; use dimensions of at least 1", tensor_shape_text(c->cx, x));
        line[d] = (SampleLine){ .in = size, .out = size, .scale = 1, .end = 1 };
    }
    for (int i = 0; i < count && !scales; i++)
        sizes[i] = requested[i]->kind == EXPR_INT ? (double)requested[i]->integer : -1;
    for (int i = 0; region && i < count; i++) line[axes[i]].start = region[i], line[axes[i]].end = region[count + i];
    if (ctx_failed(c->cx) || !check_modes(c, r)
        || !resolve_sizes(c, scales, scales ? NULL : sizes, requested, count, axes, line))
        return;
    for (int i = 0; i < count && scales; i++) note_fraction(c, r, &line[axes[i]], (int)axes[i]);
    c->out[0] = resize_axes(c, r, line, x);
}

/* Returns the sizes of the result along the axes: sizes known at compile time or, in modes that support it, sizes that
 * the run computes. */
static int read_sizes(OnnxCall *c, const OnnxResize *r, const int64_t *axes, int count, const Expr **requested)
{
    if (!has_open_form(r) || !onnx_is_of_run(c, 3)) return onnx_sizes(c, 3, requested, MAX_RANK);
    const int given = tensor_elems(c->in[3]) == count ? count : 0;
    for (int i = 0; i < given && !ctx_failed(c->cx); i++)
        requested[i] = onnx_listed_size(c, 0, (int)axes[i], onnx_element(c, c->in[3], i), -1);
    return given;
}

/* Resizes by scales that the run computes. Returns false if the scales are constant or absent, or if the mode requires
 * constants. */
static bool resize_by_run(OnnxCall *c, const OnnxResize *r, int input, const int64_t *axes, int count)
{
    Tensor *scales = onnx_in(c, input);
    const OnnxSampling form = { r->mode, r->coordinates, r->nearest, r->cubic };
    if (!scales || tensor_is_constant(scales) || !has_open_form(r)) return false;
    if (tensor_elems(scales) != count || scales->rank > 1 || !dtype_is_float(scales->type))
        onnx_refuse(c, "the scales are %s%s for %d axes; use one float per axis", dtype_info(scales->type)->spelling,
                    tensor_shape_text(c->cx, scales), count);
    else if (check_modes(c, r)) c->out[0] = onnx_resize_by_scales(c, &form, scales, axes, count);
    return true;
}

static void resize(OnnxCall *c)
{
    double region[2 * MAX_RANK], scales[MAX_RANK];
    const Expr *requested[MAX_RANK] = { NULL };
    int64_t axes[MAX_RANK];
    if (!onnx_requires(c, 1)) return;
    bool is_old = c->opset < 11;
    OnnxResize r = { onnx_text(c, "mode", "nearest"),
                     onnx_text(c, "coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel"),
                     is_old ? NULL : onnx_text(c, "nearest_mode", "round_prefer_floor"),
                     onnx_real(c, "cubic_coeff_a", -0.75),
                     onnx_real(c, "extrapolation_value", 0),
                     onnx_int(c, "antialias", 0) != 0,
                     onnx_int(c, "exclude_outside", 0) != 0,
                     false };
    r.crops = strcmp(r.coordinates, "tf_crop_and_resize") == 0;
    int rank = c->in[0]->rank, listed = onnx_ints(c, "axes", -1, axes, MAX_RANK), count = listed >= 0 ? listed : rank;
    for (int i = 0; i < count; i++) axes[i] = listed >= 0 ? onnx_axis(c, axes[i], rank) : i;
    if (resize_by_run(c, &r, is_old ? 1 : 2, axes, count)) return;
    int regions = is_old ? 0 : reals_of(c, 1, region, 2 * MAX_RANK),
        scale_count = reals_of(c, is_old ? 1 : 2, scales, MAX_RANK);
    int size_count = is_old || !onnx_in(c, 3) ? 0 : read_sizes(c, &r, axes, count, requested);
    if (ctx_failed(c->cx) || regions < 0 || scale_count < 0 || size_count < 0) return;
    if (scale_count != count && size_count != count)
        onnx_refuse(c, "there are %d scales and %d sizes for %d axes; use one scale or one size per axis", scale_count,
                    size_count, count);
    else if (r.crops && regions != 2 * count)
        onnx_refuse(c, "the region has %d ends for %d axes; use two ends per axis", regions, count);
    else resize_by(c, &r, scale_count ? scales : NULL, requested, count, axes, r.crops ? region : NULL);
}

static void upsample(OnnxCall *c)
{
    double scales[MAX_RANK] = { 1, 1, 1, 1 };
    int64_t axes[MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const char *mode = onnx_text(c, "mode", "nearest");
    if (!onnx_requires(c, 1)) return;
    OnnxResize r = {
        strcmp(mode, "bilinear") == 0 ? "linear" : mode, "asymmetric", NULL, -0.75, 0, false, false, false
    };
    const OnnxAttr *a = onnx_attr(c, "scales");
    int count = c->in[0]->rank;
    if (c->opset >= 9 && resize_by_run(c, &r, 1, axes, count)) return;
    if (c->opset >= 9 && reals_of(c, 1, scales, MAX_RANK) != count && !ctx_failed(c->cx))
        onnx_refuse(c, "the scales do not match the rank of %s; use %d scales", tensor_shape_text(c->cx, c->in[0]),
                    count);
    else if (a && a->real_count == count) memcpy(scales, a->reals, sizeof *scales * (size_t)count);
    else if (c->opset < 7) scales[2] = onnx_real(c, "height_scale", 1), scales[3] = onnx_real(c, "width_scale", 1);
    if (!ctx_failed(c->cx)) resize_by(c, &r, scales, (const Expr *const [MAX_RANK]){ NULL }, count, axes, NULL);
}

/* Computes grid[n,..] = theta[n] * (x, y, z, 1) for each pixel of an image of `size` [n][c][..]. Coordinates are
 * constants, so the grid is one product. */
static void affine_grid(OnnxCall *c)
{
    enum { MOST_SPATIAL = 3 };
    int64_t size[2 + MOST_SPATIAL], pixels = 1;
    if (!onnx_requires(c, 2)) return;
    const int count = onnx_ints(c, NULL, 1, size, 2 + MOST_SPATIAL), spatial = count - 2;
    if (ctx_failed(c->cx)) return;
    for (int d = 2; d < count; d++) pixels = size[d] < 1 || pixels > (1 << 24) / size[d] ? -1 : pixels * size[d];
    if (spatial < 2 || pixels < 1 || c->in[0]->rank != 3 || tensor_dim(c->in[0], 0) != size[0]
        || tensor_dim(c->in[0], 1) != spatial || tensor_dim(c->in[0], 2) != spatial + 1) {
        onnx_refuse(c, "theta is %s and the size %s; use theta [n][d][d+1], and a size of n, c and d spatial sizes, "
                       "with d = 2 or 3",
                    tensor_shape_text(c->cx, c->in[0]), ints_text(c->cx, size, count));
        return;
    }
    const bool align = onnx_int(c, "align_corners", 0) != 0;
    void *data;
    Tensor *base = tensor_zeros(c->cx, c->name, c->in[0]->type, 2, (int64_t[]){ pixels, spatial + 1 }, &data);
    for (int64_t i = 0; base && i < pixels; i++) {
        int64_t rest = i;
        for (int d = 0; d < spatial; d++) {                   /* the last dimension of the grid is x */
            const int64_t extent = size[1 + spatial - d], at = rest % extent;
            const double centre = align ? (extent > 1 ? 2.0 * (double)at / (double)(extent - 1) - 1 : 0)
                                        : (2.0 * (double)at + 1) / (double)extent - 1;
            dtype_store(base->type, data, i * (spatial + 1) + d,
                        dtype_wrap(base->type, (Scalar){ .f = centre }));
            rest /= extent;
        }
        dtype_store(base->type, data, i * (spatial + 1) + spatial, (Scalar){ .f = 1 });
    }
    Tensor *grid = onnx_call2(c, "matmul", base, onnx_call(c, "transpose", c->in[0], attr_list("perm", 0, 2, 1)));
    int64_t shape[2 + MOST_SPATIAL] = { size[0] };
    for (int d = 0; d < spatial; d++) shape[1 + d] = size[2 + d];
    shape[1 + spatial] = spatial;
    c->out[0] = grid ? onnx_reshape(c, grid, shape, spatial + 2) : NULL;
}

static void grid_sample(OnnxCall *c)
{
    const char *mode = onnx_text(c, "mode", "bilinear");
    if (strcmp(mode, "bilinear") == 0 || strcmp(mode, "trilinear") == 0) mode = "linear";
    if (strcmp(mode, "bicubic") == 0) mode = "cubic";
    if (!onnx_requires(c, 2)) return;
    if (c->in[0]->rank != 4 && c->in[0]->rank != 5) {
        onnx_unsupported(c, "the input is %s; use [n][c][h][w] or [n][c][d][h][w]",
                         tensor_shape_text(c->cx, c->in[0]));
        return;
    }
    const DType type = c->in[0]->type;
    for (int d = 2; d < c->in[0]->rank; d++) c->in[0] = onnx_at_least(c, c->in[0], d, 1);
    Tensor *grid = dtype_is_float(type) ? onnx_cast(c, c->in[1], type) : c->in[1];
    Tensor *y = onnx_call2(c, "grid_sample", onnx_channels_last(c, c->in[0]), grid, attr_word("mode", mode),
                           attr_word("padding", onnx_text(c, "padding_mode", "zeros")),
                           attr_flag("align", onnx_int(c, "align_corners", 0)));
    c->out[0] = onnx_channels_second(c, y);
}

const OnnxOp onnx_rows_resize[] = {
    { ONNX_ROW("AffineGrid", 2, "align_corners", affine_grid) },
    { ONNX_ROW("GridSample", 2, "align_corners mode padding_mode", grid_sample), .open.keeps = KEEPS_ALL },
    { ONNX_ROW("Resize", 4, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
               "extrapolation_value keep_aspect_ratio_policy mode nearest_mode", resize),
      .open.keeps = KEEPS_ALL, .open.lists = LISTS_READ },
    { ONNX_ROW("Upsample", 2, "height_scale mode scales width_scale", upsample), .open.keeps = KEEPS_ALL },
    { 0 }
};
