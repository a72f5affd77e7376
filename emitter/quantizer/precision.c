/* SPDX-License-Identifier: MIT */
/* Mixed precision by need. The noise at the outputs is nearly the sum of the noises that each grid alone causes:
 *
 *     noise(widths) = sum(grids) noise of the grid at its width, alone;  a tensor in floats has none
 *
 * so the grids are ordered by noise removed for each unit of cost, and raised in this order: to 16 bits, and if all of
 * them are not enough, to floats. The shortest prefix that keeps the bound is found by bisection, on the simulated
 * network itself; then each raised grid is lowered again if the bound admits it. Equal grids are ordered by name. */
#include "quantizer/precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantizer/layers.h"

enum { SENSITIVITY_SAMPLES = 32 };

typedef struct Raise { const char *name; int group; double gain; } Raise;

typedef struct Search {
    const Build *b; Ctx *cx;
    const Graph *graph;
    const Samples *samples;
    QualityBounds bounds;
    int64_t searched;                  /* samples of each step: all if labels are counted */
    Edges *edges;
    Grid *narrow; int *least;          /* [groups] the first grids and widths: 8 bits, or the user's */
    float **want;                      /* [outputs] of the float network, over all samples */
    Precision *out;
} Search;

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

/* Runs the float network on all samples. */
static bool run_floats(Search *z)
{
    const Graph *g = z->graph;
    const int64_t count = z->samples->count;
    Runner *r = runner_new(z->b, g);
    z->want = NEW_ARRAY(z->cx->arena, float *, g->output_count);
    for (int o = 0; r && o < g->output_count; o++)
        z->want[o] = NEW_ARRAY(z->cx->arena, float, count * tensor_elems(g->output[o]));
    for (int64_t k = 0; r && k < count; k++) {
        if (!runner_run(r, z->samples, k)) return false;
        for (int o = 0; o < g->output_count; o++) {
            const int64_t each = tensor_elems(g->output[o]);
            memcpy(z->want[o] + k * each, runner_output(r, o), (size_t)each * sizeof(float));
        }
        if (z->bounds.label)
            z->out->right += greatest_at(runner_output(r, 0), tensor_elems(g->output[0])) == z->bounds.label[k];
    }
    return r && !ctx_failed(z->cx);
}

/* Adds the squares of an output and of its error. */
static void add_noise(const float *want, const float *got, int64_t count, double *signal, double *noise)
{
    for (int64_t i = 0; i < count; i++) {
        const double d = (double)want[i] - (double)got[i];
        *signal += (double)want[i] * (double)want[i];
        *noise += d * d;
    }
}

/* Compares a graph of the same ports with the float network. */
static bool compare(Search *z, const Graph *other, int64_t count, Quality *out)
{
    Ctx *cx = z->cx;
    const Graph *g = z->graph;
    Runner *r = ctx_failed(cx) ? NULL : runner_new(z->b, other);
    double *signal = NEW_ARRAY(cx->arena, double, 2 * g->output_count), *noise = signal + g->output_count;
    *out = (Quality){ INFINITY, 0 };
    for (int64_t k = 0; r && k < count; k++) {
        if (!runner_run(r, z->samples, k)) return false;
        for (int o = 0; o < g->output_count; o++) {
            const int64_t each = tensor_elems(g->output[o]);
            add_noise(z->want[o] + k * each, runner_output(r, o), each, &signal[o], &noise[o]);
        }
        if (z->bounds.label)
            out->right += greatest_at(runner_output(r, 0), tensor_elems(g->output[0])) == z->bounds.label[k];
    }
    for (int o = 0; o < g->output_count; o++) out->sqnr = fmin(out->sqnr, decibels(signal[o], noise[o]));
    return r && !ctx_failed(cx);
}

/* Measures the network with the widths that the groups have. */
static bool measure(Search *z, int64_t count, bool is_partial, Quality *out)
{
    z->edges->is_partial = is_partial;
    const Graph simulated = simulate(z->cx, z->graph, z->edges, PORTS_FLOAT);
    z->edges->is_partial = false;
    return compare(z, &simulated, count, out);
}

/* The same on integers. */
static bool measure_realized(Search *z, Quality *out)
{
    const Graph simulated = simulate(z->cx, z->graph, z->edges, PORTS_FLOAT);
    Build b = *z->b;
    b.model.input = simulated.input;
    b.model.output = simulated.output;
    b.in_fixed_point = true;
    return build_graph(&b) && compare(z, &b.graph, z->samples->count, out);
}

static void set_bits(Search *z, int group, int bits)
{
    EdgeGroup *g = &z->edges->group[group];
    g->bits = bits == FLOAT_BITS || !g->is_given ? bits : z->least[group];
    g->grid = bits == 16 && !g->is_given ? grid_wide(&g->seen) : z->narrow[group];
}

static bool holds(const Search *z, const Quality *q)
{
    const double share = z->samples->count ? (double)(z->out->right - q->right) / (double)z->samples->count : 0;
    return !(z->bounds.least_sqnr > 0 && q->sqnr < z->bounds.least_sqnr) &&
        !(z->bounds.most_drop >= 0 && share > z->bounds.most_drop);
}

/* ---- Sensitivities ----------------------------------------------------------------------------------------------- */

/* Measures the noise of each group's own tensors in the network of 8 bits. */
static bool measure_tensors(Search *z)
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
    for (int64_t k = 0; rounded && k < z->out->measured; k++) {
        if (!runner_run(real, z->samples, k) || !runner_run(rounded, z->samples, k)) return false;
        for (int i = 0; i < e->count; i++) {
            const int group = e->at[i].group;
            add_noise(runner_output(real, i), runner_output(rounded, i), tensor_elems(e->at[i].tensor), &signal[group],
                      &noise[group]);
        }
    }
    for (int i = 0; i < e->group_count; i++) z->out->at[i].own = decibels(signal[i], noise[i]);
    return rounded && !ctx_failed(cx);
}

static bool measure_alone(Search *z, int group)
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

static bool measure_all(Search *z)
{
    for (int i = 0; i < z->edges->group_count; i++) set_bits(z, i, FLOAT_BITS);
    for (int i = 0; i < z->edges->group_count; i++)
        if (!measure_alone(z, i)) return false;
    for (int i = 0; i < z->edges->group_count; i++) set_bits(z, i, 8);
    return true;
}

/* Counts elements, and the products of the layers that read them. */
static void count_work(Search *z, Ports ports)
{
    const Edges *e = z->edges;
    const Readers r = readers_of(z->cx, z->graph);
    for (int i = 0; i < e->count; i++) {
        LayerPrecision *l = &z->out->at[e->at[i].group];
        const Tensor *t = e->at[i].tensor;
        const ReaderList *readers = readers_list(&r, t);
        l->elements += tensor_elems(t);
        l->is_port = l->is_port || (ports != PORTS_FLOAT && graph_has_output(z->graph, t));
        for (int k = 0; k < z->graph->input_count; k++)
            l->is_port = l->is_port || (ports != PORTS_FLOAT && z->graph->input[k] == t);
        for (int k = 0; k < readers->count; k++) {
            Layer layer;
            if (!layer_of(&r, readers->at[k], &layer)) continue;
            const Tensor *w = layer.call->in[layer.weights];
            l->products += tensor_elems(layer.call->out[0]) * (tensor_elems(w) / channels_of(w));
        }
    }
    for (int i = 0; i < e->group_count; i++) z->out->at[i].name = e->group[i].name;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static int by_gain(const void *a, const void *b)
{
    const Raise *x = a, *y = b;
    return x->gain > y->gain ? -1 : x->gain < y->gain ? 1 : strcmp(x->name, y->name);
}

static double noise_of(double db) { return db >= 200 ? 0 : pow(10, -db / 10); }

/* The cost of a wider grid in the unit of a multiply-add: its products take longer, and its elements take memory. */
static double cost_of(const LayerPrecision *l, int bits)
{
    const double of_products = bits == FLOAT_BITS ? 8 : 1, of_elements = bits == FLOAT_BITS ? 16 : 4;
    return of_products * (double)l->products + of_elements * (double)l->elements;
}

/* Lists the groups that may have more bits, the best gain for its cost first. */
static int steps_to(Search *z, int bits, Raise *step)
{
    int count = 0;
    for (int i = 0; i < z->out->count; i++) {
        const LayerPrecision *l = &z->out->at[i];
        if (l->is_port || z->edges->group[i].is_wide || z->edges->group[i].is_given) continue;
        const double wide = noise_of(l->alone16);
        const double gain = bits == 16 ? noise_of(l->alone8) - wide : wide;
        step[count++] = (Raise){ l->name, i, fmax(gain, 0) / cost_of(l, bits) };
    }
    qsort(step, (size_t)count, sizeof *step, by_gain);
    return count;
}

static bool try_prefix(Search *z, const Raise *step, int count, int raised, int bits, int other, Quality *q)
{
    for (int i = 0; i < count; i++) set_bits(z, step[i].group, i < raised ? bits : other);
    return measure(z, z->searched, false, q);
}

/* Raises the shortest prefix that keeps the bounds from `other` to `bits`; all, if none does. */
static bool raise(Search *z, const Raise *step, int count, int bits, int other, Quality *q)
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

/* Lowers raised groups again, the least gain first, where the bounds still hold. */
static bool lower_again(Search *z, const Raise *step, int count, Quality *q)
{
    for (int i = count - 1; i >= 0; i--) {
        const int was = z->edges->group[step[i].group].bits;
        for (int bits = 8; bits < was; bits *= 2) {
            Quality less;
            set_bits(z, step[i].group, bits);
            if (!measure(z, z->searched, false, &less)) return false;
            if (holds(z, &less)) {
                *q = less;
                break;
            }
            set_bits(z, step[i].group, was);
        }
    }
    return true;
}

static void refuse(Search *z, const Quality *q)
{
    const bool is_drop = z->bounds.most_drop >= 0;
    const double drop = is_drop ? 100 * (double)(z->out->right - q->right) / (double)z->samples->count : 0;
    bool has_ports = false;
    for (int i = 0; i < z->out->count; i++) has_ports = has_ports || z->out->at[i].is_port;
    const char *hint = has_ports ? "; inputs and outputs keep their width: --ports float leaves them out" : "";
    if (z->bounds.least_sqnr > 0 && q->sqnr < z->bounds.least_sqnr)
        diag_error(z->cx, NULL, "--min-sqnr: no choice of widths reaches %g dB; the best has %.1f dB%s",
                   z->bounds.least_sqnr, q->sqnr, hint);
    else diag_error(z->cx, NULL, "--max-drop: no choice of widths loses at most %g %% of accuracy; the best loses %.2f "
                    "%%%s", 100 * z->bounds.most_drop, drop, hint);
}

/* Chooses widths for the simulated network. */
static bool search_once(Search *z)
{
    Precision *p = z->out;
    Raise *wide = NEW_ARRAY(z->cx->arena, Raise, p->count), *floats = NEW_ARRAY(z->cx->arena, Raise, p->count);
    const int count = steps_to(z, 16, wide);
    if (!raise(z, wide, count, 16, 8, &p->chosen)) return false;
    if (!holds(z, &p->chosen) && !raise(z, floats, steps_to(z, FLOAT_BITS, floats), FLOAT_BITS, 16, &p->chosen))
        return false;
    return !holds(z, &p->chosen) || lower_again(z, wide, count, &p->chosen);
}

/* Near a bound, the integers may miss what the simulation keeps: then the bound of the search is raised. */
static bool search(Search *z, const QualityBounds *bounds)
{
    enum { TRIES = 4 };
    const double margin = 0.1, one = 1 / (double)z->samples->count;
    for (int i = 0; i < TRIES; i++) {
        if (!search_once(z) || !measure_realized(z, &z->out->chosen)) return false;
        const double missing = bounds->least_sqnr - z->out->chosen.sqnr;
        if (missing > 0) z->bounds.least_sqnr += missing + margin;
        const Search given = { .samples = z->samples, .out = z->out, .bounds = *bounds };
        if (holds(&given, &z->out->chosen)) return true;
        if (bounds->most_drop >= 0 && !(missing > 0 && bounds->least_sqnr > 0))
            z->bounds.most_drop = fmax(0, z->bounds.most_drop - one);
    }
    z->bounds = *bounds;
    refuse(z, &z->out->chosen);
    return false;
}

bool choose_precision(const Build *b, const Graph *g, const Samples *s, Ports ports, const QualityBounds *bounds,
                      Edges *e, Precision *out)
{
    Ctx *cx = b->cx;
    Search z = { .b = b, .cx = cx, .graph = g, .samples = s, .bounds = *bounds, .edges = e, .out = out,
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
    z.searched = bounds->label ? s->count : out->measured;
    if (!run_floats(&z) || !measure_realized(&z, &out->narrow)) return false;
    out->chosen = out->narrow;
    out->count = e->group_count;
    out->at = NEW_ARRAY(cx->arena, LayerPrecision, e->group_count);
    count_work(&z, ports);
    if (!measure_tensors(&z)) return false;
    if ((bounds->lists_layers || !holds(&z, &out->narrow)) && !measure_all(&z)) return false;
    if (!holds(&z, &out->narrow) && !search(&z, bounds)) return false;
    for (int i = 0; i < e->group_count; i++) out->at[i].bits = e->group[i].bits;
    return !ctx_failed(cx);
}
