/* SPDX-License-Identifier: MIT */
/* Divides a lowered function among cores. Two kinds of division are tried, and the one whose longest part is shortest
 * is taken:
 *
 *   rows    the statements of the body are a sequence of moments, the iterations of the outermost loops in order, and a
 *           part executes a run of moments;
 *   inner   every part executes the whole body, except that it takes only some iterations of one loop, such as the loop
 *           over output channels. What precedes this loop, such as packing a patch, is repeated by each part.
 *
 * The memories that parts share are the outputs. A division is legal if the elements of an output that a part accesses
 * are disjoint from those of all other parts. Two sets of elements are apart if their intervals are apart or, with the
 * stride S of an outer dimension, if the intervals of index % S are apart. The index is split into terms with
 * coefficients that S divides and a rest, which is proved to be in [0, S).
 *
 * An output may overlap an input that dies in the layer, as on one core: the outermost loops then run in rounds, with a
 * fork for each. The output precedes the input by its lead, so no write of a round reaches an element that this round
 * or a later one reads.
 *
 * Scratch memory and local arrays are separate for each part. A part may read from such memory only the values that it
 * has written itself. So a memory that is written in the divided iterations either lives in one iteration (the nest
 * allocates it inside the loop, or the body declares it), or is divided like an output. */

/* Decision: layers are divided after lowering. The code of a part is the code of the whole with other bounds: same
 * instructions, same order of every sum, so the bits do not depend on the number of cores, and no schedule has a second
 * form. `lower/divide.c` proves on the lowered code that parts access disjoint elements; a layer without a proof runs
 * on one core. */
#include "lower/divide.h"

#include "lower/count.h"
#include "lower/passes/passes.h"

enum { MOST_LOSS = 3,                /* percent of speed that an inner loop may cost: its rounds are shorter */
       ROUNDS = 12 };
enum { MOST_UNITS = 64, MOST_ACCESSES = 1024, MOST_OWN = 256, MOST_LOOPS = 32, MOST_STRIDES = 16, MOST_ROUNDS = 8 };

/* A statement of the body. The moments of a part are [first, first + count). A declaration has none: every part
 * executes it. */
typedef struct Unit { const Code *code; int64_t first, count; bool is_loop, is_declaration; } Unit;

typedef struct Access {
    const Memory *memory;            /* the base */
    const Expr *at;
    const Expr *when;                /* the conditions around the access, or NULL */
    const Bounds *scope;
    int unit;
    bool is_inside, is_write;        /* is_inside: in the divided loop */
} Access;

typedef struct Divider {
    Ctx *cx;
    const Function *f;
    const Nest *nest;
    const Costs *costs;
    int parts;
    const Expr *from, *to;           /* the parameters, once a division is chosen */
    /* The divided loop of an inner division, or NULL */
    const Code *loop;
    int64_t count;                   /* the iterations or moments to divide */
    int unit_count; Unit unit[MOST_UNITS];
    int access_count; Access access[MOST_ACCESSES];
    Lets lets;
    int own_count; const Memory *own[MOST_OWN];       /* memories that the divided code declares */
    const Bounds *scope;
    const Expr *when;
    int at_unit;
    bool is_inside, failed;
    bool notes_inputs;               /* true if accesses to inputs are also listed */
} Divider;

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

static void add_access(Divider *d, const Memory *m, const Expr *index, bool is_write)
{
    const Memory *base = memory_base(m);
    if (base->kind == MEMORY_INPUT) {
        d->failed = d->failed || is_write;
        if (!d->notes_inputs) return;
    }
    /* Every part executes a declaration, which must not read what parts write. */
    else d->failed = d->failed || (!d->loop && d->unit[d->at_unit].is_declaration);
    const Expr *at = m->kind == MEMORY_POINTER ? expr_add(d->cx, m->offset, index) : index;
    at = simplify(d->cx, lets_replace(d->cx, &d->lets, at), d->scope);
    d->failed = d->failed || d->access_count == MOST_ACCESSES;
    for (int i = 0; i < d->access_count && !d->failed; i++) {
        const Access *known = &d->access[i];
        if (known->memory == base && known->at == at && known->when == d->when && known->scope == d->scope
            && known->unit == d->at_unit && known->is_inside == d->is_inside && known->is_write == is_write)
            return;
    }
    if (!d->failed)
        d->access[d->access_count++] = (Access){ base, at, d->when, d->scope, d->at_unit, d->is_inside, is_write };
}

static void note_load(const Expr *e, void *user)
{
    if (e->kind == EXPR_LOAD) add_access(user, e->ref, e->arg[0], false);
}

static bool is_divided(const Divider *d, const Code *c)
{
    return d->loop && c->kind == CODE_FOR && c->var == d->loop->var;
}

static void note_let(Divider *d, const Code *c)
{
    d->failed = d->failed || d->lets.count == MOST_LETS;
    if (!d->failed && c->var->type == I32) lets_add(&d->lets, c);
}

static const Expr *both_of(Ctx *cx, const Expr *a, const Expr *b) { return a ? expr_and(cx, a, b) : b; }

static void collect(Divider *d, const Code *c)
{
    const Bounds *outer = d->scope;
    const bool was_inside = d->is_inside;
    const Expr *when = d->when;
    const Expr *const read[] = { c->begin, c->end, c->cond, c->index, c->value };
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i]) expr_walk(d->cx, read[i], note_load, d);
    if (c->kind == CODE_STORE) add_access(d, c->memory, c->index, true);
    /* A hint, or an instruction without a portable form, prevents the analysis. */
    if (c->kind == CODE_CALL && !c->child_count) d->failed = true;
    if (c->kind == CODE_LET) note_let(d, c);
    const bool is_private = d->loop ? d->is_inside : c != d->unit[d->at_unit].code;
    if (c->kind == CODE_LOCAL && c->memory->kind != MEMORY_POINTER && is_private) {
        d->failed = d->failed || d->own_count == MOST_OWN;
        if (!d->failed) d->own[d->own_count++] = c->memory;
    }
    if (is_divided(d, c)) {
        d->failed = d->failed || d->is_inside || c->begin != d->loop->begin || c->end != d->loop->end
                    || c->step != d->loop->step || c->loop_kind != LOOP_SERIAL;
        d->is_inside = true;
    }
    if (c->kind == CODE_FOR) d->scope = code_bounds(d->cx, outer, c);
    for (int i = 0; i < c->child_count && !d->failed; i++) {
        if (c->kind == CODE_IF) d->when = i == 0 ? both_of(d->cx, when, lets_replace(d->cx, &d->lets, c->cond)) : when;
        collect(d, c->child[i]);
    }
    d->when = when;
    d->scope = outer;
    d->is_inside = was_inside;
}

static void collect_all(Divider *d)
{
    d->access_count = d->lets.count = d->own_count = 0;
    d->failed = false;
    d->scope = NULL;
    for (d->at_unit = 0; d->at_unit < d->unit_count; d->at_unit++) collect(d, d->unit[d->at_unit].code);
}

/* ---- Elements of a part ------------------------------------------------------------------------------------------ */

static const Interval NOTHING = { 1, 0 };
static bool is_nothing(Interval i) { return i.least > i.greatest; }

static Interval joined(Interval a, Interval b)
{
    return is_nothing(a) ? b : is_nothing(b) ? a : interval_hull(a, b);
}

/* Returns the loop whose iterations [*lo, *hi) the access is in, for the moments [from, to); or NULL if the access does
 * not depend on a divided loop. Sets *lo = *hi if the part lacks the access. */
static const Code *loop_of(const Divider *d, const Access *a, int64_t from, int64_t to, int64_t *lo, int64_t *hi)
{
    const Unit *u = &d->unit[a->unit];
    *lo = from;
    *hi = to;
    if (d->loop) return a->is_inside ? d->loop : NULL;
    if (u->is_declaration) {         /* every call executes it */
        *lo = 0;
        *hi = 1;
        return NULL;
    }
    *lo = from > u->first ? from - u->first : 0;
    *hi = to - u->first < u->count ? to - u->first : u->count;
    if (*hi < *lo) *hi = *lo;
    return u->is_loop ? u->code : NULL;
}

/* Returns the index, less its terms that the stride divides. Returns NULL if the index is not such a sum. */
static const Expr *residue(Divider *d, const Expr *at, int64_t stride)
{
    Linear l;
    if (!stride) return at;
    if (!linear_of(d->cx, at, &l)) return NULL;
    for (int i = l.count - 1; i >= 0; i--)
        if (l.coef[i] % stride == 0) linear_drop(&l, i);
    l.constant -= stride * floor_div(l.constant, stride);
    return linear_expr(d->cx, &l);
}

/* Returns the elements that the access touches in [from, to), modulo the stride if it is not 0. */
static Interval elements(Divider *d, const Access *a, int64_t from, int64_t to, int64_t stride)
{
    int64_t lo, hi;
    const Code *loop = loop_of(d, a, from, to, &lo, &hi);
    const Interval all = { INT64_MIN, INT64_MAX };
    if (lo == hi) return NOTHING;
    const Expr *at = a->at, *when = a->when;
    if (loop) {
        const int64_t begin = loop->begin->integer, step = loop->step;
        const int64_t last = begin + (hi - 1) * step;
        const Expr *v = lo + 1 == hi ? expr_index(d->cx, last)
                                     : expr_new_var(d->cx, "v", VAR_LOCAL, I32, begin + lo * step, last);
        at = expr_substitute(d->cx, at, &loop->var, &v, 1);
        if (when) when = simplify(d->cx, expr_substitute(d->cx, when, &loop->var, &v, 1), a->scope);
    }
    if (when && expr_is_int(when, 0)) return NOTHING;
    at = residue(d, at, stride);
    if (!at) return all;
    const Interval i = interval_of(d->cx, at, bounds_fact(d->cx, a->scope, when));
    return stride && (i.least < 0 || i.greatest >= stride) ? all : i;
}

static Interval elements_of_part(Divider *d, const Memory *m, int64_t from, int64_t to, int64_t stride)
{
    Interval all = NOTHING;
    for (int i = 0; i < d->access_count; i++)
        if (d->access[i].memory == m) all = joined(all, elements(d, &d->access[i], from, to, stride));
    return all;
}

static bool are_apart(Divider *d, const Memory *m, const int64_t *at, int64_t stride)
{
    Interval part[MOST_CORES];
    for (int p = 0; p < d->parts; p++) {
        part[p] = elements_of_part(d, m, at[p], at[p + 1], stride);
        for (int q = 0; q < p; q++)
            if (!is_nothing(part[p]) && !is_nothing(part[q]) && part[p].least <= part[q].greatest
                && part[q].least <= part[p].greatest)
                return false;
    }
    return true;
}

static int add_stride(int64_t *stride, int count, int64_t n)
{
    for (int k = 0; k < count; k++)
        if (stride[k] == n) return count;
    if (count < MOST_STRIDES && n > 1) stride[count++] = n;
    return count;
}

/* Collects candidates for strides: 0, those of the tensor's dimensions, and the coefficients of the memory's indices,
 * which include the strides of views. */
static int strides_of(Divider *d, const Memory *m, int64_t *stride)
{
    int64_t elems = 1;
    int count = 0;
    stride[count++] = 0;
    for (int k = m->tensor ? m->tensor->rank - 1 : 0; d->loop && k > 0 && m->tensor->shape[k]->kind == EXPR_INT; k--)
        count = add_stride(stride, count, elems = sat_mul(elems, m->tensor->shape[k]->integer));
    for (int i = 0; d->loop && i < d->access_count; i++) {
        Linear l;
        if (d->access[i].memory != m || !linear_of(d->cx, d->access[i].at, &l)) continue;
        for (int t = 0; t < l.count; t++) count = add_stride(stride, count, l.coef[t]);
    }
    return count;
}

/* ---- Memories ---------------------------------------------------------------------------------------------------- */

static bool is_own(const Divider *d, const Memory *m)
{
    for (int i = 0; i < d->own_count; i++)
        if (d->own[i] == m) return true;
    return false;
}

/* Returns true if the nest allocates the tensor inside the loop of this variable. */
static bool is_allocated_in(const Stmt *s, const Tensor *t, const Expr *var, bool is_inside)
{
    if (s->kind == STMT_ALLOC && s->buffer->tensor == t) return is_inside;
    is_inside = is_inside || (s->kind == STMT_FOR && s->var == var);
    for (int i = 0; i < s->child_count; i++)
        if (is_allocated_in(s->child[i], t, var, is_inside)) return true;
    return false;
}

/* Returns true if the memory is used within single iterations only, so that no value passes from one to the next. */
static bool lives_in_iteration(const Divider *d, const Memory *m)
{
    if (m->kind == MEMORY_OUTPUT || !m->tensor) return false;
    if (d->loop) return is_allocated_in(d->nest->root, m->tensor, d->loop->var, false);
    /* units that are not loops over the nest's iterations and are therefore not divided */
    int other = 0;
    for (int i = 0; i < d->access_count; i++) {
        const Unit *u = &d->unit[d->access[i].unit];
        if (d->access[i].memory != m) continue;
        if (!u->is_loop || !is_allocated_in(d->nest->root, m->tensor, u->code->var, false)) other++;
    }
    return !other;
}

/* Returns true if each part may have the memory, or its share of an output. */
static bool memory_is_divided(Divider *d, const Memory *m, const int64_t *at)
{
    int64_t stride[MOST_STRIDES];
    if (m->kind == MEMORY_INPUT) return true;
    bool is_written = false, is_shared = m->kind == MEMORY_OUTPUT, is_outside = false;
    for (int i = 0; i < d->access_count; i++) {
        const Access *a = &d->access[i];
        if (a->memory != m) continue;
        const bool in_divided = !d->loop || a->is_inside;
        is_written = is_written || (a->is_write && (in_divided || is_shared));
        is_outside = is_outside || !in_divided;
    }
    if (!is_written || is_own(d, m)) return true;
    if (is_outside) return false;
    if (lives_in_iteration(d, m)) return true;
    const int count = strides_of(d, m, stride);
    for (int s = 0; s < count; s++)
        if (are_apart(d, m, at, stride[s])) return true;
    return false;
}

static bool is_legal(Divider *d, const int64_t *at)
{
    for (int i = 0; i < d->access_count; i++) {
        bool is_first = true;
        for (int k = 0; k < i; k++) is_first = is_first && d->access[k].memory != d->access[i].memory;
        if (is_first && !memory_is_divided(d, d->access[i].memory, at)) return false;
    }
    return true;
}

/* ---- The divided function ---------------------------------------------------------------------------------------- */

static const Code *with_bounds(Ctx *cx, const Code *loop, const Expr *begin, const Expr *end)
{
    begin = simplify(cx, begin, NULL);
    end = simplify(cx, end, NULL);
    if (begin->kind == EXPR_INT && end->kind == EXPR_INT && begin->integer >= end->integer)
        return code_seq(cx, NULL, 0);
    Code *own = arena_copy(cx->arena, loop, sizeof *loop);
    own->begin = begin;
    own->end = end;
    return own;
}

/* Returns the value of the loop's variable in iteration `at`, for all loops with this begin and step. */
static const Expr *value_at(Ctx *cx, const Code *loop, const Expr *at)
{
    const Expr *moved = loop->step == 1 ? at : expr_mul(cx, at, expr_index(cx, loop->step));
    return expr_is_int(loop->begin, 0) ? moved : expr_add(cx, moved, loop->begin);
}

static const Code *bound_loop(Ctx *cx, const Code *c, void *user)
{
    const Divider *d = user;
    if (!is_divided(d, c)) return c;
    const bool is_last_short = (c->end->integer - c->begin->integer) % c->step != 0;
    const Expr *end = value_at(cx, c, d->to);
    if (is_last_short) end = expr_binary(cx, EXPR_MIN, end, c->end);
    return with_bounds(cx, c, value_at(cx, c, d->from), end);
}

/* Returns the unit for the moments from `from` to `to`. */
static const Code *bound_unit(Divider *d, const Unit *u)
{
    Ctx *cx = d->cx;
    if (!u->count) return u->code;
    const Expr *first = expr_index(cx, u->first), *end = expr_index(cx, u->first + u->count);
    if (!u->is_loop) {
        const Expr *after = expr_binary(cx, EXPR_LE, d->from, first), *before = expr_binary(cx, EXPR_LT, first, d->to);
        return code_if(cx, simplify(cx, expr_and(cx, after, before), NULL), u->code, NULL);
    }
    const Expr *from = expr_binary(cx, EXPR_MAX, d->from, first), *to = expr_binary(cx, EXPR_MIN, d->to, end);
    if (u->first) {
        from = expr_sub(cx, from, first);
        to = expr_sub(cx, to, first);
    }
    const bool is_last_short = (u->code->end->integer - u->code->begin->integer) % u->code->step != 0;
    const Expr *stop = value_at(cx, u->code, to);
    if (is_last_short) stop = expr_binary(cx, EXPR_MIN, stop, u->code->end);
    return with_bounds(cx, u->code, value_at(cx, u->code, from), stop);
}

static const Code *divided_body(Divider *d)
{
    const Code **part = NEW_ARRAY(d->cx->arena, const Code *, d->unit_count);
    if (d->loop) return code_rewrite(d->cx, d->f->body, bound_loop, d);
    for (int i = 0; i < d->unit_count; i++) part[i] = bound_unit(d, &d->unit[i]);
    return code_seq(d->cx, part, d->unit_count);
}

/* Returns the instructions of the iterations [from, to). */
static int64_t cost_of(Divider *d, int64_t from, int64_t to)
{
    Function part = *d->f;
    d->from = expr_index(d->cx, from);
    d->to = expr_index(d->cx, to);
    part.body = divided_body(d);
    return part.body ? count_instructions(d->cx, &part, d->costs) : 0;
}

/* ---- The choice of cuts ------------------------------------------------------------------------------------------ */

/* Sets at[p] to the iteration before which the p-th fraction of the cost lies. */
static void cut_by_cost(Divider *d, int64_t *at)
{
    const int64_t none = cost_of(d, 0, 0), all = cost_of(d, 0, d->count) - none;
    at[0] = 0;
    at[d->parts] = d->count;
    for (int p = 1; p < d->parts; p++) {
        const int64_t wanted = all / d->parts * p;
        int64_t low = at[p - 1], high = d->count;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (cost_of(d, 0, middle) - none < wanted) low = middle + 1;
            else high = middle;
        }
        if (low > at[p - 1] && wanted - (cost_of(d, 0, low - 1) - none) < cost_of(d, 0, low) - none - wanted) low--;
        at[p] = low;
    }
}

static bool ascends(const Divider *d, const int64_t *at)
{
    for (int p = 0; p < d->parts; p++)
        if (at[p + 1] < at[p]) return false;
    return true;
}

/* Returns true if the parts before the cut p and the parts after it access disjoint elements. */
static bool is_legal_cut(Divider *d, int64_t cut)
{
    Divider two = *d;
    const int64_t at[] = { 0, cut, d->count };
    two.parts = 2;
    return is_legal(&two, at);
}

/* Moves each cut to the nearest legal one. Returns false if a cut has none within a few iterations. */
static bool move_cuts(Divider *d, int64_t *at)
{
    for (int p = 1; p < d->parts; p++) {
        bool found = false;
        for (int64_t away = 0; away < MOST_ROUNDS && !found; away++)
            for (int sign = -1; sign <= 1 && !found; sign += 2) {
                const int64_t cut = at[p] + sign * away;
                if (cut < at[p - 1] || cut < 0 || cut > d->count || !is_legal_cut(d, cut)) continue;
                at[p] = cut;
                found = true;
            }
        if (!found) return false;
    }
    return ascends(d, at);
}

/* Keeps the division that the divider describes if it is legal and better than *best. */
static void consider(Divider *d, Division *best)
{
    int64_t at[MOST_CORES + 1];
    int64_t longest = 0, known = 0;
    collect_all(d);
    if (d->failed || d->count < 2) return;
    cut_by_cost(d, at);
    if (!move_cuts(d, at) || !is_legal(d, at)) return;
    Division found = { .undivided = d->f, .parts = d->parts, .whole = best->whole };
    for (int p = 0; p <= d->parts; p++) found.at[p] = at[p];
    for (int p = 0; p < d->parts; p++) {
        found.cost[p] = cost_of(d, at[p], at[p + 1]);
        longest = found.cost[p] > longest ? found.cost[p] : longest;
        known = best->cost[p] > known ? best->cost[p] : known;
    }
    const int64_t margin = best->divides_rows ? known / 100 * MOST_LOSS : 0;
    if (longest >= known + margin) return;
    found.divides_rows = !d->loop;
    found.function = arena_copy(d->cx->arena, d->f, sizeof *d->f);
    const Expr **number = NEW_ARRAY(d->cx->arena, const Expr *, 2);
    number[0] = d->from = expr_new_var(d->cx, "from", VAR_LOCAL, I32, 0, d->count);
    number[1] = d->to = expr_new_var(d->cx, "to", VAR_LOCAL, I32, 0, d->count);
    found.function->number = number;
    found.function->number_count = 2;
    found.function->body = divided_body(d);
    *best = found;
}

/* ---- The candidates ---------------------------------------------------------------------------------------------- */

static bool is_countable(const Code *c)
{
    return c->kind == CODE_FOR && c->loop_kind == LOOP_SERIAL && c->begin->kind == EXPR_INT && c->end->kind == EXPR_INT
           && c->end->integer > c->begin->integer;
}

static int64_t iterations(const Code *c) { return (c->end->integer - c->begin->integer + c->step - 1) / c->step; }

static void add_units(Divider *d, const Code *c)
{
    if (c->kind == CODE_SEQ || (c->kind == CODE_SCOPE && c->child[0]->kind == CODE_FOR)) {
        for (int i = 0; i < c->child_count && !d->failed; i++) add_units(d, c->child[i]);
        return;
    }
    const bool is_declaration = c->kind == CODE_LET || c->kind == CODE_LOCAL, is_loop = is_countable(c);
    d->failed = d->failed || d->unit_count == MOST_UNITS;
    if (d->failed) return;
    d->unit[d->unit_count++] = (Unit){ c, d->count, is_declaration ? 0 : is_loop ? iterations(c) : 1, is_loop,
                                          is_declaration };
    d->count += d->unit[d->unit_count - 1].count;
}

/* Turns loops that cannot be cut, such as the loop over channels in a row of its own, into single moments. */
static void join_moments(Divider *d)
{
    collect_all(d);
    if (d->failed) return;
    d->count = 0;
    for (int i = 0; i < d->unit_count; i++) {
        Unit *u = &d->unit[i];
        u->first = d->count;
        if (u->is_loop && u->count > 1) {
            Divider one = *d;
            const int64_t at[] = { 0, u->count / 2, u->count };
            for (int k = 0; k < one.unit_count; k++)
                if (k != i) one.unit[k].first = one.unit[k].count = 0;
            one.unit[i].first = 0;
            one.parts = 2;
            if (!is_legal(&one, at)) {
                u->is_loop = false;
                u->count = 1;
            }
        }
        d->count += u->count;
    }
}

static void collect_loops(const Code *c, const Code **loop, int *count)
{
    bool is_new = is_countable(c) && iterations(c) > 1 && *count < MOST_LOOPS;
    for (int i = 0; i < *count; i++) is_new = is_new && loop[i]->var != c->var;
    if (is_new) loop[(*count)++] = c;
    for (int i = 0; i < c->child_count; i++) collect_loops(c->child[i], loop, count);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Returns true if a value may pass from one round to the next in a variable of the function. */
static bool keeps_variables(const Divider *d)
{
    for (int i = 0; i < d->unit_count; i++)
        if (d->unit[i].code->kind == CODE_LOCAL && d->unit[i].code->memory->kind != MEMORY_POINTER) return true;
    return false;
}

/* Returns true if a value may pass from one moment to another in the scratch memory of a part: the part's moments of a
 * round are then different in the next round. */
static bool keeps_scratch(const Divider *d)
{
    for (int i = 0; i < d->access_count; i++) {
        const Memory *m = d->access[i].memory;
        const Unit *u = &d->unit[d->access[i].unit];
        bool is_elsewhere = u->is_loop;
        if (!d->access[i].is_write || m->kind == MEMORY_OUTPUT || is_own(d, m) || lives_in_iteration(d, m)) continue;
        for (int k = 0; k < d->access_count; k++)
            is_elsewhere = is_elsewhere || (d->access[k].memory == m && d->access[k].unit != d->access[i].unit);
        if (is_elsewhere) return true;
    }
    return false;
}

/* Finds the lead of x for rounds: in each round, the bytes written by its end must precede the bytes that are read
 * after its begin. Returns false if it has no bound. */
static bool lead_of(Divider *d, const Memory *x, const Memory *y, int64_t round, int64_t *lead)
{
    const int64_t x_bytes = dtype_info(x->type)->bytes, y_bytes = dtype_info(y->type)->bytes;
    *lead = 0;
    for (int64_t begin = 0; begin < d->count; begin += round) {
        const int64_t end = begin + round < d->count ? begin + round : d->count;
        const Interval written = elements_of_part(d, y, 0, end, 0), read = elements_of_part(d, x, begin, d->count, 0);
        if (is_nothing(written) || is_nothing(read)) continue;
        if (written.greatest >= INT32_MAX || read.least <= INT32_MIN) return false;
        const int64_t low = read.least > 0 ? read.least : 0;      /* a guarded read reads nothing below 0 */
        const int64_t ahead = (written.greatest + 1) * y_bytes - low * x_bytes;
        *lead = ahead > *lead ? ahead : *lead;
    }
    return true;
}

static void find_leads(Divider *d, Division *into)
{
    const Function *f = d->f;
    const Memory *y = NULL;
    int outputs = 0;
    for (int i = 0; i < f->memory_count; i++)
        if (f->memory[i]->kind == MEMORY_OUTPUT) y = f->memory[i], outputs++;
    for (int i = 0; outputs == 1 && i < f->memory_count && into->lead_count < MOST_LEADS; i++) {
        const Memory *x = f->memory[i];
        int64_t lead;
        if (x->kind != MEMORY_INPUT || (x->tensor && tensor_is_constant(x->tensor))) continue;
        if (!lead_of(d, x, y, into->round, &lead)) continue;
        into->lead[into->lead_count].x = x;
        into->lead[into->lead_count++].bytes = lead;
    }
}

/* Adds the parameters of rounds to a function whose parts divide an inner loop. */
static void add_rounds(Ctx *cx, const Nest *nest, Division *into)
{
    Divider *d = NEW(cx->arena, Divider);
    *d = (Divider){ .cx = cx, .f = into->function, .nest = nest, .parts = into->parts, .notes_inputs = true };
    add_units(d, into->function->body);
    if (d->failed || d->count < 2 || keeps_variables(d)) return;
    collect_all(d);
    if (d->failed) return;
    into->round = (d->count + ROUNDS - 1) / ROUNDS;
    find_leads(d, into);
    if (!into->lead_count) return;
    const Expr **number = NEW_ARRAY(cx->arena, const Expr *, 4);
    number[0] = d->from = expr_new_var(cx, "begin", VAR_LOCAL, I32, 0, d->count);
    number[1] = d->to = expr_new_var(cx, "end", VAR_LOCAL, I32, 0, d->count);
    number[2] = into->function->number[0];
    number[3] = into->function->number[1];
    into->moments = d->count;
    into->function->body = divided_body(d);
    into->function->number = number;
    into->function->number_count = 4;
}

/* Sets row[p] to the moments in [begin, end) at which part p begins. Returns the moments of the longest part. */
static int64_t divide_round(Divider *d, int64_t begin, int64_t end, int64_t *row)
{
    int64_t longest = 0;
    for (int p = 0; p <= d->parts; p++) row[p] = begin + (end - begin) * p / d->parts;
    if (!is_legal(d, row))
        for (int p = 1; p <= d->parts; p++) row[p] = end;
    for (int p = 0; p < d->parts; p++) longest = row[p + 1] - row[p] > longest ? row[p + 1] - row[p] : longest;
    return longest;
}

/* Adds rounds to a division of the outermost loops, unless they lose more than a tenth of its speed. d: the units. */
static void add_rows(const Divider *of, Division *into)
{
    Divider *d = arena_copy(of->cx->arena, of, sizeof *of);
    const int64_t least = (d->count + ROUNDS - 1) / ROUNDS, parts = d->parts;
    int64_t longest = 0;
    d->notes_inputs = true;
    collect_all(d);
    into->round = (least + parts - 1) / parts * parts;
    if (d->failed || into->round >= d->count || keeps_scratch(d)) return;
    into->row = NEW_ARRAY(d->cx->arena, int64_t *, d->count / into->round + 1);
    for (int64_t begin = 0; begin < d->count; begin += into->round) {
        const int64_t end = begin + into->round < d->count ? begin + into->round : d->count;
        into->row[into->rows] = NEW_ARRAY(d->cx->arena, int64_t, parts + 1);
        longest += divide_round(d, begin, end, into->row[into->rows++]);
    }
    if (longest * parts * 10 > d->count * 11) into->rows = 0;
    else find_leads(d, into);
}

bool division_lead(const Division *d, const Memory *x, int64_t *lead)
{
    for (int i = 0; i < d->lead_count; i++) {
        if (d->lead[i].x != x) continue;
        *lead = d->lead[i].bytes;
        return d->moments || d->rows;
    }
    return false;
}

static bool is_outermost(const Divider *d, const Code *loop)
{
    bool found = false;
    for (int i = 0; i < d->unit_count; i++) found = found || (d->unit[i].is_loop && d->unit[i].code->var == loop->var);
    return found;
}

const Division *divide_function(Ctx *cx, const Function *f, const Nest *nest, const Costs *costs, int parts)
{
    const Code *loop[MOST_LOOPS];
    int loops = 0;
    Divider *d = NEW(cx->arena, Divider);
    Division *best = NEW(cx->arena, Division);
    if (f->number_count || f->size_count || nest->otherwise || code_may_stop(f->body)) return NULL;
    *d = (Divider){ .cx = cx, .f = f, .nest = nest, .costs = costs, .parts = parts };
    best->whole = best->cost[0] = count_instructions(cx, f, costs);
    add_units(d, f->body);
    if (d->failed) return NULL;
    join_moments(d);
    if (!d->failed) consider(d, best);
    if (best->function) add_rows(d, best);
    collect_loops(f->body, loop, &loops);
    for (int i = 0; i < loops; i++) {
        if (is_outermost(d, loop[i])) continue;
        d->loop = loop[i];
        d->count = iterations(loop[i]);
        consider(d, best);
    }
    if (best->function && !best->divides_rows) add_rounds(cx, nest, best);
    return best->function ? best : NULL;
}

int64_t division_longest(const Division *d)
{
    int64_t longest = 0;
    for (int p = 0; p < d->parts; p++) longest = d->cost[p] > longest ? d->cost[p] : longest;
    return longest;
}
