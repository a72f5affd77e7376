/* SPDX-License-Identifier: MIT */
/* Adjoints against central differences. Given y = f(inputs) and a random seed, L = <seed, y> is a scalar. For an input
 * x with adjoint xbar, and a direction d,
 *
 *   <xbar, d>  =  (L(x + h d) - L(x - h d)) / 2h
 *
 * The error is relative to |xbar| |d|. Directions are single elements and random vectors. Values are computed by the
 * naive nests of each call. Where the slopes to both sides differ, the point is at a kink: it is counted, and drawn
 * again. */
#ifndef GRADIENT_CHECK_H
#define GRADIENT_CHECK_H
#include <math.h>
#include <string.h>

#include "graph/differentiate/differentiate.h"
#include "own_data.h"
#include "run_model.h"

enum { ALL_LEFT_OUT = -1, NONE_LEFT_OUT = -2 };
enum { CHECKED_INPUTS = 12, DIRECTIONS = 8 };

typedef struct GradientCheck {
    Ctx *cx;
    int in_count; Tensor **in;       /* with data; those of float type are differentiated */
    int left_out;                    /* the number of an input that is not, or one of the values above */
    Tensor *y;
    uint32_t seed;
    double tolerance, step;
    double worst;                    /* error */
    int kinks, checked;
    bool is_zero;                    /* all adjoints are zero */
    const char *fault;               /* NULL: none */
} GradientCheck;

static inline double gradient_draw(uint32_t *seed)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static inline double element(const Tensor *t, const void *data, int64_t i) { return dtype_load(t->type, data, i).f; }

/* <seed, y> at the inputs' current values */
static inline double loss_of(GradientCheck *c, const Tensor *seed)
{
    Env *env = env_new(c->cx);
    double sum = 0;
    if (!run_calls(c->cx, &c->y, 1, env, false)) return NAN;
    const void *y = env_get(env, c->y);
    for (int64_t i = 0; i < tensor_elems(c->y); i++) {
        const double s = element(seed, seed->data, i);
        if (s != 0) sum += s * element(c->y, y, i);
    }
    return sum;
}

/* The computes of an operator may share a name, which a nest of them may not. */
static inline void number_names(Ctx *cx, Node *n, Map *seen, int *count)
{
    if (!n || n->kind != NODE_COMPUTE || map_get_ptr(seen, n)) return;
    map_put_ptr(seen, n, n);
    for (int o = 0; o < n->out_count; o++) n->out[o]->name = text_format(cx, "%s_%d", n->out[o]->name, (*count)++);
    n->stage->name = n->out[0]->name;
    for (int i = 0; i < n->in_count; i++) number_names(cx, n->in[i]->producer, seen, count);
}

static inline void number_stages(GradientCheck *c)
{
    Map seen = map_new(c->cx->arena);
    int names = 0;
    for (int o = 0; c->y->producer && o < c->y->producer->out_count; o++)
        number_names(c->cx, op_expand(c->cx, c->y->producer)[o]->producer, &seen, &names);
}

static inline void move_along(const Tensor *x, void *data, const double *from, const double *d, double by)
{
    for (int64_t i = 0; i < tensor_elems(x); i++)
        dtype_store(x->type, data, i, dtype_wrap(x->type, (Scalar){ .f = from[i] + by * d[i] }));
}

typedef struct Slope { double error, bend, slope; } Slope;

/* The slope along the unit vector of d, with step h, compared with `inner`. */
static inline Slope slope_along(GradientCheck *c, const Tensor *seed, Tensor *x, const double *from, const double *d,
                                double length, double inner, double h)
{
    void *data = own_data(c->cx, x);
    const double here = loss_of(c, seed);
    move_along(x, data, from, d, h / length);
    const double up = loss_of(c, seed);
    move_along(x, data, from, d, -h / length);
    const double down = loss_of(c, seed);
    move_along(x, data, from, d, 0);
    const double slope = (up - down) / (2 * h), noise = fabs(here) * (x->type == F64 ? 1e-15 : 1e-6) / h;
    const double error = fabs(slope - inner) - noise;
    return (Slope){ isnan(error) ? INFINITY : fmax(error, 0), fabs(up - 2 * here + down) / h, slope };
}

/* Compares along one direction; false: the point is a kink. The difference is taken again with a larger step,
 * against rounding, and with a smaller one, against a jump of the second derivative. */
static inline bool along(GradientCheck *c, const Tensor *seed, Tensor *x, const void *xbar, const double *d,
                         double norm)
{
    const int64_t n = tensor_elems(x);
    double *from = malloc((size_t)(n + 1) * sizeof *from), length = 0, inner = 0;
    for (int64_t i = 0; i < n; i++) {
        from[i] = element(x, x->data, i);
        length += d[i] * d[i];
        if (d[i] != 0) inner += d[i] * element(x, xbar, i);
    }
    length = sqrt(length);
    const double scale = norm > 0 ? norm : 1;
    Slope s = slope_along(c, seed, x, from, d, length, inner / length, c->step);
    for (int retry = 0; retry < 2 && s.error > c->tolerance * scale; retry++) {
        const double h = c->step * (retry ? 0.1 : 10);
        s.error = fmin(s.error, slope_along(c, seed, x, from, d, length, inner / length, h).error);
    }
    free(from);
    if (s.error > c->tolerance * scale && s.bend > 1e-3 * fmax(scale, fabs(s.slope))) return false;
    if (getenv("GRADIENT_DEBUG") && !(s.error < c->tolerance * scale))
        printf("# %s: slope %g adjoint %g bend %g norm %g\n", x->name, s.slope, inner / length, s.bend, norm);
    c->worst = fmax(c->worst, s.error / scale);
    c->checked++;
    return true;
}

static inline void check_input(GradientCheck *c, const Tensor *seed, Tensor *x, const void *xbar)
{
    const int64_t n = tensor_elems(x);
    double *d = calloc((size_t)n + 1, sizeof *d), norm = 0;
    for (int64_t i = 0; i < n; i++) norm += element(x, xbar, i) * element(x, xbar, i);
    norm = sqrt(norm);
    if (norm > 0) c->is_zero = false;
    for (int k = 0; k < DIRECTIONS && n > 0; k++) {
        const bool is_element = k < DIRECTIONS / 2 || n == 1;
        for (int64_t i = 0; i < n; i++) d[i] = is_element ? 0 : gradient_draw(&c->seed);
        if (is_element) d[(int64_t)((gradient_draw(&c->seed) + 1) / 2 * (double)n)] = 1;
        c->kinks += !along(c, seed, x, xbar, d, norm);
    }
    free(d);
}

/* Fills c->worst, kinks, fault. */
static inline void gradient_check(GradientCheck *c)
{
    Ctx *cx = c->cx;
    Tensor *wanted[CHECKED_INPUTS], *adjoint[CHECKED_INPUTS];
    int count = 0;
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && dtype_is_float(c->in[i]->type) && i != c->left_out) wanted[count++] = c->in[i];
    Tensor *seed = tensor_stand_in(cx, c->y);
    seed->data = arena_alloc(cx->arena, (size_t)tensor_bytes(c->y) + 1);
    for (int64_t i = 0; i < tensor_elems(seed); i++)
        dtype_store(seed->type, own_data(cx, seed), i,
                    dtype_wrap(seed->type, (Scalar){ .f = gradient_draw(&c->seed) }));
    c->is_zero = true;
    Env *env = env_new(cx);
    if (!differentiate(cx, c->y, seed, wanted, count, adjoint) || !run_calls(cx, adjoint, count, env, true)) {
        c->fault = cx->diags ? diag_text(cx, cx->diags) : "no gradient";
        return;
    }
    for (int i = 0; i < count; i++) {
        const void *xbar = adjoint[i]->data ? adjoint[i]->data : env_get(env, adjoint[i]);
        check_input(c, seed, wanted[i], xbar);
    }
}
#endif
