/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_ARENA_MAP_H
#define LW_CGEN_ARENA_MAP_H
/* Prints the addresses of what NAME_run's memories hold, by name, and the list of these names (arena_map.c). */
#include "cgen/features.h"

/* Returns the address of the byte at `offset` of the memory with this C name: "memory + kws_conv_1_at + 64", or
 * "memory + 64" without an item. */
const char *arena_address(Ctx *cx, const Program *p, const char *memory, const ArenaItem *item, int64_t offset);
PrintPart arena_map;         /* prints the enumerators of the items that calls use, or nothing */
#endif
