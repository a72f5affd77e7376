#!/bin/sh
# SPDX-License-Identifier: MIT
# selftest_main.sh NAME: prints a program that runs NAME_selftest of NAME.h, which has no constants apart, prints
# `status N`, and ends with it.
set -eu
upper=$(echo "$1" | tr a-z A-Z)
cat << C
#include <stdio.h>

#include "$1.h"

#define MEMORY(name, type, count) static type memory_##name[count];
${upper}_OUTPUTS(MEMORY)
#define AT(name, type, count) memory_##name,
static ${upper}_ARENA(arena);

int main(void)
{
    const struct $1_outputs out = { ${upper}_OUTPUTS(AT) };
    const int status = $1_selftest(arena, &out);
    printf("status %d\n", status);
    return status;
}
C
