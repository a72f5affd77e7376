/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4). The message is followed by a bit 1, zeros, and its length in bits as the last 8 bytes of a
 * block of 64; each block updates eight 32-bit words in 64 rounds. */
#include "support/sha256.h"

#include <string.h>

#include "support/text.h"

enum { BLOCK = sizeof ((Sha256 *)0)->block, LENGTH_BYTES = 8, WORDS = 8, ROUNDS = 64, SCHEDULE_START = 16 };

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

/* Updates the words with a block (section 6.2.2). */
static void update(uint32_t h[WORDS], const uint8_t *block)
{
    uint32_t w[ROUNDS], v[WORDS];
    for (int t = 0; t < SCHEDULE_START; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = SCHEDULE_START; t < ROUNDS; t++)
        w[t] = w[t - 16] + (rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 7] +
               (rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10);
    for (int i = 0; i < WORDS; i++) v[i] = h[i];
    for (int t = 0; t < ROUNDS; t += WORDS)
        for (int i = 0; i < WORDS; i++) {          /* the roles of the words rotate; a constant trip count unrolls */
            uint32_t *const d = &v[(11 - i) % WORDS], *const last = &v[(15 - i) % WORDS];
            const uint32_t a = v[(8 - i) % WORDS], b = v[(9 - i) % WORDS], c = v[(10 - i) % WORDS];
            const uint32_t e = v[(12 - i) % WORDS], f = v[(13 - i) % WORDS], g = v[(14 - i) % WORDS];
            const uint32_t first = *last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                                   constants[t + i] + w[t + i];
            *d += first;
            *last = first + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        }
    for (int i = 0; i < WORDS; i++) h[i] += v[i];
}

Sha256 sha256_new(void)
{
    return (Sha256){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                            0x5be0cd19 } };
}

void sha256_add(Sha256 *s, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    size_t held = (size_t)(s->count % BLOCK);
    s->count += count;
    if (held) {
        const size_t taken = count < BLOCK - held ? count : BLOCK - held;
        memcpy(s->block + held, at, taken);
        if (held + taken < BLOCK) return;
        update(s->h, s->block);
        at += taken;
        count -= taken;
    }
    for (; count >= BLOCK; at += BLOCK, count -= BLOCK) update(s->h, at);
    if (count) memcpy(s->block, at, count);
}

void sha256_end(Sha256 *s, uint8_t digest[SHA256_BYTES])
{
    uint8_t last[BLOCK + LENGTH_BYTES] = { 0x80 }, length[LENGTH_BYTES];
    const size_t held = (size_t)(s->count % BLOCK), padded = held + 1 + LENGTH_BYTES <= BLOCK ? BLOCK : 2 * BLOCK;
    for (int i = 0; i < LENGTH_BYTES; i++) length[LENGTH_BYTES - 1 - i] = (uint8_t)(s->count * 8 >> 8 * i);
    sha256_add(s, last, padded - held - LENGTH_BYTES);
    sha256_add(s, length, LENGTH_BYTES);
    for (int i = 0; i < SHA256_BYTES; i++) digest[i] = (uint8_t)(s->h[i / 4] >> (24 - i % 4 * 8));
}

const char *sha256_hex(Ctx *cx, const void *bytes, size_t count)
{
    Sha256 s = sha256_new();
    uint8_t digest[SHA256_BYTES];
    Text t = text_new(cx);
    sha256_add(&s, bytes, count);
    sha256_end(&s, digest);
    for (int i = 0; i < SHA256_BYTES; i++) text_printf(&t, "%02x", (unsigned)digest[i]);
    return text_string(&t);
}
