/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_ARENA_MAP_H
#define LW_CGEN_ARENA_MAP_H
/* Prints the names of the items in NAME_run's memories. */
#include "cgen/features.h"

PrintPart arena_map;         /* prints the enumerators of the items that calls use, or nothing */
#endif
