/* SPDX-License-Identifier: MIT */
/* Semihosting, SysTick and a painted stack.
 *
 * Text and the exit status leave through Arm semihosting: BKPT 0xAB with an operation in r0 and
 * its argument in r1 (Arm, "Semihosting for AArch32 and AArch64", operations 0x04 and 0x20).
 *
 * Instructions are counted in time: under `-icount shift=0` the emulator lets exactly one
 * nanosecond pass per instruction, and SysTick counts the core's clock of CLOCK_HZ, so a tick is
 * 1e9 / CLOCK_HZ instructions: 40 at 25 MHz, 31.25 at 32 MHz. SysTick has 24 bits, so one call may
 * take up to 671 million (524 million) instructions; past that the count is refused, not wrapped.
 *
 * The stack is filled with a pattern from its limit to the stack pointer; afterwards the lowest
 * word that lost the pattern shows how deep the call went. */
#include "board.h"

#ifndef CLOCK_HZ
#error "CLOCK_HZ: the frequency of the board's SysTick"
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

static void write_in_base(uint32_t value, uint32_t base, int least_digits)
{
    char digits[11];
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    for (; value || least_digits > 0; value /= base, least_digits--)
        *--first = "0123456789abcdef"[value % base];
    board_text(first);
}

void board_number(uint32_t value)
{
    write_in_base(value, 10u, 1);
}

void board_hex(uint32_t value)
{
    write_in_base(value, 16u, 8);
}

void board_report(const char *key, uint32_t value)
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

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_CURRENT (*(volatile uint32_t *)0xE000E018u)
#define SYSTICK_ENABLE     0x1u
#define SYSTICK_CORE_CLOCK 0x4u
#define SYSTICK_WRAPPED    0x10000u
#define SYSTICK_MAXIMUM    0xFFFFFFu

static void counter_start(void)
{
    SYSTICK_CONTROL = 0;
    SYSTICK_RELOAD = SYSTICK_MAXIMUM;
    SYSTICK_CURRENT = 0;        /* any write clears it; the next tick reloads */
    SYSTICK_CONTROL = SYSTICK_ENABLE | SYSTICK_CORE_CLOCK;
    while (SYSTICK_CURRENT == 0) {
    }
}

/* ticks * 1e9 needs 54 bits; the quotient fits in 30. */
static uint32_t instructions_of(uint32_t ticks)
{
    return (uint32_t)((uint64_t)ticks * 1000000000u / CLOCK_HZ);
}

/* ---- stack ---- */

#define PAINT 0xA5C35A3Cu
extern uint32_t stack_limit[];      /* lowest word of the stack, from the linker script */

/* Everything in use lies at or above the stack pointer: Arm has no red zone, and no interrupt is on. */
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

__attribute__((noinline)) static uint32_t ticks_of(void (*function)(void *), void *argument)
{
    counter_start();
    uint32_t before = SYSTICK_CURRENT;
    function(argument);
    uint32_t after = SYSTICK_CURRENT;
    return SYSTICK_CONTROL & SYSTICK_WRAPPED ? SYSTICK_MAXIMUM : before - after;
}

static void nothing(void *argument)
{
    (void)argument;
}

/* Both figures are taken against a call that does nothing, so that only the function remains. */
__attribute__((noinline)) static struct board_cost measure_once(void (*function)(void *), void *argument)
{
    const uint32_t *top = stack_paint();
    uint32_t ticks = ticks_of(function, argument);
    struct board_cost cost = { ticks, stack_deepest(top) };
    return cost;
}

struct board_cost board_measure(void (*function)(void *), void *argument)
{
    struct board_cost idle = measure_once(nothing, 0);
    struct board_cost cost = measure_once(function, argument);
    int counted = cost.instructions != SYSTICK_MAXIMUM;
    cost.instructions = counted ? instructions_of(cost.instructions - idle.instructions) : UINT32_MAX;
    cost.stack_bytes -= idle.stack_bytes;
    return cost;
}
