/* SPDX-License-Identifier: MIT */
/* The layouts of weights: each row packs weights and gives them again, and a row whose formulas disagree is refused. */
#include "check.h"

#include "context/context.h"
#include "graph/dag/op_formula.h"
#include "schedules/arm/arm.h"

enum { LENGTH = 21, OUTS = 6, GREATEST = 100 };

/* Three rows of seven elements, of six channels. */
static const Phrase numbers[] = {
    { "length", "21" }, { "outs", "6" }, { "rows", "8" }, { "padded", "21" }, { "run", "7" }, { "pairs", "4" },
    { "fours", "6" }, { "blocks", "6" }, { "panel", "4" }, { "depth", "4" }, { NULL, NULL }
};

/* The same with the numbers that depend on the layout. */
static const Phrase *numbers_of(Ctx *cx, const WeightLayout *l)
{
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    Phrase *all = NEW_ARRAY(cx->arena, Phrase, COUNT + 2);
    const bool is_padded_panel = !l->channels && !l->elements;
    for (int i = 0; i < COUNT - 1; i++) all[i] = numbers[i];
    all[3].text = l->of_pairs ? "12" : "21";
    all[COUNT - 1] = (Phrase){ "groups", l->channels == 2 ? "4" : "2" };
    all[COUNT] = (Phrase){ "row", is_padded_panel ? "8" : "7" };
    return all;
}

static Tensor *weights(Ctx *cx, int greatest)
{
    const int64_t shape[] = { LENGTH, OUTS };
    int8_t w[LENGTH * OUTS];
    for (int i = 0; i < LENGTH * OUTS; i++) w[i] = (int8_t)(i * 37 % (2 * greatest + 1) - greatest);
    return tensor_constant(cx, "k", I8, 2, shape, w);
}

static void check_rows(const char *op)
{
    Ctx *cx = context_new(NULL, NULL);
    for (const WeightLayout *l = op_find(cx, op)->layouts; l->name; l++) {
        const int greatest = l->bits ? (1 << (l->bits - 1)) - 1 : GREATEST;
        const Tensor *k = weights_packed(cx, l, weights(cx, greatest), numbers_of(cx, l));
        check_that(k && k->type == l->type && k->rank == l->rank, "a layout packs weights", "%s of %s: %s", l->name, op,
                   cx->diags ? cx->diags->what : "a different type");
        check_that(rows_have_tile(l->name), "a layout has a tile", "%s of %s", l->name, op);
    }
    ctx_free(cx);
}

static void check_unknown_layout(void)
{
    Ctx *cx = context_new(NULL, NULL);
    check_that(!rows_have_tile("spirals"), "an unknown layout has no tile", "it has one");
    check_that(!weights_packed(cx, weights_layout_named(cx, "packed_dense", "spirals"), weights(cx, GREATEST), numbers)
                   && cx->diags && strstr(cx->diags->what, "packed_dense has no weight layout 'spirals'"),
               "an unknown layout is an error", "%s", cx->diags ? cx->diags->what : "it packs");
    ctx_free(cx);
}

static void check_broken_row(void)
{
    Ctx *cx = context_new(NULL, NULL);
    WeightLayout broken = op_find(cx, "packed_conv2d")->layouts[0];
    broken.decode = "k[o,length-1-e]";
    check_that(!weights_packed(cx, &broken, weights(cx, GREATEST), numbers_of(cx, &broken)),
               "a row whose formulas disagree is refused", "it packs");
    ctx_free(cx);
}

int main(void)
{
    check_rows("packed_conv2d");
    check_rows("packed_dense");
    check_broken_row();
    check_unknown_layout();
    return check_done();
}
