/* SPDX-License-Identifier: MIT */
/* Prints the checksum of the parameters after ten steps of digits_train on drawn images. */
#include <stdio.h>

#include "digits.h"

static DIGITS_TRAIN_ARENA(arena);
static struct digits_params params;

int main(void)
{
    unsigned state = 5;
    digits_params_init(&params);
    for (int step = 0; step < 10; step++) {
        float image[DIGITS_INPUT_ELEMS], loss;
        const int32_t label[1] = { step };
        const struct digits_inputs in = { image };
        const struct digits_targets target = { label };
        for (unsigned i = 0; i < DIGITS_INPUT_ELEMS; i++) {
            state = state * 1664525u + 1013904223u;
            image[i] = (float)(state >> 16) / 65536.0f;
        }
        if (digits_train(arena, &params, &in, &target, &loss) != 0) return 1;
    }
    digits_params_seal(&params);
    printf("%08lx\n", (unsigned long)params.checksum);
    return 0;
}
