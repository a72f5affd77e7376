/* SPDX-License-Identifier: MIT */
/* Moving a stage. At a host loop a stage gets *box loops* over the box that the reads under the host loop require. Per
 * dimension the box is the hull of the intervals that these reads reach while everything inside the host loop runs,
 *
 *   begin = least low,   count = greatest high - begin + 1,   bind = begin + own loop,
 *
 * cut to the domain. A begin that may be negative is clamped to 0, which may compute a few extra points. A box that
 * may exceed the domain's end is guarded. Clamping rather than guarding at 0 keeps `bind` dense from the first
 * iteration on. */
#include "schedule/draft/attach.h"

#include <string.h>

#include "support/names.h"

/* ---- The needed box ---------------------------------------------------------------------------------------------- */

StageBox whole_box(const Stage *s)
{
    StageBox box = { { NULL }, { NULL }, { false } };
    for (int a = 0; a < s->data_count; a++) box.count[a] = s->axis[a].extent;
    return box;
}

typedef struct Need {
    Ctx *cx;
    const Stage *stage;
    const Expr *host;                /* the variable of the host loop */
    const Stmt *block;               /* the current consumer */
    const Bounds *scope;
    const Expr *low[MAX_RANK], *high[MAX_RANK];
    bool whole[MAX_RANK];            /* true if the dimension has no interval, so that all of it is needed */
} Need;

static int vars_inside(const Bounds *scope, const Expr *host, const Expr **out)
{
    int n = 0;
    for (const Bounds *b = scope; b && b->var != host; b = b->outer)
        if (b->var && n < MAX_DEPTH) out[n++] = b->var;
    return n;
}

/* Returns the scope of the host loop itself, in which box ends are compared. */
static const Bounds *host_scope(const Bounds *scope, const Expr *host)
{
    while (scope && scope->var != host) scope = scope->outer;
    return scope;
}

static const Expr *pick(Ctx *cx, ExprKind kind, const Expr *a, const Expr *b, const Bounds *scope)
{
    if (!a || a == b) return b;
    if (provably(cx, expr_binary(cx, EXPR_LE, a, b), scope)) return kind == EXPR_MIN ? a : b;
    if (provably(cx, expr_binary(cx, EXPR_LE, b, a), scope)) return kind == EXPR_MIN ? b : a;
    return expr_binary(cx, kind, a, b);
}

static void visit_read(const Expr *e, void *user)
{
    Need *n = user;
    if (e->kind != EXPR_READ || !stage_produces(n->stage, e->ref)) return;
    const Expr *inner[MAX_DEPTH];
    int inner_count = vars_inside(n->scope, n->host, inner);
    const Bounds *outside = host_scope(n->scope, n->host);
    for (int i = 0; i < e->arg_count; i++) {
        Reach r;
        const char *why;
        const Expr *index = simplify(n->cx, block_in_loops(n->cx, n->block, e->arg[i]), n->scope);
        if (n->whole[i] || !reach(n->cx, index, n->scope, inner, inner_count, &r, &why)) {
            n->whole[i] = true;
            continue;
        }
        n->low[i] = pick(n->cx, EXPR_MIN, n->low[i], simplify(n->cx, r.low, outside), outside);
        n->high[i] = pick(n->cx, EXPR_MAX, n->high[i], simplify(n->cx, r.high, outside), outside);
    }
}

static void visit_reader(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Need *n = user;
    n->block = block;
    n->scope = scope;            /* without the guard, which would make the box's size depend on the host loops */
    const Stage *s = block->stage;
    for (int i = 0; i < s->out_count; i++) {
        if (block->part != BLOCK_INIT) expr_walk(cx, s->value[i], visit_read, n);
        if (s->init && block->part != BLOCK_UPDATE) expr_walk(cx, s->init[i], visit_read, n);
    }
}

static bool is_over_sizes(const Expr *e)
{
    const Var *v = expr_as_var(e);
    if (v) return v->role == VAR_SIZE;
    for (int i = 0; i < e->arg_count; i++)
        if (!is_over_sizes(e->arg[i])) return false;
    return true;
}

int64_t greatest_of(Ctx *cx, const Expr *number, const Bounds *scope)
{
    const Expr *loop[MAX_DEPTH], *e = simplify(cx, number, scope);
    Reach r;
    const char *why;
    const int64_t most = interval_of(cx, e, scope).greatest;
    if (!reach(cx, e, scope, loop, vars_inside(scope, NULL, loop), &r, &why)) return most;
    const int64_t end = interval_of(cx, r.high, NULL).greatest;
    return end < most ? end : most;
}

/* Returns an upper bound of the number of points, over sizes only, or NULL. */
static const Expr *most_of(Ctx *cx, const Expr *count, const Bounds *scope)
{
    if (is_over_sizes(count)) return count;
    const Expr *loop[MAX_DEPTH];
    Reach r;
    const char *why;
    if (!reach(cx, count, scope, loop, vars_inside(scope, NULL, loop), &r, &why)) return NULL;
    const Expr *most = simplify(cx, r.high, NULL);
    if (is_over_sizes(most)) return most;
    Interval range = interval_of(cx, count, scope);
    return range.greatest < 0 || range.greatest > INT32_MAX ? NULL : expr_index(cx, range.greatest);
}

/* Sets axis a of the box from its ends. The count must not depend on loops, but it may be rounded up. */
static void cut_to_domain(Ctx *cx, StageBox *box, int a, const Expr *low, const Expr *high, const Expr *extent,
                          const Bounds *scope)
{
    const Expr *zero = expr_index(cx, 0);
    const Expr *count = simplify(cx, expr_add(cx, expr_sub(cx, high, low), expr_index(cx, 1)), scope);
    count = most_of(cx, count, scope);
    /* Leaves the box at the whole axis. */
    if (!count || provably(cx, expr_binary(cx, EXPR_LE, extent, count), scope)) return;
    if (!provably(cx, expr_binary(cx, EXPR_LE, zero, low), scope))
        low = simplify(cx, expr_binary(cx, EXPR_MAX, low, zero), scope);
    box->begin[a] = expr_is_int(low, 0) ? NULL : low;
    box->count[a] = count;
    box->cut[a] = !provably(cx, expr_binary(cx, EXPR_LE, expr_add(cx, low, count), extent), scope);
}

StageBox needed_box(Ctx *cx, const Stage *s, const Path *host)
{
    StageBox box = whole_box(s);
    const Stmt *loop = path_end(host);
    const Bounds *scope = path_bounds(cx, host);
    Need n = { .cx = cx, .stage = s, .host = loop->var };
    each_block(cx, loop->child[0], scope, visit_reader, &n);
    for (int a = 0; a < s->data_count; a++)
        if (!n.whole[a] && n.low[a]) cut_to_domain(cx, &box, a, n.low[a], n.high[a], s->axis[a].extent, scope);
    return box;
}

bool needed_range(Ctx *cx, const Stage *s, const Path *host, int dimension, const Expr **low, const Expr **high)
{
    const Stmt *loop = path_end(host);
    Need n = { .cx = cx, .stage = s, .host = loop->var };
    each_block(cx, loop->child[0], path_bounds(cx, host), visit_reader, &n);
    *low = n.low[dimension];
    *high = n.high[dimension];
    return *low && !n.whole[dimension];
}

/* ---- Building -------------------------------------------------------------------------------------------------- */

typedef struct OwnLoop { const char *name; const Expr *var, *extent; } OwnLoop;

static OwnLoop own_loop(Ctx *cx, const Stage *s, int a, const Expr *extent)
{
    const char *full = name_format(cx, "%s.%s", s->name, expr_as_var(s->axis[a].var)->name);
    return (OwnLoop){ full, loop_var_new(cx, full, extent), extent };
}

/* Returns the nest of a stage for a box: one whole block inside reduce loops, which are inside data loops. The loops
 * have the names STAGE.AXIS. `drop_single` drops loops of extent 1. */
static const Stmt *build_stage(Ctx *cx, const Stage *s, const StageBox *box, bool drop_single)
{
    OwnLoop loop[MAX_AXES];
    const Expr *bind[MAX_AXES] = { NULL }, *from[MAX_AXES], *guard = NULL;
    int loops = 0;
    for (int a = 0; a < s->axis_count; a++) {
        bool is_data = a < s->data_count;
        from[a] = s->axis[a].var;
        const Expr *extent = is_data ? box->count[a] : expr_substitute(cx, s->axis[a].extent, from, bind, a);
        const Expr *own = expr_index(cx, 0);
        if (!(drop_single && expr_is_int(extent, 1))) {
            loop[loops] = own_loop(cx, s, a, extent);
            own = loop[loops++].var;
        }
        const Expr *begin = is_data ? box->begin[a] : NULL;
        bind[a] = !begin ? own : expr_is_int(own, 0) ? begin : expr_add(cx, begin, own);
        if (is_data && box->cut[a]) guard = conjoin(cx, guard, expr_binary(cx, EXPR_LT, bind[a], s->axis[a].extent));
    }
    const Stmt *body = stmt_block(cx, s->name, s, BLOCK_WHOLE, bind, guard);
    while (loops--) body = stmt_for(cx, loop[loops].name, loop[loops].var, loop[loops].extent, LOOP_SERIAL, body);
    return body;
}

/* ---- Taking out, putting in ------------------------------------------------------------------------------------ */

static const Stmt *drop_blocks(Ctx *cx, const Stmt *s, void *user)
{
    const Stage *const *stage = user;
    (void)cx;
    if (s->kind == STMT_BLOCK && s->stage == *stage) return NULL;
    return s->kind == STMT_SEQ && s->child_count == 0 ? NULL : s;
}

const Stmt *without_stage(Ctx *cx, const Stmt *s, const Stage *stage)
{
    return stmt_rewrite(cx, s, drop_blocks, &stage);
}

typedef struct Unalloc { const Stage *stage; const Buffer **found; } Unalloc;

static const Stmt *drop_alloc(Ctx *cx, const Stmt *s, void *user)
{
    Unalloc *u = user;
    (void)cx;
    if (s->kind != STMT_ALLOC) return s;
    for (int i = 0; i < u->stage->out_count; i++)
        if (s->buffer->tensor == u->stage->out[i]) {
            if (u->found && !u->found[i]) u->found[i] = s->buffer;
            return s->child[0];
        }
    return s;
}

const Stmt *without_allocs(Ctx *cx, const Stmt *s, const Stage *stage, const Buffer **found)
{
    Unalloc u = { stage, found };
    return stmt_rewrite(cx, s, drop_alloc, &u);
}

static bool reads_below(Ctx *cx, const Stmt *s, const Stage *stage)
{
    if (s->kind == STMT_BLOCK) return block_reads(cx, s, stage);
    for (int i = 0; i < s->child_count; i++)
        if (reads_below(cx, s->child[i], stage)) return true;
    return false;
}

const Stmt *with_nest(Ctx *cx, const Stmt *body, const Stage *stage, const Stmt *nest)
{
    if (body->kind == STMT_ALLOC) {
        const Stmt *inside = with_nest(cx, body->child[0], stage, nest);
        return stmt_with_children(cx, body, &inside, 1);
    }
    int count = body->kind == STMT_SEQ ? body->child_count : 1, n = 0;
    const Stmt *const *old = body->kind == STMT_SEQ ? body->child : &body;
    const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, count + 1);
    bool placed = false;
    for (int i = 0; i < count; i++) {
        if (!placed && reads_below(cx, old[i], stage)) {
            child[n++] = nest;
            placed = true;
        }
        child[n++] = old[i];
    }
    if (!placed) child[n++] = nest;
    return stmt_seq(cx, child, n);
}

const Stmt *with_allocs(Ctx *cx, const Stmt *body, const Stage *stage, const Buffer *const *buffer)
{
    for (int i = stage->out_count - 1; i >= 0; i--)
        if (buffer[i]) body = stmt_alloc(cx, buffer[i], body);
    return body;
}

const Buffer *buffer_new(Ctx *cx, const Tensor *t, const Scope *scope)
{
    Buffer *b = NEW(cx->arena, Buffer);
    *b = (Buffer){ .tensor = t, .scope = scope };
    for (int d = 0; d < MAX_RANK; d++) b->permutation[d] = d;
    return b;
}

static bool has_alloc(const Stmt *s, const Tensor *t)
{
    if (!s) return false;
    bool found = s->kind == STMT_ALLOC && s->buffer->tensor == t;
    for (int i = 0; i < s->child_count && !found; i++) found = has_alloc(s->child[i], t);
    return found;
}

/* Removes the blocks of the stage and, if requested, its allocs. An alloc that encloses nothing else is removed with
 * the stage, and must also be restored. */
void take_stage(Draft *d, const Stage *s, bool with_its_allocs, const Buffer **buffer)
{
    Nest *n = &d->next;
    const Stmt *bare = without_allocs(d->cx, n->root, s, buffer);
    n->root = without_stage(d->cx, with_its_allocs ? bare : n->root, s);
    for (int i = 0; i < s->out_count; i++)
        if (has_alloc(n->root, s->out[i])) buffer[i] = NULL;
}

/* ---- Hosts ------------------------------------------------------------------------------------------------------- */

static bool is_statement_of(const Stmt *s, const Stage *stage, StmtKind kind)
{
    return s->kind == kind && (kind == STMT_BLOCK ? s->stage == stage : stage_produces(stage, s->buffer->tensor));
}

/* Finds the innermost loop that is not the stage's own around its first block or alloc. Returns false if there is no
 * such loop. */
static bool find_host(const Stmt *s, const Stage *stage, StmtKind kind, const char *host, const char **out)
{
    if (is_statement_of(s, stage, kind)) {
        *out = host;
        return true;
    }
    if (s->kind == STMT_FOR && !loop_is_own(s, stage)) host = s->name;
    for (int i = 0; i < s->child_count; i++)
        if (find_host(s->child[i], stage, kind, host, out)) return true;
    return false;
}

const char *host_of(const Nest *n, const Stage *s)
{
    const char *host = NULL;
    find_host(n->root, s, STMT_BLOCK, NULL, &host);
    return host;
}

const char *alloc_host_of(const Nest *n, const Stage *s)
{
    const char *host = NULL;
    find_host(n->root, s, STMT_ALLOC, NULL, &host);
    return host;
}

typedef struct Inside { Draft *d; const Stage *stage; const Stmt *loop; bool fine; } Inside;

static void visit_inside(Ctx *cx, const Stmt *block, const Bounds *scope, void *user)
{
    Inside *in = user;
    (void)cx;
    (void)scope;
    if (in->fine && block->stage != in->stage)
        in->fine =
            refuse_unproved(in->d, FAULT_NESTING,
                            text_format(in->d->cx, "%s attached first, and %s in its loops afterwards", in->stage->name,
                                        block->stage->name),
                            "%s is computed inside %s, a loop that the step replaces", block->name, in->loop->name);
}

static void visit_loops_of(Inside *in, const Stmt *s)
{
    if (s->kind == STMT_FOR && loop_is_own(s, in->stage)) {
        in->loop = s;
        each_block(in->d->cx, s, NULL, visit_inside, in);
        return;
    }
    for (int i = 0; i < s->child_count && in->fine; i++) visit_loops_of(in, s->child[i]);
}

bool nothing_inside(Draft *d, const Stage *s)
{
    Inside in = { d, s, NULL, true };
    visit_loops_of(&in, d->next.root);
    return in.fine;
}

/* Returns true if the loop of that name encloses the last statement of the path. A loop of NULL is the root. */
static bool encloses(const char *loop, const Path *p)
{
    if (!loop) return true;
    for (int i = 0; i < p->depth; i++)
        if (p->at[i]->kind == STMT_FOR && p->at[i]->name == loop) return true;
    return false;
}

bool producers_are_done(Draft *d, const Stage *s, const Path *position)
{
    const Tensor **reads;
    int count = stage_reads(d->cx, s, &reads);
    for (int i = 0; i < count; i++) {
        const Stage *m = producer_of(&d->next, reads[i]);
        const char *host = m ? host_of(&d->next, m) : NULL, *stored = host ? alloc_host_of(&d->next, m) : NULL;
        /* If the values outlive the host, the checker proves the order. */
        bool outlives = host && (position ? encloses(stored, position) : !stored);
        if (host && !outlives && !(position && encloses(host, position)))
            return refuse_wrong(d, FAULT_ORDER,
                                text_format(d->cx, "a position inside %s, or %s moved first", host, m->name),
                                "%s reads %s, which is computed inside %s only", s->name, m->name, host);
    }
    return true;
}

typedef struct Once { Draft *d; const Stage *stage; const char *host; bool fine; } Once;

static void check_once(Once *o, const Stmt *s, bool is_inside)
{
    if (s->kind == STMT_FOR && s->name == o->host) is_inside = true;
    if (s->kind == STMT_BLOCK && s->stage == o->stage && !is_inside && o->fine)
        o->fine = refuse_unproved(o->d, FAULT_PIECES, "one piece: take this step before peel",
                                  "%s is outside %s, so %s is in several pieces", s->name, o->host,
                                  o->stage->name);
    for (int i = 0; i < s->child_count; i++) check_once(o, s->child[i], is_inside);
}

bool all_blocks_inside(Draft *d, const Stage *s, const char *host)
{
    Once o = { .d = d, .stage = s, .host = host, .fine = true };
    if (host) check_once(&o, d->next.root, false);
    return o.fine;
}

static const char *own_loop_names(Ctx *cx, const Stage *s, const Stmt *nest)
{
    const char *list = NULL;
    for (; nest->kind == STMT_FOR; nest = nest->child[0])
        list = list ? name_format(cx, "%s, %s", list, nest->name) : nest->name;
    return list ? list : name_format(cx, "no loop, %s has one point there", s->name);
}

bool put_stage(Draft *d, const Stage *s, const char *loop, const Buffer *const *buffer)
{
    Ctx *cx = d->cx;
    Nest *n = &d->next;
    if (!loop) {
        StageBox box = whole_box(s);
        const Stmt *nest = build_stage(cx, s, &box, false);
        n->root = with_allocs(cx, n->root ? with_nest(cx, n->root, s, nest) : nest, s, buffer);
        d->successors = own_loop_names(cx, s, nest);
        return true;
    }
    Path p;
    if (!nest_find_loop(n, loop, &p))
        return refuse_invalid(d, FAULT_NAME, "a loop of the nest", "there is no loop %s", loop);
    StageBox box = needed_box(cx, s, &p);
    return put_stage_box(d, s, loop, &box, buffer);
}

bool put_stage_box(Draft *d, const Stage *s, const char *loop, const StageBox *box, const Buffer *const *buffer)
{
    Ctx *cx = d->cx;
    Nest *n = &d->next;
    Path p;
    if (!nest_find_loop(n, loop, &p))
        return refuse_invalid(d, FAULT_NAME, "a loop of the nest", "there is no loop %s", loop);
    const Stmt *nest = build_stage(cx, s, box, true);
    const Stmt *body = with_allocs(cx, with_nest(cx, path_end(&p)->child[0], s, nest), s, buffer);
    n->root = path_replace(cx, &p, stmt_with_children(cx, path_end(&p), &body, 1));
    d->successors = own_loop_names(cx, s, nest);
    return true;
}

void store_stage(Draft *d, const Stage *s, const char *loop, const Buffer *const *buffer)
{
    Path p;
    const Stmt **root = &d->next.root;
    if (!loop || !nest_find_loop(&d->next, loop, &p)) {
        *root = with_allocs(d->cx, *root, s, buffer);
        return;
    }
    const Stmt *body = with_allocs(d->cx, path_end(&p)->child[0], s, buffer);
    *root = path_replace(d->cx, &p, stmt_with_children(d->cx, path_end(&p), &body, 1));
}

bool move_stage(Draft *d, const Stage *s, const char *loop)
{
    Nest *n = &d->next;
    Path p;
    const char *host = host_of(n, s), *stored = alloc_host_of(n, s);
    if (loop && !nest_find_loop(n, loop, &p))
        return refuse_invalid(d, FAULT_NAME, "a loop of the nest", "there is no loop %s", loop);
    bool moves_alloc = stored == host || (loop ? !encloses(stored, &p) : stored != NULL);
    const Buffer *buffer[MAX_RANK] = { NULL };
    take_stage(d, s, moves_alloc, buffer);
    return put_stage(d, s, loop, buffer);
}

/* ---- New stages ------------------------------------------------------------------------------------------------ */

static bool stage_reads_from(Ctx *cx, const Stage *reader, const Stage *producer)
{
    const Tensor **reads;
    int count = stage_reads(cx, reader, &reads);
    for (int i = 0; i < count; i++)
        if (stage_produces(producer, reads[i])) return true;
    return false;
}

void list_stage(Draft *d, const Stage *s, const Stage *before)
{
    Nest *n = &d->next;
    const Stage **all = NEW_ARRAY(d->cx->arena, const Stage *, n->stage_count + 1);
    int count = 0;
    for (int i = 0; i < n->stage_count; i++) {
        bool here = before ? n->stage[i] == before : stage_reads_from(d->cx, n->stage[i], s);
        if (here && count == i) all[count++] = s;
        all[count++] = n->stage[i];
    }
    n->stage = all;
    n->stage_count = count;
}

const char *new_stage_name(Draft *d, const char *asked, const char *base, const Scope *scope)
{
    const char *new_name = asked ? asked : name_format(d->cx, "%s_%s", base, scope->name);
    const Nest *n = &d->next;
    bool taken = nest_stage(n, new_name) != NULL;
    for (int i = 0; i < n->input_count; i++) taken = taken || strcmp(n->input[i]->name, new_name) == 0;
    for (int i = 0; i < n->stage_count; i++)
        for (int j = 0; j < n->stage[i]->out_count; j++)
            taken = taken || strcmp(n->stage[i]->out[j]->name, new_name) == 0;
    if (!taken) return new_name;
    refuse_invalid(d, FAULT_NAME, "another name", "there is a tensor %s already", new_name);
    return NULL;
}
