/* SPDX-License-Identifier: MIT */
/* Proves I3, computed before read, and I4, stored until read.
 *
 * For a read let k be the loops that consumer and producer share. need(k) is the reach of its index over the consumer's
 * other loops; computed(k) is the box that the producer's other loops compute, including its whole reduction.
 *   (a) need(k) is within computed(k), and the producer precedes in the text: nothing is carried.
 *   (b) The innermost shared loop s, serial or unrolled, carries the tensor along one dimension; (a) holds for the
 *       others. computed(s) = [b(s), e(s)) with b(s+1) <= e(s) <= e(s+1), or e(s) at the tensor's end, so [first, e(s))
 *       is complete when the producer ends in iteration s. first = b(0), or lower if copies outside s have
 *       computed the elements up to b(0). need(s) is within [first, e(s)). If the producer follows the consumer,
 *       or is the consumer, need(s) is within [first, e(s-1)), and s = 0 needs nothing. A box that falls is proved by
 *       the mirrored indices, n - 1 - i, which rise.
 * A ring of R slots is long enough if R >= e(s) - the lowest index needed at s or later. */
#include "ir/check/check_parts.h"

#include <string.h>



/* One read at one site. */
typedef struct Flow {
    Checker *c;
    const Site *reader;
    const Tensor *tensor;
    const StageSites *producer;
    /* The index over loops; NULL if the index depends on data, so that the whole dimension is needed. */
    const Expr *index[MAX_RANK];
    const Bounds *facts;                     /* the consumer's scope, with its guard and the conditions of the access */
    const Stmt *alloc; int alloc_loops;      /* the Alloc and the loops outside it; for an output, NULL and 0 */
    Reach need[MAX_RANK];                    /* the need at the current level */
    bool is_mirrored[MAX_RANK];              /* dimensions whose needs and boxes are for the mirrored indices */
    const Bounds *scope;                     /* the scope of the current level */
    const char *reason;                      /* the reason of the failed proof, at the innermost level that applies */
} Flow;

static const char *name_of(const Site *s) { return s->block->name; }
static const Expr *num(Ctx *cx, int64_t v) { return expr_index(cx, v); }

static bool is_at_most(Ctx *cx, const Expr *a, const Expr *b, const Bounds *scope)
{
    return provably(cx, expr_binary(cx, EXPR_LE, a, b), scope);
}

static const Expr *end_of(Ctx *cx, const Box *b) { return expr_add(cx, b->begin, b->count); }

/* Returns the end of the box, distributed over each min and max in its count: begin + min(a - begin, b) becomes
 * min(a, begin + b), whose parts rise if begin rises. */
static const Expr *end_of_parts(Ctx *cx, const Expr *begin, const Expr *count)
{
    if (count->kind != EXPR_MIN && count->kind != EXPR_MAX) return simplify(cx, expr_add(cx, begin, count), NULL);
    return expr_binary(cx, count->kind, end_of_parts(cx, begin, count->arg[0]),
                       end_of_parts(cx, begin, count->arg[1]));
}

static const Expr *at(Ctx *cx, const Expr *e, const Expr *var, const Expr *value)
{
    return expr_substitute(cx, e, &var, &value, 1);
}

/* Returns the scope without the facts about a loop, because these hold in the reader's iteration, but not in earlier
 * iterations. */
static const Bounds *without_facts(Ctx *cx, const Bounds *scope, const Expr *loop)
{
    if (!scope) return NULL;
    const Bounds *outer = without_facts(cx, scope->outer, loop);
    if (scope->fact) return expr_uses(scope->fact, loop) ? outer : bounds_fact(cx, outer, scope->fact);
    return bounds_var(cx, outer, scope->var, scope->extent);
}

/* ---- Need ------------------------------------------------------------------------------------------------------ */

static const Bounds *facts_at_site(Ctx *cx, const Site *s, const Bounds *facts)
{
    if (!facts) return s->inside;
    return bounds_fact(cx, facts_at_site(cx, s, facts->outer),
                       simplify(cx, block_in_loops(cx, s->block, facts->fact), s->inside));
}

static bool find_need(Flow *f, int shared)
{
    Checker *c = f->c;
    const Expr *inner[MAX_DEPTH];
    int n = 0;
    for (int l = shared; l < f->reader->loop_count; l++) inner[n++] = f->reader->loop[l]->var;
    f->scope = bounds_without(c->cx, f->facts, inner, n);
    for (int d = 0; d < f->tensor->rank; d++) {
        if (!f->index[d]) {
            f->need[d] = (Reach){ num(c->cx, 0), expr_sub(c->cx, f->tensor->shape[d], num(c->cx, 1)) };
            continue;
        }
        const char *why;
        if (!reach(c->cx, f->index[d], f->facts, inner, n, &f->need[d], &why))
            return check_fail(c, UNPROVED, FAULT_INDEX, "an index over loops and sizes",
                              "%s: the range of \"%s\" that it reads along dimension %d has no bounds: %s",
                              name_of(f->reader), f->tensor->name, d, why);
    }
    return true;
}

/* Returns true if `computed` covers the need. A reach beyond the tensor is cut to it, because I6 excludes reads
 * outside. */
static bool need_is_within(const Flow *f, const Box *computed, int d)
{
    Ctx *cx = f->c->cx;
    const Expr *end = end_of(cx, &computed[d]), *last = expr_sub(cx, end, num(cx, 1));
    if (!is_at_most(cx, computed[d].begin, f->need[d].low, f->scope)
        && !is_at_most(cx, computed[d].begin, num(cx, 0), f->scope))
        return false;
    return is_at_most(cx, f->need[d].high, last, f->scope) || is_at_most(cx, f->tensor->shape[d], end, f->scope);
}

/* Returns the box of the mirrored indices along dimension d. No fact is used, because the box also represents other
 * iterations. */
static Box mirrored_box(const Flow *f, const Box *b, int d)
{
    Ctx *cx = f->c->cx;
    return (Box){ simplify(cx, expr_sub(cx, f->tensor->shape[d], end_of(cx, b)), NULL), b->count };
}

static Reach mirrored_need(const Flow *f, int d)
{
    Ctx *cx = f->c->cx;
    const Expr *last = expr_sub(cx, f->tensor->shape[d], num(cx, 1));
    return (Reach){ simplify(cx, expr_sub(cx, last, f->need[d].high), f->scope),
                    simplify(cx, expr_sub(cx, last, f->need[d].low), f->scope) };
}

/* ---- The computed box -------------------------------------------------------------------------------------------- */

/* The position of a producer relative to the consumer. AROUND means that the producer shares one more loop, or is the
 * consumer itself; its elements were computed in earlier iterations. */
typedef enum FlowPoint { BEFORE, AFTER, AROUND } FlowPoint;

static bool is_at_position(const Site *producer, const Site *reader, int shared, FlowPoint position)
{
    int common = check_common_loops(producer, reader);
    if (position == AROUND) return common > shared;
    return common == shared && check_precedes(producer, reader) == (position == BEFORE);
}

/* Joins the boxes of the sites that share exactly `shared` loops with the consumer, at the given position. Returns
 * false if there are none. */
static bool find_produced(Flow *f, int shared, FlowPoint position, Box *computed)
{
    Checker *c = f->c;
    const Stage *stage = f->producer->stage;
    const Bounds *scope = f->scope;
    const Site *site[MAX_SITES];
    int count = 0;
    for (int i = 0; i < f->producer->site_count; i++) {
        const Site *m = f->producer->site[i];
        bool fits = m->block->part != BLOCK_INIT && is_at_position(m, f->reader, shared, position)
                    && check_alloc(m, f->tensor, NULL) == f->alloc;
        if (fits && count < MAX_SITES) site[count++] = m;
    }
    if (count == 0 || !check_sites_box(c, site, count, shared, scope, computed, &f->reason)) return false;
    for (int a = stage->data_count; a < stage->axis_count; a++) {
        bool whole = provably_equal(c->cx, computed[a].begin, num(c->cx, 0), scope)
                     && provably_equal(c->cx, computed[a].count, stage->axis[a].extent, scope);
        if (!whole)
            f->reason = text_format(c->cx, "the reduction over %s is not complete there",
                                    expr_as_var(stage->axis[a].var)->name);
        if (!whole) return false;
    }
    for (int d = 0; d < f->tensor->rank; d++)
        if (f->is_mirrored[d]) computed[d] = mirrored_box(f, &computed[d], d);
    return true;
}

/* ---- Rings ----------------------------------------------------------------------------------------------------- */

/* Returns the only site that computes the tensor, except inits. Returns NULL if there are several. */
static const Site *only_producer(const Flow *f)
{
    const Site *only = NULL;
    for (int i = 0; i < f->producer->site_count; i++) {
        if (f->producer->site[i]->block->part == BLOCK_INIT) continue;
        if (only) return NULL;
        only = f->producer->site[i];
    }
    return only;
}

static bool has_ring(const Flow *f)
{
    bool ring = false;
    for (int d = 0; f->alloc && d < f->tensor->rank; d++) ring = ring || f->alloc->buffer->ring[d];
    return ring;
}

/* Returns true if the box of one iteration of the carrier, the producer's outermost loops, never moves backwards along
 * d. */
static bool box_rises(Flow *f, const Site *m, const Box *box, const Carrier *s)
{
    Ctx *cx = f->c->cx;
    const Bounds *scope = carrier_scope(cx, m->scope, s);
    const Expr *next = expr_add(cx, s->var, num(cx, 1)), *begin = carrier_value(cx, box->begin, s, scope);
    const Expr *end = expr_add(cx, begin, carrier_value(cx, box->count, s, scope));
    const Bounds *inside = bounds_fact(cx, scope, expr_binary(cx, EXPR_LT, next, s->extent));
    return is_at_most(cx, begin, at(cx, begin, s->var, next), inside)
           && is_at_most(cx, end, at(cx, end, s->var, next), inside);
}

/* Returns true if a box longer than the ring still leaves its last rows stored. The producer's outermost loops must
 * rise along the dimension, and one iteration of them must compute no more rows than there are slots. */
static bool produced_in_order(Flow *f, int shared, int d, int64_t ring)
{
    Ctx *cx = f->c->cx;
    const Site *m = only_producer(f);
    Repeats repeats;
    Box box[MAX_AXES];
    Carrier loop[MAX_DEPTH], whole[MAX_DEPTH];
    if (!m || check_common_loops(m, f->reader) != shared) return false;
    for (int l = shared; l < m->loop_count; l++) {
        loop[l] = carrier_of(m->loop[l]);
        if (m->loop[l]->loop_kind != LOOP_SERIAL || (l > shared && loop[l].extent->kind != EXPR_INT)) return false;
        whole[l] = l == shared ? loop[l] : carrier_join(cx, &whole[l - 1], &loop[l]);
        if (!check_box(f->c, m, l + 1, box, &repeats, &f->reason)) return false;
        if (is_at_most(cx, box[d].count, num(cx, ring), m->scope)) return box_rises(f, m, &box[d], &whole[l]);
    }
    return false;
}

/* Returns true if the ring's slots hold all rows that are computed at once, and the rows [low, end) of this iteration.
 * If the ring outlives the iteration, `low` must not fall in later iterations. */
static bool ring_is_long_enough(Flow *f, int shared, const Box *computed, const Carrier *carrier)
{
    Ctx *cx = f->c->cx;
    for (int d = 0; f->alloc && d < f->tensor->rank; d++) {
        int64_t ring = f->alloc->buffer->ring[d];
        if (ring == 0) continue;
        const Expr *low = f->need[d].low, *span = expr_sub(cx, end_of(cx, &computed[d]), low);
        bool long_enough = is_at_most(cx, span, num(cx, ring), f->scope)
                           && (is_at_most(cx, computed[d].count, num(cx, ring), f->scope)
                               || (!carrier && produced_in_order(f, shared, d, ring)));
        bool rises = true;
        if (carrier)
            rises = is_at_most(cx, low, at(cx, low, carrier->var, expr_add(cx, carrier->var, num(cx, 1))), f->scope);
        if (long_enough && rises) continue;
        const char *under = carrier ? text_format(f->c->cx, " under %s", carrier->name) : "";
        return check_ring_fail(f->c, f->tensor, d, ring, "a longer ring, or none",
                               text_format(f->c->cx, "store all that %s reads%s", name_of(f->reader), under));
    }
    return true;
}

/* ---- Rule (a) and rule (b) ------------------------------------------------------------------------------------- */

static bool by_same_iteration(Flow *f, int shared, const Box *computed)
{
    for (int d = 0; d < f->tensor->rank; d++) {
        if (need_is_within(f, computed, d)) continue;
        f->reason = text_format(f->c->cx, "along dimension %d it needs more than is computed%s%s", d,
                                shared ? " in an iteration of " : "", shared ? f->reader->loop[shared - 1]->name : "");
        return false;
    }
    return true;
}

/* Returns the begin of the box that copies outside the carrying loop have computed along d. The box must reach `first`,
 * where the loop begins. The box must not exceed `end`, which the first iteration reaches, because a longer box would
 * overwrite live slots of a ring. */
static const Expr *warm_begin(Flow *f, int carrier, int d, const Expr *first, const Expr *end)
{
    Ctx *cx = f->c->cx;
    Box warm[MAX_AXES];
    for (int level = carrier; level >= 0; level--) {
        if (!find_produced(f, level, BEFORE, warm)) continue;
        bool fits = is_at_most(cx, first, end_of(cx, &warm[d]), f->scope);
        if (f->alloc && f->alloc->buffer->ring[d]) fits = fits && is_at_most(cx, end_of(cx, &warm[d]), end, f->scope);
        for (int i = 0; i < f->tensor->rank; i++) fits = fits && (i == d || need_is_within(f, warm, i));
        if (fits) return warm[d].begin;
    }
    return first;
}

/* Returns true if the next iteration begins at the end of this one or below, or no element is left above that end. */
static bool follows_on(const Flow *f, int d, const Expr *next, const Expr *end, const Bounds *scope)
{
    Ctx *cx = f->c->cx;
    if (is_at_most(cx, next, end, scope) || is_at_most(cx, f->tensor->shape[d], end, scope)) return true;
    if (end->kind == EXPR_MAX || end->kind == EXPR_MIN) {
        const bool one = follows_on(f, d, next, end->arg[0], scope);
        if (one == (end->kind == EXPR_MAX)) return one;
        return follows_on(f, d, next, end->arg[1], scope);
    }
    const Bounds *left = bounds_fact(cx, scope, expr_binary(cx, EXPR_LT, end, f->tensor->shape[d]));
    return is_at_most(cx, simplify(cx, next, left), simplify(cx, end, left), left);
}

/* Returns true if rule (b) holds along d. `level` is the number of loops around the carrier. */
static bool carried_along(Flow *f, int level, const Carrier *s, const Box *computed, int d, FlowPoint position)
{
    Ctx *cx = f->c->cx;
    const Expr *v = s->var, *next = expr_add(cx, v, num(cx, 1)), *before = expr_sub(cx, v, num(cx, 1));
    const Expr *begin = computed[d].begin, *end = end_of(cx, &computed[d]);
    for (int i = 0; i < f->tensor->rank; i++) {
        bool stays = !expr_uses(computed[i].begin, v) && !expr_uses(computed[i].count, v);
        if (i != d && !(stays && need_is_within(f, computed, i))) return false;
    }
    const Bounds *inside = bounds_fact(cx, without_facts(cx, f->scope, v), expr_binary(cx, EXPR_LT, next, s->extent));
    if (!is_at_most(cx, end, at(cx, end, v, next), inside)) end = end_of_parts(cx, begin, computed[d].count);
    if (!is_at_most(cx, end, at(cx, end, v, next), inside))
        return f->reason = text_format(cx, "the computed range of dimension %d is not shown to rise with %s", d,
                                       s->name), false;
    if (!follows_on(f, d, at(cx, begin, v, next), end, inside))
        return f->reason = text_format(cx, "the iterations of %s leave gaps along dimension %d", s->name, d), false;
    const Expr *first = warm_begin(f, level, d, at(cx, begin, v, num(cx, 0)), at(cx, end, v, num(cx, 0)));
    if (!is_at_most(cx, first, f->need[d].low, f->scope) && !is_at_most(cx, first, num(cx, 0), f->scope))
        return f->reason = text_format(cx, "along dimension %d it reads below the range of the first iteration of %s",
                                       d, s->name),
               false;
    if (position != BEFORE) end = at(cx, end, v, before);
    bool produced_in_time = is_at_most(cx, f->need[d].high, expr_sub(cx, end, num(cx, 1)), f->scope)
                        || is_at_most(cx, f->tensor->shape[d], end, f->scope);
    if (position != BEFORE)
        produced_in_time = produced_in_time && provably(cx, expr_binary(cx, EXPR_LE, num(cx, 1), v), f->scope);
    if (produced_in_time) return true;
    return f->reason = text_format(
               cx, "along dimension %d it reads beyond the range computed up to this iteration of %s", d, s->name),
           false;
}

/* Returns true if the conditions of the read imply that the loop is past 0, so its first iteration needs nothing. */
static bool is_needed_later_only(Flow *f, const Expr *var)
{
    return provably(f->c->cx, expr_binary(f->c->cx, EXPR_LE, num(f->c->cx, 1), var), f->facts);
}

/* Returns the flow with the carrier's loops joined to one loop. The box also represents other iterations, so the
 * reader's facts do not simplify it. */
static Flow joined_flow(const Flow *f, const Box *computed, const Carrier *s, Box *box)
{
    Ctx *cx = f->c->cx;
    Flow j = *f;
    j.scope = carrier_scope(cx, f->scope, s);
    j.facts = carrier_scope(cx, f->facts, s);
    const Bounds *any = without_facts(cx, j.scope, s->var);
    for (int d = 0; d < f->tensor->rank; d++) {
        j.need[d] = (Reach){ carrier_value(cx, f->need[d].low, s, j.scope),
                             carrier_value(cx, f->need[d].high, s, j.scope) };
        box[d] = (Box){ carrier_value(cx, computed[d].begin, s, any), carrier_value(cx, computed[d].count, s, any) };
    }
    return j;
}

static bool is_serial(Flow *f, const Stmt *s)
{
    if (s->loop_kind != LOOP_PARALLEL && s->loop_kind != LOOP_VECTOR) return true;
    return check_fail(f->c, WRONG, FAULT_ORDER, "a serial loop",
                      "the %s loop %s carries \"%s\" from one iteration to the next, for %s",
                      loop_kind_text(s->loop_kind), s->name, f->tensor->name, name_of(f->reader));
}

/* Mirrors dimension d if the box falls from one iteration of the carrier to the next. */
static void mirror_falling(Flow *f, const Carrier *s, Box *computed, int d)
{
    Ctx *cx = f->c->cx;
    const Expr *next = expr_add(cx, s->var, num(cx, 1)), *begin = computed[d].begin;
    const Bounds *inside = bounds_fact(cx, without_facts(cx, f->scope, s->var),
                                       expr_binary(cx, EXPR_LT, next, s->extent));
    if (is_at_most(cx, begin, at(cx, begin, s->var, next), inside)
        || !is_at_most(cx, at(cx, begin, s->var, next), begin, inside))
        return;
    f->is_mirrored[d] = true;
    f->need[d] = mirrored_need(f, d);
    computed[d] = mirrored_box(f, &computed[d], d);
}

/* Returns true if the carrier, the shared loops at `level` and deeper, carries the tensor. */
static bool by_carrier(Flow *f, int shared, int level, Box *computed, FlowPoint position, const Carrier *s)
{
    Ctx *cx = f->c->cx;
    if (position != BEFORE && is_needed_later_only(f, s->var))
        f->scope = bounds_fact(cx, f->scope, expr_binary(cx, EXPR_LE, num(cx, 1), s->var));
    for (int d = 0; d < f->tensor->rank; d++) {
        if (!expr_uses(computed[d].begin, s->var) && !expr_uses(computed[d].count, s->var)) continue;
        mirror_falling(f, s, computed, d);
        if (!carried_along(f, level, s, computed, d, position)) return false;
        for (int l = level; l < shared; l++)
            if (!is_serial(f, f->reader->loop[l])) return false;
        if (f->alloc && f->alloc_loops > level)
            return check_fail(
                f->c, WRONG, FAULT_STORAGE, "storage outside that loop",
                "\"%s\" is allocated inside the loop %s, which carries it from one iteration to the next",
                f->tensor->name, s->name);
        return ring_is_long_enough(f, shared, computed, s);
    }
    return false;
}

/* Tries the innermost shared loop as the carrier, then joins it with the loops around it one by one. With a ring, the
 * producer must have no copy in these loops, because the copy would overwrite slots in between. */
static bool by_carrying(Flow *f, int shared, const Box *computed, FlowPoint position)
{
    Checker *c = f->c;
    Carrier loop[MAX_DEPTH], whole[MAX_DEPTH];
    Box box[MAX_RANK];
    for (int l = shared - 1; l >= 0 && c->refusal.verdict == PROVED; l--) {
        loop[l] = carrier_of(f->reader->loop[l]);
        if (l < shared - 1 && (whole[l + 1].extent->kind != EXPR_INT || (has_ring(f) && !only_producer(f))))
            return false;
        whole[l] = l == shared - 1 ? loop[l] : carrier_join(c->cx, &loop[l], &whole[l + 1]);
        Flow one = joined_flow(f, computed, &whole[l], box);
        if (by_carrier(&one, shared, l, box, position, &whole[l])) return true;
        if (l == shared - 1) f->reason = one.reason;
    }
    return false;
}

/* ---- One read -------------------------------------------------------------------------------------------------- */

static int deepest_producer(const Flow *f)
{
    int deepest = -1;
    for (int i = 0; i < f->producer->site_count; i++) {
        int n = check_common_loops(f->producer->site[i], f->reader);
        if (f->producer->site[i]->block->part != BLOCK_INIT && n > deepest
            && check_alloc(f->producer->site[i], f->tensor, NULL) == f->alloc)
            deepest = n;
    }
    return deepest;
}

/* Returns true if an instance of the producer runs, or may run, before the consumer, because it precedes in the text or
 * shares a loop. */
static bool some_producer_runs_first(const Flow *f)
{
    for (int i = 0; i < f->producer->site_count; i++) {
        const Site *m = f->producer->site[i];
        if (check_precedes(m, f->reader) || check_common_loops(m, f->reader) > 0) return true;
    }
    return false;
}

static bool check_flow_of(Flow *f)
{
    Checker *c = f->c;
    Box computed[MAX_AXES];
    if (!some_producer_runs_first(f)) return check_fail(c, WRONG, FAULT_ORDER, "a position after its producer",
                                                      "%s reads \"%s\" before %s computes it",
                                                      name_of(f->reader), f->tensor->name, f->producer->stage->name);
    int deepest = deepest_producer(f);
    for (int shared = deepest; shared >= 0; shared--) {
        if (shared < deepest && has_ring(f) && !only_producer(f)) break;   /* a copy in between overwrites slots */
        if (!find_need(f, shared)) return false;
        if (find_produced(f, shared, BEFORE, computed)) {
            if (by_same_iteration(f, shared, computed)) return ring_is_long_enough(f, shared, computed, NULL);
            if (by_carrying(f, shared, computed, BEFORE) || c->refusal.verdict != PROVED)
                return c->refusal.verdict == PROVED;
        }
        for (FlowPoint p = AFTER; shared && p <= AROUND; p++)
            if (find_produced(f, shared, p, computed)
                && (by_carrying(f, shared, computed, p) || c->refusal.verdict != PROVED))
                return c->refusal.verdict == PROVED;
    }
    return check_fail(
        c, UNPROVED, FAULT_ORDER,
        text_format(c->cx, "a position where %s has computed all elements that are read", f->producer->stage->name),
        "%s reads \"%s\", and %s is not shown to have computed it: %s", name_of(f->reader), f->tensor->name,
        f->producer->stage->name, f->reason ? f->reason : "no copy of it precedes");
}

/* Returns true if this read's storage is the storage that a producer writes. */
static bool storage_is_shared(Flow *f)
{
    for (int i = 0; i < f->producer->site_count; i++)
        if (check_alloc(f->producer->site[i], f->tensor, NULL) == f->alloc) return true;
    return check_fail(f->c, WRONG, FAULT_STORAGE, "storage around both",
                      "%s reads \"%s\" outside the storage that %s writes", name_of(f->reader), f->tensor->name,
                      f->producer->stage->name);
}

/* Returns true if the conditions of a read contradict each other, so that it never executes. */
static bool never_happens(const Bounds *facts)
{
    for (; facts; facts = facts->outer)
        if (facts->fact && expr_is_int(facts->fact, 0)) return true;
    return false;
}

static bool check_access(Checker *c, const Site *s, const SiteAccess *a)
{
    Flow f = { .c = c, .reader = s, .tensor = a->read->ref };
    f.producer = check_producer(c, f.tensor);
    if (!f.producer) return true;
    f.alloc = check_alloc(s, f.tensor, &f.alloc_loops);
    f.facts = facts_at_site(c->cx, s, a->facts);
    if (never_happens(f.facts)) return true;
    for (int d = 0; d < f.tensor->rank; d++)
        f.index[d] = check_is_data(a->read->arg[d])
                         ? NULL
                         : simplify(c->cx, block_in_loops(c->cx, s->block, a->read->arg[d]), s->inside);
    return storage_is_shared(&f) && check_flow_of(&f);
}

/* ---- Storage --------------------------------------------------------------------------------------------------- */

/* Returns true if the Alloc is outside the producer's reduce loops. The Alloc must also be outside parallel loops,
 * unless each iteration has its own storage. */
static bool storage_is_outside(Checker *c, const Site *s, const Tensor *t)
{
    int outside = 0;
    const Stmt *alloc = check_alloc(s, t, &outside);
    for (int l = 0; l < outside; l++) {
        if (s->is_own[l] && check_feeds_reduction(s->block, s->loop[l]->var))
            return check_fail(c, WRONG, FAULT_REDUCTION, "storage outside it",
                              "\"%s\" is allocated inside the reduce loop %s, so each iteration begins anew",
                              t->name, s->loop[l]->name);
        const Scope *scope = alloc->buffer->scope;
        if (s->loop[l]->loop_kind == LOOP_PARALLEL && scope->kind != SCOPE_STACK && scope->kind != SCOPE_REGISTER)
            return check_fail(c, WRONG, FAULT_STORAGE, "scope stack or register: set_scope it first",
                              "\"%s\" has %s storage inside the parallel loop %s, shared by its iterations",
                              t->name, scope->name, s->loop[l]->name);
    }
    return true;
}

/* Returns true if rings keep the partial sums that a reduction reads. Each iteration of the loops outside the first
 * reduce loop, and outside the loops shared with the init and the copies, completes its points. So a ring must hold the
 * points of one iteration. */
static bool ring_keeps_sums(Checker *c, const StageSites *stage, const Site *s, const Tensor *t, const Stmt *alloc)
{
    Box box[MAX_AXES];
    Repeats repeats;
    const char *why;
    int level = 0;
    while (level < s->loop_count && !check_feeds_reduction(s->block, s->loop[level]->var)) level++;
    for (int i = 0; i < stage->site_count; i++) {
        int common = check_common_loops(stage->site[i], s);
        if (check_same_hosts(stage->site[i], s) && stage->site[i] != s && check_alloc(stage->site[i], t, NULL) == alloc
            && common < level)
            level = common;
    }
    bool found = check_box(c, s, level, box, &repeats, &why);
    for (int d = 0; d < t->rank; d++) {
        int64_t ring = alloc->buffer->ring[d];
        if (ring && !(found && is_at_most(c->cx, box[d].count, num(c->cx, ring), s->scope)))
            return check_ring_fail(c, t, d, ring, "a longer ring, or none",
                                   text_format(c->cx, "store the partial sums of %s", name_of(s)));
    }
    return true;
}

static bool rings_keep_sums(Checker *c, const StageSites *stage, const Site *s)
{
    if (!check_is_reduced(stage->stage) || s->block->part == BLOCK_INIT) return true;
    for (int o = 0; o < stage->stage->out_count; o++) {
        const Stmt *alloc = check_alloc(s, stage->stage->out[o], NULL);
        if (alloc && !ring_keeps_sums(c, stage, s, stage->stage->out[o], alloc)) return false;
    }
    return true;
}

static bool has_read(const Expr *e, const Expr *read)
{
    bool found = e == read;
    for (int i = 0; i < e->arg_count && !found; i++) found = has_read(e->arg[i], read);
    return found;
}

/* Returns true if the block executes the read: an init only computes first values. */
static bool part_reads(const Stmt *block, const Expr *read)
{
    bool found = block->part != BLOCK_INIT;
    for (int i = 0; i < block->stage->out_count && !found; i++) found = has_read(block->stage->init[i], read);
    return found;
}

bool check_flow(Checker *c)
{
    for (int i = 0; i < c->stage_count; i++) {
        const StageSites *s = &c->stage[i];
        for (int j = 0; j < s->site_count; j++) {
            for (int o = 0; o < s->stage->out_count; o++)
                if (!storage_is_outside(c, s->site[j], s->stage->out[o])) return false;
            if (!rings_keep_sums(c, s, s->site[j])) return false;
            for (int a = 0; a < s->access_count; a++)
                if (part_reads(s->site[j]->block, s->access[a].read) && !check_access(c, s->site[j], &s->access[a]))
                    return false;
        }
    }
    return true;
}
