/* SPDX-License-Identifier: MIT */
/* At registration a formula has no inputs, so it is computed on trial inputs. Each trial input has the rank given by
 * the formula's indices, open sizes, and the first combination of element types that parses. If no types parse, the
 * formula is wrong. The diagnostic is then taken from the trial with floats. */
#include "graph/dag/op_trial.h"

#include <string.h>

#include "ir/expr/tensor.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_TRIED = 3, RANK_OF_STAR = 2 };

/* The largest trial sizes, as exponents of 2: of_input for the elements of an input (0 for no limit), of_dimension for
 * each other dimension. The second row is for formulas whose temporaries have more elements than the inputs. A call is
 * checked again with its own sizes. */
typedef struct TrialSizes { int of_input, of_dimension; } TrialSizes;
static const TrialSizes trial_sizes[] = { { 30, 15 }, { 0, 3 } };
enum { TRIALS = sizeof trial_sizes / sizeof trial_sizes[0] };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the text after the next occurrence of the word as a whole name, or NULL. */
static const char *after_word(const char *from, const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = from; (s = strstr(s, word)) != NULL; s++)
        if ((s == text || !is_letter(s[-1])) && !is_letter(s[n])) return s + n;
    return NULL;
}

/* Returns the number of indices in the brackets that begin at s. Returns -1 for [*]. */
static int count_indices(const char *s)
{
    int depth = 0, count = 1;
    if (s[1 + strspn(s + 1, " ")] == '*' && strchr("] ", s[2 + strspn(s + 1, " ")])) return -1;
    for (; *s; s++) {
        depth += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
        count += *s == ',' && depth == 1;
        if (!depth) break;
    }
    return count;
}

typedef struct Guess { int rank; bool is_star; } Guess;

static Guess guess_rank(const char *text, const char *input)
{
    Guess g = { 0, false };
    for (const char *s = text; (s = after_word(s, text, input)) != NULL;) {
        s += strspn(s, " ");
        int count = *s == '[' ? count_indices(s) : 0;
        if (count > 0) return (Guess){ count, false };
        if (count < 0) g.is_star = true;
        if (*s == ',' && s[1 + strspn(s + 1, " ")] >= '0' && s[1 + strspn(s + 1, " ")] < '0' + MAX_RANK) {
            const int dimension = s[1 + strspn(s + 1, " ")] - '0';         /* the number in dim(x, 1) */
            if (g.rank <= dimension) g.rank = dimension + 1;
        }
    }
    if (g.is_star && g.rank < RANK_OF_STAR) g.rank = RANK_OF_STAR;
    return g;
}

/* Returns a trial input. Inputs indexed with [*] share one shape, so any broadcast is valid. Sizes are small enough
 * that no product overflows. */
static Tensor *trial_input(Ctx *cx, const char *word, const char *text, DType type, const Expr *const *star,
                           const TrialSizes *sizes)
{
    const Guess g = guess_rank(text, word);
    const Expr *shape[MAX_RANK];
    if (g.rank > MAX_RANK) return NULL;
    const int bits = sizes->of_input && g.rank ? sizes->of_input / g.rank : sizes->of_dimension;
    for (int d = 0; d < g.rank; d++)
        shape[d] = g.is_star && g.rank <= RANK_OF_STAR
                 ? star[d] : expr_new_var(cx, name_format(cx, "%s_%d", word, d), VAR_SIZE, I32, 1, 1 << bits);
    return tensor_new(cx, word, type, g.rank, shape);
}

static bool reads_with(Ctx *cx, const Op *op, const DType *type, const TrialSizes *sizes, Diag **why)
{
    Node call = { .kind = NODE_CALL, .name = op->name, .op = op, .in_count = op->least_inputs };
    Tensor *out[MAX_OUTPUTS];
    const Expr *star[RANK_OF_STAR];
    DiagMark mark = diag_mark(cx);
    for (int d = 0; d < RANK_OF_STAR; d++)
        star[d] = expr_new_var(cx, name_format(cx, "n%d", d), VAR_SIZE, I32, 1, 1 << sizes->of_dimension);
    call.in = NEW_ARRAY(cx->arena, Tensor *, call.in_count);
    for (int i = 0; i < call.in_count; i++)
        call.in[i] = trial_input(cx, op_input_name(cx, op, i), op->meaning.formula, type[i], star, sizes);
    Text given = text_new(cx);
    for (const AttrRow *a = op->attr; a && a->name; a++)
        if (a->otherwise) text_printf(&given, " %s=%s", a->name, a->otherwise);
    call.attr = attrs_read(cx, op, text_string(&given), &call.attr_count);
    cx->tries_formula = true;
    if (!ctx_failed(cx)) op_compute(cx, &call, out);
    cx->tries_formula = false;
    *why = diag_rewind(cx, mark);
    return !*why;
}

bool op_formula_reads(Ctx *cx, const Op *op, const char *place)
{
    static const DType types[] = { F32, I32, BOOL, U8 };
    enum { TYPES = sizeof types / sizeof types[0] };
    DType *type = NEW_ARRAY(cx->arena, DType, op->least_inputs + 1);
    Diag *first = NULL, *why = NULL;
    int tried = 1;
    for (int i = 0; i < op->least_inputs && i < MOST_TRIED; i++) tried *= TYPES;
    for (int t = 0; t < TRIALS * tried; t++) {
        for (int i = 0, rest = t % tried; i < op->least_inputs; i++) {
            type[i] = i < MOST_TRIED ? types[rest % TYPES] : type[0];
            if (i < MOST_TRIED) rest /= TYPES;
        }
        if (reads_with(cx, op, type, &trial_sizes[t / tried], &why)) return true;
        if (!first) first = why;
    }
    while (first && first->severity < ERROR) first = first->next;
    if (first && first->source) diag_with_source(cx, place, first->source, "%s", first->what);
    else if (first) diag_error(cx, place, "%s", first->what);
    return false;
}
