/* SPDX-License-Identifier: MIT */
/* NAME_run's inputs and outputs. A float is accepted if low <= x && x <= high, which is false for NaN. */
#include "cgen/inputs.h"

#include "cgen/ports.h"
#include "cgen/spell.h"
#include "support/wrap.h"

bool inputs_are_checked(const Program *p)
{
    bool are = false;
    for (int i = 0; i < p->input_count; i++) are = are || p->input[i].is_checked;
    return are;
}

const char *inputs_number(Ctx *cx, DType type, double value)
{
    Scalar s = { .f = value };
    return spell_number(cx, type == F64 ? F64 : F32, s);
}

/* ---- --check-inputs ---------------------------------------------------------------------------------------------- */

/* Returns an element as a float or double. */
static const char *element(Ctx *cx, DType type, const char *at)
{
    const char *f = type == F16 ? "lw_half_to_float(%s)" : type == BF16 ? "lw_bf16_to_float(%s)" : "%s";
    return text_format(cx, f, at);
}

static void check_port(Ctx *cx, Text *t, const Program *p, const Port *port)
{
    Speller s = speller_new(cx);
    const DType type = port->tensor->type;
    for (int i = 0; i < p->size_count; i++) speller_name(&s, p->size[i], expr_as_var(p->size[i])->name);
    const char *count = spell_size(&s, size_product(cx, port->tensor->shape, port->tensor->rank)),
               *i = speller_name(&s, port, "i"), *list = port->base ? port->base : "in",
               *array = port->inout ? text_format(cx, "(in->%s != NULL ? in->%s : out->%s)", port->name, port->name,
                                                  p->output[port->inout - 1].name)
                                    : text_format(cx, "%s->%s", list, port->name),
               *x = element(cx, type, text_format(cx, "%s[%s]", array, i));
    text_printf(t, "    for (int32_t %s = 0; %s < %s; %s++)\n", i, i, count, i);
    const size_t start = t->length;
    text_printf(t, "        if (!(%s >= %s && %s <= %s)) return %s_E_INPUT;\n", x, inputs_number(cx, type, port->least),
                x, inputs_number(cx, type, port->most), p->prefix);
    wrap_statement(cx, t, start);
}

void inputs_check(Ctx *cx, Text *t, const Program *p)
{
    for (int i = 0; i < p->input_count; i++)
        if (p->input[i].is_checked) check_port(cx, t, p, &p->input[i]);
}

/* ---- The contract of NAME_run ------------------------------------------------------------------------------------ */

/* Clauses of a contract: the first begins the comment. */
static void clause(Ctx *cx, Text *t, int *count, const char *text)
{
    const size_t start = t->length;
    text_printf(t, "%s requires %s;", (*count)++ ? "   " : "/*@", text);
    wrap_statement(cx, t, start);
    text_char(t, '\n');
}

/* The elements of a port as a set of addresses, or NULL if it has none. Open sizes are fields of `in`. */
static const char *range_of_port(Ctx *cx, const Program *p, const Port *port, const char *list, const char **count)
{
    Speller s = speller_new(cx);
    if (port_elems(cx, port->tensor) == 0) return NULL;
    for (int i = 0; i < p->size_count; i++)
        speller_name(&s, p->size[i], text_format(cx, "in->%s", p->size_name[i]));
    *count = spell_size(&s, size_product(cx, port->tensor->shape, port->tensor->rank));
    const Expr *all = size_product(cx, port->tensor->shape, port->tensor->rank);
    const char *last = all->kind == EXPR_INT ? text_format(cx, "%lld", (long long)all->integer - 1)
                                             : text_format(cx, "%s - 1", *count);
    return text_format(cx, "%s->%s + (0 .. %s)", list, port->name, last);
}

static void values_of_input(Ctx *cx, Text *t, int *n, const Port *port, const char *count)
{
    const DType type = port->tensor->type;
    const char *at = text_format(cx, "in->%s[i_]", port->name);
    if (type != F32 && type != F64) return;
    const char *what = port->is_checked ? text_format(cx, "%s <= %s <= %s", inputs_number(cx, type, port->least), at,
                                                      inputs_number(cx, type, port->most))
                                        : text_format(cx, "\\is_finite(%s)", at);
    clause(cx, t, n, text_format(cx, "\\forall integer i_; 0 <= i_ < %s ==> %s", count, what));
}

/* No output overlaps an input, another output or the arena. */
static void apart_from(Ctx *cx, Text *t, int *n, const Program *p, int output, const char *range)
{
    const char *count;
    for (int i = 0; i < p->input_count + output; i++) {
        const bool is_input = i < p->input_count;
        const char *other = range_of_port(cx, p, is_input ? &p->input[i] : &p->output[i - p->input_count],
                                          is_input ? "in" : "out", &count);
        if (other) clause(cx, t, n, text_format(cx, "\\separated(%s, %s)", range, other));
    }
    if (!p->static_arena && p->arena_size)
        clause(cx, t, n, text_format(cx, "\\separated(%s, (uint8_t *)arena + (0 .. %lld))", range,
                                     (long long)p->arena_size - 1));
}

void inputs_contract(Ctx *cx, Text *t, const Program *p)
{
    int n = 0;
    const char *count, *range;
    if (p->input_count + p->size_count) clause(cx, t, &n, "\\valid_read(in)");
    if (p->output_count) clause(cx, t, &n, "\\valid_read(out)");
    if (!p->static_arena && p->arena_size)
        clause(cx, t, &n, text_format(cx, "\\valid((uint8_t *)arena + (0 .. %lld))", (long long)p->arena_size - 1));
    for (int i = 0; i < p->input_count; i++) {
        if ((range = range_of_port(cx, p, &p->input[i], "in", &count)) == NULL) continue;
        clause(cx, t, &n, text_format(cx, "\\valid_read(%s)", range));
        clause(cx, t, &n, text_format(cx, "\\initialized(%s)", range));
        values_of_input(cx, t, &n, &p->input[i], count);
    }
    for (int i = 0; i < p->output_count; i++) {
        if ((range = range_of_port(cx, p, &p->output[i], "out", &count)) == NULL) continue;
        clause(cx, t, &n, text_format(cx, "\\valid(%s)", range));
        apart_from(cx, t, &n, p, i, range);
    }
    if (n) text_add(t, "*/\n");
}
