/* SPDX-License-Identifier: MIT */
/* Measures code, stack and instructions: compiles the emitted C with the user's compiler, links it from NAME_run on,
 * sums the sections of the ELF file, follows gcc's call graph (-fcallgraph-info=su) to the deepest stack, and steps
 * through the code. */
#include "api/report/footprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/report/elf.h"
#include "api/trial.h"
#include "support/file.h"
#include "support/guard.h"
#include "support/map.h"

/* ---- Stack ------------------------------------------------------------------------------------------------------- */

/* A function of the call graph. deepest: the stack of the function and its callees; -1: not computed yet, -2: being
 * computed. */
typedef struct Frame Frame;
typedef struct Callee { Frame *to; struct Callee *next; } Callee;
struct Frame { const char *title; int64_t bytes, deepest; Callee *callees; Frame *next; };
/* The functions by title, and in the order of the graph */
typedef struct Frames { Ctx *cx; Map by_title; int count; Frame *first, **last; } Frames;

/* Returns the text in quotes that follows `key`, or NULL; *line advances. */
static const char *quoted_after(Ctx *cx, const char *line, const char *key)
{
    const size_t width = strcspn(line, "\n");
    const char *at = strstr(line, key);
    if (!at || at >= line + width) return NULL;
    at += strlen(key);
    return text_format(cx, "%.*s", (int)strcspn(at, "\"\n"), at);
}

static Frame *frame_of(Frames *all, const char *title)
{
    Frame *f = map_get(&all->by_title, title, strlen(title));
    if (f) return f;
    f = NEW(all->cx->arena, Frame);
    *f = (Frame){ .title = title, .deepest = -1 };
    map_put(&all->by_title, title, strlen(title), f);
    *all->last = f;
    all->last = &f->next;
    all->count++;
    return f;
}

/* Reads lines of the forms `node: { title: "f" label: "f\nfile:1:2\n40 bytes (static)" }` and `edge: { sourcename: "f"
 * targetname: "g" }`. For functions of libraries, the call graph states no bytes. */
static void read_graph_line(Frames *frames, const char *line)
{
    Ctx *cx = frames->cx;
    const char *from = quoted_after(cx, line, "sourcename: \""), *to = quoted_after(cx, line, "targetname: \"");
    if (strncmp(line, "node:", 5) == 0) {
        const char *title = quoted_after(cx, line, "title: \""), *label = quoted_after(cx, line, "label: \"");
        const char *bytes = label ? strstr(label, " bytes (") : NULL, *digits = bytes;
        while (digits && digits > label && digits[-1] >= '0' && digits[-1] <= '9') digits--;
        if (title) frame_of(frames, title)->bytes = digits ? strtol(digits, NULL, 10) : 0;
    } else if (from && to) {
        Frame *caller = frame_of(frames, from);
        Callee *c = NEW(cx->arena, Callee);
        *c = (Callee){ frame_of(frames, to), caller->callees };
        caller->callees = c;
    }
}

static int64_t deepest_of(Frame *f)
{
    if (f->deepest != -1) return f->deepest == -2 ? 0 : f->deepest;
    int64_t most = 0;
    f->deepest = -2;
    for (const Callee *c = f->callees; c; c = c->next) {
        const int64_t below = deepest_of(c->to);
        most = below > most ? below : most;
    }
    return f->deepest = f->bytes + most;
}

/* The title of a static function begins with its file: "model.c:f". */
static const char *function_of(const char *title)
{
    const char *colon = strrchr(title, ':');
    return colon ? colon + 1 : title;
}

static void keep_frames(const Frames *all, Footprint *out)
{
    StackFrame *list = NEW_ARRAY(all->cx->arena, StackFrame, all->count);
    for (Frame *f = all->first; f; f = f->next)
        list[out->frame_count++] = (StackFrame){ function_of(f->title), f->bytes, deepest_of(f) };
    out->frame = list;
}

static bool file_exists(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

static void read_stack(const Build *b, const char *folder, Footprint *out)
{
    Ctx *cx = b->cx;
    const char *path = text_format(cx, "%s/prog.ci", folder);
    if (!file_exists(path)) return;
    Frames frames = { .cx = cx, .by_title = map_new(cx->arena), .last = &frames.first };
    const char *text = file_text(cx, path, file_read(cx, path));
    if (ctx_failed(cx)) return;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        read_graph_line(&frames, line);
    out->has_stack = true;
    out->stack = deepest_of(frame_of(&frames, text_format(cx, "%s_run", b->name)));
    const int64_t step = b->training.step ? deepest_of(frame_of(&frames, text_format(cx, "%s_train", b->name))) : 0;
    if (step > out->stack) out->stack = step;
    keep_frames(&frames, out);
}

/* ---- The sizes of functions -------------------------------------------------------------------------------------- */

/* The sizes by function. A compiler may split a function in parts, such as f and f.isra.0. */
typedef struct Sizes { Ctx *cx; Map *of; } Sizes;

static CodeSize *size_of(const Sizes *all, const char *name)
{
    const size_t length = strcspn(name, ".");
    CodeSize *s = map_get(all->of, name, length);
    if (s) return s;
    s = NEW(all->cx->arena, CodeSize);
    *s = (CodeSize){ -1, -1 };
    map_put(all->of, text_format(all->cx, "%.*s", (int)length, name), length, s);
    return s;
}

static void add_code(const ElfSymbol *symbol, void *user)
{
    CodeSize *s = symbol->size ? size_of(user, symbol->name) : NULL;
    if (s) s->code = (s->code < 0 ? 0 : s->code) + (int64_t)(symbol->size & INT32_MAX);
}

/* Keeps the code of each function, from the symbols, and its stack, from the call graph. */
static void keep_sizes(Build *b, const Elf *e, const Footprint *f)
{
    Map *all = NEW(b->cx->arena, Map);
    Sizes sizes = { b->cx, all };
    *all = map_new(b->cx->arena);
    elf_symbols(e, add_code, &sizes);
    for (int i = 0; i < f->frame_count; i++) {
        CodeSize *s = size_of(&sizes, f->frame[i].name);
        if (f->frame[i].deepest > s->stack) s->stack = f->frame[i].deepest;
    }
    b->observed.code_sizes = all;
}

/* ---- The compiler ------------------------------------------------------------------------------------------------ */

/* Returns the user's command, with those flags of verify that the command does not set itself. Program memory requires
 * an extension of C. */
static const char *command_of(Ctx *cx, const char *cc, WeightsKind weights)
{
    const char *standard = weights == WEIGHTS_FLASH ? " -std=gnu99" : " -std=c99";
    return text_format(cx, "%s%s%s%s", cc, strstr(cc, " -std=") ? "" : standard, strstr(cc, " -O") ? "" : " -O2",
                       strstr(cc, " -ffp-contract=") ? "" : " -ffp-contract=off");
}

/* Adds `words` with each '@' replaced by the folder's quoted path, because the user's command runs in the user's
 * folder. */
static void add_words(Text *t, const char *words, const char *folder)
{
    for (; *words; words++) {
        if (*words == '@') trial_quote(t, folder);
        else text_char(t, *words);
    }
}

static bool runs(const Build *b, const char *folder, const char *command, const char *words)
{
    Text t = text_new(b->cx);
    text_printf(&t, "%s ", command);
    add_words(&t, words, folder);
    if (ctx_failed(b->cx)) return false;
    const Ending e = trial_command(b->options, text_string(&t));
    if (e == SHELL_INTERRUPTED) diag_error(b->cx, NULL, "interrupted while the compiler measured code");
    return e == SHELL_DONE;
}

static void read_elf(const Build *b, const char *path, Elf *e, Footprint *out)
{
    int64_t flash = 0;
    const Bytes file = file_read(b->cx, path);
    if (ctx_failed(b->cx)) return;
    if (!elf_open(file, e)) {
        diag_error(b->cx, NULL, "--cc \"%s\" does not write ELF files, which the measurement requires; use a compiler "
                                "that writes them", b->options->cc);
        return;
    }
    if (!report_is_target_code(b, e, out->command)) return;
    elf_sum(e, &flash, &out->data);
    if (b->options->static_arena) out->data -= out->data < b->plan.arena_size ? out->data : b->plan.arena_size;
    const int64_t weights = report_totals(b).weights;
    if (elf_machine(e) == ELF_AVR && b->program.weights.kind != WEIGHTS_FLASH)
        out->copied = out->data < weights ? out->data : weights;
    out->has_code = true;
    out->code = flash > weights ? flash - weights : flash;
}

static bool links(const Build *b, const char *folder, const Footprint *f)
{
    const char *step = b->training.step ? text_format(b->cx, "-Wl,--undefined=%s_train ", b->name) : "";
    return runs(b, folder, f->command,
                text_format(b->cx, "-nostartfiles -static -Wl,--entry=%s_run %s-Wl,--gc-sections @/prog -o @/out -lm "
                                   "2>/dev/null", b->name, step));
}

/* Compiles the code with a label before each layer; it may differ from the code without labels by some bytes. */
static void step_marked(Build *b, const char *folder, Footprint *out)
{
    Elf e;
    if (!runs(b, folder, out->command, STEP_MARKS " -I@ -c @/model.c -o @/prog 2>/dev/null")) return;
    if (links(b, folder, out) && elf_open(file_read(b->cx, text_format(b->cx, "%s/out", folder)), &e))
        report_step(b, &e, out);
}

/* Compiles model.c of the folder. Without a linker script, only the object file is measured. */
static bool compile(Build *b, const char *folder, Footprint *out)
{
    Ctx *cx = b->cx;
    Elf e;
    out->command = command_of(cx, b->options->cc, b->program.weights.kind);
    if (!runs(b, folder, out->command, "-fcallgraph-info=su -I@ -c @/model.c -o @/prog 2>/dev/null")
        && !runs(b, folder, out->command, "-I@ -c @/model.c -o @/prog")) {
        diag_error(cx, NULL, "building the emitted C failed: %s -c model.c", out->command);
        return false;
    }
    out->is_linked = links(b, folder, out);
    read_elf(b, text_format(cx, "%s/%s", folder, out->is_linked ? "out" : "prog"), &e, out);
    if (!ctx_failed(cx)) read_stack(b, folder, out);
    if (!ctx_failed(cx)) keep_sizes(b, &e, out);
    if (!ctx_failed(cx) && out->is_linked && report_steps(b, &e)) step_marked(b, folder, out);
    return !ctx_failed(cx);
}

bool footprint_of(Build *b, const char *model, Footprint *out)
{
    Ctx *cx = b->cx;
    Resource held;
    *out = (Footprint){ 0 };
    bool ok = !ctx_failed(cx) && report_measure(b, model);
    if (ok && b->options->cc) {
        lw_options whole = *b->options;
        whole.standalone = true;
        Folder *folder = trial_folder(cx, 0);
        if (!folder) return false;
        resource_hold(cx, &held, trial_remove, folder);
        ok = lw_compile(cx, model, text_format(cx, "%s/model.c", folder->path), &whole) &&
             compile(b, folder->path, out);
        resource_drop(cx, &held);
    }
    const Totals all = report_totals(b);
    out->is_bound = !out->has_stack && report_stack(b) >= 0;
    if (out->is_bound) out->stack = report_stack(b);
    out->flash = all.weights + out->code;
    out->ram = all.ram + out->data + out->stack;
    return ok;
}
