/* SPDX-License-Identifier: MIT */
/* Operators: every row's cases (types, shapes, refusals), and values by the evaluator against plain loops
 * written here. */
#include "context/context.h"
#include "check.h"
#include "op_cases.h"
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interpret/evaluate.h"
#include "support/text.h"

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* The values of output 0. */
static const void *values(Made *m)
{
    if (!m->node) return NULL;
    Tensor *const *out = op_expand(m->cx, m->node);
    Env *env = env_new(m->cx);
    return evaluate(m->cx, env, out, 1) ? env_get(env, out[0]) : NULL;
}

static const char *type_and_shape(Ctx *cx, const Tensor *t)
{
    return text_format(cx, "%s%s", dtype_info(t->type)->spelling, t->rank ? tensor_shape_text(cx, t) : "");
}

static void check_case(const Op *op, const OpCase *c)
{
    Made m = make_call(op->name, c->attrs, c->inputs);
    const char *label = text_format(m.cx, "%s %s %s %s", op->name, c->attrs, c->inputs,
                                    c->refusal ? "is refused" : text_format(m.cx, "gives %s", c->output));
    const char *error = m.cx->diags ? diag_text(m.cx, m.cx->diags) : "";
    if (c->refusal) {
        check_that(!m.node && ctx_failed(m.cx) && strstr(error, c->refusal), label,
                   "wanted a refusal with \"%s\", got \"%s\"", c->refusal, error);
    } else if (check_that(m.node != NULL, label, "%s", error)) {
        const char *found = type_and_shape(m.cx, m.node->out[0]);
        check_that(strcmp(found, c->output) == 0, label, "%s, wanted %s", found, c->output);
        check_that(values(&m) != NULL, label, "cannot be evaluated: %s",
                   m.cx->diags ? diag_text(m.cx, m.cx->diags) : "");
    }
    ctx_free(m.cx);
}

static void check_rows(void)
{
    Ctx *cx = context_new(NULL, NULL);
    int count;
    const Op *const *op = op_list(cx, &count);
    for (int i = 0; i < count; i++) {
        check_that(op[i]->cases && op[i]->cases->inputs, text_format(cx, "%s has cases", op[i]->name), "none");
        for (const OpCase *c = op[i]->cases; c && c->inputs; c++) check_case(op[i], c);
    }
    ctx_free(cx);
}

/* ---- Values: the results of ONNX Runtime ------------------------------------------------------------------------- */

typedef struct Vector { const char *op, *attrs, *inputs; int count; const double *values; } Vector;
static const Vector vectors[] = {
#include "op_vectors.h"
};

static bool is_near(double a, double b) { return fabs(a - b) <= 2e-6 + 2e-6 * fabs(b); }

/* Returns the first element of the call's output that differs from `expected`, or -1. */
static int64_t first_difference(Made *m, const double *wanted, double *found)
{
    const void *data = values(m);
    if (!data) return 0;
    const Tensor *y = m->node->out[0];
    for (int64_t i = 0; i < tensor_elems(y); i++) {
        Scalar s = dtype_load(y->type, data, i);
        *found = dtype_is_float(y->type) ? s.f : (double)s.i;
        if (!is_near(*found, wanted[i])) return i;
    }
    return -1;
}

static void check_vectors(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const Vector *v = &vectors[i];
        Made m = make_call(v->op, v->attrs, v->inputs);
        double found = 0;
        int64_t at = m.node && tensor_elems(m.node->out[0]) == v->count ? first_difference(&m, v->values, &found) : 0;
        check_that(at < 0, text_format(m.cx, "%s %s %s equals the recorded values", v->op, v->attrs, v->inputs),
                   "element %d is %g, recorded %g", (int)at, found, v->values[at < 0 ? 0 : at]);
        ctx_free(m.cx);
    }
}

/* ---- Values: plain loops ----------------------------------------------------------------------------------------- */

/* Element of x at (n, h, w, c), all images; a signal is an image of one row. Outside: `outside`. */
typedef struct Image { const Tensor *t; int64_t n, h, w, c; } Image;

static Image image_of(const Tensor *t)
{
    bool is_signal = t->rank == 3;
    return (Image){ t, tensor_dim(t, 0), is_signal ? 1 : tensor_dim(t, 1), tensor_dim(t, t->rank - 2),
                    tensor_dim(t, t->rank - 1) };
}

static double number_at(const Tensor *t, int64_t i)
{
    Scalar s = dtype_load(t->type, t->data, i);
    return dtype_is_float(t->type) ? s.f : (double)s.i;
}

static double pixel(const Image *x, int64_t n, int64_t h, int64_t w, int64_t c, double outside)
{
    if (h < 0 || h >= x->h || w < 0 || w >= x->w) return outside;
    return number_at(x->t, ((n * x->h + h) * x->w + w) * x->c + c);
}

/* { value along h, value along w } of an attribute, with one row's neutral value for signals. */
static void pair(const Node *n, const char *attr, bool is_signal, int64_t otherwise, int64_t *out)
{
    const Attr *a = node_attr(n, attr);
    out[0] = out[1] = otherwise;
    if (!a) return;
    if (a->count == 1) out[0] = out[1] = a->ints[0];
    else out[0] = a->ints[0], out[1] = a->ints[a->count / 2 > 1 ? 1 : a->count - 1];
    if (is_signal) out[0] = otherwise, out[1] = a->ints[0];
}

typedef struct Geometry { int64_t stride[2], dilation[2], before[2], after[2]; } Geometry;

static Geometry geometry(const Node *n)
{
    Geometry g;
    bool is_signal = n->in[0]->rank == 3;
    const Attr *pad = node_attr(n, "pad");
    pair(n, "stride", is_signal, 1, g.stride);
    pair(n, "dilation", is_signal, 1, g.dilation);
    for (int i = 0; i < 2; i++) g.before[i] = g.after[i] = 0;
    if (pad && is_signal) g.before[1] = pad->ints[0], g.after[1] = pad->ints[1];
    if (pad && !is_signal)
        for (int i = 0; i < 2; i++) g.before[i] = pad->ints[i], g.after[i] = pad->ints[2 + i];
    return g;
}

static double conv_at(const Node *n, const Image *x, const Geometry *g, int64_t b, int64_t h, int64_t w, int64_t o)
{
    const Tensor *k = n->in[1];
    bool is_signal = n->in[0]->rank == 3, is_depthwise = strstr(n->op->name, "depthwise") != NULL;
    int64_t kh = is_signal ? 1 : tensor_dim(k, 0), kw = tensor_dim(k, is_signal ? 0 : 1),
            outs = tensor_dim(k, k->rank - 1);
    int64_t groups = is_depthwise ? x->c : node_int(n, "groups", 1), each = x->c / groups, group = o / (outs / groups);
    double sum = 0, zero = (double)node_int(n, "zero", 0);
    for (int64_t i = 0; i < kh; i++)
        for (int64_t j = 0; j < kw; j++)
            for (int64_t c = 0; c < each; c++)
                sum += (pixel(x, b, h * g->stride[0] + i * g->dilation[0] - g->before[0],
                              w * g->stride[1] + j * g->dilation[1] - g->before[1], group * each + c, zero)
                        - zero)
                       * (number_at(k, ((i * kw + j) * each + c) * outs + o) - (double)node_int(n, "zero_w", 0));
    return sum;
}

static double pool_at(const Node *n, const Image *x, const Geometry *g, int64_t b, int64_t h, int64_t w, int64_t c)
{
    bool is_max = strncmp(n->op->name, "max", 3) == 0, counts_pad = node_int(n, "count_pad", 0) != 0;
    int64_t kernel[2];
    double sum = 0, most = -1e300, count = 0;
    pair(n, "kernel", x->t->rank == 3, 1, kernel);
    for (int64_t i = 0; i < kernel[0]; i++)
        for (int64_t j = 0; j < kernel[1]; j++) {
            int64_t y = h * g->stride[0] + i * g->dilation[0] - g->before[0],
                    z = w * g->stride[1] + j * g->dilation[1] - g->before[1];
            bool inside = y >= 0 && y < x->h && z >= 0 && z < x->w,
                 in_padding = y < x->h + g->after[0] && z < x->w + g->after[1];
            double v = pixel(x, b, y, z, c, is_max ? -1e300 : 0) - (inside ? (double)node_int(n, "zero", 0) : 0);
            sum += v;
            most = v > most ? v : most;
            count += inside || (counts_pad && in_padding);
        }
    if (node_int(n, "total", 0)) return sum;
    return is_max ? most : dtype_is_float(x->t->type) ? sum / count : round(sum / count);
}

typedef double At(const Node *n, const Image *x, const Geometry *g, int64_t b, int64_t h, int64_t w, int64_t c);

/* Every case of the operator that is not refused, element by element. */
static void check_windows(Ctx *names, const char *op_name, At *at)
{
    for (const OpCase *c = op_find(names, op_name)->cases; c->inputs; c++) {
        if (c->refusal) continue;
        Made m = make_call(op_name, c->attrs, c->inputs);
        if (!m.node) continue;
        Image x = image_of(m.node->in[0]), y = image_of(m.node->out[0]);
        Geometry g = geometry(m.node);
        double *wanted = calloc((size_t)tensor_elems(y.t), sizeof *wanted), found = 0;
        int64_t i = 0;
        for (int64_t b = 0; b < y.n; b++)
            for (int64_t h = 0; h < y.h; h++)
                for (int64_t w = 0; w < y.w; w++)
                    for (int64_t o = 0; o < y.c; o++) wanted[i++] = at(m.node, &x, &g, b, h, w, o);
        int64_t differs = first_difference(&m, wanted, &found);
        check_that(differs < 0, text_format(m.cx, "%s %s %s equals plain loops", op_name, c->attrs, c->inputs),
                   "element %d is %g, not %g", (int)differs, found, wanted[differs < 0 ? 0 : differs]);
        free(wanted);
        ctx_free(m.cx);
    }
}

static void check_batch_norm(void)
{
    Made m = make_call("batch_norm", "epsilon=0.001", "f32[1][2][3][4] f32[4] f32[4] f32[4] f32[4]={0.5,1,2,0.25}");
    double wanted[24], found = 0;
    for (int i = 0; i < 24; i++) {
        double p[5];
        for (int j = 0; j < 5; j++) p[j] = dtype_load(F32, m.in[j]->data, j ? i % 4 : i).f;
        wanted[i] = (p[0] - p[3]) / sqrt(p[4] + 0.001) * p[1] + p[2];
    }
    CHECK("batch-norm-values", first_difference(&m, wanted, &found) < 0);
    Tensor *simpler = m.node->op->meaning.simplify(m.cx, m.node);
    CHECK("batch-norm-simplifies-to-scale-and-shift",
          simpler && strcmp(simpler->producer->op->name, "add") == 0
              && strcmp(simpler->producer->in[0]->producer->op->name, "mul") == 0);
    ctx_free(m.cx);
}

/* ---- Values: positions and counts -------------------------------------------------------------------------------- */

/* Output `output` in integers: results of searches, by hand, and their counts. */
typedef struct Found { const char *op, *attrs, *inputs; int output, count; int64_t values[12]; } Found;
static const Found searches[] = {
    { "nonzero", "capacity=5", "f32[2][3]={1,0,2,0,0,-1}", 0, 10, { 0, 0, 1, -1, -1, 0, 2, 2, -1, -1 } },
    { "nonzero", "capacity=5", "f32[2][3]={1,0,2,0,0,-1}", 1, 1, { 3 } },
    { "nonzero", "capacity=2", "bool[4]={0,1,1,1}", 0, 2, { 1, 2 } }, /* no room for the third, */
    { "nonzero", "capacity=2", "bool[4]={0,1,1,1}", 1, 1, { 3 } },    /* which is counted all the same */
    /* First positions, in order of value */
    { "unique", "capacity=4", "i32[6][1]={2,1,1,3,4,3}", 0, 4, { 1, 0, 3, 4 } },
    { "unique", "capacity=4", "i32[6][1]={2,1,1,3,4,3}", 1, 6, { 1, 0, 0, 2, 3, 2 } },
    { "unique", "capacity=4", "i32[6][1]={2,1,1,3,4,3}", 2, 4, { 2, 1, 2, 1 } },
    { "unique", "capacity=4 sorted=0", "i32[6][1]={2,1,1,3,4,3}", 0, 4, { 0, 1, 3, 4 } },
    /* Boxes 0, 1 and 2 overlap nearly completely, 3 is separate: 0 and 3 are selected, best first. */
    { "non_max_suppression",
      "capacity=4",
      "f32[1][4][4]={0,0,1,1,0,0.1,1,1.1,0,-0.1,1,0.9,0,10,1,11} f32[1][1][4]={0.9,0.75,0.6,0.95} i64={3} f32={0.5} "
      "f32={0}",
      0,
      12,
      { 0, 0, 3, 0, 0, 0, -1, -1, -1, -1, -1, -1 } },
    { "non_max_suppression",
      "capacity=4",
      "f32[1][4][4]={0,0,1,1,0,0.1,1,1.1,0,-0.1,1,0.9,0,10,1,11} f32[1][1][4]={0.9,0.75,0.6,0.95} i64={3} f32={0.5} "
      "f32={0}",
      1,
      1,
      { 2 } },
};

static void check_searches(void)
{
    for (size_t i = 0; i < sizeof searches / sizeof searches[0]; i++) {
        const Found *f = &searches[i];
        Made m = make_call(f->op, f->attrs, f->inputs);
        Tensor *const *out = m.node ? op_expand(m.cx, m.node) : NULL;
        Env *env = env_new(m.cx);
        bool same = out && evaluate(m.cx, env, out, m.node->out_count) && tensor_elems(out[f->output]) == f->count;
        for (int k = 0; same && k < f->count; k++)
            same = dtype_load(out[f->output]->type, env_get(env, out[f->output]), k).i == f->values[k];
        check_that(same, text_format(m.cx, "%s %s finds the recorded output %d", f->op, f->attrs, f->output), "%s",
                   m.cx->diags ? diag_text(m.cx, m.cx->diags) : "other values");
        ctx_free(m.cx);
    }
}

/* Views keep the flat order of the elements. */
static void check_views(Ctx *names)
{
    static const char *const views[] = { "reshape", "flatten", "squeeze", "unsqueeze" };
    for (size_t v = 0; v < sizeof views / sizeof views[0]; v++)
        for (const OpCase *c = op_find(names, views[v])->cases; c->inputs; c++) {
            if (c->refusal) continue;
            Made m = make_call(views[v], c->attrs, c->inputs);
            const void *y = values(&m);
            check_that(y && memcmp(y, m.in[0]->data, (size_t)tensor_bytes(m.in[0])) == 0,
                       text_format(m.cx, "%s %s keeps the flat order", views[v], c->attrs), "the elements moved");
            ctx_free(m.cx);
        }
}

/* ---- Permutations ------------------------------------------------------------------------------------------------ */

/* Sums may be taken in another order. */
static bool all_near(const Tensor *t, const void *a, const void *b)
{
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        Scalar p = dtype_load(t->type, a, i), q = dtype_load(t->type, b, i);
        if (dtype_is_float(t->type) ? !(is_near(p.f, q.f) || (isnan(p.f) && isnan(q.f))) : p.i != q.i) return false;
    }
    return true;
}

/* op(transpose(u)..) equals transpose(permuted op (u..)) for every case in which all inputs have one rank of two or
 * more. */
static void check_permutation(const Op *op, const OpCase *c)
{
    Made m = make_call(op->name, c->attrs, c->inputs);
    int rank = m.node ? m.in[0]->rank : 0, perm[MAX_RANK];
    int64_t wide[MAX_RANK];
    bool fits = rank >= 2 && m.node->out[0]->rank == rank;
    for (int d = 0; d < rank; d++) wide[d] = perm[d] = (d + 1) % rank;
    Tensor *turned[12] = { NULL }, *before[12] = { NULL };
    for (int i = 0; fits && i < m.in_count; i++) {
        if (m.in[i]->rank != rank) { turned[i] = m.in[i]; continue; }
        int64_t shape[MAX_RANK];
        for (int d = 0; d < rank; d++) shape[perm[d]] = tensor_dim(m.in[i], d);
        before[i] = tensor_constant(m.cx, "u", m.in[i]->type, rank, shape, m.in[i]->data);
        Attr attr = { .name = "perm", .kind = ATTR_INTS, .count = rank, .ints = wide };
        turned[i] = op_call(m.cx, op_find(m.cx, "transpose"), "t", &before[i], 1, &attr, 1)->out[0];
    }
    Node *outer = fits ? op_call(m.cx, op, "op", turned, m.in_count, m.node->attr, m.node->attr_count) : NULL;
    Node *inner = outer ? op->layout.permute(m.cx, outer, perm, before) : NULL;
    if (inner) {
        Attr attr = { .name = "perm", .kind = ATTR_INTS, .count = rank, .ints = wide };
        Tensor *back = op_call(m.cx, op_find(m.cx, "transpose"), "t", &inner->out[0], 1, &attr, 1)->out[0];
        const void *a = plain_value(m.cx, outer->out[0], env_new(m.cx)), *b = plain_value(m.cx, back, env_new(m.cx));
        check_that(a && b && tensor_bytes(back) == tensor_bytes(outer->out[0]) && all_near(back, a, b),
                   text_format(m.cx, "%s %s %s commutes with a permutation", op->name, c->attrs, c->inputs),
                   "the values differ");
    }
    ctx_free(m.cx);
}

static void check_permutations(Ctx *names)
{
    int count;
    const Op *const *op = op_list(names, &count);
    for (int i = 0; i < count; i++)
        for (const OpCase *c = op[i]->cases; op[i]->layout.permute && c->inputs; c++)
            if (!c->refusal) check_permutation(op[i], c);
}

int main(void)
{
    Ctx *cx = context_new(NULL, NULL);
    CHECK_RUN(check_rows, check_vectors);
    static const char *const convs[] = { "conv1d", "conv2d", "depthwise_conv1d", "depthwise_conv2d" };
    static const char *const pools[] = { "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d" };
    for (int i = 0; i < 4; i++) {
        check_windows(cx, convs[i], conv_at);
        check_windows(cx, pools[i], pool_at);
    }
    CHECK_RUN(check_batch_norm, check_searches);
    check_views(cx);
    check_permutations(cx);
    ctx_free(cx);
    return check_done();
}
