/* SPDX-License-Identifier: 0BSD */
/* STM32H745, H747, H755, H757: the caller is the Cortex-M7, and the other core the Cortex-M4. Both execute one image
 * for the Cortex-M4 (-mcpu=cortex-m4 -mfpu=fpv4-sp-d16), because a part is the address of a function. Reference manual
 * RM0399: the M4 starts from the address of the option bytes BOOT_CM4_ADD0, where a vector table has to have
 * cores_second as its reset handler.
 *
 * Arena, inputs, outputs and the section .cores (the flags) must be in memory that the M7 does not cache: AXI SRAM or
 * SRAM1 to SRAM4 in a region of the MPU without cache; the M4 does not reach the DTCM. The M4 is about half as fast, so
 * the M7 waits for it. */
#include <stdint.h>

#define CORES_SHARED __attribute__((section(".cores")))
#include "handshake.h"

#define RCC_GCR (*(volatile uint32_t *)0x580244a0u)
enum { BOOT_C2 = 1 << 3 };

void cores_second(void);

/* The M4's reset handler. */
void cores_second(void)
{
    *(volatile uint32_t *)0xe000ed88u |= 0xf00000u;      /* CPACR: the floating-point unit */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    cores_work(1);
}

/* Releases the M4, if the option bytes hold it (BCM4 = 0). */
void cores_start(void)
{
    RCC_GCR |= BOOT_C2;
    __asm__ volatile("dsb" ::: "memory");
}
