/* SPDX-License-Identifier: MIT */
/* Proves I1, each point once, and I2, init first.
 *
 * The sites of a stage with the same host loops are copies of each other (a remainder, a separate init). In one
 * iteration of the hosts each copy is dense over its own loops; the copies that update join to one box, which is whole
 * in the reduce axes. Within a site the order follows from the dense digits, which grow with their loops: of the
 * instances of one data point, the one with all reduce axes 0 runs first. Between sites the order is the order of the
 * text: the site that contains the zeros precedes the other sites, and the loops that they share lead them to the same
 * data in the same iteration. Own loops are inside the hosts: a point that other iterations of the hosts repeat is
 * repeated with its init.
 *
 * A copy inside another's tail covers no box alone. Then the first own loop of several copies is treated as a host: the
 * copies in it are proved for one iteration, and the boxes of the iterations join. */
#include "ir/check/check_parts.h"

#include <string.h>

enum { MAX_COPIES = 16 };

typedef struct Copies {
    int count; const Site *site[MAX_COPIES];
    Box box[MAX_COPIES][MAX_AXES];
    Repeats repeats[MAX_COPIES];
    const Bounds *scope;                     /* the scope of the hosts */
} Copies;

static int own_loops(const Site *s, const Expr **var, const Expr **extent)
{
    int n = 0;
    for (int l = 0; l < s->loop_count; l++) {
        if (!s->is_own[l]) continue;
        var[n] = s->loop[l]->var;
        extent[n++] = s->loop[l]->extent;
    }
    return n;
}

static const char *name_of(const Site *s) { return s->block->name; }

/* ---- One site -------------------------------------------------------------------------------------------------- */

static bool own_loops_are_inside(Checker *c, const Site *s)
{
    const Stmt *own = NULL;
    for (int l = 0; l < s->loop_count; l++) {
        if (s->is_own[l]) own = s->loop[l];
        else if (own)
            return check_fail(c, UNPROVED, FAULT_NESTING, "its own loops inside its host loops",
                              "%s: its loop %s encloses the loop %s of another stage", name_of(s), own->name,
                              s->loop[l]->name);
    }
    return true;
}

/* Returns true if all reduce loops are inside the loop that repeats points. Each repetition then computes the whole
 * reduction of a point again. */
static bool repeat_is_whole(Checker *c, const Site *s, const Expr *repeats)
{
    bool inside = false;
    if (check_feeds_reduction(s->block, repeats))
        return check_fail(c, WRONG, FAULT_REDUCTION, "tail=guard",
                          "%s: the shifted tail of the loop %s adds some points again", name_of(s),
                          expr_as_var(repeats)->name);
    for (int l = 0; l < s->loop_count; l++) {
        if (s->loop[l]->var == repeats) inside = true;
        if (inside || !check_feeds_reduction(s->block, s->loop[l]->var)) continue;
        return check_fail(c, WRONG, FAULT_REDUCTION, "tail=guard",
                          "%s: the reduce loop %s encloses the shifted tail, which adds to its points again",
                          name_of(s), s->loop[l]->name);
    }
    return true;
}

static bool repeats_are_whole(Checker *c, const Site *s, const Repeats *repeats)
{
    for (int i = 0; i < repeats->count; i++)
        if (!repeat_is_whole(c, s, repeats->loop[i])) return false;
    return true;
}

/* Rejects a loop of several iterations that no index of a reduction uses, because it would add every element again.
 * Idempotent reducers, such as a maximum, are accepted. */
static bool no_loop_repeats(Checker *c, const Site *s)
{
    if (!check_is_reduced(s->block->stage) || s->block->part == BLOCK_INIT) return true;
    const bool adds = s->block->stage->reducer == REDUCE_SUM || s->block->stage->reducer == REDUCE_PROD;
    for (int l = 0; l < s->loop_count; l++) {
        const Stmt *loop = s->loop[l];
        bool used = !s->is_own[l] || (s->block->cond && expr_uses(s->block->cond, loop->var));
        for (int a = 0; a < s->block->stage->axis_count; a++) used = used || expr_uses(s->block->bind[a], loop->var);
        for (int j = l + 1; j < s->loop_count; j++) used = used || expr_uses(s->loop[j]->extent, loop->var);
        if (!used && provably(c->cx, expr_binary(c->cx, EXPR_LT, expr_index(c->cx, 1), loop->extent), s->scope))
            return check_fail(c, adds ? WRONG : UNPROVED, FAULT_REDUCTION,
                              "a loop whose iterations update different points",
                              "%s: the loop %s adds the same points again", name_of(s), loop->name);
    }
    return true;
}

static bool site_box(Checker *c, const Site *s, Box *box, Repeats *repeats)
{
    const Expr *own[MAX_DEPTH], *extent[MAX_DEPTH];
    const Stage *stage = s->block->stage;
    const char *why;
    int axes = check_axes_of(s);
    repeats->count = 0;
    if (check_empty_box(c, s, box)) return true;
    if (!no_loop_repeats(c, s) || (check_is_reduced(stage) && !own_loops_are_inside(c, s))) return false;
    int n = own_loops(s, own, extent);
    if (dense(c->cx, s->block->bind, axes, s->block->cond, s->scope, own, extent, n, box, repeats, &why)) return true;
    return check_fail(c, UNPROVED, FAULT_COVER,
                      "tail=guard or tail=shift in place of peel and cut, and indices over each loop once, as split, "
                      "fuse and reorder produce them",
                      "%s: its loops are not shown to reach each point once: %s", name_of(s), why);
}

/* ---- Order of copies ------------------------------------------------------------------------------------------- */

/* Returns the part of an index that the shared loops contribute. */
static const Expr *common_part(Checker *c, const Site *s, const Expr *bind, int common)
{
    Linear l;
    const Expr *inner[MAX_DEPTH];
    int n = 0;
    for (int i = common; i < s->loop_count; i++) inner[n++] = s->loop[i]->var;
    if (!linear_of(c->cx, simplify(c->cx, bind, s->scope), &l)) return NULL;
    for (int i = l.count - 1; i >= 0; i--)
        if (uses_any(l.term[i], inner, n)) linear_drop(&l, i);
    l.constant = 0;
    return linear_expr(c->cx, &l);
}

static bool same_data_together(Checker *c, const Site *a, const Site *b)
{
    int common = check_common_loops(a, b);
    for (int d = 0; d < a->block->stage->data_count; d++) {
        const Expr *x = common_part(c, a, a->block->bind[d], common), *y = common_part(c, b, b->block->bind[d], common);
        if (!x || x != y)
            return check_fail(
                c, UNPROVED, FAULT_ORDER,
                "copies with equal indices over shared loops: take this step before peel and decompose_reduction",
                "%s and %s: the loops around both do not lead to the same data in the same iteration", name_of(a),
                name_of(b));
    }
    return true;
}

static bool must_precede(Checker *c, const Site *first, const Site *then)
{
    if (!check_precedes(first, then))
        return check_fail(c, WRONG, FAULT_REDUCTION, "an order in which the copy that begins precedes the others",
                          "%s adds to points that %s, which follows it, has not initialised yet", name_of(then),
                          name_of(first));
    return same_data_together(c, first, then);
}

static bool begins_at_zero(Checker *c, const Copies *g, int i)
{
    const Stage *stage = g->site[i]->block->stage;
    for (int a = stage->data_count; a < stage->axis_count; a++)
        if (!provably_equal(c->cx, g->box[i][a].begin, expr_index(c->cx, 0), g->scope)) return false;
    return true;
}

/* Returns true if the copies may share data points, because they may overlap along every data axis. */
static bool share_data(Checker *c, const Copies *one, int i, const Copies *other, int j)
{
    Ctx *cx = c->cx;
    for (int d = 0; d < one->site[i]->block->stage->data_count; d++) {
        const Box *a = &one->box[i][d], *b = &other->box[j][d];
        if (provably(cx, expr_binary(cx, EXPR_LE, expr_add(cx, a->begin, a->count), b->begin), one->scope))
            return false;
        if (provably(cx, expr_binary(cx, EXPR_LE, expr_add(cx, b->begin, b->count), a->begin), one->scope))
            return false;
    }
    return true;
}

/* Returns true if each loop in which a copy repeats points of a reduction encloses all copies of these points. An
 * iteration that repeats a point then starts its sum again, and completes it. */
static bool repeats_include_copies(Checker *c, const Copies *g, const Copies *others)
{
    for (int i = 0; i < g->count; i++)
        for (int r = 0; r < g->repeats[i].count; r++)
            for (int j = 0; j < others->count; j++) {
                int common = check_common_loops(g->site[i], others->site[j]);
                bool is_shared = g->site[i] == others->site[j] || !share_data(c, g, i, others, j);
                for (int l = 0; l < common; l++)
                    is_shared = is_shared || g->site[i]->loop[l]->var == g->repeats[i].loop[r];
                if (!is_shared)
                    return check_fail(c, UNPROVED, FAULT_PIECES, "tail=guard, or copies inside that loop",
                                      "%s: the shifted tail of the loop %s repeats points of which %s, outside that "
                                      "loop, computes a part", name_of(g->site[i]),
                                      expr_as_var(g->repeats[i].loop[r])->name, name_of(others->site[j]));
            }
    return true;
}

static bool copies_are_in_order(Checker *c, const Copies *g, const Copies *inits)
{
    for (int i = 0; i < inits->count; i++)
        for (int j = 0; j < g->count; j++)
            if (share_data(c, inits, i, g, j) && !must_precede(c, inits->site[i], g->site[j])) return false;
    for (int i = 0; i < g->count && inits->count == 0; i++)
        for (int j = 0; j < g->count; j++) {
            bool first = i != j && begins_at_zero(c, g, i) && !begins_at_zero(c, g, j) && share_data(c, g, i, g, j);
            if (first && !must_precede(c, g->site[i], g->site[j])) return false;
        }
    return true;
}

/* ---- Copies together ------------------------------------------------------------------------------------------- */

static bool reduction_is_whole(Checker *c, const Copies *g)
{
    Ctx *cx = c->cx;
    const Site *s = g->site[0];
    for (int a = s->block->stage->data_count; a < s->block->stage->axis_count; a++) {
        const Box *b = &g->box[0][a];
        const Axis *axis = &s->block->stage->axis[a];
        if (provably_equal(cx, b->begin, expr_index(cx, 0), g->scope)
            && provably_equal(cx, b->count, axis->extent, g->scope))
            continue;
        bool less = provably(cx, expr_binary(cx, EXPR_LT, b->count, axis->extent), g->scope);
        return check_fail(c, less ? WRONG : UNPROVED, FAULT_COVER, "loops over the whole axis",
                          "%s: the loops do not reach all of the reduce axis %s", name_of(s),
                          expr_as_var(axis->var)->name);
    }
    return true;
}

static bool init_is_whole(Checker *c, const Copies *g, Copies *inits)
{
    const Site *s = g->site[0];
    const Stage *stage = s->block->stage;
    if (s->block->part == BLOCK_UPDATE && inits->count == 0)
        return check_fail(c, WRONG, FAULT_REDUCTION, "an init before it", "%s: nothing initialises \"%s\"", name_of(s),
                          stage->name);
    if (inits->count == 0) return true;
    if (!check_join(c, inits->box, inits->count, stage->data_count, g->scope))
        return check_fail(c, UNPROVED, FAULT_REDUCTION, "one init, or adjacent copies of it",
                          "%s: the copies of its init do not join to a box", name_of(inits->site[0]));
    for (int d = 0; d < stage->data_count; d++) {
        if (provably_equal(c->cx, inits->box[0][d].begin, g->box[0][d].begin, g->scope)
            && provably_equal(c->cx, inits->box[0][d].count, g->box[0][d].count, g->scope)) continue;
        return check_fail(c, UNPROVED, FAULT_REDUCTION, "an init for all that is updated",
                          "%s does not initialise the points that %s updates, along %s",
                          name_of(inits->site[0]), name_of(s), expr_as_var(stage->axis[d].var)->name);
    }
    return true;
}

static bool parts_agree(Checker *c, const Copies *g)
{
    for (int i = 1; i < g->count; i++)
        if (g->site[i]->block->part != g->site[0]->block->part)
            return check_fail(c, WRONG, FAULT_REDUCTION, "an init for all copies",
                              "%s initialises its points and %s does not", name_of(g->site[0]), name_of(g->site[i]));
    return true;
}

static bool too_many_copies(Checker *c, const Stage *s)
{
    return check_fail(c, UNPROVED, FAULT_LIMIT,
                      text_format(c->cx, "%d at most: fewer steps peel and specialize", MAX_COPIES),
                      "the stage \"%s\" has more than %d copies", s->name, MAX_COPIES);
}

static bool add_copy(Checker *c, Copies *g, const Site *s)
{
    Repeats *repeats = &g->repeats[g->count];
    if (g->count == MAX_COPIES) return too_many_copies(c, s->block->stage);
    if (!site_box(c, s, g->box[g->count], repeats)) return false;
    g->site[g->count++] = s;
    return !check_is_reduced(s->block->stage) || repeats_are_whole(c, s, repeats);
}

/* Returns the scope of the hosts: their loops and facts. */
static const Bounds *host_scope(Checker *c, const Site *s)
{
    const Expr *own[MAX_DEPTH], *extent[MAX_DEPTH];
    int n = own_loops(s, own, extent);
    return bounds_without(c->cx, s->scope, own, n);
}

/* The sites of one stage with the same host loops. */
typedef struct Group { const Stage *stage; int count; const Site *site[2 * MAX_COPIES]; } Group;

/* Proves I1 and I2 for the copies of the group together. On success, *out is the box of a reduction's points. */
static bool check_copies(Checker *c, const Group *g, Box *out)
{
    const Site *s = g->site[0];
    Copies update_copies = { 0 }, init_copies = { 0 }, *updates = &update_copies, *inits = &init_copies;
    updates->scope = inits->scope = host_scope(c, s);
    for (int i = 0; i < g->count; i++)
        if (!add_copy(c, g->site[i]->block->part == BLOCK_INIT ? inits : updates, g->site[i])) return false;
    if (updates->count == 0)
        return check_fail(c, WRONG, FAULT_REDUCTION, "an init of updated points",
                          "%s initialises points that nothing updates", name_of(s));
    if (!check_is_reduced(g->stage)) return true;
    if (!repeats_include_copies(c, updates, updates) || !repeats_include_copies(c, updates, inits)
        || !repeats_include_copies(c, inits, updates))
        return false;
    if (!parts_agree(c, updates) || !copies_are_in_order(c, updates, inits)) return false;
    if (!check_join(c, updates->box, updates->count, g->stage->axis_count, updates->scope))
        return check_fail(c, UNPROVED, FAULT_COVER, "adjacent copies",
                          "%s: its copies leave a gap, or overlap", name_of(updates->site[0]));
    if (!reduction_is_whole(c, updates) || !init_is_whole(c, updates, inits)) return false;
    memcpy(out, updates->box[0], sizeof updates->box[0]);
    return true;
}

/* ---- Copies inside shared loops ---------------------------------------------------------------------------------- */

static bool check_group(Checker *c, const Group *g, Box *out);

static int first_own(const Site *s)
{
    int l = 0;
    while (l < s->loop_count && !s->is_own[l]) l++;
    return l;
}

/* Gathers the sites inside the first own loop of site `at`, with this loop as a host. */
static Group inside_loop(Checker *c, const Group *g, int at, bool *is_taken)
{
    const int l = first_own(g->site[at]);
    Group inside = { .stage = g->stage };
    for (int i = at; i < g->count; i++) {
        const Site *s = g->site[i];
        if (is_taken[i] || (i != at && (first_own(s) != l || l == s->loop_count || s->loop[l] != g->site[at]->loop[l])))
            continue;
        Site *copy = arena_copy(c->cx->arena, s, sizeof *s);
        if (l < s->loop_count) copy->is_own[l] = false;
        inside.site[inside.count++] = copy;
        is_taken[i] = true;
    }
    return inside;
}

/* Proves that the copies in a loop compute a whole box in each iteration. A box is required because an iteration that
 * reaches a point again restarts the point's sum. */
static bool check_iterations(Checker *c, const Group *inside, const Stmt *loop, const Bounds *scope, Box *out)
{
    if (loop->loop_kind == LOOP_PARALLEL || loop->loop_kind == LOOP_VECTOR)
        return check_fail(c, UNPROVED, FAULT_KIND, "a serial loop", "%s: the %s loop %s encloses several copies",
                          name_of(inside->site[0]), loop_kind_text(loop->loop_kind), loop->name);
    if (!check_group(c, inside, out)) return false;
    if (!check_is_reduced(inside->stage) || check_widen(c, out, inside->stage->axis_count, loop, scope)) return true;
    return check_fail(c, UNPROVED, FAULT_COVER, "adjacent tiles", "%s: the iterations of %s leave gaps",
                      name_of(inside->site[0]), loop->name);
}

/* Returns true if the copies in each outermost loop are proved separately, and their boxes join. */
static bool check_loops(Checker *c, const Group *g, Box *out)
{
    Box box[2 * MAX_COPIES][MAX_AXES];
    bool is_taken[2 * MAX_COPIES] = { false };
    const Bounds *scope = host_scope(c, g->site[0]);
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        if (is_taken[i]) continue;
        const Group inside = inside_loop(c, g, i, is_taken), alone = { .stage = g->stage, 1, { g->site[i] } };
        const Stmt *loop = inside.count > 1 ? g->site[i]->loop[first_own(g->site[i])] : NULL;
        if (loop ? !check_iterations(c, &inside, loop, scope, box[count]) : !check_copies(c, &alone, box[count]))
            return false;
        count++;
    }
    if (!check_is_reduced(g->stage)) return true;
    return check_join(c, box, count, g->stage->axis_count, scope) && memcpy(out, box[0], sizeof box[0]);
}

/* Tries the copies together. If this proves nothing, tries the copies in each loop separately. */
static bool check_group(Checker *c, const Group *g, Box *out)
{
    if (check_copies(c, g, out)) return true;
    const Refusal first = c->refusal;
    if (first.verdict != UNPROVED || g->count == 1) return false;
    c->refusal = (Refusal){ .verdict = PROVED };
    if (check_loops(c, g, out)) return true;
    c->refusal = first;
    return false;
}

static bool gather_group(Checker *c, const StageSites *stage, int first, Group *g)
{
    *g = (Group){ .stage = stage->stage };
    for (int i = first; i < stage->site_count; i++) {
        if (!check_same_hosts(stage->site[first], stage->site[i])) continue;
        if (g->count == 2 * MAX_COPIES) return too_many_copies(c, stage->stage);
        g->site[g->count++] = stage->site[i];
    }
    return true;
}

static bool is_first_of_hosts(const StageSites *stage, int at)
{
    for (int i = 0; i < at; i++)
        if (check_same_hosts(stage->site[i], stage->site[at])) return false;
    return true;
}

bool check_points(Checker *c)
{
    Group g;
    Box box[MAX_AXES];
    for (int i = 0; i < c->stage_count; i++)
        for (int j = 0; j < c->stage[i].site_count; j++)
            if (is_first_of_hosts(&c->stage[i], j)
                && (!gather_group(c, &c->stage[i], j, &g) || !check_group(c, &g, box)))
                return false;
    return true;
}
