/* SPDX-License-Identifier: MIT */
#include "cgen/features.h"

#include "cgen/apart.h"
#include "cgen/control_flow.h"
#include "cgen/state.h"
#include "cgen/training.h"

typedef void PrintPart(Ctx *cx, Text *t, const Program *p, const char *prefix);

static bool always(const Program *p) { return p != NULL; }
static bool has_arena(const Program *p) { return !p->memory_count; }
static bool has_memories(const Program *p) { return p->memory_count > 0; }
static bool trains(const Program *p) { return p->step != NULL; }
static bool checks_labels(const Program *p) { return p->step && p->step->label_limit; }
static bool streams(const Program *p) { return p->stream.hop != 0; }
static bool has_state(const Program *p) { return p->state_count > 0; }
static bool has_devices(const Program *p) { return p->partition_count > 0; }
static bool tests_itself(const Program *p) { return p->selftest != NULL; }
static bool profiles(const Program *p) { return p->has_profile; }
static bool decides_sizes(const Program *p) { return p->decides_sizes; }

static bool may_stop(const Program *p)
{
    bool stops = false;
    for (int i = 0; i < p->function_count; i++) stops = stops || code_may_stop(p->function[i]->body);
    return stops;
}

/* The features in the order of their parts in a file. */
static const struct Feature {
    bool (*is_in)(const Program *p);
    PrintPart *part[FEATURE_PARTS];
} features[] = {
    { trains, { [FEATURE_ROWS] = training_rows, [FEATURE_DECLARED] = training_declare,
                [FEATURE_DECLARED_AFTER] = training_declare_step, [FEATURE_DEFINED] = training_functions } },
    { streams, { [FEATURE_DECLARED] = stream_declare } },
    { has_state, { [FEATURE_ROWS] = state_rows, [FEATURE_DECLARED] = state_declare,
                   [FEATURE_DEFINED] = state_define } },
    { weights_are_in_file, { [FEATURE_MACROS] = file_macros, [FEATURE_DECLARED] = file_declare_check,
                             [FEATURE_CONSTANTS] = file_functions } },
    { has_devices, { [FEATURE_DECLARED] = partition_prototypes } },
    { tests_itself, { [FEATURE_DECLARED_AFTER] = selftest_declare, [FEATURE_DEFINED] = selftest_define } },
    { profiles, { [FEATURE_DECLARED_AFTER] = profile_declare } },
};

void features_print(Ctx *cx, Text *t, const Program *p, const char *prefix, FeaturePart part)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (features[i].part[part] && features[i].is_in(p)) features[i].part[part](cx, t, p, prefix);
}

static const struct { bool (*is_in)(const Program *p); const char *text; } codes[] = {
    { has_arena, "ARENA (-1)     /* the arena is null or misaligned */" },
    { has_memories, "ARENA (-1)     /* a memory is null or misaligned */" },
    { always, "DIM   (-2)     /* a size is outside its declared range */" },
    { has_state, "STATE (-3)     /* the state is null */" },
    { always, "NULL  (-4)     /* `in`, `out` or a pointer in them is null */" },
    { may_stop, "CALL  (-5)     /* a C function that a layer calls returned a status not 0 */" },
    { weights_are_in_file, "WEIGHTS (-6)  /* the weights are null, misaligned, damaged, or another network's */" },
    { trains, "PARAMS (-7)   /* params are null, damaged or of another version */" },
    { decides_sizes, "SIZE  (-8)     /* data decided a size above its maximum, or one that a layer cannot take */" },
    { checks_labels, "LABEL (-9)    /* a label is not a class; params are unchanged */" },
};

void error_codes(Text *t, const Program *p, const char *prefix)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].is_in(p)) text_printf(t, "#define %s_E_%s\n", prefix, codes[i].text);
}
