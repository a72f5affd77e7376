/* SPDX-License-Identifier: MIT */
/* Computations and schedules from C (the second part of loopwright.h), in the syntax of .te files: a computation is the
 * text of its statements, and its steps. The first step or print builds the loop nest from the statements; each step
 * yields a new nest. lw_emit compiles the whole text again, so it emits the C that the printed text gives. */
#include <stdarg.h>
#include <string.h>

#include "api/arguments.h"
#include "driver/driver.h"
#include "import/te/te.h"
#include "schedule/schedule.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

struct lw_computation {
    Ctx *cx;
    const char *name;                /* place of diagnostics, and prefix of the emitted symbols */
    lw_options options;
    Text statements;
    bool has_nest;
    Build build;                     /* build.nest[0]: the loop nest after all steps so far */
};

static lw_computation *define(Ctx *cx, const char *name_, const char *target)
{
    if (!is_given(cx, "lw_define", "the name", name_)) return NULL;
    lw_computation *p = NEW(cx->arena, lw_computation);
    *p = (lw_computation){ .cx = cx, .name = name(cx, name_), .statements = text_new(cx) };
    p->options.name = p->name;
    p->options.target = target ? name(cx, target) : NULL;
    return p;
}

lw_computation *lw_define(lw_context *cx, const char *name_, const char *target)
{
    RETURN_GUARDED(cx, lw_computation *, NULL, define(cx, name_, target));
}

/* lw_define returns NULL after an error; every call on it fails. */
static Ctx *context_of(const lw_computation *p) { return p ? p->cx : NULL; }

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* Reads the statements so far, for their diagnostics; outputs and definitions of promised tensors may follow. */
static bool reads_so_far(lw_computation *p)
{
    const ImportOptions options = { .as_nest = true, .is_part = true };
    Model m;
    return te_read(p->cx, text_format(p->cx, "%s.te", p->name), text_string(&p->statements), &options, &m);
}

static bool statement(lw_computation *p, const char *function, const char *keyword, const char *text)
{
    if (!is_given(p->cx, function, "the text", text)) return false;
    if (p->has_nest)
        diag_error(p->cx, p->name,
                   "\"%s\" is given after the first step or print, which fixed the computation; accepted: before it",
                   text);
    text_printf(&p->statements, "%s%s\n", keyword, text);
    return !ctx_failed(p->cx) && reads_so_far(p);
}

static bool guarded_statement(lw_computation *p, const char *function, const char *keyword, const char *text)
{
    RETURN_GUARDED(context_of(p), bool, false, statement(p, function, keyword, text));
}

bool lw_statement(lw_computation *p, const char *text) { return guarded_statement(p, "lw_statement", "", text); }
bool lw_input(lw_computation *p, const char *declaration) 
{
    return guarded_statement(p, "lw_input", "input ", declaration);
}

bool lw_compute(lw_computation *p, const char *formula) { return guarded_statement(p, "lw_compute", "", formula); }
bool lw_output(lw_computation *p, const char *tensor) { return guarded_statement(p, "lw_output", "output ", tensor); }

/* Returns the nest after the steps so far; NULL after an error. */
static const Nest *nest_of(lw_computation *p)
{
    if (ctx_failed(p->cx)) return NULL;
    if (!p->has_nest) {
        Build *b = &p->build;
        const char *path = text_format(p->cx, "%s.te", p->name);
        p->has_nest = true;
        if (!build_read_text(b, p->cx, path, text_string(&p->statements), true, &p->options) || !build_graph(b)
            || !build_nests(b))
            return NULL;
    }
    return p->build.nest[0];
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Applies a step; `options` (may be NULL) are further words of it. */
static bool take_step(lw_computation *p, const char *words, const char *options)
{
    const Nest *n = is_given(p->cx, "lw_step", "the step", words) ? nest_of(p) : NULL;
    if (!n) return false;
    p->build.nest[0] = sched_step(p->cx, n, options ? text_format(p->cx, "%s %s", words, options) : words);
    return !ctx_failed(p->cx);
}

static bool guarded_step(lw_computation *p, const char *words, const char *options)
{
    RETURN_GUARDED(context_of(p), bool, false, take_step(p, words, options));
}

bool lw_step(lw_computation *p, const char *step) { return guarded_step(p, step, NULL); }

static const char *try_step(lw_computation *p, const char *step)
{
    if (!nest_of(p)) return "an earlier call failed";
    DiagMark mark = diag_mark(p->cx);
    take_step(p, step, NULL);
    const Diag *d = diag_rewind(p->cx, mark);
    return d ? d->what : NULL;
}

const char *lw_try(lw_computation *p, const char *step)
{
    if (!p) return "there is no computation";
    RETURN_GUARDED(context_of(p), const char *, "out of memory", try_step(p, step));
}

/* Adds one operand: a number, or a name. */
static void add_operand(lw_computation *p, Text *t, const char *primitive, const Operand *o, va_list args)
{
    if (o->kind == OPERAND_COUNT) {
        text_printf(t, " %d", va_arg(args, int));
        return;
    }
    const char *word = va_arg(args, const char *);
    if (!word && o->kind == OPERAND_LOOP_OR_ROOT) word = "root";
    if (!word || !*word) diag_error(p->cx, p->name, "lw_%s: %s is %s", primitive, o->shown, word ? "empty" : "NULL");
    else text_printf(t, " %s", word);
}

static bool take_operands(lw_computation *p, const char *primitive, const char *options, va_list args)
{
    if (ctx_failed(p->cx)) return false;
    Text t = text_new(p->cx);
    text_add(&t, primitive);
    for (const Operand *o = step_row(primitive)->operand; o->kind && !o->key && !ctx_failed(p->cx); o++)
        add_operand(p, &t, primitive, o, args);
    return !ctx_failed(p->cx) && take_step(p, text_string(&t), options);
}

static bool guarded_operands(lw_computation *p, const char *primitive, const char *options, va_list args)
{
    RETURN_GUARDED(context_of(p), bool, false, take_operands(p, primitive, options, args));
}

/* Applies a step; its operands follow, in the order of the primitive's row. */
static bool step(lw_computation *p, const char *primitive, const char *options, ...)
{
    va_list args;
    va_start(args, options);
    const bool ok = guarded_operands(p, primitive, options, args);
    va_end(args);
    return ok;
}

bool lw_split(lw_computation *p, const char *loop, int factor, const char *options)
{
    return step(p, "split", options, loop, factor);
}

bool lw_tile(lw_computation *p, const char *x, const char *y, int fx, int fy, const char *options)
{
    return step(p, "tile", options, x, y, fx, fy);
}

bool lw_peel(lw_computation *p, const char *loop) { return step(p, "peel", NULL, loop); }
bool lw_fuse(lw_computation *p, const char *outer, const char *inner, const char *options)
{
    return step(p, "fuse", options, outer, inner);
}

bool lw_reorder(lw_computation *p, const char *loops, const char *options)
{
    return step(p, "reorder", options, loops);
}

bool lw_unroll(lw_computation *p, const char *loop, const char *options) { return step(p, "unroll", options, loop); }
bool lw_vectorize(lw_computation *p, const char *loop, const char *options)
{
    return step(p, "vectorize", options, loop);
}

bool lw_parallel(lw_computation *p, const char *loop) { return step(p, "parallel", NULL, loop); }
bool lw_compute_at(lw_computation *p, const char *stage, const char *loop, const char *options)
{
    return step(p, "compute_at", options, stage, loop);
}

bool lw_compute_root(lw_computation *p, const char *stage) { return step(p, "compute_root", NULL, stage); }
bool lw_compute_inline(lw_computation *p, const char *stage) { return step(p, "compute_inline", NULL, stage); }
bool lw_reverse_compute_at(lw_computation *p, const char *stage, const char *loop)
{
    return step(p, "reverse_compute_at", NULL, stage, loop);
}

bool lw_reverse_compute_inline(lw_computation *p, const char *stage)
{
    return step(p, "reverse_compute_inline", NULL, stage);
}

bool lw_store_at(lw_computation *p, const char *stage, const char *loop)
{
    return step(p, "store_at", NULL, stage, loop);
}

bool lw_fold_storage(lw_computation *p, const char *stage, const char *options)
{
    return step(p, "fold_storage", options, stage);
}

bool lw_rfactor(lw_computation *p, const char *stage, const char *loop, const char *options)
{
    return step(p, "rfactor", options, stage, loop);
}

bool lw_decompose_reduction(lw_computation *p, const char *stage, const char *loop)
{
    return step(p, "decompose_reduction", NULL, stage, loop);
}

bool lw_cache_read(lw_computation *p, const char *tensor, const char *scope, const char *options)
{
    return step(p, "cache_read", options, tensor, scope);
}

bool lw_cache_write(lw_computation *p, const char *stage, const char *scope, const char *options)
{
    return step(p, "cache_write", options, stage, scope);
}

bool lw_set_scope(lw_computation *p, const char *tensor, const char *scope)
{
    return step(p, "set_scope", NULL, tensor, scope);
}

bool lw_pack(lw_computation *p, const char *tensor, const char *dimensions)
{
    return step(p, "pack", NULL, tensor, dimensions);
}

bool lw_storage_align(lw_computation *p, const char *tensor, int elements)
{
    return step(p, "storage_align", NULL, tensor, elements);
}

bool lw_pad(lw_computation *p, const char *stage, const char *axis, int multiple)
{
    return step(p, "pad", NULL, stage, axis, multiple);
}

bool lw_specialize(lw_computation *p, const char *condition) { return step(p, "specialize", NULL, condition); }
bool lw_instruction(lw_computation *p, const char *declaration, const char *options)
{
    return step(p, "instruction", options, declaration);
}

bool lw_blockize(lw_computation *p, const char *loop) { return step(p, "blockize", NULL, loop); }
bool lw_tensorize(lw_computation *p, const char *loop, const char *macro)
{
    return step(p, "tensorize", NULL, loop, macro);
}

bool lw_external(lw_computation *p, const char *stage, const char *call, const char *options)
{
    return step(p, "external", options, stage, call);
}

bool lw_pragma(lw_computation *p, const char *loop, const char *pragma)
{
    return step(p, "pragma", NULL, loop, pragma);
}

bool lw_prefetch(lw_computation *p, const char *tensor, const char *loop, int ahead)
{
    return step(p, "prefetch", NULL, tensor, loop, ahead);
}

bool lw_copy_budget(lw_computation *p, int statements) { return step(p, "copy_budget", NULL, statements); }


/* ---- Looking, running, emitting ---------------------------------------------------------------------------------- */

static const char *show(lw_computation *p)
{
    const Nest *n = nest_of(p);
    Text t = text_new(p->cx);
    if (!n) return NULL;
    print_nest(p->cx, &t, n);
    return text_string(&t);
}

static const char *whole_text(lw_computation *p)
{
    Text t = text_new(p->cx);
    text_add(&t, text_string(&p->statements));
    const Nest *n = p->has_nest ? nest_of(p) : NULL;
    if (n && n->step_count) text_add(&t, "\nschedule\n");
    for (int i = 0; n && i < n->step_count; i++) text_printf(&t, "  %s\n", n->step[i].text);
    return text_string(&t);
}

static bool are_arrays(lw_computation *p, const char *what, const void *const *array, int count)
{
    if (!array && count) diag_error(p->cx, "lw_execute", "%s: the list of %d arrays is NULL", what, count);
    for (int i = 0; array && i < count; i++)
        if (!array[i]) diag_error(p->cx, "lw_execute", "%s: array %d of %d is NULL", what, i + 1, count);
    return !ctx_failed(p->cx);
}

static bool execute(lw_computation *p, const void *const *input, void *const *output)
{
    if (!nest_of(p) || !are_arrays(p, "the inputs", input, p->build.model.input_count)) return false;
    if (!are_arrays(p, "the outputs", (const void *const *)output, p->build.model.output_count)) return false;
    Build *b = &p->build;
    const void **out = NEW_ARRAY(p->cx->arena, const void *, b->model.output_count);
    for (int i = 0; i < b->model.output_count; i++)
        if (tensor_bytes(b->model.output[i]) < 0)
            diag_unsupported(p->cx, p->name, "output %s has symbolic sizes; lw_execute accepts numbers alone",
                             b->model.output[i]->name);
    if (ctx_failed(p->cx) || !build_run(b, input, out)) return false;
    for (int i = 0; i < b->model.output_count; i++) memcpy(output[i], out[i], (size_t)tensor_bytes(b->model.output[i]));
    return true;
}

static bool emit(lw_computation *p, const char *output, const lw_options *o)
{
    Build b;
    if (!is_given(p->cx, "lw_emit", "the output", output) || !options_of(p->cx, "lw_emit", o)) return false;
    lw_options own = o ? *o : p->options;
    if (!own.name) own.name = p->options.name;
    if (!own.target) own.target = p->options.target;
    return build_read_text(&b, p->cx, text_format(p->cx, "%s.te", p->name), whole_text(p), false, &own) &&
           build_graph(&b) && build_nests(&b) && build_write(&b, output);
}

const char *lw_show(lw_computation *p) { RETURN_GUARDED(context_of(p), const char *, NULL, show(p)); }
const char *lw_text(lw_computation *p) { RETURN_GUARDED(context_of(p), const char *, NULL, whole_text(p)); }

bool lw_execute(lw_computation *p, const void *const *input, void *const *output)
{
    RETURN_GUARDED(context_of(p), bool, false, execute(p, input, output));
}

bool lw_emit(lw_computation *p, const char *output, const lw_options *o)
{
    RETURN_GUARDED(context_of(p), bool, false, emit(p, output, o));
}
