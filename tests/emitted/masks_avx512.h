/* SPDX-License-Identifier: MIT */
/* An instruction of masks.te with AVX-512. */
#include <immintrin.h>
#include <stdint.h>

#define FMAZ FMAZ
static inline void FMAZ(int32_t lo, int32_t hi, float *r, int32_t r_at, const float *x, int32_t x_at, const float *w,
    int32_t w_at)
{
    const __mmask16 lanes = (__mmask16)(((1u << hi) - 1u) & ~((1u << lo) - 1u));
    const __m512 product = _mm512_maskz_mul_ps(lanes, _mm512_maskz_loadu_ps(lanes, x + x_at), _mm512_set1_ps(w[w_at]));
    _mm512_storeu_ps(r + r_at, _mm512_add_ps(_mm512_loadu_ps(r + r_at), product));
}
