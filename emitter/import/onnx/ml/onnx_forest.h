/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_FOREST_H
#define LW_IMPORT_ONNX_FOREST_H
/* An ensemble of trees as branches and leaves, and its scores as calls. onnx_trees.c reads it from the file. */
#include "import/onnx/graph/onnx_ops.h"

typedef enum Compare { LE, LT, GE, GT } Compare;

/* A node: a condition on a feature, or a leaf. */
typedef struct Branch {
    bool is_leaf;
    Compare compare;
    int64_t feature;
    double value;
    int yes, no;                     /* indices of branches; a leaf: -1 */
    int first, count;                /* a leaf: its pairs of target and weight */
    int at, depth;                   /* in the emitted order, -1: not yet; steps from here to the deepest leaf */
    bool is_open;                    /* its descendants are being emitted */
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
    int emitted, *order, *end, steps;        /* order: branches in the order of the arrays; end: each tree's */
} Forest;

/* How weights add up to the score of a target. */
typedef struct Aggregate { const char *name, *reduce; double none; bool divides; } Aggregate;
enum { AGGREGATE_SUM = 1, AGGREGATES = 4 };
extern const Aggregate onnx_aggregates[AGGREGATES];          /* AVERAGE, SUM, MIN, MAX */

int onnx_forest_add(Forest *f, Branch b);                    /* returns the branch's index */
DType onnx_forest_weights(const Forest *f);                  /* the type of weights and scores */
/* Returns the scores [n][targets], without base values. Branches, roots and pairs are given. */
Tensor *onnx_forest_scores(Forest *f, const Aggregate *a);

#endif
