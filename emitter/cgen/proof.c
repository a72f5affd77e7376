/* SPDX-License-Identifier: MIT */
/* Decision: two tools prove the emitted C, each what it is strong in. Eva, an interpreter over ranges, follows NAME_run
 * through the plan of memory: it checks the contract of each layer at its call, and follows which bytes have values.
 * WP proves that the body of each layer keeps its contract, for all contents of its arrays. Eva runs those helpers over
 * all arguments whose products exceed WP's provers. NAME_proof.c has the programs, NAME_proof.sh the commands. A goal
 * that is not proved is open: the script's status is 0 only if every goal is valid and there is no alarm. */
#include <string.h>

#include "cgen/apart.h"
#include "cgen/control_flow.h"
#include "cgen/parameters.h"
#include "cgen/ports.h"
#include "cgen/runtime.h"
#include "support/names.h"

/* ---- Helpers that Eva proves ------------------------------------------------------------------------------------- */

/* A helper and the statements that call it with all arguments of its contract. Eva joins the paths of a loop or branch;
 * `split` keeps one for each value. */
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
      "    const int32_t a = Frama_C_interval(INT32_MIN, INT32_MAX), b = Frama_C_interval(-INT32_MAX, INT32_MAX);\n"
      "    result = lw_mulhigh_i32(a, b);\n"
      "    result = lw_mulhigh_i32(b, a);\n" },
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

/* All values of a type: an expression with the type's own conversion. Floats are finite. */
static const char *all_values(Ctx *cx, DType t)
{
    const DTypeInfo *d = dtype_info(t);
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
    const char *prefix = name_upper(cx, p->name);
    text_add(t, "\n/* Runs the model on all inputs. */\nint main(void)\n{\n");
    if (!p->static_arena) text_printf(t, "    %s_ARENA(arena);\n", prefix);
    for (int i = 0; i < p->input_count; i++)
        text_printf(t, "    for (int32_t i = 0; i < %lld; i++) in_%s[i] = %s;\n", (long long)room(cx, &p->input[i]),
                    p->input[i].name, all_values(cx, p->input[i].tensor->type));
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

const char *cgen_proof(Ctx *cx, const Program *p)
{
    Text t = text_new(cx);
    text_printf(&t, "/* %s: a program for Frama-C. It includes the model's source, because the layers are static. */\n"
                    "#include \"%.*s.c\"\n", p->name, (int)(strlen(p->header) - 2), p->header);
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

static const char about[] =
    "#!/bin/sh\n"
    "# Proves ~.c with Frama-C (25 or later), why3, z3 and cvc4. The last line is `N goals, N proved, N alarms`; the\n"
    "# status is 0 only if all goals are proved and there is no alarm. Eva follows the run with the contracts of the\n"
    "# layers; WP proves each layer; helpers are proved by one of them. Variables:\n"
    "#   RUNTIME      the folder of the runtime headers (not with --standalone)\n"
    "#   PROOF_CACHE  a folder of results: a layer whose text and helpers are unchanged is not proved again\n"
    "#   PROOF_TIME   the seconds for each goal and prover (10)\n"
    "set -u\n";

/* ~ is the stem of the files. */
static const char script[] =
    "cd \"$(dirname \"$0\")\" || exit 1\n"
    "work=$(mktemp -d) || exit 1\n"
    "trap 'rm -rf \"$work\"' EXIT\n"
    "goals=0 proved=0 alarms=0\n"
    "frama() {\n"
    "    frama-c -machdep gcc_x86_64 \\\n"
    "        -cpp-extra-args=\"-I. -I${RUNTIME:-.} -DLW_VECTOR= -DLW_ROLLED= -DLW_SIMD= -DLW_INDEPENDENT=\" \\\n"
    "        \"$@\" </dev/null >\"$work/log\" 2>&1\n"
    "}\n"
    "listed() { echo \"$1\" | tr ' ' ','; }\n"
    "count() {\n"
    "    goals=$((goals + $2)) proved=$((proved + $3)) alarms=$((alarms + $4))\n"
    "    echo \"$1: $2 goals, $3 proved, $4 alarms\"\n"
    "}\n"
    "# Counts the goals and alarms of a run of Eva by its summary; without a summary, one alarm.\n"
    "eva() {\n"
    "    what=$1\n"
    "    shift\n"
    "    frama -eva -eva-no-results -eva-ilevel 64 -eva-plevel 300000 -warn-special-float none \\\n"
    "        -eva-msg-key=-initial-state,-final-states \"$@\"\n"
    "    set -- $(awk '/alarms? generated by the analysis/ { alarms = $1; seen = 1 }\n"
    "        /^ *(Assertions|Preconditions) / { goals += $8; proved += $2 }\n"
    "        END { print goals + 0, proved + 0, seen ? alarms + 0 : 1 }' \"$work/log\")\n"
    "    grep -A3 'eva:alarm\\|User Error' \"$work/log\" | grep -v '^--'\n"
    "    count \"$what\" \"$1\" \"$2\" \"$3\"\n"
    "}\n"
    "# Counts the goals of a run of WP; without a result, one open goal.\n"
    "wp() {\n"
    "    what=$1\n"
    "    shift\n"
    "    frama -wp -wp-no-init-const -wp-prover cvc4,z3 -wp-timeout \"${PROOF_TIME:-10}\" -wp-par 2 \"$@\"\n"
    "    set -- $(awk '/Proved goals:/ { print $6, $4; seen = 1 } END { if (!seen) print 1, 0 }' \"$work/log\")\n"
    "    grep '\\[Failed\\] Goal\\|User Error' \"$work/log\"\n"
    "    count \"$what\" \"$1\" \"$2\" 0\n"
    "    last=$1\n"
    "    [ \"$1\" -eq \"$2\" ]\n"
    "}\n"
    "# A function with its contract, and everything above the first layer: what its proof depends on.\n"
    "text_of() {\n"
    "    frama-c -version\n"
    "    awk -v name=\"$1\" '/^\\/\\*@/ { text = \"\"; keep = 1 } keep { text = text $0 \"\\n\" }\n"
    "        /^}/ { if (match(text, \"[ *]\" name \"[(]\") || match(text, /static inline/)) print text\n"
    "            text = \"\"; keep = 0 }' \\\n"
    "        \"$work/layers.c\"\n"
    "}\n"
    "# The elements of constants take no part in the proof of a layer, whose contract states their ranges. Without\n"
    "# them the file is read quickly.\n"
    "awk '/^static const .* = {$/ { print $0 \" 0 };\"; inside = 1 } !inside { print } /^};/ { inside = 0 }' ~.c \\\n"
    "    >\"$work/layers.c\"\n"
    "cp ~.h \"$work\"\n"
    "eva 'the run, by Eva' -eva-use-spec \"$(listed \"$layers\")\" ~_proof.c\n"
    "for f in $layers; do\n"
    "    key=$(text_of \"$f\" | sha256sum | cut -d' ' -f1)\n"
    "    if [ -n \"${PROOF_CACHE:-}\" ] && [ -f \"$PROOF_CACHE/$key\" ]; then\n"
    "        known=$(cat \"$PROOF_CACHE/$key\")\n"
    "        count \"$f, from the cache\" \"$known\" \"$known\" 0\n"
    "    elif wp \"$f, by WP\" -wp-rte -rte-initialized \"$f\" -wp-fct \"$f\" \"$work/layers.c\"; then\n"
    "        [ -z \"${PROOF_CACHE:-}\" ] || { mkdir -p \"$PROOF_CACHE\" && echo \"$last\" >\"$PROOF_CACHE/$key\"; }\n"
    "    fi\n"
    "done\n"
    "if [ -n \"$by_wp\" ]; then wp 'helpers, by WP' -wp-rte -wp-fct \"$(listed \"$by_wp\")\" \"$work/layers.c\"; fi\n"
    "if [ -n \"$by_eva\" ]; then\n"
    "    wp 'contracts of helpers, by WP' -wp-fct \"$(listed \"$by_eva\")\" \"$work/layers.c\"\n"
    "    eva 'helpers, by Eva' -main proof_helpers ~_proof.c\n"
    "fi\n"
    "echo \"$goals goals, $proved proved, $alarms alarms\"\n"
    "[ \"$goals\" -eq \"$proved\" ] && [ \"$alarms\" -eq 0 ]\n";

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

/* Adds the text with the stem in place of each ~. */
static void add_with_stem(Text *t, const char *text, const char *stem)
{
    for (; *text; text++)
        if (*text == '~') text_add(t, stem);
        else text_char(t, *text);
}

const char *cgen_proof_script(Ctx *cx, const Program *p, const char *stem)
{
    int count;
    const char *const *name = used_helpers(cx, p, &count);
    Text t = text_new(cx);
    add_with_stem(&t, about, stem);
    text_printf(&t, "layers='%s'\nby_wp='%s'\nby_eva='%s'\n", layer_names(cx, p),
                helper_names(cx, name, count, false), helper_names(cx, name, count, true));
    add_with_stem(&t, script, stem);
    return text_string(&t);
}
