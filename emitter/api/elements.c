/* SPDX-License-Identifier: MIT */
/* Reads, writes, generates and compares elements of tensors: see elements.h. */
#include "api/elements.h"

#include <math.h>

#include "import/formats/npy.h"

/* Rounds f32 to bfloat16. Files of bfloat16 tensors have f32, because .npy has no bfloat16. */
static void *rounded_to_bf16(Ctx *cx, const void *f32, int64_t elems)
{
    void *out = arena_alloc(cx->arena, (size_t)(elems * dtype_info(BF16)->bytes));
    for (int64_t i = 0; i < elems; i++) dtype_store(BF16, out, i, dtype_wrap(BF16, dtype_load(F32, f32, i)));
    return out;
}

/* Returns true if the file holds several samples of the tensor along a first axis. */
static bool is_stacked(const Tensor *t, int64_t elems, int rank, const int64_t *shape)
{
    const int64_t one = tensor_elems(t);
    return rank > 0 && shape[0] > 1 && one > 0 && elems == shape[0] * one;
}

/* The sizes of an array in a file. */
typedef struct Sizes { int rank; int64_t of[MAX_RANK]; } Sizes;

static void *parsed(Ctx *cx, const char *path, Bytes file, const Tensor *t, Sizes *sizes)
{
    DType type;
    int64_t elems = 1;
    void *data;
    if (!npy_parse(cx, path, file, &type, &sizes->rank, sizes->of, &data)) return NULL;
    for (int d = 0; d < sizes->rank; d++) elems *= sizes->of[d];
    if (type == t->type && elems == tensor_elems(t)) return data;
    if (type == F32 && t->type == BF16 && elems == tensor_elems(t)) return rounded_to_bf16(cx, data, elems);
    diag_error(cx, NULL, "\"%s\" holds %lld elements of %s, but \"%s\" is %s%s%s%s", path, (long long)elems,
               dtype_info(type)->spelling, t->name, dtype_info(t->type)->spelling, tensor_shape_text(cx, t),
               is_stacked(t, elems, sizes->rank, sizes->of) ? "; use `evaluate --test` for stacked samples" : "",
               dtype_is_float(type) && t->quant ? "; quantize floats with `evaluate` or a function of the header" : "");
    return NULL;
}

void *elements_parse(Ctx *cx, const char *path, Bytes file, const Tensor *t)
{
    Sizes sizes;
    return parsed(cx, path, file, t, &sizes);
}

const Tensor *elements_shaped(Ctx *cx, const char *path, const Tensor *t)
{
    DType type;
    Sizes sizes;
    void *data;
    if (tensor_is_fixed(t)) return t;
    if (!npy_parse(cx, path, file_read(cx, path), &type, &sizes.rank, sizes.of, &data)) return NULL;
    Tensor *shaped = tensor_new_fixed(cx, t->name, t->type, sizes.rank, sizes.of);
    if (shaped) shaped->quant = t->quant;
    return shaped;
}

void *elements_read(Ctx *cx, const char *path, const Tensor *t)
{
    return elements_parse(cx, path, file_read(cx, path), t);
}

/* Returns true if the sizes agree; dimensions of 1 are ignored. */
static bool same_sizes(const Tensor *t, const Sizes *s)
{
    int d = 0, k = 0;
    for (;;) {
        while (d < t->rank && tensor_dim(t, d) == 1) d++;
        while (k < s->rank && s->of[k] == 1) k++;
        if (d == t->rank || k == s->rank) return d == t->rank && k == s->rank;
        if (tensor_dim(t, d++) != s->of[k++]) return false;
    }
}

void *elements_read_input(Ctx *cx, const char *path, const Tensor *t)
{
    Sizes sizes;
    void *data = parsed(cx, path, file_read(cx, path), t, &sizes);
    if (!data || sizes.rank <= 1 || same_sizes(t, &sizes)) return data;
    Text said = text_new(cx);
    for (int d = 0; d < sizes.rank; d++) text_printf(&said, "[%lld]", (long long)sizes.of[d]);
    diag_error(cx, NULL, "\"%s\" has the shape %s, but the input \"%s\" has %s; use the sizes of the input in this "
               "order, with or without dimensions of 1, or a list of %lld elements", path, text_string(&said), t->name,
               tensor_shape_text(cx, t), (long long)tensor_elems(t));
    return NULL;
}

Bytes elements_bytes(Ctx *cx, const Tensor *t, const void *data)
{
    int64_t shape[MAX_RANK];
    for (int d = 0; d < t->rank; d++) shape[d] = tensor_dim(t, d);
    return npy_bytes(cx, t->type, t->rank, shape, data);
}

bool elements_write(Ctx *cx, const char *path, const Tensor *t, const void *data)
{
    if (ctx_failed(cx)) return false;
    const Bytes file = elements_bytes(cx, t, data);
    return file_write(cx, path, file.at, file.count);
}

/* ---- As text ----------------------------------------------------------------------------------------------------- */

enum { MOST_PRINTED = 1000, AT_EDGES = 3 };

typedef struct Printing { Text *t; const Tensor *x; const void *data; bool is_short; } Printing;

static void print_element(const Printing *p, int64_t at)
{
    const Scalar v = dtype_load(p->x->type, p->data, at);
    if (p->x->type == F64) text_double(p->t, v.f);
    else if (dtype_is_float(p->x->type)) text_float(p->t, (float)v.f);
    else if (p->x->type == U64) text_printf(p->t, "%llu", (unsigned long long)v.i);
    else text_printf(p->t, "%lld", (long long)v.i);
}

/* Prints the part of the tensor at the first `d` indices, which are fixed; its elements begin at `at`. */
static void print_axis(const Printing *p, int d, int64_t at)
{
    if (d == p->x->rank) {
        print_element(p, at);
        return;
    }
    const int64_t size = tensor_dim(p->x, d), left_out = p->is_short && size > 2 * AT_EDGES ? size - 2 * AT_EDGES : 0;
    const bool is_last = d + 1 == p->x->rank;
    int64_t step = 1;
    for (int i = d + 1; i < p->x->rank; i++) step *= tensor_dim(p->x, i);
    text_char(p->t, '[');
    for (int64_t i = 0; i < size; i++) {
        if (i && is_last) text_char(p->t, ' ');
        if (i && !is_last) text_char(p->t, '\n');
        if (i && !is_last) text_spaces(p->t, d + 1);
        if (left_out && i == AT_EDGES) {
            text_add(p->t, "...");
            i += left_out - 1;
        } else print_axis(p, d + 1, at + i * step);
    }
    text_char(p->t, ']');
}

void elements_print(Ctx *cx, Text *t, const Tensor *x, const void *data)
{
    const Printing p = { t, x, data, tensor_elems(x) > MOST_PRINTED };
    text_printf(t, "%s: %s%s\n", x->name, dtype_info(x->type)->spelling, tensor_shape_text(cx, x));
    print_axis(&p, 0, 0);
    text_char(t, '\n');
}

/* The first boolean is true, so that a condition of one element holds; the other booleans are pseudo-random. */
void *elements_generate(Ctx *cx, const Tensor *t, uint32_t seed, int64_t limit)
{
    int64_t n = tensor_elems(t);
    void *data = arena_alloc(cx->arena, (size_t)(n * dtype_info(t->type)->bytes));
    for (int64_t i = 0; i < n; i++) {
        seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        Scalar v = { 0 };
        if (dtype_is_float(t->type)) v.f = (double)(seed >> 8) / 8388608.0 - 1.0;
        else if (t->type == BOOL) v.i = i == 0 || (seed >> 24) % 2;
        else v.i = limit > 0 ? (int64_t)(seed >> 8) % limit : (int64_t)(seed >> 16) - 32768;
        dtype_store(t->type, data, i, dtype_wrap(t->type, v));
    }
    return data;
}

static bool is_close(DType t, Scalar a, Scalar b, Accepted accepted, double *distance)
{
    if (!dtype_is_float(t)) {
        *distance = fabs((double)a.i - (double)b.i);
        return a.i == b.i || *distance <= accepted.steps;
    }
    *distance = a.f == b.f || (a.f != a.f && b.f != b.f) ? 0 : fabs(a.f - b.f);
    return *distance == 0 || *distance <= accepted.absolute + accepted.relative * fabs(b.f);
}

Accepted elements_accepted(void) { return (Accepted){ 1e-4, 1e-3, 0 }; }

/* If one of two elements is NaN, their distance is NaN. Such a distance counts as the largest one, because every
 * comparison with NaN is false. */
Difference elements_compare(const Tensor *t, const void *got, const void *want, Accepted accepted)
{
    Difference d = { 0, 0, 0, 0 };
    for (int64_t i = 0; i < tensor_elems(t); i++) {
        double distance;
        d.wrong += !is_close(t->type, dtype_load(t->type, got, i), dtype_load(t->type, want, i), accepted, &distance);
        d.differ += distance != 0;
        if (distance <= d.worst || d.worst != d.worst) continue;
        d.worst = distance;
        d.worst_at = i;
    }
    return d;
}
