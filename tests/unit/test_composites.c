/* SPDX-License-Identifier: MIT */
/* Composites of a device whose condition does not hold, or is decided by open sizes at run time: the emitted program is
 * built with a driver that counts its calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "loopwright.h"

static const char *const network =
    "size n in 1..16\ninput x: f32[n][4]\nconst w: f32[4][2] = {1,2,3,4,5,6,7,8}\n"
    "a = dense(x, w)\nb = relu(a)\noutput b\n";

static const char *said(lw_context *cx)
{
    const char *text = lw_diagnostic(cx, 0, NULL);
    return text ? text : "no diagnostic";
}

/* A context with the device, and the network's files. */
static lw_context *with_device(const char *when)
{
    lw_context *cx = lw_new();
    lw_write(cx, "build/test/composite.te", network);
    lw_write(cx, "build/test/composite.txt", "on_device cnn *\n");
    lw_register_device(cx, "cnn", "add", "f32");
    lw_register_composite(cx, "cnn", "block", "dense relu?", when);
    return cx;
}
static const lw_options options = { .name = "net", .annotate = "build/test/composite.txt" };

static void test_notes(void)
{
    lw_context *cx = with_device("dim(w, 1) % 4 == 0");
    const bool ok = lw_compile(cx, "build/test/composite.te", "build/test/composite.c", &options);
    check_that(ok && strstr(said(cx), "node \"a\" (dense): note: runs on the cpu: the device cnn does not accept dense "
                                      "alone, and the condition of its composite block does not hold: "
                                      "dim(w, 1) % 4 == 0"),
               "the note of a chain names the condition that does not hold", "%s", said(cx));
    lw_free(cx);
}

static const char *const driver =
    "#include \"composite.h\"\n"
    "#include <stdio.h>\n"
    "static int calls;\n"
    "#ifdef NET_HAVE_CNN\n"
    "int net_cnn_block_1(void *arena, int32_t n, const float *x, float *b)\n"
    "{\n"
    "    (void)arena;\n"
    "    calls++;\n"
    "    for (int i = 0; i < n * 2; i++) {\n"
    "        float sum = 0;\n"
    "        for (int k = 0; k < 4; k++) sum += x[i / 2 * 4 + k] * (float)(1 + 2 * k + i % 2);\n"
    "        b[i] = sum > 0 ? sum : 0;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "#endif\n"
    "int main(void)\n"
    "{\n"
    "    static double arena[NET_ARENA_SIZE / 8 + 2];\n"
    "    void *base = (char *)arena + (16 - (size_t)(char *)arena % 16) % 16;\n"
    "    for (int32_t n = 1; n <= 16; n++) {\n"
    "        float x[64], b[32];\n"
    "        for (int i = 0; i < 64; i++) x[i] = (float)(i % 7 - 3);\n"
    "        const struct net_inputs in = { x, n };\n"
    "        const struct net_outputs out = { b };\n"
    "        if (net_run(base, &in, &out) != 0) return 1;\n"
    "        for (int i = 0; i < n * 2; i++) {\n"
    "            float sum = 0;\n"
    "            for (int k = 0; k < 4; k++) sum += x[i / 2 * 4 + k] * (float)(1 + 2 * k + i % 2);\n"
    "            if (b[i] != (sum > 0 ? sum : 0)) return 2;\n"
    "        }\n"
    "    }\n"
    "    return calls == CALLS ? 0 : printf(\"%d calls\\n\", calls), calls != CALLS;\n"
    "}\n";

static void build_and_run(const char *cc, const char *flags, const char *label)
{
    char command[600];
    snprintf(command, sizeof command,
             "%s -std=c99 -pedantic -Wall -Wextra -Werror -O1 %s -Iruntime -Ibuild/test build/test/composite.c "
             "build/test/composite_driver.c -lm -o build/test/composite && build/test/composite", cc, flags);
    const int status = system(command);
    check_that(status == 0, label, "status %d of %s", status, command);
}

static void test_run_time(void)
{
    const char *cc = getenv("CC");
    if (!cc || !*cc) cc = "cc";
    lw_context *cx = with_device("dim(x, 0) % 3 == 0 && dim(x, 0) > 3");
    lw_write(cx, "build/test/composite_driver.c", driver);
    const bool ok = lw_compile(cx, "build/test/composite.te", "build/test/composite.c", &options);
    check_that(ok, "a condition on open sizes is emitted", "%s", said(cx));
    lw_free(cx);
    if (system("command -v cc >/dev/null 2>&1") != 0) {
        check_skip("the driver is called where the condition holds", "no C compiler to run");
        return;
    }
    build_and_run(cc, "-DCALLS=0", "without a driver the default runs");
    build_and_run(cc, "-DNET_HAVE_CNN -DCALLS=4", "the driver is called where the condition holds");
}

int main(void)
{
    CHECK_RUN(test_notes, test_run_time);
    return check_done();
}
