/* SPDX-License-Identifier: MIT */
/* Runs the pipeline, on one page: reads a model, rewrites its DAG, fuses it into groups, schedules each group's loop
 * nest, plans the memory between groups, lowers every nest to a function, and prints the program. */
#include "driver/driver.h"

#include <string.h>

#include "import/model/annotations.h"
#include "import/model/gradients.h"
#include "import/import.h"
#include "import/te/te.h"
#include "support/file.h"
#include "support/names.h"
#include "support/sha256.h"
#include "support/text.h"
#include "support/watch.h"

/* ---- Reading --------------------------------------------------------------------------------------------------- */

/* accepted: words with | between them */
static void check_word(Ctx *cx, const char *option, const char *given, const char *accepted)
{
    for (const char *s = accepted; given && s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL)
        if (strcspn(s, "|") == strlen(given) && memcmp(s, given, strlen(given)) == 0) return;
    if (given) diag_usage(cx, NULL, "%s does not accept \"%s\"; use %s", option, given, accepted);
}

/* Refuses two values for one name, because neither has precedence over the other. */
static void check_twice(Ctx *cx, const lw_options *o)
{
    for (int i = 0; i < o->dim_count; i++)
        for (int j = 0; j < i; j++)
            if (text_equal(o->dim[i].name, o->dim[j].name))
                diag_usage(cx, NULL, "--dim %s is given twice", o->dim[i].name);
    for (int i = 0; i < o->value_count; i++)
        for (int j = 0; j < i; j++)
            if (text_equal(o->value[i].name, o->value[j].name))
                diag_usage(cx, NULL, "--value %s is given twice", o->value[i].name);
}

/* Refuses options that are wrong for every model. */
static void check_options(Ctx *cx, const lw_options *o, const Target *target)
{
    WeightsKind kind;
    const char *section;
    check_word(cx, "--rounding", o->rounding, "double|single");
    check_word(cx, "--qdq", o->qdq, "exact|integer|float");
    check_word(cx, "--float", o->floats, "contract|separate");
    check_word(cx, "--hybrid", o->hybrid, "rounded|float");
    check_word(cx, "--optimize", o->optimize, "size|speed|balanced");
    check_word(cx, "--portable", o->portable, "inline|apart");
    check_twice(cx, o);
    if (o->checkpoint && !o->train)
        diag_usage(cx, NULL, "--checkpoint is given without --train; add --train");
    if (!build_weights_kind(o, &kind, &section) && section)
        diag_usage(cx, NULL,
                   "--weights section=%s: \"%s\" is not a section name; use letters, digits, _, . and $, not "
                   "beginning with a digit, like .weights; SEGMENT,SECTION for Mach-O",
                   section, section);
    else if (!build_weights_kind(o, &kind, &section))
        diag_usage(cx, NULL, "--weights does not accept \"%s\"; use c|bin|incbin|progmem|section=NAME",
                   o->weights);
    if (!target) diag_usage(cx, NULL, "there is no target \"%s\"%s", o->target, target_hint(cx, o->target));
    if (o->name && !text_equal(name_prefix(cx, o->name), o->name))
        diag_usage(
            cx, NULL,
            "--name \"%s\" cannot begin the names of emitted C; use letters, digits and _, beginning with a letter, "
            "without two _ in a row or one at the end, and not reserved by C or C++, like \"%s\"",
            o->name, name_prefix(cx, o->name));
    if (o->ram < 0) diag_usage(cx, NULL, "--ram is %lld; use a number of bytes, 1 or more", (long long)o->ram);
    if (o->ram && o->combine)
        diag_usage(cx, NULL, "--ram and --combine exclude each other, because --ram selects the groups to combine; "
                             "omit one of them");
    if (o->train && (o->ram || kind == WEIGHTS_CALLER || kind == WEIGHTS_INCLUDED || kind == WEIGHTS_FLASH))
        diag_usage(cx, NULL, "--train excludes --ram, and --weights except c and section=NAME, because a training step "
                             "has its own arena and constants; omit one of them");
    if (o->train && o->selftest_count)
        diag_usage(cx, NULL, "--train and --selftest exclude each other, because training changes the weights, and "
                             "with them every checksum; omit one of them");
    build_check_cores(cx, o);
    if (text_equal(o->portable, "apart") && o->acsl)
        diag_usage(cx, NULL, "--portable apart and --acsl exclude each other, because the annotations are at the "
                             "loops of each call; omit one of them");
    if (o->ports_in_arena && o->static_arena)
        diag_usage(cx, NULL,
                   "--io arena and --static-arena exclude each other, because the caller cannot reach inputs and "
                   "outputs in a static arena; omit one of them");
}

/* Returns the target with the code budgets that --optimize selects. For size, loops have guards instead of copies; for
 * speed, the choice of templates has no limit. */
static const Target *target_for(Ctx *cx, const Target *t, const char *optimize)
{
    const bool is_small = text_equal(optimize, "size"), is_fast = text_equal(optimize, "speed");
    if (!is_small && !is_fast) return t;
    Target *own = arena_copy(cx->arena, t, sizeof *t);
    if (is_small) own->copy_budget = 1;
    own->spends_code = is_fast;
    return own;
}

static void build_begin(Build *b, Ctx *cx, const char *path, const lw_options *o)
{
    *b = (Build){ .cx = cx, .options = o, .path = path };
    if (o->time_passes) b->watch = watch_new(cx);
    b->name = o->name ? name_identifier(cx, o->name) : name_prefix(cx, path_stem(cx, path));
    name_reserve_macros(cx, b->name);
    b->target = target_find(cx, o->target ? o->target : "generic");
    check_options(cx, o, b->target);
    if (b->target) b->target = target_for(cx, b->target, o->optimize);
    if (!ctx_failed(cx)) build_read_memories(b);
    if (text_equal(o->floats, "separate") && b->target) b->target = target_without(cx, b->target, "fma");
}

/* Reads "NAME,OTHER=FUNCTION". */
static void read_externs(Ctx *cx, const char *text, ImportOptions *out)
{
    ImportExtern *at = NEW_ARRAY(cx->arena, ImportExtern, text ? strlen(text) + 1 : 0);
    out->externs = at;
    for (const char *s = text; s && !ctx_failed(cx); s = *s ? s + 1 : NULL) {
        const size_t length = strcspn(s, ","), before = strcspn(s, "=,");
        const char *own = name_n(cx, s, before), *function = before < length ? name_n(cx, s + before + 1,
                                                                                      length - before - 1) : own;
        if (!*own || !*function || name_identifier(cx, function) != function)
            diag_usage(cx, NULL, "--extern \"%s\": '%s' is not the name of a C function; write NAME or "
                       "NAME=FUNCTION, with commas between several", text, function);
        for (int i = 0; i < out->extern_count; i++)
            if (at[i].name == own) diag_usage(cx, NULL, "--extern %s is given twice", own);
        at[out->extern_count++] = (ImportExtern){ own, function };
        s += length;
    }
}

static void import_file(Build *b)
{
    Ctx *cx = b->cx;
    const lw_options *o = b->options;
    ImportOptions options = { .dim_count = o->dim_count, .value_count = o->value_count, .state_count = o->state_count,
                              .rounds_once = build_rounds_once(o), .signature = o->signature,
                              .has_float_hybrid = text_equal(o->hybrid, "float") };
    ImportDim *dim = NEW_ARRAY(cx->arena, ImportDim, o->dim_count);
    for (int i = 0; i < o->dim_count; i++)
        dim[i] = (ImportDim){ o->dim[i].name, o->dim[i].value, o->dim[i].is_maximum, o->dim[i].least };
    ImportValue *value = NEW_ARRAY(cx->arena, ImportValue, o->value_count);
    for (int i = 0; i < o->value_count; i++) value[i] = (ImportValue){ o->value[i].name, o->value[i].path };
    const char **state = NEW_ARRAY(cx->arena, const char *, o->state_count);
    for (int i = 0; i < o->state_count; i++) state[i] = o->state[i].input;
    read_externs(cx, o->external, &options);
    options.dim = dim;
    options.value = value;
    options.state = state;
    if (!ctx_failed(cx)) import_model(cx, b->path, &options, &b->model);
}

static void add_annotations(Build *b) { annotations_read(b->cx, b->options->annotate, &b->model); }
static void add_gradients(Build *b) { gradients_add(b->cx, b->options->gradient, &b->model); }

/* ---- The graph --------------------------------------------------------------------------------------------------- */

static const Update *updates_of(Ctx *cx, const Model *m)
{
    Update *update = NEW_ARRAY(cx->arena, Update, m->inout_count);
    for (int i = 0; i < m->inout_count; i++) update[i] = (Update){ m->inout[i].input, m->inout[i].output, true };
    return update;
}

static void begin_graph(Build *b)
{
    const Model *m = &b->model;
    b->shared = build_shared(b->cx);
    build_reserve_names(b);
    b->shared->until = b->mode.until;
    b->shared->last = b;
    b->graph = (Graph){ .name = b->name,
                        .input_count = m->input_count,
                        .input = m->input,
                        .output_count = m->output_count,
                        .output = m->output,
                        .target = b->target,
                        .update_count = m->inout_count,
                        .update = updates_of(b->cx, m),
                        .records_grids = b->mode.records_grids };
}

static void split_training(Build *b)
{
    if (build_folding_passes(b)) build_split_training(b);
}

static void run_passes(Build *b) { build_passes(b); }

static void graph_of_step(Build *b)
{
    if (build_passes(b->training.step)) build_inner_graphs(b->training.step);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

/* Lowers the groups of all graphs, and places their memory. */
static void lower_groups(Build *b)
{
    int groups = 0, graphs = 0;
    for (const Build *g = b; g; g = g->tree.next) groups += g->groups.count, graphs++;
    b->shared->function = NEW_ARRAY(b->cx->arena, const Function *, groups);
    b->shared->body = NEW_ARRAY(b->cx->arena, const Body *, graphs);
    build_functions(b);
    if (b->training.step && !ctx_failed(b->cx)) build_functions(b->training.step);
}

static void merge_functions(Build *b)
{
    functions_merge(b->cx, b->shared->function, b->shared->function_count, &b->shared->merged);
}

static void list_features(Build *b) { cgen_complete(b->cx, &b->program); }

/* ---- The stages -------------------------------------------------------------------------------------------------- */

static bool annotates(const Build *b) { return b->options->annotate; }
static bool has_gradients(const Build *b) { return b->options->gradient; }
static bool streams(const Build *b) { return b->options->stream; }
static bool is_apart(const Build *b) { return text_equal(b->options->portable, "apart"); }
static bool trains(const Build *b) { return b->options->train; }
static bool has_step(const Build *b) { return b->training.step; }
static bool shows_layers(const Build *b) { return b->options->layers && !b->model.is_nest; }

/* From a file to a program, in order. Each row is a function, and the field of Build that it gives; nests.c has the
 * rows between the graph and the program. */
static const BuildStep beside_model[] = {
    { .check = build_read_schedules },                   /* blocks of schedules, in the context */
    { .run = add_annotations, .when = annotates },       /* model */
    { .run = add_gradients, .when = has_gradients },     /* model */
    { NULL }
};

static const BuildStep reading[] = {
    { .run = import_file },                              /* model */
    { .run = build_adapt },                              /* model, with the ports that the options ask for */
    { NULL }
};

static const BuildStep graph[] = {
    { .check = build_check_inouts },
    { .run = begin_graph },                              /* shared, graph */
    { .run = build_request_stream, .when = streams },    /* graph.stream */
    { .run = build_request_forms, .when = trains },      /* graph.keeps_... */
    { .run = split_training, .when = trains },           /* training, graph */
    { .run = run_passes },                               /* graph */
    { .run = build_add_stream },                         /* model, states */
    { .run = build_show_layers, .when = shows_layers },  /* model, graph */
    { .run = graph_of_step, .when = has_step },          /* training.step */
    { .run = build_inner_graphs },                       /* tree.inner */
    { NULL }
};

static const BuildStep program[] = {
    { .run = lower_groups },                             /* lowered, plan */
    { .run = merge_functions, .when = build_merges },    /* shared.merged */
    { .check = build_check_ram },
    { .run = build_final_code },                         /* lowered: after the final passes */
    { .run = build_name_shared },                        /* lowered: the names of functions */
    { .run = build_assemble },                           /* program */
    { .run = build_selftest },                           /* program: from observed.recorded */
    { .run = build_assemble_training },                  /* program.step */
    { .run = build_portable_forms, .when = is_apart },   /* program.portable */
    { .run = build_weights },                            /* program.weights */
    { .run = list_features },                            /* program.features */
    { .run = build_prove },                              /* program.function, with annotations */
    { .run = build_class_names },                        /* program: names of classes */
    { NULL }
};

bool build_read(Build *b, Ctx *cx, const char *path, const lw_options *o)
{
    static const BuildStep states[] = { { .run = build_states, .part = "", .name = "import" }, { NULL } };
    build_begin(b, cx, path, o);
    return build_steps(b, reading) && build_steps(b, beside_model) && build_steps(b, states);
}

bool build_read_text(Build *b, Ctx *cx, const char *path, const char *text, bool is_naive, const lw_options *o)
{
    const ImportOptions options = { 0 };
    build_begin(b, cx, path, o);
    b->mode.is_naive = is_naive;
    const bool ok = !ctx_failed(cx) && te_read(cx, path, text, &options, &b->model) && build_steps(b, beside_model);
    b->model.digest = sha256_hex(cx, text, strlen(text));
    watch_lap(b->watch, "", "import");
    return ok;
}

bool build_graph(Build *b) { return build_steps(b, graph); }
bool build_program(Build *b) { return build_steps(b, program); }

/* ---- Files ------------------------------------------------------------------------------------------------------- */

bool build_is_c_file(Ctx *cx, const char *output)
{
    const bool is_c = text_equal(path_extension(output), "c");
    if (!is_c) diag_usage(cx, NULL, "the output \"%s\" must end in .c", output);
    return is_c;
}

static void print_source(Ctx *cx, const void *source, TextPut *put, void *to) { cgen_print(cx, source, put, to); }

static bool has_testbench(const Build *b) { return b->options->testbench; }
static bool has_proof(const Build *b) { return b->options->acsl; }
static bool has_class(const Build *b) { return b->options->cpp; }
static bool has_weights(const Build *b) { return b->program.weights.file != NULL; }
static bool has_plan(const Build *b) { return b->program.plan != NULL; }
static const char *plan_text(Ctx *cx, const Program *p) { return ctx_failed(cx) ? "" : p->plan; }

/* The files beside model.c; .bin is printed straight into its file. */
static const struct OutputFile {
    const char *suffix;
    bool (*is_written)(const Build *b);        /* NULL: always */
    const char *(*text)(Ctx *cx, const Program *p);
} outputs[] = {
    { ".h", NULL, cgen_header },
    { "_main.c", has_testbench, cgen_testbench },
    { "_proof.c", has_proof, cgen_proof },
    { "_proof.sh", has_proof, cgen_proof_script },
    { ".hpp", has_class, cgen_cpp_class },
    { ".plan", has_plan, plan_text },
    { ".bin", has_weights, NULL },
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

/* The whole compilation. Each stage gives a part of the Build, which the stages after it read. */
bool build_files(Build *b, Ctx *cx, const char *path, const lw_options *o, bool (*record)(Build *b),
                 const char *output)
{
    return build_is_c_file(cx, output)
           && build_read(b, cx, path, o)         /* model, states, memories */
           && build_graph(b)                     /* graph, training */
           && build_nests(b)                     /* groups, devices, scheduled */
           && record(b)                          /* observed.recorded */
           && build_write(b, output);            /* lowered, plan, program (build_program); the files */
}

bool build_write(Build *b, const char *output)
{
    Ctx *cx = b->cx;
    if (!build_is_c_file(cx, output) || ctx_failed(cx)) return false;
    b->output_stem = path_stem(cx, output);
    if (!build_program(b)) return false;
    b->program.header = text_format(cx, "%s.h", path_stem(cx, output));
    const char *stem = text_format(cx, "%s%s", path_folder(cx, output), path_stem(cx, output));
    const Source source = cgen_source(cx, &b->program);
    FileOut files[1 + OUTPUTS] = { { .path = output, .print = print_source, .what = &source } };
    size_t count = 1;
    for (const struct OutputFile *o = outputs; o < outputs + OUTPUTS; o++) {
        if (o->is_written && !o->is_written(b)) continue;
        const char *text = o->text ? o->text(cx, &b->program) : "";
        files[count++] = (FileOut){ .path = text_format(cx, "%s%s", stem, o->suffix), .bytes = text,
                                    .count = strlen(text), .print = o->text ? NULL : cgen_print_weights,
                                    .what = &b->program };
    }
    watch_lap(b->watch, "", "printing");
    bool ok = !ctx_failed(cx) && file_write_all(cx, files, count);
    watch_lap(b->watch, "", "writing");
    watch_report(b->watch);
    return ok;
}
