/* SPDX-License-Identifier: MIT */
/* Shared by the hosted demo and the Cortex-M image: one digit through the network, and a digest of many predictions,
 * with which two builds are compared in one word. Requires the emitted digits.h; owns no memory. */
#ifndef DIGITS_RECOGNISE_H
#define DIGITS_RECOGNISE_H

#include <stdint.h>

#include "digits.h"
#include "heldout.h"

enum { DIGIT_CLASSES = 10, DIGIT_PIXELS = HELDOUT_PIXELS };

/* Returns the start of an arena inside `memory`, which has DIGITS_ARENA_SIZE + DIGITS_ARENA_ALIGN bytes: C99 has no
 * keyword for the alignment of an array. */
static inline void *arena_within(unsigned char *memory)
{
    uintptr_t past = (uintptr_t)memory % DIGITS_ARENA_ALIGN;
    return memory + (past ? DIGITS_ARENA_ALIGN - past : 0u);
}

static inline int index_of_largest(const float scores[DIGIT_CLASSES])
{
    int best = 0;
    for (int i = 1; i < DIGIT_CLASSES; i++)
        if (scores[i] > scores[best])
            best = i;
    return best;
}

/* Gray levels 0..16 as the network learned them, 0..1; exact in float. */
static inline void scale_pixels(const uint8_t *pixels, float *image)
{
    for (int i = 0; i < DIGIT_PIXELS; i++)
        image[i] = (float)pixels[i] / 16.0f;
}

/* Returns the predicted digit of `image`, or the negative code of digits_run. */
static inline int recognise(void *arena, const float *image)
{
    float scores[DIGIT_CLASSES];
    const struct digits_inputs in = { image };
    const struct digits_outputs out = { scores };
    int status = digits_run(arena, &in, &out);
    return status ? status : index_of_largest(scores);
}

/* FNV-1a, one prediction a step, from DIGEST_START. */
#define DIGEST_START 2166136261u

static inline uint32_t digest_add(uint32_t digest, int prediction)
{
    return ((digest ^ (uint32_t)prediction) * 16777619u) & 0xffffffffu;
}

#endif
