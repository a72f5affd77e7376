/* SPDX-License-Identifier: MIT */
/* The ONNX importer on models written here byte by byte: accepted models, refusals and their words, every truncation
 * and many flips of a small model, and (if the model folder exists) the recorded networks. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "graph/dag/op.h"
#include "import/formats/npy.h"
#include "import/onnx/file/dim_formula.h"
#include "import/onnx/onnx.h"
#include "ir/interpret/evaluate.h"
#include "plain.h"
#include "support/text.h"

/* ---- Writing protobuf -------------------------------------------------------------------------------------------- */

typedef struct Message { uint8_t at[4096]; size_t count; } Message;

static void put_varint(Message *m, uint64_t v)
{
    for (; v > 127; v >>= 7) m->at[m->count++] = (uint8_t)(v | 128);
    m->at[m->count++] = (uint8_t)v;
}

static void put_int(Message *m, int field, int64_t v)
{
    put_varint(m, (uint64_t)field << 3);
    put_varint(m, (uint64_t)v);
}

static void put_bytes(Message *m, int field, const void *bytes, size_t count)
{
    put_varint(m, (uint64_t)field << 3 | 2);
    put_varint(m, count);
    memcpy(m->at + m->count, bytes, count);
    m->count += count;
}

static void put_text(Message *m, int field, const char *s) { put_bytes(m, field, s, strlen(s)); }
static void put_message(Message *m, int field, const Message *part) { put_bytes(m, field, part->at, part->count); }

/* ValueInfoProto of a float tensor; a dimension of 0 is open, called "n". */
static Message value_info(const char *value_name, int rank, const int64_t *dims, int64_t type)
{
    Message shape = { .count = 0 }, tensor = { .count = 0 }, kind = { .count = 0 }, value = { .count = 0 };
    for (int d = 0; d < rank; d++) {
        Message dim = { .count = 0 };
        if (dims[d]) put_int(&dim, 1, dims[d]);
        else put_text(&dim, 2, "n");
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, type);
    put_message(&tensor, 2, &shape);
    put_message(&kind, 1, &tensor);
    put_text(&value, 1, value_name);
    put_message(&value, 2, &kind);
    return value;
}

static Message node(const char *type, const char *node_name, const char *in0, const char *in1, const char *out)
{
    Message m = { .count = 0 };
    put_text(&m, 1, in0);
    if (in1) put_text(&m, 1, in1);
    put_text(&m, 2, out);
    put_text(&m, 3, node_name);
    put_text(&m, 4, type);
    return m;
}

static void put_attr_int(Message *n, const char *attr_name, int64_t v)
{
    Message a = { .count = 0 };
    put_text(&a, 1, attr_name);
    put_int(&a, 3, v);
    put_message(n, 5, &a);
}

static void put_attr_ints(Message *n, const char *attr_name, const int64_t *v, int count)
{
    Message a = { .count = 0 };
    put_text(&a, 1, attr_name);
    for (int i = 0; i < count; i++) put_int(&a, 8, v[i]);
    put_message(n, 5, &a);
}

/* TensorProto of floats: 0 raw, 1 packed float_data, 2 unpacked float_data; `count` values of 0.5, 1.5, .. */
static Message float_tensor(const char *tensor_name, int rank, const int64_t *dims, int count, int form)
{
    Message m = { .count = 0 };
    float v[64];
    for (int i = 0; i < count; i++) v[i] = (float)i + 0.5f;
    for (int d = 0; d < rank; d++) put_int(&m, 1, dims[d]);
    put_int(&m, 2, 1);
    put_text(&m, 8, tensor_name);
    if (form == 0) put_bytes(&m, 9, v, (size_t)count * sizeof *v);
    if (form == 1) put_bytes(&m, 4, v, (size_t)count * sizeof *v);
    for (int i = 0; form == 2 && i < count; i++) {
        put_varint(&m, 4 << 3 | 5);
        memcpy(m.at + m.count, &v[i], 4);
        m.count += 4;
    }
    return m;
}

static Message int64_tensor(const char *tensor_name, const int64_t *v, int count)
{
    Message m = { .count = 0 };
    put_int(&m, 1, count);
    put_int(&m, 2, 7);
    put_text(&m, 8, tensor_name);
    for (int i = 0; i < count; i++) put_int(&m, 7, v[i]);
    return m;
}

static Message model_of(const Message *graph, int64_t opset)
{
    Message id = { .count = 0 }, m = { .count = 0 };
    put_int(&id, 2, opset);
    put_int(&m, 1, 8);
    put_message(&m, 7, graph);
    put_message(&m, 8, &id);
    return m;
}

/* x [1][2][4] -> y: two nodes after the caller's nodes. */
static void put_ends(Message *graph, const int64_t *x_dims)
{
    Message x = value_info("x", 3, x_dims, 1), y = value_info("y", 3, x_dims, 1);
    put_message(graph, 11, &x);
    put_message(graph, 12, &y);
}

static const int64_t X_DIMS[] = { 1, 2, 4 };

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct Read { Ctx *cx; Model model; bool ok; const char *text; } Read;

static Read read_model(const Message *m, const ImportOptions *options)
{
    Read r = { .cx = context_new(NULL, NULL) };
    Bytes bytes = { m->at, m->count };
    r.ok = onnx_read(r.cx, "folder/model.onnx", bytes, options, &r.model);
    Text all = text_new(r.cx);
    for (const Diag *d = r.cx->diags; d; d = d->next) text_printf(&all, "%s\n", diag_text(r.cx, d));
    r.text = text_string(&all);
    return r;
}

static void refused(const char *test_name, const Message *m, const char *part)
{
    Read r = read_model(m, NULL);
    check_that(!r.ok && strstr(r.text, part), check_label(test_name, "is-refused"), "wanted \"%s\", got \"%s\"", part,
               r.text);
    ctx_free(r.cx);
}

static Message graph_with(const Message *a, const Message *b)
{
    Message g = { .count = 0 };
    put_text(&g, 2, "g");
    if (a) put_message(&g, 1, a);
    if (b) put_message(&g, 1, b);
    put_ends(&g, X_DIMS);
    return g;
}

static const void *evaluated(Read *r, int output, float *input)
{
    Env *env = env_new(r->cx);
    if (r->model.input_count) env_set(env, r->model.input[0], input);
    return plain_value(r->cx, r->model.output[output], env);
}

/* A small model with an initializer, shape arithmetic and a convolution, used whole, cut and flipped. */
static Message small_model(int form)
{
    int64_t k_dims[] = { 2, 2, 3 }, pads[] = { 1, 1 }, minus[] = { -1 };
    Message g = { .count = 0 }, k = float_tensor("k", 3, k_dims, 12, form), last = int64_tensor("last", minus, 1);
    Message conv = node("Conv", "conv_1", "x", "k", "c"), shape = node("Shape", "shape_1", "x", NULL, "s");
    Message reshape = node("Reshape", "flat", "c", "s", "r"), relu = node("Relu", "relu_1", "r", NULL, "y");
    put_attr_ints(&conv, "pads", pads, 2);
    put_text(&g, 2, "small");
    put_message(&g, 1, &conv);
    put_message(&g, 1, &shape);
    put_message(&g, 1, &reshape);
    put_message(&g, 1, &relu);
    put_message(&g, 5, &k);
    put_message(&g, 5, &last);
    put_ends(&g, X_DIMS);
    return model_of(&g, 13);
}

static void check_small(int form)
{
    Message m = small_model(form);
    Read r = read_model(&m, NULL);
    float x[8] = { 1, -2, 3, -4, 5, -6, 7, -8 };
    check_that(r.ok, text_format(r.cx, "conv-reshape-relu-is-read-in-form-%d", form), "%s", r.text);
    if (!r.ok) return;
    const float *y = evaluated(&r, 0, x);
    bool same = y != NULL;
    for (int o = 0; o < 2 && same; o++)
        for (int w = 0; w < 4; w++) {
            float sum = 0;
            for (int c = 0; c < 2; c++)
                for (int j = 0; j < 3; j++)
                    if (w + j - 1 >= 0 && w + j - 1 < 4)
                        sum += x[c * 4 + w + j - 1] * ((float)((o * 2 + c) * 3 + j) + 0.5f);
            same = same && fabsf(y[o * 4 + w] - (sum > 0 ? sum : 0)) < 1e-4f;
        }
    CHECK("conv-reshape-relu-gives-its-values", same);
    CHECK("inputs-and-outputs-keep-their-names", strcmp(r.model.input[0]->name, "x") == 0
                                             && strcmp(r.model.output[0]->name, "y") == 0 && r.model.input_count == 1);
    CHECK("shape-chain-is-folded", strcmp(r.model.output[0]->producer->in[0]->producer->op->name, "reshape") == 0);
    ctx_free(r.cx);
}

static void check_unknowns(void)
{
    Message a = node("Convv", "first", "x", NULL, "t"), b = node("Relu", "second", "t", NULL, "y");
    put_attr_int(&b, "slope", 3);
    Message g = graph_with(&a, &b), m = model_of(&g, 13);
    refused("unknown-operator-and-what-is-near", &m,
            "node \"first\" (Convv): unsupported: the operator Convv is not known; did you mean 'Conv'?");
    refused("unknown-attribute-in-the-same-list", &m,
            "node \"second\" (Relu): unsupported: the attribute 'slope' is not known");
    Message more = node("Relu", "two", "x", "x", "y");
    g = graph_with(&more, NULL), m = model_of(&g, 13);
    refused("input-that-the-operator-does-not-have", &m,
            "node \"two\" (Relu): error: it has 2 inputs; use at most 1 inputs");
    Message c = node("Relu", "relu", "x", NULL, "y");
    put_text(&c, 7, "com.example");
    g = graph_with(&c, NULL), m = model_of(&g, 13);
    refused("unknown-domain", &m, "the operator Relu of the domain \"com.example\" is not known");
}

static void check_names(void)
{
    Message a = node("Relu", "a", "u", NULL, "t"), b = node("Add", "b", "t", "x", "u"),
            c = node("Relu", "c", "u", NULL, "y");
    Message g = graph_with(&a, &b), m;
    put_message(&g, 1, &c);
    m = model_of(&g, 13);
    refused("cycle", &m, "the graph has a cycle");
    Message twice = node("Relu", "b", "x", NULL, "y");
    g = graph_with(&twice, &twice), m = model_of(&g, 13);
    refused("name-made-twice", &m, "the value \"y\" is defined twice");
    Message lost = node("Relu", "lost", "nowhere", NULL, "y");
    g = graph_with(&lost, NULL), m = model_of(&g, 13);
    refused("missing-value", &m, "node \"lost\" (Relu): error: no node produces the value \"nowhere\"");
    Message out_of_order = node("Relu", "late", "t", NULL, "y"), early = node("Neg", "early", "x", NULL, "t");
    g = graph_with(&out_of_order, &early), m = model_of(&g, 13);
    Read r = read_model(&m, NULL);
    check_that(r.ok, "nodes-out-of-order-are-read", "%s", r.text);
    ctx_free(r.cx);
    Message pass = node("Identity", "same", "x", NULL, "y");
    g = graph_with(&pass, NULL), m = model_of(&g, 13);
    r = read_model(&m, NULL);
    CHECK("an-output-that-is-an-input-is-copied",
          r.ok && r.model.output[0] != r.model.input[0]
              && strcmp(r.model.output[0]->producer->op->name, "identity") == 0);
    ctx_free(r.cx);
}

static void check_shapes(void)
{
    int64_t open[] = { 1, 0, 4 }, batch[] = { 0, 2, 4 };
    Message relu = node("Relu", "relu", "x", NULL, "y"), g = { .count = 0 }, m;
    put_message(&g, 1, &relu);
    put_ends(&g, open);
    m = model_of(&g, 13);
    refused("open-dimension", &m, "input \"x\": error: dimension 1 is open (\"n\"): give its size, as in --dim n=1");
    ImportDim dim = { "n", 3, false, 0 };
    ImportOptions options = { .dim_count = 1, .dim = &dim };
    Read r = read_model(&m, &options);
    CHECK("dimension-is-fixed-by-its-name", r.ok && tensor_dim(r.model.input[0], 1) == 3);
    ctx_free(r.cx);
    dim.name = "x.1";
    r = read_model(&m, &options);
    CHECK("dimension-is-fixed-by-its-place", r.ok && tensor_dim(r.model.output[0], 1) == 3);
    ctx_free(r.cx);
    g = (Message){ .count = 0 };
    put_message(&g, 1, &relu);
    put_ends(&g, batch);
    m = model_of(&g, 13);
    r = read_model(&m, NULL);
    CHECK("open-batch-is-one-with-a-warning", r.ok && tensor_dim(r.model.input[0], 0) == 1 && r.cx->diags
                                   && strstr(diag_text(r.cx, r.cx->diags), "the batch defaults to 1"));
    ctx_free(r.cx);
    dim.name = "n";
    r = read_model(&m, &options);
    CHECK("open-batch-is-fixed-without-a-warning", r.ok && tensor_dim(r.model.input[0], 0) == 3 && !r.cx->diags);
    ctx_free(r.cx);
    refused("old-operator-set", &(Message){ .count = 0 }, "not an ONNX model");
    Message without = graph_with(&relu, NULL), old = model_of(&without, 0);
    refused("operator-set-0", &old,
            "operator set 0, for none of ONNX's own is declared; use an operator set from 1 to");
}

/* Sizes of names: n is 3, past_len is 7. */
static int64_t given_size(void *who, const char *dim_name, int length)
{
    (void)who;
    return length == 1 && *dim_name == 'n' ? 3 : length == 8 && memcmp(dim_name, "past_len", 8) == 0 ? 7 : -1;
}

static void check_dim_formulas(void)
{
    static const struct { const char *text; int64_t size; } cases[] = {
        { "n", 3 }, { "past_len + n", 10 }, { "2*n", 6 }, { " n//2 ", 1 }, { "(n + 1)*past_len - 4", 24 }, { "n - 3",
          0 }, { "n*n*n - 2*(n - 1)", 23 },
        { "n - 4", -1 }, { "m", -1 }, { "past_len + m", -1 }, { "", -1 }, { "n n", -1 }, { "n +", -1 }, { "(n", -1 },
          { "n)", -1 }, { "n//0", -1 },
        { "nn", -1 }, { "past-len", -1 }, { "99999999999999999999", -1 },
          { "999999999999*999999999999*999999999999 - n", INT64_MAX - 3 },
        { "((((((((((((((((((((((((((((((((((((((((n))))))))))))))))))))))))))))))))))))))))", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t size = dim_formula(cases[i].text, given_size, NULL);
        check_that(size == cases[i].size, "sizes-by-formula-are-computed", "%s: %lld", cases[i].text, (long long)size);
    }
}

/* A dimension with a declared maximum is a size of that range; an operator that cannot keep it is named. */
static void check_open(void)
{
    static const ImportDim most = { "n", 16, true, 0 };
    const ImportOptions options = { .dim_count = 1, .dim = &most };
    int64_t dims[] = { 1, 0, 4 };
    static const struct { const char *op, *attr, *refusal; int64_t value; } cases[] = {
        { "Relu", NULL, NULL, 0 },
        { "Softmax", "axis", NULL, 1 },
        { "Concat", "axis", NULL, 2 },
        { "Det", NULL,
          "node \"it\" (Det): unsupported: the dimension \"n\" cannot stay open here; fix it, as in --dim n=16", 0 },
        { "Concat", "axis", NULL, 1 },
        { "GlobalAveragePool", NULL, "node \"it\" (GlobalAveragePool): unsupported: the dimension \"n\"", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Message it = node(cases[i].op, "it", "x", NULL, "y"), g = { .count = 0 }, m;
        if (cases[i].attr) put_attr_int(&it, cases[i].attr, cases[i].value);
        put_message(&g, 1, &it);
        put_ends(&g, dims);
        m = model_of(&g, 13);
        Read r = read_model(&m, &options);
        const char *test_name = text_format(r.cx, "open-%s-%d", cases[i].op, (int)cases[i].value);
        if (cases[i].refusal)
            check_that(!r.ok && strstr(r.text, cases[i].refusal), check_label(test_name, "is-refused"),
                       "wanted \"%s\", got \"%s\"", cases[i].refusal, r.text);
        else
            check_that(r.ok && strcmp(tensor_shape_text(r.cx, r.model.output[0]), "[1][n][4]") == 0,
                       check_label(test_name, "keeps-the-open-size"), "%s", r.text);
        ctx_free(r.cx);
    }
    Message shape = node("Shape", "shape", "x", NULL, "y"), g = { .count = 0 }, m;
    put_message(&g, 1, &shape);
    put_ends(&g, dims);
    m = model_of(&g, 13);
    Read r = read_model(&m, &options);
    check_that(r.ok && strcmp(tensor_shape_text(r.cx, r.model.output[0]), "[3]") == 0, "open-size-is-an-output", "%s",
               r.text);
    ctx_free(r.cx);
}

static void check_initializers(void)
{
    int64_t dims[] = { 1, 2, 4 }, huge[] = { 2147483647, 2147483647, 8 };
    Message add = node("Add", "add", "x", "k", "y");
    static const struct { const char *test_name; int count, form; const char *refusal; } cases[] = {
        { "raw-data-too-short", 7, 0, "8 elements of 4 bytes, but 28 bytes of data are given" },
        { "typed-data-too-long", 9, 1, "8 elements, but 9 values are given" },
        { "no-data", 0, 3, "8 elements, but 0 values are given" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Message g = graph_with(&add, NULL), k = float_tensor("k", 3, dims, cases[i].count, cases[i].form), m;
        put_message(&g, 5, &k);
        m = model_of(&g, 13);
        refused(cases[i].test_name, &m, cases[i].refusal);
    }
    Message g = graph_with(&add, NULL), k = float_tensor("k", 3, huge, 8, 0), m;
    put_message(&g, 5, &k);
    m = model_of(&g, 13);
    refused("absurd-dimensions", &m, "tensor \"k\": error: it has 2^31 elements or more");
    Message outside = float_tensor("k", 3, dims, 0, 3), entry = { .count = 0 };
    put_text(&entry, 1, "location");
    put_text(&entry, 2, "weights/../../secret.bin");
    put_message(&outside, 13, &entry);
    put_int(&outside, 14, 1);
    g = graph_with(&add, NULL);
    put_message(&g, 5, &outside);
    m = model_of(&g, 13);
    refused("external-data-outside-of-the-folder", &m, "which is outside the model's folder");
}

/* An input with an initializer is a constant, but an input with that initial value where it is state. */
static void check_state(void)
{
    Message add = node("Add", "add", "x", "k", "y"), k = float_tensor("k", 3, X_DIMS, 8, 0),
            k_info = value_info("k", 3, X_DIMS, 1);
    Message g = graph_with(&add, NULL), m;
    put_message(&g, 11, &k_info);
    put_message(&g, 5, &k);
    m = model_of(&g, 13);
    Read r = read_model(&m, NULL);
    check_that(r.ok && r.model.input_count == 1 && !r.model.initial[0], "initializer-of-an-input-is-a-constant",
               "%d inputs: %s", r.model.input_count, r.text);
    ctx_free(r.cx);
    const char *kept = "k";
    r = read_model(&m, &(ImportOptions){ .state_count = 1, .state = &kept });
    const Tensor *first = r.ok && r.model.input_count == 2 ? r.model.initial[1] : NULL;
    check_that(first && !r.model.initial[0] && strcmp(r.model.input[1]->name, "k") == 0 && !r.model.input[1]->data,
               "state-with-an-initializer-is-an-input", "%d inputs: %s", r.model.input_count, r.text);
    check_that(first && ((const float *)first->data)[3] == 3.5f, "state-begins-with-its-initializer", "another value");
    ctx_free(r.cx);
}

static void check_attributes(void)
{
    int64_t k_dims[] = { 2, 2, 3 }, strides[] = { 0 }, many[] = { 1, 1, 1 };
    static const char *const names[] = { "strides", "pads" };
    for (int i = 0; i < 3; i++) {
        Message conv = node("Conv", "conv_7", "x", "k", "y"), k = float_tensor("k", 3, k_dims, 12, 0);
        if (i == 0) put_attr_ints(&conv, names[0], strides, 1);
        if (i == 1) put_attr_ints(&conv, names[1], many, 3);
        if (i == 2) put_attr_int(&conv, "group", 3);
        Message g = graph_with(&conv, NULL), m;
        put_message(&g, 5, &k);
        m = model_of(&g, 13);
        refused(i == 0   ? "stride-0"
                : i == 1 ? "too-many-pads"
                         : "conv-group-mismatch",
                &m,
                i == 0   ? "the stride is 0"
                : i == 1 ? "there are 3 values in pads; use at most 2 values"
                         : "node \"conv_7\" (Conv): error: 'group' is 3 but the input has 2 channels");
    }
}

/* Every truncation, and flips of every byte: a model or a diagnostic, never a crash. */
static void check_damage(void)
{
    Message whole = small_model(1);
    int quiet = 0;
    for (size_t cut = 0; cut < whole.count; cut++) {
        Message part = whole;
        part.count = cut;
        Read r = read_model(&part, NULL);
        quiet += !r.ok && !r.cx->diags;
        ctx_free(r.cx);
    }
    CHECK("every-truncation-is-read-or-refused-with-a-reason", quiet == 0);
    for (size_t at = 0; at < whole.count; at++)
        for (int bit = 0; bit < 8; bit++) {
            Message part = whole;
            part.at[at] ^= (uint8_t)(1 << bit);
            Read r = read_model(&part, NULL);
            quiet += !r.ok && !r.cx->diags;
            ctx_free(r.cx);
        }
    CHECK("every-flipped-bit-is-read-or-refused-with-a-reason", quiet == 0);
}

/* ---- The recorded networks, where they are ----------------------------------------------------------------------- */

static void check_network(const char *network)
{
    Ctx *cx = context_new(NULL, NULL);
    const char *path = text_format(cx, "../shared/models/onnx/%s.onnx", network);
    FILE *f = fopen(path, "rb");
    if (!f) {
        check_skip(path, "no recorded models beside the project");
        ctx_free(cx);
        return;
    }
    fclose(f);
    Read r = { .cx = cx };
    r.ok = onnx_read(cx, path, file_read(cx, path), NULL, &r.model);
    if (check_that(r.ok, text_format(cx, "%s-is-read", network), "%s", cx->diags ? diag_text(cx, cx->diags) : "")) {
        DType type;
        int rank;
        int64_t shape[MAX_RANK];
        void *in = NULL, *wanted = NULL;
        npy_read(cx, text_format(cx, "../shared/models/onnx/%s.in0.npy", network), &type, &rank, shape, &in);
        npy_read(cx, text_format(cx, "../shared/models/onnx/%s.out0.npy", network), &type, &rank, shape, &wanted);
        const float *y = in && wanted ? evaluated(&r, 0, in) : NULL, *w = wanted;
        bool same = y != NULL;
        for (int64_t i = 0; same && i < tensor_elems(r.model.output[0]); i++)
            same = fabsf(y[i] - w[i]) <= 1e-4f + 1e-3f * fabsf(w[i]);
        CHECK(text_format(cx, "%s-gives-the-recorded-values", network), same);
    }
    ctx_free(cx);
}

/* ---- Graphs inside nodes, functions --------------------------------------------------------------------------- */

/* FunctionProto of the domain "own": one input x, one output y, its one node. */
static Message function(const char *function_name, const Message *body, const char *domain_of_body)
{
    Message f = { .count = 0 }, ours = { .count = 0 }, own = { .count = 0 }, inner = *body;
    if (domain_of_body) put_text(&inner, 7, domain_of_body);
    put_text(&f, 1, function_name);
    put_text(&f, 4, "x");
    put_text(&f, 5, "y");
    put_message(&f, 7, &inner);
    put_int(&ours, 2, 13);
    put_text(&own, 1, "own");
    put_int(&own, 2, 1);
    put_message(&f, 9, &ours);
    put_message(&f, 9, &own);
    put_text(&f, 10, "own");
    return f;
}

static void check_values(const char *test_name, const Message *m, float (*wanted)(float))
{
    Read r = read_model(m, NULL);
    float x[8] = { 1, -2, 3, -4, 5, -6, 7, -8 };
    const float *y = r.ok ? evaluated(&r, 0, x) : NULL;
    check_that(y != NULL, test_name, "%s", r.text);
    for (int i = 0; y && i < 8; i++)
        check_that(fabsf(y[i] - wanted(x[i])) < 1e-6f, test_name, "%g of %g", (double)y[i], (double)x[i]);
    ctx_free(r.cx);
}

static float leaky(float v) { return v < 0 ? 0.5f * v : v; }
static float absolute(float v) { return fabsf(v); }
static float eightfold(float v) { return 8 * v; }

static void check_functions(void)
{
    Message leaks = node("LeakyRelu", "leaks", "x", NULL, "y"), reference = { .count = 0 }, slope = { .count = 0 };
    put_text(&reference, 1, "alpha");
    put_text(&reference, 21, "slope");
    put_message(&leaks, 5, &reference);
    put_text(&slope, 1, "slope");
    put_varint(&slope, 2 << 3 | 5);
    memcpy(slope.at + slope.count, &(float){ 0.5f }, 4);
    slope.count += 4;
    Message caller = node("Leak", "call", "x", NULL, "y"), body = function("Leak", &leaks, NULL);
    put_message(&caller, 5, &slope);
    put_text(&caller, 7, "own");
    Message g = graph_with(&caller, NULL), m = model_of(&g, 13);
    put_message(&m, 25, &body);
    check_values("function-takes-the-attribute-of-its-call", &m, leaky);

    Message again = node("Leak", "again", "x", NULL, "y");
    body = function("Leak", &again, "own");
    m = model_of(&g, 13);
    put_message(&m, 25, &body);
    refused("function-that-calls-itself", &m, "functions that call one another, or themselves");
}

/* A function is named by its domain, its name and its overload. */
static void check_overloads(void)
{
    for (int i = 0; i < 3; i++) {
        const Message leaks = node("LeakyRelu", "leaks", "x", NULL, "y"), abs = node("Abs", "abs", "x", NULL, "y");
        Message caller = node("Own", "call", "x", NULL, "y"), first = function("Own", &leaks, NULL),
                second = function("Own", &abs, NULL);
        put_text(&caller, 7, "own");
        put_text(&caller, 8, (const char *const[]){ "second", "", "third" }[i]);
        if (i != 1) put_text(&first, 13, "first");
        if (i != 1) put_text(&second, 13, "second");
        else put_text(&first, 13, "second");
        Message g = graph_with(&caller, NULL), m = model_of(&g, 13);
        put_message(&m, 25, &first);
        put_message(&m, 25, &second);
        if (i < 2) check_values(i ? "a-function-without-an-overload" : "an-overload-is-called", &m, absolute);
        else refused("overload-that-no-function-has", &m, "the function Own has no overload \"third\"");
    }
}

/* A graph of one node over values from outside, with one output. */
static Message inner_graph(const Message *n, const char *out)
{
    Message g = { .count = 0 }, y = value_info(out, 3, X_DIMS, 1);
    put_message(&g, 1, n);
    put_message(&g, 12, &y);
    return g;
}

static void put_attr_graph(Message *n, const char *attr_name, const Message *g)
{
    Message a = { .count = 0 };
    put_text(&a, 1, attr_name);
    put_message(&a, 6, g);
    put_message(n, 5, &a);
}

static void check_course(const char *test_name, const Message *m, NodeKind kind, int64_t turns)
{
    Read r = read_model(m, NULL);
    const Node *last = r.ok ? r.model.output[0]->producer : NULL;
    check_that(last && last->kind == kind && (kind == NODE_CALL || region_trip_count(last) == turns), test_name, "%s",
               r.text);
    ctx_free(r.cx);
}

/* |x|: only the run decides whether the largest element is positive, so the branches are graphs of a region. Their
 * results have these names. */
static void check_branches(const char *test_name, const char *of_then, const char *of_else)
{
    Message yes = node("Abs", "yes", "x", NULL, of_then), no = node("Neg", "no", "b", NULL, of_else),
            sum = node("ReduceMax", "sum", "x", NULL, "s");
    Message then_graph = inner_graph(&yes, of_then), else_graph = inner_graph(&no, of_else),
            compare = node("Greater", "compare", "s", "zero", "t");
    Message branch = node("If", "branch", "t", NULL, "y"), zero = float_tensor("zero", 0, NULL, 1, 1),
            g = { .count = 0 }, outside = node("Abs", "outside", "x", NULL, "b");
    put_attr_int(&sum, "keepdims", 0);
    put_attr_graph(&branch, "then_branch", &then_graph);
    put_attr_graph(&branch, "else_branch", &else_graph);
    put_message(&g, 1, &branch);                     /* before the values that its graphs read */
    put_message(&g, 1, &compare);
    put_message(&g, 1, &sum);
    put_message(&g, 1, &outside);
    put_message(&g, 5, &zero);
    put_ends(&g, X_DIMS);
    Message m = model_of(&g, 13);
    check_values(test_name, &m, absolute);
}

/* A loop of `count` iterations that collects rows, whose condition always holds. */
static Message loop_of_rows(int64_t count)
{
    const Message twice = node("Add", "twice", "v", "v", "w"), goes_on = node("Identity", "goes_on", "c", NULL, "d"),
                  row = node("Flatten", "row", "v", NULL, "f");
    const Message ends[] = { value_info("i", 0, NULL, 7), value_info("c", 0, NULL, 9), value_info("v", 3, X_DIMS, 1),
                             value_info("d", 0, NULL, 9), value_info("w", 3, X_DIMS, 1),
                             value_info("f", 2, (int64_t[]){ 1, 8 }, 1) };
    Message body = { .count = 0 }, loop = { .count = 0 }, g, times = int64_tensor("times", &count, 1),
            rows = value_info("rows", 3, (int64_t[]){ 0, 1, 8 }, 1);
    put_message(&body, 1, &twice);
    put_message(&body, 1, &goes_on);
    put_message(&body, 1, &row);
    for (int k = 0; k < 6; k++) put_message(&body, k < 3 ? 11 : 12, &ends[k]);
    put_text(&loop, 1, "times");
    put_text(&loop, 1, "");
    put_text(&loop, 1, "x");
    put_text(&loop, 2, "y");
    put_text(&loop, 2, "rows");
    put_text(&loop, 4, "Loop");
    put_attr_graph(&loop, "body", &body);
    g = graph_with(&loop, NULL);
    put_message(&g, 5, &times);
    put_message(&g, 12, &rows);
    return model_of(&g, 13);
}

/* Without iterations the state is its initial value, and there are no rows of the body's shape. */
static void check_no_iteration(void)
{
    const Message m = loop_of_rows(0), endless = loop_of_rows(INT64_C(1) << 62);
    refused("an-endless-loop-of-a-huge-count", &endless,
            "its condition always holds, and its trip count is 4611686018427387904; use a trip count (input 0) of up "
            "to 2147483647, or a condition that changes");
    Read r = read_model(&m, NULL);
    const char *shape = r.ok ? tensor_shape_text(r.cx, r.model.output[1]) : r.text;
    check_that(text_equal(shape, "[0][1][8]"), "no-iteration-gives-no-rows", "%s", shape);
    ctx_free(r.cx);
}

static void check_control(void)
{
    check_branches("if-reads-values-from-outside", "a", "c");
    check_branches("branches-whose-results-have-the-name-of-the-output", "y", "y");

    /* Three times doubled. */
    Message twice = node("Add", "twice", "v", "v", "w"), goes_on = node("Identity", "goes_on", "c", NULL, "d"),
            body = { .count = 0 }, g, m;
    Message i = value_info("i", 0, NULL, 7), c = value_info("c", 0, NULL, 9), v = value_info("v", 3, X_DIMS, 1),
            d = value_info("d", 0, NULL, 9), w = value_info("w", 3, X_DIMS, 1);
    const Message *ins[] = { &i, &c, &v }, *outs[] = { &d, &w };
    put_message(&body, 1, &twice);
    put_message(&body, 1, &goes_on);
    for (int k = 0; k < 3; k++) put_message(&body, 11, ins[k]);
    for (int k = 0; k < 2; k++) put_message(&body, 12, outs[k]);
    Message times = int64_tensor("times", (int64_t[]){ 3 }, 1), loop = { .count = 0 };
    put_text(&loop, 1, "times");
    put_text(&loop, 1, "");
    put_text(&loop, 1, "x");
    put_text(&loop, 2, "y");
    put_text(&loop, 4, "Loop");
    put_attr_graph(&loop, "body", &body);
    g = graph_with(&loop, NULL);
    put_message(&g, 5, &times);
    m = model_of(&g, 13);
    check_values("loop-written-out-gives-its-values", &m, eightfold);
    check_course("a-loop-of-three-iterations-is-written-out", &m, NODE_CALL, -1);
    g = graph_with(&loop, NULL);
    Message often = int64_tensor("times", (int64_t[]){ 1000 }, 1);
    put_message(&g, 5, &often);
    m = model_of(&g, 13);
    check_course("a-loop-of-many-iterations-is-a-region", &m, NODE_REGION, 1000);
    g = graph_with(&loop, NULL);
    Message open_times = value_info("times", 1, (int64_t[]){ 1 }, 7);
    put_message(&g, 11, &open_times);
    m = model_of(&g, 13);
    check_course("a-loop-of-a-length-from-data-is-a-region", &m, NODE_REGION, -1);

    /* A body of eleven nodes: once it is written out, twice it is a region. */
    Message length = { .count = 0 };
    for (int k = 0; k < 9; k++) {
        char names[2][3] = { { 's', (char)('0' + k), 0 }, { 's', (char)('1' + k), 0 } };
        Message step = node("Sin", names[1], k ? names[0] : "v", NULL, names[1]);
        put_message(&length, 1, &step);
    }
    Message last = node("Neg", "last", "s9", NULL, "w");
    put_message(&length, 1, &last);
    put_message(&length, 1, &goes_on);
    for (int k = 0; k < 3; k++) put_message(&length, 11, ins[k]);
    for (int k = 0; k < 2; k++) put_message(&length, 12, outs[k]);
    for (int64_t turns = 1; turns <= 2; turns++) {
        Message count = int64_tensor("times", &turns, 1), lengthy = { .count = 0 };
        put_text(&lengthy, 1, "times");
        put_text(&lengthy, 1, "");
        put_text(&lengthy, 1, "x");
        put_text(&lengthy, 2, "y");
        put_text(&lengthy, 4, "Loop");
        put_attr_graph(&lengthy, "body", &length);
        g = graph_with(&lengthy, NULL);
        put_message(&g, 5, &count);
        m = model_of(&g, 13);
        check_course(turns == 1 ? "one-long-iteration-is-written-out" : "two-long-iterations-are-a-region", &m,
                     turns == 1 ? NODE_CALL : NODE_REGION, turns == 1 ? -1 : 2);
    }

    /* It collects rows without a declared capacity */
    put_message(&body, 12, &w);
    Message rows = { .count = 0 };
    static const char *const ends[] = { "times", "", "x" };
    for (int k = 0; k < 3; k++) put_text(&rows, 1, ends[k]);
    put_text(&rows, 2, "y");
    put_text(&rows, 2, "all");
    put_text(&rows, 4, "Loop");
    put_attr_graph(&rows, "body", &body);
    g = graph_with(&rows, NULL);
    put_message(&g, 11, &open_times);
    m = model_of(&g, 13);
    refused("rows-without-a-bound", &m,
            "use a compile-time trip count (--value NAME=FILE.npy), or a shape that the model declares for the "
            "output \"all\"");
}

/* A loop with the states v and l, a sequence to which each of `times` iterations appends the doubled v; y is its
 * element 2. */
static Message loop_of_sequences(bool has_known_count)
{
    static const char *const outside[] = { "times", "", "x", "none" }, *const inside[] = { "i", "c", "v", "l" },
                      *const results[] = { "d", "w", "m" };
    const Message parts[] = { node("Add", "twice", "v", "v", "w"), node("Identity", "goes_on", "c", NULL, "d"),
                              node("SequenceInsert", "append", "l", "w", "m") };
    Message body = { .count = 0 }, loop = { .count = 0 };
    for (int k = 0; k < 3; k++) put_message(&body, 1, &parts[k]);
    for (int k = 0; k < 7; k++) {
        Message value = { .count = 0 };
        put_text(&value, 1, k < 4 ? inside[k] : results[k - 4]);
        put_message(&body, k < 4 ? 11 : 12, &value);
    }
    for (int k = 0; k < 4; k++) put_text(&loop, 1, outside[k]);
    put_text(&loop, 2, "last");
    put_text(&loop, 2, "all");
    put_text(&loop, 4, "Loop");
    put_attr_graph(&loop, "body", &body);
    Message empty = { .count = 0 }, at = node("SequenceAt", "at", "all", "two", "y"), g = { .count = 0 };
    put_text(&empty, 2, "none");
    put_text(&empty, 4, "SequenceEmpty");
    put_message(&g, 1, &empty);
    put_message(&g, 1, &loop);
    put_message(&g, 1, &at);
    Message two = int64_tensor("two", (int64_t[]){ 2 }, 1), times = int64_tensor("times", (int64_t[]){ 3 }, 1),
            open = value_info("times", 1, (int64_t[]){ 1 }, 7);
    put_message(&g, 5, &two);
    put_message(&g, has_known_count ? 5 : 11, has_known_count ? &times : &open);
    put_ends(&g, X_DIMS);
    return model_of(&g, 13);
}

static void check_sequences(void)
{
    Message m = loop_of_sequences(true);
    check_values("a-loop-of-a-sequence-is-written-out", &m, eightfold);
    m = loop_of_sequences(false);
    refused("a-loop-of-a-sequence-of-a-count-from-data", &m,
            "use a count and a condition that are known at compile time");
}

int main(void)
{
    for (int form = 0; form < 3; form++) check_small(form);
    CHECK_RUN(check_unknowns, check_names, check_shapes, check_dim_formulas, check_open, check_initializers,
              check_state, check_attributes, check_functions, check_overloads,
              check_no_iteration, check_control, check_sequences, check_damage);
    static const char *const networks[] = { "lenet5", "mnist8", "dscnn", "ad01", "transformer" };
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) check_network(networks[i]);
    return check_done();
}
