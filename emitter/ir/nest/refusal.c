/* SPDX-License-Identifier: MIT */
#include "ir/nest/refusal.h"

#include "support/text.h"

const char *verdict_text(Verdict v)
{
    static const char *const words[] = { "proved", "unproved", "wrong", "invalid", "unsupported" };
    return words[v];
}

const char *refusal_sentence(Ctx *cx, const Refusal *r)
{
    return text_format(cx, "%s; use %s", r->fault, r->accepted);
}

void refusal_report(Ctx *cx, const char *where, const Refusal *r)
{
    DiagMark mark = diag_mark(cx);
    diag_error(cx, where, "%s: %s", verdict_text(r->verdict), refusal_sentence(cx, r));
    if (*mark.last) (*mark.last)->refusal = r;
}
