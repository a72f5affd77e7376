/* SPDX-License-Identifier: MIT */
/* Counts lowered code. Each statement has a number of runs, the product of the trip counts around it. A bound or a
 * condition that depends on outer loops is averaged over their iterations:
 *
 *   for h < 4: for h2 = min(h * 2, 2) .. 5: S        runs of S: 4 * (5 + 3 + 3 + 3) / 4
 *
 * An element that several statements of one loop body load counts once, as C compilers keep it in a register.
 *
 * If the C compiler vectorizes statements (the row LANES), the count begins at stores to adjacent floats, whose values
 * are sums and products: `y[c] = acc_0 + b[c]`, `y[c+1] = acc_1 + b[c+1]`. The scalars of these stores then become
 * lanes of a vector in every statement that stores to them; scalars copied to them do as well. Stores that may alias
 * the operands are not joined, nor are sums under a guard of their own.
 *
 * Traffic is counted in the same walk. A load is counted at the place where the C compiler executes it: outside the
 * innermost loops that its index does not depend on, if no store in them changes its memory. The operands of a macro
 * are counted by the macro's row; without a row, each element is counted once per use.
 *
 * If the core's compiler vectorizes loops (the row LOOP_LANES), the count treats an innermost loop of stores to
 * consecutive floats as vectors: one iteration computes one vector. No other iteration may read the stored floats. If
 * the C compiler unrolls short loops (the row UNROLLED), the copies of the body share loads and need no counter. */
#include "lower/count.h"

#include <math.h>

#include "ir/nest/external.h"

enum { MOST_SAMPLES = 32,            /* the iterations of a loop that are sampled for an average */
       MOST_VALUES = 512, MAX_CONJUNCTS = 32 };
static const double DATA_SHARE = 0.5;    /* the share of the executions in which a condition on data holds */

/* runs counts the executions of the loop's body; trips is used in a macro's portable form */
typedef struct Level { const Code *loop; int64_t value; bool is_used; double runs, trips; } Level;
/* Loads of a loop's body, and of a branch in it, whose outer loads were executed before it. */
typedef struct Loads { Map map; const struct Loads *outer; } Loads;
typedef struct Counting {
    Ctx *cx;
    const Costs *costs;
    int depth; Level at[MAX_DEPTH];
    int let_count; const Code *let[MOST_VALUES];
    /* The lanes of vectors that the C compiler forms from adjacent statements; 1 without vectors. */
    double lanes;
    Map in_vector;                   /* the stores of vectors, and the scalars that are their lanes */
    Map guarded;                     /* scalars that are stored under a condition */
    Map broadcast;                   /* loads that several lanes share */
    bool is_worst;                   /* for the most that any data make it execute */
    bool is_unbounded;               /* true if a loop has no maximum */
    bool is_by_data;                 /* true if data decide the last average */
    bool has_rectified;              /* the costs have rows for products with rectified numbers */
    Map rectified;                   /* memories of which half the elements are zeros */
    const Function *function;
    /* The number of vectors in the loop body so far whose address needs its own register. */
    double far;
    bool in_lane;                    /* true if the statement is a lane of a vector */
    bool in_loop_vector;             /* true if an iteration computes a vector, by rows with an entry for vectors */
    Loads loaded;                    /* the loads of the innermost loop body so far */
    Map guarded_load;                /* the loads of that body under a condition */
    double repeated;                 /* the instructions of the address of such a load when it is executed again */
    int guards;                      /* the conditions around the statement, within its innermost loop */
    double sum;
    /* The bytes of each parameter, and last of local arrays; NULL if they are not counted. */
    double *read, *written;
    double runs;                     /* the runs of the statement */
} Counting;

/* ---- Values over the loops --------------------------------------------------------------------------------------- */

static const Code *let_of(const Counting *c, const Expr *var)
{
    for (int i = c->let_count - 1; i >= 0; i--)
        if (c->let[i]->var == var) return c->let[i];
    return NULL;
}

static Level *level_of(Counting *c, const Expr *var)
{
    for (int d = 0; d < c->depth; d++)
        if (c->at[d].loop->var == var) return &c->at[d];
    return NULL;
}

/* Sets *known to false if the value depends on data. */
static Scalar value_of(Counting *c, const Expr *e, bool *known)
{
    Scalar v[3] = { { .i = 0 }, { .i = 0 }, { .i = 0 } };
    const Var *var = expr_as_var(e);
    if (expr_is_const(e)) return expr_scalar(e);
    if (var) {
        const Code *let = let_of(c, e);
        const Level *level = level_of(c, e);
        return let ? value_of(c, let->value, known) : (Scalar){ .i = level ? level->value : var->greatest };
    }
    *known = *known && e->kind != EXPR_LOAD && e->arg_count > 0 && e->arg_count <= 3;
    if (!*known) return v[0];
    for (int i = 0; i < e->arg_count; i++) v[i] = value_of(c, e->arg[i], known);
    return scalar_apply(e->kind, e->type, e->arg[e->arg_count - 1]->type, v);
}

static void mark_used(Counting *c, const Expr *e)
{
    const Code *let = expr_as_var(e) ? let_of(c, e) : NULL;
    Level *level = expr_as_var(e) && !let ? level_of(c, e) : NULL;
    if (let) mark_used(c, let->value);
    if (level && !level->is_used) {
        level->is_used = true;
        mark_used(c, level->loop->begin);
        mark_used(c, level->loop->end);
    }
    for (int i = 0; i < e->arg_count; i++) mark_used(c, e->arg[i]);
}

/* The averaged value: the trip count of a loop, or the truth of a condition. */
typedef struct Average { const Code *loop; const Expr *cond; int64_t count; double sum; bool known; } Average;

static int64_t trips_of(Counting *c, const Code *loop, bool *known)
{
    const int64_t begin = value_of(c, loop->begin, known).i, end = value_of(c, loop->end, known).i;
    return *known && end > begin ? (end - begin + loop->step - 1) / loop->step : 0;
}

static void sample(Counting *c, int depth, Average *a)
{
    while (depth < c->depth && !c->at[depth].is_used) depth++;
    if (depth == c->depth) {
        a->count++;
        a->sum += a->loop ? (double)trips_of(c, a->loop, &a->known) : value_of(c, a->cond, &a->known).i != 0;
        return;
    }
    Level *l = &c->at[depth];
    const int64_t begin = value_of(c, l->loop->begin, &a->known).i, trips = trips_of(c, l->loop, &a->known),
                  stride = trips / MOST_SAMPLES + 1;
    for (int64_t i = 0; i < trips && a->known; i += stride) {
        l->value = begin + i * l->loop->step;
        sample(c, depth + 1, a);
    }
}

static bool uses_marked(Counting *c, const Expr *e)
{
    const Code *let = expr_as_var(e) ? let_of(c, e) : NULL;
    const Level *level = expr_as_var(e) && !let ? level_of(c, e) : NULL;
    bool uses = let ? uses_marked(c, let->value) : level && level->is_used;
    for (int i = 0; i < e->arg_count && !uses; i++) uses = uses_marked(c, e->arg[i]);
    return uses;
}

/* Marks the loops whose trip counts depend on marked loops. Where such a loop has no iteration, nothing inside is
 * executed. */
static void mark_weights(Counting *c)
{
    for (int d = 0; d < c->depth; d++) {
        const Code *loop = c->at[d].loop;
        if (!c->at[d].is_used && (uses_marked(c, loop->begin) || uses_marked(c, loop->end))) mark_used(c, loop->var);
    }
}

static double average(Counting *c, const Code *loop, const Expr *cond, double otherwise)
{
    Average a = { .loop = loop, .cond = cond, .known = true };
    for (int d = 0; d < c->depth; d++) c->at[d].is_used = false;
    if (cond) mark_used(c, cond);
    if (loop) mark_used(c, loop->begin);
    if (loop) mark_used(c, loop->end);
    if (c->read) mark_weights(c);
    sample(c, 0, &a);
    c->is_by_data = !a.known;
    return a.known && a.count ? a.sum / (double)a.count : otherwise;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static double cost(const Counting *c, CostKind k) { return cost_find(c->costs, k)->each; }

static bool is_float(const Expr *e) { return e->type == F32 || e->type == F16 || e->type == BF16; }

/* Returns true for a division whose reciprocal is exact, which compilers multiply by. */
static bool divides_by_power_of_two(const Expr *e)
{
    int exponent;
    return e->kind == EXPR_DIV && expr_is_const(e->arg[1]) && fabs(frexp(expr_scalar(e->arg[1]).f, &exponent)) == 0.5;
}

/* Returns the memory that a pointer points into. */
static const Memory *origin(const Memory *m) { return m->base ? m->base : m; }

/* Returns true if half of the values are zeros: max(x, 0), or a copy of such values. */
static bool is_rectified(const Counting *c, const Expr *e)
{
    const Memory *m = e->kind == EXPR_LOAD ? e->ref : NULL;
    if (m) return map_get_const_ptr(&c->rectified, origin(m)) || (m->tensor && m->tensor->is_rectified);
    if (e->kind == EXPR_RUNTIME) return is_rectified(c, e->arg[0]);
    if (e->kind == EXPR_MAX && e->type == F32)
        for (int i = 0; i < 2; i++)
            if (expr_is_const(e->arg[i]) && expr_scalar(e->arg[i]).f == 0) return true;
    const int first = e->kind == EXPR_SELECT ? 1 : e->kind == EXPR_MIN || e->kind == EXPR_MAX ? 0 : e->arg_count;
    for (int i = first; i < e->arg_count; i++)
        if (is_rectified(c, e->arg[i])) return true;
    return false;
}

/* Marks the memories to which such values are stored. Returns true if it marked one more. */
static bool find_rectified(Counting *c, const Code *s)
{
    bool found = false;
    if (s->kind == CODE_STORE && s->value->type == F32 && is_rectified(c, s->value)) {
        const Memory *m = origin(s->memory);
        found = m->kind != MEMORY_SCALAR && !map_get_const_ptr(&c->rectified, m);
        if (found) map_put_const_ptr(&c->rectified, m, m);
    }
    for (int i = 0; i < s->child_count; i++) found = find_rectified(c, s->child[i]) || found;
    return found;
}

/* Returns the first operand that is a product, or NULL. */
static const Expr *product_in(const Expr *sum)
{
    return sum->arg[0]->kind == EXPR_MUL ? sum->arg[0] : sum->arg[1]->kind == EXPR_MUL ? sum->arg[1] : NULL;
}

/* Returns true for a product with such values, and for its sum, because software arithmetic needs fewer instructions
 * for zeros. */
static bool multiplies_zeros(const Counting *c, const Expr *e)
{
    const Expr *product = e->kind == EXPR_MUL ? e : e->arg_count == 2 ? product_in(e) : NULL;
    return product && (is_rectified(c, product->arg[0]) || is_rectified(c, product->arg[1]));
}

static CostKind float_kind(const Counting *c, const Expr *e)
{
    const ExprKind k = e->kind;
    const bool is_product = k == EXPR_MUL || divides_by_power_of_two(e), is_sum = k == EXPR_ADD || k == EXPR_SUB;
    const bool has_zeros = c->has_rectified && (is_product || is_sum) && multiplies_zeros(c, e);
    if (is_product) return has_zeros ? COST_F32_MUL_RECTIFIED : COST_F32_MUL;
    if (is_sum) return has_zeros ? COST_F32_ADD_RECTIFIED : COST_F32_ADD;
    if (k == EXPR_DIV) return COST_F32_DIV;
    if (k >= EXPR_LT && k <= EXPR_NE) return COST_F32_COMPARE;
    return k == EXPR_CAST && !is_float(e) ? COST_F32_TO_INTEGER : cost_of_float(k);
}

static CostKind integer_kind(const Expr *e)
{
    const ExprKind k = e->kind;
    const bool adds_product = k == EXPR_ADD && product_in(e);
    if (k == EXPR_DIV || k == EXPR_FLOORDIV || k == EXPR_FLOORMOD) return COST_DIV;
    if (k == EXPR_CAST) return e->type == I64 || e->arg[0]->type == I64 ? COST_I64_CAST : COST_CAST;
    if (e->type == I64)
        return k == EXPR_MUL ? COST_I64_MUL : k == EXPR_SHR ? COST_I64_SHR : adds_product ? COST_I64_MLA : COST_I64;
    return adds_product ? COST_MLA : k == EXPR_MULHIGH ? COST_MULHIGH : k == EXPR_EXPQ ? COST_EXPQ
         : k == EXPR_RECIPQ ? COST_RECIPQ : COST_INTEGER;
}

/* Returns the additional instructions of an operation for the worst data, because its figures are averages: an
 * instruction that a choice skips for half of the data, and a quarter of a function whose paths depend on its
 * argument. */
static double by_worst_data(const Counting *c, const Expr *e, double each)
{
    const ExprKind k = e->kind;
    const bool chooses = k == EXPR_MIN || k == EXPR_MAX || k == EXPR_SELECT;
    const bool is_function = is_float(e) && float_kind(c, e) >= COST_F32_FMOD && float_kind(c, e) <= COST_F32_ATANH;
    return !c->is_worst ? 0 : chooses ? 1 : is_function ? each / 4 : 0;
}

/* Returns the instructions of one operation on computed operands. */
static double operation(const Counting *c, const Expr *e)
{
    if (!is_float(e) && !(e->arg_count && is_float(e->arg[0])))
        return cost(c, integer_kind(e)) + by_worst_data(c, e, 0);
    const Cost *row = cost_find(c->costs, float_kind(c, e));
    const double each = c->in_loop_vector && row->point > 0 ? row->point : row->each;
    return each + by_worst_data(c, e, each);
}

/* Returns true if the expression reads a number that is computed outside its loop. */
static bool has_let(const Counting *c, const Expr *e)
{
    bool has = expr_as_var(e) && let_of(c, e);
    for (int i = 0; i < e->arg_count && !has; i++) has = has_let(c, e->arg[i]);
    return has;
}

/* Returns true if the load was executed before; marks it. */
static bool is_loaded(Counting *c, const Expr *e)
{
    for (const Loads *l = &c->loaded; l; l = l->outer)
        if (map_get_const_ptr(&l->map, e)) return true;
    map_put_const_ptr(&c->loaded.map, e, e);
    return false;
}

/* ---- Traffic ----------------------------------------------------------------------------------------------------- */

/* Returns the index of a memory's counts. A parameter has its own counts. The counts after the parameters are for
 * arrays on the stack, and the last ones for arrays in declared memories. */
static int traffic_index(const Counting *c, const Memory *m)
{
    int i = 0;
    while (i < c->function->memory_count && c->function->memory[i] != m) i++;
    return i + (i == c->function->memory_count && scope_is_declared(m->scope));
}

static double element_bytes(const Memory *m) { return dtype_info(m->type)->bytes; }

/* Marks the loops that an access depends on, by its index and, through a pointer, by the pointer's. */
static void mark_access(Counting *c, const Memory *m, const Expr *index)
{
    for (int d = 0; d < c->depth; d++) c->at[d].is_used = false;
    mark_used(c, index);
    if (m->kind == MEMORY_POINTER) mark_used(c, m->offset);
}

/* Returns true if a C compiler may keep a loaded value of the memory while it writes other memory. */
static bool is_kept(const Counting *c, const Memory *m)
{
    return m->kind == MEMORY_LOCAL || m->kind == MEMORY_SCRATCH || function_is_apart(c->function, m);
}

static bool stores_to(const Code *s, const Memory *m)
{
    bool does = s->kind == CODE_STORE && origin(s->memory) == m;
    for (int i = 0; s->kind == CODE_CALL && i < s->arg_count && !does; i++) {
        const Expr *at = s->args[i]->kind == EXPR_AT ? s->args[i]->arg[0] : s->args[i];
        does = at->kind == EXPR_LOAD && origin(at->ref) == m;
    }
    for (int i = 0; i < s->child_count && !does; i++) does = stores_to(s->child[i], m);
    return does;
}

/* Returns the executions of a load. A load is executed once for all iterations of inner loops that change neither its
 * address nor its value. */
static double executions_of(Counting *c, const Expr *load)
{
    const Memory *m = load->ref;
    double runs = c->runs;
    mark_access(c, m, load->arg[0]);
    for (int d = c->depth - 1; d >= 0 && is_kept(c, origin(m)); d--) {
        if (c->at[d].is_used || stores_to(c->at[d].loop->child[0], origin(m))) break;
        const double inside = c->at[d].runs, outside = d ? c->at[d - 1].runs : 1;
        if (inside > outside) runs *= outside / inside;
    }
    return runs;
}

static int64_t step_of(Counting *c, const Expr *index, const Expr *var);

/* Returns the elements that an access has in an iteration that computes a vector. */
static double vector_elements(Counting *c, const Expr *index)
{
    return c->in_loop_vector && c->depth && step_of(c, index, c->at[c->depth - 1].loop->var) != 0
         ? cost(c, COST_LOOP_LANES) : 1;
}

/* Returns the share of the executions in which a condition holds, if traffic is counted: a load is executed only in the
 * selected arm. */
static double share_of(Counting *c, const Expr *cond) { return c->read ? average(c, NULL, cond, DATA_SHARE) : 1; }

static double arm_share(const Expr *e, int arm, double share)
{
    return e->kind != EXPR_SELECT || arm == SELECT_COND ? 1 : arm == SELECT_YES ? share : 1 - share;
}

static void note_read(Counting *c, const Expr *load)
{
    if (!c->read) return;
    const Memory *m = origin(load->ref);
    c->read[traffic_index(c, m)] += executions_of(c, load) * vector_elements(c, load->arg[0]) * element_bytes(m);
}

static void note_written(Counting *c, const Code *store)
{
    if (!c->written || store->memory->kind == MEMORY_SCALAR) return;
    const Memory *m = origin(store->memory);
    c->written[traffic_index(c, m)] += c->runs * vector_elements(c, store->index) * element_bytes(m);
}

static double divisions(const Counting *c, const Expr *e)
{
    double n = e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD ? cost(c, COST_DIV) : 0;
    for (int i = 0; i < e->arg_count; i++) n += divisions(c, e->arg[i]);
    return n;
}

static bool reads_memory(const Expr *e)
{
    bool reads = e->kind == EXPR_LOAD;
    for (int i = 0; i < e->arg_count && !reads; i++) reads = reads_memory(e->arg[i]);
    return reads;
}

/* Returns the constant term of an index. *rest is the remaining index, or NULL if the index is constant. */
static int64_t constant_of(const Expr *index, const Expr **rest)
{
    const bool is_sum = index->kind == EXPR_ADD && expr_is_const(index->arg[1]);
    *rest = is_sum ? index->arg[0] : expr_is_const(index) ? NULL : index;
    return is_sum ? expr_scalar(index->arg[1]).i : expr_is_const(index) ? expr_scalar(index).i : 0;
}

/* Returns the share of a lane in the address of a vector beyond an instruction's reach. */
static double far_address(Counting *c, const Expr *index)
{
    const Expr *rest;
    if (!c->in_lane || fabs((double)constant_of(index, &rest)) < cost(c, COST_LANE_REACH)) return 0;
    c->far += 1 / c->lanes;
    return cost(c, c->far <= cost(c, COST_FAR_VECTORS) ? COST_FAR_VECTOR : COST_SPILLED_VECTOR);
}

/* A load that lanes share counts fully in its first lane, together with its copy to all lanes. Sums over loop variables
 * in an index are part of the address; an index from data, such as a table's, is computed. A function of the runtime is
 * counted as the expression that it computes, which is its first operand and contains the others. */
static double operations(Counting *c, const Expr *e)
{
    if (expr_is_const(e) || expr_as_var(e)) return 0;
    if (e->kind == EXPR_LOAD) {
        const Memory *m = e->ref;
        if (m->kind == MEMORY_SCALAR || is_loaded(c, e)) return 0;
        note_read(c, e);
        const bool is_sum = c->guards && has_let(c, e->arg[0]);
        const double address = is_sum ? cost(c, COST_GUARDED_INDEX)
                             : map_get_const_ptr(&c->guarded_load, e) ? c->repeated : 0;
        const double times = map_get_const_ptr(&c->broadcast, e) ? 2 * c->lanes : 1;
        if (c->guards && c->repeated) map_put_const_ptr(&c->guarded_load, e, e);
        const double index = reads_memory(e->arg[0]) ? operations(c, e->arg[0]) : divisions(c, e->arg[0]);
        return times + address + far_address(c, e->arg[0]) + index;
    }
    if (e->kind == EXPR_RUNTIME) return operations(c, e->arg[0]);
    const double runs = c->runs, share = e->kind == EXPR_SELECT ? share_of(c, e->arg[SELECT_COND]) : 1;
    double n = operation(c, e);
    for (int i = 0; i < e->arg_count; i++) {
        c->runs = runs * arm_share(e, i, share);
        n += operations(c, e->arg[i]);
    }
    c->runs = runs;
    return n;
}

static void count(Counting *c, const Code *s, double runs);

/* ---- Vectors of adjacent statements ------------------------------------------------------------------------------ */

static bool is_next(const Code *s, const Code *before)
{
    const Expr *rest, *rest_before;
    if (s->memory != before->memory) return false;
    const int64_t at = constant_of(s->index, &rest), at_before = constant_of(before->index, &rest_before);
    return rest == rest_before && at == at_before + 1;
}

/* Returns true if the C compiler can derive that a store to one memory does not change the other. */
static bool are_apart(const Counting *c, const Memory *m, const Memory *to)
{
    return to->kind == MEMORY_LOCAL || m->kind == MEMORY_LOCAL || function_is_apart(c->function, to)
        || (m != to && function_is_apart(c->function, m));
}

/* Returns true for sums and products of floats that a store to `to` does not change. */
static bool is_vectorizable(const Counting *c, const Expr *e, const Memory *to)
{
    const Memory *m = e->kind == EXPR_LOAD ? e->ref : NULL;
    if (m && m->kind == MEMORY_SCALAR) return e->type == F32 && !map_get_const_ptr(&c->guarded, m);
    if (m) return e->type == F32 && are_apart(c, origin(m), to);
    if (expr_is_const(e)) return e->type == F32;
    if (e->kind != EXPR_ADD && e->kind != EXPR_SUB && e->kind != EXPR_MUL) return false;
    return is_vectorizable(c, e->arg[0], to) && is_vectorizable(c, e->arg[1], to);
}

static void mark_scalars(Counting *c, const Expr *e)
{
    const Memory *m = e->kind == EXPR_LOAD ? e->ref : NULL;
    if (m && m->kind == MEMORY_SCALAR) map_put_const_ptr(&c->in_vector, m, m);
    for (int i = 0; i < e->arg_count; i++) mark_scalars(c, e->arg[i]);
}

static bool begins_vector(const Counting *c, const Code *s)
{
    return s->kind == CODE_STORE && s->memory->kind != MEMORY_SCALAR
        && is_vectorizable(c, s->value, origin(s->memory));
}

/* Returns the scalars that are stored in a branch. */
static int scalars_in(const Code *s)
{
    int n = s->kind == CODE_STORE && s->memory->kind == MEMORY_SCALAR;
    for (int i = 0; i < s->child_count; i++) n += scalars_in(s->child[i]);
    return n;
}

/* Marks the scalars that are stored under a condition and are therefore not lanes of a vector. */
static void find_guarded(Counting *c, const Code *s, bool is_guarded)
{
    if (is_guarded && s->kind == CODE_STORE && s->memory->kind == MEMORY_SCALAR)
        map_put_const_ptr(&c->guarded, s->memory, s->memory);
    for (int i = 0; i < s->child_count; i++)
        find_guarded(c, s->child[i], is_guarded || (s->kind == CODE_IF && scalars_in(s->child[i]) < c->lanes));
}

static bool is_lane(const Counting *c, const Code *s)
{
    const void *key = s->memory && s->memory->kind == MEMORY_SCALAR ? (const void *)s->memory : s;
    return s->kind == CODE_STORE && map_get_const_ptr(&c->in_vector, key);
}

/* Marks the loads that two values have at the same position. */
static void mark_shared(Counting *c, const Expr *a, const Expr *b)
{
    if (a->kind == EXPR_LOAD && a == b) map_put_const_ptr(&c->broadcast, a, a);
    if (a->kind != b->kind || a->kind == EXPR_LOAD) return;
    for (int i = 0; i < a->arg_count && i < b->arg_count; i++) mark_shared(c, a->arg[i], b->arg[i]);
}

static void find_broadcasts(Counting *c, const Code *s)
{
    for (int i = 0; i < s->child_count; i++) {
        if (i > 0 && is_lane(c, s->child[i]) && is_lane(c, s->child[i - 1]))
            mark_shared(c, s->child[i]->value, s->child[i - 1]->value);
        find_broadcasts(c, s->child[i]);
    }
}

/* Finds runs of as many stores as a vector has lanes, and marks the scalars that they read. */
static void find_vectors(Counting *c, const Code *s)
{
    for (int i = 0, end; i < s->child_count; i = end) {
        end = i + 1;
        if (!begins_vector(c, s->child[i])) continue;
        while (end < s->child_count && begins_vector(c, s->child[end]) && is_next(s->child[end], s->child[end - 1]))
            end++;
        if (end - i < c->lanes) continue;
        for (int k = i; k < end; k++) {
            map_put_const_ptr(&c->in_vector, s->child[k], s->child[k]);
            mark_scalars(c, s->child[k]->value);
        }
    }
    for (int i = 0; i < s->child_count; i++) find_vectors(c, s->child[i]);
}

/* Marks the scalars that are copied to lanes, such as a sum that continues another sum. Returns true if it marked
 * some. */
static bool find_copied(Counting *c, const Code *s)
{
    const Memory *from = s->kind == CODE_STORE && s->value->kind == EXPR_LOAD ? s->value->ref : NULL;
    bool has = from && from->kind == MEMORY_SCALAR && is_lane(c, s) && !map_get_const_ptr(&c->in_vector, from)
        && is_vectorizable(c, s->value, s->memory);
    if (has) map_put_const_ptr(&c->in_vector, from, from);
    for (int i = 0; i < s->child_count; i++) has = find_copied(c, s->child[i]) || has;
    return has;
}

static double lane_share(const Counting *c, const Code *store) { return is_lane(c, store) ? 1 / c->lanes : 1; }

/* ---- Vectorized and unrolled loops ------------------------------------------------------------------------------- */

/* Returns the step by which an index advances with the variable, or -1 if the step is unknown. */
static int64_t step_of(Counting *c, const Expr *index, const Expr *var)
{
    Linear l;
    bool is_known = linear_of(c->cx, index, &l);
    for (int i = 0; is_known && i < l.count; i++) is_known = l.term[i] == var || !expr_uses(l.term[i], var);
    return is_known ? linear_coef(&l, var) : -1;
}

/* Returns true if only operations whose rows have an entry for vectors are vectorized. */
static bool has_vector_rows(const Counting *c) { return cost(c, COST_LOOP_ROWS) > 0; }

static bool has_vector_form(const Counting *c, const Expr *e)
{
    return !has_vector_rows(c) || cost_find(c->costs, float_kind(c, e))->point > 0;
}

/* Returns true if a value is computed from floats that are consecutive, or from floats that are equal in each
 * iteration. */
static bool is_vector_value(Counting *c, const Expr *e, const Expr *var)
{
    const Memory *m = e->kind == EXPR_LOAD ? e->ref : NULL;
    const int64_t step = !m ? 0 : m->kind == MEMORY_SCALAR ? 0 : step_of(c, e->arg[0], var);
    if (m) return e->type == F32 && (step == 0 || step == 1);
    bool is = expr_is_const(e) || expr_as_var(e)
        || ((e->type == F32 || e->type == BOOL) && has_vector_form(c, e));
    for (int i = 0; i < e->arg_count && is; i++) is = is_vector_value(c, e->arg[i], var);
    return is;
}

static bool is_vector_loop(Counting *c, const Code *loop, const Code *s)
{
    const bool is_store = s->kind == CODE_STORE && s->memory->kind != MEMORY_SCALAR && s->value->type == F32;
    const Memory *to = is_store ? origin(s->memory) : NULL;
    bool is = s->kind == CODE_SEQ || s->kind == CODE_SCOPE
              || (is_store && (to->kind == MEMORY_LOCAL || function_is_apart(c->function, to))
                  && step_of(c, s->index, loop->var) == 1 && is_vector_value(c, s->value, loop->var));
    for (int i = 0; i < s->child_count && is; i++) is = is_vector_loop(c, loop, s->child[i]);
    return is;
}

static bool has_loop_or_call(const Code *s)
{
    bool has = s->kind == CODE_FOR || s->kind == CODE_CALL;
    for (int i = 0; i < s->child_count && !has; i++) has = has_loop_or_call(s->child[i]);
    return has;
}

/* Returns true if the code declares a pointer that the variable decides. Such a pointer has no value for one
 * iteration. */
static bool declares_pointer(const Code *s, const Expr *var)
{
    bool does = s->kind == CODE_LOCAL && s->memory->kind == MEMORY_POINTER && expr_uses(s->memory->offset, var);
    for (int i = 0; i < s->child_count && !does; i++) does = declares_pointer(s->child[i], var);
    return does;
}

static double text_of(Counting *c, const Code *s);

/* Returns the iterations of a loop that is unrolled, or 0 if it stays a loop. */
static int64_t unrolled(Counting *c, const Code *s)
{
    const double most = cost(c, c->read ? COST_UNROLLED_LOADS : COST_UNROLLED);
    if (!most || s->loop_kind != LOOP_SERIAL || !expr_is_const(s->begin) || !expr_is_const(s->end)) return 0;
    const int64_t trips = (expr_scalar(s->end).i - expr_scalar(s->begin).i + s->step - 1) / s->step;
    if (trips < 1 || (double)trips > most || has_loop_or_call(s->child[0])) return 0;
    if (declares_pointer(s->child[0], s->var)) return 0;
    const Loads outer = c->loaded;
    c->loaded = (Loads){ map_new(c->cx->scratch), NULL };
    const double text = text_of(c, s->child[0]);
    c->loaded = outer;
    return text * (double)trips <= most ? trips : 0;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void count_copies(Counting *c, const Code *s, double runs, int64_t copies)
{
    const double repeated = c->repeated;
    c->repeated = 0;
    for (int64_t i = 0; i < copies; i++) {
        const Expr *value = expr_int(c->cx, s->var->type, expr_scalar(s->begin).i + i * s->step);
        const Code *copy = code_substitute(c->cx, s->child[0], s->var, value);
        if (copy) count(c, copy, runs);         /* a condition may exclude all of it */
    }
    c->repeated = repeated;
}

/* Returns the trip count of a loop: an average over outer loops, or for the worst case the maximum that data allow. */
static double trips_in(Counting *c, const Code *s)
{
    const double trips = average(c, s, NULL, 1);
    if (!c->is_worst || !c->is_by_data) return trips;
    const Interval end = interval_of(c->cx, s->end, NULL), begin = interval_of(c->cx, s->begin, NULL);
    c->is_unbounded = c->is_unbounded || end.greatest >= INT32_MAX;
    return (double)(sat_add(end.greatest, -begin.least) / s->step + 1);
}

static void count_loop(Counting *c, const Code *s, double runs)
{
    const Loads outer = c->loaded;
    const Map outer_guarded = c->guarded_load;
    const int guards = c->guards;
    const double far = c->far;
    const double lanes = cost(c, COST_LOOP_LANES);
    double trips = trips_in(c, s);
    const bool is_whole = !has_vector_rows(c) || fmod(trips, lanes) == 0;      /* the compiler adds no tail */
    const bool is_vector = lanes > 1 && s->loop_kind == LOOP_SERIAL && trips >= lanes && is_whole
        && is_vector_loop(c, s, s->child[0]);
    if (is_vector) trips /= lanes;
    c->guards = 0;
    c->far = 0;
    c->loaded = (Loads){ map_new(c->cx->scratch), NULL };
    c->guarded_load = map_new(c->cx->scratch);
    const int64_t copies = unrolled(c, s);
    if (copies) count_copies(c, s, runs * trips / (double)copies, copies);
    else if (s->loop_kind == LOOP_SERIAL) c->sum += runs * (trips * cost(c, COST_ITERATION) + cost(c, COST_LOOP));
    if (!copies && c->depth < MAX_DEPTH) {
        c->at[c->depth++] = (Level){ .loop = s, .runs = runs * trips };
        c->in_loop_vector = is_vector;
        count(c, s->child[0], runs * trips);
        c->in_loop_vector = false;
        c->depth--;
    }
    c->far = far;
    c->loaded = outer;
    c->guarded_load = outer_guarded;
    c->guards = guards;
}

/* Returns the expression that is compared with a constant, or the comparison itself if there is no constant. */
static const Expr *compared(const Expr *e)
{
    if (e->arg_count != 2) return e;
    return expr_is_const(e->arg[1]) ? e->arg[0] : expr_is_const(e->arg[0]) ? e->arg[1] : e;
}

/* Returns the instructions of a condition. Both bounds of a range cost one comparison, because 2 <= j && j < 42 is j -
 * 2 < 40 without signs. Sums over loop variables are induction variables. */
static double comparisons(const Counting *c, const Expr *cond)
{
    const Expr *part[MAX_CONJUNCTS];
    const int parts = conjuncts(cond, part, MAX_CONJUNCTS);
    int count = 0;
    for (int i = 0; i < parts; i++) {
        bool is_bound = false;
        for (int k = 0; k < i; k++) is_bound = is_bound || compared(part[k]) == compared(part[i]);
        count += !is_bound;
    }
    return cost(c, COST_GUARD) * count;
}

/* ---- Macros ------------------------------------------------------------------------------------------------------ */

/* Returns the executions of the statements of a macro's portable form. */
static double points_of(Counting *c, const Code *s)
{
    double points = s->kind == CODE_STORE;
    for (int i = 0; i < s->child_count; i++) points += points_of(c, s->child[i]);
    return s->kind == CODE_FOR ? points * average(c, s, NULL, 1) : points;
}

/* A macro whose portable form is walked: its first loop, and the loads that were counted. */
typedef struct MacroWalk { int outer; const Code *call; double points; Map loaded; } MacroWalk;

/* Returns the elements of an access of a macro that loads or stores each once: iterations of loops that the address
 * does not depend on share them. */
static double distinct_elements(Counting *c, const MacroWalk *w, const Memory *m, const Expr *index)
{
    double elements = c->runs;
    mark_access(c, m, index);
    for (int d = w->outer; d < c->depth; d++) {
        const double inside = c->at[d].runs, outside = d > w->outer ? c->at[d - 1].runs : inside / c->at[d].trips;
        if (!c->at[d].is_used && inside > outside) elements *= outside / inside;
    }
    return elements;
}

/* Returns the row for the operand of a macro that is stored in the memory, or NULL. Operands are numbered from 0, the
 * result. */
static const ReadRow *read_row(const Counting *c, const Code *call, const Memory *m)
{
    const CostKind macro = cost_of_macro(call->text);
    int operand = 0;
    for (int i = 0; i < call->arg_count; i++) {
        if (call->args[i]->kind != EXPR_AT) continue;
        if (origin(call->args[i]->arg[0]->ref) == m) break;
        operand++;
    }
    for (const Costs *costs = c->costs; costs; costs = costs->base)
        for (const ReadRow *r = costs->reads; r && r->bytes > 0; r++)
            if (r->operand == operand && r->macro == macro) return r;
    return NULL;
}

static void note_macro_value(Counting *c, MacroWalk *w, const Expr *e)
{
    const double runs = c->runs, share = e->kind == EXPR_SELECT ? share_of(c, e->arg[SELECT_COND]) : 1;
    const Memory *m = e->kind == EXPR_LOAD ? e->ref : NULL;
    if (m && m->kind != MEMORY_SCALAR && !map_get_const_ptr(&w->loaded, e)) {
        const ReadRow *row = read_row(c, w->call, origin(m));
        const double bytes = distinct_elements(c, w, m, e->arg[0]) * element_bytes(m);
        map_put_const_ptr(&w->loaded, e, e);
        c->read[traffic_index(c, origin(m))] += row ? w->points * row->bytes : bytes;
    }
    for (int i = 0; i < e->arg_count; i++) {
        c->runs = runs * arm_share(e, i, share);
        note_macro_value(c, w, e->arg[i]);
    }
    c->runs = runs;
}

static void note_macro(Counting *c, MacroWalk *w, const Code *s, double runs)
{
    const double trips = s->kind == CODE_FOR ? average(c, s, NULL, 1) : 1,
                 share = s->kind == CODE_IF ? share_of(c, s->cond) : 1;
    const double others = s->kind == CODE_IF ? 1 - share : 1;
    const int lets = c->let_count, depth = c->depth;
    if (s->kind == CODE_FOR && depth < MAX_DEPTH)
        c->at[c->depth++] = (Level){ .loop = s, .runs = runs * trips, .trips = trips };
    c->runs = runs;
    if (s->kind == CODE_STORE || s->kind == CODE_LET) note_macro_value(c, w, s->value);
    if (s->kind == CODE_LET && c->let_count < MOST_VALUES) c->let[c->let_count++] = s;
    if (s->kind == CODE_STORE && s->memory->kind != MEMORY_SCALAR)
        c->written[traffic_index(c, origin(s->memory))] +=
            distinct_elements(c, w, s->memory, s->index) * element_bytes(s->memory);
    for (int i = 0; i < s->child_count; i++) note_macro(c, w, s->child[i], runs * trips * (i ? others : share));
    c->depth = depth;
    if (s->kind == CODE_SCOPE) c->let_count = lets;
}

/* A C function without a portable form reads each operand once and writes each result once. */
static void note_function(Counting *c, const Code *s, double runs)
{
    for (int i = 0; i < s->arg_count; i++) {
        if (s->args[i]->kind != EXPR_AT) continue;
        const Memory *m = origin(s->args[i]->arg[0]->ref);
        const double bytes = (double)interval_of(c->cx, m->elems, NULL).greatest * element_bytes(m) * runs;
        if (m->kind != MEMORY_OUTPUT) c->read[traffic_index(c, m)] += bytes;
        if (m->kind == MEMORY_OUTPUT || m->kind == MEMORY_SCRATCH) c->written[traffic_index(c, m)] += bytes;
    }
}

static void note_call(Counting *c, const Code *s, double runs)
{
    if (!c->read) return;
    if (!s->child_count) {
        note_function(c, s, runs);
        return;
    }
    MacroWalk w = { c->depth, s, runs * points_of(c, s->child[0]), map_new(c->cx->scratch) };
    note_macro(c, &w, s->child[0], runs);
}

static void count_macro(Counting *c, const Code *s, const Cost *row, double runs)
{
    if (row && s->child_count) {
        c->sum += runs * (row->each + row->point * points_of(c, s->child[0]));
        return;
    }
    if (s->external && external_is_macro(s->text)) {                   /* its last argument counts its points */
        const Interval points = interval_of(c->cx, s->args[s->arg_count - 1], NULL);
        const double each = row ? row->each : cost(c, COST_EXTERNAL),
                     point = row ? row->point : cost(c, COST_EXTERNAL_POINT);
        c->sum += runs * (each + point * (points.greatest < INT32_MAX ? (double)points.greatest : 1));
        return;
    }
    if (!s->child_count) c->sum += runs * s->arg_count;
    for (int i = 0; i < s->child_count; i++) count(c, s->child[i], runs);
}

static void count_call(Counting *c, const Code *s, double runs)
{
    const Cost *row = cost_stated(c->costs, cost_of_macro(s->text));
    double *const read = c->read, *const written = c->written;
    note_call(c, s, runs);
    c->read = c->written = NULL;                 /* the portable form below is not counted */
    count_macro(c, s, row, runs);
    c->read = read;
    c->written = written;
}

/* Counts branch i of a condition; returns its instructions. */
static double count_branch(Counting *c, const Code *s, int i, double runs)
{
    const Loads outer = c->loaded;
    const double before = c->sum;
    c->loaded = (Loads){ map_new(c->cx->scratch), &outer };
    c->guards++;
    count(c, s->child[i], runs);
    c->guards--;
    c->loaded = outer;
    return c->sum - before;
}

static void count_branches(Counting *c, const Code *s, double runs)
{
    const double share = average(c, NULL, s->cond, DATA_SHARE);
    const bool is_costlier = c->is_worst && c->is_by_data;
    double most = 0;
    c->sum += runs * comparisons(c, s->cond);
    const double before = c->sum;
    for (int i = 0; i < s->child_count; i++)
        most = fmax(most, count_branch(c, s, i, runs * (is_costlier ? 1 : i ? 1 - share : share)));
    if (is_costlier) c->sum = before + most;
}

static void count(Counting *c, const Code *s, double runs)
{
    const int lets = c->let_count;
    c->runs = runs;
    switch (s->kind) {
    case CODE_FOR: count_loop(c, s, runs); return;
    case CODE_IF: count_branches(c, s, runs); return;
    case CODE_LET:
        c->sum += runs * operations(c, s->value);
        if (c->let_count < MOST_VALUES) c->let[c->let_count++] = s;
        return;
    case CODE_LOCAL:
        if (s->memory->kind == MEMORY_POINTER) c->sum += runs * (1 + divisions(c, s->memory->offset));
        return;
    case CODE_STORE:
        c->in_lane = is_lane(c, s);
        note_written(c, s);
        c->sum += runs * lane_share(c, s)
                  * (operations(c, s->value) + divisions(c, s->index) + (s->memory->kind != MEMORY_SCALAR));
        c->in_lane = false;
        return;
    case CODE_CALL: count_call(c, s, runs); return;
    default:
        for (int i = 0; i < s->child_count; i++) count(c, s->child[i], runs);
        if (s->kind == CODE_SCOPE) c->let_count = lets;
    }
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* The bytes of a 32-bit instruction, with its share of addresses and spilled values. */
enum { BYTES = 6,
       PER_CALL = 8,                 /* the instructions of a macro of the target, in addition to its arguments */
       PER_ENTRY = 12 };             /* the bytes of a function for saved registers and its call */

/* Returns the instructions of an expression in the text. Equal expressions in the same loop body count once. */
static double text_of_value(Counting *c, const Expr *e)
{
    if (expr_is_const(e) || expr_as_var(e) || is_loaded(c, e)) return 0;
    double n = e->kind == EXPR_LOAD && ((const Memory *)e->ref)->kind == MEMORY_SCALAR ? 0 : 1;
    for (int i = 0; i < e->arg_count; i++) n += text_of_value(c, e->arg[i]);
    return n;
}

/* Returns the instructions of the text; each statement counts once. */
static double text_of(Counting *c, const Code *s)
{
    double n = 0;
    const Loads outer = c->loaded;
    if (s->kind == CODE_FOR) c->loaded = (Loads){ map_new(c->cx->scratch), NULL };
    switch (s->kind) {
    case CODE_FOR:
        n = cost(c, COST_LOOP) + cost(c, COST_ITERATION) + text_of_value(c, s->begin) + text_of_value(c, s->end);
        break;
    case CODE_IF: n = 1 + text_of_value(c, s->cond); break;
    case CODE_LET: n = text_of_value(c, s->value); break;
    case CODE_LOCAL: n = s->memory->kind == MEMORY_POINTER ? 1 + text_of_value(c, s->memory->offset) : 0; break;
    case CODE_STORE:
        n = text_of_value(c, s->value) + text_of_value(c, s->index) + (s->memory->kind != MEMORY_SCALAR);
        break;
    case CODE_CALL: n = s->arg_count + PER_CALL; break;
    default: break;
    }
    for (int i = 0; i < s->child_count && s->kind != CODE_CALL; i++) n += text_of(c, s->child[i]);
    if (s->kind == CODE_FOR) c->loaded = outer;
    return n;
}

int64_t count_bytes(Ctx *cx, const Code *body)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Counting *c = NEW(cx->scratch, Counting);
    c->cx = cx;
    c->loaded.map = map_new(cx->scratch);
    const double bytes = (PER_ENTRY + text_of(c, body)) * BYTES;
    arena_reset(cx->scratch, mark);
    return (int64_t)bytes;
}

static Counting *counting_of(Ctx *cx, const Function *f, const Costs *costs)
{
    Counting *c = NEW(cx->scratch, Counting);
    c->cx = cx;
    c->costs = costs;
    c->lanes = cost(c, COST_LANES);
    c->repeated = cost(c, COST_REPEATED_LOAD);
    c->loaded.map = map_new(cx->scratch);
    c->guarded_load = map_new(cx->scratch);
    c->in_vector = map_new(cx->scratch);
    c->guarded = map_new(cx->scratch);
    c->broadcast = map_new(cx->scratch);
    c->rectified = map_new(cx->scratch);
    c->function = f;
    c->has_rectified = cost_stated(costs, COST_F32_MUL_RECTIFIED) != NULL;
    while (c->has_rectified && find_rectified(c, f->body)) continue;
    if (c->lanes > 1) {
        find_guarded(c, f->body, false);
        find_vectors(c, f->body);
        while (find_copied(c, f->body)) continue;
        find_broadcasts(c, f->body);
    }
    return c;
}

static int64_t whole(double n) { return n < 9e18 ? (int64_t)n : INT64_MAX; }

int64_t count_instructions(Ctx *cx, const Function *f, const Costs *costs)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Counting *c = counting_of(cx, f, costs);
    count(c, f->body, 1);
    const double sum = c->sum;
    arena_reset(cx->scratch, mark);
    return whole(sum);
}

int64_t count_worst(Ctx *cx, const Function *f, const Costs *costs)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Counting *c = counting_of(cx, f, costs);
    c->is_worst = true;
    c->has_rectified = false;
    count(c, f->body, 1);
    const int64_t most = c->is_unbounded ? -1 : whole(c->sum);
    arena_reset(cx->scratch, mark);
    return most;
}

int64_t count_move(const Costs *costs, int64_t bytes)
{
    return whole(cost_find(costs, COST_MOVE)->each * (double)((bytes + 15) / 16));
}

void count_traffic(Ctx *cx, const Function *f, const Costs *costs, Traffic *out)
{
    const ArenaMark mark = arena_mark(cx->scratch);
    Counting *c = counting_of(cx, f, costs);
    c->read = NEW_ARRAY(cx->scratch, double, f->memory_count + LOCAL_TRAFFICS);
    c->written = NEW_ARRAY(cx->scratch, double, f->memory_count + LOCAL_TRAFFICS);
    count(c, f->body, 1);
    for (int i = 0; i < f->memory_count + LOCAL_TRAFFICS; i++)
        out[i] = (Traffic){ whole(c->read[i] + 0.5), whole(c->written[i] + 0.5) };
    arena_reset(cx->scratch, mark);
}
