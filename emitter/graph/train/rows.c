/* SPDX-License-Identifier: MIT */
/* Adam is from Kingma and Ba 2014, with epsilon outside the correction or inside it; AdamW is from Loshchilov and
 * Hutter 2017. */
#include "graph/train/rows.h"

#include "graph/dag/op.h"

const LossRow train_loss_rows[] = {
    { "cross_entropy", true, true, LINK_SOFTMAX },
    { "binary_cross_entropy", false, true, LINK_SIGMOID },
    { "mse", false, false, LINK_NONE },
    { "mae", false, false, LINK_NONE },
    { "hinge", false, false, LINK_NONE },
    { 0 }
};

/* Options of every optimizer. A rate of 0 trains nothing, as between two phases. */
#define COMMON(default_rate, default_decay) \
    { "rate", default_rate, 0, 1e6, false }, { "weight_decay", default_decay, 0, 1, false }, \
    { "clip", 0, 0, 1e30, false }, { "clip_norm", 0, 0, 1e30, false }, { "skip_nonfinite", 0, 0, 1, true }

#define SGD_HYPERS { COMMON(0.01, 0), { "momentum", 0, 0, 1, false }, { "nesterov", 0, 0, 1, true } }
#define VELOCITY { "velocity", "momentum * velocity[*] + G" }

/* The formulas and defaults are Keras'; `pytorch` selects PyTorch's. PyTorch's Adam divides the mean of squares by 1 -
 * beta2^t before it adds epsilon to the root. Here, epsilon is multiplied by the root of 1 - beta2^t instead. */
#define OF_PYTORCH { "pytorch", 0, 0, 1, true }
#define ADAM_HYPERS(decay, epsilon) \
    { COMMON(0.001, decay), { "beta1", 0.9, 0, 0.999999, false }, { "beta2", 0.999, 0, 0.999999, false }, \
      { "epsilon", epsilon, 1e-30, 1, false }, OF_PYTORCH }
#define ADAM_UPDATES(small) \
    { { "mean", "beta1 * mean[*] + (1 - beta1) * G" }, { "square", "beta2 * square[*] + (1 - beta2) * (G * G)" }, \
      { NULL, "X - step * mean_now[*] / (sqrt(square_now[*]) + " small ")" } }
#define ADAM_POWERS { { "power1", "beta1" }, { "power2", "beta2" } }
#define ADAM_STEP { "step", "rate * sqrt(1 - power2_now) / (1 - power1_now)" }
#define ADAM_OF_KERAS(decay) \
    .hyper = ADAM_HYPERS(decay, 1e-7), .power = ADAM_POWERS, .scalar = { ADAM_STEP }, .update = ADAM_UPDATES("epsilon")
#define ADAM_OF_PYTORCH(decay) \
    .needs = "pytorch", .hyper = ADAM_HYPERS(decay, 1e-8), .power = ADAM_POWERS, \
    .scalar = { ADAM_STEP, { "small", "epsilon * sqrt(1 - power2_now)" } }, .update = ADAM_UPDATES("small")
#define RMSPROP(decay, epsilon) \
    .hyper = { COMMON(0.001, 0), { "decay", decay, 0, 0.999999, false }, { "epsilon", epsilon, 1e-30, 1, false }, \
               OF_PYTORCH }, \
    .update = { { "square", "decay * square[*] + (1 - decay) * (G * G)" }, \
                { NULL, "X - rate * G / (sqrt(square_now[*]) + epsilon)" } }

const OptimizerRow train_optimizer_rows[] = {
    { .name = "sgd", .needs = "nesterov", .hyper = SGD_HYPERS,
      .update = { VELOCITY, { NULL, "X - rate * (G + momentum * velocity_now[*])" } } },
    { .name = "sgd", .needs = "momentum", .hyper = SGD_HYPERS,
      .update = { VELOCITY, { NULL, "X - rate * velocity_now[*]" } } },
    { .name = "sgd", .hyper = SGD_HYPERS, .update = { { NULL, "X - rate * G" } } },
    { .name = "adam", ADAM_OF_PYTORCH(0) },
    { .name = "adam", ADAM_OF_KERAS(0) },
    { .name = "adamw", ADAM_OF_PYTORCH(0.01), .decays_apart = true },
    { .name = "adamw", ADAM_OF_KERAS(0.01), .decays_apart = true },
    { .name = "rmsprop", .needs = "pytorch", RMSPROP(0.99, 1e-8) },
    { .name = "rmsprop", RMSPROP(0.9, 1e-7) },
    { 0 }
};
