/* SPDX-License-Identifier: MIT */
#include "ir/nest/copy.h"

int fill_byte(const Expr *e)
{
    unsigned char bytes[16] = { 0 };
    if (e->kind != EXPR_INT && e->kind != EXPR_REAL) return -1;
    dtype_store(e->type, bytes, 0, expr_scalar(e));
    for (int i = 1; i < dtype_info(e->type)->bytes; i++)
        if (bytes[i] != bytes[0]) return -1;
    return bytes[0];
}

static bool is_plain_read(Ctx *cx, const Expr *e)
{
    if (e->kind != EXPR_READ) return false;
    for (int d = 0; d < e->arg_count; d++)
        if (expr_reads(cx, e->arg[d])) return false;
    return true;
}

bool block_copy(Ctx *cx, const Stmt *block, BlockCopy *out)
{
    const Stage *s = block->stage;
    const bool stores = s->reducer == REDUCE_NONE || block->part == BLOCK_INIT;
    *out = (BlockCopy){ NULL, NULL, NULL };
    if (s->out_count != 1 || !stores) return false;
    const Expr *value = block->part == BLOCK_INIT ? s->init[0] : s->value[0];
    if (value->kind == EXPR_SELECT && is_plain_read(cx, value->arg[SELECT_YES])
        && !expr_reads(cx, value->arg[SELECT_COND])) {
        *out = (BlockCopy){ value->arg[SELECT_YES], value->arg[SELECT_COND], value->arg[SELECT_NO] };
        return fill_byte(out->fill) >= 0;
    }
    if (is_plain_read(cx, value)) out->read = value;
    else out->fill = value;
    return out->read || fill_byte(value) >= 0;
}

const Stmt *start_block(const Stmt *start)
{
    const Stmt *s = start->child[0];
    while (s->kind == STMT_FOR) s = s->child[0];
    return s->kind == STMT_BLOCK ? s : NULL;
}

static bool moves(Ctx *cx, const Stmt *start, const Tensor *t, bool *is_back)
{
    BlockCopy copy;
    const Stmt *block = start->kind == STMT_START ? start_block(start) : NULL;
    if (!block) return false;
    *is_back = block->stage->out[0] != t;
    return !*is_back || (block_copy(cx, block, &copy) && copy.read && copy.read->ref == t);
}

const Stmt *start_of(Ctx *cx, const Stmt *s, const Tensor *t, bool *is_back)
{
    const Stmt *found = moves(cx, s, t, is_back) ? s : NULL;
    for (int i = 0; i < s->child_count && !found; i++) found = start_of(cx, s->child[i], t, is_back);
    return found;
}

int starts_of(Ctx *cx, const Stmt *s, const Tensor *t)
{
    bool is_back;
    int count = moves(cx, s, t, &is_back);
    for (int i = 0; i < s->child_count; i++) count += starts_of(cx, s->child[i], t);
    return count;
}
