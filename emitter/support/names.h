/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_NAMES_H
#define LW_SUPPORT_NAMES_H
/* Interned strings: equal pointers are equal texts, and vice versa. */
#include <stddef.h>

#include "support/ctx.h"

const char *name(Ctx *cx, const char *text);                        /* NULL for NULL */
const char *name_n(Ctx *cx, const char *text, size_t length);
const char *name_format(Ctx *cx, const char *format, ...);
/* Converts `text` to a C identifier:
 *
 * text                                               result
 * other characters than letters, digits, '_'         '_' each
 * a leading digit                                    '_' before it
 * a keyword of C or C++, or a macro of a header      '_' after it
 * a reserved prefix, such as `__`                    `own` before it
 * empty                                              "_" */
const char *name_identifier(Ctx *cx, const char *text);
/* Reserves all names that begin with the prefix in capital letters and '_': the macros of the model's header. */
void name_reserve_macros(Ctx *cx, const char *prefix);
/* As name_identifier, but begins with a letter: "9bad" gives "m9bad". */
const char *name_prefix(Ctx *cx, const char *text);
const char *name_upper(Ctx *cx, const char *text);                  /* in capital letters */

#endif
