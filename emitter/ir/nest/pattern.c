/* SPDX-License-Identifier: MIT */
#include "ir/nest/pattern.h"

#include "support/map.h"

static const char *const names[] = {
    [PATTERN_ELEMENTWISE] = "elementwise", [PATTERN_BROADCAST] = "broadcast", [PATTERN_INJECTIVE] = "injective",
    [PATTERN_REDUCTION] = "reduction", [PATTERN_OUT_FUSABLE] = "out-fusable", [PATTERN_OPAQUE] = "opaque",
};

const char *pattern_text(Pattern p) { return names[p]; }

/* ---- Contractions ------------------------------------------------------------------------------------------------ */

static bool varies_along_a_reduce_axis(const Stage *s, const Expr *e)
{
    for (int a = s->data_count; a < s->axis_count; a++)
        if (expr_uses(e, s->axis[a].var)) return true;
    return false;
}

typedef struct OwnRead { const Expr *other; bool any; } OwnRead;

static void find_own_read(const Expr *e, void *user)
{
    OwnRead *r = user;
    r->any = r->any || (e->kind == EXPR_READ && !expr_uses(r->other, e));
}

/* Returns true if e reads an element that `other` does not read. */
static bool reads_besides(Ctx *cx, const Expr *e, const Expr *other)
{
    OwnRead r = { other, false };
    expr_walk(cx, e, find_own_read, &r);
    return r.any;
}

static bool is_product(Ctx *cx, const Stage *s, const Expr *e)
{
    const Expr *a = e->arg[0], *b = e->arg[1];
    return varies_along_a_reduce_axis(s, a) && varies_along_a_reduce_axis(s, b) && reads_besides(cx, a, b) &&
        reads_besides(cx, b, a);
}

/* The walk visits operands first. `sums` holds the expressions of which a product is a summand. The product may be
 * guarded, converted or multiplied by more factors. */
typedef struct Products { Ctx *cx; const Stage *s; Map sums; } Products;

static bool has_product(const Products *p, const Expr *e, int from)
{
    for (int i = from; i < e->arg_count; i++)
        if (map_get_ptr(&p->sums, e->arg[i])) return true;
    return false;
}

static bool sums_products(const Products *p, const Expr *e)
{
    switch (e->kind) {
    case EXPR_MUL: return is_product(p->cx, p->s, e) || has_product(p, e, 0);
    case EXPR_SELECT: return has_product(p, e, SELECT_YES);
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_CAST:
    case EXPR_NEG: return has_product(p, e, 0);
    default: return false;
    }
}

static void note_products(const Expr *e, void *user)
{
    Products *p = user;
    if (sums_products(p, e)) map_put_ptr(&p->sums, e, p);
}

bool stage_is_contraction(Ctx *cx, const Stage *s)
{
    if (s->reducer != REDUCE_SUM || s->axis_count == s->data_count) return false;
    /* Not in the scratch arena, because expr_walk frees what its visits allocate in that arena. */
    Products p = { cx, s, map_new(cx->arena) };
    expr_walk(cx, s->value[0], note_products, &p);
    return map_get_ptr(&p.sums, s->value[0]) != NULL;
}

/* ---- Index maps -------------------------------------------------------------------------------------------------- */

/* Returns true if a variable of the stage occurs in the index itself, outside the reads in it. */
static bool uses_an_axis(const Stage *s, const Expr *index)
{
    if (index->kind == EXPR_READ) return false;
    for (int a = 0; a < s->axis_count; a++)
        if (index == s->axis[a].var) return true;
    for (int i = 0; i < index->arg_count; i++)
        if (uses_an_axis(s, index->arg[i])) return true;
    return false;
}

static int axis_of(const Stage *s, const Expr *index)
{
    for (int a = 0; a < s->data_count; a++)
        if (s->axis[a].var == index) return a;
    return -1;
}

static bool holds_a_read(const Expr *index)
{
    if (index->kind == EXPR_READ) return true;
    for (int i = 0; i < index->arg_count; i++)
        if (holds_a_read(index->arg[i])) return true;
    return false;
}

static Pattern pattern_of_read(const Stage *s, const Expr *read)
{
    int last = -1, matched = 0;
    bool is_lookup = false;
    for (int d = 0; d < read->arg_count; d++) {
        const int a = axis_of(s, read->arg[d]);
        is_lookup = is_lookup || holds_a_read(read->arg[d]);
        if (a < 0 && uses_an_axis(s, read->arg[d])) return PATTERN_INJECTIVE;
        if (a >= 0 && a <= last) return PATTERN_INJECTIVE;
        if (a >= 0) last = a, matched++;
    }
    if (is_lookup) return PATTERN_ELEMENTWISE;
    return matched == s->data_count ? PATTERN_ELEMENTWISE : PATTERN_BROADCAST;
}

typedef struct Reads { const Stage *s; Pattern most; } Reads;

static void judge_read(const Expr *e, void *user)
{
    Reads *r = user;
    const Pattern p = e->kind == EXPR_READ ? pattern_of_read(r->s, e) : PATTERN_ELEMENTWISE;
    if (p > r->most) r->most = p;
}

Pattern stage_pattern(Ctx *cx, const Stage *s)
{
    for (int a = 0; a < s->axis_count; a++)
        if (s->axis[a].kind == AXIS_ORDERED) return PATTERN_OPAQUE;
    if (s->scatters) return PATTERN_OPAQUE;
    if (stage_is_contraction(cx, s)) return PATTERN_OUT_FUSABLE;
    if (s->reducer != REDUCE_NONE) return PATTERN_REDUCTION;
    Reads r = { s, PATTERN_ELEMENTWISE };
    for (int i = 0; i < s->out_count; i++) expr_walk(cx, s->value[i], judge_read, &r);
    return r.most;
}
