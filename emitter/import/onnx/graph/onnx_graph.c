/* SPDX-License-Identifier: MIT */
/* Orders the nodes of one graph and translates each of them. A small result whose inputs are constant is folded at
 * once, so that a chain of shape arithmetic reaches a Reshape or Slice as numbers. Graphs nested in a node and function
 * bodies are inlined at the node. */
#include "import/onnx/graph/onnx_graph.h"

#include <string.h>

#include "import/model/fold_small.h"
#include "import/onnx/graph/onnx_foreign.h"
#include "import/onnx/graph/onnx_sizes.h"
#include "ir/algebra/algebra.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* Bounds on the sum of nodes and node inputs: one for the model's own graph, and one for all graphs that functions,
 * branches and bodies add. A small file can repeat these added graphs without bound. */
enum { MOST_OWN = 1000000, MOST_ADDED = 20000 };

/* Names are interned, so their addresses are keys. */
static void *find_named(const Map *m, const char *value_name) { return map_get_ptr(m, value_name); }

/* ---- Producers --------------------------------------------------------------------------------------------------- */

static void enter(OnnxScope *s, Map *m, const char *value_name, void *definition, const char *what)
{
    if (!*value_name) return;
    if (find_named(m, value_name))
        diag_error(s->import->cx, NULL, "the %s \"%s\" is defined twice; keep one definition", what, value_name);
    map_put_ptr(m, value_name, definition);
}

static void enter_names(OnnxScope *s)
{
    const OnnxGraph *g = s->graph;
    for (int i = 0; i < g->initializer_count; i++)
        enter(s, &s->initializer, g->initializer[i].name, &g->initializer[i], "initializer");
    for (int i = 0; i < g->input_count; i++) enter(s, &s->input, g->input[i].name, &g->input[i], "input");
    for (int i = 0; i < g->node_count; i++)
        for (int j = 0; j < g->node[i].out_count; j++) {
            const char *out = g->node[i].out[j];
            if (*out && (find_named(&s->initializer, out) || find_named(&s->input, out)))
                diag_error(s->import->cx, onnx_where(s->import->cx, &g->node[i]),
                           "its output \"%s\" is already an input or initializer of the graph; use a new name",
                           out);
            enter(s, &s->producer, out, &g->node[i], "value");
        }
}

/* Searches depth-first from the outputs, without recursion; a node follows its producers. */
typedef struct NodeVisit { OnnxNode *node; int next; } NodeVisit;
typedef struct GraphWalk { Map mark; NodeVisit *stack; int depth; } GraphWalk;
static const char OPEN[] = "open", DONE[] = "done";

static void push(OnnxScope *s, GraphWalk *w, OnnxNode *n)
{
    const void *mark = map_get_const_ptr(&w->mark, n);
    if (mark == OPEN)
        diag_error(s->import->cx, onnx_where(s->import->cx, n),
                   "the graph has a cycle: this node depends on its own output");
    if (mark) return;
    map_put_const_ptr(&w->mark, n, OPEN);
    w->stack[w->depth++] = (NodeVisit){ n, 0 };
}

static bool is_defined_outside(const OnnxScope *s, const char *value_name)
{
    for (const OnnxScope *o = s->outer; o; o = o->outer)
        if (find_named(&o->producer, value_name) || find_named(&o->initializer, value_name)
            || find_named(&o->input, value_name))
            return true;
    return false;
}

static void visit_value(OnnxScope *s, GraphWalk *w, const char *value_name, const char *where)
{
    OnnxNode *producer = find_named(&s->producer, value_name);
    if (producer) push(s, w, producer);
    else if (!find_named(&s->initializer, value_name) && !find_named(&s->input, value_name)
             && !is_defined_outside(s, value_name))
        diag_error(s->import->cx, where, "no node produces the value \"%s\"", value_name);
}

/* Returns the j-th value that the node depends on: first its inputs, then its captures. */
static const char *dependence(const OnnxNode *n, int j)
{
    return j < n->in_count ? n->in[j] : n->capture[j - n->in_count];
}

static int visit_outputs(OnnxScope *s, GraphWalk *w)
{
    int count = 0;
    for (int i = 0; i < s->graph->output_count; i++) {
        visit_value(s, w, s->graph->output[i].name, "output");
        while (w->depth && !ctx_failed(s->import->cx)) {
            NodeVisit *v = &w->stack[w->depth - 1];
            if (v->next < v->node->in_count + v->node->capture_count) {
                bool is_input = v->next < v->node->in_count;
                const char *in = dependence(v->node, v->next++);
                if (*in && (is_input || find_named(&s->producer, in)))
                    visit_value(s, w, in, onnx_where(s->import->cx, v->node));
                continue;
            }
            map_put_const_ptr(&w->mark, v->node, DONE);
            if (s->order) s->order[count] = v->node;
            count++;
            w->depth--;
        }
    }
    return count;
}

/* Returns true if the file has the reached nodes in topological order. */
static bool file_order_is_valid(OnnxScope *s, const GraphWalk *w)
{
    Map emitted = map_new(s->import->cx->arena);
    for (int i = 0; i < s->graph->node_count; i++) {
        OnnxNode *n = &s->graph->node[i];
        if (!map_get_const_ptr(&w->mark, n)) continue;
        for (int j = 0; j < n->in_count + n->capture_count; j++) {
            OnnxNode *producer = *dependence(n, j) ? find_named(&s->producer, dependence(n, j)) : NULL;
            if (producer && !map_get_ptr(&emitted, producer)) return false;
        }
        map_put_ptr(&emitted, n, n);
    }
    return true;
}

static void check_size(OnnxScope *s)
{
    const bool is_own = !s->import->own_work;      /* the model's graph is ordered before all others */
    const int most = is_own ? MOST_OWN : MOST_ADDED;
    int64_t *work = is_own ? &s->import->own_work : &s->import->work;
    for (int i = 0; i < s->ordered; i++) *work += 1 + s->order[i]->in_count + s->order[i]->capture_count;
    if (*work > most)
        diag_unsupported(s->import->cx, NULL,
                         "%s %lld nodes and node inputs in total; use at most %d",
                         is_own ? "the graph has" : "functions, branches and loop bodies have", (long long)*work, most);
}

static void order_nodes(OnnxScope *s)
{
    GraphWalk w = { map_new(s->import->cx->arena), NEW_ARRAY(s->import->cx->arena, NodeVisit, s->graph->node_count),
                    0 };
    s->order = NEW_ARRAY(s->import->cx->arena, OnnxNode *, s->graph->node_count);
    s->ordered = visit_outputs(s, &w);
    if (!ctx_failed(s->import->cx)) check_size(s);
    if (ctx_failed(s->import->cx) || !file_order_is_valid(s, &w)) return;
    int count = 0;
    for (int i = 0; i < s->graph->node_count; i++)
        if (map_get_const_ptr(&w.mark, &s->graph->node[i])) s->order[count++] = &s->graph->node[i];
}

/* ---- Unsupported operators, attributes and types ----------------------------------------------------------------- */

void onnx_check_type(OnnxImport *im, const char *where, int64_t data_type)
{
    DType t;
    if (!onnx_dtype(data_type, &t))
        diag_listed(im->cx, UNSUPPORTED, where, "the elements have the type %s; use %s", onnx_type_text(im->cx,
                                                                                                        data_type),
                    onnx_types_text(im->cx));
}

static void check_constant_type(OnnxImport *im, const char *where, int64_t data_type)
{
    DType t;
    if (!onnx_constant_dtype(data_type, &t)) onnx_check_type(im, where, data_type);
}

static bool is_standard(const OnnxNode *n) { return !*n->domain || strcmp(n->domain, "ai.onnx") == 0; }

static const OnnxFunction *function_of(const OnnxScope *s, const OnnxNode *n)
{
    const OnnxFile *f = &s->import->file;
    for (int i = 0; i < f->function_count; i++)
        if (text_equal(f->function[i].name, n->type) && text_equal(f->function[i].domain, n->domain)
            && text_equal(f->function[i].overload, n->overload))
            return &f->function[i];
    return NULL;
}

/* Returns a function with the node's name and any overload, or NULL. */
static const OnnxFunction *function_near(const OnnxScope *s, const OnnxNode *n)
{
    const OnnxFile *f = &s->import->file;
    for (int i = 0; i < f->function_count; i++)
        if (text_equal(f->function[i].name, n->type) && text_equal(f->function[i].domain, n->domain))
            return &f->function[i];
    return NULL;
}

static const char *word_of_attr(Ctx *cx, const OnnxAttr *a)
{
    Text t = text_new(cx);
    if (a->s && *a->s) text_add(&t, a->s);
    else if (a->int_count)
        for (int i = 0; i < a->int_count; i++) text_printf(&t, "%s%lld", i ? "," : "", (long long)a->ints[i]);
    else if (a->f != 0) text_double(&t, a->f);
    else text_printf(&t, "%lld", (long long)a->i);
    return text_string(&t);
}

/* Translates an annotation without a row to an identity. Reports print the attributes of the node. */
static void carry_annotation(OnnxCall *c)
{
    Ctx *cx = c->cx;
    if (!onnx_requires(c, 1)) return;
    Attr *attr = NEW_ARRAY(cx->arena, Attr, c->node->attr_count);
    for (int i = 0; i < c->node->attr_count; i++)
        attr[i] = (Attr){ .name = name(cx, c->node->attr[i].name), .kind = ATTR_TEXT,
                          .text = word_of_attr(cx, &c->node->attr[i]) };
    Node *n = op_call(cx, op_find_annotation(cx, c->op_name), c->name, c->in, 1, attr, c->node->attr_count);
    if (n) c->out[0] = n->out[0];
}

static const OnnxOp *row_of_annotation(Ctx *cx, const OnnxNode *n)
{
    const char *op = text_format(cx, "annotation.%s", n->type);
    if (strcmp(n->domain, "loopwright.annotation") != 0 || !op_find_annotation(cx, op)) return NULL;
    Text attrs = text_new(cx);
    for (int i = 0; i < n->attr_count; i++) text_printf(&attrs, "%s%s", i ? " " : "", n->attr[i].name);
    OnnxOp *row = NEW(cx->arena, OnnxOp);
    *row = (OnnxOp){ ONNX_AS(n->type, 1, text_string(&attrs), op, carry_annotation) };
    return row;
}

/* Returns the node's row; the row of an operator of another domain is named DOMAIN.TYPE. */
static const OnnxOp *row_of(const OnnxScope *s, const OnnxNode *n)
{
    Ctx *cx = s->import->cx;
    const OnnxOp *row = onnx_op_find(cx, s->import->rows,
                                     is_standard(n) ? n->type : text_format(cx, "%s.%s", n->domain, n->type));
    const OnnxOp *foreign = row && is_standard(n) ? NULL : onnx_foreign_row(s->import, n);
    if (foreign) return foreign;
    return row || is_standard(n) ? row : row_of_annotation(cx, n);
}

/* Reports once that ONNX Runtime saved the file at its level ORT_ENABLE_ALL: convolutions and poolings have tiles of
 * channels as wide as the vectors of the machine that saved the file. */
static bool has_saved_layout(OnnxScope *s, const OnnxNode *n)
{
    OnnxImport *im = s->import;
    if (strcmp(n->domain, "com.microsoft.nchwc") != 0) return false;
    if (!im->has_saved_layout)
        diag_listed(im->cx, UNSUPPORTED, NULL,
                    "the file was saved by ONNX Runtime in the memory layout of the machine that saved it (operators "
                    "of the domain \"%s\"); use a file saved with `graph_optimization_level = ORT_ENABLE_EXTENDED`, or "
                    "the file before optimization", n->domain);
    im->has_saved_layout = true;
    return true;
}

static void list_unsupported_in_node(OnnxScope *s, const OnnxNode *n)
{
    Ctx *cx = s->import->cx;
    const char *where = onnx_where(cx, n);
    const OnnxOp *op = row_of(s, n);
    if (function_of(s, n) || (!op && has_saved_layout(s, n))) return;
    const char *near = op ? NULL : onnx_op_near(cx, s->import->rows, n->type);
    const OnnxFunction *other = *n->overload || !op ? function_near(s, n) : NULL;
    if (other) {
        diag_listed(cx, UNSUPPORTED, where, "the function %s has no overload \"%s\"; use \"%s\", which the file has",
                                            n->type,
                    n->overload, other->overload);
        return;
    }
    if (!op) {
        diag_listed(cx, UNSUPPORTED, where,
                    "the operator %s%s%s%s is not known; %s an operator that `loopwright ops --onnx` lists, or "
                    "compute it with your own C function, --extern %s", n->type,
                    is_standard(n) ? "" : " of the domain \"", is_standard(n) ? "" : n->domain,
                    is_standard(n) ? "" : "\"",
                    near ? text_format(cx, "did you mean '%s'? Otherwise use", near) : "use", n->type);
        return;
    }
    for (int i = 0; i < n->attr_count; i++) {
        if (!onnx_op_has_attr(op, n->attr[i].name))
            diag_listed(cx, UNSUPPORTED, where, "the attribute '%s' is not known; %s%s", n->attr[i].name,
                        *op->attrs ? "use one of " : "remove it", op->attrs);
        if (n->attr[i].tensor && n->attr[i].tensor->data_type != ONNX_STRING)
            check_constant_type(s->import, where, n->attr[i].tensor->data_type);
    }
}

static void list_unsupported(OnnxScope *s)
{
    for (int i = 0; i < s->ordered; i++) list_unsupported_in_node(s, s->order[i]);
    for (int i = 0; i < s->graph->initializer_count; i++) {
        const OnnxTensor *t = &s->graph->initializer[i];
        if (t->data_type == ONNX_STRING) continue;
        check_constant_type(s->import, text_format(s->import->cx, "tensor \"%s\"", t->name), t->data_type);
    }
}

/* ---- Node by node ------------------------------------------------------------------------------------------------ */

static void capture(Ctx *cx, OnnxCaptured *all, Tensor *outer, Tensor *inner)
{
    if (all->count == all->capacity) {
        Tensor **more[2];
        all->capacity = 2 * all->capacity + 8;
        for (int k = 0; k < 2; k++) more[k] = NEW_ARRAY(cx->arena, Tensor *, all->capacity);
        for (int i = 0; i < all->count; i++) more[0][i] = all->outer[i], more[1][i] = all->inner[i];
        all->outer = more[0];
        all->inner = more[1];
    }
    all->outer[all->count] = outer;
    all->inner[all->count++] = inner;
}

/* Returns the innermost graph of a region that contains the scope, or NULL for the model's own graph. */
static const void *region_of(const OnnxScope *s)
{
    while (s && !s->captured) s = s->outer ? s->outer : s->called_from;
    return s ? s->captured : NULL;
}

static Tensor *input_like(const OnnxScope *s, Tensor *outer)
{
    Tensor *inner = tensor_new(s->import->cx, outer->name, outer->type, outer->rank, outer->shape);
    if (inner) inner->quant = outer->quant;
    if (onnx_holds_strings(&s->import->strings, outer)) onnx_mark_strings(&s->import->strings, inner);
    onnx_set_range(s->import, inner, onnx_range_of(s->import, outer));
    capture(s->import->cx, s->captured, outer, inner);
    return inner;
}

/* Captures the value of an outer size that the run decides, because the calls that read the value must follow it. */
static void capture_size(const Expr *size, void *user)
{
    const OnnxScope *s = user;
    Decided *d = &s->import->decided;
    Tensor *value = decided_value_in(d, size, region_of(s->outer));
    if (!value || decided_value_in(d, size, s->captured)) return;
    Tensor *inner = input_like(s, value);
    onnx_set_range(s->import, inner, interval_of(s->import->cx, size, NULL));
    decided_enter_value(d, size, s->captured, inner);
}

static void capture_sizes(const OnnxScope *s, const Expr *const *size, int count)
{
    OnnxScope *scope = arena_copy(s->import->cx->arena, s, sizeof *s);
    for (int i = 0; i < count; i++) decided_visit(s->import->cx, size[i], capture_size, scope);
}

/* Captures a list of sizes, which is a list of sizes in the region's graph as well. */
static Tensor *captured_list(const OnnxScope *s, const Tensor *outer, const OnnxSizes *list)
{
    Tensor *inner = tensor_new(s->import->cx, outer->name, outer->type, outer->rank, outer->shape);
    capture_sizes(s, list->at, list->count);
    map_put_ptr(&s->import->sizes, inner, arena_copy(s->import->cx->arena, list, sizeof *list));
    return inner;
}

/* Returns the region's input that represents the outer tensor; a constant represents itself. */
static Tensor *captured(const OnnxScope *s, Tensor *outer)
{
    if (!s->captured || !outer || tensor_is_constant(outer)) return outer;
    const OnnxSizes *list = map_get_ptr(&s->import->sizes, outer);
    if (list) return captured_list(s, outer, list);
    for (int i = 0; i < s->captured->count; i++)
        if (s->captured->outer[i] == outer) return s->captured->inner[i];
    capture_sizes(s, outer->shape, outer->rank);
    return input_like(s, outer);
}

Tensor *onnx_scope_value(const OnnxScope *s, const char *value_name)
{
    Tensor *t = find_named(s->value, value_name);
    const OnnxTensor *constant = t ? NULL : find_named(&s->initializer, value_name);
    if (constant) {
        t = constant->data_type == ONNX_STRING ? onnx_string_tensor(s->import->cx, &s->import->strings, constant)
                                               : onnx_tensor_read(s->import->cx, constant, &s->import->folder);
        if (t) map_put_ptr(s->value, value_name, t);
    }
    if (t || !s->outer || find_named(&s->producer, value_name) || find_named(&s->input, value_name)) return t;
    t = captured(s, onnx_scope_value(s->outer, value_name));
    if (t && map_get_ptr(&s->import->sizes, t)) map_put_ptr(s->value, value_name, t);
    return t;
}

/* Returns true if 32-bit indices do not suffice. */
static bool is_too_large(Ctx *cx, const Tensor *t)
{
    return tensor_most_elems(cx, t) < 0 || tensor_most_elems(cx, t) > INT32_MAX;
}

static bool all_constant(const OnnxCall *c)
{
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && !tensor_is_constant(c->in[i])) return false;
    return true;
}

const OnnxList *onnx_scope_list(const OnnxScope *s, const char *value_name)
{
    const OnnxList *own = map_get_const_ptr(&s->list, value_name),
                   *outer = own || !s->outer ? NULL : onnx_scope_list(s->outer, value_name);
    if (!outer || !s->captured) return own ? own : outer;
    OnnxList *inner = NEW(s->import->cx->arena, OnnxList);
    *inner = (OnnxList){ outer->count, NEW_ARRAY(s->import->cx->arena, Tensor *, outer->count), outer->is_absent };
    for (int i = 0; i < outer->count; i++) inner->at[i] = captured(s, outer->at[i]);
    return inner;
}

/* Warns if the declared shape of an output contradicts the operator's definition. In that case the file is wrong, and
 * the operator's definition is used. */
static void compare_declared(const OnnxScope *s, const OnnxCall *c, int i, const Tensor *t)
{
    int64_t declared[MAX_RANK];
    const int rank = onnx_declared(c, i, declared);
    bool differs = rank >= 0 && rank != t->rank;
    for (int d = 0; d < rank && !differs; d++) differs = declared[d] > 0 && tensor_dim(t, d) >= 0 &&
        declared[d] != tensor_dim(t, d);
    if (!differs) return;
    Ctx *cx = s->import->cx;
    Text shape = text_new(cx);
    for (int d = 0; d < rank; d++) text_printf(&shape, declared[d] > 0 ? "[%lld]" : "[?]", (long long)declared[d]);
    diag_warn(cx, onnx_where(cx, c->node),
              "its output \"%s\" is %s by the operator's definition, but the file declares %s",
                 c->node->out[i], tensor_shape_text(cx, t), rank ? text_string(&shape) : "a scalar");
}

/* The node's last call takes the value's name; a value that is passed through keeps its own name. */
static void enter_result(OnnxScope *s, OnnxCall *c, int i)
{
    const char *value_name = c->node->out[i];
    Tensor *t = c->out[i];
    bool is_new = t && t->producer;
    const bool holds_strings = onnx_holds_strings(c->strings, t);
    if (!t || !*value_name) return;
    for (int j = 0; j < c->in_count; j++) is_new = is_new && t != c->in[j];
    if (is_new) t->name = value_name;
    if (is_new) t = all_constant(c) ? import_folded(s->import->cx, t) : onnx_decided_by_ranges(s->import, t);
    if (t && is_too_large(s->import->cx, t))
        diag_error(s->import->cx, onnx_where(s->import->cx, c->node),
                   "its output \"%s\" is %s; use fewer than 2^31 elements", value_name,
                   tensor_shape_text(s->import->cx, t));
    if (holds_strings) onnx_mark_strings(c->strings, t);
    file_node_result(s->import->cx, t, is_new);
    compare_declared(s, c, i, t);
    map_put_ptr(s->value, value_name, t);
}

void onnx_scope_report_missing(const OnnxScope *s, const char *value_name)
{
    const OnnxNode *producer = find_named(&s->producer, value_name);
    diag_unsupported(s->import->cx, producer ? onnx_where(s->import->cx, producer) : NULL,
                     "its output \"%s\" is not supported; use a model in which no node reads it", value_name);
}

/* Resolves attributes in a function's body that refer to an attribute of the caller. Substitutes the caller's attribute
 * or the function's default, and drops the attribute if neither exists. */
static const OnnxNode *with_attributes(OnnxScope *s, const OnnxNode *n)
{
    bool has_reference = false;
    for (int i = 0; i < n->attr_count; i++) has_reference = has_reference || n->attr[i].reference;
    if (!has_reference) return n;
    OnnxNode *copy = arena_copy(s->import->cx->arena, n, sizeof *n);
    copy->attr = NEW_ARRAY(s->import->cx->arena, OnnxAttr, n->attr_count);
    copy->attr_count = 0;
    for (int i = 0; i < n->attr_count; i++) {
        const OnnxAttr *a = &n->attr[i], *actual = a->reference ? NULL : a;
        for (int j = 0; !actual && s->caller && j < s->caller->attr_count; j++)
            if (strcmp(s->caller->attr[j].name, a->reference) == 0) actual = &s->caller->attr[j];
        for (int j = 0; !actual && s->function && j < s->function->attr_count; j++)
            if (strcmp(s->function->attr[j].name, a->reference) == 0) actual = &s->function->attr[j];
        if (!actual) continue;
        copy->attr[copy->attr_count] = *actual;
        copy->attr[copy->attr_count++].name = a->name;
    }
    return copy;
}

static void run_function(OnnxScope *s, OnnxCall *c, const OnnxFunction *f)
{
    OnnxScope *inner = onnx_scope(s->import, &f->body, NULL);
    inner->depth = s->depth + 1;
    inner->word = f->name;
    inner->function = f;
    inner->caller = c->node;
    inner->called_from = s;
    if (f->opset) inner->opset = f->opset;
    if (inner->depth > ONNX_DEEPEST)
        onnx_unsupported(c, "functions that call one another, or themselves, more than %d deep", ONNX_DEEPEST);
    if (c->in_count > f->body.input_count)
        onnx_refuse(c, "it has %d inputs; use at most the %d inputs of the function", c->in_count,
                    f->body.input_count);
    if (ctx_failed(s->import->cx)) return;
    onnx_scope_order(inner);
    for (int i = 0; i < c->in_count; i++) onnx_scope_bind(inner, f->body.input[i].name, c->in[i]);
    onnx_scope_run(inner);
    for (int i = 0; i < f->body.output_count && i < ONNX_OUTPUTS && !ctx_failed(s->import->cx); i++)
        c->out[i] = onnx_scope_value(inner, f->body.output[i].name);
}

/* Returns true for a function's input that the caller omits; it is absent in the body. */
static bool is_absent(const OnnxScope *s, const char *value_name)
{
    return !*value_name || (s->function && find_named(&s->input, value_name) && !find_named(s->value, value_name));
}

/* Translates a node. Refuses inputs that its operator does not have, and strings if the operator computes with
 * numbers. */
static void translate(OnnxCall *c, const OnnxOp *row)
{
    bool any = false;
    if (c->in_count > row->most_inputs)
        onnx_refuse(c, "it has %d inputs; use at most %d inputs", c->in_count, row->most_inputs);
    for (int i = 0; i < c->in_count; i++) {
        const bool is_text = onnx_holds_strings(c->strings, c->in[i]);
        if (is_text && row->strings == STRINGS_REFUSED)
            onnx_unsupported(c, "its input \"%s\" holds strings; use numbers", c->node->in[i]);
        any = any || is_text;
    }
    if (ctx_failed(c->cx)) return;
    if (!onnx_translate_open(c, row)) onnx_translate(c, row);
    for (int i = 0; any && row->strings == STRINGS_MOVED && i < c->node->out_count && i < ONNX_OUTPUTS; i++)
        onnx_mark_strings(c->strings, c->out[i]);
}

static void import_node(OnnxScope *s, const OnnxNode *n)
{
    Ctx *cx = s->import->cx;
    OnnxCall call = { .cx = cx,
                      .node = with_attributes(s, n),
                      .opset = s->opset,
                      .folder = &s->import->folder,
                      .rows = s->import->rows,
                      .strings = &s->import->strings,
                      .name = n->name,
                      .scope = s };
    OnnxCall *const c = &call;
    c->in = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    c->list = NEW_ARRAY(cx->arena, const OnnxList *, n->in_count);
    for (int i = 0; i < n->in_count && !ctx_failed(cx); i++) {
        if (is_absent(s, n->in[i])) continue;
        c->list[i] = onnx_scope_list(s, n->in[i]);
        c->in[i] = c->list[i] ? NULL : onnx_scope_value(s, n->in[i]);
        c->in_count = i + 1;
        if (!c->in[i] && !c->list[i] && !ctx_failed(cx)) onnx_scope_report_missing(s, n->in[i]);
    }
    if (ctx_failed(cx)) return;
    const OnnxFunction *f = function_of(s, n);
    if (f) run_function(s, c, f);
    else translate(c, row_of(s, n));
    for (int i = 0; i < n->out_count && i < ONNX_OUTPUTS && !ctx_failed(cx); i++)
        if (c->out_list[i]) map_put_const_ptr(&s->list, n->out[i], c->out_list[i]);
        else enter_result(s, c, i);
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static bool has_sizes(const OnnxValue *v)
{
    bool has_all = v->is_tensor && v->has_shape && v->rank <= MAX_RANK;
    for (int d = 0; d < v->rank && has_all; d++) has_all = v->dim[d].size >= 0;
    return has_all;
}

static void enter_declared(OnnxScope *s)
{
    const OnnxGraph *g = s->graph;
    for (int i = 0; i < g->output_count + g->value_count; i++) {
        const OnnxValue *v = i < g->output_count ? &g->output[i] : &g->value[i - g->output_count];
        if (*v->name && has_sizes(v) && !map_get_const_ptr(&s->declared, v->name))
            map_put_const_ptr(&s->declared, v->name, v);
    }
}

OnnxScope *onnx_scope(OnnxImport *im, const OnnxGraph *g, const OnnxScope *outer)
{
    OnnxScope *s = NEW(im->cx->arena, OnnxScope);
    *s = (OnnxScope){ .import = im,
                      .graph = g,
                      .word = "",
                      .outer = outer,
                      .depth = outer ? outer->depth + 1 : 0,
                      .opset = outer ? outer->opset : im->file.opset };
    if (outer) s->function = outer->function, s->caller = outer->caller;
    s->producer = s->initializer = s->input = s->list = s->declared = map_new(im->cx->arena);
    s->value = NEW(im->cx->arena, Map);
    *s->value = map_new(im->cx->arena);
    enter_declared(s);
    return s;
}

/* Adds values that attributes name to the captures, because their nodes depend on these values. */
static void add_named_values(OnnxScope *s)
{
    Ctx *cx = s->import->cx;
    for (int k = 0; k < s->graph->node_count; k++) {
        OnnxNode *n = &s->graph->node[k];
        const OnnxOp *row = is_standard(n) ? NULL : row_of(s, n);
        for (int a = 0; row && row->value_attr && a < n->attr_count; a++) {
            if (!text_equal(n->attr[a].name, row->value_attr) || !n->attr[a].s) continue;
            const char **capture = NEW_ARRAY(cx->arena, const char *, n->capture_count + 1);
            for (int i = 0; i < n->capture_count; i++) capture[i] = n->capture[i];
            capture[n->capture_count++] = n->attr[a].s;
            n->capture = capture;
        }
    }
}

void onnx_scope_order(OnnxScope *s)
{
    enter_names(s);
    add_named_values(s);
    if (!ctx_failed(s->import->cx)) order_nodes(s);
    if (!ctx_failed(s->import->cx)) list_unsupported(s);
}

static FileNode *listed(OnnxScope *s, int number)
{
    const OnnxNode *n = &s->graph->node[number];
    return file_node(s->import->nodes, s->word, number, n->type, n->name);
}

static void list_reads(OnnxScope *s, int number)
{
    const OnnxNode *n = &s->graph->node[number];
    const int count = n->in_count + n->capture_count;
    for (int i = 0; i < count; i++) {
        const OnnxNode *from = *dependence(n, i) ? find_named(&s->producer, dependence(n, i)) : NULL;
        if (from) file_node_reads(s->import->nodes, listed(s, number), listed(s, (int)(from - s->graph->node)), count);
    }
}

void onnx_scope_run(OnnxScope *s)
{
    Ctx *cx = s->import->cx;
    for (int i = 0; i < s->graph->node_count; i++) listed(s, i);
    for (int i = 0; i < s->graph->node_count; i++) list_reads(s, i);
    for (int i = 0; i < s->ordered && !ctx_failed(cx); i++) {
        const FileNode *outer = file_node_enter(cx, listed(s, (int)(s->order[i] - s->graph->node)));
        import_node(s, s->order[i]);
        file_node_enter(cx, outer);
    }
}

void onnx_scope_bind(OnnxScope *s, const char *value_name, Tensor *t)
{
    if (t) map_put_ptr(s->value, value_name, t);
}

int onnx_iterations(const OnnxScope *s, Tensor **out, int most)
{
    const OnnxScope *enclosing = s->outer ? s->outer : s->called_from;
    int own = 0;
    if (s->iteration && most > 0) out[own++] = s->iteration;
    const int count = own + (enclosing ? onnx_iterations(enclosing, out + own, most - own) : 0);
    for (int i = own; i < count; i++) out[i] = captured(s, out[i]);
    return count;
}

/* Returns the name of the attribute that holds the graph. */
static const char *word_of_graph(const OnnxNode *n, const OnnxGraph *g)
{
    for (int i = 0; i < n->attr_count; i++)
        if (n->attr[i].graph == g) return n->attr[i].name;
    return "graph";
}

/* Creates the scope of a graph of the node, with its nodes in order; the graph takes in_count inputs. */
static OnnxScope *inner_scope(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, int in_count, OnnxCaptured *all)
{
    OnnxScope *inner = onnx_scope(c->scope->import, g, c->scope);
    inner->word = word_of_graph(c->node, g);
    inner->captured = all;
    inner->iteration = iteration;
    if (inner->depth > ONNX_DEEPEST) onnx_unsupported(c, "graphs nested more than %d deep", ONNX_DEEPEST);
    if (in_count > g->input_count)
        onnx_refuse(c, "its graph has %d inputs; use at least %d inputs", g->input_count, in_count);
    if (!ctx_failed(c->cx)) onnx_scope_order(inner);
    return inner;
}

bool onnx_run_captured(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, Tensor *const *in, int in_count,
                       OnnxCaptured *all, Tensor **out)
{
    Decided *d = &c->scope->import->decided;
    const void *region = d->region;
    if (ctx_failed(c->cx)) return false;
    OnnxScope *inner = inner_scope(c, g, iteration, in_count, all);
    d->region = region_of(inner);
    for (int i = 0; i < in_count && !ctx_failed(c->cx); i++) {
        onnx_scope_bind(inner, g->input[i].name, in[i]);
        if (all && in[i]) capture_sizes(inner, in[i]->shape, in[i]->rank);
    }
    onnx_scope_run(inner);
    for (int i = 0; i < g->output_count && !ctx_failed(c->cx); i++) {
        out[i] = onnx_scope_value(inner, g->output[i].name);
        if (all) out[i] = onnx_materialize_sizes(c->scope->import, out[i]);
        if (!out[i] && !ctx_failed(c->cx)) onnx_scope_report_missing(inner, g->output[i].name);
        if (all && onnx_holds_strings(c->strings, out[i]))
            onnx_unsupported(c, "strings as the result of a branch or loop decided at run time");
    }
    d->region = region;
    return !ctx_failed(c->cx);
}

bool onnx_run_graph(OnnxCall *c, const OnnxGraph *g, Tensor *iteration, Tensor *const *in, int in_count, Tensor **out)
{
    return onnx_run_captured(c, g, iteration, in, in_count, NULL, out);
}

bool onnx_run_lists(OnnxCall *c, const OnnxGraph *g, Tensor *const *in, const OnnxList *const *in_list, int in_count)
{
    if (ctx_failed(c->cx)) return false;
    OnnxScope *inner = inner_scope(c, g, NULL, in_count, NULL);
    for (int i = 0; i < in_count && !ctx_failed(c->cx); i++)
        if (in_list[i]) map_put_const_ptr(&inner->list, g->input[i].name, in_list[i]);
        else onnx_scope_bind(inner, g->input[i].name, in[i]);
    onnx_scope_run(inner);
    for (int i = 0; i < g->output_count && i < ONNX_OUTPUTS && !ctx_failed(c->cx); i++) {
        const char *value_name = g->output[i].name;
        c->out_list[i] = onnx_scope_list(inner, value_name);
        c->out[i] = c->out_list[i] ? NULL : onnx_scope_value(inner, value_name);
        if (!c->out[i] && !c->out_list[i] && !ctx_failed(c->cx)) onnx_scope_report_missing(inner, value_name);
    }
    return !ctx_failed(c->cx);
}

Tensor *onnx_before_cast(const OnnxCall *c, int input)
{
    const Tensor *to = onnx_in(c, input);
    const OnnxNode *n = to && c->scope ? find_named(&c->scope->producer, c->node->in[input]) : NULL;
    if (!n || !text_equal(n->type, "Cast") || *n->domain || n->in_count != 1 || to->type != F32) return NULL;
    Tensor *from = onnx_scope_value(c->scope, n->in[0]);
    return from && dtype_is_integer(from->type) && dtype_info(from->type)->bytes <= 2 ? from : NULL;
}

int64_t onnx_constant_type(const OnnxCall *c, int input)
{
    const char *value_name = input < c->node->in_count ? c->node->in[input] : "";
    const OnnxTensor *t = NULL;
    for (const OnnxScope *s = c->scope; s && !t; s = s->outer) t = find_named(&s->initializer, value_name);
    return t ? t->data_type : 0;
}

int onnx_declared(const OnnxCall *c, int output, int64_t *shape)
{
    const char *value_name = output < c->node->out_count ? c->node->out[output] : "";
    const OnnxValue *v = *value_name ? find_named(&c->scope->declared, value_name) : NULL;
    for (int d = 0; v && d < v->rank; d++)
        if ((shape[d] = v->dim[d].size) < 0) return -1;
    return v ? v->rank : -1;
}
