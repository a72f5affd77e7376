/* SPDX-License-Identifier: MIT */
/* The least image of a network: arena, inputs and outputs as variables, and a run in an endless loop. Startup code of
 * the chip is left out: link.sh checks where things are, and that they fit. */
#include <stdint.h>

#include "net.h"

#define FIELD(name, type, count)   static type port_##name[count];
#define POINTER(name, type, count) .name = port_##name,
NET_INPUTS(FIELD)
NET_OUTPUTS(FIELD)
static NET_ARENA(arena);
static volatile int status;

void reset_handler(void);

void reset_handler(void)
{
    const struct net_inputs in = { NET_INPUTS(POINTER) };
    const struct net_outputs out = { NET_OUTPUTS(POINTER) };
    for (;;) status = net_run(arena, &in, &out);
}

#ifndef __riscv
__attribute__((section(".vectors"), used)) static void (*const vectors[1])(void) = { reset_handler };
#endif
