/* SPDX-License-Identifier: MIT */
/* `loopwright instruction MODEL MACRO` prints the arguments and the meaning of an instruction's macro: its declaration,
 * a C prototype, and the portable form. The parameters follow the convention of ir/nest/instruction.h. */
#include <string.h>

#include "api/computation/arguments.h"
#include "cgen/cgen.h"
#include "driver/driver.h"
#include "ir/nest/instruction.h"
#include "ir/text/read_instruction.h"
#include "lower/lower.h"
#include "support/guard.h"
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
    return i->stage->out_count == 1 && i->number_count == i->argument_count;
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

static const char *described(Ctx *cx, const Instruction *i)
{
    Text t = text_new(cx);
    Portable p = { .cx = cx };
    text_printf(&t, "/* instruction %s%s%s\n *\n", i->text, i->feature ? " feature=" : "",
                i->feature ? i->feature : "");
    text_add(&t, " * NAME_at is the index of the first element; NAME_strideD counts the elements from one index of\n"
                 " * dimension D to the next. The elements of the last dimension are adjacent. */\n");
    text_add(&t, "#include <stdbool.h>\n#include <stdint.h>\n\n");
    add_parameters(&p, i);
    cgen_macro(cx, &t, i->macro, p.parameter, p.parameter_count, NULL);
    if (i->sets) {
        text_printf(&t, "\n/* Sets %s for the instructions behind it. It has no portable form. */\n", i->sets);
        return text_string(&t);
    }
    if (!has_portable_form(i)) {
        text_add(&t, "\n/* The macro does not receive all numbers of the formula, so it has no portable form. */\n");
        return text_string(&t);
    }
    const Function f = { .name = i->macro, .body = loops_of(&p, i->stage) };
    text_printf(&t, "\n/* The portable form%s.\n * The emitted C calls it where a macro of its name is defined. */\n"
                "#define %s %s\n",
                i->stage->reducer == REDUCE_NONE ? "" : " combines the values with what the result holds", i->macro,
                i->macro);
    cgen_macro(cx, &t, i->macro, p.parameter, p.parameter_count, lower_final(cx, &f, NULL));
    return text_string(&t);
}

/* Finds the instruction among the declarations of the model's schedules, then among the known instructions. */
static const char *find(Ctx *cx, const char *model, const char *macro, const lw_options *o)
{
    Build b;
    o = options_of(cx, "lw_print_instruction", o);
    if (!o || !is_given(cx, "lw_print_instruction", "the model", model)
        || !is_given(cx, "lw_print_instruction", "the macro", macro) || !build_read(&b, cx, model, o)
        || !build_graph(&b) || !build_nests(&b))
        return NULL;
    const Instruction *found = NULL;
    for (const Build *g = &b; g && !found; g = g->tree.next)
        for (int i = 0; i < g->groups.count && !found; i++)
            if (g->scheduled.nest[i]) found = nest_instruction(g->scheduled.nest[i], macro);
    if (found && found->open) found = found->open;
    if (!found) found = instruction_known(cx, macro);
    if (!found && !ctx_failed(cx))
        diag_error(cx, NULL, "no schedule of %s declares the instruction \"%s\"; use the name of a macro that a step "
                   "`instruction` declares", model, macro);
    return found && !ctx_failed(cx) ? described(cx, found) : NULL;
}

const char *lw_print_instruction(lw_context *cx, const char *model, const char *macro, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, find(cx, model, macro, o));
}
