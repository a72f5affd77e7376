/* SPDX-License-Identifier: MIT */
/* Paths of low rank begin as zeros: net_run gives the bits of the network without them. Training changes only them, and
 * lowers the loss. */
#include <string.h>

#include "net.h"
#include "plain.h"

static NET_TRAIN_ARENA(arena);
static PLAIN_ARENA(plain_arena);
static struct net_params params;

int main(void)
{
    float x[6] = { 0.5f, -0.25f, 1, 0.75f, -0.5f, 0.125f }, y[3], expected[3], first = 0, loss = 0;
    const int32_t label[1] = { 2 };
    const struct net_inputs in = { x };
    const struct net_outputs out = { y };
    const struct net_targets target = { label };
    const struct plain_inputs plain_in = { x };
    const struct plain_outputs plain_out = { expected };
    net_params_init(&params);
    if (sizeof params.hidden_w_a != 12 * sizeof(float) || sizeof params.scores_w_b != 6 * sizeof(float)) return 1;
    if (net_run(arena, &params, &in, &out) != 0 || plain_run(plain_arena, &plain_in, &plain_out) != 0) return 2;
    if (memcmp(y, expected, sizeof y) != 0) return 3;
    for (int step = 0; step < 200; step++) {
        if (net_train(arena, &params, &in, &target, &loss) != 0) return 4;
        if (step == 0) first = loss;
    }
    return !(loss < first / 10);
}
