/* SPDX-License-Identifier: MIT */
/* I11 on lowered code: fields of configuration are set before each instruction that needs them. The placement of the
 * macros that set fields must be proved, and must run right. A mutant lacks one of these macros, or sets another value:
 * where a run of it finds an instruction with a wrong value, the proof must refuse it. The run is an oracle of its own:
 * it executes the loops and branches, and evaluates the values. */
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "lower/expand/configure.h"
#include "support/text.h"

enum { FIELDS = 2, MAX_VARS = 8, PROGRAMS = 400 };
static const char *const field[FIELDS] = { "load.step", "unit.rows" }, *const macro[FIELDS] = { "STEP", "ROWS" };

/* ---- Random programs --------------------------------------------------------------------------------------------- */

typedef struct Random { uint64_t state; } Random;
static int below(Random *r, int n)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((r->state >> 33) % (uint64_t)n);
}

typedef struct Maker { Ctx *cx; Random r; int var_count; const Expr *var[MAX_VARS]; } Maker;

static const Expr *some_value(Maker *m)
{
    const Expr *e = expr_index(m->cx, 1 + below(&m->r, 2));
    return m->var_count && below(&m->r, 3) == 0 ? expr_add(m->cx, e, m->var[below(&m->r, m->var_count)]) : e;
}

static const Code *some_call(Maker *m)
{
    FieldValue need[FIELDS];
    int count = 0;
    for (int i = 0; i < FIELDS; i++)
        if (below(&m->r, 3)) need[count++] = (FieldValue){ field[i], macro[i], some_value(m) };
    const Code *call = code_call(m->cx, "LOAD", NULL, 0);
    return count ? code_needing(m->cx, call, need, count) : call;
}

static const Code *some_code(Maker *m, int depth);

static const Code *some_loop(Maker *m, int depth)
{
    const Expr *var = expr_new_var(m->cx, "i", VAR_LOOP, I32, 0, 2);
    m->var[m->var_count++] = var;
    const Code *body = some_code(m, depth - 1);
    m->var_count--;
    return code_for(m->cx, var, expr_index(m->cx, 0), expr_index(m->cx, 3), 1, LOOP_SERIAL, body);
}

static const Code *some_branch(Maker *m, int depth)
{
    const Expr *bound = expr_index(m->cx, 1 + below(&m->r, 2));
    const Expr *cond = m->var_count ? expr_binary(m->cx, EXPR_LT, m->var[below(&m->r, m->var_count)], bound) : NULL;
    const Code *yes = some_code(m, depth - 1), *no = below(&m->r, 2) ? some_code(m, depth - 1) : NULL;
    return code_if(m->cx, cond, yes, no);
}

static const Code *some_code(Maker *m, int depth)
{
    const Code *part[3];
    const int count = 1 + below(&m->r, 3);
    for (int i = 0; i < count; i++) {
        const int kind = depth ? below(&m->r, 4) : 0;
        part[i] = kind == 1 || kind == 2 ? some_loop(m, depth) : kind == 3 ? some_branch(m, depth) : some_call(m);
    }
    return code_seq(m->cx, part, count);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

typedef struct Run {
    Ctx *cx;
    int var_count; const Expr *var[MAX_VARS], *at[MAX_VARS];
    int64_t value[FIELDS]; bool is_set[FIELDS];
    int sets;                        /* calls of the macros */
    bool is_wrong;
} Run;

static int64_t evaluated(const Run *r, const Expr *e)
{
    return simplify(r->cx, expr_substitute(r->cx, e, r->var, r->at, r->var_count), NULL)->integer;
}

static int field_at(const char *wanted) { return strcmp(wanted, field[0]) == 0 ? 0 : 1; }

static void run_call(Run *r, const Code *c)
{
    for (int i = 0; i < c->need_count; i++) {
        const int f = field_at(c->need[i].field);
        if (!r->is_set[f] || r->value[f] != evaluated(r, c->need[i].value)) r->is_wrong = true;
    }
    if (!c->sets) return;
    const int f = field_at(c->sets);
    r->sets++;
    r->value[f] = evaluated(r, c->args[0]);
    r->is_set[f] = true;
}

static void run(Run *r, const Code *c)
{
    if (c->kind == CODE_CALL) run_call(r, c);
    else if (c->kind == CODE_FOR) {
        const int at = r->var_count++;
        r->var[at] = c->var;
        for (int64_t i = 0; i < c->end->integer; i++) {
            r->at[at] = expr_index(r->cx, i);
            run(r, c->child[0]);
        }
        r->var_count--;
    } else if (c->kind == CODE_IF) {
        if (evaluated(r, c->cond)) run(r, c->child[0]);
        else if (c->child_count > 1) run(r, c->child[1]);
    } else
        for (int i = 0; i < c->child_count; i++) run(r, c->child[i]);
}

static bool runs_right(Ctx *cx, const Code *c)
{
    Run r = { .cx = cx };
    run(&r, c);
    return !r.is_wrong;
}

/* ---- Mutants ----------------------------------------------------------------------------------------------------- */

typedef struct Mutant { int wanted, seen; bool drops; } Mutant;

static const Code *mutated(Ctx *cx, const Code *c, void *user)
{
    Mutant *m = user;
    if (c->kind != CODE_CALL || !c->sets || m->seen++ != m->wanted) return c;
    if (m->drops) return code_seq(cx, NULL, 0);
    return code_set(cx, &(FieldValue){ c->sets, c->text, expr_add(cx, c->args[0], expr_index(cx, 1)) });
}

static int count_sets(const Code *c)
{
    int n = c->kind == CODE_CALL && c->sets;
    for (int i = 0; i < c->child_count && c->kind != CODE_CALL; i++) n += count_sets(c->child[i]);
    return n;
}

typedef struct Counts { int programs, mutants, wrong, missed, refused; } Counts;

static void check_program(Ctx *cx, uint64_t seed, Counts *n)
{
    Maker m = { .cx = cx, .r = { seed } };
    const Code *c = configured(cx, some_code(&m, 3));
    n->programs += !ctx_failed(cx) && !configuration_fault(cx, c) && runs_right(cx, c);
    for (int k = 0; k < 2 * count_sets(c); k++) {
        Mutant mutant = { k / 2, 0, k % 2 };
        const Code *damaged = code_rewrite(cx, c, mutated, &mutant);
        const bool is_wrong = !runs_right(cx, damaged), is_refused = configuration_fault(cx, damaged) != NULL;
        n->mutants++;
        n->wrong += is_wrong;
        n->refused += is_refused;
        n->missed += is_wrong && !is_refused;
    }
}

/* ---- One value in a loop ----------------------------------------------------------------------------------------- */

static const Code *needing(Ctx *cx, const Expr *value)
{
    const FieldValue need = { field[0], macro[0], value };
    return code_needing(cx, code_call(cx, "LOAD", NULL, 0), &need, 1);
}

static void check_places(Ctx *cx)
{
    const Expr *i = expr_new_var(cx, "i", VAR_LOOP, I32, 0, 2), *zero = expr_index(cx, 0), *three = expr_index(cx, 3);
    const Code *same[] = { needing(cx, three), needing(cx, three) };
    const Code *other[] = { needing(cx, three), needing(cx, zero) };
    const Code *loop = code_for(cx, i, zero, three, 1, LOOP_SERIAL, code_seq(cx, same, 2));
    const Code *twice[] = { loop, needing(cx, three) };
    Run r = { .cx = cx }, s = { .cx = cx }, t = { .cx = cx };
    run(&r, configured(cx, code_seq(cx, twice, 2)));
    check_that(r.sets == 1 && !r.is_wrong, "one-value-is-set-once", "%d times", r.sets);
    run(&s, configured(cx, code_for(cx, i, zero, three, 1, LOOP_SERIAL, code_seq(cx, other, 2))));
    check_that(s.sets == 6 && !s.is_wrong, "two-values-are-set-in-each-iteration", "%d times", s.sets);
    run(&t, configured(cx, code_for(cx, i, zero, three, 1, LOOP_SERIAL, needing(cx, i))));
    check_that(t.sets == 3 && !t.is_wrong, "value-of-the-loop-is-set-in-it", "%d times", t.sets);
}

int main(void)
{
    Counts n = { 0, 0, 0, 0, 0 };
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        Ctx *cx = context_new(NULL, NULL);
        check_program(cx, seed * 7919, &n);
        ctx_free(cx);
    }
    check_that(n.programs == PROGRAMS, "placed-configuration-is-proved-and-runs", "%d of %d", n.programs, PROGRAMS);
    check_that(n.wrong > PROGRAMS && !n.missed, "i11-mutants-are-refused", "%d mutants, %d wrong, %d of them accepted",
               n.mutants, n.wrong, n.missed);
    Ctx *cx = context_new(NULL, NULL);
    check_places(cx);
    ctx_free(cx);
    return check_done();
}
