/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_NPY_H
#define LW_IMPORT_NPY_H
/* Reads and writes array files in numpy's format:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include <stdbool.h>
#include <stdint.h>

#include "ir/expr/tensor.h"
#include "support/file.h"

/* Reads a file of version 1.0 to 3.0 in either byte order, in C or Fortran order, of type bool, i1..i8, u1..u8, f2, f4
 * or f8. The data is row-major in the host's byte order and arena-allocated in cx. `shape` has MAX_RANK entries.
 * Returns false, with a diagnostic, for other files. */
bool npy_read(Ctx *cx, const char *path, DType *type, int *rank, int64_t *shape, void **data);

/* Writes a file with the bytes of numpy.save: version 1.0, C order, little-endian. BF16, which numpy lacks, is written
 * as f4. */
bool npy_write(Ctx *cx, const char *path, DType type, int rank, const int64_t *shape, const void *data);

/* The contents of a file's header; `begin` is the offset of the elements in the file. */
typedef struct NpyHead {
    DType type;
    bool is_big_endian, is_fortran;
    int rank;
    int64_t shape[MAX_RANK];
    int64_t elems, begin;
} NpyHead;
/* number of bytes at a file's start that are read for the header; numpy's headers are shorter */
enum { NPY_HEAD_BYTES = 4096 };
/* Reads the header from the start of a file of `size` bytes. Requires that exactly the elements follow the header. */
bool npy_head(Ctx *cx, const char *path, Bytes start, uint64_t size, NpyHead *out);
/* Converts `count` stored elements to the host's byte order, without reordering them. `to` may be from.at. */
void npy_elements(const NpyHead *h, Bytes from, int64_t count, void *to);

/* These functions read or write bytes instead of a file; `path` is for diagnostics. */
bool npy_parse(Ctx *cx, const char *path, Bytes file, DType *type, int *rank, int64_t *shape, void **data);
Bytes npy_bytes(Ctx *cx, DType type, int rank, const int64_t *shape, const void *data);
#endif
