/* SPDX-License-Identifier: MIT */
/* Returns facts about a stage, a loop or the target to a client (walk.c). */
#include "api/computation/walk.h"
#include "ir/nest/pattern.h"
#include "schedule/draft/draft.h"
#include "schedule/step/role.h"
#include "support/guard.h"
#include "support/names.h"

static Seen seen(const lw_stage *s) { return seen_as(s->h.of, s->h.name); }

/* ---- What a stage computes --------------------------------------------------------------------------------------- */

const char *lw_stage_name(const lw_stage *s) { return s ? s->h.name : NULL; }

static const char *op_of(Seen x) { return x.s ? x.s->op : NULL; }
static const char *node_of(Seen x) { return x.s && x.s->call ? x.s->call->name : NULL; }

const char *lw_stage_op(const lw_stage *s) { RETURN_GUARDED(stage_context(s), const char *, NULL, op_of(seen(s))); }
const char *lw_stage_node(const lw_stage *s) { RETURN_GUARDED(stage_context(s), const char *, NULL, node_of(seen(s))); }

static const char *value_of(Seen x, const char *attr)
{
    const Attr *all;
    const int count = x.s && x.s->call && attr ? op_attrs(x.cx, x.s->call, &all) : 0;
    for (int i = 0; i < count; i++)
        if (text_equal(all[i].name, attr)) return attr_text(x.cx, &all[i]);
    return NULL;
}

static const char *attrs_of(Seen x)
{
    const Attr *all;
    const int count = x.s && x.s->call ? op_attrs(x.cx, x.s->call, &all) : 0;
    Text t = text_new(x.cx);
    for (int i = 0; i < count; i++)
        text_printf(&t, "%s%s=%s", i ? " " : "", all[i].name, attr_text(x.cx, &all[i]));
    return x.t ? text_string(&t) : NULL;
}

const char *lw_stage_attr(const lw_stage *s, const char *attr)
{
    RETURN_GUARDED(stage_context(s), const char *, NULL, value_of(seen(s), attr));
}

const char *lw_stage_attrs(const lw_stage *s)
{
    RETURN_GUARDED(stage_context(s), const char *, NULL, attrs_of(seen(s)));
}

static const char *pattern_of(Seen x) { return x.s ? pattern_text(stage_pattern(x.cx, x.s)) : NULL; }
static bool contracts(Seen x) { return x.s && stage_is_contraction(x.cx, x.s); }
static bool is_output_of(Seen x) { return x.s && stage_is_output(x.n, x.s); }
static bool is_input_of(Seen x) { return x.t && !x.s && !tensor_is_constant(x.t); }
static bool is_constant_of(Seen x) { return x.t && !x.s && tensor_is_constant(x.t); }

const char *lw_stage_pattern(const lw_stage *s)
{
    RETURN_GUARDED(stage_context(s), const char *, NULL, pattern_of(seen(s)));
}

bool lw_stage_is_contraction(const lw_stage *s) { RETURN_GUARDED(stage_context(s), bool, false, contracts(seen(s))); }
bool lw_stage_is_output(const lw_stage *s) { RETURN_GUARDED(stage_context(s), bool, false, is_output_of(seen(s))); }
bool lw_stage_is_input(const lw_stage *s) { RETURN_GUARDED(stage_context(s), bool, false, is_input_of(seen(s))); }
bool lw_stage_is_constant(const lw_stage *s) { RETURN_GUARDED(stage_context(s), bool, false, is_constant_of(seen(s))); }

/* ---- Type, shape and axes ---------------------------------------------------------------------------------------- */

static const char *type_of(Seen x) { return x.t ? dtype_info(x.t->type)->spelling : NULL; }
static const char *shape_of(Seen x) { return x.t ? tensor_shape_names(x.cx, x.t) : NULL; }
static int rank_of(Seen x) { return x.t ? x.t->rank : 0; }

const char *lw_stage_type(const lw_stage *s) { RETURN_GUARDED(stage_context(s), const char *, NULL, type_of(seen(s))); }
const char *lw_stage_shape(const lw_stage *s)
{
    RETURN_GUARDED(stage_context(s), const char *, NULL, shape_of(seen(s)));
}

int lw_stage_rank(const lw_stage *s) { RETURN_GUARDED(stage_context(s), int, 0, rank_of(seen(s))); }

/* Returns the size, or -1 if it is open. */
static int64_t number(const Expr *size) { return size->kind == EXPR_INT ? size->integer : -1; }

static int64_t size_of(Seen x, int d) { return d < 0 || d >= rank_of(x) ? 0 : number(x.t->shape[d]); }

int64_t lw_stage_size(const lw_stage *s, int d)
{
    RETURN_GUARDED(stage_context(s), int64_t, 0, size_of(seen(s), d));
}

static bool limits_of(Seen x, int d, int64_t *least, int64_t *greatest)
{
    if (d < 0 || d >= rank_of(x)) return false;
    const Interval size = interval_of(x.cx, x.t->shape[d], NULL);
    if (least) *least = size.least;
    if (greatest) *greatest = size.greatest;
    return true;
}

bool lw_stage_limits(const lw_stage *s, int d, int64_t *least, int64_t *greatest)
{
    RETURN_GUARDED(stage_context(s), bool, false, limits_of(seen(s), d, least, greatest));
}

static const Axis *axis_at(Seen x, int i) { return x.s && i >= 0 && i < x.s->axis_count ? &x.s->axis[i] : NULL; }

static const char *axis_name(const Axis *a) { return a ? expr_as_var(a->var)->name : NULL; }
static int64_t axis_extent(const Axis *a) { return a ? number(a->extent) : 0; }
static bool axis_reduces(const Axis *a) { return a && a->kind == AXIS_REDUCE; }

const char *lw_stage_axis(const lw_stage *s, int i)
{
    RETURN_GUARDED(stage_context(s), const char *, NULL, axis_name(axis_at(seen(s), i)));
}

int64_t lw_stage_axis_extent(const lw_stage *s, int i)
{
    RETURN_GUARDED(stage_context(s), int64_t, 0, axis_extent(axis_at(seen(s), i)));
}

bool lw_stage_axis_reduces(const lw_stage *s, int i)
{
    RETURN_GUARDED(stage_context(s), bool, false, axis_reduces(axis_at(seen(s), i)));
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static const lw_loop *own_loop_at(Seen x, int wanted)
{
    Path path;
    int found = 0;
    if (!x.s || !nest_find_block(x.n, x.s->name, &path)) return NULL;
    for (int i = 0; i < path.depth; i++)
        if (path.at[i]->kind == STMT_FOR && loop_is_own(path.at[i], x.s) && found++ == wanted)
            return loop_handle(x.p, path.at[i]->name);
    return NULL;
}

const lw_loop *lw_stage_loop(const lw_stage *s, int i)
{
    RETURN_GUARDED(stage_context(s), const lw_loop *, NULL, own_loop_at(seen(s), i));
}

static const char *without_role(lw_group *g, const Nest *n, const char *word)
{
    const size_t role = role_length(word);
    RoleFault fault;
    if (!role) return word;
    const Stage **all = NEW_ARRAY(g->cx->arena, const Stage *, n->stage_count);
    const int count = role_stages(g->cx, n, name_n(g->cx, word, role), all, &fault);
    if (count < 0) diag_error(g->cx, g->name, "lw_find_loop: %s; use %s", fault.fault, fault.accepted);
    return count == 1 ? name_format(g->cx, "%s%s", all[0]->name, word + role) : NULL;
}

static const lw_loop *find_loop(lw_group *g, const char *word)
{
    Path path;
    const Nest *n = word ? computation_nest(g) : NULL;
    const char *full = n ? without_role(g, n, word) : NULL;
    return full && nest_find_loop(n, full, &path) ? loop_handle(g, path_end(&path)->name) : NULL;
}

const lw_loop *lw_find_loop(lw_group *g, const char *loop)
{
    RETURN_GUARDED(computation_context(g), const lw_loop *, NULL, find_loop(g, loop));
}

const char *lw_loop_name(const lw_loop *l) { return l ? l->h.name : NULL; }

static Ctx *loop_context(const lw_loop *l) { return l ? l->h.of->cx : NULL; }

/* Returns the loop in the nest after the steps so far, or NULL if a step consumed the loop. */
static const Stmt *stmt_of(const lw_loop *l, Path *path)
{
    const Nest *n = computation_nest(l->h.of);
    return n && nest_find_loop(n, l->h.name, path) && path_end(path)->name == l->h.name ? path_end(path) : NULL;
}

static int64_t extent_of(const lw_loop *l)
{
    Path path;
    const Stmt *loop = stmt_of(l, &path);
    return loop ? number(loop->extent) : 0;
}

int64_t lw_loop_extent(const lw_loop *l) { RETURN_GUARDED(loop_context(l), int64_t, 0, extent_of(l)); }

static const char *kind_of(const lw_loop *l)
{
    Path path;
    const Stmt *loop = stmt_of(l, &path);
    return loop ? loop_kind_text(loop->loop_kind) : NULL;
}

const char *lw_loop_kind(const lw_loop *l) { RETURN_GUARDED(loop_context(l), const char *, NULL, kind_of(l)); }

/* Returns the first block below the loop that belongs to the loop's own stage. */
static const Stmt *own_block(const Stmt *loop, const Stmt *s)
{
    const Stmt *found = s->kind == STMT_BLOCK && loop_is_own(loop, s->stage) ? s : NULL;
    for (int i = 0; i < s->child_count && !found; i++) found = own_block(loop, s->child[i]);
    return found;
}

/* Returns the number of axes that the loop feeds; *first becomes the first of them. */
static int fed_axes(const lw_loop *l, const Axis **first)
{
    Path path;
    const Stmt *loop = stmt_of(l, &path), *block = loop ? own_block(loop, loop) : NULL;
    int count = 0;
    for (int a = 0; block && a < block->stage->axis_count; a++)
        if (block->bind[a] && expr_uses(block->bind[a], loop->var) && !count++) *first = &block->stage->axis[a];
    return count;
}

static bool reduces(const lw_loop *l)
{
    const Axis *axis = NULL;
    return fed_axes(l, &axis) > 0 && axis_reduces(axis);
}

static const char *only_axis(const lw_loop *l)
{
    const Axis *axis = NULL;
    return fed_axes(l, &axis) == 1 ? axis_name(axis) : NULL;
}

bool lw_loop_reduces(const lw_loop *l) { RETURN_GUARDED(loop_context(l), bool, false, reduces(l)); }
const char *lw_loop_axis(const lw_loop *l) { RETURN_GUARDED(loop_context(l), const char *, NULL, only_axis(l)); }

static const lw_stage *stage_of(const lw_loop *l)
{
    Path path;
    const Stmt *loop = stmt_of(l, &path), *block = loop ? own_block(loop, loop) : NULL;
    return block ? stage_handle(l->h.of, block->stage->name) : NULL;
}

const lw_stage *lw_loop_stage(const lw_loop *l)
{
    RETURN_GUARDED(loop_context(l), const lw_stage *, NULL, stage_of(l));
}

static const lw_loop *outer_of(const lw_loop *l)
{
    Path path;
    if (!stmt_of(l, &path)) return NULL;
    for (int i = path.depth - 2; i >= 0; i--)
        if (path.at[i]->kind == STMT_FOR) return loop_handle(l->h.of, path.at[i]->name);
    return NULL;
}

const lw_loop *lw_loop_outer(const lw_loop *l) { RETURN_GUARDED(loop_context(l), const lw_loop *, NULL, outer_of(l)); }

static const char *names_of(const lw_loop *const *loop, int count)
{
    Text t = text_new(loop[0]->h.of->cx);
    for (int i = 0; i < count; i++) {
        if (!loop[i]) return NULL;
        text_printf(&t, "%s%s", i ? " " : "", loop[i]->h.name);
    }
    return text_string(&t);
}

const char *lw_loop_names(const lw_loop *const *loops, int count)
{
    if (!loops || count < 1) return NULL;
    RETURN_GUARDED(loop_context(loops[0]), const char *, NULL, names_of(loops, count));
}

/* ---- The target and the row -------------------------------------------------------------------------------------- */

static const Target *target_of(lw_group *g)
{
    return g->group ? g->group->target : computation_nest(g) ? g->build.target : NULL;
}

static const lw_target *copy_target(lw_group *g)
{
    const Target *t = target_of(g);
    lw_target *out = t ? NEW(g->cx->arena, lw_target) : NULL;
    if (t)
        *out = (lw_target){ .name = t->name, .base = t->base, .summary = t->summary, .features = t->features,
                            .lanes = t->lanes, .accumulators = t->accumulators,
                            .integer_accumulators = t->integer_accumulators, .vector_bytes = t->vector_bytes,
                            .vector_registers = t->vector_registers, .copy_budget = (int)t->copy_budget,
                            .unroll_budget = (int)t->unroll_budget, .header = t->header, .macros = t->macros };
    return out;
}

static bool has_feature(lw_group *g, const char *feature)
{
    const Target *t = target_of(g);
    return t && feature && target_has(t, feature);
}

const lw_target *lw_group_target(lw_group *g)
{
    RETURN_GUARDED(computation_context(g), const lw_target *, NULL, copy_target(g));
}

bool lw_group_has(lw_group *g, const char *feature)
{
    RETURN_GUARDED(computation_context(g), bool, false, has_feature(g, feature));
}

void *lw_group_user(const lw_group *g) { return g ? g->user : NULL; }
const char *lw_group_anchor(const lw_group *g) { return g && g->group ? g->group->anchor : NULL; }

static const char *output_of(lw_group *g)
{
    const Nest *n = computation_nest(g);
    return n ? n->output[0]->name : NULL;
}

const char *lw_group_output(lw_group *g) { RETURN_GUARDED(computation_context(g), const char *, NULL, output_of(g)); }
