/* SPDX-License-Identifier: MIT */
/* Prints the parts of --selftest. NAME_run and NAME_selftest share the list of layers, NAME_layers, whose parameter
 * `check` is NULL for NAME_run. If `check` is not NULL, each result of a layer is compared with a checksum right after
 * the layer. */
#include "cgen/control_flow.h"
#include "cgen/memories.h"
#include "cgen/parameters.h"

#include "support/names.h"

void selftest_declare(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "\n/* Runs the model on a recorded input, and compares the result of each layer with a checksum.\n"
                   " * Returns 0, the number of the first layer that differs (from 1, as model.c lists them), or a "
                   "negative\n * %s_E... code. `out`%s as for %s_run. */\n",
                p->prefix, p->state_count ? " and `state` are" : " is", p->name);
    text_printf(t, "int %s_selftest(%sconst struct %s_outputs *out);\n", p->name, program_parameters(cx, p), p->name);
}

void selftest_define(Ctx *cx, Text *t, const Program *p)
{
    const Selftest *s = p->selftest;
    text_printf(t, "/* A layer's result on the recorded input: its sum (FNV-1a), `rows` of `bytes`, `pitch` apart. */\n"
                   "struct %s_checksum { uint32_t sum, rows, bytes, pitch; };\n", p->name);
    text_printf(t, "static const struct %s_checksum %s_checksums[] = {\n", p->name, p->name);
    for (int i = 0; i < s->check_count; i++) {
        const Check *c = &s->check[i];
        text_printf(t, "    { 0x%08lxu, %lldu, %lldu, %lldu },     /* %d: %s */\n", (unsigned long)c->sum,
                    (long long)c->rows, (long long)c->bytes, (long long)c->pitch, c->call + 1,
                    comment_text(cx, c->label));
    }
    if (!s->check_count) text_add(t, "    { 0u, 0u, 0u, 0u },\n");
    text_printf(t, "};\n\n/* True if the result has another sum. The lowest byte of each element comes first. */\n"
                   "static int %s_differs(const struct %s_checksum *expected, const void *result, uint32_t size)\n{\n"
                   "    const uint8_t *row = (const uint8_t *)result;\n"
                   "    const uint16_t one = 1;\n"
                   "    const uint32_t flip = *(const uint8_t *)&one == 1 ? 0 : size - 1;\n"
                   "    uint32_t sum = 2166136261u, i, k;\n"
                   "    for (i = 0; i < expected->rows; i++, row += expected->pitch)\n"
                   "        for (k = 0; k < expected->bytes; k++) sum = (sum ^ row[k ^ flip]) * 16777619u;\n"
                   "    return sum != expected->sum;\n}\n\n", p->name, p->name);
}

void selftest_checks(Ctx *cx, Text *t, const Program *p, int call, PrintPlace *print_place)
{
    for (int i = 0; p->selftest && i < p->selftest->check_count; i++) {
        const Check *c = &p->selftest->check[i];
        const Memory result = { .kind = MEMORY_OUTPUT, .type = c->place.type };
        if (c->call == call)
            text_printf(t, "    if (check != NULL && %s_differs(&check[%d], %s, %d)) return %d;\n", p->name, i,
                        print_place(cx, p, &c->place, &result), dtype_info(c->place.type)->bytes, call + 1);
    }
}

/* Prints the call of NAME_layers in NAME_run or NAME_selftest. */
static void call_layers(Text *t, const Program *p, const char *in, const char *check)
{
    text_printf(t, "    return %s_layers(", p->name);
    print_arguments(t, p, IN_MODEL);
    text_printf(t, "%s, out, %s);\n}\n", in, check);
}

/* Prints the statement that sets an input. An input in the arena is copied, because layers reuse its memory. */
static void set_input(Ctx *cx, Text *t, const Program *p, int i)
{
    const Port *x = &p->input[i];
    const char *constant = p->selftest->input_name[i];
    if (x->at < 0) text_printf(t, "    in.%s = %s_%s;\n", x->name, p->name, constant);
    else
        text_printf(t, "    in.%s = (const %s *)memcpy((uint8_t *)%s + %s_%s_AT, %s_%s, sizeof %s_%s);\n", x->name,
                    dtype_info(x->tensor->type)->c_type, memory_of_ports(cx, p, IN_MODEL), p->prefix, x->macro, p->name,
                    constant, p->name, constant);
}

bool selftest_moves_memory(const Program *p)
{
    bool moves = p->selftest && !p->input_count;
    for (int i = 0; p->selftest && i < p->input_count; i++) moves = moves || p->input[i].at >= 0;
    return moves;
}

static void test_memory_of_ports(Ctx *cx, Text *t, const Program *p)
{
    const char *at = memory_of_ports(cx, p, IN_MODEL);
    text_printf(t, "    if (%s%s == NULL || (uintptr_t)%s %% %s_%s_ALIGN != 0) return %s_E_ARENA;\n",
                p->ports_memory ? "memory == NULL || " : "", at, at, p->prefix,
                p->ports_memory ? name_upper(cx, p->ports_memory) : "ARENA", p->prefix);
}

void selftest_functions(Ctx *cx, Text *t, const Program *p, const char *run)
{
    text_printf(t, "\n%s\n{\n", run);
    call_layers(t, p, "in", "NULL");
    text_printf(t, "\nint %s_selftest(%sconst struct %s_outputs *out)\n{\n", p->name, program_parameters(cx, p),
                p->name);
    text_printf(t, "    struct %s_inputs in;\n", p->name);
    if (!p->input_count) text_add(t, "    memset(&in, 0, sizeof in);\n");
    if (p->ports_in_arena) test_memory_of_ports(cx, t, p);
    for (int i = 0; i < p->input_count; i++) set_input(cx, t, p, i);
    if (p->state_count) text_printf(t, "    if (state != NULL) %s_reset(state);\n", p->name);
    call_layers(t, p, "&in", text_format(cx, "%s_checksums", p->name));
}
