/* SPDX-License-Identifier: MIT */
#ifndef LW_CONTEXT_BUILTIN_ROWS_H
#define LW_CONTEXT_BUILTIN_ROWS_H
#include "graph/dag/registry.h"
#include "ir/nest/instruction.h"

extern const BuiltinRows builtin_rows;
extern const InstructionRow *const builtin_instructions[];
#endif
