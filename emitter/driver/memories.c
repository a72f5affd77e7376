/* SPDX-License-Identifier: MIT */
/* --memory states the memories of a firmware. The options are read here; graph/plan/memories.c places results, scratch
 * and copies of constants in the RAMs by the traffic of the lowered functions, and constants are placed in the memories
 * that are only read.
 *
 *   --memory dtcm=64K,cost=1,section=.dtcm --memory sram=256K,cost=4 --memory qspi=8M,rom,cost=8,section=.qspi
 *   --memory @board.mem     the same, a memory per line */
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

#include "lower/count.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_MEMORIES = 16, THOUSAND = 1000, SHARES = 8 };

typedef struct Reading { Build *b; const char *where, *given; FirmwareMemory *at; } Reading;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Reads digits and a unit, such as 64K. Returns false for a different form, and beyond 2 GB. */
static bool read_bytes(const char *s, int64_t *bytes)
{
    char *end;
    const long long n = *s >= '0' && *s <= '9' ? strtoll(s, &end, 10) : 0;
    if (n < 1 || n > INT32_MAX) return false;
    const int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
    *bytes = (int64_t)n << shift;
    return !end[shift ? 1 : 0] && *bytes <= INT32_MAX;
}

static bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* Reads a number with at most three decimals, up to the character; stores it in thousandths. */
static const char *read_cost(const char *s, int64_t *cost)
{
    int64_t n = 0;
    int digits = 0, decimals = -1;
    for (; (*s >= '0' && *s <= '9') || (*s == '.' && decimals < 0); s++) {
        if (*s == '.') {
            decimals = 0;
            continue;
        }
        n = n * 10 + (*s - '0');
        digits++;
        decimals += decimals >= 0;
        if (n > INT32_MAX || decimals > 3) return NULL;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 3; i++) n *= 10;
    *cost = n;
    return digits && n <= INT64_C(1000000) * THOUSAND ? s : NULL;
}

static bool take_cost(Reading *r, const char *v)
{
    const char *end = read_cost(v, &r->at->read_cost);
    r->at->write_cost = r->at->read_cost;
    if (end && *end == '/') end = read_cost(end + 1, &r->at->write_cost);
    return end && !*end;
}

static bool take_align(Reading *r, const char *v)
{
    return read_bytes(v, &r->at->align) && is_power_of_two(r->at->align) && r->at->align <= 4096;
}

static bool take_line(Reading *r, const char *v)
{
    return read_bytes(v, &r->at->line) && is_power_of_two(r->at->line) && r->at->line <= 4096;
}

static bool take_channel(Reading *r, const char *v)
{
    char *end;
    const long n = *v >= '0' && *v <= '9' ? strtol(v, &end, 10) : -1;
    if (n < 0 || n > 255 || *end) return false;
    r->at->channel = (int)n;
    return true;
}

static bool take_section(Reading *r, const char *v) { return build_is_section((r->at->section = v)); }

/* Returns the bit of results, scratch or weights, or 0 for a different word. */
static unsigned kind_named(const char *word, size_t length)
{
    static const char *const names[] = { "results", "scratch", "weights" };
    for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strlen(names[k]) == length && memcmp(names[k], word, length) == 0) return 1u << k;
    return 0;
}

/* Reads results,scratch,weights. */
static bool take_kinds(Reading *r, const char *v)
{
    r->at->kinds = 0;
    for (; *v; v += *v == ',') {
        const size_t length = strcspn(v, ",");
        const unsigned kind = kind_named(v, length);
        if (!kind) return false;
        r->at->kinds |= kind;
        v += length;
    }
    return r->at->kinds != 0;
}

/* Returns the length of the next key with its value, in which for= has commas. */
static size_t key_length(const char *s)
{
    size_t length = strcspn(s, ",");
    while (strncmp(s, "for=", 4) == 0 && s[length] && kind_named(s + length + 1, strcspn(s + length + 1, ",")))
        length += 1 + strcspn(s + length + 1, ",");
    return length;
}

typedef struct Key { const char *name; bool (*take)(Reading *r, const char *v); const char *accepted; } Key;
static const Key keys[] = {
    { "cost", take_cost, "R or R/W, numbers from 0 to 1000000 with at most three decimals, like cost=1.5/2" },
    { "for", take_kinds, "results, scratch and weights, like for=results,scratch" },
    { "align", take_align, "a power of two up to 4096" },
    { "line", take_line, "a power of two up to 4096" },
    { "copy", take_channel, "a channel from 0 to 255, where 0 is the core" },
    { "section", take_section, "the name of a section, like .dtcm" },
};
enum { KEYS = sizeof keys / sizeof keys[0] };

static void unknown_key(Reading *r, const char *key)
{
    static const char *const names[] = { "cost", "rom", "for", "align", "line", "copy", "section" };
    diag_usage(r->b->cx, r->where, "--memory %s: there is no key \"%s\"%s", r->given, key,
               text_hint(r->b->cx, key, names, sizeof names / sizeof names[0],
                         "; use cost=, rom, for=, align=, line=, copy= or section="));
}

static void read_key(Reading *r, const char *word)
{
    Ctx *cx = r->b->cx;
    const char *equals = strchr(word, '='), *name = equals ? name_n(cx, word, (size_t)(equals - word)) : word;
    if (text_equal(name, "rom") && !equals) {
        r->at->is_rom = true;
        return;
    }
    for (int i = 0; i < KEYS; i++) {
        if (!text_equal(keys[i].name, name)) continue;
        if (!equals || !keys[i].take(r, equals + 1))
            diag_usage(cx, r->where, "--memory %s: %s= does not accept \"%s\"; use %s", r->given, name,
                       equals ? equals + 1 : "", keys[i].accepted);
        return;
    }
    unknown_key(r, name);
}

/* Returns true for a variable of the emitted functions, and for a name whose macros the header has for the model. */
static bool is_taken(Ctx *cx, const char *name)
{
    static const char *const taken[] = { "in", "out", "arena", "memory", "memories", "state", "now", "next", "weights",
                                         "status", "check" };
    static const char *const macros[] = { "ARENA", "CLASS_COUNT", "CLASS_NAMES", "H", "HEADER_HASH", "INPUTS",
                                          "LAYERS", "MEMORIES", "MODEL", "MODEL_SHA256", "OPTIONS", "OUTPUTS", "SIZES",
                                          "STRINGS", "STRING_COUNT", "TARGET", "WEIGHTS" };
    const char *upper = name_upper(cx, name);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (text_equal(taken[i], name)) return true;
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (text_equal(macros[i], upper)) return true;
    return strncmp(upper, "E_", 2) == 0;     /* a code of NAME_run */
}

/* Macros are in capital letters, so names are compared without case. */
static void check_memory_name(Reading *r, const char *name)
{
    Build *b = r->b;
    Ctx *cx = b->cx;
    if (name_unprefixed(cx, name) != name_n(cx, name, strlen(name)) || is_taken(cx, name))
        diag_usage(cx, r->where, "--memory %s: \"%s\" cannot be the name of a memory in C; use a name like dtcm",
                   r->given, name);
    for (int i = 0; i < b->memories.count && !ctx_failed(cx); i++)
        if (text_equal(name_upper(cx, b->memories.at[i].name), name_upper(cx, name)))
            diag_usage(cx, r->where, "--memory %s: the memory \"%s\" is given twice", r->given, name);
}

/* Reads NAME=BYTES,KEY=VALUE,...; only a blank line may be empty. */
static void read_memory(Build *b, const char *where, const char *text)
{
    Ctx *cx = b->cx;
    FirmwareMemory m = { .read_cost = THOUSAND, .write_cost = THOUSAND, .kinds = 7, .align = 1, .line = 1 };
    Reading r = { b, where, text, &m };
    const char *equals = strchr(text, '=');
    const size_t length = strcspn(text, ",");
    const char *size = equals ? text_format(cx, "%.*s", (int)(text + length - equals - 1), equals + 1) : "";
    if (!equals || equals == text || equals > text + length || !read_bytes(size, &m.bytes)) {
        diag_usage(cx, where, "--memory %s: the size cannot be read; use NAME=BYTES, like dtcm=64K", text);
        return;
    }
    m.name = name_n(cx, text, (size_t)(equals - text));
    check_memory_name(&r, m.name);
    for (const char *s = text + length; *s && !ctx_failed(cx);) {
        const size_t word = key_length(++s);
        read_key(&r, text_format(cx, "%.*s", (int)word, s));
        s += word;
    }
    if (!ctx_failed(cx) && b->memories.count == MOST_MEMORIES)
        diag_usage(cx, where, "--memory %s: there are more than %d memories", text, MOST_MEMORIES);
    if (!ctx_failed(cx)) b->memories.at[b->memories.count++] = m;
}

/* Returns the text up to the end of its line, without its comment and without blanks at both ends. */
static const char *stripped(Ctx *cx, const char *line)
{
    size_t length = strcspn(line, "#\n");
    while (*line == ' ' || *line == '\t') line++, length -= length > 0;
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r')) length--;
    return text_format(cx, "%.*s", (int)length, line);
}

static void read_board(Build *b, const char *path)
{
    Ctx *cx = b->cx;
    const char *text = file_text(cx, path, file_read(cx, path));
    const int before = b->memories.count;
    int number = 1;
    for (const char *s = text; !ctx_failed(cx) && *s; s += strcspn(s, "\n"), s += *s == '\n', number++) {
        const char *words = stripped(cx, s);
        if (*words) read_memory(b, text_format(cx, "%s:%d", path, number), words);
    }
    if (!ctx_failed(cx) && b->memories.count == before)
        diag_usage(cx, path, "the file names no memory; write a line like dtcm=64K,cost=1");
}

int build_rams(const Build *b)
{
    int count = 0;
    for (int i = 0; i < b->memories.count; i++) count += !b->memories.at[i].is_rom;
    return count;
}

static bool has_rom(const Build *b) { return build_rams(b) < b->memories.count; }

static bool has_file(const lw_options *o) { return text_equal(o->weights, "bin") || text_equal(o->weights, "incbin"); }

/* Returns the names of the RAMs, "dtcm, sram". */
static const char *ram_names(const Build *b)
{
    Text t = text_new(b->cx);
    for (int i = 0; i < b->memories.count; i++)
        if (!b->memories.at[i].is_rom) text_printf(&t, "%s%s", t.length ? ", " : "", b->memories.at[i].name);
    return text_string(&t);
}

/* Requires that --io names a RAM, or that there is one RAM, which is then the arena. */
static void check_ports(Build *b)
{
    const char *name = b->options->ports_memory;
    if (!b->options->ports_in_arena || (!name && build_rams(b) == 1)) return;
    for (int i = 0; name && i < b->memories.count; i++)
        if (text_equal(b->memories.at[i].name, name) && !b->memories.at[i].is_rom) return;
    if (!name)
        diag_usage(b->cx, NULL, "--io arena: several memories replace the arena; use --io with one of %s",
                   ram_names(b));
    else
        diag_usage(b->cx, NULL, "--io %s: no RAM of --memory has this name; use %s%s", name, build_rams(b) > 1
                   ? "one of " : "", ram_names(b));
}

/* Refuses options that have an arena or constants of their own. */
static void check_together(const Build *b)
{
    const lw_options *o = b->options;
    const struct { bool is_given; const char *option, *reason, *instead; } excluded[] = {
        { o->train != NULL, "--train", "a training step and the run share one arena",
          "omit --memory, and declare that arena in the section of a memory" },
        { text_equal(o->weights, "progmem"), "--weights progmem", "an AVR has one RAM, and constants in program memory",
          "omit --memory, and limit the RAM by --ram" },
    };
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++)
        if (excluded[i].is_given)
            diag_usage(b->cx, NULL, "--memory and %s exclude each other, because %s; %s", excluded[i].option,
                       excluded[i].reason, excluded[i].instead);
    for (int i = 0; i < b->memories.count && !ctx_failed(b->cx); i++) {
        const FirmwareMemory *m = &b->memories.at[i];
        if (m->is_rom && !(m->kinds & MEMORY_FOR_WEIGHTS))
            diag_usage(b->cx, NULL, "--memory %s: a rom holds only weights; omit for=", m->name);
        else if (m->is_rom && m->channel)
            diag_usage(b->cx, NULL, "--memory %s: constants are copied from a rom and not to it; give copy= to a RAM",
                       m->name);
        else if (m->channel && m->line == 1)
            diag_usage(b->cx, NULL, "--memory %s: copies of channel %d need line=N, a power of two; use line=32 on a "
                       "Cortex-M7", m->name, m->channel);
    }
    if (!ctx_failed(b->cx) && has_file(o) && b->memories.count - build_rams(b) > 1)
        diag_usage(b->cx, NULL, "--weights %s stores all constants in one file; use one --memory with the key rom",
                   o->weights);
    if (!ctx_failed(b->cx) && !build_rams(b))
        diag_usage(b->cx, NULL, "--memory names only memories with the key rom; add a RAM for results, like sram=256K");
}

void build_read_memories(Build *b)
{
    const lw_options *o = b->options;
    if (!o->memory_count && o->ports_memory)
        diag_usage(b->cx, NULL, "--io does not accept \"%s\" without --memory; use caller or arena", o->ports_memory);
    if (!o->memory_count && o->keep_plan)
        diag_usage(b->cx, NULL, "--keep-plan needs memories; add --memory, as for the plan in \"%s\"", o->keep_plan);
    if (!o->memory_count) return;
    b->memories.at = NEW_ARRAY(b->cx->arena, FirmwareMemory, MOST_MEMORIES);
    for (int i = 0; i < o->memory_count && !ctx_failed(b->cx); i++) {
        if (*o->memory[i] == '@') read_board(b, o->memory[i] + 1);
        else read_memory(b, NULL, o->memory[i]);
    }
    if (!ctx_failed(b->cx)) check_together(b);
    if (!ctx_failed(b->cx)) check_ports(b);
}

/* ---- Traffic ----------------------------------------------------------------------------------------------------- */

static const Traffic *traffic_of(const Build *b, const Function *f, Map *known)
{
    const Traffic *moved = map_get_const_ptr(known, f);
    if (moved) return moved;
    Traffic *counted = NEW_ARRAY(b->cx->arena, Traffic, f->memory_count + LOCAL_TRAFFICS);
    count_traffic(b->cx, f, b->target->costs, counted);
    map_put_const_ptr(known, f, counted);
    return counted;
}

/* Adds the traffic of the graphs of a branch or loop to its scratch memory. A loop of an unknown length counts once. */
static void add_region_traffic(Build *b, int group, Map *known)
{
    const Node *region = region_of_group(b, group);
    Scratch *s = b->lowered.scratch[group];
    const int64_t known_count = region->region->kind == REGION_LOOP ? region_trip_count(region) : 1,
                  runs = known_count > 0 ? known_count : 1;
    for (int g = 0; g < region->region->graph_count; g++) {
        Build *inner = &build_graphs_of(b, region)[g];
        for (int i = 0; i < inner->groups.count; i++) {
            const Function *f = inner->lowered.function[i];
            const Traffic *moved = f ? traffic_of(inner, f, known) : NULL;
            for (int k = 0; f && k < f->memory_count; k++) {
                if (!is_scratch(f->memory[k]) && build_slot(inner, i, f->memory[k])->kind != SLOT_ARENA) continue;
                s->read_bytes = sat_add(s->read_bytes, sat_mul(runs, moved[k].read));
                s->written_bytes = sat_add(s->written_bytes, sat_mul(runs, moved[k].written));
            }
        }
    }
}

/* Adds the traffic of a group to its buffers, to the roots of its results, and to constants. */
static void add_traffic(Build *b, int group, Map *known, int64_t *of_constant)
{
    const Function *f = b->lowered.function[group];
    int temporary = 0;
    const Traffic *moved = f ? traffic_of(b, f, known) : NULL;
    for (int i = 0; f && i < f->memory_count; i++) {
        if (is_scratch(f->memory[i])) {
            Scratch *s = &b->lowered.scratch[group][temporary++];
            s->read_bytes = moved[i].read;
            s->written_bytes = moved[i].written;
            continue;
        }
        const Slot *s = build_slot(b, group, f->memory[i]);
        Slot *root = map_get_ptr(&b->plan.of, s->root);
        if (s->kind == SLOT_CONST) of_constant[s->index] = sat_add(of_constant[s->index], moved[i].read);
        if (!root) continue;
        root->read_bytes = sat_add(root->read_bytes, moved[i].read);
        root->written_bytes = sat_add(root->written_bytes, moved[i].written);
    }
}

/* ---- Placement --------------------------------------------------------------------------------------------------- */

static unsigned mask_for(const Build *b, unsigned kind)
{
    unsigned mask = 0;
    for (int i = 0, ram = 0; i < b->memories.count; i++) {
        if (b->memories.at[i].is_rom) continue;
        mask |= b->memories.at[i].kinds & kind ? 1u << ram : 0;
        ram++;
    }
    return mask;
}

static void describe_rams(Build *b)
{
    PlanMemory *m = b->plan.memory = NEW_ARRAY(b->cx->arena, PlanMemory, b->memories.count);
    b->plan.memory_count = 0;
    for (int i = 0; i < b->memories.count; i++) {
        const FirmwareMemory *from = &b->memories.at[i];
        int64_t align = b->plan.align > 16 ? b->plan.align : 16;
        if (from->is_rom) continue;
        align = from->align > align ? from->align : align;
        align = from->line > align ? from->line : align;
        m[b->plan.memory_count++] = (PlanMemory){ .name = from->name, .capacity = from->bytes / align * align,
                                                  .align = align, .read_cost = from->read_cost,
                                                  .write_cost = from->write_cost, .channel = from->channel };
    }
}

/* Returns the cheapest RAM that is not done, or NULL. */
static PlanMemory *cheapest_left(Build *b, const bool *done)
{
    PlanMemory *m = NULL;
    for (int i = 0; i < b->plan.memory_count; i++) {
        PlanMemory *x = &b->plan.memory[i];
        if (!done[i] && (!m || x->read_cost + x->write_cost < m->read_cost + m->write_cost)) m = x;
    }
    return m;
}

static PlanMemory *largest_ram(Build *b)
{
    PlanMemory *m = b->plan.memory;
    for (int i = 1; i < b->plan.memory_count; i++)
        if (b->plan.memory[i].capacity > m->capacity) m = &b->plan.memory[i];
    return m;
}

static int64_t cut(const PlanMemory *m, int64_t bytes, int64_t left)
{
    return (bytes < left ? bytes : left) / m->align * m->align;
}

/* --ram limits the sum of the RAMs. With `share` SHARES, the cheapest ones keep their bytes, and the last ones get what
 * is left. With fewer, the others keep that part of their bytes, and the largest one gets what is left. */
static void limit_rams(Build *b, int share)
{
    int64_t left = build_arena_limit(b);
    bool *done = NEW_ARRAY(b->cx->arena, bool, b->plan.memory_count);
    describe_rams(b);
    if (!b->options->ram) return;
    PlanMemory *last = share < SHARES ? largest_ram(b) : NULL, *m;
    if (last) done[last - b->plan.memory] = true;
    while ((m = cheapest_left(b, done)) != NULL) {
        done[m - b->plan.memory] = true;
        m->capacity = cut(m, m->capacity * share / SHARES, left);
        left -= m->capacity;
    }
    if (last) last->capacity = cut(last, last->capacity, left);
}

/* Places the pieces. If they do not fit within --ram, the cheaper RAMs get fewer bytes, down to none: a large result
 * may need most of the limit in one memory. Returns what plan_memories returns. */
static int place_within(Build *b, int64_t *missing)
{
    const LoweredGroups *l = &b->lowered;
    int group = -1;
    *missing = 1;
    for (int share = SHARES; share >= 0 && *missing > 0; share--) {
        int64_t now;
        limit_rams(b, share);
        const int at = plan_memories(b->cx, &b->plan, b->groups.count, l->scratch, l->scratch_count, &now);
        if (share == SHARES || now < *missing) *missing = now, group = at;
        if (!b->options->ram || b->plan.memory_count < 2) break;
    }
    return group;
}

static const char *rams_text(const Build *b, int64_t *bytes)
{
    Text t = text_new(b->cx);
    const int count = b->plan.memory_count;
    *bytes = 0;
    for (int i = 0; i < count; i++) {
        text_printf(&t, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", b->plan.memory[i].name);
        *bytes += b->plan.memory[i].capacity;
    }
    return text_string(&t);
}

static void refuse_size(const Build *b, int group, int64_t missing)
{
    int64_t bytes;
    const char *names = rams_text(b, &bytes);
    const char *less = b->options->ram ? ", or a larger --ram"
                       : build_rams(b) < 2 ? ", or --ram, which seeks a smaller plan"
                       : b->options->combine ? "" : ", or --combine all, which may need less";
    diag_error(b->cx, b->path, "--memory: at layer \"%s\", %s %s %lld bytes%s, and %lld are missing; use larger "
               "memories%s", b->groups.at[group].name, names,
               b->plan.memory_count > 1 ? "hold" : "holds", (long long)bytes,
               b->options->ram ? text_format(b->cx, " within --ram %lld", (long long)b->options->ram) : "",
               (long long)missing, less);
}

/* Refuses devices, whose functions receive one arena. */
static void check_graph(const Build *b)
{
    for (int i = 0; i < b->groups.count && !ctx_failed(b->cx); i++)
        if (group_device(&b->groups.at[i]))
            diag_unsupported(b->cx, b->groups.at[i].name, "functions of devices receive one RAM; use one RAM");
}

/* Returns the bit of the RAM that holds inputs and outputs, or `otherwise` if --io names none. */
static unsigned mask_of_ports(const Build *b, unsigned otherwise)
{
    for (int i = 0; b->options->ports_memory && i < b->plan.memory_count; i++)
        if (text_equal(b->plan.memory[i].name, b->options->ports_memory)) return 1u << i;
    return otherwise;
}

static void allow(Build *b)
{
    const unsigned results = mask_for(b, MEMORY_FOR_RESULTS), scratch = mask_for(b, MEMORY_FOR_SCRATCH),
                   ports = mask_of_ports(b, results);
    for (int i = 0; i < b->plan.slot_count; i++) {
        Slot *s = &b->plan.slot[i];
        s->allowed = s->kind == SLOT_INPUT || s->kind == SLOT_OUTPUT ? ports : results;
    }
    for (int g = 0; g < b->groups.count; g++)
        for (int i = 0; i < b->lowered.scratch_count[g]; i++) b->lowered.scratch[g][i].allowed = scratch;
    const char *kind = !results ? "results" : !scratch ? "scratch" : NULL;
    if (kind) diag_usage(b->cx, NULL, "no --memory is for %s; add %s to the for= of a RAM", kind, kind);
}

static void set_views(Build *b)
{
    for (int i = 0; i < b->plan.slot_count; i++) {
        Slot *s = &b->plan.slot[i];
        const Slot *root = plan_slot(&b->plan, s->root);
        if (root) s->memory = root->memory;
    }
}

/* Returns the fastest memory that is only read and has the bytes left, or NULL if there is none. */
static FirmwareMemory *rom_for(Build *b, int64_t bytes)
{
    FirmwareMemory *best = NULL;
    for (int i = 0; i < b->memories.count; i++) {
        FirmwareMemory *m = &b->memories.at[i];
        if (m->is_rom && m->bytes - m->used >= bytes && (!best || m->read_cost < best->read_cost)) best = m;
    }
    return best;
}

static int64_t bytes_in_rom(const Build *b, int64_t bytes)
{
    const int64_t align = b->plan.align > 16 ? b->plan.align : 16;
    return (bytes + align - 1) / align * align;
}

static void refuse_constant(const Build *b, const Tensor *constant)
{
    diag_error(b->cx, b->path, "--memory: the constants do not fit into the memories with the key rom: %lld bytes of "
                               "\"%s\" have no room; use larger memories",
               (long long)tensor_bytes(constant), constant->name);
}

const FirmwareMemory *build_place_inner(Build *b, const Tensor *constant)
{
    const int64_t bytes = bytes_in_rom(b, tensor_bytes(constant));
    FirmwareMemory *m = has_rom(b) ? rom_for(b, bytes) : NULL;
    if (m) m->used += bytes;
    else if (has_rom(b)) refuse_constant(b, constant);
    return m;
}

typedef struct Weighed { int index; int64_t read, bytes; } Weighed;

static int most_read_first(const void *a, const void *b)
{
    const Weighed *x = a, *y = b;
    const double d = (double)y->read * (double)x->bytes - (double)x->read * (double)y->bytes;
    return d < 0 ? -1 : d > 0 ? 1 : x->index - y->index;
}

/* Moves the constants whose memory is prescribed in front of the other constants. */
static void pinned_first(const Build *b, Weighed *w, int count)
{
    Weighed *sorted = NEW_ARRAY(b->cx->arena, Weighed, count);
    int to = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < count; i++)
            if ((b->memories.of_constant[w[i].index] != NULL) == (turn == 0)) sorted[to++] = w[i];
    if (count) memcpy(w, sorted, (size_t)count * sizeof *w);
}

/* Fills the memories that are only read, the cheapest first, with the constants that have the most reads per byte. */
static void place_constants(Build *b, const int64_t *read)
{
    Ctx *cx = b->cx;
    const int count = b->plan.constant_count;
    Weighed *w = NEW_ARRAY(cx->arena, Weighed, count);
    for (int i = 0; i < b->memories.count; i++) {
        b->memories.at[i].used = b->memories.at[i].is_rom && has_file(b->options) ? WEIGHTS_HEADER : 0;
        b->memories.at[i].read = 0;
    }
    for (int i = 0; i < count; i++) w[i] = (Weighed){ i, read[i], tensor_bytes(b->plan.constant[i]) };
    if (count) qsort(w, (size_t)count, sizeof *w, most_read_first);
    pinned_first(b, w, count);
    for (int i = 0; i < count && has_rom(b) && !ctx_failed(cx); i++) {
        const int64_t bytes = bytes_in_rom(b, w[i].bytes);
        FirmwareMemory *m = b->memories.of_constant[w[i].index];
        if (!m) m = rom_for(b, bytes);
        else if (m->bytes - m->used < bytes) m = NULL;
        b->memories.of_constant[w[i].index] = m;
        if (m) m->used += bytes, m->read = sat_add(m->read, w[i].read);
        else refuse_constant(b, b->plan.constant[w[i].index]);
    }
}

/* If there is one RAM, the caller owns its arena; without roms, only the size of this RAM has an effect. */
static void note_unused(const Build *b)
{
    for (int i = 0; i < b->memories.count; i++)
        if (!b->memories.at[i].is_rom && b->memories.at[i].section)
            diag_listed(b->cx, NOTE, NULL, "--memory %s: section=%s has no effect on the only RAM; declare the arena "
                                           "in that section", b->memories.at[i].name, b->memories.at[i].section);
}

/* Places the constants by the bytes that a run reads of each. pinned: the memories that are prescribed. */
static void place_constants_again(Build *b, FirmwareMemory *const *pinned, const int64_t *read)
{
    for (int i = 0; i < b->plan.constant_count; i++) b->memories.of_constant[i] = pinned[i];
    place_constants(b, read);
}

/* A constant that is copied is read once per copy. */
static void read_copied_once(const Build *b, int64_t *read)
{
    for (int g = 0; g < b->groups.count; g++)
        for (int i = 0; i < b->lowered.scratch_count[g]; i++) {
            const Scratch *s = &b->lowered.scratch[g][i];
            if (s->copied && s->memory >= 0)
                read[plan_slot(&b->plan, s->copied)->index] += s->bytes - s->read_bytes;
        }
}

/* Constants are placed as if no constant were copied, which gives the costs of their sources, and again when the copies
 * are known. */
static void place_several(Build *b, Map *known, int64_t *of_constant)
{
    Ctx *cx = b->cx;
    int64_t missing;
    const unsigned staged = build_rams(b) > 1 && has_rom(b) ? mask_for(b, MEMORY_FOR_WEIGHTS) : 0;
    for (int i = 0; i < b->groups.count && staged; i++)
        if (b->lowered.function[i]) build_list_copies(b, i, traffic_of(b, b->lowered.function[i], known), staged);
    build_pin_memories(b);
    FirmwareMemory **pinned = arena_copy(cx->arena, b->memories.of_constant,
                                         (size_t)b->plan.constant_count * sizeof *pinned);
    if (!ctx_failed(cx)) place_constants(b, of_constant);
    if (ctx_failed(cx)) return;
    if (staged) build_price_copies(b);
    if (b->options->keep_plan) {
        describe_rams(b);                /* build_check_ram compares the sum with --ram */
        if (!build_keep_plan(b)) return;
        memcpy(pinned, b->memories.of_constant, (size_t)b->plan.constant_count * sizeof *pinned);
    } else {
        const int group = place_within(b, &missing);
        if (missing > 0) refuse_size(b, group, missing);
    }
    read_copied_once(b, of_constant);
    if (!ctx_failed(cx)) place_constants_again(b, pinned, of_constant);
}

void build_place_memories(Build *b)
{
    Ctx *cx = b->cx;
    Map known = map_new(cx->arena);
    int64_t *of_constant = NEW_ARRAY(cx->arena, int64_t, b->plan.constant_count);
    const bool is_one = build_rams(b) == 1;
    limit_rams(b, SHARES);
    if (is_one) note_unused(b);
    else check_graph(b);
    b->memories.of_constant = NEW_ARRAY(cx->arena, FirmwareMemory *, b->plan.constant_count);
    if (!ctx_failed(cx)) allow(b);
    for (int i = 0; i < b->groups.count && !ctx_failed(cx); i++) {
        if (region_of_group(b, i)) add_region_traffic(b, i, &known);
        else add_traffic(b, i, &known, of_constant);
    }
    if (!ctx_failed(cx)) place_several(b, &known, of_constant);
    if (ctx_failed(cx)) return;
    set_views(b);
    if (is_one) b->plan.align = b->plan.memory[0].align;
}
