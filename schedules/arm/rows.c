/* SPDX-License-Identifier: MIT */
/* Schedules 8-bit convolutions and dense layers as dot products of rows (ops/integer/packed.c), with instructions that
 * multiply and accumulate several elements at once.
 *
 *   rows = the padded rows under the windows, if windows leave x
 *   for tiles of two pixels:                       of four if vectors multiply panels, of up to five without vectors
 *       patch = their windows, each a row          widened to i16 if the instruction multiplies pairs of i16;
 *                                                  none if panels hold bytes and a window's rows whole blocks of them
 *       for tiles of two channels:                 of four if one number packs two rows of weights, of one if a
 *                                                  number of the patch holds two of four pixels
 *           acc[2][2] = b                          LW_DOT_2X2: whole rows at once, accumulators in registers
 *           acc += patch . weights
 *           y = epilogue(acc)
 *
 * If the epilogue is an instruction for several channels (scale.c), the tile has that many channels. Its products are
 * then computed in twos, or on Helium by one instruction for all channels of the tile: LW_DOT_2XN or LW_DOT_1XN, or
 * LW_PANEL_PAIR if rows fill their vectors (the sums of its two pixels alternate in memory). A residual addition reads
 * the scaled products as bytes, in a tile of their own. A single pixel uses up to four channels at a time, and a single
 * channel is computed separately. The tile of pixels follows the axis that it divides best; the last tile starts
 * earlier to stay in range. The portable form of every instruction is in runtime/simd/rows.h. */

/* Decision: a scalar core with many registers also computes tiles. Panels of four channels by four bytes (`panels`
 * without `bytes`: RISC-V) are multiplied by four pixels in 16 registers: 8 loads for 16 products
 * (`runtime/simd/riscv_rows.h`). A tile of five pixels computes two channels at a time. Where neither rows nor columns
 * are multiples of four, a convolution of single pixels is computed as one row of all pixels; its epilogue moves before
 * the reshape (`schedules/arm/pixels.c`). */
#include "schedules/arm/scale.h"

#include <string.h>

#include "graph/dag/op_formula.h"
#include "support/text.h"

/* The weight layout along the axes of the sum. ROWS: bytes. PAIRS: two rows in one number. WIDE: alternating fours of
 * two rows. PANELS: pairs of a panel's channels. BYTES: two rows in one number, for bytes of x. WORDS: bytes, for a
 * patch whose numbers hold two pixels. LONG: words of four rows, for 64-bit sums. FOURS, FOUR_BYTES: four rows of 4
 * bits in one number, for pairs and for bytes of x. EIGHTS, SIXTEENS: rows of 4 and 2 bits in one word.
 * NIBBLES: panels of bytes that two channels share. */
typedef enum RowForm { NO_FORM, ROWS, PAIRS, WIDE, PANELS, BYTES, WORDS, LONG, FOURS, FOUR_BYTES, EIGHTS,
                       SIXTEENS, NIBBLES } RowForm;

enum { CHANNELS = 4, PAIR = 2 };     /* channels of a number or word, and of its halves */

typedef struct Tiles {
    const Stage *out;
    const char *scaled;          /* the product as bytes, an operand of additions; NULL if it is inlined */
    RowForm form;
    int row, last;
    int64_t w, o, block, depth, offset;
    /* number of rows of a window whose bytes are multiplied without a patch; otherwise 0 */
    int64_t rows;
    bool is_whole;               /* true if one instruction computes all channels of the tile */
    bool alternates;             /* true if the sums of two pixels alternate in memory */
    /* the stage that unpacks the weights of the tile's channels from few bits; NULL if weights are stored as read */
    const char *weights;
    const char *at_rows, *at_pixels, *at_channels, *at_weights;
} Tiles;

/* Returns true if one or two instructions compute the output from the sums, for `count` channels. */
static bool epilogue_at_once(Ctx *cx, const GroupNest *g, const Nest *n, const char *scaled, int64_t count)
{
    const Stage *out = nest_stage(n, output_stage(n)->name);      /* the current stage, after inlining */
    return scaled ? adds_at_once(cx, g, out, count) && scales_at_once(cx, g, nest_stage(n, scaled), count)
                  : scales_at_once(cx, g, out, count);
}

/* forms by the names of the layouts in ops/integer/packed.c */
static const struct { const char *layout; RowForm form; } forms[] = {
    { "rows", ROWS }, { "pairs", PAIRS }, { "wide", WIDE }, { "panels", PANELS }, { "bytes", BYTES }, { "long", LONG },
    { "fours", FOURS }, { "four_bytes", FOUR_BYTES }, { "eights", EIGHTS },
    { "sixteens", SIXTEENS }, { "nibbles", NIBBLES }
};

/* Returns true for rows of few bits in words, of which one instruction multiplies any number. */
static bool shares_words(RowForm form) { return form == EIGHTS || form == SIXTEENS; }

static bool has_panels(RowForm form) { return form == PANELS || form == NIBBLES; }

/* Returns the channels of a panel, and the adjacent elements of each. */
static int64_t panel_channels(RowForm form, const Tensor *k)
{
    enum { BYTES_OF_CHANNEL = 8 };
    return form == NIBBLES ? tensor_dim(k, 2) / BYTES_OF_CHANNEL : tensor_dim(k, 2);
}
static int64_t panel_depth(RowForm form, const Tensor *k)
{
    enum { VECTOR = 16 };
    return form == NIBBLES ? VECTOR : tensor_dim(k, 3);
}

/* Returns true for instructions of many channels, whose sums are stored. */
static bool stores_sums(RowForm form)
{
    return form == LONG || form == FOURS || form == FOUR_BYTES || shares_words(form);
}

/* Returns the number of channels of one number or word of weights. */
static int64_t channels_of(RowForm form)
{
    return form == SIXTEENS ? 4 * CHANNELS : form == EIGHTS ? 2 * CHANNELS : form == NIBBLES ? PAIR : CHANNELS;
}

static RowForm form_named(const char *layout)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].layout, layout) == 0) return forms[i].form;
    return NO_FORM;
}

bool rows_have_tile(const char *layout) { return form_named(layout) != NO_FORM; }

/* Returns the form of the weights, or NO_FORM if their layout has no tile here, so that the product keeps its loops. */
static RowForm form_of(const GroupNest *g)
{
    const Node *anchor = g->group->anchor;
    const WeightLayout *l = weights_layout(anchor->op, anchor->in[1]);
    return node_int(anchor, "pairs", 0) ? WORDS : l ? form_named(l->name) : NO_FORM;
}

/* Returns the cost of a tile of w pixels: their products, and one load of the weights. A scalar core computes four
 * channels at a time, but only two with five pixels, which loads the elements twice. */
static int64_t tile_cost(int64_t w, bool has_vectors)
{
    enum { MOST = 5 };
    return has_vectors ? w + 1 : w * (2 * CHANNELS + 1) + CHANNELS + (w == MOST ? MOST : 0);
}

/* Tiles pixels along the axis with the lowest work, the later one on a tie. Instructions for vectors exist for 2 and 4
 * pixels. */
static void choose_pixels(Tiles *t, int64_t most, bool has_vectors)
{
    int64_t best = INT64_MAX;
    for (int a = t->last - 1; a >= 0; a--) {
        const int64_t extent = axis_extent(t->out, a);
        for (int64_t w = most; w > 1; w = has_vectors ? w / 2 : w - 1) {
            const int64_t tiles = (extent + w - 1) / w, cost = 1000000 * tiles * tile_cost(w, has_vectors) / extent;
            if (w > extent || cost >= best) continue;
            best = cost;
            t->row = a;
            t->w = w;
        }
    }
}

/* Returns true if one instruction should compute `block` channels of the tile. The instruction is a function, whose
 * call costs as much as 64 products of vectors save. A tile of all channels may also have fewer than four channels: the
 * epilogue is then an instruction, which saves several instructions per output. */
static bool may_be_whole(Ctx *cx, const GroupNest *g, const Nest *n, const Tiles *t, int64_t block)
{
    enum { VECTOR = 16, LEAST = 64, VECTOR_OF_SUMS = 4 };
    const Tensor *k = g->group->anchor->in[1];
    const int64_t vectors = (tensor_dim(k, k->rank - 1) + VECTOR - 1) / VECTOR;
    const bool ends_alone = block == axis_extent(t->out, t->last) && t->block < VECTOR_OF_SUMS;
    return block > t->o && (block * vectors >= LEAST || ends_alone) && epilogue_at_once(cx, g, n, t->scaled, block);
}

/* Chooses the largest number of channels, all of them or a power of two, whose sums use at most 512 bytes. */
static void choose_whole(Ctx *cx, const GroupNest *g, const Nest *n, Tiles *t)
{
    enum { MOST = 128 };
    const Tensor *k = g->group->anchor->in[1];
    const int64_t outs = axis_extent(t->out, t->last), unpacked = unpacked_channels(tensor_dim(k, k->rank - 1));
    const int64_t most = t->weights && unpacked < MOST / t->w ? unpacked : MOST / t->w;
    if (t->form != ROWS || !target_has(g->target, "mve")) return;
    int64_t block = outs <= most ? outs : most;
    while (block > t->o && !may_be_whole(cx, g, n, t, block)) block = block > most / 2 ? most / 2 : block / 2;
    t->is_whole = block > t->o;
    if (t->is_whole) t->block = t->o = block;
}

/* Returns the number of channels of an instruction that stores its sums, given `words` groups of channels. The
 * instruction adds up the elements of x once, and its sums use at most 128 bytes, or 256 a pixel for numbers of four
 * rows. A tile that the outputs do not fill is one of several. */
static int64_t channels_of_words(RowForm form, int64_t words, int64_t outs)
{
    enum { MOST = 8, MOST_OF_FOURS = 16 };
    const int64_t channels = channels_of(form);
    int64_t count = form == LONG ? MOST : shares_words(form) ? MOST * 8 / channels : MOST_OF_FOURS;
    while (count > 1 && (words % count || count * channels > outs)) count--;
    return count * channels;
}

/* Chooses the tile. Such a tile has two pixels, or up to five if an instruction uses a panel of weights. Such a tile
 * has two channels, four for one pixel or if one number packs two rows of weights, or the channels of a panel. */
static Tiles tiles_of(Ctx *cx, const GroupNest *g, const Nest *n, const char *scaled)
{
    const Stage *out = output_stage(n), *unpacked = unpacking_stage(n);
    Tiles t = { .out = out,
                .scaled = scaled,
                .weights = unpacked ? unpacked->name : NULL,
                .row = -1,
                .last = out->data_count - 1,
                .w = 1,
                .o = 1,
                .form = form_of(g) };
    enum { FEW = 2, MANY = 4, SCALAR = 5 };
    const bool has_vectors = target_has(g->target, "bytes");
    const int64_t outs = axis_extent(out, t.last);
    const Tensor *k = g->group->anchor->in[1];
    /* true if a padded row of weights follows the last one; its product is discarded */
    bool has_room = tensor_dim(g->group->anchor->in[2], 0) > outs;
    if (has_panels(t.form)) t.depth = panel_depth(t.form, k);
    t.alternates = has_panels(t.form) && target_has(g->target, "mve");
    t.offset = node_int(g->group->anchor, "offset", 0);
    const int64_t most = shares_words(t.form)                  ? 1
                         : !has_panels(t.form) || t.alternates ? FEW
                         : has_vectors                         ? MANY
                                                               : SCALAR;
    choose_pixels(&t, most, has_vectors || t.depth <= 2);
    for (int64_t o = t.w == 1 ? 4 : 2; o > t.o; o /= 2)
        if (outs % o == 0 || (o == 2 && has_room)) t.o = o;
    if (t.form == PAIRS || t.form == BYTES) t.o = 4;
    if (has_panels(t.form)) t.o = panel_channels(t.form, k);
    if (t.form == NIBBLES) t.alternates = t.w == PAIR;
    if (stores_sums(t.form)) t.o = channels_of_words(t.form, tensor_dim(k, 0), outs);
    t.block = t.o;
    for (int64_t block = 16; block > t.block; block /= 2)
        if (epilogue_at_once(cx, g, n, scaled, block)) t.block = block;
    choose_whole(cx, g, n, &t);
    if (t.form == WORDS) {
        t.row = (int)node_int(g->group->anchor, "pairs", 0);
        t.w = MANY;
        t.o = t.block = 1;
    }
    return t;
}

static const Nest *split_tiles(Ctx *cx, const Nest *n, Tiles *t)
{
    const char *order[MAX_AXES], *c = loop_name(cx, t->out, t->last),
                                 *w = t->row >= 0 ? loop_name(cx, t->out, t->row) : NULL;
    int count = 0;
    Path found;
    bool cut_w = w && axis_extent(t->out, t->row) > t->w, cut_c = axis_extent(t->out, t->last) > t->block;
    const char *const channels = cut_c ? text_format(cx, "%so", c) : NULL;
    /* weights of several channels are unpacked before all pixels, and weights of one channel for each tile of pixels */
    const bool is_outside = channels && t->weights && t->block > 1;
    if (is_outside) order[count++] = channels;
    const bool shifts = t->form != WORDS && t->row >= 0 && axis_extent(t->out, t->row) % t->w;
    if (cut_w) n = sched_split(cx, n, w, t->w, shifts ? TAIL_SHIFT : TAIL_GUARD, NULL, NULL);
    if (cut_c) n = sched_split(cx, n, c, t->block, TAIL_GUARD, NULL, NULL);
    for (int a = 0; a < t->last; a++) {
        const char *loop = loop_name(cx, t->out, a);
        if (a != t->row && nest_find_loop(n, loop, &found)) order[count++] = loop;
        if (a == t->row && cut_w) order[count++] = text_format(cx, "%so", w);
        if (a == t->last - 2 && count) t->at_rows = order[count - 1];
    }
    t->at_pixels = count ? order[count - 1] : NULL;
    if (channels && !is_outside) order[count++] = channels;
    t->at_weights = channels;
    t->at_channels = count ? order[count - 1] : NULL;
    if (w) order[count++] = cut_w ? text_format(cx, "%si", w) : w;
    if (nest_find_loop(n, c, &found) || cut_c) order[count++] = cut_c ? text_format(cx, "%si", c) : c;
    return count > 1 ? sched_reorder(cx, n, order, count, false) : n;
}

/* Returns the loop over a tile's pixels or channels along an axis of the output. */
static const char *tile_loop(Ctx *cx, const Tiles *t, int axis, int64_t size)
{
    const char *loop = loop_name(cx, t->out, axis);
    return axis_extent(t->out, axis) > size ? text_format(cx, "%si", loop) : loop;
}

/* Returns the loop that stores the first values of the sums along an axis. */
static const char *first_loop(Ctx *cx, const Nest *n, const char *acc, int axis)
{
    return text_format(cx, "%s@init.%s", acc, expr_as_var(nest_stage(n, acc)->axis[axis].var)->name);
}

/* Returns true if two pixels share the first values of their sums and the factors of their scales. */
static bool ends_in_pairs(Ctx *cx, const Nest *n, const GroupNest *g, const Tiles *t)
{
    const char *scaled = t->scaled ? t->scaled : t->out->name;
    return t->w == PAIR && t->form == ROWS && scales_pair_at_once(cx, g, nest_stage(n, scaled), t->block);
}

/* Ends a tile whose sums alternate. An instruction always copies the first values of these sums. */
static const Nest *end_alternate(Ctx *cx, const Nest *n, const GroupNest *g, const char *acc, const Tiles *t)
{
    const char *scaled = t->scaled ? t->scaled : t->out->name;
    const bool ends = epilogue_at_once(cx, g, n, t->scaled, t->block);
    const char *first[] = { first_loop(cx, n, acc, t->last), first_loop(cx, n, acc, t->row) };
    if (ends && t->scaled) n = add_at_once(cx, g, n, t->out->name, tile_loop(cx, t, t->last, t->block), t->block);
    if (ends)
        n = scale_alternate_at_once(cx, n, scaled, t->scaled ? loop_name(cx, nest_stage(n, scaled), t->row)
                                                             : tile_loop(cx, t, t->row, t->w));
    if (ends && t->scaled) n = unroll_if_found(cx, n, tile_loop(cx, t, t->row, t->w));
    n = sched_reorder(cx, n, first, 2, false);
    return initialize_alternate_at_once(cx, n, first[0]);
}

static const Nest *end_at_once(Ctx *cx, const Nest *n, const GroupNest *g, const char *acc, const Tiles *t)
{
    const bool in_pairs = ends_in_pairs(cx, n, g, t);
    const char *scaled = t->scaled ? t->scaled : t->out->name;
    if (t->scaled) n = add_at_once(cx, g, n, t->out->name, tile_loop(cx, t, t->last, t->block), t->block);
    if (in_pairs) {
        const char *pixels = t->scaled ? loop_name(cx, nest_stage(n, scaled), t->row)
                                       : tile_loop(cx, t, t->row, t->w);
        n = scale_pair_at_once(cx, n, pixels);
        return initialize_pair_at_once(cx, n, first_loop(cx, n, acc, t->row));
    }
    const char *channels = t->scaled ? loop_name(cx, nest_stage(n, scaled), t->last)
                                     : tile_loop(cx, t, t->last, t->block);
    n = scale_at_once(cx, n, scaled, channels);
    return initialize_at_once(cx, n, first_loop(cx, n, acc, t->last));
}

/* Computes the tile's channels at once if the target has an instruction for them, otherwise one by one; its pixels one
 * by one, or both at once. If two rows share a number, the first values of four channels are copied at once. Panels on
 * vectors keep their sums in memory, so an epilogue without an instruction stays a loop, which C compilers
 * vectorize. */
static const Nest *unroll_tile(Ctx *cx, const Nest *n, const GroupNest *g, const char *acc, const Tiles *t)
{
    const bool ends = t->block > 1 && epilogue_at_once(cx, g, n, t->scaled, t->block),
               begins = !ends && (t->form == PAIRS || t->form == BYTES);
    if (ends) n = end_at_once(cx, n, g, acc, t);
    if (!ends && has_panels(t->form) && target_has(g->target, "bytes"))
        return initialize_at_once(cx, n, first_loop(cx, n, acc, t->last));
    if (begins) n = initialize_at_once(cx, n, first_loop(cx, n, acc, t->last));
    for (int i = 0; i < 2; i++) {
        int a = i ? t->row : t->last;
        if (a < 0) continue;
        n = unroll_if_found(cx, n, tile_loop(cx, t, a, i ? t->w : t->block));
        if (!begins) n = unroll_if_found(cx, n, first_loop(cx, n, acc, a));
        if (t->scaled) n = unroll_if_found(cx, n, loop_name(cx, nest_stage(n, t->scaled), a));
    }
    return n;
}

/* Ends a tile whose sums four rows of 4 bits give: four channels of both pixels are unrolled, so that the pixels share
 * factors and shifts. */
static const Nest *end_fours(Ctx *cx, const Nest *n, const char *acc, const Tiles *t)
{
    const char *channels = tile_loop(cx, t, t->last, t->block), *order[MAX_AXES], *pixels = NULL;
    int count = 0;
    Path found;
    n = initialize_at_once(cx, n, first_loop(cx, n, acc, t->last));
    if (t->row >= 0) pixels = tile_loop(cx, t, t->row, t->w);
    if (t->block > CHANNELS) n = sched_split(cx, n, channels, CHANNELS, TAIL_GUARD, NULL, NULL);
    if (ctx_failed(cx)) return n;
    if (t->block > CHANNELS) order[count++] = text_format(cx, "%so", channels);
    if (pixels && nest_find_loop(n, pixels, &found)) order[count++] = pixels;
    order[count++] = t->block > CHANNELS ? text_format(cx, "%si", channels) : channels;
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    for (int i = t->block > CHANNELS; i < count; i++) n = unroll_if_found(cx, n, order[i]);
    return n;
}

/* The instructions of tiles, by weight layout. w, o: numbers of pixels and channels, or 0 for any number. */
typedef enum Product { DOT, DOT_WHOLE, DOT_WIDE, DOT_PAIRED, DOT_BYTES, DOT_WORDS, DOT_LONG, DOT_FOURS,
                       DOT_FOUR_BYTES, DOT_EIGHTS, DOT_SIXTEENS, PANEL_PAIRS, PANEL_BYTES, PANEL_QUADS,
                       PANEL_VECTORS, PANEL_NIBBLES } Product;
static const struct { Product of; bool has_rows; int w, o; const char *macro; } products[] = {
    { DOT, false, 2, 2, "LW_DOT_2X2_I8" },
    { DOT, false, 2, 1, "LW_DOT_2X1_I8" },
    { DOT, false, 1, 4, "LW_DOT_1X4_I8" },
    { DOT, false, 1, 2, "LW_DOT_1X2_I8" },
    { DOT, false, 1, 1, "LW_DOT_1X1_I8" },
    { DOT_WHOLE, false, 2, 0, "LW_DOT_2XN_I8" },
    { DOT_WHOLE, false, 1, 0, "LW_DOT_1XN_I8" },
    { DOT_WIDE, false, 2, 2, "LW_DOT_2X2_I16" },
    { DOT_PAIRED, false, 0, 0, "LW_DOT_2X4_I16" },
    { DOT_BYTES, false, 0, 0, "LW_DOT_1X4_PAIRS_I8" },
    { DOT_WORDS, false, 0, 0, "LW_DOT_WORDS_I8" },
    { DOT_LONG, false, 0, 4, "LW_DOT_1X4_LONG_I8" },
    { DOT_LONG, false, 0, 0, "LW_DOT_LONG_I8" },
    { DOT_FOURS, false, 0, 4, "LW_DOT_2X4_FOURS" },
    { DOT_FOURS, false, 0, 0, "LW_DOT_2XN_FOURS" },
    { DOT_FOUR_BYTES, false, 0, 4, "LW_DOT_1X4_FOURS_I8" },
    { DOT_FOUR_BYTES, false, 0, 0, "LW_DOT_1XN_FOURS_I8" },
    { DOT_EIGHTS, false, 0, 8, "LW_DOT_1X8_EIGHTS_I8" },
    { DOT_EIGHTS, false, 0, 0, "LW_DOT_EIGHTS_I8" },
    { DOT_SIXTEENS, false, 0, 16, "LW_DOT_1X16_SIXTEENS_I8" },
    { DOT_SIXTEENS, false, 0, 0, "LW_DOT_SIXTEENS_I8" },
    { PANEL_PAIRS, false, 1, 0, "LW_PANEL_I16" },
    { PANEL_PAIRS, false, 2, 0, "LW_PANEL2_I16" },
    { PANEL_PAIRS, false, 4, 0, "LW_PANEL4_I16" },
    { PANEL_BYTES, false, 1, 0, "LW_PANEL_I8" },
    { PANEL_BYTES, false, 2, 0, "LW_PANEL2_I8" },
    { PANEL_BYTES, false, 3, 0, "LW_PANEL3_I8" },
    { PANEL_BYTES, false, 4, 0, "LW_PANEL4_I8" },
    { PANEL_BYTES, false, 5, 0, "LW_PANEL5_I8" },
    { PANEL_BYTES, true, 1, 0, "LW_WINDOW_PANEL_I8" },
    { PANEL_BYTES, true, 2, 0, "LW_WINDOW2_PANEL_I8" },
    { PANEL_BYTES, true, 4, 0, "LW_WINDOW4_PANEL_I8" },
    { PANEL_QUADS, false, 1, 0, "LW_PANEL_U8" },
    { PANEL_QUADS, false, 2, 0, "LW_PANEL2_U8" },
    { PANEL_QUADS, false, 4, 0, "LW_PANEL4_U8" },
    { PANEL_QUADS, true, 1, 0, "LW_WINDOW_PANEL_U8" },
    { PANEL_QUADS, true, 2, 0, "LW_WINDOW2_PANEL_U8" },
    { PANEL_QUADS, true, 4, 0, "LW_WINDOW4_PANEL_U8" },
    { PANEL_VECTORS, false, 0, 0, "LW_PANEL_PAIR_I8" },
    { PANEL_VECTORS, true, 0, 0, "LW_WINDOW_PANEL_PAIR_I8" },
    { PANEL_NIBBLES, false, 1, 0, "LW_NIBBLES_I8" },
    { PANEL_NIBBLES, false, 2, 0, "LW_NIBBLES_PAIR_I8" },
    { PANEL_NIBBLES, true, 1, 0, "LW_WINDOW_NIBBLES_I8" },
    { PANEL_NIBBLES, true, 2, 0, "LW_WINDOW_NIBBLES_PAIR_I8" },
};

static Product product_of(const Tiles *t)
{
    static const Product plain[] = { [ROWS] = DOT, [PAIRS] = DOT_PAIRED, [WIDE] = DOT_WIDE, [BYTES] = DOT_BYTES,
                                     [WORDS] = DOT_WORDS, [LONG] = DOT_LONG, [FOURS] = DOT_FOURS,
                                     [FOUR_BYTES] = DOT_FOUR_BYTES, [EIGHTS] = DOT_EIGHTS,
                                     [SIXTEENS] = DOT_SIXTEENS };
    if (t->form == NIBBLES) return PANEL_NIBBLES;
    if (t->form != PANELS) return t->is_whole ? DOT_WHOLE : plain[t->form];
    return t->alternates ? PANEL_VECTORS : t->depth == 2 ? PANEL_PAIRS : t->offset ? PANEL_QUADS : PANEL_BYTES;
}

/* Returns the macro for this tile, or NULL if there is none or if the tile's rows have one element. */
static const char *macro_of(const Stage *acc, const Tiles *t)
{
    const Product of = product_of(t);
    if (axis_extent(acc, acc->data_count) < 2) return NULL;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        if (products[i].of == of && products[i].has_rows == (t->rows > 1) && (!products[i].w || products[i].w == t->w)
            && (!products[i].o || products[i].o == t->o))
            return products[i].macro;
    return NULL;
}

/* Splits the last loop, over the tile's channels, to the instruction's size, and moves the outer part outermost. */
static const Nest *split_products(Ctx *cx, const Nest *n, const char *const *loop, int count, int64_t part)
{
    const char *order[MAX_AXES + 1], *channels = loop[count - 1];
    n = sched_split(cx, n, channels, part, TAIL_GUARD, NULL, NULL);
    order[0] = text_format(cx, "%so", channels);
    for (int i = 0; i + 1 < count; i++) order[i + 1] = loop[i];
    order[count] = text_format(cx, "%si", channels);
    return sched_reorder(cx, n, order, count + 1, false);
}

/* Splits the loop over the tile's channels into the numbers of its weights. */
static const Nest *split_numbers(Ctx *cx, const Nest *n, const char *channels, const Tiles *t)
{
    const int64_t by = channels_of(t->form);
    return t->o > by ? sched_split(cx, n, channels, by, TAIL_GUARD, NULL, NULL) : n;
}

/* Splits the loop over the tile's channels into words, pairs and halves. */
static const Nest *split_words(Ctx *cx, const Nest *n, const char *channels, const Tiles *t)
{
    n = split_numbers(cx, n, channels, t);
    return sched_split(cx, n, t->o > CHANNELS ? text_format(cx, "%si", channels) : channels, PAIR, TAIL_GUARD, NULL,
                       NULL);
}

/* Stores the sums of the tile's two pixels alternately, and computes them in this order. */
static const Nest *alternate_sums(Ctx *cx, const Nest *n, const char *acc, const Tiles *t)
{
    const Stage *s = nest_stage(n, acc);
    const char *order[MAX_AXES];
    int count = 0;
    for (int a = 0; a < s->data_count; a++)
        if (a != t->row) order[count++] = expr_as_var(s->axis[a].var)->name;
    order[count++] = expr_as_var(s->axis[t->row].var)->name;
    n = sched_pack(cx, n, acc, order, count);
    return sched_reorder(cx, n, (const char *const[]){ loop_name(cx, s, t->last), loop_name(cx, s, t->row) }, 2, false);
}

static const Nest *make_dot(Ctx *cx, const Nest *n, const char *acc, const Tiles *t)
{
    const Stage *s = nest_stage(n, acc);
    const char *order[MAX_AXES], *macro;
    int count = 0;
    Path found;
    for (int turn = 0; turn < 2; turn++)
        for (int a = turn ? 0 : s->data_count; a < (turn ? s->data_count : s->axis_count); a++)
            if (nest_find_loop(n, loop_name(cx, s, a), &found)) order[count++] = loop_name(cx, s, a);
    if (count > 1) n = sched_reorder(cx, n, order, count, false);
    n = sched_decompose_reduction(cx, n, acc, order[0]);
    if (t->alternates) n = alternate_sums(cx, n, acc, t);
    if (t->block > t->o) n = split_products(cx, n, order, count, t->o);
    if (t->form == LONG) n = split_words(cx, n, order[count - 1], t);
    else if (stores_sums(t->form) || t->form == NIBBLES) n = split_numbers(cx, n, order[count - 1], t);
    if (t->form == PAIRS || t->form == BYTES)
        n = sched_split(cx, n, t->block > t->o ? text_format(cx, "%si", order[count - 1]) : order[count - 1], 2,
                        TAIL_GUARD, NULL, NULL);
    if (t->form == WORDS)
        n = sched_split(cx, n, loop_name(cx, nest_stage(n, acc), t->row), 2, TAIL_GUARD, NULL, NULL);
    macro = ctx_failed(cx) ? NULL : macro_of(nest_stage(n, acc), t);
    if (macro && t->rows > 1) {
        n = sched_split(cx, n, order[0], axis_extent(s, s->data_count) / t->rows, TAIL_GUARD, NULL, NULL);
        return sched_tensorize(cx, n, text_format(cx, "%so", order[0]), macro);
    }
    return macro ? sched_tensorize(cx, n, order[0], macro) : n;
}

/* ---- Patches ----------------------------------------------------------------------------------------------------- */

static bool is_conditional(const Expr *e)
{
    bool found = e->kind == EXPR_SELECT;
    for (int i = 0; i < e->arg_count; i++) found = found || is_conditional(e->arg[i]);
    return found;
}

/* Returns the instruction that fills a run of a patch: a plain or widening copy, guarded if a dilated window leaves
 * x. */
static const char *fetch_of(const Node *anchor, const Stage *patch, bool is_padded)
{
    static const char *const macro[2][2] = { { "LW_COPY_I8", "LW_COPY_I16" }, { "LW_FETCH_I8", "LW_FETCH_I16" } };
    const bool is_window = op_attr_row(anchor->op, "kernel") != NULL,
               leaves = is_window && is_conditional(is_padded ? patch->value[0]->arg[SELECT_YES] : patch->value[0]);
    return macro[leaves][patch->out[0]->type == I16];
}

/* Returns the number of contiguous elements of a window: the elements of a pixel of x, or of a row of the padded
 * rows. */
static int64_t run_of(const Node *anchor, bool of_rows)
{
    int64_t kernel[2] = { 1, 1 }, channels = tensor_dim(anchor->in[0], anchor->in[0]->rank - 1);
    node_ints(anchor, "kernel", kernel, 2, 1);
    return of_rows ? node_int(anchor, "row", kernel[1] * channels) : channels;
}

/* Copies each contiguous run of the patch with one instruction; loops fill the padding at the end. */
static const Nest *fill_patch(Ctx *cx, const Nest *n, const GroupNest *g, const char *patch, bool of_rows)
{
    enum { SHORTEST = 4 };
    const Stage *s = nest_stage(n, patch);
    int64_t length = last_extent(s), run = run_of(g->group->anchor, of_rows);
    const char *e = loop_name(cx, s, s->data_count - 1);
    if (run < SHORTEST || ctx_failed(cx)) return n;
    if (run < length) {
        n = sched_split(cx, n, e, run, length % run ? TAIL_PEEL : TAIL_GUARD, "i", "e");
        e = text_format(cx, "%s.e", patch);
    }
    return tensorize_if_fits(cx, n, e, fetch_of(g->group->anchor, s, length % run != 0), NULL, 0);
}

/* Returns true if the source of patches is padded already: padded rows, or an image padded by an earlier call. */
static bool are_bordered(const Stage *from) { enum { ROW_AXES = 3 }; return from && from->data_count == ROW_AXES; }

/* Fills the patch of two pixels with alternating pairs, each run with one instruction; loops fill the padding at the
 * end. */
static const Nest *fill_pairs(Ctx *cx, const Nest *n, const GroupNest *g, const char *patch, const Tiles *t,
                              bool of_rows)
{
    const Stage *s = nest_stage(n, patch);
    int last = s->data_count - 1, count = 0;
    const char *order[MAX_AXES], *q = loop_name(cx, s, last - 1), *pixel = loop_name(cx, s, t->row);
    int64_t channels = tensor_dim(g->group->anchor->in[0], g->group->anchor->in[0]->rank - 1),
            length = axis_extent(s, last - 1);
    long long run = (long long)(of_rows ? (run_of(g->group->anchor, true) + 1) / 2 : channels / 2);
    for (int a = 0; a <= last; a++)
        if (a != t->row && a < last - 1) order[count++] = expr_as_var(s->axis[a].var)->name;
    order[count++] = expr_as_var(s->axis[last - 1].var)->name;
    order[count++] = expr_as_var(s->axis[t->row].var)->name;
    order[count++] = expr_as_var(s->axis[last].var)->name;
    n = sched_pack(cx, n, patch, order, count);
    if (length == 1 || ctx_failed(cx)) return n;
    n = sched_reorder(cx, n, (const char *const[]){ q, pixel }, 2, false);
    if (run < 2) return n;
    if (run < length) {
        n = sched_split(cx, n, q, run, length % run ? TAIL_PEEL : TAIL_GUARD, "i", "u");
        q = text_format(cx, "%s.u", patch);
    }
    return tensorize_if_fits(cx, n, q, "LW_PAIRS_I16", NULL, 0);
}

/* Stores the words of the tile's two pairs of pixels alternately, each run with one instruction. */
static const Nest *fill_words(Ctx *cx, const Nest *n, const GroupNest *g, const char *patch, const Tiles *t,
                              bool of_rows)
{
    const Stage *s = nest_stage(n, patch);
    const int last = s->data_count - 1;
    const char *order[MAX_AXES], *e = loop_name(cx, s, last);
    const long long length = (long long)axis_extent(s, last), run = (long long)run_of(g->group->anchor, of_rows);
    int count = 0;
    for (int a = 0; a <= last; a++)
        if (a != t->row) order[count++] = expr_as_var(s->axis[a].var)->name;
    order[count++] = expr_as_var(s->axis[t->row].var)->name;
    n = sched_pack(cx, n, patch, order, count);
    if (run < 2 || ctx_failed(cx)) return n;
    if (run < length) {
        n = sched_split(cx, n, e, run, length % run ? TAIL_PEEL : TAIL_GUARD, "i", "e");
        e = text_format(cx, "%s.e", patch);
    }
    const bool is_cut = axis_extent(t->out, t->row) % t->w != 0;
    return tensorize_if_fits(cx, n, e, is_cut ? "LW_WORDS_IF_I8" : "LW_WORDS_I8", NULL, 0);
}

/* Copies padded rows pixel by pixel. */
static const Nest *copy_rows(Ctx *cx, const Nest *n, const Node *anchor, const char *rows)
{
    const char *u = loop_name(cx, nest_stage(n, rows), 2);
    int64_t channels = tensor_dim(anchor->in[0], 3);
    if (channels == 1) return fetch_rows(cx, n, anchor, rows, u, NULL);
    n = sched_split(cx, n, u, channels, TAIL_ROUND, "w", "c");
    return fetch_rows(cx, n, anchor, rows, text_format(cx, "%s.w", rows), text_format(cx, "%s.c", rows));
}

/* Returns true for windows of one pixel and for dense layers, where x already stores a patch's elements as a row. */
static bool rows_are_contiguous(const Node *anchor)
{
    int64_t kernel[2];
    return !node_ints(anchor, "kernel", kernel, 2, 1) || kernel[0] * kernel[1] == 1;
}

/* Returns the number of rows of a window if the bytes are multiplied in the padded rows, or 0 if they are gathered in a
 * patch. Each row must have whole blocks of elements, at least two. The sums of SMLAL leave no registers for the rows'
 * addresses. */
static int64_t window_rows(const GroupNest *g, const Stage *patch, const Stage *of)
{
    const Tensor *k = g->group->anchor->in[1];
    const bool has_quads = target_has(g->target, "dotprod") || target_has(g->target, "vnni")
                           || target_has(g->target, "mve");
    const RowForm form = form_of(g);
    if (!has_quads || !are_bordered(of) || k->type != I8 || !has_panels(form)
        || patch->value[0]->kind != EXPR_READ)
        return 0;
    const int64_t depth = panel_depth(form, k), run = run_of(g->group->anchor, true);
    return depth > 2 && run % depth == 0 && run > depth ? last_extent(patch) / run : 0;
}

/* Returns the stage between the product and the output that scales it to bytes, if the target has vectors for that, or
 * NULL if there is none. */
static const char *product_bytes(Ctx *cx, const GroupNest *g)
{
    for (int i = 0; i < g->nest->stage_count; i++) {
        const Stage *s = g->nest->stage[i];
        const Tensor **reads;
        if (makes_output(g->nest, s) || !scales_at_once(cx, g, s, 1)) continue;
        for (int r = stage_reads(cx, s, &reads) - 1; r >= 0; r--)
            if (reads[r] == product_stage(g->nest)->out[0]) return s->name;
    }
    return NULL;
}

/* Keeps the stage of bytes if an instruction adds to it, otherwise inlines it. */
static const char *keep_bytes(Ctx *cx, const Nest **n, const GroupNest *g, const char *scaled)
{
    if (!scaled || ctx_failed(cx) || epilogue_at_once(cx, g, *n, scaled, 1)) return scaled;
    *n = sched_compute_inline(cx, *n, scaled);
    return NULL;
}

/* Unpacks a run of weights with one instruction: words or vectors of elements from each group of bytes. */
static const Nest *unpack_weights(Ctx *cx, const Nest *n, const char *weights)
{
    enum { BYTE_BITS = 8 };
    if (ctx_failed(cx)) return n;
    const Stage *s = nest_stage(n, weights);
    const int64_t bits = node_int(s->call, "bits", 0), per = BYTE_BITS / bits, by = tensor_dim(s->call->in[0], 2);
    const char *f = loop_name(cx, s, s->data_count - 1);
    if (last_extent(s) % (per * by)) return n;
    n = sched_split(cx, n, f, per * by, TAIL_GUARD, "g", "e");
    n = sched_split(cx, n, text_format(cx, "%s.e", weights), by, TAIL_GUARD, "p", "t");
    return tensorize_if_fits(cx, n, text_format(cx, "%s.g", weights),
                             bits == 2 ? "LW_UNPACK2_I8" : "LW_UNPACK4_I8", NULL, 0);
}

static const Nest *schedule(Ctx *cx, const GroupNest *g)
{
    const char *acc = product_stage(g->nest)->name, *patch = patch_stage(cx, g->nest, product_stage(g->nest))->name;
    const Stage *of = patch_stage(cx, g->nest, nest_stage(g->nest, patch));
    const char *rows = of ? of->name : NULL;
    const Stage *unpacked = unpacking_stage(g->nest);
    const char *weights = unpacked ? unpacked->name : NULL;
    const char *bytes = product_bytes(cx, g),
               *const kept[] = { patch, rows ? rows : patch, weights ? weights : patch, bytes, NULL };
    const Nest *n = isolate_product(cx, g->nest, &acc, kept);
    const char *scaled = keep_bytes(cx, &n, g, bytes);
    if (ctx_failed(cx)) return n;
    bool is_direct = nest_stage(n, patch)->value[0]->kind == EXPR_READ && rows_are_contiguous(g->group->anchor);
    const int64_t window = window_rows(g, nest_stage(n, patch), of);
    is_direct = is_direct || window > 0;
    if (is_direct) n = sched_compute_inline(cx, n, patch);
    if (ctx_failed(cx)) return n;
    Tiles t = tiles_of(cx, g, n, scaled);
    t.rows = window;
    if (t.form == WORDS && axis_extent(t.out, t.row) % t.w)
        n = sched_pad(cx, n, acc, expr_as_var(nest_stage(n, acc)->axis[t.row].var)->name, t.w);
    if (axis_extent(t.out, t.last) % t.o)
        n = sched_pad(cx, n, acc, expr_as_var(nest_stage(n, acc)->axis[t.last].var)->name, t.o);
    n = split_tiles(cx, n, &t);
    if (scaled)
        n = sched_set_scope(cx, t.at_channels ? sched_compute_at(cx, n, scaled, t.at_channels) : n, scaled,
                            SCOPE_STACK);
    if (t.at_channels) n = sched_compute_at(cx, n, acc, t.at_channels);
    if (t.at_pixels && !is_direct) n = sched_compute_at(cx, n, patch, t.at_pixels);
    if (t.at_rows && rows) n = sched_compute_at(cx, n, rows, t.at_rows);
    if (t.at_weights && weights) n = sched_compute_at(cx, n, weights, t.at_weights);
    if (weights) n = unpack_weights(cx, n, weights);
    n = sched_set_scope(cx, n, acc, SCOPE_REGISTER);
    if (!ctx_failed(cx) && are_bordered(of)) n = copy_rows(cx, n, g->group->anchor, rows);
    if (!ctx_failed(cx) && !is_direct)
        n = t.form == PAIRS || t.form == FOURS ? fill_pairs(cx, n, g, patch, &t, are_bordered(of))
            : t.form == WORDS ? fill_words(cx, n, g, patch, &t, are_bordered(of))
                             : fill_patch(cx, n, g, patch, are_bordered(of));
    if (!ctx_failed(cx)) n = make_dot(cx, n, acc, &t);
    /* stored results need no unrolling of the loops around them */
    if (!ctx_failed(cx) && t.alternates) return end_alternate(cx, n, g, acc, &t);
    if (!ctx_failed(cx) && (t.form == FOURS || t.form == FOUR_BYTES)) return end_fours(cx, n, acc, &t);
    return ctx_failed(cx) || stores_sums(t.form) ? n : unroll_tile(cx, n, g, acc, &t);
}

/* Returns false if a tile is one product of two numbers, whose sum has no loop for an instruction to replace. */
static bool tile_has_loops(Ctx *cx, const GroupNest *g, const Stage *product)
{
    for (int a = product->data_count; a < product->axis_count; a++)
        if (axis_extent(product, a) > 1) return true;
    const Tiles t = tiles_of(cx, g, g->nest, NULL);
    return t.w > 1 || t.o > 1;
}

/* Returns true if a tile of rows applies. If weights are padded to four or to a panel, loops compute fewer channels
 * than that. */
static bool applies_to_rows(Ctx *cx, const GroupNest *g)
{
    if (!product_makes_output(cx, g)) return false;
    const Stage *product = product_stage(g->nest);
    const RowForm form = form_of(g);
    if (form == NO_FORM || !tile_has_loops(cx, g, product)) return false;
    const int64_t least = form == PAIRS || form == BYTES || stores_sums(form) ? channels_of(form)
                        : has_panels(form) ? panel_channels(form, g->group->anchor->in[1]) : 1;
    return last_extent(product) >= least;
}

/* For a core with 13 registers and a scalar multiply-accumulate: returns true if a patch gains, because it moves
 * padding out of the loops. A patch gains nothing if rows are already contiguous in x, each number of the patch holds
 * one pixel, and each weight holds one row. */
static bool applies_to_patches(Ctx *cx, const GroupNest *g)
{
    const bool gains = !rows_are_contiguous(g->group->anchor) || node_int(g->group->anchor, "pairs", 0)
                       || shares_words(form_of(g));
    return gains && applies_to_rows(cx, g);
}

/* Returns true for a core without multiply-accumulate, which gains by four rows of weights at a time, because their
 * elements share an index. */
static bool applies_to_row(Ctx *cx, const GroupNest *g)
{
    return !target_has(g->target, "mla") && applies_to_rows(cx, g);
}

static bool has_form(Ctx *cx, const GroupNest *g, RowForm form)
{
    const Stage *product = product_stage(g->nest);
    return product && form_of(g) == form && applies_to_rows(cx, g);
}

static bool has_shared_words(Ctx *cx, const GroupNest *g)
{
    const Stage *product = product_stage(g->nest);
    return product && shares_words(form_of(g)) && applies_to_rows(cx, g);
}

/* For a core with 64-bit sums, which a single row uses unless its weights have few bits. */
static bool applies_to_long(Ctx *cx, const GroupNest *g) { return has_form(cx, g, LONG) || has_shared_words(cx, g); }

/* For a scalar core with panels, which keeps the tile in registers even if rows are contiguous. */
static bool applies_to_panels(Ctx *cx, const GroupNest *g) { return has_form(cx, g, PANELS); }

#define DOT(needed, its_ops, when)                                                                                     \
    {                                                                                                                  \
        .name = "rows.dot", .features = needed, .plevel = 12, .ops = its_ops,                                          \
        .what = "two pixels by two or four channels over whole rows, windows gathered in a patch", .applies = when,    \
        .schedule = schedule                                                                                           \
    }

const Implementation implementations_arm_rows[] = {
    DOT("rows", "packed_conv2d", applies_to_rows),
    DOT("rows words", "packed_dense", applies_to_row),
    DOT("rows mla", "packed_conv2d", applies_to_patches),
    DOT("rows long", "packed_dense", applies_to_long),
    DOT("rows mla dsp", "packed_conv2d packed_dense", applies_to_rows),
    DOT("rows bytes", "packed_conv2d packed_dense", applies_to_rows),
    DOT("rows panels", "packed_conv2d packed_dense", applies_to_panels),
    { 0 }
};
