/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_ACSL_H
#define LW_CGEN_ACSL_H
/* Prints annotations as comments in ACSL, the specification language of Frama-C (ir/nest/annotation.h). */
#include "cgen/spell.h"

/* Prints the contract above a function. The parameters have names. */
void acsl_contract(Text *t, const Speller *s, const Function *f);
/* Prints the annotation of a loop on lines of its own, indented by `spaces`, and then that indentation. */
void acsl_loop(Text *t, const Speller *s, const Function *f, int loop, int spaces);
/* Prints what holds before a store, like acsl_loop. */
void acsl_store(Text *t, Speller *s, const Function *f, const Code *store, int spaces);
/* Prints the predicate and the lemma that the annotations of the functions use, if they do. */
void acsl_lemmas(Text *t, const Function *const *function, int count);
#endif
