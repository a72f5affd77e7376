/* SPDX-License-Identifier: MIT */
/* The part of a step that all primitives share. A step passes through these functions:
 *
 *   draft_open  copies the nest's header (the tree is shared) and stores the parameters;
 *   ...         the primitive finds its loops, proves or refuses, and sets next.root;
 *   draft_close has the checker prove the whole new nest, appends the step as text, and compares the names of loops
 *               before and after: it records consumed loops with their successors.
 *
 * A refusal is an error of the context, placed at the step. A caller may therefore undo a step with diag_mark and
 * diag_rewind and try another. */
#include "schedule/draft/draft.h"

#include <string.h>

#include "ir/check/check.h"
#include "ir/nest/external.h"
#include "support/map.h"
#include "support/names.h"
#include "support/switch.h"

/* ---- Refusals -------------------------------------------------------------------------------------------------- */

bool refuse_with(Draft *d, const Refusal *r)
{
    Refusal *own = arena_copy(d->cx->arena, r, sizeof *r);
    own->primitive = d->row->name;
    const Step step = draft_step(d);
    own->operands = step.args;
    refusal_report(d->cx, step_text(d->cx, &step), own);
    return false;
}

#define REFUSE(given)                                                                                                  \
    va_list args;                                                                                                      \
    va_start(args, fault);                                                                                             \
    const Refusal r = {                                                                                                \
        .verdict = given, .kind = kind, .fault = text_vformat(d->cx, fault, args), .accepted = accepted                \
    };                                                                                                                 \
    va_end(args);                                                                                                      \
    return refuse_with(d, &r)

bool refuse_wrong(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...)
{
    if (switch_is_off(d->cx, fault) || switch_has_fired(d->cx)) return true;
    REFUSE(WRONG);
}

bool refuse_unproved(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...)
{
    if (switch_has_fired(d->cx)) return true;
    REFUSE(UNPROVED);
}

bool refuse_too_large(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...)
{
    if (switch_has_fired(d->cx)) return true;
    REFUSE(TOO_LARGE);
}

bool refuse_invalid(Draft *d, FaultKind kind, const char *accepted, const char *fault, ...) { REFUSE(INVALID); }

/* ---- Names ----------------------------------------------------------------------------------------------------- */

const char *loop_short(const char *loop)
{
    const char *dot = strrchr(loop, '.');
    return dot ? dot + 1 : loop;
}

const char *loop_prefix(Ctx *cx, const char *loop)
{
    const char *dot = strrchr(loop, '.');
    return dot ? name_n(cx, loop, (size_t)(dot - loop)) : name(cx, loop);
}

bool loop_is_own(const Stmt *loop, const Stage *s)
{
    size_t n = strlen(s->name);
    return strncmp(loop->name, s->name, n) == 0 && (loop->name[n] == '.' || loop->name[n] == '@');
}

const Expr *loop_var_new(Ctx *cx, const char *loop, const Expr *extent)
{
    return expr_new_var(cx, loop_short(loop), VAR_LOOP, I32, 0, is_constant(extent) ? extent->integer - 1 : INT32_MAX);
}

bool is_constant(const Expr *e) { return e->kind == EXPR_INT; }

/* ---- Stages and tensors ---------------------------------------------------------------------------------------- */

static bool is_among(const Tensor *t, Tensor *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == t) return true;
    return false;
}

bool is_output(const Nest *n, const Tensor *t) { return is_among(t, n->output, n->output_count); }
bool is_input(const Nest *n, const Tensor *t) { return is_among(t, n->input, n->input_count); }
bool stage_produces(const Stage *s, const Tensor *t) { return is_among(t, (Tensor *const *)s->out, s->out_count); }

bool stage_is_output(const Nest *n, const Stage *s)
{
    for (int i = 0; i < s->out_count; i++)
        if (is_output(n, s->out[i])) return true;
    return false;
}

const Stage *producer_of(const Nest *n, const Tensor *t)
{
    for (int i = 0; i < n->stage_count; i++)
        if (stage_produces(n->stage[i], t)) return n->stage[i];
    return NULL;
}

typedef struct Found { const Stage *producer; bool any; } Found;

static void find_read(const Expr *e, void *user)
{
    Found *f = user;
    for (int i = 0; e->kind == EXPR_READ && i < f->producer->out_count; i++)
        f->any = f->any || e->ref == f->producer->out[i];
}

bool stage_consumes(Ctx *cx, const Stage *s, const Stage *producer)
{
    Found f = { producer, false };
    for (int i = 0; i < s->out_count && !f.any; i++) {
        expr_walk(cx, s->value[i], find_read, &f);
        if (s->init) expr_walk(cx, s->init[i], find_read, &f);
    }
    return f.any;
}

/* Returns true if the block reads a tensor of the producer. A separate init block reads the operands of the initial
 * values, and the other block reads the operands of the values. */
bool block_reads(Ctx *cx, const Stmt *block, const Stage *producer)
{
    const Stage *s = block->stage;
    Found f = { producer, false };
    for (int i = 0; i < s->out_count; i++) {
        if (block->part != BLOCK_INIT) expr_walk(cx, s->value[i], find_read, &f);
        if (s->init && block->part != BLOCK_UPDATE) expr_walk(cx, s->init[i], find_read, &f);
    }
    return f.any;
}

typedef struct Restage { const Stage *from, *to; } Restage;

static const Stmt *restage_block(Ctx *cx, const Stmt *s, void *user)
{
    const Restage *r = user;
    if (s->kind != STMT_BLOCK || s->stage != r->from) return s;
    return stmt_block(cx, s->name, r->to, s->part, s->bind, s->cond);
}

void draft_replace_stage(Draft *d, const Stage *from, const Stage *to)
{
    Restage r = { from, to };
    Nest *n = &d->next;
    n->root = stmt_rewrite(d->cx, n->root, restage_block, &r);
    n->stage = arena_copy(d->cx->arena, n->stage, (size_t)n->stage_count * sizeof *n->stage);
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i] == from) n->stage[i] = to;
}

/* `from` and `to` are parallel. Where they differ, blocks of the stage in `from` become blocks of the stage in `to`. */
typedef struct Inlining { const Stage *consumed; int count; const Stage *const *from, *const *to; } Inlining;

static const Stmt *inline_in(Ctx *cx, const Stmt *s, void *user)
{
    const Inlining *in = user;
    if (s->kind == STMT_ALLOC) return stage_produces(in->consumed, s->buffer->tensor) ? s->child[0] : s;
    if (s->kind == STMT_SEQ) return s->child_count ? s : NULL;
    if (s->kind != STMT_BLOCK) return s;
    if (s->stage == in->consumed) return NULL;
    for (int i = 0; i < in->count; i++)
        if (s->stage == in->from[i] && in->to[i] != in->from[i])
            return stmt_block(cx, s->name, in->to[i], s->part, s->bind, s->cond);
    return s;
}

void draft_inline_stage(Draft *d, const Stage *s, const Stage *const *to)
{
    Nest *n = &d->next;
    Inlining in = { s, n->stage_count, n->stage, to };
    n->root = stmt_rewrite(d->cx, n->root, inline_in, &in);
    const Stage **kept = NEW_ARRAY(d->cx->arena, const Stage *, n->stage_count);
    int count = 0;
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i] != s) kept[count++] = to[i];
    n->stage = kept;
    n->stage_count = count;
}

const Stage *stage_with_values(Ctx *cx, const Stage *s, ExprVisit *visit, void *user)
{
    Stage *copy = arena_copy(cx->arena, s, sizeof *s);
    copy->value = NEW_ARRAY(cx->arena, const Expr *, s->out_count);
    if (s->init) copy->init = NEW_ARRAY(cx->arena, const Expr *, s->out_count);
    for (int i = 0; i < s->out_count; i++) {
        copy->value[i] = expr_rewrite(cx, s->value[i], visit, user);
        if (s->init) copy->init[i] = expr_rewrite(cx, s->init[i], visit, user);
    }
    return copy;
}

static const Expr *inline_read(Ctx *cx, const Expr *e, void *user)
{
    const Stage *s = *(const Stage *const *)user;
    if (e->kind != EXPR_READ || !stage_produces(s, e->ref)) return e;
    const Expr *axis[MAX_AXES];
    for (int a = 0; a < s->axis_count; a++) axis[a] = s->axis[a].var;
    const Tensor *t = e->ref;
    return expr_substitute(cx, s->value[t->output], axis, e->arg, s->axis_count);
}

const Stage *stage_inlined(Ctx *cx, const Stage *reader, const Stage *s)
{
    return stage_with_values(cx, reader, inline_read, &s);
}

void draft_remove_stage(Draft *d, const Stage *s)
{
    Nest *n = &d->next;
    const Stage **kept = NEW_ARRAY(d->cx->arena, const Stage *, n->stage_count);
    int count = 0;
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i] != s) kept[count++] = n->stage[i];
    n->stage = kept;
    n->stage_count = count;
}

/* ---- Finding --------------------------------------------------------------------------------------------------- */

static bool name_matches(const char *full, const char *word)
{
    return strcmp(full, word) == 0 || strcmp(loop_short(full), word) == 0;
}

static const ConsumedLoop *find_consumed(const Nest *n, const char *loop)
{
    const ConsumedLoop *c = n->consumed;
    while (c && !name_matches(c->name, loop)) c = c->older;
    return c;
}

typedef bool Listed(const char *loop, const char *word);

static bool is_any(const char *loop, const char *word) { return loop && word; }
static bool is_short_name(const char *loop, const char *word) { return strcmp(loop_short(loop), word) == 0; }

static bool is_of_stage(const char *loop, const char *word)
{
    size_t n = strcspn(word, ".");
    return strncmp(loop, word, n) == 0 && loop[n] == '.';
}

/* Lists the names of the loops that match, separated by commas. */
static void list_loops(Text *t, const Stmt *s, Listed *suits, const char *word)
{
    if (s->kind == STMT_FOR && suits(s->name, word)) text_printf(t, "%s%s", t->length ? ", " : "", s->name);
    for (int i = 0; i < s->child_count; i++) list_loops(t, s->child[i], suits, word);
}

/* Refuses a step on a loop below an external call. Such loops define the meaning of the call and are not emitted, so
 * the step would have no effect. */
static bool is_emitted(Draft *d, const Path *p)
{
    for (int i = 0; i < p->depth; i++)
        if (p->at[i]->kind == STMT_TILE && p->at[i]->external)
            return refuse_invalid(d, FAULT_NESTING, "loops outside the call", "%s is computed by %s",
                                  path_end(p)->name, p->at[i]->external->function);
    return true;
}

bool draft_find_loop(Draft *d, const char **loop, Path *out)
{
    if (!*loop) return refuse_invalid(d, FAULT_NAME, "the name of a loop", "the loop of %s has no name",
                                      d->row->name);
    if (nest_find_loop(&d->next, *loop, out)) {
        *loop = path_end(out)->name;
        return is_emitted(d, out);
    }
    const ConsumedLoop *consumed = find_consumed(&d->next, *loop);
    if (consumed && consumed->step <= d->next.step_count)
        return refuse_invalid(d, FAULT_NAME,
                              text_format(d->cx, "%s", consumed->successors ? consumed->successors : "another loop"),
                              "%s is consumed by step %d (%s)", consumed->name,
                              step_number(d->next.step, consumed->step),
                              step_text(d->cx, &d->next.step[consumed->step - 1]));
    Text there = text_new(d->cx);
    list_loops(&there, d->next.root, is_short_name, *loop);
    if (there.length)
        return refuse_invalid(d, FAULT_NAME, text_format(d->cx, "%s", text_string(&there)),
                              "several loops are named %s", *loop);
    list_loops(&there, d->next.root, is_of_stage, *loop);
    if (!there.length) list_loops(&there, d->next.root, is_any, *loop);
    return refuse_invalid(d, FAULT_NAME, text_format(d->cx, "%s", text_string(&there)), "there is no loop %s", *loop);
}

const Stage *draft_find_stage(Draft *d, const char *stage)
{
    const Stage *s = stage ? nest_stage(&d->next, stage) : NULL;
    const External *call = s ? external_of_stage(d->next.root, s) : NULL;
    if (call) {
        refuse_invalid(d, FAULT_NESTING, "other stages", "%s is computed by %s", s->name, call->function);
        return NULL;
    }
    if (s) return s;
    Text there = text_new(d->cx);
    for (int i = 0; i < d->next.stage_count; i++) text_printf(&there, "%s%s", i ? ", " : "", d->next.stage[i]->name);
    refuse_invalid(d, FAULT_NAME, text_format(d->cx, "%s", text_string(&there)), "there is no stage %s",
                   stage ? stage : "without a name");
    return NULL;
}

bool draft_find_block(Draft *d, const char *block, Path *out)
{
    if (nest_find_block(&d->next, block, out)) return true;
    const Stage *s = draft_find_stage(d, block);
    return s && refuse_invalid(d, FAULT_ROLE, "the name of a copy", "%s is computed in copies only", block);
}

const Tensor *draft_find_tensor(Draft *d, const char *tensor)
{
    const Nest *n = &d->next;
    Text there = text_new(d->cx);
    if (!tensor) tensor = "without a name";
    for (int i = 0; i < n->input_count; i++) {
        if (strcmp(n->input[i]->name, tensor) == 0) return n->input[i];
        text_printf(&there, "%s%s", there.length ? ", " : "", n->input[i]->name);
    }
    for (int i = 0; i < n->stage_count; i++)
        for (int j = 0; j < n->stage[i]->out_count; j++) {
            const Tensor *t = n->stage[i]->out[j];
            if (strcmp(t->name, tensor) == 0) return t;
            text_printf(&there, "%s%s", there.length ? ", " : "", t->name);
        }
    refuse_invalid(d, FAULT_NAME, text_format(d->cx, "%s", text_string(&there)), "there is no tensor %s", tensor);
    return NULL;
}

const Scope *draft_find_scope(Draft *d, const char *wanted)
{
    enum { BUILTIN = SCOPE_DECLARED };
    const Nest *n = &d->next;
    const Scope *found = scope_called(n->scope, n->scope_count, wanted);
    if (found) return found;
    const char **names = NEW_ARRAY(d->cx->arena, const char *, n->scope_count + BUILTIN);
    Text t = text_new(d->cx);
    for (int i = 0; i < n->scope_count + BUILTIN; i++) {
        names[i] = i < BUILTIN ? scope_builtin((ScopeKind)i)->name : n->scope[i - BUILTIN]->name;
        text_printf(&t, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = text_nearest(d->cx, wanted, names, (size_t)(n->scope_count + BUILTIN));
    refuse_invalid(d, FAULT_NAME,
                   near ? near : text_format(d->cx, "%s, or declare it before: memory %s bytes=BYTES", text_string(&t),
                                             wanted),
                   "there is no memory '%s'", wanted);
    return NULL;
}

bool draft_loop_name_is_free(Draft *d, const char *loop)
{
    Path p;
    if (nest_find_loop(&d->next, loop, &p) && strcmp(path_end(&p)->name, loop) == 0)
        return refuse_invalid(d, FAULT_NAME, "other names", "there is a loop %s already", loop);
    return true;
}

/* ---- Scopes ---------------------------------------------------------------------------------------------------- */

/* Returns the scope inside child `i` of a statement. */
static const Bounds *bounds_inside(Ctx *cx, const Bounds *outer, const Stmt *s, int i)
{
    if (s->kind == STMT_FOR) return bounds_var(cx, outer, s->var, s->extent);
    if (s->kind == STMT_IF) return bounds_fact(cx, outer, i ? expr_unary(cx, EXPR_NOT, s->cond) : s->cond);
    return outer;
}

const Bounds *path_bounds(Ctx *cx, const Path *p) { return path_bounds_to(cx, p, p->depth); }

const Bounds *path_bounds_to(Ctx *cx, const Path *p, int depth)
{
    const Bounds *b = NULL;
    for (int i = 0; i < depth; i++) {
        const Stmt *next = i + 1 < p->depth ? p->at[i + 1] : NULL;
        b = bounds_inside(cx, b, p->at[i], next && p->at[i]->kind == STMT_IF && p->at[i]->child[0] != next);
    }
    return b;
}

int count_blocks(const Stmt *s, const Stage *stage)
{
    int count = s->kind == STMT_BLOCK && s->stage == stage;
    for (int i = 0; i < s->child_count; i++) count += count_blocks(s->child[i], stage);
    return count;
}

void each_block(Ctx *cx, const Stmt *s, const Bounds *scope, BlockVisit *visit, void *user)
{
    if (s->kind == STMT_BLOCK) visit(cx, s, scope, user);
    for (int i = 0; i < s->child_count; i++) each_block(cx, s->child[i], bounds_inside(cx, scope, s, i), visit, user);
}

typedef struct Replacing { Ctx *cx; const Expr *const *from, *const *to; int count; } Replacing;

static const Expr *replace_in(const Replacing *r, const Expr *e, const Bounds *scope)
{
    if (!e) return NULL;
    const Expr *replaced = expr_substitute(r->cx, e, r->from, r->to, r->count);
    return replaced == e ? e : simplify(r->cx, replaced, scope);
}

static const Stmt *replace_below(const Replacing *r, const Stmt *s, const Bounds *scope)
{
    if (s->kind == STMT_BLOCK) {
        const Expr *bind[MAX_AXES];
        for (int a = 0; a < s->stage->axis_count; a++) bind[a] = replace_in(r, s->bind[a], scope);
        return stmt_block(r->cx, s->name, s->stage, s->part, bind, replace_in(r, s->cond, scope));
    }
    const Expr *extent = replace_in(r, s->extent, scope);
    const Stmt *shell = s->kind == STMT_FOR ? stmt_for(r->cx, s->name, s->var, extent, s->loop_kind, s->child[0]) : s;
    const Stmt **child = NEW_ARRAY(r->cx->arena, const Stmt *, s->child_count);
    for (int i = 0; i < s->child_count; i++)
        child[i] = replace_below(r, s->child[i],
                                 extent && !is_constant(extent) ? scope : bounds_inside(r->cx, scope, shell, i));
    return stmt_with_children(r->cx, shell, child, s->child_count);
}

/* Drops the loops of symbolic extent from the scope. The variable of a loop that runs at most once is 0. But an index
 * without the variable would no longer show that the loop may not run at all. */
static const Bounds *fixed_loops(Ctx *cx, const Bounds *scope)
{
    if (!scope) return NULL;
    const Bounds *outer = fixed_loops(cx, scope->outer);
    if (scope->fact) return bounds_fact(cx, outer, scope->fact);
    return is_constant(scope->extent) ? bounds_var(cx, outer, scope->var, scope->extent) : outer;
}

const Stmt *replace_loops(Ctx *cx, const Stmt *s, const Bounds *scope, const Expr *const *from, const Expr *const *to,
                          int count)
{
    Replacing r = { cx, from, to, count };
    return replace_below(&r, s, fixed_loops(cx, scope));
}

bool feeds_axis(const Stmt *block, const Expr *var, AxisKind kind)
{
    for (int a = 0; a < block->stage->axis_count; a++)
        if (block->stage->axis[a].kind == kind && block->bind[a] && expr_uses(block->bind[a], var)) return true;
    return false;
}

static int add_conjuncts(const Expr *e, const Expr **out, int n)
{
    if (e->kind == EXPR_AND && n + 1 < MAX_CONJUNCTS)
        return add_conjuncts(e->arg[1], out, add_conjuncts(e->arg[0], out, n));
    out[n] = e;
    return n + 1;
}

int conjuncts_of(const Expr *guard, const Expr **out) { return guard ? add_conjuncts(guard, out, 0) : 0; }

const Expr *conjoin(Ctx *cx, const Expr *a, const Expr *b)
{
    if (!a || !b) return a ? a : b;
    return expr_and(cx, a, b);
}

/* ---- Drafts ---------------------------------------------------------------------------------------------------- */

Draft draft_open(Ctx *cx, const Nest *n, StepKind kind, const StepArgs *args)
{
    return (Draft){ .cx = cx, .old = n, .next = *n, .row = step_rows(&(int){ 0 }) + kind, .args = *args };
}

Step draft_step(const Draft *d) { return step_new(d->cx, d->row->kind, &d->args); }

static void list_names(Map *names, const Stmt *s)
{
    if (s->kind == STMT_FOR) map_put(names, s->name, strlen(s->name), names);
    for (int i = 0; i < s->child_count; i++) list_names(names, s->child[i]);
}

static bool is_missing(const Stmt *s, const Map *names)
{
    return s->kind == STMT_FOR && !map_get(names, s->name, strlen(s->name));
}

static void record_missing(Draft *d, const Stmt *s, const Map *names)
{
    if (is_missing(s, names)) {
        ConsumedLoop *c = NEW(d->cx->arena, ConsumedLoop);
        *c = (ConsumedLoop){ d->next.consumed, s->name, d->next.step_count, d->successors };
        d->next.consumed = c;
    }
    for (int i = 0; i < s->child_count; i++) record_missing(d, s->child[i], names);
}

static void record_consumed(Draft *d)
{
    ArenaMark mark = arena_mark(d->cx->scratch);
    Map names = map_new(d->cx->scratch);
    list_names(&names, d->next.root);
    record_missing(d, d->old->root, &names);
    arena_reset(d->cx->scratch, mark);
}

static void add_step(Draft *d)
{
    Nest *n = &d->next;
    Step *all = NEW_ARRAY(d->cx->arena, Step, n->step_count + 1);
    if (n->step_count) memcpy(all, n->step, (size_t)n->step_count * sizeof *all);
    all[n->step_count++] = draft_step(d);
    n->step = all;
}

static bool is_proved(Draft *d)
{
    const Refusal *r = nest_refusal(d->cx, &d->next);
    return !r || refuse_with(d, r);
}

/* Returns the number of loops around the innermost statement; stops above MAX_DEPTH. */
static int loop_depth(const Stmt *s)
{
    int deepest = 0;
    for (int i = 0; i < s->child_count && deepest <= MAX_DEPTH; i++) {
        const int inside = loop_depth(s->child[i]);
        if (inside > deepest) deepest = inside;
    }
    return deepest + (s->kind == STMT_FOR);
}

/* Refuses a nest with too many loops inside each other. The depth is tested after each step, because a template, and a
 * client's function, are proved only at their end. */
static bool is_too_deep(Draft *d)
{
    if (loop_depth(d->next.root) <= MAX_DEPTH) return false;
    return !refuse_unproved(d, FAULT_LIMIT, "fewer loops inside each other", "the nest would be deeper than %d loops",
                            MAX_DEPTH);
}

const Nest *draft_close(Draft *d)
{
    if (ctx_failed(d->cx) || is_too_deep(d) || (!d->cx->checks_late && !is_proved(d))) return d->old;
    add_step(d);
    record_consumed(d);
    Nest *n = NEW(d->cx->arena, Nest);
    *n = d->next;
    return n;
}
