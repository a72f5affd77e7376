/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4). The message is followed by a bit 1, zeros, and its length in bits as the last 8 bytes of a
 * block of 64; each block updates eight words of 32 bits in 64 rounds. */
#include "support/sha256.h"

#include <string.h>

#include "support/text.h"

enum { BLOCK = 64, LENGTH_BYTES = 8, WORDS = 8, ROUNDS = 64, SCHEDULE_START = 16 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2). */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* Section 6.2.2. */
static void update(uint32_t h[WORDS], const uint8_t *block)
{
    uint32_t w[ROUNDS], v[WORDS];
    for (int t = 0; t < SCHEDULE_START; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = SCHEDULE_START; t < ROUNDS; t++)
        w[t] = w[t - 16] + (rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 7] +
               (rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int t = 0; t < ROUNDS; t++) {
        const uint32_t a = v[0], b = v[1], c = v[2], e = v[4], f = v[5], g = v[6];
        const uint32_t first = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                               constants[t] + w[t];
        const uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        memmove(v + 1, v, sizeof v - sizeof v[0]);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < WORDS; i++) h[i] += v[i];
}

const char *sha256_hex(Ctx *cx, const void *bytes, size_t count)
{
    uint32_t h[WORDS] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                          0x5be0cd19 };
    uint8_t last[2 * BLOCK] = { 0 };
    const uint8_t *at = bytes;
    const size_t rest = count % BLOCK, tail = rest + 1 + LENGTH_BYTES <= BLOCK ? BLOCK : 2 * BLOCK;
    for (size_t i = 0; i + BLOCK <= count; i += BLOCK) update(h, at + i);
    if (rest) memcpy(last, at + (count - rest), rest);
    last[rest] = 0x80;
    for (int i = 0; i < LENGTH_BYTES; i++) last[tail - 1 - (size_t)i] = (uint8_t)((uint64_t)count * 8 >> 8 * i);
    for (size_t i = 0; i < tail; i += BLOCK) update(h, last + i);
    Text t = text_new(cx);
    for (int i = 0; i < WORDS; i++) text_printf(&t, "%08lx", (unsigned long)h[i]);
    return text_string(&t);
}
