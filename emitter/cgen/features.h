/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_FEATURES_H
#define LW_CGEN_FEATURES_H
/* A feature is an option, or a property of the model, that adds text to the emitted files. Each feature has a row with
 * the symbols that it uses and the text that it prints in each part of the files. The files of the features print the
 * text; program.c asks for the parts. */
#include "cgen/cgen.h"

typedef enum FeaturePart {
    FEATURE_ROWS,                      /* model.h: lines of the first comment */
    FEATURE_MACROS,                    /* model.h: after the macros of memory sizes */
    FEATURE_DECLARED,                  /* model.h: between the ports and NAME_run */
    FEATURE_DECLARED_AFTER,            /* model.h: after NAME_run */
    FEATURE_CONSTANTS,                 /* model.c: after the constants */
    FEATURE_DEFINED,                   /* model.c: before the functions that run graphs */
    FEATURE_PARTS
} FeaturePart;

/* Prints one part of each feature of the program. `prefix` is the program's name in upper case. */
void features_print(Ctx *cx, Text *t, const Program *p, const char *prefix, FeaturePart part);
/* Prints the macros of the codes that NAME_run may return. */
void error_codes(Text *t, const Program *p, const char *prefix);
#endif
