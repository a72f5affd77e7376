/* SPDX-License-Identifier: MIT */
#ifndef LW_COMMAND_COMMAND_H
#define LW_COMMAND_COMMAND_H
/* Declares the command line's words: commands, options, and the fields that they set. commands.def and options.def list
 * them; their counts, usage, help and refusals are derived from these lists. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "loopwright.h"

enum { DONE = 0, REFUSED = 1, USAGE = 2, SIGNALLED = 128, MOST_FILES = 64, MOST_OPTIONS = 64 };

typedef struct Arguments {
    lw_context *cx;
    bool is_exhausted;      /* true if memory has run out */
    const char *file[MOST_FILES];    int file_count;      /* words that are not options */
    const char *output[MOST_FILES];  int output_count;    /* -o */
    const char *expect[MOST_FILES];  int expect_count;    /* --expect */
    const char *samples[MOST_FILES];                      /* --samples */
    const char *schedule[MOST_FILES];                     /* --schedule */
    const char *memory[MOST_FILES];                       /* --memory */
    const char *selftest[MOST_FILES];                     /* --selftest */
    const char *test[MOST_FILES];                         /* --test */
    lw_evaluation evaluation;
    lw_quantization quantization;
    lw_dim dim[MOST_OPTIONS];
    lw_value value[MOST_OPTIONS];
    lw_state state[MOST_OPTIONS];
    lw_rename rename[MOST_OPTIONS];
    const char *from[MOST_FILES], *to[MOST_FILES];        /* --from, --to */
    lw_adapt layout[MOST_OPTIONS], preprocess[MOST_OPTIONS], postprocess[MOST_OPTIONS];
    lw_tolerance tolerance;
    lw_options options;
    bool quiet, help, version, onnx, tflite, conditions, gradients;
    const char *package_kind;        /* --for */
    int level;
} Arguments;

enum {
    COMPILE = 1, RUN = 2, VERIFY = 4, DUMP = 8, REPORT = 16, OPS = 32, TARGETS = 64, PASSES = 128, STEPS = 256,
    QUANTIZE = 512, EVALUATE = 1024, PACKAGE = 2048, TUNE = 4096, BOARDS = 8192,
    EVIDENCE = 16384, INSTRUCTION = 32768,
    MODEL = COMPILE | RUN | VERIFY | DUMP | REPORT | QUANTIZE | EVALUATE | PACKAGE | TUNE | EVIDENCE |
            INSTRUCTION,
    EMITS = COMPILE | VERIFY | QUANTIZE, LISTS = OPS | TARGETS | BOARDS | PASSES | STEPS,
    ANY = MODEL | LISTS
};

typedef struct Command {
    unsigned bit;
    const char *name, *usage, *what;
    bool (*run)(const Arguments *);
    int least, most;                 /* files */
    int outputs;                     /* at most */
    bool needs_output;
    const char *missing;             /* the diagnostic for too few files or a missing output */
} Command;

/* commands.c. The first row is the default, which applies if the first word is not a command. */
enum {
#define COMMAND(...) +1
    COMMAND_COUNT = 0
#include "command/commands.def"
};
extern const Command *const commands;
/* Returns false, with a message, if printed text did not reach standard output. */
bool command_has_printed(void);
/* SIGINT or SIGTERM if one reached a command, otherwise 0 */
int command_interrupted(void);
/* returns false, with a message, for options that are wrong for every model */
bool are_arguments_right(const Command *c, const Arguments *a);

typedef bool Reader(Arguments *a, const char *value);
typedef enum Sort { FLAG, TEXT, READ } Sort;
typedef struct Option {
    const char *name, *value, *what;
    unsigned of;                     /* the set of commands that accept the option */
    Sort sort;
    /* the option's offset in Arguments: a FLAG sets a bool at this offset, a TEXT a const char * */
    size_t at;
    Reader *read;                    /* for a READ: the reader, which returns false to refuse the value */
    bool repeats;
    char letter;                     /* the short form: 'h' for --help has -h; 0 if there is none */
} Option;

/* options.c */
enum {
#define OPTION(...) +1
    OPTION_COUNT = 0
#include "command/options.def"
};
extern const Option *const options;
/* Reads the option at argv[*i]; its value may be the next word. given[] counts the occurrences of each option. */
bool read_option(Arguments *a, int *given, char **argv, int argc, int *i);
bool wrong(const char *format, ...);                             /* prints a message to stderr; returns false */

/* help.c */
void print_commands(FILE *f, unsigned of);                       /* prints a list such as "run, verify and dump" */
void print_help(const Command *only);                            /* only: the command, or NULL for all commands */
#endif
