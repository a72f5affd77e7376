/* SPDX-License-Identifier: MIT */
#ifndef FLAT_MUTATE_H
#define FLAT_MUTATE_H
/* Random changes of a flatbuffer: of an aligned number in it, of 1, 2, 4 or 8 bytes, as its offsets, lengths, indices, shapes
 * and scales are; the rest stays as it is. */
#include <stddef.h>
#include <stdint.h>

/* Changes one number among the `count` bytes at `at`, drawn by `seed`. */
void flat_mutate(uint8_t *at, size_t count, uint32_t seed);

#endif
