/* SPDX-License-Identifier: MIT */
/* `loopwright ops`, `targets`, `passes`, `steps`: lists generated from the tables. */
#include "driver/driver.h"
#include "graph/condition/condition.h"
#include "import/onnx/ops/onnx_rows.h"
#include "import/tflite/tflite_find.h"
#include "schedule/schedule.h"
#include "schedule/step/role.h"
#include "support/guard.h"
#include "support/text.h"

#include <string.h>

/* Prints conv2d(x, k, stride, dilation, pad, groups=1): the inputs, the attributes, and their defaults. */
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

/* Returns a table of columns as wide as their longest cell, two spaces apart. cell: [rows][columns]. */
static const char *aligned(Ctx *cx, const char *const *cell, int rows, int columns)
{
    Text t = text_new(cx);
    size_t *width = NEW_ARRAY(cx->scratch, size_t, columns);
    for (int i = 0; i < rows * columns; i++) {
        const size_t length = strlen(cell[i]);
        if (length > width[i % columns]) width[i % columns] = length;
    }
    for (int i = 0; i < rows * columns; i++) {
        const int column = i % columns;
        text_add(&t, cell[i]);
        if (column == columns - 1) text_char(&t, '\n');
        else text_spaces(&t, (int)(width[column] - strlen(cell[i])) + 2);
    }
    return text_string(&t);
}

static const char *list_targets(Ctx *cx)
{
    int targets, devices;
    const Target *const *target = target_list(cx, &targets);
    const Device *const *device = device_list(cx, &devices);
    const char **row = NEW_ARRAY(cx->scratch, const char *, 4 * (targets + 1)),
               **last = NEW_ARRAY(cx->scratch, const char *, 3 * (devices + 1));
    memcpy(row, (const char *const[]){ "target", "falls back to", "features", "meaning" }, 4 * sizeof *row);
    for (int i = 0; i < targets; i++) {
        const Target *is = target[i];
        const char *features = is->features && *is->features ? is->features : "-";
        memcpy(row + 4 * (i + 1), (const char *const[]){ is->name, is->base ? is->base : "-", features, is->summary },
               4 * sizeof *row);
    }
    memcpy(last, (const char *const[]){ "device", "types", "meaning" }, 3 * sizeof *last);
    for (int i = 0; i < devices; i++)
        memcpy(last + 3 * (i + 1), (const char *const[]){ device[i]->name, device[i]->types, device[i]->summary },
               3 * sizeof *last);
    return text_format(cx, "%s\n%s", aligned(cx, row, targets + 1, 4), aligned(cx, last, devices + 1, 3));
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

/* A choice's default is its first word. */
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
