/* SPDX-License-Identifier: MIT */
#include "api/computation/arguments.h"

#include "api/computation/boards.h"
#include "support/text.h"

bool is_given(Ctx *cx, const char *function, const char *what, const char *value)
{
    if (ctx_failed(cx)) return false;
    if (!value || !*value) diag_error(cx, function, "%s is %s", what, value ? "empty" : "NULL");
    return value && *value;
}

bool are_given(Ctx *cx, const char *function, const char *what, const char *const *list, int count)
{
    if (count < 0) diag_error(cx, function, "%s: the count is %d; use 0 or more", what, count);
    else if (count && !list) diag_error(cx, function, "%s: the list of %d is NULL", what, count);
    for (int i = 0; list && i < count; i++)
        if (!is_given(cx, function, text_format(cx, "%s: number %d", what, i + 1), list[i])) return false;
    return !ctx_failed(cx);
}

static bool dims_are_right(Ctx *cx, const char *function, const lw_options *o)
{
    if (o->dim_count < 0 || (o->dim_count && !o->dim))
        diag_error(cx, function, "options.dim: the list of %d is NULL", o->dim_count);
    for (int i = 0; i < o->dim_count && !ctx_failed(cx); i++)
        is_given(cx, function, "options.dim: a name", o->dim[i].name);
    return !ctx_failed(cx);
}

static bool values_are_right(Ctx *cx, const char *function, const lw_options *o)
{
    if (o->value_count < 0 || (o->value_count && !o->value))
        diag_error(cx, function, "options.value: the list of %d is NULL", o->value_count);
    for (int i = 0; i < o->value_count && !ctx_failed(cx); i++)
        if (is_given(cx, function, "options.value: a name", o->value[i].name))
            is_given(cx, function, "options.value: a path", o->value[i].path);
    return !ctx_failed(cx);
}

static bool states_are_right(Ctx *cx, const char *function, const lw_options *o)
{
    if (o->state_count < 0 || (o->state_count && !o->state))
        diag_error(cx, function, "options.state: the list of %d is NULL", o->state_count);
    for (int i = 0; i < o->state_count && !ctx_failed(cx); i++)
        if (is_given(cx, function, "options.state: an input", o->state[i].input))
            is_given(cx, function, "options.state: an output", o->state[i].output);
    if (o->rename_count < 0 || (o->rename_count && !o->rename))
        diag_error(cx, function, "options.rename: the list of %d is NULL", o->rename_count);
    for (int i = 0; i < o->rename_count && !ctx_failed(cx); i++)
        if (is_given(cx, function, "options.rename: a port", o->rename[i].port))
            is_given(cx, function, "options.rename: a name", o->rename[i].name);
    return !ctx_failed(cx);
}

const lw_options *options_of(Ctx *cx, const char *function, const lw_options *o)
{
    static const lw_options defaults;
    if (ctx_failed(cx)) return NULL;
    if (!o) return &defaults;
    cx->refuses_warnings = o->werror;
    if (!dims_are_right(cx, function, o) || !values_are_right(cx, function, o)) return NULL;
    if (!states_are_right(cx, function, o)) return NULL;
    return o->board ? board_apply(cx, o) : o;
}
