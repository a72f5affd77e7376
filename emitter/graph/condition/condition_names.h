/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_CONDITION_CONDITION_NAMES_H
#define LW_GRAPH_CONDITION_CONDITION_NAMES_H
/* The names that a condition may use: a call's, with the call's values, or an operator row's, with any values. */
#include "graph/dag/target.h"

enum { MOST_NAMES_OF_CONDITION = 1024, MOST_WORDS_OF_CONDITION = 128 };

/* An attribute that is a word; value NULL: any. */
typedef struct WordAttr { const char *name, *value; } WordAttr;

typedef struct Names {
    Ctx *cx;
    bool is_row;                       /* of an operator's row: predicates on types and values are true */
    const Target *target;              /* NULL: any */
    int count; Bind bind[MOST_NAMES_OF_CONDITION + 1];   /* an absent input has neither tensor nor value */
    int word_count; WordAttr word[MOST_WORDS_OF_CONDITION];
} Names;

/* The call need not have outputs. */
Names *names_of_call(Ctx *cx, const Node *call, const Target *t);
Names *names_of_row(Ctx *cx);
void names_add_op(Names *w, const Op *op);
const Bind *names_find(const Names *w, const char *word);        /* NULL: unknown */
const WordAttr *names_word(const Names *w, const char *word);    /* NULL: no attribute of this name is a word */
#endif
