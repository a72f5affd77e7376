/* SPDX-License-Identifier: 0BSD */
/* Runs the self-test of @name@ once and prints the number of wrong elements. */
#include <stdio.h>

#include "@name@_selftest.h"

static @NAME@_ARENA(arena);

void app_main(void)
{
    printf("@name@: %ld elements of the outputs are wrong\n", @name@_selftest(arena));
}
