/* SPDX-License-Identifier: MIT */
/* Proves that a nest may compute `out` in the memory of its input t: each element e of t is read only before out[e] is
 * written. A stage that reads t does so if one of these holds:
 *
 *   - It computes `out`, once per point, from t[e] alone: the value where it does not reduce, else the initial value.
 *   - It reads t only at the element that it computes, once per point, and out[e] needs that element: the reads of t[e]
 *     are in the computation of s[e], which precedes out[e] by I3. A buffer of `cache_write` is such a stage.
 *   - All of its blocks precede all blocks that compute `out`, in a sequence at the root. */
#include "graph/plan/plan.h"

#include "ir/algebra/algebra.h"
#include "ir/nest/external.h"

typedef struct OwnReads { const Tensor *tensor; const Stage *stage; bool any, elsewhere; } OwnReads;

static bool is_own_element(const Stage *s, const Expr *read)
{
    if (read->arg_count != s->data_count) return false;
    for (int d = 0; d < read->arg_count; d++) {
        const Tensor *t = read->ref;
        if (read->arg[d] == s->axis[d].var || (tensor_dim(t, d) == 1 && expr_is_int(read->arg[d], 0))) continue;
        return false;
    }
    return true;
}

static void note_read(const Expr *e, void *user)
{
    OwnReads *r = user;
    if (e->kind != EXPR_READ || e->ref != r->tensor) return;
    r->any = true;
    r->elsewhere = r->elsewhere || !is_own_element(r->stage, e);
}

/* Finds the reads of t in the values of the stage and, with_init, in its initial values. */
static OwnReads reads_in(Ctx *cx, const Stage *s, const Tensor *t, bool with_value, bool with_init)
{
    OwnReads r = { t, s, false, false };
    for (int i = 0; i < s->out_count; i++) {
        if (with_value) expr_walk(cx, s->value[i], note_read, &r);
        if (with_init && s->init) expr_walk(cx, s->init[i], note_read, &r);
    }
    return r;
}

static bool produces(const Stage *s, const Tensor *t)
{
    for (int i = 0; i < s->out_count; i++)
        if (s->out[i] == t) return true;
    return false;
}

/* The search for a read of an element of `of` at the reader's own element, under no condition. */
typedef struct NeededRead { const Stage *reader, *of; const Bounds *scope; bool found; } NeededRead;

static void find_needed(Ctx *cx, const Expr *read, const Bounds *scope, void *user)
{
    (void)cx;
    NeededRead *n = user;
    n->found = n->found || (scope == n->scope && produces(n->of, read->ref) && is_own_element(n->reader, read));
}

/* Returns true if each element of the reader needs the same element of s, directly or through other stages. */
static bool needs_own(Ctx *cx, const Nest *n, const Stage *reader, const Stage *s, int depth)
{
    NeededRead r = { reader, s, stage_scope(cx, reader), false };
    if (reader == s) return true;
    stage_visit_reads(cx, reader, r.scope, find_needed, &r);
    for (int i = 0; i < n->stage_count && !r.found && depth; i++) {
        NeededRead via = { reader, n->stage[i], r.scope, false };
        if (n->stage[i] == reader) continue;
        stage_visit_reads(cx, reader, r.scope, find_needed, &via);
        r.found = via.found && needs_own(cx, n, n->stage[i], s, depth - 1);
    }
    return r.found;
}

static bool has_block(const Stmt *s, const Stage *stage)
{
    if (s->kind == STMT_BLOCK) return s->stage == stage;
    for (int i = 0; i < s->child_count; i++)
        if (has_block(s->child[i], stage)) return true;
    return false;
}

/* Returns true if all blocks of the stage precede all blocks of the other stage, in a sequence at the root. */
static bool precedes(const Stmt *root, const Stage *stage, const Stage *other)
{
    while (root->kind == STMT_ALLOC) root = root->child[0];
    bool begun = false;
    if (root->kind != STMT_SEQ) return false;
    for (int i = 0; i < root->child_count; i++) {
        begun = begun || has_block(root->child[i], other);
        if (begun && has_block(root->child[i], stage)) return false;
    }
    return true;
}

bool plan_may_update(Ctx *cx, const Nest *n, const Tensor *t, const Tensor *out)
{
    enum { MOST_STAGES_BETWEEN = 8 };
    const Stage *maker = NULL;
    if (n->otherwise) return false;
    for (int i = 0; i < n->stage_count; i++)
        if (produces(n->stage[i], out)) maker = n->stage[i];
    for (int i = 0; maker && i < n->stage_count; i++) {
        const Stage *s = n->stage[i];
        const External *call = external_of_stage(n->root, s);
        const OwnReads all = reads_in(cx, s, t, true, true),
                       late = reads_in(cx, s, t, s != maker || s->reducer != REDUCE_NONE, false);
        if (!all.any || (s != maker && precedes(n->root, s, maker))) continue;
        if (all.elsewhere || (s == maker && late.any) || (call && !call->in_place)) return false;
        if (!plan_computes_once(cx, n, s) || !needs_own(cx, n, maker, s, MOST_STAGES_BETWEEN)) return false;
    }
    return maker != NULL;
}
