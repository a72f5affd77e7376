/* SPDX-License-Identifier: MIT */
/* fission: the statements in a loop are divided between two loops over the same iterations. The second loop begins with
 * the statement that holds LOOP or STAGE `at`:
 *
 *   for v: { A; B; C }      =>      for v: A;  for v: { B; C }          (at B)
 *
 * All iterations of A then precede the iterations of B and C. The checker proves that A reads nothing that B or C
 * computed in an earlier iteration, and that computed values stay stored. The first loop is named after the last block
 * in it. */
#include "schedule/draft/attach.h"
#include "schedule/draft/draft.h"
#include "support/names.h"

/* Returns the index of the sequence's child on the path, or -1 if the path does not lead through a child of the
 * sequence. */
static int child_on(const Path *p, int depth)
{
    const Stmt *seq = depth < p->depth ? p->at[depth] : NULL;
    if (!seq || seq->kind != STMT_SEQ || depth + 1 >= p->depth) return -1;
    for (int i = 0; i < seq->child_count; i++)
        if (seq->child[i] == p->at[depth + 1]) return i;
    return -1;
}

static const Stmt *last_block(const Stmt *s)
{
    while (s->kind != STMT_BLOCK) s = s->child[s->child_count - 1];
    return s;
}

/* Returns the name of the first loop: the name of its last block, with the loop's short name. */
static const char *first_name(Draft *d, const Stmt *loop, const Stmt *body)
{
    Ctx *cx = d->cx;
    Path p;
    const char *block = last_block(body)->name, *brief = loop_short(loop->name);
    const char *full = name_format(cx, "%s.%s", block, brief);
    for (int k = 2; nest_find_loop(&d->next, full, &p); k++) full = name_format(cx, "%s.%s%d", block, brief, k);
    return full;
}

static bool find_inside(Draft *d, const Path *loop, const char **at, Path *inside)
{
    if (!nest_find_block(&d->next, *at, inside) && !draft_find_loop(d, at, inside)) return false;
    if (inside->depth > loop->depth && inside->at[loop->depth - 1] == path_end(loop)) return true;
    return refuse_invalid(d, FAULT_NESTING, "a loop or block inside it", "%s is not inside %s", *at,
                          path_end(loop)->name);
}

const Nest *run_fission(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_fission, a);
    Path p, inside;
    if (!draft_find_loop(&d, &d.args.loop[0], &p) || !find_inside(&d, &p, &d.args.loop[1], &inside)) return n;
    const Stmt *loop = path_end(&p), *body = loop->child[0];
    const int at = child_on(&inside, p.depth);
    if (body->kind == STMT_ALLOC) {
        const char *stored = body->buffer->tensor->name;
        refuse_unproved(&d, FAULT_STORAGE, text_format(cx, "storage outside it: store_at %s first", stored),
                        "%s is stored inside %s", stored, loop->name);
        return n;
    }
    if (at < 1) {
        refuse_invalid(&d, FAULT_NESTING, at < 0 ? "the loop directly around both" : "a statement after the first one",
                       at < 0 ? "%s has one statement, and %s is deeper in it" : "%s begins with %s", loop->name,
                       d.args.loop[1]);
        return n;
    }
    const Stmt *first = stmt_seq(cx, body->child, at), *rest = stmt_seq(cx, body->child + at, body->child_count - at);
    const char *full = first_name(&d, loop, first);
    const Expr *v = loop_var_new(cx, full, loop->extent);
    const Stmt *both[] = {
        stmt_for(cx, full, v, loop->extent, loop->loop_kind, stmt_substitute(cx, first, &loop->var, &v, 1)),
        stmt_for(cx, loop->name, loop->var, loop->extent, loop->loop_kind, rest)
    };
    d.next.root = path_replace(cx, &p, stmt_seq(cx, both, 2));
    return draft_close(&d);
}
