/* SPDX-License-Identifier: MIT */
/* --check-inputs: a list of ranges, each for one input of floats or for all others. NAME_run returns an error if an
 * element is not within the range of its input; infinity and NaN are in no range. */
#include <float.h>
#include <string.h>

#include "driver/driver.h"
#include "support/text.h"

typedef struct Wanted { const char *word, *port; double least, most; bool is_finite; } Wanted;

static void refuse(Ctx *cx, const char *word)
{
    diag_usage(cx, NULL, "--check-inputs does not accept \"%s\"; use `finite`, LOW..HIGH or PORT=LOW..HIGH, such as "
                         "-1..1, and commas between several", word);
}

/* Reads LOW..HIGH, of which the first number ends before the dots: a number may end with a point. */
static bool read_range(Ctx *cx, const char *text, Wanted *w)
{
    const char *dots = strstr(text, ".."), *end;
    if (!dots) return false;
    const char *low = text_format(cx, "%.*s", (int)(dots - text), text);
    w->least = text_read_double(low, &end);
    if (end == low || *end) return false;
    w->most = text_read_double(dots + 2, &end);
    return end != dots + 2 && !*end && w->least <= w->most && w->least >= -DBL_MAX && w->most <= DBL_MAX;
}

static Wanted read_word(Ctx *cx, const char *word)
{
    const char *equal = strrchr(word, '='), *range = equal ? equal + 1 : word;
    Wanted w = { .word = word, .is_finite = text_equal(range, "finite") };
    if (equal) w.port = text_format(cx, "%.*s", (int)(equal - word), word);
    if ((equal && equal == word) || (!w.is_finite && !read_range(cx, range, &w))) refuse(cx, word);
    return w;
}

static int read_words(Ctx *cx, const char *list, Wanted **words)
{
    int count = 0, room = 1;
    for (const char *c = list; *c; c++) room += *c == ',';
    *words = NEW_ARRAY(cx->arena, Wanted, room);
    for (const char *word = list; count < room && !ctx_failed(cx); word += *word == ',') {
        const size_t length = strcspn(word, ",");
        const Wanted w = read_word(cx, text_format(cx, "%.*s", (int)length, word));
        for (int i = 0; i < count && !ctx_failed(cx); i++)
            if (w.port ? text_equal(w.port, (*words)[i].port) : !(*words)[i].port)
                diag_usage(cx, NULL, "--check-inputs has two ranges for %s, %s and %s; omit one of them",
                           w.port ? w.port : "all inputs", (*words)[i].word, w.word);
        (*words)[count++] = w;
        word += length;
    }
    return count;
}

/* The greatest finite value of a type. */
static double most_of(DType t) { return t == F64 ? DBL_MAX : t == F16 ? 65504 : FLT_MAX; }

static bool is_for(const Wanted *w, const Port *p)
{
    return !w->port || text_equal(w->port, p->name) || text_equal(w->port, p->tensor->name);
}

static void set_range(const Build *b, const Wanted *w, Port *p)
{
    const double most = most_of(p->tensor->type);
    if (!w->is_finite && (w->least < -most || w->most > most))
        diag_error(b->cx, NULL, "--check-inputs %s: \"%s\" has values of %s, at most %g; use a smaller range, or "
                                "finite", w->word, p->name, dtype_info(p->tensor->type)->spelling, most);
    p->is_checked = true;
    p->least = w->is_finite ? -most : w->least;
    p->most = w->is_finite ? most : w->most;
}

static void refuse_port(const Build *b, const Wanted *w, const Port *input)
{
    Ctx *cx = b->cx;
    const char **names = NEW_ARRAY(cx->arena, const char *, b->program.input_count);
    size_t floats = 0;
    Text all = text_new(cx);
    for (int i = 0; i < b->program.input_count; i++) {
        if (!dtype_is_float(input[i].tensor->type)) continue;
        text_printf(&all, "%s\"%s\"", floats ? ", " : "; use ", input[i].name);
        names[floats++] = input[i].name;
    }
    for (int i = 0; i < b->program.input_count; i++)
        if (w->port && is_for(w, &input[i])) {
            diag_error(cx, NULL, "--check-inputs %s: the input \"%s\" has integers, and all integers of its type are "
                                 "valid%s", w->word, input[i].name, text_string(&all));
            return;
        }
    if (!w->port)
        diag_error(cx, NULL, "--check-inputs %s: the model has no input of floats; omit the option", w->word);
    else
        diag_error(cx, NULL, "--check-inputs %s: there is no input \"%s\"%s", w->word, w->port,
                   text_hint(cx, w->port, names, floats, text_string(&all)));
}

/* Sets the ranges of the ports. The word that names a port counts before one for all. */
void build_check_inputs(const Build *b, Port *input)
{
    Wanted *words;
    if (!b->options->check_inputs) return;
    const int count = read_words(b->cx, b->options->check_inputs, &words);
    for (int named = 0; named < 2; named++)
        for (int k = 0; k < count && !ctx_failed(b->cx); k++) {
            bool is_used = false;
            if ((words[k].port != NULL) != (named != 0)) continue;
            for (int i = 0; i < b->program.input_count; i++) {
                if (!dtype_is_float(input[i].tensor->type) || !is_for(&words[k], &input[i])) continue;
                set_range(b, &words[k], &input[i]);
                is_used = true;
            }
            if (!is_used && !ctx_failed(b->cx)) refuse_port(b, &words[k], input);
        }
}
