/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_TRAIN_H
#define LW_GRAPH_TRAIN_TRAIN_H
/* Builds a training step as dataflow. A network and a specification give two graphs over the same parameters:
 *
 *   inference   (x, params)               -> y
 *   step        (x, target, params)       -> (loss, params')
 *
 * Fusion, strategies and the plan treat both like any other graph. A parameter and its new value are a pair
 * (Graph.update) that shares memory, so an update is computed in place. Optimizer state is a parameter that inference
 * does not read. Tensors that are not trained stay constants. */
#include "graph/dag/graph.h"
#include "graph/train/spec.h"

/* A tensor of struct NAME_params. */
typedef struct TrainParam {
    const char *name;                  /* a unique C identifier from the layer and its role: "dense_w" */
    const char *what;                  /* the kind, such as "weights" or "momentum", for comments and the report */
    Tensor *value;                     /* the input of both graphs */
    const Tensor *initial;             /* the initial value; NULL means zeros */
    Tensor *next;                      /* the value after the step, or NULL if the step does not change the tensor */
    bool is_read;                      /* true if inference reads the tensor */
    bool is_trained;                   /* true for a parameter of the network; false for a state of the step */
    const Tensor *operand;             /* the tensor that the layer of the parameter multiplies, or NULL */
} TrainParam;

typedef struct Training {
    TrainSpec spec;
    int param_count; TrainParam *param;
    Tensor *steps;                     /* counts steps, for random numbers; NULL if the step uses none */
    int target;                        /* the index of the target among the inputs of the step */
    int64_t class_count;               /* if the target's elements are classes: the number of classes; otherwise 0 */
    /* The two graphs. The inputs of `step` are the model's, the target, and all parameters in order; `inference` has no
     * target, and only the parameters that it reads. */
    Graph inference, step;
} Training;

/* A constant that the step trains. */
typedef struct Trainable {
    Tensor *constant;
    /* The constant's first consumer, and the call with weights to which the constant belongs. */
    const Node *call, *layer;
    int input;                         /* the index of the constant among the inputs of `call` */
    bool is_bias;
    const char *name, *role;           /* such as "dense_w" and "w" */
} Trainable;

/* The checkpoints of a step are tensors of the graph that it stores; the calls before them are computed again for the
 * adjoints. The sparing form computes them again for each adjoint. The sparing form stores the gradients of the
 * parameters that these computations read, so that their updates may wait. The sparing form orders its groups by the
 * bytes that are live (Graph.spares_memory). The form that repeats computes a gradient once for each state of the
 * optimizer that reads it. */
typedef struct StepForm { int count; Tensor *const *checkpoint; bool is_sparing, repeats; } StepForm;

/* Builds the training step of a float graph whose constants are folded. Returns NULL after a diagnostic. */
Training *training_new(Ctx *cx, const char *spec, const Graph *g, const StepForm *form);

/* Like training_new, for a graph whose last `count` inputs are the parameters. Reads only the fields constant, name and
 * role of `part`; the word `update` has no effect. */
Training *training_of_inputs(Ctx *cx, const char *spec, const Graph *g, const Trainable *part, int count);

/* Returns the logits if y is the function of logits that a loss links to (OpGradient.link), such as softmax over the
 * last axis. Views that keep this axis may be in between. Returns NULL otherwise. */
const Tensor *train_logits(const Tensor *y, int link);
/* Returns the cross entropy of y. If y is the softmax of logits, the cross entropy is computed from the logits. If a
 * different function computes y, y is read as probabilities; otherwise y is read as logits. */
Tensor *train_cross_entropy(Ctx *cx, Tensor *y, Tensor *target);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* Finds the constants that the specification trains, in order of their first use (select.c). */
int train_select(Ctx *cx, const TrainSpec *s, const Graph *g, Tensor *y, Trainable **out);
/* Returns true if the pattern matches the name of the layer, the parameter or its constant (select.c). */
bool train_is_named(const Trainable *p, const char *pattern);

/* Returns the graph without the calls of a role, which are replaced by their inputs (forms.c). */
Graph train_without(Ctx *cx, Graph g, int role);
/* Appends the running averages of norms to the parts and returns their number (forms.c). */
int train_running(Ctx *cx, const Graph *g, Trainable **part, int count);
/* Returns the training form of dropouts and norms, and creates the new values of running averages (forms.c). */
Graph train_forms(Ctx *cx, Training *t, Graph g);

/* Gives each selected layer a path of low rank in the graph, and selects the factors of the path instead of the layer.
 * Returns the number of factors (adapt.c). */
int train_adapt(Ctx *cx, const TrainSpec *s, Graph *g, Trainable **part, int count);

/* Creates the new values of all parameters and the optimizer's state, and adds the state to t->param (update.c). With
 * `repeats`, each state that reads a gradient computes the gradient again, so that it is not stored. */
void train_update(Ctx *cx, Training *t, Tensor *const *gradient, int count, bool repeats);
#endif
