/* SPDX-License-Identifier: MIT */
/* lw_compile on a thread with the stack that loopwright.h states, and a guard page behind it: models of every kind,
 * each for another target, and files that are as deep as the readers accept, or deeper. Each file is compiled in a
 * child process, so the others run, too. Without optimization, and under sanitizers, frames are larger: then the stack
 * has 16 times the size, and the test finds recursions without a bound alone. */
#define _DEFAULT_SOURCE      /* fork, mkdtemp */
#include "check.h"

#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context/context.h"
#include "graph/dag/target.h"
#include "loopwright.h"
#include "onnx_text.h"

#if !defined __OPTIMIZE__ || defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { TIMES = 16 };
#else
enum { TIMES = 1 };
#endif
enum { STATED = 128 * 1024, DONE = 10, REFUSED = 11, SILENT = 12, NO_THREAD = 13 };

typedef struct Job { const char *model, *output; lw_options options; int status; } Job;

static void *compile(void *user)
{
    Job *j = user;
    lw_context *cx = lw_new();
    const bool done = lw_compile(cx, j->model, j->output, &j->options);
    j->status = done ? DONE : lw_diagnostic(cx, 0, NULL) ? REFUSED : SILENT;
    lw_free(cx);
    return NULL;
}

static int on_a_thread(Job *j)
{
    pthread_attr_t attr;
    pthread_t thread;
    const size_t wanted = (size_t)TIMES * STATED, least = (size_t)PTHREAD_STACK_MIN;
    if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, wanted > least ? wanted : least) ||
        pthread_create(&thread, &attr, compile, j) || pthread_join(thread, NULL))
        return NO_THREAD;
    return j->status;
}

static char folder[200], output[220];

/* DONE, REFUSED or SILENT; -1: the process died. */
static int ending(const char *model, const lw_options *o)
{
    Job j = { .model = model, .output = output, .options = *o };
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) _exit(on_a_thread(&j));
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Models of every kind ---------------------------------------------------------------------------------------- */

static void test_models(Ctx *cx)
{
    static const char *const kinds[] = {
        "tests/models/*.onnx", "tests/golden/*/*.onnx", "tests/golden/*/*.te", "tests/emitted/*.te",
        "tests/fuzz/corpus-onnx/*.onnx", "tests/fuzz/corpus-tflite/*.tflite", "tests/models/*.tflite",
        "samples/*/*.onnx", "samples/*/*.te",
    };
    int targets, number = 0;
    const Target *const *target = target_list(cx, &targets);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        glob_t found;
        const char *died = NULL;
        int count = 0;
        if (glob(kinds[k], 0, NULL, &found) != 0) continue;
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const lw_options o = { .target = target[number++ % targets]->name, .name = "m" };
            const int end = ending(found.gl_pathv[i], &o);
            count += end == DONE;
            if (end != DONE && end != REFUSED)
                died = text_format(cx, "%s for %s ends with %d", found.gl_pathv[i], o.target, end);
        }
        globfree(&found);
        check_that(!died && count, text_format(cx, "models-%s", kinds[k]), "%s", died ? died : "none compiles");
    }
}

/* Chains of guards and quotients in the indices of products of bytes: the longest search for a bound. */
static void test_longest(void)
{
    static const char *const models[] = { "tests/models/sixteen.onnx", "tests/models/quantized.onnx" };
    static const char *const targets[] = { "cortex-m4", "cortex-m7", "cortex-m55", "x86-avx512" };
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++)
        for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            const int end = ending(models[m], &(lw_options){ .target = targets[t], .name = "m" });
            check_that(end == DONE, check_label(strrchr(models[m], '/') + 1, targets[t]), "it ends with %d", end);
        }
}

/* ---- Deep files -------------------------------------------------------------------------------------------------- */

static const char *written(Ctx *cx, const char *name, const Text *t)
{
    const char *path = text_format(cx, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f) return path;
    fwrite(t->at, 1, t->length, f);
    fclose(f);
    return path;
}

static void add_times(Text *t, const char *what, int times)
{
    for (int i = 0; i < times; i++) text_add(t, what);
}

/* A formula: `begin` COUNT times, `middle`, `end` COUNT times. */
typedef struct DeepFormula {
    const char *what, *begin, *middle, *end; int count;
    bool is_fine;
} DeepFormula;
static const DeepFormula formulas[] = {
    { "sum", "", "x[i]", " + x[i]", 195, true },
    { "sum-too-long", "", "x[i]", " + x[i]", 300, false },
    { "sum-of-integers", "", "k[i]", " + k[i] % 7", 190, true },
    { "sum-of-4000", "", "x[i]", " + x[i]", 3999, false },
    { "products-and-quotients", "", "x[i]", " * 1.5 / x[i]", 99, true },
    { "conditions", "select(true", " && x[i] < 2.0", ", x[i], 0.0)", 1, true },
    { "shifts", "", "k[i]", " ^ 3 << 1", 90, true },
    { "parentheses", "(", "x[i]", ")", 60, true },
    { "parentheses-too-deep", "(", "x[i]", ")", 70, false },
    { "to-the-right", "x[i] - (", "x[i]", ")", 60, true },
    { "negative", "-", "x[i]", "", 60, true },
    { "calls", "max(x[i], ", "x[i]", ")", 60, true },
    { "roots", "sqrt(", "x[i]", ")", 60, true },
    { "choices", "select(x[i] < 2.0, x[i], ", "x[i]", ")", 60, true },
    { "gathers", "k[", "i", "]", 60, true },
    { "index-of-quotients", "", "x[i", " / 2 * 3 % 61", 60, false },
};

static Text formula_file(Ctx *cx, const DeepFormula *d)
{
    Text t = text_new(cx);
    text_add(&t, "input x: f32[64]\ninput k: i32[64]\ny[i] = ");
    add_times(&t, d->begin, d->count);
    text_add(&t, d->middle);
    add_times(&t, d->end, d->count);
    text_add(&t, "\noutput y\n");
    return t;
}

/* 62 formulas, each of `count` products and sums, which a schedule inlines into one another if it may. */
static Text chain_of_formulas(Ctx *cx, int count, bool is_scheduled)
{
    Text t = text_new(cx);
    text_add(&t, "input x: f32[8]\nt0[i] = x[i] * 2.0\n");
    for (int i = 0; i < 62; i++) {
        text_printf(&t, "t%d[i] = t%d[i]", i + 1, i);
        add_times(&t, " * 1.5 + x[i]", count);
        text_add(&t, "\n");
    }
    text_add(&t, "output t62\n\n");
    for (int i = 0; i < 62 && is_scheduled; i++)
        text_printf(&t, "%s  compute_inline t%d\n", i ? "" : "schedule\n", i);
    return t;
}

static Text chain_of_calls(Ctx *cx, const char *call, int count)
{
    Text t = text_new(cx);
    text_add(&t, "input x: f32[1][8]\nt0 = relu(x)\n");
    for (int i = 0; i < count; i++) text_printf(&t, "t%d = %s(t%d)\n", i + 1, call, i);
    text_printf(&t, "output t%d\n", count);
    return t;
}

static void ends(Ctx *cx, const char *what, const char *path, const lw_options *o, int wanted)
{
    static const char *const targets[] = { "generic", "cortex-m4", "x86-avx2" };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        lw_options each = *o;
        each.target = targets[i], each.name = "m";
        const int end = ending(path, &each);
        check_that(end == wanted, text_format(cx, "deep-%s", what), "for %s it ends with %d", targets[i], end);
    }
}

static void test_formulas(Ctx *cx)
{
    const lw_options none = { 0 };
    for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++) {
        const Text t = formula_file(cx, &formulas[i]);
        ends(cx, formulas[i].what, written(cx, "deep.te", &t), &none, formulas[i].is_fine ? DONE : REFUSED);
    }
    const DeepFormula product = { "", "", "x[i]", " * x[i]", 190, true };
    Text t = formula_file(cx, &product);
    text_add(&t, "loss = reduce_sum(y)\noutput loss\n");
    ends(cx, "gradient", written(cx, "deep.te", &t), &(lw_options){ .gradient = "loss:x" }, DONE);
    for (int count = 1; count < 100; count += 30) {
        t = chain_of_formulas(cx, count, false);
        ends(cx, "chain-of-formulas", written(cx, "deep.te", &t), &none, DONE);
        t = chain_of_formulas(cx, count, true);
        ends(cx, "chain-inlined-by-steps", written(cx, "deep.te", &t), &none, count == 1 ? DONE : REFUSED);
    }
    static const char *const calls[] = { "exp", "softmax", "neg" };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        t = chain_of_calls(cx, calls[i], 400);
        ends(cx, "chain-of-calls", written(cx, "deep.te", &t), &none, DONE);
        t = chain_of_calls(cx, calls[i], 60);
        ends(cx, "chain-combined", written(cx, "deep.te", &t), &(lw_options){ .combine = "all" }, DONE);
    }
}

/* A list of `count` integers: each of `step` more. */
static void add_list(Text *t, const char *attribute, int count, int from, int step)
{
    text_printf(t, " %s=", attribute);
    for (int i = 0; i < count; i++) text_printf(t, "%s%d", i ? "," : "", from + i * step);
}

/* A tree in which each branch has one leaf, and the next branch: nodes 0..depth-1 and depth..2*depth. */
static Text deep_tree(Ctx *cx, int depth)
{
    const int nodes = 2 * depth + 1;
    Text t = text_new(cx);
    text_add(&t, "x:1,1; ai.onnx.ml/TreeEnsembleRegressor x y n_targets=1!");
    add_list(&t, "nodes_treeids", nodes, 0, 0);
    add_list(&t, "nodes_nodeids", nodes, 0, 1);
    add_list(&t, "nodes_featureids", nodes, 0, 0);
    add_list(&t, "nodes_values", nodes, 0, 1);
    text_add(&t, "| nodes_modes=|");
    for (int i = 0; i < nodes; i++) text_add(&t, i < depth ? "BRANCH_LEQ|" : "LEAF|");
    add_list(&t, "nodes_truenodeids", nodes, depth + 1, 1);
    add_list(&t, "nodes_falsenodeids", nodes, 1, 1);
    add_list(&t, "target_treeids", depth + 1, 0, 0);
    add_list(&t, "target_nodeids", depth + 1, depth, 1);
    add_list(&t, "target_ids", depth + 1, 0, 0);
    add_list(&t, "target_weights", depth + 1, 1, 1);
    text_add(&t, "|; >y");
    return onnx_text(cx, text_string(&t));
}

static void test_onnx(Ctx *cx)
{
    static const struct { const char *what, *model; } models[] = {
        { "onnx-chain", "t0:4; *2000 Relu t^ t@; >t2000" },
        { "onnx-chain-of-sums", "x:4; t0:4; *500 Add t^,x t@; >t500" },
        { "onnx-doubling", "t0:4; *500 Add t^,t^ t@; >t500" },
        { "onnx-chain-of-minima", "x:4; t0:4; *200 Min t^,x t@; >t200" },
        { "onnx-chain-of-views", "t0:4; s#4; *500 Reshape t^,s t@; >t500" },
        { "onnx-chain-of-products", "t0:1,4; w=4,4; *100 MatMul t^,w t@; >t100" },
    };
    const lw_options none = { 0 };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const Text t = onnx_text(cx, models[i].model);
        ends(cx, models[i].what, written(cx, "deep.onnx", &t), &none, DONE);
    }
    const Text tree = deep_tree(cx, 1900), too_deep = deep_tree(cx, 2100);
    ends(cx, "tree", written(cx, "deep.onnx", &tree), &none, DONE);
    ends(cx, "tree-too-deep", written(cx, "deep.onnx", &too_deep), &none, REFUSED);
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/stack-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) return 3;
    snprintf(output, sizeof output, "%s/m.c", folder);
    Ctx *cx = context_new(NULL, NULL);
    test_models(cx);
    test_longest();
    test_formulas(cx);
    test_onnx(cx);
    static const char *const files[] = { "m.c", "m.h", "deep.te", "deep.onnx", "" };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove(text_format(cx, "%s/%s", folder, files[i]));
    ctx_free(cx);
    return check_done();
}
