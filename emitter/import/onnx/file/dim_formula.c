/* SPDX-License-Identifier: MIT */
/* Evaluates while parsing, by recursive descent: a sum of products of atoms. An unknown name, an unexpected character,
 * a negative result or excessive depth makes the whole formula -1. Therefore a dimension name that contains an operator
 * sign is read as a formula only if all of its parts have sizes. */
#include "import/onnx/file/dim_formula.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "ir/algebra/algebra.h"

enum { MOST_DEPTH = 32, MOST_DIGITS = 18 };

typedef struct FormulaCursor {
    const char *at;
    DimLookup *lookup;
    void *context;
    int depth;
    bool is_bad;
} FormulaCursor;

static int64_t read_sum(FormulaCursor *r);

static int64_t bad(FormulaCursor *r)
{
    r->is_bad = true;
    return 0;
}

static bool take(FormulaCursor *r, const char *sign)
{
    while (*r->at == ' ') r->at++;
    if (strncmp(r->at, sign, strlen(sign)) != 0) return false;
    r->at += strlen(sign);
    return true;
}

static int64_t read_number(FormulaCursor *r)
{
    int64_t n = 0;
    for (int digits = 0; isdigit((unsigned char)*r->at); digits++) {
        if (digits == MOST_DIGITS) return bad(r);
        n = n * 10 + (*r->at++ - '0');
    }
    return n;
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static int64_t read_atom(FormulaCursor *r)
{
    if (take(r, "(")) {
        if (++r->depth > MOST_DEPTH) return bad(r);
        const int64_t n = read_sum(r);
        r->depth--;
        return take(r, ")") ? n : bad(r);
    }
    if (isdigit((unsigned char)*r->at)) return read_number(r);
    const char *begin = r->at;
    while (is_of_name(*r->at)) r->at++;
    const int64_t size = r->at > begin ? r->lookup(r->context, begin, (int)(r->at - begin)) : -1;
    return size < 0 ? bad(r) : size;
}

static int64_t read_product(FormulaCursor *r)
{
    int64_t n = read_atom(r);
    while (!r->is_bad) {
        if (take(r, "//")) {
            const int64_t by = read_atom(r);
            n = by > 0 && n >= 0 ? n / by : bad(r);
        } else if (take(r, "*")) {
            n = sat_mul(n, read_atom(r));
        } else break;
    }
    return n;
}

static int64_t read_sum(FormulaCursor *r)
{
    int64_t n = read_product(r);
    while (!r->is_bad) {
        if (take(r, "+")) n = sat_add(n, read_product(r));
        else if (take(r, "-")) n = sat_add(n, sat_mul(read_product(r), -1));
        else break;
    }
    return n;
}

int64_t dim_formula(const char *text, DimLookup *lookup, void *context)
{
    FormulaCursor r = { .at = text, .lookup = lookup, .context = context };
    const int64_t n = read_sum(&r);
    while (*r.at == ' ') r.at++;
    return r.is_bad || *r.at || n < 0 ? -1 : n;
}
