/* SPDX-License-Identifier: MIT */
/* Each primitive by hand: tests/schedules/cases.txt and counterexamples.txt contain programs, and cases of steps with
 * the expected loops or refusal, written as
 *
 *   program NAME          case NAME on PROGRAM
 *   size n = 7 in 1..16   a step
 *   input x: f32[n][4]    another
 *   y[a,b] = ...          gives               (or: refused)
 *   output y              the loops, or the diagnostic of the last step
 *   end                   end
 *
 * The checker must prove nests of accepted steps, and the nest must give the plain evaluator's values, bit for bit.
 * usage: test_schedules [FILE [--accept]]; --accept prints the file with the present results in place of the expected
 * ones. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/check/check.h"
#include "ir/text/formula.h"
#include "ir/interpret/interpret.h"
#include "ir/nest/recurrence.h"
#include "schedule/schedule.h"
#include "support/file.h"
#include "support/names.h"

enum { MAX_NAMES = 32, MAX_LINES = 8000 };

typedef struct Lines { int count; const char *at[MAX_LINES]; } Lines;

typedef struct Program {
    Bind bind[MAX_NAMES + 1];
    int bind_count, output_count, size_count, input_count, promised_count;
    Tensor *output[4], *input[MAX_NAMES], *promised[MAX_NAMES];
    const Expr *size[4];
    int64_t size_value[4];
} Program;

static bool starts(const char *line, const char *with) { return strncmp(line, with, strlen(with)) == 0; }

static Lines lines_of(Ctx *cx, Bytes text)
{
    Lines l = { 0, { NULL } };
    const char *at = (const char *)text.at, *end = at + text.count;
    while (at < end && l.count < MAX_LINES) {
        size_t n = strcspn(at, "\n");
        l.at[l.count++] = text_format(cx, "%.*s", (int)n, at);
        at += n + 1;
    }
    return l;
}

/* ---- Programs -------------------------------------------------------------------------------------------------- */

static const Expr *find_value(const Program *p, const char *s, size_t n)
{
    for (int i = 0; i < p->bind_count; i++)
        if (strlen(p->bind[i].name) == n && strncmp(p->bind[i].name, s, n) == 0) return p->bind[i].value;
    return NULL;
}

static void read_size(Ctx *cx, Program *p, const char *line)
{
    char size_name[16];
    int value, least, greatest;
    if (sscanf(line, "size %15s = %d in %d..%d", size_name, &value, &least, &greatest) != 4) {
        diag_error(cx, NULL, "cannot read: %s", line);
        return;
    }
    p->size[p->size_count] = expr_new_var(cx, size_name, VAR_SIZE, I32, least, greatest);
    p->bind[p->bind_count++] = (Bind){ name(cx, size_name), NULL, p->size[p->size_count] };
    p->size_value[p->size_count++] = value;
}

/* input NAME: TYPE[dims], or promise NAME: TYPE[dims] */
static void read_tensor(Ctx *cx, Program *p, const char *line)
{
    const char *at = strchr(line, ' ') + 1, *colon = strchr(at, ':');
    const char *tensor_name = name_n(cx, at, (size_t)(colon - at)), *dims = strchr(colon, '[');
    DType type = F32;
    const Expr *shape[MAX_RANK];
    int rank = 0;
    if (!dtype_read(colon + 2, dims ? (size_t)(dims - colon - 2) : strlen(colon + 2), &type))
        diag_error(cx, NULL, "type: %s", line);
    for (; dims && *dims == '['; dims = strchr(dims, ']') + 1) {
        size_t n = strcspn(dims + 1, "]");
        const Expr *size = find_value(p, dims + 1, n);
        shape[rank++] = size ? size : expr_index(cx, atoi(dims + 1));
    }
    Tensor *t = tensor_new(cx, tensor_name, type, rank, shape);
    if (starts(line, "promise ")) p->promised[p->promised_count++] = t;
    else p->input[p->input_count++] = t;
    p->bind[p->bind_count++] = (Bind){ tensor_name, t, NULL };
}

static void read_program_line(Ctx *cx, Program *p, const char *line)
{
    if (p->bind_count + 1 >= MAX_NAMES) return;
    if (starts(line, "size ")) read_size(cx, p, line);
    else if (starts(line, "input ") || starts(line, "promise ")) read_tensor(cx, p, line);
    else if (starts(line, "output ")) {
        int i = p->bind_count - 1;          /* the last tensor of that name: the one after its updates */
        while (i >= 0 && strcmp(p->bind[i].name, line + strlen("output ")) != 0) i--;
        if (i >= 0) p->output[p->output_count++] = p->bind[i].tensor;
    } else {
        Tensor *t = formula(cx, line, p->bind);
        for (int i = 0; t && i < p->promised_count; i++)
            if (strcmp(p->promised[i]->name, t->name) == 0) t = promise_keep(cx, p->promised[i], t);
        for (int i = 0; t && i < t->producer->out_count; i++)
            p->bind[p->bind_count++] = (Bind){ t->producer->out[i]->name, t->producer->out[i], NULL };
    }
}

static Program read_program(Ctx *cx, const Lines *l, const char *program_name)
{
    Program p = { .bind_count = 0 };
    const char *head = text_format(cx, "program %s", program_name);
    int i = 0;
    while (i < l->count && strcmp(l->at[i], head) != 0) i++;
    if (i == l->count) diag_error(cx, NULL, "there is no program %s", program_name);
    for (i++; i < l->count && strcmp(l->at[i], "end") != 0; i++) read_program_line(cx, &p, l->at[i]);
    return p;
}

/* Small whole numbers in floats, so that any order of summing gives the same. */
static Env *env_of(Ctx *cx, const Program *p)
{
    Env *e = env_new(cx);
    for (int i = 0; i < p->size_count; i++) env_set_size(e, p->size[i], p->size_value[i]);
    for (int i = 0; i < p->input_count; i++) {
        const Tensor *t = p->input[i];
        void *data = env_alloc(cx, e, t);
        int64_t elems = env_elems(cx, e, t);
        for (int64_t k = 0; k < elems; k++) {
            Scalar s = { 0 };
            if (dtype_is_float(t->type)) s.f = (double)(k * 7 % 13 - 6);
            else s.i = dtype_wrap(t->type, (Scalar){ .i = k * 37 % 101 - 50 }).i;
            dtype_store(t->type, data, k, s);
        }
    }
    return e;
}

/* ---- Cases ----------------------------------------------------------------------------------------------------- */

/* Returns the fault of an accepted nest; NULL: none. */
static const char *fault_of(Ctx *cx, Program *p, const Nest *n)
{
    const char *why = "";
    if (nest_check(cx, n, &why) != PROVED) return text_format(cx, "not proved: %s", why);
    Env *expected = env_of(cx, p), *found = env_of(cx, p);
    RunOptions options = { .checked = true, .shuffle = 12345 };
    if (!evaluate(cx, expected, p->output, p->output_count) || !interpret(cx, n, found, &options))
        return diag_text(cx, cx->diags);
    for (int i = 0; i < p->output_count; i++) {
        size_t bytes = (size_t)env_elems(cx, found, p->output[i]) * (size_t)dtype_info(p->output[i]->type)->bytes;
        if (memcmp(env_get(expected, p->output[i]), env_get(found, p->output[i]), bytes) != 0)
            return text_format(cx, "wrong values in %s", p->output[i]->name);
    }
    return NULL;
}

/* The nest as printed, from the stages if a step added some, without the steps. */
static const char *loops_text(Ctx *cx, const Nest *n)
{
    Text t = text_new(cx);
    print_nest(cx, &t, n);
    const char *all = text_string(&t), *from = strstr(all, "\nloops\n"), *to = strstr(all, "\nsteps\n");
    if (!from) return all;
    from += strlen("\nloops\n");
    return text_format(cx, "%.*s", to ? (int)(to - from + 1) : (int)strlen(from), from);
}

typedef struct Outcome { bool refused; const char *text, *fault; } Outcome;

static Outcome run_steps(Ctx *cx, Program *p, const Lines *l, int first, int last)
{
    const Nest *n = nest_naive(cx, "test", p->input, p->input_count, p->output, p->output_count);
    if (ctx_failed(cx)) return (Outcome){ true, "", diag_text(cx, cx->diags) };
    for (int i = first; i < last; i++) {
        DiagMark mark = diag_mark(cx);
        const Nest *next = sched_step(cx, n, l->at[i]);
        Diag *why = diag_rewind(cx, mark);
        if (why && next != n) return (Outcome){ true, diag_text(cx, why), "the refused step changed the nest" };
        if (why && i + 1 < last) return (Outcome){ true, diag_text(cx, why), "a step before the last is refused" };
        if (why) return (Outcome){ true, text_format(cx, "%s\n", diag_text(cx, why)), NULL };
        n = next;
        const char *fault = fault_of(cx, p, n);
        if (fault) return (Outcome){ false, loops_text(cx, n), text_format(cx, "%s: %s", l->at[i], fault) };
    }
    return (Outcome){ false, loops_text(cx, n), NULL };
}

/* Runs the case whose head is line `at`; returns the line after its end. */
static int run_case(const Lines *l, int at, bool accept)
{
    char case_name[64], program_name[64];
    if (sscanf(l->at[at], "case %63s on %63s", case_name, program_name) != 2) {
        check_that(0, l->at[at], "a case is written: case NAME on PROGRAM");
        return at + 1;
    }
    Ctx *cx = context_new(NULL, NULL);
    int verdict = at + 1;
    while (verdict < l->count && strcmp(l->at[verdict], "gives") != 0 && strcmp(l->at[verdict], "refused") != 0)
        verdict++;
    Text expected = text_new(cx);
    int end = verdict + 1;
    for (; end < l->count && strcmp(l->at[end], "end") != 0; end++) text_printf(&expected, "%s\n", l->at[end]);
    Program p = read_program(cx, l, program_name);
    Outcome o = run_steps(cx, &p, l, at + 1, verdict);
    if (accept) {
        for (int i = at; i < verdict; i++) printf("%s\n", l->at[i]);
        printf("%s\n%send\n", o.refused ? "refused" : "gives", o.text);
        if (o.fault) fprintf(stderr, "%s: %s\n", case_name, o.fault);
    } else {
        bool wants_refusal = verdict < l->count && strcmp(l->at[verdict], "refused") == 0;
        bool good = !o.fault && o.refused == wants_refusal && strcmp(o.text, text_string(&expected)) == 0;
        check_that(good, check_label(case_name, wants_refusal ? "is-refused" : "gives-its-nest"), "%s\n%s",
                   o.fault ? o.fault : "found", o.text);
    }
    ctx_free(cx);
    return end + 1;
}

static void run_file(const char *path, bool accept)
{
    Ctx *cx = context_new(NULL, NULL);
    Lines *l = NEW(cx->arena, Lines);
    *l = lines_of(cx, file_read(cx, path));
    if (!accept) CHECK("cases are there", !ctx_failed(cx) && l->count > 0 && l->count < MAX_LINES);
    for (int i = 0; i < l->count;) {
        if (starts(l->at[i], "case ")) i = run_case(l, i, accept);
        else if (accept) printf("%s\n", l->at[i++]);
        else i++;
    }
    ctx_free(cx);
}

int main(int argc, char **argv)
{
    bool accept = argc > 2 && strcmp(argv[2], "--accept") == 0;
    if (argc > 1) run_file(argv[1], accept);
    else {
        run_file("tests/schedules/cases.txt", false);
        run_file("tests/schedules/counterexamples.txt", false);
    }
    return accept ? 0 : check_done();
}
