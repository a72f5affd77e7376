/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_SPEC_H
#define LW_GRAPH_TRAIN_SPEC_H
/* The specification of a training step, the value of --train: words separated by blanks, each NAME=VALUE or
 * NAME=VALUE(option, option=number, ...).
 *
 *     loss=cross_entropy optimizer=sgd(rate=0.01, momentum=0.9) update=last
 *
 * A word or option is refused if it is unknown, given twice, or without effect. */
#include <stdbool.h>

#include "support/ctx.h"

enum { MOST_HYPERS = 12, MOST_STATES = 4, MOST_PATTERNS = 64 };

/* A number of an optimizer's options, such as momentum=0.9, or a flag without a number. */
typedef struct HyperRow {
    const char *name;
    double otherwise;                  /* the value if the specification omits the option */
    double least, most;                /* the range of accepted values */
    bool is_flag;
} HyperRow;

/* The new value of a state, or (without a name) of the parameter. In `formula`, G is the gradient's element and X the
 * parameter's, both after weight decay. A state's name is its old value, and NAME_now its new value. In
 * `formula`, the name of an option means the option's value. */
typedef struct UpdateRow { const char *state, *formula; } UpdateRow;

/* A scalar that all parameters share. The scalar starts at 1, and each step multiplies it by the option `factor`. */
typedef struct PowerRow { const char *name, *factor; } PowerRow;

/* A scalar of the step that the updates read by its name. */
typedef struct ScalarRow { const char *name, *formula; } ScalarRow;

typedef struct OptimizerRow {
    const char *name;
    /* The option that selects this row among the rows with its name; NULL for the last one. */
    const char *needs;
    HyperRow hyper[MOST_HYPERS];       /* the options, closed by a row without a name */
    PowerRow power[3];                 /* the powers, closed by a row without a name */
    ScalarRow scalar[3];               /* the scalars, closed by a row without a name */
    UpdateRow update[MOST_STATES];     /* in order of computation; the parameter's update is the last */
    bool decays_apart;                 /* weight_decay shrinks the parameter instead of adding to the gradient */
} OptimizerRow;

typedef struct LossRow {
    const char *name;
    bool has_classes;                  /* true if the target may be the number of a class */
    bool of_probabilities;             /* true if the operator has the attribute `of` */
    int link;                          /* GradientLink: the function whose result the loss reads as probabilities */
} LossRow;

typedef enum UpdateKind { UPDATE_LAST, UPDATE_ALL, UPDATE_BIASES, UPDATE_NAMED } UpdateKind;

typedef struct TrainSpec {
    const char *text;
    const LossRow *loss;
    /* `of` is "logits" or "probabilities", `target` is "classes" or "probabilities", and `output` is the name of an
     * output. Each is NULL if the graph decides. */
    const char *of, *target, *output;
    const OptimizerRow *optimizer;
    double hyper[MOST_HYPERS];         /* indexed like the rows of optimizer->hyper */
    UpdateKind update;
    /* The rank of the paths that are trained instead of the selected layers; 0 if there are none. */
    int lora_rank;
    int pattern_count; const char *pattern[MOST_PATTERNS];
    /* True if the step has dropouts, or norms, in training form; norms require a batch above 1. */
    bool has_dropout, has_norms;
    int accumulate;                    /* the number of samples per update */
} TrainSpec;

/* Reads a specification. Returns false after a diagnostic that quotes the wrong word. */
bool train_spec_read(Ctx *cx, const char *text, TrainSpec *out);
/* Returns the number of an option of the optimizer, or 0 if it has no such option. */
double train_hyper(const TrainSpec *s, const char *name);
#endif
