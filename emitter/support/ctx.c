/* SPDX-License-Identifier: MIT */
#include "support/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/names.h"
#include "support/map.h"
#include "support/text.h"

Ctx *ctx_new(OutOfMemory *hook, void *user)
{
    Ctx *cx = calloc(1, sizeof *cx);
    if (!cx) return NULL;
    cx->arena = arena_new(hook, user ? user : cx);
    cx->scratch = arena_new(hook, user ? user : cx);
    cx->ranges = arena_new(hook, user ? user : cx);
    cx->last_diag = &cx->diags;
    if (cx->arena) arena_without_marks(cx->arena);
    if (cx->arena && cx->scratch && cx->ranges) return cx;
    ctx_free(cx);
    return NULL;
}

void ctx_free(Ctx *cx)
{
    if (!cx) return;
    arena_free(cx->ranges);
    arena_free(cx->scratch);
    arena_free(cx->arena);
    free(cx);
}

uint32_t ctx_serial(Ctx *cx) { return ++cx->serial; }

/* Returns true if the same note or warning was reported before, because a repeated trial reports its warnings once. */
static bool is_said(const Ctx *cx, Severity s, const char *where, const char *what, uint32_t hash)
{
    for (const Diag *d = cx->said[hash % DIAG_BUCKETS]; d; d = d->before)
        if (d->hash == hash && d->severity == s && d->file == cx->file && text_equal(d->where, where)
            && text_equal(d->what, what))
            return true;
    return false;
}

static void add(Ctx *cx, Severity s, const char *where, const char *source, const char *format, va_list args)
{
    const char *what = text_vformat(cx, format, args);
    const uint32_t hash = (uint32_t)hash_bytes(what, strlen(what));
    if (s < ERROR && is_said(cx, s, where, what, hash)) return;
    Diag *d = NEW(cx->arena, Diag);
    d->number = ++cx->diag_count;
    if (s < ERROR) {
        d->hash = hash;
        d->before = cx->said[hash % DIAG_BUCKETS];
        cx->said[hash % DIAG_BUCKETS] = d;
    }
    d->severity = s;
    d->file = cx->file;
    d->where = where ? text_format(cx, "%s", where) : NULL;
    d->source = source;
    d->what = what;
    *cx->last_diag = d;
    cx->last_diag = &d->next;
    if (s >= ERROR) cx->failed = true;
}

#define REPORT(severity, source)                                                                                       \
    do {                                                                                                               \
        va_list args;                                                                                                  \
        va_start(args, format);                                                                                        \
        add(cx, severity, where, source, format, args);                                                                \
        va_end(args);                                                                                                  \
    } while (0)

void diag_error(Ctx *cx, const char *where, const char *format, ...)
{
    if (!cx->failed) REPORT(ERROR, NULL);
}

void diag_usage(Ctx *cx, const char *where, const char *format, ...)
{
    if (cx->failed) return;
    REPORT(ERROR, NULL);
    cx->is_usage = true;
}

void diag_unsupported(Ctx *cx, const char *where, const char *format, ...)
{
    if (!cx->failed) REPORT(UNSUPPORTED, NULL);
}

void diag_internal(Ctx *cx, const char *where, const char *format, ...)
{
    if (!cx->failed) REPORT(INTERNAL, NULL);
}

void diag_with_source(Ctx *cx, const char *where, const char *source_and_caret, const char *format, ...)
{
    if (!cx->failed) REPORT(ERROR, source_and_caret);
}

void diag_warn(Ctx *cx, const char *where, const char *format, ...) { REPORT(WARNING, NULL); }

void diag_listed(Ctx *cx, Severity s, const char *where, const char *format, ...) { REPORT(s, NULL); }

void diag_verdict(Ctx *cx, const char *format, ...)
{
    const char *where = NULL;
    const bool had_failed = cx->failed;
    REPORT(ERROR, NULL);
    cx->failed = had_failed;
}

bool ctx_accepts_warnings(Ctx *cx)
{
    int count = 0;
    for (const Diag *d = cx->diags; d; d = d->next) count += d->severity == WARNING;
    if (!cx->refuses_warnings || !count) return true;
    diag_error(cx, NULL, "--werror refuses the model for %d warning%s; nothing is written", count,
               count > 1 ? "s" : "");
    return false;
}

void diag_exhausted(Ctx *cx, size_t bytes)
{
    Diag *d = &cx->exhaustion;
    snprintf(cx->exhaustion_text, sizeof cx->exhaustion_text,
             "error: out of memory: %llu bytes cannot be allocated; %llu are in use", (unsigned long long)bytes,
             (unsigned long long)(arena_used(cx->arena) + arena_used(cx->scratch) + arena_used(cx->ranges)));
    *d = (Diag){ .severity = ERROR, .what = cx->exhaustion_text + strlen("error: ") };
    *cx->last_diag = d;
    cx->last_diag = &d->next;
    cx->failed = true;
}

const char *diag_text(Ctx *cx, const Diag *d)
{
    static const char *const words[] = { "note", "warning", "error", "unsupported", "internal error" };
    const char *text = text_format(cx, "%s%s%s%s%s: %s%s%s", d->file ? d->file : "", d->file ? ": " : "",
                                   d->where ? d->where : "", d->where ? ": " : "", words[d->severity], d->what,
                                   d->source ? "\n" : "", d->source ? d->source : "");
    return text_visible(cx, text, strlen(text), true);
}

DiagMark diag_mark(Ctx *cx) { return (DiagMark){ cx->last_diag, cx->failed }; }

Diag *diag_rewind(Ctx *cx, DiagMark mark)
{
    Diag *first = *mark.last;
    for (int i = 0; first && i < DIAG_BUCKETS; i++)
        while (cx->said[i] && cx->said[i]->number >= first->number) cx->said[i] = cx->said[i]->before;
    *mark.last = NULL;
    cx->last_diag = mark.last;
    cx->failed = mark.failed;
    cx->is_usage = cx->is_usage && mark.failed;
    return first;
}
