/* SPDX-License-Identifier: MIT */
/* Adam: Kingma, Ba 2014, with epsilon outside of the correction; AdamW: Loshchilov, Hutter 2017. */
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

#define ADAM_HYPERS(decay) \
    { COMMON(0.001, decay), { "beta1", 0.9, 0, 0.999999, false }, { "beta2", 0.999, 0, 0.999999, false }, \
      { "epsilon", 1e-7, 1e-30, 1, false } }
#define ADAM_UPDATES \
    { { "mean", "beta1 * mean[*] + (1 - beta1) * G" }, { "square", "beta2 * square[*] + (1 - beta2) * (G * G)" }, \
      { NULL, "X - step * mean_now[*] / (sqrt(square_now[*]) + epsilon)" } }
#define ADAM_POWERS { { "power1", "beta1" }, { "power2", "beta2" } }
#define ADAM_STEP "rate * sqrt(1 - power2_now) / (1 - power1_now)"

const OptimizerRow train_optimizer_rows[] = {
    { .name = "sgd", .needs = "nesterov", .hyper = SGD_HYPERS,
      .update = { VELOCITY, { NULL, "X - rate * (G + momentum * velocity_now[*])" } } },
    { .name = "sgd", .needs = "momentum", .hyper = SGD_HYPERS,
      .update = { VELOCITY, { NULL, "X - rate * velocity_now[*]" } } },
    { .name = "sgd", .hyper = SGD_HYPERS, .update = { { NULL, "X - rate * G" } } },
    { .name = "adam", .hyper = ADAM_HYPERS(0), .power = ADAM_POWERS, .step = ADAM_STEP, .update = ADAM_UPDATES },
    { .name = "adamw", .hyper = ADAM_HYPERS(0.01), .power = ADAM_POWERS, .step = ADAM_STEP, .update = ADAM_UPDATES,
      .decays_apart = true },
    { .name = "rmsprop",
      .hyper = { COMMON(0.001, 0), { "decay", 0.9, 0, 0.999999, false }, { "epsilon", 1e-7, 1e-30, 1, false } },
      .update = { { "square", "decay * square[*] + (1 - decay) * (G * G)" },
                  { NULL, "X - rate * G / (sqrt(square_now[*]) + epsilon)" } } },
    { 0 }
};
