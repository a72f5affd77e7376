/* SPDX-License-Identifier: MIT */
/* Lossless shrinking on long random networks: 50 to 200 layers, weights that several layers share, up to some millions
 * of weights, channels that are dead, constant or saturated, element types from i8 to i64. They are long enough that
 * the range analysis ends without budget in some of them.
 *
 * The oracle shares nothing with the compiler: while a network is built, plain loops compute each layer for all trial
 * inputs by the formulas of TensorFlow Lite. The shrunk graph is interpreted, and its outputs have the same values.
 *
 *   test_shrink_networks [COUNT [SEED]]    COUNT long networks from seed SEED; without arguments some short ones */
#include "graphs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graph/shrink/shrink.h"
#include "run_model.h"

enum { INPUTS = 2, MOST_VALUES = 256, MOST_WEIGHTS = 64, ZERO = -5, SATURATED = 3000000 };

/* A tensor [1][h][w][c], and its elements for each trial input. */
typedef struct Value { Tensor *t; int h, w, c; int64_t *v[INPUTS]; } Value;

/* Weights [kh][kw][c][o], or [kh][kw][c] of a depthwise layer. */
typedef struct Weights { Tensor *t; int side, channels, filters; const int8_t *v; bool *is_zero; } Weights;

typedef struct Big {
    Net net;
    int count, weight_count, layers;
    int64_t stored;                              /* weights in all */
    Value value[MOST_VALUES];
    Weights weights[MOST_WEIGHTS];
    int width;                                   /* channels of a layer at most */
} Big;

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

static int64_t wrapped(DType t, int64_t v)
{
    switch (t) {
    case I8:  return (int8_t)(uint8_t)(uint64_t)v;
    case U8:  return (uint8_t)(uint64_t)v;
    case I16: return (int16_t)(uint16_t)(uint64_t)v;
    case U16: return (uint16_t)(uint64_t)v;
    case I32: return (int32_t)(uint32_t)(uint64_t)v;
    case U32: return (uint32_t)(uint64_t)v;
    default:  return v;
    }
}

static int64_t clamped(int64_t v, int64_t least, int64_t most) { return v < least ? least : v > most ? most : v; }
static int64_t least_value(DType t) { return t == I8 ? -128 : t == I16 ? -32768 : 0; }
static int64_t most_value(DType t) { return t == I8 ? 127 : t == U8 ? 255 : 32767; }

/* v * m / 2^31 * 2^-shift in two roundings, as gemmlowp has them. */
static int64_t scaled_twice(int64_t v, int64_t m, int shift)
{
    const int64_t product = v * m + (v * m >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30)),
                  high = product / (INT64_C(1) << 31), rest = high & ((INT64_C(1) << shift) - 1),
                  half = ((INT64_C(1) << shift) - 1) / 2 + (high < 0);
    return (high >> shift) + (rest > half);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int64_t elems_of(const Value *x) { return (int64_t)x->h * x->w * x->c; }

static Value *new_value(Big *b, Tensor *t, int h, int w, int c)
{
    Value *y = &b->value[b->count];
    *y = (Value){ .t = t, .h = h, .w = w, .c = c };
    for (int k = 0; k < INPUTS; k++) y->v[k] = NEW_ARRAY(b->net.cx->arena, int64_t, (int64_t)h * w * c);
    if (t && b->count + 1 < MOST_VALUES) b->count++;
    return y;
}

/* The element of an image, or `outside` of it. */
static int64_t element(const Value *x, int k, int h, int w, int c, int64_t outside)
{
    return h < 0 || w < 0 || h >= x->h || w >= x->w ? outside : x->v[k][((int64_t)h * x->w + w) * x->c + c];
}

static int chance(Big *b, int count) { return pick(&b->net, count); }
static Tensor *call_of(Big *b, const char *op, const char *attrs, Tensor *x) { return one(&b->net, op, op, x, attrs); }
static const char *name_of(DType t) { return dtype_info(t)->spelling; }

/* ---- Layers with weights ----------------------------------------------------------------------------------------- */

static const Weights *weights_of(Big *b, int side, int channels, int filters)
{
    for (int i = 0; i < b->weight_count; i++) {
        const Weights *w = &b->weights[i];
        if (w->side == side && w->channels == channels && w->filters == filters && chance(b, 3)) return w;
    }
    Ctx *cx = b->net.cx;
    Weights *w = &b->weights[b->weight_count < MOST_WEIGHTS - 1 ? b->weight_count++ : MOST_WEIGHTS - 1];
    const int64_t shape[] = { side, side, channels, filters ? filters : 1 };
    *w = (Weights){ tensor_constant(cx, "k", I8, filters ? 4 : 3, shape, NULL), side, channels, filters, NULL, NULL };
    const int outputs = filters ? filters : channels;
    int8_t *v = own_data(cx, w->t);
    w->v = v;
    w->is_zero = NEW_ARRAY(cx->arena, bool, outputs);
    const int share = chance(b, 2) ? 8 : 2;
    for (int o = 0; o < outputs; o++) w->is_zero[o] = chance(b, share) == 0;
    for (int64_t i = 0; i < tensor_elems(w->t); i++)
        v[i] = (int8_t)(w->is_zero[i % outputs] || chance(b, 16) == 0 ? 0 : chance(b, 256) - 128);
    b->stored += tensor_elems(w->t);
    return w;
}

static int64_t sum_at(const Value *x, int k, const Weights *w, int h, int width, int o, int64_t zero)
{
    int64_t sum = 0;
    const int outputs = w->filters ? w->filters : w->channels;
    for (int i = 0; i < w->side; i++)
        for (int j = 0; j < w->side; j++)
            for (int c = w->filters ? 0 : o; c < (w->filters ? w->channels : o + 1); c++) {
                const int64_t at = ((int64_t)i * w->side + j) * (w->filters ? w->channels : 1) + (w->filters ? c : 0);
                sum += (element(x, k, h + i - w->side / 2, width + j - w->side / 2, c, zero) - zero)
                       * w->v[at * outputs + o];
            }
    return sum;
}

/* Biases: small, or so large that a channel saturates. A filter of zeros with any bias is a constant channel. */
static Tensor *biases(Big *b, const Weights *w, DType type, int64_t count, int64_t *v)
{
    Tensor *t = tensor_constant(b->net.cx, "b", type, 1, &count, NULL);
    void *data = own_data(b->net.cx, t);
    for (int64_t o = 0; o < count; o++) {
        const int kind = chance(b, w->is_zero[o] ? 3 : 20);
        v[o] = kind == 0 ? 0 : kind == 1 ? (chance(b, 2) ? SATURATED : -SATURATED) : chance(b, 4000) - 2000;
        if (type == I64 && kind == 1) v[o] *= 4096;
        dtype_store(type, data, o, (Scalar){ .i = v[o] });
    }
    return t;
}

/* y = scale(sum(x * k) + b), a convolution that keeps the size of the image, or a depthwise one (filters 0). Sums of
 * i16 have 64 bits; bytes without sign are widened, because the weights have one. */
static void add_layer(Big *b, const Value *x, int side, int filters)
{
    Net *n = &b->net;
    const Weights *w = weights_of(b, side, x->c, filters);
    const bool is_wide = x->t->type == I16;
    const int outputs = filters ? filters : x->c, pad = side / 2, shift = is_wide ? 24 : 5 + chance(b, 3);
    const DType to = is_wide ? I16 : chance(b, 8) ? x->t->type : chance(b, 2) ? I8 : U8, sums = is_wide ? I64 : I32;
    const int64_t zero = x->t->type == I8 ? ZERO : x->t->type == U8 ? 7 : 0,
                  zero_y = to == I8 ? ZERO : to == U8 ? 7 : 0, m = is_wide ? 20000 : 1400000000;
    int64_t *bias = NEW_ARRAY(n->cx->arena, int64_t, outputs);
    Tensor *from = x->t->type == U8 ? call_of(b, "cast", "to=i16", x->t) : x->t;
    Tensor *t = call_text(n->cx, filters ? "conv2d" : "depthwise_conv2d", "sums", (Tensor *[]){ from, w->t }, 2,
                          "pad=%d,%d,%d,%d zero=%" PRId64 " wide=%d", pad, pad, pad, pad, zero, is_wide);
    if (!t) return;
    t = two(n, "add", "biased", t, biases(b, w, sums, outputs, bias), "");
    t = call_text(n->cx, is_wide ? "rescale_wide" : "rescale", "layer", &t, 1,
                  "multiplier=%" PRId64 " shift=%d zero=%" PRId64 " to=%s", m, shift, zero_y, name_of(to));
    Value *y = new_value(b, t, x->h, x->w, outputs);
    for (int k = 0; t && k < INPUTS; k++)
        for (int h = 0; h < y->h; h++)
            for (int c = 0; c < y->w; c++)
                for (int o = 0; o < outputs; o++) {
                    const int64_t sum = wrapped(sums, sum_at(x, k, w, h, c, o, zero) + bias[o]);
                    const int64_t scaled = is_wide ? (sum * m + (INT64_C(1) << (shift - 1))) >> shift
                                                   : scaled_twice(sum, m, shift);
                    y->v[k][((int64_t)h * y->w + c) * outputs + o]
                        = clamped(scaled + zero_y, least_value(to), most_value(to));
                }
    b->layers++;
}

/* ---- Other layers ------------------------------------------------------------------------------------------------ */

static const Value *mate_of(Big *b, const Value *x, bool has_channels)
{
    for (int tries = 0; tries < 20; tries++) {
        const Value *y = &b->value[b->count - 1 - chance(b, b->count < 12 ? b->count : 12)];
        if (y->t->type == x->t->type && y->h == x->h && y->w == x->w && (!has_channels || y->c == x->c)) return y;
    }
    return x;
}

/* The quantized addition of TensorFlow Lite. */
static void add_sum(Big *b, const Value *x, const Value *z)
{
    Net *n = &b->net;
    const DType type = x->t->type;
    const int64_t zero = type == I8 ? ZERO : 7, m = 1300000000;
    const char *term = text_format(n->cx, "zero_x=%d left=20 multiplier=1073741824 to=i32", (int)zero);
    Tensor *t = two(n, "add", "sum", call_of(b, "rescale", term, x->t), call_of(b, "rescale", term, z->t), "");
    t = call_text(n->cx, "rescale", "residual", &t, 1, "multiplier=%d shift=18 zero=%d to=%s", (int)m, (int)zero,
                  name_of(type));
    Value *y = new_value(b, t, x->h, x->w, x->c);
    for (int k = 0; t && k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(y); e++) {
            const int64_t sum = scaled_twice((x->v[k][e] - zero) * (1 << 20), 1073741824, 0)
                                + scaled_twice((z->v[k][e] - zero) * (1 << 20), 1073741824, 0);
            y->v[k][e] = clamped(scaled_twice(sum, m, 18) + zero, least_value(type), most_value(type));
        }
}

static void add_concat(Big *b, const Value *x, const Value *z)
{
    Value *y = new_value(b, two(&b->net, "concat", "join", x->t, z->t, "axis=3"), x->h, x->w, x->c + z->c);
    for (int k = 0; y->t && k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(y); e++) {
            const int64_t at = e / y->c, c = e % y->c;
            y->v[k][e] = c < x->c ? x->v[k][at * x->c + c] : z->v[k][at * z->c + c - x->c];
        }
}

static void add_slice(Big *b, const Value *x)
{
    const int begin = chance(b, x->c), end = begin + 1 + chance(b, x->c - begin);
    Tensor *t = call_text(b->net.cx, "slice", "part", (Tensor *[]){ x->t }, 1, "begin=%d end=%d axes=3", begin, end);
    Value *y = new_value(b, t, x->h, x->w, end - begin);
    for (int k = 0; t && k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(y); e++) y->v[k][e] = x->v[k][e / y->c * x->c + begin + e % y->c];
}

static void add_pool(Big *b, const Value *x)
{
    Value *y = new_value(b, call_of(b, "max_pool2d", "kernel=3 pad=1,1,1,1", x->t), x->h, x->w, x->c);
    for (int k = 0; y->t && k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(y); e++) {
            const int h = (int)(e / y->c / y->w), w = (int)(e / y->c % y->w), c = (int)(e % y->c);
            int64_t most = INT64_MIN;
            for (int p = 0; p < 9; p++) {
                const int64_t v = element(x, k, h + p / 3 - 1, w + p % 3 - 1, c, INT64_MIN);
                most = v > most ? v : most;
            }
            y->v[k][e] = most;
        }
}

static void add_table(Big *b, const Value *x)
{
    const int64_t count = 256;
    Tensor *table = tensor_constant(b->net.cx, "table", I8, 1, &count, NULL);
    int8_t *v = own_data(b->net.cx, table);
    for (int i = 0; i < count; i++) v[i] = (int8_t)(i < 100 ? -9 : chance(b, 256) - 128);
    Value *y = new_value(b, two(&b->net, "lookup", "table", x->t, table, ""), x->h, x->w, x->c);
    for (int k = 0; y->t && k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(y); e++) y->v[k][e] = v[x->v[k][e] + (x->t->type == I8 ? 128 : 0)];
}

/* A product with a factor for each channel in another type, which may wrap, and back. */
static void add_product(Big *b, const Value *x)
{
    static const DType types[] = { I16, U16, I32, U32, I64 };
    Net *n = &b->net;
    const DType type = types[chance(b, 5)], to = chance(b, 3) ? x->t->type : I16;
    const int64_t count = x->c;
    Tensor *f = tensor_constant(n->cx, "f", type, 1, &count, NULL);
    void *data = own_data(n->cx, f);
    for (int64_t c = 0; c < count; c++) {
        const int64_t v = chance(b, 4) == 0 ? 0 : chance(b, 3);
        dtype_store(type, data, c, (Scalar){ .i = v });
    }
    Tensor *t = two(n, "mul", "product", call_of(b, "cast", text_format(n->cx, "to=%s", name_of(type)), x->t), f, "");
    Value *y = new_value(b, call_of(b, "cast", text_format(n->cx, "to=%s", name_of(to)), t), x->h, x->w, x->c);
    for (int k = 0; y->t && k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(y); e++)
            y->v[k][e] = wrapped(to, wrapped(type, wrapped(type, x->v[k][e]) * dtype_load(type, data, e % y->c).i));
}

static void add_other(Big *b, const Value *x)
{
    const bool is_byte = x->t->type != I16;
    switch (chance(b, 6)) {
    case 0: if (is_byte) add_sum(b, x, mate_of(b, x, true)); break;
    case 1: if (x->c < 2 * b->width) add_concat(b, x, mate_of(b, x, false)); break;
    case 2: add_slice(b, x); break;
    case 3: add_pool(b, x); break;
    case 4: if (is_byte) add_table(b, x); break;
    default: add_product(b, x);
    }
}

/* ---- Networks ---------------------------------------------------------------------------------------------------- */

static Big *begin(uint32_t seed, int width)
{
    Net net = net_new(seed * UINT32_C(2654435761) + 17);
    Big *b = NEW(net.cx->arena, Big);
    *b = (Big){ .net = net, .width = width };
    const int side = 1 + chance(b, 4), channels = 1 + chance(b, 8);
    Tensor *t = tensor_new_fixed(net.cx, "x", I8, SHAPE(1, side, side, channels));
    b->net.input[b->net.input_count++] = t;
    Value *x = new_value(b, t, side, side, channels);
    for (int k = 0; k < INPUTS; k++)
        for (int64_t e = 0; e < elems_of(x); e++) x->v[k][e] = chance(b, 256) - 128;
    return b;
}

/* Few widths, so that layers share weights. */
static int width_of_layer(Big *b) { return chance(b, 6) ? b->width : 1 + chance(b, b->width); }

static void grow(Big *b, int layers)
{
    while (b->layers < layers && b->count < MOST_VALUES - 2 && !ctx_failed(b->net.cx)) {
        const Value *x = &b->value[b->count - 1 - (chance(b, 6) ? 0 : chance(b, b->count < 4 ? b->count : 4))];
        const int kind = chance(b, 10);
        if (kind < 2 && x->c > 1) add_other(b, x);
        else add_layer(b, x, chance(b, 2) ? 3 : 1, kind == 9 ? 0 : width_of_layer(b));
    }
    if (ctx_failed(b->net.cx)) return;
    add_layer(b, &b->value[b->count - 1], 1, 4);
    net_output(&b->net, b->value[b->count - 1].t);
    if (chance(b, 3) == 0) net_output(&b->net, b->value[b->count - 1 - chance(b, 4)].t);
}

static const Value *value_of(const Big *b, const Tensor *t)
{
    int i = 0;
    while (b->value[i].t != t) i++;
    return &b->value[i];
}

/* Returns the number of elements of the graph's outputs that differ from the plain formulas'; -1: it does not run. */
static int64_t differences(Big *b, const Graph *g, int k)
{
    Ctx *cx = b->net.cx;
    Env *env = env_new(cx);
    const Value *x = &b->value[0];
    int8_t *data = NEW_ARRAY(cx->arena, int8_t, elems_of(x));
    int64_t count = 0;
    for (int64_t e = 0; e < elems_of(x); e++) data[e] = (int8_t)x->v[k][e];
    env_set_const(env, g->input[0], data);
    if (!run_calls(cx, g->output, g->output_count, env, false)) return -1;
    for (int o = 0; o < g->output_count; o++) {
        const Value *y = value_of(b, b->net.output[o]);
        const Tensor *t = g->output[o];
        if (t->type != y->t->type || tensor_elems(t) != elems_of(y)) return -1;
        for (int64_t e = 0; e < elems_of(y); e++) count += dtype_load(t->type, env_get(env, t), e).i != y->v[k][e];
    }
    return count;
}

typedef struct Tally { int nets, shrunk, layers; int64_t weights; } Tally;

/* A network, and how it is shrunk. share: the part of the analysis' budget that it has, in thousandths. */
typedef struct Trial { uint32_t seed; int layers, width, share; const char *target; } Trial;

static Graph shrunk_by(Big *b, const Trial *t)
{
    Graph g = net_graph(&b->net);
    g.target = t->target ? target_find(b->net.cx, t->target) : NULL;
    return ctx_failed(b->net.cx) ? g : shrink_within(b->net.cx, g, ranges_budget(b->net.cx, &g) * t->share / 1000);
}

/* False, with what reproduces it, if an output differs. */
static bool is_lossless(const Trial *t, Tally *tally)
{
    Big *b = begin(t->seed, t->width);
    Ctx *cx = b->net.cx;
    grow(b, t->layers);
    const Graph was = net_graph(&b->net), is = shrunk_by(b, t);
    int64_t wrong = ctx_failed(cx) ? -1 : 0, plain = 0;
    for (int k = 0; k < INPUTS && wrong == 0; k++) {
        wrong = differences(b, &is, k);
        plain = wrong ? differences(b, &was, k) : 0;
    }
    if (wrong)
        printf("# seed %u: %d layers, width %d, target %s, %d thousandths of the budget: %lld elements differ, %lld "
               "without shrinking; %s\n", t->seed, t->layers, t->width, t->target ? t->target : "none", t->share,
               (long long)wrong, (long long)plain, ctx_failed(cx) ? diag_text(cx, cx->diags) : "");
    tally->nets++;
    tally->shrunk += is.shrunk_count > 0;
    tally->layers += b->layers;
    tally->weights = b->stored > tally->weights ? b->stored : tally->weights;
    ctx_free(cx);
    return wrong == 0;
}

static void print_tally(const Tally *t)
{
    printf("# %d networks of %d layers, up to %lld weights; %d lose channels\n", t->nets, t->layers,
           (long long)t->weights, t->shrunk);
}

/* A few short networks of fixed seeds, each with budgets that end at different places. */
static void short_networks(void)
{
    static const int shares[] = { 1000, 0, 1, 4, 7, 10, 13, 16, 20, 25, 30, 40, 50, 70, 100 };
    static const Trial trials[] = { { 2, 20, 8, 0, NULL }, { 3, 20, 12, 0, "cortex-m55" }, { 4, 8, 16, 0, NULL } };
    Tally tally = { 0 };
    int failed = 0;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0] * 15; i++) {
        Trial t = trials[i / 15];
        t.share = shares[i % 15];
        failed += !is_lossless(&t, &tally);
    }
    print_tally(&tally);
    check_that(!failed, "short networks keep their outputs whatever the budget", "%d do not", failed);
    check_that(tally.shrunk > 10 && tally.shrunk < tally.nets, "the budget decides whether they lose channels",
               "%d of %d do", tally.shrunk, tally.nets);
}

/* Long networks: up to 200 layers of up to 160 channels, whose weights are up to some millions in all. */
static void long_networks(int count, uint32_t first)
{
    static const int widths[] = { 8, 16, 32, 64, 64, 96, 160 };
    static const char *const targets[] = { NULL, "cortex-m4", "cortex-m55", "x86-avx2" };
    Tally tally = { 0 };
    int failed = 0;
    printf("# seeds %u to %u\n", first, first + (uint32_t)count - 1);
    fflush(stdout);
    for (int i = 0; i < count; i++) {
        uint32_t drawn = (first + (uint32_t)i) * UINT32_C(40503) + 3;
        Trial t = { first + (uint32_t)i, 50 + (int)(draw(&drawn) % 151), widths[draw(&drawn) % 7], 1000, NULL };
        t.target = targets[draw(&drawn) % 4];
        if (draw(&drawn) % 3 == 0) t.share = (int)(draw(&drawn) % 1000);
        failed += !is_lossless(&t, &tally);
        fflush(stdout);
    }
    print_tally(&tally);
    check_that(!failed, "long networks keep their outputs", "%d of %d do not", failed, count);
    check_that(tally.shrunk > count / 4, "many lose channels", "%d of %d", tally.shrunk, count);
}

int main(int argc, char **argv)
{
    if (argc > 1) long_networks(atoi(argv[1]), argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1);
    else CHECK_RUN(short_networks);
    return check_done();
}
