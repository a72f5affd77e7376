/* SPDX-License-Identifier: MIT */
/* Rounds weights by the error of their layer's output instead of one by one (Frantar, Ashkboos, Hoefler, Alistarh:
 * GPTQ, 2022). With the layer's input patches x over the samples,
 *
 *     H = sum x x^T + lambda I,   H^-1 = U^T U with U upper triangular
 *
 * the weights of an output are rounded in order, and the error of each, e = (w[k] - rounded) / U[k][k], moves the later
 * ones: w[j] -= e * U[k][j]. The patches are the outputs of the same call with unit weights. Depthwise and grouped
 * layers, and layers of more than MOST_TERMS weights per output, keep the weights rounded to nearest.
 *
 * The patches of a recurrent layer are its inputs, and its states for the weights of the state, at all steps. The next
 * step adds the errors of one step, and neighbouring steps are usually alike. So the sum of errors is much smaller than
 * with weights rounded to nearest. If steps are independent, it may be larger. Therefore each operand gets the rounding
 * that has less noise at the outputs of the network in floats. The greatest weight of a column keeps its value, so the
 * scale follows from the rounded column. */
#include <math.h>

#include "quantizer/layers.h"

enum { MOST_TERMS = 1152, MOST_SAMPLES = 64, PATCHES_PER_TERM = 4 };

/* An operand with the sums of products over its patches. */
typedef struct Patches {
    Tensor *weights;                   /* [..][outputs]: the weights */
    const Node *layer;                 /* the call that multiplies by the weights; NULL for a recurrent operand */
    int most;                          /* the largest stored value */
    int64_t terms; double *sums; Tensor *at;
} Patches;

/* Returns the call's patches, [..][terms], or NULL if the layer keeps the nearest values. */
static Tensor *patches_of(Ctx *cx, const Edges *e, const Layer *l)
{
    const Node *n = l->call;
    const Tensor *w = n->in[l->weights];
    const int64_t outs = channels_of(w), terms = tensor_elems(w) / outs;
    if (l->weights != 1 || l->axis_out != w->rank - 1 || l->axis_in < 0 || l->axis_in == l->axis_out) return NULL;
    if (terms > MOST_TERMS || node_int(n, "groups", 1) != 1) return NULL;
    const Request *asked = request_of(&e->requests, w);
    if (asked && (asked->has_grid || asked->bits > 8)) return NULL;
    if (!edge_of(e, n->in[0]) || channels_of(n->out[0]) != outs) return NULL;
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < w->rank; d++) shape[d] = d < w->rank - 1 ? w->shape[d] : expr_index(cx, terms);
    Tensor *unit = tensor_new(cx, "unit", F32, w->rank, shape);
    float *one = NEW_ARRAY(cx->arena, float, terms * terms);
    for (int64_t k = 0; k < terms; k++) one[k * terms + k] = 1;
    if (!unit) return NULL;
    unit->data = one;
    const Node *now = node_over(cx, n, (Tensor *[]){ n->in[0], unit });
    return now ? now->out[0] : NULL;
}

static void add_patches(Patches *p, const float *x)
{
    const int64_t count = tensor_elems(p->at) / p->terms;
    for (int64_t i = 0; i < count; i++, x += p->terms)
        for (int64_t r = 0; r < p->terms; r++) {
            const double v = (double)x[r];
            double *row = p->sums + r * p->terms;
            if (v == 0) continue;
            for (int64_t c = r; c < p->terms; c++) row[c] += v * (double)x[c];
        }
}

/* ---- Linear algebra ---------------------------------------------------------------------------------------------- */

/* Factors the symmetric a = l l^T into the lower triangle of l; returns false if a is not positive definite. */
static bool factor(const double *a, double *l, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (i != j) l[i * n + j] = sum / l[j * n + j];
            else if (!(sum > 0)) return false;
            else l[i * n + i] = sqrt(sum);
        }
    return true;
}

/* Replaces a by its inverse, through the inverse of its factor: a^-1 = l^-T l^-1. */
static bool invert(double *a, double *l, int64_t n)
{
    if (!factor(a, l, n)) return false;
    for (int64_t c = 0; c < n; c++)                   /* l becomes its inverse, column by column */
        for (int64_t r = c; r < n; r++) {
            double sum = r == c ? 1 : 0;
            for (int64_t k = c; k < r; k++) sum -= l[r * n + k] * a[k * n + c];
            a[r * n + c] = sum / l[r * n + r];
        }
    for (int64_t i = 0; i < n * n; i++) l[i] = i % n <= i / n ? a[i] : 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = i; k < n; k++) sum += l[k * n + i] * l[k * n + j];
            a[i * n + j] = a[j * n + i] = sum;
        }
    return true;
}

/* Fills the symmetric matrix, adds lambda, and leaves U^T, lower triangular, in `u`. */
static bool prepare(Patches *p, double *u)
{
    const int64_t n = p->terms;
    double mean = 0;
    for (int64_t i = 0; i < n; i++) mean += p->sums[i * n + i] / (double)n;
    if (!(mean > 0)) return false;
    for (int64_t i = 0; i < n; i++) {
        p->sums[i * n + i] += 0.01 * mean;
        for (int64_t j = 0; j < i; j++) p->sums[i * n + j] = p->sums[j * n + i];
    }
    return invert(p->sums, u, n) && factor(p->sums, u, n);
}

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

/* Returns a scale for each output. */
static double *scales_of(Ctx *cx, const Edges *e, const Patches *p)
{
    int axis;
    int64_t scales = channels_of(p->weights);
    const int64_t outs = scales;
    double *scale = NEW_ARRAY(cx->arena, double, outs);
    if (p->layer) weights_operand(p->layer, &axis);
    const float *of = p->layer ? weight_scales(cx, e, p->weights, axis, &scales)
                               : tensor_magnitudes(cx, p->weights, outs);
    for (int64_t o = 0; o < outs; o++)
        scale[o] = p->layer ? (double)of[scales == 1 ? 0 : o] : of[o] > 0 ? (double)of[o] / p->most : 1;
    return scale;
}

/* Returns the weights on their grids. U[k][j] is u[j * terms + k]. */
static float *rounded(Ctx *cx, const Edges *e, const Patches *p, const double *u)
{
    const int64_t outs = channels_of(p->weights), n = p->terms;
    const double *scale = scales_of(cx, e, p);
    const float *v = p->weights->data;
    float *out = NEW_ARRAY(cx->arena, float, n * outs);
    double *left = NEW_ARRAY(cx->arena, double, n);
    for (int64_t o = 0; o < outs; o++) {
        const double s = scale[o];
        for (int64_t k = 0; k < n; k++) left[k] = (double)v[k * outs + o];
        for (int64_t k = 0; k < n; k++) {
            const double was = nearbyint((double)v[k * outs + o] / s);
            const bool is_kept = !p->layer && fabs(was) >= p->most;
            const double q = is_kept ? was : fmin(p->most, fmax(-p->most, nearbyint(left[k] / s)));
            const double d = (left[k] - q * s) / u[k * n + k];
            out[k * outs + o] = (float)(q * s);
            for (int64_t j = k + 1; j < n; j++) left[j] -= d * u[j * n + k];
        }
    }
    return out;
}

static void add(Ctx *cx, Patches p, Patches *out, int *count)
{
    p.terms = channels_of(p.at);
    p.sums = NEW_ARRAY(cx->arena, double, p.terms * p.terms);
    out[(*count)++] = p;
}

static int find_layers(Ctx *cx, const Graph *g, const Edges *e, Patches *out)
{
    const Readers r = readers_of(cx, g);
    int count = 0;
    for (int i = 0; i < r.count && !ctx_failed(cx); i++) {
        Layer l;
        Tensor *at = layer_of(&r, r.order[i], &l) ? patches_of(cx, e, &l) : NULL;
        const Request *asked = at ? request_of(&e->requests, l.call->in[1]) : NULL;
        const int most = (1 << ((asked ? asked->bits : 8) - 1)) - 1;
        if (at) add(cx, (Patches){ .weights = l.call->in[1], .layer = l.call, .most = most, .at = at }, out, &count);
    }
    return count;
}

/* Lists the integer weights of recurrent layers, if the samples have enough patches. */
static int find_recurrent(Ctx *cx, const Graph *g, const Edges *e, int64_t samples, Patches *out)
{
    const Readers r = readers_of(cx, g);
    int count = 0;
    for (int i = 0; i < r.count; i++) {
        int bits[2];
        Node *n = r.order[i];
        if (!has_integer_weights(cx, e, n, bits)) continue;
        for (int k = 0; k < 2; k++) {
            Tensor *at = k ? n->out[0] : n->in[0], *w = n->in[1 + k];
            const int64_t terms = channels_of(at);
            if (terms > MOST_TERMS || samples * tensor_elems(at) < terms * terms * PATCHES_PER_TERM) continue;
            if (tensor_elems(w) != terms * channels_of(w) || readers_list(&r, w)->count != 1) continue;
            const int most = (1 << ((bits[k] ? bits[k] : 8) - 1)) - 1;
            add(cx, (Patches){ .weights = w, .most = most, .at = at }, out, &count);
        }
    }
    return count;
}

/* ---- Which rounding has less noise ------------------------------------------------------------------------------- */

static const float *nearest(Ctx *cx, const Edges *e, const Patches *p)
{
    const int64_t outs = channels_of(p->weights), count = p->terms * outs;
    const double *scale = scales_of(cx, e, p);
    const float *v = p->weights->data;
    float *out = NEW_ARRAY(cx->arena, float, count);
    for (int64_t i = 0; i < count; i++) out[i] = (float)(nearbyint((double)v[i] / scale[i % outs]) * scale[i % outs]);
    return out;
}

/* Returns the squared error at the outputs of floats, if these weights replace the network's weights. `want`: these
 * outputs of the network over the samples. */
static double error_with(const Build *b, const Graph *g, const Samples *s, int64_t samples, float *const *want,
                         const Map *weights)
{
    const Graph changed = with_constants(b->cx, *g, weights);
    float **got = runner_outputs(b, &changed, s, samples);
    double signal = 0, error = 0;
    for (int o = 0; got && o < g->output_count; o++)
        if (want[o]) add_noise(want[o], got[o], samples * tensor_elems(g->output[o]), &signal, &error);
    return error;
}

/* Leaves the better rounding of each operand in `out`. At first, `out` has the rounding by the sums' errors. */
static bool choose_roundings(const Build *b, const Graph *g, const Samples *s, const Edges *e, const Patches *p,
                             int count, Map *out)
{
    Ctx *cx = b->cx;
    const int64_t samples = s->count < TRIAL_SAMPLES ? s->count : TRIAL_SAMPLES;
    float **want = runner_outputs(b, g, s, samples);
    double least = want ? error_with(b, g, s, samples, want, out) : 0;
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        const float *by_sums = map_get_const_ptr(out, p[i].weights);
        if (!by_sums) continue;
        map_put_const_ptr(out, p[i].weights, nearest(cx, e, &p[i]));
        const double error = error_with(b, g, s, samples, want, out);
        if (error < least) least = error;
        else map_put_const_ptr(out, p[i].weights, by_sums);
    }
    return !ctx_failed(cx);
}

static bool round_all(const Build *b, const Graph *g, const Samples *s, const Edges *e, Patches *p, int count,
                      int64_t samples, Map *out)
{
    Ctx *cx = b->cx;
    Graph observed = *g;
    observed.output = NEW_ARRAY(cx->arena, Tensor *, count);
    observed.output_count = count;
    for (int i = 0; i < count; i++) observed.output[i] = p[i].at;
    Runner *r = !count || ctx_failed(cx) ? NULL : runner_new(b, &observed);
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < samples; k++) {
        is_good = build_progress(b, "refining", k, samples) && runner_run(r, s, k);
        for (int i = 0; is_good && i < count; i++) add_patches(&p[i], runner_output(r, i));
    }
    runner_free(r);
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        double *u = NEW_ARRAY(cx->arena, double, p[i].terms * p[i].terms);
        if (prepare(&p[i], u)) map_put_ptr(out, p[i].weights, rounded(cx, e, &p[i], u));
    }
    return !ctx_failed(cx);
}

static int64_t samples_used(const Samples *s) { return s->count < MOST_SAMPLES ? s->count : MOST_SAMPLES; }

bool refine_recurrent(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *refined)
{
    Node **order;
    Patches *p = NEW_ARRAY(b->cx->arena, Patches, 2 * graph_order(b->cx, g, &order) + 1);
    const int64_t samples = samples_used(s);
    const int count = find_recurrent(b->cx, g, e, samples, p);
    return round_all(b, g, s, e, p, count, samples, refined)
           && (!count || choose_roundings(b, g, s, e, p, count, refined));
}

bool refine_layers(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *refined)
{
    Node **order;
    Patches *p = NEW_ARRAY(b->cx->arena, Patches, graph_order(b->cx, g, &order) + 1);
    return round_all(b, g, s, e, p, find_layers(b->cx, g, e, p), samples_used(s), refined);
}
