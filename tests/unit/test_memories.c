/* SPDX-License-Identifier: MIT */
/* Declared memories, asynchronous copies and sizes of instructions: the checker's invariants I7 to I10 and I12 on nests
 * that a schedule does not produce. The interpreter is a second oracle for I7 and I8: with copies at their starts or at
 * their waits, it stops at an element whose copy is unfinished or overwritten. A mutant is a right nest with one
 * damage, which the checker must refuse. The primitives take no part. */
#include <string.h>

#include "api/computation/computation.h"
#include "check.h"
#include "context/context.h"
#include "ir/check/check.h"
#include "ir/interpret/interpret.h"
#include "ir/nest/instruction.h"
#include "support/text.h"

static const char *const steps[] = {
    "memory pad bytes=2048 align=16 row=16 banks=4 opaque",
    "memory sums bytes=256 align=64 opaque",
    "instruction ZERO(r: i32[8][8] at sums) r[i<8, j<8] = 0",
    "instruction GEMM(x: i8[8][8] at pad, w: i8[8][8] at pad, r: i32[8][8] at sums) "
        "r[i, j] += sum(k) i32(x[i, k]) * i32(w[k, j])",
    "cache_read x pad name=xs",
    "cache_read w pad name=ws",
    "cache_write y sums name=acc",
    "tile y.i y.j 8 8",
    "compute_at acc y.jo",
    "split acc.k 8",
    "reorder acc.ko acc.i acc.j acc.ki",
    "decompose_reduction acc acc.ko",
    "compute_at xs acc.ko",
    "compute_at ws acc.ko",
    "tensorize acc@init.i ZERO",
    "tensorize acc.i GEMM",
};

/* Both operands are parts of one buffer. */
static const char *const square[] = {
    "memory pad bytes=2048 banks=4",
    "instruction SQUARE(x: i8[16][16] at pad, w: i8[16][16] at pad) "
        "r[i<16, j<16] = sum(k<16) i32(x[i, k]) * i32(w[k, j])",
    "cache_read x pad name=xs",
    "decompose_reduction y y.i",
    "tensorize y.i SQUARE",
};

static lw_computation *computed(lw_context *cx, const char *formula, const char *const *step, size_t count)
{
    lw_computation *p = lw_define(cx, "product", NULL);
    lw_input(p, "x: i8[16][16]");
    lw_input(p, "w: i8[16][16]");
    lw_compute(p, formula);
    lw_output(p, "y");
    for (size_t i = 0; i < count; i++) lw_step(p, step[i]);
    return p;
}

static lw_computation *product(lw_context *cx)
{
    return computed(cx, "y[i, j] = sum(k) i32(x[i, k]) * i32(w[k, j])", steps, sizeof steps / sizeof steps[0]);
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

typedef struct Damage {
    const char *name, *scope;
    int64_t bytes, row;              /* the memory's size, in one bank, and its row, or 0 */
    bool no_tile, from_core, in_arena;
    const char *says;                /* in the refusal; NULL for a nest that stays right */
} Damage;

static const Damage damages[] = {
    { "as-scheduled", "pad", 0, 0, false, false, false, NULL },
    { "exactly-two-buffers-fit", "pad", 2 * 128, 0, false, false, false, NULL },
    { "i9-two-buffers-less-one-byte", "pad", 2 * 128 - 1, 0, false, false, false,
      "needs 128 bytes from byte 128 on, behind \"ws\", which is live as well, and pad has 255" },
    { "i9-one-buffer-less-one-byte", "sums", 255, 0, false, false, false, "needs 256 bytes, and sums has 255" },
    { "i9-rows-are-rounded", "sums", 0, 64, false, false, false, "needs 512 bytes" },
    { "i10-loops-instead-of-the-instruction", "pad", 0, 0, true, false, false, "is opaque" },
    { "i10-operand-from-core", "pad", 0, 0, false, true, false, "the operand x of GEMM is in the core's memory" },
    { "i10-buffer-is-elsewhere", "pad", 0, 0, false, false, true, "is at pad, and \"xs\" is in arena" },
};

static const Instruction *other_instruction(Ctx *cx, const Damage *d, const Instruction *i)
{
    if (!i || strcmp(i->macro, "GEMM") != 0 || !d->from_core) return i;
    Instruction *copy = arena_copy(cx->arena, i, sizeof *i);
    copy->memory[0] = SCOPE_CORE;
    return copy;
}

static const Stmt *damaged(Ctx *cx, const Stmt *s, void *user)
{
    const Damage *d = user;
    if (s->kind == STMT_TILE && d->no_tile && strcmp(s->instr->macro, "GEMM") == 0) return s->child[0];
    if (s->kind == STMT_TILE) {
        Stmt *tile = arena_copy(cx->arena, s, sizeof *s);
        tile->instr = other_instruction(cx, d, s->instr);
        return tile;
    }
    if (s->kind != STMT_ALLOC) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *b);
    Scope *scope = arena_copy(cx->arena, b->scope, sizeof *scope);
    if (strcmp(scope->name, d->scope) == 0) {
        if (d->bytes) scope->bytes = d->bytes;
        if (d->bytes) scope->banks = 1;
        if (d->row) scope->row = d->row;
    }
    b->scope = d->in_arena && strcmp(b->tensor->name, "xs") == 0 ? scope_builtin(SCOPE_ARENA) : scope;
    return stmt_alloc(cx, b, s->child[0]);
}

/* ---- Asynchronous copies ----------------------------------------------------------------------------------------- */

static const char *const pipelined[] = {
    "cache_read x arena name=xs",
    "split y.k 4",
    "reorder y.ko y.i y.j y.ki",
    "compute_at xs y.ko",
    "async xs slots=3",
};

/* Results leave a buffer beside the work of the next rows. */
static const char *const written_back[] = {
    "cache_write y arena name=ys",
    "split y.i 4",
    "compute_at ys y.io",
    "async y slots=2",
};

typedef struct AsyncDamage {
    const char *name;
    bool no_wait, late_wait, in_branch;
    int64_t slots, pending;          /* added */
    const char *says;                /* in the refusal; NULL for a nest that stays right */
    bool of_results, early_start;
    int64_t ahead;                   /* added */
} AsyncDamage;

#define RESULTS .of_results = true
#define READS "may read an element whose copy is unfinished"
#define WRITES "may write an element whose copy is unfinished"

static const AsyncDamage async_damages[] = {
    { "results-as-scheduled", RESULTS },
    { "results-more-slots", RESULTS, .slots = 1 },
    { "results-wait-for-all", RESULTS, .pending = -1 },
    { "i8-results-wait-removed", RESULTS, .no_wait = true, .says = WRITES },
    { "i8-results-wait-count-plus-one", RESULTS, .pending = 1, .says = WRITES },
    { "i8-results-wait-after-the-writer", RESULTS, .late_wait = true, .says = WRITES },
    { "i8-results-wait-in-a-loop", RESULTS, .in_branch = true, .says = WRITES },
    { "i8-results-slots-less-one", RESULTS, .slots = -1, .says = WRITES },
    { "i8-results-start-before-the-writer", RESULTS, .early_start = true, .says = "not shown to have computed it" },
    { "i7-results-start-one-iteration-early", RESULTS, .ahead = 1, .says = "starts before its results are computed" },
    { "async-as-scheduled", .says = NULL },
    { "async-more-slots", .slots = 1 },
    { "async-waits-for-later-ones-too", .pending = -1 },
    { "i7-wait-removed", .no_wait = true, .says = READS },
    { "i7-wait-count-plus-one", .pending = 1, .says = READS },
    { "i7-wait-after-the-reader", .late_wait = true, .says = READS },
    { "i7-wait-in-a-loop", .in_branch = true, .says = READS },
    { "i8-slots-less-one", .slots = -1, .says = "overwrites one of 2 slots" },
};

static const Stmt *async_damaged(Ctx *cx, const Stmt *s, void *user)
{
    const AsyncDamage *d = user;
    if (s->kind == STMT_WAIT && d->no_wait) return NULL;
    if (s->kind == STMT_WAIT && d->in_branch) {
        const Expr *v = expr_new_var(cx, "once", VAR_LOOP, I32, 0, 0);
        return stmt_for(cx, "once", v, expr_index(cx, 1), LOOP_SERIAL, s);
    }
    if (s->kind == STMT_WAIT) return stmt_wait(cx, s->name, s->copy->pending + d->pending);
    if (s->kind == STMT_SEQ && d->late_wait && s->child[s->child_count - 2]->kind == STMT_WAIT) {
        const Stmt **child = arena_copy(cx->arena, s->child, (size_t)s->child_count * sizeof *child);
        child[s->child_count - 2] = s->child[s->child_count - 1];
        child[s->child_count - 1] = s->child[s->child_count - 2];
        return stmt_seq(cx, child, s->child_count);
    }
    if (s->kind == STMT_START) return stmt_start(cx, s->name, s->copy->ahead + d->ahead, s->copy->channel, s->child[0]);
    const int first = d->late_wait ? 0 : d->early_start ? 1 : -1;
    if (s->kind == STMT_SEQ && d->of_results && first >= 0 && s->child_count == 3) {
        const Stmt **child = arena_copy(cx->arena, s->child, 3 * sizeof *child);
        child[first] = s->child[first + 1];
        child[first + 1] = s->child[first];
        return stmt_seq(cx, child, 3);
    }
    if (s->kind != STMT_ALLOC || !s->buffer->slots) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *b);
    b->slots += d->slots;
    return stmt_alloc(cx, b, s->child[0]);
}

/* Returns true if the nest runs with copies at their starts, at their waits, and in four mixtures of both. */
static bool runs(Ctx *cx, const Nest *n)
{
    bool good = true;
    for (int k = 0; k < 6; k++) {
        const RunOptions options = { .checked = true, .shuffle = k < 2 ? 0 : (uint64_t)k * 977,
                                     .copies = k == 1 ? COPIES_AT_WAIT : COPIES_AT_START };
        Env *e = env_new(cx);
        for (int i = 0; i < n->input_count; i++) env_alloc(cx, e, n->input[i]);
        const DiagMark mark = diag_mark(cx);
        const bool ran = interpret(cx, n, e, &options);
        good = !diag_rewind(cx, mark) && ran && good;
    }
    return good;
}

/* ---- Sizes of the run -------------------------------------------------------------------------------------------- */

/* 16 rows in tiles of 6: the last tile has 4. */
static const char *const sized[] = {
    "instruction ROWS(x: i8[m][k], w: i8[k][n], r: i32[m][n]; m in 4..6 step 2, k in 2..16 step 2) "
        "r[i, j] += sum(k) i32(x[i, k]) * i32(w[k, j])",
    "split y.i 6",
    "split y.k 4",
    "reorder y.io y.ko y.ii y.j y.ki",
    "decompose_reduction y y.ko",
    "tensorize y.ii ROWS",
};

typedef struct SizeDamage { const char *name; NumberRange range; const char *says; } SizeDamage;

static const SizeDamage size_damages[] = {
    { "sizes-as-scheduled", { 4, 6, 2 }, NULL },
    { "sizes-in-a-wider-range", { 1, 99, 1 }, NULL },
    { "i12-greatest-less-one", { 4, 5, 1 },
      "the size m of ROWS is min(16 - io * 6, 6), which is not shown to be in 4..5" },
    { "i12-least-plus-one", { 5, 6, 1 }, "not shown to be in 5..6" },
    { "i12-twice-the-step", { 2, 6, 4 }, "not shown to be in 2..6 step 4" },
    { "i12-another-first-value", { 3, 7, 2 }, "not shown to be in 3..7 step 2" },
    { "i12-beyond-all-sizes", { 7, 16, 1 }, "not shown to be in 7..16" },
};

static const Stmt *with_range(Ctx *cx, const Stmt *s, void *user)
{
    const SizeDamage *d = user;
    if (s->kind != STMT_TILE) return s;
    Stmt *tile = arena_copy(cx->arena, s, sizeof *s);
    Instruction *i = arena_copy(cx->arena, s->instr, sizeof *i);
    i->range[0] = d->range;
    tile->instr = i;
    return tile;
}

static void check_sized_nest(Ctx *cx, const SizeDamage *d)
{
    lw_computation *p = computed(cx, "y[i, j] = sum(k) i32(x[i, k]) * i32(w[k, j])", sized,
                                 sizeof sized / sizeof sized[0]);
    const Nest *n = computation_nest(p);
    check_that(n && !ctx_failed(cx), d->name, "a step is refused");
    if (!n) return;
    Nest mutant = *n;
    mutant.root = stmt_rewrite(cx, n->root, with_range, (void *)d);
    const Refusal *r = nest_refusal(cx, &mutant);
    const char *said = r ? refusal_sentence(cx, r) : NULL;
    check_that(d->says ? said && strstr(said, d->says) : !said, d->name, "says: %s", said ? said : "nothing");
}

static void check_async_nest(Ctx *cx, const AsyncDamage *d)
{
    lw_computation *p = computed(cx, "y[i, j] = sum(k) i32(x[i, k]) * i32(w[k, j])",
                                 d->of_results ? written_back : pipelined,
                                 d->of_results ? sizeof written_back / sizeof written_back[0]
                                               : sizeof pipelined / sizeof pipelined[0]);
    const Nest *n = computation_nest(p);
    check_that(n && !ctx_failed(cx), d->name, "a step is refused");
    if (!n) return;
    Nest mutant = *n;
    mutant.root = stmt_rewrite(cx, n->root, async_damaged, (void *)d);
    const Refusal *r = nest_refusal(cx, &mutant);
    const char *said = r ? refusal_sentence(cx, r) : NULL;
    check_that(d->says ? said && strstr(said, d->says) : !said, d->name, "says: %s", said ? said : "nothing");
    /* A wait in a loop that runs once is right, but not proved. */
    check_that(runs(cx, &mutant) == (!d->says || d->in_branch), d->name, "the interpreter disagrees");
}

static void check_nest(Ctx *cx, lw_computation *p, const Damage *d)
{
    const Nest *n = computation_nest(p);
    check_that(n && !ctx_failed(cx), d->name, "a step is refused");
    if (!n) return;
    Nest mutant = *n;
    mutant.root = stmt_rewrite(cx, n->root, damaged, (void *)d);
    const Refusal *r = nest_memory_refusal(cx, &mutant);
    const char *said = r ? refusal_sentence(cx, r) : NULL;
    check_that(d->says ? said && strstr(said, d->says) : !said, d->name, "says: %s", said ? said : "nothing");
}

/* Elements are aligned in a memory that states no alignment, or a smaller one than theirs. */
static void check_places(void)
{
    const Scope plain = { .kind = SCOPE_DECLARED, .bytes = 64 }, wide = { .kind = SCOPE_DECLARED, .align = 16 },
                banks = { .kind = SCOPE_DECLARED, .bytes = 20, .banks = 2 };
    CHECK("i32-after-3-bytes-is-aligned", scope_begin(&plain, 3, 4) == 4 && scope_begin(&plain, 3, 1) == 3);
    CHECK("alignment-of-the-memory", scope_begin(&wide, 3, 4) == 16);
    CHECK("f64-in-a-bank-is-aligned", scope_begin(&banks, 3, 8) == 16 && scope_begin(&banks, 3, 1) == 10);
}

/* Each window of an asynchronous copy is aligned: 16 rows of 4 elements fill 64 bytes. */
static void check_windows(Ctx *cx)
{
    static const char *const steps_of[] = {
        "memory pad bytes=512 align=128", "cache_read x pad name=xs", "split y.k 4", "reorder y.ko y.i y.j y.ki",
        "compute_at xs y.ko", "async xs slots=3",
    };
    lw_computation *p = computed(cx, "y[i, j] = sum(k) i32(x[i, k]) * i32(w[k, j])", steps_of, 6);
    const Nest *n = computation_nest(p);
    BufferLayout l = { .elems = 0 };
    const Stmt *s = n ? n->root : NULL;
    while (s && s->child_count && (s->kind != STMT_ALLOC || !s->buffer->slots)) s = s->child[s->child_count - 1];
    check_that(s && s->kind == STMT_ALLOC && alloc_layout(cx, n, s, NULL, &l) < 0 && l.elems == 128,
               "each-window-is-aligned", "a window has %lld elements", (long long)l.elems);
}

int main(void)
{
    check_places();
    static const Damage shared = { "i9-operands-share-a-bank", "", 0, 0, false, false, false,
                                   "in \"xs\" and in \"xs\", which share bank 0 of pad" };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        check_nest(cx, product(cx), &damages[i]);
        ctx_free(cx);
    }
    Ctx *cx = context_new(NULL, NULL);
    check_windows(cx);
    for (size_t i = 0; i < sizeof async_damages / sizeof async_damages[0]; i++) {
        Ctx *own = context_new(NULL, NULL);
        check_async_nest(own, &async_damages[i]);
        ctx_free(own);
    }
    for (size_t i = 0; i < sizeof size_damages / sizeof size_damages[0]; i++) {
        Ctx *own = context_new(NULL, NULL);
        check_sized_nest(own, &size_damages[i]);
        ctx_free(own);
    }
    lw_computation *p = computed(cx, "y[i, j] = sum(k) i32(x[i, k]) * i32(x[k, j])", square,
                                 sizeof square / sizeof square[0]);
    check_nest(cx, p, &shared);
    ctx_free(cx);
    return check_done();
}
