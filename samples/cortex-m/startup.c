/* SPDX-License-Identifier: MIT */
/* From reset to main() on any Cortex-M: the vector table, the floating-point unit, .data, .bss.
 *
 * The table's first word is the stack's top and its second the reset handler; the core loads both
 * from address 0. Every fault ends the emulator with status 3, so a stray access is a failed test
 * and not a hang. */
#include <stdint.h>

#include "board.h"
#include "reset.h"

#define FAULT_STATUS (*(volatile uint32_t *)0xE000ED28u)

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

void reset_handler(void)
{
    enable_core_features();
    initialize_variables();
    board_exit(main());
}
