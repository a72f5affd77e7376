/* SPDX-License-Identifier: MIT */
/* `loopwright evidence` writes the evidence that a reviewer of safety-critical firmware requires of one model into one
 * folder: the C, its proof, tables of traceability, bounds and runs, and the hashes of all files. Trace (trace.h) is
 * the one value that CSV, JSON and the page print. */
#include "api/evidence/evidence.h"

#include <string.h>

#include "api/computation/arguments.h"
#include "api/folder.h"
#include "cgen/cgen.h"
#include "support/guard.h"
#include "support/sha256.h"

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static const char *path_of(const Evidence *e, int i) { return e->file[i].path + strlen(e->folder) + 1; }

static const char *digest_of(const Evidence *e, int i) { return sha256_hex(e->cx, e->file[i].bytes, e->file[i].count); }

/* Adds the files so far. The files that print the tables are added later, so only SHA256SUMS lists them. */
static void add_files(Evidence *e)
{
    Table *t = trace_table(&e->trace, "files", "Files",
                           "The files of this folder without those that print these tables. SHA256SUMS has all of "
                           "them: `sha256sum -c SHA256SUMS`.", "file bytes sha256");
    for (int i = 0; i < e->file_count; i++) {
        trace_text(t, path_of(e, i));
        trace_number(t, (int64_t)e->file[i].count);
        trace_text(t, digest_of(e, i));
    }
}

/* The page that a reviewer opens first. */
static const char read_me[] =
    "# Evidence for ~\n\n"
    "`evidence.html` has all tables; each is also a CSV, and all are in `evidence.json`.\n\n"
    "| question | answer |\n|---|---|\n"
    "| Which line implements which node of the file? | `nodes.csv`: the layers of a node; `layers.csv`: the function "
    "of a layer and its lines in `~.c` |\n"
    "| Which node is behind a line of `~.c`? | `lines.csv` |\n"
    "| Why does no sum of a layer overflow? | `ranges.csv`, the rows of the layer: the minimum and the maximum at "
    "any point of the sum, beside the limits of its type; `channels.csv` has each channel |\n"
    "| How often does a loop run? | `loops.csv` |\n"
    "| Where does a value live, and who writes it? | `parameters.csv`, `buffers.csv`, `constants.csv` |\n"
    "| How deep is the stack? | `functions.csv` |\n"
    "| Which tests ran? | `verification.csv`, `vectors.csv`, `checksums.csv`, `coverage.csv` |\n"
    "| Which goals are proved, and by which tool? | `proof.csv` |\n"
    "| Which rules of MISRA C:2012 are not met, and why? | `deviations.csv` |\n\n"
    "## Commands\n\n```sh\nsha256sum -c SHA256SUMS    # compares each file with its hash\n"
    "sh tools.sh                # runs the independent tools that are installed\n```\n";

static void add_read_me(Evidence *e)
{
    Text t = text_new(e->cx);
    for (const char *c = read_me; *c; c++)
        if (*c == '~') text_add(&t, e->b->program.name);
        else text_char(&t, *c);
    evidence_text(e, "README.md", text_string(&t));
}

static void add_prints(Evidence *e)
{
    add_read_me(e);
    for (int i = 0; i < e->trace.count; i++)
        evidence_text(e, text_format(e->cx, "%s.csv", e->trace.table[i]->name), trace_csv(e->trace.table[i]));
    evidence_text(e, "evidence.json", trace_json(&e->trace));
    evidence_text(e, "evidence.html", trace_html(&e->trace));
    Text sums = text_new(e->cx);
    for (int i = 0; i < e->file_count; i++) text_printf(&sums, "%s  %s\n", digest_of(e, i), path_of(e, i));
    evidence_text(e, "SHA256SUMS", text_string(&sums));
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void add_item(Table *t, const char *item, const char *value)
{
    trace_text(t, item);
    trace_text(t, value);
}

static const char *known(Ctx *cx, int64_t n)
{
    return n < 0 ? "not measured: pass --cc with a compiler for the target" : text_format(cx, "%lld", (long long)n);
}

static void add_about(Evidence *e)
{
    Build *b = e->b;
    const Totals all = report_totals(b);
    Table *t = trace_table(&e->trace, "about", "Subject", "What this folder is about, and the totals of the program.",
                           "item value");
    add_item(t, "model", b->program.source);
    add_item(t, "sha256 of the model", b->program.digest);
    add_item(t, "compiler", text_format(e->cx, "Loopwright %s", lw_version()));
    add_item(t, "target", b->target->name);
    add_item(t, "options that change results", *b->program.options ? b->program.options : "none");
    add_item(t, text_format(e->cx, "sha256 of %s", e->trace.file), sha256_hex(e->cx, e->source, strlen(e->source)));
    add_item(t, "bytes of the arena", known(e->cx, all.arena));
    add_item(t, "bytes of constants", known(e->cx, all.weights));
    add_item(t, "bytes of arrays and registers on the stack, at most about", known(e->cx, report_stack(b)));
    add_item(t, "bytes of stack by the compiler's call graph",
             known(e->cx, e->footprint->has_stack ? e->footprint->stack : -1));
    add_item(t, "multiply-adds", known(e->cx, all.macs));
    add_item(t, "instructions of a run", known(e->cx, all.instructions));
    add_item(t, "instructions of a run, for the worst data", known(e->cx, all.worst));
    add_item(t, "compiler of --cc", e->footprint->command ? e->footprint->command : "none");
}

static void add_sources(Evidence *e)
{
    const Program *p = &e->b->program;
    evidence_text(e, text_format(e->cx, "%s.c", p->name), e->source);
    evidence_text(e, text_format(e->cx, "%s.h", p->name), cgen_header(e->cx, p));
    evidence_text(e, text_format(e->cx, "%s_main.c", p->name), cgen_testbench(e->cx, p));
    if (!p->acsl) return;
    evidence_text(e, text_format(e->cx, "%s_proof.c", p->name), cgen_proof(e->cx, p));
    evidence_text(e, text_format(e->cx, "%s_proof.sh", p->name), cgen_proof_script(e->cx, p));
}

/* Builds the program with annotations, unless the options exclude them. */
static bool build(Build *b, const char *model, Footprint *f)
{
    Ctx *cx = b->cx;
    if (!build_graph(b) || !build_nests(b) || !build_program(b)) return false;
    b->program.header = text_format(cx, "%s.h", b->program.name);
    if (!footprint_of(b, model, f)) return false;
    b->program.acsl = !build_unprovable(b);
    if (b->program.acsl) build_prove(b);
    return !ctx_failed(cx);
}

static bool is_in_c(const Build *b)
{
    const WeightsKind kind = b->program.weights.kind;
    if (kind == WEIGHTS_CALLER || kind == WEIGHTS_INCLUDED)
        diag_usage(b->cx, NULL, "the evidence does not accept --weights %s; use c|section=NAME", b->options->weights);
    return !ctx_failed(b->cx);
}

static bool evidence(Ctx *cx, const char *model, const char *folder, const lw_options *o)
{
    Build b;
    Footprint f;
    Node **imported;
    o = options_of(cx, "lw_evidence", o);
    if (!o || !is_given(cx, "lw_evidence", "the model", model) || !is_given(cx, "lw_evidence", "the folder", folder))
        return false;
    lw_options whole = *o;
    whole.standalone = true;
    whole.runner = NULL;
    cx->lists_nodes = true;
    const bool is_read = build_read(&b, cx, model, &whole);
    cx->lists_nodes = false;
    if (!is_read) return false;
    const Graph as_read = { .output_count = b.model.output_count, .output = b.model.output };
    const int count = graph_order(cx, &as_read, &imported);
    if (!build(&b, model, &f) || !is_in_c(&b)) return false;
    Evidence *e = NEW(cx->arena, Evidence);
    *e = (Evidence){ .cx = cx, .b = &b, .model = model, .folder = folder, .footprint = &f,
                     .report = { .whole = &b, .buffers = report_buffers(&b) }, .source = cgen_text(cx, &b.program),
                     .trace = { .cx = cx, .subject = b.program.source, .target = b.target->name,
                                .file = text_format(cx, "%s.c", b.program.name) } };
    if (ctx_failed(cx)) return false;
    e->parts = source_parts(cx, e->source);
    e->links = links_of(&b, imported, count);
    add_about(e);
    add_sources(e);
    evidence_structure(e);
    evidence_bounds(e);
    b.options = o;
    if (!evidence_runs(e)) return false;
    evidence_tools(e);
    add_files(e);
    add_prints(e);
    return !ctx_failed(cx) && ctx_accepts_warnings(cx) && folder_write(cx, folder, e->file, e->file_count);
}

bool lw_evidence(lw_context *cx, const char *model, const char *folder, const lw_options *o)
{
    RETURN_GUARDED(cx, bool, false, evidence(cx, model, folder, o));
}
