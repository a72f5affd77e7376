/* SPDX-License-Identifier: MIT */
/* Prints a lowered function as C: its comment, parameters and statements. Only its name depends on its layer, so groups
 * with equal computations produce equal text and share one function. */
#include <string.h>

#include "cgen/acsl.h"
#include "cgen/apart.h"
#include "support/wrap.h"
#include "ir/nest/external.h"
#include "support/names.h"

typedef struct FunctionPrinter {
    Speller s;
    Text *t;
    int depth;
    const Program *program;
    const Function *function;
    int loop_count;                    /* the number of the next loop */
} FunctionPrinter;

static void statement(FunctionPrinter *p, const Code *c);

static void line(FunctionPrinter *p) { text_spaces(p->t, 4 * p->depth); }

/* Returns the offset at which the current line starts. The line contains only its indentation. */
static size_t line_start(const FunctionPrinter *p) { return p->t->length - 4 * (size_t)p->depth; }

/* ---- Stores ---------------------------------------------------------------------------------------------------- */

static bool is_half(DType t) { return t == F16 || t == BF16; }

/* Returns the value as `m` stores it: an array of 16-bit floats stores bits, a variable stores a float. */
static const char *stored_value(FunctionPrinter *p, const Memory *m, const Expr *value)
{
    return is_half(m->type) && m->kind != MEMORY_SCALAR ? spell_bits(&p->s, value) : spell_exact(&p->s, value);
}

/* For m[i] = m[i] + v, returns the operator of `m[i] += v` if C adds without casts in the type of the element. */
static const char *compound(FunctionPrinter *p, const Code *c, const char **added)
{
    const Expr *v = c->value;
    bool wide = c->memory->type == F32 || c->memory->type == F64 || dtype_info(c->memory->type)->bytes >= 4;
    if (!wide || v->arg_count != 2 || (v->kind != EXPR_ADD && v->kind != EXPR_SUB && v->kind != EXPR_MUL)) return NULL;
    const Expr *self = load_expr(p->s.cx, c->memory, c->index), *other = v->arg[1];
    if (v->arg[0] != self) {
        if (v->arg[1] != self || v->kind == EXPR_SUB) return NULL;
        other = v->arg[0];
    }
    *added = v->kind == EXPR_MUL ? spell_exact(&p->s, other) : spell_addend(&p->s, other);
    return v->kind == EXPR_ADD ? " += " : v->kind == EXPR_SUB ? " -= " : " *= ";
}

static void store(FunctionPrinter *p, const Code *c)
{
    const char *value, *memory = speller_find(&p->s, c->memory), *operator = compound(p, c, &value);
    if (!memory) {
        diag_internal(p->s.cx, c->memory->name, "this memory is stored to where it is not declared");
        return;
    }
    acsl_store(p->t, &p->s, p->function, c, 4 * p->depth);
    text_add(p->t, memory);
    if (c->memory->kind != MEMORY_SCALAR) text_printf(p->t, "[%s]", spell(&p->s, c->index));
    if (!operator) value = stored_value(p, c->memory, c->value);
    text_printf(p->t, "%s%s;\n", operator ? operator : " = ", value);
}

/* ---- Declarations ---------------------------------------------------------------------------------------------- */

static bool mentions(const Code *c, const Memory *m);

static bool expr_mentions(const Expr *e, const Memory *m)
{
    if (e->kind == EXPR_LOAD && e->ref == m) return true;
    for (int i = 0; i < e->arg_count; i++)
        if (expr_mentions(e->arg[i], m)) return true;
    return false;
}

static bool mentions(const Code *c, const Memory *m)
{
    const Expr *const mine[] = { c->begin, c->end, c->cond, c->index, c->value };
    if (c->memory == m) return true;
    for (int i = 0; i < 5; i++)
        if (mine[i] && expr_mentions(mine[i], m)) return true;
    for (int i = 0; i < c->arg_count; i++)
        if (expr_mentions(c->args[i], m)) return true;
    for (int i = 0; i < c->child_count; i++)
        if (mentions(c->child[i], m)) return true;
    return false;
}

/* Returns the store of a statement, either the statement itself or the body of a loop of kind LANES. Returns NULL if
 * there is none. */
static const Code *store_of(const Code *c)
{
    if (c->kind == CODE_FOR && c->loop_kind == LOOP_LANES) c = c->child[0];
    return c->kind == CODE_STORE ? c : NULL;
}

/* Returns the statement that can also declare the variable: its first use, if this use stores the initial value;
 * otherwise NULL. */
static const Code *first_store(const Code *seq, int declared_at)
{
    const Memory *m = seq->child[declared_at]->memory;
    for (int i = declared_at + 1; i < seq->child_count; i++) {
        const Code *c = seq->child[i];
        if (!mentions(c, m)) continue;
        const Code *store = store_of(c);
        return store && store->memory == m && !expr_mentions(store->value, m) ? c : NULL;
    }
    return NULL;
}

/* Aligns an array on the stack in a program with 64-byte vectors. gcc 12 may fill an array in the red zone with aligned
 * stores, although the array itself is not aligned. */
static const char *stack_alignment(const FunctionPrinter *p)
{
    enum { WIDEST = 64 };
    return p->program && p->program->arena_align >= WIDEST ? "LW_ALIGN(64) " : "";
}

/* Declares a buffer of a declared memory: at the address that a firmware's macro gives, or an array. */
static void in_memory(FunctionPrinter *p, const Memory *m)
{
    const char *type = dtype_info(m->type)->c_type, *scope = m->scope->name, *buffer = speller_name(&p->s, m, m->name);
    text_printf(p->t, "#ifdef LW_MEMORY_%s\n", scope);
    line(p);
    text_printf(p->t, "%s *const %s = (%s *)LW_MEMORY_%s(%lld);\n", type, buffer, type, scope,
                (long long)m->begin);
    line(p);
    text_add(p->t, "#else\n");
    line(p);
    if (m->align > dtype_info(m->type)->bytes) text_printf(p->t, "LW_ALIGN(%lld) ", (long long)m->align);
    text_printf(p->t, "%s %s[%lld];\n", type, buffer, (long long)m->elems->integer);
    line(p);
    text_add(p->t, "#endif\n");
}

static void declare(FunctionPrinter *p, const Memory *m)
{
    if (m->kind == MEMORY_POINTER) {
        const char *base = speller_find(&p->s, m->base), *offset = spell(&p->s, m->offset);
        const char *constant = m->is_const ? "const " : "";
        const char *flash = memory_is_constant(m) ? flash_word(p->program) : "";
        text_printf(p->t, "%s%s%s *%s = %s + %s;\n", constant, flash, dtype_info(m->type)->c_type,
                    speller_name(&p->s, m, m->name), base ? base : "?", offset);
    } else if (m->lanes) {
        const char *type = spell_vector_type(p->s.cx, m->type, m->lanes);
        text_printf(p->t, "%s %s = %s_broadcast(0);\n", type, speller_name(&p->s, m, m->name), type);
    } else if (m->kind == MEMORY_SCALAR)
        text_printf(p->t, "%s %s = 0;\n", spell_type(m->type), speller_name(&p->s, m, m->name));
    else if (m->scope) in_memory(p, m);
    else
        text_printf(p->t, "%s%s %s[%lld];\n", stack_alignment(p), dtype_info(m->type)->c_type,
                    speller_name(&p->s, m, m->name), (long long)m->elems->integer);
}

static void let(FunctionPrinter *p, const Code *c)
{
    const Var *v = expr_as_var(c->var);
    const char *value = spell_exact(&p->s, c->value);
    text_printf(p->t, "const %s %s = %s;\n", spell_type(v->type), speller_name(&p->s, c->var, v->name), value);
}

/* ---- Statements ------------------------------------------------------------------------------------------------ */

/* Returns the value that a loop over lanes stores to a vector variable. */
static const char *variable_value(FunctionPrinter *p, const Code *loop, const Code *store)
{
    const Memory *m = store->memory;
    const char *value = spell_vector(&p->s, loop, store->value);
    if (!m->is_held) return value;
    return text_format(p->s.cx, "%s_hold(%s)", spell_vector_type(p->s.cx, m->type, m->lanes), value);
}

static void sequence(FunctionPrinter *p, const Code *seq)
{
    bool *is_first = NEW_ARRAY(p->s.cx->arena, bool, seq->child_count);
    for (int i = 0; i < seq->child_count; i++) {
        const Code *c = seq->child[i];
        if (c->kind != CODE_LOCAL || c->memory->kind != MEMORY_SCALAR) continue;
        const Code *first = first_store(seq, i);
        for (int j = i + 1; first && j < seq->child_count; j++)
            if (seq->child[j] == first) {
                is_first[j] = is_first[i] = true;      /* the store also declares the variable */
                break;
            }
    }
    for (int i = 0; i < seq->child_count; i++) {
        const Code *c = seq->child[i];
        const Code *store = is_first[i] && c->kind != CODE_LOCAL ? store_of(c) : NULL;
        const Memory *m = store ? store->memory : c->memory;
        bool is_declared = m && speller_find(&p->s, m);
        if (c->kind == CODE_LOCAL && (is_declared || is_first[i])) continue;
        if (!is_first[i] || is_declared) statement(p, c);
        else {
            const char *value = m->lanes ? variable_value(p, c, store) : spell_exact(&p->s, store->value);
            const char *type = m->lanes ? spell_vector_type(p->s.cx, m->type, m->lanes) : spell_type(m->type);
            const size_t start = p->t->length;
            line(p);
            text_printf(p->t, "%s %s = %s;\n", type, speller_name(&p->s, m, m->name), value);
            wrap_statement(p->s.cx, p->t, start);
        }
    }
}

static bool needs_braces(const Code *c)
{
    return c->kind == CODE_SEQ || c->kind == CODE_IF || c->kind == CODE_LOCAL || c->kind == CODE_LET
           || (c->kind == CODE_CALL && c->child_count);
}

/* Prints a body in its own scope, after `for (...)` or `if (...)`. */
static void body(FunctionPrinter *p, const Code *c, bool braces)
{
    int named = p->s.named_count;
    text_add(p->t, braces ? " {\n" : "\n");
    p->depth++;
    statement(p, c);
    p->depth--;
    p->s.named_count = named;
    if (!braces) return;
    line(p);
    text_char(p->t, '}');
}

static void loop(FunctionPrinter *p, const Code *c)
{
    const char *begin = spell(&p->s, c->begin), *end = spell(&p->s, c->end);
    int named = p->s.named_count;
    const char *var = speller_name(&p->s, c->var, expr_as_var(c->var)->name);
    acsl_loop(p->t, &p->s, p->function, p->loop_count++, 4 * p->depth);
    if (c->pragma) {
        text_printf(p->t, "%s\n", c->pragma);
        line(p);
    }
    const size_t start = line_start(p);
    text_printf(p->t, "for (int32_t %s = %s; %s < %s; ", var, begin, var, end);
    if (c->step == 1) text_printf(p->t, "%s++)", var);
    else text_printf(p->t, "%s += %lld)", var, (long long)c->step);
    wrap_statement(p->s.cx, p->t, start);
    bool braces = needs_braces(c->child[0]);
    body(p, c->child[0], braces);
    if (braces) text_char(p->t, '\n');
    p->s.named_count = named;
}

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

static void vector_store(FunctionPrinter *p, const Code *loop, const Code *c)
{
    if (c->memory->lanes) {
        text_printf(p->t, "%s = %s;\n", speller_find(&p->s, c->memory), variable_value(p, loop, c));
        return;
    }
    const char *value = spell_vector(&p->s, loop, c->value);
    const char *type = spell_vector_type(p->s.cx, c->memory->type, (int)loop->end->integer);
    text_printf(p->t, "%s_store(%s, %s);\n", type, spell_vector_place(&p->s, loop, c->memory, c->index), value);
}

static void vector_let(FunctionPrinter *p, const Code *loop, const Code *c)
{
    if (!differs_by_lane(&p->s, loop, c->value)) {
        let(p, c);
        return;
    }
    const char *value = spell_vector(&p->s, loop, c->value),
               *type = spell_vector_type(p->s.cx, c->value->type, (int)loop->end->integer);
    text_printf(p->t, "const %s %s = %s;\n", type, speller_name(&p->s, c->var, expr_as_var(c->var)->name), value);
    p->s.named[p->s.named_count - 1].is_vector = true;
}

/* Prints a loop of kind LANES: each statement becomes a statement on vectors. The first one continues the current
 * line. */
static void vectors(FunctionPrinter *p, const Code *loop)
{
    const Code *body = loop->child[0], *const *c = body->kind == CODE_SEQ ? body->child : loop->child;
    int count = body->kind == CODE_SEQ ? body->child_count : 1, named = p->s.named_count;
    bool has_names = body->kind == CODE_SEQ;
    if (has_names) {
        text_add(p->t, "{\n");
        p->depth++;
    }
    for (int i = 0; i < count; i++) {
        if (has_names) line(p);
        const size_t start = line_start(p);
        if (c[i]->kind == CODE_LET) vector_let(p, loop, c[i]);
        else vector_store(p, loop, c[i]);
        wrap_statement(p->s.cx, p->t, start);
    }
    if (!has_names) return;
    p->depth--;
    p->s.named_count = named;
    line(p);
    text_add(p->t, "}\n");
}

static void branch(FunctionPrinter *p, const Code *c)
{
    bool both = c->child_count > 1, braces = both || !store_of(c->child[0]);
    const size_t start = line_start(p);
    text_printf(p->t, "if (%s)", spell(&p->s, c->cond));
    wrap_statement(p->s.cx, p->t, start);
    body(p, c->child[0], braces);
    if (both) {
        text_add(p->t, " else");
        body(p, c->child[1], true);
    }
    if (braces) text_char(p->t, '\n');
}

static void scope(FunctionPrinter *p, const Code *c)
{
    int named = p->s.named_count;
    text_add(p->t, "{\n");
    p->depth++;
    statement(p, c->child[0]);
    p->depth--;
    p->s.named_count = named;
    line(p);
    text_add(p->t, "}\n");
}

/* Returns the address of an operand: `x`, or `x + 4`. */
static const char *address(FunctionPrinter *p, const Expr *operand)
{
    const Expr *load = operand->arg[0];
    const char *base = speller_find(&p->s, load->ref);
    if (expr_is_int(load->arg[0], 0)) return base ? base : "?";
    return text_format(p->s.cx, "%s + %s", base ? base : "?", spell(&p->s, load->arg[0]));
}

static void external(FunctionPrinter *p, const Code *c)
{
    const size_t start = line_start(p);
    const bool stops = c->external->has_status;
    text_printf(p->t, "%s%s(", stops ? "if (" : "", c->text);
    for (int i = 0; i < c->arg_count; i++)
        text_printf(p->t, i ? ", %s" : "%s",
                    c->args[i]->kind == EXPR_AT ? address(p, c->args[i]) : spell_exact(&p->s, c->args[i]));
    text_add(p->t, stops ? ") != 0)" : ");");
    wrap_list(p->s.cx, p->t, start);
    text_char(p->t, '\n');
    if (!stops) return;
    line(p);
    text_printf(p->t, "    return %s_E_CALL;\n", name_upper(p->s.cx, p->program->name));
}

/* Returns the opaque memory of operand i, in which the core cannot compute, or NULL. */
static const struct Scope *opaque_memory(const Code *c, int i)
{
    const Memory *m = c->args[i]->kind == EXPR_AT ? memory_base(c->args[i]->arg[0]->ref) : NULL;
    return m && m->scope && m->scope->is_opaque ? m->scope : NULL;
}

/* Stops the build of a firmware that passes addresses of a unit's memories as operands, but does not define the macro
 * that computes on these memories. */
static void require_macro(FunctionPrinter *p, const Code *c)
{
    Text defined = text_new(p->s.cx);
    for (int i = 0; i < c->arg_count; i++) {
        const struct Scope *s = opaque_memory(c, i);
        bool is_new = s != NULL;
        for (int k = 0; k < i; k++) is_new = is_new && opaque_memory(c, k) != s;
        if (is_new) text_printf(&defined, "%sdefined(LW_MEMORY_%s)", defined.length ? " || " : "", s->name);
    }
    if (!defined.length) return;
    line(p);
    text_printf(p->t, "#elif %s\n", text_string(&defined));
    line(p);
    text_printf(p->t, "#error \"%s computes in the memories of a unit; define it beside LW_MEMORY_...\"\n", c->text);
}

/* Returns true if the instruction's loops are a function before the layers. In an opaque memory the loops have no
 * meaning, so the call's own #else stops the build. */
static bool is_apart(const FunctionPrinter *p, const Code *c)
{
    bool is = false;
    for (int i = 0; i < p->program->portable_count && !is; i++)
        is = text_equal(p->program->portable[i].macro, c->text);
    for (int i = 0; i < c->arg_count; i++) is = is && !opaque_memory(c, i);
    return is;
}

/* Prints a macro that a header may define, with its portable form as fallback. */
static void macro(FunctionPrinter *p, const Code *c)
{
    if (c->external) {
        external(p, c);
        return;
    }
    const bool has_loops = c->child_count && !is_apart(p, c);
    if (has_loops) {
        text_printf(p->t, "#ifdef %s\n", c->text);
        line(p);
    }
    const size_t start = line_start(p);
    text_printf(p->t, "%s(", c->text);
    for (int i = 0; i < c->arg_count; i++) {
        const bool is_address = c->takes_addresses && c->args[i]->kind == EXPR_AT;
        text_printf(p->t, i ? ", %s" : "%s", is_address ? address(p, c->args[i]) : spell(&p->s, c->args[i]));
    }
    text_add(p->t, ");");
    wrap_list(p->s.cx, p->t, start);
    text_char(p->t, '\n');
    if (!has_loops) return;
    require_macro(p, c);
    line(p);
    if (c->child[0]->kind == CODE_SEQ && !c->child[0]->child_count) {
        text_add(p->t, "#endif\n");
        return;
    }
    text_add(p->t, "#else\n");
    if (c->child[0]->kind == CODE_FOR || c->child[0]->kind == CODE_STORE) statement(p, c->child[0]);
    else {
        line(p);
        scope(p, c);
    }
    line(p);
    text_add(p->t, "#endif\n");
}

static void statement(FunctionPrinter *p, const Code *c)
{
    if (c->kind == CODE_SEQ) {
        sequence(p, c);
        return;
    }
    line(p);
    const size_t start = line_start(p);
    switch (c->kind) {
    case CODE_SEQ:   break;
    case CODE_SCOPE: scope(p, c); break;
    case CODE_FOR:
        if (c->loop_kind == LOOP_LANES) vectors(p, c);
        else loop(p, c);
        break;
    case CODE_IF:    branch(p, c); break;
    case CODE_LET:   let(p, c); break;
    case CODE_LOCAL: declare(p, c->memory); break;
    case CODE_STORE: store(p, c); break;
    case CODE_CALL:  macro(p, c); break;
    }
    if (c->kind == CODE_LET || c->kind == CODE_LOCAL || c->kind == CODE_STORE) wrap_statement(p->s.cx, p->t, start);
}

/* ---- The function ---------------------------------------------------------------------------------------------- */

static void comment(Text *t, const Function *f)
{
    for (int i = 0; i < f->comment_count; i++)
        text_printf(t, "%s%s%s\n", i ? " * " : "/* ", f->comment[i], i + 1 < f->comment_count ? "" : " */");
}

static void parameters(FunctionPrinter *p, const Function *f)
{
    int n = 0;
    for (int i = 0; i < f->size_count; i++)
        text_printf(p->t, "%sint32_t %s", n++ ? ", " : "",
                    speller_name(&p->s, f->size[i], expr_as_var(f->size[i])->name));
    for (int i = 0; i < f->number_count; i++)
        text_printf(p->t, "%sint32_t %s", n++ ? ", " : "",
                    speller_name(&p->s, f->number[i], expr_as_var(f->number[i])->name));
    for (int i = 0; i < f->memory_count; i++) {
        const Memory *m = f->memory[i];
        text_printf(p->t, "%s%s%s%s *%s%s", n++ ? ", " : "", m->kind == MEMORY_INPUT ? "const " : "",
                    memory_is_constant(m) ? flash_word(p->program) : "",
                    dtype_info(m->type)->c_type, function_is_apart(f, m) ? "restrict " : "",
                    speller_name(&p->s, m, m->name));
    }
    if (!n) text_add(p->t, "void");
}

/* Returns true if the code uses the number elsewhere than in the portable form of an instruction. */
static bool is_always_used(const Code *c, const Expr *number)
{
    const Expr *const mine[] = {
        c->begin, c->end, c->cond, c->index, c->value,
        c->kind == CODE_LOCAL && c->memory->kind == MEMORY_POINTER ? c->memory->offset : NULL
    };
    bool used = false;
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) used = used || (mine[i] && expr_uses(mine[i], number));
    for (int i = 0; i < c->arg_count; i++) used = used || expr_uses(c->args[i], number);
    for (int i = 0; c->kind != CODE_CALL && i < c->child_count; i++) used = used || is_always_used(c->child[i], number);
    return used;
}

/* Prints a use of each number that only an instruction's portable form reads. */
static void unused_numbers(FunctionPrinter *p, const Function *f)
{
    for (int i = 0; i < f->number_count; i++)
        if (!is_always_used(f->body, f->number[i]))
            text_printf(p->t, "    (void)%s;\n", speller_find(&p->s, f->number[i]));
}

void cgen_function(Ctx *cx, Text *t, const Program *program, const Function *f)
{
    Text head = text_new(cx);
    FunctionPrinter p = { .s = speller_new(cx), .t = &head, .depth = 1, .program = program, .function = f };
    const bool stops = code_may_stop(f->body);
    text_printf(&head, "static %s%s %s_%s(", f->number_count ? "LW_SHARED " : f->no_inline ? "LW_NOINLINE " : "",
                stops ? "int" : "void", program->name, f->name);
    parameters(&p, f);
    text_char(&head, ')');
    wrap_list(cx, &head, 0);
    p.t = t;
    comment(t, f);
    acsl_contract(t, &p.s, f);
    text_addn(t, text_string(&head), head.length);
    text_add(t, "\n{\n");
    unused_numbers(&p, f);
    statement(&p, f->body);
    text_add(t, stops ? "    return 0;\n}\n" : "}\n");
}


void cgen_macro(Ctx *cx, Text *t, const char *name, const MacroParameter *parameter, int count, const Function *f)
{
    const Program none = { .name = NULL };
    FunctionPrinter p = { .s = speller_new(cx), .t = t, .depth = 1, .program = &none, .function = f };
    const size_t start = t->length;
    text_printf(t, "static inline void %s(", name);
    for (int i = 0; i < count; i++) {
        const Memory *m = parameter[i].memory;
        const Expr *e = parameter[i].number;
        if (m) text_printf(t, "%s%s%s *%s", i ? ", " : "", m->kind == MEMORY_INPUT ? "const " : "",
                           dtype_info(m->type)->c_type, speller_name(&p.s, m, m->name));
        else text_printf(t, "%s%s %s", i ? ", " : "", dtype_info(e->type)->c_type,
                         speller_name(&p.s, e, expr_as_var(e)->name));
    }
    text_add(t, f ? ")" : ");\n");
    wrap_list(cx, t, start);
    if (!f) return;
    text_add(t, "\n{\n");
    statement(&p, f->body);
    text_add(t, "}\n");
}
