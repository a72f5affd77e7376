/* SPDX-License-Identifier: MIT */
/* Prints the RAM of a training step by kind, and its instructions. At the group where most bytes are live, each tensor
 * of the arena counts as an activation that the backward pass reads, as a gradient (computed after the loss), or as
 * scratch. */
#include "api/report/footprint.h"
#include "cgen/training.h"

typedef struct Kinds { int64_t parameters, state, activations, gradients; } Kinds;

static Kinds kinds_of(const Build *step)
{
    Kinds k = { 0 };
    const Plan *p = &step->plan;
    const int loss = build_producer(step, step->graph.output[0]);
    int peak = 0;
    for (int g = 0; g < step->groups.count; g++)
        if (p->live_bytes[g] > p->live_bytes[peak]) peak = g;
    for (int i = 0; i < p->slot_count; i++) {
        const Slot *s = &p->slot[i];
        if (!s->in_arena || s->root != s->tensor || s->first > peak || s->root_last < peak) continue;
        if (s->first > loss) k.gradients += tensor_bytes(s->tensor);
        else if (s->root_last > loss) k.activations += tensor_bytes(s->tensor);
    }
    for (int i = 0; i < step->training.graphs->param_count; i++) {
        const TrainParam *x = &step->training.graphs->param[i];
        *(x->is_trained ? &k.parameters : &k.state) += tensor_bytes(x->value);
    }
    return k;
}

static int64_t instructions_of(const Build *b)
{
    int64_t count = 0;
    for (int i = 0; i < b->groups.count; i++)
        count = sat_add(count, build_instructions(b, i));
    return count;
}

static void print_trade(const Build *b, Text *t)
{
    const char *wanted = b->options->checkpoint ? b->options->checkpoint : "auto";
    const StepCost *cost = b->training.trade;
    if (!cost) return;
    text_printf(t, "checkpoints    none: arena %lld, about %lld instructions for a step\n", (long long)cost[0].arena,
                (long long)report_rounded(cost[0].instructions));
    if (cost[1].arena == cost[0].arena) text_printf(t, "               --checkpoint %s has no effect\n", wanted);
    else text_printf(t, "               --checkpoint %s: arena %lld, about %lld instructions\n", wanted,
                     (long long)cost[1].arena, (long long)report_rounded(cost[1].instructions));
}

void report_training(const Build *b, Text *t)
{
    if (!b->training.step) return;
    const Kinds k = kinds_of(b->training.step);
    const int64_t arena = b->training.step->plan.arena_size, params = training_bytes(&b->program);
    text_printf(t, "\ntraining       arena %lld: kept activations %lld, gradients %lld, scratch %lld\n",
                (long long)arena, (long long)k.activations, (long long)k.gradients,
                (long long)(arena - k.activations - k.gradients));
    text_printf(t, "               struct %s_params %lld: parameters %lld, optimizer %lld, version and checksum %lld\n",
                b->name, (long long)params, (long long)k.parameters, (long long)k.state,
                (long long)(params - k.parameters - k.state));
    text_printf(t, "instructions   about %lld for a step, %lld for a run\n",
                (long long)report_rounded(instructions_of(b->training.step)),
                (long long)report_rounded(instructions_of(b)));
    print_trade(b, t);
}
