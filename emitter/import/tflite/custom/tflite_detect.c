/* SPDX-License-Identifier: MIT */
/* Translates TFLite_Detection_PostProcess, the end of SSD detectors: boxes relative to anchors, then non-maximum
 * suppression.
 *
 *   center = code / scale * size of the anchor + center of the anchor
 *   half   = 0.5 * exp(code / scale) * size of the anchor              box = center - half, center + half
 *
 * The scores of the background, the first class if there is one more than `num_classes`, are ignored. Fast suppression
 * uses the best class of each anchor. Regular suppression runs for each class, and the detections are the best boxes of
 * all classes. The outputs are boxes (top, left, bottom, right), classes, scores, and their number; rows beyond this
 * number are 0. */
#include <math.h>

#include "import/tflite/custom/tflite_custom.h"

enum { CODES, SCORES, ANCHORS };
enum { MOST_DETECTIONS = 1 << 16 };

typedef struct Detect {
    int64_t detections, per_anchor, per_class, classes, is_regular, anchors;
    double score, overlap, scale[4];                     /* scale: the scales of y, x, height and width */
} Detect;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool read_options(TfliteCall *c, Detect *d)
{
    static const CustomOption needed[] = { { "max_detections", 1, MOST_DETECTIONS },
                                           { "max_classes_per_detection", 1, MOST_DETECTIONS },
                                           { "num_classes", 1, MOST_DETECTIONS } };
    static const char *const reals[] = { "nms_score_threshold", "nms_iou_threshold", "y_scale", "x_scale", "h_scale",
                                         "w_scale" };
    int64_t of[3];
    double real[6];
    FlexMap map;
    if (!tflite_custom_options(c, needed, 3, of) || !flex_map(c->op->custom_options, &map)) return false;
    *d = (Detect){ .detections = of[0], .per_anchor = of[1], .classes = of[2], .per_class = 100 };
    flex_int(&map, "use_regular_nms", &d->is_regular);
    flex_int(&map, "detections_per_class", &d->per_class);
    for (int i = 0; i < 6; i++)
        if (!flex_real(&map, reals[i], &real[i]) || !isfinite(real[i]) || (i > 1 && real[i] == 0)) {
            tflite_refuse(c, "its option '%s' is missing or not accepted; use a finite number%s", reals[i],
                          i > 1 ? " other than 0" : "");
            return false;
        }
    d->score = real[0];
    d->overlap = real[1];
    for (int i = 0; i < 4; i++) d->scale[i] = real[2 + i];
    if (d->per_class < 1 || d->per_class > MOST_DETECTIONS)
        tflite_refuse(c, "its option 'detections_per_class' is %lld; use 1 to %d", (long long)d->per_class,
                      MOST_DETECTIONS);
    if (!d->is_regular && d->per_anchor > 1)
        tflite_unsupported(c, "'max_classes_per_detection' is %lld, but without 'use_regular_nms' the reference kernel "
                           "writes beyond its outputs; use 1, or set 'use_regular_nms'", (long long)d->per_anchor);
    return !ctx_failed(c->cx);
}

static bool read_inputs(TfliteCall *c, Detect *d)
{
    if (!tflite_needs(c, 3)) return false;
    const Tensor *codes = c->in[CODES], *scores = c->in[SCORES], *anchors = c->in[ANCHORS];
    bool fits = codes->rank == 3 && scores->rank == 3 && anchors->rank == 2 && tensor_dim(codes, 0) == 1
                && tensor_dim(scores, 0) == 1;
    d->anchors = fits ? tensor_dim(codes, 1) : 0;
    fits = fits && d->anchors > 0 && tensor_dim(codes, 2) == 4 && tensor_dim(anchors, 1) == 4
           && tensor_dim(scores, 1) == d->anchors && tensor_dim(anchors, 0) == d->anchors
           && tensor_dim(scores, 2) >= d->classes && tensor_dim(scores, 2) <= d->classes + 1;
    if (!fits)
        tflite_refuse(c, "the codes are %s, the scores %s and the anchors %s; use [1][n][4], [1][n][%lld or one more] "
                         "and [n][4]",
                      tensor_shape_text(c->cx, codes), tensor_shape_text(c->cx, scores),
                      tensor_shape_text(c->cx, anchors), (long long)d->classes);
    for (int i = CODES; i <= ANCHORS && !ctx_failed(c->cx); i++)
        if (c->in[i]->type != F32) c->in[i] = tflite_real(c, i);
    return !ctx_failed(c->cx);
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static Tensor *real(TfliteCall *c, double v) { return tensor_scalar(c->cx, c->name, F32, v); }

/* Returns boxes [n][4] from codes and anchors, which are (y, x, height, width). */
static Tensor *boxes_of(TfliteCall *c, const Detect *d)
{
    float scale[4];
    for (int i = 0; i < 4; i++) scale[i] = (float)d->scale[i];
    Tensor *codes = tflite_reshape(c, c->in[CODES], (int64_t[]){ d->anchors, 4 }, 2), *anchors = c->in[ANCHORS];
    codes = tflite_call2(c, "div", codes, tensor_constant(c->cx, c->name, F32, 1, (int64_t[]){ 4 }, scale));
    Tensor *size = tflite_part(c, anchors, 1, 2, 4), *at = tflite_part(c, anchors, 1, 0, 2),
           *center = tflite_call2(c, "add", tflite_call2(c, "mul", tflite_part(c, codes, 1, 0, 2), size), at),
           *factor = tflite_call(c, "exp", tflite_part(c, codes, 1, 2, 4)),
           *half = tflite_call2(c, "mul", real(c, 0.5), factor);
    half = tflite_call2(c, "mul", half, size);
    Tensor *difference = tflite_call2(c, "sub", center, half);
    Tensor *part[] = { difference, tflite_call2(c, "add", center, half) };
    return part[0] && part[1] ? call(c->cx, "concat", c->name, part, 2, ATTRS(attr_int("axis", 1))) : NULL;
}

/* Returns the selected boxes of each row of scores [rows][n] as (0, row, box); unused rows are -1. The operator selects
 * scores above a limit, so the limit is the next number below the threshold. */
static Tensor *suppressed(TfliteCall *c, const Detect *d, Tensor *boxes, Tensor *scores, int64_t most, int64_t capacity)
{
    const int64_t rows = scores && scores->rank > 1 ? tensor_dim(scores, 0) : 1, n = d->anchors;
    Tensor *view = tflite_reshape(c, boxes, (int64_t[]){ 1, n, 4 }, 3);
    Tensor *score_view = tflite_reshape(c, scores, (int64_t[]){ 1, rows, n }, 3);
    Tensor *number = tensor_scalar(c->cx, c->name, I64, (double)most);
    Tensor *overlap = real(c, d->overlap);
    Tensor *in[] = { view, score_view, number, overlap, real(c, (double)nextafterf((float)d->score, -INFINITY)) };
    for (int i = 0; i < 5; i++)
        if (!in[i]) return NULL;
    return call(c->cx, "non_max_suppression", c->name, in, 5, ATTRS(attr_int("capacity", capacity)));
}

static Tensor *column(TfliteCall *c, Tensor *rows, int k)
{
    return rows ? tflite_reshape(c, tflite_part(c, rows, 1, k, k + 1), (int64_t[]){ tensor_dim(rows, 0) }, 1) : NULL;
}

/* ---- Detections -------------------------------------------------------------------------------------------------- */

/* The detections: boxes and classes as indices, and scores; is_found: false for an unused detection. */
typedef struct Found { Tensor *box, *class, *score, *is_found; } Found;

static Tensor *chosen(TfliteCall *c, Tensor *x, Tensor *at)
{
    return tflite_call2(c, "gather", x, at, attr_int("axis", 0));
}

/* Suppresses by the best class of each anchor; scores: [classes][n]. */
static Found fast(TfliteCall *c, const Detect *d, Tensor *boxes, Tensor *scores)
{
    Tensor *best = tflite_call(c, "reduce_max", scores, attr_list("axes", 0)),
           *class = tflite_call(c, "argmax", scores, attr_int("axis", 0)),
           *rows = suppressed(c, d, boxes, best, d->detections, d->detections), *box = column(c, rows, 2);
    Tensor *is_found = tflite_call2(c, "greater_equal", box, tensor_scalar(c->cx, c->name, I64, 0));
    box = tflite_call2(c, "max", box, tensor_scalar(c->cx, c->name, I64, 0));
    Tensor *chosen_class = chosen(c, class, box);
    return (Found){ box, chosen_class, chosen(c, best, box), is_found };
}

/* Returns the best of the boxes that are selected for each class; unused ones have the smallest score. */
static Found regular(TfliteCall *c, const Detect *d, Tensor *boxes, Tensor *scores)
{
    int64_t capacity = d->classes * (d->per_class < d->anchors ? d->per_class : d->anchors);
    if (capacity < d->detections) capacity = d->detections;
    Tensor *rows = suppressed(c, d, boxes, scores, d->per_class, capacity),
           *zero = tensor_scalar(c->cx, c->name, I64, 0), *class = column(c, rows, 1), *box = column(c, rows, 2),
           *is_found = tflite_call2(c, "greater_equal", box, zero);
    class = tflite_call2(c, "max", class, zero);
    box = tflite_call2(c, "max", box, zero);
    Tensor *flat = tflite_call2(c, "add", tflite_call2(c, "mul", class, tensor_scalar(c->cx, c->name, I64,
                                                                                    (double)d->anchors)), box),
           *score = chosen(c, tflite_reshape(c, scores, (int64_t[]){ d->classes * d->anchors }, 1), flat);
    score = tflite_select(c, is_found, score, real(c, -INFINITY));
    Tensor *at = tflite_call(c, "topk", score, attr_int("axis", -1), attr_int("k", d->detections));
    Tensor *chosen3 = chosen(c, box, at);
    Tensor *chosen4 = chosen(c, class, at);
    Tensor *chosen5 = chosen(c, score, at);
    return (Found){ chosen3, chosen4, chosen5, chosen(c, is_found, at) };
}

static void detect(TfliteCall *c)
{
    Detect d;
    if (!read_options(c, &d) || !read_inputs(c, &d)) return;
    const int64_t n = d.anchors, all = tensor_dim(c->in[SCORES], 2), count = d.detections;
    Tensor *scores = tflite_reshape(c, c->in[SCORES], (int64_t[]){ n, all }, 2), *boxes = boxes_of(c, &d);
    if (all > d.classes) scores = tflite_part(c, scores, 1, 1, all);
    scores = tflite_call(c, "transpose", scores, attr_list("perm", 1, 0));
    if (ctx_failed(c->cx)) return;
    const Found f = (d.is_regular ? regular : fast)(c, &d, boxes, scores);
    Tensor *is_box = tflite_reshape(c, f.is_found, (int64_t[]){ count, 1 }, 2), *no_box = real(c, 0),
           *box = tflite_select(c, is_box, chosen(c, boxes, f.box), no_box), *no_class = real(c, 0),
           *class = tflite_select(c, f.is_found, tflite_call(c, "cast", f.class, attr_type("to", F32)), no_class),
           *score = tflite_select(c, f.is_found, f.score, real(c, 0)),
           *number = tflite_call(c, "reduce_sum", tflite_call(c, "cast", f.is_found, attr_type("to", F32)),
                                 attr_list("axes", 0));
    c->out[0] = tflite_reshape(c, box, (int64_t[]){ 1, count, 4 }, 3);
    c->out[1] = tflite_reshape(c, class, (int64_t[]){ 1, count }, 2);
    c->out[2] = tflite_reshape(c, score, (int64_t[]){ 1, count }, 2);
    c->out[3] = tflite_reshape(c, number, (int64_t[]){ 1 }, 1);
}

const TfliteRow tflite_rows_detect[] = {
    { TFLITE_CUSTOM, "TFLite_Detection_PostProcess", 1, 0, OF_F32 | OF_I8 | OF_U8, 1, NULL, detect, TFLITE_KEEPS_NONE },
    { 0 }
};
