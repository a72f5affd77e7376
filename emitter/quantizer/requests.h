/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_REQUESTS_H
#define LW_QUANTIZER_REQUESTS_H
/* The user's own annotations, which win over the table of the operators' rows: annotation.simulated_quantize of the
 * model, of a .te file or of --annotate. The passes carry each as a mark of the graph. */
#include "graph/dag/graph.h"
#include "graph/quantize/requantize.h"

enum { FLOAT_BITS = 32 };

typedef struct Request {
    const Node *annotation;
    Tensor *tensor;                    /* activation, or constant weights */
    int bits;                          /* 8, 16, or FLOAT_BITS: no grid; of weights, 2 to 8 */
    bool has_grid;                     /* scale and zero are given */
    Grid grid;                         /* of an activation */
    const float *scale; int64_t scale_count;       /* of weights: one, or one for each index of the last axis */
} Request;

/* After the passes: moves the marks to tensors of the graph. False, with a diagnostic, if passes folded one away. */
bool requests_resolve(Ctx *cx, Graph *g);
/* Returns the requests of the graph, by tensor. A diagnostic for one that no grid can satisfy. */
Map requests_of(Ctx *cx, const Graph *g);
const Request *request_of(const Map *requests, const Tensor *t);       /* NULL: none */
const char *request_place(Ctx *cx, const Request *r);                  /* for a diagnostic */

#endif
