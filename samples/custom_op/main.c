/* SPDX-License-Identifier: MIT */
/* A compiler with additions: Loopwright's library, and in its context
 *
 *   three operators by one line each     mirror (injective), blend (broadcast), energy (reduction)
 *   one with an attribute                gain
 *   a schedule for all targets           of blend
 *   a target, and a strategy for it      tiny-core: energy in four lanes if rows divide; by another compute if they
 *                                        have an even number of columns; else unchanged
 *   an importer row                      my.audio.Energy of ONNX
 *   an operator by calls of others       louder, of gain and energy
 *   a device                             cnn: blocks of a convolution, an activation and a pool; single pools
 *
 *     main compile MODEL OUTPUT.c TARGET        main strategy MODEL TARGET        main verify MODEL TARGET
 *     main check OP INPUTS      all implementations beside the operator's own compute */
#include <stdio.h>
#include <string.h>

#include "loopwright.h"

/* Schedules the columns of the group's output in fours; a refused step leaves the loops unchanged. */
static bool schedule_mirror(lw_context *cx, lw_group *g)
{
    (void)cx;
    lw_try(g, "compute_inline @op(mirror)");
    return lw_try(g, "split @output.c 4") == NULL;
}

/* Third road: the sum in steps of four, written out. */
static bool schedule_energy(lw_context *cx, lw_group *g)
{
    (void)cx;
    return lw_split(g, "@op(energy).k", 4, NULL) && lw_unroll(g, "@op(energy).ki", NULL);
}

/* Fourth road: tensors from tensors. The energy of the amplified rows. */
static int build_louder(lw_context *cx, lw_call *c, lw_tensor **out)
{
    char attrs[64];
    lw_tensor *x = lw_call_input(c, 0), *amplified;
    (void)cx;
    snprintf(attrs, sizeof attrs, "by=%g least=-100", lw_call_number(c, "by", 2));
    amplified = lw_apply(c, "gain", &x, 1, attrs);
    out[0] = lw_apply(c, "energy", &amplified, 1, NULL);
    return 1;
}

static bool add_everything(lw_context *cx)
{
    static const lw_implementation energy[] = {
        { .name = "energy.by_four", .what = "the sum in steps of four, written out", .plevel = 20,
          .when = "dim(x, 1) % 4 == 0 && x is f32",
          .schedule = schedule_energy },
        { .name = "energy.plain", .what = "as written", .plevel = 12 },
        { .name = "energy.halves", .what = "even and odd columns apart, so that two sums run side by side",
          .plevel = 15, .when = "dim(x, 1) % 2 == 0",
          .compute = "half[i, j<2] = sum(k<dim(x, 1)/2) x[i, 2*k+j] * x[i, 2*k+j]; y[i] = half[i, 0] + half[i, 1]" },
    };
    lw_register_injective(cx, "mirror", "x", "y[i<dim(x, 0), c] = x[dim(x, 0) - 1 - i, c]");
    lw_register_broadcast(cx, "blend", "a b", "y[r, c] = 0.5 * (a[r, c] + b[r, c])");
    lw_register_reduce(cx, "energy", "x", "y[i] = sum(k) x[i, k] * x[i, k]");
    lw_register_op(cx, &(lw_op){ .name = "gain", .summary = "y = x * by, at least floor",
                                 .pattern = "elementwise", .inputs = "x",
                                 .attrs = "by=2.0 least=0", .formula = "y[*] = max(x[*] * by, f32(least))" });
    lw_register_schedule(cx, "mirror", NULL, 0, schedule_mirror);
    lw_register_target(cx, &(lw_target){ .name = "tiny-core", .summary = "a core with four multipliers", .lanes = 1 });
    lw_register_strategy(cx, "energy", "tiny-core", energy, 3);
    lw_register_op(cx, &(lw_op){ .name = "louder", .pattern = "reduction", .inputs = "x", .attrs = "by=2.0",
                                 .build = build_louder });
    lw_register_device(cx, "cnn", "max_pool2d", "f32");
    lw_register_composite(cx, "cnn", "conv_block", "conv2d add? relu max_pool2d?", "dim(k, 0) <= 3");
    return lw_register_onnx(cx, "my.audio.Energy", "energy", "");
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    const char *what = argv[1], *model = argv[2];
    lw_options o = { .target = argv[argc - 1], .name = "net", .at = "strategy" };
    lw_context *cx = lw_new();
    const char *text = "";
    bool ok = add_everything(cx);
    if (ok && strcmp(what, "compile") == 0) ok = lw_compile(cx, model, argv[3], &o);
    else if (ok && strcmp(what, "strategy") == 0) ok = (text = lw_dump(cx, model, &o)) != NULL;
    else if (ok && strcmp(what, "check") == 0) ok = (text = lw_check_op(cx, model, NULL, argv[3])) != NULL;
    else if (ok) ok = (text = lw_verify(cx, model, NULL, 0, NULL, 0, &o)) != NULL;
    if (ok) fputs(text, stdout);
    for (int i = 0; (text = lw_diagnostic(cx, i, NULL)) != NULL; i++) fprintf(stderr, "%s\n", text);
    lw_free(cx);
    return !ok;
}
