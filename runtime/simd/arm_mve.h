/* SPDX-License-Identifier: 0BSD */
/* The macros of rows.h on Helium, the vectors of Cortex-M55 and M85. */
#ifndef LW_SIMD_ARM_MVE_H
#define LW_SIMD_ARM_MVE_H

#include "../lw_base.h"
#include "simd.h"
#endif
