/* SPDX-License-Identifier: MIT */
/* Follows the stages of a call in order. A stage carries the axis as its data axis t under two conditions. In its
 * value, t occurs only in an index t * stride + rest along the axis of tensors that carry it. Each read of such a
 * tensor has such an index. The window [low, high] of a read is the interval of the remaining terms. Windows compose
 * over stages: strides multiply. */
#include "graph/stream/slide.h"

#include <string.h>

#include "graph/shrink/ranges.h"

/* How a tensor of the expansion depends on the call's inputs. */
typedef struct Carry { int axis; SlideInput *in; } Carry;

typedef struct Proof {
    Ctx *cx;
    const Node *call;
    Slide *s;
    /* Maps a tensor to its Carry; a tensor without an entry does not carry the axis. */
    Map carry;
    Ranges *ranges;                    /* the ranges of the stage's axes */
    const Expr *t;                     /* the candidate axis */
    Carry *now;                        /* the Carry of the stage with this t */
    Map seen;                          /* expressions in which each use of t is allowed */
    bool in_condition;
    bool is_position;                  /* true if t occurs in a condition, such as the guard of a padded read */
} Proof;

static bool refuse(Proof *p, const char *why)
{
    p->s->why = why;
    return false;
}

/* Adds a window to the stage's window of input i. Returns false after a refusal. */
static bool add_window(Proof *p, int i, int64_t stride, int64_t low, int64_t high)
{
    SlideInput *to = &p->now->in[i];
    if (!to->is_read) *to = (SlideInput){ to->axis, true, stride, low, high };
    if (to->stride != stride) return refuse(p, "it reads its input with two strides");
    if (low < to->low) to->low = low;
    if (high > to->high) to->high = high;
    return true;
}

static bool has_same_windows(const SlideInput *a, const SlideInput *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].is_read != b[i].is_read || a[i].stride != b[i].stride || a[i].low != b[i].low
            || a[i].high != b[i].high)
            return false;
    return true;
}

/* Adds the windows of a read of x at the index. */
static bool add_index(Proof *p, const Carry *x, const Expr *index)
{
    Linear l;
    if (!ranges_linear(p->ranges, index, &l)) return refuse(p, "it reads the axis at an index that is not linear");
    const int64_t stride = linear_coef(&l, p->t);
    if (stride < 1) return refuse(p, "it reads the whole axis");
    for (int i = l.count - 1; i >= 0; i--)
        if (l.term[i] == p->t) linear_drop(&l, i);
    for (int i = 0; i < l.count; i++)
        if (uses_any(l.term[i], &p->t, 1)) return refuse(p, "it reads the axis at an index that is not linear");
    const Interval rest = ranges_of_linear(p->ranges, &l);
    for (int i = 0; i < p->call->in_count; i++) {
        const SlideInput *in = &x->in[i];
        if (in->is_read && !add_window(p, i, sat_mul(stride, in->stride),
                                       sat_add(sat_mul(rest.least, in->stride), in->low),
                                       sat_add(sat_mul(rest.greatest, in->stride), in->high)))
            return false;
    }
    return true;
}

/* Returns true for 0 <= t - before, the condition of a pad at the beginning of the axis. */
static bool is_begin(const Proof *p, const Expr *condition)
{
    Linear l;
    return condition->kind == EXPR_LE && condition->arg[0]->kind == EXPR_INT
           && ranges_linear(p->ranges, condition->arg[1], &l) && l.count == 1 && linear_coef(&l, p->t) == 1;
}

static bool follow(Proof *p, const Expr *e)
{
    if (map_get_const_ptr(&p->seen, e)) return true;
    if (p->in_condition && p->call->op->quantization.moves_elements && is_begin(p, e)) {
        p->s->pads_begin = true;
        return true;
    }
    if (e == p->t) {
        p->is_position = p->in_condition;
        return refuse(p, "its result depends on the position in the window");
    }
    const Carry *x = e->kind == EXPR_READ ? map_get_ptr(&p->carry, e->ref) : NULL;
    const bool was_condition = p->in_condition;
    for (int i = 0; i < e->arg_count; i++) {
        p->in_condition = was_condition || (e->kind == EXPR_SELECT && i == SELECT_COND);
        if (x && i == x->axis ? !add_index(p, x, e->arg[i]) : !follow(p, e->arg[i])) return false;
    }
    p->in_condition = was_condition;
    map_put_const_ptr(&p->seen, e, e);
    return true;
}

/* Returns true if the stage carries the axis as its data axis `a`. */
static bool carries(Proof *p, const Stage *st, int a)
{
    bool ok = true;
    p->s->pads_begin = false;
    p->t = st->axis[a].var;
    p->seen = map_new(p->cx->arena);
    p->is_position = p->in_condition = false;
    p->now = NEW(p->cx->arena, Carry);
    p->now->axis = a;
    p->now->in = NEW_ARRAY(p->cx->arena, SlideInput, p->call->in_count);
    for (int i = 0; i < p->call->in_count; i++) p->now->in[i].axis = p->s->in[i].axis;
    for (int o = 0; ok && o < st->out_count; o++)
        ok = follow(p, ranges_simplify(p->ranges, st->value[o]))
             && (!st->init || follow(p, ranges_simplify(p->ranges, st->init[o])));
    return ok;
}

/* Finds out whether the candidate indexes the axis of a tensor that carries it. */
typedef struct Indexed { const Proof *p; bool found; } Indexed;

static void find_indexed(const Expr *e, void *user)
{
    Indexed *f = user;
    const Carry *x = e->kind == EXPR_READ ? map_get_ptr(&f->p->carry, e->ref) : NULL;
    if (x && uses_any(e->arg[x->axis], &f->p->t, 1)) f->found = true;
}

static bool is_index(const Proof *p, const Stage *st)
{
    Indexed f = { p, false };
    for (int o = 0; o < st->out_count; o++) expr_walk(p->cx, st->value[o], find_indexed, &f);
    return f.found;
}

static bool reads_carried(const Proof *p, const Stage *st)
{
    const Tensor **read;
    for (int i = stage_reads(p->cx, st, &read) - 1; i >= 0; i--)
        if (map_get_ptr(&p->carry, read[i])) return true;
    return false;
}

static bool follow_stage(Proof *p, const Stage *st)
{
    const Bounds *b = NULL;
    bool found = false;
    if (!reads_carried(p, st)) return true;
    p->s->why = "its result has no axis of the window";
    const char *why = NULL;
    for (int a = 0; a < st->axis_count; a++) b = bounds_var(p->cx, b, st->axis[a].var, st->axis[a].extent);
    Ranges r = ranges_new(p->cx, b);
    p->ranges = &r;
    for (int a = 0; a < st->data_count && !found; a++) {
        found = st->axis[a].kind == AXIS_DATA && carries(p, st, a);
        if (!found && is_index(p, st)) why = p->s->why, p->s->depends_on_position = p->is_position;
    }
    ranges_free(&r);
    if (why) p->s->why = why;
    for (int o = 0; found && o < st->out_count; o++) map_put_ptr(&p->carry, st->out[o], p->now);
    return found;
}

bool slide_of(Ctx *cx, const Node *call, Slide *s)
{
    const Stage **stage;
    const int count = call_stages(cx, call, &stage);
    Tensor *const *made = count ? op_expand(cx, call) : NULL;
    Proof p = { .cx = cx, .call = call, .s = s, .carry = map_new(cx->arena) };
    s->axis = NEW_ARRAY(cx->arena, int, call->out_count);
    s->why = "its formula is not a sequence of stages";
    for (int i = 0; i < call->in_count; i++) {
        if (s->in[i].axis < 0) continue;
        Carry *c = NEW(cx->arena, Carry);
        c->axis = s->in[i].axis;
        c->in = NEW_ARRAY(cx->arena, SlideInput, call->in_count);
        c->in[i] = (SlideInput){ c->axis, true, 1, 0, 0 };
        map_put_ptr(&p.carry, call->in[i], c);
    }
    for (int i = 0; i < count; i++)
        if (!follow_stage(&p, stage[i])) return false;
    for (int o = 0; made && o < call->out_count; o++) {
        const Carry *c = map_get_ptr(&p.carry, made[o]);
        if (!c) return refuse(&p, "its result has no axis of the window");
        if (o && !has_same_windows(c->in, s->in, call->in_count))
            return refuse(&p, "its results read different windows");
        s->axis[o] = c->axis;
        memcpy(s->in, c->in, (size_t)call->in_count * sizeof *c->in);
    }
    return made != NULL;
}

/* ---- Equal formulas ---------------------------------------------------------------------------------------------- */

/* `to` maps variables and tensors of `was` to variables and tensors of `now`. */
typedef struct Same { Ctx *cx; Map to; } Same;

static bool same_constant(const Tensor *a, const Tensor *b)
{
    return a->data && b->data && a->type == b->type && a->rank == b->rank && tensor_bytes(a) == tensor_bytes(b)
           && memcmp(a->data, b->data, (size_t)tensor_bytes(a)) == 0;
}

static bool same(Same *s, const Expr *a, const Expr *b)
{
    const Expr *known = map_get_const_ptr(&s->to, a);
    if (known) return known == b;
    if (a->kind != b->kind || a->type != b->type || a->arg_count != b->arg_count) return false;
    if (a->kind == EXPR_READ) {
        const Tensor *x = map_get_const_ptr(&s->to, a->ref);
        if (x ? x != b->ref : a->ref != b->ref && !same_constant(a->ref, b->ref)) return false;
    } else if (!a->arg_count || a->ref || b->ref) {
        return a == b;
    }
    for (int i = 0; i < a->arg_count; i++)
        if (!same(s, a->arg[i], b->arg[i])) return false;
    map_put_const_ptr(&s->to, a, b);
    return true;
}

/* Simplifies a value of `was` for the extents of `now`, in which an axis of one frame is 0. */
static const Expr *simple(Ctx *cx, const Stage *was, const Stage *now, const Expr *e)
{
    const Bounds *b = NULL;
    for (int a = 0; a < now->axis_count; a++) b = bounds_var(cx, b, was->axis[a].var, now->axis[a].extent);
    return simplify(cx, e, b);
}

static bool same_values(Same *s, const Stage *was, const Expr *a, const Stage *now, const Expr *b)
{
    return same(s, simple(s->cx, was, now, a), simple(s->cx, now, now, b));
}

static bool same_stage(Same *s, const Stage *was, const Stage *now)
{
    bool ok = was->axis_count == now->axis_count && was->data_count == now->data_count
              && was->out_count == now->out_count && was->reducer == now->reducer && was->combiner == now->combiner
              && !was->init == !now->init;
    for (int a = 0; ok && a < was->axis_count; a++) {
        ok = was->axis[a].kind == now->axis[a].kind
             && (was->axis[a].kind == AXIS_DATA || was->axis[a].extent == now->axis[a].extent);
        map_put_const_ptr(&s->to, was->axis[a].var, now->axis[a].var);
    }
    for (int o = 0; ok && o < was->out_count; o++) {
        ok = same_values(s, was, was->value[o], now, now->value[o])
             && (!was->init || same_values(s, was, was->init[o], now, now->init[o]));
        map_put_const_ptr(&s->to, was->out[o], now->out[o]);
    }
    return ok;
}

bool slide_is_same(Ctx *cx, const Node *was, const Node *now)
{
    const Stage **old, **new;
    Same s = { .cx = cx, .to = map_new(cx->arena) };
    const int count = call_stages(cx, was, &old);
    bool ok = count && call_stages(cx, now, &new) == count && was->in_count == now->in_count;
    for (int i = 0; ok && i < was->in_count; i++)
        if (was->in[i]) map_put_const_ptr(&s.to, was->in[i], now->in[i]);
    for (int i = 0; ok && i < count; i++) ok = same_stage(&s, old[i], new[i]);
    return ok;
}
