/* SPDX-License-Identifier: MIT */
/* The checker's view of a nest: its sites, the owners of their loops, their accesses, and the boxes that sites compute.
 *
 * The name of a loop begins with the stage that owns it. A loop whose name begins with no stage belongs to the stage of
 * the last block below it. A stage that is attached to a consumer's loop precedes the consumer. The stage also owns the
 * loops over its reduce axes. */
#include "ir/check/check_parts.h"

#include <string.h>

#include "support/switch.h"

static bool complain(Checker *c, Verdict v, FaultKind kind, const char *accepted, const char *fault, va_list args)
{
    c->refusal =
        (Refusal){ .verdict = v, .kind = kind, .fault = text_vformat(c->cx, fault, args), .accepted = accepted };
    return false;
}

bool check_fail(Checker *c, Verdict v, FaultKind kind, const char *accepted, const char *fault, ...)
{
    if (c->refusal.verdict != PROVED) return false;
    if (v == WRONG && switch_is_off(c->cx, fault)) return true;
    va_list args;
    va_start(args, fault);
    complain(c, v, kind, accepted, fault, args);
    va_end(args);
    return false;
}

bool check_ring_fail(Checker *c, const Tensor *t, int dimension, int64_t ring, const char *accepted, const char *reads)
{
    check_fail(c, UNPROVED, FAULT_RING, accepted, "the ring of %lld along dimension %d of \"%s\" is not shown to %s",
               (long long)ring, dimension, t->name, reads);
    if (c->refusal.kind == FAULT_RING && !c->refusal.tensor) c->refusal.tensor = t;
    return false;
}

bool check_form(Checker *c, const char *fault, ...)
{
    if (c->refusal.verdict != PROVED) return false;
    va_list args;
    va_start(args, fault);
    complain(c, WRONG, FAULT_NESTING, "a nest as `dump --at loops` prints it", fault, args);
    va_end(args);
    return false;
}

bool check_is_reduced(const Stage *s) { return s->axis_count > s->data_count; }

int check_axes_of(const Site *s)
{
    return s->block->part == BLOCK_INIT ? s->block->stage->data_count : s->block->stage->axis_count;
}

bool check_is_data(const Expr *index)
{
    if (index->kind == EXPR_READ || index->kind == EXPR_LOAD) return true;
    for (int i = 0; i < index->arg_count; i++)
        if (check_is_data(index->arg[i])) return true;
    return false;
}

/* ---- Sites ----------------------------------------------------------------------------------------------------- */

int check_if_count(const Stmt *s)
{
    int n = s->kind == STMT_IF;
    for (int i = 0; i < s->child_count; i++) n += check_if_count(s->child[i]);
    return n;
}

static int block_count(const Stmt *s)
{
    int n = s->kind == STMT_BLOCK;
    for (int i = 0; i < s->child_count; i++) n += block_count(s->child[i]);
    return n;
}

static const Stage *last_stage_below(const Stmt *s)
{
    while (s->kind != STMT_BLOCK) {
        if (s->child_count == 0) return NULL;
        s = s->child[s->child_count - 1];
    }
    return s->stage;
}

static size_t owner_length(const char *loop, const char *stage)
{
    size_t n = strlen(stage);
    return strncmp(loop, stage, n) == 0 && (loop[n] == '.' || loop[n] == '@') ? n : 0;
}

static const Stage *owner_of(const Nest *nest, const Stmt *loop)
{
    const Stage *best = NULL;
    size_t longest = 0;
    for (int i = 0; i < nest->stage_count; i++) {
        size_t n = owner_length(loop->name, nest->stage[i]->name);
        if (n > longest) { longest = n; best = nest->stage[i]; }
    }
    return best ? best : last_stage_below(loop);
}

typedef struct Gathering {
    Checker *c;
    unsigned branches; int if_count;
    Site here;                       /* the current site; its path and child are the arrays below */
    const Stmt *path[MAX_PATH]; int child[MAX_PATH];
    const Stage *owner[MAX_DEPTH];   /* the owners of the loops */
    bool too_deep;
} Gathering;

static void gather(Gathering *g, const Stmt *s);

static void gather_child(Gathering *g, const Stmt *s, int child)
{
    g->child[g->here.depth - 1] = child;
    gather(g, s->child[child]);
}

/* Returns true if a reduce axis of the block depends on the variable. A reduction owns its loops, whatever their names,
 * because several stages may reduce in one loop. */
bool check_feeds_reduction(const Stmt *block, const Expr *var)
{
    for (int a = block->stage->data_count; a < block->stage->axis_count; a++)
        if (block->part != BLOCK_INIT && block->bind[a] && expr_uses(block->bind[a], var)) return true;
    return false;
}

static void gather_block(Gathering *g, const Stmt *s)
{
    Checker *c = g->c;
    Site *site = arena_copy(c->cx->arena, &g->here, sizeof g->here);
    site->block = s;
    site->path = arena_copy(c->cx->arena, g->path, (size_t)site->depth * sizeof *g->path);
    site->child = arena_copy(c->cx->arena, g->child, (size_t)site->depth * sizeof *g->child);
    for (int l = 0; l < site->loop_count; l++)
        site->is_own[l] = g->owner[l] == s->stage || check_feeds_reduction(s, site->loop[l]->var);
    site->inside = bounds_fact(c->cx, site->scope, s->cond);
    c->site[c->site_count++] = site;
}

static void gather_if(Gathering *g, const Stmt *s)
{
    Ctx *cx = g->c->cx;
    const Bounds *before = g->here.scope;
    int branch = g->branches >> g->if_count++ & 1;
    const Expr *fact = simplify(cx, branch ? expr_unary(cx, EXPR_NOT, s->cond) : s->cond, NULL);
    g->here.scope = bounds_fact(cx, before, fact);
    g->c->facts = bounds_fact(cx, g->c->facts, fact);
    for (int i = 0; i < s->child_count; i++) {
        if (i == branch) gather_child(g, s, i);
        else g->if_count += check_if_count(s->child[i]);
    }
    g->here.scope = before;
}

static void gather_for(Gathering *g, const Stmt *s)
{
    const Bounds *before = g->here.scope;
    g->here.scope = bounds_var(g->c->cx, before, s->var, s->extent);
    g->owner[g->here.loop_count] = owner_of(g->c->nest, s);
    g->here.loop[g->here.loop_count++] = s;
    gather_child(g, s, 0);
    g->here.loop_count--;
    g->here.scope = before;
}

static void gather(Gathering *g, const Stmt *s)
{
    if (g->here.depth == MAX_PATH || (s->kind == STMT_FOR && g->here.loop_count == MAX_DEPTH)) {
        g->too_deep = true;
        return;
    }
    g->path[g->here.depth++] = s;
    switch (s->kind) {
    case STMT_BLOCK: gather_block(g, s); break;
    case STMT_FOR:   gather_for(g, s); break;
    case STMT_IF:    gather_if(g, s); break;
    case STMT_SEQ:
    case STMT_ALLOC:
    case STMT_TILE:
    case STMT_START:
    case STMT_WAIT:
        for (int i = 0; i < s->child_count; i++) gather_child(g, s, i);
        break;
    }
    g->here.depth--;
}

/* ---- Accesses -------------------------------------------------------------------------------------------------- */

typedef struct Reading { StageSites *out; int capacity; } Reading;

static void note_access(Ctx *cx, const Expr *read, const Bounds *facts, void *user)
{
    Reading *r = user;
    StageSites *s = r->out;
    if (s->access_count == r->capacity) {
        SiteAccess *more = NEW_ARRAY(cx->arena, SiteAccess, r->capacity = r->capacity ? 2 * r->capacity : 8);
        if (s->access_count) memcpy(more, s->access, (size_t)s->access_count * sizeof *more);
        s->access = more;
    }
    s->access[s->access_count++] = (SiteAccess){ read, facts };
}

static void stage_accesses(Ctx *cx, StageSites *s)
{
    Reading r = { s, 0 };
    stage_visit_reads(cx, s->stage, NULL, note_access, &r);
}

bool check_gather(Checker *c, unsigned branches)
{
    const ArenaMark mark = arena_mark(c->cx->scratch);
    Gathering *g = NEW(c->cx->scratch, Gathering);
    Arena *arena = c->cx->arena;
    g->c = c;
    g->branches = branches;
    c->site = NEW_ARRAY(arena, Site *, block_count(c->nest->root));
    c->site_count = 0;
    c->facts = NULL;
    gather(g, c->nest->root);
    const bool is_too_deep = g->too_deep;
    arena_reset(c->cx->scratch, mark);
    if (is_too_deep)
        return check_fail(c, UNPROVED, FAULT_LIMIT, "fewer loops and buffers inside each other",
                          "the nest is deeper than %d loops, or %d statements", MAX_DEPTH, MAX_PATH);
    c->stage_count = c->nest->stage_count;
    c->stage = NEW_ARRAY(arena, StageSites, c->stage_count);
    for (int i = 0; i < c->stage_count; i++) {
        StageSites *s = &c->stage[i];
        s->stage = c->nest->stage[i];
        s->site = NEW_ARRAY(arena, Site *, c->site_count);
        for (int j = 0; j < c->site_count; j++)
            if (c->site[j]->block->stage == s->stage) s->site[s->site_count++] = c->site[j];
        stage_accesses(c->cx, s);
    }
    return true;
}

/* ---- Positions of sites ------------------------------------------------------------------------------------------ */

const StageSites *check_producer(const Checker *c, const Tensor *t)
{
    for (int i = 0; i < c->stage_count; i++)
        for (int o = 0; o < c->stage[i].stage->out_count; o++)
            if (c->stage[i].stage->out[o] == t) return &c->stage[i];
    return NULL;
}

int check_common_loops(const Site *a, const Site *b)
{
    int n = 0;
    while (n < a->loop_count && n < b->loop_count && a->loop[n] == b->loop[n]) n++;
    return n;
}

static int host_count(const Site *s)
{
    int n = 0;
    for (int l = 0; l < s->loop_count; l++) n += !s->is_own[l];
    return n;
}

bool check_same_hosts(const Site *a, const Site *b)
{
    int j = 0;
    if (host_count(a) != host_count(b)) return false;
    for (int i = 0; i < a->loop_count; i++) {
        if (a->is_own[i]) continue;
        while (b->is_own[j]) j++;
        if (a->loop[i] != b->loop[j++]) return false;
    }
    return true;
}

/* Returns true if a precedes b in the text. Two parents may share a statement, so the comparison is by child
 * numbers. */
bool check_precedes(const Site *a, const Site *b)
{
    for (int i = 0; i < a->depth && i < b->depth; i++) {
        if (a->path[i] != b->path[i]) return false;
        if (a->path[i]->kind != STMT_BLOCK && a->child[i] != b->child[i]) return a->child[i] < b->child[i];
    }
    return false;
}

const Stmt *check_alloc(const Site *s, const Tensor *t, int *loops_outside)
{
    const Stmt *found = NULL;
    int loops = 0;
    for (int i = 0; i < s->depth; i++) {
        loops += s->path[i]->kind == STMT_FOR;
        if (s->path[i]->kind != STMT_ALLOC || s->path[i]->buffer->tensor != t) continue;
        found = s->path[i];
        if (loops_outside) *loops_outside = loops;
    }
    return found;
}

/* ---- Boxes ----------------------------------------------------------------------------------------------------- */

static const Bounds *scope_outside(const Site *s, int loops)
{
    const Bounds *b = s->scope;
    for (int l = s->loop_count; l > loops;) {
        if (b->var == s->loop[l - 1]->var) l--;
        b = b->outer;
    }
    return b;
}

bool check_empty_box(Checker *c, const Site *s, Box *box)
{
    const Stage *stage = s->block->stage;
    const int axes = check_axes_of(s);
    if (!check_is_empty(s)) return false;
    for (int a = 0; a < axes; a++) box[a] = (Box){ expr_index(c->cx, 0), stage->axis[a].extent };
    return true;
}

bool check_box(Checker *c, const Site *s, int shared, Box *box, Repeats *repeats, const char **why)
{
    const Stmt *block = s->block;
    const Expr *own[MAX_DEPTH], *extent[MAX_DEPTH];
    int own_count = 0, axes = check_axes_of(s);
    repeats->count = 0;
    if (check_empty_box(c, s, box)) return true;
    /* In the first pass, the loops of other stages are treated as the site's own, because such a loop may be a fused
     * host. */
    for (int pass = 0; pass < 2; pass++) {
        own_count = 0;
        bool others = false;
        for (int l = shared; l < s->loop_count; l++) {
            others = others || !s->is_own[l];
            if (pass && !s->is_own[l]) continue;
            own[own_count] = s->loop[l]->var;
            extent[own_count++] = s->loop[l]->extent;
        }
        if (!dense(c->cx, block->bind, axes, block->cond, s->scope, own, extent, own_count, box, repeats, why)) {
            if (others) continue;
            return false;
        }
        if (!pass || !others) return true;
        for (int l = s->loop_count - 1; l >= shared; l--)
            if (!s->is_own[l] && !check_widen(c, box, axes, s->loop[l], scope_outside(s, l))) {
                *why = text_format(c->cx, "the boxes of the iterations of the loop %s do not join to a box",
                                   s->loop[l]->name);
                return false;
            }
        return true;
    }
    return false;
}

static const Expr *end_of(Ctx *cx, const Box *b) { return simplify(cx, expr_add(cx, b->begin, b->count), NULL); }

/* Returns true if b follows a along axis d without a gap and equals a along all other axes. */
static bool joins(Ctx *cx, const Box *a, const Box *b, int axes, int d, const Bounds *scope)
{
    for (int i = 0; i < axes; i++) {
        if (i == d) continue;
        if (!provably_equal(cx, a[i].begin, b[i].begin, scope) || !provably_equal(cx, a[i].count, b[i].count, scope))
            return false;
    }
    return provably_equal(cx, end_of(cx, &a[d]), b[d].begin, scope);
}

static bool join_two(Ctx *cx, Box (*box)[MAX_AXES], int count, int axes, const Bounds *scope)
{
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            for (int d = 0; d < axes && a != b; d++) {
                if (!joins(cx, box[a], box[b], axes, d, scope)) continue;
                box[a][d].count = simplify(cx, expr_add(cx, box[a][d].count, box[b][d].count), scope);
                memmove(box[b], box[count - 1], sizeof box[b]);
                return true;
            }
    return false;
}

bool check_join(Checker *c, Box (*box)[MAX_AXES], int count, int axes, const Bounds *scope)
{
    while (count > 1 && join_two(c->cx, box, count, axes, scope)) count--;
    return count == 1;
}

static const Expr *at_next(Ctx *cx, const Expr *e, const Expr *var, int64_t by)
{
    const Expr *next = expr_add(cx, var, expr_index(cx, by));
    return expr_substitute(cx, e, &var, &next, 1);
}

/* Joins [b(v), e(v)) over v = 0 .. n-1 to [b(0), e(n-1)), if b(v+1) <= e(v) <= e(v+1). */
bool check_widen(Checker *c, Box *box, int axes, const Stmt *loop, const Bounds *scope)
{
    Ctx *cx = c->cx;
    const Expr *v = loop->var, *one = expr_index(cx, 1), *zero = expr_index(cx, 0);
    int d = -1;
    for (int i = 0; i < axes; i++) {
        if (!expr_uses(box[i].begin, v) && !expr_uses(box[i].count, v)) continue;
        if (d >= 0) return false;
        d = i;
    }
    if (d < 0) return provably(cx, expr_binary(cx, EXPR_LE, one, loop->extent), scope);
    const Expr *end = end_of(cx, &box[d]), *last = expr_sub(cx, loop->extent, one);
    const Bounds *inside = bounds_var(cx, scope, v, loop->extent);
    inside = bounds_fact(cx, inside, expr_binary(cx, EXPR_LT, expr_add(cx, v, one), loop->extent));
    if (!provably(cx, expr_binary(cx, EXPR_LE, at_next(cx, box[d].begin, v, 1), end), inside)) return false;
    if (!provably(cx, expr_binary(cx, EXPR_LE, end, at_next(cx, end, v, 1)), inside)) return false;
    const Expr *from = simplify(cx, expr_substitute(cx, box[d].begin, &v, &zero, 1), scope);
    const Expr *to = simplify(cx, expr_substitute(cx, end, &v, &last, 1), scope);
    bool runs = provably(cx, expr_binary(cx, EXPR_LE, one, loop->extent), scope);
    const Expr *minus_one = expr_index(cx, -1);
    if (!runs && !provably(cx, expr_binary(cx, EXPR_LE, expr_substitute(cx, end, &v, &minus_one, 1), from), scope))
        return false;
    box[d] = (Box){ from, simplify(cx, expr_sub(cx, to, from), scope) };
    return true;
}

static const Stmt *loop_at(const Site *s, int l) { return l < s->loop_count ? s->loop[l] : NULL; }

/* Joins the boxes of all sites. */
static bool boxes_join(Checker *c, const Site *const *site, int count, int shared, const Bounds *scope, Box *out,
                       const char **why)
{
    Box box[MAX_SITES][MAX_AXES];
    Repeats repeats;
    for (int i = 0; i < count; i++)
        if (!check_box(c, site[i], shared, box[i], &repeats, why)) return false;
    if (!check_join(c, box, count, check_axes_of(site[0]), scope)) {
        *why = "its copies do not join to a box";
        return false;
    }
    memcpy(out, box[0], sizeof box[0]);
    return true;
}

/* Joins the box of each loop's sites, from one iteration to all iterations. */
static bool loops_join(Checker *c, const Site *const *site, int count, int shared, const Bounds *scope, Box *out,
                       const char **why)
{
    Box box[MAX_SITES][MAX_AXES];
    int boxes = 0;
    for (int i = 0, last; i < count; i = last) {
        const Stmt *loop = loop_at(site[i], shared);
        for (last = i + 1; loop && last < count && loop_at(site[last], shared) == loop;) last++;
        if (last == i + 1) {
            if (!check_sites_box(c, site + i, 1, shared, scope, box[boxes++], why)) return false;
            continue;
        }
        const Bounds *inside = bounds_var(c->cx, scope, loop->var, loop->extent);
        if (!check_sites_box(c, site + i, last - i, shared + 1, inside, box[boxes], why)
            || !check_widen(c, box[boxes++], check_axes_of(site[i]), loop, scope))
            return false;
    }
    return check_join(c, box, boxes, check_axes_of(site[0]), scope) && memcpy(out, box[0], sizeof box[0]);
}

bool check_sites_box(Checker *c, const Site *const *site, int count, int shared, const Bounds *scope, Box *out,
                     const char **why)
{
    if (boxes_join(c, site, count, shared, scope, out, why)) return true;
    const char *others;
    return count > 1 && loops_join(c, site, count, shared, scope, out, &others);
}

bool check_is_empty(const Site *s)
{
    bool has_points = true, runs = true;
    for (int a = 0; a < check_axes_of(s); a++)        /* an init has points where its reduction has none */
        has_points = has_points && !expr_is_int(s->block->stage->axis[a].extent, 0);
    for (int l = 0; l < s->loop_count; l++) runs = runs && !expr_is_int(s->loop[l]->extent, 0);
    return !has_points && !runs;
}
