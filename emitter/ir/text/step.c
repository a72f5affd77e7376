/* SPDX-License-Identifier: MIT */
/* Steps as text. The rows of steps.def declare the operands and options of a primitive. An operand's kind determines
 * how a word is parsed into its field of StepArgs, printed and renamed. A printed step therefore replays to the same
 * nest.
 *
 *   split conv.h 4 tail=peel names=ho,hi        LOOP FACTOR, then options as key=value
 *   reorder conv.i conv.h reassociate           a list takes all words up to the options */

/* Decision: a step is a row. `ir/text/steps.def` has a row per primitive: name, operands, options with
 * defaults, help. Reading, printing, replay, `loopwright steps` and the `lw_` functions follow from it. A new option
 * is an operand of the row, a field of `StepArgs`, and its use in the primitive. */
#include <stddef.h>
#include <string.h>

#include "ir/text/step.h"

#include "ir/nest/refusal.h"
#include "support/names.h"
#include "support/text.h"

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

#define AT(field) offsetof(StepArgs, field)
#define LOOP(i)                               { OPERAND_LOOP, NULL, "LOOP", AT(loop[i]), NULL, NULL }
#define LOOPS                                 { OPERAND_LOOPS, NULL, "LOOP...", AT(loop), NULL, NULL }
#define PLACE                                 { OPERAND_LOOP_OR_ROOT, NULL, "LOOP|root", AT(loop[0]), NULL, NULL }
#define STAGE                                 { OPERAND_STAGE, NULL, "STAGE", AT(target), NULL, NULL }
#define OTHER_STAGE                           { OPERAND_STAGE, NULL, "STAGE", AT(name), NULL, NULL }
#define TENSOR                                { OPERAND_TENSOR, NULL, "TENSOR", AT(target), NULL, NULL }
#define COUNT(i, shown)                       { OPERAND_COUNT, NULL, shown, AT(factor[i]), NULL, NULL }
/* A count, or the option `key` instead of it. */
#define COUNT_OR(i, shown, key)               { OPERAND_COUNT, NULL, shown, AT(factor[i]), NULL, key }
#define SCOPES                                "register|stack|arena|static|MEMORY"
#define SCOPE                                 { OPERAND_WORD, NULL, SCOPES, AT(scope), NULL, NULL }
#define WORD(field, shown)                    { OPERAND_WORD, NULL, shown, AT(field), NULL, NULL }
#define INSTRUCTION(shown)                    { OPERAND_INSTRUCTION, NULL, shown, AT(name), NULL, NULL }
#define WORDS(shown)                          { OPERAND_WORDS, NULL, shown, AT(loop), NULL, NULL }
#define CALL(shown)                           { OPERAND_CALL, NULL, shown, AT(condition), NULL, NULL }
#define TEXT(shown)                           { OPERAND_TEXT, NULL, shown, AT(condition), NULL, NULL }
#define CHOICE_OPTION(field, words, help)     { OPERAND_CHOICE, #field, words, AT(field), help, NULL }
#define FLAG_OPTION(field, help)              { OPERAND_FLAG, #field, NULL, AT(field), help, NULL }
#define COUNT_OPTION(key, i, shown, help)     { OPERAND_COUNT, key, shown, AT(factor[i]), help, NULL }
#define BYTES_OPTION(key, i, help)            { OPERAND_COUNT, key, bytes_shown, AT(factor[i]), help, NULL }
#define PARTS_OPTION(help)                    { OPERAND_COUNT, "parts", "COUNT", AT(parts), help, NULL }
#define PAIR_OPTION(key, field, shown, help)  { OPERAND_PAIR, key, shown, AT(field), help, NULL }
#define WORD_OPTION(key, field, shown, help)  { OPERAND_WORD, key, shown, AT(field), help, NULL }
#define STAGE_OPTION(key, field, shown, help) { OPERAND_STAGE, key, shown, AT(field), help, NULL }
#define STAGES_OPTION(key, field, shown, help) { OPERAND_STAGES, key, shown, AT(field), help, NULL }
#define LOOP_OPTION(key, i, shown, help)      { OPERAND_LOOP, key, shown, AT(loop[i]), help, NULL }
#define PADDED_OPTION(key, help)              { OPERAND_PADDED, key, "V", AT(padded), help, NULL }
#define TYPE_OPTION(key, field, shown, help)  { OPERAND_TYPE, key, shown, AT(field), help, NULL }

#define STEP(name, help, ...) { STEP_##name, #name, help, { __VA_ARGS__, { OPERAND_END, NULL, NULL, 0, NULL, NULL } } },
static const char bytes_shown[] = "BYTES";
static const StepRow rows[] = {
#include "ir/text/steps.def"
};
#undef STEP
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

bool step_declares(const Step *s)
{
    return s->row->kind == STEP_memory || s->row->kind == STEP_config || s->row->kind == STEP_instruction;
}

int step_number(const Step *step, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++) number += !step_declares(&step[i]);
    return number;
}

const StepRow *step_rows(int *count)
{
    *count = ROW_COUNT;
    return rows;
}

const StepRow *step_row(const char *wanted)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (text_equal(rows[i].name, wanted)) return &rows[i];
    return NULL;
}

/* ---- Fields ---------------------------------------------------------------------------------------------------- */

/* Fields of choices are enums, which are written through an int. */
#define IS_INT(type) (sizeof(type) == sizeof(int))
typedef char ChoicesAreInts[IS_INT(Tail) && IS_INT(WarmUp) && IS_INT(MovedLoops) ? 1 : -1];

typedef union Field {
    char *bytes;
    const char **word;               /* for a list or pair, the first word */
    int64_t *count;
    int *choice;
    bool *flag;
} Field;

static Field field_of(StepArgs *a, const Operand *o) { return (Field){ .bytes = (char *)a + o->at }; }

static bool is_list(const Operand *o)
{
    return o->kind == OPERAND_LOOPS || o->kind == OPERAND_WORDS || o->kind == OPERAND_STAGES;
}

static bool is_text(const Operand *o) { return o->kind == OPERAND_TEXT || o->kind == OPERAND_CALL; }

/* Returns the length of a list, stored beside it in StepArgs. */
static int *length_of(StepArgs *a, const Operand *o)
{
    return o->kind == OPERAND_STAGES ? &a->reader_count : &a->loop_count;
}

/* Returns the first of the operand's words; *count is their number. */
static const char **words_in(StepArgs *a, const Operand *o, int *count)
{
    const bool is_none = o->kind == OPERAND_COUNT || o->kind == OPERAND_CHOICE || o->kind == OPERAND_TYPE
        || o->kind == OPERAND_FLAG || o->kind == OPERAND_PADDED;
    *count = is_none ? 0 : is_list(o) ? *length_of(a, o) : o->kind == OPERAND_PAIR ? 2 : 1;
    return field_of(a, o).word;
}

/* Copies the operands. Words are interned, because a client's may not outlive the call. */
Step step_new(Ctx *cx, StepKind kind, const StepArgs *args)
{
    StepArgs *a = arena_copy(cx->arena, args, sizeof *args);
    int count;
    for (const Operand *o = rows[kind].operand; o->kind; o++) {
        const char **word = words_in(a, o, &count);
        for (int i = 0; i < count; i++)
            if (word[i]) word[i] = name(cx, word[i]);
    }
    return (Step){ &rows[kind], a };
}

/* ---- Printing -------------------------------------------------------------------------------------------------- */

static size_t choice_length(const char *words) { return strcspn(words, "|"); }

static const char *choice_word(const char *words, int i, size_t *length)
{
    while (i-- > 0 && *words) words += choice_length(words), words += *words == '|';
    *length = choice_length(words);
    return words;
}

static void print_words(Text *t, const char *const *word, int count, const char *between)
{
    for (int i = 0; i < count; i++) text_printf(t, "%s%s", i ? between : "", word[i] ? word[i] : "?");
}

static void print_instruction(Text *t, const StepArgs *a)
{
    text_add(t, a->name ? a->name : "?");
    for (int i = 0; i < a->number_count; i++) text_printf(t, "%s%lld", i ? "," : "[", (long long)a->number[i]);
    if (a->number_count) text_char(t, ']');
}

static void print_value(Text *t, const Operand *o, StepArgs *a)
{
    const Field f = field_of(a, o);
    size_t length;
    switch (o->kind) {
    case OPERAND_END:
    case OPERAND_FLAG: break;
    case OPERAND_LOOP:
    case OPERAND_STAGE:
    case OPERAND_TENSOR:
    case OPERAND_WORD:
    case OPERAND_CALL:
    case OPERAND_TEXT: print_words(t, f.word, 1, ""); break;
    case OPERAND_INSTRUCTION: print_instruction(t, a); break;
    case OPERAND_LOOP_OR_ROOT: text_add(t, *f.word ? *f.word : "root"); break;
    case OPERAND_LOOPS:
    case OPERAND_WORDS: print_words(t, f.word, *length_of(a, o), " "); break;
    case OPERAND_STAGES: print_words(t, f.word, *length_of(a, o), ","); break;
    case OPERAND_PAIR: print_words(t, f.word, 2, ","); break;
    case OPERAND_COUNT: text_printf(t, "%lld", (long long)*f.count); break;
    case OPERAND_TYPE: text_add(t, dtype_info(a->as.type)->spelling); break;
    case OPERAND_PADDED: text_printf(t, "%lld", (long long)a->padded.value); break;
    case OPERAND_CHOICE: {
        const char *word = choice_word(o->shown, *f.choice, &length);
        text_addn(t, word, length);
        break;
    }
    }
}

/* Returns true if an option has its default. */
static bool is_default(const Operand *o, StepArgs *a)
{
    const Field f = field_of(a, o);
    switch (o->kind) {
    case OPERAND_STAGES: return !*length_of(a, o);
    case OPERAND_PAIR: return !f.word[0] || !f.word[1];
    case OPERAND_COUNT: return !*f.count;
    case OPERAND_CHOICE: return !*f.choice;
    case OPERAND_TYPE: return !a->as.given;
    case OPERAND_PADDED: return !a->padded.given;
    case OPERAND_FLAG: return !*f.flag;
    default: return !*f.word;
    }
}

/* Returns the option that may be given instead of the operand, or NULL. */
static const Operand *option_instead(const StepRow *row, const Operand *operand)
{
    for (const Operand *o = row->operand; operand->instead && o->kind; o++)
        if (text_equal(o->key, operand->instead)) return o;
    return NULL;
}

/* Returns true for an option without a value. */
static bool is_bare_option(const Operand *o, const StepArgs *a)
{
    return o->kind == OPERAND_FLAG || (o->kind == OPERAND_PADDED && !a->padded.has_value);
}

int step_words(Ctx *cx, const Step *s, const char *out[MAX_STEP_WORDS])
{
    StepArgs a = *s->args;
    int count = 0;
    out[count++] = s->row->name;
    for (const Operand *o = s->row->operand; o->kind; o++) {
        const Operand *instead = option_instead(s->row, o);
        if ((o->key && is_default(o, &a)) || (instead && !is_default(instead, &a))) continue;
        Text t = text_new(cx);
        const bool is_bare = is_bare_option(o, &a);
        if (o->key) text_printf(&t, "%s%s", o->key, is_bare ? "" : "=");
        if (!is_bare) print_value(&t, o, &a);
        out[count++] = text_string(&t);
    }
    return count;
}

const char *step_text(Ctx *cx, const Step *s)
{
    const char *word[MAX_STEP_WORDS];
    const int count = step_words(cx, s, word);
    Text t = text_new(cx);
    print_words(&t, word, count, " ");
    return text_string(&t);
}

bool step_equal(Ctx *cx, const Step *a, const Step *b)
{
    return a->row == b->row && text_equal(step_text(cx, a), step_text(cx, b));
}

static bool is_instead(const StepRow *row, const Operand *option)
{
    for (const Operand *o = row->operand; o->kind && !o->key; o++)
        if (option_instead(row, o) == option) return true;
    return false;
}

const char *step_usage(Ctx *cx, const StepRow *row)
{
    Text t = text_new(cx);
    text_add(&t, row->name);
    for (const Operand *o = row->operand; o->kind; o++) {
        const Operand *instead = option_instead(row, o);
        if (!o->key) text_printf(&t, " %s", o->shown);
        if (instead) text_printf(&t, "|%s=%s", instead->key, instead->shown);
        if (o->key && o->kind == OPERAND_PADDED) text_printf(&t, " [%s[=%s]]", o->key, o->shown);
        else if (o->key && !is_instead(row, o))
            text_printf(&t, " [%s%s%s]", o->key, o->shown ? "=" : "", o->shown ? o->shown : "");
    }
    return text_string(&t);
}

/* ---- Words ----------------------------------------------------------------------------------------------------- */

enum { MAX_WORDS = 96 };
typedef struct Words { int count, next; const char *at[MAX_WORDS]; } Words;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Splits the text into words. Returns false if there are too many. */
static bool words_of(Ctx *cx, const char *text, Words *w)
{
    *w = (Words){ 0, 0, { NULL } };
    for (;;) {
        while (is_blank(*text)) text++;
        if (!*text) return true;
        const char *start = text;
        while (*text && !is_blank(*text)) text++;
        if (w->count == MAX_WORDS) return false;
        w->at[w->count++] = name_n(cx, start, (size_t)(text - start));
    }
}

/* Returns the option of the word, and its value after the '=', or NULL if the row has no such option. */
static const Operand *option_of(const StepRow *row, const char *word, const char **value)
{
    for (const Operand *o = row->operand; o->kind; o++) {
        size_t n = o->key ? strlen(o->key) : 0;
        if (!n || strncmp(word, o->key, n) != 0) continue;
        const bool may_be_bare = o->kind == OPERAND_FLAG || o->kind == OPERAND_PADDED;
        if (!(may_be_bare && !word[n]) && !(o->kind != OPERAND_FLAG && word[n] == '=')) continue;
        *value = word + n + (word[n] == '=');
        return o;
    }
    return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

static int split_commas(Ctx *cx, const char *word, const char **out, int capacity)
{
    int n = 0;
    for (;;) {
        size_t length = strcspn(word, ",");
        if (n == capacity || !length) return -1;
        out[n++] = name_n(cx, word, length);
        if (!word[length]) return n;
        word += length + 1;
    }
}

/* Reads a count, or one of bytes with the unit K or M. */
static bool read_bytes(const char *word, int64_t *out)
{
    const char *c = word + strspn(word, "0123456789");
    const int64_t unit = *c == 'K' ? 1 << 10 : *c == 'M' ? 1 << 20 : 1;
    *out = 0;
    for (const char *s = word; s < c && *out <= INT32_MAX; s++) *out = *out * 10 + (*s - '0');
    *out = *out <= INT32_MAX ? *out * unit : *out;
    return c != word && !c[unit > 1];
}

static bool read_count(const char *word, int64_t *out)
{
    *out = 0;
    const char *c = word;
    for (; *c >= '0' && *c <= '9' && *out <= INT32_MAX; c++) *out = *out * 10 + (*c - '0');
    return c != word && !*c && *out <= INT32_MAX;
}

static bool read_integer(const char *word, int64_t *out)
{
    const bool is_negative = *word == '-';
    if (!read_count(word + is_negative, out)) return false;
    if (is_negative) *out = -*out;
    return true;
}

static bool read_padded(const char *word, StepArgs *a)
{
    a->padded.given = true;
    a->padded.has_value = *word;
    return !*word || read_integer(word, &a->padded.value);
}

/* Reads MACRO or MACRO[NUMBER,...]. */
static bool read_instruction(Ctx *cx, const char *word, StepArgs *a)
{
    const char *number[MAX_NUMBERS];
    const size_t length = strcspn(word, "["), all = strlen(word);
    a->name = name_n(cx, word, length);
    if (length == all || word[all - 1] != ']') return length && length == all;
    a->number_count = split_commas(cx, name_n(cx, word + length + 1, all - length - 2), number, MAX_NUMBERS);
    for (int i = 0; i < a->number_count; i++) {
        if (!read_integer(number[i], &a->number[i])) return false;
    }
    return length && a->number_count > 0;
}

static bool read_choice(const char *word, const char *words, int *out)
{
    size_t length;
    for (*out = 0;; ++*out) {
        const char *at = choice_word(words, *out, &length);
        if (!length) return false;
        if (strlen(word) == length && strncmp(word, at, length) == 0) return true;
    }
}

/* Parses a word into the operand's field, or appends it to the operand's list. Returns false if the word has the wrong
 * kind. */
static bool read_value(Ctx *cx, const char *word, const Operand *o, StepArgs *a)
{
    const Field f = field_of(a, o);
    switch (o->kind) {
    case OPERAND_END: return false;
    case OPERAND_LOOP:
    case OPERAND_STAGE:
    case OPERAND_TENSOR:
    case OPERAND_WORD: *f.word = name(cx, word); return *word;
    case OPERAND_INSTRUCTION: return read_instruction(cx, word, a);
    case OPERAND_LOOP_OR_ROOT: *f.word = text_equal(word, "root") ? NULL : name(cx, word); return *word;
    case OPERAND_LOOPS:
    case OPERAND_WORDS:
        if (a->loop_count == MAX_STEP_LOOPS) return false;
        f.word[a->loop_count++] = name(cx, word);
        return true;
    case OPERAND_STAGES: return (a->reader_count = split_commas(cx, word, f.word, MAX_STEP_LOOPS)) > 0;
    case OPERAND_PAIR: return split_commas(cx, word, f.word, 2) == 2;
    case OPERAND_CALL:
    case OPERAND_TEXT: *f.word = *f.word ? name_format(cx, "%s %s", *f.word, word) : word; return true;
    case OPERAND_COUNT:
        return (o->shown == bytes_shown ? read_bytes(word, f.count) : read_count(word, f.count))
               && (*f.count || !o->key);
    case OPERAND_CHOICE: return read_choice(word, o->shown, f.choice);
    case OPERAND_TYPE: return a->as.given = dtype_read(word, strlen(word), &a->as.type);
    case OPERAND_FLAG: return *f.flag = true;
    case OPERAND_PADDED: return read_padded(word, a);
    }
    return false;
}

/* Refuses the text of a step. `row` is NULL if the text names no primitive. */
static void refuse_text(Ctx *cx, const char *text, const StepRow *row, FaultKind kind, const char *fault,
                        const char *accepted)
{
    Refusal *r = NEW(cx->arena, Refusal);
    *r = (Refusal){ .verdict = kind == FAULT_LIMIT ? TOO_LARGE : INVALID, .kind = kind, .fault = fault,
                    .accepted = accepted, .primitive = row ? row->name : NULL };
    refusal_report(cx, text, r);
}

static void refuse_step(Ctx *cx, const char *text, const StepRow *row, const char *fault)
{
    refuse_text(cx, text, row, FAULT_VALUE, fault, step_usage(cx, row));
}

/* Returns true if a later word is the option that may be given instead of the operand. */
static bool is_replaced(const StepRow *row, const Words *w, const Operand *operand)
{
    const Operand *instead = option_instead(row, operand);
    const char *value;
    for (int i = w->next; instead && i < w->count; i++)
        if (option_of(row, w->at[i], &value) == instead) return true;
    return false;
}

static bool read_operands(Ctx *cx, const char *text, const StepRow *row, Words *w, StepArgs *a)
{
    const char *value;
    for (const Operand *o = row->operand; o->kind && !o->key; o++) {
        if (is_replaced(row, w, o)) {
            if (!option_of(row, w->at[w->next], &value))
                refuse_step(cx, text, row, text_format(cx, "both %s, %s, and %s are given", o->shown, w->at[w->next],
                                                       o->instead));
            continue;
        }
        bool is_last = false, takes_more = is_list(o) || is_text(o);
        for (int taken = 0; !is_last; taken++) {
            is_last = !takes_more;
            if (w->next == w->count || option_of(row, w->at[w->next], &value)) {
                const char *fault = text_format(cx, "%s is missing after '%s'", o->shown, w->at[w->next - 1]);
                if (!taken) refuse_step(cx, text, row, fault);
                break;
            }
            if (!read_value(cx, w->at[w->next++], o, a)) {
                refuse_step(cx, text, row,
                            text_format(cx, "'%s' is %s %s", w->at[w->next - 1],
                                        o->kind == OPERAND_CHOICE ? "none of" : "no", o->shown));
                break;
            }
        }
        if (ctx_failed(cx)) return false;
    }
    return true;
}

static bool read_options(Ctx *cx, const char *text, const StepRow *row, Words *w, StepArgs *a)
{
    bool is_given[MAX_STEP_OPERANDS] = { false };
    while (w->next < w->count && !ctx_failed(cx)) {
        const char *word = w->at[w->next++], *value = "";
        const Operand *o = option_of(row, word, &value);
        if (!o) refuse_step(cx, text, row, text_format(cx, "'%s' means nothing here", word));
        else if (is_given[o - row->operand])
            refuse_step(cx, text, row, text_format(cx, "'%s' gives %s a second time", word, o->key));
        else if (!read_value(cx, value, o, a))
            refuse_step(cx, text, row, text_format(cx, "'%s' is not a value of %s", value, o->key));
        else is_given[o - row->operand] = true;
    }
    return !ctx_failed(cx);
}

/* ---- Renaming -------------------------------------------------------------------------------------------------- */

size_t role_length(const char *word)
{
    if (*word != '@') return 0;
    size_t n = 1 + strcspn(word + 1, ".@(");
    if (word[n] != '(') return n;
    for (int depth = 0; word[n]; n++) {
        depth += (word[n] == '(') - (word[n] == ')');
        if (!depth) return n + 1;
    }
    return n;
}

/* Renames the stage at the start of a loop's or a copy's name: conv of conv.h and conv@tail, @op(conv2d) of
 * @op(conv2d).h. */
static const char *renamed(Ctx *cx, const char *full, RenameStage *rename, void *user)
{
    const size_t role = role_length(full), stage = role ? role : strcspn(full, ".@");
    return name_format(cx, "%s%s", rename(cx, name_n(cx, full, stage), user), full + stage);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@';
}

/* Returns the length of the name or role at s, or 0 if there is none. */
static size_t name_length(const char *s)
{
    size_t n = 0;
    while (is_letter(s[n])) n++;
    return *s == '@' && s[n] == '(' ? role_length(s) : n;
}

/* Renames the tensors of a call: roles, and the names that no bracket follows. */
static const char *renamed_call(Ctx *cx, const char *text, RenameStage *rename, void *user)
{
    Text t = text_new(cx);
    for (const char *s = text; *s;) {
        const size_t n = name_length(s);
        const bool is_name = n && !(*s >= '0' && *s <= '9') && s[n + strspn(s + n, " ")] != '(';
        if (is_name) text_add(&t, rename(cx, name_n(cx, s, n), user));
        else text_addn(&t, s, n ? n : 1);
        s += n ? n : 1;
    }
    return name(cx, text_string(&t));
}

void step_rename(Ctx *cx, const StepRow *row, StepArgs *a, RenameStage *rename, void *user)
{
    for (const Operand *o = row->operand; o->kind; o++) {
        const Field f = field_of(a, o);
        switch (o->kind) {
        case OPERAND_LOOP:
        case OPERAND_LOOP_OR_ROOT:
        case OPERAND_STAGE:
        case OPERAND_TENSOR:
            if (*f.word) *f.word = renamed(cx, *f.word, rename, user);
            break;
        case OPERAND_CALL: *f.word = renamed_call(cx, *f.word, rename, user); break;
        case OPERAND_LOOPS:
        case OPERAND_STAGES:
            for (int k = 0; k < *length_of(a, o); k++) f.word[k] = renamed(cx, f.word[k], rename, user);
            break;
        default: break;
        }
    }
}

/* ---- Parsing a step ---------------------------------------------------------------------------------------------- */

/* Returns the names of all primitives, separated by commas. */
static const char *all_names(Ctx *cx)
{
    Text t = text_new(cx);
    for (int i = 0; i < ROW_COUNT; i++) text_printf(&t, "%s%s", i ? ", " : "", rows[i].name);
    return text_string(&t);
}

static const char *near_name(Ctx *cx, const char *word)
{
    const char *names[ROW_COUNT];
    for (int i = 0; i < ROW_COUNT; i++) names[i] = rows[i].name;
    return text_nearest(cx, word, names, ROW_COUNT);
}

Step step_read(Ctx *cx, const char *text)
{
    Words w;
    const Step none = { NULL, NULL };
    bool few = words_of(cx, text, &w);
    StepArgs *args = NEW(cx->arena, StepArgs);
    *args = (StepArgs){ .target = NULL };
    if (!few) {
        refuse_text(cx, text, NULL, FAULT_LIMIT,
                    text_format(cx, "the step about %s has more than %d words", w.at[1], w.count), "fewer");
        return none;
    }
    const StepRow *row = w.count ? step_row(w.at[w.next++]) : NULL;
    if (!row) {
        const char *near = w.count ? near_name(cx, w.at[0]) : NULL;
        refuse_text(cx, text, NULL, FAULT_NAME, "this is not a schedule step", near ? near : all_names(cx));
        return none;
    }
    const bool is_read = read_operands(cx, text, row, &w, args) && read_options(cx, text, row, &w, args);
    return is_read ? (Step){ row, args } : none;
}
