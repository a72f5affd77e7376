/* SPDX-License-Identifier: MIT */
/* The TFLite importer on models written here byte by byte: accepted models, refusals and their words, every truncation
 * and many damages of a small model, a rescaled product beside its arithmetic, and (if the model folder exists) every
 * layer of the recorded int8 networks. */
#include "graph/passes/passes.h"
#include "context/context.h"
#include "check.h"
#include "flat_out.h"
#include "plain.h"
#include "run_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/dag/op.h"
#include "import/formats/npy.h"
#include "graph/dag/graph.h"
#include "import/tflite/file/tflite_file.h"
#include "import/tflite/tflite.h"
#include "ir/interpret/evaluate.h"
#include "ir/interpret/interpret.h"
#include "support/text.h"

enum { FLOAT32 = 0, INT32 = 2, BOOLEAN = 6, INT16 = 7, INT8 = 9, INT4 = 17, INT2 = 19, UINT4 = 20 };
typedef struct Line { const char *name; int type, rank, dim[2], buffer; float scale; int zero; } Line;

/* Buffer 0 is empty; 1 are the weights, 2 is the bias. */
typedef struct Spec {
    Line tensor[4];                                 /* x, w, b, y */
    const void *buffer[3]; size_t bytes[3];
    int code, version, options, activation;
    const char *custom;
    int operators;                                  /* copies of the one operator */
    int variables, sparse;                          /* bits: the tensors that are */
    int open;                                       /* bits: dimensions of x; 0: the file has no signatures */
    int inputs;                                     /* of the operator; 0: all three */
    bool is_fixed;                                  /* the output has no signature; else its batch is open with x's */
    int fed;                                        /* the model's input: 0 for x */
    int per_channel;                                /* bits: the tensors with two scales, along dimension 0 */
    bool has_signatures;                            /* "first", and "second" of a second subgraph, named "other" */
} Spec;

static void put_quant(Out *o, size_t from, const Line *l, size_t scales)
{
    size_t q = table(o, 4), s, z;
    point(o, from, q);
    absent(o, q, 0);
    absent(o, q, 1);
    s = vector(o, field(q, 2), scales, 4);
    for (size_t i = 0; i < scales; i++) memcpy(o->at + s + 4 * i, &l->scale, 4);
    z = vector(o, field(q, 3), 1, 8);
    put(o, z, (uint64_t)(int64_t)l->zero, 8);
}

static void put_tensor(Out *o, size_t from, const Line *l, bool is_variable, bool is_sparse, int open, size_t scales)
{
    size_t t = table(o, open ? 8 : 7);
    point(o, from, t);
    if (open) ints(o, field(t, 7), l->rank, (int[]){ open & 1 ? -1 : l->dim[0], open & 2 ? -1 : l->dim[1] });
    put(o, field(t, 5), is_variable, 1);
    if (is_sparse) point(o, field(t, 6), table(o, 3));
    else absent(o, t, 6);
    put(o, field(t, 1), (uint64_t)l->type, 1);
    put(o, field(t, 2), (uint64_t)l->buffer, 4);
    ints(o, field(t, 0), l->rank, l->dim);
    text(o, field(t, 3), l->name);
    if (l->scale == 0) absent(o, t, 4);
    else put_quant(o, field(t, 4), l, scales);
}

static void put_operator(Out *o, size_t from, const Spec *s)
{
    size_t t = table(o, 5), options;
    point(o, from, t);
    put(o, field(t, 3), (uint64_t)s->options, 1);
    ints(o, field(t, 1), s->inputs ? s->inputs : 3, (int[]){ 0, 1, 2 });
    ints(o, field(t, 2), 1, (int[]){ 3 });
    options = table(o, 1);
    point(o, field(t, 4), options);
    put(o, field(options, 0), (uint64_t)s->activation, 1);
}

static void put_graph(Out *o, size_t from, const Spec *s, const char *name)
{
    const size_t graph = table(o, 5);
    point(o, from, graph);
    size_t list = vector(o, field(graph, 0), 4, 4);
    for (size_t i = 0; i < 4; i++)
        put_tensor(o, list + 4 * i, &s->tensor[i], s->variables >> i & 1, s->sparse >> i & 1,
                   i == 0 ? s->open : i == 3 && !s->is_fixed ? s->open & 1 : 0, s->per_channel >> i & 1 ? 2 : 1);
    ints(o, field(graph, 1), 1, (int[]){ s->fed });
    ints(o, field(graph, 2), 1, (int[]){ 3 });
    list = vector(o, field(graph, 3), (size_t)s->operators, 4);
    for (int i = 0; i < s->operators; i++) put_operator(o, list + 4 * (size_t)i, s);
    text(o, field(graph, 4), name);
}

static void put_signatures(Out *o, size_t model)
{
    static const char *const keys[] = { "first", "second" };
    absent(o, model, 5);
    absent(o, model, 6);
    const size_t list = vector(o, field(model, 7), 2, 4);
    for (size_t i = 0; i < 2; i++) {
        const size_t signature = table(o, 5);
        point(o, list + 4 * i, signature);
        absent(o, signature, 0);
        absent(o, signature, 1);
        absent(o, signature, 3);
        text(o, field(signature, 2), keys[i]);
        put(o, field(signature, 4), i, 4);
    }
}

static Out write_model(const Spec *s)
{
    Out o = { .count = 8 };
    size_t model = table(&o, s->has_signatures ? 8 : 5), codes, code, graphs, list;
    put(&o, 0, model, 4);
    memcpy(o.at + 4, "TFL3", 4);
    put(&o, field(model, 0), 3, 4);
    absent(&o, model, 3);
    codes = vector(&o, field(model, 1), 1, 4);
    code = table(&o, 4);
    point(&o, codes, code);
    put(&o, field(code, 0), (uint64_t)(s->code < 127 ? s->code : 127), 1);
    put(&o, field(code, 2), (uint64_t)s->version, 4);
    put(&o, field(code, 3), (uint64_t)s->code, 4);
    text(&o, field(code, 1), s->custom ? s->custom : "");
    graphs = vector(&o, field(model, 2), s->has_signatures ? 2 : 1, 4);
    put_graph(&o, graphs, s, "small");
    if (s->has_signatures) {
        put_graph(&o, graphs + 4, s, "other");
        put_signatures(&o, model);
    }
    list = vector(&o, field(model, 4), 3, 4);
    for (size_t i = 0; i < 3; i++) {
        size_t buffer = table(&o, 1);
        point(&o, list + 4 * i, buffer);
        memcpy(o.at + vector(&o, field(buffer, 0), s->bytes[i], 1), s->buffer[i] ? s->buffer[i] : "", s->bytes[i]);
    }
    o.count = (o.count + 7) / 8 * 8;
    return o;
}

/* ---- Small models ------------------------------------------------------------------------------------------------ */

enum { FULLY_CONNECTED = 9, SHAPE_OF = 77, OPTIONS_DENSE = 8 };
static const float weights[6] = { 1, 2, 3, -1, 0.5f, 4 }, bias[2] = { 0.5f, -100 };
static const int8_t small_weights[6] = { 1, -128, 127, -50, 7, 99 };
static const int32_t small_bias[2] = { 1000, -333 };

static Spec float_spec(void)
{
    return (Spec){ { { "x", FLOAT32, 2, { 1, 3 }, 0, 0, 0 },
                     { "w", FLOAT32, 2, { 2, 3 }, 1, 0, 0 },
                     { "b", FLOAT32, 1, { 2 }, 2, 0, 0 },
                     { "y;fused", FLOAT32, 2, { 1, 2 }, 0, 0, 0 } },
                   { NULL, weights, bias },
                   { 0, sizeof weights, sizeof bias },
                   FULLY_CONNECTED,
                   1,
                   OPTIONS_DENSE,
                   1,
                   NULL,
                   1,
                   0,
                   0,
                   0,
                   0,
                   false, 0 };
}

static Spec int8_spec(void)
{
    return (Spec){ { { "x", INT8, 2, { 1, 3 }, 0, 0.5f, -3 },
                     { "w", INT8, 2, { 2, 3 }, 1, 0.25f, 0 },
                     { "b", INT32, 1, { 2 }, 2, 0.125f, 0 },
                     { "y", INT8, 2, { 1, 2 }, 0, 30.0f, 5 } },
                   { NULL, small_weights, small_bias },
                   { 0, sizeof small_weights, sizeof small_bias },
                   FULLY_CONNECTED,
                   4,
                   OPTIONS_DENSE,
                   0,
                   NULL,
                   1,
                   0,
                   0,
                   0,
                   0,
                   false, 0 };
}

static bool read_model_as(Ctx *cx, const uint8_t *bytes, size_t count, const ImportOptions *options, Model *m)
{
    uint8_t *exact = malloc(count + 1);                      /* so a sanitizer finds reads beyond the end */
    memcpy(exact, bytes, count);
    bool is_read = tflite_read(cx, "small.tflite", (Bytes){ exact, count }, options, m);
    free(exact);
    return is_read;
}
static bool read_model(Ctx *cx, const uint8_t *bytes, size_t count, Model *m)
{
    return read_model_as(cx, bytes, count, NULL, m);
}

/* Output 0 for the input; NULL on failure. */
static const void *run(Ctx *cx, const Spec *s, const ImportOptions *options, const void *input)
{
    Out o = write_model(s);
    Model m;
    if (!read_model_as(cx, o.at, o.count, options, &m)) return NULL;
    Env *env = env_new(cx);
    env_set_const(env, m.input[0], input);
    return plain_value(cx, m.output[0], env);
}

/* Mirrored padding has a formula and no table, so its memory does not grow with a size that a file declares. */
static void check_mirrored(void)
{
    enum { MIRROR_PAD = 100, OPTIONS_MIRROR = 77, SYMMETRIC = 1 };
    static const int32_t few[2] = { 2, 3 }, most[2] = { (1 << 29) - 1, (1 << 29) - 1 };
    static const float wanted[] = { 2, 1, 1, 2, 3, 3, 2, 1 };
    Ctx *cx = context_new(NULL, NULL);
    Spec s = { { { "x", FLOAT32, 1, { 3 }, 0, 0, 0 }, { "p", INT32, 2, { 1, 2 }, 1, 0, 0 },
                 { "b", FLOAT32, 1, { 2 }, 2, 0, 0 },
                 { "y", FLOAT32, 1, { 8 }, 0, 0, 0 } },
               { NULL, few, bias }, { 0, sizeof few, sizeof bias }, MIRROR_PAD, 1, OPTIONS_MIRROR, SYMMETRIC, NULL, 1,
                   0, 0, 0, 2, false, 0 };
    const float *y = run(cx, &s, NULL, (const float[]){ 1, 2, 3 });
    check_that(y && memcmp(y, wanted, sizeof wanted) == 0, "mirror-pad-symmetric", "%s", cx->diags ?
               diag_text(cx, cx->diags) : "other values");
    ctx_free(cx);

    cx = context_new(NULL, NULL);
    s.tensor[0].dim[0] = 1 << 30;
    s.buffer[1] = most;
    Out o = write_model(&s);
    Model m;
    const bool is_read = read_model(cx, o.at, o.count, &m);
    check_that(!is_read && cx->diags && strstr(diag_text(cx, cx->diags), "its output is [2147483646]"),
               "mirror-pad-of-a-huge-size", "%s",
               is_read ? "accepted" : diag_text(cx, cx->diags));
    CHECK("mirror-pad-of-a-huge-size-takes-little-memory", arena_used(cx->arena) < (size_t)1 << 24);
    ctx_free(cx);
}

static void check_values(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Spec s = float_spec();
    const float *y = run(cx, &s, NULL, (const float[]){ 1, 10, 100 });
    check_that(y && y[0] == 321.5f && y[1] == 304.0f, "float-dense-relu", "%g %g %s", y ? (double)y[0] : 0,
               y ? (double)y[1] : 0, cx->diags ? diag_text(cx, cx->diags) : "");
    ctx_free(cx);

    cx = context_new(NULL, NULL);
    s = float_spec();
    s.tensor[1] = int8_spec().tensor[1];
    s.buffer[1] = small_weights;
    s.bytes[1] = sizeof small_weights;
    /* The rounded row has the integers 1, 13 and 127, and the scale 100 / 127 */
    static const struct { const char *name; bool is_float; float x[3], scale;
    } forms[] = {
        { "stored-weights-of-a-real-dense", false, { 1, 13, 127 }, 100.0f / 127 * 0.25f },
        { "stored-weights-as-floats", true, { 1, 10, 100 }, 0.25f },
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        y = run(cx, &s, &(ImportOptions){ .has_float_hybrid = forms[i].is_float }, (const float[]){ 1, 10, 100 });
        bool is_sum = y != NULL;
        for (int o = 0; o < 2 && is_sum; o++) {
            float sum = 0;
            for (int k = 0; k < 3; k++) sum += (float)small_weights[3 * o + k] * forms[i].x[k];
            sum = sum * forms[i].scale + bias[o];
            is_sum = y[o] == (sum > 0 ? sum : 0);
        }
        check_that(is_sum, forms[i].name, "%g %g %s", y ? (double)y[0] : 0, y ? (double)y[1] : 0,
                   cx->diags ? diag_text(cx, cx->diags) : "");
    }
    ctx_free(cx);

    cx = context_new(NULL, NULL);
    s = int8_spec();
    static const int8_t x[3] = { -128, 127, 40 };
    const ImportOptions single = { .rounds_once = true };
    const int8_t *q = run(cx, &s, NULL, x), *r = run(cx, &s, &single, x);
    for (int o = 0; o < 2; o++) {
        /* 0.5 * 0.25 / 30 is m / 2^31 * 2^-7 with m = 1145324613, rounded twice. */
        int64_t sum = small_bias[o];
        for (int k = 0; k < 3; k++) sum += (x[k] + 3) * small_weights[3 * o + k];
        double high = floor((double)sum * 1145324613 / 2147483648.0 + 0.5), wanted = round(high / 128) + 5;
        wanted = wanted < -128 ? -128 : wanted > 127 ? 127 : wanted;
        double once = floor((double)sum * 1145324613 / 274877906944.0 + 0.5) + 5;
        once = once < -128 ? -128 : once > 127 ? 127 : once;
        check_that(r && r[o] == once, "int8-dense-single", "%d, wanted %g", r ? r[o] : 0, once);
        check_that(q && q[o] == wanted, "int8-dense", "%d, wanted %g %s", q ? q[o] : 0, wanted,
                   cx->diags ? diag_text(cx, cx->diags) : "");
    }
    ctx_free(cx);
}

/* Weights of four bits, two in a byte, and of two bits, four in a byte. */
static void check_packed(int type, const uint8_t *packed, size_t bytes, const int *unpacked, const int32_t *back)
{
    static const int8_t x[3] = { -128, 127, 40 };
    Ctx *cx = context_new(NULL, NULL);
    Spec s = int8_spec();
    s.tensor[1].type = type;
    s.tensor[3].scale = 0.125f;                          /* the factor is 1: the stored value is the sum */
    s.buffer[1] = packed;
    s.bytes[1] = bytes;
    s.buffer[2] = back;
    s.bytes[2] = 2 * sizeof *back;
    const int8_t *q = run(cx, &s, NULL, x);
    for (int o = 0; o < 2; o++) {
        int sum = back[o] + 5;
        for (int k = 0; k < 3; k++) sum += (x[k] + 3) * unpacked[3 * o + k];
        check_that(q && q[o] == sum && sum > -128 && sum < 127, type == INT4 ? "int4-dense" : "int2-dense",
                   "%d, wanted %d %s", q ? q[o] : 0, sum, cx->diags ? diag_text(cx, cx->diags) : "");
    }
    ctx_free(cx);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static int count_diags(const Ctx *cx)
{
    int n = 0;
    for (const Diag *d = cx->diags; d; d = d->next) n++;
    return n;
}

static void check_refused(const char *label, const Spec *s, const char *wanted, int diags)
{
    Ctx *cx = context_new(NULL, NULL);
    Out o = write_model(s);
    Model m;
    bool is_read = read_model(cx, o.at, o.count, &m);
    const char *found = cx->diags ? diag_text(cx, cx->diags) : "nothing";
    check_that(!is_read && strstr(found, wanted) && count_diags(cx) == diags,
               check_label(label, "is-refused"), "%d diagnostics, first: %s",
               count_diags(cx), found);
    ctx_free(cx);
}

static void check_refusals(void)
{
    Spec s = float_spec();
    s.operators = 3;
    s.code = 10;
    check_refused("all-unknown-are-listed", &s,
                  "operator \"y\" (HASHTABLE_LOOKUP): unsupported: the operator is unknown", 3);
    s.code = 148;
    check_refused("random-numbers", &s, "operator \"y\" (RANDOM_UNIFORM): unsupported: it draws random numbers, which "
                  "LiteRT continues from run to run; make the numbers an input of the model", 3);
    s.code = 32;
    s.custom = "Magic";
    check_refused("custom", &s, "(Magic)", 3);
    s.custom = "FlexErfinv";
    check_refused("an-operator-of-tensorflow", &s, "convert without SELECT_TF_OPS", 3);
    s.custom = "ethos-u";
    check_refused("rewritten-by-vela", &s, "compile the file that was given to Vela", 3);
    s = float_spec();
    s.version = 99;
    check_refused("newer-version", &s, "version 99 of the operator", 1);
    s = float_spec();
    s.options = 1;
    check_refused("options-of-another", &s, "its options are of kind 1, those of another operator; use kind 8",
                  1);
    s = int8_spec();
    s.tensor[1].type = UINT4;
    check_refused("packed-without-sign", &s, "the inputs have the types INT8 and UINT4", 1);
    s.tensor[1].type = INT4;
    check_refused("packed-too-long", &s, "its buffer has 6 bytes", 1);
    s = int8_spec();
    s.operators = 2;
    s.version = 99;
    s.variables = 1 << 0;
    s.sparse = 1 << 1;
    check_refused("all-of-every-kind", &s, "version 99 of the operator", 3);
    s = int8_spec();
    s.sparse = 1 << 1;
    check_refused("sparse-without-levels", &s, "its sparsity is damaged: use positions inside its shape", 1);
    s.sparse = 1 << 0;
    check_refused("sparse-input", &s, "the tensor is sparse but not constant", 1);
    s = float_spec();
    s.tensor[3].dim[1] = 5;
    check_refused("another-shape", &s, "its output is [1][2], but the file declares [1,5]", 1);
    s = float_spec();
    s.tensor[1].type = INT8;
    check_refused("stored-weights-too-long", &s, "its buffer has 24 bytes", 1);
    s = float_spec();
    s.tensor[0].type = INT8;
    check_refused("real-weights-of-int8", &s, "the inputs have the types INT8 and FLOAT32", 1);
    s = float_spec();
    s.tensor[1].buffer = 3;
    check_refused("missing-buffer", &s, "its buffer 3 does not exist; use an index below 3", 1);
    s = float_spec();
    s.bytes[1] = 20;
    check_refused("buffer-too-short", &s, "its buffer has 20 bytes", 1);
    s = int8_spec();
    s.tensor[3].scale = 0;
    check_refused("no-scale", &s, "\"y\" has no scale", 1);
    s = float_spec();
    s.operators = 2;
    check_refused("output-of-two-operators", &s, "it is the output of two operators", 1);
    s = float_spec();
    s.operators = 0;
    check_refused("nothing-makes-it", &s, "no operator computes it", 1);
    s = int8_spec();
    s.per_channel = 1 << 1;
    s.tensor[1].zero = 4;
    check_refused("a-zero-point-per-channel", &s, "weights with the zero point 4; use zero points of 0", 1);
}

/* 16-bit comparisons: TensorFlow Lite compares stored values, but of EQUAL and NOT_EQUAL. */
static void check_comparison(void)
{
    enum { LESS = 58, EQUAL = 71 };
    static const int16_t half[1] = { 8 };
    Spec s = { { { "x", INT16, 1, { 1 }, 0, 0.5f, 0 }, { "h", INT16, 1, { 1 }, 1, 0.25f, 0 },
                 { "unused", FLOAT32, 1, { 1 }, 2, 0, 0 }, { "y", BOOLEAN, 1, { 1 }, 0, 0, 0 } },
               { NULL, half, bias }, { 0, sizeof half, sizeof *bias }, EQUAL, 2, 0, 0, "", 1, 0, 0, 0, 2, false, 0, 0 };
    Ctx *cx = context_new(NULL, NULL);
    const bool *y = run(cx, &s, NULL, (const int16_t[]){ 4 });
    check_that(y && *y, "equal-of-two-scales", "%s", cx->diags ? diag_text(cx, cx->diags) : "4 * 0.5 is not 8 * 0.25");
    ctx_free(cx);
    s.code = LESS;
    check_refused("less-of-two-scales", &s, "16-bit operands of the scales 0.5 and 0.25", 1);
}

/* One of two signatures is read: the first, with a note, or that of --signature. */
static void check_signatures(void)
{
    static const struct { const char *label, *wanted, *name, *said; } each[] = {
        { "the-first-signature", NULL, "small", "the file has the signatures \"first\", \"second\", of which \"first\" "
          "is compiled; pass --signature NAME to choose a different one" },
        { "the-second-signature", "second", "other", "" },
        { "no-such-signature", "none", NULL, "there is no signature \"none\" (--signature); the file has \"first\", "
          "\"second\"" },
    };
    Spec s = float_spec();
    s.has_signatures = true;
    const Out o = write_model(&s);
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        const bool is_read = read_model_as(cx, o.at, o.count, &(ImportOptions){ .signature = each[i].wanted }, &m);
        const char *said = cx->diags ? diag_text(cx, cx->diags) : "";
        check_that(is_read == (each[i].name != NULL) && (!is_read || strcmp(m.name, each[i].name) == 0)
                   && strstr(said, each[i].said) && !*said == !*each[i].said, each[i].label, "%s: %s",
                   is_read ? m.name : "refused", said);
        ctx_free(cx);
    }
}

/* A scale at the edge is refused with the tensor's name. */
static void check_scales(void)
{
    static const struct { float scale; const char *label, *wanted; } edge[] = {
        { INFINITY, "scale-infinite", "tensor \"w\": error: its scale number 0 is inf; use a finite scale" },
        { NAN, "scale-nan", "tensor \"w\": error: its scale number 0 is nan; use a finite scale" },
        { -1, "scale-negative", "tensor \"w\": error: its scale number 0 is -1; use a finite scale" },
        { 0x1p-149f * 0, "scale-absent", "\"w\" has no scale" },
        { 0x1p100f, "scale-2^100", "\"w\" 1.26765e+30, \"y\" " },
    };
    for (size_t i = 0; i < sizeof edge / sizeof edge[0]; i++) {
        Spec s = int8_spec();
        s.tensor[1].scale = edge[i].scale;
        check_refused(edge[i].label, &s, edge[i].wanted, 1);
    }
    Spec s = int8_spec();
    s.tensor[3].scale = 0x1p-141f;
    check_refused("scale-of-zeros", &s, "use up to 2^31 (\"y\" was 0 in all samples of the calibration)", 1);
}

/* GATHER of constant indices: negative ones count from the end, those out of the dimension are refused. */
static void check_gather(void)
{
    enum { GATHER = 36 };
    static const float x[3] = { 1, 2, 3 };
    static const int32_t inside[2] = { 0, -1 }, outside[2] = { 0, 1 };
    Spec s = { { { "x", FLOAT32, 2, { 1, 3 }, 0, 0, 0 }, { "at", INT32, 1, { 2 }, 1, 0, 0 },
                 { "unused", FLOAT32, 1, { 1 }, 2, 0, 0 }, { "y", FLOAT32, 2, { 2, 3 }, 0, 0, 0 } },
               { NULL, inside, x }, { 0, sizeof inside, sizeof *x }, GATHER, 1, 0, 0, "", 1, 0, 0, 0, 2, false, 0 };
    Ctx *cx = context_new(NULL, NULL);
    const float *y = run(cx, &s, NULL, x);
    check_that(y && memcmp(y, x, sizeof x) == 0 && memcmp(y + 3, x, sizeof x) == 0, "gather-from-the-end", "%s",
               cx->diags ? diag_text(cx, cx->diags) : "other rows");
    ctx_free(cx);
    s.buffer[1] = outside;
    check_refused("gather-outside", &s, "index 1 of \"at\" is 1, but dimension 0 of \"x\" has 1 elements; use -1 to 0",
                  1);
}

/* SLICE from a begin that only the run knows: clamped, so that nothing outside x is read. A size of -1 is
 * refused. */
static void check_slice(void)
{
    enum { SLICE = 65 };
    static const float x[6] = { 1, 2, 3, 4, 5, 6 };
    static const struct { int32_t begin[2]; float wanted[2]; } cases[] = {
        { { 1, 1 }, { 5, 6 } }, { { -1, -9 }, { 1, 2 } }, { { 2, 2 }, { 5, 6 } },
        { { INT32_MIN, INT32_MAX }, { 2, 3 } },
    };
    static const int32_t size[2] = { 1, 2 }, beyond[2] = { 1, 4 };
    Spec s = { { { "x", FLOAT32, 2, { 2, 3 }, 1, 0, 0 }, { "at", INT32, 1, { 2 }, 0, 0, 0 },
                 { "size", INT32, 1, { 2 }, 2, 0, 0 }, { "y", FLOAT32, 2, { 1, 2 }, 0, 0, 0 } },
               { NULL, x, size }, { 0, sizeof x, sizeof size }, SLICE, 1, 0, 0, "", 1, 0, 0, 0, 0, false, 1 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        const float *y = run(cx, &s, NULL, cases[i].begin);
        check_that(y && memcmp(y, cases[i].wanted, sizeof cases[i].wanted) == 0, "slice-at-a-begin-of-the-run",
                   "case %d: %g, %g %s", (int)i, y ? y[0] : 0, y ? y[1] : 0, cx->diags ? diag_text(cx, cx->diags) : "");
        ctx_free(cx);
    }
    s.buffer[2] = beyond;
    check_refused("slice-beyond", &s, "the slice is 0 to 4; use elements within 0 to 3", 1);
}

/* ---- Writes to lists --------------------------------------------------------------------------------------------- */

/* CONCATENATION(SLICE(list, 0, PACK(i, -1)), item, SLICE(list, PACK(j, 0), -1)) with j = i + step, or j = i. */
static void check_list(const char *label, bool is_open, bool is_result_open, int64_t rows, int step, bool is_one_write)
{
    enum { LIST, ITEM, I, J, STEP, ZEROS, REST, NONE, COUNT, BEGIN, BEFORE, AFTER, RESULT, TENSORS };
    enum { ADD = 0, CONCATENATION = 2, SLICE = 65, PACK = 83, DYNAMIC_UPDATE_SLICE = 151 };
    static const uint8_t zeros[8] = { 0 }, rest[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
    const uint8_t steps[4] = { (uint8_t)step, 0, 0, 0 };
    TfliteTensor t[TENSORS] = {
        [LIST] = { "list", FLOAT32, 2, { 3, 4 }, true, { is_open } }, [ITEM] = { "item", FLOAT32, 2, { 1, 4 } },
        [I] = { "i", INT32 }, [J] = { "j", INT32 }, [STEP] = { "step", INT32 }, [ZEROS] = { "zeros", INT32, 1, { 2 } },
        [REST] = { "rest", INT32, 1, { 2 } }, [NONE] = { "none", INT32 }, [COUNT] = { "count", INT32, 1, { 2 } },
        [BEGIN] = { "begin", INT32, 1, { 2 } }, [BEFORE] = { "before", FLOAT32, 2, { 1, 1 }, true, { true, true } },
        [AFTER] = { "after", FLOAT32, 2, { 1, 4 }, true, { true } },
        [RESULT] = { "result", FLOAT32, 2, { rows, 4 }, true, { is_result_open } },
    };
    t[STEP].data = (Bytes){ steps, 4 }, t[NONE].data = (Bytes){ zeros, 4 };
    t[ZEROS].data = (Bytes){ zeros, 8 }, t[REST].data = (Bytes){ rest, 8 };
    TfliteOperator op[] = {
        { .code = ADD, .in_count = 2, .in = (int[]){ I, STEP }, .out_count = 1, .out = (int[]){ J } },
        { .code = PACK, .in_count = 2, .in = (int[]){ I, NONE }, .out_count = 1, .out = (int[]){ COUNT } },
        { .code = PACK, .in_count = 2, .in = (int[]){ J, NONE }, .out_count = 1, .out = (int[]){ BEGIN } },
        { .code = SLICE, .in_count = 3, .in = (int[]){ LIST, ZEROS, COUNT }, .out_count = 1, .out = (int[]){ BEFORE } },
        { .code = SLICE, .in_count = 3, .in = (int[]){ LIST, BEGIN, REST }, .out_count = 1, .out = (int[]){ AFTER } },
        { .code = CONCATENATION, .in_count = 3, .in = (int[]){ BEFORE, ITEM, AFTER }, .out_count = 1,
          .out = (int[]){ RESULT } },
    };
    TfliteFile f = { .tensor_count = TENSORS, .tensor = t, .operator_count = 6, .operator = op, .output_count = 1,
                     .output = (int[]){ RESULT } };
    Ctx *cx = context_new(NULL, NULL);
    tflite_join_lists(cx, &f);
    const int last = op[f.operator_count - 1].code;
    check_that(last == (is_one_write ? DYNAMIC_UPDATE_SLICE : CONCATENATION), label, "it ends with operator %d", last);
    ctx_free(cx);
}

static void check_lists(void)
{
    check_list("a-list-of-known-rows-is-written", false, false, 3, 1, true);
    check_list("an-open-list-is-written", true, true, 3, 1, true);
    check_list("an-open-list-that-grows-is-not-written", true, true, 3, 0, false);
    check_list("an-open-list-that-loses-rows-is-not-written", true, true, 3, 2, false);
    check_list("a-list-of-another-size-is-not-written", true, true, 4, 1, false);
    check_list("an-open-list-of-a-known-result-is-not-written", true, false, 3, 1, false);
}

/* ---- Damages: whatever the bytes, an answer ---------------------------------------------------------------------- */

static int read_quietly(const uint8_t *bytes, size_t count)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    bool is_read = read_model(cx, bytes, count, &m);
    int is_told = is_read || cx->diags;
    ctx_free(cx);
    return is_told;
}

static void check_damages(void)
{
    static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
    const Spec specs[] = { float_spec(), int8_spec() };
    int silent = 0, tried = 0;
    for (int i = 0; i < 2; i++) {
        Out o = write_model(&specs[i]);
        for (size_t n = 0; n < o.count; n++, tried++) silent += !read_quietly(o.at, n);
        for (size_t at = 0; at < o.count; at++)
            for (size_t v = 0; v < sizeof values + 8; v++, tried++) {
                Out damaged = o;
                if (v < sizeof values) damaged.at[at] = values[v];
                else damaged.at[at] = (uint8_t)(o.at[at] ^ (1u << (v - sizeof values)));
                silent += !read_quietly(damaged.at, damaged.count);
            }
    }
    check_that(silent == 0 && tried > 10000, "damages", "%d of %d end without a model and without a reason", silent,
               tried);
}

/* ---- The recorded networks, layer by layer ----------------------------------------------------------------------- */

typedef struct Recorded { const char *model; int count; uint32_t hash[40]; } Recorded;
static const Recorded recorded[] = {
#include "tflite_layers.h"
};
static const char folder[] = "../shared/models/mlperf-tiny/";

static uint32_t hash_of(const uint8_t *bytes, int64_t count)
{
    uint32_t h = 0x811c9dc5;
    for (int64_t i = 0; i < count; i++) h = (h ^ bytes[i]) * 0x01000193;
    return h;
}

/* Runs the operators one after the other; env holds every result. -1 on an error. */
static int run_all(Ctx *cx, Tensor *const *outputs, int output_count, Env *env, Node ***order)
{
    int count = dag_order(cx, outputs, output_count, order);
    return run_calls(cx, outputs, output_count, env, false) ? count : -1;
}

/* Results of the file's operators are those that have a scale. */
static int first_other_layer(const Recorded *r, const Env *env, Node *const *order, int count)
{
    int layer = 0;
    for (int i = 0; i < count; i++) {
        const Tensor *t = order[i]->out[0];
        if (!t->quant) continue;
        if (hash_of(env_get(env, t), tensor_bytes(t)) != r->hash[layer]) return layer;
        layer++;
    }
    return layer;
}

static bool is_same_channel(const Tensor *a, const uint8_t *from, int64_t u, const Tensor *b, const uint8_t *to,
                            int64_t v)
{
    int64_t channels = tensor_dim(a, a->rank - 1), left = tensor_dim(b, b->rank - 1);
    for (int64_t i = 0; i < tensor_elems(b) / left; i++)
        if (from[i * channels + u] != to[i * left + v]) return false;
    return true;
}

/* Are the channels of b some of those of a, in order, element by element? */
static bool is_part_of(const Tensor *a, const uint8_t *from, const Tensor *b, const uint8_t *to)
{
    int64_t channels = tensor_dim(a, a->rank - 1), left = tensor_dim(b, b->rank - 1), v = 0;
    for (int64_t u = 0; u < channels && v < left; u++) v += is_same_channel(a, from, u, b, to, v);
    return v == left && tensor_elems(a) / channels == tensor_elems(b) / left;
}

/* The first layer of the network without dead channels that is not part of the recorded one of that name;
 * NULL: none. */
static const char *first_other_shrunk(Ctx *cx, const Model *m, const Env *env, Node *const *order, int count,
                                      const void *input)
{
    Graph g = { .name = "m",
                .input_count = m->input_count,
                .input = m->input,
                .output_count = m->output_count,
                .output = m->output };
    Node **now;
    Env *values = env_new(cx);
    g = graph_shrink(cx, graph_fold(cx, graph_simplify(cx, g)));
    env_set_const(values, m->input[0], input);
    int left = run_all(cx, g.output, g.output_count, values, &now), found = 0;
    for (int i = 0; i < left; i++) {
        const Tensor *b = now[i]->out[0], *a = NULL;
        for (int j = 0; j < count && b->quant; j++)
            if (order[j]->out[0]->quant && strcmp(order[j]->out[0]->name, b->name) == 0) a = order[j]->out[0];
        if (!a) continue;
        if (!is_part_of(a, env_get(env, a), b, env_get(values, b))) return b->name;
        found++;
    }
    return left < 0 || found < 5 ? "too few layers" : NULL;
}

static void check_recorded(const Recorded *r)
{
    Ctx *cx = context_new(NULL, NULL);
    const char *path = text_format(cx, "%s%s.tflite", folder, r->model);
    FILE *f = fopen(path, "rb");
    if (!f) {
        check_skip(r->model, "no recorded models beside the project");
        ctx_free(cx);
        return;
    }
    fclose(f);
    DType t;
    int rank;
    int64_t shape[MAX_RANK];
    void *input = NULL;
    Model m;
    bool is_ready = tflite_read(cx, path, file_read(cx, path), NULL, &m)
                    && npy_read(cx, text_format(cx, "%s%s.in0.npy", folder, r->model), &t, &rank, shape, &input);
    Env *env = env_new(cx);
    Node **order;
    if (is_ready) env_set(env, m.input[0], input);
    int count = is_ready ? run_all(cx, m.output, m.output_count, env, &order) : -1,
        layers = count < 0 ? 0 : first_other_layer(r, env, order, count);
    check_that(layers == r->count, text_format(cx, "layers-%s", r->model), "layer %d of %d differs%s%s", layers,
               r->count, cx->diags ? ": " : "", cx->diags ? diag_text(cx, cx->diags) : "");
    const char *other = count < 0 ? "nothing ran" : first_other_shrunk(cx, &m, env, order, count, input);
    check_that(!other, text_format(cx, "shrunk-layers-%s", r->model), "%s", other);
    ctx_free(cx);
}

/* --dim with x [1][3], whose dimensions are the open ones in the bits, and its effect. */
static void check_open_dims(void)
{
    static const struct {
        const char *dim;
        int64_t size;
        bool is_maximum;
        int open, code;
        const char *wanted;
        bool is_fixed;
    } cases[] = {
        { "batch", 4, false, 1, FULLY_CONNECTED, "[4][2]", false },
        { "batch", 4, false, 1, FULLY_CONNECTED, "its output is [4][2], but the file declares [1,2]", true },
        { "x.0", 4, false, 1, FULLY_CONNECTED, "[4][2]", false },
        { "batch", 4, true, 1, FULLY_CONNECTED, "[batch][2]", false },
        { "x.0", 4, true, 1, FULLY_CONNECTED, "[x_0][2]", false },
        { "x.0", 4, true, 0, FULLY_CONNECTED, "[x_0][2]", false },
        { "x.1", 4, true, 1, FULLY_CONNECTED,
          "tensor \"x\": error: dimension 1 is 3 in the model and not open, but --dim sets it as x.1", false },
        { "x.1", 4, false, 1, FULLY_CONNECTED, "not open", false },
        { "x.1", 3, false, 1, FULLY_CONNECTED, "[1][2]", false },
        { "batch", 4, true, 1, SHAPE_OF,
          "(SHAPE): unsupported: the dimension \"batch\" cannot stay open here; fix it, as in --dim batch=4",
          false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ImportDim dim = { cases[i].dim, cases[i].size, cases[i].is_maximum, 0 };
        const ImportOptions options = { .dim_count = 1, .dim = &dim };
        Spec s = float_spec();
        Model m;
        Ctx *cx = context_new(NULL, NULL);
        s.open = cases[i].open;
        s.is_fixed = cases[i].is_fixed;
        s.code = cases[i].code;
        if (s.code == SHAPE_OF) s.options = 0;
        Out o = write_model(&s);
        bool is_read = read_model_as(cx, o.at, o.count, &options, &m);
        const char *found = is_read ? tensor_shape_text(cx, m.output[0]) : diag_text(cx, cx->diags);
        check_that(is_read ? strcmp(found, cases[i].wanted) == 0 : strstr(found, cases[i].wanted) != NULL,
                   text_format(cx, "dim-%s-%d", dim.name, (int)i), "%s, wanted %s", found, cases[i].wanted);
        ctx_free(cx);
    }
}

static void check_int4(void)
{
    check_packed(INT4, (const uint8_t[]){ 0x81, 0xb7, 0x32 }, 3, (const int[]){ 1, -8, 7, -5, 2, 3 },
                 (const int32_t[]){ 900, -1000 });
}

static void check_int2(void)
{
    check_packed(INT2, (const uint8_t[]){ 0xd9, 0x0d }, 2, (const int[]){ 1, -2, 1, -1, 1, -1 },
                 (const int32_t[]){ 400, -100 });
}

/* Without --dim, an open dimension has the file's size, and a note says so. */
static void check_open_is_noted(void)
{
    Spec s = float_spec();
    Model m;
    Ctx *cx = context_new(NULL, NULL);
    s.open = 1;
    Out o = write_model(&s);
    bool is_read = read_model(cx, o.at, o.count, &m);
    check_that(is_read && cx->diags && cx->diags->severity == NOTE && strstr(cx->diags->what, "--dim batch=N"),
               "open-batch-is-noted", "%s", cx->diags ? diag_text(cx, cx->diags) : "nothing is noted");
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(check_values, check_mirrored, check_open_dims, check_open_is_noted, check_int4, check_int2,
              check_refusals, check_scales, check_gather, check_comparison, check_signatures,
              check_slice, check_lists, check_damages);
    CHECK_EACH(check_recorded, recorded);
    return check_done();
}
