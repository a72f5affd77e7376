/* SPDX-License-Identifier: MIT */
/* Computes the new values of parameters and of the optimizer's state, as formulas. With the gradient g of one sample:
 *
 *   finite   1 if all elements of all gradients are finite                     skip_nonfinite
 *   count'   samples since the last update, sum' = sum + g                     accumulate
 *   mean     g, or (sum + g) / N                                               accumulate
 *   factor   clip_norm / (norm of all means), where that is below 1            clip_norm
 *   G        mean * factor, clamped, plus weight_decay * x
 *
 * Every new value is select(due, formula, old value), so a skipped sample does not change any bit. */
#include <string.h>

#include "graph/dag/definition.h"
#include "graph/train/train.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_BINDS = MOST_HYPERS + 3 * MOST_STATES + 16 };
typedef struct Binds { int count; Bind at[MOST_BINDS + 1]; } Binds;

typedef struct Updater {
    Ctx *cx;
    Training *t;
    int capacity;                      /* the capacity of t->param */
    Binds shared;                      /* the names that all updates use: options, rate, powers, step */
    /* Scalars. NULL means that all gradients are finite, that an update is always due, or that the factor is 1. */
    Tensor *finite, *due, *factor;
    TrainParam **sum;                  /* the sum of each trained parameter's gradients; NULL without sums */
    bool repeats;                      /* true if each new value that reads a gradient computes that gradient again */
    DType type;
} Updater;

static void bind(Binds *b, const char *its_name, Tensor *t) { b->at[b->count++] = (Bind)BIND_T(its_name, t); }

static Tensor *compute(Updater *u, const Binds *b, const char *stage, const char *text)
{
    Ctx *cx = u->cx;
    if (ctx_failed(cx)) return NULL;
    return formula(cx, text_format(cx, "%s%s", name_identifier(cx, stage), text), b->at);
}

/* Adds a tensor of struct NAME_params with the shape of `like`; a `like` of NULL gives a scalar. */
static TrainParam *add_param(Updater *u, const char *its_name, const char *what, DType type, const Tensor *like)
{
    TrainParam *p = &u->t->param[u->t->param_count++];
    Tensor *value = tensor_new(u->cx, its_name, type, like ? like->rank : 0, like ? like->shape : NULL);
    *p = (TrainParam){ .name = its_name, .what = what, .value = value };
    return p;
}

static TrainParam *add_scalar(Updater *u, const char *its_name, const char *what, DType type, double initial)
{
    TrainParam *p = add_param(u, its_name, what, type, NULL);
    if (initial != 0) p->initial = tensor_scalar(u->cx, its_name, type, initial);
    return p;
}

/* ---- Scalars ----------------------------------------------------------------------------------------------------- */

static const char *all_axes(Ctx *cx, const Tensor *t, bool is_list)
{
    Text at = text_new(cx);
    for (int d = 0; d < t->rank; d++) text_printf(&at, "%sa%d", d ? "," : "", d);
    return t->rank ? text_format(cx, is_list ? "%s" : "[%s]", text_string(&at)) : "";
}

/* Replaces each [*] by the axes of a tensor. */
static const char *at_axes(Ctx *cx, const char *text, const char *axes)
{
    Text t = text_new(cx);
    for (const char *all; (all = strstr(text, "[*]")) != NULL; text = all + strlen("[*]")) {
        text_addn(&t, text, (size_t)(all - text));
        text_add(&t, axes);
    }
    text_add(&t, text);
    return text_string(&t);
}

/* Reduces `element` of every gradient to a scalar and combines them from left to right. */
static Tensor *over_gradients(Updater *u, Tensor *const *g, int count, const char *stage, const char *reducer,
                              const char *element, const char *combined)
{
    Ctx *cx = u->cx;
    Tensor *total = NULL;
    for (int i = 0; i < count && !ctx_failed(cx); i++) {
        Binds b = { 0 };
        bind(&b, "g", g[i]);
        if (u->sum) bind(&b, "sum", u->sum[i]->value);
        const char *each = at_axes(cx, element, all_axes(cx, g[i], false));
        Tensor *one = compute(u, &b, text_format(cx, "%s_%s", stage, u->t->param[i].name),
                              g[i]->rank ? text_format(cx, " = %s(%s) %s", reducer, all_axes(cx, g[i], true), each)
                                         : text_format(cx, " = %s", each));
        Binds two = { 0 };
        bind(&two, "a", total);
        bind(&two, "b", one);
        total = total ? compute(u, &two, stage, combined) : one;
    }
    return total;
}

/* Returns the scalar select(due, now, old). */
static Tensor *gated(Updater *u, const char *stage, Binds *b, const Tensor *gate, const char *now, const char *old)
{
    if (gate) bind(b, "gate", gate->self);
    return compute(u, b, stage, gate ? text_format(u->cx, " = select(gate > 0, %s, %s)", now, old)
                                     : text_format(u->cx, " = %s", now));
}

static void find_finite(Updater *u, Tensor *const *g, int count)
{
    if (train_hyper(&u->t->spec, "skip_nonfinite") == 0) return;
    u->finite = u->due = over_gradients(u, g, count, "finite", "min", "select(abs(g[*]) <= 3.4028234e38, 1.0, 0.0)",
                                        " = min(a, b)");
}

/* Counts the steps that change a bit. The count is the key of their random numbers. */
static void count_steps(Updater *u)
{
    Training *t = u->t;
    if (!t->steps || ctx_failed(u->cx)) return;
    TrainParam *p = &t->param[t->param_count++];
    *p = (TrainParam){ .name = "steps", .what = "steps: the key of dropout's numbers", .value = t->steps };
    Binds b = { 0 };
    bind(&b, "steps", p->value);
    p->next = gated(u, "steps_next", &b, u->finite, "steps + 1", "steps");
}

/* Computes the new value of a running average, which train_forms has created. The average is unchanged if the sample is
 * skipped. */
static void update_running(Updater *u, TrainParam *p)
{
    if (!u->finite || !p->next) return;
    Binds b = { 0 };
    bind(&b, "was", p->value);
    bind(&b, "now", p->next);
    bind(&b, "finite", u->finite);
    p->next = compute(u, &b, name_format(u->cx, "%s_kept", p->name), "[*] = select(finite > 0, now[*], was[*])");
}

/* Counts samples. An update is due at the last of `accumulate` samples. */
static void find_due(Updater *u)
{
    const int samples = u->t->spec.accumulate;
    if (samples == 1 || ctx_failed(u->cx)) return;
    TrainParam *p = add_scalar(u, "count", "samples since the last update", u->type, 0);
    Binds b = { 0 }, after = { 0 };
    bind(&b, "count", p->value);
    Tensor *more = gated(u, "samples", &b, u->finite, "count + 1", "count");
    bind(&after, "samples", more);
    u->due = compute(u, &after, "due", text_format(u->cx, " = select(samples >= %d, 1.0, 0.0)", samples));
    p->next = compute(u, &after, "count_next", text_format(u->cx, " = select(samples >= %d, 0.0, samples)", samples));
}

/* Adds the sums of gradients over the samples of an update. */
static void add_sums(Updater *u, int count)
{
    if (u->t->spec.accumulate == 1 || ctx_failed(u->cx)) return;
    u->sum = NEW_ARRAY(u->cx->arena, TrainParam *, count);
    for (int i = 0; i < count; i++) {
        const TrainParam *p = &u->t->param[i];
        u->sum[i] = add_param(u, name_format(u->cx, "%s_sum", p->name), "sum of gradients", p->value->type, p->value);
    }
}

/* Returns the element of the gradient's mean over the samples, as text. */
static const char *mean_text(Updater *u)
{
    return u->sum ? text_format(u->cx, "((sum[*] + g[*]) * %.17g)", 1.0 / u->t->spec.accumulate) : "g[*]";
}

static void find_factor(Updater *u, Tensor *const *g, int count)
{
    const double most = train_hyper(&u->t->spec, "clip_norm");
    if (most == 0) return;
    Binds b = { 0 };
    const char *mean = mean_text(u), *square = text_format(u->cx, "%s * %s", mean, mean);
    bind(&b, "squares", over_gradients(u, g, count, "squares", "sum", square, " = a + b"));
    b.at[b.count++] = (Bind)BIND_V("most", expr_real(u->cx, u->type, most));
    u->factor = compute(u, &b, "factor", " = select(squares > most * most, most / sqrt(squares), 1.0)");
}

static void share_scalars(Updater *u)
{
    const TrainSpec *s = &u->t->spec;
    for (int i = 0; i < MOST_HYPERS && s->optimizer->hyper[i].name; i++)
        if (!text_equal(s->optimizer->hyper[i].name, "rate"))
            u->shared.at[u->shared.count++] = (Bind)BIND_V(s->optimizer->hyper[i].name,
                                                           expr_real(u->cx, u->type, s->hyper[i]));
    TrainParam *rate = add_scalar(u, "rate", "the learning rate, which may be set between steps", u->type,
                                  train_hyper(s, "rate"));
    bind(&u->shared, "rate", rate->value);
    for (const PowerRow *p = s->optimizer->power; p->name; p++) {
        TrainParam *power = add_scalar(u, p->name, text_format(u->cx, "%s to the number of steps", p->factor), u->type,
                                       1);
        Binds b = u->shared;
        bind(&b, p->name, power->value);
        power->next = gated(u, text_format(u->cx, "%s_next", p->name), &b, u->due,
                            text_format(u->cx, "%s * %s", p->name, p->factor), p->name);
        bind(&u->shared, name_format(u->cx, "%s_now", p->name), power->next);
    }
    for (const ScalarRow *r = s->optimizer->scalar; r->name; r++)
        bind(&u->shared, r->name, compute(u, &u->shared, r->name, text_format(u->cx, " = %s", r->formula)));
}

/* ---- One parameter ----------------------------------------------------------------------------------------------- */

/* Replaces the words G and X of a formula. */
static const char *expanded(Ctx *cx, const char *text, const char *g, const char *x)
{
    Text t = text_new(cx);
    for (const char *s = text; *s; s++)
        if (*s == 'G' || *s == 'X') text_add(&t, *s == 'G' ? g : x);
        else text_char(&t, *s);
    return text_string(&t);
}

/* Returns the gradient's element as text: the mean of the samples, clipped, plus the decay. */
static const char *gradient_text(Updater *u)
{
    const TrainSpec *s = &u->t->spec;
    const bool has_clip = train_hyper(s, "clip") != 0;
    const char *g = mean_text(u);
    if (u->factor) g = text_format(u->cx, "(%s * factor)", g);
    if (has_clip) g = text_format(u->cx, "max(min(%s, clip), -clip)", g);
    if (train_hyper(s, "weight_decay") == 0 || s->optimizer->decays_apart) return g;
    return text_format(u->cx, "(%s + weight_decay * x[*])", g);
}

static Tensor *new_value(Updater *u, Binds *b, const char *stage, const char *text, const char *old)
{
    const char *now = text_format(u->cx, u->due ? "[*] = select(due > 0, %s, %s[*])" : "[*] = %s", text, old);
    return compute(u, b, stage, now);
}

/* Builds sum' = sum + g, which starts at 0 after an update. A sample that is skipped adds nothing. */
static void accumulate(Updater *u, const Binds *b, TrainParam *sum)
{
    const char *more = u->finite ? "select(finite > 0, sum[*] + g[*], sum[*])" : "sum[*] + g[*]";
    Binds own = *b;
    if (u->finite) bind(&own, "finite", u->finite);
    sum->next = compute(u, &own, text_format(u->cx, "%s_next", sum->name),
                        text_format(u->cx, "[*] = select(due > 0, 0.0, %s)", more));
}

/* Returns a copy of the call that computes a gradient. With one consumer, the call is fused into the consumer and the
 * gradient is not stored. */
static Tensor *repeated(Ctx *cx, Tensor *gradient)
{
    const Node *n = gradient->producer;
    const Node *copy = n && n->kind == NODE_CALL ? node_over(cx, n, n->in) : NULL;
    return copy ? copy->out[gradient->output] : gradient;
}

static void update_param(Updater *u, int number, Tensor *gradient)
{
    Ctx *cx = u->cx;
    const TrainSpec *s = &u->t->spec;
    const bool apart = s->optimizer->decays_apart && train_hyper(s, "weight_decay") != 0;
    const char *g = gradient_text(u), *x = apart ? "x[*] * (1 - rate * weight_decay)" : "x[*]";
    TrainParam *p = &u->t->param[number], *sum = u->sum ? u->sum[number] : NULL;
    Binds b = u->shared;
    const int at = b.count;
    bind(&b, "g", gradient);
    bind(&b, "x", p->value);
    if (u->factor) bind(&b, "factor", u->factor);
    if (u->due) bind(&b, "due", u->due);
    if (sum) bind(&b, "sum", sum->value);
    for (const UpdateRow *row = s->optimizer->update; !ctx_failed(cx); row++) {
        const char *formula_text = expanded(cx, row->formula, g, x);
        if (u->repeats && row != s->optimizer->update && strchr(row->formula, 'G'))
            b.at[at] = (Bind)BIND_T("g", repeated(cx, gradient));
        if (!row->state) {
            p->next = new_value(u, &b, name_format(cx, "%s_next", p->name), formula_text, "x");
            break;
        }
        TrainParam *state = add_param(u, name_format(cx, "%s_%s", p->name, row->state), row->state, p->value->type,
                                      p->value);
        bind(&b, row->state, state->value);
        state->next = new_value(u, &b, name_format(cx, "%s_next", state->name), formula_text, row->state);
        bind(&b, name_format(cx, "%s_now", row->state), state->next);
    }
    if (sum && !ctx_failed(cx)) accumulate(u, &b, sum);
}

static void name_unique(Ctx *cx, Training *t)
{
    Map taken = map_new(cx->arena);
    for (int i = 0; i < t->param_count; i++) {
        const char *base = t->param[i].name, *found = base;
        for (int n = 2; map_get_const_ptr(&taken, found); n++) found = name_format(cx, "%s_%d", base, n);
        map_put_const_ptr(&taken, found, t);
        t->param[i].name = t->param[i].value->name = found;
    }
}

void train_update(Ctx *cx, Training *t, Tensor *const *gradient, int count, bool repeats)
{
    Updater u = { .cx = cx, .t = t, .type = t->param[0].value->type, .repeats = repeats };
    const TrainParam *own = t->param;
    t->param = NEW_ARRAY(cx->arena, TrainParam, (MOST_STATES + 2) * t->param_count + 8);
    for (int i = 0; i < t->param_count; i++) t->param[i] = own[i];
    const int given = t->param_count;
    for (int i = 0; i < count; i++)
        if (own[i].value->type != u.type)
            diag_unsupported(cx, own[i].name, "--train: the parameters have the types %s and %s; use one type",
                             dtype_info(u.type)->spelling, dtype_info(own[i].value->type)->spelling);
    find_finite(&u, gradient, count);
    count_steps(&u);
    find_due(&u);
    add_sums(&u, count);
    find_factor(&u, gradient, count);
    share_scalars(&u);
    for (int i = 0; i < count && !ctx_failed(cx); i++) update_param(&u, i, gradient[i]);
    for (int i = count; i < given && !ctx_failed(cx); i++) update_running(&u, &t->param[i]);
    if (ctx_failed(cx)) return;
    name_unique(cx, t);
    Tensor **next = NEW_ARRAY(cx->arena, Tensor *, t->param_count);
    int found = 0;
    for (int i = 0; i < t->param_count; i++)
        if (t->param[i].next) next[found++] = t->param[i].next;
    formulas_to_calls(cx, next, found);
}
