/* SPDX-License-Identifier: MIT */
/* Writes the comment above an emitted function: the formulas of its stages, the shapes of its tensors, and the
 * schedule. Tensors have the names of the function's parameters, so equal groups have equal comments. */
#include "lower/comment.h"

#include <string.h>

#include "ir/nest/instruction.h"
#include "ir/text/formula.h"
#include "ir/text/step.h"
#include "support/names.h"

typedef struct Rename { const Storages *s; Map copy; } Rename;

/* Returns the tensor with the name of its storage, or NULL if it has no storage. */
static Tensor *renamed(Ctx *cx, Rename *r, const Tensor *t)
{
    const Storage *st = storage_of(r->s, t);
    if (!st) return NULL;
    Tensor *copy = map_get_ptr(&r->copy, t);
    if (copy) return copy;
    copy = arena_copy(cx->arena, t, sizeof *t);
    copy->name = st->name ? st->name : st->memory->name;
    map_put_ptr(&r->copy, t, copy);
    return copy;
}

static const Expr *rename_read(Ctx *cx, const Expr *e, void *user)
{
    if (e->kind != EXPR_READ) return e;
    const Tensor *t = e->ref;
    if (tensor_is_constant(t) && tensor_elems(t) == 1)
        return expr_constant(cx, t->type, dtype_load(t->type, t->data, 0));
    const Tensor *to = renamed(cx, user, t);
    return to ? expr_new(cx, EXPR_READ, e->type, to, e->arg, e->arg_count) : e;
}

/* Prints x + -5 as x - 5, and x - -5 as x + 5. */
static const char *with_differences(Ctx *cx, const char *formula)
{
    Text t = text_new(cx);
    for (const char *s = formula; *s; s++) {
        const bool is_negative = (*s == '+' || *s == '-') && s[1] == ' ' && s[2] == '-' && s[3] >= '0' && s[3] <= '9';
        text_char(&t, is_negative ? *s == '+' ? '-' : '+' : *s);
        if (!is_negative) continue;
        text_char(&t, ' ');
        s += 2;
    }
    return text_string(&t);
}

/* ---- Parts that a formula has several times ---------------------------------------------------------------------- */

/* The numbers of an expression in a formula: the expressions that have it as an operand, and the nodes of its text. */
typedef struct Uses { int count; int64_t size; bool is_seen; } Uses;

static int64_t count_uses(Ctx *cx, Map *all, const Expr *e)
{
    Uses *u = map_get_ptr(all, e);
    if (u) {
        u->count++;
        return u->size;
    }
    u = NEW(cx->arena, Uses);
    map_put_ptr(all, e, u);
    *u = (Uses){ 1, 1, false };
    for (int i = 0; i < e->arg_count; i++) u->size = sat_add(u->size, count_uses(cx, all, e->arg[i]));
    return u->size;
}

/* Returns the largest expression with several uses that is longer than its name would make clear, or NULL. Each
 * expression is visited once, regardless of the number of paths to it. An expression whose text is long is not named,
 * because the text may be exponentially longer than the expression. */
static const Expr *largest_repeated(Map *all, const Expr *e, const Expr *best)
{
    enum { LEAST = 9, GREATEST = 128 };
    Uses *u = map_get_ptr(all, e);
    const Uses *most = best ? map_get_ptr(all, best) : NULL;
    if (u->is_seen || u->size < LEAST || (most && u->size <= most->size)) return best;
    u->is_seen = true;
    if (u->count > 1 && u->size <= GREATEST && e->kind != EXPR_READ) return e;
    for (int i = 0; i < e->arg_count; i++) best = largest_repeated(all, e->arg[i], best);
    return best;
}

enum { MOST_PARTS = 4 };

/* Replaces long expressions that the formula has several times by names; returns "where part1 = ..., part2 = ...", or
 * NULL if there are none. */
static const char *name_parts(Ctx *cx, const Expr **value)
{
    const Expr *part[MOST_PARTS], *name[MOST_PARTS];
    int count = 0;
    for (; count < MOST_PARTS; count++) {
        Map uses = map_new(cx->arena);
        count_uses(cx, &uses, *value);
        part[count] = largest_repeated(&uses, *value, NULL);
        if (!part[count]) break;
        name[count] = expr_new_var(cx, text_format(cx, "part%d", count + 1), VAR_LOCAL, part[count]->type, 0, 0);
        *value = expr_substitute(cx, *value, &part[count], &name[count], 1);
    }
    Text t = text_new(cx);
    for (int i = 0; i < count; i++) {
        text_printf(&t, i ? ", part%d = " : "    where part%d = ", i + 1);
        print_expr(&t, part[i]);
    }
    return count ? text_string(&t) : NULL;
}

/* Returns the stage's formula. *where: its repeated parts, or NULL. */
static const char *formula_line(Ctx *cx, Rename *r, const Stage *s, const char **where)
{
    Stage copy = *s;
    Tensor *out[MAX_COMPONENTS];
    const Expr *value[MAX_COMPONENTS], *init[MAX_COMPONENTS];
    for (int i = 0; i < s->out_count; i++) {
        out[i] = renamed(cx, r, s->out[i]);
        if (!out[i]) out[i] = s->out[i];
        value[i] = expr_rewrite(cx, s->value[i], rename_read, r);
        if (s->init) init[i] = expr_rewrite(cx, s->init[i], rename_read, r);
    }
    copy.name = out[0]->name;
    copy.out = out;
    copy.value = value;
    copy.init = s->init ? init : NULL;
    *where = s->out_count == 1 ? name_parts(cx, &value[0]) : NULL;
    Text t = text_new(cx);
    print_stage(cx, &t, &copy);
    return with_differences(cx, text_string(&t));
}

static const char *shape_line(Ctx *cx, const Function *f)
{
    Text t = text_new(cx);
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        if (m->tensor) text_printf(&t, "%s%s: %s", i ? "  " : "", m->name, tensor_shape_names(cx, m->tensor));
    }
    return text_string(&t);
}

/* The width of a line of the comment. */
enum { WIDTH = 112 };

/* A nest whose stages have names in the function. The operands of a call are inputs as well. */
typedef struct Renaming { const Storages *s; const Nest *nest; bool is_call; } Renaming;

static const char *name_in_function(Ctx *cx, const char *word, void *user)
{
    const Renaming *r = user;
    (void)cx;
    const Storage *found = NULL;
    for (int i = 0; !found && i < r->nest->stage_count; i++)
        if (text_equal(r->nest->stage[i]->name, word)) found = storage_of(r->s, r->nest->stage[i]->out[0]);
    for (int i = 0; !found && r->is_call && i < r->nest->input_count; i++)
        if (text_equal(r->nest->input[i]->name, word)) found = storage_of(r->s, r->nest->input[i]);
    return found ? found->memory->name : word;
}

/* Returns the step with the function's names. */
static Step renamed_step(Ctx *cx, const Storages *s, const Nest *nest, const Step *step)
{
    Renaming r = { s, nest, step->row->kind == STEP_external };
    StepArgs *args = arena_copy(cx->arena, step->args, sizeof *args);
    step_rename(cx, step->row, args, name_in_function, &r);
    return (Step){ step->row, args };
}

static const char *expr_text(Ctx *cx, const Expr *e)
{
    Text t = text_new(cx);
    print_expr(&t, e);
    return text_string(&t);
}

static const char *all_steps(Ctx *cx, const Storages *s, const Nest *n)
{
    Text t = text_new(cx);
    for (int i = 0; i < n->step_count; i++) {
        const Step step = renamed_step(cx, s, n, &n->step[i]);
        text_printf(&t, "%s%s", i ? "; " : "", step_text(cx, &step));
    }
    return text_string(&t);
}

/* Collects one operand of each step of this kind: the first operand or the second. Steps on loops of inits follow the
 * loops of their stage and are omitted. */
typedef struct Choices { StepKind kind; const char *head, *between; bool shows_second; } Choices;
static const Choices looked_for[] = {
    { STEP_split,        "",               " by ", true },
    { STEP_tensorize,    "",               NULL,   true },
    { STEP_external,     "calls ",         NULL,   true },
    { STEP_set_scope,    "in registers ",  NULL,   false },
    { STEP_vectorize,    "vectors along ", NULL,   false },
    { STEP_parallel,     "parallel ",      NULL,   false },
    { STEP_fold_storage, "ring buffer ",   NULL,   false },
};

static const char *choice_of(Ctx *cx, const Choices *k, const Step *step)
{
    enum { VERB, FIRST, SECOND };
    const char *word[MAX_STEP_WORDS];
    const char *scope = scope_builtin(SCOPE_REGISTER)->name;
    const bool is_elsewhere = k->kind == STEP_set_scope && !text_equal(step->args->scope, scope);
    if (step->row->kind != k->kind || is_elsewhere || step_words(cx, step, word) <= FIRST) return NULL;
    if (loop_is_of_init(word[FIRST])) return NULL;
    const char *second = k->shows_second ? name_n(cx, word[SECOND], strcspn(word[SECOND], "([")) : "";
    const char *first = k->shows_second && !k->between ? "" : word[FIRST];
    return name_format(cx, "%s%s%s", first, k->between ? k->between : "", second);
}

static bool is_among(const char *what, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == what) return true;
    return false;
}

/* Lists the choices of a long schedule, each once, up to the line's width. */
static const char *choices(Ctx *cx, const Storages *s, const Nest *n, size_t capacity)
{
    enum { MOST = 32, END = 5 };
    const char *seen[MOST];
    int count = 0;
    Text all = text_new(cx);
    for (size_t k = 0; k < sizeof looked_for / sizeof *looked_for; k++)
        for (int i = 0, of_kind = 0; i < n->step_count && count < MOST; i++) {
            const Step step = renamed_step(cx, s, n, &n->step[i]);
            const char *choice = choice_of(cx, &looked_for[k], &step);
            if (!choice || is_among(choice, seen + count - of_kind, of_kind)) continue;
            const char *text = text_format(cx, ", %s", choice);
            if (!of_kind) text = text_format(cx, "%s%s%s", count ? "; " : "", looked_for[k].head, choice);
            if (all.length + strlen(text) + END > capacity) {
                text_add(&all, ", ...");
                return text_string(&all);
            }
            text_add(&all, text);
            seen[count++] = choice;
            of_kind++;
        }
    return text_string(&all);
}

/* Returns true if a tile is a case of an instruction of any size. The instruction's macro then says more than the steps
 * that led to it. */
static bool takes_instruction(const Stmt *s)
{
    bool takes = s->kind == STMT_TILE && s->instr && s->instr->open;
    for (int i = 0; i < s->child_count; i++) takes = takes || takes_instruction(s->child[i]);
    return takes;
}

/* Prints the strategy and its steps if they fit on one line. Otherwise, and for a nest with instructions, it prints
 * only the choices; `dump --at scheduled` prints all steps. */
static const char *schedule_line(Ctx *cx, const Storages *s, const Nest *n, size_t capacity)
{
    const char *strategy = n->strategy ? n->strategy : "of the file", *steps = all_steps(cx, s, n);
    if (!n->step_count) return n->strategy ? text_format(cx, "schedule %s", n->strategy) : "as written";
    const char *head = text_format(cx, "schedule %s: ", strategy);
    if (strlen(head) + strlen(steps) <= capacity && !takes_instruction(n->root))
        return text_format(cx, "%s%s", head, steps);
    const char *chosen = strlen(head) < capacity ? choices(cx, s, n, capacity - strlen(head)) : "";
    return *chosen ? text_format(cx, "%s%s", head, chosen) : text_format(cx, "schedule %s", strategy);
}

/* Returns the best break in the first `width` characters of `text`: after a step or a shape, otherwise after an
 * operand, otherwise after a word. */
static size_t line_end(const char *text, size_t width)
{
    static const char *const breaks[] = { "; ", "  ", " && ", ", ", " " };
    for (size_t b = 0; b < sizeof breaks / sizeof breaks[0]; b++) {
        /* The part that remains on the line */
        size_t before = strcmp(breaks[b], " && ") == 0 ? 0 : strlen(breaks[b]) - 1;
        for (size_t cut = width; cut > width / 2; cut--)
            if (strncmp(text + cut - before, breaks[b], strlen(breaks[b])) == 0) return cut;
    }
    size_t space = width;      /* for a word longer than half a line */
    while (space > 0 && text[space] != ' ') space--;
    return space ? space : width + strcspn(text + width, " ");
}

static void add_wrapped(Ctx *cx, Comment *c, const char *text)
{
    for (int indent = 0; *text; indent = 4) {
        size_t length = strlen(text), capacity = WIDTH - (size_t)indent;
        size_t cut = length <= capacity ? length : line_end(text, capacity);
        size_t shown = cut;
        while (shown > 0 && text[shown - 1] == ' ') shown--;
        if (c->count == MAX_COMMENT_LINES) return;
        c->line[c->count++] = name_format(cx, "%*s%.*s", indent, "", (int)shown, text);
        text += cut;
        while (*text == ' ') text++;
    }
}

Comment comment_of(Ctx *cx, const Storages *s, const Function *f)
{
    Comment c = { 0, { NULL } };
    Rename r = { s, map_new(cx->arena) };
    for (int i = 0; i < s->nest->stage_count; i++) {
        const char *where;
        if (!storage_of(s, s->nest->stage[i]->out[0])) continue;
        add_wrapped(cx, &c, formula_line(cx, &r, s->nest->stage[i], &where));
        if (where) add_wrapped(cx, &c, with_differences(cx, where));
    }
    add_wrapped(cx, &c, shape_line(cx, f));
    for (int i = 0; i < s->nest->input_count; i++) {
        const Storage *in = storage_of(s, s->nest->input[i]);
        if (!in || !in->name) continue;
        const char *what = in->is_before ? "%s is what %s holds before the call"
                                         : "%s is stored in %s; only the elements around it are written";
        add_wrapped(cx, &c, text_format(cx, what, in->name, in->memory->name));
    }
    for (const Nest *n = s->nest; n; n = n->otherwise) {
        const char *prefix = n->otherwise   ? text_format(cx, "if %s: ", expr_text(cx, n->when))
                             : n != s->nest ? "else: "
                                            : "";
        if (n->step_count || *prefix)
            add_wrapped(cx, &c, text_format(cx, "%s%s", prefix, schedule_line(cx, s, n, WIDTH - strlen(prefix))));
    }
    return c;
}

void comment_begin(Ctx *cx, Function *f, const char *text)
{
    Comment c = { 0, { NULL } };
    add_wrapped(cx, &c, text);
    const char **line = NEW_ARRAY(cx->arena, const char *, c.count + f->comment_count);
    for (int i = 0; i < c.count; i++) line[i] = c.line[i];
    for (int i = 0; i < f->comment_count; i++) line[c.count + i] = f->comment[i];
    f->comment = line;
    f->comment_count += c.count;
}
