/* SPDX-License-Identifier: MIT */
/* Adapts a keyword network to a new speaker, one sample at a time, by the emitted kws_train: PASSES passes over the
 * samples, in ORDERS different orders, each from the model's own parameters. Prints the accuracy on other samples of
 * the speaker before and after, and the RAM. Runs on a host, and on an emulated board (BOARD). */
#include <stdint.h>
#include <string.h>

#include "kws.h"

#ifdef BOARD
#include "board.h"
static void print_text(const char *text) { board_text(text); }
static void print_number(uint32_t value) { board_number(value); }
#else
#include <stdio.h>
int main(void);
static void print_text(const char *text) { fputs(text, stdout); }
static void print_number(uint32_t value) { printf("%lu", (unsigned long)value); }
#endif

enum { PASSES = 5, MOST_SAMPLES = 400, CLASSES = 10 };

/* The .npy files, included by data.S. */
extern const unsigned char train_features[], train_labels[], test_features[], test_labels[];
extern const uint32_t train_count, test_count;

/* Returns the elements of a .npy file: they follow the header, whose length is at offset 8. */
static const void *elements(const unsigned char *npy)
{
    return npy + 10 + npy[8] + 256 * npy[9];
}

static const float *features(const unsigned char *npy, uint32_t sample)
{
    return (const float *)elements(npy) + sample * KWS_FEATURES_ELEMS;
}

static const int32_t *label(const unsigned char *npy, uint32_t sample)
{
    return (const int32_t *)elements(npy) + sample;
}

static KWS_TRAIN_ARENA(arena);
static struct kws_params params;
static float scores[CLASSES];

static int is_right(uint32_t sample)
{
    const struct kws_inputs in = { features(test_features, sample) };
    const struct kws_outputs out = { scores };
    int best = 0;
    if (kws_run(arena, &params, &in, &out) != 0) return 0;
    for (int c = 1; c < CLASSES; c++)
        if (scores[c] > scores[best]) best = c;
    return best == *label(test_labels, sample);
}

/* In hundredths of a percent. */
static uint32_t accuracy(void)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < test_count; i++) right += (uint32_t)is_right(i);
    return right * 10000 / test_count;
}

static void shuffle(uint16_t *order, uint32_t seed)
{
    for (uint32_t i = 0; i < train_count; i++) order[i] = (uint16_t)i;
    for (uint32_t i = train_count; seed != 0 && i > 1; i--) {
        seed = seed * 1664525u + 1013904223u;
        const uint32_t other = (seed >> 8) % i;
        const uint16_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static int train(uint32_t seed)
{
    static uint16_t order[MOST_SAMPLES];
    float loss;
    kws_params_init(&params);
    shuffle(order, seed);
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < train_count; i++) {
            const struct kws_inputs in = { features(train_features, order[i]) };
            const struct kws_targets target = { label(train_labels, order[i]) };
            const int status = kws_train(arena, &params, &in, &target, &loss);
            if (status != 0) return status;
        }
    }
    return 0;
}

static void report(const char *what, uint32_t hundredths)
{
    print_text(what);
    print_number(hundredths / 100);
    print_text(hundredths % 100 < 10 ? ".0" : ".");
    print_number(hundredths % 100);
    print_text(" %\n");
}

static void report_ram(void)
{
    const uint32_t ports = KWS_FEATURES_BYTES + KWS_SCORES_BYTES, inference = INFERENCE_ARENA + ports,
                   training = KWS_TRAIN_ARENA_SIZE + ports + (uint32_t)sizeof params + 8;      /* label and loss */
    print_text("RAM of inference ");
    print_number(inference);
    print_text(", of training ");
    print_number(training);
    report(" bytes, ", (uint32_t)((uint64_t)training * 10000 / inference));
}

int main(void)
{
    uint32_t sum = 0;
    kws_params_init(&params);
    report("before                ", accuracy());
    for (uint32_t order = 0; order < ORDERS; order++) {
        if (train(order) != 0) return 1;
        const uint32_t after = accuracy();
        report("after training        ", after);
        sum += after;
    }
    report("mean of all orders    ", sum / ORDERS);
    report_ram();
    return 0;
}
