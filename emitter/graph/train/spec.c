/* SPDX-License-Identifier: MIT */
#include "graph/train/spec.h"

#include <math.h>
#include <string.h>

#include "graph/train/rows.h"
#include "support/names.h"
#include "support/text.h"

#define BLANKS " \t\r\n"

/* A word NAME=VALUE of the specification. `options` is the text in parentheses after it, or NULL. */
typedef struct Word { const char *name, *value, *options; } Word;

typedef bool ReadWord(Ctx *cx, const Word *w, TrainSpec *s);
typedef struct WordRow { const char *name, *what; ReadWord *read; } WordRow;

static bool refuse(Ctx *cx, const char *found, const char *accepted)
{
    diag_usage(cx, NULL, "--train: %s; use %s", found, accepted);
    return false;
}

/* Refuses a word and suggests the nearest accepted word, or lists all accepted words if none is near. */
static bool refuse_word(Ctx *cx, const char *what, const char *word, const char *const *names, int count)
{
    Text all = text_new(cx);
    for (int i = 0; i < count; i++)
        if (!i || !text_equal(names[i], names[i - 1])) text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    const char *otherwise = text_format(cx, "; use %s", text_string(&all));
    diag_usage(cx, NULL, "--train: there is no %s \"%s\"%s", what, word,
               text_hint(cx, word, names, (size_t)count, otherwise));
    return false;
}

/* ---- Options in parentheses -------------------------------------------------------------------------------------- */

/* Reads the next option of the list "name=value, flag". An absent value is NULL, and the name between two commas is
 * empty. Returns false at the end of the list. */
static bool next_option(Ctx *cx, const char **at, const char **its_name, const char **value)
{
    const char *s = *at ? *at + strspn(*at, BLANKS) : "";
    if (!*s) return false;
    size_t n = strcspn(s, ","), word = strcspn(s, "=,");
    *at = s + n + (s[n] == ',');
    while (n && strchr(BLANKS, s[n - 1])) n--;
    *value = word < n ? name_n(cx, s + word + 1 + strspn(s + word + 1, BLANKS),
                               n - word - 1 - strspn(s + word + 1, BLANKS)) : NULL;
    if (word > n) word = n;
    while (word && strchr(BLANKS, s[word - 1])) word--;
    *its_name = name_n(cx, s, word);
    return true;
}

static bool read_number(Ctx *cx, const char *option, const char *value, const HyperRow *row, double *out)
{
    const char *end = value, *range = text_format(cx, "a number from %.10g to %.10g", row->least, row->most);
    const double v = value ? text_read_double(value, &end) : 0;
    if (!value) return refuse(cx, text_format(cx, "the option \"%s\" has no value", option), range);
    if (end == value || *end || !(v >= row->least) || !(v <= row->most))
        return refuse(cx, text_format(cx, "\"%s=%s\"", option, value), range);
    *out = v;
    return true;
}

static int hyper_count(const OptimizerRow *o)
{
    int n = 0;
    while (n < MOST_HYPERS && o->hyper[n].name) n++;
    return n;
}

static bool read_hyper(Ctx *cx, TrainSpec *s, bool *given, const char *option, const char *value)
{
    const OptimizerRow *o = s->optimizer;
    const int count = hyper_count(o);
    const char *names[MOST_HYPERS];
    for (int i = 0; i < count; i++) {
        names[i] = o->hyper[i].name;
        if (!text_equal(names[i], option)) continue;
        if (given[i]) return refuse(cx, text_format(cx, "\"%s\" is given twice", option), "one of them");
        given[i] = true;
        if (!o->hyper[i].is_flag) return read_number(cx, option, value, &o->hyper[i], &s->hyper[i]);
        if (value) return refuse(cx, text_format(cx, "\"%s=%s\"", option, value), option);
        s->hyper[i] = 1;
        return true;
    }
    return refuse_word(cx, text_format(cx, "option of %s", o->name), option, names, count);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char *in_quotes(Ctx *cx, const Word *w)
{
    return text_format(cx, "\"%s=%s%s%s%s\"", w->name, w->value, w->options ? "(" : "", w->options ? w->options : "",
                       w->options ? ")" : "");
}

static bool has_no_options(Ctx *cx, const Word *w)
{
    return !w->options || refuse(cx, in_quotes(cx, w), text_format(cx, "%s=%s", w->name, w->value));
}

static bool read_loss(Ctx *cx, const Word *w, TrainSpec *s)
{
    const char *names[MOST_PATTERNS], *at = w->options, *option, *value;
    int count = 0;
    for (const LossRow *r = train_loss_rows; r->name; r++) {
        names[count++] = r->name;
        if (text_equal(r->name, w->value)) s->loss = r;
    }
    if (!s->loss) return refuse_word(cx, "loss", w->value, names, count);
    while (next_option(cx, &at, &option, &value)) {
        const bool of = text_equal(option, "of") && s->loss->of_probabilities,
                   is = text_equal(value, "logits") || text_equal(value, "probabilities");
        if (!of || !is || s->of)
            return refuse(cx, in_quotes(cx, w), s->loss->of_probabilities
                          ? text_format(cx, "%s, %s(of=logits) or %s(of=probabilities)", w->value, w->value, w->value)
                          : text_format(cx, "%s", w->value));
        s->of = value;
    }
    return true;
}

static const OptimizerRow *row_named(const char *its_name)
{
    for (const OptimizerRow *r = train_optimizer_rows; r->name; r++)
        if (text_equal(r->name, its_name)) return r;
    return NULL;
}

/* Selects the first row with the optimizer's name whose option is given. All rows of one name have the same options. */
static void select_row(TrainSpec *s)
{
    for (const OptimizerRow *r = s->optimizer; text_equal(r->name, s->optimizer->name); r++) {
        s->optimizer = r;
        if (!r->needs || train_hyper(s, r->needs) != 0) return;
    }
}

static bool read_optimizer(Ctx *cx, const Word *w, TrainSpec *s)
{
    bool given[MOST_HYPERS] = { false };
    const char *names[MOST_PATTERNS], *at = w->options, *option, *value;
    int count = 0;
    for (const OptimizerRow *r = train_optimizer_rows; r->name; r++)
        if (!count || !text_equal(names[count - 1], r->name)) names[count++] = r->name;
    s->optimizer = row_named(w->value);
    if (!s->optimizer) return refuse_word(cx, "optimizer", w->value, names, count);
    for (int i = 0; i < hyper_count(s->optimizer); i++) s->hyper[i] = s->optimizer->hyper[i].otherwise;
    while (next_option(cx, &at, &option, &value))
        if (!read_hyper(cx, s, given, option, value)) return false;
    if (train_hyper(s, "nesterov") != 0 && train_hyper(s, "momentum") == 0)
        return refuse(cx, "\"nesterov\" without momentum", "sgd(rate=0.01, momentum=0.9, nesterov)");
    if (train_hyper(s, "clip") != 0 && train_hyper(s, "clip_norm") != 0)
        return refuse(cx, "\"clip\" and \"clip_norm\"", "one of them");
    select_row(s);
    /* Rows with the same name may have different defaults. */
    for (int i = 0; i < hyper_count(s->optimizer); i++)
        if (!given[i]) s->hyper[i] = s->optimizer->hyper[i].otherwise;
    return true;
}

static bool read_names(Ctx *cx, const Word *w, const char *at, char separator, TrainSpec *s)
{
    const char ends[] = { separator, 0 };
    s->update = UPDATE_NAMED;
    while (*at) {
        const size_t n = strcspn(at, ends);
        if (s->pattern_count == MOST_PATTERNS)
            return refuse(cx, text_format(cx, "update has more than %d names", MOST_PATTERNS), "patterns, like conv*");
        if (!n)
            return refuse(cx, in_quotes(cx, w), "last, all, biases, lora(r=4), or names of layers, like dense,conv_*");
        s->pattern[s->pattern_count++] = name_n(cx, at, n);
        at += n + (at[n] == separator);
    }
    return true;
}

/* Reads lora(r=4), which applies to all layers, or lora(r=4, layers=dense+conv_*). */
static bool read_lora(Ctx *cx, const Word *w, TrainSpec *s)
{
    static const HyperRow row = { "r", 0, 1, 4096, false };
    const char *at = w->options, *option, *value;
    double rank = 0;
    s->update = UPDATE_ALL;
    while (next_option(cx, &at, &option, &value)) {
        if (text_equal(option, "r") && rank == 0) {
            if (!read_number(cx, option, value, &row, &rank)) return false;
        } else if (!text_equal(option, "layers") || !value || s->pattern_count)
            return refuse(cx, in_quotes(cx, w), "lora(r=4) or lora(r=4, layers=dense+conv_*)");
        else if (!read_names(cx, w, value, '+', s)) return false;
    }
    s->lora_rank = (int)rank;
    return (rank >= 1 && rank == floor(rank)) || refuse(cx, in_quotes(cx, w), "a whole rank, like lora(r=4)");
}

static bool read_update(Ctx *cx, const Word *w, TrainSpec *s)
{
    static const char *const kinds[] = { [UPDATE_LAST] = "last", [UPDATE_ALL] = "all", [UPDATE_BIASES] = "biases" };
    if (text_equal(w->value, "lora")) return read_lora(cx, w, s);
    if (!has_no_options(cx, w)) return false;
    for (int k = 0; k < UPDATE_NAMED; k++) {
        s->update = (UpdateKind)k;
        if (text_equal(kinds[k], w->value)) return true;
    }
    return read_names(cx, w, w->value, ',', s);
}

static bool read_target(Ctx *cx, const Word *w, TrainSpec *s)
{
    if (!has_no_options(cx, w)) return false;
    if (!text_equal(w->value, "classes") && !text_equal(w->value, "probabilities"))
        return refuse(cx, in_quotes(cx, w), "target=classes or target=probabilities");
    s->target = w->value;
    return true;
}

static bool read_output(Ctx *cx, const Word *w, TrainSpec *s)
{
    s->output = w->value;
    return has_no_options(cx, w);
}

static bool read_accumulate(Ctx *cx, const Word *w, TrainSpec *s)
{
    static const HyperRow row = { "accumulate", 1, 1, 1 << 20, false };
    double samples;
    if (!has_no_options(cx, w) || !read_number(cx, w->name, w->value, &row, &samples)) return false;
    s->accumulate = (int)samples;
    return samples == floor(samples) || refuse(cx, in_quotes(cx, w), "a whole number of samples");
}

/* Reads a choice between two words; *out is true for `yes`. */
static bool read_choice(Ctx *cx, const Word *w, const char *yes, const char *no, bool *out)
{
    *out = text_equal(w->value, yes);
    return has_no_options(cx, w) && (*out || text_equal(w->value, no)
        || refuse(cx, in_quotes(cx, w), text_format(cx, "%s=%s or %s=%s", w->name, yes, w->name, no)));
}

static bool read_dropout(Ctx *cx, const Word *w, TrainSpec *s)
{
    return read_choice(cx, w, "on", "off", &s->has_dropout);
}

static bool read_norms(Ctx *cx, const Word *w, TrainSpec *s)
{
    return read_choice(cx, w, "trained", "frozen", &s->has_norms);
}

static const WordRow words[] = {
    { "loss", "loss=cross_entropy", read_loss },       { "optimizer", "optimizer=sgd(rate=0.01)", read_optimizer },
    { "update", "update=last", read_update },          { "target", "target=classes", read_target },
    { "output", "output=NAME", read_output },          { "accumulate", "accumulate=8", read_accumulate },
    { "dropout", "dropout=off", read_dropout },        { "batch_norm", "batch_norm=frozen", read_norms },
};
enum { WORDS = sizeof words / sizeof words[0] };

/* ---- The specification ------------------------------------------------------------------------------------------- */

/* Returns the length of the word, up to a blank outside parentheses. */
static size_t word_length(const char *s)
{
    size_t n = 0;
    for (int depth = 0; s[n] && (depth > 0 || !strchr(BLANKS, s[n])); n++) depth += (s[n] == '(') - (s[n] == ')');
    return n;
}

static bool split_word(Ctx *cx, const char *s, size_t n, Word *w)
{
    const char *text = name_n(cx, s, n);
    const size_t equals = strcspn(text, "=("), open = strcspn(text, "(");
    if (text[equals] != '=' || !equals || (open < n && text[n - 1] != ')') || open == equals + 1 || equals + 1 == n)
        return refuse(cx, text_format(cx, "\"%s\"", text), "words like loss=cross_entropy, optimizer=sgd(rate=0.01)");
    *w = (Word){ name_n(cx, text, equals), name_n(cx, text + equals + 1, open - equals - 1),
                 open < n ? name_n(cx, text + open + 1, n - open - 2) : NULL };
    return true;
}

static bool read_word(Ctx *cx, const Word *w, bool *given, TrainSpec *s)
{
    const char *names[WORDS];
    for (int i = 0; i < WORDS; i++) {
        names[i] = words[i].name;
        if (!text_equal(words[i].name, w->name)) continue;
        if (given[i]) return refuse(cx, text_format(cx, "\"%s\" is given twice", w->name), "one of them");
        given[i] = true;
        return words[i].read(cx, w, s);
    }
    return refuse_word(cx, "word", w->name, names, WORDS);
}

bool train_spec_read(Ctx *cx, const char *text, TrainSpec *s)
{
    bool given[WORDS] = { false };
    *s = (TrainSpec){ .text = text, .update = UPDATE_ALL, .accumulate = 1, .has_dropout = true, .has_norms = true };
    for (const char *at = text + strspn(text, BLANKS); *at; at += strspn(at, BLANKS)) {
        Word w;
        const size_t n = word_length(at);
        if (!split_word(cx, at, n, &w) || !read_word(cx, &w, given, s)) return false;
        at += n;
    }
    for (int i = 0; i < 3; i++)      /* loss, optimizer and update have no default */
        if (!given[i]) return refuse(cx, text_format(cx, "\"%s\" has no word \"%s\"", text, words[i].name),
                                     words[i].what);
    if (s->target && !s->loss->has_classes)
        return refuse(cx, text_format(cx, "\"target=%s\" of the loss %s", s->target, s->loss->name),
                      "target= of cross_entropy");
    return true;
}

double train_hyper(const TrainSpec *s, const char *its_name)
{
    for (int i = 0; i < hyper_count(s->optimizer); i++)
        if (text_equal(s->optimizer->hyper[i].name, its_name)) return s->hyper[i];
    return 0;
}
