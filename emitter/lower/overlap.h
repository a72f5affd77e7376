/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_OVERLAP_H
#define LW_LOWER_OVERLAP_H
/* May the output of a function lie over an input of which nothing is needed behind it? */
#include "ir/nest/code.h"

/* So many bytes, 0 or more, before x begins y has to begin so that writing y spares what of x is still to be read. x is an input of
 * the function and y an output, and each begins where its tensor does. False: nothing is known, and they lie apart. */
bool overlap_lead(Ctx *cx, const Function *f, const Memory *x, const Memory *y, int64_t *lead);
#endif
