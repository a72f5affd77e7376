/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_TRAIN_SPEC_H
#define LW_GRAPH_TRAIN_SPEC_H
/* The specification of a training step, the value of --train: words separated by blanks, each NAME=VALUE or
 * NAME=VALUE(option, option=number, ...).
 *
 *     loss=cross_entropy optimizer=sgd(rate=0.01, momentum=0.9) update=last
 *
 * A word or option that is unknown, twice, or without effect is refused. */
#include <stdbool.h>

#include "support/ctx.h"

enum { MOST_HYPERS = 12, MOST_STATES = 4, MOST_PATTERNS = 64 };

/* A number of an optimizer's options, e.g. momentum=0.9, or a flag without a number. */
typedef struct HyperRow {
    const char *name;
    double otherwise;                  /* its value where the specification leaves it out */
    double least, most;                /* accepted */
    bool is_flag;
} HyperRow;

/* The new value of a state, or (without a name) of the parameter. In `formula`, G is the gradient's element and X the
 * parameter's, both after weight decay; a state's name is its old value and NAME_now the new one; names of options are
 * their numbers. */
typedef struct UpdateRow { const char *state, *formula; } UpdateRow;

/* A scalar that all parameters share, and that each step multiplies by the option `factor`, from 1. */
typedef struct PowerRow { const char *name, *factor; } PowerRow;

/* A scalar of the step that the updates read by its name. */
typedef struct ScalarRow { const char *name, *formula; } ScalarRow;

typedef struct OptimizerRow {
    const char *name;
    const char *needs;                 /* the option that selects this row among those of the name; NULL: the last */
    HyperRow hyper[MOST_HYPERS];       /* closed by a row without name */
    PowerRow power[3];                 /* closed by a row without name */
    ScalarRow scalar[3];               /* closed by a row without name */
    UpdateRow update[MOST_STATES];     /* in order of computation, up to the parameter's */
    bool decays_apart;                 /* weight_decay shrinks the parameter, instead of adding to the gradient */
} OptimizerRow;

typedef struct LossRow {
    const char *name;
    bool has_classes;                  /* the target may be the number of a class */
    bool of_probabilities;             /* the operator has the attribute `of` */
    int link;                          /* GradientLink: the function whose result it takes as probabilities */
} LossRow;

typedef enum UpdateKind { UPDATE_LAST, UPDATE_ALL, UPDATE_BIASES, UPDATE_NAMED } UpdateKind;

typedef struct TrainSpec {
    const char *text;
    const LossRow *loss;
    const char *of, *target, *output;  /* "logits", "probabilities"; "classes", "probabilities"; NULL: by the graph */
    const OptimizerRow *optimizer;
    double hyper[MOST_HYPERS];         /* by the rows of optimizer->hyper */
    UpdateKind update;
    int lora_rank;                     /* of the paths that are trained beside the selected layers; 0: none */
    int pattern_count; const char *pattern[MOST_PATTERNS];
    bool has_dropout, has_norms;       /* the step has them in training form; norms only if the batch is above 1 */
    int accumulate;                    /* samples for each update */
} TrainSpec;

/* False after a diagnostic that quotes the wrong word. */
bool train_spec_read(Ctx *cx, const char *text, TrainSpec *out);
/* The number of an option of the optimizer; 0: it has no such option */
double train_hyper(const TrainSpec *s, const char *name);
#endif
