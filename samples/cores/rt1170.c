/* SPDX-License-Identifier: 0BSD */
/* i.MX RT1170: the caller is the Cortex-M7, and the other core the Cortex-M4. Both execute one image for the Cortex-M4
 * (-mcpu=cortex-m4 -mfpu=fpv4-sp-d16), because a part is the address of a function. Arena, inputs, outputs, the M4's
 * vector table and the section .cores (the flags) must be in memory that both reach at one address and do not cache:
 * OCRAM in a region of the MPU without cache. */
#include <stdint.h>

#define CORES_SHARED __attribute__((section(".cores")))
#include "handshake.h"

#define REGISTER(at) (*(volatile uint32_t *)(at))
#define LPSR_GPR0    REGISTER(0x40c0c000u)     /* the M4's vector table, bits 15 to 3 */
#define LPSR_GPR1    REGISTER(0x40c0c004u)     /* bits 31 to 16 */
#define SRC_SCR      REGISTER(0x40c04000u)
enum { BT_RELEASE_M4 = 1, STACK_BYTES = 4096 };

static CORES_SHARED uint64_t stack[STACK_BYTES / 8];

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
static CORES_SHARED __attribute__((aligned(1024))) uintptr_t vectors[16];

void cores_start(void)
{
    vectors[0] = (uintptr_t)(stack + STACK_BYTES / 8);
    vectors[1] = (uintptr_t)second;
    for (int i = 2; i < 16; i++) vectors[i] = (uintptr_t)stop;
    LPSR_GPR0 = (uint32_t)(uintptr_t)vectors & 0xfff8u;
    LPSR_GPR1 = (uint32_t)(uintptr_t)vectors >> 16;
    __asm__ volatile("dsb" ::: "memory");
    SRC_SCR |= BT_RELEASE_M4;
}
