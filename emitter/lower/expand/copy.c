/* SPDX-License-Identifier: MIT */
/* Expands a copy to or from a declared memory to the macros of runtime/lw_copy.h. The loops of the copy become one
 * call: the innermost loops, whose elements are adjacent in both memories, are the bytes of a row, and the loop around
 * them counts the rows. Loops further out stay.
 *
 *   for (h) for (w) for (c)  xs[h, w, c] = select(1 <= h && h < 17 && 1 <= w && w < 17, x[h-1, w-1, c], V)
 *
 * A condition bounds a loop from below and above, and divides the box of the copy: rows of elements inside, margins of
 * V outside. A guard, as in the last tile of a split, ends the loops early. No element has a condition of its own.
 *
 *   LW_COPY_FILL_START(0, xs, V, 288);                                    the row above
 *   LW_COPY_ROWS_START(0, xs + 304, 288, x, 256, 256, 16);                the rows, without their margins
 */
#include "ir/nest/copy.h"
#include "lower/expand/storage.h"
#include "support/names.h"
#include "support/text.h"

/* A loop of a copy: its strides in elements in the target and the source, and the iterations [begin, end) in the box.
 * The condition holds for the iterations [low, high); NULL stands for no bound. */
typedef struct CopyLoop {
    const Stmt *loop;
    int64_t to, from;
    const Expr *begin, *end, *low, *high;
} CopyLoop;

enum { MOST_COPY_LOOPS = 16 };
typedef struct Copying {
    Ctx *cx;
    const Bounds *scope;                 /* the loops around the copy */
    const Memory *to, *from;             /* `from` is NULL where only V is stored */
    const Expr *to_index, *from_index;   /* the flat indices, over the loops */
    const Expr *fixed;                   /* the part of the condition that no loop of the copy changes, or NULL */
    int fill;                            /* the byte of V */
    int64_t size;                        /* bytes of an element */
    const CopyQueue *queue;              /* of an asynchronous copy, or NULL */
} Copying;

typedef struct CopyBox { int count; CopyLoop loop[MOST_COPY_LOOPS]; } CopyBox;

/* ---- The form of the statement ----------------------------------------------------------------------------------- */

static bool uses_loops(const Expr *e, const CopyBox *b)
{
    for (int i = 0; e && i < b->count; i++)
        if (expr_uses(e, b->loop[i].loop->var)) return true;
    return false;
}

/* Finds the strides of an index. Returns false if it is not a sum of multiples of the loops and of a fixed part. */
static bool strides_of(Ctx *cx, const Expr *index, CopyBox *b, bool is_source)
{
    Linear l;
    if (!linear_of(cx, index, &l)) return false;
    for (int t = 0; t < l.count; t++)
        if (l.term[t]->kind != EXPR_VAR && uses_loops(l.term[t], b)) return false;
    for (int i = 0; i < b->count; i++) {
        const int64_t stride = linear_coef(&l, b->loop[i].loop->var);
        const bool runs_once = expr_is_int(b->loop[i].end, 1);
        if (stride < 0 || (!is_source && !stride && !runs_once)) return false;
        *(is_source ? &b->loop[i].from : &b->loop[i].to) = stride;
    }
    return true;
}

static const Expr *narrower(Ctx *cx, ExprKind k, const Expr *a, const Expr *b)
{
    return a ? expr_binary(cx, k, a, b) : b;
}

/* Adds a comparison to the bounds of the one loop that it uses. */
static bool add_bound(Copying *c, CopyBox *b, const Expr *e)
{
    Ctx *cx = c->cx;
    if (expr_is_int(e, 1)) return true;
    if (!uses_loops(e, b)) {
        c->fixed = c->fixed ? expr_and(cx, c->fixed, e) : e;
        return true;
    }
    for (int i = 0; i < b->count; i++) {
        CopyLoop *loop = &b->loop[i];
        const Expr *low, *high;
        if (!expr_uses(e, loop->loop->var) || !solved_for(cx, e, loop->loop->var, &low, &high)) continue;
        if (uses_loops(low ? low : high, b)) return false;
        if (low) loop->low = narrower(cx, EXPR_MAX, loop->low, low);
        else loop->high = narrower(cx, EXPR_MIN, loop->high, high);
        return true;
    }
    return false;
}

static bool add_condition(Copying *c, CopyBox *b, const Expr *condition)
{
    enum { MOST = 32 };
    const Expr *part[MOST];
    const int count = condition ? conjuncts(condition, part, MOST) : 0;
    for (int i = 0; i < count; i++)
        if (count > MOST || !add_bound(c, b, part[i])) return false;
    return true;
}

/* Lets the loops run only where the block's guard holds. The part of the guard that no loop changes becomes *outside,
 * with a condition for each loop that may have no iteration. */
static bool narrow_loops(Copying *c, CopyBox *b, const Expr *guard, const Expr **outside)
{
    Ctx *cx = c->cx;
    if (!add_condition(c, b, guard)) return false;
    *outside = c->fixed;
    for (int i = 0; i < b->count; i++) {
        CopyLoop *l = &b->loop[i];
        if (!l->low && !l->high) continue;
        if (l->low) l->begin = simplify(cx, expr_binary(cx, EXPR_MAX, l->begin, l->low), c->scope);
        if (l->high) l->end = simplify(cx, expr_binary(cx, EXPR_MIN, l->end, l->high), c->scope);
        const Expr *runs = expr_binary(cx, EXPR_LT, l->begin, l->end);
        if (!provably(cx, runs, c->scope)) *outside = *outside ? expr_and(cx, *outside, runs) : runs;
        l->low = l->high = NULL;
    }
    c->fixed = NULL;
    return true;
}

/* Sorts the loops by their strides in the target, the largest first. */
static void sort_loops(CopyBox *b)
{
    for (int i = 1; i < b->count; i++)
        for (int k = i; k > 0 && b->loop[k - 1].to < b->loop[k].to; k--) {
            const CopyLoop swapped = b->loop[k];
            b->loop[k] = b->loop[k - 1];
            b->loop[k - 1] = swapped;
        }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Returns the address of the element at the first iterations of the loops number `from` and inside it. */
static const Expr *address(const Copying *c, const CopyBox *b, int from, const Memory *m, const Expr *index)
{
    for (int i = from; i < b->count; i++)
        index = expr_substitute(c->cx, index, &b->loop[i].loop->var, &b->loop[i].begin, 1);
    const Expr *load = load_expr(c->cx, m, simplify(c->cx, index, NULL));
    return expr_new(c->cx, EXPR_AT, load->type, NULL, &load, 1);
}

static const Expr *extent_of(const Copying *c, const CopyLoop *l)
{
    return simplify(c->cx, expr_sub(c->cx, l->end, l->begin), c->scope);
}

static const Expr *in_bytes(const Copying *c, const Expr *elems)
{
    return simplify(c->cx, expr_mul(c->cx, elems, expr_index(c->cx, c->size)), c->scope);
}

static const Code *in_loops(const Copying *c, const CopyBox *b, int count, const Code *code)
{
    for (int i = count - 1; i >= 0; i--)
        code = code_for(c->cx, b->loop[i].loop->var, b->loop[i].begin, b->loop[i].end, 1, LOOP_SERIAL, code);
    return code;
}

static bool runs_once(const Copying *c, const CopyLoop *l) { return expr_is_int(extent_of(c, l), 1); }

/* Returns the number of the outermost loop whose elements, with all loops inside it, are adjacent. *elems is their
 * number. The strides of a loop that runs once do not matter. */
static int adjacent_loops(const Copying *c, const CopyBox *b, bool is_fill, const Expr **elems)
{
    int first = b->count;
    *elems = expr_index(c->cx, 1);
    while (first > 0) {
        const CopyLoop *l = &b->loop[first - 1];
        if (!runs_once(c, l) && (!expr_is_int(*elems, l->to) || (!is_fill && l->from != l->to))) break;
        *elems = simplify(c->cx, expr_mul(c->cx, *elems, extent_of(c, l)), c->scope);
        first--;
    }
    return first;
}

/* Returns a start. An asynchronous copy counts it. */
static const Code *counted_start(const Copying *c, const char *macro, const Expr *const *arg, int count)
{
    Ctx *cx = c->cx;
    const Code *start = code_call_at(cx, macro, arg, count);
    if (!c->queue) return start;
    const Expr *zero = expr_index(cx, 0), *more = expr_add(cx, load_expr(cx, c->queue->started, zero),
                                                           expr_index(cx, 1));
    const Code *both[] = { start, code_store(cx, c->queue->started, zero, more) };
    return code_seq(cx, both, 2);
}

static const Expr *channel_of(const Copying *c) { return expr_index(c->cx, c->queue ? c->queue->channel : 0); }

static const Code *fill_box(const Copying *c, const CopyBox *b)
{
    const Expr *elems, *channel = channel_of(c);
    const int first = adjacent_loops(c, b, true, &elems);
    const Expr *arg[] = { channel, address(c, b, first, c->to, c->to_index), expr_index(c->cx, c->fill),
                          in_bytes(c, elems) };
    return in_loops(c, b, first, counted_start(c, "LW_COPY_FILL_START", arg, 4));
}

static const Code *copy_box(const Copying *c, const CopyBox *b)
{
    Ctx *cx = c->cx;
    const Expr *elems, *channel = channel_of(c);
    const int first = adjacent_loops(c, b, false, &elems);
    const int outer = first > 0 ? first - 1 : 0;
    const Expr *to = address(c, b, outer, c->to, c->to_index), *from = address(c, b, outer, c->from, c->from_index),
               *bytes = in_bytes(c, elems);
    if (!first) return counted_start(c, "LW_COPY_START", (const Expr *[]){ channel, to, from, bytes }, 4);
    const CopyLoop *rows = &b->loop[first - 1];
    const Expr *arg[] = { channel, to, expr_index(cx, rows->to * c->size), from, expr_index(cx, rows->from * c->size),
                          bytes, extent_of(c, rows) };
    return in_loops(c, b, outer, counted_start(c, "LW_COPY_ROWS_START", arg, 7));
}

/* ---- Margins ----------------------------------------------------------------------------------------------------- */

static const Expr *clamped(const Copying *c, const Expr *e, const Expr *low, const Expr *high)
{
    return simplify(c->cx, expr_binary(c->cx, EXPR_MAX, expr_binary(c->cx, EXPR_MIN, e, high), low), c->scope);
}

static const Code *in_box(const Copying *c, const CopyBox *b, bool is_fill);

/* Returns the code for the part [begin, end) of a loop, which may be empty. */
static const Code *part_of(const Copying *c, const CopyBox *b, int loop, const Expr *begin, const Expr *end,
                           bool is_fill)
{
    CopyBox part = *b;
    part.loop[loop].begin = begin;
    part.loop[loop].end = end;
    part.loop[loop].low = part.loop[loop].high = NULL;
    const Interval extent = interval_of(c->cx, extent_of(c, &part.loop[loop]), c->scope);
    if (extent.greatest <= 0) return NULL;
    const Code *code = in_box(c, &part, is_fill);
    return extent.least > 0 ? code : code_if(c->cx, expr_binary(c->cx, EXPR_LT, begin, end), code, NULL);
}

/* Divides the box at the bounds of its first bounded loop. */
static const Code *in_box(const Copying *c, const CopyBox *b, bool is_fill)
{
    int i = 0;
    while (i < b->count && !b->loop[i].low && !b->loop[i].high) i++;
    if (is_fill || i == b->count) return is_fill ? fill_box(c, b) : copy_box(c, b);
    const CopyLoop *l = &b->loop[i];
    const Expr *low = l->low ? clamped(c, l->low, l->begin, l->end) : l->begin,
               *high = l->high ? clamped(c, l->high, low, l->end) : l->end;
    const Code *part[] = { part_of(c, b, i, l->begin, low, true), part_of(c, b, i, low, high, false),
                           part_of(c, b, i, high, l->end, true) };
    return code_seq(c->cx, part, 3);
}

/* ---- The statement ----------------------------------------------------------------------------------------------- */

static bool is_declared(const Storage *st) { return st && scope_is_declared(st->scope); }

/* Collects the loops down to the block. */
static const Stmt *loops_of(Ctx *cx, const Stmt *s, CopyBox *b)
{
    for (; s->kind == STMT_FOR && b->count < MOST_COPY_LOOPS; s = s->child[0]) {
        if (s->loop_kind == LOOP_PARALLEL) return NULL;
        b->loop[b->count++] = (CopyLoop){ .loop = s, .begin = expr_index(cx, 0), .end = s->extent };
    }
    for (int i = 0; i < b->count; i++)
        if (uses_loops(b->loop[i].end, b)) return NULL;
    return s->kind == STMT_BLOCK ? s : NULL;
}

const Code *expand_copy(Storages *s, const Stmt *stmt, const Bounds *scope)
{
    Ctx *cx = s->cx;
    CopyBox box = { .count = 0 };
    const Stmt *block = loops_of(cx, stmt, &box);
    BlockCopy copy;
    if (!block || !block_copy(cx, block, &copy)) return NULL;
    const Tensor *t = block->stage->out[0], *source = copy.read ? copy.read->ref : NULL;
    const Storage *to = storage_of(s, t), *from = source ? storage_of(s, source) : NULL;
    if (!to || (source && !from) || (!is_declared(to) && !is_declared(from) && !s->starting))
        return NULL;
    Copying c = { .cx = cx, .scope = scope, .to = to->memory, .from = from ? from->memory : NULL,
                  .fill = copy.fill ? fill_byte(copy.fill) : 0, .size = dtype_info(t->type)->bytes,
                  .queue = s->starting };
    const Expr *outside = NULL;
    if (!narrow_loops(&c, &box, block->cond, &outside)) return NULL;
    c.to_index = simplify(cx, storage_index(cx, to, t, block->bind), NULL);
    if (!strides_of(cx, c.to_index, &box, false)) return NULL;
    if (source) {
        const Expr *at[MAX_RANK];
        for (int d = 0; d < source->rank; d++) at[d] = block_in_loops(cx, block, copy.read->arg[d]);
        c.from_index = simplify(cx, storage_index(cx, from, source, at), NULL);
        if (!strides_of(cx, c.from_index, &box, true)) return NULL;
    }
    const Expr *inside = copy.inside ? simplify(cx, block_in_loops(cx, block, copy.inside), scope) : NULL;
    if (!add_condition(&c, &box, inside)) return NULL;
    sort_loops(&box);
    const Expr *none[] = { expr_index(cx, 0), expr_index(cx, 0) };
    const Code *starts = code_if(cx, c.fixed, in_box(&c, &box, !source), c.fixed ? in_box(&c, &box, true) : NULL);
    const Code *both[] = { starts, s->starting ? NULL : code_call(cx, "LW_COPY_WAIT", none, 2) };
    return code_if(cx, outside, code_seq(cx, both, 2), NULL);
}

/* ---- Asynchronous copies ----------------------------------------------------------------------------------------- */

static const CopyQueue *queue_of(const Storages *s, const char *copy)
{
    const CopyQueue *q = s->copies;
    while (q && !text_equal(q->name, copy)) q = q->outer;
    return q;
}

/* A run starts fewer copies: each takes a descriptor of several bytes. */
enum { MOST_STARTS = 1 << 30 };

static const Memory *counter(Storages *s, const char *of, MemoryKind kind, int64_t elems)
{
    Memory proto = { .name = of, .type = I32, .kind = kind, .elems = expr_index(s->cx, elems), .is_restrict = true,
                     .range = { 0, MOST_STARTS } };
    return memory_new(s->cx, &proto);
}

/* Returns the count of the copies that the channel has started, which copies of one channel share. */
static const Memory *started_on(const Storages *s, int64_t channel)
{
    const CopyQueue *q = s->copies;
    while (q && q->channel != channel) q = q->outer;
    return q ? q->started : NULL;
}

/* Returns code that lets the waits for the first slots return at once. */
static const Code *no_ends(Storages *s, const CopyQueue *q)
{
    const Code **store = NEW_ARRAY(s->cx->arena, const Code *, q->slots);
    for (int64_t i = 0; i < q->slots; i++)
        store[i] = code_store(s->cx, q->ends, expr_index(s->cx, i), expr_index(s->cx, 0));
    return code_seq(s->cx, store, (int)q->slots);
}

const Code *copy_queues_open(Storages *s, const Stmt *loop, const Bounds *inside)
{
    Ctx *cx = s->cx;
    enum { PARTS = 5 };
    const Code *part[PARTS * MOST_COPY_LOOPS] = { NULL };
    int count = 0;
    for (const Stmt *a = loop->child[0]; a->kind == STMT_ALLOC; a = a->child[0]) {
        bool is_back = false;
        const Stmt *start = a->buffer->slots ? start_of(cx, a->child[0], a->buffer->tensor, &is_back) : NULL;
        if (!start || count + PARTS > PARTS * MOST_COPY_LOOPS) continue;
        const Storage *st = storage_alloc(s, a, inside);
        const Memory *started = started_on(s, start->copy->channel);
        CopyQueue *q = NEW(cx->arena, CopyQueue);
        if (!st) return NULL;
        const char *buffer = st->memory->name;
        *q = (CopyQueue){ s->copies, start->name, start->copy->channel, a->buffer->slots,
                          expr_binary(cx, EXPR_FLOORMOD, loop->var, expr_index(cx, a->buffer->slots)), started, NULL,
                          is_back };
        if (!started) {
            q->started = counter(s, name_format(cx, "started%lld", (long long)start->copy->channel), MEMORY_SCALAR, 1);
            part[count++] = code_local(cx, q->started);
            part[count++] = code_store(cx, q->started, expr_index(cx, 0), expr_index(cx, 0));
        }
        q->ends = counter(s, name_format(cx, "%s_end", buffer), MEMORY_LOCAL, a->buffer->slots);
        part[count++] = code_local(cx, q->ends);
        if (is_back) part[count++] = no_ends(s, q);
        if (st->memory->kind == MEMORY_LOCAL) part[count++] = code_local(cx, st->memory);
        s->copies = q;
    }
    return code_seq(cx, part, count);
}

const Code *copy_start(Storages *s, const Stmt *start, const Code *copy)
{
    Ctx *cx = s->cx;
    const CopyQueue *q = queue_of(s, start->name);
    const Code *both[] = { copy, code_store(cx, q->ends, q->slot, load_expr(cx, q->started, expr_index(cx, 0))) };
    return code_seq(cx, both, 2);
}

void copy_starting(Storages *s, const Stmt *start) { s->starting = start ? queue_of(s, start->name) : NULL; }

/* Returns a wait for the last start in the slot. */
static const Code *wait_for_slot(Storages *s, const CopyQueue *q, const Expr *slot)
{
    Ctx *cx = s->cx;
    const Expr *later = expr_sub(cx, load_expr(cx, q->started, expr_index(cx, 0)), load_expr(cx, q->ends, slot));
    return code_call(cx, "LW_COPY_WAIT", (const Expr *[]){ expr_index(cx, q->channel), later }, 2);
}

const Code *copy_wait(Storages *s, const Stmt *wait)
{
    const CopyQueue *q = queue_of(s, wait->name);
    return q ? wait_for_slot(s, q, q->slot) : NULL;
}

const Code *copy_queues_close(Storages *s, const CopyQueue *outside, const Stmt *loop)
{
    Ctx *cx = s->cx;
    const Code *part[MOST_COPY_LOOPS] = { NULL };
    int count = 0;
    for (const CopyQueue *q = s->copies; q != outside && count < MOST_COPY_LOOPS; q = q->outer) {
        const Expr *last = expr_sub(cx, loop->extent, expr_index(cx, 1)), *runs = expr_binary(cx, EXPR_LT,
                                                                                         expr_index(cx, 0),
                                                                                         loop->extent);
        const Expr *slot = expr_substitute(cx, q->slot, &loop->var, &last, 1);
        if (q->is_back) part[count++] = code_if(cx, runs, wait_for_slot(s, q, slot), NULL);
    }
    return code_seq(cx, part, count);
}
