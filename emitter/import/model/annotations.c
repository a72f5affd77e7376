/* SPDX-License-Identifier: MIT */
/* Reads an annotation file and inserts the annotations' calls into the model. Copies the model's calls in their order.
 * A node's annotations are inserted after its last call, because importers may lower a node to several calls. Grids may
 * also annotate inputs and float constants, which follow the nodes in the list of candidates. */
#include "import/model/annotations.h"

#include <string.h>

#include "graph/dag/graph.h"
#include "ir/text/lex.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

typedef struct Annotation {
    const Op *op; const char *attrs;
    /* the scales and zeros of the simulated quantization; axis -1 stands for the last axis */
    Tensor *scale, *zero; int axis;
    bool *is_of;                         /* [nodes, then values] true if the annotation applies */
} Annotation;

typedef struct Annotations {
    Ctx *cx;
    Lexer place;                         /* path and text of the file, for diagnostics */
    int node_count; Node **node;         /* the model's calls, in order */
    int input_count, value_count; Tensor **value;          /* the model's inputs, then its float constants */
    int annotation_count; Annotation *annotation;
    const char *device, *scale, *zero, *axis, *others;     /* attributes of the line that is read */
} Annotations;

static void refuse(Annotations *a, Token at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lex_error(&a->place, at, "%s", text_vformat(a->cx, format, args));
    va_end(args);
}

static const char *word_text(Annotations *a, Token w) { return name_n(a->cx, w.at, (size_t)w.length); }

/* ---- Patterns ---------------------------------------------------------------------------------------------------- */

static bool fits(const char *pattern, const char *s)
{
    if (*pattern == '*') return fits(pattern + 1, s) || (*s && fits(pattern, s + 1));
    if (!*pattern || !*s) return *pattern == *s;
    return (*pattern == '?' || *pattern == *s) && fits(pattern + 1, s + 1);
}

/* Returns the first node whose name matches, the last one if `last` is true, or -1 if there is none. */
static int find_node(const Annotations *a, const char *pattern, bool last)
{
    int found = -1;
    for (int i = 0; i < a->node_count && (found < 0 || last); i++)
        if (fits(pattern, a->node[i]->name)) found = i;
    return found;
}

static void refuse_pattern(Annotations *a, Token at, const char *pattern, bool accepts_values)
{
    const int count = a->node_count + (accepts_values ? a->value_count : 0);
    const char **names = NEW_ARRAY(a->cx->arena, const char *, count);
    for (int i = 0; i < count; i++)
        names[i] = i < a->node_count ? a->node[i]->name : a->value[i - a->node_count]->name;
    refuse(a, at, "no %s of the model is called '%s'%s",
           accepts_values ? "node, result, input or constant" : "node or result", pattern,
           text_hint(a->cx, pattern, names, (size_t)count, "; use the names in `loopwright dump --at dag`"));
}

/* Finds the `..` between two names; a name may contain single dots. */
static const char *range_in(Token w)
{
    for (const char *s = w.at; s + 3 < w.at + w.length && s >= w.at; s++)
        if (s > w.at && s[0] == '.' && s[1] == '.') return s;
    return NULL;
}

static void read_range(Annotations *a, Token w, const char *dots, bool *is_of)
{
    Token from = { TOKEN_NAME, w.at, (int)(dots - w.at) },
          to = { TOKEN_NAME, dots + 2, (int)(w.at + w.length - dots - 2) };
    int first = find_node(a, word_text(a, from), false), last = find_node(a, word_text(a, to), true);
    if (first < 0) refuse_pattern(a, from, word_text(a, from), false);
    else if (last < 0) refuse_pattern(a, to, word_text(a, to), false);
    else if (last < first)
        refuse(a, w, "'%s' follows '%s' in the model; name the earlier node first", word_text(a, from),
               word_text(a, to));
    for (int i = first; i >= 0 && i <= last; i++) is_of[i] = true;
}

/* Finds inputs and constants that match. Wildcards match inputs only: `conv_1*` names a layer, not its weights. */
static bool find_values(const Annotations *a, const char *pattern, bool is_quoted, bool *is_of)
{
    bool any = false;
    for (int i = 0; i < a->value_count; i++) {
        const bool is_exact = is_quoted || i >= a->input_count;
        if (is_exact ? text_equal(pattern, a->value[i]->name) : fits(pattern, a->value[i]->name))
            is_of[a->node_count + i] = any = true;
    }
    return any;
}

/* Finds the call that computes a tensor with this name, because reports name tensors, whose names may differ from their
 * nodes' names. */
static bool find_result(const Annotations *a, const char *name, bool *is_of)
{
    for (int i = a->node_count - 1; i >= 0; i--)
        for (int o = 0; o < a->node[i]->out_count; o++)
            if (text_equal(name, a->node[i]->out[o]->name)) return is_of[i] = true;
    return false;
}

static void read_pattern(Annotations *a, Token w, bool accepts_values, bool *is_of)
{
    bool any = false, is_quoted = w.length >= 2 && *w.at == '"';
    const char *dots = is_quoted ? NULL : range_in(w);
    if (dots) read_range(a, w, dots, is_of);
    if (dots) return;
    const char *pattern = is_quoted ? name_n(a->cx, w.at + 1, (size_t)w.length - 2) : word_text(a, w);
    for (int i = 0; i < a->node_count; i++)
        if (is_quoted ? text_equal(pattern, a->node[i]->name) : fits(pattern, a->node[i]->name)) is_of[i] = any = true;
    if (accepts_values && find_values(a, pattern, is_quoted, is_of)) any = true;
    if (!any && !find_result(a, pattern, is_of)) refuse_pattern(a, w, pattern, accepts_values);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Returns the next word of the line, with length 0 at the line's end. */
static Token next_word(const char **at)
{
    const char *s = *at + strspn(*at, " \t\r,");
    size_t n = strcspn(s, " \t\r\n,#");
    if (*s == '"') n = 1 + strcspn(s + 1, "\"\n"), n += s[n] == '"';
    for (size_t i = 0; i < n && *s != '"'; i++)       /* commas of name=1,2,3 are part of the word */
        if (s[i] == '=') n = strcspn(s, " \t\r\n#");
    *at = s + n;
    return (Token){ TOKEN_NAME, s, (int)n };
}

static bool is_setting(Token w) { return *w.at != '"' && memchr(w.at, '=', (size_t)w.length); }

static void read_setting(Annotations *a, Token w)
{
    const char *text = word_text(a, w), *value = strchr(text, '=') + 1;
    if (strncmp(text, "scale=", 6) == 0) a->scale = value;
    else if (strncmp(text, "zero=", 5) == 0) a->zero = value;
    else if (strncmp(text, "axis=", 5) == 0) a->axis = value;
    else a->others = text_format(a->cx, "%s%s%s", a->others, *a->others ? " " : "", text);
}

static int read_axis(Annotations *a, Token line)
{
    for (int axis = 0; axis < MAX_RANK; axis++)
        if (text_equal(a->axis, text_format(a->cx, "%d", axis))) return axis;
    refuse(a, line, "axis=%s is not the number of a dimension; use 0 to %d", a->axis, MAX_RANK - 1);
    return -1;
}

/* Returns 1,2,3 as a constant: a scalar, or a vector. */
static Tensor *numbers(Annotations *a, Token line, const char *what, const char *text, DType type)
{
    enum { MOST = 4096 };
    double *value = NEW_ARRAY(a->cx->arena, double, MOST);
    int64_t count = 0;
    for (const char *s = text, *end; count < MOST; s = end + 1) {
        value[count++] = text_read_double(s, &end);
        if (end == s || (*end && *end != ',')) {
            refuse(a, line, "%s=%s is not a list of numbers; use one such as 0.5,0.25", what, text);
            return NULL;
        }
        if (!*end) break;
    }
    void *data;
    Tensor *t = tensor_zeros(a->cx, what, type, count > 1, &count, &data);
    for (int64_t i = 0; t && i < count; i++) {
        Scalar v = { 0 };
        if (dtype_is_float(type)) v.f = value[i];
        else v.i = (int64_t)value[i];
        dtype_store(type, data, i, dtype_wrap(type, v));
    }
    return t;
}

static const Op *read_annotation(Annotations *a, Token w)
{
    int count, known = 0;
    const Op *const *all = op_list(a->cx, &count),
                    *op = op_find(a->cx, text_format(a->cx, "annotation.%s", word_text(a, w)));
    if (!op) op = op_find_annotation(a->cx, word_text(a, w));
    if (op && strncmp(op->name, "annotation.", 11) == 0) return op;
    const char **names = NEW_ARRAY(a->cx->arena, const char *, count);
    for (int i = 0; i < count; i++)
        if (strncmp(all[i]->name, "annotation.", 11) == 0) names[known++] = all[i]->name + 11;
    refuse(a, w, "there is no annotation '%s'%s", word_text(a, w),
           text_hint(a->cx, word_text(a, w), names, (size_t)known,
                     "; use those of `loopwright ops --level 10`, and annotation.NAME for others"));
    return NULL;
}

static bool read_device(Annotations *a, Token w)
{
    int count;
    const Device *const *all = device_list(a->cx, &count);
    const char **names = NEW_ARRAY(a->cx->arena, const char *, count);
    for (int i = 0; i < count; i++) names[i] = all[i]->name;
    a->device = word_text(a, w);
    if (device_find(a->cx, a->device) || text_equal(a->device, "cpu")) return true;
    refuse(a, w, "there is no device '%s'%s", a->device,
           text_hint(a->cx, a->device, names, (size_t)count, "; see `loopwright targets`"));
    return false;
}

/* Reads a line: line = annotation [device] {pattern | name '=' value} */
static void read_line(Annotations *a, const char *at)
{
    Token w = next_word(&at), line = w;
    int patterns = 0;
    if (!w.length) return;
    Annotation s = { .op = read_annotation(a, w),
                     .is_of = NEW_ARRAY(a->cx->arena, bool, a->node_count + a->value_count) };
    a->device = a->scale = a->zero = a->axis = NULL;
    a->others = "";
    if (!s.op) return;
    const bool is_quantized = s.op->quantization.grid == GRID_SIMULATE;
    for (w = next_word(&at); w.length && !ctx_failed(a->cx); w = next_word(&at)) {
        if (s.op->fusion.annotation == ANNOTATION_DEVICE && !a->device) read_device(a, w);
        else if (is_setting(w)) read_setting(a, w);
        else read_pattern(a, w, is_quantized, s.is_of), patterns++;
    }
    if (!patterns) refuse(a, line, "it names no node; use %s %sNAME", word_text(a, line),
                          s.op->fusion.annotation == ANNOTATION_DEVICE ? "DEVICE " : "");
    if (!is_quantized && (a->scale || a->zero))
        refuse(a, line, "'%s' does not accept scale and zero; give them to 'simulated_quantize'",
               word_text(a, line));
    if (is_quantized && !a->scale && a->zero) refuse(a, line, "zero=%s is given without a scale; add scale=NUMBER",
                                                     a->zero);
    if (ctx_failed(a->cx)) return;
    if (a->scale) s.scale = numbers(a, line, "scale", a->scale, F32);
    if (a->scale) s.zero = numbers(a, line, "zero", a->zero ? a->zero : "0", I32);
    s.attrs = a->device ? text_format(a->cx, "device=%s", a->device) : a->others;
    DiagMark mark = diag_mark(a->cx);
    int count;
    attrs_read(a->cx, s.op, s.attrs, &count);
    lex_relocate(&a->place, mark, line);
    s.axis = a->axis ? read_axis(a, line) : -1;
    a->annotation[a->annotation_count++] = s;
}

/* ---- The annotated model ----------------------------------------------------------------------------------------- */

/* Reshapes p, one value for each index of x's axis, to broadcast against x: unit dimensions follow the axis. */
static Tensor *along(Ctx *cx, Tensor *p, const Tensor *x, int axis)
{
    int64_t shape[MAX_RANK];
    if (p->rank == 0) return p;
    if (axis < 0 || axis >= x->rank) axis = x->rank - 1;
    int rank = x->rank - axis;
    for (int d = 0; d < rank; d++) shape[d] = d ? 1 : tensor_elems(p);
    return tensor_constant(cx, p->name, p->type, rank, shape, p->data);
}

static Tensor *annotated(Ctx *cx, const Annotation *s, const char *label, Tensor *x)
{
    Tensor *in[3] = { x };
    if (s->scale) in[1] = along(cx, s->scale, x, s->axis);
    if (s->zero) in[2] = along(cx, s->zero, x, s->axis);
    int count = 0;
    const Attr *attr = attrs_read(cx, s->op, s->attrs, &count);
    Node *mark = op_call(cx, s->op, label, in, s->scale ? 3 : 1, attr, count);
    if (!mark) return NULL;
    mark->out[0]->name = x->name;
    mark->out[0]->quant = x->quant;
    return mark->out[0];
}

/* inner: maps a tensor to its copy, which calls of the same node read. outer: maps a tensor to its annotated copy,
 * which calls of other nodes read. */
typedef struct Rebuild { Map inner, outer; } Rebuild;

static Tensor *operand_of(const Rebuild *r, const Node *n, Tensor *t)
{
    if (!t) return NULL;
    bool same_node = n && t->producer && t->producer->name == n->name;
    Tensor *now = map_get_ptr(same_node ? &r->inner : &r->outer, t);
    return now ? now : t;
}

static void rebuild_call(Annotations *a, Rebuild *r, int i)
{
    Node *n = a->node[i];
    Tensor **in = NEW_ARRAY(a->cx->arena, Tensor *, n->in_count);
    for (int j = 0; j < n->in_count; j++) in[j] = operand_of(r, n, n->in[j]);
    Node *now = node_over(a->cx, n, in);
    for (int j = 0; now && j < n->out_count; j++) {
        Tensor *t = now->out[j];
        map_put_ptr(&r->inner, n->out[j], t);
        for (int s = 0; s < a->annotation_count && t; s++)
            if (a->annotation[s].is_of[i]) t = annotated(a->cx, &a->annotation[s], n->name, t);
        if (t) map_put_ptr(&r->outer, n->out[j], t);
    }
}

static void annotate_value(Annotations *a, Rebuild *r, int i)
{
    Tensor *t = a->value[i];
    for (int s = 0; s < a->annotation_count && t; s++)
        if (a->annotation[s].is_of[a->node_count + i]) t = annotated(a->cx, &a->annotation[s], t->name, t);
    if (t != a->value[i]) map_put_ptr(&r->outer, a->value[i], t);
}

/* Copies the model with its annotations. The annotations of inner calls have no consumers and are dead. */
static void rebuild(Annotations *a, Model *m)
{
    Rebuild r = { map_new(a->cx->arena), map_new(a->cx->arena) };
    for (int i = 0; i < a->value_count && !ctx_failed(a->cx); i++) annotate_value(a, &r, i);
    for (int i = 0; i < a->node_count && !ctx_failed(a->cx); i++) rebuild_call(a, &r, i);
    for (int i = 0; i < m->output_count; i++) m->output[i] = operand_of(&r, NULL, m->output[i]);
}

/* Lists the inputs and the float constants that calls read. */
static void find_candidates(Annotations *a, const Model *m)
{
    int most = m->input_count;
    Map known = map_new(a->cx->arena);
    for (int i = 0; i < a->node_count; i++) most += a->node[i]->in_count;
    a->value = NEW_ARRAY(a->cx->arena, Tensor *, most);
    for (int i = 0; i < m->input_count; i++) a->value[a->value_count++] = m->input[i];
    a->input_count = m->input_count;
    for (int i = 0; i < a->node_count; i++)
        for (int k = 0; k < a->node[i]->in_count; k++) {
            Tensor *t = a->node[i]->in[k];
            if (!t || !tensor_is_constant(t) || !dtype_is_float(t->type) || map_get_ptr(&known, t)) continue;
            map_put_ptr(&known, t, t);
            a->value[a->value_count++] = t;
        }
}

/* Returns the words after `in_memory`, or NULL for other lines. Such a line states the memory of layers, and is read
 * when the layers are known (driver/pins.c). */
static const char *words_of_pin(const char *line)
{
    static const char word[] = "in_memory";
    line += strspn(line, " \t");
    if (strncmp(line, word, sizeof word - 1) != 0) return NULL;
    line += sizeof word - 1;
    return strchr(" \t\r\n", *line) ? line : NULL;
}

static void add_pin(Annotations *a, Model *m, const char *words, int number)
{
    Pin *all = NEW_ARRAY(a->cx->arena, Pin, m->pin_count + 1);
    if (m->pin_count) memcpy(all, m->pin, (size_t)m->pin_count * sizeof *all);
    all[m->pin_count++] = (Pin){ text_format(a->cx, "%.*s", (int)strcspn(words, "\r\n#"), words), number };
    m->pin = all;
}

bool annotations_read(Ctx *cx, const char *path, Model *m)
{
    const char *text = file_text(cx, path, file_read(cx, path));
    if (ctx_failed(cx)) return false;
    const char *outer = cx->file;
    cx->file = path;
    Annotations a = { .cx = cx, .place = lex_part(cx, text, 0, 0, true, "annotations") };
    a.node_count = dag_order(cx, m->output, m->output_count, &a.node);
    find_candidates(&a, m);
    size_t lines = 1;
    for (const char *s = text; *s; s++) lines += *s == '\n';
    a.annotation = NEW_ARRAY(cx->arena, Annotation, lines);
    if (m->is_nest)
        diag_unsupported(cx, NULL, "annotations cannot be used with a file that is one `nest`; remove `nest` from the "
                                   "file");
    int number = 1;
    for (const char *s = text; *s && !ctx_failed(cx); s += strcspn(s, "\n"), s += *s == '\n', number++) {
        const char *words = words_of_pin(s);
        if (words) add_pin(&a, m, words, number);
        else read_line(&a, s);
    }
    if (!ctx_failed(cx)) rebuild(&a, m);
    cx->file = outer;
    return !ctx_failed(cx);
}
