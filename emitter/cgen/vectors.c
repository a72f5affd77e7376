/* SPDX-License-Identifier: MIT */
/* Prints expressions in a loop of kind LANES as C. A value that differs by lane is a vector of runtime/simd; any other
 * value is computed once and broadcast. lower/passes/vectors.c creates such loops only from supported statements. */
#include "cgen/spell.h"

#include "support/names.h"

static int lanes_of(const Code *loop) { return (int)loop->end->integer; }

const char *spell_vector_type(Ctx *cx, DType t, int lanes)
{
    return name_format(cx, "lw_%s32x%d", t == BOOL ? "m" : t == F32 ? "f" : "i", lanes);
}

typedef struct FindLane { const Speller *s; const Expr *lane; bool found; } FindLane;

static void find_lane(const Expr *e, void *user)
{
    FindLane *f = user;
    if (e == f->lane) f->found = true;
    for (int i = 0; e->kind == EXPR_VAR && i < f->s->named_count; i++)
        if (f->s->named[i].what == e && f->s->named[i].is_vector) f->found = true;
}

bool differs_by_lane(Speller *s, const Code *loop, const Expr *e)
{
    FindLane f = { s, loop->var, false };
    expr_walk(s->cx, e, find_lane, &f);
    return f.found;
}

const char *spell_vector_place(Speller *s, const Code *loop, const Memory *m, const Expr *index)
{
    const char *memory = speller_find(s, m);
    if (!memory) {
        diag_internal(s->cx, m->name, "this memory is used where it is not declared");
        return m->name;
    }
    if (index == loop->var) return memory;
    const Expr *first = index->arg[index->arg[0] == loop->var];        /* the index is first + lane */
    return text_format(s->cx, "&%s[%s]", memory, spell(s, first));
}

/* Returns name(arg, arg, ...) with vector arguments. */
static const char *call(Speller *s, const Code *loop, const char *type, const char *operation, const Expr *e)
{
    Text t = text_new(s->cx);
    text_printf(&t, "%s_%s(", type, operation);
    for (int i = 0; i < e->arg_count; i++) text_printf(&t, i ? ", %s" : "%s", spell_vector(s, loop, e->arg[i]));
    text_char(&t, ')');
    return text_string(&t);
}

static const char *loaded(Speller *s, const Code *loop, const Expr *e, const char *operation)
{
    const Memory *m = e->ref;
    if (m->lanes) return speller_find(s, m);
    const char *type = spell_vector_type(s->cx, e->type == F32 ? F32 : I32, lanes_of(loop));
    return text_format(s->cx, "%s_%s(%s)", type, operation, spell_vector_place(s, loop, m, e->arg[0]));
}

static const char *converted(Speller *s, const Code *loop, const Expr *e)
{
    const Expr *from = e->arg[0];
    const char *type = spell_vector_type(s->cx, e->type, lanes_of(loop));
    switch (from->type) {
    case I8:  return loaded(s, loop, from, "load_i8");
    case U8:  return loaded(s, loop, from, "load_u8");
    case I16: return loaded(s, loop, from, "load_i16");
    default:  break;
    }
    if (from->type == e->type) return spell_vector(s, loop, from);
    return call(s, loop, type, from->type == F32 ? "from_f32" : "from_i32", e);
}

static const char *operation_of(ExprKind k)
{
    switch (k) {
    case EXPR_BITAND: case EXPR_AND: return "and";
    case EXPR_BITOR:  case EXPR_OR:  return "or";
    case EXPR_BITXOR: return "xor";
    case EXPR_ADD:    return "add";
    case EXPR_SUB:    return "sub";
    case EXPR_MUL:    return "mul";
    case EXPR_DIV:    return "div";
    case EXPR_NEG:    return "neg";
    case EXPR_NOT:    return "not";
    case EXPR_LT:     return "lt";
    case EXPR_LE:     return "le";
    case EXPR_EQ:
    case EXPR_NE:     return "eq";
    default:          return expr_info(k)->spelling;       /* such as abs, sqrt, fma, min, max, select */
    }
}

const char *spell_vector(Speller *s, const Code *loop, const Expr *e)
{
    Ctx *cx = s->cx;
    const char *type = spell_vector_type(cx, e->type, lanes_of(loop));
    if (!differs_by_lane(s, loop, e)) return text_format(cx, "%s_broadcast(%s)", type, spell_exact(s, e));
    switch (e->kind) {
    case EXPR_VAR:  return speller_find(s, e);
    case EXPR_LOAD: return loaded(s, loop, e, "load");
    case EXPR_CAST: return converted(s, loop, e);
    case EXPR_LT: case EXPR_LE: case EXPR_EQ: {
        const char *compared = spell_vector_type(cx, e->arg[0]->type, lanes_of(loop));
        return call(s, loop, compared, operation_of(e->kind), e);
    }
    case EXPR_NE:
        return text_format(cx, "%s_not(%s)", type,
                           call(s, loop, spell_vector_type(cx, e->arg[0]->type, lanes_of(loop)), "eq", e));
    default: return call(s, loop, type, operation_of(e->kind), e);
    }
}
