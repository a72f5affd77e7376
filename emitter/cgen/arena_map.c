/* SPDX-License-Identifier: MIT */
/* Names the items of the memories. The calls of NAME_run use these names instead of numbers:
 *
 *   enum {
 *       kws_conv_1_at = 640,      // 8000 bytes in layers 0 and 1
 *       kws_conv_2_patch_at = 0,  // 160 bytes in layer 2
 *   };
 *
 * An enumerator is an int, which has 16 bits on small cores. Therefore a program with an offset above 32767 has macros
 * instead. */
#include "cgen/arena_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgen/control_flow.h"
#include "support/map.h"
#include "support/text.h"

/* The calls of NAME_run that use the item: the first and the last. `first` is beyond all calls if only other functions
 * use it. */
typedef struct Used { const ArenaItem *item; int first, last; } Used;
typedef struct Items { Ctx *cx; Map of; int count, most; Used *at; } Items;

static void use(Items *u, const ArenaItem *item, int call)
{
    if (!item) return;
    Used *x = map_get_ptr(&u->of, item);
    if (!x) {
        x = &u->at[u->count++];
        *x = (Used){ item, call, -1 };
        map_put_ptr(&u->of, item, x);
    }
    if (call < u->most && x->last < call) x->last = call;
}

static int by_offset(const void *a, const void *b)
{
    const Used *x = a, *y = b;
    if (x->item->memory != y->item->memory) return x->item->memory < y->item->memory ? -1 : 1;
    if (x->item->offset != y->item->offset) return x->item->offset < y->item->offset ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : strcmp(x->item->name, y->item->name);
}

static Items items_of(Ctx *cx, const Program *p)
{
    Items u = { .cx = cx, .of = map_new(cx->arena), .most = p->call_count };
    const Call *c;
    int most = 0;
    for (int i = 0; (c = program_call(p, i)) != NULL; i++) most += c->place_count + c->copy_count;
    for (int d = 0; d < p->partition_count; d++) most += p->partition[d].param_count;
    u.at = NEW_ARRAY(cx->arena, Used, most);
    for (int i = 0; (c = program_call(p, i)) != NULL; i++) {
        const int call = c >= p->call && c < p->call + p->call_count ? i : p->call_count;
        for (int k = 0; k < c->place_count; k++) use(&u, c->place[k].item, call);
        for (int k = 0; k < c->copy_count; k++) use(&u, c->copy[k].to.item, call);
    }
    for (int d = 0; d < p->partition_count; d++)
        for (int k = 0; k < p->partition[d].param_count; k++) use(&u, p->partition[d].param[k].place.item, u.most);
    qsort(u.at, (size_t)u.count, sizeof *u.at, by_offset);
    return u;
}

/* Returns " of dtcm" if there are several memories, and the layers that use the item: " in layers 0 to 1". */
static const char *use_of(Ctx *cx, const Program *p, const Used *x)
{
    const char *memory = p->memory_count ? text_format(cx, " of %s", p->memory[x->item->memory].name) : "";
    return x->last < 0 ? memory
           : x->first == x->last ? text_format(cx, "%s in layer %d", memory, x->last)
                                 : text_format(cx, "%s in layers %d to %d", memory, x->first, x->last);
}

/* Returns the characters of the item's name and offset. */
static int width_of(const ArenaItem *x)
{
    return (int)strlen(x->name) + snprintf(NULL, 0, "%lld", (long long)x->offset);
}

void arena_map(Ctx *cx, Text *t, const Program *p)
{
    const Items u = items_of(cx, p);
    const char *row = "    %s_%s = %lld,%*s/* %lld bytes%s */\n";
    int width = 0;
    for (int i = 0; i < u.count; i++) {
        if (width_of(u.at[i].item) > width) width = width_of(u.at[i].item);
        if (u.at[i].item->offset > INT16_MAX) row = "#define %s_%s %lld%*s /* %lld bytes%s */\n";
    }
    if (!u.count) return;
    text_printf(t, "/* The items of the %s, in bytes from its start. Layers have the numbers of LW_LAYER. */\n%s",
                p->memory_count ? "memories, each" : "arena", *row == '#' ? "" : "enum {\n");
    for (int i = 0; i < u.count; i++) {
        const ArenaItem *x = u.at[i].item;
        text_printf(t, row, p->name, x->name, (long long)x->offset, width - width_of(x) + 5, "", (long long)x->bytes,
                    use_of(cx, p, &u.at[i]));
    }
    text_add(t, *row == '#' ? "\n" : "};\n\n");
}
