/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_NEST_REFUSAL_H
#define LW_IR_NEST_REFUSAL_H
/* A refusal of a nest or a step, and its reason, as a value. Code branches on the verdict, the kind and the operands.
 * The sentence is for people and is printed where the refusal is reported:   VERDICT: FAULT; use ACCEPTED */

/* Decision: a refusal is a value. A refusal has a primitive, operands, a verdict, the kind of the fault and the tensor
 * at fault. Code branches on these fields (`graph/plan/combine.c` lengthens a ring where the kind is `FAULT_RING`); the
 * sentence is printed from them where the refusal is reported. */
#include "ir/expr/tensor.h"

typedef enum Verdict {
    PROVED,
    UNPROVED,                        /* the proof reached a limit */
    WRONG,                           /* a counterexample exists */
    /* The step is not a rewrite of this nest: an operand names nothing, or is not a valid number. */
    INVALID,
    TOO_LARGE,                       /* a fixed limit of the compiler is exceeded; printed as unsupported */
} Verdict;

typedef enum FaultKind {
    FAULT_NAME,                      /* a name that does not exist, or that is already in use */
    FAULT_VALUE,                     /* a number, word or text that the operand does not accept */
    /* An output, an input, an ordered axis, and so on, where a different role is required. */
    FAULT_ROLE,
    FAULT_KIND,                      /* the kind of a loop, or an element type */
    FAULT_NESTING,                     /* a loop or block encloses, or is outside of, a different one */
    FAULT_PIECES,                    /* a stage in several blocks */
    FAULT_ORDER,                     /* a value is read before it is computed, or iterations share an element */
    FAULT_REDUCTION,                 /* the init or order of a reduction */
    FAULT_COVER,                     /* points that no iteration computes, or several iterations compute */
    FAULT_INDEX,                     /* an index without the form or bounds that the proof requires */
    FAULT_EXTENT,                    /* a trip count, or a number of rows */
    FAULT_RING,                      /* a ring buffer has too few slots; `tensor` is the ring's */
    FAULT_STORAGE,                   /* the storage of a tensor, or its lifetime */
    FAULT_TARGET,                    /* a feature that the target lacks */
    FAULT_LIMIT,                     /* a count beyond a fixed limit */
} FaultKind;

typedef struct Refusal {
    Verdict verdict;
    FaultKind kind;
    const Tensor *tensor;            /* the tensor at fault, where the kind names one; otherwise NULL */
    const char *fault, *accepted;    /* the parts of the sentence: a clause, and a noun phrase */
    const char *primitive;           /* the primitive of the refused step; NULL if the nest as a whole is refused */
    const struct StepArgs *operands; /* the operands of the step (schedule/step.h) */
} Refusal;

const char *verdict_text(Verdict v);                               /* returns "wrong", ... */
const char *refusal_sentence(Ctx *cx, const Refusal *r);           /* returns the sentence without the verdict */
/* Reports the refusal as an error at `where`; diag_rewind then returns it as Diag.refusal. */
void refusal_report(Ctx *cx, const char *where, const Refusal *r);
#endif
