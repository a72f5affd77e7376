/* SPDX-License-Identifier: MIT */
/* Prints the parts of layers that cores compute at once. Each divided call becomes a function, and NAME_run forks:
 *
 *     static void net_conv_1_part(void *argument, int part)
 *     {
 *         static const int32_t at[] = { 0, 7, 13 };
 *         const struct net_fork *const fork = (const struct net_fork *)argument;
 *         uint8_t *const memory = fork->memory;
 *         net_conv_1(at[part], at[part + 1], (int8_t *)(memory + 640), ..., (int8_t *)memory);
 *     }
 *     LW_FORK(2, net_conv_1_part, &fork);
 */
#include "cgen/fork.h"

#include <string.h>

#include "cgen/control_flow.h"
#include "cgen/weights.h"
#include "support/names.h"
#include "support/wrap.h"

bool forks_any(const Program *p)
{
    for (int i = 0; i < p->call_count; i++)
        if (p->call[i].fork) return true;
    return false;
}

static bool has_file(const Program *p) { return p->weights.kind == WEIGHTS_CALLER; }
static bool has_inputs(const Program *p) { return p->input_count > 0; }
static bool has_outputs(const Program *p) { return p->output_count > 0; }
static bool has_memory(const Program *p)
{
    for (int i = 0; i < p->call_count; i++)
        for (int k = 0; k < p->call[i].place_count; k++)
            if (p->call[i].place[k].kind == PLACE_ARENA) return true;
    return false;
}

/* The variables of NAME_run that parts may name. %s is the model's name. */
static const struct Member { const char *name, *type; bool (*is_in)(const Program *p); } members[] = {
    { "memory", "uint8_t *", has_memory },
    { "weights", "const uint8_t *", has_file },
    { "in", "const struct %s_inputs *", has_inputs },
    { "out", "const struct %s_outputs *", has_outputs },
};
enum { MEMBERS = sizeof members / sizeof *members };

static bool has_rounds(const Fork *f) { return f->rows || f->moments > f->round; }

static bool any_rounds(const Program *p)
{
    for (int i = 0; i < p->call_count; i++)
        if (p->call[i].fork && has_rounds(p->call[i].fork)) return true;
    return false;
}

void fork_declare(Ctx *cx, Text *t, const Program *p)
{
    text_printf(t, "struct %s_fork {", p->name);
    for (int i = 0; i < MEMBERS; i++)
        if (members[i].is_in(p)) text_printf(t, " %s%s;", text_format(cx, members[i].type, p->name), members[i].name);
    text_add(t, any_rounds(p) ? " int round; };\n\n" : " };\n\n");
}

void fork_begin(Ctx *cx, Text *t, const Program *p)
{
    int count = 0;
    (void)cx;
    text_printf(t, "    struct %s_fork fork = {", p->name);
    for (int i = 0; i < MEMBERS; i++)
        if (members[i].is_in(p)) text_printf(t, count++ ? ", %s" : " %s", members[i].name);
    text_add(t, any_rounds(p) ? ", 0 };\n" : " };\n");
}

/* Returns true if the text names the variable. Behind `->` the word is a field: an input may be called `memory`. */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || (!name_is_word(at[-1]) && at[-1] != '>')) && !name_is_word(at[n])) return true;
    return false;
}

static void print_cuts(Text *t, const Fork *f)
{
    if (f->rows) text_printf(t, "    static const int32_t at[%d][%d] = {", f->rows, f->parts + 1);
    else text_add(t, "    static const int32_t at[] =");
    for (int r = 0; r < (f->rows ? f->rows : 1); r++) {
        const int64_t *at = f->rows ? f->row[r] : f->at;
        text_add(t, r ? ", {" : " {");
        for (int i = 0; i <= f->parts; i++) text_printf(t, i ? ", %lld" : " %lld", (long long)at[i]);
        text_add(t, " }");
    }
    text_add(t, f->rows ? " };\n" : ";\n");
}

const char *fork_numbers(Ctx *cx, const Fork *f)
{
    const char *parts = "at[part], at[part + 1]";
    if (f->rows) return "at[fork->round][part], at[fork->round][part + 1]";
    if (!f->moments) return parts;
    return has_rounds(f) ? text_format(cx, "round[fork->round], round[fork->round + 1], %s", parts)
                         : text_format(cx, "0, %lld, %s", (long long)f->moments, parts);
}

static int64_t rounds(const Fork *f) { return f->rows ? f->rows : (f->moments + f->round - 1) / f->round; }

static void print_rounds(Text *t, const Fork *f)
{
    if (!has_rounds(f) || f->rows) return;
    text_add(t, "    static const int32_t round[] = { 0");
    for (int64_t at = f->round; at < f->moments; at += f->round) text_printf(t, ", %lld", (long long)at);
    text_printf(t, ", %lld };\n", (long long)f->moments);
}

void fork_function(Ctx *cx, Text *t, const Program *p, const Call *c, const char *call)
{
    bool reads = false;
    text_printf(t, "/* %s: a part of %d */\nstatic void %s_%s(void *argument, int part)\n{\n",
                comment_text(cx, c->label), c->fork->parts, p->name, c->fork->name);
    print_cuts(t, c->fork);
    print_rounds(t, c->fork);
    reads = has_rounds(c->fork);
    for (int i = 0; i < MEMBERS; i++) reads = reads || has_word(call, members[i].name);
    if (reads)
        text_printf(t, "    const struct %s_fork *const fork = (const struct %s_fork *)argument;\n", p->name, p->name);
    else text_add(t, "    (void)argument;\n");
    for (int i = 0; i < MEMBERS; i++)
        if (has_word(call, members[i].name))
            text_printf(t, "    %sconst %s = fork->%s;\n", text_format(cx, members[i].type, p->name), members[i].name,
                        members[i].name);
    text_add(t, call);
    text_add(t, "}\n\n");
}

void fork_call(Text *t, const Program *p, const Call *c)
{
    if (has_rounds(c->fork))     /* its output overlaps its input */
        text_printf(t, "    for (fork.round = 0; fork.round < %lld; fork.round++)\n    ", (long long)rounds(c->fork));
    text_printf(t, "    LW_FORK(%d, %s_%s, &fork);\n", c->fork->parts, p->name, c->fork->name);
}
