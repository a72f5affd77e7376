/* SPDX-License-Identifier: MIT */
/* Prints the report for programs: JSON with all figures, and CSV with a row for each layer. The figures are the same as
 * in the text. */
#include "api/computation/arguments.h"
#include "api/computation/boards.h"
#include "api/report/columns.h"
#include "api/report/footprint.h"
#include "api/report/json.h"
#include "api/run.h"
#include "api/traffic.h"
#include "ir/algebra/algebra.h"

#include "support/guard.h"

/* ---- Layers ------------------------------------------------------------------------------------------------------ */

/* Prints the count, or `otherwise` if the count is unknown. */
static void add_known(Text *t, int64_t n, const char *otherwise)
{
    if (n < 0) text_add(t, otherwise);
    else text_printf(t, "%lld", (long long)n);
}

static void add_milliseconds(Text *t, Ctx *cx, int64_t microseconds, const char *otherwise)
{
    text_add(t, microseconds < 0 ? otherwise : report_milliseconds(cx, microseconds));
}

static void json_moved(Text *t, const Traffic *moved)
{
    text_printf(t, "\"read\": %lld, \"written\": %lld", (long long)moved->read, (long long)moved->written);
}

static void json_layers(const JsonReport *r, Text *t)
{
    bool is_first = true;
    columns_list(t);
    text_add(t, "  \"layers\": [\n");
    for (Build *b = r->whole; b; b = b->next)
        for (int i = 0; i < b->groups.count; i++, is_first = false) {
            text_add(t, is_first ? "    {" : ",\n    {");
            columns_json(b, i, t);
            json_layer_facts(r, b, i, t);
            json_traffic(r, b, i, t);
            text_char(t, '}');
        }
    text_add(t, "\n  ]\n");
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

/* Prints the inputs or outputs; `source` returns the layer that computes port i, or is NULL for inputs. */
static void json_ports(const Build *b, Text *t, const char *key, const Port *port, int count,
                       int (*source)(const Build *b, int i))
{
    Ctx *cx = b->cx;
    text_printf(t, "  \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        const Tensor *x = port[i].tensor;
        text_add(t, i ? ", {" : "{");
        json_key(t, "name", port[i].name);
        text_add(t, ", ");
        json_key(t, "file_name", x->name);
        text_add(t, ", ");
        json_key(t, "type", dtype_info(x->type)->spelling);
        text_add(t, ", ");
        json_shape(cx, t, x);
        text_printf(t, ", \"bytes\": %lld", (long long)tensor_most_bytes(cx, x));
        json_scale(t, x);
        if (source) {
            text_add(t, ", \"layer\": ");
            add_known(t, source(b, i), "null");
        }
        text_char(t, '}');
    }
    text_add(t, "],\n");
}

static int output_layer(const Build *b, int i)
{
    return build_producer(b, b->graph.output[run_output_number(b, i)]);
}

static void json_number(Text *t, const char *key, int64_t n)
{
    text_printf(t, "    \"%s\": %lld,\n", key, (long long)n);
}

/* Figures that require a compiler are null if none is given. */
static void json_measured(Text *t, const char *key, int64_t n, bool is_known)
{
    if (is_known) json_number(t, key, n);
    else text_printf(t, "    \"%s\": null,\n", key);
}

/* Prints the traffic of the model's graph by kind of memory. */
static void json_all_traffic(const Build *b, Text *t)
{
    Traffic sum[TRAFFIC_KINDS];
    report_sum_traffic(b, sum);
    text_add(t, "    \"traffic\": {");
    for (int k = 0; k < TRAFFIC_KINDS; k++) {
        text_printf(t, "%s\"%s\": {", k ? ", " : "", traffic_kind_names[k]);
        json_moved(t, &sum[k]);
        text_char(t, '}');
    }
    text_add(t, "},\n");
}

static void json_totals(Build *b, const Footprint *f, Text *t)
{
    const Totals all = report_totals(b);
    text_add(t, "  \"totals\": {\n");
    json_number(t, "multiply_adds", all.macs);
    json_measured(t, "instructions", all.instructions, all.instructions >= 0);
    json_measured(t, "cycles", all.cycles, all.cycles >= 0);
    text_add(t, "    \"milliseconds\": ");
    add_milliseconds(t, b->cx, report_microseconds(b, all.cycles), "null");
    text_add(t, ",\n");
    json_number(t, "arena", all.arena);
    json_number(t, "inputs", all.inputs);
    json_number(t, "outputs", all.outputs);
    json_number(t, "state", all.state);
    if (b->step) {
        json_number(t, "params", all.params);
        json_number(t, "targets", all.targets);
    }
    json_number(t, "live_set_bound", b->plan.live_bound);
    json_number(t, "least_arena", b->plan.least);
    json_number(t, "weights", all.weights);
    json_measured(t, "estimated_stack", report_stack(b), report_stack(b) >= 0);
    json_measured(t, "code", f->code, f->has_code);
    json_measured(t, "stack", f->stack, f->has_stack);
    json_measured(t, "library_data", f->data - f->copied, f->has_code);
    json_measured(t, "constants_in_ram", f->copied, f->has_code);
    json_number(t, "flash", f->flash);
    json_all_traffic(b, t);
    text_printf(t, "    \"ram\": %lld\n  },\n", (long long)f->ram);
}

/* Prints the totals that a runner measured; the other totals are estimates. */
static void json_runner(const Build *b, Text *t)
{
    const Measured *m = b->measured;
    text_printf(t, "  \"stepped\": %s,\n", m && m->is_stepped ? "true" : "false");
    if (!m || m->is_stepped) {
        text_add(t, "  \"measured\": null,\n");
        return;
    }
    text_add(t, "  \"measured\": {");
    json_key(t, "runner", b->options->runner);
    text_add(t, ", \"instructions\": ");
    add_known(t, m->instructions.total, "null");
    text_add(t, ", \"cycles\": ");
    add_known(t, m->cycles.total, "null");
    text_add(t, "},\n");
}

/* Prints the memories of --memory; prints nothing without the option. */
static void json_memories(const Build *b, Text *t)
{
    const MemoryUse *m;
    const int count = report_memories(b, &m);
    text_add(t, "  \"memories\": [");
    for (int i = 0; i < count; i++) {
        text_add(t, i ? ", {" : "{");
        json_key(t, "name", m[i].name);
        text_printf(t, ", \"rom\": %s, \"capacity\": %lld, \"used\": %lld, \"live_set_bound\": %lld, ",
                    m[i].is_rom ? "true" : "false", (long long)m[i].capacity, (long long)m[i].used,
                    (long long)m[i].live_bound);
        json_moved(t, &m[i].moved);
        text_printf(t, ", \"cost\": %lld.%03d}", (long long)(m[i].cost / 1000), (int)(m[i].cost % 1000));
    }
    text_add(t, "],\n");
}

static void json_outside(const Build *b, Text *t)
{
    const Outside *x;
    const int count = report_outside(b, &x);
    text_add(t, "  \"outside\": [");
    for (int i = 0; i < count; i++) {
        text_add(t, i ? ", {" : "{");
        json_key(t, "name", x[i].name);
        text_add(t, ", ");
        json_key(t, "memory", x[i].memory);
        text_add(t, ", ");
        json_key(t, "into", x[i].into);
        text_printf(t, ", \"bytes\": %lld, \"missing\": %lld, \"saved\": %lld.%03d}", (long long)x[i].bytes,
                    (long long)(x[i].missing > 0 ? x[i].missing : 0), (long long)(x[i].saved / 1000),
                    (int)(x[i].saved % 1000));
    }
    text_add(t, "],\n");
}

static void json_board(const JsonReport *r, int i, Text *t)
{
    enum { KILO = 1024 };
    int count;
    const Board *board = &board_rows(&count)[i];
    (void)r;
    json_key(t, "name", board->name);
    text_add(t, ", ");
    json_key(t, "chip", board->chip);
    text_add(t, ", ");
    json_key(t, "target", board->target);
    text_printf(t, ", \"flash\": %d, \"ram\": %d, \"mhz\": %.0f", KILO * board->flash, KILO * board->ram,
                board->mhz);
}

/* Prints the board of --board, and all boards: the page compares the totals with each. */
static void json_boards(const JsonReport *r, Text *t)
{
    int count;
    board_rows(&count);
    text_add(t, "  \"board\": ");
    if (r->whole->options->board) json_text(t, r->whole->options->board);
    else text_add(t, "null");
    text_add(t, ",\n");
    json_list(r, t, "boards", count, json_board);
}

void json_report(Build *b, const Footprint *f, const char *against, Text *t)
{
    JsonReport r = { b, report_buffers(b), report_functions(b), 0, NULL };
    r.removed_count = report_removed(b, &r.removed);
    text_add(t, "{\n  ");
    json_key(t, "model", b->program.source);
    text_add(t, ",\n  ");
    json_key(t, "sha256", b->program.digest);
    text_add(t, ",\n  ");
    json_key(t, "target", b->target->name);
    text_add(t, ",\n  ");
    if (f->command) {
        json_key(t, "compiler", f->command);
        text_add(t, ",\n");
    } else text_add(t, "\"compiler\": null,\n");
    json_runner(b, t);
    json_ports(b, t, "inputs", b->program.input, b->program.input_count, NULL);
    json_ports(b, t, "outputs", b->program.output, b->program.output_count, output_layer);
    json_totals(b, f, t);
    json_memories(b, t);
    json_outside(b, t);
    footprint_json(b, f, t);
    json_boards(&r, t);
    json_structure(&r, t);
    text_printf(t, "  \"against\": %s,\n", against ? against : "null");
    json_layers(&r, t);
    text_add(t, "}\n");
}

static void csv(Build *b, const Footprint *f, const char *against, Text *t)
{
    (void)f;
    if (against) diag_usage(b->cx, NULL, "--against has no effect on a report as .csv; use .txt, .html or .json");
    columns_csv(b, t);
}

const char *report_as(Ctx *cx, const char *function, const char *model, const lw_options *o, ReportPrint *print)
{
    Build b;
    Footprint f;
    Text t = text_new(cx);
    o = options_of(cx, function, o);
    if (!o || !is_given(cx, function, "the model", model) || !footprint_is_limit(cx, o)) return NULL;
    if (!build_read(&b, cx, model, o) || !build_graph(&b) || !build_nests(&b) || !build_program(&b)) return NULL;
    if (!footprint_of(&b, model, &f)) return NULL;
    print(&b, &f, against_read(cx, o), &t);
    return footprint_fits(&b, &f) ? text_string(&t) : NULL;
}

const char *lw_report_json(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_as(cx, "lw_report_json", model, o, json_report));
}

const char *lw_report_csv(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_as(cx, "lw_report_csv", model, o, csv));
}
