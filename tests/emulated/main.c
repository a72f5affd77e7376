/* SPDX-License-Identifier: MIT */
/* Runs the emitted model m.c RUNS times on a recorded input and compares with the recorded output. The files' data is
 * linked in: IN and OUT are names of .npy files whose header has 128 bytes. Status 0: each output byte is equal, or
 * with -DNEAR each float within 1e-4. It requires no library. */
#include "m.h"

#include <stddef.h>
#include <stdint.h>

#ifndef RUNS
#define RUNS 1
#endif

__asm__(".section .rodata\n.balign 16\ninput: .incbin \"" IN "\", 128\n"
        ".balign 16\nexpected: .incbin \"" OUT "\", 128\nexpected_end:\n.text\n");
extern const unsigned char input[], expected[], expected_end[];

static M_ARENA(arena);
#define MEMORY(name, type, n) static type memory_##name[n];
M_OUTPUTS(MEMORY)
#define POINTER(name, type, n) memory_##name,
static const struct m_outputs out = { M_OUTPUTS(POINTER) };

static int differs(const void *memory)
{
    const size_t bytes = (size_t)(expected_end - expected);
#ifdef NEAR
    const float *a = memory, *b = (const float *)(const void *)expected;
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        if (!(a[i] - b[i] < 1e-4f && b[i] - a[i] < 1e-4f)) return 1;
#else
    const unsigned char *a = memory;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != expected[i]) return 1;
#endif
    return 0;
}

int main(void)
{
    const struct m_inputs in = { (const void *)input };
    const void *const first = ((const void *const[]){ M_OUTPUTS(POINTER) })[0];
    for (int i = 0; i < RUNS; i++)
        if (m_run(arena, &in, &out)) return 2;
    return differs(first);
}
