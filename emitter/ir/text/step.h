/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_STEP_H
#define LW_IR_TEXT_STEP_H
/* Each primitive of a schedule is one row of steps.def: its name, its operands in order, its options with their
 * defaults, and its help line. Reading, printing, replay, `loopwright steps`, and the lw_ functions of loopwright.h
 * follow from the row; a new option is an operand of the row, a field of StepArgs, and its use in the primitive. */
#include "ir/nest/instruction.h"

typedef enum Tail { TAIL_GUARD, TAIL_PEEL, TAIL_SHIFT, TAIL_ROUND } Tail;
typedef enum MovedLoops { LOOPS_AS_SHAPED, LOOPS_NEW, LOOPS_KEPT } MovedLoops;
typedef enum WarmUp { WARM_BEFORE, WARM_GUARD } WarmUp;

enum { MAX_STEP_LOOPS = 24 };

/* The operands of any step. A primitive reads the fields that its row names; a field of zeros is the default of an
 * option. */
typedef struct StepArgs {
    const char *target;              /* the stage or tensor that the step changes */
    /* The loops; for pack the dimensions, for pad the axis; in store_at, NULL is the root. */
    const char *loop[MAX_STEP_LOOPS];
    int loop_count;                  /* the number of loops, for lists only */
    int64_t factor[4];
    int64_t parts;                   /* of a split: the number of parts instead of the factor, or 0 */
    /* The condition of specialize, or the text of a pragma or declaration, as written. */
    const char *condition;
    const char *name;                /* the name of a new stage, a fused loop or an instruction; NULL for the default */
    /* The numbers of an instruction; if there are none, matching finds them. */
    int number_count; int64_t number[MAX_NUMBERS];
    const char *half[2];             /* the names of the outer and inner loop of a split; NULL for the defaults */
    int reader_count; const char *reader[MAX_STEP_LOOPS];
    const char *feature;             /* the feature that an instruction requires, or NULL */
    struct { bool given; DType type; } as;
    struct { bool given, has_value; int64_t value; } padded;
    Tail tail;
    const char *scope;               /* the name of a memory (ir/nest/scope.h) */
    MovedLoops loops;
    WarmUp warm;
    bool reassociate, contract, mask, in_place, status, opaque, from_end;
} StepArgs;

typedef enum OperandKind {
    OPERAND_END,
    OPERAND_LOOP, OPERAND_LOOPS,     /* one loop, or one or more */
    OPERAND_LOOP_OR_ROOT,                   /* a loop, or `root` */
    /* One stage, or several with commas between them. OPERAND_TENSOR is a stage's tensor or an input. */
    OPERAND_STAGE, OPERAND_STAGES,
    OPERAND_TENSOR,
    OPERAND_WORD, OPERAND_WORDS,     /* a name that is not a stage's: an axis, a macro, a dimension */
    OPERAND_PAIR,                    /* two names as for OPERAND_WORD, separated by a comma */
    OPERAND_TEXT,                    /* all words up to the first option */
    OPERAND_CALL,                    /* also all words: a call, whose names without brackets are tensors */
    OPERAND_INSTRUCTION,             /* a macro, which may be followed by all its numbers: LW_FETCH[16,-3] */
    OPERAND_COUNT,
    OPERAND_CHOICE,                  /* an enum, with its words, separated by |, in the order of its values */
    OPERAND_TYPE,
    OPERAND_FLAG,                    /* an option without a value */
    OPERAND_PADDED,                  /* an option that may have an integer as its value */
} OperandKind;

typedef struct Operand {
    OperandKind kind;
    const char *key;                 /* the text of an option before the '='; NULL for a required operand */
    const char *shown;               /* the text in the usage: FACTOR, or the words of a choice */
    size_t at;                       /* the offset of the field in StepArgs */
    const char *help;                /* the effect of an option, and the default unless a choice names it */
    const char *instead;             /* the option that may be given in place of an operand, or NULL */
} Operand;

enum { MAX_STEP_OPERANDS = 8 };
typedef enum StepKind {
#define STEP(name, ...) STEP_##name,
#include "ir/text/steps.def"
#undef STEP
} StepKind;
typedef struct StepRow {
    StepKind kind;
    const char *name, *help;
    Operand operand[MAX_STEP_OPERANDS];   /* the operands, then the options; the last is OPERAND_END */
} StepRow;

const StepRow *step_rows(int *count);
const StepRow *step_row(const char *name);                       /* returns NULL if there is no such primitive */
const char *step_usage(Ctx *cx, const StepRow *row); /* returns "split LOOP FACTOR [tail=guard|peel|shift|round] ..." */
bool step_equal(Ctx *cx, const Step *a, const Step *b);
/* Returns true for `memory`, `config` and `instruction`, which leave the loops as they are. */
bool step_declares(const Step *s);
/* Returns the number of the last of these steps, as a person counts them: without declarations. */
int step_number(const Step *step, int count);
Step step_new(Ctx *cx, StepKind kind, const StepArgs *args);      /* copies the operands */
/* Returns the step in the syntax of a .te file; options with their default are omitted. step_words returns the number
 * of its words; a list of operands, or a text, is one word. */
const char *step_text(Ctx *cx, const Step *s);
enum { MAX_STEP_WORDS = MAX_STEP_OPERANDS + 1 };
int step_words(Ctx *cx, const Step *s, const char *out[MAX_STEP_WORDS]);
Step step_read(Ctx *cx, const char *text);                        /* reads a step; its row is NULL after a diagnostic */
/* Returns the length of the role at the start of the word (role.h), with its argument: 17 for "@producer(conv2d).h".
 * Returns 0 if the word begins with a name. */
size_t role_length(const char *word);
/* Renames the stages and tensors of a step, which may be roles; axes, macros and short names of loops
 * stay. */
typedef const char *RenameStage(Ctx *cx, const char *stage, void *user);
void step_rename(Ctx *cx, const StepRow *row, StepArgs *args, RenameStage *rename, void *user);
#endif
