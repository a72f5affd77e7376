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
 * `memory NAME ...` and `instruction NAME...`, at the start of a line, are steps of all blocks of the text (te.h).
 * A text may also have functions of steps, which its blocks call, and `include "FILE"` for a file of functions.
 * Such a block replaces the strategy of the groups that it names; blocks of other targets are skipped. '#' begins a
 * comment. Blocks come from a text, files and the model. Within one source, a group has at most one block; an earlier
 * source overrides a later one. */
#include "graph/plan/plan.h"
#include "schedule/program.h"

/* The sources of blocks, in order of precedence: a text, the first file, the next files, then the model. */
enum { SCHEDULES_OF_TEXT, SCHEDULES_OF_FILES, SCHEDULES_OF_MODEL = INT32_MAX };

/* The kind of subject that the word after `for` names. */
typedef enum ScheduleSubject { OF_GROUP, OF_PARTS, OF_OPERATOR, OF_SIGNATURE } ScheduleSubject;

typedef struct ScheduleVersion ScheduleVersion;
struct ScheduleVersion {
    /* The condition under which this version applies, or NULL in the last version, which applies everywhere else. */
    const char *when;
    const char *row;                     /* the implementation's name, or NULL for the operators' own computes */
    bool with_steps;                     /* true if the implementation's steps precede these steps */
    int step_count; const WrittenStep *step;
    ScheduleVersion *otherwise;
};

typedef struct GroupSchedule GroupSchedule;
struct GroupSchedule {
    int source;
    ScheduleSubject subject;
    const char *of;                      /* the subject as written; for OF_OPERATOR, the operator */
    const char *target, *path, *where;   /* `where` is the block's position, such as "12:1" */
    ScheduleVersion *version;            /* the first version */
    /* the declarations of the block's source, which are steps before the steps of each version */
    int declaration_count; const WrittenStep *declaration;
    const ScheduleFunction *functions;   /* the functions of the same text and of the files that it includes */
    bool is_used;                        /* true if a group of this model uses the block */
    GroupSchedule *next;                 /* the next block in the order of the text */
};

/* Drops the blocks of an earlier model in the context. */
void schedules_clear(Ctx *cx);
/* Reads the blocks of text[begin...], which may call these functions. Lines are counted from the start of the text.
 * Returns false after an error. */
bool schedules_read(Ctx *cx, int source, const char *path, const char *text, size_t begin,
                    const ScheduleFunction *functions);
/* Gives all blocks of a source these declarations. */
void schedules_declare(Ctx *cx, int source, const WrittenStep *declaration, int count);
GroupSchedule *schedules_first(Ctx *cx);

/* Returns the group's block for the target and marks it used, or NULL. Two blocks of one source are an error. */
GroupSchedule *schedule_of_group(Ctx *cx, const Group *g, const Target *t);
/* Returns the block's nest for a group. `naive` is the group's nest before the steps, or NULL to expand the group.
 * *chosen receives the implementation whose compute or steps the nest has; chosen may be NULL. A refused step is an
 * error at its line. */
const Nest *schedule_nest(Ctx *cx, const GroupSchedule *s, const Group *g, const Target *t, const Nest *naive,
                          const Implementation **chosen);
/* Returns the nest of the group's block, or of its strategy if no block is for the group. */
const Nest *group_nest(Ctx *cx, const Group *g, const Target *t, const Implementation **chosen);
void schedule_refuse(Ctx *cx, const GroupSchedule *s, const char *what);       /* reports an error at the block */
/* Checks the blocks; call this after all groups are scheduled. A block for groups that do not exist is an error; for
 * blocks of signatures, each file gets one warning. `group` lists all groups. */
void schedules_check(Ctx *cx, const Target *t, const Group *const *group, int count);

/* Returns the key that equal groups of any network share: operators, types, shapes and the anchor's attributes, without
 * blanks. */
const char *group_signature(Ctx *cx, const Group *g);
#endif
