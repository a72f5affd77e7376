/* SPDX-License-Identifier: MIT */
/* Calls of operators. A call is checked against its row (number of inputs, attribute names), gets defaults for omitted
 * attributes, and is expanded once: its outputs have the types and shapes of its computes. */
#include "graph/dag/op.h"

#include <string.h>

#include "graph/dag/op_formula.h"
#include "graph/dag/registry.h"
#include "graph/dag/target.h"
#include "ir/algebra/algebra.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Attributes ------------------------------------------------------------------------------------------------ */

/* Sets the call's attributes to the given ones followed by the defaults of the omitted ones. */
static void complete_attrs(Ctx *cx, Node *n, const Attr *attr, int count)
{
    int capacity = count;
    for (const AttrRow *r = n->op->attr; r && r->name; r++) capacity++;
    Attr *all = NEW_ARRAY(cx->arena, Attr, capacity);
    for (int i = 0; i < count; i++) {
        all[i] = attr[i];
        if (!op_attr_row(n->op, attr[i].name) && !n->op->accepts_any_attr) op_refuse_attr(cx, n->op, attr[i].name);
    }
    n->attr = all;
    n->attr_count = count;
    for (const AttrRow *r = n->op->attr; r && r->name; r++)
        if (r->otherwise && !node_attr(n, r->name)) {
            all[count++] = attr_from_text(cx, n->op, r, r->otherwise);
            n->attr_count = count;
        }
}

/* ---- Calls ----------------------------------------------------------------------------------------------------- */

static bool check_inputs(Ctx *cx, const Node *n)
{
    const Op *op = n->op;
    int given = n->in_count;
    if (given < op->least_inputs || (op->most_inputs >= 0 && given > op->most_inputs)) {
        const char *least = text_format(cx, "%d", op->least_inputs);
        const char *range = op->most_inputs == op->least_inputs ? least
                          : op->most_inputs < 0 ? text_format(cx, "at least %s", least)
                          : text_format(cx, "%s to %d", least, op->most_inputs);
        op_refuse(cx, n, "%d inputs are given, but it takes %s", given, range);
        return false;
    }
    for (int i = 0; i < op->least_inputs; i++)
        if (!n->in[i]) {
            op_refuse(cx, n, "input %d is absent; give the first %d inputs", i, op->least_inputs);
            return false;
        }
    return true;
}

/* Returns the i-th of the space-separated names. */
static const char *word_at(Ctx *cx, const char *words, int i)
{
    for (; i > 0 && *words; i--) {
        words += strcspn(words, " ");
        words += strspn(words, " ");
    }
    return name_n(cx, words, strcspn(words, " "));
}

const char *op_input_name(Ctx *cx, const Op *op, int i)
{
    const char *word = op->inputs ? word_at(cx, op->inputs, i) : "";
    return *word ? word : "x";
}

static int count_char(const char *s, char c)
{
    int count = 0;
    for (; *s; s++) count += *s == c;
    return count;
}

/* Names in scope of formulas: the inputs, the attributes, and the results of earlier formulas. */
typedef struct FormulaNames { Ctx *cx; const Node *call; int count; Bind *bind; } FormulaNames;

static void add_bind(FormulaNames *f, Bind b) { f->bind[f->count++] = b; }

static void bind_attr(FormulaNames *f, const Attr *a)
{
    Ctx *cx = f->cx;
    if (a->kind == ATTR_REAL) add_bind(f, (Bind)BIND_V(a->name, expr_real(cx, f->call->in[0]->type, a->real)));
    if (a->kind == ATTR_INT) add_bind(f, (Bind)BIND_I(cx, a->name, a->integer));
    for (int i = 0; a->kind == ATTR_INTS && i < a->count; i++)
        add_bind(f, (Bind)BIND_I(cx, name_format(cx, "%s_%d", a->name, i), a->ints[i]));
}

static FormulaNames names_of(Ctx *cx, const Node *n, const char *text)
{
    FormulaNames f = { .cx = cx, .call = n };
    int most = n->in_count + count_char(text, ';') + count_char(text, ',') + 2;
    for (int i = 0; i < n->attr_count; i++) most += 1 + n->attr[i].count;
    f.bind = NEW_ARRAY(cx->arena, Bind, most);
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) add_bind(&f, (Bind)BIND_T(word_at(cx, n->op->inputs, i), n->in[i]));
    for (int i = 0; i < n->attr_count; i++) bind_attr(&f, &n->attr[i]);
    return f;
}

/* Binds the names on the left of the formula to its results: `i, v[n] = argmax(k) ...` has two. */
static void bind_results(FormulaNames *f, const char *text, const Tensor *made)
{
    const Stage *s = made->producer->stage;
    for (int i = 0; i < s->out_count; i++) {
        const size_t n = strcspn(text, " [=,");
        add_bind(f, (Bind)BIND_T(name_n(f->cx, text, n), s->out[i]));
        text += n + strspn(text + n, " ,");
    }
}

static Tensor *result_named(const FormulaNames *f, const char *wanted)
{
    for (int i = f->count - 1; i >= 0; i--)
        if (f->bind[i].tensor && strcmp(f->bind[i].name, wanted) == 0) return f->bind[i].tensor;
    diag_error(f->cx, NULL, "no formula defines the output '%s'", wanted);
    return NULL;
}

/* Computes formulas separated by ';'. Returns the number of outputs: one, the last formula's, if `outputs` is NULL. */
static int compute_by_formulas(Ctx *cx, const Node *n, const char *text, const char *outputs, Tensor **out)
{
    FormulaNames f = names_of(cx, n, text);
    Tensor *made = NULL;
    int count = 0;
    for (const char *s = text + strspn(text, " ;"); *s && !ctx_failed(cx); s += strcspn(s, ";"), s += strspn(s, " ;")) {
        const char *formula_text = name_n(cx, s, strcspn(s, ";"));
        made = op_formula(cx, n, formula_text, f.bind);
        if (made) bind_results(&f, formula_text, made);
    }
    if (!outputs && made) out[count++] = made;
    for (const char *s = outputs ? outputs : ""; *s && !ctx_failed(cx); s += strcspn(s, " "), s += strspn(s, " "))
        out[count++] = result_named(&f, name_n(cx, s, strcspn(s, " ")));
    return ctx_failed(cx) ? 0 : count;
}

static int compute_by_row(Ctx *cx, const Node *n, Tensor **out)
{
    const OpMeaning *m = &n->op->meaning;
    if (!m->formula) return m->compute(cx, n, out);
    if (m->floats_only && !op_float(cx, n)) return 0;
    return compute_by_formulas(cx, n, m->formula, m->outputs, out);
}

/* Reports failures since the mark again, with `where` as their place. */
static void place_failure(Ctx *cx, DiagMark mark, const char *where)
{
    const Diag *d = diag_rewind(cx, mark);
    if (!d) diag_internal(cx, where, "the compute failed without a diagnostic");
    else if (d->severity == UNSUPPORTED) diag_unsupported(cx, where, "%s", d->what);
    else if (d->source) diag_with_source(cx, where, d->source, "%s", d->what);
    else diag_error(cx, where, "%s", d->what);
}

/* Records the call in the stages that compute t. */
static void own_stages(const Node *n, const Tensor *t)
{
    const Node *made = t->producer;
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] == t) return;
    if (!made || !made->stage || made->stage->call == n) return;
    made->stage->call = n;
    made->stage->is_result = false;
    made->stage->op = n->op->definition ? NULL : n->op->name;
    for (int i = 0; i < made->in_count; i++) own_stages(n, made->in[i]);
}

static void own_results(const Node *n, Tensor *const *out, int count)
{
    for (int i = 0; i < count; i++) own_stages(n, out[i]);
    Stage *first = count && out[0]->producer ? out[0]->producer->stage : NULL;
    if (first && first->call == n && !n->op->definition) first->is_result = true;
}

/* Runs Op.compute; diagnostics of the formula reader and of tensor constructors get the call as their place. */
int op_compute(Ctx *cx, const Node *n, Tensor **out)
{
    DiagMark mark = diag_mark(cx);
    int count = compute_by_row(cx, n, out);
    if (!ctx_failed(cx)) {
        own_results(n, out, count);
        return count;
    }
    place_failure(cx, mark, op_where(cx, n));
    return 0;
}

static bool is_like(const Tensor *a, const Tensor *b)
{
    bool same = a->type == b->type && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
    return same;
}

/* Requires that the outputs of a different compute have the types and shapes of the call's outputs. */
static void check_outputs(Ctx *cx, const Node *n, const char *where, Tensor *const *out, int count)
{
    if (count != n->out_count)
        diag_error(cx, where, "its compute produces %d outputs; return the %d outputs of the operator", count,
                   n->out_count);
    for (int i = 0; i < count && !ctx_failed(cx); i++)
        if (!is_like(out[i], n->out[i]))
            diag_error(cx, where, "its compute produces %s%s as output %d, but the operator produces %s%s",
                       dtype_info(out[i]->type)->spelling, tensor_shape_text(cx, out[i]), i,
                       dtype_info(n->out[i]->type)->spelling, tensor_shape_text(cx, n->out[i]));
}

bool op_compute_as(Ctx *cx, const Node *n, const Implementation *with, Tensor **out)
{
    const char *where = text_format(cx, "implementation \"%s\" of %s", with->name, op_where(cx, n));
    DiagMark mark = diag_mark(cx);
    Tensor **made = NEW_ARRAY(cx->arena, Tensor *, MAX_OUTPUTS);
    const int count = with->build ? with->build(cx, with, n, made)
                                  : compute_by_formulas(cx, n, with->compute, n->op->meaning.outputs, made);
    if (ctx_failed(cx)) place_failure(cx, mark, where);
    else check_outputs(cx, n, where, made, count);
    if (ctx_failed(cx)) return false;
    own_results(n, made, count);
    for (int i = 0; i < count; i++) out[i] = made[i];
    return true;
}

Node *op_call(Ctx *cx, const Op *op, const char *call_name, Tensor *const *in, int in_count, const Attr *attr,
              int attr_count)
{
    if (ctx_failed(cx) || !op) return NULL;
    Node *n = NEW(cx->arena, Node);
    n->kind = NODE_CALL;
    n->from = cx->from;
    n->op = op;
    n->name = name(cx, call_name ? call_name : op->name);
    n->in = NEW_ARRAY(cx->arena, Tensor *, in_count);
    for (int i = 0; i < in_count; i++) n->in[i] = in[i];
    n->in_count = in_count;
    while (n->in_count > op->least_inputs && !in[n->in_count - 1]) n->in_count--;
    complete_attrs(cx, n, attr, attr_count);
    if (ctx_failed(cx) || !check_inputs(cx, n)) return NULL;

    Tensor **made = NEW_ARRAY(cx->arena, Tensor *, MAX_OUTPUTS);
    n->out_count = op_compute(cx, n, made);
    if (ctx_failed(cx) || n->out_count == 0) return NULL;
    n->serial = ctx_serial(cx);
    n->out = NEW_ARRAY(cx->arena, Tensor *, n->out_count);
    for (int i = 0; i < n->out_count; i++) {
        const char *out_name = i ? name_format(cx, "%s_%d", n->name, i) : n->name;
        n->out[i] = tensor_new(cx, out_name, made[i]->type, made[i]->rank, made[i]->shape);
        n->out[i]->producer = n;
        n->out[i]->output = i;
        if (!tensor_fits_index(cx, n->out[i])) return NULL;
    }
    map_put_ptr(&registry(cx)->expansion, n, made);
    return n;
}

Tensor *const *op_expand(Ctx *cx, const Node *n)
{
    return map_get_ptr(&registry(cx)->expansion, n);
}

/* Records the lists that the operator reads during its compute, with its defaults. */
static void note_lists(Ctx *cx, const Node *call, AttrNotes *notes)
{
    Tensor *out[MAX_OUTPUTS];
    DiagMark mark = diag_mark(cx);
    *notes = (AttrNotes){ .count = 0 };
    registry(cx)->notes = notes;
    op_compute(cx, call, out);
    registry(cx)->notes = NULL;
    diag_rewind(cx, mark);
}

/* Returns each list as the compute read it. The list as read takes precedence over the given attribute, in which one
 * value may stand for all. */
int op_attrs(Ctx *cx, const Node *n, const Attr **out)
{
    AttrNotes notes;
    note_lists(cx, n, &notes);
    Attr *all = NEW_ARRAY(cx->arena, Attr, notes.count + n->attr_count);
    int count = 0;
    for (int i = 0; i < notes.count; i++) {
        const AttrNote *note = &notes.note[i];
        bool is_new = true;
        for (int k = 0; k < count; k++) is_new = is_new && !text_equal(all[k].name, note->name);
        if (is_new)
            all[count++] = (Attr){ .name = note->name, .kind = ATTR_INTS, .count = note->count,
                                   .ints = arena_copy(cx->arena, note->value, sizeof note->value) };
    }
    for (int i = 0; i < n->attr_count; i++) {
        bool is_new = true;
        for (int k = 0; k < count; k++) is_new = is_new && !text_equal(all[k].name, n->attr[i].name);
        if (is_new) all[count++] = n->attr[i];
    }
    *out = all;
    return count;
}

Tensor *call(Ctx *cx, const char *op_name, const char *call_name, Tensor *const *in, int in_count,
             const Attr *attrs)
{
    const Op *op = ctx_failed(cx) ? NULL : op_find(cx, op_name);
    int count = 0;
    const Attr *own = op ? attrs_of_call(cx, op, attrs, &count) : NULL;
    if (!op && !ctx_failed(cx)) diag_internal(cx, call_name, "there is no operator '%s'", op_name);
    Node *n = op ? op_call(cx, op, call_name, in, in_count, own, count) : NULL;
    return n ? n->out[0] : NULL;
}

Tensor *call_on(Ctx *cx, const char *op_name, const char *call_name, Tensor *x, const Attr *attrs)
{
    return x ? call(cx, op_name, call_name, &x, 1, attrs) : NULL;
}

Tensor *call_on_two(Ctx *cx, const char *op_name, const char *call_name, Tensor *a, Tensor *b, const Attr *attrs)
{
    return a && b ? call(cx, op_name, call_name, (Tensor *[]){ a, b }, 2, attrs) : NULL;
}

Tensor *call_where(Ctx *cx, const char *call_name, Tensor *condition, Tensor *a, Tensor *b)
{
    return condition && a && b ? call(cx, "where", call_name, (Tensor *[]){ condition, a, b }, 3, NULL) : NULL;
}

/* Computes the attribute of a reshape to the shape: the entry of a symbolic size is 0 if x has this size in the same
 * position, otherwise -1. Returns false if -1 would occur more than once. */
static bool shape_from(const Tensor *x, const Tensor *like, int64_t *shape)
{
    int others = 0;
    for (int d = 0; d < like->rank; d++) {
        bool is_same = d < x->rank && like->shape[d] == x->shape[d];
        shape[d] = like->shape[d]->kind == EXPR_INT ? like->shape[d]->integer : is_same ? 0 : -1;
        others += shape[d] < 0;
    }
    return others <= 1;
}

bool can_view(const Tensor *x, const Tensor *like) { return shape_from(x, like, (int64_t[MAX_RANK]){ 0 }); }

Tensor *view_call(Ctx *cx, const char *call_name, Tensor *x, const Tensor *like)
{
    int64_t shape[MAX_RANK];
    if (!x || !like) return NULL;
    const bool is_fixed = shape_from(x, like, shape);
    return call_on(cx, "reshape", call_name, x,
                   ATTRS(is_fixed ? attr_ints("shape", shape, like->rank) : attr_tensor("like", like)));
}

const Expr *bound_size(const Node *n)
{
    const bool binds = n && n->kind == NODE_CALL && n->op->layout.binds_size;
    return binds ? node_attr(n, "like")->tensor->shape[0] : NULL;
}

bool attrs_are_fixed(const Node *n)
{
    for (int i = 0; i < n->attr_count; i++)
        if (n->attr[i].kind == ATTR_TENSOR && !tensor_is_fixed(n->attr[i].tensor)) return false;
    return true;
}
