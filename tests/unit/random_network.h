/* SPDX-License-Identifier: MIT */
/* Random networks of 2 to 7 layers in .te, in double: convolutions and pools of images [n][h][w][c], then layers of
 * vectors [n][c], with residuals and gates from earlier tensors of the same shape, and a loss. */
#ifndef RANDOM_NETWORK_H
#define RANDOM_NETWORK_H
#include "op_cases.h"

enum { NETWORK_LAYERS = 8, NETWORK_AXES = 4 };

typedef struct NetworkText {
    Ctx *cx;
    Text declared, calls;
    uint32_t seed;
    int weights, count;                                    /* tensors v0, v1, ...; the last is the current one */
    int rank[2 * NETWORK_LAYERS], shape[2 * NETWORK_LAYERS][NETWORK_AXES];
} NetworkText;

static inline int network_draw(NetworkText *n, int below) { return (int)(case_draw(&n->seed) % (uint32_t)below); }

/* Appends the current tensor; *s is its shape, the last one's to begin with. */
static inline int *network_next(NetworkText *n, int rank)
{
    n->rank[n->count] = rank;
    memcpy(n->shape[n->count], n->shape[n->count - 1], sizeof n->shape[0]);
    return n->shape[n->count++];
}

static inline int network_weights(NetworkText *n, const char *shape)
{
    text_printf(&n->declared, "input w%d: f64%s\n", n->weights, shape);
    return n->weights++;
}

static inline void add_window(NetworkText *n)
{
    const int x = n->count - 1, channels = n->shape[x][3], groups = channels % 2 || network_draw(n, 2) ? 1 : 2;
    const int kernel = 1 + network_draw(n, 3), stride = 1 + network_draw(n, 2), pad = network_draw(n, kernel),
              filters = groups * (1 + network_draw(n, 2)), kind = network_draw(n, 4);
    const char *of = text_format(n->cx, "stride=[%d,%d], pad=[%d,%d,%d,%d]", stride, stride, pad, pad, pad, pad);
    int *y = network_next(n, 4);
    for (int d = 1; d < 3; d++) y[d] = (y[d] + 2 * pad - kernel) / stride + 1;
    if (kind == 0) {
        const int w = network_weights(n, text_format(n->cx, "[%d][%d][%d][%d]", kernel, kernel, channels / groups,
                                                     filters));
        text_printf(&n->calls, "v%d = conv2d(v%d, w%d, %s, groups=%d)\n", x + 1, x, w, of, groups);
        y[3] = filters;
    } else if (kind == 1) {
        const int w = network_weights(n, text_format(n->cx, "[%d][%d][%d]", kernel, kernel, channels));
        text_printf(&n->calls, "v%d = depthwise_conv2d(v%d, w%d, %s)\n", x + 1, x, w, of);
    } else
        text_printf(&n->calls, "v%d = %s_pool2d(v%d, kernel=[%d,%d], %s)\n", x + 1, kind == 2 ? "max" : "avg", x,
                    kernel, kernel, of);
}

static inline void add_dense(NetworkText *n)
{
    const int x = n->count - 1, units = 1 + network_draw(n, 4), w = network_weights(n, text_format(n->cx, "[%d][%d]",
              n->shape[x][1], units));
    network_next(n, 2)[1] = units;
    text_printf(&n->calls, "v%d = dense(v%d, w%d)\n", x + 1, x, w);
}

/* A function of one tensor, or of it and an earlier one of its shape. */
static inline void add_elementwise(NetworkText *n)
{
    static const char *const one[] = { "tanh", "sigmoid", "relu", "silu", "softplus", "identity" },
                      *const two[] = { "add", "mul", "sub", "max" };
    const int x = n->count - 1, other = network_draw(n, n->count), rank = n->rank[x];
    const bool fits = n->rank[other] == rank && !memcmp(n->shape[other], n->shape[x], (size_t)rank * sizeof(int));
    network_next(n, rank);
    if (fits && network_draw(n, 2))
        text_printf(&n->calls, "v%d = %s(v%d, v%d)\n", x + 1, two[network_draw(n, 4)], x, other);
    else
        text_printf(&n->calls, "v%d = %s(v%d)\n", x + 1, one[network_draw(n, 6)],
                    x);
}

/* The mean of each channel. */
static inline void add_mean(NetworkText *n)
{
    const int x = n->count - 1, *image = n->shape[x], channels = image[3];
    text_printf(&n->calls, "v%d[n, c] = sum(i, j) v%d[n, i, j, c] * %.17g\n", x + 1, x, 1.0 / (image[1] * image[2]));
    network_next(n, 2)[1] = channels;
}

/* A loss of the last tensor, or all its elements. */
static inline void add_end(NetworkText *n)
{
    static const char *const loss[] = { "mse", "mae", "cross_entropy" };
    const int x = n->count - 1, kind = network_draw(n, 4);
    if (kind == 3) {
        text_printf(&n->calls, "output v%d\n", x);
        return;
    }
    text_printf(&n->declared, "input t: f64[%d][%d]\n", n->shape[x][0], n->shape[x][1]);
    text_printf(&n->calls, "y = %s(v%d, t)\noutput y\n", loss[kind], x);
}

static inline const char *random_network(Ctx *cx, uint32_t seed)
{
    NetworkText n = { .cx = cx, .declared = text_new(cx), .calls = text_new(cx), .seed = seed * 2654435761u + 12345 };
    const int layers = 2 + network_draw(&n, NETWORK_LAYERS - 2), images = network_draw(&n, layers);
    int *x = n.shape[n.count++];
    n.rank[0] = images ? 4 : 2;
    x[0] = 1 + network_draw(&n, 2);
    for (int d = 1; d < NETWORK_AXES; d++) x[d] = d < 3 ? 3 + network_draw(&n, 3) : 1 + network_draw(&n, 4);
    text_printf(&n.declared, images ? "input v0: f64[%d][%d][%d][%d]\n" : "input v0: f64[%d][%d]\n", x[0], x[1], x[2],
                x[3]);
    for (int i = 0; i < layers; i++) {
        const bool is_window = i < images && n.shape[n.count - 1][1] > 2 && n.shape[n.count - 1][2] > 2;
        if (i == images && images) add_mean(&n);
        if (network_draw(&n, 2)) add_elementwise(&n);
        else if (i < images && is_window) add_window(&n);
        else if (i >= images) add_dense(&n);
    }
    if (n.rank[n.count - 1] == 4) add_mean(&n);
    add_end(&n);
    return text_format(cx, "%s%s", text_string(&n.declared), text_string(&n.calls));
}
#endif
