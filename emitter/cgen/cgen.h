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
/* The storage of a call's argument. INPUT and OUTPUT have an index into the program's inputs and outputs, and CONST an
 * index into its constants. STATE and NEXT have an index into its states: STATE is the value that the last run left,
 * NEXT the value that this run computes. TRAINED has an index into `params`. PARAM has an index into the parameters of
 * the calling function. NONE is never read. */
typedef struct Place {
    PlaceKind kind; int index;
    int64_t offset;                    /* bytes from its start */
    DType type;
    const struct ArenaItem *item;      /* of ARENA: the item that holds the place, or NULL in the body of a region */
} Place;
/* An item of a memory, at `offset`: a tensor between layers, scratch of a layer, or a copy of a constant. */
typedef struct ArenaItem { const char *name; int memory; int64_t offset, bytes; } ArenaItem;

/* A parameter of a function that calls other functions: a partition or a body. */
typedef struct Param {
    const char *name;                  /* the name, a C identifier that is unique in the function */
    const Tensor *tensor;
    Place place;                       /* for a partition: the storage that NAME_run passes */
    bool is_written, is_unused;        /* is_unused: true if the parameter is omitted */
} Param;

/* The calls that run on one foreign device as one function, which NAME_run calls. */
typedef struct Partition {
    const char *name, *device;         /* names such as "npu_1" and "npu" */
    const char *composite;             /* the device's composite that matches these calls; NULL for single calls */
    /* A condition on open sizes, or NULL. If the condition is false, the default runs; `otherwise` is its name. */
    const Expr *when; const char *otherwise;
    int param_count; const Param *param;
} Partition;

typedef struct Call Call;

/* A size whose value is the tested i64 at `count`. is_read is true if a later call or an output needs the size. */
typedef struct SizeBind { const Expr *size; Place count; const Tensor *constant; bool is_read; } SizeBind;

/* A graph of a region, as a function that calls layers like NAME_run. */
typedef struct Body {
    const char *name, *what;           /* name: such as "if_1_then"; what: the description in comments */
    /* The caller's sizes that the body reads, which are the body's first parameters. */
    int size_count; const Expr *const *size;
    int param_count; const Param *param;
    int call_count; const Call *call;
    int last_bind_count; const SizeBind *last_bind;        /* the sizes that are bound after the last call */
    bool has_memory;                   /* true if a parameter is scratch memory */
    /* True if the function returns 0 or an error code, because a loop in it may exceed its capacity of rows, or because
     * it tests a size. */
    bool may_stop;
} Body;

/* The argument for a body's parameter. PLACE is a place of the call, by index. ITERATION and GOES_ON are the loop's
 * variables. STATE and NEXT are a state, by index, before and after the iteration. ROW is the iteration's row of
 * `elems` elements, in the tensor at a place of the call. */
typedef enum ArgumentKind {
    ARGUMENT_PLACE, ARGUMENT_ITERATION, ARGUMENT_GOES_ON, ARGUMENT_STATE, ARGUMENT_NEXT, ARGUMENT_ROW
} ArgumentKind;
typedef struct Argument { ArgumentKind kind; int index; const Expr *elems; bool is_back; } Argument;

/* A loop-carried state. The numbers index the call's places. */
typedef struct Carried {
    const char *name;                  /* the name, a C identifier that is unique in the function */
    const Tensor *tensor;
    /* The place of the initial value (PLACE_NONE means zeros), of the final value, and of the second array (-1 if one
     * array suffices). */
    int from, to, other;
} Carried;

/* A region: `if (condition) A else B`, or `for (iteration < count && goes_on) body`. The numbers index the call's
 * places, or are -1. */
typedef struct Control {
    bool is_loop;
    int body_count; const Body *body[2];
    int size_count; const Expr *const *size;               /* the sizes that the bodies and the loop's arrays have */
    const Argument *argument;          /* [param_count of each body] */
    int memory, condition, count;
    bool has_condition;                /* true if the body computes the condition to continue */
    /* The maximum trip count, or -1 if it is unknown, and the capacity in rows, or -1 if no rows are collected. */
    int64_t trip_count, capacity;
    int row_count; const int *row;     /* the places of the outputs that collect rows */
    int state_count; const Carried *state;
} Control;

/* A copy of a constant to a faster memory before the call that reads it. is_early: true if it begins before the call
 * that precedes this call. */
typedef struct Copy { Place from, to; int64_t bytes; int channel; bool is_early; } Copy;

/* The parts of a call that cores compute at once (--cores): part p computes the iterations at[p] to at[p + 1]. stride:
 * [places] the bytes from one part's scratch memory to the next part's, or 0 for memory that parts share. moments: if
 * not 0, the function also receives the moments to execute, which a fork limits to `round`. rows: if not 0, the forks
 * of the call; row[i] replaces `at` in fork i. */
typedef struct Fork {
    const char *name;
    int parts; const int64_t *at, *stride;
    int64_t moments, round;
    int rows; const int64_t *const *row;
} Fork;

/* A move of an item within the arena. */
typedef struct Move { const ArenaItem *item; int64_t from, to, bytes; } Move;

struct Call {
    const Function *function;          /* NULL: */
    const Control *control;            /* the region that the call runs, or NULL */
    const char *label;                 /* the layer's node name(s) in the model, for LW_LAYER */
    const char *group;                 /* the name of the group, as `report` prints it */
    /* One place per memory parameter of the function. For a region: its inputs, outputs and scratch. */
    int place_count; const Place *place;
    int copy_count; const Copy *copy;  /* the copies before the call */
    const Expr *const *size;           /* one size for each size parameter of the function */
    const int64_t *number;             /* one number for each number parameter of the function */
    const Fork *fork;                  /* NULL: one core makes the call */
    int bind_count; const SizeBind *bind;              /* the sizes that are bound before the call */
    const Move *move;                  /* the move of the call's result within the arena, after the call, or NULL */
    /* The partition whose default has this call, or NULL if NAME_run has the call. The calls of a partition are
     * consecutive. */
    const Partition *partition;
};

typedef struct Port {                  /* an input or output of the model */
    const char *name;                  /* the name, a unique C identifier */
    const Tensor *tensor;
    const char *layout;                /* a layout such as "NHWC" (graph.h), or NULL if unknown */
    int64_t at;                        /* offset of the port in the arena in bytes, or -1 if the caller owns the port */
    const char *macro;                 /* the unique part of the port's macro names, such as "INPUT_1" */
    /* The functions that convert floats to an input, or an output to floats: one element, and all elements. NULL if the
     * port is not quantized to 8 or 16 bits. */
    const char *convert, *convert_all;
    const char *base;                  /* the struct that holds the port's pointer, or NULL for "in" or "out" */
    bool is_alone;                     /* true if the port's pointer is a parameter of the function */
    /* [rank] for an output with sizes that the run decides: the index of each size among the decided sizes, or -1 for a
     * number. NULL for other ports. */
    const int *decided;
    int inout;                         /* of an in-out tensor: 1 + the index of its other end; otherwise 0 */
    bool is_checked;                   /* NAME_run tests that elements are floats of [least, most] */
    double least, most;
} Port;

/* A field of the struct of outputs, for a size that the run decides, or for an open size of an output that has such a
 * size. */
typedef struct DecidedSize { const char *name; const Expr *size; int64_t least, greatest; } DecidedSize;

/* A state is an output that the next run reads as an input. Old and new value share an array if the new value's live
 * range begins after the last read of the old value, or if one layer shifts the value in place. Otherwise two arrays
 * alternate from run to run. */
typedef struct State {
    const char *name;                  /* the name of the input, a unique C identifier */
    const Tensor *tensor;
    bool is_single;
    const Tensor *initial;             /* the initial value, or NULL for zeros */
    const char *initial_name;          /* the name of the initial value's constant, without the prefix */
} State;

/* Where constants are stored. TEXT: arrays of model.c. SECTION: arrays in a named section. FLASH: arrays in the program
 * memory of an AVR. CALLER: a file, model.bin, whose address the caller passes. INCLUDED: the same file, included by
 * #embed or .incbin. */
typedef enum WeightsKind {
    WEIGHTS_TEXT, WEIGHTS_SECTION, WEIGHTS_FLASH, WEIGHTS_CALLER, WEIGHTS_INCLUDED
} WeightsKind;
enum { WEIGHTS_HEADER = 64 };          /* the bytes of the header of model.bin */

typedef struct ProgramWeights {
    WeightsKind kind;
    const char *section;               /* the name of the section */
    bool is_far;                       /* for FLASH: true if the constants exceed the reach of near pointers */
    /* For CALLER and INCLUDED: the file's name, size and header, and [constant_count] the offset of each constant in
     * the file, or -1 if the constant is not in use. */
    const char *file;
    int64_t bytes;
    const uint8_t *header;
    const int64_t *at;
} ProgramWeights;

/* A member of struct NAME_params: a value that a training step changes, or a number that the caller may set. */
typedef struct Trained {
    const char *name, *what;           /* names such as "dense_w", "w" */
    const Tensor *tensor;
    const Tensor *initial;             /* the initial value, or NULL for zeros */
    /* The name of the initial value's constant, without the prefix, or NULL for zeros or a scalar. */
    const char *initial_name;
    bool is_weights;                   /* true for a parameter of the network, false for a state of the optimizer */
} Trained;

/* A result of a layer, which is compared after call `call` of NAME_run. The result has `rows` rows of `bytes` bytes,
 * `pitch` bytes apart. */
typedef struct Check {
    int call;
    const char *label;                 /* the name of the layer */
    Place place;
    int64_t rows, bytes, pitch;
    uint32_t sum;                      /* FNV-1a */
} Check;

/* The data of --selftest: the data of each input, and the checks in the order of the calls. */
typedef struct Selftest {
    int check_count; const Check *check;
    const Tensor *const *input; const char *const *input_name;
} Selftest;

/* A RAM of the firmware, which becomes a member of struct NAME_memories. */
typedef struct ProgramMemory {
    const char *name;                  /* the name, a C identifier */
    int64_t size, align;               /* bytes */
    const char *section;               /* the section of an array in it, or NULL */
} ProgramMemory;

/* A parameter of an instruction's macro: a memory, or a number. */
typedef struct MacroParameter { const Memory *memory; const Expr *number; } MacroParameter;
/* An instruction as a C function of its macro's arguments; function is NULL if it has no such form. */
typedef struct PortableForm {
    const char *macro, *symbol;        /* the names of the macro and of the C function */
    int parameter_count; const MacroParameter *parameter;
    const Function *function;
} PortableForm;

/* The features of a program (features.h), in the order of their parts. */
typedef struct Features { int count; const struct Feature *const *at; } Features;

typedef struct Program Program;
struct Program {
    const char *name;                  /* the prefix, a C identifier in lower case such as "kws" */
    const char *header;                /* the file name of the header that model.c includes, or NULL for NAME.h */
    const char *source;                /* the model's file name, without folders */
    const char *target;
    const char *stamp;                 /* the compiler's version for the first comments, or NULL */
    /* The options, as words of the command line, or "". */
    const char *options;
    const char *digest;                /* SHA-256 of the model file, in hexadecimal */
    int input_count, output_count; const Port *input, *output;
    int state_count; const State *state;
    /* The frames of one run and of the window with --stream; 0 without it. */
    struct { int64_t hop, window; } stream;
    int constant_count; const Tensor *const *constant; const char *const *constant_name;
    /* the functions, in order of first use; equal groups share one */
    int function_count; const Function *const *function;
    /* --portable apart: the forms that are printed before the functions */
    int portable_count; const PortableForm *portable;
    int call_count; const Call *call;
    int partition_count; const Partition *partition;
    int body_count; const Body *const *body;               /* the bodies of regions, inner bodies first */
    const Param *param;                /* the parameters of the function that is printed, or NULL for NAME_run */
    int64_t arena_size, arena_align;   /* bytes */
    /* The memories that replace the arena; the index of a PLACE_ARENA selects one. */
    int memory_count; const ProgramMemory *memory;
    /* [constant_count] the section of each constant, or NULL for the default section; or NULL if no constant has a
     * section. */
    const char *const *constant_section;
    /* The symbolic sizes, and the fields of the inputs struct that hold them. */
    int size_count; const Expr *const *size; const char *const *size_name;
    int decided_count; const DecidedSize *decided;         /* the sizes of outputs that the run decides */
    int last_bind_count; const SizeBind *last_bind;        /* the sizes that are bound after the last call */
    bool decides_sizes;                /* true if a size is tested at run time, so that NAME_E_SIZE exists */
    /* The header of the target's primitives, or NULL, and the condition of #if under which it is included, or NULL if
     * always. */
    const char *core_header, *core_macros;
    const char *flags;                 /* the compiler flags without which the portable macros are used, or NULL */
    bool contracts;                    /* true if products and sums of floats are rounded once */
    bool rounds_twice;                 /* true if a requantization of 8-bit integers has two rounding steps */
    /* True if quantization rounds ties away from zero, as TensorFlow Lite does; false if it rounds ties to even. */
    bool ties_away;
    const char *nearest;               /* the function that rounds, or NULL if no input is quantized */
    /* The names of the classes on the last axis of output `output`; count is 0 if they are unknown. */
    struct { int count, output; const char *const *name; } classes;
    /* The strings whose indices are the elements of the ports `ports`. count is 0 if no port holds strings, or if the
     * names of the classes are the only strings. */
    struct { int count; const char *const *at; const char *ports; } strings;
    bool ports_in_arena, static_arena, standalone;
    const char *ports_memory;          /* the memory that holds the ports, or NULL for the arena */
    const char *plan;                  /* the text of model.plan, or NULL */
    bool acsl;                         /* the C has annotations for an analyser */
    bool has_profile;                  /* true if LW_LAYER counts per layer */
    ProgramWeights weights;
    /* The parameters of --train; count is 0 without --train. version: eight hexadecimal digits, which depend on the
     * members and the model. */
    struct { int count; const Trained *at; const char *version; } params;
    /* The program of NAME_train, with the arena, ports and calls of the training step, or NULL. */
    const Program *step;
    const Selftest *selftest;          /* the data of --selftest, or NULL */
    /* is_step: true for NAME_train; run_call_count: the number of NAME_run's calls */
    bool is_step; int run_call_count;
    /* Set by cgen_complete: the name in capitals, and the features. */
    const char *prefix; Features features;
    /* The labels of a training step must be at least 0 and less than label_limit; 0 if its target has no labels. */
    int64_t label_limit;
};

/* model.c without the elements of its constants. The elements are printed directly into the file, because large models
 * have more text than memory. */
typedef struct Source {
    const char *before;                /* the functions of layers */
    const char *constants;             /* the declarations of constants, each with the position of its elements */
    int constant_count; const Tensor **constant;
    const char *after;                 /* NAME_run */
} Source;
Source cgen_source(Ctx *cx, const Program *p);
void cgen_print(Ctx *cx, const Source *s, TextPut *put, void *to);
/* Lists the features of a program, whose other fields are set. Call it before the program is printed. */
void cgen_complete(Ctx *cx, Program *p);
/* Lays out the file of weights. Call it after the calls of the program are complete. */
void cgen_place_weights(Ctx *cx, Program *p, const char *file);
/* Returns the functions of layers and NAME_run in the form that reads weights, without names of files, profile and
 * self-test. */
const char *cgen_code(Ctx *cx, const Program *p);
/* Computes the header of the file of weights, with a digest of the text of cgen_code. */
void cgen_seal_weights(Ctx *cx, Program *p, const char *code);
/* Prints the file of weights; `program` points to a Program. */
void cgen_print_weights(Ctx *cx, const void *program, TextPut *put, void *to);
/* Refuses a program if its constants do not fit into program memory, or if an instruction or a C function reads
 * them. */
void cgen_check_flash(Ctx *cx, Program *p);
const char *cgen_text(Ctx *cx, const Program *p);          /* returns the whole model.c */
const char *cgen_header(Ctx *cx, const Program *p);        /* model.h */
const char *cgen_cpp_class(Ctx *cx, const Program *p);     /* model.hpp */
const char *cgen_testbench(Ctx *cx, const Program *p);     /* returns the text of model_main.c */
/* --acsl: model_proof.c, a program that runs the model on all inputs, and model_proof.sh, the commands that prove it */
const char *cgen_proof(Ctx *cx, const Program *p);
const char *cgen_proof_script(Ctx *cx, const Program *p);
/* Prints the #include line of model.h, and an #error for a header that does not belong to the program. */
void cgen_include_header(Ctx *cx, Text *t, const Program *p);
/* Prints one function as C, for messages and tests. */
void cgen_function(Ctx *cx, Text *t, const Program *p, const Function *f);
/* Prints the macro as a C function with these parameters: the prototype if f is NULL, otherwise f, which uses the
 * parameters. */
void cgen_macro(Ctx *cx, Text *t, const char *name, const MacroParameter *parameter, int count, const Function *f);
/* Prints the function of a body; the numbers of its layers begin at `first_layer`. */
void cgen_body(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer);
#endif
