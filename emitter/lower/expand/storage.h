/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_STORAGE_H
#define LW_LOWER_STORAGE_H
/* Maps the tensors of a nest to memory: from coordinates to a flat index into a Memory. */
#include "ir/check/check.h"
#include "lower/expand/options.h"
#include "support/map.h"

/* index = offset + sum over d of slot_d * stride[d], with slot_d = coordinate_d - begin[d], modulo ring[d] if that is
 * not 0. */
typedef struct Storage {
    const Memory *memory;
    /* The name of an input that is stored in an output; NULL for the memory's name. */
    const char *name;
    const Scope *scope;                  /* the memory of a buffer; NULL for a parameter of the nest */
    const Expr *offset;
    const Expr *begin[MAX_RANK], *stride[MAX_RANK];
    int64_t ring[MAX_RANK];
    /* 0 if the dimension is not tiled. Otherwise stride[] is the stride of tiles, and within[] the stride of their
     * elements. */
    int64_t tile[MAX_RANK], within[MAX_RANK];
    const Expr *slot;                    /* the offset of the window of an asynchronous copy, or NULL */
    bool is_before;                      /* true if it has the elements of an output before the call */
} Storage;

typedef struct Storages {
    Ctx *cx;
    const Nest *nest;
    const LowerOptions *options;
    Map of;                              /* maps a Tensor to its Storage */
    /* Maps a word of the operators' vocabulary to the number of buffers with this name. */
    Map words;
    /* The numbers used so far in names: x, x2, ...; y; t; acc; work. */
    int input_count, output_count, local_count, acc_count, work_count;
    int memory_count, memory_room;       /* parameters in creation order; Function.memory sorts them */
    const Memory **memory;
    const struct CopyQueue *copies;      /* the asynchronous copies around this place (copy.c) */
    const struct CopyQueue *starting;    /* the one whose start is being expanded, or NULL */
    const struct OpenBuffer *open;       /* the buffers of declared memories around this place, innermost first */
} Storages;

typedef struct OpenBuffer { const struct OpenBuffer *outer; const Memory *memory; } OpenBuffer;

/* Returns storages for the inputs and outputs. */
Storages storages_new(Ctx *cx, const Nest *n, const LowerOptions *options);
/* Starts another version of the nest. The inputs and outputs of both versions share memory. */
void storages_for(Storages *s, const Nest *other);
/* Allocates the buffer of an Alloc; `around` is its enclosing loops. */
const Storage *storage_alloc(Storages *s, const Stmt *alloc, const Bounds *around);
/* Returns the tensor's storage, or NULL if it has none. */
const Storage *storage_of(const Storages *s, const Tensor *t);
const Expr *storage_index(Ctx *cx, const Storage *s, const Tensor *t, const Expr *const *coordinate);
/* Returns the interval of an integer sum and its partial sums if that interval fits the type; then no sum wraps.
 * Returns {0, 0} if the interval is unknown. */
/* Returns the interval of a constant's elements, or {0, 0} if it is not computed. */
Interval constant_range(const Tensor *t);
Interval sum_range(Ctx *cx, const Stage *s, int component);
/* Turns reads into loads, and reads of one-element constants into numbers. */
const Expr *storage_loads(const Storages *s, const Expr *value);

/* Returns scratch memory of the arena that is live for the duration of the function. */
const Memory *storage_workspace(Storages *s, const Expr *bytes);

/* Returns the call of a C function (external.c). */
struct External;
const Code *expand_external(Storages *s, const Stmt *const *above, int depth, const Stmt *tile);
/* An asynchronous copy in the loop that is being expanded: the number of copies that its channel has started so far,
 * and their number at the end of each slot's last start. */
typedef struct CopyQueue {
    const struct CopyQueue *outer;
    const char *name;
    int64_t channel, slots;
    const Expr *slot;                    /* the number of the slot, over the variable of the loop */
    const Memory *started, *ends;
    bool is_back;                        /* true for a copy of results, which is finished when the loop ends */
} CopyQueue;

/* Returns the copies for a statement that moves elements to or from a declared memory (copy.c), or NULL. `scope` holds
 * the loops around it. */
const Code *expand_copy(Storages *s, const Stmt *stmt, const Bounds *scope);
/* Declares the buffers and counters of the asynchronous copies in the loop. `inside` ends with the loop. */
const Code *copy_queues_open(Storages *s, const Stmt *loop, const Bounds *inside);
/* Returns the waits at the end of the loop: for copies of results since `outside`. */
const Code *copy_queues_close(Storages *s, const CopyQueue *outside, const Stmt *loop);
/* Marks the copies that are expanded next as copies of a Start, until it is called with NULL. */
void copy_starting(Storages *s, const Stmt *start);
/* Returns the copy of a Start with a note of its end, over the variable of its loop. */
const Code *copy_start(Storages *s, const Stmt *start, const Code *copy);
const Code *copy_wait(Storages *s, const Stmt *wait);
/* Expands the nest to code: blocks become inits, updates and guards with flat accesses (expand.c). */
const Code *expand_nest(Storages *s);
#endif
