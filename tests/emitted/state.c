/* SPDX-License-Identifier: MIT */
/* A model with its state in a struct gives, run for run, the results of the same model with its state passed by the
 * caller; two states are independent; reset restores the initial values. */
#include <stdio.h>
#include <string.h>

#include "kept.h"
#include "passed.h"

enum { ALIGN = 16, RUNS = 20 };
static unsigned char memory[KEPT_ARENA_SIZE + PASSED_ARENA_SIZE + 2 * ALIGN];

typedef struct Result { float y, z; } Result;

static void *arena(void) { return memory + (ALIGN - (uintptr_t)memory % ALIGN) % ALIGN; }
static float sample(int run, int of) { return (float)((run * 7 + of * 5) % 13 - 6) / 4.0f; }

static Result run_kept(struct kept_state *state, float x)
{
    Result r = { 0, 0 };
    if (kept_run(arena(), state, &(struct kept_inputs){ .x = &x }, &(struct kept_outputs){ .y = &r.y, .z = &r.z }) != 0)
        printf("refused\n");
    return r;
}

static Result run_passed(float *level, float *last, float x)
{
    Result r = { 0, 0 };
    float new_level[8], new_last[3];
    struct passed_inputs in = { .x = &x, .level = level, .last = last };
    struct passed_outputs out = { .y = &r.y, .new_level = new_level, .z = &r.z, .new_last = new_last };
    if (passed_run(arena(), &in, &out) != 0) printf("refused\n");
    memcpy(level, new_level, sizeof new_level);
    memcpy(last, new_last, sizeof new_last);
    return r;
}

int main(void)
{
    struct kept_state state[2];
    float level[2][8] = { { 0 } }, last[2][3] = { { 0 } };
    Result first = { 0, 0 };
    for (int s = 0; s < 2; s++) {
        memset(&state[s], 0xff, sizeof state[s]);
        kept_reset(&state[s]);
    }
    for (int run = 0; run < RUNS; run++)
        for (int s = 0; s < 2; s++) {
            Result a = run_kept(&state[s], sample(run, s)), b = run_passed(level[s], last[s], sample(run, s));
            if (memcmp(&a, &b, sizeof a) != 0)
                return printf("run %d of state %d: %g %g instead of %g %g\n", run, s, (double)a.y, (double)a.z,
                              (double)b.y, (double)b.z);
            if (run == RUNS / 2 && s == 0) first = a;
        }
    if (first.y == 0.0f) return printf("the state does not matter\n");
    kept_reset(&state[0]);
    for (int run = 0; run <= RUNS / 2; run++) {
        Result a = run_kept(&state[0], sample(run, 0));
        if (run == RUNS / 2 && memcmp(&a, &first, sizeof a) != 0) return printf("another run after a reset\n");
    }
    if (kept_run(arena(), NULL, &(struct kept_inputs){ .x = NULL }, &(struct kept_outputs){ .y = NULL })
        != KEPT_E_STATE)
        return printf("no state is not refused\n");
    return 0;
}
