/* SPDX-License-Identifier: MIT */
/* What every program on a bare Cortex-M does before main(): the vector table, core features, .data and .bss. The file
 * that includes it defines fault(), reset_handler() and, if it uses SysTick's interrupt, SYSTICK_HANDLER. The table's
 * first word, the stack's top, is the linker script's. */
#ifndef RESET_H
#define RESET_H

#include <stdint.h>

extern uint32_t data_start[], data_end[], data_image[], bss_start[], bss_end[];

void reset_handler(void);
static void fault(void);

#ifndef SYSTICK_HANDLER
#define SYSTICK_HANDLER fault
#endif

/* 1 to 15 in the order of the architecture: reset, NMI, hard fault, memory, bus, usage, ... */
__attribute__((section(".vectors"), used))
static void (*const vectors[15])(void) = {
    reset_handler, fault, fault, fault, fault, fault, fault,
    0, 0, 0, fault, fault, 0, fault, SYSTICK_HANDLER,
};

#define CONFIGURATION_CONTROL (*(volatile uint32_t *)0xE000ED14u)
#define TRAP_UNALIGNED        0x8u
#define COPROCESSOR_ACCESS    (*(volatile uint32_t *)0xE000ED88u)
#define FPU_FULL_ACCESS       0x00F00000u

/* ARMv6-M cores fault on unaligned words. Their code runs here on a Cortex-M3, which would accept them, so the trap is
 * enabled. The other cores enable the FPU's registers, which MVE uses, too. */
static void enable_core_features(void)
{
#ifdef __ARM_ARCH_6M__
    CONFIGURATION_CONTROL |= TRAP_UNALIGNED;
#else
    COPROCESSOR_ACCESS |= FPU_FULL_ACCESS;
#endif
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

static void initialize_variables(void)
{
    const uint32_t *image = data_image;
    for (volatile uint32_t *word = data_start; word < data_end; word++) *word = *image++;
    for (volatile uint32_t *word = bss_start; word < bss_end; word++) *word = 0;
}
#endif
