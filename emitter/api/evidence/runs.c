/* SPDX-License-Identifier: MIT */
/* The tables of runs: test vectors, the checksum of each layer on each of them, and the log of verify.
 *
 * The vectors are generated inputs, and inputs at the ends of the ranges of their types, on which sums and clamps are
 * extreme. The interpreter computes the expected results; run_recorded compares the emitted nests with the model as
 * imported before a checksum is taken. */
#include <string.h>

#include "api/elements.h"
#include "api/evidence/evidence.h"
#include "api/run.h"
#include "api/verify.h"
#include "support/sha256.h"

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

/* The value of all elements of an input of a vector; NULL: generated elements. */
typedef Scalar Fill(const DTypeInfo *type);
static Scalar least(const DTypeInfo *d) { return (Scalar){ .i = d->least }; }
static Scalar greatest(const DTypeInfo *d) { return (Scalar){ .i = d->greatest }; }
static Scalar nothing(const DTypeInfo *d) { (void)d; return (Scalar){ .i = 0 }; }
static const struct { const char *name; Fill *fill; } kinds[] = {
    { "generated", NULL }, { "zeros", nothing }, { "least", least }, { "greatest", greatest },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The ends of a range of floats, which have none in the file. */
static const double FLOAT_END = 1;

/* Elements that index a tensor have their own range, so they stay generated. */
static void *filled(Ctx *cx, const Tensor *t, Fill *fill)
{
    const int64_t count = tensor_elems(t);
    void *data = arena_alloc(cx->arena, (size_t)tensor_bytes(t));
    Scalar v = fill(dtype_info(t->type));
    if (dtype_is_float(t->type)) v.f = fill == least ? -FLOAT_END : fill == greatest ? FLOAT_END : 0;
    for (int64_t i = 0; i < count; i++) dtype_store(t->type, data, i, v);
    return data;
}

static bool is_filled(const Build *b, int input)
{
    const DType t = b->model.input[input]->type;
    return build_state_of_input(b, input) < 0 && (dtype_is_float(t) || dtype_info(t)->bytes <= 2);
}

static const void **inputs_of(Evidence *e, Fill *fill, bool *is_other)
{
    Build *b = e->b;
    const void **inputs;
    if (!run_inputs(b, NULL, 0, &inputs)) return NULL;
    for (int i = 0; i < b->model.input_count && fill; i++) {
        if (!is_filled(b, i)) continue;
        inputs[i] = filled(e->cx, b->model.input[i], fill);
        *is_other = true;
    }
    return inputs;
}

/* A loop whose end data decide may not end on inputs that the model does not expect. */
static bool ends_always(const Build *b)
{
    for (const Build *g = b->tree.next; g; g = g->tree.next)
        if (g->tree.region && g->tree.region->region->kind == REGION_LOOP && region_trip_count(g->tree.region) < 0)
            return false;
    return true;
}

static bool make_vectors(Evidence *e)
{
    const int count = ends_always(e->b) ? KINDS : 1;
    e->vectors.at = NEW_ARRAY(e->cx->arena, Vector, KINDS);
    for (int i = 0; i < count; i++) {
        bool is_other = !kinds[i].fill;
        const void **inputs = inputs_of(e, kinds[i].fill, &is_other);
        if (!inputs) return false;
        if (!is_other) continue;
        if (!run_recorded(e->b, inputs)) return false;
        e->vectors.at[e->vectors.count++] = (Vector){ kinds[i].name, inputs, e->b->observed.recorded };
    }
    return true;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void add_port(Evidence *e, Table *t, const Vector *v, const char *role, const char *name, const Tensor *x,
                     const void *data)
{
    x = build_actual(e->b, x);
    const char *path = text_format(e->cx, "vectors/%s.%s.npy", v->name, name);
    const Bytes file = elements_bytes(e->cx, x, data);
    evidence_file(e, path, file.at, file.count);
    trace_text(t, v->name);
    trace_text(t, role);
    trace_text(t, name);
    trace_text(t, text_format(e->cx, "%s %s", dtype_info(x->type)->spelling, tensor_shape_text(e->cx, x)));
    trace_text(t, path);
    trace_text(t, sha256_hex(e->cx, file.at, file.count));
}

static void add_vectors(Evidence *e)
{
    const Program *p = &e->b->program;
    Table *t = trace_table(&e->trace, "vectors", "Test vectors",
                           "Inputs as .npy files, and the outputs that the interpreter of the compiler computes from "
                           "them. All elements of the inputs are generated, 0, or at an end of the range of their type "
                           "(-1 and 1 for floats). `loopwright verify MODEL IN.npy... --expect OUT.npy...` repeats a "
                           "run.", "vector role port type file sha256");
    for (int i = 0; i < e->vectors.count; i++) {
        const Vector *v = &e->vectors.at[i];
        for (int k = 0; k < p->input_count; k++)
            add_port(e, t, v, "input", text_format(e->cx, "in_%s", p->input[k].name), p->input[k].tensor,
                     env_get(v->all, p->input[k].tensor));
        for (int k = 0; k < p->output_count; k++) {
            const Tensor *x = e->b->graph.output[run_output_number(e->b, k)];
            add_port(e, t, v, "output", text_format(e->cx, "out_%s", p->output[k].name), x, env_get(v->all, x));
        }
    }
}

static void add_checksums(Evidence *e)
{
    Build *b = e->b;
    Table *t = trace_table(&e->trace, "checksums", "Checksums of layers",
                           "The FNV-1a sum of the result of each layer on each vector, as NAME_selftest computes it on "
                           "the device (`--selftest vectors/VECTOR.in_PORT.npy`).",
                           "vector layer result bytes fnv1a");
    for (int i = 0; i < e->vectors.count; i++)
        for (int g = 0; g < b->groups.count; g++)
            for (int k = 0; k < b->groups.at[g].output_count; k++) {
                const Tensor *x = b->groups.at[g].output[k];
                const void *data = env_get(e->vectors.at[i].all, x);
                if (!data) continue;
                trace_text(t, e->vectors.at[i].name);
                trace_number(t, json_layer_id(&e->report, b, g));
                trace_text(t, x->name);
                trace_number(t, tensor_bytes(build_actual(b, x)));
                trace_text(t, text_format(e->cx, "%08lx", (unsigned long)build_checksum(b, x, data)));
            }
}

static bool verify(Evidence *e)
{
    lw_options o = *e->b->options;
    o.input_count = 0;
    o.mhz = 0;
    if (!o.runner) o.cc = NULL;              /* --cc alone is the target's compiler, which measures */
    const int count = e->vectors.count;
    const char **name = NEW_ARRAY(e->cx->arena, const char *, count);
    const void *const **inputs = NEW_ARRAY(e->cx->arena, const void *const *, count);
    for (int i = 0; i < count; i++) {
        name[i] = e->vectors.at[i].name;
        inputs[i] = e->vectors.at[i].input;
    }
    const InputSets all = { count, name, inputs };
    const char *said = verify_vectors(e->cx, e->model, &all, &o);
    if (!said) return false;
    Table *t = trace_table(&e->trace, "verification", "Verification",
                           "The log of `loopwright verify`, on all vectors: the emitted C is built, run and compared "
                           " with the interpreter, which runs each node of the model as imported by its own "
                           "formula. No pass, fusion or schedule of the emitted C is part of this reference.", "line");
    for (const char *s = said; *s; s += strcspn(s, "\n"), s += *s == '\n')
        trace_text(t, text_format(e->cx, "%.*s", (int)strcspn(s, "\n"), s));
    evidence_text(e, "verification.txt", said);
    return true;
}

bool evidence_runs(Evidence *e)
{
    if (!make_vectors(e)) return false;
    add_vectors(e);
    add_checksums(e);
    return verify(e);
}
