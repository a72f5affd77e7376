/* SPDX-License-Identifier: MIT */
/* I7: on every path, an element of an asynchronous copy is read only after a wait that covers its start. The wait
 * precedes the reader in the body of the loop and is in no loop or branch that may not run. It leaves at most as many
 * copies unfinished as were started for later iterations. I8: a start overwrites a slot only after its last read, and
 * nobody writes the source between start and wait. The start of iteration i runs in iteration i - ahead of a serial
 * loop, so there are at least ahead + 1 slots. The source is computed and stored outside the loop.
 *
 * A copy of results from a buffer in the loop starts in its own iteration and is finished when the loop ends.
 * I7: nothing else in the loop reads or writes its target.
 * I8: the buffer is written only before the start, and after a wait that covers the copy of iteration i - slots and
 * leaves at most slots - 1 copies unfinished. */
#include "ir/check/check_parts.h"
#include "ir/nest/copy.h"

typedef struct AsyncCheck {
    Checker *c;
    const Stmt *loop, *start, *block, *alloc;
    const Tensor *tensor, *source;
    bool is_back;                    /* true for a copy of results: `source` has the slots */
    bool started, waited;            /* true if the walk is past the start, and past a wait that covers the iteration */
} AsyncCheck;

static bool async_fail(AsyncCheck *a, Verdict v, const char *accepted, const char *fault)
{
    check_fail(a->c, v, FAULT_ORDER, accepted, "%s: %s", a->start->name, fault);
    a->c->refusal.tensor = a->tensor;
    return false;
}

/* ---- The copy ---------------------------------------------------------------------------------------------------- */

static bool is_a_copy(AsyncCheck *a)
{
    BlockCopy copy;
    a->block = start_block(a->start);
    if (!a->loop) return async_fail(a, WRONG, "a start in a loop", "the copy is in no loop");
    if (!a->block || !block_copy(a->c->cx, a->block, &copy) || !copy.read)
        return async_fail(a, WRONG, "a copy of elements", "a start computes, and does not only copy");
    a->tensor = a->block->stage->out[0];
    a->source = copy.read->ref;
    if (a->loop->loop_kind != LOOP_SERIAL)
        return async_fail(a, WRONG, "a serial loop", "the iterations of its loop have no order");
    if (a->start->copy->ahead < 0) return async_fail(a, WRONG, "ahead=0 or more", "it starts behind its readers");
    return true;
}

/* Finds the start below the body of a loop, through buffers and sequences only. */
static bool is_direct(const Stmt *s, const Stmt *start)
{
    if (s == start) return true;
    if (s->kind != STMT_SEQ && s->kind != STMT_ALLOC) return false;
    for (int i = 0; i < s->child_count; i++)
        if (is_direct(s->child[i], start)) return true;
    return false;
}

/* ---- I8 ---------------------------------------------------------------------------------------------------------- */

static bool touches(const Stmt *s, const AsyncCheck *a)
{
    bool found = s->kind == STMT_ALLOC && s->buffer->tensor == a->source;
    for (int i = 0; s->kind == STMT_BLOCK && i < s->stage->out_count; i++)
        found = found || s->stage->out[i] == a->source || (s->stage->out[i] == a->tensor && s != a->block);
    for (int i = 0; i < s->child_count && !found; i++) found = touches(s->child[i], a);
    return found;
}

/* Returns the Alloc of the tensor directly in the loop, or NULL. */
static const Stmt *alloc_in(const Stmt *loop, const Tensor *t)
{
    const Stmt *s = loop->child[0];
    while (s->kind == STMT_ALLOC && s->buffer->tensor != t) s = s->child[0];
    return s->kind == STMT_ALLOC ? s : NULL;
}

static bool slots_suffice(AsyncCheck *a)
{
    const Stmt *s = alloc_in(a->loop, a->is_back ? a->source : a->tensor);
    if (!s || !is_direct(a->loop->child[0], a->start))
        return async_fail(a, UNPROVED, "its buffer and start directly in the loop",
                          "the slots do not follow the iterations of one loop");
    a->alloc = s;
    if (s->buffer->slots <= a->start->copy->ahead)
        return async_fail(a, WRONG, text_format(a->c->cx, "slots=%lld", (long long)a->start->copy->ahead + 1),
                          text_format(a->c->cx, "its start, %lld iterations ahead, overwrites one of %lld slots before "
                                                "the slot's last read", (long long)a->start->copy->ahead,
                                      (long long)s->buffer->slots));
    if (a->is_back) return true;
    if (touches(a->loop->child[0], a))
        return async_fail(a, WRONG, text_format(a->c->cx, "a source that is computed before %s", a->loop->name),
                          text_format(a->c->cx, "\"%s\" is written in %s while a copy of it may be unfinished",
                                      a->source->name, a->loop->name));
    return true;
}

/* ---- I7 ---------------------------------------------------------------------------------------------------------- */

static void find_use(const Expr *e, void *user)
{
    AsyncCheck *a = user;
    if (e->kind == EXPR_READ && e->ref == a->tensor) a->tensor = NULL;
}

static bool block_uses(const AsyncCheck *a, const Stmt *block)
{
    AsyncCheck seen = *a;
    const Stage *s = block->stage;
    for (int i = 0; i < s->out_count; i++) {
        if (block->part != BLOCK_INIT) expr_walk(a->c->cx, s->value[i], find_use, &seen);
        if (block->part != BLOCK_UPDATE && s->init) expr_walk(a->c->cx, s->init[i], find_use, &seen);
    }
    return !seen.tensor;
}

/* Walks the body in the order of the text. A wait inside a loop or branch has an effect only inside it. Before the
 * start, one copy fewer has been started for later iterations. */
static bool is_waited_for(AsyncCheck *a, const Stmt *s)
{
    const int64_t later = a->start->copy->ahead - !a->started;
    if (s == a->start) return a->started = true;
    if (s->kind == STMT_WAIT && text_equal(s->name, a->start->name)) {
        if (s->copy->pending < 0)
            return async_fail(a, WRONG, "pending=0 or more", "a wait leaves fewer than 0 copies unfinished");
        a->waited = a->waited || s->copy->pending <= later;
    }
    if (s->kind == STMT_BLOCK && !a->waited && block_uses(a, s))
        return async_fail(a, WRONG, text_format(a->c->cx, "wait %s pending=%lld before it", a->start->name,
                                                (long long)a->start->copy->ahead),
                          text_format(a->c->cx, "%s may read an element whose copy is unfinished", s->name));
    for (int i = 0; i < s->child_count; i++) {
        const bool before = a->waited;
        if (!is_waited_for(a, s->child[i])) return false;
        if (s->kind == STMT_FOR || s->kind == STMT_IF) a->waited = before;
    }
    return true;
}

/* ---- Copies of results ------------------------------------------------------------------------------------------- */

static bool has_slots_for(const AsyncCheck *a)
{
    const Stmt *own = alloc_in(a->loop, a->tensor), *from = alloc_in(a->loop, a->source);
    return !(own && own->buffer->slots) && from && from->buffer->slots;
}

/* Finds another statement that stores, reads or writes the target. */
static const Stmt *other_use(const AsyncCheck *a, const Stmt *s)
{
    bool uses = s->kind == STMT_ALLOC && s->buffer->tensor == a->tensor;
    if (s->kind == STMT_BLOCK && s != a->block) {
        uses = block_uses(a, s);
        for (int i = 0; i < s->stage->out_count; i++) uses = uses || s->stage->out[i] == a->tensor;
    }
    const Stmt *found = uses ? s : NULL;
    for (int i = 0; i < s->child_count && !found; i++) found = other_use(a, s->child[i]);
    return found;
}

static bool writes_source(const AsyncCheck *a, const Stmt *s)
{
    bool writes = false;
    for (int i = 0; s->kind == STMT_BLOCK && i < s->stage->out_count; i++)
        writes = writes || s->stage->out[i] == a->source;
    return writes;
}

/* Walks the body as is_waited_for does, up to the blocks that write the buffer. */
static bool is_free_to_write(AsyncCheck *a, const Stmt *s)
{
    const int64_t most = a->alloc->buffer->slots - 1;
    if (s == a->start) return a->started = true;
    if (s->kind == STMT_WAIT && text_equal(s->name, a->start->name)) {
        if (s->copy->pending < 0)
            return async_fail(a, WRONG, "pending=0 or more", "a wait leaves fewer than 0 copies unfinished");
        a->waited = a->waited || s->copy->pending <= most;
    }
    if (writes_source(a, s) && (a->started || !a->waited))
        return async_fail(a, WRONG, a->started ? text_format(a->c->cx, "its start behind %s", s->name)
                                               : text_format(a->c->cx, "wait %s pending=%lld before it", a->start->name,
                                                             (long long)most),
                          text_format(a->c->cx, "%s may write an element whose copy is unfinished", s->name));
    for (int i = 0; i < s->child_count; i++) {
        const bool before = a->waited;
        if (!is_free_to_write(a, s->child[i])) return false;
        if (s->kind == STMT_FOR || s->kind == STMT_IF) a->waited = before;
    }
    return true;
}

static bool results_are_right(AsyncCheck *a)
{
    if (a->start->copy->ahead)
        return async_fail(a, WRONG, "ahead=0", "it starts before its results are computed");
    const Stmt *other = other_use(a, a->loop->child[0]);
    if (other)
        return async_fail(a, WRONG, text_format(a->c->cx, "a place outside %s", a->loop->name),
                          text_format(a->c->cx, "%s uses \"%s\" while a copy to it may be unfinished",
                                      other->kind == STMT_BLOCK ? other->name : a->loop->name, a->tensor->name));
    return is_free_to_write(a, a->loop->child[0]);
}

/* ---- The nest ---------------------------------------------------------------------------------------------------- */

static bool starts_in(Checker *c, const Stmt *s, const Stmt *loop)
{
    AsyncCheck a = { .c = c, .loop = loop, .start = s };
    if (s->kind == STMT_START && !is_a_copy(&a)) return false;
    if (s->kind == STMT_START) a.is_back = has_slots_for(&a);
    if (s->kind == STMT_START && !slots_suffice(&a)) return false;
    if (s->kind == STMT_START && !(a.is_back ? results_are_right(&a) : is_waited_for(&a, loop->child[0]))) return false;
    if (s->kind == STMT_FOR) loop = s;
    for (int i = 0; i < s->child_count; i++)
        if (!starts_in(c, s->child[i], loop)) return false;
    return true;
}

/* Refuses slots without the start of a copy to them or from them: other stores have one window per execution of the
 * Alloc. */
static bool slots_have_starts(Checker *c, const Stmt *s)
{
    const int starts = s->kind == STMT_ALLOC ? starts_of(c->cx, s->child[0], s->buffer->tensor) : 0;
    if (s->kind == STMT_ALLOC && s->buffer->slots && starts != 1)
        return check_fail(c, WRONG, FAULT_STORAGE, "one asynchronous copy in its loop", "\"%s\" has %lld slots and %d "
                          "copies that start to fill or to read them", s->buffer->tensor->name,
                          (long long)s->buffer->slots, starts);
    for (int i = 0; i < s->child_count; i++)
        if (!slots_have_starts(c, s->child[i])) return false;
    return true;
}

bool check_async(Checker *c)
{
    return slots_have_starts(c, c->nest->root) && starts_in(c, c->nest->root, NULL);
}
