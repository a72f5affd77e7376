/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_TEXT_READ_RULES_H
#define LW_IR_TEXT_READ_RULES_H
#include "ir/algebra/rules.h"

void rules_read(Ctx *cx, RuleTable *rules);        /* fills an empty table */
#endif
