/* SPDX-License-Identifier: MIT */
/* swap: exchanges two neighbouring statements that compute two stages. The checker proves that neither statement reads
 * values that the other computes, or that copies of one reduction begin with the init. */
#include "schedule/draft/draft.h"

static int index_of(const Stmt *seq, const Stmt *child)
{
    int i = 0;
    while (i < seq->child_count && seq->child[i] != child) i++;
    return i;
}

const Nest *run_swap(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_swap, a);
    Path p, q;
    if (!draft_find_block(&d, d.args.target, &p) || !draft_find_block(&d, d.args.name, &q)) return n;
    int common = 0;
    while (common < p.depth && common < q.depth && p.at[common] == q.at[common]) common++;
    const Stmt *seq = common && common < p.depth && common < q.depth ? p.at[common - 1] : NULL;
    const int x = seq ? index_of(seq, p.at[common]) : 0, y = seq ? index_of(seq, q.at[common]) : 0;
    if (!seq || seq->kind != STMT_SEQ || (x - y != 1 && y - x != 1)) {
        refuse_invalid(&d, FAULT_NESTING, "two statements next to each other", "%s and %s are not neighbours",
                       d.args.target, d.args.name);
        return n;
    }
    const Stmt **child = arena_copy(cx->arena, seq->child, (size_t)seq->child_count * sizeof *child);
    child[x] = seq->child[y];
    child[y] = seq->child[x];
    p.depth = common;
    d.next.root = path_replace(cx, &p, stmt_seq(cx, child, seq->child_count));
    return draft_close(&d);
}
