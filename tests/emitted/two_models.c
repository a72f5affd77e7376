/* SPDX-License-Identifier: MIT */
/* Two models in one program, run alternately in one arena: each always gives its first results. */
#include <stdio.h>
#include <string.h>

#include "one.h"
#include "two.h"

enum { ALIGN = 16, SIZE = ONE_ARENA_SIZE > TWO_ARENA_SIZE ? ONE_ARENA_SIZE : TWO_ARENA_SIZE };

static unsigned char memory[SIZE + ALIGN];
static float x1[64], y1[64], x2[256], y2[32];

int main(void)
{
    unsigned char *arena = memory + (ALIGN - (uintptr_t)memory % ALIGN) % ALIGN;
    float first1[64], first2[32];
    for (int i = 0; i < 256; i++) x2[i] = (float)(i * 11 % 29 - 14) / 8.0f;
    memcpy(x1, x2, sizeof x1);
    for (int turn = 0; turn < 3; turn++) {
        memset(y1, 0, sizeof y1);
        memset(y2, 0, sizeof y2);
        if (one_run(arena, &(struct one_inputs){ .x = x1 }, &(struct one_outputs){ .y = y1 }) != 0) return 1;
        if (two_run(arena, &(struct two_inputs){ .x = x2 }, &(struct two_outputs){ .y = y2 }) != 0) return 2;
        if (turn == 0) {
            memcpy(first1, y1, sizeof y1);
            memcpy(first2, y2, sizeof y2);
        } else if (memcmp(first1, y1, sizeof y1) != 0 || memcmp(first2, y2, sizeof y2) != 0) {
            printf("turn %d gives other values\n", turn);
            return 3;
        }
    }
    return 0;
}
