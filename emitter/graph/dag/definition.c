/* SPDX-License-Identifier: MIT */
/* Decision: a formula is a call. The reader of a `.te` file creates computes; at the end of the file
 * `graph/dag/definition.c` replaces them by calls of rows made on the fly. So fusion, strategies, devices, annotations
 * and the plan have no case for formulas.
 *
 *   - The row has no attributes and the name `formula`; `Op.definition` holds the computes over stand-ins of the
 *     inputs. Expansion copies them over a group's tensors. An axis that indexes a dimension alone follows its size, so
 *     shrinking applies.
 *   - Equal formulas share a row, hence stage names, hence functions. The formulas of a recurrence are one call with
 *     the results that others read.
 *   - The pattern follows from the reads (`definition_pattern.c`). It is the kind of the stage, except where a fused
 *     producer would be computed more than once: a stencil, and a reduction that reuses elements, are out-fusable.
 *   - A schedule of the file keeps the file's names for the stages of its group (`Group.keeps_names`); other groups
 *     name stages by role.
 *   - A file that says `nest` keeps its computes, and is one group without an anchor. */
#include "graph/dag/definition.h"

#include <string.h>

#include "graph/dag/op_formula.h"
#include "ir/nest/recurrence.h"
#include "support/map.h"
#include "support/names.h"

/* ---- Copies of computes over other tensors ----------------------------------------------------------------------- */

/* A copy of a definition over other inputs. `to` maps a tensor of the definition to its tensor in the copy. */
typedef struct Copy { Ctx *cx; const Definition *of; Tensor *const *in; Map to; } Copy;

static const Expr *visit_read(Ctx *cx, const Expr *e, void *user)
{
    const Copy *c = user;
    Tensor *to = e->kind == EXPR_READ ? map_get_ptr(&c->to, e->ref) : NULL;
    return to ? tensor_read(cx, to, e->arg, e->arg_count) : e;
}

/* The extents of a copied stage's axes. An axis that indexes a dimension alone takes the size of that dimension in the
 * copy. extent[a] is NULL if axis a keeps its size. */
typedef struct Resize { const Copy *copy; const Stage *stage; const Expr *extent[MAX_AXES]; const char *why; } Resize;

static int axis_of(const Stage *s, const Expr *e)
{
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].var == e) return a;
    return -1;
}

static int input_of(const Definition *d, const Tensor *t)
{
    for (int i = 0; i < d->in_count; i++)
        if (d->in[i] == t) return i;
    return -1;
}

/* Records the sizes of the dimensions of an input that differ from the definition's. */
static void resize_by_read(const Expr *e, void *user)
{
    Resize *r = user;
    const int i = e->kind == EXPR_READ ? input_of(r->copy->of, e->ref) : -1;
    for (int d = 0; i >= 0 && d < e->arg_count; d++) {
        const Tensor *was = r->copy->of->in[i], *is = r->copy->in[i];
        const int a = axis_of(r->stage, e->arg[d]);
        const bool follows = a >= 0 && was->shape[d] == r->stage->axis[a].extent;
        if (was->shape[d] == is->shape[d]) continue;
        if (!follows || (r->extent[a] && r->extent[a] != is->shape[d])) r->why = was->name;
        else r->extent[a] = is->shape[d];
    }
}

/* Checks the indices that use an axis with a new size. The axis must be the only variable in each of them, and each of
 * these dimensions must have the new size. Otherwise, sets r->why. */
static void check_resized(const Expr *e, void *user)
{
    Resize *r = user;
    if (e->kind != EXPR_READ) return;
    const int i = input_of(r->copy->of, e->ref);
    for (int d = 0; d < e->arg_count; d++)
        for (int a = 0; a < r->stage->axis_count; a++) {
            if (!r->extent[a] || !expr_uses(e->arg[d], r->stage->axis[a].var)) continue;
            if (i < 0 || e->arg[d] != r->stage->axis[a].var || r->copy->in[i]->shape[d] != r->extent[a])
                r->why = ((const Tensor *)e->ref)->name;
        }
}

static void walk_stage(Ctx *cx, const Stage *s, ExprWalk *visit, void *user)
{
    for (int i = 0; i < s->out_count; i++) {
        expr_walk(cx, s->value[i], visit, user);
        if (s->init) expr_walk(cx, s->init[i], visit, user);
    }
}

static bool same_sizes(const Copy *c)
{
    for (int i = 0; i < c->of->in_count; i++)
        for (int d = 0; d < c->of->in[i]->rank; d++)
            if (c->of->in[i]->shape[d] != c->in[i]->shape[d]) return false;
    return true;
}

/* Fills r->extent with the sizes of axes that differ from the definition's; an entry of NULL keeps the definition's
 * size. Returns false if a size contradicts the formula. */
static bool resized(const Copy *c, const Stage *s, Resize *r)
{
    *r = (Resize){ .copy = c, .stage = s };
    if (same_sizes(c)) return true;
    if (c->of->node_count > 1) r->why = c->of->in[0]->name;
    walk_stage(c->cx, s, resize_by_read, r);
    if (!r->why) walk_stage(c->cx, s, check_resized, r);
    return !r->why;
}

static const Expr *value_over(Copy *c, const Expr *e, const Expr *const *from, const Expr *const *to, int count)
{
    return expr_rewrite(c->cx, expr_substitute(c->cx, e, from, to, count), visit_read, c);
}

/* Returns a copy of the compute. On failure *why names an input that has the wrong size. */
static Node *copied(Copy *c, const Node *of, const char **why)
{
    const Stage *s = of->stage;
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    StageSpec spec = stage_spec(s);
    Resize r;
    if (!resized(c, s, &r)) {
        *why = r.why;
        return NULL;
    }
    for (int a = 0; a < s->axis_count; a++) {
        const Expr *size = r.extent[a] ? r.extent[a] : expr_substitute(c->cx, s->axis[a].extent, from, to, a);
        from[a] = s->axis[a].var;
        to[a] = axis_var(c->cx, expr_as_var(s->axis[a].var)->name, size);
        spec.axis[a] = (Axis){ to[a], s->axis[a].kind, size };
    }
    for (int i = 0; i < s->out_count; i++) {
        spec.value[i] = value_over(c, s->value[i], from, to, s->axis_count);
        if (s->init) spec.init[i] = value_over(c, s->init[i], from, to, s->axis_count);
    }
    return compute_new(c->cx, &spec);
}

/* Declares the tensors of a recurrence before the computes that read them. */
static void promise_all(Copy *c)
{
    for (int n = 0; n < c->of->node_count && c->of->node_count > 1; n++)
        for (int o = 0; o < c->of->node[n]->out_count; o++) {
            const Tensor *t = c->of->node[n]->out[o];
            map_put_ptr(&c->to, t, tensor_new(c->cx, t->name, t->type, t->rank, t->shape));
        }
}

static void promise_itself(Copy *c, const Node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]->producer == n && !map_get_ptr(&c->to, n->in[i]))
            map_put_ptr(&c->to, n->in[i],
                        tensor_new(c->cx, n->in[i]->name, n->in[i]->type, n->in[i]->rank, n->in[i]->shape));
}

/* Makes the promised tensors, if there are any, the outputs of the copied compute. */
static void keep_promises(Copy *c, const Node *of, Node *n)
{
    for (int o = 0; o < n->out_count; o++) {
        Tensor *promised = map_get_ptr(&c->to, of->out[o]), *made = n->out[o];
        if (promised) {
            promised->producer = n;
            promised->output = o;
            n->out[o] = promised;
        } else map_put_ptr(&c->to, of->out[o], made);
        n->out[o]->name = of->out[o]->name;
        n->stage->out[o] = n->out[o];
    }
}

/* Copies the computes over `in`; *made[k] is the copy of node k. Returns false if an input has the wrong size; *why
 * names the input. */
static bool copy_all(Ctx *cx, const Definition *d, Tensor *const *in, Node **made, Tensor **out, const char **why)
{
    Copy c = { cx, d, in, map_new(cx->arena) };
    *why = NULL;
    for (int i = 0; i < d->in_count; i++) map_put_ptr(&c.to, d->in[i], in[i]);
    promise_all(&c);
    for (int n = 0; n < d->node_count && !ctx_failed(cx); n++) {
        promise_itself(&c, d->node[n]);
        made[n] = copied(&c, d->node[n], why);
        if (!made[n]) return false;
        keep_promises(&c, d->node[n], made[n]);
    }
    for (int o = 0; o < d->out_count; o++) out[o] = map_get_ptr(&c.to, d->out[o]);
    return !ctx_failed(cx);
}

/* Computes the outputs of a formula's call, as OpMeaning.compute does for an operator. */
static int compute_definition(Ctx *cx, const Node *call, Tensor **out)
{
    const Definition *d = call->op->definition;
    const char *why = NULL;
    for (int i = 0; i < d->in_count; i++)
        if (call->in[i]->type != d->in[i]->type || call->in[i]->rank != d->in[i]->rank) why = d->in[i]->name;
    Node **made = NEW_ARRAY(cx->arena, Node *, d->node_count);
    if (!why && copy_all(cx, d, call->in, made, out, &why)) return d->out_count;
    if (why && !ctx_failed(cx))
        op_refuse(cx, call, "the call has a different type or size for '%s' than the formula; use the type and sizes "
                            "of the formula", why);
    return 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void print_definition(Ctx *cx, Text *t, const Definition *d)
{
    for (int n = 0; n < d->node_count; n++) {
        text_add(t, n ? "; " : "");
        print_stage(cx, t, d->node[n]->stage);
    }
}

static void name_result(Ctx *cx, Node *n, int output, const char *result)
{
    n->out[output]->name = name(cx, result);
    if (output == 0) n->name = n->stage->name = n->out[0]->name;
}

/* The names of the inputs and of the first compute's results, to be restored after a print under other names. */
typedef struct Names { const char **in, **out; } Names;

static Names names_now(Ctx *cx, const Definition *d)
{
    const Node *n = d->node[0];
    Names own = { NEW_ARRAY(cx->arena, const char *, d->in_count), NEW_ARRAY(cx->arena, const char *, n->out_count) };
    for (int i = 0; i < d->in_count; i++) own.in[i] = d->in[i]->name;
    for (int o = 0; o < n->out_count; o++) own.out[o] = n->out[o]->name;
    return own;
}

static void rename_definition(Ctx *cx, const Definition *d, const Names *to)
{
    Node *n = d->node[0];
    for (int i = 0; i < d->in_count; i++) d->in[i]->name = to->in[i];
    for (int o = 0; o < n->out_count && d->node_count == 1; o++) name_result(cx, n, o, to->out[o]);
}

void print_formulas(Ctx *cx, Text *t, const Node *call)
{
    const Definition *d = call->op->definition;
    const Names own = names_now(cx, d);
    Names here = names_now(cx, d);
    for (int i = 0; i < d->in_count; i++) here.in[i] = call->in[i]->name;
    for (int o = 0; o < d->out_count && d->node_count == 1; o++) here.out[d->out[o]->output] = call->out[o]->name;
    rename_definition(cx, d, &here);
    print_definition(cx, t, d);
    rename_definition(cx, d, &own);
}

/* Returns the formulas without blanks. Inputs and results are x0, x1, ... and y0, ... instead of their names, so equal
 * formulas have equal texts; in a recurrence the results keep their names. */
static const char *numbered_text(Ctx *cx, const Definition *d)
{
    Text t = text_new(cx), tight = text_new(cx);
    const Names own = names_now(cx, d), numbers = names_now(cx, d);
    for (int i = 0; i < d->in_count; i++) numbers.in[i] = name_format(cx, "x%d", i);
    for (int o = 0; o < d->node[0]->out_count; o++) numbers.out[o] = name_format(cx, "y%d", o);
    rename_definition(cx, d, &numbers);
    print_definition(cx, &t, d);
    rename_definition(cx, d, &own);
    for (const char *s = text_string(&t); *s; s++)
        if (*s != ' ') text_char(&tight, *s);
    return text_string(&tight);
}

/* Returns a key that is equal for formulas that share a row: the text, the results that other nodes read, and the types
 * of the inputs. */
static const char *key_of(Ctx *cx, const Definition *d)
{
    Text t = text_new(cx);
    text_add(&t, d->text);
    for (int o = 0; o < d->out_count; o++) text_printf(&t, ";%d", d->out[o]->output);
    for (int i = 0; i < d->in_count; i++)
        text_printf(&t, ",%s%s", dtype_info(d->in[i]->type)->spelling, tensor_shape_names(cx, d->in[i]));
    return text_string(&t);
}

static const char *names_of(Ctx *cx, Tensor *const *tensor, int count)
{
    Text t = text_new(cx);
    for (int i = 0; i < count; i++) text_printf(&t, "%s%s", i ? " " : "", tensor[i]->name);
    return text_string(&t);
}

static const Op *row_of(Ctx *cx, Map *rows, Definition *d)
{
    d->text = numbered_text(cx, d);
    const char *key = d->node_count == 1 ? key_of(cx, d) : NULL;
    const Op *known = key ? map_get_const(rows, key, strlen(key)) : NULL;
    if (known) return known;
    Text summary = text_new(cx);
    print_definition(cx, &summary, d);
    Op *op = NEW(cx->arena, Op);
    *op = (Op){ .name = FORMULA_OP,
                .summary = text_string(&summary),
                .least_inputs = d->in_count,
                .most_inputs = d->in_count,
                .inputs = names_of(cx, d->in, d->in_count),
                .meaning.compute = compute_definition,
                .fusion.pattern = definition_pattern(cx, d),
                .definition = d };
    if (key) map_put_const(rows, key, strlen(key), op);
    return op;
}

/* ---- From computes to calls -------------------------------------------------------------------------------------- */

typedef struct Wrap {
    Ctx *cx;
    Tensor *const *output; int output_count;
    Node **order; int count;
    Map readers;                       /* maps a tensor to its consumers, closed by NULL */
    Map rows;                          /* maps a key to its row */
    Map done;                          /* the computes of all calls so far */
} Wrap;

static bool is_member(Node *const *set, int count, const Node *n)
{
    for (int i = 0; i < count; i++)
        if (set[i] == n) return true;
    return false;
}

static bool is_read_outside(const Wrap *w, Node *const *set, int count, const Tensor *t)
{
    for (int i = 0; i < w->output_count; i++)
        if (w->output[i] == t) return true;
    const Node *const *readers = map_get_ptr(&w->readers, t);
    for (; readers && *readers; readers++)
        if (!is_member(set, count, *readers)) return true;
    return false;
}

/* Maps each tensor to the list of its consumers, closed by NULL. */
static void find_readers(Wrap *w)
{
    Map counts = map_new(w->cx->arena);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < w->count; i++)
            for (int j = 0; j < w->order[i]->in_count; j++) {
                const Tensor *t = w->order[i]->in[j];
                if (!t) continue;
                int *count = map_get_ptr(&counts, t);
                if (!count) map_put_ptr(&counts, t, count = NEW(w->cx->arena, int));
                if (!pass) {
                    ++*count;
                    continue;
                }
                const Node **list = map_get_ptr(&w->readers, t);
                if (!list) map_put_ptr(&w->readers, t, list = NEW_ARRAY(w->cx->arena, const Node *, *count + 1));
                list[--*count] = w->order[i];
            }
}

/* The tensors that a set reads from outside, in the order of their first reads in the text. */
typedef struct Inputs { Node *const *set; int set_count; Definition *of; Map seen; } Inputs;

static void add_inputs(Inputs *in, const Expr *e)
{
    if (!e || map_get_ptr(&in->seen, e)) return;
    map_put_ptr(&in->seen, e, in);
    Tensor *t = NULL;
    for (int n = 0; n < in->set_count && e->kind == EXPR_READ && !t; n++)
        for (int i = 0; i < in->set[n]->in_count && !t; i++)
            if (in->set[n]->in[i] == e->ref) t = in->set[n]->in[i];
    if (t && !is_member(in->set, in->set_count, t->producer) && input_of(in->of, t) < 0)
        in->of->in[in->of->in_count++] = t;
    for (int i = 0; i < e->arg_count; i++) add_inputs(in, e->arg[i]);
}

/* Returns the computes of the set as a definition; `input` receives the tensors that it reads. */
static Definition *definition_of(const Wrap *w, Node *const *set, int count, Tensor ***input)
{
    Ctx *cx = w->cx;
    int reads = 0, results = 0;
    for (int n = 0; n < count; n++) reads += set[n]->in_count, results += set[n]->out_count;
    Definition over = { .node_count = count, .node = arena_copy(cx->arena, set, (size_t)count * sizeof *set),
                        .in = NEW_ARRAY(cx->arena, Tensor *, reads), .out = NEW_ARRAY(cx->arena, Tensor *, results) };
    Inputs inputs = { set, count, &over, map_new(cx->arena) };
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < set[n]->out_count; i++) {
            add_inputs(&inputs, set[n]->stage->value[i]);
            if (set[n]->stage->init) add_inputs(&inputs, set[n]->stage->init[i]);
        }
        for (int o = 0; o < set[n]->out_count; o++)
            if (is_read_outside(w, set, count, set[n]->out[o])) over.out[over.out_count++] = set[n]->out[o];
    }
    *input = over.in;
    Definition *d = arena_copy(cx->arena, &over, sizeof over);
    d->in = NEW_ARRAY(cx->arena, Tensor *, over.in_count);
    d->out = NEW_ARRAY(cx->arena, Tensor *, over.out_count);
    d->node = NEW_ARRAY(cx->arena, Node *, count);
    for (int i = 0; i < over.in_count; i++) {
        d->in[i] = arena_copy(cx->arena, over.in[i], sizeof *over.in[i]);
        d->in[i]->producer = NULL;
        d->in[i]->data = NULL;
    }
    const char *why;
    return copy_all(cx, &over, d->in, d->node, d->out, &why) ? d : NULL;
}

static void wrap(Wrap *w, Node *n)
{
    Ctx *cx = w->cx;
    Node **set;
    Tensor **input;
    const int count = recurrence_of(cx, n, &set);
    Definition *d = ctx_failed(cx) ? NULL : definition_of(w, set, count, &input);
    if (!d) return;
    if (d->out_count > MAX_OUTPUTS)
        diag_unsupported(cx, n->name, "%d results of one recurrence are read outside it, but a call has at most %d "
                         "outputs; make several results one tensor with one more axis",
                         d->out_count, MAX_OUTPUTS);
    Tensor **result = NEW_ARRAY(cx->arena, Tensor *, d->out_count);
    int found = 0;
    for (int m = 0; m < count; m++) map_put_ptr(&w->done, set[m], set[m]);
    for (int m = 0; m < count; m++)
        for (int o = 0; o < set[m]->out_count; o++)
            if (is_read_outside(w, set, count, set[m]->out[o])) result[found++] = set[m]->out[o];
    Node *call = op_call(cx, row_of(cx, &w->rows, d), result[0]->name, input, d->in_count, NULL, 0);
    if (!call) return;
    call->serial = n->serial;
    for (int o = 0; o < found; o++) {
        result[o]->producer = call;
        result[o]->output = o;
        call->out[o] = result[o];
    }
}

bool formulas_to_calls(Ctx *cx, Tensor *const *output, int count)
{
    Wrap w = { .cx = cx, .output = output, .output_count = count, .readers = map_new(cx->arena),
               .rows = map_new(cx->arena), .done = map_new(cx->arena) };
    w.count = dag_order(cx, output, count, &w.order);
    find_readers(&w);
    for (int i = 0; i < w.count && !ctx_failed(cx); i++) {
        if (w.order[i]->kind != NODE_COMPUTE || map_get_ptr(&w.done, w.order[i])) continue;
        cx->from = w.order[i]->from;
        wrap(&w, w.order[i]);
    }
    cx->from = NULL;
    return !ctx_failed(cx);
}
