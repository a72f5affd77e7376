/* memories: memories.te for generic, emitted by Loopwright. */
#include "generic.h"
#if MEMORIES_HEADER_HASH != 0x127bd170
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* mul
 * y[i<8] = x[i] * x[i]
 * x: [8]  y: [8] */
static void memories_a(const float *restrict x, float *restrict y)
{
    for (int32_t i = 0; i < 8; i++)
        y[i] = x[i] * x[i];
}

/* mul
 * y[i<8] = x[i] * b[i]
 * x: [8]  b: [8]  y: [8] */
static void memories_b(const float *restrict x, const float *b, float *restrict y)
{
    for (int32_t i = 0; i < 8; i++)
        y[i] = x[i] * b[i];
}

/* add
 * y[i<8] = x[i] + b[i]
 * x: [8]  b: [8]  y: [8] */
static void memories_y(const float *x, const float *b, float *y)
{
    for (int32_t i = 0; i < 8; i++)
        y[i] = x[i] + b[i];
}

/* [8] */
static const LW_ALIGN(16) LW_SECTION(".flash") float memories_b_b[8] = {
    1.f,2.f,3.f,4.f,5.f,6.f,7.f,8.f
};

/* The items of the memories, each, in bytes from its start. Layers have the numbers of LW_LAYER. */
enum {
    memories_b_at = 0,     /* 32 bytes of fast in layers 1 to 2 */
};

int memories_run(const struct memories_memories *memory, const struct memories_inputs *in,
    const struct memories_outputs *out)
{
    if (memory == NULL) return MEMORIES_E_ARENA;
    uint8_t *const fast = (uint8_t *)memory->fast;
    if (fast == NULL || (uintptr_t)fast % MEMORIES_FAST_ALIGN != 0) return MEMORIES_E_ARENA;
    if (in == NULL || in->x == NULL) return MEMORIES_E_NULL;
    if (out == NULL || out->y == NULL) return MEMORIES_E_NULL;
    LW_LAYER(0, "a")
    memories_a(in->x, out->y);
    LW_LAYER(1, "b")
    memories_b(out->y, memories_b_b, (float *)(void *)(fast + memories_b_at));
    LW_LAYER(2, "y")
    memories_y(out->y, (float *)(void *)(fast + memories_b_at), out->y);
    return 0;
}
