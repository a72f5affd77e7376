/* SPDX-License-Identifier: MIT */
/* The table of boards: see boards.h. A row has the figures of the chip's data sheet at its highest clock. */
#include "api/computation/boards.h"

#include <string.h>

#include "support/text.h"

static const Board rows[] = {
    { "arduino-uno-r3",     "ATmega328P",   "avr",            31,    2,  16 },
    { "arduino-mega-2560",  "ATmega2560",   "avr",           248,    8,  16 },
    { "arduino-uno-r4",     "RA4M1",        "cortex-m4",     256,   32,  48 },
    { "arduino-zero",       "SAMD21G18",    "cortex-m0plus", 256,   32,  48 },
    { "arduino-due",        "SAM3X8E",      "cortex-m3",     512,   96,  84 },
    { "arduino-nano-33-ble", "nRF52840",    "cortex-m4",    1024,  256,  64 },
    { "arduino-portenta-h7", "STM32H747",   "cortex-m7",    2048,  512, 480 },
    { "microbit-v2",        "nRF52833",     "cortex-m4",     512,  128,  64 },
    { "nrf52-dk",           "nRF52832",     "cortex-m4",     512,   64,  64 },
    { "nrf52840-dk",        "nRF52840",     "cortex-m4",    1024,  256,  64 },
    { "nrf5340-dk",         "nRF5340",      "cortex-m33",   1024,  512, 128 },
    { "nrf9160-dk",         "nRF9160",      "cortex-m33",   1024,  256,  64 },
    { "pico",               "RP2040",       "cortex-m0plus", 2048, 264, 133 },
    { "pico-2",             "RP2350",       "cortex-m33",   4096,  520, 150 },
    { "esp32-c3-devkitm",   "ESP32-C3",     "rv32imc",      4096,  384, 160 },
    { "esp32-s3-devkitc",   "ESP32-S3",     "xtensa",       8192,  320, 240 },
    { "longan-nano",        "GD32VF103CB",  "rv32imc",       128,   32, 108 },
    { "feather-m0",         "SAMD21G18",    "cortex-m0plus", 256,   32,  48 },
    { "feather-m4",         "SAMD51J19",    "cortex-m4",     512,  192, 120 },
    { "teensy-3.6",         "MK66FX1M0",    "cortex-m4",    1024,  256, 180 },
    { "teensy-4.1",         "i.MX RT1062",  "cortex-m7",    7936,  512, 600 },
    { "frdm-k64f",          "MK64FN1M0",    "cortex-m4",    1024,  256, 120 },
    { "lpcxpresso55s69",    "LPC55S69",     "cortex-m33",    640,  272, 150 },
    { "xg24-dk2601b",       "EFR32MG24",    "cortex-m33",   1536,  256,  78 },
    { "nucleo-f103rb",      "STM32F103RB",  "cortex-m3",     128,   20,  72 },
    { "nucleo-l073rz",      "STM32L073RZ",  "cortex-m0plus", 192,   20,  32 },
    { "nucleo-g071rb",      "STM32G071RB",  "cortex-m0plus", 128,   36,  64 },
    { "nucleo-l432kc",      "STM32L432KC",  "cortex-m4",     256,   64,  80 },
    { "nucleo-f411re",      "STM32F411RE",  "cortex-m4",     512,  128, 100 },
    { "nucleo-f446re",      "STM32F446RE",  "cortex-m4",     512,  128, 180 },
    { "nucleo-g474re",      "STM32G474RE",  "cortex-m4",     512,  128, 170 },
    { "nucleo-l4r5zi",      "STM32L4R5ZI",  "cortex-m4",    2048,  640, 120 },
    { "nucleo-l552ze-q",    "STM32L552ZE",  "cortex-m33",    512,  256, 110 },
    { "nucleo-u575zi-q",    "STM32U575ZI",  "cortex-m33",   2048,  768, 160 },
    { "nucleo-f767zi",      "STM32F767ZI",  "cortex-m7",    2048,  512, 216 },
    { "nucleo-h743zi2",     "STM32H743ZI",  "cortex-m7",    2048,  512, 480 },
    { "ek-ra8m1",           "RA8M1",        "cortex-m85",   2048,  896, 480 },
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const Board *board_rows(int *count)
{
    *count = ROW_COUNT;
    return rows;
}

const Board *board_find(Ctx *cx, const char *name)
{
    const char *names[ROW_COUNT];
    for (int i = 0; i < ROW_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    diag_usage(cx, NULL, "there is no board \"%s\"%s", name,
               text_hint(cx, name, names, ROW_COUNT, "; use one that `loopwright boards` lists"));
    return NULL;
}

const lw_options *board_apply(Ctx *cx, const lw_options *o)
{
    const Board *board = board_find(cx, o->board);
    lw_options *with = NEW(cx->arena, lw_options);
    if (!board) return NULL;
    *with = *o;
    if (!with->target) with->target = board->target;
    const Target *target = target_find(cx, with->target);
    if (with->mhz <= 0 && target && target->core) with->mhz = board->mhz;
    if (!with->fit) with->fit = text_format(cx, "flash=%dK,ram=%dK", board->flash, board->ram);
    return with;
}
