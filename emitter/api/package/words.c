/* SPDX-License-Identifier: MIT */
/* Prints the words of the templates; each word is a row with the function that prints it. */
#include "api/package/package.h"

#include <string.h>

#include "cgen/control_flow.h"

static void print_number(Text *t, int64_t n) { text_printf(t, "%lld", (long long)n); }

static void add_name(Ctx *cx, Text *t, const Program *p) { (void)cx, text_add(t, p->name); }
static void add_capital_name(Ctx *cx, Text *t, const Program *p) { text_add(t, name_upper(cx, p->name)); }

/* The file's name; bytes with a meaning in YAML, JSON, XML, CMake or a shell become '_'. */
static void add_model(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    for (const char *s = p->source; *s; s++) {
        const bool is_plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9')
                              || strchr("._-", *s);
        text_char(t, is_plain ? *s : '_');
    }
}

static void add_target(Ctx *cx, Text *t, const Program *p) { (void)cx, text_add(t, p->target); }
static void add_arena(Ctx *cx, Text *t, const Program *p) { (void)cx, print_number(t, p->arena_size); }
static void add_weights(Ctx *cx, Text *t, const Program *p) { (void)cx, print_number(t, program_constants(p)); }
static void add_ports(Ctx *cx, Text *t, const Program *p) { print_number(t, package_vector_bytes(cx, p)); }

/* Bytes of RAM that are reserved on an AVR: Arduino's core uses 200 to 250, and the stack of a run 220 to 250. */
enum { AVR_RESERVE = 512 };

static int64_t state_bytes(Ctx *cx, const Program *p)
{
    int64_t bytes = 0;
    for (int i = 0; i < p->state_count; i++) bytes += tensor_most_bytes(cx, p->state[i].tensor);
    return bytes;
}

/* Returns the bytes of the sketch's arrays. */
static int64_t avr_ports(Ctx *cx, const Program *p) { return package_vector_bytes(cx, p) + state_bytes(cx, p); }

/* Returns the bytes of RAM that the self-test uses on an AVR: the recorded inputs and outputs, and its own buffers for
 * outputs and state. */
static int64_t avr_selftest(Ctx *cx, const Program *p)
{
    int64_t bytes = avr_ports(cx, p);
    for (int i = 0; i < p->output_count; i++) bytes += tensor_most_bytes(cx, p->output[i].tensor);
    return bytes;
}

/* Returns the bytes of RAM on an AVR: constants are copied to RAM unless they are in program memory. */
static int64_t avr_ram(Ctx *cx, const Program *p)
{
    const int64_t constants = p->weights.kind == WEIGHTS_FLASH ? 0 : program_constants(p);
    return p->arena_size + constants + avr_ports(cx, p) + AVR_RESERVE;
}

static void add_avr_ports(Ctx *cx, Text *t, const Program *p) { print_number(t, avr_ports(cx, p)); }
static void add_avr_selftest(Ctx *cx, Text *t, const Program *p) { print_number(t, avr_selftest(cx, p)); }
static void add_avr_ram(Ctx *cx, Text *t, const Program *p) { print_number(t, avr_ram(cx, p)); }
static void add_avr_tested(Ctx *cx, Text *t, const Program *p)
{
    print_number(t, avr_ram(cx, p) + avr_selftest(cx, p));
}
static void add_avr_reserve(Ctx *cx, Text *t, const Program *p) { (void)cx, (void)p, print_number(t, AVR_RESERVE); }

static void add_avr_advice(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_add(t, p->weights.kind == WEIGHTS_FLASH ? "`--ram BYTES` chooses the fastest plan within BYTES, and the "
                                              "refusal of `--ram 1` names the smallest plan"
                                            : "`--weights progmem` puts constants into program memory");
}

static void add_avr_constants(Ctx *cx, Text *t, const Program *p)
{
    (void)cx, text_add(t, p->weights.kind == WEIGHTS_FLASH ? "program memory" : "RAM");
}

/* Adds "avr" if constants are in program memory, as only AVRs require; otherwise adds "*". */
static void add_architectures(Ctx *cx, Text *t, const Program *p)
{
    (void)cx, text_add(t, p->weights.kind == WEIGHTS_FLASH ? "avr" : "*");
}

static void print_port(Ctx *cx, Text *t, const char *kind, const Port *p)
{
    const Tensor *x = p->tensor;
    text_printf(t, "| %s `%s` | `%s %s`, %lld bytes", kind, p->name, dtype_info(x->type)->c_type,
                tensor_shape_names(cx, x), (long long)tensor_most_bytes(cx, x));
    if (x->quant && x->quant->count == 1) {
        text_add(t, ", scale ");
        text_float(t, x->quant->scale[0]);
        text_printf(t, ", zero point %ld", (long)x->quant->zero_point[0]);
    }
    text_add(t, " |\n");
}

static void add_facts(Ctx *cx, Text *t, const Program *p)
{
    text_add(t, "The neural network `");
    add_model(cx, t, p);
    text_printf(t, "` as plain C99 without heap and runtime library (0BSD), emitted by Loopwright for `%s`.\n\n"
                   "| | |\n|---|---|\n", p->target);
    for (int i = 0; i < p->input_count; i++) print_port(cx, t, "input", &p->input[i]);
    for (int i = 0; i < p->output_count; i++) print_port(cx, t, "output", &p->output[i]);
    text_printf(t, "| constants | %lld bytes of flash |\n"
                   "| arena | %lld bytes of RAM for intermediate results, caller-owned |\n"
                   "| self-test | %lld bytes of recorded values |",
                (long long)program_constants(p), (long long)p->arena_size, (long long)package_vector_bytes(cx, p));
}

static void print_names(Text *t, const char *kind, const Port *port, int count)
{
    for (int i = 0; i < count; i++) text_printf(t, "%s%s_%s", i ? ", " : "", kind, port[i].name);
    if (!count) text_char(t, '0');
}

static void add_in(Ctx *cx, Text *t, const Program *p) { (void)cx, print_names(t, "input", p->input, p->input_count); }

static void add_out(Ctx *cx, Text *t, const Program *p)
{
    (void)cx, print_names(t, "output", p->output, p->output_count);
    for (int i = 0; i < p->decided_count; i++) text_printf(t, ", &size_%s", p->decided[i].name);
}

static void add_first_out(Ctx *cx, Text *t, const Program *p)
{
    (void)cx, text_printf(t, "output_%s", p->output[0].name);
}

/* Adds the type to which the sketch casts a value to print it; Arduino has no function that prints 64-bit integers. */
static void add_printed(Ctx *cx, Text *t, const Program *p)
{
    (void)cx, text_add(t, p->output_count && dtype_is_float(p->output[0].tensor->type) ? "double" : "long");
}

static void print_arrays(Ctx *cx, Text *t, const char *kind, const Port *port, int count)
{
    for (int i = 0; i < count; i++)
        text_printf(t, "%sstatic %s %s_%s[%lld];", i ? "\n" : "", dtype_info(port[i].tensor->type)->c_type, kind,
                    port[i].name, (long long)(tensor_most_bytes(cx, port[i].tensor)
                                              / dtype_info(port[i].tensor->type)->bytes));
}

static void add_arrays(Ctx *cx, Text *t, const Program *p)
{
    print_arrays(cx, t, "input", p->input, p->input_count);
    if (p->input_count) text_char(t, '\n');
    print_arrays(cx, t, "output", p->output, p->output_count);
    for (int i = 0; i < p->decided_count; i++) text_printf(t, "\nstatic int32_t size_%s;", p->decided[i].name);
    if (p->state_count) text_printf(t, "\nstatic struct %s_state state;", p->name);
}

static void add_run(Ctx *cx, Text *t, const Program *p)
{
    (void)cx, text_add(t, p->state_count ? "arena, &state, &in, &out" : "arena, &in, &out");
}

static void add_reset(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    if (p->state_count) text_printf(t, "    %s_reset(&state);", p->name);
}

/* Returns the function that stores a real number in the input: the header's function if the input is quantized,
 * otherwise a cast. */
static const char *stores(Ctx *cx, const Program *p, const Port *input)
{
    return input->convert ? text_format(cx, "%s_%s", p->name, input->convert)
                          : text_format(cx, "(%s)", dtype_info(input->tensor->type)->c_type);
}

/* Prints loops that fill the inputs from read_sensor. */
static void add_fill(Ctx *cx, Text *t, const Program *p)
{
    for (int i = 0; i < p->input_count; i++)
        text_printf(t, "%s    for (unsigned long i = 0; i < sizeof input_%s / sizeof input_%s[0]; i++)\n"
                       "        input_%s[i] = %s(read_sensor());", i ? "\n" : "", p->input[i].name, p->input[i].name,
                    p->input[i].name, stores(cx, p, &p->input[i]));
}

static void print_converting(Text *t, const Program *p, const Port *port, const char *from, const char *to)
{
    text_printf(t, "    %s_%s(%s_%s, %s_%s);\n", p->name, port->convert_all, from, port->name, to, port->name);
}

/* Lists the header's functions that convert between floats and quantized inputs and outputs. */
static void print_conversions(Text *t, const Program *p)
{
    bool has_quantized = false;
    for (int i = 0; i < p->input_count; i++) has_quantized = has_quantized || p->input[i].convert;
    for (int i = 0; i < p->output_count; i++) has_quantized = has_quantized || p->output[i].convert;
    if (!has_quantized) return;
    text_add(t, "The header converts between arrays of floats, here `real_...`, and the quantized ones:\n\n```c\n");
    for (int i = 0; i < p->input_count; i++)
        if (p->input[i].convert) print_converting(t, p, &p->input[i], "real", "input");
    text_add(t, "    infer();\n");
    for (int i = 0; i < p->output_count; i++)
        if (p->output[i].convert) print_converting(t, p, &p->output[i], "output", "real");
    text_add(t, "```\n\n");
}

static void add_use(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "## Call it\n\n```c\n#include \"%s.h\"\n\nstatic %s_ARENA(arena);\n", p->name,
                name_upper(cx, p->name));
    add_arrays(cx, t, p);
    text_printf(t, "\n\nint infer(void)\n{\n    const struct %s_inputs in = { ", p->name);
    add_in(cx, t, p);
    text_printf(t, " };\n    const struct %s_outputs out = { ", p->name);
    add_out(cx, t, p);
    text_printf(t, " };\n    return %s_run(", p->name);
    add_run(cx, t, p);
    text_printf(t, ");     /* 0, or a negative %s_E_... code */\n}\n```\n\n", name_upper(cx, p->name));
    print_conversions(t, p);
    if (p->state_count) text_printf(t, "Call `%s_reset(&state)` before the first run. ", p->name);
    text_printf(t, "`%s_selftest(arena)` of `%s_selftest.h` runs the model on a recorded input and returns the number "
                   "of output\nelements that differ from the recorded ones: 0 is a pass.", p->name, p->name);
}

const char *package_word(Ctx *cx, const Program *p, const char *word)
{
    static const struct { const char *word; void (*print)(Ctx *, Text *, const Program *); } rows[] = {
        { "name", add_name }, { "NAME", add_capital_name }, { "model", add_model }, { "target", add_target },
        { "arena", add_arena }, { "weights", add_weights }, { "ports", add_ports }, { "avr_ram", add_avr_ram },
        { "avr_tested", add_avr_tested }, { "avr_selftest", add_avr_selftest }, { "avr_ports", add_avr_ports },
        { "avr_reserve", add_avr_reserve }, { "avr_advice", add_avr_advice },
        { "avr_constants", add_avr_constants }, { "architectures", add_architectures }, { "vector", add_ports },
        { "facts", add_facts }, { "use", add_use }, { "in", add_in }, { "out", add_out },
        { "first_out", add_first_out }, { "arrays", add_arrays }, { "run", add_run }, { "reset", add_reset },
        { "fill", add_fill }, { "printed", add_printed },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].word, word) != 0) continue;
        Text t = text_new(cx);
        rows[i].print(cx, &t, p);
        return text_string(&t);
    }
    return NULL;
}
