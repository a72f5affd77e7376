/* SPDX-License-Identifier: MIT */
/* cache_read: the named consumers of a tensor read a copy of it instead, a new stage
 *
 *   copy[i, j] = x[i, j]            or, widening, copy[i, j] = i16(x[i, j])
 *
 * which follows x's producer as a whole; a compute_at normally follows. Widening is accepted only where the cast is
 * exact. A cast of the read to any other type then equals the same cast of the copy: i32(x) becomes i32(copy), and a
 * row is widened once rather than at each use. */
#include <string.h>

#include "schedule/draft/attach.h"
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
                               const char *copy_name, DType type)
{
    StageSpec spec = { .name = copy_name, .part = reader->part, .axis_count = t->rank, .out_count = 1 };
    const Expr *index[MAX_RANK];
    for (int i = 0; i < t->rank; i++) {
        index[i] = axis_var(cx, axis_name(cx, producer, i), t->shape[i]);
        spec.axis[i] = (Axis){ index[i], AXIS_DATA, t->shape[i] };
    }
    spec.value[0] = expr_cast(cx, type, tensor_read(cx, t, index, t->rank));
    Node *n = compute_new(cx, &spec);
    return n ? n->stage : NULL;
}

typedef struct Redirect { const Tensor *from, *to; } Redirect;

/* Redirects a read to the copy. Operands are rewritten first, so a cast of the read is a cast of the narrowed copy, and
 * the two casts fold into one. */
static const Expr *redirect_read(Ctx *cx, const Expr *e, void *user)
{
    const Redirect *r = user;
    if (e->kind == EXPR_READ && e->ref == r->from)
        return expr_cast(cx, r->from->type, tensor_read(cx, r->to, e->arg, e->arg_count));
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
    if (a->scope > SCOPE_STATIC) {
        refuse_invalid(&d, FAULT_STORAGE, "register, stack, arena and static", "a copy cannot be %s",
                       scope_text(a->scope));
        return n;
    }
    const Stage **rewritten = NEW_ARRAY(cx->arena, const Stage *, n->stage_count + MAX_STEP_LOOPS);
    int rewritten_count = readers_of(&d, t, rewritten);
    const Stage *producer = producer_of(n, t);
    const char *host = producer ? host_of(n, producer) : NULL;
    for (int i = 0; i < rewritten_count; i++)
        if (!all_blocks_inside(&d, rewritten[i], host)) return n;
    const char *new_name = rewritten_count ? new_stage_name(&d, a->name, a->target, a->scope) : NULL;
    if (!new_name) return n;
    const Stage *copy = copy_stage(cx, t, producer, rewritten[0], new_name, a->as.given ? a->as.type : t->type);
    if (!copy) return n;

    Redirect r = { t, copy->out[0] };
    for (int i = 0; i < rewritten_count; i++)
        draft_replace_stage(&d, rewritten[i], stage_with_values(cx, rewritten[i], redirect_read, &r));
    list_stage(&d, copy, NULL);
    const Buffer *buffer = buffer_new(cx, copy->out[0], a->scope);
    if (!put_stage(&d, copy, host, &buffer)) return n;
    return draft_close(&d);
}
