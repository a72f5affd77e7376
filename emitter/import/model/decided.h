/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_DECIDED_H
#define LW_IMPORT_DECIDED_H
/* Handles sizes that the run decides, for importers. A size is the value of a tensor, its count; the call bind_size
 * binds both (ops/move/sizes.c). */
#include "graph/dag/op.h"
#include "support/map.h"

typedef struct Decided {
    Ctx *cx;
    Map taken;                     /* the names of sizes that are in use */
    Map of_count;                  /* maps a tensor with a count to the size */
    /* maps a size in a region to the output of its bind_size, or to the input with its value */
    Map value;
    Map of_key;                    /* maps an importer's description of a size to the size */
    /* the region whose graph is imported; its calls read the region's values. NULL if there is none */
    const void *region;
} Decided;

Decided decided_new(Ctx *cx);
/* Marks the name as taken by a different size of the model. */
void decided_take_name(Decided *d, const char *size_name);
/* Returns the value of a size in a region's graph, or NULL if the graph neither computes nor receives it. */
Tensor *decided_value_in(const Decided *d, const Expr *size, const void *region);
void decided_enter_value(Decided *d, const Expr *size, const void *region, Tensor *value);
/* Returns the size that an importer's key denotes in the graph that is imported, or NULL if there is none. */
const Expr *decided_find(const Decided *d, const void *key, size_t bytes);
void decided_keep(Decided *d, const void *key, size_t bytes, const Expr *size);
/* Returns true if the region's graph computes a size of the expression. */
bool decided_inside(const Decided *d, const Expr *size, const void *region);
/* Calls `visit` for each size of the expression that the run decides. */
void decided_visit(Ctx *cx, const Expr *size, void (*visit)(const Expr *size, void *user), void *user);
/* Returns the size whose value is `count`, a single integer of any type. A value above `greatest` or below `least` ends
 * the run, with a message about `what`. Equal tensors `count` give one size. */
const Expr *decided_size(Decided *d, const char *wanted_name, const char *what, Tensor *count, int64_t least,
                         int64_t greatest);
/* Returns a tensor without dimensions that computes an expression over sizes, some decided by the run. */
Tensor *decided_value(Decided *d, const char *name, const Expr *size, DType type);
/* Returns x with one of these sizes along the axis: its first elements. */
Tensor *decided_cut(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x with the size `size` along the axis; x's own size has the same value, so both share memory. */
Tensor *decided_as(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x with the size `size` along the axis. x's own size is either equal to `size` or 1; if it is 1, x's element
 * is repeated. */
Tensor *decided_stretched(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x; the run ends if x has fewer than `least` elements along the axis. */
Tensor *decided_at_least(Decided *d, const char *name, Tensor *x, int axis, int64_t least);
/* Returns x, computed after a test of the run that `value`, one integer, is in the range. */
Tensor *decided_provided(Decided *d, const char *name, Tensor *x, Tensor *value, int64_t least, int64_t greatest);
/* Returns x, to be computed after the sizes have their values; returns x itself if its own shape has these sizes. */
Tensor *decided_after(Decided *d, const char *name, Tensor *x, const Expr *const *size, int count);
/* Returns the tensor that holds element *at of a list, before views and concatenations; *at becomes the index in that
 * tensor. */
Tensor *decided_origin(Tensor *list, int64_t *at);
/* Returns the number of elements of a constant that are not 0. This number is the compile-time size of a selection by
 * the constant. */
int64_t decided_nonzero_count(const Tensor *x);

#endif
