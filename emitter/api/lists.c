/* SPDX-License-Identifier: MIT */
/* `loopwright ops`, `targets`, `passes` and `steps` print lists that are generated from the tables. */
#include "api/computation/boards.h"
#include "driver/driver.h"
#include "graph/condition/condition.h"
#include "import/onnx/ops/onnx_rows.h"
#include "import/tflite/tflite_find.h"
#include "schedule/schedule.h"
#include "schedule/step/role.h"
#include "support/guard.h"
#include "support/text.h"

#include <string.h>

/* Prints an operator as conv2d(x, k, stride, dilation, pad, groups=1): the inputs, the attributes, and their
 * defaults. */
static void add_signature(Text *t, const Op *op)
{
    const char *between = "";
    text_printf(t, "%s(", op->name);
    for (const char *s = op->inputs ? op->inputs : "x"; *s; s += strcspn(s, " "), s += strspn(s, " "), between = ", ")
        text_printf(t, "%s%.*s", between, (int)strcspn(s, " "), s);
    for (const AttrRow *a = op->attr; a && a->name; a++, between = ", ")
        text_printf(t, "%s%s%s%s", between, a->name, a->otherwise ? "=" : "", a->otherwise ? a->otherwise : "");
    text_add(t, ")\n");
}

static const char *list_ops(Ctx *cx, int level)
{
    Text t = text_new(cx);
    int count;
    const Op *const *op = op_list(cx, &count);
    text_printf(&t, "%-30s %5s  %-12s %s\n", "operator", "level", "pattern", "meaning");
    for (int i = 0; i < count; i++) {
        if (level && op[i]->level != level) continue;
        text_printf(&t, "%-30s %5d  %-12s %s: ", op[i]->name, op[i]->level, pattern_text(op[i]->fusion.pattern),
                    op[i]->summary);
        add_signature(&t, op[i]);
    }
    return text_string(&t);
}

static const char *list_onnx_ops(Ctx *cx)
{
    Text t = text_new(cx);
    int count;
    const OnnxOp **op = onnx_op_list(cx, onnx_rows, &count);
    text_printf(&t, "%-22s %s\n", "ONNX operator", "attributes");
    for (int i = 0; i < count; i++) text_printf(&t, "%-22s %s\n", op[i]->name, *op[i]->attrs ? op[i]->attrs : "-");
    return text_string(&t);
}

static const char *list_tflite_ops(Ctx *cx)
{
    Text t = text_new(cx);
    int count;
    const TfliteRow **row = tflite_row_list(cx, &count);
    text_printf(&t, "%-22s %-8s %s\n", "TFLite operator", "up to", "types");
    for (int i = 0; i < count; i++)
        text_printf(&t, "%-22s %-8d %s\n", row[i]->name, row[i]->newest, tflite_types_text(cx, row[i]->types));
    return text_string(&t);
}

static void widen(int *width, const char *cell)
{
    if ((int)strlen(cell) > *width) *width = (int)strlen(cell);
}

static const char *features_of(const Target *t) { return t->features && *t->features ? t->features : "-"; }
static const char *base_of(const Target *t) { return t->base ? t->base : "-"; }

/* Lists the targets in columns as wide as their longest cells. */
static const char *list_targets(Ctx *cx)
{
    static const char *const head[] = { "target", "falls back to", "features", "device", "types" };
    enum { TARGET, BASE, FEATURES, DEVICE, TYPES, COLUMNS };
    Text t = text_new(cx);
    int targets, devices, width[COLUMNS] = { 0 };
    const Target *const *target = target_list(cx, &targets);
    const Device *const *device = device_list(cx, &devices);
    for (int i = 0; i < COLUMNS; i++) widen(&width[i], head[i]);
    for (int i = 0; i < targets; i++) {
        widen(&width[TARGET], target[i]->name);
        widen(&width[BASE], base_of(target[i]));
        widen(&width[FEATURES], features_of(target[i]));
    }
    for (int i = 0; i < devices; i++) {
        widen(&width[DEVICE], device[i]->name);
        widen(&width[TYPES], device[i]->types);
    }
    text_printf(&t, "%-*s  %-*s  %-*s  meaning\n", width[TARGET], head[TARGET], width[BASE], head[BASE],
                width[FEATURES], head[FEATURES]);
    for (int i = 0; i < targets; i++)
        text_printf(&t, "%-*s  %-*s  %-*s  %s\n", width[TARGET], target[i]->name, width[BASE], base_of(target[i]),
                    width[FEATURES], features_of(target[i]), target[i]->summary);
    text_printf(&t, "\n%-*s  %-*s  meaning\n", width[DEVICE], head[DEVICE], width[TYPES], head[TYPES]);
    for (int i = 0; i < devices; i++)
        text_printf(&t, "%-*s  %-*s  %s\n", width[DEVICE], device[i]->name, width[TYPES], device[i]->types,
                    device[i]->summary);
    return text_string(&t);
}

static const char *list_boards(Ctx *cx)
{
    Text t = text_new(cx);
    int count, width[3] = { 5, 4, 6 };
    const Board *b = board_rows(&count);
    for (int i = 0; i < count; i++) {
        widen(&width[0], b[i].name);
        widen(&width[1], b[i].chip);
        widen(&width[2], b[i].target);
    }
    text_printf(&t, "%-*s  %-*s  %-*s  %8s  %7s  %s\n", width[0], "board", width[1], "chip", width[2], "target",
                "flash", "RAM", "MHz");
    for (int i = 0; i < count; i++)
        text_printf(&t, "%-*s  %-*s  %-*s  %5d KB  %4d KB  %.0f\n", width[0], b[i].name, width[1], b[i].chip, width[2],
                    b[i].target, b[i].flash, b[i].ram, b[i].mhz);
    return text_string(&t);
}

static const char *list_passes(Ctx *cx)
{
    Text t = text_new(cx);
    int count;
    const GraphPassRow *pass = graph_passes(&count);
    for (int i = 0; i < count; i++) text_printf(&t, "dag    %-10s %s\n", pass[i].name, pass[i].what);
    text_printf(&t, "dag    %-10s %s\n", "fuse", "groups by pattern kind on the dominator tree");
    text_printf(&t, "nest   %-10s %s\n", "strategy", "each group's implementation and its schedule, step by step");
    text_printf(&t, "dag    %-10s %s\n", "views", "reshapes and concatenations share memory; outputs in place");
    const LowerPass *lower = lower_passes(&count);
    for (int i = 0; i < count; i++) text_printf(&t, "code   %-10s %s\n", lower[i].name, lower[i].what);
    text_printf(&t, "dag    %-10s %s\n", "place", "offsets in the arena");
    return text_string(&t);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Prints words in lines of at most 100 columns, with a hanging indent. */
static void add_wrapped(Text *t, const char *words, size_t column, int indent)
{
    while (*words) {
        size_t n = strcspn(words, " ");
        if (column + n >= 100) {
            text_char(t, '\n');
            text_spaces(t, indent);
            column = (size_t)indent;
        } else if (column > (size_t)indent) text_char(t, ' ');
        text_addn(t, words, n);
        words += n + (words[n] == ' ');
        column += n + 1;
    }
    text_char(t, '\n');
}

/* Adds an option of a step. The default of an option with a list of words is the first word. */
static void add_option(Ctx *cx, Text *t, const Operand *o)
{
    const char *usual =
        o->kind == OPERAND_CHOICE ? text_format(cx, "; %.*s by default", (int)strcspn(o->shown, "|"), o->shown) : "";
    text_printf(t, "    %-12s ", o->key);
    add_wrapped(t, text_format(cx, "%s%s", o->help, usual), 17, 17);
}

static void add_roles(Text *t)
{
    text_add(t, "\nA stage is named by its name or its role. Loops and copies follow: conv.h, @contraction@init.o.\n");
    for (int i = 0; role_text(i); i++) {
        text_printf(t, "    %-16s ", role_text(i)->usage);
        add_wrapped(t, role_text(i)->help, 21, 21);
    }
}

static const char *list_steps(Ctx *cx)
{
    Text t = text_new(cx);
    int count;
    const StepRow *row = step_rows(&count);
    for (int i = 0; i < count; i++) {
        text_printf(&t, "%s%s\n    ", i ? "\n" : "", step_usage(cx, &row[i]));
        add_wrapped(&t, row[i].help, 4, 4);
        for (const Operand *o = row[i].operand; o->kind; o++)
            if (o->key) add_option(cx, &t, o);
    }
    add_roles(&t);
    return text_string(&t);
}

static const char *list_conditions(Ctx *cx)
{
    Text t = text_new(cx);
    int count;
    const ConditionName *row = condition_names(&count);
    text_printf(&t, "%-22s %s\n", "name", "meaning");
    for (int i = 0; i < count; i++) text_printf(&t, "%-22s %s\n", row[i].form, row[i].meaning);
    return text_string(&t);
}

const char *lw_list_ops(lw_context *cx, int level)
{
    RETURN_GUARDED(cx, const char *, NULL, list_ops(cx, level));
}

const char *lw_list_onnx_ops(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_onnx_ops(cx));
}

const char *lw_list_tflite_ops(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_tflite_ops(cx));
}

const char *lw_list_targets(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_targets(cx));
}

const char *lw_list_boards(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_boards(cx));
}

const char *lw_list_passes(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_passes(cx));
}

const char *lw_list_steps(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_steps(cx));
}

const char *lw_list_conditions(lw_context *cx)
{
    RETURN_GUARDED(cx, const char *, NULL, list_conditions(cx));
}
