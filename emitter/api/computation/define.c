/* SPDX-License-Identifier: MIT */
/* Implements computations and schedules from C (the second part of loopwright.h), in the syntax of .te files: a
 * computation is the text of its statements, and the steps of its groups. The first step or print builds the groups'
 * loop nests from the statements; each step yields a new nest. lw_emit compiles the whole text again, so it emits the
 * same C as the printed text. */
#include <string.h>

#include "api/computation/arguments.h"
#include "api/computation/computation.h"
#include "import/te/te.h"
#include "ir/text/print.h"
#include "ir/text/step.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

static lw_computation *define(Ctx *cx, const char *name_, const char *target)
{
    if (!is_given(cx, "lw_define", "the name", name_)) return NULL;
    lw_computation *p = computation_new(cx, name_);
    p->options.target = target ? name(cx, target) : NULL;
    return p;
}

lw_computation *lw_define(lw_context *cx, const char *name_, const char *target)
{
    RETURN_GUARDED(cx, lw_computation *, NULL, define(cx, name_, target));
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* Reads the statements so far, to report their errors; outputs and definitions of promised tensors may follow. */
static bool reads_so_far(lw_computation *p)
{
    const ImportOptions options = { .is_part = true };
    Model m;
    return te_read(p->cx, text_format(p->cx, "%s.te", p->name), text_string(&p->statements), &options, &m);
}

static bool statement(lw_computation *p, const char *function, const char *keyword, const char *text)
{
    if (!is_given(p->cx, function, "the text", text)) return false;
    if (p->has_nests)
        diag_error(p->cx, p->name,
                   "\"%s\" comes after the first step or print, which fixes the computation; move it before them",
                   text);
    text_printf(&p->statements, "%s%s\n", keyword, text);
    return !ctx_failed(p->cx) && reads_so_far(p);
}

static bool guarded_statement(lw_computation *p, const char *function, const char *keyword, const char *text)
{
    RETURN_GUARDED(computation_context(p), bool, false, statement(p, function, keyword, text));
}

bool lw_statement(lw_computation *p, const char *text) { return guarded_statement(p, "lw_statement", "", text); }
bool lw_input(lw_computation *p, const char *declaration) 
{
    return guarded_statement(p, "lw_input", "input ", declaration);
}

bool lw_compute(lw_computation *p, const char *formula) { return guarded_statement(p, "lw_compute", "", formula); }
bool lw_output(lw_computation *p, const char *tensor) { return guarded_statement(p, "lw_output", "output ", tensor); }

static bool gradient(lw_computation *p, const char *results, const char *of, const char *x)
{
    if (!is_given(p->cx, "lw_gradient", "the results", results) || !is_given(p->cx, "lw_gradient", "the tensor", of)
        || !is_given(p->cx, "lw_gradient", "the list of tensors", x))
        return false;
    return statement(p, "lw_gradient", "", text_format(p->cx, "%s = gradient(%s, %s)", results, of, x));
}

bool lw_gradient(lw_computation *p, const char *results, const char *of, const char *with_respect_to)
{
    RETURN_GUARDED(computation_context(p), bool, false, gradient(p, results, of, with_respect_to));
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* Builds the nests of all groups, before their first steps. */
static bool has_nests(lw_computation *p)
{
    if (ctx_failed(p->cx)) return false;
    if (p->has_nests) return true;
    Build *b = &p->build;
    const char *path = text_format(p->cx, "%s.te", p->name);
    p->has_nests = true;
    if (!build_read_text(b, p->cx, path, text_string(&p->statements), true, &p->options) || !build_graph(b)
        || !build_nests(b))
        return false;
    p->is_chosen = NEW_ARRAY(p->cx->arena, bool, b->groups.count);
    return true;
}

/* Stores the nest of the chosen group beside the nests of the other groups. */
static bool has_all_nests(lw_computation *p)
{
    if (!has_nests(p)) return false;
    if (p->chosen >= 0) p->build.scheduled.nest[p->chosen] = p->nest;
    return true;
}

static const Nest *choose(lw_computation *p, int group)
{
    p->chosen = group;
    return p->nest = group < 0 ? NULL : p->build.scheduled.nest[group];
}

const Nest *computation_nest(lw_computation *p)
{
    int count;
    if (ctx_failed(p->cx)) return NULL;
    if (p->group || p->chosen >= 0) return p->nest;
    if (!has_nests(p) || choose(p, build_only_group(&p->build, &count))) return p->nest;
    diag_error(p->cx, p->name,
               "the computation has %d groups%s%s; call lw_schedule_group before the steps, or use the statement "
               "`nest`, which makes it one group", count, count ? ": " : "", build_group_names(&p->build));
    return NULL;
}

static bool has_statements(const lw_computation *p, const char *function);

static bool choose_group(lw_computation *p, const char *tensor)
{
    const char *function = "lw_schedule_group";
    if (!has_statements(p, function) || !is_given(p->cx, function, "the tensor", tensor)) return false;
    if (!has_all_nests(p)) return false;
    const int group = build_group_of(&p->build, tensor);
    if (group < 0) diag_error(p->cx, p->name, "%s", build_no_group(&p->build, tensor));
    else p->is_chosen[group] = true;
    return choose(p, group) != NULL;
}

bool lw_schedule_group(lw_computation *p, const char *tensor)
{
    RETURN_GUARDED(computation_context(p), bool, false, choose_group(p, tensor));
}

/* ---- Looking, running, emitting ---------------------------------------------------------------------------------- */

static const char *show(lw_computation *p)
{
    Text t = text_new(p->cx);
    if (p->group ? !p->nest : !has_all_nests(p)) return NULL;
    if (p->group) print_nest(p->cx, &t, p->nest);
    const Build *b = &p->build;
    for (int i = 0; i < b->groups.count; i++) {
        if (!b->scheduled.nest[i]) continue;
        if (b->groups.count > 1) text_printf(&t, "%sgroup %s\n", i ? "\n" : "", b->groups.at[i].name);
        print_nest(p->cx, &t, build_named_nest(b, i));
    }
    return text_string(&t);
}

/* Returns false, with a diagnostic, for a group of a model, which has no statements. */
static bool has_statements(const lw_computation *p, const char *function)
{
    if (p->group)
        diag_error(p->cx, p->name, "%s: the group of a schedule function cannot have statements; call %s with a "
                   "computation of lw_define", function, function);
    return !ctx_failed(p->cx);
}

static const char *whole_text(lw_computation *p)
{
    if (p->group && !has_statements(p, "lw_text")) return NULL;
    Text t = text_new(p->cx);
    text_add(&t, text_string(&p->statements));
    const Build *b = &p->build;
    for (int i = 0, count; p->has_nests && has_all_nests(p) && i < b->groups.count; i++) {
        const Nest *n = b->scheduled.nest[i];
        if (!n || (!n->step_count && !p->is_chosen[i])) continue;
        const bool is_only = build_only_group(b, &count) == i;
        text_printf(&t, "\nschedule%s%s\n", is_only ? "" : " ", is_only ? "" : b->groups.at[i].name);
        for (int s = 0; s < n->step_count; s++) text_printf(&t, "  %s\n", step_text(p->cx, &n->step[s]));
    }
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
    if (!has_statements(p, "lw_execute") || !has_all_nests(p)) return false;
    if (!are_arrays(p, "the inputs", input, p->build.model.input_count)) return false;
    if (!are_arrays(p, "the outputs", (const void *const *)output, p->build.model.output_count)) return false;
    Build *b = &p->build;
    const void **out = NEW_ARRAY(p->cx->arena, const void *, b->model.output_count);
    for (int i = 0; i < b->model.output_count; i++)
        if (tensor_bytes(b->model.output[i]) < 0)
            diag_unsupported(p->cx, p->name, "output %s has symbolic sizes; call lw_execute only for fixed sizes",
                             b->model.output[i]->name);
    if (ctx_failed(p->cx) || !build_run(b, input, out)) return false;
    for (int i = 0; i < b->model.output_count; i++) memcpy(output[i], out[i], (size_t)tensor_bytes(b->model.output[i]));
    return true;
}

static bool emit(lw_computation *p, const char *output, const lw_options *o)
{
    Build b;
    if (!has_statements(p, "lw_emit")) return false;
    if (!is_given(p->cx, "lw_emit", "the output", output) || !options_of(p->cx, "lw_emit", o)) return false;
    lw_options own = o ? *o : p->options;
    if (!own.name) own.name = p->options.name;
    if (!own.target) own.target = p->options.target;
    return build_read_text(&b, p->cx, text_format(p->cx, "%s.te", p->name), whole_text(p), false, &own) &&
           build_graph(&b) && build_nests(&b) && build_write(&b, output);
}

const char *lw_show(lw_computation *p) { RETURN_GUARDED(computation_context(p), const char *, NULL, show(p)); }
const char *lw_text(lw_computation *p) { RETURN_GUARDED(computation_context(p), const char *, NULL, whole_text(p)); }

bool lw_execute(lw_computation *p, const void *const *input, void *const *output)
{
    RETURN_GUARDED(computation_context(p), bool, false, execute(p, input, output));
}

bool lw_emit(lw_computation *p, const char *output, const lw_options *o)
{
    RETURN_GUARDED(computation_context(p), bool, false, emit(p, output, o));
}
