/* SPDX-License-Identifier: MIT */
/* Conditions of implementations. A condition is parsed as an expression of formulas, after every `x is f32` is replaced
 * by true or false in the text, with columns unchanged. It is parsed twice. Against the operator's row, with any sizes
 * and attributes, it must parse: a failure there is the author's mistake and a diagnostic. Against a call, with the
 * call's values, it may fail on a name that this call omits: then the condition does not hold. */
#include "graph/plan/condition.h"

#include <string.h>

#include "graph/dag/registry.h"
#include "ir/algebra/algebra.h"
#include "ir/text/formula.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_BINDS = 1024, LIST_ELEMENTS = 2 * MAX_RANK };

typedef struct Names { Ctx *cx; int count; Bind bind[MOST_BINDS + 1]; } Names;

static void add_name(Names *w, const char *word, Tensor *t, const Expr *value)
{
    for (int i = 0; i < w->count; i++)
        if (text_equal(w->bind[i].name, word)) return;
    if (w->count < MOST_BINDS) w->bind[w->count++] = (Bind){ word, t, value };
}

/* ---- Names of a call --------------------------------------------------------------------------------------------- */

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

static Names names_of_call(Ctx *cx, const Node *n)
{
    Names w = { .cx = cx };
    AttrNotes notes;
    note_lists(cx, n, &notes);
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i]) add_name(&w, op_input_name(cx, n->op, i), n->in[i], NULL);
    for (int i = 0; i < notes.count; i++)
        for (int j = 0; j < notes.note[i].count; j++)
            add_name(&w, name_format(cx, "%s_%d", notes.note[i].name, j), NULL, expr_index(cx, notes.note[i].value[j]));
    for (int i = 0; i < n->attr_count; i++) {
        const Attr *a = &n->attr[i];
        if (a->kind == ATTR_INT) add_name(&w, a->name, NULL, expr_index(cx, a->integer));
        for (int j = 0; a->kind == ATTR_INTS && j < a->count; j++)
            add_name(&w, name_format(cx, "%s_%d", a->name, j), NULL, expr_index(cx, a->ints[j]));
    }
    return w;
}

/* ---- Names of an operator ---------------------------------------------------------------------------------------- */

static const Expr *any_size(Ctx *cx, const char *word) { return expr_new_var(cx, word, VAR_SIZE, I32, 0, INT32_MAX); }

static Tensor *any_tensor(Ctx *cx, const char *word)
{
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < MAX_RANK; d++) shape[d] = any_size(cx, name_format(cx, "%s_%d", word, d));
    return tensor_new(cx, word, F32, MAX_RANK, shape);
}

static void add_names_of_op(Names *w, const Op *op)
{
    const char *inputs = op->inputs ? op->inputs : "x";
    for (const char *s = inputs; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        const char *word = name_n(w->cx, s, strcspn(s, " "));
        add_name(w, word, any_tensor(w->cx, word), NULL);
    }
    for (const AttrRow *a = op->attr; a && a->name; a++) {
        if (a->kind == ATTR_INT) add_name(w, a->name, NULL, any_size(w->cx, a->name));
        for (int j = 0; a->kind == ATTR_INTS && j < LIST_ELEMENTS; j++) {
            const char *word = name_format(w->cx, "%s_%d", a->name, j);
            add_name(w, word, NULL, any_size(w->cx, word));
        }
    }
}

/* ---- `x is f32` -------------------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (is_letter(s[n])) n++;
    return n;
}

static const Tensor *input_called(const Names *w, const char *word)
{
    for (int i = 0; i < w->count; i++)
        if (w->bind[i].tensor && text_equal(w->bind[i].name, word)) return w->bind[i].tensor;
    return NULL;
}

/* A fault in a condition: a sentence, and its position. */
typedef struct Fault { const char *what; size_t at, length; } Fault;

/* Returns the text with each `NAME is TYPE` replaced by `true` or `false` and blanks. Against a row, any type
 * matches. */
static char *without_types(const Names *w, const char *when, bool is_row, Fault *fault)
{
    size_t length = strlen(when);
    char *text = arena_copy(w->cx->arena, when, length + 1);
    for (size_t at = 0; at < length; at += word_length(when + at) + !is_letter(when[at])) {
        size_t n = word_length(when + at), is = at + n + strspn(when + at + n, " ");
        if (!n || is == at + n || strncmp(when + is, "is ", 3) != 0) continue;
        size_t type_at = is + 2 + strspn(when + is + 2, " "), m = word_length(when + type_at);
        DType type;
        const char *word = name_n(w->cx, when + at, n);
        const Tensor *t = input_called(w, word);
        bool is_type = dtype_read(when + type_at, m, &type);
        if (!fault->what && !t)
            *fault = (Fault){ text_format(w->cx, "there is no input '%s'", word), at, n };
        if (!fault->what && !is_type)
            *fault = (Fault){ text_format(w->cx, "'%.*s' is not an element type", (int)m, when + type_at), type_at, m };
        const char *truth = t && is_type && (is_row || t->type == type) ? "true" : "false";
        memset(text + at, ' ', type_at + m - at);
        memcpy(text + at, truth, strlen(truth));
        at = type_at;
    }
    return text;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static void find_element(const Expr *e, void *user) { *(bool *)user |= e->kind == EXPR_READ || e->kind == EXPR_LOAD; }

/* Returns the position of the expression reader's diagnostic, from its line of carets. */
static Fault fault_of(const Diag *d)
{
    const char *carets = d->source ? strchr(d->source, '\n') : NULL;
    if (!carets) return (Fault){ d->what, 0, 1 };
    size_t blanks = strspn(carets + 1, " \t");
    return (Fault){ d->what, blanks < 2 ? 0 : blanks - 2, strspn(carets + 1 + blanks, "^") };
}

/* Returns NULL and a fault if the condition does not parse. */
static const Expr *read_condition(const Names *w, const char *when, bool is_row, Fault *fault)
{
    const char *text = without_types(w, when, is_row, fault);
    if (fault->what) return NULL;
    DiagMark mark = diag_mark(w->cx);
    const Expr *e = simplify(w->cx, expr_read(w->cx, text, w->bind, I32), NULL);
    const Diag *d = diag_rewind(w->cx, mark);
    bool reads = false;
    if (d) *fault = fault_of(d);
    else expr_walk(w->cx, e, find_element, &reads);
    if (!d && e->type != BOOL) *fault = (Fault){ "a comparison is expected, not a number", 0, strlen(when) };
    if (!d && reads)
        *fault = (Fault){ "it reads elements; only sizes, types and integer attributes are accepted", 0, strlen(when) };
    return fault->what ? NULL : e;
}

static bool refuse_condition(Ctx *cx, const Implementation *i, const Fault *f)
{
    Text lines = text_new(cx);
    text_printf(&lines, "  %s\n  ", i->when);
    text_spaces(&lines, (int)f->at);
    for (size_t k = 0; k < f->length || !k; k++) text_char(&lines, '^');
    diag_with_source(cx,
                     text_format(cx, "implementation \"%s\" of %s, when, column %d", i->name, i->ops, (int)f->at + 1),
                     text_string(&lines), "%s", f->what);
    return false;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool reads_for_pattern(Ctx *cx, const Implementation *i, const char *pattern)
{
    int count;
    const Op *const *op = op_list(cx, &count);
    Names all = { .cx = cx };
    for (int k = 0; k < count; k++)
        if (text_equal(pattern, pattern_text(op[k]->fusion.pattern))) add_names_of_op(&all, op[k]);
    Fault fault = { .what = NULL };
    return read_condition(&all, i->when, true, &fault) || refuse_condition(cx, i, &fault);
}

static bool reads_for_op(Ctx *cx, const Implementation *i, const Op *op)
{
    Names own = { .cx = cx };
    Fault fault = { .what = NULL };
    add_names_of_op(&own, op);
    return read_condition(&own, i->when, true, &fault) || refuse_condition(cx, i, &fault);
}

bool condition_reads(Ctx *cx, const Implementation *i)
{
    for (const char *s = i->when ? i->ops : ""; *s; s += strcspn(s, " "), s += strspn(s, " ")) {
        const char *word = name_n(cx, s, strcspn(s, " "));
        const Op *op = op_find(cx, word);
        if (op ? !reads_for_op(cx, i, op)
               : !reads_for_pattern(cx, i, word + strcspn(word, ":") + (strchr(word, ':') != NULL)))
            return false;
    }
    return true;
}

Holds condition_holds(Ctx *cx, const Implementation *i, const Node *call, const Expr **open)
{
    Fault fault = { .what = NULL };
    const Names names = names_of_call(cx, call);
    const Expr *e = read_condition(&names, i->when, false, &fault);
    if (!e) {
        if (text_has_word(i->ops, call->op->name)) reads_for_op(cx, i, call->op);
        return HOLDS_NOT;
    }
    if (e->kind == EXPR_INT) return e->integer ? HOLDS : HOLDS_NOT;
    *open = e;
    return HOLDS_OPEN;
}
