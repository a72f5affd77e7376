/* SPDX-License-Identifier: MIT */
/* Compiles the values of a strip: the instructions of an expression, their levels, and the addresses of indices.
 *
 * A flat index becomes constant + sum of factor * variable wherever it is linear. The uniform part of the index is
 * added at each access; the rest is a vector of offsets, mostly constant for the whole run. A load is inside every loop
 * in which its tensor is also written, so it never precedes a store. The load may run where its block does not, because
 * another loop's extent may be 0: an access out of bounds is recorded, and the strip reports it. */
#include "ir/interpret/program_compile.h"

#include <string.h>

typedef struct ValueKey { const void *what, *mask; } ValueKey;   /* the expression, and the mask of its loads */

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

void *grown(Arena *arena, void *at, int count, int *capacity, size_t bytes)
{
    if (count < *capacity) return at;
    *capacity = *capacity ? 2 * *capacity : 8;
    void *more = arena_array(arena, (size_t)*capacity, bytes);
    if (count) memcpy(more, at, (size_t)count * bytes);
    return more;
}

/* Returns the instructions of a level. Levels 0 .. depth-1 are an iteration of loops[level], depth is the strip, and
 * depth + 1 is the combination of one lane. */
static Instrs *code_at(Compiler *c, int level)
{
    if (level < c->depth) return &c->loops[level]->each;
    return level == c->depth ? &c->strip->code : &c->strip->combine;
}

static void append(Compiler *c, int level, const Instr *in)
{
    Instrs *code = code_at(c, level);
    code->at = grown(c->arena, code->at, code->count, &code->capacity, sizeof *code->at);
    Instr *own = arena_copy(c->arena, in, sizeof *in);
    own->ran = &c->ran[path_of_kernel(in->run)];
    code->at[code->count++] = own;
}

static void *known(const Compiler *c, const void *what, const void *mask)
{
    const ValueKey key = { what, mask };
    return map_get(&c->values, &key, sizeof key);
}

static ProgramValue record(Compiler *c, const void *what, const void *mask, ProgramValue v)
{
    const ValueKey key = { what, mask };
    map_put(&c->values, arena_copy(c->arena, &key, sizeof key), sizeof key, arena_copy(c->arena, &v, sizeof v));
    return v;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int larger(int a, int b) { return a > b ? a : b; }

static ProgramValue value_new(Compiler *c, Rep rep, int lanes, int level)
{
    return (ProgramValue){ arena_array(c->arena, (size_t)lanes, rep_bytes(rep)), rep, lanes, level };
}

static ProgramValue constant(Compiler *c, DType t, Scalar s)
{
    ProgramValue v = value_new(c, rep_of(t), 1, 0);
    lane_put(v.rep, v.at, 0, s);
    return v;
}

static ProgramValue splat(Compiler *c, ProgramValue v)
{
    if (v.lanes == c->strip->lanes) return v;
    const ProgramValue *done = known(c, v.at, NULL);
    if (done) return *done;
    ProgramValue all = value_new(c, v.rep, c->strip->lanes, v.level);
    const Instr in = { .run = kernel_splat(v.rep), .lanes = all.lanes, .to = all.at, .arg = { v.at } };
    append(c, all.level, &in);
    return record(c, v.at, NULL, all);
}

static ProgramValue apply(Compiler *c, ExprKind kind, DType type, DType operand, const ProgramValue *arg, int count)
{
    int lanes = 1, level = 0;
    for (int i = 0; i < count; i++) {
        lanes = larger(lanes, arg[i].lanes);
        level = larger(level, arg[i].level);
    }
    ProgramValue to = value_new(c, rep_of(type), lanes, level);
    Instr in = { .run = kernel_of(kind, type, operand),
                 .lanes = lanes,
                 .to = to.at,
                 .kind = kind,
                 .type = type,
                 .operand = operand };
    for (int i = 0; i < count; i++) {
        in.arg[i] = lanes > 1 ? splat(c, arg[i]).at : arg[i].at;
        in.rep[i] = arg[i].rep;
    }
    in.rep[3] = to.rep;
    append(c, level, &in);
    return to;
}

static ProgramValue apply2(Compiler *c, ExprKind kind, DType t, ProgramValue a, ProgramValue b)
{
    const ProgramValue args[] = { a, b };
    return apply(c, kind, t, t, args, 2);
}

/* Returns the value of the variable of an enclosing loop or of a loop of the lanes. The outermost loop of the lanes
 * counts from the strip's base. */
static ProgramValue loop_value(Compiler *c, const Expr *var)
{
    for (int i = 0; i < c->lane_loops; i++) {
        if (c->lane_loop[i]->var != var) continue;
        const ProgramValue lane = { c->lane_var[i], REP_I32, c->strip->lanes, 0 };
        const ProgramValue base = { c->strip->base, REP_I32, 1, c->depth };
        return i == 0 && c->strip->chunked ? apply2(c, EXPR_ADD, I32, lane, base) : lane;
    }
    for (int i = 1; i < c->depth; i++)
        if (c->loops[i]->stmt->var == var) return (ProgramValue){ c->loops[i]->var, REP_I32, 1, i };
    diag_internal(c->cx, c->nest->name, "the variable \"%s\" is used outside its loop", expr_as_var(var)->name);
    return constant(c, I32, (Scalar){ 0 });
}

static bool has_reads(Compiler *c, const Expr *e)
{
    static const bool answers[] = { false, true };
    const bool *told = map_get_const_ptr(&c->reads, e);
    if (told) return *told;
    bool found = e->kind == EXPR_READ;
    for (int i = 0; i < e->arg_count && !found; i++) found = has_reads(c, e->arg[i]);
    map_put_const_ptr(&c->reads, e, &answers[found]);
    return found;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* The linear part of a flat index: constant + sum of factor * value. */
enum { MOST_TERMS = 32 };
typedef struct Sum {
    int64_t constant;
    int count;
    struct {
        ProgramValue value;
        int64_t factor;
    } term[MOST_TERMS];
} Sum;

static void add_term(Sum *s, ProgramValue v, int64_t factor)
{
    for (int i = 0; i < s->count; i++) {
        if (s->term[i].value.at != v.at) continue;
        s->term[i].factor += factor;
        return;
    }
    if (s->count == MOST_TERMS) return;   /* this is impossible, because add_linear reserves two terms for each */
    s->term[s->count].value = v;
    s->term[s->count++].factor = factor;
}

static int lane_number(const Compiler *c, const Expr *var)
{
    for (int i = 0; i < c->lane_loops; i++)
        if (c->lane_loop[i]->var == var) return i;
    return -1;
}

/* Adds factor * e. */
static void add_linear(Compiler *c, Sum *s, const Expr *e, int64_t factor, const ProgramValue *mask)
{
    const bool has_room = s->count < MOST_TERMS - 2 * MAX_RANK;
    if (e->kind == EXPR_INT) s->constant += factor * e->integer;
    else if (has_room && (e->kind == EXPR_ADD || e->kind == EXPR_SUB)) {
        add_linear(c, s, e->arg[0], factor, mask);
        add_linear(c, s, e->arg[1], e->kind == EXPR_ADD ? factor : -factor, mask);
    } else if (e->kind == EXPR_NEG) add_linear(c, s, e->arg[0], -factor, mask);
    else if (e->kind == EXPR_MUL && e->arg[1]->kind == EXPR_INT)
        add_linear(c, s, e->arg[0], factor * e->arg[1]->integer, mask);
    else if (e->kind == EXPR_VAR && lane_number(c, e) == 0 && c->strip->chunked) {
        add_term(s, (ProgramValue){ c->lane_var[0], REP_I32, c->strip->lanes, 0 }, factor);
        add_term(s, (ProgramValue){ c->strip->base, REP_I32, 1, c->depth }, factor);
    } else {
        const ProgramValue v = compile_value(c, e, mask);
        if (v.rep == REP_I32) add_term(s, v, factor);
        else diag_internal(c->cx, c->block->name, "an index has the type %s", dtype_info(e->type)->spelling);
    }
}

/* Returns the factor of a lane loop in the offsets, or 0 if they do not use it. */
static int64_t factor_of(const Compiler *c, const Offsets *o, int loop)
{
    for (int k = 0; k < o->term_count; k++)
        if (o->term[k].lane == c->lane_var[loop]) return o->term[k].factor;
    return 0;
}

static int lane_extent(Compiler *c, int loop)
{
    if (loop == 0 && c->strip->chunk) return c->strip->chunk;
    return (int)resolve(c, c->lane_loop[loop]->extent)->integer;
}

/* Returns true if the offsets depend only on the loops of the lanes. */
static bool is_of_loops(const Compiler *c, const Offsets *o)
{
    int found = 0;
    for (int k = 0; k < o->term_count; k++)
        for (int j = 0; j < c->lane_loops; j++) found += o->term[k].lane == c->lane_var[j];
    return found == o->term_count;
}

/* Finds the lanes that share an element (the lanes of the innermost loops without a factor), and the lanes of
 * neighbours. */
static void find_runs(Compiler *c, Offsets *o)
{
    for (int i = c->lane_loops - 1; i >= 0 && !factor_of(c, o, i); i--) o->run *= lane_extent(c, i);
    if (c->lane_loops && factor_of(c, o, c->lane_loops - 1) == 1) o->row = lane_extent(c, c->lane_loops - 1);
}

static const Offsets *no_offsets(Compiler *c)
{
    Offsets *o = NEW(c->arena, Offsets);
    *o = (Offsets){ .at = NEW_ARRAY(c->arena, int64_t, c->strip->lanes), .is_even = true, .run = c->strip->lanes,
                    .row = 1 };
    return o;
}

/* Splits the sum into its uniform part and an instruction that computes the rest. Returns the level of both. */
static int set_address(Compiler *c, ProgramAccess *x, const Sum *s)
{
    LaneTerm *shared = NEW_ARRAY(c->arena, LaneTerm, s->count), *own = NEW_ARRAY(c->arena, LaneTerm, s->count);
    int shared_count = 0, own_count = 0, shared_level = 0, own_level = 0;
    for (int i = 0; i < s->count; i++) {
        const ProgramValue *v = &s->term[i].value;
        const LaneTerm term = { v->at, s->term[i].factor };
        if (v->lanes == 1) shared[shared_count++] = term;
        else own[own_count++] = term;
        if (v->lanes == 1) shared_level = larger(shared_level, v->level);
        else own_level = larger(own_level, v->level);
    }
    x->constant = s->constant;
    x->term = shared;
    x->term_count = shared_count;
    x->offsets = no_offsets(c);
    if (!own_count) return shared_level;
    Offsets *o = NEW(c->arena, Offsets);
    *o = (Offsets){ .at = NEW_ARRAY(c->arena, int64_t, c->strip->lanes), .term = own, .term_count = own_count,
                    .run = 1, .row = 1 };
    const Instr in = { .run = kernel_offsets, .lanes = c->strip->lanes, .offsets = o };
    if (is_of_loops(c, o)) {
        find_runs(c, o);
        kernel_offsets(&in, in.lanes);
    } else append(c, own_level, &in);
    x->offsets = o;
    return larger(shared_level, own_level);
}

static const void *data_of(Compiler *c, const Tensor *t)
{
    const void *data = map_get_const_ptr(&c->data, t);
    if (!data) data = t->data;
    if (!data) diag_error(c->cx, c->nest->name, "the tensor \"%s\" has no data and no Alloc", t->name);
    return data;
}

static Sum flat_index(Compiler *c, const Tensor *t, const Expr *const *index, const ProgramValue *mask)
{
    Sum s = { 0 };
    int64_t stride = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        add_linear(c, &s, index[d], stride, mask);
        stride *= env_eval_size(c->cx, c->env, t->shape[d]);
    }
    return s;
}

int compile_address(Compiler *c, ProgramAccess *x, const Tensor *t, const Expr *const *index, const ProgramValue *mask)
{
    const Sum s = flat_index(c, t, index, mask);
    x->tensor = t;
    x->data = data_of(c, t);
    x->elems = env_elems(c->cx, c->env, t);
    x->fault_lane = -1;
    x->ran = c->ran;
    return set_address(c, x, &s);
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

static bool writes(const Stmt *s, const Tensor *t)
{
    if (s->kind == STMT_BLOCK)
        for (int i = 0; i < s->stage->out_count; i++)
            if (s->stage->out[i] == t) return true;
    for (int i = 0; i < s->child_count; i++)
        if (writes(s->child[i], t)) return true;
    return false;
}

/* Returns the outermost level at which the tensor no longer changes. */
static int load_level(const Compiler *c, const Tensor *t)
{
    int level = t->data ? 0 : c->depth;
    while (level > 0 && !writes(c->loops[level - 1]->stmt, t)) level--;
    return level;
}

static void note_load(Compiler *c, ProgramAccess *x)
{
    Strip *s = c->strip;
    s->load = grown(c->arena, s->load, s->load_count, &c->load_room, sizeof *s->load);
    s->load[s->load_count++] = x;
}

static ProgramValue compile_read(Compiler *c, const Expr *e, const ProgramValue *mask)
{
    const Tensor *t = e->ref;
    ProgramAccess *x = NEW(c->arena, ProgramAccess);
    int level = larger(compile_address(c, x, t, e->arg, mask), load_level(c, t));
    if (mask) {
        x->mask = mask->at;
        x->mask_step = mask->lanes > 1;
        level = larger(level, mask->level);
    }
    const bool varies = x->offsets->term_count > 0 || (mask && mask->lanes > 1);
    ProgramValue to = value_new(c, rep_of(t->type), varies ? c->strip->lanes : 1, level);
    const Instr in = { .run = kernel_load(t->type), .lanes = to.lanes, .to = to.at, .access = x };
    append(c, level, &in);
    note_load(c, x);
    return to;
}

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

/* Returns the mask of a side that is evaluated only where `cond` equals `wanted`. */
static ProgramValue narrowed(Compiler *c, const ProgramValue *mask, ProgramValue cond, bool wanted)
{
    if (!wanted) cond = apply(c, EXPR_NOT, BOOL, BOOL, &cond, 1);
    return mask ? apply2(c, EXPR_AND, BOOL, cond, *mask) : cond;
}

static ProgramValue compile_side(Compiler *c, const Expr *e, const ProgramValue *mask, ProgramValue cond, bool wanted)
{
    if (!has_reads(c, e)) return compile_value(c, e, NULL);
    const ProgramValue inner = narrowed(c, mask, cond, wanted);
    return compile_value(c, e, &inner);
}

static bool is_same_register(const Expr *cast)
{
    const DTypeInfo *to = dtype_info(cast->type), *from = dtype_info(cast->arg[0]->type);
    return rep_of(cast->type) == REP_I32 && rep_of(cast->arg[0]->type) == REP_I32 && cast->type != BOOL
        && to->least <= from->least && to->greatest >= from->greatest;
}

static ProgramValue compile_operation(Compiler *c, const Expr *e, const ProgramValue *mask)
{
    ProgramValue arg[3];
    const bool is_lazy = e->kind == EXPR_SELECT || e->kind == EXPR_AND || e->kind == EXPR_OR;
    arg[0] = compile_value(c, e->arg[0], mask);
    if (e->kind == EXPR_CAST && is_same_register(e)) return arg[0];
    for (int i = 1; i < e->arg_count; i++)
        arg[i] = is_lazy ? compile_side(c, e->arg[i], mask, arg[0], e->kind == EXPR_OR ? false : i == 1)
                         : compile_value(c, e->arg[i], mask);
    return apply(c, e->kind, e->type, e->arg[e->arg_count - 1]->type, arg, e->arg_count);
}

static ProgramValue compile_new(Compiler *c, const Expr *e, const ProgramValue *mask)
{
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_REAL: return constant(c, e->type, expr_scalar(e));
    case EXPR_VAR:  return loop_value(c, e);
    case EXPR_READ: return compile_read(c, e, mask);
    case EXPR_RUNTIME: return compile_value(c, e->arg[RUNTIME_VALUE], mask);
    case EXPR_POISON:
    case EXPR_LOAD:
    case EXPR_AT:
        diag_internal(c->cx, c->nest->name, "a '%s' cannot be interpreted", expr_info(e->kind)->spelling);
        return constant(c, e->type, (Scalar){ 0 });
    default: return compile_operation(c, e, mask);
    }
}

ProgramValue compile_value(Compiler *c, const Expr *e, const ProgramValue *mask)
{
    if (!has_reads(c, e)) mask = NULL;
    const ProgramValue *done = known(c, e, mask ? mask->at : NULL);
    return done ? *done : record(c, e, mask ? mask->at : NULL, compile_new(c, e, mask));
}

/* Replaces axes by their binds and sizes by their values. */
static const Expr *resolve_one(Ctx *cx, const Expr *e, void *user)
{
    const Compiler *c = user;
    const Var *v = expr_as_var(e);
    int64_t size;
    if (v && v->role == VAR_SIZE && env_size(c->env, e, &size)) return expr_int(cx, e->type, size);
    for (int a = 0; v && c->bind && a < c->stage->axis_count; a++)
        if (c->stage->axis[a].var == e) return c->bind[a];
    return e;
}

const Expr *resolve(Compiler *c, const Expr *e) { return e ? expr_rewrite(c->cx, e, resolve_one, c) : NULL; }

ProgramValue compile_operand(Compiler *c, DType t, const Expr **stand_in)
{
    ProgramValue v = value_new(c, rep_of(t), 1, c->depth + 1);
    *stand_in = expr_new_var(c->cx, "lane", VAR_LOCAL, t, 0, 0);
    return record(c, *stand_in, NULL, v);
}
