/* SPDX-License-Identifier: MIT */
/* Finds the row of an operator by its code, or by the name of a custom operator. */
#include "import/tflite/tflite_find.h"

#include <string.h>

#include "import/tflite/custom/tflite_custom.h"
#include "import/tflite/ops/tflite_rows.h"

static const TfliteRow *const tables[] = { tflite_rows_curve, tflite_rows_logic, tflite_rows_math,  tflite_rows_move,
                                           tflite_rows_order, tflite_rows_place, tflite_rows_recurrent,
                                           tflite_rows_region, tflite_rows_resize,
                                           tflite_rows_shape, tflite_rows_signal, tflite_rows_state, tflite_rows_svdf,
                                           tflite_rows_window, tflite_rows_spectrum, tflite_rows_frames,
                                           tflite_rows_decode, tflite_rows_decided, tflite_rows_detect,
                                           tflite_rows_list };
enum { TABLES = sizeof tables / sizeof tables[0] };

const TfliteRow *tflite_row_find(const TfliteOperator *op)
{
    for (int i = 0; i < TABLES; i++)
        for (const TfliteRow *r = tables[i]; r->name; r++)
            if (r->code == op->code && (r->code != TFLITE_CUSTOM || strcmp(r->name, op->custom) == 0)) return r;
    return NULL;
}

const TfliteRow **tflite_row_list(Ctx *cx, int *count)
{
    int capacity = 0;
    for (int i = 0; i < TABLES; i++)
        for (const TfliteRow *r = tables[i]; r->name; r++) capacity++;
    const TfliteRow **all = NEW_ARRAY(cx->arena, const TfliteRow *, capacity);
    *count = 0;
    for (int i = 0; i < TABLES; i++)
        for (const TfliteRow *r = tables[i]; r->name; r++) {
            int at = (*count)++;
            for (; at > 0 && strcmp(all[at - 1]->name, r->name) > 0; at--) all[at] = all[at - 1];
            all[at] = r;
        }
    return all;
}
