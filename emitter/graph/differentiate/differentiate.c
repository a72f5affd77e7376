/* SPDX-License-Identifier: MIT */
/* Sweeps over the calls of the DAG on which y depends, from the last to the first. A call is visited after all its
 * consumers, so the adjoints of its outputs are complete. */

/* Decision: a gradient follows from formulas. The calls `gradient` and `adjoint` are replaced by the first pass
 * (`graph/differentiate`), so importers, `.te` files and the command line only create a call. The sweep visits the
 * calls on the way from the wanted tensors to the loss, last to first. The result is calls of formulas, which fusion,
 * strategies and the plan treat like any others.
 *
 *   - A call expands to its computes (`by_formulas.c`); no operator needs a rule. `Op.gradient` may give a better
 *     form: from the result (softmax), or without a quotient that cancels (cross entropy). `Op.gradient.refusal` is for
 *     rows whose derivative exists and is useless: a recurrent state that is rounded at each step is a staircase.
 *   - Reverse accumulation over an expression (`local.c`, the table `derivatives.def`) yields a term and a condition
 *     per read. Conditions are kept apart from values, because the operand of a guarded read exists only under the
 *     guard.
 *   - The read's index is solved for the variables (`solve.c`): digits, phases of a stride, pivots. An equation need
 *     not be solvable; the rest becomes a condition on variables that are reduced over. A scatter therefore becomes a
 *     sum over all points, in row-major order.
 *   - The adjoint of a recurrence is a promised recurrence over the steps in reverse.
 *   - Checkpoints are copies of calls (`recompute.c`), created in the order of the backward pass; execution follows
 *     the order of creation, so no edge has to keep them behind the loss.
 *   - Derivatives prefer the stored result of the compute (tanh, relu), so the operand need not stay live. */
#include "graph/differentiate/differentiate.h"

#include "graph/dag/definition.h"
#include "graph/dag/op_formula.h"
#include "graph/differentiate/by_formulas.h"
#include "graph/differentiate/recompute.h"
#include "ir/algebra/algebra.h"
#include "support/names.h"

typedef struct Sweep {
    Ctx *cx;
    int count; Node **order;
    Map is_active;                   /* the tensors that a wanted tensor affects */
    Summands *summands;
    Recompute recompute;
    bool copies_apart;
} Sweep;

static bool carries_adjoint(const Tensor *t) { return t && dtype_is_float(t->type); }
static void activate(Map *m, Tensor *t) { map_put_ptr(m, t, t); }
static bool is_active(const Map *m, const Tensor *t) { return t && map_get_ptr(m, t); }

/* ---- One call ---------------------------------------------------------------------------------------------------- */

static const Expr *literal(Ctx *cx, const Expr *e, void *user)
{
    (void)user;
    const Tensor *t = e->kind == EXPR_READ ? e->ref : NULL;
    return t && t->data && dtype_is_float(t->type) ? adjoint_read(cx, t, e->arg) : e;
}

/* Returns the formula of a row under the name of an adjoint, with literals instead of constants of one element. */
static Tensor *tidied(Sweep *s, Tensor *own, const Tensor *of)
{
    Ctx *cx = s->cx;
    const Stage *stage = own && own->producer ? own->producer->stage : NULL;
    if (!stage || stage->out_count != 1 || stage->reducer != REDUCE_NONE) return own;
    StageSpec spec = { .name = summands_adjoint_name(s->summands, of), .axis_count = stage->axis_count,
                       .out_count = 1 };
    for (int a = 0; a < stage->axis_count; a++) spec.axis[a] = stage->axis[a];
    spec.value[0] = simplify(cx, expr_rewrite(cx, stage->value[0], literal, NULL), NULL);
    Node *n = compute_new(cx, &spec);
    return n ? n->out[0] : NULL;
}

static bool is_repeated(const Node *call, int input)
{
    for (int i = 0; i < call->in_count; i++)
        if (i != input && call->in[i] == call->in[input]) return true;
    return false;
}

/* Applies the row's adjoint first. Inputs without a row's adjoint, and tensors that are several inputs, get derived
 * adjoints. The adjoint reads copies of tensors that are not stored. */
static void of_operator(Sweep *s, const Node *n, Tensor *const *adjoint)
{
    Ctx *cx = s->cx;
    if (s->copies_apart) recompute_afresh(&s->recompute);
    const Node *call = recomputed_call(&s->recompute, n);
    Map derived = map_new(cx->arena);
    int left = 0;
    for (int i = 0; i < n->in_count && !ctx_failed(cx); i++) {
        Tensor *own = NULL;
        if (!is_active(&s->is_active, n->in[i])) continue;
        const bool has_form = call->op->gradient.adjoint && !is_repeated(n, i);
        if (has_form && call->op->gradient.adjoint(cx, call, adjoint, i, &own))
            summands_add(s->summands, n->in[i], tidied(s, own, n->in[i]));
        else map_put_ptr(&derived, call->in[i], call->in[i]), left++;
    }
    if (left && !ctx_failed(cx)) adjoint_by_formulas(cx, call, adjoint, &derived, s->summands);
    for (int i = 0; i < n->in_count; i++)
        if (call->in[i] != n->in[i]) summands_move(s->summands, call->in[i], n->in[i]);
}

static void refuse_decided(Ctx *cx, const Node *n)
{
    const Tensor *t = first_of_decided_size(cx, n->in, n->in_count);
    if (!t) t = first_of_decided_size(cx, n->out, n->out_count);
    if (t)
        diag_unsupported(cx, text_format(cx, "node \"%s\"", n->name), "the gradient goes through \"%s\" of %s, a size "
                                                                      "that data decide; use layers whose sizes the "
                                                                      "model or --dim states", t->name,
                         tensor_shape_text(cx, t));
}

static void of_call(Sweep *s, const Node *n)
{
    Ctx *cx = s->cx;
    Tensor *adjoint[MAX_OUTPUTS] = { NULL };
    bool is_zero = true;
    for (int o = 0; o < n->out_count && o < MAX_OUTPUTS; o++) {
        adjoint[o] = is_active(&s->is_active, n->out[o]) ? summands_total(s->summands, n->out[o]) : NULL;
        is_zero = is_zero && !adjoint[o];
    }
    if (is_zero) return;
    refuse_decided(cx, n);
    if (ctx_failed(cx)) return;
    if (n->op->meaning.is_foreign)
        diag_unsupported(cx, text_format(cx, "node \"%s\"", n->name), "the gradient goes through the C function %s, "
                         "whose formula is unknown; use an operator with a formula", node_text(n, "function", ""));
    if (n->op->gradient.refusal)
        diag_unsupported(cx, text_format(cx, "node \"%s\"", n->name), "the gradient goes through %s, %s",
                         n->op->name, n->op->gradient.refusal);
    if (n->kind == NODE_REGION) {
        diag_unsupported(cx, n->name, "the gradient is of a branch or loop that the run decides; use a branch or loop "
                         "whose condition or number of iterations is constant");
    } else if (n->op->layout.is_view && can_view(adjoint[0], n->in[0])) {
        const char *name = summands_adjoint_name(s->summands, n->in[0]);
        summands_add(s->summands, n->in[0], view_call(cx, name, adjoint[0], n->in[0]));
    } else of_operator(s, n, adjoint);
}

/* ---- The sweep --------------------------------------------------------------------------------------------------- */

static void mark_reached(Sweep *s)
{
    for (int n = 0; n < s->count; n++) {
        const Node *node = s->order[n];
        bool reaches = false;
        for (int i = 0; i < node->in_count; i++) reaches = reaches || is_active(&s->is_active, node->in[i]);
        if (!reaches || (node->kind == NODE_CALL && node->op->gradient.role == GRADIENT_STOP)) continue;
        for (int o = 0; o < node->out_count; o++)
            if (carries_adjoint(node->out[o])) activate(&s->is_active, node->out[o]);
    }
}

static bool is_below(const Sweep *s, const Tensor *y, const Tensor *t)
{
    if (t == y) return true;
    for (int n = 0; n < s->count; n++)
        for (int i = 0; i < s->order[n]->in_count; i++)
            if (s->order[n]->in[i] == t) return true;
    return false;
}

static bool check(const Sweep *s, const Tensor *y, const Tensor *seed, Tensor *const *wanted, int count)
{
    Ctx *cx = s->cx;
    if (!dtype_is_float(y->type))
        diag_error(cx, y->name, "the gradient is of %s; use a float type", dtype_info(y->type)->spelling);
    if (!seed && tensor_elems(y) != 1)
        diag_error(cx, y->name, "the gradient is of a tensor %s; use a scalar, or pass the adjoint with adjoint(%s, "
                                "seed, ...)",
                   tensor_shape_text(cx, y), y->name);
    for (int i = 0; i < count; i++) {
        if (!dtype_is_float(wanted[i]->type))
            diag_error(cx, wanted[i]->name, "the gradient is with respect to a tensor of type %s; use a float type",
                       dtype_info(wanted[i]->type)->spelling);
        if (!is_below(s, y, wanted[i]))
            diag_error(cx, wanted[i]->name, "\"%s\" does not depend on this tensor; use a tensor from which \"%s\" "
                       "is computed", y->name, y->name);
    }
    return !ctx_failed(cx);
}

static Tensor *ones_like(Ctx *cx, const Tensor *y)
{
    Tensor *t = tensor_stand_in(cx, y);
    void *one = arena_alloc(cx->arena, (size_t)tensor_bytes(y));
    dtype_store(y->type, one, 0, (Scalar){ .f = 1 });
    t->data = one;
    return t;
}

/* Returns the adjoint in the type of the tensor, or zeros if no consumer added anything. */
static Tensor *result_of(Sweep *s, const Tensor *wanted)
{
    Ctx *cx = s->cx;
    Tensor *t = summands_total(s->summands, wanted);
    if (t && t->type != wanted->type)
        return call_on(cx, "cast", t->name, t, ATTRS(attr_type("to", wanted->type)));
    if (t || !tensor_is_fixed(wanted)) return t;
    int64_t shape[MAX_RANK];
    for (int d = 0; d < wanted->rank; d++) shape[d] = tensor_dim(wanted, d);
    return tensor_constant(cx, summands_adjoint_name(s->summands, wanted), wanted->type, wanted->rank, shape, NULL);
}

bool differentiate_again(Ctx *cx, Tensor *y, Tensor *seed, Tensor *const *wanted, int count, Tensor **adjoint,
                         CopiesApart *apart)
{
    if (ctx_failed(cx)) return false;
    Sweep s = { .cx = cx, .is_active = map_new(cx->arena), .summands = summands_new(cx),
                .copies_apart = apart };
    s.count = dag_order(cx, &y, 1, &s.order);
    if (!check(&s, y, seed, wanted, count)) return false;
    for (int i = 0; i < count; i++) activate(&s.is_active, wanted[i]);
    mark_reached(&s);
    s.recompute = recompute_new(cx, s.order, s.count);
    summands_add(s.summands, y, seed ? seed : ones_like(cx, y));
    for (int n = s.count - 1; n >= 0 && !ctx_failed(cx); n--) of_call(&s, s.order[n]);
    for (int i = 0; i < count && !ctx_failed(cx); i++) adjoint[i] = result_of(&s, wanted[i]);
    if (apart) apart->read_again = s.recompute.read_again;
    return !ctx_failed(cx) && formulas_to_calls(cx, adjoint, count);
}

bool differentiate(Ctx *cx, Tensor *y, Tensor *seed, Tensor *const *wanted, int count, Tensor **adjoint)
{
    return differentiate_again(cx, y, seed, wanted, count, adjoint, NULL);
}
