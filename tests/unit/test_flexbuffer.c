/* SPDX-License-Identifier: MIT */
/* Options of custom operators: maps written by the package flatbuffers, then every truncation, every flipped bit, and
 * random bytes: the calls return, and read nothing outside. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "import/formats/flexbuffer.h"

/* { "T": 7, "fft_length": 512 } */
static const uint8_t lengths[] = { 0x54, 0x00, 0x66, 0x66, 0x74, 0x5f, 0x6c, 0x65, 0x6e, 0x67, 0x74, 0x68, 0x00, 0x02,
                                   0x0e, 0x0d, 0x02, 0x00, 0x01, 0x00, 0x02, 0x00, 0x07, 0x00, 0x00, 0x02, 0x05, 0x05,
                                   0x06, 0x25, 0x01 };
/* { "a": -70000, "b": true, "c": 1.5 } */
static const uint8_t kinds[] = { 0x61, 0x00, 0x62, 0x00, 0x63, 0x00, 0x03, 0x07, 0x06, 0x05, 0x00, 0x00, 0x05, 0x00,
                                 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x90, 0xee, 0xfe, 0xff,
                                 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x3f, 0x06, 0x6a, 0x0e, 0x0f, 0x26, 0x01 };

static void check_numbers(void)
{
    FlexMap m;
    FlexNumber n;
    int64_t v = 0;
    double real = 0;
    CHECK("map", flex_map((Bytes){ lengths, sizeof lengths }, &m) && m.count == 2);
    CHECK("names", strcmp(flex_key(&m, 0), "T") == 0 && strcmp(flex_key(&m, 1), "fft_length") == 0);
    CHECK("integer", flex_int(&m, "fft_length", &v) && v == 512);
    CHECK("absent", !flex_int(&m, "fft", &v));
    CHECK("map-of-kinds", flex_map((Bytes){ kinds, sizeof kinds }, &m) && m.count == 3);
    CHECK("negative", flex_int(&m, "a", &v) && v == -70000);
    CHECK("truth", flex_int(&m, "b", &v) && v == 1);
    CHECK("real-is-no-integer", !flex_int(&m, "c", &v));
    CHECK("real-by-name", flex_real(&m, "c", &real) && real == 1.5);
    CHECK("integer-is-real", flex_real(&m, "a", &real) && real == -70000);
    CHECK("real", flex_number_at(&m, 2, &n) && n.is_real && n.real == 1.5);
}

/* Reads all of a map, from a copy without a byte after it. */
static void read_all(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count ? count : 1);
    FlexMap m;
    FlexNumber n;
    int64_t v;
    if (count) memcpy(copy, bytes, count);
    if (flex_map((Bytes){ copy, count }, &m)) {
        for (uint64_t i = 0; i < m.count; i++) {
            flex_key(&m, i);
            flex_number_at(&m, i, &n);
        }
        flex_int(&m, "fft_length", &v);
    }
    free(copy);
}

static void check_damaged(void)
{
    uint8_t bytes[64];
    for (size_t n = 0; n <= sizeof kinds; n++) read_all(kinds + sizeof kinds - n, n);
    for (size_t n = 0; n <= sizeof lengths; n++) read_all(lengths, n);
    for (size_t bit = 0; bit < 8 * sizeof kinds; bit++) {
        memcpy(bytes, kinds, sizeof kinds);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        read_all(bytes, sizeof kinds);
    }
    uint32_t state = 1;
    for (int i = 0; i < 20000; i++) {
        for (size_t b = 0; b < sizeof bytes; b++) bytes[b] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 25);
        bytes[sizeof bytes - 2] = 0x24;      /* a map */
        bytes[sizeof bytes - 1] = 1;
        read_all(bytes, sizeof bytes);
    }
    CHECK("damaged-maps-return", true);
}

int main(void)
{
    CHECK_RUN(check_numbers, check_damaged);
    return check_done();
}
