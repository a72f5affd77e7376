/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_REGISTRY_H
#define LW_GRAPH_REGISTRY_H
/* All rows that a context knows: operators, targets and implementations. The built-in rows come from the arrays that
 * make lists in builtin.h; a user adds more. A later row of the same name wins, so a user may replace one of ours. */
#include "graph/dag/target.h"
#include "support/map.h"

typedef struct Registry {
    Map op_by_name, target_by_name;
    const Op **op;                         int op_count, op_room;                 /* sorted by name */
    const Target **target;                 int target_count, target_room;         /* as registered; fields filled in */
    const Implementation **implementation; int implementation_count, implementation_room;
    const Device **device;                 int device_count, device_room;
    Map tuned;                             /* of a group's signature: the name of its implementation */
    Map importer_row;                      /* a user's, by the foreign operator's name; importers know what they are */
    Map expansion;                         /* of a call (by its address): Tensor *[] made by Op.compute */
} Registry;

Registry *registry(Ctx *cx);               /* made, with the built-in rows in it, at the first use */

#endif
