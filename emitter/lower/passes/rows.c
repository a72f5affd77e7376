/* SPDX-License-Identifier: MIT */
/* Gives gathered rows a pointer. Some statements load neighbouring elements at an index that is itself loaded. They
 * share a pointer to the first of these elements, because C compilers form a separate address for each:
 *
 *     acc_0 += w[i[t]*10];  acc_1 += w[i[t]*10 + 1];  ..
 * =>  const float *w_row = w + i[t]*10;  acc_0 += w_row[0];  acc_1 += w_row[1];  ..
 *
 * The first statement is always executed and reads at the pointer, so the pointer is inside the memory. The statements
 * store only to variables, so no array changes between them. */
#include "lower/passes/passes.h"
#include "support/names.h"

enum { LEAST_USES = 4 };

/* A run of stores, and the row that they share: memory[first + constant]. */
typedef struct Run {
    Ctx *cx;
    const Code *const *store; int count;
    const Memory *memory, *pointer;
    const Expr *first;
    int uses;
} Run;

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void find_load(const Expr *e, void *user)
{
    if (e->kind == EXPR_LOAD) *(bool *)user = true;
}

/* Splits a load's index into a part that is loaded and a constant. Returns false if it has no such part. */
static bool row_of(Ctx *cx, const Expr *load, const Expr **first, int64_t *constant)
{
    const Memory *m = load->ref;
    bool is_loaded = false;
    Linear l;
    if (m->kind == MEMORY_LOCAL || m->kind == MEMORY_SCALAR || m->kind == MEMORY_POINTER) return false;
    expr_walk(cx, load->arg[0], find_load, &is_loaded);
    if (!is_loaded || !linear_of(cx, load->arg[0], &l)) return false;
    *constant = l.constant;
    l.constant = 0;
    *first = linear_expr(cx, &l);
    return true;
}

static bool is_in_row(const Run *r, const Expr *e, int64_t *constant)
{
    const Expr *first;
    return e->kind == EXPR_LOAD && e->ref == r->memory && row_of(r->cx, e, &first, constant) && first == r->first
           && *constant >= 0;
}

static void count_use(const Expr *e, void *user)
{
    Run *r = user;
    int64_t constant;
    r->uses += is_in_row(r, e, &constant);
}

typedef struct Reads { const Memory *memory; bool found; } Reads;

static void find_read(const Expr *e, void *user)
{
    Reads *w = user;
    w->found = w->found || (e->kind == EXPR_LOAD && e->ref == w->memory);
}

/* Returns true if every store of the run is to a variable that no load of the row's index reads. */
static bool is_stable(const Run *r)
{
    for (int i = 0; i < r->count; i++) {
        Reads index = { r->store[i]->memory, false };
        expr_walk(r->cx, r->first, find_read, &index);
        if (index.found || r->store[i]->memory->kind != MEMORY_SCALAR) return false;
    }
    return true;
}

/* Finds the first row that enough of the run's loads share, among the loads that its first store certainly executes. */
static bool find_row(Run *r, const Expr *e)
{
    const bool is_lazy = e->kind == EXPR_SELECT || e->kind == EXPR_AND || e->kind == EXPR_OR;
    int64_t constant;
    if (e->kind == EXPR_LOAD && row_of(r->cx, e, &r->first, &constant) && constant == 0) {
        r->memory = e->ref;
        r->uses = 0;
        for (int i = 0; i < r->count; i++) expr_walk(r->cx, r->store[i]->value, count_use, r);
        if (r->uses >= LEAST_USES && is_stable(r)) return true;
    }
    for (int i = 0; i < (is_lazy ? 1 : e->arg_count); i++)
        if (find_row(r, e->arg[i])) return true;
    return false;
}

/* ---- Rewriting --------------------------------------------------------------------------------------------------- */

static const Expr *in_row(Ctx *cx, const Expr *e, void *user)
{
    const Run *r = user;
    int64_t constant;
    return is_in_row(r, e, &constant) ? load_expr(cx, r->pointer, expr_index(cx, constant)) : e;
}

/* Appends the run's statements to `out`; returns their count. */
static int append_run(Run *r, const Code **out)
{
    int count = 0;
    if (!find_row(r, r->store[0]->value)) {
        for (int i = 0; i < r->count; i++) out[count++] = r->store[i];
        return count;
    }
    r->pointer = memory_new(r->cx, &(Memory){ .name = name_format(r->cx, "%s_row", r->memory->name),
                                              .type = r->memory->type, .kind = MEMORY_POINTER,
                                              .tensor = r->memory->tensor, .is_const = true, .base = r->memory,
                                              .offset = r->first });
    out[count++] = code_local(r->cx, r->pointer);
    for (int i = 0; i < r->count; i++)
        out[count++] = code_store(r->cx, r->store[i]->memory, r->store[i]->index,
                                  expr_rewrite(r->cx, r->store[i]->value, in_row, r));
    return count;
}

static const Code *rows(Ctx *cx, const Code *c)
{
    if (!c->child_count || (c->kind == CODE_FOR && c->loop_kind == LOOP_LANES) || c->kind == CODE_CALL) return c;
    const Code **child = NEW_ARRAY(cx->arena, const Code *, c->child_count), **out;
    for (int i = 0; i < c->child_count; i++) child[i] = rows(cx, c->child[i]);
    if (c->kind != CODE_SEQ) return code_with_children(cx, c, child);
    out = NEW_ARRAY(cx->arena, const Code *, 2 * c->child_count);
    int count = 0;
    for (int i = 0, next; i < c->child_count; i = next) {
        for (next = i; next < c->child_count && child[next]->kind == CODE_STORE;) next++;
        Run run = { .cx = cx, .store = child + i, .count = next - i };
        if (run.count) count += append_run(&run, out + count);
        else out[count++] = child[next++];
    }
    return count == c->child_count ? code_with_children(cx, c, child) : code_seq(cx, out, count);
}

const Code *pass_rows(Ctx *cx, const LowerOptions *options, const Code *c)
{
    (void)options;
    return rows(cx, c);
}
