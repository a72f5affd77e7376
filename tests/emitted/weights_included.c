/* SPDX-License-Identifier: MIT */
/* weights_included.c STATUS: NAME_run and NAME_check_weights return STATUS, with the file that is part of the
 * program. */
#include <stdio.h>
#include <stdlib.h>

#include "two.h"

#define INPUT(name, type, count) static type in_##name[count];
#define OUTPUT(name, type, count) static type out_##name[count];
TWO_INPUTS(INPUT)
TWO_OUTPUTS(OUTPUT)

static TWO_ARENA(arena);

int main(int argc, char **argv)
{
    const int wanted = argc > 1 ? atoi(argv[1]) : 0;
    struct two_inputs in;
    struct two_outputs out;
#define SET_INPUT(name, type, count) in.name = in_##name;
#define SET_OUTPUT(name, type, count) out.name = out_##name;
    TWO_INPUTS(SET_INPUT)
    TWO_OUTPUTS(SET_OUTPUT)
    const int ran = two_run(arena, &in, &out), checked = two_check_weights();
    if (ran != wanted || checked != wanted) printf("%d and %d, not %d\n", ran, checked, wanted);
    return ran != wanted || checked != wanted;
}
