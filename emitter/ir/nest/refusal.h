/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_CHECK_REFUSAL_H
#define LW_IR_CHECK_REFUSAL_H
/* Why a nest or a step is refused, as a value. Code branches on the verdict, the kind and the operands; the sentence is
 * for people and is printed at the edge:   VERDICT: FAULT; use ACCEPTED */

/* Decision: a refusal is a value. It has a primitive, operands, a verdict, the kind of the fault and the tensor at
 * fault. Code branches on these fields (`graph/plan/combine.c` lengthens a ring where the kind is `FAULT_RING`); the
 * sentence is printed from them where the refusal is reported. */
#include "ir/expr/tensor.h"

typedef enum Verdict {
    PROVED,
    UNPROVED,                        /* a limit of the proof */
    WRONG,                           /* a counterexample exists */
    INVALID,                         /* no rewrite of this nest: an operand names nothing, or is not a valid number */
    TOO_LARGE,                       /* printed as unsupported: a fixed limit of the compiler is exceeded */
} Verdict;

typedef enum FaultKind {
    FAULT_NAME,                      /* a name that nothing has, or that is taken */
    FAULT_VALUE,                     /* a number, word or text that the operand does not accept */
    FAULT_ROLE,                      /* an output, an input, an ordered axis, ... where another role is required */
    FAULT_KIND,                      /* of a loop, or an element type */
    FAULT_NESTING,                     /* a loop or block encloses, or is outside of, another */
    FAULT_PIECES,                    /* a stage in several blocks */
    FAULT_ORDER,                     /* a value is read before it is computed, or iterations share an element */
    FAULT_REDUCTION,                 /* the init or order of a reduction */
    FAULT_COVER,                     /* points that no iteration computes, or several do */
    FAULT_INDEX,                     /* an index without the form or bounds that the proof requires */
    FAULT_EXTENT,                    /* a trip count, or a number of rows */
    FAULT_RING,                      /* a ring buffer with too few slots; the tensor is the ring's */
    FAULT_STORAGE,                   /* the storage of a tensor, and its lifetime */
    FAULT_TARGET,                    /* a feature that the target lacks */
    FAULT_LIMIT,                     /* a count beyond a fixed limit */
} FaultKind;

typedef struct Refusal {
    Verdict verdict;
    FaultKind kind;
    const Tensor *tensor;            /* at fault, where the kind names one; else NULL */
    const char *fault, *accepted;    /* the sentence: a clause, and a noun phrase */
    const char *primitive;           /* of the refused step; NULL: the nest as a whole is refused */
    const struct StepArgs *operands; /* of the step (schedule/step.h) */
} Refusal;

const char *verdict_text(Verdict v);                               /* "wrong", ... */
const char *refusal_sentence(Ctx *cx, const Refusal *r);           /* without the verdict */
/* Reports it as an error at `where`; diag_rewind then gives it back as Diag.refusal. */
void refusal_report(Ctx *cx, const char *where, const Refusal *r);
#endif
