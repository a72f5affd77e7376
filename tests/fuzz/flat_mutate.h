/* SPDX-License-Identifier: MIT */
#ifndef FLAT_MUTATE_H
#define FLAT_MUTATE_H
/* Random changes of a flatbuffer: of an aligned number of 1, 2, 4 or 8 bytes, the form of its offsets, lengths,
 * indices, shapes and scales. All other bytes are unchanged. */
#include <stddef.h>
#include <stdint.h>

/* Changes one number among the `count` bytes at `at`, drawn by `seed`. */
void flat_mutate(uint8_t *at, size_t count, uint32_t seed);

/* Sets mark[i] for each byte of a TFLite file inside a buffer with `least` bytes of data or more: weights,
 * mostly. */
void flat_mark_buffers(const uint8_t *at, size_t count, size_t least, uint8_t *mark);

#endif
