/* SPDX-License-Identifier: MIT */
/* Schedules groups without a reduction: inlines everything into the output's loop nest. */
#include "schedules/tile.h"

static const Nest *schedule(Ctx *cx, const GroupNest *g) { return inline_elementwise(cx, g->nest, NULL); }

const Implementation implementations_generic_injective[] = {
    { .name = "injective.inlined", .plevel = 10,
      .ops = "pattern:elementwise pattern:broadcast pattern:injective",
      .what = "producers inlined", .schedule = schedule },
    { 0 }
};
