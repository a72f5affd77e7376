/* SPDX-License-Identifier: MIT */
/* samples/conv_pool: a pooling that computes its convolution row by row. The test counts the interpreter's work: how
 * many times each element of each stage is begun (the instance with all reduce axes 0), and the total number of
 * instances. */
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "import/import.h"
#include "import/te/te.h"
#include "ir/text/formula.h"
#include "ir/interpret/interpret.h"
#include "support/file.h"

/* The elements of one stage: at most 32 x 32 x 16. */
enum { MAX_STAGES = 8, ROOM = 32 * 32 * 16 };
typedef struct Counted { const Stage *stage; int begun[ROOM]; long instances; } Counted;
typedef struct Counts { int count; Counted at[MAX_STAGES]; } Counts;

static int64_t extent(const Stage *s, int a) { return s->axis[a].extent->integer; }

static void count_instance(void *user, const Stmt *block, const int64_t *axis)
{
    Counts *c = user;
    const Stage *s = block->stage;
    int i = 0;
    int64_t element = 0;
    bool begins = true;
    while (i < c->count && c->at[i].stage != s) i++;
    if (i == MAX_STAGES) return;
    if (i == c->count) c->at[c->count++].stage = s;
    for (int a = 0; a < s->data_count; a++) element = element * extent(s, a) + axis[a];
    for (int a = s->data_count; a < s->axis_count; a++) begins = begins && axis[a] == 0;
    if (block->part != BLOCK_INIT) c->at[i].instances++;
    if (block->part != BLOCK_INIT && begins) c->at[i].begun[element]++;
}

typedef struct Sample { Ctx *cx; const Nest *nest; Counts *counts; } Sample;

static Sample sample_run(const char *path)
{
    Sample s = { context_new(NULL, NULL), NULL, NULL };
    Model m;
    bool read = te_read(s.cx, path, (const char *)file_read(s.cx, path).at, NULL, &m);
    if (read) s.nest = nest_naive(s.cx, "sample", m.input, m.input_count, m.output, m.output_count);
    for (int i = 0; read && i < m.schedule_count; i++)
        for (int k = 0; k < m.schedule[i].step_count; k++)
            s.nest = sched_written(s.cx, s.nest, &m.schedule[i].step[k]);
    s.counts = NEW(s.cx->arena, Counts);
    Env *e = env_new(s.cx);
    for (int i = 0; read && i < m.input_count; i++) env_alloc(s.cx, e, m.input[i]);
    bool ran = read
               && interpret(s.cx, s.nest, e,
                            &(RunOptions){ .checked = true, .visit = count_instance, .user = s.counts });
    check_that(ran, path, "%s", s.cx->diags ? diag_text(s.cx, s.cx->diags) : "?");
    return s;
}

/* Each position of the first `side` rows and columns is begun once, with a whole reduction; no other position is. */
static void check_once(const Sample *s, const char *label, const char *stage, int side, long terms)
{
    const Counted *c = NULL;
    for (int i = 0; i < s->counts->count; i++)
        if (strcmp(s->counts->at[i].stage->name, stage) == 0) c = &s->counts->at[i];
    int64_t columns = c ? extent(c->stage, 1) : 0, depth = c ? extent(c->stage, 2) : 0, other = 0;
    for (int64_t i = 0; c && i < extent(c->stage, 0) * columns * depth; i++) {
        bool is_needed = i / (columns * depth) < side && i / depth % columns < side;
        other += c->begun[i] != is_needed;
    }
    check_that(c && other == 0 && c->instances == side * side * depth * terms, label,
               "%lld elements are not begun as often as they should be, %ld instances", (long long)other,
               c ? c->instances : 0);
}

/* The ring of the stage's tensor along its rows; 0: it is kept whole. */
static int64_t ring_of(const Stmt *s, const char *tensor)
{
    int64_t ring = s->kind == STMT_ALLOC && strcmp(s->buffer->tensor->name, tensor) == 0 ? s->buffer->ring[0] : 0;
    for (int i = 0; i < s->child_count && !ring; i++) ring = ring_of(s->child[i], tensor);
    return ring;
}

int main(void)
{
    enum { SUM = 3 * 3 * 16, WINDOW = 3 * 3 };
    Sample apart = sample_run("samples/conv_pool/two_nests.te");
    check_once(&apart, "apart: every row of conv once", "conv", 32, SUM);
    CHECK("apart: relu is kept whole", ring_of(apart.nest->root, "relu") == 0);
    ctx_free(apart.cx);

    Sample rolling = sample_run("samples/conv_pool/rolling.te");
    check_once(&rolling, "rolling: every row of conv that is pooled once", "conv", 31, SUM);
    check_once(&rolling, "rolling: every row of relu that is pooled once", "relu", 31, 1);
    check_once(&rolling, "rolling: every row of y once", "y", 15, 1);
    CHECK("rolling: 4 rows of relu", ring_of(rolling.nest->root, "relu") == 4);
    ctx_free(rolling.cx);

    Sample chain = sample_run("samples/conv_pool/chain.te");
    check_once(&chain, "chain: every row of first that is needed once", "first", 29, SUM);
    check_once(&chain, "chain: every row of conv that is pooled once", "conv", 27, SUM);
    check_once(&chain, "chain: every row of y once", "y", 13, WINDOW);
    CHECK("chain: 4 rows of first", ring_of(chain.nest->root, "first") == 4);
    CHECK("chain: 3 rows of conv", ring_of(chain.nest->root, "conv") == 3);
    ctx_free(chain.cx);
    return check_done();
}
