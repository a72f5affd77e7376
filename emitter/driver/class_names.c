/* SPDX-License-Identifier: MIT */
/* --class-names FILE: a name per line, as many as the last axis of an output has elements. Without the option, the
 * names that the model's file declares. */
#include <string.h>

#include "driver/driver.h"
#include "support/file.h"

/* Returns the first output with `count` elements on its last axis, -1: none. */
static int output_of_classes(const Program *p, int count)
{
    for (int i = 0; i < p->output_count; i++) {
        const Tensor *t = p->output[i].tensor;
        const Expr *last = t->rank ? t->shape[t->rank - 1] : NULL;
        if (last && expr_is_int(last, count)) return i;
    }
    return -1;
}

static const char *outputs_text(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    for (int i = 0; i < p->output_count; i++)
        text_printf(&t, "%s%s %s", i ? ", " : "", p->output[i].name, tensor_shape_text(cx, p->output[i].tensor));
    return text_string(&t);
}

static void names_of_model(Build *b)
{
    Program *p = &b->program;
    p->class_output = output_of_classes(p, b->model.class_count);
    if (!b->model.class_count || p->class_output < 0) return;
    p->class_count = b->model.class_count;
    p->class_name = b->model.class_name;
}

void build_class_names(Build *b)
{
    Ctx *cx = b->cx;
    Program *p = &b->program;
    const char *path = b->options->class_names;
    if (!path) names_of_model(b);
    if (!path || ctx_failed(cx)) return;
    const char *text = file_text(cx, path, file_read(cx, path));
    if (ctx_failed(cx)) return;
    const char *const *name;
    const int count = text_lines(cx, text, &name);
    p->class_output = output_of_classes(p, count);
    if (p->class_output < 0)
        diag_error(cx, path, "%d names of classes; no output has as many elements on its last axis: %s", count,
                   outputs_text(cx, p));
    p->class_count = count;
    p->class_name = name;
}
