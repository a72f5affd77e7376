/* SPDX-License-Identifier: MIT */
/* Prints NAME_selftest.c: the model's recorded input and outputs as arrays, and a function that runs the model and
 * counts the elements that differ. Floats may differ within the tolerance of `verify`, because a project's own flags
 * may contract products and sums; integers are equal. */
#include "api/package/package.h"

#include "cgen/weights.h"

static int64_t port_bytes(Ctx *cx, const Port *p) { return tensor_most_bytes(cx, p->tensor); }

int64_t package_vector_bytes(Ctx *cx, const Program *p)
{
    int64_t bytes = 0;
    for (int i = 0; i < p->input_count; i++) bytes += port_bytes(cx, &p->input[i]);
    for (int i = 0; i < p->output_count; i++) bytes += port_bytes(cx, &p->output[i]);
    return bytes;
}

const char *package_selftest_header(Ctx *cx, const Program *p)
{
    const char *capital = name_upper(cx, p->name), *name = p->name;
    return text_format(cx,
        "/* SPDX-License-Identifier: 0BSD */\n"
        "/* The self-test of %s: a recorded input, and the outputs that the compiler's interpreter computed. */\n"
        "#ifndef %s_SELFTEST_H\n#define %s_SELFTEST_H\n\n#include \"%s.h\"\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* Runs the model on the recorded input. Returns the number of output elements that differ: 0 is a pass. A\n"
        " * negative result is the code of %s_run. The arena is the one for %s_run. */\n"
        "long %s_selftest(void *arena);\n\n"
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
        name, capital, capital, name, name, name, name);
}

/* Prints the data as an array of constants; prints nothing if there are no elements. */
static void print_array(Ctx *cx, Text *t, const char *kind, const char *name, const Tensor *actual, const void *data)
{
    Tensor constant = *actual;
    constant.data = data;
    if (!tensor_elems(actual)) return;
    text_printf(t, "static const %s %s_%s[%lld] = {\n", dtype_info(constant.type)->c_type, kind, name,
                (long long)tensor_elems(&constant));
    weights_print(cx, &constant, text_put, t);
    text_add(t, "\n};\n");
}

/* Returns true if an output has elements of this type to compare. */
static bool has_type(const Recording *r, bool is_such(DType type))
{
    for (int i = 0; i < r->program->output_count; i++)
        if (is_such(r->actual[i]->type) && tensor_elems(r->actual[i])) return true;
    return false;
}

static bool is_single(DType t) { return t == F32; }
static bool is_double(DType t) { return t == F64; }
static bool is_equal(DType t) { return t != F32 && t != F64; }

/* Prints a function that compares two values within the tolerance, also infinities and NaN. */
static void print_close(Text *t, const char *type, const char *suffix)
{
    text_printf(t,
        "\n/* Differences above 1e-4 + 1e-3 * |expected| count; equal infinities and two NaN do not. */\n"
        "static long %ss_wrong(const %s *got, const %s *expected, long count)\n{\n"
        "    long i, wrong = 0;\n"
        "    for (i = 0; i < count; i++) {\n"
        "        const %s a = got[i], b = expected[i], d = a > b ? a - b : b - a;\n"
        "        const %s limit = 1e-4%s + 1e-3%s * (b < 0 ? -b : b);\n"
        "        const int is_same = a == b || (a != a && b != b);\n"
        "        wrong += !is_same && !(d <= limit && b - b == 0);\n"
        "    }\n"
        "    return wrong;\n}\n",
        type, type, type, type, type, suffix, suffix);
}

static void print_helpers(Text *t, const Recording *r)
{
    if (has_type(r, is_single)) print_close(t, "float", "f");
    if (has_type(r, is_double)) print_close(t, "double", "");
    if (has_type(r, is_equal))
        text_add(t,
            "\n/* Counts the elements of `size` bytes that differ. */\n"
            "static long elements_wrong(const void *got, const void *expected, long count, unsigned size)\n{\n"
            "    const unsigned char *a = (const unsigned char *)got, *b = (const unsigned char *)expected;\n"
            "    long i, wrong = 0;\n"
            "    unsigned k;\n"
            "    for (i = 0; i < count; i++, a += size, b += size) {\n"
            "        for (k = 0; k < size && a[k] == b[k]; k++) continue;\n"
            "        wrong += k < size;\n"
            "    }\n"
            "    return wrong;\n}\n");
}

static void print_ports(Text *t, const char *kind, const Port *port, int count)
{
    for (int i = 0; i < count; i++) text_printf(t, "%s%s_%s", i ? ", " : "", kind, port[i].name);
    if (!count) text_char(t, '0');
}

static void print_comparison(Ctx *cx, Text *t, const Port *p, const Tensor *actual)
{
    if (!tensor_elems(actual)) return;
    const DType type = p->tensor->type;
    const char *function = type == F32 ? "floats_wrong" : type == F64 ? "doubles_wrong" : "elements_wrong";
    text_printf(t, "    wrong += %s(output_%s, expected_%s, %lld", function, p->name, p->name,
                (long long)tensor_elems(actual));
    text_printf(t, is_equal(type) ? ", %s);\n" : ");\n", text_format(cx, "%du", dtype_info(type)->bytes));
}

/* If the run decides a size, the size of the recorded run is expected. */
static void print_sizes(Text *t, const Recording *r)
{
    const Program *p = r->program;
    for (int s = 0; s < p->decided_count; s++) {
        int64_t size = -1;
        for (int i = 0; i < p->output_count; i++)
            for (int d = 0; p->output[i].decided && d < p->output[i].tensor->rank; d++)
                if (p->output[i].decided[d] == s) size = tensor_dim(r->actual[i], d);
        text_printf(t, "    wrong += size_%s != %lld;\n", p->decided[s].name, (long long)size);
    }
}

static void print_function(Ctx *cx, Text *t, const Recording *r)
{
    const Program *p = r->program;
    text_printf(t, "\nlong %s_selftest(void *arena)\n{\n    const struct %s_inputs in = { ", p->name, p->name);
    print_ports(t, "input", p->input, p->input_count);
    text_printf(t, " };\n    const struct %s_outputs out = { ", p->name);
    print_ports(t, "output", p->output, p->output_count);
    for (int i = 0; i < p->decided_count; i++) text_printf(t, ", &size_%s", p->decided[i].name);
    text_add(t, " };\n    long wrong = 0;\n    int status;\n");
    if (p->state_count) text_printf(t, "    %s_reset(&state);\n", p->name);
    text_printf(t, "    status = %s_run(arena, %s&in, &out);\n    if (status != 0) return status;\n", p->name,
                p->state_count ? "&state, " : "");
    print_sizes(t, r);
    for (int i = 0; i < p->output_count; i++) print_comparison(cx, t, &p->output[i], r->actual[i]);
    text_add(t, "    return wrong;\n}\n");
}

static bool is_finite(const Recording *r)
{
    for (int i = 0; i < r->program->output_count; i++) {
        Tensor constant = *r->actual[i];
        constant.data = r->output[i];
        if (!weights_are_finite(&constant)) return false;
    }
    return true;
}

const char *package_selftest(Ctx *cx, const Recording *r)
{
    const Program *p = r->program;
    Text t = text_new(cx);
    text_printf(&t, "/* SPDX-License-Identifier: 0BSD */\n/* The recorded run of %s. Emitted by Loopwright. */\n"
                    "#include \"%s_selftest.h\"\n\n%s", p->name, p->name, is_finite(r) ? "" : "#include <math.h>\n\n");
    for (int i = 0; i < p->input_count; i++)
        print_array(cx, &t, "input", p->input[i].name, p->input[i].tensor, r->input[i]);
    for (int i = 0; i < p->output_count; i++) {
        const Port *out = &p->output[i];
        print_array(cx, &t, "expected", out->name, r->actual[i], r->output[i]);
        text_printf(&t, "static %s output_%s[%lld];\n", dtype_info(out->tensor->type)->c_type, out->name,
                    (long long)tensor_most_elems(cx, out->tensor));
    }
    for (int i = 0; i < p->decided_count; i++) text_printf(&t, "static int32_t size_%s;\n", p->decided[i].name);
    if (p->state_count) text_printf(&t, "static struct %s_state state;\n", p->name);
    print_helpers(&t, r);
    print_function(cx, &t, r);
    return text_string(&t);
}
