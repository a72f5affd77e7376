/* SPDX-License-Identifier: MIT */
/* libFuzzer: .npz files, and the same bytes as a deflated stream. `make fuzz-npz`. */
#include "context/context.h"
#include "import/formats/npy.h"
#include "import/formats/zip.h"
#include "import/formats/inflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    enum { MOST = 1 << 16 };
    Ctx *cx = context_new(NULL, NULL);
    const Bytes file = { arena_copy(cx->arena, bytes, count), count };
    Zip z;
    inflate(file, arena_alloc(cx->arena, MOST), MOST);
    for (int i = 0; zip_open(cx, "fuzz.npz", file, &z) && i < z.count && i < 8; i++) {
        DType t;
        int rank;
        int64_t shape[MAX_RANK];
        void *data;
        Bytes entry;
        if (zip_read(cx, &z, &z.entry[i], MOST, &entry)) npy_parse(cx, "fuzz.npy", entry, &t, &rank, shape, &data);
    }
    ctx_free(cx);
    return 0;
}
