/* SPDX-License-Identifier: MIT */
/* From what an ONNX file says to calls of our operators:
 *
 *   1. who makes which value; the nodes that the outputs need, in the file's order where that is a valid one
 *   2. everything that is not known, all at once: operators, attributes, element types, symbolic dimensions
 *   3. node by node: translate; what has become constant and is small is evaluated at once, so that chains of shape
 *      arithmetic are numbers when a Reshape or Slice looks at them */
#include "import/onnx.h"

#include <string.h>

#include "import/npy.h"
#include "import/onnx_ops.h"
#include "ir/evaluate.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

enum { OLDEST_OPSET = 1, NEWEST_OPSET = 25, SMALL_RESULT = 1024, SMALL_WORK = 4096,
       MOST_WORK = 1 << 15 };         /* nodes and their inputs: bounds the time and memory that a hostile file may cost */

typedef struct Importer {
    Ctx *cx;
    OnnxFolder folder;
    const ImportOptions *options;
    OnnxFile file;
    Map maker;                    /* name of a value -> OnnxNode */
    Map initializer;              /* -> OnnxTensor */
    Map graph_input;              /* -> OnnxValue */
    Map value;                    /* -> Tensor, as far as made */
    Tensor **input; int input_count;
    int ordered; OnnxNode **order;
} Importer;

/* Names are interned, so their addresses are keys. */
static void *known(const Map *m, const char *value_name) { return map_get_ptr(m, value_name); }

/* ---- 1. Who makes what ------------------------------------------------------------------------------------------ */

static void enter(Importer *im, Map *m, const char *value_name, void *who, const char *what)
{
    if (!*value_name) return;
    if (known(m, value_name)) diag_error(im->cx, NULL, "the %s \"%s\" is there twice", what, value_name);
    map_put_ptr(m, value_name, who);
}

static void enter_names(Importer *im)
{
    OnnxFile *f = &im->file;
    im->maker = im->initializer = im->graph_input = im->value = map_new(im->cx->arena);
    for (int i = 0; i < f->initializer_count; i++) enter(im, &im->initializer, f->initializer[i].name, &f->initializer[i], "initializer");
    for (int i = 0; i < f->input_count; i++) enter(im, &im->graph_input, f->input[i].name, &f->input[i], "input");
    for (int i = 0; i < f->node_count; i++)
        for (int j = 0; j < f->node[i].out_count; j++) {
            const char *out = f->node[i].out[j];
            if (*out && (known(&im->initializer, out) || known(&im->graph_input, out)))
                diag_error(im->cx, onnx_where(im->cx, &f->node[i]), "its output \"%s\" is an input or initializer of the graph already", out);
            enter(im, &im->maker, out, &f->node[i], "value");
        }
}

/* Depth first from the outputs, without recursion: a node is placed when its makers are. */
typedef struct Visit { OnnxNode *node; int next; } Visit;
typedef struct Walk { Map mark; Visit *stack; int depth; } Walk;
static const char OPEN[] = "open", DONE[] = "done";

static void push(Importer *im, Walk *w, OnnxNode *n)
{
    const void *mark = map_get_ptr(&w->mark, n);
    if (mark == OPEN) diag_error(im->cx, onnx_where(im->cx, n), "the graph has a cycle: this node needs its own output");
    if (mark) return;
    map_put_ptr(&w->mark, n, (void *)(uintptr_t)OPEN);
    w->stack[w->depth++] = (Visit){ n, 0 };
}

static void need_value(Importer *im, Walk *w, const char *value_name, const char *where)
{
    OnnxNode *maker = known(&im->maker, value_name);
    if (maker) push(im, w, maker);
    else if (!known(&im->initializer, value_name) && !known(&im->graph_input, value_name))
        diag_error(im->cx, where, "nothing makes the value \"%s\"", value_name);
}

static int mark_needed(Importer *im, Walk *w)
{
    int count = 0;
    for (int i = 0; i < im->file.output_count; i++) {
        need_value(im, w, im->file.output[i].name, "output");
        while (w->depth && !ctx_failed(im->cx)) {
            Visit *v = &w->stack[w->depth - 1];
            if (v->next < v->node->in_count) {
                const char *in = v->node->in[v->next++];
                if (*in) need_value(im, w, in, onnx_where(im->cx, v->node));
                continue;
            }
            map_put_ptr(&w->mark, v->node, (void *)(uintptr_t)DONE);
            if (im->order) im->order[count] = v->node;
            count++;
            w->depth--;
        }
    }
    return count;
}

/* Whether the nodes found, taken in the file's order, stand behind their makers. */
static bool file_order_is_valid(Importer *im, const Walk *w)
{
    Map seen = map_new(im->cx->arena);
    for (int i = 0; i < im->file.node_count; i++) {
        OnnxNode *n = &im->file.node[i];
        if (!map_get_ptr(&w->mark, n)) continue;
        for (int j = 0; j < n->in_count; j++) {
            OnnxNode *maker = *n->in[j] ? known(&im->maker, n->in[j]) : NULL;
            if (maker && !map_get_ptr(&seen, maker)) return false;
        }
        map_put_ptr(&seen, n, n);
    }
    return true;
}

static void check_size(Importer *im)
{
    int64_t work = 0;
    for (int i = 0; i < im->ordered; i++) work += 1 + im->order[i]->in_count;
    if (work > MOST_WORK) diag_unsupported(im->cx, NULL, "a graph whose nodes and their inputs are %lld together; at most %d are accepted", (long long)work, MOST_WORK);
}

static void order_nodes(Importer *im)
{
    Walk w = { map_new(im->cx->arena), NEW_ARRAY(im->cx->arena, Visit, im->file.node_count), 0 };
    im->order = NEW_ARRAY(im->cx->arena, OnnxNode *, im->file.node_count);
    im->ordered = mark_needed(im, &w);
    if (!ctx_failed(im->cx)) check_size(im);
    if (ctx_failed(im->cx) || !file_order_is_valid(im, &w)) return;
    int count = 0;
    for (int i = 0; i < im->file.node_count; i++)
        if (map_get_ptr(&w.mark, &im->file.node[i])) im->order[count++] = &im->file.node[i];
}

/* ---- 2. What is not known ---------------------------------------------------------------------------------------- */

static void list_unknown_type(Importer *im, const char *where, int64_t data_type)
{
    DType t;
    const char *text = onnx_type_text(data_type);
    if (!onnx_dtype(data_type, &t))
        diag_listed(im->cx, UNSUPPORTED, where, "elements of type %s", text ? text : text_format(im->cx, "%lld", (long long)data_type));
}

static void list_unknown_in_node(Importer *im, const OnnxNode *n)
{
    Ctx *cx = im->cx;
    const char *where = onnx_where(cx, n);
    bool is_ours = !*n->domain || strcmp(n->domain, "ai.onnx") == 0;
    const OnnxOp *op = is_ours ? onnx_op_find(n->type) : NULL;
    const char *near = op ? NULL : onnx_op_near(cx, n->type);
    if (!op) {
        diag_listed(cx, UNSUPPORTED, where, "the operator %s%s%s%s is not known%s%s", n->type, is_ours ? "" : " of the domain \"",
                    is_ours ? "" : n->domain, is_ours ? "" : "\"", near ? "; near: " : "", near ? near : "");
        return;
    }
    for (int i = 0; i < n->attr_count; i++) {
        if (!onnx_op_knows_attr(op, n->attr[i].name))
            diag_listed(cx, UNSUPPORTED, where, "the attribute '%s' is not known; known: %s", n->attr[i].name, *op->attrs ? op->attrs : "none");
        if (n->attr[i].tensor) list_unknown_type(im, where, n->attr[i].tensor->data_type);
    }
}

/* The size that the options give a dimension, or -1. */
static int64_t dim_option(Importer *im, const OnnxValue *v, int axis)
{
    const char *symbol = v->dim[axis].symbol;
    const char *place = text_format(im->cx, "%s.%d", v->name, axis);
    for (int i = 0; i < im->options->dim_count; i++) {
        const ImportDim *d = &im->options->dim[i];
        if (!(symbol && *symbol && strcmp(d->name, symbol) == 0) && strcmp(d->name, place) != 0) continue;
        if (im->options->is_dim_used) im->options->is_dim_used[i] = true;
        if (d->is_maximum) diag_listed(im->cx, UNSUPPORTED, NULL, "a dimension that stays open up to a maximum: --dim %s<=%lld", d->name, (long long)d->value);
        return d->value;
    }
    return -1;
}

static const char *value_option(const Importer *im, const char *input_name)
{
    const ImportOptions *o = im->options;
    for (int i = 0; i < o->value_count; i++) {
        if (strcmp(o->value[i].name, input_name) != 0) continue;
        if (o->is_value_used) o->is_value_used[i] = true;
        return o->value[i].path;
    }
    return NULL;
}

static bool is_real_input(const Importer *im, const OnnxValue *v)
{
    return !known(&im->initializer, v->name) && !value_option(im, v->name);
}

static bool same_symbol(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* Open by the same name as the first dimension of every input, and no size is given: that is the batch, and it is 1. */
static void settle_batch(Importer *im)
{
    const OnnxValue *first = NULL;
    for (int i = 0; i < im->file.input_count; i++) {
        const OnnxValue *v = &im->file.input[i];
        if (!is_real_input(im, v)) continue;
        if (!first) first = v;
        if (v->rank < 2 || v->rank > MAX_RANK || v->dim[0].size >= 0 || dim_option(im, v, 0) >= 0 || !same_symbol(v->dim[0].symbol, first->dim[0].symbol)) return;
    }
    if (!first) return;
    const char *symbol = first->dim[0].symbol ? first->dim[0].symbol : "";
    diag_warn(im->cx, NULL, "the first dimension of every input is open%s%s%s: a batch of 1 is taken; --dim gives another", *symbol ? " (\"" : "", symbol, *symbol ? "\")" : "");
    for (int i = 0; i < im->file.input_count; i++)
        if (is_real_input(im, &im->file.input[i])) im->file.input[i].dim[0].size = 1;
}

/* Settles the input's dimensions; complains of all that are open or absurd. */
static void list_open_dims(Importer *im, OnnxValue *v)
{
    Ctx *cx = im->cx;
    const char *where = text_format(cx, "input \"%s\"", v->name);
    if (!v->is_tensor || !v->has_shape) {
        diag_listed(cx, UNSUPPORTED, where, v->is_tensor ? "a tensor without a shape" : "a value that is no tensor");
        return;
    }
    list_unknown_type(im, where, v->data_type);
    for (int d = 0; d < v->rank; d++) {
        int64_t given = dim_option(im, v, d);
        const char *symbol = v->dim[d].symbol;
        bool has_symbol = symbol && *symbol;
        if (given >= 0 && (has_symbol || v->dim[d].size < 0)) v->dim[d].size = given;
        if (v->dim[d].size < 0)
            diag_listed(cx, ERROR, where, "dimension %d is %s%s%s: give its size, as in --dim %s=1", d, has_symbol ? "open (\"" : "open",
                        has_symbol ? symbol : "", has_symbol ? "\")" : "", has_symbol ? symbol : text_format(cx, "%s.%d", v->name, d));
        else if (v->dim[d].size == 0 || v->dim[d].size > INT32_MAX)
            diag_listed(cx, ERROR, where, "dimension %d is %lld; 1 to %ld is accepted", d, (long long)v->dim[d].size, (long)INT32_MAX);
    }
}

static void list_unknown(Importer *im)
{
    for (int i = 0; i < im->ordered; i++) list_unknown_in_node(im, im->order[i]);
    for (int i = 0; i < im->file.initializer_count; i++)
        list_unknown_type(im, text_format(im->cx, "tensor \"%s\"", im->file.initializer[i].name), im->file.initializer[i].data_type);
    settle_batch(im);
    for (int i = 0; i < im->file.input_count; i++)
        if (is_real_input(im, &im->file.input[i])) list_open_dims(im, &im->file.input[i]);
}

/* ---- 3. Inputs, nodes, outputs ----------------------------------------------------------------------------------- */

/* Indices are 32 bits wide. */
static bool is_too_large(const Tensor *t) { return tensor_elems(t) < 0 || tensor_elems(t) > INT32_MAX; }

static Tensor *constant_from_file(Importer *im, const char *value_name, const char *path)
{
    DType t;
    int rank;
    int64_t shape[MAX_RANK];
    void *data;
    return npy_read(im->cx, path, &t, &rank, shape, &data) ? tensor_constant(im->cx, value_name, t, rank, shape, data) : NULL;
}

static void make_inputs(Importer *im)
{
    im->input = NEW_ARRAY(im->cx->arena, Tensor *, im->file.input_count);
    for (int i = 0; i < im->file.input_count && !ctx_failed(im->cx); i++) {
        const OnnxValue *v = &im->file.input[i];
        const char *path = value_option(im, v->name);
        DType type;
        int64_t shape[MAX_RANK];
        Tensor *t = path ? constant_from_file(im, v->name, path) : NULL;
        if (is_real_input(im, v) && onnx_dtype(v->data_type, &type)) {
            for (int d = 0; d < v->rank; d++) shape[d] = v->dim[d].size;
            t = tensor_new_fixed(im->cx, v->name, type, v->rank, shape);
            if (t && is_too_large(t)) diag_error(im->cx, text_format(im->cx, "input \"%s\"", v->name), "it is too large");
            im->input[im->input_count++] = t;
        }
        if (t) map_put_ptr(&im->value, v->name, t);
    }
}

static Tensor *value_named(Importer *im, const char *value_name)
{
    Tensor *t = known(&im->value, value_name);
    const OnnxTensor *constant = t ? NULL : known(&im->initializer, value_name);
    if (constant) {
        t = onnx_tensor_read(im->cx, constant, &im->folder);
        if (t) map_put_ptr(&im->value, value_name, t);
    }
    return t;
}

static bool is_small(const Node *n)
{
    int64_t work = 0;
    for (int i = 0; i < n->in_count; i++) {
        int64_t elems = n->in[i] ? tensor_elems(n->in[i]) : 0;
        if (elems < 0 || elems > SMALL_WORK) return false;
        work += elems;
    }
    return work <= SMALL_WORK;
}

/* The tensor as a constant, if it is made of small constants alone; else the tensor itself. */
static Tensor *folded(Ctx *cx, Tensor *t)
{
    Node *n = t ? t->maker : NULL;
    int64_t shape[MAX_RANK];
    if (ctx_failed(cx) || !n || t->data || n->kind != NODE_CALL || tensor_elems(t) < 0 || tensor_elems(t) > SMALL_RESULT || !is_small(n)) return t;
    Env *env = env_new(cx);
    for (int i = 0; i < n->in_count; i++) {
        Tensor *in = n->in[i] ? folded(cx, n->in[i]) : NULL;
        if (in && !in->data) return t;
        if (in) env_set(env, n->in[i], (void *)(uintptr_t)in->data);
    }
    Tensor *const *out = op_expand(cx, n);
    if (!out || !evaluate(cx, env, &out[t->output], 1)) return t;
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    return tensor_constant(cx, t->name, t->type, t->rank, shape, env_get(env, out[t->output]));
}

static bool all_constant(const OnnxCall *c)
{
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && !tensor_is_constant(c->in[i])) return false;
    return true;
}

/* The last call of a node carries the name of the value; a value that is passed on keeps its own. */
static void enter_result(Importer *im, OnnxCall *c, int i)
{
    const char *value_name = c->node->out[i];
    Tensor *t = c->out[i];
    bool is_new = true;
    if (!t || !*value_name) return;
    for (int j = 0; j < c->in_count; j++) is_new = is_new && t != c->in[j];
    if (is_new) t->name = value_name;
    if (is_new && all_constant(c)) t = folded(im->cx, t);
    if (t && is_too_large(t)) diag_error(im->cx, onnx_where(im->cx, c->node), "its output \"%s\" is too large: %s", value_name, tensor_shape_text(im->cx, t));
    map_put_ptr(&im->value, value_name, t);
}

static void not_made(Importer *im, const char *value_name)
{
    const OnnxNode *maker = known(&im->maker, value_name);
    diag_unsupported(im->cx, maker ? onnx_where(im->cx, maker) : NULL, "its output \"%s\" is used, but not among those that are made", value_name);
}

static void import_node(Importer *im, const OnnxNode *n)
{
    OnnxCall *c = NEW(im->cx->arena, OnnxCall);
    *c = (OnnxCall){ .cx = im->cx, .node = n, .opset = im->file.opset, .folder = &im->folder, .name = n->name };
    c->in = NEW_ARRAY(im->cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count && !ctx_failed(im->cx); i++) {
        if (!*n->in[i]) continue;
        c->in[i] = value_named(im, n->in[i]);
        c->in_count = i + 1;
        if (!c->in[i]) not_made(im, n->in[i]);
    }
    if (ctx_failed(im->cx)) return;
    onnx_translate(c, onnx_op_find(n->type));
    for (int i = 0; i < n->out_count && i < ONNX_OUTPUTS && !ctx_failed(im->cx); i++) enter_result(im, c, i);
}

/* An output that is an input, a constant, or another output already gets a copy of its own. */
static Tensor *output_of_its_own(Importer *im, const char *value_name, Tensor *const *others, int count)
{
    Tensor *t = value_named(im, value_name);
    bool is_shared = !t || !t->maker;
    for (int i = 0; i < count; i++) is_shared = is_shared || others[i] == t;
    if (!t) not_made(im, value_name);
    else if (tensor_elems(t) == 0) diag_unsupported(im->cx, text_format(im->cx, "output \"%s\"", value_name), "it has no elements");
    if (is_shared) t = t ? call(im->cx, "identity", value_name, &t, 1, "") : NULL;
    if (t) t->name = value_name;
    return t;
}

static void make_model(Importer *im, Model *out)
{
    int count = im->file.output_count;
    *out = (Model){ .name = im->file.graph_name, .input_count = im->input_count, .input = im->input };
    out->output = NEW_ARRAY(im->cx->arena, Tensor *, count);
    for (int i = 0; i < count && !ctx_failed(im->cx); i++)
        out->output[out->output_count++] = output_of_its_own(im, im->file.output[i].name, out->output, i);
    if (!count) diag_error(im->cx, NULL, "the graph has no outputs");
}

static void check_opset(Importer *im)
{
    long long opset = (long long)im->file.opset;
    if (opset < OLDEST_OPSET) diag_unsupported(im->cx, NULL, "operator set %lld; %d to %d are accepted", opset, OLDEST_OPSET, NEWEST_OPSET);
    if (opset > NEWEST_OPSET) diag_warn(im->cx, NULL, "operator set %lld is newer than %d, the newest that is known", opset, NEWEST_OPSET);
}

bool onnx_read(Ctx *cx, const char *path, Bytes bytes, const ImportOptions *options, Model *out)
{
    static const ImportOptions none = { 0 };
    Importer *im = NEW(cx->arena, Importer);
    *im = (Importer){ .cx = cx, .folder = { path_folder(cx, path), map_new(cx->arena) }, .options = options ? options : &none };
    *out = (Model){ .name = "" };
    const char *outer = cx->file;
    cx->file = path;
    if (onnx_file_read(cx, bytes, &im->file)) {
        check_opset(im);
        enter_names(im);
        if (!ctx_failed(cx)) order_nodes(im);
        if (!ctx_failed(cx)) list_unknown(im);
        if (!ctx_failed(cx)) make_inputs(im);
        for (int i = 0; i < im->ordered && !ctx_failed(cx); i++) import_node(im, im->order[i]);
        if (!ctx_failed(cx)) make_model(im, out);
    }
    cx->file = outer;
    return !ctx_failed(cx);
}
