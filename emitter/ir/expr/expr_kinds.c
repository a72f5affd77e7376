/* SPDX-License-Identifier: MIT */
/* The rows of expr.def and runtime.def. */
#include "ir/expr/expr.h"

#include <string.h>

enum { C = ALGEBRA_COMMUTES, A = ALGEBRA_ASSOCIATES, B = ALGEBRA_IS_BOOL, F = ALGEBRA_FLOATS, I = ALGEBRA_INTEGERS };
enum { MANY = EXPR_MANY };
static const ExprInfo infos[] = {
#define EXPR(kind, spelling, arity, form, prec, algebra) { spelling, arity, EXPR_##form, prec, algebra },
#include "ir/expr/expr.def"
#undef EXPR
};

static const RuntimeFunction functions[] = {
#define RUNTIME(function, c_name, result) { c_name, result },
#include "ir/expr/runtime.def"
#undef RUNTIME
};

const ExprInfo *expr_info(ExprKind k) { return &infos[k]; }
const RuntimeFunction *runtime_function(RuntimeName f) { return &functions[f]; }

bool expr_kind_read(const char *s, size_t n, ExprKind *out)
{
    for (int k = 0; k < EXPR_KIND_COUNT; k++) {
        if (infos[k].form != EXPR_CALL || strlen(infos[k].spelling) != n || memcmp(s, infos[k].spelling, n) != 0)
            continue;
        *out = (ExprKind)k;
        return true;
    }
    return false;
}
