/* SPDX-License-Identifier: MIT */
/* A number becomes a near one, a small one, an extreme one, or one from elsewhere in the file. */
#include "flat_mutate.h"

#include <string.h>

#include "import/formats/flatbuffer.h"

typedef struct Dice { uint32_t state; } Dice;

static uint32_t roll(Dice *d, uint32_t below)
{
    d->state = d->state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t)(((uint64_t)(d->state ^ d->state >> 15) * below) >> 32);
}

/* Little endian, as the file is. */
static uint64_t number_at(const uint8_t *at, size_t size)
{
    uint64_t v = 0;
    for (size_t i = size; i-- > 0;) v = v << 8 | at[i];
    return v;
}

static uint64_t new_number(Dice *d, uint64_t v, size_t size, uint64_t other)
{
    const uint64_t top = UINT64_C(1) << (8 * size - 1);
    switch (roll(d, 6)) {
    case 0: return v + 1 + roll(d, 16);
    case 1: return v - 1 - roll(d, 16);
    case 2: return roll(d, 33);
    case 3: return top - roll(d, 2);                 /* the greatest, and the least */
    case 4: return UINT64_MAX - roll(d, 4);
    default: return other;
    }
}

void flat_mutate(uint8_t *at, size_t count, uint32_t seed)
{
    Dice d = { seed };
    const size_t size = (size_t)1 << roll(&d, 4);
    const uint32_t places = (uint32_t)(count / size);
    if (!places) return;
    uint8_t *place = at + roll(&d, places) * size;
    const uint64_t v = new_number(&d, number_at(place, size), size, number_at(at + roll(&d, places) * size, size));
    for (size_t i = 0; i < size; i++) place[i] = (uint8_t)(v >> (8 * i));
}

void flat_mark_buffers(const uint8_t *at, size_t count, size_t least, uint8_t *mark)
{
    enum { MODEL_BUFFERS = 4, BUFFER_DATA = 0 };      /* fields of schema.fbs */
    FlatFile file = { { at, count }, false };
    const FlatTable model = flat_root(&file, "TFL3");
    const FlatVector buffers = flat_vector(&model, MODEL_BUFFERS, 4);
    for (size_t i = 0; i < buffers.count && !file.bad; i++) {
        const FlatTable buffer = flat_table_at(&buffers, i);
        const FlatVector data = flat_vector(&buffer, BUFFER_DATA, 1);
        if (!file.bad && data.count >= least) memset(mark + data.at, 1, data.count);
    }
}
