/* SPDX-License-Identifier: MIT */
/* `verify` is a judge of the passes: rows whose facts are wrong make a pass change the values of the graph, and the
 * verdict must be against the emitted C. The reference, the model as imported, runs no pass that reads these facts. */
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "graph/dag/graph.h"
#include "loopwright.h"
#include "support/text.h"

/* ---- Rows with wrong facts --------------------------------------------------------------------------------------- */

static Tensor *squared(Ctx *cx, const Node *n)
{
    return call(cx, "mul", n->name, (Tensor *[]){ n->in[0], n->in[0] }, 2, NULL);
}

static Tensor *absolute(Ctx *cx, const Implementation *with, const Target *t, const Node *n, const Uses *uses)
{
    (void)with;
    (void)t;
    (void)uses;
    return call(cx, "abs", n->name, n->in, 1, NULL);
}

static const Op wrong_ops[] = {
    { .name = "doubled", .summary = "2 x", .level = 1, .least_inputs = 1, .most_inputs = 1, .inputs = "x",
      .fusion.pattern = PATTERN_ELEMENTWISE, .meaning.formula = "y[*] = x[*] + x[*]", .meaning.simplify = squared },
    { .name = "scaled", .summary = "a b + 1", .level = 1, .least_inputs = 2, .most_inputs = 2, .inputs = "a b",
      .fusion.pattern = PATTERN_BROADCAST, .meaning.formula = "y[*] = a[*] * b[*] + 1.0",
      .fold.affine = AFFINE_SCALE },
    { .name = "halved", .summary = "x / 2", .level = 1, .least_inputs = 1, .most_inputs = 1, .inputs = "x",
      .fusion.pattern = PATTERN_INJECTIVE, .meaning.formula = "y[*] = x[*] * 0.5", .layout.is_view = true },
    { .name = "negated", .summary = "-x", .level = 1, .least_inputs = 1, .most_inputs = 1, .inputs = "x",
      .fusion.pattern = PATTERN_INJECTIVE, .meaning.formula = "y[*] = -x[*]", .quantization.moves_elements = true },
    { 0 }
};
static const Implementation altered = { .name = "relu.altered", .ops = "relu", .plevel = 90, .alter = absolute };
static const Implementation computed = { .name = "relu.computed", .ops = "relu", .plevel = 90,
                                         .compute = "y[*] = max(x[*], 0.0) + 0.25" };

typedef struct Damage {
    const char *name, *call;
    const Implementation *row;         /* NULL: the operator's own facts are wrong */
} Damage;
static const Damage damages[] = {
    { "simplify", "doubled(x)", NULL },
    { "affine", "scaled(dense(x, k), s)", NULL },
    { "view", "relu(halved(relu(x)))", NULL },
    { "realize", "cast(quantize(negated(dequantize(q, s0, z0)), s0, z0), to=f32)", NULL },
    { "alter", "relu(x)", &altered },
    { "compute", "relu(x)", &computed },
};

static const char *verdict(const Damage *d, bool is_damaged)
{
    static char said[2000];
    Ctx *cx = context_new(NULL, NULL);
    for (const Op *op = wrong_ops; op->name; op++) op_register(cx, op);
    if (is_damaged && d->row) implementation_register(cx, d->row);
    const char *text = text_format(cx, "input x: f32[3][4]\nconst k: f32[4][2] = {1, -2, 3, 4, 5, -6, 7, 8}\n"
                                   "const s: f32[2] = {2, 3}\n"
                                   "const s0: f32 = {0.5}\nconst z0: i8 = {5}\nq = quantize(x, s0, z0)\n"
                                   "y = %s\noutput y\n", d->call);
    lw_write(cx, "build/test/judge.te", text);
    const char *right = lw_verify(cx, "build/test/judge.te", NULL, 0, NULL, 0, NULL);
    snprintf(said, sizeof said, "%s", right ? right : lw_diagnostic(cx, 0, NULL));
    ctx_free(cx);
    return said;
}

static void test_damage(const Damage *d)
{
    const char *said = verdict(d, true);
    check_that(strstr(said, "the emitted C does not agree with the interpreter")
                   || strstr(said, "differ by more than one step from the real numbers"),
               check_label(d->name, "damaged-is-found"), "%s", said);
    if (!d->row) return;
    said = verdict(d, false);
    check_that(strstr(said, "\nverified: ") != NULL, check_label(d->name, "undamaged-is-verified"), "%s", said);
}

int main(void)
{
    CHECK_EACH(test_damage, damages);
    return check_done();
}
