/* SPDX-License-Identifier: MIT */
#ifndef LW_MACHINE_MACHINE_H
#define LW_MACHINE_MACHINE_H
/* Steps through the code of an Arm M-profile core, to count the instructions that it executes: Thumb of ARMv6-M to
 * ARMv8.1-M with its DSP, floats, low-overhead loops and Helium. Memory is zero until it is written.
 *
 * Everything that control depends on is computed. Helium is the exception: its loads, stores and loops are executed,
 * but its arithmetic is not, so data that passes through Helium is wrong. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

typedef struct Machine Machine;

Machine *machine_new(Arena *arena);
void machine_write(Machine *m, uint32_t at, const void *bytes, size_t count);
void machine_read(const Machine *m, uint32_t at, void *bytes, size_t count);
/* Starts the count of layer `number` at address `at`, before the instruction there. If several marks have one address,
 * the last mark applies. */
void machine_mark(Machine *m, uint32_t at, int number);

/* A range of memory [begin, end), and the bytes that loads and stores move there while layer `layer` is counted. A load
 * counts for the first range with is_read that contains its address, a store for the first such range with
 * is_written. */
typedef struct MachineRange {
    int layer;
    uint32_t begin, end;
    bool is_read, is_written;
    int64_t read, written;
} MachineRange;

/* The instructions of a call. layer[layer_count] has the instructions after each mark; instructions before the first
 * mark are only in the total. */
typedef struct MachineCounts {
    int64_t total;
    int64_t *layer; int layer_count;
    MachineRange *range; int range_count;                /* the ranges, in the order of layers */
    uint32_t result;                     /* the value of register 0 at the end */
    uint32_t stack;                      /* the maximum stack that the call used, in bytes */
    uint32_t unknown_at, unknown;        /* address and bits of an unknown instruction, or 0 */
} MachineCounts;

/* Calls the function with up to four arguments in registers and the remaining ones on the stack, which ends at `stack`.
 * Returns false if the call executes more than `most` instructions, or reaches an unknown instruction. */
bool machine_call(Machine *m, uint32_t function, const uint32_t *argument, int argument_count, uint32_t stack,
                  int64_t most, MachineCounts *out);
#endif
