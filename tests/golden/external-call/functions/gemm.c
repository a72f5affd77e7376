/* SPDX-License-Identifier: MIT */
/* The function that external-call.te calls, for verify: d = scale * x * w, a row at a time in `row`. */
#include <stdint.h>
#include <string.h>

void gemm(int32_t rows, int32_t columns, float scale, const float *x, int32_t stride, const float *w, float *d,
          void *row);

void gemm(int32_t rows, int32_t columns, float scale, const float *x, int32_t stride, const float *w, float *d,
          void *row)
{
    for (int32_t i = 0; i < rows; i++) {
        float sum[8];
        for (int32_t j = 0; j < columns; j++) {
            sum[j] = 0.0f;
            for (int32_t k = 0; k < stride; k++) sum[j] += scale * x[i * stride + k] * w[k * columns + j];
        }
        memcpy(row, sum, 4 * (size_t)columns);      /* 32 bytes: all of the workspace could be used */
        memcpy(d + i * columns, row, 4 * (size_t)columns);
    }
}
