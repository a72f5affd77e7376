/* SPDX-License-Identifier: MIT */
/* Reads an instruction's declaration: the macro, its numbers, its operands, and the formula of its result. */
#include "ir/text/read_instruction.h"

#include "ir/text/formula.h"
#include "ir/text/read.h"
#include "support/names.h"

static void read_numbers(Ctx *cx, Lexer *l, Instruction *out)
{
    if (!lex_is(l, "[")) return;
    lex_expect(l, "[", "after the macro's name");
    while (!ctx_failed(cx) && !lex_is(l, "]")) {
        if (out->number_count == MAX_NUMBERS)
            lex_error(l, lex_peek(l), "an instruction has up to %d numbers", MAX_NUMBERS);
        if (ctx_failed(cx) || !lex_integer(l, &out->number[out->number_count++])) return;
        if (!lex_is(l, "]")) lex_expect(l, ",", "between numbers");
    }
    lex_expect(l, "]", "after the numbers");
}

static const Symbol *read_operands(Ctx *cx, Lexer *l, Instruction *out)
{
    const Symbol *symbols = NULL;
    lex_expect(l, "(", "after the macro's name");
    while (!ctx_failed(cx) && !lex_is(l, ")")) {
        const Expr *shape[MAX_RANK];
        DType type;
        int rank;
        Token at = lex_peek(l);
        const char *operand = lex_name(l, "an operand");
        if (out->operand_count == MAX_OPERANDS) lex_error(l, at, "an instruction has up to %d operands", MAX_OPERANDS);
        if (!lex_expect(l, ":", "before the type") || !tensor_type_read(l, symbols, &type, &rank, shape)
            || ctx_failed(cx))
            return NULL;
        Tensor *t = tensor_new(cx, operand, type, rank, shape);
        if (!tensor_is_fixed(t))
            lex_error(l, at, "operand '%s' is %s; fixed sizes are expected", operand, tensor_type_text(cx, t));
        symbols = symbol_add(cx, symbols, operand, t, NULL);
        out->operand[out->operand_count++] = t;
        if (!lex_is(l, ")")) lex_expect(l, ",", "between operands");
    }
    lex_expect(l, ")", "after the operands");
    return symbols;
}

static bool index_is_plain(Ctx *cx, const Stage *s, const Expr *read)
{
    for (int d = 0; d < read->arg_count; d++) {
        bool is_axis = false;
        for (int a = 0; a < s->axis_count; a++) is_axis = is_axis || s->axis[a].var == read->arg[d];
        if (!is_axis && !expr_is_int(read->arg[d], 0)) {
            const Tensor *t = read->ref;
            diag_error(cx, "instruction",
                       "%s is read at an index that is not an axis; an axis per dimension is accepted", t->name);
            return false;
        }
    }
    return true;
}

typedef struct Plain { Ctx *cx; const Instruction *instr; bool fine, is_read[MAX_OPERANDS]; } Plain;

static void visit_read(const Expr *e, void *user)
{
    Plain *p = user;
    if (e->kind != EXPR_READ || !p->fine) return;
    p->fine = index_is_plain(p->cx, p->instr->stage, e);
    for (int k = 0; k < p->instr->operand_count; k++)
        if (p->instr->operand[k] == e->ref) p->is_read[k] = true;
}

Instruction *instruction_read(Ctx *cx, const char *declaration)
{
    Instruction *i = NEW(cx->arena, Instruction);
    const ArenaMark mark = arena_mark(cx->scratch);
    Lexer l = lex_text(cx, declaration, "instruction");
    i->text = name(cx, declaration);
    i->macro = lex_name(&l, "the name of a macro");
    read_numbers(cx, &l, i);
    const Symbol *symbols = read_operands(cx, &l, i);
    Tensor *t = ctx_failed(cx) ? NULL : formula_read(&l, symbols, NULL, false);
    arena_reset(cx->scratch, mark);
    if (!t || ctx_failed(cx)) return NULL;
    i->stage = t->producer->stage;
    Plain p = { .cx = cx, .instr = i, .fine = true };
    expr_walk(cx, i->stage->value[0], visit_read, &p);
    for (int k = 0; k < i->operand_count; k++)
        if (!p.is_read[k] && !ctx_failed(cx))
            diag_error(cx, "instruction", "%s does not read %s: its formula reads each operand",
                       i->macro, i->operand[k]->name);
    if (i->stage->out_count != 1)
        diag_error(cx, "instruction", "%s has %d results; one is accepted", i->macro, i->stage->out_count);
    for (int a = 0; a < i->stage->axis_count; a++)
        if (i->stage->axis[a].extent->kind != EXPR_INT)
            diag_error(cx, "instruction", "the axis %s of %s has an open size; a constant is expected",
                       expr_as_var(i->stage->axis[a].var)->name, i->macro);
    return ctx_failed(cx) ? NULL : i;
}
