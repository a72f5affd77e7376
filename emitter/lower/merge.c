/* SPDX-License-Identifier: MIT */
/* Merges functions. Layers of one kind with different shapes produce functions that differ only in numbers: loop
 * bounds, strides, instruction operands. One function replaces them; the numbers that differ become its parameters. One
 * parameter is used for all numbers that are the same multiple of it and have the same meaning (hint).
 *
 * Hot numbers remain constants: in an index of an innermost loop a constant is free, and a parameter costs a register.
 * A loop around an instruction is not hot for its own numbers. Expressions over data also keep their constants.
 *
 * The walk visits a function in a fixed order, so each number has a position. The outline is the walk's text without
 * the numbers. The replacing walk visits the numbers at the same positions. */

/* Decision: functions that differ in numbers are one. Layers of one kind and different shapes give texts that differ
 * only in bounds and strides. On scalar cores these become parameters (`lower/merge.c`); the numbers of a hot innermost
 * loop stay, and then its functions stay separate. Sums are compared in normal form, because their spelling depends on
 * their numbers. Functions of layers are not inlined into NAME_run, because gcc would run out of registers in it. gcc
 * also spills sums of a tile with vectors: four layers of MobileNetV2 took twice their time on a Zen 3. Parameters cost
 * instructions, because an instruction's strides are no longer immediate: 1.8 % on visual wake words, for 1,464 bytes
 * of code on the Cortex-M4 and 11,432 on the M0+. So with `--optimize speed` functions are not merged. */
#include "lower/merge.h"

#include <string.h>

#include "ir/text/formula.h"
#include "support/map.h"
#include "support/names.h"

enum { MOST_PARAMETERS = 16, MOST_FACTOR = 16 };

typedef struct Number { int64_t value; const char *hint; } Number;

typedef struct Sum { Linear terms; struct Sum *next; } Sum;

typedef struct MergeWalk {
    Ctx *cx;
    Text outline;
    Map order;                        /* maps a variable or memory to its ordinal + 1 */
    Map now;                          /* maps a variable or memory to its replacement */
    int ordinals;
    int number_count, number_room; Number *number;
    int range_count, range_room; Interval *range;
    /* The replacements of numbers, by position. NULL if the walk replaces nothing; an entry of NULL keeps the
     * number. */
    const Expr *const *replaced;
    const Interval *ranges;           /* the ranges of names, by ordinal: the union over all functions */
    const char *hint;                 /* the meaning of the current number */
    Sum *spare;                       /* a list of spare sums */
    bool is_hot, is_fixed;            /* true if the outline includes numbers of indices, and of compared values */
} MergeWalk;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void mention(MergeWalk *w, const void *named)
{
    int *ordinal = map_get_ptr(&w->order, named);
    if (!ordinal) {
        map_put_ptr(&w->order, named, ordinal = NEW(w->cx->arena, int));
        *ordinal = ++w->ordinals;
    }
    text_printf(&w->outline, " #%d", *ordinal);
}

/* Records the range of the name's values; a replacing walk returns the union of the ranges over all functions. */
static Interval next_range(MergeWalk *w, int64_t least, int64_t greatest)
{
    if (w->range_count == w->range_room) {
        Interval *more = NEW_ARRAY(w->cx->arena, Interval, w->range_room = 2 * w->range_room + 16);
        for (int i = 0; i < w->range_count; i++) more[i] = w->range[i];
        w->range = more;
    }
    w->range[w->range_count] = (Interval){ least, greatest };
    return w->ranges ? w->ranges[w->range_count++] : w->range[w->range_count++];
}

static const void *replacement_of(MergeWalk *w, const void *named)
{
    const void *now = map_get_const_ptr(&w->now, named);
    return now ? now : named;
}

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

/* `found` is true if the expression reads memory. */
typedef struct Loads { bool found; } Loads;
static void find_load(const Expr *e, void *user)
{
    if (e->kind == EXPR_LOAD) ((Loads *)user)->found = true;
}

static bool is_data(Ctx *cx, const Expr *e)
{
    Loads l = { false };
    expr_walk(cx, e, find_load, &l);
    return l.found || (e->type != I32 && e->type != BOOL);
}

static const Expr *walk_number(MergeWalk *w, const Expr *e)
{
    if (w->is_fixed || e->type != I32) {
        text_printf(&w->outline, " %lld", (long long)e->integer);
        return e;
    }
    if (w->number_count == w->number_room) {
        Number *more = NEW_ARRAY(w->cx->arena, Number, w->number_room = 2 * w->number_room + 64);
        for (int i = 0; i < w->number_count; i++) more[i] = w->number[i];
        w->number = more;
    }
    text_add(&w->outline, " n");
    w->number[w->number_count] = (Number){ e->integer, w->hint };
    const Expr *now = w->replaced ? w->replaced[w->number_count] : NULL;
    w->number_count++;
    return now ? now : e;
}

enum { FEW_ARGS = 4 };

static const Expr *walk_sum(MergeWalk *w, const Expr *e);

static const Expr *walk_expr(MergeWalk *w, const Expr *e)
{
    bool was_fixed = w->is_fixed;
    if (e->kind == EXPR_INT) return walk_number(w, e);
    text_printf(&w->outline, " (%d:%d", (int)e->kind, (int)e->type);
    if (e->kind == EXPR_VAR || e->kind == EXPR_LOAD) mention(w, e->ref);
    else if (e->kind == EXPR_REAL) print_expr(&w->outline, e);
    const Expr *few[FEW_ARGS], **arg = few;
    if (e->arg_count > FEW_ARGS) arg = NEW_ARRAY(w->cx->arena, const Expr *, e->arg_count);
    for (int i = 0; i < e->arg_count; i++) {
        bool is_index = e->kind == EXPR_LOAD
                        || (e->kind == EXPR_SELECT && i == SELECT_COND && !is_data(w->cx, e->arg[i]));
        w->is_fixed = is_index ? w->is_hot : was_fixed;
        arg[i] = walk_sum(w, e->arg[i]);
    }
    w->is_fixed = was_fixed;
    text_char(&w->outline, ')');
    if (!w->replaced) return e;
    if (e->kind == EXPR_VAR) return expr_var(w->cx, replacement_of(w, e->ref));
    if (e->kind == EXPR_LOAD) return load_expr(w->cx, replacement_of(w, e->ref), arg[0]);
    return e->arg_count ? expr_with_args(w->cx, e, arg) : e;
}

/* Returns the order of a term in a sum: the largest ordinal of its variables. Sums are walked in normal form: every
 * term with its coefficient, and the constant last even if it is 0, because a sum's spelling depends on its numbers.
 * Terms keep the order of the first occurrence of their variables. */
static int order_of(MergeWalk *w, const Expr *term)
{
    const int *ordinal = term->kind == EXPR_VAR ? map_get_ptr(&w->order, term->ref) : NULL;
    int most = ordinal ? *ordinal : 0;
    for (int i = 0; i < term->arg_count; i++) {
        int inner = order_of(w, term->arg[i]);
        most = inner > most ? inner : most;
    }
    return most;
}

static void sort_terms(MergeWalk *w, Linear *l)
{
    for (int i = 1; i < l->count; i++)
        for (int j = i; j > 0 && order_of(w, l->term[j]) < order_of(w, l->term[j - 1]); j--) {
            const Expr *term = l->term[j];
            int64_t coef = l->coef[j];
            l->term[j] = l->term[j - 1];
            l->coef[j] = l->coef[j - 1];
            l->term[j - 1] = term;
            l->coef[j - 1] = coef;
        }
}

static const Expr *add_product(Ctx *cx, const Expr *sum, const Expr *term, const Expr *factor)
{
    bool is_one = expr_is_int(factor, 1);
    const Expr *part = !term || expr_is_int(term, 1) ? factor : is_one ? term : expr_mul(cx, term, factor);
    if (expr_is_int(factor, 0)) return sum;
    return sum ? expr_add(cx, sum, part) : part;
}

/* Returns the expression with the replaced names. */
static const Expr *rename_one(Ctx *cx, const Expr *e, void *user)
{
    MergeWalk *w = user;
    if (e->kind == EXPR_VAR) return expr_var(cx, replacement_of(w, e->ref));
    return e->kind == EXPR_LOAD ? load_expr(cx, replacement_of(w, e->ref), e->arg[0]) : e;
}

static const Expr *walk_terms(MergeWalk *w, const Expr *e, Linear *l)
{
    const char *hint = w->hint;
    const Expr *sum = NULL;
    int before = w->number_count;
    sort_terms(w, l);
    text_printf(&w->outline, " sum %d", l->count);
    for (int i = 0; i < l->count; i++) {
        w->hint = l->term[i]->kind == EXPR_VAR ? name_format(w->cx, "%s_step", expr_as_var(l->term[i])->name) : hint;
        const Expr *term = walk_expr(w, l->term[i]);
        w->hint = l->term[i]->kind == EXPR_VAR ? name_format(w->cx, "%s_step", expr_as_var(l->term[i])->name) : hint;
        sum = add_product(w->cx, sum, term, walk_number(w, expr_index(w->cx, l->coef[i])));
    }
    w->hint = hint;
    sum = add_product(w->cx, sum, NULL, walk_number(w, expr_index(w->cx, l->constant)));
    bool stays = true;
    for (int i = before; w->replaced && i < w->number_count; i++) stays = stays && !w->replaced[i];
    if (!w->replaced || stays) return w->replaced ? expr_rewrite(w->cx, e, rename_one, w) : e;
    return sum ? sum : expr_index(w->cx, 0);
}

/* Walks a sum. A Linear is large, so the Linears of the sums around an expression are in a list that is used again, not
 * on the stack. */
static const Expr *walk_sum(MergeWalk *w, const Expr *e)
{
    if (w->is_fixed || e->type != I32) return walk_expr(w, e);
    Sum *s = w->spare ? w->spare : NEW(w->cx->arena, Sum);
    w->spare = s->next;
    const bool is_sum = linear_of(w->cx, e, &s->terms) && !(s->terms.count == 1 && s->terms.term[0] == e);
    const Expr *now = is_sum ? walk_terms(w, e, &s->terms) : NULL;
    s->next = w->spare;
    w->spare = s;
    return is_sum ? now : walk_expr(w, e);
}

static const Expr *walk_with(MergeWalk *w, const Expr *e, bool is_fixed, const char *hint)
{
    bool was_fixed = w->is_fixed;
    w->is_fixed = is_fixed;
    w->hint = hint;
    e = walk_sum(w, e);
    w->is_fixed = was_fixed;
    return e;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static const Memory *walk_memory(MergeWalk *w, const Memory *m)
{
    mention(w, m);
    text_printf(&w->outline, " %d %d %d %d %d %lld", (int)m->kind, (int)m->type, m->lanes, m->is_const, m->is_restrict,
                (long long)m->align);
    Interval range = next_range(w, m->range.least, m->range.greatest);
    Memory now = *m;
    now.range = range;
    if (m->kind == MEMORY_LOCAL) text_printf(&w->outline, " %lld", (long long)m->elems->integer);
    if (m->scope) text_printf(&w->outline, " %s %lld", m->scope->name, (long long)m->begin);
    if (m->kind == MEMORY_POINTER) {
        mention(w, m->base);
        now.base = replacement_of(w, m->base);
        now.offset = walk_with(w, m->offset, w->is_hot, name(w->cx, "offset"));
    }
    if (!w->replaced) return m;
    const Memory *copy = map_get_const_ptr(&w->now, m);       /* the memory of a repeated declaration */
    if (!copy) map_put_const_ptr(&w->now, m, (copy = memory_new(w->cx, &now)));
    return copy;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static bool contains(const Code *c, CodeKind kind)
{
    if (c->kind == kind) return true;
    for (int i = 0; i < c->child_count; i++)
        if (contains(c->child[i], kind)) return true;
    return false;
}

static const Code *walk_code(MergeWalk *w, const Code *c, bool in_portable_form);

static const Code *walk_loop(MergeWalk *w, const Code *c, bool in_portable_form)
{
    const char *bound = name_format(w->cx, "%s_end", expr_as_var(c->var)->name);
    bool is_counted = c->loop_kind != LOOP_SERIAL && c->loop_kind != LOOP_PARALLEL, was_hot = w->is_hot;
    text_printf(&w->outline, " for %d %lld %s", (int)c->loop_kind, (long long)c->step, c->pragma ? c->pragma : "");
    const Expr *begin = walk_with(w, c->begin, is_counted || was_hot, bound),
               *end = walk_with(w, c->end, is_counted || was_hot, bound);
    mention(w, c->var->ref);
    bool is_hot = !in_portable_form && !contains(c->child[0], CODE_FOR) && !contains(c->child[0], CODE_CALL);
    w->is_hot = was_hot || is_hot;
    const Code *body = walk_code(w, c->child[0], in_portable_form);
    w->is_hot = was_hot;
    if (!w->replaced) return c;
    return code_with_pragma(w->cx, code_for(w->cx, c->var, begin, end, c->step, c->loop_kind, body), c->pragma);
}

static const Code *walk_let(MergeWalk *w, const Code *c)
{
    const Var *v = expr_as_var(c->var);
    const Expr *value = walk_with(w, c->value, w->is_hot || is_data(w->cx, c->value), v->name);
    mention(w, v);
    Interval range = next_range(w, v->least, v->greatest);
    if (!w->replaced) return c;
    const Expr *now = expr_new_var(w->cx, v->name, v->role, v->type, range.least, range.greatest);
    map_put_const_ptr(&w->now, v, expr_as_var(now));
    return code_let(w->cx, now, value);
}

static const Code *walk_store(MergeWalk *w, const Code *c)
{
    mention(w, c->memory);
    const Expr *index = walk_with(w, c->index, w->is_hot, name(w->cx, "offset"));
    /* Numbers of the value are in indices. */
    const Expr *value = walk_with(w, c->value, true, name(w->cx, "offset"));
    return w->replaced ? code_store(w->cx, replacement_of(w, c->memory), index, value) : c;
}

static const Code *walk_call(MergeWalk *w, const Code *c)
{
    const Expr **arg = NEW_ARRAY(w->cx->arena, const Expr *, c->arg_count);
    text_add(&w->outline, c->text);
    for (int i = 0; i < c->arg_count; i++) arg[i] = walk_with(w, c->args[i], w->is_hot, name(w->cx, "size"));
    const Code *otherwise = c->child_count ? walk_code(w, c->child[0], true) : NULL;
    return w->replaced ? code_call_with(w->cx, c, arg, otherwise) : c;
}

static const Code *walk_code(MergeWalk *w, const Code *c, bool in_portable_form)
{
    text_printf(&w->outline, "\n%d:%d", (int)c->kind, c->child_count);
    if (c->kind == CODE_FOR) return walk_loop(w, c, in_portable_form);
    if (c->kind == CODE_LET) return walk_let(w, c);
    if (c->kind == CODE_STORE) return walk_store(w, c);
    if (c->kind == CODE_CALL) return walk_call(w, c);
    if (c->kind == CODE_LOCAL) {
        const Memory *m = walk_memory(w, c->memory);
        return w->replaced ? code_local(w->cx, m) : c;
    }
    const Expr *cond = c->kind == CODE_IF
                           ? walk_with(w, c->cond, w->is_hot || is_data(w->cx, c->cond), name(w->cx, "limit"))
                           : NULL;
    const Code **child = NEW_ARRAY(w->cx->arena, const Code *, c->child_count + 1);
    for (int i = 0; i < c->child_count; i++) child[i] = walk_code(w, c->child[i], in_portable_form);
    if (!w->replaced) return c;
    switch (c->kind) {
    case CODE_SEQ:   return code_seq(w->cx, child, c->child_count);
    case CODE_SCOPE: return code_scope(w->cx, child[0]);
    case CODE_IF:    return code_if(w->cx, cond, child[0], c->child_count > 1 ? child[1] : NULL);
    default:         return c;
    }
}

static Function walk_function(MergeWalk *w, const Function *f)
{
    Function now = *f;
    const Memory **memory = NEW_ARRAY(w->cx->arena, const Memory *, f->memory_count + 1);
    w->order = map_new(w->cx->arena);
    w->now = map_new(w->cx->arena);
    w->outline = text_new(w->cx);
    for (int i = 0; i < f->memory_count; i++) memory[i] = walk_memory(w, f->memory[i]);
    now.body = walk_code(w, f->body, false);
    now.memory = memory;
    return now;
}

/* Returns the function's text without its numbers. */
const char *function_outline(Ctx *cx, const Function *f)
{
    MergeWalk w = { .cx = cx };
    if (f->size_count) return text_format(cx, "%s has sizes of its own", f->name);
    walk_function(&w, f);
    return text_string(&w.outline);
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

typedef struct Merge {
    Ctx *cx;
    int count;
    MergeWalk *walk;
    int parameters;
    int at[MOST_PARAMETERS];
    const Expr *var[MOST_PARAMETERS];
} Merge;

static int64_t value_at(const Merge *m, int function, int position) { return m->walk[function].number[position].value; }

static bool is_multiple(const Merge *m, int position, int base, int64_t factor)
{
    for (int i = 0; i < m->count; i++)
        if (value_at(m, i, position) != factor * value_at(m, i, base)) return false;
    return true;
}

static bool differs(const Merge *m, int position)
{
    for (int i = 1; i < m->count; i++)
        if (value_at(m, i, position) != value_at(m, 0, position)) return true;
    return false;
}

/* Returns the position of the smallest numbers with the same hint of which these numbers are a constant multiple. */
static int base_of(const Merge *m, int position, int64_t *factor)
{
    int numbers = m->walk[0].number_count;
    for (*factor = MOST_FACTOR; *factor > 1; --*factor)
        for (int i = 0; i < numbers; i++)
            if (m->walk[0].number[i].hint == m->walk[0].number[position].hint && is_multiple(m, position, i, *factor))
                return i;
    return position;
}

/* Returns the parameter with these numbers, or -1 if there are too many. */
static int parameter_for(Merge *m, int position)
{
    for (int i = 0; i < m->parameters; i++)
        if (is_multiple(m, position, m->at[i], 1)) return i;
    if (m->parameters == MOST_PARAMETERS) return -1;
    Interval range = { value_at(m, 0, position), value_at(m, 0, position) };
    for (int i = 1; i < m->count; i++) {
        int64_t v = value_at(m, i, position);
        range.least = v < range.least ? v : range.least;
        range.greatest = v > range.greatest ? v : range.greatest;
    }
    m->at[m->parameters] = position;
    m->var[m->parameters] = expr_new_var(m->cx, m->walk[0].number[position].hint, VAR_LOCAL, I32, range.least,
                                         range.greatest);
    return m->parameters++;
}

/* Sets each position's replacement, or NULL to keep the number. Returns false if there are too many parameters. */
static bool choose(Merge *m, const Expr **replaced)
{
    for (int i = 0; i < m->walk[0].number_count; i++) {
        int64_t factor;
        if (!differs(m, i)) continue;
        int parameter = parameter_for(m, base_of(m, i, &factor));
        if (parameter < 0) return false;
        const Expr *var = m->var[parameter];
        replaced[i] = factor == 1 ? var : expr_mul(m->cx, var, expr_index(m->cx, factor));
    }
    return true;
}

static Interval *ranges_together(const Merge *m)
{
    int count = m->walk[0].range_count;
    Interval *all = NEW_ARRAY(m->cx->arena, Interval, count);
    for (int i = 0; i < count; i++) {
        all[i] = m->walk[0].range[i];
        bool is_known = all[i].least || all[i].greatest;
        for (int k = 1; k < m->count; k++) {
            Interval r = m->walk[k].range[i];
            is_known = is_known && (r.least || r.greatest);
            all[i].least = r.least < all[i].least ? r.least : all[i].least;
            all[i].greatest = r.greatest > all[i].greatest ? r.greatest : all[i].greatest;
        }
        if (!is_known) all[i] = (Interval){ 0, 0 };      /* a memory without a range */
    }
    return all;
}

static const char *const *comment_for(Ctx *cx, const Function *const *f, int count, int *lines)
{
    const char **all = NEW_ARRAY(cx->arena, const char *, f[0]->comment_count + 1);
    for (int i = 0; i < f[0]->comment_count; i++) all[i] = f[0]->comment[i];
    all[f[0]->comment_count] = text_format(cx, "this comment has the constants of the first of %d layers; numbers that "
                                               "differ between the layers are parameters", count);
    *lines = f[0]->comment_count + 1;
    return all;
}

/* Returns one function that replaces all given functions, whose outlines are equal. number[i] receives function i's
 * value of each parameter. Returns NULL if they differ in too many numbers. */
static Function *merged_of(Ctx *cx, const Function *const *f, int count, const int64_t **number)
{
    Merge m = { .cx = cx, .count = count, .walk = NEW_ARRAY(cx->arena, MergeWalk, count) };
    for (int i = 0; i < count; i++) {
        m.walk[i].cx = cx;
        walk_function(&m.walk[i], f[i]);
    }
    const Expr **replaced = NEW_ARRAY(cx->arena, const Expr *, m.walk[0].number_count + 1);
    if (!choose(&m, replaced)) return NULL;
    MergeWalk w = { .cx = cx, .replaced = replaced, .ranges = ranges_together(&m) };
    Function *merged = NEW(cx->arena, Function);
    *merged = walk_function(&w, f[0]);
    merged->number_count = m.parameters;
    for (int i = 0; i < count; i++) merged->may_alias = merged->may_alias || f[i]->may_alias;
    merged->number = arena_copy(cx->arena, m.var, (size_t)m.parameters * sizeof *m.var);
    merged->comment = comment_for(cx, f, count, &merged->comment_count);
    for (int i = 0; i < count; i++) {
        int64_t *of = NEW_ARRAY(cx->arena, int64_t, m.parameters + 1);
        for (int k = 0; k < m.parameters; k++) of[k] = value_at(&m, i, m.at[k]);
        number[i] = of;
    }
    return merged;
}

void functions_merge(Ctx *cx, const Function **f, int count, Map *into)
{
    const char **outline = NEW_ARRAY(cx->arena, const char *, count);
    const Function **alike = NEW_ARRAY(cx->arena, const Function *, count);
    const int64_t **number = NEW_ARRAY(cx->arena, const int64_t *, count);
    int *position = NEW_ARRAY(cx->arena, int, count);
    for (int i = 0; i < count; i++) outline[i] = f[i]->number_count ? NULL : function_outline(cx, f[i]);
    for (int i = 0; i < count; i++) {
        int found = 0;
        for (int j = i; outline[i] && j < count; j++)
            if (outline[j] && strcmp(outline[i], outline[j]) == 0) {
                position[found] = j;
                alike[found++] = f[j];
            }
        Function *one = found > 1 ? merged_of(cx, alike, found, number) : NULL;
        for (int k = 0; k < found; k++) {
            outline[position[k]] = NULL;
            if (!one) continue;
            Merged *m = NEW(cx->arena, Merged);
            *m = (Merged){ one, number[k] };
            map_put_ptr(into, f[position[k]], m);
            f[position[k]] = one;
        }
    }
}
