/* SPDX-License-Identifier: MIT */
/* Prints lowered code for `dump --at lowered`, with one line per statement, indented by loops. */
#include "ir/text/print_code.h"

#include "ir/text/formula.h"

static void print_memory(Text *t, const Memory *m)
{
    static const char *const kinds[] = { "input", "output", "scratch", "local", "scalar", "pointer" };
    text_printf(t, "%s %s %s", kinds[m->kind], dtype_info(m->type)->spelling, m->name);
    if (m->elems && m->kind != MEMORY_SCALAR && m->kind != MEMORY_POINTER) {
        text_char(t, '[');
        print_expr(t, m->elems);
        text_char(t, ']');
    }
    if (m->kind == MEMORY_POINTER) {
        text_printf(t, " = %s + ", m->base->name);
        print_expr(t, m->offset);
    }
}

static void print_line(Ctx *cx, Text *t, const Code *c, int depth)
{
    if (c->kind != CODE_SEQ) text_spaces(t, 2 * depth);
    switch (c->kind) {
    case CODE_SEQ:
        for (int i = 0; i < c->child_count; i++) print_line(cx, t, c->child[i], depth);
        return;
    case CODE_SCOPE:
        text_add(t, "scope\n");
        print_line(cx, t, c->child[0], depth + 1);
        return;
    case CODE_FOR:
        text_printf(t, "for %s = ", expr_as_var(c->var)->name);
        print_expr(t, c->begin);
        text_add(t, " .. ");
        print_expr(t, c->end);
        if (c->step != 1) text_printf(t, " step %lld", (long long)c->step);
        if (c->loop_kind != LOOP_SERIAL) text_printf(t, " %s", loop_kind_text(c->loop_kind));
        if (c->pragma) text_printf(t, " %s", c->pragma);
        text_char(t, '\n');
        print_line(cx, t, c->child[0], depth + 1);
        return;
    case CODE_IF:
        text_add(t, "if ");
        print_expr(t, c->cond);
        text_char(t, '\n');
        print_line(cx, t, c->child[0], depth + 1);
        if (c->child_count < 2) return;
        text_spaces(t, 2 * depth);
        text_add(t, "else\n");
        print_line(cx, t, c->child[1], depth + 1);
        return;
    case CODE_LET:
        text_printf(t, "let %s = ", expr_as_var(c->var)->name);
        print_expr(t, c->value);
        break;
    case CODE_LOCAL:
        print_memory(t, c->memory);
        break;
    case CODE_STORE:
        text_printf(t, "%s[", c->memory->name);
        print_expr(t, c->index);
        text_add(t, "] = ");
        print_expr(t, c->value);
        break;
    case CODE_CALL:
        text_printf(t, "%s(", c->text);
        for (int i = 0; i < c->arg_count; i++) {
            if (i) text_add(t, ", ");
            print_expr(t, c->args[i]);
        }
        text_char(t, ')');
        break;
    }
    text_char(t, '\n');
}

void print_code(Ctx *cx, Text *t, const Function *f)
{
    text_printf(t, "function %s\n", f->name);
    for (int i = 0; i < f->memory_count; i++) {
        text_add(t, "  ");
        print_memory(t, f->memory[i]);
        text_char(t, '\n');
    }
    print_line(cx, t, f->body, 1);
}
