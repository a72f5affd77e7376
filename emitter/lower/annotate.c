/* SPDX-License-Identifier: MIT */
/* Decision: annotations are rows that a walk over lowered code produces. The contract of a function and the invariants
 * of its loops follow from the code that cgen prints, the sizes of its memories and the ranges of its constants, never
 * from the printed text. The printer only spells the rows, in one place (`cgen/acsl.c`). A bound that the walk cannot
 * find is left out: the analyser then has an open goal, and nothing is assumed instead.
 *
 * The annotation of a loop states the range of its variable, the memory that it assigns, the part that it has
 * completed, the bounds of the elements that it changes (annotate_values.c), and which of these elements have values
 * (annotate_written.c). */
#include "lower/annotate.h"

#include "lower/annotate_parts.h"

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static bool has_values(const Memory *m)
{
    return (m->kind == MEMORY_LOCAL || m->kind == MEMORY_SCALAR) && !m->lanes && dtype_is_integer(m->type);
}

static void track(Annotator *a, const Memory *m)
{
    if (m->kind == MEMORY_POINTER || a->tracked_count == MOST_TRACKED) return;
    Tracked *t = &a->tracked[a->tracked_count++];
    *t = (Tracked){ .memory = m };
    t->values = values_unknown(a, m);
}

static void loop_clause(Annotator *a, int loop, ClauseKind kind, ClauseForm form, const Code *c)
{
    add_clause(a, &(Clause){ .loop = loop, .kind = kind, .form = form, .a = c->var, .b = c->end, .low = c->begin,
                             .step = c->step });
}

/* The range of the loop's variable. Beyond a step of 1, it passes the end by less than a step. */
static void counter_clauses(Annotator *a, const Code *c, int loop)
{
    Ctx *cx = a->cx;
    const bool ends_after = c->begin == c->end
                            || provably(cx, expr_binary(cx, EXPR_LE, with_named_values(a, c->begin),
                                                        with_named_values(a, c->end)), a->scope);
    add_clause(a, &(Clause){ .loop = loop, .kind = CLAUSE_INVARIANT, .form = FORM_AT_MOST, .a = c->begin,
                             .b = c->var });
    loop_clause(a, loop, CLAUSE_INVARIANT, ends_after ? FORM_AT_MOST : FORM_ENTERED, c);
    if (c->step == 1) return;
    Clause *last = &a->clauses.at[a->clauses.count - 1];
    last->b = simplify(cx, expr_add(cx, c->end, expr_int(cx, c->end->type, c->step - 1)), NULL);
    loop_clause(a, loop, CLAUSE_INVARIANT, FORM_ALIGNED, c);
}

static void walk(Annotator *a, const Code *c);

static bool is_written(const Memory *m) { return m->kind != MEMORY_INPUT; }

static bool is_constant(const Memory *m) { return m->tensor && tensor_is_constant(m->tensor); }

/* Returns true if the plan proves that the two parameters share no byte. */
static bool are_apart(const Function *f, const Memory *x, const Memory *y)
{
    return function_is_apart(f, x) || function_is_apart(f, y) || is_constant(x) || is_constant(y);
}

/* An input that shares bytes with the memory that the loop writes keeps its values. */
static void shared_inputs(Annotator *a, const Code *c, int loop)
{
    const Function *f = a->f;
    for (int i = 0; i < f->memory_count; i++) {
        bool is_shared = false;
        for (int k = 0; k < f->memory_count && !is_written(f->memory[i]); k++)
            is_shared = is_shared || (is_written(f->memory[k]) && !are_apart(f, f->memory[i], f->memory[k])
                                      && stores_to(c, f->memory[k]));
        if (is_shared)
            add_clause(a, &(Clause){ .loop = loop, .kind = CLAUSE_INVARIANT, .form = FORM_INITIALIZED,
                                     .memory = f->memory[i], .area = area_of_all(a, f->memory[i]) });
    }
}

static void walk_loop(Annotator *a, const Code *c)
{
    const int loop = a->loop_count++, outer = a->tracked_count, lets = a->lets.count;
    const Bounds *outside = a->scope;
    Tracked *after = NEW_ARRAY(a->cx->arena, Tracked, outer);
    Clause place = { .loop = loop, .kind = CLAUSE_LOOP_ASSIGNS, .form = FORM_MEMORY };
    counter_clauses(a, c, loop);
    shared_inputs(a, c, loop);
    for (int i = 0; i < outer; i++) {
        Tracked *t = &a->tracked[i];
        Areas body = { 0 };
        after[i] = *t;
        if (!stores_to(c, t->memory)) continue;
        written_by(a, c, t->memory, &after[i].written);
        a->scope = code_bounds(a->cx, outside, c);
        written_by(a, c->child[0], t->memory, &body);
        a->lets.count = lets;
        written_before(a, c, &body, &t->written);
        if (t->memory->kind != MEMORY_SCALAR) written_clauses(a, t->memory, &t->written, loop);
        if (has_values(t->memory)) {
            const LoopValues l = values_loop(a, t, c);
            values_clauses(a, t->memory, &l.head, loop);
            t->values = l.body;
            after[i].values = l.after;
        }
        a->scope = outside;
    }
    loop_clause(a, loop, CLAUSE_LOOP_ASSIGNS, FORM_VARIABLE, c);
    for (int i = 0; i < outer; i++) {
        place.memory = a->tracked[i].memory;
        if (stores_to(c, place.memory)) add_clause(a, &place);
    }
    loop_clause(a, loop, CLAUSE_VARIANT, FORM_DISTANCE, c);
    a->scope = code_bounds(a->cx, outside, c);
    walk(a, c->child[0]);
    a->scope = outside;
    a->lets.count = lets;
    a->tracked_count = outer;
    for (int i = 0; i < outer; i++) a->tracked[i] = after[i];
}

static void walk_branch(Annotator *a, const Code *c)
{
    const int outer = a->tracked_count, lets = a->lets.count;
    const Bounds *outside = a->scope;
    Tracked *after = NEW_ARRAY(a->cx->arena, Tracked, outer), *before = NEW_ARRAY(a->cx->arena, Tracked, outer);
    for (int i = 0; i < outer; i++) {
        before[i] = after[i] = a->tracked[i];
        if (has_values(after[i].memory)) values_branch(a, &after[i], c);
    }
    for (int k = 0; k < c->child_count; k++) {
        a->scope = code_fact(a->cx, outside, k ? expr_unary(a->cx, EXPR_NOT, c->cond) : c->cond);
        walk(a, c->child[k]);
        a->lets.count = lets;
        a->tracked_count = outer;
        for (int i = 0; i < outer; i++) a->tracked[i] = before[i];
    }
    a->scope = outside;
    for (int i = 0; i < outer; i++) a->tracked[i] = after[i];
}

static void walk_store(Annotator *a, const Code *c)
{
    Tracked *t = find_tracked(a, memory_base(c->memory));
    product_clauses(a, c);
    if (!t) return;
    if (has_values(t->memory)) values_store(a, t, c);
    written_by(a, c, t->memory, &t->written);
}

static void walk(Annotator *a, const Code *c)
{
    const int lets = a->lets.count, outer = a->tracked_count;
    switch (c->kind) {
    case CODE_FOR:   if (c->loop_kind != LOOP_LANES) walk_loop(a, c); return;
    case CODE_IF:    walk_branch(a, c); return;
    case CODE_LET:   name_value(a, c); return;
    case CODE_STORE: walk_store(a, c); return;
    case CODE_LOCAL: if (!find_tracked(a, c->memory)) track(a, c->memory); return;
    case CODE_SEQ: case CODE_SCOPE: case CODE_CALL: break;
    }
    for (int i = 0; i < c->child_count; i++) walk(a, c->child[i]);
    if (c->kind == CODE_SEQ) return;
    a->lets.count = lets;
    a->tracked_count = outer;
}

/* ---- The contract ------------------------------------------------------------------------------------------------ */

static void require(Annotator *a, ClauseForm form, const Memory *m, const Memory *other)
{
    add_clause(a, &(Clause){ .loop = CONTRACT, .kind = CLAUSE_REQUIRES, .form = form, .memory = m, .other = other,
                             .area = area_of_all(a, m) });
}

static void number_clauses(Annotator *a, const Expr *number)
{
    const Var *v = expr_as_var(number);
    const Expr *least = expr_int(a->cx, number->type, v->least), *most = expr_int(a->cx, number->type, v->greatest);
    Clause c = { .loop = CONTRACT, .kind = CLAUSE_REQUIRES, .form = FORM_AT_MOST, .a = least, .b = number };
    add_clause(a, &c);
    c.a = number;
    c.b = most;
    add_clause(a, &c);
}

static void range_clause(Annotator *a, const Memory *m, Interval range)
{
    if (range.least > range.greatest || (range.least == 0 && range.greatest == 0 && !is_constant(m))) return;
    add_clause(a, &(Clause){ .loop = CONTRACT, .kind = CLAUSE_REQUIRES, .form = FORM_WITHIN, .memory = m,
                             .area = area_of_all(a, m), .low = expr_int(a->cx, I64, range.least),
                             .high = expr_int(a->cx, I64, range.greatest) });
}

static void contract(Annotator *a)
{
    const Function *f = a->f;
    for (int i = 0; i < f->size_count; i++) number_clauses(a, f->size[i]);
    for (int i = 0; i < f->number_count; i++) number_clauses(a, f->number[i]);
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        require(a, FORM_VALID, m, NULL);
        if (!is_written(m)) require(a, FORM_INITIALIZED, m, NULL);
        if (!is_written(m) && dtype_is_integer(m->type)) range_clause(a, m, a->range[i]);
    }
    for (int i = 0; i < f->memory_count; i++)
        for (int k = 0; k < f->memory_count; k++) {
            const Memory *m = f->memory[i], *other = f->memory[k];
            const bool is_first = !is_written(other) || i < k;
            if (i != k && is_written(m) && is_first && are_apart(f, m, other)) require(a, FORM_APART, m, other);
        }
    for (int i = 0; i < f->memory_count; i++)
        if (is_written(f->memory[i]))
            add_clause(a, &(Clause){ .loop = CONTRACT, .kind = CLAUSE_ASSIGNS, .form = FORM_MEMORY,
                                     .memory = f->memory[i] });
}

/* The outputs that the function writes as a whole. */
static void results(Annotator *a)
{
    for (int i = 0; i < a->tracked_count; i++) {
        const Tracked *t = &a->tracked[i];
        if (t->memory->kind == MEMORY_OUTPUT && written_whole(a, t->memory, &t->written))
            add_clause(a, &(Clause){ .loop = CONTRACT, .kind = CLAUSE_ENSURES, .form = FORM_INITIALIZED,
                                     .memory = t->memory, .area = area_of_all(a, t->memory) });
    }
}

Clauses function_annotate(Ctx *cx, const Function *f, const Interval *range)
{
    Annotator *a = NEW(cx->arena, Annotator);
    *a = (Annotator){ .cx = cx, .f = f, .range = range };
    contract(a);
    for (int i = 0; i < f->memory_count; i++)
        if (is_written(f->memory[i])) track(a, f->memory[i]);
    walk(a, f->body);
    results(a);
    return a->clauses;
}
