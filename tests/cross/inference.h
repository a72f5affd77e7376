/* SPDX-License-Identifier: MIT */
#ifndef LW_CROSS_INFERENCE_H
#define LW_CROSS_INFERENCE_H
/* One run of an emitted model as an argument of board_measure, with an arena and an array per output. MODEL is the
 * emitted prefix (kws), MODEL_UPPER the one of macros (KWS), MODEL_HEADER the header ("kws.h"). */
#include <stdint.h>

#include MODEL_HEADER

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)

enum { ARENA_SIZE = JOIN(MODEL_UPPER, _ARENA_SIZE), ARENA_ALIGN = JOIN(MODEL_UPPER, _ARENA_ALIGN) };
static unsigned char memory[ARENA_SIZE + ARENA_ALIGN];

static void *arena_start(void)
{
    uintptr_t past = (uintptr_t)memory % ARENA_ALIGN;
    return memory + (past ? ARENA_ALIGN - past : 0u);
}

#define DECLARE_OUTPUT(name, type, count) static type name##_got[count];
JOIN(MODEL_UPPER, _OUTPUTS)(DECLARE_OUTPUT)

struct inference {
    void *arena;
    struct JOIN(MODEL, _inputs) in;
    struct JOIN(MODEL, _outputs) out;
    int status;
};

static void infer(void *argument)
{
    struct inference *inference = argument;
    inference->status = JOIN(MODEL, _run)(inference->arena, &inference->in, &inference->out);
}
#endif
