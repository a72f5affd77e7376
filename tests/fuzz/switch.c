/* SPDX-License-Identifier: MIT */
/* Verifies the refusals called wrong. Built with LW_TEST_SWITCH, which disables one check at a time (support/switch.h).
 *
 *   fuzz_switch COUNT CASES SOURCE...   runs the first COUNT random programs, records in which of them each check
 *                                       refuses a step as wrong, and searches a counterexample to each; writes the
 *                                       counterexamples, shrunk, to the file CASES, as cases for
 *                                       tests/schedules/counterexamples.txt. The checks are found in the sources.
 *                                       Status 1 if one has no counterexample.
 *
 * With a check disabled, a step that it would refuse is applied. If the nest then computes another value, or reads an
 * element that is never written, that is a counterexample. So is a process that dies or does not end: each trial is a
 * child process, which reports its steps through a pipe. Floats are such that the order of a sum shows. */
#define _XOPEN_SOURCE 700

#include "programs.c"
#include "schedules.c"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context/context.h"
#include "support/file.h"
#include "support/switch.h"

enum { MAX_CHECKS = 200, MAX_SEEDS = 250, SECONDS = 10, MOST_BYTES = 1 << 30 };
typedef struct Check { const char *format, *source; long fired; int seed_count; uint64_t seed[MAX_SEEDS]; } Check;
typedef struct Checks { int count; Check at[MAX_CHECKS]; } Checks;

static Check *check_of(Checks *all, const char *format)
{
    int i = 0;
    while (i < all->count && strcmp(all->at[i].format, format) != 0) i++;
    if (i == MAX_CHECKS) return NULL;
    if (i == all->count) all->at[all->count++] = (Check){ .format = format };
    return &all->at[i];
}

/* ---- Which checks there are ------------------------------------------------------------------------------------ */

/* The strings of one argument, joined as in C. Stops after the comma or parenthesis that ends the argument. */
static const char *read_argument(Ctx *cx, const char **at)
{
    Text t = text_new(cx);
    int depth = 0;
    bool quoted = false;
    for (; **at && (quoted || depth || (**at != ',' && **at != ')')); ++*at) {
        char c = **at;
        if (c == '"') quoted = !quoted;
        else if (quoted && c == '\\') text_char(&t, *++*at);
        else if (quoted) text_char(&t, c);
        else depth += (c == '(') - (c == ')');
    }
    if (**at == ',') ++*at;
    return text_string(&t);
}

/* refuse_wrong(d, KIND, ACCEPTED, FAULT, ...) and check_fail(c, ... WRONG ..., KIND, ACCEPTED, FAULT, ...) */
static void list_checks(Ctx *cx, Checks *all, const char *path)
{
    static const char *const calls[] = { "refuse_wrong(", "check_fail(" };
    const char *text = text_format(cx, "%.*s", (int)file_read(cx, path).count, (const char *)file_read(cx, path).at);
    for (int k = 0; k < 2; k++)
        for (const char *at = strstr(text, calls[k]); at; at = strstr(at, calls[k])) {
            at += strlen(calls[k]);
            read_argument(cx, &at);
            const char *verdict = at;
            if (k == 1) read_argument(cx, &at);
            bool is_wrong = k == 0;
            for (const char *c = verdict; c < at && !is_wrong; c++) is_wrong = strncmp(c, "WRONG", 5) == 0;
            read_argument(cx, &at);
            read_argument(cx, &at);
            const char *fault = read_argument(cx, &at);
            Check *c = is_wrong && *fault ? check_of(all, fault) : NULL;
            if (c) c->source = path;
        }
}

/* ---- Which check refuses where --------------------------------------------------------------------------------- */

static void note(Checks *all, const char *format, uint64_t seed)
{
    Check *c = check_of(all, format);
    if (!c) return;
    c->fired++;
    if (c->seed_count < MAX_SEEDS && (!c->seed_count || c->seed[c->seed_count - 1] != seed))
        c->seed[c->seed_count++] = seed;
}

static const Nest *tried(Case *c, const char *text, Diag **why)
{
    DiagMark mark = diag_mark(c->cx);
    c->cx->off_fired = false;
    c->cx->refusing_check = NULL;
    const Nest *next = sched_step(c->cx, c->nest, text);
    *why = diag_rewind(c->cx, mark);
    return next;
}

static void gather(Checks *all, uint64_t seed)
{
    Counts counts = { 0 };
    Random r = random_new(seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = seed, .counts = &counts, .is_rough = true };
    if (prepare(&c, &r)) {
        int steps = 1 + random_below(&r, MAX_STEPS), made = 0;
        for (int i = 0; i < steps; i++) {
            Diag *why;
            const Nest *next = tried(&c, some_step(&c, &r, &made), &why);
            if (why && outcome_of(why) == REFUSED_WRONG && c.cx->refusing_check) note(all, c.cx->refusing_check, seed);
            c.nest = next;
        }
    }
    ctx_free(c.cx);
}

/* ---- One check off --------------------------------------------------------------------------------------------- */

/* The step with the check off: does it give a wrong nest? Where it would not have been refused it is simply taken.
 * `*behind`: the check would refuse it, and another does. */
static bool is_counterexample(Case *c, const char *text, const char **fault, bool *behind)
{
    Diag *why;
    const Nest *next = tried(c, text, &why);
    bool fired = c->cx->off_fired;
    c->cx->off_fired = false;
    *behind = fired && why;
    *fault = !why && fired && next != c->nest ? fault_of(c, next) : NULL;
    if (!why && !fired) c->nest = next;
    return *fault != NULL;
}

/* ---- Trials in children ---------------------------------------------------------------------------------------- */

/* The report of a child: the steps that it applied, the last one tried, and how it ended. `behind`: of each step that
 * the check would refuse another check refused it, too. */
typedef struct Trial { bool found, died, behind; int count; const char *step[MAX_SHRUNK]; } Trial;
typedef void Attempt(FILE *tell, const void *what);

/* The child writes `?STEP` before it tries a step, `+` when it is applied, `~` when another check refuses it as well,
 * `!FAULT` when it finds a wrong nest. */
static Trial in_child(Ctx *cx, Attempt *attempt, const void *what)
{
    Trial t = { false, false, false, 0, { NULL } };
    int ends[2];
    if (pipe(ends) != 0) return t;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        setrlimit(RLIMIT_AS, &(struct rlimit){ MOST_BYTES, MOST_BYTES });
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        alarm(SECONDS);
        FILE *tell = fdopen(ends[1], "w");
        if (tell) attempt(tell, what);
        if (tell) fclose(tell);
        _exit(0);
    }
    close(ends[1]);
    FILE *hear = fdopen(ends[0], "r");
    char line[4096];
    while (hear && fgets(line, sizeof line, hear)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '?' && t.count < MAX_SHRUNK) t.step[t.count] = text_format(cx, "%s", line + 1);
        if (line[0] == '+' && t.count < MAX_SHRUNK - 1) t.count++;
        if (line[0] == '~') t.behind = true;
        if (line[0] == '!') t.found = true;
    }
    if (hear) fclose(hear);
    int status = 0;
    waitpid(child, &status, 0);
    t.died = !t.found && WIFSIGNALED(status);
    if (t.step[t.count]) t.count++;
    return t;
}

static bool try_and_tell(Case *c, const char *text, FILE *tell)
{
    const char *fault;
    bool behind;
    const Nest *before = c->nest;
    fprintf(tell, "?%s\n", text);
    fflush(tell);
    bool found = is_counterexample(c, text, &fault, &behind);
    if (behind) fputs("~\n", tell);
    if (found) fprintf(tell, "!%s\n", fault);
    else if (c->nest != before) fputs("+\n", tell);
    fflush(tell);
    return found;
}

typedef struct Replay { const Shrunken *steps; uint32_t number; } Replay;

/* Ends early where a step before the last is not taken. */
static void replay_steps(FILE *tell, const void *what)
{
    const Replay *re = what;
    const Shrunken *s = re->steps;
    Counts counts = { 0 };
    Random r = random_new(s->seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = s->seed, .counts = &counts, .most = s->most, .is_rough = true };
    if (!prepare(&c, &r)) return;
    c.cx->off = re->number;
    for (int i = 0; i < s->count; i++) {
        const Nest *before = c.nest;
        if (try_and_tell(&c, s->step[i], tell) || c.nest == before) return;
    }
}

static bool last_is_wrong(const Shrunken *s, void *user)
{
    Ctx *cx = context_new(NULL, NULL);
    Trial t = in_child(cx, replay_steps, &(Replay){ s, *(const uint32_t *)user });
    ctx_free(cx);
    return (t.found || t.died) && t.count == s->count;
}

typedef struct SeedTrial { uint64_t seed; uint32_t number; } SeedTrial;

static void try_seed(FILE *tell, const void *what)
{
    const SeedTrial *s = what;
    Counts counts = { 0 };
    Random r = random_new(s->seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = s->seed, .counts = &counts, .is_rough = true };
    if (!prepare(&c, &r)) return;
    int steps = 1 + random_below(&r, MAX_STEPS), made = 0;
    c.cx->off = s->number;
    for (int i = 0; i < steps; i++)
        if (try_and_tell(&c, some_step(&c, &r, &made), tell)) return;
}

static void print_case(FILE *out, const Shrunken *s, uint32_t number)
{
    Counts counts = { 0 };
    Random r = random_new(s->seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = s->seed, .counts = &counts, .most = s->most, .is_rough = true };
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
    text_printf(&t, "%send\n\ncase wrong-%.*s-%08x on p%08x\n", rest, (int)strcspn(s->step[s->count - 1], " "),
                s->step[s->count - 1], (unsigned)number, (unsigned)number);
    for (int i = 0; i < s->count; i++) text_printf(&t, "%s\n", s->step[i]);
    text_add(&t, "refused\nend\n");
    fprintf(out, "%s\n", text_string(&t));
    ctx_free(c.cx);
}

typedef enum Finding { FOUND_NONE, FOUND_WRONG, FOUND_DEATH, FOUND_BEHIND, FINDINGS } Finding;

/* A check of the checker may be behind others: every primitive refuses earlier; a nest in test_check.c requires it. */
static bool is_of_the_checker(const Check *c) { return c->source && strstr(c->source, "/ir/"); }

static Finding find_counterexample(FILE *cases, uint32_t number, uint64_t seed)
{
    Ctx *cx = context_new(NULL, NULL);
    Trial t = in_child(cx, try_seed, &(SeedTrial){ seed, number });
    if (t.found || t.died) {
        Shrunken s = { .seed = seed, .is_rough = true, .count = t.count };
        memcpy(s.step, t.step, sizeof s.step);
        if (last_is_wrong(&s, &number)) shrink_steps(&s, last_is_wrong, &number);
        print_case(cases, &s, number);
    }
    ctx_free(cx);
    return t.found ? FOUND_WRONG : t.died ? FOUND_DEATH : t.behind ? FOUND_BEHIND : FOUND_NONE;
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

/* Behind others: each seed in which the check fires has another check that refuses the step, too. */
static Finding look_at_check(FILE *cases, const Check *c)
{
    int behind = 0;
    for (int i = 0; i < c->seed_count; i++) {
        const Finding f = find_counterexample(cases, switch_number(c->format), c->seed[i]);
        if (f == FOUND_WRONG || f == FOUND_DEATH) return f;
        behind += f == FOUND_BEHIND;
    }
    return behind == c->seed_count && is_of_the_checker(c) ? FOUND_BEHIND : FOUND_NONE;
}

int main(int argc, char **argv)
{
    static const char *const words[FINDINGS] = { "none found", "counterexample", "stops", "behind others" };
    if (argc < 3) return 2;
    Ctx *cx = context_new(NULL, NULL);
    Checks *all = NEW(cx->arena, Checks);
    FILE *cases = fopen(argv[2], "w");
    int sum[FINDINGS] = { 0 };
    for (int i = 3; i < argc; i++) list_checks(cx, all, argv[i]);
    for (long i = 0, count = strtol(argv[1], NULL, 10); i < count; i++) gather(all, (uint64_t)i + 1);
    for (int i = 0; cases && i < all->count; i++) {
        const Check *c = &all->at[i];
        const Finding f = look_at_check(cases, c);
        sum[f]++;
        printf("%-16s %08x %7ld  %s", words[f], (unsigned)switch_number(c->format), c->fired, c->format);
        if (f == FOUND_NONE && c->seed_count) printf(" (first in program %llu)", (unsigned long long)c->seed[0]);
        putchar('\n');
    }
    if (cases) fclose(cases);
    printf("%d checks refuse steps as wrong: %d with a counterexample, %d where the process stops, %d none found; %d "
           "of the checker behind others\n",
           all->count - sum[FOUND_BEHIND], sum[FOUND_WRONG], sum[FOUND_DEATH], sum[FOUND_NONE], sum[FOUND_BEHIND]);
    ctx_free(cx);
    return sum[FOUND_NONE] != 0;
}
