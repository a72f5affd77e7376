/* SPDX-License-Identifier: MIT */
/* Compares a streamed network with its full window: every hop of random frames, the bytes of both results. The headers
 * give the sizes; a window is [OUTER][frames][INNER]. */
#include <stdio.h>
#include <string.h>

#include "full.h"
#include "hop.h"

#define COUNT(name, type, count) (count) +

enum { IN = FULL_INPUTS(COUNT) 0, OUT = FULL_OUTPUTS(COUNT) 0, NEW_OUT = HOP_OUTPUTS(COUNT) 0 };
enum { WINDOW = HOP_STREAM_WINDOW, FRAMES = HOP_STREAM_HOP, INNER = IN / (WINDOW * OUTER) };

static FULL_ARENA(full_arena);
static HOP_ARENA(hop_arena);
static ELEMENT window[IN], frames[OUTER * FRAMES * INNER];
static RESULT want[OUT], got[NEW_OUT];

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 16; }

#ifdef BEGINS
/* The first window at once, and hop by hop from a reset on. */
int main(void)
{
    static struct hop_state state;
    static RESULT all[OUT + NEW_OUT];
    const struct full_inputs in = { window };
    const struct full_outputs out = { want };
    const struct hop_inputs new_in = { frames };
    const struct hop_outputs new_out = { got };
    unsigned seed = 1;
    for (int i = 0; i < IN; i++) window[i] = (ELEMENT)((int)(next_random(&seed) % 255) - 127);
    if (full_run(full_arena, &in, &out)) return 1;
    hop_reset(&state);
    for (int at = 0; at < WINDOW / FRAMES; at++) {
        memcpy(frames, window + at * FRAMES * INNER, sizeof frames);
        if (hop_run(hop_arena, &state, &new_in, &new_out)) return 1;
        memcpy(all + at * NEW_OUT, got, sizeof got);
    }
    const int differs = memcmp(all, want, sizeof want) != 0;
    printf("the frames of the first window: %s\n", differs ? "others" : "equal bytes");
    return differs;
}
#else
static void slide(unsigned *seed)
{
    for (int o = 0; o < OUTER; o++) {
        ELEMENT *row = window + o * WINDOW * INNER;
        memmove(row, row + FRAMES * INNER, (WINDOW - FRAMES) * INNER * sizeof *row);
        for (int i = 0; i < FRAMES * INNER; i++)
            frames[o * FRAMES * INNER + i] = row[(WINDOW - FRAMES) * INNER + i] =
                (ELEMENT)((int)(next_random(seed) % 255) - 127);
    }
}

int main(void)
{
    static struct hop_state state;
    const struct full_inputs in = { window };
    const struct hop_inputs new_in = { frames };
    const struct full_outputs out = { want };
    const struct hop_outputs new_out = { got };
    unsigned seed = 1;
    int compared = 0;
    hop_reset(&state);
    for (int run = 1; run <= HOP_STREAM_RUNS_TO_FULL + RUNS; run++) {
        slide(&seed);
        if (hop_run(hop_arena, &state, &new_in, &new_out)) return 1;
        if (run < HOP_STREAM_RUNS_TO_FULL) continue;
        if (full_run(full_arena, &in, &out)) return 1;
        compared++;
        if (memcmp(want + OUT - NEW_OUT, got, sizeof got) == 0) continue;
        printf("run %d differs\n", run);
        return 1;
    }
    printf("%d hops, equal bytes\n", compared);
    return 0;
}
#endif
