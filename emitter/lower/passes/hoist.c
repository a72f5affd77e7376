/* SPDX-License-Identifier: MIT */
/* Hoists address computations. An index is linear in loop variables. The part that is invariant in the innermost loop
 * of the index is computed before that loop:
 *
 *     for (c...) acc += x[(h + i - 1)*512 + (w + j - 1)*16 + c] * k[(i*3 + j)*512 + c*32 + o];
 * =>  const float *x_j = x + ...;  const float *k_j = k + ...;
 *     for (c...) acc += x_j[c] * k_j[c*32];
 *
 * In C a pointer outside its array is undefined even if nothing is read through it. So the pass forms a pointer only if
 * the loop's first iteration certainly reads through it. Otherwise it keeps the sum as an index, which may have any
 * value. Accesses that differ by constants share one address. The name states the innermost loop that the address
 * depends on: x_j is x at this j and at the current iterations of the outer loops. The name of an index contains `at`:
 * x_at_j. */
#include "lower/passes/passes.h"
#include "support/names.h"

enum { MAX_ADDRESSES = 512 };

typedef struct Address {
    const Memory *memory;        /* the accessed memory */
    const Expr *fixed;           /* the loop-invariant part, without its constant */
    int64_t constant;            /* the smallest constant in the accesses at this address */
    bool is_written;
    bool is_reached;             /* true if some access happens in every first iteration */
    const Memory *pointer;       /* the address memory + fixed + constant */
    /* The index variable that replaces `pointer` if the address may be outside the memory, otherwise NULL. */
    const Expr *var;
} Address;

typedef struct Hoist {
    Ctx *cx;
    int loop_count, address_count;
    const Code *loop[MAX_DEPTH];          /* the enclosing loops */
    Address address[MAX_ADDRESSES];       /* the addresses in scope, newest last */
} Hoist;

/* ---- Indices --------------------------------------------------------------------------------------------------- */

typedef struct Parts { int at, place; const Expr *fixed, *moving; int64_t constant; } Parts;

/* Returns variable i that a loop defines for its body: its own variable, then the clamped indices that its body
 * declares first. Returns NULL after the last. */
static const Expr *var_of(const Code *loop, int i)
{
    const Code *body = loop->child[0];
    if (i == 0) return loop->var;
    return body->kind == CODE_SEQ && i <= body->child_count && body->child[i - 1]->kind == CODE_LET
               ? body->child[i - 1]->var
               : NULL;
}

static bool depends_on(const Expr *e, const Code *loop)
{
    for (int i = 0; var_of(loop, i); i++)
        if (expr_uses(e, var_of(loop, i))) return true;
    return false;
}

typedef struct Locals { const Hoist *h; bool has_other; } Locals;

static void find_local(const Expr *e, void *user)
{
    Locals *l = user;
    const Var *v = expr_as_var(e);
    if (e->kind == EXPR_LOAD || e->kind == EXPR_AT) l->has_other = true;
    if (!v || v->role != VAR_LOCAL) return;
    for (int i = 0; i < l->h->loop_count; i++)
        if (depends_on(e, l->h->loop[i])) return;
    l->has_other = true;
}

static const Expr *add_to(Ctx *cx, const Expr *sum, const Expr *term, int64_t coef)
{
    if (coef == 0 || expr_is_int(term, 0)) return sum;
    if (sum && coef < 0) {
        const Expr *part = coef == -1 ? term : expr_mul(cx, term, expr_index(cx, -coef));
        return expr_sub(cx, sum, part);
    }
    const Expr *part = coef == 1    ? term
                       : coef == -1 ? expr_unary(cx, EXPR_NEG, term)
                                    : expr_mul(cx, term, expr_index(cx, coef));
    return sum ? expr_add(cx, sum, part) : part;
}

/* Returns the sum in an address's usual form: terms of one stride together, large strides first, the constant
 * distributed.
 *     h*512 + i*512 + w*16 + j*16 - 528  =  (h + i - 1)*512 + (w + j - 1)*16 */
static const Expr *readable_sum(Ctx *cx, const Linear *l)
{
    bool done[MAX_TERMS] = { false };
    int64_t constant = l->constant;
    const Expr *sum = NULL;
    for (int left = l->count; left > 0;) {
        int64_t stride = 0;
        for (int i = 0; i < l->count; i++)
            if (!done[i] && (l->coef[i] < 0 ? -l->coef[i] : l->coef[i]) > stride)
                stride = l->coef[i] < 0 ? -l->coef[i] : l->coef[i];
        const Expr *inner = NULL;
        for (int sign = 1; sign >= -1; sign -= 2)
            for (int i = 0; i < l->count; i++) {
                if (done[i] || l->coef[i] != sign * stride) continue;
                inner = add_to(cx, inner, l->term[i], sign);
                done[i] = true;
                left--;
            }
        int64_t share = stride > 1 && constant < 0 ? constant / stride : 0;     /* h - 1, but not h + 1 */
        inner = add_to(cx, inner, expr_index(cx, share < 0 ? -share : share), share < 0 ? -1 : 1);
        constant -= share * stride;
        sum = add_to(cx, sum, inner, stride);
    }
    if (!sum) return expr_index(cx, constant);
    return constant ? add_to(cx, sum, expr_index(cx, constant < 0 ? -constant : constant), constant < 0 ? -1 : 1) : sum;
}

static const Expr *readable(Hoist *h, const Expr *index)
{
    Linear l;
    return linear_of(h->cx, index, &l) ? readable_sum(h->cx, &l) : index;
}

/* Splits an index at its innermost loop. Returns false if there is nothing to hoist. The fixed part is computable
 * before loop number `place`. */
static bool part_index(Hoist *h, const Memory *m, const Expr *index, Parts *out)
{
    Locals locals = { h, false };
    Linear l, fixed = { .type = I32 }, moving = { .type = I32 };
    if (m->kind == MEMORY_LOCAL || m->kind == MEMORY_SCALAR || m->kind == MEMORY_POINTER) return false;
    expr_walk(h->cx, index, find_local, &locals);
    if (locals.has_other || !linear_of(h->cx, index, &l)) return false;
    int at = h->loop_count - 1;
    while (at >= 0 && !depends_on(index, h->loop[at])) at--;
    if (at < 0) return false;
    *out = (Parts){ .at = at, .place = at, .constant = l.constant };
    for (int i = 0; i < l.count; i++) {
        Linear *to = depends_on(l.term[i], h->loop[at]) ? &moving : &fixed;
        to->term[to->count] = l.term[i];
        to->coef[to->count++] = l.coef[i];
    }
    if (fixed.count == 0 || (fixed.count == 1 && fixed.coef[0] == 1 && fixed.term[0]->kind == EXPR_VAR)) return false;
    out->fixed = linear_expr(h->cx, &fixed);
    while (out->place > 0 && !depends_on(out->fixed, h->loop[out->place - 1])) out->place--;
    moving.constant = 0;
    out->moving = readable_sum(h->cx, &moving);
    return true;
}

static Address *find_address(Hoist *h, int from, const Memory *m, const Expr *fixed)
{
    for (int i = h->address_count - 1; i >= from; i--)
        if (h->address[i].memory == m && h->address[i].fixed == fixed) return &h->address[i];
    return NULL;
}

/* ---- First walk: collects the addresses of a loop ---------------------------------------------------------------- */

typedef struct Collect { Hoist *h; int at, from; bool surely; } Collect;

static const Bounds *scope_of(Hoist *h, int count)
{
    const Bounds *scope = NULL;
    for (int i = 0; i < count; i++) scope = code_bounds(h->cx, scope, h->loop[i]);
    return scope;
}

/* Returns the moving part in the loop's first iteration. */
static const Expr *in_first_iteration(Hoist *h, const Code *loop, const Expr *moving)
{
    const Code *body = loop->child[0];
    for (int i = body->kind == CODE_SEQ ? body->child_count - 1 : -1; i >= 0; i--)
        if (body->child[i]->kind == CODE_LET)
            moving = expr_substitute(h->cx, moving, &body->child[i]->var, &body->child[i]->value, 1);
    return expr_substitute(h->cx, moving, &loop->var, &loop->begin, 1);
}

/* Returns true if the first iteration reads at the pointer, or after it while the pointer is not before the memory's
 * start. The pointer is then valid. */
static bool first_iteration_reads_at(Hoist *h, const Parts *p)
{
    const Code *loop = h->loop[p->at];
    const Bounds *scope = scope_of(h, p->at);
    if (!expr_is_int(loop->begin, 0)) return false;
    const Expr *first = simplify(h->cx, in_first_iteration(h, loop, p->moving), scope);
    if (expr_is_int(first, 0)) return true;
    const Expr *begin = expr_add(h->cx, p->fixed, expr_index(h->cx, p->constant));
    return interval_of(h->cx, first, scope).least >= 0 && interval_of(h->cx, begin, scope).least >= 0;
}

static void collect(Collect *w, const Memory *m, const Expr *index, bool is_written)
{
    Hoist *h = w->h;
    Parts p;
    if (!part_index(h, m, index, &p) || p.place != w->at) return;
    Address *a = find_address(h, 0, m, p.fixed);
    /* The address is declared outside the loop already. */
    if (a && a < h->address + w->from && (!is_written || a->is_written || !a->pointer)) return;
    if (a && a < h->address + w->from) a = NULL;
    bool reached = w->surely && first_iteration_reads_at(h, &p);
    if (!a) {
        if (h->address_count == MAX_ADDRESSES) return;
        a = &h->address[h->address_count++];
        *a = (Address){ .memory = m, .fixed = p.fixed, .constant = p.constant, .is_reached = reached };
    } else if (reached && !a->is_reached) {
        a->constant = p.constant;
        a->is_reached = true;
    } else if (reached == a->is_reached && p.constant < a->constant) a->constant = p.constant;
    a->is_written = a->is_written || is_written;
}

/* Collects the loads of an expression; a lazily evaluated operand is not treated as certainly reached. */
static void collect_loads(Collect *w, const Expr *e)
{
    bool lazy = e->kind == EXPR_SELECT || e->kind == EXPR_AND || e->kind == EXPR_OR, surely = w->surely;
    if (e->kind == EXPR_LOAD) collect(w, e->ref, e->arg[0], false);
    for (int i = 0; i < e->arg_count; i++) {
        w->surely = surely && !(lazy && i > 0);
        collect_loads(w, e->arg[i]);
    }
    w->surely = surely;
}

static bool surely_runs(Hoist *h, const Code *loop)
{
    int outer = 0;
    while (outer < h->loop_count && h->loop[outer] != loop) outer++;
    return provably(h->cx, expr_binary(h->cx, EXPR_LT, loop->begin, loop->end), scope_of(h, outer));
}

static void collect_all(Collect *w, const Code *c)
{
    Hoist *h = w->h;
    bool surely = w->surely;
    /* A macro's portable form declares its own addresses, because declarations outside might be unused */
    if (c->kind == CODE_CALL) return;
    if (c->kind == CODE_STORE || c->kind == CODE_LET) collect_loads(w, c->value);
    if (c->kind == CODE_STORE) collect(w, c->memory, c->index, true);
    if (c->kind == CODE_IF) {
        collect_loads(w, c->cond);
        w->surely = false;
    }
    if (c->kind == CODE_FOR) {
        h->loop[h->loop_count++] = c;
        w->surely = surely && surely_runs(h, c);
    }
    for (int i = 0; i < c->child_count; i++) collect_all(w, c->child[i]);
    if (c->kind == CODE_FOR) h->loop_count--;
    w->surely = surely;
}

/* ---- Second walk: declare and use ------------------------------------------------------------------------------ */

static const Expr *use(Hoist *h, const Memory **m, const Expr *index)
{
    Parts p;
    if (!part_index(h, *m, index, &p)) return readable(h, index);
    const Address *a = find_address(h, 0, *m, p.fixed);
    if (!a || (!a->pointer && !a->var)) return index;
    int64_t beside = p.constant - a->constant;
    if (a->pointer) *m = a->pointer;
    const Expr *base = a->pointer ? p.moving : expr_add(h->cx, a->var, p.moving);
    if (beside < 0) return expr_sub(h->cx, base, expr_index(h->cx, -beside));
    return beside ? expr_add(h->cx, base, expr_index(h->cx, beside)) : base;
}

static const Expr *use_in_load(Ctx *cx, const Expr *e, void *user)
{
    if (e->kind != EXPR_LOAD) return e;
    const Memory *m = e->ref;
    const Expr *index = use(user, &m, e->arg[0]);
    return load_expr(cx, m, index);
}

/* Returns the name of a pointer (x_j, or x_t_row for the reserved x_t) or of an index (x_at_j). */
static const char *address_name(Hoist *h, const Address *a)
{
    const char *stem = a->is_reached ? a->memory->name : name_format(h->cx, "%s_at", a->memory->name);
    for (int i = h->loop_count - 1; i >= 0; i--)
        if (depends_on(a->fixed, h->loop[i])) {
            const char *loop = expr_as_var(h->loop[i]->var)->name, *both = name_format(h->cx, "%s_%s", stem, loop);
            return name_identifier(h->cx, both) == both ? both : name_format(h->cx, "%s_%s_row", stem, loop);
        }
    return a->is_reached ? name_format(h->cx, "%s_begin", stem) : stem;
}

static const Code *declare(Hoist *h, Address *a)
{
    Ctx *cx = h->cx;
    Linear l;
    if (!linear_of(cx, a->fixed, &l)) return NULL;
    l.constant = a->constant;
    const Expr *sum = readable_sum(cx, &l);
    const char *stem = address_name(h, a);
    if (!a->is_reached) {
        a->var = expr_new_var(cx, stem, VAR_LOCAL, I32, INT32_MIN, INT32_MAX);
        return code_let(cx, a->var, sum);
    }
    Memory proto = { .name = stem, .type = a->memory->type, .kind = MEMORY_POINTER, .tensor = a->memory->tensor };
    proto.is_const = !a->is_written;
    proto.base = a->memory;
    proto.offset = sum;
    a->pointer = memory_new(cx, &proto);
    return code_local(cx, a->pointer);
}

static const Code *hoist(Hoist *h, const Code *c);

static void find_call(const Expr *e, void *user)
{
    if (expr_info(e->kind)->form == EXPR_CALL || e->kind == EXPR_FLOORDIV) *(bool *)user = true;
}

/* Returns the loop's end, as a variable if a test of the end would compute it again in every iteration. */
static const Expr *end_of(Hoist *h, const Code *loop, const Code **let)
{
    bool computes = false;
    expr_walk(h->cx, loop->end, find_call, &computes);
    *let = NULL;
    if (!computes) return loop->end;
    Interval range = interval_of(h->cx, loop->end, scope_of(h, h->loop_count));
    const char *end_name = name_format(h->cx, "%s_end", expr_as_var(loop->var)->name);
    const Expr *var = expr_new_var(h->cx, end_name, VAR_LOCAL, I32, range.least, range.greatest);
    *let = code_let(h->cx, var, loop->end);
    return var;
}

static const Code *hoist_for(Hoist *h, const Code *c)
{
    Ctx *cx = h->cx;
    if (h->loop_count == MAX_DEPTH) return c;
    Collect w = { h, h->loop_count, h->address_count, surely_runs(h, c) };
    h->loop[h->loop_count++] = c;
    collect_all(&w, c->child[0]);
    h->loop_count--;
    int declared = h->address_count - w.from;
    const Code **part = NEW_ARRAY(cx->arena, const Code *, declared + 2);
    for (int i = 0; i < declared; i++) part[i] = declare(h, &h->address[w.from + i]);
    int kept = h->address_count;
    h->loop[h->loop_count++] = c;
    const Code *body = hoist(h, c->child[0]);
    h->loop_count--;
    h->address_count = kept;
    const Expr *end = end_of(h, c, &part[declared]);
    part[declared + 1] = code_for(cx, c->var, c->begin, end, c->step, c->loop_kind, body);
    return code_seq(cx, part, declared + 2);
}

static const Code *hoist_branch(Hoist *h, const Code *c)
{
    int kept = h->address_count;
    const Code *to = hoist(h, c);
    h->address_count = kept;
    return to;
}

static const Code *hoist(Hoist *h, const Code *c)
{
    Ctx *cx = h->cx;
    switch (c->kind) {
    case CODE_SEQ: {
        const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count);
        for (int i = 0; i < c->child_count; i++) child[i] = hoist(h, c->child[i]);
        return code_seq(cx, child, c->child_count);
    }
    case CODE_FOR: return hoist_for(h, c);
    case CODE_SCOPE: return code_scope(cx, hoist_branch(h, c->child[0]));
    case CODE_IF: {
        const Code *no = c->child_count > 1 ? hoist_branch(h, c->child[1]) : NULL, *yes = hoist_branch(h, c->child[0]);
        return code_if(cx, expr_rewrite(cx, c->cond, use_in_load, h), yes, no);
    }
    case CODE_LET: return code_let(cx, c->var, expr_rewrite(cx, c->value, use_in_load, h));
    case CODE_STORE: {
        const Memory *m = c->memory;
        const Expr *index = use(h, &m, c->index);
        /* A macro's portable form stores through pointers through which neighbouring statements only read */
        if (m->kind == MEMORY_POINTER && m->is_const) {
            m = c->memory;
            index = readable(h, c->index);
        }
        return code_store(cx, m, index, expr_rewrite(cx, c->value, use_in_load, h));
    }
    case CODE_CALL:
        return code_call_with(cx, c, c->args, c->child_count ? hoist_branch(h, c->child[0]) : NULL);
    case CODE_LOCAL: break;
    }
    return c;
}

const Code *pass_hoist(Ctx *cx, const LowerOptions *options, const Code *c)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Hoist *h = NEW(cx->scratch, Hoist);
    h->cx = cx;
    (void)options;
    c = hoist(h, c);
    arena_reset(cx->scratch, mark);
    return c;
}
