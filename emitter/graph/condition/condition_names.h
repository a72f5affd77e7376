/* SPDX-License-Identifier: MIT */
#ifndef LW_GRAPH_CONDITION_CONDITION_NAMES_H
#define LW_GRAPH_CONDITION_CONDITION_NAMES_H
/* The names that a condition may use. The names are those of a call, with its values, or those of an operator's row,
 * with any values. */
#include "graph/dag/target.h"

enum { MOST_NAMES_OF_CONDITION = 1024, MOST_WORDS_OF_CONDITION = 128 };

/* An attribute whose value is a word; value is NULL if any word matches. */
typedef struct WordAttr { const char *name, *value; } WordAttr;

typedef struct Names {
    Ctx *cx;
    /* True if the names come from an operator's row; predicates on types and values then hold. */
    bool is_row;
    const Target *target;              /* the target, or NULL for any target */
    /* The names of a condition. The name of an absent input has neither a tensor nor a value. */
    int count; Bind bind[MOST_NAMES_OF_CONDITION + 1];
    int word_count; WordAttr word[MOST_WORDS_OF_CONDITION];
} Names;

/* Returns the names of a call, which need not have outputs yet. */
Names *names_of_call(Ctx *cx, const Node *call, const Target *t);
Names *names_of_row(Ctx *cx);
void names_add_op(Names *w, const Op *op);
const Bind *names_find(const Names *w, const char *word);        /* returns NULL if no name is this word */
/* Returns the attribute of this name, or NULL if its value is not a word. */
const WordAttr *names_word(const Names *w, const char *word);
#endif
