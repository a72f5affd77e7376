/* SPDX-License-Identifier: MIT */
/* The fusion of each graph of a table (each row has a number), as data: the graph as a .te text, and its functions. A
 * function is written as its calls with a '!' after the anchor; calls without a function, which only move the address,
 * are in parentheses. `than` states how and why this differs from the table. */
#include "context/context.h"
#include "graphs.h"

typedef struct Row { int number; const char *graph, *text, *functions, *than; } Row;

#define IMAGE "input x: f32[1][6][6][4]\ninput k: f32[3][3][4][4]\ninput b: f32[4]\n"
#define CONV(name, of) name " = conv2d(" of ", k, pad=1,1,1,1)\n"

static const Row rows[] = {
    { 1, "add, exp, squeeze", IMAGE "a = add(x, b)\ne = exp(a)\ny = squeeze(e)\noutput y\n", "a! e | (y)", NULL },
    { 2, "conv, bias, relu", IMAGE CONV("c", "x") "a = add(c, b)\ny = relu(a)\noutput y\n", "c! a y", NULL },
    { 3, "two convs, add, relu: the first one takes them",
      IMAGE CONV("c", "x") CONV("d", "x") "a = add(c, d)\ny = relu(a)\noutput y\n", "d! | c! a y", NULL },
    { 3, "the same with the operands the other way round",
      IMAGE CONV("c", "x") CONV("d", "x") "a = add(d, c)\ny = relu(a)\noutput y\n", "d! | c! a y",
      "the first operand's there: here calls are visited in the model's order, and the order of operands changes "
      "nothing" },
    { 3, "a block whose input is added to its result",
      IMAGE CONV("c", "x") "r = relu(c)\n" CONV("d", "r") "a = add(d, r)\ny = relu(a)\noutput y\n", "c! r | d! a y",
      NULL },
    { 4, "conv, then a result larger than it",
      IMAGE "input z: f32[3][6][6][4]\n" CONV("c", "x") "y = add(c, z)\noutput y\n", "c! | y!", NULL },
    { 5, "conv, transpose", IMAGE CONV("c", "x") "y = transpose(c, perm=0,2,1,3)\noutput y\n", "c! | y!", NULL },
    { 5, "conv, reshape", IMAGE CONV("c", "x") "y = reshape(c, shape=36,4)\noutput y\n", "c! | (y)", NULL },
    { 6, "conv, relu, max pool", IMAGE CONV("c", "x") "r = relu(c)\ny = max_pool2d(r, kernel=2,2)\noutput y\n",
      "c! r | y!", NULL },
    { 7, "pool, relu", IMAGE "p = max_pool2d(x, kernel=2,2)\ny = relu(p)\noutput y\n", "p! y", NULL },
    { 8, "relu, sum", IMAGE "r = relu(x)\ny = reduce_sum(r, axes=3)\noutput y\n", "r y!", NULL },
    { 9, "reshape, sum", IMAGE "r = reshape(x, shape=36,4)\ny = reduce_sum(r, axes=1)\noutput y\n", "(r) | y!", NULL },
    { 9, "slice, sum", IMAGE "r = slice(x, begin=1, end=5, axes=1)\ny = reduce_sum(r, axes=3)\noutput y\n", "(r) | y!",
      NULL },
    { 10, "sum, relu", IMAGE "s = reduce_sum(x, axes=3)\ny = relu(s)\noutput y\n", "s! y",
      "two functions there: here a sum is an accumulator as a convolution's is, and what is done to each of its "
      "elements is done before it is stored" },
    { 10, "softmax, relu", IMAGE "s = softmax(x)\ny = relu(s)\noutput y\n", "s! y", NULL },
    { 11, "concat of relus, returned",
      IMAGE "r = relu(x)\ns = relu(r)\nt = neg(x)\ny = concat(s, t, axis=3)\noutput y\n", "r s! | t! | (y)", NULL },
    { 11, "concat of relus, then an injective consumer",
      IMAGE "r = relu(x)\nt = neg(x)\nc = concat(r, t, axis=3)\ny = tanh(c)\noutput y\n", "r! | t! | (c) | y!",
      "its operands are fused into the concatenation there, which copies: here they are written where it wants them" },
    { 12, "dense, softmax", "input x: f32[2][5]\ninput w: f32[5][3]\nd = dense(x, w)\ny = softmax(d)\noutput y\n",
      "d! | y!", NULL },
    { 13, "a softmax by hand",
      "input x: f32[2][5]\nn = neg(x)\nm = reduce_max(n, axes=1, keepdims=1)\ns = sub(n, m)\ny = exp(s)\noutput y\n",
      "n! | m! | s! y", NULL },
    { 13, "a softmax by hand, of an input",
      "input x: f32[2][5]\nm = reduce_max(x, axes=1, keepdims=1)\ns = sub(x, m)\ny = exp(s)\noutput y\n", "m! | s! y",
      NULL },
    { 14, "stop_fusion between elementwise calls",
      IMAGE "r = relu(x)\ns = annotation.stop_fusion(r)\ny = tanh(s)\noutput y\n", "r! | (s) | y!", NULL },
    { 14, "stop_fusion behind a conv",
      IMAGE CONV("c", "x") "s = annotation.stop_fusion(c)\na = add(s, b)\ny = relu(a)\noutput y\n", "c! | (s) | a! y",
      NULL },
    { 14, "stop_fusion before a sum",
      IMAGE "r = relu(x)\ns = annotation.stop_fusion(r)\ny = reduce_sum(s, axes=3)\noutput y\n", "r! | (s) | y!",
      NULL },
    { 15, "a value inside that is an output, too", IMAGE CONV("c", "x") "r = relu(c)\ny = tanh(r)\noutput r, y\n",
      "c! r | y!", NULL },
    { 15, "the anchor's own value is an output, too", IMAGE CONV("c", "x") "y = relu(c)\noutput c, y\n", "c! | y!",
      NULL },
    /* Statements of section 7.2 on diamonds, depth and phases beyond the table. */
    { 0, "a diamond behind a conv, taken whole",
      IMAGE CONV("c", "x") "s = sigmoid(c)\nt = tanh(c)\ny = mul(s, t)\noutput y\n", "c! s t y", NULL },
    { 0, "a diamond behind a conv, of which one side reduces: not at all",
      IMAGE CONV("c", "x") "s = reduce_sum(c, axes=3, keepdims=1)\ny = mul(c, s)\noutput y\n", "c! | s! | y!", NULL },
    { 0, "a split: its parts read one function's result",
      IMAGE "r = relu(x)\na = slice(r, begin=0, end=2, axes=3)\nb2 = slice(r, begin=2, end=4, axes=3)\n"
            "s = neg(a)\nt = abs(b2)\noutput s, t\n",
      "r! | a! s | b2! t", NULL },
};

static void add_group(Text *t, const Group *g, bool is_free)
{
    text_add(t, is_free ? "(" : "");
    for (int j = 0; j < g->node_count; j++)
        text_printf(t, "%s%s%s", j ? " " : "", g->node[j]->name, g->node[j] == g->anchor && !is_free ? "!" : "");
    text_add(t, is_free ? ")" : "");
}

/* Runs the graph through all passes to a program. */
static const char *functions_of(Ctx *cx, const Row *r, Build *b)
{
    static const lw_options options = { .name = "net", .combine = "none" };
    Text t = text_new(cx);
    if (!build_read_text(b, cx, "net.te", r->text, false, &options) || !build_graph(b) || !build_nests(b)
        || !build_program(b))
        return diag_text(cx, cx->diags);
    for (int i = 0; i < b->groups.count; i++) {
        text_add(&t, i ? " | " : "");
        add_group(&t, &b->groups.at[i], b->plan.is_free[i]);
    }
    return text_string(&t);
}

int main(void)
{
    enum { ROWS = sizeof rows / sizeof rows[0], NUMBERS = 15 };
    bool seen[NUMBERS + 1] = { true };
    for (size_t i = 0; i < ROWS; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Build b = { .cx = cx };
        const char *found = functions_of(cx, &rows[i], &b);
        const char *label = rows[i].number
            ? text_format(cx, "7.3 row %d fuses as listed: %s", rows[i].number, rows[i].graph)
            : text_format(cx, "7.2 fuses as listed: %s", rows[i].graph);
        check_that(strcmp(found, rows[i].functions) == 0, label, "%s; wanted %s", found, rows[i].functions);
        if (rows[i].than) printf("# other than in the table: %s\n", rows[i].than);
        seen[rows[i].number] = true;
        ctx_free(cx);
    }
    for (int n = 1; n <= NUMBERS; n++)
        if (!seen[n]) check_that(false, "every row of the table", "row %d has no test", n);
    return check_done();
}
