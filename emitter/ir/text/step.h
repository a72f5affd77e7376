/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_STEP_H
#define LW_IR_TEXT_STEP_H
/* Schedule steps as rows. Each primitive is one row of steps.def: its name, its operands in order, its options with
 * their defaults, and its help line. Reading, printing, replay, `loopwright steps`, and the lw_ functions of
 * loopwright.h follow from the row; a new option is an operand of the row, a field of StepArgs, and its use in the
 * primitive. */
#include "ir/nest/instruction.h"

typedef enum Tail { TAIL_GUARD, TAIL_PEEL, TAIL_SHIFT, TAIL_ROUND } Tail;
typedef enum MovedLoops { LOOPS_AS_SHAPED, LOOPS_NEW, LOOPS_KEPT } MovedLoops;
typedef enum WarmUp { WARM_BEFORE, WARM_GUARD } WarmUp;

enum { MAX_STEP_LOOPS = 24 };

/* The operands of any step. A primitive reads the fields that its row names; a field of zeros is the default of an
 * option. */
typedef struct StepArgs {
    const char *target;              /* the stage or tensor that the step changes */
    const char *loop[MAX_STEP_LOOPS]; /* loops; for pack the dimensions, for pad the axis. store_at: NULL is the root */
    int loop_count;                  /* for lists only */
    int64_t factor[2];
    int64_t parts;                   /* of a split, instead of the factor; 0: not given */
    const char *condition;           /* of specialize, a pragma, or a declaration: the text as written */
    const char *name;                /* of a new stage, a fused loop or an instruction; NULL: the default */
    int number_count; int64_t number[MAX_NUMBERS];     /* of an instruction; none: matching finds them */
    const char *half[2];             /* names of the outer and inner loop of a split; NULL: the defaults */
    int reader_count; const char *reader[MAX_STEP_LOOPS];
    const char *feature;             /* that an instruction requires; NULL: none */
    struct { bool given; DType type; } as;
    Tail tail;
    Scope scope;
    MovedLoops loops;
    WarmUp warm;
    bool reassociate, contract, mask, in_place, status;
} StepArgs;

typedef enum OperandKind {
    OPERAND_END,
    OPERAND_LOOP, OPERAND_LOOPS,     /* one; one or more */
    OPERAND_LOOP_OR_ROOT,                   /* a loop, or `root` */
    OPERAND_STAGE, OPERAND_STAGES,   /* one; several, with commas between. OPERAND_TENSOR: a stage's or an input */
    OPERAND_TENSOR,
    OPERAND_WORD, OPERAND_WORDS,     /* a name other than a stage's: an axis, a macro, a dimension */
    OPERAND_PAIR,                    /* two such names, separated by a comma */
    OPERAND_TEXT,                    /* all words up to the first option */
    OPERAND_CALL,                    /* all words as well: a call, whose names without brackets are tensors */
    OPERAND_INSTRUCTION,             /* a macro, which all its numbers may follow: LW_FETCH[16,-3] */
    OPERAND_COUNT,
    OPERAND_CHOICE,                  /* an enum; its words, separated by |, in the order of its values */
    OPERAND_TYPE,
    OPERAND_FLAG,                    /* an option without a value */
} OperandKind;

typedef struct Operand {
    OperandKind kind;
    const char *key;                 /* options: before the '='; NULL: a required operand */
    const char *shown;               /* in the usage: FACTOR, or the words of a choice */
    size_t at;                       /* the field of StepArgs */
    const char *help;                /* options: the effect, and the default unless a choice names it */
    const char *instead;             /* operands: the option that may be given in its place; NULL: none */
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
    Operand operand[MAX_STEP_OPERANDS];   /* operands, then options; the last is OPERAND_END */
} StepRow;

const StepRow *step_rows(int *count);
const StepRow *step_row(const char *name);                       /* NULL: there is none */
const char *step_usage(Ctx *cx, const StepRow *row); /* split LOOP FACTOR [tail=guard|peel|shift|round] ... */
bool step_equal(Ctx *cx, const Step *a, const Step *b);
Step step_new(Ctx *cx, StepKind kind, const StepArgs *args);      /* with a copy of the operands */
/* Returns the step in the syntax of a .te file; options with their default are omitted. step_words: its words, of which
 * a list of operands, or a text, is one. Returns their number. */
const char *step_text(Ctx *cx, const Step *s);
enum { MAX_STEP_WORDS = MAX_STEP_OPERANDS + 1 };
int step_words(Ctx *cx, const Step *s, const char *out[MAX_STEP_WORDS]);
Step step_read(Ctx *cx, const char *text);                        /* its row is NULL after a diagnostic */
/* Returns the length of the role at the start of the word (role.h), with its argument: 17 in "@producer(conv2d).h"; 0:
 * the word begins with a name. */
size_t role_length(const char *word);
/* Renames the stages and tensors of a step, which may be roles; axes, macros and short names of loops
 * stay. */
typedef const char *RenameStage(Ctx *cx, const char *stage, void *user);
void step_rename(Ctx *cx, const StepRow *row, StepArgs *args, RenameStage *rename, void *user);
#endif
