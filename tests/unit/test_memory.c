/* SPDX-License-Identifier: MIT */
/* Exhausted memory, through the public interface. Every call ends with an error that names it, writes no file, and
 * leaves nothing allocated after the context is freed. The context may be freed or queried in any state. The blocks of
 * the arenas fail one after another; then a sample of single allocations inside blocks fails.
 *
 * This file includes the text of the arena and the context, to count and to fail; the linker uses these functions
 * instead of the library's. */
#include <limits.h>
#include <stdlib.h>

static void *test_malloc(size_t bytes);
static void *test_calloc(size_t count, size_t bytes);
static void test_free(void *block);
#define malloc test_malloc
#define calloc test_calloc
#define free test_free
#define arena_alloc uncounted_alloc
#define arena_array uncounted_array
#define arena_copy uncounted_copy
#include "../../emitter/support/arena.c"
#undef arena_alloc
#undef arena_array
#undef arena_copy
void *arena_alloc(Arena *a, size_t bytes);
void *arena_array(Arena *a, size_t count, size_t elem_bytes);
void *arena_copy(Arena *a, const void *from, size_t bytes);
#include "../../emitter/support/ctx.c"
#undef malloc
#undef calloc
#undef free

#include "check.h"
#include "loopwright.h"

static struct { long blocks, fail_block, live, allocations, fail_allocation; } memory;

static bool is_refused(void) { return ++memory.blocks == memory.fail_block; }

static void *counted(void *block)
{
    memory.live += block != NULL;
    return block;
}

static void *test_malloc(size_t bytes) { return is_refused() ? NULL : counted(malloc(bytes)); }
static void *test_calloc(size_t count, size_t bytes) { return is_refused() ? NULL : counted(calloc(count, bytes)); }

static void test_free(void *block)
{
    memory.live -= block != NULL;
    free(block);
}

static void count_allocation(Arena *a, size_t bytes)
{
    if (++memory.allocations == memory.fail_allocation) out_of_memory(a->hook, a->user, bytes);
}

void *arena_alloc(Arena *a, size_t bytes)
{
    count_allocation(a, bytes);
    return uncounted_alloc(a, bytes);
}

void *arena_array(Arena *a, size_t count, size_t elem_bytes)
{
    count_allocation(a, count);
    return uncounted_array(a, count, elem_bytes);
}

void *arena_copy(Arena *a, const void *from, size_t bytes)
{
    count_allocation(a, bytes);
    return uncounted_copy(a, from, bytes);
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

static const char MATMUL[] = "samples/matmul/matmul.te", MODEL[] = "tests/golden/elementwise/elementwise.onnx";
static char output[300], header[300];       /* in the program's folder */
static const lw_options plain;

static bool compile(lw_context *cx) { return lw_compile(cx, MODEL, output, &plain); }
static bool compile_te(lw_context *cx) { return lw_compile(cx, MATMUL, output, &plain); }
static bool dump(lw_context *cx) { return lw_dump(cx, MODEL, &(lw_options){ .at = "lowered" }) != NULL; }
static bool report(lw_context *cx) { return lw_report(cx, MODEL, &plain) && lw_report_html(cx, MODEL, &plain); }
static bool lists(lw_context *cx)
{
    return lw_list_ops(cx, 0) && lw_list_onnx_ops(cx) && lw_list_tflite_ops(cx) && lw_list_targets(cx)
           && lw_list_passes(cx);
}

static bool define(lw_context *cx)
{
    static float a[8], b[8];
    lw_computation *p = lw_define(cx, "twice", NULL);
    const char *refusal;
    bool ok = lw_input(p, "a: f32[8]");
    ok = lw_compute(p, "b[i] = 2 * a[i]") && ok;
    ok = lw_output(p, "b") && ok;
    ok = lw_split(p, "b.i", 4, NULL) && ok;
    refusal = lw_try(p, "unroll nothing");
    ok = lw_show(p) && ok;
    ok = lw_text(p) && ok;
    ok = lw_execute(p, (const void *[]){ a }, (void *[]){ b }) && ok;
    return lw_emit(p, output, NULL) && ok && refusal;
}

/* Calls every query of a stage. */
static void ask(lw_group *g, const lw_stage *s, void *user)
{
    const lw_loop *l = lw_stage_loop(s, 0);
    const bool has_axes = lw_stage_axis(s, 0) && lw_loop_axis(l) && lw_loop_kind(l) && !lw_loop_outer(l);
    *(bool *)user = lw_stage_shape(s) && lw_stage_type(s) && lw_stage_attrs(s) && lw_stage_limits(s, 0, NULL, NULL) &&
        (lw_stage_is_input(s) ? lw_stage_consumer(s, 0) != NULL : has_axes && lw_loop_names(&l, 1) &&
         lw_loop_stage(l) == s && lw_stage_producer(s, 0) && lw_stage_pattern(s) && lw_group_target(g)) &&
        *(bool *)user;
}

static bool unroll(lw_context *cx, lw_group *g)
{
    bool ok = true;
    (void)cx;
    lw_visit(g, ask, &ok);
    return ok && lw_show(g) && lw_try(g, "unroll nothing") && lw_split(g, lw_find_loop(g, "@output.i"), 2, NULL);
}

static bool extend(lw_context *cx)
{
    bool ok = lw_register_injective(cx, "backward", "x", "y[i<dim(x, 0)] = x[dim(x, 0) - 1 - i]");
    ok = lw_register_schedule(cx, "backward", NULL, 0, unroll) && ok;
    ok = lw_register_device(cx, "unit", "dense", "i8") && ok;
    ok = lw_register_target(cx, &(lw_target){ .name = "own" }) && ok;
    ok = lw_register_onnx(cx, "Backward", "backward", NULL) && ok;
    ok = lw_check_op(cx, "backward", NULL, "f32[6]") && ok;
    lw_computation *p = lw_define(cx, "mirror", "own");
    ok = lw_input(p, "x: f32[6]") && ok;
    ok = lw_statement(p, "y = backward(x)") && ok;
    ok = lw_output(p, "y") && ok;
    return lw_emit(p, output, NULL) && ok;
}

/* ---- How it ends ------------------------------------------------------------------------------------------------- */

static bool exists(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

static bool says_so(lw_context *cx)
{
    bool is_error = false;
    const char *text;
    int count = 0;
    for (int i = 0; (text = lw_diagnostic(cx, i, &is_error)) != NULL; i++)
        count += is_error && strncmp(text, "error: out of memory", 20) == 0;
    return count == 1;
}

/* Returns NULL, or the fault of the call if the memory's n-th request fails; *is_done: the call makes fewer
 * requests. */
static const char *fault(bool call(lw_context *cx), bool *is_done)
{
    memory.blocks = memory.live = memory.allocations = 0;
    remove(output);
    remove(header);
    lw_context *cx = lw_new();
    const bool ok = call(cx), said = says_so(cx),
               was_refused = memory.fail_block ? memory.blocks >= memory.fail_block
                                               : memory.allocations >= memory.fail_allocation;
    const bool again = was_refused && (call(cx) || lw_compile(cx, MODEL, output, &plain));
    lw_free(cx);
    *is_done = !was_refused;
    if (ok == was_refused) return ok ? "done, but memory ran out" : "failed with enough memory";
    if (was_refused && !said) return "no diagnostic says that memory ran out, or several do";
    if (again) return "a call worked after memory had run out";
    if (was_refused && (exists(output) || exists(header))) return "a file was left";
    return memory.live ? "blocks were left" : NULL;
}

/* Fails request number 1, 1 + stride, ... until the call is done. */
static void fail_each(const char *name, bool call(lw_context *cx), long *which, long stride)
{
    bool is_done = false;
    const char *wrong = NULL;
    long n = 1, last = 0;
    for (; !is_done && !wrong; n += stride) {
        *which = last = n;
        wrong = fault(call, &is_done);
    }
    *which = 0;
    check_that(!wrong && last > 1, check_label(name, "ends-with-an-error"), "request %ld: %s", last,
               wrong ? wrong : "none was made");
}

typedef struct Case { const char *name; bool (*call)(lw_context *cx); } Case;

int main(int argc, char **argv)
{
    snprintf(output, sizeof output, "%.250s.out.c", argv[argc - 1]);
    snprintf(header, sizeof header, "%.250s.out.h", argv[argc - 1]);
    static const Case cases[] = { { "compile", compile }, { "compile-te", compile_te }, { "dump", dump },
                                  { "report", report },   { "lists", lists },           { "define", define },
                                  { "extend", extend } };
    enum { SAMPLES = 150 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        bool is_done;
        snprintf(name, sizeof name, "no-block-%s", cases[i].name);
        fail_each(name, cases[i].call, &memory.fail_block, 1);
        memory.fail_allocation = LONG_MAX;      /* counts them */
        fault(cases[i].call, &is_done);
        snprintf(name, sizeof name, "no-allocation-%s", cases[i].name);
        fail_each(name, cases[i].call, &memory.fail_allocation, memory.allocations / SAMPLES + 1);
    }
    return check_done();
}
