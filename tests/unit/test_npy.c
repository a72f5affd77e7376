/* SPDX-License-Identifier: MIT */
/* .npy files: bytes as numpy writes them, every type and order read, damaged files refused with a sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "import/formats/npy.h"

static char path[4096];   /* in the program's folder */

static void put_file(const void *bytes, size_t count)
{
    FILE *f = fopen(path, "wb");
    if (!f) return;
    fwrite(bytes, 1, count, f);
    fclose(f);
}

static size_t get_file(uint8_t *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(bytes, 1, room, f) : 0;
    if (f) fclose(f);
    return n;
}

/* A file with this header, padded by one newline only, and these elements. */
static void put_array(int version, const char *header, const void *elements, size_t count)
{
    uint8_t file[1024] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0 };
    const size_t length = strlen(header) + 1;
    size_t at = version == 1 ? 10 : 12;
    file[8] = (uint8_t)length;
    file[9] = (uint8_t)(length >> 8);
    memcpy(file + at, header, length - 1);
    file[at + length - 1] = '\n';
    at += length;
    memcpy(file + at, elements, count);
    put_file(file, at + count);
}

typedef struct Array { Ctx *cx; bool is_read; DType type; int rank; int64_t shape[MAX_RANK]; void *data; } Array;

static Array read_back(void)
{
    Array a = { .cx = context_new(NULL, NULL), .rank = -1 };
    a.is_read = npy_read(a.cx, path, &a.type, &a.rank, a.shape, &a.data);
    return a;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* 118 bytes of header, as numpy.save writes them: 10 before, 128 in total, the last a newline. */
static void check_bytes(const char *name, DType type, int rank, const int64_t *shape, const void *data,
                        const char *start, size_t data_bytes)
{
    Ctx *cx = context_new(NULL, NULL);
    uint8_t got[512], wanted[512];
    memset(wanted, ' ', sizeof wanted);
    memcpy(wanted, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(wanted + 10, start, strlen(start));
    wanted[127] = '\n';
    memcpy(wanted + 128, data, data_bytes);
    CHECK(check_label(name, "as-numpy-writes"), npy_write(cx, path, type, rank, shape, data)
                                                    && get_file(got, sizeof got) == 128 + data_bytes
                                                    && memcmp(got, wanted, 128 + data_bytes) == 0);
    ctx_free(cx);
}

static void test_writing(void)
{
    const float f[] = { 0, 1, 2 };
    const double d[] = { 2.5 };
    const int8_t i[16] = { -1, 2 };
    const uint8_t b[] = { 1, 0 };
    const uint16_t half[] = { 0x3c00, 0xbc00 }, bf16[] = { 0x3f80, 0xc000 };
    const float wide[] = { 1, -2 };
    check_bytes("write-f4", F32, 1, (int64_t[]){ 3 }, f, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                sizeof f);
    check_bytes("write-scalar", F64, 0, NULL, d, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", sizeof d);
    check_bytes("write-i1", I8, 3, (int64_t[]){ 2, 2, 4 }, i,
                "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2, 4), }", sizeof i);
    check_bytes("write-bool", BOOL, 1, (int64_t[]){ 2 }, b, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }",
                sizeof b);
    check_bytes("write-f2", F16, 1, (int64_t[]){ 2 }, half, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }",
                sizeof half);
    Ctx *cx = context_new(NULL, NULL);
    npy_write(cx, path, BF16, 1, (int64_t[]){ 2 }, bf16);
    Array a = read_back();
    CHECK("write-bf16-as-f4", a.is_read && a.type == F32 && memcmp(a.data, wide, sizeof wide) == 0);
    ctx_free(a.cx);
    ctx_free(cx);
}

static void test_round_trip(void)
{
    for (int t = 0; t < DTYPE_COUNT; t++) {
        uint8_t data[6 * 8];
        if (t == BF16) continue;
        for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(t == BOOL ? i % 2 : 37 * i + 11);
        Ctx *cx = context_new(NULL, NULL);
        const bool is_written = npy_write(cx, path, (DType)t, 2, (int64_t[]){ 2, 3 }, data);
        Array a = read_back();
        const bool same = is_written && a.is_read && a.type == (DType)t && a.rank == 2 && a.shape[0] == 2
                          && a.shape[1] == 3 && memcmp(a.data, data, 6 * (size_t)dtype_info((DType)t)->bytes) == 0;
        check_that(same, "round-trip", "type %s", dtype_info((DType)t)->spelling);
        ctx_free(a.cx);
        ctx_free(cx);
    }
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void test_orders(void)
{
    const uint8_t big[] = { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 255, 255 };
    put_array(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (6,), }", big, sizeof big);
    Array a = read_back();
    const int16_t *v = a.data;
    CHECK("read-big-endian", a.is_read && a.type == I16 && v[0] == 1 && v[4] == 5 && v[5] == -1);
    ctx_free(a.cx);

    put_array(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", big, sizeof big);
    a = read_back();
    v = a.data;   /* columns 1 2 | 3 4 | 5 -1 */
    CHECK("read-fortran", a.is_read && v[0] == 1 && v[1] == 3 && v[2] == 5 && v[3] == 2 && v[4] == 4 && v[5] == -1);
    ctx_free(a.cx);

    put_array(2, "{'shape':(2,3),'fortran_order':False,\"descr\":\"|u1\"}", big, 6);
    a = read_back();
    CHECK("read-version-2-other-spelling", a.is_read && a.type == U8 && a.rank == 2 && ((uint8_t *)a.data)[3] == 2);
    ctx_free(a.cx);

    put_array(3, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }", big, 0);
    a = read_back();
    CHECK("read-empty", a.is_read && a.rank == 2 && a.shape[0] == 0 && a.shape[1] == 7);
    ctx_free(a.cx);
}

typedef struct BadHeader { const char *name, *header, *said; } BadHeader;

static const BadHeader bad_headers[] = {
    { "bad-type",        "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
      "the type '<c8' is unsupported; use b1, i1, " },
    { "bad-object",      "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
      "the type '|O' is unsupported; use b1, i1, " },
    { "bad-struct",      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
      "'descr' is not a simple type" },
    { "bad-long-type",   "{'descr': '<f4444444444444444444', 'fortran_order': False, 'shape': (1,), }",
      "'descr' is not a simple type" },
    { "bad-order",       "{'descr': '<f4', 'fortran_order': Perhaps, 'shape': (1,), }", "neither True nor False" },
    { "bad-negative",    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
      "dimension 0 is not a number below 2^31" },
    { "bad-large",       "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
      "dimension 0 is not a number below 2^31" },
    { "bad-product",     "{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536), }",
      "2^31 elements or more" },
    { "bad-rank",        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,), }",
      "more than 8 dimensions" },
    { "bad-too-many",    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }",
      "needs 4000000 bytes but 4 follow" },
    { "bad-too-few",     "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", "needs 3 bytes but 4 follow" },
    { "bad-missing",     "{'descr': '<f4', 'fortran_order': False, }", "its header lacks 'shape'" },
    { "bad-key",         "{'descr': '<f4', 'colour': 'red', }", "unknown or repeated key 'colour'" },
    { "bad-twice",       "{'shape': (1,), 'shape': (1,)}", "unknown or repeated key 'shape'" },
    { "bad-unclosed",    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
      "dimension 1 is not a number below 2^31" },
    { "bad-no-dict",     "hello", "not a dictionary" },
    { "bad-empty",       "", "not a dictionary" },
};

static void test_bad_headers(void)
{
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        const BadHeader *b = &bad_headers[i];
        put_array(1, b->header, "\0\0\0\0", 4);
        Array a = read_back();
        const char *said = a.cx->diags ? diag_text(a.cx, a.cx->diags) : "nothing";
        check_that(!a.is_read && strstr(said, b->said) != NULL, check_label(b->name, "is-refused"), "%s", said);
        ctx_free(a.cx);
    }
    Ctx *cx = context_new(NULL, NULL);
    Array a;
    CHECK("no-file", !npy_read(cx, "/nonexistent/x.npy", &a.type, &a.rank, a.shape, &a.data) && ctx_failed(cx));
    ctx_free(cx);
}

/* Every proper beginning of a good file is refused; every byte changed to anything is read or refused. */
static void test_damage(void)
{
    uint8_t good[256], damaged[256];
    const int32_t data[] = { 1, 2, 3, 4, 5, 6 };
    Ctx *cx = context_new(NULL, NULL);
    npy_write(cx, path, I32, 2, (int64_t[]){ 2, 3 }, data);
    const size_t count = get_file(good, sizeof good);
    ctx_free(cx);
    bool all_refused = true, all_end = true;
    for (size_t n = 0; n < count; n++) {
        put_file(good, n);
        Array a = read_back();
        all_refused = all_refused && !a.is_read && ctx_failed(a.cx);
        ctx_free(a.cx);
    }
    CHECK("truncations-refused", count == 128 + sizeof data && all_refused);
    for (size_t i = 0; i < 80; i++)
        for (int v = 0; v < 256; v += 5) {
            memcpy(damaged, good, count);
            damaged[i] = (uint8_t)v;
            put_file(damaged, count);
            Array a = read_back();
            all_end = all_end && a.is_read != ctx_failed(a.cx);
            ctx_free(a.cx);
        }
    CHECK("damaged-bytes-end-well", all_end);
}

int main(int argc, char **argv)
{
    (void)argc;
    snprintf(path, sizeof path, "%s.tmp.npy", argv[0]);
    CHECK_RUN(test_writing, test_round_trip, test_orders, test_bad_headers, test_damage);
    remove(path);
    return check_done();
}
