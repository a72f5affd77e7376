/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_LEX_H
#define LW_IR_TEXT_LEX_H
/* Tokens of formulas, printed nests and .te files, and errors that show the line with a caret below the token.
 *
 *   name     letter {letter | digit | '_'} { ('.' | '@') letter {letter | digit | '_'} }     conv, conv.ho, conv@tail.ho
 *   integer  digits | 0x hex digits          real  digits with a point or an exponent          string "..." without escapes
 *   symbol   << <= < >> >= > == = != ! && & || | .. and any other single character of punctuation
 * Blanks and newlines separate tokens; '#' begins a comment up to the end of the line. A reader may be given a part of a
 * text; places are counted from the beginning of the whole. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/ctx.h"

typedef enum TokenKind { TOKEN_END, TOKEN_NAME, TOKEN_INTEGER, TOKEN_REAL, TOKEN_STRING, TOKEN_SYMBOL } TokenKind;
/* `at` points into the text; strings with their quotes */
typedef struct Token { TokenKind kind; const char *at; int length; } Token;

typedef struct Lexer {
    Ctx *cx;
    const char *text;            /* the whole; lines and columns count from here */
    bool is_file;                /* diagnostics say `line:column`; else they name `what` */
    const char *what;            /* "formula" */
    Token *token;                /* [count + 1]; the last is TOKEN_END */
    int count, next;
} Lexer;

/* The tokens of text[begin, end). An unknown character is an error, and the tokens end there. */
Lexer lex_part(Ctx *cx, const char *text, size_t begin, size_t end, bool is_file, const char *what);
Lexer lex_text(Ctx *cx, const char *text, const char *what);

Token lex_peek(const Lexer *l);                        /* the next token; does not take it */
Token lex_ahead(const Lexer *l, int n);                /* the n-th after the next */
Token lex_take(Lexer *l);
bool  token_is(Token t, const char *text);             /* a name or symbol spelled so */
bool  lex_is(const Lexer *l, const char *text);
bool  lex_accept(Lexer *l, const char *text);          /* takes it if it is next */
bool  lex_expect(Lexer *l, const char *text, const char *where);    /* or an error: `')' is expected after the axes` */
/* interned; NULL and an error `WHAT is expected` if it is no name */
const char *lex_name(Lexer *l, const char *what);
/* With an optional '-'; false and an error if none or too large */
bool  lex_integer(Lexer *l, int64_t *out);
/* error at the first bracket that is not closed, or closes none */
bool  lex_brackets(const Lexer *l);
bool  lex_finish(Lexer *l);                            /* error if tokens are left */
uint64_t token_unsigned(Token t, bool *fits);          /* of TOKEN_INTEGER */
const char *token_text(Ctx *cx, Token t);              /* "the end" for TOKEN_END */

/* Errors with the line and a caret. The first error of the context stays. */
void lex_error(const Lexer *l, Token at, const char *format, ...);
/* What was reported since the mark is reported again at this token, unless it shows a line already. */
void lex_relocate(const Lexer *l, DiagMark mark, Token at);
#endif
