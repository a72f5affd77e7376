/* SPDX-License-Identifier: MIT */
/* A schedule from outside that declines (returns false): a note reports it, and the next best implementation is used.
 * Also: which refusals are wrong usage. */
#include <string.h>

#include "check.h"
#include "loopwright.h"

static const char *const MODEL = "samples/digits/digits.onnx";

static bool declines(lw_context *cx, lw_group *g)
{
    (void)cx;
    lw_step(g, "split softmax.c 5");
    return false;
}

static bool as_written(lw_context *cx, lw_group *g) { (void)cx; (void)g; return true; }

static int count_notes(lw_context *cx, const char *words)
{
    int count = 0;
    bool is_error;
    const char *text;
    for (int i = 0; (text = lw_diagnostic(cx, i, &is_error)) != NULL; i++)
        count += !is_error && strstr(text, words) != NULL;
    return count;
}

static void check_next_is_taken(void)
{
    lw_context *cx = lw_new();
    const lw_implementation rows[] = {
        { .name = "mine.first", .plevel = 90, .schedule = declines },
        { .name = "mine.second", .plevel = 80, .schedule = as_written },
    };
    lw_register_strategy(cx, "softmax", "generic", rows, 2);
    const lw_options o = { .at = "strategy", .only = "softmax_1" };
    const char *text = lw_dump(cx, MODEL, &o);
    CHECK("the-next-best-is-chosen", text && strstr(text, "chosen: mine.second"));
    CHECK("the-declined-is-not-chosen", text && !strstr(text, "chosen: mine.first"));
    CHECK("the-declined-is-said", text && strstr(text, "skipped: mine.first: its function returned false"));
    CHECK("a-note-says-so-once", count_notes(cx, "\"mine.first\" does not apply, \"mine.second\" is used") == 1);
    lw_free(cx);
}

static void check_built_in_is_taken(void)
{
    lw_context *cx = lw_new();
    lw_register_schedule(cx, "softmax", NULL, 0, declines);
    const char *steps = lw_dump(cx, MODEL, &(lw_options){ .at = "scheduled", .only = "softmax_1" });
    lw_context *plain = lw_new();
    const char *built_in = lw_dump(plain, MODEL, &(lw_options){ .at = "scheduled", .only = "softmax_1" });
    CHECK("the-built-in-schedule-is-taken", steps && built_in && strcmp(steps, built_in) == 0);
    lw_free(plain);
    lw_free(cx);
}

static bool is_usage(const lw_options *o)
{
    lw_context *cx = lw_new();
    const bool refused = !lw_dump(cx, MODEL, o), usage = lw_is_wrong_usage(cx);
    lw_free(cx);
    return refused && usage;
}

static void check_usage(void)
{
    CHECK("a-target-is-usage", is_usage(&(lw_options){ .target = "cortexm4" }));
    CHECK("a-name-is-usage", is_usage(&(lw_options){ .name = "int" }));
    CHECK("a-stage-is-usage", is_usage(&(lw_options){ .at = "stage" }));
    CHECK("words-are-usage", is_usage(&(lw_options){ .qdq = "some" }) && is_usage(&(lw_options){ .rounding = "none" }));
    CHECK("a-group-is-none", !is_usage(&(lw_options){ .at = "fused", .only = "nosuch" }));
}

int main(void)
{
    CHECK_RUN(check_next_is_taken, check_built_in_is_taken, check_usage);
    return check_done();
}
