/* SPDX-License-Identifier: MIT */
#include "graph/dag/op_build.h"

#include "graph/dag/registry.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "support/names.h"

/* ---- Text of axes ---------------------------------------------------------------------------------------------- */

char axis_letter(int rank, int d)
{
    static const char *const letters[MAX_RANK + 1] = {
        "", "c", "nc", "nwc", "nhwc", "ndhwc", "mndhwc", "lmndhwc", "jlmndhwc"
    };
    return letters[rank][d];
}

static void comma(Text *t) { if (t->length) text_char(t, ','); }

AxisText axis_text(Ctx *cx, int rank, const bool *is_chosen)
{
    Text all = text_new(cx), kept = text_new(cx), ones = text_new(cx), chosen = text_new(cx);
    for (int d = 0; d < rank; d++) {
        char c = axis_letter(rank, d);
        bool here = is_chosen && is_chosen[d];
        comma(&all);
        text_char(&all, c);
        comma(here ? &chosen : &kept);
        text_char(here ? &chosen : &kept, c);
        comma(&ones);
        if (here) text_printf(&ones, "one%d<1", d);
        else text_char(&ones, c);
    }
    return (AxisText){ text_string(&all), text_string(&kept), text_string(&ones), text_string(&chosen) };
}

const char *axes_with(Ctx *cx, int rank, int axis, const char *at)
{
    Text t = text_new(cx);
    for (int d = 0; d < rank; d++) {
        comma(&t);
        if (d == axis) text_add(&t, at);
        else text_char(&t, axis_letter(rank, d));
    }
    return text_string(&t);
}

const char *sized_axes(Ctx *cx, const Tensor *x)
{
    Text t = text_new(cx);
    for (int d = 0; d < x->rank; d++) {
        comma(&t);
        text_char(&t, axis_letter(x->rank, d));
        if (tensor_dim(x, d) >= 0) text_printf(&t, "<%lld", (long long)tensor_dim(x, d));
    }
    return text_string(&t);
}

/* ---- Attributes ------------------------------------------------------------------------------------------------ */

const char *op_types_text(Ctx *cx, bool (*is_accepted)(DType))
{
    Text s = text_new(cx);
    for (DType t = 0; t < DTYPE_COUNT; t++)
        if (!is_accepted || is_accepted(t)) text_printf(&s, "%s%s", s.length ? ", " : "", dtype_info(t)->spelling);
    return text_string(&s);
}

int op_axis(Ctx *cx, const Node *n, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank) return (int)(axis < 0 ? axis + rank : axis);
    op_refuse(cx, n, "axis %lld is out of range for %d dimension%s; %s", (long long)axis, rank, rank == 1 ? "" : "s",
              indices_accepted_text(cx, rank));
    return -1;
}

bool op_axes(Ctx *cx, const Node *n, const char *attr, int rank, bool *chosen)
{
    const Attr *a = node_attr(n, attr);
    bool all = !a || a->count == 0;
    for (int d = 0; d < rank; d++) chosen[d] = all;
    for (int i = 0; !all && i < a->count; i++) {
        int d = op_axis(cx, n, a->ints[i], rank);
        if (d < 0) return false;
        if (chosen[d]) {
            op_refuse(cx, n, "'%s' lists axis %d twice; list each axis once", attr, d);
            return false;
        }
        chosen[d] = true;
    }
    return true;
}

static void note_list(AttrNotes *notes, const char *attr, int count, const int64_t *value)
{
    if (!notes || notes->count == MOST_NOTES || count > 2 * MAX_RANK) return;
    AttrNote *note = &notes->note[notes->count++];
    *note = (AttrNote){ .name = attr, .count = count };
    for (int i = 0; i < count; i++) note->value[i] = value[i];
}

bool op_ints(Ctx *cx, const Node *n, const char *attr, int count, int64_t least, int64_t greatest, int64_t otherwise,
             int64_t *out)
{
    const Attr *a = node_attr(n, attr);
    if (!node_ints(n, attr, out, count, otherwise)) {
        if (!a || a->count != 1) {
            op_refuse(cx, n, "'%s' has %d values, but %d are needed", attr, a ? a->count : 0, count);
            return false;
        }
        for (int i = 0; i < count; i++) out[i] = a->ints[0];
    }
    for (int i = 0; i < count; i++)
        if (out[i] < least || out[i] > greatest) {
            op_refuse(cx, n, "'%s' is %s, but each value must be in %lld..%lld", attr, ints_text(cx, out, count),
                      (long long)least, (long long)greatest);
            return false;
        }
    note_list(registry(cx)->notes, attr, count, out);
    return true;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------ */

const char *const op_greater_least =
    ", which an open size may be; declare a larger minimum, as in --dim 'LEAST<=NAME<=MOST'";

const Expr *op_size(Ctx *cx, const Expr *size, int64_t times, int64_t more)
{
    return simplify(cx, expr_add(cx, expr_mul(cx, size, expr_index(cx, times)), expr_index(cx, more)), NULL);
}

int64_t op_least(Ctx *cx, const Expr *size) { return interval_of(cx, size, NULL).least; }
int64_t op_greatest(Ctx *cx, const Expr *size) { return interval_of(cx, size, NULL).greatest; }

const Expr *op_value(Ctx *cx, const Node *n, const char *attr, DType t)
{
    return expr_cast(cx, t, expr_real(cx, F64, node_real(n, attr, 0)));
}

bool op_sliding(Ctx *cx, const Node *n, Sliding *s)
{
    if (!op_ints(cx, n, "stride", s->spatial, 1, GREATEST_STRIDE, 1, s->stride)
        || !op_ints(cx, n, "dilation", s->spatial, 1, GREATEST_STRIDE, 1, s->dilation)
        || !op_ints(cx, n, "pad", 2 * s->spatial, 0, GREATEST_STRIDE, 0, s->pad))
        return false;
    for (int d = 0; d < s->spatial; d++) {
        const int64_t span = s->size[d] + s->pad[d] + s->pad[s->spatial + d] - (s->kernel[d] - 1) * s->dilation[d] - 1;
        s->count[d] = span < 0 ? 0 : span / s->stride[d] + 1;
    }
    return true;
}

bool op_same_type(Ctx *cx, const Node *n)
{
    for (int i = 1; i < n->in_count; i++)
        if (n->in[i] && n->in[i]->type != n->in[0]->type) {
            op_refuse(cx, n, "input %d is %s, but input 0 is %s; use equal types", i,
                      dtype_info(n->in[i]->type)->spelling, dtype_info(n->in[0]->type)->spelling);
            return false;
        }
    return true;
}

bool op_sums_integers(const Node *n)
{
    const DType x = n->in[0]->type, k = n->in[1]->type;
    return (x == k && (x == I8 || x == U8)) || (x == I16 && k == I8);
}

/* ---- Permutation ----------------------------------------------------------------------------------------------- */

void transpose_perm(const Node *transpose, int *perm)
{
    int64_t p[MAX_RANK];
    const int rank = transpose->in[0]->rank;
    const bool is_given = node_attr(transpose, "perm") && node_ints(transpose, "perm", p, rank, 0);
    for (int d = 0; d < rank; d++) perm[d] = is_given ? (int)p[d] : rank - 1 - d;
}

static Tensor *transpose_call(Ctx *cx, const char *call_name, Tensor *x, const int *perm)
{
    int64_t wide[MAX_RANK];
    for (int d = 0; x && d < x->rank; d++) wide[d] = perm[d];
    return x ? call(cx, "transpose", call_name, &x, 1, ATTRS(attr_ints("perm", wide, x->rank))) : NULL;
}

/* Prepends unit dimensions until the tensor has `rank` dimensions. */
static Tensor *with_unit_axes(Ctx *cx, Tensor *x, int rank)
{
    if (x->rank == rank) return x;
    if (!tensor_is_fixed(x)) return NULL;
    int64_t shape[MAX_RANK];
    for (int d = 0; d < rank; d++) shape[d] = d < rank - x->rank ? 1 : tensor_dim(x, d - (rank - x->rank));
    return call(cx, "reshape", x->name, &x, 1, ATTRS(attr_ints("shape", shape, rank)));
}

Tensor **inputs_untransposed(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs, int rank)
{
    int inverse[MAX_RANK];
    for (int d = 0; d < rank; d++) inverse[perm[d]] = d;
    Tensor **turned = NEW_ARRAY(cx->arena, Tensor *, n->in_count);
    for (int i = 0; i < n->in_count; i++) {
        turned[i] = inputs[i];
        if (inputs[i] || !n->in[i] || n->in[i]->rank == 0) {
            if (!inputs[i]) turned[i] = n->in[i];
            continue;
        }
        Tensor *full = with_unit_axes(cx, n->in[i], rank);
        turned[i] = full ? transpose_call(cx, n->in[i]->name, full, inverse) : NULL;
        if (!turned[i]) return NULL;
    }
    return turned;
}

static Node *same_call(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs, const Attr *attr)
{
    if (!attr) return NULL;
    Tensor **turned = inputs_untransposed(cx, n, perm, inputs, n->out[0]->rank);
    return turned ? op_call(cx, n->op, n->name, turned, n->in_count, attr, n->attr_count) : NULL;
}

Node *permute_elementwise(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    static const Attr none = { 0 };
    return same_call(cx, n, perm, inputs, n->attr ? n->attr : &none);
}

Node *permute_axis(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count);
    int rank = n->out[0]->rank;
    for (int i = 0; i < n->attr_count; i++) {
        attr[i] = n->attr[i];
        if (strcmp(attr[i].name, "axis") != 0) continue;
        int64_t axis = attr[i].integer < 0 ? attr[i].integer + rank : attr[i].integer;
        attr[i].integer = perm[axis];
    }
    return same_call(cx, n, perm, inputs, attr);
}

Tensor *zero_hoisted(Ctx *cx, const Node *n, Tensor *k)
{
    int64_t zero = node_int(n, "zero", 0), channels = k->rank ? tensor_dim(k, k->rank - 1) : 0;
    if (!zero || !tensor_is_constant(k) || channels < 1) return NULL;
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count);
    for (int i = 0; i < n->attr_count; i++) {
        attr[i] = n->attr[i];
        if (strcmp(attr[i].name, "zero") == 0) attr[i].integer = 0;
    }
    uint32_t *term = NEW_ARRAY(cx->arena, uint32_t, channels);
    for (int64_t i = 0; i < tensor_elems(k); i++)
        term[i % channels] -= (uint32_t)zero * (uint32_t)dtype_load(k->type, k->data, i).i;
    Node *rest = op_call(cx, n->op, n->name, n->in, n->in_count, attr, n->attr_count);
    Tensor *terms = tensor_constant(cx, n->name, I32, 1, &channels, term);
    return rest && terms ? call(cx, "add", n->name, (Tensor *[]){ rest->out[0], terms }, 2, NULL) : NULL;
}

const Attr *attrs_with_ints(Ctx *cx, const Node *n, const char *attr_name, const int64_t *ints, int count)
{
    Attr *attr = NEW_ARRAY(cx->arena, Attr, n->attr_count);
    for (int i = 0; i < n->attr_count; i++) {
        attr[i] = n->attr[i];
        if (strcmp(attr[i].name, attr_name) != 0) continue;
        attr[i].ints = arena_copy(cx->arena, ints, (size_t)count * sizeof *ints);
        attr[i].count = count;
    }
    return attr;
}

Node *permute_all_axes(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    const Attr *a = node_attr(n, "axes");
    int64_t axes[MAX_RANK];
    int rank = n->in[0]->rank, count = a ? a->count : 0;
    for (int i = 0; i < count && i < MAX_RANK; i++) axes[i] = perm[a->ints[i] < 0 ? a->ints[i] + rank : a->ints[i]];
    return same_call(cx, n, perm, inputs, attrs_with_ints(cx, n, "axes", axes, count));
}

Node *permute_axes_kept(Ctx *cx, const Node *n, const int *perm, Tensor *const *inputs)
{
    return node_int(n, "keepdims", 0) ? permute_all_axes(cx, n, perm, inputs) : NULL;
}
