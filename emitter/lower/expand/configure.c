/* SPDX-License-Identifier: MIT */
/* Places the macros that set a unit's fields of configuration, and proves that each instruction finds its values. */

/* Decision: configuration is placed in lowered code. The values are strides and sizes, which are known when storage is
 * decided, and no step can separate a macro that sets a field from its instruction. The proof is a second walk over the
 * code with the macros, which shares no function with the placement: it follows the values that reach an instruction.
 * After a loop or a branch that sets a field to other values, its value is unknown. */
#include "lower/expand/configure.h"

#include "support/text.h"

enum { MAX_FIELDS = 32 };

/* The known values of fields; a field with an unknown value is absent. */
typedef struct Fields { int count; FieldValue known[MAX_FIELDS]; } Fields;

static const Expr *value_of(const Fields *f, const char *field)
{
    for (int i = 0; i < f->count; i++)
        if (text_equal(f->known[i].field, field)) return f->known[i].value;
    return NULL;
}

static void forget(Fields *f, const char *field)
{
    for (int i = 0; i < f->count; i++)
        if (text_equal(f->known[i].field, field)) f->known[i--] = f->known[--f->count];
}

static void hold(Fields *f, const FieldValue *v)
{
    forget(f, v->field);
    if (f->count < MAX_FIELDS) f->known[f->count++] = *v;
}

/* ---- Placement --------------------------------------------------------------------------------------------------- */

static bool declares(const Code *c, const Expr *value)
{
    if ((c->kind == CODE_FOR || c->kind == CODE_LET) && expr_uses(value, c->var)) return true;
    for (int i = 0; i < c->child_count; i++)
        if (declares(c->child[i], value)) return true;
    return false;
}

/* Collects the values that the instructions in the code require of a field. Returns false if there are several. */
static bool one_value(const Code *c, const char *field, const FieldValue **out)
{
    for (int i = 0; i < c->need_count; i++) {
        if (!text_equal(c->need[i].field, field)) continue;
        if (*out && (*out)->value != c->need[i].value) return false;
        *out = &c->need[i];
    }
    for (int i = 0; i < c->child_count; i++)
        if (!one_value(c->child[i], field, out)) return false;
    return true;
}

static void find_fields(const Code *c, Fields *all)
{
    for (int i = 0; i < c->need_count; i++) hold(all, &c->need[i]);
    for (int i = 0; i < c->child_count; i++) find_fields(c->child[i], all);
}

/* Sets a field unless it has the value. */
static const Code *set(Ctx *cx, Fields *f, const FieldValue *v)
{
    if (value_of(f, v->field) == v->value) return NULL;
    hold(f, v);
    return code_set(cx, v);
}

static const Code *place(Ctx *cx, const Code *c, Fields *f);

/* Sets the fields whose value is the same in all iterations before the loop. The other ones are unknown in it. */
static const Code *place_loop(Ctx *cx, const Code *c, Fields *f)
{
    Fields all = { .count = 0 };
    const Code *part[MAX_FIELDS + 1] = { NULL };
    int n = 0;
    find_fields(c, &all);
    for (int i = 0; i < all.count; i++) {
        const FieldValue *v = NULL;
        if (one_value(c, all.known[i].field, &v) && !declares(c, v->value)) part[n++] = set(cx, f, v);
        else forget(f, all.known[i].field);
    }
    Fields inside = *f;
    const Code *body = place(cx, c->child[0], &inside);
    part[n] = body == c->child[0] ? c : code_with_children(cx, c, &body);
    return n ? code_seq(cx, part, n + 1) : part[0];
}

static const Code *place_branch(Ctx *cx, const Code *c, Fields *f)
{
    Fields no = *f;
    const Code *child[2] = { place(cx, c->child[0], f), NULL };
    if (c->child_count > 1) child[1] = place(cx, c->child[1], &no);
    for (int i = 0; i < f->count; i++)
        if (value_of(&no, f->known[i].field) != f->known[i].value) f->known[i--] = f->known[--f->count];
    return code_with_children(cx, c, child);
}

static const Code *place_children(Ctx *cx, const Code *c, Fields *f)
{
    const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count);
    for (int i = 0; i < c->child_count; i++) child[i] = place(cx, c->child[i], f);
    return code_with_children(cx, c, child);
}

static const Code *place(Ctx *cx, const Code *c, Fields *f)
{
    const Code *part[MAX_FIELDS + 1] = { NULL };
    switch (c->kind) {
    case CODE_FOR: return place_loop(cx, c, f);
    case CODE_IF:  return place_branch(cx, c, f);
    case CODE_SEQ:
    case CODE_SCOPE: return place_children(cx, c, f);
    case CODE_CALL: break;
    case CODE_LET:
    case CODE_LOCAL:
    case CODE_STORE: return c;
    }
    for (int i = 0; i < c->need_count && i < MAX_FIELDS; i++) part[i] = set(cx, f, &c->need[i]);
    part[c->need_count] = c;
    return c->need_count ? code_seq(cx, part, c->need_count + 1) : c;
}

/* ---- Proof ------------------------------------------------------------------------------------------------------- */

typedef struct Proof { Ctx *cx; const char *fault; } Proof;

/* Forgets each field that the code sets to a value other than its present one. */
static void lose(const Code *c, Fields *f)
{
    const Expr *known = c->sets ? value_of(f, c->sets) : NULL;
    if (known && known != c->args[0]) forget(f, c->sets);
    for (int i = 0; i < c->child_count; i++) lose(c->child[i], f);
}

/* Forgets the fields whose value the code declares a variable of, which has a value for each iteration. */
static void leave(const Expr *var, Fields *f)
{
    for (int i = 0; i < f->count; i++)
        if (expr_uses(f->known[i].value, var)) f->known[i--] = f->known[--f->count];
}

static void prove(Proof *p, const Code *c, Fields *f);

static void prove_loop(Proof *p, const Code *c, Fields *f)
{
    leave(c->var, f);
    lose(c->child[0], f);                       /* also an earlier iteration may have set it */
    Fields inside = *f;
    prove(p, c->child[0], &inside);
}

static void prove_branch(Proof *p, const Code *c, Fields *f)
{
    Fields yes = *f;
    prove(p, c->child[0], &yes);
    if (c->child_count > 1) prove(p, c->child[1], f);
    for (int i = 0; i < f->count; i++)
        if (value_of(&yes, f->known[i].field) != f->known[i].value) f->known[i--] = f->known[--f->count];
}

static void prove_call(Proof *p, const Code *c, Fields *f)
{
    for (int i = 0; i < c->need_count && !p->fault; i++)
        if (value_of(f, c->need[i].field) != c->need[i].value)
            p->fault = text_format(p->cx, "%s needs another value of %s than the one that is set on all paths", c->text,
                                   c->need[i].field);
    if (c->sets) hold(f, &(FieldValue){ c->sets, c->text, c->args[0] });
}

static void prove(Proof *p, const Code *c, Fields *f)
{
    if (c->kind == CODE_FOR) prove_loop(p, c, f);
    else if (c->kind == CODE_IF) prove_branch(p, c, f);
    else if (c->kind == CODE_CALL) prove_call(p, c, f);
    else
        for (int i = 0; i < c->child_count && c->kind != CODE_STORE; i++) prove(p, c->child[i], f);
}

const char *configuration_fault(Ctx *cx, const Code *c)
{
    Proof p = { cx, NULL };
    Fields none = { .count = 0 };
    prove(&p, c, &none);
    return p.fault;
}

const Code *configured(Ctx *cx, const Code *c)
{
    Fields fields = { .count = 0 };
    if (c) find_fields(c, &fields);
    if (!fields.count) return c;
    fields.count = 0;
    c = place(cx, c, &fields);
    const char *fault = configuration_fault(cx, c);
    if (fault) diag_internal(cx, "configuration", "%s", fault);
    return c;
}
