/* SPDX-License-Identifier: MIT */
#ifndef LW_API_SOURCE_H
#define LW_API_SOURCE_H
/* The parts of the text of model.c by their lines, from 1. */
#include "support/text.h"

/* A function or a constant. first_line: the first line of the comment above it, if there is one. begin, end: its text
 * with the line of its name, without the comment. */
typedef struct Part {
    const char *name;
    int first_line, name_line, last_line;
    const char *begin, *end;
    bool is_constant;
} Part;
typedef struct Parts { int count; const Part *at; } Parts;
Parts source_parts(Ctx *cx, const char *text);
const Part *source_part(const Parts *p, const char *name);         /* or NULL */
/* Returns the first and the last line of the call of the layer with this number in the part; 0 if it has none. */
int source_call(const Part *p, int layer, int *last);
/* Returns the lines on which loops of the part begin. */
const int *source_loops(Ctx *cx, const Part *p, int *count);
bool source_calls(const Part *from, const Part *to);              /* returns true if a part calls the function */
#endif
