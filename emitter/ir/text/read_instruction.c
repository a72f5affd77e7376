/* SPDX-License-Identifier: MIT */
/* Reads an instruction's declaration: the macro, its numbers, its operands, and the formula of its result. */
#include "ir/text/read_instruction.h"

#include <string.h>

#include "ir/text/formula.h"
#include "ir/text/read.h"
#include "support/names.h"

/* Returns true if the name is a dimension of an operand or the extent of an axis of the result. */
static bool is_size(const Lexer *l, Token name)
{
    const char *text = name_n(l->cx, name.at, (size_t)name.length);
    for (int i = l->next + 1; i + 1 < l->count && !token_is(l->token[i], "="); i++) {
        const bool is_dimension = token_is(l->token[i - 1], "[") && token_is(l->token[i + 1], "]");
        if (token_is(l->token[i], text) && (is_dimension || token_is(l->token[i - 1], "<"))) return true;
    }
    return false;
}

static bool has_room(const Lexer *l, Token at, const Instruction *out)
{
    if (out->number_count == MAX_NUMBERS) lex_error(l, at, "the instruction has too many numbers; use at most %d",
                                                    MAX_NUMBERS);
    return !ctx_failed(l->cx);
}

/* Reads `least..greatest [step STEP]`. */
static bool read_range(Lexer *l, bool is_size, NumberRange *r)
{
    enum { MOST_SIZE = 1 << 16 };
    const Token at = lex_peek(l);
    r->step = 1;
    if (!lex_integer(l, &r->least) || !lex_expect(l, "..", "after the smallest value") || !lex_integer(l, &r->greatest)
        || (lex_accept(l, "step") && !lex_integer(l, &r->step)))
        return false;
    if (r->greatest < r->least)
        return lex_error(l, at, "the range has no value; write LEAST..GREATEST"), false;
    if (r->least < INT32_MIN || r->greatest > INT32_MAX)
        return lex_error(l, at, "the range is not one of i32; use values within %d..%d", INT32_MIN, INT32_MAX), false;
    if (r->step < 1) return lex_error(l, at, "the step is %lld; use a step of 1 or more", (long long)r->step), false;
    if (is_size && (r->least < 1 || r->greatest > MOST_SIZE))
        return lex_error(l, at, "the number is a size; use a range within 1..%d", MOST_SIZE), false;
    return true;
}

/* Finds `NAME in RANGE` behind the semicolon of the operands, which follow the name. */
static NumberRange range_of(Lexer *l, Token number, bool is_size)
{
    NumberRange r = { 0, 0, 0 };
    const char *text = name_n(l->cx, number.at, (size_t)number.length);
    const int next = l->next;
    int i = next, depth = 0;
    while (i < l->count && !(depth == 1 && token_is(l->token[i], ";"))) {
        depth += token_is(l->token[i], "(") - token_is(l->token[i], ")");
        i++;
    }
    for (; i + 2 < l->count && !token_is(l->token[i], ")"); i++) {
        if (!token_is(l->token[i + 1], text) || !token_is(l->token[i + 2], "in")) continue;
        l->next = i + 3;
        read_range(l, is_size, &r);
        l->next = next;
        break;
    }
    return r;
}

/* Skips the ranges, and requires that each is of an open number. */
static void skip_ranges(Lexer *l, const Instruction *out)
{
    NumberRange r;
    do {
        const Token at = lex_peek(l);
        bool is_known = false;
        const char *number = lex_name(l, "the name of a number");
        for (int k = 0; number && k < out->number_count; k++)
            is_known = is_known || (out->number[k]->kind == EXPR_VAR
                                    && text_equal(expr_as_var(out->number[k])->name, number));
        if (ctx_failed(l->cx)) return;
        if (!is_known)
            lex_error(l, at, "no operand has a size '%s', and the formula does not use it; use a name that one of them "
                      "has", number);
        if (!lex_expect(l, "in", "after the number") || !read_range(l, false, &r)) return;
    } while (lex_accept(l, ","));
}

/* Adds an open number of this name; if it yields, an axis may have its name. */
static void open_number(Lexer *l, Token at, bool yields, Instruction *out, const Symbol **symbols)
{
    const char *number = name_n(l->cx, at.at, (size_t)at.length);
    if (symbol_value(*symbols, at)) lex_error(l, at, "'%s' is a number already", number);
    if (!has_room(l, at, out)) return;
    /* With three open sizes of at most MOST, an index can still count a tensor's elements; cases may have larger
     * sizes */
    enum { MOST = 1 << 10 };
    const bool is_extent = is_size(l, at);
    const NumberRange r = range_of(l, at, is_extent);
    const Expr *e = expr_new_var(l->cx, number, VAR_SIZE, I32, r.step ? r.least : is_extent ? 1 : INT32_MIN,
                                 r.step ? r.greatest : is_extent ? MOST : INT32_MAX);
    out->range[out->number_count] = r;
    out->number[out->number_count++] = e;
    Symbol *added = symbol_add(l->cx, *symbols, number, NULL, e);
    added->yields = yields;
    *symbols = added;
}

static const Symbol *read_numbers(Ctx *cx, Lexer *l, Instruction *out)
{
    const Symbol *symbols = NULL;
    if (!lex_accept(l, "[")) return NULL;
    while (!ctx_failed(cx) && !lex_is(l, "]")) {
        const Token at = lex_peek(l);
        int64_t number = 0;
        if (at.kind == TOKEN_NAME) open_number(l, lex_take(l), false, out, &symbols);
        else if (has_room(l, at, out) && lex_integer(l, &number))
            out->number[out->number_count++] = expr_int(cx, I32, number);
        if (!out->argument_count && lex_accept(l, ";")) out->argument_count = out->number_count;
        else if (!ctx_failed(cx) && !lex_is(l, "]")) lex_expect(l, ",", "between numbers");
    }
    lex_expect(l, "]", "after the numbers");
    return symbols;
}

/* Adds a number for each named dimension that the list in brackets lacks. */
static void open_sizes(Lexer *l, Instruction *out, const Symbol **symbols)
{
    for (int i = l->next + 1; i + 1 < l->count && !token_is(l->token[i], ")"); i++) {
        const Token at = l->token[i];
        if (at.kind == TOKEN_NAME && token_is(l->token[i - 1], "[") && token_is(l->token[i + 1], "]")
            && !symbol_value(*symbols, at))
            open_number(l, at, true, out, symbols);
    }
}

/* Returns the index of the parenthesis that closes the operands. */
static int operands_end(const Lexer *l)
{
    int i = l->next, depth = 0;
    for (; i < l->count; i++) {
        depth += token_is(l->token[i], "(") - token_is(l->token[i], ")");
        if (!depth) break;
    }
    return i;
}

static bool formula_has(const Lexer *l, const char *number)
{
    for (int i = operands_end(l); i < l->count; i++)
        if (token_is(l->token[i], number)) return true;
    return false;
}

/* Adds a number for each name with a range that is not a dimension, but that the formula has. */
static void open_ranges(Lexer *l, Instruction *out, const Symbol **symbols)
{
    for (int i = l->next + 1; i + 1 < operands_end(l); i++) {
        const Token at = l->token[i];
        if (at.kind == TOKEN_NAME && token_is(l->token[i + 1], "in") && !symbol_value(*symbols, at)
            && formula_has(l, name_n(l->cx, at.at, (size_t)at.length)))
            open_number(l, at, false, out, symbols);
    }
}

/* Returns the number of the token after the parenthesis that closes the operands: the name of the result. */
static int result_at(const Lexer *l)
{
    const int i = operands_end(l);
    return i + 1 < l->count ? i + 1 : l->count - 1;
}

/* Reads `at MEMORY` or `from MEMORY`; returns NULL if there is neither. */
static const char *read_memory(Lexer *l)
{
    return lex_accept(l, "at") || lex_accept(l, "from") ? lex_name(l, "the name of a memory") : NULL;
}

/* The result among the operands. */
typedef struct DeclaredResult { const Tensor *tensor; Token at; } DeclaredResult;

static const Symbol *read_operands(Ctx *cx, Lexer *l, Instruction *out, const Symbol *symbols, DeclaredResult *result)
{
    const Token named = l->token[result_at(l)];
    const char *result_name = name_n(cx, named.at, (size_t)named.length);
    open_sizes(l, out, &symbols);
    open_ranges(l, out, &symbols);
    if (!out->argument_count) out->argument_count = out->number_count;
    lex_expect(l, "(", "after the macro's name");
    if (lex_accept(l, ";")) skip_ranges(l, out);
    while (!ctx_failed(cx) && !lex_is(l, ")")) {
        const Expr *shape[MAX_RANK];
        DType type;
        int rank;
        Token at = lex_peek(l);
        const char *operand = lex_name(l, "an operand");
        if (out->operand_count == MAX_OPERANDS) lex_error(l, at, "the instruction has too many operands; use at most "
                                                                 "%d", MAX_OPERANDS);
        if (!lex_expect(l, ":", "before the type") || !tensor_type_read(l, symbols, &type, &rank, shape)
            || ctx_failed(cx))
            return NULL;
        Tensor *t = tensor_new(cx, operand, type, rank, shape);
        const char *memory = read_memory(l);
        if (text_equal(operand, result_name)) {
            *result = (DeclaredResult){ t, at };
            out->result_memory = memory;
        } else {
            symbols = symbol_add(cx, symbols, operand, t, NULL);
            out->memory[out->operand_count] = memory;
            out->operand[out->operand_count++] = t;
        }
        if (!lex_is(l, ")") && !lex_is(l, ";")) lex_expect(l, ",", "between operands");
        else if (lex_accept(l, ";")) skip_ranges(l, out);
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
                       "%s is read at an index that is not an axis; use an axis per dimension", t->name);
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

/* Makes `r[i, j] += sum(...)` the formula `r[i, j] = sum(...)`. Returns true if it did. */
static bool take_accumulation(Lexer *l)
{
    int i = l->next;
    while (i < l->count && !token_is(l->token[i], "=")) i++;
    const bool accumulates = i < l->count && i > l->next && token_is(l->token[i - 1], "+");
    if (!accumulates) return false;
    for (; i <= l->count; i++) l->token[i - 1] = l->token[i];
    l->count--;
    return true;
}

static void check_result(const Lexer *l, const DeclaredResult *r, const Stage *s, bool accumulates)
{
    const Tensor *t = s->out[0], *declared = r->tensor;
    bool same = !declared || (declared->type == t->type && declared->rank == t->rank);
    for (int d = 0; declared && same && d < t->rank; d++) same = declared->shape[d] == t->shape[d];
    if (!same)
        lex_error(l, r->at, "the formula computes %s: %s%s", declared->name, dtype_info(t->type)->spelling,
                  tensor_shape_text(l->cx, t));
    if (accumulates && s->reducer != REDUCE_SUM)
        lex_error(l, lex_peek(l), "`+=` is for a sum; write `=`");
}

/* ---- Configuration ----------------------------------------------------------------------------------------------- */

const char *field_read(Lexer *l)
{
    const char *unit = lex_name(l, "the name of a field");
    if (!lex_accept(l, ".")) return unit;
    const char *part = lex_name(l, "the name of a field behind the dot");
    return unit && part ? name_format(l->cx, "%s.%s", unit, part) : NULL;
}

/* Returns the number of the operand of this name, operand_count for the result, or -1. */
static int operand_called(const Instruction *i, const char *wanted)
{
    for (int k = 0; k < i->operand_count; k++)
        if (text_equal(i->operand[k]->name, wanted)) return k;
    return text_equal(i->stage->out[0]->name, wanted) ? i->operand_count : -1;
}

static const Tensor *tensor_at(const Instruction *i, int at)
{
    return at < i->operand_count ? i->operand[at] : i->stage->out[0];
}

/* stride(OPERAND, DIMENSION) */
static void read_stride(Lexer *l, const Instruction *i, FieldNeed *need)
{
    int64_t dimension = 0;
    lex_expect(l, "(", "after stride");
    const Token at = lex_peek(l);
    need->kind = NEED_STRIDE;
    need->index = operand_called(i, lex_name(l, "an operand"));
    if (!lex_expect(l, ",", "before the dimension") || !lex_integer(l, &dimension)
        || !lex_expect(l, ")", "after the dimension"))
        return;
    need->dimension = (int)dimension;
    if (need->index < 0)
        lex_error(l, at, "%s is not an operand; use a tensor of the declaration", token_text(l->cx, at));
    else if (dimension < 0 || dimension >= tensor_at(i, need->index)->rank)
        lex_error(l, at, "%s has no dimension %lld; use 0 to %d", token_text(l->cx, at), (long long)dimension,
                  tensor_at(i, need->index)->rank - 1);
}

static void read_needed_name(Lexer *l, const Instruction *i, FieldNeed *need)
{
    const Token at = lex_peek(l);
    const char *wanted = lex_name(l, "stride(OPERAND, DIMENSION), a number or an operand");
    if (!wanted) return;
    need->kind = NEED_OPERAND;
    need->index = operand_called(i, wanted);
    if (need->index >= 0 && tensor_at(i, need->index)->rank == 0) return;
    need->kind = NEED_NUMBER;
    for (int k = 0; k < i->number_count; k++)
        if (i->number[k]->kind == EXPR_VAR && text_equal(expr_as_var(i->number[k])->name, wanted)) {
            need->index = k;
            return;
        }
    lex_error(l, at, "'%s' is not a number or an operand without dimensions; use one of these, "
              "stride(OPERAND, DIMENSION) or a constant", wanted);
}

/* needs FIELD = VALUE, ... */
static void read_needs(Lexer *l, Instruction *i)
{
    do {
        const Token at = lex_peek(l);
        if (i->need_count == MAX_NEEDS)
            lex_error(l, at, "the instruction needs too many fields; use at most %d", MAX_NEEDS);
        if (ctx_failed(l->cx)) return;
        FieldNeed *need = &i->need[i->need_count++];
        need->field = field_read(l);
        if (!lex_expect(l, "=", "after the field")) return;
        if (lex_is(l, "stride")) {
            lex_take(l);
            read_stride(l, i, need);
        } else if (lex_peek(l).kind == TOKEN_NAME) read_needed_name(l, i, need);
        else {
            const Token constant = lex_peek(l);
            need->kind = NEED_CONSTANT;
            if (lex_integer(l, &need->constant) && need->constant != (int32_t)need->constant)
                lex_error(l, constant, "the value is not an i32; use one of %d..%d", INT32_MIN, INT32_MAX);
        }
    } while (!ctx_failed(l->cx) && lex_accept(l, ","));
}

/* Reads `sets FIELD = OPERAND`, where the declaration has one operand of type i32 and no formula. */
static bool read_setter(Lexer *l, Instruction *i)
{
    if (!lex_accept(l, "sets")) return false;
    const Token at = lex_peek(l);
    i->sets = field_read(l);
    lex_expect(l, "=", "after the field");
    const Token value = lex_peek(l);
    const char *operand = lex_name(l, "the operand");
    if (!lex_finish(l)) return true;
    if (i->operand_count != 1 || i->operand[0]->rank || i->operand[0]->type != I32 || i->number_count)
        lex_error(l, at, "a macro that sets a field has one operand; write MACRO(VALUE: i32) sets FIELD = VALUE");
    else if (!text_equal(operand, i->operand[0]->name))
        lex_error(l, value, "'%s' is not the operand; use '%s'", operand, i->operand[0]->name);
    return true;
}

/* Returns the number of the first token of the needs, or of the end. */
static int needs_at(const Lexer *l)
{
    int i = l->next;
    while (i < l->count && !token_is(l->token[i], "needs")) i++;
    return i;
}

Instruction *instruction_read(Ctx *cx, const char *declaration)
{
    Instruction *i = NEW(cx->arena, Instruction);
    const ArenaMark mark = arena_mark(cx->scratch);
    Lexer l = lex_text(cx, declaration, "instruction");
    i->text = name(cx, declaration);
    i->macro = lex_name(&l, "the name of a macro");
    DeclaredResult result = { .tensor = NULL };
    const Symbol *symbols = read_operands(cx, &l, i, read_numbers(cx, &l, i), &result);
    if (!ctx_failed(cx) && read_setter(&l, i)) {
        arena_reset(cx->scratch, mark);
        return ctx_failed(cx) ? NULL : i;
    }
    const bool accumulates = !ctx_failed(cx) && take_accumulation(&l);
    const int needs = needs_at(&l), count = l.count;
    const Token first = l.token[needs], end = l.token[count];
    l.count = needs;
    l.token[needs] = end;
    Tensor *t = ctx_failed(cx) ? NULL : formula_read(&l, symbols, NULL, false);
    l.count = count;
    l.token[needs] = first;
    if (t && !ctx_failed(cx)) check_result(&l, &result, t->producer->stage, accumulates);
    if (t) i->stage = t->producer->stage;
    if (t && !ctx_failed(cx) && lex_accept(&l, "needs")) {
        read_needs(&l, i);
        lex_finish(&l);
    }
    arena_reset(cx->scratch, mark);
    if (!t || ctx_failed(cx)) return NULL;
    Plain p = { .cx = cx, .instr = i, .fine = true };
    expr_walk(cx, i->stage->value[0], visit_read, &p);
    for (int k = 0; k < i->operand_count; k++)
        if (!p.is_read[k] && !ctx_failed(cx))
            diag_error(cx, "instruction", "%s does not read %s: its formula reads each operand",
                       i->macro, i->operand[k]->name);
    if (i->stage->out_count != 1)
        diag_error(cx, "instruction", "%s has %d results; use one result", i->macro, i->stage->out_count);
    return ctx_failed(cx) ? NULL : i;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Returns the length of the macro's name in a declaration. */
static size_t macro_length(const char *declaration) { return strcspn(declaration, "[("); }

static const InstructionRow *row_of(const Ctx *cx, const char *macro)
{
    const size_t length = strlen(macro);
    for (const InstructionRow *const *table = cx->instruction_rows; table && *table; table++)
        for (const InstructionRow *row = *table; row->declaration; row++)
            if (macro_length(row->declaration) == length && strncmp(row->declaration, macro, length) == 0) return row;
    return NULL;
}

const Instruction *instruction_known(Ctx *cx, const char *macro)
{
    const InstructionRow *row = row_of(cx, macro);
    if (!row || ctx_failed(cx)) return NULL;
    if (!cx->instructions) {
        cx->instructions = NEW(cx->arena, Map);
        *cx->instructions = map_new(cx->arena);
    }
    const Instruction *known = map_get_const_ptr(cx->instructions, row);
    if (known) return known;
    Instruction *i = instruction_read(cx, row->declaration);
    if (!i) return NULL;
    map_put_const_ptr(cx->instructions, row, i);
    return i;
}
