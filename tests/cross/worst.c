/* SPDX-License-Identifier: MIT */
/* Runs one emitted model on COUNT inputs that are made to be worst.
 * Prints the fewest and the most instructions of a run. The inputs are at the ends of their ranges, random, sparse or
 * constant, and every other one is the worst so far with some elements changed: the count itself directs the search.
 * Built as main.c is, with COUNT and SEED. */
#include <stdint.h>
#include <string.h>

#include "board.h"
#include "inference.h"

#define DECLARE_INPUT(name, type, count) static type name##_now[count], name##_worst[count];
JOIN(MODEL_UPPER, _INPUTS)(DECLARE_INPUT)

static uint32_t state = SEED;

static uint32_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* An element of `bytes` bytes: 0, an end of its range, or any value. Floats are at most 8 in magnitude, or large. */
enum { ZERO, LEAST, GREATEST, AN_END, ANY, KINDS };

static void set_float(void *to, uint32_t kind)
{
    const float most = random_bits() % 8u ? 8.0f : 1e30f;
    const float any = ((float)(random_bits() >> 8) / 8388608.0f - 1.0f) * most;
    const float value[KINDS] = { 0.0f, -most, most, random_bits() % 2u ? most : -most, any };
    memcpy(to, &value[kind], sizeof value[kind]);
}

static void set_integer(void *to, uint32_t bytes, int is_signed, uint32_t kind)
{
    const uint64_t top = (uint64_t)1 << (8 * bytes - 1), least = is_signed ? top : 0, greatest = least - 1;
    const uint64_t any = (uint64_t)random_bits() << 32 | random_bits();
    const uint64_t value[KINDS] = { 0, least, greatest, random_bits() % 2u ? least : greatest, any };
    memcpy(to, &value[kind], bytes);
}

static void set(void *to, uint32_t bytes, int is_float, int is_signed, uint32_t kind)
{
    if (is_float && bytes == sizeof(float)) set_float(to, kind);
    else if (!is_float) set_integer(to, bytes, is_signed, kind);
}

/* Fills an input: from the worst so far with one of `share` elements changed, if share is not 0. */
static void fill(unsigned char *to, const unsigned char *worst, uint32_t count, uint32_t bytes, int is_float,
                 int is_signed, uint32_t kind, uint32_t share, uint32_t background)
{
    if (share && worst) memcpy(to, worst, (size_t)count * bytes);
    for (uint32_t i = 0; i < count; i++) {
        const int is_changed = !share || random_bits() % share == 0;
        if (is_changed) set(to + i * bytes, bytes, is_float, is_signed, kind);
        else if (!worst) set(to + i * bytes, bytes, is_float, is_signed, background);
    }
}

int main(void)
{
    struct inference inference;
    uint64_t most = 0, fewest = UINT64_MAX;
    inference.arena = arena_start();
#define BIND_INPUT(name, type, count) inference.in.name = name##_now;
#define BIND_OUTPUT(name, type, count) inference.out.name = name##_got;
    JOIN(MODEL_UPPER, _INPUTS)(BIND_INPUT)
    JOIN(MODEL_UPPER, _OUTPUTS)(BIND_OUTPUT)
    for (uint32_t n = 0; n < COUNT; n++) {
        const uint32_t kind = n < KINDS ? n : random_bits() % KINDS, form = n < KINDS ? 0 : random_bits() % 4u;
        const uint32_t share = form ? (uint32_t)1 << (1 + random_bits() % 10u) : 0, background = random_bits() % AN_END;
#define FILL(name, type, count) \
        fill((unsigned char *)name##_now, form > 1 ? (const unsigned char *)name##_worst : NULL, (count), \
             (uint32_t)sizeof(type), (type)0.5f > (type)0, (type)-1 < (type)0, kind, share, background);
        JOIN(MODEL_UPPER, _INPUTS)(FILL)
        const struct board_cost cost = board_measure(infer, &inference);
        if (inference.status != 0) {
            board_text("the model refused to run\n");
            return 4;
        }
        if (cost.instructions < fewest) fewest = cost.instructions;
        if (cost.instructions <= most) continue;
        most = cost.instructions;
#define KEEP(name, type, count) memcpy(name##_worst, name##_now, sizeof name##_now);
        JOIN(MODEL_UPPER, _INPUTS)(KEEP)
    }
    board_report("fewest", fewest);
    board_report("most", most);
    return 0;
}
