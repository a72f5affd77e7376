/* SPDX-License-Identifier: MIT */
/* Prints the partitions of foreign devices in two files:
 *
 *   model.h     the prototype, with its operands and its contract
 *   model.c     #ifndef NAME_HAVE_DEVICE: a default in plain C, with the functions and constants that only it uses
 *
 * Thus the program links and runs before the device's driver exists, and contains no part of the default afterwards.
 * A composite with a condition on open sizes keeps its default, in a function of its own: NAME_run calls this function
 * if the condition is false. */
#include "cgen/control_flow.h"

#include <string.h>

#include "support/wrap.h"
#include "support/names.h"

static const char *have(Ctx *cx, const Program *p, const char *device)
{
    return text_format(cx, "%s_HAVE_%s", name_upper(cx, p->name), name_upper(cx, device));
}

/* ---- Guards ------------------------------------------------------------------------------------------------------ */

typedef bool IsUsed(const Call *c, const void *what);

static bool uses_function(const Call *c, const void *what) { return c->function == what; }

static bool uses_constant(const Call *c, const void *what)
{
    const int *index = what;
    for (int i = 0; i < c->place_count; i++)
        if (c->place[i].kind == PLACE_CONST && c->place[i].index == *index) return true;
    return false;
}

/* Returns true if an earlier call of the same device uses the function. */
static bool is_named_before(const Program *p, int call, IsUsed *is_used, const void *what)
{
    const char *device = program_call(p, call)->partition->device;
    bool found = false;
    for (int i = 0; i < call && !found; i++) {
        const Call *c = program_call(p, i);
        found = is_used(c, what) && text_equal(c->partition->device, device);
    }
    return found;
}

/* Returns the condition under which the function (or constant) is unused, such as `defined(A_HAVE_NPU) &&
 * defined(A_HAVE_DSP)`. Returns NULL if the constant is always used, or if no call uses it. */
static const char *unused_where(Ctx *cx, const Program *p, IsUsed *is_used, const void *what)
{
    Text t = text_new(cx);
    const Call *c;
    for (int i = 0; (c = program_call(p, i)) != NULL; i++) {
        if (!is_used(c, what)) continue;
        if (!c->partition || c->partition->when) return NULL;
        if (is_named_before(p, i, is_used, what)) continue;
        text_printf(&t, "%sdefined(%s)", t.length ? " && " : "", have(cx, p, c->partition->device));
    }
    return t.length ? text_string(&t) : NULL;
}

/* Prints the text under an #if; consecutive texts with the same condition share the #if. */
static void guarded(Ctx *cx, Text *t, const char *unused, const char *text)
{
    const char *end = unused ? text_format(cx, "#endif     /* !(%s) */\n\n", unused) : "";
    size_t length = strlen(end);
    if (length && t->length >= length && strcmp(text_string(t) + t->length - length, end) == 0) t->length -= length;
    else if (unused) text_printf(t, "#if !(%s)\n", unused);
    text_add(t, text);
    text_add(t, end);
}

void partition_function(Ctx *cx, Text *t, const Program *p, const Function *f, const char *text)
{
    guarded(cx, t, unused_where(cx, p, uses_function, f), text);
}

void partition_constant(Ctx *cx, Text *t, const Program *p, int constant, const char *text)
{
    guarded(cx, t, unused_where(cx, p, uses_constant, &constant), text);
}

/* ---- Prototypes and defaults ------------------------------------------------------------------------------------- */

Speller partition_speller(Ctx *cx, const Program *p, const Partition *d)
{
    Speller s = speller_new(cx);
    speller_name(&s, p, "arena");
    speller_name(&s, d, "memory");
    for (int i = 0; i < d->param_count; i++) speller_name(&s, &d->param[i], d->param[i].name);
    for (int i = 0; i < p->size_count; i++) speller_name(&s, p->size[i], expr_as_var(p->size[i])->name);
    return s;
}

static const char *size_name(const Speller *s, const Program *p, int i) { return speller_find(s, p->size[i]); }

static void signature(Ctx *cx, Text *t, const Program *p, const Partition *d, const char *called)
{
    Speller s = partition_speller(cx, p, d);
    const size_t start = t->length;
    text_printf(t, "%sint %s_%s(void *arena", called == d->otherwise ? "static " : "", p->name, called);
    for (int i = 0; i < p->size_count; i++) text_printf(t, ", int32_t %s", size_name(&s, p, i));
    for (int i = 0; i < d->param_count; i++)
        text_printf(t, ", %s%s *%s", d->param[i].is_written ? "" : "const ",
                    dtype_info(d->param[i].tensor->type)->c_type, d->param[i].name);
    text_char(t, ')');
    wrap_list(cx, t, start);
}

static void labels(Text *t, const Program *p, const Partition *d)
{
    bool first = true;
    for (int i = 0; i < p->call_count; i++) {
        if (p->call[i].partition != d) continue;
        if (!first) text_add(t, ", ");
        for (const char *s = p->call[i].label; *s; s++) text_char(t, *s >= ' ' && *s <= '~' && *s != '*' ? *s : '?');
        first = false;
    }
}

/* Returns false for a partition that consists only of views, which need no call. */
static bool has_calls(const Program *p, const Partition *d)
{
    for (int i = 0; i < p->call_count; i++)
        if (p->call[i].partition == d) return true;
    return false;
}

/* Returns the condition under which NAME_run calls the partition, for a comment. */
static const char *where_called(Ctx *cx, const Program *p, const Partition *d)
{
    Speller s = partition_speller(cx, p, d);
    return d->when ? text_format(cx, " where %s", spell_size(&s, d->when)) : "";
}

void partition_prototypes(Ctx *cx, Text *t, const Program *p)
{
    text_char(t, '\n');
    for (int i = 0; i < p->partition_count; i++) {
        const Partition *d = &p->partition[i];
        if (!has_calls(p, d)) continue;
        text_printf(t, "/* Runs on the device %s%s%s: ", d->device, d->composite ? " as " : "",
                    d->composite ? d->composite : "");
        labels(t, p, d);
        text_printf(t,
                    ".\n * Called by %s_run%s. The source has a default in plain C; to replace it, define %s\n"
                    " * and provide the function. Tensors are dense and row-major:\n",
                    p->name, where_called(cx, p, d), have(cx, p, d->device));
        for (int j = 0; j < d->param_count; j++) {
            const Param *q = &d->param[j];
            text_printf(t, " *   %-20s %-8s %s  %s\n", q->name, dtype_info(q->tensor->type)->c_type,
                        tensor_shape_names(cx, q->tensor), !q->is_written ? "read" : "written");
        }
        Speller s = partition_speller(cx, p, d);
        for (int j = 0; j < p->size_count; j++)
            text_printf(t, " *   %-20s %-8s %lld to %lld\n", size_name(&s, p, j), "int32_t",
                        (long long)expr_as_var(p->size[j])->least, (long long)expr_as_var(p->size[j])->greatest);
        text_printf(t, " * arena: that of %s_run; only the default uses it. ", p->name);
        text_printf(t, "Returns 0, or a negative error code of %s_run. */\n", p->name);
        signature(cx, t, p, d, d->name);
        text_add(t, ";\n\n");
    }
}

static bool uses_memory(const Program *p, const Partition *d)
{
    for (int i = 0; i < p->call_count; i++)
        for (int j = 0; p->call[i].partition == d && j < p->call[i].place_count; j++)
            if (p->call[i].place[j].kind == PLACE_ARENA) return true;
    return false;
}

static bool uses_size(const Program *p, const Partition *d, const Expr *size)
{
    for (int i = 0; i < p->call_count; i++)
        for (int j = 0; p->call[i].partition == d && j < p->call[i].function->size_count; j++)
            if (p->call[i].size[j] == size) return true;
    return false;
}

/* Prints the default's definition under the name. */
static void default_body(Ctx *cx, Text *t, const Program *p, const Partition *d, const char *called,
                         PrintCall *print_call)
{
    signature(cx, t, p, d, called);
    text_printf(t, "\n{\n%s",
                uses_memory(p, d) ? "    uint8_t *const memory = (uint8_t *)arena;\n" : "    (void)arena;\n");
    Speller s = partition_speller(cx, p, d);
    for (int j = 0; j < p->size_count; j++)
        if (!uses_size(p, d, p->size[j])) text_printf(t, "    (void)%s;\n", size_name(&s, p, j));
    for (int c = 0; c < p->call_count; c++)
        if (p->call[c].partition == d) print_call(cx, t, p, &p->call[c]);
    text_add(t, "    return 0;\n}\n");
}

/* Prints a definition that calls the default. */
static void default_call(Ctx *cx, Text *t, const Program *p, const Partition *d)
{
    Speller s = partition_speller(cx, p, d);
    signature(cx, t, p, d, d->name);
    const size_t start = t->length;
    text_printf(t, "\n{\n    return %s_%s(arena", p->name, d->otherwise);
    for (int i = 0; i < p->size_count; i++) text_printf(t, ", %s", size_name(&s, p, i));
    for (int i = 0; i < d->param_count; i++) text_printf(t, ", %s", d->param[i].name);
    text_add(t, ");");
    wrap_list(cx, t, start + sizeof "\n{\n" - 1);
    text_add(t, "\n}\n");
}

void partition_defaults(Ctx *cx, Text *t, const Program *p, PrintCall *print_call)
{
    for (int i = 0; i < p->partition_count; i++) {
        const Partition *d = &p->partition[i];
        if (!has_calls(p, d)) continue;
        if (d->when) default_body(cx, t, p, d, d->otherwise, print_call);
        text_printf(t, "%s#ifndef %s\n", d->when ? "\n" : "", have(cx, p, d->device));
        if (d->when) default_call(cx, t, p, d);
        else default_body(cx, t, p, d, d->name, print_call);
        text_add(t, "#endif\n\n");
    }
}

static void call_of(Ctx *cx, Text *t, const Program *p, const Partition *d, const char *before, const char *called,
                    const char *memory, const Speller *sizes, PrintPlace *print_place)
{
    const size_t start = t->length;
    text_printf(t, "%s%s_%s(%s", before, p->name, called, memory);
    for (int i = 0; i < p->size_count; i++) text_printf(t, ", %s", size_name(sizes, p, i));
    for (int i = 0; i < d->param_count; i++) {
        const Memory m = { .kind = d->param[i].is_written ? MEMORY_OUTPUT : MEMORY_INPUT,
                           .type = d->param[i].tensor->type };
        text_printf(t, ", %s", print_place(cx, p, &d->param[i].place, &m));
    }
    text_add(t, ");");
    wrap_list(cx, t, start);
    text_char(t, '\n');
}

/* Prints, in NAME_run, the call of the device's function, at the position of the first layer that it computes. */
void partition_call(Ctx *cx, Text *t, const Program *p, const Partition *d, const char *memory, Speller *sizes,
                    PrintPlace *print_place)
{
    text_add(t, "    {\n");
    if (!d->when) call_of(cx, t, p, d, "        const int status = ", d->name, memory, sizes, print_place);
    else {
        text_printf(t, "        int status;\n        if (%s)\n", spell_size(sizes, d->when));
        call_of(cx, t, p, d, "            status = ", d->name, memory, sizes, print_place);
        text_add(t, "        else\n");
        call_of(cx, t, p, d, "            status = ", d->otherwise, memory, sizes, print_place);
    }
    text_add(t, "        if (status != 0) return status;\n    }\n");
}
