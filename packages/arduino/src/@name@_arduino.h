/* SPDX-License-Identifier: 0BSD */
#ifndef @NAME@_ARDUINO_H
#define @NAME@_ARDUINO_H
/* The model @name@ for a sketch. A board of AVR with too little RAM is refused here. */
#include "@name@.h"
#include "@name@_selftest.h"

#if defined(__AVR__)
#include <avr/io.h>
#if @avr_ram@u > RAMEND - RAMSTART + 1u
#error "@name@ requires @avr_ram@ bytes of RAM (arena @arena@, inputs and outputs @ports@; constants: @weights@ in @avr_constants@); this board has less; `--weights progmem` puts constants into program memory"
#endif
#endif

#endif
