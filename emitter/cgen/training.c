/* SPDX-License-Identifier: MIT */
#include "cgen/training.h"

#include <string.h>

#include "cgen/parameters.h"
#include "support/names.h"
#include "support/wrap.h"

enum { HEAD_BYTES = 8 };           /* the version and the checksum */

static bool is_scalar(const Trained *x) { return x->tensor->rank == 0; }

int64_t training_bytes(const Program *p)
{
    int64_t bytes = HEAD_BYTES;
    for (int i = 0; i < p->params.count; i++) bytes += tensor_bytes(p->params.at[i].tensor);
    return bytes;
}

const char *training_place(Ctx *cx, const Trained *x)
{
    return text_format(cx, "%sparams->%s", is_scalar(x) ? "&" : "", x->name);
}

void training_rows(Ctx *cx, Text *t, const Program *p)
{
    text_add(t, " * Parameters, caller-owned\n");
    for (int i = 0; i < p->params.count; i++)
        text_printf(t, " *   %-20s %-8s %s\n", p->params.at[i].name, dtype_info(p->params.at[i].tensor->type)->c_type,
                    tensor_shape_names(cx, p->params.at[i].tensor));
}

/* ---- model.h ----------------------------------------------------------------------------------------------------- */

static void declare_struct(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "struct %s_params {\n    uint32_t version, checksum;     /* see %s_params_check */\n", p->name,
                p->name);
    for (int i = 0; i < p->params.count; i++) {
        const Trained *x = &p->params.at[i];
        const char *type = dtype_info(x->tensor->type)->c_type;
        if (is_scalar(x)) text_printf(t, "    %s %s;     /* %s */\n", type, x->name, x->what);
        else
            text_printf(t, "    %s %s[%lld];     /* %s */\n", type, x->name, (long long)tensor_elems(x->tensor),
                        tensor_shape_names(cx, x->tensor));
    }
    text_add(t, "};\n");
}

void training_declare(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "\n/* What %s_train changes. Plain data: it may be written to flash after any step. */\n", p->name);
    text_printf(t, "#define %s_PARAMS_VERSION 0x%sUL     /* of the members and the model */\n", p->prefix,
                p->params.version);
    declare_struct(cx, t, p);
    text_printf(t, "\n/* Sets the values of the model. */\nvoid %s_params_init(struct %s_params *params);\n", p->name,
                p->name);
    text_printf(t, "/* Computes the checksum, before params are stored. */\nvoid %s_params_seal(struct %s_params "
                   "*params);\n", p->name, p->name);
    text_printf(t, "/* Returns 0, or %s_E_PARAMS if stored params are of another version or damaged. */\n"
                   "int %s_params_check(const struct %s_params *params);\n\n", p->prefix, p->name, p->name);
    const Port *target = &p->step->input[p->step->input_count - 1];
    text_printf(t, "struct %s_targets {\n    const %s *%s;     /* %s */\n};\n", p->name,
                dtype_info(target->tensor->type)->c_type, target->name, tensor_shape_names(cx, target->tensor));
}

void training_signature(Ctx *cx, Text *t, const Program *p)
{
    const size_t start = t->length;
    const Port *loss = p->is_step ? p->output : p->step->output;
    Program step = *p;
    step.is_step = true;
    text_printf(t, "int %s_train(%sconst struct %s_inputs *in, const struct %s_targets *target, %s *loss)", p->name,
                program_parameters(cx, &step), p->name, p->name, dtype_info(loss->tensor->type)->c_type);
    wrap_list(cx, t, start);
}

void training_declare_step(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "\n/* Trains on one sample: params change in place, *loss is the loss before. Returns as %s_run "
                   "does. */\n", p->name);
    training_signature(cx, t, p);
    text_add(t, ";\n");
}

/* ---- model.c ----------------------------------------------------------------------------------------------------- */

static void init_function(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "void %s_params_init(struct %s_params *params)\n{\n    memset(params, 0, sizeof *params);\n"
                   "    params->version = %s_PARAMS_VERSION;\n", p->name, p->name, p->prefix);
    for (int i = 0; i < p->params.count; i++) {
        const Trained *x = &p->params.at[i];
        if (x->initial_name)
            text_printf(t, "    memcpy(params->%s, %s_%s, sizeof params->%s);\n", x->name, p->name, x->initial_name,
                        x->name);
        else if (x->initial) {
            const Scalar v = dtype_load(x->tensor->type, x->initial->data, 0);
            text_printf(t, "    params->%s = %s%s;\n", x->name, text_format(cx, "%.9g", v.f),
                        v.f == (double)(int64_t)v.f ? ".0f" : "f");
        }
    }
    text_add(t, "}\n\n");
}

/* Prints a CRC-32 (IEEE 802.3) that works bit by bit, so that it needs no table in flash. */
static void checksum_function(Text *t, const Program *p)
{
    text_printf(t,
                "static uint32_t %s_checksum(const struct %s_params *params)\n{\n"
                "    const uint8_t *bytes = (const uint8_t *)params;\n"
                "    const size_t first = offsetof(struct %s_params, checksum) + sizeof params->checksum;\n"
                "    uint32_t crc = 0xFFFFFFFFUL;\n    size_t i;\n    int bit;\n"
                "    for (i = first; i < sizeof *params; i++) {\n        crc ^= bytes[i];\n"
                "        for (bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320UL : 0);\n"
                "    }\n    return ~crc;\n}\n\n", p->name, p->name, p->name);
}

void training_functions(Ctx *cx, Text *t, const Program *p)
{
    init_function(cx, t, p);
    checksum_function(t, p);
    text_printf(t, "void %s_params_seal(struct %s_params *params)\n{\n", p->name, p->name);
    text_printf(t, "    params->checksum = %s_checksum(params);\n}\n\n", p->name);
    text_printf(t, "int %s_params_check(const struct %s_params *params)\n{\n"
                   "    if (params == NULL || params->version != %s_PARAMS_VERSION) return %s_E_PARAMS;\n"
                   "    return params->checksum == %s_checksum(params) ? 0 : %s_E_PARAMS;\n}\n\n", p->name, p->name,
                p->prefix, p->prefix, p->name, p->prefix);
}
