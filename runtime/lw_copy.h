/* SPDX-License-Identifier: 0BSD */
/* Copies data to a faster memory before the layer that reads the data in this memory. By default the core copies. For a
 * DMA, define all four macros before the emitted file, as by `-include my_copy.h`, with the maintenance of caches that
 * it needs:
 *
 *   LW_COPY_START(channel, to, from, bytes)
 *   LW_COPY_ROWS_START(channel, to, to_step, from, from_step, bytes, rows)     rows of `bytes`, steps in bytes
 *   LW_COPY_FILL_START(channel, to, value, bytes)
 *   LW_COPY_WAIT(channel, pending)     returns when at most `pending` copies of the channel are unfinished
 *
 * A channel finishes in order. Nothing reads or writes the target, and nothing writes the source, between the start and
 * the wait. With line=N of --memory, nothing else is in the target's lines.
 *
 * With LW_COPY_LATE, a start stores the copy in a queue and fills the target with 0xa5, and the wait executes it. A
 * program that reads before the wait then gives other results. */
#ifndef LW_COPY_H
#define LW_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* lw: LW_COPY_START needs */
#ifdef LW_COPY_START
/* The caller's. */
#elif defined(LW_COPY_LATE)
enum { LW_COPY_MOST = 64 };
typedef struct lw_copy {
    int channel, value;                  /* a fill stores value; -1 for a copy */
    unsigned char *to;
    const unsigned char *from;
    size_t to_step, from_step, bytes, rows;
} lw_copy;
static lw_copy lw_copy_queue[LW_COPY_MOST];
static int lw_copy_count;
static inline void lw_copy_execute(int at)
{
    const lw_copy *c = &lw_copy_queue[at];
    for (size_t i = 0; i < c->rows; i++) {
        if (c->value >= 0) memset(c->to + i * c->to_step, c->value, c->bytes);
        else memcpy(c->to + i * c->to_step, c->from + i * c->from_step, c->bytes);
    }
    lw_copy_count--;
    for (int i = at; i < lw_copy_count; i++) lw_copy_queue[i] = lw_copy_queue[i + 1];
}
static inline void lw_copy_start(int channel, int value, void *to, size_t to_step, const void *from, size_t from_step,
                                 size_t bytes, size_t rows)
{
    if (lw_copy_count == LW_COPY_MOST) lw_copy_execute(0);
    lw_copy *c = &lw_copy_queue[lw_copy_count++];
    c->channel = channel;
    c->value = value;
    c->to = (unsigned char *)to;
    c->from = (const unsigned char *)from;
    c->to_step = to_step;
    c->from_step = from_step;
    c->bytes = bytes;
    c->rows = rows;
    for (size_t i = 0; i < rows; i++) memset(c->to + i * to_step, 0xa5, bytes);
}
static inline void lw_copy_wait(int channel, int pending)
{
    int count = 0;
    for (int i = 0; i < lw_copy_count; i++) count += lw_copy_queue[i].channel == channel;
    for (int i = 0; i < lw_copy_count && count > pending;) {
        if (lw_copy_queue[i].channel != channel) {
            i++;
            continue;
        }
        lw_copy_execute(i);
        count--;
    }
}
#define LW_COPY_START(channel, to, from, bytes) lw_copy_start(channel, -1, to, 0, from, 0, (size_t)(bytes), 1)
#define LW_COPY_ROWS_START(channel, to, to_step, from, from_step, bytes, rows) \
    lw_copy_start(channel, -1, to, (size_t)(to_step), from, (size_t)(from_step), (size_t)(bytes), (size_t)(rows))
#define LW_COPY_FILL_START(channel, to, value, bytes) lw_copy_start(channel, value, to, 0, NULL, 0, (size_t)(bytes), 1)
#define LW_COPY_WAIT(channel, pending) lw_copy_wait(channel, pending)
#else
static inline void lw_copy_rows(void *to, size_t to_step, const void *from, size_t from_step, size_t bytes, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        memcpy((unsigned char *)to + i * to_step, (const unsigned char *)from + i * from_step, bytes);
}
#define LW_COPY_START(channel, to, from, bytes) ((void)memcpy(to, from, (size_t)(bytes)))
#define LW_COPY_ROWS_START(channel, to, to_step, from, from_step, bytes, rows) \
    lw_copy_rows(to, (size_t)(to_step), from, (size_t)(from_step), (size_t)(bytes), (size_t)(rows))
#define LW_COPY_FILL_START(channel, to, value, bytes) ((void)memset(to, value, (size_t)(bytes)))
#define LW_COPY_WAIT(channel, pending) ((void)(channel), (void)(pending))
#endif
/* lw: end */

/* lw: LW_COPY_ROWS_START needs LW_COPY_START */
/* lw: end */

/* lw: LW_COPY_FILL_START needs LW_COPY_START */
/* lw: end */

#endif
