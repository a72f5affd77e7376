/* SPDX-License-Identifier: MIT */
/* Lossless shrinking on small handwritten int8 networks: which channels stay; every output keeps its bytes, by the
 * evaluator on the graph before and after, for random and extreme inputs. Then random networks with filters of zeros,
 * sums that saturate, padding and several consumers: the same, and every element is inside the range proved for its
 * channel.
 *
 *   test_shrink [COUNT]    COUNT random networks, 100 by default */
#include "graphs.h"
#include "own_data.h"

#include <stdlib.h>

#include "graph/shrink/facts.h"

/* ---- Networks ---------------------------------------------------------------------------------------------------- */

static Tensor *input(Net *n, int rank, const int64_t *shape)
{
    return n->input[n->input_count++] = tensor_new_fixed(n->cx, "x", I8, rank, shape);
}

static Tensor *image(Net *n, int64_t channels) { return input(n, SHAPE(1, 5, 4, channels)); }

/* Whole numbers in [-most, most]. */
static Tensor *numbers(Net *n, DType t, int most, int rank, const int64_t *shape)
{
    Tensor *c = tensor_constant(n->cx, "c", t, rank, shape, NULL);
    void *data = own_data(n->cx, c);
    for (int64_t i = 0; i < tensor_elems(c); i++)
        dtype_store(t, data, i, (Scalar){ .i = pick(n, 2 * most + 1) - most });
    return c;
}

static void put(Net *n, Tensor *c, int64_t at, int64_t v)
{
    dtype_store(c->type, own_data(n->cx, c), at, (Scalar){ .i = v });
}

/* All that has the last index `channel` becomes v. */
static void put_channel(Net *n, Tensor *c, int64_t channel, int64_t v)
{
    int64_t last = last_dim(c);
    for (int64_t i = channel; i < tensor_elems(c); i += last) put(n, c, i, v);
}

enum { SATURATES = 4000000, ZERO = -5 };

typedef struct Layer { Tensor *k, *b, *y; } Layer;

/* op(x, k) + b, scaled to int8 with the zero point ZERO. A filter of zeros with a bias of 0 gives ZERO itself. */
static Layer layer(Net *n, const char *label, const char *op, Tensor *x, Tensor *k, const char *attrs)
{
    Layer l = { k, numbers(n, I32, 900, SHAPE(last_dim(k))), NULL };
    Tensor *sums = call_text(n->cx, op, label, (Tensor *[]){ x, k }, 2, "%s zero=%d", attrs, ZERO);
    l.y = one(n, "rescale", label, two(n, "add", label, sums, l.b, ""), "multiplier=1518500250 shift=4 zero=-5");
    return l;
}

static Layer pointwise(Net *n, const char *label, Tensor *x, int64_t outputs)
{
    return layer(n, label, "conv2d", x, numbers(n, I8, 100, SHAPE(1, 1, last_dim(x), outputs)), "");
}

static Layer square(Net *n, const char *label, Tensor *x, int64_t outputs, const char *attrs)
{
    return layer(n, label, "conv2d", x, numbers(n, I8, 100, SHAPE(3, 3, last_dim(x), outputs)), attrs);
}

static Layer depthwise(Net *n, const char *label, Tensor *x, const char *attrs)
{
    return layer(n, label, "depthwise_conv2d", x, numbers(n, I8, 100, SHAPE(3, 3, last_dim(x))), attrs);
}

/* The channel holds `value` always: its filter is zeros. Any int8 is reached: sums of (v - ZERO) * 16 / 0.7071. */
static void make_constant(Net *n, Layer l, int64_t channel, int64_t value)
{
    put_channel(n, l.k, channel, 0);
    put_channel(n, l.b, channel, ((value - ZERO) * 16 * 1000 + (value < ZERO ? -353 : 353)) / 707);
}

/* ---- Before and after -------------------------------------------------------------------------------------------- */

enum { KINDS = 6 };

/* All least, all greatest, least and greatest alternately, the zero point, and random ones: over all values, and near
 * it. */
static const void **inputs_of(Net *n, int kind)
{
    const void **data = NEW_ARRAY(n->cx->arena, const void *, NET_ROOM);
    for (int i = 0; i < n->input_count; i++) {
        int8_t *at = arena_alloc(n->cx->arena, (size_t)tensor_bytes(n->input[i]));
        data[i] = at;
        for (int64_t e = 0; e < tensor_elems(n->input[i]); e++) {
            const int any = pick(n, 256) - 128;
            const int values[KINDS] = { -128, 127, e % 2 ? -128 : 127, ZERO, any, pick(n, 9) ? ZERO : any };
            at[e] = (int8_t)values[kind % KINDS];
        }
    }
    return data;
}

static bool keeps_bytes(Net *n, const Graph *was, const Graph *is, int times)
{
    const void *wanted[NET_ROOM], *found[NET_ROOM];
    for (int k = 0; k < times; k++) {
        const void **in = inputs_of(n, k);
        if (!evaluate_graph(n, was, in, wanted) || !evaluate_graph(n, is, in, found)) return false;
        for (int i = 0; i < was->output_count; i++) {
            const Tensor *a = was->output[i], *b = is->output[i];
            if (a->type != b->type || strcmp(tensor_shape_text(n->cx, a), tensor_shape_text(n->cx, b)) != 0)
                return false;
            if (memcmp(wanted[i], found[i], (size_t)tensor_bytes(a)) != 0) return false;
        }
    }
    return true;
}

/* "a 3 of 4, b 0 of 2": the smaller layers, and the channels that stay. */
static const char *shrunk_text(Net *n, const Graph *g)
{
    Text t = text_new(n->cx);
    for (int i = 0; i < g->shrunk_count; i++)
        text_printf(&t, "%s%s %lld of %lld", i ? ", " : "", g->shrunk[i].name, (long long)g->shrunk[i].is.channels,
                    (long long)g->shrunk[i].was.channels);
    return text_string(&t);
}

static void check_shrunk_for(Net n, const char *target, const char *name, const char *wanted)
{
    Graph was = net_graph(&n);
    if (target) was.target = target_find(n.cx, target);
    Graph is = ctx_failed(n.cx) ? was : graph_shrink(n.cx, was);
    const char *found = ctx_failed(n.cx) ? net_error(&n) : shrunk_text(&n, &is);
    bool is_good = strcmp(found, wanted) == 0 && (*wanted || is.output[0] == was.output[0]);
    if (check_that(is_good, name, "%s; wanted %s", found, wanted)) {
        Graph all = passed(&n, was);
        check_that(keeps_bytes(&n, &was, &is, 30) && keeps_bytes(&n, &was, &all, 6),
                   text_format(n.cx, "%s-bytes", name), "an output differs");
    }
    ctx_free(n.cx);
}

static void check_shrunk(Net n, const char *name, const char *wanted) { check_shrunk_for(n, NULL, name, wanted); }

/* Vectors of eight channels: dead ones fill the last vector. */
static void whole_vectors(void)
{
    Net n = net_new(11);
    Layer a = pointwise(&n, "a", image(&n, 3), 16);
    for (int i = 0; i < 11; i++) make_constant(&n, a, i, ZERO);
    net_output(&n, pointwise(&n, "c", a.y, 2).y);
    check_shrunk_for(n, "x86-avx2", "dead-channels-fill-a-vector", "a 8 of 16, c 2 of 2");

    n = net_new(12);
    a = pointwise(&n, "a", image(&n, 3), 7);
    make_constant(&n, a, 3, ZERO);
    net_output(&n, pointwise(&n, "c", a.y, 2).y);
    check_shrunk_for(n, "x86-avx2", "fewer-than-a-vector-fill-none", "a 6 of 7, c 2 of 2");
}

/* ---- Dead and live channels -------------------------------------------------------------------------------------- */

static void zero_filters(void)
{
    Net n = net_new(1);
    Layer a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 1, ZERO);
    make_constant(&n, a, 3, ZERO);
    Layer b = depthwise(&n, "b", a.y, "pad=1,1,1,1");
    net_output(&n, pointwise(&n, "c", b.y, 2).y);
    check_shrunk(n, "zero-filters-through-padded-depthwise", "a 2 of 4, b 2 of 4, c 2 of 2");

    n = net_new(2);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 2, 77);
    net_output(&n, square(&n, "b", a.y, 2, "").y);
    check_shrunk(n, "a-constant-goes-into-the-bias", "a 3 of 4, b 2 of 2");

    n = net_new(3);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 2, 77);
    make_constant(&n, a, 0, ZERO);
    net_output(&n, square(&n, "b", a.y, 2, "pad=1,1,1,1").y);
    check_shrunk(n, "behind-padding-only-the-zero-point-goes", "a 3 of 4, b 2 of 2");

    n = net_new(4);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 2, 77);
    b = depthwise(&n, "b", a.y, "pad=1,1,1,1 stride=2");
    net_output(&n, pointwise(&n, "c", b.y, 2).y);
    check_shrunk(n, "a-constant-that-a-border-changes-stays", "");

    n = net_new(5);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 2, 77);
    net_output(&n, pointwise(&n, "c", depthwise(&n, "b", a.y, "").y, 2).y);
    check_shrunk(n, "a-constant-without-a-border-goes", "a 3 of 4, b 3 of 4, c 2 of 2");

    n = net_new(6);
    a = pointwise(&n, "a", image(&n, 3), 4);
    for (int i = 0; i < 4; i++) make_constant(&n, a, i, 10 * i);
    net_output(&n, pointwise(&n, "c", a.y, 2).y);
    check_shrunk(n, "one-channel-stays-of-none", "a 1 of 4, c 2 of 2");
}

static void saturation(void)
{
    Net n = net_new(7);
    Layer a = pointwise(&n, "a", image(&n, 3), 4);
    put(&n, a.b, 0, SATURATES);
    put(&n, a.b, 3, -SATURATES);
    net_output(&n, pointwise(&n, "c", a.y, 2).y);
    check_shrunk(n, "saturated-channels", "a 2 of 4, c 2 of 2");

    n = net_new(8);
    a = pointwise(&n, "a", image(&n, 3), 4);
    put(&n, a.b, 0, 3000);                           /* reaches 127 for some inputs only */
    net_output(&n, pointwise(&n, "c", a.y, 2).y);
    check_shrunk(n, "sometimes-saturated-stays", "");
}

static void unread_channels(void)
{
    Net n = net_new(9);
    Layer a = pointwise(&n, "a", image(&n, 3), 4), b = pointwise(&n, "b", a.y, 3);
    for (int o = 0; o < 3; o++) put(&n, b.k, 1 * 3 + o, 0);
    net_output(&n, b.y);
    check_shrunk(n, "weights-of-zero-read-nothing", "a 3 of 4, b 3 of 3");

    n = net_new(10);
    a = pointwise(&n, "a", image(&n, 3), 4), b = pointwise(&n, "b", a.y, 3);
    for (int o = 0; o < 2; o++) put(&n, b.k, 1 * 3 + o, 0);
    make_constant(&n, b, 2, 40);
    put(&n, b.k, 1 * 3 + 2, 0);
    net_output(&n, pointwise(&n, "c", b.y, 2).y);
    check_shrunk(n, "what-goes-reads-nothing", "a 3 of 4, b 2 of 3, c 2 of 2");

    n = net_new(11);
    a = pointwise(&n, "a", image(&n, 3), 4), b = pointwise(&n, "b", a.y, 3);
    for (int o = 0; o < 3; o++) put(&n, b.k, 1 * 3 + o, 0);
    net_output(&n, b.y);
    net_output(&n, pointwise(&n, "other", a.y, 2).y);
    check_shrunk(n, "another-reader-keeps-it", "");

    n = net_new(12);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 0, ZERO);
    net_output(&n, pointwise(&n, "b", a.y, 3).y);
    net_output(&n, a.y);
    check_shrunk(n, "an-output-keeps-its-channels", "");
}

static Tensor *sum_of(Net *n, const char *label, Tensor *a, Tensor *b)
{
    const char *scaled = "zero_x=-5 left=20 multiplier=1073741824 to=i32";
    Tensor *sums = two(n, "add", label, one(n, "rescale", label, a, scaled), one(n, "rescale", label, b, scaled), "");
    return one(n, "rescale", label, sums, "multiplier=1300000000 shift=18 zero=-5");
}

static void several_operands(void)
{
    Net n = net_new(13);
    Layer a = pointwise(&n, "a", image(&n, 3), 4), b = pointwise(&n, "b", n.input[0], 4);
    make_constant(&n, a, 0, ZERO);
    make_constant(&n, a, 1, 30);
    make_constant(&n, b, 1, 3);
    net_output(&n, pointwise(&n, "c", sum_of(&n, "sum", a.y, b.y), 2).y);
    check_shrunk(n, "a-sum-of-constants-goes", "a 3 of 4, b 3 of 4, c 2 of 2");

    n = net_new(14);
    a = pointwise(&n, "a", image(&n, 3), 3), b = pointwise(&n, "b", n.input[0], 2);
    for (int i = 0; i < 3; i++) make_constant(&n, a, i, 9 * i);
    net_output(&n, pointwise(&n, "c", two(&n, "concat", "join", a.y, b.y, "axis=3"), 2).y);
    check_shrunk(n, "a-dead-half-is-left-out", "a 0 of 3, c 2 of 2");

    n = net_new(15);
    a = pointwise(&n, "a", image(&n, 3), 3), b = pointwise(&n, "b", n.input[0], 3);
    make_constant(&n, a, 2, 9);
    make_constant(&n, b, 0, 1);
    Tensor *joined = call_text(n.cx, "concat", "join", (Tensor *[]){ a.y, b.y, n.input[0] }, 3, "axis=-1");
    net_output(&n, pointwise(&n, "c", joined, 2).y);
    check_shrunk(n, "concat-piece-by-piece", "a 2 of 3, b 2 of 3, c 2 of 2");

    n = net_new(16);
    a = pointwise(&n, "a", image(&n, 3), 3), b = pointwise(&n, "b", n.input[0], 3);
    make_constant(&n, a, 1, 9);
    make_constant(&n, b, 1, 9);
    net_output(&n, pointwise(&n, "c", two(&n, "concat", "join", a.y, b.y, "axis=1"), 2).y);
    check_shrunk(n, "concat-along-rows", "a 2 of 3, b 2 of 3, c 2 of 2");
}

static Tensor *dense_layer(Net *n, const char *label, Tensor *x, int64_t outputs)
{
    return layer(n, label, "dense", x, numbers(n, I8, 100, SHAPE(last_dim(x), outputs)), "").y;
}

static void pools_and_views(void)
{
    Net n = net_new(17);
    Layer a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 1, -77);
    Tensor *x = one(&n, "max_pool2d", "max", a.y, "kernel=3 pad=1,1,1,1");
    x = one(&n, "avg_pool2d", "mean", x, "kernel=2 stride=2");
    net_output(&n, dense_layer(&n, "d", one(&n, "flatten", "flat", x, ""), 3));
    check_shrunk(n, "pools-and-a-flattened-image", "a 3 of 4, d 3 of 3");

    /* -77 divided by the taps inside is -77, but intervals do not prove it */
    n = net_new(27);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 1, -77);
    net_output(&n, pointwise(&n, "c", one(&n, "avg_pool2d", "mean", a.y, "kernel=2 pad=1,1,0,0"), 3).y);
    check_shrunk(n, "a-padded-mean-stays", "");

    n = net_new(18);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 1, -77);
    x = one(&n, "reduce_sum", "mean", one(&n, "cast", "wide", a.y, "to=i32"), "axes=1,2");
    x = one(&n, "rescale", "mean", x, "multiplier=1400000000 shift=4 zero=-5");
    net_output(&n, dense_layer(&n, "d", one(&n, "clip", "clip", x, "min=-60 max=90"), 3));
    check_shrunk(n, "mean-and-clip", "a 3 of 4, d 3 of 3");

    n = net_new(19);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 1, -77);
    x = one(&n, "pad", "pad", a.y, "pad=0,1,1,0,0,1,1,0 value=-77");
    net_output(&n, square(&n, "c", two(&n, "lookup", "table", x, numbers(&n, I8, 120, SHAPE(256)), ""), 2, "").y);
    check_shrunk(n, "pad-by-the-constant-and-a-table", "a 3 of 4, c 2 of 2");
}

/* The proof keeps channels of operators with per-channel attributes. */
static void what_stays(void)
{
    static const struct { const char *name, *op, *attrs; } rows[] = {
        { "slice-of-channels", "slice", "begin=1 end=4 axes=3" }, { "padded-channels", "pad", "pad=0,0,0,1,0,0,0,1" },
        { "softmax-over-channels", "softmax_fixed", "" },         { "transposed", "transpose", "perm=0,3,1,2" },
        { "turned-and-back", "transpose", "perm=0,2,1,3" },       { "mean-over-channels", "reduce_max",
          "axes=3 keepdims=1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Net n = net_new(20 + (uint32_t)i);
        Layer a = pointwise(&n, "a", image(&n, 3), 4);
        make_constant(&n, a, 2, ZERO);
        net_output(&n, pointwise(&n, "c", one(&n, rows[i].op, "op", a.y, rows[i].attrs), 2).y);
        check_shrunk(n, rows[i].name, strcmp(rows[i].name, "turned-and-back") == 0 ? "a 3 of 4, c 2 of 2" : "");
    }
    Net n = net_new(30);
    Layer a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 2, ZERO);
    net_output(&n, layer(&n, "c", "conv2d", a.y, numbers(&n, I8, 100, SHAPE(1, 1, 2, 6)), "groups=2").y);
    check_shrunk(n, "groups", "");

    n = net_new(32);                             /* the same slice of the remaining channels is another one */
    a = pointwise(&n, "a", image(&n, 3), 4);
    Tensor *middle = one(&n, "slice", "middle", a.y, "begin=1 end=3 axes=3");
    Layer other = pointwise(&n, "other", a.y, 2);
    put(&n, other.k, 0, 0);
    put(&n, other.k, 1, 0);
    net_output(&n, middle);
    net_output(&n, other.y);
    check_shrunk(n, "a-slice-that-would-move", "");

    n = net_new(31);
    a = pointwise(&n, "a", image(&n, 3), 4);
    make_constant(&n, a, 2, ZERO);
    Layer b = layer(&n, "b", "depthwise_conv2d", a.y, numbers(&n, I8, 100, SHAPE(3, 3, 8)), "pad=1,1,1,1");
    net_output(&n, pointwise(&n, "c", b.y, 2).y);
    check_shrunk(n, "depthwise-with-a-multiplier", "a 3 of 4, b 6 of 8, c 2 of 2");
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

/* "conv in 0..9, rescale free": the facts in the operators' rows about the calls. */
static void check_facts(Net n, const char *name, const char *wanted)
{
    Graph g = net_graph(&n);
    const Fact *fact;
    Text t = text_new(n.cx);
    int count = ctx_failed(n.cx) ? 0 : graph_facts(n.cx, &g, &fact);
    for (int i = 0; i < count; i++) {
        text_printf(&t, "%s%s", i ? ", " : "", fact[i].call->op->name);
        if (fact[i].is_sum)
            text_printf(&t, " %lld..%lld", (long long)fact[i].sum.least, (long long)fact[i].sum.greatest);
        if (fact[i].clamps) text_add(&t, fact[i].binds ? " binds" : " is free");
    }
    check_that(strcmp(text_string(&t), wanted) == 0, name, "%s; wanted %s", ctx_failed(n.cx) ? net_error(&n) : t.at,
               wanted);
    ctx_free(n.cx);
}

static void facts(void)
{
    Net n = net_new(40);
    Tensor *k = numbers(&n, I8, 0, SHAPE(2, 1));
    put(&n, k, 0, 3);
    put(&n, k, 1, -2);
    Tensor *sums = two(&n, "dense", "d", input(&n, SHAPE(1, 2)), k, "zero=-5");       /* x + 5 in -123..132 */
    /* By 8: -79..81, and -5 */
    net_output(&n, one(&n, "rescale", "r", sums, "multiplier=1073741824 shift=2 zero=-5"));
    net_output(&n, one(&n, "rescale", "s", sums, "multiplier=1073741824 shift=1 zero=-5"));
    net_output(&n, one(&n, "rescale", "r", sums, "multiplier=1073741824 shift=2 zero=-5 min=-5"));
    check_facts(n, "sums-and-clamps", "dense -633..642, rescale is free, rescale binds, rescale binds");
}

/* ---- Random networks --------------------------------------------------------------------------------------------- */

static void spoil(Net *n, Layer l)
{
    for (int64_t c = 0; c < last_dim(l.k); c++)
        switch (pick(n, 5)) {
        case 0: make_constant(n, l, c, ZERO); break;
        case 1: make_constant(n, l, c, pick(n, 256) - 128); break;
        case 2: put(n, l.b, c, pick(n, 2) ? SATURATES : -SATURATES); break;
        default: break;
        }
}

static Tensor *chance_layer(Net *n, Tensor *x)
{
    static const char *const pads[] = { "", "pad=1,1,1,1", "pad=1,1,1,1 stride=2", "pad=0,1,1,0" };
    bool fits = tensor_dim(x, 1) >= 3 && tensor_dim(x, 2) >= 3;
    const char *attrs = pads[fits ? pick(n, 4) : 1];
    int kind = pick(n, 4);
    Layer l = kind == 0   ? depthwise(n, "dw", x, attrs)
              : kind == 1 ? square(n, "sq", x, 1 + pick(n, 6), attrs)
                          : pointwise(n, "pw", x, 1 + pick(n, 8));
    spoil(n, l);
    return l.y;
}

static Tensor *chance_call(Net *n, Pool *p)
{
    Tensor *x = any_of(p);
    switch (pick(n, 13)) {
    case 0: return two(n, "concat", "join", x, mate(p, x, 3), "axis=3");
    case 1: return sum_of(n, "sum", x, mate(p, x, -1));
    case 2: return one(n, "max_pool2d", "max", x, "kernel=3 pad=1,1,1,1");
    case 3: return one(n, "avg_pool2d", "avg", x, "kernel=2 pad=0,0,1,1");
    case 4: return one(n, "clip", "clip", x, "min=-100 max=50");
    case 5: return two(n, "lookup", "table", x, numbers(n, I8, 120, SHAPE(256)), "");
    case 6: return last_dim(x) > 1 ? one(n, "slice", "slice", x, "begin=1 end=9 axes=3") : x;
    case 7: return one(n, "pad", "pad", x, pick(n, 2) ? "pad=0,1,0,0,0,0,1,0 value=-5" : "pad=0,0,0,1,0,0,0,0 value=3");
    case 8: return one(n, "transpose", "turn", x, pick(n, 2) ? "perm=0,2,1,3" : "perm=0,1,3,2");
    default: return chance_layer(n, x);
    }
}

static Net chance_net(uint32_t seed)
{
    Net net = net_new(seed * UINT32_C(2654435761) + 5), *n = &net;
    Pool p = { n, 0, { NULL } };
    p.at[p.count++] = image(n, 1 + pick(n, 4));
    int calls = 3 + pick(n, 9);
    for (int i = 0; i < calls && !ctx_failed(n->cx); i++) {
        Tensor *t = chance_call(n, &p);
        if (t && tensor_elems(t) <= 400) p.at[p.count++] = t;
    }
    Tensor *last = p.at[p.count - 1];
    net_output(n, pick(n, 3) ? pointwise(n, "out", last, 3).y
                             : dense_layer(n, "out", one(n, "flatten", "flat", last, ""), 3));
    if (pick(n, 4) == 0) net_output(n, p.at[pick(n, p.count)]);
    return net;
}

/* The first call that leaves the range of a channel for the inputs; NULL: none. */
static const char *first_outside(Net *n, const Graph *g, const void *const *inputs)
{
    const GraphRanges *r = graph_ranges(n->cx, g, ranges_budget(n->cx, g));
    Env *env = env_new(n->cx);
    Node **order;
    int count = graph_order(n->cx, g, &order);
    for (int i = 0; i < g->input_count; i++) env_set_const(env, g->input[i], inputs[i]);
    for (int i = 0; i < count; i++) {
        Tensor *const *out = op_expand(n->cx, order[i]);
        const ChannelRange *c = channel_range(r, order[i]->out[0]);
        if (!evaluate(n->cx, env, out, order[i]->out_count)) return "no value";
        env_set_const(env, order[i]->out[0], env_get(env, out[0]));
        for (int64_t e = 0; c && e < tensor_elems(out[0]); e++) {
            int64_t v = dtype_load(out[0]->type, env_get(env, out[0]), e).i;
            if (v < c->at[e % c->count].least || v > c->at[e % c->count].greatest) return order[i]->op->name;
        }
    }
    return NULL;
}

static void by_chance(int nets)
{
    int shrunk = 0, whole = 0;
    const char *what = NULL;
    for (int seed = 1; seed <= nets && !what; seed++) {
        Net n = chance_net((uint32_t)seed);
        Graph was = net_graph(&n), is = ctx_failed(n.cx) ? was : graph_shrink(n.cx, was);
        if (ctx_failed(n.cx)) what = "an error";
        else if (!keeps_bytes(&n, &was, &is, KINDS + 2)) what = "another output";
        else if (first_outside(&n, &was, inputs_of(&n, seed))) what = "an element outside its range";
        shrunk += is.shrunk_count > 0;
        whole += is.shrunk_count == 0;
        if (what) printf("seed %d: %s\n", seed, ctx_failed(n.cx) ? net_error(&n) : what);
        ctx_free(n.cx);
    }
    check_that(!what, "networks-by-chance", "%s", what ? what : "");
    check_that(shrunk > nets / 4 && whole > nets / 40, "some-shrink-and-some-do-not", "%d of %d shrink", shrunk, nets);
}

int main(int argc, char **argv)
{
    CHECK_RUN(zero_filters, whole_vectors, saturation, unread_channels, several_operands, pools_and_views, what_stays,
              facts);
    by_chance(argc > 1 ? atoi(argv[1]) : 100);
    return check_done();
}
