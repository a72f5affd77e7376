/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_H
#define LW_IR_TEXT_READ_H
/* The reader of expressions as its three users share it: formulas (read_formula.c), printed nests (read_nest.c) and
 * .te files (import/te/te.c). */
#include "ir/algebra/algebra.h"
#include "ir/text/formula.h"
#include "ir/text/lex.h"

/* Names in force, newest first. Tensors and values do not hide each other: `k[k]` is legal. */
typedef struct Known Known;
struct Known {
    const Known *outer;
    const char *name;            /* interned */
    Tensor *tensor;              /* one of tensor or value */
    const Expr *value;
    bool is_axis;                /* of the formula being read */
    bool is_promised;            /* read before the formula that makes it */
};
Known *known_add(Ctx *cx, const Known *outer, const char *name, Tensor *tensor, const Expr *value);
const Known *known_of_binds(Ctx *cx, const Bind *binds);
const Known *known_tensor(const Known *s, Token t);      /* NULL: none of that name */
const Known *known_value(const Known *s, Token t);
/* A promise, behind the word: name ':' type. Adds a tensor that formulas may read before one makes it (ir/nest/recurrence.h). */
bool promise_read(Lexer *l, const Known **known);
bool promises_are_kept(Ctx *cx, const Known *known);    /* an error names one that is not */
/* `'z' is not known here`, with the nearest name of that sort if one is near. */
void unknown_name(const Lexer *l, const Known *s, Token at, bool wants_tensor);

/* An operand: an expression, or a literal that takes its type from the other operand. */
typedef enum LiteralKind { NO_LITERAL, INTEGER_LITERAL, REAL_LITERAL } LiteralKind;
typedef struct Value { const Expr *expr; LiteralKind literal; bool negative; Token at; } Value;

/* A read whose place may turn out to be outside of its tensor. */
typedef struct Access { const Tensor *tensor; int dim; const Expr *index; Token at; } Access;

typedef struct Reader {
    Ctx *cx;
    Lexer *lex;
    const Known *known;
    const Bounds *bounds;        /* of the formula's axes */
    DType literal;               /* of literals without another operand */
    bool in_size;                /* inside of an extent, where arithmetic must not wrap */
    /* Printed text: nothing is simplified, and constants that are legal but senseless pass */
    bool as_written;
    const Tensor *star;          /* what [*] ranges over: a tensor of the output's shape, or NULL; */
    const Expr *const *star_axis;   /* one variable for each of its dimensions */
    const Expr **condition;      /* of the padded reads that wait for their ':' */
    int condition_count, condition_room;
    int padded_count;            /* such reads, also those that need no condition */
    Token padded;                /* the last of them */
    Access *access;              /* reads without a guard, to be checked at the end */
    int access_count, access_room;
    int depth, operators;        /* so far; both are bounded */
} Reader;

Value read_value(Reader *r);                             /* one expression, as far as it goes */
const Expr *value_as(Reader *r, Value v, DType t);       /* a literal takes the type; an expression stays */
const Expr *value_alone(Reader *r, Value v);             /* a literal takes the default: r->literal, f32 for reals */
bool at_reduction(const Reader *r);                      /* does a reduction follow? */
bool read_reducer(Token t, Reducer *out);
const Expr *read_extent(Reader *r);                      /* up to ',', ';', ']', ')' or a comparison; i32 */
bool reader_has_padding(Reader *r);                      /* an error if a padded read has no value outside */

/* Between the parts of the reader. */
Value value_poison(Reader *r, Token at);
Value value_of(const Expr *e, Token at);
/* One type: that of the first which has one */
void  values_agree(Reader *r, const Value *v, int count, bool wants_float, const Expr **out);
/* Errors are shown at `at` */
Value value_operate(Reader *r, ExprKind k, Value a, Value b, Token at);
/* X / 0, a shift too far: an error */
bool  is_senseless(Reader *r, ExprKind k, const Expr *b, Token at);
Value read_call(Reader *r, Token name);              /* the name is taken, '(' is next */
Value read_element(Reader *r, Token name);           /* the name is taken, '[' is next */

/* A whole formula, to the end of the lexer. With as_written the reader takes it as print_stage writes it. The stage has the
 * name of its first output unless another is given. */
Tensor *formula_read(Lexer *l, const Known *known, const char *stage_name, bool as_written);
/* The place in the reduced axes, counted row by row: what argmax gives as its index unless told otherwise. */
const Expr *argument_place(Ctx *cx, const Axis *axis, int axis_count);
/* One expression, as far as it goes. */
const Expr *expression_read(Lexer *l, const Known *known, DType literal, bool as_written);
/* N in 1..1024: adds a VAR_SIZE variable */
bool size_read(Lexer *l, const Known **known);
/* {1, 2, 3}: elements in the host's order */
const void *data_read(Lexer *l, DType type, int64_t count);
const char *tensor_type_text(Ctx *cx, const Tensor *t);
bool tensor_type_read(Lexer *l, const Known *known, DType *type, int *rank, const Expr **shape);   /* f32[n][4] */
#endif
