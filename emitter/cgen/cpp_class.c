/* SPDX-License-Identifier: MIT */
/* Prints model.hpp: a C++11 class over model.h, without heap and exceptions. The class owns the arena and the state;
 * with several memories, whose arrays are in different sections, its constructor receives their addresses. Inputs and
 * outputs are arguments of run, or accessors of the arena. */
#include "cgen/features.h"
#include "cgen/memories.h"
#include "cgen/parameters.h"
#include "cgen/ports.h"
#include "cgen/spell.h"
#include "support/wrap.h"
#include "support/names.h"

/* Reserves the names that a parameter of `run` may not have: the names of the class, of its members and of model.h's
 * function. */
static Speller words_of_class(Ctx *cx, const Program *p)
{
    Speller s = speller_new(cx);
    const char *words[] = { "in_",   "out_", "arena_", "memory_", "state_", "weights", "Model", "run",
                            "reset", p->name, name_format(cx, "%s_run", p->name) };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) speller_name(&s, words[i], words[i]);
    return s;
}

/* The parameters of `run`, which are named after the ports and sizes. */
typedef struct Parameters { Speller names; Text list; int count; } Parameters;

static void parameter(Parameters *to, const char *type, const void *what, const char *name)
{
    text_printf(&to->list, "%s%s%s", to->count++ ? ", " : "", type, what ? speller_name(&to->names, what, name) : name);
}

static void pointers(Ctx *cx, Parameters *to, const char *qualifier, const Port *port, int count)
{
    for (int i = 0; i < count; i++)
        parameter(to, text_format(cx, "%s%s *", qualifier, dtype_info(port[i].tensor->type)->c_type), &port[i],
                  port[i].name);
}

static Parameters parameters(Ctx *cx, const Program *p)
{
    Parameters to = { words_of_class(cx, p), text_new(cx), 0 };
    if (p->weights.kind == WEIGHTS_CALLER) parameter(&to, "const uint8_t *", NULL, "weights");
    if (!p->ports_in_arena) pointers(cx, &to, "const ", p->input, p->input_count);
    for (int i = 0; i < p->size_count; i++) parameter(&to, "int32_t ", &p->size_name[i], p->size_name[i]);
    if (!p->ports_in_arena) pointers(cx, &to, "", p->output, p->output_count);
    for (int i = 0; i < p->decided_count; i++) parameter(&to, "int32_t *", &p->decided[i], p->decided[i].name);
    return to;
}

static void initializers(Text *t, const Program *p, const Speller *names, const Port *port, int count, bool is_input)
{
    const char *side = is_input ? "input" : "output";
    int printed = 0;
    for (int i = 0; i < count; i++) {
        text_add(t, printed++ ? ", " : "");
        if (p->ports_in_arena) text_printf(t, "%s_%s()", side, port[i].name);
        else text_add(t, speller_find(names, &port[i]));
    }
    for (int i = 0; is_input && i < p->size_count; i++)
        text_printf(t, "%s%s", printed++ ? ", " : "", speller_find(names, &p->size_name[i]));
    for (int i = 0; !is_input && i < p->decided_count; i++)
        text_printf(t, "%s%s", printed++ ? ", " : "", speller_find(names, &p->decided[i]));
    if (!printed) text_char(t, '0');
}

static void run_method(Ctx *cx, Text *t, const Program *p)
{
    const size_t start = t->length;
    Parameters list = parameters(cx, p);
    text_printf(t, "    int run(%s) noexcept", text_string(&list.list));
    wrap_list(cx, t, start);
    text_printf(t, "\n    {\n        const struct %s_inputs in_ = { ", p->name);
    initializers(t, p, &list.names, p->input, p->input_count, true);
    text_printf(t, " };\n        const struct %s_outputs out_ = { ", p->name);
    initializers(t, p, &list.names, p->output, p->output_count, false);
    text_printf(t, " };\n        return %s_run(", p->name);
    print_arguments(t, p, IN_CLASS);
    text_add(t, "&in_, &out_);\n    }\n");
}

static void private_members(Ctx *cx, Text *t, const Program *p)
{
    Text members = text_new(cx);
    features_print(cx, &members, p, FEATURE_CLASS_MEMBERS);
    if (members.length) text_printf(t, "\nprivate:\n%s", text_string(&members));
}

static bool has_pointers(const Program *p) { return p->memory_count && !p->static_arena; }

/* Says who owns the memory of a run. */
static const char *owner(Ctx *cx, const Program *p)
{
    if (has_pointers(p))
        return text_format(cx, "the caller owns the memories:\n * `static %s_%s(name);` declares one", p->prefix,
                           name_upper(cx, p->memory[0].name));
    if (p->memory_count) return "the memories are model.c's own";
    return text_format(cx, "the arena is %s.\n * The object is as large as the arena: make it static rather than local",
                       p->static_arena ? "model.c's own" : "a member");
}

static void constructor(Ctx *cx, Text *t, const Program *p)
{
    const char *first = p->state_count ? text_format(cx, " %s_reset(&state_); ", p->name) : " ";
    if (has_pointers(p))
        text_printf(t, "    explicit Model(const struct %s_memories &memory) noexcept : memory_(memory) {%s}\n",
                    p->name, first);
    else text_printf(t, "    Model() noexcept {%s}\n", first);
}

const char *cgen_cpp_class(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    text_printf(&t, "/* %s: a C++11 class over %s, emitted by Loopwright. No heap, no exceptions; %s. */\n", p->name,
                p->header ? p->header : "the header", owner(cx, p));
    text_printf(&t, "#ifndef %s_HPP\n#define %s_HPP\n\n", p->prefix, p->prefix);
    cgen_include_header(cx, &t, p);
    text_printf(&t, "\nnamespace %s {\n\n", p->name);
    text_add(&t, "class Model {\npublic:\n");
    constructor(cx, &t, p);
    text_add(&t, "    Model(const Model &) = delete;\n    Model &operator=(const Model &) = delete;\n\n");
    features_print(cx, &t, p, FEATURE_CLASS_STATE);
    features_print(cx, &t, p, FEATURE_CLASS_PORTS);
    text_printf(&t, "    /* As %s_run: 0, or a negative %s_E_... code. */\n", p->name, p->prefix);
    run_method(cx, &t, p);
    private_members(cx, &t, p);
    text_printf(&t, "};\n\n} /* namespace %s */\n\n#endif\n", p->name);
    return wrap_lines(cx, text_string(&t));
}
