/* SPDX-License-Identifier: MIT */
/* From reset to main() on any Cortex-M: the vector table, the floating-point unit, .data, .bss.
 *
 * The table's first word is the stack's top and its second the reset handler; the core loads both
 * from address 0. Every fault ends the emulator with status 3, so a stray access is a failed test
 * and not a hang. */
#include <stdint.h>

#include "board.h"

extern uint32_t stack_top[], data_start[], data_end[], data_image[], bss_start[], bss_end[];

void reset_handler(void);

#define CONFIGURATION_CONTROL (*(volatile uint32_t *)0xE000ED14u)
#define TRAP_UNALIGNED        0x8u
#define COPROCESSOR_ACCESS    (*(volatile uint32_t *)0xE000ED88u)
#define FPU_FULL_ACCESS       0x00F00000u
#define FAULT_STATUS          (*(volatile uint32_t *)0xE000ED28u)

void report_fault(void);

void report_fault(void)
{
    board_text("fault, status register ");
    board_hex(FAULT_STATUS);
    board_text("\n");
    board_exit(3);
}

/* Takes a fresh stack first: the fault may be that the old one is used up. */
__attribute__((naked)) static void fault(void)
{
    __asm__ volatile("ldr r0, =stack_top\n\tmov sp, r0\n\tbl report_fault\n\t.ltorg");
}

/* 1 to 15 in the order of the architecture: reset, NMI, hard fault, memory, bus, usage, ... */
__attribute__((section(".vectors"), used))
static void (*const vectors[15])(void) = {
    reset_handler, fault, fault, fault, fault, fault, fault,
    0, 0, 0, fault, fault, 0, fault, fault,
};

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

void reset_handler(void)
{
    enable_core_features();
    const uint32_t *image = data_image;
    for (volatile uint32_t *word = data_start; word < data_end; word++)
        *word = *image++;
    for (volatile uint32_t *word = bss_start; word < bss_end; word++)
        *word = 0;
    board_exit(main());
}
