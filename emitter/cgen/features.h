/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_FEATURES_H
#define LW_CGEN_FEATURES_H
/* A feature is an option, or a property of the model, that adds to the emitted files. Each feature is a row with the
 * text that it prints in each part of the files, its parameter of NAME_run, its error code, and the pieces of the
 * runtime and the header that its code requires. The files of the features print the text; program.c asks for the
 * parts. Code below reads the rows from the program (`Program.features`), which has those that hold. */
#include "cgen/cgen.h"

enum { MOST_CODES = 10 };            /* the error codes are -1 to -10 */

typedef enum FeaturePart {
    FEATURE_ROWS,                      /* model.h: lines of the first comment */
    FEATURE_NOTES,                     /* model.h: then its sentences about the program */
    FEATURE_SIZES,                     /* model.h: macros of memory sizes */
    FEATURE_MACROS,                    /* model.h: after the size of weights */
    FEATURE_MEMORY,                    /* model.h: macros that declare memory for NAME_run */
    FEATURE_DECLARED,                  /* model.h: between the ports and NAME_run: types and their functions */
    FEATURE_CALLED,                    /* model.h: then functions of weights and devices */
    FEATURE_DECLARED_AFTER,            /* model.h: after NAME_run */
    FEATURE_INCLUDED,                  /* model.c: before the headers of the runtime */
    FEATURE_FIRST,                     /* model.c: before the functions of layers */
    FEATURE_CONSTANTS,                 /* model.c: after the constants */
    FEATURE_DEFINED,                   /* model.c: before the functions that run graphs */
    FEATURE_STATIC,                    /* model.c: before NAME_run */
    FEATURE_POINTERS,                  /* NAME_run: pointers to its memory */
    FEATURE_TESTS,                     /* NAME_run: tests of memory */
    FEATURE_VARIABLES,                 /* NAME_run: after all tests of pointers */
    FEATURE_BEGIN,                     /* NAME_run: before the first layer */
    FEATURE_END,                       /* NAME_run: after the last layer, the last feature first */
    FEATURE_LAST,                      /* model.c: at its end */
    FEATURE_BENCH_FUNCTIONS,           /* model_main.c: before main */
    FEATURE_BENCH_OPTIONS,             /* main: options of its command line */
    FEATURE_BENCH_MEMORY,              /* main: the memory of NAME_run */
    FEATURE_BENCH_BEGIN,               /* main: before the first run */
    FEATURE_BENCH_STATUS,              /* main: after the last run */
    FEATURE_BENCH_END,                 /* main: after its time */
    FEATURE_BENCH_LAST,                /* main: at its end */
    FEATURE_CLASS_STATE,               /* model.hpp: methods before those of the ports */
    FEATURE_CLASS_PORTS,               /* model.hpp: accessors of inputs and outputs */
    FEATURE_CLASS_MEMBERS,             /* model.hpp: private members */
    FEATURE_PARTS
} FeaturePart;

/* A parameter of NAME_run, which is memory that the caller owns. suffix: for the type struct NAME_suffix, or NULL if
 * `type` is complete. error: the code for a null pointer, or NULL if another part tests it. */
typedef enum ArgumentOf { IN_MODEL, IN_TESTBENCH, IN_CLASS, ARGUMENTS } ArgumentOf;
typedef struct Parameter {
    const char *type, *suffix, *name, *error;
    const char *argument[ARGUMENTS];   /* how model.c, the test bench and the C++ class pass it */
    bool step_writes;                  /* not const in NAME_train */
} Parameter;

typedef void PrintPart(Ctx *cx, Text *t, const Program *p);
typedef struct Feature {
    const char *name;
    bool (*is_in)(const Program *p);
    PrintPart *part[FEATURE_PARTS];
    const char *text[FEATURE_PARTS];   /* for program_text */
    const char *file[FEATURE_PARTS];   /* for program_file */
    Parameter parameter;               /* no name: none */
    int code; const char *meaning;     /* the error code -1, ..., and the remainder of its macro's name; 0: none */
    const char *pieces;                /* names of the runtime's pieces, or NULL */
    bool calls_string;                 /* its code calls functions of string.h */
    bool is_unproved;                  /* --acsl excludes it */
} Feature;

/* Prints one part of each feature of the program. */
void features_print(Ctx *cx, Text *t, const Program *p, FeaturePart part);
#endif
