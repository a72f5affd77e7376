/* SPDX-License-Identifier: MIT */
/* Computes how far an output may overlap an input that dies in the function. The body is a sequence of moments: the
 * iterations of its outermost loops in order. For each moment t:
 *
 *   low(t)   the lowest byte of the input that is read at t or later
 *   high(t)  the end of the highest byte of the output that is written at t or before
 *
 * If the output begins at least `lead` = max over t of high(t) - low(t) bytes before the input, no written byte is read
 * later. Reads and writes of one moment are treated as simultaneous, so the bound holds for any order within the
 * moment. The lead of a depthwise convolution is the rows of its window; the lead of a pointwise one is the excess of
 * its output's length over its input's. (Blacker, Bright, Hunt: Reducing Data Movement and Energy; known as diagonal
 * memory optimisation.) */

/* overlap_shift divides moments further: a moment is one statement in one iteration of all serial loops around it, so
 * that a row is read before the same iteration writes it. A loop in which all accesses move forwards has the largest
 * difference at its ends, because high and -low are convex in its variable; its first and last iterations suffice, with
 * two neighbours that count as what is written before and read after. */

/* Decision: an output may overlap a dying input. `lower/overlap.c` follows a lowered function, iteration by iteration
 * of its outermost loops: which part of the input is still to be read, and how far the output is written. The result is
 * the number of bytes by which an output has to precede its input; a depthwise convolution leads by the rows of its
 * window. The plan overlaps them (`graph/plan/offsets.c`) where the arena shrinks by a sixteenth. Such functions have
 * `restrict` only on their weights, so no result depends on the assumptions of a C compiler. A chain of overlaps needs
 * the sum of their leads. Under `--ram` an output is moved to the end of its buffer by `lw_move` after it is computed,
 * if only that keeps the limit. One lead then suffices for the whole chain (16,256 bytes become 11,040 for a network of
 * eight equal layers). For the plan, such an output is two tensors, one stored and one read, in adjacent groups. */
#include "lower/overlap.h"

#include "lower/passes/passes.h"

#include <string.h>

enum { MOST_MOMENTS = 4096, MOST_TOUCHES = 512 };

/* The elements of an access in iteration v of the outermost loop: [coef*i + least, coef*i + greatest], with i =
 * min(step*v + offset, last) for a shifted tail and i = v otherwise. If `at` is not NULL, the elements are at + rest
 * instead, because positions that cross the rows of a padded image are digits of v. */
typedef struct MemoryTouch {
    bool is_write;
    int64_t coef, step, offset, last;
    const Expr *at;
    const Bounds *scope;             /* the scope of `at` */
    Interval rest;
} MemoryTouch;

typedef struct Overlap {
    Ctx *cx;
    const Memory *x, *y;
    const Expr *var;                 /* the variable of the outermost loop, or NULL */
    const Bounds *scope;
    Lets lets;
    int touch_count; MemoryTouch touch[MOST_TOUCHES];
    /* The lowest and highest elements, by moment. INT64_MAX and 0 mean no access. */
    int moment_count; int64_t low[MOST_MOMENTS], high[MOST_MOMENTS];
    bool failed;
} Overlap;

/* ---- Accesses of a statement ------------------------------------------------------------------------------------- */

/* Finds the only min(step*v + offset, last) in the index. Returns false if there is none. */
static bool find_shift(Overlap *o, const Expr *e, const Expr **shift, MemoryTouch *t)
{
    const Expr *offset;
    if (e->kind == EXPR_MIN && e->arg[1]->kind == EXPR_INT && split_linear(o->cx, e->arg[0], o->var, &t->step, &offset)
        && offset->kind == EXPR_INT) {
        t->offset = offset->integer;
        t->last = e->arg[1]->integer;
        *shift = e;
        return true;
    }
    for (int i = 0; i < e->arg_count; i++)
        if (find_shift(o, e->arg[i], shift, t)) return true;
    return false;
}

/* Splits the index into coef*i + rest. Returns false if it is not such a sum. */
static bool moves_with_loop(Overlap *o, const Expr *at, MemoryTouch *t, const Expr **rest)
{
    const Expr *shift;
    t->step = 1;
    t->last = INT64_MAX;
    if (!o->var) return false;
    if (split_linear(o->cx, at, o->var, &t->coef, rest)) return true;
    return find_shift(o, at, &shift, t) && split_linear(o->cx, at, shift, &t->coef, rest) && !expr_uses(*rest, o->var);
}

/* Adds an access whose index has digits of the loop's variable. Accesses that differ by a constant are treated as
 * one. */
static void touch_digits(Overlap *o, const Expr *at, MemoryTouch t)
{
    const bool has_constant = at->kind == EXPR_ADD && at->arg[1]->kind == EXPR_INT;
    const int64_t plus = has_constant ? at->arg[1]->integer : 0;
    t.at = has_constant ? at->arg[0] : at;
    t.scope = o->scope;
    t.rest = (Interval){ plus, plus };
    for (int i = 0; i < o->touch_count; i++) {
        MemoryTouch *known = &o->touch[i];
        if (known->at != t.at || known->scope != t.scope || known->is_write != t.is_write) continue;
        known->rest.least = plus < known->rest.least ? plus : known->rest.least;
        known->rest.greatest = plus > known->rest.greatest ? plus : known->rest.greatest;
        return;
    }
    o->failed = o->failed || o->touch_count == MOST_TOUCHES;
    if (!o->failed) o->touch[o->touch_count++] = t;
}

static void touch(Overlap *o, const Memory *m, const Expr *index)
{
    Ctx *cx = o->cx;
    const Memory *base = memory_base(m);
    if (base != o->x && base != o->y) return;
    const Expr *at = m->kind == MEMORY_POINTER ? expr_add(cx, m->offset, index) : index, *rest = NULL;
    at = simplify(cx, lets_replace(cx, &o->lets, at), o->scope);
    MemoryTouch t = { .is_write = base == o->y };      /* a read of the output follows its write */
    bool moves = moves_with_loop(o, at, &t, &rest);
    if (!moves && o->var && expr_uses(at, o->var)) {
        touch_digits(o, at, t);
        return;
    }
    if (!moves) t.coef = 0;
    t.rest = interval_of(cx, moves ? rest : at, o->scope);
    o->failed = o->failed || o->touch_count == MOST_TOUCHES || t.rest.least <= INT32_MIN
                || t.rest.greatest >= INT32_MAX;
    if (!o->failed) o->touch[o->touch_count++] = t;
}

static void touch_load(const Expr *e, void *user)
{
    if (e->kind == EXPR_LOAD) touch(user, e->ref, e->arg[0]);
}

static void note_let(Overlap *o, const Code *c)
{
    if (o->lets.count == MOST_LETS) o->failed = true;
    if (!o->failed && c->var->type == I32) lets_add(&o->lets, c);
}

static void scan(Overlap *o, const Code *c)
{
    const Bounds *outer = o->scope;
    const Expr *const read[] = { c->begin, c->end, c->cond, c->index, c->value };
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i]) expr_walk(o->cx, read[i], touch_load, o);
    if (c->kind == CODE_STORE) touch(o, c->memory, c->index);
    if (c->kind == CODE_STORE && c->memory == o->x) o->failed = true;
    /* A hint, or an instruction without a portable form, prevents the analysis. */
    if (c->kind == CODE_CALL && !c->child_count) o->failed = true;
    if (c->kind == CODE_LET) note_let(o, c);
    if (c->kind == CODE_FOR) o->scope = code_bounds(o->cx, outer, c);
    for (int i = 0; i < c->child_count && !o->failed; i++) scan(o, c->child[i]);
    o->scope = outer;
}

/* ---- Moments ----------------------------------------------------------------------------------------------------- */

static Interval place_at(const Overlap *o, const MemoryTouch *t, int64_t v)
{
    if (t->at) {
        const Expr *value = expr_index(o->cx, v);
        return interval_of(o->cx, expr_substitute(o->cx, t->at, &o->var, &value, 1), t->scope);
    }
    const int64_t at = sat_add(sat_mul(t->step, v), t->offset), moved = sat_mul(t->coef, at < t->last ? at : t->last);
    return (Interval){ moved, moved };
}

static void add_moment(Overlap *o, int64_t v)
{
    if (o->moment_count == MOST_MOMENTS) o->failed = true;
    if (o->failed) return;
    int64_t *low = &o->low[o->moment_count], *high = &o->high[o->moment_count++];
    *low = INT64_MAX;
    *high = 0;
    for (int i = 0; i < o->touch_count; i++) {
        const MemoryTouch *t = &o->touch[i];
        const Interval moved = place_at(o, t, v);
        int64_t from = sat_add(moved.least, t->rest.least), to = sat_add(moved.greatest, t->rest.greatest);
        o->failed = o->failed || from <= INT32_MIN || to >= INT32_MAX;
        if (t->is_write) *high = to + 1 > *high ? to + 1 : *high;
        else *low = from < *low ? from : *low;
    }
    if (*low < 0) *low = 0;          /* a guarded read reads nothing below 0 */
}

static bool is_serial(const Code *loop)
{
    return loop->kind == CODE_FOR && loop->loop_kind == LOOP_SERIAL && loop->begin->kind == EXPR_INT
           && loop->end->kind == EXPR_INT;
}

static bool is_in_order(const Code *loop)
{
    return is_serial(loop) && (loop->end->integer - loop->begin->integer) / loop->step < MOST_MOMENTS;
}

static void moments(Overlap *o, const Code *c)
{
    if (c->kind == CODE_SEQ || c->kind == CODE_SCOPE) {
        for (int i = 0; i < c->child_count && !o->failed; i++) moments(o, c->child[i]);
        return;
    }
    bool in_order = is_in_order(c);
    o->touch_count = 0;
    o->var = in_order ? c->var : NULL;
    scan(o, c);
    if (!in_order && o->touch_count) add_moment(o, 0);
    for (int64_t v = in_order ? c->begin->integer : 0; in_order && v < c->end->integer && !o->failed; v += c->step)
        add_moment(o, v);
}

/* Returns true if all accesses in the loop move by its variable forwards, or not at all. No read is below 0, where
 * add_moment raises it, because low would no longer be concave. */
static bool moves_forwards(Overlap *o, const Code *loop)
{
    const int lets = o->lets.count;
    bool is_forwards = true;
    o->touch_count = 0;
    o->var = loop->var;
    scan(o, loop);
    for (int i = 0; i < o->touch_count; i++) {
        const MemoryTouch *t = &o->touch[i];
        const bool is_clamped = !t->is_write && place_at(o, t, loop->begin->integer).least + t->rest.least < 0;
        is_forwards = is_forwards && !t->at && t->coef >= 0 && t->step == 1 && t->last == INT64_MAX && !is_clamped;
    }
    o->lets.count = lets;
    return is_forwards;
}

static void statements(Overlap *o, const Code *c);

static void iteration(Overlap *o, const Code *loop, int64_t v)
{
    const int lets = o->lets.count;
    if (o->lets.count == MOST_LETS) o->failed = true;
    if (o->failed) return;
    o->lets.var[o->lets.count] = loop->var;
    o->lets.value[o->lets.count++] = expr_index(o->cx, v);
    for (int i = 0; i < loop->child_count && !o->failed; i++) statements(o, loop->child[i]);
    o->lets.count = lets;
}

/* Adds the moments of a statement, one for each statement in it and each iteration of its serial loops. */
static void statements(Overlap *o, const Code *c)
{
    enum { ENDS = 3 };
    const bool is_list = c->kind == CODE_SEQ || c->kind == CODE_SCOPE;
    for (int i = 0; is_list && i < c->child_count && !o->failed; i++) statements(o, c->child[i]);
    if (is_list) return;
    if (!is_serial(c)) {
        o->touch_count = 0;
        o->var = NULL;
        scan(o, c);
        if (o->touch_count) add_moment(o, 0);
        return;
    }
    const int64_t begin = c->begin->integer, count = (c->end->integer - begin + c->step - 1) / c->step;
    const bool has_ends = count > 2 * ENDS && moves_forwards(o, c);
    for (int64_t k = 0; k < count && !o->failed; k++)
        if (!has_ends || k < ENDS || k >= count - ENDS) iteration(o, c, begin + k * c->step);
}

static bool lead_of(Ctx *cx, const Function *f, const Memory *x, const Memory *y,
                    void (*walk)(Overlap *o, const Code *c), int64_t *lead)
{
    ArenaMark mark = arena_mark(cx->scratch);
    Overlap *o = NEW(cx->scratch, Overlap);
    int64_t x_bytes = dtype_info(x->type)->bytes, y_bytes = dtype_info(y->type)->bytes, high = 0;
    *o = (Overlap){ .cx = cx, .x = x, .y = y };
    walk(o, f->body);
    *lead = 0;
    for (int t = o->moment_count - 2; t >= 0; t--)
        if (o->low[t + 1] < o->low[t]) o->low[t] = o->low[t + 1];
    for (int t = 0; t < o->moment_count; t++) {
        high = o->high[t] > high ? o->high[t] : high;
        if (!high || o->low[t] == INT64_MAX) continue;
        int64_t ahead = high * y_bytes - o->low[t] * x_bytes;
        *lead = ahead > *lead ? ahead : *lead;
    }
    bool found = !o->failed;
    arena_reset(cx->scratch, mark);
    return found;
}

bool overlap_lead(Ctx *cx, const Function *f, const Memory *x, const Memory *y, int64_t *lead)
{
    return lead_of(cx, f, x, y, moments, lead);
}

bool overlap_shift(Ctx *cx, const Function *f, const Memory *x, const Memory *y, int64_t most)
{
    int64_t lead;
    return (lead_of(cx, f, x, y, moments, &lead) && lead <= most)
           || (lead_of(cx, f, x, y, statements, &lead) && lead <= most);
}
