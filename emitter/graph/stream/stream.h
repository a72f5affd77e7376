/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_STREAM_STREAM_H
#define LW_GRAPH_STREAM_STREAM_H
/* Streaming turns a graph over a window of an input into a graph over the hop's new frames. The overlap of windows is
 * state.
 *
 *      full window      y = f(x[0 .. window))
 *      streamed         y, windows' = g(x[window - hop .. window), windows)
 *
 * After `window` frames, y equals the full window's y, bit for bit. */
#include "graph/dag/graph.h"

/* An input and an output of the streamed graph, by index. The two hold the last frames of a tensor before and after the
 * hop. */
typedef struct StreamState { int input, output; } StreamState;

typedef struct Stream {
    int input, axis;                   /* the streamed input and its axis */
    int64_t hop, window;               /* frames */
    /* The results of the pass; is_done is true after it has run. */
    bool is_done;
    int64_t window_macs;               /* multiply-adds of the full window */
    int state_count; const StreamState *state;
} Stream;

/* Reads "AXIS=HOP" or "INPUT.AXIS=HOP". Returns NULL after a diagnostic. */
Stream *stream_request(Ctx *cx, const char *text, Tensor *const *input, int input_count);
/* Runs the pass. A graph without Graph.stream stays. If no frames can be kept, the graph is refused with the reason. */
Graph graph_stream(Ctx *cx, Graph g);
#endif
