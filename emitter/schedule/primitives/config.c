/* SPDX-License-Identifier: MIT */
/* config: declares a field of a unit's configuration.
 *
 *   config load.step: i32
 *   instruction LOAD_STEP(s: i32) sets load.step = s
 *   instruction LOAD(x: i8[m][16] from core, ...) y[i, k] = x[i, k] needs load.step = stride(x, 0)
 *
 * Lowering places the calls of LOAD_STEP (lower/expand/configure.c). */
#include "ir/nest/instruction.h"
#include "ir/text/read_instruction.h"
#include "schedule/draft/draft.h"

const Nest *run_config(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_config, a);
    DiagMark mark = diag_mark(cx);
    Lexer l = lex_text(cx, a->condition, "config");
    const char *field = field_read(&l);
    if (lex_expect(&l, ":", "before the type") && lex_expect(&l, "i32", "as the type of a field")) lex_finish(&l);
    const Diag *why = diag_rewind(cx, mark);
    if (why) refuse_invalid(&d, FAULT_VALUE, "FIELD: i32", "the field cannot be read: %s", why->what);
    if (why || nest_has_field(n, field)) return why ? n : draft_close(&d);
    const char **all = NEW_ARRAY(cx->arena, const char *, n->field_count + 1);
    for (int i = 0; i < n->field_count; i++) all[i] = n->field[i];
    all[d.next.field_count++] = field;
    d.next.field = all;
    return draft_close(&d);
}
