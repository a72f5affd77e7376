/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULE_PROGRAM_H
#define LW_SCHEDULE_PROGRAM_H
/* Steps with functions, loops and conditions (docs/schedules.md). The steps are run line by line on the nest: a loop
 * over a role and a condition on an extent refer to the nest at that line. The trace holds the steps that were
 * applied. */
#include "ir/text/lex.h"
#include "schedule/written.h"

enum { MOST_PARAMETERS = 12 };

/* `schedule NAME(PARAMETER, ...):` with its lines. */
typedef struct ScheduleFunction ScheduleFunction;
struct ScheduleFunction {
    const ScheduleFunction *outer;       /* an earlier function, or NULL */
    const char *name;
    int parameter_count; const char *parameter[MOST_PARAMETERS];
    const WrittenStep *line; int line_count;
};

/* Reads the heading of a function, whose lines begin at `line`. Returns the function with no lines yet. */
ScheduleFunction *sched_function(Lexer *l, const ScheduleFunction *outer, const WrittenStep *line);
/* Returns the nest after the lines; a refusal is a diagnostic at its line. */
const Nest *sched_program(Ctx *cx, const Nest *n, const ScheduleFunction *functions, const WrittenStep *line,
                          int count);
#endif
