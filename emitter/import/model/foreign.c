/* SPDX-License-Identifier: MIT */
#include "import/model/foreign.h"

#include <string.h>

ForeignCall foreign_new(Ctx *cx, const char *function)
{
    return (ForeignCall){ .cx = cx, .function = function, .types = text_new(cx), .numbers = text_new(cx) };
}

void foreign_add_output(ForeignCall *f, DType type, int rank, const int64_t *dim)
{
    text_printf(&f->types, "%s%s", f->types.length ? "," : "", dtype_info(type)->spelling);
    f->shape[f->count++] = rank;
    for (int d = 0; d < rank; d++) f->shape[f->count++] = dim[d];
}

void foreign_add_number(ForeignCall *f, bool is_real, int64_t integer, double real)
{
    text_add(&f->numbers, f->numbers.length ? ", " : "");
    if (!is_real) text_printf(&f->numbers, "%lld", (long long)integer);
    else print_expr(&f->numbers, expr_real(f->cx, F32, real));
}

Tensor *foreign_call(ForeignCall *f, const char *name, Tensor *const *in, int count)
{
    return call(f->cx, "foreign_call", name, in, count,
                ATTRS(attr_word("function", f->function), attr_word("types", text_string(&f->types)),
                      attr_ints("shapes", f->shape, f->count),
                      attr_if(f->numbers.length, attr_word("numbers", text_string(&f->numbers)))));
}

const ImportExtern *import_extern(const ImportOptions *o, const char *op_name)
{
    for (int i = 0; o && i < o->extern_count; i++) {
        if (strcmp(o->externs[i].name, op_name) != 0) continue;
        if (o->is_extern_used) o->is_extern_used[i] = true;
        return &o->externs[i];
    }
    return NULL;
}
