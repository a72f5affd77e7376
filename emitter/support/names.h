/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_NAMES_H
#define LW_SUPPORT_NAMES_H
/* Interned strings: two names are the same text exactly when they are the same pointer. */
#include <stddef.h>

#include "support/ctx.h"

const char *name(Ctx *cx, const char *text);                        /* NULL gives NULL */
const char *name_n(Ctx *cx, const char *text, size_t length);
const char *name_format(Ctx *cx, const char *format, ...);
/* A C identifier made of `text`: every other character becomes '_', a leading digit gets one before it, a C or C++
 * keyword or a macro of a header one behind, a reserved beginning like __ gets `own` before it; empty text gives "_".
 * */
const char *name_identifier(Ctx *cx, const char *text);
/* Reserves what begins with the prefix in capital letters and '_': the macros of the model's header. */
void name_reserve_macros(Ctx *cx, const char *prefix);
/* A similar one that begins with a letter: "9bad" gives "m9bad". */
const char *name_prefix(Ctx *cx, const char *text);
const char *name_upper(Ctx *cx, const char *text);                  /* in capital letters */

#endif
