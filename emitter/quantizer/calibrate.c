/* SPDX-License-Identifier: MIT */
/* Runs the float network on the samples, with all tensors that have a grid as outputs, and fills one histogram per
 * grid. Memory does not depend on the number of samples. Then chooses the grids. */
#include <math.h>

#include "graph/quantize/curves.h"
#include "quantizer/layers.h"

static void add_channels(ChannelStats *s, const float *v, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t c = i % s->channels;
        const double x = (double)v[i];
        s->sum[c] += x;
        if (fabs(x) > s->greatest[c]) s->greatest[c] = fabs(x);
    }
    s->count += count / s->channels;
}

static ChannelStats stats_new(Ctx *cx, const Tensor *t)
{
    const int64_t channels = t->rank ? tensor_dim(t, t->rank - 1) : 1;
    return (ChannelStats){ channels, 0, NEW_ARRAY(cx->arena, double, channels),
                           NEW_ARRAY(cx->arena, double, channels) };
}

/* Returns the number of the model's input, or -1 if the tensor is computed. */
static int input_number(const Graph *g, const Tensor *t)
{
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i] == t) return i;
    return -1;
}

/* Returns the graph whose outputs are the computed tensors of the edges. */
static Graph observed_graph(Ctx *cx, const Graph *g, const Edges *e)
{
    Graph observed = *g;
    observed.output = NEW_ARRAY(cx->arena, Tensor *, e->count + 1);
    observed.output_count = 0;
    for (int i = 0; i < e->count; i++)
        if (input_number(g, e->at[i].tensor) < 0) observed.output[observed.output_count++] = e->at[i].tensor;
    return observed;
}

/* Refuses a sample on which the float network computes NaN or an infinity: no range contains it. */
static bool are_finite(Ctx *cx, const Tensor *t, const float *v, int64_t sample)
{
    const int64_t count = tensor_elems(t);
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(v[i])) continue;
        diag_error(cx, NULL, "tensor \"%s\" has %s on sample %lld; use a network that computes finite numbers on all "
                   "samples", t->name, isnan(v[i]) ? "NaN" : "an infinity", (long long)sample);
        return false;
    }
    return true;
}

static void add_range(Edge *e, const float *v, int64_t sample)
{
    const int64_t count = tensor_elems(e->tensor);
    if (!sample && count) e->least = e->greatest = v[0];
    for (int64_t i = 0; i < count; i++) {
        e->least = fminf(e->least, v[i]);
        e->greatest = fmaxf(e->greatest, v[i]);
    }
}

bool calibrate(const Build *b, const Graph *g, const Samples *s, int64_t most, Edges *e, ChannelStats *stats)
{
    Ctx *cx = b->cx;
    const Graph observed = observed_graph(cx, g, e);
    Runner *r = runner_new(b, &observed);
    for (int i = 0; r && stats && i < e->count; i++) stats[i] = stats_new(cx, e->at[i].tensor);
    for (int i = 0; i < e->group_count; i++) e->group[i].seen = (Histogram){ 0 };
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < s->count && k < most; k++) {
        is_good = build_progress(b, "calibrating", k, most < s->count ? most : s->count) && runner_run(r, s, k);
        for (int i = 0, out = 0; is_good && i < e->count; i++) {
            const Tensor *t = e->at[i].tensor;
            const int input = input_number(g, t);
            const float *v = input < 0 ? runner_output(r, out++) : runner_input(r, input);
            is_good = are_finite(cx, t, v, k);
            if (!is_good) break;
            add_range(&e->at[i], v, k);
            histogram_add(cx->arena, &e->group[e->at[i].group].seen, v, tensor_elems(t));
            if (stats) add_channels(&stats[i], v, tensor_elems(t));
        }
    }
    runner_free(r);
    return is_good && !ctx_failed(cx);
}

/* ---- Ranges by results ------------------------------------------------------------------------------------------- */

/* Softmax maps values far below the maximum to zero, so a grid that covers them wastes its levels. If only such
 * functions read a tensor, its step is chosen to minimize their error
 *
 *     sum(samples) (f(t) - f(t on the grid of the range))^2
 *
 * over shrinks of the low end. Such functions have a grid of their own over several elements (softmax). The high end is
 * kept, because its values decide which one is the greatest. */
enum { LOW_ENDS = 20 };

/* A call that reads a tensor of such a group. The call has several results: one from the tensor itself, and one for the
 * grid of each shrink. */
typedef struct Judge { const Node *call; int group, output; } Judge;

typedef struct Judges {
    Ctx *cx;
    Edges *edges;
    int count; Judge *at;
    int output_count; Tensor **output; /* the results of all judges: 1 + LOW_ENDS for each */
} Judges;

/* Returns the range of a group without a share of its low end. */
static Grid shrunk(const EdgeGroup *g, int shrink)
{
    return grid_of_range(g->seen.least * (LOW_ENDS - shrink) / LOW_ENDS, g->seen.greatest);
}

static Tensor *result_over(Ctx *cx, const Node *n, const Tensor *was, Tensor *now)
{
    Tensor **in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) in[i] = n->in[i] == was ? now : n->in[i];
    const Node *made = ctx_failed(cx) ? NULL : node_over(cx, n, in);
    return made ? made->out[0] : NULL;
}

static Tensor *on_grid(Ctx *cx, Tensor *t, const Grid *g)
{
    Tensor *number = tensor_scalar(cx, "scale", F32, g->step);
    Tensor *in[] = { t, number, tensor_scalar(cx, "zero", I8, (double)g->zero) };
    return call(cx, "annotation.simulated_quantize", t->name, in, 3, NULL);
}

static void add_judge(Judges *j, const Node *n, const Edge *e)
{
    const EdgeGroup *g = &j->edges->group[e->group];
    j->at[j->count++] = (Judge){ n, e->group, j->output_count };
    j->output[j->output_count++] = n->out[0];
    for (int i = 0; i < LOW_ENDS; i++) {
        const Grid grid = shrunk(g, i);
        j->output[j->output_count++] = result_over(j->cx, n, e->tensor, on_grid(j->cx, e->tensor, &grid));
    }
}

static void find_judges(Judges *j, const Graph *g)
{
    const Readers r = readers_of(j->cx, g);
    j->at = NEW_ARRAY(j->cx->arena, Judge, r.count + 1);
    j->output = NEW_ARRAY(j->cx->arena, Tensor *, (r.count + 1) * (1 + LOW_ENDS));
    for (int i = 0; i < j->edges->count && !ctx_failed(j->cx); i++) {
        const Edge *e = &j->edges->at[i];
        const EdgeGroup *group = &j->edges->group[e->group];
        const ReaderList *readers = readers_list(&r, e->tensor);
        if (group->range != EDGE_BY_RESULT || group->is_wide || !(group->seen.least < 0)) continue;
        for (int k = 0; k < readers->count; k++)
            if (readers->at[k]->op->quantization.output_step > 0) add_judge(j, readers->at[k], e);
    }
}

static void add_result_errors(const Judges *j, const Runner *r, double (*error)[LOW_ENDS])
{
    for (int i = 0; i < j->count; i++) {
        const Judge *judge = &j->at[i];
        const int64_t count = tensor_elems(judge->call->out[0]);
        const float *want = runner_output(r, judge->output);
        for (int k = 0; k < LOW_ENDS; k++) {
            const float *got = runner_output(r, judge->output + 1 + k);
            for (int64_t x = 0; x < count; x++) {
                const double d = (double)got[x] - (double)want[x];
                error[judge->group][k] += d * d;
            }
        }
    }
}

bool choose_by_results(const Build *b, const Graph *g, const Samples *s, Edges *e)
{
    Ctx *cx = b->cx;
    Judges j = { .cx = cx, .edges = e };
    Graph observed = *g;
    double (*error)[LOW_ENDS] = (double (*)[LOW_ENDS])NEW_ARRAY(cx->arena, double, e->group_count * LOW_ENDS);
    const int64_t count = s->count < TRIAL_SAMPLES ? s->count : TRIAL_SAMPLES;
    for (int i = 0; i < e->group_count; i++) e->group[i].low = e->group[i].seen.least;
    find_judges(&j, g);
    if (!j.count || ctx_failed(cx)) return !ctx_failed(cx);
    observed.output = j.output;
    observed.output_count = j.output_count;
    Runner *r = runner_new(b, &observed);
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < count; k++) {
        is_good = runner_run(r, s, k * s->count / count);
        if (is_good) add_result_errors(&j, r, error);
    }
    runner_free(r);
    for (int i = 0; is_good && i < j.count; i++) {
        EdgeGroup *group = &e->group[j.at[i].group];
        const double *of = error[j.at[i].group];
        int best = 0;
        for (int k = 1; k < LOW_ENDS; k++)
            if (of[k] < of[best]) best = k;
        group->low = group->seen.least * (LOW_ENDS - best) / LOW_ENDS;
    }
    return is_good && !ctx_failed(cx);
}

/* ---- Ranges by curves -------------------------------------------------------------------------------------------- */

/* Chooses the range of a tensor by the error of the results, if only functions f of a single tensor (a sigmoid, tanh,
 * leaky relu, gelu) read it. Values where f is flat need no levels: beyond the saturation of a sigmoid a clipped value
 * has the same result. The error of a range [low, high] with the step s is, over the bins v of the histogram,
 *
 *     v < low: (f(low) - f(v))^2      v > high: (f(high) - f(v))^2      else: f'(v)^2 s^2 / 12
 *
 * f is sampled in the middle of each bin. */
static double width_of(const Histogram *h) { return ldexp(2.0 / HISTOGRAM_BINS, h->exponent); }

/* Returns f in the middle of all bins, or NULL if f is not finite at a value. */
static const float *sampled(Ctx *cx, const EdgeGroup *g, const CurveOf *c)
{
    const int64_t count = HISTOGRAM_BINS;
    const double width = width_of(&g->seen);
    float *v = NEW_ARRAY(cx->arena, float, count);
    for (int i = 0; i < count; i++)
        v[i] = (float)fmin(fmax((i - HISTOGRAM_BINS / 2 + 0.5) * width, g->seen.least), g->seen.greatest);
    const Tensor *y = curve_at(cx, c->result, c->source, tensor_constant(cx, "bins", F32, 1, &count, v));
    const float *f = y && y->type == F32 && tensor_elems(y) == count ? y->data : NULL;
    for (int i = 0; f && i < count; i++)
        if (!isfinite(f[i])) return NULL;
    return f;
}

/* Returns f at v, interpolated between the middles of two bins. */
static double at(const float *f, double width, double v)
{
    const double place = fmin(fmax(v / width + HISTOGRAM_BINS / 2 - 0.5, 0), HISTOGRAM_BINS - 1.001);
    const int i = (int)place;
    return (double)f[i] + (place - i) * ((double)f[i + 1] - (double)f[i]);
}

static double error_of(const Histogram *h, const float *f, double low, double high)
{
    enum { LEVELS = 255 };
    const double width = width_of(h), step = (high - low) / LEVELS;
    const double f_low = at(f, width, low), f_high = at(f, width, high);
    double error = 0;
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        if (!h->bin[i]) continue;
        const double v = (i - HISTOGRAM_BINS / 2 + 0.5) * width;
        const int before = i ? i - 1 : i, after = i < HISTOGRAM_BINS - 1 ? i + 1 : i;
        const double slope = ((double)f[after] - (double)f[before]) / ((after - before) * width);
        const double clipped = v < low ? f_low - (double)f[i] : v > high ? f_high - (double)f[i] : 0;
        error += (double)h->bin[i] * (v < low || v > high ? clipped * clipped : slope * slope * step * step / 12);
    }
    return error;
}

/* Chooses the range with the smallest error. Scans shrinks of both ends together, then shrinks of each end. */
static bool choose(EdgeGroup *g, const float *const *f, int count)
{
    enum { SHRINKS = 100, ENDS = 3 };
    const Histogram *h = &g->seen;
    double best = INFINITY;
    g->curve_low = h->least;
    g->curve_high = h->greatest;
    for (int end = 0; end < ENDS; end++)
        for (int i = 0; i < SHRINKS; i++) {
            const double left = (double)(SHRINKS - i) / SHRINKS;
            const double low = end == 2 ? g->curve_low : h->least * left;
            const double high = end == 1 ? g->curve_high : h->greatest * left;
            double error = 0;
            for (int k = 0; k < count; k++) error += error_of(h, f[k], low, high);
            if (!(error < best)) continue;
            best = error;
            g->curve_low = low;
            g->curve_high = high;
        }
    return best < INFINITY;
}

bool choose_by_curves(Ctx *cx, Edges *e)
{
    bool found = false;
    for (int i = 0; i < e->group_count && !ctx_failed(cx); i++) {
        EdgeGroup *g = &e->group[i];
        int count = 0;
        for (const CurveOf *c = g->curves; c; c = c->next) count++;
        const float **f = NEW_ARRAY(cx->arena, const float *, count);
        count = 0;
        for (const CurveOf *c = g->seen.bin && !g->is_wide ? g->curves : NULL; c; c = c->next)
            if (!(f[count++] = sampled(cx, g, c))) break;
        if (!count || !f[count - 1] || !choose(g, f, count)) g->curves = NULL;
        found = found || g->curves;
    }
    return found && !ctx_failed(cx);
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

/* Returns the grid of a table, which may be any grid: the operator's range, or the seen range if that is smaller, for
 * example for a sigmoid that stays near a half. */
static Grid grid_of_table(const EdgeGroup *g)
{
    const Grid seen = grid_whole(&g->seen);
    return g->is_table && g->seen.varies && seen.step < g->fixed.step ? seen : g->fixed;
}

static Grid grid_wider(const Histogram *h, int wider)
{
    const double factor = 1 + wider / 256.0;
    return wider ? grid_of_range(h->least * factor, h->greatest * factor) : grid_whole(h);
}

void choose_grids(Ctx *cx, Edges *e, RangeMethod method)
{
    for (int i = 0; i < e->group_count && !ctx_failed(cx); i++) {
        EdgeGroup *g = &e->group[i];
        if (g->range == EDGE_GIVEN) continue;
        if (g->is_wide || g->bits != 8) g->grid = grid_wide(&g->seen);
        else if (g->range == EDGE_FIXED) g->grid = grid_of_table(g);
        else if (g->range == EDGE_BY_RESULT) g->grid = grid_of_range(g->low, g->seen.greatest);
        else if (g->range == EDGE_WHOLE) g->grid = grid_wider(&g->seen, e->wider);
        else if (g->range == EDGE_CALIBRATED && method == RANGE_CURVES && g->curves)
            g->grid = grid_of_range(g->curve_low, g->curve_high);
        else if (g->range == EDGE_CALIBRATED) g->grid = grid_by(method, &g->seen);
    }
    avoid_ties(e);
}

void warn_of_constants(Ctx *cx, const Edges *e)
{
    for (int i = 0; i < e->group_count && !ctx_failed(cx); i++) {
        const EdgeGroup *g = &e->group[i];
        if (g->range == EDGE_GIVEN) continue;
        if ((g->range != EDGE_FIXED || g->is_wide) && g->seen.count > 1 && !g->seen.varies)
            diag_warn(cx, NULL, "tensor \"%s\" is %g in all samples; its grid covers %g to %g", g->name,
                      (double)g->seen.first, (double)(INT8_MIN - g->grid.zero) * g->grid.step,
                      (double)(INT8_MAX - g->grid.zero) * g->grid.step);
    }
}

/* Returns the edge of the same group with the largest values. */
static const Edge *widest(const Edges *e, int group)
{
    const Edge *most = NULL;
    for (int i = 0; i < e->count; i++) {
        const Edge *x = &e->at[i];
        if (x->group == group && (!most || x->greatest - x->least > most->greatest - most->least)) most = x;
    }
    return most;
}

static void warn_of_part(Ctx *cx, const Edges *e, const Node *n, const Tensor *t)
{
    enum { FEW_STEPS = 16 };
    const Edge *part = t ? edge_of(e, t) : NULL;
    const EdgeGroup *g = part ? &e->group[part->group] : NULL;
    if (!g || group_bits(g) != 8 || g->range == EDGE_GIVEN || !(part->greatest > part->least)) return;
    if ((double)part->greatest - (double)part->least >= FEW_STEPS * g->grid.step) return;
    const Edge *other = widest(e, part->group);
    diag_warn(cx, text_format(cx, "node \"%s\" (%s)", n->name, n->op->name),
              "\"%s\", from %g to %g, has the grid of \"%s\", from %g to %g, whose step is %g; use --ports float, "
              "which gives grids of their own to parts that only outputs read, or --min-sqnr, which widens grids",
              t->name, (double)part->least,
              (double)part->greatest, other->tensor->name, (double)other->least, (double)other->greatest, g->grid.step);
}

void warn_of_parts(Ctx *cx, const Graph *g, const Edges *e)
{
    Node **order;
    const int count = graph_order(cx, g, &order);
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        const Node *n = order[i];
        if (n->kind != NODE_CALL || n->out_count != 1 || !edge_of(e, n->out[0])) continue;
        for (int k = 0; k < n->in_count && n->op->layout.is_concat; k++) warn_of_part(cx, e, n, n->in[k]);
        if (n->op->layout.box && !n->op->layout.is_view) warn_of_part(cx, e, n, n->out[0]);
    }
}
