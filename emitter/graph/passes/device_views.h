/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_DEVICE_VIEWS_H
#define LW_GRAPH_PASSES_DEVICE_VIEWS_H
#include "graph/passes/passes.h"

/* A call and the device that runs it, or NULL for the host. Calls of a composite's match stay together. */
typedef struct Site { Node *node; const char *device; bool is_matched; } Site;

/* Moves views to the host where that saves copies, with a note for each. */
void views_to_host(Ctx *cx, const Graph *g, Site *site, int count);
#endif
