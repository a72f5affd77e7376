/* SPDX-License-Identifier: MIT */
/* The digits demo: draws a few handwritten digits with the network's predictions, then classifies all held-out images.
 * Exit status 1 if the network fails or fewer than 97 % are right. Build it with digits.c and digits.h, emitted from
 * digits.onnx with --name digits. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "recognise.h"

enum {
    SHOWN = 5,              /* digits drawn in a row */
    REQUIRED_PERCENT = 97,
    TIMED_BATCHES = 51,     /* odd, so that the median is one of them */
    RUNS_PER_BATCH = 40     /* enough to be long against a tick of clock() */
};

static unsigned char memory[DIGITS_ARENA_SIZE + DIGITS_ARENA_ALIGN];

/* Predictions for all held-out images; returns the number of right ones, or -1. */
static int predict_all(void *arena, int predictions[HELDOUT_COUNT])
{
    int right = 0;
    for (int n = 0; n < HELDOUT_COUNT; n++) {
        float image[DIGIT_PIXELS];
        scale_pixels(heldout_pixels[n], image);
        predictions[n] = recognise(arena, image);
        if (predictions[n] < 0) {
            fprintf(stderr, "digits_run failed with %d\n", predictions[n]);
            return -1;
        }
        right += predictions[n] == heldout_labels[n];
    }
    return right;
}

/* Draws the images numbered chosen[0..count) in a row, two characters per pixel. */
static void draw(const int *chosen, int count, const int *predictions)
{
    static const char ink[] = " .:-=+*#@";      /* two grey levels each */
    for (int row = 0; row < 8; row++) {
        for (int i = 0; i < count; i++) {
            for (int column = 0; column < 8; column++) {
                char dot = ink[heldout_pixels[chosen[i]][row * 8 + column] / 2];
                printf("%c%c", dot, dot);
            }
            fputs(i + 1 < count ? "  " : "\n", stdout);
        }
    }
    for (int i = 0; i < count; i++)
        printf("sees %d, is %d    %s", predictions[chosen[i]], heldout_labels[chosen[i]],
               i + 1 < count ? "  " : "\n\n");
}

static void draw_first(const int *predictions)
{
    int chosen[SHOWN];
    for (int i = 0; i < SHOWN; i++)
        chosen[i] = i;
    draw(chosen, SHOWN, predictions);
}

static void draw_mistakes(const int *predictions)
{
    int chosen[SHOWN], count = 0;
    for (int n = 0; n < HELDOUT_COUNT && count < SHOWN; n++)
        if (predictions[n] != heldout_labels[n])
            chosen[count++] = n;
    if (count) {
        puts("It is wrong about:");
        draw(chosen, count, predictions);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_microseconds(void *arena)
{
    double taken[TIMED_BATCHES];
    float image[DIGIT_PIXELS];
    scale_pixels(heldout_pixels[0], image);
    for (int batch = 0; batch < TIMED_BATCHES; batch++) {
        clock_t start = clock();
        for (int run = 0; run < RUNS_PER_BATCH; run++)
            (void)recognise(arena, image);
        taken[batch] = (double)(clock() - start) / CLOCKS_PER_SEC / RUNS_PER_BATCH * 1e6;
    }
    qsort(taken, TIMED_BATCHES, sizeof taken[0], compare_doubles);
    return taken[TIMED_BATCHES / 2];
}

int main(void)
{
    static int predictions[HELDOUT_COUNT];
    void *arena = arena_within(memory);
    int right = predict_all(arena, predictions);
    if (right < 0)
        return 1;

    uint32_t digest = DIGEST_START;
    for (int n = 0; n < HELDOUT_COUNT; n++)
        digest = digest_add(digest, predictions[n]);

    draw_first(predictions);
    draw_mistakes(predictions);
    printf("held-out digits   %d of %d right (%.2f %%), predictions %08lx\n", right, HELDOUT_COUNT,
           100.0 * right / HELDOUT_COUNT, (unsigned long)digest);
    printf("time              %.1f microseconds an inference (median)\n", median_microseconds(arena));
    printf("arena             %lu bytes\n", (unsigned long)DIGITS_ARENA_SIZE);
    printf("weights           %lu bytes\n", (unsigned long)DIGITS_WEIGHTS_SIZE);
    if (100 * right >= REQUIRED_PERCENT * HELDOUT_COUNT)
        return 0;
    fprintf(stderr, "fewer than %d %% are right\n", REQUIRED_PERCENT);
    return 1;
}
