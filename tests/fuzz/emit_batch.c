/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/emit_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgen/cgen.h"
#include "context/context.h"
#include "lower/lower.h"

struct EmitBatch { Ctx *cx; Text functions, cases, list; int count; };

EmitBatch *emit_batch_new(void)
{
    Ctx *cx = context_new(NULL, NULL);
    EmitBatch *b = NEW(cx->arena, EmitBatch);
    *b = (EmitBatch){ cx, text_new(cx), text_new(cx), text_new(cx), 0 };
    return b;
}

void emit_batch_free(EmitBatch *b) { ctx_free(b->cx); }
int emit_batch_count(const EmitBatch *b) { return b->count; }

static void add_bytes(EmitBatch *b, const char *array, int memory, const void *data, int64_t bytes)
{
    const unsigned char *at = data;
    text_printf(&b->cases, "static const unsigned char %s_%d_%d[%lld] = {", array, b->count, memory,
                (long long)(bytes ? bytes : 1));
    for (int64_t i = 0; i < bytes; i++) text_printf(&b->cases, i % 32 ? "%d," : "\n%d,", at[i]);
    text_add(&b->cases, bytes ? "\n};\n" : "0};\n");
}

static const char *float_kind(DType t)
{
    return t == F32 ? "4" : t == F64 ? "8" : t == F16 ? "2" : t == BF16 ? "1" : "0";
}

static int64_t memory_bytes(Ctx *cx, const Env *env, const Memory *m)
{
    return env_eval_size(cx, env, m->elems) * dtype_info(m->type)->bytes;
}

/* int case_N(void): allocates the memories, calls the function, compares the outputs. */
static void add_case(EmitBatch *b, Ctx *cx, const char *label, const Function *f, const Env *env)
{
    Text *t = &b->cases;
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        if (m->kind == MEMORY_SCRATCH) continue;
        add_bytes(b, m->kind == MEMORY_INPUT ? "in" : "want", i, env_get(env, m->tensor), memory_bytes(cx, env, m));
    }
    text_printf(t, "static int case_%d(void)\n{\n    int wrong = 0;\n", b->count);
    if (f->memory_count) text_printf(t, "    void *m[%d];\n", f->memory_count);
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        long long bytes = (long long)memory_bytes(cx, env, m);
        if (m->kind == MEMORY_INPUT) text_printf(t, "    m[%d] = make(in_%d_%d, %lldu);\n", i, b->count, i, bytes);
        else text_printf(t, "    m[%d] = make(NULL, %lldu);\n", i, bytes);
    }
    text_printf(t, "    t_f%d(", b->count);
    for (int i = 0; i < f->size_count; i++) {
        int64_t size = 0;
        env_size(env, f->size[i], &size);
        text_printf(t, "%s%lld", i ? ", " : "", (long long)size);
    }
    for (int i = 0; i < f->memory_count; i++) text_printf(t, "%sm[%d]", i || f->size_count ? ", " : "", i);
    text_add(t, ");\n");
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        if (m->kind != MEMORY_OUTPUT) continue;
        text_printf(t, "    wrong += differ(\"%s\", \"%s\", m[%d], want_%d_%d, %lldu, %d, %s);\n", label, m->name, i,
                    b->count, i, (long long)memory_bytes(cx, env, m), dtype_info(m->type)->bytes, float_kind(m->type));
    }
    for (int i = 0; i < f->memory_count; i++) text_printf(t, "    free(m[%d]);\n", i);
    text_add(t, "    return wrong;\n}\n\n");
}

bool emit_batch_add(EmitBatch *b, Ctx *cx, const char *label, const Nest *n, const Env *env)
{
    static const int lanes[] = { 0, 4, 8, 16 };      /* alternately: without vectors, and with each width */
    const LowerOptions options = { .lanes = lanes[b->count % 4] };
    const Function *lowered = lower_final(cx, lower_nest(cx, n, &options), &options);
    if (!lowered) return false;
    Function f = *lowered;
    f.name = text_format(cx, "f%d", b->count);
    Text t = text_new(cx);
    Program program = { .name = "t" };
    cgen_function(cx, &t, &program, &f);
    if (ctx_failed(cx)) return false;
    text_printf(&b->functions, "/* %s */\n", label);
    text_addn(&b->functions, text_string(&t), t.length);
    text_char(&b->functions, '\n');
    add_case(b, cx, label, &f, env);
    text_printf(&b->list, "    case_%d,\n", b->count);
    b->count++;
    return true;
}

static const char head[] = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include "
                           "<stdlib.h>\n#include <string.h>\n"
                           "#include \"lw_base.h\"\n#include \"lw_fixed.h\"\n#include \"lw_math.h\"\n#include "
                           "\"lw_random.h\"\n#include \"lw_trees.h\"\n#include \"simd/simd.h\"\n\n";
static const char tools[] =
    "static void *make(const unsigned char *from, size_t bytes)\n{\n"
    "    unsigned char *to = malloc(bytes ? bytes : 1);\n    if (!to) exit(3);\n"
    "    if (from) memcpy(to, from, bytes);\n    else memset(to, 0xaa, bytes);\n    return to;\n}\n\n"
    "static int is_nan(const unsigned char *at, int kind)\n{\n"
    "    float f;\n    double d;\n    uint16_t h;\n"
    "    switch (kind) {\n"
    "    case 4: memcpy(&f, at, 4); return f != f;\n"
    "    case 8: memcpy(&d, at, 8); return d != d;\n"
    "    case 2: memcpy(&h, at, 2); return (h & 0x7fff) > 0x7c00;\n"
    "    case 1: memcpy(&h, at, 2); return (h & 0x7fff) > 0x7f80;\n"
    "    default: return 0;\n    }\n}\n\n"
    "static int differ(const char *label, const char *name, const void *got, const unsigned char *want, size_t bytes, "
    "int elem, int kind)\n{\n"
    "    const unsigned char *at = got;\n"
    "    for (size_t i = 0; i < bytes; i += (size_t)elem) {\n"
    "        if (memcmp(at + i, want + i, (size_t)elem) == 0) continue;\n"
    "        if (is_nan(at + i, kind) && is_nan(want + i, kind)) continue;\n"
    "        printf(\"mismatch: %s: %s[%lu]\", label, name, (unsigned long)(i / (size_t)elem));\n"
    "        if (kind == 4) { float a, b; memcpy(&a, at + i, 4); memcpy(&b, want + i, 4); printf(\" is %.9g, not "
    "%.9g\", (double)a, (double)b); }\n"
    "        printf(\"\\n\");\n        return 1;\n    }\n    return 0;\n}\n\n";
static const char tail[] =
    "    NULL\n};\n\nint main(void)\n{\n    int wrong = 0;\n    for (int i = 0; cases[i]; i++) wrong += cases[i]();\n"
    "    printf(\"%d mismatches\\n\", wrong);\n    return wrong > 100 ? 100 : wrong;\n}\n";

const char *emit_batch_text(EmitBatch *b)
{
    Text t = text_new(b->cx);
    text_add(&t, head);
    text_add(&t, text_string(&b->functions));
    text_add(&t, tools);
    text_add(&t, text_string(&b->cases));
    text_add(&t, "static int (*const cases[])(void) = {\n");
    text_add(&t, text_string(&b->list));
    text_add(&t, tail);
    return text_string(&t);
}

static int kept(const char *why, int status, const char *stem, int mismatches)
{
    printf("# %s: status %d; see %s.c\n", why, status, stem);
    return mismatches;
}

int emit_batch_run(EmitBatch *b, const char *stem, const char *cc, const char *flags)
{
    stem = text_format(b->cx, "%s-%ld", stem, (long)getpid());
    const char *source = text_format(b->cx, "%s.c", stem);
    FILE *f = fopen(source, "w");
    if (!f) return kept("the program cannot be written", 0, stem, -1);
    fputs(emit_batch_text(b), f);
    if (fclose(f) != 0) return kept("the program cannot be written", 0, stem, -1);
    int status = system(text_format(b->cx, "%s %s -Iruntime -o %s %s -lm", cc, flags, stem, source));
    if (status != 0) return kept("the program does not compile", status, stem, -1);
    status = system(text_format(b->cx, "%s%s", stem[0] == '/' ? "" : "./", stem));
    if (status == -1 || status % 256 != 0 || status / 256 > 100) return kept("the program stops", status, stem, -1);
    if (status) return kept("mismatches", status / 256, stem, status / 256);    /* where the host is POSIX */
    remove(stem);
    remove(source);
    return 0;
}
