/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_WRITTEN_H
#define LW_SCHEDULE_WRITTEN_H
/* A step in a file that the user wrote: a .te file or a file of schedules. */
#include "schedule/schedule.h"

typedef struct WrittenStep {
    const char *text;                /* the text of the step, for sched_step */
    const char *path, *whole;        /* for diagnostics: the path of the file, and its whole text */
    size_t begin, end;               /* the position of the step within `whole` */
    int indent;                      /* the number of blanks before it */
    const char *of;                  /* the group, for steps of several groups; NULL if diagnostics do not name it */
} WrittenStep;

/* Reads the step in the line that begins at `line` and ends at `end` or before, without blanks around it and without a
 * comment. Returns false if the line has no step. */
bool written_step(Ctx *cx, const char *path, const char *whole, const char *line, const char *end, WrittenStep *out);
/* Returns the end of the last line of a declaration whose first line ends at `end`: indented lines continue it. */
const char *written_declaration_end(const char *end);
/* Returns the list with a declaration, which may have several lines. */
const WrittenStep *written_declare(Ctx *cx, const WrittenStep *list, int count, const char *path, const char *whole,
                                   const char *begin, const char *end);
/* Reports an error at the step. */
void written_refuse(Ctx *cx, const WrittenStep *at, const char *what);
/* Returns the nest after the step; a refusal is a diagnostic at the step's line. */
const Nest *sched_written(Ctx *cx, const Nest *n, const WrittenStep *step);
/* Proves the conditions that must hold when all steps are done (nest_memory_refusal). A refusal is a diagnostic at the
 * step that places the buffer, or else at the last step. Returns NULL after it. */
const Nest *sched_finished(Ctx *cx, const Nest *n, const WrittenStep *step, int count);
#endif
