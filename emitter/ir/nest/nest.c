/* SPDX-License-Identifier: MIT */
/* Constructors of statements, paths to them, and the naive nest of a group. */
#include "ir/nest/nest.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "ir/nest/recurrence.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

const char *loop_kind_text(LoopKind k)
{
    static const char *const words[] = { "serial", "unrolled", "vector", "parallel", "lanes" };
    return words[k];
}

bool loop_is_of_init(const char *loop) { return strstr(loop, INIT_SUFFIX) != NULL; }

static const char *const pragma_words[] = {
    [PRAGMA_UNROLL] = "unroll", [PRAGMA_INDEPENDENT] = "independent", [PRAGMA_SIMD] = "simd"
};
enum { PRAGMA_COUNT = sizeof pragma_words / sizeof pragma_words[0] };

bool pragma_read(const char *text, Pragma *out)
{
    *out = (Pragma){ PRAGMA_NONE, 0 };
    const char *space = text + strcspn(text, " "), *digit = space + (*space != 0);
    const size_t length = (size_t)(space - text);
    for (int k = PRAGMA_UNROLL; k < PRAGMA_COUNT; k++)
        if (strlen(pragma_words[k]) == length && memcmp(text, pragma_words[k], length) == 0) out->kind = (PragmaKind)k;
    if (out->kind != PRAGMA_UNROLL) return out->kind && !*space;
    const bool has_number = *digit && *digit != '0';
    for (; *digit >= '0' && *digit <= '9' && out->count <= MOST_UNROLL; digit++)
        out->count = out->count * 10 + (*digit - '0');
    return has_number && !*digit && out->count >= 2 && out->count <= MOST_UNROLL;
}

const char *pragma_text(Ctx *cx, const Pragma *p)
{
    return p->kind == PRAGMA_UNROLL ? name_format(cx, "%s %d", pragma_words[p->kind], p->count) : pragma_words[p->kind];
}

bool pragma_suits(const Pragma *p, LoopKind k)
{
    return k == LOOP_VECTOR || (k == LOOP_SERIAL && p->kind == PRAGMA_UNROLL);
}

/* ---- Statements ------------------------------------------------------------------------------------------------ */

static const Stmt *stmt_of(Ctx *cx, const Stmt *proto, const Stmt *const *child, int count)
{
    Stmt *s = arena_copy(cx->arena, proto, sizeof *proto);
    s->child_count = count;
    s->child = arena_copy(cx->arena, child, (size_t)count * sizeof *child);
    return s;
}

static int flat_count(const Stmt *const *child, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if (child[i]) n += child[i]->kind == STMT_SEQ ? child[i]->child_count : 1;
    return n;
}

const Stmt *stmt_seq(Ctx *cx, const Stmt *const *child, int count)
{
    int n = 0, flat = flat_count(child, count);
    const Stmt **all = NEW_ARRAY(cx->arena, const Stmt *, flat);
    for (int i = 0; i < count; i++) {
        if (!child[i]) continue;
        if (child[i]->kind != STMT_SEQ) all[n++] = child[i];
        else
            for (int j = 0; j < child[i]->child_count; j++) all[n++] = child[i]->child[j];
    }
    if (n == 1) return all[0];
    Stmt proto = { .kind = STMT_SEQ };
    return stmt_of(cx, &proto, all, n);
}

const Stmt *stmt_for(Ctx *cx, const char *loop, const Expr *var, const Expr *extent, LoopKind kind, const Stmt *body)
{
    Stmt proto = { .kind = STMT_FOR, .name = name(cx, loop), .var = var, .extent = extent, .loop_kind = kind };
    return stmt_of(cx, &proto, &body, 1);
}

const Stmt *stmt_if(Ctx *cx, const Expr *cond, const Stmt *yes, const Stmt *no)
{
    Stmt proto = { .kind = STMT_IF, .cond = cond };
    const Stmt *both[] = { yes, no };
    return stmt_of(cx, &proto, both, no ? 2 : 1);
}

const Stmt *stmt_alloc(Ctx *cx, const Buffer *b, const Stmt *body)
{
    Stmt proto = { .kind = STMT_ALLOC, .buffer = b };
    return stmt_of(cx, &proto, &body, 1);
}

const Stmt *stmt_block(Ctx *cx, const char *block, const Stage *s, BlockPart part, const Expr *const *bind,
                       const Expr *guard)
{
    if (guard && expr_is_int(guard, 1)) guard = NULL;
    Stmt proto = { .kind = STMT_BLOCK, .name = name(cx, block), .stage = s, .part = part, .cond = guard };
    proto.bind = arena_copy(cx->arena, bind, (size_t)s->axis_count * sizeof *bind);
    return stmt_of(cx, &proto, NULL, 0);
}

const Expr *block_in_loops(Ctx *cx, const Stmt *block, const Expr *e)
{
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    int n = 0;
    for (int a = 0; a < block->stage->axis_count; a++) {
        if (!block->bind[a]) continue;
        from[n] = block->stage->axis[a].var;
        to[n++] = block->bind[a];
    }
    return expr_substitute(cx, e, from, to, n);
}

const Stmt *stmt_start(Ctx *cx, const char *copy_name, int64_t ahead, int64_t channel, const Stmt *copy)
{
    const Transfer t = { .ahead = ahead, .channel = channel };
    const Stmt proto = { .kind = STMT_START, .name = copy_name, .copy = arena_copy(cx->arena, &t, sizeof t) };
    return stmt_of(cx, &proto, &copy, 1);
}

const Stmt *stmt_wait(Ctx *cx, const char *copy_name, int64_t pending)
{
    const Transfer t = { .pending = pending };
    const Stmt proto = { .kind = STMT_WAIT, .name = copy_name, .copy = arena_copy(cx->arena, &t, sizeof t) };
    return stmt_of(cx, &proto, NULL, 0);
}

const Stmt *stmt_with_children(Ctx *cx, const Stmt *s, const Stmt *const *child, int count)
{
    bool same = count == s->child_count;
    for (int i = 0; same && i < count; i++) same = child[i] == s->child[i];
    if (same) return s;
    return s->kind == STMT_SEQ ? stmt_seq(cx, child, count) : stmt_of(cx, s, child, count);
}

const Stmt *stmt_rewrite(Ctx *cx, const Stmt *s, StmtVisit *visit, void *user)
{
    const Stmt *few[2], **child = s->child_count <= 2 ? few : NEW_ARRAY(cx->arena, const Stmt *, s->child_count);
    int n = 0;
    for (int i = 0; i < s->child_count; i++) {
        const Stmt *c = stmt_rewrite(cx, s->child[i], visit, user);
        if (c || s->kind != STMT_SEQ) child[n++] = c;
    }
    if (n && !child[0]) return NULL;   /* an empty loop, alloc or branch is removed */
    return visit(cx, stmt_with_children(cx, s, child, n), user);
}

typedef struct Replace { const Expr *const *from, *const *to; int count; } Replace;

static const Stmt *substitute_in(Ctx *cx, const Stmt *s, void *user)
{
    const Replace *r = user;
    Stmt copy = *s;
    if (s->extent) copy.extent = expr_substitute(cx, s->extent, r->from, r->to, r->count);
    if (s->cond) copy.cond = expr_substitute(cx, s->cond, r->from, r->to, r->count);
    bool same = copy.extent == s->extent && copy.cond == s->cond;
    if (s->kind == STMT_BLOCK) {
        const Expr **bind = NEW_ARRAY(cx->arena, const Expr *, s->stage->axis_count);
        for (int a = 0; a < s->stage->axis_count; a++) {
            bind[a] = s->bind[a] ? expr_substitute(cx, s->bind[a], r->from, r->to, r->count) : NULL;
            same = same && bind[a] == s->bind[a];
        }
        copy.bind = bind;
    }
    return same ? s : stmt_of(cx, &copy, s->child, s->child_count);
}

const Stmt *stmt_substitute(Ctx *cx, const Stmt *s, const Expr *const *from, const Expr *const *to, int count)
{
    Replace r = { from, to, count };
    return stmt_rewrite(cx, s, substitute_in, &r);
}

/* ---- Paths ----------------------------------------------------------------------------------------------------- */

typedef bool StmtTest(const Stmt *s, const char *name);

/* Finds the path to the first statement that passes, from s at the given depth, or returns NULL. */
static const Stmt **find(Arena *arena, const Stmt *s, StmtTest *test, const char *key, int depth, Path *p)
{
    const Stmt **at = NULL;
    if (depth == MAX_PATH) return NULL;
    if (test(s, key)) at = NEW_ARRAY(arena, const Stmt *, p->depth = depth + 1);
    for (int i = 0; i < s->child_count && !at; i++) at = find(arena, s->child[i], test, key, depth + 1, p);
    if (at) at[depth] = s;
    return at;
}

static bool find_path(const Nest *n, StmtTest *test, const char *key, Path *p)
{
    *p = (Path){ 0 };
    p->at = n->root ? find(n->arena, n->root, test, key, 0, p) : NULL;
    return p->at != NULL;
}

static bool is_loop(const Stmt *s, const char *loop) { return s->kind == STMT_FOR && strcmp(s->name, loop) == 0; }

static bool is_short_loop(const Stmt *s, const char *loop)
{
    if (s->kind != STMT_FOR) return false;
    const char *dot = strrchr(s->name, '.');
    return dot && strcmp(dot + 1, loop) == 0;
}

static bool is_block(const Stmt *s, const char *block)
{
    return s->kind == STMT_BLOCK && strcmp(s->name, block) == 0;
}

static int count_short(const Stmt *s, const char *loop)
{
    int n = is_short_loop(s, loop);
    for (int i = 0; i < s->child_count; i++) n += count_short(s->child[i], loop);
    return n;
}

bool nest_find_loop(const Nest *n, const char *loop, Path *out)
{
    if (find_path(n, is_loop, loop, out)) return true;
    return n->root && count_short(n->root, loop) == 1 && find_path(n, is_short_loop, loop, out);
}

bool nest_find_block(const Nest *n, const char *block, Path *out)
{
    return find_path(n, is_block, block, out);
}

const Stage *nest_stage(const Nest *n, const char *stage)
{
    for (int i = 0; i < n->stage_count; i++)
        if (strcmp(n->stage[i]->name, stage) == 0) return n->stage[i];
    return NULL;
}

const Stmt *path_replace(Ctx *cx, const Path *p, const Stmt *with)
{
    const Stmt *old = p->at[p->depth - 1];
    for (int d = p->depth - 2; d >= 0; d--) {
        const Stmt *up = p->at[d];
        const Stmt **child = NEW_ARRAY(cx->arena, const Stmt *, up->child_count);
        int n = 0;
        for (int i = 0; i < up->child_count; i++) {
            const Stmt *c = up->child[i] == old ? with : up->child[i];
            if (c) child[n++] = c;
        }
        with = n ? stmt_with_children(cx, up, child, n) : NULL;
        old = up;
    }
    return with;
}

/* ---- The naive nest -------------------------------------------------------------------------------------------- */

static const char *axis_loop(Ctx *cx, const Stage *s, int a)
{
    return name_format(cx, "%s.%s", s->name, expr_as_var(s->axis[a].var)->name);
}

static const Expr *axis_loop_var(Ctx *cx, const Stage *s, int a)
{
    const Var *axis = expr_as_var(s->axis[a].var);
    return expr_new_var(cx, axis->name, VAR_LOOP, I32, 0, axis->greatest);
}

/* Returns true if a reduction may be empty. Then no instance of its block has all reduce axes at 0, so the init is a
 * separate block. */
static bool may_be_empty(Ctx *cx, const Stage *s)
{
    for (int a = s->data_count; a < s->axis_count; a++)
        if (interval_of(cx, s->axis[a].extent, NULL).least < 1) return true;
    return false;
}

static const Stmt *naive_init(Ctx *cx, const Stage *s, const Expr *step)
{
    const Expr *bind[MAX_AXES] = { NULL };
    const char *block = name_format(cx, "%s" INIT_SUFFIX, s->name);
    int first = step ? 1 : 0;
    for (int a = 0; a < s->data_count; a++) bind[a] = a < first ? step : axis_loop_var(cx, s, a);
    const Stmt *body = stmt_block(cx, block, s, BLOCK_INIT, bind, NULL);
    for (int a = s->data_count - 1; a >= first; a--)
        body = stmt_for(cx, name_format(cx, "%s.%s", block, expr_as_var(s->axis[a].var)->name), bind[a],
                        s->axis[a].extent, LOOP_SERIAL, body);
    return body;
}

static const Stmt *naive_loops(Ctx *cx, const Stage *s, const Expr *const *bind, int begin, int end, const Stmt *body)
{
    for (int a = end - 1; a >= begin; a--)
        body = stmt_for(cx, axis_loop(cx, s, a), bind[a], s->axis[a].extent, LOOP_SERIAL, body);
    return body;
}

static const Stmt *naive_stage(Ctx *cx, const Stage *s, const Expr *step)
{
    const Expr *bind[MAX_AXES];
    int first = step ? 1 : 0;
    const bool apart = may_be_empty(cx, s) || s->scatters;
    for (int a = 0; a < s->axis_count; a++) bind[a] = a < first ? step : axis_loop_var(cx, s, a);
    const Stmt *body = stmt_block(cx, s->name, s, apart ? BLOCK_UPDATE : BLOCK_WHOLE, bind, NULL);
    if (s->scatters) {
        body = naive_loops(cx, s, bind, first, s->data_count, body);
        body = naive_loops(cx, s, bind, s->data_count, s->axis_count, body);
    } else body = naive_loops(cx, s, bind, first, s->axis_count, body);
    const Stmt *both[] = { apart ? naive_init(cx, s, step) : NULL, body };
    return stmt_seq(cx, both, 2);
}

static const Stmt *naive_recurrence(Ctx *cx, const Stage *const *stage, int count)
{
    const Stage *last = stage[count - 1];
    const Stmt **body = NEW_ARRAY(cx->arena, const Stmt *, count);
    if (count == 1) return naive_stage(cx, last, NULL);
    const Expr *step = axis_loop_var(cx, last, 0);
    for (int i = 0; i < count; i++) body[i] = naive_stage(cx, stage[i], step);
    return stmt_for(cx, axis_loop(cx, last, 0), step, last->axis[0].extent, LOOP_SERIAL, stmt_seq(cx, body, count));
}

static bool is_among(const Tensor *t, Tensor *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

enum { MOST_STAGES = 2048 };          /* the most stages of a nest; also bounds the recursion depth of gather */

typedef struct Gather { Ctx *cx; Map seen; Tensor *const *inputs; int input_count; Nest *nest; int depth; } Gather;

static void gather(Gather *g, Tensor *t, bool fill)
{
    if (!t || map_get_ptr(&g->seen, t)) return;
    map_put_ptr(&g->seen, t, t);
    if (!t->producer || is_among(t, g->inputs, g->input_count)) {
        if (fill && !is_among(t, g->inputs, g->input_count)) g->nest->input[g->nest->input_count] = t;
        if (!is_among(t, g->inputs, g->input_count)) g->nest->input_count++;
        return;
    }
    Node *n = t->producer;
    if (n->kind != NODE_COMPUTE) {
        diag_internal(g->cx, n->name, "a call must be expanded before its loops are created");
        return;
    }
    if (++g->depth > MOST_STAGES || g->nest->stage_count > MOST_STAGES)
        diag_unsupported(g->cx, g->nest->name, "a nest of more than %d computes", MOST_STAGES);
    if (ctx_failed(g->cx)) return;
    Node **step;
    int count = recurrence_of(g->cx, n, &step);
    for (int s = 0; s < count; s++)
        for (int i = 0; i < step[s]->out_count; i++) map_put_ptr(&g->seen, step[s]->out[i], t);
    for (int s = 0; s < count; s++)
        for (int i = 0; i < step[s]->in_count; i++) gather(g, step[s]->in[i], fill);
    for (int s = 0; s < count; s++) {
        if (fill) g->nest->stage[g->nest->stage_count] = step[s]->stage;
        g->nest->stage_count++;
    }
    g->depth--;
}

static const Stmt *with_allocs(Ctx *cx, const Nest *n, const Stmt *body, Tensor *const *outputs, int output_count)
{
    for (int s = n->stage_count - 1; s >= 0; s--)
        for (int i = n->stage[s]->out_count - 1; i >= 0; i--) {
            const Tensor *t = n->stage[s]->out[i];
            if (is_among(t, outputs, output_count)) continue;
            Buffer *b = NEW(cx->arena, Buffer);
            *b = (Buffer){ .tensor = t, .scope = scope_builtin(SCOPE_ARENA) };
            for (int d = 0; d < MAX_RANK; d++) b->permutation[d] = d;
            body = stmt_alloc(cx, b, body);
        }
    return body;
}

static bool names_are_unique(Ctx *cx, const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        for (int j = 0; j < i; j++)
            if (n->stage[i]->name == n->stage[j]->name) {
                diag_error(cx, n->name, "two tensors are named \"%s\"", n->stage[i]->name);
                return false;
            }
    return true;
}

const Nest *nest_naive(Ctx *cx, const char *nest_name, Tensor *const *inputs, int input_count, Tensor *const *outputs,
                       int output_count)
{
    if (ctx_failed(cx)) return NULL;
    Nest *n = NEW(cx->arena, Nest);
    n->name = name(cx, nest_name);
    n->arena = cx->arena;
    /* Pass 0 counts and pass 1 fills: the given inputs come first, then other tensors that are read */
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            n->input = NEW_ARRAY(cx->arena, Tensor *, n->input_count);
            n->stage = NEW_ARRAY(cx->arena, const Stage *, n->stage_count);
        }
        n->input_count = n->stage_count = 0;
        for (int i = 0; i < input_count; i++) {
            if (pass) n->input[n->input_count] = inputs[i];
            n->input_count++;
        }
        const ArenaMark mark = arena_mark(cx->scratch);
        Gather g = { cx, map_new(cx->scratch), inputs, input_count, n, 0 };
        for (int i = 0; i < output_count; i++) gather(&g, outputs[i], pass);
        arena_reset(cx->scratch, mark);
    }
    n->output_count = output_count;
    n->output = NEW_ARRAY(cx->arena, Tensor *, output_count);
    for (int i = 0; i < output_count; i++) n->output[i] = outputs[i];
    if (ctx_failed(cx) || !names_are_unique(cx, n)) return NULL;
    const Stmt **body = NEW_ARRAY(cx->arena, const Stmt *, n->stage_count);
    int parts = 0;
    for (int s = 0, count; s < n->stage_count; s += count) {
        Node **step;
        count = recurrence_of(cx, n->stage[s]->out[0]->producer, &step);
        body[parts++] = naive_recurrence(cx, n->stage + s, count);
    }
    n->root = with_allocs(cx, n, stmt_seq(cx, body, parts), outputs, output_count);
    return n;
}

bool nest_contracts(const Nest *n, const Stage *s)
{
    return s->contracts && n->features && text_has_word(n->features, "fma");
}

static const Expr *contract_sum(Ctx *cx, const Expr *e, void *user)
{
    (void)user;
    if (e->kind != EXPR_ADD || e->type != F32) return e;
    for (int i = 0; i < 2; i++) {
        const Expr *p = e->arg[i], *c = e->arg[1 - i];
        if (p->kind == EXPR_MUL) return expr_fma(cx, p->arg[0], p->arg[1], c);
        if (p->kind != EXPR_SELECT || p->arg[SELECT_YES]->kind != EXPR_MUL) continue;      /* a padded product */
        const Expr *yes = p->arg[SELECT_YES];
        return expr_select(cx, p->arg[SELECT_COND], expr_fma(cx, yes->arg[0], yes->arg[1], c),
                           expr_add(cx, c, p->arg[SELECT_NO]));
    }
    return e;
}

const Expr *nest_contracted(Ctx *cx, const Nest *n, const Stage *s, const Expr *value)
{
    return nest_contracts(n, s) ? expr_rewrite(cx, value, contract_sum, NULL) : value;
}

const Nest *nest_versions(Ctx *cx, const Nest *n, const Expr *when, const Nest *otherwise)
{
    Nest *copy = arena_copy(cx->arena, n, sizeof *n);
    copy->when = when;
    copy->otherwise = otherwise;
    return copy;
}

const Nest *nest_within(Ctx *cx, const Nest *n, const SizeRange *range, int count)
{
    Nest *copy = arena_copy(cx->arena, n, sizeof *n);
    copy->range = range;
    copy->range_count = count;
    return copy;
}

const Expr *nest_size_of_group(Ctx *cx, const Expr *e, void *nest)
{
    const Nest *n = nest;
    for (int i = 0; i < n->range_count; i++) {
        const Var *v = expr_as_var(n->range[i].within);
        if (n->range[i].within == e) return v->least == v->greatest ? expr_index(cx, v->least) : n->range[i].size;
    }
    return e;
}

const Expr *nest_sizes_of_group(Ctx *cx, const Nest *n, const Expr *e)
{
    return n->range_count ? expr_rewrite(cx, e, nest_size_of_group, (void *)n) : e;
}

const Nest *nest_for(Ctx *cx, const Nest *n, const char *features)
{
    Nest *copy = arena_copy(cx->arena, n, sizeof *n);
    copy->features = features;
    return copy;
}

const Nest *nest_computed_by(Ctx *cx, const Nest *n, const char *implementation)
{
    Nest *copy = arena_copy(cx->arena, n, sizeof *n);
    copy->compute = implementation;
    return copy;
}

const Nest *nest_called(Ctx *cx, const Nest *n, const char *own)
{
    if (text_equal(n->name, own)) return n;
    Nest *copy = arena_copy(cx->arena, n, sizeof *n);
    copy->name = own;
    if (n->otherwise) copy->otherwise = nest_called(cx, n->otherwise, own);
    return copy;
}

const Nest *nest_named_by(Ctx *cx, const Nest *n, const char *strategy)
{
    Nest *copy = arena_copy(cx->arena, n, sizeof *n);
    copy->strategy = strategy;
    return copy;
}
