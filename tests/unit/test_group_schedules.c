/* SPDX-License-Identifier: MIT */
/* Schedules of groups from C: schedule_text with the text that lw_dump prints at `scheduled` emits the same file, for
 * versions of open sizes, for another compute, for groups on a device and inside a loop. Rows of both options. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "loopwright.h"

static bool in_fours(lw_context *cx, lw_group *g)
{
    (void)cx;
    return lw_step(g, "split dense.k 4") && lw_step(g, "unroll dense.ki");
}

static bool turned(lw_context *cx, lw_group *g)
{
    (void)cx;
    return lw_step(g, "reorder dense.o dense.n");
}

static const lw_implementation rows[] = {
    { .name = "mine.fours", .plevel = 90, .when = "dim(x, 1) % 4 == 0", .schedule = in_fours },
    { .name = "mine.small", .plevel = 80, .when = "dim(x, 1) < 7",
      .compute = "t[n, o] = sum(k) x[n, k] * w[k, o]; y[n, o] = t[n, o]" },
    { .name = "mine.last", .plevel = 70, .schedule = turned },
};

static int row_count;          /* of `rows`, those that are registered */

static const char open_net[] =
    "size k in 1..16\ninput x: f32[2][k]\ninput w: f32[k][3]\ny = dense(x, w)\nz = relu(y)\noutput z\n";
static const char device_net[] =
    "input x: f32[4][8]\ninput w: f32[8][8]\ny = dense(x, w)\nz = relu(y)\nv = softmax(z)\noutput v\n";

enum { LONGEST = 200000 };

/* The file's text, or "" if it cannot be read. */
static const char *contents(const char *path, char *buffer)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(buffer, 1, LONGEST - 1, f) : 0;
    if (f) fclose(f);
    buffer[n] = 0;
    return buffer;
}

static const char *first_error(lw_context *cx)
{
    bool is_error = false;
    const char *text;
    for (int i = 0; (text = lw_diagnostic(cx, i, &is_error)) != NULL; i++)
        if (is_error) return text;
    return "";
}

/* Emits the model with the options into buffer; *said receives the first error. */
static bool emits(const char *model, const lw_options *o, char *buffer, char *said)
{
    lw_context *cx = lw_new();
    if (row_count) lw_register_strategy(cx, "dense", "generic", rows, row_count);
    const bool ok = lw_compile(cx, model, "group-schedules.tmp.c", o);
    snprintf(said, 500, "%s", first_error(cx));
    lw_free(cx);
    contents("group-schedules.tmp.c", buffer);
    remove("group-schedules.tmp.c");
    remove("group-schedules.tmp.h");
    return ok;
}

static bool dumps(const char *model, const lw_options *o, char *buffer)
{
    lw_context *cx = lw_new();
    if (row_count) lw_register_strategy(cx, "dense", "generic", rows, row_count);
    lw_options at = *o;
    at.at = "scheduled";
    const char *text = lw_dump(cx, model, &at);
    snprintf(buffer, LONGEST, "%s", text ? text : "");
    lw_free(cx);
    return text != NULL;
}

static char first[LONGEST], second[LONGEST], blocks[LONGEST], said[500];

/* Leaves the blocks in `blocks`. */
static void replays(const char *label, const char *model, const lw_options *o)
{
    lw_options again = *o;
    again.schedule_text = blocks;
    const bool ok = emits(model, o, first, said) && dumps(model, o, blocks) && emits(model, &again, second, said);
    const char *a = first, *b = second;
    while (*a && *a == *b) a++, b++;
    check_that(ok && *first && !*a && !*b, label, "%s\n%.200s\n---- and not\n%.200s", said, b, a);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

static void versions(void)
{
    const lw_options o = { .name = "net" };
    write_text("group-schedules.tmp.te", open_net);
    replays("three-versions-replay", "group-schedules.tmp.te", &o);
    check_that(strstr(blocks, "for y on generic when k % 4 == 0:\n  split dense.k 4\n  unroll dense.ki\n"
                              "otherwise when k < 7 with mine.small:\notherwise:\n  reorder dense.o dense.n\n") != NULL,
               "versions-are-printed-in-their-order", "%s", blocks);
    check_that(strstr(first, "mine.fours") != NULL, "versions-keep-the-names-of-their-rows", "%s", first);
    remove("group-schedules.tmp.te");
}

static void one_text(const char *label, const char *text, const lw_options *o, const char *wanted)
{
    lw_options with = *o;
    with.schedule_text = text;
    write_text("group-schedules.tmp.te", open_net);
    const bool ok = emits("group-schedules.tmp.te", &with, first, said);
    check_that(*wanted ? !ok && strstr(said, wanted) : ok, label, "%s", said);
    remove("group-schedules.tmp.te");
}

static void texts(void)
{
    const lw_options o = { .name = "net" };
    one_text("a-version-by-sizes",
             "for y on generic when k == 8:\n  split dense.k 8\notherwise when k == 4 || k == 2:\n  unroll dense.o\n"
             "otherwise by mine.last:\n", &o, "");
    one_text("a-condition-of-unknown-sizes", "for y on generic when m == 8:\notherwise:\n", &o,
             "schedule_text: 1:1: error: the condition 'm == 8' cannot be read");
    one_text("a-refused-step-of-a-version", "for y on generic when k == 8:\notherwise:\n  split dense.z 2\n", &o,
             "schedule_text: 3:3: error: split dense.z 2: invalid");
    one_text("a-compute-before-its-steps", "for y on generic with mine.small:\n  unroll dense_t.o\n", &o, "");
    one_text("a-row-of-another-operator", "for z on generic by mine.last:\n", &o, "there is no group 'z'");
}

static void a_computation(void)
{
    const lw_options o = { .schedule_text = "for y on generic:\n  split y.i 4\n" },
                     wrong = { .schedule_text = "for z on generic:\n" };
    lw_context *cx = lw_new();
    lw_computation *p = lw_define(cx, "net", NULL);
    lw_input(p, "x: f32[8][4]");
    lw_compute(p, "y[i, j] = x[i, j] * 2.0");
    lw_output(p, "y");
    const bool ok = lw_emit(p, "group-schedules.tmp.c", &o);
    contents("group-schedules.tmp.c", first);
    check_that(ok && strstr(first, "split y.i 4"), "a-computation-takes-a-block", "%s\n%s", first_error(cx), first);
    const bool refused = !lw_emit(p, "group-schedules.tmp.c", &wrong);
    check_that(refused && strstr(first_error(cx), "schedule_text: 1:1: error: there is no group 'z'"),
               "a-computation-refuses-a-block-of-no-group", "%s", first_error(cx));
    lw_free(cx);
    remove("group-schedules.tmp.c");
    remove("group-schedules.tmp.h");
}

static void groups_of_all_kinds(void)
{
    const lw_options o = { .name = "net", .annotate = "group-schedules.tmp.txt" },
                     small = { .name = "net", .target = "cortex-m4" };
    write_text("group-schedules.tmp.te", device_net);
    write_text(o.annotate, "on_device npu y\n");
    replays("groups-on-a-device-replay", "group-schedules.tmp.te", &o);
    CHECK("a-group-is-on-the-device", strstr(first, "net_npu_1"));
    remove(o.annotate);
    remove("group-schedules.tmp.te");
    replays("groups-inside-of-regions-replay", "tests/models/control.onnx", &small);
    replays("a-recurrent-layer-replays", "tests/models/recurrent.onnx", &small);
}

int main(void)
{
    row_count = 3;
    CHECK_RUN(versions, texts);
    row_count = 0;
    CHECK_RUN(a_computation, groups_of_all_kinds);
    return check_done();
}
