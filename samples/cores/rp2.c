/* SPDX-License-Identifier: 0BSD */
/* RP2040 (two Cortex-M0+) and RP2350 (two Cortex-M33), without an SDK: the FIFOs of the SIO block wake core 1 and tell
 * core 0 that its part is done. Datasheets: RP2040 2.3.1 and 2.8.2, RP2350 3.1.5 and 5.3. No other code may use the
 * FIFOs, as flash_safe_execute of the SDK does. */
#include <stddef.h>
#include <stdint.h>

#include "fork.h"

#define REGISTER(at) (*(volatile uint32_t *)(at))
#define FIFO_ST REGISTER(0xd0000050u)      /* bit 0: a word can be read; bit 1: a word can be written */
#define FIFO_WR REGISTER(0xd0000054u)
#define FIFO_RD REGISTER(0xd0000058u)
#define VTOR    REGISTER(0xe000ed08u)

enum { FIFO_VALID = 1, FIFO_READY = 2, STACK_BYTES = 2048 };
static uint64_t stack[STACK_BYTES / 8];
static struct { cores_part *function; void *argument; int parts; } job;

/* Orders memory before the word, and wakes the other core. */
static void push(uint32_t word)
{
    while (!(FIFO_ST & FIFO_READY)) continue;
    __asm__ volatile("dmb" ::: "memory");
    FIFO_WR = word;
    __asm__ volatile("sev");
}

static uint32_t pop(void)
{
    while (!(FIFO_ST & FIFO_VALID)) __asm__ volatile("wfe");
    const uint32_t word = FIFO_RD;
    __asm__ volatile("dmb" ::: "memory");
    return word;
}

static void work(void)
{
    for (;;) {
        (void)pop();
        for (int part = 1; part < job.parts; part += 2) job.function(job.argument, part);
        push(0);
    }
}

/* Sends core 1, which waits in its boot ROM, the vector table, the stack and the entry. Core 1 returns each word; at
 * any other answer the sequence begins again. */
void cores_start(void)
{
    const uint32_t words[] = { 0, 0, 1, VTOR, (uint32_t)(uintptr_t)(stack + STACK_BYTES / 8),
                               (uint32_t)(uintptr_t)work };
    for (size_t i = 0; i < sizeof words / sizeof *words;) {
        if (words[i] == 0) {
            while (FIFO_ST & FIFO_VALID) (void)FIFO_RD;
            __asm__ volatile("sev");
        }
        push(words[i]);
        i = pop() == words[i] ? i + 1 : 0;
    }
}

void cores_fork(int parts, cores_part *function, void *argument)
{
    job.function = function;
    job.argument = argument;
    job.parts = parts;
    push(1);
    for (int part = 0; part < parts; part += 2) function(argument, part);
    (void)pop();
}
