/* SPDX-License-Identifier: MIT */
/* The compiler's own memory, counted by its arenas: linear in the number of layers for every kind of layer, and below
 * a bound for long ones. A chain of N, 2N and 4N layers is compiled; the bytes per layer of the second half
 * are at most 1.25 times those of the first.
 *
 *   test_scale N       long chains with an Nth of their layers */
#include "check.h"

#include "context/context.h"
#include "driver/driver.h"
#include "onnx_text.h"
#include "support/file.h"

typedef struct Chain { const char *name, *text; int least; } Chain;
static const Chain chains[] = {      /* %: the number of layers */
    { "relu", "t0:4; *% Relu t^ t@; >t%", 256 },
    { "add", "x:4; t0:4; *% Add t^,x t@; >t%", 256 },
    { "softmax", "t0:1,4; *% Softmax t^ t@; >t%", 50 },
    { "conv", "w=2,2,3,3; t0:1,2,5,5; *% Conv t^,w t@ pads=1,1,1,1; >t%", 50 },
    { "residual", "w=2,2,3,3; t0:1,2,5,5; *% Conv t^,w c@ pads=1,1,1,1; *% Add c@,t^ t@; >t%", 50 },
    { "long-residual", "w=2,2,3,3; t0:1,2,5,5; *% Conv t^,w c@ pads=1,1,1,1; *% Add c@,t0 t@; >t%", 50 },
    { "dense", "w=4,4; b=4; t0:1,4; *% Gemm t^,w,b t@; >t%", 50 },
    { "matmul", "w=4,4; t0:1,4; *% MatMul t^,w t@; >t%", 50 },
    { "pool", "t0:1,2,5,5; *% MaxPool t^ t@ kernel_shape=3,3 pads=1,1,1,1; >t%", 50 },
    { "mean-pool", "t0:1,2,5,5; *% AveragePool t^ t@ kernel_shape=3,3 pads=1,1,1,1; >t%", 50 },
    { "concat", "b#1; e#5; a#1; t0:1,4; *% Softmax t^ s@; *% Concat t^,s@ c@ axis=1!; "
                "*% Slice c@,b,e,a t@; >t%", 50 },
    { "split", "t0:1,4; *% Split t^ a@,b@ axis=1!; *% Softmax a@ c@; *% Concat c@,b@ t@ axis=1!; >t%", 50 },
    { "reshape", "f#4,2; g#2,4; t0:2,4; *% Reshape t^,f a@; *% Softmax a@ b@; *% Reshape b@,g t@; >t%",
      50 },
    { "transpose", "t0:2,4; *% Transpose t^ a@ perm=1,0; *% Softmax a@ b@; *% Transpose b@ t@ perm=1,0; "
                   ">t%", 50 },
    { "layernorm", "k=1; t0:1,4; *% ReduceMean t^ m@ axes=1; *% Sub t^,m@ d@; *% Mul d@,d@ q@; "
                   "*% ReduceMean q@ v@ axes=1; *% Add v@,k e@; *% Sqrt e@ r@; *% Div d@,r@ t@; >t%",
      50 },
    { "lstm", "w=1,8,2; r=1,8,2; a#1; t0:2,1,2; *% LSTM t^,w,r l@ hidden_size=2!; *% Squeeze l@,a t@; >t%",
      50 },
    { "quantized-conv", "s$1$$0.5; z$3$$0; w$3$1,1,1,1$3; t0:1,1,4,4:3; *% QLinearConv t^,s,z,w,s,z,s,z t@; >t%",
      50 },
};

static char folder[256];

/* Compiles the chain; returns the bytes of its context, or 0. */
static size_t bytes_of(const Chain *c, int layers)
{
    char path[300], output[300];
    Ctx *cx = context_new(NULL, NULL);
    const lw_options options = { .name = "m" };
    Build b;
    snprintf(path, sizeof path, "%s/test_scale.onnx", folder);
    snprintf(output, sizeof output, "%s/test_scale.c", folder);
    Text text = text_new(cx);
    for (const char *s = c->text; *s; s++) {
        if (*s == '%') text_printf(&text, "%d", layers);
        else text_char(&text, *s);
    }
    const Text model = onnx_text(cx, text_string(&text));
    const FileOut file = { .path = path, .bytes = model.at, .count = model.length };
    const size_t before = arena_used(cx->arena);
    bool ok = file_write_all(cx, &file, 1) && build_read(&b, cx, path, &options) && build_graph(&b) && build_nests(&b)
              && build_write(&b, output);
    for (const Diag *d = cx->diags; d && !ok; d = d->next) printf("# %s: %s\n", c->name, diag_text(cx, d));
    const size_t bytes = ok ? arena_used(cx->arena) + arena_used(cx->scratch) - before : 0;
    ctx_free(cx);
    return bytes;
}

static void check_linear(const Chain *c)
{
    char name[100];
    const size_t one = bytes_of(c, c->least), two = bytes_of(c, 2 * c->least), four = bytes_of(c, 4 * c->least);
    snprintf(name, sizeof name, "the memory of a chain of %s is linear in its length", c->name);
    const double first = (double)(two - one) / c->least, second = (double)(four - two) / (2 * c->least);
    printf("# %-16s %8.0f bytes a layer\n", c->name, second);
    check_that(one && two > one && four > two && second <= 1.25 * first, name,
               "%.0f bytes a layer from %d to %d, %.0f to %d", first, c->least, 2 * c->least, second, 4 * c->least);
}

/* With the address sanitizer, the arena leaves a gap behind every allocation: the limits do not hold there. */
#if defined __SANITIZE_ADDRESS__
enum { HAS_GAPS = 1 };
#else
enum { HAS_GAPS = 0 };
#endif

/* A chain of a `part`th of the layers takes that part of the memory, and 1 MB whatever its length. */
static void check_long(const Chain *c, int layers, size_t most, int part)
{
    if (HAS_GAPS) return;
    char name[100];
    layers /= part;
    if (part > 1) most = most / (size_t)part + 1;
    const size_t bytes = bytes_of(c, layers);
    snprintf(name, sizeof name, "a chain of %d %s nodes takes less than %zu MB", layers, c->name, most);
    check_that(bytes && bytes < most * 1000000, name, "%zu bytes", bytes);
}

int main(int argc, char **argv)
{
    const int part = argc > 1 ? atoi(argv[1]) : 1;
    const char *slash = strrchr(argv[0], '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    CHECK_EACH(check_linear, chains);
    check_long(&chains[0], 10000, 220, part);
    check_long(&chains[1], 10000, 220, part);
    check_long(&chains[2], 10000, 200, part);
    check_long(&chains[3], 1000, 350, part);
    return check_done();
}
