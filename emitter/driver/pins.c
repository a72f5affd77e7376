/* SPDX-License-Identifier: MIT */
/* Reads the lines `in_memory MEMORY [results|scratch|weights] LAYER...` of an annotation file. These lines limit the
 * memories of a layer's results (the default), of its scratch buffers, or of its constants, before the plan chooses.
 * Constants are in a memory with the key rom; a RAM holds a copy of them while the layer runs.
 *
 *   in_memory dtcm conv_1..conv_4     in_memory dtcm scratch     in_memory qspi weights conv_147 */
#include "driver/driver.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

typedef enum PinKind { PIN_RESULTS, PIN_SCRATCH, PIN_WEIGHTS, PIN_KINDS } PinKind;
static const char *const kind_names[PIN_KINDS] = { "results", "scratch", "weights" };

typedef struct Pinning {
    Build *b;
    const char *where;
    int memory;                      /* the index among the memories of the options */
    unsigned bit;                    /* of a RAM */
    PinKind kind;
} Pinning;

static const char *next_word(Ctx *cx, const char **at)
{
    const char *s = *at + strspn(*at, " \t,");
    const size_t length = strcspn(s, " \t,");
    *at = s + length;
    return name_n(cx, s, length);
}

static bool find_memory(Pinning *p, const char *name)
{
    Build *b = p->b;
    const char **names = NEW_ARRAY(b->cx->arena, const char *, b->memories.count);
    int ram = 0;
    for (int i = 0; i < b->memories.count; i++) {
        names[i] = b->memories.at[i].name;
        if (text_equal(names[i], name)) {
            p->memory = i;
            p->bit = b->memories.at[i].is_rom ? 0 : 1u << ram;
            return true;
        }
        ram += !b->memories.at[i].is_rom;
    }
    diag_error(b->cx, p->where, "in_memory: there is no --memory \"%s\"%s", name,
               text_hint(b->cx, name, names, (size_t)b->memories.count, "; add it to the command line"));
    return false;
}

static bool is_named(const Group *g, const char *name)
{
    bool is = text_equal(g->name, name);
    for (int i = 0; i < g->node_count && !is; i++) is = text_equal(g->node[i]->name, name);
    return is;
}

/* Returns the first layer of that name, the last one if `last` is true, or -1 if there is none. */
static int find_layer(const Build *b, const char *name, bool last)
{
    int found = -1;
    for (int i = 0; i < b->groups.count && (found < 0 || last); i++)
        if (is_named(&b->groups.at[i], name)) found = i;
    return found;
}

static void refuse_bytes(const Pinning *p, int group, const char *what, int64_t bytes)
{
    const FirmwareMemory *m = &p->b->memories.at[p->memory];
    diag_error(p->b->cx, p->where, "in_memory %s %s: its %s has %lld bytes, but the memory has %lld; use another "
               "memory", m->name, p->b->groups.at[group].name, what, (long long)bytes, (long long)m->bytes);
}

static void pin_results(const Pinning *p, int group)
{
    const Group *g = &p->b->groups.at[group];
    for (int i = 0; i < g->output_count; i++) {
        const Slot *s = plan_slot(&p->b->plan, g->output[i]);
        Slot *root = s ? map_get_ptr(&p->b->plan.of, s->root) : NULL;
        const int64_t bytes = root ? tensor_most_bytes(p->b->cx, root->tensor) : 0;
        if (!root || !root->in_arena)
            diag_error(p->b->cx, p->where, "in_memory %s %s: its result is an output or state of the model, which the "
                       "caller owns; omit the layer", p->b->memories.at[p->memory].name, g->name);
        else if (bytes > p->b->memories.at[p->memory].bytes) refuse_bytes(p, group, "result", bytes);
        else if (!(root->allowed & p->bit))
            diag_error(p->b->cx, p->where, "in_memory %s %s: another line, or for=, excludes that memory; omit one of "
                       "them", p->b->memories.at[p->memory].name, g->name);
        else root->allowed = p->bit;
    }
}

static void pin_scratch(const Pinning *p, int group)
{
    for (int i = 0; i < p->b->lowered.scratch_count[group]; i++) {
        Scratch *s = &p->b->lowered.scratch[group][i];
        if (s->copied) continue;
        if (s->bytes > p->b->memories.at[p->memory].bytes) refuse_bytes(p, group, "scratch buffer", s->bytes);
        else s->allowed = p->bit;
    }
}

/* The layer reads copies of its constants in this RAM. */
static void pin_copies(const Pinning *p, int group)
{
    for (int i = 0; i < p->b->lowered.scratch_count[group]; i++) {
        Scratch *s = &p->b->lowered.scratch[group][i];
        if (!s->copied) continue;
        if (s->bytes > p->b->memories.at[p->memory].bytes) refuse_bytes(p, group, "constant", s->bytes);
        s->allowed = p->bit;
        s->is_optional = false;
    }
}

static void pin_weights(const Pinning *p, int group)
{
    if (p->bit) {
        pin_copies(p, group);
        return;
    }
    const Group *g = &p->b->groups.at[group];
    for (int i = 0; i < g->input_count; i++) {
        const Slot *s = plan_slot(&p->b->plan, g->input[i]);
        if (s && s->kind == SLOT_CONST) p->b->memories.of_constant[s->index] = &p->b->memories.at[p->memory];
    }
}

static void pin(const Pinning *p, int group)
{
    static void (*const pins[PIN_KINDS])(const Pinning *p, int group) = { pin_results, pin_scratch, pin_weights };
    if (!ctx_failed(p->b->cx) && !p->b->plan.is_free[group]) pins[p->kind](p, group);
}

/* Pins the layers that the word names: NAME, or FIRST..LAST. */
static void pin_layers(const Pinning *p, const char *word)
{
    Ctx *cx = p->b->cx;
    const char *dots = strstr(word, "..");
    const char *from = dots && dots > word && dots[2] ? name_n(cx, word, (size_t)(dots - word)) : word,
               *to = from == word ? word : name_n(cx, dots + 2, strlen(dots + 2));
    const int first = find_layer(p->b, from, false), last = find_layer(p->b, to, true);
    const Group *const *all;
    const int count = build_all_groups(p->b, &all);
    if (first < 0 || last < 0) {
        const char *unknown = first < 0 ? from : to;
        diag_error(cx, p->where, "in_memory: no layer is called \"%s\"%s", unknown,
                   group_advice(cx, unknown, all, count, "; use the names of `loopwright report`"));
        return;
    }
    if (last < first)
        diag_error(cx, p->where, "in_memory: \"%s\" follows \"%s\"; name the earlier layer first", from, to);
    for (int i = first; i <= last; i++) pin(p, i);
}

static bool may_copy(const Build *b)
{
    return b->plan.memory_count > 1 && b->plan.memory_count < b->memories.count;
}

static void read_pin(Build *b, const Pin *line)
{
    Pinning p = { .b = b, .where = text_format(b->cx, "%s:%d", b->options->annotate, line->line) };
    const char *at = line->words, *word = next_word(b->cx, &at);
    int words = 0;
    if (!find_memory(&p, word)) return;
    word = next_word(b->cx, &at);
    for (int k = 0; k < PIN_KINDS; k++) {
        if (!text_equal(word, kind_names[k])) continue;
        p.kind = (PinKind)k;
        word = next_word(b->cx, &at);
        words = -1;
        break;
    }
    const FirmwareMemory *m = &b->memories.at[p.memory];
    if (m->is_rom && p.kind != PIN_WEIGHTS) {
        diag_error(b->cx, p.where, "in_memory %s: %s cannot be in a rom; use a memory without the key rom", m->name,
                   kind_names[p.kind]);
        return;
    }
    if (!m->is_rom && p.kind == PIN_WEIGHTS && !may_copy(b)) {
        diag_error(b->cx, p.where, "in_memory %s: weights in RAM are copies, which need two RAMs and a memory with the "
                   "key rom", m->name);
        return;
    }
    for (int i = 0; words < 0 && !*word && i < b->groups.count; i++) pin(&p, i);        /* pins all layers */
    if (!*word && words >= 0)
        diag_error(b->cx, p.where, "in_memory %s: it names no layer; use in_memory %s LAYER, or in_memory %s scratch",
                   m->name, m->name, m->name);
    for (; *word && !ctx_failed(b->cx); word = next_word(b->cx, &at)) pin_layers(&p, word);
}

void build_pin_memories(Build *b)
{
    for (int i = 0; i < b->model.pin_count && !ctx_failed(b->cx); i++) read_pin(b, &b->model.pin[i]);
}
