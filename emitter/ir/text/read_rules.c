/* SPDX-License-Identifier: MIT */
/* Reads the rows of rules.def with the reader of formulas: once for integers, represented by i32, and once for
 * floats. */
#include "ir/text/read_rules.h"

#include "ir/text/formula.h"

typedef struct Row { RuleDomain domain; const char *left, *right, *when, *text; } Row;
static const Row rows[] = {
#define RULE(domain, left, right, when) { RULE_##domain, left, right, when, left "  =  " right },
#include "ir/algebra/rules.def"
#undef RULE
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const char *const slot_names[SLOT_COUNT] = { "x", "y", "z", "p", "q", "c1", "c2", "c3" };

static void read_row(Ctx *cx, RuleTable *rules, const Row *row, DType type, const Bind *binds, Rule *tails[])
{
    Rule *rule = NEW(cx->arena, Rule);
    rule->text = row->text;
    rule->is_exact = row->domain == RULE_EXACT;
    rule->on_floats = dtype_is_float(type);
    rule->left = expr_read(cx, row->left, binds, type);
    rule->right = expr_read(cx, row->right, binds,
                            rule->left->type == BOOL && row->domain != RULE_BOOLS ? BOOL : rule->left->type);
    rule->when = expr_read(cx, row->when, binds, type);
    ExprKind k = rule->left->kind;
    if (tails[k]) tails[k]->next = rule;
    else rules->first[k] = rule;
    tails[k] = rule;
}

static void read_rows(Ctx *cx, RuleTable *rules, DType type)
{
    Bind binds[SLOT_COUNT + 1] = { { NULL, NULL, NULL } };
    Rule *tails[EXPR_KIND_COUNT];
    for (int s = 0; s < SLOT_COUNT; s++) {
        DType t = s == SLOT_P || s == SLOT_Q ? BOOL : type;
        binds[s] = (Bind){ slot_names[s], NULL, expr_new_var(cx, slot_names[s], VAR_LOCAL, t, s, s) };
    }
    binds[SLOT_COUNT] = (Bind){ NULL, NULL, NULL };
    for (int k = 0; k < EXPR_KIND_COUNT; k++) {
        tails[k] = rules->first[k];
        while (tails[k] && tails[k]->next) tails[k] = tails[k]->next;
    }
    for (int i = 0; i < ROW_COUNT; i++) {
        RuleDomain d = rows[i].domain;
        bool applies = d == RULE_NUMBERS || (d == RULE_FLOATS) == dtype_is_float(type);
        if (applies) read_row(cx, rules, &rows[i], type, binds, tails);
    }
}

void rules_read(Ctx *cx, RuleTable *rules)
{
    read_rows(cx, rules, I32);
    read_rows(cx, rules, F32);
}
