/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_SIGNATURE_H
#define FUZZ_SIGNATURE_H
/* The arguments of a random `external` step. */
#include "ir/nest/external.h"
#include "support/text.h"

enum { MOST_PARTS = 6, MOST_CALL_SIZES = 8 };

/* The tensors of a stage, its results last, and the sizes in its formula. */
typedef struct Signature {
    int part_count; const Tensor *part[MOST_PARTS];
    int size_count; const Expr *size[MOST_CALL_SIZES];
    bool fits;
} Signature;

static inline void note_size(const Expr *e, void *user)
{
    Signature *g = user;
    if (!expr_as_var(e) || expr_as_var(e)->role != VAR_SIZE) return;
    for (int i = 0; i < g->size_count; i++)
        if (g->size[i] == e) return;
    if (g->size_count < MOST_CALL_SIZES) g->size[g->size_count++] = e;
    else g->fits = false;
}

static inline Signature signature_of(Ctx *cx, const Stage *s)
{
    const Tensor **reads;
    Signature g = { .fits = true };
    const int count = stage_reads(cx, s, &reads);
    if (count + s->out_count > MOST_PARTS) return (Signature){ .fits = false };
    for (int i = 0; i < count; i++) g.part[g.part_count++] = reads[i];
    for (int i = 0; i < s->out_count; i++) g.part[g.part_count++] = s->out[i];
    for (int a = 0; a < s->axis_count; a++) {
        g.fits = g.fits && s->axis[a].kind != AXIS_ORDERED;
        if (a >= s->data_count) expr_walk(cx, s->axis[a].extent, note_size, &g);
    }
    for (int i = 0; i < s->out_count; i++) {
        expr_walk(cx, s->value[i], note_size, &g);
        if (s->init) expr_walk(cx, s->init[i], note_size, &g);
    }
    return g;
}

/* Prints the arguments of a call for the stage: each tensor that it reads or computes, with dim, first and stride of
 * its dimensions, then its sizes. False if the stage has axes in order, or more tensors than a call takes. */
static inline bool call_arguments(Ctx *cx, Text *t, const Stage *s)
{
    const Signature g = signature_of(cx, s);
    int count = 0;
    for (int i = 0; i < g.part_count && g.fits; i++) {
        const Tensor *x = g.part[i];
        text_printf(t, count++ ? ", %s" : "%s", x->name);
        for (int d = 0; d < x->rank; d++, count += 3)
            text_printf(t, ", dim(%s, %d), first(%s, %d), stride(%s, %d)", x->name, d, x->name, d, x->name, d);
    }
    for (int i = 0; i < g.size_count; i++, count++) text_printf(t, ", %s", expr_as_var(g.size[i])->name);
    return g.fits && count <= MAX_EXTERNAL_ARGS;
}
#endif
