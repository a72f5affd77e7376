/* SPDX-License-Identifier: MIT */
/* Prints the regions of the program. Each graph of a region is a static function of scratch memory, inputs and outputs.
 * NAME_run, or another body, contains the control flow:
 *
 *     if (*in->late) {                        {
 *         net_if_1_then(in->x, out->y);           float *h = out->h, *h_next = memory;
 *     } else {                                    for (int32_t iteration = 0; iteration < 100; iteration++) {
 *         net_if_1_else(in->x, out->y);               net_scan_1_body(h, in->x + iteration * 4, h_next, out->y);
 *     }                                               { float *const last = h; h = h_next; h_next = last; }
 *                                                 }
 *
 * A state is stored in its output's memory. If the body writes the new value before its last read of the old value, a
 * second array holds the new value. The two arrays are swapped after each iteration. */
#include "cgen/control_flow.h"

#include <string.h>

#include "cgen/spell.h"
#include "ir/algebra/algebra.h"
#include "support/wrap.h"
#include "support/names.h"

int call_size_count(const Call *c) { return c->function ? c->function->size_count : c->control->size_count; }

const Call *program_call(const Program *p, int i)
{
    if (i < p->call_count) return &p->call[i];
    i -= p->call_count;
    for (int b = 0; b < p->body_count; i -= p->body[b++]->call_count)
        if (i < p->body[b]->call_count) return &p->body[b]->call[i];
    if (p->step && i < p->step->call_count) return &p->step->call[i];
    return NULL;
}

const char *program_memory(const Program *p, int index)
{
    return p->memory_count && !p->param ? p->memory[index].name : "memory";
}

const char *arena_address(Ctx *cx, const Program *p, const char *memory, const ArenaItem *item, int64_t offset)
{
    const long long within = offset - (item ? item->offset : 0);
    const char *at = item ? text_format(cx, "%s + %s_%s", memory, p->name, item->name) : memory;
    return within ? text_format(cx, "%s %c %lld", at, within < 0 ? '-' : '+', within < 0 ? -within : within) : at;
}

bool program_reads(const Program *p, int constant)
{
    const Call *call;
    for (int c = 0; (call = program_call(p, c)) != NULL; c++) {
        for (int i = 0; i < call->place_count; i++)
            if (call->place[i].kind == PLACE_CONST && call->place[i].index == constant) return true;
        for (int i = 0; i < call->copy_count; i++)
            if (call->copy[i].from.index == constant) return true;
    }
    return false;
}

int64_t program_constants(const Program *p)
{
    int64_t bytes = 0;
    for (int i = 0; i < p->constant_count; i++)
        if (program_reads(p, i)) bytes += tensor_bytes(p->constant[i]);
    return bytes;
}

int64_t program_weights(const Program *p)
{
    int64_t bytes = program_constants(p);
    for (int i = 0; i < p->state_count; i++)
        if (p->state[i].initial) bytes += tensor_bytes(p->state[i].initial);
    for (int i = 0; i < p->params.count; i++)
        if (p->params.at[i].initial_name) bytes += tensor_bytes(p->params.at[i].initial);
    return bytes;
}

static bool body_reads_file(const Program *p, const Body *b);

static bool call_reads_file(const Program *p, const Call *c)
{
    for (int i = 0; i < c->place_count; i++)
        if (c->place[i].kind == PLACE_CONST) return true;
    for (int i = 0; c->control && i < c->control->body_count; i++)
        if (body_reads_file(p, c->control->body[i])) return true;
    return false;
}

/* Returns true if the body needs the parameter `weights`, the address of the file. */
static bool body_reads_file(const Program *p, const Body *b)
{
    for (int i = 0; p->weights.kind == WEIGHTS_CALLER && i < b->call_count; i++)
        if (call_reads_file(p, &b->call[i])) return true;
    return false;
}

const char *layer_label(Ctx *cx, const char *name)
{
    Text label = text_new(cx);
    text_escaped(&label, name);
    return text_string(&label);
}

/* Returns the name for a comment: a blank separates characters that would begin or end a comment. */
const char *comment_text(Ctx *cx, const char *name)
{
    Text label = text_new(cx);
    char before = 0;
    for (const char *s = layer_label(cx, name); *s; before = *s++) {
        if ((before == '*' && *s == '/') || (before == '/' && *s == '*')) text_char(&label, ' ');
        text_char(&label, *s);
    }
    return text_string(&label);
}

void layer_mark(Text *t, int number, const char *name)
{
    text_printf(t, "    LW_LAYER(%d, \"", number);
    text_escaped(t, name);
    text_add(t, "\")\n");
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

static const char *c_type(const Tensor *t) { return dtype_info(t->type)->c_type; }

static void body_comment(Ctx *cx, Text *t, const Body *b)
{
    text_printf(t, "/* %s\n *", comment_text(cx, b->what));
    for (int i = 0; i < b->param_count; i++)
        if (!b->param[i].is_unused)
            text_printf(t, " %s: %s%s", b->param[i].name, dtype_info(b->param[i].tensor->type)->spelling,
                        tensor_shape_names(cx, b->param[i].tensor));
    text_add(t, " */\n");
}

void control_reserve(Ctx *cx, Speller *s, const Call *call, int count)
{
    static const char *const own[] = { "iteration", "trip_count", "again", "status", "last" };
    bool any = false;
    for (int i = 0; i < count; i++) {
        const Control *c = call[i].control;
        any = any || c || code_may_stop(call[i].function->body);
        for (int k = 0; c && k < c->state_count; k++) {
            speller_name(s, &c->state[k], c->state[k].name);
            speller_name(s, &c->state[k].other, text_format(cx, "%s_next", c->state[k].name));
        }
    }
    for (size_t i = 0; any && i < sizeof own / sizeof own[0]; i++) speller_name(s, own[i], own[i]);
}

static Speller body_speller(Ctx *cx, const Body *b)
{
    Speller s = speller_new(cx);
    speller_name(&s, b, "memory");
    speller_name(&s, &b->param, "weights");
    for (int i = 0; i < b->param_count; i++) speller_name(&s, &b->param[i], b->param[i].name);
    control_reserve(cx, &s, b->call, b->call_count);
    for (int i = 0; i < b->size_count; i++) speller_name(&s, b->size[i], expr_as_var(b->size[i])->name);
    return s;
}

void body_function(Ctx *cx, Text *t, const Program *p, const Body *b, int first_layer, PrintCalls *print_calls)
{
    Program inside = *p;
    Speller sizes = body_speller(cx, b);
    int count = 0;
    inside.param = b->param;
    body_comment(cx, t, b);
    const size_t start = t->length;
    text_printf(t, "static %s %s_%s(", b->may_stop ? "int" : "void", p->name, b->name);
    for (int i = 0; i < b->size_count; i++)
        text_printf(t, "%sint32_t %s", count++ ? ", " : "", speller_find(&sizes, b->size[i]));
    if (b->has_memory) text_add(t, count++ ? ", uint8_t *memory" : "uint8_t *memory");
    if (body_reads_file(p, b)) text_printf(t, "%sconst uint8_t *weights", count++ ? ", " : "");
    for (int i = 0; i < b->param_count; i++) {
        const Param *q = &b->param[i];
        if (!q->is_unused)
            text_printf(t, "%s%s%s *%s", count++ ? ", " : "", q->is_written ? "" : "const ", c_type(q->tensor),
                        q->name);
    }
    text_add(t, count ? ")" : "void)");
    wrap_list(cx, t, start);
    text_add(t, "\n{\n");
    print_calls(cx, t, &inside, b, first_layer, &sizes);
    text_add(t, b->may_stop ? "    return 0;\n}\n\n" : "}\n\n");
}

/* ---- Control ----------------------------------------------------------------------------------------------------- */

typedef struct ControlPrinter {
    Ctx *cx;
    Text *t;
    const Program *p;
    const Call *call;
    const Control *c;
    Speller *sizes;
    PrintPlace *place;
} ControlPrinter;

bool control_has_limit(const Control *c)
{
    return c->capacity >= 0 && (c->trip_count < 0 || c->trip_count > c->capacity);
}

bool control_may_stop(const Control *c)
{
    for (int i = 0; i < c->body_count; i++)
        if (c->body[i]->may_stop) return true;
    return control_has_limit(c);
}

static const char *operand_place(const ControlPrinter *r, int place, DType t, bool is_written)
{
    const Memory m = { .kind = is_written ? MEMORY_OUTPUT : MEMORY_INPUT, .type = t };
    return r->place(r->cx, r->p, &r->call->place[place], &m);
}

static const char *times(const ControlPrinter *r, const char *iteration, const Expr *elems)
{
    if (expr_is_int(elems, 1)) return iteration;
    const char *count = spell_size(r->sizes, elems);
    const bool is_one_word = elems->kind == EXPR_INT || expr_as_var(elems);
    return text_format(r->cx, is_one_word ? "%s * %s" : "%s * (%s)", iteration, count);
}

/* Returns the size of the tensor in bytes, as an expression of the caller's sizes. */
static const char *bytes_of(const ControlPrinter *r, const Tensor *t)
{
    if (tensor_is_fixed(t)) return text_format(r->cx, "%lld", (long long)tensor_bytes(t));
    return text_format(r->cx, "(size_t)(%s) * %d", spell_size(r->sizes, size_product(r->cx, t->shape, t->rank)),
                       dtype_info(t->type)->bytes);
}

static const char *argument_text(const ControlPrinter *r, const Argument *a, const Param *q)
{
    switch (a->kind) {
    case ARGUMENT_PLACE:   return operand_place(r, a->index, q->tensor->type, q->is_written);
    case ARGUMENT_ITERATION:    return "&iteration";
    case ARGUMENT_GOES_ON: return "&again";
    case ARGUMENT_STATE:   return r->c->state[a->index].name;
    case ARGUMENT_NEXT:
        return text_format(r->cx, r->c->state[a->index].other >= 0 ? "%s_next" : "%s", r->c->state[a->index].name);
    case ARGUMENT_ROW: {
        const char *iteration =
            a->is_back ? text_format(r->cx, "(%lld - iteration)", (long long)r->c->trip_count - 1) : "iteration";
        return text_format(r->cx, "%s + %s", operand_place(r, a->index, q->tensor->type, q->is_written),
                           times(r, iteration, a->elems));
    }
    }
    return "";
}

static const char *memory_of(const ControlPrinter *r)
{
    const Place *at = &r->call->place[r->c->memory];
    return arena_address(r->cx, r->p, program_memory(r->p, at->index), at->item, at->offset);
}

static void body_call(const ControlPrinter *r, const Body *b, const char *indent)
{
    int count = 0;
    const size_t start = r->t->length;
    text_printf(r->t, "%s%s%s_%s(", indent, b->may_stop ? "const int status = " : "", r->p->name, b->name);
    for (int i = 0; i < b->size_count; i++)
        text_printf(r->t, "%s%s", count++ ? ", " : "", spell_size(r->sizes, b->size[i]));
    if (b->has_memory) text_printf(r->t, "%s%s", count++ ? ", " : "", memory_of(r));
    if (body_reads_file(r->p, b)) text_printf(r->t, "%sweights", count++ ? ", " : "");
    for (int i = 0; i < b->param_count; i++)
        if (!b->param[i].is_unused)
            text_printf(r->t, "%s%s", count++ ? ", " : "", argument_text(r, &r->c->argument[i], &b->param[i]));
    text_add(r->t, ");");
    wrap_list(r->cx, r->t, start);
    text_char(r->t, '\n');
    if (b->may_stop) text_printf(r->t, "%sif (status != 0) return status;\n", indent);
}

static const char *value_of(const ControlPrinter *r, int place, DType t)
{
    const char *at = operand_place(r, place, t, false);
    return text_format(r->cx, *at == '(' ? "*%s" : strchr(at, '+') ? "*(%s)" : "*%s", at);
}

static void choice(const ControlPrinter *r)
{
    text_printf(r->t, "    if (%s) {\n", value_of(r, r->c->condition, BOOL));
    body_call(r, r->c->body[0], "        ");
    text_add(r->t, "    } else {\n");
    body_call(r, r->c->body[1], "        ");
    text_add(r->t, "    }\n");
}

static bool reads_iteration(const Control *c)
{
    for (int i = 0; i < c->body[0]->param_count; i++)
        if (c->argument[i].kind == ARGUMENT_ITERATION && !c->body[0]->param[i].is_unused) return true;
    return false;
}

/* Returns true if the loop needs no counter: only its condition ends it, and neither condition nor body reads the
 * iteration. */
static bool is_uncounted(const Control *c)
{
    return c->trip_count < 0 && c->count < 0 && !c->row_count && !reads_iteration(c);
}

static bool is_counted(const Control *c) { return c->trip_count >= 0 && !c->has_condition && c->condition < 0; }

/* Returns true if the trip count is a known odd number: the state must then begin in the other array, so that it ends
 * in its output. */
static bool begins_in_other(const Control *c, const Carried *s)
{
    return s->other >= 0 && is_counted(c) && c->trip_count % 2 == 1;
}

static void declare_state(const ControlPrinter *r, const Carried *s)
{
    const DType type = s->tensor->type;
    const char *bytes = bytes_of(r, s->tensor), *to = operand_place(r, s->to, type, true);
    const char *other = s->other >= 0 ? operand_place(r, s->other, type, true) : NULL;
    const bool swapped = begins_in_other(r->c, s);
    text_printf(r->t, "        %s *%s%s = %s", c_type(s->tensor), other ? "" : "const ", s->name, swapped ? other : to);
    if (other) text_printf(r->t, ", *%s_next = %s", s->name, swapped ? to : other);
    text_add(r->t, ";\n");
    if (r->call->place[s->from].kind == PLACE_NONE) text_printf(r->t, "        memset(%s, 0, %s);\n", s->name, bytes);
    else text_printf(r->t, "        memcpy(%s, %s, %s);\n", s->name, operand_place(r, s->from, type, false), bytes);
}

bool control_moves_memory(const Control *c) { return c->state_count || (c->row_count && !is_counted(c)); }

static void loop_head(const ControlPrinter *r)
{
    const Control *c = r->c;
    const char *type = !reads_iteration(c) && c->trip_count >= 0 && c->trip_count <= INT32_MAX ? "int32_t" : "int64_t";
    const bool keeps_iteration = c->row_count && !is_counted(c);
    if (c->condition >= 0) text_printf(r->t, "        uint8_t again = %s;\n", value_of(r, c->condition, BOOL));
    else if (c->has_condition) text_add(r->t, "        uint8_t again = 1;\n");
    if (is_uncounted(c)) {
        text_add(r->t, "        while (again) {\n");
        return;
    }
    if (c->count >= 0) text_printf(r->t, "        const int64_t trip_count = %s;\n", value_of(r, c->count, I64));
    if (keeps_iteration) text_printf(r->t, "        %s iteration = 0;\n        for (; ", type);
    else text_printf(r->t, "        for (%s iteration = 0; ", type);
    if (c->trip_count >= 0) text_printf(r->t, "iteration < %lld", (long long)c->trip_count);
    else if (c->count >= 0) text_add(r->t, "iteration < trip_count");
    if (c->condition >= 0 || c->has_condition)
        text_add(r->t, c->trip_count >= 0 || c->count >= 0 ? " && again" : "again");
    text_add(r->t, "; iteration++) {\n");
}

/* Swaps the two arrays of each state. */
static void swap_states(const ControlPrinter *r)
{
    for (int i = 0; i < r->c->state_count; i++) {
        const Carried *s = &r->c->state[i];
        if (s->other >= 0)
            text_printf(r->t, "            { %s *const last = %s; %s = %s_next; %s_next = last; }\n", c_type(s->tensor),
                        s->name, s->name, s->name, s->name);
    }
}

static void loop_end(const ControlPrinter *r)
{
    const Control *c = r->c;
    for (int i = 0; i < c->row_count && !is_counted(c); i++)
        for (int a = 0; a < c->body[0]->param_count; a++) {
            const Argument *row = &c->argument[a];
            if (row->kind != ARGUMENT_ROW || row->index != c->row[i]) continue;
            const Tensor *t = c->body[0]->param[a].tensor;
            text_printf(r->t, "        memset(%s + %s, 0, (size_t)(%lld - iteration) * %s);\n",
                        operand_place(r, row->index, t->type, true), times(r, "iteration", row->elems),
                        (long long)c->capacity, bytes_of(r, t));
        }
    for (int i = 0; i < c->state_count; i++) {
        const Carried *s = &c->state[i];
        const char *to = operand_place(r, s->to, s->tensor->type, true);
        if (s->other >= 0 && !is_counted(c))
            text_printf(r->t, "        if (%s != %s) memcpy(%s, %s, %s);\n", s->name, to, to, s->name,
                        bytes_of(r, s->tensor));
    }
}

void control_notes(Ctx *cx, Text *t, const Program *p)
{
    const Call *call;
    for (int i = 0; (call = program_call(p, i)) != NULL; i++) {
        const Control *c = call->control;
        if (!c || !c->row_count || is_counted(c)) continue;
        text_printf(t, " *\n * \"%s\" computes at most %lld rows; the remaining rows are zero%s.\n",
                    comment_text(cx, call->label), (long long)c->capacity,
                    control_has_limit(c)
                        ? text_format(cx, ". A further row ends\n * the run with %s_E_SIZE", name_upper(cx, p->name))
                        : "");
    }
}

static void loop(const ControlPrinter *r)
{
    const Control *c = r->c;
    text_add(r->t, "    {\n");
    for (int i = 0; i < c->state_count; i++) declare_state(r, &c->state[i]);
    loop_head(r);
    if (control_has_limit(c))
        text_printf(r->t, "            if (iteration == %lld) return %s_E_SIZE;     /* capacity of the rows */\n",
                    (long long)c->capacity, name_upper(r->cx, r->p->name));
    body_call(r, c->body[0], "            ");
    swap_states(r);
    text_add(r->t, "        }\n");
    loop_end(r);
    text_add(r->t, "    }\n");
}

void control_call(Ctx *cx, Text *t, const Program *p, const Call *c, Speller *sizes, PrintPlace *print_place)
{
    const ControlPrinter r = { cx, t, p, c, c->control, sizes, print_place };
    if (c->control->is_loop) loop(&r);
    else choice(&r);
}
