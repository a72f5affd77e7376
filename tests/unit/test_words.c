/* SPDX-License-Identifier: MIT */
/* The name suggested for a misspelt one: within two edits (one, for words below five letters), exchanged
 * neighbours being one. */
#include <string.h>

#include "check.h"
#include "loopwright.h"

static bool suggests(lw_context *cx, const char *word, const char *wanted)
{
    static const char *const known[] = { "Cos", "Conv", "reduce_mean", "softmax", "sigmoid", "report", "x" };
    const char *near = lw_nearest(cx, word, known, sizeof known / sizeof known[0]);
    return wanted ? near && strcmp(near, wanted) == 0 : !near;
}

int main(void)
{
    lw_context *cx = lw_new();
    CHECK("a-letter-too-much", suggests(cx, "Convv", "Conv"));
    CHECK("a-letter-too-few", suggests(cx, "softmx", "softmax"));
    CHECK("another-letter-and-the-first-of-equals", suggests(cx, "Cot", "Cos"));
    CHECK("exchanged-neighbours-of-a-short-word", suggests(cx, "Cnov", "Conv"));
    CHECK("exchanged-neighbours-twice", suggests(cx, "erpotr", "report"));
    CHECK("two-edits", suggests(cx, "sofmaxx", "softmax"));
    CHECK("three-edits-are-none", suggests(cx, "sofmxaxx", NULL));
    CHECK("two-edits-of-three-letters-are-none", suggests(cx, "Foo", NULL));
    CHECK("one-letter-is-like-no-other", suggests(cx, "y", NULL));
    CHECK("the-word-itself", suggests(cx, "sigmoid", "sigmoid"));
    lw_free(cx);
    return check_done();
}
