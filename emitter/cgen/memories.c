/* SPDX-License-Identifier: MIT */
/* Prints the declaration of NAME_run's memory (see memories.h): one arena, or several memories:
 *
 *   struct kws_memories { void *dtcm; void *sram; };
 *   static KWS_DTCM(fast);                   an array with the size, the alignment and the section of the memory
 *   kws_run(&(struct kws_memories){ fast, large }, &in, &out);
 *
 * Every memory of the options is a member, also one that the plan leaves empty, so a new plan keeps the call. */
#include "cgen/memories.h"

#include <string.h>

#include "cgen/apart.h"
#include "cgen/control_flow.h"
#include "support/names.h"
#include "support/wrap.h"

/* Prints the members of a static array's union: one for each type that layers store in the array, so that its declared
 * type covers all accesses. Members of eight bytes are always printed. */
static void memory_members(Text *t, const bool used[DTYPE_COUNT], int64_t size)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        const DTypeInfo *info = dtype_info((DType)type);
        if ((used[type] || type == I64 || type == F64) && info->bytes > 1)
            text_printf(t, "    %s as_%s[%lld];\n", info->c_type, info->spelling,
                        (long long)((size + info->bytes - 1) / info->bytes));
    }
}

const char *memory_of_ports(Ctx *cx, const Program *p, ArgumentOf of)
{
    static const char *const arena[ARGUMENTS] = { "arena", "arena", "arena_" },
                      *const memories[ARGUMENTS] = { "memory->", "memories.", "memory_." };
    return p->ports_memory ? text_format(cx, "%s%s", memories[of], p->ports_memory) : arena[of];
}

/* ---- One arena --------------------------------------------------------------------------------------------------- */

bool program_uses_arena(const Program *p)
{
    for (int c = 0; c < p->call_count; c++)
        for (int i = 0; i < p->call[c].place_count; i++)
            if (p->call[c].place[i].kind == PLACE_ARENA) return true;
    return false;
}

/* Returns the bytes of the arena that NAME_run and NAME_train may share. */
static int64_t arena_of_both(const Program *p)
{
    return p->step && p->step->arena_size > p->arena_size ? p->step->arena_size : p->arena_size;
}

/* Prints the macro that declares the caller's arena. The macro aligns the arena with the language's keyword, or in C99
 * with the compiler's. */
static void arena_macro(Ctx *cx, Text *t, const Program *p, const char *word, const char *function)
{
    enum { LONG_DOUBLE = 8 };      /* arrays of at least this many bytes get the alignment */
    const char *macro = text_format(cx, "%s_%s", p->prefix, word);
    const int64_t bytes = strcmp(function, "run") == 0 ? p->arena_size : arena_of_both(p);
    const char *array = bytes ? text_format(cx, "[%s_SIZE]", macro) : "[1]";
    const char *align = text_format(cx, "%s_ARENA_ALIGN", p->prefix);
    const char *define = text_format(cx, "#define %s(name)", macro);
    text_printf(t, "/* Declares the arena: `static %s(memory);`, passed as %s_%s(memory, ...) */\n", macro, p->name,
                function);
    text_printf(t,
                "#if defined(__GNUC__) || defined(__TINYC__)\n%s unsigned char name%s __attribute__((aligned(%s)))\n",
                    define, array, align);
    text_printf(t, "#elif defined(__cplusplus)\n%s unsigned char name alignas(%s) %s\n", define, align, array);
    text_printf(
        t, "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n%s _Alignas(%s) unsigned char name%s\n",
        define, align, array);
    text_printf(t, "#else     /* other C99 compilers: %s_%s rejects a misaligned arena */\n", p->name, function);
    text_printf(t, "%s long double name[%lld]\n#endif\n\n", define, (long long)(bytes / LONG_DOUBLE + 1));
}

void arena_sizes(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_printf(t, "#define %s_ARENA_SIZE   %lldu     /* bytes of scratch memory %s_run needs */\n", p->prefix,
                (long long)p->arena_size, p->name);
    text_printf(t, "#define %s_ARENA_ALIGN  %lldu\n", p->prefix, (long long)p->arena_align);
}

void arena_declare(Ctx *cx, Text *t, const Program *p)
{
    if (!p->static_arena) arena_macro(cx, t, p, "ARENA", "run");
}

void arena_of_training(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "#define %s_TRAIN_ARENA_SIZE %lldu     /* bytes for %s_train, and enough for %s_run */\n", p->prefix,
                (long long)arena_of_both(p), p->name, p->name);
    if (!p->static_arena) arena_macro(cx, t, p, "TRAIN_ARENA", "train");
}

/* Marks the types that the calls store in the memory. */
static void types_of_calls(const Program *p, bool used[DTYPE_COUNT])
{
    const Call *call;
    for (int i = 0; (call = program_call(p, i)) != NULL; i++)
        for (int j = 0; j < call->place_count; j++) used[call->place[j].type] = true;
}

void arena_static(Ctx *cx, Text *t, const Program *p)
{
    bool used[DTYPE_COUNT] = { false };
    (void)cx;
    if (!p->static_arena || p->is_step || !(program_uses_arena(p) || (p->step && program_uses_arena(p->step)))) return;
    types_of_calls(p, used);
    text_printf(t, "static LW_ALIGN(%lld) union {\n    uint8_t bytes[%s_%sARENA_SIZE];\n", (long long)p->arena_align,
                p->prefix, p->step ? "TRAIN_" : "");
    memory_members(t, used, arena_of_both(p));
    text_printf(t, "} %s_arena;\n\n", p->name);
}

void arena_begin(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    if (program_uses_arena(p))
        text_printf(t, "    uint8_t *const memory = %s%s;\n", p->static_arena ? p->name : "(uint8_t *)arena",
                    p->static_arena ? "_arena.bytes" : "");
    else if (!p->static_arena) text_add(t, "    (void)arena;\n");
}

void arena_test(Ctx *cx, Text *t, const Program *p)
{
    const size_t start = t->length;
    if (program_uses_arena(p) && !p->static_arena)
        text_printf(t, "    if (memory == NULL || (uintptr_t)memory %% %s_ARENA_ALIGN != 0) return %s_E_ARENA;\n",
                    p->prefix, p->prefix);
    wrap_statement(cx, t, start);
}

/* ---- Several memories -------------------------------------------------------------------------------------------- */

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

/* Prints the macro that declares an array. Compilation stops at this text if the compiler cannot align or place the
 * array. */
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
    for (int i = 0; i < p->memory_count; i++) {
        const ProgramMemory *m = &p->memory[i];
        const char *macro = macro_of(cx, p, m);
        text_printf(t, "#define %s_SIZE %lldu     /* bytes that %s_run uses there%s */\n", macro, (long long)m->size,
                    p->name, m->size ? "" : ": the pointer may be NULL");
        text_printf(t, "#define %s_ALIGN %lldu\n", macro, (long long)m->align);
        if (m->section) text_printf(t, "#define %s_SECTION \"%s\"\n", macro, m->section);
    }
    if (!p->static_arena) {
        text_printf(t, "/* The memories: X(name, size, alignment) for each */\n#define %s_MEMORIES(X)", p->prefix);
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

void memories_static(Ctx *cx, Text *t, const Program *p)
{
    bool used[DTYPE_COUNT] = { false };
    types_of_calls(p, used);
    for (int k = 0; k < p->memory_count && p->static_arena; k++) {
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
    if (!p->static_arena) text_printf(t, "    if (memory == NULL) return %s_E_ARENA;\n", p->prefix);
    for (int k = 0; k < p->memory_count; k++) {
        const char *name = p->memory[k].name;
        if (!uses(p, k)) continue;
        if (p->static_arena) text_printf(t, "    uint8_t *const %s = %s_%s.bytes;\n", name, p->name, name);
        else text_printf(t, "    uint8_t *const %s = (uint8_t *)memory->%s;\n", name, name);
    }
    for (int k = 0; k < p->memory_count && !p->static_arena; k++)
        if (uses(p, k))
            text_printf(t, "    if (%s == NULL || (uintptr_t)%s %% %s_ALIGN != 0) return %s_E_ARENA;\n",
                        p->memory[k].name, p->memory[k].name, macro_of(cx, p, &p->memory[k]), p->prefix);
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
