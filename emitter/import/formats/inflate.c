/* SPDX-License-Identifier: MIT */
/* Decodes DEFLATE (RFC 1951). A stream is a sequence of sections ("blocks" in the RFC). A section consists of stored
 * bytes, or of symbols in a prefix code:
 *
 *   0..255   a literal byte
 *   256      end of the section
 *   257..    a length; a distance in a second code follows: copy earlier output
 *
 * A prefix code is defined by the lengths of its words. Words of one length are consecutive numbers; the first word of
 * the next length is twice the successor of the last. So `read_symbol` decodes bit by bit from the number of words of
 * each length. Bits past the end of the input read as zeros and set `bad`, so every loop ends. */
#include "import/formats/inflate.h"

#include "support/cursor.h"

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 30, END_OF_SECTION = 256, LENGTH_CODES = 19 };

typedef struct Stream {
    Cursor in;
    uint32_t held; int held_count;                /* bits that are read but not consumed; the next bit is the lowest */
    uint8_t *out; size_t written, capacity;
    bool bad;
} Stream;

/* A prefix code: the number of words of each length, and the symbols in the order of their words. */
typedef struct Code { int count[MOST_BITS + 1], symbol[LITERALS]; } Code;

static int read_bits(Stream *s, int count)
{
    while (s->held_count < count) {
        s->held |= (uint32_t)cursor_u8(&s->in) << s->held_count;
        s->held_count += 8;
    }
    const int v = (int)(s->held & (((uint32_t)1 << count) - 1));
    s->held >>= count;
    s->held_count -= count;
    s->bad = s->bad || s->in.bad;
    return v;
}

static void write_byte(Stream *s, int byte)
{
    if (s->written < s->capacity) s->out[s->written++] = (uint8_t)byte;
    else s->bad = true;
}

/* ---- Codes ------------------------------------------------------------------------------------------------------- */

/* Returns false if the lengths oversubscribe the code. An incomplete code is accepted, because a code with one symbol
 * is incomplete. */
static bool build_code(Code *c, const uint8_t *length, int symbols)
{
    int first[MOST_BITS + 2], left = 1;
    *c = (Code){ .count = { 0 } };
    for (int i = 0; i < symbols; i++) c->count[length[i]]++;
    c->count[0] = 0;
    for (int bits = 1; bits <= MOST_BITS; bits++) {
        left = 2 * left - c->count[bits];
        if (left < 0) return false;
    }
    first[1] = 0;
    for (int bits = 1; bits <= MOST_BITS; bits++) first[bits + 1] = first[bits] + c->count[bits];
    for (int i = 0; i < symbols; i++)
        if (length[i]) c->symbol[first[length[i]]++] = i;
    return true;
}

/* Reads a symbol. For a word outside the code, sets `bad` and returns -1. */
static int read_symbol(Stream *s, const Code *c)
{
    int word = 0, first = 0, index = 0;
    for (int bits = 1; bits <= MOST_BITS; bits++) {
        word |= read_bits(s, 1);
        if (word - first < c->count[bits]) return c->symbol[index + word - first];
        index += c->count[bits];
        first = 2 * (first + c->count[bits]);
        word *= 2;
    }
    s->bad = true;
    return -1;
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static void copy_stored(Stream *s)
{
    s->held = 0;
    /* drops the remaining bits of the byte; at most 7 bits are held here */
    s->held_count = 0;
    const int count = cursor_u16(&s->in), again = cursor_u16(&s->in);
    s->bad = s->bad || s->in.bad || (count ^ again) != 0xffff;
    for (int i = 0; i < count && !s->bad; i++) {
        write_byte(s, cursor_u8(&s->in));
        s->bad = s->bad || s->in.bad;
    }
}

static void repeat(Stream *s, int length, const Code *distances)
{
    static const uint16_t base[DISTANCES] = { 1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                              33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                              1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
    const int symbol = read_symbol(s, distances);
    if (symbol < 0 || symbol >= DISTANCES) {
        s->bad = true;
        return;
    }
    const size_t distance = (size_t)base[symbol] + (size_t)read_bits(s, symbol < 4 ? 0 : symbol / 2 - 1);
    if (distance > s->written) s->bad = true;
    for (int i = 0; i < length && !s->bad; i++) write_byte(s, s->out[s->written - distance]);
}

static void read_symbols(Stream *s, const Code *literals, const Code *distances)
{
    static const uint16_t base[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                     31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
    static const uint8_t extra[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
    while (!s->bad) {
        const int symbol = read_symbol(s, literals), which = symbol - END_OF_SECTION - 1;
        if (symbol == END_OF_SECTION) return;
        if (symbol >= 0 && symbol < END_OF_SECTION) write_byte(s, symbol);
        else if (symbol < 0 || which >= (int)(sizeof extra)) s->bad = true;
        else repeat(s, base[which] + read_bits(s, extra[which]), distances);
    }
}

static void fixed_codes(Code *literals, Code *distances)
{
    uint8_t length[LITERALS];
    for (int i = 0; i < LITERALS; i++) length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    build_code(literals, length, LITERALS);
    for (int i = 0; i < DISTANCES; i++) length[i] = 5;
    build_code(distances, length, DISTANCES);
}

/* Reads the lengths of both codes, which are run-length coded: 16 repeats the previous length, 17 and 18 are runs of
 * zeros. */
static bool read_lengths(Stream *s, const Code *c, uint8_t *length, int count)
{
    for (int i = 0; i < count && !s->bad;) {
        const int symbol = read_symbol(s, c);
        const uint8_t value = symbol < 16             ? (uint8_t)(symbol < 0 ? 0 : symbol)
                              : symbol == 16 && i > 0 ? length[i - 1]
                                                      : 0;
        int times = symbol < 16    ? 1
                    : symbol == 16 ? 3 + read_bits(s, 2)
                    : symbol == 17 ? 3 + read_bits(s, 3)
                                   : 11 + read_bits(s, 7);
        if ((symbol == 16 && i == 0) || times > count - i) return false;
        while (times-- > 0) length[i++] = value;
    }
    return !s->bad;
}

static bool read_codes(Stream *s, Code *literals, Code *distances)
{
    static const uint8_t order[LENGTH_CODES] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    uint8_t length[LITERALS + 32] = { 0 };
    const int literal_count = 257 + read_bits(s, 5), distance_count = 1 + read_bits(s, 5), count = 4 + read_bits(s, 4);
    for (int i = 0; i < count; i++) length[order[i]] = (uint8_t)read_bits(s, 3);
    if (!build_code(literals, length, LENGTH_CODES)
        || !read_lengths(s, literals, length, literal_count + distance_count))
        return false;
    return literal_count <= LITERALS && build_code(literals, length, literal_count)
           && build_code(distances, length + literal_count, distance_count);
}

bool inflate(Bytes in, uint8_t *out, size_t out_count)
{
    enum { STORED, FIXED, DYNAMIC };
    Stream s = { .in = cursor_new(in.at, in.count), .out = out, .capacity = out_count };
    Code literals, distances;
    for (int is_last = 0; !is_last && !s.bad;) {
        is_last = read_bits(&s, 1);
        switch (read_bits(&s, 2)) {
        case STORED: copy_stored(&s); continue;
        case FIXED: fixed_codes(&literals, &distances); break;
        case DYNAMIC: s.bad = !read_codes(&s, &literals, &distances) || s.bad; break;
        default: s.bad = true;
        }
        if (!s.bad) read_symbols(&s, &literals, &distances);
    }
    return !s.bad && s.written == out_count && !cursor_left(&s.in);
}

uint32_t crc32_more(uint32_t crc, const uint8_t *bytes, size_t count)
{
    /* remainders of the CRC for four bits */
    static const uint32_t of[] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                   0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                   0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ of[crc & 15];
        crc = crc >> 4 ^ of[crc & 15];
    }
    return ~crc;
}
