/* SPDX-License-Identifier: MIT */
/* async: a copy in a loop runs beside the work of earlier iterations.
 *
 *   for y.ko:                      alloc xs slots=2, inside the loop
 *     alloc xs                     for y.ko:
 *       copy xs[ko]         =>       start xs ahead=1: copy xs[ko]       begins one iteration early
 *       read xs                      wait xs pending=1
 *                                    read xs
 *
 * Lowering starts the copies of the first iterations before the loop, and none beyond the last iteration. The buffer
 * has a window per slot, of which the iterations take turns. The checker proves the waits (I7) and the slots (I8). */

/* Decision: an asynchronous copy stays an ordinary statement of its iteration. Start and Wait only say how much earlier
 * it may begin and how late it may end, so the proofs of the synchronous nest hold, and each step after `async` works
 * as before. Lowering and the interpreter derive the prologue. */
#include "ir/nest/copy.h"
#include "schedule/draft/attach.h"

enum { MOST_SLOTS = 64 };

typedef struct AsyncCopy {
    Draft *d;
    const Stage *stage;
    Path path;                       /* the path to its block */
    int host, top, alloc;            /* depths of the loop, of the first own statement, and of the Alloc in the loop */
    int64_t ahead, channel, slots;
    bool waits;                      /* true once the Wait is placed */
} AsyncCopy;

static bool is_one_copy(AsyncCopy *c)
{
    BlockCopy copy;
    Draft *d = c->d;
    nest_find_block(&d->next, c->stage->name, &c->path);
    if (count_blocks(d->next.root, c->stage) != 1)
        return refuse_unproved(d, FAULT_PIECES, "one block: async before peel and cut", "%s has several blocks",
                               c->stage->name);
    if (!block_copy(d->cx, path_end(&c->path), &copy) || !copy.read)
        return refuse_invalid(d, FAULT_ROLE, "a stage that cache_read adds", "%s computes, and does not only copy",
                              c->stage->name);
    return true;
}

/* Finds the loop, whose body may contain only buffers and sequences around the copy. */
static bool find_place(AsyncCopy *c)
{
    Draft *d = c->d;
    c->host = c->alloc = -1;
    for (int i = 0; i < c->path.depth; i++)
        if (c->path.at[i]->kind == STMT_FOR && !loop_is_own(c->path.at[i], c->stage)) c->host = i;
    if (c->host < 0)
        return refuse_invalid(d, FAULT_NESTING, text_format(d->cx, "compute_at %s first", c->stage->name),
                              "%s is copied once, in no loop of its readers", c->stage->name);
    for (c->top = c->host + 1; c->path.at[c->top]->kind == STMT_SEQ || c->path.at[c->top]->kind == STMT_ALLOC; c->top++)
        if (c->path.at[c->top]->kind == STMT_ALLOC && c->path.at[c->top]->buffer->tensor == c->stage->out[0])
            c->alloc = c->top;
    const Stmt *top = c->path.at[c->top], *host = c->path.at[c->host];
    if (top->kind != STMT_FOR && top->kind != STMT_BLOCK)
        return refuse_invalid(d, FAULT_NESTING, "a copy directly in a loop", "%s is in a unit, a condition or another "
                              "asynchronous copy", c->stage->name);
    if (c->alloc < 0)
        return refuse_invalid(d, FAULT_STORAGE, text_format(d->cx, "store_at %s %s", c->stage->name, host->name),
                              "%s is stored outside %s, so its iterations have one window", c->stage->name, host->name);
    if (host->loop_kind != LOOP_SERIAL)
        return refuse_invalid(d, FAULT_KIND, "a serial loop", "%s is %s", host->name, loop_kind_text(host->loop_kind));
    if (c->path.at[c->alloc]->buffer->scope->kind == SCOPE_REGISTER)
        return refuse_invalid(d, FAULT_STORAGE, "another memory",
                              "%s is in registers, which a copy engine does not reach", c->stage->name);
    return true;
}

static bool find_slots(AsyncCopy *c)
{
    const StepArgs *a = &c->d->args;
    c->slots = a->factor[0];
    c->channel = a->factor[1] ? a->factor[1] : 1;
    c->ahead = a->factor[2] ? a->factor[2] : c->slots - 1;
    if (c->slots < 1 || c->slots > MOST_SLOTS)
        return refuse_invalid(c->d, FAULT_VALUE, text_format(c->d->cx, "slots=1 to slots=%d", MOST_SLOTS),
                              "%s has %lld slots", c->stage->name, (long long)c->slots);
    return c->ahead < c->slots
           || refuse_wrong(c->d, FAULT_RING, text_format(c->d->cx, "slots=%lld", (long long)c->ahead + 1),
                           "%s, which starts %lld iterations ahead, overwrites one of %lld slots before its last read",
                           c->stage->name, (long long)c->ahead, (long long)c->slots);
}

typedef struct ReadSearch { const Stage *stage; bool found; } ReadSearch;

static void find_reader(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    ReadSearch *r = user;
    (void)scope;
    r->found = r->found || block_reads(cx, block, r->stage);
}

static bool reads(AsyncCopy *c, const Stmt *s)
{
    ReadSearch r = { c->stage, false };
    each_block(c->d->cx, s, NULL, find_reader, &r);
    return r.found;
}

static const Stmt *pipelined(AsyncCopy *c, int depth);

/* Puts the Wait before the first statement that reads the copy. */
static const Stmt *pipelined_seq(AsyncCopy *c, int depth)
{
    Ctx *cx = c->d->cx;
    const Stmt *s = c->path.at[depth], **child = NEW_ARRAY(cx->arena, const Stmt *, s->child_count + 1);
    int count = 0;
    bool started = false;
    for (int i = 0; i < s->child_count; i++) {
        const bool is_path = s->child[i] == c->path.at[depth + 1];
        if (started && !c->waits && reads(c, s->child[i])) {
            child[count++] = stmt_wait(cx, c->stage->name, c->ahead);
            c->waits = true;
        }
        child[count++] = is_path ? pipelined(c, depth + 1) : s->child[i];
        started = started || is_path;
    }
    return stmt_seq(cx, child, count);
}

/* Returns the statement at this depth with Start and Wait, without the Alloc. */
static const Stmt *pipelined(AsyncCopy *c, int depth)
{
    Ctx *cx = c->d->cx;
    const Stmt *s = c->path.at[depth];
    if (depth == c->top) return stmt_start(cx, c->stage->name, c->ahead, c->channel, s);
    if (s->kind == STMT_SEQ) return pipelined_seq(c, depth);
    const Stmt *body = pipelined(c, depth + 1);
    return depth == c->alloc ? body : stmt_with_children(cx, s, &body, 1);
}

const Nest *run_async(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_async, a);
    AsyncCopy c = { .d = &d, .stage = draft_find_stage(&d, a->target) };
    if (!c.stage || !is_one_copy(&c) || !find_place(&c) || !find_slots(&c)) return n;
    Buffer *b = arena_copy(cx->arena, c.path.at[c.alloc]->buffer, sizeof *b);
    b->slots = c.slots;
    const Stmt *loop = c.path.at[c.host], *body = stmt_alloc(cx, b, pipelined(&c, c.host + 1));
    Path host = c.path;
    host.depth = c.host + 1;
    d.next.root = path_replace(cx, &host, stmt_with_children(cx, loop, &body, 1));
    return draft_close(&d);
}
