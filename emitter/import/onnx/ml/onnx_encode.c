/* SPDX-License-Identifier: MIT */
/* Translates operators of the domain ai.onnx.ml that replace each value by another value, and those that read maps.
 * Strings are represented by their indices (graph/onnx_strings.h). A map from keys to numbers becomes a row of its
 * numbers, in the order of the keys that the file lists; an absent key has the number 0. */
#include <math.h>
#include <string.h>

#include "import/onnx/ml/onnx_ml.h"
#include "support/text.h"

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* Compares each element with all keys: [..][keys]. A NaN among the keys equals NaN. */
static Tensor *matches(OnnxCall *c, Tensor *x, Tensor *keys, bool has_nan)
{
    Tensor *wide = onnx_append_ones(c, x, 1), *is_same = onnx_call2(c, "equal", wide, keys);
    if (!has_nan) return is_same;
    Tensor *is_nan = onnx_call(c, "isnan", keys);
    return onnx_call2(c, "or", is_same, onnx_call2(c, "and", onnx_call(c, "isnan", wide), is_nan));
}

static bool holds_nan(const Tensor *t)
{
    for (int64_t i = 0; dtype_is_float(t->type) && i < tensor_elems(t); i++)
        if (isnan(dtype_load(t->type, t->data, i).f)) return true;
    return false;
}

static Tensor *string_list(OnnxCall *c, const OnnxAttr *texts)
{
    int64_t *index = NEW_ARRAY(c->cx->arena, int64_t, texts->text_count);
    onnx_string_indices(c->cx, c->strings, texts->text_count, texts->texts, index);
    Tensor *list = onnx_ml_ints(c, index, texts->text_count);
    onnx_mark_strings(c->strings, list);
    return list;
}

static Tensor *string_scalar(OnnxCall *c, const char *text)
{
    Tensor *t = tensor_scalar(c->cx, c->name, I64, (double)onnx_string(c->cx, c->strings, text));
    onnx_mark_strings(c->strings, t);
    return t;
}

/* Returns the value of the first key that equals x, or `none`. */
static Tensor *encoded(OnnxCall *c, Tensor *keys, Tensor *values, Tensor *none)
{
    if (!onnx_requires(c, 1) || !keys || !values || !none) return NULL;
    Tensor *x = c->in[0];
    if (keys->rank != 1 || values->rank != 1 || tensor_elems(keys) != tensor_elems(values) || tensor_elems(keys) < 1) {
        onnx_refuse(c, "the keys are %s and the values %s; use lists of equal length that are not empty",
                    tensor_shape_text(c->cx, keys), tensor_shape_text(c->cx, values));
        return NULL;
    }
    if (onnx_holds_strings(c->strings, keys) != onnx_holds_strings(c->strings, x)) {
        onnx_refuse(c, "the input and the keys differ, because only one of them has strings; use one type for both");
        return NULL;
    }
    Tensor *is_key = matches(c, x, onnx_cast(c, keys, x->type), holds_nan(keys)), *found = onnx_cast(c, is_key, I32);
    Tensor *at = onnx_call(c, "argmax", found, attr_int("axis", -1), attr_flag("keepdims", false));
    Tensor *any = onnx_call(c, "reduce_max", found, attr_list("axes", -1), attr_flag("keepdims", false)),
           *is_known = onnx_call2(c, "greater", any, tensor_scalar(c->cx, c->name, I32, 0));
    Tensor *value = onnx_call2(c, "gather", values, at, attr_int("axis", 0));
    Tensor *y = is_known && value ? onnx_select(c, is_known, value, none) : NULL;
    if (onnx_holds_strings(c->strings, values)) onnx_mark_strings(c->strings, y);
    return y;
}

/* ---- Encoders ---------------------------------------------------------------------------------------------------- */

/* Sets y[..,k] to 1 if x is category k. A value that is not a category, such as NaN, gives zeros. */
static void one_hot_encoder(OnnxCall *c)
{
    const OnnxAttr *numbers = onnx_attr(c, "cats_int64s"), *texts = onnx_attr(c, "cats_strings");
    const bool has_numbers = numbers && numbers->int_count, has_texts = texts && texts->text_count;
    if (!onnx_requires(c, 1)) return;
    if (has_numbers == has_texts || has_texts != onnx_holds_strings(c->strings, c->in[0])) {
        onnx_refuse(c, "the categories do not suit the input; use 'cats_int64s' of numbers, or 'cats_strings' of "
                    "strings");
        return;
    }
    Tensor *keys = has_texts ? string_list(c, texts) : onnx_ml_ints(c, numbers->ints, numbers->int_count);
    Tensor *is_same = matches(c, onnx_cast(c, c->in[0], I64), keys, false), *x = onnx_append_ones(c, c->in[0], 1);
    if (dtype_is_float(c->in[0]->type)) is_same = onnx_call2(c, "and", is_same, onnx_call2(c, "equal", x, x));
    c->out[0] = onnx_cast(c, is_same, F32);
}

static Tensor *given_tensor(OnnxCall *c, const OnnxTensor *t)
{
    return t->data_type == ONNX_STRING ? onnx_string_tensor(c->cx, c->strings, t)
                                       : onnx_tensor_read(c->cx, t, c->folder);
}

/* Reads the list of an attribute in any of its forms: NAME_int64s, NAME_floats, NAME_tensor, NAME_strings. */
static Tensor *encoder_list(OnnxCall *c, const char *what)
{
    const OnnxAttr *ints = onnx_attr(c, text_format(c->cx, "%s_int64s", what)),
                   *floats = onnx_attr(c, text_format(c->cx, "%s_floats", what)),
                   *tensor = onnx_attr(c, text_format(c->cx, "%s_tensor", what)),
                   *texts = onnx_attr(c, text_format(c->cx, "%s_strings", what));
    if (ints && ints->int_count) return onnx_ml_ints(c, ints->ints, ints->int_count);
    if (floats && floats->real_count) return onnx_ml_list(c, what, floats->reals, floats->real_count);
    if (tensor && tensor->tensor) return given_tensor(c, tensor->tensor);
    if (texts && texts->text_count) return string_list(c, texts);
    onnx_refuse(c, "the attribute with the %s is missing; use '%s_int64s', '%s_floats', '%s_tensor' or '%s_strings'",
                what, what, what, what,
                what);
    return NULL;
}

static Tensor *encoder_default(OnnxCall *c, const Tensor *values)
{
    const OnnxAttr *tensor = onnx_attr(c, "default_tensor");
    const bool is_text = onnx_holds_strings(c->strings, values);
    if (tensor && tensor->tensor) {
        Tensor *one = given_tensor(c, tensor->tensor);
        if (onnx_holds_strings(c->strings, one) != is_text)
            onnx_refuse(c, "'default_tensor' and the values differ, because only one of them has strings; use one type "
                           "for both");
        return onnx_reshape(c, one, NULL, 0);
    }
    if (is_text) return string_scalar(c, onnx_text(c, "default_string", "_Unused"));
    return tensor_scalar(c->cx, c->name, values->type,
                         dtype_is_float(values->type) ? onnx_real(c, "default_float", 0)
                                                      : (double)onnx_int(c, "default_int64", -1));
}

static void label_encoder(OnnxCall *c)
{
    Tensor *keys = encoder_list(c, "keys"), *values = keys ? encoder_list(c, "values") : NULL;
    if (values) c->out[0] = encoded(c, keys, values, encoder_default(c, values));
}

/* Replaces strings by the integers that the file pairs with them, and integers by these strings. */
static void category_mapper(OnnxCall *c)
{
    const OnnxAttr *ints = onnx_attr(c, "cats_int64s"), *texts = onnx_attr(c, "cats_strings");
    if (!onnx_requires(c, 1)) return;
    if (!ints || !texts || ints->int_count != texts->text_count) {
        onnx_refuse(c, "there are %d 'cats_int64s' and %d 'cats_strings'; use equally many of both",
                    ints ? ints->int_count : 0, texts ? texts->text_count : 0);
        return;
    }
    Tensor *number = onnx_ml_ints(c, ints->ints, ints->int_count), *text = string_list(c, texts);
    if (onnx_holds_strings(c->strings, c->in[0]))
        c->out[0] = encoded(c, text, number, tensor_scalar(c->cx, c->name, I64,
                                                           (double)onnx_int(c, "default_int64", -1)));
    else c->out[0] = encoded(c, number, text, string_scalar(c, onnx_text(c, "default_string", "_Unused")));
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

/* Translates a map from class to probability to the tensor of probabilities, because the keys are the labels, in the
 * same order. */
static void zip_map(OnnxCall *c)
{
    if (onnx_requires(c, 1)) c->out[0] = c->in[0];
}

int64_t onnx_map_width(const OnnxNode *n)
{
    for (int i = 0; i < n->attr_count; i++) {
        const OnnxAttr *a = &n->attr[i];
        if (strcmp(a->name, "max_map") == 0) return a->i;
        if (strcmp(a->name, "string_vocabulary") == 0) return a->text_count;
        if (strcmp(a->name, "int64_vocabulary") == 0) return a->int_count;
    }
    return -1;
}

static bool has_width(OnnxCall *c)
{
    if (!onnx_requires(c, 1)) return false;
    const Tensor *x = c->in[0];
    const int64_t width = onnx_map_width(c->node);
    if (width >= 1 && x->rank == 2 && tensor_dim(x, 1) == width) return true;
    if (width < 1) onnx_refuse(c, "its list of keys is empty; use one key or more");
    else
        onnx_refuse(c, "a map of %lld keys is read from %s; use an input of the graph that is a map, or a row of the "
                       "map's numbers",
                    (long long)width, tensor_shape_text(c->cx, x));
    return false;
}

static void dict_vectorizer(OnnxCall *c)
{
    if (has_width(c)) c->out[0] = c->in[0];
}

/* Translates CastMap. The file declares a width only for the form SPARSE. */
static void cast_map(OnnxCall *c)
{
    static const struct { const char *name; DType type; } kinds[] = { { "TO_FLOAT", F32 }, { "TO_INT64", I64 } };
    const char *form = onnx_text(c, "map_form", "DENSE"), *to = onnx_text(c, "cast_to", "TO_FLOAT");
    if (strcmp(form, "SPARSE") != 0) {
        onnx_unsupported(c, "'map_form' is \"%s\"; use SPARSE, whose 'max_map' is the number of elements",
                         form);
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, to) == 0 && has_width(c)) c->out[0] = onnx_cast(c, c->in[0], kinds[i].type);
    if (!c->out[0] && !ctx_failed(c->cx))
        onnx_unsupported(c, "'cast_to' is \"%s\"; use TO_FLOAT or TO_INT64", to);
}

#define ENCODE(its_name, most, attrs, fn) \
    { ONNX_ROW("ai.onnx.ml." its_name, most, attrs, fn), .strings = STRINGS_READ, .open.keeps = KEEPS_ALL }
const OnnxOp onnx_rows_encode[] = {
    ENCODE("CastMap", 1, "cast_to map_form max_map", cast_map),
    ENCODE("CategoryMapper", 1, "cats_int64s cats_strings default_int64 default_string", category_mapper),
    ENCODE("DictVectorizer", 1, "int64_vocabulary string_vocabulary", dict_vectorizer),
    ENCODE("LabelEncoder", 1, "default_float default_int64 default_string default_tensor keys_floats keys_int64s "
           "keys_strings keys_tensor values_floats values_int64s values_strings values_tensor", label_encoder),
    ENCODE("OneHotEncoder", 1, "cats_int64s cats_strings zeros", one_hot_encoder),
    ENCODE("ZipMap", 1, "classlabels_int64s classlabels_strings", zip_map),
    { 0 }
};
