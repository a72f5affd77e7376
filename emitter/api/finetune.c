/* SPDX-License-Identifier: MIT */
/* Runs the training step of a quantization: see finetune.h. The program runs one epoch and then ends. Only its file
 * `out` persists between epochs, so the compiler can report progress, stop early and be interrupted. */
#include "api/finetune.h"

#include <string.h>

#include "api/evaluate.h"
#include "api/trial.h"
#include "support/file.h"
#include "support/guard.h"
#include "support/names.h"

/* The file has HELD samples and then TRAINED samples. There are EPOCHS epochs; the rate begins at RATE and falls
 * linearly to 0. Each epoch visits every trained sample once, either alone or mixed with another sample: a * (1 - p) +
 * b * p. The reported loss is the held-out samples' loss or, if there are none, the trained samples' loss. The step's
 * output is the loss itself; therefore its absolute error to a target of 0 has the same gradient. */
static const char program[] =
    "#define COPIES(name, type, count) static type other_##name[(count) + !(count)];\n"
    "EVALUATED_INPUTS(COPIES)\n"
    "static EVALUATED_TRAIN_ARENA(arena);\n"
    "static struct state { double epoch, first, last, best, best_epoch; struct evaluated_params now, least; } s;\n"
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
    "static int read_sample(FILE *from, long sample)\n"
    "{\n"
    "    return fseek(from, sample * SAMPLE_BYTES, SEEK_SET) == 0 && read_inputs(from);\n"
    "}\n"
    "static int read_mix(FILE *from, long a, long b, float part)\n"
    "{\n"
    "    if (!read_sample(from, b)) return 0;\n"
    "#define COPY(name, type, count) memcpy(other_##name, in_##name, sizeof in_##name);\n"
    "    EVALUATED_INPUTS(COPY)\n"
    "    if (!read_sample(from, a)) return 0;\n"
    "#define MIX(name, type, count) for (long i = 0; i < (long)(count); i++) \\\n"
    "        in_##name[i] = (type)(in_##name[i] * (1 - part) + other_##name[i] * part);\n"
    "    EVALUATED_INPUTS(MIX)\n"
    "    return 1;\n"
    "}\n"
    "static int mean_loss(FILE *from, double *mean)\n"
    "{\n"
    "    const long count = HELD ? HELD : TRAINED;\n"
    "    float loss;\n"
    "    struct evaluated_outputs out;\n"
    "#define OUT(name, type, count) out.name = &loss;\n"
    "    EVALUATED_OUTPUTS(OUT)\n"
    "    *mean = 0;\n"
    "    for (long i = 0; i < count; i++) {\n"
    "        if (!read_sample(from, i) || evaluated_run(arena, &s.now, &in, &out)) return 0;\n"
    "        *mean += loss / count;\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "static int step(FILE *from, long sample)\n"
    "{\n"
    "    float none = 0, loss;\n"
    "    struct evaluated_targets target;\n"
    "    target.target = &none;\n"
    "    if (MIXED && draw(16)) {\n"
    "        const long other = HELD + (long)draw(TRAINED);\n"
    "        if (!read_mix(from, sample, other, (float)draw(1ul << 16) / (1ul << 17))) return 0;\n"
    "    } else if (!read_sample(from, sample)) return 0;\n"
    "    return evaluated_train(arena, &s.now, &in, &target, &loss) == 0;\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    FILE *from = argc == 3 ? fopen(argv[1], \"rb\") : NULL, *to = from ? fopen(argv[2], \"rb\") : NULL;\n"
    "    if (!from) return 1;\n"
    "    bind_inputs();\n"
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
    "        s.now.rate = (float)(RATE * (1 - done / all));\n"
    "        if (!step(from, order[i])) return 1;\n"
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

/* the first members of the struct state that the program stores */
typedef struct Progress { double epoch, first, last, best, best_epoch; } Progress;

enum { LEAST_PATIENCE = 5 };

static const Trainable *trainables(Ctx *cx, const Tuned *t)
{
    Trainable *part = NEW_ARRAY(cx->arena, Trainable, t->count);
    for (int i = 0; i < t->count; i++)
        part[i] = (Trainable){ .constant = t->part[i].initial, .name = t->part[i].input->name, .role = "tuned" };
    return part;
}

/* Emits the program of the step. */
static bool emit(const Finetuning *f, const TuneJob *job, const char *path)
{
    Build b;
    lw_options own = evaluated_options(f->options);
    const Graph *g = &job->graph;
    own.qdq = "float";
    own.time_passes = false;
    own.target = own.gradient = own.combine = own.weights = own.stream = NULL;
    own.ram = 0;
    own.train = "loss=mae optimizer=adam(rate=1, skip_nonfinite) update=all dropout=off batch_norm=frozen";
    if (!build_read(&b, f->cx, f->model, &own)) return false;
    b.model.input = g->input;
    b.model.input_count = g->input_count;
    b.model.output = g->output;
    b.model.output_count = g->output_count;
    b.training.given = trainables(f->cx, job->tuned);
    b.training.given_count = job->tuned->count;
    return build_graph(&b) && build_nests(&b) && build_write(&b, path);
}

static size_t bytes_of_step(const TuneJob *job)
{
    return sample_bytes(job->samples) + (size_t)job->class_count * sizeof(float);
}

/* Writes the samples in the job's order, each with the probabilities of its class. */
static bool write_samples(Ctx *cx, const TuneJob *job, const char *path)
{
    const Samples *s = job->samples;
    char *all = arena_array(cx->arena, (size_t)s->count, bytes_of_step(job)), *to = all;
    for (int64_t k = 0; k < s->count && all; k++) {
        if (!(to = sample_put(cx, s, job->order[k], to))) return false;
        for (int64_t c = 0; c < job->class_count; c++, to += sizeof(float)) {
            const float v = c == job->label[job->order[k]];
            memcpy(to, &v, sizeof v);
        }
    }
    return !ctx_failed(cx) && file_write(cx, path, all, (size_t)(to - all));
}

static bool write_program(const Finetuning *f, const TuneJob *job, const char *path)
{
    const double rate = 0.6;
    Text t = text_new(f->cx);
    text_printf(&t, "#define TRAINED %lldl\n#define HELD %lldl\n#define MIXED %d\n", (long long)job->trained,
                (long long)job->held, job->is_mixed);
    text_printf(&t, "#define EPOCHS %d\n#define SEED %dul\n#define RATE %g\n", f->epochs, f->tuner.seed, rate);
    text_printf(&t, "#define SAMPLE_BYTES %lldl\n%s%s", (long long)bytes_of_step(job), evaluated_head(),
                program);
    const char *text = text_string(&t);
    return file_write(f->cx, path, text, strlen(text));
}

/* Reads the parameters with the smallest loss; the file begins with all parameters of the job, in order. */
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
    const int patience = job->is_mixed ? f->epochs : f->epochs / 4 > LEAST_PATIENCE ? f->epochs / 4 : LEAST_PATIENCE;
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
