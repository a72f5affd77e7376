/* SPDX-License-Identifier: MIT */
/* Translates ImageDecoder of a constant stream: the image becomes a constant. Reads two uncompressed formats: binary
 * PNM (P5 gray, P6 RGB, 8 bits per sample) and 24-bit BMP. */
#include <string.h>

#include "import/onnx/ops/onnx_rows.h"

/* A decoded header. at: the top row, or NULL if the format is unknown. row: bytes to the next row, negative in a BMP
 * that is stored bottom-up. samples: 1 for a gray image. red: the offset of the red sample of a pixel; blue is at 2 -
 * red. */
typedef struct Image { const uint8_t *at; int64_t width, height, row; int samples, red; } Image;

enum { MOST_SIDE = 1 << 14 };

/* Reads the next number of a PNM header, after blanks and comments; returns -1 if there is no number of at most five
 * digits. */
static int64_t header_number(const uint8_t *s, int64_t count, int64_t *at)
{
    int64_t v = 0, digits = 0;
    bool is_comment = false;
    for (; *at < count && (is_comment || s[*at] <= ' ' || s[*at] == '#'); ++*at)
        is_comment = s[*at] == '#' || (is_comment && s[*at] != '\n');
    for (; *at < count && s[*at] >= '0' && s[*at] <= '9' && digits <= 5; ++*at, digits++) v = 10 * v + (s[*at] - '0');
    return digits && digits <= 5 ? v : -1;
}

static Image read_pnm(const uint8_t *s, int64_t count)
{
    int64_t at = 2;
    const int samples = s[1] == '5' ? 1 : 3;
    const int64_t width = header_number(s, count, &at), height = header_number(s, count, &at),
                  most = header_number(s, count, &at), begin = at + 1;
    const bool is_whole = width >= 1 && width <= MOST_SIDE && height >= 1 && height <= MOST_SIDE && most == 255
                          && begin <= count && width * height * samples <= count - begin;
    return (Image){ is_whole ? s + begin : NULL, width, height, width * samples, samples, 0 };
}

static int64_t little_endian(const uint8_t *s, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes; i-- > 0;) v = v << 8 | s[i];
    return bytes == 4 ? (int64_t)v - (v >> 31 ? INT64_C(1) << 32 : 0) : (int64_t)v;
}

static Image read_bmp(const uint8_t *s, int64_t count)
{
    enum { HEADERS = 54, OFFSET = 10, WIDTH = 18, HEIGHT = 22, BITS = 28, COMPRESSION = 30 };
    if (count < HEADERS) return (Image){ 0 };
    const int64_t begin = little_endian(s + OFFSET, 4), width = little_endian(s + WIDTH, 4),
                  stored = little_endian(s + HEIGHT, 4), height = stored < 0 ? -stored : stored,
                  row = (3 * width + 3) / 4 * 4;
    const bool is_plain = little_endian(s + BITS, 2) == 24 && little_endian(s + COMPRESSION, 4) == 0;
    if (!is_plain || width < 1 || width > MOST_SIDE || height < 1 || height > MOST_SIDE || begin < HEADERS
        || begin > count || row * height > count - begin)
        return (Image){ 0 };
    const uint8_t *top = s + begin + (stored < 0 ? 0 : row * (height - 1));
    return (Image){ top, width, height, stored < 0 ? row : -row, 3, 2 };
}

static Image read_image(const uint8_t *s, int64_t count)
{
    if (count > 2 && s[0] == 'P' && (s[1] == '5' || s[1] == '6')) return read_pnm(s, count);
    return count > 2 && s[0] == 'B' && s[1] == 'M' ? read_bmp(s, count) : (Image){ 0 };
}

/* Returns the rounded luma of ITU-R 601, computed in 16 bits. */
static uint8_t luma(int red, int green, int blue)
{
    return (uint8_t)((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

static void image_decoder(OnnxCall *c)
{
    const char *format = onnx_text(c, "pixel_format", "RGB");
    const bool is_bgr = strcmp(format, "BGR") == 0, is_gray = strcmp(format, "Grayscale") == 0;
    if (!onnx_requires(c, 1)) return;
    const Tensor *x = c->in[0];
    if (!is_bgr && !is_gray && strcmp(format, "RGB") != 0)
        onnx_refuse(c, "'pixel_format' is \"%s\"; use RGB, BGR or Grayscale", format);
    else if (!tensor_is_constant(x) || x->type != U8)
        onnx_unsupported(c, "the stream (\"%s\") is not constant; use a constant of uint8", c->node->in[0]);
    if (ctx_failed(c->cx)) return;
    const Image i = read_image(x->data, tensor_elems(x));
    if (!i.at) {
        onnx_unsupported(c, "the stream is not a supported image; use binary 8-bit PNM or 24-bit BMP, without "
                            "compression and with at most %d pixels per side", MOST_SIDE);
        return;
    }
    const int64_t shape[] = { i.height, i.width, is_gray ? 1 : 3 };
    void *data;
    c->out[0] = tensor_zeros(c->cx, c->name, U8, 3, shape, &data);
    uint8_t *to = c->out[0] ? data : NULL;
    for (int64_t h = 0; to && h < i.height; h++)
        for (int64_t w = 0; w < i.width; w++) {
            const uint8_t *p = i.at + h * i.row + w * i.samples;
            const bool is_one = i.samples == 1;
            const uint8_t rgb[] = { p[is_one ? 0 : i.red], p[is_one ? 0 : 1], p[is_one ? 0 : 2 - i.red] };
            if (is_gray) *to++ = luma(rgb[0], rgb[1], rgb[2]);
            for (int k = 0; k < 3 && !is_gray; k++) *to++ = rgb[is_bgr ? 2 - k : k];
        }
}

const OnnxOp onnx_rows_image[] = {
    { ONNX_MOVE("ImageDecoder", 1, "pixel_format", image_decoder) },
    { 0 }
};
