/* SPDX-License-Identifier: MIT */
/* compute_at: a stage is computed inside a loop of its readers, each time only what they need in that iteration.
 *
 * The loop must enclose every reader, for a reader outside would find only what the last iteration left. The stage's own
 * loops are made anew over the needed box (place.c), so whatever split or reorder did to them is gone: place first, then
 * shape. Points that two iterations both need are made in both, whole reduction and all. */
#include "schedule/place.h"

static bool is_not_output(Draft *d, const Stage *s)
{
    if (!stage_is_output(&d->next, s)) return true;
    return refuse_unproved(d, text_format(d->cx, "a stage between: cache_write %s makes one", s->name),
                           "%s is an output and is made whole at the root", s->name);
}

static bool is_loop_of_another(Draft *d, const Stage *s, const Path *p)
{
    for (int i = 0; i < p->depth; i++)
        if (p->at[i]->kind == STMT_FOR && loop_is_own(p->at[i], s))
            return refuse_wrong(d, "a loop around its readers", "%s is a loop of %s itself or inside one", path_end(p)->name, s->name);
    return true;
}

typedef struct Readers { const Stage *maker; int count; const char *first; } Readers;

static void visit_reader(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Readers *r = user;
    (void)scope;
    if (!block_reads(cx, block, r->maker)) return;
    if (!r->count++) r->first = block->name;
}

/* Counts readers below s, leaving out what is below `except`. */
static void find_readers(Ctx *cx, const Stmt *s, const Stmt *except, Readers *r)
{
    if (s == except) return;
    if (s->kind == STMT_BLOCK) visit_reader(cx, s, NULL, r);
    for (int i = 0; i < s->child_count; i++) find_readers(cx, s->child[i], except, r);
}

static bool encloses_all_readers(Draft *d, const Stage *s, const Stmt *loop)
{
    Readers inside = { s, 0, NULL }, outside = { s, 0, NULL };
    find_readers(d->cx, loop, NULL, &inside);
    find_readers(d->cx, d->next.root, loop, &outside);
    if (!inside.count)
        return refuse_wrong(d, text_format(d->cx, "a loop around its reader %s", outside.first ? outside.first : "(it has none)"),
                            "nothing under %s reads %s", loop->name, s->name);
    if (outside.count)
        return refuse_wrong(d, "a loop that encloses all readers", "%s reads %s too, outside %s", outside.first, s->name, loop->name);
    return true;
}

const Nest *sched_compute_at(Ctx *cx, const Nest *n, const char *stage, const char *loop)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, "compute_at", &(StepArgs){ .target = stage, .loop_count = 1, .loop = { loop } });
    const Stage *s = draft_find_stage(&d, stage);
    Path p;
    if (!s || !draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    if (!is_not_output(&d, s) || !is_loop_of_another(&d, s, &p) || !encloses_all_readers(&d, s, path_end(&p)) ||
        !nothing_inside(&d, s) || !makers_are_done(&d, s, &p)) return n;
    if (!move_stage(&d, s, d.args.loop[0])) return n;
    return draft_close(&d);
}
