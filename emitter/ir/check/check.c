/* SPDX-License-Identifier: MIT */
/* The checker decides whether a nest is well formed and computes the formulas of its stages. The checker reads only the
 * nest, not its history, and shares no code with the primitives but reach and dense.
 *
 *   I1 each point once          check_points.c    own loops of a block are dense; copies join to one box
 *   I2 init first               check_points.c    order of the copies; position of the init
 *   I3 computed before read     check_flow.c      need(k) within computed(k), or carried by a serial loop
 *   I4 stored until read        check_flow.c      position of the Alloc; rings
 *   I5 kinds                    check_kinds.c     conditions of parallel, vector and unrolled loops
 *   I6 all points, in bounds    check_domains.c   outputs covered; binds and accesses in range
 *   I7 wait                     check_async.c     a read of an asynchronous copy after the wait for it
 *   I8 reuse                    check_async.c     slots; nobody writes the source of an unfinished copy
 *   I9 capacity                 check_memories.c  buffers that live together, in rows and aligned; banks of operands
 *   I10 access                  check_memories.c  opaque memories: copies, and instructions that name them
 *   I11 configuration           lower/expand/configure.c  each instruction finds the values of fields that it needs
 *   I12 sizes of instructions   check_sizes.c     sizes of the run in range and step
 *   I13 order of reductions     check_order.c     the tuples of reduce indices rise from iteration to iteration
 *
 * I1 to I8, I12 and I13 hold after each step. I9 and I10 hold when all steps are done, because a step places a buffer
 * in a memory before other steps make it small and map its loops to instructions.
 *
 * I11 is proved on lowered code, where strides are known.
 *
 * Verdicts: WRONG where a violation is certain, UNPROVED where its absence is not shown. */
#include "ir/check/check_parts.h"

#include <string.h>

#include "ir/nest/instruction.h"

#include "ir/check/match_instruction.h"
#include "support/switch.h"

/* ---- Form ------------------------------------------------------------------------------------------------------ */

typedef struct NestForm { Checker *c; Map names, vars; int depth; const Stmt *above[MAX_PATH]; Map written; } NestForm;

/* A condition of an If is decided before the loops: it has no variables but sizes, and reads inputs only. */
typedef struct Scoping { const NestForm *form; const Expr *stray; bool is_condition; } Scoping;

static bool is_input(const Nest *n, const Tensor *t);

/* Returns true if the read is of an input, at constant indices inside it. */
static bool reads_input(const Nest *n, const Expr *read)
{
    const Tensor *t = read->ref;
    for (int d = 0; d < t->rank; d++) {
        const Expr *at = read->arg[d], *size = t->shape[d];
        if (at->kind != EXPR_INT || size->kind != EXPR_INT || at->integer < 0 || at->integer >= size->integer)
            return false;
    }
    return is_input(n, t);
}

static void find_stray(const Expr *e, void *user)
{
    Scoping *s = user;
    const Var *v = expr_as_var(e);
    const bool is_allowed = s->is_condition && e->kind == EXPR_READ && reads_input(s->form->c->nest, e);
    if (e->kind == EXPR_READ && !is_allowed) s->stray = e;
    if (!v || v->role == VAR_SIZE || s->stray) return;
    for (int i = 0; i < s->form->depth && !s->is_condition; i++)
        if (s->form->above[i]->kind == STMT_FOR && s->form->above[i]->var == e) return;
    s->stray = e;
}

/* Requires that every variable is a size or the variable of a loop around the statement. */
static bool is_in_scope(NestForm *f, const Stmt *s, const Expr *e, bool is_condition, const char *what)
{
    Checker *c = f->c;
    const char *where = s->name ? s->name : "the nest";
    if (!e || e->kind == EXPR_POISON) return check_form(c, "%s: the %s is missing", where, what);
    Scoping scoping = { f, NULL, is_condition };
    expr_walk(c->cx, e, find_stray, &scoping);
    const Var *v = scoping.stray ? expr_as_var(scoping.stray) : NULL;
    if (v)
        return check_form(c, "%s: the %s uses '%s', which is no %s", where, what, v->name,
                          is_condition ? "size" : "size and no enclosing loop");
    if (!scoping.stray) return true;
    return check_form(c, "%s: the %s reads a tensor%s", where, what,
                      is_condition ? "; use an element of an input at a constant index" : "");
}

static bool is_once(NestForm *f, Map *seen, const void *key, const char *format, const char *text)
{
    if (map_get_ptr(seen, key)) return check_form(f->c, format, text);
    map_put_ptr(seen, key, f);
    return true;
}

static bool for_is_well_formed(NestForm *f, const Stmt *s)
{
    Checker *c = f->c;
    const Var *v = s->var ? expr_as_var(s->var) : NULL;
    if (!s->name) return check_form(c, "a loop has no name");
    if (!v || v->type != I32 || v->role != VAR_LOOP)
        return check_form(c, "%s: the variable of the loop is not an i32 loop variable", s->name);
    if (!is_once(f, &f->names, s->name, "two loops are named %s", s->name)) return false;
    if (!is_once(f, &f->vars, s->var, "%s: another loop has the same variable", s->name)) return false;
    if (!is_in_scope(f, s, s->extent, false, "extent")) return false;
    if (v->hints && v->hints->pragma.kind && !pragma_suits(&v->hints->pragma, s->loop_kind))
        return check_fail(c, UNPROVED, FAULT_KIND, "the kinds for which the pragma was accepted",
                          "%s has the pragma '%s', which is not shown to suit a loop that is %s",
                          s->name, pragma_text(c->cx, &v->hints->pragma), loop_kind_text(s->loop_kind));
    return s->extent->type == I32 || check_form(c, "%s: the extent is not an i32", s->name);
}

static bool is_among(const Stage *s, const Nest *n)
{
    for (int i = 0; i < n->stage_count; i++)
        if (n->stage[i] == s) return true;
    return false;
}

static bool is_output(const Nest *n, const Tensor *t)
{
    for (int i = 0; i < n->output_count; i++)
        if (n->output[i] == t) return true;
    return false;
}

static bool is_input(const Nest *n, const Tensor *t)
{
    for (int i = 0; i < n->input_count; i++)
        if (n->input[i] == t) return true;
    return tensor_is_constant(t);
}

static bool has_storage(const NestForm *f, const Tensor *t)
{
    if (is_output(f->c->nest, t)) return true;
    for (int i = 0; i < f->depth; i++)
        if (f->above[i]->kind == STMT_ALLOC && f->above[i]->buffer->tensor == t) return true;
    return false;
}

static bool block_is_well_formed(NestForm *f, const Stmt *s)
{
    Checker *c = f->c;
    const Stage *stage = s->stage;
    if (!s->name || !stage) return check_form(c, "a block has no name or no stage");
    if (!is_among(stage, c->nest))
        return check_form(c, "%s: the stage \"%s\" is not part of this nest", s->name, stage->name);
    if (s->part != BLOCK_WHOLE && stage->reducer == REDUCE_NONE)
        return check_form(c, "%s: \"%s\" does not reduce, so it has no init and no update", s->name, stage->name);
    for (int a = 0; a < stage->axis_count; a++) {
        if (s->part == BLOCK_INIT && a >= stage->data_count) continue;
        if (!is_in_scope(f, s, s->bind[a], false, "index of an axis")) return false;
        if (s->bind[a]->type != I32) return check_form(c, "%s: the index of an axis is not an i32", s->name);
    }
    if (s->cond && !is_in_scope(f, s, s->cond, false, "guard")) return false;
    if (s->cond && s->cond->type != BOOL) return check_form(c, "%s: the guard is not a bool", s->name);
    for (int i = 0; i < stage->out_count; i++)
        if (!has_storage(f, stage->out[i]))
            return check_fail(c, WRONG, FAULT_STORAGE, "a position inside its storage",
                              "%s: \"%s\" has no storage here", s->name, stage->out[i]->name);
    map_put_ptr(&f->written, stage, f);
    return true;
}

static bool alloc_is_well_formed(NestForm *f, const Stmt *s)
{
    Checker *c = f->c;
    const Buffer *b = s->buffer;
    bool used[MAX_RANK] = { false };
    if (!b || !b->tensor) return check_form(c, "an alloc has no tensor");
    const char *tensor = b->tensor->name;
    if (is_input(c->nest, b->tensor) || is_output(c->nest, b->tensor))
        return check_form(c, "\"%s\" is caller-owned, and needs no storage", tensor);
    if (has_storage(f, b->tensor)) return check_form(c, "\"%s\" has storage inside its storage", tensor);
    for (int d = 0; d < b->tensor->rank; d++) {
        int p = b->permutation[d];
        if (p < 0 || p >= b->tensor->rank || used[p])
            return check_form(c, "\"%s\": the order of dimensions is not a permutation", tensor);
        used[p] = true;
        if (b->tile[d] < 0) return check_form(c, "\"%s\": a tile has a negative length", tensor);
        if (b->ring[d] < 0) return check_form(c, "\"%s\": a ring has a negative length", tensor);
    }
    return true;
}

/* Returns the name of the first loop or block in the statement. */
static const char *first_name(const Stmt *s)
{
    while (!s->name && s->child_count) s = s->child[0];
    return s->name ? s->name : "nothing";
}

static const Stmt *parallel_above(const NestForm *f)
{
    for (int k = 0; k < f->depth; k++)
        if (f->above[k]->kind == STMT_FOR && f->above[k]->loop_kind == LOOP_PARALLEL) return f->above[k];
    return NULL;
}

/* A unit has one set of fields of configuration, which the iterations of a parallel loop would set and use at the same
 * time. */
static bool has_fields_alone(NestForm *f, const Instruction *i)
{
    const Stmt *loop = i->need_count ? parallel_above(f) : NULL;
    return !loop
           || check_fail(f->c, WRONG, FAULT_STORAGE, "a serial loop",
                         "%s needs the configuration %s, which the iterations of the parallel loop %s share", i->macro,
                         i->need[0].field, loop->name);
}

/* A channel counts its copies, and the iterations of a parallel loop would count each other's. */
static bool has_channel_alone(NestForm *f, const Stmt *start)
{
    const Stmt *loop = parallel_above(f);
    return !loop
           || check_fail(f->c, WRONG, FAULT_STORAGE, "a serial loop, or a copy that is not asynchronous",
                         "the iterations of the parallel loop %s share channel %lld of the copies", loop->name,
                         (long long)start->copy->channel);
}

/* Returns true if the tile is not an asynchronous copy, which the macros of runtime/lw_copy.h start. */
static bool is_no_transfer(NestForm *f, const Stmt *s)
{
    const Stmt *above = f->depth ? f->above[f->depth - 1] : NULL;
    return !above || above->kind != STMT_START
           || check_fail(f->c, WRONG, FAULT_STORAGE, "an instruction for a copy without async, or async without it",
                         "%s cannot replace the asynchronous copy %s, which LW_COPY_START starts", s->instr->macro,
                         above->name);
}

static bool tile_is_its_instruction(NestForm *f, const Stmt *s)
{
    Match m;
    const char *why;
    if (s->instr && !is_no_transfer(f, s)) return false;
    if (s->instr && !has_fields_alone(f, s->instr)) return false;
    if (s->external) return check_external(f->c, f->above, f->depth, s);
    if (!s->instr || instruction_match(f->c->cx, f->c->nest, s->child[0], s->instr, &m, &why)) return true;
    return check_fail(f->c, UNPROVED, FAULT_INDEX,
                      text_format(f->c->cx, "steps that leave %s and its body unchanged", first_name(s)),
                      "%s, emitted as %s, no longer matches its formula: %s", first_name(s), s->instr->macro, why);
}

static bool is_well_formed(NestForm *f, const Stmt *s)
{
    if (!s) return check_form(f->c, "a statement is missing");
    if (f->depth == MAX_PATH)
        return check_fail(f->c, UNPROVED, FAULT_LIMIT, "fewer loops and buffers inside each other",
                          "the nest is deeper than %d statements", MAX_PATH);
    switch (s->kind) {
    case STMT_FOR:   if (!for_is_well_formed(f, s)) return false; break;
    case STMT_BLOCK: if (!block_is_well_formed(f, s)) return false; break;
    case STMT_ALLOC: if (!alloc_is_well_formed(f, s)) return false; break;
    case STMT_IF:    if (!is_in_scope(f, s, s->cond, true, "condition")) return false; break;
    case STMT_TILE:  if (!tile_is_its_instruction(f, s)) return false; break;
    case STMT_START: if (!has_channel_alone(f, s)) return false; /* fall through */
    case STMT_WAIT:  if (!s->name) return check_form(f->c, "a copy has no name"); break;
    case STMT_SEQ:   break;
    }
    f->above[f->depth++] = s;
    for (int i = 0; i < s->child_count; i++)
        if (!is_well_formed(f, s->child[i])) return false;
    f->depth--;
    return true;
}

static bool tensors_are_known(NestForm *f)
{
    Checker *c = f->c;
    for (int i = 0; i < c->nest->stage_count; i++) {
        const Stage *s = c->nest->stage[i];
        const Tensor **reads;
        if (!map_get_ptr(&f->written, s)) return check_form(c, "no block computes \"%s\"", s->name);
        int count = stage_reads(c->cx, s, &reads);
        for (int r = 0; r < count; r++) {
            bool computed = false;
            for (int j = 0; j < c->nest->stage_count && !computed; j++)
                for (int o = 0; o < c->nest->stage[j]->out_count; o++)
                    computed = computed || c->nest->stage[j]->out[o] == reads[r];
            if (!computed && !is_input(c->nest, reads[r]))
                return check_form(c, "\"%s\" reads \"%s\", which has no producer", s->name, reads[r]->name);
        }
    }
    return true;
}

static bool values_are_shallow(Checker *c)
{
    for (int i = 0; i < c->nest->stage_count; i++)
        if (stage_depth(c->nest->stage[i]) > MOST_EXPR_DEPTH)
            return check_fail(c, UNPROVED, FAULT_LIMIT, "compute_at for some of the stages in it",
                              "the value of \"%s\" has more than %d operators in one chain",
                              c->nest->stage[i]->name, MOST_EXPR_DEPTH);
    return true;
}

static bool form_is_right(Checker *c)
{
    Arena *arena = c->cx->arena;
    const ArenaMark mark = arena_mark(c->cx->scratch);
    NestForm *f = NEW(c->cx->scratch, NestForm);
    f->c = c;
    f->names = map_new(arena);
    f->vars = map_new(arena);
    f->written = map_new(arena);
    const bool is_right = is_well_formed(f, c->nest->root) && values_are_shallow(c) && tensors_are_known(f);
    arena_reset(c->cx->scratch, mark);
    return is_right;
}

static const Refusal *refusal_of(const Checker *c)
{
    if (switch_has_fired(c->cx) || c->refusal.verdict == PROVED) return NULL;
    return arena_copy(c->cx->arena, &c->refusal, sizeof c->refusal);
}

/* ---- Meaning --------------------------------------------------------------------------------------------------- */

enum { MAX_IFS = 5 };

/* Returns true if the conditions contradict each other. No sizes satisfy contradictory conditions, and everything could
 * be proved from them. */
static bool never_happens(Ctx *cx, const Bounds *facts)
{
    for (const Bounds *f = facts; f; f = f->outer)
        if (f->fact && f->outer && provably(cx, expr_unary(cx, EXPR_NOT, f->fact), f->outer)) return true;
    return false;
}

const Refusal *nest_refusal(Ctx *cx, const Nest *n)
{
    Checker c = { .cx = cx, .nest = n };
    if (!n) check_form(&c, "there is no nest");
    if (!n || !form_is_right(&c)) return refusal_of(&c);
    int ifs = check_if_count(n->root);
    if (ifs > MAX_IFS)
        check_fail(&c, UNPROVED, FAULT_LIMIT, text_format(cx, "%d at most", MAX_IFS),
                   "\"%s\" has %d conditions, whose branches are checked one by one", n->name, ifs);
    for (unsigned branches = 0; branches < 1u << ifs && c.refusal.verdict == PROVED; branches++) {
        bool gathered = check_gather(&c, branches);
        if (gathered && never_happens(cx, c.facts)) continue;
        bool proved = gathered && check_points(&c) && check_flow(&c) && check_kinds(&c) && check_domains(&c)
                      && check_order(&c);
        if (!proved)
            check_fail(&c, UNPROVED, FAULT_LIMIT, "fewer loops, stages or copies",
                       "\"%s\" is not shown to be right: the search for a proof ended at its limit", c.nest->name);
    }
    if (c.refusal.verdict == PROVED && check_async(&c)) check_sizes(&c);
    return refusal_of(&c);
}

const Refusal *nest_memory_refusal(Ctx *cx, const Nest *n)
{
    Checker c = { .cx = cx, .nest = n };
    check_memories(&c);
    return refusal_of(&c);
}

Verdict nest_check(Ctx *cx, const Nest *n, const char **why)
{
    const Refusal *r = nest_refusal(cx, n);
    if (r && why) *why = refusal_sentence(cx, r);
    return r ? r->verdict : PROVED;
}
