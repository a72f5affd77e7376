/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_WATCH_H
#define LW_SUPPORT_WATCH_H
/* Where the time goes: a watch runs from its making, and at the end of each piece of work the time since the last lap is
 * booked on it. What it says is for people and goes into no output. Every call takes NULL: then nothing is measured. */
#include "support/ctx.h"

typedef struct Watch Watch;

Watch *watch_new(Ctx *cx);
void watch_lap(Watch *w, const char *part, const char *name);   /* "code", "hoist"; equal pairs are summed up */
/* A note for each, in the order of their first laps; the sum */
void watch_report(Watch *w);

#endif
