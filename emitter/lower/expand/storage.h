/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_STORAGE_H
#define LW_LOWER_STORAGE_H
/* Where the elements of a nest's tensors lie: from tensor coordinates to a flat index into a Memory. */
#include "ir/check/check.h"
#include "lower/expand/options.h"
#include "support/map.h"

/* index = offset + sum over d of slot_d * stride[d], slot_d = (coordinate_d - begin[d]), modulo ring[d] where that is not 0. */
typedef struct Storage {
    const Memory *memory;
    const Expr *offset;
    const Expr *begin[MAX_RANK], *stride[MAX_RANK];
    int64_t ring[MAX_RANK];
    int64_t tile[MAX_RANK], within[MAX_RANK];   /* 0: plain; else the stride is of blocks, `within` of their elements */
} Storage;

typedef struct Storages {
    Ctx *cx;
    const Nest *nest;
    const LowerOptions *options;
    Map of;                              /* Tensor -> Storage */
    Map words;                           /* names of buffers that operators have words for -> how many there are */
    int input_count, output_count, local_count, acc_count;   /* named so far: x, x2, ...; y; t; acc */
    int memory_count, memory_room;       /* parameters made, in the order of Function.memory but for sorting */
    const Memory **memory;
} Storages;

Storages storages_new(Ctx *cx, const Nest *n, const LowerOptions *options);     /* with places for the inputs and outputs */
/* Another version of the nest is next: its inputs and outputs have the places of this one's. */
void storages_for(Storages *s, const Nest *other);
/* For the buffer of an Alloc; `around`: the loops that it stands in. */
const Storage *storage_alloc(Storages *s, const Stmt *alloc, const Bounds *around);
const Storage *storage_of(const Storages *s, const Tensor *t);                  /* NULL: has none */
const Expr *storage_index(Ctx *cx, const Storage *s, const Tensor *t, const Expr *const *coordinate);
/* What a sum of integers and its partial sums lie in, where that is in its type: then nothing wraps. {0, 0}: not known. */
Interval sum_range(Ctx *cx, const Stage *s);
/* Reads become loads. Elements of constants with one element become that number. */
const Expr *storage_loads(const Storages *s, const Expr *value);

/* expand.c: the nest as code: blocks spelled out with inits, updates and guards; accesses flat. */
const Code *expand_nest(Storages *s);
#endif
