/* SPDX-License-Identifier: MIT */
/* The table of schedule steps (steps.def) is the one place: each row is printed and read back with all its options, and
 * loopwright.h declares a function for each row with the row's operands. */
#include <string.h>

#include "check.h"
#include "schedule/schedule.h"
#include "support/file.h"
#include "support/text.h"

/* ---- Printing and reading ---------------------------------------------------------------------------------------- */

/* A word of the operand's kind. */
static const char *word_for(const Operand *o)
{
    switch (o->kind) {
    case OPERAND_LOOP: return "s.i";
    case OPERAND_LOOPS: return "s.i s.j";
    case OPERAND_LOOP_OR_ROOT: return "s.i";
    case OPERAND_STAGES: return "s,t";
    case OPERAND_PAIR: return "outer,inner";
    case OPERAND_COUNT: return "4";
    case OPERAND_PADDED: return "-4";
    case OPERAND_TYPE: return "i32";
    case OPERAND_TEXT: return "n % 4 == 0";
    default: return "s";
    }
}

/* The last word of a choice; an option's first is its default. */
static const char *choice_for(const Operand *o) { return strrchr(o->shown, '|') + 1; }

static const char *full_step(Ctx *cx, const StepRow *row, bool with_options)
{
    Text t = text_new(cx);
    text_add(&t, row->name);
    for (const Operand *o = row->operand; o->kind; o++) {
        if (o->key && !with_options) break;
        if (o->key && text_equal(o->key, "parts")) continue;
        const char *word = o->kind == OPERAND_CHOICE ? choice_for(o) : o->kind == OPERAND_FLAG ? "" : word_for(o);
        text_printf(&t, " %s%s%s", o->key ? o->key : "", o->key && *word ? "=" : "", word);
    }
    return text_string(&t);
}

static void test_round_trip(Ctx *cx, const StepRow *row, bool with_options)
{
    const char *text = full_step(cx, row, with_options);
    DiagMark mark = diag_mark(cx);
    const Step found = step_read(cx, text);
    const Diag *why = diag_rewind(cx, mark);
    const char *again = found.row ? step_text(cx, &found) : why ? why->what : "?";
    check_that(found.row == row && text_equal(text, again),
               text_format(cx, "%s%s is printed as it is read", row->name, with_options ? " with options" : ""),
               "%s\n%s", text, again);
}

/* An option twice, an option of no row, an operand less: each is refused. */
static void test_refused(Ctx *cx, const StepRow *row)
{
    const char *whole = full_step(cx, row, false);
    const char *const wrong[] = { text_format(cx, "%s nosuch=4", whole),
                                  text_format(cx, "%.*s", (int)(strrchr(whole, ' ') - whole), whole) };
    for (int i = 0; i < 2; i++) {
        const Operand *first = row->operand;
        bool takes_more = first[0].kind == OPERAND_TEXT || first[0].kind == OPERAND_LOOPS ||
                          first[1].kind == OPERAND_TEXT || first[1].kind == OPERAND_CALL ||
                          first[1].kind == OPERAND_WORDS;
        if (takes_more) continue;
        DiagMark mark = diag_mark(cx);
        const Step found = step_read(cx, wrong[i]);
        const Diag *why = diag_rewind(cx, mark);
        check_that(!found.row && why && strstr(why->what, step_usage(cx, row)),
                   text_format(cx, "%s shows its usage where %s", row->name,
                               i ? "an operand is missing" : "an option is unknown"),
                   "%s: %s", wrong[i], why ? why->what : "accepted");
    }
}

static void test_second_option(Ctx *cx)
{
    DiagMark mark = diag_mark(cx);
    const Step found = step_read(cx, "split s.i 4 tail=peel tail=shift");
    const Diag *why = diag_rewind(cx, mark);
    check_that(!found.row && why && strstr(why->what, "'tail=shift' gives tail a second time"),
               "an option given twice is refused", "%s", why ? why->what : "accepted");
}

/* An operand that an option may replace: one of the two is given. */
static void test_replaced(Ctx *cx)
{
    static const struct { const char *step, *shown; } cases[] = {
        { "split s.i parts=4", "split s.i parts=4" },
        { "split s.i names=a,b parts=4", "split s.i parts=4 names=a,b" },
        { "split s.i 8 parts=4", "both FACTOR, 8, and parts are given" },
        { "split s.i 0 parts=4", "both FACTOR, 0, and parts are given" },
        { "split s.i names=a,b", "FACTOR is missing after 's.i'; use split LOOP FACTOR|parts=COUNT [tail=" },
        { "split s.i parts=0", "'0' is not a value of parts" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        DiagMark mark = diag_mark(cx);
        const Step step = step_read(cx, cases[i].step);
        const Diag *why = diag_rewind(cx, mark);
        const char *found = step.row ? step_text(cx, &step) : why ? why->what : "?";
        check_that(strstr(found, cases[i].shown) != NULL, text_format(cx, "read %s", cases[i].step), "%s", found);
    }
}

/* ---- loopwright.h ------------------------------------------------------------------------------------------------ */

/* The parameters after lw_NAME(lw_computation *p, by the row: stages and loops are references, which accept names and
 * handles; counts are numbers, the rest is text; options follow. */
static const char *parameters_of(Ctx *cx, const StepRow *row)
{
    Text t = text_new(cx);
    for (const Operand *o = row->operand; o->kind && !o->key; o++)
        switch (o->kind) {
        case OPERAND_STAGE:
        case OPERAND_TENSOR: text_add(&t, " stage"); break;
        case OPERAND_LOOP:
        case OPERAND_LOOPS:
        case OPERAND_LOOP_OR_ROOT: text_add(&t, " loop"); break;
        case OPERAND_COUNT: text_add(&t, " int"); break;
        default: text_add(&t, " text"); break;
        }
    text_add(&t, " options");
    return text_string(&t);
}

/* The same as the header declares it. */
static const char *declared(Ctx *cx, const char *header, const char *step)
{
    static const struct { const char *type, *word; } types[] = { { ", int ", "int" },
                                                                 { ", lw_stage_ref ", "stage" },
                                                                 { ", lw_loop_ref ", "loop" },
                                                                 { ", const char *options", "options" },
                                                                 { ", const char *", "text" } };
    const char *start = text_format(cx, "bool lw_%s(lw_computation *p", step), *at = strstr(header, start);
    if (!at) return "nothing";
    Text t = text_new(cx);
    const char *end = strchr(at, ')');
    for (at += strlen(start); at < end && *at == ','; at += 1 + strcspn(at + 1, ",)")) {
        size_t i = 0;
        while (i < 4 && strncmp(at, types[i].type, strlen(types[i].type)) != 0) i++;
        text_printf(&t, " %s", types[i].word);
    }
    return text_string(&t);
}

static void test_declaration(Ctx *cx, const char *header, const StepRow *row)
{
    const char *wanted = parameters_of(cx, row), *found = declared(cx, header, row->name);
    check_that(text_equal(wanted, found), text_format(cx, "lw_%s is declared with the operands of its row", row->name),
               "the row:%s\nthe header:%s", wanted, found);
}

int main(void)
{
    Ctx *cx = ctx_new(NULL, NULL);
    Bytes file = file_read(cx, "emitter/loopwright.h");
    const char *header = ctx_failed(cx) ? "" : text_format(cx, "%.*s", (int)file.count, (const char *)file.at);
    int count;
    const StepRow *row = step_rows(&count);
    for (int i = 0; i < count; i++) {
        test_round_trip(cx, &row[i], false);
        test_round_trip(cx, &row[i], true);
        test_refused(cx, &row[i]);
        test_declaration(cx, header, &row[i]);
    }
    test_second_option(cx);
    test_replaced(cx);
    ctx_free(cx);
    return check_done();
}
