/* SPDX-License-Identifier: MIT */
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "fresh.h"
#include "ir/expr/dtype.h"
#include "support/map.h"

/* Limits of a model that is compiled to C: a large one is slow under sanitizers, not wrong */
enum { MOST_ELEMS = 1 << 22 };
enum { ONE_IN = 64, MOST_BYTES = 1 << 30 };
static const char *const targets[] = { "generic", "cortex-m4", "cortex-m55", "x86-avx2" };
enum { TARGET_COUNT = sizeof targets / sizeof targets[0] };

static bool is_modest(const Model *m)
{
    int64_t elems = 0;
    for (int i = 0; i < m->input_count; i++)
        elems = sat_add(elems, tensor_elems(m->input[i]) < 0 ? 0 : tensor_elems(m->input[i]));
    for (int i = 0; i < m->output_count; i++)
        elems = sat_add(elems, tensor_elems(m->output[i]) < 0 ? 0 : tensor_elems(m->output[i]));
    return elems <= MOST_ELEMS;
}

static void stop_at_faults(Ctx *cx)
{
    if (arena_used(cx->arena) > MOST_BYTES) {
        fprintf(stderr, "internal error: %lld bytes were taken\n", (long long)arena_used(cx->arena));
        abort();
    }
    for (const Diag *d = cx->diags; d; d = d->next) {
        if (d->severity != INTERNAL) continue;
        fprintf(stderr, "%s\n", diag_text(cx, d));
        abort();
    }
}

static void carry_on(Build *b)
{
    if (!is_modest(&b->model) || !build_graph(b) || !build_nests(b) || !build_program(b)) return;
    cgen_source(b->cx, &b->program);
    cgen_header(b->cx, &b->program);
}

static uint64_t one_in(void)
{
    const char *given = getenv("FUZZ_WHOLE");
    return given && atoi(given) > 0 ? (uint64_t)atoi(given) : ONE_IN;
}

void whole_way(const char *path, const uint8_t *bytes, size_t count, WholeReader *read)
{
    static uint64_t every;
    if (!every) every = one_in();
    const uint64_t chance = hash_bytes(bytes, count) >> 20;
    lw_options options = { .name = "m", .target = targets[chance % TARGET_COUNT] };
    Build b = { .options = &options, .path = path, .name = "m" };
    b.cx = fresh_context();
    uint8_t *copy = arena_alloc(b.cx->arena, count + 1);      /* ends in a NUL, as a file that was read does */
    if (count) memcpy(copy, bytes, count);
    ImportOptions none = { 0 };
    b.target = target_find(b.cx, options.target);
    b.cx->file = path;
    if (read(b.cx, path, (Bytes){ copy, count }, &none, &b.model) && chance / TARGET_COUNT % every == 0) carry_on(&b);
    stop_at_faults(b.cx);
}
