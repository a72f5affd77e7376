/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_FEATURES_H
#define LW_CGEN_FEATURES_H
/* What options, and properties of the model, add to the emitted files. Each feature has a row with the symbols that it
 * uses and the text that it prints in each part of the files. The files of the features print the text; program.c asks
 * for the parts. */
#include "cgen/cgen.h"

typedef enum FeaturePart {
    FEATURE_ROWS,                      /* model.h: lines of the first comment */
    FEATURE_MACROS,                    /* the place after the macros of memory sizes */
    FEATURE_DECLARED,                  /* the place between the ports and NAME_run */
    FEATURE_DECLARED_AFTER,            /* the place after NAME_run */
    FEATURE_CONSTANTS,                 /* model.c: the place after the constants */
    FEATURE_DEFINED,                   /* the place before the functions that run graphs */
    FEATURE_PARTS
} FeaturePart;

/* Prints that part of each feature that the program has. `prefix` is the program's name in upper case. */
void features_print(Ctx *cx, Text *t, const Program *p, const char *prefix, FeaturePart part);
/* Prints the macros of the codes that NAME_run may return. */
void error_codes(Text *t, const Program *p, const char *prefix);
#endif
