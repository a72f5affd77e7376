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

static void json_moved(Text *t, const Traffic *moved)
{
    json_number(t, "read", moved->read);
    json_number(t, "written", moved->written);
}

static void json_balance(const Build *b, int group, Text *t)
{
    if (b->options->cores < 2) return;
    json_number(t, "parts", report_parts(b, group));
    json_known(t, "busiest", report_busiest(b, group));
}

static void json_layers(const JsonReport *r, Text *t)
{
    bool is_first = true;
    columns_list(t);
    text_add(t, "  \"layers\": [\n");
    for (Build *b = r->whole; b; b = b->tree.next)
        for (int i = 0; i < b->groups.count; i++, is_first = false) {
            text_add(t, is_first ? "    {" : ",\n    {");
            columns_json(b, i, t);
            json_balance(b, i, t);
            json_layer_facts(r, b, i, t);
            json_traffic(r, b, i, t);
            json_unit(b, i, t);
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
        json_item(t);
        json_key(t, "name", port[i].name);
        json_key(t, "file_name", x->name);
        json_key(t, "type", dtype_info(x->type)->spelling);
        json_shape(cx, t, x);
        json_number(t, "bytes", tensor_most_bytes(cx, x));
        json_scale(t, x);
        if (source) json_known(t, "layer", source(b, i));
        text_char(t, '}');
    }
    text_add(t, "],\n");
}

static int output_layer(const Build *b, int i)
{
    return build_producer(b, b->graph.output[run_output_number(b, i)]);
}

/* Prints a figure on a line of its own. A negative figure is unknown, such as one that requires a compiler. */
static void json_total(Text *t, const char *key, int64_t n)
{
    text_add(t, "    ");
    json_known(t, key, n);
    text_add(t, ",\n");
}

/* Prints the traffic of the model's graph by kind of memory. */
static void json_all_traffic(const Build *b, Text *t)
{
    Traffic sum[TRAFFIC_KINDS];
    report_sum_traffic(b, sum);
    text_add(t, "    \"traffic\": {");
    for (int k = 0; k < TRAFFIC_KINDS; k++) {
        json_name(t, traffic_kind_names[k]);
        text_char(t, '{');
        json_moved(t, &sum[k]);
        text_char(t, '}');
    }
    text_add(t, "},\n");
}

static int64_t total_busiest(const Build *b)
{
    int64_t sum = 0;
    for (int i = 0; i < b->groups.count; i++) sum = sat_add(sum, report_busiest(b, i));
    return sum;
}

static void json_totals(const Build *b, const Footprint *f, Text *t)
{
    const Totals all = report_totals(b);
    const int64_t time = report_microseconds(b, all.cycles);
    text_add(t, "  \"totals\": {\n");
    json_total(t, "multiply_adds", all.macs);
    json_total(t, "instructions", all.instructions);
    json_total(t, "worst_instructions", all.worst);
    if (b->options->cores > 1) {
        json_total(t, "cores", b->options->cores);
        json_total(t, "busiest", all.instructions < 0 ? -1 : total_busiest(b));
    }
    json_total(t, "cycles", all.cycles);
    text_printf(t, "    \"milliseconds\": %s,\n", time < 0 ? "null" : report_milliseconds(b->cx, time));
    json_total(t, "arena", all.arena);
    json_total(t, "inputs", all.inputs);
    json_total(t, "outputs", all.outputs);
    json_total(t, "state", all.state);
    if (b->training.step) {
        json_total(t, "params", all.params);
        json_total(t, "targets", all.targets);
    }
    json_total(t, "live_set_bound", b->plan.live_bound);
    json_total(t, "least_arena", b->plan.least);
    json_total(t, "weights", all.weights);
    json_total(t, "estimated_stack", report_stack(b));
    json_total(t, "code", f->has_code ? f->code : -1);
    json_total(t, "stack", f->has_stack ? f->stack : -1);
    json_total(t, "library_data", f->has_code ? f->data - f->copied : -1);
    json_total(t, "constants_in_ram", f->has_code ? f->copied : -1);
    json_total(t, "flash", f->flash);
    json_all_traffic(b, t);
    text_printf(t, "    \"ram\": %lld\n  },\n", (long long)f->ram);
}

/* Prints the totals that a runner measured; the other totals are estimates. */
static void json_runner(const Build *b, Text *t)
{
    const Measured *m = b->observed.measured;
    text_printf(t, "  \"stepped\": %s,\n", m && m->is_stepped ? "true" : "false");
    if (!m || m->is_stepped) {
        text_add(t, "  \"measured\": null,\n");
        return;
    }
    text_add(t, "  \"measured\": {");
    json_key(t, "runner", b->options->runner);
    json_known(t, "instructions", m->instructions.total);
    json_known(t, "cycles", m->cycles.total);
    text_add(t, "},\n");
}

/* Prints the memories of --memory; prints nothing without the option. */
static void json_memories(const Build *b, Text *t)
{
    const MemoryUse *m;
    const int count = report_memories(b, &m);
    text_add(t, "  \"memories\": [");
    for (int i = 0; i < count; i++) {
        json_item(t);
        json_key(t, "name", m[i].name);
        json_flag(t, "rom", m[i].is_rom);
        json_number(t, "capacity", m[i].capacity);
        json_number(t, "used", m[i].used);
        json_number(t, "live_set_bound", m[i].live_bound);
        json_moved(t, &m[i].moved);
        text_printf(t, ", \"cost\": %lld.%03d}", (long long)(m[i].cost / 1000), (int)(m[i].cost % 1000));
    }
    text_add(t, "],\n");
}

static void json_units(const Build *b, Text *t)
{
    const UnitUse *u;
    const int count = report_units(b, &u);
    text_add(t, "  \"unit_memories\": [");
    for (int i = 0; i < count; i++) {
        json_item(t);
        json_key(t, "name", u[i].memory->name);
        json_number(t, "capacity", u[i].memory->bytes);
        json_number(t, "used", u[i].used);
        json_flag(t, "opaque", u[i].memory->is_opaque);
        text_char(t, '}');
    }
    text_add(t, "],\n");
}

static void json_outside(const Build *b, Text *t)
{
    const Outside *x;
    const int count = report_outside(b, &x);
    text_add(t, "  \"outside\": [");
    for (int i = 0; i < count; i++) {
        json_item(t);
        json_key(t, "name", x[i].name);
        json_key(t, "memory", x[i].memory);
        json_key(t, "into", x[i].into);
        json_number(t, "bytes", x[i].bytes);
        json_number(t, "missing", x[i].missing > 0 ? x[i].missing : 0);
        text_printf(t, ", \"saved\": %lld.%03d}", (long long)(x[i].saved / 1000), (int)(x[i].saved % 1000));
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
    json_key(t, "chip", board->chip);
    json_key(t, "target", board->target);
    json_number(t, "flash", KILO * board->flash);
    json_number(t, "ram", KILO * board->ram);
    text_printf(t, ", \"mhz\": %.0f", board->mhz);
}

/* Prints the board of --board, and all boards: the page compares the totals with each. */
static void json_boards(const JsonReport *r, Text *t)
{
    int count;
    board_rows(&count);
    json_line(t, "board", r->whole->options->board);
    json_list(r, t, "boards", count, json_board);
}

void json_report(Build *b, const Footprint *f, const char *against, Text *t)
{
    JsonReport r = { b, report_buffers(b), report_functions(b), 0, NULL };
    r.removed_count = report_removed(b, &r.removed);
    text_add(t, "{\n");
    json_line(t, "model", b->program.source);
    json_line(t, "sha256", b->program.digest);
    json_line(t, "target", b->target->name);
    json_line(t, "compiler", f->command);
    json_runner(b, t);
    json_ports(b, t, "inputs", b->program.input, b->program.input_count, NULL);
    json_ports(b, t, "outputs", b->program.output, b->program.output_count, output_layer);
    json_totals(b, f, t);
    json_memories(b, t);
    json_units(b, t);
    json_outside(b, t);
    footprint_json(b, f, t);
    json_boards(&r, t);
    json_structure(&r, t);
    text_printf(t, "  \"against\": %s,\n", against ? against : "null");
    validation_json(b->observed.validation, t);
    json_layers(&r, t);
    text_add(t, "}\n");
}

static void csv(Build *b, const Footprint *f, const char *against, Text *t)
{
    (void)f;
    const char *unused = against ? "--against" : b->observed.validation ? "--validate" : NULL;
    if (unused) diag_usage(b->cx, NULL, "%s has no effect on a report as .csv; use .txt, .html or .json", unused);
    columns_csv(b, t);
}

const char *report_as(Ctx *cx, const char *function, const char *model, const lw_options *o, ReportPrint *print,
                      bool weighs)
{
    Build b;
    Footprint f;
    Text t = text_new(cx);
    o = options_of(cx, function, o);
    if (!o || !is_given(cx, function, "the model", model) || !footprint_is_limit(cx, o)) return NULL;
    if (!build_read(&b, cx, model, o) || !footprint_has_memories(&b)) return NULL;
    b.mode.weighs_checkpoints = weighs;
    if (!build_graph(&b) || !build_nests(&b) || !build_program(&b) || !footprint_of(&b, model, &f)) return NULL;
    const char *against = against_read(cx, o);
    b.observed.validation = report_validate(&b, model);
    if (!ctx_failed(cx)) print(&b, &f, against, &t);
    return footprint_fits(&b, &f) ? text_string(&t) : NULL;
}

const char *lw_report_json(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_as(cx, "lw_report_json", model, o, json_report, false));
}

const char *lw_report_csv(lw_context *cx, const char *model, const lw_options *o)
{
    RETURN_GUARDED(cx, const char *, NULL, report_as(cx, "lw_report_csv", model, o, csv, false));
}
