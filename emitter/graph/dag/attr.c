/* SPDX-License-Identifier: MIT */
/* Makes, checks and reads attributes of calls. C code builds them as values; their text form, in .te files, is
 * name=value. */

/* Decision: attributes are values. C code builds them, `call(cx, "slice", name, in, 1, ATTRS(attr_list("axes", d),
 * ...))` (`graph/dag/attr.c`); a kind other than the row's is an internal error. The text form of attributes,
 * `stride=2,2 axis=1`, is also the form of `.te` files, annotations and the rows' defaults and cases. */
#include "graph/dag/op.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* ---- Values ----------------------------------------------------------------------------------------------------- */

Attr attr_int(const char *attr_name, int64_t v)
{
    return (Attr){ .name = attr_name, .kind = ATTR_INT, .count = 1, .integer = v };
}

Attr attr_flag(const char *attr_name, bool v) { return attr_int(attr_name, v); }

Attr attr_real(const char *attr_name, double v)
{
    return (Attr){ .name = attr_name, .kind = ATTR_REAL, .count = 1, .real = v };
}

Attr attr_word(const char *attr_name, const char *word)
{
    return (Attr){ .name = attr_name, .kind = ATTR_TEXT, .text = word };
}

Attr attr_type(const char *attr_name, DType t) { return attr_word(attr_name, dtype_info(t)->spelling); }

Attr attr_tensor(const char *attr_name, const Tensor *t)
{
    return (Attr){ .name = attr_name, .kind = ATTR_TENSOR, .tensor = t };
}

Attr attr_like(Ctx *cx, const char *tensor_name, DType t, int rank, const Expr *const *shape)
{
    return attr_tensor("like", tensor_new(cx, tensor_name, t, rank, shape));
}

Attr attr_ints(const char *attr_name, const int64_t *v, int count)
{
    return (Attr){ .name = attr_name, .kind = ATTR_INTS, .count = count, .ints = v };
}

Attr attr_reals(const char *attr_name, const double *v, int count)
{
    return (Attr){ .name = attr_name, .kind = ATTR_REALS, .count = count, .reals = v };
}

Attr attr_if(bool is_given, Attr a)
{
    if (!is_given) a.name = "";
    return a;
}

/* Returns true if the text form can hold the integer. */
#define ATTR_MOST (INT64_MAX - 8)
static bool is_readable(int64_t v) { return v >= -ATTR_MOST && v <= ATTR_MOST; }

/* Refuses a value that has no text form, because a printed graph must read back. */
static void check_value(Ctx *cx, const Op *op, const Attr *a)
{
    bool well = a->kind == ATTR_INT ? is_readable(a->integer) : a->kind != ATTR_REAL || a->real == a->real;
    for (int i = 0; well && i < a->count; i++)
        well = a->kind == ATTR_INTS ? is_readable(a->ints[i]) : a->kind != ATTR_REALS || a->reals[i] == a->reals[i];
    if (!well)
        diag_error(cx, op->name, "attribute '%s' is \"%s\", which cannot be printed and read back; use %s", a->name,
                   attr_text(cx, a), a->kind == ATTR_INT || a->kind == ATTR_INTS ? "integers from 9 - 2^63 to 2^63 - 9"
                   : "numbers other than NaN");
}

const Attr *attrs_of_call(Ctx *cx, const Op *op, const Attr *given, int *count)
{
    int length = 0;
    while (given && given[length].name) length++;
    Attr *own = NEW_ARRAY(cx->arena, Attr, length + 1);
    *count = 0;
    for (int i = 0; i < length; i++) {
        Attr a = given[i];
        if (!*a.name) continue;
        const AttrRow *row = op_attr_row(op, a.name);
        if (row && row->kind != a.kind)
            diag_internal(cx, op->name, "attribute '%s' has another kind", a.name);
        else if (row) check_value(cx, op, &a);
        const size_t n = (size_t)a.count;
        if (a.kind == ATTR_INTS) a.ints = arena_copy(cx->arena, a.ints, n * sizeof *a.ints);
        if (a.kind == ATTR_REALS) a.reals = arena_copy(cx->arena, a.reals, n * sizeof *a.reals);
        own[(*count)++] = a;
    }
    return own;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

const AttrRow *op_attr_row(const Op *op, const char *attr_name)
{
    for (const AttrRow *r = op->attr; r && r->name; r++)
        if (strcmp(r->name, attr_name) == 0) return r;
    return NULL;
}

void op_refuse_attr(Ctx *cx, const Op *op, const char *attr_name)
{
    const char *known[32];
    size_t count = 0;
    for (const AttrRow *r = op->attr; r && r->name && count < 32; r++) known[count++] = r->name;
    diag_error(cx, op->name, "there is no attribute '%s'%s", attr_name, text_hint(cx, attr_name, known, count, ""));
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Reads a decimal integer with an optional sign. Sets *end after the integer, or to s if there is no integer or it
 * overflows. */
static int64_t read_integer(const char *s, const char **end)
{
    const char *p = s + (*s == '-');
    uint64_t v = 0;
    *end = s;
    if (*p < '0' || *p > '9') return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (v > (uint64_t)INT64_MAX / 10 - 1) return 0;      /* refuses integers above ATTR_MOST */
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *end = p;
    return *s == '-' ? -(int64_t)v : (int64_t)v;
}

static double read_real(const char *s, const char **end)
{
    if (strncmp(s, "inf", 3) == 0 || strncmp(s, "-inf", 4) == 0) {
        *end = s + (*s == '-' ? 4 : 3);
        return *s == '-' ? -1.0 / 0.0 : 1.0 / 0.0;
    }
    return text_read_double(s, end);
}

static int list_length(const char *value)
{
    int n = *value != '\0';
    for (; *value; value++) n += *value == ',';
    return n;
}

static bool read_list(Ctx *cx, const char *value, Attr *a)
{
    int count = list_length(value);
    int64_t *ints = NEW_ARRAY(cx->arena, int64_t, count);
    double *reals = NEW_ARRAY(cx->arena, double, count);
    const char *at = value, *end = value;
    for (int i = 0; i < count; i++, at = end + 1) {
        if (a->kind == ATTR_INTS || a->kind == ATTR_INT) ints[i] = read_integer(at, &end);
        else reals[i] = read_real(at, &end);
        if (end == at || *end != (i + 1 < count ? ',' : '\0')) return false;
    }
    a->count = count;
    a->ints = ints;
    a->reals = reals;
    if (a->kind == ATTR_INTS || a->kind == ATTR_REALS) return true;
    if (count != 1) return false;
    a->integer = ints[0];
    a->real = reals[0];
    return true;
}

/* The accepted texts of attributes of each kind. */
static const char *const attr_forms[] = {
    [ATTR_INT] = "an integer", [ATTR_INTS] = "integers with commas between them", [ATTR_REAL] = "a number",
    [ATTR_REALS] = "numbers with commas between them", [ATTR_TEXT] = "a word",
    [ATTR_TENSOR] = "an attribute of numbers or words, because a tensor has no text"
};

Attr attr_from_text(Ctx *cx, const Op *op, const AttrRow *row, const char *value)
{
    Attr a = { .name = row->name, .kind = row->kind, .text = value };
    bool well = row->kind == ATTR_TEXT || (row->kind != ATTR_TENSOR && read_list(cx, value, &a));
    if (!well)
        diag_error(cx, op->name, "attribute '%s' is \"%s\"; use %s", row->name, value, attr_forms[row->kind]);
    return a;
}

const Attr *attrs_read(Ctx *cx, const Op *op, const char *text, int *count)
{
    int capacity = 1;
    for (const char *p = text; *p; p++) capacity += *p == '=';
    Attr *attrs = NEW_ARRAY(cx->arena, Attr, capacity);
    *count = 0;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        size_t word = strcspn(p, " "), left = strcspn(p, "=");
        if (left >= word) {
            diag_error(cx, op->name, "'%s' is not an attribute; write NAME=VALUE", name_n(cx, p, word));
            return attrs;
        }
        const AttrRow *row = op_attr_row(op, name_n(cx, p, left));
        const char *value = name_n(cx, p + left + 1, word - left - 1);
        if (row) attrs[(*count)++] = attr_from_text(cx, op, row, value);
        else if (op->accepts_any_attr)
            attrs[(*count)++] = (Attr){ .name = name_n(cx, p, left), .kind = ATTR_TEXT, .text = value };
        else op_refuse_attr(cx, op, name_n(cx, p, left));
        p += word;
    }
    return attrs;
}

const char *ints_text(Ctx *cx, const int64_t *v, int count)
{
    Text t = text_new(cx);
    for (int i = 0; i < count; i++) text_printf(&t, "%s%lld", i ? "," : "", (long long)v[i]);
    return text_string(&t);
}

const char *attr_text(Ctx *cx, const Attr *a)
{
    Text t = text_new(cx);
    switch (a->kind) {
    case ATTR_INT: text_printf(&t, "%lld", (long long)a->integer); break;
    case ATTR_REAL: text_double(&t, a->real); break;
    case ATTR_TEXT: text_add(&t, a->text); break;
    case ATTR_TENSOR: text_add(&t, a->tensor->name); break;
    case ATTR_INTS: text_add(&t, ints_text(cx, a->ints, a->count)); break;
    case ATTR_REALS:
        for (int i = 0; i < a->count; i++) {
            if (i) text_char(&t, ',');
            text_double(&t, a->reals[i]);
        }
        break;
    }
    return text_string(&t);
}
