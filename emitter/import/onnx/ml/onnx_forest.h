/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_FOREST_H
#define LW_IMPORT_ONNX_FOREST_H
/* Represents an ensemble of trees as branches and leaves, and computes its scores as calls. onnx_trees.c reads it from
 * the file. */
#include "import/onnx/graph/onnx_ops.h"

typedef enum Compare { LE, LT, GE, GT } Compare;

/* A node: a condition on a feature, or a leaf. */
typedef struct Branch {
    bool is_leaf;
    Compare compare;
    int64_t feature;
    double value;
    int yes, no;                     /* indices of the children; -1 for a leaf */
    int first, count;                /* for a leaf: the pairs of target and weight */
    /* at: position in the emitted order, or -1 if not yet placed; depth: steps from this node to the deepest leaf */
    int at, depth;
    bool is_open;                    /* true while its descendants are emitted */
} Branch;

typedef struct Pair { int leaf; int64_t target; double weight; } Pair;

typedef struct Forest {
    OnnxCall *c;
    Tensor *x;
    int count, capacity; Branch *branch;
    int trees; int *root;
    int64_t targets;
    int pairs; Pair *pair;
    bool uses[4];                    /* by Compare */
    /* order: the branches in the order of the arrays; end: the end of each tree */
    int emitted, *order, *end, steps;
} Forest;

/* States how weights are combined into the score of a target. */
typedef struct Aggregate { const char *name, *reduce; double none; bool divides; } Aggregate;
enum { AGGREGATE_SUM = 1, AGGREGATES = 4 };
extern const Aggregate onnx_aggregates[AGGREGATES];          /* the rows AVERAGE, SUM, MIN, MAX */

int onnx_forest_add(Forest *f, Branch b);                    /* returns the branch's index */
DType onnx_forest_weights(const Forest *f);                  /* returns the type of weights and scores */
/* Returns the scores [n][targets], without base values. The caller gives branches, roots and pairs. */
Tensor *onnx_forest_scores(Forest *f, const Aggregate *a);

#endif
