/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_TRAIN_H
#define LW_GRAPH_TRAIN_TRAIN_H
/* A training step as dataflow. From a network and a specification follow two graphs over the same parameters:
 *
 *   inference   (x, params)               -> y
 *   step        (x, target, params)       -> (loss, params')
 *
 * Both are graphs like any other to fusion, strategies and the plan. A parameter and its new value are a pair
 * (Graph.update) that shares memory, so an update is computed in place. Optimizer state is a parameter that inference
 * does not read. Everything that is not trained stays a constant. */
#include "graph/dag/graph.h"
#include "graph/train/spec.h"

/* A tensor of struct NAME_params. */
typedef struct TrainParam {
    const char *name;                  /* C identifier, unique: of the layer and its role, "dense_w" */
    const char *what;                  /* "weights", "momentum": for comments and the report */
    Tensor *value;                     /* the input of both graphs */
    const Tensor *initial;             /* NULL: zeros */
    Tensor *next;                      /* its value after the step; NULL: the step does not change it */
    bool is_read;                      /* by inference */
    bool is_trained;                   /* a parameter of the network; otherwise a state of the step */
    const Tensor *operand;             /* the tensor that its layer multiplies; NULL: none */
} TrainParam;

typedef struct Training {
    TrainSpec spec;
    int param_count; TrainParam *param;
    Tensor *steps;                     /* counts steps, for random numbers; NULL: there are none */
    int target;                        /* index of the target among the inputs of the step */
    int64_t class_count;               /* the target's elements are classes, 0 to below that; 0: they are others */
    Graph inference, step;             /* inputs: the model's, the target, the parameters in order */
} Training;

/* A constant that is trained. */
typedef struct Trainable {
    Tensor *constant;
    const Node *call, *layer;          /* its first consumer; the call with weights that it belongs to */
    int input;                         /* of call */
    bool is_bias;
    const char *name, *role;           /* "dense_w", "w" */
} Trainable;

/* The checkpoints of a step: tensors of the graph that it stores; the calls before them are computed again for the
 * adjoints. The sparing form computes them again for each adjoint, stores the gradients of the parameters that this
 * reads, so that their updates may wait, and orders its groups by the bytes that are live (Graph.spares_memory). The
 * form that repeats computes a gradient for each state of the optimizer that reads it. */
typedef struct StepForm { int count; Tensor *const *checkpoint; bool is_sparing, repeats; } StepForm;

/* Splits a float graph whose constants are folded. NULL after a diagnostic. */
Training *training_new(Ctx *cx, const char *spec, const Graph *g, const StepForm *form);

/* training_new for a graph whose last `count` inputs are the parameters. Only constant, name and role of `part` are
 * read; the word update has no effect. */
Training *training_of_inputs(Ctx *cx, const char *spec, const Graph *g, const Trainable *part, int count);

/* The logits of which y is the function that a loss links to (OpGradient.link), such as softmax over the last axis,
 * through views that keep this axis; NULL: y is none. */
const Tensor *train_logits(const Tensor *y, int link);
/* Returns the cross entropy of y. If y is the softmax of logits, it is computed from the logits; if another function
 * computes y, from y as probabilities; otherwise from y as logits. */
Tensor *train_cross_entropy(Ctx *cx, Tensor *y, Tensor *target);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* select.c: finds the constants that the specification trains, in order of their first use. */
int train_select(Ctx *cx, const TrainSpec *s, const Graph *g, Tensor *y, Trainable **out);
/* select.c: true if the pattern matches the name of the layer, the parameter or its constant. */
bool train_is_named(const Trainable *p, const char *pattern);

/* forms.c: the graph without the calls of a role, which are replaced by their inputs. */
Graph train_without(Ctx *cx, Graph g, int role);
/* forms.c: appends the running averages of norms to the parts. Returns their number. */
int train_running(Ctx *cx, const Graph *g, Trainable **part, int count);
/* forms.c: the training form of dropouts and norms. Creates the new values of running averages. */
Graph train_forms(Ctx *cx, Training *t, Graph g);

/* adapt.c: gives each selected layer a path of low rank, in the graph, and selects its factors instead. Returns their
 * number. */
int train_adapt(Ctx *cx, const TrainSpec *s, Graph *g, Trainable **part, int count);

/* update.c: creates the new values of all parameters and the optimizer's state, which it adds to t->param. `repeats`:
 * states that read the same gradient compute it once each, so that it is not stored. */
void train_update(Ctx *cx, Training *t, Tensor *const *gradient, int count, bool repeats);
#endif
