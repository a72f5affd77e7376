/* SPDX-License-Identifier: MIT */
/* Defines einsum, a sum of products by letters, "ij,jk->ik": y[i,k] = sum(j) x0[i,j] * x1[j,k].
 *
 *   Letters absent from the result are reduction axes.
 *   An ellipsis is all dimensions without a letter. Such dimensions get capital letters, aligned to the right.
 *   Ellipsis dimensions and unit dimensions broadcast.
 *   Without an arrow, the result has the ellipsis dimensions, then the letters that occur once, alphabetically. */
#include "graph/dag/index_map.h"
#include "graph/dag/op_build.h"

#include <string.h>

typedef struct EinsumTerm { char letter[MAX_RANK]; int count; } EinsumTerm;
typedef struct Equation {
    EinsumTerm in[8], out;
    int in_count, points;            /* points: largest rank of an ellipsis */
    const Expr *size[128];           /* the size of each letter, or NULL if the letter is unused */
    int uses[128];
} Equation;

static bool refuse(Ctx *cx, const Node *n)
{
    Text shapes = text_new(cx);
    for (int i = 0; i < n->in_count; i++) text_printf(&shapes, "%s%s", i ? ", " : "", tensor_shape_text(cx, n->in[i]));
    op_refuse(cx, n,
              "'equation' is \"%s\", the inputs %s; use a letter for each dimension, equal sizes or 1 for a letter, "
              "and results of distinct letters from the inputs",
              node_text(n, "equation", ""), text_string(&shapes));
    return false;
}

/* Reads one term: lower-case letters unchanged, an ellipsis as `points` capital letters up to Z. `rank` is -1 for the
 * result. */
static bool read_term(const char **at, int rank, int points, EinsumTerm *t)
{
    const char *p = *at;
    int letters = 0;
    for (const char *q = p; *q && *q != ',' && *q != '-'; q++) letters += *q != '.';
    if (rank >= 0) points = rank - letters;
    for (; *p && *p != ',' && *p != '-'; p++) {
        bool is_points = strncmp(p, "...", 3) == 0;
        if (is_points ? points < 0 : *p < 'a' || *p > 'z') return false;
        if (t->count + (is_points ? points : 1) > MAX_RANK) return false;
        for (int i = 0; is_points && i < points; i++) t->letter[t->count++] = (char)('Z' - points + 1 + i);
        if (is_points) p += 2;
        else t->letter[t->count++] = *p;
    }
    *at = p;
    return rank < 0 || t->count == rank;
}

static bool read_sizes(const Node *n, Equation *e)
{
    for (int i = 0; i < e->in_count; i++)
        for (int d = 0; d < e->in[i].count; d++) {
            int c = e->in[i].letter[d];
            const Expr *size = n->in[i]->shape[d],
                       *known = e->size[c] && !expr_is_int(e->size[c], 1) ? e->size[c] : NULL;
            if (expr_is_int(size, 0) || (known && !expr_is_int(size, 1) && known != size)) return false;
            e->size[c] = known ? known : size;
            e->uses[c]++;
        }
    return true;
}

static void implicit_result(Equation *e)
{
    for (int c = 'A'; c <= 'z'; c++)
        if (e->size[c] && (c <= 'Z' || e->uses[c] == 1) && e->out.count < MAX_RANK)
            e->out.letter[e->out.count++] = (char)c;
}

static bool read_equation(Ctx *cx, const Node *n, Equation *e)
{
    const char *p = node_text(n, "equation", "");
    int points = 0;
    for (bool more = true; more; more = *p == ',' && p++) {
        if (e->in_count >= n->in_count || e->in_count == 8) return refuse(cx, n);
        EinsumTerm *t = &e->in[e->in_count];
        if (!read_term(&p, n->in[e->in_count++]->rank, 0, t)) return refuse(cx, n);
        int own = 0;
        for (int d = 0; d < t->count; d++) own += t->letter[d] <= 'Z';
        points = own > points ? own : points;
    }
    if (e->in_count != n->in_count || !read_sizes(n, e)) return refuse(cx, n);
    if (!*p) implicit_result(e);
    else {
        if (strncmp(p, "->", 2) != 0) return refuse(cx, n);
        p += 2;
        if (!read_term(&p, -1, points, &e->out) || *p) return refuse(cx, n);
    }
    for (int d = 0; d < e->out.count; d++)
        for (int b = 0; b <= d; b++)
            if (!e->size[(int)e->out.letter[d]] || (b < d && e->out.letter[b] == e->out.letter[d]))
                return refuse(cx, n);
    return true;
}

/* Reads an operand at the variables of its letters, and its unit dimensions at 0. */
static const Expr *read_term_of(Ctx *cx, const EinsumTerm *t, const Tensor *x, const Expr *const *var)
{
    const Expr *at[MAX_RANK];
    for (int d = 0; d < t->count; d++)
        at[d] = tensor_dim(x, d) == 1 ? expr_index(cx, 0) : var[(int)t->letter[d]];
    return tensor_read(cx, x, at, x->rank);
}

static int einsum(Ctx *cx, const Node *n, Tensor **out)
{
    Equation e = { 0 };
    if (!op_same_type(cx, n) || !read_equation(cx, n, &e)) return 0;
    IndexMap m = { .cx = cx, .call = n };
    const Expr *var[128] = { NULL }, *product = NULL;
    bool sums = false;
    for (int d = 0; d < e.out.count; d++) {
        const char c = e.out.letter[d];
        var[(int)c] = index_axis(&m, c, e.size[(int)c]);
        e.uses[(int)c] = 0;
    }
    for (int c = 'A'; c <= 'z'; c++)       /* operands read a unit dimension at 0, so no loop is needed */
        if (e.uses[c] && !expr_is_int(e.size[c], 1)) {
            var[c] = index_tap(&m, (const char[]){ (char)c, '\0' }, e.size[c]);
            sums = true;
        }
    for (int i = 0; i < e.in_count; i++) {
        const Expr *term = read_term_of(cx, &e.in[i], n->in[i], var);
        product = product ? expr_mul(cx, product, term) : term;
    }
    out[0] = sums ? index_reduced(&m, REDUCE_SUM, product) : index_result(&m, product);
    return out[0] ? 1 : 0;
}

static const AttrRow attrs[] = {
    { "equation", ATTR_TEXT, "the letters of the inputs' dimensions and of the result's: ij,jk->ik", NULL }, { 0 }
};
static const OpCase cases[] = {
    { "equation=ij,jk->ik", "f32[2][3] f32[3][4]", "f32[2][4]", NULL },
    { "equation=bij,bjk", "f32[2][2][3] f32[2][3][4]", "f32[2][4]", NULL },
    { "equation=...ii->...i", "f32[2][3][3]", "f32[2][3]", NULL },
    { "equation=i,i", "f32[5] f32[5]", "f32", NULL },
    { "equation=bi,bj->ij", "f32[1][3] f32[1][4]", "f32[3][4]", NULL },
    { "equation=b->", "f32[1]", "f32", NULL },
    { "equation=bi,bij,cj->i", "f32[1][3] f32[1][3][2] f32[1][2]", "f32[3]", NULL },
    { "equation=ij->ji", "i32[2][3]", "i32[3][2]", NULL },
    { "equation=...ij,...jk->...ik", "f32[2][1][2][3] f32[4][3][2]", "f32[2][4][2][2]", NULL },
    { "equation=ij,jk->iz", "f32[2][3] f32[3][4]", NULL, "results of distinct letters from the inputs" },
    { "equation=ij,jk->ik", "f32[2][3] f32[2][4]", NULL, "the inputs [2][3], [2][4]; use a letter for each dimension" },
    { "equation=ij->ii", "f32[2][2]", NULL, "results of distinct letters" },
    { 0 }
};

const Op ops_einsum[] = {
    { .name = "einsum", .summary = "a sum of products by letters: ij,jk->ik is y[i,k] = sum(j) x0[i,j] * x1[j,k]",
      .level = 11, .least_inputs = 1, .most_inputs = 8, .inputs = "x0 x1 x2 x3 x4 x5 x6 x7", .attr = attrs,
      .meaning.compute = einsum, .fusion.pattern = PATTERN_OUT_FUSABLE, .cases = cases },
    { 0 }
};
