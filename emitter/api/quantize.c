/* SPDX-License-Identifier: MIT */
/* `loopwright quantize` turns a float model and samples into integer C. */
#include "api/computation/arguments.h"
#include "api/evaluate.h"
#include "api/finetune.h"
#include "api/page/quantize_page.h"
#include "api/precision_text.h"
#include "api/run.h"
#include "export/onnx_write.h"
#include "export/te_write.h"
#include "graph/quantize/output_parts.h"
#include "support/guard.h"

#include <stdlib.h>
#include <string.h>

typedef struct Quantizing {
    Ctx *cx; const lw_quantization *q; const lw_options *o; Quantized done; Text said;
    int float_count, listed; FloatCall *in_floats;
} Quantizing;

static bool read_ports(Ctx *cx, const char *word, Ports *out)
{
    static const struct { const char *word; Ports ports; } words[] = {
        { "int8", PORTS_INT8 }, { "int16", PORTS_INT16 }, { "float", PORTS_FLOAT },
    };
    *out = PORTS_INT8;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (word && !text_equal(word, words[i].word)) continue;
        *out = words[i].ports;
        return true;
    }
    diag_usage(cx, NULL, "--ports does not accept \"%s\"; use int8|int16|float", word);
    return false;
}

/* Prints the layers by the bits of their weights, if some have few. */
static void print_weights(Quantizing *z)
{
    enum { MOST = 8 };
    int of[MOST + 1] = { 0 };
    const char *before = "weights: ";
    if (!z->q->weights_bits && !z->q->flash) return;
    count_weight_bits(z->cx, &z->done.floats, &z->done.edges, of);
    for (int bits = MOST; bits > 0; bits--) {
        if (!of[bits]) continue;
        text_printf(&z->said, "%s%d %s of %d bits", before, of[bits], of[bits] == 1 ? "layer" : "layers", bits);
        before = ", ";
    }
    text_char(&z->said, '\n');
}

static void print_summary(Quantizing *z)
{
    const Edges *e = &z->done.edges;
    int of[FLOAT_BITS + 1] = { 0 };
    for (int i = 0; i < e->group_count; i++) of[group_bits(&e->group[i])]++;
    text_printf(&z->said, "%d %s on %d %s of 8 bits", e->count, e->count == 1 ? "tensor" : "tensors", of[8],
                of[8] == 1 ? "grid" : "grids");
    if (of[16]) text_printf(&z->said, " and %d of 16", of[16]);
    if (of[FLOAT_BITS]) text_printf(&z->said, ", %d in floats", of[FLOAT_BITS]);
    text_printf(&z->said, "; %d %s in floats\n", z->float_count, z->float_count == 1 ? "call stays" : "calls stay");
    print_weights(z);
    for (int i = 0; i < z->listed; i++) {
        const FloatCall *c = &z->in_floats[i];
        text_printf(&z->said, "stays in floats: %s (%s)", c->node->name,
                    c->node->kind == NODE_CALL ? c->node->op->name : "region");
        if (c->after) text_printf(&z->said, " and %d after it", c->after);
        text_printf(&z->said, ", %s\n", c->why);
    }
}

/* ---- The test set ------------------------------------------------------------------------------------------------ */

/* Prints the part of the output with the lowest signal to noise. */
static void print_worst(Quantizing *z, const Outputs *floats, const Outputs *y)
{
    const OutputParts p = parts_of_output(z->cx, z->done.floats.output[0]);
    int worst = 0;
    if (!p.of) return;
    for (int i = 1; i < p.count; i++)
        if (outputs_sqnr_of(floats, y, p.of, i) < outputs_sqnr_of(floats, y, p.of, worst)) worst = i;
    text_printf(&z->said, ", %s of \"%s\"", decibel_text(z->cx, outputs_sqnr_of(floats, y, p.of, worst)),
                p.name[worst]);
}

static void print_row(Quantizing *z, const char *what, const Outputs *floats, const Outputs *y, const int64_t *label)
{
    Ctx *cx = z->cx;
    text_printf(&z->said, "%-12s", what);
    if (label) text_printf(&z->said, "%10s", percent_text(cx, scores_right(y, label, 1), y->count));
    text_printf(&z->said, "%18s", floats == y ? "" : decibel_text(cx, outputs_sqnr(floats, y)));
    if (floats != y) print_worst(z, floats, y);
    text_char(&z->said, '\n');
}

/* Emits a graph of the quantization, on integers or in floats, and runs it. If the graph is NULL, uses the model as
 * imported, without grids, because the reference must not have the quantizer's changes. */
static bool emitted(Quantizing *z, const char *model, const Graph *g, bool on_integers, const Samples *s, Outputs *out)
{
    Build b;
    lw_options own = evaluated_options(z->o);
    own.qdq = on_integers ? NULL : "float";
    own.time_passes = false;
    own.stream = NULL;                 /* passes windows as a whole: outputs by hops have equal bytes */
    if (!build_read(&b, z->cx, model, &own)) return false;
    if (!g) model_without_grids(z->cx, &b.model);
    else {
        b.model.input = g->input;
        b.model.output = g->output;
    }
    b.mode.in_fixed_point = on_integers;
    return build_graph(&b) && build_nests(&b) && outputs_emitted(&b, s, out);
}

static void test(Quantizing *z, const char *model)
{
    Build b;
    Samples s;
    Outputs floats, simulated, integers;
    const lw_quantization *q = z->q;
    if (!build_read(&b, z->cx, model, z->o) || !samples_read(&b, q->test, q->test_count, &s)) return;
    const Samples stored = samples_for(z->cx, &s, z->done.simulated.input);
    if (!emitted(z, model, NULL, false, &s, &floats)) return;
    if (!emitted(z, model, &z->done.simulated, false, &stored, &simulated)) return;
    if (!emitted(z, model, &z->done.simulated, true, &stored, &integers)) return;
    const int64_t *label = q->labels ? labels_read(z->cx, q->labels, s.count, outputs_classes(&floats)) : NULL;
    if (ctx_failed(z->cx)) return;
    text_printf(&z->said, "%lld test samples%s%18s\n", (long long)s.count, label ? "  accuracy" : "",
                "signal to noise");
    print_row(z, "float", &floats, &floats, label);
    print_row(z, "simulated", &floats, &simulated, label);
    print_row(z, "integer C", &floats, &integers, label);
}

/* Writes the simulated graph with float ports. */
static bool write_onnx(Quantizing *z, const Build *b, const char *const *names)
{
    Bytes file;
    Graph g = simulate(z->cx, &z->done.floats, &z->done.edges, PORTS_FLOAT);
    g.name = b->name;
    return !ctx_failed(z->cx) && onnx_write(z->cx, &g, names, &file) &&
        file_write(z->cx, z->q->onnx, file.at, file.count);
}

static bool outputs_are_right(Ctx *cx, const char *output, const char *onnx, const char *report)
{
    if (!output && !onnx && !report) return is_given(cx, "lw_quantize", "the output", output);
    if (onnx && !text_equal(path_extension(onnx), "onnx"))
        diag_usage(cx, NULL, "the output \"%s\" must end in .onnx", onnx);
    if (report && !text_equal(path_extension(report), "html"))
        diag_usage(cx, NULL, "the report \"%s\" must end in .html", report);
    if (ctx_failed(cx) || (output && !build_is_c_file(cx, output))) return false;
    const char *const files[] = { output, onnx, report };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i] && !file_has_folder(cx, files[i])) return false;
    return true;
}

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

/* Reads an option that is a number with a unit; the unit may follow directly or after a space. A share requires the
 * unit %, because 0.5 could be meant as a half. */
typedef struct Bound {
    const char *option, *unit;
    bool needs_unit;
    double least, most;
    const char *example;
} Bound;
static const Bound drop_bound = { "--max-drop", "%", true, 0, 100, "0.5%" },
                   sqnr_bound = { "--min-sqnr", "dB", false, 0.1, 1000, "40dB" };

/* Returns false, with a diagnostic, if the text is not such a number. */
static bool read_bound(Ctx *cx, const Bound *b, const char *text, double *out)
{
    char *end = NULL;
    if (!text) return true;
    *out = strtod(text, &end);
    const bool has_number = end != text;
    end += strspn(end, " ");
    const bool has_unit = text_equal(end, b->unit) || (!*end && !b->needs_unit);
    if (has_number && has_unit && *out >= b->least && *out <= b->most) return true;
    diag_usage(cx, NULL, "%s does not accept \"%s\"; use a number from %g to %g, such as %s", b->option, text,
               b->least, b->most, b->example);
    return false;
}

/* Reads the bounds on the outputs over the samples, and the labels of the samples. */
static bool read_bounds(Ctx *cx, const lw_quantization *q, const Build *b, const Samples *s, QualityBounds *out)
{
    double drop = -100;
    *out = (QualityBounds){ .lists_layers = q->sensitivity || (q->report && s->count) };
    if (q->max_drop && !q->sample_labels)
        diag_usage(cx, NULL, "--max-drop requires the classes of the samples; pass --labels");
    if (q->sample_labels && !q->max_drop && !q->finetune)
        diag_usage(cx, NULL, "--labels has no effect without --max-drop or --finetune; add one of them");
    if (!read_bound(cx, &drop_bound, q->max_drop, &drop)) return false;
    out->most_drop = drop / 100;
    if (!read_bound(cx, &sqnr_bound, q->min_sqnr, &out->least_sqnr) || ctx_failed(cx)) return false;
    if (q->sample_labels) out->label = labels_read(cx, q->sample_labels, s->count, tensor_elems(b->model.output[0]));
    return !ctx_failed(cx);
}

static bool read_ranges(Ctx *cx, const char *word, RangeMethod *out)
{
    static const char *const words[] = {
        [RANGE_LEAST_ERROR] = "least", [RANGE_SQUARED] = "squared", [RANGE_MIN_MAX] = "min-max",
        [RANGE_PERCENTILE] = "percentile", [RANGE_DIVERGENCE] = "divergence", [RANGE_CURVES] = "curves",
        [RANGE_BEST] = "best",
    };
    enum { METHODS = sizeof words / sizeof words[0] };
    *out = RANGE_BEST;
    for (int i = 0; word && i < METHODS; i++)
        if (text_equal(word, words[i])) {
            *out = (RangeMethod)i;
            return true;
        }
    if (word) diag_usage(cx, NULL, "--ranges does not accept \"%s\"%s; use "
                         "best|least|squared|min-max|percentile|divergence|curves", word,
                         text_hint(cx, word, words, METHODS, ""));
    return !word;
}

static bool read_count(Ctx *cx, const char *option, const char *text, int least, int most, int *out)
{
    char *end = NULL;
    if (!text) return true;
    const long n = strtol(text, &end, 10);
    if (end != text && !*end && n >= least && n <= most) *out = (int)n;
    else diag_usage(cx, NULL, "%s does not accept \"%s\"; use a number from %d to %d", option, text, least,
                    most);
    return !ctx_failed(cx);
}

static bool read_finetuning(Ctx *cx, const lw_quantization *q, Finetuning *f)
{
    enum { MOST_EPOCHS = 10000, MOST_SEED = 1000000 };
    if (q->seed && !q->finetune) diag_usage(cx, NULL, "--seed has no effect without --finetune; add --finetune");
    return !ctx_failed(cx) && read_count(cx, "--finetune", q->finetune, 1, MOST_EPOCHS, &f->epochs)
        && read_count(cx, "--seed", q->seed, 0, MOST_SEED, &f->tuner.seed);
}

/* Reads the bits of weights, and the bytes that the constants may take. */
static bool read_weights(Ctx *cx, const lw_quantization *q, WeightBits *out)
{
    const char *bits = q->weights_bits ? q->weights_bits : "8";
    const bool is_auto = text_equal(bits, "auto");
    *out = (WeightBits){ 0 };
    if (text_equal(bits, "4") || text_equal(bits, "2")) out->bits = bits[0] - '0';
    else if (!is_auto && !text_equal(bits, "8"))
        diag_usage(cx, NULL, "--weights-bits does not accept \"%s\"; use 8, 4, 2 or auto", bits);
    if (is_auto && !q->flash)
        diag_usage(cx, NULL, "--weights-bits auto chooses widths that fit the flash; pass --flash BYTES");
    if (q->flash && q->weights_bits && !is_auto)
        diag_usage(cx, NULL, "--flash chooses the bits of weights, but --weights-bits is %s; use "
                   "--weights-bits auto, or omit one of the two options", bits);
    if (q->flash < 0)
        diag_usage(cx, NULL, "--flash is %lld; use a number of bytes, 1 or more", (long long)q->flash);
    out->flash = q->flash;
    return !ctx_failed(cx);
}

static bool has_bounds(const lw_quantization *q) { return q->min_sqnr || q->max_drop || q->sensitivity; }

static bool write_report(Quantizing *z, const char *model)
{
    const char *file = text_format(z->cx, "%s.%s", path_stem(z->cx, model), path_extension(model));
    const char *page = quantize_page(z->cx, file, &z->done, z->float_count, text_string(&z->said));
    return page && file_write(z->cx, z->q->report, page, strlen(page));
}

static const char **output_names(const Build *b)
{
    const char **names = NEW_ARRAY(b->cx->arena, const char *, b->model.output_count);
    for (int i = 0; i < b->model.output_count; i++) names[i] = b->model.output[i]->name;
    return names;
}

static const lw_quantization without_samples;

/* A model whose annotations give all grids does not need samples. */
static bool read_samples(Build *b, const lw_quantization *q, Samples *out)
{
    *out = (Samples){ 0 };
    return !q->sample_count || samples_read(b, q->samples, q->sample_count, out);
}

/* Collects the requests to a quantization, and its inputs. */
typedef struct Asked {
    Build b;
    Samples samples;
    const char **names;                /* the outputs' names before passes rename the outputs */
    QualityBounds bounds;
    Finetuning tuning;
    QuantizeSettings settings;
} Asked;

static bool read_asked(Ctx *cx, const char *model, const lw_quantization *q, const lw_options *o, bool measures,
                       Text *said, Asked *a)
{
    QuantizeSettings *s = &a->settings;
    *s = (QuantizeSettings){ .refines = q->refine, .per_tensor = q->per_tensor,
                             .no_equalization = q->no_equalization };
    a->tuning = (Finetuning){ .cx = cx, .model = model, .options = o, .said = said,
                              .tuner = { .self = &a->tuning, .seed = 1, .run = finetune_run } };
    if (!read_ports(cx, q->ports, &s->ports) || !build_read(&a->b, cx, model, o)) return false;
    if (!read_samples(&a->b, q, &a->samples)) return false;
    a->names = output_names(&a->b);
    if (!read_weights(cx, q, &s->weights) || !read_ranges(cx, q->ranges, &s->ranges)) return false;
    if (!read_finetuning(cx, q, &a->tuning)) return false;
    if (!read_bounds(cx, q, &a->b, &a->samples, &a->bounds)) return false;
    a->tuning.tuner.label = a->bounds.label;
    if (has_bounds(q) || (measures && a->samples.count)) s->bounds = &a->bounds;
    if (a->tuning.epochs) s->tuner = &a->tuning.tuner;
    return true;
}

static const char *quantize(Ctx *cx, const char *model, const char *output, const lw_quantization *q,
                            const lw_options *o)
{
    Asked a;
    o = options_of(cx, "lw_quantize", o);
    if (!o || !is_given(cx, "lw_quantize", "the model", model)) return NULL;
    if (!q) q = &without_samples;
    if (q->labels && !q->test_count) diag_usage(cx, NULL, "--test-labels has no effect without --test; add --test");
    if (ctx_failed(cx) || !are_given(cx, "lw_quantize", "the samples", q->samples, q->sample_count)) return NULL;
    if (!are_given(cx, "lw_quantize", "the test set", q->test, q->test_count)) return NULL;
    if (!outputs_are_right(cx, output, q->onnx, q->report)) return NULL;
    Quantizing z = { .cx = cx, .q = q, .o = o, .said = text_new(cx) };
    Build *b = &a.b;
    if (!read_asked(cx, model, q, o, q->report, &z.said, &a)) return NULL;
    if (!build_quantize(b, &a.samples, &a.settings, &z.done) || !build_graph(b) || !build_nests(b)) return NULL;
    z.listed = calls_in_floats(cx, &b->graph, &z.in_floats);
    for (int i = 0; i < z.listed; i++) z.float_count += 1 + z.in_floats[i].after;
    print_summary(&z);
    a.bounds.lists_layers = q->sensitivity;
    if (z.done.precision && has_bounds(q)) print_precision(cx, &z.said, z.done.precision, &a.bounds);
    if (q->test_count) test(&z, model);
    if (!ctx_failed(cx) && q->onnx) write_onnx(&z, b, a.names);
    if (!ctx_failed(cx) && q->report) write_report(&z, model);
    return !ctx_failed(cx) && (!output || (run_selftest(b) && build_write(b, output))) ? text_string(&z.said) : NULL;
}

/* ---- Stages as .te ----------------------------------------------------------------------------------------------- */

/* A stage of the quantization, and the function that prints it as a model; the function returns NULL on error. */
typedef struct QuantizeStage {
    const char *name;
    bool needs_grids;
    const char *(*print)(Build *b, const Quantized *done, const char *const *names);
} QuantizeStage;

static const char *print_annotated(Build *b, const Quantized *done, const char *const *names)
{
    const Graph g = annotated(b->cx, &done->floats, &done->edges, false);
    return te_write(b->cx, &g, names, "The float network. `loopwright quantize` chooses the grid of each "
                    "annotation from samples.\nbits=32 keeps a tensor in floats; a scale and a zero give its grid.");
}

static const char *print_calibrated(Build *b, const Quantized *done, const char *const *names)
{
    const Graph g = annotated(b->cx, &done->floats, &done->edges, true);
    return te_write(b->cx, &g, names, "The simulated network: floats, each annotated tensor rounded to its grid.\n"
                    "`loopwright quantize` realizes it on integers, without samples.");
}

static const char *print_realized(Build *b, const Quantized *done, const char *const *names)
{
    (void)done;
    b->mode.until = "fold";
    return build_graph(b) ? te_write(b->cx, &b->graph, names, "The integer network.") : NULL;
}

static const QuantizeStage quantize_stages[] = {
    { "annotated", false, print_annotated }, { "calibrated", true, print_calibrated },
    { "realized", true, print_realized },
};
enum { QUANTIZE_STAGES = sizeof quantize_stages / sizeof quantize_stages[0] };

static const QuantizeStage *stage_named(Ctx *cx, const char *at)
{
    const char *names[QUANTIZE_STAGES];
    for (int i = 0; i < QUANTIZE_STAGES; i++) {
        names[i] = quantize_stages[i].name;
        if (text_equal(at, names[i])) return &quantize_stages[i];
    }
    diag_usage(cx, NULL, "--at: unknown stage of quantization \"%s\"%s; use annotated, calibrated or realized",
               at ? at : "", text_hint(cx, at ? at : "", names, QUANTIZE_STAGES, ""));
    return NULL;
}

static const char *quantize_dumped(Ctx *cx, const char *model, const lw_quantization *q, const lw_options *o)
{
    Asked a;
    Quantized done;
    o = options_of(cx, "lw_quantize_dump", o);
    if (!o || !is_given(cx, "lw_quantize_dump", "the model", model)) return NULL;
    if (!q) q = &without_samples;
    const QuantizeStage *stage = stage_named(cx, o->at);
    if (!stage || !are_given(cx, "lw_quantize_dump", "the samples", q->samples, q->sample_count)) return NULL;
    Text said = text_new(cx);
    if (!read_asked(cx, model, q, o, false, &said, &a)) return NULL;
    const bool ok = stage->needs_grids ? build_quantize(&a.b, &a.samples, &a.settings, &done)
        : build_annotate(&a.b, a.settings.ports, &done);
    return ok ? stage->print(&a.b, &done, a.names) : NULL;
}

const char *lw_quantize_dump(lw_context *cx, const char *model, const lw_quantization *q, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, quantize_dumped(cx, model, q, o));
}

const char *lw_quantize(lw_context *cx, const char *model, const char *output, const lw_quantization *q,
                        const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, quantize(cx, model, output, q, o));
}
