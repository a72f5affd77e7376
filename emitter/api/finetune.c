/* SPDX-License-Identifier: MIT */
/* Runs the training step of a quantization: see finetune.h. The program runs one epoch and ends. Its file `out` is all
 * that persists, so that the compiler reports progress, stops early and is interrupted between epochs. */
#include "api/finetune.h"

#include <math.h>
#include <string.h>

#include "api/evaluate.h"
#include "api/trial.h"
#include "support/file.h"
#include "support/guard.h"
#include "support/names.h"

/* HELD samples, then TRAINED, then MIXES times TRAINED; EPOCHS; RATE, which falls linearly to 0. Each epoch visits
 * every trained sample once, or one of its mixes in its place. Without held-out samples the loss is that of the
 * trained. */
static const char program[] =
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#include \"model.h\"\n"
    "#define IN_ELEMENTS(name, type, count) static type in_##name[(count) + !(count)];\n"
    "EVALUATED_INPUTS(IN_ELEMENTS)\n"
    "static float wanted[TARGET];\n"
    "static EVALUATED_TRAIN_ARENA(arena);\n"
    "static struct state { double epoch, first, last, best, best_epoch; struct evaluated_params now, least; } s;\n"
    "static struct evaluated_params scratch;\n"
    "static long order[TRAINED];\n"
    "static unsigned long random_state;\n"
    "static unsigned long draw(unsigned long below)\n"
    "{\n"
    "    random_state = (random_state * 1664525ul + 1013904223ul) & 0xfffffffful;\n"
    "    return (random_state >> 8) % below;\n"
    "}\n"
    "static void shuffle(long *v, long count, unsigned long seed)\n"
    "{\n"
    "    random_state = seed & 0xfffffffful;\n"
    "    for (long i = count - 1; i > 0; i--) {\n"
    "        const long k = (long)draw((unsigned long)i + 1), t = v[i];\n"
    "        v[i] = v[k];\n"
    "        v[k] = t;\n"
    "    }\n"
    "}\n"
    "static int step(FILE *from, long sample, struct evaluated_params *p, float *loss)\n"
    "{\n"
    "    size_t want = TARGET, got = 0;\n"
    "    struct evaluated_inputs in;\n"
    "    struct evaluated_targets target;\n"
    "    memset(&in, 0, sizeof in);\n"
    "    target.target = wanted;\n"
    "    if (fseek(from, sample * SAMPLE_BYTES, SEEK_SET)) return 0;\n"
    "#define READ(name, type, count) want += count; got += fread(in_##name, sizeof(type), count, from); "
    "in.name = in_##name;\n"
    "    EVALUATED_INPUTS(READ)\n"
    "    got += fread(wanted, sizeof(float), TARGET, from);\n"
    "    return got == want && evaluated_train(arena, p, &in, &target, loss) == 0;\n"
    "}\n"
    "static int mean_loss(FILE *from, double *out)\n"
    "{\n"
    "    const long count = HELD ? HELD : TRAINED;\n"
    "    float loss;\n"
    "    *out = 0;\n"
    "    for (long i = 0; i < count; i++) {\n"
    "        scratch = s.now;\n"
    "        if (!step(from, i, &scratch, &loss)) return 0;\n"
    "        *out += loss / count;\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    FILE *from = argc == 3 ? fopen(argv[1], \"rb\") : NULL, *to = from ? fopen(argv[2], \"rb\") : NULL;\n"
    "    float loss;\n"
    "    if (!from) return 1;\n"
    "    for (long i = 0; i < TRAINED; i++) order[i] = HELD + i;\n"
    "    if (to) {\n"
    "        if (fread(&s, sizeof s, 1, to) != 1) return 1;\n"
    "        fclose(to);\n"
    "    } else {\n"
    "        evaluated_params_init(&s.now);\n"
    "        s.least = s.now;\n"
    "        if (!mean_loss(from, &s.first)) return 1;\n"
    "        s.best = s.first;\n"
    "    }\n"
    "    shuffle(order, TRAINED, SEED + 7919ul * ((unsigned long)s.epoch + 1));\n"
    "    for (long i = 0; i < TRAINED; i++) {\n"
    "        const double done = s.epoch * TRAINED + i, all = (double)EPOCHS * TRAINED;\n"
    "        const long mix = (long)draw(MIXES + 1ul);\n"
    "        s.now.rate = (float)(RATE * (1 - done / all));\n"
    "        if (!step(from, order[i] + mix * TRAINED, &s.now, &loss)) return 1;\n"
    "    }\n"
    "    s.epoch++;\n"
    "    if (!mean_loss(from, &s.last)) return 1;\n"
    "    if (s.last < s.best) {\n"
    "        s.best = s.last;\n"
    "        s.best_epoch = s.epoch;\n"
    "        s.least = s.now;\n"
    "    }\n"
    "    to = fopen(argv[2], \"wb\");\n"
    "    return !to || fwrite(&s, sizeof s, 1, to) != 1 || fclose(to) ? 1 : 0;\n"
    "}\n";

/* The first members of the program's struct state. */
typedef struct Progress { double epoch, first, last, best, best_epoch; } Progress;

enum { LEAST_PATIENCE = 5 };

static const Trainable *trainables(Ctx *cx, const Tuned *t)
{
    Trainable *part = NEW_ARRAY(cx->arena, Trainable, t->count);
    for (int i = 0; i < t->count; i++)
        part[i] = (Trainable){ .constant = t->part[i].initial, .name = t->part[i].input->name, .role = "tuned" };
    return part;
}

/* A build of the step. */
static bool emit(const Finetuning *f, const TuneJob *job, const char *path)
{
    Build b;
    lw_options own = *f->options;
    const Graph *g = &job->graph;
    own.qdq = "float";
    own.time_passes = false;
    own.name = EVALUATED_NAME;
    own.standalone = true;
    own.testbench = own.static_arena = own.ports_in_arena = own.profile = false;
    own.target = own.gradient = own.combine = own.weights = NULL;
    own.ram = 0;
    own.train = job->is_softmax
        ? "loss=cross_entropy target=probabilities optimizer=adam(rate=1, skip_nonfinite) update=all"
          " dropout=off batch_norm=frozen"
        : "loss=mse optimizer=adam(rate=1, skip_nonfinite) update=all dropout=off batch_norm=frozen";
    if (!build_read(&b, f->cx, f->model, &own)) return false;
    b.model.input = g->input;
    b.model.input_count = g->input_count;
    b.model.output = g->output;
    b.trained = trainables(f->cx, job->tuned);
    b.trained_count = job->tuned->count;
    return build_graph(&b) && build_nests(&b) && build_write(&b, path);
}

static size_t sample_bytes(const TuneJob *job)
{
    size_t each = (size_t)job->target_elems * sizeof(float);
    for (int i = 0; i < job->samples->input_count; i++) each += (size_t)job->samples->bytes[i];
    return each;
}

static bool write_samples(Ctx *cx, const TuneJob *job, const char *path)
{
    const Samples *s = job->samples;
    char *all = arena_array(cx->arena, (size_t)s->count, sample_bytes(job)), *to = all;
    for (int64_t k = 0; k < s->count && all; k++) {
        for (int i = 0; i < s->input_count; to += s->bytes[i++])
            if (!samples_copy(cx, s, i, k, to)) return false;
        memcpy(to, job->target + k * job->target_elems, (size_t)job->target_elems * sizeof(float));
        to += (size_t)job->target_elems * sizeof(float);
    }
    return !ctx_failed(cx) && file_write(cx, path, all, (size_t)(to - all));
}

static bool write_program(const Finetuning *f, const TuneJob *job, const char *path)
{
    const double rate = 0.3;
    Text t = text_new(f->cx);
    text_printf(&t, "#define TRAINED %lldl\n#define HELD %lldl\n#define MIXES %d\n", (long long)job->trained,
                (long long)job->held, job->mixes);
    text_printf(&t, "#define EPOCHS %d\n#define SEED %dul\n#define RATE %g\n", f->epochs, f->seed, rate);
    text_printf(&t, "#define TARGET %lld\n#define SAMPLE_BYTES %lldl\n%s", (long long)job->target_elems,
                (long long)sample_bytes(job), program);
    const char *text = text_string(&t);
    return file_write(f->cx, path, text, strlen(text));
}

/* Reads the parameters with the least loss, which begin with all of the job's, in order. */
static bool read_state(Ctx *cx, const char *path, Progress *p, const TuneJob *job)
{
    enum { HEAD = 2 * sizeof(uint32_t) };
    const Bytes file = file_read(cx, path);
    if (ctx_failed(cx) || file.count < sizeof *p) return false;
    memcpy(p, file.at, sizeof *p);
    const char *at = (const char *)file.at + sizeof *p + (file.count - sizeof *p) / 2 + HEAD;
    const char *end = (const char *)file.at + file.count;
    for (int i = 0; i < job->tuned->count; i++) {
        TunedPart *part = &job->tuned->part[i];
        const size_t bytes = (size_t)tensor_elems(part->initial) * sizeof(float);
        if ((size_t)(end - at) < bytes) return false;
        part->result = arena_copy(cx->arena, at, bytes);
        at += bytes;
    }
    return !ctx_failed(cx);
}

static bool run_epochs(const Finetuning *f, const TuneJob *job, const char *folder)
{
    const int patience = job->mixes ? f->epochs : f->epochs / 4 > LEAST_PATIENCE ? f->epochs / 4 : LEAST_PATIENCE;
    const char *out = text_format(f->cx, "%s/out", folder);
    Build like = { .cx = f->cx, .options = f->options };
    Progress p = { 0 };
    int done = 0;
    for (; done < f->epochs && (double)done - p.best_epoch < patience; done++) {
        if (!build_progress(&like, "finetuning", done, f->epochs)) return false;
        if (!trial_run_all(f->cx, folder, f->options) || !read_state(f->cx, out, &p, job)) return false;
    }
    if (!build_progress(&like, "finetuning", f->epochs, f->epochs)) return false;
    text_printf(f->said, "finetuned: %d of %d epochs over %lld samples, %lld held out; loss %.4g, then %.4g after "
                "epoch %d\n", done, f->epochs, (long long)job->trained,
                (long long)job->held, p.first, p.best, (int)p.best_epoch);
    return true;
}

bool finetune_run(void *finetuning, const TuneJob *job)
{
    const Finetuning *f = finetuning;
    Ctx *cx = f->cx;
    Folder *folder = trial_folder(cx, 0);
    Resource held;
    if (!folder) return false;
    resource_hold(cx, &held, trial_remove, folder);
    const char *path = folder->path;
    const bool ok = emit(f, job, text_format(cx, "%s/model.c", path))
        && write_program(f, job, text_format(cx, "%s/model_main.c", path))
        && write_samples(cx, job, text_format(cx, "%s/in", path)) && trial_build(cx, path, f->options)
        && run_epochs(f, job, path);
    resource_drop(cx, &held);
    return ok;
}
