/* SPDX-License-Identifier: MIT */
/* Prints the declarations of inputs and outputs in model.h. Each port has macros of type, shape, bytes, scale and zero
 * point. A quantized port also has inline functions between real numbers and stored integers:
 *
 *     stored = clamp(nearest(real / scale) + zero_point)     real = scale * (stored - zero_point) */
#include "cgen/ports.h"

#include <string.h>

#include "cgen/spell.h"
#include "support/names.h"

int64_t port_elems(Ctx *cx, const Tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n = sat_mul(n, interval_of(cx, t->shape[d], NULL).greatest);
    return n;
}

void port_row(Ctx *cx, Text *t, const Port *p)
{
    const Tensor *x = p->tensor;
    text_printf(t, " *   %-20s %-8s %s", p->name, dtype_info(x->type)->c_type, tensor_shape_names(cx, x));
    if (x->type == F16 || x->type == BF16 || x->type == BOOL) text_printf(t, " (%s)", dtype_info(x->type)->spelling);
    if (p->layout) text_printf(t, "  %s", p->layout);
    if (x->quant && x->quant->count == 1) {
        text_add(t, "  scale ");
        text_float(t, x->quant->scale[0]);
        text_printf(t, ", zero point %ld", (long)x->quant->zero_point[0]);
    } else if (x->quant) text_printf(t, "  scales along axis %d", x->quant->axis);
    text_char(t, '\n');
}

static bool is_port(const Port *port, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(port[i].name, word) == 0) return true;
    return false;
}

static void port_macro(Ctx *cx, Text *t, const char *prefix, const char *list, const Port *port, int count)
{
    const char *row = "X";     /* distinct from all port names, because macro expansion replaces parameters */
    while (is_port(port, count, row)) row = text_format(cx, "%s_", row);
    text_printf(t, "#define %s_%s(%s)", prefix, list, row);
    for (int i = 0; i < count; i++) {
        const Tensor *x = port[i].tensor;
        text_printf(t, "%s%s(%s, %s, %lld)", count > 1 ? " \\\n    " : " ", row, port[i].name,
                    dtype_info(x->type)->c_type, (long long)port_elems(cx, x));
    }
    text_char(t, '\n');
}

static void port_struct(Text *t, const Program *p, const char *list, const Port *port, int count, bool is_const)
{
    text_printf(t, "struct %s_%s {\n", p->name, list);
    for (int i = 0; i < count; i++) {
        text_printf(t, "    %s%s *%s;", is_const ? "const " : "", dtype_info(port[i].tensor->type)->c_type,
                    port[i].name);
        if (port[i].inout && is_const)
            text_printf(t, "    /* or null: out->%s has the values before the run */",
                        p->output[port[i].inout - 1].name);
        else if (port[i].inout) text_add(t, "    /* in and out: the run replaces its values */");
        text_char(t, '\n');
    }
    for (int i = 0; is_const && i < p->size_count; i++) {
        const Var *v = expr_as_var(p->size[i]);
        text_printf(t, "    int32_t %s;    /* %lld to %lld */\n", p->size_name[i], (long long)v->least,
                    (long long)v->greatest);
    }
    for (int i = 0; !is_const && i < p->decided_count; i++)
        text_printf(t, "    int32_t *%s;    /* receives the size, %lld to %lld */\n", p->decided[i].name,
                    (long long)p->decided[i].least, (long long)p->decided[i].greatest);
    if (count + (is_const ? p->size_count : 0) == 0) text_add(t, "    char none;\n");
    text_add(t, "};\n");
}

bool ports_are_i8(const Program *p)
{
    for (int i = 0; i < p->input_count + p->output_count; i++) {
        const Tensor *t = i < p->input_count ? p->input[i].tensor : p->output[i - p->input_count].tensor;
        if (t->quant && t->type == I8) return true;
    }
    return false;
}

/* ---- Facts as macros -------------------------------------------------------------------------------------------- */

enum { NAME_COLUMN = 28 };     /* the column where values begin, or after one blank if the name is longer */

static void fact(Ctx *cx, Text *t, const char *prefix, const Port *p, const char *what, const char *value)
{
    text_printf(t, "#define %-*s %s\n", NAME_COLUMN, text_format(cx, "%s_%s_%s", prefix, p->macro, what), value);
}

static const char *number(Ctx *cx, int64_t n, const char *suffix)
{
    return text_format(cx, n < 0 ? "(%lld%s)" : "%lld%s", (long long)n, suffix);
}

static const char *scale_text(Ctx *cx, float scale)
{
    Text t = text_new(cx);
    text_float(&t, scale);
    text_char(&t, 'f');
    return text_string(&t);
}

/* Returns an initializer list of the maximum sizes. */
static const char *dims(Ctx *cx, const Tensor *x)
{
    Text t = text_new(cx);
    for (int d = 0; d < x->rank; d++)
        text_printf(&t, "%s%lld", d ? ", " : "{ ", (long long)interval_of(cx, x->shape[d], NULL).greatest);
    text_add(&t, " }");
    return text_string(&t);
}

enum { PER_LINE = 8 };

static const char *channel_list(Ctx *cx, const Quant *q, bool of_scales)
{
    Text t = text_new(cx);
    for (int c = 0; c < q->count; c++) {
        text_add(&t, c == 0 ? "{ " : c % PER_LINE ? ", " : ", \\\n    ");
        text_add(&t, of_scales ? scale_text(cx, q->scale[c]) : number(cx, q->zero_point[c], ""));
    }
    text_add(&t, " }");
    return text_string(&t);
}

static void facts_of_grid(Ctx *cx, Text *t, const char *prefix, const Port *p)
{
    const Quant *q = p->tensor->quant;
    if (q->count == 1) {
        fact(cx, t, prefix, p, "SCALE", scale_text(cx, q->scale[0]));
        fact(cx, t, prefix, p, "ZERO_POINT", number(cx, q->zero_point[0], ""));
        return;
    }
    fact(cx, t, prefix, p, "AXIS", number(cx, q->axis, ""));
    fact(cx, t, prefix, p, "SCALES", channel_list(cx, q, true));
    fact(cx, t, prefix, p, "ZERO_POINTS", channel_list(cx, q, false));
}

static void facts(Ctx *cx, Text *t, const char *prefix, const Port *p)
{
    const Tensor *x = p->tensor;
    const int64_t elems = port_elems(cx, x);
    fact(cx, t, prefix, p, "TYPE", dtype_info(x->type)->c_type);
    fact(cx, t, prefix, p, "RANK", number(cx, x->rank, ""));
    if (x->rank) fact(cx, t, prefix, p, "DIMS", dims(cx, x));
    fact(cx, t, prefix, p, "ELEMS", number(cx, elems, "u"));
    fact(cx, t, prefix, p, "BYTES", number(cx, elems * dtype_info(x->type)->bytes, "u"));
    if (p->layout) fact(cx, t, prefix, p, "LAYOUT", text_format(cx, "\"%s\"", p->layout));
    if (x->quant) facts_of_grid(cx, t, prefix, p);
}

/* Prints macros for the actual shape and number of elements of an output after a run: SHAPE(out), COUNT(out). */
static void facts_of_run(Ctx *cx, Text *t, const Program *p, const Port *port)
{
    Text shape = text_new(cx), count = text_new(cx);
    const Tensor *x = port->tensor;
    for (int d = 0; d < x->rank; d++) {
        const int at = port->decided[d];
        const char *field = at < 0 ? "" : text_format(cx, "*(out)->%s", p->decided[at].name);
        if (at < 0) text_printf(&shape, "%s%lld", d ? ", " : "", (long long)tensor_dim(x, d));
        else text_printf(&shape, "%s%s", d ? ", " : "", field);
        if (at < 0) text_printf(&count, "%s%lldu", d ? " * " : "", (long long)tensor_dim(x, d));
        else text_printf(&count, "%s(uint32_t)%s", d ? " * " : "", field);
    }
    fact(cx, t, p->prefix, port, "SHAPE(out)", text_format(cx, "{ %s }", text_string(&shape)));
    fact(cx, t, p->prefix, port, "COUNT(out)", text_format(cx, "(%s)", text_string(&count)));
}

static void sizes_of_run(Ctx *cx, Text *t, const Program *p)
{
    const char *row = "X";
    bool is_taken = true;
    if (!p->decided_count) return;
    while (is_taken) {
        is_taken = false;
        for (int i = 0; i < p->decided_count; i++) is_taken = is_taken || strcmp(p->decided[i].name, row) == 0;
        if (is_taken) row = text_format(cx, "%s_", row);
    }
    text_printf(t, "/* Sizes of outputs that data decide: %s(name, least, greatest) */\n#define %s_SIZES(%s)", row,
                p->prefix, row);
    for (int i = 0; i < p->decided_count; i++)
        text_printf(t, "%s%s(%s, %lld, %lld)", p->decided_count > 1 ? " \\\n    " : " ", row, p->decided[i].name,
                    (long long)p->decided[i].least, (long long)p->decided[i].greatest);
    text_add(t, "\n/* The actual shapes and numbers of elements after a run; `out` points to the outputs */\n");
    for (int i = 0; i < p->output_count; i++)
        if (p->output[i].decided) facts_of_run(cx, t, p, &p->output[i]);
    text_char(t, '\n');
}

typedef void EachPort(Ctx *cx, Text *t, const char *prefix, const Port *p);

static void each_port(Ctx *cx, Text *t, const Program *p, EachPort *print)
{
    for (int i = 0; i < p->input_count; i++) print(cx, t, p->prefix, &p->input[i]);
    for (int i = 0; i < p->output_count; i++) print(cx, t, p->prefix, &p->output[i]);
}

static void offset(Ctx *cx, Text *t, const char *prefix, const Port *p)
{
    (void)cx;
    text_printf(t, "#define %s_%s_AT %lldu\n", prefix, p->macro, (long long)p->at);
}

static void string_macro(Text *t, const char *prefix, const char *what, const char *value)
{
    text_printf(t, "#define %s_%s \"", prefix, what);
    text_escaped(t, value);
    text_add(t, "\"\n");
}

void ports_origin(Text *t, const Program *p)
{
    string_macro(t, p->prefix, "MODEL", p->source);
    string_macro(t, p->prefix, "MODEL_SHA256", p->digest);
    string_macro(t, p->prefix, "TARGET", p->target);
    string_macro(t, p->prefix, "OPTIONS", p->options);
    text_char(t, '\n');
}

/* Prints the initializer of an array, as the value of a macro. */
static void list_of_strings(Text *t, int count, const char *const *string)
{
    text_add(t, " \\\n    { ");
    for (int i = 0; i < count; i++) {
        text_add(t, i == 0 ? "\"" : i % PER_LINE ? ", \"" : ", \\\n      \"");
        text_escaped(t, string[i]);
        text_char(t, '"');
    }
    text_add(t, " }\n\n");
}

static void class_names(Text *t, const Program *p)
{
    if (!p->classes.count) return;
    text_printf(t, "/* In the order of %s's last axis: `static const char *const names[] = %s_CLASS_NAMES;` */\n",
                p->output[p->classes.output].name, p->prefix);
    text_printf(t, "#define %s_CLASS_COUNT %d\n#define %s_CLASS_NAMES", p->prefix, p->classes.count, p->prefix);
    list_of_strings(t, p->classes.count, p->classes.name);
}

static void strings(Text *t, const Program *p)
{
    if (!p->strings.count) return;
    text_printf(t, "/* Strings: an element of %s is an index in this list; -1 is a string that is not in it. */\n",
                p->strings.ports);
    text_printf(t, "#define %s_STRING_COUNT %d\n#define %s_STRINGS", p->prefix, p->strings.count, p->prefix);
    list_of_strings(t, p->strings.count, p->strings.at);
}

void ports_declare(Ctx *cx, Text *t, const Program *p)
{
    text_add(t, "/* X(name, C type, number of elements) for every input and output, in the model's order */\n");
    port_macro(cx, t, p->prefix, "INPUTS", p->input, p->input_count);
    port_macro(cx, t, p->prefix, "OUTPUTS", p->output, p->output_count);
    text_printf(t, "\n/* For each: type, shape%s, elements, bytes; if quantized,"
                   " real = SCALE * (stored - ZERO_POINT) */\n",
                p->size_count + p->decided_count ? " (open sizes: maximum)" : "");
    each_port(cx, t, p, facts);
    text_char(t, '\n');
    sizes_of_run(cx, t, p);
    class_names(t, p);
    strings(t, p);
    if (p->ports_in_arena) {
        text_printf(t, "/* Offsets in %s, in bytes; the pointers below hold these addresses. A run may reuse\n"
                       " * an input's memory after its last read; outputs persist until the next run. */\n",
                    p->ports_memory ? p->ports_memory : "the arena");
        each_port(cx, t, p, offset);
        text_char(t, '\n');
    }
    port_struct(t, p, "inputs", p->input, p->input_count, true);
    port_struct(t, p, "outputs", p->output, p->output_count, false);
}

/* ---- In-out tensors ---------------------------------------------------------------------------------------------- */

/* Copies the old values to the output before the run, if the caller passes them in a second array. */
void ports_take_before(Ctx *cx, Text *t, const Program *p)
{
    Speller s = speller_new(cx);
    for (int i = 0; i < p->size_count; i++) speller_name(&s, p->size[i], expr_as_var(p->size[i])->name);
    for (int i = 0; i < p->output_count; i++) {
        const Port *to = &p->output[i], *from = to->inout ? &p->input[to->inout - 1] : NULL;
        if (!from) continue;
        text_printf(t, "    if (in->%s != NULL && in->%s != out->%s)\n        memmove(out->%s, in->%s, (size_t)(%s) * "
                       "sizeof *out->%s);\n", from->name, from->name, to->name, to->name, from->name,
                    spell_size(&s, size_product(cx, to->tensor->shape, to->tensor->rank)), to->name);
    }
}

/* ---- Functions between real numbers and stored integers ---------------------------------------------------------- */

/* Returns the smallest and the largest integer of the type. */
static const char *limits(Ctx *cx, DType type)
{
    const DTypeInfo *info = dtype_info(type);
    return text_format(cx, "%lld, %lld", (long long)info->least, (long long)info->greatest);
}

static void nearest_step(Text *t, const Program *p)
{
    text_printf(t, "\n/* Rounds to the nearest integer, ties %s, adds the zero point and saturates. NaN gives the zero"
                   " point. */\n", p->ties_away ? "away from zero" : "to even");
    text_printf(t, "static inline int32_t %s_%s(float steps, int32_t zero_point, int32_t least, int32_t greatest)\n{\n",
                p->name, p->nearest);
    text_add(t, "    int32_t whole;\n    float rest;\n"
                "    if (steps >= (float)(greatest - zero_point)) return greatest;\n"
                "    if (steps <= (float)(least - zero_point)) return least;\n"
                "    if (!(steps < (float)(greatest - zero_point))) return zero_point;     /* NaN */\n"
                "    whole = (int32_t)steps;\n    rest = steps - (float)whole;     /* exact */\n");
    if (p->ties_away) text_add(t, "    return whole + (rest >= 0.5f) - (rest <= -0.5f) + zero_point;\n}\n");
    else
        text_add(t, "    if (rest > 0.5f || (rest >= 0.5f && whole % 2 != 0)) whole++;\n"
                    "    if (rest < -0.5f || (rest <= -0.5f && whole % 2 != 0)) whole--;\n"
                    "    return whole + zero_point;\n}\n");
}

/* Declares the scales and zero points of all channels. */
static void channel_arrays(Text *t, const char *prefix, const Port *p)
{
    text_printf(t, "    static const float scale[] = %s_%s_SCALES;\n", prefix, p->macro);
    text_printf(t, "    static const int32_t zero_point[] = %s_%s_ZERO_POINTS;\n", prefix, p->macro);
}

static const char *grid_of(Ctx *cx, const char *prefix, const Port *p, const char *what, const char *array)
{
    return p->tensor->quant->count > 1 ? text_format(cx, "%s[channel]", array)
                                       : text_format(cx, "%s_%s_%s", prefix, p->macro, what);
}

static const char *channel_parameter(const Port *p) { return p->tensor->quant->count > 1 ? ", int32_t channel" : ""; }

static void one_element(Ctx *cx, Text *t, const Program *p, const Port *port, bool is_input)
{
    const Tensor *x = port->tensor;
    const bool by_channel = x->quant->count > 1;
    const char *type = dtype_info(x->type)->c_type, *scale = grid_of(cx, p->prefix, port, "SCALE", "scale"),
               *zero = grid_of(cx, p->prefix, port, "ZERO_POINT", "zero_point");
    text_printf(t, "\nstatic inline %s %s_%s(%s value%s)\n{\n", is_input ? type : "float", p->name, port->convert,
                is_input ? "float" : type, channel_parameter(port));
    if (by_channel) channel_arrays(t, p->prefix, port);
    if (is_input)
        text_printf(t, "    return (%s)%s_%s(value / %s, %s, %s);\n}\n", type, p->name, p->nearest, scale, zero,
                    limits(cx, x->type));
    else text_printf(t, "    return %s * (float)((int32_t)value - %s);\n}\n", scale, zero);
}

/* Returns the number of elements per index of the channel axis, or -1 if it is open. */
static int64_t elems_of_channel(const Tensor *x)
{
    int64_t elems = 1;
    for (int d = x->quant->axis + 1; d < x->rank && elems >= 0; d++)
        elems = tensor_dim(x, d) < 0 ? -1 : elems * tensor_dim(x, d);
    return elems;
}

static void all_elements(Ctx *cx, Text *t, const Program *p, const Port *port, bool is_input)
{
    const Tensor *x = port->tensor;
    const char *type = dtype_info(x->type)->c_type, *channel = "";
    const int64_t inner = x->quant->count > 1 ? elems_of_channel(x) : 1;
    if (inner < 0) return;             /* the run's sizes decide the channel of an element */
    if (x->quant->count > 1)
        channel = text_format(cx, ", i / %lld %% %d", (long long)inner, x->quant->count);
    text_printf(t, "static inline void %s_%s(const %s *from, %s *to)\n{\n    int32_t i;\n", p->name, port->convert_all,
                is_input ? "float" : type, is_input ? type : "float");
    text_printf(t, "    for (i = 0; i < (int32_t)%s_%s_ELEMS; i++) to[i] = %s_%s(from[i]%s);\n}\n",
                p->prefix, port->macro, p->name, port->convert, channel);
}

typedef void EachConversion(Ctx *cx, Text *t, const Program *p, const Port *port, bool is_input);

static void each_conversion(Ctx *cx, Text *t, const Program *p, EachConversion *print)
{
    for (int i = 0; i < p->input_count; i++)
        if (p->input[i].convert) print(cx, t, p, &p->input[i], true);
    for (int i = 0; i < p->output_count; i++)
        if (p->output[i].convert) print(cx, t, p, &p->output[i], false);
}

static void conversions(Ctx *cx, Text *t, const Program *p, const Port *port, bool is_input)
{
    one_element(cx, t, p, port, is_input);
    all_elements(cx, t, p, port, is_input);
}

/* Declares functions that cannot be called: their result has an incomplete type, whose name the compiler quotes. */
static void refusals(Ctx *cx, Text *t, const Program *p, const Port *port, bool is_input)
{
    (void)cx;
    const char *stored = dtype_info(port->tensor->type)->c_type, *from = is_input ? "float" : stored,
               *to = is_input ? stored : "float";
    text_printf(t, "struct %s_needs_the_flag_fno_fast_math %s_%s(%s value%s);\n", p->name, p->name, port->convert,
                from, channel_parameter(port));
    text_printf(t, "struct %s_needs_the_flag_fno_fast_math %s_%s(const %s *from, %s *to);\n", p->name, p->name,
                port->convert_all, from, to);
}

static bool has_conversions(const Program *p)
{
    for (int i = 0; i < p->input_count + p->output_count; i++)
        if ((i < p->input_count ? &p->input[i] : &p->output[i - p->input_count])->convert) return true;
    return false;
}

void ports_convert(Ctx *cx, Text *t, const Program *p)
{
    if (!has_conversions(p)) return;
    text_add(t, "\n#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) \\\n"
                "    || defined(__RECIPROCAL_MATH__)     /* other quotients, and no NaN */\n");
    each_conversion(cx, t, p, refusals);
    text_add(t, "#else\n");
    if (p->nearest) nearest_step(t, p);
    each_conversion(cx, t, p, conversions);
    text_add(t, "#endif\n");
}
