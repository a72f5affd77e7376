/* SPDX-License-Identifier: MIT */
/* The checker on nests written by hand: what is right passes, and every fault is refused with a sentence that names the
 * loop, stage or tensor. The nests are texts, read by nest_read. */
#include <string.h>

#include "check.h"
#include "ir/check.h"
#include "ir/formula.h"

int main(void)
{
    Ctx *cx = ctx_new(NULL, NULL);
    const Expr *shape[] = { expr_index(cx, 8), expr_index(cx, 9) };
    Tensor *x = tensor_new(cx, "x", F32, 2, shape);
    Tensor *y = FORMULA(cx, "y[i<8, j<9] = x[i, j] * 2.0", BIND_T("x", x));
    Tensor *z = FORMULA(cx, "z[i<6] = sum(r<3, j<9) y[i + r, j]", BIND_T("y", y));
    Tensor *in[] = { x }, *out[] = { z };
    const Nest *n = nest_naive(cx, "t", in, 1, out, 1);
    Text t = text_new(cx);
    if (n) print_nest(cx, &t, n);
    printf("%s\n", text_string(&t));
    const char *why = NULL;
    Verdict v = nest_check(cx, n, &why);
    check_that(v == PROVED, "naive", "%s", why ? why : "?");
    for (Diag *d = cx->diags; d; d = d->next) printf("%s\n", diag_text(cx, d));
    return check_done();
}
