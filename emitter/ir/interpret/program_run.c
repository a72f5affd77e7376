/* SPDX-License-Identifier: MIT */
/* Runs a program. A strip computes all its lanes, then stores them in the order of the loops that the lanes represent.
 * The elements of a reduction are combined one after another, so floats have the loops' rounding. */
#include "ir/interpret/program.h"

#include "support/text.h"

static void run_instr(const Instr *in, int lanes)
{
    ++*in->ran;
    in->run(in, lanes);
}

static void run_code(const Instrs *code, int lanes)
{
    for (int i = 0; i < code->count; i++) run_instr(code->at[i], code->at[i]->lanes == 1 ? 1 : lanes);
}

/* Runs instructions outside the strip. The instructions compute all lanes that the strip can have. */
static void run_each(const Instrs *code)
{
    for (int i = 0; i < code->count; i++) run_instr(code->at[i], code->at[i]->lanes);
}

static bool is_on(Lane condition, int lane) { return ((const int32_t *)condition.at)[lane * condition.step]; }

static void fault(Ctx *cx, const Strip *s, const ProgramAccess *x, const char *does, int64_t elem)
{
    diag_error(cx, text_format(cx, "block \"%s\"", s->block->name), "%s \"%s\" out of bounds: element %lld of %lld",
               does, x->tensor->name, (long long)elem, (long long)x->elems);
}

/* Reports faults of loads in the lanes of this run. A load outside the strip also covers lanes that this run does not
 * have. */
static bool loads_are_good(Ctx *cx, const Strip *s, int lanes)
{
    for (int i = 0; i < s->load_count; i++) {
        const ProgramAccess *x = s->load[i];
        if (x->fault_lane < 0 || x->fault_lane >= lanes) continue;
        fault(cx, s, x, "reads", x->fault_at);
        return false;
    }
    return true;
}

/* Stores one lane, by the general method. */
static void store_lane(const Strip *s, int lane, const int64_t *elem)
{
    const bool starts = s->reduces && s->first.at && is_on(s->first, lane);
    for (int i = 0; i < s->sink_count && s->reduces; i++) {
        const Sink *t = &s->sink[i];
        Scalar old = starts ? lane_get(t->rep, t->init.at, lane * t->init.step)
                            : dtype_load(t->type, t->access.data, elem[i]);
        lane_put(t->rep, t->old, 0, old);
        lane_put(t->rep, t->new_value, 0, lane_get(t->rep, t->value.at, lane * t->value.step));
    }
    if (s->reduces) run_code(&s->combine, 1);
    for (int i = 0; i < s->sink_count; i++) {
        const Sink *t = &s->sink[i];
        Scalar v = s->reduces ? lane_get(t->rep, t->combined, 0) : lane_get(t->rep, t->value.at, lane * t->value.step);
        dtype_store(t->type, t->access.own, elem[i], v);
    }
}

static void store_generally(Ctx *cx, const Strip *s, int lanes)
{
    int64_t at[MAX_COMPONENTS], elem[MAX_COMPONENTS];
    s->ran[PATH_STORE_GENERAL]++;
    for (int i = 0; i < s->sink_count; i++) at[i] = access_at(&s->sink[i].access);
    for (int l = 0; l < lanes; l++) {
        if (s->guard.at && !is_on(s->guard, l)) continue;
        for (int i = 0; i < s->sink_count; i++) {
            const ProgramAccess *x = &s->sink[i].access;
            elem[i] = at[i] + x->offsets->at[l];
            if (elem[i] >= 0 && elem[i] < x->elems) continue;
            fault(cx, s, x, "writes", elem[i]);
            return;
        }
        store_lane(s, l, elem);
    }
}

static bool all_on(Lane condition, int lanes)
{
    int on = 0;
    if (!condition.at) return true;
    if (condition.step == 0) return is_on(condition, 0);
    for (int l = 0; l < lanes; l++) on += ((const int32_t *)condition.at)[l];
    return on == lanes;
}

static void run_lanes(Ctx *cx, const Strip *s, int lanes)
{
    run_code(&s->code, lanes);
    const bool all = all_on(s->guard, lanes);
    if (!all && s->guard.step == 0) return;
    if (!loads_are_good(cx, s, lanes)) return;
    const int64_t at = access_at(&s->sink[0].access);
    if (!s->finish || !all || !access_fits(&s->sink[0].access, at)) {
        store_generally(cx, s, lanes);
        return;
    }
    ++*s->finish_ran;
    s->finish(s, at, lanes);
}

static void run_strip(Ctx *cx, const Strip *s)
{
    if (!s->chunked) {
        run_lanes(cx, s, s->lanes);
        return;
    }
    const int per_iteration = s->lanes / s->chunk;
    s->ran[PATH_CHUNKS]++;
    for (int32_t base = 0, n = *s->chunked; base < n && !ctx_failed(cx); base += s->chunk) {
        *s->base = base;
        run_lanes(cx, s, (n - base < s->chunk ? n - base : s->chunk) * per_iteration);
    }
}

static void run_loop(Ctx *cx, const Loop *loop)
{
    for (int32_t i = 0, n = *loop->extent; i < n && !ctx_failed(cx); i++) {
        *loop->var = i;
        run_each(&loop->each);
        for (int a = 0; a < loop->count; a++) {
            if (loop->action[a].loop) run_loop(cx, loop->action[a].loop);
            else run_strip(cx, loop->action[a].strip);
        }
    }
}

bool program_run(Ctx *cx, const Loop *root)
{
    if (!ctx_failed(cx) && root) run_loop(cx, root);
    return !ctx_failed(cx);
}
