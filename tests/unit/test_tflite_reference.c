/* SPDX-License-Identifier: MIT */
/* Every TFLite operator against an independent reference (tests/tflite/case.h), on random models: 60 of each, or the
 * number in the argument. Integers agree to the bit, floats to the accuracy in the operator's row. The references are
 * tested first, on the results of the reference kernels of TensorFlow Lite Micro (tests/tflite/OPERATOR.vec). A third
 * as many cases are the same in UINT8, for operators whose kernels of both types agree. If a model has no floats, its
 * emitted C has none.
 *
 *     test_tflite_reference [CASES [FOLDER [OPERATOR]]]                   FOLDER: of the recorded vectors */
#include "graph/passes/passes.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "../tflite/case.h"
#include "context/context.h"
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_find.h"
#include "loopwright.h"
#include "run_model.h"

static const Operator *const tables[] = {
    elementwise_operators, curve_operators, window_operators, reduction_operators, move_operators,
    order_operators, plain_operators, place_operators, segment_operators
};
enum { TABLES = sizeof tables / sizeof tables[0] };

static Case *case_new(const Operator *op)
{
    static Case c;
    memset(&c, 0, offsetof(Case, pool));
    c.used = 0;
    c.op = op;
    return &c;
}

/* Returns the number of floats between two floats; both zeros are one. */
static double apart(float a, float b)
{
    int32_t i, j;
    memcpy(&i, &a, 4);
    memcpy(&j, &b, 4);
    int64_t x = i < 0 ? -(int64_t)(i & INT32_MAX) : i, y = j < 0 ? -(int64_t)(j & INT32_MAX) : j;
    return fabs((double)(x - y));
}

/* Returns NULL, or the first difference from the reference. */
static const char *compare(Ctx *cx, const Case *c, int i, const void *found)
{
    static uint8_t wanted[8 * MOST_VALUES];
    const Operand *y = &c->out[i];
    const uint8_t *at = found;
    const int size = element_bytes(y->type);
    values_write(y, wanted);
    for (int e = 0; e < elements(y); e++) {
        float a, b;
        if (memcmp(at + e * size, wanted + e * size, (size_t)size) == 0) continue;
        if (y->type != TYPE_F32)
            return text_format(cx, "output %d: element %d is %d, not %d", i, e, (int8_t)at[e * size],
                               (int8_t)wanted[e * size]);
        memcpy(&a, at + 4 * e, 4);
        memcpy(&b, wanted + 4 * e, 4);
        if (!(apart(a, b) <= c->op->ulps))
            return text_format(cx, "output %d: element %d is %.9g, not %.9g", i, e, (double)a, (double)b);
    }
    return NULL;
}

/* ---- The references, on recorded vectors ------------------------------------------------------------------------- */

static uint32_t next_word(const Bytes *file, size_t *at)
{
    const uint8_t *p = file->at + *at;
    *at += 4;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static const uint8_t *next_part(const Bytes *file, size_t *at, size_t *count)
{
    *count = next_word(file, at);
    *at += *count;
    return file->at + *at - *count;
}

static const char *check_record(Ctx *cx, const Operator *op, const Bytes *file, size_t *at)
{
    size_t count, fed;
    Case *c = case_new(op);
    const uint8_t *model = next_part(file, at, &count);
    const char *why = case_read(model, count, c) ? NULL : "the model is not understood";
    fed = next_word(file, at);
    for (int i = 0; fed > 0; i++) {
        if (i < c->in_count && (c->in[i].is_constant || c->in[i].is_absent)) continue;
        const uint8_t *values = next_part(file, at, &count);
        if (i < c->in_count) values_read(c, &c->in[i], values);
        fed--;
    }
    if (!why) op->reference(c);
    size_t outputs = next_word(file, at);
    for (size_t i = 0; i < outputs; i++) {
        const uint8_t *found = next_part(file, at, &count);
        if (!why) why = compare(cx, c, (int)i, found);
    }
    return why;
}

/* TensorFlow Lite Micro has no kernels of the first three; the records of the others have a second operator, because
 * models need an input. */
static const char *const unrecorded_names[] = { "bitcast", "rank", "range", "broadcast_args", "densify" };

static void check_recorded(const Operator *op, const char *folder)
{
    for (size_t i = 0; i < sizeof unrecorded_names / sizeof unrecorded_names[0]; i++)
        if (strcmp(unrecorded_names[i], op->name) == 0) return;
    Ctx *cx = context_new(NULL, NULL);
    Bytes file = file_read(cx, text_format(cx, "%s/%s.vec", folder, op->name));
    const char *why = NULL;
    int count = 0;
    for (size_t at = 0; at + 4 < file.count && !why; count++) why = check_record(cx, op, &file, &at);
    check_that(!why && count >= 20, text_format(cx, "reference-%s", op->name), "record %d: %s", count - 1,
               why ? why : "there are too few");
    ctx_free(cx);
}

/* ---- The compiler, on random cases ------------------------------------------------------------------------------- */

/* All passes over the graph, for a target: folded, rewritten, shrunk, packed. */
static void pass_through(Ctx *cx, Model *m, const char *target)
{
    Graph g = { .name = "m",
                .input_count = m->input_count,
                .input = m->input,
                .output_count = m->output_count,
                .output = m->output,
                .target = target_find(cx, target) };
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    for (int i = 0; i < count; i++) g = pass[i].run(cx, g);
    m->output = g.output;
}

static const char *const targets[] = { "generic", "cortex-m0plus", "cortex-m4", "cortex-m55" };

/* Cases with odd numbers run through the passes first, for the targets in rotation. */
static const char *check_case(Ctx *cx, const Case *c, int number, bool is_once)
{
    const ImportOptions options = { .rounds_once = is_once };
    static uint8_t bytes[MOST_BYTES];
    const void *input[MOST_OPERANDS];
    const void *output[MOST_OPERANDS];
    int fed = 0;
    Model m;
    if (!tflite_read(cx, c->op->name, (Bytes){ bytes, case_write(c, bytes) }, &options, &m))
        return diag_text(cx, cx->diags);
    for (int i = 0; i < c->in_count; i++) {
        if (c->in[i].is_constant || c->in[i].is_absent) continue;
        values_write(&c->in[i], bytes);
        input[fed++] = aligned_copy(cx, bytes, (size_t)(elements(&c->in[i]) * element_bytes(c->in[i].type)));
    }
    const char *why = m.input_count != fed || m.output_count != c->out_count ? "other inputs or outputs" : NULL;
    if (!why && number % 2) pass_through(cx, &m, targets[number / 2 % 4]);
    if (!why) why = run_model(cx, &m, input, output);
    for (int i = 0; i < c->out_count && !why; i++)
        why = tensor_bytes(m.output[i]) == elements(&c->out[i]) * element_bytes(c->out[i].type)
                  ? compare(cx, c, i, output[i])
                  : "an output of another size";
    return why;
}

static void check_random(const Operator *op, int count, bool is_once)
{
    Ctx *names = context_new(NULL, NULL);
    const char *why = NULL;
    int number;
    for (number = 0; number < count && !why; number++) {
        Ctx *cx = context_new(NULL, NULL);
        Random r = { (uint64_t)op->code * 1000003u + (uint64_t)number };
        Case *c = case_new(op);
        between(&r, 0, 1);
        op->make(c, &r, number);
        round_once(is_once);
        op->reference(c);
        round_once(false);
        why = check_case(cx, c, number, is_once);
        if (why) why = text_format(names, "%s", why);
        ctx_free(cx);
    }
    check_that(!why, text_format(names, "%s-%d-cases%s", op->name, count, is_once ? "-rounded-once" : ""),
               "case %d: %s", number - 1, why);
    ctx_free(names);
}

/* ---- The older quantization -------------------------------------------------------------------------------------- */

/* Operators whose UINT8 kernels compute the same real numbers as those of INT8. */
static const char *const unsigned_names[] = {
    "add", "sub", "mul", "div", "conv_2d", "depthwise_conv_2d", "fully_connected", "transpose_conv", "max_pool_2d",
    "softmax", "logistic", "tanh", "relu", "relu6", "leaky_relu", "prelu", "hard_swish", "log_softmax", "mean", "sum",
    "reduce_max", "reduce_min", "maximum", "minimum", "concatenation", "reshape", "pad", "padv2", "strided_slice",
    "resize_nearest_neighbor", "arg_max", "arg_min", "equal", "greater", "less"
};

/* `count` cases of the operator, shifted by 128; cases without a UINT8 form are passed over. */
static void check_unsigned(const Operator *op, int count)
{
    enum { TRIES = 40 };
    Ctx *names = context_new(NULL, NULL);
    const char *why = NULL;
    int checked = 0, number = 0;
    for (; number < TRIES * count && checked < count && !why; number++) {
        Random r = { (uint64_t)op->code * 1000003u + (uint64_t)number };
        Case *c = case_new(op);
        between(&r, 0, 1);
        op->make(c, &r, number);
        op->reference(c);
        if (!make_unsigned(c)) continue;
        Ctx *cx = context_new(NULL, NULL);
        why = check_case(cx, c, checked++, false);
        if (why) why = text_format(names, "%s", why);
        ctx_free(cx);
    }
    check_that(!why && checked == count, text_format(names, "%s-%d-uint8-cases", op->name, checked), "case %d: %s",
               number - 1, why ? why : "there are too few");
    ctx_free(names);
}

static bool has_unsigned(const Operator *op)
{
    for (size_t i = 0; i < sizeof unsigned_names / sizeof unsigned_names[0]; i++)
        if (strcmp(unsigned_names[i], op->name) == 0) return true;
    return false;
}

/* ---- Without floats ---------------------------------------------------------------------------------------------- */

static char path[4096];   /* of scratch files, in the program's folder */

/* Returns the emitted text of the model with its runtime; NULL on an error. */
static const char *emitted(Ctx *cx, const Case *c)
{
    static uint8_t bytes[MOST_BYTES];
    const lw_options options = { .name = "m", .standalone = true };
    const char *model = text_format(cx, "%s.tflite", path), *source = text_format(cx, "%s-model.c", path);
    if (!file_write(cx, model, bytes, case_write(c, bytes)) || !lw_compile(cx, model, source, &options)) return NULL;
    return (const char *)file_read(cx, source).at;
}

/* Outside of comments. */
static bool names_floats(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            if (!end) return false;
            at = end + 1;
        } else if (strncmp(at, "float", 5) == 0 || strncmp(at, "double", 6) == 0) return true;
    }
    return false;
}

static bool has_floats(const Case *c)
{
    bool any = strchr(c->op->fields, 'r') != NULL;
    for (int i = 0; i < c->in_count; i++) any = any || c->in[i].type == TYPE_F32;
    for (int i = 0; i < c->out_count; i++) any = any || c->out[i].type == TYPE_F32;
    return any;
}

/* Of the first models without floats: so is the C. Operators that have no such form are left out. */
static void check_no_floats(const Operator *op)
{
    enum { MOST = 20, TRIED = 2 };
    for (int number = 0, tried = 0; number < MOST && tried < TRIED; number++) {
        Random r = { (uint64_t)op->code * 1000003u + (uint64_t)number };
        Case *c = case_new(op);
        op->make(c, &r, number);
        if (has_floats(c)) continue;
        Ctx *cx = context_new(NULL, NULL);
        const char *text = emitted(cx, c);
        check_that(text && !names_floats(text), text_format(cx, "%s-%d-without-floats", op->name, number), "%s",
                   text ? text : diag_text(cx, cx->diags));
        ctx_free(cx);
        tried++;
    }
}

/* If the model has floats, the C has them, and the report names the layer. */
static void check_floats_are_named(void)
{
    const Operator *op = elementwise_operators;
    while (strcmp(op->name, "dequantize") != 0) op++;
    Random r = { 1 };
    Case *c = case_new(op);
    op->make(c, &r, 0);
    Ctx *cx = context_new(NULL, NULL);
    const char *text = emitted(cx, c),
               *report = text ? lw_report(cx, text_format(cx, "%s.tflite", path), &(lw_options){ .name = "m" }) : NULL;
    CHECK("floats-are-seen", text && names_floats(text));
    CHECK("floats-are-reported", report && strstr(report, "floating point in 1 of 1 layers: tb (dequantize)"));
    ctx_free(cx);
}

static bool decides_a_size(const char *name)     /* tests/tflite_sizes.py has its rows */
{
    return strcmp(name, "UNIQUE") == 0 || strcmp(name, "WHERE") == 0;
}

/* Operators of variables are no functions of their inputs, those of subgraphs have no rule of their own, and complex
 * numbers are between two operators: the recorded models of test_tflite_ops.c have them, and custom operators. */
static void check_all_are_here(void)
{
    Ctx *cx = context_new(NULL, NULL);
    int count;
    const TfliteRow **row = tflite_row_list(cx, &count);
    for (int i = 0; i < count; i++) {
        bool is_here = row[i]->types == OF_HANDLE || row[i]->types & (WRITES_VARIABLES | RUNS_SUBGRAPHS)
                       || row[i]->code == TFLITE_CUSTOM || !(row[i]->types & ~OF_COMPLEX)
                       || strcmp(row[i]->name, "RFFT2D") == 0 || decides_a_size(row[i]->name);
        for (int t = 0; t < TABLES; t++)
            for (const Operator *op = tables[t]; op->name; op++) is_here = is_here || op->code == row[i]->code;
        if (!is_here) check_that(0, "every-operator", "%s has no reference", row[i]->name);
    }
    ctx_free(cx);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 60;
    snprintf(path, sizeof path, "%s", argv[0]);
    CHECK_RUN(check_all_are_here, check_floats_are_named);
    for (int t = 0; t < TABLES; t++)
        for (const Operator *op = tables[t]; op->name; op++) {
            if (argc > 3 && strcmp(argv[3], op->name) != 0) continue;
            check_recorded(op, argc > 2 ? argv[2] : "tests/tflite");
            check_random(op, count, false);
            check_random(op, (count + 4) / 5, true);
            if (has_unsigned(op)) check_unsigned(op, (count + 2) / 3);
            check_no_floats(op);
        }
    return check_done();
}
