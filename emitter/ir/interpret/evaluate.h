/* SPDX-License-Identifier: MIT */
#ifndef LW_IR_INTERPRET_EVALUATE_H
#define LW_IR_INTERPRET_EVALUATE_H
/* The definition of meaning: evaluates computes one element at a time, in the plainest way. The oracle of the tests. */
#include "ir/expr/tensor.h"

/* Values of tensors (row-major, host order) and of sizes, for one evaluation. */
typedef struct Env Env;
Env *env_new(Ctx *cx);
Env *env_new_inside(Ctx *cx, const Env *outer);             /* new, with the sizes of the outer one */
Env *env_new_in(Arena *arena);                              /* env_alloc also allocates from the arena */
Arena *env_arena(const Env *e);
void env_copy_sizes(Env *to, const Env *from);              /* values of sizes, as they are now */
void env_set_size(Env *e, const Expr *size_var, int64_t value);
bool env_size(const Env *e, const Expr *size_var, int64_t *value);
void env_set(Env *e, const Tensor *t, void *data);         /* does not copy data */
void env_set_const(Env *e, const Tensor *t, const void *data);   /* read-only data */
const void *env_get(const Env *e, const Tensor *t);        /* constants give their own data; NULL: absent */
void *env_storage(const Env *e, const Tensor *t);          /* writable data of env_set or env_alloc; NULL: none */
int64_t env_eval_size(Ctx *cx, const Env *e, const Expr *size);         /* an expression over sizes */
int64_t env_elems(Ctx *cx, const Env *e, const Tensor *t);
void *env_alloc(Ctx *cx, Env *e, const Tensor *t);         /* fresh zeroed storage of the tensor's size, entered in e */

/* Computes the data of every output and, recursively, of the compute nodes that it depends on; inputs must be in e. An
 * intermediate tensor that e holds is used as given. Outputs are always recomputed, in the storage that e has for them,
 * and entered in e. A comparison with the interpreter therefore requires an Env for each. */
bool evaluate(Ctx *cx, Env *e, Tensor *const *outputs, int count);
#endif
