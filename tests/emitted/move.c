/* Results that the arena moves by lw_move are the same bytes as memmove's, upwards and downwards, at each distance. */
#include "lw_move.h"

#include <stdio.h>

enum { BYTES = 256 };
static uint32_t moved_words[BYTES / 4];

int main(void)
{
    uint8_t *moved = (uint8_t *)moved_words, expected[BYTES];
    int wrong = 0;
    for (size_t from = 0; from < BYTES; from += 16)
        for (size_t to = 0; to < BYTES; to += 16)
            for (size_t blocks = 0; 16 * blocks + (from > to ? from : to) <= BYTES; blocks++) {
                for (int i = 0; i < BYTES; i++) moved[i] = expected[i] = (uint8_t)(37 * i + 11);
                memmove(expected + to, expected + from, 16 * blocks);
                lw_move(moved + to, moved + from, blocks);
                wrong += memcmp(moved, expected, BYTES) != 0;
            }
    printf("%d differ\n", wrong);
    return wrong != 0;
}
