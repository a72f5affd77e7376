/* SPDX-License-Identifier: MIT */
/* Prints model.c and model.h. model.c contains the functions, the constants, and NAME_run, the list of layers.
 * Functions receive constants as arguments, since layers may share functions, so the code comes first. */
#include <string.h>

#include "cgen/acsl.h"
#include "cgen/apart.h"
#include "cgen/control_flow.h"
#include "cgen/features.h"
#include "cgen/fork.h"
#include "cgen/inputs.h"
#include "cgen/parameters.h"
#include "cgen/memories.h"
#include "cgen/ports.h"
#include "cgen/runtime.h"
#include "cgen/spell.h"
#include "cgen/state.h"
#include "cgen/training.h"
#include "cgen/weights.h"
#include "support/wrap.h"
#include "support/map.h"
#include "support/names.h"
#include "support/sha256.h"

/* ---- model.h --------------------------------------------------------------------------------------------------- */

/* Returns the program with the arena, ports and calls of its training step. */
static Program step_of(const Program *p)
{
    Program s = *p;
    s.is_step = true;
    s.label_limit = p->step->label_limit;
    s.step = NULL;
    s.call_count = p->step->call_count;
    s.call = p->step->call;
    s.arena_size = p->step->arena_size;
    s.input_count = p->step->input_count;
    s.input = p->step->input;
    s.output_count = p->step->output_count;
    s.output = p->step->output;
    s.run_call_count = p->call_count;
    return s;
}

static void run_signature(Ctx *cx, Text *t, const Program *p)
{
    const size_t start = t->length;
    if (p->is_step) {
        training_signature(cx, t, p);
        return;
    }
    text_printf(t, "int %s_run(%sconst struct %s_inputs *in, const struct %s_outputs *out)", p->name,
                program_parameters(cx, p), p->name, p->name);
    wrap_list(cx, t, start);
}

/* Prints the signature of the list of layers: of NAME_run or, with --selftest, of NAME_layers, which has one more
 * parameter. */
static void layers_signature(Ctx *cx, Text *t, const Program *p)
{
    const size_t start = t->length;
    if (!p->selftest) {
        run_signature(cx, t, p);
        return;
    }
    text_printf(t, "static int %s_layers(%sconst struct %s_inputs *in, const struct %s_outputs *out, "
                   "const struct %s_checksum *check)", p->name, program_parameters(cx, p), p->name, p->name, p->name);
    wrap_list(cx, t, start);
}

/* Prints the declarations: the sizes of the plan, ports, state, functions. */
static void interface(Ctx *cx, Text *t, const Program *p)
{
    features_print(cx, t, p, FEATURE_SIZES);
    text_printf(t, "#define %s_WEIGHTS_SIZE %lldu     /* bytes of constants */\n", p->prefix,
                (long long)program_weights(p));
    features_print(cx, t, p, FEATURE_MACROS);
    text_char(t, '\n');
    features_print(cx, t, p, FEATURE_MEMORY);
    error_codes(t, p);
    text_char(t, '\n');
    ports_declare(cx, t, p);
    features_print(cx, t, p, FEATURE_DECLARED);
    features_print(cx, t, p, FEATURE_CALLED);
    text_printf(t, "%s/* Runs the model once. Returns 0, or a negative %s_E... code. ", p->partition_count ? "" : "\n",
                p->prefix);
    text_add(t, p->static_arena ? "Not reentrant: the arena is static."
                 : p->has_profile ? "Not reentrant: the counts per layer are global."
                 : p->memory_count ? "Reentrant: mutable data is in the memories and the state."
                 : p->state_count ? "Reentrant: mutable data is in the arena and the state."
                                  : "Reentrant: all state is in the arena.");
    text_add(t, p->ports_in_arena || !p->output_count
             ? " */\n" : "\n * No output may overlap other memory that is passed; inputs may overlap each other. Not "
                         "checked. */\n");
    if (p->acsl) inputs_contract(cx, t, p);
    run_signature(cx, t, p);
    text_add(t, ";\n");
    features_print(cx, t, p, FEATURE_DECLARED_AFTER);
    ports_convert(cx, t, p);
}

/* Returns ports without layouts, which describe the model's file and not the interface. */
static const Port *without_layouts(Ctx *cx, const Port *port, int count)
{
    Port *plain = arena_copy(cx->arena, port, (size_t)count * sizeof *port);
    for (int i = 0; i < count; i++) plain[i].layout = NULL;
    return plain;
}

/* Returns a digest of the interface. Equal interfaces have the same digest, regardless of their origin. The digest is
 * not 0, which is the value of an undefined macro. */
static const char *header_hash(Ctx *cx, const Program *p)
{
    Program plain = *p;
    Text t = text_new(cx);
    plain.acsl = false;
    plain.input = without_layouts(cx, p->input, p->input_count);
    plain.output = without_layouts(cx, p->output, p->output_count);
    interface(cx, &t, &plain);
    return text_format(cx, "0x1%.7s", sha256_hex(cx, text_string(&t), t.length));
}

void cgen_include_header(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "#include \"%s\"\n", p->header ? p->header : text_format(cx, "%s.h", p->name));
    text_printf(t, "#if %s_HEADER_HASH != %s\n", p->prefix, header_hash(cx, p));
    text_add(t, "#error \"the header is from another run of Loopwright; include the header that was written with this "
                "file\"\n#endif\n");
}

const char *cgen_header(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    text_printf(&t, "/* %s: %s for %s, emitted by Loopwright.\n *\n * Inputs\n", p->name,
                comment_text(cx, p->source), p->target);
    for (int i = 0; i < p->input_count; i++) port_row(cx, &t, &p->input[i]);
    text_add(&t, " * Outputs\n");
    for (int i = 0; i < p->output_count; i++) port_row(cx, &t, &p->output[i]);
    features_print(cx, &t, p, FEATURE_ROWS);
    features_print(cx, &t, p, FEATURE_NOTES);
    text_printf(&t, " *\n * Model's SHA-256: %s\n", p->digest);
    if (p->stamp) text_printf(&t, " * Loopwright %s\n", p->stamp);
    if (*p->options) text_printf(&t, " * Options: %s\n", comment_text(cx, p->options));
    text_printf(
        &t, " */\n#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
        p->prefix, p->prefix);
    ports_origin(&t, p);
    text_printf(&t, "#define %s_HEADER_HASH  %s     /* of the interface below; model.c compares it */\n", p->prefix,
                header_hash(cx, p));
    interface(cx, &t, p);
    text_add(&t, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    return wrap_lines(cx, text_string(&t));
}

/* ---- model.c --------------------------------------------------------------------------------------------------- */

/* The line that represents a constant's elements in the text of constants. The line cannot occur in names, which are
 * identifiers. */
static const char ELEMENTS[] = "\f\n";

static void constant(Ctx *cx, Text *t, const Program *p, const Tensor *c, const char *constant_name,
                     const char *section)
{
    bool as_bits = c->type == F16 || c->type == BF16;
    text_printf(t, "/* %s%s%s%s */\n", tensor_shape_names(cx, c),
                as_bits ? text_format(cx, " %s", dtype_info(c->type)->spelling) : "", c->word ? ": " : "",
                c->word ? c->word : "");
    text_printf(t, "static const LW_ALIGN(%lld) ", (long long)p->arena_align);
    section_attribute(t, section ? section : p->weights.section);
    text_printf(t, "%s%s %s_%s[%lld] = {\n", flash_word(p), dtype_info(c->type)->c_type, p->name, constant_name,
                (long long)tensor_elems(c));
    text_printf(t, "%s};\n\n", ELEMENTS);
}

/* Casts through void *, because compilers warn about the alignment otherwise; the pointer is aligned. */
static const char *place_in_memory(Ctx *cx, const Program *p, const Place *place, DType type)
{
    const char *at = arena_address(cx, p, program_memory(p, place->index), place->item, place->offset),
               *through = dtype_info(type)->bytes == 1 ? "" : "(void *)";
    const bool is_sum = place->item || place->offset;
    return text_format(cx, is_sum ? "(%s *)%s(%s)" : "(%s *)%s%s", dtype_info(type)->c_type, through, at);
}

static const char *base_of(const Port *p, const char *otherwise) { return p->base ? p->base : otherwise; }

static const char *place_text(Ctx *cx, const Program *p, const Place *at, const Memory *m)
{
    int64_t elem = dtype_info(at->type)->bytes;
    const char *base = NULL;
    DType held = m->type;
    switch (at->kind) {
    case PLACE_INPUT:
        base = text_format(cx, "%s->%s", base_of(&p->input[at->index], "in"), p->input[at->index].name);
        held = p->input[at->index].tensor->type;
        break;
    case PLACE_OUTPUT:
        base = p->output[at->index].is_alone ? p->output[at->index].name
                                             : text_format(cx, "out->%s", p->output[at->index].name);
        held = p->output[at->index].tensor->type;
        break;
    case PLACE_STATE: case PLACE_NEXT: {
        const State *s = &p->state[at->index];
        base = text_format(cx, "state->%s%s", s->name,
                           s->is_single              ? ""
                           : at->kind == PLACE_STATE ? "[now]"
                                                     : "[next]");
        held = s->tensor->type;
        break;
    }
    case PLACE_CONST:
        base = text_format(cx, "%s_%s", p->name, p->constant_name[at->index]);
        held = p->constant[at->index]->type;
        if (weights_are_in_file(p)) return file_constant(cx, p, at->index, at->offset, m->type);
        break;
    case PLACE_TRAINED:
        base = training_place(cx, &p->params.at[at->index]);
        held = p->params.at[at->index].tensor->type;
        break;
    case PLACE_PARAM:
        base = p->param[at->index].name;
        held = p->param[at->index].tensor->type;
        break;
    case PLACE_NONE: return "NULL";
    case PLACE_ARENA:
        return place_in_memory(cx, p, at, m->type);
    }
    if (at->offset) base = text_format(cx, "%s + %lld", base, (long long)(at->offset / elem));
    bool same = strcmp(dtype_info(held)->c_type, dtype_info(m->type)->c_type) == 0;
    const char *constness = m->kind != MEMORY_INPUT ? ""
                            : at->kind == PLACE_CONST ? text_format(cx, "const %s", flash_word(p)) : "const ";
    return same ? base : text_format(cx, "(%s%s *)(%s)", constness, dtype_info(m->type)->c_type, base);
}

/* Refuses a function that reads data memory in one call and program memory in another. */
static void check_flash_argument(Ctx *cx, const Call *c, int i)
{
    const bool is_in_flash = c->place[i].kind == PLACE_CONST;
    if (is_in_flash != memory_is_constant(c->function->memory[i]))
        diag_unsupported(cx, c->label, "the layer's function is called with both constants and other tensors, which "
                         "--weights progmem places in different memories; use --weights c");
}

/* Returns the scratch memory of one part. */
static const char *part_text(Ctx *cx, const Program *p, const Place *at, const Memory *m, int64_t stride)
{
    return text_format(cx, "(%s *)(void *)(%s + part * %lld)", dtype_info(m->type)->c_type,
                       arena_address(cx, p, program_memory(p, at->index), at->item, at->offset), (long long)stride);
}

static void print_call(Ctx *cx, Text *t, const Program *p, const Call *c, Speller *sizes)
{
    int n = 0;
    if (c->control) {
        control_call(cx, t, p, c, sizes, place_text);
        return;
    }
    const bool stops = code_may_stop(c->function->body);
    if (stops) text_add(t, "    {\n");
    const size_t start = t->length;
    text_printf(t, stops ? "        const int status = %s_%s(" : "    %s_%s(", p->name, c->function->name);
    for (int i = 0; i < c->function->size_count; i++)
        text_printf(t, n++ ? ", %s" : "%s", spell_size(sizes, c->size[i]));
    if (c->fork) text_add(t, fork_numbers(cx, c->fork));
    for (int i = 0; i < c->function->number_count; i++, n++)
        if (!c->fork) text_printf(t, n ? ", %lld" : "%lld", (long long)c->number[i]);
    for (int i = 0; i < c->place_count; i++) {
        if (p->weights.kind == WEIGHTS_FLASH) check_flash_argument(cx, c, i);
        const Memory *m = c->function->memory[i];
        const int64_t stride = c->fork ? c->fork->stride[i] : 0;
        text_printf(t, n++ ? ", %s" : "%s", stride ? part_text(cx, p, &c->place[i], m, stride)
                                                   : place_text(cx, p, &c->place[i], m));
    }
    text_add(t, ");");
    wrap_list(cx, t, start);
    text_add(t, stops ? "\n        if (status != 0) return status;\n    }\n" : "\n");
}

/* Prints the functions of parts, which NAME_run forks. */
static void parts(Ctx *cx, Text *t, const Program *p)
{
    Speller sizes = speller_new(cx);
    if (!forks_any(p)) return;
    fork_declare(cx, t, p);
    for (int i = 0; i < p->call_count; i++) {
        Text call = text_new(cx);
        if (!p->call[i].fork) continue;
        print_call(cx, &call, p, &p->call[i], &sizes);
        fork_function(cx, t, p, &p->call[i], text_string(&call));
    }
}

static void start_copies(Ctx *cx, Text *t, const Program *p, const Call *c, bool are_early)
{
    for (int i = 0; i < c->copy_count; i++) {
        const Copy *k = &c->copy[i];
        const Memory as = { .kind = MEMORY_INPUT, .type = p->constant[k->from.index]->type };
        const char *memory = p->memory[k->to.index].name;
        if (k->is_early != are_early) continue;
        text_printf(t, "    LW_COPY_START(%d, %s, %s, %lld);\n", k->channel,
                    arena_address(cx, p, memory, k->to.item, k->to.offset),
                    place_text(cx, p, &k->from, &as), (long long)k->bytes);
    }
}

/* Prints the copies for a call, which end before the call begins, and then the copies for the next call that run during
 * this one. */
static void copy_constants(Ctx *cx, Text *t, const Program *p, const Call *c, const Call *next)
{
    start_copies(cx, t, p, c, false);
    for (int i = 0; i < c->copy_count; i++) {
        bool is_last = true;
        for (int later = i + 1; later < c->copy_count; later++)
            is_last = is_last && c->copy[later].channel != c->copy[i].channel;
        if (is_last) text_printf(t, "    LW_COPY_WAIT(%d, 0);\n", c->copy[i].channel);
    }
    if (next) start_copies(cx, t, p, next, true);
}

/* Moves a layer's result that overlaps its input to the offset at which later layers read it. */
static void move_result(Ctx *cx, Text *t, const Program *p, const Call *c)
{
    if (c->move)
        text_printf(t, "    lw_move(%s, %s, %lld);     /* the next result begins before it */\n",
                    arena_address(cx, p, "memory", c->move->item, c->move->to),
                    arena_address(cx, p, "memory", c->move->item, c->move->from),
                    (long long)(c->move->bytes + 15) / 16);
}

static void print_call_of_partition(Ctx *cx, Text *t, const Program *p, const Call *c)
{
    Program inside = *p;           /* PLACE_PARAM indexes the parameters of this function */
    inside.param = c->partition->param;
    Speller sizes = partition_speller(cx, p, c->partition);
    print_call(cx, t, &inside, c, &sizes);
}

/* Prints the variables of sizes that the run has computed, and the tests of these sizes. */
static void bind_sizes(Ctx *cx, Text *t, const Program *p, const SizeBind *bind, int count, Speller *s)
{
    const Memory from = { .kind = MEMORY_INPUT, .type = I64 };
    for (int i = 0; i < count; i++) {
        const Var *v = expr_as_var(bind[i].size);
        const char *at = place_text(cx, p, &bind[i].count, &from),
                   *value = bind[i].constant ? text_format(cx, "%lld", (long long)dtype_load(
                                                               I64, bind[i].constant->data, 0).i)
                            : text_format(cx, strchr(at, '+') || *at == '(' ? "*(%s)" : "*%s", at);
        size_t start = t->length;
        text_printf(t, "    if (%s < %lld || %s > %lld) return %s_E_SIZE;\n", value, (long long)v->least, value,
                    (long long)v->greatest, name_upper(cx, p->name));
        wrap_statement(cx, t, start);
        if (!bind[i].is_read) continue;
        start = t->length;
        text_printf(t, "    const int32_t %s = (int32_t)%s;\n", speller_name(s, bind[i].size, v->name), value);
        wrap_statement(cx, t, start);
    }
}

static void print_calls_of_body(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer, Speller *sizes)
{
    for (int i = 0; i < b->call_count; i++) {
        bind_sizes(cx, t, p, b->call[i].bind, b->call[i].bind_count, sizes);
        layer_mark(t, first_layer + i, b->call[i].label);
        print_call(cx, t, p, &b->call[i], sizes);
    }
    bind_sizes(cx, t, p, b->last_bind, b->last_bind_count, sizes);
}

void cgen_body(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer)
{
    body_function(cx, t, p, b, first_layer, print_calls_of_body);
}

/* Numbers layers consecutively: NAME_run's, then each body's. */
static void bodies(Ctx *cx, Text *t, const Program *p)
{
    int layer = p->call_count;
    for (int i = 0; i < p->body_count; layer += p->body[i++]->call_count) cgen_body(cx, t, p, p->body[i], layer);
}

static void check_sizes(Text *t, const Program *p, Speller *s)
{
    for (int i = 0; i < p->size_count; i++) {
        const Var *v = expr_as_var(p->size[i]);
        const char *size = speller_name(s, p->size[i], v->name);
        text_printf(t, "    const int32_t %s = in->%s;\n", size, p->size_name[i]);
        text_printf(t, "    if (%s < %lld || %s > %lld) return %s_E_DIM;\n", size, (long long)v->least, size,
                    (long long)v->greatest, p->prefix);
    }
}

/* Prints the statements that store the outputs' sizes. */
static void give_sizes(Text *t, const Program *p, Speller *s)
{
    for (int i = 0; i < p->decided_count && !p->is_step; i++)
        text_printf(t, "    *out->%s = %s;\n", p->decided[i].name, spell_size(s, p->decided[i].size));
}

/* Prints the test that labels are classes, which precedes all changes of parameters. */
static void check_labels(Text *t, const Program *p)
{
    const Port *label = &p->input[p->input_count - 1];
    const long long count = (long long)tensor_elems(label->tensor), classes = (long long)p->label_limit;
    const char *at = count == 1 ? "0" : "i";
    if (!classes) return;
    if (count != 1) text_printf(t, "    for (int32_t i = 0; i < %lld; i++)\n    ", count);
    text_printf(t, "    if (target->%s[%s] < 0 || target->%s[%s] >= %lld) return %s_E_LABEL;\n", label->name, at,
                label->name, at, classes, p->prefix);
}

/* Prints `if (in == NULL || in->x == NULL) return KWS_E_NULL;`, with a few pointers per line. A tensor without elements
 * may have a null pointer. */
static void check_pointers(Ctx *cx, Text *t, const char *prefix, const char *list, const Port *port, int ports,
                           const DecidedSize *size, int sizes, const Port *may_be_null)
{
    enum { WIDTH = 100 };
    const int count = ports + sizes;
    Text line = text_new(cx);
    text_printf(&line, "%s == NULL", list);
    for (int i = 0; i <= count; i++) {
        if (i < ports && (port_elems(cx, port[i].tensor) == 0 || (port[i].inout && port == may_be_null))) continue;
        const char *own = i < ports ? port[i].name : i < count ? size[i - ports].name : "",
                   *next = i < count ? text_format(cx, "%s->%s == NULL", list, own) : "";
        if (i == count || line.length + strlen(next) > WIDTH) {
            const size_t start = t->length;
            text_printf(t, "    if (%s) return %s_E_NULL;\n", text_string(&line), prefix);
            wrap_statement(cx, t, start);
            line = text_new(cx);
        }
        text_printf(&line, "%s%s", line.length ? " || " : "", next);
    }
}

/* Returns the number of the first layer. NAME_train's layers are numbered after the layers of NAME_run and of all
 * bodies. */
static int first_layer(const Program *p)
{
    int count = 0;
    if (!p->is_step) return 0;
    for (int i = 0; i < p->body_count; i++) count += p->body[i]->call_count;
    return p->run_call_count + count;
}

static void run_function(Ctx *cx, Text *t, const Program *p)
{
    Speller s = speller_new(cx);
    static const char *const taken[] = { "in", "out", "arena", "memory", "state", "now", "next", "params", "target",
                                         "loss", "fork" };
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) speller_name(&s, taken[i], taken[i]);
    if (p->weights.kind == WEIGHTS_CALLER) speller_name(&s, "weights", "weights");
    control_reserve(cx, &s, p->call, p->call_count);
    features_print(cx, t, p, FEATURE_STATIC);
    for (int i = 0; i < p->memory_count; i++) speller_name(&s, p->memory[i].name, p->memory[i].name);
    parts(cx, t, p);
    layers_signature(cx, t, p);
    text_add(t, "\n{\n");
    features_print(cx, t, p, FEATURE_POINTERS);
    const bool has_input = p->input_count + p->size_count > 0;
    if (!has_input) text_add(t, "    (void)in;\n");
    if (!p->output_count) text_add(t, "    (void)out;\n");
    features_print(cx, t, p, FEATURE_TESTS);
    parameters_check(t, p);
    if (has_input) check_pointers(cx, t, p->prefix, "in", p->input, p->input_count - p->is_step, NULL, 0, p->input);
    if (p->is_step) {
        check_pointers(cx, t, p->prefix, "target", &p->input[p->input_count - 1], 1, NULL, 0, NULL);
        text_printf(t, "    if (loss == NULL) return %s_E_NULL;\n", p->prefix);
        check_labels(t, p);
    } else if (p->output_count)
        check_pointers(cx, t, p->prefix, "out", p->output, p->output_count, p->decided, p->decided_count, NULL);
    features_print(cx, t, p, FEATURE_VARIABLES);
    check_sizes(t, p, &s);
    features_print(cx, t, p, FEATURE_BEGIN);
    for (int i = 0; i < p->call_count; i++) {
        const Partition *d = p->call[i].partition;
        bind_sizes(cx, t, p, p->call[i].bind, p->call[i].bind_count, &s);
        if (d && i && p->call[i - 1].partition == d) continue;
        layer_mark(t, first_layer(p) + i, d ? d->name : p->call[i].label);
        if (d) partition_call(cx, t, p, d, program_uses_arena(p) ? "memory" : "NULL", &s, place_text);
        else {
            copy_constants(cx, t, p, &p->call[i], i + 1 < p->call_count ? &p->call[i + 1] : NULL);
            if (p->call[i].fork) fork_call(t, p, &p->call[i]);
            else print_call(cx, t, p, &p->call[i], &s);
        }
        move_result(cx, t, p, &p->call[i]);
        selftest_checks(cx, t, p, i, place_text);
    }
    bind_sizes(cx, t, p, p->last_bind, p->last_bind_count, &s);
    give_sizes(t, p, &s);
    features_print(cx, t, p, FEATURE_END);
    text_add(t, "    return 0;\n}\n");
    if (!p->selftest) return;
    Text run = text_new(cx);
    run_signature(cx, &run, p);
    selftest_functions(cx, t, p, text_string(&run));
}

static bool shares_place_of_earlier(const Program *p, int function)
{
    for (int i = 0; i < function; i++)
        if (p->function[i] == p->function[function]) return true;
    return false;
}

/* Prints the declarations of all constants in use, and lists the constants. */
static void constants(Ctx *cx, const Program *p, Text *t, Source *s)
{
    const int recorded = p->selftest ? p->input_count : 0;
    s->constant = NEW_ARRAY(cx->arena, const Tensor *,
                            p->constant_count + p->state_count + p->params.count + recorded);
    for (int i = 0; i < p->constant_count; i++) {
        if (weights_are_in_file(p) || !program_reads(p, i)) continue;
        Text one = text_new(cx);
        constant(cx, &one, p, p->constant[i], p->constant_name[i],
                 p->constant_section ? p->constant_section[i] : NULL);
        partition_constant(cx, t, p, i, text_string(&one));
        s->constant[s->constant_count++] = p->constant[i];
    }
    for (int i = 0; i < p->state_count; i++) {
        if (!p->state[i].initial) continue;
        constant(cx, t, p, p->state[i].initial, p->state[i].initial_name, NULL);
        s->constant[s->constant_count++] = p->state[i].initial;
    }
    for (int i = 0; i < p->params.count; i++) {
        if (!p->params.at[i].initial_name) continue;
        constant(cx, t, p, p->params.at[i].initial, p->params.at[i].initial_name, NULL);
        s->constant[s->constant_count++] = p->params.at[i].initial;
    }
    Program in_data = *p;          /* recorded inputs are read from data memory */
    if (p->weights.kind == WEIGHTS_FLASH) in_data.weights.kind = WEIGHTS_TEXT;
    for (int i = 0; i < recorded; i++) {
        constant(cx, t, &in_data, p->selftest->input[i], p->selftest->input_name[i], NULL);
        s->constant[s->constant_count++] = p->selftest->input[i];
    }
}

/* Prints the portable forms, each as the macro of a build that does not have the instruction. */
static void portable_forms(Ctx *cx, Text *t, const Program *p)
{
    if (p->portable_count)
        text_add(t, "/* The loops of each instruction, for a build that does not define its macro. */\n");
    for (int i = 0; i < p->portable_count; i++) {
        const PortableForm *form = &p->portable[i];
        text_printf(t, "#ifndef %s\n#define %s %s\n", form->macro, form->macro, form->symbol);
        cgen_macro(cx, t, form->symbol, form->parameter, form->parameter_count, form->function);
        text_add(t, "#endif\n\n");
    }
}

/* Prints the functions of layers, each once. */
static void functions(Ctx *cx, Text *t, const Program *p)
{
    for (int i = 0; i < p->function_count; i++) {
        if (shares_place_of_earlier(p, i)) continue;
        Text one = text_new(cx);
        cgen_function(cx, &one, p, p->function[i]);
        text_char(&one, '\n');
        partition_function(cx, t, p, p->function[i], text_string(&one));
    }
}

static const Expr *note_float(Ctx *cx, const Expr *e, void *found)
{
    (void)cx;
    if (dtype_is_float(e->type)) *(bool *)found = true;
    return e;
}

static bool has_floats(Ctx *cx, const Program *p)
{
    bool found = false;
    for (int i = 0; i < p->function_count && !found; i++)
        code_map_exprs(cx, p->function[i]->body, note_float, &found);
    return found;
}

/* Returns the names of the runtime's pieces that constants, the arena and the types of values require. */
static const char *required_pieces(Ctx *cx, const Program *p, const Source *s)
{
    bool are_finite = true;
    for (int i = 0; i < s->constant_count; i++) are_finite = are_finite && weights_are_finite(s->constant[i]);
    const bool is_aligned = s->constant_count || p->static_arena || p->weights.kind == WEIGHTS_INCLUDED;
    Text t = text_new(cx);
    features_pieces(&t, p);
    text_printf(&t, "%s %s", are_finite ? is_aligned ? "LW_ALIGN" : "" : "LW_ALIGN INFINITY",
                has_floats(cx, p) ? "lw_ieee" : "");
    return text_string(&t);
}

static void begin_source(Ctx *cx, Text *t, const Program *p, const char *required)
{
    text_printf(t, "/* %s: %s for %s, emitted by Loopwright. */\n", p->name, comment_text(cx, p->source), p->target);
    cgen_include_header(cx, t, p);
    text_add(t, "\n#include <stddef.h>\n");
    if (features_call_string(p)) text_add(t, "#include <string.h>\n");
    features_print(cx, t, p, FEATURE_INCLUDED);
    runtime_prologue(cx, t, required, p->standalone);
    features_print(cx, t, p, FEATURE_FIRST);
    acsl_lemmas(t, p->function, p->function_count);
}

Source cgen_source(Ctx *cx, const Program *p)
{
    Source s = { .constant_count = 0 };
    Text code = text_new(cx), weights = text_new(cx), run = text_new(cx), before = text_new(cx);
    portable_forms(cx, &code, p);
    functions(cx, &code, p);
    constants(cx, p, &weights, &s);
    features_print(cx, &weights, p, FEATURE_CONSTANTS);
    features_print(cx, &run, p, FEATURE_DEFINED);
    bodies(cx, &run, p);
    partition_defaults(cx, &run, p, print_call_of_partition);
    run_function(cx, &run, p);
    if (p->step) {
        const Program step = step_of(p);
        text_char(&run, '\n');
        run_function(cx, &run, &step);
    }
    features_print(cx, &run, p, FEATURE_LAST);
    const char *required = text_format(cx, "%s %s", required_pieces(cx, p, &s), text_string(&code));
    begin_source(cx, &before, p, required);
    text_addn(&before, text_string(&code), code.length);
    s.before = wrap_lines(cx, text_string(&before));
    s.constants = wrap_lines(cx, text_string(&weights));
    s.after = wrap_lines(cx, text_string(&run));
    return s;
}

const char *cgen_code(Ctx *cx, const Program *p)
{
    Program plain = *p;
    Text t = text_new(cx);
    plain.selftest = NULL;
    plain.has_profile = false;
    plain.portable_count = 0;
    cgen_complete(cx, &plain);
    functions(cx, &t, &plain);
    if (p->step) training_functions(cx, &t, &plain);
    bodies(cx, &t, &plain);
    run_function(cx, &t, &plain);
    if (p->step) {
        const Program step = step_of(&plain);
        run_function(cx, &t, &step);
    }
    return text_string(&t);
}

void cgen_print(Ctx *cx, const Source *s, TextPut *put, void *to)
{
    const char *at = s->constants;
    put(to, s->before, strlen(s->before));
    for (int i = 0; i < s->constant_count; i++) {
        const char *elements = strstr(at, ELEMENTS);
        put(to, at, (size_t)(elements - at));
        weights_print(cx, s->constant[i], put, to);
        at = elements + strlen(ELEMENTS);
    }
    put(to, at, strlen(at));
    put(to, s->after, strlen(s->after));
}

const char *cgen_text(Ctx *cx, const Program *p)
{
    const Source s = cgen_source(cx, p);
    Text t = text_new(cx);
    cgen_print(cx, &s, text_put, &t);
    return text_string(&t);
}
