/* SPDX-License-Identifier: MIT */
/* The step of forms.te against its equations in double: the loss with statistics of the batch, the running averages,
 * and gradients by central differences of the loss. With DROPOUT the masks are those of the key of the step; training
 * that continues from stored parameters computes the same bits, and inference reads the running averages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "forms.h"
#include "lw_random.h"

enum { N = 8, IN = 4, MID = 3, OUT = 2, STEPS = 30 };
static FORMS_TRAIN_ARENA(arena);
static struct forms_params params, kept;
static float x[N * IN], t[N * OUT], y[N * OUT];
static double batch_mean[MID], batch_variance[MID];

/* p: w, scale, bias, w2 */
enum { SCALE = IN * MID, BIAS = SCALE + MID, W2 = BIAS + MID, ALL = W2 + MID * OUT };

static double keeps(int step, int n, int j)
{
#ifdef DROPOUT
    const double u = (double)(lw_philox_u64((uint64_t)step, (uint64_t)(n * MID + j)) >> 40) / 16777216.0;
    return u < 0.25 ? 0 : 1 / 0.75;
#else
    (void)step, (void)n, (void)j;
    return 1;
#endif
}

static double loss_of(const double *p, int step)
{
    double a[N][MID], total = 0;
    for (int j = 0; j < MID; j++) {
        double mean = 0, variance = 0;
        for (int n = 0; n < N; n++) {
            a[n][j] = 0;
            for (int i = 0; i < IN; i++) a[n][j] += (double)x[n * IN + i] * p[i * MID + j];
            mean += a[n][j] / N;
        }
        for (int n = 0; n < N; n++) variance += (a[n][j] - mean) * (a[n][j] - mean) / N;
        for (int n = 0; n < N; n++)
            a[n][j] = ((a[n][j] - mean) / sqrt(variance + 0.001) * p[SCALE + j] + p[BIAS + j]) * keeps(step, n, j);
        batch_mean[j] = mean;
        batch_variance[j] = variance;
    }
    for (int n = 0; n < N; n++)
        for (int o = 0; o < OUT; o++) {
            double v = -(double)t[n * OUT + o];
            for (int j = 0; j < MID; j++) v += a[n][j] * p[W2 + j * OUT + o];
            total += v * v / (N * OUT);
        }
    return total;
}

static void load(const struct forms_params *from, double *p)
{
    for (int i = 0; i < IN * MID; i++) p[i] = (double)from->a_w[i];
    for (int j = 0; j < MID; j++) p[SCALE + j] = (double)from->a_scale[j], p[BIAS + j] = (double)from->a_bias[j];
    for (int i = 0; i < MID * OUT; i++) p[W2 + i] = (double)from->y_w[i];
}

static int compared(int step)
{
    double p[ALL], now[ALL], worst = 0;
    float loss, mean[MID], variance[MID];
    const struct forms_inputs in = { x };
    const struct forms_targets target = { t };
    load(&params, p);
    memcpy(mean, params.n_running_mean, sizeof mean);
    memcpy(variance, params.n_running_variance, sizeof variance);
    if (forms_train(arena, &params, &in, &target, &loss) != 0) return 1;
    load(&params, now);
    for (int i = 0; i < ALL; i++) {
        const double was = p[i], h = 1e-5;
        p[i] = was + h;
        const double above = loss_of(p, step);
        p[i] = was - h;
        const double below = loss_of(p, step);
        p[i] = was;
        worst = fmax(worst, fabs(now[i] - (was - 0.05 * (above - below) / (2 * h))));
    }
    worst = fmax(worst, fabs((double)loss - loss_of(p, step)) / 10);
    for (int j = 0; j < MID; j++) {
        worst = fmax(worst, fabs((double)params.n_running_mean[j] - (0.75 * (double)mean[j] + 0.25 * batch_mean[j])));
        worst = fmax(worst, fabs((double)params.n_running_variance[j]
                                 - (0.75 * (double)variance[j] + 0.25 * batch_variance[j])));
    }
    if (worst > 2e-6) printf("step %d: a difference of %g\n", step, worst);
    return worst > 2e-6;
}

int main(void)
{
    unsigned state = 3;
    double p[ALL], worst = 0;
    forms_params_init(&params);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N * IN + N * OUT; i++) {
            state = state * 1664525u + 1013904223u;
            const float v = (float)(int)(state >> 8 & 0xFFFFu) / 32768.0f - 1.0f;
            if (i < N * IN) x[i] = v;
            else t[i - N * IN] = v;
        }
        if (compared(step)) return 1;
    }
    /* Interrupted */
    float loss;
    const struct forms_inputs in = { x };
    const struct forms_outputs out = { y };
    const struct forms_targets target = { t };
    struct forms_params again = params;
    if (forms_train(arena, &params, &in, &target, &loss) != 0) return 2;
    kept = params;
    if (forms_train(arena, &again, &in, &target, &loss) != 0 || memcmp(&again, &kept, sizeof kept) != 0) return 3;
    /* Skipped */
    x[5] = NAN;
    if (forms_train(arena, &params, &in, &target, &loss) != 0 || memcmp(&params, &kept, sizeof kept) != 0) return 4;
    x[5] = 0.5f;
    /* Inference */
    load(&params, p);
    if (forms_run(arena, &params, &in, &out) != 0) return 5;
    for (int n = 0; n < N; n++)
        for (int o = 0; o < OUT; o++) {
            double v = 0;
            for (int j = 0; j < MID; j++) {
                double a = 0;
                for (int i = 0; i < IN; i++) a += (double)x[n * IN + i] * p[i * MID + j];
                a = (a - (double)params.n_running_mean[j]) / sqrt((double)params.n_running_variance[j] + 0.001);
                v += (a * p[SCALE + j] + p[BIAS + j]) * p[W2 + j * OUT + o];
            }
            worst = fmax(worst, fabs(v - (double)y[n * OUT + o]));
        }
    return worst > 1e-5 ? 6 : 0;
}
