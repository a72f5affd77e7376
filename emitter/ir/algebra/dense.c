/* SPDX-License-Identifier: MIT */
/* A site is dense if its own loops, under their guard, reach every point of one box exactly once.
 *
 * - Digits of loops. Each own loop v is a number whose digits are v itself or (v / low) % count. Its digits must be a
 *   mixed radix of the whole extent: low = 1 for the first, then low = the low times the count of the digit before.
 * - Sums as numbers. If binds use digits of a sum (a split of a fused loop: (fo*4 + fi) / 5), the sum is first proved
 *   dense itself, and then is a number like a loop.
 * - Lines. Each bind is a line: base + sum of coef * digit. The digits of a bind, sorted by coef, are a mixed radix:
 *   coef = 1, then coef = the coef times the count of the digit before. A loop v that the bind subtracts is the digit
 *   extent - 1 - v; no guard may contain it.
 *
 * Therefore the points of the box and the values of the loops correspond one to one.
 *
 * A shifted tail is a term min(n * step, end) of a number n. If the digits below the tail
 * cover [0, step), the digits and the tail together cover [0, end + step). The tail therefore counts as a digit that
 * adds `end` values. Some values may be reached more than once.
 *
 * A guard is a conjunction of comparisons, called cuts. A cut from above bounds a mixed radix of digits of a line: sum
 * of q_j * digit_j <= R. The cut merges these digits into one digit of R + 1 values. The shortest cuts are applied
 * first, which the split of a split requires. A cut from below bounds the upper digits of a line: sum over j >= m is at
 * least a limit. This limit is equivalent to a bound of the whole line, because the digits below m sum to less than
 * coef_m. The result is one interval either way. */
#include "ir/algebra/algebra.h"

#include "support/text.h"

enum { MAX_DIGITS = 32, MAX_SOURCES = 32, MAX_LINES = 2 * MAX_AXES, MAX_CUTS = 16 };

/* A number with digits: a loop of this site only, or the sum of a line. */
typedef struct Source { const Expr *number, *extent; int line; bool is_used, is_shifted; } Source;

/* A digit of a source, the shifted tail of a source, or a digit into which a guard merges several digits (source -1).
 * In each merged digit, `merged` is the index of the result, and `part` is the digit's factor in it. */
typedef struct Digit {
    const Expr *term; int source, line;
    const Expr *low, *count, *coef;
    int merged; int64_t part;                /* merged: index of the digit that contains this one, or -1 */
    int64_t step; const Expr *end;           /* of a shifted tail; 0 for other digits */
    bool is_mirrored;
} Digit;

typedef struct LinearIndex {
    Linear base;                             /* the part of the bind without own loops */
    int count, digit[MAX_DIGITS];            /* once sorted: lowest first, without digits of one value */
    /* `total` is the product of the digits' counts; a cut leaves [from, end), relative to base. */
    const Expr *total, *from, *end;
    bool is_sorted, is_virtual, has_shift;
} LinearIndex;

typedef struct Dense {
    Ctx *cx;
    Ranges inside, outside;
    const Expr *const *own; int own_count;
    int cut_count; Linear cut[MAX_CUTS]; bool is_done[MAX_CUTS];       /* the guard's comparisons, each >= 0 */
    int source_count; Source source[MAX_SOURCES];
    int digit_count; Digit digit[MAX_DIGITS];
    int line_count; LinearIndex line[MAX_LINES];
    Repeats repeats; bool may_repeat;
    const char *why;
} Dense;

static bool refuse(Dense *d, const char *what, const Expr *e)
{
    if (d->why) return false;
    Text t = text_new(d->cx);
    const Var *v = e ? expr_as_var(e) : NULL;
    text_printf(&t, "%s", what);
    if (v) text_printf(&t, " '%s'", v->name);
    else if (e) text_printf(&t, " a term with '%s'", expr_info(e->kind)->spelling);
    d->why = text_string(&t);
    return false;
}

static bool uses_own(const Dense *d, const Expr *e) { return uses_any(e, d->own, d->own_count); }
static const Expr *number(Dense *d, int64_t v) { return expr_int(d->cx, I32, v); }
static const Expr *tidy(Dense *d, const Expr *e) { return ranges_simplify(&d->outside, e); }

static const Expr *product(Dense *d, const Expr *a, const Expr *b)
{
    bool too_large = a->kind == EXPR_INT && b->kind == EXPR_INT && sat_mul(a->integer, b->integer) > INT32_MAX;
    if (too_large && !refuse(d, "the box has more than 2^31 points", NULL)) return a;
    if (expr_is_int(a, 1)) return b;
    return expr_is_int(b, 1) ? a : tidy(d, expr_mul(d->cx, a, b));
}

/* Collects the factors of a product, at most MAX_FACTORS. */
enum { MAX_FACTORS = 8 };
static void factors_of(const Expr *e, const Expr **out, int *count)
{
    if (e->kind != EXPR_MUL || *count == MAX_FACTORS) {
        if (*count < MAX_FACTORS) out[(*count)++] = e;
        else *count = MAX_FACTORS + 1;
        return;
    }
    factors_of(e->arg[0], out, count);
    if (*count <= MAX_FACTORS) factors_of(e->arg[1], out, count);
}

/* Returns true if both are products of the same factors, such as n * m and m * n. */
static bool same_product(const Expr *a, const Expr *b)
{
    const Expr *x[MAX_FACTORS], *y[MAX_FACTORS];
    int n = 0, m = 0;
    if (a->kind != EXPR_MUL || b->kind != EXPR_MUL) return false;
    factors_of(a, x, &n);
    factors_of(b, y, &m);
    if (n != m || n > MAX_FACTORS) return false;
    for (int i = 0; i < n; i++) {
        int j = i;
        while (j < n && y[j] != x[i]) j++;
        if (j == n) return false;
        y[j] = y[i];
    }
    return true;
}

static bool same(Dense *d, const Expr *a, const Expr *b)
{
    return a == b || same_product(a, b) || ranges_prove(&d->outside, expr_binary(d->cx, EXPR_EQ, a, b));
}

/* ---- Digits and lines ------------------------------------------------------------------------------------------ */

static int new_line(Dense *d, const Expr *e, bool is_virtual);

static int source_of(Dense *d, const Expr *e)
{
    for (int s = 0; s < d->source_count; s++)
        if (d->source[s].number == e) return s;
    if (e->kind == EXPR_VAR || d->source_count == MAX_SOURCES) return -1;
    int line = new_line(d, e, true);
    if (line < 0) return -1;
    d->source[d->source_count] = (Source){ e, NULL, line, true, false };
    return d->source_count++;
}

static bool add_digit(Dense *d, int line, const Expr *term, const Expr *coef)
{
    const Expr *e = term, *low = number(d, 1), *count = NULL;
    if (e->kind == EXPR_FLOORMOD && !uses_own(d, e->arg[1])) { count = e->arg[1]; e = e->arg[0]; }
    if (e->kind == EXPR_FLOORDIV && !uses_own(d, e->arg[1])) { low = e->arg[1]; e = e->arg[0]; }
    bool is_digit = e->kind == EXPR_VAR || low->kind != EXPR_INT || low->integer != 1 || count;
    int source = is_digit ? source_of(d, e) : -1;
    if (source < 0 || d->source[source].is_shifted)
        return refuse(d, "the index has a term that is not a digit of a loop:", term);
    if (d->digit_count == MAX_DIGITS) return refuse(d, "there are too many digits in", term);
    d->source[source].is_used = true;
    d->digit[d->digit_count] = (Digit){ term, source, line, low, count, coef, -1, 0, 0, NULL, false };
    d->line[line].digit[d->line[line].count++] = d->digit_count++;
    return true;
}

/* Returns n of n * step, where step divides all coefficients. Returns NULL if the expression has a different form. */
static const Expr *number_of_steps(Dense *d, const Expr *e, int64_t *step)
{
    Linear l;
    if (!ranges_linear(&d->inside, e, &l) || l.count == 0 || l.constant) return NULL;
    *step = 0;
    for (int i = 0; i < l.count; i++) {
        if (l.coef[i] <= 0) return NULL;
        for (int64_t rest = l.coef[i]; rest;) { const int64_t next = *step % rest; *step = rest; rest = next; }
    }
    for (int i = 0; i < l.count; i++) l.coef[i] /= *step;
    return linear_expr(d->cx, &l);
}

/* Adds min(n * step, end): the last steps of the number n are shifted inwards, to end where the axis ends. */
static bool add_shift(Dense *d, int line, const Expr *term, int64_t coef)
{
    int clamp = uses_own(d, term->arg[0]);
    int64_t step = 0;
    const Expr *steps = term->arg[!clamp], *end = term->arg[clamp], *n = NULL;
    if (d->may_repeat && !uses_own(d, end)) n = number_of_steps(d, steps, &step);
    int source = n ? source_of(d, n) : -1;
    bool is_free = source >= 0;
    for (int g = 0; g < d->digit_count; g++) is_free = is_free && d->digit[g].source != source;
    if (!is_free) return refuse(d, "the index has a term that is not a digit of a loop:", term);
    if (d->digit_count == MAX_DIGITS) return refuse(d, "there are too many digits in", term);
    d->source[source].is_used = d->source[source].is_shifted = true;
    d->digit[d->digit_count] = (Digit){ term, source, line, NULL, NULL, number(d, coef), -1, 0, step, end, false };
    d->line[line].has_shift = true;
    d->line[line].digit[d->line[line].count++] = d->digit_count++;
    return true;
}

/* Adds a loop with a negative coefficient: coef * v = coef * (extent - 1) - coef * (extent - 1 - v). */
static bool add_mirrored(Dense *d, int line, const Expr *term, int64_t coef)
{
    const int s = term->kind == EXPR_VAR ? source_of(d, term) : -1;
    const Expr *extent = s >= 0 ? d->source[s].extent : NULL;
    if (!extent || extent->kind != EXPR_INT) return refuse(d, "the index decreases with", term);
    const Linear shift = { .type = I32, .constant = sat_mul(coef, extent->integer - 1) };
    if (!linear_add(&d->line[line].base, &shift, 1) || !add_digit(d, line, term, number(d, -coef))) return false;
    Digit *digit = &d->digit[d->digit_count - 1];
    digit->term = tidy(d, expr_sub(d->cx, number(d, extent->integer - 1), term));
    return digit->is_mirrored = true;
}

static bool add_term(Dense *d, int line, const Expr *term, int64_t coef)
{
    if (!uses_own(d, term)) {
        Linear one = { .type = I32, .count = 1, .term = { term }, .coef = { coef } };
        return linear_add(&d->line[line].base, &one, 1);
    }
    if (coef < 0) return add_mirrored(d, line, term, coef);
    if (term->kind == EXPR_MIN) return add_shift(d, line, term, coef);
    for (int side = 0; term->kind == EXPR_MUL && side < 2; side++) {
        const Expr *factor = term->arg[side];
        if (uses_own(d, factor) || ranges_of(&d->outside, factor).least < 0) continue;
        return add_digit(d, line, term->arg[!side], product(d, factor, number(d, coef)));
    }
    return add_digit(d, line, term, number(d, coef));
}

static int new_line(Dense *d, const Expr *e, bool is_virtual)
{
    Linear l;
    if (d->line_count == MAX_LINES || !ranges_linear(&d->inside, e, &l)) return -1;
    int line = d->line_count++;
    d->line[line] = (LinearIndex){ .base = { .type = I32, .constant = l.constant }, .is_virtual = is_virtual };
    d->line[line].from = number(d, 0);
    for (int i = 0; i < l.count; i++)
        if (!add_term(d, line, l.term[i], l.coef[i])) return -1;
    return line;
}

/* ---- Counting -------------------------------------------------------------------------------------------------- */

static bool sort_line(Dense *d, int line);

static const Expr *cut_total(Dense *d, const LinearIndex *l)
{
    const Expr *end = l->total;
    if (l->end) end = tidy(d, expr_binary(d->cx, EXPR_MIN, end, l->end));
    const Expr *count = tidy(d, expr_sub(d->cx, end, l->from)), *zero = number(d, 0);
    if (ranges_prove(&d->outside, expr_binary(d->cx, EXPR_LE, zero, count))) return count;
    return expr_binary(d->cx, EXPR_MAX, count, zero);
}

static const Expr *source_extent(Dense *d, int s)
{
    Source *source = &d->source[s];
    if (source->extent) return source->extent;
    LinearIndex *l = &d->line[source->line];
    if (!sort_line(d, source->line)) return NULL;
    bool from_zero = l->base.count == 0 && l->base.constant == 0 && expr_is_int(l->from, 0);
    if (!from_zero) {
        refuse(d, "the sum does not begin at 0 in", source->number);
        return NULL;
    }
    return source->extent = cut_total(d, l);
}

/* Returns extent / low. If extent is a product with the factor `low`, returns the other factor, even if low may be 0:
 * the loop then does not run. */
static const Expr *times_in(Dense *d, const Expr *low, const Expr *extent)
{
    for (int side = 0; extent->kind == EXPR_MUL && side < 2; side++)
        if (extent->arg[side] == low) return extent->arg[!side];
    return tidy(d, expr_binary(d->cx, EXPR_FLOORDIV, extent, low));
}

/* Returns the number of values of the digit: the modulus of its remainder, the number of steps of a shifted tail, or
 * otherwise extent / low. */
static const Expr *digit_values(Dense *d, Digit *g)
{
    if (g->count) return g->count;
    const Expr *extent = source_extent(d, g->source);
    if (!extent) return NULL;
    if (g->step) return g->count = extent;
    g->count = times_in(d, g->low, extent);
    if (same(d, product(d, g->count, g->low), extent)) return g->count;
    refuse(d, "a part of a fused loop is not a box of the axes: its extent is not a multiple of the divisor in",
           g->term);
    return NULL;
}

static bool is_used_up(Dense *d, int s)
{
    const Source *source = &d->source[s];
    const Expr *extent = source_extent(d, s), *low = number(d, 1);
    if (!extent) return false;
    for (bool found = true; found;) {
        found = false;
        for (int g = 0; g < d->digit_count && !found; g++) {
            Digit *digit = &d->digit[g];
            if (digit->source != s || !digit->low || !same(d, digit->low, low)) continue;
            if (!digit_values(d, digit)) return false;
            low = product(d, low, digit->count);
            digit->low = NULL;               /* NULL marks a digit that is counted */
            found = true;
        }
    }
    for (int g = 0; g < d->digit_count; g++)
        if (d->digit[g].source == s && d->digit[g].low && !expr_is_int(d->digit[g].count, 1))
            return refuse(d, "the digits do not fit together in", d->digit[g].term);
    return same(d, low, extent) || refuse(d, "the same points are reached more than once by the loop", source->number);
}

/* Adds the digit g to digits with `full` contiguous values, and returns the new number of values. The values of g, or
 * the steps of a shifted tail, must be `full` apart. Otherwise values would be left out or repeated, and the result is
 * NULL. */
static const Expr *grow(Dense *d, const Digit *g, const Expr *full, const Expr *coef)
{
    if (!same(d, g->step ? product(d, coef, number(d, g->step)) : coef, full)) return NULL;
    return g->step ? tidy(d, expr_add(d->cx, full, product(d, coef, g->end))) : product(d, full, g->count);
}

typedef struct Noting { Dense *d; bool fits; } Noting;

static void note_repeat(const Expr *e, void *user)
{
    Noting *n = user;
    Repeats *r = &n->d->repeats;
    if (e->kind != EXPR_VAR || !uses_own(n->d, e) || repeats_has(r, e)) return;
    n->fits = n->fits && r->count < MAX_REPEATS;
    if (n->fits) r->loop[r->count++] = e;
}

/* Returns true if the tail's last step is shifted to its end, which is at least 0, so no value is left out. Notes the
 * loops that reach points again. */
static bool reaches_end(Dense *d, const Digit *g)
{
    Ctx *cx = d->cx;
    const Expr *n = d->source[g->source].number;
    const Expr *last = expr_mul(cx, expr_sub(cx, g->count, number(d, 1)), number(d, g->step));
    Noting noting = { d, true };
    if (!ranges_prove(&d->outside, expr_binary(cx, EXPR_LE, number(d, 0), g->end))
        || !ranges_prove(&d->outside, expr_binary(cx, EXPR_LE, g->end, last)))
        return refuse(d, "the shifted tail does not reach the end of the axis by", n);
    expr_walk(cx, n, note_repeat, &noting);
    return noting.fits || refuse(d, "too many shifted tails reach points again, as by", n);
}

static int take_lowest(Dense *d, LinearIndex *l, int from, const Expr **total)
{
    for (int i = from; i < l->count; i++) {
        const Expr *grown = grow(d, &d->digit[l->digit[i]], *total, d->digit[l->digit[i]].coef);
        if (!grown) continue;
        *total = grown;
        return i;
    }
    return -1;
}

/* Sorts the digits by coefficient and proves that they are a mixed radix. */
static bool sort_line(Dense *d, int line)
{
    LinearIndex *l = &d->line[line];
    if (l->is_sorted) return true;
    int kept = 0;
    for (int i = 0; i < l->count; i++) {
        Digit *g = &d->digit[l->digit[i]];
        const Expr *values = digit_values(d, g);
        if (!values) return false;
        if (g->step || !same(d, values, number(d, 1))) l->digit[kept++] = l->digit[i];
    }
    l->count = kept;
    l->total = number(d, 1);
    for (int i = 0; i < l->count; i++) {
        int next = take_lowest(d, l, i, &l->total), digit = l->digit[i];
        if (next < 0) return refuse(d, "the points are not contiguous in", d->digit[digit].term);
        l->digit[i] = l->digit[next];
        l->digit[next] = digit;
        const Digit *g = &d->digit[l->digit[i]];
        if (g->step && !reaches_end(d, g)) return false;
    }
    return l->is_sorted = true;
}

/* ---- Guards ---------------------------------------------------------------------------------------------------- */

/* The digits of own loops in a comparison, with their coefficients, and the rest of the comparison. */
typedef struct Cut { int count, digit[MAX_DIGITS]; int64_t coef[MAX_DIGITS]; Linear rest; } Cut;

static bool cut_add(Dense *d, Cut *c, int digit, int64_t coef)
{
    if (!d->digit[digit].step && expr_is_int(digit_values(d, &d->digit[digit]), 1)) return true;
    for (int i = 0; i < c->count; i++)
        if (c->digit[i] == digit) return c->coef[i] = sat_add(c->coef[i], coef), true;
    if (c->count == MAX_DIGITS) return false;
    c->digit[c->count] = digit;
    c->coef[c->count++] = coef;
    return true;
}

/* Adds a term of the comparison to the cut. A term is a digit, or a loop, which is the sum of its digits times their
 * lows. */
static bool cut_add_term(Dense *d, Cut *c, const Expr *term, int64_t coef)
{
    bool found = false;
    for (int g = 0; g < d->digit_count; g++)
        if (d->digit[g].term == term) return digit_values(d, &d->digit[g]) && cut_add(d, c, g, coef);
    for (int g = 0; g < d->digit_count; g++) {
        const Digit *digit = &d->digit[g];
        if (digit->source < 0 || d->source[digit->source].number != term) continue;
        if (digit->step || digit->is_mirrored || digit->low->kind != EXPR_INT || !digit_values(d, &d->digit[g]))
            return false;
        found = cut_add(d, c, g, sat_mul(coef, digit->low->integer));
        if (!found) return false;
    }
    return found;
}

/* Returns the index in c of the digit that was merged first, or -1. */
static int next_merged(const Dense *d, const Cut *c)
{
    int at = -1;
    for (int i = 0; i < c->count; i++) {
        int merged = d->digit[c->digit[i]].merged;
        if (merged >= 0 && (at < 0 || merged < d->digit[c->digit[at]].merged)) at = i;
    }
    return at;
}

/* Replaces the parts of a merged digit by that digit. A cut contains all of its parts or none. */
static bool cut_merge(Dense *d, Cut *c)
{
    for (int at; (at = next_merged(d, c)) >= 0;) {
        int whole = d->digit[c->digit[at]].merged, kept = 0, parts = 0, all = 0;
        int64_t times = c->coef[at] / d->digit[c->digit[at]].part;
        for (int j = 0; j < d->digit_count; j++) all += d->digit[j].merged == whole;
        for (int j = 0; j < c->count; j++) {
            const Digit *part = &d->digit[c->digit[j]];
            if (part->merged == whole && c->coef[j] != sat_mul(times, part->part)) return false;
            if (part->merged == whole) { parts++; continue; }
            c->digit[kept] = c->digit[j];
            c->coef[kept++] = c->coef[j];
        }
        if (parts != all) return false;
        c->digit[kept] = whole;
        c->coef[kept++] = times;
        c->count = kept;
    }
    return true;
}

static int position(const LinearIndex *l, int digit)
{
    for (int i = 0; i < l->count; i++)
        if (l->digit[i] == digit) return i;
    return -1;
}

/* Strips full digits from a cut over several lines. In sum of q_j * d_j <= R, let the lower digits together take all
 * values below q_m, and R + 1 be a multiple of q_m. Then sum over j >= m of q_j/q_m * d_j <= (R + 1)/q_m - 1 is
 * equivalent. */
static bool strip_full_digits(Dense *d, Cut *c)
{
    int64_t full = 1;
    for (bool several = true; several;) {
        int at = -1;
        several = false;
        for (int i = 0; i < c->count; i++) {
            if (c->coef[i] == -full && !d->digit[c->digit[i]].step) at = i;
            several = several || d->digit[c->digit[i]].line != d->digit[c->digit[0]].line;
        }
        if (!several) break;
        if (at < 0 || c->rest.count) return false;
        const Expr *values = d->digit[c->digit[at]].count;
        if (values->kind != EXPR_INT || values->integer < 1) return false;
        full = sat_mul(full, values->integer);
        c->digit[at] = c->digit[--c->count];
        c->coef[at] = c->coef[c->count];
    }
    if (full == 1) return true;
    int64_t end = sat_add(c->rest.constant, 1);
    for (int i = 0; i < c->count; i++)
        if (c->coef[i] % full != 0) return false;
    for (int i = 0; i < c->count; i++) c->coef[i] /= full;
    c->rest.constant = floor_div(end, full) - 1;
    return end % full == 0;
}

/* Applies a cut without own loops: either all points remain or none. Cuts an axis of one point if the guard uses the
 * axis's base, otherwise the first line. */
static bool cut_all(Dense *d, const Linear *rest)
{
    int best = 0;
    for (int i = d->line_count - 1; i >= 0; i--) {
        const LinearIndex *l = &d->line[i];
        if (l->is_virtual || l->count || !l->base.count) continue;
        Linear sum = *rest, difference = *rest;
        bool speaks = (linear_add(&sum, &l->base, 1) && sum.count + l->base.count <= rest->count)
                   || (linear_add(&difference, &l->base, -1) && difference.count + l->base.count <= rest->count);
        if (speaks) best = i;
    }
    if (d->line_count == 0 || !sort_line(d, best)) return false;
    LinearIndex *l = &d->line[best];
    const Expr *amount = linear_expr(d->cx, rest), *zero = number(d, 0), *one = number(d, 1);
    const Expr *end = l->count ? expr_select(d->cx, expr_binary(d->cx, EXPR_LE, zero, amount), l->total, zero)
                               : expr_add(d->cx, amount, one);
    l->end = l->end ? expr_binary(d->cx, EXPR_MIN, l->end, end) : end;
    return true;
}

/* Returns true if an extent has been derived from the line's number of points. A later cut of the line would invalidate
 * that extent. */
static bool is_counted(const Dense *d, int line)
{
    for (int s = 0; s < d->source_count; s++)
        if (d->source[s].line == line && d->source[s].extent) return true;
    return false;
}

/* Applies a cut from below. The digits of the cut are the upper digits of a line, so the cut is equivalent to a bound
 * of the whole line. */
static bool cut_begin(Dense *d, const Cut *c)
{
    int line = d->digit[c->digit[0]].line;
    LinearIndex *l = &d->line[line];
    if (l->has_shift || is_counted(d, line) || !sort_line(d, line)) return false;
    int first = l->count - c->count;
    if (first < 0) return false;
    const Digit *lowest = &d->digit[l->digit[first]];
    int64_t factor = 0;
    for (int i = 0; i < c->count; i++)
        if (c->digit[i] == l->digit[first]) factor = c->coef[i];
    if (factor <= 0) return false;
    for (int i = 0; i < c->count; i++) {
        const Digit *g = &d->digit[c->digit[i]];
        if (position(l, c->digit[i]) < first) return false;
        if (c->digit[i] == l->digit[first]) continue;
        if (g->coef->kind != EXPR_INT || lowest->coef->kind != EXPR_INT) return false;
        if (sat_mul(c->coef[i], lowest->coef->integer) != sat_mul(factor, g->coef->integer)) return false;
    }
    const Expr *limit = expr_binary(d->cx, EXPR_FLOORDIV, linear_expr(d->cx, &c->rest), number(d, factor));
    limit = tidy(d, expr_mul(d->cx, expr_unary(d->cx, EXPR_NEG, limit), lowest->coef));
    l->from = tidy(d, expr_binary(d->cx, EXPR_MAX, l->from, limit));
    return true;
}

/* Sorts the digits by coefficient. Coefficients are negative in a cut from above. A shifted tail follows the digits
 * below its step. */
static void sort_cut(const Dense *d, Cut *c)
{
    for (int i = 1; i < c->count; i++)
        for (int j = i; j > 0; j--) {
            const int64_t step = d->digit[c->digit[j]].step, before = d->digit[c->digit[j - 1]].step, coef = c->coef[j];
            const int digit = c->digit[j];
            if (sat_mul(coef, step ? step : 1) <= sat_mul(c->coef[j - 1], before ? before : 1)) break;
            c->coef[j] = c->coef[j - 1];
            c->digit[j] = c->digit[j - 1];
            c->coef[j - 1] = coef;
            c->digit[j - 1] = digit;
        }
}

/* Applies a cut from above: -sum of q_j * digit_j + rest >= 0 over a mixed radix merges the digits into one of rest /
 * q_0 + 1 values. */
static bool cut_end(Dense *d, Cut *c)
{
    int line = d->digit[c->digit[0]].line;
    LinearIndex *l = &d->line[line];
    if (l->is_sorted || is_counted(d, line) || d->digit_count == MAX_DIGITS) return false;
    sort_cut(d, c);
    const Digit *lowest = &d->digit[c->digit[0]];
    const Expr *full = number(d, 1), *size = number(d, -c->coef[0]);
    for (int i = 0; i < c->count; i++) {
        Digit *g = &d->digit[c->digit[i]];
        if (g->line != line || c->coef[i] % c->coef[0]) return false;
        if (!same(d, product(d, g->coef, size), product(d, lowest->coef, number(d, -c->coef[i])))) return false;
        full = grow(d, g, full, number(d, c->coef[i] / c->coef[0]));
        if (!full || (g->step && !reaches_end(d, g))) return false;
    }
    const Expr *values = expr_add(d->cx, expr_binary(d->cx, EXPR_FLOORDIV, linear_expr(d->cx, &c->rest), size),
                                  number(d, 1));
    values = tidy(d, expr_binary(d->cx, EXPR_MAX, expr_binary(d->cx, EXPR_MIN, full, values), number(d, 0)));
    d->digit[d->digit_count] = (Digit){ NULL, -1, line, NULL, values, lowest->coef, -1, 0, 0, NULL, false };
    int kept = 0;
    for (int i = 0; i < l->count; i++) {
        bool is_part = false;
        for (int j = 0; j < c->count; j++) is_part = is_part || c->digit[j] == l->digit[i];
        if (!is_part) l->digit[kept++] = l->digit[i];
    }
    for (int i = 0; i < c->count; i++) {
        d->digit[c->digit[i]].merged = d->digit_count;
        d->digit[c->digit[i]].part = c->coef[i] / c->coef[0];
    }
    l->digit[kept++] = d->digit_count++;
    l->count = kept;
    return true;
}

static bool open_cut(Dense *d, const Linear *fact, Cut *c)
{
    *c = (Cut){ .rest = { .type = I32, .constant = fact->constant } };
    for (int i = 0; i < fact->count; i++) {
        Linear one = { .type = I32, .count = 1, .term = { fact->term[i] }, .coef = { fact->coef[i] } };
        if (uses_own(d, fact->term[i])) {
            if (!cut_add_term(d, c, fact->term[i], fact->coef[i]))
                return refuse(d, "the guard does not cut a digit:", fact->term[i]);
        } else if (!linear_add(&c->rest, &one, 1)) return false;
    }
    if (!strip_full_digits(d, c)) return refuse(d, "the guard cuts across the digits of", fact->term[0]);
    return cut_merge(d, c) || refuse(d, "the guard bounds a part of a sum that another guard bounds:", fact->term[0]);
}

static bool apply_cut(Dense *d, const Linear *fact)
{
    Cut c;
    if (!open_cut(d, fact, &c)) return false;
    if (c.count == 0) return cut_all(d, &c.rest) || refuse(d, "the guard cuts no axis", NULL);
    if (c.coef[0] < 0 ? cut_end(d, &c) : cut_begin(d, &c)) return true;
    return refuse(d, "the guard cuts across the digits of", fact->term[0]);
}

/* Orders the cuts. Cuts of sums come first, because their digits are counted by the number of the sum's points. Then
 * cuts from above come before cuts from below, and shorter cuts before longer ones. */
static int cut_rank(const Dense *d, const Linear *fact)
{
    int own = 0, of_lines = 0, rank;
    bool is_above = true;
    for (int i = 0; i < fact->count; i++) {
        if (!uses_own(d, fact->term[i])) continue;
        bool of_sum = false;
        for (int g = 0; g < d->digit_count; g++)
            of_sum = of_sum || (d->digit[g].term == fact->term[i] && d->line[d->digit[g].line].is_virtual);
        own++;
        of_lines += !of_sum;
        is_above = is_above && fact->coef[i] < 0;
    }
    rank = own + (of_lines ? 2 * MAX_TERMS : 0) + (is_above ? 0 : MAX_TERMS);
    return own ? rank : 8 * MAX_TERMS;
}

static bool is_mirrored(const Dense *d, const Expr *loop)
{
    for (int g = 0; g < d->digit_count; g++)
        if (d->digit[g].is_mirrored && d->source[d->digit[g].source].number == loop) return true;
    return false;
}

/* Applies v < R + 1 for a single loop v: shortens its extent. */
static bool cut_loop(Dense *d, const Linear *fact)
{
    int at = -1;
    Linear rest = *fact;
    for (int i = 0; i < fact->count; i++) {
        if (!uses_own(d, fact->term[i])) continue;
        if (at >= 0 || fact->term[i]->kind != EXPR_VAR || fact->coef[i] != -1) return false;
        at = i;
    }
    if (at < 0 || is_mirrored(d, fact->term[at])) return false;
    linear_drop(&rest, at);
    Source *source = &d->source[source_of(d, fact->term[at])];
    const Expr *extent = expr_binary(d->cx, EXPR_MIN, source->extent,
                                     expr_add(d->cx, linear_expr(d->cx, &rest), number(d, 1)));
    source->extent = tidy(d, expr_binary(d->cx, EXPR_MAX, extent, number(d, 0)));
    return true;
}

static bool apply_cuts(Dense *d)
{
    for (int i = 0; i < d->cut_count; i++) d->is_done[i] = cut_loop(d, &d->cut[i]);
    for (int round = 0; round < d->cut_count; round++) {
        int best = -1;
        for (int i = 0; i < d->cut_count; i++)
            if (!d->is_done[i] && (best < 0 || cut_rank(d, &d->cut[i]) < cut_rank(d, &d->cut[best]))) best = i;
        if (best < 0) break;
        d->is_done[best] = true;
        if (!apply_cut(d, &d->cut[best])) return false;
    }
    return true;
}

/* Applies a guard that is not a comparison of integers: it holds for all points or for none. */
static bool apply_condition(Dense *d, const Expr *guard)
{
    if (uses_own(d, guard)) return refuse(d, "the guard is not a comparison of sums:", guard);
    if (d->line_count == 0 || !sort_line(d, 0))
        return refuse(d, "the guard cuts no axis", NULL);
    LinearIndex *l = &d->line[0];
    l->end = expr_select(d->cx, guard, l->end ? l->end : l->total, number(d, 0));
    return true;
}

typedef struct Guards { int condition_count; const Expr *condition[MAX_CUTS]; } Guards;

static bool read_guard(Dense *d, const Expr *guard, Guards *others)
{
    if (!guard || ranges_prove(&d->inside, guard)) return true;
    if (guard->kind == EXPR_AND) return read_guard(d, guard->arg[0], others) && read_guard(d, guard->arg[1], others);
    if (others->condition_count == MAX_CUTS || d->cut_count + 2 > MAX_CUTS)
        return refuse(d, "there are too many conditions at", guard);
    bool compares = guard->kind == EXPR_LT || guard->kind == EXPR_LE || guard->kind == EXPR_EQ;
    if (!compares || !dtype_is_integer(guard->arg[0]->type)) {
        others->condition[others->condition_count++] = guard;
        return true;
    }
    Linear more, less;
    if (!ranges_linear(&d->inside, guard->arg[1], &more) || !ranges_linear(&d->inside, guard->arg[0], &less))
        return false;
    for (int side = 0; side < 1 + (guard->kind == EXPR_EQ); side++) {
        Linear *cut = &d->cut[d->cut_count++];
        *cut = side ? less : more;
        if (!linear_add(cut, side ? &more : &less, -1)) return refuse(d, "there are too many terms in", guard);
        cut->constant = sat_add(cut->constant, guard->kind == EXPR_LT ? -1 : 0);
    }
    return true;
}

static bool apply_guard(Dense *d, const Expr *guard)
{
    Guards others = { 0 };
    if (!read_guard(d, guard ? ranges_simplify(&d->inside, guard) : NULL, &others) || !apply_cuts(d)) return false;
    for (int i = 0; i < others.condition_count; i++)
        if (!apply_condition(d, others.condition[i])) return false;
    return true;
}

/* ---- The question ---------------------------------------------------------------------------------------------- */

static bool box_of_line(Dense *d, int line, Box *out)
{
    LinearIndex *l = &d->line[line];
    out->begin = tidy(d, expr_add(d->cx, linear_expr(d->cx, &l->base), l->from));
    out->count = cut_total(d, l);
    return true;
}

static bool loops_used_up(Dense *d)
{
    for (int s = 0; s < d->source_count; s++) {
        if (d->source[s].is_shifted) continue;
        if (!d->source[s].is_used && same(d, source_extent(d, s), number(d, 1))) continue;
        if (!d->source[s].is_used)
            return refuse(d, "the same points are reached more than once by the loop", d->source[s].number);
        if (!is_used_up(d, s)) return false;
    }
    return true;
}

/* Replaces an extent min(a, b), where b uses own loops, by a and the guard v < b. */
static const Expr *free_extent(Dense *d, const Expr *var, const Expr *extent, const Expr **guard)
{
    while (extent->kind == EXPR_MIN && uses_own(d, extent)) {
        int side = uses_own(d, extent->arg[0]);
        const Expr *below = expr_binary(d->cx, EXPR_LT, var, extent->arg[!side]);
        *guard = *guard ? expr_and(d->cx, *guard, below) : below;
        extent = extent->arg[side];
    }
    return extent;
}

static bool dense_lines(Dense *d, const Expr *const *bind, int bind_count, const Expr *guard, Box *out)
{
    int line[MAX_LINES];
    for (int b = 0; b < bind_count; b++) {
        /* A loop of at most one pass is not replaced by its only index, because it may have no pass. */
        const Expr *index = bind[b]->kind == EXPR_VAR ? bind[b] : ranges_simplify(&d->inside, bind[b]);
        line[b] = new_line(d, index, false);
        if (line[b] < 0) return refuse(d, "the index is too long", NULL);
    }
    if (!apply_guard(d, guard)) return false;
    for (int l = 0; l < d->line_count; l++)
        if (!sort_line(d, l)) return false;
    if (!loops_used_up(d)) return false;
    for (int b = 0; b < bind_count; b++)
        if (!box_of_line(d, line[b], &out[b])) return false;
    return true;
}

bool repeats_has(const Repeats *r, const Expr *loop)
{
    for (int i = 0; i < r->count; i++)
        if (r->loop[i] == loop) return true;
    return false;
}

bool dense(Ctx *cx, const Expr *const *bind, int bind_count, const Expr *guard, const Bounds *scope,
           const Expr *const *own, const Expr *const *own_extent, int own_count, Box *out, Repeats *repeats,
           const char **why)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    /* In scratch memory, because the structure has 30 KB. */
    Dense *d = NEW(cx->scratch, Dense);
    d->cx = cx, d->own = own, d->own_count = own_count, d->may_repeat = repeats != NULL;
    const Bounds *inside = scope;
    for (int i = 0; i < own_count && i < MAX_SOURCES; i++) {
        const Expr *extent = free_extent(d, own[i], own_extent[i], &guard);
        if (uses_own(d, extent)) refuse(d, "the extent varies with other loops of the stage:", own[i]);
        d->source[d->source_count++] = (Source){ own[i], extent, -1, false, false };
        inside = bounds_var(cx, inside, own[i], extent);
    }
    if (own_count > MAX_SOURCES || bind_count > MAX_LINES / 2) refuse(d, "there are too many loops", NULL);
    d->inside = ranges_new(cx, inside);
    d->outside = ranges_new(cx, bounds_without(cx, scope, own, own_count));
    bool is_dense = !d->why && dense_lines(d, bind, bind_count, guard, out) && !d->why;
    ranges_free(&d->outside);
    ranges_free(&d->inside);
    if (repeats) *repeats = d->repeats;
    *why = is_dense ? NULL : d->why ? d->why : "the index is too long";
    arena_reset(cx->scratch, mark);
    return is_dense;
}
