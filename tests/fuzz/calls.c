/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/calls.h"

#include "cgen/cgen.h"
#include "lower/lower.h"
#include "support/map.h"
#include "support/names.h"
#include "tests/fuzz/signature.h"

enum { MOST_INDEX = 4096 };

/* ---- The function ------------------------------------------------------------------------------------------------ */

/* A part of a tensor: `dense` has its elements, index 0 is the tensor's index `first`. */
typedef struct Part { const Tensor *of; Tensor *dense; const Expr *count[MAX_RANK], *first[MAX_RANK]; } Part;
typedef struct Parts { int count; Part at[MOST_PARTS]; } Parts;

static const Expr *number(Ctx *cx, const char *letter, int part, int d)
{
    return expr_new_var(cx, name_format(cx, "%s%d_%d", letter, part, d), VAR_SIZE, I32, 0, MOST_INDEX);
}

static Part part_of(Ctx *cx, const Tensor *t, int i)
{
    Part p = { .of = t };
    for (int d = 0; d < t->rank; d++) {
        p.count[d] = number(cx, "dim", i, d);
        p.first[d] = number(cx, "first", i, d);
    }
    p.dense = tensor_new(cx, name_format(cx, "part%d", i), t->type, t->rank, p.count);
    return p;
}

static const Expr *read_of_part(Ctx *cx, const Expr *e, void *user)
{
    const Parts *all = user;
    const Expr *index[MAX_RANK];
    for (int i = 0; e->kind == EXPR_READ && i < all->count; i++) {
        const Part *p = &all->at[i];
        if (p->of != e->ref) continue;
        for (int d = 0; d < e->arg_count; d++) index[d] = expr_sub(cx, e->arg[d], p->first[d]);
        return tensor_read(cx, p->dense, index, e->arg_count);
    }
    return e;
}

/* The stage over the parts: a data axis runs over the part of the result, from its first index. */
static Node *stage_of_parts(Ctx *cx, const Stage *s, Parts *all)
{
    StageSpec spec = stage_spec(s);
    const Part *result = &all->at[all->count - s->out_count];
    const Expr *from[MAX_AXES], *to[MAX_AXES];
    spec.name = "part";
    for (int a = 0; a < s->data_count; a++) {
        from[a] = s->axis[a].var;
        const Expr *v = axis_var(cx, name_format(cx, "a%d", a), result->count[a]);
        spec.axis[a] = (Axis){ v, AXIS_DATA, result->count[a] };
        to[a] = expr_add(cx, v, result->first[a]);
    }
    for (int a = s->data_count; a < s->axis_count; a++)
        spec.axis[a].extent = expr_substitute(cx, s->axis[a].extent, from, to, s->data_count);
    for (int i = 0; i < s->out_count; i++) {
        const Expr **each[] = { &spec.value[i], &spec.init[i] };
        for (int k = 0; k < 2; k++)
            if (*each[k])
                *each[k] = expr_rewrite(cx, expr_substitute(cx, *each[k], from, to, s->data_count), read_of_part, all);
    }
    return compute_new(cx, &spec);
}

/* The parameters of a part: its address, and count, first index and stride of each dimension. */
static void part_parameters(Text *t, const Part *p, int i, bool is_result)
{
    text_printf(t, "%s%s%s *x%d", i ? ", " : "", is_result ? "" : "const ", dtype_info(p->of->type)->c_type, i);
    for (int d = 0; d < p->of->rank; d++)
        text_printf(t, ", int32_t dim%d_%d, int32_t first%d_%d, int32_t stride%d_%d", i, d, i, d, i, d);
}

static void copy_part(Text *t, const Part *p, int i, bool is_back)
{
    text_printf(t, "    part_%s(c%d, x%d, %d, %d, n%d, s%d);\n", is_back ? "back" : "in", i, i,
                dtype_info(p->of->type)->bytes, p->of->rank, i, i);
}

/* Dense copies of the operands, the naive function over them, and the results copied back. */
static void wrapper(Ctx *cx, Text *t, const char *name, const Function *f, const Parts *all, const Signature *g,
                    int results)
{
    Text body = text_new(cx);
    text_printf(t, "static void %s(", name);
    for (int i = 0; i < all->count; i++) part_parameters(t, &all->at[i], i, i >= all->count - results);
    for (int i = 0; i < g->size_count; i++) {
        const char *size = expr_as_var(g->size[i])->name;
        text_printf(t, ", int32_t %s", size);
        text_printf(&body, "    (void)%s;\n", size);
    }
    for (int i = 0; i < all->count; i++) {
        const Part *p = &all->at[i];
        text_printf(&body, "    const int32_t n%d[] = { 1", i);
        for (int d = 0; d < p->of->rank; d++) text_printf(&body, ", dim%d_%d", i, d);
        text_printf(&body, " }, s%d[] = { 0", i);
        for (int d = 0; d < p->of->rank; d++) text_printf(&body, ", stride%d_%d", i, d);
        text_printf(&body, " };\n    %s *c%d = part_new(%d, %d, n%d);\n", dtype_info(p->of->type)->c_type, i,
                    dtype_info(p->of->type)->bytes, p->of->rank, i);
        for (int d = 0; d < p->of->rank; d++) text_printf(&body, "    (void)first%d_%d;\n", i, d);
    }
    for (int i = 0; i < all->count - results; i++) copy_part(&body, &all->at[i], i, false);
    text_printf(&body, "    t_%s_naive(", name);
    for (int i = 0; i < f->size_count; i++) text_printf(&body, "%s%s", i ? ", " : "", expr_as_var(f->size[i])->name);
    for (int m = 0; m < f->memory_count; m++) {
        int i = 0;
        while (i < all->count && all->at[i].dense != f->memory[m]->tensor) i++;
        text_printf(&body, "%sc%d", m || f->size_count ? ", " : "", i);
    }
    text_add(&body, ");\n");
    for (int i = all->count - results; i < all->count; i++) copy_part(&body, &all->at[i], i, true);
    for (int i = 0; i < all->count; i++) text_printf(&body, "    free(c%d);\n", i);
    text_printf(t, ")\n{\n%s}\n\n", text_string(&body));
}

static void define_function(Ctx *cx, Text *t, const External *e, const Stage *s)
{
    const Signature g = signature_of(cx, s);
    Parts all = { .count = g.part_count };
    for (int i = 0; i < all.count; i++) all.at[i] = part_of(cx, g.part[i], i);
    Node *made = stage_of_parts(cx, s, &all);
    if (!made) return;
    for (int i = 0; i < s->out_count; i++) all.at[all.count - s->out_count + i].dense = made->out[i];
    const LowerOptions options = { 0 };
    const Nest *n = nest_naive(cx, "part", NULL, 0, made->out, made->out_count);
    const Function *lowered = lower_final(cx, lower_nest(cx, n, &options), &options);
    if (!lowered) return;
    Function f = *lowered;
    Program program = { .name = "t" };
    f.name = name_format(cx, "%s_naive", e->function);
    cgen_function(cx, t, &program, &f);
    text_char(t, '\n');
    wrapper(cx, t, e->function, &f, &all, &g, s->out_count);
}

static const Stmt *first_block(const Stmt *s)
{
    if (s->kind == STMT_BLOCK) return s;
    for (int i = 0; i < s->child_count; i++) {
        const Stmt *block = first_block(s->child[i]);
        if (block) return block;
    }
    return NULL;
}

static void define_in(Ctx *cx, Text *t, const Stmt *s, Map *done)
{
    const External *e = s->kind == STMT_TILE ? s->external : NULL;
    if (e && !external_is_macro(e->function) && !map_get_const_ptr(done, e)) {
        map_put_const_ptr(done, e, s);
        define_function(cx, t, e, first_block(s)->stage);
    }
    for (int i = 0; i < s->child_count; i++) define_in(cx, t, s->child[i], done);
}

void calls_define(Ctx *cx, Text *t, const Nest *n)
{
    Map done = map_new(cx->arena);
    for (; n; n = n->otherwise) define_in(cx, t, n->root, &done);
}
