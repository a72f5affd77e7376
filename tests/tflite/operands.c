/* SPDX-License-Identifier: MIT */
/* Operands of random cases: shapes, quantization, values, and walking through them. */
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int elements(const Operand *x)
{
    int n = 1;
    for (int d = 0; d < x->rank; d++) n *= x->dim[d];
    return n;
}

double *values_new(Case *c, int count)
{
    if (count < 0 || c->used + count > MOST_VALUES) {
        printf("not ok %s: a case of more than %d values\n", c->op->name, MOST_VALUES);
        exit(1);
    }
    double *v = c->pool + c->used;
    c->used += count;
    return v;
}

static Operand *add(Case *c, Operand *list, int *count, ElementType t, int rank, const int *dim)
{
    Operand *x = &list[(*count)++];
    *x = (Operand){ .type = t, .rank = rank };
    for (int d = 0; d < rank; d++) x->dim[d] = dim[d];
    x->v = values_new(c, elements(x));
    return x;
}

Operand *add_input(Case *c, ElementType t, int rank, const int *dim)
{
    return add(c, c->in, &c->in_count, t, rank, dim);
}
Operand *add_output(Case *c, ElementType t, int rank, const int *dim)
{
    return add(c, c->out, &c->out_count, t, rank, dim);
}

void copy_quant(Operand *to, const Operand *from)
{
    to->scales = from->scales;
    to->zero = from->zero;
    to->axis = from->axis;
    for (int i = 0; i < from->scales; i++) to->scale[i] = from->scale[i];
}

Operand *add_like(Case *c, const Operand *x, int rank, const int *dim)
{
    Operand *y = add_output(c, x->type, rank, dim);
    copy_quant(y, x);
    return y;
}

Operand *add_ints(Case *c, int rank, int count, const int *v)
{
    Operand *x = add_input(c, TYPE_I32, rank, rank == 2 ? (const int[]){ count / 2, 2 } : &count);
    for (int i = 0; i < count; i++) x->v[i] = v[i];
    x->is_constant = true;
    return x;
}

/* ---- Random ------------------------------------------------------------------------------------------------------ */

static uint32_t draw(Random *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33);
}

int between(Random *r, int least, int greatest) { return least + (int)(draw(r) % (uint32_t)(greatest - least + 1)); }
bool chance(Random *r, int percent) { return between(r, 0, 99) < percent; }
static double uniform(Random *r, double least, double greatest)
{
    return least + (greatest - least) * draw(r) / 2147483648.0;
}
float scale_between(Random *r, double least, double greatest)
{
    return (float)exp(uniform(r, log(least), log(greatest)));
}

int shape_any(Random *r, int least_rank, int most_rank, int most, int *dim)
{
    int rank = between(r, least_rank, most_rank);
    for (int d = 0; d < rank; d++) dim[d] = between(r, 1, most);
    return rank;
}

void quant_set(Operand *x, float scale, int zero)
{
    x->scales = 1;
    x->scale[0] = scale;
    x->zero = zero;
}

void quant_any(Random *r, Operand *x)
{
    const int zero = chance(r, 10) ? (chance(r, 50) ? -128 : 127) : between(r, -128, 127);
    quant_set(x, scale_between(r, 0.002, 0.2), x->type == TYPE_U8 ? zero + 128 : zero);
}

bool is_stored(const Operand *x) { return x->type == TYPE_I8 || x->type == TYPE_I16; }

void make_sixteen(Case *c, Random *r)
{
    for (int i = 0; i < c->in_count + c->out_count; i++) {
        Operand *x = i < c->in_count ? &c->in[i] : &c->out[i - c->in_count];
        if (x->type != TYPE_I8 || !x->scales || x->is_constant) continue;
        x->type = TYPE_I16;
        x->zero = 0;
        for (int k = 0; k < elements(x) && i < c->in_count; k++)
            x->v[k] = chance(r, 5) ? (chance(r, 50) ? -32768 : 32767) : between(r, -32768, 32767);
    }
}

bool make_unsigned(Case *c)
{
    bool any = false;
    for (int i = 0; i < c->in_count + c->out_count; i++) {
        Operand *x = i < c->in_count ? &c->in[i] : &c->out[i - c->in_count];
        if (x->scales > 1 || x->type == TYPE_I4 || x->type == TYPE_I16) return false;
        if (x->type != TYPE_I8 || !x->scales || x->is_absent) continue;
        x->type = TYPE_U8;
        x->zero += 128;
        for (int k = 0; k < elements(x); k++) x->v[k] += 128;
        any = true;
    }
    return any;
}

void fill_any(Random *r, Operand *x)
{
    for (int i = 0, n = elements(x); i < n; i++) switch (x->type) {
        case TYPE_I8:   x->v[i] = chance(r, 10) ? (chance(r, 50) ? -128 : 127) : between(r, -128, 127); break;
        case TYPE_U8:   x->v[i] = chance(r, 10) ? (chance(r, 50) ? 0 : 255) : between(r, 0, 255); break;
        case TYPE_I4:   x->v[i] = between(r, -8, 7); break;
        case TYPE_BOOL: x->v[i] = between(r, 0, 1); break;
        case TYPE_F32:  x->v[i] = between(r, -40, 40) * 0.5; break;
        default:        x->v[i] = between(r, -50, 50);
        }
}

void fill_real(Random *r, Operand *x, double least, double greatest)
{
    for (int i = 0, n = elements(x); i < n; i++) x->v[i] = (double)(float)uniform(r, least, greatest);
}

/* ---- Walking ----------------------------------------------------------------------------------------------------- */

bool next_index(int rank, const int *dim, int *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < dim[d]) return true;
        index[d] = 0;
    }
    return false;
}

int place_of(const Operand *x, const int *index)
{
    int at = 0;
    for (int d = 0; d < x->rank; d++) at = at * x->dim[d] + index[d];
    return at;
}

int broadcast_place(const Operand *x, int rank, const int *index)
{
    int at = 0;
    for (int d = 0; d < x->rank; d++) at = at * x->dim[d] + (x->dim[d] == 1 ? 0 : index[d + rank - x->rank]);
    return at;
}
