/* SPDX-License-Identifier: MIT */
/* Checks external calls (ir/nest/external.h). The statement below the call is its meaning. The call computes the same
 * values under four conditions. The call takes every tensor that the statement reads from elsewhere. The call yields
 * every tensor that others read from the statement. The call finds each of these tensors in row-major order. Inside
 * loops, the call gets the parts of the tensors that one iteration computes and reads. These parts are boxes
 * (external_view.h), and no loop around the call runs in the lanes of vectors. */
#include "ir/check/check_parts.h"
#include "ir/check/external_view.h"
#include "ir/nest/external.h"

typedef struct ExternalCheck { Checker *c; const Stmt *const *above; int depth; const Stmt *tile; } ExternalCheck;

static bool has_block(const Stmt *s, const Stage *stage)
{
    if (s->kind == STMT_BLOCK && s->stage == stage) return true;
    for (int i = 0; i < s->child_count; i++)
        if (has_block(s->child[i], stage)) return true;
    return false;
}

/* Returns true if the stage has blocks outside the tile. */
static bool has_block_outside(const Stmt *s, const Stmt *tile, const Stage *stage)
{
    if (s == tile) return false;
    if (s->kind == STMT_BLOCK && s->stage == stage) return true;
    for (int i = 0; i < s->child_count; i++)
        if (has_block_outside(s->child[i], tile, stage)) return true;
    return false;
}

static bool is_inside(const ExternalCheck *x, const Stage *s) { return has_block(x->tile->child[0], s); }

static const Stage *producer(const Nest *n, const Tensor *t)
{
    for (int i = 0; i < n->stage_count; i++)
        for (int j = 0; j < n->stage[i]->out_count; j++)
            if (n->stage[i]->out[j] == t) return n->stage[i];
    return NULL;
}

static bool is_nest_output(const Nest *n, const Tensor *t)
{
    for (int i = 0; i < n->output_count; i++)
        if (n->output[i] == t) return true;
    return false;
}

/* ---- Operands and results ---------------------------------------------------------------------------------------- */

/* Returns true if the call takes every tensor that crosses the call's boundary, in either direction, where the stage
 * reads it. */
static bool reads_are_taken(const ExternalCheck *x, const Stage *reader)
{
    const External *e = x->tile->external;
    const Tensor **reads;
    const int count = stage_reads(x->c->cx, reader, &reads);
    const bool inside = is_inside(x, reader);
    for (int i = 0; i < count; i++) {
        const Stage *p = producer(x->c->nest, reads[i]);
        if ((p && is_inside(x, p)) == inside || (!p && !inside) || external_takes(e, reads[i])) continue;
        return check_fail(x->c, UNPROVED, FAULT_STORAGE,
                          text_format(x->c->cx, "a call that takes %s, or a step that leaves these reads as they are",
                                      reads[i]->name),
                          "%s reads \"%s\", which is not an argument of %s", reader->name, reads[i]->name, e->function);
    }
    return true;
}

/* Returns true if an argument is the input of this name, the old values of an in-out tensor. */
static bool takes_old_values(const External *e, const Tensor *output)
{
    for (int i = 0; i < e->arg_count; i++)
        if (e->arg[i].kind == EXTERNAL_TENSOR && text_equal(e->arg[i].tensor->name, output->name)) return true;
    return false;
}

static bool outputs_are_yielded(const ExternalCheck *x, const Stage *s)
{
    for (int i = 0; i < s->out_count; i++) {
        if (!is_nest_output(x->c->nest, s->out[i]) || external_takes(x->tile->external, s->out[i])) continue;
        if (takes_old_values(x->tile->external, s->out[i]))
            return check_fail(x->c, UNPROVED, FAULT_STORAGE,
                              "a call that computes a tensor of its own, which an `update` then adds",
                              "%s gets the old values of the in-out tensor \"%s\", and cannot compute the new ones",
                              x->tile->external->function, s->out[i]->name);
        return check_fail(x->c, UNPROVED, FAULT_STORAGE, "a call with it among its arguments",
                          "\"%s\" is an output, and no argument of %s", s->out[i]->name,
                          x->tile->external->function);
    }
    return true;
}

static bool stage_is_right(const ExternalCheck *x, const Stage *s)
{
    const char *function = x->tile->external->function;
    if (!reads_are_taken(x, s)) return false;
    if (!is_inside(x, s)) return true;
    if (has_block_outside(x->c->nest->root, x->tile, s))
        return check_fail(x->c, UNPROVED, FAULT_PIECES, "one call for the whole stage",
                          "%s is computed by %s and outside it", s->name, function);
    return outputs_are_yielded(x, s);
}

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

static const Buffer *buffer_of(const ExternalCheck *x, const Tensor *t)
{
    for (int i = 0; i < x->depth; i++)
        if (x->above[i]->kind == STMT_ALLOC && x->above[i]->buffer->tensor == t) return x->above[i]->buffer;
    return NULL;
}

/* Returns true if the call finds the tensor in row-major order. Symbolic sizes after the first dimension are stored at
 * their maximum, so rows are apart; the call must then receive strides. */
static bool is_row_major(const External *e, const Buffer *b)
{
    const Tensor *t = b->tensor;
    for (int d = 0; d < t->rank; d++) {
        const bool is_open = d > 0 && tensor_dim(t, d) < 0;
        if (b->permutation[d] != d || b->tile[d] || b->ring[d]) return false;
        if ((is_open || b->align > 1) && !external_knows_strides(e, t)) return false;
    }
    return b->scope->kind != SCOPE_REGISTER;
}

/* Returns true if the elements of the part follow each other in memory, or the call takes the strides. */
static bool part_is_row_major(const ExternalCheck *x, const Tensor *t, const ExternalView *v)
{
    const Bounds *scope = NULL;
    bool is_one = true;                /* all dimensions so far have one index in the part */
    if (external_knows_strides(x->tile->external, t)) return true;
    for (int i = 0; i < x->depth; i++)
        if (x->above[i]->kind == STMT_FOR)
            scope = bounds_var(x->c->cx, scope, x->above[i]->var, x->above[i]->extent);
    for (int d = 0; d < t->rank; d++) {
        if (!is_one && !provably_equal(x->c->cx, v->count[d], t->shape[d], scope)) return false;
        is_one = is_one && expr_is_int(v->count[d], 1);
    }
    return true;
}

static bool part_is_known(const ExternalCheck *x, const ExternalArg *a)
{
    const char *why = NULL, *function = x->tile->external->function;
    ExternalView v;
    if (!external_is_in_loop(x->above, x->depth)) return true;
    if (a->kind == EXTERNAL_VALUE && a->uses_dims)
        return check_fail(x->c, UNPROVED, FAULT_EXTENT, "dim(T, N) as an argument of its own",
                          "an argument of %s computes with dim(T, N), which in a loop is the size of a part", function);
    if (!a->tensor) return true;
    if (!external_view(x->c->cx, x->above, x->depth, x->tile, a->tensor, &v, &why))
        return check_fail(x->c, UNPROVED, FAULT_EXTENT, "a call in fewer loops, for a box of whole sums",
                          "an argument of %s: %s", function, why);
    if (a->kind != EXTERNAL_TENSOR || part_is_row_major(x, a->tensor, &v)) return true;
    return check_fail(x->c, UNPROVED, FAULT_STORAGE,
                      text_format(x->c->cx, "a call that takes stride(%s, N) for all dimensions but the last",
                                  a->tensor->name),
                      "the rows of the part of \"%s\" that %s gets are apart", a->tensor->name, function);
}

static bool argument_is_stored(const ExternalCheck *x, const Tensor *t)
{
    const Buffer *b = buffer_of(x, t);
    const char *function = x->tile->external->function;
    if (!b && producer(x->c->nest, t) && !is_nest_output(x->c->nest, t))
        return check_fail(x->c, UNPROVED, FAULT_STORAGE, "a tensor that is stored around the call",
                          "\"%s\", an argument of %s, has no storage there", t->name, function);
    if (!b || is_row_major(x->tile->external, b)) return true;
    return check_fail(x->c, UNPROVED, FAULT_STORAGE,
                      "row-major storage outside registers; for rows that are apart, a call with stride(T, N)",
                      "\"%s\", an argument of %s, is not stored in row-major order", t->name, function);
}

/* Iterations of a parallel loop would share the workspace, and a status could not end the run. */
static bool may_run_in_parallel(const ExternalCheck *x, const Stmt *loop)
{
    const External *e = x->tile->external;
    for (int i = 0; i < e->arg_count; i++)
        if (e->arg[i].kind == EXTERNAL_WORKSPACE)
            return check_fail(x->c, WRONG, FAULT_STORAGE, "a serial loop, or a function without a workspace",
                              "the iterations of the parallel loop %s share the workspace of %s", loop->name,
                              e->function);
    return !e->has_status
           || check_fail(x->c, WRONG, FAULT_KIND, "a serial loop, or a function without status",
                         "the status of %s cannot leave the parallel loop %s", e->function, loop->name);
}

static bool loops_are_plain(const ExternalCheck *x)
{
    const External *e = x->tile->external;
    for (int i = 0; i < x->depth; i++) {
        if (x->above[i]->kind != STMT_FOR) continue;
        if (x->above[i]->loop_kind == LOOP_VECTOR)
            return check_fail(x->c, UNPROVED, FAULT_KIND, "a loop that is serial, parallel or unrolled",
                              "%s is called in %s, whose iterations are lanes", e->function, x->above[i]->name);
        if (x->above[i]->loop_kind == LOOP_PARALLEL && !may_run_in_parallel(x, x->above[i])) return false;
        if (e->in_place)
            return check_fail(x->c, UNPROVED, FAULT_NESTING, "a call outside all loops, or without in_place",
                              "%s is called in place in %s", e->function, x->above[i]->name);
    }
    return true;
}

bool check_external(Checker *c, const Stmt *const *above, int depth, const Stmt *tile)
{
    const ExternalCheck x = { c, above, depth, tile };
    const External *e = tile->external;
    if (!loops_are_plain(&x)) return false;
    for (int i = 0; i < c->nest->stage_count; i++)
        if (!stage_is_right(&x, c->nest->stage[i])) return false;
    for (int i = 0; i < e->arg_count; i++)
        if (e->arg[i].kind == EXTERNAL_TENSOR && !argument_is_stored(&x, e->arg[i].tensor)) return false;
    for (int i = 0; i < e->arg_count; i++)
        if (!part_is_known(&x, &e->arg[i])) return false;
    return true;
}
