/* SPDX-License-Identifier: MIT */
/* A refusal is a value: no code branches on its sentence. If several groups form one nest, each stage has its group,
 * whatever the groups' names. */
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "driver/driver.h"
#include "ir/check/check.h"
#include "schedule/schedule.h"
#include "support/text.h"

static const char two_layers[] =
    "input a_conv2d: f32[1][16][16][4]\n"
    "input k: f32[3][3][4][4]\n"
    "a = conv2d(a_conv2d, k, pad=1,1,1,1)\n"
    "a_2 = max_pool2d(a, kernel=2,2, stride=2,2)\n"
    "output a_2\n";

static const Nest *combined(Ctx *cx, Build *b)
{
    static const lw_options options = { .name = "net", .combine = "all" };
    bool ok = build_read_text(b, cx, "net.te", two_layers, false, &options) && build_graph(b) && build_nests(b);
    return ok ? b->scheduled.nest[0] : NULL;
}

static void test_parts(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    const Nest *n = combined(cx, &b);
    bool unique = true, known = true;
    for (int i = 0; n && i < n->stage_count; i++) {
        const Stage *s = n->stage[i];
        const char *rest = s->part ? s->name + strlen(s->part) : "";
        known = known && (text_equal(s->part, "a") || text_equal(s->part, "a_2")) && *rest == '_';
        known = known && (strstr(s->name, "max_pool2d") != NULL) <= text_equal(s->part, "a_2");
        for (int j = 0; j < n->input_count; j++) unique = unique && !text_equal(n->input[j]->name, s->name);
        for (int j = 0; j < i; j++) unique = unique && !text_equal(n->stage[j]->name, s->name);
    }
    check_that(n != NULL, "two groups become one nest", "%s", cx->diags ? diag_text(cx, cx->diags) : "");
    check_that(unique, "no stage of one group has the name of another's stage or input", "");
    check_that(known, "stages know the group that they come from", "");
    ctx_free(cx);
}

typedef struct Refused { const char *step; Verdict verdict; FaultKind kind; const char *primitive, *loop; } Refused;

static const Refused refused[] = {
    { "vectorize c.k",              WRONG,     FAULT_REDUCTION, "vectorize",    "c.k" },
    { "reorder c.i c.i",            INVALID,   FAULT_VALUE,     "reorder",      "c.i" },
    { "split c.nothing 4",          INVALID,   FAULT_NAME,      "split",        "c.nothing" },
    { "fuse c.i c.k",               UNPROVED,  FAULT_NESTING,     "fuse",         "c.i" },
    { "unroll c.i by=5000",         TOO_LARGE, FAULT_LIMIT,     "unroll",       "c.i" },
    { "vectorize c.k reassociate contract", INVALID, FAULT_VALUE, "vectorize",  "c.k" },
    { "split c.i",                  INVALID,   FAULT_VALUE,     "split",        NULL },
    { "spilt c.i 4",                INVALID,   FAULT_NAME,      NULL,           NULL },
};

static void test_values(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Build b;
    static const lw_options options = { .name = "net" };
    const char *text = "input a: f32[8][6]\ninput b: f32[6][16]\nc[i, j] = sum(k) a[i, k] * b[k, j]\noutput c\n";
    bool ok = build_read_text(&b, cx, "net.te", text, true, &options) && build_graph(&b) && build_nests(&b);
    check_that(ok, "the nest is there", "%s", cx->diags ? diag_text(cx, cx->diags) : "");
    for (size_t i = 0; ok && i < sizeof refused / sizeof refused[0]; i++) {
        const Refused *r = &refused[i];
        DiagMark mark = diag_mark(cx);
        sched_step(cx, b.scheduled.nest[0], r->step);
        const Diag *d = diag_rewind(cx, mark);
        const Refusal *found = d ? d->refusal : NULL;
        bool same = found && found->verdict == r->verdict && found->kind == r->kind &&
                    text_equal(found->primitive, r->primitive);
        if (same && r->loop) same = found->operands && text_equal(found->operands->loop[0], r->loop);
        check_that(same, text_format(cx, "%s is refused by value", r->step), "%s, kind %d", d ? d->what : "accepted",
                   found ? (int)found->kind : -1);
    }
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(test_values, test_parts);
    return check_done();
}
