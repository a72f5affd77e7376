/* roles: roles.te for generic, emitted by Loopwright. */
#include "generic.h"
#if ROLES_HEADER_HASH != 0x151ab103
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_math.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* c[n<1, h<8, w<8, o<8] = sum(i<3, j<3, c<4) select(0 <= h + i - 1 && h + i - 1 < 8 && 0 <= w + j - 1
 *     && w + j - 1 < 8, x[n, h+i-1, w+j-1, c] * k[i, j, c, o], 0.0)
 * y[n<1, h<8, w<8, c<8] = max(c[n, h, w, c] * s[c] + s[c], 0.0)
 * x: [1][8][8][4]  k: [3][3][4][8]  s: [8]  y: [1][8][8][8]
 * schedule of the file: compute_inline a; compute_inline m; compute_at c y.w; set_scope c register; vectorize c.o */
static void roles_c(const float *restrict x, const float *restrict k, const float *restrict s, float *restrict y)
{
    for (int32_t h = 0; h < 8; h++)
        for (int32_t w = 0; w < 8; w++) {
            float c[8];
            for (int32_t o = 0; o < 8; o++) {
                float acc = 0.0f;
                const int32_t i_end = lw_min_i32(9 - h, 3);
                for (int32_t i = lw_max_i32(1 - h, 0); i < i_end; i++) {
                    const int32_t j_end = lw_min_i32(9 - w, 3);
                    for (int32_t j = lw_max_i32(1 - w, 0); j < j_end; j++) {
                        const float *x_j = x + (h + i - 1) * 32 + (w + j - 1) * 4;
                        const float *k_j = k + i * 96 + j * 32 + o;
                        for (int32_t c2 = 0; c2 < 4; c2++)
                            acc += x_j[c2] * k_j[c2 * 8];
                    }
                }
                c[o] = acc;
            }
            float *y_w = y + h * 64 + w * 8;
            for (int32_t c2 = 0; c2 < 8; c2++)
                y_w[c2] = lw_maxf(c[c2] * s[c2] + s[c2], 0.0f);
        }
}

int roles_run(void *arena, const struct roles_inputs *in, const struct roles_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL || in->k == NULL || in->s == NULL) return ROLES_E_NULL;
    if (out == NULL || out->y == NULL) return ROLES_E_NULL;
    LW_LAYER(0, "c")
    roles_c(in->x, in->k, in->s, out->y);
    return 0;
}
