/* SPDX-License-Identifier: MIT */
/* Conditions of implementations. A condition is parsed as an expression of formulas. Before that, true or false
 * replaces every predicate (`x is f32`) in its text, and a number replaces every rank(x). Columns stay. A condition is
 * parsed twice. Against the operator's row, with any sizes and attributes, it must parse; a failure is the author's
 * mistake and an error. Against a call, with the call's values, it may fail on a name that this call omits; the
 * condition then does not hold. */
#include "graph/condition/condition.h"

#include <string.h>

#include "graph/condition/condition_names.h"
#include "ir/algebra/algebra.h"
#include "support/names.h"
#include "support/text.h"

static const ConditionName names[] = {
#define NAME(form, meaning) { form, meaning },
#include "graph/condition/conditions.def"
#undef NAME
};

const ConditionName *condition_names(int *count)
{
    *count = (int)(sizeof names / sizeof *names);
    return names;
}

/* A fault in a condition: the diagnostic, and the position of the faulty words in the condition. */
typedef struct Fault { const char *what; size_t at, length; } Fault;

/* ---- Predicates -------------------------------------------------------------------------------------------------- */

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

/* The words of `SUBJECT is OBJECT` or `SUBJECT has OBJECT`, and their positions in the condition. */
typedef struct Predicate {
    const char *subject, *object;
    size_t subject_at, object_at, end;
    bool has;
} Predicate;

/* Reads the predicate that begins at `at`; returns false if there is none. The object may contain '-', as names of
 * targets and features do. */
static bool predicate_at(Ctx *cx, const char *when, size_t at, Predicate *p)
{
    const size_t n = word_length(when + at), verb = at + n + strspn(when + at + n, " ");
    p->has = strncmp(when + verb, "has ", 4) == 0;
    if (!n || verb == at + n || (!p->has && strncmp(when + verb, "is ", 3) != 0)) return false;
    p->subject_at = at;
    p->subject = name_n(cx, when + at, n);
    p->object_at = p->end = verb + (p->has ? 3 : 2) + strspn(when + verb + (p->has ? 3 : 2), " ");
    while (is_letter(when[p->end]) || (when[p->end] == '-' && is_letter(when[p->end + 1]))) p->end++;
    p->object = name_n(cx, when + p->object_at, p->end - p->object_at);
    return true;
}

static bool chain_has(Ctx *cx, const Target *t, const char *wanted)
{
    for (; t; t = t->base ? target_find(cx, t->base) : NULL)
        if (text_equal(t->name, wanted)) return true;
    return false;
}

static bool any_target_has(Ctx *cx, const char *feature)
{
    int count;
    const Target *const *all = target_list(cx, &count);
    for (int i = 0; i < count; i++)
        if (target_has(all[i], feature)) return true;
    return false;
}

static bool of_target(const Names *w, const Predicate *p, const char **what)
{
    if (p->has && !any_target_has(w->cx, p->object))
        *what = text_format(w->cx, "no target has the feature '%s'; use a feature that `loopwright targets` lists",
                            p->object);
    else if (!p->has && !target_find(w->cx, p->object))
        *what = text_format(w->cx, "there is no target '%s'%s", p->object, target_hint(w->cx, p->object));
    return p->has ? target_has(w->target, p->object) : chain_has(w->cx, w->target, p->object);
}

static bool of_tensor(const Names *w, const Predicate *p, const Tensor *t, const char **what)
{
    DType type;
    if (text_equal(p->object, "given")) return t != NULL;
    if (text_equal(p->object, "constant")) return t && tensor_is_constant(t);
    if (!dtype_read(p->object, strlen(p->object), &type))
        *what = text_format(w->cx, "'%s' is not an element type, nor `constant` or `given`", p->object);
    return t && t->type == type;
}

/* Returns true if the predicate holds. For the names of an operator's row, every predicate holds. */
static bool is_true(const Names *w, const Predicate *p, Fault *fault)
{
    const char *what = NULL;
    bool truth = false;
    const Bind *b = names_find(w, p->subject);
    const WordAttr *word = names_word(w, p->subject);
    if (text_equal(p->subject, "target")) truth = of_target(w, p, &what);
    else if (!p->has && b && !b->value) truth = of_tensor(w, p, b->tensor, &what);
    else if (!p->has && word) truth = text_equal(word->value, p->object);
    else
        *fault = (Fault){ text_format(w->cx, p->has ? "only the target has features, not '%s'"
                                                    : "there is no input, output or word attribute '%s'", p->subject),
                          p->subject_at, strlen(p->subject) };
    if (what) *fault = (Fault){ what, p->object_at, p->end - p->object_at };
    return truth || w->is_row;
}

/* ---- Numbers of a tensor or the target --------------------------------------------------------------------------- */

static const char *rank_text(const Names *w, const char *of, Fault *fault, size_t at)
{
    const Bind *b = names_find(w, of);
    if (!b || !b->tensor)
        *fault = (Fault){ text_format(w->cx, b ? "the call has no '%s'" : "there is no input or output '%s'", of), at,
                          strlen(of) };
    return fault->what ? "0" : text_format(w->cx, "%d", b->tensor->rank);
}

/* Returns the value of FUNCTION(OF) as text, or NULL if FUNCTION is not rank, lanes or vector_bytes. */
static const char *number_text(const Names *w, const char *function, const char *of, Fault *fault, size_t at)
{
    const Target *t = w->target;
    if (text_equal(function, "rank")) return rank_text(w, of, fault, at);
    const bool is_lanes = text_equal(function, "lanes");
    if (!is_lanes && !text_equal(function, "vector_bytes")) return NULL;
    if (!text_equal(of, "target")) *fault = (Fault){ text_format(w->cx, "'target' is expected, not '%s'", of), at,
                                                     strlen(of) };
    return text_format(w->cx, "%d", !t ? 0 : is_lanes ? t->lanes : t->vector_bytes);
}

static void overwrite(char *text, size_t at, size_t end, const char *with)
{
    memset(text + at, ' ', end - at);
    memcpy(text + at, with, strlen(with));
}

/* Replaces a call such as `rank(x)` at `at` by its number. Returns the position after the call, or `at` if there is
 * none. */
static size_t replace_number(const Names *w, const char *when, char *text, size_t at, Fault *fault)
{
    const size_t n = word_length(when + at), open = at + n + strspn(when + at + n, " ");
    if (!n || when[open] != '(') return at;
    const size_t of = open + 1 + strspn(when + open + 1, " "), m = word_length(when + of),
                 close = of + m + strspn(when + of + m, " ");
    const char *value = when[close] == ')'
                            ? number_text(w, name_n(w->cx, when + at, n), name_n(w->cx, when + of, m), fault, of)
                            : NULL;
    if (!value) return at;
    overwrite(text, at, close + 1, value);
    return close + 1;
}

/* Returns the condition with predicates, and calls such as `rank(x)`, replaced by their values. */
static char *without_predicates(const Names *w, const char *when, Fault *fault)
{
    const size_t length = strlen(when);
    char *text = arena_copy(w->cx->arena, when, length + 1);
    Predicate p;
    for (size_t at = 0; at < length && !fault->what;) {
        const size_t after = replace_number(w, when, text, at, fault);
        if (after == at && predicate_at(w->cx, when, at, &p)) {
            overwrite(text, at, p.end, is_true(w, &p, fault) ? "true" : "false");
            at = p.end;
        } else at = after > at ? after : at + word_length(when + at) + !is_letter(when[at]);
    }
    return text;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static void find_element(const Expr *e, void *user) { *(bool *)user |= e->kind == EXPR_READ || e->kind == EXPR_LOAD; }

/* Returns the expression reader's diagnostic as a fault; the line of carets gives its position. */
static Fault fault_of(const Diag *d)
{
    const char *carets = d->source ? strchr(d->source, '\n') : NULL;
    if (!carets) return (Fault){ d->what, 0, 1 };
    size_t blanks = strspn(carets + 1, " \t");
    return (Fault){ d->what, blanks < 2 ? 0 : blanks - 2, strspn(carets + 1 + blanks, "^") };
}

/* Returns the condition as an expression. If it does not parse, returns NULL and sets *fault. */
static const Expr *read_condition(const Names *w, const char *when, Fault *fault)
{
    const char *text = without_predicates(w, when, fault);
    if (fault->what) return NULL;
    DiagMark mark = diag_mark(w->cx);
    const Expr *e = simplify(w->cx, expr_read(w->cx, text, w->bind, I32), NULL);
    const Diag *d = diag_rewind(w->cx, mark);
    bool reads = false;
    if (d) *fault = fault_of(d);
    else expr_walk(w->cx, e, find_element, &reads);
    if (!d && e->type != BOOL) *fault = (Fault){ "a comparison is expected, not a number", 0, strlen(when) };
    if (!d && reads)
        *fault = (Fault){ "it reads elements; use only sizes, types and attributes", 0, strlen(when) };
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
                     text_string(&lines), "%s; `loopwright ops --conditions` lists the names", f->what);
    return false;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool reads_for_pattern(Ctx *cx, const Implementation *i, const char *pattern)
{
    int count;
    const Op *const *op = op_list(cx, &count);
    Names *all = names_of_row(cx);
    for (int k = 0; k < count; k++)
        if (text_equal(pattern, pattern_text(op[k]->fusion.pattern))) names_add_op(all, op[k]);
    Fault fault = { .what = NULL };
    return read_condition(all, i->when, &fault) || refuse_condition(cx, i, &fault);
}

static bool reads_for_op(Ctx *cx, const Implementation *i, const Op *op)
{
    Names *own = names_of_row(cx);
    Fault fault = { .what = NULL };
    names_add_op(own, op);
    return read_condition(own, i->when, &fault) || refuse_condition(cx, i, &fault);
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

Holds condition_holds(Ctx *cx, const Implementation *i, const Node *call, const Target *t, const Expr **open)
{
    Fault fault = { .what = NULL };
    const Expr *e = read_condition(names_of_call(cx, call, t), i->when, &fault);
    if (!e) {
        if (text_has_word(i->ops, call->op->name)) reads_for_op(cx, i, call->op);
        return HOLDS_NOT;
    }
    if (e->kind == EXPR_INT) return e->integer ? HOLDS : HOLDS_NOT;
    *open = e;
    return HOLDS_OPEN;
}
