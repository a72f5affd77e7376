/* SPDX-License-Identifier: MIT */
#include "cgen/parameters.h"

static bool has_arena(const Program *p) { return !p->static_arena && !p->memory_count; }
static bool has_memories(const Program *p) { return !p->static_arena && p->memory_count; }
static bool has_weights(const Program *p) { return p->weights.kind == WEIGHTS_CALLER; }
static bool has_params(const Program *p) { return p->params.count > 0; }
static bool has_state(const Program *p) { return p->state_count > 0; }

/* suffix: for the type struct NAME_suffix, or NULL if `type` is complete. error: the code for a null pointer, or NULL
 * if the pointer is tested elsewhere. */
typedef struct Parameter {
    bool (*is_passed)(const Program *p);
    const char *type, *suffix, *name, *error;
} Parameter;

static const Parameter parameters[PARAMETER_COUNT] = {
    [PARAMETER_ARENA] = { has_arena, "void", NULL, "arena", NULL },
    [PARAMETER_MEMORY] = { has_memories, "const struct ", "memories", "memory", NULL },
    [PARAMETER_WEIGHTS] = { has_weights, "const uint8_t", NULL, "weights", NULL },
    [PARAMETER_PARAMS] = { has_params, "const struct ", "params", "params", "E_PARAMS" },
    [PARAMETER_STATE] = { has_state, "struct ", "state", "state", "E_STATE" },
};

const char *program_parameters(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const Parameter *x = &parameters[i];
        if (!x->is_passed(p)) continue;
        /* not const, because a training step changes its parameters */
        const char *type = p->is_step && i == PARAMETER_PARAMS ? "struct " : x->type;
        text_printf(&t, "%s%s%s%s *%s, ", type, x->suffix ? p->name : "", x->suffix ? "_" : "",
                    x->suffix ? x->suffix : "", x->name);
    }
    return text_string(&t);
}

void print_arguments(Text *t, const Program *p, const char *const spelled[])
{
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (parameters[i].is_passed(p)) text_printf(t, "%s, ", spelled[i]);
}

void parameters_check(Text *t, const Program *p, const char *prefix)
{
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (parameters[i].error && parameters[i].is_passed(p))
            text_printf(t, "    if (%s == NULL) return %s_%s;\n", parameters[i].name, prefix, parameters[i].error);
}
