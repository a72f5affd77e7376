/* SPDX-License-Identifier: MIT */
/* The emitted C of instruction.te, with macros where MACROS is defined (they count their calls) and without. */
#include <stdint.h>
#include <stdio.h>

#ifdef MACROS
static int rows, tiles;
static void mla8(float *r, int at, const float *x, int xat, const float *w, int wat)
{
    rows++;
    for (int o = 0; o < 8; o++) r[at + o] += w[wat + o] * x[xat];
}
static void plus_one(float *r, int at, int row, const float *x, int xat, int xrow)
{
    tiles++;
    for (int u = 0; u < 2; u++)
        for (int v = 0; v < 16; v++) r[at + u * row + v] = x[xat + u * xrow + v] + 1;
}
#define MLA8(r, x, w) mla8(r, x, w)
#define PLUS_ONE(r, x) plus_one(r, x)
#endif

#include "tiled.c"

int main(void)
{
    static float a[8][5], b[5][16], d[8][16];
    static union { unsigned char bytes[TILED_ARENA_SIZE + TILED_ARENA_ALIGN]; double align; } memory;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 5; k++) a[i][k] = (float)(i - 2 * k);
    for (int k = 0; k < 5; k++)
        for (int j = 0; j < 16; j++) b[k][j] = (float)(3 * k - j);
    unsigned char *arena = memory.bytes
                           + (TILED_ARENA_ALIGN - (uintptr_t)memory.bytes % TILED_ARENA_ALIGN) % TILED_ARENA_ALIGN;
    if (tiled_run(arena, &(struct tiled_inputs){ .a = &a[0][0], .b = &b[0][0] },
                  &(struct tiled_outputs){ .d = &d[0][0] })
        != 0)
        return 1;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 0;
            for (int k = 0; k < 5; k++) sum += a[i][k] * b[k][j];
            if (d[i][j] != sum + 1) return 2;
        }
#ifdef MACROS
    printf("%d rows, %d tiles\n", rows, tiles);
    return rows == 8 * 2 * 5 && tiles == 4 ? 0 : 3;
#else
    return 0;
#endif
}
