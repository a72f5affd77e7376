/* SPDX-License-Identifier: MIT */
/* Computes accuracy and errors: see scores.h. */
#include "api/scores.h"

#include <limits.h>
#include <math.h>

#include "import/formats/npy.h"

const int64_t *labels_read(Ctx *cx, const char *path, int64_t count, int64_t classes)
{
    DType type;
    int rank;
    int64_t shape[MAX_RANK], elems = 1;
    void *data;
    if (!npy_read(cx, path, &type, &rank, shape, &data)) return NULL;
    for (int d = 0; d < rank; d++) elems *= shape[d];
    if (!dtype_is_integer(type) || elems != count) {
        diag_error(cx, NULL, "\"%s\" holds %lld elements of %s; pass %lld integers, one for each sample", path,
                   (long long)elems, dtype_info(type)->spelling, (long long)count);
        return NULL;
    }
    int64_t *label = NEW_ARRAY(cx->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) {
        label[i] = dtype_load(type, data, i).i;
        if (label[i] >= 0 && label[i] < classes) continue;
        diag_error(cx, NULL, "\"%s\": label %lld of sample %lld is out of range; the model has %lld classes, so use "
                             "labels from 0 to %lld",
                   path,
                   (long long)label[i], (long long)i, (long long)classes, (long long)classes - 1);
        return NULL;
    }
    return label;
}

int64_t outputs_classes(const Outputs *y) { return y->is_label ? INT64_MAX : y->each; }

/* Returns the number of scores above the score of the class; an equal score before it also counts. */
static int rank_of(const Outputs *y, int64_t sample, int64_t class)
{
    if (y->is_label) return y->value[sample] == (double)class ? 0 : INT_MAX;
    const double *v = y->value + sample * y->each;
    int above = 0;
    for (int64_t c = 0; c < y->each; c++) above += v[c] > v[class] || (v[c] == v[class] && c < class);
    return above;
}

int64_t scores_right(const Outputs *y, const int64_t *label, int top)
{
    int64_t right = 0;
    for (int64_t i = 0; i < y->count; i++) right += rank_of(y, i, label[i]) < top;
    return right;
}

static int64_t predicted(const Outputs *y, int64_t sample)
{
    int64_t best = 0;
    for (int64_t c = 1; c < y->each; c++)
        if (y->value[sample * y->each + c] > y->value[sample * y->each + best]) best = c;
    return best;
}

void print_confusion(Ctx *cx, Text *t, const Outputs *y, const int64_t *label)
{
    enum { MOST_CLASSES = 40 };
    const int64_t classes = y->each;
    if (classes > MOST_CLASSES || y->is_label) return;
    int64_t *pairs = NEW_ARRAY(cx->arena, int64_t, classes * classes);
    for (int64_t i = 0; i < y->count; i++) pairs[label[i] * classes + predicted(y, i)]++;
    text_add(t, "confusion matrix, a row for each label, a column for each prediction:\n    ");
    for (int64_t c = 0; c < classes; c++) text_printf(t, "%6lld", (long long)c);
    text_char(t, '\n');
    for (int64_t r = 0; r < classes; r++) {
        text_printf(t, "%4lld", (long long)r);
        for (int64_t c = 0; c < classes; c++) text_printf(t, "%6lld", (long long)pairs[r * classes + c]);
        text_char(t, '\n');
    }
}

double outputs_sqnr(const Outputs *want, const Outputs *got) { return outputs_sqnr_of(want, got, NULL, 0); }

double outputs_sqnr_of(const Outputs *want, const Outputs *got, const int *of, int part)
{
    double signal = 0, noise = 0;
    for (int64_t i = 0; i < want->count * want->each; i++) {
        if (of && of[i % want->each] != part) continue;
        const double error = want->value[i] - got->value[i];
        signal += want->value[i] * want->value[i];
        noise += error * error;
    }
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

double outputs_greatest_error(const Outputs *want, const Outputs *got)
{
    double greatest = 0;
    for (int64_t i = 0; i < want->count * want->each; i++) {
        const double error = fabs(want->value[i] - got->value[i]);
        if (!(error <= greatest)) greatest = error;
    }
    return greatest;
}

void errors_add(Errors *e, double want, double got)
{
    e->count++;
    e->squares += (want - got) * (want - got);
    e->absolutes += fabs(want - got);
    e->want += want * want;
    e->got += got * got;
    e->products += want * got;
}

Errors outputs_errors(const Outputs *want, const Outputs *got)
{
    Errors e = { 0 };
    for (int64_t i = 0; i < want->count * want->each; i++) errors_add(&e, want->value[i], got->value[i]);
    return e;
}

static void print_quotient(Text *t, const char *name, double n, double of, int digits)
{
    text_add(t, name);
    if (of > 0) text_printf(t, " %.*g", digits, n / of);
    else text_add(t, " none");
}

void errors_print(Text *t, const Errors *e)
{
    const double n = (double)e->count;
    print_quotient(t, "RMSE", sqrt(e->squares * n), n, 3);
    print_quotient(t, ", MAE", e->absolutes, n, 3);
    print_quotient(t, ", L2 relative", sqrt(e->squares), sqrt(e->want), 3);
    print_quotient(t, ", cosine", e->products, sqrt(e->want) * sqrt(e->got), 6);
}

const char *percent_text(Ctx *cx, int64_t part, int64_t whole)
{
    const int64_t hundredths = (int64_t)floor((double)part * 10000 / (double)whole + 0.5);
    return text_format(cx, "%lld.%02lld %%", (long long)(hundredths / 100), (long long)(hundredths % 100));
}

const char *decibel_text(Ctx *cx, double db)
{
    if (isinf(db) && db > 0) return "equal";
    if (!isfinite(db)) return "no signal";
    const int64_t tenths = (int64_t)floor(fabs(db) * 10 + 0.5);
    return text_format(cx, "%s%lld.%lld dB", db < 0 ? "-" : "", (long long)(tenths / 10), (long long)(tenths % 10));
}
