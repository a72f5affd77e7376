/* SPDX-License-Identifier: MIT */
#ifndef PROTO_MUTATE_H
#define PROTO_MUTATE_H
/* Random changes of an ONNX file that keep it a well-formed protobuf message, so the reader of the wire format accepts
 * them. One field, anywhere in the tree of messages, is changed, doubled, removed or given the content of another one;
 * the lengths of all messages around it are rewritten. */
#include <stddef.h>
#include <stdint.h>

/* New content for a leaf: `count` bytes at `at`, room for `room`; gives the new count. */
typedef size_t ProtoLeaf(uint8_t *at, size_t count, size_t room);

/* Changes the message of `count` bytes at `at`, a buffer of `room` bytes. Returns the new count. If it is no message,
 * or the buffer is too small, the bytes do not change. */
size_t proto_mutate(uint8_t *at, size_t count, size_t room, uint32_t seed, ProtoLeaf *leaf);

/* Sets mark[i] for each byte that is the content of a leaf of `least` bytes or more: weights, mostly. */
void proto_mark_leaves(const uint8_t *at, size_t count, size_t least, uint8_t *mark);

#endif
