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
 * has a window per slot, of which the iterations take turns. The checker proves the waits (I7) and the slots (I8).
 *
 * A copy of results, from a buffer in the loop, starts where the results are complete. The next iterations compute in
 * the other slots; the wait is before the first statement that writes the slot again.
 *
 *   for y.io:                      alloc acc slots=2, inside the loop
 *     alloc acc                    for y.io:
 *       compute acc           =>       wait y pending=1
 *       copy y[io] = acc               compute acc
 *                                      start y ahead=0: copy y[io] = acc
 */

/* Decision: an asynchronous copy stays an ordinary statement of its iteration. Start and Wait only bound the copy: its
 * earliest begin and its latest end. The proofs of the synchronous nest therefore hold, and each step after `async`
 * works as before. Lowering and the interpreter derive the prologue. */
#include "ir/nest/copy.h"
#include "schedule/draft/attach.h"

enum { MOST_SLOTS = 64 };

typedef struct AsyncCopy {
    Draft *d;
    const Stage *stage;
    Path path;                       /* the path to its block */
    const Tensor *source;
    int host, top, alloc;            /* depths of the loop, of the first own statement, and of the Alloc in the loop */
    bool is_back;                    /* true if the Alloc is the source's */
    int64_t ahead, channel, slots;
    bool waits;                      /* true once the Wait is placed */
} AsyncCopy;

/* Returns a stage that copies from the tensors of the stage, or NULL. */
static const Stage *copy_of_stage(AsyncCopy *c)
{
    const Nest *n = &c->d->next;
    for (int i = 0; i < n->stage_count; i++) {
        BlockCopy copy;
        Path p;
        if (nest_find_block(n, n->stage[i]->name, &p) && block_copy(c->d->cx, path_end(&p), &copy) && copy.read
            && stage_produces(c->stage, copy.read->ref)) return n->stage[i];
    }
    return NULL;
}

static bool refuse_work(AsyncCopy *c)
{
    const Stage *copy = copy_of_stage(c);
    return refuse_invalid(c->d, FAULT_ROLE,
                          copy ? text_format(c->d->cx, "async %s, which copies its results", copy->name)
                               : "a stage that cache_read adds, or one that copies from a cache_write",
                          "%s computes, and does not only copy", c->stage->name);
}

static bool is_one_copy(AsyncCopy *c)
{
    BlockCopy copy;
    Draft *d = c->d;
    nest_find_block(&d->next, c->stage->name, &c->path);
    if (count_blocks(d->next.root, c->stage) != 1)
        return refuse_unproved(d, FAULT_PIECES, "one block: async before peel and cut", "%s has several blocks",
                               c->stage->name);
    const bool is_copy = block_copy(d->cx, path_end(&c->path), &copy);
    if (!is_copy && copy.read)
        return refuse_invalid(d, FAULT_VALUE,
                              "a value whose bytes are equal, such as 0 or -1, or a copy without padded",
                              "the bytes of the value beside \"%s\" differ, and LW_COPY_FILL_START stores one byte",
                              ((const Tensor *)copy.read->ref)->name);
    if (!is_copy || !copy.read) return refuse_work(c);
    c->source = copy.read->ref;
    return true;
}

/* Finds the Alloc of the tensor on the path, inside a loop. Returns -1 if there is none. */
static int alloc_in_a_loop(const AsyncCopy *c, const Tensor *t, int *host)
{
    *host = -1;
    for (int i = 0; i < c->path.depth; i++) {
        const Stmt *s = c->path.at[i];
        if (s->kind == STMT_ALLOC && s->buffer->tensor == t) return *host < 0 ? -1 : i;
        if (s->kind == STMT_FOR) *host = i;
    }
    return -1;
}

static bool is_simple_top(AsyncCopy *c)
{
    const Stmt *top = c->path.at[c->top];
    if (top->kind == STMT_TILE && top->instr)
        return refuse_invalid(c->d, FAULT_NESTING, "async without the instruction: LW_COPY_START copies",
                              "%s is computed by %s", c->stage->name, top->instr->macro);
    return top->kind == STMT_FOR || top->kind == STMT_BLOCK
           || refuse_invalid(c->d, FAULT_NESTING, "a copy directly in a loop",
                             "%s is in a unit, a condition or another asynchronous copy", c->stage->name);
}

static bool suits_copies(AsyncCopy *c)
{
    const Stmt *host = c->path.at[c->host];
    if (host->loop_kind != LOOP_SERIAL)
        return refuse_invalid(c->d, FAULT_KIND, "a serial loop", "%s is %s", host->name,
                              loop_kind_text(host->loop_kind));
    return c->path.at[c->alloc]->buffer->scope->kind != SCOPE_REGISTER
           || refuse_invalid(c->d, FAULT_STORAGE, "another memory",
                             "%s is in registers, which a copy engine does not reach",
                             c->path.at[c->alloc]->buffer->tensor->name);
}

/* Finds the place of a copy of results: the loop is the one around their buffer. */
static bool find_place_of_results(AsyncCopy *c)
{
    c->top = c->host + 1;
    while (c->path.at[c->top]->kind == STMT_SEQ || c->path.at[c->top]->kind == STMT_ALLOC) c->top++;
    return is_simple_top(c) && suits_copies(c);
}

/* Finds the loop, whose body may contain only buffers and sequences around the copy. */
static bool find_place(AsyncCopy *c)
{
    Draft *d = c->d;
    int own_host;
    c->is_back = alloc_in_a_loop(c, c->stage->out[0], &own_host) < 0
                 && (c->alloc = alloc_in_a_loop(c, c->source, &c->host)) >= 0;
    if (c->is_back) return find_place_of_results(c);
    c->host = c->alloc = -1;
    for (int i = 0; i < c->path.depth; i++)
        if (c->path.at[i]->kind == STMT_FOR && !loop_is_own(c->path.at[i], c->stage)) c->host = i;
    if (c->host < 0)
        return refuse_invalid(d, FAULT_NESTING,
                              text_format(d->cx, "compute_at first, of %s or of the stage that it copies",
                                          c->stage->name),
                              "neither the buffer of %s nor that of \"%s\" is in a loop, so there is one copy",
                              c->stage->name, c->source->name);
    for (c->top = c->host + 1; c->path.at[c->top]->kind == STMT_SEQ || c->path.at[c->top]->kind == STMT_ALLOC; c->top++)
        if (c->path.at[c->top]->kind == STMT_ALLOC && c->path.at[c->top]->buffer->tensor == c->stage->out[0])
            c->alloc = c->top;
    const Stmt *host = c->path.at[c->host];
    if (!is_simple_top(c)) return false;
    if (c->alloc < 0)
        return refuse_invalid(d, FAULT_STORAGE, text_format(d->cx, "store_at %s %s", c->stage->name, host->name),
                              "%s is stored outside %s, so its iterations have one window", c->stage->name, host->name);
    return suits_copies(c);
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
    if (c->is_back && a->factor[2])
        return refuse_invalid(c->d, FAULT_VALUE, "slots alone",
                              "%s copies results, which starts when they are complete", c->stage->name);
    if (c->is_back) c->ahead = 0;
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

static bool writes_results(AsyncCopy *c, const Stmt *s)
{
    bool writes = s->kind == STMT_BLOCK && stage_produces(s->stage, c->source);
    for (int i = 0; i < s->child_count && !writes; i++) writes = writes_results(c, s->child[i]);
    return writes;
}

static bool reads(AsyncCopy *c, const Stmt *s)
{
    ReadSearch r = { c->stage, false };
    each_block(c->d->cx, s, NULL, find_reader, &r);
    return r.found;
}

static const Stmt *pipelined(AsyncCopy *c, int depth);

/* Returns true for the first statement that reads the copy, or that writes its results again. */
static bool needs_wait(AsyncCopy *c, const Stmt *s, bool started)
{
    return !c->waits && started != c->is_back && (c->is_back ? writes_results(c, s) : reads(c, s));
}

/* Puts the Wait before the first statement that needs it. */
static const Stmt *pipelined_seq(AsyncCopy *c, int depth)
{
    Ctx *cx = c->d->cx;
    const Stmt *s = c->path.at[depth], **child = NEW_ARRAY(cx->arena, const Stmt *, s->child_count + 1);
    int count = 0;
    bool started = false;
    for (int i = 0; i < s->child_count; i++) {
        const bool is_path = s->child[i] == c->path.at[depth + 1];
        if (!is_path && needs_wait(c, s->child[i], started)) {
            child[count++] = stmt_wait(cx, c->stage->name, c->is_back ? c->slots - 1 : c->ahead);
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
