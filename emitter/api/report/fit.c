/* SPDX-License-Identifier: MIT */
/* Reads the limits of --fit: `flash=256K,ram=64K`, either or both, in bytes or with K or M (powers of 1024). */
#include "api/report/json.h"

#include <stdlib.h>
#include <string.h>

#include "ir/nest/costs.h"

typedef struct Limits { int64_t flash, ram; } Limits;      /* bytes; -1: none */

/* Reads `flash=256K` and returns its end, or NULL if the text has a different form. */
static const char *read_limit(const char *s, Limits *to)
{
    const bool is_flash = strncmp(s, "flash=", 6) == 0, is_ram = strncmp(s, "ram=", 4) == 0;
    if (!is_flash && !is_ram) return NULL;
    s += is_flash ? 6 : 4;
    const char *digits = s;
    int64_t n = 0;
    for (; *s >= '0' && *s <= '9' && n < INT32_MAX; s++) n = n * 10 + (*s - '0');
    const bool is_kilo = *s == 'K' || *s == 'k', is_mega = *s == 'M' || *s == 'm';
    if (s == digits || n < 1 || n > INT32_MAX || *(is_flash ? &to->flash : &to->ram) >= 0) return NULL;
    *(is_flash ? &to->flash : &to->ram) = n << (is_kilo ? 10 : is_mega ? 20 : 0);
    return s + (is_kilo || is_mega);
}

static bool read_limits(const char *text, Limits *to)
{
    *to = (Limits){ -1, -1 };
    const char *s = read_limit(text, to);
    if (s && *s == ',') s = read_limit(s + 1, to);
    return s && !*s;
}

/* Returns false if the options have no limits. */
static bool limits_of(const Build *b, Limits *to) { return b->options->fit && read_limits(b->options->fit, to); }

static bool keeps(int64_t bytes, int64_t most) { return most < 0 || bytes <= most; }

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
    const bool is_right = !o->fit || read_limits(o->fit, &limits);
    if (!is_right)
        diag_usage(cx, NULL, "--fit does not accept \"%s\"; use flash=N,ram=N or one of them, N bytes, or with K or M",
                   o->fit);
    return is_right && !ctx_failed(cx);
}

static void print_limit(Text *t, const char *what, int64_t is, int64_t most)
{
    if (most < 0) return;
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
    print_limit(t, f->has_code ? "flash" : "flash without code", f->flash, limits.flash);
    print_limit(t, "RAM", f->ram, limits.ram);
}

static bool has_flash(const Footprint *f, const Limits *l) { return l->flash < 0 || f->has_code; }
static bool has_ram(const Footprint *f, const Limits *l) { return l->ram < 0 || f->has_stack || f->is_bound; }

/* Without this check, a model would pass although some of its bytes are unknown. If the constants exceed the limit of
 * flash, the verdict is known without the code. */
static bool is_known(const Build *b, const Footprint *f, const Limits *l)
{
    const bool is_flash = !keeps(f->flash, l->flash) || has_flash(f, l), is_ram = has_ram(f, l);
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

void footprint_json(const Build *b, const Footprint *f, Text *t)
{
    Limits limits;
    if (!limits_of(b, &limits)) {
        text_add(t, "  \"fit\": null,\n");
        return;
    }
    text_add(t, "  \"fit\": {");
    json_known(t, "flash", limits.flash);
    json_known(t, "ram", limits.ram);
    const char *yes = has_flash(f, &limits) && has_ram(f, &limits) ? "true" : "null";
    text_printf(t, ", \"fits\": %s},\n", keeps(f->flash, limits.flash) && keeps(f->ram, limits.ram) ? yes : "false");
}

/* Returns "fits" or "does not fit" with the limits and what is left, or NULL without limits. */
const char *footprint_verdict(const Build *b, const Footprint *f)
{
    Limits l;
    Text t = text_new(b->cx);
    if (!limits_of(b, &l)) return NULL;
    const char *yes = !has_flash(f, &l) && !has_ram(f, &l) ? "Fits, without code and stack: "
        : !has_flash(f, &l) ? "Fits, without code: " : has_ram(f, &l) ? "Fits: " : "Fits, without stack: ";
    text_add(&t, keeps(f->flash, l.flash) && keeps(f->ram, l.ram) ? yes : "Does not fit: ");
    if (l.flash >= 0) text_printf(&t, "flash %lld of %lld bytes", (long long)f->flash, (long long)l.flash);
    if (l.ram >= 0) text_printf(&t, "%sRAM %lld of %lld bytes", l.flash >= 0 ? ", " : "", (long long)f->ram,
                                (long long)l.ram);
    return text_string(&t);
}

bool footprint_fits(const Build *b, const Footprint *f)
{
    Limits limits;
    if (ctx_failed(b->cx)) return false;
    if (!limits_of(b, &limits)) return true;
    if (!is_known(b, f, &limits)) return false;
    const bool is_flash = keeps(f->flash, limits.flash), is_ram = keeps(f->ram, limits.ram);
    const char *flash = text_format(b->cx, "flash %s%lld of %lld bytes", f->has_code ? "" : "without code ",
                                    (long long)f->flash, (long long)limits.flash);
    const char *ram = text_format(b->cx, "RAM %lld of %lld bytes", (long long)f->ram, (long long)limits.ram);
    /* weights of 2 bits take a quarter */
    const bool may_fit = !is_flash && keeps(f->flash - (f->flash - f->code) * 3 / 4, limits.flash);
    if (!is_flash || !is_ram)
        diag_verdict(b->cx, "the model does not fit: %s%s%s%s", is_flash ? "" : flash, is_flash || is_ram ? "" : ", ",
                     is_ram ? "" : ram,
                     may_fit ? text_format(b->cx, "; weights of 4 or 2 bits may fit: use `quantize --flash %lld`",
                                           (long long)(limits.flash - f->code)) : "");
    return true;
}
