/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_REGISTRY_H
#define LW_GRAPH_REGISTRY_H
/* All rows that a context knows: operators, targets and implementations. The built-in rows are the
 * context's (context/builtin_rows.c); a user adds more. A later row of the same name wins, so a user may replace one of ours. */
#include "graph/dag/target.h"
#include "support/map.h"

/* The built-in rows of each kind: arrays closed by a row without a name, the list of arrays by NULL. */
typedef struct BuiltinRows {
    const Op *const *ops;
    const Target *const *targets;
    const Implementation *const *implementations;
    const Device *const *devices;
} BuiltinRows;

/* Lists of integers as operators read them, defaults filled in: of a call that is computed for plan/condition.c. */
enum { MOST_NOTES = 16 };
typedef struct AttrNote { const char *name; int count; int64_t value[2 * MAX_RANK]; } AttrNote;
typedef struct AttrNotes { int count; AttrNote note[MOST_NOTES]; } AttrNotes;

typedef struct Tuned Tuned;                /* plan/strategy.c */
typedef struct Registry {
    Map op_by_name, target_by_name;
    const Op **op;                         int op_count, op_room;                 /* sorted by name */
    const Target **target;                 int target_count, target_room;         /* as registered; fields filled in */
    const Implementation **implementation; int implementation_count, implementation_room;
    const Device **device;                 int device_count, device_room;
    Map tuned;                             /* of a group's signature: its record */
    Tuned *records;                        /* of --tuning, in the order of the file */
    Map importer_row;                      /* a user's, by the foreign operator's name; importers know what they are */
    Map expansion;                         /* of a call (by its address): Tensor *[] made by Op.compute */
    AttrNotes *notes;                      /* where op_ints notes the lists that it gives; NULL: nowhere */
} Registry;

Registry *registry(Ctx *cx);               /* made, with the built-in rows in it, at the first use */

#endif
