/* SPDX-License-Identifier: 0BSD */
/* Runs the self-test of @name@ on this machine: status 0 if the recorded outputs agree. */
#include <stdio.h>

#include "@name@_selftest.h"

static @NAME@_ARENA(arena);

int main(void)
{
    const long wrong = @name@_selftest(arena);
    printf("@name@: %ld elements of the outputs are wrong\n", wrong);
    return wrong != 0;
}
