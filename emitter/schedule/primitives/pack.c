/* SPDX-License-Identifier: MIT */
/* pack and storage_align set the layout of a buffer's elements. Accesses stay in tensor coordinates until the storage
 * pass, so no index of the nest changes. The proof is that the map is injective: every dimension is named once.
 *
 *   pack t o h w            o outermost, w innermost
 *   pack t o/16 h w o%16    o in tiles of 16 adjacent elements; tiles are innermost, in the order of their dimensions
 *
 * A partial last tile or row leaves elements that nothing accesses. */
#include <string.h>

#include "schedule/draft/draft.h"
#include "support/names.h"

enum { LARGEST_TILE = 1 << 16 };

typedef struct Packing { const Tensor *tensor; Buffer with; } Packing;

static const Stmt *repack(Ctx *cx, const Stmt *s, void *user)
{
    const Packing *p = user;
    if (s->kind != STMT_ALLOC || s->buffer->tensor != p->tensor) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *s->buffer);
    memcpy(b->permutation, p->with.permutation, sizeof b->permutation);
    memcpy(b->tile, p->with.tile, sizeof b->tile);
    return stmt_alloc(cx, b, s->child[0]);
}

static const Tensor *find_tensor(Draft *d, const char *tensor)
{
    const Tensor *t = draft_find_tensor(d, tensor);
    if (!t || (!is_output(&d->next, t) && !is_input(&d->next, t))) return t;
    refuse_invalid(
        d, FAULT_ROLE,
        text_format(d->cx, "an intermediate stage, as cache_%s adds", is_output(&d->next, t) ? "write" : "read"),
        "%s is an %s with a caller-owned layout", t->name, is_output(&d->next, t) ? "output" : "input");
    return NULL;
}

/* ---- Words ----------------------------------------------------------------------------------------------------- */

/* A part such as "o", "o/16" or "o%16" */
typedef struct PackedPart { int dimension; char cut; int64_t size; } PackedPart;

static int dimension_called(const Draft *d, const Tensor *t, const char *word, size_t length)
{
    const Stage *s = producer_of(&d->next, t);
    for (int i = 0; i < t->rank; i++) {
        const char *axis = expr_as_var(s->axis[i].var)->name;
        if (strlen(axis) == length && strncmp(axis, word, length) == 0) return i;
    }
    return -1;
}

static const char *dimension_names(const Draft *d, const Tensor *t)
{
    const char *list = "";
    for (int i = 0; i < t->rank; i++)
        list = name_format(d->cx, "%s%s%s", list, i ? ", " : "",
                           expr_as_var(producer_of(&d->next, t)->axis[i].var)->name);
    return list;
}

static bool read_part(Draft *d, const Tensor *t, const char *word, PackedPart *out)
{
    size_t length = strcspn(word, "/%");
    *out = (PackedPart){ dimension_called(d, t, word, length), word[length], 0 };
    if (out->dimension < 0)
        return refuse_invalid(d, FAULT_NAME, text_format(d->cx, "%s", dimension_names(d, t)),
                              "%s has no dimension %.*s", t->name, (int)length, word);
    if (!out->cut) return true;
    for (const char *c = word + length + 1; *c; c++) {
        if (*c < '0' || *c > '9')
            return refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "a number after %c", out->cut),
                                  "%s has no tile size", word);
        out->size = out->size * 10 + (*c - '0');
        if (out->size > LARGEST_TILE) break;
    }
    if (out->size >= 1 && out->size <= LARGEST_TILE) return true;
    return refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "1 to %d elements", LARGEST_TILE),
                          "%s has no valid tile size", word);
}

/* ---- The map --------------------------------------------------------------------------------------------------- */

typedef struct DimensionOrder {
    int outer, inner;
    int at[MAX_RANK];
    int64_t tile[MAX_RANK];
    bool within[MAX_RANK];
    int last;
} DimensionOrder;

static bool add_part(Draft *d, const Tensor *t, const char *word, DimensionOrder *o)
{
    PackedPart p;
    if (!read_part(d, t, word, &p)) return false;
    const char *axis = expr_as_var(producer_of(&d->next, t)->axis[p.dimension].var)->name;
    int position = -1;
    for (int i = 0; i < o->outer; i++)
        if (o->at[i] == p.dimension) position = i;
    if (p.cut == '%') {
        if (position < 0 || o->tile[p.dimension] != p.size)
            return refuse_invalid(d, FAULT_VALUE, "both, or neither", "%s is used without %s/%lld before it", word,
                                  axis, (long long)p.size);
        if (o->within[p.dimension])
            return refuse_invalid(d, FAULT_VALUE, "it once", "the dimension %s is named twice", axis);
        if (position < o->last)
            return refuse_unproved(d, FAULT_VALUE, "tiles in the order of their dimensions",
                                   "%s precedes the tile of an earlier dimension", word);
        o->last = position;
        o->within[p.dimension] = true;
        o->inner++;
        return true;
    }
    if (position >= 0) return refuse_invalid(d, FAULT_VALUE, "it once", "the dimension %s is named twice", axis);
    if (o->inner)
        return refuse_unproved(d, FAULT_VALUE, "tiles innermost", "%s follows the elements of a tile", word);
    o->tile[p.dimension] = p.size;
    o->at[o->outer++] = p.dimension;
    return true;
}

static bool is_complete(Draft *d, const Tensor *t, const DimensionOrder *o)
{
    for (int i = 0; i < t->rank; i++) {
        bool found = false;
        const char *axis = expr_as_var(producer_of(&d->next, t)->axis[i].var)->name;
        for (int k = 0; k < o->outer; k++) found = found || o->at[k] == i;
        if (!found)
            return refuse_invalid(d, FAULT_VALUE, text_format(d->cx, "each of %s", dimension_names(d, t)),
                                  "the dimension %s is not named", axis);
        if (o->tile[i] && !o->within[i])
            return refuse_invalid(d, FAULT_VALUE, "both, or neither", "%s/%lld is used without %s%%%lld", axis,
                                  (long long)o->tile[i], axis, (long long)o->tile[i]);
    }
    return true;
}

const Nest *run_pack(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_pack, a);
    const Tensor *t = find_tensor(&d, a->target);
    DimensionOrder o = { .last = -1 };
    if (!t) return n;
    for (int i = 0; i < a->loop_count; i++)
        if (!add_part(&d, t, a->loop[i], &o)) return n;
    if (!is_complete(&d, t, &o)) return n;
    Packing p = { .tensor = t };
    memcpy(p.with.permutation, o.at, sizeof o.at);
    for (int i = t->rank; i < MAX_RANK; i++) p.with.permutation[i] = i;
    memcpy(p.with.tile, o.tile, sizeof o.tile);
    d.next.root = stmt_rewrite(cx, d.next.root, repack, &p);
    return draft_close(&d);
}

/* ---- Alignment ------------------------------------------------------------------------------------------------- */

static const Stmt *realign(Ctx *cx, const Stmt *s, void *user)
{
    const Packing *p = user;
    if (s->kind != STMT_ALLOC || s->buffer->tensor != p->tensor) return s;
    Buffer *b = arena_copy(cx->arena, s->buffer, sizeof *s->buffer);
    b->align = p->with.align;
    return stmt_alloc(cx, b, s->child[0]);
}

const Nest *run_storage_align(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (ctx_failed(cx) || !n) return n;
    Draft d = draft_open(cx, n, STEP_storage_align, a);
    const Tensor *t = find_tensor(&d, a->target);
    if (!t) return n;
    if (a->factor[0] < 1 || a->factor[0] > LARGEST_TILE) {
        refuse_invalid(&d, FAULT_VALUE, text_format(cx, "1 to %d", LARGEST_TILE),
                       "rows of %s cannot begin at multiples of %lld elements", t->name, (long long)a->factor[0]);
        return n;
    }
    Packing p = { .tensor = t, .with = { .align = a->factor[0] } };
    d.next.root = stmt_rewrite(cx, d.next.root, realign, &p);
    return draft_close(&d);
}
