/* SPDX-License-Identifier: MIT */
/* A context, what it has to say, and the way from a model to C: the first part of loopwright.h. */
#include <string.h>

#include "driver/driver.h"
#include "support/file.h"

lw_context *lw_new(void) { return ctx_new(NULL, NULL); }
void lw_free(lw_context *cx) { ctx_free(cx); }

const char *lw_diagnostic(lw_context *cx, int i, bool *is_error)
{
    const Diag *d = cx->diags;
    while (d && i-- > 0) d = d->next;
    if (d && is_error) *is_error = d->severity >= ERROR;
    return d ? diag_text(cx, d) : NULL;
}

const char *lw_version(void) { return "0.1.0"; }

bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o)
{
    Build b;
    if (strcmp(path_extension(output), "c") != 0) {
        diag_error(cx, NULL, "the output \"%s\" must end in .c", output);
        return false;
    }
    return build_read(&b, cx, model, o) && build_graph(&b) && build_nests(&b) && build_write(&b, output);
}
