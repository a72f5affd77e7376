/* SPDX-License-Identifier: MIT */
/* Compiles a nest to a program (program.h). Sizes and data are known, so sizes become constants and tensors pointers.
 *
 * Lanes are points of a block in the order of its loops; all lanes are computed before one is stored. This order
 * requires that a block does not read its own output. A block that reads it gets a single lane. */
#include "ir/interpret/program.h"

#include <string.h>

#include "ir/algebra/algebra.h"
#include "ir/interpret/program_compile.h"

/* ---- The order of loops ------------------------------------------------------------------------------------------ */

/* Returns the number of the data axis that equals the loop if no other axis uses the loop, or -1. */
static int data_axis_of(const Stmt *loop, const Stmt *block)
{
    int found = -1;
    for (int a = 0; a < block->stage->axis_count; a++) {
        const Expr *bind = block->bind[a];
        if (bind == loop->var && a < block->stage->data_count && found < 0) found = a;
        else if (bind && expr_uses(bind, loop->var)) return -1;
    }
    return found;
}

static bool reads_itself(Ctx *cx, const Stage *s)
{
    const Tensor **read;
    int count = stage_reads(cx, s, &read);
    for (int r = 0; r < count; r++)
        for (int i = 0; i < s->out_count; i++)
            if (read[r] == s->out[i]) return true;
    return false;
}

typedef struct CloseReads { Compiler *c; const Expr *var; bool all; } CloseReads;

/* Returns the distance of the elements that the index reaches in two iterations of the variable, or -1 if the distance
 * varies. */
static int64_t stride_of(Compiler *c, const Tensor *t, const Expr *const *index, const Expr *var)
{
    int64_t stride = 0, elems = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        Linear l;
        if (!linear_of(c->cx, index[d], &l)) return -1;
        for (int i = 0; i < l.count; i++)
            if (l.term[i] != var && expr_uses(l.term[i], var)) return -1;
        stride += elems * linear_coef(&l, var);
        elems *= env_eval_size(c->cx, c->env, t->shape[d]);
    }
    return stride;
}

static void check_read(const Expr *e, void *user)
{
    CloseReads *r = user;
    if (e->kind != EXPR_READ) return;
    const int64_t stride = stride_of(r->c, e->ref, e->arg, r->var);
    r->all = r->all && (stride == 0 || stride == 1);
}

/* Returns true if the stage writes neighbours, and reads neighbours or the same element, along the data axis. */
static bool is_close(Compiler *c, const Stage *s, int axis)
{
    CloseReads reads = { c, s->axis[axis].var, axis == s->data_count - 1 };
    expr_walk(c->cx, s->value[0], check_read, &reads);
    return reads.all;
}

/* Orders the loops around a reduction. The reduction's own loops go outside the last data axis, because the sums of one
 * element wait for each other. The values of each element keep their order. Returns false if the order stays.
 * Otherwise, chain[0 .. count) has the *data loops of the other data axes, then the reduction's loops, then the loop of
 * the last data axis. */
static bool order_loops(Compiler *c, const Stmt **chain, int count, const Stmt *block, int *data)
{
    enum { LEAST = 4 };
    const Stage *stage = block->stage;
    const Stmt *ordered[MAX_DEPTH], *last = NULL;
    int used = 0;
    if (!stage->init || !stage->data_count || block->part != BLOCK_WHOLE || block->cond || stage->out_count > 1)
        return false;
    if (reads_itself(c->cx, stage)) return false;
    for (int i = 0; i < count; i++) {
        const int axis = data_axis_of(chain[i], block);
        const Expr *extent = resolve(c, chain[i]->extent);
        if (extent->kind != EXPR_INT) return false;
        for (int a = 0; axis < 0 && a < stage->data_count; a++)
            if (expr_uses(block->bind[a], chain[i]->var)) return false;
        if (axis == stage->data_count - 1 && extent->integer >= LEAST) last = chain[i];
        else if (axis >= 0) ordered[used++] = chain[i];
    }
    *data = used;
    if (!last || used == count - 1 || !is_close(c, stage, stage->data_count - 1)) return false;
    for (int i = 0; i < count; i++)
        if (data_axis_of(chain[i], block) < 0) ordered[used++] = chain[i];
    ordered[used] = last;
    memcpy(chain, ordered, (size_t)count * sizeof *chain);
    return true;
}

/* ---- Strips ------------------------------------------------------------------------------------------------------ */

static void add_action(Compiler *c, Loop *loop, Strip *strip)
{
    Loop *in = c->loops[c->depth - 1];
    in->action = grown(c->arena, in->action, in->count, &in->capacity, sizeof *in->action);
    in->action[in->count++] = (Action){ loop, strip };
}

/* Returns the number of innermost loops of chain[count] (outermost first) that become lanes; s receives their
 * number. */
static int choose_lanes(Compiler *c, const Stmt *const *chain, int count, const Stage *stage, Strip *s)
{
    int used = 0;
    *s = (Strip){ .lanes = 1, .chunk = 0 };
    if (reads_itself(c->cx, stage)) return 0;
    while (used < count) {
        const Expr *extent = resolve(c, chain[count - 1 - used]->extent);
        const int64_t known = extent->kind == EXPR_INT ? extent->integer : INT32_MAX, n = known > 0 ? known : 0;
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

/* Returns the length of the chain of loops from `s` down to its only block, or 0 if there is no such chain. Alloc and
 * Tile statements are skipped. */
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

static Lane lane_of(ProgramValue v) { return (Lane){ v.at, v.lanes > 1, v.rep }; }

static void compile_first(Compiler *c)
{
    const Stage *stage = c->stage;
    const Expr *first = expr_int(c->cx, BOOL, 1);
    for (int a = stage->data_count; a < stage->axis_count; a++)
        first = expr_and(c->cx, first, expr_binary(c->cx, EXPR_EQ, c->bind[a], expr_index(c->cx, 0)));
    c->strip->first = lane_of(compile_value(c, first, NULL));
}

static void compile_combination(Compiler *c)
{
    const Stage *stage = c->stage;
    const Expr *old[MAX_COMPONENTS], *value[MAX_COMPONENTS], *combined[MAX_COMPONENTS];
    for (int i = 0; i < stage->out_count; i++) {
        c->strip->sink[i].old = compile_operand(c, stage->out[i]->type, &old[i]).at;
        c->strip->sink[i].new_value = compile_operand(c, stage->out[i]->type, &value[i]).at;
    }
    stage_combine(c->cx, stage, old, value, combined);
    for (int i = 0; i < stage->out_count; i++) c->strip->sink[i].combined = compile_value(c, combined[i], NULL).at;
}

static void compile_sink(Compiler *c, int i, const ProgramValue *mask)
{
    const Stage *stage = c->stage;
    const Expr *value = stage->value[i], *init = stage->init ? stage->init[i] : NULL;
    Sink *k = &c->strip->sink[i];
    if (c->block->part == BLOCK_INIT) value = init;
    if (!c->strip->reduces || c->block->part == BLOCK_UPDATE) init = NULL;
    k->type = stage->out[i]->type;
    k->rep = rep_of(k->type);
    k->value = lane_of(compile_value(c, resolve(c, value), mask));
    if (init) k->init = lane_of(compile_value(c, resolve(c, init), mask));
    compile_address(c, &k->access, stage->out[i], c->bind, mask);
    k->access.own = map_get_ptr(&c->data, stage->out[i]);
}

/* Starts the strip of a block, with its lanes. */
static Strip *begin_strip(Compiler *c, const Stmt *block, const Stmt *const *lane_loops, int count, const Strip *lanes)
{
    Strip *s = arena_copy(c->arena, lanes, sizeof *lanes);
    s->ran = c->ran;
    c->strip = s;
    c->stage = block->stage;
    c->block = s->block = block;
    c->values = map_new(c->arena);
    c->load_room = 0;
    if (s->chunk) {
        s->base = NEW(c->arena, int32_t);
        s->chunked = compile_value(c, resolve(c, lane_loops[0]->extent), NULL).at;
    }
    fill_lanes(c, lane_loops, count);
    return s;
}

static void end_strip(Compiler *c)
{
    add_action(c, NULL, c->strip);
    c->lane_loops = 0;
    c->bind = NULL;
}

static void compile_strip(Compiler *c, const Stmt *block, const Stmt *const *lane_loops, int count, const Strip *lanes)
{
    const Stage *stage = block->stage;
    const Expr *bind[MAX_AXES] = { NULL };
    ProgramValue guard = { 0 };
    if (lanes->lanes == 0) return;   /* a loop that never runs */
    Strip *s = begin_strip(c, block, lane_loops, count, lanes);
    for (int a = 0; a < stage->axis_count; a++) bind[a] = resolve(c, block->bind[a]);
    if (block->cond) guard = compile_value(c, resolve(c, block->cond), NULL);
    s->guard = lane_of(guard);
    c->bind = bind;
    s->reduces = stage->init && block->part != BLOCK_INIT;
    s->sink_count = stage->out_count;
    for (int i = 0; i < stage->out_count; i++) compile_sink(c, i, block->cond ? &guard : NULL);
    if (s->reduces) compile_combination(c);
    if (s->reduces && block->part == BLOCK_WHOLE) compile_first(c);
    if (stage->out_count == 1)
        s->finish = s->reduces ? finish_reduce(stage->reducer, s->sink[0].type) : finish_store(s->sink[0].type);
    if (s->finish) s->finish_ran = &c->ran[path_of_finish(s->finish)];
    c->ran[PATH_LANES] += count > 1;
    end_strip(c);
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void compile_stmt(Compiler *c, const Stmt *s);

/* Returns true if no block inside ever runs. The enclosing loops are then dropped, whatever their extent. */
static bool is_idle(Compiler *c, const Stmt *s)
{
    if (s->kind == STMT_BLOCK || s->kind == STMT_IF) return false;
    if (s->kind == STMT_FOR) {
        const Expr *extent = resolve(c, s->extent);
        if (extent->kind == EXPR_INT && extent->integer <= 0) return true;
    }
    for (int i = 0; i < s->child_count; i++)
        if (!is_idle(c, s->child[i])) return false;
    return true;
}

/* Begins a loop. The extent is an expression over outer loops, so the extent is compiled like a strip without lanes. */
static bool begin_times(Compiler *c, const Stmt *s, const Expr *extent)
{
    if (c->depth == MAX_DEPTH) {
        diag_unsupported(c->cx, s->name ? s->name : "a condition",
                         "this loop is inside %d other loops; use up to %d nested loops", MAX_DEPTH, MAX_DEPTH);
        return false;
    }
    Loop *loop = NEW(c->arena, Loop);
    Strip none = { .lanes = 1 };
    c->strip = &none;
    c->load_room = 0;
    c->values = map_new(c->arena);
    loop->stmt = s;
    loop->var = NEW(c->arena, int32_t);
    loop->extent = compile_value(c, resolve(c, extent), NULL).at;
    add_action(c, loop, NULL);
    c->loops[c->depth++] = loop;
    return true;
}

static bool begin_loop(Compiler *c, const Stmt *s) { return begin_times(c, s, s->extent); }

/* Compiles loops around one block. The innermost loops become its lanes. */
static void compile_chain(Compiler *c, const Stmt *const *chain, int count, const Stmt *block)
{
    Strip lanes;
    if (choose_lanes(c, chain, count, block->stage, &lanes) == count) {
        compile_strip(c, block, chain, count, &lanes);
        return;
    }
    if (!begin_loop(c, chain[0])) return;
    compile_chain(c, chain + 1, count - 1, block);
    c->depth--;
}

/* Returns the condition, over the loops outside the chain, under which the chain begins its sums. An enclosing loop
 * over a reduce axis, or an earlier part of a loop that was cut, may have begun the sums. Sums begin where all reduce
 * axes are 0: in the first iteration of the chain's loops, or in none. */
static const Expr *begins_sums(Compiler *c, const Stmt *const *chain, int count, const Stmt *block)
{
    const Stage *stage = block->stage;
    const Expr *zero = expr_index(c->cx, 0), *first = expr_int(c->cx, BOOL, 1), *var[MAX_DEPTH], *start[MAX_DEPTH];
    for (int i = 0; i < count; i++) {
        var[i] = chain[i]->var;
        start[i] = zero;
    }
    for (int a = stage->data_count; a < stage->axis_count; a++) {
        const Expr *at = expr_substitute(c->cx, block->bind[a], var, start, count);
        first = expr_and(c->cx, first, expr_binary(c->cx, EXPR_EQ, at, zero));
    }
    return resolve(c, first);
}

/* Compiles the initial values of all elements, unless their sums have begun before, then the updates. */
static void compile_ordered(Compiler *c, const Stmt *const *chain, int count, int data, const Stmt *block)
{
    const Stmt *of_init[MAX_DEPTH];
    const Expr *bind[MAX_AXES] = { NULL }, *begins = begins_sums(c, chain, count, block);
    Stmt init = *block, *update = arena_copy(c->arena, block, sizeof *block);
    memcpy(of_init, chain, (size_t)data * sizeof *chain);
    of_init[data] = chain[count - 1];
    memcpy(bind, block->bind, (size_t)block->stage->data_count * sizeof *bind);
    init.part = BLOCK_INIT;
    init.bind = arena_copy(c->arena, bind, sizeof bind);
    init.cond = begins->kind == EXPR_INT ? NULL : begins;
    update->part = BLOCK_UPDATE;
    c->ran[begins->kind != EXPR_INT ? PATH_ORDERED_IF : begins->integer ? PATH_ORDERED : PATH_CONTINUED]++;
    if (begins->kind != EXPR_INT || begins->integer)
        compile_chain(c, of_init, data + 1, arena_copy(c->arena, &init, sizeof init));
    compile_chain(c, chain, count, update);
}

static void compile_loop(Compiler *c, const Stmt *s)
{
    if (is_idle(c, s)) return;
    int data;
    const Stmt *chain[MAX_DEPTH], *block = NULL;
    const int count = chain_of(s, chain, &block);
    if (count && order_loops(c, chain, count, block, &data)) compile_ordered(c, chain, count, data, block);
    else if (count) compile_chain(c, chain, count, block);
    else if (begin_loop(c, s)) {
        compile_stmt(c, s->child[0]);
        c->depth--;
    }
}

/* A condition on inputs makes each branch a loop that runs once or not at all. */
static void compile_branches(Compiler *c, const Stmt *s)
{
    const Expr *fails = expr_unary(c->cx, EXPR_NOT, s->cond), *times[] = { s->cond, fails };
    for (int i = 0; i < s->child_count; i++) {
        if (!begin_times(c, s, expr_cast(c->cx, I32, times[i]))) return;
        compile_stmt(c, s->child[i]);
        c->depth--;
    }
}

static void compile_if(Compiler *c, const Stmt *s)
{
    const Expr *cond = resolve(c, s->cond);
    if (cond->kind != EXPR_INT) {
        compile_branches(c, s);
        return;
    }
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
    case STMT_TILE:
    case STMT_START: compile_stmt(c, s->child[0]); break;
    case STMT_WAIT:  break;
    }
}

/* Allocates whole tensors instead of windows. Every element is assigned once, so no value is lost. */
static void allocate_buffers(Compiler *c, const Stmt *s)
{
    const Tensor *t = s->kind == STMT_ALLOC ? s->buffer->tensor : NULL;
    if (t && !map_get_ptr(&c->data, t)) {
        int64_t elems = env_elems(c->cx, c->env, t);
        map_put_ptr(&c->data, t, arena_array(c->arena, (size_t)elems, (size_t)dtype_info(t->type)->bytes));
    }
    for (int i = 0; i < s->child_count; i++) allocate_buffers(c, s->child[i]);
}

static void enter_given(Compiler *c)
{
    for (int i = 0; i < c->nest->input_count; i++) {
        const Tensor *t = c->nest->input[i];
        const void *data = env_get(c->env, t);
        if (!data) diag_error(c->cx, c->nest->name, "the input \"%s\" has no data; use a value for each input",
                              t->name);
        else map_put_const_ptr(&c->data, t, data);
    }
    for (int i = 0; i < c->nest->output_count; i++) {
        const Tensor *t = c->nest->output[i];
        void *data = env_storage(c->env, t);
        map_put_ptr(&c->data, t, data ? data : env_alloc(c->cx, c->env, t));
    }
}

Loop *program_compile(Ctx *cx, Arena *arena, const Nest *n, Env *e, int64_t *ran)
{
    static const Stmt nothing = { .kind = STMT_SEQ };
    Compiler c = { .cx = cx, .arena = arena, .nest = n, .env = e };
    c.ran = ran ? ran : NEW_ARRAY(arena, int64_t, interpret_path_count());
    c.data = map_new(arena);
    c.reads = map_new(arena);
    enter_given(&c);
    if (ctx_failed(cx)) return NULL;
    const Stmt *root = n->root ? n->root : &nothing;
    int32_t *once = NEW(arena, int32_t);
    *once = 1;
    Loop *program = NEW(arena, Loop);
    *program = (Loop){ .stmt = root, .var = NEW(arena, int32_t), .extent = once };
    c.loops[c.depth++] = program;
    allocate_buffers(&c, root);
    compile_stmt(&c, root);
    return ctx_failed(cx) ? NULL : program;
}
