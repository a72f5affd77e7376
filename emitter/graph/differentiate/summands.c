/* SPDX-License-Identifier: MIT */
#include "graph/differentiate/summands.h"

#include "graph/dag/op_build.h"
#include "support/names.h"

typedef struct SummandList { int count, capacity; Tensor **at; } SummandList;

DType adjoint_type(DType t) { return t == F16 || t == BF16 ? F32 : t; }

Summands *summands_new(Ctx *cx)
{
    Summands *s = NEW(cx->arena, Summands);
    *s = (Summands){ cx, map_new(cx->arena), NEW(cx->arena, Map), false };
    *s->names = map_new(cx->arena);
    return s;
}

Summands *summands_inside(const Summands *outer)
{
    Summands *s = NEW(outer->cx->arena, Summands);
    *s = (Summands){ outer->cx, map_new(outer->cx->arena), outer->names, true };
    return s;
}

/* Returns the first unused name of base, base_2, base_3, ... For each base, the map holds the next number to try. */
const char *summands_name(Summands *s, const char *base)
{
    const char *unique = name(s->cx, base);
    int *next = map_get_ptr(s->names, unique);
    if (!next) {
        map_put_ptr(s->names, unique, next = NEW(s->cx->arena, int));
        *next = 2;
        return unique;
    }
    while (map_get_ptr(s->names, unique)) unique = name_format(s->cx, "%s_%d", base, (*next)++);
    next = NEW(s->cx->arena, int);
    *next = 2;
    map_put_ptr(s->names, unique, next);
    return unique;
}

const char *summands_adjoint_name(Summands *s, const Tensor *of)
{
    return summands_name(s, name_format(s->cx, "d_%s", name_identifier(s->cx, of->name)));
}

/* Returns the tensor of which t is an elementwise copy, or t itself if it is not a copy. */
static Tensor *uncopied(Tensor *t)
{
    const Node *n = t->producer;
    const Stage *stage = n && n->kind == NODE_COMPUTE && n->out_count == 1 ? n->stage : NULL;
    const Expr *value = stage && stage->reducer == REDUCE_NONE ? stage->value[0] : NULL;
    if (!value || value->kind != EXPR_READ) return t;
    const Tensor *from = value->ref;
    if (from->type != t->type || from->rank != t->rank) return t;
    for (int d = 0; d < t->rank; d++) {
        const bool is_first = tensor_dim(t, d) == 1 && value->arg[d]->kind == EXPR_INT && value->arg[d]->integer == 0;
        if (from->shape[d] != t->shape[d] || stage->axis[d].kind != AXIS_DATA) return t;
        if (value->arg[d] != stage->axis[d].var && !is_first) return t;
    }
    return from->self;
}

void summands_add(Summands *s, const Tensor *to, Tensor *value)
{
    if (!value) return;
    if (!s->is_inside) value = uncopied(value);
    SummandList *l = map_get_ptr(&s->of, to);
    if (!l) map_put_ptr(&s->of, to, l = NEW(s->cx->arena, SummandList));
    if (l->count == l->capacity) {
        Tensor **more = NEW_ARRAY(s->cx->arena, Tensor *, l->capacity = 2 * l->capacity + 2);
        for (int i = 0; i < l->count; i++) more[i] = l->at[i];
        l->at = more;
    }
    l->at[l->count++] = value;
}

void summands_move(Summands *s, const Tensor *from, const Tensor *to)
{
    SummandList *l = map_get_ptr(&s->of, from);
    for (int i = 0; l && i < l->count; i++) summands_add(s, to, l->at[i]);
    if (l) l->count = 0;
}

bool summands_has(const Summands *s, const Tensor *of)
{
    const SummandList *l = map_get_ptr(&s->of, of);
    return l && l->count > 0;
}

const Expr *adjoint_read(Ctx *cx, const Tensor *t, const Expr *const *index)
{
    const Stage *s = t->producer ? t->producer->stage : NULL;
    if (s && s->reducer == REDUCE_NONE && expr_is_const(s->value[t->output])) return s->value[t->output];
    if (t->data && tensor_elems(t) == 1) return expr_constant(cx, t->type, dtype_load(t->type, t->data, 0));
    return tensor_read(cx, t, index, t->rank);
}

static const Expr *plus(Ctx *cx, const Expr *a, const Expr *b) { return a ? expr_add(cx, a, b) : b; }

static Tensor *sum(Summands *s, const SummandList *l, const Tensor *of, Tensor *outside, const Expr *last)
{
    Ctx *cx = s->cx;
    const Expr *at[MAX_RANK], *back[MAX_RANK], *value = NULL;
    StageSpec spec = { .name = summands_adjoint_name(s, of), .axis_count = of->rank, .out_count = 1 };
    for (int d = 0; d < of->rank; d++) {
        const AxisKind kind = last && d == 0 ? AXIS_ORDERED : AXIS_DATA;
        const char *axis = kind == AXIS_ORDERED ? "step" : name_format(cx, "%c", axis_letter(of->rank, d));
        spec.axis[d] = (Axis){ at[d] = axis_var(cx, axis, of->shape[d]), kind, of->shape[d] };
        back[d] = last && d == 0 ? expr_sub(cx, last, at[d]) : at[d];
    }
    if (outside) value = adjoint_read(cx, outside, back);
    for (int i = 0; l && i < l->count; i++) value = plus(cx, value, adjoint_read(cx, l->at[i], at));
    spec.value[0] = value ? value : expr_real(cx, adjoint_type(of->type), 0);
    Node *n = compute_new(cx, &spec);
    return n ? n->out[0] : NULL;
}

Tensor *summands_total(Summands *s, const Tensor *of)
{
    SummandList *l = map_get_ptr(&s->of, of);
    if (!l || l->count < 2) return l && l->count ? l->at[0] : NULL;
    l->at[0] = sum(s, l, of, NULL, NULL);
    l->count = 1;
    return l->at[0];
}

Tensor *summands_of_steps(Summands *s, const Tensor *of, Tensor *outside, const Expr *last)
{
    return sum(s, map_get_ptr(&s->of, of), of, outside, last);
}
