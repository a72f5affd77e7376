/* SPDX-License-Identifier: MIT */
/* Brings 8-bit convolutions and dense layers to the form that the instructions require (ops/integer/packed.c): weights
 * are packed in reading order, and zero points and biases are folded into the initial values of the sums. 16-bit
 * elements are packed in the same way where the target multiplies pairs of them. */

/* Decision: panels of bytes follow the instruction. Where a core adds several products of bytes to a lane, weights
 * are stored as [O/B][Q][B][D]: D adjacent elements of each of B channels. D is 16 or 8 for pairs of products
 * (SMLAL, SADALP), 4 for SDOT, 8 for SMMLA (`schedules/arm/packed.c`). Pixels stay bytes. Two products fit 16 bits
 * unless a weight is -128, so such weights keep their rows. RISC-V with vectors uses the layout of SMLAL: VWMUL and
 * VWMACC add two products in 16 bits, and VWREDSUM adds the lanes (`runtime/simd/rvv_rows.h`). VSMUL and VNCLIP round
 * like the reference. With SDOT and SMMLA the rows of a window are read in place if each holds whole blocks of D
 * elements; otherwise they are gathered in a patch.
 *
 * On Helium a panel is 16 elements of all channels of a tile. Three vectors of two pixels stay in registers for all
 * channels, so pixels are loaded once, and each load of weights is used for two products. The sums of the two pixels
 * alternate in memory (`pack`): one LDM and one STM move the sums of three channels, and VLD4 separates them for the
 * requantization. 18 products of vectors cost 30 instructions. A tile of two pixels by three channels loads both
 * operands for each product, and costs at least 36. Windows of whole vectors are read in the padded rows. Rows that do
 * not fill their vectors stay rows, as LETP counts their lanes. */
#include "schedules/arm/arm.h"

#include <string.h>

#include "graph/dag/graph.h"
#include "graph/dag/op_formula.h"
#include "support/text.h"

bool multiplies_pairs(const Target *t) { return target_has(t, "dsp") && !target_has(t, "bytes"); }

/* One i16 holds even + 256 * odd of two rows, unless both bytes are near the minimum. The sum of products with the odd
 * byte is recovered from the upper 24 bits for all byte values. */
static bool rows_fit_in_pairs(const Tensor *k, int64_t length, int64_t outs)
{
    const int8_t *from = k->data;
    for (int64_t o = 1; o < outs; o += 2) {
        int64_t most = 0;
        for (int64_t e = 0; e < length; e++) {
            const int64_t even = from[e * outs + o - 1], odd = from[e * outs + o];
            if (even + 256 * odd < INT16_MIN) return false;
            most += 128 * (odd < 0 ? -odd : odd);
        }
        if (most >= 1 << 23) return false;
    }
    return true;
}

/* Returns 4 or 2 if this number of bits, in two's complement, holds all weights, and 0 for other weights. */
static int signed_bits(const Tensor *k)
{
    const int8_t *from = k->data;
    int64_t least;
    const int bits = narrow_bits(k, &least), most = bits ? 1 << (bits - 1) : 0;
    for (int64_t i = 0; bits && i < tensor_elems(k); i++)
        if (from[i] < -most || from[i] >= most) return 0;
    return bits;
}

/* One u16 holds four rows of 4 bits. The products with row h are recovered from the upper 32 - 4h bits of sums. */
static bool rows_fit_in_fours(const Tensor *k, int64_t length, int64_t outs)
{
    enum { ROWS = 4, ROW_BITS = 4, BYTE = 128 };
    const int8_t *from = k->data;
    if (signed_bits(k) != ROW_BITS) return false;
    for (int64_t o = 0; o < outs; o++) {
        int64_t most = 0;
        for (int64_t e = 0; e < length; e++) {
            const int64_t w = from[e * outs + o];
            most += BYTE * (w < 0 ? -w : w);
        }
        if (most >= (int64_t)1 << (31 - o % ROWS * ROW_BITS)) return false;
    }
    return true;
}

/* Returns true if one number holds two rows of weights or, of 4 bits, four. */
static bool rows_share_numbers(const Tensor *k, int64_t length, int64_t outs)
{
    int64_t least;
    return narrow_bits(k, &least) ? rows_fit_in_fours(k, length, outs) : rows_fit_in_pairs(k, length, outs);
}

/* A panel: `block` channels, each with `depth` adjacent elements. block is 0 if a different form is better. offset:
 * added to the elements of x, for instructions that read them as unsigned. shares_bytes: true if two channels of 4 bits
 * share a byte. */
typedef struct Panel { int64_t block, depth, offset; bool shares_bytes; } Panel;

static Panel plain_panel(int64_t block, int64_t depth) { return (Panel){ .block = block, .depth = depth }; }
static Panel no_panel(void) { return plain_panel(0, 0); }

/* The rows of a window in panels: `run` elements each, with zeros up to `padded`. padded is 0 if the window is one
 * row. */
typedef struct PanelRow { int64_t run, padded; } PanelRow;

/* The numbers of a product's weights. length: products of a sum; outs: channels; rows: channels with padding; groups:
 * groups of the rows; padded: length with padding; run, row: elements of a window's row without and with padding. */
typedef struct WeightNumbers { int64_t length, outs, rows, groups, padded, run, row; Panel panel; } WeightNumbers;


/* Returns the distance of elements that share a byte: a vector or a word, or less if that does not divide the run. */
static int64_t distance_in_bytes(const Target *t, int64_t run, int bits)
{
    enum { BYTE_BITS = 8, VECTOR = 16, WORD = 4 };
    int64_t by = target_has(t, "bytes") ? VECTOR : WORD;
    while (by > 1 && run % (by * (BYTE_BITS / bits))) by /= 2;
    return by;
}

/* Stores packed weights of few bits in runs, one for each index of their first dimension. */
static Tensor *in_few_bits(Ctx *cx, const Target *t, Tensor *packed)
{
    int64_t least;
    const int bits = packed ? narrow_bits(packed, &least) : 0;
    const int64_t runs = bits ? tensor_dim(packed, 0) : 1;
    return bits ? stored_in_bits(cx, packed, runs, distance_in_bytes(t, tensor_elems(packed) / runs, bits)) : packed;
}

/* Packs weights [e][o] in the operator's layout. */
static Tensor *pack_weights(Ctx *cx, const Target *t, const char *op, const char *layout, const Tensor *k,
                            const WeightNumbers *n)
{
    enum { LEAST_BLOCKS = 2 };         /* smallest number of blocks of bytes */
    const int64_t shape[] = { n->length, n->outs }, depth = n->panel.depth ? n->panel.depth : 1,
                  elements = n->length / n->run * n->row, blocks = (elements + depth - 1) / depth;
    const Phrase number[] = {
        { "length", op_number(cx, n->length) }, { "outs", op_number(cx, n->outs) },
        { "rows", op_number(cx, n->rows) }, { "groups", op_number(cx, n->groups) },
        { "padded", op_number(cx, n->padded) }, { "run", op_number(cx, n->run) }, { "row", op_number(cx, n->row) },
        { "pairs", op_number(cx, (n->row + 1) / 2) }, { "fours", op_number(cx, (n->length + 3) / 4) },
        { "blocks", op_number(cx, depth > 2 && blocks < LEAST_BLOCKS ? LEAST_BLOCKS : blocks) },
        { "panel", op_number(cx, n->panel.block) }, { "depth", op_number(cx, depth) }, { NULL, NULL } };
    Tensor *packed = weights_packed(cx, weights_layout_named(cx, op, layout),
                                    tensor_constant(cx, k->name, I8, 2, shape, k->data), number);
    return in_few_bits(cx, t, packed);
}

/* Returns true for several rows of x, or windows, each of which is widened once for all rows of weights. A single row
 * of x, or of weights, needs no widened copy, because bytes are read directly. */
static bool has_several_rows(const Node *n)
{
    const Tensor *y = n->out[0];
    return tensor_elems(y) > tensor_dim(y, y->rank - 1);
}

/* Returns true if no weight is -128, so that the sum of two products fits 16 bits. */
static bool has_narrow_weights(const Tensor *k)
{
    const int8_t *v = k->data;
    for (int64_t i = 0; i < tensor_elems(k); i++)
        if (v[i] == INT8_MIN) return false;
    return true;
}

/* Returns the panel of bytes for the target's instructions: squares of rows of eight (two rows of x at once), fours in
 * a lane, or pairs of products. Pairs of products use sixteen elements at once, or eight if that adds less padding. */
static Panel panel_of_bytes(const Target *t, const Node *n, int64_t length, int64_t outs)
{
    enum { MOST = 16 };
    if (target_has(t, "i8mm") && has_several_rows(n)) return plain_panel(8, 8);
    if (target_has(t, "dotprod")) return plain_panel(outs % MOST == 0 ? MOST : 8, 4);
    return plain_panel(4, length > 16 && (length % 16 == 0 || length % 16 > 8) ? 16 : 8);
}

/* Returns the panel of one or two registers with 16 lanes, or of half a register. Each lane has four bytes; the bytes
 * of x are unsigned. */
static Panel panel_of_quads(int64_t outs)
{
    enum { LANES = 16, OFFSET = 128 };
    const int64_t block = outs % (2 * LANES) == 0 ? 2 * LANES : outs < LANES ? LANES / 2 : LANES;
    return (Panel){ .block = block, .depth = 4, .offset = OFFSET };
}

int64_t unpacked_channels(int64_t length)
{
    enum { MOST = 1024, LEAST = 4 };
    return length * LEAST < MOST ? MOST / length : LEAST;
}

/* Returns the panel for Helium: vectors of 16 elements of all channels of a tile, whose sums use at most 512 bytes for
 * two pixels. Rows of a single vector, and rows that do not fill their vectors, remain rows, because a patch padded
 * with zeros would cost more. */
static Panel panel_of_vectors(const Node *n, int64_t length, int64_t outs)
{
    enum { VECTOR = 16, MOST = 64, LEAST = 64 };
    int64_t least, block = outs < MOST ? outs : MOST;
    if (narrow_bits(n->in[1], &least) && block > unpacked_channels(length)) block = unpacked_channels(length);
    while (outs % block) block--;
    const bool gains = length > VECTOR && length % VECTOR == 0 && block * length / VECTOR >= LEAST;
    return gains && has_several_rows(n) ? plain_panel(block, VECTOR) : no_panel();
}

/* Returns the panel for Helium of bytes that two channels of 4 bits share: the most channels, an even number, whose
 * sums of two pixels use at most 512 bytes. */
static Panel panel_of_nibbles(const Node *n, int64_t length, int64_t outs)
{
    enum { VECTOR = 16, MOST = 64, BITS = 4 };
    int64_t block = outs < MOST ? outs : MOST;
    if (length % VECTOR || length < 2 * VECTOR || outs % 2 || signed_bits(n->in[1]) != BITS) return no_panel();
    while (outs % block || block % 2) block--;
    return (Panel){ .block = block, .depth = VECTOR, .shares_bytes = true };
}

/* Returns the panel for the target's instructions. Each lane multiplies pairs of one channel. A core without lanes
 * computes five rows by four channels in its registers; for a single row such a tile saves nothing. */
static Panel panel_of(const Target *t, const Node *n, int64_t length, int64_t outs)
{
    enum { SCALAR = 4, ADJACENT = 4, LEAST = 8, MOST = 16 };
    if (target_has(t, "mve")) {
        const Panel nibbles = panel_of_nibbles(n, length, outs);
        return nibbles.block ? nibbles : panel_of_vectors(n, length, outs);
    }
    if (!target_has(t, "panels")) return no_panel();
    if (is_scalar_with_panels(t))
        return outs < SCALAR || !has_several_rows(n) ? no_panel() : plain_panel(SCALAR, ADJACENT);
    if (target_has(t, "neon") || target_has(t, "rvv")) {
        const Panel p = panel_of_bytes(t, n, length, outs);
        return outs < p.block || !has_narrow_weights(n->in[1]) ? no_panel() : p;
    }
    if (outs < LEAST) return no_panel();
    if (target_has(t, "vnni")) return panel_of_quads(outs);
    return plain_panel(outs % MOST == 0 ? MOST : LEAST, 2);
}

/* Returns the initial values b[o] = -zero * (sum of o's weights). */
static Tensor *first_values(Ctx *cx, const Tensor *k, int64_t length, int64_t outs, int64_t rows, int64_t zero)
{
    uint32_t *b = NEW_ARRAY(cx->arena, uint32_t, rows);
    const int8_t *from = k->data;
    for (int64_t i = 0; i < length * outs; i++) b[i % outs] -= (uint32_t)zero * (uint32_t)from[i];
    return tensor_constant(cx, "b", I32, 1, &rows, b);
}

/* The window of a convolution, and its attributes. */
typedef struct PackedWindow { int64_t kernel[2], stride[2], dilation[2], pad[4]; } PackedWindow;
#define WINDOW(w) attr_ints("kernel", (w).kernel, 2), attr_ints("stride", (w).stride, 2), \
                  attr_ints("dilation", (w).dilation, 2), attr_ints("pad", (w).pad, 4)

static PackedWindow window_of(const Node *n)
{
    PackedWindow w = { .kernel = { tensor_dim(n->in[1], 0), tensor_dim(n->in[1], 1) } };
    node_ints(n, "stride", w.stride, 2, 1);
    node_ints(n, "dilation", w.dilation, 2, 1);
    node_ints(n, "pad", w.pad, 4, 0);
    return w;
}

/* Returns true for a convolution, whose weights are k[i,j,c,o]; a dense layer has w[k,o]. */
static bool has_window(const Node *n) { return n->in[1]->rank == 4; }

/* Returns the dimension of x along which a number holds two pixels, so that one 32-bit product serves both, or 0 if
 * there is none. Chooses the dimension that tiles of four divide with the smallest padding, the later one on a tie. Two
 * products of bytes fit 16 bits if no weight is -128. */
static int64_t pairs_of(const Target *t, const Node *n, int64_t length, bool joins)
{
    enum { TILE = 4, LEAST = 8, MOST_PADDING = 4 /* a fourth */ };
    if (!target_has(t, "words") || !has_window(n) || length < LEAST || !has_narrow_weights(n->in[1])) return 0;
    const Tensor *y = n->out[0];
    if (joins) return 2;
    int64_t best = 0, least = 0;
    for (int d = 2; d > 0; d--) {
        const int64_t extent = tensor_dim(y, d), tiles = (extent + TILE - 1) / TILE * TILE,
                      padding = (tiles - extent) * tensor_elems(y) / extent;
        if (padding * MOST_PADDING > tensor_elems(y) || (best && padding >= least)) continue;
        best = d;
        least = padding;
    }
    return best;
}

/* Returns the number of elements of a window's row if the product may use pairs, otherwise 0. Rows of dilated windows
 * have no pairs. Rows with an odd number of channels have none either if no window leaves x. Fewer than four rows of
 * weights are not padded. */
static int64_t row_of_pairs(const Target *t, const Node *n, int64_t length, int64_t outs)
{
    int64_t stride[2], dilation[2], pad[4], channels = tensor_dim(n->in[0], n->in[0]->rank - 1);
    bool is_pixel = true, leaves = false;
    if (!multiplies_pairs(t) || !has_several_rows(n) || outs < 4 || !rows_share_numbers(n->in[1], length, outs))
        return 0;
    if (!has_window(n)) return length;
    node_ints(n, "stride", stride, 2, 1);
    node_ints(n, "dilation", dilation, 2, 1);
    node_ints(n, "pad", pad, 4, 0);
    for (int d = 0; d < 2; d++) {
        int64_t kernel = tensor_dim(n->in[1], d),
                last = (tensor_dim(n->out[0], 1 + d) - 1) * stride[d] + (kernel - 1) * dilation[d] - pad[d];
        is_pixel = is_pixel && kernel == 1;
        leaves = leaves || pad[d] > 0 || last >= tensor_dim(n->in[0], 1 + d);
    }
    bool is_even = leaves || channels % 2 == 0;
    return is_pixel ? leaves ? 0 : channels : dilation[1] == 1 && is_even ? tensor_dim(n->in[1], 1) * channels : 0;
}

/* Returns true for a dense layer of a single row that fills four rows of weights and a word of elements. */
static bool is_single_row(const Node *n, int64_t length, int64_t outs)
{
    return !has_window(n) && !has_several_rows(n) && outs >= 4 && length >= 4;
}

/* Returns true if the product of a single row of bytes may use pairs: four rows of weights, in two numbers each. */
static bool has_row_of_bytes(const Target *t, const Node *n, int64_t length, int64_t outs)
{
    return multiplies_pairs(t) && is_single_row(n, length, outs) && rows_share_numbers(n->in[1], length, outs);
}

/* Returns true if the product of a single row of bytes may use 64-bit sums: four rows of weights, in a word for each
 * element. */
static bool has_long_sums(const Target *t, const Node *n, int64_t length, int64_t outs)
{
    return target_has(t, "long") && !multiplies_pairs(t) && is_single_row(n, length, outs);
}

/* Returns the number of rows that share a word, 8 rows of 4 bits or 16 of 2 bits, or 0 if rows share no words. Without
 * an instruction for pairs, one product computes two rows. Rows of 2 bits are faster this way on all cores without
 * vectors. The weights must fit this number of bits in two's complement. */
static int64_t shared_rows(const Target *t, const Tensor *k, int64_t outs)
{
    enum { WORD = 32 };
    const int bits = signed_bits(k);
    const bool gains = target_has(t, "words") || (bits == 2 && multiplies_pairs(t));
    return bits && outs >= WORD / bits && gains ? WORD / bits : 0;
}

/* Returns true for several rows of 16-bit elements, which already are pairs. Sums wrap in 32 bits, and the result fits
 * 32 bits. A number with two rows of weights would overflow. */
static bool multiplies_sixteen(const Target *t, const Node *n, int64_t outs)
{
    return n->in[1]->type == I8 && n->out[0]->type == I32 && multiplies_pairs(t) && outs > 1 && has_several_rows(n);
}

/* Returns the rows of a window whose bytes are multiplied in the padded rows, without a patch. For a few channels a
 * patch costs more than products with zeros, which add at most a half. */
static PanelRow row_of_panels(const Target *t, const Node *n, const PackedWindow *w, Panel p)
{
    const int64_t run = w->kernel[1] * tensor_dim(n->in[0], 3), padded = (run + p.depth - 1) / p.depth * p.depth;
    const bool is_whole = run % p.depth == 0 || w->kernel[0] == 1 || w->dilation[1] > 1;
    if (!target_has(t, "vnni") || !p.offset || is_whole || run <= p.depth || 2 * padded > 3 * run)
        return (PanelRow){ 0, 0 };
    return (PanelRow){ run, padded };
}

static Tensor *alter_product(Ctx *cx, const Implementation *with, const Target *t, const Node *n,
                             const Uses *uses)
{
    (void)with;
    (void)uses;
    Tensor *x = n->in[0], *k = n->in[1];
    if ((x->type != I8 && x->type != I16) || !tensor_is_constant(k) || !tensor_is_fixed(x)
        || node_int(n, "groups", 1) != 1 || node_int(n, "zero_w", 0))
        return NULL;
    int64_t zero = node_int(n, "zero", 0), outs = tensor_dim(k, k->rank - 1), length = tensor_elems(k) / outs;
    if (x->type == I16 && !multiplies_sixteen(t, n, outs)) return NULL;
    /* channels are computed in fours or twos, except for a single one */
    int64_t least;
    const bool is_narrow = narrow_bits(k, &least) > 0;
    int64_t row = x->type == I8 ? row_of_pairs(t, n, length, outs) : 0;
    const bool is_bytes = x->type == I8 && has_row_of_bytes(t, n, length, outs);
    const bool is_long = x->type == I8 && !is_narrow && has_long_sums(t, n, length, outs);
    const int64_t shared = x->type == I8 ? shared_rows(t, k, outs) : 0;
    bool is_wide = multiplies_pairs(t) && outs > 1 && has_several_rows(n);
    const Panel panel = panel_of(t, n, length, outs);
    const bool joins = joins_pixels(t, n) && (panel.block || target_has(t, "words"));
    const int64_t pairs = panel.block || shared ? 0 : pairs_of(t, n, length, joins);
    const PackedWindow w = has_window(n) ? window_of(n) : (PackedWindow){ .kernel = { 1, 1 } };
    const PanelRow padded = panel.block && has_window(n) ? row_of_panels(t, n, &w, panel) : (PanelRow){ 0, 0 };
    const char *layout = panel.block ? panel.shares_bytes ? "nibbles" : "panels"
                       : shared      ? shared == 8 ? "eights" : "sixteens"
                       : row         ? is_narrow ? "fours" : "pairs"
                       : is_bytes    ? is_narrow ? "four_bytes" : "bytes"
                       : is_long     ? "long"
                       : is_wide     ? "wide"
                                     : "rows";
    const int64_t group = panel.block ? panel.block : shared ? shared : row || is_bytes || is_long ? 4 : 2,
                  rows = outs == 1 && group == 2 ? 1 : (outs + group - 1) / group * group;
    const WeightNumbers numbers = { .length = length, .outs = outs, .rows = rows, .groups = rows / group,
                                    .padded = row     ? length / row * ((row + 1) / 2)
                                              : pairs ? length + length % 2
                                                      : length,
                                    .run = padded.padded ? padded.run : length,
                                    .row = row ? row : padded.padded ? padded.padded : length, .panel = panel };
    Tensor *packed = pack_weights(cx, t, has_window(n) ? "packed_conv2d" : "packed_dense", layout, k, &numbers);
    if (!packed) return NULL;
    Tensor *in[] = { x, packed, first_values(cx, k, length, outs, rows, zero + panel.offset) };
    const Attr outputs = attr_int("outs", outs), offset = attr_if(panel.offset, attr_int("offset", panel.offset));
    if (!has_window(n)) return call(cx, "packed_dense", n->name, in, 3, ATTRS(outputs, offset));
    if (joins) in[0] = join_pixels(cx, x);
    const Attr of_pairs = attr_if(pairs, attr_int("pairs", pairs)),
               of_rows = attr_if(padded.padded, attr_int("row", padded.padded));
    Tensor *y = call(cx, "packed_conv2d", n->name, in, 3,
                     ATTRS(WINDOW(w), attr_int("fill", zero), outputs, offset, of_pairs, of_rows));
    return joins && y ? view_call(cx, n->name, y, n->out[0]) : y;
}

/* Folds a bias after the product into its initial values. */
static Tensor *alter_bias(Ctx *cx, const Implementation *with, const Target *t, const Node *n,
                          const Uses *uses)
{
    (void)with;
    Tensor *row = joins_rows(t) ? before_view(n->in[0], uses) : NULL;
    Node *product = row ? row->producer : n->in[0]->producer;
    const Tensor *bias = n->in[1];
    const int initial = product && product->kind == NODE_CALL ? product->op->fold.initial : 0;
    if (!initial || uses_of(uses, n->in[0]) != 1) return NULL;
    if (!tensor_is_constant(bias) || bias->rank > n->in[0]->rank) return NULL;
    const Tensor *b = product->in[initial];
    Tensor **in = arena_copy(cx->arena, product->in, (size_t)product->in_count * sizeof *in);
    int64_t outs = tensor_dim(n->in[0], n->in[0]->rank - 1), capacity = tensor_elems(b);
    if (!bias->rank || tensor_elems(bias) != outs || tensor_dim(bias, bias->rank - 1) != outs) return NULL;
    uint32_t *sum = NEW_ARRAY(cx->arena, uint32_t, capacity);
    for (int64_t o = 0; o < outs; o++)
        sum[o] = (uint32_t)((const int32_t *)b->data)[o] + (uint32_t)((const int32_t *)bias->data)[o];
    in[initial] = tensor_constant(cx, bias->name, I32, 1, &capacity, sum);
    Node *now = op_call(cx, product->op, product->name, in, product->in_count, product->attr, product->attr_count);
    return !now ? NULL : row ? view_call(cx, n->name, now->out[0], n->out[0]) : now->out[0];
}

/* ---- Depthwise --------------------------------------------------------------------------------------------------- */

int64_t channel_tile(const Target *t, int64_t channels)
{
    if (!target_has(t, "bytes")) return 4;
    const bool has_sixteen = target_has(t, "rvv") || target_has(t, "neon") || target_has(t, "avx2");
    return has_sixteen && channels % 16 == 0 ? 16 : 8;
}

/* Returns true for windows of 3x3 with stride 1 and dilation 1, over whole tiles of channels, if the target multiplies
 * pairs; columns.c computes them. In narrow images, gathering columns costs more than it saves. */
static bool has_columns(const Target *t, const Node *n, const PackedWindow *w, int64_t outs)
{
    enum { KERNEL = 3, CHANNELS = 4, NARROW = 4 };
    bool all = multiplies_pairs(t) && outs % CHANNELS == 0 && tensor_dim(n->out[0], 1) >= 2
               && tensor_dim(n->out[0], 2) >= NARROW;
    for (int d = 0; d < 2; d++) all = all && w->kernel[d] == KERNEL && w->stride[d] == 1 && w->dilation[d] == 1;
    return all;
}

/* Packs a depthwise convolution with one output channel per channel of x. */
static Tensor *alter_depthwise(Ctx *cx, const Implementation *with, const Target *t, const Node *n,
                               const Uses *uses)
{
    (void)with;
    (void)uses;
    Tensor *x = n->in[0], *k = n->in[1];
    if (x->type != I8 || !tensor_is_constant(k) || !tensor_is_fixed(x) || node_int(n, "zero_w", 0)) return NULL;
    int64_t zero = node_int(n, "zero", 0), outs = tensor_dim(k, 2), block = channel_tile(t, outs),
            blocks = (outs + block - 1) / block;
    if (tensor_dim(x, 3) != outs || tensor_elems(k) / outs < 2) return NULL;
    if (target_has(t, "rvv") && !has_narrow_weights(k)) return NULL;
    const PackedWindow w = window_of(n);
    const bool of_columns = has_columns(t, n, &w, outs);
    const int64_t shape[] = { w.kernel[0], w.kernel[1], outs };
    const Phrase number[] = { { "kh", op_number(cx, w.kernel[0]) }, { "kw", op_number(cx, w.kernel[1]) },
                              { "outs", op_number(cx, outs) }, { "groups", op_number(cx, blocks) },
                              { "block", op_number(cx, block) }, { NULL, NULL } };
    const WeightLayout *layout = weights_layout_named(cx, "packed_depthwise2d", of_columns ? "columns" : "tiles");
    Tensor *columns = weights_packed(cx, layout, tensor_constant(cx, k->name, I8, 3, shape, k->data), number);
    if (!columns) return NULL;
    Tensor *in[] = { x, columns, first_values(cx, k, tensor_elems(k) / outs, outs, of_columns ? outs : blocks * block,
                                              zero) };
    return call(cx, "packed_depthwise2d", n->name, in, 3, ATTRS(WINDOW(w), attr_int("fill", zero)));
}

/* ---- Padded rows ------------------------------------------------------------------------------------------------- */

const Nest *fetch_rows(Ctx *cx, const Nest *n, const Node *anchor, const char *rows, const char *pixels,
                       const char *channels)
{
    const Tensor *x = anchor->in[0];
    const Stage *s = nest_stage(n, rows);
    int64_t pad[4] = { 0 }, height = axis_extent(s, 1), fill = node_int(anchor, "fill", 0);
    Path at;
    node_ints(anchor, "pad", pad, 4, 0);
    /* each row is a row of x, so plain loops suffice */
    if (ctx_failed(cx) || (pad[0] == 0 && height <= tensor_dim(x, 1)) || !nest_find_loop(n, pixels, &at)) return n;
    const int64_t m = at.at[at.depth - 1]->extent->integer, inner = tensor_dim(x, 2), own = tensor_dim(x, 3),
                  c = channels && nest_find_loop(n, channels, &at) ? at.at[at.depth - 1]->extent->integer : 1;
    return tensorize_if_fits(cx, n, pixels, "LW_FETCH_ROW_I8", (const int64_t[]){ m, pad[1], inner, c, own, fill }, 6);
}

const Implementation implementations_arm_packed[] = {
    { .name = "packed.rows", .features = "rows", .ops = "conv2d dense",
      .what = "8-bit products over weights packed in reading order", .alter = alter_product },
    { .name = "packed.channels", .features = "rows", .ops = "depthwise_conv2d",
      .what = "8-bit depthwise convolutions over whole tiles of channels",
      .alter = alter_depthwise },
    { .name = "packed.bias", .features = "rows", .ops = "add",
      .what = "folds a bias into the initial sum", .alter = alter_bias },
    { 0 }
};
