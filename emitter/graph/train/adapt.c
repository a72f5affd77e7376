/* SPDX-License-Identifier: MIT */
/* LoRA (Hu et al. 2021): a layer that is linear in its weights, y = W(x, k), gets a second path of rank r,
 *
 *      y = W(x, k) + W(x, a) b      a: as k with r channels, b[r][o], zeros
 *
 * and only a and b are trained. The initial a has numbers from a uniform distribution of variance 1 / fan-in. A linear
 * congruential generator gives the same numbers in every compilation. */
#include <math.h>

#include "graph/dag/region.h"
#include "graph/train/train.h"
#include "support/names.h"

static Tensor *first_factor(Ctx *cx, const char *its_name, const Tensor *k, int rank)
{
    int64_t shape[MAX_RANK] = { 0 }, fan_in = 1;
    void *data;
    uint32_t state = 1;
    for (int d = 0; d < k->rank; d++) {
        shape[d] = d == k->rank - 1 ? rank : tensor_dim(k, d);
        if (d < k->rank - 1) fan_in *= shape[d];
    }
    Tensor *a = tensor_zeros(cx, its_name, k->type, k->rank, shape, &data);
    const double reach = sqrt(3.0 / (double)fan_in);
    for (int64_t i = 0; a && i < tensor_elems(a); i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        dtype_store(k->type, data, i, (Scalar){ .f = reach * ((double)(state >> 8) / (1 << 23) - 1) });
    }
    return a;
}

/* Returns true if the call accepts weights of a single channel: not a depthwise convolution. */
static bool accepts_few_channels(Ctx *cx, const Trainable *p)
{
    const DiagMark mark = diag_mark(cx);
    const Node *n = p->call;
    Tensor *in[] = { n->in[0], n->in[1] };
    in[p->input] = first_factor(cx, "probe", p->constant, 1);
    const bool ok = op_call(cx, n->op, n->name, in, 2, n->attr, n->attr_count) != NULL && !ctx_failed(cx);
    diag_rewind(cx, mark);
    return ok;
}

/* Returns true if the call is W(x, k) without groups, so that a has the shape of k in all dimensions except the
 * channels. */
static bool may_adapt(Ctx *cx, const Trainable *p)
{
    const Node *n = p->call;
    return n->op->fold.weights && n->op->fold.weights == p->input && n->in_count == 2 && p->constant->rank > 1
           && node_int(n, "groups", 1) == 1
           && tensor_dim(p->constant, p->constant->rank - 1) == tensor_dim(n->out[0], n->out[0]->rank - 1)
           && accepts_few_channels(cx, p);
}

static Trainable factor_of(Ctx *cx, const Trainable *p, Tensor *constant, const Node *call, const char *role)
{
    return (Trainable){ .constant = constant, .call = call, .layer = p->layer, .input = p->input,
                        .name = name_format(cx, "%s_%s", p->name, role), .role = role };
}

/* Replaces y by the sum of both paths for all consumers. */
static void adapt(Ctx *cx, Graph *g, const Trainable *p, int rank, Trainable *out)
{
    const Node *n = p->call;
    Tensor *y = n->out[0], *k = p->constant;
    const int64_t shape[] = { rank, tensor_dim(k, k->rank - 1) };
    Tensor *a = first_factor(cx, name_format(cx, "%s_a", p->name), k, rank),
           *b = tensor_constant(cx, name_format(cx, "%s_b", p->name), k->type, 2, shape, NULL);
    Tensor *in[] = { n->in[0], n->in[1] };
    in[p->input] = a;
    const Node *low = op_call(cx, n->op, n->name, in, 2, n->attr, n->attr_count);
    Tensor *path = low ? call_on_two(cx, "dense", n->name, low->out[0], b, NULL) : NULL,
           *sum = call_on_two(cx, "add", n->name, y, path, NULL);
    if (!sum) return;
    out[0] = factor_of(cx, p, a, low, "a");
    out[1] = factor_of(cx, p, b, path->producer, "b");
    Graph one = *g;
    one.input = &y;
    one.input_count = 1;
    g->output = graph_bind(cx, &one, &sum).output;
}

/* Returns the rank of the weights' matrix [..k][o]. Factors of a path with a higher rank express nothing more. */
static int64_t rank_of(const Tensor *k)
{
    const int64_t outs = tensor_dim(k, k->rank - 1), rest = tensor_elems(k) / outs;
    return outs < rest ? outs : rest;
}

static void check_rank(Ctx *cx, const TrainSpec *s, int64_t most)
{
    if (!most)
        diag_unsupported(cx, NULL, "--train: no selected layer has weights of the form [..][k][o]; use lora for dense "
                         "layers and convolutions without groups");
    else if (s->lora_rank > most)
        diag_usage(cx, NULL, "--train: \"lora(r=%d)\", but no selected layer has weights of a rank above %lld; use r=1 "
                   "to r=%lld", s->lora_rank, (long long)most, (long long)most);
}

/* Checks that each pattern names a layer that gets a path. */
static void check_patterns(Ctx *cx, const TrainSpec *s, const Trainable *part, const bool *fits, int count)
{
    for (int i = 0; i < s->pattern_count && !ctx_failed(cx); i++) {
        bool found = false;
        for (int k = 0; k < count; k++) found = found || (fits[k] && train_is_named(&part[k], s->pattern[i]));
        if (!found)
            diag_unsupported(cx, NULL, "--train: \"%s\" of lora names no layer with weights of the form [..][k][o]; "
                             "use dense layers or convolutions without groups", s->pattern[i]);
    }
}

int train_adapt(Ctx *cx, const TrainSpec *s, Graph *g, Trainable **part, int count)
{
    Trainable *factor = NEW_ARRAY(cx->arena, Trainable, 2 * count);
    bool *fits = NEW_ARRAY(cx->arena, bool, count);
    int64_t most = 0;
    int found = 0;
    for (int i = 0; i < count; i++) {
        fits[i] = may_adapt(cx, &(*part)[i]);
        const int64_t own = fits[i] ? rank_of((*part)[i].constant) : 0;
        if (own > most) most = own;
    }
    check_rank(cx, s, most);
    check_patterns(cx, s, *part, fits, count);
    /* Visits the last layer first, because the layers before it then still belong to the graph. */
    for (int i = count - 1; i >= 0 && !ctx_failed(cx); i--) {
        if (!fits[i]) continue;
        adapt(cx, g, &(*part)[i], s->lora_rank, &factor[found]);
        found += 2;
    }
    *part = factor;
    return found;
}
