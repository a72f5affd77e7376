/* SPDX-License-Identifier: MIT */
/* Rounds weights by the error of their layer's output instead of one by one (Frantar, Ashkboos, Hoefler, Alistarh:
 * GPTQ, 2022). With the layer's input patches x over the samples,
 *
 *     H = sum x x^T + lambda I,   H^-1 = U^T U with U upper triangular
 *
 * the weights of an output are rounded in order, and the error of each, e = (w[k] - rounded) / U[k][k], moves the later
 * ones: w[j] -= e * U[k][j]. The patches are the outputs of the same call with unit weights. Depthwise and grouped
 * layers, and layers of more than MOST_TERMS weights an output, keep the nearest values. */
#include <math.h>

#include "quantizer/layers.h"

enum { MOST_TERMS = 1152, MOST_SAMPLES = 64 };

/* A layer with the sums over its patches. */
typedef struct Patches { Layer layer; int64_t terms; double *sums; Tensor *at; } Patches;

/* Returns the call's patches: [..][terms]; NULL: the layer keeps the nearest values. */
static Tensor *patches_of(Ctx *cx, const Edges *e, const Layer *l)
{
    const Node *n = l->call;
    const Tensor *w = n->in[l->weights];
    const int64_t outs = channels_of(w), terms = tensor_elems(w) / outs;
    if (l->weights != 1 || l->axis_out != w->rank - 1 || l->axis_in < 0 || l->axis_in == l->axis_out) return NULL;
    if (terms > MOST_TERMS || node_int(n, "groups", 1) != 1 || request_of(&e->requests, w)) return NULL;
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

/* Factors the symmetric a = l l^T into the lower triangle of l; false: it is not positive definite. */
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

/* Returns the weights on their grids. u: U[k][j] is u[j * terms + k]. */
static float *rounded(Ctx *cx, const Edges *e, const Patches *p, const double *u)
{
    enum { MOST = 127 };
    int axis;
    int64_t scales;
    const Tensor *w = p->layer.call->in[1];
    const int64_t outs = channels_of(w), n = p->terms;
    weights_operand(p->layer.call, &axis);
    const float *scale = weight_scales(cx, e, w, axis, &scales), *v = w->data;
    float *out = NEW_ARRAY(cx->arena, float, n * outs);
    double *left = NEW_ARRAY(cx->arena, double, n);
    for (int64_t o = 0; o < outs; o++) {
        const double s = (double)scale[scales == 1 ? 0 : o];
        for (int64_t k = 0; k < n; k++) left[k] = (double)v[k * outs + o];
        for (int64_t k = 0; k < n; k++) {
            const double q = fmin(MOST, fmax(-MOST, nearbyint(left[k] / s))), d = (left[k] - q * s) / u[k * n + k];
            out[k * outs + o] = (float)(q * s);
            for (int64_t j = k + 1; j < n; j++) left[j] -= d * u[j * n + k];
        }
    }
    return out;
}

static int find_layers(Ctx *cx, const Graph *g, const Edges *e, Patches *out)
{
    const Readers r = readers_of(cx, g);
    int count = 0;
    for (int i = 0; i < r.count && !ctx_failed(cx); i++) {
        Patches p = { 0 };
        if (!layer_of(&r, r.order[i], &p.layer) || !(p.at = patches_of(cx, e, &p.layer))) continue;
        p.terms = channels_of(p.at);
        p.sums = NEW_ARRAY(cx->arena, double, p.terms * p.terms);
        out[count++] = p;
    }
    return count;
}

bool refined_weights(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *out)
{
    Ctx *cx = b->cx;
    Node **order;
    Patches *p = NEW_ARRAY(cx->arena, Patches, graph_order(cx, g, &order) + 1);
    const int count = find_layers(cx, g, e, p);
    const int64_t samples = s->count < MOST_SAMPLES ? s->count : MOST_SAMPLES;
    Graph observed = *g;
    *out = map_new(cx->arena);
    observed.output = NEW_ARRAY(cx->arena, Tensor *, count);
    observed.output_count = count;
    for (int i = 0; i < count; i++) observed.output[i] = p[i].at;
    Runner *r = !count || ctx_failed(cx) ? NULL : runner_new(b, &observed);
    for (int64_t k = 0; r && k < samples; k++) {
        if (!build_progress(b, "refining", k, samples) || !runner_run(r, s, k)) return false;
        for (int i = 0; i < count; i++) add_patches(&p[i], runner_output(r, i));
    }
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        double *u = NEW_ARRAY(cx->arena, double, p[i].terms * p[i].terms);
        if (prepare(&p[i], u)) map_put_ptr(out, p[i].layer.call->in[1], rounded(cx, e, &p[i], u));
    }
    return !ctx_failed(cx);
}
