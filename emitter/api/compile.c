/* SPDX-License-Identifier: MIT */
/* A context, what it has to say, and the way from a model to C: the first part of loopwright.h. */
#include <string.h>

#include "context/context.h"
#include "driver/driver.h"
#include "support/file.h"
#include "support/text.h"

lw_context *lw_new(void) { return context_new(NULL, NULL); }
void lw_free(lw_context *cx) { ctx_free(cx); }

const char *lw_diagnostic(lw_context *cx, int i, bool *is_error)
{
    const Diag *d = cx->diags;
    while (d && i-- > 0) d = d->next;
    if (d && is_error) *is_error = d->severity >= ERROR;
    return d ? diag_text(cx, d) : NULL;
}

bool lw_is_wrong_usage(const lw_context *cx) { return cx->is_usage; }

const char *lw_nearest(lw_context *cx, const char *word, const char *const *candidates, int count)
{
    return text_nearest(cx, word, candidates, (size_t)count);
}

const char *lw_version(void) { return "0.1.0"; }

bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o)
{
    Build b;
    return build_is_c_file(cx, output) && build_read(&b, cx, model, o) && build_graph(&b) && build_nests(&b) && build_write(&b, output);
}
