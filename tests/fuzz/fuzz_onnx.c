/* SPDX-License-Identifier: MIT */
/* libFuzzer: ONNX files. One change in eight is to plain bytes, the others are to fields. `make fuzz-onnx`. */
#include "import/onnx/onnx.h"
#include "proto_mutate.h"
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerMutate(uint8_t *at, size_t count, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *at, size_t count, size_t room, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    whole_way("fuzz.onnx", bytes, count, onnx_read);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *at, size_t count, size_t room, unsigned seed)
{
    return seed % 8 ? proto_mutate(at, count, room, seed, LLVMFuzzerMutate) : LLVMFuzzerMutate(at, count, room);
}
