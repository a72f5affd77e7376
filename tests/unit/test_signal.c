/* SPDX-License-Identifier: MIT */
/* ONNX DFT against sums of the definition, in all its forms: real and complex signals, padded and cut ones, all bins or
 * those up to the middle, and back. A case is a row; data are small fixed fractions. */
#include <math.h>

#include "check.h"
#include "context/context.h"
#include "import/onnx/onnx.h"
#include "onnx_text.h"
#include "plain.h"

typedef struct Case {
    const char *name;
    int size, parts, length;         /* of the transformed axis; 1: real, 2: complex; dft_length, 0: not given */
    bool inverse, one_sided;
} Case;

static const Case cases[] = {
    { "real",                      6, 1, 0, false, false },
    { "complex",                   5, 2, 0, false, false },
    { "padded",                    5, 1, 8, false, false },
    { "cut",                       6, 2, 4, false, false },
    { "one-sided",                 6, 1, 0, false, true  },
    { "one-sided, odd",            7, 1, 0, false, true  },
    { "inverse",                   6, 2, 0, true,  false },
    { "inverse, one-sided",        5, 2, 0, true,  true  },      /* 8 samples */
    { "inverse, one-sided, odd",   4, 2, 7, true,  true  },
    { "inverse, one-sided, cut",   6, 2, 6, true,  true  },
    { "inverse, one-sided, short", 3, 2, 8, true,  true  },      /* bins that are not given are zero */
    { "inverse, one-sided, real",  4, 1, 0, true,  true  },
    /* Each radix, first and after others; an even length of reals is transformed as pairs. */
    { "8",                         8, 2, 0, false, false },
    { "inverse, 8",                8, 2, 0, true,  false },
    { "64",                       64, 2, 0, false, false },
    { "inverse, 64",              64, 2, 0, true,  false },
    { "7 and 5",                  35, 2, 0, false, false },
    { "inverse, 11 and 3",        33, 2, 0, true,  false },
    { "13 and 2",                 26, 2, 0, false, false },
    { "pairs of 60",              60, 1, 0, false, true  },
    { "pairs of 18",              18, 1, 0, false, true  },
    { "pairs of 128",            128, 1, 0, false, true  },
    { "pairs of 128, all bins",  128, 1, 0, false, false },
    { "to pairs of 128",          65, 2, 0, true,  true  },
    { "to pairs of 30",           16, 2, 0, true,  true  },
    /* Primes: a product with a matrix, or a convolution */
    { "17",                       17, 2, 0, false, false },
    { "61",                       61, 2, 0, false, false },
    { "inverse, 122",            122, 2, 0, true,  false },
    { "to reals of 67",           34, 2, 67, true, true  },
};
enum { ROWS = 2, COLUMNS = 3 };      /* [ROWS][size][COLUMNS][parts], transformed along axis 1 */

static float number(int i) { return (float)((i * 37 + 11) % 29 - 14) / 8; }

static int length_of(const Case *c)
{
    return c->length ? c->length : c->inverse && c->one_sided ? 2 * (c->size - 1) : c->size;
}

/* Bin or sample k of column m of row r: its real or imaginary part. Of a one-sided inverse the other half of the bins
 * are the conjugates. */
static double expected(const Case *c, int r, int m, int k, int wanted)
{
    const int length = length_of(c);
    double sum[2] = { 0, 0 };
    for (int n = 0; n < length; n++) {
        const bool is_mirrored = c->inverse && c->one_sided && n > length / 2;
        const int from = is_mirrored ? length - n : n;
        if (from >= c->size) continue;
        const int at = ((r * c->size + from) * COLUMNS + m) * c->parts;
        const double angle = (c->inverse ? 2 : -2) * 3.14159265358979323846 * n * k / length;
        /* The first and the middle bin of a real signal are real. */
        const bool is_real = c->parts == 1 || (c->inverse && c->one_sided && (n == 0 || 2 * n == length));
        const double re = (double)number(at), im = is_real ? 0 : (double)number(at + 1) * (is_mirrored ? -1 : 1);
        sum[0] += re * cos(angle) - im * sin(angle);
        sum[1] += re * sin(angle) + im * cos(angle);
    }
    return c->inverse ? sum[wanted] / length : sum[wanted];
}

static void test_case(const Case *c)
{
    Ctx *cx = context_new(NULL, NULL);
    const bool to_real = c->inverse && c->one_sided;
    const int length = length_of(c), bins = c->one_sided && !c->inverse ? length / 2 + 1 : length,
              parts = to_real ? 1 : 2;
    Text file = onnx_text(cx,
                          text_format(cx, "x:%d,%d,%d,%d;%s>y;DFT x%s y axis=1! inverse=%d! onesided=%d!", ROWS,
                                      c->size, COLUMNS, c->parts, c->length ? text_format(cx, "n#%d;", c->length) : "",
                                      c->length ? ",n" : "", c->inverse, c->one_sided));
    Model m = { 0 };
    Env *env = env_new(cx);
    const float *y = NULL;
    if (onnx_read(cx, "signal.onnx", (Bytes){ (const uint8_t *)file.at, file.length }, NULL, &m)) {
        float *x = env_alloc(cx, env, m.input[0]);
        for (int i = 0; i < ROWS * c->size * COLUMNS * c->parts; i++) x[i] = number(i);
        if (tensor_elems(m.output[0]) == ROWS * bins * COLUMNS * parts) y = plain_value(cx, m.output[0], env);
    }
    double worst = y ? 0 : INFINITY;
    for (int i = 0; y && i < ROWS * bins * COLUMNS * parts; i++) {
        const double off = fabs(
            expected(c, i / (bins * COLUMNS * parts), i / parts % COLUMNS, i / (COLUMNS * parts) % bins, i % parts)
            - (double)y[i]);
        if (!(off <= worst)) worst = off;
    }
    const double sum = length > 8 ? length / 8.0 : 1;                     /* of long transforms */
    check_that(worst < 1e-5 * sum, check_label(c->name, "as-plain-loops"), "off by %g%s", worst,
               cx->diags ? diag_text(cx, cx->diags) : "");
    ctx_free(cx);
}

typedef struct Refused { const char *name, *model, *wanted; } Refused;

/* Each test of several conditions names the one that fails, with a remedy that is true for it. */
static const Refused refused[] = {
    { "too-long", "x:1,6,1;n#70000;>y;DFT x,n y axis=1!", "70000 elements; use 1 to 65536" },
    { "parts", "x:1,6,3;>y;DFT x y axis=1!", "the input is f32[1][6][3]; use floats [..][1] (real) or [..][2]" },
    { "axis-of-parts", "x:1,6,1;>y;DFT x y axis=2!", "'axis' is 2, the dimension of the real and imaginary parts" },
    { "frame-without-samples", "x:1,6,1;s#2;n#8;>y;STFT x,s,,n y",
      "frames of 8 samples for a signal [1][6][1]; use a signal of at least a frame" },
    { "type-of-weights", "b#4;n#8;r#16;l%1,1%0%0;h%1,1%0%8;>y;MelWeightMatrix b,n,r,l,h y output_datatype=6!",
      "'output_datatype' is int32; use a float type" },
    { "bands", "b#0;n#8;r#16;l#0;h#8;>y;MelWeightMatrix b,n,r,l,h y", "it has 0 bands; use 1 to" },
    { "edges", "b#4;n#8;r#16;l#9;h#8;>y;MelWeightMatrix b,n,r,l,h y", "from 9 to 8 Hz at a rate of 16 Hz" },
    { "no-counts", "x:1,4:6;>y;TfIdfVectorizer x y mode=TF min_gram_length=1! max_gram_length=1! pool_int64s=2,3 "
      "ngram_indexes=0,1", "the attribute 'ngram_counts' is missing" },
    { "skips", "x:1,4:6;>y;TfIdfVectorizer x y mode=TF max_skip_count=2000000! pool_int64s=2,3 ngram_counts=0 "
      "ngram_indexes=0,1", "'max_skip_count' is 2000000; use 0 to 1048576" },
    { "constant-of-floats", "x:2,4;s$1$2$4,2;>y;Reshape x,s y", "input 1 (\"s\") is f32[2]; use a list of integers" },
    { "targets-missing", "x:2,3,4;t:2,3,4:7;>y;NegativeLogLikelihoodLoss x,t y",
      "the scores are [2][3][4] and the targets [2][3][4]; use scores [n][classes][..]" },
};

static void test_refused(const Refused *r)
{
    Ctx *cx = context_new(NULL, NULL);
    Text file = onnx_text(cx, r->model);
    Model m = { 0 };
    const bool was_read = onnx_read(cx, "signal.onnx", (Bytes){ (const uint8_t *)file.at, file.length }, NULL, &m);
    const char *said = cx->diags ? diag_text(cx, cx->diags) : "";
    check_that(!was_read && strstr(said, r->wanted), check_label("refused", r->name), "said: %s", said);
    ctx_free(cx);
}

int main(void)
{
    CHECK_EACH(test_case, cases);
    CHECK_EACH(test_refused, refused);
    return check_done();
}
