/* SPDX-License-Identifier: MIT */
/* Both questions against enumeration, on random forms of splits, fusions and guards, with small extents. If `dense`
 * calls a set a box, each of its points is visited once. The interval of `reach` holds every value. A list of forms
 * must be provable, so refusing everything fails. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/algebra/algebra.h"
#include "ir/text/formula.h"

enum { MAX_LOOPS = 8, MAX_BINDS = 4, LIMIT = 64 };

typedef struct Form {
    int loops; const Expr *var[MAX_LOOPS], *extent[MAX_LOOPS];
    bool is_own[MAX_LOOPS];
    int binds; const Expr *bind[MAX_BINDS];
    const Expr *guard;
} Form;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
static int below(uint32_t *state, int n) { return (int)(next_random(state) % (uint32_t)n); }

/* ---- Enumeration ----------------------------------------------------------------------------------------------- */

typedef struct Values { const Form *form; int64_t at[MAX_LOOPS]; } Values;

/* A plain walk over the tree, apart from everything the library does; index arithmetic needs few kinds. */
static int64_t value_of(const Values *v, const Expr *e)
{
    int64_t a[3] = { 0 };
    if (e->kind == EXPR_INT) return e->integer;
    for (int l = 0; l < v->form->loops; l++)
        if (v->form->var[l] == e) return v->at[l];
    for (int i = 0; i < e->arg_count && i < 3; i++) a[i] = value_of(v, e->arg[i]);
    int64_t q = a[1] ? a[0] / a[1] - (a[0] % a[1] != 0 && (a[0] < 0) != (a[1] < 0)) : 0;
    switch (e->kind) {
    case EXPR_ADD: return a[0] + a[1];
    case EXPR_SUB: return a[0] - a[1];
    case EXPR_MUL: return a[0] * a[1];
    case EXPR_NEG: return -a[0];
    case EXPR_FLOORDIV: return q;
    case EXPR_FLOORMOD: return a[1] ? a[0] - q * a[1] : 0;
    case EXPR_MIN: return a[0] < a[1] ? a[0] : a[1];
    case EXPR_MAX: return a[0] > a[1] ? a[0] : a[1];
    case EXPR_LT: return a[0] < a[1];
    case EXPR_LE: return a[0] <= a[1];
    case EXPR_EQ: return a[0] == a[1];
    case EXPR_NE: return a[0] != a[1];
    case EXPR_AND: return a[0] && a[1];
    case EXPR_OR: return a[0] || a[1];
    case EXPR_SELECT: return a[0] ? a[1] : a[2];
    default: fprintf(stderr, "no value for kind %d\n", (int)e->kind); exit(1);
    }
}

typedef bool PointVisit(const Values *v, void *user);

/* Visits the points of the own loops (or of the others) from `at` on; false from a visit stops. */
static bool each_point(Values *v, int at, bool own, PointVisit *visit, void *user)
{
    if (at == v->form->loops) return visit(v, user);
    if (v->form->is_own[at] != own) return each_point(v, at + 1, own, visit, user);
    int64_t extent = value_of(v, v->form->extent[at]);
    const Var *var = expr_as_var(v->form->var[at]);
    for (v->at[at] = var->role == VAR_SIZE ? var->least : 0; v->at[at] < extent; v->at[at]++)
        if (!each_point(v, at + 1, own, visit, user)) return false;
    return true;
}

typedef struct Counts {
    const Box *box;
    bool may_repeat;
    int64_t begin[MAX_BINDS], count[MAX_BINDS];
    unsigned char *visits;
    bool outside;
} Counts;

static int64_t volume(const Counts *c, int binds)
{
    int64_t n = 1;
    for (int b = 0; b < binds; b++) n *= c->count[b];
    return n;
}

static bool count_point(const Values *v, void *user)
{
    Counts *c = user;
    int64_t at = 0;
    if (v->form->guard && !value_of(v, v->form->guard)) return true;
    for (int b = 0; b < v->form->binds; b++) {
        int64_t i = value_of(v, v->form->bind[b]) - c->begin[b];
        if (i < 0 || i >= c->count[b]) { c->outside = true; return false; }
        at = at * c->count[b] + i;
    }
    if (c->visits[at] < 255) c->visits[at]++;
    return true;
}

/* For one setting of the other loops. */
static bool box_is_right(const Values *outer, void *user)
{
    Counts *c = user;
    Values v = *outer;
    for (int b = 0; b < v.form->binds; b++) {
        c->begin[b] = value_of(&v, c->box[b].begin);
        c->count[b] = value_of(&v, c->box[b].count);
        if (c->count[b] < 0 || c->count[b] > 4096) return false;
    }
    int64_t n = volume(c, v.form->binds);
    c->visits = calloc((size_t)n + 1, 1);
    c->outside = false;
    each_point(&v, 0, true, count_point, c);
    bool right = !c->outside;
    for (int64_t i = 0; right && i < n; i++) right = c->may_repeat ? c->visits[i] >= 1 : c->visits[i] == 1;
    free(c->visits);
    return right;
}

/* True if it is a box for one setting of the other loops, independently of `dense`. */
static bool note_extremes(const Values *v, void *user)
{
    Counts *c = user;
    if (v->form->guard && !value_of(v, v->form->guard)) return true;
    for (int b = 0; b < v->form->binds; b++) {
        int64_t i = value_of(v, v->form->bind[b]);
        if (i < c->begin[b]) c->begin[b] = i;
        if (i > c->count[b]) c->count[b] = i;
    }
    return true;
}

static bool is_box(const Values *outer, void *user)
{
    Counts *c = user;
    Values v = *outer;
    for (int b = 0; b < v.form->binds; b++) { c->begin[b] = INT64_MAX; c->count[b] = INT64_MIN; }
    each_point(&v, 0, true, note_extremes, c);
    for (int b = 0; b < v.form->binds; b++) c->count[b] = c->count[b] < c->begin[b] ? 0 : c->count[b] - c->begin[b] + 1;
    int64_t n = volume(c, v.form->binds);
    c->visits = calloc((size_t)n + 1, 1);
    c->outside = false;
    each_point(&v, 0, true, count_point, c);
    bool right = !c->outside;
    for (int64_t i = 0; right && i < n; i++) right = c->visits[i] == 1;
    free(c->visits);
    return right;
}

static int own_loops(const Form *f, const Expr **var, const Expr **extent)
{
    int n = 0;
    for (int l = 0; l < f->loops; l++)
        if (f->is_own[l]) { var[n] = f->var[l]; extent[n++] = f->extent[l]; }
    return n;
}

static const Bounds *scope_of(Ctx *cx, const Form *f, bool with_guard)
{
    const Bounds *scope = NULL;
    for (int l = 0; l < f->loops; l++) scope = bounds_var(cx, scope, f->var[l], f->extent[l]);
    return with_guard ? bounds_fact(cx, scope, f->guard) : scope;
}

typedef enum Answer { REFUSED, RIGHT, FALSE_CLAIM } Answer;

static Answer try_dense(Ctx *cx, const Form *f, bool allow_repeats, const char **why)
{
    const Expr *var[MAX_LOOPS], *extent[MAX_LOOPS];
    Repeats repeats = { 0 };
    Box box[MAX_BINDS];
    int n = own_loops(f, var, extent);
    if (!dense(cx, f->bind, f->binds, f->guard, scope_of(cx, f, false), var, extent, n, box,
               allow_repeats ? &repeats : NULL, why))
        return REFUSED;
    Counts c = { .box = box, .may_repeat = repeats.count > 0 };
    Values v = { .form = f };
    return each_point(&v, 0, false, box_is_right, &c) ? RIGHT : FALSE_CLAIM;
}

/* ---- Reach ----------------------------------------------------------------------------------------------------- */

typedef struct Ends { const Expr *index; const Reach *reach; int64_t low, high; bool tight; bool any; } Ends;

static bool is_between(const Values *v, void *user)
{
    Ends *e = user;
    if (v->form->guard && !value_of(v, v->form->guard)) return true;
    int64_t i = value_of(v, e->index);
    e->any = true;
    if (i < value_of(v, e->reach->low) || i > value_of(v, e->reach->high)) return false;
    if (i < e->low) e->low = i;
    if (i > e->high) e->high = i;
    return true;
}

static bool ends_are_right(const Values *outer, void *user)
{
    Ends *e = user;
    Values v = *outer;
    e->low = INT64_MAX;
    e->high = INT64_MIN;
    e->any = false;
    if (!each_point(&v, 0, true, is_between, e)) return false;
    if (e->any && (value_of(&v, e->reach->low) != e->low || value_of(&v, e->reach->high) != e->high)) e->tight = false;
    return true;
}

static Answer try_reach(Ctx *cx, const Form *f, const Expr *index, bool *tight)
{
    const Expr *var[MAX_LOOPS], *extent[MAX_LOOPS];
    Reach r;
    const char *why;
    int n = own_loops(f, var, extent);
    if (!reach(cx, index, scope_of(cx, f, true), var, n, &r, &why)) return REFUSED;
    Ends e = { index, &r, 0, 0, true, false };
    Values v = { .form = f };
    bool right = each_point(&v, 0, false, ends_are_right, &e);
    *tight = e.tight;
    return right ? RIGHT : FALSE_CLAIM;
}

/* ---- Random forms ---------------------------------------------------------------------------------------------- */

static const Expr *num(Ctx *cx, int64_t v) { return expr_index(cx, v); }

static const Expr *new_loop(Ctx *cx, Form *f, const char *name, const Expr *extent, bool own)
{
    int l = f->loops++;
    f->var[l] = expr_new_var(cx, name, VAR_LOOP, I32, 0, INT32_MAX);
    f->extent[l] = extent;
    f->is_own[l] = own;
    return f->var[l];
}

static void add_guard(Ctx *cx, Form *f, const Expr *g) { f->guard = f->guard ? expr_and(cx, f->guard, g) : g; }

static void replace(Ctx *cx, Form *f, int loop, const Expr *by)
{
    const Expr *old = f->var[loop];
    for (int b = 0; b < f->binds; b++) f->bind[b] = expr_substitute(cx, f->bind[b], &old, &by, 1);
    if (f->guard) f->guard = expr_substitute(cx, f->guard, &old, &by, 1);
    for (int l = 0; l < f->loops; l++) f->extent[l] = expr_substitute(cx, f->extent[l], &old, &by, 1);
    for (int l = loop + 1; l < f->loops; l++) {
        f->var[l - 1] = f->var[l];
        f->extent[l - 1] = f->extent[l];
        f->is_own[l - 1] = f->is_own[l];
    }
    f->loops--;
}

static void split(Ctx *cx, Form *f, int loop, int64_t factor)
{
    const Expr *old = f->var[loop], *extent = f->extent[loop], *by = num(cx, factor);
    bool own = f->is_own[loop];
    if (f->loops + 2 > MAX_LOOPS) return;
    const Expr *rounded = simplify(cx, expr_binary(cx, EXPR_FLOORDIV, expr_add(cx, extent, num(cx, factor - 1)), by),
                                   NULL);
    const Expr *outer = new_loop(cx, f, "o", rounded, own), *inner = new_loop(cx, f, "i", by, own);
    const Expr *sum = expr_add(cx, expr_mul(cx, outer, by), inner);
    if (extent->kind != EXPR_INT || extent->integer % factor) add_guard(cx, f, expr_binary(cx, EXPR_LT, old, extent));
    replace(cx, f, loop, sum);
}

static void fuse(Ctx *cx, Form *f, int a, int b)
{
    if (a == b || f->is_own[a] != f->is_own[b] || f->extent[a]->kind != EXPR_INT || f->extent[b]->kind != EXPR_INT
        || f->loops + 1 > MAX_LOOPS)
        return;
    const Expr *width = f->extent[b], *both = new_loop(cx, f, "f", expr_mul(cx, f->extent[a], width), f->is_own[a]);
    replace(cx, f, a, expr_binary(cx, EXPR_FLOORDIV, both, width));
    replace(cx, f, b > a ? b - 1 : b, expr_binary(cx, EXPR_FLOORMOD, both, width));
}

static Form random_form(Ctx *cx, uint32_t *s)
{
    Form f = { 0 };
    f.binds = 1 + below(s, 3);
    for (int b = 0; b < f.binds; b++) f.bind[b] = new_loop(cx, &f, "a", num(cx, 1 + below(s, 7)), true);
    int steps = below(s, 5);
    for (int i = 0; i < steps; i++) {
        int l = below(s, f.loops);
        if (below(s, 3)) split(cx, &f, l, 1 + below(s, 4));
        else fuse(cx, &f, l, below(s, f.loops));
    }
    if (below(s, 3) == 0) {                     /* a host with a base, cut where the hull overshoots */
        const Expr *host = new_loop(cx, &f, "host", num(cx, 1 + below(s, 5)), false);
        int b = below(s, f.binds);
        f.bind[b] = expr_add(cx, expr_mul(cx, host, num(cx, 1 + below(s, 3))), f.bind[b]);
        if (below(s, 2)) add_guard(cx, &f, expr_binary(cx, EXPR_LT, f.bind[b], num(cx, 2 + below(s, 9))));
        if (below(s, 4) == 0) add_guard(cx, &f, expr_binary(cx, EXPR_LE, num(cx, below(s, 3)), f.bind[b]));
    }
    if (below(s, 4) == 0) f.is_own[below(s, f.loops)] = false;
    if (below(s, 6) == 0) {                     /* mostly wrong on purpose */
        int b = below(s, f.binds);
        const Expr *more = f.var[below(s, f.loops)];
        if (below(s, 2)) f.bind[b] = expr_add(cx, f.bind[b], more);
        else f.bind[b] = expr_binary(cx, EXPR_FLOORDIV, f.bind[b], num(cx, 2));
    }
    if (below(s, 8) == 0)
        add_guard(cx, &f, expr_binary(cx, EXPR_LT, f.var[below(s, f.loops)], num(cx, 1 + below(s, 4))));
    return f;
}

static void print_form(Ctx *cx, const Form *f)
{
    Text t = text_new(cx);
    for (int b = 0; b < f->binds; b++) { print_expr(&t, f->bind[b]); text_add(&t, b + 1 < f->binds ? ", " : ""); }
    if (f->guard) { text_add(&t, "  if  "); print_expr(&t, f->guard); }
    for (int l = 0; l < f->loops; l++) {
        text_printf(&t, "  %s%s<", f->is_own[l] ? "" : "host ", expr_as_var(f->var[l])->name);
        print_expr(&t, f->extent[l]);
    }
    printf("# %s\n", text_string(&t));
}

static void random_forms(void)
{
    uint32_t seed = 20240501;
    int wrong = 0, proved = 0, refused = 0, missed = 0, reached = 0, tight = 0, unreached = 0;
    for (int round = 0; round < 100; round++) {
        Ctx *cx = context_new(NULL, NULL);
        for (int i = 0; i < 50; i++) {
            Form f = random_form(cx, &seed);
            const char *why;
            Answer a = try_dense(cx, &f, false, &why);
            proved += a == RIGHT;
            refused += a == REFUSED;
            Counts c = { 0 };
            Values v = { .form = &f };
            if (a == REFUSED && each_point(&v, 0, false, is_box, &c)) {
                missed++;
                if (getenv("SHOW_MISSED")) { printf("# missed: %s\n", why); print_form(cx, &f); }
            }
            if (a == FALSE_CLAIM && wrong++ < 5) { printf("# false: "); print_form(cx, &f); }
            for (int b = 0; b < f.binds; b++) {
                bool is_tight = false;
                Answer r = try_reach(
                    cx, &f,
                    expr_add(cx, expr_mul(cx, f.bind[b], num(cx, 1 + below(&seed, 3))), f.bind[below(&seed, f.binds)]),
                    &is_tight);
                reached += r == RIGHT;
                unreached += r == REFUSED;
                tight += is_tight;
                if (r == REFUSED && getenv("SHOW_MISSED")) { printf("# unreached\n"); print_form(cx, &f); }
                if (r == FALSE_CLAIM && wrong++ < 5) print_form(cx, &f);
            }
        }
        ctx_free(cx);
    }
    printf("# dense: %d proved, %d refused, %d of these are boxes; reach: %d given, %d of them tight, %d refused\n",
           proved, refused, missed, reached, tight, unreached);
    CHECK("dense-and-reach-never-claim-what-is-false", wrong == 0);
    CHECK("dense-proves-most-random-forms", proved > 2500);
    CHECK("reach-bounds-every-random-form", unreached == 0 && tight > reached / 2);
}

/* ---- Forms that must be provable ------------------------------------------------------------------------------- */

/* "name<extent" of the loops, hosts after '@'; binds and guard as text. */
typedef struct Known {
    const char *name, *loops, *binds, *guard, *box;
    bool repeats;
} KnownForm;

static const KnownForm dense_forms[] = {
    { "dense-plain", "h<5 w<7", "h, w", NULL, "0+5, 0+7", false },
    { "dense-split", "ho<3 hi<4", "ho*4 + hi", NULL, "0+12", false },
    { "dense-split-order", "hi<4 ho<3", "ho*4 + hi", NULL, "0+12", false },
    { "dense-split-guard", "ho<3 hi<4", "ho*4 + hi", "ho*4 + hi < 10", "0+10", false },
    { "dense-split-thrice-guard", "a<2 b<2 c<4", "(a*2 + b)*4 + c", "a*2 + b < 3 && (a*2 + b)*4 + c < 10", "0+10",
      false },
    { "dense-fuse", "f<15", "f / 5, f % 5", NULL, "0+3, 0+5", false },
    { "dense-fuse-three", "f<60", "f / 20, (f / 5) % 4, f % 5", NULL, "0+3, 0+4, 0+5", false },
    { "dense-fuse-split", "fo<4 fi<4", "(fo*4 + fi) / 5, (fo*4 + fi) % 5", "fo*4 + fi < 15", "0+3, 0+5", false },
    { "dense-fuse-split-even", "fo<5 fi<4", "(fo*4 + fi) / 5, (fo*4 + fi) % 5", NULL, "0+4, 0+5", false },
    { "dense-fuse-split-aligned", "fo<3 fi<4", "(fo*4 + fi) / 2, (fo*4 + fi) % 2", "fo*4 + fi < 10", "0+5, 0+2",
      false },
    { "dense-host-base", "@y<6 i<3", "y*2 + i", NULL, "y*2+3", false },
    { "dense-host-cut", "@y<6 i<3", "y*2 + i", "y*2 + i < 12", "y*2+min(3, 12 - y*2)", false },
    { "dense-host-cut-both", "@y<6 i<3", "y*2 - 1 + i", "0 <= y*2 - 1 + i && y*2 - 1 + i < 11", NULL, false },
    { "dense-host-without-loop", "@ho<3 @hi<4 w<5", "ho*4 + hi, w", "ho*4 + hi < 10", NULL, false },
    { "dense-two-guards", "ho<2 hi<4 wo<2 wi<8", "ho*4 + hi, wo*8 + wi", "ho*4 + hi < 7 && wo*8 + wi < 9", "0+7, 0+9",
      false },
    { "dense-peeled-remainder", "hi<2", "hi + 8", NULL, "8+2", false },
    { "dense-triangular-split", "ho<3 hi<min(4, 10 - ho*4)", "ho*4 + hi", NULL, "0+10", false },
    { "dense-shifted-tail", "o<3 i<4", "min(o*4, 6) + i", NULL, "0+10", true },
    { "dense-host-of-conv", "@y<5 @x<3 i<4 c<8", "y + 2, x*4 + i, c", "x*4 + i < 11", NULL, false },
    { "dense-unit-loops", "u<1 h<5", "h + u", NULL, "0+5", false },
    { "dense-symbolic-fuse", "n=6 f<5*n", "f / n, f % n", NULL, "0+5, 0+n", false },
    { "dense-symbolic-split", "n=6 o<(n + 3) / 4 i<4", "o*4 + i", "o*4 + i < n", "0+n", false },
    { "dense-symbolic-product", "n=6 i<5 j<n", "i*n + j", NULL, "0+5*n", false },
    { "dense-falling", "h<5", "4 - h", NULL, "0+5", false },
};
static const KnownForm refused_forms[] = {
    { "dense-refuses-overlap", "ho<3 hi<4", "ho*3 + hi", NULL, NULL, false },
    { "dense-refuses-gap", "ho<3 hi<3", "ho*4 + hi", NULL, NULL, false },
    { "dense-refuses-lost-digit", "f<16", "f / 4", NULL, NULL, false },
    { "dense-refuses-unused-loop", "h<5 u<2", "h", NULL, NULL, false },
    { "dense-refuses-guard-across", "h<5 w<5", "h, w", "h + w < 7", NULL, false },
    { "dense-refuses-partial-row", "f<13", "f / 5, f % 5", NULL, NULL, false },
    { "dense-refuses-guarded-low-digit", "ho<3 hi<4", "ho*4 + hi", "hi < 3", NULL, false },
    { "dense-refuses-digit-twice", "h<5", "h, h", NULL, NULL, false },
    { "dense-refuses-shifted-too-far", "o<3 i<4", "min(o*5, 6) + i", NULL, NULL, false },
};

/* Sizes `n=6` are hosts that the enumeration runs over [1, 6). */
static Form known_form(Ctx *cx, const KnownForm *k, Bind *binds)
{
    Form f = { 0 };
    char text[128];
    int known = 0;
    strcpy(text, k->loops);
    char *pieces[16], *save = text;
    int piece_count = 0;
    while (*save) {                       /* parts end at a blank before a loop's name and '<' or '=' */
        pieces[piece_count++] = save;
        char *end = save + 1;
        for (;; end++) {
            if (!*end) break;
            if (*end != ' ') continue;
            char *p = end + 1;
            if (*p == '@') p++;
            while ((*p >= 'a' && *p <= 'z')) p++;
            if (p > end + 1 && (*p == '<' || *p == '=')) break;
        }
        save = *end ? end + 1 : end;
        *end = 0;
    }
    for (int i = 0; i < piece_count; i++) {
        char *p = pieces[i], *op = strpbrk(p, "<=");
        bool host = *p == '@' || *op == '=', size = *op == '=';
        if (*p == '@') p++;
        *op = 0;
        binds[known] = (Bind){ NULL, NULL, NULL };
        const Expr *extent = size ? num(cx, atoi(op + 1)) : expr_read(cx, op + 1, binds, I32);
        const Expr *v = new_loop(cx, &f, p, extent, !host);
        if (size) {
            f.var[f.loops - 1] = v = expr_new_var(cx, p, VAR_SIZE, I32, 1, atoi(op + 1) - 1);
        }
        binds[known++] = (Bind){ expr_as_var(v)->name, NULL, v };
    }
    binds[known] = (Bind){ NULL, NULL, NULL };
    strcpy(text, k->binds);
    for (char *p = text; p;) {
        int depth = 0;
        char *end = p;
        for (; *end && (*end != ',' || depth); end++) depth += (*end == '(') - (*end == ')');
        char *next = *end ? end + 1 : NULL;
        *end = 0;
        f.bind[f.binds++] = expr_read(cx, p, binds, I32);
        p = next;
    }
    f.guard = k->guard ? expr_read(cx, k->guard, binds, I32) : NULL;
    return f;
}

static bool box_reads(Ctx *cx, const KnownForm *k, const Form *f, const Bind *binds)
{
    const Expr *var[MAX_LOOPS], *extent[MAX_LOOPS];
    Repeats repeats;
    Box box[MAX_BINDS];
    const char *why;
    char text[128];
    if (!k->box) return true;
    int n = own_loops(f, var, extent);
    if (!dense(cx, f->bind, f->binds, f->guard, scope_of(cx, f, false), var, extent, n, box,
               k->repeats ? &repeats : NULL, &why))
        return false;
    strcpy(text, k->box);
    char *p = text;
    for (int b = 0; b < f->binds; b++) {
        char *plus = strchr(p, '+'), *end = plus;
        int depth = 0;
        for (; *end && (*end != ',' || depth); end++) depth += (*end == '(') - (*end == ')');
        char *next = *end ? end + 1 : end;
        *end = *plus = 0;
        bool same = provably_equal(cx, box[b].begin, expr_read(cx, p, binds, I32), scope_of(cx, f, false))
                 && provably_equal(cx, box[b].count, expr_read(cx, plus + 1, binds, I32), scope_of(cx, f, false));
        if (!same) return false;
        p = next;
    }
    return true;
}

static void known_forms(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Bind binds[MAX_LOOPS + 1];
    const char *why = NULL;
    for (size_t i = 0; i < sizeof dense_forms / sizeof *dense_forms; i++) {
        const KnownForm *k = &dense_forms[i];
        Form f = known_form(cx, k, binds);
        Answer a = try_dense(cx, &f, k->repeats, &why);
        check_that(a == RIGHT, check_label(k->name, "is-a-box"), "%s",
                   a == REFUSED ? why : "visits disagree with the box");
        if (a == RIGHT && !box_reads(cx, k, &f, binds))
            check_that(false, check_label(k->name, "is-a-box"), "the box is not %s", k->box);
    }
    for (size_t i = 0; i < sizeof refused_forms / sizeof *refused_forms; i++) {
        Form f = known_form(cx, &refused_forms[i], binds);
        why = NULL;
        Answer a = try_dense(cx, &f, true, &why);
        check_that(a == REFUSED && why, refused_forms[i].name, "accepted, or without a reason");
    }
    CHECK("forms-read-without-errors", !ctx_failed(cx));
    ctx_free(cx);
}

typedef struct KnownReach { const char *name, *loops, *index, *fact, *low, *high; } KnownReach;
static const KnownReach reaches[] = {
    { "reach-window", "@y<9 i<3", "y*2 + i", NULL, "y*2", "y*2 + 2" },
    { "reach-negative", "@y<9 i<3", "y - i", NULL, "y - 2", "y" },
    { "reach-padded-window", "@y<9 i<3", "y + i - 1", "0 <= y + i - 1 && y + i - 1 < 9", "max(y - 1, 0)",
      "min(y + 1, 8)" },
    { "reach-guarded-split", "@o<3 i<4", "o*4 + i", "o*4 + i < 10", "o*4", "min(o*4 + 3, 9)" },
    { "reach-guarded-split-inner", "o<3 i<4", "o*4 + i", "o*4 + i < 10", "0", "9" },
    { "reach-quotient", "f<15", "f / 5", NULL, "0", "2" },
    { "reach-remainder", "f<15", "f % 5", NULL, "0", "4" },
    { "reach-clamp", "@y<9 i<3", "min(max(y + i - 1, 0), 8)", NULL, "max(y - 1, 0)", "min(y + 1, 8)" },
    { "reach-symbolic", "n=6 @y<n i<3", "y + i", "y + i < n", "y", "min(y + 2, n - 1)" },
    { "reach-triangular", "n=6 o<(n + 3) / 4 i<min(4, n - o*4)", "o*4 + i", NULL, "0", "n - 1" },
    { "reach-product", "n=6 i<5 @j<n", "i*n + j", NULL, "j", "4*n + j" },
};

static void known_reaches(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Bind binds[MAX_LOOPS + 1];
    for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++) {
        const KnownReach *k = &reaches[i];
        KnownForm as_form = { k->name, k->loops, k->index, k->fact, NULL, false };
        Form f = known_form(cx, &as_form, binds);
        const Expr *var[MAX_LOOPS], *extent[MAX_LOOPS];
        const char *why = NULL;
        Reach r;
        int n = own_loops(&f, var, extent);
        bool given = reach(cx, f.bind[0], scope_of(cx, &f, true), var, n, &r, &why);
        if (!check_that(given, check_label(k->name, "is-bounded"), "%s", why ? why : "")) continue;
        const Bounds *outside = bounds_without(cx, scope_of(cx, &f, true), var, n);
        bool same = provably_equal(cx, r.low, expr_read(cx, k->low, binds, I32), outside)
                 && provably_equal(cx, r.high, expr_read(cx, k->high, binds, I32), outside);
        if (same) continue;
        Text t = text_new(cx);
        print_expr(&t, r.low);
        text_add(&t, " .. ");
        print_expr(&t, r.high);
        check_that(false, check_label(k->name, "is-bounded"), "%s", text_string(&t));
    }
    CHECK("reaches-read-without-errors", !ctx_failed(cx));
    ctx_free(cx);
}

int main(void)
{
    CHECK_RUN(known_forms, known_reaches, random_forms);
    return check_done();
}
