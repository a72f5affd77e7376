/* SPDX-License-Identifier: MIT */
/* Translates custom operators of TensorFlow Lite Micro that keep samples between runs, as state; all but the last are
 * of its signal library:
 *
 *   SignalFramer       overlapping frames of the samples
 *   SignalDelay        the samples of `delay_length` before
 *   SignalOverlapAdd   the sum of overlapping frames
 *   SignalStacker      the last frames side by side, every `stacker_step` frames
 *   CIRCULAR_BUFFER    the last slots; ends the run unless it is the last of `cycles_max` runs
 *
 * A state holds the last samples, the oldest first. The number of samples that are missing until the first valid output
 * is also a state. The reference does not write an output that is not valid; here the output has the samples so far. */
#include "import/tflite/custom/tflite_custom.h"

#include "import/tflite/ops/tflite_state.h"
#include "support/text.h"

enum { MOST_SAMPLES = 1 << 20, MOST_FRAMES = 256 };

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static Tensor *number(TfliteCall *c, int64_t n) { return tensor_scalar(c->cx, c->name, I32, (double)n); }

static Tensor *joined(TfliteCall *c, Tensor *a, Tensor *b, int axis)
{
    if (!a || !b || ctx_failed(c->cx)) return NULL;
    return call(c->cx, "concat", c->name, (Tensor *[]){ a, b }, 2, ATTRS(attr_int("axis", axis)));
}

/* Returns the kept samples followed by x [rows][n]; keeps the last `keep` samples for the next run. */
static Tensor *with_kept(TfliteCall *c, Tensor *x, int64_t rows, int64_t keep)
{
    if (!keep) return x;
    Tensor *kept = tflite_own_state(c, "kept", x->type, 2, (int64_t[]){ rows, keep }, NULL);
    Tensor *all = joined(c, kept, x, 1);
    const int64_t count = all ? tensor_dim(all, 1) : keep;
    tflite_own_state_set(c, kept, tflite_part(c, all, 1, count - keep, count));
    return all;
}

static Tensor *truth(TfliteCall *c, bool v) { return tensor_scalar(c->cx, c->name, BOOL, v); }

/* ---- Framer ------------------------------------------------------------------------------------------------------ */

/* Returns true if the frames are valid. Without prefill, the frames of the first runs are not valid, so a state counts
 * the steps up to `missing`. */
static Tensor *is_filled(TfliteCall *c, int64_t steps, int64_t missing)
{
    if (!missing) return truth(c, true);
    Tensor *count = tflite_own_state(c, "steps", I32, 0, NULL, NULL);
    Tensor *most = number(c, missing);
    Tensor *next = tflite_call2(c, "min", tflite_call2(c, "add", count, number(c, steps)), most);
    tflite_own_state_set(c, count, next);
    return tflite_call2(c, "greater_equal", count, number(c, missing));
}

/* Translates SignalFramer. The reference's buffer has a whole number of steps, so without prefill a frame is up to one
 * step old. */
static void framer(TfliteCall *c)
{
    enum { SIZE, STEP, PREFILL };
    static const CustomOption options[] = { { "frame_size", 1, MOST_SAMPLES }, { "frame_step", 1, MOST_SAMPLES },
                                            { "prefill", 0, 1 } };
    int64_t of[3], shape[MAX_RANK];
    if (!tflite_needs(c, 1) || !tflite_custom_options(c, options, 3, of)) return;
    Tensor *x = c->in[0];
    const int rank = x->rank;
    const int64_t size = of[SIZE], step = of[STEP], last = rank ? tensor_dim(x, rank - 1) : 0;
    if (!tflite_holds(c, step <= size, "'frame_step' is %lld and 'frame_size' %lld; use a step up to the size",
                      (long long)step, (long long)size)
        || !tflite_holds(c, rank < MAX_RANK && tensor_elems(x) >= 1, "the samples are %s; use at most %d dimensions of "
                         "fixed sizes above 0", tensor_shape_text(c->cx, x), MAX_RANK - 1)
        || !tflite_holds(c, last >= step && last % step == 0 && last / step <= MOST_FRAMES, "the samples are %s and "
                         "'frame_step' is %lld; use 1 to %d whole steps", tensor_shape_text(c->cx, x),
                         (long long)step, MOST_FRAMES))
        return;
    const int64_t frames = last / step, rows = tensor_elems(x) / last, steps = (size + step - 1) / step;
    Tensor *all = with_kept(c, tflite_reshape(c, x, (int64_t[]){ rows, last }, 2), rows,
                            of[PREFILL] ? size - step : (steps - 1) * step);
    Tensor **part = NEW_ARRAY(c->cx->arena, Tensor *, frames);
    for (int64_t i = 0; i < frames && all && !ctx_failed(c->cx); i++)
        part[i] = tflite_reshape(c, tflite_part(c, all, 1, i * step, i * step + size),
                                 (int64_t[]){ rows, 1, size }, 3);
    if (ctx_failed(c->cx)) return;
    for (int d = 0; d < rank - 1; d++) shape[d] = tensor_dim(x, d);
    shape[rank - 1] = frames;
    shape[rank] = size;
    Tensor *y = frames > 1 ? call(c->cx, "concat", c->name, part, (int)frames, ATTRS(attr_int("axis", 1))) : part[0];
    c->out[0] = tflite_reshape(c, y, shape, rank + 1);
    c->out[1] = is_filled(c, frames, of[PREFILL] ? 0 : steps - 1);
}

/* ---- Delay ------------------------------------------------------------------------------------------------------- */

static void delay(TfliteCall *c)
{
    static const CustomOption option = { "delay_length", 0, MOST_SAMPLES };
    int64_t length, shape[MAX_RANK];
    if (!tflite_needs(c, 1) || !tflite_custom_options(c, &option, 1, &length)) return;
    Tensor *x = c->in[0];
    if (x->rank < 1 || tensor_elems(x) < 1) {
        tflite_refuse(c, "its samples are %s; use one dimension or more", tensor_shape_text(c->cx, x));
        return;
    }
    const int64_t last = tensor_dim(x, x->rank - 1), rows = tensor_elems(x) / last;
    Tensor *all = with_kept(c, tflite_reshape(c, x, (int64_t[]){ rows, last }, 2), rows, length);
    for (int d = 0; d < x->rank; d++) shape[d] = tensor_dim(x, d);
    if (all) c->out[0] = tflite_reshape(c, tflite_part(c, all, 1, 0, last), shape, x->rank);
}

/* ---- Overlap-add ------------------------------------------------------------------------------------------------- */

/* Returns a + b; sums of i16 saturate. */
static Tensor *sum_of(TfliteCall *c, Tensor *a, Tensor *b)
{
    if (!a || a->type == F32) return tflite_call2(c, "add", a, b);
    Tensor *wide_b = tflite_call(c, "cast", b, attr_type("to", I32));
    Tensor *wide = tflite_call2(c, "add", tflite_call(c, "cast", a, attr_type("to", I32)), wide_b);
    Tensor *most = number(c, INT16_MAX);
    wide = tflite_call2(c, "min", tflite_call2(c, "max", wide, number(c, INT16_MIN)), most);
    return tflite_call(c, "cast", wide, attr_type("to", a->type));
}

/* Adds x to zeros, as the reference does with the first samples: -0 becomes 0. */
static Tensor *after_zeros(TfliteCall *c, Tensor *x)
{
    return x && x->type == F32 ? tflite_call2(c, "add", x, tensor_scalar(c->cx, c->name, F32, 0)) : x;
}

/* Translates SignalOverlapAdd. Adds each frame to the sums of the frames before it, which completes `step` samples. The
 * first frame of a run extends `step` samples beyond the kept sums. */
static void overlap_add(TfliteCall *c)
{
    static const CustomOption option = { "frame_step", 1, MOST_SAMPLES };
    int64_t step, shape[MAX_RANK];
    if (!tflite_needs(c, 1) || !tflite_custom_options(c, &option, 1, &step)) return;
    Tensor *x = c->in[0];
    const int rank = x->rank;
    const int64_t size = rank >= 2 ? tensor_dim(x, rank - 1) : 0, frames = rank >= 2 ? tensor_dim(x, rank - 2) : 0;
    if (!tflite_holds(c, frames >= 1 && frames <= MOST_FRAMES && tensor_elems(x) >= 1, "the frames are %s; use "
                      "[..][1 to %d frames][samples]", tensor_shape_text(c->cx, x), MOST_FRAMES)
        || !tflite_holds(c, size >= step, "the frames are %s and 'frame_step' is %lld; use at least a step of samples",
                         tensor_shape_text(c->cx, x), (long long)step))
        return;
    const int64_t rows = tensor_elems(x) / size / frames, keep = size - step;
    x = tflite_reshape(c, x, (int64_t[]){ rows, frames, size }, 3);
    Tensor *kept = keep ? tflite_own_state(c, "kept", x->type, 2, (int64_t[]){ rows, keep }, NULL) : NULL,
           *sums = kept, **part = NEW_ARRAY(c->cx->arena, Tensor *, frames);
    for (int64_t i = 0; i < frames && !ctx_failed(c->cx); i++) {
        Tensor *frame = tflite_reshape(c, tflite_part(c, x, 1, i, i + 1), (int64_t[]){ rows, size }, 2);
        if (!keep) frame = after_zeros(c, frame);
        else {
            Tensor *old = tflite_part(c, frame, 1, 0, keep);
            Tensor *zeros = after_zeros(c, tflite_part(c, frame, 1, keep, size));
            frame = joined(c, sum_of(c, old, sums), zeros, 1);
        }
        part[i] = tflite_part(c, frame, 1, 0, step);
        sums = keep ? tflite_part(c, frame, 1, step, size) : NULL;
    }
    if (ctx_failed(c->cx)) return;
    if (kept) tflite_own_state_set(c, kept, sums);
    for (int d = 0; d < rank - 2; d++) shape[d] = tensor_dim(c->in[0], d);
    shape[rank - 2] = frames * step;
    Tensor *y = frames > 1 ? call(c->cx, "concat", c->name, part, (int)frames, ATTRS(attr_int("axis", 1))) : part[0];
    c->out[0] = tflite_reshape(c, y, shape, rank - 1);
}

/* ---- Stacker ----------------------------------------------------------------------------------------------------- */

/* Translates SignalStacker. The state `left` is the number of missing frames. `left` is `first` before the first run,
 * whose frame also fills the left context, so that the right context and this frame are missing. After a complete
 * stack, `step` frames are missing. */
static void stacker(TfliteCall *c)
{
    enum { CHANNELS, LEFT, RIGHT, STEP };
    static const CustomOption options[] = {
        { "num_channels", 1, MOST_SAMPLES }, { "stacker_left_context", 0, MOST_FRAMES },
        { "stacker_right_context", 0, MOST_FRAMES }, { "stacker_step", 1, 2 * MOST_FRAMES + 1 },
    };
    int64_t of[4];
    if (!tflite_custom_input(c, 0, I16, 1) || !tflite_custom_options(c, options, 4, of)) return;
    const int64_t channels = of[CHANNELS], context = of[LEFT] + of[RIGHT], first = of[STEP] + of[RIGHT] + 1;
    if (!tflite_holds(c, of[STEP] <= context + 1, "'stacker_step' is %lld; use at most %lld, the frames of a stack",
                      (long long)of[STEP], (long long)context + 1)
        || !tflite_holds(c, tensor_dim(c->in[0], 0) == channels, "its input is %s; use %lld elements, 'num_channels'",
                         tensor_shape_text(c->cx, c->in[0]), (long long)channels))
        return;
    int32_t *begin = NEW_ARRAY(c->cx->arena, int32_t, 1);
    *begin = (int32_t)first;
    Tensor *left = tflite_own_state(c, "missing", I32, 0, NULL,
                                    tensor_constant(c->cx, c->name, I32, 0, NULL, begin));
    Tensor *is_first = tflite_call2(c, "equal", left, number(c, first));
    Tensor *before = tflite_select(c, is_first, number(c, of[RIGHT] + 1), left);
    Tensor *after = tflite_call2(c, "sub", before, number(c, 1));
    c->out[1] = tflite_call2(c, "equal", after, number(c, 0));
    tflite_own_state_set(c, left, tflite_select(c, c->out[1], number(c, of[STEP]), after));
    Tensor *x = tflite_reshape(c, c->in[0], (int64_t[]){ 1, channels }, 2);
    if (context) {
        Tensor *kept = tflite_own_state(c, "kept", I16, 2, (int64_t[]){ context, channels }, NULL);
        Tensor *all = joined(c, tflite_select(c, is_first, x, kept), x, 0);
        tflite_own_state_set(c, kept, tflite_part(c, all, 0, 1, context + 1));
        x = all;
    }
    c->out[0] = tflite_reshape(c, x, (int64_t[]){ (context + 1) * channels }, 1);
}

/* ---- Circular buffer --------------------------------------------------------------------------------------------- */

/* Counts the runs, and ends all but the last of `cycles`. */
static void count_down(TfliteCall *c, int64_t cycles)
{
    if (cycles == 1) return;
    int32_t *begin = NEW_ARRAY(c->cx->arena, int32_t, 1);
    *begin = (int32_t)cycles;
    Tensor *left = tflite_own_state(c, "left", I32, 0, NULL, tensor_constant(c->cx, c->name, I32, 0, NULL, begin)),
           *after = tflite_call2(c, "sub", left, number(c, 1)),
           *is_last = tflite_call2(c, "equal", after, number(c, 0));
    tflite_own_state_set(c, left, tflite_select(c, is_last, number(c, cycles), after));
    if (!ctx_failed(c->cx)) tflite_states_gate(c->states, is_last);
}

/* Translates CIRCULAR_BUFFER. The output is the state: a variable tensor of the file, or a tensor that is treated like
 * one. */
static void circular_buffer(TfliteCall *c)
{
    static const CustomOption option = { "cycles_max", 1, 1 << 20 };
    int64_t cycles;
    if (!tflite_custom_input(c, 0, I8, 4) || !tflite_custom_options(c, &option, 1, &cycles)) return;
    const TfliteTensor *y = tflite_out_info(c, 0);
    Tensor *x = c->in[0];
    if (y->type != tflite_in_info(c, 0)->type) {
        tflite_refuse(c, "its output is not of its input's type, int8");
        return;
    }
    if (y->rank != 4 || y->dim[0] != 1 || tensor_dim(x, 0) != 1 || tensor_dim(x, 1) != 1 || y->dim[1] < 1
        || y->dim[2] != tensor_dim(x, 2) || y->dim[3] != tensor_dim(x, 3)) {
        tflite_refuse(c, "its input is %s, its output [%s]; use [1][1][a][b] and [1][slots][a][b]",
                      tensor_shape_text(c->cx, x), ints_text(c->cx, y->dim, y->rank));
        return;
    }
    Tensor *slots = tflite_variable_tensor(c->states, c->op->out[0]);
    c->out[0] = y->dim[1] > 1 && slots ? joined(c, tflite_part(c, slots, 1, 1, y->dim[1]), x, 1)
                                       : tflite_call(c, "identity", x);
    if (ctx_failed(c->cx)) return;
    tflite_variable_set(c->states, c->op->out[0], c->out[0]);
    count_down(c, cycles);
}

#define ROW(name, types, lower) { TFLITE_CUSTOM, name, 1, 0, types, 1, NULL, lower, TFLITE_KEEPS_NONE }

const TfliteRow tflite_rows_frames[] = {
    ROW("SignalFramer", OF_I16, framer),
    ROW("SignalDelay", OF_I16, delay),
    ROW("SignalOverlapAdd", OF_I16 | OF_F32, overlap_add),
    ROW("SignalStacker", OF_I16, stacker),
    ROW("CIRCULAR_BUFFER", OF_I8 | WRITES_VARIABLES, circular_buffer),
    { 0 }
};
