/* SPDX-License-Identifier: MIT */
/* cache_write: a new stage of the given scope computes the values of a stage, which becomes a copy of the new stage:
 *
 *   y[i] = sum(k) ...      =>      y_register[i] = sum(k) ...,   y[i] = y_register[i]
 *
 * Both stages are placed where the stage was, with fresh loops. A compute_at normally attaches the new stage inside the
 * loops of the copy, as an accumulator tile. No proof is required: the copy reads the value that was stored before. */
#include "schedule/draft/attach.h"
#include "support/names.h"

static const Stage *computing_stage(Ctx *cx, const Stage *s, const char *new_name)
{
    StageSpec spec = stage_spec(s);
    spec.name = new_name;
    spec.is_result = false;
    Node *n = compute_new(cx, &spec);
    return n ? n->stage : NULL;
}

/* Returns a stage with the name and tensors of s that copies `from`. */
static const Stage *copying_stage(Ctx *cx, const Stage *s, const Stage *from)
{
    Stage *copy = arena_copy(cx->arena, s, sizeof *s);
    const Expr *index[MAX_AXES];
    copy->axis_count = s->data_count;
    copy->axis = NEW_ARRAY(cx->arena, Axis, s->data_count);
    copy->value = NEW_ARRAY(cx->arena, const Expr *, s->out_count);
    copy->reducer = REDUCE_NONE;
    copy->combiner = NULL;
    copy->init = NULL;
    copy->scatters = false;
    for (int a = 0; a < s->data_count; a++) {
        index[a] = axis_var(cx, expr_as_var(s->axis[a].var)->name, s->axis[a].extent);
        copy->axis[a] = (Axis){ index[a], s->axis[a].kind, s->axis[a].extent };
    }
    for (int i = 0; i < s->out_count; i++) copy->value[i] = tensor_read(cx, from->out[i], index, s->data_count);
    return copy;
}

/* Returns true if no loop of the stage runs over an ordered axis. If such a loop belongs to another stage, it encloses
 * both stages. */
static bool has_no_ordered_loop(Draft *d, const Stage *s)
{
    Path p;
    if (!nest_find_block(&d->next, s->name, &p)) return true;
    for (int i = 0; i < p.depth; i++)
        if (p.at[i]->kind == STMT_FOR && loop_is_own(p.at[i], s)
            && feeds_axis(path_end(&p), p.at[i]->var, AXIS_ORDERED))
            return refuse_unproved(d, FAULT_ROLE, "a stage with data and reduce loops",
                                   "%s has the ordered axis that its loop %s runs over", s->name, p.at[i]->name);
    return true;
}

const Nest *run_cache_write(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_cache_write, a);
    const Stage *s = draft_find_stage(&d, a->target);
    if (!s || !has_no_ordered_loop(&d, s) || !nothing_inside(&d, s)) return n;
    const Scope *scope = draft_find_scope(&d, a->scope);
    if (!scope) return n;
    const char *host = host_of(n, s);
    const char *new_name = all_blocks_inside(&d, s, host) ? new_stage_name(&d, a->name, s->name, scope) : NULL;
    const Stage *cache = new_name ? computing_stage(cx, s, new_name) : NULL;
    if (!cache) return n;
    const Stage *copy = copying_stage(cx, s, cache);

    draft_replace_stage(&d, s, copy);
    list_stage(&d, cache, copy);
    const Buffer *buffer[MAX_RANK], *left[MAX_RANK] = { NULL };
    take_stage(&d, copy, false, left);
    for (int i = 0; i < s->out_count; i++) buffer[i] = buffer_new(cx, cache->out[i], scope);
    if (!put_stage(&d, copy, host, left) || !put_stage(&d, cache, host, buffer)) return n;
    d.successors = name_format(cx, "the loops of %s or %s", cache->name, copy->name);
    return draft_close(&d);
}
