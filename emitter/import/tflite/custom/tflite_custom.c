/* SPDX-License-Identifier: MIT */
/* Decision: custom operators are rows. A row with the code of custom operators is found by its name; options are a
 * flexbuffer (`import/formats/flexbuffer.c`). TensorFlow Lite Micro's signal library is such rows
 * (`import/tflite/custom`, `tflite_spectrum.c`, `tflite_frames.c`), as is the end of SSD detectors
 * (`tflite_detect.c`). Private buffers of the library's kernels become states of an operator (`tflite_own_state`),
 * the oldest sample first: no ring index is needed, because the new state is a slice of a concatenation. The
 * transform in fixed point is a call per factor (`ops/integer/fourier.c`), so the plan lets two arrays alternate.
 * Digits are reversed by one transpose per factor. `CIRCULAR_BUFFER` may end a run. The operators after it are still
 * computed, but their states and the model's outputs keep their old values (`tflite_states_gate`). */
#include "import/tflite/custom/tflite_custom.h"

#include "import/tflite/ops/tflite_state.h"
#include "support/text.h"

bool tflite_custom_options(TfliteCall *c, const CustomOption *option, int count, int64_t *out)
{
    FlexMap map;
    if (!flex_map(c->op->custom_options, &map)) {
        tflite_refuse(c, "its options are not a map; write a flexbuffer with '%s'", option[0].name);
        return false;
    }
    for (int i = 0; i < count && !ctx_failed(c->cx); i++)
        if (!flex_int(&map, option[i].name, &out[i]))
            tflite_refuse(c, "its option '%s' is missing or not an integer; use an integer from %lld to %lld",
                             option[i].name,
                          (long long)option[i].least, (long long)option[i].greatest);
        else if (out[i] < option[i].least || out[i] > option[i].greatest)
            tflite_refuse(c, "its option '%s' is %lld; use an integer from %lld to %lld",
                             option[i].name, (long long)out[i],
                          (long long)option[i].least, (long long)option[i].greatest);
    return !ctx_failed(c->cx);
}

bool tflite_custom_input(TfliteCall *c, int index, DType type, int rank)
{
    const Tensor *x = tflite_in(c, index);
    if (!x) tflite_refuse(c, "input %d is missing", index);
    else if (x->type != type || x->rank != rank)
        tflite_refuse(c, "input %d is %s%s; use %s of %d dimension%s", index, dtype_info(x->type)->spelling,
                      tensor_shape_text(c->cx, x), dtype_info(type)->spelling, rank, rank == 1 ? "" : "s");
    return !ctx_failed(c->cx);
}

Tensor *tflite_own_state(TfliteCall *c, const char *suffix, DType type, int rank, const int64_t *dim,
                         const Tensor *initial)
{
    return tflite_state_new(c->states, text_format(c->cx, "%s_%s", c->name, suffix), type, rank, dim, initial);
}

void tflite_own_state_set(TfliteCall *c, const Tensor *before, Tensor *after)
{
    if (!ctx_failed(c->cx)) tflite_state_set(c->states, before, after);
}
