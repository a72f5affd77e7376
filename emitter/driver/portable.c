/* SPDX-License-Identifier: MIT */
/* The portable form of an instruction: a C function of its macro's arguments, whose loops compute the formula. The
 * parameters follow the convention of ir/nest/instruction.h.
 *
 * Decision: `--portable apart` prints each portable form once, before the layers, and defines the macro as that
 * function where the build has no macro. Layers then have only the macro's call. Without the option each call has its
 * own loops in an #else, whose sizes and strides are constants: these need no inlining, and an analyser reads them in
 * their layer. A call keeps its own loops in three cases: the macro does not receive all numbers of the formula; two
 * schedules of the model declare the macro with different formulas; an operand is in a memory in which only the unit
 * computes. */
#include "driver/driver.h"

#include <ctype.h>
#include <string.h>

#include "cgen/cgen.h"
#include "ir/nest/instruction.h"
#include "ir/text/read_instruction.h"
#include "lower/lower.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_PARAMETERS = MAX_NUMBERS + (MAX_OPERANDS + 1) * (MAX_RANK + 1) };

/* A tensor of the instruction in flat memory: element [i, j] is at + i * stride[0] + j. */
typedef struct Flat {
    const Tensor *tensor;
    const Memory *memory;                    /* NULL for an operand of rank 0, whose value is `at` */
    const Expr *at, *stride[MAX_RANK];
} Flat;

typedef struct Portable {
    Ctx *cx;
    int flat_count, parameter_count;
    Flat flat[MAX_OPERANDS + 1];             /* the result, then the operands */
    MacroParameter parameter[MOST_PARAMETERS];
} Portable;

static const Expr *add_number(Portable *p, const char *name, DType type)
{
    const Expr *e = expr_new_var(p->cx, name, VAR_SIZE, type, 0, INT32_MAX);
    p->parameter[p->parameter_count++] = (MacroParameter){ .number = e };
    return e;
}

/* Adds the parameters of one tensor. A dimension of one element has no stride, and the last one has stride 1. */
static void add_tensor(Portable *p, const Tensor *t, MemoryKind kind)
{
    Ctx *cx = p->cx;
    Flat *f = &p->flat[p->flat_count++];
    *f = (Flat){ .tensor = t };
    if (t->rank == 0 && kind == MEMORY_INPUT) {
        f->at = add_number(p, t->name, t->type);
        return;
    }
    const Memory proto = { .name = t->name, .type = t->type, .kind = kind, .elems = expr_index(cx, INT32_MAX) };
    f->memory = memory_new(cx, &proto);
    p->parameter[p->parameter_count++] = (MacroParameter){ .memory = f->memory };
    f->at = add_number(p, name_format(cx, "%s_at", t->name), I32);
    for (int d = 0; d < t->rank; d++) {
        if (expr_is_int(t->shape[d], 1)) f->stride[d] = expr_index(cx, 0);
        else if (d + 1 == t->rank) f->stride[d] = expr_index(cx, 1);
        else f->stride[d] = add_number(p, name_format(cx, "%s_stride%d", t->name, d), I32);
    }
}

static const Expr *index_of(Ctx *cx, const Flat *f, const Expr *const *at)
{
    const Expr *sum = f->at;
    for (int d = 0; d < f->tensor->rank; d++) sum = expr_add(cx, sum, expr_mul(cx, at[d], f->stride[d]));
    return simplify(cx, sum, NULL);
}

static const Expr *visit_operand(Ctx *cx, const Expr *e, void *user)
{
    const Portable *p = user;
    for (int i = 1; e->kind == EXPR_READ && i < p->flat_count; i++)
        if (e->ref == p->flat[i].tensor)
            return p->flat[i].memory ? load_expr(cx, p->flat[i].memory, index_of(cx, &p->flat[i], e->arg))
                                     : p->flat[i].at;
    return e;
}

/* Returns the loops of the formula, the last axis innermost. */
static const Code *loops_of(Portable *p, const Stage *s)
{
    Ctx *cx = p->cx;
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    for (int a = 0; a < s->axis_count; a++) {
        from[a] = s->axis[a].var;
        to[a] = expr_new_var(cx, expr_as_var(from[a])->name, VAR_LOOP, I32, 0, INT32_MAX);
    }
    const Expr *at = index_of(cx, &p->flat[0], to), *old = load_expr(cx, p->flat[0].memory, at),
               *value = expr_rewrite(cx, expr_substitute(cx, s->value[0], from, to, s->axis_count), visit_operand, p);
    if (s->reducer != REDUCE_NONE) stage_combine(cx, s, &old, &value, &value);
    const Code *code = code_store(cx, p->flat[0].memory, at, value);
    for (int a = s->axis_count - 1; a >= 0; a--)
        code = code_for(cx, to[a], expr_index(cx, 0), s->axis[a].extent, 1, LOOP_SERIAL, code);
    return code;
}

/* Returns true if the formula needs no number that the macro does not receive, and has one result. */
static bool has_portable_form(const Instruction *i)
{
    return i->stage && i->stage->out_count == 1 && i->number_count == i->argument_count;
}

static void add_parameters(Portable *p, const Instruction *i)
{
    for (int n = 0; n < i->argument_count; n++) {
        const Var *v = expr_as_var(i->number[n]);
        p->parameter[p->parameter_count++] =
            (MacroParameter){ .number = v ? i->number[n]
                                  : expr_new_var(p->cx, name_format(p->cx, "number%d", n + 1), VAR_SIZE, I32,
                                                 INT32_MIN, INT32_MAX) };
    }
    if (!i->sets) add_tensor(p, i->stage->out[0], MEMORY_OUTPUT);
    for (int k = 0; k < i->operand_count; k++) add_tensor(p, i->operand[k], MEMORY_INPUT);
}

PortableForm build_portable_form(Ctx *cx, const Instruction *i)
{
    Portable *p = NEW(cx->arena, Portable);
    p->cx = cx;
    add_parameters(p, i);
    PortableForm form = { .macro = i->macro, .parameter_count = p->parameter_count, .parameter = p->parameter };
    if (!has_portable_form(i)) return form;
    const Function f = { .name = i->macro, .body = loops_of(p, i->stage) };
    form.function = lower_final(cx, &f, NULL);
    return form;
}

/* ---- --portable apart -------------------------------------------------------------------------------------------- */

static const Instruction *declaration_of(const Instruction *i) { return i && i->open ? i->open : i; }

/* Returns the declaration of a macro, or NULL if there is none, or if there are several with different texts. */
static const Instruction *declared(const Build *b, const char *macro)
{
    const Instruction *found = NULL;
    for (const Build *g = b; g; g = g->tree.next)
        for (int k = 0; k < g->groups.count; k++) {
            const Nest *n = g->scheduled.nest[k];
            const Instruction *i = n ? declaration_of(nest_instruction(n, macro)) : NULL;
            if (i && found && !text_equal(i->text, found->text)) return NULL;
            if (i) found = i;
        }
    return found ? found : declaration_of(instruction_known(b->cx, macro));
}

/* Returns "portable_dot_2x4_i16" for LW_DOT_2X4_I16. */
static const char *symbol_of(Ctx *cx, const char *macro)
{
    Text t = text_new(cx);
    text_add(&t, "portable_");
    for (const char *s = strncmp(macro, "LW_", 3) == 0 ? macro + 3 : macro; *s; s++)
        text_char(&t, (char)tolower((unsigned char)*s));
    return text_string(&t);
}

typedef struct Forms { const Build *b; Map seen; int count, room; PortableForm *at; } Forms;

static void add_form(Forms *f, const char *macro)
{
    Ctx *cx = f->b->cx;
    const Instruction *i = declared(f->b, macro);
    map_put_ptr(&f->seen, macro, f);
    if (!i || !has_portable_form(i)) return;
    if (f->count == f->room) {
        PortableForm *more = NEW_ARRAY(cx->arena, PortableForm, 2 * f->room + 8);
        for (int k = 0; k < f->count; k++) more[k] = f->at[k];
        f->at = more;
        f->room = 2 * f->room + 8;
    }
    f->at[f->count] = build_portable_form(cx, i);
    f->at[f->count++].symbol = text_format(cx, "%s_%s", f->b->name, build_symbol(f->b, symbol_of(cx, macro)));
}

static void add_forms(Forms *f, const Code *c)
{
    if (c->kind == CODE_CALL && c->child_count && !map_get_ptr(&f->seen, c->text)) add_form(f, c->text);
    for (int i = 0; i < c->child_count && c->kind != CODE_CALL; i++) add_forms(f, c->child[i]);
}

void build_portable_forms(Build *b)
{
    Forms f = { .b = b, .seen = map_new(b->cx->arena) };
    for (int i = 0; i < b->program.function_count; i++) add_forms(&f, b->program.function[i]->body);
    b->program.portable_count = f.count;
    b->program.portable = f.at;
}
