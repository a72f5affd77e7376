/* SPDX-License-Identifier: MIT */
/* Builds the functions that run the graphs of regions: their scratch memory, their parameters, and the call. */
#include "driver/driver.h"

#include "support/names.h"
#include "support/text.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Returns the next value of state s. */
static const Tensor *new_state(const Build *body, const Region *r, int s)
{
    return body->graph.output[r->has_condition + s];
}
static const Tensor *old_state(const Build *body, int s) { return body->graph.input[1 + s]; }

static int64_t second_arrays_of_body(const Build *body)
{
    const Region *r = body->tree.region->region;
    int64_t bytes = 0;
    for (int i = 0; r->kind == REGION_LOOP && i < r->state_count; i++)
        if (!build_is_single(body, old_state(body, i), new_state(body, r, i)))
            bytes += tensor_most_bytes(body->cx, new_state(body, r, i));
    return bytes;
}

int64_t build_second_arrays(const Build *b)
{
    int64_t bytes = 0;
    if (b->tree.region) return second_arrays_of_body(b);
    for (int i = 0; i < b->states.count; i++) {
        const Tensor *from = b->graph.input[b->states.at[i].input], *to = b->graph.output[b->states.at[i].output];
        if (!build_is_single(b, from, to)) bytes += tensor_bytes(to);
    }
    return bytes;
}

int64_t build_state_bytes(const Build *b, bool all_alternate)
{
    int64_t bytes = 0, align = 1;
    bool alternates = false;
    for (int i = 0; i < b->states.count; i++) {
        const Tensor *from = b->graph.input[b->states.at[i].input], *to = b->graph.output[b->states.at[i].output];
        const bool is_single = !all_alternate && build_is_single(b, from, to);
        const int64_t element = dtype_info(to->type)->bytes;
        bytes = (bytes + element - 1) / element * element + (is_single ? 1 : 2) * tensor_bytes(to);
        align = element > align ? element : align;
        alternates = alternates || !is_single;
    }
    return (bytes + alternates + align - 1) / align * align;
}

int64_t build_bytes_beside(const Build *b, bool is_planned)
{
    int64_t bytes = 0;
    for (int i = 0; i < b->graph.input_count; i++) {
        const bool is_state = build_state_of_input(b, i) >= 0;
        if (!is_state && !b->options->ports_in_arena) bytes += tensor_most_bytes(b->cx, b->graph.input[i]);
    }
    for (int i = 0; i < b->graph.output_count; i++)
        if (build_state_of_output(b, i) < 0 && !b->options->ports_in_arena)
            bytes += tensor_most_bytes(b->cx, b->graph.output[i]);
    return bytes + build_state_bytes(b, !is_planned);
}

int64_t build_arena_limit(const Build *b)
{
    const int64_t beside = build_bytes_beside(b, false);
    return b->options->ram > beside ? b->options->ram - beside : 0;
}

/* The scratch is the memory of the body, followed by a second array for each state that needs one. */
int region_scratch(const Build *b, int group, Scratch **out)
{
    const Node *n = region_of_group(b, group);
    const Region *r = n->region;
    const Build *inner = build_graphs_of(b, n);
    Scratch *s = *out = NEW_ARRAY(b->cx->arena, Scratch, 1 + r->state_count);
    int count = 1;
    for (int g = 0; g < r->graph_count; g++)
        if (inner[g].plan.arena_size > s[0].bytes) s[0].bytes = inner[g].plan.arena_size;
    for (int i = 0; i < r->state_count; i++)
        if (!build_is_single(inner, old_state(inner, i), new_state(inner, r, i)))
            s[count++].bytes = tensor_most_bytes(b->cx, n->out[i]);
    return count;
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

static Map reserved_names(const Build *b)
{
    Ctx *cx = b->cx;
    static const char *const own[] = { "in",   "out",  "arena", "memory", "state",  "now",
                                       "next", "iteration", "trip_count", "again",  "status", "last" };
    Map taken = map_new(cx->arena);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) map_put_ptr(&taken, name(cx, own[i]), cx);
    const Build *outer = b;
    while (outer->tree.outer) outer = outer->tree.outer;
    for (int i = 0; i < outer->memories.count; i++) map_put_ptr(&taken, name(cx, outer->memories.at[i].name), cx);
    if (text_equal(b->options->weights, "bin")) map_put_ptr(&taken, name(cx, "weights"), cx);
    return taken;
}

static const char *free_name(Ctx *cx, Map *taken, const char *wanted)
{
    const char *base = name_unprefixed(cx, wanted), *unique = base;
    for (int i = 2; map_get_ptr(taken, unique); i++) unique = name_format(cx, "%s_%d", base, i);
    map_put_ptr(taken, unique, cx);
    return unique;
}

/* Returns true if the call has the parameter among its arguments. */
static bool reads_param(const Call *c, int param)
{
    for (int i = 0; i < c->place_count; i++)
        if (c->place[i].kind == PLACE_PARAM && c->place[i].index == param) return true;
    return false;
}

static bool binds_param(const SizeBind *bind, int count, int param)
{
    for (int i = 0; i < count; i++)
        if (bind[i].count.kind == PLACE_PARAM && bind[i].count.index == param) return true;
    return false;
}

static bool is_read(const Body *b, int param)
{
    for (int i = 0; i < b->call_count; i++)
        if (reads_param(&b->call[i], param) || binds_param(b->call[i].bind, b->call[i].bind_count, param)) return true;
    return binds_param(b->last_bind, b->last_bind_count, param);
}

static bool binds_from_memory(const SizeBind *bind, int count)
{
    for (int i = 0; i < count; i++)
        if (bind[i].count.kind == PLACE_ARENA) return true;
    return false;
}

static bool needs_memory(const Body *b)
{
    for (int i = 0; i < b->call_count; i++) {
        for (int j = 0; j < b->call[i].place_count; j++)
            if (b->call[i].place[j].kind == PLACE_ARENA) return true;
        if (binds_from_memory(b->call[i].bind, b->call[i].bind_count)) return true;
    }
    return binds_from_memory(b->last_bind, b->last_bind_count);
}

/* Adds the graph's inputs, then its outputs. */
static Param *add_params(const Build *b, Body *body)
{
    const Graph *g = &b->graph;
    const Region *r = b->tree.region->region;
    Param *param = NEW_ARRAY(b->cx->arena, Param, g->input_count + g->output_count);
    Map taken = reserved_names(b);
    for (int i = 0; i < g->input_count; i++) {
        bool is_iteration = r->kind == REGION_LOOP && i == 0;
        param[body->param_count] = (Param){ .name = free_name(b->cx, &taken, is_iteration ? "step" : g->input[i]->name),
                                            .tensor = g->input[i] };
        body->param_count++;
    }
    for (int i = 0; i < g->output_count; i++)
        param[body->param_count++] = (Param){ .name = free_name(b->cx, &taken, g->output[i]->name),
                                              .tensor = g->output[i],
                                              .is_written = true };
    body->param = param;
    return param;
}

/* Shares the function of an earlier body that differs only in the name, as layers do. */
static void share_body(Build *b)
{
    const Program nameless = { .name = "", .constant = b->shared->constant, .constant_name = b->shared->constant_name };
    Body twin = *b->tree.body;
    Text t = text_new(b->cx);
    twin.name = twin.what = "";
    cgen_body(b->cx, &t, &nameless, &twin, 0);
    const Body *known = map_get(&b->shared->bodies, text_string(&t), t.length);
    if (known) {
        b->tree.body->name = known->name;
        return;
    }
    map_put(&b->shared->bodies, text_string(&t), t.length, b->tree.body);
    b->shared->body[b->shared->body_count++] = b->tree.body;
}

/* A list of distinct sizes. */
typedef struct SizeList { Ctx *cx; int count, capacity; const Expr **at; } SizeList;

static void add_size(const Expr *e, void *user)
{
    SizeList *s = user;
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE) return;
    for (int i = 0; i < s->count; i++)
        if (s->at[i] == e) return;
    if (s->count == s->capacity) {
        const Expr **more = NEW_ARRAY(s->cx->arena, const Expr *, s->capacity = 2 * s->capacity + 4);
        for (int i = 0; i < s->count; i++) more[i] = s->at[i];
        s->at = more;
    }
    s->at[s->count++] = e;
}

static void add_sizes(SizeList *s, const Expr *const *size, int count)
{
    for (int i = 0; i < count; i++) expr_walk(s->cx, size[i], add_size, s);
}

/* Lists the sizes that the body reads and does not bind. */
static void add_sizes_from_outside(const Build *b, Body *body)
{
    SizeList all = { .cx = b->cx };
    for (int i = 0; i < body->call_count; i++) add_sizes(&all, body->call[i].size, call_size_count(&body->call[i]));
    const Expr **own = NEW_ARRAY(b->cx->arena, const Expr *, all.count);
    for (int i = 0; i < all.count; i++)
        if (!build_binds_size(b, all.at[i])) own[body->size_count++] = all.at[i];
    body->size = own;
}

static bool call_may_stop(const Call *c)
{
    return c->bind_count || (c->control ? control_may_stop(c->control) : code_may_stop(c->function->body));
}

static void make_body(Build *b)
{
    Body *body = b->tree.body;
    Param *param = add_params(b, body);
    body->call_count = build_calls(b, &body->call, &body->last_bind_count, &body->last_bind);
    add_sizes_from_outside(b, body);
    for (int i = 0; i < body->param_count; i++) param[i].is_unused = !is_read(body, i);
    body->has_memory = needs_memory(body);
    body->may_stop = body->last_bind_count > 0;
    for (int i = 0; i < body->call_count; i++) body->may_stop = body->may_stop || call_may_stop(&body->call[i]);
    share_body(b);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* A call under construction. */
typedef struct CallBuild { Build *b; int group; const Node *n; const Region *r; Build *inner; Place *place; } CallBuild;

static bool is_unused(const CallBuild *m, int param)
{
    for (int g = 0; g < m->r->graph_count; g++)
        if (!m->inner[g].tree.body->param[param].is_unused) return false;
    return true;
}

/* Adds the addresses of the node's inputs, its outputs, and the scratch. The address of an unused input is
 * PLACE_NONE. */
static int add_places(CallBuild *m)
{
    const Node *n = m->n;
    Build *b = m->b;
    const Scratch *scratch = b->lowered.scratch[m->group];
    const char *name = b->groups.at[m->group].name;
    int count = n->in_count + n->out_count;
    m->place = NEW_ARRAY(b->cx->arena, Place, count + 1 + m->r->state_count);
    for (int k = 0; k < n->in_count; k++) {
        bool is_read = region_reads(n, k) && !(region_is_handed_in(n, k) && is_unused(m, k - 1));
        m->place[k] = is_read ? build_place(b, plan_slot(&b->plan, n->in[k])) : (Place){ .kind = PLACE_NONE };
    }
    for (int i = 0; i < n->out_count; i++) m->place[n->in_count + i] = build_place(b, plan_slot(&b->plan, n->out[i]));
    bool needs = false;
    for (int g = 0; g < m->r->graph_count; g++) needs = needs || m->inner[g].tree.body->has_memory;
    m->place[count++] = needs ? build_place_of_scratch(b, scratch, name, "memory", 0, U8)
                              : (Place){ .kind = PLACE_NONE };
    for (int i = 0, next = 1; i < m->r->state_count; i++)
        if (!build_is_single(m->inner, old_state(m->inner, i), new_state(m->inner, m->r, i))) {
            const Scratch *other = &scratch[next++];
            const char *part = text_format(b->cx, "next_%d", i + 1);
            m->place[count++] = build_place_of_scratch(b, other, name, part, 0, n->out[i]->type);
        }
    return count;
}

static Argument row_argument(const CallBuild *m, int place, const Tensor *row, bool is_back)
{
    return (Argument){ ARGUMENT_ROW, place, size_product(m->b->cx, row->shape, row->rank), is_back };
}

static Argument input_argument(const CallBuild *m, int i)
{
    const Region *r = m->r;
    const int scan = i - 1 - r->state_count;
    if (r->kind == REGION_CHOICE || scan >= r->scan_count) return (Argument){ ARGUMENT_PLACE, i + 1, NULL, false };
    if (i == 0) return (Argument){ ARGUMENT_ITERATION, 0, NULL, false };
    if (scan < 0) return (Argument){ ARGUMENT_STATE, i - 1, NULL, false };
    return row_argument(m, i + 1, m->inner->graph.input[i], r->scans_back[scan]);
}

static Argument output_argument(const CallBuild *m, int i)
{
    const Region *r = m->r;
    const int state = i - r->has_condition, row = state - r->state_count;
    if (r->kind == REGION_CHOICE) return (Argument){ ARGUMENT_PLACE, m->n->in_count + i, NULL, false };
    if (state < 0) return (Argument){ ARGUMENT_GOES_ON, 0, NULL, false };
    if (row < 0) return (Argument){ ARGUMENT_NEXT, state, NULL, false };
    return row_argument(m, m->n->in_count + state, m->inner->graph.output[i], r->rows_back[row]);
}

static const Argument *arguments(const CallBuild *m)
{
    const Graph *g = &m->inner->graph;
    Argument *a = NEW_ARRAY(m->b->cx->arena, Argument, g->input_count + g->output_count);
    for (int i = 0; i < g->input_count; i++) a[i] = input_argument(m, i);
    for (int i = 0; i < g->output_count; i++) a[g->input_count + i] = output_argument(m, i);
    return a;
}

static void take_size(const Expr *e, void *user)
{
    const Var *v = expr_as_var(e);
    if (v && v->role == VAR_SIZE) map_put_ptr(user, v->name, user);
}

static void take_sizes(Ctx *cx, Tensor *const *t, int count, Map *taken)
{
    for (int i = 0; i < count; i++)
        for (int d = 0; d < t[i]->rank; d++) expr_walk(cx, t[i]->shape[d], take_size, taken);
}

/* Marks the names of the caller's parameters, and of sizes that are variables of the caller, as used. */
static void take_names(const Build *b, Map *taken)
{
    const Group *g = b->groups.at;
    for (int i = 0; i < b->groups.count; i++) take_sizes(b->cx, g[i].output, g[i].output_count, taken);
    take_sizes(b->cx, b->graph.input, b->graph.input_count, taken);
    const Body *body = b->tree.body;
    for (int i = 0; body && i < body->param_count; i++) map_put_ptr(taken, body->param[i].name, taken);
}

/* Returns the loop's states; their names are locals of the function that contains the loop. */
static const Carried *carried(const CallBuild *m)
{
    const Region *r = m->r;
    Ctx *cx = m->b->cx;
    Carried *c = NEW_ARRAY(cx->arena, Carried, r->state_count);
    Map taken = reserved_names(m->b);
    take_names(m->b, &taken);
    for (int i = 0, other = m->n->in_count + m->n->out_count + 1; i < r->state_count; i++) {
        bool single = build_is_single(m->inner, old_state(m->inner, i), new_state(m->inner, r, i));
        c[i] = (Carried){ free_name(cx, &taken, old_state(m->inner, i)->name), m->n->out[i], 2 + i, m->n->in_count + i,
                          single ? -1 : other++ };
        map_put_ptr(&taken, name_format(cx, "%s_next", c[i].name), cx);
    }
    return c;
}

/* Adds the sizes of the bodies, and the sizes of the arrays that advance or swap. */
static void add_sizes_of_control(const CallBuild *m, Control *c)
{
    SizeList s = { .cx = m->b->cx };
    for (int g = 0; g < c->body_count; g++) add_sizes(&s, c->body[g]->size, c->body[g]->size_count);
    for (int i = 0; c->is_loop && i < m->n->out_count; i++) add_sizes(&s, m->n->out[i]->shape, m->n->out[i]->rank);
    for (int i = 0; c->is_loop && i < c->body[0]->param_count; i++)
        if (c->argument[i].kind == ARGUMENT_ROW) expr_walk(s.cx, c->argument[i].elems, add_size, &s);
    c->size = s.at;
    c->size_count = s.count;
}

static const Control *control_of(const CallBuild *m)
{
    const Node *n = m->n;
    const Region *r = m->r;
    Control *c = NEW(m->b->cx->arena, Control);
    *c = (Control){ .is_loop = r->kind == REGION_LOOP,
                    .body_count = r->graph_count,
                    .argument = arguments(m),
                    .memory = n->in_count + n->out_count,
                    .condition = -1,
                    .count = -1,
                    .has_condition = r->has_condition,
                    .trip_count = region_trip_count(n),
                    .capacity = r->max_trip_count };
    for (int g = 0; g < r->graph_count; g++) c->body[g] = m->inner[g].tree.body;
    add_sizes_of_control(m, c);
    if (!c->is_loop) {
        c->condition = 0;
        return c;
    }
    if (n->in[0] && c->trip_count < 0) c->count = 0;
    if (n->in[1]) c->condition = 1;
    int *row = NEW_ARRAY(m->b->cx->arena, int, r->row_count);
    for (int i = 0; i < r->row_count; i++) row[i] = n->in_count + r->state_count + i;
    c->row_count = r->row_count;
    c->row = row;
    c->state_count = r->state_count;
    c->state = carried(m);
    return c;
}

Call region_call(Build *b, int group)
{
    const Node *n = region_of_group(b, group);
    CallBuild m = { b, group, n, n->region, build_graphs_of(b, n), NULL };
    for (int g = 0; g < m.r->graph_count; g++) make_body(&m.inner[g]);
    int place_count = add_places(&m);
    const Control *control = control_of(&m);
    return (Call){ .control = control,
                   .size = control->size,
                   .label = *n->name ? n->name : b->groups.at[group].name,
                   .group = b->groups.at[group].name,
                   .place_count = place_count,
                   .place = m.place };
}
