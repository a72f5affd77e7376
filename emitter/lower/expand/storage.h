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
    const char *name;                    /* of an input that is stored in an output; NULL: the memory's name */
    const Expr *offset;
    const Expr *begin[MAX_RANK], *stride[MAX_RANK];
    int64_t ring[MAX_RANK];
    /* 0: not tiled; otherwise stride[] is of tiles and within[] of their elements */
    int64_t tile[MAX_RANK], within[MAX_RANK];
} Storage;

typedef struct Storages {
    Ctx *cx;
    const Nest *nest;
    const LowerOptions *options;
    Map of;                              /* Tensor -> Storage */
    Map words;                           /* word of the operators' vocabulary -> number of buffers named by it */
    /* numbers used so far: x, x2, ...; y; t; acc; work */
    int input_count, output_count, local_count, acc_count, work_count;
    int memory_count, memory_room;       /* parameters in creation order; Function.memory sorts them */
    const Memory **memory;
} Storages;

/* Returns storages for the inputs and outputs. */
Storages storages_new(Ctx *cx, const Nest *n, const LowerOptions *options);
/* Starts another version of the nest. Its inputs and outputs share the memory of the current version. */
void storages_for(Storages *s, const Nest *other);
/* Allocates the buffer of an Alloc; `around` is its enclosing loops. */
const Storage *storage_alloc(Storages *s, const Stmt *alloc, const Bounds *around);
const Storage *storage_of(const Storages *s, const Tensor *t);                  /* NULL if it has none */
const Expr *storage_index(Ctx *cx, const Storage *s, const Tensor *t, const Expr *const *coordinate);
/* Returns the interval of an integer sum and its partial sums if it fits its type: then no sum wraps. {0, 0}:
 * unknown. */
Interval sum_range(Ctx *cx, const Stage *s, int component);
/* Turns reads into loads, and elements of one-element constants into their numbers. */
const Expr *storage_loads(const Storages *s, const Expr *value);

/* Scratch memory of the arena, for the duration of the function. */
const Memory *storage_workspace(Storages *s, const Expr *bytes);

/* external.c: the call of a C function. */
struct External;
const Code *expand_external(Storages *s, const struct External *e);
/* expand.c: Expands the nest to code: blocks become inits, updates and guards with flat accesses. */
const Code *expand_nest(Storages *s);
#endif
