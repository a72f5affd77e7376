/* SPDX-License-Identifier: MIT */
/* libFuzzer: TFLite files. One change in four is to plain bytes, the others are to numbers. `make fuzz-tflite`. */
#include "flat_mutate.h"
#include "import/tflite/tflite.h"
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerMutate(uint8_t *at, size_t count, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *at, size_t count, size_t room, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    whole_way("fuzz.tflite", bytes, count, tflite_read);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *at, size_t count, size_t room, unsigned seed)
{
    if (seed % 4 == 0) return LLVMFuzzerMutate(at, count, room);
    for (unsigned i = 0; i <= seed / 4 % 3; i++) flat_mutate(at, count, seed + i);
    return count;
}
