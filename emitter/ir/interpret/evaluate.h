/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_EVALUATE_H
#define LW_IR_EVALUATE_H
/* The definition of meaning: evaluates computes one element at a time, as plainly as can be. The oracle of the tests. */
#include "ir/expr/tensor.h"

/* Values of tensors (row-major, host order) and of sizes, for one evaluation. */
typedef struct Env Env;
Env *env_new(Ctx *cx);
void env_set_size(Env *e, const Expr *size_var, int64_t value);
bool env_size(const Env *e, const Expr *size_var, int64_t *value);
void env_set(Env *e, const Tensor *t, void *data);         /* data is not copied */
void env_set_const(Env *e, const Tensor *t, const void *data);   /* that is only read */
const void *env_get(const Env *e, const Tensor *t);        /* constants give their own data; NULL: absent */
void *env_storage(const Env *e,
    const Tensor *t);          /* what env_set or env_alloc has given, to be written; NULL */
int64_t env_eval_size(Ctx *cx, const Env *e, const Expr *size);         /* an expression over sizes */
int64_t env_elems(Ctx *cx, const Env *e, const Tensor *t);
void *env_alloc(Ctx *cx, Env *e, const Tensor *t);         /* fresh zeroed storage of the tensor's size, entered in e */

/* Makes every output's data, evaluating (recursively) the compute nodes it needs; inputs must be in e. A tensor on the way
 * that e holds is taken as it is; outputs are always made anew, in the storage that e has for them, and entered in e. So to
 * compare with the interpreter use an Env for each. */
bool evaluate(Ctx *cx, Env *e, Tensor *const *outputs, int count);
#endif
