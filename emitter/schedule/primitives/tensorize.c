/* SPDX-License-Identifier: MIT */
/* instruction, blockize, tensorize: a loop nest becomes a unit and is emitted as a macro of the target.
 *
 *   instruction LW_MLA8(a: f32[1], b: f32[1][8]) c[o<8] = sum(k<1) a[k] * b[k,o] feature=dsp    declares the formula
 *   tensorize conv.o LW_MLA8                                              emits conv.o and its body as the macro
 *   instruction LW_DOT[n](a: i8[n], b: i8[n]) c[o<1] = sum(e<n) ...       of any n, the macro's first argument
 *   tensorize conv.e LW_DOT                                               n is the trip count of conv.e
 *
 * A unit keeps the meaning of its statement, so only emission can fail: the statement must match the formula, with its
 * operands laid out as the macro expects (ir/nest/instruction.c). The checker repeats this match after every later
 * step. */

/* Decision: a tensorized nest keeps its loops. A tensorized nest is printed as `#ifdef MACRO`, the call, `#else`, the
 * loops. The portable form is the statement that was matched, so nothing more is generated or tested, and any compiler
 * builds the text; a header selects the instruction by defining the macro.
 *
 *   - Each operand is one argument, `LW_AT(memory, index, strides...)`. No pointer is formed until the instruction
 *     reads, because a guarded operand may begin outside its memory. `lower/check_pointers.c` proves for the
 *     tests that every other pointer stays inside its memory.
 *   - Declarations of instructions are steps, so a printed schedule replays alone. */
#include <string.h>

#include "ir/check/match_instruction.h"
#include "ir/nest/instruction.h"
#include "ir/text/read_instruction.h"
#include "schedule/draft/draft.h"

/* Returns true for a second declaration with a different formula. A macro has one formula, or one formula per list of
 * numbers. Equal declarations may be repeated; tensorize uses the last. */
static bool contradicts(const Instruction *known, const Instruction *i)
{
    if (strcmp(known->macro, i->macro) != 0 || known->number_count != i->number_count
        || strcmp(known->text, i->text) == 0)
        return false;
    for (int k = 0; k < i->number_count; k++)
        if (known->number[k] != i->number[k] && known->number[k]->kind == EXPR_INT && i->number[k]->kind == EXPR_INT)
            return false;
    return true;
}

static bool is_declared_otherwise(const Nest *n, const Instruction *i)
{
    for (int k = 0; k < n->instruction_count; k++)
        if (contradicts(n->instruction[k], i)) return true;
    return false;
}

/* Requires that each field of the instruction is declared. */
static bool has_fields(Draft *d, const Nest *n, const Instruction *i)
{
    const char *missing = i->sets && !nest_has_field(n, i->sets) ? i->sets : NULL;
    for (int k = 0; k < i->need_count && !missing; k++)
        if (!nest_has_field(n, i->need[k].field)) missing = i->need[k].field;
    return !missing
           || refuse_invalid(d, FAULT_NAME, text_format(d->cx, "a declaration before it: config %s: i32", missing),
                             "there is no field %s", missing);
}

/* Requires that each memory that an operand names is declared. */
static bool has_memories(Draft *d, const Nest *n, const Instruction *i)
{
    const char *missing = NULL;
    for (int k = 0; k <= i->operand_count && !missing; k++) {
        const char *at = k < i->operand_count ? i->memory[k] : i->result_memory;
        if (at && !text_equal(at, SCOPE_CORE) && !scope_called(n->scope, n->scope_count, at)) missing = at;
    }
    if (!missing) return true;
    Text declared = text_new(d->cx);
    for (int k = 0; k < n->scope_count; k++) text_printf(&declared, "%s, ", n->scope[k]->name);
    return refuse_invalid(d, FAULT_NAME,
                          text_format(d->cx, "%s%sa declaration before it: memory %s bytes=BYTES",
                                      text_string(&declared), n->scope_count ? "or " : "", missing),
                          "%s names the memory %s, which is not declared", i->macro, missing);
}

/* Requires that the instruction computes, and that each field that it needs can be set. */
static bool can_be_called(Draft *d, const Nest *n, const Instruction *i)
{
    if (i->sets)
        return refuse_invalid(d, FAULT_ROLE, "an instruction with a formula", "%s sets %s, and computes nothing",
                              i->macro, i->sets);
    for (int k = 0; k < i->need_count; k++)
        if (!nest_setter(n, i->need[k].field))
            return refuse_invalid(d, FAULT_NAME,
                                  text_format(d->cx, "a declaration before it: instruction MACRO(v: i32) sets %s = v",
                                              i->need[k].field),
                                  "no instruction sets %s, which %s needs", i->need[k].field, i->macro);
    return true;
}

const Nest *run_instruction(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_instruction, a);
    DiagMark mark = diag_mark(cx);
    Instruction *i = instruction_read(cx, a->condition);
    const Diag *why = diag_rewind(cx, mark);
    if (why)
        refuse_invalid(&d, FAULT_VALUE, "MACRO(OPERAND: TYPE, ...) FORMULA",
                       "the declaration of %.*s cannot be read: %s", (int)strcspn(a->condition, "(["), a->condition,
                       why->what);
    else if (is_declared_otherwise(n, i))
        refuse_invalid(&d, FAULT_NAME, "another name", "%s is declared already", i->macro);
    if (ctx_failed(cx) || !has_fields(&d, n, i) || !has_memories(&d, n, i)) return n;
    i->feature = a->feature;
    const Instruction **all = NEW_ARRAY(cx->arena, const Instruction *, n->instruction_count + 1);
    for (int k = 0; k < n->instruction_count; k++) all[k] = n->instruction[k];
    all[d.next.instruction_count++] = i;
    d.next.instruction = all;
    return draft_close(&d);
}

/* Returns true if the target has the instruction's feature. Without a target, any feature is accepted. */
static bool target_has(Draft *d, const Instruction *i)
{
    const char *features = d->next.features;
    if (!i->feature || !features || text_has_word(features, i->feature)) return true;
    return refuse_invalid(d, FAULT_TARGET, "another --target, or a schedule without this step",
                          "%s requires the feature %s, and the target has %s",
                          i->macro, i->feature, *features ? text_format(d->cx, "only %s", features) : "none");
}

/* Turns the loop into a unit, or sets the instruction of the unit. */
static void make_tile(Draft *d, Path *p, const Instruction *i)
{
    const Stmt *loop = path_end(p);
    if (p->depth > 1 && p->at[p->depth - 2]->kind == STMT_TILE) p->depth--;
    Stmt proto = { .kind = STMT_TILE, .instr = i };
    d->next.root = path_replace(d->cx, p, stmt_with_children(d->cx, &proto, &loop, 1));
}

const Nest *run_blockize(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_blockize, a);
    Path p;
    if (!draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    if (p.depth > 1 && p.at[p.depth - 2]->kind == STMT_TILE) {
        refuse_invalid(&d, FAULT_ROLE, "a loop that is not a unit", "%s is a unit already", d.args.loop[0]);
        return n;
    }
    make_tile(&d, &p, NULL);
    return draft_close(&d);
}

static void find_select(const Expr *e, void *user)
{
    if (e->kind == EXPR_SELECT) *(bool *)user = true;
}

/* Returns the loop that would be accepted instead: without the condition, if only the nest has one. */
static const char *matching_loops(Ctx *cx, const Stmt *s, const Instruction *i)
{
    bool has_condition = false, takes_condition = false;
    while (s->kind == STMT_FOR) s = s->child[0];
    if (s->kind == STMT_BLOCK) expr_walk(cx, s->stage->value[0], find_select, &has_condition);
    expr_walk(cx, i->stage->value[0], find_select, &takes_condition);
    return has_condition && !takes_condition
               ? "loops that compute its formula on operands in its layout; `cache_read TENSOR SCOPE padded` of each "
                 "operand, after `pad`, removes the condition"
               : "loops that compute its formula on operands in its layout";
}

/* Returns the instruction of the step with the step's numbers. The nest, or the context's tables, declare the
 * instruction. */
static const Instruction *wanted_instruction(Draft *d, const Nest *n, const StepArgs *a)
{
    const Expr *number[MAX_NUMBERS];
    const Instruction *i = a->name ? nest_instruction(n, a->name) : NULL;
    if (!i && a->name) i = instruction_known(d->cx, a->name);
    if (!i)
        refuse_invalid(
            d, FAULT_NAME,
            text_format(d->cx, "a declaration before it: instruction %s(a: f32[8]) ...", a->name ? a->name : "NAME"),
            "there is no instruction %s", a->name ? a->name : "?");
    else if (a->number_count && a->number_count != i->number_count)
        refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "%d numbers, or none", i->number_count),
                       "%s has %d number%s, and %d are given", i->macro, i->number_count,
                       i->number_count == 1 ? "" : "s", a->number_count);
    if (!i || !a->number_count || ctx_failed(d->cx)) return i;
    for (int k = 0; k < i->number_count; k++) {
        number[k] = expr_int(d->cx, I32, a->number[k]);
        if (i->number[k]->kind == EXPR_INT && i->number[k] != number[k])
            refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "%lld", (long long)i->number[k]->integer),
                           "%s is declared with other numbers than %lld", i->macro, (long long)a->number[k]);
    }
    return instruction_with(d->cx, i, number);
}

const Nest *run_tensorize(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_tensorize, a);
    Path p;
    Match m;
    const char *why;
    if (!draft_find_loop(&d, &d.args.loop[0], &p)) return n;
    const Instruction *i = wanted_instruction(&d, n, a);
    if (i && !ctx_failed(cx) && can_be_called(&d, n, i) && target_has(&d, i)) {
        bool matches = instruction_match(cx, n, path_end(&p), i, &m, &why);
        if (matches && instruction_is_open(i)) {
            i = instruction_with_constants(cx, i, m.number);
            matches = instruction_match(cx, n, path_end(&p), i, &m, &why);
        }
        if (!matches)
            refuse_unproved(&d, FAULT_INDEX, matching_loops(cx, path_end(&p), i),
                            "%s does not match %s: %s", d.args.loop[0], a->name, why);
    }
    if (ctx_failed(cx)) return n;
    make_tile(&d, &p, i);
    return draft_close(&d);
}
