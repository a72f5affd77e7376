/* SPDX-License-Identifier: MIT */
/* Constructors and rewriting of lowered code. Code is immutable. Constructors drop code without effect (an empty loop
 * or branch, a branch with a constant condition), so passes need no clean-up. */
#include "ir/nest/code.h"

#include <string.h>

#include "ir/nest/external.h"
#include "support/map.h"
#include "support/names.h"

static const Code *code_of(Ctx *cx, const Code *proto, const Code *const *child, int count)
{
    Code *c = arena_copy(cx->arena, proto, sizeof *proto);
    c->child_count = count;
    c->child = arena_copy(cx->arena, child, (size_t)count * sizeof *child);
    return c;
}

static bool is_nothing(const Code *c) { return !c || (c->kind == CODE_SEQ && c->child_count == 0); }

const Code *code_seq(Ctx *cx, const Code *const *child, int count)
{
    int flat = 0, n = 0;
    for (int i = 0; i < count; i++)
        if (child[i]) flat += child[i]->kind == CODE_SEQ ? child[i]->child_count : 1;
    const Code **all = NEW_ARRAY(cx->arena, const Code *, flat);
    for (int i = 0; i < count; i++) {
        if (!child[i]) continue;
        if (child[i]->kind != CODE_SEQ) all[n++] = child[i];
        else
            for (int j = 0; j < child[i]->child_count; j++) all[n++] = child[i]->child[j];
    }
    if (n == 1) return all[0];
    Code proto = { .kind = CODE_SEQ };
    return code_of(cx, &proto, all, n);
}

static bool declares(const Code *c)
{
    if (c->kind != CODE_SEQ) return c->kind == CODE_LOCAL || c->kind == CODE_LET;
    for (int i = 0; i < c->child_count; i++)
        if (declares(c->child[i])) return true;
    return false;
}

const Code *code_scope(Ctx *cx, const Code *body)
{
    if (is_nothing(body) || !declares(body)) return is_nothing(body) ? NULL : body;
    Code proto = { .kind = CODE_SCOPE };
    return code_of(cx, &proto, &body, 1);
}

const Code *code_for(Ctx *cx, const Expr *var, const Expr *begin, const Expr *end, int64_t step, LoopKind kind,
                     const Code *body)
{
    bool never = begin == end || (begin->kind == EXPR_INT && end->kind == EXPR_INT && begin->integer >= end->integer);
    if (is_nothing(body) || never) return NULL;
    Code proto = { .kind = CODE_FOR, .var = var, .begin = begin, .end = end, .step = step, .loop_kind = kind };
    return code_of(cx, &proto, &body, 1);
}

const Code *code_with_pragma(Ctx *cx, const Code *loop, const char *macro)
{
    if (!loop || !macro) return loop;
    Code proto = *loop;
    proto.pragma = macro;
    return code_of(cx, &proto, loop->child, 1);
}

/* Returns the loop with other bounds or a different body; keeps its pragma. */
static const Code *loop_with(Ctx *cx, const Code *c, const Expr *begin, const Expr *end, const Code *body)
{
    return code_with_pragma(cx, code_for(cx, c->var, begin, end, c->step, c->loop_kind, body), c->pragma);
}

const Code *code_if(Ctx *cx, const Expr *cond, const Code *yes, const Code *no)
{
    if (!cond || expr_is_int(cond, 1)) return is_nothing(yes) ? NULL : yes;
    if (expr_is_int(cond, 0)) return is_nothing(no) ? NULL : no;
    if (is_nothing(no)) no = NULL;
    if (is_nothing(yes)) {
        if (!no) return NULL;
        cond = expr_unary(cx, EXPR_NOT, cond);
        yes = no;
        no = NULL;
    }
    if (!no && yes->kind == CODE_IF && yes->child_count == 1) {   /* if (a) if (b) S  =  if (a && b) S */
        cond = expr_and(cx, cond, yes->cond);
        yes = yes->child[0];
    }
    Code proto = { .kind = CODE_IF, .cond = cond };
    const Code *both[] = { yes, no };
    return code_of(cx, &proto, both, no ? 2 : 1);
}

const Code *code_let(Ctx *cx, const Expr *var, const Expr *value)
{
    Code proto = { .kind = CODE_LET, .var = var, .value = value };
    return code_of(cx, &proto, NULL, 0);
}

const Code *code_local(Ctx *cx, const Memory *m)
{
    Code proto = { .kind = CODE_LOCAL, .memory = m };
    return code_of(cx, &proto, NULL, 0);
}

const Code *code_store(Ctx *cx, const Memory *m, const Expr *index, const Expr *value)
{
    Code proto = { .kind = CODE_STORE, .memory = m, .index = index, .value = value };
    return code_of(cx, &proto, NULL, 0);
}

const Code *code_call(Ctx *cx, const char *macro, const Expr *const *args, int count)
{
    Code proto = { .kind = CODE_CALL, .text = name(cx, macro), .arg_count = count };
    proto.args = arena_copy(cx->arena, args, (size_t)count * sizeof *args);
    return code_of(cx, &proto, NULL, 0);
}

const Code *code_call_at(Ctx *cx, const char *macro, const Expr *const *args, int count)
{
    Code proto = { .kind = CODE_CALL, .text = name(cx, macro), .arg_count = count, .takes_addresses = true };
    proto.args = arena_copy(cx->arena, args, (size_t)count * sizeof *args);
    return code_of(cx, &proto, NULL, 0);
}

const Code *code_set(Ctx *cx, const FieldValue *f)
{
    Code proto = { .kind = CODE_CALL, .text = f->macro, .arg_count = 1, .sets = f->field };
    const Code *nothing = code_seq(cx, NULL, 0);
    proto.args = arena_copy(cx->arena, &f->value, sizeof f->value);
    return code_of(cx, &proto, &nothing, 1);
}

const Code *code_needing(Ctx *cx, const Code *call, const FieldValue *need, int count)
{
    Code *copy = arena_copy(cx->arena, call, sizeof *copy);
    copy->need = arena_copy(cx->arena, need, (size_t)count * sizeof *need);
    copy->need_count = count;
    return copy;
}

const Code *code_external(Ctx *cx, const struct External *e, const char *function, const Expr *const *args, int count)
{
    Code proto = { .kind = CODE_CALL, .text = name(cx, function), .arg_count = count, .external = e };
    proto.args = arena_copy(cx->arena, args, (size_t)count * sizeof *args);
    return code_of(cx, &proto, NULL, 0);
}

/* Returns true if nothing is left of the loops of an instruction. The portable form of a macro that sets a field is
 * always empty. */
static bool becomes_nothing(const Code *call, const Code *otherwise)
{
    return call->child_count && !call->sets && !is_nothing(call->child[0]) && is_nothing(otherwise);
}

const Code *code_call_with(Ctx *cx, const Code *call, const Expr *const *args, const Code *otherwise)
{
    if (becomes_nothing(call, otherwise)) return NULL;
    if (call->takes_addresses) return code_call_at(cx, call->text, args, call->arg_count);
    return call->external ? code_external(cx, call->external, call->text, args, call->arg_count)
                          : code_call_or(cx, call->text, args, call->arg_count, otherwise);
}

const Code *code_call_or(Ctx *cx, const char *macro, const Expr *const *args, int count, const Code *otherwise)
{
    const Code *c = code_call(cx, macro, args, count);
    return otherwise ? code_of(cx, c, &otherwise, 1) : c;
}

/* ---- Rewriting ------------------------------------------------------------------------------------------------- */

const Code *code_with_children(Ctx *cx, const Code *c, const Code *const *child)
{
    bool same = true;
    for (int i = 0; i < c->child_count; i++) same = same && child[i] == c->child[i];
    if (same) return c;
    switch (c->kind) {
    case CODE_SEQ: return code_seq(cx, child, c->child_count);
    case CODE_SCOPE: return code_scope(cx, child[0]);
    case CODE_FOR: return loop_with(cx, c, c->begin, c->end, child[0]);
    case CODE_IF:  return code_if(cx, c->cond, child[0], c->child_count > 1 ? child[1] : NULL);
    case CODE_CALL: return becomes_nothing(c, child[0]) ? NULL
                         : code_call_or(cx, c->text, c->args, c->arg_count, child[0]);
    default:       return c;
    }
}

const Code *code_rewrite(Ctx *cx, const Code *c, CodeVisit *visit, void *user)
{
    if (!c) return NULL;
    if (c->child_count) {
        const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count);
        for (int i = 0; i < c->child_count; i++) child[i] = code_rewrite(cx, c->child[i], visit, user);
        c = code_with_children(cx, c, child);
    }
    return c ? visit(cx, c, user) : NULL;
}

const Code *code_with_exprs(Ctx *cx, const Code *c, ExprVisit *map, void *user)
{
    Code to = *c;
    const Expr **all[] = { &to.begin, &to.end, &to.cond, &to.index, &to.value };
    const Expr *const old[] = { c->begin, c->end, c->cond, c->index, c->value };
    bool same = true;
    for (int i = 0; i < 5; i++) {
        if (old[i]) *all[i] = map(cx, old[i], user);
        same = same && *all[i] == old[i];
    }
    if (c->arg_count) {
        const Expr **args = NEW_ARRAY(cx->arena, const Expr *, c->arg_count);
        for (int i = 0; i < c->arg_count; i++) {
            args[i] = map(cx, c->args[i], user);
            same = same && args[i] == c->args[i];
        }
        to.args = args;
    }
    if (same) return c;
    if (c->kind == CODE_IF) return code_if(cx, to.cond, c->child[0], c->child_count > 1 ? c->child[1] : NULL);
    if (c->kind == CODE_FOR) return loop_with(cx, c, to.begin, to.end, c->child[0]);
    return code_of(cx, &to, c->child, c->child_count);
}

typedef struct MapExprs { ExprVisit *visit; void *user; } MapExprs;

static const Expr *rewrite_expr(Ctx *cx, const Expr *e, void *user)
{
    const MapExprs *m = user;
    return expr_rewrite(cx, e, m->visit, m->user);
}

static const Code *map_exprs(Ctx *cx, const Code *c, void *user)
{
    if (c->kind == CODE_LOCAL && c->memory->kind == MEMORY_POINTER
        && rewrite_expr(cx, c->memory->offset, user) != c->memory->offset)
        diag_internal(cx, NULL, "a hoisted address was rewritten");
    return code_with_exprs(cx, c, rewrite_expr, user);
}

const Code *code_map_exprs(Ctx *cx, const Code *c, ExprVisit *visit, void *user)
{
    MapExprs m = { visit, user };
    return code_rewrite(cx, c, map_exprs, &m);
}

typedef struct Swap { const Expr *from, *to; } Swap;

static const Expr *swap_one(Ctx *cx, const Expr *e, void *user)
{
    const Swap *s = user;
    (void)cx;
    return e == s->from ? s->to : e;
}

const Code *code_substitute(Ctx *cx, const Code *c, const Expr *from, const Expr *to)
{
    Swap s = { from, to };
    return code_map_exprs(cx, c, swap_one, &s);
}

typedef struct Fresh { Map var; } Fresh;

static const Code *renew(Ctx *cx, const Code *c, void *user)
{
    Fresh *f = user;
    if (c->kind != CODE_LET || map_get_const_ptr(&f->var, c->var)) return c;
    const Var *v = expr_as_var(c->var);
    const Expr *var = expr_new_var(cx, v->name, v->role, v->type, v->least, v->greatest);
    map_put_const_ptr(&f->var, c->var, var);
    return c;
}

static const Expr *renew_expr(Ctx *cx, const Expr *e, void *user)
{
    Fresh *f = user;
    const Expr *to = e->kind == EXPR_VAR ? map_get_const_ptr(&f->var, e) : NULL;
    (void)cx;
    return to ? to : e;
}

static const Code *renew_code(Ctx *cx, const Code *c, void *user)
{
    Fresh *f = user;
    const Expr *var = c->kind == CODE_LET ? map_get_const_ptr(&f->var, c->var) : NULL;
    return var ? code_let(cx, var, c->value) : c;
}

const Code *code_fresh(Ctx *cx, const Code *c)
{
    Fresh f = { map_new(cx->arena) };
    code_rewrite(cx, c, renew, &f);
    if (!f.var.count) return c;
    c = code_map_exprs(cx, c, renew_expr, &f);
    return code_rewrite(cx, c, renew_code, &f);
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

/* Returns true if the parameter is `restrict`. Weights never overlap other parameters, even if inputs and outputs
 * do. */
bool function_is_apart(const Function *f, const Memory *m)
{
    if (!f->may_alias || m->kind == MEMORY_SCRATCH) return m->is_restrict;
    return m->tensor && tensor_is_constant(m->tensor);
}

int64_t code_size(const Code *c)
{
    if (!c) return 0;
    int64_t n = c->kind == CODE_STORE || c->kind == CODE_CALL || c->kind == CODE_LET;
    for (int i = 0; i < c->child_count; i++) n += code_size(c->child[i]);
    return n;
}

bool code_may_stop(const Code *c)
{
    bool stops = c && c->kind == CODE_CALL && c->external && c->external->has_status;
    for (int i = 0; c && i < c->child_count; i++) stops = stops || code_may_stop(c->child[i]);
    return stops;
}

int conjuncts(const Expr *cond, const Expr **out, int capacity)
{
    if (cond->kind != EXPR_AND) {
        if (capacity > 0) out[0] = cond;
        return 1;
    }
    int n = conjuncts(cond->arg[0], out, capacity);
    return n + conjuncts(cond->arg[1], n < capacity ? out + n : out, n < capacity ? capacity - n : 0);
}

const Bounds *code_fact(Ctx *cx, const Bounds *outer, const Expr *fact)
{
    Bounds *b = NEW(cx->arena, Bounds);
    *b = (Bounds){ .outer = outer, .fact = fact };
    return b;
}

const Bounds *code_bounds(Ctx *cx, const Bounds *outer, const Code *loop)
{
    bool from_zero = expr_is_int(loop->begin, 0) || interval_of(cx, loop->begin, outer).least >= 0;
    if (from_zero) {
        Bounds *b = NEW(cx->arena, Bounds);
        *b = (Bounds){ .outer = outer, .var = loop->var, .extent = loop->end };
        outer = b;
    } else outer = code_fact(cx, outer, expr_binary(cx, EXPR_LT, loop->var, loop->end));
    if (expr_is_int(loop->begin, 0)) return outer;
    return code_fact(cx, outer, expr_binary(cx, EXPR_LE, loop->begin, loop->var));
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

bool lets_add(Lets *l, const Code *let)
{
    if (l->count == MOST_LETS) return false;
    l->var[l->count] = let->var;
    l->value[l->count++] = let->value;
    return true;
}

const Expr *lets_replace(Ctx *cx, const Lets *l, const Expr *e)
{
    for (int i = l->count - 1; e && i >= 0; i--) e = expr_substitute(cx, e, &l->var[i], &l->value[i], 1);
    return e;
}

bool code_any(const Code *c, bool (*is)(const Code *c, const void *user), const void *user)
{
    if (is(c, user)) return true;
    for (int i = 0; i < c->child_count; i++)
        if (code_any(c->child[i], is, user)) return true;
    return false;
}

static bool is_store_to(const Code *c, const void *memory) { return c->kind == CODE_STORE && c->memory == memory; }

bool code_stores(const Code *c, const Memory *m) { return code_any(c, is_store_to, m); }
