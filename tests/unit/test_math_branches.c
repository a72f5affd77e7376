/* SPDX-License-Identifier: MIT */
/* runtime/lw_math.h with branches, the spelling of scalar cores, gives the bits of the compiler's own spelling: over a
 * sample of all bit patterns, dense around the values where a branch changes. The sign and payload of a NaN mean
 * nothing and are not compared. */
#define LW_BRANCHES 1
#include "runtime/lw_math.h"

#include "check.h"
#include "ir/expr/expr.h"

typedef struct Case { const char *name; float (*branches)(float); ExprKind kind; } Case;

static const Case cases[] = {
    { "exp", lw_expf, EXPR_EXP },       { "exp2", lw_exp2f, EXPR_EXP2 }, { "expm1", lw_expm1f, EXPR_EXPM1 },
    { "sigmoid", lw_sigmoidf, EXPR_SIGMOID }, { "tanh", lw_tanhf, EXPR_TANH }, { "erf", lw_erff, EXPR_ERF },
    { "sinh", lw_sinhf, EXPR_SINH },    { "cosh", lw_coshf, EXPR_COSH }, { "floor", lw_floorf, EXPR_FLOOR },
    { "ceil", lw_ceilf, EXPR_CEIL },    { "trunc", lw_truncf, EXPR_TRUNC }, { "round", lw_roundf, EXPR_ROUND },
    { "nearbyint", lw_nearbyintf, EXPR_NEARBYINT },
};

/* Magnitudes next to which a function selects another branch. */
static const float turns[] = { 0.55f, 0.9375f, 4.0f,   43.0f,  86.0f,    87.3365f, 88.7228f,
                               89.0f, 103.97f, 104.5f, 151.0f, 0x1p+23f, 0x1p-126f };

static int differs(const Case *c, uint32_t bits)
{
    const Scalar x = { .f = (double)lw_f32_from_bits(bits) };
    const float expected = (float)scalar_apply(c->kind, F32, F32, &x).f, found = c->branches(lw_f32_from_bits(bits));
    return expected != expected ? found == found : lw_f32_bits(expected) != lw_f32_bits(found);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t wrong = 0, first = 0;
        for (uint64_t bits = 0; bits < UINT64_C(0x100000000); bits += 4999)
            if (differs(&cases[i], (uint32_t)bits) && wrong++ == 0) first = (uint32_t)bits;
        for (size_t t = 0; t < sizeof turns / sizeof turns[0]; t++)
            for (uint32_t near = 0; near < 4000; near++)
                for (uint32_t sign = 0; sign < 2; sign++) {
                    const uint32_t bits = (lw_f32_bits(turns[t]) - 2000 + near) | sign << 31;
                    if (differs(&cases[i], bits) && wrong++ == 0) first = bits;
                }
        check_that(wrong == 0, check_label(cases[i].name, "same-bits-with-branches"),
                   "%u results differ, the first at the bits %08x", (unsigned)wrong, (unsigned)first);
    }
    return check_done();
}
