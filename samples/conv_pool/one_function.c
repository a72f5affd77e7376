/* SPDX-License-Identifier: MIT */
/* one_function OUT.c: a schedule of a convolution and one of a pooling become one function. The two are written apart;
 * `combine` attaches the convolution to the rows of the pooling: each part keeps its loops, and a ring buffer holds the
 * rows that are read again. */
#include <stdio.h>

#include "loopwright.h"

static void schedule_convolution(lw_computation *p)
{
    lw_split(p, "conv.o", 8, NULL);
    lw_reorder(p, "conv.h conv.w conv.oo conv.i conv.j conv.c conv.oi", NULL);
    lw_unroll(p, "conv.oi", NULL);
}

static void schedule_pooling(lw_computation *p)
{
    lw_split(p, "y.o", 8, NULL);
    lw_unroll(p, "y.oi", NULL);
}

/* The two steps by which the separate nests become one. */
static void combine(lw_computation *p)
{
    lw_compute_at(p, "conv", "y.h", NULL);
    lw_fold_storage(p, "conv", "warm=guard");
}

int main(int argc, char **argv)
{
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "net", "cortex-m4");
    lw_input(p, "x: f32[32][32][16]");
    lw_input(p, "k: f32[3][3][16][16]");
    lw_compute(p, "conv[h<32, w<32, o] = sum(i, j, c) (x[h+i-1, w+j-1, c]? * k[i, j, c, o] : 0)");
    lw_compute(p, "y[h<15, w<15, o] = max(i<3, j<3) conv[h*2+i, w*2+j, o]");
    lw_output(p, "y");
    lw_statement(p, "nest");
    schedule_convolution(p);
    schedule_pooling(p);
    combine(p);
    const bool ok = argc == 2 && lw_emit(p, argv[1], NULL);
    const char *text;
    for (int i = 0; !ok && (text = lw_diagnostic(cx, i, NULL)) != NULL; i++) fprintf(stderr, "%s\n", text);
    if (ok) printf("%s", lw_text(p));
    lw_free(cx);
    return !ok;
}
