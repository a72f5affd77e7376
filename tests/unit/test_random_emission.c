/* SPDX-License-Identifier: MIT */
/* Random programs under random schedules, lowered, printed and compiled, hundreds in a file, beside the plain
 * evaluator, bit for bit. Without arguments the first 120 seeds; with SEED COUNT [copies] those. With `copies`, most
 * steps make copies to small memories; they run in three orders of copies. The compiler is $CC or cc, its flags
 * $EMIT_FLAGS. A file with a mismatch is kept at the printed path. */
#define Program FuzzProgram       /* the emitter defines another Program */
#include "../fuzz/programs.c"
#include "../fuzz/schedules.c"
#undef Program
#include "../fuzz/emit_batch.c"

#include "check.h"
#include "context/context.h"
#include "schedule/schedule.h"

enum { BATCH = 200 };

typedef struct Run {
    EmitBatch *batch;
    const char *cc, *flags, *stem;
    uint64_t first, last;              /* seeds of the batch */
    bool copies;                       /* FUZZ_COPIES */
    long programs, steps, wrong, unlowered, with_copies;
} Run;

/* Every loop that may be parallel is, with EMIT_PARALLEL in the environment: for compilers with OpenMP. */
static const Nest *in_threads(Ctx *cx, const Nest *n)
{
    Nouns w = nouns_of(n);
    for (int i = 0; i < w.loop_count; i++) {
        DiagMark mark = diag_mark(cx);
        const Nest *next = w.loop[i]->loop_kind == LOOP_SERIAL ? sched_parallel(cx, n, w.loop[i]->name) : n;
        if (!diag_rewind(cx, mark)) n = next;
    }
    return n;
}

/* Loops over data that have room for vectors become vector loops, as far as they may: of three programs in four, which
 * are lowered for vectors. */
static const Nest *in_vectors(Ctx *cx, const Nest *n)
{
    Nouns w = nouns_of(n);
    for (int i = 0; i < w.loop_count; i++) {
        const Expr *extent = w.loop[i]->extent;
        if (w.loop[i]->loop_kind != LOOP_SERIAL || extent->kind != EXPR_INT || extent->integer % 4 != 0) continue;
        DiagMark mark = diag_mark(cx);
        const Nest *next = sched_vectorize(cx, n, w.loop[i]->name);
        if (!diag_rewind(cx, mark)) n = next;
    }
    return n;
}

/* The steps of fuzz_schedule, trusting the checker: tests/unit/test_random_schedules.c tests their values. */
static void emit_seed(Run *run, uint64_t seed)
{
    Counts counts = { 0 };
    Random r = random_new(seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = seed, .counts = &counts, .copies = run->copies,
               .most = run->copies ? MOST_COPIED : 0 };
    if (prepare(&c, &r)) {
        int steps = random_below(&r, run->copies ? MAX_COPY_STEPS : MAX_STEPS), made = 0;
        if (run->copies) steps += 1 + MAX_COPY_STEPS / 4;
        for (int i = 0; i < steps; i++) {
            DiagMark mark = diag_mark(c.cx);
            const Nest *next = sched_step(c.cx, c.nest, some_step(&c, &r, &made));
            if (!diag_rewind(c.cx, mark)) {
                c.nest = next;
                run->steps++;
            }
        }
        if (emit_batch_lanes(run->batch)) c.nest = in_vectors(c.cx, c.nest);
        if (getenv("EMIT_PARALLEL")) c.nest = in_threads(c.cx, c.nest);
        run->programs++;
        if (!emit_batch_count(run->batch)) run->first = seed;
        run->last = seed;
        const bool fits = !nest_memory_refusal(c.cx, c.nest);
        const char *label = text_format(c.cx, "seed %llu", (unsigned long long)seed);
        const FuzzProgram *p = c.program;
        const bool in_place = p->after && plan_may_update(c.cx, c.nest, p->before, p->after);
        run->with_copies += fits && has_starts(c.nest->root);
        if (fits && !emit_batch_add_in_place(run->batch, c.cx, label, c.nest, c.expected,
                                             in_place ? p->before : NULL, p->after)) {
            run->unlowered++;
            printf("# seed %llu: %s\n", (unsigned long long)seed,
                   c.cx->diags ? diag_text(c.cx, c.cx->diags) : "not lowered");
        }
    }
    ctx_free(c.cx);
}

static void flush(Run *run)
{
    if (emit_batch_count(run->batch)) {
        int wrong = emit_batch_run(run->batch, run->stem, run->cc, run->flags);
        if (wrong)
            printf("# seeds %llu to %llu: %d mismatches (-1: no result)\n", (unsigned long long)run->first,
                   (unsigned long long)run->last, wrong);
        run->wrong += wrong < 0 ? 1 : wrong;
    }
    emit_batch_free(run->batch);
    run->batch = emit_batch_new();
    if (run->copies) emit_batch_orders(run->batch);
}

/* Seeds of programs whose emission was wrong once. 7886: a macro's portable form stores where a pointer to const was
 * declared for reads beside it. 12778: the minimum of a constant 0.0 and -0.0, whose operands had changed places.
 * 201912: sums in a loop with asynchronous copies, which did not begin at their first values. 4222: two versions of a
 * loop whose condition needs a variable that the loop declares. 7124: a call whose part a guard leaves empty. 7270: an
 * instruction of which nothing is left, because it copies an in-out tensor to itself. */
static const uint64_t found[] = { 7886, 12778, 201912, 4222, 7124, 7270 };

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 120;
    const char *cc = getenv("CC"), *flags = getenv("EMIT_FLAGS");
    char stem[1024];
    /* In the program's folder, so two builds may run at once */
    snprintf(stem, sizeof stem, "%s.emitted", argv[0]);
    Run run = { .batch = emit_batch_new(), .cc = cc && *cc ? cc : "cc", .flags = flags, .stem = stem };
    run.copies = argc > 3 && strcmp(argv[3], "copies") == 0;
    if (run.copies) emit_batch_orders(run.batch);
    if (!flags) run.flags = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O1 -ffp-contract=off";
    if (system(text_format(run.batch->cx, "command -v %s >/dev/null 2>&1", run.cc)) != 0) {
        check_skip("random-emission", "no C compiler to run");
        return check_done();
    }
    for (size_t i = 0; !run.copies && i < sizeof found / sizeof found[0]; i++) emit_seed(&run, found[i]);
    for (long i = 0; i < count && !run.wrong; i++) {
        emit_seed(&run, seed + (uint64_t)i);
        if (emit_batch_count(run.batch) == BATCH) flush(&run);
    }
    flush(&run);
    printf("# %ld programs, %ld steps, %ld schedules with asynchronous copies\n", run.programs, run.steps,
           run.with_copies);
    check_that(run.wrong == 0, "random-emission-equals-evaluator", "see above; the first seed was %llu",
               (unsigned long long)seed);
    check_that(run.unlowered == 0, "random-nests-lower", "%ld did not", run.unlowered);
    emit_batch_free(run.batch);
    return check_done();
}
