/* SPDX-License-Identifier: MIT */
/* I9: at each point the buffers in a declared memory, laid out in rows and aligned, fit into its bytes; in a memory
 * with banks, the operands of an instruction are in different ones.
 * I10: only copies, and instructions whose operand names it, access an opaque memory. An operand is stored in the
 * memory that it names. */
#include "ir/check/check_parts.h"
#include "ir/check/match_instruction.h"
#include "ir/nest/copy.h"

typedef struct OpenAlloc { const struct OpenAlloc *outer; const Buffer *buffer; int64_t begin, end; } OpenAlloc;
typedef struct MemoryWalk { Checker *c; const OpenAlloc *open; const Bounds *scope; } MemoryWalk;

static const OpenAlloc *open_of(const OpenAlloc *o, const Tensor *t)
{
    while (o && o->buffer->tensor != t) o = o->outer;
    return o;
}

/* Stores the tensor at fault. Returns false. */
static bool of_tensor(MemoryWalk *w, const Tensor *t)
{
    w->c->refusal.tensor = t;
    return false;
}

static bool same_memory(const Scope *a, const Scope *b) { return text_equal(a->name, b->name); }

/* ---- I9 ---------------------------------------------------------------------------------------------------------- */

static bool buffer_fits(MemoryWalk *w, const Stmt *alloc, OpenAlloc *o)
{
    const Buffer *b = alloc->buffer;
    const Scope *s = b->scope;
    const OpenAlloc *before = w->open;
    BufferLayout l;
    while (before && !same_memory(before->buffer->scope, s)) before = before->outer;
    const int open = alloc_layout(w->c->cx, w->c->nest, alloc, w->scope, &l);
    if (open >= 0)
        return check_fail(w->c, UNPROVED, FAULT_EXTENT, "a declared maximum of its sizes",
                          "dimension %d of \"%s\", which is in %s, has no bound", open, b->tensor->name, s->name);
    const int64_t slots = b->slots ? b->slots : 1;
    const int64_t size = dtype_info(b->tensor->type)->bytes, bytes = sat_mul(sat_mul(l.elems, slots), size);
    o->begin = scope_begin(s, before ? before->end : 0, size);
    o->end = sat_add(o->begin, bytes);
    if (o->end <= s->bytes) return true;
    check_fail(w->c, WRONG, FAULT_LIMIT,
                      text_format(w->c->cx, "a smaller window: compute_at %s inside more loops, or tiles",
                                  b->tensor->name),
                      "\"%s\" needs %lld bytes%s%s, and %s has %lld", b->tensor->name, (long long)bytes,
                      b->slots ? text_format(w->c->cx, " with slots=%lld", (long long)b->slots) : "",
                      before ? text_format(w->c->cx, " from byte %lld on, behind \"%s\", which is live as well",
                                           (long long)o->begin, before->buffer->tensor->name) : "",
                      s->name, (long long)s->bytes);
    return of_tensor(w, b->tensor);
}

static int64_t bank_of(const Scope *s, int64_t byte) { return byte / (s->bytes / s->banks); }

static bool banks_differ(MemoryWalk *w, const Instruction *i, const OpenAlloc *a, const OpenAlloc *b)
{
    const Scope *s = a->buffer->scope;
    if (s->banks < 2 || !same_memory(s, b->buffer->scope)) return true;
    if (bank_of(s, a->end - 1) < bank_of(s, b->begin) || bank_of(s, b->end - 1) < bank_of(s, a->begin)) return true;
    return check_fail(w->c, WRONG, FAULT_STORAGE,
                      a == b ? "a buffer for each operand, as by cache_read with readers="
                             : "larger banks, or smaller windows",
                      "%s reads operands in \"%s\" and in \"%s\", which share bank %lld of %s (%lld banks of %lld "
                      "bytes)",
                      i->macro, a->buffer->tensor->name, b->buffer->tensor->name,
                      (long long)bank_of(s, a->begin > b->begin ? a->begin : b->begin), s->name, (long long)s->banks,
                      (long long)(s->bytes / s->banks));
}

/* ---- I10 --------------------------------------------------------------------------------------------------------- */

static bool operand_is_there(MemoryWalk *w, const Instruction *i, const Tensor *pattern, const char *wanted,
                             const OperandMatch *m, const OpenAlloc **at)
{
    *at = m->tensor ? open_of(w->open, m->tensor) : NULL;
    const Scope *s = *at ? (*at)->buffer->scope : NULL;
    const bool is_named = wanted && !text_equal(wanted, SCOPE_CORE);
    if (m->value || (is_named ? s && text_equal(s->name, wanted) : !scope_is_declared(s) || (!wanted && !s->is_opaque)))
        return true;
    return check_fail(w->c, WRONG, FAULT_STORAGE,
                      is_named ? text_format(w->c->cx, "cache_read or cache_write with the memory %s", wanted)
                               : text_format(w->c->cx, "an instruction with the operand `%s: ... at %s`", pattern->name,
                                             s->name),
                      "the operand %s of %s is %s %s, and \"%s\" is in %s", pattern->name, i->macro,
                      is_named ? "at" : "in", is_named ? wanted : "the core's memory", m->tensor->name,
                      s ? s->name : "the caller's memory");
}

static bool instruction_is_right(MemoryWalk *w, const Stmt *tile)
{
    const Instruction *i = tile->instr;
    const OpenAlloc *at[MAX_OPERANDS + 1];
    const char *why;
    Match m;
    if (!instruction_match(w->c->cx, w->c->nest, tile->child[0], i, &m, &why)) return true;      /* reported before */
    if (!operand_is_there(w, i, i->stage->out[0], i->result_memory, &m.result, &at[i->operand_count])) return false;
    for (int k = 0; k < i->operand_count; k++)
        if (!operand_is_there(w, i, i->operand[k], i->memory[k], &m.operand[k], &at[k])) return false;
    for (int a = 0; a <= i->operand_count; a++)
        for (int b = 0; b < a; b++)
            if (at[a] && at[b] && !banks_differ(w, i, at[a], at[b])) return false;
    return true;
}

typedef struct OpaqueRead { MemoryWalk *w; const OpenAlloc *found; } OpaqueRead;

static bool is_opaque(const OpenAlloc *o) { return o && o->buffer->scope->is_opaque; }

static void find_opaque(const Expr *e, void *user)
{
    OpaqueRead *r = user;
    const OpenAlloc *o = e->kind == EXPR_READ ? open_of(r->w->open, e->ref) : NULL;
    if (is_opaque(o)) r->found = o;
}

static bool block_is_right(MemoryWalk *w, const Stmt *block)
{
    Ctx *cx = w->c->cx;
    const Stage *s = block->stage;
    OpaqueRead r = { w, NULL };
    BlockCopy copy;
    for (int i = 0; i < s->out_count; i++) {
        const OpenAlloc *o = open_of(w->open, s->out[i]);
        if (is_opaque(o)) r.found = o;
        if (block->part != BLOCK_INIT) expr_walk(cx, s->value[i], find_opaque, &r);
        if (s->init && block->part != BLOCK_UPDATE) expr_walk(cx, s->init[i], find_opaque, &r);
    }
    if (!r.found || block_copy(cx, block, &copy)) return true;
    check_fail(w->c, WRONG, FAULT_STORAGE,
                      text_format(cx, "an instruction with an operand `at %s`, which tensorize maps to its loops, or a "
                                      "copy to another memory", r.found->buffer->scope->name),
                      "%s computes on \"%s\", and %s is opaque", block->name, r.found->buffer->tensor->name,
                      r.found->buffer->scope->name);
    return of_tensor(w, r.found->buffer->tensor);
}

/* ---- The nest ---------------------------------------------------------------------------------------------------- */

static bool memories_are_right(MemoryWalk *w, const Stmt *s)
{
    const MemoryWalk outside = *w;
    OpenAlloc o = { w->open, s->buffer, 0, 0 };
    if (s->kind == STMT_BLOCK) return block_is_right(w, s);
    if (s->kind == STMT_TILE && s->instr) return instruction_is_right(w, s);
    if (s->kind == STMT_FOR) w->scope = bounds_var(w->c->cx, w->scope, s->var, s->extent);
    if (s->kind == STMT_ALLOC) {
        if (scope_is_declared(s->buffer->scope) && !buffer_fits(w, s, &o)) return false;
        w->open = &o;
    }
    for (int i = 0; i < s->child_count; i++)
        if (!memories_are_right(w, s->child[i])) return false;
    *w = outside;
    return true;
}

static bool has_memories(const Stmt *s)
{
    if (s->kind == STMT_ALLOC && scope_is_declared(s->buffer->scope)) return true;
    if (s->kind == STMT_TILE && s->instr && instruction_names_memory(s->instr)) return true;
    for (int i = 0; i < s->child_count; i++)
        if (has_memories(s->child[i])) return true;
    return false;
}

bool check_memories(Checker *c)
{
    MemoryWalk w = { c, NULL, NULL };
    return !has_memories(c->nest->root) || memories_are_right(&w, c->nest->root);
}
