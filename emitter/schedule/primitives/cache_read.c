/* SPDX-License-Identifier: MIT */
/* cache_read: the named consumers of a tensor read a copy of it instead, a new stage
 *
 *   copy[i, j] = x[i, j]            or, widening, copy[i, j] = i16(x[i, j])
 *
 * which follows x's producer as a whole; a compute_at normally follows. Widening is accepted only where the cast is
 * exact. A cast of the read to any other type then equals the same cast of the copy: i32(x) becomes i32(copy), and a
 * row is widened once rather than at each use.
 *
 * padded: the copy also has the elements outside the tensor that the readers name under a condition, with a value V for
 * which the condition is not needed. Coordinate 0 of the copy is the lowest one that is named:
 *
 *   y[h] = sum(i) select(0 <= h+i-1 && h+i-1 < 16, x[h+i-1] * w[i], 0)
 *   copy[h < 18] = select(1 <= h && h < 17, x[h-1], 0);  y[h] = sum(i) copy[h+i] * w[i] */
#include <string.h>

#include "schedule/draft/attach.h"
#include "schedule/draft/padding.h"
#include "support/names.h"

/* ---- Proofs ----------------------------------------------------------------------------------------------------- */

/* Returns the bits of the integers that a float type represents exactly. */
static int exact_bits(DType t) { return t == F64 ? 53 : t == F32 ? 24 : t == F16 ? 11 : 8; }

static int value_bits(DType t)
{
    const DTypeInfo *info = dtype_info(t);
    return t == BOOL ? 1 : 8 * info->bytes - (info->cls == SIGNED);
}

/* Returns true if every value of `from` survives a cast to `to`. */
static bool cast_loses_nothing(DType from, DType to)
{
    if (from == to) return true;
    if (to == BOOL) return false;
    if (dtype_is_float(from)) return dtype_is_float(to) && dtype_info(to)->bytes > dtype_info(from)->bytes;
    if (dtype_is_float(to)) return value_bits(from) <= exact_bits(to);
    bool needs_sign = dtype_info(from)->cls == SIGNED;
    return (!needs_sign || dtype_info(to)->cls == SIGNED) && value_bits(from) <= value_bits(to);
}

static bool widening_is_exact(Draft *d, const Tensor *t, DType as)
{
    if (cast_loses_nothing(t->type, as)) return true;
    return refuse_wrong(d, FAULT_KIND, text_format(d->cx, "a type that holds all of %s", dtype_info(t->type)->spelling),
                        "%s is %s, and a cast to %s may lose values", t->name, dtype_info(t->type)->spelling,
                        dtype_info(as)->spelling);
}

static bool reads_tensor(Ctx *cx, const Stage *s, const Tensor *t)
{
    const Tensor **reads;
    int count = stage_reads(cx, s, &reads);
    for (int i = 0; i < count; i++)
        if (reads[i] == t) return true;
    return false;
}

/* Finds the stages to rewrite: the named stages, or all stages that read the tensor. */
static int readers_of(Draft *d, const Tensor *t, const Stage **out)
{
    int count = 0;
    const StepArgs *a = &d->args;
    for (int i = 0; i < a->reader_count; i++) {
        const Stage *s = draft_find_stage(d, a->reader[i]);
        if (!s) return 0;
        if (!reads_tensor(d->cx, s, t)) {
            refuse_invalid(d, FAULT_ROLE, "one of its consumers", "%s does not read %s", s->name, t->name);
            return 0;
        }
        out[count++] = s;
    }
    for (int i = 0; !a->reader_count && i < d->next.stage_count; i++)
        if (reads_tensor(d->cx, d->next.stage[i], t)) out[count++] = d->next.stage[i];
    if (!count) refuse_invalid(d, FAULT_NESTING, "a tensor that a stage reads", "nothing reads %s", t->name);
    return count;
}

/* ---- The copy -------------------------------------------------------------------------------------------------- */

static const char *axis_name(Ctx *cx, const Stage *producer, int dimension)
{
    return producer ? expr_as_var(producer->axis[dimension].var)->name : name_format(cx, "d%d", dimension);
}

/* Returns the copy, which belongs to the part of its consumer. */
static const Stage *copy_stage(Ctx *cx, const Tensor *t, const Stage *producer, const Stage *reader,
                               const char *copy_name, DType type, const Padding *p)
{
    StageSpec spec = { .name = copy_name, .part = reader->part, .axis_count = t->rank, .out_count = 1 };
    const Expr *index[MAX_RANK], *inside = NULL;
    for (int i = 0; i < t->rank; i++) {
        const Expr *below = expr_index(cx, p->below[i]), *end = expr_add(cx, below, t->shape[i]);
        const Expr *extent = simplify(cx, expr_add(cx, end, expr_index(cx, p->above[i])), NULL);
        const Expr *v = axis_var(cx, axis_name(cx, producer, i), extent);
        spec.axis[i] = (Axis){ v, AXIS_DATA, extent };
        index[i] = p->below[i] ? expr_sub(cx, v, below) : v;
        if (p->below[i]) inside = conjoin(cx, inside, expr_binary(cx, EXPR_LE, below, v));
        if (p->above[i]) inside = conjoin(cx, inside, expr_binary(cx, EXPR_LT, v, simplify(cx, end, NULL)));
    }
    const Expr *read = tensor_read(cx, t, index, t->rank);
    spec.value[0] = expr_cast(cx, type, inside ? expr_select(cx, inside, read, p->value) : read);
    Node *n = compute_new(cx, &spec);
    return n ? n->stage : NULL;
}

typedef struct Redirect { const Tensor *from, *to; const Padding *padding; } Redirect;

static const Expr *read_of_copy(Ctx *cx, const Redirect *r, const Expr *read)
{
    const Expr *index[MAX_RANK];
    for (int d = 0; d < read->arg_count; d++)
        index[d] = r->padding->below[d]
                       ? simplify(cx, expr_add(cx, read->arg[d], expr_index(cx, r->padding->below[d])), NULL)
                       : read->arg[d];
    return tensor_read(cx, r->to, index, read->arg_count);
}

/* Redirects a read to the copy. Operands are rewritten first, so a cast of the read is a cast of the narrowed copy, and
 * the two casts fold into one. */
static const Expr *redirect_read(Ctx *cx, const Expr *e, void *user)
{
    const Redirect *r = user;
    if (e->kind == EXPR_READ && e->ref == r->from)
        return expr_cast(cx, r->from->type, read_of_copy(cx, r, e));
    if (e->kind != EXPR_CAST || r->from->type == r->to->type) return e;
    const Expr *narrowed = e->arg[0];
    bool is_copy = narrowed->kind == EXPR_CAST && narrowed->type == r->from->type && narrowed->arg[0]->kind == EXPR_READ
                   && narrowed->arg[0]->ref == r->to;
    return is_copy ? expr_cast(cx, e->type, narrowed->arg[0]) : e;
}

const Nest *run_cache_read(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_cache_read, a);
    const Tensor *t = draft_find_tensor(&d, a->target);
    if (!t || (a->as.given && !widening_is_exact(&d, t, a->as.type))) return n;
    const Scope *scope = draft_find_scope(&d, a->scope);
    if (!scope) return n;
    const Stage **reader = NEW_ARRAY(cx->arena, const Stage *, n->stage_count + MAX_STEP_LOOPS);
    const int count = readers_of(&d, t, reader);
    const Stage *producer = producer_of(n, t);
    const char *host = producer ? host_of(n, producer) : NULL;
    for (int i = 0; i < count; i++)
        if (!all_blocks_inside(&d, reader[i], host)) return n;
    const char *new_name = count ? new_stage_name(&d, a->name, a->target, scope) : NULL;
    if (!new_name) return n;
    const Stage **rewritten = arena_copy(cx->arena, reader, (size_t)count * sizeof *reader);
    Padding padding = { .value = NULL };
    if (a->padded.given && !padding_of(&d, t, rewritten, count, &padding)) return n;
    const Stage *copy = copy_stage(cx, t, producer, reader[0], new_name, a->as.given ? a->as.type : t->type, &padding);
    if (!copy) return n;

    Redirect r = { t, copy->out[0], &padding };
    for (int i = 0; i < count; i++)
        draft_replace_stage(&d, reader[i], stage_with_values(cx, rewritten[i], redirect_read, &r));
    list_stage(&d, copy, NULL);
    const Buffer *buffer = buffer_new(cx, copy->out[0], scope);
    if (!put_stage(&d, copy, host, &buffer)) return n;
    return draft_close(&d);
}
