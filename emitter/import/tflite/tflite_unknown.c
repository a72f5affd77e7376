/* SPDX-License-Identifier: MIT */
/* Reports the operators, versions, element types and variables of a subgraph that no row supports. */
#include "import/tflite/tflite_unknown.h"

#include <string.h>

#include "import/tflite/tflite_find.h"
#include "import/tflite/tflite_unsigned.h"
#include "support/text.h"

const char *tflite_tensor_where(Ctx *cx, const TfliteTensor *t) { return text_format(cx, "tensor \"%s\"", t->name); }

static int type_flag(int type)
{
    static const struct { DType type; int flag;
    } flags[] = {
        { F32, OF_F32 },   { I8, OF_I8 }, { I32, OF_I32 }, { I64, OF_I64 },
        { BOOL, OF_BOOL }, { U8, OF_U8 }, { I16, OF_I16 }, { F16, OF_F16 },
        { U32, OF_U32 },   { U64, OF_U64 },
    };
    DType t;
    if (type == TFLITE_RESOURCE) return OF_HANDLE;
    if (type == TFLITE_COMPLEX) return OF_COMPLEX;
    if (type == TFLITE_VARIANT) return OF_VARIANT;
    for (size_t i = 0; tflite_dtype(type, &t) && i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].type == t) return flags[i].flag;
    return 0;
}

static bool row_accepts(int type, const void *row)
{
    const int types = ((const TfliteRow *)row)->types;
    return type_flag(type) & (types | (types & AS_INT8 ? OF_U8 : 0));
}

/* Returns true for 8-bit weights of an operator on floats or 16-bit integers. */
static bool has_stored_weights(const TfliteFile *f, const TfliteOperator *op, const TfliteRow *row)
{
    const TfliteTensor *x = &f->tensor[op->in[0]], *w = &f->tensor[op->in[1]];
    if (!(row->types & HAS_STORED_WEIGHTS)) return false;
    return type_flag(x->type) == OF_F32 ? (type_flag(w->type) & OF_BYTES) && w->data.count
                                        : type_flag(x->type) == OF_I16 && type_flag(w->type) == OF_I8;
}

static void list_unknown_types(Ctx *cx, const TfliteFile *f, const TfliteOperator *op, const TfliteRow *row)
{
    const char *where = tflite_where(cx, f, op);
    const TfliteTensor *first = op->in_count && op->in[0] >= 0 ? &f->tensor[op->in[0]] : NULL;
    if (!first) return;
    if (!(type_flag(first->type) & row->types) && !(row->types & AS_INT8 && tflite_is_unsigned(first))) {
        diag_listed(cx, UNSUPPORTED, where, "it has an input of type %s; use %s",
                    tflite_type_text(cx, first->type), tflite_types_accepted(cx, row_accepts, row));
        return;
    }
    for (int i = 1; i < op->in_count && i < row->alike; i++)
        if (op->in[i] >= 0 && f->tensor[op->in[i]].type != first->type
            && !(i == 1 && has_stored_weights(f, op, row))) {
            diag_listed(cx, UNSUPPORTED, where, "the inputs have the types %s and %s; use one type",
                        tflite_type_text(cx, first->type),
                        tflite_type_text(cx, f->tensor[op->in[i]].type));
            return;
        }
}

/* Lists custom operators of programs that rewrite files for one device. */
static const struct { const char *custom, *advice; } rewritten[] = {
    { "ethos-u", "its options are commands of an Ethos-U, which Vela writes instead of the file's operators; compile "
      "the file that was given to Vela" },
    { "edgetpu-custom-op", "its options are commands of an Edge TPU, which its compiler writes instead of the file's "
      "operators; compile the file that was given to edgetpu_compiler" },
};

static void list_unknown_custom(Ctx *cx, const char *where, const char *custom)
{
    for (size_t i = 0; i < sizeof rewritten / sizeof rewritten[0]; i++)
        if (strcmp(rewritten[i].custom, custom) == 0) {
            diag_listed(cx, UNSUPPORTED, where, "%s", rewritten[i].advice);
            return;
        }
    if (strncmp(custom, "Flex", 4) == 0) {
        diag_listed(cx, UNSUPPORTED, where,
                    "an operator of TensorFlow that the converter left in the file; convert without SELECT_TF_OPS, "
                    "recurrent layers of Keras by tf.lite.TFLiteConverter.from_keras_model or with unroll=True");
        return;
    }
    diag_listed(cx, UNSUPPORTED, where,
                "it is a custom operator; use an operator that `loopwright ops --tflite` lists, or compute it with "
                "your own C function, --extern %s", custom);
}

/* Lists builtin operators that no row can have. No formula gives the numbers of LiteRT's random generator, because the
 * generator continues from run to run and uses the C library's logarithm, sine and exponential. */
#define DRAWS "it draws random numbers, which LiteRT continues from run to run; make the numbers an input of the model"
static const struct { int code; const char *advice; } without_formula[] = {
    { 146, DRAWS }, { 148, DRAWS }, { 149, DRAWS },       /* RANDOM_STANDARD_NORMAL, RANDOM_UNIFORM, MULTINOMIAL */
};

static const char *advice_of(int code)
{
    for (size_t i = 0; i < sizeof without_formula / sizeof without_formula[0]; i++)
        if (without_formula[i].code == code) return without_formula[i].advice;
    return "the operator is unknown; use an operator that `loopwright ops --tflite` lists";
}

static void list_unknown_operator(Ctx *cx, const TfliteFile *f, const TfliteOperator *op, const ImportOptions *o)
{
    if (op->code == TFLITE_CUSTOM && import_extern(o, op->custom)) return;
    const char *where = tflite_where(cx, f, op);
    const TfliteRow *row = tflite_row_find(op);
    if (op->code == TFLITE_CUSTOM && !row) list_unknown_custom(cx, where, op->custom);
    else if (!row)
        diag_listed(cx, UNSUPPORTED, where, "%s", advice_of(op->code));
    else if (op->version > row->newest)
        diag_listed(cx, UNSUPPORTED, where, "it is version %d of the operator; use at most version %d", op->version,
                    row->newest);
    else if (op->options_type && row->options && op->options_type != row->options)
        diag_listed(cx, ERROR, where, "its options are of kind %d, those of another operator; use kind %d",
                    op->options_type, row->options);
    else list_unknown_types(cx, f, op, row);
}

/* Returns true if the tensor is an input or output of an operator that writes its variable tensors. */
static bool is_written(const TfliteFile *f, int tensor)
{
    bool is_input = false;
    for (int i = 0; i < f->operator_count; i++) {
        const TfliteRow *row = tflite_row_find(&f->operator[i]);
        for (int k = 0; row && row->types & WRITES_VARIABLES && k < f->operator[i].out_count; k++)
            if (f->operator[i].out[k] == tensor) return true;
    }
    for (int i = 0; i < f->operator_count; i++) {
        const TfliteOperator *op = &f->operator[i];
        const TfliteRow *row = tflite_row_find(op);
        for (int k = 0; k < op->in_count; k++) {
            if (op->in[k] != tensor) continue;
            if (!row || !(row->types & WRITES_VARIABLES)) return false;
            is_input = true;
        }
    }
    return is_input;
}

static void list_unknown_tensor(Ctx *cx, const TfliteFile *f, const TfliteTensor *t)
{
    const char *where = tflite_tensor_where(cx, t);
    if (t->is_variable && !is_written(f, (int)(t - f->tensor)))
        diag_listed(cx, UNSUPPORTED, where,
                    "no operator writes this variable tensor; use the states of recurrent layers, SVDF and "
                    "CIRCULAR_BUFFER, or resource variables (VAR_HANDLE)");
    if (t->is_sparse && !t->data.count)
        diag_listed(cx, UNSUPPORTED, where, "the tensor is sparse but not constant; use sparse tensors only for "
                                            "weights");
    if (t->is_blockwise && (t->block_scales < 0 || t->block_scales >= f->tensor_count || !t->data.count))
        diag_listed(cx, UNSUPPORTED, where,
                    "it has a quantization other than scales and zero points; use one scale, one per channel, or one "
                    "per block of a constant's last dimension, without zero points");
}

void tflite_list_unknown(Ctx *cx, const TfliteFile *f, const ImportOptions *o)
{
    for (int i = 0; i < f->operator_count; i++) list_unknown_operator(cx, f, &f->operator[i], o);
    for (int i = 0; i < f->tensor_count; i++) list_unknown_tensor(cx, f, &f->tensor[i]);
}
