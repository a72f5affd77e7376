/* SPDX-License-Identifier: MIT */
/* Prints the interface to several memories (see memories.h).
 *
 *   struct kws_memories { void *dtcm; void *sram; };
 *   static KWS_DTCM(fast);                   an array with the size, the alignment and the section of the memory
 *   kws_run(&(struct kws_memories){ fast, large }, &in, &out);
 *
 * Every memory of the options is a member, also one that the plan leaves empty, so a new plan keeps the call. */
#include "cgen/memories.h"

#include "cgen/apart.h"
#include "support/names.h"

static const char *macro_of(Ctx *cx, const Program *p, const ProgramMemory *m)
{
    return text_format(cx, "%s_%s", name_upper(cx, p->name), name_upper(cx, m->name));
}

static bool uses(const Program *p, int memory)
{
    for (int c = 0; c < p->call_count; c++)
        for (int i = 0; i < p->call[c].place_count; i++)
            if (p->call[c].place[i].kind == PLACE_ARENA && p->call[c].place[i].index == memory) return true;
    return false;
}

/* Prints the macro that declares an array. With a compiler that cannot align or place the array, compilation stops
 * there. */
static void array_macro(Ctx *cx, Text *t, const Program *p, const ProgramMemory *m)
{
    const char *macro = macro_of(cx, p, m), *size = m->size ? text_format(cx, "%s_SIZE", macro) : "1",
               *section = m->section ? text_format(cx, ", section(%s_SECTION)", macro) : "";
    text_printf(t, "#if defined(__GNUC__) || defined(__TINYC__)\n"
                "#define %s(name) unsigned char name[%s] __attribute__((aligned(%s_ALIGN)%s))\n", macro, size, macro,
                section);
    if (!m->section)
        text_printf(t, "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
                    "#define %s(name) _Alignas(%s_ALIGN) unsigned char name[%s]\n", macro, macro, size);
    text_add(t, "#endif\n");
}

void memories_declare(Ctx *cx, Text *t, const Program *p)
{
    const char *prefix = name_upper(cx, p->name);
    for (int i = 0; i < p->memory_count; i++) {
        const ProgramMemory *m = &p->memory[i];
        const char *macro = macro_of(cx, p, m);
        text_printf(t, "#define %s_SIZE %lldu     /* bytes that %s_run uses there%s */\n", macro, (long long)m->size,
                    p->name, m->size ? "" : ": the pointer may be NULL");
        text_printf(t, "#define %s_ALIGN %lldu\n", macro, (long long)m->align);
        if (m->section) text_printf(t, "#define %s_SECTION \"%s\"\n", macro, m->section);
    }
    if (!p->static_arena) {
        text_printf(t, "/* The memories: X(name, size, alignment) for each */\n#define %s_MEMORIES(X)", prefix);
        for (int i = 0; i < p->memory_count; i++)
            text_printf(t, " X(%s, %lld, %lld)", p->memory[i].name, (long long)p->memory[i].size,
                        (long long)p->memory[i].align);
        text_printf(t, "\n\n/* %s(name) declares an array for that memory: `static %s(name);` */\n",
                    macro_of(cx, p, &p->memory[0]), macro_of(cx, p, &p->memory[0]));
        for (int i = 0; i < p->memory_count; i++) array_macro(cx, t, p, &p->memory[i]);
        text_printf(t, "struct %s_memories {\n", p->name);
        for (int i = 0; i < p->memory_count; i++) text_printf(t, "    void *%s;\n", p->memory[i].name);
        text_add(t, "};\n\n");
    }
}

void memory_members(Text *t, const bool used[DTYPE_COUNT], int64_t size)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        const DTypeInfo *info = dtype_info((DType)type);
        if ((used[type] || type == I64 || type == F64) && info->bytes > 1)
            text_printf(t, "    %s as_%s[%lld];\n", info->c_type, info->spelling,
                        (long long)((size + info->bytes - 1) / info->bytes));
    }
}

void memories_static(Ctx *cx, Text *t, const Program *p)
{
    bool used[DTYPE_COUNT] = { false };
    for (int c = 0; c < p->call_count; c++)
        for (int i = 0; i < p->call[c].place_count; i++) used[p->call[c].place[i].type] = true;
    for (int k = 0; k < p->memory_count; k++) {
        const ProgramMemory *m = &p->memory[k];
        if (!uses(p, k)) continue;
        text_printf(t, "static LW_ALIGN(%lld) ", (long long)m->align);
        section_attribute(t, m->section);
        text_printf(t, "union {\n    uint8_t bytes[%s_SIZE];\n", macro_of(cx, p, m));
        memory_members(t, used, m->size);
        text_printf(t, "} %s_%s;\n\n", p->name, m->name);
    }
}

void memories_begin(Ctx *cx, Text *t, const Program *p)
{
    const char *prefix = name_upper(cx, p->name);
    if (!p->static_arena) text_printf(t, "    if (memory == NULL) return %s_E_ARENA;\n", prefix);
    for (int k = 0; k < p->memory_count; k++) {
        const char *name = p->memory[k].name;
        if (!uses(p, k)) continue;
        if (p->static_arena) text_printf(t, "    uint8_t *const %s = %s_%s.bytes;\n", name, p->name, name);
        else text_printf(t, "    uint8_t *const %s = (uint8_t *)memory->%s;\n", name, name);
    }
    for (int k = 0; k < p->memory_count && !p->static_arena; k++)
        if (uses(p, k))
            text_printf(t, "    if (%s == NULL || (uintptr_t)%s %% %s_ALIGN != 0) return %s_E_ARENA;\n",
                        p->memory[k].name, p->memory[k].name, macro_of(cx, p, &p->memory[k]), prefix);
}

/* ---- Test bench -------------------------------------------------------------------------------------------------- */

enum { GUARD = 64 };                 /* the bytes before and after each memory */

void memories_of_testbench(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "    struct %s_memories memories;\n", p->name);
    for (int k = 0; k < p->memory_count; k++) {
        const char *name = p->memory[k].name, *macro = macro_of(cx, p, &p->memory[k]);
        text_printf(t, "    static unsigned char memory_%s[%s_SIZE + %s_ALIGN + %d];\n", name, macro, macro, 2 * GUARD);
        text_printf(t, "    memset(memory_%s, 0xa5, sizeof memory_%s);\n", name, name);
        text_printf(t, "    memories.%s = memory_%s + %d;\n", name, name, GUARD);
        text_printf(t, "    while ((uintptr_t)memories.%s %% %s_ALIGN != 0)\n"
                    "        memories.%s = (unsigned char *)memories.%s + 1;\n", name, macro, name, name);
    }
}

void memories_test_guards(Ctx *cx, Text *t, const Program *p)
{
    for (int k = 0; k < p->memory_count; k++) {
        const char *name = p->memory[k].name, *macro = macro_of(cx, p, &p->memory[k]);
        text_printf(t, "    for (int i = 0; i < %d; i++) {\n"
                    "        const unsigned char *begin = (const unsigned char *)memories.%s;\n"
                    "        if (begin[i - %d] != 0xa5 || begin[%s_SIZE + i] != 0xa5)\n"
                    "            fail(argv[0], \"wrote outside the memory %s\");\n    }\n", GUARD, name, GUARD, macro,
                    name);
    }
}
