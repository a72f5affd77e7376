/* SPDX-License-Identifier: MIT */
/* external: a C function from outside computes a stage.
 *
 *   external dense cblas_sgemm(101, 111, 111, dim(x, 0), dim(w, 1), ..., x, dim(x, 1), w, dim(w, 1), 0.0, dense, ...)
 *
 * The call computes STAGE and the producers between it and the operands of the call. The statements of these stages, in
 * one sequence and in order, become one unit. The sequence is at the root, or in the loop at which STAGE is computed;
 * with `at`, the one that holds the named loop of STAGE. The statement of the unit remains the definition for the
 * checker and the interpreter; the emitted C has the call. After every later step the checker proves that the unit
 * reads only operands of the call, and that all other statements read only its results. */
#include <string.h>

#include "ir/text/read_external.h"
#include "schedule/draft/draft.h"

typedef struct Absorbed { Draft *d; External *call; int count; const Stage **stage; } Absorbed;

static bool is_absorbed(const Absorbed *a, const Stage *s)
{
    for (int i = 0; i < a->count; i++)
        if (a->stage[i] == s) return true;
    return false;
}

static bool absorb(Absorbed *a, const Stage *s);

/* Absorbs the producer of a tensor that a stage of the unit reads. Refuses an input of the nest that the call does not
 * take, because the input would be lost. */
static bool absorb_producer(Absorbed *a, const Stage *reader, const Tensor *t)
{
    const Stage *s = producer_of(&a->d->next, t);
    if (s) return is_absorbed(a, s) || absorb(a, s);
    return refuse_invalid(a->d, FAULT_ROLE, text_format(a->d->cx, "a call with %s among its arguments", t->name),
                          "%s reads %s, which the call of %s does not take", reader->name, t->name,
                          a->call->function);
}

static bool absorb(Absorbed *a, const Stage *s)
{
    const Tensor **reads;
    const int count = stage_reads(a->d->cx, s, &reads);
    a->stage[a->count++] = s;
    for (int i = 0; i < count; i++)
        if (!external_takes(a->call, reads[i]) && !absorb_producer(a, s, reads[i])) return false;
    return true;
}

static bool is_read(const Absorbed *a, const Tensor *t)
{
    for (int i = 0; i < a->count; i++) {
        const Tensor **reads;
        const int count = stage_reads(a->d->cx, a->stage[i], &reads);
        for (int r = 0; r < count; r++)
            if (reads[r] == t) return true;
    }
    return false;
}

/* Absorbs the producer of the first result of the call that is not part of the unit. Returns false if there is no such
 * producer left. */
static bool absorb_next(Absorbed *a)
{
    for (int i = 0; i < a->call->arg_count; i++) {
        const Tensor *t = a->call->arg[i].kind == EXTERNAL_TENSOR ? a->call->arg[i].tensor : NULL;
        const Stage *s = t ? producer_of(&a->d->next, t) : NULL;
        if (s && !is_absorbed(a, s)) return absorb(a, s);
    }
    return false;
}

/* A tensor of the call that no stage of the unit reads is a further result, or an operand of a further result. The
 * producers of further results also belong to the unit. */
static bool absorb_results(Absorbed *a)
{
    for (int i = 0; i < a->call->arg_count; i++) {
        const Tensor *t = a->call->arg[i].kind == EXTERNAL_TENSOR ? a->call->arg[i].tensor : NULL;
        const Stage *s = t ? producer_of(&a->d->next, t) : NULL;
        while (t && !is_read(a, t) && !(s && is_absorbed(a, s)))
            if (s ? !absorb(a, s) : !absorb_next(a))
                return ctx_failed(a->d->cx) ? false
                     : refuse_invalid(a->d, FAULT_ROLE, "tensors that its stages read or compute",
                                      "the stages of the call of %s do not read %s", a->call->function, t->name);
    }
    return true;
}

/* ---- The unit ---------------------------------------------------------------------------------------------------- */

typedef struct Unit { const Absorbed *a; int inside, outside; } Unit;

static void count_stages(const Stmt *s, Unit *u)
{
    if (s->kind == STMT_BLOCK) ++*(is_absorbed(u->a, s->stage) ? &u->inside : &u->outside);
    for (int i = 0; i < s->child_count; i++) count_stages(s->child[i], u);
}

static const Stmt *unit_of(const Absorbed *a, const Stmt *const *part, int count)
{
    Stmt proto = { .kind = STMT_TILE, .external = a->call };
    const Stmt *body = stmt_seq(a->d->cx, part, count);
    external_mark_written(a->call, body);
    return stmt_with_children(a->d->cx, &proto, &body, 1);
}

/* Gathers the statements of the stages at the position of the last one; the root's allocs enclose all of them. */
static const Stmt *with_unit(const Absorbed *a, const Stmt *s)
{
    Ctx *cx = a->d->cx;
    if (s->kind == STMT_ALLOC) {
        const Stmt *child = with_unit(a, s->child[0]);
        return child ? stmt_with_children(cx, s, &child, 1) : NULL;
    }
    const Stmt *const *all = s->kind == STMT_SEQ ? s->child : &s;
    const int count = s->kind == STMT_SEQ ? s->child_count : 1;
    const Stmt **mine = NEW_ARRAY(cx->arena, const Stmt *, count);
    const Stmt **rest = NEW_ARRAY(cx->arena, const Stmt *, count + 1);
    int mine_count = 0, rest_count = 0, at = 0;
    for (int i = 0; i < count; i++) {
        Unit u = { a, 0, 0 };
        count_stages(all[i], &u);
        if (u.inside && (u.outside || all[i]->kind == STMT_ALLOC)) return NULL;
        if (u.inside) mine[mine_count++] = all[i], at = rest_count;
        else rest[rest_count++] = all[i];
    }
    if (!mine_count) return NULL;
    for (int i = rest_count; i > at; i--) rest[i] = rest[i - 1];
    rest[at] = unit_of(a, mine, mine_count);
    return stmt_seq(cx, rest, rest_count + 1);
}

/* Returns the depth of the loop that contains the unit, or -1 for the root: the innermost loop outside `at`, or outside
 * all loops of the absorbed stages. */
static int host_depth(const Absorbed *a, const Path *p, const char *at)
{
    int host = -1;
    for (int i = 0; i < p->depth; i++) {
        bool is_own = false;
        if (p->at[i]->kind != STMT_FOR) continue;
        if (at && text_equal(p->at[i]->name, at)) return host;
        for (int s = 0; s < a->count; s++) is_own = is_own || loop_is_own(p->at[i], a->stage[s]);
        if (at || !is_own) host = i;
    }
    return host;
}

/* Returns the root with the unit, or NULL if the statements are in no common sequence. */
static const Stmt *root_with_unit(const Absorbed *a, const Stage *s, const char *at)
{
    Path p;
    if (!nest_find_block(&a->d->next, s->name, &p)) return NULL;
    const int host = host_depth(a, &p, at);
    if (host < 0) {
        external_of_whole_tensors(a->d->cx, a->call);
        return with_unit(a, a->d->next.root);
    }
    p.depth = host + 2;
    const Stmt *body = with_unit(a, p.at[host + 1]);
    return body ? path_replace(a->d->cx, &p, body) : NULL;
}

const Nest *run_external(Ctx *cx, const Nest *n, const StepArgs *args)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_external, args);
    const Stage *s = draft_find_stage(&d, args->target);
    if (!s) return n;
    DiagMark mark = diag_mark(cx);
    External *call = external_read_text(cx, n, args->condition);
    const Diag *why = diag_rewind(cx, mark);
    if (why) refuse_invalid(&d, FAULT_VALUE, "FUNCTION(ARGUMENT, ...)", "the call cannot be read: %s", why->what);
    if (ctx_failed(cx)) return n;
    call->in_place = args->in_place;
    call->has_status = args->status;
    Absorbed a = { &d, call, 0, NEW_ARRAY(cx->arena, const Stage *, n->stage_count) };
    if (!absorb(&a, s) || !absorb_results(&a)) return n;
    Path loop;
    if (args->loop[0] && !draft_find_loop(&d, &d.args.loop[0], &loop)) return n;
    if (args->loop[0] && !loop_is_own(path_end(&loop), s)) {
        refuse_invalid(&d, FAULT_ROLE, text_format(cx, "a loop of %s", s->name), "%s is a loop of another stage",
                       d.args.loop[0]);
        return n;
    }
    const Stmt *root = root_with_unit(&a, s, d.args.loop[0]);
    if (!root)
        refuse_invalid(&d, FAULT_NESTING, "the step before those that move or attach its stages",
                       "%s and the stages that the call absorbs are not computed in loops of their own, in one "
                       "sequence", args->target);
    if (ctx_failed(cx)) return n;
    d.next.root = root;
    return draft_close(&d);
}
