/* SPDX-License-Identifier: MIT */
/* The services that a bare-metal image requires of an emulated Arm board: print a line, exit with a status, count
 * instructions, measure the stack. Nothing here uses the C library. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void board_text(const char *text);
void board_number(uint64_t value);
void board_hex(uint32_t value);

/* Prints "key value" and a line's end. */
void board_report(const char *key, uint64_t value);

/* Ends the emulator with this exit status. */
void board_exit(int status);

struct board_cost {
    uint64_t instructions;  /* executed by the call */
    uint32_t stack_bytes;   /* deepest use of the stack below the caller's */
};

/* Calls the function once. The count is read from a timer: it may be one tick (40 instructions at
 * 25 MHz) too high or too low, and wraps past 171 thousand million. */
struct board_cost board_measure(void (*function)(void *), void *argument);

/* Entry point of the program; the start-up code calls it. */
int main(void);

#endif
