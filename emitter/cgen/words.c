/* SPDX-License-Identifier: MIT */
/* The words of printed expressions: names in scope, types and numbers. */
#include "cgen/spell.h"

#include <string.h>

#include "support/names.h"

/* ---- Names ----------------------------------------------------------------------------------------------------- */

Speller speller_new(Ctx *cx) { return (Speller){ .cx = cx }; }

const char *speller_find(const Speller *s, const void *what)
{
    for (int i = s->named_count - 1; i >= 0; i--)
        if (s->named[i].what == what) return s->named[i].spelling;
    return NULL;
}

static bool is_taken(const Speller *s, const char *spelling)
{
    for (int i = 0; i < s->named_count; i++)
        if (s->named[i].spelling == spelling) return true;
    return false;
}

const char *speller_name(Speller *s, const void *what, const char *wanted)
{
    const char *stem = name_unprefixed(s->cx, wanted), *spelling = stem;
    for (int n = 2; is_taken(s, spelling); n++)
        spelling = name_format(s->cx, "%s%s%d", stem, strchr(stem, '_') ? "_" : "", n);
    if (s->named_count == s->named_room) {
        Named *more = NEW_ARRAY(s->cx->arena, Named, s->named_room = 2 * s->named_room + 16);
        if (s->named_count) memcpy(more, s->named, (size_t)s->named_count * sizeof *more);
        s->named = more;
    }
    s->named[s->named_count++] = (Named){ what, spelling, false };
    return spelling;
}

/* ---- Types and numbers ----------------------------------------------------------------------------------------- */

const char *spell_type(DType t) { return t == F16 || t == BF16 ? "float" : dtype_info(t)->c_type; }

static const char *real_number(Ctx *cx, DType t, double v)
{
    Text text = text_new(cx);
    bool wide = t == F64;
    if (v != v) return wide ? "(double)NAN" : "NAN";
    if (v - v != 0) return v > 0 ? (wide ? "HUGE_VAL" : "INFINITY") : (wide ? "-HUGE_VAL" : "-INFINITY");
    if (v == 0) text_add(&text, 1 / v < 0 ? "-0.0" : "0.0");
    else if (wide) text_double(&text, v);
    else text_float(&text, (float)v);
    if (!wide) text_char(&text, 'f');
    return text_string(&text);
}

const char *spell_number(Ctx *cx, DType t, Scalar v)
{
    if (dtype_is_float(t)) return real_number(cx, t, v.f);
    if (t == I32 && v.i == INT32_MIN) return "INT32_MIN";
    if (t == I32 && v.i == INT32_MAX) return "INT32_MAX";
    if (t == I64 && v.i == INT64_MIN) return "INT64_MIN";
    if (t == U64) return text_format(cx, "%lluu", (unsigned long long)v.i);
    return text_format(cx, t == U32 ? "%lldu" : "%lld", (long long)v.i);
}
