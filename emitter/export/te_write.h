/* SPDX-License-Identifier: MIT */
#ifndef LW_EXPORT_TE_WRITE_H
#define LW_EXPORT_TE_WRITE_H
/* Writes a graph as a .te file: each constant with its data, each call as one statement, in execution order. Names of
 * tensors become identifiers of the language; grids of ports are written as `scale=` and `zero=`. If the file is read
 * again, it gives the same graph. */
#include "graph/dag/graph.h"

/* head: lines of a comment without '#', or NULL. names: the names of the outputs. Returns NULL, with a diagnostic, if
 * the graph has a region, an open size, a call of formulas or an output that is an input or a constant. */
const char *te_write(Ctx *cx, const Graph *g, const char *const *names, const char *head);
#endif
