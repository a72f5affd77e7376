/* SPDX-License-Identifier: MIT */
#include "import/tflite/tflite_open.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "support/names.h"
#include "support/text.h"

static const char BATCH[] = "batch";

static const char *dim_index(Ctx *cx, const TfliteTensor *t, int axis)
{
    return text_format(cx, "%s.%d", t->name, axis);
}

static const ImportDim *option_of(TfliteOpen *o, const TfliteTensor *t, int axis)
{
    const char *place = dim_index(o->cx, t, axis);
    for (int i = 0; i < o->options->dim_count; i++) {
        const ImportDim *d = &o->options->dim[i];
        bool is_batch = axis == 0 && t->is_open[0] && strcmp(d->name, BATCH) == 0;
        if (!is_batch && strcmp(d->name, place) != 0) continue;
        if (o->options->is_dim_used) o->options->is_dim_used[i] = true;
        return d;
    }
    return NULL;
}

/* A file without signatures does not declare open dimensions, so --dim may set every dimension. */
const Expr *tflite_dim(TfliteOpen *o, const TfliteTensor *t, int axis)
{
    Ctx *cx = o->cx;
    const ImportDim *d = option_of(o, t, axis);
    if (!d) return expr_index(cx, t->dim[axis]);
    if (t->has_signature && !t->is_open[axis] && (d->is_maximum || d->value != t->dim[axis]))
        diag_error(cx, text_format(cx, "tensor \"%s\"", t->name),
                   "dimension %d is %lld in the model and not open, but --dim sets it as %s; remove this --dim", axis,
                   (long long)t->dim[axis], d->name);
    o->sets_unmarked = o->sets_unmarked || !t->has_signature;
    if (!d->is_maximum) return expr_index(cx, d->value);
    const Expr *size = map_get_const(&o->size, d->name, strlen(d->name));
    if (!size) size = expr_new_var(cx, name_identifier(cx, d->name), VAR_SIZE, I32, d->least ? d->least : 1, d->value);
    decided_take_name(&o->sizes->decided, expr_as_var(size)->name);
    map_put_const(&o->size, d->name, strlen(d->name), size);
    return size;
}

bool tflite_is_declared(const TfliteOpen *o, const TfliteTensor *t, int axis)
{
    return !o->sets_unmarked && !t->is_open[axis];
}

const char *tflite_dim_names(Ctx *cx, const TfliteFile *f)
{
    Text places = text_new(cx);
    bool has_batch = false;
    for (int i = 0; i < f->input_count; i++) {
        const TfliteTensor *t = &f->tensor[f->input[i]];
        for (int d = 0; d < t->rank; d++) {
            if (t->has_signature && !t->is_open[d]) continue;
            has_batch = has_batch || t->is_open[0];
            text_printf(&places, "%s%s", places.length ? ", " : "", dim_index(cx, t, d));
        }
    }
    return !places.length ? NULL : has_batch ? text_format(cx, "%s, %s", BATCH, places.at) : text_string(&places);
}

/* ---- Operators over tensors that have open dimensions ------------------------------------------------------------ */

bool tflite_keeps_open(TfliteCall *c)
{
    const Op *op = c->row->op_name ? op_find(c->cx, c->row->op_name) : NULL;
    const bool is_by_elements = op && op->fusion.pattern <= PATTERN_BROADCAST;
    const TfliteKeeps keeps = is_by_elements ? TFLITE_KEEPS_ALL : c->row->keeps;
    for (int i = 0; i < c->in_count; i++)
        for (int d = 0; c->in[i] && d < c->in[i]->rank; d++) {
            const Var *v = expr_as_var(c->in[i]->shape[d]);
            if (c->in[i]->shape[d]->kind == EXPR_INT || keeps == TFLITE_KEEPS_ALL) continue;
            if ((keeps == TFLITE_KEEPS_FIRST && d == 0) || (keeps == TFLITE_KEEPS_INDICES && i == 1)) continue;
            const bool is_decided = size_is_decided(c->cx, c->in[i]->shape[d]);
            if (is_decided && keeps == TFLITE_KEEPS_DECIDED) continue;
            if (is_decided) {
                tflite_unsupported(c, "the run decides dimension %d of \"%s\" %s; use a fixed size", d,
                                   tflite_in_info(c, i)->name, tensor_shape_text(c->cx, c->in[i]));
                return false;
            }
            const char *word = v ? v->name : "a size";
            tflite_unsupported(c, "the dimension \"%s\" cannot stay open here; fix it, as in --dim %s=%lld", word, word,
                               v ? (long long)v->greatest : 1LL);
            return false;
        }
    return true;
}
