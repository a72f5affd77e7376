/* SPDX-License-Identifier: MIT */
/* Random schedules: random programs (programs.c), each under up to 12 random steps. After every accepted step
 *
 *   - the checker proves the nest,
 *   - an in-out tensor keeps its old values until their last reader, where plan_may_update proves that: the nest,
 *     interpreted with one array for the old and the new values, gives the same,
 *   - the interpreted nest, with all checks, parallel loops shuffled and lanes in lockstep, gives the plain evaluator's
 *     values, bit for bit, and so does the fast interpreter, whose paths are counted.
 *
 * At the end the trace is replayed on a fresh naive nest and must print the same, byte for byte. A refusal must name
 * its step and leave the nest unchanged. Accepted and refused steps are counted for each primitive. */
#include "schedules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "graph/plan/plan.h"
#include "ir/check/check.h"
#include "ir/check/match_instruction.h"
#include "ir/text/formula.h"
#include "ir/interpret/interpret.h"
#include "programs.h"
#include "ir/nest/copy.h"
#include "ir/nest/instruction.h"
#include "schedule/draft/draft.h"
#include "schedule/draft/attach.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "tests/fuzz/signature.h"

enum { MAX_STEPS = 12, MAX_COPY_STEPS = 20, MOST_COPIED = 9, MAX_LISTED = 64 };

/* ---- Random steps ---------------------------------------------------------------------------------------------- */

typedef struct Nouns {               /* the names in a nest */
    int loop_count;   const Stmt *loop[MAX_LISTED];
    int stage_count;  const Stage *stage[MAX_LISTED];
    int tensor_count; const Tensor *tensor[MAX_LISTED];
} Nouns;

static void list_loops(Nouns *w, const Stmt *s)
{
    if (s->kind == STMT_FOR && w->loop_count < MAX_LISTED) w->loop[w->loop_count++] = s;
    for (int i = 0; i < s->child_count; i++) list_loops(w, s->child[i]);
}

static Nouns nouns_of(const Nest *n)
{
    Nouns w = { 0, { NULL }, 0, { NULL }, 0, { NULL } };
    list_loops(&w, n->root);
    for (int i = 0; i < n->input_count && w.tensor_count < MAX_LISTED; i++) w.tensor[w.tensor_count++] = n->input[i];
    for (int i = 0; i < n->stage_count && w.stage_count < MAX_LISTED; i++) {
        w.stage[w.stage_count++] = n->stage[i];
        for (int j = 0; j < n->stage[i]->out_count && w.tensor_count < MAX_LISTED; j++)
            w.tensor[w.tensor_count++] = n->stage[i]->out[j];
    }
    return w;
}

typedef struct Chooser { Ctx *cx; Random *r; const Nest *nest; Nouns w; uint64_t seed; int made; } Chooser;

static const Stmt *some_loop(Chooser *c)
{
    return c->w.loop_count ? c->w.loop[random_below(c->r, c->w.loop_count)] : NULL;
}
static const char *loop_name(Chooser *c) { const Stmt *s = some_loop(c); return s ? s->name : "s0.a"; }
static const char *stage_name(Chooser *c) { return c->w.stage[random_below(c->r, c->w.stage_count)]->name; }
static const char *tensor_name(Chooser *c) { return c->w.tensor[random_below(c->r, c->w.tensor_count)]->name; }

static const char *some_scope(Chooser *c)
{
    static const char *const scopes[] = { "register", "stack", "stack", "arena", "static" };
    if (c->nest->scope_count && random_chance(c->r, 60)) return c->nest->scope[0]->name;
    return scopes[random_below(c->r, 5)];
}

/* A factor that suits the loop: small, dividing, or beyond the extent. */
static int some_factor(Chooser *c)
{
    static const int factors[] = { 1, 2, 2, 3, 4, 4, 5, 8, 16 };
    return factors[random_below(c->r, 9)];
}

static const char *some_tail(Chooser *c)
{
    static const char *const tails[] = { "", "", "", " tail=peel", " tail=peel", " tail=shift", " tail=round" };
    return tails[random_below(c->r, 7)];
}

static const char *step_split(Chooser *c)
{
    return name_format(c->cx, "split %s %d%s", loop_name(c), some_factor(c), some_tail(c));
}
static const char *step_cut(Chooser *c)
{
    return name_format(c->cx, "cut %s %d%s", loop_name(c), some_factor(c), c->seed % 2 ? " from_end" : "");
}

/* Returns the name of a block in the statement. */
static const char *block_in(Chooser *c, const Stmt *s)
{
    while (s->child_count) s = s->child[random_below(c->r, s->child_count)];
    return s->name;
}

static const char *step_fission(Chooser *c)
{
    const Stmt *l = some_loop(c);
    for (int tries = 0; l && tries < 12 && l->child[0]->kind != STMT_SEQ; tries++) l = some_loop(c);
    if (!l) return step_cut(c);
    const Stmt *s = l->child[0]->kind != STMT_SEQ ? l->child[0]
                    : l->child[0]->child[1 + random_below(c->r, l->child[0]->child_count - 1)];
    return name_format(c->cx, "fission %s %s", l->name, s->kind == STMT_FOR ? s->name : block_in(c, s));
}

/* Two neighbours in a sequence of the nest; any two blocks if the chance leads to none. */
static void two_neighbours(Chooser *c, const Stmt **first, const Stmt **second)
{
    const Stmt *s = c->nest->root;
    *first = *second = s;
    while (s->child_count) {
        if (s->kind == STMT_SEQ) {
            int i = random_below(c->r, s->child_count - 1);
            *first = s->child[i];
            *second = s->child[i + 1];
            if (random_chance(c->r, 50)) return;
        }
        s = s->child[random_below(c->r, s->child_count)];
    }
}

static bool holds_reader(Chooser *c, const Stmt *s, const Stage *producer);
static bool reads_from(Chooser *c, const Stmt *reader, const Stmt *s);

/* Neighbours in sequences that do not read each other, each with the same chance: *seen counts them. */
static void independent_neighbours(Chooser *c, const Stmt *s, const Stmt **first, const Stmt **second, int *seen)
{
    for (int i = 0; i < s->child_count; i++) {
        independent_neighbours(c, s->child[i], first, second, seen);
        if (s->kind != STMT_SEQ || i == 0 || reads_from(c, s->child[i], s->child[i - 1])) continue;
        if (random_below(c->r, ++*seen)) continue;
        *first = s->child[i - 1];
        *second = s->child[i];
    }
}

/* Neighbours that may change places, mostly. Without any, a loop is cut: its two parts are such neighbours. */
static const char *step_swap(Chooser *c)
{
    const Stmt *a, *b;
    int seen = 0;
    two_neighbours(c, &a, &b);
    if (random_chance(c->r, 85)) independent_neighbours(c, c->nest->root, &a, &b, &seen);
    if (!seen && random_chance(c->r, 60)) return step_cut(c);
    return name_format(c->cx, "swap %s %s", block_in(c, a), block_in(c, b));
}

static const char *step_compute_with(Chooser *c)
{
    const Stmt *a, *b;
    two_neighbours(c, &a, &b);
    if (random_chance(c->r, 40)) { const Stmt *t = a; a = b; b = t; }
    const char *second = block_in(c, b), *loop = loop_name(c);
    for (int depth = 0; b->kind == STMT_FOR && depth < 4; depth++, b = b->child[0]) {
        loop = b->name;
        if (random_chance(c->r, 40)) break;
    }
    return name_format(c->cx, "compute_with %s %s %s", block_in(c, a), second, loop);
}

static const char *step_peel(Chooser *c) { return name_format(c->cx, "peel %s", loop_name(c)); }
static const char *step_unroll(Chooser *c)
{
    return name_format(c->cx, random_chance(c->r, 40) ? "unroll %s by=%d" : "unroll %s", loop_name(c), some_factor(c));
}
static bool holds(const Stmt *s, const Stage *stage);

/* Along a reduction where the order does not matter to the result: floats are let be, for sums of them are exact only
 * where they are sums of inputs. */
static const char *step_vectorize(Chooser *c)
{
    for (int tries = 0; tries < 20 && random_chance(c->r, 85); tries++) {
        const Stmt *l = some_loop(c);
        const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
        bool exact = s->reducer != REDUCE_NONE && !dtype_is_float(s->out[0]->type);
        if (l && exact && holds(l, s) && strchr("ijklm", loop_short(l->name)[0]))
            return name_format(c->cx, "vectorize %s reassociate", l->name);
    }
    return name_format(c->cx, "vectorize %s", loop_name(c));
}

static const char *step_pragma(Chooser *c)
{
    static const char *const words[] = { "unroll 4", "unroll 2", "independent", "simd" };
    const Stmt *l = some_loop(c);
    for (int tries = 0; l && tries < 6 && l->loop_kind != LOOP_VECTOR; tries++) l = some_loop(c);
    int first = l && l->loop_kind == LOOP_VECTOR ? 0
                : random_chance(c->r, 10)        ? 2
                                                 : 0,
        count = l && l->loop_kind == LOOP_VECTOR ? 4 : 2;
    return name_format(c->cx, "pragma %s %s", l ? l->name : "s0.a", words[first + random_below(c->r, count)]);
}

static const char *step_prefetch(Chooser *c)
{
    const Nest *n = c->nest;
    const char *t = n->input_count ? n->input[random_below(c->r, n->input_count)]->name : tensor_name(c);
    const char *loop = loop_name(c), *spread = "";
    if (random_chance(c->r, 50)) spread = name_format(c->cx, " spread=%s", loop_name(c));
    return name_format(c->cx, "prefetch %s %s %d%s", t, loop, some_factor(c), spread);
}

static const char *step_copy_budget(Chooser *c)
{
    return name_format(c->cx, "copy_budget %d", some_factor(c) * some_factor(c));
}

static const char *step_parallel(Chooser *c) { return name_format(c->cx, "parallel %s", loop_name(c)); }

/* A loop whose only child is a loop, and that child; any two if there is none. */
static void two_loops(Chooser *c, const char **outer, const char **inner)
{
    for (int tries = 0; tries < 8; tries++) {
        const Stmt *s = some_loop(c);
        if (!s || s->child[0]->kind != STMT_FOR) continue;
        *outer = s->name;
        *inner = s->child[0]->name;
        return;
    }
    *outer = loop_name(c);
    *inner = loop_name(c);
}

static const char *step_fuse(Chooser *c)
{
    const char *a, *b;
    two_loops(c, &a, &b);
    return name_format(c->cx, "fuse %s %s", a, b);
}

static const char *step_tile(Chooser *c)
{
    const char *a, *b;
    two_loops(c, &a, &b);
    return name_format(c->cx, "tile %s %s %d %d%s", a, b, some_factor(c), some_factor(c), some_tail(c));
}

static const char *step_reorder(Chooser *c)
{
    const char *names[8];
    int count = 0;
    for (const Stmt *s = some_loop(c); s && s->kind == STMT_FOR && count < 8; s = s->child[0])
        if (random_chance(c->r, 80)) names[count++] = s->name;
    while (count < 2) names[count++] = loop_name(c);
    Text t = text_new(c->cx);
    text_add(&t, "reorder");
    for (int left = count; left > 0; left--) {
        int k = random_below(c->r, left);
        text_printf(&t, " %s", names[k]);
        names[k] = names[left - 1];
    }
    return text_string(&t);
}

static bool reads(Chooser *c, const Stage *reader, const Stage *producer)
{
    const Tensor **in;
    int count = stage_reads(c->cx, reader, &in);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < producer->out_count; j++)
            if (in[i] == producer->out[j]) return true;
    return false;
}

/* True if `reader` reads what s computes, or continues its sums. */
static bool reads_from(Chooser *c, const Stmt *reader, const Stmt *s)
{
    if (s->kind == STMT_BLOCK)
        return holds_reader(c, reader, s->stage) || (s->stage->reducer != REDUCE_NONE && holds(reader, s->stage));
    for (int i = 0; i < s->child_count; i++)
        if (reads_from(c, reader, s->child[i])) return true;
    return false;
}

static bool holds_reader(Chooser *c, const Stmt *s, const Stage *producer)
{
    if (s->kind == STMT_BLOCK) return reads(c, s->stage, producer);
    for (int i = 0; i < s->child_count; i++)
        if (holds_reader(c, s->child[i], producer)) return true;
    return false;
}

/* A stage and, mostly, a loop that contains a consumer of it. */
static void stage_and_loop(Chooser *c, const char **stage, const char **loop)
{
    for (int tries = 0; tries < 12; tries++) {
        const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
        const Stmt *l = some_loop(c);
        *stage = s->name;
        *loop = l ? l->name : "s0.a";
        if (l && holds_reader(c, l, s)) return;
    }
}

static const char *step_compute_at(Chooser *c)
{
    const char *stage, *loop;
    stage_and_loop(c, &stage, &loop);
    return name_format(c->cx, "compute_at %s %s%s", stage, loop, random_chance(c->r, 30) ? " loops=kept" : "");
}

static const char *step_store_at(Chooser *c)
{
    const char *stage, *loop;
    stage_and_loop(c, &stage, &loop);
    return name_format(c->cx, "store_at %s %s", stage, random_chance(c->r, 40) ? "root" : loop);
}

/* The progress of a stage towards folding: 2 computed inside a loop and stored outside it, 1 computed there, 0
 * neither. */
static int readiness(Chooser *c, const Stage *s)
{
    const char *host = host_of(c->nest, s);
    return !host || stage_is_output(c->nest, s) ? 0 : host == alloc_host_of(c->nest, s) ? 1 : 2;
}

/* Steps that the others require are tried first. */
static const char *step_fold_storage(Chooser *c)
{
    const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
    for (int i = 0; i < 8; i++) {
        if (stage_is_output(c->nest, s)) s = c->w.stage[random_below(c->r, c->w.stage_count)];
        const Stage *other = c->w.stage[random_below(c->r, c->w.stage_count)];
        if (readiness(c, other) > readiness(c, s)) s = other;
    }
    for (int i = 0; i < 20 && readiness(c, s) == 0; i++) {
        const Stmt *l = some_loop(c);
        if (l && holds_reader(c, l, s)) return name_format(c->cx, "compute_at %s %s", s->name, l->name);
        s = c->w.stage[random_below(c->r, c->w.stage_count)];
    }
    if (readiness(c, s) == 1 && random_chance(c->r, 90)) return name_format(c->cx, "store_at %s root", s->name);
    const char *slots = random_chance(c->r, 20)   ? name_format(c->cx, " slots=%d", 1 + random_below(c->r, 5))
                        : random_chance(c->r, 25) ? " mask"
                                                  : "";
    return name_format(c->cx, "fold_storage %s%s%s", s->name, slots, random_chance(c->r, 30) ? " warm=guard" : "");
}

static bool holds(const Stmt *s, const Stage *stage)
{
    bool found = s->kind == STMT_BLOCK && s->stage == stage;
    for (int i = 0; i < s->child_count && !found; i++) found = holds(s->child[i], stage);
    return found;
}

/* A stage and a loop that holds something it reads, and not the stage itself, mostly. */
static const char *step_reverse_at(Chooser *c)
{
    const Stage *s = c->w.stage[0];
    const Stmt *l = some_loop(c);
    for (int tries = 0; tries < 20; tries++) {
        s = c->w.stage[random_below(c->r, c->w.stage_count)];
        l = some_loop(c);
        bool fits = false;
        for (int i = 0; i < c->w.stage_count; i++)
            fits = fits || (reads(c, s, c->w.stage[i]) && l && holds(l, c->w.stage[i]));
        if (fits && !holds(l, s)) break;
    }
    return name_format(c->cx, "reverse_compute_at %s %s", s->name, l ? l->name : "s0.a");
}

static const char *step_reverse_inline(Chooser *c)
{
    const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
    for (int tries = 0; tries < 8 && s->reducer != REDUCE_NONE; tries++)
        s = c->w.stage[random_below(c->r, c->w.stage_count)];
    return name_format(c->cx, "reverse_compute_inline %s", s->name);
}

/* A reduce loop; the order of floats is let be, for sums of them are exact only where they are sums of inputs. */
static const char *step_rfactor(Chooser *c)
{
    for (int tries = 0; tries < 20; tries++) {
        const Stmt *l = some_loop(c);
        const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
        size_t n = strlen(s->name);
        if (!l || s->reducer == REDUCE_NONE || strncmp(l->name, s->name, n) != 0 || l->name[n] != '.') continue;
        if (!strchr("ijklm", l->name[n + 1]) && tries < 16) continue;
        return name_format(c->cx, "rfactor %s %s name=p%d", s->name, l->name, c->made++);
    }
    return name_format(c->cx, "rfactor %s %s", stage_name(c), loop_name(c));
}

static const Stage *some_inner_stage(Chooser *c)
{
    const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
    for (int tries = 0; tries < 8 && stage_is_output(c->nest, s); tries++)
        s = c->w.stage[random_below(c->r, c->w.stage_count)];
    return s;
}

static const char *axis_name(const Stage *s, int a) { return expr_as_var(s->axis[a].var)->name; }

/* All dimensions in some order, now and then one of them in blocks. */
static const char *step_pack(Chooser *c)
{
    const Stage *s = some_inner_stage(c);
    Text t = text_new(c->cx);
    text_printf(&t, "pack %s", s->out[0]->name);
    int left = s->data_count, axis[MAX_AXES], cut = random_chance(c->r, 60) && left ? random_below(c->r, left) : -1,
        size = some_factor(c);
    for (int a = 0; a < left; a++) axis[a] = a;
    while (left > 0) {
        int k = random_below(c->r, left);
        text_printf(&t, " %s", axis_name(s, axis[k]));
        if (axis[k] == cut) text_printf(&t, "/%d", size);
        axis[k] = axis[--left];
    }
    if (cut >= 0) text_printf(&t, " %s%%%d", axis_name(s, cut), size);
    return text_string(&t);
}

static const char *step_storage_align(Chooser *c)
{
    return name_format(c->cx, "storage_align %s %d", some_inner_stage(c)->out[0]->name, some_factor(c));
}

static const char *step_pad(Chooser *c)
{
    const Stage *s = some_inner_stage(c);
    const char *axis = s->axis_count ? axis_name(s, random_below(c->r, s->axis_count)) : "a";
    return name_format(c->cx, "pad %s %s %d", s->name, axis, some_factor(c));
}

/* A condition on the first element of an input, or NULL without inputs. */
static const char *condition_on_input(Chooser *c)
{
    static const char *const conditions[] = { " > 1", " <= 0", " == 3", " < 5" };
    if (!c->nest->input_count) return NULL;
    const Tensor *t = c->nest->input[random_below(c->r, c->nest->input_count)];
    Text text = text_new(c->cx);
    text_printf(&text, "specialize %s", t->name);
    for (int d = 0; d < t->rank; d++) text_add(&text, d ? ", 0" : "[0");
    text_printf(&text, "%s%s", t->rank ? "]" : "", conditions[random_below(c->r, 4)]);
    return text_string(&text);
}

static const char *step_specialize(Chooser *c)
{
    const char *of_input = random_chance(c->r, 50) ? condition_on_input(c) : NULL;
    if (of_input) return of_input;
    static const char *const conditions[] = {
        "%s %% 4 == 0", "%s < 6", "%s == 7", "%s >= 4", "%s %% 2 == 1", "%s == 5"
    };
    const char *size = "n0";
    for (int tries = 0; tries < 12; tries++) {
        const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
        const Var *v = s->axis_count ? expr_as_var(s->axis[random_below(c->r, s->axis_count)].extent) : NULL;
        if (!v) continue;
        size = v->name;
        break;
    }
    Text t = text_new(c->cx);
    text_add(&t, "specialize ");
    text_printf(&t, conditions[random_below(c->r, 6)], size);
    return text_string(&t);
}

static const char *step_blockize(Chooser *c) { return name_format(c->cx, "blockize %s", loop_name(c)); }

/* The body of a loop as a separate formula: an axis for each loop, an operand for each read, at the axes along which it
 * moves. */
typedef struct Formula {
    Chooser *c;
    const Stmt *block;
    int axis_count; const Expr *loop[MAX_AXES], *axis[MAX_AXES];
    Text operands;
    int operand_count;
    const Expr *read[MAX_OPERANDS], *as[MAX_OPERANDS];
} Formula;

static const Expr *as_operand(Ctx *cx, const Expr *e, void *user)
{
    Formula *f = user;
    const Expr *bound[MAX_AXES], *at[MAX_RANK], *shape[MAX_RANK];
    int rank = 0;
    if (e->kind != EXPR_READ) return e;
    for (int i = 0; i < f->operand_count; i++)
        if (f->read[i] == e) return f->as[i];
    if (f->operand_count == MAX_OPERANDS) return e;
    for (int a = 0; a < f->block->stage->axis_count; a++) bound[a] = f->block->stage->axis[a].var;
    for (int l = 0; l < f->axis_count && rank < MAX_RANK; l++) {
        bool moves = false;
        for (int d = 0; d < e->arg_count; d++)
            moves = moves
                    || expr_uses(expr_substitute(cx, e->arg[d], bound, f->block->bind, f->block->stage->axis_count),
                                 f->loop[l]);
        if (!moves) continue;
        at[rank] = f->axis[l];
        shape[rank++] = expr_index(cx, expr_as_var(f->axis[l])->greatest + 1);
    }
    const Tensor *t = tensor_new(cx, name_format(cx, "p%d", f->operand_count), e->type, rank, shape);
    text_printf(&f->operands, "%s%s: %s%s", f->operand_count ? ", " : "", t->name, dtype_info(t->type)->spelling,
                rank ? tensor_shape_text(cx, t) : "");
    f->read[f->operand_count] = e;
    return f->as[f->operand_count++] = tensor_read(cx, t, at, rank);
}

static const Stmt *chain_below(const Stmt *s)
{
    while (s->kind == STMT_FOR && s->extent->kind == EXPR_INT) s = s->child[0];
    return s->kind == STMT_BLOCK && s->stage->out_count == 1 ? s : NULL;
}

static const char *declaration_of(Chooser *c, const Stmt *loop, const Stmt *block)
{
    Formula f = { .c = c, .block = block, .operands = text_new(c->cx) };
    StageSpec spec = { .name = "r", .out_count = 1, .reducer = block->stage->reducer };
    for (int pass = 0; pass < 2; pass++)
        for (const Stmt *l = loop; l != block && f.axis_count < MAX_AXES; l = l->child[0]) {
            AxisKind kind = feeds_axis(block, l->var, AXIS_REDUCE) ? AXIS_REDUCE : AXIS_DATA;
            if (kind != (pass ? AXIS_REDUCE : AXIS_DATA)) continue;
            const Expr *v = axis_var(c->cx, name_format(c->cx, "v%d", f.axis_count), l->extent);
            f.loop[f.axis_count] = l->var;
            f.axis[f.axis_count++] = v;
            spec.axis[spec.axis_count++] = (Axis){ v, kind, l->extent };
        }
    if (spec.reducer != REDUCE_NONE && (!spec.axis_count || spec.axis[spec.axis_count - 1].kind != AXIS_REDUCE))
        spec.axis[spec.axis_count++] = (Axis){ axis_var(c->cx, "u", expr_index(c->cx, 1)), AXIS_REDUCE,
                                               expr_index(c->cx, 1) };
    spec.value[0] = expr_rewrite(c->cx, block->stage->value[0], as_operand, &f);
    Node *n = compute_new(c->cx, &spec);
    if (!n) return NULL;
    Text t = text_new(c->cx);
    text_printf(&t, "instruction M%d(%s) ", c->made++, text_string(&f.operands));
    print_stage(c->cx, &t, n->stage);
    return text_string(&t);
}

static const char *step_instruction(Chooser *c)
{
    for (int tries = 0; tries < 20; tries++) {
        const Stmt *s = some_loop(c), *block = s ? chain_below(s) : NULL;
        if (!block || block->part == BLOCK_INIT
            || (block->stage->reducer != REDUCE_NONE && block->part == BLOCK_WHOLE && tries < 16))
            continue;
        DiagMark mark = diag_mark(c->cx);
        const char *text = declaration_of(c, s, block);
        if (!diag_rewind(c->cx, mark) && text) return text;
    }
    return "instruction M(p: i32[4]) r[a<4] = p[a] + 1";
}

/* One that fits, if there is one. */
static const char *step_tensorize(Chooser *c)
{
    const Stmt *s = some_loop(c);
    if (!c->nest->instruction_count || !s) return step_instruction(c);
    const Instruction *i = c->nest->instruction[random_below(c->r, c->nest->instruction_count)];
    for (int tries = 0; tries < 20; tries++) {
        Match m;
        const char *why;
        if (instruction_match(c->cx, c->nest, s, i, &m, &why)) break;
        s = some_loop(c);
    }
    return name_format(c->cx, "tensorize %s %s", s->name, i->macro);
}

static const char *step_compute_inline(Chooser *c) { return name_format(c->cx, "compute_inline %s", stage_name(c)); }
static const char *step_compute_root(Chooser *c) { return name_format(c->cx, "compute_root %s", stage_name(c)); }
static const char *step_cache_write(Chooser *c)
{
    return name_format(c->cx, "cache_write %s %s name=w%d", stage_name(c), some_scope(c), c->made++);
}
static const char *step_set_scope(Chooser *c)
{
    return name_format(c->cx, "set_scope %s %s", tensor_name(c), some_scope(c));
}

static const char *step_cache_read(Chooser *c)
{
    static const char *const types[] = { "i16", "i32", "i64", "f32", "f64" };
    const char *as = random_chance(c->r, 50) ? name_format(c->cx, " as=%s", types[random_below(c->r, 5)]) : "";
    const char *readers = random_chance(c->r, 30) ? name_format(c->cx, " readers=%s", stage_name(c)) : "";
    const char *padded = random_chance(c->r, 40) ? " padded" : "";
    return name_format(c->cx, "cache_read %s %s name=r%d%s%s%s", tensor_name(c), some_scope(c), c->made++, as, readers,
                       padded);
}

static const char *step_memory(Chooser *c)
{
    static const char *const rest[] = { "", " align=16", " row=16", " align=64 row=8 banks=4" };
    return name_format(c->cx, "memory pad bytes=16777216%s", rest[random_below(c->r, 4)]);
}

/* Starts a copy in a loop early; a copy that is in no loop is attached to one. */
static const char *step_async(Chooser *c)
{
    const Stage *copy = NULL;
    for (int i = 0; i < c->w.stage_count; i++) {
        Path p;
        BlockCopy of;
        const Stage *s = c->w.stage[i];
        if (!nest_find_block(c->nest, s->name, &p) || !block_copy(c->cx, path_end(&p), &of) || !of.read) continue;
        if (!copy || random_chance(c->r, 50)) copy = s;
    }
    if (!copy) return step_cache_read(c);
    if (!host_of(c->nest, copy) && random_chance(c->r, 90))
        return name_format(c->cx, "compute_at %s %s", copy->name, loop_name(c));
    const int slots = 1 + random_below(c->r, 4);
    const char *ahead = random_chance(c->r, 30) ? name_format(c->cx, " ahead=%d", 1 + random_below(c->r, 3)) : "";
    const char *channel = random_chance(c->r, 30) ? " channel=2" : "";
    return name_format(c->cx, "async %s slots=%d%s%s", copy->name, slots, channel, ahead);
}

/* A call of the function that calls.c defines, for a whole stage or at one of its loops. */
static const char *step_external(Chooser *c)
{
    const Stmt *at = NULL;
    for (int tries = 0; tries < 20; tries++) {
        const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
        Text t = text_new(c->cx);
        text_printf(&t, "external %s E%llu_%d(", s->name, (unsigned long long)c->seed, c->made);
        if (!call_arguments(c->cx, &t, s)) continue;
        for (int k = 0; k < 8 && !(at && loop_is_own(at, s)); k++) at = some_loop(c);
        text_char(&t, ')');
        if (at && loop_is_own(at, s) && random_chance(c->r, 70)) text_printf(&t, " at=%s", at->name);
        c->made++;
        return text_string(&t);
    }
    return step_split(c);
}

static const char *step_decompose(Chooser *c)
{
    for (int tries = 0; tries < 12; tries++) {
        const Stmt *l = some_loop(c);
        const Stage *s = c->w.stage[random_below(c->r, c->w.stage_count)];
        if (!l || s->reducer == REDUCE_NONE || strncmp(l->name, s->name, strlen(s->name)) != 0) continue;
        int block = (int)strcspn(l->name, ".");          /* of a copy, where the loop is of one: s0@tail */
        return name_format(c->cx, "decompose_reduction %.*s %s", block, l->name, l->name);
    }
    return name_format(c->cx, "decompose_reduction %s %s", stage_name(c), loop_name(c));
}

/* ---- Memories and copies ----------------------------------------------------------------------------------------- */

/* A memory that holds some windows of the small tensors and not others. */
static const char *step_small_memory(Chooser *c)
{
    static const int sizes[] = { 16, 64, 64, 128, 128, 256, 512, 1024, 4096, 65536 };
    static const char *const rest[] = { "", "", " align=4", " align=16", " row=16", " align=16 row=8 banks=2" };
    return name_format(c->cx, "memory m%d bytes=%d%s", c->made++, sizes[random_below(c->r, 10)],
                       rest[random_below(c->r, 6)]);
}

static bool is_copy(Chooser *c, const Stage *s)
{
    Path p;
    BlockCopy of;
    return nest_find_block(c->nest, s->name, &p) && block_copy(c->cx, path_end(&p), &of) && of.read;
}

static bool has_start_of(const Stmt *s, const Stage *copy)
{
    bool has = s->kind == STMT_START && holds(s, copy);
    for (int i = 0; i < s->child_count && !has; i++) has = has_start_of(s->child[i], copy);
    return has;
}

static const char *step_read_to_memory(Chooser *c)
{
    static const char *const forms[] = { "", " padded", " padded", " padded=0", " padded as=i16", " as=i32",
                                         " as=f32" };
    const char *tensor = tensor_name(c), *memory = c->nest->scope[random_below(c->r, c->nest->scope_count)]->name;
    if (c->nest->input_count && random_chance(c->r, 70))
        tensor = c->nest->input[random_below(c->r, c->nest->input_count)]->name;
    return name_format(c->cx, "cache_read %s %s name=r%d%s", tensor, memory, c->made++, forms[random_below(c->r, 7)]);
}

/* A loop that holds a reader of the stage, and not the stage. */
static const char *loop_of_reader(Chooser *c, const Stage *s)
{
    const Stmt *l = some_loop(c);
    for (int tries = 0; tries < 20 && l && (!holds_reader(c, l, s) || holds(l, s)); tries++) l = some_loop(c);
    return l ? l->name : "s0.a";
}

/* Puts a result of the last stages into a memory: the stage then copies from it. */
static const char *step_write_to_memory(Chooser *c)
{
    const char *memory = c->nest->scope[random_below(c->r, c->nest->scope_count)]->name;
    return name_format(c->cx, "cache_write %s %s name=w%d", stage_name(c), memory, c->made++);
}

/* Computes what a stage copies in a loop of it, then starts these copies of results. */
static const char *step_write_back(Chooser *c)
{
    const Stage *copy = NULL, *from = NULL;
    for (int i = 0; i < c->w.stage_count; i++)
        for (int k = 0; k < c->w.stage_count; k++)
            if (is_copy(c, c->w.stage[k]) && reads(c, c->w.stage[k], c->w.stage[i])
                && (!copy || random_chance(c->r, 40))) {
                copy = c->w.stage[k];
                from = c->w.stage[i];
            }
    if (!copy) return step_write_to_memory(c);
    const Stmt *l = some_loop(c);
    for (int tries = 0; tries < 20 && l && !(holds(l, copy) && !holds(l, from)); tries++) l = some_loop(c);
    if (!host_of(c->nest, from))
        return name_format(c->cx, "compute_at %s %s", from->name, l ? l->name : "s0.a");
    return name_format(c->cx, "async %s slots=%d%s", copy->name, 1 + random_below(c->r, 3),
                       random_chance(c->r, 40) ? " channel=2" : "");
}

/* The declaration for a block, with sizes of the run in place of its extents. */
static const char *step_sized_instruction(Chooser *c)
{
    const char *text = step_instruction(c), *first = strchr(text, '[');
    if (!first || strstr(text, "sum(") || !strchr(text, ')')) return text;
    Text t = text_new(c->cx);
    const int extent = atoi(first + 1);
    if (extent < 1) return text;
    char number[16];
    snprintf(number, sizeof number, "%d", extent);
    for (const char *at = text; *at; at++) {
        const size_t n = strlen(number);
        const bool is_size = (at > text && (at[-1] == '[' || at[-1] == '<')) && strncmp(at, number, n) == 0
                             && (at[n] == ']' || at[n] == ',');
        if (is_size) text_add(&t, "m");
        else if (*at == ')' && !strchr(text_string(&t), ';')) text_printf(&t, "; m in 1..%d)", extent);
        else text_char(&t, *at);
        if (is_size) at += n - 1;
    }
    return text_string(&t);
}

/* Leads to copies beside the work: a memory, a copy of a tensor in it, in a loop, then its start; and as much for
 * results. */
static const char *step_staging(Chooser *c)
{
    if (!c->nest->scope_count || (c->nest->scope_count < 3 && random_chance(c->r, 8))) return step_small_memory(c);
    const Stage *copy = NULL;
    for (int i = 0; i < c->w.stage_count; i++)
        if (is_copy(c, c->w.stage[i]) && (!copy || random_chance(c->r, 60))) copy = c->w.stage[i];
    if (!copy || random_chance(c->r, 12)) return step_read_to_memory(c);
    if (random_chance(c->r, 10)) return step_split(c);
    if (random_chance(c->r, 8)) return step_write_to_memory(c);
    if (random_chance(c->r, 10)) return random_chance(c->r, 40) ? step_sized_instruction(c) : step_tensorize(c);
    if (random_chance(c->r, 6)) return step_decompose(c);
    if (random_chance(c->r, 35)) return step_write_back(c);
    if (!host_of(c->nest, copy))
        return name_format(c->cx, "compute_at %s %s", copy->name, loop_of_reader(c, copy));
    if (has_start_of(c->nest->root, copy)) return step_compute_at(c);
    return name_format(c->cx, "async %s slots=%d%s", copy->name, 1 + random_below(c->r, 4),
                       random_chance(c->r, 25) ? " channel=2" : "");
}

/* Puts the loop over the last data axis of a reduction inside its own, else cuts one of those or attaches a producer
 * to it: the sums then have several parts. */
static const char *step_cut_sums(Chooser *c)
{
    const Stmt *at[MAX_DEPTH], *last = NULL, *sums = NULL, *block = NULL;
    int count = 0;
    for (int tries = 0; tries < 20 && !(last && sums); tries++) {
        last = sums = NULL;
        count = 0;
        for (block = some_loop(c); block && block->kind == STMT_FOR && count < MAX_DEPTH; block = block->child[0])
            at[count++] = block;
        if (!block || block->kind != STMT_BLOCK || block->stage->reducer == REDUCE_NONE) continue;
        const Stage *s = block->stage;
        for (int i = 0; i < count; i++) {
            if (feeds_axis(block, at[i]->var, AXIS_REDUCE)) sums = sums && random_chance(c->r, 40) ? sums : at[i];
            else if (s->data_count && block->bind[s->data_count - 1] == at[i]->var) last = at[i];
        }
    }
    if (!last || !sums) return step_reorder(c);
    if (at[count - 1] != last) {
        Text t = text_new(c->cx);
        text_add(&t, "reorder");
        for (int i = 0; i < count; i++)
            if (at[i] != last) text_printf(&t, " %s", at[i]->name);
        text_printf(&t, " %s", last->name);
        return text_string(&t);
    }
    switch (random_below(c->r, 5)) {
    case 0:  return name_format(c->cx, "split %s %d tail=peel", sums->name, some_factor(c));
    case 1:  return name_format(c->cx, "split %s %d", sums->name, some_factor(c));
    case 2:  return name_format(c->cx, "peel %s", sums->name);
    case 3:  return name_format(c->cx, "unroll %s by=%d", sums->name, some_factor(c));
    default: return name_format(c->cx, "compute_at %s %s", stage_name(c), sums->name);
    }
}

typedef const char *Choose(Chooser *c);
static Choose *const choices[] = {
    step_split, step_split, step_split, step_cut, step_fission, step_fission, step_swap, step_swap, step_swap,
    step_swap, step_swap, step_swap, step_compute_with, step_compute_with, step_compute_with, step_peel, step_tile,
    step_fuse, step_reorder, step_reorder, step_unroll, step_vectorize, step_parallel, step_compute_at,
    step_compute_at, step_compute_at, step_compute_at, step_store_at, step_fold_storage, step_fold_storage,
    step_fold_storage, step_fold_storage, step_fold_storage, step_fold_storage, step_compute_inline,
    step_reverse_at, step_reverse_at, step_reverse_at, step_reverse_inline, step_reverse_inline,
    step_reverse_inline, step_reverse_inline, step_pragma, step_copy_budget, step_prefetch, step_prefetch,
    step_rfactor, step_rfactor, step_pack, step_pack, step_storage_align, step_pad, step_pad, step_specialize,
    step_specialize, step_blockize, step_instruction, step_tensorize, step_tensorize, step_tensorize,
    step_tensorize, step_compute_root, step_cache_read, step_cache_write, step_set_scope, step_decompose,
    step_decompose, step_memory, step_async, step_async, step_async, step_async,
};
enum { CHOICE_COUNT = sizeof choices / sizeof choices[0] };

/* ---- One program ----------------------------------------------------------------------------------------------- */

typedef struct Case {
    Ctx *cx;
    uint64_t seed;
    Program *program;
    Env *expected;
    const Nest *naive, *nest;
    const char *last_step;           /* that was tried */
    Counts *counts;
    int most;                        /* sizes are cut to this; 0: they are not */
    bool failed, loud, quiet, is_rough, copies;
} Case;

static void fail(Case *c, const char *what, const char *detail)
{
    c->failed = true;
    if (c->quiet) return;
    Text t = text_new(c->cx);
    DiagMark mark = diag_mark(c->cx);
    c->cx->failed = false;
    program_print(c->cx, &t, c->program);
    if (c->nest->step_count) text_add(&t, "schedule\n");
    for (int i = 0; i < c->nest->step_count; i++) text_printf(&t, "  %s\n", step_text(c->cx, &c->nest->step[i]));
    text_add(&t, "# the nest:\n");
    print_nest(c->cx, &t, c->nest);
    diag_rewind(c->cx, mark);
    printf("# seed %llu: %s: %s\n%s\n", (unsigned long long)c->seed, what, detail ? detail : "", text_string(&t));
}

/* Returns the difference of one run from the evaluator; NULL: none. */
static const char *fault_of_run(Case *c, const Nest *n, const RunOptions *options, bool is_in_place)
{
    Env *e = program_env(c->cx, c->program, c->seed);
    if (is_in_place) env_set(e, c->program->after, env_storage(e, c->program->before));
    DiagMark mark = diag_mark(c->cx);
    c->counts->runs++;
    bool ran = interpret(c->cx, n, e, options);
    Diag *why = diag_rewind(c->cx, mark);
    if (!ran || why) return text_format(c->cx, "the interpreter stops: %s", why ? why->what : "");
    for (int i = 0; i < n->output_count; i++) {
        const Tensor *t = n->output[i];
        size_t bytes = (size_t)env_elems(c->cx, e, t) * (size_t)dtype_info(t->type)->bytes;
        if (bytes && memcmp(env_get(e, t), env_get(c->expected, t), bytes) != 0)
            return text_format(c->cx, "wrong values in %s%s", t->name,
                               is_in_place ? ", in place" : options->checked ? "" : ", unchecked");
    }
    return NULL;
}

static bool has_starts(const Stmt *s)
{
    bool has = s->kind == STMT_START;
    for (int i = 0; i < s->child_count && !has; i++) has = has_starts(s->child[i]);
    return has;
}

/* The same of a run with checks, and of the fast interpreter. */
static const char *fault_of(Case *c, const Nest *n)
{
    const RunOptions checked = { .checked = true, .shuffle = c->seed | 1 }, fast = { .ran = c->counts->path };
    const RunOptions late = { .checked = true, .copies = COPIES_AT_WAIT }, early = { .checked = true };
    const char *fault = fault_of_run(c, n, &checked, false);
    if (!fault && has_starts(n->root)) fault = fault_of_run(c, n, &late, false);
    if (!fault && has_starts(n->root)) fault = fault_of_run(c, n, &early, false);
    return fault ? fault : fault_of_run(c, n, &fast, false);
}

/* The same with one array for the old and the new values of the in-out tensor, in the order of the loops. */
static const char *fault_in_place(Case *c, const Nest *n)
{
    const Program *p = c->program;
    const RunOptions plain = { .visit = NULL };
    if (!p->after) return NULL;
    c->counts->updates++;
    if (!plan_may_update(c->cx, n, p->before, p->after)) return NULL;
    c->counts->in_place++;
    return fault_of_run(c, n, &plain, true);
}

static bool runs_right(Case *c, const Nest *n)
{
    const char *fault = fault_of(c, n);
    if (!fault) fault = fault_in_place(c, n);
    if (fault) fail(c, "an accepted nest", fault);
    return !fault;
}

static const char *printed(Ctx *cx, const Nest *n)
{
    Text t = text_new(cx);
    print_nest(cx, &t, n);
    return text_string(&t);
}

static void count_step(Counts *counts, const char *text, Outcome o)
{
    size_t length = strcspn(text, " ");
    int p = 0;
    while (p < counts->primitive_count
           && (strncmp(counts->primitive[p], text, length) != 0 || counts->primitive[p][length]))
        p++;
    if (p == MAX_PRIMITIVES || length >= sizeof counts->primitive[0]) return;
    if (p == counts->primitive_count) memcpy(counts->primitive[counts->primitive_count++], text, length);
    counts->count[p][o]++;
    counts->steps++;
}

static Outcome outcome_of(const Diag *why)
{
    if (!why) return ACCEPTED;
    if (why->refusal && why->refusal->verdict == WRONG) return REFUSED_WRONG;
    return why->refusal && why->refusal->verdict == UNPROVED ? REFUSED_UNPROVED : REFUSED_NAMES;
}

/* Is a parameter of the step in the sentence? */
static bool names_a_word(const char *sentence, const char *step)
{
    for (const char *at = step + strcspn(step, " "); *at; at += strcspn(at, " ")) {
        size_t n = strcspn(++at, " (");
        for (const char *s = sentence; n && *s; s++)
            if (strncmp(s, at, n) == 0) return true;
    }
    return false;
}

static bool names_a_noun(const char *sentence, const Nest *n)
{
    Nouns w = nouns_of(n);
    bool found = false;
    for (int i = 0; i < w.loop_count && !found; i++) found = strstr(sentence, w.loop[i]->name) != NULL;
    for (int i = 0; i < w.stage_count && !found; i++) found = strstr(sentence, w.stage[i]->name) != NULL;
    for (int i = 0; i < w.tensor_count && !found; i++) found = strstr(sentence, w.tensor[i]->name) != NULL;
    return found || strstr(sentence, n->name) != NULL;
}

/* STEP: error: VERDICT: FAULT; use ACCEPTED, and the fault names a loop, a stage, a tensor or the nest, or a word
 * of the step. */
static bool refusal_is_whole(const Diag *why, const char *step, const Nest *n)
{
    const Refusal *r = why->refusal;
    if (!r || !r->fault || !*r->fault || !r->accepted || !*r->accepted) return false;
    if (r->primitive && strncmp(r->primitive, step, strcspn(step, " ")) != 0) return false;
    if (!why->where || strncmp(why->where, step, strcspn(step, " ")) != 0) return false;
    return names_a_noun(r->fault, n) || names_a_word(r->fault, step);
}

static void try_step(Case *c, const char *text)
{
    c->last_step = text;
    DiagMark mark = diag_mark(c->cx);
    const Nest *next = sched_step(c->cx, c->nest, text);
    Diag *why = diag_rewind(c->cx, mark);
    count_step(c->counts, text, outcome_of(why));
    if (c->loud) printf("%s %s%s%s\n", why ? "  -" : "  +", text, why ? ": " : "", why ? why->what : "");
    if (why && why->severity == INTERNAL) fail(c, text, why->what);
    if (why && next != c->nest) fail(c, text, "was refused, but the nest is another one");
    if (why && !refusal_is_whole(why, text, c->nest))
        fail(c, text, text_format(c->cx, "the refusal lacks a part: %s", why->what));
    if (why || c->failed) return;
    c->nest = next;
    const char *doubt = "";
    if (nest_check(c->cx, next, &doubt) != PROVED) fail(c, text, doubt);
    else runs_right(c, next);
}

/* The trace, run again on the naive nest, gives the same nest. */
static void replay(Case *c)
{
    const Nest *n = nest_naive(c->cx, "fuzz", NULL, 0, c->program->output, c->program->output_count);
    DiagMark mark = diag_mark(c->cx);
    for (int i = 0; i < c->nest->step_count; i++) n = sched_step(c->cx, n, step_text(c->cx, &c->nest->step[i]));
    Diag *why = diag_rewind(c->cx, mark);
    if (why) fail(c, "the trace is refused when replayed", diag_text(c->cx, why));
    else if (strcmp(printed(c->cx, n), printed(c->cx, c->nest)) != 0)
        fail(c, "the replayed nest differs", printed(c->cx, n));
}

/* Odd seeds give programs for the kernels of the fast interpreter; of five programs, one has an in-out tensor, and one
 * calls of C functions. */
static bool has_kernels(const Case *c) { return c->seed % 2; }
static bool has_inout(const Case *c) { return c->seed % 5 == 0; }
static bool has_calls(const Case *c) { return c->seed % 5 == 4; }

static const char *some_step(const Case *c, Random *r, int *made)
{
    Chooser ch = { c->cx, r, c->nest, nouns_of(c->nest), c->seed, *made };
    const bool cuts = has_kernels(c) && random_chance(r, 25);
    if (has_calls(c) && random_chance(r, 20)) {
        const char *call = step_external(&ch);
        *made = ch.made;
        return call;
    }
    const bool pipelines = !cuts && c->seed % 3 == 0 && random_chance(r, 40);
    const char *text = c->copies && random_chance(r, 80) ? step_staging(&ch)
                       : cuts        ? step_cut_sums(&ch)
                       : pipelines ? step_async(&ch)
                                   : choices[random_below(r, CHOICE_COUNT)](&ch);
    *made = ch.made;
    return text;
}

static bool prepare(Case *c, Random *r)
{
    c->program = has_inout(c) ? program_of_inout(c->cx, r, c->most)
                 : has_kernels(c) ? program_of_kernels(c->cx, r, c->most) : program_within(c->cx, r, c->most);
    if (!c->program || ctx_failed(c->cx)) return false;
    c->program->is_rough = c->is_rough;
    c->naive = c->nest = nest_naive(c->cx, "fuzz", NULL, 0, c->program->output, c->program->output_count);
    c->expected = program_env(c->cx, c->program, c->seed);
    return evaluate(c->cx, c->expected, c->program->output, c->program->output_count);
}

/* ---- Shrinking ------------------------------------------------------------------------------------------------- */

/* A failing program as steps on a program of small sizes. Steps are dropped one by one and sizes cut, while it still
 * fails. */
enum { MAX_SHRUNK = 2 * MAX_COPY_STEPS };
typedef struct Shrunken {
    uint64_t seed;
    bool is_rough, copies;
    int most, count; const char *step[MAX_SHRUNK];
} Shrunken;
typedef bool StillFails(const Shrunken *s, void *user);

static bool without_step(Shrunken *s, int i, StillFails *fails, void *user)
{
    Shrunken less = *s;
    for (int k = i; k + 1 < less.count; k++) less.step[k] = less.step[k + 1];
    less.count--;
    if (!fails(&less, user)) return false;
    *s = less;
    return true;
}

static void shrink_steps(Shrunken *s, StillFails *fails, void *user)
{
    static const int caps[] = { 1, 2, 3, 4, 5, 6, 8 };
    for (int i = 0; i < s->count;) i += !without_step(s, i, fails, user);
    for (int k = 0; k < 7; k++) {
        Shrunken less = *s;
        less.most = caps[k];
        if (!fails(&less, user)) continue;
        *s = less;
        break;
    }
    for (int i = 0; i < s->count;) i += !without_step(s, i, fails, user);
}

/* Checks each accepted step; true if one of them fails. */
static bool fails_at_all(const Shrunken *s, void *user)
{
    Counts counts = { 0 };
    Random r = random_new(s->seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = s->seed, .counts = &counts, .most = s->most, .quiet = !user };
    if (prepare(&c, &r))
        for (int i = 0; i < s->count && !c.failed; i++) try_step(&c, s->step[i]);
    bool ready = c.nest && !c.failed;
    if (ready) replay(&c);
    ctx_free(c.cx);
    return c.failed;
}

static void shrink(Case *c)
{
    Shrunken s = { .seed = c->seed, .most = c->most, .count = 0 };
    for (int i = 0; i < c->nest->step_count && s.count < MAX_SHRUNK - 1; i++)
        s.step[s.count++] = step_text(c->cx, &c->nest->step[i]);
    if (c->last_step && s.count && strcmp(s.step[s.count - 1], c->last_step) != 0) s.step[s.count++] = c->last_step;
    if (!s.count || !fails_at_all(&s, NULL)) return;
    shrink_steps(&s, fails_at_all, NULL);
    printf("# shrunk, sizes up to %d:\n", s.most);
    fails_at_all(&s, &s);
}

/* Counts the copies of results. */
static int count_backs(Ctx *cx, const Stmt *s)
{
    bool is_back = false;
    int count = s->kind == STMT_ALLOC && s->buffer->slots && start_of(cx, s->child[0], s->buffer->tensor, &is_back)
                && is_back;
    for (int i = 0; i < s->child_count; i++) count += count_backs(cx, s->child[i]);
    return count;
}

static void count_end(Case *c)
{
    c->counts->with_results += count_backs(c->cx, c->nest->root) > 0;
    const bool has_copies = has_starts(c->nest->root);
    c->counts->with_copies += has_copies;
    c->counts->fits += has_copies && !nest_memory_refusal(c->cx, c->nest);
}

bool fuzz_schedule(uint64_t seed, Counts *counts, FuzzKind kind, bool loud)
{
    Random r = random_new(seed);
    Case c = { .cx = context_new(NULL, NULL), .seed = seed, .counts = counts, .loud = loud,
               .copies = kind == FUZZ_COPIES, .most = kind == FUZZ_COPIES ? MOST_COPIED : 0 };
    if (!prepare(&c, &r)) {
        bool bad = ctx_failed(c.cx);
        if (bad) printf("# seed %llu: no program: %s\n", (unsigned long long)seed, diag_text(c.cx, c.cx->diags));
        counts->failures += bad;
        ctx_free(c.cx);
        return !bad;
    }
    counts->programs++;
    const char *doubt = "";
    if (nest_check(c.cx, c.nest, &doubt) != PROVED) fail(&c, "the naive nest", doubt);
    else runs_right(&c, c.nest);
    int steps = 1 + random_below(&r, c.copies ? MAX_COPY_STEPS : MAX_STEPS), made = 0;
    if (c.copies) steps += MAX_COPY_STEPS / 4;
    for (int i = 0; i < steps && !c.failed; i++) try_step(&c, some_step(&c, &r, &made));
    if (!c.failed) replay(&c);
    if (c.failed && !loud) shrink(&c);
    if (loud) printf("%s", printed(c.cx, c.nest));
    if (!c.failed) count_end(&c);
    counts->failures += c.failed;
    ctx_free(c.cx);
    return !c.failed;
}

void print_counts(const Counts *c)
{
    printf("%-22s %10s %10s %10s %10s\n", "primitive", "accepted", "wrong", "unproved", "names");
    for (int i = 0; i < c->primitive_count; i++)
        printf("%-22s %10ld %10ld %10ld %10ld\n", c->primitive[i], c->count[i][0], c->count[i][1], c->count[i][2],
               c->count[i][3]);
    printf("%ld nests with an in-out tensor, %ld of them in place\n", c->updates, c->in_place);
    printf("%ld programs, %ld steps, %ld runs, %ld schedules with asynchronous copies, %ld of them within their "
           "memories, %ld with copies of results: %ld failures\n", c->programs, c->steps, c->runs, c->with_copies,
           c->fits, c->with_results, c->failures);
}

int print_paths(const Counts *c)
{
    int never = 0;
    Ctx *cx = context_new(NULL, NULL);
    printf("%-30s %12s\n", "path of the fast interpreter", "runs");
    for (int i = 0; i < interpret_path_count() && i < MAX_PATHS; i++) {
        never += c->path[i] == 0;
        printf("%-30s %12lld\n", interpret_path_name(cx, i), (long long)c->path[i]);
    }
    ctx_free(cx);
    return never;
}
