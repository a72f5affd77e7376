/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/emit_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgen/cgen.h"
#include "context/context.h"
#include "lower/lower.h"
#include "support/map.h"
#include "tests/fuzz/calls.c"

enum { COPY_ORDERS = 3 };
struct EmitBatch { Ctx *cx; Text called, functions, cases, list; int count, array_count, nests, orders; Map seen; };

EmitBatch *emit_batch_new(void)
{
    Ctx *cx = context_new(NULL, NULL);
    EmitBatch *b = NEW(cx->arena, EmitBatch);
    *b = (EmitBatch){ cx, text_new(cx), text_new(cx), text_new(cx), text_new(cx), 0, 0, 0, 1, map_new(cx->arena) };
    return b;
}

void emit_batch_free(EmitBatch *b) { ctx_free(b->cx); }
int emit_batch_count(const EmitBatch *b) { return b->count; }
void emit_batch_orders(EmitBatch *b) { b->orders = COPY_ORDERS; }

/* Returns the number of the text's first copy, or `next` if it is new. Many nests of a case have the same text and
 * data. */
static int first_copy(EmitBatch *b, const char *text, size_t length, int next)
{
    const int *found = map_get_const(&b->seen, text, length);
    if (found) return *found;
    char *key = arena_alloc(b->cx->arena, length);
    int *number = NEW(b->cx->arena, int);
    memcpy(key, text, length);
    *number = next;
    map_put(&b->seen, key, length, number);
    return next;
}

/* Adds an array of bytes; returns its number. */
static int add_bytes(EmitBatch *b, const void *data, int64_t bytes)
{
    const unsigned char *at = data;
    Text t = text_new(b->cx);
    text_printf(&t, "[%lld] = {", (long long)(bytes ? bytes : 1));
    for (int64_t i = 0; i < bytes; i++) text_printf(&t, i % 32 ? "%d," : "\n%d,", at[i]);
    text_add(&t, bytes ? "\n};\n" : "0};\n");
    const int number = first_copy(b, t.at, t.length, b->array_count);
    if (number < b->array_count) return number;
    text_printf(&b->cases, "static const unsigned char data_%d%s", b->array_count, text_string(&t));
    return b->array_count++;
}

static const char *float_kind(DType t)
{
    return t == F32 ? "4" : t == F64 ? "8" : t == F16 ? "2" : t == BF16 ? "1" : "0";
}

static int64_t memory_bytes(Ctx *cx, const Env *env, const Memory *m)
{
    return env_eval_size(cx, env, m->elems) * dtype_info(m->type)->bytes;
}

/* The input whose array is that of the output, or NULL. */
static const Tensor *before_of(const LowerOptions *o, const Tensor *output)
{
    for (int i = 0; i < o->view_count; i++)
        if (o->view[i].is_before && o->view[i].within == output) return o->view[i].tensor;
    return NULL;
}

/* The body of a case: allocates the memories, calls the function t_f, compares the outputs. */
static Text case_body(EmitBatch *b, Ctx *cx, const Function *f, const LowerOptions *o, const Env *env)
{
    Text t = text_new(cx);
    int *data = NEW_ARRAY(cx->arena, int, f->memory_count);
    text_add(&t, "    int wrong = 0;\n");
    if (f->memory_count) text_printf(&t, "    void *m[%d];\n", f->memory_count);
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        long long bytes = (long long)memory_bytes(cx, env, m);
        if (m->kind != MEMORY_SCRATCH) data[i] = add_bytes(b, env_get(env, m->tensor), bytes);
        const Tensor *before = m->kind == MEMORY_OUTPUT ? before_of(o, m->tensor) : NULL;
        const int from = before ? add_bytes(b, env_get(env, before), bytes) : data[i];
        if (m->kind == MEMORY_INPUT || before)
            text_printf(&t, "    m[%d] = make(data_%d, %lldu);\n", i, from, bytes);
        else text_printf(&t, "    m[%d] = make(NULL, %lldu);\n", i, bytes);
    }
    text_add(&t, "    T_F(");
    for (int i = 0; i < f->size_count; i++) {
        int64_t size = 0;
        env_size(env, f->size[i], &size);
        text_printf(&t, "%s%lld", i ? ", " : "", (long long)size);
    }
    for (int i = 0; i < f->memory_count; i++) text_printf(&t, "%sm[%d]", i || f->size_count ? ", " : "", i);
    text_add(&t, ");\n");
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        if (m->kind != MEMORY_OUTPUT) continue;
        text_printf(&t, "    wrong += differ(label, \"%s\", m[%d], data_%d, %lldu, %d, %s);\n", m->name, i, data[i],
                    (long long)memory_bytes(cx, env, m), dtype_info(m->type)->bytes, float_kind(m->type));
    }
    for (int i = 0; i < f->memory_count; i++) text_printf(&t, "    free(m[%d]);\n", i);
    text_add(&t, "    return wrong;\n}\n\n");
    return t;
}

static Text function_text(Ctx *cx, const Function *lowered, const char *name)
{
    Function f = *lowered;
    Text t = text_new(cx);
    Program program = { .name = "t" };
    f.name = name;
    cgen_function(cx, &t, &program, &f);
    return t;
}

/* Alternately: without vectors, and with each width. */
int emit_batch_lanes(const EmitBatch *b)
{
    static const int lanes[] = { 0, 4, 8, 16 };
    return lanes[b->nests % 4];
}

/* Gives each declared memory of the nest exactly its bytes, in an array of its own. */
static Text memories_of(Ctx *cx, const Nest *n, int number)
{
    Text t = text_new(cx);
    for (const Nest *version = n; version; version = version->otherwise)
        for (int i = 0; i < version->scope_count; i++) {
            const Scope *s = version->scope[i];
            if (s->is_opaque) continue;
            text_printf(&t, "#undef LW_MEMORY_%s\n#define LW_MEMORY_%s(offset) (memory_%d_%s + (offset))\n", s->name,
                        s->name, number, s->name);
            if (version == n)
                text_printf(&t, "LW_ALIGN(64) unsigned char memory_%d_%s[%lld];\n", number, s->name,
                            (long long)s->bytes);
        }
    return t;
}

bool emit_batch_add(EmitBatch *b, Ctx *cx, const char *label, const Nest *n, const Env *env)
{
    return emit_batch_add_in_place(b, cx, label, n, env, NULL, NULL);
}

bool emit_batch_add_in_place(EmitBatch *b, Ctx *cx, const char *label, const Nest *n, const Env *env,
                             const Tensor *before, const Tensor *after)
{
    const View view = { .tensor = before, .within = after, .is_before = true };
    const LowerOptions options = { .lanes = emit_batch_lanes(b), .view = &view, .view_count = before != NULL };
    Text called = text_new(cx);
    b->nests++;
    const Function *f = lower_final(cx, lower_nest(cx, n, &options), &options);
    if (!f) return false;
    Text body = case_body(b, cx, f, &options, env), whole = function_text(cx, f, "f");
    const Text own = memories_of(cx, n, b->count), same = memories_of(cx, n, 0);
    text_addn(&whole, body.at, body.length);
    text_addn(&whole, same.at, same.length);
    calls_define(cx, &called, n);
    if (ctx_failed(cx)) return false;
    if (first_copy(b, whole.at, whole.length, b->count) < b->count) return true;
    const Text t = function_text(cx, f, text_format(cx, "f%d", b->count));
    text_addn(&b->called, called.at, called.length);
    text_printf(&b->functions, "/* %s */\n", label);
    if (b->orders > 1) text_addn(&b->functions, own.at, own.length);
    text_addn(&b->functions, t.at, t.length);
    text_char(&b->functions, '\n');
    text_printf(&b->cases, "#undef T_F\n#define T_F t_f%d\nstatic int case_%d(void)\n{\n"
                "    static const char label[] = \"%s\";\n    (void)label;\n", b->count, b->count, label);
    text_addn(&b->cases, body.at, body.length);
    text_printf(&b->list, "    case_%d,\n", b->count);
    b->count++;
    return true;
}

/* Copies that move their elements at once (copy_order 0), in the wait (1), or at any time between (2). */
static const char orders[] =
    "#define LW_COPY_LATE\n#include \"lw_copy.h\"\n"
    "static int copy_order;\nstatic unsigned dice = 1;\n"
    "static void progress(int channel)\n{\n    dice = dice * 1103515245u + 12345u;\n"
    "    if (copy_order != 1) lw_copy_wait(channel, copy_order ? (int)(dice >> 20) % 4 : 0);\n}\n"
    "#undef LW_COPY_START\n#undef LW_COPY_ROWS_START\n#undef LW_COPY_FILL_START\n"
    "#define LW_COPY_START(channel, to, from, bytes) \\\n"
    "    (lw_copy_start(channel, -1, to, 0, from, 0, (size_t)(bytes), 1), progress(channel))\n"
    "#define LW_COPY_ROWS_START(channel, to, to_step, from, from_step, bytes, rows) \\\n"
    "    (lw_copy_start(channel, -1, to, (size_t)(to_step), from, (size_t)(from_step), (size_t)(bytes), \\\n"
    "                   (size_t)(rows)), progress(channel))\n"
    "#define LW_COPY_FILL_START(channel, to, value, bytes) \\\n"
    "    (lw_copy_start(channel, value, to, 0, NULL, 0, (size_t)(bytes), 1), progress(channel))\n\n";

static const char head[] = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include "
                           "<stdlib.h>\n#include <string.h>\n"
                           "#include \"lw_base.h\"\n#include \"lw_fixed.h\"\n"
                           "#include \"lw_math.h\"\n#include \"lw_random.h\"\n#include \"lw_trees.h\"\n"
                           "#include \"simd/simd.h\"\n\n";
static const char parts[] =
    "static void *part_new(int elem, int rank, const int32_t *n)\n{\n"
    "    size_t count = 1;\n"
    "    for (int d = 1; d <= rank; d++) count *= (size_t)n[d];\n"
    "    void *at = malloc(count * (size_t)elem + 1);\n    if (!at) exit(3);\n"
    "    memset(at, 0xaa, count * (size_t)elem);\n    return at;\n}\n\n"
    "static size_t part_offset(size_t i, int rank, const int32_t *n, const int32_t *stride)\n{\n"
    "    size_t k = 0;\n"
    "    for (int d = rank; d > 0; i /= (size_t)n[d--]) k += i % (size_t)n[d] * (size_t)stride[d];\n"
    "    return k;\n}\n\n"
    "static size_t part_count(int rank, const int32_t *n)\n{\n"
    "    size_t count = 1;\n    for (int d = 1; d <= rank; d++) count *= (size_t)n[d];\n    return count;\n}\n\n"
    "static void part_in(void *dense, const void *apart, int elem, int rank, const int32_t *n, const int32_t *stride)"
    "\n{\n    const size_t bytes = (size_t)elem;\n"
    "    for (size_t i = part_count(rank, n); i-- > 0;)\n"
    "        memcpy((unsigned char *)dense + i * bytes,\n"
    "               (const unsigned char *)apart + part_offset(i, rank, n, stride) * bytes, bytes);\n}\n\n"
    "static void part_back(const void *dense, void *apart, int elem, int rank, const int32_t *n, const int32_t "
    "*stride)\n{\n    const size_t bytes = (size_t)elem;\n"
    "    for (size_t i = part_count(rank, n); i-- > 0;)\n"
    "        memcpy((unsigned char *)apart + part_offset(i, rank, n, stride) * bytes,\n"
    "               (const unsigned char *)dense + i * bytes, bytes);\n}\n\n";
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
    "    NULL\n};\n\nint main(void)\n{\n    int wrong = 0;\n"
    "    for (copy_order = 0; copy_order < ORDERS; copy_order++)\n"
    "        for (int i = 0; cases[i]; i++) wrong += cases[i]();\n"
    "    printf(\"%d mismatches\\n\", wrong);\n    return wrong > 100 ? 100 : wrong;\n}\n";

const char *emit_batch_text(EmitBatch *b)
{
    Text t = text_new(b->cx);
    text_add(&t, head);
    text_add(&t, b->orders > 1 ? orders : "#include \"lw_copy.h\"\nstatic int copy_order;\n");
    text_printf(&t, "enum { ORDERS = %d };\n", b->orders);
    if (b->called.length) text_add(&t, parts);
    text_add(&t, text_string(&b->called));
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
