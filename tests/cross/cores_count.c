/* SPDX-License-Identifier: MIT */
/* Counts the instructions of each part of a fork on one core, and prints the sums over all forks: of all parts, and of
 * the part with most instructions. main.c is compiled with -Dmain=program. */
#include "../../samples/cores/fork.h"
#include "board.h"

#if !defined(COUNTER_HZ) || !defined(COUNTER_ADDRESS)
#error "COUNTER_ADDRESS, COUNTER_HZ: the board's free-running counter"
#endif
#define COUNTER (*(const volatile uint32_t *)COUNTER_ADDRESS)

int program(void);
static uint64_t all, busiest;

void cores_fork(int parts, cores_part *function, void *argument)
{
    uint32_t most = 0;
    for (int part = 0; part < parts; part++) {
        const uint32_t begin = COUNTER;
        function(argument, part);
        const uint32_t ticks = COUNTER - begin;
        all += ticks;
        most = ticks > most ? ticks : most;
    }
    busiest += most;
}

int main(void)
{
    const int status = program();
    board_report("parts", all * (1000000000u / COUNTER_HZ));
    board_report("busiest", busiest * (1000000000u / COUNTER_HZ));
    return status;
}
