/* SPDX-License-Identifier: MIT */
/* Compiles a nest to a program (program.h). Sizes and data are known, so sizes become constants and tensors pointers.
 *
 * Lanes are points of a block in the order of its loops, and every lane is computed before one is stored. That is right
 * as long as a block does not read what it writes itself; one that does gets one lane. A load stands inside every loop
 * in which its tensor is also written, so it never runs ahead of a store. It may run where its block will not, for
 * another loop's extent may be 0: so out of bounds it only notes the fault, and the strip reports it. */
#include "ir/program.h"

#include <string.h>

#include "support/map.h"

/* A value made by an instruction, or a constant. */
typedef struct Value { void *at; Rep rep; int lanes, level; } Value;

typedef struct Compiler {
    Ctx *cx;
    Arena *arena;
    const Nest *nest;
    Env *env;
    Map data;                       /* Tensor -> where its elements are */
    Map reads;                      /* Expr -> whether it reads tensors */
    Loop *loops[MAX_DEPTH];         /* around what is compiled: [0] is the program itself */
    int depth;
    const Stage *stage;             /* of the block that is compiled */
    const Stmt *block;
    Strip *strip;
    const Expr *const *bind;        /* its axes, over loops */
    const Stmt *lane_loop[MAX_DEPTH];   /* the loops that became lanes, outermost first */
    int32_t *lane_var[MAX_DEPTH];
    int lane_loops;
    Map values;                     /* ValueKey -> Value, in this strip */
    int load_room;
} Compiler;

typedef struct ValueKey { const void *what, *mask; } ValueKey;   /* expression; the mask under which it is loaded */

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static void *grown(Arena *arena, const void *at, int count, int *room, size_t bytes)
{
    if (count < *room) return (void *)(uintptr_t)at;
    *room = *room ? 2 * *room : 8;
    void *more = arena_array(arena, (size_t)*room, bytes);
    if (count) memcpy(more, at, (size_t)count * bytes);
    return more;
}

/* Levels: 0 .. depth-1 an iteration of loops[level], depth the strip, depth + 1 one lane's combination. */
static Instrs *code_at(Compiler *c, int level)
{
    if (level < c->depth) return &c->loops[level]->each;
    return level == c->depth ? &c->strip->code : &c->strip->combine;
}

static void append(Compiler *c, int level, const Instr *in)
{
    Instrs *code = code_at(c, level);
    code->at = grown(c->arena, code->at, code->count, &code->room, sizeof *code->at);
    code->at[code->count++] = arena_copy(c->arena, in, sizeof *in);
}

static void add_action(Compiler *c, Loop *loop, Strip *strip)
{
    Loop *in = c->loops[c->depth - 1];
    in->action = grown(c->arena, in->action, in->count, &in->room, sizeof *in->action);
    in->action[in->count++] = (Action){ loop, strip };
}

static void *known(const Compiler *c, const void *what, const void *mask)
{
    const ValueKey key = { what, mask };
    return map_get(&c->values, &key, sizeof key);
}

static Value remember(Compiler *c, const void *what, const void *mask, Value v)
{
    const ValueKey key = { what, mask };
    map_put(&c->values, arena_copy(c->arena, &key, sizeof key), sizeof key, arena_copy(c->arena, &v, sizeof v));
    return v;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int larger(int a, int b) { return a > b ? a : b; }

static Value value_new(Compiler *c, Rep rep, int lanes, int level)
{
    static const size_t bytes[] = { [REP_I32] = sizeof(int32_t), [REP_F32] = sizeof(float), [REP_WIDE] = sizeof(Scalar) };
    return (Value){ arena_array(c->arena, (size_t)lanes, bytes[rep]), rep, lanes, level };
}

static Value constant(Compiler *c, DType t, Scalar s)
{
    Value v = value_new(c, rep_of(t), 1, 0);
    lane_put(v.rep, v.at, 0, s);
    return v;
}

static Value splat(Compiler *c, Value v)
{
    if (v.lanes == c->strip->lanes) return v;
    const Value *done = known(c, v.at, NULL);
    if (done) return *done;
    Value all = value_new(c, v.rep, c->strip->lanes, v.level);
    const Instr in = { .run = kernel_splat(v.rep), .lanes = all.lanes, .to = all.at, .arg = { v.at } };
    append(c, all.level, &in);
    return remember(c, v.at, NULL, all);
}

static Value apply(Compiler *c, ExprKind kind, DType type, DType operand, const Value *arg, int count)
{
    int lanes = 1, level = 0;
    for (int i = 0; i < count; i++) {
        lanes = larger(lanes, arg[i].lanes);
        level = larger(level, arg[i].level);
    }
    Value to = value_new(c, rep_of(type), lanes, level);
    Instr in = { .run = kernel_of(kind, type, operand), .lanes = lanes, .to = to.at, .kind = kind, .type = type, .operand = operand };
    for (int i = 0; i < count; i++) {
        in.arg[i] = lanes > 1 ? splat(c, arg[i]).at : arg[i].at;
        in.rep[i] = arg[i].rep;
    }
    in.rep[3] = to.rep;
    append(c, level, &in);
    return to;
}

static Value apply2(Compiler *c, ExprKind kind, DType t, Value a, Value b)
{
    const Value args[] = { a, b };
    return apply(c, kind, t, t, args, 2);
}

/* The value of a loop variable: of a loop around, or of the lanes, the outermost of which count from the strip's base. */
static Value loop_value(Compiler *c, const Expr *var)
{
    for (int i = 0; i < c->lane_loops; i++) {
        if (c->lane_loop[i]->var != var) continue;
        const Value lane = { c->lane_var[i], REP_I32, c->strip->lanes, 0 };
        const Value base = { c->strip->base, REP_I32, 1, c->depth };
        return i == 0 && c->strip->chunked ? apply2(c, EXPR_ADD, I32, lane, base) : lane;
    }
    for (int i = 1; i < c->depth; i++)
        if (c->loops[i]->stmt->var == var) return (Value){ c->loops[i]->var, REP_I32, 1, i };
    diag_internal(c->cx, c->nest->name, "the variable \"%s\" is used outside its loop", expr_as_var(var)->name);
    return constant(c, I32, (Scalar){ 0 });
}

static bool has_reads(Compiler *c, const Expr *e)
{
    static const bool answers[] = { false, true };
    const bool *told = map_get_ptr(&c->reads, e);
    if (told) return *told;
    bool found = e->kind == EXPR_READ;
    for (int i = 0; i < e->arg_count && !found; i++) found = has_reads(c, e->arg[i]);
    map_put_ptr(&c->reads, e, (void *)(uintptr_t)&answers[found]);
    return found;
}

static Value compile(Compiler *c, const Expr *e, const Value *mask);

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* constant + sum of factor * value: the part of a flat index that was found linear. */
enum { MOST_TERMS = 32 };
typedef struct Sum { int64_t constant; int count; struct { Value value; int64_t factor; } term[MOST_TERMS]; } Sum;

static void add_term(Sum *s, Value v, int64_t factor)
{
    for (int i = 0; i < s->count; i++) {
        if (s->term[i].value.at != v.at) continue;
        s->term[i].factor += factor;
        return;
    }
    if (s->count == MOST_TERMS) return;   /* cannot be: add_linear keeps two terms for each */
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
static void add_linear(Compiler *c, Sum *s, const Expr *e, int64_t factor, const Value *mask)
{
    const bool has_room = s->count < MOST_TERMS - 2 * MAX_RANK;
    if (e->kind == EXPR_INT) s->constant += factor * e->integer;
    else if (has_room && (e->kind == EXPR_ADD || e->kind == EXPR_SUB)) {
        add_linear(c, s, e->arg[0], factor, mask);
        add_linear(c, s, e->arg[1], e->kind == EXPR_ADD ? factor : -factor, mask);
    } else if (e->kind == EXPR_NEG) add_linear(c, s, e->arg[0], -factor, mask);
    else if (e->kind == EXPR_MUL && e->arg[1]->kind == EXPR_INT) add_linear(c, s, e->arg[0], factor * e->arg[1]->integer, mask);
    else if (e->kind == EXPR_VAR && lane_number(c, e) == 0 && c->strip->chunked) {
        add_term(s, (Value){ c->lane_var[0], REP_I32, c->strip->lanes, 0 }, factor);
        add_term(s, (Value){ c->strip->base, REP_I32, 1, c->depth }, factor);
    } else {
        const Value v = compile(c, e, mask);
        if (v.rep == REP_I32) add_term(s, v, factor);
        else diag_internal(c->cx, c->block->name, "an index has the type %s", dtype_info(e->type)->spelling);
    }
}

static const Offsets *no_offsets(Compiler *c)
{
    Offsets *o = NEW(c->arena, Offsets);
    *o = (Offsets){ .at = NEW_ARRAY(c->arena, int64_t, c->strip->lanes), .is_even = true };
    return o;
}

/* Splits the sum into what all lanes share and an instruction that makes the rest. Gives the level of both. */
static int set_address(Compiler *c, Access *x, const Sum *s)
{
    LaneTerm *shared = NEW_ARRAY(c->arena, LaneTerm, s->count), *own = NEW_ARRAY(c->arena, LaneTerm, s->count);
    int shared_count = 0, own_count = 0, shared_level = 0, own_level = 0;
    for (int i = 0; i < s->count; i++) {
        const Value *v = &s->term[i].value;
        const LaneTerm term = { v->at, s->term[i].factor };
        if (v->lanes == 1) shared_level = larger(shared_level, v->level), shared[shared_count++] = term;
        else own_level = larger(own_level, v->level), own[own_count++] = term;
    }
    x->constant = s->constant;
    x->term = shared;
    x->term_count = shared_count;
    x->offsets = no_offsets(c);
    if (!own_count) return shared_level;
    Offsets *o = NEW(c->arena, Offsets);
    *o = (Offsets){ .at = NEW_ARRAY(c->arena, int64_t, c->strip->lanes), .term = own, .term_count = own_count };
    const Instr in = { .run = kernel_offsets, .lanes = c->strip->lanes, .offsets = o };
    append(c, own_level, &in);
    x->offsets = o;
    return larger(shared_level, own_level);
}

static void *data_of(Compiler *c, const Tensor *t)
{
    void *data = map_get_ptr(&c->data, t);
    if (!data && t->data) data = (void *)(uintptr_t)t->data;
    if (!data) diag_error(c->cx, c->nest->name, "the tensor \"%s\" has no data and no Alloc", t->name);
    return data;
}

static Sum flat_index(Compiler *c, const Tensor *t, const Expr *const *index, const Value *mask)
{
    Sum s = { 0 };
    int64_t stride = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        add_linear(c, &s, index[d], stride, mask);
        stride *= env_eval_size(c->cx, c->env, t->shape[d]);
    }
    return s;
}

static int address(Compiler *c, Access *x, const Tensor *t, const Expr *const *index, const Value *mask)
{
    const Sum s = flat_index(c, t, index, mask);
    x->tensor = t;
    x->data = data_of(c, t);
    x->elems = env_elems(c->cx, c->env, t);
    x->fault_lane = -1;
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

/* The outermost level at which the tensor does not change any more. */
static int load_level(const Compiler *c, const Tensor *t)
{
    int level = t->data ? 0 : c->depth;
    while (level > 0 && !writes(c->loops[level - 1]->stmt, t)) level--;
    return level;
}

static void note_load(Compiler *c, Access *x)
{
    Strip *s = c->strip;
    s->load = grown(c->arena, s->load, s->load_count, &c->load_room, sizeof *s->load);
    s->load[s->load_count++] = x;
}

static Value compile_read(Compiler *c, const Expr *e, const Value *mask)
{
    const Tensor *t = e->ref;
    Access *x = NEW(c->arena, Access);
    int level = larger(address(c, x, t, e->arg, mask), load_level(c, t));
    if (mask) {
        x->mask = mask->at;
        x->mask_step = mask->lanes > 1;
        level = larger(level, mask->level);
    }
    const bool varies = x->offsets->term_count > 0 || (mask && mask->lanes > 1);
    Value to = value_new(c, rep_of(t->type), varies ? c->strip->lanes : 1, level);
    const Instr in = { .run = kernel_load(t->type), .lanes = to.lanes, .to = to.at, .access = x };
    append(c, level, &in);
    note_load(c, x);
    return to;
}

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

/* The mask of a side that is evaluated only where `cond` is (or is not). */
static Value narrowed(Compiler *c, const Value *mask, Value cond, bool wanted)
{
    if (!wanted) cond = apply(c, EXPR_NOT, BOOL, BOOL, &cond, 1);
    return mask ? apply2(c, EXPR_AND, BOOL, cond, *mask) : cond;
}

static Value compile_side(Compiler *c, const Expr *e, const Value *mask, Value cond, bool wanted)
{
    if (!has_reads(c, e)) return compile(c, e, NULL);
    const Value inner = narrowed(c, mask, cond, wanted);
    return compile(c, e, &inner);
}

static bool is_same_register(const Expr *cast)
{
    const DTypeInfo *to = dtype_info(cast->type), *from = dtype_info(cast->arg[0]->type);
    return rep_of(cast->type) == REP_I32 && rep_of(cast->arg[0]->type) == REP_I32 && cast->type != BOOL
        && to->least <= from->least && to->greatest >= from->greatest;
}

static Value compile_operation(Compiler *c, const Expr *e, const Value *mask)
{
    Value arg[3];
    const bool is_lazy = e->kind == EXPR_SELECT || e->kind == EXPR_AND || e->kind == EXPR_OR;
    arg[0] = compile(c, e->arg[0], mask);
    if (e->kind == EXPR_CAST && is_same_register(e)) return arg[0];
    for (int i = 1; i < e->arg_count; i++)
        arg[i] = is_lazy ? compile_side(c, e->arg[i], mask, arg[0], e->kind == EXPR_OR ? false : i == 1)
                         : compile(c, e->arg[i], mask);
    return apply(c, e->kind, e->type, e->arg[e->arg_count - 1]->type, arg, e->arg_count);
}

static Value compile_new(Compiler *c, const Expr *e, const Value *mask)
{
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_REAL: return constant(c, e->type, expr_scalar(e));
    case EXPR_VAR:  return loop_value(c, e);
    case EXPR_READ: return compile_read(c, e, mask);
    case EXPR_POISON:
    case EXPR_LOAD:
    case EXPR_MACRO:
        diag_internal(c->cx, c->nest->name, "a '%s' cannot be interpreted", expr_info(e->kind)->spelling);
        return constant(c, e->type, (Scalar){ 0 });
    default: return compile_operation(c, e, mask);
    }
}

static Value compile(Compiler *c, const Expr *e, const Value *mask)
{
    if (!has_reads(c, e)) mask = NULL;
    const Value *done = known(c, e, mask ? mask->at : NULL);
    return done ? *done : remember(c, e, mask ? mask->at : NULL, compile_new(c, e, mask));
}

/* Axes become their binds, sizes their values. */
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

static const Expr *resolve(Compiler *c, const Expr *e) { return e ? expr_rewrite(c->cx, e, resolve_one, c) : NULL; }

/* ---- Strips ------------------------------------------------------------------------------------------------------ */

static bool reads_itself(Ctx *cx, const Stage *s)
{
    const Tensor **read;
    int count = stage_reads(cx, s, &read);
    for (int r = 0; r < count; r++)
        for (int i = 0; i < s->out_count; i++)
            if (read[r] == s->out[i]) return true;
    return false;
}

/* How many of the innermost loops of chain[count] (outermost first) become lanes, and how many lanes they make. */
static int choose_lanes(Compiler *c, const Stmt *const *chain, int count, const Stage *stage, Strip *s)
{
    int used = 0;
    *s = (Strip){ .lanes = 1, .chunk = 0 };
    if (reads_itself(c->cx, stage)) return 0;
    while (used < count) {
        const Expr *extent = resolve(c, chain[count - 1 - used]->extent);
        const int64_t n = extent->kind == EXPR_INT ? extent->integer : INT32_MAX;
        if (n * s->lanes <= MOST_LANES) {
            s->lanes *= (int)n;
            used++;
            if (n > 0) continue;
            break;
        }
        const int chunk = MOST_LANES / s->lanes;
        if (chunk < 2) break;
        s->chunk = chunk;
        s->lanes *= chunk;
        return used + 1;
    }
    return used;
}

/* The chain of loops from `s` down to its one block; 0 where there is none. An Alloc or Tile changes nothing here. */
static int chain_of(const Stmt *s, const Stmt **chain, const Stmt **block)
{
    int count = 0;
    for (; s->kind == STMT_FOR || s->kind == STMT_ALLOC || s->kind == STMT_TILE; s = s->child[0])
        if (s->kind == STMT_FOR) {
            if (count == MAX_DEPTH) return 0;
            chain[count++] = s;
        }
    *block = s;
    return s->kind == STMT_BLOCK ? count : 0;
}

static void fill_lanes(Compiler *c, const Stmt *const *loops, int count)
{
    int inner = 1;
    c->lane_loops = count;
    for (int i = count - 1; i >= 0; i--) {
        const int n = i == 0 && c->strip->chunk ? c->strip->chunk : (int)resolve(c, loops[i]->extent)->integer;
        c->lane_loop[i] = loops[i];
        c->lane_var[i] = NEW_ARRAY(c->arena, int32_t, c->strip->lanes);
        for (int l = 0; l < c->strip->lanes; l++) c->lane_var[i][l] = l / inner % n;
        inner *= n;
    }
}

static Lane lane_of(Value v) { return (Lane){ v.at, v.lanes > 1, v.rep }; }

/* All lanes of the innermost loops that the outputs' address does not use share an element. */
static int run_length(Compiler *c, const Offsets *o)
{
    int run = 1;
    for (int i = c->lane_loops - 1; i >= 0; i--) {
        for (int k = 0; k < o->term_count; k++) {
            bool is_loop = false;
            for (int j = 0; j < c->lane_loops; j++) is_loop = is_loop || o->term[k].lane == c->lane_var[j];
            if (!is_loop || (o->term[k].lane == c->lane_var[i] && o->term[k].factor)) return run;
        }
        run *= i == 0 && c->strip->chunk ? c->strip->chunk : (int)resolve(c, c->lane_loop[i]->extent)->integer;
    }
    return c->strip->lanes;
}

static void compile_first(Compiler *c)
{
    const Stage *stage = c->stage;
    const Expr *first = expr_int(c->cx, BOOL, 1);
    for (int a = stage->data_count; a < stage->axis_count; a++)
        first = expr_and(c->cx, first, expr_binary(c->cx, EXPR_EQ, c->bind[a], expr_index(c->cx, 0)));
    c->strip->first = lane_of(compile(c, first, NULL));
}

static Value one_lane(Compiler *c, DType t, const Expr **stand_in)
{
    Value v = value_new(c, rep_of(t), 1, c->depth + 1);
    *stand_in = expr_new_var(c->cx, "lane", VAR_LOCAL, t, 0, 0);
    return remember(c, *stand_in, NULL, v);
}

static void compile_combination(Compiler *c)
{
    const Stage *stage = c->stage;
    const Expr *old[2], *value[2], *combined[2];
    for (int i = 0; i < stage->out_count; i++) {
        c->strip->sink[i].old = one_lane(c, stage->out[i]->type, &old[i]).at;
        c->strip->sink[i].new_value = one_lane(c, stage->out[i]->type, &value[i]).at;
    }
    reducer_combine(c->cx, stage->reducer, old, value, combined);
    for (int i = 0; i < stage->out_count; i++) c->strip->sink[i].combined = compile(c, combined[i], NULL).at;
}

static void compile_sink(Compiler *c, int i, const Value *mask)
{
    const Stage *stage = c->stage;
    const Expr *value = stage->value[i], *init = stage->init ? stage->init[i] : NULL;
    Sink *k = &c->strip->sink[i];
    if (c->block->part == BLOCK_INIT) value = init;
    if (!c->strip->reduces || c->block->part == BLOCK_UPDATE) init = NULL;
    k->type = stage->out[i]->type;
    k->rep = rep_of(k->type);
    k->value = lane_of(compile(c, resolve(c, value), mask));
    if (init) k->init = lane_of(compile(c, resolve(c, init), mask));
    address(c, &k->access, stage->out[i], c->bind, mask);
}

static void compile_strip(Compiler *c, const Stmt *block, const Stmt *const *lane_loops, int count, const Strip *lanes)
{
    const Stage *stage = block->stage;
    if (lanes->lanes == 0) return;   /* a loop that never runs */
    Strip *s = arena_copy(c->arena, lanes, sizeof *lanes);
    const Expr *bind[MAX_AXES] = { NULL };
    Value guard;
    c->strip = s;
    c->stage = stage;
    c->block = s->block = block;
    c->bind = NULL;
    c->values = map_new(c->arena);
    c->load_room = 0;
    if (s->chunk) {
        s->base = NEW(c->arena, int32_t);
        s->chunked = compile(c, resolve(c, lane_loops[0]->extent), NULL).at;
    }
    fill_lanes(c, lane_loops, count);
    for (int a = 0; a < stage->axis_count; a++) bind[a] = resolve(c, block->bind[a]);
    if (block->cond) guard = compile(c, resolve(c, block->cond), NULL), s->guard = lane_of(guard);
    c->bind = bind;
    s->reduces = stage->init && block->part != BLOCK_INIT;
    s->sink_count = stage->out_count;
    for (int i = 0; i < stage->out_count; i++) compile_sink(c, i, block->cond ? &guard : NULL);
    if (s->reduces) compile_combination(c);
    if (s->reduces && block->part == BLOCK_WHOLE) compile_first(c);
    s->run = run_length(c, s->sink[0].access.offsets);
    if (stage->out_count == 1) s->finish = s->reduces ? finish_reduce(stage->reducer, s->sink[0].type) : finish_store(s->sink[0].type);
    c->lane_loops = 0;
    c->bind = NULL;
    add_action(c, NULL, s);
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void compile_stmt(Compiler *c, const Stmt *s);

static void compile_loop(Compiler *c, const Stmt *s)
{
    const Stmt *chain[MAX_DEPTH], *block = NULL;
    const int count = chain_of(s, chain, &block);
    Strip lanes;
    if (count && choose_lanes(c, chain, count, block->stage, &lanes) == count) {
        compile_strip(c, block, chain, count, &lanes);
        return;
    }
    if (c->depth == MAX_DEPTH) {
        diag_unsupported(c->cx, s->name, "more than %d loops inside each other", MAX_DEPTH);
        return;
    }
    /* An extent is an expression over outer loops: it is compiled as a strip of no lanes would be. */
    Loop *loop = NEW(c->arena, Loop);
    Strip none = { .lanes = 1 };
    c->strip = &none;
    c->values = map_new(c->arena);
    loop->stmt = s;
    loop->var = NEW(c->arena, int32_t);
    loop->extent = compile(c, resolve(c, s->extent), NULL).at;
    add_action(c, loop, NULL);
    c->loops[c->depth++] = loop;
    compile_stmt(c, s->child[0]);
    c->depth--;
}

static void compile_if(Compiler *c, const Stmt *s)
{
    const Expr *cond = resolve(c, s->cond);
    if (cond->kind != EXPR_INT) diag_internal(c->cx, c->nest->name, "the condition of an If depends on more than sizes");
    const int side = cond->integer ? 0 : 1;
    if (side < s->child_count) compile_stmt(c, s->child[side]);
}

static void compile_block(Compiler *c, const Stmt *s)
{
    Strip lanes;
    choose_lanes(c, NULL, 0, s->stage, &lanes);
    compile_strip(c, s, NULL, 0, &lanes);
}

static void compile_stmt(Compiler *c, const Stmt *s)
{
    if (ctx_failed(c->cx)) return;
    switch (s->kind) {
    case STMT_SEQ:
        for (int i = 0; i < s->child_count; i++) compile_stmt(c, s->child[i]);
        break;
    case STMT_FOR:   compile_loop(c, s); break;
    case STMT_IF:    compile_if(c, s); break;
    case STMT_ALLOC: compile_stmt(c, s->child[0]); break;
    case STMT_BLOCK: compile_block(c, s); break;
    case STMT_TILE:  compile_stmt(c, s->child[0]); break;
    }
}

/* Whole tensors, wherever the Allocs stand: every element is assigned once, so what a window holds is held here too. */
static void place_allocs(Compiler *c, const Stmt *s)
{
    const Tensor *t = s->kind == STMT_ALLOC ? s->buffer->tensor : NULL;
    if (t && !map_get_ptr(&c->data, t)) {
        int64_t elems = env_elems(c->cx, c->env, t);
        map_put_ptr(&c->data, t, arena_array(c->arena, (size_t)elems, (size_t)dtype_info(t->type)->bytes));
    }
    for (int i = 0; i < s->child_count; i++) place_allocs(c, s->child[i]);
}

static void place_given(Compiler *c)
{
    for (int i = 0; i < c->nest->input_count; i++) {
        const Tensor *t = c->nest->input[i];
        void *data = env_get(c->env, t);
        if (!data) diag_error(c->cx, c->nest->name, "the input \"%s\" has no data", t->name);
        else map_put_ptr(&c->data, t, data);
    }
    for (int i = 0; i < c->nest->output_count; i++) {
        const Tensor *t = c->nest->output[i];
        void *data = env_get(c->env, t);
        map_put_ptr(&c->data, t, data ? data : env_alloc(c->cx, c->env, t));
    }
}

Loop *program_compile(Ctx *cx, Arena *arena, const Nest *n, Env *e)
{
    static const Stmt nothing = { .kind = STMT_SEQ };
    Compiler c = { .cx = cx, .arena = arena, .nest = n, .env = e };
    c.data = map_new(arena);
    c.reads = map_new(arena);
    place_given(&c);
    if (ctx_failed(cx)) return NULL;
    const Stmt *root = n->root ? n->root : &nothing;
    int32_t *once = NEW(arena, int32_t);
    *once = 1;
    Loop *program = NEW(arena, Loop);
    *program = (Loop){ .stmt = root, .var = NEW(arena, int32_t), .extent = once };
    c.loops[c.depth++] = program;
    place_allocs(&c, root);
    compile_stmt(&c, root);
    return ctx_failed(cx) ? NULL : program;
}
