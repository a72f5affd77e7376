/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_CGEN_H
#define LW_CGEN_CGEN_H
/* A whole program of lowered functions, spelled as model.c, model.h and model_main.c (design: the emitted interface). */
#include "ir/nest/code.h"
#include "support/text.h"

typedef enum PlaceKind { PLACE_INPUT, PLACE_OUTPUT, PLACE_ARENA, PLACE_CONST, PLACE_STATE, PLACE_NEXT, PLACE_PARAM, PLACE_NONE } PlaceKind;
/* Where an argument of a call lives. INPUT/OUTPUT: index among the program's; CONST: index among its constants; STATE, NEXT:
 * among its states, as the last run left it and as this one does; PARAM: among those of the function that calls; NONE: it is not read. */
typedef struct Place { PlaceKind kind; int index; int64_t offset; /* bytes from its start */ DType type; } Place;

/* Of a function that calls others: a partition or a body. */
typedef struct Param {
    const char *name;                  /* C identifier, unique in the function */
    const Tensor *tensor;
    Place place;                       /* of a partition: as NAME_run sees it */
    bool is_written, is_unused;        /* unused: it is left out */
} Param;

/* Calls that run on one foreign device: a function of its own, which NAME_run calls. */
typedef struct Partition {
    const char *name, *device;         /* "npu_1", "npu" */
    int param_count; const Param *param;
} Partition;

typedef struct Call Call;

/* A graph of a region: a function that calls its layers, as NAME_run does. */
typedef struct Body {
    const char *name, *what;           /* "if_1_then"; for people */
    int param_count; const Param *param;
    int call_count; const Call *call;
    bool has_memory;                   /* its first parameter is scratch memory */
    bool may_stop;                     /* it returns 0 or an error code: a loop inside of it may have no room for its rows */
} Body;

/* What a body's parameter is given. PLACE: that place of the call; TURN, GOES_ON: the loop's own variables; STATE, NEXT: the
 * state of that number, as it is and as it becomes; ROW: of the tensor at that place, the turn's row of so many elements. */
typedef enum ArgumentKind { ARGUMENT_PLACE, ARGUMENT_TURN, ARGUMENT_GOES_ON, ARGUMENT_STATE, ARGUMENT_NEXT, ARGUMENT_ROW } ArgumentKind;
typedef struct Argument { ArgumentKind kind; int index; int64_t elems; bool is_back; } Argument;

/* What a loop carries from turn to turn. Numbers are of the call's places. */
typedef struct Carried {
    const char *name;                  /* C identifier, not taken by anything in the function */
    const Tensor *tensor;
    int from, to, other;               /* what it begins with, PLACE_NONE: zeros; where it ends; the second array, -1: one is enough */
} Carried;

/* A region: `if (condition) A else B`, or `for (turn < count && goes_on) body`. Numbers are of the call's places, -1: none. */
typedef struct Control {
    bool is_loop;
    int body_count; const Body *body[2];
    const Argument *argument;          /* [param_count] of each body alike */
    int memory, condition, count;
    bool has_condition;                /* the body tells whether to go on */
    int64_t turns, room;               /* at most, where that is known, else -1; rows that there is room for, -1: none are made */
    int row_count; const int *row;     /* what collects rows */
    int state_count; const Carried *state;
} Control;

struct Call {
    const Function *function;          /* NULL: */
    const Control *control;            /* a region */
    const char *label;                 /* of the layer: the model's node name(s), for LW_LAYER */
    int place_count; const Place *place;   /* one for each memory parameter of the function; a region's inputs, outputs, scratch */
    const Expr *const *size;           /* one for each size parameter */
    const int64_t *number;             /* one for each number parameter */
    const Partition *partition;        /* whose default calls it; NULL: NAME_run itself. Those of one follow one another */
};

typedef struct Port {                  /* an input or output of the model */
    const char *name;                  /* C identifier, unique */
    const Tensor *tensor;
    const char *layout;                /* "NHWC" or NULL */
    int64_t at;                        /* its place in the arena, bytes; -1: the caller's memory */
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
    int body_count; const Body *const *body;               /* of regions, inner ones first */
    const Param *param;                /* of the function that is being printed; NULL: NAME_run */
    int64_t arena_size, arena_align;   /* bytes */
    int size_count; const Expr *const *size;               /* symbolic sizes: fields of the inputs struct */
    bool rounds_once;                  /* how 8-bit integers are scaled, of models that have such */
    bool ports_in_arena, static_arena, standalone;
} Program;

const char *cgen_source(Ctx *cx, const Program *p);        /* model.c */
const char *cgen_header(Ctx *cx, const Program *p);        /* model.h */
const char *cgen_testbench(Ctx *cx, const Program *p);     /* model_main.c */
/* One function as C text, for messages and tests. */
void cgen_function(Ctx *cx, Text *t, const Program *p, const Function *f);
void cgen_body(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer);      /* its layers are numbered from there */
#endif
