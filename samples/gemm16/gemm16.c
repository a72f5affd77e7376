/* SPDX-License-Identifier: 0BSD */
/* A model of the unit: it computes the bits of its instructions, counts cycles, and stops the program at an access to
 * elements whose copy is unfinished, or outside the unit's memories.
 *
 * Cycles: the copy engine moves 8 bytes a cycle and takes 24 for each descriptor; it works on one descriptor at a time,
 * in the order of the starts. A product takes a cycle for each row and each 16 elements of k, requantization a cycle
 * for each row, and clearing and setting the register take one each. The core waits for an instruction, and for copies
 * where it says so; its own work takes no time here. A copy executes when the core waits for it: as late as it may. */
#include "gemm16.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COPIES = 256, MOST_LAYERS = 512, PER_CYCLE = 8, PER_DESCRIPTOR = 24, SIDE = 16 };

unsigned char gemm16_scratchpad[GEMM16_SCRATCHPAD], gemm16_accumulator[GEMM16_ACCUMULATOR];

typedef struct Copy {
    int channel, value;                  /* the byte that a fill stores; -1 for a copy */
    unsigned char *to;
    const unsigned char *from;
    size_t to_step, from_step, bytes, rows;
    long long end;                       /* the cycle at which it is finished */
} Copy;

typedef struct Layer {
    const char *name;
    long long descriptors, in, out, copy, compute, elapsed, products;
    int m, k, n;                         /* the largest product */
    size_t scratchpad;                   /* the bytes up to the last one that is used */
} Layer;

static Copy queue[MOST_COPIES];
static int queued;
static unsigned char unfinished_scratchpad[GEMM16_SCRATCHPAD], unfinished_accumulator[GEMM16_ACCUMULATOR];
static long long now, engine;            /* the cycle of the core, and the one at which the copy engine is free */
static Layer layer[MOST_LAYERS];
static int layers;
static Layer *current = &layer[0];

static void stop(const char *why)
{
    fprintf(stderr, "gemm16: layer %s: %s\n", current->name ? current->name : "?", why);
    abort();
}

/* ---- Memories ---------------------------------------------------------------------------------------------------- */

typedef struct Place { unsigned char *unfinished; size_t at, size; } Place;

/* Finds the bytes in the unit's memories. Returns false for the core's memory. */
static int is_in_unit(const void *p, Place *out)
{
    const unsigned char *at = p;
    if (at >= gemm16_scratchpad && at < gemm16_scratchpad + GEMM16_SCRATCHPAD)
        *out = (Place){ unfinished_scratchpad, (size_t)(at - gemm16_scratchpad), GEMM16_SCRATCHPAD };
    else if (at >= gemm16_accumulator && at < gemm16_accumulator + GEMM16_ACCUMULATOR)
        *out = (Place){ unfinished_accumulator, (size_t)(at - gemm16_accumulator), GEMM16_ACCUMULATOR };
    else
        return 0;
    return 1;
}

static void use(const Place *p, size_t bytes)
{
    if (p->at + bytes > p->size) stop("an access beyond the end of a memory");
    if (p->unfinished == unfinished_scratchpad && p->at + bytes > current->scratchpad)
        current->scratchpad = p->at + bytes;
}

/* Stops if the unit accesses bytes that are in no memory of the unit, or whose copy is unfinished. */
static void access(const void *p, size_t bytes)
{
    Place at;
    if (!is_in_unit(p, &at)) stop("an operand outside of the unit's memories");
    use(&at, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (at.unfinished[at.at + i]) stop("an access before the wait for the copy");
}

/* ---- The copy engine --------------------------------------------------------------------------------------------- */

static void mark(const Copy *c, int by)
{
    Place p;
    if (!is_in_unit(c->to, &p)) return;
    use(&p, (c->rows - 1) * c->to_step + c->bytes);
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < c->bytes; i++)
            p.unfinished[p.at + r * c->to_step + i] = (unsigned char)(p.unfinished[p.at + r * c->to_step + i] + by);
}

/* Executes the oldest copy of the channel. */
static void finish(int channel)
{
    int i = 0;
    while (queue[i].channel != channel) i++;
    const Copy c = queue[i];
    for (size_t r = 0; r < c.rows; r++) {
        if (c.value >= 0) memset(c.to + r * c.to_step, c.value, c.bytes);
        else memcpy(c.to + r * c.to_step, c.from + r * c.from_step, c.bytes);
    }
    mark(&c, -1);
    if (now < c.end) now = c.end;
    queued--;
    for (; i < queued; i++) queue[i] = queue[i + 1];
}

static void start(Copy c)
{
    Place p;
    const long long bytes = (long long)(c.bytes * c.rows);
    const long long cycles = PER_DESCRIPTOR + (bytes + PER_CYCLE - 1) / PER_CYCLE;
    if (!c.bytes || !c.rows) return;
    if (queued == MOST_COPIES) finish(queue[0].channel);
    if (engine < now) engine = now;
    engine += cycles;
    c.end = engine;
    current->descriptors++;
    current->copy += cycles;
    if (c.value < 0) *(is_in_unit(c.to, &p) ? &current->in : &current->out) += bytes;
    mark(&c, 1);
    queue[queued++] = c;
}

void gemm16_copy(int channel, void *to, size_t to_step, const void *from, size_t from_step, size_t bytes, size_t rows)
{
    start((Copy){ channel, -1, to, from, to_step, from_step, bytes, rows, 0 });
}

void gemm16_fill(int channel, void *to, int value, size_t bytes)
{
    start((Copy){ channel, value, to, NULL, 0, 0, bytes, 1, 0 });
}

void gemm16_wait(int channel, int pending)
{
    int count = 0;
    for (int i = 0; i < queued; i++) count += queue[i].channel == channel;
    for (; count > pending; count--) finish(channel);
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static void take(long long cycles)
{
    now += cycles;
    current->compute += cycles;
}

static void limits(int32_t m, int32_t n, int32_t k)
{
    if (m < 1 || m > SIDE || n < 1 || n > SIDE || k < 1 || k > SIDE * SIDE) stop("a size that the unit does not have");
}

static int32_t step_of_rows = -1;        /* the register unit.step */

void gemm16_step(int32_t step)
{
    step_of_rows = step;
    take(1);
}

void gemm16_clear(int32_t m, int32_t n, int32_t *r, int32_t r_at, int32_t r_stride0)
{
    limits(m, n, 1);
    for (int32_t i = 0; i < m; i++) {
        access(r + r_at + i * r_stride0, (size_t)n * sizeof *r);
        memset(r + r_at + i * r_stride0, 0, (size_t)n * sizeof *r);
    }
    take(1);
}

void gemm16_product(int32_t m, int32_t k, int32_t n, int32_t *r, int32_t r_at, int32_t r_stride0, const int8_t *x,
                    int32_t x_at, int32_t x_stride0, const int8_t *w, int32_t w_at, int32_t w_stride0, int32_t z)
{
    limits(m, n, k);
    if (x_stride0 != step_of_rows) stop("rows with another distance than the one in the register");
    for (int32_t e = 0; e < k; e++) access(w + w_at + e * w_stride0, (size_t)n);
    for (int32_t i = 0; i < m; i++) {
        int32_t *sum = r + r_at + i * r_stride0;
        const int8_t *row = x + x_at + i * x_stride0;
        access(sum, (size_t)n * sizeof *sum);
        access(row, (size_t)k);
        for (int32_t j = 0; j < n; j++)
            for (int32_t e = 0; e < k; e++) sum[j] += (row[e] + z) * w[w_at + e * w_stride0 + j];
    }
    take(m * ((k + SIDE - 1) / SIDE));
    current->products += (long long)m * n * k;
    if (m * k * n > current->m * current->k * current->n) current->m = m, current->k = k, current->n = n;
}

/* Returns a * multiplier / 2^31 without the fraction rounded to nearest, then / 2^shift rounded half away from zero. */
static int32_t scaled(int32_t a, int32_t multiplier, int32_t shift)
{
    const int64_t product = (int64_t)a * multiplier, half = product >= 0 ? 1LL << 30 : 1 - (1LL << 30);
    const int32_t high = (int32_t)((product + half) / (1LL << 31));
    const int32_t mask = (int32_t)((1LL << shift) - 1), rest = high & mask, middle = (mask >> 1) + (high < 0);
    return (high >> shift) + (rest > middle);
}

/* Writes m rows of n accumulators. The multiplier and the shift of column j are at j times their step. */
static void write_results(int32_t m, int32_t n, int8_t *y, int32_t y_stride, const int32_t *a, int32_t a_stride,
                          const int32_t *b, const int32_t *multiplier, int multiplier_step, const uint8_t *shift,
                          int shift_step, int32_t zero, int32_t least, int32_t most)
{
    limits(m, n, 1);
    for (int32_t i = 0; i < m; i++) {
        access(a + i * a_stride, (size_t)n * sizeof *a);
        for (int32_t j = 0; j < n; j++) {
            const int32_t value = scaled(a[i * a_stride + j] + b[j], multiplier[j * multiplier_step],
                                         shift[j * shift_step]) + zero;
            y[i * y_stride + j] = (int8_t)(value < least ? least : value > most ? most : value);
        }
    }
    take(m);
    current->out += (long long)m * n;
}

void gemm16_requantize(int32_t m, int32_t n, int8_t *y, int32_t y_at, int32_t y_stride0, const int32_t *a, int32_t a_at,
                       int32_t a_stride0, const int32_t *b, int32_t b_at, const int32_t *multiplier,
                       int32_t multiplier_at, const uint8_t *shift, int32_t shift_at, int32_t zero, int32_t least,
                       int32_t most)
{
    write_results(m, n, y + y_at, y_stride0, a + a_at, a_stride0, b + b_at, multiplier + multiplier_at, 1,
                  shift + shift_at, 1, zero, least, most);
}

void gemm16_requantize_shift(int32_t m, int32_t n, int8_t *y, int32_t y_at, int32_t y_stride0, const int32_t *a,
                             int32_t a_at, int32_t a_stride0, const int32_t *b, int32_t b_at,
                             const int32_t *multiplier, int32_t multiplier_at, int32_t shift, int32_t zero,
                             int32_t least, int32_t most)
{
    const uint8_t one = (uint8_t)shift;
    write_results(m, n, y + y_at, y_stride0, a + a_at, a_stride0, b + b_at, multiplier + multiplier_at, 1, &one, 0,
                  zero, least, most);
}

void gemm16_requantize_all(int32_t m, int32_t n, int8_t *y, int32_t y_at, int32_t y_stride0, const int32_t *a,
                           int32_t a_at, int32_t a_stride0, const int32_t *b, int32_t b_at, int32_t multiplier,
                           int32_t shift, int32_t zero, int32_t least, int32_t most)
{
    const uint8_t one = (uint8_t)shift;
    write_results(m, n, y + y_at, y_stride0, a + a_at, a_stride0, b + b_at, &multiplier, 0, &one, 0, zero, least, most);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const char *bound_of(const Layer *l)
{
    return !l->products ? "core" : l->copy > l->compute ? "copy" : "compute";
}

static void print_row(FILE *f, const Layer *l)
{
    char tile[40] = "-";
    const long long overlapped = l->copy + l->compute - l->elapsed;
    const long long use = l->elapsed ? 100 * l->products / (SIDE * SIDE * l->elapsed) : 0;
    if (l->m) snprintf(tile, sizeof tile, "%dx%dx%d", l->m, l->k, l->n);
    fprintf(f, "%-40.40s %-5s %9s %8lld %8lld %7lld %8lld %8lld %8lld %8lld %4lld%% %6zu %9lld  %s\n", l->name,
            l->products ? "unit" : "core", tile, l->in, l->out, l->descriptors, l->copy, l->compute, overlapped,
            l->elapsed, use, l->scratchpad, l->products, bound_of(l));
}

static void write_table(void)
{
    const char *path = getenv("GEMM16_TABLE");
    FILE *f = path ? fopen(path, "w") : NULL;
    Layer total = { .name = "total" };
    if (!f) return;
    gemm16_layer(-1, NULL);
    fprintf(f, "%-40s %-5s %9s %8s %8s %7s %8s %8s %8s %8s %5s %6s %9s  %s\n", "layer", "place", "tile", "in", "out",
            "copies", "copy", "compute", "overlap", "cycles", "use", "pad", "products", "bound");
    for (int i = 0; i < layers; i++) {
        const Layer *l = &layer[i];
        print_row(f, l);
        total.in += l->in;
        total.out += l->out;
        total.descriptors += l->descriptors;
        total.copy += l->copy;
        total.compute += l->compute;
        total.elapsed += l->elapsed;
        total.products += l->products;
        if (l->scratchpad > total.scratchpad) total.scratchpad = l->scratchpad;
    }
    print_row(f, &total);
    fclose(f);
}

void gemm16_layer(int number, const char *name)
{
    static long long began;
    if (!layers) atexit(write_table);
    else current->elapsed += now - began;
    began = now;
    if (number < 0) return;
    current = &layer[number];
    current->name = name;
    if (number >= layers) layers = number + 1;
}
