/* SPDX-License-Identifier: MIT */
/* The digits network on a bare Cortex-M: every held-out digit through the emitted C; prints the predictions, and the
 * instructions and stack of one inference. */
#include <stdint.h>

#include "../digits/recognise.h"
#include "board.h"

enum { PREDICTIONS_PER_LINE = 60 };

static unsigned char memory[DIGITS_ARENA_SIZE + DIGITS_ARENA_ALIGN];

/* One inference for board_measure: the measure includes digits_run alone. */
struct inference {
    void *arena;
    struct digits_inputs in;
    struct digits_outputs out;
    int status;
};

static void infer(void *argument)
{
    struct inference *inference = argument;
    inference->status = digits_run(inference->arena, &inference->in, &inference->out);
}

/* The cost of all inferences together. */
struct totals {
    uint64_t instructions, most_instructions;
    uint32_t stack_bytes;
};

static void add_cost(struct totals *totals, struct board_cost cost)
{
    totals->instructions += cost.instructions;
    if (cost.instructions > totals->most_instructions)
        totals->most_instructions = cost.instructions;
    if (cost.stack_bytes > totals->stack_bytes)
        totals->stack_bytes = cost.stack_bytes;
}

/* "358 of 360 right, predictions 7dc5ba6a", in the words of the hosted demo: run.sh compares. */
static void report_predictions(int right, uint32_t digest)
{
    board_text("held-out digits ");
    board_number((uint32_t)right);
    board_text(" of ");
    board_number(HELDOUT_COUNT);
    board_text(" right, predictions ");
    board_hex(digest);
    board_text("\n");
}

int main(void)
{
    float image[DIGIT_PIXELS], scores[DIGIT_CLASSES];
    struct inference inference = { arena_within(memory), { image }, { scores }, 0 };
    struct totals totals = { 0, 0, 0 };
    uint32_t digest = DIGEST_START;
    int right = 0;

    for (int n = 0; n < HELDOUT_COUNT; n++) {
        scale_pixels(heldout_pixels[n], image);
        add_cost(&totals, board_measure(infer, &inference));
        if (inference.status) {
            board_text("digits_run failed\n");
            return 1;
        }
        int prediction = index_of_largest(scores);
        board_number((uint32_t)prediction);
        if (n % PREDICTIONS_PER_LINE == PREDICTIONS_PER_LINE - 1)
            board_text("\n");
        digest = digest_add(digest, prediction);
        right += prediction == heldout_labels[n];
    }
    report_predictions(right, digest);
    board_report("instructions per inference, mean", totals.instructions / HELDOUT_COUNT);
    board_report("instructions per inference, most", totals.most_instructions);
    board_report("stack bytes", totals.stack_bytes);
    board_report("arena bytes", DIGITS_ARENA_SIZE);
    return 0;
}
