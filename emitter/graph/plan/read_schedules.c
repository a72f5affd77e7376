/* SPDX-License-Identifier: MIT */
/* Reads blocks of schedules (group_schedules.h), line by line. */

/* Decision: a schedule in text is whole. `dump --at scheduled` prints a block per group,
 * `graph/plan/read_schedules.c` reads it, and the emitted C is the same, byte for byte (`tests/replay.sh`).
 * Therefore everything that a nest needs beyond the naive one is a step or a word of the block's head: the limit of
 * copied statements (`copy_budget`), the condition of two versions (`when`, `otherwise`), another compute (`with`).
 * `group_nest` (`graph/plan/group_schedules.c`) is the one place that chooses between a block and the strategy.
 * Combining also calls it, so a part keeps the schedule that a signature selects. Blocks come from the files of
 * `--schedule`, in their order, and from the end of a `.te` file; the earlier source wins. */
#include <string.h>

#include "graph/dag/registry.h"
#include "graph/plan/group_schedules.h"
#include "ir/text/lex.h"
#include "support/file.h"
#include "support/names.h"
#include "support/text.h"

typedef struct ScheduleReader {
    Ctx *cx;
    int source;
    const char *path, *text;
    GroupSchedule *first, **last;        /* the blocks of this text */
    GroupSchedule *block;                /* the current block, or NULL before the first */
    ScheduleVersion *version;            /* the last version of the current block */
    ScheduleFunction *function;          /* the current function, or NULL in a block */
    const ScheduleFunction *functions;   /* all functions, the last one first */
    int includes;                        /* the number of files that include this text in a chain */
    WrittenStep *step; int step_count;   /* the steps of all blocks and functions */
    /* The declarations, which are steps before the steps of each block. */
    const WrittenStep *declaration; int declaration_count;
} ScheduleReader;

GroupSchedule *schedules_first(Ctx *cx) { return registry(cx)->schedules; }

void schedules_declare(Ctx *cx, int source, const WrittenStep *declaration, int count)
{
    for (GroupSchedule *s = schedules_first(cx); s && count; s = s->next) {
        if (s->source != source) continue;
        s->declaration = declaration;
        s->declaration_count = count;
    }
}

void schedules_clear(Ctx *cx) { registry(cx)->schedules = NULL; }

/* ---- Words of a line --------------------------------------------------------------------------------------------- */

/* The rest of a line. */
typedef struct Line { const char *at, *end; } Line;

static Lexer lexer_of(const ScheduleReader *r)
{
    return (Lexer){ .cx = r->cx, .text = r->text, .is_file = true, .what = "schedule" };
}

static Token token_of(const char *from, const char *to)
{
    return (Token){ TOKEN_NAME, from, to > from ? (int)(to - from) : 1 };
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void skip_blanks(Line *l)
{
    while (l->at < l->end && is_blank(*l->at)) l->at++;
}

static Token take_word(Line *l)
{
    const char *begin = l->at;
    while (l->at < l->end && !is_blank(*l->at) && *l->at != ':') l->at++;
    Token t = { TOKEN_NAME, begin, (int)(l->at - begin) };
    skip_blanks(l);
    return t;
}

static const char *word_text(const ScheduleReader *r, Token t) { return name_n(r->cx, t.at, (size_t)t.length); }

/* Reads the words up to ':', or up to `with` or `by` followed by one more word. */
static Token take_condition(Line *l)
{
    const char *begin = l->at, *end = begin;
    while (l->at < l->end && *l->at != ':') {
        Line ahead = *l;
        const Token word = take_word(&ahead);
        const bool is_last = token_is(word, "with") || token_is(word, "by");
        Line row = ahead;
        take_word(&row);
        if (is_last && end > begin && row.at + 1 == row.end && *row.at == ':') break;
        end = word.at + word.length;
        *l = ahead;
    }
    return (Token){ TOKEN_NAME, begin, (int)(end - begin) };
}

/* ---- Heads ------------------------------------------------------------------------------------------------------- */

static const char form[] = "a block begins `for GROUP on TARGET:`, and its steps are indented";

/* Reads `when CONDITION`, `with NAME` or `by NAME`, and the colon. Returns false if the line has a different form. */
static bool read_version(ScheduleReader *r, Line *l)
{
    ScheduleVersion *v = r->version = NEW(r->cx->arena, ScheduleVersion);
    *v = (ScheduleVersion){ .step = r->step + r->step_count };
    Line ahead = *l;
    if (token_is(take_word(&ahead), "when")) {
        *l = ahead;
        const Token condition = take_condition(l);
        if (condition.length) v->when = word_text(r, condition);
        if (!v->when) return false;
    }
    if (l->at < l->end && *l->at != ':') {
        const Token word = take_word(l), row = take_word(l);
        v->with_steps = token_is(word, "by");
        if ((!v->with_steps && !token_is(word, "with")) || !row.length) return false;
        v->row = word_text(r, row);
    }
    return l->at + 1 == l->end && *l->at == ':';
}

/* Returns the kind of a subject. A signature is the only subject in which a bracket follows a name. */
static ScheduleSubject subject_of(const char *of)
{
    if (*of == '@') return OF_OPERATOR;
    return strcspn(of, "(") && strchr(of, '(') ? OF_SIGNATURE : strchr(of, '+') ? OF_PARTS : OF_GROUP;
}

/* Returns the operator of a subject such as "@op(conv2d)". */
static const char *operator_of(ScheduleReader *r, Token at)
{
    static const char role[] = "@op(";
    const char *of = word_text(r, at);
    const size_t n = strlen(role), length = strlen(of);
    const Lexer l = lexer_of(r);
    if (strncmp(of, role, n) != 0 || of[length - 1] != ')')
        lex_error(&l, at, "'%s' does not select groups; use @op(OPERATOR), the name of a group, or a signature",
                  of);
    if (ctx_failed(r->cx)) return of;
    const char *op = name_n(r->cx, of + n, length - n - 1);
    if (!op_find(r->cx, op)) lex_error(&l, at, "there is no operator \"%s\"%s", op, op_hint(r->cx, op));
    return op;
}

static bool shares_part(const char *a, const char *b)
{
    for (const char *s = a; *s; s += strcspn(s, "+"), s += *s == '+')
        for (const char *t = b; *t; t += strcspn(t, "+"), t += *t == '+') {
            const size_t n = strcspn(s, "+");
            if (n == strcspn(t, "+") && strncmp(s, t, n) == 0) return true;
        }
    return false;
}

/* Refuses a list of parts that names a group twice, such as "conv+conv". */
static void check_parts_once(ScheduleReader *r, const GroupSchedule *b, Token at)
{
    const Lexer l = lexer_of(r);
    for (const char *s = b->of; *s; s += strcspn(s, "+"), s += *s == '+') {
        const char *rest = s + strcspn(s, "+"), *part = name_n(r->cx, s, (size_t)(rest - s));
        if (*rest && shares_part(part, rest + 1)) lex_error(&l, at, "%s names the group '%s' twice", b->of, part);
    }
}

static bool overlaps(const GroupSchedule *a, const GroupSchedule *b)
{
    if (!text_equal(a->target, b->target)) return false;
    const bool are_names = a->subject <= OF_PARTS && b->subject <= OF_PARTS;
    return are_names ? shares_part(a->of, b->of) : a->subject == b->subject && text_equal(a->of, b->of);
}

static void refuse_twice(ScheduleReader *r, const GroupSchedule *b, Token at)
{
    const Lexer l = lexer_of(r);
    for (const GroupSchedule *o = r->first; o && b->subject != OF_SIGNATURE; o = o->next)
        if (overlaps(o, b))
            lex_error(&l, at, "%s on %s already has a block, at %s; keep one of them", b->of, b->target, o->where);
}

/* Refuses a second block for a signature. A map finds the earlier signatures, because a text of records has many. */
static void refuse_twice_signed(ScheduleReader *r, Map *seen, const GroupSchedule *b, Token at)
{
    const Lexer l = lexer_of(r);
    const char *key = text_format(r->cx, "%s %s", b->of, b->target);
    const GroupSchedule *o = map_get_const(seen, key, strlen(key));
    if (o) lex_error(&l, at, "the signature %s on %s already has a block, at %s; keep one of them",
                     b->of, b->target, o->where);
    map_put_const(seen, key, strlen(key), b);
}

/* Refuses a line in the form that tuning records had, `SIGNATURE IMPLEMENTATION`, and names the present form. */
static void refuse_head(ScheduleReader *r, const char *begin, const char *end)
{
    const Lexer l = lexer_of(r);
    Line line = { begin, end };
    const Token first = take_word(&line), second = take_word(&line);
    const bool is_record = subject_of(word_text(r, first)) == OF_SIGNATURE && second.length && line.at == line.end;
    if (is_record)
        lex_error(&l, first, "%s; to name an implementation, write `for %s on TARGET by %s:`", form,
                  word_text(r, first), word_text(r, second));
    else lex_error(&l, token_of(begin, end), "%s", form);
}

static void refuse_open_end(ScheduleReader *r)
{
    if (r->block && r->version->when)
        diag_error(r->cx, r->block->where, "its last version has a condition; add `otherwise:` for all other sizes");
}

static void read_for(ScheduleReader *r, Map *seen, Line l, int line)
{
    const char *begin = l.at;
    refuse_open_end(r);
    take_word(&l);
    const Token of = take_word(&l), on = take_word(&l), target = take_word(&l);
    GroupSchedule *b = NEW(r->cx->arena, GroupSchedule);
    *b = (GroupSchedule){ .source = r->source, .path = r->path, .where = text_format(r->cx, "%d:1", line) };
    if (!of.length || !token_is(on, "on") || !target.length || !read_version(r, &l)) {
        refuse_head(r, begin, l.end);
        return;
    }
    b->version = r->version;
    r->function = NULL;
    const Lexer lexer = lexer_of(r);
    b->of = word_text(r, of);
    b->target = word_text(r, target);
    b->subject = subject_of(b->of);
    if (!target_find(r->cx, b->target))
        lex_error(&lexer, target, "there is no target \"%s\"%s", b->target, target_hint(r->cx, b->target));
    if (b->subject == OF_OPERATOR) b->of = operator_of(r, of);
    if (b->subject == OF_PARTS) check_parts_once(r, b, of);
    if (b->subject == OF_SIGNATURE) refuse_twice_signed(r, seen, b, of);
    else refuse_twice(r, b, of);
    *r->last = r->block = b;
    r->last = &b->next;
}

static void read_otherwise(ScheduleReader *r, Line l)
{
    const char *begin = l.at;
    const Lexer lexer = lexer_of(r);
    ScheduleVersion *before = r->version;
    take_word(&l);
    if (!r->block || !before->when)
        lex_error(&lexer, token_of(begin, begin + strcspn(begin, " :\n")),
                  "no condition precedes `otherwise`; write `for GROUP on TARGET when CONDITION:` before it");
    else if (!read_version(r, &l))
        lex_error(&lexer, token_of(begin, l.end),
                  "this line does not begin a version; write `otherwise:` or `otherwise when CONDITION:`");
    else before->otherwise = r->version;
    r->function = NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

enum { MOST_INCLUDES = 8 };

static void read_lines(ScheduleReader *r, Map *seen, const char *begin, int number);

static size_t count_lines(const char *text)
{
    size_t lines = 1;
    for (const char *s = text; *s; s++) lines += *s == '\n';
    return lines;
}

static Lexer lexer_of_line(const ScheduleReader *r, const char *begin, const char *end)
{
    return lex_part(r->cx, r->text, (size_t)(begin - r->text), (size_t)(end - r->text), true, "schedule");
}

static void read_function(ScheduleReader *r, const char *begin, const char *end)
{
    Lexer l = lexer_of_line(r, begin, end);
    refuse_open_end(r);
    r->block = NULL;
    r->functions = r->function = sched_function(&l, r->functions, r->step + r->step_count);
}

/* include "FILE": the functions, memories and instructions of a file beside this one. */
static void read_include(ScheduleReader *r, const char *begin, const char *end)
{
    Ctx *cx = r->cx;
    Lexer l = lexer_of_line(r, begin, end);
    lex_take(&l);
    const Token at = lex_take(&l);
    if (at.kind != TOKEN_STRING) lex_error(&l, at, "a file in quotes is expected here; write include \"FILE\"");
    if (r->includes == MOST_INCLUDES) lex_error(&l, at, "files include each other more than %d deep", MOST_INCLUDES);
    if (!lex_finish(&l)) return;
    const char *folder = path_folder(cx, r->path), *file = name_n(cx, at.at + 1, (size_t)at.length - 2);
    ScheduleReader part = { .cx = cx, .functions = r->functions, .includes = r->includes + 1,
                            .declaration = r->declaration, .declaration_count = r->declaration_count };
    part.path = text_format(cx, "%s%s", folder, file);
    const DiagMark mark = diag_mark(cx);
    const Bytes bytes = file_read_below(cx, folder, file);
    part.text = ctx_failed(cx) ? NULL : file_text(cx, part.path, bytes);
    lex_relocate(&l, mark, at);
    if (ctx_failed(cx)) return;
    part.step = NEW_ARRAY(cx->arena, WrittenStep, count_lines(part.text));
    const char *outer = cx->file;
    cx->file = part.path;
    read_lines(&part, NULL, part.text, 1);
    cx->file = outer;
    r->functions = part.functions;
    r->declaration = part.declaration;
    r->declaration_count = part.declaration_count;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void read_line(ScheduleReader *r, Map *seen, const char *line, int number)
{
    const char *s = line + strspn(line, " \t"), *end = s + strcspn(s, "#\n");
    while (end > s && strchr(" \t\r", end[-1])) end--;
    if (end == s || ctx_failed(r->cx)) return;
    Line l = { s, end };
    const Token first = take_word(&l);
    const Lexer lexer = lexer_of(r);
    if (s == line && token_is(first, "schedule")) read_function(r, s, end);
    else if (s == line && token_is(first, "include")) read_include(r, s, end);
    else if (s == line && r->includes)
        lex_error(&lexer, token_of(s, end),
                  "an included file may contain only `schedule NAME(...)`, `memory`, `config`, `instruction` and "
                  "`include`; move this line to the file that includes it");
    else if (s == line && token_is(first, "for")) read_for(r, seen, (Line){ s, end }, number);
    else if (s == line && token_is(first, "otherwise")) read_otherwise(r, (Line){ s, end });
    else if (s == line) refuse_head(r, s, end);
    else if (!r->block && !r->function)
        lex_error(&lexer, token_of(s, end), "this step is in no block; write `for GROUP on TARGET:` before it");
    else if (written_step(r->cx, r->path, r->text, line, end, &r->step[r->step_count])) {
        r->step_count++;
        ++*(r->function ? &r->function->line_count : &r->version->step_count);
    }
}

/* Returns true for a line `memory NAME ...`, `config NAME...` or `instruction NAME...`, which declares something for
 * all blocks. */
static bool is_declaration(const char *line)
{
    Line l = { line, line + strcspn(line, "#\n") };
    const Token first = take_word(&l);
    return first.at == line
           && (token_is(first, "memory") || token_is(first, "config") || token_is(first, "instruction"));
}

/* Reads a declaration, which indented lines continue. Returns its end. */
static const char *read_declaration(ScheduleReader *r, const char *line)
{
    const char *end = written_declaration_end(line + strcspn(line, "\n"));
    r->declaration = written_declare(r->cx, r->declaration, r->declaration_count++, r->path, r->text, line, end);
    return end;
}

static void read_lines(ScheduleReader *r, Map *seen, const char *begin, int number)
{
    for (const char *s = begin, *end; *s && !ctx_failed(r->cx); s = end + (*end == '\n')) {
        const bool declares = is_declaration(s);
        end = declares ? read_declaration(r, s) : s + strcspn(s, "\n");
        if (!declares) read_line(r, seen, s, number);
        for (const char *c = s; c <= end; c++) number += *c == '\n';
    }
}

bool schedules_read(Ctx *cx, int source, const char *path, const char *text, size_t begin,
                    const ScheduleFunction *functions)
{
    ScheduleReader r = { .cx = cx, .source = source, .path = name(cx, path), .text = text, .functions = functions };
    Map seen = map_new(cx->arena);
    const char *outer = cx->file;
    int number = 1;
    if (ctx_failed(cx)) return false;
    r.last = &r.first;
    r.step = NEW_ARRAY(cx->arena, WrittenStep, count_lines(text + begin));
    cx->file = r.path;
    for (const char *s = text; s < text + begin; s++) number += *s == '\n';
    read_lines(&r, &seen, text + begin, number);
    refuse_open_end(&r);
    for (GroupSchedule *b = r.first; b; b = b->next) b->functions = r.functions;
    cx->file = outer;
    GroupSchedule **last = &registry(cx)->schedules;
    while (*last) last = &(*last)->next;
    *last = r.first;
    schedules_declare(cx, source, r.declaration, r.declaration_count);
    return !ctx_failed(cx);
}
