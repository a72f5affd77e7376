/* SPDX-License-Identifier: MIT */
/* The counter of --profile on an emulated core: instructions instead of the cycles of runtime/lw_counter.h. Included
 * before the emitted file by `hosted.sh cc`. */
#ifndef HOSTED_H
#define HOSTED_H

#include <stddef.h>
#include <stdint.h>

uint64_t hosted_instructions(void);

#define LW_COUNTER_START() ((void)0)
#define LW_COUNTER()       hosted_instructions()
#define LW_COUNTER_MASK    UINT64_MAX
#define LW_COUNTER_UNIT    "instructions"

#endif
