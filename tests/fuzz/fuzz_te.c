/* SPDX-License-Identifier: MIT */
/* libFuzzer: .te files, their formulas, calls and schedules. `make fuzz-te`. */
#include "import/te/te.h"
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static bool read_te(Ctx *cx, const char *path, Bytes file, const ImportOptions *o, Model *out)
{
    return te_read(cx, path, (const char *)file.at, o, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    whole_way("fuzz.te", bytes, count, read_te);
    return 0;
}
