/* SPDX-License-Identifier: MIT */
/* rfactor: a reduce loop becomes a data axis of partial results, which the stage then reduces over only that axis:
 *
 *   y[i] = sum(k) f(i, k),  k = ko*4 + ki   =>   y_rf[i, ki] = sum(ko) f(i, ko*4 + ki),   y[i] = sum(ki) y_rf[i, ki]
 *
 * The partial results have the stage's data axes and the loop as data axes, and the other reduce loops as reduce axes.
 * Points that a guard excludes yield the identity. The partial results start from the identity and the stage from its
 * own init, so the init counts once. The order of combination changes: integers allow it, floats require the option
 * `reassociate`. Both stages of the factored reduction stay where the stage was, with fresh loops; vectorize may then
 * run along the new axis. */
#include <string.h>

#include "schedule/draft/attach.h"
#include "support/names.h"

typedef struct Factored {
    Draft *d;
    const Stage *stage;
    Path path;                                                      /* the path to the block */
    const Stmt *loop;
    /* The other loops that feed reduce axes, outermost first. */
    int reduce_count; const Stmt *reduce[MAX_AXES];
} Factored;

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

static bool find_block(Factored *f)
{
    Draft *d = f->d;
    if (f->stage->reducer == REDUCE_NONE)
        return refuse_wrong(d, FAULT_REDUCTION, "a reducing stage", "%s does not reduce", f->stage->name);
    if (f->stage->scatters)
        return refuse_wrong(d, FAULT_REDUCTION,
                            "a tensor of partial results: `p[i, b] = 0`, `update p[i, INDEX] += VALUE`, "
                            "`h[b] = sum(i) p[i, b]`", "data choose the elements that %s updates", f->stage->name);
    const int pieces = count_blocks(d->next.root, f->stage);
    if (pieces != 1 || !nest_find_block(&d->next, f->stage->name, &f->path))
        return refuse_unproved(d, FAULT_PIECES, "one block: take this step before decompose_reduction and peel",
                               "%s has %d blocks", f->stage->name, pieces);
    return true;
}

static bool is_a_reduce_loop(Factored *f, const Stmt *loop, const Stmt *block)
{
    if (!feeds_axis(block, loop->var, AXIS_REDUCE)) return false;
    if (!feeds_axis(block, loop->var, AXIS_DATA) && !feeds_axis(block, loop->var, AXIS_ORDERED)) return true;
    return refuse_unproved(f->d, FAULT_REDUCTION, "loops over one kind: do not fuse them",
                           "%s runs over data and reduce axes of %s at once", loop->name, f->stage->name);
}

static bool has_fixed_extent(Factored *f, const Stmt *loop)
{
    for (int i = 0; i < f->path.depth; i++)
        if (f->path.at[i]->kind == STMT_FOR && expr_uses(loop->extent, f->path.at[i]->var))
            return refuse_unproved(f->d, FAULT_EXTENT, "an extent over sizes", "the extent of %s depends on %s",
                                   loop->name, f->path.at[i]->name);
    return true;
}

static bool sort_loops(Factored *f)
{
    const Stmt *block = path_end(&f->path);
    bool found = false;
    for (int i = 0; i < f->path.depth; i++) {
        const Stmt *loop = f->path.at[i];
        if (loop->kind != STMT_FOR || !is_a_reduce_loop(f, loop, block)) continue;
        if (!has_fixed_extent(f, loop)) return false;
        if (loop == f->loop) found = true;
        else if (f->reduce_count == MAX_AXES)
            return refuse_too_large(f->d, FAULT_LIMIT, text_format(f->d->cx, "up to %d", MAX_AXES),
                                    "%s has more than %d reduce loops", f->stage->name, MAX_AXES);
        else f->reduce[f->reduce_count++] = loop;
    }
    if (ctx_failed(f->d->cx) || found) return found;
    return refuse_wrong(f->d, FAULT_REDUCTION, "a loop over one", "%s does not run over a reduce axis of %s",
                        f->loop->name, f->stage->name);
}

/* Partial results of the outermost reduce loop keep the order of the points. */
static bool keeps_the_order(const Factored *f)
{
    for (int i = 0; i < f->path.depth; i++) {
        const Stmt *s = f->path.at[i];
        if (s == f->loop) return true;
        for (int k = 0; k < f->reduce_count; k++)
            if (f->reduce[k] == s) return false;
    }
    return false;
}

/* Returns true if the declaration of the stage's own reducer permits partial results. */
static bool is_declared(Factored *f)
{
    const Combiner *own = f->stage->combiner;
    const char *word = own->info.spelling;
    if (!own->associates)
        return refuse_wrong(f->d, FAULT_REDUCTION, "a reducer that is declared associative",
                            "%s, the reducer of %s, is not declared associative", word, f->stage->name);
    if (!own->identity[0])
        return refuse_wrong(f->d, FAULT_REDUCTION, "a reducer with `from`",
                            "%s, the reducer of %s, has no first values for partial results", word, f->stage->name);
    if (!own->commutes && !keeps_the_order(f))
        return refuse_wrong(f->d, FAULT_REDUCTION,
                            "the outermost reduce loop, or a reducer that is declared commutative",
                            "%s, the reducer of %s, is not declared commutative, and partial results of %s change the "
                            "order", word, f->stage->name, f->loop->name);
    return true;
}

static bool may_be_reordered(Factored *f)
{
    const ReducerInfo *r = stage_reducer(f->stage);
    const bool own = f->stage->combiner;
    if (own && !is_declared(f)) return false;
    for (int i = 0; i < f->stage->out_count; i++) {
        bool floats = dtype_is_float(f->stage->out[i]->type);
        if (f->d->args.reassociate || (floats ? r->order_free_on_floats : own || r->order_free)) continue;
        return refuse_wrong(f->d, FAULT_REDUCTION, "the option reassociate",
                            "%s of floats in %s depends on the order, which partial results change", r->spelling,
                            f->stage->name);
    }
    return true;
}

static bool has_room(Factored *f)
{
    const Stage *s = f->stage;
    if (s->data_count == MAX_RANK || s->data_count + 1 + f->reduce_count > MAX_AXES)
        return refuse_too_large(f->d, FAULT_LIMIT, text_format(f->d->cx, "fewer than %d", MAX_RANK),
                                "%s has %d dimensions", s->name, s->data_count);
    for (int a = 0; a < s->data_count; a++) {
        const char *axis = expr_as_var(s->axis[a].var)->name;
        bool taken = s->axis[a].kind == AXIS_DATA && strcmp(axis, loop_short(f->loop->name)) == 0;
        for (int i = 0; i < f->reduce_count; i++) taken = taken || strcmp(axis, loop_short(f->reduce[i]->name)) == 0;
        if (taken)
            return refuse_invalid(f->d, FAULT_NAME, "other names",
                                  "an axis and a reduce loop of %s are both named %s", s->name, axis);
    }
    return true;
}

/* ---- The two stages -------------------------------------------------------------------------------------------- */

typedef struct Renaming { int count; const Expr *from[2 * MAX_AXES], *to[2 * MAX_AXES]; } Renaming;

static void add_axis(Factored *f, StageSpec *spec, Renaming *r, const Stmt *loop, AxisKind kind)
{
    const Expr *v = axis_var(f->d->cx, loop_short(loop->name), loop->extent);
    spec->axis[spec->axis_count++] = (Axis){ v, kind, loop->extent };
    r->from[r->count] = loop->var;
    r->to[r->count++] = v;
}

/* Finds the condition under which a point belongs to the reduction, in the new axes. The condition consists of the
 * conjuncts that use only reduce loops. */
static bool condition(Factored *f, const Renaming *r, const Expr **out)
{
    const Stmt *block = path_end(&f->path);
    const Expr *part[MAX_CONJUNCTS];
    int n = conjuncts_of(block->cond, part);
    *out = NULL;
    for (int k = 0; k < n; k++) {
        bool reduces = false, others = false;
        for (int i = 0; i < f->path.depth; i++) {
            const Stmt *loop = f->path.at[i];
            if (loop->kind != STMT_FOR || !expr_uses(part[k], loop->var)) continue;
            if (feeds_axis(block, loop->var, AXIS_REDUCE)) reduces = true;
            else others = true;
        }
        if (reduces && others)
            return refuse_unproved(f->d, FAULT_REDUCTION, "guards over one kind",
                                   "a guard of %s mixes data and reduce loops", f->stage->name);
        if (reduces) *out = conjoin(f->d->cx, *out, expr_substitute(f->d->cx, part[k], r->from, r->to, r->count));
    }
    return true;
}

static const Stage *partial_stage(Factored *f, const char *new_name)
{
    Ctx *cx = f->d->cx;
    const Stage *s = f->stage;
    const Stmt *block = path_end(&f->path);
    StageSpec spec = stage_spec(s);
    spec.name = new_name;
    spec.is_result = false;
    spec.axis_count = s->data_count;
    if (!f->reduce_count) {
        spec.reducer = REDUCE_NONE;
        spec.combiner = NULL;
    }
    Renaming r = { .count = 0 };
    const Expr *cond, *axis[MAX_AXES], *at[MAX_AXES];
    add_axis(f, &spec, &r, f->loop, AXIS_DATA);
    for (int i = 0; i < f->reduce_count; i++) add_axis(f, &spec, &r, f->reduce[i], AXIS_REDUCE);
    if (!condition(f, &r, &cond)) return NULL;
    for (int a = s->data_count; a < s->axis_count; a++) {
        axis[a - s->data_count] = s->axis[a].var;
        at[a - s->data_count] = expr_substitute(cx, block->bind[a], r.from, r.to, r.count);
    }
    for (int i = 0; i < s->out_count; i++) {
        const Expr *v = expr_substitute(cx, s->value[i], axis, at, s->axis_count - s->data_count);
        spec.value[i] = cond ? expr_select(cx, cond, v, stage_identity(cx, s, i)) : v;
        spec.init[i] = NULL;                              /* a part begins with the identity */
    }
    Node *n = compute_new(cx, &spec);
    return n ? n->stage : NULL;
}

/* Returns the stage of the same name and tensors that reduces the partial results. */
static const Stage *final_stage(Factored *f, const Stage *partial)
{
    Ctx *cx = f->d->cx;
    const Stage *s = f->stage;
    Stage *copy = arena_copy(cx->arena, s, sizeof *s);
    const Expr *index[MAX_AXES];
    copy->axis_count = s->data_count + 1;
    copy->axis = NEW_ARRAY(cx->arena, Axis, copy->axis_count);
    copy->value = NEW_ARRAY(cx->arena, const Expr *, s->out_count);
    for (int a = 0; a < copy->axis_count; a++) {
        copy->axis[a] = a < s->data_count ? s->axis[a] : partial->axis[a];
        index[a] = copy->axis[a].var;
    }
    copy->axis[s->data_count].kind = AXIS_REDUCE;
    for (int i = 0; i < s->out_count; i++) copy->value[i] = tensor_read(cx, partial->out[i], index, copy->axis_count);
    return copy;
}

static bool has_no_ordered_axis(Factored *f)
{
    for (int a = 0; a < f->stage->axis_count; a++)
        if (f->stage->axis[a].kind == AXIS_ORDERED)
            return refuse_unproved(f->d, FAULT_ROLE, "a stage with data and reduce axes", "%s has the ordered axis %s",
                                   f->stage->name, expr_as_var(f->stage->axis[a].var)->name);
    return true;
}

const Nest *run_rfactor(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_rfactor, a);
    Factored f = { .d = &d, .stage = draft_find_stage(&d, a->target) };
    if (!f.stage || !draft_find_loop(&d, &d.args.loop[0], &f.path)) return n;
    f.loop = path_end(&f.path);
    if (!find_block(&f) || !has_no_ordered_axis(&f) || !sort_loops(&f) || !may_be_reordered(&f) || !has_room(&f)
        || !nothing_inside(&d, f.stage))
        return n;
    const char *new_name =
        new_stage_name(&d, a->name ? a->name : name_format(cx, "%s_rf", a->target), a->target,
                       scope_builtin(SCOPE_ARENA));
    const Stage *partial = new_name ? partial_stage(&f, new_name) : NULL;
    if (!partial) return n;
    const Stage *final = final_stage(&f, partial);

    const char *host = host_of(n, f.stage);
    const Buffer *buffer[MAX_RANK], *left[MAX_RANK] = { NULL };
    draft_replace_stage(&d, f.stage, final);
    list_stage(&d, partial, final);
    take_stage(&d, final, false, left);
    for (int i = 0; i < final->out_count; i++) buffer[i] = buffer_new(cx, partial->out[i], scope_builtin(SCOPE_ARENA));
    if (!put_stage(&d, final, host, left) || !put_stage(&d, partial, host, buffer)) return n;
    d.successors = name_format(cx, "the loops of %s or %s", partial->name, final->name);
    return draft_close(&d);
}
