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
    Map value;                     /* Var of a size -> the output of its bind_size */
    Map of_key;                    /* an importer's description of a size -> the size */
} Decided;

Decided decided_new(Ctx *cx);
/* Another size of the model has the name. */
void decided_take_name(Decided *d, const char *size_name);
/* Returns the size whose value is `count`, one i64, or has other integers. One above `greatest` or below `least` ends
 * the run. Counts of one tensor are one size. */
const Expr *decided_size(Decided *d, const char *wanted_name, Tensor *count, int64_t least, int64_t greatest);
/* Returns a tensor without dimensions that computes an expression over sizes, some decided by the run. */
Tensor *decided_value(Decided *d, const char *name, const Expr *size, DType type);
/* Returns x with one of these sizes along the axis: its first elements. */
Tensor *decided_cut(Decided *d, const char *name, Tensor *x, int axis, const Expr *size);
/* Returns x, computed after a test of the run that `value`, one integer, is in the range. */
Tensor *decided_provided(Decided *d, const char *name, Tensor *x, Tensor *value, int64_t least, int64_t greatest);
/* Returns x, to be computed after the sizes have their values; x itself if its own shape has them. */
Tensor *decided_after(Decided *d, const char *name, Tensor *x, const Expr *const *size, int count);
/* Returns the number of elements of a constant that are not 0: its selection has a size known to the compiler. */
int64_t decided_nonzero_count(const Tensor *x);

#endif
