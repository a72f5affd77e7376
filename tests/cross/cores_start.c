/* SPDX-License-Identifier: MIT */
/* main() of programs on two cores: starts core 1, and runs main.c's, which is compiled with -Dmain=program. */
#include "../../samples/cores/fork.h"

int program(void);

int main(void)
{
    cores_start();
    return program();
}
