/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_TEXT_H
#define LW_SUPPORT_TEXT_H
/* Text that grows in an arena, and the exact, locale-free spelling and reading of numbers. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

/* `at` always ends in a NUL once written */
typedef struct Text { Arena *arena; char *at; size_t length, room; } Text;

Text text_new(Ctx *cx);
void text_add(Text *t, const char *s);
void text_addn(Text *t, const char *s, size_t n);
void text_char(Text *t, char c);
void text_printf(Text *t, const char *format, ...);       /* no %f %g %e %a: the locale would show */
void text_spaces(Text *t, int n);
const char *text_string(Text *t);                         /* "" when nothing was written */

const char *text_format(Ctx *cx, const char *format, ...);
const char *text_vformat(Ctx *cx, const char *format, va_list args);

/* Shortest decimal that reads back as the same float or double: `0.1`, `-1.5e-05`, `inf`, `nan`. Always has a point, an
 * exponent or letters, so that it cannot be taken for an integer. */
void text_float(Text *t, float f);
void text_double(Text *t, double d);

/* Reads a decimal or hexadecimal floating number; *end is set past it (== s if there is none). Correctly rounded. */
double text_read_double(const char *s, const char **end);
float  text_read_float(const char *s, const char **end);   /* rounded once, straight to float */

bool text_equal(const char *a, const char *b);             /* either may be NULL */
/* The candidate nearest to `word`, within two edits (one, for words below five letters), or NULL: for "did you mean". An edit inserts,
 * drops or replaces a letter, or exchanges two neighbours. */
const char *text_nearest(Ctx *cx, const char *word, const char *const *candidates, size_t count);
/* "; did you mean 'it'?" for that one; `otherwise` where there is none. */
const char *text_hint(Ctx *cx, const char *word, const char *const *candidates, size_t count, const char *otherwise);

bool text_has_word(const char *list, const char *word);    /* in a list of words separated by single spaces */
#endif
