/* SPDX-License-Identifier: MIT */
/* Runs a model on generated inputs and prints the bytes of its outputs, on the host and on an AVR, whose int has 16
 * bits; both print the same. -DHEADER="model.h" -DMODEL=model -DUPPER=MODEL. */
#include <stdint.h>
#include <string.h>

#include HEADER

#ifdef __AVR__
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

static void put(char c)
{
    while (!(UCSR0A & (1 << UDRE0))) {}
    UDR0 = (uint8_t)c;
}

/* Asleep without interrupts: the simulator ends. */
static int end(int status)
{
    put('\n');
    cli();
    sleep_enable();
    for (;;) sleep_cpu();
    return status;
}
#else
#include <stdio.h>
static void put(char c) { putchar(c); }
static int end(int status) { put('\n'); return status; }
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ALIGN JOIN(UPPER, _ARENA_ALIGN)

#define IN_DATA(name, type, count) static type in_##name[count];
#define OUT_DATA(name, type, count) static type out_##name[count];
JOIN(UPPER, _INPUTS)(IN_DATA)
JOIN(UPPER, _OUTPUTS)(OUT_DATA)
static uint8_t memory[JOIN(UPPER, _ARENA_SIZE) + ALIGN];

/* From -15 to 15: in eighths where the type has fractions, times 5 where it has none; exact in every type. */
#define FACTOR(type) ((type)0.5 != 0 ? (type)0.125 : (type)5)
#define FILL(name, type, count) \
    for (uint16_t i = 0; i < count; i++) \
        in_##name[i] = (type)((type)((int16_t)(i * 7u % 31u) - 15) * FACTOR(type));
#define SHOW(name, type, count) show((const uint8_t *)out_##name, sizeof out_##name);
#define SET_IN(name, type, count) in.name = in_##name;
#define SET_OUT(name, type, count) out.name = out_##name;

static void show(const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        put(digits[bytes[i] >> 4]);
        put(digits[bytes[i] & 15]);
        if (i % 32 == 31) put('\n');
    }
    put('\n');
}

int main(void)
{
    struct JOIN(MODEL, _inputs) in;
    struct JOIN(MODEL, _outputs) out;
#ifdef __AVR__
    UCSR0B = 1 << TXEN0;
#endif
    JOIN(UPPER, _INPUTS)(FILL)
    JOIN(UPPER, _INPUTS)(SET_IN)
    JOIN(UPPER, _OUTPUTS)(SET_OUT)
    uint8_t *arena = memory + (ALIGN - (uintptr_t)memory % ALIGN) % ALIGN;
    int status = JOIN(MODEL, _run)(arena, &in, &out);
    put((char)('0' - status));
    put('\n');
    JOIN(UPPER, _OUTPUTS)(SHOW)
    return end(status);
}
