/* SPDX-License-Identifier: MIT */
/* Runs a nest by walking its statements, with checks. Three mechanisms expose wrong nests:
 *
 * - Storage follows the Alloc: dimension d has ring[d] slots, or one per index. A slot records its element and the
 *   execution of the Alloc in which the element was stored. A read of an element that was never written, or whose slot
 *   holds a different element, is therefore reported. Accesses outside the window or the tensor are reported first.
 * - Iterations of a parallel loop run in the order (a i + b) mod n, with a random a that is prime to n. Or they run
 *   concurrently, as lanes that share all storage except stack and registers, so that two lanes may overwrite each
 *   other's slots.
 * - Lanes of a vector loop run in lockstep. The loop moves down to its blocks, and each block is computed for all
 *   lanes before the first lane stores. Buffers inside the loop exist once per lane. Loops whose iterations a pragma
 *   declares independent run in the same way.
 * - An asynchronous copy moves its elements at its start, or at the latest at its wait. In between, its slot may not be
 *   read, and its source may not be written. A copy of results may move them as late as the end of the loop; in
 *   between, they may not be written, nor may its target be used. In lanes of a loop around it, the copy runs at its
 *   place, as an ordinary statement. */
#include "ir/interpret/walk.h"

#include <string.h>

#include "ir/check/check.h"
#include "ir/interpret/point.h"
#include "ir/nest/copy.h"
#include "support/map.h"
#include "support/text.h"

/* The content of a slot: element `elem` of its tensor, stored in the era `era`. */
typedef struct RingSlot { uint64_t era; int64_t elem; } RingSlot;

/* The storage of a tensor. Each lane has a copy. Each copy has its own slots, and its own begin and end of the window.
 * If the lanes of a parallel loop share one copy, slots are counted from the begin of the lane's window. */
typedef struct WalkStorage {
    const Tensor *tensor;
    int64_t dim[MAX_RANK], slots[MAX_RANK];        /* the number of elements, and of slots, along each dimension */
    int64_t elems, slot_count;                     /* the elements of the tensor, and the slots of one copy */
    /* The number of copies in use, of windows in use (at least `copies`), and of both that are allocated. */
    int64_t copies, windows, capacity;
    int64_t (*begin)[MAX_RANK], (*end)[MAX_RANK];  /* [windows], or NULL if there is no window */
    const void *data;                              /* [copies][slot_count]: the elements */
    void *own;                                     /* the writable data; NULL for an input */
    RingSlot *slot;                                    /* [copies][slot_count]; NULL if everything is written */
    uint64_t era;                                  /* the era of the Alloc's current execution, or 0 */
    struct CopyRun *copy;                          /* the asynchronous copy that fills it, or NULL */
} WalkStorage;

/* A slot of an asynchronous copy: the iteration whose elements it contains, and its state. `now` is the era of results
 * that the present iteration writes there. */
typedef struct CopySlot { int64_t iteration; uint64_t era, now; bool is_unfinished, is_moved; } CopySlot;

/* An asynchronous copy in a loop that runs. */
typedef struct CopyRun {
    const Stmt *loop, *start, *alloc;
    WalkStorage *buffer;                           /* which has the slots */
    const Tensor *source, *target;
    bool is_back, is_moving;                       /* true if it copies from the buffer; while it moves elements */
    /* The iterations of the loop; its present one; the one whose copy started last; the present slot; the slots. */
    int64_t iterations, at, newest, now, slots;
    CopySlot *slot;
    struct CopyRun *outer;
} CopyRun;

/* The lanes in lockstep: values of the enclosing vector loops. Lane l is number id[l] of `width`. */
typedef struct Lanes {
    int count, var_count;
    int64_t width, capacity;
    int64_t shared;           /* the width outside a parallel loop that runs concurrently, or 0 */
    const Expr *var[MAX_DEPTH];
    int64_t *value;           /* [count][var_count]: the values of the loops */
    int64_t *id;              /* [count]: the numbers of the lanes */
} Lanes;

/* A stage's expressions, entered once. */
typedef struct StageSites {
    int extent[MAX_AXES];
    const Expr *old[MAX_COMPONENTS];       /* the elements accumulated so far */
    /* sites of expressions, as `site` returns them; without a reducer, `combined` is the site of the value */
    int init[MAX_COMPONENTS], combined[MAX_COMPONENTS];
} StageSites;

/* The pending result of one lane of a block. */
typedef struct Result { bool is_active; int64_t at[MAX_AXES]; Scalar value[MAX_COMPONENTS]; } Result;

typedef struct Walk {
    Ctx *cx;
    const Nest *nest;
    Env *env;
    bool checked;
    uint64_t random;          /* 0 for no shuffling and no lockstep */
    /* Maps a Tensor to its WalkStorage, a Stage to its StageSites, a Stmt to its Lanes, and a Stmt to its Window. */
    Map storage, stages, lanes_of, windows;
    Point *point;
    uint64_t era;
    int64_t lane, width;      /* the lane that runs, and the number of lanes */
    Result *result;
    int result_room;
    const Stmt *block;        /* the block that runs, for messages */
    CopyRun *copies;          /* the asynchronous copies of the loops that run */
    const RunOptions *options;
} Walk;

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

static WalkStorage *storage_new(Walk *w, const Tensor *t)
{
    WalkStorage *p = NEW(w->cx->arena, WalkStorage);
    p->tensor = t;
    p->elems = p->slot_count = env_elems(w->cx, w->env, t);
    p->copies = p->windows = 1;
    for (int d = 0; d < t->rank; d++) p->dim[d] = p->slots[d] = env_eval_size(w->cx, w->env, t->shape[d]);
    map_put_ptr(&w->storage, t, p);
    return p;
}

static WalkStorage *storage_given(Walk *w, const Tensor *t)
{
    WalkStorage *p = storage_new(w, t);
    p->data = env_get(w->env, t);
    p->era = 1;
    if (!p->data)
        diag_error(w->cx, w->nest->name, "the input \"%s\" has no data; use a value for each input", t->name);
    return p;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static void fault(Walk *w, const WalkStorage *p, const int64_t *index, const char *does, const char *why)
{
    const char *where = w->block ? text_format(w->cx, "block \"%s\"", w->block->name) : w->nest->name;
    diag_error(w->cx, where, "%s \"%s\" at %s, %s", does, p->tensor->name, index_text(w->cx, p->tensor->rank, index),
               why);
}

/* Returns the copy of the running lane: the number of the copy among the lanes at the time of the Alloc. */
static int64_t copy_of(const Walk *w, const WalkStorage *p)
{
    return p->copy ? p->copy->now : w->lane / (w->width / p->copies);
}

static int64_t window_number(const Walk *w, const WalkStorage *p)
{
    return p->copy ? p->copy->now : w->lane / (w->width / p->windows);
}

static bool is_inside(Walk *w, const WalkStorage *p, const int64_t *index, const char *does)
{
    const int64_t copy = window_number(w, p);
    for (int d = 0; d < p->tensor->rank; d++) {
        if (index[d] < 0 || index[d] >= p->dim[d]) {
            fault(w, p, index, does,
                  text_format(w->cx, "outside its shape %s", index_text(w->cx, p->tensor->rank, p->dim)));
            return false;
        }
        if (p->begin && (index[d] < p->begin[copy][d] || index[d] >= p->end[copy][d])) {
            fault(w, p, index, does, text_format(w->cx, "outside its window [%lld, %lld) in dimension %d",
                                                 (long long)p->begin[copy][d], (long long)p->end[copy][d], d));
            return false;
        }
    }
    return true;
}

typedef struct Spot { int64_t slot, elem; } Spot;

static Spot spot_of(const Walk *w, const WalkStorage *p, const int64_t *index)
{
    Spot s = { 0, 0 };
    for (int d = 0; d < p->tensor->rank; d++) {
        s.elem = s.elem * p->dim[d] + index[d];
        s.slot = s.slot * p->slots[d]
                 + (index[d] - (p->windows > p->copies ? p->begin[window_number(w, p)][d] : 0)) % p->slots[d];
    }
    s.slot += copy_of(w, p) * p->slot_count;
    return s;
}

static WalkStorage *storage_at(Walk *w, const Tensor *t, const int64_t *index, const char *does)
{
    WalkStorage *p = map_get_ptr(&w->storage, t);
    if (!p && t->data) p = storage_given(w, t);
    if (!p || !p->era) {
        WalkStorage nowhere = { .tensor = t };
        fault(w, &nowhere, index, does, "outside the Alloc that holds it");
        return NULL;
    }
    return is_inside(w, p, index, does) ? p : NULL;
}

static bool is_unfinished(const CopyRun *c)
{
    for (int64_t i = 0; i < c->slots; i++)
        if (c->slot[i].is_unfinished) return true;
    return false;
}

/* Returns true if an unfinished copy of results writes the tensor, and does not do so now. */
static bool is_target(const Walk *w, const Tensor *t)
{
    for (const CopyRun *c = w->copies; c; c = c->outer)
        if (c->is_back && c->target == t && !c->is_moving && is_unfinished(c)) return true;
    return false;
}

static Scalar load(Walk *w, const Tensor *t, const int64_t *index, const char *does)
{
    Scalar zero = { 0 };
    const WalkStorage *p = storage_at(w, t, index, does);
    if (!p) return zero;
    Spot s = spot_of(w, p, index);
    if (w->checked && ((p->copy && !p->copy->is_back && p->copy->slot[p->copy->now].is_unfinished) || is_target(w, t)))
        fault(w, p, index, does, "whose copy is unfinished");
    else if (p->slot && p->slot[s.slot].era != p->era) fault(w, p, index, does, "which has not been written");
    else if (p->slot && p->slot[s.slot].elem != s.elem)
        fault(w, p, index, does, "which has been overwritten in its ring");
    return dtype_load(t->type, p->data, s.slot);
}

/* Returns true if an unfinished copy reads the tensor: any of its elements, or those in the present slot. */
static bool is_source(const Walk *w, const Tensor *t)
{
    for (const CopyRun *c = w->copies; c; c = c->outer)
        if (c->source == t && (c->is_back ? c->slot[c->now].is_unfinished : is_unfinished(c))) return true;
    return false;
}

static void store(Walk *w, const Tensor *t, const int64_t *index, Scalar v)
{
    WalkStorage *p = storage_at(w, t, index, "writes");
    if (!p) return;
    Spot s = spot_of(w, p, index);
    if (w->checked && (is_source(w, t) || is_target(w, t)))
        fault(w, p, index, "writes", "while a copy of it is unfinished");
    dtype_store(t->type, p->own, s.slot, v);
    if (p->slot) p->slot[s.slot] = (RingSlot){ p->era, s.elem };
}

static Scalar read_element(void *user, const Tensor *t, const int64_t *index) { return load(user, t, index, "reads"); }

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

static int site(Walk *w, const Expr *e) { return point_site_in(w->point, w->env, e); }

static void storage_output(Walk *w, const Tensor *t)
{
    WalkStorage *p = storage_new(w, t);
    p->own = env_storage(w->env, t);
    if (!p->own) p->own = env_alloc(w->cx, w->env, t);
    p->data = p->own;
    if (w->checked) p->slot = NEW_ARRAY(w->cx->arena, RingSlot, p->elems);
    p->era = ++w->era;
}

static void reserve_copies(Walk *w, WalkStorage *p, int64_t copies, int64_t windows)
{
    p->copies = copies;
    p->windows = windows;
    if (windows <= p->capacity) return;
    p->capacity = windows;
    size_t slots = (size_t)(windows * p->slot_count);
    p->data = p->own = arena_array(w->cx->arena, slots, (size_t)dtype_info(p->tensor->type)->bytes);
    if (!w->checked) return;
    p->slot = NEW_ARRAY(w->cx->arena, RingSlot, slots);
    p->begin = arena_array(w->cx->arena, (size_t)windows, sizeof *p->begin);
    p->end = arena_array(w->cx->arena, (size_t)windows, sizeof *p->end);
}

static WalkStorage *storage_for(Walk *w, const Buffer *b)
{
    WalkStorage *p = map_get_ptr(&w->storage, b->tensor);
    if (!p) p = storage_new(w, b->tensor);
    p->slot_count = 1;
    for (int d = 0; d < b->tensor->rank; d++) {
        p->slots[d] = w->checked && b->ring[d] ? b->ring[d] : p->dim[d];
        p->slot_count *= p->slots[d];
    }
    return p;
}

static void set_lane(Walk *w, const Lanes *l, int lane)
{
    w->lane = l->id[lane];
    w->width = l->width;
    for (int v = 0; v < l->var_count; v++) point_set_int(w->point, l->var[v], l->value[lane * l->var_count + v]);
}

static const Window *window_of(Walk *w, const Stmt *alloc)
{
    Window *known = map_get_ptr(&w->windows, alloc);
    if (known) return known;
    const char *why = NULL;
    known = NEW(w->cx->arena, Window);
    DiagMark mark = diag_mark(w->cx);
    if (!alloc_window(w->cx, w->nest, alloc, known, &why)) *known = (Window){ { NULL }, { NULL } };
    diag_rewind(w->cx, mark);
    map_put_ptr(&w->windows, alloc, known);
    return known;
}

/* Sets the window of each lane. A dimension without a window uses the whole tensor. */
static void set_windows(Walk *w, const Stmt *alloc, WalkStorage *p, const Lanes *l)
{
    const Window *window = window_of(w, alloc);
    for (int lane = 0; lane < l->count; lane++) {
        set_lane(w, l, lane);
        for (int d = 0; d < p->tensor->rank; d++) {
            bool known = window->begin[d] && window->extent[d];
            int64_t begin = known ? point_value(w->point, site(w, window->begin[d])).i : 0;
            p->begin[l->id[lane]][d] = begin;
            p->end[l->id[lane]][d] = known ? begin + point_value(w->point, site(w, window->extent[d])).i : p->dim[d];
        }
    }
}

/* Sets window number `at` for the present values of the loops. */
static void set_window_of(Walk *w, const Stmt *alloc, WalkStorage *p, int64_t at)
{
    const Window *window = window_of(w, alloc);
    for (int d = 0; d < p->tensor->rank; d++) {
        const bool known = window->begin[d] && window->extent[d];
        p->begin[at][d] = known ? point_value(w->point, site(w, window->begin[d])).i : 0;
        p->end[at][d] = known ? p->begin[at][d] + point_value(w->point, site(w, window->extent[d])).i : p->dim[d];
    }
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static const StageSites *sites_of(Walk *w, const Stage *s)
{
    StageSites *known = map_get_ptr(&w->stages, s);
    if (known) return known;
    StageSites *t = NEW(w->cx->arena, StageSites);
    const Expr *combined[MAX_COMPONENTS] = { NULL };
    for (int a = 0; a < s->axis_count; a++) t->extent[a] = site(w, s->axis[a].extent);
    for (int i = 0; i < s->out_count; i++) {
        combined[i] = s->value[i];
        if (s->init) t->old[i] = expr_new_var(w->cx, "old", VAR_LOCAL, s->out[i]->type, 0, 0);
    }
    if (s->init) stage_combine(w->cx, s, t->old, s->value, combined);
    for (int i = 0; i < s->out_count; i++) {
        t->combined[i] = site(w, nest_contracted(w->cx, w->nest, s, combined[i]));
        if (s->init) t->init[i] = site(w, s->init[i]);
    }
    map_put_ptr(&w->stages, s, t);
    return t;
}

static void bind_axes(Walk *w, const Stmt *block, const StageSites *sites, Result *r)
{
    const Stage *s = block->stage;
    for (int a = 0; a < s->axis_count; a++)
        r->at[a] = block->bind[a] ? point_value(w->point, site(w, block->bind[a])).i : 0;
    for (int a = 0; a < s->axis_count; a++) {
        int64_t extent = point_value(w->point, sites->extent[a]).i;
        const char *axis = expr_as_var(s->axis[a].var)->name;
        point_set_int(w->point, s->axis[a].var, r->at[a]);
        if (w->checked && block->bind[a] && (r->at[a] < 0 || r->at[a] >= extent))
            diag_error(w->cx, text_format(w->cx, "block \"%s\"", block->name),
                       "the axis %s is bound to %lld, outside [0, %lld)", axis, (long long)r->at[a], (long long)extent);
    }
}

static bool is_first(const Stage *s, const Result *r)
{
    for (int a = s->data_count; a < s->axis_count; a++)
        if (r->at[a] != 0) return false;
    return true;
}

static void compute(Walk *w, const Stmt *block, Result *r)
{
    const Stage *s = block->stage;
    r->is_active = !block->cond || point_value(w->point, site(w, block->cond)).i;
    if (!r->is_active) return;
    const StageSites *sites = sites_of(w, s);
    bind_axes(w, block, sites, r);
    const bool starts = block->part == BLOCK_INIT || (block->part == BLOCK_WHOLE && is_first(s, r));
    const bool combines = s->init && block->part != BLOCK_INIT;
    Scalar old[MAX_COMPONENTS];
    for (int i = 0; i < s->out_count && s->init; i++)
        old[i] = starts ? point_value(w->point, sites->init[i]) : load(w, s->out[i], r->at, "combines into");
    for (int i = 0; i < s->out_count && combines; i++) point_set(w->point, sites->old[i], old[i]);
    for (int i = 0; i < s->out_count; i++)
        r->value[i] = s->init && !combines ? old[i] : point_value(w->point, sites->combined[i]);
}

static void run_block(Walk *w, const Stmt *block, const Lanes *l)
{
    w->block = block;
    if (l->count > w->result_room) w->result = NEW_ARRAY(w->cx->arena, Result, w->result_room = 2 * l->count);
    for (int lane = 0; lane < l->count; lane++) {
        set_lane(w, l, lane);
        point_invalidate(w->point);
        compute(w, block, &w->result[lane]);
    }
    for (int lane = 0; lane < l->count; lane++) {
        const Result *r = &w->result[lane];
        set_lane(w, l, lane);
        if (r->is_active && w->options->visit) w->options->visit(w->options->user, block, r->at);
        for (int i = 0; i < block->stage->out_count && r->is_active; i++)
            store(w, block->stage->out[i], r->at, r->value[i]);
    }
    w->block = NULL;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static uint64_t next_random(Walk *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* The order of a loop: iteration i runs the loop at (factor * i + start) mod n. */
typedef struct WalkOrder { int64_t factor, start; } WalkOrder;

static WalkOrder order_of(Walk *w, const Stmt *loop, int64_t n)
{
    WalkOrder o = { 1, 0 };
    if (!w->random || loop->loop_kind != LOOP_PARALLEL || n < 2) return o;
    do o.factor = 1 + (int64_t)(next_random(w) % (uint64_t)n);
    while (common_divisor((uint64_t)o.factor, (uint64_t)n) != 1);
    o.start = (int64_t)(next_random(w) % (uint64_t)n);
    return o;
}

/* Returns the lanes of a statement, none of which is active yet. The lanes are cached, because no statement runs inside
 * itself. */
static Lanes *lanes_at(Walk *w, const Stmt *s, const Lanes *outer, int64_t capacity)
{
    Lanes *l = map_get_ptr(&w->lanes_of, s);
    if (!l) map_put_ptr(&w->lanes_of, s, l = NEW(w->cx->arena, Lanes));
    if (l->capacity < capacity) {
        l->capacity = capacity;
        l->value = NEW_ARRAY(w->cx->arena, int64_t, capacity * (outer->var_count + 1));
        l->id = NEW_ARRAY(w->cx->arena, int64_t, capacity);
    }
    l->count = 0;
    l->width = outer->width;
    l->shared = outer->shared;
    l->var_count = outer->var_count;
    memcpy(l->var, outer->var, sizeof l->var);
    return l;
}

static void add_lane(Lanes *to, const Lanes *from, int lane, int64_t id)
{
    int64_t *value = to->value + to->count * to->var_count;
    for (int v = 0; v < from->var_count; v++) value[v] = from->value[lane * from->var_count + v];
    to->id[to->count++] = id;
}

static int64_t extent_in(Walk *w, const Stmt *loop, const Lanes *l, int lane)
{
    set_lane(w, l, lane);
    return point_value(w->point, site(w, loop->extent)).i;
}

static int64_t longest(Walk *w, const Stmt *loop, const Lanes *l)
{
    int64_t most = 0;
    for (int lane = 0; lane < l->count; lane++) {
        int64_t extent = extent_in(w, loop, l, lane);
        if (extent > most) most = extent;
    }
    return most;
}

static void run(Walk *w, const Stmt *s, const Lanes *l);

/* ---- Asynchronous copies --------------------------------------------------------------------------------------- */

static void find_source(const Expr *e, void *user)
{
    if (e->kind == EXPR_READ) *(const Tensor **)user = e->ref;
}

static const Tensor *source_of(Walk *w, const Stmt *start)
{
    const Tensor *source = NULL;
    const Stmt *block = start->child[0];
    while (block->kind == STMT_FOR) block = block->child[0];
    expr_walk(w->cx, block->stage->value[0], find_source, &source);
    return source;
}

/* Prepares a copy of the loop, or returns NULL for a buffer without slots. */
static CopyRun *open_copy(Walk *w, const Stmt *loop, const Stmt *alloc, int64_t iterations)
{
    bool is_back = false;
    const Stmt *start = alloc->buffer->slots ? start_of(w->cx, alloc->child[0], alloc->buffer->tensor, &is_back) : NULL;
    if (!start) return NULL;
    CopyRun *c = NEW(w->cx->arena, CopyRun);
    *c = (CopyRun){ .loop = loop, .start = start, .alloc = alloc, .buffer = storage_for(w, alloc->buffer),
                    .source = source_of(w, start), .target = start_block(start)->stage->out[0], .is_back = is_back,
                    .iterations = iterations, .newest = -1, .slots = alloc->buffer->slots, .outer = w->copies };
    c->slot = NEW_ARRAY(w->cx->arena, CopySlot, c->slots);
    for (int64_t i = 0; i < c->slots; i++) c->slot[i].iteration = -1;
    reserve_copies(w, c->buffer, c->slots, c->slots);
    c->buffer->copy = c;
    return w->copies = c;
}

static void use_iteration(Walk *w, CopyRun *c, int64_t iteration)
{
    c->now = iteration % c->slots;
    c->buffer->era = c->is_back && !c->is_moving ? c->slot[c->now].now : c->slot[c->now].era;
    point_set_int(w->point, c->loop->var, iteration);
    point_invalidate(w->point);
}

static void use_all(Walk *w, const Stmt *loop, int64_t iteration)
{
    for (CopyRun *c = w->copies; c && c->loop == loop; c = c->outer) use_iteration(w, c, iteration);
}

/* Uses the iteration of the copy, and the window that its slot has in it. */
static void use_window(Walk *w, CopyRun *c, int64_t iteration)
{
    use_all(w, c->loop, iteration);
    if (w->checked) set_window_of(w, c->alloc, c->buffer, c->now);
}

static void move_elements(Walk *w, CopyRun *c, CopySlot *s, const Lanes *l)
{
    if (s->is_moved) return;
    s->is_moved = true;
    const bool was_unfinished = s->is_unfinished;
    c->is_moving = true;
    if (c->is_back) use_window(w, c, s->iteration);
    else use_all(w, c->loop, s->iteration);
    run(w, c->start->child[0], l);
    c->is_moving = false;
    s->is_unfinished = was_unfinished;
    if (c->is_back) use_window(w, c, c->at);
    else use_all(w, c->loop, c->at);
}

/* Starts the copy of an iteration, if the loop has it. */
static void start_copy(Walk *w, CopyRun *c, int64_t iteration, const Lanes *l)
{
    c->newest = iteration;
    if (iteration >= c->iterations) return;
    CopySlot *s = &c->slot[iteration % c->slots];
    const bool is_early = w->random ? next_random(w) % 2 : w->options->copies == COPIES_AT_START;
    *s = (CopySlot){ iteration, c->is_back ? s->now : ++w->era, s->now, true, false };
    if (!c->is_back) use_window(w, c, iteration);
    use_all(w, c->loop, c->at);
    if (is_early) move_elements(w, c, s, l);
}

/* Lets each buffer of results in the loop begin anew, in the slot of the iteration. */
static void open_results(Walk *w, const Stmt *loop, int64_t iteration)
{
    for (CopyRun *c = w->copies; c && c->loop == loop; c = c->outer) {
        if (!c->is_back) continue;
        c->slot[iteration % c->slots].now = ++w->era;
        use_window(w, c, iteration);
    }
}

static CopyRun *copy_called(const Walk *w, const char *wanted)
{
    CopyRun *c = w->copies;
    while (c && !text_equal(c->start->name, wanted)) c = c->outer;
    return c;
}

/* Finishes the copies of the iterations up to `last`. */
static void finish_to(Walk *w, CopyRun *c, int64_t last, const Lanes *l)
{
    for (int64_t i = last - c->slots + 1; i <= last; i++) {
        CopySlot *s = i < 0 ? NULL : &c->slot[i % c->slots];
        if (!s || s->iteration != i) continue;
        move_elements(w, c, s, l);
        s->is_unfinished = false;
    }
    use_all(w, c->loop, c->at);
}

static void wait_for(Walk *w, const Stmt *wait, const Lanes *l)
{
    CopyRun *c = copy_called(w, wait->name);
    if (c) finish_to(w, c, c->newest - wait->copy->pending, l);
}

/* Opens the copies of the loop and starts those of its first iterations. Returns the copies outside. */
static void open_copies(Walk *w, const Stmt *loop, int64_t iterations, const Lanes *l)
{
    for (const Stmt *a = loop->child[0]; a->kind == STMT_ALLOC; a = a->child[0]) open_copy(w, loop, a, iterations);
    for (CopyRun *c = w->copies; c && c->loop == loop; c = c->outer)
        for (int64_t i = 0; i < c->start->copy->ahead; i++) start_copy(w, c, i, l);
}

/* Finishes the copies of results, and closes all copies of the loop. */
static void close_copies(Walk *w, CopyRun *outside, const Lanes *l)
{
    for (CopyRun *c = w->copies; c != outside; c = c->outer)
        if (c->is_back) finish_to(w, c, c->newest, l);
    for (; w->copies != outside; w->copies = w->copies->outer) {
        w->copies->buffer->era = 0;
        w->copies->buffer->copy = NULL;
    }
}

/* Runs a loop for all lanes. Lanes with a shorter extent are inactive in the last iterations. */
static void run_loop(Walk *w, const Stmt *loop, const Lanes *l)
{
    int64_t n = longest(w, loop, l);
    WalkOrder o = order_of(w, loop, n);
    Lanes *some = l->count > 1 ? lanes_at(w, loop, l, l->count) : NULL;
    CopyRun *outside = w->copies;
    if (!some && l->width == 1 && loop->loop_kind == LOOP_SERIAL) open_copies(w, loop, n, l);
    for (int64_t i = 0; i < n && !ctx_failed(w->cx); i++) {
        int64_t at = (o.factor * i + o.start) % n;
        if (some) some->count = 0;
        for (int lane = 0; lane < l->count && some; lane++)
            if (at < extent_in(w, loop, l, lane)) add_lane(some, l, lane, l->id[lane]);
        point_set_int(w->point, loop->var, at);
        for (CopyRun *c = w->copies; c != outside; c = c->outer) c->at = at;
        use_all(w, loop, at);
        open_results(w, loop, at);
        run(w, loop->child[0], some ? some : l);
    }
    close_copies(w, outside, l);
}

static void run_lockstep(Walk *w, const Stmt *loop, const Lanes *l)
{
    int64_t n = longest(w, loop, l);
    if (n <= 0 || l->var_count == MAX_DEPTH) return;
    Lanes *all = lanes_at(w, loop, l, n * l->count);
    all->var[all->var_count++] = loop->var;
    all->width = l->width * n;
    if (loop->loop_kind == LOOP_PARALLEL && !all->shared) all->shared = l->width;
    for (int lane = 0; lane < l->count; lane++) {
        int64_t extent = extent_in(w, loop, l, lane);
        for (int64_t i = 0; i < extent; i++) {
            all->value[all->count * all->var_count + l->var_count] = i;
            add_lane(all, l, lane, l->id[lane] * n + i);
        }
    }
    run(w, loop->child[0], all);
}

/* Returns true for the loops that a compiler may run as lanes: vector loops, and loops with independent iterations. */
static bool is_in_lockstep(Walk *w, const Stmt *loop)
{
    const LoopHints *h = expr_as_var(loop->var)->hints;
    if (!w->random) return false;
    if (loop->loop_kind == LOOP_PARALLEL && next_random(w) % 2) return true;
    return loop->loop_kind == LOOP_VECTOR || (h && h->pragma.kind > PRAGMA_UNROLL);
}

static void run_alloc(Walk *w, const Stmt *alloc, const Lanes *l)
{
    const WalkStorage *known = map_get_ptr(&w->storage, alloc->buffer->tensor);
    if (known && known->copy) {
        run(w, alloc->child[0], l);
        return;
    }
    WalkStorage *p = storage_for(w, alloc->buffer);
    bool own = !w->checked || alloc->buffer->scope->kind == SCOPE_STACK
        || alloc->buffer->scope->kind == SCOPE_REGISTER;
    reserve_copies(w, p, own || !l->shared ? l->width : l->shared, l->width);
    p->era = ++w->era;
    if (w->checked) set_windows(w, alloc, p, l);
    run(w, alloc->child[0], l);
    p->era = 0;
}

static void run(Walk *w, const Stmt *s, const Lanes *l)
{
    if (!l->count || ctx_failed(w->cx)) return;
    switch (s->kind) {
    case STMT_SEQ:
        for (int i = 0; i < s->child_count; i++) run(w, s->child[i], l);
        break;
    case STMT_FOR:
        if (is_in_lockstep(w, s)) run_lockstep(w, s, l);
        else run_loop(w, s, l);
        break;
    case STMT_IF: {
        w->lane = 0;                 /* the condition is the same for all lanes */
        w->width = l->width;
        int side = point_value(w->point, site(w, s->cond)).i ? 0 : 1;
        if (side < s->child_count) run(w, s->child[side], l);
        break;
    }
    case STMT_ALLOC: run_alloc(w, s, l); break;
    case STMT_BLOCK: run_block(w, s, l); break;
    case STMT_TILE:  run(w, s->child[0], l); break;
    case STMT_START: {
        CopyRun *c = copy_called(w, s->name);
        if (c && c->start == s) start_copy(w, c, c->at + s->copy->ahead, l);
        else run(w, s->child[0], l);
        break;
    }
    case STMT_WAIT:  wait_for(w, s, l); break;
    }
}

static void check_all_written(Walk *w, const Tensor *t)
{
    const WalkStorage *p = map_get_ptr(&w->storage, t);
    int64_t index[MAX_RANK];
    for (int64_t i = 0; p->slot && i < p->elems; i++) {
        if (p->slot[i].era == p->era) continue;
        int64_t rest = i;
        for (int d = t->rank - 1; d >= 0; d--) {
            index[d] = rest % p->dim[d];
            rest /= p->dim[d];
        }
        fault(w, p, index, "never writes", "an element of an output");
        return;
    }
}

bool walk_nest(Ctx *cx, const Nest *n, Env *e, const RunOptions *options)
{
    Map none = map_new(cx->arena);
    Walk w = { .cx = cx,
               .options = options,
               .nest = n,
               .env = e,
               .checked = options->checked,
               .random = options->shuffle,
               .storage = none,
               .stages = none,
               .lanes_of = none,
               .windows = none,
               .era = 1 };
    w.point = point_new(cx, read_element, &w);
    for (int i = 0; i < n->input_count; i++) storage_given(&w, n->input[i]);
    for (int i = 0; i < n->output_count; i++) storage_output(&w, n->output[i]);
    int64_t id = 0;
    const Lanes one = { .count = 1, .width = 1, .id = &id };
    if (!ctx_failed(cx) && n->root) run(&w, n->root, &one);
    for (int i = 0; i < n->output_count && !ctx_failed(cx); i++) check_all_written(&w, n->output[i]);
    return !ctx_failed(cx);
}
