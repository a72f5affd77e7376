/* SPDX-License-Identifier: MIT */
/* Prints a nest: stages, then loops. read_nest.c reads the text; printing again gives the same bytes.
 *
 *  nest blur
 *  size n in 1..1024
 *  input x: f32[n][8]
 *  const w: f32[3] = {0.25, 0.5, 0.25}
 *  stage y[i<n, j<6] = sum(k<3) x[i, j+k] * w[k]
 *  output y
 *  loops
 *    for y.i < n
 *      for y.jo < 2
 *        for y.ji < 4 unrolled
 *          for y.k < 3
 *            block y[i=i, j=jo*4+ji, k=k] if jo*4 + ji < 6
 *  steps
 *    split y.j 4
 *    unroll y.ji
 *
 * Further statements:
 *
 *  alloc TENSOR SCOPE [ring(AXIS)=N]... [order(0,2,1)] [tile(AXIS)=N]... [align=N]
 *  if CONDITION, with else
 *  tile [MACRO]
 *  external [in_place] FUNCTION(ARGUMENT, ...)
 *  nothing
 *  block init ..., block update ...       the parts of a reduction
 *  block y@tail[...]                      a copy of y */
#include "ir/text/print.h"

#include <string.h>

#include "ir/nest/instruction.h"
#include "ir/text/read_external.h"
#include "ir/text/step.h"

#include "support/names.h"

enum { SHOWN_ELEMS = 64, STEP = 2 };

typedef struct NestPrinter {
    Ctx *cx;
    Text *t;
    const Nest *nest;
    Namer tensors, sizes;
    const struct PrintedSize *size;     /* declared sizes, newest first */
    Map stage_axes;              /* maps a Stage to the Namer of its axes */
    Map promised;                /* tensors with a printed `promise` line */
    const LoopName *loops;
} NestPrinter;

/* ---- Names ------------------------------------------------------------------------------------------------------ */

typedef struct PrintedSize { const struct PrintedSize *before; const Var *var; } PrintedSize;

static void declare_size(const Expr *e, void *user)
{
    NestPrinter *p = user;
    const Var *v = expr_as_var(e);
    if (!v || v->role != VAR_SIZE || namer_get(&p->sizes, v, NULL)) return;
    text_printf(p->t, "size %s in %lld..%lld\n", namer_add(&p->sizes, v, v->name), (long long)v->least,
                (long long)v->greatest);
    PrintedSize *s = NEW(p->cx->arena, PrintedSize);
    *s = (PrintedSize){ p->size, v };
    p->size = s;
}

static void declare_sizes_of_stmt(NestPrinter *p, const Stmt *s)
{
    if (s->extent) expr_walk(p->cx, s->extent, declare_size, p);
    if (s->cond) expr_walk(p->cx, s->cond, declare_size, p);
    for (int a = 0; s->kind == STMT_BLOCK && a < s->stage->axis_count; a++)
        if (s->bind[a]) expr_walk(p->cx, s->bind[a], declare_size, p);
    for (int i = 0; i < s->child_count; i++) declare_sizes_of_stmt(p, s->child[i]);
}

static void declare_sizes(NestPrinter *p)
{
    for (int i = 0; i < p->nest->input_count; i++)
        for (int d = 0; d < p->nest->input[i]->rank; d++)
            expr_walk(p->cx, p->nest->input[i]->shape[d], declare_size, p);
    for (int i = 0; i < p->nest->stage_count; i++) {
        const Stage *s = p->nest->stage[i];
        for (int a = 0; a < s->axis_count; a++) expr_walk(p->cx, s->axis[a].extent, declare_size, p);
        for (int v = 0; v < s->out_count; v++) {
            expr_walk(p->cx, s->value[v], declare_size, p);
            if (s->init) expr_walk(p->cx, s->init[v], declare_size, p);
        }
    }
    if (p->nest->root) declare_sizes_of_stmt(p, p->nest->root);
}

static void name_tensors(NestPrinter *p)
{
    for (int i = 0; i < p->nest->input_count; i++) namer_add(&p->tensors, p->nest->input[i], p->nest->input[i]->name);
    for (int i = 0; i < p->nest->stage_count; i++)
        for (int o = 0; o < p->nest->stage[i]->out_count; o++)
            namer_add(&p->tensors, p->nest->stage[i]->out[o], p->nest->stage[i]->out[o]->name);
}

/* Returns the names of the stage's axes. Axes and sizes share one name space. */
static const Namer *axes_of(NestPrinter *p, const Stage *s)
{
    Namer *axes = map_get_ptr(&p->stage_axes, s);
    if (axes) return axes;
    axes = NEW(p->cx->arena, Namer);
    *axes = namer_new(p->cx);
    for (const PrintedSize *size = p->size; size; size = size->before)
        namer_add(axes, size->var, namer_get(&p->sizes, size->var, size->var->name));
    for (int a = 0; a < s->axis_count; a++) namer_add(axes, s->axis[a].var->ref, expr_as_var(s->axis[a].var)->name);
    map_put_ptr(&p->stage_axes, s, axes);
    return axes;
}

static Printer exprs_of(const NestPrinter *p)
{
    return (Printer){ .t = p->t, .tensors = &p->tensors, .vars = &p->sizes, .loops = p->loops };
}

/* ---- Declarations ----------------------------------------------------------------------------------------------- */

static void print_data(NestPrinter *p, const Tensor *t)
{
    int64_t count = tensor_elems(t);
    text_add(p->t, " = {");
    for (int64_t i = 0; i < count && count <= SHOWN_ELEMS; i++) {
        if (i) text_add(p->t, ", ");
        print_element(p->t, t->type, dtype_load(t->type, t->data, i));
    }
    text_add(p->t, count > SHOWN_ELEMS ? "..}" : "}");
}

static void print_input(NestPrinter *p, const Tensor *t)
{
    Printer e = exprs_of(p);
    text_printf(p->t, "%s %s: ", t->data ? "const" : "input", namer_get(&p->tensors, t, t->name));
    print_shape(&e, t);
    if (t->data) print_data(p, t);
    text_char(p->t, '\n');
}

static const char *stage_name(const NestPrinter *p, const Stage *s)
{
    return text_equal(s->name, s->out[0]->name) ? namer_get(&p->tensors, s->out[0], s->name) : s->name;
}

/* Prints `promise NAME: TYPE` for each tensor that the stage reads and that this stage or a later stage produces: a
 * recurrence. */
static void print_promises(NestPrinter *p, int at)
{
    Printer e = exprs_of(p);
    const Nest *n = p->nest;
    const Tensor **reads;
    int count = stage_reads(p->cx, n->stage[at], &reads);
    for (int i = 0; i < count; i++)
        for (int later = at; later < n->stage_count; later++) {
            if (!reads[i]->producer || reads[i]->producer->stage != n->stage[later]
                || map_get_ptr(&p->promised, reads[i]))
                continue;
            map_put_ptr(&p->promised, reads[i], p);
            text_printf(p->t, "promise %s: ", namer_get(&p->tensors, reads[i], reads[i]->name));
            print_shape(&e, reads[i]);
            text_char(p->t, '\n');
        }
}

static void print_stage_line(NestPrinter *p, const Stage *s)
{
    Printer e = { .t = p->t, .tensors = &p->tensors, .vars = axes_of(p, s) };
    text_printf(p->t, "stage %s%s", s->contracts ? "contract " : "", s->reassociates ? "reassociate " : "");
    if (!text_equal(s->name, s->out[0]->name)) text_printf(p->t, "%s: ", s->name);
    print_formula(p->cx, &e, s);
    text_char(p->t, '\n');
}

/* ---- Statements ------------------------------------------------------------------------------------------------- */

static void print_stmt(NestPrinter *p, const Stmt *s, int indent);

static void print_hints(NestPrinter *p, const LoopHints *h)
{
    if (h && h->pragma.kind) text_printf(p->t, " pragma(%s)", pragma_text(p->cx, &h->pragma));
    for (int i = 0; h && i < h->prefetch_count; i++) {
        const Tensor *t = h->prefetch[i].tensor;
        text_printf(p->t, " prefetch(%s, %lld", namer_get(&p->tensors, t, t->name), (long long)h->prefetch[i].ahead);
        if (h->prefetch[i].across) text_printf(p->t, ", %s", h->prefetch[i].across);
        text_char(p->t, ')');
    }
}

static void print_loop(NestPrinter *p, const Stmt *s, int indent)
{
    const char *full = s->name, *dot;
    for (int i = 2, again = 1; again; i++) {
        again = namer_has(&p->sizes, full);
        for (const LoopName *l = p->loops; l; l = l->outer) again = again || text_equal(l->full, full);
        if (again) full = name_format(p->cx, "%s_%d", s->name, i);
    }
    dot = strrchr(full, '.');
    Printer e = exprs_of(p);
    text_printf(p->t, "for %s < ", full);
    print_bound(&e, s->extent, EXTENT_LEVEL, false);
    if (s->loop_kind != LOOP_SERIAL) text_printf(p->t, " %s", loop_kind_text(s->loop_kind));
    print_hints(p, expr_as_var(s->var)->hints);
    text_char(p->t, '\n');
    LoopName loop = { p->loops, s->var, full, dot ? dot + 1 : full };
    p->loops = &loop;
    print_stmt(p, s->child[0], indent + STEP);
    p->loops = loop.outer;
}

static void print_dim(NestPrinter *p, const Tensor *t, int d)
{
    const Stage *s = t->producer ? t->producer->stage : NULL;
    if (!s) text_printf(p->t, "%d", d);
    else text_add(p->t, namer_get(axes_of(p, s), s->axis[d].var->ref, "?"));
}

static void print_alloc(NestPrinter *p, const Buffer *b)
{
    const Tensor *t = b->tensor;
    text_printf(p->t, "alloc %s %s", namer_get(&p->tensors, t, t->name), b->scope->name);
    bool in_order = true;
    for (int d = 0; d < t->rank; d++) {
        in_order = in_order && b->permutation[d] == d;
        if (!b->ring[d]) continue;
        text_add(p->t, " ring(");
        print_dim(p, t, d);
        text_printf(p->t, ")=%lld", (long long)b->ring[d]);
    }
    for (int d = 0; d < t->rank && !in_order; d++)
        text_printf(p->t, "%s%d%s", d ? "," : " order(", b->permutation[d], d + 1 < t->rank ? "" : ")");
    for (int d = 0; d < t->rank; d++) {
        if (!b->tile[d]) continue;
        text_add(p->t, " tile(");
        print_dim(p, t, d);
        text_printf(p->t, ")=%lld", (long long)b->tile[d]);
    }
    if (b->align) text_printf(p->t, " align=%lld", (long long)b->align);
    if (b->slots) text_printf(p->t, " slots=%lld", (long long)b->slots);
    text_char(p->t, '\n');
}

static void print_block(NestPrinter *p, const Stmt *s)
{
    static const char *const parts[] = { [BLOCK_WHOLE] = "", [BLOCK_INIT] = "init ", [BLOCK_UPDATE] = "update " };
    Printer e = exprs_of(p);
    const Namer *axes = axes_of(p, s->stage);
    const char *of = stage_name(p, s->stage), *at = strchr(s->name, '@');
    size_t n = at ? (size_t)(at - s->name) : strlen(s->name);
    text_printf(p->t, "block %s%s", parts[s->part], s->name);
    if (strlen(of) != n || memcmp(of, s->name, n) != 0) text_printf(p->t, " of %s", of);
    text_char(p->t, '[');
    bool is_first = true;
    for (int a = 0; a < s->stage->axis_count; a++) {
        if (!s->bind[a]) continue;
        text_printf(p->t, "%s%s=", is_first ? "" : ", ", namer_get(axes, s->stage->axis[a].var->ref, "?"));
        print_bound(&e, s->bind[a], 0, true);
        is_first = false;
    }
    text_char(p->t, ']');
    if (s->cond) {
        text_add(p->t, " if ");
        print_bound(&e, s->cond, 0, false);
    }
    text_char(p->t, '\n');
}

static void print_external(NestPrinter *p, const External *e)
{
    text_printf(p->t, "external%s ", e->in_place ? " in_place" : "");
    external_print(p->t, e, &p->tensors);
    text_char(p->t, '\n');
}

static void print_if(NestPrinter *p, const Stmt *s, int indent)
{
    Printer e = exprs_of(p);
    text_add(p->t, "if ");
    print_bound(&e, s->cond, 0, false);
    text_char(p->t, '\n');
    print_stmt(p, s->child[0], indent + STEP);
    if (s->child_count < 2) return;
    text_spaces(p->t, indent);
    text_add(p->t, "else\n");
    print_stmt(p, s->child[1], indent + STEP);
}

/* Prints a tile. If an instruction with open numbers has values for them, the values follow its name; in this list a
 * size of the run is printed as its own name. */
static void print_tile(Text *t, const Instruction *i)
{
    text_printf(t, "tile%s%s", i ? " " : "", i ? i->macro : "");
    for (int k = 0; i && i->open && k < i->number_count; k++) {
        text_char(t, k ? ',' : '[');
        print_expr(t, i->number[k]);
    }
    text_add(t, i && i->open && i->number_count ? "]\n" : "\n");
}

static void print_stmt(NestPrinter *p, const Stmt *s, int indent)
{
    if (s->kind == STMT_SEQ && s->child_count) {
        for (int i = 0; i < s->child_count; i++) print_stmt(p, s->child[i], indent);
        return;
    }
    text_spaces(p->t, indent);
    switch (s->kind) {
    case STMT_SEQ: text_add(p->t, "nothing\n"); break;
    case STMT_FOR: print_loop(p, s, indent); break;
    case STMT_IF: print_if(p, s, indent); break;
    case STMT_BLOCK: print_block(p, s); break;
    case STMT_START:
        text_printf(p->t, "start %s ahead=%lld channel=%lld\n", s->name, (long long)s->copy->ahead,
                    (long long)s->copy->channel);
        print_stmt(p, s->child[0], indent + STEP);
        break;
    case STMT_WAIT: text_printf(p->t, "wait %s pending=%lld\n", s->name, (long long)s->copy->pending); break;
    case STMT_ALLOC:
        print_alloc(p, s->buffer);
        print_stmt(p, s->child[0], indent + STEP);
        break;
    case STMT_TILE:
        if (s->external) print_external(p, s->external);
        else print_tile(p->t, s->instr);
        print_stmt(p, s->child[0], indent + STEP);
        break;
    }
}

void print_loops(Ctx *cx, Text *t, const Nest *n)
{
    NestPrinter p = { .cx = cx,
                      .t = t,
                      .nest = n,
                      .tensors = namer_new(cx),
                      .sizes = namer_new(cx),
                      .stage_axes = map_new(cx->arena),
                      .promised = map_new(cx->arena) };
    Namer own = namer_new(cx);
    text_printf(t, "nest %s\n", namer_add(&own, n, n->name ? n->name : "_"));
    declare_sizes(&p);
    name_tensors(&p);
    for (int i = 0; i < n->input_count; i++) print_input(&p, n->input[i]);
    for (int i = 0; i < n->stage_count; i++) {
        print_promises(&p, i);
        print_stage_line(&p, n->stage[i]);
    }
    for (int i = 0; i < n->output_count; i++)
        text_printf(t, "output %s\n", namer_get(&p.tensors, n->output[i], n->output[i]->name));
    if (n->root) {
        text_add(t, "loops\n");
        print_stmt(&p, n->root, STEP);
    }
}

void print_nest(Ctx *cx, Text *t, const Nest *n)
{
    if (!n) return;
    print_loops(cx, t, n);
    if (n->step_count) text_add(t, "steps\n");
    for (int i = 0; i < n->step_count; i++) text_printf(t, "  %s\n", step_text(cx, &n->step[i]));
}
