/* SPDX-License-Identifier: MIT */
/* Stages that read each other: their order; their values by the evaluator and by both interpreters beside plain loops;
 * the proofs and refusals of the checker. */
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/check/check.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/formula.h"
#include "ir/interpret/interpret.h"
#include "ir/nest/recurrence.h"
#include "schedule/schedule.h"
#include "support/text.h"

enum { STEPS = 7, WIDTH = 3 };

/* Two stages: up[t,i] = x[t,i] + down[t-1,i];  down[t,i] = up[t,i] * 0.5 - down[t-1,i].  Outputs down's last row and
 * up. */
typedef struct Pair { Ctx *cx; Tensor *x, *up, *down, *last; float data[STEPS * WIDTH]; } Pair;

static Pair pair_new(void)
{
    Pair p = { .cx = context_new(NULL, NULL) };
    p.x = tensor_new_fixed(p.cx, "x", F32, 2, (int64_t[]){ STEPS, WIDTH });
    p.down = tensor_new_fixed(p.cx, "down", F32, 2, (int64_t[]){ STEPS, WIDTH });
    p.up = FORMULA(p.cx, "up[t ordered,i] = x[t,i] + (down[t-1,i]? : 0)", BIND_T("x", p.x), BIND_T("down", p.down));
    Tensor *made = FORMULA(p.cx, "down[t ordered,i] = up[t,i] * 0.5 - (down[t-1,i]? : 0)", BIND_T("up", p.up),
                           BIND_T("down", p.down));
    promise_keep(p.cx, p.down, made);
    p.last = FORMULA(p.cx, "last[i] = down[6,i]", BIND_T("down", p.down));
    for (int i = 0; i < STEPS * WIDTH; i++) p.data[i] = (float)(i * 37 % 19 - 9) / 8;
    return p;
}

static bool is_right(const Pair *p, const float *up, const float *last)
{
    float down[WIDTH] = { 0 };
    bool right = up && last;
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < WIDTH && right; i++) {
            float now = p->data[t * WIDTH + i] + down[i];
            right = up[t * WIDTH + i] == now;
            down[i] = now * 0.5f - down[i];
        }
    for (int i = 0; i < WIDTH && right; i++) right = last[i] == down[i];
    return right;
}

static void test_evaluated(void)
{
    Pair p = pair_new();
    Env *env = env_new(p.cx);
    env_set(env, p.x, p.data);
    Tensor *outputs[] = { p.up, p.last };
    CHECK("evaluated", evaluate(p.cx, env, outputs, 2) && is_right(&p, env_get(env, p.up), env_get(env, p.last)));
    ctx_free(p.cx);
}

/* For every order of the outputs, a step computes `up` before `down`. */
static void test_order(void)
{
    Pair p = pair_new();
    Node **step;
    for (int i = 0; i < 2; i++) {
        int count = recurrence_of(p.cx, i ? p.up->producer : p.down->producer, &step);
        CHECK("two-stages", count == 2);
        CHECK("in-order", count == 2 && step[0] == p.up->producer && step[1] == p.down->producer);
    }
    CHECK("reader-alone", recurrence_of(p.cx, p.last->producer, &step) == 1 && step[0] == p.last->producer);
    ctx_free(p.cx);
}

static bool runs(const Pair *p, const Nest *n, const RunOptions *options)
{
    Env *env = env_new(p->cx);
    env_set_const(env, p->x, p->data);
    return interpret(p->cx, n, env, options) && is_right(p, env_get(env, n->output[1]), env_get(env, n->output[0]));
}

static const Nest *nest_of(Pair *p) { return nest_naive(p->cx, "pair", &p->x, 1, (Tensor *[]){ p->last, p->up }, 2); }

static void check_nest(const Pair *p, const Nest *n, const char *label)
{
    const char *why = "";
    Verdict v = nest_check(p->cx, n, &why);
    check_that(v == PROVED, label, "%s", why);
    RunOptions fast = { .checked = false }, checked = { .checked = true, .shuffle = 1 };
    check_that(runs(p, n, &fast), label, "the compiled nest is wrong");
    check_that(runs(p, n, &checked), label, "the watched nest is wrong: %s",
               p->cx->diags ? diag_text(p->cx, p->cx->diags) : "");
}

static void test_nests(void)
{
    Pair p = pair_new();
    const Nest *n = nest_of(&p);
    check_nest(&p, n, "naive");
    n = sched_fold_storage(p.cx, n, "down", 0);
    check_nest(&p, n, "state-in-a-ring");
    Path alloc;
    CHECK("two-slots",
          nest_find_loop(n, "down.t", &alloc) && alloc.at[0]->kind == STMT_ALLOC && alloc.at[0]->buffer->ring[0] == 2);
    n = sched_split(p.cx, n, "up.i", 2, TAIL_GUARD, NULL, NULL);
    check_nest(&p, n, "split-inside");
    ctx_free(p.cx);
}

/* The printed nest promises a tensor that is read before it is computed; read again, it prints and computes the
 * same. */
static void test_printed(void)
{
    Pair p = pair_new();
    Text first = text_new(p.cx), second = text_new(p.cx);
    const Nest *n = nest_of(&p);
    print_nest(p.cx, &first, n);
    const Nest *again = nest_read(p.cx, text_string(&first));
    print_nest(p.cx, &second, again);
    check_that(again && strcmp(text_string(&first), text_string(&second)) == 0, "reads-back", "%s\n%s",
               p.cx->diags ? diag_text(p.cx, p.cx->diags) : "", text_string(&first));
    CHECK("promises", strstr(text_string(&first), "\npromise down: f32[7][3]\nstage up[") != NULL);
    const char *why = "";
    CHECK("read-back-is-proved", again && nest_check(p.cx, again, &why) == PROVED);
    if (again) p.x = again->input[0];
    CHECK("read-back-runs", again && runs(&p, again, &(RunOptions){ .checked = true }));
    ctx_free(p.cx);
}

/* The loop over steps in blocks: the outer loop carries the values at the start of the inner loop. The last block has a
 * remainder. */
static void test_blocks_of_steps(void)
{
    Pair p = pair_new();
    const Nest *folded = sched_fold_storage(p.cx, nest_of(&p), "down", 0);
    for (int factor = 2; factor <= STEPS; factor++) {
        const Nest *n = sched_split(p.cx, folded, "down.t", factor, TAIL_GUARD, NULL, NULL);
        check_nest(&p, n, text_format(p.cx, "steps-by-%d", factor));
    }
    const Nest *n = sched_split(p.cx, sched_split(p.cx, folded, "down.t", 4, TAIL_GUARD, NULL, NULL), "down.ti", 2,
                                TAIL_GUARD, NULL, NULL);
    check_nest(&p, n, "steps-split-twice");
    CHECK("no-step-was-refused", !ctx_failed(p.cx));
    ctx_free(p.cx);
}

/* The nest with that number of slots for the ring of `down`, set without a check. */
typedef struct Ring { const Tensor *of; int64_t slots; } Ring;

static const Stmt *set_ring(Ctx *cx, const Stmt *s, void *user)
{
    const Ring *r = user;
    if (s->kind != STMT_ALLOC || s->buffer->tensor != r->of) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *b);
    b->ring[0] = r->slots;
    return stmt_alloc(cx, b, s->child[0]);
}

/* The two parts of a step in exchanged order, each in a separate loop. */
static const Stmt *turn_round(Ctx *cx, const Stmt *s, void *user)
{
    (void)user;
    if (s->kind != STMT_SEQ || s->child_count != 2 || s->child[0]->kind != STMT_FOR
        || strcmp(s->child[0]->name, "up.i") != 0)
        return s;
    const Stmt *both[] = { s->child[1], s->child[0] };
    return stmt_seq(cx, both, 2);
}

static void test_wrong_nests(void)
{
    Pair p = pair_new();
    const char *why;
    Nest n = *nest_of(&p);
    const Stmt *root = n.root;
    Ring one = { p.down, 1 };
    n.root = stmt_rewrite(p.cx, root, set_ring, &one);
    CHECK("one-slot-is-too-few", nest_check(p.cx, &n, &why) != PROVED);
    const Refusal *ring = nest_refusal(p.cx, &n);
    CHECK("the-refusal-names-the-ring", ring && ring->kind == FAULT_RING && ring->tensor == p.down);
    n.root = stmt_rewrite(p.cx, root, turn_round, NULL);
    CHECK("turned-round-is-another-nest", n.root != root);
    CHECK("a-step-out-of-order", nest_check(p.cx, &n, &why) != PROVED);
    n = *sched_split(p.cx, nest_of(&p), "down.t", 4, TAIL_GUARD, NULL, NULL);
    root = n.root;
    n.root = stmt_rewrite(p.cx, root, set_ring, &one);
    CHECK("one-slot-is-too-few-for-pieces", n.root != root && nest_check(p.cx, &n, &why) != PROVED);
    n.root = stmt_rewrite(p.cx, root, turn_round, NULL);
    CHECK("a-step-of-a-piece-out-of-order", n.root != root && nest_check(p.cx, &n, &why) != PROVED);
    Nest *turned = NEW(p.cx->arena, Nest);
    *turned = *sched_reorder(p.cx, sched_split(p.cx, nest_of(&p), "down.t", 1, TAIL_GUARD, NULL, NULL),
                             (const char *[]){ "down.ti", "down.to" }, 2, false);
    CHECK("pieces-turned-round", !ctx_failed(p.cx));
    sched_vectorize(p.cx, nest_of(&p), "down.t");
    CHECK("steps-are-no-lanes", ctx_failed(p.cx));
    ctx_free(p.cx);
}

static void test_circle_in_a_step(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Tensor *b = tensor_new_fixed(cx, "b", F32, 1, (int64_t[]){ 4 }), *kept = b;
    Tensor *a = FORMULA(cx, "a[t ordered] = b[t] + 1", BIND_T("b", b));
    Tensor *made = FORMULA(cx, "b[t ordered] = a[t] * 2", BIND_T("a", a));
    promise_keep(cx, kept, made);
    Env *env = env_new(cx);
    CHECK("circle-in-a-step", !evaluate(cx, env, &kept, 1) && strstr(diag_text(cx, cx->diags), "within the same step"));
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(test_evaluated, test_order, test_nests, test_printed, test_blocks_of_steps, test_wrong_nests,
              test_circle_in_a_step);
    return check_done();
}
