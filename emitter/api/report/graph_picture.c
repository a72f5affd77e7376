/* SPDX-License-Identifier: MIT */
/* Draws the graph of a network as SVG: a box for each input and group, in the order of execution, from top to bottom.
 * An edge to the next box is straight. The other edges of one box share a lane to the right of the boxes, which ends at
 * the last consumer:
 *
 *   +-------+
 *   |   a   |---.
 *   +-------+   |
 *       |       |
 *   +-------+   |
 *   |   b   |   |
 *   +-------+   |
 *       |       |
 *   +-------+   |
 *   | a + b |<--'
 *   +-------+
 *
 * The bar inside a box is its share of the time. The drawing fits a phone's width up to five lanes. */
#include <string.h>

#include "api/page/html.h"
#include "api/report/html_parts.h"
#include "support/map.h"

enum {
    EDGE = 6,                /* left of the boxes */
    WIDTH = 276,             /* of a box */
    HEIGHT = 40,
    STEP = 56,               /* from box to box */
    LANE = 9,                /* from lane to lane */
    LETTER = 6,              /* an average one at 11 px */
    SLICE = 8,               /* the boxes of one picture; a printed page does not cut them */
    LINE_1 = 16, LINE_2 = 32
};

/* A box is an input (group -1) or a group. lane: the lane of the edges to boxes further down, or -1 if there are none.
 * last: the lowest of these boxes. */
typedef struct GraphBox { const Tensor *input; int group, lane, last; } GraphBox;

typedef struct Picture {
    const Build *b;
    Ctx *cx;
    Text *t;
    int count, lanes; GraphBox *box;
    Map row_of;              /* maps a tensor to the GraphBox that produces it */
    int64_t work;            /* of all groups */
} Picture;

static int top_of(int row) { return EDGE + row * STEP; }

static void add_box(Picture *p, GraphBox box)
{
    p->box[p->count] = box;
    p->count++;
}

static void place_boxes(Picture *p)
{
    const Build *b = p->b;
    p->box = NEW_ARRAY(p->cx->arena, GraphBox, b->graph.input_count + b->groups.count);
    for (int i = 0; i < b->graph.input_count; i++) {
        map_put_ptr(&p->row_of, b->graph.input[i], &p->box[p->count]);
        add_box(p, (GraphBox){ b->graph.input[i], -1, -1, -1 });
    }
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        for (int j = 0; j < g->output_count; j++) map_put_ptr(&p->row_of, g->output[j], &p->box[p->count]);
        add_box(p, (GraphBox){ NULL, i, -1, -1 });
    }
}

/* Returns the box of the group's input, or NULL if the input is a constant. */
static GraphBox *producer(const Picture *p, const Group *g, int input)
{
    return map_get_ptr(&p->row_of, g->input[input]);
}

/* Gives each box with consumers further down the leftmost lane that is free from this box to its last consumer. */
static void assign_lanes(Picture *p)
{
    int *end = NEW_ARRAY(p->cx->arena, int, p->count);
    for (int row = 0; row < p->count; row++) {
        const Group *g = p->box[row].group < 0 ? NULL : &p->b->groups.at[p->box[row].group];
        for (int i = 0; g && i < g->input_count; i++) {
            GraphBox *from = producer(p, g, i);
            if (from && row - (from - p->box) > 1) from->last = row;
        }
    }
    for (int row = 0; row < p->count; row++) {
        GraphBox *box = &p->box[row];
        if (box->last < 0) continue;
        int lane = 0;
        while (lane < p->lanes && end[lane] > row) lane++;
        if (lane == p->lanes) p->lanes++;
        end[lane] = box->last;
        box->lane = lane;
    }
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static void label(Picture *p, int x, int y, const char *kind, const char *text, int pixels)
{
    text_printf(p->t, "<text x=\"%d\" y=\"%d\"%s>", x, y, kind);
    html_escaped(p->t, text_shortened(p->cx, text, pixels / LETTER));
    text_add(p->t, "</text>");
}

/* Returns a text short enough for a box, such as "i8 [1][25][5][64], 0.0235 (q + 128)". */
static const char *short_type(Ctx *cx, const Tensor *x)
{
    Text t = text_new(cx);
    text_printf(&t, "%s %s", dtype_info(x->type)->spelling, tensor_shape_names(cx, x));
    if (x->quant && x->quant->count > 1) text_printf(&t, ", %d scales", x->quant->count);
    if (!x->quant || x->quant->count > 1) return text_string(&t);
    const long zero = (long)x->quant->zero_point[0];
    text_printf(&t, ", %.4g", (double)x->quant->scale[0]);
    if (zero) text_printf(&t, " (q %c %ld)", zero < 0 ? '+' : '-', zero < 0 ? -zero : zero);
    else text_add(&t, " q");
    return text_string(&t);
}

static void draw_box(Picture *p, int row)
{
    enum { SHARE = 50 };         /* pixels of the percentage */
    const GraphBox *box = &p->box[row];
    const Group *g = box->group < 0 ? NULL : &p->b->groups.at[box->group];
    const bool is_free = g && p->b->plan.is_free[box->group];
    const int64_t work = g && !is_free ? html_work(p->b, box->group) : 0;
    const char *name = g ? text_format(p->cx, "%d %s", box->group, g->name) : box->input->name;
    const Tensor *result = g ? g->output[0] : box->input;
    const int y = top_of(row);
    text_add(p->t, "<g><title>");
    html_escaped(p->t, name);
    if (g) html_escaped(p->t, text_format(p->cx, ": %s", group_ops_text(p->cx, g, " + ")));
    text_printf(p->t, "; %s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"var(--card)\" "
                      "stroke=\"var(--%s)\"%s/>", html_type(p->cx, result), EDGE, y, WIDTH, HEIGHT,
                g ? "line" : "result", is_free ? " stroke-dasharray=\"4 3\"" : "");
    if (work)
        text_printf(p->t, "<rect x=\"%d\" y=\"%d\" width=\"%lld\" height=\"%d\" rx=\"5\" fill=\"var(--mac)\" "
                          "fill-opacity=\".3\"/>", EDGE, y, (long long)(work * WIDTH / p->work), HEIGHT);
    label(p, EDGE + 8, y + LINE_1, " font-weight=\"600\"", name, WIDTH - 16 - (g ? SHARE : 0));
    label(p, EDGE + 8, y + LINE_2, " class=\"faint\"", short_type(p->cx, result), WIDTH - 16);
    if (g)
        text_printf(p->t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", EDGE + WIDTH - 8, y + LINE_1,
                    is_free ? "view" : p->work ? html_percent(p->cx, work, p->work) : "");
    text_add(p->t, "</g>\n");
}

/* Draws an edge into `row` from the box `at`, in a slice of the rows first to last; the arrowhead is in the slice where
 * the edge ends. */
static void draw_edge(Picture *p, int at, int row, int lane, int first, int last)
{
    const int right = EDGE + WIDTH, x = right + LANE * (lane + 1);
    if (at > last || row < first) return;
    if (lane < 0)
        text_printf(p->t, "<path d=\"M%d %dV%d\"", EDGE + WIDTH / 2, top_of(at) + HEIGHT, top_of(row) - 1);
    else
        text_printf(p->t, "<path d=\"M%d %dH%dV%dH%d\"", right, top_of(at) + HEIGHT / 2 + 6, x,
                    top_of(row) + HEIGHT / 2 - 6, right + 1);
    text_add(p->t, row <= last ? " marker-end=\"url(#head)\"/>\n" : "/>\n");
}

static void draw_edges(Picture *p, int row, int first, int last)
{
    const Group *g = p->box[row].group < 0 ? NULL : &p->b->groups.at[p->box[row].group];
    bool is_drawn = false;
    for (int i = 0; g && i < g->input_count; i++) {
        const GraphBox *from = producer(p, g, i);
        const int at = from ? (int)(from - p->box) : -1;
        if (from && at == row - 1 && !is_drawn) {
            draw_edge(p, at, row, -1, first, last);
            is_drawn = true;
        } else if (from && at < row - 1) draw_edge(p, at, row, from->lane, first, last);
    }
}

/* A slice begins in the middle of the space above its first box. */
static int slice_top(const Picture *p, int row)
{
    return row == 0 ? 0 : row < p->count ? top_of(row) - (STEP - HEIGHT) / 2 - 2 : top_of(p->count - 1) + HEIGHT + EDGE;
}

/* Draws the rows from `first` on as a separate picture. */
static void draw_slice(Picture *p, int first)
{
    const int end = first + SLICE < p->count ? first + SLICE : p->count, top = slice_top(p, first);
    const int width = EDGE + WIDTH + LANE * (p->lanes + 1) + EDGE, height = p->count ? slice_top(p, end) - top : 1;
    text_printf(p->t, "<svg viewBox=\"0 %d %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
                      "aria-label=\"graph%s\">\n", top, width, height, width, height, first ? ", continued" : "");
    if (!first)
        text_add(p->t, "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                       "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\" fill=\"var(--faint)\"/>"
                       "</marker></defs>\n");
    text_add(p->t, "<g fill=\"none\" stroke=\"var(--faint)\">\n");
    for (int row = 0; row < p->count; row++) draw_edges(p, row, first, end - 1);
    text_add(p->t, "</g>\n");
    for (int row = first; row < end; row++) draw_box(p, row);
    text_add(p->t, "</svg>\n");
}

/* Slices follow each other without a gap; a printed page breaks between them. */
void html_graph(const Build *b, Text *t)
{
    Picture p = { .b = b, .cx = b->cx, .t = t, .row_of = map_new(b->cx->arena), .work = html_all_work(b) };
    place_boxes(&p);
    assign_lanes(&p);
    text_add(t, "<div class=\"wide\">");
    for (int first = 0; first == 0 || first < p.count; first += SLICE) draw_slice(&p, first);
    text_add(t, "</div>\n");
}
