/* SPDX-License-Identifier: MIT */
#include "cgen/class_parts.h"

#include "cgen/memories.h"

/* The memory of several is a void *, which a cast turns into bytes. */
static void accessors(Ctx *cx, Text *t, const Program *p, const char *side, const Port *port, int count)
{
    const char *base = memory_of_ports(cx, p, IN_CLASS);
    if (p->memory_count) base = text_format(cx, "static_cast<unsigned char *>(%s)", base);
    for (int i = 0; i < count; i++) {
        const char *type = dtype_info(port[i].tensor->type)->c_type;
        text_printf(t, "    %s *%s_%s() noexcept { return static_cast<%s *>(static_cast<void *>(%s + %s_%s_AT)); }\n",
                    type, side, port[i].name, type, base, p->prefix, port[i].macro);
    }
}

void class_ports(Ctx *cx, Text *t, const Program *p)
{
    accessors(cx, t, p, "input", p->input, p->input_count);
    accessors(cx, t, p, "output", p->output, p->output_count);
}

void class_arena(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_printf(t, "    alignas(%s_ARENA_ALIGN) unsigned char arena_[%s_ARENA_SIZE%s];\n", p->prefix, p->prefix,
                p->arena_size ? "" : " + 1");
}
