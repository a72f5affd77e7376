/* SPDX-License-Identifier: MIT */
#include "cgen/state.h"

bool state_alternates(const Program *p)
{
    for (int i = 0; i < p->state_count; i++)
        if (!p->state[i].is_single) return true;
    return false;
}

static bool begins_with_zeros(const Program *p)
{
    for (int i = 0; i < p->state_count; i++)
        if (p->state[i].initial) return false;
    return true;
}

/* Prints the declarations of the state; the macros of streaming precede them, and one blank line precedes both. */
void state_declare(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    if (!p->stream.hop) text_char(t, '\n');
    text_printf(t, "/* State between runs: call %s_reset before the first run. */\nstruct %s_state {\n",
                p->name, p->name);
    for (int i = 0; i < p->state_count; i++)
        text_printf(t, "    %s %s%s[%lld];\n", dtype_info(p->state[i].tensor->type)->c_type, p->state[i].name,
                    p->state[i].is_single ? "" : "[2]", (long long)tensor_elems(p->state[i].tensor));
    if (state_alternates(p)) text_add(t, "    uint8_t current;  /* index of [2] that the last run wrote */\n");
    text_printf(t, "};\n\nvoid %s_reset(struct %s_state *state);     /* %s */\n", p->name, p->name,
                begins_with_zeros(p) ? "all zeros" : "the initial values of the model");
}

void state_define(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    text_printf(t, "void %s_reset(struct %s_state *state)\n{\n    memset(state, 0, sizeof *state);\n", p->name,
                p->name);
    for (int i = 0; i < p->state_count; i++) {
        const State *s = &p->state[i];
        const char *first = s->is_single ? "" : "[0]";
        if (s->initial)
            text_printf(t, "    memcpy(state->%s%s, %s_%s, sizeof state->%s%s);\n", s->name, first, p->name,
                        s->initial_name, s->name, first);
    }
    text_add(t, "}\n\n");
}

void stream_declare(Ctx *cx, Text *t, const Program *p)
{
    (void)cx;
    const long long hop = p->stream.hop, window = p->stream.window;
    if (p->state_count) text_char(t, '\n');
    text_printf(t, "/* Streaming: the outputs are those of the last %lld frames from run %lld%s%s%s on. */\n", window,
                (window + hop - 1) / hop, p->state_count ? " after " : "", p->state_count ? p->name : "",
                p->state_count ? "_reset" : "");
    text_printf(t, "#define %s_STREAM_HOP    %lld     /* new frames of a run */\n", p->prefix, hop);
    text_printf(t, "#define %s_STREAM_WINDOW %lld     /* frames of the full window */\n", p->prefix, window);
    text_printf(t, "#define %s_STREAM_RUNS_TO_FULL %lld     /* runs until the window is full */\n\n", p->prefix,
                (window + hop - 1) / hop);
}

void state_rows(Ctx *cx, Text *t, const Program *p)
{
    text_add(t, " * State\n");
    for (int i = 0; i < p->state_count; i++) {
        const State *s = &p->state[i];
        text_printf(t, " *   %-20s %-8s %s\n", s->name, dtype_info(s->tensor->type)->c_type,
                    tensor_shape_names(cx, s->tensor));
    }
}
