/* SPDX-License-Identifier: MIT */
/* Schedules belong to features: a target registered from outside, which falls back to generic and lists the features
 * and costs of a built-in core, gets the same implementations and the same C but for the target's name. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "loopwright.h"

typedef struct Twin { const char *core; lw_target row; } Twin;

/* All Arm rows have the same budget of copies. */
#define TWIN(its_core, its_features, floats, integers) \
    { its_core, { .name = "outside", .features = its_features, .lanes = 1, .accumulators = floats, \
                  .integer_accumulators = integers, .copy_budget = 16 } }
static const Twin twins[] = {
    TWIN("cortex-m0plus", "rows words", 4, 0), TWIN("cortex-m3", "long mla rows words", 8, 0),
    TWIN("cortex-m4", "fpu dsp mla rows", 16, 6), TWIN("cortex-m55", "rows mla dsp mve bytes fpu", 16, 6),
    { "x86-avx2", { .name = "outside", .features = "fma avx2 vectors rows bytes panels", .lanes = 16,
      .vector_bytes = 32 } },
};

/* The file with each `name` replaced by "T"; the caller frees it. NULL: it cannot be read. */
static char *text_without(const char *path, const char *name)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f), n = strlen(name), used = 0;
    char *text = calloc(size + 1, 1);
    rewind(f);
    size = fread(text, 1, size, f);
    fclose(f);
    for (size_t i = 0; i < size; used++)
        if (strncmp(text + i, name, n) == 0) text[used] = 'T', i += n;
        else text[used] = text[i++];
    text[used] = 0;
    return text;
}

/* The C of the model for the target, or why there is none; `row` NULL: the target is built in. */
static char *compiled(const char *model, const char *path, const char *target, const lw_target *row)
{
    lw_context *cx = lw_new();
    const lw_options options = { .target = target, .name = "net" };
    const bool done = (!row || lw_register_target(cx, row)) && lw_compile(cx, model, path, &options);
    if (!done) printf("# %s\n", lw_diagnostic(cx, 0, NULL) ? lw_diagnostic(cx, 0, NULL) : "no diagnostic");
    char *text = done ? text_without(path, target) : NULL;
    lw_free(cx);
    return text;
}

static int lines_until_other(const char *a, const char *b)
{
    int line = 1;
    for (; *a && *a == *b; a++, b++) line += *a == '\n';
    return line;
}

static void check_model(const char *model, const char *called, const char *path)
{
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s, features of %s", called, twins[i].core);
        char *ours = compiled(model, path, twins[i].core, NULL);
        char *outside = compiled(model, path, twins[i].row.name, &twins[i].row);
        check_that(ours && outside && strcmp(ours, outside) == 0, name, "differs from line %d",
                   ours && outside ? lines_until_other(ours, outside) : 0);
        free(ours);
        free(outside);
    }
}

/* An implementation of one's own that needs a feature is one of the targets that have it. */
static void check_implementation(void)
{
    const lw_implementation row = { .name = "mine", .what = "", .plevel = 50, .features = "dsp" };
    const lw_options m4 = { .target = "cortex-m4", .at = "strategy" }, m3 = { .target = "cortex-m3", .at = "strategy" };
    lw_context *cx = lw_new();
    lw_register_strategy(cx, "pattern:out-fusable", "generic", &row, 1);
    const char *with = lw_dump(cx, "tests/models/quantized.onnx", &m4);
    const char *without = lw_dump(cx, "tests/models/quantized.onnx", &m3);
    CHECK("a feature of the target is met", with && strstr(with, "chosen: mine"));
    CHECK("a feature that the target lacks", without && !strstr(without, "mine"));
    lw_free(cx);
}

int main(int argc, char **argv)
{
    char path[400];
    snprintf(path, sizeof path, "%s.net.c", argc > 0 ? argv[0] : "test_features");
    check_model("tests/models/quantized.onnx", "quantized.onnx", path);
    const char *shared = "../shared/models/kws/kws_cnn_int8.tflite";
    FILE *f = fopen(shared, "rb");
    if (f) {
        fclose(f);
        check_model(shared, "kws_cnn_int8.tflite", path);
    }
    char *rows = compiled("tests/models/quantized.onnx", path, "outside", &twins[2].row);
    CHECK("the features of cortex-m4 bring LW_DOT_", rows && strstr(rows, "LW_DOT_"));
    free(rows);
    remove(path);
    check_implementation();
    return check_done();
}
