/* SPDX-License-Identifier: MIT */
/* Emitted C, run: naive and scheduled nests are lowered, printed, compiled in one file and compared with the plain
 * evaluator bit for bit. The C compiler is $CC, or cc; without one the test is skipped. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "ir/text/formula.h"
#include "schedule/schedule.h"
#include "support/names.h"
#include "tests/fuzz/emit_batch.c"

/* inputs: "name type dims; ..." (=: a constant); formulas and steps separated by ";". Sizes n, m are symbolic. */
typedef struct EmitCase { const char *name, *inputs, *formulas, *steps; } EmitCase;

static const EmitCase cases[] = {
    { "elementwise", "x f32 7 5; z f32 7 5", "y[i,j] = x[i,j] * z[i,j] + 0.1", "" },
    { "broadcast", "x f32 4 6; b =f32 6", "y[i,j] = max(x[i,j] + b[j], 0)", "" },
    { "matmul", "a f32 6 5; b f32 5 7", "y[i,j] = sum(k) a[i,k] * b[k,j]", "" },
    { "conv-same", "x f32 8 9 3; k =f32 3 3 3 4", "y[h<8,w<9,o] = sum(i,j,c) (x[h+i-1,w+j-1,c]? * k[i,j,c,o] : 0)",
      "" },
    { "conv-stride", "x f32 9 9 2; k =f32 3 3 2 4",
      "y[h<5,w<5,o] = sum(i,j,c) (x[2*h+i-1,2*w+j-1,c]? * k[i,j,c,o] : 0)", "" },
    { "conv-bias-relu", "x f32 6 6 2; k =f32 3 3 2 4; b =f32 4",
      "t[h<6,w<6,o] = sum(i,j,c) (x[h+i-1,w+j-1,c]? * k[i,j,c,o] : 0); y[h,w,o] = max(t[h,w,o] + b[o], 0)", "" },
    { "conv-transposed-taps", "x f32 5 5 2; k =f32 4 4 2 3",
      "y[h<8,w<8,o] = sum(i,j,c) (x[h-2*i,w-2*j+1,c]? * k[i,j,c,o] : 0)", "" },
    { "depthwise", "x f32 8 8 4; k =f32 3 3 4", "y[h<8,w<8,c] = sum(i,j) (x[h+i-1,w+j-1,c]? * k[i,j,c] : 0)", "" },
    { "max-pool", "x f32 8 8 4", "y[h<4,w<4,c] = max(i<3,j<3) (x[2*h+i-1,2*w+j-1,c]? : -inf)", "" },
    { "pool-odd-value", "x f32 7 7 3", "y[h<4,w<4,c] = max(i<3,j<3) (x[2*h+i-1,2*w+j-1,c]? : -5)", "" },
    { "average-pool", "x f32 8 8 3", "y[h<4,w<4,c] = sum(i<2,j<2) x[2*h+i,2*w+j,c]; z[h,w,c] = y[h,w,c] * 0.25", "" },
    { "sum-init", "x f32 5 6; b f32 5", "y[i] = sum(k; b[i]) x[i,k]", "" },
    { "sum-init-in-the-loop", "x f32 4; w f32 4 3", "t[a] = x[a] * 2; s[a] = sum(k; t[a]) w[a,k]", "compute_at t s.k" },
    { "prod", "x f32 5 6", "y[i] = prod(k) x[i,k]", "" },
    { "min-int", "x i16 5 6", "y[i] = min(k) x[i,k]", "" },
    { "argmax", "x f32 5 6", "y, z[i] = argmax(k) x[i,k]", "" },
    { "softmax", "x f32 4 10",
      "m[i] = max(k) x[i,k]; e[i,j] = exp(x[i,j] - m[i]); s[i] = sum(k) e[i,k]; y[i,j] = e[i,j] / s[i]", "" },
    { "int8-conv", "x i8 6 6 3; k =i8 3 3 3 4",
      "y[h<6,w<6,o] = sum(i,j,c) (i32(x[h+i-1,w+j-1,c]?) * i32(k[i,j,c,o]) : 0)", "" },
    { "wrapping", "x i8 40; z i8 40", "y[i] = x[i] * z[i] + x[i] - z[i]", "" },
    { "wrapping-16", "x i16 40; z i16 40", "y[i] = x[i] * z[i] + x[i] - z[i]", "" },
    { "wrapping-32", "x i32 40; z i32 40", "y[i] = x[i] * z[i] + x[i] - z[i]", "" },
    { "wrapping-u8", "x u8 40; z u8 40", "y[i] = (x[i] * z[i] - x[i]) ^ ~z[i]", "" },
    { "wrapping-64", "x i64 40; z i64 40", "y[i] = x[i] * z[i] + x[i] - z[i]", "" },
    { "shifts", "x i32 40; z i32 40",
      "y[i] = (x[i] << 3) + (z[i] >> 5) - (x[i] >> (z[i] & 63)) + (x[i] << (z[i] & 63))", "" },
    { "division", "x i32 40; z i32 40", "y[i] = x[i] / z[i] + x[i] % z[i] - tdiv(x[i], 7) + tmod(z[i], 5) + x[i] / 3",
      "" },
    { "division-8", "x i8 40; z i8 40", "y[i] = x[i] / z[i] + x[i] % z[i]", "" },
    { "casts", "x f32 40",
      "y[i] = i32(x[i] * 1000) + i32(i8(x[i] * 100)) + i32(u8(x[i])) + i32(i16(i32(x[i] * 99999)))", "" },
    { "to-float", "x i32 40", "y[i] = f32(x[i]) * 0.5 + f32(u8(x[i]))", "" },
    { "doubles", "x f64 40; z f64 40", "y[i] = x[i] / z[i] - sqrt(abs(x[i]))", "" },
    { "halves", "x f16 40; z f16 40", "y[i] = x[i] * z[i] + x[i]", "" },
    { "bfloats", "x bf16 40", "y[i] = f32(x[i]) + 1; z[i] = bf16(y[i])", "" },
    { "select", "x f32 40; z f32 40", "y[i] = select(x[i] < z[i] && !(x[i] < 0), x[i], select(z[i] > 1, z[i], -x[i]))",
      "" },
    { "math", "x f32 40",
      "y[i] = tanh(x[i]) + sigmoid(x[i]) + exp(x[i] * 0.1) + floor(x[i]) + round(x[i]) + erf(x[i])", "" },
    { "shared-value", "x f32 40", "t[i] = x[i] * x[i] + 1; y[i] = t[i] * t[i] + t[i]", "compute_inline t" },
    { "pad", "x f32 5 6", "y[i<9,j<8] = (x[i-2,j-1]? : 1.5)", "" },
    { "reverse", "x f32 9", "y[i<9] = x[8-i]", "" },
    { "reshape", "x f32 4 6", "y[i<3,j<8] = x[(i*8+j)/6,(i*8+j)%6]", "" },
    { "transpose", "x f32 4 6", "y[i<6,j<4] = x[j,i]", "" },
    { "scalar", "x f32 9", "y = sum(k) x[k]", "" },
    { "symbolic", "x f32 n 6", "y[i,j] = x[i,j] * 2; z[j] = sum(k) y[k,j]", "" },
    { "symbolic-conv", "x f32 n m; k =f32 3 3", "y[h<n,w<m] = sum(i,j) (x[h+i-1,w+j-1]? * k[i,j] : 0)", "" },
    { "split-guard", "a f32 7 5; b f32 5 9", "y[i,j] = sum(k) a[i,k] * b[k,j]",
      "split y.i 4; split y.j 4; split y.k 2" },
    { "split-peel", "a f32 7 5; b f32 5 9", "y[i,j] = sum(k) a[i,k] * b[k,j]",
      "split y.i 4 tail=peel; split y.k 2 tail=peel" },
    { "tiled", "a f32 8 6; b f32 6 8", "y[i,j] = sum(k) a[i,k] * b[k,j]",
      "split y.i 4; split y.j 4; reorder y.io y.jo y.k y.ii y.ji; unroll y.ii; unroll y.ji" },
    { "registers", "x f32 8 8 3; k =f32 3 3 3 8; b =f32 8",
      "t[h<8,w<8,o] = sum(i,j,c) (x[h+i-1,w+j-1,c]? * k[i,j,c,o] : 0); y[h,w,o] = max(t[h,w,o] + b[o], 0)",
      "split y.w 4; compute_at t y.wo; set_scope t register; reorder t.i t.j t.c t.w t.o; unroll t.w; unroll y.wi" },
    { "depthwise-unrolled", "x f32 9 9 4; k =f32 3 3 4", "y[h<9,w<9,c] = sum(i,j) (x[h+i-1,w+j-1,c]? * k[i,j,c] : 0)",
      "reorder y.h y.w y.i y.j y.c; unroll y.i; unroll y.j" },
    { "symbolic-tiles", "x f32 n m; k =f32 3 3", "y[h<n,w<m] = sum(i,j) (x[h+i-1,w+j-1]? * k[i,j] : 0)",
      "split y.w 4; reorder y.h y.wo y.i y.j y.wi; unroll y.wi; unroll y.i; unroll y.j" },
    { "fused", "x f32 6 5", "y[i,j] = x[i,j] + 1; z[i,j] = y[i,j] * 2", "fuse z.i z.j; compute_at y z.ij" },
};

enum { MOST_NAMES = 16 };
typedef struct Made {
    Ctx *cx;
    Bind bind[MOST_NAMES + 1];
    int count;
    Env *env;
    Tensor *out[MOST_NAMES];
    int out_count;
    uint32_t random;
} Made;

static uint32_t next_random(Made *m) { return m->random = m->random * 1664525u + 1013904223u; }

static void fill(Made *m, DType t, void *data, int64_t elems)
{
    for (int64_t i = 0; i < elems; i++) {
        uint32_t bits = next_random(m) >> 8;
        Scalar s = { 0 };
        if (dtype_is_float(t)) s.f = i % 13 == 5 ? 0 : i % 17 == 3 ? -0.0 : ((double)bits - 8388608.0) / 2097152.0;
        else s.i = (int64_t)bits * ((int64_t)next_random(m) - 2147483648) + i;
        dtype_store(t, data, i, dtype_wrap(t, s));
    }
}

static const Expr *size_of(Made *m, const char *word)
{
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->bind[i].name, word) == 0) return m->bind[i].value;
    const Expr *size = expr_new_var(m->cx, word, VAR_SIZE, I32, 1, 20);
    env_set_size(m->env, size, word[0] == 'n' ? 7 : 10);
    m->bind[m->count++] = (Bind)BIND_V(name(m->cx, word), size);
    return size;
}

static void input(Made *m, char *text)
{
    char *word = strtok(text, " "), *type = strtok(NULL, " ");
    const char *tensor_name = name(m->cx, word);
    bool constant = type[0] == '=';
    const Expr *shape[MAX_RANK];
    int64_t dims[MAX_RANK];
    int rank = 0;
    DType t = F32;
    if (constant) type++;
    dtype_read(type, strlen(type), &t);
    for (char *dim = strtok(NULL, " "); dim; dim = strtok(NULL, " "), rank++) {
        bool number = dim[0] >= '0' && dim[0] <= '9';
        dims[rank] = number ? atol(dim) : 0;
        shape[rank] = number ? expr_index(m->cx, dims[rank]) : size_of(m, dim);
    }
    Tensor *x = tensor_new(m->cx, tensor_name, t, rank, shape);
    if (constant) {
        int64_t elems = tensor_elems(x);
        void *data = arena_alloc(m->cx->arena, (size_t)(elems * dtype_info(t)->bytes));
        fill(m, t, data, elems);
        x = tensor_constant(m->cx, tensor_name, t, rank, dims, data);
    } else fill(m, t, env_alloc(m->cx, m->env, x), env_elems(m->cx, m->env, x));
    m->bind[m->count++] = (Bind)BIND_T(tensor_name, x);
}

static void formula_of(Made *m, const char *text)
{
    while (*text == ' ') text++;
    Tensor *y = formula(m->cx, text, m->bind);
    if (!y) return;
    for (int i = 0; i < y->producer->out_count; i++) {
        Tensor *out = y->producer->out[i];
        m->bind[m->count++] = (Bind)BIND_T(out->name, out);
    }
    m->out_count = 0;      /* the last stage's tensors are the outputs */
    for (int i = 0; i < y->producer->out_count; i++) m->out[m->out_count++] = y->producer->out[i];
}

typedef void Piece(Made *m, char *text);

static void pieces(Made *m, const char *text, Piece *each)
{
    char buffer[1024];
    while (*text) {
        size_t depth = 0, n = 0;
        for (; text[n] && (text[n] != ';' || depth); n++) depth += text[n] == '(' ? 1 : text[n] == ')' ? (size_t)-1 : 0;
        memcpy(buffer, text, n);
        buffer[n] = 0;
        each(m, buffer);
        text += n + (text[n] == ';');
        while (*text == ' ') text++;
    }
}

static void formula_piece(Made *m, char *text) { formula_of(m, text); }

static const Nest *scheduled(Made *m, const char *steps)
{
    const Nest *n = nest_naive(m->cx, "case", NULL, 0, m->out, m->out_count);
    char buffer[256];
    while (n && *steps) {
        size_t length = strcspn(steps, ";");
        memcpy(buffer, steps, length);
        buffer[length] = 0;
        n = sched_step(m->cx, n, buffer);
        steps += length + (steps[length] == ';');
        while (*steps == ' ') steps++;
    }
    return n;
}

static void add(EmitBatch *b, const EmitCase *c)
{
    Made m = { .cx = context_new(NULL, NULL), .random = 1 };
    m.env = env_new(m.cx);
    pieces(&m, c->inputs, input);
    pieces(&m, c->formulas, formula_piece);
    bool made = m.out_count && evaluate(m.cx, m.env, m.out, m.out_count);
    const Nest *n = made ? scheduled(&m, c->steps) : NULL;
    bool added = n && !ctx_failed(m.cx) && emit_batch_add(b, m.cx, c->name, n, m.env);
    check_that(added, check_label(c->name, "is-lowered"), "%s",
               m.cx->diags ? diag_text(m.cx, m.cx->diags) : "not lowered");
    ctx_free(m.cx);
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *cc = getenv("CC");
    if (!cc || !*cc) cc = "cc";
    EmitBatch *b = emit_batch_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) add(b, &cases[i]);
    if (system(text_format(b->cx, "command -v %s >/dev/null 2>&1", cc)) != 0)
        check_skip("emitted-c-of-all-cases-equals-the-evaluator", "no C compiler to run");
    else {
        const char *stem = text_format(b->cx, "%s.emitted", argv[0]);
        int wrong = emit_batch_run(
            b, stem, cc, "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O1 -ffp-contract=off");
        check_that(wrong == 0, "emitted-c-of-all-cases-equals-the-evaluator", "%d mismatches", wrong);
    }
    emit_batch_free(b);
    return check_done();
}
