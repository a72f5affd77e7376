/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_PASSES_H
#define LW_GRAPH_PASSES_H
/* The passes over the DAG: a file each here, in graph/quantize (realize) and in graph/shrink. */
#include "graph/dag/graph.h"

/* A pass makes a new graph of new nodes and leaves the old one; order of the table graph_passes. */
typedef Graph GraphPass(Ctx *cx, Graph g);
typedef struct GraphPassRow { const char *name, *what; GraphPass *run; } GraphPassRow;
const GraphPassRow *graph_passes(int *count);

GraphPass graph_annotate;     /* annotations of devices go into the nodes, recorded ones into the marks */
GraphPass graph_simplify;     /* calls that have a simpler form; dead nodes */
GraphPass graph_realize;      /* quantized calls that are written in real numbers become integer ones, where that is exact */
GraphPass graph_fold;         /* calls over constants are run now, by the interpreter */
GraphPass graph_regions;      /* a branch whose condition is known takes the place of its region */
GraphPass graph_affine;       /* scales and shifts behind a convolution or dense layer go into its weights and bias */
GraphPass graph_layout;       /* transposes sink, meet and cancel; what moves only dimensions of 1 is a view */
GraphPass graph_alter;        /* calls get the form that the target likes, with their weights packed (Implementation.alter) */
GraphPass graph_shrink;       /* channels on which no output depends go */
GraphPass graph_outputs;      /* copies where an output is an input, a constant or another output: each is written by one call */
GraphPass graph_devices;      /* what a device does not take comes home; copies where values cross */
#endif
