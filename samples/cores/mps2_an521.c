/* SPDX-License-Identifier: 0BSD */
/* The two Cortex-M33 of the MPS2 board with AN521, which QEMU emulates. Core 1 waits after reset until the system
 * control block of the SSE-200 has its vector table (INITSVTOR1) and CPUWAIT is 0 (Arm, SSE-200 reference manual). */
#include <stdint.h>

#define CORES_WAKE() __asm__ volatile("sev")
#define CORES_WAIT() __asm__ volatile("wfe")
#include "handshake.h"

#define REGISTER(at) (*(volatile uint32_t *)(at))
#define INITSVTOR1   REGISTER(0x50021114u)
#define CPUWAIT      REGISTER(0x50021118u)

enum { STACK_BYTES = 8192 };
static uint64_t stack[STACK_BYTES / 8];

static void second(void)
{
    REGISTER(0xe000ed88u) |= 0xf00000u;        /* CPACR: the floating-point unit */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    cores_work(1);
}

static void stop(void)
{
    for (;;) continue;
}

/* The stack, the reset handler and the faults. */
static __attribute__((aligned(512))) uintptr_t vectors[16];

void cores_start(void)
{
    vectors[0] = (uintptr_t)(stack + STACK_BYTES / 8);
    vectors[1] = (uintptr_t)second;
    for (int i = 2; i < 16; i++) vectors[i] = (uintptr_t)stop;
    INITSVTOR1 = (uint32_t)(uintptr_t)vectors;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    CPUWAIT = 0;
}
