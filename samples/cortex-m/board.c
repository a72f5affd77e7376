/* SPDX-License-Identifier: MIT */
/* Semihosting, the board's counter and a painted stack.
 *
 * Text and the exit status leave through Arm semihosting: BKPT 0xAB with an operation in r0 and
 * its argument in r1 (Arm, "Semihosting for AArch32 and AArch64", operations 0x04 and 0x20).
 *
 * Instructions are counted in time: under `-icount shift=0` the emulator lets exactly one
 * nanosecond pass per instruction, and the 32-bit up counter in the FPGA's system control of the MPS2
 * and MPS3 boards (Arm application notes AN385, AN386, AN547) counts at COUNTER_HZ. A tick is
 * 1e9 / COUNTER_HZ instructions: 40 at 25 MHz, 50 at 20 MHz.
 *
 * The stack is filled with a pattern from its limit to the stack pointer; afterwards the lowest
 * word that lost the pattern shows how deep the call went. */
#include "board.h"

#if !defined(COUNTER_HZ) || !defined(COUNTER_ADDRESS)
#error "COUNTER_ADDRESS, COUNTER_HZ: the board's free-running counter"
#endif

enum { SEMIHOSTING_WRITE0 = 0x04, SEMIHOSTING_EXIT_EXTENDED = 0x20 };
#define STOPPED_APPLICATION_EXIT 0x20026u

static void semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_text(const char *text)
{
    semihosting(SEMIHOSTING_WRITE0, text);
}

static void write_in_base(uint64_t value, unsigned base, int least_digits)
{
    char digits[21];
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    for (; value || least_digits > 0; value /= base, least_digits--)
        *--first = "0123456789abcdef"[value % base];
    board_text(first);
}

void board_number(uint64_t value)
{
    write_in_base(value, 10u, 1);
}

void board_hex(uint32_t value)
{
    write_in_base(value, 16u, 8);
}

void board_report(const char *key, uint64_t value)
{
    board_text(key);
    board_text(" ");
    board_number(value);
    board_text("\n");
}

void board_exit(int status)
{
    const uint32_t argument[2] = { STOPPED_APPLICATION_EXIT, (uint32_t)status };
    semihosting(SEMIHOSTING_EXIT_EXTENDED, argument);
    for (;;) {
    }
}

/* ---- instructions ---- */

#define COUNTER (*(const volatile uint32_t *)COUNTER_ADDRESS)
#define NANOSECONDS_PER_SECOND 1000000000u

/* ---- stack ---- */

#define PAINT 0xA5C35A3Cu
extern uint32_t stack_limit[];      /* lowest word of the stack, from the linker script */

/* Everything in use is at or above the stack pointer: Arm has no red zone, and interrupts are off. */
static uint32_t *stack_paint(void)
{
    uint32_t *top;
    __asm__ volatile("mov %0, sp" : "=r"(top));
    for (volatile uint32_t *word = stack_limit; word < top; word++)
        *word = PAINT;
    return top;
}

static uint32_t stack_deepest(const uint32_t *top)
{
    const uint32_t *word = stack_limit;
    while (word < top && *word == PAINT)
        word++;
    return (uint32_t)(top - word) * 4u;
}

static void nothing(void *argument)
{
    (void)argument;
}

struct reading { uint32_t ticks, stack_bytes; };

__attribute__((noinline)) static struct reading measure_once(void (*function)(void *), void *argument)
{
    const uint32_t *top = stack_paint();
    uint32_t before = COUNTER;
    function(argument);
    uint32_t ticks = COUNTER - before;
    struct reading reading = { ticks, stack_deepest(top) };
    return reading;
}

/* Both figures subtract those of a call of an empty function, so only the function remains. */
struct board_cost board_measure(void (*function)(void *), void *argument)
{
    struct reading idle = measure_once(nothing, 0);
    struct reading busy = measure_once(function, argument);
    uint64_t ticks = busy.ticks > idle.ticks ? busy.ticks - idle.ticks : 0u;
    struct board_cost cost = { ticks * NANOSECONDS_PER_SECOND / COUNTER_HZ,
                               busy.stack_bytes - idle.stack_bytes };
    return cost;
}
