/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_EXTERNAL_VIEW_H
#define LW_IR_CHECK_EXTERNAL_VIEW_H
/* The part of a tensor that an external call gets (ir/nest/external.h): the elements that the statement below the call
 * computes or reads in one iteration of the loops around it. */
#include "ir/algebra/algebra.h"
#include "ir/nest/external.h"

/* The indices begin[d] to begin[d] + count[d] - 1 of each dimension, over the loops around the call. */
typedef struct ExternalView { const Expr *begin[MAX_RANK], *count[MAX_RANK]; } ExternalView;

/* `above` encloses the call, outermost first. Outside all loops, the view is the whole tensor. Returns false if the
 * statement is not shown to compute or read exactly such a part; *why is then the reason. */
bool external_view(Ctx *cx, const Stmt *const *above, int depth, const Stmt *call, const Tensor *t, ExternalView *out,
                   const char **why);
bool external_is_in_loop(const Stmt *const *above, int depth);
#endif
