/* SPDX-License-Identifier: 0BSD */
/* The unit's macros for the emitted C: `cc -include gemm16.h model.c gemm16.c`. A firmware defines the same macros over
 * its registers. gemm16.c is a model: it computes the same bits, counts cycles, and stops at a wrong access. */
#ifndef GEMM16_H
#define GEMM16_H

#include <stddef.h>
#include <stdint.h>

enum { GEMM16_SCRATCHPAD = 16384, GEMM16_ACCUMULATOR = 4096 };
extern unsigned char gemm16_scratchpad[GEMM16_SCRATCHPAD], gemm16_accumulator[GEMM16_ACCUMULATOR];

/* The copy engine. A call puts a descriptor into the queue of its channel. */
void gemm16_copy(int channel, void *to, size_t to_step, const void *from, size_t from_step, size_t bytes, size_t rows);
void gemm16_fill(int channel, void *to, int value, size_t bytes);
void gemm16_wait(int channel, int pending);

/* The instructions, as `loopwright instruction` prints them. */
void gemm16_step(int32_t step);
void gemm16_clear(int32_t m, int32_t n, int32_t *r, int32_t r_at, int32_t r_stride0);
void gemm16_product(int32_t m, int32_t k, int32_t n, int32_t *r, int32_t r_at, int32_t r_stride0, const int8_t *x,
                    int32_t x_at, int32_t x_stride0, const int8_t *w, int32_t w_at, int32_t w_stride0, int32_t z);
void gemm16_requantize(int32_t m, int32_t n, int8_t *y, int32_t y_at, int32_t y_stride0, const int32_t *a, int32_t a_at,
                       int32_t a_stride0, const int32_t *b, int32_t b_at, const int32_t *multiplier,
                       int32_t multiplier_at, const uint8_t *shift, int32_t shift_at, int32_t zero, int32_t least,
                       int32_t most);
void gemm16_requantize_shift(int32_t m, int32_t n, int8_t *y, int32_t y_at, int32_t y_stride0, const int32_t *a,
                             int32_t a_at, int32_t a_stride0, const int32_t *b, int32_t b_at,
                             const int32_t *multiplier, int32_t multiplier_at, int32_t shift, int32_t zero,
                             int32_t least, int32_t most);
void gemm16_requantize_all(int32_t m, int32_t n, int8_t *y, int32_t y_at, int32_t y_stride0, const int32_t *a,
                           int32_t a_at, int32_t a_stride0, const int32_t *b, int32_t b_at, int32_t multiplier,
                           int32_t shift, int32_t zero, int32_t least, int32_t most);

/* The layer that begins. At the end of the program, the table of all layers is written to the file $GEMM16_TABLE. */
void gemm16_layer(int number, const char *name);

#define LW_MEMORY_scratchpad(offset) (gemm16_scratchpad + (offset))
#define LW_MEMORY_accumulator(offset) (gemm16_accumulator + (offset))
#define LW_COPY_START(channel, to, from, bytes) gemm16_copy(channel, to, 0, from, 0, (size_t)(bytes), 1)
#define LW_COPY_ROWS_START(channel, to, to_step, from, from_step, bytes, rows) \
    gemm16_copy(channel, to, (size_t)(to_step), from, (size_t)(from_step), (size_t)(bytes), (size_t)(rows))
#define LW_COPY_FILL_START(channel, to, value, bytes) gemm16_fill(channel, to, value, (size_t)(bytes))
#define LW_COPY_WAIT(channel, pending) gemm16_wait(channel, pending)
#define STEP16 gemm16_step
#define CLEAR16 gemm16_clear
#define GEMM16 gemm16_product
#define REQUANT16 gemm16_requantize
#define REQUANT16_SHIFT gemm16_requantize_shift
#define REQUANT16_ALL gemm16_requantize_all
#define LW_LAYER(number, name) gemm16_layer(number, name);
#endif
