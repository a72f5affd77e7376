/* SPDX-License-Identifier: MIT */
/* Random nests with one random damage: an extent, a guard, an index, a kind of loop, the order of statements or
 * loops, the offset or ring of a buffer. If the checker still proves a nest, it must give the evaluator's values.
 * Arguments: SEED COUNT. */
#include "../fuzz/programs.c"
#include "../fuzz/schedules.c"

#include <stdlib.h>

#include "check.h"
#include "context/context.h"

typedef struct Damage { Random *r; const Stmt *root, *at; const char *what; } Damage;

static const Expr *shifted(Ctx *cx, Random *r, const Expr *e)
{
    return expr_add(cx, e, expr_index(cx, random_chance(r, 50) ? 1 : -1));
}

typedef struct Nudge { const Expr *constant, *by; } Nudge;

static void find_constant(const Expr *e, void *user)
{
    if (e->kind == EXPR_INT && e->type == I32) *(const Expr **)user = e;
}

static const Expr *nudge_guard(Ctx *cx, Random *r, const Expr *guard)
{
    const Expr *found = NULL;
    expr_walk(cx, guard, find_constant, &found);
    if (!found || random_chance(r, 30)) return NULL;             /* no guard at all */
    const Expr *by = expr_index(cx, found->integer + (random_chance(r, 50) ? 1 : -1));
    return expr_substitute(cx, guard, &found, &by, 1);
}

static const Stmt *damage_block(Ctx *cx, Damage *d, const Stmt *s)
{
    Stmt *copy = arena_copy(cx->arena, s, sizeof *s);
    if (s->cond && random_chance(d->r, 60)) {
        d->what = "guard";
        copy->cond = nudge_guard(cx, d->r, s->cond);
    } else if (s->stage->reducer != REDUCE_NONE && random_chance(d->r, 20)) {
        d->what = "part";
        copy->part = s->part == BLOCK_WHOLE ? BLOCK_UPDATE : BLOCK_WHOLE;
    } else if (s->stage->axis_count) {
        int a = random_below(d->r, s->stage->axis_count);
        const Expr **bind = arena_copy(cx->arena, s->bind, (size_t)s->stage->axis_count * sizeof *bind);
        d->what = "index";
        if (!bind[a]) return s;
        bind[a] = shifted(cx, d->r, bind[a]);
        copy->bind = bind;
    }
    return copy;
}

static const Stmt *damage_seq(Ctx *cx, Damage *d, const Stmt *s)
{
    int i = random_below(d->r, s->child_count - 1);
    const Stmt **child = arena_copy(cx->arena, s->child, (size_t)s->child_count * sizeof *child);
    d->what = "order";
    child[i] = s->child[i + 1];
    child[i + 1] = s->child[i];
    return stmt_seq(cx, child, s->child_count);
}

static int count_allocs(const Stmt *s, const Tensor *t)
{
    int n = s->kind == STMT_ALLOC && s->buffer->tensor == t;
    for (int i = 0; i < s->child_count; i++) n += count_allocs(s->child[i], t);
    return n;
}

static const Stmt *damage_alloc(Ctx *cx, Damage *d, const Stmt *s)
{
    const Stmt *body = s->child[0];
    if (body->kind == STMT_FOR && random_chance(d->r, 50)) {
        d->what = "place of storage";
        return stmt_for(cx, body->name, body->var, body->extent, body->loop_kind,
                        stmt_alloc(cx, s->buffer, body->child[0]));
    }
    if (count_allocs(d->root, s->buffer->tensor) > 1) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *b);
    d->what = "ring";
    if (b->tensor->rank) b->ring[random_below(d->r, b->tensor->rank)] = 1 + random_below(d->r, 5);
    return stmt_alloc(cx, b, body);
}

/* Exchanges a loop with the only loop in it; NULL if the inner extent depends on the outer loop. */
static const Stmt *interchanged(Ctx *cx, const Stmt *s)
{
    const Stmt *inner = s->child[0];
    if (inner->kind != STMT_FOR || expr_uses(inner->extent, s->var)) return NULL;
    return stmt_with_children(cx, inner, (const Stmt *[]){ stmt_with_children(cx, s, inner->child, 1) }, 1);
}

static const Stmt *damage_for(Ctx *cx, Damage *d, const Stmt *s)
{
    const Stmt *other = random_chance(d->r, 40) ? interchanged(cx, s) : NULL;
    if (other) return d->what = "order of loops", other;
    bool kind = random_chance(d->r, 50);
    d->what = kind ? "kind" : "extent";
    if (kind) return stmt_for(cx, s->name, s->var, s->extent, (LoopKind)random_below(d->r, 4), s->child[0]);
    const Expr *extent = shifted(cx, d->r, s->extent);
    const Var *v = expr_as_var(s->var);
    const Expr *var = expr_new_var(cx, v->name, VAR_LOOP, I32, 0, INT32_MAX);    /* the old variable keeps its range */
    return stmt_for(cx, s->name, var, extent, s->loop_kind, stmt_substitute(cx, s->child[0], &s->var, &var, 1));
}

static const Stmt *damage(Ctx *cx, const Stmt *s, void *user)
{
    Damage *d = user;
    if (s != d->at) return s;
    switch (s->kind) {
    case STMT_BLOCK: return damage_block(cx, d, s);
    case STMT_SEQ:   return damage_seq(cx, d, s);
    case STMT_ALLOC: return damage_alloc(cx, d, s);
    case STMT_FOR:   return damage_for(cx, d, s);
    case STMT_START:
        d->what = "start";
        return stmt_start(cx, s->name, s->copy->ahead + (random_chance(d->r, 50) ? 1 : -1), s->copy->channel,
                          s->child[0]);
    case STMT_WAIT:
        d->what = "wait";
        return stmt_wait(cx, s->name, s->copy->pending + (random_chance(d->r, 50) ? 1 : -1));
    case STMT_IF:
    case STMT_TILE:  break;
    }
    return s;
}

static int count_statements(const Stmt *s)
{
    int n = 1;
    for (int i = 0; i < s->child_count; i++) n += count_statements(s->child[i]);
    return n;
}

static const Stmt *nth(const Stmt *s, int *n)
{
    if ((*n)-- == 0) return s;
    for (int i = 0; i < s->child_count; i++) {
        const Stmt *found = nth(s->child[i], n);
        if (found) return found;
    }
    return NULL;
}

/* Damage proceeds from the outside in: only the path to the damaged statement is copied, so the statement is found by
 * its address. */
static const Stmt *damaged(Ctx *cx, const Stmt *s, Damage *d)
{
    if (s == d->at) return damage(cx, s, d);
    const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, s->child_count);
    for (int i = 0; i < s->child_count; i++) child[i] = damaged(cx, s->child[i], d);
    return stmt_with_children(cx, s, child, s->child_count);
}

typedef struct Tally { long mutants, proved, unproved, wrong, wrong_but_runs, failures; } Tally;

static bool mutant_runs(Case *c, const Nest *n, uint64_t shuffle)
{
    Env *e = program_env(c->cx, c->program, c->seed);
    RunOptions options = { .checked = true, .shuffle = shuffle };
    DiagMark mark = diag_mark(c->cx);
    bool ran = interpret(c->cx, n, e, &options);
    if (diag_rewind(c->cx, mark) || !ran) return false;
    for (int i = 0; i < n->output_count; i++) {
        size_t bytes = (size_t)env_elems(c->cx, e, n->output[i]) * (size_t)dtype_info(n->output[i]->type)->bytes;
        if (bytes && memcmp(env_get(e, n->output[i]), env_get(c->expected, n->output[i]), bytes) != 0) return false;
    }
    return true;
}

static bool always_runs(Case *c, const Nest *n)
{
    for (uint64_t shuffle = 1; shuffle < 4; shuffle++)
        if (!mutant_runs(c, n, shuffle)) return false;
    return true;
}

static void try_mutant(Case *c, Random *r, Tally *t)
{
    int at = random_below(r, count_statements(c->nest->root));
    Damage d = { r, c->nest->root, nth(c->nest->root, &at), "nothing" };
    Nest n = *c->nest;
    n.root = damaged(c->cx, c->nest->root, &d);
    if (ctx_failed(c->cx) || n.root == c->nest->root) return;
    const char *why = NULL;
    Verdict v = nest_check(c->cx, &n, &why);
    t->mutants++;
    t->proved += v == PROVED;
    t->unproved += v == UNPROVED;
    t->wrong += v == WRONG;
    if (v == PROVED && !always_runs(c, &n)) {
        t->failures++;
        printf("# seed %llu: damaged %s, yet proved:\n%s", (unsigned long long)c->seed, d.what, printed(c->cx, &n));
    }
    if (v == WRONG && always_runs(c, &n)) {
        t->wrong_but_runs++;
        if (getenv("SHOW_WRONG"))
            printf("# seed %llu: damaged %s, called wrong (%s), yet runs:\n%s", (unsigned long long)c->seed, d.what,
                   why, printed(c->cx, &n));
    }
}

static void try_seed(uint64_t seed, Tally *t)
{
    Counts counts = { 0 };
    Random r = random_new(seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = seed, .counts = &counts };
    if (prepare(&c, &r)) {
        for (int i = 0, made = 0; i < 6 && !c.failed; i++) try_step(&c, some_step(&c, &r, &made));
        for (int i = 0; i < 12 && !c.failed; i++) try_mutant(&c, &r, t);
    }
    ctx_free(c.cx);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 400;
    Tally t = { 0 };
    for (long i = 0; i < count && t.failures < 5; i++) try_seed(seed + (uint64_t)i, &t);
    printf("# %ld damaged nests: %ld proved, %ld unproved, %ld wrong (%ld of these run)\n", t.mutants, t.proved,
           t.unproved, t.wrong, t.wrong_but_runs);
    CHECK("what-is-proved-runs-right", t.failures == 0);
    CHECK("damage-is-mostly-seen", t.unproved + t.wrong > t.proved);
    return check_done();
}
