/* SPDX-License-Identifier: MIT */
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "ir/dtype.h"

enum { MOST_ELEMS = 1 << 22 };      /* of a model that is carried on: what is large is slow under sanitizers, not wrong */

static bool is_modest(const Model *m)
{
    int64_t elems = 0;
    for (int i = 0; i < m->input_count; i++) elems = sat_add(elems, tensor_elems(m->input[i]) < 0 ? 0 : tensor_elems(m->input[i]));
    for (int i = 0; i < m->output_count; i++) elems = sat_add(elems, tensor_elems(m->output[i]) < 0 ? 0 : tensor_elems(m->output[i]));
    return elems <= MOST_ELEMS;
}

static void stop_at_internal_error(Ctx *cx)
{
    for (const Diag *d = cx->diags; d; d = d->next) {
        if (d->severity != INTERNAL) continue;
        fprintf(stderr, "%s\n", diag_text(cx, d));
        abort();
    }
}

void whole_way(const char *path, const uint8_t *bytes, size_t count, WholeReader *read)
{
    lw_options options = { .name = "m" };
    Build b = { .options = &options, .path = path, .name = "m" };
    b.cx = ctx_new(NULL, NULL);
    uint8_t *copy = arena_alloc(b.cx->arena, count + 1);      /* ends in a NUL, as a file that was read does */
    memcpy(copy, bytes, count);
    ImportOptions none = { 0 };
    b.target = target_find(b.cx, "generic");
    b.cx->file = path;
    if (read(b.cx, path, (Bytes){ copy, count }, &none, &b.model) && is_modest(&b.model) && build_graph(&b) && build_nests(&b) &&
        build_program(&b)) {
        cgen_source(b.cx, &b.program);
        cgen_header(b.cx, &b.program);
    }
    stop_at_internal_error(b.cx);
    ctx_free(b.cx);
}
