/* SPDX-License-Identifier: MIT */
/* Defines 8-bit convolutions and dense layers as products of rows, with operands in the order in which multiply-add
 * instructions read them. The patch of an output element is a row of K = kh * kw * C elements; for a dense layer, the
 * input's row:
 *
 *   patch[n,h,w,e] = x[n, h*sh + i*dh - ph, w*sw + j*dw - pw, c], or `fill` outside x      e = (i*kw + j)*C + c
 *   y[n,h,w,o]     = b[o] + sum(e) patch[n,h,w,e] * k[o,e]
 *
 *   weights                   patch             instruction
 *   i8 [O][K]                 i8 [K]            products of i8; rows in natural order
 *   i8 [O/2][Q][2][2][2]      i16 [4*Q]         products of i16 pairs, also of an x of i16; K is zero-padded to 4*Q
 *   i16 [O/4][Q][2][2]        i16 [Q][2]        products of i16 pairs; each weight holds two rows
 *   i16 [O/4][Q][2][2][2]     i8 [4*Q]          the same for bytes: the even ones of four are a pair
 *   i8 [O/B][Q][B][2]         i16 [2*Q]         products of i16 pairs in B lanes, a channel each
 *   i8 [O/B][Q][B][D]         i8 [D*Q]          products of D bytes of B channels; D is 4, 8 or 16, Q at least 2
 *   u8 [O/4][K][2][2]         i8 [K]            64-bit sums; a word holds weights of four channels
 *   u16 [O/4][Q][2]           i16 [Q][2]        products of i16 pairs; each weight holds four rows of 4 bits
 *   u16 [O/4][Q][2][2]        i8 [4*Q]          the same for bytes
 *   u32 [O/8][K]              i8 [K]            32-bit products; each weight holds eight rows of 4 bits
 *   i8 [O/B][Q][B*8]          i8 [16*Q]         products of 16 bytes of B channels, two of 4 bits in a byte
 *   i32 [O/16][K]             i8 [K]            the same for sixteen rows of 2 bits
 *   i8 [O][K]                 i32 [K]           with `pairs`: one 32-bit product for two pixels
 *
 * With `pairs` = 1 or 2 a number of the patch holds two pixels that are adjacent along that dimension, here along w:
 *
 *   patch[n,h,v,e] = p[n,h,2*v,e] + 65536 * p[n,h,2*v+1,e]                    p: as above; 0 after the last pixel
 *   p[n,h,w,e]     = i8(patch[n,h,w/2,e] + w%2*32768 >> w%2*16)
 *
 * The pixels are padded to a multiple of four, and rows may be padded to an even number of elements.
 *
 * With `row` each window row has that many elements in the weights, which are whole blocks of a panel. The elements
 * after kw * C are zero, and the patch's row is read past its end. A patch is then a part of the padded rows.
 *
 * In panels an `offset` is added to each element of the patch, because instructions with one unsigned factor read x as
 * x + 128. The products with the offset are subtracted in b, like the products with the zero point.
 *
 * Rank 5 weights interleave two rows in fours. Memory holds the four weights 0 1 2 3 as 0 2 1 3: the even and the odd
 * bytes of a word are the pairs. The zero points are in `fill` and b. If windows leave x, patches are read from padded
 * rows.
 *
 * Weights of i16 pack two rows in each number, v = even + 256 * odd: even = i8(v), odd = v + 128 >> 8. The rows of a
 * window begin at even offsets of the patch.
 *
 * Weights of u8 have 128 added for even channels; the weights of odd channels keep their bits: w = i8(v - o%2*128 +
 * 128). The even bytes of a word take the lower part of a factor, without sign, the odd ones its upper part.
 *
 * A depthwise convolution reads a padded image whose channel count is rounded up to tiles of B channels; no output
 * depends on the channels beyond those of x. In the weights [K/B][kh][kw][B] the channels of a tile are adjacent.
 *
 *   padded[n,h,w,c < K] = x[n, h - ph, w - pw, c], or `fill` outside x
 *   y[n,h,w,o]          = b[o] + sum(i,j) padded[n, h*sh + i*dh, w*sw + j*dw, o] * k[o/B,i,j,o%B]
 *
 * In the weights [K][kw][kh] each channel's columns are adjacent. The image is widened to i16, so that two rows of a
 * column can be a pair:
 *
 *   columns[n,h,w,c]    = i16(padded[n,h,w,c])
 *   y[n,h,w,o]          = b[o] + sum(i,j) columns[n, h*sh + i*dh, w*sw + j*dw, o] * k[o,j,i] */
#include "graph/dag/op_build.h"
#include "support/text.h"

enum { NIBBLE_BYTES = 16 };            /* bytes of two channels of 4 bits, for 16 elements */

/* four rows of 4 bits: w + 8 in ascending order, as a number less 32768 */
#define FOUR_ROWS(row0, row1, row2, row3) \
    "u16(i32(" row0 ") + 16*i32(" row1 ") + 256*i32(" row2 ") + 4096*i32(" row3 ") + 2184)"
/* `rows` rows of `bits` bits each in ascending order, with 8 or 2 added */
#define SHARED_ROWS(type, rows, bits)                                                                                  \
    "k[g<groups,e<length] = sum(h<" rows ") " type "(i32((w[e," rows "*g+h]? : 0)) + (1 << " bits "-1)) << " type      \
    "(h*" bits ")"
#define SHARED_ROW(rows, bits) \
    "i8((i32(k[o/" rows ",e]) >> o%" rows "*" bits " & (1 << " bits ")-1) - (1 << " bits "-1))"
/* element t of 16 of a channel, of which two share bytes: even + 8 + 16 * odd */
#define NIBBLE_OF(odd) \
    "i32((w[16*q+c%16,panel*g+c/16*2+" odd "]? : 0))"
#define PAIR_OF(channel) "select(q%pairs*2+t < row, (w[q/pairs*row+q%pairs*2+t," channel "]? : 0), 0)"
#define BYTE_OF(channel) "(w[4*q+2*t+s," channel "]? : 0)"
#define EVEN_ODD(even, odd) "i16(i32(" even ") + 256*i32(" odd "))"

/* Weights of products of rows. rows: channels, padded to whole groups. */
static const WeightLayout row_layouts[] = {
    { .name = "rows", .type = I8, .rank = 2, .of = "e<length,o<outs",
      .words = "[channel][element]",
      .encode = "k[o<rows,e<padded] = (w[e,o]? : 0)",
      .sum = "e", .element = "e", .decode = "k[o,e]",
      .shape = "[o][length]", .channels = 1, .elements = 1 },
    /* even + 256 * odd of two channels; the rows of a window, `row` elements each, begin at even offsets */
    { .name = "pairs", .type = I16, .rank = 4, .of = "e<length,o<outs",
      .words = "[4 channels][2 elements][2 channels][element]; "
               "two int8 in an int16, even channel + 256 * odd",
      .encode = "k[g<groups,q<padded,p<2,t<2] = "
                EVEN_ODD(PAIR_OF("4*g+2*p"), PAIR_OF("4*g+2*p+1")),
      .sum = "q,t<2", .element = "q,t", .decode = "i8(i32(k[o/4,q,o%4/2,t]) + o%2*128 >> o%2*8)",
      .q = "(e/row*pairs + e%row/2)", .t = "e%row%2",
      .shape = "[o/4][pairs][2][2]", .channels = 4, .elements = 1, .twos = 2, .of_pairs = true },
    { .name = "bytes", .type = I16, .rank = 5, .of = "e<length,o<outs",
      .words = "[4 channels][4 elements][even, odd][2 channels][element]; "
               "two int8 in an int16, even channel + 256 * odd",
      .encode = "k[g<groups,q<fours,s<2,p<2,t<2] = " EVEN_ODD(BYTE_OF("4*g+2*p"),
                                                              BYTE_OF("4*g+2*p+1")),
      .sum = "q,s<2,t<2", .element = "4*q+2*t+s",
      .decode = "i8(i32(k[o/4,q,s,o%4/2,t]) + o%2*128 >> o%2*8)",
      .q = "e/4", .s = "e%2", .t = "e%4/2",
      .shape = "[o/4][q][2][2][2]", .channels = 4, .elements = 4, .twos = 3 },
    /* four channels of 4 bits in each number, for pairs and for bytes of the patch */
    { .name = "fours", .type = U16, .rank = 3, .of = "e<length,o<outs",
      .words = "[4 channels][2 elements][element]; four 4-bit weights + 8 in a uint16, "
               "lowest bits first, less 32768",
      .encode = "k[g<groups,q<padded,t<2] = "
                FOUR_ROWS(PAIR_OF("4*g"), PAIR_OF("4*g+1"), PAIR_OF("4*g+2"), PAIR_OF("4*g+3")),
      .sum = "q,t<2", .element = "q,t",
      .decode = "i8((i32(k[o/4,q,t]) + 32768 >> o%4*4 & 15) - 8)",
      .q = "(e/row*pairs + e%row/2)", .t = "e%row%2",
      .shape = "[o/4][pairs][2]", .bits = 4, .channels = 4, .elements = 1, .twos = 1, .of_pairs = true },
    { .name = "four_bytes", .type = U16, .rank = 4, .of = "e<length,o<outs",
      .words = "[4 channels][4 elements][even, odd][element]; "
               "four 4-bit weights + 8 in a uint16, lowest bits first, less 32768",
      .encode = "k[g<groups,q<fours,s<2,t<2] = "
                FOUR_ROWS(BYTE_OF("4*g"), BYTE_OF("4*g+1"), BYTE_OF("4*g+2"), BYTE_OF("4*g+3")),
      .sum = "q,s<2,t<2", .element = "4*q+2*t+s",
      .decode = "i8((i32(k[o/4,q,s,t]) + 32768 >> o%4*4 & 15) - 8)",
      .q = "e/4", .s = "e%2", .t = "e%4/2",
      .shape = "[o/4][q][2][2]", .bits = 4, .channels = 4, .elements = 4, .twos = 2 },
    /* rows of 4 or 2 bits that share words */
    { .name = "eights", .type = U32, .rank = 2, .of = "e<length,o<outs",
      .encode = SHARED_ROWS("u32", "8", "4"), .sum = "e", .element = "e", .decode = SHARED_ROW("8", "4"),
      .shape = "[o/8][length]", .bits = 4, .channels = 8, .elements = 1 },
    { .name = "sixteens", .type = I32, .rank = 2, .of = "e<length,o<outs",
      .encode = SHARED_ROWS("i32", "16", "2"), .sum = "e", .element = "e",
      .decode = SHARED_ROW("16", "2"),
      .shape = "[o/16][length]", .bits = 2, .channels = 16, .elements = 1 },
    { .name = "wide", .type = I8, .rank = 5, .of = "e<length,o<outs",
      .words = "[2 channels][4 elements][channel][2 elements][even, odd]: elements 0 2 1 3",
      .encode = "k[g<groups,q<fours,h<2,t<2,s<2] = (w[4*q+2*s+t,2*g+h]? : 0)",
      .sum = "q,s<2,t<2", .element = "4*q+2*s+t", .decode = "k[o/2,q,o%2,t,s]",
      .q = "e/4", .s = "e%4/2", .t = "e%2",
      .shape = "[o/2][q][2][2][2]", .channels = 2, .elements = 4, .twos = 3, .is_widened = true },
    /* `depth` adjacent elements of each channel; the `run` elements of a window's row are padded to `row` */
    { .name = "panels", .type = I8, .rank = 4, .of = "e<length,o<outs",
      .words = "[panel][block of elements][channel of the panel][element]",
      .encode = "k[g<groups,q<blocks,c<panel,t<depth] = select((depth*q+t)%row < run, "
                "(w[(depth*q+t)/row*run+(depth*q+t)%row,panel*g+c]? : 0), 0)",
      .sum = "q,t<depth", .element = "depth*q+t", .decode = "k[o/panel,q,o%panel,t]",
      .q = "((e/run*row + e%run)/depth)", .t = "((e/run*row + e%run)%depth)",
      .shape = "[o/b][q][b][2, 4, 8 or 16]" },
    /* panels of 16 elements of two channels of 4 bits */
    { .name = "nibbles", .type = I8, .rank = 3, .of = "e<length,o<outs",
      .encode = "k[g<groups,q<blocks,c<panel*8] = i8(" NIBBLE_OF("0") " + 16*" NIBBLE_OF("1") " + 8)",
      .sum = "q,t<16", .element = "16*q+t",
      .decode = "i8(((i32(k[o/panel,q,o%panel/2*16+t]) >> o%2*4) + o%2*8 & 15) - 8)",
      .q = "(e/16)", .t = "(e%16)",
      .shape = "[o/b][length/16][8*b]", .bits = 4, .elements = 16 },
    /* words of four channels, with 128 added to even channels */
    { .name = "long", .type = U8, .rank = 4, .of = "e<length,o<outs",
      .words = "[4 channels][element][2 channels][channel]; 128 added to even channels",
      .encode = "k[g<groups,e<length,p<2,h<2] = u8(i32((w[e,4*g+2*p+h]? : 0)) + 128 - h*128)",
      .sum = "e", .element = "e", .decode = "i8(i32(k[o/4,e,o%4/2,o%2]) - o%2*128 + 128)",
      .shape = "[o/4][length][2][2]", .channels = 4, .elements = 1, .twos = 2 },
    { 0 }
};

/* Weights of depthwise convolutions. */
static const WeightLayout depthwise_layouts[] = {
    { .name = "tiles", .type = I8, .rank = 4, .of = "i<kh,j<kw,o<outs",
      .words = "[tile of channels][row][column][channel]",
      .encode = "k[g<groups,i<kh,j<kw,c<block] = (w[i,j,block*g+c]? : 0)", .decode = "k[o/block,i,j,o%block]" },
    { .name = "columns", .type = I8, .rank = 3, .of = "i<kh,j<kw,o<outs",
      .words = "[channel][column][row]",
      .encode = "k[o,j<kw,i<kh] = w[i,j,o]", .decode = "k[o,j,i]" },
    { 0 }
};

typedef struct PackedRows {
    Tensor *x, *k, *b;
    const WeightLayout *layout;
    int64_t outs, length, padded;
    /* panel: number of channels in a panel, or 0 for other layouts. depth: the number of adjacent elements of each
     * channel. */
    int64_t panel, depth;
    int64_t offset;                    /* the number that is added to the elements that a panel multiplies */
    /* elements of a window's row in a panel, with padding; 0 if rows are not padded */
    int64_t row;
    /* the dimension of x along which a number holds two pixels; 0 if each number holds one pixel */
    int64_t pairs;
    int64_t height, width;             /* sizes of y, for pairs */
} PackedRows;

static bool ends_in_twos(const Tensor *k, int count)
{
    bool all = true;
    for (int d = k->rank - count; d < k->rank; d++) all = all && tensor_dim(k, d) == 2;
    return all;
}

/* Returns true if the padding is less than a block of elements, or if there are two blocks, which instructions need at
 * least. */
static bool fits_panel(const PackedRows *r, int64_t length)
{
    const int64_t blocks = tensor_dim(r->k, 1), depth = r->depth;
    if (depth != 2 && depth != 4 && depth != 8 && depth != 16) return false;
    return r->padded >= length && (r->padded < length + depth || (depth > 2 && blocks == 2));
}

/* Returns true if a window has equally many rows in the weights and in `length` elements, and if `row` has room for a
 * row. */
static bool fits_rows(const PackedRows *r, int64_t length)
{
    if (!r->panel || r->row < 1 || r->row % r->depth || r->padded < r->row || r->padded % r->row) return false;
    const int64_t rows = r->padded / r->row;
    return length % rows == 0 && length / rows <= r->row;
}

/* Returns true if the weights' sizes are those of the layout, for a product of `length` elements or `pairs` pairs. */
static bool fits_layout(const PackedRows *r, int64_t length, int64_t pairs)
{
    const WeightLayout *l = r->layout;
    if (!l || !ends_in_twos(r->k, l->twos)) return false;
    if (l->of_pairs) return r->padded == pairs;
    if (!l->elements) return r->row ? fits_rows(r, length) : fits_panel(r, length);
    if (!l->channels) return r->padded == length && tensor_dim(r->k, 2) % NIBBLE_BYTES == 0;
    return r->padded >= length && r->padded < length + l->elements + (r->pairs != 0);
}

/* Returns the shapes of all layouts, for a refusal. */
static const char *shapes_text(Ctx *cx, int64_t length, int64_t pairs)
{
    Text t = text_new(cx);
    for (const WeightLayout *l = row_layouts; l->name; l++) {
        const char *shape = OP_TEXT(cx, l->shape, { "length", op_number(cx, length) },
                                    { "pairs", op_number(cx, pairs) });
        text_printf(&t, "%s%s%s", l == row_layouts ? "" : l[1].name ? ", " : " or ", dtype_info(l->type)->spelling,
                    shape);
    }
    return text_string(&t);
}

/* Reads the operands of a product of `length` elements, or of `pairs` pairs when window rows begin at even offsets. */
static bool read_rows(Ctx *cx, const Node *n, int64_t length, int64_t pairs, PackedRows *r)
{
    *r = (PackedRows){ .x = n->in[0], .k = n->in[1], .b = n->in[2], .length = length };
    const WeightLayout none = { .channels = 1, .elements = 1 }, *l = r->layout = weights_layout(n->op, r->k);
    if (!l) l = &none;
    if (!l->channels) r->panel = tensor_dim(r->k, 2) / (l->elements ? NIBBLE_BYTES / 2 : 1);
    r->depth = l->channels ? 1 : l->elements ? l->elements : tensor_dim(r->k, 3);
    r->offset = node_int(n, "offset", 0);
    r->pairs = node_int(n, "pairs", 0);
    r->row = node_int(n, "row", 0);
    const int64_t rows = (r->k->rank ? tensor_dim(r->k, 0) : 0) * (l->channels ? l->channels : r->panel);
    r->outs = node_int(n, "outs", rows);
    r->padded = r->k->rank < 2 ? -1 : tensor_dim(r->k, 1) * (l->channels ? l->elements : r->depth);
    if (r->offset && !r->panel) {
        op_refuse(cx, n, "'offset' is %lld, the weights are %s; use weights in panels with an offset",
                  (long long)r->offset, tensor_shape_text(cx, r->k));
        return false;
    }
    if (r->pairs && (r->pairs < 0 || r->pairs > 2 || r->k->type != I8 || r->k->rank != 2)) {
        op_refuse(cx, n, "'pairs' is %lld, the weights are %s; use 1 or 2, and weights i8[o][%lld]",
                  (long long)r->pairs, tensor_shape_text(cx, r->k), (long long)length);
        return false;
    }
    const bool is_element = r->x->type == I8 || (r->x->type == I16 && l->is_widened);
    if (is_element && r->b->type == I32 && r->b->rank == 1 && tensor_dim(r->b, 0) == rows && r->outs >= 1
        && r->outs <= rows && fits_layout(r, length, pairs))
        return true;
    if (r->x->type != I8 && !is_element) {
        op_refuse(cx, n, "the input is %s%s, the weights are %s; use i8, or i16 with weights i8[o/2][q][2][2][2]",
                  dtype_info(r->x->type)->spelling, tensor_shape_text(cx, r->x), tensor_shape_text(cx, r->k));
        return false;
    }
    if (fits_layout(r, length, pairs))
        op_refuse(cx, n, "the biases are %s%s for %lld rows of weights and %lld channels; use i32[%lld], and up to as "
                  "many channels as rows", dtype_info(r->b->type)->spelling, tensor_shape_text(cx, r->b),
                  (long long)rows, (long long)r->outs, (long long)rows);
    else op_refuse(cx, n, "the weights are %s%s; use %s", dtype_info(r->k->type)->spelling, tensor_shape_text(cx, r->k),
                   shapes_text(cx, length, pairs));
    return false;
}

/* Returns the formula of a patch element: `value`, widened to i16 for wide weights, or 0 in the zero padding. */
static const char *element_text(Ctx *cx, const PackedRows *r, const char *value)
{
    const bool is_whole = r->padded == r->length || r->row;
    return OP_TEXT(cx, is_whole ? "element" : "select(e < length, element, 0)", { "value", value },
                   { "element", r->layout->is_widened || r->depth == 2 ? "i16(value)" : "value" },
                   { "length", op_number(cx, r->length) });
}

/* Emits y[lead,o] = b[o] + the sum over the patch's row; `lead` spells the patch's leading indices. */
static int product(Ctx *cx, const Node *n, const PackedRows *r, Tensor *patch, const char *lead, Tensor **out)
{
    const char *text = r->pairs ? "y[n,h<height,w<width,o<outs] = "
                                  "sum(e; b[o]) i32(i8(patch[own,e] + half*32768 >> half*16)) * i32(weight)"
                     : r->offset ? "y[lead,o<outs] = sum(axes; b[o]) (i32(patch[lead,element]) + offset) * i32(weight)"
                                 : "y[lead,o<outs] = sum(axes; b[o]) i32(patch[lead,element]) * i32(weight)";
    if (!patch) return 0;
    text = OP_TEXT(cx, text, { "own", r->pairs == 1 ? "n,h/2,w" : "n,h,w/2" },
                   { "half", r->pairs == 1 ? "h%2" : "w%2" }, { "height", op_number(cx, r->height) },
                   { "width", op_number(cx, r->width) }, { "axes", r->layout->sum },
                   { "element", r->layout->element }, { "weight", r->layout->decode });
    out[0] = OP_FORMULA(cx, n, OP_TEXT(cx, text, { "lead", lead }, { "outs", op_number(cx, r->outs) },
                                       { "panel", op_number(cx, r->panel) }, { "depth", op_number(cx, r->depth) },
                                       { "offset", op_number(cx, r->offset) }),
                        BIND_T("patch", patch), BIND_T("k", r->k), BIND_T("b", r->b));
    return out[0] ? 1 : 0;
}

typedef struct PackedWindow { int64_t kernel[2], stride[2], dilation[2], pad[4], extent[2]; } PackedWindow;

static bool read_window(Ctx *cx, const Node *n, PackedWindow *w)
{
    enum { GREATEST = 1 << 20 };
    const Tensor *x = n->in[0];
    if (x->rank != 4 || !tensor_is_fixed(x)) {
        op_refuse(cx, n, "the input is %s; use fixed sizes and rank 4", tensor_shape_text(cx, x));
        return false;
    }
    if (!op_ints(cx, n, "kernel", 2, 1, GREATEST, 1, w->kernel)
        || !op_ints(cx, n, "stride", 2, 1, GREATEST, 1, w->stride)
        || !op_ints(cx, n, "dilation", 2, 1, GREATEST, 1, w->dilation)
        || !op_ints(cx, n, "pad", 4, 0, GREATEST, 0, w->pad))
        return false;
    for (int d = 0; d < 2; d++) {
        int64_t capacity = tensor_dim(x, 1 + d) + w->pad[d] + w->pad[2 + d] - (w->kernel[d] - 1) * w->dilation[d] - 1;
        w->extent[d] = capacity / w->stride[d] + 1;
        if (capacity < 0)
            op_refuse(cx, n, "a kernel of %lld does not fit into %s along axis %d; use at most the padded size",
                      (long long)w->kernel[d], tensor_shape_text(cx, x), 1 + d);
    }
    return !ctx_failed(cx);
}

/* Returns true if some window reads outside x. */
static bool leaves_input(const Node *n, const PackedWindow *w)
{
    bool leaves = false;
    for (int d = 0; d < 2; d++) {
        int64_t last = (w->extent[d] - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] - w->pad[d];
        leaves = leaves || w->pad[d] > 0 || last >= tensor_dim(n->in[0], 1 + d);
    }
    return leaves;
}

/* Returns the extent that the windows cover along spatial dimension d, from the first tap to the last. */
static int64_t reached(const PackedWindow *w, int d)
{
    return (w->extent[d] - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1;
}

/* Replaces the names of a window: strides sh, sw; dilations dh, dw; padding ph, pw; row: elements or pairs of a
 * window's row; pixel: elements or pairs of a pixel; c: channels. */
static const char *window_phrases(Ctx *cx, const Node *n, const PackedWindow *w, int64_t row, int64_t pixel,
                                  const char *text)
{
    const int64_t c = tensor_dim(n->in[0], 3);
    return OP_TEXT(cx, text, { "sh", op_number(cx, w->stride[0]) }, { "sw", op_number(cx, w->stride[1]) },
                   { "dh", op_number(cx, w->dilation[0]) }, { "dw", op_number(cx, w->dilation[1]) },
                   { "ph", op_number(cx, w->pad[0]) }, { "pw", op_number(cx, w->pad[1]) },
                   { "swc", op_number(cx, w->stride[1] * c) }, { "c", op_number(cx, c) },
                   { "row", op_number(cx, row) }, { "pixel", op_number(cx, pixel) },
                   { "fill", op_number(cx, node_int(n, "fill", 0)) });
}

/* Emits the padded rows of x, flattened over pixels and channels, so that a row of a window is contiguous. `more`
 * pixels follow the last pixel that a window reads. */
static Tensor *bordered_rows(Ctx *cx, const Node *n, const PackedWindow *w, int64_t more)
{
    const int64_t c = tensor_dim(n->in[0], 3);
    const char *text = OP_TEXT(cx, "rows[n,h<height,u<length] = (x[n,h-ph,u/c-pw,u%c]? : fill)",
                               { "height", op_number(cx, reached(w, 0)) },
                               { "length", op_number(cx, (reached(w, 1) + more) * c) });
    return OP_FORMULA(cx, n, window_phrases(cx, n, w, 0, c, text), BIND_T("x", n->in[0]));
}

/* Returns the text of patch element e: read from `rows`, or from x with `fill` outside. */
static const char *window_text(Ctx *cx, const Node *n, const PackedWindow *w, int64_t row, bool of_rows)
{
    const int64_t c = tensor_dim(n->in[0], 3);
    return window_phrases(cx, n, w, row ? row : w->kernel[1] * c, c,
                          of_rows ? "rows[n,h*sh+e/row*dh,w*swc+e%row]"
                          : leaves_input(n, w) ? "(x[n,h*sh+e/row*dh-ph,w*sw+e%row/c*dw-pw,e%c]? : fill)"
                                               : "x[n,h*sh+e/row*dh-ph,w*sw+e%row/c*dw-pw,e%c]");
}

/* Returns the formula of patch element e for two pixels in a number. A window row holds a whole number of pairs; its
 * padding is multiplied by zero weights. */
static const char *pair_text(Ctx *cx, const Node *n, const PackedWindow *w, bool of_rows)
{
    const int64_t c = tensor_dim(n->in[0], 3);
    return window_phrases(cx, n, w, (w->kernel[1] * c + 1) / 2, (c + 1) / 2,
                          of_rows ? "rows[n,h*sh+q/row*dh,w*swc+q%row*2+t]"
                          : c % 2 ? "(x[n,h*sh+q/row*dh,w*sw+q%row/pixel,q%pixel*2+t]? : 0)"
                                  : "x[n,h*sh+q/row*dh,w*sw+q%row/pixel,q%pixel*2+t]");
}

/* Returns the formula of patch element e of the pixel at `place` along `axis` as i32, or 0 after the last pixel. */
static const char *pixel_text(Ctx *cx, const Node *n, const PackedWindow *w, const PackedRows *r, const char *axis,
                              const char *place, bool of_rows)
{
    const int64_t extent = w->extent[axis[0] == 'w'];
    const char *text = OP_TEXT(cx, extent % 4 ? "select(place < extent, i32(value), 0)" : "i32(value)",
                               { "extent", op_number(cx, extent) },
                               { "value", element_text(cx, r, window_text(cx, n, w, 0, of_rows)) });
    return OP_TEXT(cx, OP_TEXT(cx, text, { axis, "place" }), { "place", place });
}

/* Emits the patch of pairs of pixels, whose number is even. */
static Tensor *words_of(Ctx *cx, const Node *n, const PackedWindow *w, const PackedRows *r, Tensor *from, bool of_rows)
{
    enum { TILE = 4 };
    int64_t extent[2] = { w->extent[0], w->extent[1] };
    const char *axis = r->pairs == 1 ? "h" : "w", *even = text_format(cx, "(2*%s)", axis),
               *odd = text_format(cx, "(2*%s+1)", axis);
    extent[r->pairs - 1] = (extent[r->pairs - 1] + TILE - 1) / TILE * 2;
    const char *text = OP_TEXT(cx, "patch[n,h<height,w<width,e<padded] = even + 65536*odd",
                               { "even", pixel_text(cx, n, w, r, axis, even, of_rows) },
                               { "odd", pixel_text(cx, n, w, r, axis, odd, of_rows) },
                               { "padded", op_number(cx, r->padded) });
    text = OP_TEXT(cx, text, { "height", op_number(cx, extent[0]) }, { "width", op_number(cx, extent[1]) });
    return from ? OP_FORMULA(cx, n, text, BIND_T(of_rows ? "rows" : "x", from)) : NULL;
}

static Tensor *patch_of(Ctx *cx, const Node *n, const PackedWindow *w, const PackedRows *r, Tensor *from, bool of_rows)
{
    if (r->pairs) return words_of(cx, n, w, r, from, of_rows);
    const bool of_pairs = r->layout->of_pairs;
    const char *value = of_pairs ? pair_text(cx, n, w, of_rows)
                                 : element_text(cx, r, window_text(cx, n, w, r->row, of_rows));
    const char *text = OP_TEXT(cx, of_pairs ? "patch[n,h<height,w<width,q<padded,t<2] = i16(value)"
                                            : "patch[n,h<height,w<width,e<padded] = value",
                               { "height", op_number(cx, w->extent[0]) }, { "width", op_number(cx, w->extent[1]) },
                               { "padded", op_number(cx, r->padded) }, { "value", value });
    return from ? OP_FORMULA(cx, n, text, BIND_T(of_rows ? "rows" : "x", from)) : NULL;
}

static int packed_conv2d(Ctx *cx, const Node *n, Tensor **out)
{
    PackedWindow w;
    PackedRows r;
    if (!read_window(cx, n, &w)) return 0;
    int64_t row = w.kernel[1] * tensor_dim(n->in[0], 3);
    if (!read_rows(cx, n, w.kernel[0] * row, w.kernel[0] * ((row + 1) / 2), &r)) return 0;
    r.height = w.extent[0];
    r.width = w.extent[1];
    bool is_pixel = w.kernel[0] * w.kernel[1] == 1, leaves = leaves_input(n, &w),
         of_rows = (leaves || r.row) && w.dilation[1] == 1 && !is_pixel;
    if (r.row && (!of_rows || r.padded != w.kernel[0] * r.row)) {
        op_refuse(cx, n,
                  "'row' is %lld, the weights are %s; use %lld rows of %lld elements or more, of adjacent pixels",
                  (long long)r.row, tensor_shape_text(cx, r.k), (long long)w.kernel[0], (long long)row);
        return 0;
    }
    if (r.layout->of_pairs && !of_rows
        && (leaves || (!is_pixel && (w.dilation[1] > 1 || tensor_dim(n->in[0], 3) % 2)))) {
        op_refuse(cx, n,
                  "windows with an odd number of channels inside the input, or with gaps, require i8 weights");
        return 0;
    }
    const int64_t channels = tensor_dim(r.x, 3), past = r.row ? (r.row - row + channels - 1) / channels : row % 2;
    Tensor *from = of_rows ? bordered_rows(cx, n, &w, r.layout->of_pairs || r.row ? past : 0) : r.x;
    return product(cx, n, &r, patch_of(cx, n, &w, &r, from, of_rows), "n,h,w", out);
}

/* Emits x padded with `fill` at the borders and to `channels` channels. */
static Tensor *padded_image(Ctx *cx, const Node *n, const PackedWindow *w, int64_t channels)
{
    const Tensor *x = n->in[0];
    int64_t extent[2];
    for (int d = 0; d < 2; d++) extent[d] = reached(w, d);
    bool leaves = w->pad[0] || w->pad[1] || extent[0] > tensor_dim(x, 1) || extent[1] > tensor_dim(x, 2)
                  || channels > tensor_dim(x, 3);
    const char *text = OP_TEXT(cx, leaves ? "padded[n,h<height,w<width,c<channels] = (x[n,h-ph,w-pw,c]? : fill)"
                                          : "padded[n,h<height,w<width,c<channels] = x[n,h-ph,w-pw,c]",
                               { "height", op_number(cx, extent[0]) }, { "width", op_number(cx, extent[1]) },
                               { "channels", op_number(cx, channels) }, { "ph", op_number(cx, w->pad[0]) },
                               { "pw", op_number(cx, w->pad[1]) },
                               { "fill", op_number(cx, node_int(n, "fill", 0)) });
    return OP_FORMULA(cx, n, text, BIND_T("x", n->in[0]));
}

/* Emits the image with 16-bit elements. */
static Tensor *columns_of(Ctx *cx, const Node *n, Tensor *padded)
{
    return padded ? OP_FORMULA(cx, n, "columns[n,h,w,c] = i16(padded[n,h,w,c])", BIND_T("padded", padded)) : NULL;
}

static int packed_depthwise2d(Ctx *cx, const Node *n, Tensor **out)
{
    PackedWindow w;
    Tensor *x = n->in[0], *k = n->in[1], *b = n->in[2];
    if (!read_window(cx, n, &w)) return 0;
    const bool of_columns = k->rank == 3;
    int64_t own = tensor_dim(x, 3), block = of_columns ? 1 : tensor_dim(k, k->rank - 1),
            channels = tensor_dim(k, 0) * block;
    bool fits = of_columns ? tensor_dim(k, 1) == w.kernel[1] && tensor_dim(k, 2) == w.kernel[0] && channels == own
                           : k->rank == 4 && tensor_dim(k, 1) == w.kernel[0] && tensor_dim(k, 2) == w.kernel[1]
                                 && channels >= own;
    if (x->type != I8 || k->type != I8 || b->type != I32 || b->rank != 1 || tensor_dim(b, 0) != channels || !fits) {
        op_refuse(cx, n,
                  "the weights are %s and the biases %s; use i8[c/t][%lld][%lld][t] and i32[c] with c at least "
                  "%lld, or i8[c][%lld][%lld] and i32[c] with c = %lld",
                  tensor_shape_text(cx, k), tensor_shape_text(cx, b), (long long)w.kernel[0], (long long)w.kernel[1],
                  (long long)own, (long long)w.kernel[1], (long long)w.kernel[0], (long long)own);
        return 0;
    }
    Tensor *padded = padded_image(cx, n, &w, channels), *from = of_columns ? columns_of(cx, n, padded) : padded;
    const char *text = OP_TEXT(cx, "y[n,h<height,w<width,o<own] = sum(i,j; b[o]) "
                                   "i32(image[n,h*sh+i*dh,w*sw+j*dw,o]) * i32(weight)",
                               { "height", op_number(cx, w.extent[0]) }, { "width", op_number(cx, w.extent[1]) },
                               { "own", op_number(cx, own) },
                               { "weight", weights_layout(n->op, k)->decode });
    text = OP_TEXT(cx, text, { "block", op_number(cx, block) });
    if (!from) return 0;
    out[0] = OP_FORMULA(cx, n, window_phrases(cx, n, &w, 0, own, text), BIND_T("image", from), BIND_T("k", k),
                        BIND_T("b", b));
    return out[0] ? 1 : 0;
}

static int packed_dense(Ctx *cx, const Node *n, Tensor **out)
{
    PackedRows r;
    const Tensor *x = n->in[0];
    int64_t length = x->rank < 1 ? 0 : tensor_dim(x, x->rank - 1);
    if (x->rank < 1 || !read_rows(cx, n, length, (length + 1) / 2, &r)) return 0;
    bool chosen[MAX_RANK] = { false };
    chosen[x->rank - 1] = true;
    const char *lead = axis_text(cx, x->rank, chosen).kept;
    const char *value = element_text(cx, &r, r.padded > r.length ? "(x[lead,e]? : 0)" : "x[lead,e]");
    const char *patch = OP_TEXT(cx, r.layout->of_pairs ? "patch[lead,q<padded,t<2] = i16((x[lead,q*2+t]? : 0))"
                                                       : "patch[lead,e<padded] = value",
                                { "lead", lead }, { "padded", op_number(cx, r.padded) }, { "value", value });
    return product(cx, n, &r, OP_FORMULA(cx, n, patch, BIND_T("x", r.x)), lead, out);
}

#define WINDOW_ROWS                                                                                                    \
    { "kernel",   ATTR_INTS, "height and width of the window", NULL },                                                 \
    { "stride",   ATTR_INTS, "distance between adjacent windows", NULL },                                              \
    { "dilation", ATTR_INTS, "distance between adjacent taps", NULL },                                                 \
    { "pad",      ATTR_INTS, "rows and columns of `fill` around x: top,left,bottom,right", NULL },                     \
    { "fill",     ATTR_INT,  "the value read outside x", NULL },                                                       \
    { "outs",     ATTR_INT,  "output channels; k and b may have more", NULL }

static const AttrRow depthwise_attrs[] = { WINDOW_ROWS, { 0 } };
static const AttrRow conv_attrs[] = {
    WINDOW_ROWS,
    { "offset", ATTR_INT, "added to the elements that panels multiply", NULL },
    { "row",    ATTR_INT, "elements of a window's row in panels; those past the window are zero", NULL },
    { "pairs",  ATTR_INT, "the dimension of x along which a number of the patch holds two pixels: 1 or 2", NULL },
    { 0 }
};
static const AttrRow dense_attrs[] = {
    { "outs",   ATTR_INT, "output channels; k and b may have more", NULL },
    { "offset", ATTR_INT, "added to the elements that panels multiply", NULL },
    { 0 }
};

static const OpCase packed_conv2d_cases[] = {
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][2] i8[3][18] i32[3]", "i32[1][4][5][3]", NULL },
    { "kernel=3,2 pad=1,0,1,1 stride=2,1 fill=7", "i8[1][5][4][2] i8[2][3][2][2][2] i32[4]", "i32[1][3][4][4]", NULL },
    { "kernel=3,2 pad=1,0,1,1 stride=2,1 fill=7", "i16[1][5][4][2] i8[2][3][2][2][2] i32[4]", "i32[1][3][4][4]", NULL },
    { "kernel=3,3 outs=3", "i16[1][5][4][3] i8[2][7][2][2][2] i32[4]", "i32[1][3][2][3]", NULL },
    { "", "i16[1][3][5][8] i8[2][2][2][2][2] i32[4]", "i32[1][3][5][4]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][3] i8[1][14][8][2] i32[8]", "i32[1][4][5][8]", NULL },
    { "kernel=2,2 outs=20", "i8[1][3][4][4] i8[3][8][8][2] i32[24]", "i32[1][2][3][20]", NULL },
    { "outs=32", "i8[1][3][3][5] i8[2][3][16][2] i32[32]", "i32[1][3][3][32]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][3] i8[1][7][8][4] i32[8]", "i32[1][4][5][8]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][5][6][4] i8[1][9][8][4] i32[8]", "i32[1][5][6][8]", NULL },
    { "kernel=2,2 outs=6", "i8[1][5][6][4] i8[2][2][4][8] i32[8]", "i32[1][4][5][6]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5 offset=128", "i8[1][4][5][4] i8[1][9][16][4] i32[16]", "i32[1][4][5][16]", NULL },
    { "kernel=3,3 stride=2,2 row=12 offset=128", "i8[1][7][5][3] i8[1][9][16][4] i32[16]", "i32[1][3][2][16]", NULL },
    { "kernel=2,3 pad=0,1,1,1 fill=9 row=8", "i8[1][3][4][1] i8[1][4][16][4] i32[16]", "i32[1][3][4][16]", NULL },
    { "kernel=3,3 row=8", "i8[1][7][5][3] i8[1][6][16][4] i32[16]", NULL, "; use " },
    { "kernel=3,3 row=18", "i8[1][7][5][3] i8[1][9][16][4] i32[16]", NULL, "; use " },
    { "kernel=3,3 offset=128 outs=20", "i8[1][5][6][3] i8[2][7][16][4] i32[32]", "i32[1][3][4][20]", NULL },
    { "offset=128", "i8[1][2][2][8] i8[4][8] i32[4]", NULL, "use weights in panels with an offset" },
    { "", "i8[1][6][7][32] i8[1][2][4][16] i32[4]", "i32[1][6][7][4]", NULL },
    { "", "i8[1][2][2][8] i8[1][3][4][8] i32[4]", NULL, "; use " },
    { "kernel=2,1 dilation=2,1", "i8[2][4][3][3] i8[1][2][2][2][2] i32[2]", "i32[2][2][3][2]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][2] i16[1][9][2][2] i32[4]", "i32[1][4][5][4]", NULL },
    { "kernel=2,3 pad=0,1,1,1 fill=-5 outs=3", "i8[1][4][5][3] i16[1][10][2][2] i32[4]", "i32[1][4][5][3]", NULL },
    { "kernel=2,3 stride=1,2 outs=7", "i8[1][4][5][4] i16[2][12][2][2] i32[8]", "i32[1][3][2][7]", NULL },
    { "outs=5", "i8[1][2][3][2] i16[2][1][2][2] i32[8]", "i32[1][2][3][5]", NULL },
    { "outs=7", "i8[1][2][2][9] i16[2][5][2][2] i32[8]", "i32[1][2][2][7]", NULL },
    { "kernel=2,3", "i8[1][4][5][3] i16[1][10][2][2] i32[4]", NULL, "odd number" },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][3] u16[1][15][2] i32[4]", "i32[1][4][5][4]", NULL },
    { "outs=7", "i8[1][2][2][9] u16[2][5][2] i32[8]", "i32[1][2][2][7]", NULL },
    { "outs=7", "i8[1][2][2][9] u16[2][4][2] i32[8]", NULL, "; use " },
    { "outs=3", "i8[1][2][2][8] i8[4][8] i32[4]", "i32[1][2][2][3]", NULL },
    { "outs=5", "i8[1][2][2][8] i8[4][8] i32[4]", NULL, "; use " },
    { "", "i8[1][2][2][8] i8[4][8] i32[4]", "i32[1][2][2][4]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5 pairs=2", "i8[1][4][8][2] i8[3][18] i32[3]", "i32[1][4][8][3]", NULL },
    { "kernel=3,2 pad=1,0,1,1 stride=2,1 fill=7 pairs=1", "i8[1][13][4][2] i8[4][12] i32[4]", "i32[1][7][4][4]", NULL },
    { "pairs=2", "i8[1][1][9][8] i8[6][8] i32[6]", "i32[1][1][9][6]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5 pairs=2", "i8[1][4][6][3] i8[5][28] i32[5]", "i32[1][4][6][5]", NULL },
    { "pairs=1", "i8[1][6][3][5] i8[4][5] i32[4]", "i32[1][6][3][4]", NULL },
    { "", "i16[1][2][2][8] i8[4][8] i32[4]", NULL, "i16 with weights" },
    { "pairs=3", "i8[1][2][2][8] i8[4][8] i32[4]", NULL, "1 or 2" },
    { "pairs=2 outs=5", "i8[1][2][2][4] i8[1][2][8][2] i32[8]", NULL, "1 or 2" },
    { "", "i8[1][2][2][8] i8[4][9] i32[4]", NULL, "; use " },
    { "kernel=3,3", "i8[1][2][2][8] i8[4][72] i32[4]", NULL, "does not fit" },
    { 0 }
};
static const OpCase packed_depthwise2d_cases[] = {
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][8] i8[1][3][3][8] i32[8]", "i32[1][4][5][8]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][3] i8[1][3][3][4] i32[4]", "i32[1][4][5][3]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][4] i8[1][3][3][4] i32[4]", "i32[1][4][5][4]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][6] i8[2][3][3][4] i32[8]", "i32[1][4][5][6]", NULL },
    { "kernel=3,2 pad=1,0,1,1 stride=2,1 fill=7", "i8[1][5][4][4] i8[2][3][2][2] i32[4]", "i32[1][3][4][4]", NULL },
    { "kernel=2,1 dilation=2,1", "i8[2][4][3][3] i8[3][2][1][1] i32[3]", "i32[2][2][3][3]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][4][5][4] i8[4][3][3] i32[4]", "i32[1][4][5][4]", NULL },
    { "kernel=3,2 pad=1,0,1,1 stride=2,1 fill=7", "i8[1][5][4][4] i8[4][2][3] i32[4]", "i32[1][3][4][4]", NULL },
    { "kernel=3,3 pad=1,1,1,1 fill=-5", "i8[1][250][3][4] i8[1][3][3][4] i32[4]", "i32[1][250][3][4]", NULL },
    { "kernel=3,2 pad=1,0,1,1 stride=2,1 fill=7", "i8[1][501][4][4] i8[2][3][2][2] i32[4]", "i32[1][251][4][4]", NULL },
    { "", "i8[1][2][2][8] i8[1][1][1][4] i32[4]", NULL, "; use " },
    { "kernel=3,3", "i8[1][4][5][3] i8[4][3][3] i32[4]", NULL, "; use " },
    { 0 }
};
static const OpCase packed_dense_cases[] = {
    { "", "i8[2][8] i8[3][8] i32[3]", "i32[2][3]", NULL },
    { "outs=3", "i8[9] i8[2][3][2][2][2] i32[4]", "i32[3]", NULL },
    { "outs=3", "i16[4][9] i8[2][3][2][2][2] i32[4]", "i32[4][3]", NULL },
    { "", "i16[5][8] i8[1][2][2][2][2] i32[2]", "i32[5][2]", NULL },
    { "outs=7", "i8[1][10] i16[2][3][2][2][2] i32[8]", "i32[1][7]", NULL },
    { "", "i8[8] i16[1][2][2][2][2] i32[4]", "i32[4]", NULL },
    { "outs=3", "i8[4][9] i8[2][3][2][2][2] i32[4]", "i32[4][3]", NULL },
    { "outs=6", "i8[9] u16[2][3][2][2] i32[8]", "i32[6]", NULL },
    { "outs=3", "i8[4][9] u16[1][5][2] i32[4]", "i32[4][3]", NULL },
    { "outs=6", "i8[9] u8[2][9][2][2] i32[8]", "i32[6]", NULL },
    { "", "i8[9] u8[1][8][2][2] i32[4]", NULL, "; use " },
    { "outs=11", "i8[9] i8[2][5][8][2] i32[16]", "i32[11]", NULL },
    { "", "i8[4][8] i8[1][4][16][2] i32[16]", "i32[4][16]", NULL },
    { "", "i8[8] i8[1][2][8][8] i32[8]", "i32[8]", NULL },
    { "outs=14", "i8[5][32] i8[4][2][4][16] i32[16]", "i32[5][14]", NULL },
    { "offset=128", "i8[3][32] i8[1][8][32][4] i32[32]", "i32[3][32]", NULL },
    { "outs=3", "i8[4][9] i16[1][5][2][2] i32[4]", "i32[4][3]", NULL },
    { "outs=6", "i8[3][8] i16[2][4][2][2] i32[8]", "i32[3][6]", NULL },
    { "", "i8[9] i16[1][4][2][2] i32[4]", NULL, "; use " },
    { "", "i16[8] i16[1][4][2][2] i32[4]", NULL, "i16 with weights" },
    { "", "i8[9] i8[2][2][2][2][2] i32[4]", NULL, "; use " },
    { "", "i8[9] i8[4][3][2][2] i32[4]", NULL, "; use " },
    { 0 }
};

#define PACKED(fn, of, text) \
    .name = #fn, .summary = text, .level = 11, .least_inputs = 3, .most_inputs = 3, .inputs = "x k b", \
    .meaning.compute = fn, .fusion.pattern = PATTERN_OUT_FUSABLE, .fold.initial = 2, .cases = fn##_cases, .layouts = of

const Op ops_packed[] = {
    { PACKED(packed_conv2d, row_layouts,
      "y[n,h,w,o] = b[o] + sum(e) patch[n,h,w,e] * k[o,e]: an 8-bit convolution in reading order"),
      .attr = conv_attrs },
    { PACKED(packed_depthwise2d, depthwise_layouts,
      "y[n,h,w,o] = b[o] + sum(i,j) padded[n,h*sh+i*dh,w*sw+j*dw,o] * k[o/B,i,j,o%B]: "
             "an 8-bit depthwise convolution"),
      .attr = depthwise_attrs },
    { PACKED(packed_dense, row_layouts,
      "y[..,o] = b[o] + sum(e) x[..,e] * k[o,e]: an 8-bit dense layer in reading order"),
      .attr = dense_attrs },
    { 0 }
};
