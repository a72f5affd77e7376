/* SPDX-License-Identifier: MIT */
/* `loopwright quantize`: from a float model and samples to integer C. */
#include "api/computation/arguments.h"
#include "quantizer/quantizer.h"
#include "support/guard.h"
#include "support/text.h"

static bool read_ports(Ctx *cx, const char *word, Ports *out)
{
    *out = text_equal(word, "float") ? PORTS_FLOAT : PORTS_INT8;
    if (!word || text_equal(word, "int8") || text_equal(word, "float")) return true;
    diag_usage(cx, NULL, "--ports does not accept \"%s\"; accepted: int8|float", word);
    return false;
}

static bool quantize(Ctx *cx, const char *model, const char *output, const lw_quantization *q, const lw_options *o)
{
    Build b;
    o = options_of(cx, "lw_quantize", o);
    if (!o || !is_given(cx, "lw_quantize", "the model", model) || !is_given(cx, "lw_quantize", "the output", output))
        return false;
    if (!q || !q->sample_count) {
        diag_usage(cx, NULL, "samples are required: --samples FILE.npy for each input");
        return false;
    }
    QuantizeOptions options = { .samples = q->samples, .sample_count = q->sample_count };
    if (!are_given(cx, "lw_quantize", "the samples", q->samples, q->sample_count)) return false;
    if (!read_ports(cx, q->ports, &options.ports) || !build_is_c_file(cx, output)) return false;
    return build_read(&b, cx, model, o) && build_quantize(&b, &options) && build_graph(&b) && build_nests(&b)
           && build_write(&b, output);
}

bool lw_quantize(lw_context *cx, const char *model, const char *output, const lw_quantization *q, const lw_options *o)
{
    RETURN_GUARDED(cx, bool, false, quantize(cx, model, output, q, o));
}
