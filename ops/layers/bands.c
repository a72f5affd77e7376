/* SPDX-License-Identifier: MIT */
/* banded_dense multiplies the last dimension of x by a matrix of which each column is zero outside a band. The bands
 * are stored one after the other: column o has width[o] weights from w[at[o]] on, for the elements of x from from[o]
 * on. Reads clamp indices, so no tables can lead outside. */
#include "graph/dag/op_build.h"

static bool is_list(const Tensor *t, int64_t elems)
{
    return t->rank == 1 && (t->type == I16 || t->type == I32) && tensor_elems(t) == elems;
}

static bool fits(Ctx *cx, const Node *n)
{
    const Tensor *x = n->in[0], *w = n->in[1];
    const int64_t outs = n->in[2]->rank == 1 ? tensor_elems(n->in[2]) : 0;
    const int64_t most = node_int(n, "most", 1);
    for (int i = 2; i < 5; i++)
        if (!op_holds(cx, n, outs >= 1 && is_list(n->in[i], outs),
                        "table %d is %s%s; use i16 or i32, and equal numbers of elements in the three tables", i - 2,
                        dtype_info(n->in[i]->type)->spelling, tensor_shape_text(cx, n->in[i])))
            return false;
    return op_holds(cx, n, dtype_is_float(x->type) && x->rank >= 1 && tensor_dim(x, x->rank - 1) >= 1,
                      "the input is %s%s; use floats [..][k]", dtype_info(x->type)->spelling,
                      tensor_shape_text(cx, x))
           && op_holds(cx, n, w->type == x->type && w->rank == 1 && tensor_elems(w) >= 1,
                         "the weights are %s%s; use %s[weights]", dtype_info(w->type)->spelling,
                         tensor_shape_text(cx, w), dtype_info(x->type)->spelling)
           && op_holds(cx, n, most >= 1, "'most' is %lld; use 1 or more", (long long)most);
}

static int banded_dense(Ctx *cx, const Node *n, Tensor **out)
{
    static const char *const names[] = { "x", "w", "from", "at", "width" };
    if (!fits(cx, n)) return 0;
    const Tensor *x = n->in[0];
    bool chosen[MAX_RANK] = { false };
    chosen[x->rank - 1] = true;
    Formulas f = { .cx = cx, .call = n };
    for (int i = 0; i < 5; i++) formulas_name(&f, (Bind)BIND_T(names[i], n->in[i]));
    formulas_phrase(&f, "rows", axis_text(cx, x->rank, chosen).kept);
    formulas_phrase(&f, "J", op_number(cx, node_int(n, "most", 1)));
    formulas_phrase(&f, "last_w", op_number(cx, tensor_elems(n->in[1]) - 1));
    formulas_phrase(&f, "last_x", op_number(cx, tensor_dim(x, x->rank - 1) - 1));
    formulas_phrase(&f, "element", "max(0, min(last_x, i32(from[o]) + j))");
    formulas_phrase(&f, "place", "max(0, min(last_w, i32(at[o]) + j))");
    out[0] = formulas_compute(&f, "y[rows,o] = sum(j<J) select(j < i32(width[o]), x[rows,element] * w[place], 0)");
    return out[0] ? 1 : 0;
}

static const AttrRow banded_dense_attrs[] = { { "most", ATTR_INT, "the largest width", "1" }, { 0 } };
static const OpCase banded_dense_cases[] = {
    { "most=3", "f32[2][6] f32[6] i16[3]={0,1,4} i16[3]={0,2,5} i16[3]={2,3,1}", "f32[2][3]", NULL },
    { "most=2", "f64[4] f64[2] i32[2]={2,9} i32[2]={0,1} i32[2]={2,1}", "f64[2]", NULL },
    { "most=0", "f32[4] f32[2] i32[1]={2} i32[1]={0} i32[1]={2}", NULL, "'most' is 0" },
    { "", "i8[4] i8[2] i32[1]={2} i32[1]={0} i32[1]={2}", NULL, "use floats" },
    { 0 }
};

const Op ops_bands[] = {
    { .name = "banded_dense", .summary = "y[..,o] = sum(j < width[o]) x[.., from[o] + j] * w[at[o] + j]", .level = 11,
      .least_inputs = 5, .most_inputs = 5, .inputs = "x w from at width", .attr = banded_dense_attrs,
      .meaning.compute = banded_dense, .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = banded_dense_cases },
    { 0 }
};
