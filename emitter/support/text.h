/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_TEXT_H
#define LW_SUPPORT_TEXT_H
/* Growing text in an arena; exact, locale-free formatting and reading of numbers. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

/* A text that grows. The text is NUL-terminated once written. */
typedef struct Text { Arena *arena; char *at; size_t length, capacity; } Text;

/* Receives a text in pieces; `to` is a Text for text_put. */
typedef void TextPut(void *to, const char *text, size_t length);

Text text_new(Ctx *cx);
void text_add(Text *t, const char *s);
void text_addn(Text *t, const char *s, size_t n);
TextPut text_put;
void text_char(Text *t, char c);
void text_printf(Text *t, const char *format, ...);       /* without %f %g %e %a, which depend on the locale */
void text_spaces(Text *t, int n);
/* Appends the characters of a C string literal, such that no escape merges with the next character, and no trigraph
 * arises. */
void text_escaped(Text *t, const char *s);
const char *text_string(Text *t);                         /* returns "" if nothing was written */

const char *text_format(Ctx *cx, const char *format, ...);
const char *text_vformat(Ctx *cx, const char *format, va_list args);

/* Appends the shortest decimal that reads back as the same float or double: `0.1`, `-1.5e-05`, `inf`, `nan`. The
 * decimal contains a point, an exponent or letters, so it differs from any integer. */
void text_float(Text *t, float f);
void text_double(Text *t, double d);

/* Reads a decimal or hexadecimal floating-point number, correctly rounded. *end points past it, or equals s if there is
 * none. */
double text_read_double(const char *s, const char **end);
float  text_read_float(const char *s, const char **end);   /* rounds once, directly to float */

bool text_equal(const char *a, const char *b);             /* either may be NULL */
/* Returns the candidate nearest to `word` for "did you mean", or NULL. The distance is at most two edits; for words of
 * two to four letters, one. An edit inserts, drops or replaces a letter, or exchanges two neighbours. */
const char *text_nearest(Ctx *cx, const char *word, const char *const *candidates, size_t count);
/* Returns "; did you mean 'it'?" with the nearest candidate, or `otherwise` if there is none. */
const char *text_hint(Ctx *cx, const char *word, const char *const *candidates, size_t count, const char *otherwise);

/* Returns the text in at most `most` characters (7 or more); a longer text has "..." in its middle. */
const char *text_shortened(Ctx *cx, const char *text, int most);

/* Returns the number of lines that are not blank, and the lines without the blanks at their ends. */
int text_lines(Ctx *cx, const char *text, const char *const **lines);

/* Returns the text with each control character, and each byte that is not UTF-8, as a number such as "\\033". So the
 * name of a file has no effect on a terminal. Lines and tabs stay in a text of several lines. Returns the text itself
 * if it has no such character. */
const char *text_visible(Ctx *cx, const char *text, size_t length, bool has_lines);

bool text_has_word(const char *list, const char *word);    /* `list` has words separated by single spaces */
#endif
