/* SPDX-License-Identifier: MIT */
/* Decision: a role is found in the nest. `@contraction` or `@elementwise` in a step names stages by their computation
 * (`schedule/step/role.c`). The formula decides (`ir/nest/pattern.c`), not the operator, so the user's formulas and the
 * stages that earlier steps created also have roles. Roles are resolved before the step runs, for text and C alike. The
 * trace holds the names, so it can be replayed on its own. A stage refers to its call (`Stage.call`), which steps
 * preserve. */
#include "schedule/step/role.h"

#include <string.h>

#include "ir/nest/pattern.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* A role, split into its parts, such as "producer" and "conv2d". */
typedef struct Role {
    Ctx *cx;
    const Nest *nest;
    const char *word, *argument;     /* argument is NULL if there are no parentheses */
    const Stage *consumer;           /* for @producer: the stage that its argument names */
} Role;

static bool computes_output(const Role *r, const Stage *s)
{
    for (int i = 0; i < s->out_count; i++)
        for (int k = 0; k < r->nest->output_count; k++)
            if (r->nest->output[k] == s->out[i]) return true;
    return false;
}

static bool is_contraction(const Role *r, const Stage *s) { return stage_is_contraction(r->cx, s); }

static bool is_elementwise(const Role *r, const Stage *s)
{
    return !computes_output(r, s) && stage_pattern(r->cx, s) <= PATTERN_BROADCAST;
}

static bool is_producer(const Role *r, const Stage *s)
{
    const Tensor **reads;
    const int count = s == r->consumer ? 0 : stage_reads(r->cx, r->consumer, &reads);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < s->out_count; k++)
            if (s->out[k] == reads[i]) return true;
    return false;
}

static bool is_result_of(const Role *r, const Stage *s) { return s->is_result && text_equal(s->op, r->argument); }

typedef struct RoleRow {
    const char *word, *argument;
    bool (*has)(const Role *r, const Stage *s);
    RoleText text;
} RoleRow;

static const RoleRow rows[] = {
#define ROLE(word, argument, has, help) { word, argument, has, { "@" word argument, help } },
#include "schedule/step/roles.def"
#undef ROLE
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const RoleText *role_text(int i) { return i >= 0 && i < ROW_COUNT ? &rows[i].text : NULL; }

static const char elementwise[] = "@elementwise";

static const RoleRow *row_of(const char *word)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (text_equal(rows[i].word, word)) return &rows[i];
    return NULL;
}

/* Returns the usage of the nearest role, or of all roles. */
static const char *usages(Ctx *cx, const char *word)
{
    const char *words[ROW_COUNT];
    Text all = text_new(cx);
    for (int i = 0; i < ROW_COUNT; i++) {
        words[i] = rows[i].word;
        text_printf(&all, "%s%s", i ? ", " : "", rows[i].text.usage);
    }
    const char *near = text_nearest(cx, word, words, ROW_COUNT);
    return near ? row_of(near)->text.usage : text_string(&all);
}

/* ---- Taking a role apart ----------------------------------------------------------------------------------------- */

static bool fail(RoleFault *f, FaultKind kind, const char *fault, const char *accepted)
{
    *f = (RoleFault){ kind, fault, accepted };
    return false;
}

static const char *stage_names(Ctx *cx, const Stage *const *stage, int count)
{
    Text t = text_new(cx);
    for (int i = 0; i < count; i++) text_printf(&t, "%s%s", i ? ", " : "", stage[i]->name);
    return text_string(&t);
}

/* The deepest nesting of roles. A role within a role is read by recursion. */
enum { DEEPEST = 16 };

static bool is_too_deep(const char *text)
{
    int depth = 0;
    for (; *text && depth <= DEEPEST; text++) depth += *text == '(';
    return depth > DEEPEST;
}

static bool read_role(Role *r, const char *text, RoleFault *f)
{
    if (is_too_deep(text))
        return fail(f, FAULT_LIMIT, text_format(r->cx, "more than %d roles are inside one another", DEEPEST), "fewer");
    const size_t length = role_length(text), word = strcspn(text, "(");
    r->word = name_n(r->cx, text + 1, (word < length ? word : length) - 1);
    const RoleRow *row = row_of(r->word);
    if (!row) return fail(f, FAULT_NAME, text_format(r->cx, "there is no role @%s", r->word), usages(r->cx, r->word));
    const bool is_open = word < length && text[length - 1] != ')';
    if (word < length && !is_open) r->argument = name_n(r->cx, text + word + 1, length - word - 2);
    if (is_open || !*row->argument != !r->argument || (r->argument && !*r->argument))
        return fail(f, FAULT_VALUE, text_format(r->cx, "'%.*s' is no @%s", (int)length, text, r->word),
                    row->text.usage);
    return true;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

static const Stage *one_stage(Ctx *cx, const Nest *n, const char *word, const Stage *each, RoleFault *f);

static const char *ops_of(const Role *r)
{
    Text t = text_new(r->cx);
    for (int i = 0; i < r->nest->stage_count; i++)
        if (r->nest->stage[i]->is_result)
            text_printf(&t, "%s%s", t.length ? ", " : "", r->nest->stage[i]->op);
    return t.length ? text_string(&t) : "other roles: no stage is a call of an operator";
}

/* Collects the stages of a role; returns their number, or -1 after a fault. `each` is the match of @elementwise, or
 * NULL for all matches. */
static int stages_of(Ctx *cx, const Nest *n, const char *text, const Stage *each, const Stage **out, RoleFault *f)
{
    Role r = { .cx = cx, .nest = n };
    if (!read_role(&r, text, f)) return -1;
    const RoleRow *row = row_of(r.word);
    if (row->has == is_producer && !(r.consumer = one_stage(cx, n, r.argument, each, f))) return -1;
    if (row->has == is_elementwise && each) {
        out[0] = each;
        return 1;
    }
    int count = 0;
    for (int i = 0; i < n->stage_count; i++)
        if (row->has(&r, n->stage[i])) out[count++] = n->stage[i];
    if (!count && row->has == is_result_of) f->accepted = ops_of(&r);
    return count;
}

int role_stages(Ctx *cx, const Nest *n, const char *role, const Stage **out, RoleFault *fault)
{
    *fault = (RoleFault){ .fault = NULL };
    return stages_of(cx, n, role, NULL, out, fault);
}

/* Returns the only stage of a name or role. Otherwise returns NULL and sets *f. */
static const Stage *one_stage(Ctx *cx, const Nest *n, const char *word, const Stage *each, RoleFault *f)
{
    const Stage **all = NEW_ARRAY(cx->arena, const Stage *, n->stage_count);
    if (!role_length(word)) {
        const Stage *s = nest_stage(n, word);
        if (!s) fail(f, FAULT_NAME, text_format(cx, "there is no stage %s", word),
                     stage_names(cx, n->stage, n->stage_count));
        return s;
    }
    f->accepted = NULL;
    const int count = stages_of(cx, n, word, each, all, f);
    if (count < 0 || count == 1) return count == 1 ? all[0] : NULL;
    if (count > 1)
        fail(f, FAULT_NAME, text_format(cx, "%s is %d stages: %s", word, count, stage_names(cx, all, count)),
             "one of these names");
    else
        fail(f, FAULT_NAME, text_format(cx, "no stage is %s", word),
             f->accepted ? f->accepted : stage_names(cx, n->stage, n->stage_count));
    return NULL;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

typedef struct Resolution { const Nest *nest; const Stage *each; RoleFault fault; bool failed; } Resolution;

static const char *name_of(Ctx *cx, const char *word, void *user)
{
    Resolution *r = user;
    if (!role_length(word) || r->failed) return word;
    const Stage *s = one_stage(cx, r->nest, word, r->each, &r->fault);
    r->failed = !s;
    return s ? s->name : word;
}

/* Returns true if the role is @elementwise, or @producer of it. */
static bool is_of_each(const char *word)
{
    static const char producer[] = "@producer(";
    while (strncmp(word, producer, sizeof producer - 1) == 0) word += sizeof producer - 1;
    const size_t length = role_length(word);
    return length == sizeof elementwise - 1 && strncmp(word, elementwise, length) == 0;
}

typedef struct Wanted { bool any, each; } Wanted;

static const char *note_role(Ctx *cx, const char *word, void *user)
{
    Wanted *w = user;
    (void)cx;
    w->any = w->any || role_length(word);
    w->each = w->each || is_of_each(word);
    return word;
}

/* Replaces @elementwise in readers=, a list of stages, by its matches. Returns false if there are too many. */
static bool expand_readers(Ctx *cx, const Nest *n, StepArgs *a)
{
    if (!a->reader_count) return true;
    const Stage **all = NEW_ARRAY(cx->arena, const Stage *, n->stage_count);
    RoleFault fault;
    const StepArgs was = *a;
    a->reader_count = 0;
    for (int i = 0; i < was.reader_count; i++) {
        const bool is_list = text_equal(was.reader[i], elementwise);
        const int count = is_list ? role_stages(cx, n, elementwise, all, &fault) : 1;
        for (int k = 0; k < count; k++) {
            if (a->reader_count == MAX_STEP_LOOPS) return false;
            a->reader[a->reader_count++] = is_list ? all[k]->name : was.reader[i];
        }
    }
    return true;
}

static void refuse(Ctx *cx, const char *text, const StepRow *row, const RoleFault *f)
{
    Refusal *r = NEW(cx->arena, Refusal);
    *r = (Refusal){ .verdict = f->kind == FAULT_LIMIT ? TOO_LARGE : INVALID, .kind = f->kind, .fault = f->fault,
                    .accepted = f->accepted, .primitive = row->name };
    refusal_report(cx, text, r);
}

static bool resolve_one(Ctx *cx, const Nest *n, const char *text, const StepRow *row, const Stage *each, StepArgs *args)
{
    Resolution r = { .nest = n, .each = each };
    step_rename(cx, row, args, name_of, &r);
    if (r.failed) refuse(cx, text, row, &r.fault);
    return !r.failed;
}

const StepArgs *role_resolve(Ctx *cx, const Nest *n, const char *text, const StepRow *row, const StepArgs *args,
                             int *count)
{
    StepArgs given = *args;
    Wanted wanted = { false, false };
    RoleFault fault;
    *count = 1;
    if (!expand_readers(cx, n, &given)) {
        fail(&fault, FAULT_LIMIT, text_format(cx, "more than %d stages are listed", MAX_STEP_LOOPS), "fewer");
        refuse(cx, text, row, &fault);
        *count = -1;
        return NULL;
    }
    StepArgs seen = given;
    step_rename(cx, row, &seen, note_role, &wanted);
    if (!wanted.any) return arena_copy(cx->arena, &given, sizeof given);
    const Stage **each = NEW_ARRAY(cx->arena, const Stage *, n->stage_count + 1);
    if (wanted.each) *count = role_stages(cx, n, elementwise, each, &fault);
    StepArgs *all = NEW_ARRAY(cx->arena, StepArgs, *count + 1);
    for (int i = 0; i < *count; i++) {
        all[i] = given;
        if (resolve_one(cx, n, text, row, each[*count - 1 - i], &all[i])) continue;
        *count = -1;
        return NULL;
    }
    return all;
}
