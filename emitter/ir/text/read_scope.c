/* SPDX-License-Identifier: MIT */
#include "ir/text/read_scope.h"

#include "support/names.h"
#include "support/text.h"

enum { BYTES, ALIGN, ROW, BANKS };

static bool is_power(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

static int64_t given(const StepArgs *a, int option) { return a->factor[option] ? a->factor[option] : 1; }

const Scope *scope_declared(Ctx *cx, const StepArgs *a, const char **fault, const char **accepted)
{
    static const char *const powers[] = { [ALIGN] = "align", [ROW] = "row" };
    const Scope *builtin = scope_called(NULL, 0, a->name);
    *fault = *accepted = NULL;
    if (builtin || text_equal(a->name, SCOPE_CORE)) {
        *fault = text_format(cx, "%s is a memory already", a->name);
        *accepted = "another name";
    } else if (!text_equal(name_identifier(cx, a->name), a->name)) {
        *fault = text_format(cx, "'%s' cannot be a part of the macro LW_MEMORY_%s", a->name, a->name);
        *accepted = "letters, digits and _";
    } else if (a->factor[BYTES] < 1) {
        *fault = text_format(cx, "the memory %s has no size", a->name);
        *accepted = "bytes=BYTES, such as bytes=16K";
    } else if (a->factor[BYTES] > INT32_MAX) {
        *fault = text_format(cx, "the memory %s has %lld bytes", a->name, (long long)a->factor[BYTES]);
        *accepted = "bytes=BYTES up to 2147483647";
    } else if (a->factor[BYTES] % given(a, BANKS)) {
        *fault = text_format(cx, "%lld bytes cannot be divided into %lld banks of equal size",
                             (long long)a->factor[BYTES], (long long)a->factor[BANKS]);
        *accepted = text_format(cx, "bytes=%lld, or another number of banks",
                                (long long)(a->factor[BYTES] / a->factor[BANKS] * a->factor[BANKS]));
    }
    for (int i = ALIGN; i <= ROW && !*fault; i++)
        if (!is_power(given(a, i))) {
            *fault = text_format(cx, "%s=%lld is not a power of two", powers[i], (long long)a->factor[i]);
            *accepted = "1, 2, 4, 8 and so on";
        }
    if (*fault) return NULL;
    Scope *s = NEW(cx->arena, Scope);
    *s = (Scope){ .kind = SCOPE_DECLARED, .name = name(cx, a->name), .bytes = a->factor[BYTES],
                  .align = given(a, ALIGN), .row = given(a, ROW), .banks = given(a, BANKS), .is_opaque = a->opaque };
    return s;
}
