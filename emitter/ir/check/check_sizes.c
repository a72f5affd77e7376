/* SPDX-License-Identifier: MIT */
/* I12: a number of an instruction that has a range is in it, and a multiple of the step from the first value, at every
 * call. A size of the run is an expression over the loops around the call: the extent of a loop, or the distance to
 * where a guard stops it. */
#include "ir/check/check_parts.h"
#include "ir/check/match_instruction.h"
#include "ir/text/formula.h"

static const char *text_of(Ctx *cx, const Expr *e)
{
    Text t = text_new(cx);
    print_expr(&t, e);
    return text_string(&t);
}

static bool in_range(Ctx *cx, const Expr *e, const NumberRange *r, const Bounds *scope)
{
    const Expr *least = expr_int(cx, I32, r->least), *greatest = expr_int(cx, I32, r->greatest);
    return provably(cx, expr_binary(cx, EXPR_LE, least, e), scope)
           && provably(cx, expr_binary(cx, EXPR_LE, e, greatest), scope);
}

/* Returns true if the distance of e from the range's first value is a multiple of the step wherever the scope holds. */
static bool in_steps(Ctx *cx, const Expr *e, const NumberRange *r, const Bounds *scope)
{
    if (r->step == 1) return true;
    if (e->kind == EXPR_MIN || e->kind == EXPR_MAX)
        return in_steps(cx, e->arg[0], r, scope) && in_steps(cx, e->arg[1], r, scope);
    const Expr *distance = expr_sub(cx, e, expr_int(cx, I32, r->least));
    const Expr *rest = expr_binary(cx, EXPR_FLOORMOD, distance, expr_int(cx, I32, r->step));
    return expr_is_int(simplify(cx, rest, scope), 0);
}

static const char *range_text(Ctx *cx, const NumberRange *r)
{
    return text_format(cx, r->step > 1 ? "%lld..%lld step %lld" : "%lld..%lld", (long long)r->least,
                       (long long)r->greatest, (long long)r->step);
}

static bool number_is_right(Checker *c, const Instruction *i, int k, const Expr *e, const Bounds *scope)
{
    Ctx *cx = c->cx;
    const NumberRange *r = &i->range[k];
    const Interval known = interval_of(cx, e, scope);
    if (!r->step || (in_range(cx, e, r, scope) && in_steps(cx, e, r, scope))) return true;
    const Instruction *declared = i->open ? i->open : i;
    return check_fail(c, known.least > r->greatest || known.greatest < r->least ? WRONG : UNPROVED, FAULT_EXTENT,
                      text_format(cx, "loops whose iterations are %s: split, or pad", range_text(cx, r)),
                      "the size %s of %s is %s, which is not shown to be in %s",
                      expr_as_var(declared->number[k])->name, i->macro, text_of(cx, e), range_text(cx, r));
}

static bool sizes_are_right(Checker *c, const Stmt *s)
{
    Match m;
    const char *why;
    if (s->kind == STMT_TILE && s->instr && instruction_match(c->cx, c->nest, s->child[0], s->instr, &m, &why))
        for (int k = 0; k < s->instr->number_count; k++) {
            const Expr *e = instruction_binds_late(s->instr, k) ? m.number[k] : s->instr->number[k];
            if (!number_is_right(c, s->instr, k, e, m.scope)) return false;
        }
    for (int i = 0; i < s->child_count; i++)
        if (!sizes_are_right(c, s->child[i])) return false;
    return true;
}

bool check_sizes(Checker *c) { return sizes_are_right(c, c->nest->root); }
