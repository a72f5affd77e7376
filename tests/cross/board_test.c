/* SPDX-License-Identifier: MIT */
/* Tests the contract of the board's code, on programs of known cost. BOARD_CASE selects one, because a fault ends the
 * image. Exit status 0: passed, 1: failed; a fault gives 3. */
#include "board.h"

enum { CASE_COUNT, CASE_STACK, CASE_DATA, CASE_UNALIGNED };

/* Two instructions per iteration. */
static void count_down(void *argument)
{
    uint32_t turns = *(const uint32_t *)argument;
    __asm__ volatile(".syntax unified\n1:\tsubs %0, #1\n\tbne 1b" : "+l"(turns) : : "cc");
}

/* The count must be that of the loop, give or take two ticks of at most 50 instructions. */
static int counts_instructions(uint32_t turns)
{
    uint64_t expected = 2u * (uint64_t)turns;
    uint64_t counted = board_measure(count_down, &turns).instructions;
    board_report("expected", expected);
    board_report("counted", counted);
    return counted + 100u >= expected && counted <= expected + 100u;
}

/* 400 bytes of array and at most a few saved registers. */
__attribute__((noinline)) static void fill_array(void *argument)
{
    volatile uint32_t array[100];
    for (int i = 0; i < 100; i++)
        array[i] = 1;
    *(uint32_t *)argument = array[99];
}

static int measures_stack(void)
{
    uint32_t last = 0;
    uint32_t used = board_measure(fill_array, &last).stack_bytes;
    board_report("stack", used);
    return last == 1u && used >= 400u && used <= 432u;
}

static volatile uint32_t initialised[3] = { 1u, 20u, 300u };
static volatile uint32_t cleared[3];

static int prepares_data(void)
{
    return initialised[0] + initialised[1] + initialised[2] == 321u
        && cleared[0] + cleared[1] + cleared[2] == 0u;
}

static int stores_unaligned(void)
{
    static unsigned char bytes[8];
    volatile uintptr_t odd = (uintptr_t)bytes | 1u;
    *(volatile uint32_t *)odd = 1u;
    return 1;
}

int main(void)
{
    switch (BOARD_CASE) {
    case CASE_COUNT:     return !(counts_instructions(1000u) && counts_instructions(3000000u));
    case CASE_STACK:     return !measures_stack();
    case CASE_DATA:      return !prepares_data();
    case CASE_UNALIGNED: return !stores_unaligned();
    default:             return 1;
    }
}
