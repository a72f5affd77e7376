/* SPDX-License-Identifier: MIT */
/* An open size is an argument, checked against its range; memory after the elements of that size is unchanged. */
#include <stdio.h>

#include "open_classifier.h"

enum { MOST = 9, GUARD = -77 };

int main(void)
{
    static unsigned char memory[OPEN_CLASSIFIER_ARENA_SIZE + 16];
    static float x[MOST * 12], y[MOST * 3 + 1], all[MOST * 3];
    void *arena = memory + (16 - (uintptr_t)memory % 16) % 16;
    for (int i = 0; i < MOST * 12; i++) x[i] = (float)(i * 37 % 101 - 50) / 25.0f;
    struct open_classifier_inputs in = { .x = x, .batch = MOST };
    if (open_classifier_run(arena, &in, &(struct open_classifier_outputs){ .y = all }) != 0)
        return printf("the greatest size is refused\n");
    for (int n = -1; n <= MOST + 1; n++) {
        in.batch = n;
        for (int i = 0; i <= MOST * 3; i++) y[i] = GUARD;
        int status = open_classifier_run(arena, &in, &(struct open_classifier_outputs){ .y = y });
        if (status != (n < 1 || n > MOST ? OPEN_CLASSIFIER_E_DIM : 0))
            return printf("%d elements: status %d\n", n, status);
        for (int i = 0; i <= MOST * 3; i++)
            if (y[i] != (status == 0 && i < n * 3 ? all[i] : (float)GUARD))
                return printf("%d elements: y[%d] is %g\n", n, i, (double)y[i]);
    }
    return 0;
}
