/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_EVALUATE_H
#define LW_IR_INTERPRET_EVALUATE_H
/* Defines the meaning of computes: evaluates them one element at a time, in the plainest way. Tests compare everything
 * else with it. */
#include "ir/expr/tensor.h"

/* Holds the values of tensors (row-major, host order) and of sizes, for one evaluation. */
typedef struct Env Env;
Env *env_new(Ctx *cx);
/* Returns a new environment with the sizes of the outer one. */
Env *env_new_inside(Ctx *cx, const Env *outer);
Env *env_new_in(Arena *arena);                              /* the environment and env_alloc use this arena */
Arena *env_arena(const Env *e);
void env_copy_sizes(Env *to, const Env *from);              /* copies the current values of sizes */
void env_set_size(Env *e, const Expr *size_var, int64_t value);
bool env_size(const Env *e, const Expr *size_var, int64_t *value);
void env_set(Env *e, const Tensor *t, void *data);         /* does not copy the data */
void env_set_const(Env *e, const Tensor *t, const void *data);   /* for read-only data */
/* Returns the tensor's data, or NULL if e has none. Constants have their own data. */
const void *env_get(const Env *e, const Tensor *t);
/* Returns the writable data of env_set or env_alloc, or NULL. */
void *env_storage(const Env *e, const Tensor *t);
int64_t env_eval_size(Ctx *cx, const Env *e, const Expr *size);         /* evaluates an expression over sizes */
int64_t env_elems(Ctx *cx, const Env *e, const Tensor *t);
/* Returns new zeroed storage of the tensor's size, which it enters in e. */
void *env_alloc(Ctx *cx, Env *e, const Tensor *t);

/* Computes the data of every output and, recursively, of the compute nodes that it depends on; inputs must be in e. If
 * e holds an intermediate tensor, its data are used as given. Outputs are always recomputed, in the storage that e has
 * for them, and entered in e. A comparison of the evaluator with the interpreter therefore requires two Envs. */
bool evaluate(Ctx *cx, Env *e, Tensor *const *outputs, int count);
#endif
