/* SPDX-License-Identifier: MIT */
/* Compares the emitted C with the interpreter (--validate) and prints the error measures of each output and, on
 * request, of each layer. */
#include <math.h>
#include <string.h>

#include "api/report/json.h"
#include "api/verify.h"

static const char *const choices[] = { "outputs", "layers" };

/* The C is built for this machine, unless a runner can run what the compiler of the report builds. */
static lw_options options_to_run(const lw_options *o)
{
    lw_options own = *o;
    own.layers = text_equal(o->validate, choices[1]);
    if (!o->runner) own.cc = own.link = NULL;
    return own;
}

const Validation *report_validate(Build *b, const char *model)
{
    const lw_options *o = b->options;
    if (!o->validate || ctx_failed(b->cx)) return NULL;
    const lw_options own = options_to_run(o);
    if (!own.layers && !text_equal(o->validate, choices[0])) {
        diag_usage(b->cx, NULL, "--validate \"%s\" is not known; use outputs or layers", o->validate);
        return NULL;
    }
    const Validation *v = validation_of(b->cx, model, &own);
    if (v && v->wrong)
        diag_verdict(b->cx, "--validate: %d of %d outputs do not agree with the interpreter; `verify` prints them",
                     v->wrong, v->count);
    return v;
}

void validation_print(const Validation *v, Text *t)
{
    if (!v) return;
    text_printf(t, "\ncompared with the interpreter, built with %s\n", v->command);
    for (int i = 0; i < v->count; i++) {
        const Validated *r = &v->row[i];
        text_printf(t, "%s%s%s: %lld of %lld elements differ%s", r->name, *r->sizes ? "," : "", r->sizes,
                    (long long)r->difference.differ, (long long)r->elements, r->difference.differ ? "; " : "");
        if (r->difference.differ) errors_print(t, &r->errors);
        if (r->difference.wrong) text_printf(t, "; %lld beyond the tolerance", (long long)r->difference.wrong);
        text_char(t, '\n');
    }
}

/* Prints n / of, or null if the divisor is 0 or the quotient is not finite. */
static void json_quotient(Text *t, const char *key, double n, double of)
{
    json_name(t, key);
    if (of > 0 && isfinite(n / of)) text_printf(t, "%.9g", n / of);
    else text_add(t, "null");
}

static void json_row(Text *t, const Validated *r)
{
    const Errors *e = &r->errors;
    json_item(t);
    json_key(t, "name", r->name);
    json_key(t, "sizes", *r->sizes ? r->sizes + 1 : "");
    json_flag(t, "is_layer", r->is_layer);
    json_number(t, "elements", r->elements);
    json_number(t, "differ", r->difference.differ);
    json_number(t, "beyond_tolerance", r->difference.wrong);
    json_quotient(t, "largest", r->difference.differ ? r->difference.worst : 0, 1);
    json_quotient(t, "rmse", sqrt(e->squares * (double)e->count), (double)e->count);
    json_quotient(t, "mae", e->absolutes, (double)e->count);
    json_quotient(t, "l2_relative", sqrt(e->squares), sqrt(e->want));
    json_quotient(t, "cosine", e->products, sqrt(e->want) * sqrt(e->got));
    text_char(t, '}');
}

void validation_json(const Validation *v, Text *t)
{
    if (!v) {
        json_line(t, "validation", NULL);
        return;
    }
    text_add(t, "  \"validation\": {");
    json_key(t, "compiler", v->command);
    json_number(t, "wrong", v->wrong);
    text_add(t, ", \"rows\": [");
    for (int i = 0; i < v->count; i++) {
        json_row(t, &v->row[i]);
    }
    text_add(t, "\n  ]},\n");
}
