/* SPDX-License-Identifier: MIT */
/* Reads a nest in the form that print_nest.c prints, line by line; the children of a line follow it, indented deeper.
 * Nothing is simplified, and only the constructors of tensors and statements check. */
#include "ir/text/read.h"

#include <string.h>

#include "ir/nest/instruction.h"

#include "ir/text/read_external.h"
#include "ir/text/read_instruction.h"
#include "ir/text/read_scope.h"
#include "ir/text/step.h"
#include "support/names.h"

typedef struct NestLine { size_t begin, end; int indent; } NestLine;

typedef struct List { const void **at; int count, capacity; } List;
typedef struct Tensors { Tensor **at; int count, capacity; } Tensors;

typedef struct NestReader {
    Ctx *cx;
    const char *text;
    NestLine *line;                      /* the lines, without empty ones */
    int count, next, depth;
    const Symbol *symbols;
    List stage, step;
    Tensors input, output;
    const Stmt *root;
} NestReader;

static void find_lines(NestReader *r)
{
    int capacity = 1;
    for (const char *s = r->text; *s; s++) capacity += *s == '\n';
    r->line = NEW_ARRAY(r->cx->arena, NestLine, capacity);
    for (const char *s = r->text; *s;) {
        size_t length = strcspn(s, "\n"), indent = strspn(s, " ");
        if (strspn(s, " \t\r") < length)
            r->line[r->count++] = (NestLine){ (size_t)(s - r->text) + indent, (size_t)(s - r->text) + length,
                                              (int)indent };
        s += length + (s[length] == '\n');
    }
}

static Lexer lex_line(const NestReader *r, int at)
{
    return lex_part(r->cx, r->text, r->line[at].begin, r->line[at].end, true, "nest");
}

/* Returns true if the next line begins with this word. */
static bool next_begins(const NestReader *r, const char *word)
{
    if (r->next >= r->count || ctx_failed(r->cx)) return false;
    const NestLine *line = &r->line[r->next];
    size_t n = strlen(word);
    return line->end - line->begin >= n && memcmp(r->text + line->begin, word, n) == 0 &&
           (line->end - line->begin == n || r->text[line->begin + n] == ' ');
}

static void push(Ctx *cx, List *l, const void *item)
{
    if (l->count == l->capacity) {
        const void **more = NEW_ARRAY(cx->arena, const void *, l->capacity = 2 * l->capacity + 8);
        if (l->count) memcpy(more, l->at, (size_t)l->count * sizeof *more);
        l->at = more;
    }
    l->at[l->count++] = item;
}

static void push_tensor(Ctx *cx, Tensors *l, Tensor *t)
{
    if (l->count == l->capacity) {
        Tensor **more = NEW_ARRAY(cx->arena, Tensor *, l->capacity = 2 * l->capacity + 8);
        if (l->count) memcpy(more, l->at, (size_t)l->count * sizeof *more);
        l->at = more;
    }
    l->at[l->count++] = t;
}

/* ---- Declarations ----------------------------------------------------------------------------------------------- */

/* (input | const) name ':' type ['=' data] */
static void read_input(NestReader *r)
{
    Lexer l = lex_line(r, r->next++);
    bool is_const = lex_is(&l, "const");
    lex_take(&l);
    const char *tensor_name = lex_name(&l, "the name of the tensor");
    const Expr *shape[MAX_RANK];
    DType type = F32;
    int rank = 0;
    lex_expect(&l, ":", "after the name");
    if (ctx_failed(r->cx) || !tensor_type_read(&l, r->symbols, &type, &rank, shape)) return;
    Tensor *t = tensor_new(r->cx, tensor_name, type, rank, shape);
    if (is_const && lex_expect(&l, "=", "before the data")) {
        int64_t elems = tensor_elems(t);
        if (elems < 0) lex_error(&l, lex_peek(&l), "the constant '%s' is %s; use fixed sizes", tensor_name,
                                 tensor_type_text(r->cx, t));
        else t->data = data_read(&l, type, elems);
    }
    if (!lex_finish(&l)) return;
    r->symbols = symbol_add(r->cx, r->symbols, tensor_name, t, NULL);
    push_tensor(r->cx, &r->input, t);
}

/* promise name ':' type */
static void read_promise(NestReader *r)
{
    Lexer l = lex_line(r, r->next++);
    lex_take(&l);
    promise_read(&l, &r->symbols);
}

static bool accept_word(Lexer *l, const char *word)
{
    const bool is_there = lex_is(l, word) && lex_ahead(l, 1).kind == TOKEN_NAME;
    if (is_there) lex_take(l);
    return is_there;
}

/* stage ['contract'] ['reassociate'] [name ':'] formula */
static void read_stage(NestReader *r)
{
    Lexer l = lex_line(r, r->next++);
    const char *stage_name = NULL;
    lex_take(&l);
    const bool contracts = accept_word(&l, "contract"), reassociates = accept_word(&l, "reassociate");
    if (token_is(lex_ahead(&l, 1), ":")) {
        stage_name = lex_name(&l, "the name of the stage");
        lex_take(&l);
    }
    Tensor *t = formula_read(&l, r->symbols, stage_name, true);
    if (!t) return;
    Stage *s = t->producer->stage;      /* not shared yet, so it may be modified */
    s->contracts = contracts;
    s->reassociates = reassociates;
    for (int i = 0; i < s->out_count; i++) r->symbols = symbol_add(r->cx, r->symbols, s->out[i]->name, s->out[i], NULL);
    push(r->cx, &r->stage, s);
}

static void read_output(NestReader *r)
{
    Lexer l = lex_line(r, r->next++);
    lex_take(&l);
    Token at = lex_peek(&l);
    const Symbol *k = lex_name(&l, "a tensor") ? symbol_tensor(r->symbols, at) : NULL;
    if (!k) unknown_name(&l, r->symbols, at, true);
    if (lex_finish(&l) && k) push_tensor(r->cx, &r->output, k->tensor);
}

/* ---- Statements ------------------------------------------------------------------------------------------------- */

static const Stmt *read_stmts(NestReader *r, int above);

static LoopKind read_loop_kind(Lexer *l)
{
    for (int k = LOOP_UNROLLED; k <= LOOP_PARALLEL; k++)
        if (lex_accept(l, loop_kind_text((LoopKind)k))) return (LoopKind)k;
    return LOOP_SERIAL;
}

/* pragma '(' name [integer] ')' */
static void read_pragma(NestReader *r, Lexer *l, LoopHints *h)
{
    int64_t count;
    Token at = lex_peek(l);
    lex_expect(l, "(", "after pragma");
    const char *word = lex_name(l, "a pragma");
    if (!lex_is(l, ")") && lex_integer(l, &count)) word = name_format(r->cx, "%s %lld", word, (long long)count);
    lex_expect(l, ")", "after the pragma");
    if (ctx_failed(r->cx)) return;
    if (!pragma_read(word, &h->pragma))
        lex_error(l, at, "unroll N, independent or simd is expected, not '%s'", word);
}

/* prefetch '(' tensor ',' integer [',' loop] ')' */
static void read_prefetch(NestReader *r, Lexer *l, LoopHints *h)
{
    int64_t ahead = 0;
    lex_expect(l, "(", "after prefetch");
    Token at = lex_peek(l);
    const Symbol *k = lex_name(l, "a tensor") ? symbol_tensor(r->symbols, at) : NULL;
    if (!k) unknown_name(l, r->symbols, at, true);
    if (h->prefetch_count == MAX_PREFETCHES) lex_error(l, at, "there are more than %d prefetches", MAX_PREFETCHES);
    lex_expect(l, ",", "after the tensor");
    const Token iterations = lex_peek(l);
    if (lex_integer(l, &ahead) && (ahead < 1 || ahead > INT32_MAX / 2))
        lex_error(l, iterations, "1 to %d iterations are expected, not %lld", INT32_MAX / 2, (long long)ahead);
    const char *across = lex_accept(l, ",") ? lex_name(l, "the name of a loop around this one") : NULL;
    lex_expect(l, ")", "after the number of iterations");
    if (ctx_failed(r->cx)) return;
    h->prefetch[h->prefetch_count].tensor = k->tensor;
    h->prefetch[h->prefetch_count].across = across;
    h->prefetch[h->prefetch_count++].ahead = ahead;
}

static const LoopHints *read_hints(NestReader *r, Lexer *l)
{
    LoopHints h = { .prefetch_count = 0 };
    if (lex_accept(l, "pragma")) read_pragma(r, l, &h);
    while (!ctx_failed(r->cx) && lex_accept(l, "prefetch")) read_prefetch(r, l, &h);
    return h.pragma.kind || h.prefetch_count ? arena_copy(r->cx->arena, &h, sizeof h) : NULL;
}

/* for name '<' extent [kind] {hint} */
static const Stmt *read_loop(NestReader *r, Lexer *l, int indent)
{
    const char *full = lex_name(l, "the name of the loop"), *dot = full ? strrchr(full, '.') : NULL;
    Reader e = { .cx = r->cx, .lex = l, .symbols = r->symbols, .literal = I32, .as_written = true };
    lex_expect(l, "<", "after the loop");
    const Expr *extent = read_extent(&e);
    LoopKind kind = read_loop_kind(l);
    const LoopHints *hints = read_hints(r, l);
    if (!lex_finish(l) || ctx_failed(r->cx)) return NULL;
    int64_t greatest = extent->kind == EXPR_INT ? extent->integer - 1 : INT32_MAX;
    Var *v = NEW(r->cx->arena, Var);
    *v = (Var){ .name = dot ? dot + 1 : full,
                .role = VAR_LOOP,
                .type = I32,
                .least = 0,
                .greatest = greatest,
                .serial = ctx_serial(r->cx),
                .hints = hints };
    const Expr *var = expr_var(r->cx, v);
    const Symbol *outer = r->symbols;
    r->symbols = symbol_add(r->cx, r->symbols, full, NULL, var);
    if (dot) r->symbols = symbol_add(r->cx, r->symbols, dot + 1, NULL, var);
    const Stmt *body = read_stmts(r, indent);
    r->symbols = outer;
    return stmt_for(r->cx, full, var, extent, kind, body);
}

/* Reads a dimension: a stage's axis, or a number. */
static int read_dim(Lexer *l, const Tensor *t)
{
    Token at = lex_take(l);
    const Stage *s = t->producer ? t->producer->stage : NULL;
    for (int d = 0; d < t->rank; d++) {
        if (s ? token_is(at, expr_as_var(s->axis[d].var)->name)
              : at.kind == TOKEN_INTEGER && at.length == 1 && *at.at - '0' == d)
            return d;
    }
    lex_error(l, at, "'%s' has no dimension %s; %s expected", t->name, token_text(l->cx, at),
              s ? "the name of an axis is" : text_format(l->cx, "0 to %d are", t->rank - 1));
    return 0;
}

/* Reads (AXIS)=NUMBER after ring and tile. */
static void read_of_dim(Lexer *l, const Buffer *b, int64_t *number)
{
    lex_expect(l, "(", "before the dimension");
    int d = read_dim(l, b->tensor);
    if (lex_expect(l, ")", "after the dimension") && lex_expect(l, "=", "before the number"))
        lex_integer(l, &number[d]);
}

static void read_order(Lexer *l, Buffer *b)
{
    lex_expect(l, "(", "after order");
    for (int d = 0; d < b->tensor->rank && !ctx_failed(l->cx); d++) {
        int64_t v = 0;
        Token at = lex_peek(l);
        if (d) lex_expect(l, ",", "between dimensions");
        if (lex_integer(l, &v) && (v < 0 || v >= b->tensor->rank))
            lex_error(l, at, "'%s' has dimensions 0 to %d, not %lld", b->tensor->name, b->tensor->rank - 1,
                      (long long)v);
        b->permutation[d] = (int)v;
    }
    lex_expect(l, ")", "after the dimensions");
}

/* Returns the text of the first step that begins with this word, at the line *from or after it, or NULL. *from moves
 * behind the step. */
static const char *step_from(const NestReader *r, const char *word, int *from)
{
    const size_t n = strlen(word);
    while (*from < r->count) {
        const NestLine *line = &r->line[(*from)++];
        const char *text = r->text + line->begin;
        if (line->end - line->begin > n && strncmp(text, word, n) == 0)
            return name_n(r->cx, text, line->end - line->begin);
    }
    return NULL;
}

/* Finds a memory: built in, or declared among the steps, which follow the loops. */
static const Scope *read_scope(NestReader *r, Lexer *l)
{
    const Token at = lex_peek(l);
    const char *wanted = lex_name(l, "a memory such as register, stack or arena"), *text, *fault, *accepted;
    const Scope *found = wanted ? scope_called(NULL, 0, wanted) : NULL;
    int from = r->next;
    while (wanted && !found && !ctx_failed(r->cx) && (text = step_from(r, "memory ", &from))) {
        const Step step = step_read(r->cx, text);
        if (step.row && text_equal(step.args->name, wanted))
            found = scope_declared(r->cx, step.args, &fault, &accepted);
    }
    if (wanted && !found)
        lex_error(l, at, "a scope such as register, stack or arena is expected, not %s", token_text(l->cx, at));
    return found;
}

/* alloc name scope {ring | order | tile | align} */
static const Stmt *read_alloc(NestReader *r, Lexer *l, int indent)
{
    Token at = lex_peek(l);
    const Symbol *k = lex_name(l, "a tensor") ? symbol_tensor(r->symbols, at) : NULL;
    if (!k) {
        unknown_name(l, r->symbols, at, true);
        return NULL;
    }
    Buffer *b = NEW(r->cx->arena, Buffer);
    b->tensor = k->tensor;
    for (int d = 0; d < MAX_RANK; d++) b->permutation[d] = d;
    b->scope = read_scope(r, l);
    while (!ctx_failed(r->cx) && lex_accept(l, "ring")) read_of_dim(l, b, b->ring);
    if (lex_accept(l, "order")) read_order(l, b);
    while (!ctx_failed(r->cx) && lex_accept(l, "tile")) read_of_dim(l, b, b->tile);
    if (lex_accept(l, "align") && lex_expect(l, "=", "before the elements")) lex_integer(l, &b->align);
    if (lex_accept(l, "slots") && lex_expect(l, "=", "before the number")) lex_integer(l, &b->slots);
    if (!lex_finish(l) || ctx_failed(r->cx)) return NULL;
    return stmt_alloc(r->cx, b, read_stmts(r, indent));
}

/* Finds the stage of a block. A copy is named by its stage, '@' and a word. */
static const Stage *stage_of_block(const NestReader *r, const char *block)
{
    const char *at = strchr(block, '@');
    size_t n = at ? (size_t)(at - block) : strlen(block);
    for (int i = 0; i < r->stage.count; i++) {
        const Stage *s = r->stage.at[i];
        if (strlen(s->name) == n && memcmp(s->name, block, n) == 0) return s;
    }
    return NULL;
}

/* block [init | update] name [of stage] '[' [axis '=' index {',' axis '=' index}] ']' [if condition] */
static const Stmt *read_block(NestReader *r, Lexer *l)
{
    bool is_part = lex_ahead(l, 1).kind == TOKEN_NAME && !token_is(lex_ahead(l, 1), "of");
    BlockPart part = !is_part ? BLOCK_WHOLE : lex_is(l, "init") ? BLOCK_INIT : BLOCK_UPDATE;
    if (is_part) lex_take(l);
    Token at = lex_peek(l);
    const char *block = lex_name(l, "the name of the block"), *of = block;
    if (lex_accept(l, "of")) of = lex_name(l, "the name of the stage");
    const Stage *s = of ? stage_of_block(r, of) : NULL;
    if (!s) lex_error(l, at, "there is no stage %s", token_text(r->cx, at));
    lex_expect(l, "[", "before the indices");
    if (ctx_failed(r->cx)) return NULL;
    const Expr *bind[MAX_AXES] = { NULL }, *guard = NULL;
    for (int a = 0; a < s->axis_count && !lex_is(l, "]"); a++) {
        if (!lex_is(l, expr_as_var(s->axis[a].var)->name)) continue;
        lex_take(l);
        lex_expect(l, "=", "after the axis");
        bind[a] = expression_read(l, r->symbols, I32, true);
        if (!lex_is(l, "]")) lex_expect(l, ",", "between indices");
    }
    lex_expect(l, "]", "after the indices");
    if (lex_accept(l, "if")) guard = expression_read(l, r->symbols, I32, true);
    for (int a = 0; a < s->axis_count; a++)
        if (!bind[a] && !(part == BLOCK_INIT && a >= s->data_count))
            lex_error(l, at, "the axis '%s' has no index", expr_as_var(s->axis[a].var)->name);
    return lex_finish(l) && !ctx_failed(r->cx) ? stmt_block(r->cx, block, s, part, bind, guard) : NULL;
}

static const Stmt *read_if(NestReader *r, Lexer *l, int indent)
{
    const Expr *cond = expression_read(l, r->symbols, I32, true);
    if (!lex_finish(l) || ctx_failed(r->cx)) return NULL;
    const Stmt *yes = read_stmts(r, indent), *no = NULL;
    if (next_begins(r, "else") && r->line[r->next].indent == indent) {
        r->next++;
        no = read_stmts(r, indent);
    }
    return ctx_failed(r->cx) ? NULL : stmt_if(r->cx, cond, yes, no);
}

/* Finds an instruction's declaration among the steps, which follow the loops. */
static const Instruction *instruction_in_steps(NestReader *r, const char *macro)
{
    static const char word[] = "instruction ";
    int from = r->next;
    for (const char *text; (text = step_from(r, word, &from));) {
        const Instruction *found = instruction_read(r->cx, text + sizeof word - 1);
        if (found && strcmp(found->macro, macro) == 0) return found;
    }
    return instruction_known(r->cx, macro);
}

/* Reads MACRO, or MACRO[NUMBER,...] of an instruction with open numbers. */
static const Instruction *read_macro(NestReader *r, Lexer *l)
{
    const Token at = lex_peek(l);
    const Instruction *i = instruction_in_steps(r, lex_name(l, "a macro"));
    const Expr *number[MAX_NUMBERS] = { NULL };
    int64_t value = 0;
    int count = 0;
    if (!i) lex_error(l, at, "no step declares the instruction '%s'", token_text(r->cx, at));
    if (i && i->sets) lex_error(l, at, "%s sets %s, and computes nothing; use an instruction with a formula", i->macro,
                                i->sets);
    if (!i || ctx_failed(r->cx) || !lex_accept(l, "[")) return i;
    do {
        if (count == i->number_count) lex_error(l, at, "%s has %d numbers", i->macro, i->number_count);
        if (ctx_failed(r->cx)) return NULL;
        if (instruction_binds_late(i, count) && lex_accept(l, expr_as_var(i->number[count])->name)) {
            count++;
            continue;
        }
        if (!lex_integer(l, &value)) return NULL;
        number[count++] = expr_int(r->cx, I32, value);
    } while (lex_accept(l, ","));
    if (count != i->number_count)
        lex_error(l, at, "%s has %d numbers, and %d are given", i->macro, i->number_count, count);
    return lex_expect(l, "]", "after the numbers") ? instruction_with(r->cx, i, number) : NULL;
}

static const Stmt *read_tile(NestReader *r, Lexer *l, int indent)
{
    Token at = lex_peek(l);
    Stmt proto = { .kind = STMT_TILE };
    if (at.kind == TOKEN_NAME) {
        proto.instr = read_macro(r, l);
    }
    if (!lex_finish(l)) return NULL;
    const Stmt *body = read_stmts(r, indent);
    return stmt_with_children(r->cx, &proto, &body, 1);
}

static const Stmt *read_external(NestReader *r, Lexer *l, int indent)
{
    Stmt proto = { .kind = STMT_TILE };
    const bool in_place = lex_accept(l, "in_place");
    External *e = external_read(l, r->symbols);
    if (!e || !lex_finish(l)) return NULL;
    e->in_place = in_place;
    proto.external = e;
    const Stmt *body = read_stmts(r, indent);
    if (!ctx_failed(r->cx)) external_mark_written(e, body);
    return stmt_with_children(r->cx, &proto, &body, 1);
}

/* Reads KEY=NUMBER. */
static int64_t read_number_of(Lexer *l, const char *key)
{
    int64_t value = 0;
    if (lex_expect(l, key, "after the copy") && lex_expect(l, "=", "before the number")) lex_integer(l, &value);
    return value;
}

static const Stmt *read_start(NestReader *r, Lexer *l, int indent)
{
    const char *copy = lex_name(l, "the name of a copy");
    const int64_t ahead = read_number_of(l, "ahead"), channel = read_number_of(l, "channel");
    if (!lex_finish(l) || ctx_failed(r->cx)) return NULL;
    return stmt_start(r->cx, copy, ahead, channel, read_stmts(r, indent));
}

static const Stmt *read_wait(NestReader *r, Lexer *l)
{
    const char *copy = lex_name(l, "the name of a copy");
    const int64_t pending = read_number_of(l, "pending");
    return lex_finish(l) ? stmt_wait(r->cx, copy, pending) : NULL;
}

static const Stmt *read_stmt(NestReader *r)
{
    int indent = r->line[r->next].indent;
    Lexer l = lex_line(r, r->next++);
    Token word = lex_take(&l);
    if (token_is(word, "for")) return read_loop(r, &l, indent);
    if (token_is(word, "if")) return read_if(r, &l, indent);
    if (token_is(word, "alloc")) return read_alloc(r, &l, indent);
    if (token_is(word, "block")) return read_block(r, &l);
    if (token_is(word, "tile")) return read_tile(r, &l, indent);
    if (token_is(word, "external")) return read_external(r, &l, indent);
    if (token_is(word, "start")) return read_start(r, &l, indent);
    if (token_is(word, "wait")) return read_wait(r, &l);
    if (token_is(word, "nothing") && lex_finish(&l)) return stmt_seq(r->cx, NULL, 0);
    lex_error(&l, word, "a statement is expected: for, if, alloc, block, tile, external, start, wait or nothing, not "
                         "%s",
              token_text(r->cx, word));
    return NULL;
}

/* Reads the statements indented deeper than `above`, all by the same amount. */
static const Stmt *read_stmts(NestReader *r, int above)
{
    List list = { NULL, 0, 0 };
    int indent = r->next < r->count ? r->line[r->next].indent : 0;
    if (++r->depth > MAX_PATH) {
        Lexer l = lex_line(r, r->next < r->count ? r->next : r->count - 1);
        lex_error(&l, lex_peek(&l), "this statement is inside %d other statements; use up to %d nested statements",
                  MAX_PATH, MAX_PATH);
    }
    while (!ctx_failed(r->cx) && r->next < r->count && r->line[r->next].indent > above) {
        int at = r->next;
        if (r->line[at].indent != indent) {
            Lexer l = lex_line(r, at);
            lex_error(&l, lex_peek(&l), "this line is indented by %d spaces; use %d spaces, like the line before it",
                      r->line[at].indent, indent);
        }
        const Stmt *s = read_stmt(r);
        push(r->cx, &list, s);
    }
    r->depth--;
    if (!list.count && !ctx_failed(r->cx)) {
        Lexer l = lex_line(r, r->next - 1);
        lex_error(&l, lex_peek(&l), "a statement is expected below this line");
    }
    if (ctx_failed(r->cx)) return NULL;
    const Stmt **child = NEW_ARRAY(r->cx->arena, const Stmt *, list.count);
    for (int i = 0; i < list.count; i++) child[i] = list.at[i];
    return stmt_seq(r->cx, child, list.count);
}

static void read_steps(NestReader *r)
{
    for (; r->next < r->count && r->line[r->next].indent > 0; r->next++) {
        const NestLine *line = &r->line[r->next];
        const Step step = step_read(r->cx, name_n(r->cx, r->text + line->begin, line->end - line->begin));
        if (!step.row) return;
        push(r->cx, &r->step, arena_copy(r->cx->arena, &step, sizeof step));
    }
}

static void read_lines(NestReader *r)
{
    while (next_begins(r, "size")) {
        Lexer l = lex_line(r, r->next++);
        lex_take(&l);
        size_read(&l, &r->symbols);
    }
    while (next_begins(r, "input") || next_begins(r, "const")) read_input(r);
    while (next_begins(r, "stage") || next_begins(r, "promise"))
        (next_begins(r, "stage") ? read_stage : read_promise)(r);
    promises_are_kept(r->cx, r->symbols);
    while (next_begins(r, "output")) read_output(r);
    if (next_begins(r, "loops")) {
        r->next++;
        r->root = read_stmts(r, 0);
    }
    if (next_begins(r, "steps")) {
        r->next++;
        read_steps(r);
    }
    if (r->next >= r->count || ctx_failed(r->cx)) return;
    Lexer l = lex_line(r, r->next);
    lex_error(&l, lex_peek(&l), "%s is not expected here", token_text(r->cx, lex_peek(&l)));
}

static const Nest *nest_of(NestReader *r, const char *nest_name)
{
    Nest *n = NEW(r->cx->arena, Nest);
    *n = (Nest){ .name = nest_name, .root = r->root, .arena = r->cx->arena, .input_count = r->input.count,
                 .stage_count = r->stage.count, .output_count = r->output.count, .step_count = r->step.count };
    n->input = r->input.at;
    n->stage = NEW_ARRAY(r->cx->arena, const Stage *, n->stage_count);
    n->output = r->output.at;
    Step *step = NEW_ARRAY(r->cx->arena, Step, n->step_count);
    for (int i = 0; i < n->stage_count; i++) n->stage[i] = r->stage.at[i];
    for (int i = 0; i < n->step_count; i++) step[i] = *(const Step *)r->step.at[i];
    n->step = step;
    return n;
}

const Nest *nest_read(Ctx *cx, const char *text)
{
    if (ctx_failed(cx)) return NULL;
    NestReader r = { .cx = cx, .text = text };
    find_lines(&r);
    if (!next_begins(&r, "nest")) {
        Lexer l = r.count ? lex_line(&r, 0) : lex_text(cx, text, "nest");
        lex_error(&l, lex_peek(&l), "a line `nest NAME` is expected, not %s", token_text(cx, lex_peek(&l)));
        return NULL;
    }
    Lexer l = lex_line(&r, r.next++);
    lex_take(&l);
    const char *nest_name = lex_name(&l, "the name of the nest");
    if (lex_finish(&l)) read_lines(&r);
    return ctx_failed(cx) ? NULL : nest_of(&r, nest_name);
}
