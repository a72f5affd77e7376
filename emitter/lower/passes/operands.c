/* SPDX-License-Identifier: MIT */
/* Keeps the operands of a register tile in registers. Where an instruction may read an operand from memory (x86), C
 * compilers read a vector of weights once for each position of the tile. The loads then take longer than the products:
 *
 *     acc_0 = fma(x[c], k[c*16 + j], acc_0);         acc_1 = fma(x[c], k[c*16 + 8 + j], acc_1);
 *     acc_2 = fma(x[c + 32], k[c*16 + j], acc_2);    acc_3 = fma(x[c + 32], k[c*16 + 8 + j], acc_3);
 * =>  k_0 = k[c*16 + j];  k_1 = k[c*16 + 8 + j];
 *     acc_0 = fma(x[c], k_0, acc_0);         acc_1 = fma(x[c], k_1, acc_1);
 *     acc_2 = fma(x[c + 32], k_0, acc_2);    acc_3 = fma(x[c + 32], k_1, acc_3);
 *
 * A tile is a run of statements on distinct variables. Each statement has one factor that is a vector in memory and one
 * factor that all lanes share. The kind with fewer factors is loaded before the tile. The statements are ordered by the
 * factors of the other kind, so one register can hold these factors one after the other. The tile is unchanged if its
 * variables and operands exceed the target's registers. */
#include "lower/passes/passes.h"
#include "support/names.h"

enum { MOST_STATEMENTS = 64 };

/* A statement of a tile, and its factors in terms of the tile's lane. */
typedef struct Term { const Code *loop; const Expr *vector, *shared; } Term;

typedef struct Factors { int count; const Expr *at[MOST_STATEMENTS]; const Memory *variable[MOST_STATEMENTS]; } Factors;

typedef struct Tile {
    Ctx *cx;
    int registers, count;
    Term term[MOST_STATEMENTS];
    Factors vectors, shared;
    bool is_fused;               /* true if all terms are multiply-adds, which need no register for a product */
} Tile;

/* ---- Terms ------------------------------------------------------------------------------------------------------- */

static bool is_vector_variable(const Memory *m) { return m->kind == MEMORY_SCALAR && m->lanes; }

/* Finds the factors of a product with a vector in memory and a number in memory. Returns false for any other
 * factors. */
static bool factors_of(const Expr *a, const Expr *b, const Expr *lane, Term *t)
{
    if (a->kind != EXPR_LOAD || b->kind != EXPR_LOAD) return false;
    const bool differs = expr_uses(a, lane);
    if (differs == expr_uses(b, lane)) return false;
    t->vector = differs ? a : b;
    t->shared = differs ? b : a;
    return !is_vector_variable(t->vector->ref);
}

/* Splits sum + a*b or a*b + sum, rounded once or twice, where sum is the variable itself. */
static bool term_of(const Code *c, Term *t, bool *is_fused)
{
    const Code *store = c->kind == CODE_FOR && c->loop_kind == LOOP_LANES ? c->child[0] : NULL;
    if (!store || store->kind != CODE_STORE || !is_vector_variable(store->memory) || store->memory->type != F32)
        return false;
    const Expr *e = store->value, *const lane = c->var;
    t->loop = c;
    *is_fused = e->kind == EXPR_FMA;
    if (*is_fused)
        return e->arg[2]->kind == EXPR_LOAD && e->arg[2]->ref == store->memory
               && factors_of(e->arg[0], e->arg[1], lane, t);
    for (int i = 0; i < 2 && e->kind == EXPR_ADD; i++) {
        const Expr *sum = e->arg[i], *product = e->arg[1 - i];
        if (sum->kind == EXPR_LOAD && sum->ref == store->memory && product->kind == EXPR_MUL)
            return factors_of(product->arg[0], product->arg[1], lane, t);
    }
    return false;
}

static const Expr *in_lane(Ctx *cx, const Expr *e, const Expr *from, const Expr *to)
{
    return from == to ? e : expr_substitute(cx, e, &from, &to, 1);
}

static void add_factor(Factors *f, const Expr *e)
{
    for (int i = 0; i < f->count; i++)
        if (f->at[i] == e) return;
    f->at[f->count++] = e;
}

static bool joins(const Tile *tile, const Code *c)
{
    if (tile->count == MOST_STATEMENTS || (tile->count && tile->term[0].loop->end != c->end)) return false;
    for (int i = 0; i < tile->count; i++)
        if (tile->term[i].loop->child[0]->memory == c->child[0]->memory) return false;
    return true;
}

/* Returns the number of statements, starting at `at`, that form a tile. */
static int tile_at(Tile *tile, const Code *seq, int at)
{
    bool is_fused;
    Term t;
    for (int i = at; i < seq->child_count && term_of(seq->child[i], &t, &is_fused) && joins(tile, t.loop); i++) {
        const Expr *lane = tile->count ? tile->term[0].loop->var : t.loop->var;
        t.vector = in_lane(tile->cx, t.vector, t.loop->var, lane);
        add_factor(&tile->vectors, t.vector);
        add_factor(&tile->shared, t.shared);
        tile->is_fused = tile->is_fused && is_fused;
        tile->term[tile->count++] = t;
    }
    return tile->count;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static bool holds_vectors(const Tile *t) { return t->vectors.count <= t->shared.count; }

/* Returns true if some factor is used twice, and the registers suffice. The registers hold the variables, all factors
 * of one kind, one factor of the other kind, and a product that is rounded separately. */
static bool is_suitable(const Tile *t)
{
    const int held = holds_vectors(t) ? t->vectors.count : t->shared.count;
    return t->vectors.count < t->count && t->count + held + 1 + !t->is_fused <= t->registers;
}

static const Memory *variable_for(const Tile *t, const Expr *factor, int number)
{
    const Memory *m = factor->ref;
    return memory_new(t->cx, &(Memory){ .name = name_format(t->cx, "%s_%d", m->name, number),
                                        .type = F32,
                                        .kind = MEMORY_SCALAR,
                                        .elems = expr_index(t->cx, 1),
                                        .lanes = (int)t->term[0].loop->end->integer,
                                        .is_held = true });
}

/* Declares a variable for factor i and loads it. */
static int load_factor(const Tile *t, Factors *f, int i, const Code **out)
{
    const Code *like = t->term[0].loop;
    f->variable[i] = variable_for(t, f->at[i], i);
    out[0] = code_local(t->cx, f->variable[i]);
    out[1] = code_for(t->cx, like->var, like->begin, like->end, 1, LOOP_LANES,
                      code_store(t->cx, f->variable[i], like->var, f->at[i]));
    return 2;
}

typedef struct Replace { const Expr *from, *to; } Replace;

static const Expr *replace(Ctx *cx, const Expr *e, void *user)
{
    const Replace *r = user;
    (void)cx;
    return e == r->from ? r->to : e;
}

/* Returns the statement of a term, with the factors that are in variables. */
static const Code *term_with(const Tile *t, const Term *term)
{
    const Expr *const lane = term->loop->var;
    const Expr *const own[] = { in_lane(t->cx, term->vector, t->term[0].loop->var, lane), term->shared };
    const Factors *const all[] = { &t->vectors, &t->shared };
    const Expr *const at[] = { term->vector, term->shared };
    const Code *c = term->loop;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < all[k]->count; i++) {
            if (all[k]->at[i] != at[k] || !all[k]->variable[i]) continue;
            Replace r = { own[k], load_expr(t->cx, all[k]->variable[i], lane) };
            c = code_map_exprs(t->cx, c, replace, &r);
        }
    return c;
}

/* Appends the tile's statements, grouped by the factor of the kind that is not loaded before the tile. */
static int append_tile(Tile *t, const Code **out)
{
    const bool holds = holds_vectors(t);
    Factors *held = holds ? &t->vectors : &t->shared, *moving = holds ? &t->shared : &t->vectors;
    int count = 0;
    for (int i = 0; i < held->count; i++) count += load_factor(t, held, i, out + count);
    for (int m = 0; m < moving->count; m++) {
        if (!holds) count += load_factor(t, moving, m, out + count);
        for (int i = 0; i < t->count; i++)
            if ((holds ? t->term[i].shared : t->term[i].vector) == moving->at[m])
                out[count++] = term_with(t, &t->term[i]);
    }
    return count;
}

static const Code *keep(Ctx *cx, const Code *c, void *user)
{
    if (c->kind != CODE_SEQ) return c;
    const Code **out = NEW_ARRAY(cx->arena, const Code *, 5 * c->child_count);
    int count = 0;
    bool changed = false;
    for (int i = 0, size; i < c->child_count; i += size) {
        Tile t = { .cx = cx, .registers = *(const int *)user, .is_fused = true };
        size = tile_at(&t, c, i);
        if (size && is_suitable(&t)) {
            count += append_tile(&t, out + count);
            changed = true;
            continue;
        }
        if (!size) size = 1;
        for (int j = 0; j < size; j++) out[count++] = c->child[i + j];
    }
    return changed ? code_seq(cx, out, count) : c;
}

const Code *pass_operands(Ctx *cx, const LowerOptions *options, const Code *c)
{
    int registers = options ? options->registers : 0;
    return registers ? code_rewrite(cx, c, keep, &registers) : c;
}
