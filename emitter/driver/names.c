/* SPDX-License-Identifier: MIT */
/* Chooses the names of the emitted symbols, which follow the model's prefix. All graphs of a model share them. */

/* Decision: a shared function is named after its operators and shape. The function's name does not depend on its first
 * layer: `kws_packed_conv2d_25x5x64`. Layers with equal text share one function. */
#include "driver/driver.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* Returns the first unused name of BASE, BASE_2, BASE_3, ... and marks it used. `taken` maps a name to its last suffix.
 * */
const char *build_unique_name(Ctx *cx, Map *taken, const char *base)
{
    static const int first = 1;
    const char *unique = name(cx, base);
    const int *known = map_get_const_ptr(taken, unique);
    if (known) {
        int *last = arena_copy(cx->arena, known, sizeof *known);
        map_put_const_ptr(taken, unique, last);
        while (map_get_const_ptr(taken, unique)) unique = name_format(cx, "%s_%d", base, ++*last);
    }
    map_put_const_ptr(taken, unique, &first);
    return unique;
}

/* Returns the symbol for `base`. Replaces characters that an identifier cannot have, as in the operator's name
 * annotation.simulated_quantize. All symbols are created here. */
const char *build_symbol(const Build *b, const char *base)
{
    return build_unique_name(b->cx, &b->shared->symbols, name_suffix(b->cx, base));
}

/* Marks the names that every program uses after the model's prefix; call it before functions and constants are
 * named. */
Shared *build_shared(Ctx *cx)
{
    static const char *const own[] = { "run",     "arena",   "inputs",       "outputs",     "INPUTS",
                                       "OUTPUTS", "H",       "ARENA_SIZE",   "ARENA_ALIGN", "state",
                                       "reset",   "E_STATE", "WEIGHTS_SIZE", "E_ARENA",     "E_DIM",
                                       "E_SIZE",  "SIZES",
                                       "ARENA",   "E_NULL",
                                       "MODEL",   "MODEL_SHA256", "TARGET",  "OPTIONS",     "CLASS_COUNT",
                                       "CLASS_NAMES", "HEADER_HASH" };
    Shared *s = NEW(cx->arena, Shared);
    s->symbols = s->texts = s->emitted = s->bodies = s->scheduled = s->lowered = map_new(cx->arena);
    s->final = s->lead = s->merged = s->divided = s->items = map_new(cx->arena);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) build_unique_name(cx, &s->symbols, own[i]);
    return s;
}

void build_reserve_names(const Build *b)
{
    const lw_options *o = b->options;
    const bool has_file = text_equal(o->weights, "bin") || text_equal(o->weights, "incbin");
    /* the names that an option adds to the program */
    const struct { bool is_given; const char *symbol[9]; } rows[] = {
        { has_file, { "weights", "weights_header", "check_weights", "crc32", "WEIGHTS_ALIGN", "WEIGHTS_FILE_SIZE",
                      "WEIGHTS_FILE", "E_WEIGHTS" } },
        { o->profile, { "profile", "profile_unit", "profile_layer", "profile_begin", "profile_mark", "LAYERS" } },
        { o->cores > 1, { "fork" } },
        { o->check_inputs, { "E_INPUT" } },
        { o->selftest_count, { "selftest", "layers", "checksum", "checksums", "differs" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; rows[i].is_given && rows[i].symbol[k]; k++) build_symbol(b, rows[i].symbol[k]);
    for (int i = 0; o->static_arena && i < b->memories.count; i++) build_symbol(b, b->memories.at[i].name);
}

static int groups_within(const Build *b, const char *scope, size_t length)
{
    int count = 0;
    for (int i = 0; i < b->groups.count; i++) count += strncmp(b->groups.at[i].anchor->name, scope, length) == 0;
    return count;
}

/* Finds the longest scope, such as "functional_1/", with which the names of at least half of the groups, and at least
 * three, begin. Returns its length; its text is in *scope. Such a scope does not distinguish groups. */
static size_t common_scope(const Build *b, const char **scope)
{
    size_t longest = 0;
    for (int i = 0; i < b->groups.count; i++) {
        const char *name = b->groups.at[i].anchor->name;
        for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
            const size_t length = (size_t)(end + 1 - name);
            const int count = length > longest ? groups_within(b, name, length) : 0;
            if (count < 3 || 2 * count < b->groups.count) continue;
            longest = length;
            *scope = name;
        }
    }
    return longest;
}

/* Names the group after its anchor without the scope. If a converter joined names by ';', the first name is used. */
static void name_group(const Build *b, Group *g, const char *scope, size_t length)
{
    const char *whole = g->anchor->name, *semicolon = strchr(whole, ';');
    if (semicolon && semicolon > whole) whole = text_format(b->cx, "%.*s", (int)(semicolon - whole), whole);
    if (length && strlen(whole) > length && strncmp(whole, scope, length) == 0) whole += length;
    if (whole != g->anchor->name) g->name = name_identifier(b->cx, whole);
    const char *base = g->name + strspn(g->name, "_");
    if (!*base) base = g->anchor->op->name;
    if (*base >= '0' && *base <= '9') base = name_format(b->cx, "%s_%s", g->anchor->op->name, base);
    g->name = build_symbol(b, base);
}

/* Names each function after its anchor, without a scope that most groups share; each name is unique. Groups that only
 * move elements are named last, because a layout change is named after the operator that requires it. */
void build_name_groups(Build *b)
{
    const char *scope = NULL;
    const size_t length = common_scope(b, &scope);
    for (int moves = 0; moves < 2; moves++)
        for (int i = 0; i < b->groups.count; i++)
            if ((b->groups.at[i].anchor->op->fusion.pattern == PATTERN_INJECTIVE) == moves)
                name_group(b, &b->groups.at[i], scope, length);
}

/* ---- Functions of several layers --------------------------------------------------------------------------------- */

/* Returns the anchors' operators, without epilogues, such as "conv2d", or "conv2d_max_pool2d" for a combined group. */
static const char *operators_of(Ctx *cx, const Group *g)
{
    if (g->anchor) return g->anchor->op->name;
    Text t = text_new(cx);
    for (int i = 0; i < g->node_count; i++) {
        const Op *op = g->node[i]->op;
        const bool is_main = op->fusion.pattern == PATTERN_OUT_FUSABLE || op->fusion.pattern == PATTERN_REDUCTION;
        if (is_main) text_printf(&t, "%s%s", t.length ? "_" : "", op->name);
    }
    return t.length ? text_string(&t) : g->name;
}

/* Returns the output's shape without leading unit dimensions, such as "_24x24x16", or "" if a size is symbolic. */
static const char *shape_of(Ctx *cx, const Group *g)
{
    const Tensor *y = g->output[0];
    Text t = text_new(cx);
    if (!tensor_is_fixed(y)) return "";
    for (int d = 0; d < y->rank; d++)
        if (t.length || tensor_dim(y, d) > 1)
            text_printf(&t, "%s%lld", t.length ? "x" : "_", (long long)tensor_dim(y, d));
    return text_string(&t);
}

typedef struct Users { Function *function; const Group *first; const char *shape; int count; } Users;

static void add_user(const Build *b, Map *users, Function *f, const Group *g)
{
    const Merged *merged = build_merged(b, f);
    Function *called = merged ? merged->by : f;
    const char *shape = shape_of(b->cx, g);
    Users *u = map_get_ptr(users, called);
    if (!u) {
        u = NEW(b->cx->arena, Users);
        *u = (Users){ called, g, shape, 0 };
        map_put_ptr(users, called, u);
    }
    if (!text_equal(u->shape, shape)) u->shape = "";
    u->count++;
}

/* Names a function that several layers share after its operators, and also after the shape of their output if all of
 * them have the same shape. */
void build_name_shared(Build *b)
{
    Map users = map_new(b->cx->arena);
    for (const Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++)
            if (g->lowered.function[i]) add_user(b, &users, g->lowered.function[i], &g->groups.at[i]);
    for (const Build *g = b; g; g = g->tree.next)
        for (int i = 0; i < g->groups.count; i++) {
            const Function *f = g->lowered.function[i];
            const Merged *merged = build_merged(b, f);
            Users *u = f ? map_get_ptr(&users, merged ? merged->by : f) : NULL;
            if (!u || u->count < 2) continue;
            u->function->name = build_symbol(b, name_format(b->cx, "%s%s", operators_of(b->cx, u->first), u->shape));
            u->count = 0;
        }
}
