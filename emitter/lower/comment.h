/* SPDX-License-Identifier: MIT */
#ifndef LW_LOWER_COMMENT_H
#define LW_LOWER_COMMENT_H
#include "lower/expand/storage.h"

enum { MAX_COMMENT_LINES = 40 };
typedef struct Comment { int count; const char *line[MAX_COMMENT_LINES]; } Comment;

Comment comment_of(Ctx *cx, const Storages *s, const Function *f);
/* Prepends `text` to a finished function's comment; "" prepends nothing. */
void comment_begin(Ctx *cx, Function *f, const char *text);
#endif
