/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_OPTIONS_H
#define LW_LOWER_OPTIONS_H
/* What lowering is told besides the nest. */
#include "ir/nest/code.h"

/* How the storage of a nest's inputs and outputs is laid out when it is not a plain row-major tensor of its own: a view
 * into a larger tensor (an operand of a concatenation, a slice). Strides in elements. */
typedef struct View { const Tensor *tensor; int64_t offset; int64_t stride[MAX_RANK]; int64_t elems; } View;

typedef struct LowerOptions {
    const View *view; int view_count;
    bool inputs_alias_output;          /* the plan lets an input share the output's memory: no restrict */
    bool keeps_names;                  /* tensors are called what they are in the nest, instead of x, k, y by their role */
    int lanes;                         /* 32-bit elements in a vector register of the target; 0: vector loops stay loops */
    int64_t code_budget;               /* largest growth by loop partition, in statements; 0: default */
    const char *until;                 /* the last pass that runs, for `dump --at pass:NAME`; NULL: all of them */
    struct Watch *watch;               /* for --time-passes, or NULL */
} LowerOptions;
#endif
