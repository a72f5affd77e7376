/* SPDX-License-Identifier: MIT */
/* Steps as text. Every primitive is a row of `primitives`: its name, its parameters in order, and the call. The same row
 * prints an accepted step into the trace and reads it from a .te file, so what was printed replays to the same nest.
 *
 *   split conv.h 4 tail=peel names=ho,hi        LOOP FACTOR, then options as key=value; an option left out is the default
 *   reorder conv.i conv.h reassociate           a list of loops takes all words up to the options
 *
 * Parameters are rows too: how one is read from a word into StepArgs and how it is printed; options print nothing when
 * they have their default. */
#include <string.h>

#include "schedule/nests.h"
#include "support/names.h"

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

typedef struct Parameter {
    const char *usage;                                                   /* "FACTOR", "[tail=guard|peel|shift|round]" */
    const char *key;                                                     /* options: "tail="; words without a value: whole; else NULL */
    bool (*read)(Ctx *cx, const char *word, StepArgs *args);             /* false: the word does not fit */
    void (*print)(Text *t, const StepArgs *args);
} Parameter;

static int split_commas(Ctx *cx, const char *word, const char **out, int room)
{
    int n = 0;
    for (;;) {
        size_t length = strcspn(word, ",");
        if (n == room || !length) return -1;
        out[n++] = name_n(cx, word, length);
        if (!word[length]) return n;
        word += length + 1;
    }
}

static bool read_count(const char *word, int64_t *out)
{
    *out = 0;
    const char *c = word;
    for (; *c >= '0' && *c <= '9' && *out <= INT32_MAX; c++) *out = *out * 10 + (*c - '0');
    return c != word && !*c && *out <= INT32_MAX;
}

static bool read_loop(Ctx *cx, const char *word, StepArgs *a)
{
    if (a->loop_count == MAX_STEP_LOOPS) return false;
    a->loop[a->loop_count++] = name(cx, word);
    return true;
}

static bool read_factor(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->factor_count < 2 && read_count(word, &a->factor[a->factor_count]) && ++a->factor_count;
}

static bool read_target(Ctx *cx, const char *word, StepArgs *a) { return (a->target = name(cx, word)) != NULL; }
static bool read_name(Ctx *cx, const char *word, StepArgs *a) { return (a->name = name(cx, word)) != NULL; }

static bool read_place(Ctx *cx, const char *word, StepArgs *a) { return strcmp(word, "root") == 0 || read_loop(cx, word, a); }

static const char *const tail_words[] = { "guard", "peel", "shift", "round" };

static bool read_tail(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    for (int t = TAIL_GUARD; t <= TAIL_ROUND; t++)
        if (strcmp(word, tail_words[t]) == 0) {
            a->tail = (Tail)t;
            return true;
        }
    return false;
}

static bool read_names(Ctx *cx, const char *word, StepArgs *a)
{
    const char *both[2];
    if (split_commas(cx, word, both, 2) != 2) return false;
    a->outer = both[0];
    a->inner = both[1];
    return true;
}

static bool read_scope(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    for (int s = SCOPE_REGISTER; s <= SCOPE_PARAM; s++)
        if (strcmp(word, scope_text((Scope)s)) == 0) {
            a->scope = (Scope)s;
            return true;
        }
    return false;
}

/* The words of a condition are one text. */
static bool read_condition(Ctx *cx, const char *word, StepArgs *a)
{
    a->condition = a->condition ? name_format(cx, "%s %s", a->condition, word) : word;
    return true;
}

static bool read_readers(Ctx *cx, const char *word, StepArgs *a)
{
    a->reader_count = split_commas(cx, word, a->reader, MAX_STEP_LOOPS);
    return a->reader_count > 0;
}

static bool read_as(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->widen = dtype_read(word, strlen(word), &a->as);
}

static bool read_reassociate(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->reassociate = !*word;
}

static bool read_mask(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->mask = !*word;
}

static bool read_guard(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->guard = strcmp(word, "guard") == 0;
}

static bool read_rows(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->rows = strcmp(word, "kept") == 0;
}

static bool read_contract(Ctx *cx, const char *word, StepArgs *a)
{
    (void)cx;
    return a->contract = !*word;
}

static bool read_feature(Ctx *cx, const char *word, StepArgs *a) { return *word && (a->feature = name(cx, word)) != NULL; }

static void print_loop(Text *t, const StepArgs *a) { text_printf(t, " %s", a->loop[0] ? a->loop[0] : "?"); }

static void print_loops(Text *t, const StepArgs *a)
{
    for (int i = 0; i < a->loop_count; i++) text_printf(t, " %s", a->loop[i] ? a->loop[i] : "?");
}

static void print_place(Text *t, const StepArgs *a) { text_printf(t, " %s", a->loop_count ? a->loop[0] : "root"); }
static void print_target(Text *t, const StepArgs *a) { text_printf(t, " %s", a->target ? a->target : "?"); }

static void print_factors(Text *t, const StepArgs *a)
{
    for (int i = 0; i < a->factor_count; i++) text_printf(t, " %lld", (long long)a->factor[i]);
}

static void print_tail(Text *t, const StepArgs *a)
{
    if (a->tail != TAIL_GUARD) text_printf(t, " tail=%s", tail_words[a->tail]);
}

static void print_names(Text *t, const StepArgs *a)
{
    if (a->outer && a->inner) text_printf(t, " names=%s,%s", a->outer, a->inner);
}

static void print_name(Text *t, const StepArgs *a)
{
    if (a->name) text_printf(t, " name=%s", a->name);
}

static void print_scope(Text *t, const StepArgs *a) { text_printf(t, " %s", scope_text(a->scope)); }

static void print_readers(Text *t, const StepArgs *a)
{
    for (int i = 0; i < a->reader_count; i++) text_printf(t, "%s%s", i ? "," : " readers=", a->reader[i]);
}

static void print_as(Text *t, const StepArgs *a)
{
    if (a->widen) text_printf(t, " as=%s", dtype_info(a->as)->spelling);
}

static void print_reassociate(Text *t, const StepArgs *a)
{
    if (a->reassociate) text_add(t, " reassociate");
}

static void print_mask(Text *t, const StepArgs *a)
{
    if (a->mask) text_add(t, " mask");
}

static void print_guard(Text *t, const StepArgs *a)
{
    if (a->guard) text_add(t, " warm=guard");
}

static void print_rows(Text *t, const StepArgs *a)
{
    if (a->rows) text_add(t, " loops=kept");
}

static void print_contract(Text *t, const StepArgs *a)
{
    if (a->contract) text_add(t, " contract");
}

static void print_feature(Text *t, const StepArgs *a)
{
    if (a->feature) text_printf(t, " feature=%s", a->feature);
}

static void print_copies(Text *t, const StepArgs *a)
{
    if (a->factor_count) text_printf(t, " by=%lld", (long long)a->factor[0]);
}

static void print_slots(Text *t, const StepArgs *a)
{
    if (a->factor_count) text_printf(t, " slots=%lld", (long long)a->factor[0]);
}

static void print_condition(Text *t, const StepArgs *a) { text_printf(t, " %s", a->condition ? a->condition : "?"); }

static void print_macro(Text *t, const StepArgs *a) { text_printf(t, " %s", a->name ? a->name : "?"); }

static void print_nothing(Text *t, const StepArgs *a)
{
    (void)t;
    (void)a;
}

enum { LOOP, SECOND_LOOP, LOOPS, PLACE, STAGE, TENSOR, FACTOR, SECOND_FACTOR, SCOPE, TAIL, NAMES, NAME, READERS, AS, REASSOCIATE, CONTRACT, SLOTS, COPIES, CONDITION, DECLARATION, MACRO, DIMENSIONS, AXIS, PRAGMA, ROWS, GUARD, MASK, FUSED, FEATURE, END };
static const Parameter parameters[] = {
    /*                  usage                    key            read              print */
    [LOOP]          = { "LOOP",                  NULL,          read_loop,        print_loop },
    [SECOND_LOOP]   = { "LOOP",                  NULL,          read_loop,        print_nothing },    /* behind LOOPS: printed there */
    [LOOPS]         = { "LOOP...",               NULL,          read_loop,        print_loops },
    [CONDITION]     = { "CONDITION",             NULL,          read_condition,   print_condition },
    [DECLARATION]   = { "MACRO(OPERAND: TYPE, ...) FORMULA", NULL, read_condition, print_condition },
    [MACRO]         = { "MACRO",                 NULL,          read_name,        print_macro },
    [DIMENSIONS]    = { "DIMENSION...",          NULL,          read_loop,        print_loops },
    [PRAGMA]        = { "unroll N|independent|simd", NULL,      read_condition,   print_condition },
    [AXIS]          = { "AXIS",                  NULL,          read_loop,        print_loop },
    [PLACE]         = { "LOOP|root",             NULL,          read_place,       print_place },
    [STAGE]         = { "STAGE",                 NULL,          read_target,      print_target },
    [TENSOR]        = { "TENSOR",                NULL,          read_target,      print_target },
    [FACTOR]        = { "FACTOR",                NULL,          read_factor,      print_factors },
    [SECOND_FACTOR] = { "FACTOR",                NULL,          read_factor,      print_nothing },
    [SCOPE]         = { "SCOPE",                 NULL,          read_scope,       print_scope },
    [TAIL]          = { "[tail=guard|peel|shift|round]", "tail=",       read_tail,        print_tail },
    [NAMES]         = { "[names=OUTER,INNER]",   "names=",      read_names,       print_names },
    [NAME]          = { "[name=NAME]",           "name=",       read_name,        print_name },
    [FUSED]         = { "[name=NAME]",           "name=",       read_name,        print_name },       /* of a loop */
    [READERS]       = { "[readers=STAGE,...]",   "readers=",    read_readers,     print_readers },
    [AS]            = { "[as=TYPE]",             "as=",         read_as,          print_as },
    [COPIES]        = { "[by=COUNT]",            "by=",          read_factor,      print_copies },
    [SLOTS]         = { "[slots=COUNT]",         "slots=",      read_factor,      print_slots },
    [ROWS]          = { "[loops=kept]",          "loops=",      read_rows,        print_rows },
    [GUARD]         = { "[warm=guard]",          "warm=",       read_guard,       print_guard },
    [MASK]          = { "[mask]",                "mask",        read_mask,        print_mask },
    [REASSOCIATE]   = { "[reassociate]",         "reassociate", read_reassociate, print_reassociate },
    [CONTRACT]      = { "[contract]",            "contract",    read_contract,    print_contract },
    [FEATURE]       = { "[feature=NAME]",        "feature=",    read_feature,     print_feature },
};

/* ---- Primitives ------------------------------------------------------------------------------------------------ */

typedef const Nest *Run(Ctx *cx, const Nest *n, const StepArgs *a);

static const Nest *run_split(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_split(cx, n, a->loop[0], a->factor[0], a->tail, a->outer, a->inner); }
static const Nest *run_peel(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_peel(cx, n, a->loop[0]); }
static const Nest *run_tile(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_tile(cx, n, a->loop[0], a->loop[1], a->factor[0], a->factor[1], a->tail); }
static const Nest *run_fuse(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_fuse(cx, n, a->loop[0], a->loop[1], a->name); }
static const Nest *run_reorder(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_reorder(cx, n, a->loop, a->loop_count, a->reassociate); }
static const Nest *run_unroll(Ctx *cx, const Nest *n, const StepArgs *a)
{
    return a->factor_count ? sched_unroll_by(cx, n, a->loop[0], a->factor[0]) : sched_unroll(cx, n, a->loop[0]);
}

static const Nest *run_vectorize(Ctx *cx, const Nest *n, const StepArgs *a)
{
    if (a->reassociate && a->contract) diag_error(cx, "vectorize", "invalid: %s has both words; accepted: reassociate, for a loop over a reduce axis, or contract", a->loop[0]);
    return (a->reassociate ? sched_vectorize_reduction : a->contract ? sched_vectorize_contract : sched_vectorize)(cx, n, a->loop[0]);
}

static const Nest *run_parallel(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_parallel(cx, n, a->loop[0]); }
static const Nest *run_compute_at(Ctx *cx, const Nest *n, const StepArgs *a)
{
    return (a->rows ? sched_compute_rows_at : sched_compute_at)(cx, n, a->target, a->loop[0]);
}

static const Nest *run_store_at(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_store_at(cx, n, a->target, a->loop[0]); }
static const Nest *run_fold_storage(Ctx *cx, const Nest *n, const StepArgs *a) 
{
    return (a->guard ? sched_fold_guarded : sched_fold_storage)(cx, n, a->target, a->mask ? SLOTS_MASK : a->factor[0]);
}

static const Nest *run_compute_inline(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_compute_inline(cx, n, a->target); }
static const Nest *run_reverse_at(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_reverse_compute_at(cx, n, a->target, a->loop[0]); }
static const Nest *run_reverse_inline(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_reverse_compute_inline(cx, n, a->target); }
static const Nest *run_rfactor(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_rfactor(cx, n, a->target, a->loop[0], a->name, a->reassociate); }
static const Nest *run_compute_root(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_compute_root(cx, n, a->target); }
static const Nest *run_cache_write(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_cache_write(cx, n, a->target, a->name, a->scope); }
static const Nest *run_specialize(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_specialize(cx, n, a->condition); }
static const Nest *run_instruction(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_instruction(cx, n, a->condition, a->feature); }
static const Nest *run_blockize(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_blockize(cx, n, a->loop[0]); }
static const Nest *run_tensorize(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_tensorize(cx, n, a->loop[0], a->name); }
static const Nest *run_pack(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_pack(cx, n, a->target, a->loop, a->loop_count); }
static const Nest *run_align(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_storage_align(cx, n, a->target, a->factor[0]); }
static const Nest *run_pad(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_pad(cx, n, a->target, a->loop[0], a->factor[0]); }
static const Nest *run_set_scope(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_set_scope(cx, n, a->target, a->scope); }
static const Nest *run_decompose(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_decompose_reduction(cx, n, a->target, a->loop[0]); }
static const Nest *run_cache_read(Ctx *cx, const Nest *n, const StepArgs *a)
{
    return sched_cache_read(cx, n, a->target, a->reader, a->reader_count, a->name, a->scope, a->widen, a->as);
}

static const Nest *run_pragma(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_pragma(cx, n, a->loop[0], a->condition); }
static const Nest *run_prefetch(Ctx *cx, const Nest *n, const StepArgs *a) { return sched_prefetch(cx, n, a->target, a->loop[0], a->factor[0]); }

typedef struct Primitive { const char *name; Run *run; int parameter[6]; } Primitive;
static const Primitive primitives[] = {
    { "split",               run_split,          { LOOP, FACTOR, TAIL, NAMES, END } },
    { "peel",                run_peel,           { LOOP, END } },
    { "tile",                run_tile,           { LOOPS, SECOND_LOOP, FACTOR, SECOND_FACTOR, TAIL, END } },
    { "fuse",                run_fuse,           { LOOPS, SECOND_LOOP, FUSED, END } },
    { "reorder",             run_reorder,        { LOOPS, REASSOCIATE, END } },
    { "unroll",              run_unroll,         { LOOP, COPIES, END } },
    { "vectorize",           run_vectorize,      { LOOP, REASSOCIATE, CONTRACT, END } },
    { "parallel",            run_parallel,       { LOOP, END } },
    { "compute_at",          run_compute_at,     { STAGE, LOOP, ROWS, END } },
    { "store_at",            run_store_at,       { STAGE, PLACE, END } },
    { "fold_storage",        run_fold_storage,   { STAGE, SLOTS, MASK, GUARD, END } },
    { "compute_inline",      run_compute_inline, { STAGE, END } },
    { "reverse_compute_at",  run_reverse_at,     { STAGE, LOOP, END } },
    { "reverse_compute_inline", run_reverse_inline, { STAGE, END } },
    { "compute_root",        run_compute_root,   { STAGE, END } },
    { "rfactor",             run_rfactor,        { STAGE, LOOP, NAME, REASSOCIATE, END } },
    { "specialize",          run_specialize,     { CONDITION, END } },
    { "instruction",         run_instruction,    { DECLARATION, FEATURE, END } },
    { "blockize",            run_blockize,       { LOOP, END } },
    { "tensorize",           run_tensorize,      { LOOP, MACRO, END } },
    { "cache_read",          run_cache_read,     { TENSOR, SCOPE, NAME, AS, READERS, END } },
    { "cache_write",         run_cache_write,    { STAGE, SCOPE, NAME, END } },
    { "pack",                run_pack,           { TENSOR, DIMENSIONS, END } },
    { "storage_align",       run_align,          { TENSOR, FACTOR, END } },
    { "pad",                 run_pad,            { STAGE, AXIS, FACTOR, END } },
    { "set_scope",           run_set_scope,      { TENSOR, SCOPE, END } },
    { "pragma",              run_pragma,         { LOOP, PRAGMA, END } },
    { "prefetch",            run_prefetch,       { TENSOR, LOOP, FACTOR, END } },
    { "decompose_reduction", run_decompose,      { STAGE, LOOP, END } },
};
enum { PRIMITIVE_COUNT = sizeof primitives / sizeof primitives[0] };

static const Primitive *find_primitive(const char *word)
{
    for (int i = 0; i < PRIMITIVE_COUNT; i++)
        if (strcmp(primitives[i].name, word) == 0) return &primitives[i];
    return NULL;
}

static const char *const *primitive_names(Ctx *cx, int *count)
{
    const char **names = NEW_ARRAY(cx->arena, const char *, PRIMITIVE_COUNT);
    for (int i = 0; i < PRIMITIVE_COUNT; i++) names[i] = primitives[i].name;
    *count = PRIMITIVE_COUNT;
    return names;
}

const char *step_text(Ctx *cx, const char *primitive, const StepArgs *args)
{
    Text t = text_new(cx);
    text_add(&t, primitive);
    const Primitive *p = find_primitive(primitive);
    for (int i = 0; p && p->parameter[i] != END; i++) parameters[p->parameter[i]].print(&t, args);
    return text_string(&t);
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

enum { MAX_WORDS = 96 };
typedef struct Words { int count, next; const char *at[MAX_WORDS]; } Words;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* False where there are too many. */
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

static const char *usage_of(Ctx *cx, const Primitive *p)
{
    Text t = text_new(cx);
    text_add(&t, p->name);
    for (int i = 0; p->parameter[i] != END; i++) text_printf(&t, " %s", parameters[p->parameter[i]].usage);
    return text_string(&t);
}

static const Parameter *option_of(const Primitive *p, const char *word)
{
    for (int i = 0; p->parameter[i] != END; i++) {
        const Parameter *option = &parameters[p->parameter[i]];
        if (option->key && strncmp(word, option->key, strlen(option->key)) == 0) return option;
    }
    return NULL;
}

static bool read_positional(Ctx *cx, const Primitive *p, Words *w, StepArgs *args)
{
    for (int i = 0; p->parameter[i] != END && !parameters[p->parameter[i]].key; i++) {
        const Parameter *parameter = &parameters[p->parameter[i]];
        if (w->next == w->count || option_of(p, w->at[w->next])) return false;
        if (!parameter->read(cx, w->at[w->next++], args)) return false;
        bool is_list = p->parameter[i] == DIMENSIONS || p->parameter[i] == CONDITION || p->parameter[i] == PRAGMA || p->parameter[i] == DECLARATION || (p->parameter[i] == LOOPS && p->parameter[i + 1] != SECOND_LOOP);
        while (is_list && w->next < w->count && !option_of(p, w->at[w->next]))
            if (!parameter->read(cx, w->at[w->next++], args)) return false;
    }
    return true;
}

static bool read_options(Ctx *cx, const Primitive *p, Words *w, StepArgs *args)
{
    while (w->next < w->count) {
        const char *word = w->at[w->next++];
        const Parameter *option = option_of(p, word);
        if (!option || !option->read(cx, word + strlen(option->key), args)) return false;
    }
    return true;
}

/* The names of stages and tensors in the parameters that hold one; axes, macros and short names of loops stay. */
static void rename_args(Ctx *cx, const Primitive *p, StepArgs *a, RenameStage *rename, void *user)
{
    for (int i = 0; p->parameter[i] != END; i++)
        switch (p->parameter[i]) {
        case LOOP:
        case LOOPS:
        case PLACE:
            for (int k = 0; k < a->loop_count; k++) {
                size_t stage = strcspn(a->loop[k], ".@");
                const char *to = rename(cx, name_n(cx, a->loop[k], stage), user);
                a->loop[k] = name_format(cx, "%s%s", to, a->loop[k] + stage);
            }
            break;
        case STAGE:
        case TENSOR: {
            size_t stage = strcspn(a->target, "@");
            a->target = name_format(cx, "%s%s", rename(cx, name_n(cx, a->target, stage), user), a->target + stage);
            break;
        }
        case NAME: if (a->name) a->name = rename(cx, a->name, user); break;
        case READERS:
            for (int k = 0; k < a->reader_count; k++) a->reader[k] = rename(cx, a->reader[k], user);
            break;
        default: break;
        }
}

const Nest *sched_step(Ctx *cx, const Nest *n, const char *text) { return sched_step_renamed(cx, n, text, NULL, NULL); }

const Nest *sched_step_renamed(Ctx *cx, const Nest *n, const char *text, RenameStage *rename, void *user)
{
    if (ctx_failed(cx) || !n) return n;
    Words w;
    bool few = words_of(cx, text, &w);
    if (!few && w.count > 1) {
        diag_error(cx, text, "invalid: the step about %s has more than %d words; accepted: fewer", w.at[1], w.count);
        return n;
    }
    const Primitive *p = few && w.count ? find_primitive(w.at[w.next++]) : NULL;
    if (!p) {
        int count;
        const char *const *names = primitive_names(cx, &count);
        const char *near = w.count ? text_nearest(cx, w.at[0], names, (size_t)count) : NULL, *all = "";
        for (int i = 0; i < count && !near; i++) all = name_format(cx, "%s%s%s", all, i ? ", " : "", names[i]);
        diag_error(cx, text, "invalid: this is no schedule step; accepted: %s", near ? near : all);
        return n;
    }
    StepArgs args = { 0 };
    if (!read_positional(cx, p, &w, &args) || !read_options(cx, p, &w, &args)) {
        diag_error(cx, text, "invalid: '%s' means nothing here; accepted: %s", w.next ? w.at[w.next - 1] : "", usage_of(cx, p));
        return n;
    }
    if (rename) rename_args(cx, p, &args, rename, user);
    return p->run(cx, n, &args);
}
