/* SPDX-License-Identifier: MIT */
/* A schedule is its text: random programs under random schedules (tests/fuzz), printed as a .te file and read back,
 * give the same nest and the same C, byte for byte. The program is such a file from the beginning. Without arguments
 * the first 200 seeds; with SEED COUNT those. */
#define Program FuzzProgram       /* the emitter defines another Program */
#include "../fuzz/programs.c"
#include "../fuzz/schedules.c"
#undef Program

#include <stdlib.h>

#include "cgen/cgen.h"
#include "check.h"
#include "context/context.h"
#include "import/import.h"
#include "import/te/te.h"
#include "lower/lower.h"
#include "schedule/schedule.h"

static const char *as_file(const Case *c)
{
    Text t = text_new(c->cx);
    text_add(&t, "nest\n");
    program_print(c->cx, &t, c->program);
    text_add(&t, "schedule\n");
    for (int i = 0; i < c->nest->step_count; i++) text_printf(&t, "  %s\n", step_text(c->cx, &c->nest->step[i]));
    return text_string(&t);
}

/* NULL on error. */
static const char *as_c(Ctx *cx, const Nest *n)
{
    LowerOptions options = { .keeps_names = true };
    const Function *f = lower_final(cx, lower_nest(cx, n, &options), &options);
    Program program = { .name = "t" };
    Text t = text_new(cx);
    if (!f) return NULL;
    cgen_function(cx, &t, &program, f);
    return ctx_failed(cx) ? NULL : text_string(&t);
}

/* The nest of the file, in a separate context. */
static const Nest *read_back(Ctx *cx, const char *file)
{
    Model m;
    if (!te_read(cx, "replay.te", file, &(ImportOptions){ .dim_count = 0 }, &m)) return NULL;
    const Nest *n = nest_naive(cx, "fuzz", m.input, m.input_count, m.output, m.output_count);
    for (int i = 0; i < m.schedule_count; i++)
        for (int k = 0; k < m.schedule[i].step_count; k++) n = sched_written(cx, n, &m.schedule[i].step[k]);
    return ctx_failed(cx) ? NULL : n;
}

static bool differs(uint64_t seed, const char *what, const char *file, const char *a, const char *b)
{
    if (a && b && strcmp(a, b) == 0) return false;
    printf("# seed %llu: %s\n%s\n%s\n%s\n", (unsigned long long)seed, what, file, a ? a : "", b ? b : "");
    return true;
}

typedef struct Total { long programs, steps, bad; } Total;

static void replay_seed(uint64_t seed, Total *total)
{
    Counts counts = { 0 };
    Random r = random_new(seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = seed, .counts = &counts };
    Ctx *again = context_new(NULL, NULL);
    if (prepare(&c, &r)) {
        int steps = 1 + random_below(&r, MAX_STEPS), made = 0;
        c.nest = read_back(c.cx, as_file(&c));       /* formulas are simplified when they are read */
        if (!c.nest) total->bad += differs(seed, diag_text(c.cx, c.cx->diags), "", NULL, NULL);
        for (int i = 0; i < steps && c.nest; i++) {
            DiagMark mark = diag_mark(c.cx);
            const Nest *next = sched_step(c.cx, c.nest, some_step(&c, &r, &made));
            if (!diag_rewind(c.cx, mark)) c.nest = next;
        }
        if (!c.nest) return;
        total->programs++;
        total->steps += c.nest->step_count;
        const char *file = as_file(&c);
        const Nest *n = read_back(again, file);
        if (!n) differs(seed, again->diags ? diag_text(again, again->diags) : "is not read", file, NULL, NULL);
        total->bad += !n || differs(seed, "another nest", file, printed(c.cx, c.nest), printed(again, n)) ||
                      differs(seed, "another C", file, as_c(c.cx, c.nest), as_c(again, n));
    }
    ctx_free(again);
    ctx_free(c.cx);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 200;
    Total total = { 0, 0, 0 };
    for (long i = 0; i < count && total.bad < 5; i++) replay_seed(seed + (uint64_t)i, &total);
    printf("# %ld programs, %ld steps\n", total.programs, total.steps);
    CHECK("a schedule read back gives the same nest and the same C", total.bad == 0);
    CHECK("there are schedules", total.steps > count);
    return check_done();
}
