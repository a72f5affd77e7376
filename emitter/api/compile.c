/* SPDX-License-Identifier: MIT */
/* Implements the first part of loopwright.h: contexts, their diagnostics, and compilation of a model to C. */
#include <string.h>

#include "api/computation/arguments.h"
#include "api/run.h"
#include "context/context.h"
#include "driver/driver.h"
#include "support/file.h"
#include "support/guard.h"
#include "support/text.h"

lw_context *lw_new(void) { return context_new(guard_exhausted, NULL); }
void lw_free(lw_context *cx) { ctx_free(cx); }

static const char *text_of(Ctx *cx, const Diag *d)
{
    if (d == &cx->exhaustion) return cx->exhaustion_text;
    RETURN_GUARDED(cx, const char *, d->what, diag_text(cx, d));
}

const char *lw_diagnostic(lw_context *cx, int i, bool *is_error)
{
    const Diag *d = cx ? cx->diags : NULL;
    while (d && i-- > 0) d = d->next;
    if (is_error && (d || !cx)) *is_error = !cx || d->severity >= ERROR;
    return d ? text_of(cx, d) : cx || i ? NULL : "error: out of memory";
}

bool lw_accepts_warnings(lw_context *cx)
{
    RETURN_GUARDED(cx, bool, false, ctx_accepts_warnings(cx));
}

bool lw_is_wrong_usage(const lw_context *cx) { return cx && cx->is_usage; }

const char *lw_nearest(lw_context *cx, const char *word, const char *const *candidates, int count)
{
    if (!word || !candidates || count < 0) return NULL;
    RETURN_GUARDED(cx, const char *, NULL, text_nearest(cx, word, candidates, (size_t)count));
}

const char *lw_version(void) { return LW_VERSION; }

static bool compile(Ctx *cx, const char *model, const char *output, const lw_options *o)
{
    Build b;
    o = options_of(cx, "lw_compile", o);
    if (!o || !is_given(cx, "lw_compile", "the model", model) || !is_given(cx, "lw_compile", "the output", output))
        return false;
    return build_files(&b, cx, model, o, run_selftest, output);
}

static bool write_text(Ctx *cx, const char *path, const char *text)
{
    if (!is_given(cx, "lw_write", "the path", path)) return false;
    if (!text) diag_error(cx, "lw_write", "the text is NULL");
    return text && file_write(cx, path, text, strlen(text));
}

bool lw_write(lw_context *cx, const char *path, const char *text)
{
    RETURN_GUARDED(cx, bool, false, write_text(cx, path, text));
}

bool lw_compile(lw_context *cx, const char *model, const char *output, const lw_options *o)
{
    RETURN_GUARDED(cx, bool, false, compile(cx, model, output, o));
}
