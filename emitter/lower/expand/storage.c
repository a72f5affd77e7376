/* SPDX-License-Identifier: MIT */
/* Allocates storage for tensors. The nest's inputs, constants and outputs are parameters: row-major, or strided as the
 * plan's views declare. A buffer holds only its window: the coordinates that the statements below its Alloc access. The
 * scope of a buffer selects its memory:
 *
 *   register, stack    an array of the function; the pass `scalars` turns register buffers into variables
 *   arena, static      a scratch parameter, allocated in the arena of the call
 *   a declared memory  an array of the function, or the address that LW_MEMORY_name(offset) gives
 *
 * Names state a tensor's role in the function, not its layer, so equal groups produce equal text:
 *
 *   x      input                                   t      intermediate tensor
 *   k      weights of two or more dimensions       acc    accumulator in registers
 *   b      bias (one dimension)                    y      output
 *
 * A constant whose role is a word (multiplier, table) has that word as its name. A buffer that the operator's formulas
 * name (sums, cell) has this name. In a hand-written nest, tensors keep their names. */
#include "lower/expand/storage.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

static bool names_loop(const Stmt *s, const char *word)
{
    if (s->kind == STMT_FOR) {
        const char *dot = strrchr(s->name, '.');
        if (strcmp(dot ? dot + 1 : s->name, word) == 0) return true;
    }
    for (int i = 0; i < s->child_count; i++)
        if (names_loop(s->child[i], word)) return true;
    return false;
}

/* Returns true if the name belongs to a loop or to an axis in a stage's formula. */
static bool names_axis(const Nest *n, const char *word)
{
    for (int i = 0; i < n->stage_count; i++)
        for (int a = 0; a < n->stage[i]->axis_count; a++)
            if (strcmp(expr_as_var(n->stage[i]->axis[a].var)->name, word) == 0) return true;
    return names_loop(n->root, word);
}

/* Returns the first of two names for a role that no axis has. */
static const char *stem_of(const Storages *s, const char *first, const char *second)
{
    return names_axis(s->nest, first) ? second : first;
}

static const char *numbered(Ctx *cx, const char *stem, int n)
{
    return n ? name_format(cx, "%s%d", stem, n + 1) : name(cx, stem);
}

/* Returns `role` with its number, or the tensor's own name if it has one. */
static const char *memory_name(const Storages *s, const Tensor *t, const char *role, int number)
{
    bool keeps = t && s->options && s->options->keeps_names;
    return keeps ? name_identifier(s->cx, t->name) : numbered(s->cx, role, number);
}

static bool names_parameter(const Storages *s, const char *word)
{
    for (int i = 0; i < s->memory_count; i++)
        if (strcmp(s->memory[i]->name, word) == 0) return true;
    return false;
}

/* Returns the word, with a number after its first use, or NULL if no number is free. */
static const char *own_word(Storages *s, const char *wanted)
{
    const char *word = wanted ? name_identifier(s->cx, wanted) : NULL;
    if (!word || (s->options && s->options->keeps_names) || names_axis(s->nest, word)) return NULL;
    uintptr_t count = (uintptr_t)map_get_ptr(&s->words, word);
    const char *spelling = numbered(s->cx, word, (int)count);
    if (names_parameter(s, spelling)) return NULL;
    map_put_ptr(&s->words, word, (void *)(count + 1));
    return spelling;
}

static const View *view_of(const LowerOptions *o, const Tensor *t)
{
    for (int i = 0; o && i < o->view_count; i++)
        if (o->view[i].tensor == t) return &o->view[i];
    return NULL;
}

static const Expr *product(Ctx *cx, const Expr *const *factor, int count)
{
    const Expr *p = expr_index(cx, 1);
    for (int i = 0; i < count; i++) p = simplify(cx, expr_mul(cx, p, factor[i]), NULL);
    return p;
}

static void add_parameter(Storages *s, const Memory *m)
{
    if (s->memory_count == s->memory_room) {
        const Memory **more = NEW_ARRAY(s->cx->arena, const Memory *, s->memory_room = 2 * s->memory_room + 8);
        for (int i = 0; i < s->memory_count; i++) more[i] = s->memory[i];
        s->memory = more;
    }
    s->memory[s->memory_count++] = m;
}

static Storage *storage_new(Storages *s, const Tensor *t, const Memory *m)
{
    Storage *st = NEW(s->cx->arena, Storage);
    st->memory = m;
    st->offset = expr_index(s->cx, 0);
    for (int d = 0; d < t->rank; d++) st->begin[d] = st->offset;
    map_put_ptr(&s->of, t, st);
    return st;
}

Interval constant_range(const Tensor *t)
{
    Interval r = { 0, 0 };
    if (!tensor_is_constant(t) || !dtype_is_integer(t->type) || t->type == U64) return r;
    for (int64_t i = 0, n = tensor_elems(t); i < n; i++) {
        int64_t v = dtype_load(t->type, t->data, i).i;
        if (i == 0 || v < r.least) r.least = v;
        if (i == 0 || v > r.greatest) r.greatest = v;
    }
    return r;
}

/* Adds an input whose elements are in the output's memory. Such an input is not a parameter. */
static void within_output(Storages *s, const View *v)
{
    Storage *st = storage_new(s, v->tensor, storage_of(s, v->within)->memory);
    st->name = memory_name(s, v->tensor, stem_of(s, "x", "in"), s->input_count++);
    st->is_before = v->is_before;
    if (v->is_before) {
        st->offset = storage_of(s, v->within)->offset;
        memcpy(st->stride, storage_of(s, v->within)->stride, sizeof st->stride);
        return;
    }
    st->offset = expr_index(s->cx, v->offset);
    for (int d = 0; d < v->tensor->rank; d++) st->stride[d] = expr_index(s->cx, v->stride[d]);
}

static void parameter(Storages *s, const Tensor *t, MemoryKind kind, const char *spelling)
{
    Ctx *cx = s->cx;
    const View *v = view_of(s->options, t);
    bool may_alias = s->options && s->options->inputs_alias_output;
    Memory proto = { .name = spelling, .type = t->type, .kind = kind, .tensor = t };
    proto.elems = v ? expr_index(cx, v->elems) : nest_sizes_of_group(cx, s->nest, product(cx, t->shape, t->rank));
    proto.is_restrict = tensor_is_constant(t) ? false : !may_alias;
    proto.range = constant_range(t);
    const Memory *m = memory_new(cx, &proto);
    Storage *st = storage_new(s, t, m);
    if (v) st->offset = expr_index(cx, v->offset);
    for (int d = 0; d < t->rank; d++)
        st->stride[d] = v ? expr_index(cx, v->stride[d]) : product(cx, t->shape + d + 1, t->rank - d - 1);
    add_parameter(s, m);
}

/* Returns true if the tensor's name is `role` or role_2, role_3, ... */
static bool has_role(const Tensor *t, const char *role)
{
    const size_t n = strlen(role);
    return strncmp(t->name, role, n) == 0 && (!t->name[n] || t->name[n] == '_');
}

/* Returns the role `multiplier` for constants named `multiplier` or `multiplier_2`, or NULL for roles of one or two
 * letters. */
static const char *role_word(Ctx *cx, const char *of)
{
    size_t n = strlen(of), end = n;
    while (end > 0 && of[end - 1] >= '0' && of[end - 1] <= '9') end--;
    if (end > 1 && end < n && of[end - 1] == '_') n = end - 1;
    return n > 2 ? name_n(cx, of, n) : NULL;
}

Storages storages_new(Ctx *cx, const Nest *n, const LowerOptions *options)
{
    Storages s = { .cx = cx, .nest = n, .options = options, .of = map_new(cx->arena), .words = map_new(cx->arena) };
    int weights = 0, biases = 0;
    for (int i = 0; i < n->input_count; i++) {
        const Tensor *t = n->input[i];
        const View *v = view_of(options, t);
        if (storage_of(&s, t) || (v && v->within)) continue;
        const bool is_constant = tensor_is_constant(t),
                   is_weight = t->rank >= 2 && (is_constant || has_role(t, "k") || has_role(t, "w")),
                   is_bias = t->rank < 2 && (is_constant || has_role(t, "b"));
        const char *word = is_constant ? role_word(cx, t->name) : NULL, *own = word ? own_word(&s, word) : NULL;
        const bool keeps = word && options && options->keeps_names && !names_axis(n, t->name);
        const char *stem = is_weight ? stem_of(&s, "k", "w")
                           : is_bias ? stem_of(&s, "b", "bias")
                                     : stem_of(&s, "x", "in");
        int *count = is_weight ? &weights : is_bias ? &biases : &s.input_count;
        parameter(&s, t, MEMORY_INPUT,
                  own     ? own
                  : keeps ? name_identifier(cx, t->name)
                          : memory_name(&s, t, stem, (*count)++));
    }
    for (int i = 0; i < n->output_count; i++)
        if (!storage_of(&s, n->output[i]))
            parameter(&s, n->output[i], MEMORY_OUTPUT,
                      memory_name(&s, n->output[i], stem_of(&s, "y", "out"), s.output_count++));
    for (int i = 0; options && i < options->view_count; i++)
        if (options->view[i].within) within_output(&s, &options->view[i]);
    return s;
}

static void share_memory(Storages *s, Tensor *const *from, Tensor *const *to, int count)
{
    for (int i = 0; i < count; i++)
        if (!storage_of(s, to[i])) map_put_ptr(&s->of, to[i], map_get_ptr(&s->of, from[i]));
}

void storages_for(Storages *s, const Nest *other)
{
    share_memory(s, s->nest->input, other->input, other->input_count);
    share_memory(s, s->nest->output, other->output, other->output_count);
    s->nest = other;
}

const Storage *storage_of(const Storages *s, const Tensor *t) { return map_get_ptr(&s->of, t); }

static bool is_reduction(const Tensor *t)
{
    return t->producer && t->producer->stage && t->producer->stage->reducer != REDUCE_NONE;
}

/* Replaces a read of a plain stage by a variable with the interval of the stage's value, which is often narrower than
 * its type. */
static const Expr *narrow_read(Ctx *cx, const Expr *e, void *user)
{
    (void)user;
    const Tensor *t = e->kind == EXPR_READ ? e->ref : NULL;
    const Stage *s = t && t->producer ? t->producer->stage : NULL;
    if (!s || s->reducer != REDUCE_NONE || !dtype_is_integer(t->type)) return e;
    Interval i = interval_of(cx, s->value[t->output], NULL);
    return i.least > INT64_MIN && i.greatest < INT64_MAX
               ? expr_new_var(cx, t->name, VAR_LOCAL, t->type, i.least, i.greatest)
               : e;
}

Interval sum_range(Ctx *cx, const Stage *s, int component)
{
    const Interval unknown = { 0, 0 };
    const Expr *summand = s->value[component], *first = s->init ? s->init[component] : NULL;
    if (s->reducer != REDUCE_SUM || !dtype_is_integer(summand->type)) return unknown;
    Interval value = interval_of(cx, expr_rewrite(cx, summand, narrow_read, NULL), NULL),
             init = interval_of(cx, first, NULL);
    if (first->kind == EXPR_READ && tensor_is_constant(first->ref)) init = constant_range(first->ref);
    int64_t points = 1;
    for (int a = s->data_count; a < s->axis_count; a++)
        points = sat_mul(points, interval_of(cx, s->axis[a].extent, NULL).greatest);
    Interval r = { sat_add(init.least, sat_mul(points, value.least < 0 ? value.least : 0)),
                   sat_add(init.greatest, sat_mul(points, value.greatest > 0 ? value.greatest : 0)) };
    const DTypeInfo *t = dtype_info(summand->type);
    return r.least >= t->least && r.greatest <= t->greatest && r.least > INT64_MIN && r.greatest < INT64_MAX ? r
                                                                                                             : unknown;
}

/* Returns the bytes of a declared memory that the buffers around this place take. */
static int64_t storages_used(const Storages *s, const Scope *scope)
{
    const OpenBuffer *o = s->open;
    while (o && !text_equal(o->memory->scope->name, scope->name)) o = o->outer;
    return o ? o->memory->begin + o->memory->elems->integer * dtype_info(o->memory->type)->bytes : 0;
}

const Storage *storage_alloc(Storages *s, const Stmt *alloc, const Bounds *around)
{
    Ctx *cx = s->cx;
    const Buffer *b = alloc->buffer;
    const Tensor *t = b->tensor;
    BufferLayout l;
    if (ctx_failed(cx)) return NULL;
    const int open = alloc_layout(cx, s->nest, alloc, around, &l);
    if (open >= 0)
        diag_error(cx, t->name, "dimension %d of this buffer has no bound; declare the maximum of its sizes", open);
    if (ctx_failed(cx)) return NULL;
    const ScopeKind kind = b->scope->kind;
    bool in_function = kind != SCOPE_ARENA && kind != SCOPE_STATIC, gathers = kind == SCOPE_REGISTER && is_reduction(t);
    const char *stem = gathers ? "acc" : stem_of(s, "t", "between");
    Memory proto = {
        .type = t->type, .kind = in_function ? MEMORY_LOCAL : MEMORY_SCRATCH, .tensor = t, .is_restrict = true
    };
    const Storage *copy = storage_of(s, t);      /* the same buffer in another copy of the code */
    int *count = gathers ? &s->acc_count : &s->local_count;
    proto.name = copy ? copy->memory->name : gathers ? NULL : own_word(s, t->word);
    if (!proto.name) proto.name = memory_name(s, t, stem, (*count)++);
    proto.elems = expr_index(cx, sat_mul(l.elems, b->slots ? b->slots : 1));
    if (kind == SCOPE_DECLARED) {
        proto.scope = b->scope;
        const int64_t size = dtype_info(t->type)->bytes;
        proto.begin = (int32_t)scope_begin(b->scope, storages_used(s, b->scope), size);
        proto.align = scope_align(b->scope, size);
    }
    if (is_reduction(t)) proto.range = sum_range(cx, t->producer->stage, t->output);
    const Memory *m = memory_new(cx, &proto);
    Storage *st = storage_new(s, t, m);
    for (int d = 0; d < t->rank; d++) {
        st->begin[d] = l.window.begin[d];
        st->stride[d] = expr_index(cx, l.stride[d]);
        st->ring[d] = b->ring[d];
        st->tile[d] = b->tile[d];
        st->within[d] = l.within[d];
    }
    st->scope = b->scope;
    if (b->slots && around)
        st->slot = expr_mul(cx, expr_binary(cx, EXPR_FLOORMOD, around->var, expr_index(cx, b->slots)),
                            expr_index(cx, l.elems));
    if (!in_function) add_parameter(s, m);
    if (!m->scope) return st;
    OpenBuffer *o = NEW(cx->arena, OpenBuffer);
    *o = (OpenBuffer){ s->open, m };
    s->open = o;
    return st;
}

const Memory *storage_workspace(Storages *s, const Expr *bytes)
{
    Memory proto = { .type = U8, .kind = MEMORY_SCRATCH, .elems = bytes, .is_restrict = true };
    proto.name = memory_name(s, NULL, stem_of(s, "work", "workspace"), s->work_count++);
    const Memory *m = memory_new(s->cx, &proto);
    add_parameter(s, m);
    return m;
}

const Expr *storage_index(Ctx *cx, const Storage *s, const Tensor *t, const Expr *const *coordinate)
{
    const Expr *index = !s->slot ? s->offset : expr_is_int(s->offset, 0) ? s->slot : expr_add(cx, s->offset, s->slot);
    for (int d = 0; d < t->rank; d++) {
        const Expr *slot = expr_is_int(s->begin[d], 0) ? coordinate[d] : expr_sub(cx, coordinate[d], s->begin[d]);
        if (s->ring[d]) slot = expr_binary(cx, EXPR_FLOORMOD, slot, expr_index(cx, s->ring[d]));
        if (s->tile[d]) {
            const Expr *size = expr_index(cx, s->tile[d]);
            const Expr *low = expr_mul(cx, expr_binary(cx, EXPR_FLOORMOD, slot, size), expr_index(cx, s->within[d]));
            index = expr_is_int(index, 0) ? low : expr_add(cx, index, low);
            slot = expr_binary(cx, EXPR_FLOORDIV, slot, size);
        }
        const Expr *term = expr_is_int(s->stride[d], 1) ? slot : expr_mul(cx, slot, s->stride[d]);
        index = expr_is_int(index, 0) ? term : expr_add(cx, index, term);
    }
    return index;
}

static const Expr *load(Ctx *cx, const Expr *e, void *user)
{
    const Storages *s = *(const Storages *const *)user;
    if (e->kind != EXPR_READ) return e;
    const Tensor *t = e->ref;
    if (tensor_is_constant(t) && tensor_elems(t) == 1)
        return expr_constant(cx, t->type, dtype_load(t->type, t->data, 0));
    const Storage *place = storage_of(s, t);
    if (!place) {
        diag_internal(cx, t->name, "no storage of this tensor is in scope of its consumer");
        return expr_poison(cx);
    }
    return load_expr(cx, place->memory, storage_index(cx, place, t, e->arg));
}

const Expr *storage_loads(const Storages *s, const Expr *value)
{
    return expr_rewrite(s->cx, value, load, &s);
}
