/* SPDX-License-Identifier: MIT */
/* Computations and schedules through the public header alone. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "loopwright.h"

enum { ROWS = 8, INNER = 6, COLUMNS = 16 };

static lw_computation *product(lw_context *cx)
{
    lw_computation *p = lw_define(cx, "product", "x86-avx2");
    lw_input(p, "a: f32[8][6]");
    lw_input(p, "b: f32[6][16]");
    lw_compute(p, "c[i, j] = sum(k) a[i, k] * b[k, j]");
    lw_output(p, "c");
    return p;
}

static int is_product(lw_computation *p)
{
    static float a[ROWS][INNER], b[INNER][COLUMNS], c[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < INNER; k++) a[i][k] = (float)(i - 2 * k);
    for (int k = 0; k < INNER; k++)
        for (int j = 0; j < COLUMNS; j++) b[k][j] = (float)(3 * k - j);
    memset(c, 0, sizeof c);
    if (!lw_execute(p, (const void *const[]){ a, b }, (void *const[]){ c })) return 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;
            for (int k = 0; k < INNER; k++) sum += a[i][k] * b[k][j];
            if (c[i][j] != sum) return 0;
        }
    return 1;
}

static void test_steps(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = product(cx);
    CHECK("define-runs-before-any-step", is_product(p));
    bool good = lw_cache_write(p, "c", "register", "name=sums") && lw_tile(p, "c.i", "c.j", 4, 8, NULL) &&
                lw_compute_at(p, "sums", "c.jo", NULL) && lw_reorder(p, "sums.k sums.i sums.j", NULL) &&
                lw_unroll(p, "sums.i", NULL) && lw_vectorize(p, "sums.j", "contract");
    CHECK("define-takes-steps", good);
    CHECK("define-runs-after-steps", is_product(p));
    CHECK("define-shows-the-nest", strstr(lw_show(p), "for sums.j < 8 vector") != NULL);
    CHECK("define-late-statement-is-refused", !lw_compute(p, "d[i] = c[i, 0]"));
    CHECK("define-nothing-happens-after-an-error", !lw_unroll(p, "c.ii", NULL) && lw_show(p) == NULL);
    lw_free(cx);
}

static void test_refusals(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = product(cx);
    const char *before = lw_show(p), *why = lw_try(p, "vectorize c.k");
    CHECK("define-try-says-why", why && strstr(why, "reduce axis"));
    CHECK("define-try-leaves-the-nest", strcmp(before, lw_show(p)) == 0 && lw_diagnostic(cx, 0, NULL) == NULL);
    CHECK("define-try-takes-what-it-can", lw_try(p, "unroll c.k by=2") == NULL && strcmp(before, lw_show(p)) != 0);
    CHECK("define-a-refused-step-is-an-error",
          !lw_vectorize(p, "c.nothing", NULL) && lw_diagnostic(cx, 0, NULL) != NULL);
    lw_free(cx);
}

/* The text of one computation, read as the statements and steps of another. */
static void test_replay(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = product(cx), *again = lw_define(cx, "product", "x86-avx2");
    lw_split(p, "c.j", 5, "tail=shift");
    lw_cache_read(p, "b", "stack", NULL);
    lw_parallel(p, "c.i", NULL);
    char *text = malloc(strlen(lw_text(p)) + 1);
    if (!text) exit(1);
    strcpy(text, lw_text(p));
    char *schedule = strstr(text, "\nschedule\n");
    CHECK("define-text-has-a-schedule", schedule != NULL);
    for (char *line = strtok(text, "\n"); line && schedule; line = strtok(NULL, "\n")) {
        if (strncmp(line, "  ", 2) == 0) lw_step(again, line + 2);
        else if (strcmp(line, "schedule") != 0) lw_statement(again, line);
    }
    CHECK("define-text-replays",
          schedule && lw_show(p) && lw_show(again) && strcmp(lw_show(p), lw_show(again)) == 0 && is_product(again));
    free(text);
    lw_free(cx);
}

static void test_operators(void)
{
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "net", NULL);
    lw_input(p, "x: f32[1][4]");
    lw_compute(p, "y = relu(x)");
    lw_output(p, "y");
    const float x[4] = { -1, 2, -3, 4 };
    float y[4];
    CHECK("define-operators-run", lw_execute(p, (const void *const[]){ x }, (void *const[]){ y }) && y[0] == 0
                                      && y[1] == 2 && y[2] == 0 && y[3] == 4);
    CHECK("define-operators-are-scheduled",
          lw_vectorize(p, "y.c", NULL) && strstr(lw_show(p), "for y.c < 4 vector") != NULL);
    lw_free(cx);
    cx = lw_new();
    p = lw_define(cx, "wrong", "no-such-target");
    lw_input(p, "x: f32[4");
    CHECK("define-errors-are-kept", lw_show(p) == NULL && lw_diagnostic(cx, 0, NULL) != NULL);
    lw_free(cx);
}

/* lw_emit reads the files that its options name: their statements act or are refused. */
static void test_annotations(void)
{
    char said[1024], output[1024];
    const char *folder = getenv("TMPDIR");
    snprintf(said, sizeof said, "%s/lw_define_annotations.txt", folder ? folder : "/tmp");
    snprintf(output, sizeof output, "%s/lw_define_annotated.c", folder ? folder : "/tmp");
    FILE *f = fopen(said, "w");
    if (!check_that(f != NULL, "define-annotations-written", "%s", said)) return;
    fputs("stop_fusion nowhere\n", f);
    fclose(f);
    const lw_options options = { .annotate = said };
    lw_context *cx = lw_new();
    lw_computation *p = product(cx);
    lw_statement(p, "nest");
    const bool is_emitted = lw_emit(p, output, &options);
    const char *why = lw_diagnostic(cx, 0, NULL);
    check_that(!is_emitted && why && strstr(why, "one `nest`"), "define-annotations-of-a-nest-are-refused", "%s",
               why ? why : "accepted");
    lw_free(cx);
    cx = lw_new();
    p = lw_define(cx, "calls", "generic");
    lw_input(p, "x: f32[4]");
    lw_statement(p, "y = relu(x)");
    lw_output(p, "y");
    const bool has_unknown = lw_emit(p, output, &options);
    why = lw_diagnostic(cx, 0, NULL);
    check_that(!has_unknown && why && strstr(why, "'nowhere'"), "define-annotations-of-unknown-nodes-are-refused", "%s",
               why ? why : "accepted");
    lw_free(cx);
    remove(said);
}

int main(void)
{
    CHECK_RUN(test_annotations, test_steps, test_refusals, test_replay, test_operators);
    return check_done();
}
