/* SPDX-License-Identifier: MIT */
/* Matches a loop nest with an instruction's formula. The loops are tried as the formula's axes in every order that
 * kinds and extents allow; then both values are walked in parallel. An axis of extent 1 needs no loop. A read of an
 * operand matches a read of any tensor whose index is linear: constant multiples of the loops, and terms that do not
 * depend on the loops. */
#include "ir/check/match_instruction.h"

#include <string.h>

#include "ir/check/match_mask.h"
#include "ir/nest/code.h"
#include "ir/text/formula.h"

typedef struct Compare {
    Ctx *cx;
    const Nest *nest;
    const Instruction *instr;                /* the instruction with the sizes bound so far */
    /* The sizes of the open numbers that trip counts have bound; NULL for a number that is not bound yet. */
    const Expr *size[MAX_NUMBERS];
    const Stmt *block;
    int loop_count; const Stmt *loop[MAX_AXES];
    /* The iterations of each loop: its extent, or a smaller number if a guard stops the loop. */
    const Expr *extent[MAX_AXES];
    /* The first iteration of each loop for which the guards hold; NULL for 0. */
    const Expr *begin[MAX_AXES];
    const Bounds *outside, *scope;           /* the scope of the outer loops, and of the matched loops in it */
    const Expr *guard;                       /* Match.guard */
    bool omits_neutral;                      /* true if a neutral value of a reduction is left out, like a guard */
    /* The block's indices and value over the loops, which count from `begin`. */
    const Expr *bind[MAX_AXES], *value;
    unsigned needed;                         /* a bit for each loop that must be an axis */
    /* Maps an axis of the formula to its loop; -1 for an axis of extent 1 without a loop. */
    int loop_of[MAX_AXES];
    Match match;
    /* Matches to return to. The maps are large, so they are not on the stack of the recursion. */
    Match *saved;
    int saved_count, saved_capacity;
    const char *why;                         /* the first difference */
} Compare;

/* Returns the index of a copy of the match, for which the caller lowers saved_count at its end. */
static int save(Compare *c)
{
    enum { FIRST = 8 };
    if (c->saved_count == c->saved_capacity) {
        c->saved_capacity = c->saved_capacity ? 2 * c->saved_capacity : FIRST;
        Match *more = NEW_ARRAY(c->cx->arena, Match, c->saved_capacity);
        if (c->saved_count) memcpy(more, c->saved, (size_t)c->saved_count * sizeof *more);
        c->saved = more;
    }
    c->saved[c->saved_count] = c->match;
    return c->saved_count++;
}

static void restore(Compare *c, int at) { c->match = c->saved[at]; }

static bool differs(Compare *c, const char *why)
{
    if (!c->why) c->why = why;
    return false;
}

static const char *text_of(Ctx *cx, const Expr *e)
{
    Text t = text_new(cx);
    print_expr(&t, e);
    return text_string(&t);
}

static bool uses_loops(const Compare *c, const Expr *e)
{
    for (int l = 0; l < c->loop_count; l++)
        if (expr_uses(e, c->loop[l]->var)) return true;
    return false;
}

static const Buffer *buffer_of(const Stmt *s, const Tensor *t)
{
    if (s->kind == STMT_ALLOC && s->buffer->tensor == t) return s->buffer;
    for (int i = 0; i < s->child_count; i++) {
        const Buffer *b = buffer_of(s->child[i], t);
        if (b) return b;
    }
    return NULL;
}

/* Returns true if the rows of the window never wrap around the end of the ring. The rows start at `first` and extend as
 * far as the formula moves. */
static bool stays_in_one_lap(Compare *c, const Tensor *pattern, const OperandMatch *o, int dimension, int64_t ring)
{
    Ctx *cx = c->cx;
    int64_t span = 0;
    for (int d = 0; d < pattern->rank; d++) {
        if (!o->move[d][dimension]) continue;
        if (o->move[d][dimension] < 0 || pattern->shape[d]->kind != EXPR_INT) return false;
        span += o->move[d][dimension] * (pattern->shape[d]->integer - 1);
    }
    const Expr *slot = expr_binary(cx, EXPR_FLOORMOD, o->first[dimension], expr_index(cx, ring));
    return provably(cx,
                    expr_binary(cx, EXPR_LT, simplify(cx, expr_add(cx, slot, expr_index(cx, span)), c->scope),
                                expr_index(cx, ring)),
                    c->scope);
}

/* Returns true if neighbours along the formula's last dimension are adjacent in memory, and the other dimensions have
 * constant strides. */
static bool has_constant_strides(Compare *c, const Tensor *pattern, const OperandMatch *o)
{
    const Tensor *t = o->tensor;
    const Buffer *b = buffer_of(c->nest->root, t);
    int last = t->rank - 1;
    while (last > 0 && expr_is_int(t->shape[b ? b->permutation[last] : last], 1)) last--;
    int innermost = b && t->rank ? b->permutation[last] : last;                    /* -1 if no dimension is innermost */
    for (int k = 0; b && k < t->rank; k++)
        if (b->tile[k]) innermost = -1;                  /* the inner dimension of a tile is innermost */
    if (tensor_is_constant(t) && tensor_elems(t) == 1)
        return differs(c, text_format(c->cx, "%s is a constant, and %s is in memory", t->name, pattern->name));
    for (int d = 0; d < pattern->rank; d++) {
        for (int k = 0; k < t->rank; k++) {
            bool in_parts = b && o->move[d][k]
                            && (b->tile[k] || (b->ring[k] && !stays_in_one_lap(c, pattern, o, k, b->ring[k])));
            if (in_parts)
                return differs(
                    c, text_format(c->cx, "dimension %d of %s is stored in a ring or in tiles", k, t->name));
            int64_t wanted = k == innermost;
            bool is_row = d + 1 == pattern->rank && !expr_is_int(pattern->shape[d], 1);
            if (is_row && o->move[d][k] != wanted)
                return differs(c, text_format(c->cx,
                                              "neighbours of %s along its last dimension are not adjacent in %s",
                                              pattern->name, t->name));
        }
    }
    return true;
}

/* Matches the tensor at these indices with the formula's tensor at these axes. A dimension whose entry in `axis` is
 * NULL or the constant 0 has no axis. */
static bool match_access(Compare *c, const Tensor *pattern, const Expr *const *axis, const Tensor *t,
                         const Expr *const *index, OperandMatch *out)
{
    Ctx *cx = c->cx;
    OperandMatch o = { .tensor = t };
    if (pattern->type != t->type)
        return differs(c, text_format(cx, "%s is %s and %s is %s", pattern->name, dtype_info(pattern->type)->spelling,
                                      t->name, dtype_info(t->type)->spelling));
    for (int k = 0; k < t->rank; k++) {
        const Expr *zero[MAX_AXES], *var[MAX_AXES];
        for (int l = 0; l < c->loop_count; l++) { var[l] = c->loop[l]->var; zero[l] = expr_index(cx, 0); }
        const Expr *e = simplify(cx, index[k], c->scope);
        o.first[k] = simplify(cx, expr_substitute(cx, e, var, zero, c->loop_count), c->scope);
        const Expr *sum = o.first[k];
        for (int l = 0; l < c->loop_count; l++) {
            const Expr *one = expr_index(cx, 1);
            const Expr *at_one = expr_substitute(cx, expr_substitute(cx, e, &var[l], &one, 1), var, zero,
                                                 c->loop_count);
            const Expr *step = simplify(cx, expr_sub(cx, at_one, o.first[k]), c->scope);
            int64_t move = step->kind == EXPR_INT ? step->integer : 0;
            sum = expr_add(cx, sum, expr_mul(cx, var[l], expr_index(cx, move)));
            bool has_axis = false;
            for (int d = 0; d < pattern->rank; d++)
                for (int a = 0; a < c->instr->stage->axis_count; a++)
                    if (axis[d] == c->instr->stage->axis[a].var && c->loop_of[a] == l) {
                        o.move[d][k] = move;
                        has_axis = true;
                    }
            if (move && !has_axis)
                return differs(c, text_format(cx, "%s moves along the loop %s, and %s does not", t->name,
                                              c->loop[l]->name, pattern->name));
        }
        if (!expr_is_int(simplify(cx, expr_sub(cx, e, sum), c->scope), 0))
            return differs(c, text_format(cx, "the index of dimension %d of %s, %s, has no constant stride", k,
                                          t->name, text_of(cx, e)));
    }
    if (!has_constant_strides(c, pattern, &o)) return false;
    if (out->tensor && memcmp(out, &o, sizeof o) != 0)
        return differs(c, text_format(cx, "%s matches two different elements", pattern->name));
    *out = o;
    return true;
}

static bool commutes(ExprKind k)
{
    return k == EXPR_ADD || k == EXPR_MUL || k == EXPR_MIN || k == EXPR_MAX || k == EXPR_AND || k == EXPR_OR;
}

/* Folds i32(i16(x)) of an i8 x to i32(x): the inner cast is exact. */
static const Expr *one_cast(Ctx *cx, const Expr *e)
{
    while (e->kind == EXPR_CAST && e->arg[0]->kind == EXPR_CAST) {
        DType from = e->arg[0]->arg[0]->type, by = e->arg[0]->type;
        bool widens = dtype_is_integer(from) && dtype_is_integer(by) && dtype_info(by)->cls == dtype_info(from)->cls
                      && dtype_info(by)->bytes >= dtype_info(from)->bytes;
        if (!widens) return e;
        e = expr_cast(cx, e->type, e->arg[0]->arg[0]);
    }
    return e;
}

static bool match_value(Compare *c, const Expr *p, const Expr *e);

/* Binds an open number of the formula, or compares it with the constant to which it is already bound. */
static bool match_number(Compare *c, const Expr *p, const Expr *e)
{
    const int k = instruction_number(c->instr, p->kind == EXPR_CAST ? p->arg[0] : p);
    const bool takes_any = k >= 0 && p->kind == EXPR_VAR && instruction_binds_late(c->instr, k) && !uses_loops(c, e);
    if (k < 0 || (e->kind != EXPR_INT && !takes_any) || e->type != p->type) return false;
    const Expr *number = takes_any ? e : expr_int(c->cx, I32, e->integer);
    if (c->match.number[k] && c->match.number[k] != number) return false;
    c->match.number[k] = number;
    return true;
}

static bool is_scalar(const Expr *p) { return p->kind == EXPR_READ && ((const Tensor *)p->ref)->rank == 0; }

static bool match_operand(Compare *c, const Expr *p, const Expr *e);

/* Matches an open number, an operand of rank 0, or a number of the formula with a number. */
static bool match_constant(Compare *c, const Expr *p, const Expr *number)
{
    return p == number || (is_scalar(p) ? match_operand(c, p, number) : match_number(c, p, number));
}

/* Matches p + number and roundshift(p, number) with p, because the simplifier omits a number that is 0. Matches p +
 * number with p - constant, because the simplifier subtracts the magnitude of a negative number. The number may be an
 * operand of rank 0. */
static bool match_small_number(Compare *c, const Expr *p, const Expr *e)
{
    const bool is_first = p->kind == EXPR_ADD && (is_scalar(p->arg[0]) || instruction_number(c->instr, p->arg[0]) >= 0);
    const int at = is_first ? 0 : 1;
    const bool is_negative = p->kind == EXPR_ADD && e->kind == EXPR_SUB && e->arg[1]->kind == EXPR_INT;
    if (p->kind != EXPR_ADD && p->kind != EXPR_ROUNDSHIFT) return false;
    const Expr *number = expr_int(c->cx, p->arg[at]->type, is_negative ? -e->arg[1]->integer : 0);
    if (!match_constant(c, p->arg[at], number)) return false;
    return match_value(c, p->arg[1 - at], is_negative ? e->arg[0] : e);
}

static bool match_args(Compare *c, const Expr *p, const Expr *e, bool swapped)
{
    for (int i = 0; i < p->arg_count; i++)
        if (!match_value(c, p->arg[i], e->arg[swapped ? 1 - i : i])) return false;
    return true;
}

/* Matches an operand of rank 0 with any value that is invariant in the loops. */
static bool match_scalar(Compare *c, const Tensor *pattern, const Expr *e, OperandMatch *out)
{
    if (pattern->type != e->type)
        return differs(c, text_format(c->cx, "%s is %s, and not %s", text_of(c->cx, e), dtype_info(e->type)->spelling,
                                      dtype_info(pattern->type)->spelling));
    for (int l = 0; l < c->loop_count; l++)
        if (expr_uses(e, c->loop[l]->var))
            return differs(c, text_format(c->cx, "%s moves along the loop %s, and %s is one value", text_of(c->cx, e),
                                          c->loop[l]->name, pattern->name));
    if (out->value && out->value != e)
        return differs(c, text_format(c->cx, "%s matches two different values", pattern->name));
    out->value = e;
    return true;
}

/* Returns the loop's variable for an axis of the formula that is used as a value, as in a condition. Returns any other
 * expression unchanged. */
static const Expr *loop_for(const Compare *c, const Expr *p)
{
    const Stage *s = c->instr->stage;
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].var == p) return c->loop_of[a] < 0 ? expr_index(c->cx, 0) : c->loop[c->loop_of[a]]->var;
    return p;
}

static bool match_operand(Compare *c, const Expr *p, const Expr *e)
{
    int k = 0;
    while (c->instr->operand[k] != p->ref) k++;
    return match_scalar(c, p->ref, e, &c->match.operand[k]);
}

/* ---- Masks of lanes -------------------------------------------------------------------------------------------- */

typedef struct Unknown { const Compare *c; int count; const Expr *e; } Unknown;

static void find_unknown(const Expr *e, void *user)
{
    Unknown *u = user;
    const int k = instruction_number(u->c->instr, e);
    const bool is_open = (k >= 0 && instruction_binds_late(u->c->instr, k)) || (is_scalar(e) && e->type == I32);
    if (!is_open || e == u->e) return;
    u->e = e;
    u->count++;
}

/* Returns the mask that a comparison of the formula is. */
static bool read_mask(const Compare *c, const Expr *p, Mask *out)
{
    Unknown u = { .c = c };
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    const Stage *s = c->instr->stage;
    if (p->kind != EXPR_LT && p->kind != EXPR_LE) return false;
    expr_walk(c->cx, p, find_unknown, &u);
    if (u.count != 1) return false;
    for (int a = 0; a < s->axis_count; a++) {
        from[a] = s->axis[a].var;
        to[a] = loop_for(c, from[a]);
    }
    return mask_of(c->cx, expr_substitute(c->cx, p, from, to, s->axis_count), u.e, c->loop, c->loop_count, out);
}

/* Gives the unknown of a mask its value: within the range of a number, if it has one. */
static bool bind_mask(Compare *c, const Mask *m, const Expr *value)
{
    const int k = instruction_number(c->instr, m->unknown);
    if (k < 0) return match_operand(c, m->unknown, value);
    const NumberRange *r = &c->instr->range[k];
    const Expr *within = mask_within(c->cx, m, value, c->outside), *old = c->match.number[k];
    const Interval known = interval_of(c->cx, value, c->outside);
    if (old) return old == value || mask_within(c->cx, m, old, c->outside) == within;
    c->match.number[k] = known.least >= r->least && known.greatest <= r->greatest ? value : within;
    return true;
}

/* Matches a condition that always holds: an operand is true, a mask enables all lanes. */
static bool match_always(Compare *c, const Expr *p)
{
    Mask m;
    if (p->kind == EXPR_AND) return match_always(c, p->arg[0]) && match_always(c, p->arg[1]);
    if (is_scalar(p)) return p->type == BOOL && match_operand(c, p, expr_int(c->cx, BOOL, 1));
    return read_mask(c, p, &m) && m.all && bind_mask(c, &m, m.all);
}

/* Returns the value of a mask, with which the parts of a condition that are of its kind agree, and marks these parts.
 * Returns NULL if there is none. */
static const Expr *value_of_mask(Compare *c, const Mask *m, const Expr *const *part, int count, bool *is_matched)
{
    const Expr *value = NULL;
    for (int i = 0; i < count; i++) {
        const Expr *v = is_matched[i] ? NULL
                                      : mask_value(c->cx, m, part[i], c->loop, c->loop_count, c->scope, c->outside);
        if (!v) continue;
        is_matched[i] = true;
        value = value ? mask_both(c->cx, m, value, v, c->outside) : v;
    }
    return value;
}

static bool is_not_a_mask(Compare *c, const Expr *part, const Expr *p)
{
    const char *text = text_of(c->cx, part);
    const bool is_linear = mask_is_linear(c->cx, part, c->loop, c->loop_count);
    if (is_linear && !mask_is_exact(c->cx, part, c->scope))
        return differs(c, text_format(c->cx, "the difference of the sides of %s may leave i32: bound it, as by clamp",
                                      text));
    return differs(c, text_format(c->cx, "the condition %s is not a mask like %s", text, text_of(c->cx, p)));
}

/* Matches a condition of the formula that has masks: the parts of the nest's condition, which may be fewer or more,
 * give their values. */
static bool match_masks(Compare *c, const Expr *p, const Expr *e)
{
    enum { MOST = 16 };
    const Expr *part[MOST], *wanted[MOST];
    bool is_matched[MOST] = { false };
    const int wanted_count = conjuncts(p, wanted, MOST), count = conjuncts(e, part, MOST);
    if (wanted_count > MOST || count > MOST) return false;
    for (int i = 0; i < wanted_count; i++) {
        Mask m;
        const bool is_mask = read_mask(c, wanted[i], &m);
        const Expr *value = is_mask ? value_of_mask(c, &m, part, count, is_matched) : NULL;
        if (value) {
            if (!bind_mask(c, &m, value)) return false;
            continue;
        }
        bool found = false;
        for (int k = 0; k < count && !found && !is_mask; k++) {
            const int before = save(c);
            found = !is_matched[k] && match_value(c, wanted[i], part[k]);
            if (found) is_matched[k] = true;
            else restore(c, before);
            c->saved_count = before;
        }
        if (!found && !match_always(c, wanted[i])) return false;
    }
    for (int k = 0; k < count; k++)
        if (!is_matched[k]) return is_not_a_mask(c, part[k], p);
    return true;
}

/* States why a comparison with an open number is not a mask: without a range, the number is a constant. */
static void say_range_is_missing(Compare *c, const Expr *p)
{
    if (p->kind != EXPR_LT && p->kind != EXPR_LE) return;
    for (int k = 0; k < c->instr->number_count; k++)
        if (c->instr->number[k]->kind == EXPR_VAR && !instruction_binds_late(c->instr, k)
            && expr_uses(p, c->instr->number[k]))
            differs(c, text_format(c->cx, "the number %s has no range: write (...; %s in LEAST..GREATEST)",
                                   expr_as_var(c->instr->number[k])->name, expr_as_var(c->instr->number[k])->name));
}

/* Returns true if a part of the condition is a mask. */
static bool has_mask(const Compare *c, const Expr *p)
{
    Mask m;
    if (p->kind == EXPR_AND) return has_mask(c, p->arg[0]) || has_mask(c, p->arg[1]);
    return read_mask(c, p, &m);
}

/* Matches select(p, yes, no) with yes, where a mask p enables all lanes. */
static bool match_unmasked(Compare *c, const Expr *p, const Expr *e)
{
    return p->kind == EXPR_SELECT && has_mask(c, p->arg[SELECT_COND]) && match_always(c, p->arg[SELECT_COND])
           && match_value(c, p->arg[SELECT_YES], e);
}

/* Matches `p && REST` with REST, where the operand p is true. */
static bool match_without(Compare *c, const Expr *p, const Expr *e)
{
    if (p->kind != EXPR_AND) return false;
    const int before = save(c);
    bool matches = false;
    for (int i = 0; i < 2 && !matches; i++) {
        matches = is_scalar(p->arg[i]) && match_operand(c, p->arg[i], expr_int(c->cx, BOOL, 1))
                  && match_value(c, p->arg[1 - i], e);
        if (!matches) restore(c, before);
    }
    c->saved_count = before;
    return matches;
}

/* Matches min(q, bound) and max(q, bound) with q if q never passes the bound, because the simplifier leaves such a
 * bound out. */
static bool match_unbounded(Compare *c, const Expr *p, const Expr *e)
{
    const bool is_min = p->kind == EXPR_MIN;
    if ((!is_min && p->kind != EXPR_MAX) || p->type != e->type || p->arg[1]->kind != EXPR_INT) return false;
    const Interval range = interval_of(c->cx, e, c->scope);
    const int64_t bound = p->arg[1]->integer;
    return (is_min ? range.greatest <= bound : range.least >= bound) && match_value(c, p->arg[0], e);
}

/* Matches p + q with x * 2, because the simplifier writes x + x as x * 2. */
static bool match_doubled(Compare *c, const Expr *p, const Expr *e)
{
    return p->kind == EXPR_ADD && e->kind == EXPR_MUL && p->type == e->type && expr_is_int(e->arg[1], 2)
           && match_value(c, p->arg[0], e->arg[0]) && match_value(c, p->arg[1], e->arg[0]);
}

/* Returns true if loops address the operand. An element that an index tensor selects has no address before the index is
 * read. */
static bool is_by_loops(const Compare *c, const Expr *read)
{
    for (int d = 0; d < read->arg_count; d++)
        if (expr_reads(c->cx, read->arg[d])) return false;
    return true;
}

/* Returns true if the operands matched so far are in the memories that the declaration names. */
static bool memories_agree(const Compare *c)
{
    for (int k = 0; k < c->instr->operand_count; k++) {
        const char *wanted = c->instr->memory[k];
        const Tensor *t = c->match.operand[k].tensor;
        const Buffer *b = wanted && t ? buffer_of(c->nest->root, t) : NULL;
        const char *found = b && scope_is_declared(b->scope) ? b->scope->name : SCOPE_CORE;
        if (wanted && t && !text_equal(wanted, found)) return false;
    }
    return true;
}

/* Matches the arguments of an operation. The operands of a commutative operation are tried in the order in which they
 * are in memory. before: the saved match to begin with. */
static bool match_in_any_order(Compare *c, const Expr *p, const Expr *e, int before)
{
    const bool in_order = match_args(c, p, e, false);
    if (!commutes(p->kind) || p->arg_count != 2 || (in_order && memories_agree(c))) return in_order;
    const int first = save(c);
    restore(c, before);
    const bool is_swapped = match_args(c, p, e, true), takes_swapped = is_swapped && memories_agree(c);
    if (in_order && !takes_swapped) restore(c, first);
    c->saved_count = first;
    return in_order || is_swapped;
}

/* before: the saved match that the operation begins with */
static bool match_operation(Compare *c, const Expr *p, const Expr *e, int before)
{
    bool same = p->kind == e->kind && p->type == e->type && p->arg_count == e->arg_count && (p->arg_count || p == e);
    if (p->type == BOOL && e->type == BOOL && has_mask(c, p) && match_masks(c, p, e)) return true;
    restore(c, before);
    if (!same && match_unmasked(c, p, e)) return true;
    restore(c, before);
    if (!same && (match_without(c, p, e) || match_unbounded(c, p, e) || match_doubled(c, p, e))) return true;
    restore(c, before);
    if (!same && match_small_number(c, p, e)) return true;
    say_range_is_missing(c, p);
    if (!same)
        return differs(c,
                       text_format(c->cx, "the formula has %s instead of %s", text_of(c->cx, p), text_of(c->cx, e)));
    if (match_in_any_order(c, p, e, before)) return true;
    if (p->arg_count != 2) return false;
    restore(c, before);
    if (match_small_number(c, p, e)) return true;
    restore(c, before);
    return commutes(p->kind) && match_without(c, p, e);
}

static bool match_value(Compare *c, const Expr *p, const Expr *e)
{
    if (p->kind == EXPR_VAR && loop_for(c, p) == e) return true;
    if (match_number(c, p, e)) return true;
    if (is_scalar(p)) return match_operand(c, p, e);
    p = one_cast(c->cx, p);
    e = one_cast(c->cx, e);
    if (p->kind == EXPR_READ && e->kind == EXPR_READ) {
        if (!is_by_loops(c, e))
            return differs(c, text_format(c->cx, "the index of %s is read from a tensor", text_of(c->cx, e)));
        int k = 0;
        while (c->instr->operand[k] != p->ref) k++;
        return match_access(c, p->ref, p->arg, e->ref, e->arg, &c->match.operand[k]);
    }
    const int before = save(c);
    const bool matches = match_operation(c, p, e, before);
    c->saved_count = before;
    return matches;
}

/* ---- Loops as axes --------------------------------------------------------------------------------------------- */

/* Returns true for an init block, which stores the first values and does not sum. */
static bool begins(const Stmt *block) { return block->part == BLOCK_INIT; }
static int axes_of(const Stmt *block) { return begins(block) ? block->stage->data_count : block->stage->axis_count; }

static bool feeds(const Compare *c, const Stmt *loop, int from, int to)
{
    for (int a = from; a < to; a++)
        if (expr_uses(c->block->bind[a], loop->var)) return true;
    return false;
}

static bool is_of_kind(const Compare *c, const Stmt *loop, AxisKind kind)
{
    const Stage *s = c->block->stage;
    bool reduces = feeds(c, loop, s->data_count, axes_of(c->block)), moves = feeds(c, loop, 0, s->data_count);
    return kind == AXIS_REDUCE ? reduces && !moves : moves && !reduces;
}

/* Returns true if the loops over reduce axes have the formula's order. A different order changes the rounding of
 * floats. */
static bool keeps_the_order(const Compare *c)
{
    const Stage *s = c->instr->stage;
    if (stage_order_is_free(s, false)) return true;
    int last = -1;
    for (int a = s->data_count; a < s->axis_count; a++) {
        if (c->loop_of[a] < 0) continue;
        if (c->loop_of[a] < last) return false;
        last = c->loop_of[a];
    }
    return true;
}

static bool all_are_bound(Compare *c)
{
    for (int k = 0; k < c->instr->number_count; k++)
        if (c->instr->number[k]->kind == EXPR_VAR && !c->match.number[k])
            return differs(c, text_format(c->cx, "nothing here gives the number %s of %s: %s[...] states all numbers",
                                          expr_as_var(c->instr->number[k])->name, c->instr->macro, c->instr->macro));
    return true;
}

static const Expr *visit_decided(Ctx *cx, const Expr *e, void *user)
{
    const Bounds *scope = ((const Compare *)user)->scope;
    if (e->kind != EXPR_SELECT) return e;
    if (provably(cx, e->arg[SELECT_COND], scope)) return e->arg[SELECT_YES];
    return provably(cx, expr_unary(cx, EXPR_NOT, e->arg[SELECT_COND]), scope) ? e->arg[SELECT_NO] : e;
}

static bool match_body(Compare *c)
{
    const Stage *p = c->instr->stage, *s = c->block->stage;
    const Expr *axis[MAX_RANK];
    if (!keeps_the_order(c))
        return differs(
            c, "the reduce loops have another order than the formula's axes, which changes the rounding of floats");
    for (int a = 0; a < p->data_count; a++) axis[a] = p->axis[a].var;
    c->match = (Match){ .block = c->block, .guard = c->guard, .scope = c->outside };
    memcpy(c->match.number, c->size, sizeof c->size);
    return match_access(c, p->out[0], axis, s->out[0], c->bind, &c->match.result)
           && match_value(c, p->value[0], c->value) && all_are_bound(c);
}

/* Matches the body of an instruction whose sizes are the trip counts. */
static bool match_with_sizes(Compare *c)
{
    const Instruction *open = c->instr;
    if (instruction_is_open(open)) c->instr = instruction_with(c->cx, open, c->size);
    const bool matches = match_body(c);
    c->instr = open;
    return matches;
}

/* Compares the extent of an axis. An open size is bound to the extent, which is a constant unless the size is one of
 * the run. */
static bool match_extent(Compare *c, const Expr *wanted, const Expr *extent)
{
    const int k = instruction_number(c->instr, wanted);
    if (k < 0 || c->size[k]) return (k < 0 ? wanted : c->size[k]) == extent;
    if (extent->kind != EXPR_INT && !instruction_binds_late(c->instr, k)) return false;
    c->size[k] = extent;
    return true;
}

static bool try_axes(Compare *c, int axis, unsigned used)
{
    const Stage *p = c->instr->stage;
    const Expr *before[MAX_NUMBERS];
    if (axis == p->axis_count) return used == c->needed ? match_with_sizes(c) : false;
    memcpy(before, c->size, sizeof before);
    for (int l = 0; l < c->loop_count; l++) {
        if (used >> l & 1 || !is_of_kind(c, c->loop[l], p->axis[axis].kind)) continue;
        c->loop_of[axis] = l;
        if (match_extent(c, p->axis[axis].extent, c->extent[l]) && try_axes(c, axis + 1, used | 1u << l))
            return true;
        memcpy(c->size, before, sizeof before);
    }
    c->loop_of[axis] = -1;
    if (match_extent(c, p->axis[axis].extent, expr_index(c->cx, 1)) && try_axes(c, axis + 1, used)) return true;
    memcpy(c->size, before, sizeof before);
    return false;
}

static const char *shape_text(Compare *c)
{
    Text t = text_new(c->cx);
    const Stage *p = c->instr->stage;
    for (int l = 0; l < c->loop_count; l++)
        text_printf(&t, "%s%s < %s", l ? ", " : "the loops are ", c->loop[l]->name, text_of(c->cx, c->extent[l]));
    for (int a = 0; a < p->axis_count; a++)
        text_printf(&t, "%s%s%s < %s", a ? ", " : "; the formula's axes are ",
                    p->axis[a].kind == AXIS_REDUCE ? "reduced " : "", expr_as_var(p->axis[a].var)->name,
                    text_of(c->cx, p->axis[a].extent));
    return text_string(&t);
}

/* Finds the scope of the loops and branches above a statement of the nest, outermost first. */
static bool scope_above(Ctx *cx, const Stmt *at, const Stmt *s, const Bounds **scope)
{
    const Bounds *outer = *scope;
    if (at == s) return true;
    if (at->kind == STMT_FOR) *scope = bounds_var(cx, outer, at->var, at->extent);
    for (int i = 0; i < at->child_count; i++) {
        if (at->kind == STMT_IF)
            *scope = bounds_fact(cx, outer, i ? expr_unary(cx, EXPR_NOT, at->cond) : at->cond);
        if (scope_above(cx, at->child[i], s, scope)) return true;
    }
    *scope = outer;
    return false;
}

static void add_guard(Compare *c, const Expr *e)
{
    c->guard = c->guard ? expr_and(c->cx, c->guard, e) : e;
}

/* Ends or begins a loop where a part of the guard excludes all later or earlier iterations. Returns false for any
 * other part. */
static bool ends_a_loop(Compare *c, const Expr *part)
{
    for (int l = 0; l < c->loop_count; l++) {
        const Expr *low = NULL, *high = NULL, *var = c->loop[l]->var;
        if (!expr_uses(part, var) || !solved_for(c->cx, part, var, &low, &high)) continue;
        if (uses_loops(c, high ? high : low) || !mask_is_exact(c->cx, part, c->scope)) return false;
        if (high) c->extent[l] = simplify(c->cx, expr_binary(c->cx, EXPR_MIN, c->extent[l], high), c->outside);
        else {
            const Expr *begin = c->begin[l] ? c->begin[l] : expr_index(c->cx, 0);
            c->begin[l] = simplify(c->cx, expr_binary(c->cx, EXPR_MAX, begin, low), c->outside);
        }
        return true;
    }
    return false;
}

/* Divides a guard into ends of loops, for sizes of the run, and the part that the loops do not change. */
static bool read_guard(Compare *c, const Expr *guard)
{
    enum { MOST = 16 };
    const Expr *part[MOST];
    const int count = guard ? conjuncts(guard, part, MOST) : 0;
    if (count > MOST) return differs(c, "the guard has too many conditions");
    for (int i = 0; i < count; i++) {
        if (!uses_loops(c, part[i])) add_guard(c, part[i]);
        else if (!instruction_has_sizes_of_run(c->instr) || !ends_a_loop(c, part[i]))
            return differs(
                c, text_format(c->cx, "the guard %s depends on the loops: give the instruction a size of the run, peel "
                                      "or pad", text_of(c->cx, part[i])));
    }
    return true;
}

/* Counts each loop from its first iteration, and adds the conditions under which it has one. */
static void count_from_begins(Compare *c)
{
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    int count = 0;
    for (int l = 0; l < c->loop_count; l++) {
        if (!c->begin[l] || expr_is_int(c->begin[l], 0)) continue;
        from[count] = c->loop[l]->var;
        to[count++] = expr_add(c->cx, c->loop[l]->var, c->begin[l]);
        c->extent[l] = simplify(c->cx, expr_sub(c->cx, c->extent[l], c->begin[l]), c->outside);
    }
    for (int l = 0; l < c->loop_count; l++) {
        const Expr *runs = expr_binary(c->cx, EXPR_LT, expr_index(c->cx, 0), c->extent[l]);
        if (!provably(c->cx, runs, c->outside)) add_guard(c, runs);
    }
    c->outside = bounds_fact(c->cx, c->outside, c->guard);
    if (!count) return;
    c->scope = c->outside;
    for (int l = 0; l < c->loop_count; l++) c->scope = bounds_var(c->cx, c->scope, c->loop[l]->var, c->extent[l]);
    for (int a = 0; a < axes_of(c->block); a++)
        c->bind[a] = simplify(c->cx, expr_substitute(c->cx, c->bind[a], from, to, count), c->scope);
    c->value = simplify(c->cx, expr_substitute(c->cx, c->value, from, to, count), c->scope);
}

/* Reads the value and the guard of the block. With omits_neutral, the condition of select(condition, value, neutral)
 * in a reduction is a guard too. */
static bool read_block(Compare *c)
{
    const Stage *s = c->block->stage;
    const Expr *from[MAX_AXES];
    for (int a = 0; a < s->axis_count; a++) from[a] = s->axis[a].var;
    for (int a = 0; a < axes_of(c->block); a++) c->bind[a] = c->block->bind[a];
    const Expr *whole = begins(c->block) ? s->init[0] : s->value[0];
    const Expr *here = expr_substitute(c->cx, whole, from, c->bind, axes_of(c->block));
    c->value = simplify(c->cx, expr_rewrite(c->cx, here, visit_decided, c), c->scope);
    if (!read_guard(c, c->block->cond)) return false;
    if (c->omits_neutral) {
        if (s->reducer == REDUCE_NONE || begins(c->block) || c->value->kind != EXPR_SELECT
            || !stage_skips(c->cx, s, c->value->arg[SELECT_NO]) || expr_reads(c->cx, c->value->arg[SELECT_COND])
            || !read_guard(c, c->value->arg[SELECT_COND]))
            return false;
        c->value = c->value->arg[SELECT_YES];
    }
    count_from_begins(c);
    return true;
}

static bool find_loops(Compare *c, const Stmt *s)
{
    scope_above(c->cx, c->nest->root, s, &c->outside);
    c->scope = c->outside;
    for (; s->kind == STMT_FOR; s = s->child[0]) {
        if (c->loop_count == MAX_AXES) return differs(c, "there are too many loops");
        if (s->extent->kind != EXPR_INT && (!instruction_has_sizes_of_run(c->instr) || uses_loops(c, s->extent)))
            return differs(c, text_format(c->cx, "the extent of %s is not constant", s->name));
        c->extent[c->loop_count] = s->extent;
        c->loop[c->loop_count++] = s;
        c->scope = bounds_var(c->cx, c->scope, s->var, s->extent);
    }
    if (s->kind != STMT_BLOCK) return differs(c, "there is more than one block below it");
    c->block = s;
    bool sums = c->instr->stage->reducer != REDUCE_NONE;
    if (s->stage->out_count != 1) return differs(c, text_format(c->cx, "%s has several results", s->stage->name));
    if ((begins(s) ? REDUCE_NONE : s->stage->reducer) != c->instr->stage->reducer
        || (!begins(s) && s->stage->combiner != c->instr->stage->combiner))
        return differs(c, text_format(c->cx, "%s and the formula have different reducers", s->stage->name));
    if (sums && s->part != BLOCK_UPDATE)
        return differs(
            c, text_format(c->cx,
                           "the instruction accumulates, and %s starts from its init: decompose_reduction first",
                           s->name));
    return read_block(c);
}

/* Returns true if the loop has one iteration, and no axis uses it. */
static bool is_idle(const Compare *c, const Stmt *loop)
{
    return expr_is_int(loop->extent, 1) && !feeds(c, loop, 0, axes_of(c->block));
}

static bool find_needed(Compare *c)
{
    for (int l = 0; l < c->loop_count; l++)
        if (!is_idle(c, c->loop[l])) c->needed |= 1u << l;
    return true;
}

static bool matches(Compare *c, const Stmt *s)
{
    return find_loops(c, s) && find_needed(c) && try_axes(c, 0, 0);
}

bool instruction_match(Ctx *cx, const Nest *n, const Stmt *s, const Instruction *i, Match *out, const char **why)
{
    Compare c = { .cx = cx, .nest = n, .instr = i };
    bool found = matches(&c, s);
    *why = found ? NULL : c.why ? c.why : shape_text(&c);
    if (!found && instruction_has_sizes_of_run(i)) {
        c = (Compare){ .cx = cx, .nest = n, .instr = i, .omits_neutral = true };
        found = matches(&c, s);
    }
    *out = c.match;
    return found;
}
