/* SPDX-License-Identifier: MIT */
/* steps FOLDER TARGET N: a product of two N x N matrices from C (loopwright.h), in eight steps from the loops of the
 * formula to blocks that are packed, vectorized and stored in registers. The C after each step is written to
 * FOLDER/STEP/matmul.c, the whole schedule as a .te file to FOLDER/matmul.te; a line describes each step. steps.sh
 * builds and times them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopwright.h"

/* The number of sums of a tile: it fills the registers of a target's width. */
typedef struct Tile { const char *target; int rows, columns; } Tile;
static const Tile tiles[] = { { "x86", 6, 8 }, { "x86-avx2", 6, 16 }, { "x86-avx512", 8, 32 }, { NULL, 4, 16 } };

static Tile tile_for(const char *target)
{
    const Tile *t = tiles;
    while (t->target && strcmp(t->target, target) != 0) t++;
    return *t;
}

/* 1: c is written in blocks, and the sums of a block are computed right before. If the rows do not divide, the last
 * block begins earlier. */
static void in_blocks(lw_computation *p, const Tile *t)
{
    lw_cache_write(p, "c", "arena", "name=sums");
    lw_split(p, "c.i", t->rows, "tail=shift");
    lw_split(p, "c.j", t->columns, NULL);
    lw_reorder(p, "c.io c.jo c.ii c.ji", NULL);
    lw_compute_at(p, "sums", "c.jo", NULL);
}

/* 2: for each k a column of a times a row of b. */
static void by_columns(lw_computation *p, const Tile *t)
{
    (void)t;
    lw_reorder(p, "sums.k sums.i sums.j", NULL);
}

/* 3, 4: the rows of a block are written out, its sums are no longer memory of the arena. */
static void in_registers(lw_computation *p, const Tile *t)
{
    (void)t;
    lw_set_scope(p, "sums", "register", NULL);
}

static void written_out(lw_computation *p, const Tile *t)
{
    (void)t;
    lw_unroll(p, "sums.i", NULL);
}

/* 5: a row of sums is a few vectors; each product is added with one rounding, where the target can. */
static void in_vectors(lw_computation *p, const Tile *t)
{
    (void)t;
    lw_vectorize(p, "sums.j", "contract");
}

/* 6: now all accesses to the sums are whole vectors at constant indices, so they are variables. */
static void written_in_vectors(lw_computation *p, const Tile *t)
{
    (void)t;
    lw_unroll(p, "c.ii", NULL);
    lw_vectorize(p, "c.ji", NULL);
}

/* 7: b is copied once in the order in which blocks read it: their columns, one row after the other. */
static void columns_packed(lw_computation *p, const Tile *t)
{
    char dimensions[64];
    sprintf(dimensions, "d1/%d d0 d1%%%d", t->columns, t->columns);
    lw_cache_read(p, "b", "arena", "name=columns");
    lw_pack(p, "columns", dimensions, NULL);
    lw_split(p, "columns.d1", t->columns, NULL);
    lw_vectorize(p, "columns.d1i", NULL);
}

/* 8: of a the rows of one row of blocks, column after column. */
static void rows_packed(lw_computation *p, const Tile *t)
{
    (void)t;
    lw_cache_read(p, "a", "arena", "name=rows");
    lw_compute_at(p, "rows", "c.io", NULL);
    lw_pack(p, "rows", "d1 d0", NULL);
    lw_unroll(p, "rows.d0", NULL);
    lw_reorder(p, "rows.d1 rows.d0", NULL);
}

typedef struct Step { const char *what; void (*take)(lw_computation *p, const Tile *t); } Step;
static const Step steps[] = {
    { "the loops of the formula", NULL },
    { "in blocks", in_blocks },
    { "a column meets a row", by_columns },
    { "sums in registers", in_registers },
    { "rows written out", written_out },
    { "sums as vectors", in_vectors },
    { "blocks written as vectors", written_in_vectors },
    { "columns of b packed", columns_packed },
    { "rows of a packed", rows_packed },
};

static bool write_text(const char *folder, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/matmul.te", folder);
    FILE *f = text ? fopen(path, "w") : NULL;
    return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

static int print_errors(lw_context *cx)
{
    const char *text;
    for (int i = 0; (text = lw_diagnostic(cx, i, NULL)) != NULL; i++) fprintf(stderr, "%s\n", text);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: steps FOLDER TARGET N\n");
        return 2;
    }
    const char *folder = argv[1], *target = argv[2];
    const Tile tile = tile_for(target);
    char declaration[64], output[1024];
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "matmul", target);
    sprintf(declaration, "a: f32[%d][%d]", atoi(argv[3]), atoi(argv[3]));
    lw_input(p, declaration);
    declaration[0] = 'b';
    lw_input(p, declaration);
    lw_compute(p, "c[i, j] = sum(k) a[i, k] * b[k, j]");
    lw_output(p, "c");
    lw_schedule_group(p, "c");
    for (int i = 0; i < (int)(sizeof steps / sizeof *steps); i++) {
        if (steps[i].take) steps[i].take(p, &tile);
        snprintf(output, sizeof output, "%s/%d/matmul.c", folder, i);
        if (!lw_emit(p, output, NULL)) return print_errors(cx);
        printf("%s\n", steps[i].what);
    }
    if (!write_text(folder, lw_text(p))) return print_errors(cx);
    lw_free(cx);
    return EXIT_SUCCESS;
}
