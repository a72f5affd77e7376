/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_PASSES_H
#define LW_GRAPH_PASSES_PASSES_H
/* The passes over the DAG: one file each, here, in graph/differentiate (gradient), in graph/quantize
 * (realize), in graph/shrink and in graph/stream. */
#include "graph/stream/stream.h"

/* A pass returns a new graph of new nodes and leaves the old one unchanged. graph_passes lists them in order. */
typedef Graph GraphPass(Ctx *cx, Graph g);
typedef enum PassRole { PASS_DEFINES, PASS_GRIDS, PASS_REWRITES, PASS_COPIES } PassRole;     /* passes.def */
typedef struct GraphPassRow { const char *name, *what; PassRole role; GraphPass *run; } GraphPassRow;
const GraphPassRow *graph_passes(int *count);

GraphPass graph_gradient;     /* replaces calls that request gradients by the calls that compute them */
GraphPass graph_annotate;     /* device annotations become node properties, recorded ones become marks */
GraphPass graph_simplify;     /* replaces calls by simpler forms; removes dead nodes */
/* Computes quantized calls written in real numbers on integers, where that is exact */
GraphPass graph_realize;
/* True if calls compute real numbers that are then quantized: the passes of the role GRIDS define their integers */
bool graph_has_grids(Ctx *cx, const Graph *g);
GraphPass graph_fold;         /* runs calls over constants at compile time */
GraphPass graph_regions;      /* replaces a region by its branch when the condition is constant */
GraphPass graph_affine;       /* folds scales and shifts after a convolution or dense layer into its weights and bias */
/* Sinks, merges and cancels transposes; one that moves only unit dimensions becomes a view */
GraphPass graph_layout;
/* graph_stream: declared in stream.h */
/* replaces calls by the target's preferred form, with packed weights (Implementation.alter) */
GraphPass graph_alter;
GraphPass graph_shrink;       /* removes channels on which no output depends */
/* Copies outputs that are inputs, constants or other outputs: one call writes each */
GraphPass graph_outputs;
GraphPass graph_devices;      /* returns calls that a device rejects to the host; copies values between devices */
#endif
