/* SPDX-License-Identifier: MIT */
/* Translates custom operators that C functions of the user compute (--extern). The file declares the types and shapes
 * of the results. The numbers among the options, ordered by name, are the last arguments. */
#include "import/tflite/custom/tflite_custom.h"

#include "import/model/foreign.h"
#include "support/text.h"

/* Appends the options as arguments; refuses options that are not numbers. */
static void read_numbers(TfliteCall *c, ForeignCall *f)
{
    FlexMap map;
    const Bytes given = c->op->custom_options;
    if (!given.count) return;
    if (!flex_map(given, &map)) {
        tflite_unsupported(c, "its options are %llu bytes that are not a map; with --extern write a flexbuffer of "
                           "numbers by name, or no options", (unsigned long long)given.count);
        return;
    }
    for (uint64_t i = 0; i < map.count && !ctx_failed(c->cx); i++) {
        FlexNumber number;
        const char *key = flex_key(&map, i);
        if (!key || !flex_number_at(&map, i, &number) || number.integer > INT32_MAX || number.integer < -INT32_MAX)
            tflite_unsupported(c, "its option '%s' is not a 32-bit number; use 32-bit integers, reals or truth values "
                               "with --extern", key ? key : "");
        else foreign_add_number(f, number.is_real, number.integer, number.real);
    }
}

static void foreign(TfliteCall *c)
{
    ForeignCall f = foreign_new(c->cx, c->external->function);
    for (int i = 0; i < c->in_count; i++)
        if (!c->in[i]) tflite_refuse(c, "input %d is absent; pass all inputs with --extern", i);
    for (int i = 0; i < c->op->out_count && !ctx_failed(c->cx); i++) {
        const TfliteTensor *t = tflite_out_info(c, i);
        DType type = F32;
        bool is_fixed = tflite_dtype(t->type, &type);
        for (int d = 0; d < t->rank; d++) is_fixed = is_fixed && t->dim[d] > 0 && !t->is_open[d];
        if (!is_fixed)
            tflite_unsupported(c,
                               "its output \"%s\" is %s[%s]; declare fixed sizes with --extern",
                               t->name, tflite_type_text(c->cx, t->type),
                               ints_text(c->cx, t->dim, t->rank));
        foreign_add_output(&f, type, t->rank, t->dim);
    }
    if (!ctx_failed(c->cx)) read_numbers(c, &f);
    Tensor *first = ctx_failed(c->cx) ? NULL : foreign_call(&f, c->name, c->in, c->in_count);
    for (int i = 0; first && i < c->op->out_count; i++) c->out[i] = first->producer->out[i];
}

const TfliteRow tflite_row_foreign = { TFLITE_CUSTOM, "--extern", INT32_MAX, 0, ~0, 0, NULL, foreign,
                                       TFLITE_KEEPS_NONE };
