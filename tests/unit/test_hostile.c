/* SPDX-License-Identifier: MIT */
/* Hostile models through the library's entry, lw_compile. For any file the call returns within 10 seconds of processor
 * time and 1 GB, writes all files or none, gives a reason for a refusal, and never reports an internal error.
 *
 *   test_hostile            the fuzzer's corpus; absurd models; small models of the project: one in 11 of 200
 *                           truncations, 2,000 flipped bits and 1,000 changed fields of each
 *   test_hostile --every    all of them
 *   test_hostile --one-in N one in N of them
 *   test_hostile MODEL...   the truncations and flips of these, and a table
 *
 * Three flips in four hit a byte of the structure, drawn uniformly; the others hit any byte, in most files mostly
 * weights. Cases run in a child process, which counts them; if it dies, its current case is the culprit. */
#define _DEFAULT_SOURCE      /* fork, mmap, mkdtemp, wait4 */
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "../fuzz/flat_mutate.c"
#include "../fuzz/proto_mutate.c"
#include "context/context.h"
#include "loopwright.h"
#include "onnx_text.h"
#include "support/file.h"

enum {
    TRUNCATIONS = 200,
    FLIPS = 2000,
    CHANGES = 1000,
    SECONDS = 10,
    MOST_FILE = 8 << 20,
    LEAST_DATA = 64,
    MOST_MODELS = 200
};
static const rlim_t MEMORY = (rlim_t)1 << 30;

/* Of the cases, one in `stride` */
typedef struct Scene { char folder[64], output[96], header[96], part[112]; uint8_t *file; int stride; } Scene;
/* Shared with the child */
typedef struct Progress { int at, accepted, wrong; double slowest; char what[400]; } Progress;
/* Offsets of bytes outside the weights */
typedef struct Sample { Bytes whole; const uint32_t *structure; uint32_t structure_count; } Sample;
typedef struct Row {
    const char *model;
    size_t bytes, structure;
    int cases, accepted, wrong;
    double slowest;
    long most_kb;
} Row;

/* ---- One case ---------------------------------------------------------------------------------------------------- */

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static bool was_refused(lw_context *cx, bool *is_internal)
{
    bool is_error = false, any = false;
    const char *text;
    for (int i = 0; (text = lw_diagnostic(cx, i, &is_error)) != NULL; i++) {
        any = any || is_error;
        if (strstr(text, "internal error: ")) *is_internal = true;
    }
    return any;
}

static const char *target = "generic";

/* Compiles the file. Returns NULL, or the fault in how it ended. */
static const char *compiled(const Scene *s, const char *model, Progress *p)
{
    const lw_options options = { .name = "m", .target = target };
    bool is_internal = false;
    lw_context *cx = lw_new();
    const bool done = lw_compile(cx, model, s->output, &options), refused = was_refused(cx, &is_internal);
    const bool has_c = exists(s->output), has_h = exists(s->header), has_part = exists(s->part);
    lw_free(cx);
    p->accepted += done;
    remove(s->output);
    remove(s->header);
    if (is_internal) return "an internal error was reported";
    if (done == refused) return done ? "errors, but done" : "refused without a reason";
    if (has_part || has_c != done || has_h != done) return "files were left half written";
    return NULL;
}

/* Limits the processor time from here on, independently of the machine's load; 0 removes the limit. */
static void allow(int seconds)
{
    const struct itimerval t = { .it_value = { .tv_sec = seconds } };
    setitimer(ITIMER_PROF, &t, NULL);
}

static void run_case(const Scene *s, const char *extension, size_t count, Progress *p)
{
    char path[96];
    snprintf(path, sizeof path, "%s/case.%s", s->folder, extension);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(s->file, 1, count, f) != count || fclose(f) != 0) exit(3);
    allow(SECONDS);
    const clock_t begin = clock();
    const char *wrong = compiled(s, path, p);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    allow(0);
    if (seconds > p->slowest) p->slowest = seconds;
    if (wrong && !p->wrong++) snprintf(p->what, sizeof p->what, "case %d: %s", p->at, wrong);
}

/* ---- Numbered cases ---------------------------------------------------------------------------------------------- */

typedef size_t Maker(uint8_t *file, const Sample *from, int number);       /* bytes of the case, in `file` */

static uint32_t scramble(uint32_t n)
{
    n = (n ^ n >> 16) * UINT32_C(0x7feb352d);
    n = (n ^ n >> 15) * UINT32_C(0x846ca68b);
    return n ^ n >> 16;
}

static size_t truncated(uint8_t *file, const Sample *from, int number)
{
    memcpy(file, from->whole.at, from->whole.count);
    return (size_t)((uint64_t)from->whole.count * (uint64_t)number / TRUNCATIONS);
}

static size_t flipped(uint8_t *file, const Sample *from, int number)
{
    const uint32_t chance = scramble((uint32_t)number + 1);
    const bool in_structure = number % 4 && from->structure_count;
    memcpy(file, from->whole.at, from->whole.count);
    if (!from->whole.count) return 0;
    const size_t at = in_structure ? from->structure[chance % from->structure_count] : chance % from->whole.count;
    file[at] ^= (uint8_t)(1 << (number / 4 % 8));
    return from->whole.count;
}

static size_t garbled(uint8_t *at, size_t count, size_t room)
{
    if (count) at[scramble((uint32_t)count) % count] ^= 0x41;
    return count < room ? count + 1 : count;
}

static size_t changed(uint8_t *file, const Sample *from, int number)
{
    const size_t room = from->whole.count + 4096;
    memcpy(file, from->whole.at, from->whole.count);
    size_t count = proto_mutate(file, from->whole.count, room, scramble((uint32_t)number + 7), garbled);
    return number % 2 ? proto_mutate(file, count, room, scramble((uint32_t)number), garbled) : count;
}

static size_t changed_numbers(uint8_t *file, const Sample *from, int number)
{
    memcpy(file, from->whole.at, from->whole.count);
    for (int i = 0; i <= number % 3; i++) flat_mutate(file, from->whole.count, scramble((uint32_t)(3 * number + i)));
    return from->whole.count;
}

static void limit(void)
{
#if !defined __SANITIZE_ADDRESS__ && !defined LIMITLESS      /* for its shadow, which is larger than that */
    struct rlimit r = { MEMORY, MEMORY };
    setrlimit(RLIMIT_AS, &r);
#endif
#ifdef __GLIBC__             /* the next case takes the memory of the one before, instead of asking the system again */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

static void child(const Scene *s, const char *extension, const Sample *from, Maker *make, int count, Progress *p)
{
    limit();
    for (; p->at < count; p->at += s->stride) run_case(s, extension, make(s->file, from, p->at), p);
    _exit(0);
}

static const char *ending(Ctx *cx, int status)
{
    if (!WIFSIGNALED(status)) return text_format(cx, "status %d", WEXITSTATUS(status));
    const int number = WTERMSIG(status);
    return text_format(cx, "signal %d%s", number,
                       number == SIGPROF   ? " (too slow)"
                       : number == SIGABRT ? " (out of memory?)"
                                           : "");
}

static void many(Ctx *cx, const Scene *s, const char *what, const char *extension, const Sample *from, Maker *make,
                 int count, Row *row)
{
    Progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rusage use = { .ru_maxrss = 0 };
    int status;
    for (; p->at < count; p->at += s->stride) {
        fflush(stdout);
        pid_t id = fork();
        if (id == 0) child(s, extension, from, make, count, p);
        const bool ended = wait4(id, &status, 0, &use) == id;
        if (use.ru_maxrss > row->most_kb) row->most_kb = use.ru_maxrss;
        if (!ended || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) break;
        if (!p->wrong++) snprintf(p->what, sizeof p->what, "case %d: ended by %s", p->at, ending(cx, status));
    }
    const char *test_name = text_format(cx, "%s-of-%s-end-well", what, row->model);
    check_that(p->wrong == 0, test_name, "%d of %d; %s", p->wrong, count, p->what);
    if (p->at < count) check_that(false, test_name, "stopped at case %d", p->at);
    row->cases += p->at / s->stride;
    row->accepted += p->accepted;
    row->wrong += p->wrong;
    if (p->slowest > row->slowest) row->slowest = p->slowest;
    munmap(p, sizeof *p);
}

static Sample sample_of(Ctx *cx, Bytes whole, const char *extension)
{
    uint8_t *is_data = NEW_ARRAY(cx->arena, uint8_t, whole.count);
    uint32_t *place = NEW_ARRAY(cx->arena, uint32_t, whole.count), count = 0;
    if (strcmp(extension, "onnx") == 0) proto_mark_leaves(whole.at, whole.count, LEAST_DATA, is_data);
    if (strcmp(extension, "tflite") == 0) flat_mark_buffers(whole.at, whole.count, LEAST_DATA, is_data);
    for (uint32_t i = 0; i < whole.count; i++)
        if (!is_data[i]) place[count++] = i;
    return (Sample){ whole, place, count };
}

static Row check_model(Ctx *cx, const Scene *s, const char *path, bool with_changes)
{
    const Bytes whole = file_read(cx, path);
    const char *extension = path_extension(path);
    Row row = { .model = path_stem(cx, path), .bytes = whole.count };
    if (ctx_failed(cx) || whole.count > MOST_FILE) {
        check_that(false, path, "it cannot be read, or is too large");
        return row;
    }
    const Sample from = sample_of(cx, whole, extension);
    row.structure = from.structure_count;
    many(cx, s, "truncations", extension, &from, truncated, TRUNCATIONS, &row);
    many(cx, s, "flips", extension, &from, flipped, FLIPS, &row);
    if (with_changes && strcmp(extension, "onnx") == 0)
        many(cx, s, "changes", extension, &from, changed, CHANGES, &row);
    if (with_changes && strcmp(extension, "tflite") == 0)
        many(cx, s, "changes", extension, &from, changed_numbers, CHANGES, &row);
    return row;
}

static void print_table(const Row *row, int count)
{
    printf("\n%-24s %9s %9s %6s %8s %8s %5s %5s\n", "model", "bytes", "structure", "cases", "accepted", "seconds", "MB",
           "wrong");
    for (int i = 0; i < count; i++)
        printf("%-24s %9lu %9lu %6d %8d %8.2f %5ld %5d\n", row[i].model, (unsigned long)row[i].bytes,
               (unsigned long)row[i].structure, row[i].cases, row[i].accepted, row[i].slowest, row[i].most_kb / 1024,
               row[i].wrong);
}

/* ---- Absurd models (in the language of onnx_text.h) -------------------------------------------------------------- */

static const struct { const char *test_name, *model; bool is_fine;
} absurd[] = {
    { "plain", "x:1,2,4; w=3,2,3; Conv x,w y; >y", true },
    { "cycle-of-one", "x:1,4; Add x,y y; >y", false },
    { "cycle-of-many", "x:4; t0=4; Add x,z a; *3000 Relu a b; Relu b z; >z", false },
    { "duplicate-input", "x:4; x:5; Relu x y; >y", false },
    { "duplicate-initializer", "x:4; w=4; w=4; Add x,w y; >y", false },
    { "duplicate-output", "x:4; Relu x y; >y; >y", true },
    { "missing-initializer", "x:1,2,4; Conv x,w y; >y", false },
    { "missing-input-of-node", "x:1,2,4; Conv x y; >y", false },
    { "no-input-of-node", "x:4; Relu  y; >y", false },
    { "too-many-inputs-of-node", "x:4; Relu x,x,x,x,x y; >y", false },
    { "no-output", "x:4; Relu x y", false },
    { "output-of-nothing", "x:4; >z", false },
    { "deep-chain", "t0:4; *4000 Relu t^ t@; >t4000", true },
    { "deep-chain-of-views", "t0:4; s#4; *3000 Reshape t^,s t@; >t3000", true },
    { "doubling-chain", "t0:4; *2000 Add t^,t^ t@; >t2000", true },
    { "doubling-convolutions", "t0:1,1,8; w=1,1,1; *60 Conv t^,w t@; >t60", true },
    { "deeper-chain", "t0:4; *10000 Relu t^ t@; >t10000", true },
    { "many-inputs-missing", "x:4; *5000 Add x,q@ t@; >t5000", false },
    { "huge-input", "x:2147483647,2147483647,2147483647; Relu x y; >y", false },
    { "huge-rank", "x:1,1,1,1,1,1,1,1,1,1,1,1; Relu x y; >y", false },
    { "negative-dimension", "x:4,-9223372036854775808; Relu x y; >y", false },
    { "large-but-possible", "x:1,1000000000; Relu x y; >y", true },
    { "huge-initializer", "x:4; w=2147483647,2147483647; Add x,w y; >y", false },
    { "lying-initializer", "x:4; w=1000000; Add x,w y; >y", false },
    { "huge-constant", "x:4; s#2147483647,2147483647; ConstantOfShape s c; Add x,c y; >y", false },
    { "large-constant", "x:4; s#50000,1000,4; ConstantOfShape s c; Add x,c y; >y", true },
    { "huge-expand", "x:1; s#9223372036854775807; Expand x,s y; >y", false },
    { "huge-tile", "x:4; s#9223372036854775807; Tile x,s y; >y", false },
    { "huge-pad", "x:4; s#9223372036854775807,1; Pad x,s y; >y", false },
    { "negative-pad-of-all", "x:4; s#-9,-9; Pad x,s y; >y", false },
    { "huge-range", "x:1; a#0; b#9223372036854775807; c#1; Range a,b,c r; Cast r f to=1!; Add x,f y; >y", false },
    { "range-of-step-0", "x:1; a#0; b#7; c#0; Range a,b,c r; Cast r f to=1!; Add x,f y; >y", false },
    { "reshape-of-minus-ones", "x:4; s#-1,-1; Reshape x,s y; >y", false },
    { "reshape-overflow", "x:4; s#4294967296,4294967296,-1; Reshape x,s y; >y", false },
    { "slice-edges", "x:9; a#-9223372036854775808; b#9223372036854775807; Slice x,a,b y; >y", true },
    { "slice-step-0", "x:9; a#0; b#9; c#0; Slice x,a,b,c,c y; >y", false },
    { "slice-step-least", "x:9; a#8; b#-9223372036854775808; c#0; d#-9223372036854775808; Slice x,a,b,c,d y; >y",
      true },
    { "gather-out-of-range", "x:4; s#99; Gather x,s y; >y", false },
    { "transpose-of-twice-the-same", "x:4,4; Transpose x y perm=0,0; >y", false },
    { "concat-axis", "x:4; Concat x,x y axis=9223372036854775807!; >y", false },
    { "softmax-axis", "x:4; Softmax x y axis=-9223372036854775808!; >y", false },
    { "conv-stride", "x:1,2,9; w=1,2,3; Conv x,w y strides=9223372036854775807; >y", false },
    { "conv-dilation", "x:1,2,9; w=1,2,3; Conv x,w y dilations=9223372036854775807; >y", false },
    { "conv-pads", "x:1,2,9; w=1,2,3; Conv x,w y pads=9223372036854775807,9223372036854775807; >y", false },
    { "conv-pads-large", "x:1,2,9; w=1,2,3; Conv x,w y pads=2000000000,2000000000; >y", false },
    { "conv-group", "x:1,2,9; w=1,2,3; Conv x,w y group=-9223372036854775808!; >y", false },
    { "conv-in-the-padding-alone", "x:1,4,8,8; w=4,1,3,3; Conv x,w y group=4! strides=3,65536 pads=0,18,1,1; >y",
      true },
    { "conv-of-kernel-0", "x:1,2,9; w=1,2,0; Conv x,w y; >y", false },
    { "conv-attribute-of-other-kind", "x:1,2,9; w=1,2,3; Conv x,w y strides=HELLO; >y", false },
    { "pool-kernel", "x:1,2,9; MaxPool x y kernel_shape=9223372036854775807; >y", false },
    { "pool-kernel-large", "x:1,1,1000000; MaxPool x y kernel_shape=999999 pads=500000,500000; >y", true },
    { "pool-pads-negative", "x:1,2,9; AveragePool x y kernel_shape=3 pads=-9223372036854775808,1; >y", false },
    { "reduce-axes", "x:4; ReduceSum x,s y; s#9,9,9; >y", false },
    { "split-lengths", "x:9; s#-1,10; Split x,s y,z; >y", false },
    { "pool-of-many-dimensions", "x:1,2,5,5,1,2,5,5; GlobalAveragePool x y; >y", true },
    { "many-dimensions-broadcast", "a:1,65536; b:65536,1; Add a,b y; >y", false },
    { "output-shape-of-five", "x:1,2,4; w=2,1,3; ConvTranspose x,w y output_shape=1,1,6,6,6; >y", false },
    { "output-shape-whole", "x:1,2,4,4,4; w=2,1,3,3,3; ConvTranspose x,w y output_shape=1,1,6,6,6; >y", true },
    { "attention-of-many", "q:1,1,65536,1; Attention q,q,q y is_causal=1!; >y", false },
    { "attention-window",
      "q:1,1,4,1; Attention q,q,q y is_causal=1! left_window_size=9223372036854775807! "
      "right_window_size=9223372036854775807!; >y",
      true },
    { "long-axis-of-no-elements", "x:4; v=0,1073741824; Gemm v,v d transB=1!; Add d y; >y", false },
    { "sum-over-a-long-axis-of-no-elements",
      "x:1; v=1,1073741824,0; Relu v w; ReduceSum w a keepdims=0!; Add x,a y; >y", true },
    { "quantize-to-floats", "x:4; s=1; z=1; QuantizeLinear x,s,z y; >y", false },
    { "quantize-integers-to-floats", "x:4; s=1; z=1; Cast x i to=6!; QuantizeLinear i,s,z y; >y", false },
    { "matmul-of-large", "a:65536,4; b:4,65536; MatMul a,b y; >y", false },
};

static size_t absurd_case(uint8_t *file, const Sample *from, int number)
{
    (void)from;
    Ctx *cx = context_new(NULL, NULL);
    const Text model = onnx_text(cx, absurd[number].model);
    const size_t count = model.length <= MOST_FILE ? model.length : 0;
    memcpy(file, model.at, count);
    ctx_free(cx);
    return count;
}

/* Runs one case in a child process, so the others run, too. */
static Progress alone(const Scene *s, const char *extension, Maker *make, int number)
{
    Progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    p->at = number;
    fflush(stdout);
    pid_t id = fork();
    if (id == 0) child(s, extension, NULL, make, number + 1, p);
    waitpid(id, &status, 0);
    if (status) snprintf(p->what, sizeof p->what, "ended with status %x", (unsigned)status);
    p->wrong += status != 0;
    const Progress result = *p;
    munmap(p, sizeof *p);
    return result;
}

/* Valid models must compile. */
static void check_absurd(const Scene *s)
{
    for (int i = 0; i < (int)(sizeof absurd / sizeof absurd[0]); i++) {
        const Progress p = alone(s, "onnx", absurd_case, i);
        check_that(!p.wrong && p.accepted == absurd[i].is_fine,
                   check_label(absurd[i].test_name, absurd[i].is_fine ? "compiles" : "is-refused"), "%s%s", p.what,
                   p.accepted == absurd[i].is_fine ? "" : p.accepted ? " was accepted" : " was refused");
    }
}

/* ---- The fuzzer's corpus, in which things that it found are kept ------------------------------------------------- */

static const char *corpus_file;

static size_t file_itself(uint8_t *file, const Sample *from, int number)
{
    (void)from, (void)number;
    FILE *f = fopen(corpus_file, "rb");
    const size_t count = f ? fread(file, 1, MOST_FILE, f) : 0;
    if (f) fclose(f);
    return count;
}

/* For a core, too: some passes change code only there. */
static void check_corpus(Ctx *cx, const Scene *s, const char *extension)
{
    static const char *const targets[] = { "generic", "cortex-m4" };
    const char *folder = text_format(cx, "tests/fuzz/corpus-%s", extension), *faulty = NULL;
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (strcmp(path_extension(e->d_name), extension) != 0) continue;
        corpus_file = text_format(cx, "%s/%s", folder, e->d_name);
        count++;
        for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
            target = targets[i];
            if (alone(s, extension, file_itself, 0).wrong) faulty = corpus_file;
        }
    }
    target = targets[0];
    if (d) closedir(d);
    check_that(count && !faulty, text_format(cx, "corpus-%s", extension), "%s", faulty ? faulty : "there is none");
}

int main(int argc, char **argv)
{
    static const char *const small[] = {
        "tests/golden/residual/residual.onnx", "tests/golden/depthwise-pool-concat/depthwise-pool-concat.onnx",
        "tests/golden/elementwise/elementwise.onnx", "tests/golden/stencil-fused/stencil-fused.te",
        "tests/fuzz/corpus-tflite/conv-int8.tflite",
        "tests/fuzz/corpus-tflite/mixed-int8.tflite", "tests/golden/control-flow/control-flow.onnx",
        "tests/models/ml_ensemble.onnx", "tests/models/ml_names.onnx", "tests/models/ml_strings.onnx",
        "tests/models/narrow.onnx", "tests/models/sixteen.onnx",
    };
    const bool every = argc == 2 && strcmp(argv[1], "--every") == 0;
    const bool some = argc == 3 && strcmp(argv[1], "--one-in") == 0;
    const int stride = some ? atoi(argv[2]) : 11;
    if (every || some) argc = 1;
    Scene s = { .file = malloc(MOST_FILE + 8192), .stride = argc < 2 && !every ? stride : 1 };
    const char *base = getenv("TMPDIR");
    snprintf(s.folder, sizeof s.folder, "%.40s/hostile-XXXXXX", base && strlen(base) <= 40 ? base : "/tmp");
    if (!s.file || !mkdtemp(s.folder)) return 3;
    snprintf(s.output, sizeof s.output, "%s/m.c", s.folder);
    snprintf(s.header, sizeof s.header, "%s/m.h", s.folder);
    snprintf(s.part, sizeof s.part, "%s.part", s.output);
    if (argc < 2) check_absurd(&s);
    static Row row[MOST_MODELS];
    const int given = argc < MOST_MODELS ? argc - 1 : MOST_MODELS,
              count = given ? given : (int)(sizeof small / sizeof small[0]);
    Ctx *cx = context_new(NULL, NULL);
    static const char *const extensions[] = { "onnx", "tflite", "te" };
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0] && !given; i++) check_corpus(cx, &s, extensions[i]);
    for (int i = 0; i < count; i++) row[i] = check_model(cx, &s, given ? argv[i + 1] : small[i], !given);
    if (given) print_table(row, count);
    ctx_free(cx);
    char path[96];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/case.%s", s.folder, i == 0 ? "onnx" : i == 1 ? "te" : "tflite");
        remove(path);
    }
    rmdir(s.folder);
    free(s.file);
    return check_done();
}
