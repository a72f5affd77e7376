/* SPDX-License-Identifier: MIT */
/* Builds tensors from tensors: a client's function computes the outputs of a call with calls of operators and with
 * formulas.
 *
 * In a compute, the inputs are tensors of the group, and every call is expanded at once, so results are computes. In
 * the graph, the inputs are tensors of the DAG, results are calls, and calls on constants become constants. */
#include "api/extend/builder.h"

#include <string.h>

#include "api/computation/arguments.h"
#include "graph/dag/definition.h"
#include "graph/dag/graph.h"
#include "graph/dag/op_build.h"
#include "graph/dag/op_formula.h"
#include "graph/condition/condition.h"
#include "graph/condition/condition_names.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_NESTED = 16 };

struct lw_call {
    Ctx *cx;
    const Node *node;
    const Target *target;              /* the target, or NULL if none is known */
    bool in_graph;
    /* maps the first output of a call to the array of the call's outputs, and its length */
    Map outputs;
};
typedef struct Results { int count; Tensor *const *at; } Results;

static Ctx *context_of(const lw_call *c) { return c ? c->cx : NULL; }

/* ---- The call ---------------------------------------------------------------------------------------------------- */

int lw_call_input_count(const lw_call *c) { return c ? c->node->in_count : 0; }

lw_tensor *lw_call_input(const lw_call *c, int i)
{
    return c && i >= 0 && i < c->node->in_count ? c->node->in[i] : NULL;
}

lw_tensor *lw_call_output(const lw_call *c, int i)
{
    return c && i >= 0 && i < c->node->out_count ? c->node->out[i] : NULL;
}

/* An operator's default lists are known only after its compute has been built. */
static const Expr *number_of(const lw_call *c, const char *attr)
{
    if (c->node->op->user) {
        for (int i = 0; i < c->node->attr_count; i++) {
            const Attr *a = &c->node->attr[i];
            if (a->kind == ATTR_INT && text_equal(a->name, attr)) return expr_index(c->cx, a->integer);
            if (a->kind == ATTR_REAL && text_equal(a->name, attr)) return expr_real(c->cx, F64, a->real);
            for (int j = 0; a->kind == ATTR_INTS && j < a->count; j++)
                if (text_equal(name_format(c->cx, "%s_%d", a->name, j), attr)) return expr_index(c->cx, a->ints[j]);
        }
        return NULL;
    }
    const Bind *b = names_find(names_of_call(c->cx, c->node, c->target), attr);
    return b ? b->value : NULL;
}

static double number(const lw_call *c, const char *attr, double otherwise)
{
    if (!is_given(c->cx, "lw_call_number", "the attribute", attr)) return otherwise;
    const Expr *e = number_of(c, attr);
    if (!e) return otherwise;
    return e->kind == EXPR_INT ? (double)e->integer : e->real;
}

double lw_call_number(const lw_call *c, const char *attr, double otherwise)
{
    RETURN_GUARDED(context_of(c), double, otherwise, number(c, attr, otherwise));
}

const char *lw_call_word(const lw_call *c, const char *attr)
{
    return c && attr ? node_text(c->node, attr, NULL) : NULL;
}

bool lw_call_refuse(lw_call *c, const char *why)
{
    if (c && !ctx_failed(c->cx)) diag_error(c->cx, NULL, "%s", why ? why : "it is refused");
    return false;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

const char *lw_tensor_name(const lw_tensor *t) { return t ? t->name : NULL; }
const char *lw_tensor_type(const lw_tensor *t) { return t ? dtype_info(t->type)->spelling : NULL; }
int lw_tensor_rank(const lw_tensor *t) { return t ? t->rank : 0; }
int64_t lw_tensor_dim(const lw_tensor *t, int d) { return t && d >= 0 && d < t->rank ? tensor_dim(t, d) : -1; }
const void *lw_tensor_data(const lw_tensor *t) { return t ? t->data : NULL; }

/* ---- Applications ------------------------------------------------------------------------------------------------ */

static bool are_constants(Tensor *const *in, int count)
{
    for (int i = 0; i < count; i++)
        if (in[i] && !tensor_is_constant(in[i])) return false;
    return count > 0;
}

static Tensor *note_results(lw_call *c, Tensor *const *out, int count)
{
    Results *r = NEW(c->cx->arena, Results);
    *r = (Results){ count, out };
    map_put_ptr(&c->outputs, out[0], r);
    return out[0];
}

/* Returns the results of a new call of the DAG; a call on constants is evaluated. */
static Tensor *in_place_of(lw_call *c, Node *n)
{
    n->device = c->node->device;
    if (!are_constants(n->in, n->in_count)) return note_results(c, n->out, n->out_count);
    Tensor **out = NEW_ARRAY(c->cx->arena, Tensor *, n->out_count);
    return graph_run_call(c->cx, n, out) ? note_results(c, out, n->out_count) : NULL;
}

static Tensor *applied(lw_call *c, const Op *op, lw_tensor *const *in, int count, const char *attrs)
{
    Ctx *cx = c->cx;
    int attr_count;
    const Attr *attr = attrs_read(cx, op, attrs ? attrs : "", &attr_count);
    Node *n = op_call(cx, op, c->in_graph ? c->node->name : op->name, in, count, attr, attr_count);
    if (!n) return NULL;
    if (!c->in_graph) return note_results(c, op_expand(cx, n), n->out_count);
    return in_place_of(c, n);
}

static Tensor *apply(lw_call *c, const char *op_name, lw_tensor *const *in, int count, const char *attrs)
{
    Ctx *cx = c->cx;
    const char *function = "lw_apply";
    if (!is_given(cx, function, "the operator", op_name)) return NULL;
    const Op *op = op_find(cx, op_name);
    if (!op) diag_error(cx, function, "there is no operator '%s'%s", op_name, op_hint(cx, op_name));
    if (count < 0 || (count && !in)) diag_error(cx, function, "%s: the list of %d inputs is NULL", op_name, count);
    if (ctx_failed(cx)) return NULL;
    const DiagMark mark = diag_mark(cx);
    Tensor *t = applied(c, op, in, count, attrs);
    if (t || mark.failed) return t;
    const Diag *why = diag_rewind(cx, mark);
    diag_error(cx, function, "in the call of %s: %s", op_name, why ? why->what : "it has no output");
    return NULL;
}

lw_tensor *lw_apply(lw_call *c, const char *op, lw_tensor *const *in, int count, const char *attrs)
{
    RETURN_GUARDED(context_of(c), lw_tensor *, NULL, apply(c, op, in, count, attrs));
}

lw_tensor *lw_apply_output(lw_call *c, const lw_tensor *first, int i)
{
    const Results *r = c && first ? map_get_ptr(&c->outputs, first) : NULL;
    return r && i >= 0 && i < r->count ? r->at[i] : NULL;
}

/* ---- Formulas and constants -------------------------------------------------------------------------------------- */

/* Turns a compute over tensors of the DAG into a call; a compute over constants is evaluated. */
static Tensor *formula_call(lw_call *c, const Tensor *made)
{
    const int count = made->producer->out_count;
    Tensor *const *out = made->producer->out;
    if (!formulas_to_calls(c->cx, out, count)) return NULL;
    out[0]->producer->name = c->node->name;
    return in_place_of(c, out[0]->producer);
}

static Tensor *by_formula(lw_call *c, const char *text, const char *names, lw_tensor *const *t)
{
    Ctx *cx = c->cx;
    if (!is_given(cx, "lw_formula", "the formula", text)) return NULL;
    if (names && *names && !t) diag_error(cx, "lw_formula", "the tensors of \"%s\" are NULL", names);
    if (ctx_failed(cx)) return NULL;
    const Node *n = c->node;
    Bind *bind = NEW_ARRAY(cx->arena, Bind, n->in_count + n->attr_count + (int)strlen(names ? names : "") + 2);
    int count = 0, k = 0;
    for (const char *s = names ? names + strspn(names, " ") : ""; *s; s += strcspn(s, " "), s += strspn(s, " "), k++) {
        const char *word = name_n(cx, s, strcspn(s, " "));
        if (!t[k]) diag_error(cx, "lw_formula", "the tensor of '%s' is NULL", word);
        bind[count++] = (Bind)BIND_T(word, t[k]);
    }
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) bind[count++] = (Bind)BIND_T(op_input_name(cx, n->op, i), n->in[i]);
    for (int i = 0; i < n->attr_count; i++) {
        const Expr *value = n->attr[i].kind == ATTR_INT    ? expr_index(cx, n->attr[i].integer)
                            : n->attr[i].kind == ATTR_REAL ? expr_real(cx, n->in[0]->type, n->attr[i].real)
                                                           : NULL;
        if (value) bind[count++] = (Bind)BIND_V(n->attr[i].name, value);
    }
    Tensor *made = ctx_failed(cx) ? NULL : op_formula(cx, n, text, bind);
    if (!made) return NULL;
    return c->in_graph ? formula_call(c, made) : note_results(c, made->producer->out, made->producer->out_count);
}

lw_tensor *lw_formula(lw_call *c, const char *formula, const char *names, lw_tensor *const *t)
{
    RETURN_GUARDED(context_of(c), lw_tensor *, NULL, by_formula(c, formula, names, t));
}

static Tensor *constant(lw_call *c, const char *type, int rank, const int64_t *shape, const void *data)
{
    Ctx *cx = c->cx;
    const char *function = "lw_constant";
    DType of = F32;
    if (!is_given(cx, function, "the type", type)) return NULL;
    if (!dtype_read(type, strlen(type), &of))
        diag_error(cx, function, "'%s' is not an element type; use %s", type, op_types_text(cx, NULL));
    if (!c->in_graph) diag_error(cx, function, "a compute has no constants; use numbers in formulas");
    if (rank < 0 || rank > MAX_RANK)
        diag_error(cx, function, "it has %d dimensions; pass 0 to %d dimensions", rank, MAX_RANK);
    if ((rank && !shape) || !data)
        diag_error(cx, function, "the %s is NULL; pass a pointer to it", data ? "shape" : "data");
    for (int d = 0; d < rank && !ctx_failed(cx); d++)
        if (shape[d] < 1 || shape[d] > INT32_MAX)
            diag_error(cx, function, "dimension %d has %lld elements; use at least 1", d, (long long)shape[d]);
    return ctx_failed(cx) ? NULL : tensor_constant(cx, c->node->name, of, rank, shape, data);
}

lw_tensor *lw_constant(lw_call *c, const char *type, int rank, const int64_t *shape, const void *data)
{
    RETURN_GUARDED(context_of(c), lw_tensor *, NULL, constant(c, type, rank, shape, data));
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static lw_call call_of(Ctx *cx, const Node *n, const Target *t, bool in_graph)
{
    return (lw_call){ .cx = cx, .node = n, .target = t, .in_graph = in_graph, .outputs = map_new(cx->arena) };
}

static bool is_input_of(const Node *n, const Tensor *t)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] == t) return true;
    return false;
}

/* Copies outputs that alias an input, a constant or an earlier output. */
static void copy_shared(lw_call *c, Tensor **out, int count)
{
    for (int i = 0; i < count && !ctx_failed(c->cx); i++) {
        bool is_shared = is_input_of(c->node, out[i]) || tensor_is_constant(out[i]);
        for (int j = 0; j < i; j++) is_shared = is_shared || out[j] == out[i];
        if (is_shared) out[i] = apply(c, "identity", &out[i], 1, NULL);
    }
}

/* Runs the client's function; returns the count of outputs, or 0 after a diagnostic or if the function declines. */
static int build_outputs(lw_call *c, lw_build *build, Tensor **out)
{
    Ctx *cx = c->cx;
    for (int i = 0; i < MAX_OUTPUTS; i++) out[i] = NULL;
    const int count = build(cx, c, out);
    guard_resume(cx);
    if (ctx_failed(cx) || count == 0) return 0;
    if (count < 0 || count > MAX_OUTPUTS)
        diag_error(cx, NULL, "the function returned %d outputs; use 1 to %d", count, MAX_OUTPUTS);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        if (!out[i]) diag_error(cx, NULL, "its function set output %d of %d to NULL", i, count);
    return ctx_failed(cx) ? 0 : count;
}

static int built(Ctx *cx, const Node *n, lw_build *build, Tensor **out)
{
    lw_call c = call_of(cx, n, NULL, false);
    const int count = build_outputs(&c, build, out);
    if (!count && !ctx_failed(cx)) diag_error(cx, NULL, "its function returned no output");
    copy_shared(&c, out, count);
    return ctx_failed(cx) ? 0 : count;
}

int builder_compute(Ctx *cx, const Node *n, Tensor **out)
{
    BuiltOp *row = n->op->user;
    if (row->depth == MOST_NESTED) {
        diag_error(cx, NULL, "the operator calls itself; use calls of other operators");
        return 0;
    }
    row->depth++;
    const int count = built(cx, n, row->build, out);
    row->depth--;
    return count;
}

int builder_other_compute(Ctx *cx, const Implementation *with, const Node *n, Tensor **out)
{
    return built(cx, n, ((const lw_implementation *)with->user)->build, out);
}

static bool is_like(const Tensor *a, const Tensor *b)
{
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    return same;
}

/* Returns NULL if the condition depends on open sizes, because the DAG has only one form. */
Tensor *builder_alter(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    const lw_implementation *row = with->user;
    const Expr *open = NULL;
    Tensor *out[MAX_OUTPUTS];
    (void)uses;
    if (with->when && condition_holds(cx, with, n, t, &open) != HOLDS) return NULL;
    const char *where = text_format(cx, "implementation \"%s\" of %s", with->name, op_where(cx, n));
    lw_call c = call_of(cx, n, t, true);
    const int count = build_outputs(&c, row->alter, out);
    if (!count || ctx_failed(cx)) return NULL;
    if (count != 1 || n->out_count != 1)
        diag_error(cx, where, "the call has %d outputs and the function returned %d; use `alter` only for calls with "
                              "one output, and return one tensor",
                   n->out_count, count);
    else if (!is_like(out[0], n->out[0]))
        diag_error(cx, where, "the function returned %s%s; return %s%s, like the call's output",
                   dtype_info(out[0]->type)->spelling, tensor_shape_text(cx, out[0]),
                   dtype_info(n->out[0]->type)->spelling, tensor_shape_text(cx, n->out[0]));
    return ctx_failed(cx) || out[0] == n->out[0] ? NULL : out[0];
}
