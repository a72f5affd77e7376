/* SPDX-License-Identifier: MIT */
/* Prints the parts of --profile. LW_LAYER reads the core's counter (runtime/lw_counter.h), and adds the counts since
 * its last call to the row of the layer that ends. LW_LAYER numbers the layers of NAME_run first, then the layers of
 * bodies, then the layers of NAME_train. */

/* Decision: counts per layer are a mutable global. `LW_LAYER` has no operand through which a caller could pass storage,
 * and a parameter of `NAME_run` would change the interface that is measured. So `--profile` emits a table and a counter
 * (`cgen/profile.c`, `runtime/lw_counter.h`). Without `--profile` and `--static-arena`, emitted C has no mutable data
 * of its own. */
#include "cgen/control_flow.h"

#include "support/names.h"

static int layer_count(const Program *p)
{
    int count = 0;
    while (program_call(p, count)) count++;
    return count;
}

void profile_declare(Ctx *cx, Text *t, const Program *p)
{
    const int count = layer_count(p);
    text_printf(t, "\n/* Counts per layer (--profile): %s_run adds the advance of the core's counter to `count`, and 1 "
                   "to `runs`.\n * Set both to 0 to begin again. Mutable, so runs may not overlap. */\n", p->name);
    text_printf(t, "struct %s_layer { const char *name; uint64_t count; uint32_t runs; };\n", p->name);
    text_printf(t, "#define %s_LAYERS %d\nextern struct %s_layer %s_profile[%s];\n", p->prefix, count, p->name, p->name,
                count ? text_format(cx, "%s_LAYERS", p->prefix) : "1");
    text_printf(t, "extern const char *const %s_profile_unit;     /* \"cycles\", \"instructions\" or \"ns\" */\n",
                p->name);
}

/* Returns the name of the group as `report` prints it. For a partition, returns the partition's name, because one mark
 * precedes all of its calls. */
static const char *layer_name(const Call *c)
{
    return c->partition ? c->partition->name : c->group ? c->group : c->label;
}

void profile_define(Ctx *cx, Text *t, const Program *p)
{
    const char *name = p->name;
    text_printf(t, "\nstruct %s_layer %s_profile[] = {\n", name, name);
    for (int i = 0; i < layer_count(p); i++)
        text_printf(t, "    { \"%s\", 0, 0 },\n", layer_label(cx, layer_name(program_call(p, i))));
    if (!layer_count(p)) text_add(t, "    { \"\", 0, 0 },\n");
    text_printf(t, "};\nconst char *const %s_profile_unit = LW_COUNTER_UNIT;\n\n", name);
    text_printf(t, "static int32_t %s_profile_layer = -1;      /* the layer that runs; -1: none */\n"
                   "static uint64_t %s_profile_begin;          /* the counter when it began */\n\n", name, name);
    text_printf(t, "/* Ends the layer that runs, and begins another; -1: none. Time in here counts for no layer. */\n"
                   "static void %s_profile_mark(int32_t layer)\n{\n"
                   "    const uint64_t now = LW_COUNTER();\n"
                   "    if (%s_profile_layer >= 0)\n"
                   "        %s_profile[%s_profile_layer].count += (now - %s_profile_begin) & LW_COUNTER_MASK;\n"
                   "    %s_profile_layer = layer;\n"
                   "    if (layer >= 0) %s_profile[layer].runs++;\n"
                   "    %s_profile_begin = LW_COUNTER();\n}\n\n",
                name, name, name, name, name, name, name, name);
    text_printf(t, "#undef LW_LAYER\n#define LW_LAYER(number, name) %s_profile_mark(number);\n\n", name);
}
