/* SPDX-License-Identifier: MIT */
/* Proves I6, all points and nothing out of bounds. The boxes that the copies of an output's stage compute cover the
 * output. Wherever a guard holds, each index of an axis (bind) is within the axis, and each access is within its
 * tensor. The stage and the ranges of its axes suffice to prove most accesses; to prove the other accesses the loops
 * are needed. The operator is responsible for an index that depends on data: it clamps the index, or an index out of
 * bounds is an error of the run in any schedule. */
#include "ir/check/check_parts.h"


static const char *name_of(const Site *s) { return s->block->name; }

/* ---- Binds and accesses ------------------------------------------------------------------------------------------ */

static bool binds_are_inside_by(Checker *c, const Site *s, Ranges *r)
{
    const Stage *stage = s->block->stage;
    if (check_is_empty(s)) return true;
    for (int a = 0; a < stage->axis_count; a++) {
        const Expr *bind = s->block->bind[a], *extent = stage->axis[a].extent;
        if (s->block->part == BLOCK_INIT && a >= stage->data_count) continue;
        const Expr *axis[MAX_AXES], *value[MAX_AXES];
        for (int i = 0; i < a; i++) { axis[i] = stage->axis[i].var; value[i] = s->block->bind[i]; }
        /* A loop that may have no pass is within its extent, but its only index, 0, is not. */
        const Expr *index = bind->kind == EXPR_VAR ? bind : ranges_simplify(r, bind);
        if (ranges_prove_inside(r, index, expr_substitute(c->cx, extent, axis, value, a))) continue;
        return check_fail(c, UNPROVED, FAULT_INDEX, "an index that is affine in the loops, or a guard",
                          "%s: the index of the axis %s is not shown to stay within its extent",
                          name_of(s), expr_as_var(stage->axis[a].var)->name);
    }
    return true;
}

static bool binds_are_inside(Checker *c, const Site *s)
{
    Ranges r = ranges_new(c->cx, s->inside);
    const bool are_inside = binds_are_inside_by(c, s, &r);
    ranges_free(&r);
    return are_inside;
}

static const Bounds *with_facts(Ctx *cx, const Bounds *scope, const Bounds *facts)
{
    return facts ? bounds_fact(cx, with_facts(cx, scope, facts->outer), facts->fact) : scope;
}

/* Returns true if the access is inside the tensor at every site, where a guard may bound it. The axes do not bound it
 * by themselves. */
static bool access_is_inside_at_sites(Checker *c, const StageSites *s, const SiteAccess *a, int d)
{
    Ctx *cx = c->cx;
    const Tensor *t = a->read->ref;
    for (int i = 0; i < s->site_count; i++) {
        const Site *site = s->site[i];
        const Expr *axis[MAX_AXES];
        if (site->block->part == BLOCK_INIT || check_is_empty(site)) continue;
        for (int j = 0; j < s->stage->axis_count; j++) axis[j] = s->stage->axis[j].var;
        const Bounds *scope = site->inside;
        for (const Bounds *f = a->facts; f; f = f->outer)
            scope = bounds_fact(cx, scope, expr_substitute(cx, f->fact, axis, site->block->bind, s->stage->axis_count));
        Ranges r = ranges_new(cx, scope);
        const Expr *index = ranges_simplify(
            &r, expr_substitute(cx, a->read->arg[d], axis, site->block->bind, s->stage->axis_count));
        const bool is_inside = ranges_prove_inside(&r, index, t->shape[d]);
        ranges_free(&r);
        if (!is_inside) return false;
    }
    return true;
}

/* Returns the first dimension that the access may leave, or -1. */
static int dimension_outside(Checker *c, const StageSites *s, const SiteAccess *a, const Bounds *axes)
{
    const Tensor *t = a->read->ref;
    Ranges r = ranges_new(c->cx, with_facts(c->cx, axes, a->facts));
    int d = 0;
    while (d < t->rank && (check_is_data(a->read->arg[d]) || ranges_prove_inside(&r, a->read->arg[d], t->shape[d])
                           || access_is_inside_at_sites(c, s, a, d)))
        d++;
    ranges_free(&r);
    return d < t->rank ? d : -1;
}

static bool accesses_are_inside(Checker *c, const StageSites *s)
{
    const Bounds *axes = stage_scope(c->cx, s->stage);
    for (int i = 0; i < s->access_count; i++) {
        const SiteAccess *a = &s->access[i];
        const Tensor *t = a->read->ref;
        const int d = never_holds(c->cx, a->facts, NULL, axes) ? -1 : dimension_outside(c, s, a, axes);
        if (d >= 0)
            return check_fail(c, UNPROVED, FAULT_INDEX,
                              "a read within the tensor, or under a condition that keeps it there",
                              "%s: its read of \"%s\" is not shown to stay within dimension %d",
                              s->stage->name, t->name, d);
    }
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static bool is_covered(Checker *c, const Box *box, const Tensor *t, const StageSites *s)
{
    Ctx *cx = c->cx;
    for (int d = 0; d < t->rank; d++) {
        const Expr *end = expr_add(cx, box[d].begin, box[d].count), *zero = expr_index(cx, 0);
        if (provably(cx, expr_binary(cx, EXPR_LE, box[d].begin, zero), c->facts)
            && provably(cx, expr_binary(cx, EXPR_LE, t->shape[d], end), c->facts))
            continue;
        bool less = provably(cx, expr_binary(cx, EXPR_LT, box[d].count, t->shape[d]), c->facts);
        return check_fail(c, less ? WRONG : UNPROVED, FAULT_COVER, "loops over the whole axis",
                          "the loops of %s do not compute all of the output \"%s\" along %s",
                          s->stage->name, t->name, expr_as_var(s->stage->axis[d].var)->name);
    }
    return true;
}

static bool output_is_covered(Checker *c, const Tensor *t)
{
    const StageSites *s = check_producer(c, t);
    const Site *site[MAX_SITES];
    Box box[MAX_AXES];
    const char *why = "";
    int count = 0;
    /* An output that is an input, or that has no elements, is covered. */
    if (!s || tensor_elems(t) == 0) return true;
    for (int i = 0; i < s->site_count; i++)
        if (s->site[i]->block->part != BLOCK_INIT && count < MAX_SITES) site[count++] = s->site[i];
    if (!check_sites_box(c, site, count, 0, c->facts, box, &why))
        return check_fail(c, UNPROVED, FAULT_COVER, "loops that reach a box of it densely",
                          "%s: the output \"%s\" is not shown to be computed whole: %s", s->stage->name, t->name, why);
    return is_covered(c, box, t, s);
}

bool check_domains(Checker *c)
{
    for (int i = 0; i < c->site_count; i++)
        if (!binds_are_inside(c, c->site[i])) return false;
    for (int i = 0; i < c->stage_count; i++)
        if (!accesses_are_inside(c, &c->stage[i])) return false;
    for (int i = 0; i < c->nest->output_count; i++)
        if (!output_is_covered(c, c->nest->output[i])) return false;
    return true;
}
