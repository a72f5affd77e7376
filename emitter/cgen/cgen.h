/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_CGEN_H
#define LW_CGEN_CGEN_H
/* A whole program of lowered functions, spelled as model.c, model.h and model_main.c (design: the emitted interface). */
#include "ir/code.h"

typedef enum PlaceKind { PLACE_INPUT, PLACE_OUTPUT, PLACE_ARENA, PLACE_CONST, PLACE_STATE, PLACE_NEXT, PLACE_PARAM } PlaceKind;
/* Where an argument of a call lives. INPUT/OUTPUT: index among the program's; CONST: index among its constants; STATE, NEXT:
 * among its states, as the last run left it and as this one does; PARAM: among those of the partition that calls. */
typedef struct Place { PlaceKind kind; int index; int64_t offset; /* bytes from its start */ DType type; } Place;

/* Calls that run on one foreign device: a function of its own, which NAME_run calls. */
typedef struct PartitionParam {
    const char *name;                  /* C identifier, unique in the partition */
    const Tensor *tensor;
    Place place;                       /* as NAME_run sees it */
    bool is_written;
} PartitionParam;
typedef struct Partition {
    const char *name, *device;         /* "npu_1", "npu" */
    int param_count; const PartitionParam *param;
} Partition;

typedef struct Call {
    const Function *function;
    const char *label;                 /* of the layer: the model's node name(s), for LW_LAYER */
    int place_count; const Place *place;   /* one for each memory parameter of the function */
    const Expr *const *size;           /* one for each size parameter */
    const Partition *partition;        /* whose default calls it; NULL: NAME_run itself. Those of one follow one another */
} Call;

typedef struct Port {                  /* an input or output of the model */
    const char *name;                  /* C identifier, unique */
    const Tensor *tensor;
    const char *layout;                /* "NHWC" or NULL */
} Port;

/* What an output leaves for an input of the next run. Where the new one is begun after the old one's last use they are one
 * array; else there are two, and runs go back and forth between them. */
typedef struct State {
    const char *name;                  /* C identifier, unique: of the input */
    const Tensor *tensor;
    bool is_single;
    const Tensor *initial;             /* what it begins with; NULL: zeros */
    const char *initial_name;          /* of that constant, without the prefix */
} State;

typedef struct Program {
    const char *name;                  /* prefix, a C identifier in lower case: "kws" */
    const char *header;                /* file name of the header, as model.c includes it; NULL: NAME.h */
    const char *source;                /* the model's file name, without folders */
    const char *target;
    int input_count, output_count; const Port *input, *output;
    int state_count; const State *state;
    int constant_count; const Tensor *const *constant; const char *const *constant_name;
    int function_count; const Function *const *function;   /* in order of first use; equal groups share one */
    int call_count; const Call *call;
    int partition_count; const Partition *partition;
    int64_t arena_size, arena_align;   /* bytes */
    int size_count; const Expr *const *size;               /* symbolic sizes: fields of the inputs struct */
    bool rounds_once;                  /* how 8-bit integers are scaled, of models that have such */
    bool static_arena, standalone;
} Program;

const char *cgen_source(Ctx *cx, const Program *p);        /* model.c */
const char *cgen_header(Ctx *cx, const Program *p);        /* model.h */
const char *cgen_testbench(Ctx *cx, const Program *p);     /* model_main.c */
/* One expression or function as C text, for messages and tests. */
void cgen_expr(Ctx *cx, Text *t, const Expr *e);
void cgen_function(Ctx *cx, Text *t, const Program *p, const Function *f);
#endif
