/* SPDX-License-Identifier: MIT */
#include "cgen/features.h"

#include "cgen/apart.h"
#include "cgen/arena_map.h"
#include "cgen/class_parts.h"
#include "cgen/control_flow.h"
#include "cgen/fork.h"
#include "cgen/inputs.h"
#include "cgen/memories.h"
#include "cgen/ports.h"
#include "cgen/runtime.h"
#include "cgen/state.h"
#include "cgen/training.h"
#include "support/names.h"

static bool always(const Program *p) { return p != NULL; }
static bool has_arena(const Program *p) { return !p->memory_count; }
static bool takes_arena(const Program *p) { return !p->memory_count && !p->static_arena; }
static bool has_memories(const Program *p) { return p->memory_count > 0; }
static bool takes_memories(const Program *p) { return p->memory_count && !p->static_arena; }
static bool has_ports(const Program *p) { return p->ports_in_arena; }
static bool takes_weights(const Program *p) { return p->weights.kind == WEIGHTS_CALLER; }
static bool includes_weights(const Program *p) { return p->weights.kind == WEIGHTS_INCLUDED; }
static bool has_near_flash(const Program *p) { return p->weights.kind == WEIGHTS_FLASH && !p->weights.is_far; }
static bool has_far_flash(const Program *p) { return p->weights.kind == WEIGHTS_FLASH && p->weights.is_far; }
static bool trains(const Program *p) { return p->step != NULL; }
static bool checks_labels(const Program *p) { return p->step && p->step->label_limit; }
static bool streams(const Program *p) { return p->stream.hop != 0; }
static bool has_state(const Program *p) { return p->state_count > 0; }
static bool has_devices(const Program *p) { return p->partition_count > 0; }
static bool tests_itself(const Program *p) { return p->selftest != NULL; }
static bool profiles(const Program *p) { return p->has_profile; }
static bool marks_layers(const Program *p) { return !p->has_profile; }
static bool decides_sizes(const Program *p) { return p->decides_sizes; }

static bool rounds_once(const Program *p) { return ports_are_i8(p) && !p->rounds_twice; }
static bool rounds_twice(const Program *p) { return ports_are_i8(p) && p->rounds_twice; }
static bool contracts(const Program *p) { return p->contracts; }
static bool has_flags(const Program *p) { return p->flags != NULL; }
static bool has_core_header(const Program *p) { return p->core_header != NULL; }

static bool has_inouts(const Program *p)
{
    bool has = false;
    for (int i = 0; i < p->output_count; i++) has = has || p->output[i].inout;
    return has;
}

static bool may_stop(const Program *p)
{
    bool stops = false;
    for (int i = 0; i < p->function_count; i++) stops = stops || code_may_stop(p->function[i]->body);
    return stops;
}

static bool has_section(const Program *p)
{
    bool has = p->weights.kind == WEIGHTS_SECTION;
    for (int i = 0; p->constant_section && i < p->constant_count; i++) has = has || p->constant_section[i];
    for (int i = 0; p->static_arena && i < p->memory_count; i++) has = has || p->memory[i].section;
    return has;
}

static bool copies_constants(const Program *p)
{
    bool copies = false;
    for (int i = 0; i < p->call_count; i++) copies = copies || p->call[i].copy_count;
    return copies;
}

static bool moves_results(const Program *p)
{
    const Call *call;
    bool moves = false;
    for (int i = 0; !moves && (call = program_call(p, i)) != NULL; i++) moves = call->move != NULL;
    return moves || (p->step && moves_results(p->step));
}

static bool moves_memory(const Program *p)
{
    const Call *call;
    bool moves = false;
    for (int i = 0; !moves && (call = program_call(p, i)) != NULL; i++)
        moves = call->move || (call->control && control_moves_memory(call->control));
    return moves;
}

static void note_flags(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_printf(t, " *\n * Compile with %s. Other builds take the portable form of the instructions: the same bits, "
                   "slower.\n", p->flags);
}

/* Makes simd/simd.h read the target's primitives. */
static void name_core_header(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_printf(t, "\n#if !defined(LW_SIMD_CORE) && (%s)\n#define LW_SIMD_CORE \"%s\"\n#endif\n",
                p->core_macros ? p->core_macros : "1", p->core_header);
}

/* The features in the order of their parts in a file. */
static const Feature features[] = {
    { .name = "arena", .is_in = has_arena, .code = 1,
      .meaning = "ARENA (-1)     /* the arena is null or misaligned */",
      .part = { [FEATURE_SIZES] = arena_sizes, [FEATURE_MEMORY] = arena_declare, [FEATURE_STATIC] = arena_static,
                [FEATURE_POINTERS] = arena_begin, [FEATURE_TESTS] = arena_test } },
    { .name = "arena of the caller", .is_in = takes_arena,
      .parameter = { .type = "void", .name = "arena", .argument = { "arena", "arena", "arena_" } },
      .part = { [FEATURE_CLASS_MEMBERS] = class_arena },
      .file = { [FEATURE_BENCH_MEMORY] = "arena.txt" }, .text = { [FEATURE_BENCH_LAST] = "    free(memory);\n" } },
    { .name = "--memory", .is_in = has_memories, .is_unproved = true, .code = 1,
      .meaning = "ARENA (-1)     /* a memory is null or misaligned */",
      .part = { [FEATURE_SIZES] = memories_declare, [FEATURE_STATIC] = memories_static,
                [FEATURE_POINTERS] = memories_begin } },
    { .name = "memories of the caller", .is_in = takes_memories,
      .parameter = { .type = "const struct ", .suffix = "memories", .name = "memory",
                     .argument = { "memory", "&memories", "&memory_" } },
      .part = { [FEATURE_BENCH_MEMORY] = memories_of_testbench, [FEATURE_BENCH_LAST] = memories_test_guards },
      .text = { [FEATURE_CLASS_MEMBERS] = "    struct $_memories memory_;\n" } },
    { .name = "open sizes", .is_in = always, .code = 2,
      .meaning = "DIM   (-2)     /* a size is outside its declared range */" },
    { .name = "ports", .is_in = always, .code = 4,
      .meaning = "NULL  (-4)     /* `in`, `out` or a pointer in them is null */" },
    { .name = "--check-inputs", .is_in = inputs_are_checked, .code = 10,
      .meaning = "INPUT (-10)   /* an element of an input is NaN or outside its declared range */",
      .part = { [FEATURE_BEGIN] = inputs_check } },
    { .name = "in-out tensors", .is_in = has_inouts, .is_unproved = true, .calls_string = true,
      .part = { [FEATURE_BEGIN] = ports_take_before } },
    { .name = "--io arena", .is_in = has_ports, .is_unproved = true, .part = { [FEATURE_CLASS_PORTS] = class_ports } },
    { .name = "weights in a file", .is_in = weights_are_in_file, .code = 6, .calls_string = true,
      .meaning = "WEIGHTS (-6)  /* the weights are null, misaligned, damaged, or another network's */",
      .part = { [FEATURE_MACROS] = file_macros, [FEATURE_CALLED] = file_declare_check,
                [FEATURE_CONSTANTS] = file_functions, [FEATURE_TESTS] = file_check_in_run } },
    { .name = "--weights bin", .is_in = takes_weights, .is_unproved = true,
      .parameter = { .type = "const uint8_t", .name = "weights", .argument = { "weights", "weights", "weights" } },
      .file = { [FEATURE_BENCH_FUNCTIONS] = "read_weights.txt", [FEATURE_BENCH_OPTIONS] = "weights_option.txt" } },
    { .name = "--weights incbin", .is_in = includes_weights, .is_unproved = true, .pieces = "LW_INCBIN" },
    { .name = "--weights progmem", .is_in = has_near_flash, .is_unproved = true, .pieces = "LW_FLASH" },
    { .name = "--weights progmem", .is_in = has_far_flash, .is_unproved = true, .pieces = "LW_FAR_FLASH" },
    { .name = "sections", .is_in = has_section, .pieces = "LW_SECTION" },
    { .name = "--train", .is_in = trains, .is_unproved = true, .code = 7, .calls_string = true,
      .meaning = "PARAMS (-7)   /* params are null, damaged or of another version */",
      .parameter = { .type = "struct ", .suffix = "params", .name = "params", .error = "E_PARAMS",
                     .argument = { "params", "&params", "&params_" }, .step_writes = true },
      .part = { [FEATURE_ROWS] = training_rows, [FEATURE_MEMORY] = arena_of_training,
                [FEATURE_DECLARED] = training_declare, [FEATURE_DECLARED_AFTER] = training_declare_step,
                [FEATURE_DEFINED] = training_functions } },
    { .name = "labels", .is_in = checks_labels, .code = 9,
      .meaning = "LABEL (-9)    /* a label is not a class; params are unchanged */" },
    { .name = "--stream", .is_in = streams, .part = { [FEATURE_DECLARED] = stream_declare } },
    { .name = "a state", .is_in = has_state, .is_unproved = true, .code = 3, .calls_string = true,
      .meaning = "STATE (-3)     /* the state is null */",
      .parameter = { .type = "struct ", .suffix = "state", .name = "state", .error = "E_STATE",
                     .argument = { "state", "&state", "&state_" } },
      .part = { [FEATURE_ROWS] = state_rows, [FEATURE_DECLARED] = state_declare, [FEATURE_DEFINED] = state_define },
      .text = { [FEATURE_BENCH_BEGIN] = "    static struct $_state state;\n    $_reset(&state);\n",
                [FEATURE_CLASS_STATE] = "    void reset() noexcept { $_reset(&state_); }\n",
                [FEATURE_CLASS_MEMBERS] = "    struct $_state state_;\n" } },
    { .name = "alternating state", .is_in = state_alternates,
      .text = { [FEATURE_VARIABLES] = "    const int now = state->current != 0, next = !now;\n",
                [FEATURE_END] = "    state->current = (uint8_t)next;\n" } },
    { .name = "8-bit ports", .is_in = rounds_once,
      .text = { [FEATURE_NOTES] = " *\n * Requantization rounds once.\n" } },
    { .name = "8-bit ports, rounded twice", .is_in = rounds_twice,
      .text = { [FEATURE_NOTES] =
          " *\n * Requantization rounds twice, as TensorFlow Lite's reference kernels do.\n" } },
    { .name = "--float contract", .is_in = contracts,
      .text = { [FEATURE_NOTES] =
          " *\n * Products and sums of floats round once, by fused multiply-adds. Processors without such an "
          "instruction\n * compute them in software, slowly, with the same bits; --float separate rounds twice.\n" } },
    { .name = "flags of the compiler", .is_in = has_flags, .part = { [FEATURE_NOTES] = note_flags } },
    { .name = "primitives of the core", .is_in = has_core_header, .part = { [FEATURE_INCLUDED] = name_core_header } },
    { .name = "loops", .is_in = always, .part = { [FEATURE_NOTES] = control_notes } },
    { .name = "devices", .is_in = has_devices, .part = { [FEATURE_CALLED] = partition_prototypes } },
    { .name = "external functions", .is_in = may_stop, .code = 5,
      .meaning = "CALL  (-5)     /* a C function that a layer calls returned a status not 0 */" },
    { .name = "sizes that data decide", .is_in = decides_sizes, .code = 8,
      .meaning = "SIZE  (-8)     /* data decided a size above its maximum, or one that a layer cannot take */",
      .file = { [FEATURE_BENCH_STATUS] = "size_status.txt" } },
    { .name = "--selftest", .is_in = tests_itself, .is_unproved = true,
      .part = { [FEATURE_DECLARED_AFTER] = selftest_declare, [FEATURE_DEFINED] = selftest_define } },
    { .name = "--selftest that copies inputs", .is_in = selftest_moves_memory, .calls_string = true },
    { .name = "--cores", .is_in = forks_any, .is_unproved = true, .pieces = "LW_FORK",
      .part = { [FEATURE_BEGIN] = fork_begin } },
    { .name = "--profile", .is_in = profiles, .pieces = "LW_COUNTER",
      .part = { [FEATURE_DECLARED_AFTER] = profile_declare, [FEATURE_FIRST] = profile_define },
      .file = { [FEATURE_BENCH_END] = "profile.txt" },
      .text = { [FEATURE_BEGIN] = "    $_profile_layer = -1;\n    LW_COUNTER_START();\n",
                [FEATURE_END] = "    $_profile_mark(-1);\n",
                [FEATURE_LAST] = "\n#undef LW_LAYER     /* it counts only for this model */\n" } },
    { .name = "marks of layers", .is_in = marks_layers,
      .text = { [FEATURE_FIRST] =
          "\n#ifndef LW_LAYER\n"
          "#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */\n#endif\n\n" } },
    { .name = "prototypes", .is_in = always, .part = { [FEATURE_FIRST] = externals_declare } },
    { .name = "copied constants", .is_in = copies_constants, .pieces = "LW_COPY_START", .calls_string = true },
    { .name = "moved results", .is_in = moves_results, .pieces = "lw_move" },
    { .name = "names in memories", .is_in = always, .part = { [FEATURE_DEFINED] = arena_map } },
    { .name = "moves between layers", .is_in = moves_memory, .calls_string = true },
};

void cgen_complete(Ctx *cx, Program *p)
{
    const size_t most = sizeof features / sizeof *features;
    const Feature **at = NEW_ARRAY(cx->arena, const Feature *, most);
    int count = 0;
    for (size_t i = 0; i < most; i++)
        if (features[i].is_in(p)) at[count++] = &features[i];
    p->features = (Features){ count, at };
    p->prefix = name_upper(cx, p->name);
}
