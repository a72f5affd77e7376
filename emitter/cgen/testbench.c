/* SPDX-License-Identifier: MIT */
/* Prints model_main.c, which runs the model on .npy files on a host. Most of it is a fixed template,
 * for program_text: template/testbench.txt. Only the tables of inputs and outputs depend on the model. */
#include <string.h>

#include "cgen/device_calls.h"
#include "cgen/memories.h"
#include "cgen/parameters.h"
#include "cgen/spell.h"
#include "cgen/template.h"
#include "support/wrap.h"
#include "support/names.h"

static void add_line(Text *t, const Program *p, const char *line)
{
    program_text(t, p, line);
    text_char(t, '\n');
}

static const char *npy_type(DType t)
{
    static const char *const types[DTYPE_COUNT] = {
        [BOOL] = "|b1", [I8] = "|i1", [U8] = "|u1", [I16] = "<i2", [U16] = "<u2", [I32] = "<i4", [U32] = "<u4",
        [I64] = "<i8", [U64] = "<u8", [F16] = "<f2", [BF16] = "<u2", [F32] = "<f4", [F64] = "<f8",
    };
    return types[t];
}

static void port_rows(Text *t, const char *list, const Port *port, int count, Speller *sizes)
{
    bool is_decided = false;
    for (int i = 0; i < count; i++) is_decided = is_decided || port[i].decided;
    text_printf(t, "    %sPort %s[] = {\n", is_decided ? "" : "const ", list);
    for (int i = 0; i < count; i++) {
        const Tensor *x = port[i].tensor;
        text_printf(t, "        { \"%s\", \"%s\", %d, %d, {", port[i].name, npy_type(x->type),
                    dtype_info(x->type)->bytes, x->rank);
        for (int d = 0; d < x->rank; d++)
            if (port[i].decided && port[i].decided[d] >= 0) text_add(t, d ? ", 0" : " 0");
            else text_printf(t, "%s%s", d ? ", " : " ", spell_size(sizes, x->shape[d]));
        text_add(t, x->rank ? " } },\n" : "0 } },\n");
    }
    if (!count) text_add(t, "        { \"\", \"\", 0, 0, { 0 } },\n");
    text_add(t, "    };\n");
}

static void size_arguments(Text *t, const Program *p, Speller *s)
{
    for (int i = 0; i < p->size_count; i++) {
        const Var *v = expr_as_var(p->size[i]);
        const char *size = speller_name(s, p->size[i], v->name);
        const int length = (int)strlen(v->name) + 1;
        text_printf(t, "    long %s = %lld;\n", size, (long long)v->greatest);
        text_printf(t, "    if (argc > 1 && strncmp(argv[1], \"%s=\", %d) == 0) {\n", v->name, length);
        text_printf(t, "        %s = atol(argv[1] + %d);\n        argv++;\n        argc--;\n    }\n", size, length);
    }
}

/* Prints the variables that receive the sizes of outputs. */
static void receive_sizes(Text *t, const Program *p)
{
    for (int i = 0; i < p->decided_count; i++)
        text_printf(t, "    static int32_t %s_size_%s;\n    out.%s = &%s_size_%s;\n", p->name, p->decided[i].name,
                    p->decided[i].name, p->name, p->decided[i].name);
}

static void enter_sizes(Text *t, const Program *p)
{
    for (int i = 0; i < p->output_count; i++)
        for (int d = 0; p->output[i].decided && d < p->output[i].tensor->rank; d++)
            if (p->output[i].decided[d] >= 0)
                text_printf(t, "    outputs[%d].shape[%d] = *out.%s;\n", i, d,
                            p->decided[p->output[i].decided[d]].name);
}

/* Prints the runs. If ports are in the arena, the program copies inputs to the arena before each run, and reads outputs
 * after the last run. */
static void runs(Ctx *cx, Text *t, const Program *p)
{
    if (!p->ports_in_arena) {
        add_line(t, p, "    for (long i = 0; i < repeat && status == 0; i++) status = $_run(^&in, &out);");
        enter_sizes(t, p);
        return;
    }
    add_line(t, p, "    for (long i = 0; i < repeat && status == 0; i++) {");
    for (int i = 0; i < p->input_count; i++)
        add_line(t, p,
                 text_format(cx, "        memcpy((char *)%s + @_%s_AT, $_in_%s, port_bytes(&inputs[%d]));",
                             memory_of_ports(cx, p, IN_TESTBENCH), p->input[i].macro, p->input[i].name, i));
    add_line(t, p, "        status = $_run(^&in, &out);\n    }");
    enter_sizes(t, p);
    for (int i = 0; i < p->output_count; i++)
        add_line(t, p,
                 text_format(cx, "    memcpy($_out_%s, out.%s, port_bytes(&outputs[%d]));", p->output[i].name,
                             p->output[i].name, i));
}

/* Prints the pointers in a struct of ports; `qualifier` qualifies the type of the elements. */
static void ports_are_at(Ctx *cx, Text *t, const Program *p, const char *structure, const char *qualifier,
                         const Port *port, int count)
{
    for (int i = 0; i < count; i++)
        if (!p->ports_in_arena)
            add_line(t, p, text_format(cx, "    %s.%s = $_%s_%s;", structure, port[i].name, structure, port[i].name));
        else
            add_line(t, p,
                     text_format(cx, "    %s.%s = (%s%s *)(void *)((char *)%s + @_%s_AT);", structure, port[i].name,
                                 qualifier, dtype_info(port[i].tensor->type)->c_type,
                                 memory_of_ports(cx, p, IN_TESTBENCH), port[i].macro));
}

/* Fills the outputs, so that an element that the run does not write, or does not begin, has no accidental value. */
static void fill_outputs(Ctx *cx, Text *t, const Program *p)
{
    for (int i = 0; i < p->output_count && !p->ports_in_arena; i++)
        if (!p->output[i].decided)
            add_line(t, p, text_format(cx, "    memset($_out_%s, 0x5a, sizeof $_out_%s);", p->output[i].name,
                                       p->output[i].name));
}

static void main_function(Ctx *cx, Text *t, const Program *p)
{
    Speller s = speller_new(cx);
    features_print(cx, t, p, FEATURE_BENCH_FUNCTIONS);
    program_file(t, p, "main.txt");
    features_print(cx, t, p, FEATURE_BENCH_OPTIONS);
    size_arguments(t, p, &s);
    if (p->input_count) port_rows(t, "inputs", p->input, p->input_count, &s);
    else text_add(t, "    (void)read_npy;\n");
    port_rows(t, "outputs", p->output, p->output_count, &s);
    text_printf(t,
                "    if (argc < 1 + %d || argc > 1 + %d)\n"
                "        fail(argv[0], \"expects %d inputs and at most %d outputs\");\n",
                p->input_count, p->input_count + p->output_count, p->input_count, p->output_count);
    add_line(t, p,
             "    struct $_inputs in;\n    struct $_outputs out;\n    memset(&in, 0, sizeof in);\n    memset(&out, 0, "
             "sizeof out);");
    for (int i = 0; i < p->input_count; i++)
        add_line(t, p, text_format(cx, "    read_npy(argv[%d], &inputs[%d], $_in_%s);", i + 1, i, p->input[i].name));
    for (int i = 0; i < p->size_count; i++)
        text_printf(t, "    in.%s = (int32_t)%s;\n", p->size_name[i], speller_find(&s, p->size[i]));
    features_print(cx, t, p, FEATURE_BENCH_MEMORY);
    ports_are_at(cx, t, p, "in", "const ", p->input, p->input_count);
    ports_are_at(cx, t, p, "out", "", p->output, p->output_count);
    fill_outputs(cx, t, p);
    receive_sizes(t, p);
    features_print(cx, t, p, FEATURE_BENCH_BEGIN);
    add_line(t, p, "    int status = 0;\n    const clock_t started = clock();");
    runs(cx, t, p);
    features_print(cx, t, p, FEATURE_BENCH_STATUS);
    program_file(t, p, "stop.txt");
    features_print(cx, t, p, FEATURE_BENCH_END);
    for (int i = 0; i < p->output_count; i++)
        add_line(t, p,
                 text_format(cx, "    if (argc > %d) write_npy(argv[%d], &outputs[%d], $_out_%s);",
                             p->input_count + i + 1, p->input_count + i + 1, i, p->output[i].name));
    features_print(cx, t, p, FEATURE_BENCH_LAST);
    text_add(t, "    return 0;\n}\n");
}

const char *cgen_testbench(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    for (const char *const *line = template_lines("testbench.txt"); !template_ends(*line); line++) {
        if (text_equal(*line, "#include \"%\"")) cgen_include_header(cx, &t, p);
        else add_line(&t, p, *line);
    }
    main_function(cx, &t, p);
    return wrap_lines(cx, text_string(&t));
}
