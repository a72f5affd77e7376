/* SPDX-License-Identifier: MIT */
/* Counts copies and instructions of a function by running its loops: the conditions, extents and arguments of the calls
 * are evaluated, and nothing else. The counts are exact. */
#include "lower/count_unit.h"

#include <string.h>

#include "support/text.h"

enum { MAX_KNOWN = 256, MOST_CALLS = 4000000 };

typedef struct Running {
    Ctx *cx;
    UnitCounts *out;
    int known_count;
    struct { const Expr *var; int64_t value; } known[MAX_KNOWN];
    int64_t steps;
    bool is_unknown;                     /* true once a value is unknown */
} Running;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static Interval interval_now(Running *r, const Expr *e)
{
    Interval operand[3] = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
    for (int i = r->known_count - 1; e->kind == EXPR_VAR && i >= 0; i--)
        if (r->known[i].var == e) return (Interval){ r->known[i].value, r->known[i].value };
    for (int i = 0; i < e->arg_count && i < 3; i++) operand[i] = interval_now(r, e->arg[i]);
    return e->arg_count <= 3 ? interval_apply(e, operand) : (Interval){ INT32_MIN, INT32_MAX };
}

/* Returns the value; also records that it is unknown if it depends on anything but loops and constants. */
static int64_t value_now(Running *r, const Expr *e)
{
    const Interval i = interval_now(r, e);
    r->is_unknown = r->is_unknown || i.least != i.greatest;
    return i.least;
}

static void bind(Running *r, const Expr *var, int64_t value)
{
    if (r->known_count == MAX_KNOWN) r->is_unknown = true;
    else {
        r->known[r->known_count].var = var;
        r->known[r->known_count++].value = value;
    }
}

static int64_t trips(Running *r, const Code *loop)
{
    const int64_t span = value_now(r, loop->end) - value_now(r, loop->begin);
    return span > 0 ? (span + loop->step - 1) / loop->step : 0;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Returns the executions of the innermost statement of an instruction's portable form. */
static int64_t points(Running *r, const Code *c)
{
    const int known = r->known_count;
    int64_t most = c->child_count ? 0 : 1;
    if (c->kind == CODE_FOR) {
        const int64_t count = trips(r, c);
        bind(r, c->var, value_now(r, c->begin));
        most = count * points(r, c->child[0]);
    } else {
        for (int i = 0; i < c->child_count; i++) {
            if (c->child[i]->kind == CODE_LET) {
                const Interval v = interval_now(r, c->child[i]->value);
                if (v.least == v.greatest) bind(r, c->child[i]->var, v.least);
            }
            const int64_t n = points(r, c->child[i]);
            if (n > most) most = n;
        }
    }
    r->known_count = known;
    return most;
}

static void add_instruction(Running *r, const Code *c)
{
    UnitCounts *n = r->out;
    int i = 0;
    while (i < n->macro_count && !text_equal(n->macro[i].macro, c->text)) i++;
    if (i == MAX_UNIT_MACROS) return;
    if (i == n->macro_count) n->macro[n->macro_count++] = (MacroCount){ c->text, 0, 0 };
    n->macro[i].calls++;
    if (!c->sets) n->macro[i].points += points(r, c->child[0]);
}

static void add_call(Running *r, const Code *c)
{
    UnitCounts *n = r->out;
    const bool is_rows = text_equal(c->text, "LW_COPY_ROWS_START"), is_fill = text_equal(c->text, "LW_COPY_FILL_START");
    if (is_rows || is_fill || text_equal(c->text, "LW_COPY_START")) {
        const int64_t bytes = is_rows ? value_now(r, c->args[5]) * value_now(r, c->args[6]) : value_now(r, c->args[3]);
        n->copies += bytes > 0;
        *(is_fill ? &n->filled : &n->moved) += bytes;
    } else if (c->child_count && !c->external) add_instruction(r, c);
}

/* ---- Code -------------------------------------------------------------------------------------------------------- */

static bool has_call(const Code *c)
{
    bool has = c->kind == CODE_CALL;
    for (int i = 0; i < c->child_count && !has; i++) has = has_call(c->child[i]);
    return has;
}

static void run(Running *r, const Code *c);

static void run_loop(Running *r, const Code *c)
{
    const int known = r->known_count;
    const int64_t begin = value_now(r, c->begin), end = value_now(r, c->end);
    for (int64_t i = begin; i < end && !r->is_unknown; i += c->step) {
        r->known_count = known;
        bind(r, c->var, i);
        run(r, c->child[0]);
    }
    r->known_count = known;
}

static void run_children(Running *r, const Code *c)
{
    const int known = r->known_count;
    for (int i = 0; i < c->child_count && !r->is_unknown; i++) run(r, c->child[i]);
    if (c->kind == CODE_SCOPE) r->known_count = known;
}

static void run(Running *r, const Code *c)
{
    if (++r->steps > MOST_CALLS) r->is_unknown = true;
    if (r->is_unknown) return;
    if (c->kind == CODE_LET) {
        const Interval v = interval_now(r, c->value);
        if (v.least == v.greatest) bind(r, c->var, v.least);
        return;
    }
    if (!has_call(c)) return;
    switch (c->kind) {
    case CODE_FOR:  run_loop(r, c); break;
    case CODE_CALL: add_call(r, c); break;
    case CODE_IF:
        if (value_now(r, c->cond)) run(r, c->child[0]);
        else if (c->child_count > 1) run(r, c->child[1]);
        break;
    case CODE_SEQ:
    case CODE_SCOPE: run_children(r, c); break;
    case CODE_LET:
    case CODE_LOCAL:
    case CODE_STORE: break;
    }
}

bool count_unit(Ctx *cx, const Function *f, UnitCounts *out)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Running *r = NEW(cx->scratch, Running);
    *out = (UnitCounts){ .copies = 0 };
    r->cx = cx;
    r->out = out;
    run(r, f->body);
    const bool counted = !r->is_unknown && out->copies;
    arena_reset(cx->scratch, mark);
    return counted;
}
