/* SPDX-License-Identifier: MIT */
/* Decision: two tools prove the emitted C, and each proves the properties for which it is strong. Eva, an interpreter
 * over ranges, follows NAME_run through the plan of memory: it checks the contract of each layer at its call, and
 * follows which bytes have values. WP proves that the body of each layer keeps its contract, for all contents of its
 * arrays. Eva runs those helpers over all arguments whose products exceed WP's provers. NAME_proof.c has the programs,
 * NAME_proof.sh the commands. A goal that is not proved is open: the script's status is 0 only if every goal is valid
 * and there is no alarm. */
#include <string.h>

#include "cgen/apart.h"
#include "cgen/control_flow.h"
#include "cgen/inputs.h"
#include "cgen/parameters.h"
#include "cgen/ports.h"
#include "cgen/runtime.h"
#include "cgen/template.h"
#include "support/names.h"

/* ---- Helpers that Eva proves ------------------------------------------------------------------------------------- */

/* A helper, and the statements that call it with all arguments of its contract. Eva joins the paths of a loop or
 * branch; `split` keeps one for each value. */
typedef struct Helper { const char *name, *calls; } Helper;

static const Helper helpers[] = {
    { "lw_asr_i32",
      "    const int32_t a = Frama_C_interval(INT32_MIN, INT32_MAX), n = Frama_C_interval(0, 31);\n"
      "    result = lw_asr_i32(a, n);\n" },
    { "lw_asr_i64",
      "    const int64_t a = Frama_C_long_long_interval(INT64_MIN, INT64_MAX);\n"
      "    result = lw_asr_i64(a, Frama_C_interval(0, 63)) < 0;\n" },
    { "lw_scale_i8",
      "    const int32_t a = Frama_C_interval(-0x3fffffff, 0x3fffffff), m = Frama_C_interval(0, INT32_MAX);\n"
      "    const int32_t n = Frama_C_interval(1, 22), zero = Frama_C_interval(-128, 128);\n"
      "    result = lw_scale_i8(a, m, n, zero);\n" },
    { "lw_mulhigh_i32",
      "    const int32_t a = Frama_C_interval(INT32_MIN, INT32_MAX), b = Frama_C_interval(INT32_MIN, INT32_MAX);\n"
      "    result = lw_mulhigh_i32(a, b);\n" },
    { "lw_shr_i32",
      "    const int32_t a = Frama_C_interval(INT32_MIN, INT32_MAX);\n"
      "    result = lw_shr_i32(a, 0);\n"
      "    result = lw_shr_i32(a, Frama_C_unsigned_long_long_interval(1, UINT64_MAX));\n" },
    { "lw_clz_i32",
      "    result = lw_clz_i32(0);\n"
      "    result = lw_clz_i32(Frama_C_interval(1, INT32_MAX));\n"
      "    result = lw_clz_i32(Frama_C_interval(INT32_MIN, -1));\n" },
    { "lw_expq_i32",
      "    const int32_t a = Frama_C_interval(INT32_MIN, INT32_MAX);\n"
      "    result = lw_expq_i32(a, Frama_C_interval(INT32_MIN, -1));\n"
      "    result = lw_expq_i32(a, Frama_C_interval(6, INT32_MAX));\n"
      "    //@ loop unroll 6;\n"
      "    for (int32_t m = 0; m < 6; m++) result = lw_expq_i32(a, m);\n" },
    { "lw_f32_bits",
      "    result = lw_f32_bits(Frama_C_float_interval(-FLT_MAX, FLT_MAX)) != 0;\n" },
    { "lw_f32_from_bits",
      "    result = lw_f32_from_bits(Frama_C_unsigned_int_interval(0, UINT32_MAX)) > 0;\n" },
    { "lw_f64_bits",
      "    result = lw_f64_bits(Frama_C_double_interval(-DBL_MAX, DBL_MAX)) != 0;\n" },
    { "lw_f64_from_bits",
      "    result = lw_f64_from_bits(Frama_C_unsigned_long_long_interval(0, UINT64_MAX)) > 0;\n" },
    { "lw_fmaf",
      "    const float a = Frama_C_float_interval(-FLT_MAX, FLT_MAX), b = Frama_C_float_interval(-FLT_MAX, FLT_MAX);\n"
      "    result = lw_fmaf(a, b, Frama_C_float_interval(-FLT_MAX, FLT_MAX)) > 0;\n" },
    { "lw_recipq_i32", "    result = lw_recipq_i32(Frama_C_interval(0, INT32_MAX));\n" },
    { "lw_roundshift_i32",
      "    const int32_t a = Frama_C_interval(INT32_MIN, INT32_MAX), n = Frama_C_interval(0, 31);\n"
      "    //@ split n;\n"
      "    result = lw_roundshift_i32(a, n);\n" },
};

static const Helper *helper_of(const char *name)
{
    for (size_t i = 0; i < sizeof helpers / sizeof helpers[0]; i++)
        if (strcmp(helpers[i].name, name) == 0) return &helpers[i];
    return NULL;
}

static const char *const *used_helpers(Ctx *cx, const Program *p, int *count)
{
    return runtime_functions(cx, cgen_code(cx, p), count);
}

/* ---- NAME_proof.c ------------------------------------------------------------------------------------------------ */

/* All values of an input: an expression with the type's own conversion. Floats are finite, in the declared range. */
static const char *all_values(Ctx *cx, const Port *port)
{
    const DType t = port->tensor->type;
    const DTypeInfo *d = dtype_info(t);
    if (port->is_checked && (t == F32 || t == F64))
        return text_format(cx, "Frama_C_%s_interval(%s, %s)", d->c_type, inputs_number(cx, t, port->least),
                           inputs_number(cx, t, port->most));
    if (t == F32) return "Frama_C_float_interval(-PROOF_MOST, PROOF_MOST)";
    if (t == F64) return "Frama_C_double_interval(-PROOF_MOST, PROOF_MOST)";
    if (t == I64) return "Frama_C_long_long_interval(INT64_MIN, INT64_MAX)";
    if (t == U64) return "Frama_C_unsigned_long_long_interval(0, UINT64_MAX)";
    if (t == U32) return "Frama_C_unsigned_int_interval(0, UINT32_MAX)";
    if (t == I32) return "Frama_C_interval(INT32_MIN, INT32_MAX)";
    if (dtype_is_float(t)) return "(uint16_t)Frama_C_interval(0, 65535)";
    return text_format(cx, "(%s)Frama_C_interval(%lld, %lld)", d->c_type, (long long)d->least, (long long)d->greatest);
}

static int64_t room(Ctx *cx, const Port *port)
{
    const int64_t elems = port_elems(cx, port->tensor);
    return elems > 0 ? elems : 1;
}

static void declare_ports(Ctx *cx, Text *t, const Port *port, int count, const char *prefix)
{
    for (int i = 0; i < count; i++)
        text_printf(t, "static %s %s_%s[%lld];\n", dtype_info(port[i].tensor->type)->c_type, prefix, port[i].name,
                    (long long)room(cx, &port[i]));
}

static void members(Text *t, const Port *port, int count, const char *prefix)
{
    for (int i = 0; i < count; i++) text_printf(t, "%s.%s = %s_%s", i ? ", " : " ", port[i].name, prefix, port[i].name);
}

static void run_all_inputs(Ctx *cx, Text *t, const Program *p)
{
    text_add(t, "\n/* Runs the model on all inputs. */\nint main(void)\n{\n");
    if (!p->static_arena) text_printf(t, "    %s_ARENA(arena);\n", p->prefix);
    for (int i = 0; i < p->input_count; i++)
        text_printf(t, "    for (int32_t i = 0; i < %lld; i++) in_%s[i] = %s;\n", (long long)room(cx, &p->input[i]),
                    p->input[i].name, all_values(cx, &p->input[i]));
    text_printf(t, "    %sstruct %s_inputs in = {", p->size_count ? "" : "const ", p->name);
    members(t, p->input, p->input_count, "in");
    text_add(t, " };\n");
    for (int i = 0; i < p->size_count; i++) {
        const Var *v = expr_as_var(p->size[i]);
        text_printf(t, "    in.%s = Frama_C_interval(%lld, %lld);\n", p->size_name[i], (long long)v->least,
                    (long long)v->greatest);
    }
    text_printf(t, "    const struct %s_outputs out = {", p->name);
    members(t, p->output, p->output_count, "out");
    text_printf(t, " };\n    result = %s_run(%s&in, &out);\n    return 0;\n}\n", p->name,
                p->static_arena ? "" : "arena, ");
}

static void run_helpers(Ctx *cx, Text *t, const Program *p)
{
    int count;
    const char *const *name = used_helpers(cx, p, &count);
    Text all = text_new(cx);
    for (int i = 0; i < count; i++) {
        const Helper *h = helper_of(name[i]);
        if (!h) continue;
        text_printf(t, "\nstatic void all_of_%s(void)\n{\n%s}\n", h->name, h->calls);
        text_printf(&all, "    all_of_%s();\n", h->name);
    }
    text_printf(t, "\n/* Runs the helpers on all arguments of their contracts. */\nvoid proof_helpers(void)\n{\n%s}\n",
                text_string(&all));
}

/* Returns the name of the files without their endings. */
static const char *stem_of(Ctx *cx, const Program *p)
{
    return text_format(cx, "%.*s", (int)(strlen(p->header) - 2), p->header);
}

const char *cgen_proof(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    text_printf(&t, "/* %s: a program for Frama-C. It includes the model's source, because the layers are static. */\n"
                    "#include \"%s.c\"\n", p->name, stem_of(cx, p));
    text_add(&t, "\n#include <float.h>\n#include \"__fc_builtin.h\"\n\n"
                 "#ifndef PROOF_MOST\n#define PROOF_MOST FLT_MAX     /* the largest magnitude of an input's floats */\n"
                 "#endif\n\nstatic volatile int32_t result;\n");
    declare_ports(cx, &t, p->input, p->input_count, "in");
    declare_ports(cx, &t, p->output, p->output_count, "out");
    run_helpers(cx, &t, p);
    run_all_inputs(cx, &t, p);
    return text_string(&t);
}

/* ---- NAME_proof.sh ----------------------------------------------------------------------------------------------- */

static const char *layer_names(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    for (int i = 0; i < p->function_count; i++) {
        bool is_first = true;
        for (int k = 0; k < i; k++) is_first = is_first && p->function[k] != p->function[i];
        if (is_first) text_printf(&t, "%s%s_%s", t.length ? " " : "", p->name, p->function[i]->name);
    }
    return text_string(&t);
}

static const char *helper_names(Ctx *cx, const char *const *name, int count, bool by_eva)
{
    Text t = text_new(cx);
    for (int i = 0; i < count; i++)
        if ((helper_of(name[i]) != NULL) == by_eva) text_printf(&t, "%s%s", t.length ? " " : "", name[i]);
    return text_string(&t);
}

const char *cgen_proof_script(Ctx *cx, const Program *p)
{
    int count;
    const char *const *name = used_helpers(cx, p, &count);
    Text t = text_new(cx);
    for (const char *const *line = template_lines("proof.sh"); !template_ends(*line); line++) {
        for (const char *c = *line; *c && !text_equal(*line, "@variables@"); c++)
            if (*c == '~') text_add(&t, stem_of(cx, p));
            else text_char(&t, *c);
        if (text_equal(*line, "@variables@"))
            text_printf(&t, "layers='%s'\nby_wp='%s'\nby_eva='%s'", layer_names(cx, p),
                        helper_names(cx, name, count, false), helper_names(cx, name, count, true));
        text_char(&t, '\n');
    }
    return text_string(&t);
}
