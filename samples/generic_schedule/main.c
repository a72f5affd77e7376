/* SPDX-License-Identifier: MIT */
/* One schedule for a class of dataflows: it walks the group that it receives, whatever surrounds the contraction.
 *
 *     main TARGET FILE.te...            applies it to each file as one nest; compares the interpreter's results before
 *                                       and after, and the emitted C with the interpreter
 *     main TARGET --register MODEL...   registers it for the contractions of models; prints the choices, verifies */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopwright.h"

/* Inlines elementwise stages, computes the contraction in tiles of the output, and keeps a tile's sums in registers. */
static bool generic(lw_context *cx, lw_group *g)
{
    const lw_stage *s, *out = lw_find_stage(g, "@output", 0);
    (void)cx;
    while ((s = lw_find_stage(g, "@elementwise", 0)) != NULL)
        if (!lw_compute_inline(g, s, NULL)) return false;
    const lw_stage *sum = lw_find_stage(g, "@contraction", 0);
    const int rank = lw_stage_rank(out);
    if (!sum || lw_find_stage(g, "@contraction", 1) || lw_find_stage(g, "@output", 1) || rank < 2) return false;
    if (sum == out) {
        /* The sums of a tile need a buffer of their own. */
        if (!lw_cache_write(g, out, "register", NULL)) return false;
        sum = lw_find_stage(g, "@contraction", 0);
    }

    /* 4 positions by a vector of channels; channels that do not fill it stay whole. */
    const int lanes = lw_group_target(g)->lanes, columns = lanes > 1 ? lanes : 4;
    const int64_t channels = lw_stage_size(out, rank - 1);
    const int tile = channels % columns ? (int)channels : columns;
    if (channels < 1) return false;
    lw_tile(g, lw_stage_loop(out, rank - 2), lw_stage_loop(out, rank - 1), 4, tile, NULL);
    lw_compute_at(g, sum, lw_stage_loop(out, rank - 1), NULL);
    lw_set_scope(g, sum, "register", NULL);

    /* Reduce loops outside the tile's loops, in their order, so each sum keeps its order. */
    const lw_loop *order[16], *l, *innermost = NULL;
    int count = 0;
    for (int reduces = 1; reduces >= 0; reduces--)
        for (int i = 0; (l = lw_stage_loop(sum, i)) != NULL && count < 16; i++)
            if (lw_loop_reduces(l) == reduces) order[count++] = innermost = l;
    lw_reorder(g, lw_loop_names(order, count), NULL);
    if (lanes > 1 && !lw_loop_reduces(innermost)) lw_vectorize(g, innermost, NULL);
    return lw_decompose_reduction(g, sum, order[0], NULL);
}

/* ---- Trying it --------------------------------------------------------------------------------------------------- */

static lw_computation *read_file(lw_context *cx, const char *path, const char *target)
{
    lw_computation *p = lw_define(cx, "net", target);
    char line[256];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) lw_statement(p, line);
    if (f) fclose(f);
    return p;
}

static bool print_choices(lw_context *cx, const char *model, const char *target)
{
    const char *text = lw_dump(cx, model, &(lw_options){ .target = target, .at = "strategy" });
    if (text) fputs(text, stdout);
    return text != NULL;
}

static bool verify(lw_context *cx, const char *model, const char *target)
{
    const char *verdict = lw_verify(cx, model, NULL, 0, NULL, 0, &(lw_options){ .target = target, .name = "net" });
    if (verdict) printf("%s: %s", model, verdict);
    return verdict != NULL;
}

static size_t elements(const lw_stage *s)
{
    size_t count = 1;
    for (int d = 0; d < lw_stage_rank(s); d++) count *= (size_t)lw_stage_size(s, d);
    return count;
}

/* Interprets the computation on a fixed sequence of floats; returns the first output. */
static float *interpret(lw_computation *p, size_t *count)
{
    float *in[8], *out = NULL;
    int inputs = 0;
    unsigned seed = 1;
    const lw_stage *s;
    for (int i = 0; (s = lw_stage_at(p, i)) != NULL && inputs < 8; i++) {
        if (!lw_stage_is_input(s)) continue;
        float *x = in[inputs++] = malloc(elements(s) * sizeof *x);
        for (size_t k = 0; x && k < elements(s); k++)
            x[k] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
    }
    *count = elements(lw_find_stage(p, "@output", 0));
    out = calloc(*count, sizeof *out);
    bool ok = out && lw_execute(p, (const void *const *)in, (void *[]){ out });
    while (inputs) free(in[--inputs]);
    if (!ok) free(out);
    return ok ? out : NULL;
}

/* The scheduled nest computes the file's values bit by bit, and so does its emitted C. */
static bool try_file(lw_context *cx, const char *path, const char *target)
{
    size_t count = 0;
    lw_computation *p = read_file(cx, path, target);
    float *before = interpret(p, &count);
    if (!before || !generic(cx, p)) return false;
    float *after = interpret(p, &count);
    const bool same = after && memcmp(before, after, count * sizeof *after) == 0;
    free(before);
    free(after);
    printf("%s%s%s: %s\n", path, strstr(lw_text(p), "\nschedule\n"), path,
           same ? "the interpreter's results are the same" : "the interpreter's results differ");
    return same && lw_write(cx, "scheduled.te", lw_text(p)) && verify(cx, "scheduled.te", target);
}

int main(int argc, char **argv)
{
    const char *text;
    if (argc < 3) return 2;
    lw_context *cx = lw_new();
    bool ok = true, registers = strcmp(argv[2], "--register") == 0;
    if (registers) ok = lw_register_schedule(cx, "pattern:out-fusable", NULL, 50, generic);
    for (int i = registers ? 3 : 2; i < argc && ok; i++)
        ok = registers ? print_choices(cx, argv[i], argv[1]) && verify(cx, argv[i], argv[1])
                       : try_file(cx, argv[i], argv[1]);
    for (int i = 0; (text = lw_diagnostic(cx, i, NULL)) != NULL; i++) fprintf(stderr, "%s\n", text);
    lw_free(cx);
    return !ok;
}
