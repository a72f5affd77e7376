/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_LEX_H
#define LW_IR_TEXT_LEX_H
/* Tokens of formulas, printed nests and .te files; errors that show the line, with a caret below the token.
 *
 *  name     letter {letter | digit | '_'} { ('.' | '@') letter {letter | digit | '_'} }     conv, conv.ho, conv@tail.ho
 *  integer  digits | 0x hex digits
 *  real     digits with a point or an exponent
 *  string   "..." without escapes
 *  symbol   << <= < >> >= > == = != ! && & || | .. and each other punctuation character
 *
 * Blanks and newlines separate tokens; a '#' begins a comment that ends with its line. A lexer may cover a part of a
 * text; positions are counted from the beginning of the whole text. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

typedef enum TokenKind { TOKEN_END, TOKEN_NAME, TOKEN_INTEGER, TOKEN_REAL, TOKEN_STRING, TOKEN_SYMBOL } TokenKind;
/* `at` points into the text; strings include their quotes */
typedef struct Token { TokenKind kind; const char *at; int length; } Token;

typedef struct Lexer {
    Ctx *cx;
    Arena *arena;                /* the arena of the tokens */
    const char *text;            /* the whole text; lines and columns are counted from its start */
    bool is_file;                /* diagnostics begin with `line:column`; otherwise with `what` */
    const char *what;            /* the kind of text, such as "formula" */
    Token *token;                /* [count + 1]; the last is TOKEN_END */
    int count, next;
} Lexer;

/* Splits text[begin, end) into tokens. An unknown character is an error and ends the tokens. */
Lexer lex_part(Ctx *cx, const char *text, size_t begin, size_t end, bool is_file, const char *what);
/* Like lex_part, for a whole short text. The tokens of the text are in the scratch arena, which the caller resets. */
Lexer lex_text(Ctx *cx, const char *text, const char *what);

Token lex_peek(const Lexer *l);                        /* returns the next token, without consuming it */
Token lex_ahead(const Lexer *l, int n);                /* returns the n-th token after the next one */
Token lex_take(Lexer *l);
bool  token_is(Token t, const char *text);             /* returns true for this name or symbol */
bool  token_same(Token a, Token b);                    /* returns true for equal text of one kind */
bool  lex_is(const Lexer *l, const char *text);
bool  lex_accept(Lexer *l, const char *text);          /* consumes the name or symbol if it is next */
/* Consumes the name or symbol, or reports an error: `')' is expected after the axes`. */
bool  lex_expect(Lexer *l, const char *text, const char *where);
/* Consumes a name and returns it interned. If there is no name, returns NULL and reports the error `WHAT is
 * expected`. */
const char *lex_name(Lexer *l, const char *what);
/* Consumes an integer with an optional '-'. Reports an error and returns false if there is no integer or it is too
 * large. */
bool  lex_integer(Lexer *l, int64_t *out);
/* Reports the first unmatched bracket as an error. */
bool  lex_brackets(const Lexer *l);
bool  lex_finish(Lexer *l);                            /* reports an error if tokens remain */
uint64_t token_unsigned(Token t, bool *fits);          /* returns the value of a TOKEN_INTEGER */
const char *token_text(Ctx *cx, Token t);              /* returns "the end" for TOKEN_END */

/* Reports an error with its line and a caret. The context keeps its first error. */
void lex_error(const Lexer *l, Token at, const char *format, ...);
/* Moves the error that was reported since the mark to this token, unless it shows a line already. */
void lex_relocate(const Lexer *l, DiagMark mark, Token at);
/* Like lex_relocate; `prefix`, if not NULL, goes before the error. */
void lex_relocate_after(const Lexer *l, DiagMark mark, Token at, const char *prefix);
#endif
