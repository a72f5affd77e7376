/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_WATCH_H
#define LW_SUPPORT_WATCH_H
/* Time measurement. A watch runs from its creation. A lap books the time since the last lap on a piece of work. The
 * figures are notes for the user and reach no output. Every function accepts NULL and then measures nothing. */
#include "support/ctx.h"

typedef struct Watch Watch;

Watch *watch_new(Ctx *cx);
/* For example "code" and "hoist"; equal pairs are summed. */
void watch_lap(Watch *w, const char *part, const char *name);
/* Reports a note for each pair in the order of its first lap, then the sum. */
void watch_report(Watch *w);

#endif
