/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_EXTERNAL_H
#define LW_IR_NEST_EXTERNAL_H
/* An external call is a call of a C function from outside, which replaces a statement of the nest. The statement
 * defines the values: the interpreter and the checker read it, and only emission replaces it.
 *
 *   cblas_sgemm(101, 111, 111, dim(x, 0), dim(w, 1), dim(x, 1), 1.0, x, dim(x, 1), w, dim(w, 1), 0.0, y, dim(y, 1))
 *
 * An argument is
 *
 *   T                  the address of a row-major tensor: an input, or the output of a stage
 *   dim(T, N)          the size of dimension N
 *   first(T, N)        the first index of dimension N, 0 outside all loops
 *   a number           any expression over sizes, numbers and dim(T, N), of type i32, i64, f32 or f64
 *   stride(T, N)       elements from one index of dimension N to the next, where T is stored
 *   workspace(BYTES)   the address of scratch memory of the arena
 *
 * The function may be a macro of the runtime headers, whose last argument counts its points, for estimates.
 *
 * Inside loops, a call gets the part of each tensor that its statement computes or reads in one iteration
 * (ir/check/external_view.h): T is the address of the first element of the part, and dim(T, N) the part's size.
 *
 * A call may state the strides of a tensor in all dimensions except the last. The call then accepts a tensor whose rows
 * are apart. */

/* Decision: an external call keeps its statement. The step `external` turns the statements of a stage into a unit
 * that is emitted as a call of a C function (`ir/nest/external.h`). The statement remains the definition: the
 * interpreter runs it, and the checker proves after every later step that only the call's arguments cross the unit's
 * boundary, in row-major storage (`ir/check/check_external.c`). The loops below it are not emitted, so steps on them
 * are refused. The plan gives its tensors no strided views, and no output the memory of an input unless the step says
 * `in_place`. */
#include "ir/nest/nest.h"

typedef enum ExternalArgKind { EXTERNAL_TENSOR, EXTERNAL_VALUE, EXTERNAL_STRIDE, EXTERNAL_WORKSPACE, EXTERNAL_DIM,
                               EXTERNAL_FIRST } ExternalArgKind;
typedef struct ExternalArg {
    ExternalArgKind kind;
    const Tensor *tensor;              /* TENSOR, STRIDE, DIM, FIRST: the tensor */
    int dimension;                     /* STRIDE, DIM, FIRST: the dimension */
    bool uses_dims;                    /* VALUE: true if the text of the expression has dim(T, N) */
    bool is_written;                   /* TENSOR: true if the call computes the tensor */
    const Expr *value;                 /* VALUE: the expression; WORKSPACE: the bytes */
} ExternalArg;

enum { MAX_EXTERNAL_ARGS = 64 };
typedef struct External {
    const char *function;
    bool has_status;                   /* true if the function returns int; a value other than 0 ends the run */
    /* True if an output may be the array of an input that is read at the same element only. */
    bool in_place;
    int arg_count; ExternalArg arg[MAX_EXTERNAL_ARGS];
} External;

/* Returns true for a macro of the runtime headers, which has no prototype. */
bool external_is_macro(const char *function);
/* Replaces dim(T, N) and first(T, N) by the numbers of whole tensors, for a call outside all loops. */
void external_of_whole_tensors(Ctx *cx, External *e);
/* Marks the tensors that the statement computes. */
void external_mark_written(External *e, const Stmt *meaning);
bool external_takes(const External *e, const Tensor *t);
/* Returns true if the call states the tensor's strides and a dimension other than the last has more than one
 * element. */
bool external_knows_strides(const External *e, const Tensor *t);
/* Returns the external call around or at the statement's blocks of this stage, or NULL. */
const External *external_of_stage(const Stmt *root, const Stage *s);
#endif
