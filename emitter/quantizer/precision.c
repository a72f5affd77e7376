/* SPDX-License-Identifier: MIT */
/* Mixed precision by need. The noise at the outputs is nearly the sum of the noises that each grid alone causes:
 *
 *     noise(widths) = sum(grids) noise of the grid at its width, alone;  a tensor in floats has none
 *
 * Therefore the grids are ordered by the noise removed per unit of cost, and raised in this order: to 16 bits, and if
 * 16 bits for all of them are not enough, to floats. The cost is counted on the calls around the grid, as emitted: it
 * is the share of instructions plus the share of bytes that the width adds to the 8-bit network. Bisection finds the
 * shortest prefix that keeps the bound, measured on the simulated network. Then each raised grid is lowered again if
 * the bound admits it. Equal grids are ordered by name. */
#include "quantizer/precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/quantize/output_parts.h"
#include "graph/shrink/ranges.h"
#include "quantizer/layers.h"
#include "support/text.h"

enum { SENSITIVITY_SAMPLES = 8 };

typedef struct Raise { const char *name; int group; double gain; } Raise;

typedef struct Search {
    const Build *b; Ctx *cx;
    const Graph *model, *graph;        /* the float network before, and after, scales are moved between layers */
    const Samples *samples;
    QualityBounds bounds;
    int64_t searched;                  /* the samples of each step: all samples if labels are counted */
    Edges *edges;
    Grid *narrow; int *least;          /* [groups]: the first grids and widths, which are 8 bits or the user's */
    OutputParts *parts;                /* [outputs]: the parts of each output */
    float **want;                      /* the outputs of the float network, over all samples: runner_outputs */
    Ports ports;
    Precision *out;
    Quality best;                      /* the best figures of all realized choices, each figure separately */
} WidthSearch;

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static int64_t greatest_at(const float *v, int64_t count)
{
    int64_t at = 0;
    for (int64_t i = 1; i < count; i++)
        if (v[i] > v[at]) at = i;
    return at;
}

static double decibels(double signal, double noise)
{
    const double equal = 200;
    return noise > 0 && signal > 0 ? fmin(equal, 10 * log10(signal / noise)) : noise > 0 ? 0 : equal;
}

/* Runs the model's own float network on all samples, so that the preparations of quantization are also measured. */
static bool run_floats(WidthSearch *z)
{
    const int64_t count = z->samples->count, each = tensor_elems(z->graph->output[0]);
    z->want = runner_outputs(z->b, z->model, z->samples, count);
    z->parts = NEW_ARRAY(z->cx->arena, OutputParts, z->graph->output_count);
    for (int o = 0; o < z->graph->output_count; o++) z->parts[o] = parts_of_output(z->cx, z->graph->output[o]);
    for (int64_t k = 0; z->want && z->want[0] && z->bounds.label && k < count; k++)
        z->out->right += greatest_at(z->want[0] + k * each, each) == z->bounds.label[k];
    return z->want != NULL;
}

/* The noise of an output's parts. */
typedef struct Noise { double *signal, *noise; } Noise;

static void add_parts(const OutputParts *p, const float *want, const float *got, int64_t count, Noise *n)
{
    if (!p->of) {
        add_noise(want, got, count, n->signal, n->noise);
        return;
    }
    for (int64_t i = 0; i < count; i++) add_noise(&want[i], &got[i], 1, &n->signal[p->of[i]], &n->noise[p->of[i]]);
}

/* Enters the worst part, or the output if there are several outputs. */
static void find_worst(const OutputParts *p, const Noise *n, const char *output, Quality *out)
{
    for (int i = 0; i < p->count; i++) {
        const double sqnr = decibels(n->signal[i], n->noise[i]);
        if (sqnr >= out->sqnr) continue;
        out->sqnr = sqnr;
        out->worst = p->of ? p->name[i] : output;
    }
}

/* Compares a graph, which has the ports of the float network, with the float network. */
static bool compare(WidthSearch *z, const Graph *other, int64_t count, Quality *out)
{
    Ctx *cx = z->cx;
    const Graph *g = z->graph;
    Runner *r = ctx_failed(cx) ? NULL : runner_new(z->b, other);
    Noise *noise = NEW_ARRAY(cx->arena, Noise, g->output_count);
    *out = (Quality){ INFINITY, 0, NULL };
    for (int o = 0; o < g->output_count; o++)
        noise[o] = (Noise){ NEW_ARRAY(cx->arena, double, z->parts[o].count),
                            NEW_ARRAY(cx->arena, double, z->parts[o].count) };
    bool is_good = r != NULL;
    for (int64_t k = 0; is_good && k < count; k++) {
        is_good = runner_run(r, z->samples, k);
        for (int o = 0; is_good && o < g->output_count; o++) {
            const int64_t each = tensor_elems(g->output[o]);
            if (z->want[o]) add_parts(&z->parts[o], z->want[o] + k * each, runner_output(r, o), each, &noise[o]);
        }
        if (is_good && z->bounds.label && z->want[0])
            out->right += greatest_at(runner_output(r, 0), tensor_elems(g->output[0])) == z->bounds.label[k];
    }
    runner_free(r);
    for (int o = 0; o < g->output_count; o++)
        find_worst(&z->parts[o], &noise[o], g->output_count > 1 ? g->output[o]->name : NULL, out);
    return is_good && !ctx_failed(cx);
}

/* Measures the network with the present widths of the groups. */
static bool measure(WidthSearch *z, int64_t count, bool is_partial, Quality *out)
{
    z->edges->is_partial = is_partial;
    const Graph simulated = simulate(z->cx, z->graph, z->edges, PORTS_FLOAT);
    z->edges->is_partial = false;
    return compare(z, &simulated, count, out);
}

/* Measures the network with the present widths on integers. */
static bool measure_realized(WidthSearch *z, Quality *out)
{
    const Graph simulated = simulate(z->cx, z->graph, z->edges, PORTS_FLOAT);
    Build b = *z->b;
    b.model.input = simulated.input;
    b.model.output = simulated.output;
    b.mode.in_fixed_point = true;
    return build_graph(&b) && compare(z, &b.graph, z->samples->count, out);
}

static void set_bits(WidthSearch *z, int group, int bits)
{
    EdgeGroup *g = &z->edges->group[group];
    if (g->is_wide && bits != FLOAT_BITS) {              /* the group's grid has 16 bits in any case */
        g->bits = z->least[group];
        return;
    }
    g->bits = bits == FLOAT_BITS || !g->is_given ? bits : z->least[group];
    g->grid = bits != 16 || g->is_given ? z->narrow[group]
            : g->is_term ? grid_short(grid_wide(&g->seen)) : grid_wide(&g->seen);
}

static bool holds(const WidthSearch *z, const Quality *q)
{
    const double share = z->samples->count ? (double)(z->out->right - q->right) / (double)z->samples->count : 0;
    return !(z->bounds.least_sqnr > 0 && q->sqnr < z->bounds.least_sqnr) &&
        !(z->bounds.most_drop >= 0 && share > z->bounds.most_drop);
}

/* ---- Sensitivities ----------------------------------------------------------------------------------------------- */

/* Measures the noise of each group's own tensors in the 8-bit network. If the readers of a group round its wide
 * tensors, the noise is NaN. */
static bool measure_tensors(WidthSearch *z)
{
    Ctx *cx = z->cx;
    const Edges *e = z->edges;
    Graph observed = *z->graph;
    observed.output = NEW_ARRAY(cx->arena, Tensor *, e->count);
    observed.output_count = e->count;
    for (int i = 0; i < e->count; i++) observed.output[i] = e->at[i].tensor;
    const Graph simulated = simulate(cx, &observed, e, PORTS_FLOAT);
    Runner *real = ctx_failed(cx) ? NULL : runner_new(z->b, &observed);
    Runner *rounded = real ? runner_new(z->b, &simulated) : NULL;
    double *signal = NEW_ARRAY(cx->arena, double, 2 * e->group_count), *noise = signal + e->group_count;
    bool is_good = rounded != NULL;
    for (int64_t k = 0; is_good && k < z->out->measured; k++) {
        is_good = runner_run(real, z->samples, k) && runner_run(rounded, z->samples, k);
        for (int i = 0; is_good && i < e->count; i++) {
            const int group = e->at[i].group;
            add_noise(runner_output(real, i), runner_output(rounded, i), tensor_elems(e->at[i].tensor), &signal[group],
                      &noise[group]);
        }
    }
    runner_free(rounded);
    runner_free(real);
    for (int i = 0; i < e->group_count; i++)
        z->out->at[i].own = e->group[i].is_wide ? NAN : decibels(signal[i], noise[i]);
    return is_good && !ctx_failed(cx);
}

static bool measure_alone(WidthSearch *z, int group)
{
    Quality q;
    LayerPrecision *l = &z->out->at[group];
    for (int bits = 8; bits <= 16; bits += 8) {
        set_bits(z, group, bits);
        if (!measure(z, z->out->measured, true, &q)) return false;
        *(bits == 8 ? &l->alone8 : &l->alone16) = q.sqnr;
    }
    set_bits(z, group, FLOAT_BITS);
    return true;
}

static bool measure_all(WidthSearch *z)
{
    const int count = z->edges->group_count;
    const int64_t each = z->out->measured;
    for (int i = 0; i < count; i++) set_bits(z, i, FLOAT_BITS);
    for (int i = 0; i < count; i++)
        if (!build_progress(z->b, "measuring sensitivities", i * each, count * each) || !measure_alone(z, i))
            return false;
    for (int i = 0; i < count; i++) set_bits(z, i, 8);
    return true;
}

static void name_groups(WidthSearch *z)
{
    const Edges *e = z->edges;
    for (int i = 0; i < e->count; i++) {
        LayerPrecision *l = &z->out->at[e->at[i].group];
        const Tensor *t = e->at[i].tensor;
        l->is_port = l->is_port || (z->ports != PORTS_FLOAT && graph_has_output(z->graph, t));
        for (int k = 0; k < z->graph->input_count; k++)
            l->is_port = l->is_port || (z->ports != PORTS_FLOAT && z->graph->input[k] == t);
    }
    for (int i = 0; i < e->group_count; i++) {
        const EdgeGroup *g = &e->group[i];
        LayerPrecision *l = &z->out->at[i];
        l->name = g->name;
        l->first = l->bits = group_bits(g);
        l->has_one_width = g->is_given || g->is_wide;
    }
}

/* ---- Costs ------------------------------------------------------------------------------------------------------- */

/* Returns true if the search may widen the group. A wide group may be widened only to floats, together with the integer
 * weights of its layers. */
static bool is_free(const WidthSearch *z, int group)
{
    const EdgeGroup *g = &z->edges->group[group];
    return !z->out->at[group].is_port && !g->is_given;
}

static NetworkCost cost_less(NetworkCost a, NetworkCost b)
{
    return (NetworkCost){ a.instructions - b.instructions, a.bytes - b.bytes };
}

/* Counts the calls around a group with each of its widths, all other grids having 8 bits. */
static bool count_group(WidthSearch *z, int group)
{
    enum { WIDTHS = 3 };
    static const int width[WIDTHS] = { 8, 16, FLOAT_BITS };
    NetworkCost cost[WIDTHS];
    Edges edges;
    const Graph part = part_around(z->cx, z->graph, z->edges, group, &edges);
    for (int i = 0; i < WIDTHS; i++) {
        set_bits(z, group, width[i]);
        if (ctx_failed(z->cx) || !network_cost(z->b, &part, &edges, PORTS_FLOAT, &cost[i])) return false;
    }
    set_bits(z, group, 8);
    z->out->at[group].wide = cost_less(cost[1], cost[0]);
    z->out->at[group].floats = cost_less(cost[2], cost[1]);
    return true;
}

/* Counts the cost that wider grids add. */
static bool count_all(WidthSearch *z)
{
    for (int i = 0; i < z->out->count; i++)
        if (is_free(z, i) && !count_group(z, i)) return false;
    return true;
}

int64_t trial_samples(Ctx *cx, const Graph *g, int64_t most_macs)
{
    enum { LEAST = 8 };
    const int64_t samples = most_macs / sat_add(1, graph_macs(cx, g));
    return samples < LEAST ? LEAST : samples < TRIAL_SAMPLES ? samples : TRIAL_SAMPLES;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static int by_gain(const void *a, const void *b)
{
    const Raise *x = a, *y = b;
    return x->gain > y->gain ? -1 : x->gain < y->gain ? 1 : strcmp(x->name, y->name);
}

static double noise_of(double db) { return db >= 200 ? 0 : pow(10, -db / 10); }

/* Returns the added cost as a share of the 8-bit network; it is positive, even if the wider form is cheaper. */
static double share_of(const WidthSearch *z, const NetworkCost *added)
{
    const double least = 1e-6;
    const NetworkCost *whole = &z->out->narrow_cost;
    return fmax((double)added->instructions / fmax((double)whole->instructions, 1), 0)
        + fmax((double)added->bytes / fmax((double)whole->bytes, 1), 0) + least;
}

/* Lists the groups that may have more bits, starting with the best gain per cost. */
static int steps_to(WidthSearch *z, int bits, Raise *step)
{
    int count = 0;
    for (int i = 0; i < z->out->count; i++) {
        const LayerPrecision *l = &z->out->at[i];
        if (!is_free(z, i) || (bits == 16 && z->edges->group[i].is_wide)) continue;
        const double wide = noise_of(l->alone16);
        const double gain = bits == 16 ? noise_of(l->alone8) - wide : wide;
        step[count++] = (Raise){ l->name, i, fmax(gain, 0) / share_of(z, bits == 16 ? &l->wide : &l->floats) };
    }
    qsort(step, (size_t)count, sizeof *step, by_gain);
    return count;
}

static bool try_prefix(WidthSearch *z, const Raise *step, int count, int raised, int bits, int other, Quality *q)
{
    for (int i = 0; i < count; i++) set_bits(z, step[i].group, i < raised ? bits : other);
    return measure(z, z->searched, false, q);
}

/* Raises the shortest prefix of the steps that keeps the bounds, from `other` to `bits`. Raises all steps if no prefix
 * keeps them. */
static bool raise(WidthSearch *z, const Raise *step, int count, int bits, int other, Quality *q)
{
    int least = 0, most = count;
    if (!try_prefix(z, step, count, count, bits, other, q) || !holds(z, q)) return !ctx_failed(z->cx);
    while (least < most) {
        const int middle = least + (most - least) / 2;
        if (!try_prefix(z, step, count, middle, bits, other, q)) return false;
        if (holds(z, q)) most = middle;
        else least = middle + 1;
    }
    return try_prefix(z, step, count, least, bits, other, q);
}

/* Returns true if 8 bits for the group may keep the bound: noises add up, to within a factor of two. */
static bool may_be_narrow(const WidthSearch *z, int group, const Quality *q)
{
    const LayerPrecision *l = &z->out->at[group];
    const double added = fmax(noise_of(l->alone8) - noise_of(l->alone16), 0);
    return !(z->bounds.least_sqnr > 0) || noise_of(q->sqnr) + added <= 2 * noise_of(z->bounds.least_sqnr);
}

/* Lowers raised groups again, starting with the smallest gain, if the bounds still hold. */
static bool lower_again(WidthSearch *z, const Raise *step, int count, Quality *q)
{
    for (int i = count - 1; i >= 0; i--) {
        const int group = step[i].group, was = z->edges->group[group].bits;
        const int most = z->edges->group[group].is_wide ? 16 : was;
        const int64_t each = z->searched;
        if (!build_progress(z->b, "choosing widths", (count - 1 - i) * each, count * each)) return false;
        for (int bits = may_be_narrow(z, group, q) ? 8 : 16; bits < was && bits <= most; bits *= 2) {
            Quality less;
            set_bits(z, group, bits);
            if (!measure(z, z->searched, false, &less)) return false;
            if (holds(z, &less)) {
                *q = less;
                break;
            }
            set_bits(z, group, was);
        }
    }
    return true;
}

/* Reports the bound that is out of reach, and the best figure of all choices, including the first widths. */
static void refuse(WidthSearch *z)
{
    const Quality *q = holds(z, &z->best) ? &z->out->chosen : &z->best;
    const bool is_drop = z->bounds.most_drop >= 0;
    const double drop = is_drop ? 100 * (double)(z->out->right - q->right) / (double)z->samples->count : 0;
    bool has_ports = false;
    for (int i = 0; i < z->out->count; i++) has_ports = has_ports || z->out->at[i].is_port;
    const char *hint = has_ports ? "; inputs and outputs keep their width, so pass --ports float to leave them in "
                                   "floats" : "";
    if (z->bounds.least_sqnr > 0 && q->sqnr < z->bounds.least_sqnr)
        diag_error(z->cx, NULL, "--min-sqnr: no choice of widths reaches %g dB; the best has %.1f dB%s%s",
                   z->bounds.least_sqnr, q->sqnr, q->worst ? text_format(z->cx, " of \"%s\"", q->worst) : "",
                   hint);
    else diag_error(z->cx, NULL, "--max-drop: the best choice of widths loses %.2f %% of accuracy, above %g %%; raise "
                    "--max-drop%s", drop, 100 * z->bounds.most_drop, hint);
}

/* Chooses widths for the simulated network. */
static bool search_once(WidthSearch *z)
{
    Precision *p = z->out;
    Raise *wide = NEW_ARRAY(z->cx->arena, Raise, p->count), *floats = NEW_ARRAY(z->cx->arena, Raise, p->count);
    int count = steps_to(z, 16, wide);
    const int all = steps_to(z, FLOAT_BITS, floats);
    if (!raise(z, wide, count, 16, 8, &p->chosen)) return false;
    if (!holds(z, &p->chosen) && !raise(z, floats, all, FLOAT_BITS, 16, &p->chosen)) return false;
    for (int i = 0; i < all; i++)                        /* lowered first: whole layers in floats */
        if (z->edges->group[floats[i].group].is_wide) wide[count++] = floats[i];
    return !holds(z, &p->chosen) || lower_again(z, wide, count, &p->chosen);
}

static Quality better(Quality a, Quality b)
{
    const Quality *quiet = b.sqnr > a.sqnr ? &b : &a;
    return (Quality){ quiet->sqnr, a.right > b.right ? a.right : b.right, quiet->worst };
}

/* Searches for widths that keep the bounds on integers. Integers may violate a bound that their simulation satisfies;
 * the bound of the search is then raised. */
static bool search(WidthSearch *z, const QualityBounds *bounds)
{
    enum { TRIES = 4 };
    const double margin = 0.1, one = 1 / (double)z->samples->count;
    z->best = z->out->narrow;
    for (int i = 0; i < TRIES; i++) {
        if (!search_once(z) || !measure_realized(z, &z->out->chosen)) return false;
        z->best = better(z->best, z->out->chosen);
        const double missing = bounds->least_sqnr - z->out->chosen.sqnr;
        if (missing > 0) z->bounds.least_sqnr += missing + margin;
        const WidthSearch given = { .samples = z->samples, .out = z->out, .bounds = *bounds };
        if (holds(&given, &z->out->chosen)) return true;
        if (bounds->most_drop >= 0 && !(missing > 0 && bounds->least_sqnr > 0))
            z->bounds.most_drop = fmax(0, z->bounds.most_drop - one);
    }
    z->bounds = *bounds;
    refuse(z);
    return false;
}

/* The choices that samples decide: range methods, and scales of weights. */
typedef struct Trial { WidthSearch search; const ChannelStats *stats; const LastLayers *last; double best; } Trial;

/* Returns true if the present choice, with biases corrected for it, has less noise at the outputs than all earlier
 * choices. */
static bool is_better(Trial *t)
{
    Quality q;
    WidthSearch *z = &t->search;
    Map corrected = corrected_biases(z->cx, z->graph, z->edges, t->stats);
    z->edges->corrected = &corrected;
    const bool is_measured = !ctx_failed(z->cx) &&
        correct_last_biases(t->last, z->edges, z->samples->count, &corrected) &&
        measure(z, z->samples->count, false, &q);
    z->edges->corrected = NULL;
    if (!is_measured || q.sqnr <= t->best) return false;
    t->best = q.sqnr;
    return true;
}

/* Tries the smallest weight scales and slightly coarser ones (by 2^-8 and more), which round the weights differently,
 * and keeps the scales with the lowest noise. */
static bool choose_scales(Trial *t)
{
    enum { SCALES = 5 };
    WidthSearch *z = &t->search;
    int best = z->edges->coarser;
    const int was = best;
    for (int i = 0; i < SCALES && !ctx_failed(z->cx); i++) {
        if (i == was) continue;
        z->edges->coarser = i;
        if (!build_progress(z->b, "choosing scales", i * z->samples->count, SCALES * z->samples->count)) return false;
        if (is_better(t)) best = i;
    }
    z->edges->coarser = best;
    return !ctx_failed(z->cx);
}

/* Tries steps of the outputs that are larger by 256ths, and keeps the steps with the lowest noise. Chance determines
 * how far a nearly constant output is from a multiple of the step. */
static bool choose_steps(Trial *t, RangeMethod method)
{
    enum { STEPS = 4 };
    WidthSearch *z = &t->search;
    int best = z->edges->wider;
    const int was = best;
    for (int i = 0; i < STEPS && !ctx_failed(z->cx); i++) {
        if (i == was) continue;
        z->edges->wider = i;
        choose_grids(z->cx, z->edges, method);
        if (is_better(t)) best = i;
    }
    z->edges->wider = best;
    choose_grids(z->cx, z->edges, method);
    return !ctx_failed(z->cx);
}

/* Lets the last biases follow the rounding of their results, if this lowers the noise. The noise falls if results vary
 * by more than a step. */
static bool choose_biases(Trial *t)
{
    Edges *e = t->search.edges;
    e->follows_rounding = !e->follows_rounding;
    if (!is_better(t)) e->follows_rounding = !e->follows_rounding;
    return !ctx_failed(t->search.cx);
}

/* Chooses steps, scales and biases in turn. Repeats the choices once if they lower the noise, because each choice
 * depends on the other ones. */
static bool choose_others(Trial *t, RangeMethod method)
{
    const double before = t->best;
    bool is_good = choose_steps(t, method) && choose_scales(t) && choose_biases(t);
    if (is_good && t->best > before) is_good = choose_steps(t, method) && choose_scales(t) && choose_biases(t);
    return is_good;
}

bool choose_ranges(const Build *b, const Graph *model, const Graph *g, const Samples *s, RangeMethod method,
                   const ChannelStats *stats, const LastLayers *last, Edges *e)
{
    static const RangeMethod method_of[] = { RANGE_LEAST_ERROR, RANGE_MIN_MAX, RANGE_PERCENTILE, RANGE_CURVES };
    enum { METHODS = sizeof method_of / sizeof method_of[0] };
    const QualityBounds none = { .most_drop = -1 };
    Precision out = { 0 };
    Samples some = *s;
    const int64_t most = trial_samples(b->cx, g, CHOICE_MACS);
    if (some.count > most) some.count = most;
    Trial t = { { .b = b, .cx = b->cx, .model = model, .graph = g, .samples = &some, .bounds = none, .edges = e,
                  .out = &out },
                stats, last, -INFINITY };
    RangeMethod best = RANGE_LEAST_ERROR;
    if (!choose_by_results(b, g, s, e) || (method == RANGE_BEST && !run_floats(&t.search))) return false;
    const bool has_curves = choose_by_curves(b->cx, e);
    const int methods = method != RANGE_BEST ? 0 : has_curves ? METHODS : METHODS - 1;
    for (int i = 0; i < methods && !ctx_failed(b->cx); i++) {
        choose_grids(b->cx, e, method_of[i]);
        if (!build_progress(b, "choosing ranges", i * some.count, methods * some.count)) return false;
        if (is_better(&t)) best = method_of[i];
    }
    choose_grids(b->cx, e, method == RANGE_BEST ? best : method);
    return method == RANGE_BEST ? choose_others(&t, best) : !ctx_failed(b->cx);
}

bool measure_unseen(const Build *b, const Graph *model, const Graph *g, const Samples *s, Edges *e, double *sqnr)
{
    const int64_t half = s->count / 2;
    const Samples seen = samples_from(s, 0, half), unseen = samples_from(s, half, half);
    Precision out = { 0 };
    Quality q;
    WidthSearch z = { .b = b, .cx = b->cx, .model = model, .graph = g, .samples = &unseen,
                      .bounds = { .most_drop = -1 }, .edges = e, .out = &out };
    if (!calibrate(b, g, &seen, half, e, NULL) || !choose_by_results(b, g, &seen, e)) return false;
    choose_grids(b->cx, e, RANGE_LEAST_ERROR);
    if (!run_floats(&z) || !measure(&z, unseen.count, false, &q)) return false;
    *sqnr = q.sqnr;
    return true;
}

bool choose_precision(const Build *b, const Graph *model, const Graph *g, const Samples *s, Ports ports,
                      const QualityBounds *bounds, Edges *e, Precision *out)
{
    Ctx *cx = b->cx;
    WidthSearch z = { .b = b, .cx = cx, .model = model, .graph = g, .samples = s, .bounds = *bounds, .edges = e,
                      .ports = ports, .out = out,
                      .narrow = NEW_ARRAY(cx->arena, Grid, e->group_count),
                      .least = NEW_ARRAY(cx->arena, int, e->group_count) };
    const bool is_bounded = bounds->least_sqnr > 0 || bounds->most_drop >= 0;
    *out = (Precision){ .samples = s->count,
                        .measured = s->count < SENSITIVITY_SAMPLES ? s->count : SENSITIVITY_SAMPLES };
    if (!is_bounded && !bounds->lists_layers) return true;
    for (int i = 0; i < e->group_count; i++) {
        z.narrow[i] = e->group[i].grid;
        z.least[i] = e->group[i].bits;
    }
    const int64_t most = trial_samples(cx, g, SEARCH_MACS);
    z.searched = bounds->label || s->count < most ? s->count : most;
    if (!run_floats(&z) || !measure_realized(&z, &out->narrow)) return false;
    out->chosen = out->narrow;
    out->count = e->group_count;
    out->at = NEW_ARRAY(cx->arena, LayerPrecision, e->group_count);
    name_groups(&z);
    if (!measure_tensors(&z)) return false;
    if ((bounds->lists_layers || !holds(&z, &out->narrow)) && !measure_all(&z)) return false;
    const bool is_widened = !holds(&z, &out->narrow);
    if (is_bounded && !network_cost(b, g, e, ports, &out->narrow_cost)) return false;
    if (is_widened && (!count_all(&z) || !search(&z, bounds))) return false;
    if (is_widened && !network_cost(b, g, e, ports, &out->chosen_cost)) return false;
    for (int i = 0; i < e->group_count; i++) out->at[i].bits = group_bits(&e->group[i]);
    return !ctx_failed(cx);
}
