/* SPDX-License-Identifier: MIT */
/* Words for widths and their noise: see precision_words.h. */
#include "api/page/precision_words.h"

#include <math.h>

/* A pair of equal values has the largest figure. */
const char *noise_text(Ctx *cx, double db)
{
    const double equal = 200;
    return isnan(db) ? "-" : db >= equal ? "exact" : text_format(cx, "%.1f dB", db);
}

const char *first_widths_text(Ctx *cx, const Precision *p)
{
    Text t = text_new(cx);
    text_add(&t, "8 bits");
    for (int i = 0; i < p->count; i++) {
        const LayerPrecision *l = &p->at[i];
        if (l->first == FLOAT_BITS) text_printf(&t, ", %s in floats", l->name);
        else if (l->first != 8) text_printf(&t, ", %s of %d", l->name, l->first);
    }
    return text_string(&t);
}
