/* SPDX-License-Identifier: MIT */
/* Trains the network of net.te by the emitted net_train, and by the equations written out in double, and compares all
 * weights after each step. Macros select the optimizer: SGD, MOMENTUM, NESTEROV, ADAM, ADAMW, RMSPROP; ALL: both
 * layers; DECAY, CLIP, CLIP_NORM, SAMPLES: numbers of the specification. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net.h"

#ifndef DECAY
#define DECAY 0.0
#endif
#ifndef SAMPLES
#define SAMPLES 1
#endif
enum { IN = 6, MID = 5, OUT = 3, STEPS = 40, W1 = IN * MID, W2 = MID * OUT, FIRST_W2 = W1 + MID,
       ALL_WEIGHTS = FIRST_W2 + W2 + OUT };

/* w1, b1, w2, b2; their gradients, sums of gradients, and two states */
static double p[ALL_WEIGHTS], g[ALL_WEIGHTS], sum[ALL_WEIGHTS], state[2][ALL_WEIGHTS];
static int samples, updates;

static double loss_and_gradient(const float *x, int label)
{
    double mid[MID], z[OUT], d[OUT], total = 0;
    for (int j = 0; j < MID; j++) {
        mid[j] = p[W1 + j];
        for (int i = 0; i < IN; i++) mid[j] += (double)x[i] * p[i * MID + j];
    }
    for (int k = 0; k < OUT; k++) {
        z[k] = p[FIRST_W2 + W2 + k];
        for (int j = 0; j < MID; j++) z[k] += (mid[j] > 0 ? mid[j] : 0) * p[FIRST_W2 + j * OUT + k];
        total += exp(z[k]);
    }
    for (int k = 0; k < OUT; k++) {
        d[k] = exp(z[k]) / total - (k == label);
        g[FIRST_W2 + W2 + k] = d[k];
        for (int j = 0; j < MID; j++) g[FIRST_W2 + j * OUT + k] = (mid[j] > 0 ? mid[j] : 0) * d[k];
    }
    for (int j = 0; j < MID; j++) {
        double back = 0;
        for (int k = 0; k < OUT; k++) back += d[k] * p[FIRST_W2 + j * OUT + k];
        if (mid[j] <= 0) back = 0;
        g[W1 + j] = back;
        for (int i = 0; i < IN; i++) g[i * MID + j] = back * (double)x[i];
    }
    return log(total) - z[label];
}

static double clipped(double v, double norm)
{
#ifdef CLIP
    v = v > CLIP ? CLIP : v < -(CLIP) ? -(CLIP) : v;
#endif
#ifdef CLIP_NORM
    if (norm > CLIP_NORM) v *= CLIP_NORM / norm;
#endif
    (void)norm;
    return v;
}

/* Returns the new value of weight i. */
static double updated(int i, double v, double rate)
{
    double x = p[i], *one = state[0], *two = state[1];
    (void)one;
    (void)two;
#if defined(ADAMW)
    x *= 1 - rate * DECAY;
#else
    v += DECAY * x;
#endif
#if defined(MOMENTUM) || defined(NESTEROV)
    one[i] = 0.9 * one[i] + v;
#endif
#if defined(MOMENTUM)
    return x - rate * one[i];
#elif defined(NESTEROV)
    return x - rate * (v + 0.9 * one[i]);
#elif defined(ADAM) || defined(ADAMW)
    one[i] = 0.9 * one[i] + 0.1 * v;
    two[i] = 0.999 * two[i] + 0.001 * v * v;
#if defined(PYTORCH)
    return x - rate / (1 - pow(0.9, updates)) * one[i] / (sqrt(two[i] / (1 - pow(0.999, updates))) + EPSILON);
#else
    return x - rate * sqrt(1 - pow(0.999, updates)) / (1 - pow(0.9, updates)) * one[i] / (sqrt(two[i]) + 1e-7);
#endif
#elif defined(RMSPROP) && defined(PYTORCH)
    one[i] = 0.99 * one[i] + 0.01 * v * v;
    return x - rate * v / (sqrt(one[i]) + EPSILON);
#elif defined(RMSPROP)
    one[i] = 0.9 * one[i] + 0.1 * v * v;
    return x - rate * v / (sqrt(one[i]) + 1e-7);
#else
    return x - rate * v;
#endif
}

static void step(double rate)
{
    double norm = 0;
#ifdef ALL
    const int first = 0;
#else
    const int first = FIRST_W2;
#endif
    for (int i = first; i < ALL_WEIGHTS; i++) sum[i] += g[i];
    if (++samples < SAMPLES) return;
    updates++;
    for (int i = first; i < ALL_WEIGHTS; i++) norm += sum[i] / SAMPLES * sum[i] / SAMPLES;
    for (int i = first; i < ALL_WEIGHTS; i++) {
        p[i] = updated(i, clipped(sum[i] / SAMPLES, sqrt(norm)), rate);
        sum[i] = 0;
    }
    samples = 0;
}

/* ---- The emitted step -------------------------------------------------------------------------------------------- */

static NET_TRAIN_ARENA(arena);
static struct net_params params, kept;
static const float first_w1[W1] = { 0.5f, -0.25f, 0.125f, 0.75f, -0.5f, -0.375f, 0.25f, 0.5f, -0.125f, 0.625f, 0.25f,
    0.375f, -0.75f, 0.5f, 0.125f, -0.5f, 0.25f, 0.75f, -0.25f, 0.5f, 0.125f, -0.625f, 0.5f, 0.25f, -0.375f, 0.75f,
    0.125f, -0.25f, 0.375f, 0.5f }, first_b1[MID] = { 0.1f, -0.2f, 0.3f, 0.05f, 0.15f };

static void load(const float *from, int count, int at)
{
    for (int i = 0; i < count; i++) p[at + i] = (double)from[i];
}

static double difference(const float *of, int count, int at)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs((double)of[i] - p[at + i]));
    return most;
}

static float draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int)(*state >> 8 & 0xFFFFu) / 32768.0f - 1.0f;
}

static int compared(void)
{
    unsigned state = 7;
    double worst = 0;
    for (int s = 0; s < STEPS; s++) {
        float x[IN], loss;
        const int32_t label[1] = { s % OUT };
        for (int i = 0; i < IN; i++) x[i] = draw(&state);
        const struct net_inputs in = { x };
        const struct net_targets target = { label };
        if (s == STEPS / 2) params.rate *= 0.5f;
        const double expected = loss_and_gradient(x, label[0]);
        step((double)params.rate);
        memset(arena, s, sizeof arena);
        if (net_train(arena, &params, &in, &target, &loss) != 0) return 1;
        worst = fmax(worst, fabs((double)loss - expected));
        worst = fmax(worst, difference(params.scores_w, W2, FIRST_W2));
        worst = fmax(worst, difference(params.scores_bias, OUT, FIRST_W2 + W2));
#ifdef ALL
        worst = fmax(worst, difference(params.hidden_w, W1, 0));
        worst = fmax(worst, difference(params.hidden_bias, MID, W1));
#endif
    }
    printf("largest difference %.3g\n", worst);
    return !(worst < 2e-5);
}

/* A label that is no class ends the step and changes nothing. */
static int refused(void)
{
    static const int32_t wrong[] = { -1, OUT, 127, INT32_MAX, INT32_MIN };
    float x[IN] = { 1, 2, 3, 4, 5, 6 }, loss = 0;
    net_params_init(&params);
    kept = params;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct net_inputs in = { x };
        const struct net_targets target = { &wrong[i] };
        if (net_train(arena, &params, &in, &target, &loss) != NET_E_LABEL) return 1;
        if (memcmp(&params, &kept, sizeof kept) != 0) return 1;
    }
    return 0;
}

/* Stored after step 13 and read back, training continues to the same bits; a damaged copy is refused. */
static int continued(void)
{
    unsigned state = 3;
    struct net_params at_end;
    for (int run = 0; run < 2; run++) {
        state = 3;
        if (run == 0) net_params_init(&params);
        for (int s = 0; s < STEPS; s++) {
            float x[IN], loss;
            const int32_t label[1] = { s % OUT };
            const struct net_inputs in = { x };
            const struct net_targets target = { label };
            for (int i = 0; i < IN; i++) x[i] = draw(&state);
            if (run == 1 && s < 13) continue;
            if (s == 13 && run == 0) {
                kept = params;
                net_params_seal(&kept);
            }
            if (s == 13 && run == 1) {
                if (net_params_check(&kept) != 0) return 1;
                params = kept;
            }
            memset(arena, 255 - s, sizeof arena);
            if (net_train(arena, &params, &in, &target, &loss) != 0) return 1;
        }
        if (run == 0) at_end = params;
    }
    params.checksum = at_end.checksum;
    if (memcmp(&params, &at_end, sizeof params) != 0) return 1;
    kept.scores_w[2] += 0.5f;
    if (net_params_check(&kept) != NET_E_PARAMS) return 1;
    return net_params_check(NULL) != NET_E_PARAMS;
}

/* With skip_nonfinite a sample of NaN changes no bit; without, it does. */
static int skipped(int expected)
{
    float x[IN] = { 0.5f, (float)NAN, 0.25f, 0.125f, 1, 0 }, loss;
    const int32_t label[1] = { 1 };
    const struct net_inputs in = { x };
    const struct net_targets target = { label };
    kept = params;
    if (net_train(arena, &params, &in, &target, &loss) != 0) return 1;
    return (memcmp(&kept, &params, sizeof params) == 0) != expected;
}

int main(void)
{
    net_params_init(&params);
    if (params.version != NET_PARAMS_VERSION) return 2;
    load(params.scores_w, W2, FIRST_W2);
    load(params.scores_bias, OUT, FIRST_W2 + W2);
    load(first_w1, W1, 0);
    load(first_b1, MID, W1);
    if (compared() != 0) return 3;
    if (continued() != 0) return 4;
    if (refused() != 0) return 7;
#ifdef SKIPS
    return skipped(1) ? 5 : 0;
#else
    return skipped(0) ? 6 : 0;
#endif
}
