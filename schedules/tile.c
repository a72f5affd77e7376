/* SPDX-License-Identifier: MIT */
#include "schedules/tile.h"

#include <math.h>

#include "support/names.h"

const Stage *output_stage(const Nest *n) { return n->output[0]->producer->stage; }

bool makes_output(const Nest *n, const Stage *s)
{
    for (int i = 0; i < n->output_count; i++)
        for (int j = 0; j < s->out_count; j++)
            if (n->output[i] == s->out[j]) return true;
    return false;
}

const Nest *inline_stage(Ctx *cx, const Nest *n, const Stage *s)
{
    int deepest = 0;
    for (int i = 0; i < n->stage_count; i++)
        if (stage_depth(n->stage[i]) > deepest) deepest = stage_depth(n->stage[i]);
    return deepest + stage_depth(s) > MOST_EXPR_DEPTH ? n : sched_compute_inline(cx, n, s->name);
}

const Nest *inline_elementwise(Ctx *cx, const Nest *n, const char *except)
{
    for (int i = n->stage_count - 1; i >= 0 && !ctx_failed(cx); i--) {
        const Stage *s = n->stage[i];
        if (s->reducer != REDUCE_NONE || makes_output(n, s) || s->name == except) continue;
        n = inline_stage(cx, n, s);
    }
    return n;
}

static bool has_axis(const Stage *s, int axis) { return axis >= 0 && axis < s->axis_count; }

const char *loop_name(Ctx *cx, const Stage *s, int axis)
{
    return name_format(cx, "%s.%s", s->name, has_axis(s, axis) ? expr_as_var(s->axis[axis].var)->name : "");
}

int64_t axis_extent(const Stage *s, int axis)
{
    const Expr *e = has_axis(s, axis) ? s->axis[axis].extent : NULL;
    return e && e->kind == EXPR_INT ? e->integer : -1;
}

int64_t last_extent(const Stage *s) { return axis_extent(s, s->data_count - 1); }

bool are_finite(const Tensor *w)
{
    for (int64_t i = 0; i < tensor_elems(w); i++)
        if (!isfinite(dtype_load(w->type, w->data, i).f)) return false;
    return true;
}
