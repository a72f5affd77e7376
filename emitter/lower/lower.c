/* SPDX-License-Identifier: MIT */
/* Lowers a nest to a function. Expansion runs first, then the passes of passes.def in order. The final steps collect
 * the parameters and sizes that the code uses and write the comment. */
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

#include "lower/check_pointers.h"
#include "lower/comment.h"
#include "lower/passes/passes.h"
#include "support/names.h"
#include "support/watch.h"

static const LowerPass passes[] = {
#define PASS(pass, what) { #pass, what, pass_##pass, false },
#define FINAL(pass, what) { #pass, what, pass_##pass, true },
#include "lower/passes/passes.def"
#undef PASS
};

const LowerPass *lower_passes(int *count)
{
    *count = (int)(sizeof passes / sizeof *passes);
    return passes;
}

bool lower_is_final(const char *pass)
{
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strcmp(passes[i].name, pass) == 0) return passes[i].is_final;
    return false;
}

/* ---- Used memories and sizes ------------------------------------------------------------------------------------- */

typedef struct Used { Map memory, size; int size_count, capacity; const Expr **sizes; Ctx *cx; } Used;

static void use_memory(Used *u, const Memory *m)
{
    map_put_ptr(&u->memory, memory_base(m), u);
}

static void use_expr(const Expr *e, void *user)
{
    Used *u = user;
    if (e->kind == EXPR_LOAD) use_memory(u, e->ref);
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE || map_get_ptr(&u->size, e)) return;
    map_put_ptr(&u->size, e, u);
    if (u->size_count == u->capacity) {
        const Expr **more = NEW_ARRAY(u->cx->arena, const Expr *, u->capacity = 2 * u->capacity + 4);
        for (int i = 0; i < u->size_count; i++) more[i] = u->sizes[i];
        u->sizes = more;
    }
    u->sizes[u->size_count++] = e;
}

static const Expr *visit_expr(Ctx *cx, const Expr *e, void *user)
{
    (void)cx;
    use_expr(e, user);
    return e;
}

static const Code *visit_code(Ctx *cx, const Code *c, void *user)
{
    if (c->memory && c->kind == CODE_STORE) use_memory(user, c->memory);
    if (c->memory && c->memory->kind == MEMORY_POINTER && c->kind == CODE_LOCAL)
        expr_walk(cx, c->memory->offset, use_expr, user);
    return c;
}

static int by_serial(const void *a, const void *b)
{
    const Var *x = expr_as_var(*(const Expr *const *)a), *y = expr_as_var(*(const Expr *const *)b);
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Returns the position of a parameter's kind: inputs, constants, scratch, outputs. */
static int rank(const Memory *m)
{
    if (m->kind == MEMORY_INPUT) return m->tensor && tensor_is_constant(m->tensor) ? 1 : 0;
    return m->kind == MEMORY_SCRATCH ? 2 : 3;
}

static void parameters(Ctx *cx, const Storages *s, Function *f)
{
    Used u = { map_new(cx->arena), map_new(cx->arena), 0, 0, NULL, cx };
    const Memory **list = NEW_ARRAY(cx->arena, const Memory *, s->memory_count);
    code_rewrite(cx, f->body, visit_code, &u);
    code_map_exprs(cx, f->body, visit_expr, &u);
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < s->memory_count; i++)
            if (rank(s->memory[i]) == r && map_get_ptr(&u.memory, s->memory[i])) list[f->memory_count++] = s->memory[i];
    f->memory = list;
    if (u.size_count) qsort(u.sizes, (size_t)u.size_count, sizeof *u.sizes, by_serial);
    f->size_count = u.size_count;
    f->size = u.sizes;
}

/* With LOOPWRIGHT_CHECK=pointers (for tests), proves that each pointer of the function is inside its memory. */
static void check_pointers(Ctx *cx, const Nest *n, const Code *code)
{
    const char *wish = getenv("LOOPWRIGHT_CHECK"),
               *why = wish && strcmp(wish, "pointers") == 0 ? pointers_check(cx, code) : NULL;
    if (why) diag_internal(cx, n->name, "%s, is not provably inside its memory", why);
}

/* Runs the passes of one kind in order, as far as `until`. */
static const Code *run_passes(Ctx *cx, const LowerOptions *options, const Code *code, bool final)
{
    bool has_stopped = false;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && code && !has_stopped && !ctx_failed(cx); i++) {
        has_stopped = options->until && strcmp(options->until, passes[i].name) == 0;
        if (passes[i].is_final != final) continue;
        code = passes[i].run(cx, options, code);
        watch_lap(options->watch, "code", passes[i].name);
    }
    return code;
}

/* Returns the code, or an empty body if the code is NULL. Passes drop code without effect, such as a copy of a tensor
 * onto itself. */
static const Code *or_empty(Ctx *cx, const Code *code) { return code ? code : code_seq(cx, NULL, 0); }

const Function *lower_final(Ctx *cx, const Function *f, const LowerOptions *options)
{
    const LowerOptions own = { .view = NULL };
    if (!f) return NULL;
    Function *final = arena_copy(cx->arena, f, sizeof *f);
    final->body = or_empty(cx, run_passes(cx, options ? options : &own, f->body, true));
    return final;
}

const Function *lower_nest(Ctx *cx, const Nest *n, const LowerOptions *options)
{
    if (!n || ctx_failed(cx)) return NULL;
    const Refusal *refusal = nest_memory_refusal(cx, n);
    if (refusal) refusal_report(cx, n->name, refusal);
    if (refusal) return NULL;
    LowerOptions own = options ? *options : (LowerOptions){ .view = NULL };
    Watch *watch = own.watch;
    if (n->copy_budget) own.code_budget = n->copy_budget;
    options = &own;
    Storages s = storages_new(cx, n, options);
    const Code *code = expand_nest(&s);
    watch_lap(watch, "code", "expand");
    code = run_passes(cx, options, code, false);
    if (ctx_failed(cx)) return NULL;
    check_pointers(cx, n, code);
    Function *f = NEW(cx->arena, Function);
    f->name = name_identifier(cx, n->name);
    f->body = or_empty(cx, code);
    parameters(cx, &s, f);
    Comment c = comment_of(cx, &s, f);
    f->comment = arena_copy(cx->arena, c.line, sizeof c.line);
    f->comment_count = c.count;
    return f;
}
