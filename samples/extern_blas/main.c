/* SPDX-License-Identifier: MIT */
/* A compiler whose products may be calls of cblas_sgemm: an implementation that is a C function, beside the emitted
 * ones.
 *
 *     main MODEL compile OUTPUT.c      main MODEL strategy      main MODEL verify LINK
 *
 * LINK is what the C compiler links: -lopenblas. */
#include <stdio.h>
#include <string.h>

#include "loopwright.h"

/* 101: CblasRowMajor, 111: CblasNoTrans. A small product costs less as emitted loops than as a call. */
#define SGEMM(x, w)                                                                                                    \
    "cblas_sgemm(101, 111, 111, dim(" x ", 0), dim(" w ", 1), dim(" w ", 0), 1.0, " x ", stride(" x ", 0), " w         \
    ", stride(" w ", 0), 0.0, y, stride(y, 0))"
#define WHEN(x, w)                                                                                                     \
    x " is f32 && rank(" x ") == 2 && rank(" w ") == 2 && dim(" x ", 0) * dim(" w ", 1) * dim(" w ", 0) >= 4096"

static bool add_blas(lw_context *cx)
{
    static const lw_implementation dense = { .name = "dense.sgemm", .what = "a call of cblas_sgemm", .plevel = 30,
                                             .when = WHEN("x", "w"), .call = SGEMM("x", "w") };
    static const lw_implementation matmul = { .name = "matmul.sgemm", .what = "a call of cblas_sgemm", .plevel = 30,
                                              .when = WHEN("a", "b"), .call = SGEMM("a", "b") };
    return lw_register_strategy(cx, "dense", "generic", &dense, 1) &&
           lw_register_strategy(cx, "matmul", "generic", &matmul, 1);
}

int main(int argc, char **argv)
{
    lw_options o = { .name = "net", .at = "strategy", .link = argc > 3 ? argv[3] : NULL };
    lw_context *cx = lw_new();
    const char *text = "";
    if (argc < 3) return 2;
    bool ok = add_blas(cx);
    if (ok && strcmp(argv[2], "compile") == 0) ok = argc > 3 && lw_compile(cx, argv[1], argv[3], &o);
    else if (ok && strcmp(argv[2], "verify") == 0) ok = (text = lw_verify(cx, argv[1], NULL, 0, NULL, 0, &o)) != NULL;
    else if (ok) ok = (text = lw_dump(cx, argv[1], &o)) != NULL;
    if (ok) fputs(text, stdout);
    for (int i = 0; (text = lw_diagnostic(cx, i, NULL)) != NULL; i++) fprintf(stderr, "%s\n", text);
    lw_free(cx);
    return !ok;
}
