/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_REGION_H
#define LW_CGEN_REGION_H
/* What program.c prints for regions: a function for each graph, and `if` and `for` where they are called. */
#include "cgen/device_calls.h"

/* All calls of the program: NAME_run's, then those of the bodies. NULL past the last. */
const Call *program_call(const Program *p, int i);
bool control_may_stop(const Control *c);       /* a loop that may have no room for a row ends the run with an error */

void body_function(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer, PrintCall *print_call);
void control_notes(Ctx *cx, Text *t, const Program *p);              /* for the header: loops that may fill their rows in part */
void control_call(Ctx *cx, Text *t, const Program *p, const Call *c, PrintPlace *print_place);
void layer_mark(Ctx *cx, Text *t, int number, const char *name);     /* LW_LAYER(3, "conv_1") */
#endif
