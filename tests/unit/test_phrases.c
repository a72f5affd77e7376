/* SPDX-License-Identifier: MIT */
/* Phrases in the formulas of operators: names that stand for text. */
#include "graphs.h"

#include "graph/dag/op_formula.h"

static void reads(const char *label, const char *found, const char *expected)
{
    check_that(strcmp(found, expected) == 0, label, "%s instead of %s", found, expected);
}

int main(void)
{
    Net n = net_new(1);
    Ctx *cx = n.cx;
    reads("lists-types-and-numbers-are-replaced",
          OP_TEXT(cx, "y[all] = type(x[all]) * by", { "all", "n,c" }, { "type", "f64" }, { "by", op_number(cx, -3) }),
          "y[n,c] = f64(x[n,c]) * -3");
    reads("longer-names-and-numbers-stay", OP_TEXT(cx, "at2 + at_b + 1at + at", { "at", "i" }), "at2 + at_b + 1at + i");
    reads("later-phrase-uses-earlier-ones", OP_TEXT(cx, "twice", { "v", "x[n]" }, { "twice", "(v + v)" }),
          "(x[n] + x[n])");
    reads("phrase-does-not-use-itself-or-later-ones", OP_TEXT(cx, "a b", { "a", "a b" }, { "b", "a" }), "a b a b");
    reads("empty-list-disappears-with-its-brackets", OP_TEXT(cx, "y[kept] = x[kept]", { "kept", "" }), "y = x");
    reads("empty-element-disappears-with-the-comma-after-it", OP_TEXT(cx, "x[lead,k]", { "lead", "" }), "x[k]");
    reads("empty-element-disappears-with-the-comma-before-it", OP_TEXT(cx, "x[n,rest]", { "rest", "" }), "x[n]");
    reads("empty-phrase-outside-of-a-list-leaves-the-text", OP_TEXT(cx, "a more, b", { "more", "" }), "a , b");
    ctx_free(cx);
    return check_done();
}
