/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_H
#define LW_IR_TEXT_READ_H
/* The reader of expressions, shared by formulas (read_formula.c), printed nests (read_nest.c) and .te files
 * (import/te/te.c). */
#include "ir/algebra/algebra.h"
#include "ir/text/formula.h"
#include "ir/text/lex.h"

/* Names in scope, newest first. Tensors and values do not hide each other: `k[k]` is legal. */
typedef struct Symbol Symbol;
typedef struct SymbolIndex { Map tensors, values, reducers; } SymbolIndex;       /* maps a name to its newest Symbol */
struct Symbol {
    const Symbol *outer;
    /* The index of this symbol and all outer symbols, or NULL if they are searched one by one. */
    SymbolIndex *index;
    const char *name;            /* interned */
    Tensor *tensor;              /* a symbol is a tensor, a value or a reducer */
    const Expr *value;
    const struct ReducerText *reducer;
    bool is_axis;                /* true for an axis of the current formula */
    bool yields;                 /* true for a size whose name an axis of a formula may take */
    bool is_promised;            /* true if the tensor is declared before the formula that produces it */
};
Symbol *symbol_add(Ctx *cx, const Symbol *outer, const char *name, Tensor *tensor, const Expr *value);
/* Returns the outermost symbol of a long list, which has no name. Symbols added to it are found by an index, as long as
 * the newest one begins each search. */
const Symbol *symbols_indexed(Ctx *cx);
const Symbol *symbols_of_binds(Ctx *cx, const Bind *binds);
const Symbol *symbol_tensor(const Symbol *s, Token t);      /* returns NULL if no tensor has this name */
const Symbol *symbol_value(const Symbol *s, Token t);
const Symbol *symbol_reducer(const Symbol *s, Token t);
Symbol *symbol_add_reducer(Ctx *cx, const Symbol *outer, const struct ReducerText *reducer);
/* Reads the remainder of a promise: name ':' type. Adds a tensor that formulas may read before one produces it
 * (ir/nest/recurrence.h). */
bool promise_read(Lexer *l, const Symbol **symbols);
/* Returns true if every promise has a formula. Otherwise reports an error that names a promise without a formula. */
bool promises_are_kept(Ctx *cx, const Symbol *symbols);
/* Reports `'z' is not known here`, with the nearest name of that kind, if any. */
void unknown_name(const Lexer *l, const Symbol *s, Token at, bool tensors_only);

/* An operand: an expression, or a literal that receives the type of the other operand. */
typedef enum LiteralKind { NO_LITERAL, INTEGER_LITERAL, REAL_LITERAL } LiteralKind;
typedef struct Value { const Expr *expr; LiteralKind literal; bool negative; Token at; } Value;

/* A read without '?', to be checked against the bounds of its tensor. */
typedef struct Access { const Tensor *tensor; int dim; const Expr *index; Token at; bool is_guarded; } Access;

typedef struct Reader {
    Ctx *cx;
    Lexer *lex;
    const Symbol *symbols;
    const Bounds *bounds;        /* the ranges of the formula's axes */
    DType literal;               /* the type of literals without a typed operand */
    bool in_size;                /* true inside an extent, where arithmetic must not wrap */
    /* True for printed text: it is not simplified, and constants that are legal but meaningless are accepted. */
    bool as_written;
    const Tensor *star;          /* the index space of [*]: a tensor of the output's shape, or NULL */
    const Expr *const *star_axis;   /* one variable per dimension of `star` */
    const Expr **condition;      /* the conditions of padded reads before their ':' */
    int condition_count, condition_room;
    int padded_count;            /* the number of padded reads, with or without a condition */
    Token padded;                /* the last padded read */
    Access *access;              /* reads without '?', checked at the end */
    int access_count, access_room;
    int depth, operators;        /* the counts so far; both are bounded */
} Reader;

Value read_value(Reader *r);                             /* reads one expression of maximal length */
const Expr *value_as(Reader *r, Value v, DType t);       /* gives a literal the type; returns an expression unchanged */
/* Gives a literal the default type: r->literal, or f32 for a real. */
const Expr *value_alone(Reader *r, Value v);
bool at_reduction(const Reader *r);                      /* returns true if a reduction follows */
/* A declared reducer: its name, and its text, which begins at the parameters. */
typedef struct ReducerText { const char *name; Lexer lex; } ReducerText;
/* Reads the remainder of a declaration, without its body, and adds the reducer. */
bool reducer_declare(Lexer *l, const Symbol **symbols);
/* Returns the reducer that the formula's `where` or the symbols declare under the name, or NULL. */
const ReducerText *reducer_text(const Reader *r, Token at);
/* Reads the declaration with the types of the values. `at` is the place of the formula. */
const Combiner *combiner_read(Reader *r, const ReducerText *text, Token at, int count, const Expr *const *value);
/* Reads an i32 that ends before ',', ';', ']', ')' or a comparison. */
const Expr *read_extent(Reader *r);
bool reader_has_padding(Reader *r);                      /* reports an error if a padded read has no value outside */

/* Shared by the parts of the reader. */
Value value_poison(Reader *r, Token at);
Value value_of(const Expr *e, Token at);
/* Converts literals to the type of the first typed value. */
void  values_agree(Reader *r, const Value *v, int count, bool requires_float, const Expr **out);
/* Applies the operator to two operands. Errors point to `at`. */
Value value_operate(Reader *r, ExprKind k, Value a, Value b, Token at);
/* Reports X / 0 and shifts out of range as errors. */
bool  is_meaningless(Reader *r, ExprKind k, const Expr *b, Token at);
/* Refuses the reduction `name`, which is inside an expression. */
void refuse_inner_reduction(Reader *r, Token name);
Value read_call(Reader *r, Token name);              /* reads a call; the name is consumed and '(' is next */
Value read_element(Reader *r, Token name);           /* reads an element; the name is consumed and '[' is next */
/* Notes that access `first` and later ones are under a condition. */
void  guard_accesses(Reader *r, int first);

/* Returns true if `update NAME` begins the formula: its result is the tensor NAME after the update. */
bool at_update(const Lexer *l);
/* Reads a formula that extends to the end of the lexer. With as_written, the formula has the form that print_stage
 * prints. The stage is named after its first output unless another name is given. */
Tensor *formula_read(Lexer *l, const Symbol *symbols, const char *stage_name, bool as_written);
/* Returns the row-major index over the reduced axes, which is the default index of argmax. */
const Expr *argument_index(Ctx *cx, const Axis *axis, int axis_count);
/* Reads one expression of maximal length. */
const Expr *expression_read(Lexer *l, const Symbol *symbols, DType literal, bool as_written);
/* Reads "N in 1..1024" and adds a VAR_SIZE variable. */
bool size_read(Lexer *l, const Symbol **symbols);
/* Reads {1, 2, 3} and returns the elements in the host's byte order. */
const void *data_read(Lexer *l, DType type, int64_t count);
const char *tensor_type_text(Ctx *cx, const Tensor *t);
/* Reads a type such as f32[n][4]. */
bool tensor_type_read(Lexer *l, const Symbol *symbols, DType *type, int *rank, const Expr **shape);
#endif
