/* SPDX-License-Identifier: MIT */
/* A grayscale camera of 320x240 bytes in front of visual wake words, in one function (`seen`) and in two steps
 * (`plain`): crop, nearest pixel, three equal channels and the formula in floats, then the header's quantization.
 * Prints how many of N images give equal scores, and fails if one differs. Built by run.sh. */
#include "plain.h"
#include "seen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 240, LEFT = 40, SIDE = 96, CHANNELS = 3 };

static uint8_t camera[HEIGHT][WIDTH], arena[SEEN_ARENA_SIZE > PLAIN_ARENA_SIZE ? SEEN_ARENA_SIZE : PLAIN_ARENA_SIZE];
static int8_t pixels[SIDE][SIDE][CHANNELS];

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* Draws slopes with rectangles and noise, so that images have edges, smooth parts and all values. */
static void draw(uint32_t *state)
{
    const uint32_t slope = next(state) % 5, noise = 1 + next(state) % 255, box = next(state) % HEIGHT;
    for (uint32_t h = 0; h < HEIGHT; h++)
        for (uint32_t w = 0; w < WIDTH; w++)
            camera[h][w] = (uint8_t)(h * slope + w * slope / 2 + next(state) % noise + (h > box && w > box ? 90 : 0));
}

static void in_two_steps(int8_t *scores)
{
    struct plain_inputs in = { .input_1_int8 = &pixels[0][0][0] };
    struct plain_outputs out = { .Identity_int8 = scores };
    for (int h = 0; h < SIDE; h++)
        for (int w = 0; w < SIDE; w++)
            for (int c = 0; c < CHANNELS; c++)
                pixels[h][w][c] = plain_quantize_input_1_int8(
                    (float)camera[h * HEIGHT / SIDE][LEFT + w * HEIGHT / SIDE] / 255.0f);
    if (plain_run(arena, &in, &out)) exit(2);
}

static void in_one(int8_t *scores)
{
    struct seen_inputs in = { .input_1_int8 = &camera[0][0] };
    struct seen_outputs out = { .Identity_int8 = scores };
    if (seen_run(arena, &in, &out)) exit(2);
}

int main(int argc, char **argv)
{
    const int images = argc > 1 ? atoi(argv[1]) : 1000;
    uint32_t state = 2463534242u;
    bool is_seen[256] = { false };
    int equal = 0, distinct = 0;
    for (int i = 0; i < images; i++) {
        int8_t one[2], two[2];
        draw(&state);
        in_one(one);
        in_two_steps(two);
        equal += memcmp(one, two, sizeof one) == 0;
        distinct += !is_seen[(uint8_t)one[1]];
        is_seen[(uint8_t)one[1]] = true;
    }
    printf("%d of %d images give equal scores; %d different scores\n", equal, images, distinct);
    return equal != images;
}
