/* SPDX-License-Identifier: MIT */
/* Gradients of whole networks, against values of JAX that tests/gradients/record.py recorded: of each adjoint the norm
 * and the products with four random vectors, in double. */
#include "check.h"
#include "context/context.h"
#include "import/te/te.h"
#include "support/file.h"
#include "support/names.h"

#include "gradient_check.h"

enum { MOST_ADJOINTS = 32, PRODUCTS = 4 };

typedef struct Recorded { const char *name; double norm, product[PRODUCTS]; } Recorded;

/* The text of one network, and what is recorded of it. */
typedef struct Network { const char *name, *text; double loss; int count; Recorded adjoint[MOST_ADJOINTS]; } Network;

static const char *word(Ctx *cx, const char **at)
{
    const size_t n = strcspn(*at, " \n");
    const char *w = name_n(cx, *at, n);
    *at += n + ((*at)[n] == ' ');
    return w;
}

static const char *next_line(const char *s)
{
    s += strcspn(s, "\n");
    return s + (*s == '\n');
}

/* Reads the network at *at, which moves behind it. */
static void read_network(Ctx *cx, const char **at, Network *n)
{
    const char *s = *at + strlen("network ");
    *n = (Network){ .name = word(cx, &s) };
    s = next_line(s);
    const char *end = strstr(s, "\nend ") + 1, *after = end + strlen("end ");
    n->text = text_format(cx, "%.*soutput %s\n", (int)(end - s), s, word(cx, &after));
    after = next_line(after) + strlen("loss ");
    n->loss = text_read_double(after, &after);
    for (s = next_line(after); strncmp(s, "adjoint ", 8) == 0 && n->count < MOST_ADJOINTS; s = next_line(s)) {
        Recorded *r = &n->adjoint[n->count++];
        s += strlen("adjoint ");
        r->name = word(cx, &s);
        r->norm = text_read_double(s, &s);
        for (int i = 0; i < PRODUCTS; i++) r->product[i] = text_read_double(s + strspn(s, " "), &s);
    }
    *at = s;
}

static bool is_near(double found, double wanted, double scale) { return fabs(found - wanted) <= 1e-9 * scale + 1e-13; }

static bool compare(const Network *n, int i, const Tensor *t, const void *data, uint32_t *seed)
{
    const Recorded *r = &n->adjoint[i];
    const int64_t elems = tensor_elems(t);
    double norm = 0;
    for (int64_t e = 0; e < elems; e++) norm += element(t, data, e) * element(t, data, e);
    bool same = is_near(sqrt(norm), r->norm, r->norm);
    for (int p = 0; p < PRODUCTS; p++) {
        double product = 0;
        for (int64_t e = 0; e < elems; e++) product += element(t, data, e) * gradient_draw(seed);
        same = same && is_near(product, r->product[p], r->norm * sqrt((double)elems));
    }
    return same;
}

static void try_network(const Network *n)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    uint32_t seed = 1;
    Tensor *adjoint[MOST_ADJOINTS];
    const char *fault = NULL;
    bool ok = te_read(cx, "network.te", n->text, NULL, &m) && m.input_count == n->count;
    for (int i = 0; ok && i < m.input_count; i++) {
        Tensor *x = m.input[i];
        double *data = arena_alloc(cx->arena, (size_t)tensor_bytes(x));
        for (int64_t e = 0; e < tensor_elems(x); e++) data[e] = gradient_draw(&seed);
        x->data = data;
    }
    Env *env = env_new(cx);
    ok = ok && differentiate(cx, m.output[0], NULL, m.input, m.input_count, adjoint)
         && run_calls(cx, adjoint, m.input_count, env, false) && run_calls(cx, m.output, 1, env, false);
    if (!ok) fault = cx->diags ? diag_text(cx, cx->diags) : "it cannot be read";
    else if (!is_near(element(m.output[0], env_get(env, m.output[0]), 0), n->loss, fabs(n->loss))) fault = "the loss";
    seed = 2;
    for (int i = 0; ok && i < n->count; i++)
        if (!compare(n, i, adjoint[i], adjoint[i]->data ? adjoint[i]->data : env_get(env, adjoint[i]), &seed) && !fault)
            fault = text_format(cx, "the adjoint of %s", n->adjoint[i].name);
    check_that(!fault, check_label(n->name, "has-the-recorded-gradient"), "%s", fault ? fault : "");
    ctx_free(cx);
}

int main(void)
{
    static const char path[] = "tests/gradients/networks.txt";
    Ctx *cx = ctx_new(NULL, NULL);
    const char *text = file_text(cx, path, file_read(cx, path));
    CHECK("networks-are-recorded", text && !ctx_failed(cx));
    for (const char *s = text ? next_line(text) : ""; strncmp(s, "network ", 8) == 0;) {
        Network n;
        read_network(cx, &s, &n);
        try_network(&n);
    }
    ctx_free(cx);
    return check_done();
}
