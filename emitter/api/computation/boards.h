/* SPDX-License-Identifier: MIT */
#ifndef LW_API_COMPUTATION_BOARDS_H
#define LW_API_COMPUTATION_BOARDS_H
/* The boards that --board names. */
#include "driver/driver.h"

/* flash, ram: kilobytes (1024 bytes). flash: for the program; ram: the largest contiguous region of the chip, as
 * an arena is one array. */
typedef struct Board { const char *name, *chip, *target; int flash, ram; double mhz; } Board;
const Board *board_rows(int *count);
/* Returns the row, or NULL with a diagnostic if the name is unknown. */
const Board *board_find(Ctx *cx, const char *name);
/* Returns the options with the target, limits and clock of their board where they state none; NULL on error. */
const lw_options *board_apply(Ctx *cx, const lw_options *o);
#endif
