/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_OPTIONS_H
#define LW_LOWER_OPTIONS_H
/* Options of lowering. */
#include "ir/nest/code.h"

/* The layout of an input or output that is a view into a larger tensor (an operand of a concatenation, a slice). Offset
 * and strides are in elements. */
typedef struct View {
    const Tensor *tensor;
    int64_t offset, stride[MAX_RANK], elems;
    const Tensor *within;              /* for an input, the output of the nest that holds it, or NULL */
    bool is_before;                    /* true if the input has the output's elements before the call */
} View;

typedef struct LowerOptions {
    const View *view; int view_count;
    /* True if the plan lets an input alias the output, so that no parameter is restrict. */
    bool inputs_alias_output;
    /* True if tensors keep their names in the nest; otherwise their roles name them: x, k, y. */
    bool keeps_names;
    /* The 32-bit elements of a vector register of the target. 0 if vector loops remain loops. */
    int lanes;
    /* The vector registers in which operands of a tile are kept (Target.vector_registers). 0 if the C compiler
     * decides. */
    int registers;
    int64_t code_budget;               /* the maximum growth by loop partition, in statements; 0 for the default */
    const char *until;                 /* the last pass to run, for `dump --at pass:NAME`; NULL to run all passes */
    struct Watch *watch;               /* for --time-passes, or NULL */
} LowerOptions;
#endif
