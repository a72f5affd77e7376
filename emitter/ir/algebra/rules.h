/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_ALGEBRA_RULES_H
#define LW_IR_ALGEBRA_RULES_H
/* The rows of rules.def as patterns: expressions whose variables are slots. simplify.c matches them and builds the
 * right sides. The test of the rules puts constants in the slots and compares both sides. */
#include "ir/algebra/algebra.h"

typedef enum RuleDomain { RULE_NUMBERS, RULE_INTEGERS, RULE_FLOATS, RULE_EXACT, RULE_BOOLS } RuleDomain;
typedef enum RuleSlot { SLOT_X, SLOT_Y, SLOT_Z, SLOT_P, SLOT_Q, SLOT_C1, SLOT_C2, SLOT_C3, SLOT_COUNT } RuleSlot;

typedef struct Rule {
    const char *text;                     /* the text "left = right", for messages */
    const Expr *left, *right, *when;
    bool is_exact, on_floats;
    struct Rule *next;                    /* the next rule with the same root kind, in the order of rules.def */
} Rule;
typedef struct RuleTable { Rule *first[EXPR_KIND_COUNT]; } RuleTable;

const RuleTable *rules_of(Ctx *cx);       /* returns the table, which is read on first use and stored in the context */

typedef struct RuleMatch { const Expr *slot[SLOT_COUNT]; } RuleMatch;
/* Returns true if the left side matches and the condition holds. */
bool rule_matches(Ranges *r, const Rule *rule, const Expr *e, RuleMatch *out);
/* Returns true if the condition holds and the computed constants fit the type. */
bool rule_condition(Ranges *r, const Rule *rule, const RuleMatch *m);
/* Is called on each new node that a pattern builds, and returns the node to use. */
typedef const Expr *MakeNode(Ctx *cx, void *user, const Expr *made);
/* Builds the pattern with its slots filled. `operand` is the type of constants that no slot determines. `visit` may be
 * NULL. */
const Expr *rule_build(Ctx *cx, const Expr *pattern, const RuleMatch *m, DType operand, MakeNode *visit, void *user);
#endif
