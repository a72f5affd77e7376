/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_DECIDED_H
#define LW_IMPORT_DECIDED_H
/* Sizes that the run decides, for importers. A size is the value of a tensor, its count; the call bind_size binds both
 * (ops/move/sizes.c). */
#include "graph/dag/op.h"
#include "support/map.h"

typedef struct Decided {
    Ctx *cx;
    Map taken;                     /* names of sizes */
    Map of_count;                  /* count tensor -> its size */
    Map value;                     /* size in a region -> the output of its bind_size, or the input with its value */
    Map of_key;                    /* an importer's description of a size -> the size */
    const void *region;            /* whose graph is imported: calls read the values that it has; NULL: none */
} Decided;

Decided decided_new(Ctx *cx);
/* Another size of the model has the name. */
void decided_take_name(Decided *d, const char *size_name);
/* Returns the value of a size in a region's graph; NULL: the graph neither computes nor takes it. */
Tensor *decided_value_in(const Decided *d, const Expr *size, const void *region);
void decided_enter_value(Decided *d, const Expr *size, const void *region, Tensor *value);
/* Returns the size that an importer's key denotes in the graph that is imported; NULL: none. */
const Expr *decided_find(const Decided *d, const void *key, size_t bytes);
void decided_keep(Decided *d, const void *key, size_t bytes, const Expr *size);
/* True if the region's graph computes a size of the expression. */
bool decided_inside(const Decided *d, const Expr *size, const void *region);
/* Calls `visit` for each size of the expression that the run decides. */
void decided_visit(Ctx *cx, const Expr *size, void (*visit)(const Expr *size, void *user), void *user);
/* Returns the size whose value is `count`, one i64, or has other integers. One above `greatest` or below `least` ends
 * the run, with a message about `what`. Counts of one tensor are one size. */
const Expr *decided_size(Decided *d, const char *wanted_name, const char *what, Tensor *count, int64_t least,
                         int64_t greatest);
/* Returns a tensor without dimensions that computes an expression over sizes, some decided by the run. */
Tensor *decided_value(Decided *d, const char *name, const Expr *size, DType type);
/* Returns x with one of these sizes along the axis: its first elements. */
Tensor *decided_cut(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x with the size `size` along the axis, which has the value of x's own: the same memory. */
Tensor *decided_as(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x with the size `size` along the axis, which x's own one equals, or is 1: its element is then repeated. */
Tensor *decided_stretched(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x, which has at least that many elements along the axis, or the run ends. */
Tensor *decided_at_least(Decided *d, const char *name, Tensor *x, int axis, int64_t least);
/* Returns x, computed after a test of the run that `value`, one integer, is in the range. */
Tensor *decided_provided(Decided *d, const char *name, Tensor *x, Tensor *value, int64_t least, int64_t greatest);
/* Returns x, to be computed after the sizes have their values; x itself if its own shape has them. */
Tensor *decided_after(Decided *d, const char *name, Tensor *x, const Expr *const *size, int count);
/* Looks through views and concatenations, which move the elements of a list. *at is the element, before and after. */
Tensor *decided_origin(Tensor *list, int64_t *at);
/* Returns the number of elements of a constant that are not 0: its selection has a size known to the compiler. */
int64_t decided_nonzero_count(const Tensor *x);

#endif
