/* SPDX-License-Identifier: MIT */
/* Prints the report of a quantization as HTML.
 *
 *   the summary       what the command prints: grids, widths, accuracy
 *   sensitivity       for each grid the signal to noise at the outputs if only this grid has 8 bits
 *   grids             for each grid the histogram of its values over the samples, the chosen range as a band, and the
 *                     share of values that it clips
 *
 * Heights are logarithms in integer arithmetic and positions are integers, so the same samples give the same bytes on
 * every machine. */
#include "api/page/quantize_page.h"

#include <math.h>
#include <string.h>

#include "api/page/html.h"
#include "api/page/precision_words.h"

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* Returns about 16 * log2(1 + n), linear between powers of two. */
static int log_height(int64_t n)
{
    enum { PARTS = 16 };
    int power = 0;
    int64_t scale = 1;
    for (; (n + 1) / scale >= 2; scale *= 2) power++;
    return PARTS * power + (int)((n + 1 - scale) * PARTS / scale);
}

static void add_number(Text *t, double v) { text_printf(t, "%.3g", v); }

/* ---- Histograms -------------------------------------------------------------------------------------------------- */

enum { WIDTH = 300, HEIGHT = 72, BELOW = 14, COLUMNS = 75, COLUMN = WIDTH / COLUMNS };

/* The picture shows the interval [low, high], which includes all values, the range and zero. */
typedef struct Span { double low, high; } Span;

static Span span_of(const EdgeGroup *g)
{
    Span a = { fmin(fmin(g->seen.least, grid_low(&g->grid)), 0), fmax(fmax(g->seen.greatest, grid_high(&g->grid)), 0) };
    if (!(a.high > a.low)) a.high = a.low + 1;
    return a;
}

static int x_of(const Span *a, double v)
{
    const double x = (v - a->low) / (a->high - a->low) * WIDTH;
    return x < 0 ? 0 : x > WIDTH ? WIDTH : (int)(x + 0.5);
}

/* Returns the middle of a bin. */
static double bin_value(const Histogram *h, int bin)
{
    return (bin - HISTOGRAM_BINS / 2 + 0.5) * ldexp(2.0 / HISTOGRAM_BINS, h->exponent);
}

static void add_columns(Text *t, const Histogram *h, const Span *a)
{
    int64_t column[COLUMNS + 1] = { 0 }, most = 0;
    column[x_of(a, 0) / COLUMN] += h->zeros;
    for (int i = 0; h->bin && i < HISTOGRAM_BINS; i++) column[x_of(a, bin_value(h, i)) / COLUMN] += h->bin[i];
    column[COLUMNS - 1] += column[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) most = column[i] > most ? column[i] : most;
    text_add(t, "<path fill=\"var(--mac)\" d=\"");
    for (int i = 0; i < COLUMNS; i++) {
        const int height = most ? log_height(column[i]) * (HEIGHT - 4) / log_height(most) : 0;
        if (height) text_printf(t, "M%d %dV%dh%dV%d", i * COLUMN, HEIGHT, HEIGHT - height, COLUMN - 1, HEIGHT);
    }
    text_add(t, "\"/>");
}

/* Returns the share of values outside the range. */
static double clipped_share(const EdgeGroup *g)
{
    const Histogram *h = &g->seen;
    const double low = grid_low(&g->grid) - g->grid.step / 2, high = grid_high(&g->grid) + g->grid.step / 2;
    int64_t clipped = 0;
    for (int i = 0; h->bin && i < HISTOGRAM_BINS; i++) {
        const double v = bin_value(h, i);
        if (v < low || v > high) clipped += h->bin[i];
    }
    return h->count ? (double)clipped / (double)h->count : 0;
}

static void add_label(Text *t, int x, double v)
{
    const char *anchor = x < WIDTH / 6 ? "start" : x > WIDTH - WIDTH / 6 ? "end" : "middle";
    text_printf(t, "<text class=\"faint\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">", x, HEIGHT + BELOW - 3, anchor);
    add_number(t, v);
    text_add(t, "</text>");
}

static void add_picture(Text *t, const EdgeGroup *g)
{
    const Span a = span_of(g);
    const int left = x_of(&a, grid_low(&g->grid)), right = x_of(&a, grid_high(&g->grid)), zero = x_of(&a, 0);
    text_printf(t, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"histogram\">", WIDTH, HEIGHT + BELOW);
    text_printf(t, "<rect x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"var(--result)\" fill-opacity=\".18\"/>",
                left, right - left, HEIGHT);
    add_columns(t, &g->seen, &a);
    text_printf(t, "<path d=\"M0 %dH%d\" stroke=\"var(--line)\"/><path d=\"M%d 0V%d\" stroke=\"var(--faint)\" "
                "stroke-dasharray=\"2 3\"/>", HEIGHT, WIDTH, zero, HEIGHT);
    text_printf(t, "<path d=\"M%d 0V%dM%d 0V%d\" stroke=\"var(--result)\" stroke-width=\"1.5\"/>", left, HEIGHT, right,
                HEIGHT);
    add_label(t, left, grid_low(&g->grid));
    add_label(t, right, grid_high(&g->grid));
    text_add(t, "</svg>");
}

static void add_grid(Text *t, const EdgeGroup *g, int tensors)
{
    static const char *const ranges[] = {
        [EDGE_CALIBRATED] = "least error", [EDGE_WHOLE] = "all values",
        [EDGE_BY_RESULT] = "error of the softmax", [EDGE_FIXED] = "fixed by the operator",
        [EDGE_GIVEN] = "given by an annotation",
    };
    text_add(t, "<figure>");
    if (group_bits(g) != FLOAT_BITS) add_picture(t, g);
    text_add(t, "<figcaption><b>");
    html_escaped(t, g->name);
    text_add(t, "</b> ");
    if (tensors > 1) text_printf(t, "and %d more: ", tensors - 1);
    if (group_bits(g) == FLOAT_BITS) {
        text_add(t, "stays in floats</figcaption></figure>\n");
        return;
    }
    text_printf(t, "%d bits, step ", group_bits(g));
    add_number(t, g->grid.step);
    text_printf(t, ", zero %lld; range: %s; ", (long long)g->grid.zero, ranges[g->range]);
    if (g->seen.count) text_printf(t, "clips %.3g %%", 100 * clipped_share(g));
    else text_add(t, "no samples");
    text_add(t, "</figcaption></figure>\n");
}

static void add_grids(Ctx *cx, Text *t, const Edges *e)
{
    int *tensors = NEW_ARRAY(cx->arena, int, e->group_count);
    for (int i = 0; i < e->count; i++) tensors[e->at[i].group]++;
    text_add(t, "<h2>Grids</h2>\n<p>Columns: values over the samples, heights on a logarithmic scale. Band: the range "
                "of the grid, values outside are clipped. Dashed: zero.</p>\n<div class=\"grids\">\n");
    for (int i = 0; i < e->group_count; i++) add_grid(t, &e->group[i], tensors[i]);
    text_add(t, "</div>\n");
}

/* ---- Sensitivity ------------------------------------------------------------------------------------------------- */

static void add_bar(Ctx *cx, Text *t, double db, double most, const char *color)
{
    const double share = !isfinite(db) ? (db > 0 ? 1 : 0) : most > 0 ? db / most : 0;
    text_printf(t, "<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"%d\" "
                "height=\"10\" fill=\"var(--%s)\"/></svg><span>%s</span>", (int)(fmin(fmax(share, 0), 1) * 1000), color,
                noise_text(cx, db));
}

static void add_sensitivity(Ctx *cx, Text *t, const Precision *p)
{
    double most = 1;
    for (int i = 0; i < p->count; i++) {
        if (isfinite(p->at[i].alone8)) most = fmax(most, p->at[i].alone8);
        if (isfinite(p->at[i].own)) most = fmax(most, p->at[i].own);
    }
    text_printf(t, "<h2>Sensitivity</h2>\n<p>Signal to noise: short bars lose more. The bars are measured on %lld "
                "samples. On %lld, all grids with %s give %s at the outputs, those chosen %s.</p>\n"
                "<p class=\"key\"><span style=\"--c:var(--mac)\">at the outputs, only this grid with 8 bits, or "
                "with its only width</span>"
                "<span style=\"--c:var(--weight)\">at this tensor, all grids with 8 bits</span></p>\n<ol>\n",
                (long long)p->measured, (long long)p->samples, first_widths_text(cx, p), noise_text(cx, p->narrow.sqnr),
                noise_text(cx, p->chosen.sqnr));
    for (int i = 0; i < p->count; i++) {
        const LayerPrecision *l = &p->at[i];
        text_add(t, "<li><div><b>");
        html_escaped(t, l->name);
        text_add(t, "</b><br><i>");
        if (l->bits == FLOAT_BITS) text_add(t, "stays in floats");
        else text_printf(t, "%d bits", l->bits);
        text_add(t, "</i></div><div class=\"bars\">");
        if (!l->has_one_width || l->first != FLOAT_BITS)
            add_bar(cx, t, l->has_one_width && l->first == 16 ? l->alone16 : l->alone8, most, "mac");
        if (!isnan(l->own)) add_bar(cx, t, l->own, most, "weight");
        text_add(t, "</div></li>\n");
    }
    text_add(t, "</ol>\n");
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static void add_cards(Ctx *cx, Text *t, const Quantized *q, int in_floats)
{
    const Edges *e = &q->edges;
    int wide = 0, narrow = 0;
    for (int i = 0; i < e->group_count; i++) {
        wide += group_bits(&e->group[i]) == 16;
        narrow += group_bits(&e->group[i]) == 8;
    }
    text_add(t, "<div class=\"cards\">\n");
    html_card(t, text_format(cx, "%d", e->count), "quantized tensors");
    html_card(t, text_format(cx, "%d", narrow), "8-bit grids");
    html_card(t, text_format(cx, "%d", wide), "16-bit grids");
    html_card(t, text_format(cx, "%d", in_floats), "calls in floats");
    text_add(t, "</div>\n");
}

const char *quantize_page(Ctx *cx, const char *model, const Quantized *q, int in_floats, const char *said)
{
    Text t = text_new(cx);
    html_begin(&t, model, "quantized by Loopwright");
    add_cards(cx, &t, q, in_floats);
    text_add(&t, "<pre>");
    for (const char *s = said; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        html_escaped(&t, text_format(cx, "%.*s", (int)strcspn(s, "\n"), s));
        text_char(&t, '\n');
    }
    text_add(&t, "</pre>\n");
    if (q->precision && q->precision->count) add_sensitivity(cx, &t, q->precision);
    add_grids(cx, &t, &q->edges);
    html_end(&t);
    return ctx_failed(cx) ? NULL : text_string(&t);
}
