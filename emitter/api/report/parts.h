/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_PARTS_H
#define LW_API_REPORT_PARTS_H
/* Facts about the emitted program in addition to its figures: buffers, the text of functions, operators without
 * code. */
#include "api/figures.h"
#include "support/map.h"

/* buffers.c: a buffer of the arena that is live from layer `first` to layer `last` of the model's graph. offset, bytes:
 * in bytes; the memories of --memory follow each other. layer: the first layer that writes it, or -1 for an input.
 * in_place_of: an earlier buffer that is still read while this buffer reuses some of its bytes, or -1. */
typedef struct ReportBuffer {
    const char *name;
    const Slot *root;                        /* NULL for scratch memory of one layer */
    int64_t bytes, offset;
    int first, last, layer, in_place_of;
} ReportBuffer;
typedef struct ReportBuffers { int count; const ReportBuffer *at; } ReportBuffers;
ReportBuffers report_buffers(const Build *b);
/* Returns the index of the buffer that holds the parameter of the group's function, or -1 if it is not in the arena. */
int report_buffer_of(const Build *b, const ReportBuffers *all, int group, const Memory *m);
/* Returns the offset of the parameter in the arena; the parameter has a buffer. */
int64_t report_offset_of(const Build *b, int group, const Memory *m);

/* functions.c: the text of a function of a layer in model.c, without its comment; `comment` is that comment without
 * asterisks. */
typedef struct ReportFunction { int first_line, last_line; const char *comment, *text; } ReportFunction;
/* Maps the names of the functions to ReportFunction. */
Map report_functions(const Build *b);

/* removed.c: an operator of the model that has no code in the emitted program, with the reason. */
typedef struct Removed { const Node *node; const char *why; } Removed;
int report_removed(const Build *b, const Removed **out);
#endif
