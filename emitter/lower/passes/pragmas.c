/* SPDX-License-Identifier: MIT */
/* Selects the macro that precedes each loop (runtime/lw_base.h): the macro of a parallel loop, the macro of the
 * schedule's pragma, or a macro that suppresses gcc's unrolling where unrolling costs speed. Runs last, on the final
 * loops; later rewriting keeps the macro. */

/* Decision: the printer selects no loop pragma. The last pass (`lower/passes/pragmas.c`) decides which macro
 * precedes a loop: the one of the schedule, or one that keeps gcc from unrolling a short vector loop or a step over
 * a full register tile. The printer writes it, and `dump --at lowered` shows it. */
#include <string.h>

#include "lower/passes/passes.h"
#include "support/names.h"

static bool has_loop(const Code *c)
{
    bool has = c->kind == CODE_FOR;
    for (int i = 0; i < c->child_count; i++) has = has || has_loop(c->child[i]);
    return has;
}

/* Returns true for an innermost vector loop with so short a trip count that gcc unrolls it completely before it
 * vectorizes. gcc then finds no vectors. gcc vectorizes a longer loop first. */
static bool is_short_row(const Code *c)
{
    enum { SHORT = 16 };
    const bool is_short = c->end->kind == EXPR_INT && c->end->integer <= SHORT;
    return c->loop_kind == LOOP_VECTOR && is_short && !has_loop(c->child[0]);
}

/* Returns the number of stores to vector variables in the code, or -1 if it has loops other than lanes loops. */
static int count_vector_stores(const Code *c)
{
    if (c->kind == CODE_FOR && c->loop_kind != LOOP_LANES) return -1;
    int count = c->kind == CODE_STORE && c->memory->lanes;
    for (int i = 0; i < c->child_count; i++) {
        const int more = count_vector_stores(c->child[i]);
        if (more < 0) return -1;
        count += more;
    }
    return count;
}

/* Returns true for a reduction step over a register tile that occupies most vector registers. If gcc unrolls such a
 * step, it computes operands of several iterations ahead and spills. */
static bool fills_registers(const Code *c)
{
    enum { MANY = 8 };
    return c->loop_kind == LOOP_SERIAL && c->end->kind == EXPR_INT && count_vector_stores(c->child[0]) >= MANY;
}

/* Returns the macro of `pragma LOOP ...` (schedule/primitives/hints.c). */
static const char *macro_of_pragma(Ctx *cx, const Pragma *p)
{
    if (p->kind == PRAGMA_UNROLL) return name_format(cx, "LW_UNROLL(%d)", p->count);
    return p->kind == PRAGMA_SIMD ? "LW_SIMD" : "LW_INDEPENDENT";
}

/* Returns the macro before a loop, or NULL. A pragma of the schedule overrides the heuristics. */
static const char *macro_before(Ctx *cx, const Code *c)
{
    const LoopHints *h = expr_as_var(c->var)->hints;
    if (c->loop_kind == LOOP_PARALLEL) return "LW_PARALLEL";
    if (h && h->pragma.kind) return macro_of_pragma(cx, &h->pragma);
    if (fills_registers(c)) return "LW_UNROLL(1)";
    return is_short_row(c) ? "LW_VECTOR" : NULL;
}

/* Sets the macro before a loop. A lanes loop is printed as statements, so nothing precedes it. */
static const Code *select_macro(Ctx *cx, const Code *c, void *user)
{
    (void)user;
    if (c->kind != CODE_FOR || c->loop_kind == LOOP_LANES) return c;
    return code_with_pragma(cx, c, macro_before(cx, c));
}

const Code *pass_pragmas(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return code_rewrite(cx, c, select_macro, NULL);
}
