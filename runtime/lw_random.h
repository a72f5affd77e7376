/* SPDX-License-Identifier: 0BSD */
/* Random numbers as a function of a key and a counter, without state: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw,
 * Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011). Ten rounds of two multiplications map a 128-bit counter, under
 * a 64-bit key, to 128 random bits. Element i of a tensor uses counter i, so the order of computation does not
 * matter. */
#ifndef LW_RANDOM_H
#define LW_RANDOM_H

#include <stdint.h>

/* lw: lw_philox needs */
/* Replaces the counter in word[0..3], least significant word first, by the random words. */
/*@ requires \valid(word + (0 .. 3));
    requires \initialized(word + (0 .. 3));
    assigns word[0 .. 3] \from word[0 .. 3], key0, key1;
*/
static inline void lw_philox(uint32_t *word, uint32_t key0, uint32_t key1)
{
    /*@ loop invariant 0 <= round <= 10;
        loop invariant \initialized(word + (0 .. 3));
        loop assigns round, word[0 .. 3], key0, key1;
        loop variant 10 - round;
    */
    for (int32_t round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)word[0] * 0xD2511F53u, b = (uint64_t)word[2] * 0xCD9E8D57u;
        word[0] = (uint32_t)(b >> 32) ^ word[1] ^ key0;
        word[1] = (uint32_t)b;
        word[2] = (uint32_t)(a >> 32) ^ word[3] ^ key1;
        word[3] = (uint32_t)a;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}
/* lw: end */

/* lw: lw_philox_u64 needs lw_philox */
/* Returns the first two random words, for a counter whose upper half is 0. */
/*@ assigns \nothing; */
static inline uint64_t lw_philox_u64(uint64_t key, uint64_t counter)
{
    uint32_t word[4] = { (uint32_t)counter, (uint32_t)(counter >> 32), 0, 0 };
    lw_philox(word, (uint32_t)key, (uint32_t)(key >> 32));
    return word[0] | (uint64_t)word[1] << 32;
}
/* lw: end */

#endif
