/* SPDX-License-Identifier: MIT */
/* Prints model.hpp: a C++11 class over model.h, without heap and exceptions. It owns the arena and the state; inputs
 * and outputs are arguments of run, or accessors of the arena. */
#include "cgen/ports.h"
#include "support/wrap.h"
#include "support/names.h"

static void accessor(Text *t, const char *prefix, const char *side, const Port *p)
{
    const char *type = dtype_info(p->tensor->type)->c_type;
    text_printf(t, "    %s *%s_%s() noexcept { return static_cast<%s *>(static_cast<void *>(arena_ + %s_%s_AT)); }\n",
                type, side, p->name, type, prefix, p->macro);
}

static void parameters(Text *t, const Port *port, int count, bool is_const, int *printed)
{
    for (int i = 0; i < count; i++)
        text_printf(t, "%s%s%s *%s", (*printed)++ ? ", " : "", is_const ? "const " : "",
                    dtype_info(port[i].tensor->type)->c_type, port[i].name);
}

static void initializers(Text *t, const Program *p, const Port *port, int count, bool is_input)
{
    const char *side = !p->ports_in_arena ? "" : is_input ? "input_" : "output_";
    int printed = 0;
    for (int i = 0; i < count; i++)
        text_printf(t, "%s%s%s%s", printed++ ? ", " : "", side, port[i].name, p->ports_in_arena ? "()" : "");
    for (int i = 0; is_input && i < p->size_count; i++) text_printf(t, "%s%s", printed++ ? ", " : "", p->size_name[i]);
    for (int i = 0; !is_input && i < p->decided_count; i++)
        text_printf(t, "%s%s", printed++ ? ", " : "", p->decided[i].name);
    if (!printed) text_char(t, '0');
}

static void run_method(Ctx *cx, Text *t, const Program *p)
{
    int printed = 0;
    const size_t start = t->length;
    text_add(t, "    int run(");
    if (p->weights == WEIGHTS_CALLER) {
        text_add(t, "const uint8_t *weights");
        printed++;
    }
    if (!p->ports_in_arena) parameters(t, p->input, p->input_count, true, &printed);
    for (int i = 0; i < p->size_count; i++) text_printf(t, "%sint32_t %s", printed++ ? ", " : "", p->size_name[i]);
    if (!p->ports_in_arena) parameters(t, p->output, p->output_count, false, &printed);
    for (int i = 0; i < p->decided_count; i++)
        text_printf(t, "%sint32_t *%s", printed++ ? ", " : "", p->decided[i].name);
    text_add(t, ") noexcept");
    wrap_list(cx, t, start);
    text_printf(t, "\n    {\n        const struct %s_inputs in_ = { ", p->name);
    initializers(t, p, p->input, p->input_count, true);
    text_printf(t, " };\n        const struct %s_outputs out_ = { ", p->name);
    initializers(t, p, p->output, p->output_count, false);
    text_printf(t, " };\n        return %s_run(%s%s%s&in_, &out_);\n    }\n", p->name,
                p->static_arena ? "" : "arena_, ",
                p->weights == WEIGHTS_CALLER ? "weights, " : "",
                p->state_count ? "&state_, " : "");
}

static void private_members(Text *t, const Program *p, const char *prefix)
{
    if (p->static_arena && !p->state_count) return;
    text_add(t, "\nprivate:\n");
    if (!p->static_arena)
        text_printf(t, "    alignas(%s_ARENA_ALIGN) unsigned char arena_[%s_ARENA_SIZE%s];\n", prefix, prefix,
                    p->arena_size ? "" : " + 1");
    if (p->state_count) text_printf(t, "    struct %s_state state_;\n", p->name);
}

const char *cgen_cpp_class(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    const char *prefix = name_upper(cx, p->name);
    const char *first = p->state_count ? text_format(cx, "%s_reset(&state_);", p->name) : "";
    text_printf(&t, "/* %s: a C++11 class over %s, emitted by Loopwright. No heap, no exceptions; %s.\n"
                    " * The object is as large as the arena: make it static rather than local. */\n", p->name,
                p->header ? p->header : "the header",
                p->static_arena ? "the arena is model.c's own" : "the arena is a member");
    text_printf(&t, "#ifndef %s_HPP\n#define %s_HPP\n\n#include \"%s\"\n\nnamespace %s {\n\n", prefix, prefix,
                p->header ? p->header : text_format(cx, "%s.h", p->name), p->name);
    text_printf(&t, "class Model {\npublic:\n    Model() noexcept { %s%s}\n    Model(const Model &) = delete;\n"
                    "    Model &operator=(const Model &) = delete;\n\n", first, *first ? " " : "");
    if (p->state_count)
        text_printf(&t, "    void reset() noexcept { %s_reset(&state_); }\n", p->name);
    for (int i = 0; p->ports_in_arena && i < p->input_count; i++) accessor(&t, prefix, "input", &p->input[i]);
    for (int i = 0; p->ports_in_arena && i < p->output_count; i++) accessor(&t, prefix, "output", &p->output[i]);
    text_printf(&t, "    /* As %s_run: 0, or a negative %s_E_... code. */\n", p->name, prefix);
    run_method(cx, &t, p);
    private_members(&t, p, prefix);
    text_printf(&t, "};\n\n} /* namespace %s */\n\n#endif\n", p->name);
    return wrap_lines(cx, text_string(&t));
}
