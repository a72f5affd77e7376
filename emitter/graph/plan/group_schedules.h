/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PLAN_GROUP_SCHEDULES_H
#define LW_GRAPH_PLAN_GROUP_SCHEDULES_H
/* Schedules that a user writes for groups, in the form that `dump --at scheduled` prints:
 *
 *   for conv_1 on cortex-m4:                  the group that `dump --at fused` calls conv_1
 *     split y.h 4 tail=peel                   its steps, indented, one a line, each checked
 *   for @op(conv2d) on cortex-m4:             each group that has a call of the operator
 *   for conv2d+relu(f32[1][8],...) on arm:    each group with this signature
 *   for conv_2+pool_2 on cortex-m4:           two groups as one nest, named after the last one
 *   for dense_3 on generic with NAME:         over the compute of the implementation NAME
 *   for dense_4 on generic by NAME:           after the steps of the implementation NAME
 *   for dense_5 on generic when n % 4 == 0:   two versions, selected at run time by a condition on open sizes
 *   otherwise:
 *
 * Such a block replaces the strategy of the groups that it names; blocks of other targets are skipped. '#' begins a
 * comment. Blocks come from a text, files and the model. Within one, a group has at most one block; between them, the
 * earlier one wins. */
#include "graph/plan/plan.h"
#include "schedule/written.h"

/* Where blocks come from, in the order of precedence: a text, the first file, the next one, ..., the model */
enum { SCHEDULES_OF_TEXT, SCHEDULES_OF_FILES, SCHEDULES_OF_MODEL = INT32_MAX };

/* The word after `for` */
typedef enum ScheduleSubject { OF_GROUP, OF_PARTS, OF_OPERATOR, OF_SIGNATURE } ScheduleSubject;

typedef struct ScheduleVersion ScheduleVersion;
struct ScheduleVersion {
    const char *when;                    /* where it applies; NULL: everywhere else. Only the last has none */
    const char *row;                     /* an implementation; NULL: the operators' own computes */
    bool with_steps;                     /* the implementation's steps precede these */
    int step_count; const WrittenStep *step;
    ScheduleVersion *otherwise;
};

typedef struct GroupSchedule GroupSchedule;
struct GroupSchedule {
    int source;
    ScheduleSubject subject;
    const char *of;                      /* as written; of OF_OPERATOR, the operator */
    const char *target, *path, *where;   /* where: "12:1" */
    ScheduleVersion *version;            /* the first */
    bool is_used;                        /* by a group of this model */
    GroupSchedule *next;                 /* in the order of the text */
};

/* Drops the blocks of an earlier model in the context. */
void schedules_clear(Ctx *cx);
/* Reads the blocks of text[begin...]; lines are counted from the start of the text. False after an error. */
bool schedules_read(Ctx *cx, int source, const char *path, const char *text, size_t begin);
GroupSchedule *schedules_first(Ctx *cx);

/* Returns the group's block for the target, and marks it used; NULL: none. Two of one source are an error. */
GroupSchedule *schedule_of_group(Ctx *cx, const Group *g, const Target *t);
/* Returns the block's nest for a group; `naive` is its nest before the steps, or NULL to expand the group. *chosen (may
 * be NULL) gets the implementation whose compute or steps the nest has. A refused step is an error at its line. */
const Nest *schedule_nest(Ctx *cx, const GroupSchedule *s, const Group *g, const Target *t, const Nest *naive,
                          const Implementation **chosen);
/* Returns the nest of the group's block, else of its strategy. */
const Nest *group_nest(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen);
void schedule_refuse(Ctx *cx, const GroupSchedule *s, const char *what);       /* an error at the block */
/* After all groups are scheduled: a block for groups that are not there is an error, or for signatures one warning a
 * file. `group`: all groups. */
void schedules_check(Ctx *cx, const Target *t, const Group *const *group, int count);

/* Returns the key of equal groups, in any network: operators, types, shapes and the anchor's attributes, without
 * blanks. */
const char *group_signature(Ctx *cx, const Group *g);
#endif
