/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_WIDTH_COST_H
#define LW_QUANTIZER_WIDTH_COST_H
/* The counted cost of widths: instructions of a run, and bytes of code, constants and arena, as emitted for the target
 * of the build. */
#include "quantizer/quantizer.h"

typedef struct NetworkCost { int64_t instructions, bytes; } NetworkCost;

/* Counts the network with the widths that the groups have. False on error. */
bool network_cost(const Build *like, const Graph *g, const Edges *e, Ports ports, NetworkCost *out);
/* Returns the part of the network that depends on the group's width: the calls that write and read its tensors, up to
 * other tensors with a grid, which become inputs. *edges: those of the part; they share the groups of `e`. */
Graph part_around(Ctx *cx, const Graph *g, const Edges *e, int group, Edges *edges);
#endif
