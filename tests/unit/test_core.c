/* SPDX-License-Identifier: MIT */
/* A new core with vectors: a row, and a header of primitives (tests/core/made_up.h). Its macros compute the formulas of
 * the instructions, emitted C calls them where the row's condition holds, and a network has the interpreter's bytes. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "loopwright.h"

#define COMPILER "${CC:-cc} -std=c99 -O0 -Wall -Wextra -Werror -Itests/core"
static const lw_target row = { .name = "made-up", .summary = "registers of eight bytes", .features = "rows bytes",
                               .lanes = 1, .header = "made_up.h", .macros = "defined(MADE_UP)" };
/* Windows and rows of products; rows, and ends of layers in fixed point. */
static const char *const models[] = { "tests/models/quantized.onnx", "tests/golden/residual-bytes/residual-bytes.te" };

static const char *said(lw_context *cx)
{
    return lw_diagnostic(cx, 0, NULL) ? lw_diagnostic(cx, 0, NULL) : "no diagnostic";
}

static void check_network(const char *expected, const char *model, const char *compiler, bool standalone)
{
    lw_context *cx = lw_new();
    const lw_options options = { .target = row.name, .cc = compiler, .standalone = standalone };
    const char *text = lw_register_target(cx, &row) ? lw_verify(cx, model, NULL, 0, NULL, 0, &options) : NULL;
    check_that(text != NULL, expected, "%s", said(cx));
    lw_free(cx);
}

/* True if the file has the text. */
static bool has(const char *path, const char *text)
{
    static char all[1 << 20];
    FILE *f = fopen(path, "rb");
    const size_t size = f ? fread(all, 1, sizeof all - 1, f) : 0;
    if (f) fclose(f);
    all[size] = 0;
    return strstr(all, text) != NULL;
}

static void check_text(const char *build)
{
    char path[300];
    lw_context *cx = lw_new();
    snprintf(path, sizeof path, "%s/made_up.c", build);
    const lw_options options = { .target = row.name, .name = "made_up" };
    const bool done = lw_register_target(cx, &row) && lw_compile(cx, models[1], path, &options);
    const bool names = done && has(path, "(defined(MADE_UP))\n#define LW_SIMD_CORE \"made_up.h\""),
               calls = done && has(path, "LW_SCALE_I8(") && has(path, "LW_ADD_I8(") && has(path, "LW_DOT_");
    check_that(names, "emitted C names the header under the row's condition", "%s", said(cx));
    check_that(calls, "layers call its macros", "%s", said(cx));
    lw_free(cx);
}

/* The macros of rows.h over the header's primitives; `spoilt` has a wrong product. */
static void check_instructions(const char *build)
{
    char run[1000];
    snprintf(run, sizeof run, "mkdir -p %s/core && sed 's/a.lane.i. \\* b.lane/a.lane[i] - b.lane/' "
             "tests/core/made_up.h > %s/core/spoilt.h", build, build);
    check_that(system(run) == 0, "the header can be spoilt", "%s", run);
    for (int k = 0; k < 2; k++) {
        snprintf(run, sizeof run, COMPILER " -Iruntime -I%s/rows -I%s/core -DLW_SIMD_CORE='\"%s.h\"' -o %s/core/rows "
                 "tests/simd/rows_test.c && %s/core/rows", build, build, k ? "spoilt" : "made_up", build, build);
        const int status = system(run);
        check_that((status != 0) == k, k ? "a wrong primitive is found" : "its macros compute their formulas",
                   "status %d: %s", status, run);
    }
}

static void check_refused(const char *expected, lw_target other, const char *sentence)
{
    lw_context *cx = lw_new();
    check_that(!lw_register_target(cx, &other) && strstr(said(cx), sentence), expected, "%s", said(cx));
    lw_free(cx);
}

int main(void)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    check_instructions(build);
    check_text(build);
    check_network("windows with its macros have the interpreter's bytes", models[0], COMPILER " -DMADE_UP", false);
    check_network("scales with its macros have the interpreter's bytes", models[1], COMPILER " -DMADE_UP", false);
    check_network("pieces in one file have them, too", models[1], COMPILER " -DMADE_UP", true);
    check_network("another core takes the portable form", models[1], COMPILER, false);
    check_refused("a header's name with quotes is refused", (lw_target){ .name = "t", .header = "a\".h" },
                  "`header` is 'a\".h'; use the name of a header of primitives, without quotes");
    check_refused("a condition of two lines is refused", (lw_target){ .name = "t", .macros = "A\n#error" },
                  "`macros` is ");
    return check_done();
}
