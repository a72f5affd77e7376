/* SPDX-License-Identifier: 0BSD */
#ifndef @NAME@_ARDUINO_H
#define @NAME@_ARDUINO_H
/* The model @name@ for a sketch. A board of AVR with too little RAM is refused here. */
#include "@name@.h"
#ifndef @NAME@_NO_SELFTEST
#include "@name@_selftest.h"
#endif

#if defined(__AVR__)
#include <avr/io.h>
/* @avr_reserve@ bytes are for Arduino's core and the stack */
#if !defined(@NAME@_NO_SELFTEST) && @avr_tested@ul > RAMEND - RAMSTART + 1ul
#error "@name@ requires @avr_tested@ bytes of RAM (arena @arena@, inputs, outputs and state @avr_ports@, self-test @avr_selftest@, core and stack @avr_reserve@; constants: @weights@ in @avr_constants@); this board has less; @avr_advice@; `#define @NAME@_NO_SELFTEST` before the include leaves the self-test out"
#elif @avr_ram@ul > RAMEND - RAMSTART + 1ul
#error "@name@ requires @avr_ram@ bytes of RAM without its self-test; this board has less; @avr_advice@"
#endif
#endif

#endif
