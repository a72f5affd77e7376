/* SPDX-License-Identifier: MIT */
/* `loopwright instruction MODEL MACRO` prints the arguments and the meaning of an instruction's macro: its declaration,
 * a C prototype, and the portable form (driver/portable.c). */
#include <string.h>

#include "api/computation/arguments.h"
#include "cgen/cgen.h"
#include "driver/driver.h"
#include "ir/nest/instruction.h"
#include "ir/text/read_instruction.h"
#include "support/guard.h"
#include "support/names.h"
#include "support/text.h"

static const char *described(Ctx *cx, const Instruction *i)
{
    Text t = text_new(cx);
    text_printf(&t, "/* instruction %s%s%s\n *\n", i->text, i->feature ? " feature=" : "",
                i->feature ? i->feature : "");
    text_add(&t, " * NAME_at is the index of the first element; NAME_strideD counts the elements from one index of\n"
                 " * dimension D to the next. The elements of the last dimension are adjacent. */\n");
    text_add(&t, "#include <stdbool.h>\n#include <stdint.h>\n\n");
    const PortableForm form = build_portable_form(cx, i);
    cgen_macro(cx, &t, i->macro, form.parameter, form.parameter_count, NULL);
    if (i->sets) {
        text_printf(&t, "\n/* Sets %s for the instructions behind it. It has no portable form. */\n", i->sets);
        return text_string(&t);
    }
    if (!form.function) {
        text_add(&t, "\n/* The macro does not receive all numbers of the formula, so it has no portable form. */\n");
        return text_string(&t);
    }
    text_printf(&t, "\n/* The portable form%s.\n * The emitted C calls it where a macro of its name is defined. */\n"
                "#define %s %s\n",
                i->stage->reducer == REDUCE_NONE ? "" : " combines the values with what the result holds", i->macro,
                i->macro);
    cgen_macro(cx, &t, i->macro, form.parameter, form.parameter_count, form.function);
    return text_string(&t);
}

/* Finds the instruction among the declarations of the model's schedules, then among the known instructions. */
static const char *find(Ctx *cx, const char *model, const char *macro, const lw_options *o)
{
    Build b;
    o = options_of(cx, "lw_print_instruction", o);
    if (!o || !is_given(cx, "lw_print_instruction", "the model", model)
        || !is_given(cx, "lw_print_instruction", "the macro", macro) || !build_read(&b, cx, model, o)
        || !build_graph(&b) || !build_nests(&b))
        return NULL;
    const Instruction *found = NULL;
    for (const Build *g = &b; g && !found; g = g->tree.next)
        for (int i = 0; i < g->groups.count && !found; i++)
            if (g->scheduled.nest[i]) found = nest_instruction(g->scheduled.nest[i], macro);
    if (found && found->open) found = found->open;
    if (!found) found = instruction_known(cx, macro);
    if (!found && !ctx_failed(cx))
        diag_error(cx, NULL, "no schedule of %s declares the instruction \"%s\"; use the name of a macro that a step "
                   "`instruction` declares", model, macro);
    return found && !ctx_failed(cx) ? described(cx, found) : NULL;
}

const char *lw_print_instruction(lw_context *cx, const char *model, const char *macro, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, find(cx, model, macro, o));
}
