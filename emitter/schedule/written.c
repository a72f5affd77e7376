/* SPDX-License-Identifier: MIT */
#include "schedule/written.h"

#include <string.h>

#include "ir/check/check.h"
#include "ir/text/lex.h"
#include "ir/text/step.h"
#include "support/names.h"
#include "support/text.h"

bool written_step(Ctx *cx, const char *path, const char *whole, const char *line, const char *end, WrittenStep *out)
{
    const char *s = line + strspn(line, " \t"), *stop = s + strcspn(s, "#\n");
    if (stop > end) stop = end;
    while (stop > s && strchr(" \t\r", stop[-1])) stop--;
    if (stop <= s) return false;
    *out = (WrittenStep){ .text = name_n(cx, s, (size_t)(stop - s)), .path = path, .whole = whole,
                          .indent = (int)(s - line),
                          .begin = (size_t)(s - whole), .end = (size_t)(stop - whole) };
    return true;
}

const char *written_declaration_end(const char *end)
{
    while (*end && (end[1] == ' ' || end[1] == '\t')) end += 1 + strcspn(end + 1, "\n");
    return end;
}

const WrittenStep *written_declare(Ctx *cx, const WrittenStep *list, int count, const char *path, const char *whole,
                                   const char *begin, const char *end)
{
    Text t = text_new(cx);
    for (const char *s = begin; s < end; s++) {
        if (*s == '#') s += strcspn(s, "\n");
        if (s < end) text_char(&t, *s == '\n' || *s == '\r' || *s == '\t' ? ' ' : *s);
    }
    while (t.length && text_string(&t)[t.length - 1] == ' ') t.length--;
    const size_t at = (size_t)(begin - whole);
    WrittenStep *all = NEW_ARRAY(cx->arena, WrittenStep, count + 1);
    for (int i = 0; i < count; i++) all[i] = list[i];
    all[count] = (WrittenStep){ .text = name_n(cx, text_string(&t), t.length), .path = path, .whole = whole,
                                .begin = at, .end = at + strcspn(begin, "#\n") };
    return all;
}

static Token token_of(const WrittenStep *s)
{
    return (Token){ TOKEN_NAME, s->whole + s->begin, (int)(s->end - s->begin) };
}

void written_refuse(Ctx *cx, const WrittenStep *at, const char *what)
{
    const char *outer = cx->file;
    cx->file = at->path;
    const Lexer l = lex_part(cx, at->whole, at->begin, at->begin, true, "te");
    lex_error(&l, token_of(at), "%s", what);
    cx->file = outer;
}

const Nest *sched_written(Ctx *cx, const Nest *n, const WrittenStep *step)
{
    const char *outer = cx->file;
    cx->file = step->path;
    /* The lexer is used only to find the place. */
    Lexer l = lex_part(cx, step->whole, step->begin, step->begin, true, "te");
    DiagMark mark = diag_mark(cx);
    n = sched_step(cx, n, step->text);
    lex_relocate_after(&l, mark, token_of(step), step->of ? text_format(cx, "in group %s", step->of) : NULL);
    cx->file = outer;
    return n;
}

/* Returns true if the step places a tensor of this name in a memory. */
static bool places(Ctx *cx, const WrittenStep *w, const char *tensor)
{
    const DiagMark mark = diag_mark(cx);
    const Step s = step_read(cx, w->text);
    diag_rewind(cx, mark);
    return s.row && s.args->scope && text_equal(s.args->name ? s.args->name : s.args->target, tensor);
}

const Nest *sched_finished(Ctx *cx, const Nest *n, const WrittenStep *step, int count)
{
    const Refusal *r = n && count && !ctx_failed(cx) ? nest_memory_refusal(cx, n) : NULL;
    if (!r) return n;
    const WrittenStep *at = &step[count - 1];
    for (int i = count - 1; r->tensor && i >= 0; i--)
        if (places(cx, &step[i], r->tensor->name)) at = &step[i];
    const char *outer = cx->file;
    cx->file = at->path;
    Lexer l = lex_part(cx, at->whole, at->begin, at->begin, true, "te");
    const DiagMark mark = diag_mark(cx);
    refusal_report(cx, at->text, r);
    lex_relocate_after(&l, mark, token_of(at), at->of ? text_format(cx, "in group %s", at->of) : NULL);
    cx->file = outer;
    return NULL;
}
