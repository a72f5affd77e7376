/* SPDX-License-Identifier: 0BSD */
/* The counter that --profile reads before each layer. To read a different counter, define all four macros before the
 * emitted file, for example with `-include my_counter.h`:
 *
 *   LW_COUNTER_START()   starts it; at the begin of every run
 *   LW_COUNTER()         its value, which counts up modulo LW_COUNTER_MASK + 1
 *   LW_COUNTER_MASK      a power of two less 1
 *   LW_COUNTER_UNIT      "cycles", "instructions" or "ns"
 *
 *   core                          counter              wraps after
 *   Cortex-M3 and later           DWT CYCCNT           2^32 cycles; SysTick if the core has none
 *   Cortex-M0, M0+, M1, M23       SysTick              2^24 cycles, the longest layer that is right
 *   RISC-V, Espressif's           mpccr                2^32 cycles
 *   RISC-V                        mcycle; under Linux: cycle
 *   AArch64                       cntvct, as time
 *   others                        clock() of C
 */
#ifndef LW_COUNTER_H
#define LW_COUNTER_H

#include <stdint.h>

/* lw: LW_COUNTER needs */
#ifdef LW_COUNTER
/* the caller defined the counter */
#elif defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__) || defined(LW_COUNTER_SYSTICK) || \
    (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M')
#define LW_REGISTER(address) (*(volatile uint32_t *)(address))
/* SysTick counts down from its reload value. A timer that already runs, for example for an operating system, keeps its
 * reload value, and the measured cycles are wrong: define LW_COUNTER for such a timer. */
static inline void lw_systick_start(void)
{
    if (LW_REGISTER(0xE000E010u) & 1u) return;
    LW_REGISTER(0xE000E014u) = 0xFFFFFFu;
    LW_REGISTER(0xE000E018u) = 0u;
    LW_REGISTER(0xE000E010u) = 5u;
}
static inline uint32_t lw_systick(void) { return 0xFFFFFFu - LW_REGISTER(0xE000E018u); }
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__) || defined(LW_COUNTER_SYSTICK)
#define LW_COUNTER_START() lw_systick_start()
#define LW_COUNTER()       lw_systick()
#define LW_COUNTER_MASK    0xFFFFFFu
#else
/* A core whose DWT has no cycle counter, and an emulator without the DWT, read the bit that enables it as 0. */
static inline uint32_t lw_counts_cycles(void) { return LW_REGISTER(0xE0001000u) & 1u; }
/* Enables the trace unit (DEMCR), unlocks the watchpoint unit as a Cortex-M7 requires, and enables its counter. */
static inline void lw_counter_start(void)
{
    LW_REGISTER(0xE000EDFCu) |= 1u << 24;
    LW_REGISTER(0xE0001FB0u) = 0xC5ACCE55u;
    LW_REGISTER(0xE0001000u) |= 1u;
    if (!lw_counts_cycles()) lw_systick_start();
}
static inline uint32_t lw_counter(void) { return lw_counts_cycles() ? LW_REGISTER(0xE0001004u) : lw_systick(); }
#define LW_COUNTER_START() lw_counter_start()
#define LW_COUNTER()       lw_counter()
#define LW_COUNTER_MASK    (lw_counts_cycles() ? 0xFFFFFFFFu : 0xFFFFFFu)
#endif
#define LW_COUNTER_UNIT    "cycles"
#elif defined(__riscv)
/* Reads control registers by number, because names need the extension zicsr in -march. `.insn i` takes a signed
 * number. */
static inline uint32_t lw_counter(void)
{
    unsigned long value;
#if defined(ESP_PLATFORM)
    __asm__ volatile(".insn i 0x73, 2, %0, x0, 0x7E2" : "=r"(value));
#elif defined(__linux__)
    __asm__ volatile(".insn i 0x73, 2, %0, x0, -1024" : "=r"(value));
#else
    __asm__ volatile(".insn i 0x73, 2, %0, x0, -1280" : "=r"(value));
#endif
    return (uint32_t)value;
}
#if defined(ESP_PLATFORM)
/* Starts the counter of Espressif's cores: while mpcmr is set, it counts the events of mpcer, here cycles. */
static inline void lw_counter_start(void)
{
    const unsigned long one = 1;
    __asm__ volatile(".insn i 0x73, 1, x0, %0, 0x7E0\n\t.insn i 0x73, 1, x0, %0, 0x7E1" : : "r"(one));
}
#define LW_COUNTER_START() lw_counter_start()
#else
#define LW_COUNTER_START() ((void)0)
#endif
#define LW_COUNTER()       lw_counter()
#define LW_COUNTER_MASK    0xFFFFFFFFu
#define LW_COUNTER_UNIT    "cycles"
#elif defined(__aarch64__)
static inline uint64_t lw_counter(void)
{
    uint64_t ticks, hz;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0" : "=r"(ticks), "=r"(hz) : : "memory");
    return ticks / hz * 1000000000u + ticks % hz * 1000000000u / hz;
}
#define LW_COUNTER_START() ((void)0)
#define LW_COUNTER()       lw_counter()
#define LW_COUNTER_MASK    UINT64_MAX
#define LW_COUNTER_UNIT    "ns"
#elif defined(__AVR__)
#define LW_COUNTER_START() define_LW_COUNTER_because_this_core_has_no_counter_of_its_own
#define LW_COUNTER()       define_LW_COUNTER_because_this_core_has_no_counter_of_its_own
#define LW_COUNTER_MASK    0xFFFFu
#define LW_COUNTER_UNIT    ""
#else
#include <time.h>
#define LW_COUNTER_START() ((void)0)
#define LW_COUNTER()       ((uint64_t)clock() * (1000000000u / (uint32_t)CLOCKS_PER_SEC))
#define LW_COUNTER_MASK    UINT64_MAX
#define LW_COUNTER_UNIT    "ns"
#endif
/* lw: end */

#endif
