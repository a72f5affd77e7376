/* SPDX-License-Identifier: MIT */
/* store_at: the storage of a stage moves inside another loop, or to the root, independently of its computation. The
 * loop must enclose every access to the tensor. The values must not stay live across iterations of the loop (the
 * checker's I4). So the loop can be neither a reduce loop of the producer nor a loop that carries values from one
 * iteration to the next. */
#include "schedule/draft/attach.h"

typedef struct Touches { const Stage *stage; const char *first; bool makes; } Touches;

static void find_outside(Ctx *cx, const Stmt *s, const Stmt *except, Touches *t)
{
    if (s == except || t->first) return;
    if (s->kind == STMT_BLOCK && (s->stage == t->stage || block_reads(cx, s, t->stage))) {
        t->first = s->name;
        t->makes = s->stage == t->stage;
    }
    for (int i = 0; i < s->child_count; i++) find_outside(cx, s->child[i], except, t);
}

static bool encloses_all_uses(Draft *d, const Stage *s, const Stmt *loop)
{
    Touches t = { s, NULL, false };
    find_outside(d->cx, d->next.root, loop, &t);
    if (!t.first) return true;
    if (t.makes)
        return refuse_wrong(d, FAULT_NESTING, "a loop around its producer and all its consumers",
                            "%s is computed outside %s", t.first, loop->name);
    return refuse_wrong(d, FAULT_NESTING, "a loop around its producer and all its consumers", "%s reads %s outside %s",
                        t.first, s->name, loop->name);
}

static bool has_reader(Ctx *cx, const Stmt *under, const Stage *s)
{
    if (under->kind == STMT_BLOCK && under->stage != s && block_reads(cx, under, s)) return true;
    for (int i = 0; i < under->child_count; i++)
        if (has_reader(cx, under->child[i], s)) return true;
    return false;
}

/* Returns true if the loop is not the stage's own, or consumers are attached inside it. */
static bool is_outside_own_loops(Draft *d, const Stage *s, const Stmt *loop)
{
    if (!loop_is_own(loop, s) || has_reader(d->cx, loop, s)) return true;
    return refuse_wrong(d, FAULT_NESTING, "a loop around its consumers",
                        "%s is a loop of %s itself, so its values would not outlive it", loop->name, s->name);
}

const Nest *run_store_at(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_store_at, a);
    const Stage *s = draft_find_stage(&d, a->target);
    Path p;
    if (!s || (a->loop[0] && !draft_find_loop(&d, &d.args.loop[0], &p))) return n;
    if (stage_is_output(n, s) &&
        !refuse_invalid(&d, FAULT_ROLE, "an intermediate stage", "%s is an output in caller-owned storage", a->target))
        return n;
    if (a->loop[0] && (!is_outside_own_loops(&d, s, path_end(&p)) || !encloses_all_uses(&d, s, path_end(&p)))) return n;

    const Buffer *buffer[MAX_RANK] = { NULL };
    d.next.root = without_allocs(cx, d.next.root, s, buffer);
    store_stage(&d, s, d.args.loop[0], buffer);
    return draft_close(&d);
}
