/* SPDX-License-Identifier: MIT */
/* libFuzzer: .npy files. An accepted file is written and read again: the result must be equal. `make fuzz-npy`. */
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "import/formats/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

typedef struct Array { DType type; int rank; int64_t shape[MAX_RANK]; void *data; } Array;

static size_t bytes_of(const Array *a)
{
    size_t n = (size_t)dtype_info(a->type)->bytes;
    for (int d = 0; d < a->rank; d++) n *= (size_t)a->shape[d];
    return n;
}

static void same_when_written(Ctx *cx, const Array *a)
{
    Array b = { .rank = 0 };
    Bytes file = npy_bytes(cx, a->type, a->rank, a->shape, a->data);
    if (!npy_parse(cx, "again.npy", file, &b.type, &b.rank, b.shape, &b.data) || a->type != b.type || a->rank != b.rank
        || memcmp(a->shape, b.shape, (size_t)a->rank * sizeof *a->shape) != 0
        || memcmp(a->data, b.data, bytes_of(a)) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    Ctx *cx = context_new(NULL, NULL);
    Array a = { .rank = 0 };
    const uint8_t *copy = arena_copy(cx->arena, bytes, count);
    if (npy_parse(cx, "fuzz.npy", (Bytes){ copy, count }, &a.type, &a.rank, a.shape, &a.data))
        same_when_written(cx, &a);
    ctx_free(cx);
    return 0;
}
