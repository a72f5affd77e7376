/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_DAG_REGISTRY_H
#define LW_GRAPH_DAG_REGISTRY_H
/* All rows registered in a context: operators, targets and implementations. context/builtin_rows.c supplies the
 * built-in rows; a user adds more. A later row of the same name wins, so a user may replace a built-in one. */
#include "graph/dag/target.h"
#include "support/map.h"

/* The built-in rows of each kind. A row without a name closes each array, and NULL closes the list of arrays. */
typedef struct BuiltinRows {
    const Op *const *ops;
    const Target *const *targets;
    const Implementation *const *implementations;
    const Device *const *devices;
} BuiltinRows;

/* The integer lists that the operator read, including defaults. The lists are recorded while a call is computed
 * (condition_names.c). */
enum { MOST_NOTES = 16 };
typedef struct AttrNote { const char *name; int count; int64_t value[2 * MAX_RANK]; } AttrNote;
typedef struct AttrNotes { int count; AttrNote note[MOST_NOTES]; } AttrNotes;

typedef struct Registry {
    Map op_by_name, target_by_name;
    const Op **op;                         int op_count, op_room;                 /* the operators, sorted by name */
    /* The targets in order of registration, with inherited fields filled in. */
    const Target **target;                 int target_count, target_room;
    const Implementation **implementation; int implementation_count, implementation_room;
    const Device **device;                 int device_count, device_room;
    /* The schedules that were read from files; plan/group_schedules.h defines the type. */
    struct GroupSchedule *schedules;
    /* Maps a foreign operator's name to a user's row, whose type the importers define. */
    Map importer_row;
    Map expansion;                         /* maps a call (by address) to the Tensor *[] that Op.compute gave */
    /* Where op_ints records the lists that it reads, or NULL to record nothing. */
    AttrNotes *notes;
} Registry;

/* Returns the registry, which is created with the built-in rows at first use. */
Registry *registry(Ctx *cx);

#endif
