/* SPDX-License-Identifier: MIT */
/* Translates operators whose number of results depends on data. Such operators compute the maximum number of rows, and
 * the number of valid rows; the result consists of the valid rows, which come first (import/model/decided.h). */
#include "import/tflite/ops/tflite_decided.h"

#include <string.h>

#include "import/tflite/ops/tflite_rows.h"
#include "ir/algebra/algebra.h"
#include "support/text.h"

enum { OPTIONS_UNIQUE = 80, OPTIONS_WHERE = 85 };

/* Returns the size that --dim gives for a dimension of an output, at most `natural`, or -1 if neither is known. */
static int64_t maximum_of(TfliteCall *c, const char *place, int64_t natural)
{
    const ImportOptions *o = c->sizes->options;
    for (int i = 0; i < o->dim_count; i++) {
        const ImportDim *d = &o->dim[i];
        if (strcmp(d->name, place) != 0) continue;
        if (o->is_dim_used) o->is_dim_used[i] = true;
        if (!d->is_maximum)
            tflite_refuse(c, "--dim %s=%lld fixes a size that data decide; use a maximum, --dim '%s<=%lld'",
                          place, (long long)d->value, place, (long long)d->value);
        return natural < 0 || d->value < natural ? d->value : natural;
    }
    return natural;
}

const Expr *tflite_decided(TfliteCall *c, int output, int axis, Tensor *count, int64_t least, int64_t natural)
{
    const char *output_name = tflite_out_info(c, output)->name,
               *place = text_format(c->cx, "%s.%d", output_name, axis);
    if (!count || ctx_failed(c->cx)) return NULL;
    const int64_t most = maximum_of(c, place, natural);
    if (most < 0 || most > INT32_MAX)
        tflite_unsupported(c, "the run decides the number of elements of \"%s\" along dimension %d, and no maximum "
                           "follows; use --dim '%s<=N'", output_name, axis, place);
    if (c->is_in_subgraph)
        tflite_unsupported(c, "the run decides the number of elements of \"%s\" in another subgraph; use such an "
                           "operator only in the first subgraph", output_name);
    return ctx_failed(c->cx) ? NULL : decided_size(&c->sizes->decided, text_format(c->cx, "%s_size", output_name),
                                                   text_format(c->cx, "dimension %d of \"%s\"", axis, output_name),
                                                   count, least < most ? least : most, most);
}

Tensor *tflite_cut(TfliteCall *c, Tensor *x, int axis, const Expr *size)
{
    return decided_cut(&c->sizes->decided, c->name, x, axis, size);
}

bool tflite_has_elements(TfliteCall *c, int input, int axis)
{
    Tensor *x = decided_at_least(&c->sizes->decided, c->name, c->in[input], axis, 1);
    if (x) c->in[input] = x;
    return x != NULL;
}

Tensor *tflite_dim_value(TfliteCall *c, const Expr *size, DType type)
{
    return decided_value(&c->sizes->decided, c->name, size, type);
}

/* ---- WHERE ------------------------------------------------------------------------------------------------------- */

static Tensor *nonzero_rows(TfliteCall *c, Tensor *x, int64_t capacity)
{
    return tflite_call(c, "nonzero", x, attr_int("capacity", capacity), attr_flag("rows", true));
}

/* Translates WHERE: the coordinates of nonzero elements. Two selections by one tensor have one size. */
static void where(TfliteCall *c)
{
    if (!tflite_needs(c, 1)) return;
    Tensor *x = c->in[0];
    if (!x->rank) tflite_unsupported(c, "the condition has no dimensions; use one dimension or more");
    if (ctx_failed(c->cx)) return;
    if (tensor_is_constant(x)) {
        const int64_t found = decided_nonzero_count(x);
        if (found) c->out[0] = nonzero_rows(c, x, found);
        else tflite_unsupported(c, "the condition is constant and nowhere true; use a condition that is true for at "
                                   "least one element");
        return;
    }
    const char *place = text_format(c->cx, "%s.0", tflite_out_info(c, 0)->name);
    const int64_t all = tensor_elems(x), most = maximum_of(c, place, all);
    Tensor *known = map_get_ptr(&c->sizes->selections, x);
    if (known && expr_as_var(known->shape[0])->greatest == most) {
        c->out[0] = tflite_call(c, "identity", known);
        return;
    }
    Tensor *rows = nonzero_rows(c, x, most);
    const Expr *size = rows ? tflite_decided(c, 0, 0, rows->producer->out[1], 0, all) : NULL;
    c->out[0] = size ? tflite_cut(c, rows, 0, size) : NULL;
    if (c->out[0]) map_put_ptr(&c->sizes->selections, x, c->out[0]);
}

/* ---- UNIQUE ------------------------------------------------------------------------------------------------------ */

/* Translates UNIQUE: the distinct elements in the order of their first occurrence, and for each element the index of
 * its distinct element. */
static void unique(TfliteCall *c)
{
    DType to;
    if (!tflite_needs(c, 1)) return;
    Tensor *x = c->in[0];
    if (c->op->out_count != 2)
        tflite_unsupported(c, "it has %d outputs; use two outputs", c->op->out_count);
    else if (!tflite_dtype(tflite_out_info(c, 1)->type, &to))
        tflite_unsupported(c, "its output 1 has elements of type %s; use INT32 or INT64",
                           tflite_type_text(c->cx, tflite_out_info(c, 1)->type));
    if (x->rank != 1 || tensor_elems(x) < 1)
        tflite_unsupported(c, "its input is %s; use one dimension of a fixed size above 0",
                           tensor_shape_text(c->cx, x));
    if (tensor_is_constant(x)) tflite_unsupported(c, "its input is a constant; use a tensor that the run computes");
    if (ctx_failed(c->cx)) return;
    const int64_t all = tensor_elems(x),
                  most = maximum_of(c, text_format(c->cx, "%s.0", tflite_out_info(c, 0)->name), all);
    Tensor *first = tflite_call(c, "unique", tflite_reshape(c, x, (int64_t[]){ all, 1 }, 2), attr_int("capacity", most),
                                attr_flag("sorted", false));
    if (!first) return;
    const Node *found = first->producer;
    const Expr *size = tflite_decided(c, 0, 0, found->out[3], 1, all);
    if (!size) return;
    c->out[0] = tflite_call2(c, "gather", x, tflite_cut(c, first, 0, size), attr_int("axis", 0));
    c->out[1] = tflite_cast(c, found->out[1], to);
}

/* ---- RANGE ------------------------------------------------------------------------------------------------------- */

static Tensor *number(TfliteCall *c, DType type, double v) { return tensor_scalar(c->cx, c->name, type, v); }

/* Returns the number of elements from start to limit, or -1 if the step leads away from the limit, or is 0. */
static Tensor *count_of_range(TfliteCall *c, Tensor *const *in)
{
    const bool is_float = dtype_is_float(in[0]->type);
    const DType type = is_float ? in[0]->type : I64;
    Tensor *from = tflite_cast(c, in[0], type), *to = tflite_cast(c, in[1], type), *by = tflite_cast(c, in[2], type);
    Tensor *zero = number(c, type, 0);
    Tensor *grows = tflite_call2(c, "less", zero, by), *is_above = tflite_call2(c, "less_equal", from, to),
           *falls = tflite_call2(c, "less", by, zero), *is_below = tflite_call2(c, "less_equal", to, from);
    Tensor *is_up = tflite_call2(c, "and", grows, is_above), *is_down = tflite_call2(c, "and", falls, is_below);
    Tensor *leads = tflite_call2(c, "or", is_up, is_down);
    by = tflite_select(c, leads, by, number(c, type, 1));
    /* ceil((limit - start) / step) = -floor((start - limit) / step) */
    Tensor *span = is_float ? tflite_call2(c, "sub", to, from) : tflite_call2(c, "sub", from, to),
           *steps = tflite_call2(c, is_float ? "div" : "floor_div", span, by);
    Tensor *count = tflite_cast(c, is_float ? tflite_call(c, "ceil", steps) : steps, I64);
    if (!is_float) count = tflite_call2(c, "sub", number(c, I64, 0), count);
    return tflite_select(c, leads, count, number(c, I64, -1));
}

/* Translates RANGE. For floats, each value is the previous value plus the step. */
void tflite_range_by_value(TfliteCall *c)
{
    const DType type = c->in[0]->type;
    Tensor *in[3];
    for (int i = 0; i < 3; i++) {
        if (c->in[i]->type != type || tensor_elems(c->in[i]) != 1)
            tflite_unsupported(c, "input %d (\"%s\") is %s%s; use one number of the type of input 0", i,
                               tflite_in_info(c, i)->name, dtype_info(c->in[i]->type)->spelling,
                               tensor_shape_text(c->cx, c->in[i]));
        in[i] = ctx_failed(c->cx) ? NULL : tflite_reshape(c, c->in[i], NULL, 0);
    }
    if (ctx_failed(c->cx)) return;
    const Expr *size = tflite_decided(c, 0, 0, count_of_range(c, in), 0, -1);
    if (!size) return;
    const Attr like = attr_like(c->cx, c->name, type, 1, &size);
    Tensor *start = decided_after(&c->sizes->decided, c->name, in[0], &size, 1);
    if (!dtype_is_float(type)) {
        c->out[0] = tflite_call2(c, "ramp", start, in[2], like);
        return;
    }
    Tensor *zero = number(c, type, 0), *one = number(c, type, 1),
           *first = decided_after(&c->sizes->decided, c->name, zero, &size, 1),
           *place = tflite_call2(c, "ramp", first, one, like);
    Tensor *added = tflite_select(c, tflite_call2(c, "equal", place, zero), start, in[2]);
    c->out[0] = tflite_call(c, "cumsum", added, attr_int("axis", 0));
}

enum { OF_COUNTED = OF_F32 | OF_I8 | OF_U8 | OF_I16 | OF_WHOLE };

const TfliteRow tflite_rows_decided[] = {
    { 103, "UNIQUE", 1, OPTIONS_UNIQUE, OF_COUNTED, 1, NULL, unique, TFLITE_KEEPS_NONE },
    { 109, "WHERE", 2, OPTIONS_WHERE, OF_F32 | OF_BYTES | OF_WHOLE | OF_U32 | OF_BOOL, 1, NULL, where,
      TFLITE_KEEPS_NONE },
    { 0 }
};
