/* SPDX-License-Identifier: MIT */
/* Expands both calls and compares their stages one by one. The axes are equal except for the output's channels and the
 * summed channels. Let v be the i-th live channel. The old value at v and the new value at i are the same expression
 * over corresponding elements of corresponding tensors. Branches that a decided `select` excludes are not compared. The
 * proof therefore covers per-channel attributes (the axis of a slice, groups) without reading them. */
#include "graph/shrink/shrink_proof.h"

typedef struct ShrinkProof {
    Ctx *cx;
    const Channels *channels;
    const GraphRanges *ranges;
    Map to;                           /* maps an old tensor to the new tensor */
    const Contraction *contraction;   /* the contraction of the old call, or NULL */
    Terms *was, *is;
    int channel, summed;              /* the axis of the output's channel and the axis of the contraction, or -1 */
    int *matched;                     /* [was->count]: index of the matching term in `is`, plus 1 */
    bool checks_data;
} ShrinkProof;

/* The channels that stay, in order, with their number; `at` is NULL if all stay. */
typedef struct Kept { const int *at; int count; } Kept;

/* Returns the old index of new index i, or -1 if there is no such channel. */
static int64_t old_index(Kept kept, int64_t i) { return !kept.at ? i : i >= 0 && i < kept.count ? kept.at[i] : -1; }

static Kept kept_of(const ShrinkProof *p, const Tensor *t)
{
    Kept kept = { NULL, 0 };
    kept.at = channels_kept(p->channels, t, &kept.count);
    return kept;
}

static Kept kept_along(const ShrinkProof *p, int axis)
{
    if (axis == p->channel) return kept_of(p, p->was->stage->out[0]);
    return axis >= 0 && axis == p->summed ? kept_of(p, p->contraction->x) : (Kept){ NULL, 0 };
}

/* Returns the term that remains after selects with a decided condition are skipped. */
static int settled(const Terms *t, int i)
{
    while (t->e[i]->kind == EXPR_SELECT) {
        Interval cond = t->value[t->operand[i][SELECT_COND]];
        if (cond.least != cond.greatest) break;
        i = t->operand[i][cond.least ? SELECT_YES : SELECT_NO];
    }
    return i;
}

static bool is_same(ShrinkProof *p, int i, int j);

static bool is_point(Interval i) { return i.least == i.greatest; }

/* Returns true if the new constant holds the old one's elements at the indices that stayed. */
static bool holds_kept(const ShrinkProof *p, int i, int j)
{
    const Tensor *x = p->was->e[i]->ref, *y = p->is->e[j]->ref;
    int64_t index[MAX_RANK] = { 0 }, count = tensor_elems(y);
    if (x == y) return true;
    if (x->type != y->type || tensor_elems(x) < 0) return false;
    for (int64_t n = 0; n < count; n++) {
        int64_t flat = 0;
        for (int d = 0; d < x->rank; d++) {
            int64_t at = old_index(kept_along(p, p->was->axis[p->was->operand[i][d]]), index[d]);
            if (at < 0 || at >= tensor_dim(x, d)) return false;
            flat = flat * tensor_dim(x, d) + at;
        }
        if (dtype_load(x->type, x->data, flat).i != dtype_load(y->type, y->data, n).i) return false;
        for (int d = x->rank - 1; d >= 0 && ++index[d] == tensor_dim(y, d); d--) index[d] = 0;
    }
    return true;
}

static bool is_same_place(ShrinkProof *p, int i, int j, Kept kept, bool may_cut)
{
    int a = p->was->axis[i], b = p->is->axis[j];
    Interval was = p->was->value[i], is = p->is->value[j];
    if (may_cut && a == b && a >= 0 && (a == p->channel || a == p->summed)) return true;
    if (is_point(was) && is_point(is)) return old_index(kept, is.least) == was.least;
    return !kept.at && is_same(p, i, j);
}

static bool is_same_constant(ShrinkProof *p, int i, int j)
{
    const Tensor *x = p->was->e[i]->ref;
    const Kept all = { NULL, 0 };
    for (int d = 0; d < x->rank; d++)
        if (!is_same_place(p, p->was->operand[i][d], p->is->operand[j][d], all, true)) return false;
    return !p->checks_data || holds_kept(p, i, j);
}

static bool is_same_read(ShrinkProof *p, int i, int j)
{
    const Tensor *x = p->was->e[i]->ref, *y = p->is->e[j]->ref;
    if (x->rank != y->rank || x->type != y->type || tensor_is_constant(x) != tensor_is_constant(y)) return false;
    if (tensor_is_constant(x)) return is_same_constant(p, i, j);
    const Tensor *to = map_get_ptr(&p->to, x);
    if ((to ? to : x) != y) return false;
    const Kept kept = kept_of(p, x), all = { NULL, 0 };
    for (int d = 0; d < x->rank; d++) {
        bool is_last = d == x->rank - 1;
        int from = p->was->operand[i][d], at = p->is->operand[j][d];
        bool is_summed = is_last && p->summed >= 0 && p->was->axis[from] == p->summed && p->contraction->x == x;
        if (is_summed ? p->is->axis[at] != p->summed : !is_same_place(p, from, at, is_last ? kept : all, false))
            return false;
    }
    return true;
}

static bool compare(ShrinkProof *p, int i, int j)
{
    const Expr *a = p->was->e[i], *b = p->is->e[j];
    if (a->kind != b->kind || a->type != b->type || a->arg_count != b->arg_count || p->was->axis[i] != p->is->axis[j])
        return false;
    if (p->was->axis[i] >= 0) return !kept_along(p, p->was->axis[i]).at;
    if (a->kind == EXPR_READ) return is_same_read(p, i, j);
    if (!a->arg_count || a->ref || b->ref) return a == b;
    for (int n = 0; n < a->arg_count; n++)
        if (!is_same(p, p->was->operand[i][n], p->is->operand[j][n])) return false;
    return true;
}

static bool is_same(ShrinkProof *p, int i, int j)
{
    i = settled(p->was, i);
    j = settled(p->is, j);
    if (p->matched[i] == j + 1) return true;
    bool same = compare(p, i, j);
    if (same) p->matched[i] = j + 1;
    return same;
}

static bool has_same_axes(const ShrinkProof *p, const Stage *was, const Stage *is)
{
    if (was->axis_count != is->axis_count || was->data_count != is->data_count || was->out_count != 1
        || is->out_count != 1 || was->reducer != is->reducer || was->combiner != is->combiner)
        return false;
    if ((was->init != NULL) != (is->init != NULL) || (was->init && was->init[0] != is->init[0])) return false;
    for (int a = 0; a < was->axis_count; a++) {
        const Kept kept = kept_along(p, a);
        if (kept.at ? !expr_is_int(is->axis[a].extent, kept.count) : was->axis[a].extent != is->axis[a].extent)
            return false;
    }
    return true;
}

static bool is_same_stage(ShrinkProof *p, const Stage *was, const Stage *is)
{
    Interval old_box[MAX_AXES], new_box[MAX_AXES];
    p->was = terms_new(p->cx, was);
    p->is = terms_new(p->cx, is);
    p->channel = was->data_count - 1;
    p->summed = p->contraction && p->contraction->terms->stage == was ? p->contraction->axis : -1;
    if (!has_same_axes(p, was, is)) return false;
    const Kept kept = kept_along(p, p->channel);
    int64_t count = p->channel < 0 ? 1 : axis_interval(&is->axis[p->channel]).greatest + 1;
    for (int a = 0; a < was->axis_count; a++) {
        old_box[a] = axis_interval(&was->axis[a]);
        new_box[a] = axis_interval(&is->axis[a]);
    }
    for (int64_t i = 0; i < (kept.at ? count : 1); i++) {
        if (kept.at) {
            old_box[p->channel] = (Interval){ kept.at[i], kept.at[i] };
            new_box[p->channel] = (Interval){ i, i };
        }
        terms_run(p->ranges, p->was, old_box);
        terms_run(p->ranges, p->is, new_box);
        p->matched = NEW_ARRAY(p->cx->arena, int, p->was->count);
        p->checks_data = i == 0;
        if (!is_same(p, p->was->count - 1, p->is->count - 1)) return false;
    }
    map_put_ptr(&p->to, was->out[0], is->out[0]);
    return true;
}

bool shrink_proved(Ctx *cx, const Channels *c, const GraphRanges *r, const Node *was, Tensor *const *to, const Node *is)
{
    const Stage **old_stage, **new_stage;
    ShrinkProof p = {
        .cx = cx, .channels = c, .ranges = r, .to = map_new(cx->arena), .contraction = contraction_of(c, was)
    };
    int count = call_stages(cx, was, &old_stage);
    if (!count || call_stages(cx, is, &new_stage) != count || was->out_count != is->out_count) return false;
    for (int i = 0; i < was->in_count; i++)
        if (was->in[i] && to[i]) map_put_ptr(&p.to, was->in[i], to[i]);
    for (int i = 0; i < count; i++)
        if (!is_same_stage(&p, old_stage[i], new_stage[i])) return false;
    return true;
}
