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
