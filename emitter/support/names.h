/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_NAMES_H
#define LW_SUPPORT_NAMES_H
/* Interned strings: equal pointers are equal texts, and vice versa. */
#include <stddef.h>

#include "support/ctx.h"

const char *name(Ctx *cx, const char *text);                        /* returns the interned text, or NULL for NULL */
const char *name_n(Ctx *cx, const char *text, size_t length);
const char *name_format(Ctx *cx, const char *format, ...);
/* Converts `text` to a C identifier:
 *
 * text                                               result
 * characters that are not letters, digits or '_'     '_' each
 * a leading digit                                    '_' before it
 * a keyword of C or C++, or a macro of a header      '_' after it
 * a reserved prefix, such as `__`                    `own` before it
 * empty                                              "_" */
const char *name_identifier(Ctx *cx, const char *text);
/* Like name_identifier, for names that emitted C prints without the model's prefix. `own_` also precedes a name that
 * begins with the model's prefix in capital letters and '_', as the macros of its header do. Names of layers, and names
 * in dumps, do not depend on that prefix. */
const char *name_unprefixed(Ctx *cx, const char *text);
void name_reserve_macros(Ctx *cx, const char *prefix);              /* sets the model's prefix */
/* Converts `text` to the part of an identifier after the model's prefix and '_'. Characters other than letters, digits
 * and '_' become '_'. This conversion has no reserved words. */
const char *name_suffix(Ctx *cx, const char *text);
/* Returns the prefix of a model's names: an identifier that begins with a letter, in which each `_` is between other
 * characters. "9bad" gives "m9bad", "int" gives "m_int". */
const char *name_prefix(Ctx *cx, const char *text);
const char *name_upper(Ctx *cx, const char *text);                  /* returns the text in capital letters */
/* Returns true for a character of identifiers: a letter, a digit or '_'. */
static inline bool name_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

#endif
