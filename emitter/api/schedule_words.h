/* SPDX-License-Identifier: MIT */
#ifndef LW_API_SCHEDULE_WORDS_H
#define LW_API_SCHEDULE_WORDS_H
/* Texts about the schedule of a group, for `dump` and for the reports. */
#include "driver/driver.h"
#include "support/text.h"

/* Prints the end of a block's head, such as " when n % 4 == 0:". */
void schedule_head(Text *t, const Nest *n);
/* Prints the steps on separate lines, then the other versions with their heads. */
void schedule_steps(Ctx *cx, Text *t, const Nest *n);
/* Prints the loops of all versions. */
void schedule_loops(Ctx *cx, Text *t, const Nest *n);
/* Prints where the group's steps come from: for a strategy, the candidates and the reasons. A region has none. */
void schedule_origin(const Build *b, Text *t, int group);
bool schedule_is_chosen(const Build *b, int group);      /* true if a strategy chose the steps */
#endif
