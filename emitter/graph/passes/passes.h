/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_PASSES_H
#define LW_GRAPH_PASSES_PASSES_H
/* The passes over the DAG. Each has one file, here or in graph/differentiate (gradient), graph/quantize (realize),
 * graph/shrink or graph/stream. */
#include "graph/stream/stream.h"

/* A pass returns a new graph of new nodes and leaves the old one unchanged. graph_passes lists them in order. */
typedef Graph GraphPass(Ctx *cx, Graph g);
/* The roles of passes.def. */
typedef enum PassRole { PASS_DEFINES, PASS_GRIDS, PASS_REWRITES, PASS_COPIES } PassRole;
typedef struct GraphPassRow { const char *name, *what; PassRole role; GraphPass *run; } GraphPassRow;
const GraphPassRow *graph_passes(int *count);

GraphPass graph_gradient;     /* replaces calls that request gradients by the calls that compute them */
GraphPass graph_annotate;     /* turns device annotations into node properties, and recorded ones into marks */
GraphPass graph_simplify;     /* replaces calls with simpler forms; removes dead nodes */
/* Computes quantized calls that are written in real numbers on integers, where that is exact. */
GraphPass graph_realize;
/* Returns true if calls compute real numbers that are then quantized. The passes of the role GRIDS define the integers
 * of these calls. */
bool graph_has_grids(Ctx *cx, const Graph *g);
GraphPass graph_fold;         /* runs calls over constants at compile time */
GraphPass graph_regions;      /* replaces a region by its branch when the condition is constant */
GraphPass graph_affine;       /* folds scales and shifts after a convolution or dense layer into its weights and bias */
/* Sinks, merges and cancels transposes; a transpose that moves only unit dimensions becomes a view. */
GraphPass graph_layout;
/* graph_stream is declared in stream.h. */
/* Replaces calls with the form that the target prefers, such as packed weights (Implementation.alter). */
GraphPass graph_alter;
GraphPass graph_narrow;       /* stores constants of few bits packed (narrow.c) */
GraphPass graph_shrink;       /* removes channels on which no output depends */
/* Copies outputs that are inputs, constants or other outputs, so that exactly one call writes each output. */
GraphPass graph_outputs;
GraphPass graph_devices;      /* returns calls that a device rejects to the host; copies values between devices */
#endif
