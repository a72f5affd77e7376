/* SPDX-License-Identifier: MIT */
/* Attributes built as values: each call equals the call with the attributes' text, and is refused where no text could
 * spell the value. */
#include "graphs.h"

static bool same_attr(const Attr *a, const Attr *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->kind == b->kind;
    if (!same || (a->kind != ATTR_INTS && a->kind != ATTR_REALS))
        return same && (a->kind == ATTR_TEXT ? strcmp(a->text, b->text) == 0
                        : a->kind == ATTR_INT ? a->integer == b->integer : a->real == b->real);
    same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->kind == ATTR_INTS ? a->ints[i] == b->ints[i] : a->reals[i] == b->reals[i];
    return same;
}

static bool same_attrs(const Tensor *a, const Tensor *b)
{
    if (!a || !b || a->producer->attr_count != b->producer->attr_count) return false;
    for (int i = 0; i < a->producer->attr_count; i++)
        if (!same_attr(&a->producer->attr[i], &b->producer->attr[i])) return false;
    return true;
}

static void test_values_equal_text(void)
{
    Net n = net_new(1);
    Tensor *x = net_input(&n, "x", SHAPE(4, 6));
    int64_t end[] = { 3, 5 };
    Tensor *sliced = call_on(n.cx, "slice", "s", x,
                             ATTRS(attr_list("begin", 1, 2), attr_if(false, attr_list("axes", 0)),
                                   attr_ints("end", end, 2), attr_if(true, attr_list("step", 1, 2))));
    end[0] = end[1] = 0;                                     /* the call has copied the list */
    CHECK("lists-and-skipped-attributes", same_attrs(sliced, one(&n, "slice", "s", x, "begin=1,2 end=3,5 step=1,2")));
    Tensor *clipped = call_on(n.cx, "clip", "c", x, ATTRS(attr_real("min", -INFINITY), attr_real("max", 0.1)));
    CHECK("reals-are-exact", same_attrs(clipped, one(&n, "clip", "c", x, "min=-inf max=0.1")));
    Tensor *whole = call_on(n.cx, "cast", "c", x, ATTRS(attr_type("to", I32)));
    CHECK("types-are-words", same_attrs(whole, one(&n, "cast", "c", x, "to=i32")));
    CHECK("without-attributes", same_attrs(call_on(n.cx, "softmax", "s", x, NULL), one(&n, "softmax", "s", x, "")));
    ctx_free(n.cx);
}

static const struct { const char *label, *op; Attr attr; const char *wanted; } refused[] = {
    { "not-a-number-is-refused", "clip", { "min", ATTR_REAL, .count = 1, .real = (double)NAN },
      "attribute 'min' is \"nan\"" },
    { "greatest-integer-is-refused", "softmax", { "axis", ATTR_INT, .count = 1, .integer = INT64_MAX },
      "attribute 'axis' is \"9223372036854775807\"" },
    { "list-with-the-least-integer-is-refused", "reduce_sum",
      { "axes", ATTR_INTS, .count = 2, .ints = (const int64_t[]){ 0, INT64_MIN } }, "attribute 'axes' is \"0,-9" },
    { "another-kind-is-an-internal-error", "softmax", { "axis", ATTR_REAL, .count = 1, .real = 1 },
      "attribute 'axis' has another kind" },
    { "misspelt-name-is-refused", "softmax", { "axes", ATTR_INT, .count = 1, .integer = 1 },
      "there is no attribute 'axes'" },
};

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        Net n = net_new(1);
        Tensor *y = call_on(n.cx, refused[i].op, "call", net_input(&n, "x", SHAPE(4, 6)), ATTRS(refused[i].attr));
        const Diag *d = n.cx->diags;
        check_that(!y && d && strstr(d->what, refused[i].wanted), refused[i].label, "%s",
                   d ? d->what : "it is accepted");
        ctx_free(n.cx);
    }
}

int main(void)
{
    CHECK_RUN(test_values_equal_text, test_refusals);
    return check_done();
}
