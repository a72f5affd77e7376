/* SPDX-License-Identifier: MIT */
/* Reads the limits of --fit and compares the model with them: `flash=256K,ram=64K` limits the totals, and `dtcm=8K` the
 * bytes in a memory of --memory. Each limit is given once, in bytes or with K or M (powers of 1024). */
#include "api/report/json.h"

#include <stdlib.h>
#include <string.h>

#include "api/traffic.h"
#include "ir/nest/costs.h"
#include "support/names.h"

enum { MOST_LIMITS = 18 };           /* flash, RAM and 16 memories */
typedef enum LimitOf { OF_FLASH, OF_RAM, OF_MEMORY } LimitOf;
typedef struct Limit { LimitOf of; const char *name; int64_t most; } Limit;
typedef struct Limits { int count; Limit at[MOST_LIMITS]; } Limits;

/* A limit, with the bytes that it bounds and their name, such as "flash without code" */
typedef struct Compared { const Limit *limit; const char *what; int64_t is; } Compared;

/* Reads `flash=256K` and returns its end, or NULL if the text has a different form. */
static const char *read_limit(Ctx *cx, const char *s, Limits *to)
{
    const size_t length = strcspn(s, "=,");
    const char *name = name_n(cx, s, length);
    if (s[length] != '=' || !length || to->count == MOST_LIMITS) return NULL;
    for (int i = 0; i < to->count; i++)
        if (text_equal(to->at[i].name, name)) return NULL;
    s += length + 1;
    int64_t n = 0;
    for (; *s >= '0' && *s <= '9' && n < INT32_MAX; s++) n = n * 10 + (*s - '0');
    const bool is_kilo = *s == 'K' || *s == 'k', is_mega = *s == 'M' || *s == 'm';
    if (n < 1 || n > INT32_MAX) return NULL;
    to->at[to->count++] = (Limit){ text_equal(name, "flash") ? OF_FLASH : text_equal(name, "ram") ? OF_RAM : OF_MEMORY,
                                   name, n << (is_kilo ? 10 : is_mega ? 20 : 0) };
    return s + (is_kilo || is_mega);
}

static bool read_limits(Ctx *cx, const char *text, Limits *to)
{
    *to = (Limits){ 0 };
    const char *s = read_limit(cx, text, to);
    while (s && *s == ',') s = read_limit(cx, s + 1, to);
    return s && !*s;
}

/* Returns false if the options have no limits. */
static bool limits_of(const Build *b, Limits *to) { return b->options->fit && read_limits(b->cx, b->options->fit, to); }

static Compared compared(const Build *b, const Footprint *f, const Limit *l)
{
    const MemoryUse *use;
    const int count = l->of == OF_MEMORY ? report_memories(b, &use) : 0;
    if (l->of == OF_FLASH)
        return (Compared){ l, f->has_code ? "flash" : "flash without code", f->flash };
    if (l->of == OF_RAM) return (Compared){ l, "RAM", f->ram };
    Compared c = { l, l->name, 0 };
    for (int i = 0; i < count; i++)
        if (text_equal(use[i].name, l->name)) c.is = use[i].used;
    return c;
}

static bool fits(const Compared *c) { return c->is <= c->limit->most; }

/* Returns the limit of the totals of that kind, or -1. */
static int64_t limit_of(const Limits *l, LimitOf of)
{
    for (int i = 0; i < l->count; i++)
        if (l->at[i].of == of) return l->at[i].most;
    return -1;
}

static bool all_fit(const Build *b, const Footprint *f, const Limits *l)
{
    for (int i = 0; i < l->count; i++) {
        const Compared c = compared(b, f, &l->at[i]);
        if (!fits(&c)) return false;
    }
    return true;
}

/* Names the targets with cycles. */
static const char *timed_targets(Ctx *cx)
{
    int count = 0;
    const Target *const *target = target_list(cx, &count);
    Text t = text_new(cx);
    for (int i = 0; i < count; i++)
        if (target[i]->core) text_printf(&t, "%s%s", t.length ? ", " : "", target[i]->name);
    return text_string(&t);
}

bool footprint_is_limit(Ctx *cx, const lw_options *o)
{
    Limits limits;
    const Target *target = target_find(cx, o->target ? o->target : "generic");
    if (o->mhz > 0 && !o->runner && target && !target->core)
        diag_warn(cx, NULL, "--mhz has no effect on the target \"%s\", whose cycles are unknown; use --target with "
                            "one of %s", target->name, timed_targets(cx));
    WeightsKind kind;
    const char *section;
    if (build_weights_kind(o, &kind, &section) && (kind == WEIGHTS_CALLER || kind == WEIGHTS_INCLUDED))
        diag_usage(cx, NULL, "a report does not accept --weights %s; use c|progmem|section=NAME", o->weights);
    bool is_right = !o->fit || read_limits(cx, o->fit, &limits);
    for (int i = 0; o->fit && is_right && i < limits.count; i++)
        is_right = limits.at[i].of != OF_MEMORY || o->memory_count;
    if (!is_right)
        diag_usage(cx, NULL, "--fit does not accept \"%s\"; use flash=N,ram=N or one of them%s, N bytes, or with K or "
                   "M", o->fit, o->memory_count ? ", and NAME=N for a --memory" : "");
    return is_right && !ctx_failed(cx);
}

bool footprint_has_memories(const Build *b)
{
    Limits limits;
    const char **names = NEW_ARRAY(b->cx->arena, const char *, b->memories.count);
    for (int k = 0; k < b->memories.count; k++) names[k] = b->memories.at[k].name;
    if (!limits_of(b, &limits)) return true;
    for (int i = 0; i < limits.count; i++) {
        int k = 0;
        while (k < b->memories.count && !text_equal(names[k], limits.at[i].name)) k++;
        if (limits.at[i].of == OF_MEMORY && k == b->memories.count)
            diag_usage(b->cx, NULL, "--fit %s: no --memory has the name \"%s\"%s", b->options->fit, limits.at[i].name,
                       text_hint(b->cx, limits.at[i].name, names, (size_t)b->memories.count,
                                 "; use flash, ram, or the name of a memory"));
    }
    return !ctx_failed(b->cx);
}

static void print_limit(Text *t, const char *what, int64_t is, int64_t most)
{
    text_printf(t, "fit            %s %lld of %lld bytes, %lld %%: ", what, (long long)is, (long long)most,
                (long long)((is * 100 + most - 1) / most));
    if (is <= most) text_printf(t, "%lld left\n", (long long)(most - is));
    else text_printf(t, "%lld too many\n", (long long)(is - most));
}

void footprint_print(const Build *b, const Footprint *f, Text *t)
{
    Limits limits;
    if (f->has_code) text_printf(t, "code           %lld bytes%s", (long long)f->code, f->is_linked ? ""
                                 : " without functions of libraries");
    if (f->has_stack) text_printf(t, ", stack %lld bytes", (long long)f->stack);
    if (f->copied) text_printf(t, ", constants in RAM %lld bytes", (long long)f->copied);
    if (f->data > f->copied) text_printf(t, ", data of libraries %lld bytes", (long long)(f->data - f->copied));
    if (f->has_code) text_printf(t, ", by %s\n", f->command);
    if (f->is_bound) text_printf(t, "stack          at most about %lld bytes%s\n", (long long)f->stack,
                                 f->has_code ? "" : "; pass --cc COMPILER to measure code and stack");
    text_printf(t, "in total       flash %lld bytes%s, RAM %s%lld bytes%s\n", (long long)f->flash,
                f->has_code ? "" : " without code", f->is_bound ? "at most about " : "", (long long)f->ram,
                f->has_stack || f->is_bound ? "" : " without stack");
    if (!limits_of(b, &limits)) return;
    for (int i = 0; i < limits.count; i++) {
        const Compared c = compared(b, f, &limits.at[i]);
        print_limit(t, c.what, c.is, c.limit->most);
    }
}

static bool keeps(int64_t bytes, int64_t most) { return most < 0 || bytes <= most; }
static bool has_flash(const Footprint *f, const Limits *l) { return limit_of(l, OF_FLASH) < 0 || f->has_code; }
static bool has_ram(const Footprint *f, const Limits *l)
{
    return limit_of(l, OF_RAM) < 0 || f->has_stack || f->is_bound;
}

/* Without this check, a model would pass although some of its bytes are unknown. If the constants exceed the limit of
 * flash, the verdict is known without the code. */
static bool is_known(const Build *b, const Footprint *f, const Limits *l)
{
    const bool is_flash = !keeps(f->flash, limit_of(l, OF_FLASH)) || has_flash(f, l), is_ram = has_ram(f, l);
    if (is_flash && is_ram) return true;
    if (f->command)
        diag_warn(b->cx, NULL, "--fit does not count the stack in RAM, because \"%s\" writes no call graph; use gcc 10 "
                               "or later",
                  f->command);
    else if (b->options->board)
        diag_warn(b->cx, NULL, "--board \"%s\": %s of the target \"%s\" are not counted; pass --cc COMPILER to measure "
                               "them",
                  b->options->board, is_flash ? "stacks" : is_ram ? "code sizes" : "code and stack", b->target->name);
    else
        diag_usage(b->cx, NULL, "--fit cannot decide without the bytes of %s; pass --cc COMPILER to measure them",
                   is_flash ? "stack" : is_ram ? "code" : "code and stack");
    return !ctx_failed(b->cx);
}

/* Prints the limits of memories, if there are any. */
static void json_fit_memories(const Build *b, const Footprint *f, const Limits *l, Text *t)
{
    int count = 0;
    for (int i = 0; i < l->count; i++) {
        const Compared c = compared(b, f, &l->at[i]);
        if (c.limit->of != OF_MEMORY) continue;
        if (!count++) text_add(t, ", \"memories\": [");
        json_item(t);
        json_key(t, "name", c.limit->name);
        json_number(t, "limit", c.limit->most);
        json_number(t, "used", c.is);
        text_char(t, '}');
    }
    if (count) text_char(t, ']');
}

void footprint_json(const Build *b, const Footprint *f, Text *t)
{
    Limits limits;
    if (!limits_of(b, &limits)) {
        text_add(t, "  \"fit\": null,\n");
        return;
    }
    text_add(t, "  \"fit\": {");
    json_known(t, "flash", limit_of(&limits, OF_FLASH));
    json_known(t, "ram", limit_of(&limits, OF_RAM));
    json_fit_memories(b, f, &limits, t);
    const char *yes = has_flash(f, &limits) && has_ram(f, &limits) ? "true" : "null";
    text_printf(t, ", \"fits\": %s},\n", all_fit(b, f, &limits) ? yes : "false");
}

/* Returns "fits" or "does not fit" with the limits and the remaining bytes, or NULL without limits. */
const char *footprint_verdict(const Build *b, const Footprint *f)
{
    Limits l;
    Text t = text_new(b->cx);
    if (!limits_of(b, &l)) return NULL;
    const char *yes = !has_flash(f, &l) && !has_ram(f, &l) ? "Fits, without code and stack: "
        : !has_flash(f, &l) ? "Fits, without code: " : has_ram(f, &l) ? "Fits: " : "Fits, without stack: ";
    text_add(&t, all_fit(b, f, &l) ? yes : "Does not fit: ");
    for (int i = 0; i < l.count; i++) {
        const Compared c = compared(b, f, &l.at[i]);
        text_printf(&t, "%s%s %lld of %lld bytes", i ? ", " : "", c.limit->of == OF_FLASH ? "flash" : c.what,
                    (long long)c.is, (long long)c.limit->most);
    }
    return text_string(&t);
}

/* Lists the figures that exceed their limits, such as "RAM 7000 of 4096 bytes". */
static const char *exceeded(const Build *b, const Footprint *f, const Limits *l)
{
    Text t = text_new(b->cx);
    for (int i = 0; i < l->count; i++) {
        const Compared c = compared(b, f, &l->at[i]);
        if (!fits(&c))
            text_printf(&t, "%s%s %lld of %lld bytes", t.length ? ", " : "", c.what, (long long)c.is,
                        (long long)c.limit->most);
    }
    return text_string(&t);
}

bool footprint_fits(const Build *b, const Footprint *f)
{
    Limits limits;
    if (ctx_failed(b->cx)) return false;
    if (!limits_of(b, &limits)) return true;
    if (!is_known(b, f, &limits)) return false;
    const int64_t flash = limit_of(&limits, OF_FLASH);
    /* weights of 2 bits take a quarter */
    const bool may_fit = !keeps(f->flash, flash) && keeps(f->flash - (f->flash - f->code) * 3 / 4, flash);
    if (!all_fit(b, f, &limits))
        diag_verdict(b->cx, "the model does not fit: %s%s", exceeded(b, f, &limits),
                     may_fit ? text_format(b->cx, "; weights of 4 or 2 bits may fit: use `quantize --flash %lld`",
                                           (long long)(flash - f->code)) : "");
    return true;
}
