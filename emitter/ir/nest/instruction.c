/* SPDX-License-Identifier: MIT */
/* Binds the open numbers of an instruction to values. */

/* Decision: an instruction is declared once for all sizes. The sizes are variables of the formula (`LW_DOT_2X2_I8[n](a:
 * i8[2][n], ...)`). Matching with a loop nest binds them to trip counts and to constants of the nest's value. The tile
 * then has the instruction with these numbers, which every later check matches unchanged. So the table of a target's
 * instructions (`schedules/arm/instructions.c`) has a row for each macro, and a strategy names the macro. */
#include "ir/nest/instruction.h"

#include <string.h>

#include "support/text.h"

const Instruction *nest_instruction(const Nest *n, const char *macro)
{
    for (int i = n->instruction_count - 1; i >= 0; i--)
        if (strcmp(n->instruction[i]->macro, macro) == 0) return n->instruction[i];
    return NULL;
}

bool nest_has_field(const Nest *n, const char *field)
{
    for (int i = 0; i < n->field_count; i++)
        if (text_equal(n->field[i], field)) return true;
    return false;
}

const Instruction *nest_setter(const Nest *n, const char *field)
{
    for (int i = n->instruction_count - 1; i >= 0; i--)
        if (text_equal(n->instruction[i]->sets, field)) return n->instruction[i];
    return NULL;
}

int instruction_number(const Instruction *i, const Expr *e)
{
    for (int k = 0; k < i->number_count; k++)
        if (e->kind == EXPR_VAR && i->number[k] == e) return k;
    return -1;
}

bool instruction_is_open(const Instruction *i)
{
    bool is_open = false;
    for (int k = 0; k < i->number_count; k++) is_open = is_open || i->number[k]->kind == EXPR_VAR;
    return is_open;
}

bool instruction_binds_late(const Instruction *i, int k) { return i->number[k]->kind == EXPR_VAR && i->range[k].step; }

bool instruction_has_sizes_of_run(const Instruction *i)
{
    bool has = false;
    for (int k = 0; k < i->number_count; k++) has = has || instruction_binds_late(i, k);
    return has;
}

bool instruction_names_memory(const Instruction *i)
{
    bool names = i->result_memory;
    for (int k = 0; k < i->operand_count; k++) names = names || i->memory[k];
    return names;
}

/* The variables of the declaration and their replacements. The declaration's numbers come first, then the axes of its
 * formula. */
typedef struct Replaced {
    const Instruction *from;
    Instruction *to;
    const Expr *var[MAX_NUMBERS + MAX_AXES], *by[MAX_NUMBERS + MAX_AXES];
    int count;
    bool has_number;                 /* true if the formula's value has a number */
} Replaced;

static const Expr *replaced_size(Ctx *cx, const Replaced *r, const Expr *size)
{
    return simplify(cx, expr_substitute(cx, size, r->var, r->by, r->from->number_count), NULL);
}

static const Tensor *replaced_tensor(Ctx *cx, const Replaced *r, const Tensor *t)
{
    const Expr *shape[MAX_RANK];
    for (int d = 0; d < t->rank; d++) shape[d] = replaced_size(cx, r, t->shape[d]);
    return tensor_new(cx, t->name, t->type, t->rank, shape);
}

static const Expr *replaced_read(Ctx *cx, const Expr *e, void *user)
{
    Replaced *r = user;
    r->has_number = r->has_number || instruction_number(r->from, e) >= 0;
    for (int k = 0; k < r->from->operand_count; k++)
        if (e->kind == EXPR_READ && e->ref == r->from->operand[k])
            return tensor_read(cx, r->to->operand[k], e->arg, e->arg_count);
    return e;
}

/* Returns the formula with axes of the current sizes. A value that contains a number is simplified, because the values
 * of nests are simplified. */
static Stage *replaced_stage(Ctx *cx, Replaced *r)
{
    Stage *s = arena_copy(cx->arena, r->from->stage, sizeof *s);
    const Bounds *scope = NULL;
    s->axis = arena_copy(cx->arena, s->axis, (size_t)s->axis_count * sizeof *s->axis);
    for (int a = 0; a < s->axis_count; a++) {
        Axis *x = &s->axis[a];
        r->var[r->count] = x->var;
        x->extent = replaced_size(cx, r, x->extent);
        x->var = r->by[r->count++] = axis_var(cx, expr_as_var(x->var)->name, x->extent);
        scope = bounds_var(cx, scope, x->var, x->extent);
    }
    s->out = NEW(cx->arena, Tensor *);
    s->out[0] = replaced_tensor(cx, r, r->from->stage->out[0])->self;
    const Expr **value = NEW(cx->arena, const Expr *);
    value[0] = expr_substitute(cx, expr_rewrite(cx, s->value[0], replaced_read, r), r->var, r->by, r->count);
    if (r->has_number) value[0] = simplify(cx, value[0], scope);
    s->value = value;
    return s;
}

const Instruction *instruction_with(Ctx *cx, const Instruction *i, const Expr *const *number)
{
    Instruction *to = arena_copy(cx->arena, i, sizeof *to);
    Replaced r = { .from = i, .to = to, .count = i->number_count };
    for (int k = 0; k < i->number_count; k++) {
        r.var[k] = i->number[k];
        r.by[k] = to->number[k] = number[k] && i->number[k]->kind == EXPR_VAR ? number[k] : i->number[k];
    }
    for (int k = 0; k < i->operand_count; k++) to->operand[k] = replaced_tensor(cx, &r, i->operand[k]);
    to->stage = replaced_stage(cx, &r);
    to->open = i->open ? i->open : i;
    return to;
}

const Instruction *instruction_with_constants(Ctx *cx, const Instruction *i, const Expr *const *number)
{
    const Expr *constant[MAX_NUMBERS];
    for (int k = 0; k < i->number_count; k++) constant[k] = instruction_binds_late(i, k) ? NULL : number[k];
    return instruction_with(cx, i, constant);
}
