/* SPDX-License-Identifier: MIT */
/* Is what the checks call wrong, wrong? Built with LW_TEST_SWITCH, which turns off one check at a time (support/switch.h).
 *
 *   fuzz_switch COUNT         runs the first COUNT random programs, notes in which of them each check refuses a step as wrong,
 *                             and looks at each check in a process of its own; prints a line for each check, and each
 *                             counterexample, shrunk, as a case for tests/schedules/counterexamples.txt
 *   fuzz_switch -NUMBER SEED...   one check: the first of the seeds that gives a counterexample
 *
 * With a check off, a step that it would have refused is taken; where its nest then computes something else, or reads what
 * was never made, that is a counterexample. Floats are such that the order of a sum shows. */
#include "programs.c"
#include "schedules.c"

#include <stdlib.h>

#include "support/switch.h"

enum { MAX_CHECKS = 160, MAX_SEEDS = 60 };
typedef struct Check { const char *format; long fired; int seed_count; uint64_t seed[MAX_SEEDS]; } Check;
typedef struct Checks { int count; Check at[MAX_CHECKS]; } Checks;

/* ---- Which check refuses where --------------------------------------------------------------------------------- */

static void note(Checks *all, const char *format, uint64_t seed)
{
    int i = 0;
    while (i < all->count && strcmp(all->at[i].format, format) != 0) i++;
    if (i == MAX_CHECKS) return;
    Check *c = &all->at[i];
    if (i == all->count) {
        all->count++;
        c->format = format;
    }
    c->fired++;
    if (c->seed_count < MAX_SEEDS && (!c->seed_count || c->seed[c->seed_count - 1] != seed)) c->seed[c->seed_count++] = seed;
}

static const Nest *tried(Case *c, const char *text, Diag **why)
{
    DiagMark mark = diag_mark(c->cx);
    c->cx->off_fired = false;
    c->cx->asked = NULL;
    const Nest *next = sched_step(c->cx, c->nest, text);
    *why = diag_rewind(c->cx, mark);
    return next;
}

static void gather(Checks *all, uint64_t seed)
{
    Counts counts = { 0 };
    Random r = random_new(seed);
    Case c = { .cx = ctx_new(NULL, NULL), .seed = seed, .counts = &counts, .is_rough = true };
    if (prepare(&c, &r)) {
        int steps = 1 + random_below(&r, MAX_STEPS), made = 0;
        for (int i = 0; i < steps; i++) {
            Chooser ch = { c.cx, &r, c.nest, nouns_of(c.nest), made };
            Diag *why;
            const Nest *next = tried(&c, choices[random_below(&r, CHOICE_COUNT)](&ch), &why);
            if (why && outcome_of(why) == REFUSED_WRONG && c.cx->asked) note(all, c.cx->asked, seed);
            c.nest = next;
            made = ch.made;
        }
    }
    ctx_free(c.cx);
}

/* ---- One check off --------------------------------------------------------------------------------------------- */

/* The step with the check off: does it give a wrong nest? Where it would not have been refused it is simply taken. */
static bool is_counterexample(Case *c, const char *text, const char **fault)
{
    Diag *why;
    const Nest *next = tried(c, text, &why);
    bool fired = c->cx->off_fired;
    c->cx->off_fired = false;
    *fault = !why && fired && next != c->nest ? fault_of(c, next) : NULL;
    if (!why && !fired) c->nest = next;
    return *fault != NULL;
}

static bool last_is_wrong(const Shrunk *s, void *user)
{
    Counts counts = { 0 };
    Random r = random_new(s->seed);
    Case c = { .cx = ctx_new(NULL, NULL), .seed = s->seed, .counts = &counts, .most = s->most, .is_rough = true };
    const char *fault;
    bool found = false;
    if (prepare(&c, &r)) {
        c.cx->off = *(const uint32_t *)user;
        for (int i = 0; i < s->count && !found; i++) {
            const Nest *before = c.nest;
            found = is_counterexample(&c, s->step[i], &fault) && i + 1 == s->count;
            if (!found && c.nest == before) break;
        }
    }
    ctx_free(c.cx);
    return found;
}

static void print_case(const Shrunk *s, uint32_t number)
{
    Counts counts = { 0 };
    Random r = random_new(s->seed);
    Case c = { .cx = ctx_new(NULL, NULL), .seed = s->seed, .counts = &counts, .most = s->most, .is_rough = true };
    if (!prepare(&c, &r)) return;
    const Program *p = c.program;
    Text t = text_new(c.cx);
    text_printf(&t, "program p%08x\n", (unsigned)number);
    for (int i = 0; i < p->size_count; i++)
        text_printf(&t, "size %s = %lld in %lld..%lld\n", expr_as_var(p->size[i])->name, (long long)p->size_value[i],
                    (long long)expr_as_var(p->size[i])->least, (long long)expr_as_var(p->size[i])->greatest);
    Text whole = text_new(c.cx);
    program_print(c.cx, &whole, p);
    const char *rest = text_string(&whole);
    while (strncmp(rest, "size ", 5) == 0) rest = strchr(rest, '\n') + 1;
    text_printf(&t, "%send\n\ncase wrong-%.*s-%08x on p%08x\n", rest, (int)strcspn(s->step[s->count - 1], " "), s->step[s->count - 1], (unsigned)number,
                (unsigned)number);
    for (int i = 0; i < s->count; i++) text_printf(&t, "%s\n", s->step[i]);
    text_add(&t, "refused\nend\n");
    printf("%s\n", text_string(&t));
    ctx_free(c.cx);
}

static bool find_counterexample(uint32_t number, uint64_t seed)
{
    Counts counts = { 0 };
    Random r = random_new(seed);
    Case c = { .cx = ctx_new(NULL, NULL), .seed = seed, .counts = &counts, .is_rough = true };
    bool found = false;
    if (prepare(&c, &r)) {
        int steps = 1 + random_below(&r, MAX_STEPS), made = 0;
        c.cx->off = number;
        for (int i = 0; i < steps && !found; i++) {
            Chooser ch = { c.cx, &r, c.nest, nouns_of(c.nest), made };
            const char *fault, *text = choices[random_below(&r, CHOICE_COUNT)](&ch);
            found = is_counterexample(&c, text, &fault);
            made = ch.made;
            if (!found) continue;
            printf("# %s\n", fault);
            Shrunk s = { .seed = seed, .is_rough = true };
            for (int k = 0; k < c.nest->step_count; k++) s.step[s.count++] = c.nest->step[k].text;
            s.step[s.count++] = text;
            if (last_is_wrong(&s, &number)) shrink_steps(&s, last_is_wrong, &number);
            print_case(&s, number);
        }
    }
    ctx_free(c.cx);
    return found;
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static const char *verdict_of(int status)
{
    return status == 0 ? "counterexample" : status == 256 || status == 1 ? "none found" : "stops";
}

int main(int argc, char **argv)
{
    if (argc > 2 && argv[1][0] == '-') {
        for (int i = 2; i < argc; i++)
            if (find_counterexample((uint32_t)strtoul(argv[1] + 1, NULL, 10), strtoull(argv[i], NULL, 10))) return 0;
        return 1;
    }
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
    Checks *all = calloc(1, sizeof *all);
    for (long i = 0; i < count && all; i++) gather(all, (uint64_t)i + 1);
    int found = 0;
    for (int i = 0; all && i < all->count; i++) {
        const Check *c = &all->at[i];
        char command[4096];
        int n = snprintf(command, sizeof command, "exec %s -%lu", argv[0], (unsigned long)switch_number(c->format));
        for (int k = 0; k < c->seed_count; k++) n += snprintf(command + n, sizeof command - (size_t)n, " %llu", (unsigned long long)c->seed[k]);
        snprintf(command + n, sizeof command - (size_t)n, " 2>&1");
        fflush(stdout);
        int status = system(command);
        found += status == 0;
        printf("%-14s %08x %7ld  %s\n", verdict_of(status), (unsigned)switch_number(c->format), c->fired, c->format);
    }
    printf("%d checks refused steps as wrong, %d with a counterexample\n", all ? all->count : 0, found);
    free(all);
    return 0;
}
