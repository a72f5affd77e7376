/* SPDX-License-Identifier: MIT */
/* Prints the sensitivities and the chosen widths: see precision_text.h. */
#include "api/precision_text.h"

#include "api/page/precision_words.h"
#include "api/scores.h"

enum { NAME_WIDTH = 32 };

static const char *bits_text(const LayerPrecision *l)
{
    return l->bits == FLOAT_BITS ? "float" : l->bits == 16 ? "16" : "8";
}

/* Returns the signal to noise at the outputs if only this grid is quantized, with this number of bits. */
static const char *alone_text(Ctx *cx, const LayerPrecision *l, int bits)
{
    if (l->has_one_width && l->first != bits) return "-";
    return noise_text(cx, bits == 8 ? l->alone8 : l->alone16);
}

/* Prints a row for each grid, in execution order. */
static void print_rows(Ctx *cx, Text *t, const Precision *p)
{
    text_printf(t, "%-*s  bits%12s%14s%14s\n", NAME_WIDTH, "tensor", "its own", "8 bits alone", "16 bits alone");
    for (int i = 0; i < p->count; i++) {
        const LayerPrecision *l = &p->at[i];
        text_printf(t, "%-*.*s %5s%12s%14s%14s\n", NAME_WIDTH, NAME_WIDTH, l->name, bits_text(l),
                    noise_text(cx, l->own), alone_text(cx, l, 8), alone_text(cx, l, 16));
    }
}

static void print_quality(Ctx *cx, Text *t, const char *what, const Precision *p, const Quality *q,
                          const NetworkCost *cost, bool has_labels)
{
    text_printf(t, "%s: %s", what, noise_text(cx, q->sqnr));
    if (q->worst) text_printf(t, " of \"%s\"", q->worst);
    if (has_labels) text_printf(t, ", accuracy %s (in floats %s)", percent_text(cx, q->right, p->samples),
                                percent_text(cx, p->right, p->samples));
    if (cost->instructions) text_printf(t, "; %lld instructions counted, %lld bytes", (long long)cost->instructions,
                                        (long long)cost->bytes);
    text_char(t, '\n');
}

/* Prints the cost that the width adds to the 8-bit network; prints nothing if it is not counted. */
static void print_added(Text *t, const LayerPrecision *l)
{
    NetworkCost a = l->wide;
    if (l->bits == FLOAT_BITS) a = (NetworkCost){ a.instructions + l->floats.instructions, a.bytes + l->floats.bytes };
    if (a.instructions || a.bytes)
        text_printf(t, "; %+lld instructions, %+lld bytes", (long long)a.instructions, (long long)a.bytes);
}

/* Names the tensors with this width, the noise that each of them causes, and the cost of the width. */
static void print_raised(Ctx *cx, Text *t, const Precision *p, int bits)
{
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        if (p->at[i].bits != bits) continue;
        const char *before = count++ ? ", " : bits == 16 ? "16 bits: " : "floats: ";
        text_printf(t, "%s%s (", before, p->at[i].name);
        if (p->at[i].first == bits) text_add(t, "not widened, its only width");
        else text_printf(t, "%s with %d bits alone", noise_text(cx, p->at[i].first == 8 ? p->at[i].alone8
                                                                : p->at[i].alone16), p->at[i].first);
        print_added(t, &p->at[i]);
        text_char(t, ')');
    }
    if (count) text_char(t, '\n');
}

void print_precision(Ctx *cx, Text *t, const Precision *p, const QualityBounds *bounds)
{
    const bool has_labels = bounds->label != NULL;
    bool is_widened = false;
    if (!p->count) return;
    for (int i = 0; i < p->count; i++) is_widened = is_widened || p->at[i].bits != p->at[i].first;
    if (bounds->lists_layers) print_rows(cx, t, p);
    print_quality(cx, t, text_format(cx, "all tensors at %s", first_widths_text(cx, p)), p, &p->narrow,
                  &p->narrow_cost, has_labels);
    if (!is_widened && (bounds->least_sqnr > 0 || bounds->most_drop >= 0))
        text_add(t, "the bound holds: no tensor is widened\n");
    if (!is_widened) return;
    print_raised(cx, t, p, 16);
    print_raised(cx, t, p, FLOAT_BITS);
    print_quality(cx, t, "as chosen", p, &p->chosen, &p->chosen_cost, has_labels);
}
