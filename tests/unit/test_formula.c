/* SPDX-License-Identifier: MIT */
/* Formulas, expressions and nests as text. The reader reads the printer's text back to the same node; every error names
 * the fault, with a caret at its column; padding and broadcasting mean the same as plain loops. */
#include "check.h"

#include <string.h>

#include "context/context.h"
#include "ir/interpret/evaluate.h"
#include "ir/text/formula.h"
#include "support/names.h"

/* ---- Tensors that all tests read -------------------------------------------------------------------------------- */

typedef struct World { Ctx *cx; const Expr *n, *s; Bind bind[16]; } World;

static Tensor *fixed(Ctx *cx, const char *called, DType t, int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return tensor_new_fixed(cx, called, t, rank, (int64_t[]){ a, b, c, d });
}

static World world(void)
{
    Ctx *cx = context_new(NULL, NULL);
    World w = { .cx = cx, .n = expr_new_var(cx, "n", VAR_SIZE, I32, 1, 64) };
    const Expr *shape[] = { w.n, expr_index(cx, 4) };
    Bind bind[] = {
        BIND_T("x", fixed(cx, "x", F32, 2, 3, 5, 0, 0)), BIND_T("b", fixed(cx, "b", F32, 1, 5, 0, 0, 0)),
        BIND_T("q", fixed(cx, "q", I8, 2, 3, 5, 0, 0)),  BIND_T("d", fixed(cx, "d", F64, 1, 5, 0, 0, 0)),
        BIND_T("m", fixed(cx, "m", BOOL, 1, 5, 0, 0, 0)), BIND_T("img", fixed(cx, "img", F32, 4, 1, 6, 6, 2)),
        BIND_T("k", fixed(cx, "k", F32, 4, 3, 3, 2, 4)), BIND_T("v", tensor_new(cx, "v", F32, 2, shape)),
        BIND_T("r", fixed(cx, "r", F32, 0, 0, 0, 0, 0)), BIND_T("u", fixed(cx, "u", F32, 2, 7, 5, 0, 0)),
        BIND_V("n", w.n), BIND_I(cx, "two", 2), { "nothing", NULL, NULL }, { NULL, NULL, NULL },
    };
    memcpy(w.bind, bind, sizeof bind);
    return w;
}

static const char *first_error(Ctx *cx)
{
    for (const Diag *d = cx->diags; d; d = d->next)
        if (d->severity >= ERROR) return diag_text(cx, d);
    return "";
}

/* ---- Formulas and their printed text ----------------------------------------------------------------------------- */

typedef struct Reading { const char *name, *text, *printed; } Reading;

static const Reading readings[] = {
    { "matmul-infers-extents", "c[i, j] = sum(k) x[i, k] * u[j, k]", "c[i<3, j<7] = sum(k<5) x[i, k] * u[j, k]" },
    { "integer-literal-takes-float", "y[i] = b[i] * 2 + 1", "y[i<5] = b[i] * 2.0 + 1.0" },
    { "literal-on-the-left", "y[i] = 1 - d[i]", "y[i<5] = 1.0 - d[i]" },
    { "double-literal-not-rounded", "y[i] = d[i] + 0.1", "y[i<5] = d[i] + 0.1" },
    { "typed-literal", "y[i<3] = f64(0.1)", "y[i<3] = f64(0.1)" },
    { "narrow-typed-literal", "y[i<3] = i8(-128)", "y[i<3] = i8(-128)" },
    { "literals-alone", "y[i<3] = 2", "y[i<3] = 2" },
    { "real-literals-alone", "y[i<3] = 0.5", "y[i<3] = 0.5" },
    { "greater-swaps", "y[i] = select(b[i] > 0.5, 1.0, 2)", "y[i<5] = select(0.5 < b[i], 1.0, 2.0)" },
    { "greater-equal-swaps", "y[i] = b[i] >= b[0]", "y[i<5] = b[0] <= b[i]" },
    { "minimal-parentheses", "y[i] = ((b[i] - (b[0] - b[1])) * (2.0 * (b[i])))",
      "y[i<5] = (b[i] - (b[0] - b[1])) * (b[i] * 2.0)" },
    { "precedence-of-c", "y[i] = b[i] < 1 && m[i] || !m[0] && m[1]", "y[i<5] = b[i] < 1.0 && m[i] || !m[0] && m[1]" },
    { "floor-division-of-indices", "y[i<10] = b[i / two]", "y[i<10] = b[i/2]" },
    { "cast-of-a-narrow-product", "y[i] = sum(j) i32(q[i, j]) * 3", "y[i<3] = sum(j<5) i32(q[i, j]) * 3" },
    { "first-value", "y[i<3] = sum(j; b[i]) x[i, j]", "y[i<3] = sum(j<5; b[i]) x[i, j]" },
    { "first-value-literal", "y[i] = max(j; 0) x[i, j]", "y[i<3] = max(j<5; 0.0) x[i, j]" },
    { "usual-first-value-is-not-printed", "y[i] = max(j; -inf) x[i, j]", "y[i<3] = max(j<5) x[i, j]" },
    { "max-of-two-values", "y[i] = max(b[i], 0) - b[0]", "y[i<5] = max(b[i], 0.0) - b[0]" },
    { "max-before-a-minus", "y = max(i) -b[i]", "y = max(i<5) -b[i]" },
    { "all-of-bools", "y = all(i) m[i]", "y = all(i<5) m[i]" },
    { "argmax", "p, t[i] = argmax(j) x[i, j]", "p, t[i<3] = argmax(j<5) x[i, j]" },
    { "argmax-of-two-axes", "p, t = argmin(i, j) x[i, j]", "p, t = argmin(i<3, j<5) x[i, j]" },
    { "argmax-with-its-own-index", "p, t[i] = argmax(j) 4 - j, x[i, j]", "p, t[i<3] = argmax(j<5) 4 - j, x[i, j]" },
    { "argmax-index-alone", "p[i] = argmax(j) x[i, j]", "p, p_1[i<3] = argmax(j<5) x[i, j]" },
    { "sums-of-several-values", "s, q[i] = sum(j) x[i, j], x[i, j] * x[i, j]",
      "s, q[i<3] = sum(j<5) x[i, j], x[i, j] * x[i, j]" },
    { "sums-whose-first-value-is-the-index", "s, q[i] = sum(j) f32(j), x[i, j]",
      "s, q[i<3] = sum(j<5) f32(j), x[i, j]" },
    { "first-values-of-several", "a, b1, c[i<3] = max(j; 1, b[i], 2) x[i, j], -x[i, j], x[i, j]",
      "a, b1, c[i<3] = max(j<5; 1.0, b[i], 2.0) x[i, j], -x[i, j], x[i, j]" },
    { "sum-up-to-another-axis", "y[i<3] = sum(j<i+1) x[i, j]",
      "y[i<3] = sum(j<3) select(j < i + 1, x[i, j], 0.0)" },
    { "sum-of-a-triangle-in-sizes", "y[i<n] = max(j<n-i) v[i+j, 0]",
      "y[i<n] = max(j<n) select(j < n - i, v[i+j, 0], -inf)" },
    { "sum-up-to-data", "y[i] = sum(j<min(i32(q[i, 0]), 5)) x[i, j]",
      "y[i<3] = sum(j<5) select(j < min(i32(q[i, 0]), 5), x[i, j], 0.0)" },
    { "sum-up-to-two-axes", "y = prod(i<3, j<i, k<j) x[i, j] * x[j, k]",
      "y = prod(i<3, j<2, k<1) select(j < i && k < j, x[i, j] * x[j, k], 1.0)" },
    { "first-value-that-is-kept", "y[i<3] = sum(j<i; b[i]) x[i, j]",
      "y[i<3] = sum(j<2; b[i]) select(j < i, x[i, j], -0.0)" },
    { "argmax-up-to-another-axis", "p[i<3] = argmax(j<i+1) x[i, j]",
      "p, p_1[i<3] = argmax(j<3) select(j < i + 1, j, 2147483647), select(j < i + 1, x[i, j], -inf)" },
    { "all-of-several", "s, q = all(i) m[i], b[i] > 0", "s, q = all(i<5) m[i], 0.0 < b[i]" },
    { "three-outputs", "p, t, o[i] = b[i], d[i], m[i]", "p, t, o[i<5] = b[i], d[i], m[i]" },
    { "two-outputs", "p, t[i] = b[i], d[i]", "p, t[i<5] = b[i], d[i]" },
    { "reducer-of-two-values", "s, q[i] = mul(j) x[i, j], 1.0 where mul(a, b; c, d) = a*c - b*d, a*d + b*c from 1, 0",
      "s, q[i<3] = mul(j<5) x[i, j], 1.0 where mul(a, b; c, d) = a * c - b * d, a * d + b * c from 1.0, 0.0" },
    { "reducer-with-first-values", "y[i<3] = f(j; b[i]) x[i, j] where f(a; c) = a * 0.5 + c",
      "y[i<3] = f(j<5; b[i]) x[i, j] where f(a; c) = a * 0.5 + c" },
    { "reducer-with-both-words",
      "p, t[i] = last(j) j, q[i, j] where last(a, v; c, w) = select(w >= v, c, a), max(v, w) from -1, -128 commutative "
      "associative",
      "p, t[i<3] = last(j<5) j, q[i, j] where last(a, v; c, w) = select(v <= w, c, a), max(v, w) from -1, -128 "
      "associative commutative" },
    { "reducer-up-to-another-axis", "y[i<3] = f(j<i+1) x[i, j] where f(a; c) = max(a, c) from -1",
      "y[i<3] = f(j<3) select(j < i + 1, x[i, j], -1.0) where f(a; c) = max(a, c) from -1.0" },
    { "rank-zero", "y = r + 1", "y = r[] + 1.0" },
    { "symbolic-size", "y[i, j] = v[i, j] * f32(n)", "y[i<n, j<4] = v[i, j] * f32(n)" },
    { "ordered-axis", "y[t<5 ordered] = b[t]", "y[t<5 ordered] = b[t]" },
    { "broadcast", "y[*] = max(x[*] + b[*], 0)", "y[d0<3, c<5] = max(x[d0, c] + b[c], 0.0)" },
    { "broadcast-of-a-scalar", "y[*] = x[*] * r", "y[d0<3, c<5] = x[d0, c] * r[]" },
    { "broadcast-avoids-the-name-of-a-size", "y[*] = v[*]", "y[d0<n, c<4] = v[d0, c]" },
    { "padding-keeps-what-is-not-proved", "y[i<5] = (b[i-1]? : 0)", "y[i<5] = select(0 <= i - 1, b[i-1], 0.0)" },
    { "padding-that-is-proved", "y[i<4] = (b[i+1]? : 0)", "y[i<4] = b[i+1]" },
    { "padding-of-two-reads", "y[i<5] = (b[i-1]? + b[i+1]? : 0) * 2",
      "y[i<5] = select(0 <= i - 1 && i + 1 < 5, b[i-1] + b[i+1], 0.0) * 2.0" },
    { "padding-inside-a-sum", "y[i<5] = sum(j<3) (b[i+j-1]? : 0)",
      "y[i<5] = sum(j<3) select(0 <= i + j - 1 && i + j - 1 < 5, b[i+j-1], 0.0)" },
    { "nested-padding", "y[i<5] = (b[i-1]? * (b[i+1]? : 1) : 0)",
      "y[i<5] = select(0 <= i - 1, b[i-1] * select(i + 1 < 5, b[i+1], 1.0), 0.0)" },
    { "bits", "y[i] = bits_i32(b[i]) & 0x7fffffff", "y[i<5] = bits_i32(b[i]) & 2147483647" },
    { "shift", "y[i, j] = q[i, j] >> 3 & 1", "y[i<3, j<5] = q[i, j] >> 3 & 1" },
    { "clamp", "y[i] = clamp(b[i], 0, 6)", "y[i<5] = min(max(b[i], 0.0), 6.0)" },
    { "ceildiv-and-dim", "y[i<ceildiv(dim(x, 1), 2)] = b[i * 2]", "y[i<3] = b[i*2]" },
    { "unguarded-branch-may-leave", "y[i<9] = select(i < 5, b[i], 0)", "y[i<9] = select(i < 5, b[i], 0.0)" },
    { "read-under-a-condition-on-data", "y[i<9] = select(i < min(i32(q[0, 0]), 5), b[i], 0)",
      "y[i<9] = select(i < min(i32(q[0, 0]), 5), b[i], 0.0)" },
    { "read-under-two-conditions", "y[i<9] = select(i < i32(q[0, 0]) && i < 5, b[i], 0)",
      "y[i<9] = select(i < i32(q[0, 0]) && i < 5, b[i], 0.0)" },
    { "read-where-a-condition-fails", "y[i<n] = i >= 5 || m[i]", "y[i<n] = 5 <= i || m[i]" },
    { "read-behind-the-first", "y[i<n] = select(i == 0, 0, v[i-1, 0])", "y[i<n] = select(i == 0, 0.0, v[i-1, 0])" },
    { "read-that-is-inside-at-each-point", "y[i<4] = b[i ^ 3]", "y[i<4] = b[i ^ 3]" },
    { "read-under-a-condition-on-each-point", "y[i<9] = select(abs(i - 4) < 2, b[i-2], 0)",
      "y[i<9] = select(abs(i - 4) < 2, b[i-2], 0.0)" },
    { "gather", "y[i] = b[i32(q[i, 0])]", "y[i<3] = b[max(min(i32(q[i, 0]),4),0)]" },
    { "special-numbers", "y[i] = select(m[i], inf, -inf)", "y[i<5] = select(m[i], inf, -inf)" },
    { "comment-and-lines", "y[i] =  # the sum\n  b[i]\n  + 1", "y[i<5] = b[i] + 1.0" },
};

/* The first print is as stated; reading it gives the same text again. */
static void test_readings(void)
{
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        World w = world();
        const char *shown = "";
        const char *text = readings[i].text;
        for (int round = 0; round < 2; round++, text = shown) {
            Tensor *t = formula(w.cx, text, w.bind);
            Text out = text_new(w.cx);
            if (t) print_stage(w.cx, &out, t->producer->stage);
            else text_add(&out, first_error(w.cx));
            shown = text_string(&out);
            check_that(text_equal(shown, readings[i].printed),
                       name_format(w.cx, "%s %s", readings[i].name,
                                   round ? "reads back as printed" : "prints its canonical form"),
                       "\n  %s\ninstead of\n  %s", shown, readings[i].printed);
        }
        ctx_free(w.cx);
    }
}

/* ---- Updates ---------------------------------------------------------------------------------------------------- */

/* The tensor before the update is printed with the suffix _2. */
static const Reading updates[] = {
    { "update-by-data", "update b[i32(q[i, 0])] += x[i, 1]",
      "b[d0<5 scattered] = sum(i<3; b_2[d0]) select(i32(q[i, 0]) == d0, x[i, 1], -0.0)" },
    { "update-at-a-distance", "update b[i + 2] = x[i, 0]",
      "b[d0<5] = select(0 <= d0 - 2 && d0 - 2 < 3, x[d0-2, 0], b_2[d0])" },
    { "update-backwards", "update b[4 - i] += b[i]",
      "b[d0<5] = select(0 <= 4 - d0 && 4 - d0 < 5, b_2[d0] + b_2[4-d0], b_2[d0])" },
    { "update-of-a-row", "update x[2, j] *= b[j]", "x[d0<3, j<5] = select(d0 == 2, x_2[d0, j] * b[j], x_2[d0, j])" },
    { "update-of-a-product", "update x[i, j] += sum(k) u[j, k] * u[j, k]",
      "x[i<3, j<5] = sum(k<5; x_2[i, j]) u[j, k] * u[j, k]" },
    { "update-along-a-diagonal", "update x[i, i + 1] max= f32(q[i, 0])",
      "x[d0<3, d1<5] = select(0 <= d0 && d0 < 3 && d0 + 1 == d1, max(x_2[d0, d1], f32(q[d0, 0])), x_2[d0, d1])" },
    { "update-at-a-stride", "update b[2*i] = x[i, 0]",
      "b[d0<5] = select(0 <= d0 / 2 && d0 / 2 < 3 && d0 % 2 == 0, x[d0/2, 0], b_2[d0])" },
    { "update-of-digits", "update b[2*i + h] += sum(h<2) x[i, h]",
      "b[d0<5] = select(0 <= d0 / 2 && d0 / 2 < 3, b_2[d0] + x[d0/2, d0%2], b_2[d0])" },
    { "update-of-falling-digits", "update b[4 - 2*i] += x[i, 0]",
      "b[d0<5] = select(0 <= -d0 / 2 + 2 && -d0 / 2 + 2 < 3 && (4 - d0) % 2 == 0, b_2[d0] + x[-d0/2+2, 0], "
      "b_2[d0])" },
    { "update-of-a-sum-with-a-quotient", "update b[i + i/2] += x[i, 0]",
      "b[d0<5 scattered] = sum(i<3; b_2[d0]) select(i + i / 2 == d0, x[i, 0], -0.0)" },
    { "update-by-a-triangle", "update x[i, j] += sum(k<j+1) u[j, k]",
      "x[i<3, j<5] = sum(k<5; x_2[i, j]) select(k < j + 1, u[j, k], -0.0)" },
    { "update-of-several-in-one", "update b[i + h] += sum(h<3) x[i, 0]",
      "b[d0<5 scattered] = sum(h<3, i<3; b_2[d0]) select(i + h == d0, x[i, 0], -0.0)" },
};

static void test_updates(void)
{
    for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
        World w = world();
        Tensor *t = formula(w.cx, updates[i].text, w.bind);
        Text out = text_new(w.cx);
        if (t) print_stage(w.cx, &out, t->producer->stage);
        else text_add(&out, first_error(w.cx));
        check_that(text_equal(text_string(&out), updates[i].printed), updates[i].name, "\n  %s\ninstead of\n  %s",
                   text_string(&out), updates[i].printed);
        ctx_free(w.cx);
    }
}

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

typedef struct Refusal { const char *text, *message; int column, width; } Refusal;

static const Refusal refusals[] = {
    { "y[i<3, j<i + 1] = x[i, j]", "the size of axis 'j' uses axis 'i'; write its greatest size here, and select(j < i "
      "+ 1, VALUE, 0) as the value", 8, 1 },
    { "y[i<3] = sum(k<i32(b[i])) x[i, k]", "the size of axis 'k' uses axis 'i', and has no greatest value; write "
      "min(i32(b[i]), GREATEST)", 14, 1 },
    { "y[i] = sum(k<i32(q[i, 0])) x[i, k]", "index 1 of 'x' is not shown to stay inside; write min(SIZE, dim(x, 1)) "
      "as the size of the axis, or clamp the index", 33, 1 },
    { "y[i<3] = sum(k<i+4) x[i, k]", "index 1 of 'x' is not shown to stay inside; write min(SIZE, dim(x, 1)) "
      "as the size of the axis, or clamp the index", 26, 1 },
    { "y[i<3] = sum(k<9) select(k < i32(q[i, 0]), x[i, k], 0)",
      "index 1 of 'x' is not shown to stay inside; write clamp(INDEX, 0, dim(x, 1) - 1), or a condition "
      "that keeps it inside", 49, 1 },
    { "y[i<3] = sum(k<9) select(k < 7, x[i, k], 0)",
      "index 1 of 'x' is not shown to stay inside; write clamp(INDEX, 0, dim(x, 1) - 1), or a condition "
      "that keeps it inside", 38, 1 },
    { "y[i<3, k<9] = k < i32(q[i, 0]) && x[i, k] > 0",
      "index 1 of 'x' is not shown to stay inside; write clamp(INDEX, 0, dim(x, 1) - 1), or a condition "
      "that keeps it inside", 40, 1 },
    { "y[i<3, k<9] = k >= i32(q[i, 0]) || x[i, k] > 0",
      "index 1 of 'x' is not shown to stay inside; write clamp(INDEX, 0, dim(x, 1) - 1), or a condition "
      "that keeps it inside", 41, 1 },
    { "y[i<3, k<9] = select(q[i, 0] > 2, x[i, k/2], x[i, 8 - k])",
      "index 1 of 'x' is not shown to stay inside; write clamp(INDEX, 0, dim(x, 1) - 1), or a condition "
      "that keeps it inside", 51, 1 },
    { "y[k<9] = (x[0, k - 4]? * b[k] : 0)",
      "index 0 of 'b' is not shown to stay inside; write clamp(INDEX, 0, dim(b, 0) - 1), or a condition "
      "that keeps it inside", 28, 1 },
    { "y[i<3] = x[i, i * i + 1]",
      "index 1 of 'x' is not shown to stay inside; write clamp(INDEX, 0, dim(x, 1) - 1), or a condition "
      "that keeps it inside", 15, 1 },
    { "y[i<n] = b[i]",
      "index 0 of 'b' is not shown to stay inside; write clamp(INDEX, 0, dim(b, 0) - 1), or a condition "
      "that keeps it inside", 12, 1 },
    { "y[i<n] = v[i + 1, 0]",
      "index 0 of 'v' is not shown to stay inside; write clamp(INDEX, 0, dim(v, 0) - 1), or a condition "
      "that keeps it inside", 12, 1 },
    { "y[q[0, i]] = sum(i) 1", "an output has an axis for each dimension and not an index, because each of its "
      "elements is computed; use `update NAME[INDEX] += VALUE` of a tensor that has values", 3, 1 },
    { "y[i + 1] = b[i]", "an output has an axis for each dimension and not an index, because each of its elements is "
      "computed; use `update NAME[INDEX] += VALUE` of a tensor that has values", 3, 1 },
    { "y[i] = x[i, 0] > 0 ? 1 : 2", "'?' is not expected here; write select(CONDITION, VALUE, VALUE) for CONDITION ? "
      "VALUE : VALUE", 20, 1 },
    { "y[i] = f(j) x[i, j] where f(a; c) = a + c", "f has no first values; write `from` and its values in the reducer, "
      "or NAME(AXES; FIRST VALUES)", 1, 1 },
    { "y[i<3] = f(j<i+1; 0) x[i, j] where f(a; c) = a + c", "f has no first values; write `from` and its values in the "
      "reducer, because the size of a reduced axis varies", 1, 1 },
    { "y[i] = f(j) x[i, j] where f(a, b; c, d) = a, b from 0, 0", "f reduces 2 values, not 1", 1, 1 },
    { "y[i] = f(j) x[i, j] where f(a, b; c) = a", "the second operand has 1 values, and the first one 2", 35, 1 },
    { "y[i] = f(j) x[i, j] where f(a; a) = a", "two parameters are named 'a'", 32, 1 },
    { "y[i] = f(j) x[i, j] where f(a; c) = i32(a)", "value 1 is i32, and the formula reduces f32", 37, 3 },
    { "y[i] = f(j) x[i, j] where f(a; c) = a + b[0]", "'b' is not a tensor here", 41, 1 },
    { "y[i] = f(j) x[i, j] where f(a; c) = a + c from 0 free", "'free' is not expected here; use `from FIRST VALUES`, "
      "`associative` or `commutative`, each once", 50, 4 },
    { "update b[i32(q[i, 0])] = x[i, 1]", "several values may be stored in one element; use +=, *=, max= or min=, or "
      "an index such as i + 3 or 2*i", 8, 1 },
    { "update b[i] -= d[i]", "=, +=, *=, max= or min= is expected after the element, not '-'", 13, 1 },
    { "update x[i] += b[i]", "'x' has 2 dimensions, not 1", 9, 1 },
    { "update b[i + h] += x[i, 0]", "the size of axis 'h' is not known: it is not the whole index of any dimension; "
      "write h<size", 14, 1 },
    { "update b[i] += q[i, 0]", "the value has type i8, and 'b' has type f32", 16, 1 },
    { "update b[q[i, 0]] += x[i, 0]", "the index has type i8; write i32(INDEX)", 10, 1 },
    { "update b[i] += max(j) x[i, j]", "the reduction's reducer is not the update's, sum; use one reducer for both", 16,
      3 },
    { "update x[1, i] = b[i] * b[i + 1]", "index 0 of 'b' runs from 1 to 5, outside its size 5", 27, 1 },
    { "y[i] = z[i]", "'z' is not a tensor here", 8, 1 },
    { "y[i] = imgs[0,i,0,0]", "'imgs' is not a tensor here; did you mean 'img'?", 8, 4 },
    { "y[i] = b[i] + twoo", "'twoo' is not known here; did you mean 'two'?", 15, 4 },
    { "y[i] = b[i] * x[i]", "'x' is f32[3][5], of rank 2, but is read with 1 index", 15, 1 },
    { "y[i] = b[i, 0]", "'b' is f32[5], of rank 1, but is read with 2 indices", 8, 1 },
    { "y[i] = b[i] + b", "'b' is a tensor f32[5]: 1 index expected", 15, 1 },
    { "y[i<3] = two[i]", "'two' is a number, not a tensor; omit the index", 10, 3 },
    { "y[i] = b[i] + q[0, i]", "the operands of '+' have the types f32 and i8; cast one of them", 13, 1 },
    { "y[i] = q[0, i] + 300", "300 does not fit in i8; use -128 to 127", 18, 3 },
    { "y[i] = q[0, i] - -129", "-129 does not fit in i8; use -128 to 127", 19, 3 },
    { "y[i<3] = u8(-1)", "-1 does not fit in u8; use 0 to 255", 14, 1 },
    { "y[i] = q[0, i] * 0.5",
      "0.5 is a real number where i8 is required; use a number of that type, or a cast", 18, 3 },
    { "y[i] = m[i] == 1", "1 is not a bool; use true or false", 16, 1 },
    { "y[i] = b[i] & b[0]", "'&' requires an integer type, not f32", 13, 1 },
    { "y[i] = m[i] + m[0]", "'+' requires a number, not bool", 13, 1 },
    { "y[i] = b[i] && m[i]", "the operands of '&&' have the types f32 and bool; cast one of them", 13, 2 },
    { "y[i] = exp(q[0, i])", "'exp' requires a float type, not i8", 8, 3 },
    { "y[i] = exp(b[i], 1)", "exp takes 1 value, not 2", 8, 3 },
    { "y[i] = select(m[i], b[i])", "select takes 3 values, not 2", 8, 6 },
    { "y[i] = exo(b[i])", "there is no function 'exo'; did you mean 'exp'?", 8, 3 },
    { "y[i] = q[0, i] / 0", "division by zero", 18, 1 },
    { "y[i] = tmod(q[0, i], 0)", "division by zero", 22, 1 },
    { "y[i] = q[0, i] << 8", "a shift of i8 by 8 is out of range; use 0 to 7", 19, 1 },
    { "y[i] = 1 + sum(j) x[i, j]", "'sum' is inside an expression, but a reduction must be outermost; write the rest "
      "as a separate formula, or as the first value: sum(k; FIRST)", 12, 3 },
    { "y[i] = q[i, 0] + max(j) q[i, j]", "'max' is inside an expression, but a reduction must be outermost; write the "
      "rest as a separate formula, or as the first value: sum(k; FIRST)", 18, 3 },
    { "y[i] = sum(i) x[i, i]", "'i' is already an axis", 12, 1 },
    { "y[i] = x[0, i] + x[i, 0]", "axis 'i' is 5 as dimension 1 of 'x' but 3 as dimension 0 of 'x'", 20, 1 },
    { "y[i<3, i<3] = x[i, i]", "'i' is already an axis", 8, 1 },
    { "y[n] = b[n]", "'n' is already a number here; use a different name for the axis", 3, 1 },
    { "y[i] = sum(j<3) b[i]", "axis 'j' is reduced but not used; use it as an index, or omit it", 8, 3 },
    { "y[i, j] = b[i]", "the size of axis 'j' is not known: it is not the whole index of any dimension; write j<size",
      6, 1 },
    { "y[i] = b[i * 1]", "the size of axis 'i' is not known: it is not the whole index of any dimension; write i<size",
      3, 1 },
    { "c[i, j] = sum(k) x[i, k] * u[k, j]", "axis 'k' is 5 as dimension 1 of 'x' but 7 as dimension 0 of 'u'", 30, 1 },
    { "y[i<0 - 2] = b[0]", "the size is -2; use 0 or more", 5, 1 },
    { "y[i<2.5] = b[0]", "2.5 is a real number where i32 is required; use a number of that type, or a cast", 5, 3 },
    { "y[i<8] = b[i]", "index 0 of 'b' runs from 0 to 7, outside its size 5", 12, 1 },
    { "y[i<5] = b[i - 1]", "index 0 of 'b' runs from -1 to 3, outside its size 5", 12, 1 },
    { "y[i] = b[i] + b[5]", "index 0 of 'b' runs from 5 to 5, outside its size 5", 17, 1 },
    { "y[i] = b[b[i]]", "index 0 of 'b' has type f32; use i32", 10, 1 },
    { "y[i<5] = b[i - 1]? + 1", "this padded read has no value for outside; write ( VALUE : OUTSIDE )", 18, 1 },
    { "y[i<5] = (b[i] : 0)", "no read before this ':' is marked as padded with '?'", 16, 1 },
    { "y[i<5] = (b[i-1]? : i32(0))", "the value outside has type i32, the one inside f32", 21, 3 },
    { "y[*] = x[*] + u[*]", "the shape [7][5] of 'u' does not broadcast with [3][5]; use equal sizes, or 1",
      15, 1 },
    { "y[*] = x[*] + v[*]", "the shape [n][4] of 'v' does not broadcast with [3][5]; use equal sizes, or 1",
      15, 1 },
    { "y[*] = 1", "no tensor is read with [*], so the shape of the output is unknown; read a tensor "
      "with [*]", 4, 1 },
    { "y[i] = b[*]", "the size of axis 'i' is not known: it is not the whole index of any dimension; write i<size", 3,
      1 },
    { "y[i<5] = b[*]", "'b[*]' requires an output '[*]' too", 10, 1 },
    { "y[i] = all(j) x[i, j]", "all reduces bool, not f32", 1, 1 },
    { "y = sum(i) m[i]", "sum reduces numbers, not bool", 1, 1 },
    { "p, t[i] = b[i]", "2 values are expected, not 1", 1, 1 },
    { "y[i] = sum(j) x[i, j], x[i, 0]", "1 value is expected, not 2", 1, 1 },
    { "p, t[i] = sum(j) x[i, j]", "2 values are expected, not 1", 1, 1 },
    { "p, t, o[i] = argmax(j) x[i, j]", "argmax has 2 results, but 3 names are given; use at most 2 names", 1, 1 },
    { "p, t[i] = sum(j; 0) x[i, j], x[i, j]", "2 first values are expected", 18, 1 },
    { "p, t[i] = sum(j) x[i, j], m[j]", "sum reduces numbers, not bool", 1, 1 },
    { "y[i] = sum(j; 0, 0) x[i, j]", "1 first value is expected", 15, 1 },
    { "y[i] = sum(j; q[i, 0]) x[i, j]", "the first value has type i8, the reduced one f32", 15, 1 },
    { "y[i] = b[i] +", "a value is expected, not the end", 14, 1 },
    { "y[i] = (b[i]", "')' is expected here, not the end", 13, 1 },
    { "y[i] = b[i] b[i]", "'b' is not expected here", 13, 1 },
    { "y[i<5] b[i]", "'=' is expected after the output, not 'b'", 8, 1 },
    { "y[i] = b[i] $ 2", "'$' is not expected here", 13, 1 },
    { "= b[0]", "the name of the output is expected, not '='", 1, 1 },
    { "", "the name of the output is expected, not the end", 1, 1 },
    { "y[i] = b[i] + nothing", "'nothing' has no value", 15, 7 },
    { "y[i<5] = dim(x, 2)", "'x' has no dimension 2; it has 2, counted from 0", 17, 1 },
    { "y[i<3] = 99999999999", "99999999999 does not fit in i32; use -2147483648 to 2147483647", 10, 11 },
    { "y[i<3] = bits_i8(b[0])", "the bits of f32 cannot be cast to i8; use equal sizes, except bool", 10, 7 },
    { "y[a<1,b<1,c<1,d<1,e<1,f<1,g<1,h<1,i<1] = 0",
      "there are too many axes; use at most 8 dimensions for a tensor and 16 axes for a formula", 35, 1 },
};

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        World w = world();
        const Refusal *r = &refusals[i];
        Tensor *t = formula(w.cx, r->text, w.bind);
        Text wanted = text_new(w.cx);
        text_printf(&wanted, "formula: error: %s\n  %s\n  ", r->message, r->text);
        text_spaces(&wanted, r->column - 1);
        for (int c = 0; c < r->width; c++) text_char(&wanted, '^');
        const char *found = first_error(w.cx);
        check_that(!t && text_equal(found, text_string(&wanted)), name_format(w.cx, "refuse %s", r->text),
                   "\n%s\ninstead of\n%s", found, text_string(&wanted));
        ctx_free(w.cx);
    }
}

static void test_hostile(void)
{
    World w = world();
    Text t = text_new(w.cx);
    text_add(&t, "y[i<3] = ");
    for (int i = 0; i < 100000; i++) text_char(&t, '(');
    CHECK("deep parentheses end in a diagnostic",
          !formula(w.cx, text_string(&t), w.bind) && strstr(first_error(w.cx), "nested more than"));
    ctx_free(w.cx);
    w = world();
    t = text_new(w.cx);
    text_add(&t, "y[i] = b[i]");
    for (int i = 0; i < 100000; i++) text_add(&t, "+b[i]");
    CHECK("endless sums end in a diagnostic",
          !formula(w.cx, text_string(&t), w.bind) && strstr(first_error(w.cx), "has more than"));
    ctx_free(w.cx);
}

/* Every beginning of a formula, and every formula without one of its characters, is read or refused. */
static void test_mutilated(void)
{
    int refused = 0, read = 0, silent = 0;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        size_t length = strlen(readings[i].text);
        for (size_t cut = 0; cut < 2 * length; cut++) {
            World w = world();
            Text t = text_new(w.cx);
            text_addn(&t, readings[i].text, cut % length);
            if (cut >= length) text_add(&t, readings[i].text + cut % length + 1);
            bool ok = formula(w.cx, text_string(&t), w.bind) != NULL;
            read += ok;
            refused += !ok;
            silent += ok == ctx_failed(w.cx);
            ctx_free(w.cx);
        }
    }
    check_that(silent == 0 && read > 50 && refused > 50, "a formula is read or refused with a reason",
               "%d read, %d refused, %d silent", read, refused, silent);
}

/* ---- Expressions: the same node ---------------------------------------------------------------------------------- */

static uint32_t draw(uint32_t *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 8; }

enum { FIRST_INFIX = EXPR_MUL };

static const Expr *leaf(Ctx *cx, uint32_t *seed, DType t)
{
    uint32_t which = draw(seed) % 4;
    if (which == 0)
        return expr_new_var(cx, name_format(cx, "%s_%u", dtype_info(t)->spelling, draw(seed) % 1000000), VAR_LOCAL, t,
                            0, 0);
    if (t == BOOL || !dtype_is_float(t))
        return expr_int(
            cx, t, which == 1 ? (int64_t)(draw(seed) % 7) - 3 : (int64_t)((uint64_t)draw(seed) << 40 | draw(seed)));
    static const double reals[] = {
        0.1, -0.1, 0.0, -0.0, 1e-30, 123456.789, 1e30, 3.0, 5e-324, 1.7976931348623157e308
    };
    return which == 1 ? expr_real(cx, t, reals[draw(seed) % 10]) : expr_real(cx, t, (double)draw(seed) / 1e3 - 8000.0);
}

static DType any_type(uint32_t *seed)
{
    static const DType types[] = { BOOL, I8, U8, I16, U16, I32, I32, U32, I64, U64, F16, BF16, F32, F32, F64 };
    return types[draw(seed) % 15];
}

static const Expr *any(Ctx *cx, uint32_t *seed, DType t, int depth);

/* A node of a random kind that gives the type, or a leaf where the kind drawn does not. */
static const Expr *node(Ctx *cx, uint32_t *seed, DType t, int depth)
{
    uint32_t pick = draw(seed) % 8;
    if (pick == 0 && t != BOOL) return expr_cast(cx, t, any(cx, seed, any_type(seed), depth - 1));
    if (pick == 1)
        return expr_select(cx, any(cx, seed, BOOL, depth - 1), any(cx, seed, t, depth - 1),
                           any(cx, seed, t, depth - 1));
    ExprKind k = (ExprKind)(EXPR_NEG + draw(seed) % (EXPR_KIND_COUNT - EXPR_NEG));
    const ExprInfo *info = expr_info(k);
    bool logical = k == EXPR_AND || k == EXPR_OR || k == EXPR_NOT;
    DType of = logical ? BOOL : t;
    if ((info->algebra & ALGEBRA_IS_BOOL) && !logical) of = any_type(seed);
    bool fits = (info->algebra & ALGEBRA_IS_BOOL ? t == BOOL : t != BOOL) && k != EXPR_SELECT
                && (of != BOOL || logical || k == EXPR_EQ || k == EXPR_NE)
                && (!(info->algebra & ALGEBRA_FLOATS) || dtype_is_float(of))
                && (!(info->algebra & ALGEBRA_INTEGERS) || dtype_is_integer(of));
    if (!fits) return leaf(cx, seed, t);
    const Expr *a = any(cx, seed, of, depth - 1);
    if (info->arity == 1) return expr_unary(cx, k, a);
    const Expr *b = any(cx, seed, of, depth - 1);
    return info->arity == 2 ? expr_binary(cx, k, a, b) : expr_fma(cx, a, b, any(cx, seed, of, depth - 1));
}

static const Expr *any(Ctx *cx, uint32_t *seed, DType t, int depth)
{
    return depth ? node(cx, seed, t, depth) : leaf(cx, seed, t);
}

typedef struct Bound { Bind bind[512]; int count; bool has_nan; } Bound;

static void bind_var(const Expr *e, void *user)
{
    Bound *b = user;
    const Var *v = expr_as_var(e);
    if (v && b->count < 511) b->bind[b->count++] = (Bind)BIND_V(v->name, e);
    b->has_nan = b->has_nan || (e->kind == EXPR_REAL && e->real != e->real);
}

static void test_same_node(void)
{
    int wrong = 0, tried = 0;
    uint32_t seed = 7;
    for (int i = 0; i < 4000; i++) {
        Ctx *cx = context_new(NULL, NULL);
        const Expr *e = any(cx, &seed, any_type(&seed), 1 + (int)(draw(&seed) % 5));
        Bound b = { .count = 0 };
        expr_walk(cx, e, bind_var, &b);
        Text t = text_new(cx);
        print_expr(&t, e);
        const Expr *again = expr_read(cx, text_string(&t), b.bind, I32);
        if (again != e && !b.has_nan) {        /* a NaN has many bit patterns and one spelling */
            if (!wrong++) printf("%s\n%s\n", text_string(&t), first_error(cx));
        }
        tried += !b.has_nan;
        ctx_free(cx);
    }
    check_that(wrong == 0 && tried > 3000, "random expressions read back as the same node", "%d of %d do not", wrong,
               tried);
}

static void test_expr_literal(void)
{
    World w = world();
    CHECK("expr_read gives literals the type wanted", expr_read(w.cx, "1 + 0.5", NULL, F64) == expr_real(w.cx, F64, 1.5)
                                                          && expr_read(w.cx, "3", NULL, I8) == expr_int(w.cx, I8, 3));
    CHECK("least integers", expr_read(w.cx, "-2147483648", NULL, I32) == expr_int(w.cx, I32, INT32_MIN) &&
          expr_read(w.cx, "-9223372036854775808", NULL, I64) == expr_int(w.cx, I64, INT64_MIN) &&
          expr_read(w.cx, "u64(18446744073709551615)", NULL, I32) == expr_int(w.cx, U64, -1));
    CHECK("no error so far", !ctx_failed(w.cx));
    CHECK("one past the greatest is refused",
          expr_read(w.cx, "2147483648", NULL, I32)->kind == EXPR_POISON && ctx_failed(w.cx));
    ctx_free(w.cx);
}

/* ---- Meaning ---------------------------------------------------------------------------------------------------- */

static float *filled(Ctx *cx, Env *env, const Tensor *t)
{
    float *data = env_alloc(cx, env, t);
    for (int64_t i = 0; i < tensor_elems(t); i++) data[i] = (float)((i * 7 + 3) % 11) - 5;
    return data;
}

/* A convolution with stride 2, and padding 1 at two sides only, against plain loops. All values are small integers, so
 * the sums are exact in any order. */
static void test_padded_convolution(void)
{
    World w = world();
    Env *env = env_new(w.cx);
    const Tensor *img = w.bind[5].tensor, *k = w.bind[6].tensor;
    Tensor *y = formula(
        w.cx, "y[b, h<3, w<3, o] = sum(i, j, c) (img[b, h*two + i - 1, w*two + j, c]? * k[i, j, c, o] : 0)", w.bind);
    float *x = filled(w.cx, env, img), *f = filled(w.cx, env, k);
    bool same = y && evaluate(w.cx, env, &y, 1);
    const float *found = same ? env_get(env, y) : NULL;
    for (int at = 0; same && at < 3 * 3 * 4; at++) {
        int h = at / 12, v = at / 4 % 3, o = at % 4;
        float sum = 0;
        for (int t = 0; t < 3 * 3 * 2; t++) {
            int r = h * 2 + t / 6 - 1, s = v * 2 + t / 2 % 3;
            if (r >= 0 && r < 6 && s < 6) sum += x[(r * 6 + s) * 2 + t % 2] * f[t * 4 + o];
        }
        same = found[at] == sum;
    }
    check_that(same, "padded convolution equals plain loops", "%s", first_error(w.cx));
    ctx_free(w.cx);
}

static void test_broadcast_values(void)
{
    World w = world();
    Env *env = env_new(w.cx);
    Bind bind[] = {
        BIND_T("a", fixed(w.cx, "a", F32, 3, 2, 1, 3, 0)), BIND_T("c", fixed(w.cx, "c", F32, 2, 4, 1, 0, 0)), { NULL,
        NULL, NULL }
    };
    Tensor *y = formula(w.cx, "y[*] = a[*] - c[*]", bind);
    const float *a = filled(w.cx, env, bind[0].tensor), *c = filled(w.cx, env, bind[1].tensor);
    bool same = y && text_equal(tensor_shape_text(w.cx, y), "[2][4][3]") && evaluate(w.cx, env, &y, 1);
    for (int at = 0; same && at < 24; at++)
        same = ((float *)env_get(env, y))[at] == a[at / 12 * 3 + at % 3] - c[at / 3 % 4];
    check_that(same, "broadcasting aligns to the right", "%s", first_error(w.cx));
    ctx_free(w.cx);
}

static void test_argmax_values(void)
{
    World w = world();
    Env *env = env_new(w.cx);
    Tensor *p = formula(w.cx, "p, t = argmax(i, j) x[i, j]", w.bind);
    const float *x = filled(w.cx, env, w.bind[0].tensor);
    int best = 0;
    for (int i = 1; i < 15; i++) best = x[i] > x[best] ? i : best;
    bool ok = p && evaluate(w.cx, env, p->producer->out, 2) && *(int32_t *)env_get(env, p) == best
              && *(float *)env_get(env, p->producer->out[1]) == x[best] && p->type == I32
              && text_equal(p->producer->out[1]->name, "t");
    check_that(ok, "argmax counts row by row", "%s", first_error(w.cx));
    ctx_free(w.cx);
}

/* ---- Nests ------------------------------------------------------------------------------------------------------ */

static const char *const nest_text =
    "nest blur\n"
    "size n in 1..1024\n"
    "input x: f32[n][8]\n"
    "const w: f32[3] = {0.25, 0.5, 0.25}\n"
    "const big: i8[65] = {..}\n"
    "stage contract y[i<n, j<6] = sum(k<3) x[i, j+k] * w[k]\n"
    "stage p, t[i<n] = argmax(j<6) y[i, j]\n"
    "stage out: z[i<n] = select(p[i] < 3, t[i], f32(big[p[i]]))\n"
    "output z\n"
    "loops\n"
    "  alloc y stack ring(i)=2 order(1,0) align=4\n"
    "    alloc p register\n"
    "      alloc t arena\n"
    "        if 8 < n\n"
    "          for z.i < n parallel\n"
    "            for y.jo < 2\n"
    "              for y.ji < 4 unrolled\n"
    "                block init y[i=i, j=jo*4+ji] if jo * 4 + ji < 6\n"
    "                for y.k < 3 vector\n"
    "                  block update y[i=i, j=jo*4+ji, k=k] if jo * 4 + ji < 6\n"
    "            for p.j < 6\n"
    "              block p[i=i, j=j]\n"
    "            tile\n"
    "              block z@main of out[i=i]\n"
    "        else\n"
    "          for y.h < n\n"
    "            for z.h < n - h\n"
    "              block y@tail[i=y.h, j=z.h, k=0]\n"
    "              nothing\n"
    "steps\n"
    "  split y.j 4\n"
    "  vectorize y.k\n";

static void test_nest(void)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *n = nest_read(cx, nest_text);
    Text t = text_new(cx);
    if (n) print_nest(cx, &t, n);
    const char *wanted = nest_text, *dropped = "              nothing\n";
    Text without = text_new(cx);        /* an empty sequence among others disappears */
    text_addn(&without, wanted, (size_t)(strstr(wanted, dropped) - wanted));
    text_add(&without, strstr(wanted, dropped) + strlen(dropped));
    check_that(n && text_equal(text_string(&t), text_string(&without)), "a nest prints as it was read", "%s\n%s",
               first_error(cx), text_string(&t));
    bool ok = n && n->input_count == 3 && n->stage_count == 3 && n->stage[0]->contracts && !n->stage[2]->contracts
              && text_equal(n->stage[2]->name, "out") && n->step_count == 2 && n->output[0] == n->stage[2]->out[0];
    CHECK("a nest is what was read", ok);
    ctx_free(cx);
}

/* Every beginning of the nest, and the nest without one of its bytes or with one of them twice, is read or refused. */
static void test_mutilated_nest(void)
{
    size_t length = strlen(nest_text);
    int silent = 0, read = 0, refused = 0;
    for (size_t cut = 0; cut < 3 * length; cut++) {
        Ctx *cx = context_new(NULL, NULL);
        Text t = text_new(cx), out = text_new(cx);
        text_addn(&t, nest_text, cut % length);
        if (cut >= 2 * length) text_char(&t, nest_text[cut % length]);
        if (cut >= length) text_add(&t, nest_text + cut % length + (cut < 2 * length));
        const Nest *n = nest_read(cx, text_string(&t));
        print_nest(cx, &out, n);
        silent += (n != NULL) == ctx_failed(cx);
        read += n != NULL;
        refused += n == NULL;
        ctx_free(cx);
    }
    check_that(!silent && read > 50 && refused > 50, "a nest is read or refused with a reason",
               "%d read, %d refused, %d silent", read, refused, silent);
}

typedef struct NestRefusal { const char *text, *message; } NestRefusal;

static void test_nest_refusals(void)
{
    static const NestRefusal rows[] = {
        { "net x", "1:1: error: a line `nest NAME` is expected, not 'net'\n  net x\n  ^^^" },
        { "nest x\nsize n in 3..1",
          "2:14: error: 'n' runs from 3 to 1; use a rising range within 0 to 2147483647\n"
          "  size n in 3..1\n               ^" },
        { "nest x\nconst w: i8[3] = {1, 2}",
          "2:18: error: 3 values are expected, not 2\n  const w: i8[3] = {1, 2}\n                   ^" },
        { "nest x\nconst w: i8[1] = {128}",
          "2:19: error: 128 does not fit in i8; use -128 to 127\n"
          "  const w: i8[1] = {128}\n                    ^^^" },
        { "nest x\ninput a: f31[3]",
          "2:10: error: an element type such as f32 or i8 is expected, not 'f31'\n  input a: f31[3]\n           ^^^" },
        { "nest x\ninput a: f32[3]\nstage b[i] = a[j]",
          "3:9: error: the size of axis 'i' is not known: it is not the whole index of any dimension; "
          "write i<size\n  stage b[i] = a[j]\n          ^" },
        { "nest x\noutput c", "2:8: error: 'c' is not a tensor here\n  output c\n         ^" },
        { "nest x\nloops\n  four c.i < 3",
          "3:3: error: a statement is expected: for, if, alloc, block, tile, external, start, wait or nothing, not "
          "'four'\n    four c.i < 3\n    ^^^^" },
        { "nest x\nloops\n  for c.i < 3",
          "3:3: error: a statement is expected below this line\n    for c.i < 3\n    ^^^" },
        { "nest x\nloops\n  block c[i=i]", "3:9: error: there is no stage 'c'\n    block c[i=i]\n          ^" },
        { "nest x\nstage c[i<4] = 1\nloops\n  block c[]",
          "4:9: error: the axis 'i' has no index\n    block c[]\n          ^" },
        { "nest x\nstage c[i<4] = 1\nloops\n  nothing\n     nothing",
          "5:6: error: this line is indented by 5 spaces; use 2 spaces, like the line before it\n  "
          "     nothing\n       ^^^^^^^" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        const Nest *n = nest_read(cx, rows[i].text);
        check_that(!n && text_equal(first_error(cx), rows[i].message), name_format(cx, "refuse nest %d", (int)i + 1),
                   "\n%s\ninstead of\n%s", first_error(cx), rows[i].message);
        ctx_free(cx);
    }
}

/* Two tensors and two axes of one name, a name with strange characters, and an axis named as a size. */
static void test_clashes(void)
{
    World w = world();
    Tensor *a = fixed(w.cx, "a/b:0", F32, 2, 4, 4, 0, 0), *b = fixed(w.cx, "a/b:0", F32, 2, 4, 4, 0, 0);
    const Expr *i = axis_var(w.cx, "n", expr_index(w.cx, 4)), *j = axis_var(w.cx, "n", expr_index(w.cx, 4));
    const Expr *ij[] = { i, j };
    StageSpec spec = { .name = "y",
                       .axis_count = 2,
                       .axis = { { i, AXIS_DATA, expr_index(w.cx, 4) }, { j, AXIS_DATA, expr_index(w.cx, 4) } },
                       .out_count = 1 };
    spec.value[0] = expr_add(w.cx, expr_mul(w.cx, tensor_read(w.cx, a, ij, 2), tensor_read(w.cx, b, ij, 2)),
                             expr_cast(w.cx, F32, w.n));
    Node *n = compute_new(w.cx, &spec);
    Text t = text_new(w.cx);
    print_stage(w.cx, &t, n->stage);
    check_that(text_equal(text_string(&t), "y[n_2<4, n_3<4] = a_b_0[n_2, n_3] * a_b_0_2[n_2, n_3] + f32(n)"),
               "names that clash get numbers", "%s", text_string(&t));
    Tensor *in[] = { a, b };
    Text first = text_new(w.cx), second = text_new(w.cx);
    print_nest(w.cx, &first, nest_naive(w.cx, "clash", in, 2, n->out, 1));
    const Nest *again = nest_read(w.cx, text_string(&first));
    if (again) print_nest(w.cx, &second, again);
    check_that(text_equal(text_string(&first), text_string(&second)), "clashing names print the same again",
               "%s\n%s\n%s", first_error(w.cx), text_string(&first), text_string(&second));
    ctx_free(w.cx);
}

int main(void)
{
    CHECK_RUN(test_readings, test_updates, test_refusals, test_hostile, test_mutilated, test_same_node,
              test_expr_literal, test_padded_convolution, test_broadcast_values, test_argmax_values, test_nest,
              test_mutilated_nest, test_nest_refusals, test_clashes);
    return check_done();
}
