/* SPDX-License-Identifier: MIT */
/* Reads .te files (te.h defines the language), statement by statement. */
#include "import/te/te.h"

#include <float.h>
#include <string.h>

#include "graph/dag/definition.h"
#include "import/formats/npy.h"
#include "import/formats/given_value.h"
#include "import/model/file_nodes.h"
#include "ir/algebra/algebra.h"
#include "ir/text/read.h"
#include "schedule/program.h"
#include "support/file.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* MOST_IN_NEST bounds the check of a nest, whose time is quadratic in the stages. MOST_CALLS bounds the memory for a
 * hostile file. */
enum { MOST_IN_NEST = 2048, MOST_CALLS = 200000 };

typedef struct TeReader {
    Ctx *cx;
    const char *path, *text;
    const ImportOptions *options;
    const Symbol *symbols;              /* the sizes and tensors read so far */
    bool is_nest;                    /* true if the file is one nest, in which calls are expanded to stages */
    Model *model;                    /* the model, and the capacity of its arrays */
    TeSchedule *schedule;
    WrittenStep *step; int step_count;
    int *line_count;                 /* the number of lines of the schedule or function that is being read */
    int includes;                    /* the depth of included files */
    StatePair *inout;                /* the in-out tensors; their outputs are found at the end */
    Map inner;                       /* the names of nested calls that are in use */
    FileNodes *nodes;                /* the statements with results */
    const char *counted; int line;   /* the number of the line that holds this character */
} TeReader;

/* ---- Statements in the text ------------------------------------------------------------------------------------- */

/* Returns the end of the statement at s: the end of the first line that leaves no bracket open and does not end with a
 * comma. */
static const char *end_of_statement(const char *s)
{
    int depth = 0;
    bool goes_on = false;
    for (; *s; s++) {
        if (*s == '#') s += strcspn(s, "\n");
        if (*s && !strchr(" \t\r\n", *s)) goes_on = *s == ',';
        if (strchr("([{", *s) && *s) depth++;
        if (strchr(")]}", *s) && *s) depth--;
        if (*s == '"') s += 1 + strcspn(s + 1, "\"\n");
        if (!*s || (*s == '\n' && depth <= 0 && !goes_on)) break;
    }
    return s;
}

static Lexer lex_statement(const TeReader *r, const char *begin, const char *end)
{
    return lex_part(r->cx, r->text, (size_t)(begin - r->text), (size_t)(end - r->text), true, "te");
}

static bool is_indented(const char *s) { return *s == ' ' || *s == '\t'; }

/* ---- Declarations ----------------------------------------------------------------------------------------------- */

static void define(TeReader *r, const Lexer *l, Token at, Tensor *t)
{
    const Symbol *k = symbol_tensor(r->symbols, at);
    if (!k) k = symbol_value(r->symbols, at);
    if (k && k->is_promised && k->tensor == t) return;
    if (k) lex_error(l, at, "'%s' is already defined; use a new name", k->name);
    if (t) r->symbols = symbol_add(r->cx, r->symbols, name_n(r->cx, at.at, (size_t)at.length), t, NULL);
}

/* Reads a size. --dim makes it a constant, or lowers its maximum. */
static void read_size(TeReader *r, Lexer *l)
{
    Token at = lex_peek(l);
    if (!size_read(l, &r->symbols)) return;
    const Var *v = expr_as_var(r->symbols->value);
    for (int i = 0; r->options && i < r->options->dim_count; i++) {
        const ImportDim *d = &r->options->dim[i];
        if (!token_is(at, d->name)) continue;
        if (r->options->is_dim_used) r->options->is_dim_used[i] = true;
        int64_t least = d->least ? d->least : v->least;
        if (d->value < v->least || d->value > v->greatest || least < v->least)
            lex_error(l, at, "%lld is given for '%s'; use %lld to %lld",
                      (long long)(least < v->least ? least : d->value), d->name, (long long)v->least,
                      (long long)v->greatest);
        const Expr *size = d->is_maximum ? expr_new_var(r->cx, v->name, v->role, v->type, least, d->value)
                                         : expr_index(r->cx, d->value);
        r->symbols = symbol_add(r->cx, r->symbols->outer, d->name, NULL, size);
        if (d->is_maximum) v = expr_as_var(size);
    }
    r->model->dim_names = r->model->dim_names ? text_format(r->cx, "%s, %s", r->model->dim_names, v->name) : v->name;
}

static void read_npy(TeReader *r, Lexer *l, Token at, const char *path, Tensor *t)
{
    DType type;
    int rank;
    int64_t shape[MAX_RANK];
    void *data;
    DiagMark mark = diag_mark(r->cx);
    bool ok = npy_read(r->cx, path, &type, &rank, shape, &data);
    lex_relocate(l, mark, at);
    if (!ok) return;
    bool fits = type == t->type && rank == t->rank;
    for (int d = 0; fits && d < rank; d++) fits = shape[d] == tensor_dim(t, d);
    if (fits) t->data = data;
    else
        lex_error(l, at, "\"%s\" does not hold a tensor %s%s, but %s", path, dtype_info(t->type)->spelling,
                  tensor_shape_text(r->cx, t), value_type_text(r->cx, type, rank, shape));
}

/* Reads a declaration: declaration = name ':' type */
static Tensor *read_declaration(TeReader *r, Lexer *l, Token *at)
{
    const Expr *shape[MAX_RANK];
    DType type;
    int rank;
    *at = lex_peek(l);
    const char *tensor_name = lex_name(l, "the name of the tensor");
    if (!lex_expect(l, ":", "after the name") || !tensor_type_read(l, r->symbols, &type, &rank, shape)) return NULL;
    DiagMark mark = diag_mark(r->cx);
    Tensor *t = tensor_new(r->cx, tensor_name, type, rank, shape);
    if (t) tensor_fits_index(r->cx, t);
    lex_relocate(l, mark, *at);
    define(r, l, *at, t);
    return ctx_failed(r->cx) ? NULL : t;
}

static void read_data(TeReader *r, Lexer *l, Token at, Tensor *t)
{
    Token from = lex_peek(l);
    if (tensor_elems(t) < 0)
        lex_error(l, at, "the constant '%s' is %s; use numbers as its sizes", t->name,
                  tensor_shape_text(r->cx, t));
    else if (from.kind != TOKEN_STRING) t->data = data_read(l, t->type, tensor_elems(t));
    else {
        lex_take(l);
        const char *file = name_n(r->cx, from.at + 1, (size_t)from.length - 2);
        read_npy(r, l, from, text_format(r->cx, "%s%s", path_folder(r->cx, r->path), file), t);
    }
    lex_finish(l);
}

static void read_const(TeReader *r, Lexer *l)
{
    Token at;
    Tensor *t = read_declaration(r, l, &at);
    if (t && lex_expect(l, "=", "before the data")) read_data(r, l, at, t);
}

static double read_number(Lexer *l)
{
    const double sign = lex_accept(l, "-") ? -1 : 1;
    const Token t = lex_take(l);
    if (t.kind != TOKEN_INTEGER && t.kind != TOKEN_REAL)
        lex_error(l, t, "a number is expected, not %s", token_text(l->cx, t));
    const char *end;
    return ctx_failed(l->cx) ? 0 : sign * text_read_double(name_n(l->cx, t.at, (size_t)t.length), &end);
}

/* Reads a grid, the real numbers that an integer port stores: grid = ['scale' '=' number 'zero' '=' number]. */
static void read_grid(Lexer *l, Tensor *t)
{
    const Token at = lex_peek(l);
    if (!token_is(at, "scale") || !lex_accept(l, "scale") || !lex_expect(l, "=", "after 'scale'")) return;
    Quant *q = NEW(l->cx->arena, Quant);
    float *scale = NEW(l->cx->arena, float);
    int32_t *zero = NEW(l->cx->arena, int32_t);
    *scale = (float)read_number(l);
    if (!lex_expect(l, "zero", "after the scale") || !lex_expect(l, "=", "after 'zero'")) return;
    *zero = (int32_t)read_number(l);
    if (!(*scale > 0) || *scale > FLT_MAX) lex_error(l, at, "the scale must be a positive number");
    if (!dtype_is_integer(t->type)) lex_error(l, at, "a tensor of %s has no grid", dtype_info(t->type)->spelling);
    *q = (Quant){ .axis = 0, .count = 1, .scale = scale, .zero_point = zero };
    t->quant = q;
}

/* Reads an input. An input with a value becomes a constant or, if it is state, has this initial value. */
static void read_input(TeReader *r, Lexer *l)
{
    Token at;
    Tensor *t = read_declaration(r, l, &at), *value = t ? tensor_new(r->cx, t->name, t->type, t->rank, t->shape) : NULL;
    if (!t) return;
    read_grid(l, t);
    if (lex_accept(l, "=")) read_data(r, l, at, value);
    else if (!lex_finish(l)) return;
    for (int i = 0; r->options && i < r->options->value_count; i++)
        if (text_equal(r->options->value[i].name, t->name)) {
            if (r->options->is_value_used) r->options->is_value_used[i] = true;
            read_npy(r, l, at, r->options->value[i].path, value);
        }
    if (value->data && !import_keeps(r->options, t->name)) {
        t->data = value->data;
        return;
    }
    if (value->data) r->model->initial[r->model->input_count] = value;
    r->model->input[r->model->input_count++] = t;
}

/* Reads an in-out tensor: an input whose array receives the values of its last update. */
static void read_inout(TeReader *r, Lexer *l)
{
    Token at;
    Tensor *t = read_declaration(r, l, &at);
    if (!t) return;
    read_grid(l, t);
    if (!lex_finish(l)) return;
    r->inout[r->model->inout_count++] = (StatePair){ r->model->input_count, -1 };
    r->model->input[r->model->input_count++] = t;
}

/* Makes the newest values of each in-out tensor an output, unless the file lists them. */
static void find_inouts(TeReader *r)
{
    Model *m = r->model;
    m->inout = r->inout;
    for (int i = 0; i < m->inout_count && !ctx_failed(r->cx); i++) {
        const Tensor *old = m->input[r->inout[i].input];
        const Symbol *s = r->symbols;
        while (s && !(s->tensor && text_equal(s->name, old->name))) s = s->outer;
        if (!s || s->tensor == old) {
            diag_error(r->cx, NULL, "the in-out tensor '%s' has no new values; use `input`, or a statement "
                                    "`update %s[...] = ...`", old->name, old->name);
            return;
        }
        int out = 0;
        while (out < m->output_count && m->output[out] != s->tensor) out++;
        if (out == m->output_count) m->output[m->output_count++] = s->tensor;
        s->tensor->name = s->name;
        r->inout[i].output = out;
    }
}

static void read_promise(TeReader *r, Lexer *l) { promise_read(l, &r->symbols); }

static void read_reducer_of_file(TeReader *r, Lexer *l) { reducer_declare(l, &r->symbols); }

static void read_outputs(TeReader *r, Lexer *l)
{
    do {
        Token at = lex_peek(l);
        const Symbol *k = lex_name(l, "the name of a tensor") ? symbol_tensor(r->symbols, at) : NULL;
        if (!k) unknown_name(l, r->symbols, at, true);
        else if (!k->tensor->producer)
            lex_error(l, at, "'%s' is not computed, so it cannot be an output; use the result of a statement",
                      k->name);
        for (int i = 0; k && i < r->model->output_count; i++)
            if (r->model->output[i] == k->tensor)
                lex_error(l, at, "'%s' is already an output; list each name once", k->name);
        if (k) k->tensor->name = k->name;        /* the last update of the name */
        if (k) read_grid(l, k->tensor);
        if (k) r->model->output[r->model->output_count++] = k->tensor;
    } while (lex_accept(l, ",") && !ctx_failed(r->cx));
    lex_finish(l);
}

/* ---- Operator calls --------------------------------------------------------------------------------------------- */

/* Returns true if token i is an argument that only operators accept: a whole tensor, or the call of an operator. */
static bool is_tensor_argument(const TeReader *r, const Lexer *l, int i)
{
    const Token t = l->token[i], before = l->token[i - 1], after = l->token[i + 1];
    if (t.kind != TOKEN_NAME || !(token_is(before, "(") || token_is(before, ","))) return false;
    const char *word = name_n(r->cx, t.at, (size_t)t.length);
    if (token_is(after, "(")) return op_find(r->cx, word) && !formula_has_function(word);
    const Symbol *k = symbol_tensor(r->symbols, t);
    return (token_is(after, ",") || token_is(after, ")")) && k && k->tensor->rank > 0;
}

/* Returns true for `names = name(...)` up to the end of the statement. A name that is also a function of formulas calls
 * the operator if an argument is a whole tensor or the call of an operator. */
static bool is_call(const TeReader *r, const Lexer *l)
{
    int i = l->next;
    while (i < l->count && !token_is(l->token[i], "=")) {
        if (token_is(l->token[i], "[")) return false;
        i++;
    }
    if (i + 3 >= l->count || l->token[i + 1].kind != TOKEN_NAME || !token_is(l->token[i + 2], "(")) return false;
    int parentheses = 0, brackets = 0;
    const Token function = l->token[i + 1];
    bool has_tensor = false;
    for (i += 2; i < l->count; i++) {
        const Token t = l->token[i];
        brackets += token_is(t, "[") - token_is(t, "]");
        parentheses += token_is(t, "(") - token_is(t, ")");
        if (!parentheses && token_is(t, ")")) break;
        has_tensor = has_tensor || (!brackets && is_tensor_argument(r, l, i));
    }
    if (i != l->count - 1) return false;
    const char *called = name_n(r->cx, function.at, (size_t)function.length);
    return op_find(r->cx, called) ? has_tensor || !formula_has_function(called) : !formula_has_function(called);
}

/* Reads a value: value = ['-'] number | name | string */
static void read_attr_value(Lexer *l, Text *out)
{
    if (lex_accept(l, "-")) text_char(out, '-');
    Token t = lex_take(l);
    if (t.kind == TOKEN_STRING) text_addn(out, t.at + 1, (size_t)t.length - 2);
    else if (t.kind != TOKEN_END && t.kind != TOKEN_SYMBOL) text_addn(out, t.at, (size_t)t.length);
    else lex_error(l, t, "the value of an attribute is expected, not %s", token_text(l->cx, t));
}

static bool number_follows(const Lexer *l)
{
    Token t = lex_ahead(l, token_is(lex_ahead(l, 1), "-") ? 2 : 1);
    return lex_is(l, ",") && (t.kind == TOKEN_INTEGER || t.kind == TOKEN_REAL);
}

/* Reads an attribute: attribute = name '=' (value {',' number} | '[' value {',' value} ']') becomes `
 * name=value,value` */
static void read_attr(Lexer *l, Text *out)
{
    const char *attr = lex_name(l, "the name of an attribute");
    lex_expect(l, "=", "after the attribute");
    text_printf(out, "%s%s=", out->length ? " " : "", attr ? attr : "");
    bool is_list = lex_accept(l, "[");
    read_attr_value(l, out);
    while (!ctx_failed(l->cx) && (is_list ? lex_is(l, ",") : number_follows(l))) {
        lex_take(l);
        text_char(out, ',');
        read_attr_value(l, out);
    }
    if (is_list) lex_expect(l, "]", "after the values");
}

/* Moves an error of the operator to the position of the call. */
static void relocate(TeReader *r, const Lexer *l, DiagMark mark, Token at)
{
    if (!ctx_failed(r->cx)) return;
    const Diag *d = diag_rewind(r->cx, mark);
    while (d->severity < ERROR) d = d->next;
    lex_error(l, at, "%s%s%s", d->where && !d->source ? d->where : "", d->where && !d->source ? ": " : "", d->what);
}

/* Names the stages of a call after its result: y, and y_max, y_sum for its producers. `named` holds the visited nodes:
 * in a recurrence, producers form a cycle. */
static void name_stages(TeReader *r, Node *n, const char *op, const char *wanted, Tensor *const *in, int in_count,
                        Map *named)
{
    Stage *s = n ? n->stage : NULL;
    if (!s || map_get_ptr(named, n)) return;
    map_put_ptr(named, n, n);
    for (int i = 0; i < in_count; i++)
        for (int o = 0; o < n->out_count; o++)
            if (n->out[o] == in[i]) return;
    for (int i = 0; i < n->in_count; i++) {
        const char *inner = n->in[i]->name;
        size_t prefix = strlen(op);
        if (strncmp(inner, op, prefix) == 0 && inner[prefix] == '_') inner += prefix + 1;
        name_stages(r, n->in[i]->producer, op, name_format(r->cx, "%s_%s", wanted, inner), in, in_count, named);
    }
    s->name = n->name = wanted;
    for (int i = 0; i < n->out_count; i++) n->out[i]->name = i ? name_format(r->cx, "%s_%d", wanted, i) : wanted;
}

/* Returns the outputs of the call or, in a nest, of the computes that it expands to. */
static Tensor *const *call_op(TeReader *r, Lexer *l, Token at, const char *wanted, Tensor *const *in, int in_count,
                              const char *attrs, int *count)
{
    const char *called = name_n(r->cx, at.at, (size_t)at.length);
    const Op *op = op_find_annotation(r->cx, called);
    if (!op) {
        lex_error(l, at, "there is no operator '%s'%s", called, op_hint(r->cx, called));
        return NULL;
    }
    if (r->is_nest && (op->fusion.annotation || op_asks_gradient(op))) {
        lex_error(l, at, "'%s' has no effect in a file that is one `nest`; remove `nest` from the file", called);
        return NULL;
    }
    DiagMark mark = diag_mark(r->cx);
    int attr_count = 0;
    const Attr *attr = attrs_read(r->cx, op, attrs, &attr_count);
    Node *n = ctx_failed(r->cx) ? NULL : op_call(r->cx, op, wanted, in, in_count, attr, attr_count);
    relocate(r, l, mark, at);
    if (!n) return NULL;
    *count = n->out_count;
    if (!r->is_nest) return n->out;
    Tensor *const *out = op_expand(r->cx, n);
    Map named = map_new(r->cx->arena);
    name_stages(r, out[0]->producer, op->name, wanted, in, in_count, &named);
    return out;
}

/* Returns a name for the result of a call nested in the call of `outer`: y_softmax, y_softmax_2. */
static const char *inner_name(TeReader *r, const char *outer, Token op)
{
    const char *base = name_format(r->cx, "%s_%.*s", outer, op.length, op.at), *unique = base;
    const Token as_token = { TOKEN_NAME, base, (int)strlen(base) };
    bool is_taken = symbol_tensor(r->symbols, as_token) || map_get_const_ptr(&r->inner, unique);
    for (int i = 2; is_taken; i++) {
        unique = name_format(r->cx, "%s_%d", base, i);
        is_taken = map_get_const_ptr(&r->inner, unique);
    }
    map_put_const_ptr(&r->inner, unique, unique);
    return unique;
}

static Tensor *const *read_operator(TeReader *r, Lexer *l, const char *wanted, int *count);

/* Reads an argument: argument = name | '_' | call */
static Tensor *read_argument(TeReader *r, Lexer *l, const char *outer)
{
    const Token at = lex_peek(l);
    if (lex_accept(l, "_")) return NULL;
    if (token_is(lex_ahead(l, 1), "(")) {
        int count;
        Tensor *const *out = read_operator(r, l, inner_name(r, outer, at), &count);
        return out ? out[0] : NULL;
    }
    const Symbol *k = lex_name(l, "a tensor") ? symbol_tensor(r->symbols, at) : NULL;
    if (!k) unknown_name(l, r->symbols, at, true);
    return k ? k->tensor : NULL;
}

/* Reads a call: call = operator '(' [argument | attribute {',' argument | attribute}] ')' */
static Tensor *const *read_operator(TeReader *r, Lexer *l, const char *wanted, int *count)
{
    const Token op = lex_take(l);
    int in_count = 0;
    lex_expect(l, "(", "after the operator");
    Tensor **in = NEW_ARRAY(r->cx->arena, Tensor *, l->count);
    Text attrs = text_new(r->cx);
    while (!lex_is(l, ")") && !ctx_failed(r->cx)) {
        if (token_is(lex_ahead(l, 1), "=")) read_attr(l, &attrs);
        else in[in_count++] = read_argument(r, l, wanted);
        if (!lex_is(l, ")")) lex_expect(l, ",", "between arguments");
    }
    lex_take(l);
    return ctx_failed(r->cx) ? NULL : call_op(r, l, op, wanted, in, in_count, text_string(&attrs), count);
}

/* Reads a statement: statement = name {',' name} '=' call */
static void read_op_call(TeReader *r, Lexer *l)
{
    Token result[MAX_RANK];
    int results = 0, count = 0;
    do {
        result[results] = lex_take(l);
        if (result[results++].kind != TOKEN_NAME)
            lex_error(l, result[results - 1], "the name of the result is expected");
    } while (results < MAX_RANK && lex_accept(l, ","));
    lex_expect(l, "=", "after the result");
    const Token op = lex_peek(l);
    const char *wanted = name_n(r->cx, result[0].at, (size_t)result[0].length);
    Tensor *const *out = read_operator(r, l, wanted, &count);
    if (!lex_finish(l) || ctx_failed(r->cx)) return;
    if (out && results > count)
        lex_error(l, result[count], "'%.*s' has %d result%s; use at most as many names", op.length, op.at,
                  count, count == 1 ? "" : "s");
    for (int i = 0; out && i < results && i < count; i++) {
        define(r, l, result[i], out[i]);
        if (!ctx_failed(r->cx)) out[i]->name = name_n(r->cx, result[i].at, (size_t)result[i].length);
    }
}

/* Reads an update. Later statements read the updated tensor under the name. */
static void read_update(TeReader *r, Lexer *l)
{
    const Token at = lex_ahead(l, 1);
    Tensor *t = formula_read(l, r->symbols, NULL, false);
    if (t) r->symbols = symbol_add(r->cx, r->symbols, name_n(r->cx, at.at, (size_t)at.length), t, NULL);
}

static void read_formula(TeReader *r, Lexer *l)
{
    Token at[MAX_COMPONENTS];
    int count = 0;
    do at[count] = lex_ahead(l, 2 * count);
    while (token_is(lex_ahead(l, 2 * count++ + 1), ",") && count < MAX_COMPONENTS);
    Tensor *t = formula_read(l, r->symbols, NULL, false);
    for (int i = 0; t && i < count; i++) define(r, l, at[i], t->producer->out[i]);
}

/* ---- The file --------------------------------------------------------------------------------------------------- */

typedef struct Statement { const char *word; void (*read)(TeReader *r, Lexer *l); } Statement;
static const Statement statements[] = {
    { "size", read_size }, { "input", read_input }, { "inout", read_inout }, { "const", read_const },
    { "output", read_outputs }, { "promise", read_promise }, { "reducer", read_reducer_of_file },
};

/* Returns true if the statement begins with this keyword; before '=', '[' or ',' the word is the name of a tensor. */
static bool begins(const Lexer *l, const char *word) { return lex_is(l, word) && lex_ahead(l, 1).kind == TOKEN_NAME; }

/* Returns the line of a token; the tokens are asked in the order of the text. */
static int line_of(TeReader *r, const char *at)
{
    for (; r->counted < at; r->counted++) r->line += *r->counted == '\n';
    return r->line;
}

static const char *word(const TeReader *r, Token t) { return name_n(r->cx, t.at, (size_t)t.length); }

/* A statement with a result is a node of the file. Its number is its line. */
static const FileNode *listed(TeReader *r, const Lexer *l)
{
    const Token first = lex_peek(l);
    int n = 0;
    const bool calls = !at_update(l) && is_call(r, l);
    while (calls && !token_is(lex_ahead(l, n++), "=")) continue;
    return file_node(r->nodes, "", line_of(r, first.at), calls ? word(r, lex_ahead(l, n)) : "formula",
                     word(r, first));
}

static void read_statement(TeReader *r, Lexer *l)
{
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (!begins(l, statements[i].word)) continue;
        lex_take(l);
        statements[i].read(r, l);
        return;
    }
    const FileNode *outer = file_node_enter(r->cx, listed(r, l));
    if (at_update(l)) read_update(r, l);
    else if (is_call(r, l)) read_op_call(r, l);
    else read_formula(r, l);
    file_node_enter(r->cx, outer);
}

/* ---- Schedules and the file -------------------------------------------------------------------------------------- */

static bool is_heading(const Lexer *l)
{
    return lex_is(l, "schedule") && (l->count == 1 || (l->count == 2 && l->token[1].kind == TOKEN_NAME));
}

/* heading of a function = 'schedule' name '(' [name {',' name}] ')' ':' */
static bool is_function(const Lexer *l)
{
    return lex_is(l, "schedule") && l->count > 2 && l->token[1].kind == TOKEN_NAME && token_is(l->token[2], "(");
}

static bool is_include(const Lexer *l) { return lex_is(l, "include") && l->token[1].kind == TOKEN_STRING; }

static bool says_nest(const Lexer *l) { return l->count == 1 && lex_is(l, "nest"); }

/* Returns true for `for GROUP on TARGET:`, which begins the last part of the file. */
static bool is_block(const char *line)
{
    const char *s = line + 3;
    return strncmp(line, "for", 3) == 0 && is_indented(s) && !strchr("[=", s[strspn(s, " \t")]);
}

/* Returns true for `memory NAME ...`, `config NAME...` and `instruction NAME...`, steps that declare something for all
 * schedules. */
static bool is_declaration(const Lexer *l)
{
    return l->count > 1 && (lex_is(l, "memory") || lex_is(l, "config") || lex_is(l, "instruction"))
           && l->token[1].kind == TOKEN_NAME;
}

/* Reads a declaration, which may have several lines. */
static void read_declaration_step(TeReader *r, const Lexer *l, const char *end)
{
    Model *m = r->model;
    m->declaration = written_declare(r->cx, m->declaration, m->declaration_count, r->path, r->text, l->token[0].at,
                                     end);
    m->declaration_count++;
}

static void begin_schedule(TeReader *r, const Lexer *l)
{
    const Token word = l->token[0], last = l->token[l->count - 1];
    const size_t begin = (size_t)(word.at - r->text), end = (size_t)(last.at - r->text) + (size_t)last.length;
    r->line_count = &r->schedule[r->model->schedule_count].step_count;
    r->schedule[r->model->schedule_count++] = (TeSchedule){
        .group = l->count == 2 ? name_n(r->cx, last.at, (size_t)last.length) : NULL,
        .at = { name_n(r->cx, word.at, end - begin), r->path, r->text, begin, end },
        .step = r->step + r->step_count
    };
}

static void begin_function(TeReader *r, Lexer *l)
{
    ScheduleFunction *f = sched_function(l, r->model->functions, r->step + r->step_count);
    r->model->functions = f;
    r->line_count = &f->line_count;
}

static void read_step(TeReader *r, const char *begin, const char *end)
{
    const bool is_step = written_step(r->cx, r->path, r->text, begin, end, &r->step[r->step_count]);
    r->step_count += is_step;
    *r->line_count += is_step;
}

static size_t count_lines(const char *text)
{
    size_t n = 2;
    for (const char *s = text; *s; s++) n += *s == '\n' || *s == ',';
    return n;
}

static void include_text(TeReader *r);

enum { MOST_INCLUDES = 8 };

/* include "FILE": the functions, reducers, memories and instructions of a file beside this one. */
static void read_include(TeReader *r, Lexer *l)
{
    const Token at = l->token[1];
    const char *folder = path_folder(r->cx, r->path), *outer = r->cx->file;
    const char *file = name_n(r->cx, at.at + 1, (size_t)at.length - 2);
    lex_take(l);
    lex_take(l);
    if (!lex_finish(l)) return;
    if (r->includes == MOST_INCLUDES) lex_error(l, at, "files include each other more than %d deep", MOST_INCLUDES);
    TeReader part = *r;
    part.path = text_format(r->cx, "%s%s", folder, file);
    const DiagMark mark = diag_mark(r->cx);
    const Bytes bytes = file_read_below(r->cx, folder, file);
    part.text = ctx_failed(r->cx) ? NULL : file_text(r->cx, part.path, bytes);
    lex_relocate(l, mark, at);
    if (ctx_failed(r->cx)) return;
    part.step = NEW_ARRAY(r->cx->arena, WrittenStep, count_lines(part.text));
    part.step_count = 0;
    part.includes++;
    r->cx->file = part.path;
    include_text(&part);
    r->cx->file = outer;
    r->symbols = part.symbols;
}

static void include_statement(TeReader *r, Lexer *l, const char *end)
{
    if (is_function(l)) begin_function(r, l);
    else if (is_declaration(l)) read_declaration_step(r, l, end);
    else if (is_include(l)) read_include(r, l);
    else if (begins(l, "reducer")) {
        lex_take(l);
        reducer_declare(l, &r->symbols);
    } else
        lex_error(l, lex_peek(l), "an included file may contain only `schedule NAME(...)`, `reducer`, `memory`, "
                                  "`config`, `instruction` and `include`; move this statement to the file that "
                                  "includes it");
}

static void include_text(TeReader *r)
{
    bool in_function = false;
    for (const char *s = r->text, *end; *s && !ctx_failed(r->cx); s = end + (*end == '\n')) {
        const bool is_step = in_function && is_indented(s);
        end = is_step ? s + strcspn(s, "\n") : end_of_statement(s);
        if (is_step) {
            read_step(r, s, end);
            continue;
        }
        Lexer l = lex_statement(r, s, end);
        if (!l.count || ctx_failed(r->cx) || !lex_brackets(&l)) continue;
        in_function = is_function(&l);
        if (is_declaration(&l)) end = written_declaration_end(end);
        include_statement(r, &l, end);
    }
}

/* Reads statements. The first walk reads `nest` and the schedules with their steps; the second walk reads all other
 * statements. */
static void walk_statements(TeReader *r, bool is_first)
{
    bool in_schedule = false;
    int count = 0;
    for (const char *s = r->text, *end; *s && !ctx_failed(r->cx); s = end + (*end == '\n')) {
        if (is_block(s)) {
            r->model->schedules = r->text;
            r->model->schedules_at = (size_t)(s - r->text);
            return;
        }
        const bool is_step = in_schedule && is_indented(s);
        end = is_step ? s + strcspn(s, "\n") : end_of_statement(s);
        if (is_step) {
            if (is_first) read_step(r, s, end);
            continue;
        }
        Lexer l = lex_statement(r, s, end);
        if (!l.count || ctx_failed(r->cx) || !lex_brackets(&l)) continue;
        in_schedule = is_heading(&l) || is_function(&l);
        if (is_declaration(&l)) end = written_declaration_end(end);
        const int most = r->is_nest ? MOST_IN_NEST : MOST_CALLS;
        if (count++ >= most)
            lex_error(&l, lex_peek(&l), "there are more than %d statements%s; use fewer", most,
                      r->is_nest ? " in one nest" : "");
        if (is_first && is_include(&l)) read_include(r, &l);
        else if (is_first && is_function(&l)) begin_function(r, &l);
        else if (is_first && in_schedule) begin_schedule(r, &l);
        else if (is_first && is_declaration(&l)) read_declaration_step(r, &l, end);
        if (is_first && says_nest(&l)) r->is_nest = true;
        const bool is_of_schedules = in_schedule || is_declaration(&l) || is_include(&l) || says_nest(&l);
        if (!is_first && !is_of_schedules) read_statement(r, &l);
    }
}

static void make_room(TeReader *r)
{
    const size_t capacity = count_lines(r->text);
    r->model->input = NEW_ARRAY(r->cx->arena, Tensor *, capacity);
    r->model->initial = NEW_ARRAY(r->cx->arena, const Tensor *, capacity);
    r->model->output = NEW_ARRAY(r->cx->arena, Tensor *, capacity);
    r->inout = NEW_ARRAY(r->cx->arena, StatePair, capacity);
    r->model->schedule = r->schedule = NEW_ARRAY(r->cx->arena, TeSchedule, capacity);
    r->step = NEW_ARRAY(r->cx->arena, WrittenStep, capacity);
}

bool te_read(Ctx *cx, const char *path, const char *text, const ImportOptions *options, Model *out)
{
    if (ctx_failed(cx)) return false;
    const char *outer = cx->file;
    cx->file = path;
    *out = (Model){ .name = path_stem(cx, path) };
    TeReader r = { .cx = cx, .path = path, .text = text, .options = options, .model = out,
                   .inner = map_new(cx->arena), .symbols = symbols_indexed(cx), .nodes = file_nodes_new(cx),
                   .counted = text, .line = 1 };
    make_room(&r);
    walk_statements(&r, true);
    out->is_nest = r.is_nest;
    walk_statements(&r, false);
    bool is_whole = !options || !options->is_part;
    if (is_whole) promises_are_kept(cx, r.symbols);
    if (is_whole && !ctx_failed(cx)) find_inouts(&r);
    if (is_whole && !out->output_count) diag_error(cx, NULL, "there is no output; write `output NAME`");
    if (is_whole && !r.is_nest && !ctx_failed(cx)) formulas_to_calls(cx, out->output, out->output_count);
    file_nodes_end(r.nodes, out);
    cx->file = outer;
    return !ctx_failed(cx);
}
