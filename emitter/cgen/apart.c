/* SPDX-License-Identifier: MIT */
/* Prints the file of weights, and the C that reads it. The file is a header of 64 bytes, then the constants that the
 * program uses, each at a multiple of the arena's alignment (16, or a vector's bytes), with zeros between them:
 *
 *      0  "LWWEIGHT"                        16  bytes of the file         32  SHA-256 of the bytes after 63
 *      8  version, 2                        20  digest of the structure
 *     12  0x01020304, the order of bytes    28  CRC-32 of the bytes after 63
 *
 * Numbers are little-endian, like the elements. The first 28 bytes name the structure, and the other bytes name the
 * training. model.c contains the first 28: NAME_run compares them, so it refuses the file of another network and
 * accepts the file of the same network with other weights. NAME_check_weights also compares the CRC, which finds a
 * damaged copy. */

/* Decision: the digest of the structure covers all code that reads the weights. The digest is a SHA-256 of the C
 * functions as emitted, of each constant's offset, type and shape, of the ports with their scales, and of the initial
 * state. A retrained network keeps the digest exactly if the emitted code would not change: the digest changes with
 * each scale, table or removed channel that became part of the code. Names that begin with the prefix of the model are
 * hashed without it, so the model's file may have any name. */

/* Decision: weights in a separate file are one table of offsets. `--weights` (`cgen/apart.c`) changes the origin of a
 * constant's address, not the functions, which receive pointers in any case. A file has a header that `kws.c` also
 * holds; `kws_run` compares the two, so no other model's file is read. The file's address is a parameter, after the
 * arena, because emitted C has no mutable globals; bodies of regions pass it on. In program memory of an AVR the
 * parameters and pointers of constants have an address space (`LW_FLASH`); a function that is called with both kinds of
 * memory is refused. */
#include "cgen/apart.h"

#include <string.h>

#include "cgen/control_flow.h"
#include "support/names.h"
#include "support/sha256.h"

enum { VERSION = 2, ORDER = 0x01020304, NIBBLES = 16,
       VERSION_AT = 8, ORDER_AT = 12, BYTES_AT = 16, STRUCTURE_AT = 20, CRC_AT = 28, DIGEST_AT = 32 };

/* Objects of an AVR have 16-bit sizes; near program memory ends at 64 KiB, and also holds the interrupt vectors. */
enum { LARGEST_OBJECT = 32767, NEAR_FLASH = 60000 };

/* ---- The file --------------------------------------------------------------------------------------------------- */

typedef void PutBytes(void *to, const void *bytes, size_t count);

/* Passes the elements to `put` in little-endian order. */
static void put_elements(const Tensor *c, PutBytes *put, void *to)
{
    const uint16_t probe = 1;
    const size_t bytes = (size_t)dtype_info(c->type)->bytes, count = (size_t)tensor_elems(c);
    const uint8_t *at = c->data;
    uint8_t element[8];
    if (*(const uint8_t *)&probe == 1 || bytes == 1) {
        put(to, at, bytes * count);
        return;
    }
    for (size_t i = 0; i < count; i++, at += bytes) {
        for (size_t k = 0; k < bytes; k++) element[k] = at[bytes - 1 - k];
        put(to, element, bytes);
    }
}

/* Passes all bytes after the header to `put`. */
static void put_constants(const Program *p, PutBytes *put, void *to)
{
    static const uint8_t zeros[WEIGHTS_HEADER] = { 0 };        /* the largest alignment, in bytes */
    int64_t at = WEIGHTS_HEADER;
    for (int i = 0; i < p->constant_count; i++) {
        if (p->weights.at[i] < 0) continue;
        put(to, zeros, (size_t)(p->weights.at[i] - at));
        put_elements(p->constant[i], put, to);
        at = p->weights.at[i] + tensor_bytes(p->constant[i]);
    }
    put(to, zeros, (size_t)(p->weights.bytes - at));
}

typedef struct Sums { Sha256 sha; uint32_t crc, table[256]; } Sums;

/* CRC-32 of IEEE 802.3: polynomial 0xedb88320, bits reflected. */
static void crc_table(uint32_t *table, int count, int bits)
{
    for (int i = 0; i < count; i++) {
        table[i] = (uint32_t)i;
        for (int k = 0; k < bits; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
}

static void add_to_sums(void *to, const void *bytes, size_t count)
{
    Sums *s = to;
    const uint8_t *at = bytes;
    sha256_add(&s->sha, bytes, count);
    for (size_t i = 0; i < count; i++) s->crc = s->table[(s->crc ^ at[i]) & 255] ^ s->crc >> 8;
}

static void store_word(uint8_t *to, uint32_t word)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(word >> 8 * i);
}

/* ---- The structure ----------------------------------------------------------------------------------------------- */

/* Returns the number of bytes of the prefix if the word begins with it and an underscore, and 0 otherwise. */
static size_t prefix_bytes(const char *word, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncmp(word, prefix, n) == 0 && word[n] == '_' ? n : 0;
}

/* Returns the length of a comment or of white space. */
static size_t blank_bytes(const char *at)
{
    if (at[0] == '/' && at[1] == '*') return (size_t)(strstr(at, "*/") + 2 - at);
    return strspn(at, " \n");
}

/* Returns the length of a token: a string (its text may look like a comment), a word, or a single character. */
static size_t token_bytes(const char *at)
{
    size_t n = *at == '"';
    while (n && at[n] && at[n] != '"') n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    if (n) return n + (at[n] != 0);
    while (name_is_word(at[n])) n++;
    return n ? n : 1;
}

/* Adds the tokens of C text, with the names of the model without their prefix. */
static void add_code(Ctx *cx, Sha256 *s, const Program *p, const char *at)
{
    const char *upper = name_upper(cx, p->name);
    while (*at) {
        const size_t blank = blank_bytes(at);
        size_t n = blank ? 0 : prefix_bytes(at, p->name);
        at += blank ? blank : n ? n : prefix_bytes(at, upper);
        if (blank) continue;
        n = token_bytes(at);
        sha256_add(s, at, n);
        sha256_add(s, " ", 1);
        at += n;
    }
}

static void add_tensor(Ctx *cx, Text *t, const char *what, const Tensor *x, int64_t at)
{
    text_printf(t, "%s %s%s %lld\n", what, dtype_info(x->type)->spelling, tensor_shape_names(cx, x), (long long)at);
}

static void add_ports(Ctx *cx, Text *t, const Port *port, int count)
{
    for (int i = 0; i < count; i++) {
        const Quant *q = port[i].tensor->quant;
        add_tensor(cx, t, port[i].name, port[i].tensor, 0);
        for (int k = 0; q && k < q->count; k++)
            text_printf(t, "%a %ld\n", (double)q->scale[k], (long)q->zero_point[k]);
    }
}

/* Adds the types and shapes of the memory that functions receive: constants, ports and state. */
static void add_memory(Ctx *cx, Sha256 *s, const Program *p)
{
    Text t = text_new(cx);
    for (int i = 0; i < p->constant_count; i++)
        if (p->weights.at[i] >= 0) add_tensor(cx, &t, "constant", p->constant[i], p->weights.at[i]);
    add_ports(cx, &t, p->input, p->input_count);
    add_ports(cx, &t, p->output, p->output_count);
    sha256_add(s, text_string(&t), t.length);
    for (int i = 0; i < p->state_count; i++)
        if (p->state[i].initial)
            sha256_add(s, p->state[i].initial->data, (size_t)tensor_bytes(p->state[i].initial));
}

static void add_structure(Ctx *cx, const Program *p, const char *code, uint8_t *header)
{
    Sha256 s = sha256_new();
    uint8_t digest[SHA256_BYTES];
    add_memory(cx, &s, p);
    add_code(cx, &s, p, code);
    sha256_end(&s, digest);
    memcpy(header + STRUCTURE_AT, digest, CRC_AT - STRUCTURE_AT);
}

static const uint8_t *header_of(Ctx *cx, const Program *p, const char *code)
{
    uint8_t *h = NEW_ARRAY(cx->arena, uint8_t, WEIGHTS_HEADER);
    Sums s = { .sha = sha256_new(), .crc = 0xffffffffu };
    crc_table(s.table, 256, 8);
    put_constants(p, add_to_sums, &s);
    memcpy(h, "LWWEIGHT", VERSION_AT);
    store_word(h + VERSION_AT, VERSION);
    store_word(h + ORDER_AT, ORDER);
    store_word(h + BYTES_AT, (uint32_t)p->weights.bytes);
    store_word(h + CRC_AT, ~s.crc);
    sha256_end(&s.sha, h + DIGEST_AT);
    add_structure(cx, p, code, h);
    return h;
}

static int64_t aligned(const Program *p, int64_t bytes)
{
    return (bytes + p->arena_align - 1) / p->arena_align * p->arena_align;
}

void cgen_place_weights(Ctx *cx, Program *p, const char *file)
{
    int64_t *at = NEW_ARRAY(cx->arena, int64_t, p->constant_count), bytes = WEIGHTS_HEADER;
    for (int i = 0; i < p->constant_count; i++) {
        at[i] = program_reads(p, i) ? bytes : -1;
        if (at[i] >= 0) bytes = aligned(p, bytes + tensor_bytes(p->constant[i]));
    }
    p->weights.file = file;
    p->weights.at = at;
    p->weights.bytes = bytes;
}

void cgen_seal_weights(Ctx *cx, Program *p, const char *code) { p->weights.header = header_of(cx, p, code); }

/* Lets the callback of file_write_all, which receives characters, receive bytes. */
typedef struct Out { TextPut *put; void *to; } Out;

static void put_bytes(void *to, const void *bytes, size_t count)
{
    const Out *out = to;
    if (count) out->put(out->to, bytes, count);
}

void cgen_print_weights(Ctx *cx, const void *program, TextPut *put, void *to)
{
    const Program *p = program;
    Out out = { put, to };
    (void)cx;
    put_bytes(&out, p->weights.header, WEIGHTS_HEADER);
    put_constants(p, put_bytes, &out);
}

/* ---- Addresses of constants -------------------------------------------------------------------------------------- */

static const char *base_of(Ctx *cx, const Program *p)
{
    return p->weights.kind == WEIGHTS_CALLER ? "weights" : text_format(cx, "%s_weights", p->name);
}

const char *file_constant(Ctx *cx, const Program *p, int constant, int64_t offset, DType type)
{
    const long long at = (long long)(p->weights.at[constant] + offset);
    const DTypeInfo *info = dtype_info(type);
    const char *base = text_format(cx, "%s + %lld", base_of(cx, p), at);
    if (strcmp(info->c_type, "uint8_t") == 0) return base;
    return text_format(cx, info->bytes == 1 ? "(const %s *)(%s)" : "(const %s *)(const void *)(%s)", info->c_type,
                       base);
}

const char *flash_word(const Program *p)
{
    return p->weights.kind != WEIGHTS_FLASH ? "" : p->weights.is_far ? "LW_FAR_FLASH " : "LW_FLASH ";
}

void section_attribute(Text *t, const char *section)
{
    if (section) text_printf(t, "LW_SECTION(\"%s\") ", section);
}

bool memory_is_constant(const Memory *m)
{
    const Memory *base = memory_base(m);
    return base->kind == MEMORY_INPUT && base->tensor && tensor_is_constant(base->tensor);
}

/* Returns true if the function passes a constant's address to a C function or an instruction, which do not read program
 * memory. */
static bool hands_on_constants(const Code *c)
{
    for (int i = 0; c->kind == CODE_CALL && i < c->arg_count; i++) {
        const Expr *load = c->args[i]->kind == EXPR_AT ? c->args[i]->arg[0] : NULL;
        const Memory *m = load ? load->ref : NULL;
        if (m && memory_is_constant(m)) return true;
    }
    for (int i = 0; i < c->child_count; i++)
        if (hands_on_constants(c->child[i])) return true;
    return false;
}

void cgen_check_flash(Ctx *cx, Program *p)
{
    int64_t bytes = 0;
    for (int i = 0; i < p->constant_count; i++) {
        const int64_t one = tensor_bytes(p->constant[i]);
        if (!program_reads(p, i)) continue;
        if (one > LARGEST_OBJECT)
            diag_unsupported(cx, p->constant_name[i],
                             "the constant has %lld bytes, but the largest object of an AVR has %d; use --weights c, "
                             "or a smaller constant", (long long)one, LARGEST_OBJECT);
        bytes += one;
    }
    p->weights.is_far = bytes > NEAR_FLASH;
    for (int i = 0; i < p->function_count; i++)
        if (p->function[i]->body && hands_on_constants(p->function[i]->body))
            diag_unsupported(cx, p->function[i]->name,
                             "an instruction or a C function reads constants, which --weights progmem places outside "
                             "data memory; use a target without such instructions, such as generic");
}

/* ---- model.h and model.c ----------------------------------------------------------------------------------------- */

void file_macros(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_printf(t, "#define %s_WEIGHTS_FILE_SIZE %lldu     /* bytes of %s */\n", p->prefix, (long long)p->weights.bytes,
                p->weights.file);
    text_printf(t, "#define %s_WEIGHTS_ALIGN %lldu\n", p->prefix, (long long)p->arena_align);
}

void file_declare_check(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    const bool is_given = p->weights.kind == WEIGHTS_CALLER;
    text_printf(t, "\n/* Returns 0 if %s %s, complete and undamaged: header, size and CRC-32. Else %s_E_WEIGHTS. */\n",
                is_given ? "the memory holds" : "the included file is", p->weights.file, p->prefix);
    text_printf(t, "int %s_check_weights(%s);\n\n", p->name,
                is_given ? "const uint8_t *weights, uint32_t bytes" : "void");
}

static void byte_rows(Text *t, const uint8_t *bytes, int count)
{
    enum { PER_LINE = 16 };
    for (int i = 0; i < count; i++)
        text_printf(t, "%s0x%02x,%s", i % PER_LINE ? " " : "    ", (unsigned)bytes[i], (i + 1) % PER_LINE ? "" : "\n");
}

/* Prints an array that includes the file: with #embed if the compiler supports C23, otherwise with the assembler. */
static void included_file(Text *t, const Program *p)
{
    text_printf(t, "#ifndef %s_WEIGHTS_FILE\n#define %s_WEIGHTS_FILE \"%s\"     /* its path, for #embed or .incbin */\n"
                   "#endif\n", p->prefix, p->prefix, p->weights.file);
    text_add(t, "#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L && defined(__has_embed)\n");
    text_printf(t, "static const LW_ALIGN(%lld) uint8_t %s_weights[] = {\n#embed %s_WEIGHTS_FILE\n};\n",
                (long long)p->arena_align, p->name, p->prefix);
    text_printf(t, "#else\nLW_INCBIN(%s_weights, %s_WEIGHTS_FILE)\n#endif\n\n", p->name, p->prefix);
}

static void crc_function(Text *t, const Program *p)
{
    uint32_t table[NIBBLES];
    crc_table(table, NIBBLES, 4);
    text_printf(t, "/* CRC-32 of IEEE 802.3, four bits at a time. */\n"
                   "static uint32_t %s_crc32(const uint8_t *at, uint32_t bytes)\n{\n"
                   "    static const uint32_t table[16] = {", p->name);
    for (int i = 0; i < NIBBLES; i++)
        text_printf(t, "%s0x%08lxu,", i % 8 ? " " : "\n        ", (unsigned long)table[i]);
    text_add(t, "\n    };\n    uint32_t crc = 0xffffffffu;\n    for (uint32_t i = 0; i < bytes; i++) {\n"
                "        crc = table[(crc ^ at[i]) & 15u] ^ crc >> 4;\n"
                "        crc = table[(crc ^ (uint32_t)at[i] >> 4) & 15u] ^ crc >> 4;\n    }\n"
                "    return crc ^ 0xffffffffu;\n}\n\n");
}

void file_functions(Ctx *cx, Text *t, const Program *p)
{
    const bool is_given = p->weights.kind == WEIGHTS_CALLER;
    const char *base = base_of(cx, p);
    const uint8_t *h = p->weights.header;
    text_add(t, "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
                "#error \"the file of weights is little-endian: emit with --weights c\"\n#endif\n\n");
    text_printf(t, "/* The first bytes of %s: \"LWWEIGHT\", version, order of bytes, size, structure. */\n",
                p->weights.file);
    text_printf(t, "static const uint8_t %s_weights_header[%d] = {\n", p->name, CRC_AT);
    byte_rows(t, h, CRC_AT);
    text_add(t, "\n};\n\n");
    if (!is_given) included_file(t, p);
    crc_function(t, p);
    text_printf(t, "int %s_check_weights(%s)\n{\n", p->name,
                is_given ? "const uint8_t *weights, uint32_t bytes" : "void");
    if (is_given)
        text_printf(t, "    if (bytes < %s_WEIGHTS_FILE_SIZE) return %s_E_WEIGHTS;\n", p->prefix, p->prefix);
    file_check_in_run(cx, t, p);
    text_printf(t, "    uint32_t expected = 0;\n"
                   "    for (int i = 3; i >= 0; i--) expected = expected << 8 | %s[%d + i];\n", base, CRC_AT);
    text_printf(t, "    const uint32_t crc = %s_crc32(%s + %d, %s_WEIGHTS_FILE_SIZE - %d);\n", p->name, base,
                WEIGHTS_HEADER, p->prefix, WEIGHTS_HEADER);
    text_printf(t, "    return crc == expected ? 0 : %s_E_WEIGHTS;\n}\n\n", p->prefix);
}

void file_check_in_run(Ctx *cx, Text *t, const Program *p)
{
    if (p->weights.kind == WEIGHTS_CALLER)
        text_printf(t, "    if (weights == NULL || (uintptr_t)weights %% %s_WEIGHTS_ALIGN != 0) return %s_E_WEIGHTS;\n",
                    p->prefix, p->prefix);
    text_printf(t, "    if (memcmp(%s, %s_weights_header, sizeof %s_weights_header) != 0) return %s_E_WEIGHTS;\n",
                base_of(cx, p), p->name, p->name, p->prefix);
}
