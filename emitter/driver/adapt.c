/* SPDX-License-Identifier: MIT */
/* Adapts the surroundings of the network: --from and --to select a part of the file; --layout, --preprocess and
 * --postprocess put calls in front of an input or behind an output. An input or output keeps its name and its position
 * in the order. */

/* Decision: adaptations are formulas. Each adaptation is printed as a .te text over the port, read like any file, and
 * joined to the imported graph by graph_replace. Therefore verify, quantize, evaluate and the self-test treat the calls
 * as part of the model, and the passes fold and fuse them like other calls. An 8-bit sensor in front of a quantized
 * input becomes a table of 256 stored values (256 for each channel, if the formula has a list). The compiler computes
 * the table as a constant, so the emitted code has no float. Quantization rounds as NAME_quantize_X of the header does,
 * so the bytes are those of the formula followed by NAME_quantize_X. A table of its own indices is left out. An image
 * is cropped and scaled by the table's indices, so these steps add no pass over the pixels. */
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

#include "graph/passes/passes.h"
#include "graph/quantize/quantized_value.h"
#include "import/model/gradients.h"
#include "import/te/te.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

/* ---- --from, --to ------------------------------------------------------------------------------------------------ */

static Graph graph_of(const Model *m)
{
    return (Graph){ .name = m->name, .input_count = m->input_count, .input = m->input,
                    .output_count = m->output_count, .output = m->output };
}

/* Keeps only the inputs that outputs depend on, and these new inputs. */
static void drop_inputs(Ctx *cx, Model *m, Tensor *const *from, int from_count)
{
    Node **order;
    Map read = map_new(cx->arena);
    const int count = dag_order(cx, m->output, m->output_count, &order);
    for (int n = 0; n < count; n++)
        for (int i = 0; i < order[n]->in_count; i++)
            if (order[n]->in[i]) map_put_ptr(&read, order[n]->in[i], m);
    for (int i = 0; i < m->output_count; i++) map_put_ptr(&read, m->output[i], m);
    Tensor **input = NEW_ARRAY(cx->arena, Tensor *, m->input_count + from_count);
    const Tensor **initial = NEW_ARRAY(cx->arena, const Tensor *, m->input_count + from_count);
    int kept = 0;
    for (int i = 0; i < m->input_count; i++) {
        if (!map_get_ptr(&read, m->input[i])) continue;
        initial[kept] = m->initial ? m->initial[i] : NULL;
        input[kept++] = m->input[i];
    }
    for (int i = 0; i < from_count; i++) {
        if (!map_get_ptr(&read, from[i]))
            diag_error(cx, NULL, "--from %s: no output depends on this tensor", from[i]->name);
        input[kept++] = from[i];
    }
    m->input = input;
    m->initial = initial;
    m->input_count = kept;
}

static void cut_outputs(Ctx *cx, Model *m, const lw_options *o)
{
    Tensor **output = NEW_ARRAY(cx->arena, Tensor *, o->to_count);
    for (int i = 0; i < o->to_count && !ctx_failed(cx); i++) {
        output[i] = model_tensor(cx, m, "--to", o->to[i]);
        for (int j = 0; j < i && !ctx_failed(cx); j++)
            if (output[i] == output[j]) diag_usage(cx, NULL, "--to %s is given twice", o->to[i]);
    }
    m->output = output;
    m->output_count = o->to_count;
    m->output_dims = NULL;
}

static void cut_inputs(Ctx *cx, Model *m, const lw_options *o, Tensor **from)
{
    Map to = map_new(cx->arena);
    for (int i = 0; i < o->from_count && !ctx_failed(cx); i++) {
        Tensor *t = model_tensor(cx, m, "--from", o->from[i]);
        if (!t) return;
        if (tensor_is_constant(t))
            diag_error(cx, NULL, "--from %s: this tensor is a constant; name the result of a layer", o->from[i]);
        if (map_get_ptr(&to, t)) diag_usage(cx, NULL, "--from %s is given twice", o->from[i]);
        from[i] = tensor_new(cx, t->name, t->type, t->rank, t->shape);
        from[i]->quant = t->quant;
        map_put_ptr(&to, t, from[i]);
    }
    if (!ctx_failed(cx)) m->output = graph_replace(cx, graph_of(m), &to).output;
}

/* Keeps only the part of the model from the tensors of --from to the tensors of --to. */
static void cut(Ctx *cx, Model *m, const lw_options *o)
{
    Tensor **from = NEW_ARRAY(cx->arena, Tensor *, o->from_count);
    const char *option = o->from_count ? "--from" : "--to";
    if (m->is_nest) diag_unsupported(cx, NULL, "%s cannot be used with a file that is one `nest`; remove `nest` from "
                                               "the file", option);
    if (m->state_count) diag_unsupported(cx, NULL, "%s of a model whose file declares state", option);
    if (o->to_count && !ctx_failed(cx)) cut_outputs(cx, m, o);
    if (o->from_count && !ctx_failed(cx)) cut_inputs(cx, m, o, from);
    if (!ctx_failed(cx)) drop_inputs(cx, m, from, o->from_count);
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* An adaptation of one port. `outer` is the tensor that the caller sees, and `inner` is the model's tensor. */
typedef struct Adapt {
    Ctx *cx;
    Model *model;
    const char *option, *port, *word;    /* --layout PORT=WORD */
    bool is_input;
    int at;                              /* the index of the port among inputs or outputs */
    Tensor *inner;
    const Quant *quant;              /* the grid of inner, or NULL */
    Text te;
} Adapt;

static void refuse(Adapt *a, const char *why, const char *accepted)
{
    diag_error(a->cx, NULL, "%s %s=%s: %s; use %s", a->option, a->port, a->word, why, accepted);
}

static bool is_of(Ctx *cx, const Tensor *t, const char *port)
{
    return text_equal(t->name, port) || text_equal(name_identifier(cx, t->name), port);
}

/* Finds the port among the kinds that the option accepts: inputs if with_inputs, outputs if with_outputs. */
static bool find_port(Adapt *a, bool with_inputs, bool with_outputs)
{
    const Model *m = a->model;
    const int inputs = with_inputs ? m->input_count : 0, outputs = with_outputs ? m->output_count : 0;
    const char **names = NEW_ARRAY(a->cx->arena, const char *, inputs + outputs);
    Text all = text_new(a->cx);
    for (int i = 0; i < inputs + outputs; i++) {
        Tensor *t = i < inputs ? m->input[i] : m->output[i - inputs];
        names[i] = t->name;
        text_printf(&all, "%s\"%s\"", i ? ", " : "; use ", t->name);
        if (!is_of(a->cx, t, a->port)) continue;
        a->is_input = i < inputs;
        a->at = i < inputs ? i : i - inputs;
        a->inner = t;
        a->quant = t->quant;
        return true;
    }
    diag_error(a->cx, NULL, "%s %s=%s: there is no %s \"%s\"%s", a->option, a->port, a->word,
               !with_outputs ? "input" : with_inputs ? "input or output" : "output", a->port,
               text_hint(a->cx, a->port, names, (size_t)(inputs + outputs), text_string(&all)));
    return false;
}

static bool is_fixed(Adapt *a)
{
    const bool fixed = tensor_is_fixed(a->inner) && a->inner->rank > 0;
    if (!fixed) refuse(a, "the sizes of the port are open", "--dim to fix them");
    return fixed;
}

static const char *layout_of(const Adapt *a)
{
    const Model *m = a->model;
    return a->is_input ? graph_input_layout(a->cx, m->output, m->output_count, a->inner)
                       : graph_output_layout(a->cx, a->inner);
}

/* Returns the dimension of channels: the layout's, or the last one if there is no layout. */
static int channel_axis(const Adapt *a)
{
    const char *layout = layout_of(a), *c = layout ? strchr(layout, 'C') : NULL;
    return c ? (int)(c - layout) : a->inner->rank - 1;
}

static const char *type_of(const Tensor *t) { return dtype_info(t->type)->spelling; }

/* Returns true for integers with one scale. A TFLite file may give floats a scale, which has no effect. */
static bool is_quantized(const Adapt *a)
{
    return a->quant && a->quant->count == 1 && dtype_is_integer(a->inner->type);
}

/* Reads the text as a graph, and joins it to the port. The text's first output replaces the port; its other outputs
 * become new outputs of the model. */
static void join(Adapt *a, const Quant *outer)
{
    Ctx *cx = a->cx;
    Model *m = a->model, made;
    Map to = map_new(cx->arena);
    const ImportOptions none = { 0 };
    const char *where = text_format(cx, "%s %s=%s", a->option, a->port, a->word);
    if (ctx_failed(cx) || !te_read(cx, where, text_string(&a->te), &none, &made)) return;
    if (a->is_input) {
        Tensor **input = arena_copy(cx->arena, m->input, (size_t)m->input_count * sizeof *input);
        made.input[0]->name = a->inner->name;
        made.input[0]->quant = outer;
        map_put_ptr(&to, a->inner, made.output[0]);
        m->output = graph_replace(cx, graph_of(m), &to).output;
        input[a->at] = made.input[0];
        m->input = input;
        return;
    }
    map_put_ptr(&to, made.input[0], a->inner);
    Tensor *const *joined = graph_replace(cx, graph_of(&made), &to).output;
    Tensor **output = NEW_ARRAY(cx->arena, Tensor *, m->output_count + made.output_count);
    for (int i = 0; i < m->output_count; i++) output[i] = m->output[i];
    for (int i = 0; i < made.output_count; i++) {
        const int at = i ? m->output_count++ : a->at;
        joined[i]->name = i ? name_format(cx, "%s_%s", a->inner->name, joined[i]->name) : a->inner->name;
        output[at] = joined[i];
    }
    output[a->at]->quant = outer;
    m->output = output;
    m->output_dims = NULL;
}

/* ---- --layout ---------------------------------------------------------------------------------------------------- */

/* Prints a transpose that moves channels to the front, behind the batch, or to the end. */
static void adapt_layout(Adapt *a)
{
    static const char *const rows[][2] = { { "nwc", "ncw" }, { "nhwc", "nchw" }, { "ndhwc", "ncdhw" } };
    const int rank = a->inner->rank;
    const char *const *row = rank >= 3 && rank <= 5 ? rows[rank - 3] : NULL, *now = layout_of(a);
    if (!row) refuse(a, text_format(a->cx, "the port has %d dimensions", rank), "a port with 3 to 5");
    else if (!text_equal(a->word, row[0]) && !text_equal(a->word, row[1]))
        refuse(a, "the layout has no such word for this port", text_format(a->cx, "%s or %s", row[0], row[1]));
    else if (!now) refuse(a, "no window reads or computes the port, so its layout is unknown", "--rename or a view");
    if (ctx_failed(a->cx) || !is_fixed(a)) return;
    const bool is_last_now = now[rank - 1] == 'C', is_last = text_equal(a->word, row[0]);
    if (is_last_now == is_last) return;
    int perm[MAX_RANK];
    for (int d = 0; d < rank; d++)            /* outer[d] = inner[perm[d]] */
        perm[d] = d == 0 ? 0 : is_last ? d == rank - 1 ? 1 : d + 1 : d == 1 ? rank - 1 : d - 1;
    text_printf(&a->te, "input x: %s", type_of(a->inner));
    for (int d = 0; d < rank; d++)
        text_printf(&a->te, "[%lld]", (long long)tensor_dim(a->inner, a->is_input ? perm[d] : d));
    text_add(&a->te, "\ny = transpose(x, perm=");
    for (int d = 0, inverse; d < rank; d++) {
        for (inverse = 0; perm[inverse] != d; inverse++) { }
        text_printf(&a->te, "%s%d", d ? "," : "", a->is_input ? inverse : perm[d]);
    }
    text_add(&a->te, ")\noutput y\n");
    join(a, a->inner->quant);
}

/* ---- --preprocess: the sensor's words ---------------------------------------------------------------------------- */

enum { BYTE_VALUES = 256 };

/* The form of the input: an image, or elements in the port's shape if no word follows the type. The
 * crop is the part of the image that the network sees, scaled to the port's size by the nearest pixel. */
typedef struct Sensor {
    DType type;
    bool is_image, is_gray;
    int64_t size[2], crop[2], at[2];    /* width, height; left, top */
} Sensor;

/* Reads u8, i8, u16 or i16. */
static bool read_sensor(const char *word, size_t length, DType *sensor)
{
    return dtype_read(word, length, sensor) && dtype_is_integer(*sensor) && dtype_info(*sensor)->bytes <= 2;
}

/* Reads whole numbers with these separators, such as 96x96+16+8, up to a blank or the end. The first two are a size.
 * Returns the end of the size, or NULL if the text has another form or a number exceeds the size of an image. */
static const char *read_numbers(const char *at, const char *separators, int64_t *const *to)
{
    enum { MOST = 1 << 15, DECIMAL = 10 };
    for (int i = 0; to[i]; i++) {
        if (i && *at++ != separators[i - 1]) return NULL;
        if (*at < '0' || *at > '9') return NULL;
        for (*to[i] = 0; *at >= '0' && *at <= '9' && *to[i] <= MOST; at++) *to[i] = *to[i] * DECIMAL + (*at - '0');
        if (*to[i] > MOST || (i < 2 && *to[i] == 0)) return NULL;
    }
    return *at && *at != ' ' ? NULL : at;
}

static const char *read_gray(Sensor *s, const char *at)
{
    s->is_gray = true;
    return at;
}

static const char *read_crop(Sensor *s, const char *at)
{
    return read_numbers(at + strspn(at, " "), "x++",
                        (int64_t *const[]){ &s->crop[0], &s->crop[1], &s->at[0], &s->at[1], NULL });
}

static const char *read_image_size(Sensor *s, const char *at)
{
    const char *end = read_numbers(at, "x", (int64_t *const[]){ &s->size[0], &s->size[1], NULL });
    memcpy(s->crop, s->size, sizeof s->crop);
    return end;
}

/* Reads a word after the type. Returns the end of the word, or NULL if the word is not understood or is given twice. */
static const char *read_image_word(Sensor *s, const char *at, unsigned *seen)
{
    static const struct { const char *word; const char *(*read)(Sensor *, const char *at); } rows[] = {
        { "gray", read_gray }, { "", read_image_size }, { "crop", read_crop } };   /* "": no word before the numbers */
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t length = strlen(rows[i].word);
        const bool is_word = length ? strcspn(at, " ") == length && strncmp(at, rows[i].word, length) == 0
                                    : *at >= '0' && *at <= '9';
        if (!is_word) continue;
        if (*seen >> i) return NULL;           /* also after a later row: the size precedes the crop */
        *seen |= 1U << i;
        return rows[i].read(s, at + length);
    }
    return NULL;
}

/* Returns the dimension of this letter in the port's layout, or -1. */
static int axis_named(const Adapt *a, char letter)
{
    const char *layout = layout_of(a), *at = layout ? strchr(layout, letter) : NULL;
    return at ? (int)(at - layout) : -1;
}

/* Checks that the port is an image and that the crop lies in the sensor's image. */
static void check_image(Adapt *a, Sensor *s)
{
    const int axis[2] = { axis_named(a, 'W'), axis_named(a, 'H') };
    if (axis[0] < 0 || axis[1] < 0) {
        refuse(a, "no window with a height and a width reads the port", "TYPE: FORMULA");
        return;
    }
    for (int d = 0; d < 2; d++) {
        if (!s->size[d]) s->size[d] = tensor_dim(a->inner, axis[d]);
        if (!s->crop[d]) s->crop[d] = s->size[d];
    }
    for (int d = 0; d < 2 && !ctx_failed(a->cx); d++)
        if (s->at[d] + s->crop[d] > s->size[d])
            refuse(a, text_format(a->cx, "the crop leaves the image of %lldx%lld", (long long)s->size[0],
                                  (long long)s->size[1]), "WIDTHxHEIGHT+LEFT+TOP within the image");
}

/* Reads the words before the colon, such as u8 gray 320x240 crop 240x240+40+0. */
static void read_words(Adapt *a, const char *words, Sensor *s)
{
    const size_t type = strcspn(words, " ");
    unsigned seen = 0;
    if (!read_sensor(words, type, &s->type)) {
        refuse(a, text_format(a->cx, "the sensor's type is \"%.*s\"", (int)type, words), "u8, i8, u16 or i16");
        return;
    }
    for (const char *at = words + type; at[strspn(at, " ")] && !ctx_failed(a->cx);) {
        const char *word = at + strspn(at, " ");
        at = read_image_word(s, word, &seen);
        s->is_image = true;
        if (at) continue;
        refuse(a, text_format(a->cx, "\"%s\" is not understood", word),
               "gray, then WIDTHxHEIGHT, then crop WIDTHxHEIGHT+LEFT+TOP");
        return;
    }
    if (s->is_image) check_image(a, s);
}

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

/* Prints the pixel of the sensor's image along one axis. The nearest pixel is floor(i * crop / size). */
static void print_pixel(Text *t, int d, int64_t first, int64_t crop, int64_t size)
{
    const int64_t common = common_divisor(crop, size);
    if (first) text_printf(t, "%lld + ", (long long)first);
    text_printf(t, "i%d", d);
    if (crop > common) text_printf(t, " * %lld", (long long)(crop / common));
    if (size > common) text_printf(t, " / %lld", (long long)(size / common));
}

/* Prints the input as the sensor delivers it. Returns the name of the elements in the port's shape. */
static const char *print_source(Adapt *a, const Sensor *s)
{
    const int axis[3] = { axis_named(a, 'W'), axis_named(a, 'H'), channel_axis(a) }, rank = a->inner->rank;
    const char *type = dtype_info(s->type)->spelling;
    if (!s->is_image) {
        text_printf(&a->te, "input x: %s%s\n", type, tensor_shape_text(a->cx, a->inner));
        return "x";
    }
    text_printf(&a->te, "input x: %s", type);
    for (int d = 0; d < rank; d++)
        text_printf(&a->te, "[%lld]", (long long)(d == axis[0] ? s->size[0] : d == axis[1] ? s->size[1]
                                                  : d == axis[2] && s->is_gray ? 1 : tensor_dim(a->inner, d)));
    text_add(&a->te, "\ng[");
    for (int d = 0; d < rank; d++)
        text_printf(&a->te, "%si%d<%lld", d ? ", " : "", d, (long long)tensor_dim(a->inner, d));
    text_add(&a->te, "] = x[");
    for (int d = 0; d < rank; d++) {
        const int k = d == axis[0] ? 0 : d == axis[1] ? 1 : -1;
        if (d) text_add(&a->te, ", ");
        if (d == axis[2] && s->is_gray) text_add(&a->te, "0");
        else if (k < 0) text_printf(&a->te, "i%d", d);
        else print_pixel(&a->te, d, s->at[k], s->crop[k], tensor_dim(a->inner, d));
    }
    text_add(&a->te, "]\n");
    return "g";
}

/* ---- --preprocess: the formula ----------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void print_unit_dimensions(Text *t, int count)
{
    for (int i = 0; i < count; i++) text_add(t, "[1]");
}

/* Reads the formula and prints an operator call for each of its operations. */
typedef struct Formula {
    Adapt *a;
    const char *at, *x;                  /* x: the name of the tensor that x denotes in the formula */
    int after;                           /* dimensions after the channels */
    int count;                           /* used to number constants and results */
    bool reads_x;
} Formula;

static void skip_blanks(Formula *f) { f->at += strspn(f->at, " "); }

static const char *wrong_formula(Formula *f, const char *why)
{
    if (!ctx_failed(f->a->cx)) refuse(f->a, why, "x, numbers, lists between [ and ], + - * / and parentheses");
    return f->x;
}

/* Prints the numbers up to `end` as a constant; returns the constant's name. */
static const char *print_constant(Formula *f, const char *shape, int shape_bytes, const char *numbers)
{
    const char *own = text_format(f->a->cx, "k%d", f->count++), *end = f->at;
    text_printf(&f->a->te, "const %s: f32%.*s", own, shape_bytes, shape);
    if (shape_bytes) print_unit_dimensions(&f->a->te, f->after);
    text_printf(&f->a->te, " = {%.*s}\n", (int)(end - numbers), numbers);
    return own;
}

static bool read_number(Formula *f)
{
    const char *end;
    skip_blanks(f);
    const char *digits = f->at + (*f->at == '-');
    const float value = text_read_float(digits, &end);
    if (end == digits || value - value != 0) return false;
    f->at = end;
    return true;
}

/* Reads a list such as [a, b, c], which has a value for each channel. */
static const char *read_list(Formula *f)
{
    const int64_t channels = tensor_dim(f->a->inner, channel_axis(f->a));
    const char *numbers = ++f->at, *list;
    int64_t count = 0;
    do {
        if (!read_number(f)) return wrong_formula(f, "a list has a word that is not a number");
        count++;
        skip_blanks(f);
    } while (*f->at == ',' && f->at++);
    if (*f->at != ']') return wrong_formula(f, "a list has no ]");
    if (count != channels) {
        refuse(f->a, text_format(f->a->cx, "a list has %lld values", (long long)count),
               text_format(f->a->cx, "%lld, one for each channel", (long long)channels));
        return f->x;
    }
    const char *shape = text_format(f->a->cx, "[%lld]", (long long)channels);
    list = print_constant(f, shape, (int)strlen(shape), numbers);
    f->at++;
    return list;
}

static const char *read_sum(Formula *f);

static const char *print_call(Formula *f, const char *op, const char *left, const char *right)
{
    const char *own = text_format(f->a->cx, "t%d", f->count++);
    text_printf(&f->a->te, "%s = %s(%s, %s)\n", own, op, left, right);
    return own;
}

/* Reads x, a number, a list, or a sum in parentheses; a minus sign may precede each of them. */
static const char *read_operand(Formula *f)
{
    skip_blanks(f);
    if (ctx_failed(f->a->cx)) return f->x;
    if (*f->at == '[') return read_list(f);
    if (*f->at == 'x' && !is_name_byte(f->at[1])) {
        f->at++;
        f->reads_x = true;
        return f->x;
    }
    const char *begin = f->at;
    if (read_number(f)) return print_constant(f, "", 0, begin);
    if (*begin == '-') {
        f->at++;
        const char *zero = text_format(f->a->cx, "k%d", f->count++);
        text_printf(&f->a->te, "const %s: f32 = {0}\n", zero);
        return print_call(f, "sub", zero, read_operand(f));
    }
    if (*begin != '(') return wrong_formula(f, text_format(f->a->cx, *begin ? "\"%s\" is not understood"
                                                                            : "the formula ends early%s", begin));
    f->at++;
    const char *inner = read_sum(f);
    skip_blanks(f);
    if (*f->at != ')') return wrong_formula(f, "'(' is not closed");
    f->at++;
    return inner;
}

/* Reads operands that are joined by one of two operators. */
static const char *read_chain(Formula *f, const char *(*operand)(Formula *), const char *signs, const char *const *ops)
{
    const char *left = operand(f);
    for (skip_blanks(f); *f->at && strchr(signs, *f->at) && !ctx_failed(f->a->cx); skip_blanks(f)) {
        const char *op = ops[*f->at == signs[1]];
        f->at++;
        left = print_call(f, op, left, operand(f));
    }
    return left;
}

static const char *read_product(Formula *f)
{
    static const char *const ops[] = { "mul", "div" };
    return read_chain(f, read_operand, "*/", ops);
}

static const char *read_sum(Formula *f)
{
    static const char *const ops[] = { "add", "sub" };
    return read_chain(f, read_product, "+-", ops);
}

/* Prints the formula over the tensor x; returns the name of its result. */
static const char *print_formula(Adapt *a, const char *text, const char *x, int after)
{
    Formula f = { .a = a, .at = text, .x = x, .after = after };
    const char *result = read_sum(&f);
    if (*f.at && !ctx_failed(a->cx)) wrong_formula(&f, text_format(a->cx, "\"%s\" is not understood", f.at));
    else if (!f.reads_x) wrong_formula(&f, "the formula does not read x");
    return result;
}

static void print_float(Text *t, float f)
{
    const size_t before = t->length;
    text_float(t, f);
    if (!strpbrk(t->at + before, ".en")) text_add(t, ".0");
}

/* Prints `out` as real numbers converted to the port's stored type. */
static void print_stored(Adapt *a, const char *out, const char *real)
{
    const Tensor *t = a->inner;
    const DTypeInfo *info = dtype_info(t->type);
    if (!is_quantized(a)) {
        text_printf(&a->te, "%s = cast(%s, to=%s)\n", out, real, info->spelling);
        return;
    }
    const long zero = (long)a->quant->zero_point[0];
    text_printf(&a->te, "%s[*] = %s(i32(clamp(%s(%s[*] / ", out, info->spelling,
                a->model->ties_away ? "round" : "nearbyint", real);
    print_float(&a->te, a->quant->scale[0]);
    text_printf(&a->te, "), %ld.0, %ld.0)) + %ld)\n", (long)info->least - zero, (long)info->greatest - zero, zero);
}

/* Prints a table: the formula's value for each value of a byte, and for each channel if the formula has a list. */
static void print_table(Adapt *a, const char *formula, DType sensor)
{
    text_printf(&a->te, "const n: f32[%d]%s = {", BYTE_VALUES, strchr(formula, '[') ? "[1]" : "");
    for (int i = 0; i < BYTE_VALUES; i++)
        text_printf(&a->te, "%s%ld", i ? "," : "", (long)dtype_info(sensor)->least + i);
    text_add(&a->te, "}\n");
    print_stored(a, "table", print_formula(a, formula, "n", 0));
}

/* Returns true if the sensor's bytes are the port's bytes: the table has its own index in each place. */
static bool is_identity(const Adapt *a, const char *formula, DType sensor)
{
    Adapt own = *a;
    Model made;
    const ImportOptions none = { 0 };
    if (sensor != a->inner->type || dtype_info(sensor)->bytes != 1) return false;
    own.te = text_new(a->cx);
    print_table(&own, formula, sensor);
    text_add(&own.te, "output table\n");
    if (ctx_failed(a->cx) || !te_read(a->cx, a->option, text_string(&own.te), &none, &made)) return false;
    const Tensor *table = graph_fold(a->cx, graph_of(&made)).output[0];
    if (!tensor_is_constant(table)) return false;
    const uint8_t *stored = table->data;
    const int64_t channels = tensor_elems(table) / BYTE_VALUES;
    for (int64_t i = 0; i < tensor_elems(table); i++)
        if (stored[i] != (uint8_t)(i / channels + dtype_info(sensor)->least)) return false;
    return true;
}

/* Prints the port's elements as the places of the table that the sensor's bytes index. */
static void print_lookup(Adapt *a, const char *formula, DType sensor, const char *source)
{
    const int rank = a->inner->rank;
    print_table(a, formula, sensor);
    for (int k = 0; k < 2; k++) {
        if (k) text_printf(&a->te, "] = table[i32(%s[", source);
        else text_add(&a->te, "z[");
        for (int d = 0; d < rank; d++) text_printf(&a->te, "%si%d", d ? ", " : "", d);
    }
    text_printf(&a->te, "]) - %ld", (long)dtype_info(sensor)->least);
    if (strchr(formula, '[')) text_printf(&a->te, ", i%d", channel_axis(a));
    text_add(&a->te, "]\noutput z\n");
}

static bool is_real_port(const Adapt *a)
{
    const Tensor *t = a->inner;
    return dtype_is_float(t->type) || (is_quantized(a) && dtype_info(t->type)->bytes <= 2);
}

/* Applies a formula such as 'u8 gray 320x240: (x - 127.5) / 127.5' */
static void adapt_preprocess(Adapt *a)
{
    const char *colon = strchr(a->word, ':'), *formula = colon ? colon + 1 + strspn(colon + 1, " ") : "";
    Sensor s = { .type = U8 };
    if (!colon || !*formula || strpbrk(formula, "\n\r#\"@"))
        refuse(a, "this is not TYPE: FORMULA", "u8, i8, u16 or i16, a colon, and a formula of x, like "
                                               "'u8: (x - 127.5) / 127.5' or 'u8 gray 320x240: x / 255'");
    else if (!is_real_port(a))
        refuse(a, text_format(a->cx, "the input holds integers, %s", type_of(a->inner)), "an input of real numbers");
    if (ctx_failed(a->cx) || !is_fixed(a)) return;
    read_words(a, text_format(a->cx, "%.*s", (int)(colon - a->word), a->word), &s);
    if (ctx_failed(a->cx)) return;
    const bool is_kept = is_quantized(a) && is_identity(a, formula, s.type);
    if (ctx_failed(a->cx) || (is_kept && !s.is_image)) return;
    const char *source = print_source(a, &s);
    if (is_kept) text_printf(&a->te, "output %s\n", source);
    else if (is_quantized(a) && dtype_info(s.type)->bytes == 1) print_lookup(a, formula, s.type, source);
    else {
        text_printf(&a->te, "r = cast(%s, to=f32)\n", source);
        print_stored(a, "z", print_formula(a, formula, "r", a->inner->rank - 1 - channel_axis(a)));
        text_add(&a->te, "output z\n");
    }
    join(a, NULL);
}

/* ---- --postprocess ----------------------------------------------------------------------------------------------- */

/* Refuses an output that the model itself quantizes with a scale that is not a constant. */
static void check_grid(Adapt *a)
{
    const Node *n = a->inner->producer;
    while (n && n->kind == NODE_CALL && n->op->quantization.moves_elements && n->in_count == 1) n = n->in[0]->producer;
    const bool stores = n && n->kind == NODE_CALL && n->op->quantization.grid == GRID_STORE;
    if (!a->quant && !dtype_is_float(a->inner->type) && stores)
        refuse(a, "the scale and the zero point of the output are not known", "an output of u8, i8 or i16 with a "
                                                                              "constant scale");
}

/* Prints the output's real numbers as the tensor `r`. */
static void print_real(Adapt *a)
{
    if (!is_quantized(a)) text_add(&a->te, "r = cast(x, to=f32)\n");
    else {
        text_printf(&a->te, "r[*] = f32(i32(x[*]) - %ld) * ", (long)a->quant->zero_point[0]);
        print_float(&a->te, a->quant->scale[0]);
        text_add(&a->te, "\n");
    }
}

static bool print_softmax(Adapt *a, const char *value)
{
    check_grid(a);
    print_real(a);
    text_printf(&a->te, "y = softmax(r, axis=%d)\noutput y\n", channel_axis(a));
    return !*value;
}

static bool print_argmax(Adapt *a, const char *value)
{
    text_printf(&a->te, "k = argmax(x, axis=%d)\ny = cast(k, to=i32)\noutput y\n", channel_axis(a));
    return !*value;
}

static bool print_topk(Adapt *a, const char *value)
{
    char *end;
    const long k = strtol(value, &end, 10);
    const int64_t most = tensor_dim(a->inner, channel_axis(a));
    if (!*value || *end || k < 1) return false;
    if (k > most)
        refuse(a, text_format(a->cx, "the output has %lld classes", (long long)most), "as many or fewer");
    check_grid(a);
    print_real(a);
    text_printf(&a->te, "k = topk(x, axis=%d, k=%ld)\ny = gather_elements(r, k, axis=%d)\nindex = cast(k, to=i32)\n"
                "output y, index\n", channel_axis(a), k, channel_axis(a));
    return true;
}

/* Returns the smallest stored number whose real value is at least `limit`. If there is none, returns the largest stored
 * number plus one. */
static long stored_limit(const Adapt *a, float limit)
{
    const DTypeInfo *info = dtype_info(a->inner->type);
    long v = (long)info->least;
    while (v <= info->greatest && (float)(v - (long)a->quant->zero_point[0]) * a->quant->scale[0] < limit) v++;
    return v;
}

static bool print_threshold(Adapt *a, const char *value)
{
    const char *end;
    const float limit = text_read_float(value, &end);
    if (!*value || *end || limit - limit != 0) return false;
    check_grid(a);
    if (is_real_port(a) && is_quantized(a))
        text_printf(&a->te, "y[*] = u8(i32(x[*]) >= %ld)\noutput y\n", stored_limit(a, limit));
    else {
        print_real(a);
        text_add(&a->te, "y[*] = u8(r[*] >= ");
        print_float(&a->te, limit);
        text_add(&a->te, ")\noutput y\n");
    }
    return true;
}

static void adapt_postprocess(Adapt *a)
{
    static const struct { const char *word; bool (*print)(Adapt *, const char *value); } rows[] = {
        { "softmax", print_softmax }, { "argmax", print_argmax }, { "topk:", print_topk },
        { "threshold:", print_threshold },
    };
    size_t i = 0;
    while (i < sizeof rows / sizeof rows[0] && strncmp(a->word, rows[i].word, strlen(rows[i].word)) != 0) i++;
    if (!is_fixed(a)) return;
    text_printf(&a->te, "input x: %s%s\n", type_of(a->inner), tensor_shape_text(a->cx, a->inner));
    if (i == sizeof rows / sizeof rows[0] || !rows[i].print(a, a->word + strlen(rows[i].word)))
        refuse(a, "there is no such step", "softmax, argmax, topk:K (a whole number) or threshold:T (a real number)");
    join(a, NULL);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* An option, the ports that it accepts, and the function that applies it to a port. */
typedef struct Form { const char *option; bool has_inputs, has_outputs; void (*adapt)(Adapt *); } Form;

static void adapt_each(Ctx *cx, Model *m, const Form *form, const lw_adapt *row, int count)
{
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        Adapt a = { .cx = cx, .model = m, .option = form->option, .port = row[i].port, .word = row[i].as,
                    .te = text_new(cx) };
        for (int j = 0; j < i; j++)
            if (text_equal(row[i].port, row[j].port))
                diag_usage(cx, NULL, "%s %s is given twice", a.option, a.port);
        if (!ctx_failed(cx) && find_port(&a, form->has_inputs, form->has_outputs)) form->adapt(&a);
    }
}

void build_adapt(Build *b)
{
    static const Form layout = { "--layout", true, true, adapt_layout };
    static const Form preprocess = { "--preprocess", true, false, adapt_preprocess };
    static const Form postprocess = { "--postprocess", false, true, adapt_postprocess };
    const lw_options *o = b->options;
    Ctx *cx = b->cx;
    Model *m = &b->model;
    if (o->from_count || o->to_count) cut(cx, m, o);
    if (m->is_nest && (o->layout_count || o->preprocess_count || o->postprocess_count))
        diag_unsupported(cx, NULL, "--layout, --preprocess and --postprocess cannot be used with a file that is one "
                         "`nest`; remove `nest` from the file");
    if (!m->is_nest && !ctx_failed(cx)) build_port_grids(cx, m);
    adapt_each(cx, m, &layout, o->layout, o->layout_count);
    adapt_each(cx, m, &preprocess, o->preprocess, o->preprocess_count);
    adapt_each(cx, m, &postprocess, o->postprocess, o->postprocess_count);
}
