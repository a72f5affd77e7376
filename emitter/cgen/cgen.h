/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_CGEN_H
#define LW_CGEN_CGEN_H
/* Prints a program of lowered functions as model.c, model.h and model_main.c (docs/emitted-interface.md). */
#include "ir/nest/code.h"
#include "support/text.h"

typedef enum PlaceKind {
    PLACE_INPUT, PLACE_OUTPUT, PLACE_ARENA, PLACE_CONST, PLACE_STATE, PLACE_NEXT, PLACE_TRAINED, PLACE_PARAM,
    PLACE_NONE
} PlaceKind;
/* The storage of a call's argument. INPUT, OUTPUT: index into the program's. CONST: index into its constants. STATE,
 * NEXT: index into its states, as the last run left it and as this run computes it. TRAINED: index into `params`.
 * PARAM: index into those of the calling function. NONE: never read. */
typedef struct Place { PlaceKind kind; int index; int64_t offset; /* bytes from its start */ DType type; } Place;

/* A parameter of a function that calls other functions: a partition or a body. */
typedef struct Param {
    const char *name;                  /* C identifier, unique in the function */
    const Tensor *tensor;
    Place place;                       /* of a partition: its storage in NAME_run */
    bool is_written, is_unused;        /* unused: omitted */
} Param;

/* Calls that run on one foreign device: one function, called by NAME_run. */
typedef struct Partition {
    const char *name, *device;         /* "npu_1", "npu" */
    const char *composite;             /* the device's pattern of these calls; NULL: single calls */
    /* A condition on open sizes: where it does not hold, the default runs, under this name; NULL: none */
    const Expr *when; const char *otherwise;
    int param_count; const Param *param;
} Partition;

typedef struct Call Call;

/* A size that gets its value: the i64 at the place, which is tested. is_read: by a later call, or for an output */
typedef struct SizeBind { const Expr *size; Place count; const Tensor *constant; bool is_read; } SizeBind;

/* A graph of a region: a function that calls its layers like NAME_run. */
typedef struct Body {
    const char *name, *what;           /* "if_1_then"; for comments */
    int size_count; const Expr *const *size;               /* sizes of the caller that it reads: its first parameters */
    int param_count; const Param *param;
    int call_count; const Call *call;
    int last_bind_count; const SizeBind *last_bind;        /* after the last call */
    bool has_memory;                   /* a parameter is scratch memory */
    /* Returns 0 or an error code: a loop in it may exceed the capacity of its rows, or it tests a size */
    bool may_stop;
} Body;

/* The argument for a body's parameter. PLACE: that place of the call. ITERATION, GOES_ON: the loop's variables. STATE,
 * NEXT: that state, before and after the iteration. ROW: the row of `elems` elements of the current iteration, of the
 * tensor at that place. */
typedef enum ArgumentKind {
    ARGUMENT_PLACE, ARGUMENT_ITERATION, ARGUMENT_GOES_ON, ARGUMENT_STATE, ARGUMENT_NEXT, ARGUMENT_ROW
} ArgumentKind;
typedef struct Argument { ArgumentKind kind; int index; const Expr *elems; bool is_back; } Argument;

/* A loop-carried state. Numbers index the call's places. */
typedef struct Carried {
    const char *name;                  /* C identifier, unique in the function */
    const Tensor *tensor;
    /* Initial value, PLACE_NONE: zeros; final value; the second array, -1: one suffices */
    int from, to, other;
} Carried;

/* A region: `if (condition) A else B`, or `for (iteration < count && goes_on) body`. Numbers index the call's places;
 * -1: none. */
typedef struct Control {
    bool is_loop;
    int body_count; const Body *body[2];
    int size_count; const Expr *const *size;               /* sizes that the bodies and the loop's arrays have */
    const Argument *argument;          /* [param_count] of each body */
    int memory, condition, count;
    bool has_condition;                /* the body computes the condition to continue */
    /* Maximum trip count, -1: unknown; capacity in rows, -1: no rows */
    int64_t trip_count, capacity;
    int row_count; const int *row;     /* the outputs that collect rows */
    int state_count; const Carried *state;
} Control;

struct Call {
    const Function *function;          /* NULL: */
    const Control *control;            /* a region */
    const char *label;                 /* the layer's node name(s) in the model, for LW_LAYER */
    const char *group;                 /* the group's name, as `report` prints it */
    /* One per memory parameter of the function; a region's inputs, outputs, scratch */
    int place_count; const Place *place;
    const Expr *const *size;           /* one per size parameter */
    const int64_t *number;             /* one per number parameter */
    int bind_count; const SizeBind *bind;              /* before the call */
    struct { int64_t from, to, bytes; } move;          /* of its result within the arena, afterwards; 0 bytes: none */
    /* The partition whose default makes this call; NULL: NAME_run does. Calls of a partition are consecutive */
    const Partition *partition;
};

typedef struct Port {                  /* an input or output of the model */
    const char *name;                  /* C identifier, unique */
    const Tensor *tensor;
    const char *layout;                /* "NHWC" and the like (graph.h); NULL: unknown */
    int64_t at;                        /* its offset in the arena in bytes; -1: caller-owned */
    const char *macro;                 /* its part of the header's macros, unique: "INPUT_1" */
    /* Functions from floats to an input, from an output to floats: one element, all. NULL: neither quantized nor of 8
     * or 16 bits */
    const char *convert, *convert_all;
    const char *base;                  /* the struct that holds its pointer; NULL: "in" or "out" */
    bool is_alone;                     /* its pointer is a parameter of the function */
    /* [rank] of an output with sizes that the run decides: the index among them, -1: a number; NULL: other ports */
    const int *decided;
} Port;

/* A dimension of outputs that the run decides, or that stands beside one: a field of the struct of outputs. */
typedef struct DecidedSize { const char *name; const Expr *size; int64_t least, greatest; } DecidedSize;

/* State: an output that the next run reads as an input. If the new value's live range begins after the last read of the
 * old one, or shifts it, they share an array. Otherwise two arrays alternate from run to run. */
typedef struct State {
    const char *name;                  /* C identifier of the input, unique */
    const Tensor *tensor;
    bool is_single;
    const Tensor *initial;             /* initial value; NULL: zeros */
    const char *initial_name;          /* name of that constant, without the prefix */
} State;

/* The storage of constants. TEXT: arrays of model.c. SECTION: arrays in a named section. FLASH: arrays in the program
 * memory of an AVR. CALLER: a file, model.bin, whose address the caller passes. INCLUDED: that file, by #embed or
 * .incbin. */
typedef enum WeightsKind {
    WEIGHTS_TEXT, WEIGHTS_SECTION, WEIGHTS_FLASH, WEIGHTS_CALLER, WEIGHTS_INCLUDED
} WeightsKind;
enum { WEIGHTS_HEADER = 64 };          /* bytes of the header of model.bin */

typedef struct ProgramWeights {
    WeightsKind kind;
    const char *section;               /* of SECTION */
    bool is_far;                       /* FLASH: more constants than near pointers reach */
    /* CALLER, INCLUDED: the file's name, its bytes, its header; [constant_count] offsets in it, -1: not in use */
    const char *file;
    int64_t bytes;
    const uint8_t *header;
    const int64_t *at;
} ProgramWeights;

/* A member of struct NAME_params: a value that a training step changes, or a number that the caller may set. */
typedef struct Trained {
    const char *name, *what;           /* "dense_w", "w" */
    const Tensor *tensor;
    const Tensor *initial;             /* NULL: zeros */
    const char *initial_name;          /* of the constant, without the prefix; NULL: zeros, or a scalar */
    bool is_weights;                   /* of the network, not of the optimizer */
} Trained;

/* A result of a layer, compared after call `call` of NAME_run: `rows` of `bytes`, `pitch` bytes apart. */
typedef struct Check {
    int call;
    const char *label;                 /* of the layer */
    Place place;
    int64_t rows, bytes, pitch;
    uint32_t sum;                      /* FNV-1a */
} Check;

/* Of --selftest: the data of each input, and the checks in the order of calls. */
typedef struct Selftest {
    int check_count; const Check *check;
    const Tensor *const *input; const char *const *input_name;
} Selftest;

/* A RAM of the firmware: a member of struct NAME_memories. */
typedef struct ProgramMemory {
    const char *name;                  /* C identifier */
    int64_t size, align;               /* bytes */
    const char *section;               /* of an array in it; NULL: none */
} ProgramMemory;

typedef struct Program Program;
struct Program {
    const char *name;                  /* prefix, a C identifier in lower case: "kws" */
    const char *header;                /* file name of the header that model.c includes; NULL: NAME.h */
    const char *source;                /* the model's file name, without folders */
    const char *target;
    const char *stamp;                 /* the compiler's version for the first comments; NULL: left out */
    const char *options;               /* of the emission, as words of the command line; "" if none */
    const char *digest;                /* SHA-256 of the model file, in hexadecimal */
    int input_count, output_count; const Port *input, *output;
    int state_count; const State *state;
    struct { int64_t hop, window; } stream;                /* of --stream: frames of a run, of the window; 0: none */
    int constant_count; const Tensor *const *constant; const char *const *constant_name;
    int function_count; const Function *const *function;   /* in order of first use; equal groups share one */
    int call_count; const Call *call;
    int partition_count; const Partition *partition;
    int body_count; const Body *const *body;               /* bodies of regions, inner ones first */
    const Param *param;                /* parameters of the function being printed; NULL: NAME_run's */
    int64_t arena_size, arena_align;   /* bytes */
    int memory_count; const ProgramMemory *memory;         /* they replace the arena; the index of a PLACE_ARENA */
    const char *const *constant_section;                   /* [constant_count], NULL for the usual one; or NULL */
    /* symbolic sizes, and the fields of the inputs struct that hold them */
    int size_count; const Expr *const *size; const char *const *size_name;
    int decided_count; const DecidedSize *decided;         /* of outputs */
    int last_bind_count; const SizeBind *last_bind;        /* after the last call */
    bool decides_sizes;                /* a size is tested at run time: NAME_E_SIZE exists */
    /* Of the target's primitives, and the condition of #if under which it is included (NULL: always); NULL: none */
    const char *core_header, *core_macros;
    const char *flags;                 /* of the C compiler, without which the portable form is taken; NULL: none */
    bool contracts;                    /* products and sums of floats are rounded once */
    bool rounds_twice;                 /* a requantization of 8-bit integers has two rounding steps */
    bool ties_away;                    /* quantization rounds ties away from zero, as TensorFlow Lite's; else to even */
    const char *nearest;               /* the function that rounds; NULL: no input is quantized */
    /* Names of the classes along the last axis of output `output`; count 0: unknown */
    struct { int count, output; const char *const *name; } classes;
    /* Strings whose indices are the elements of the ports `ports`; count 0: no port holds strings, or the names
     * of the classes are all */
    struct { int count; const char *const *at; const char *ports; } strings;
    bool ports_in_arena, static_arena, standalone;
    bool has_profile;                  /* LW_LAYER counts per layer */
    ProgramWeights weights;
    /* Of --train; count 0: none. version: eight hexadecimal digits, of the members and the model */
    struct { int count; const Trained *at; const char *version; } params;
    const Program *step;               /* NAME_train, with the arena, ports and calls of the step; NULL: none */
    const Selftest *selftest;          /* NULL: none */
    bool is_step; int run_call_count;                      /* of a step: NAME_run's calls */
    int64_t label_limit;               /* of a step: its labels are 0 to below that; 0: its target has no labels */
};

/* model.c without the elements of its constants, which are printed into the file: large models have more text than
 * memory. */
typedef struct Source {
    const char *before;                /* functions of layers */
    const char *constants;             /* declarations, each with the position of its elements */
    int constant_count; const Tensor **constant;
    const char *after;                 /* NAME_run */
} Source;
Source cgen_source(Ctx *cx, const Program *p);
void cgen_print(Ctx *cx, const Source *s, TextPut *put, void *to);
/* Lays out the file of weights. After the calls of the program are complete. */
void cgen_place_weights(Ctx *cx, Program *p, const char *file);
/* Prints the functions of layers and NAME_run as they read weights: without names of files, profile and self-test. */
const char *cgen_code(Ctx *cx, const Program *p);
/* Computes the header of the file of weights, with a digest of that code. */
void cgen_seal_weights(Ctx *cx, Program *p, const char *code);
/* Prints that file; `program` is a Program. */
void cgen_print_weights(Ctx *cx, const void *program, TextPut *put, void *to);
/* Refuses a program whose constants do not fit into program memory, or are read otherwise than by C. */
void cgen_check_flash(Ctx *cx, Program *p);
const char *cgen_text(Ctx *cx, const Program *p);          /* model.c as a whole */
const char *cgen_header(Ctx *cx, const Program *p);        /* model.h */
const char *cgen_cpp_class(Ctx *cx, const Program *p);     /* model.hpp */
const char *cgen_testbench(Ctx *cx, const Program *p);     /* model_main.c */
/* Prints the #include line of model.h, and an #error for a header that does not belong to the program. */
void cgen_include_header(Ctx *cx, Text *t, const Program *p);
/* Prints one function as C, for messages and tests. */
void cgen_function(Ctx *cx, Text *t, const Program *p, const Function *f);
/* Numbers its layers from `first_layer`. */
void cgen_body(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer);
#endif
