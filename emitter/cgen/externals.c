/* SPDX-License-Identifier: MIT */
/* Prints prototypes of the C functions from outside that the program calls, each once, before the program's
 * functions. */
#include "cgen/runtime.h"

#include <string.h>

#include "support/wrap.h"
#include "ir/nest/external.h"
#include "support/map.h"

typedef struct Prototypes { Ctx *cx; Text *t; Map of; } Prototypes;

static const char *parameter(Ctx *cx, const ExternalArg *a, const Expr *arg)
{
    const char *type = dtype_info(arg->type)->c_type;
    if (a->kind == EXTERNAL_WORKSPACE) return "void *";
    if (a->kind == EXTERNAL_TENSOR) return text_format(cx, "%s%s *", a->is_written ? "" : "const ", type);
    return type;
}

static const char *prototype(Ctx *cx, const Code *c)
{
    Text t = text_new(cx);
    text_printf(&t, "%s %s(", c->external->has_status ? "int" : "void", c->text);
    for (int i = 0; i < c->arg_count; i++)
        text_printf(&t, "%s%s", i ? ", " : "", parameter(cx, &c->external->arg[i], c->args[i]));
    text_add(&t, c->arg_count ? ");" : "void);");
    return text_string(&t);
}

/* Declares the C function of a call once; refuses calls that pass different types to it. */
static const Code *declare(Ctx *cx, const Code *c, void *user)
{
    Prototypes *p = user;
    if (c->kind != CODE_CALL || !c->external || external_is_macro(c->text)) return c;
    const char *own = prototype(cx, c), *known = map_get_const(&p->of, c->text, strlen(c->text));
    if (known && !text_equal(known, own))
        diag_error(cx, c->text, "two calls pass different types to this function:\n  %s\n  %s", known, own);
    if (known) return c;
    map_put_const(&p->of, c->text, strlen(c->text), own);
    const size_t start = p->t->length;
    text_printf(p->t, "%s", own);
    wrap_list(cx, p->t, start);
    text_char(p->t, '\n');
    return c;
}

void externals_declare(Ctx *cx, Text *t, const Program *p)
{
    Text list = text_new(cx);
    Prototypes all = { cx, &list, map_new(cx->arena) };
    for (int i = 0; i < p->function_count; i++) code_rewrite(cx, p->function[i]->body, declare, &all);
    if (!list.length) return;
    text_printf(t, "/* C functions from outside, which layers call */\n%s\n", text_string(&list));
}
