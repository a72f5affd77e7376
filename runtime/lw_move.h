/* SPDX-License-Identifier: 0BSD */
/* Moves of results within the arena. */
#ifndef LW_MOVE_H
#define LW_MOVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* lw: LW_ALIGNED_4 needs */
/* A pointer to words. Given the alignment, compilers copy a few words without a call. */
#ifndef LW_ALIGNED_4
#if defined(__GNUC__)
#define LW_ALIGNED_4(pointer) __builtin_assume_aligned(pointer, 4)
#else
#define LW_ALIGNED_4(pointer) (pointer)
#endif
#endif
/* lw: end */

/* lw: lw_move needs LW_ALIGNED_4 */
/* Moves blocks of 16 bytes to a place that may overlap them, but begins a multiple of 16 bytes before or after them.
 * Two blocks never overlap in part, so memcpy may copy each. The memmove of newlib copies such bytes one by one. */
/*@ requires \valid(to + (0 .. 16 * blocks - 1));
    requires \valid_read(from + (0 .. 16 * blocks - 1));
    requires \base_addr(to) != \base_addr(from) || (to != from && (to - from) % 16 == 0);
    assigns to[0 .. 16 * blocks - 1] \from from[0 .. 16 * blocks - 1];
*/
static inline void lw_move(uint8_t *to, const uint8_t *from, size_t blocks)
{
    if (to < from)
        for (size_t i = 0; i < blocks; i++) memcpy(LW_ALIGNED_4(to + 16 * i), LW_ALIGNED_4(from + 16 * i), 16);
    else
        for (size_t i = blocks; i-- > 0;) memcpy(LW_ALIGNED_4(to + 16 * i), LW_ALIGNED_4(from + 16 * i), 16);
}
/* lw: end */

#endif
