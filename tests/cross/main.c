/* SPDX-License-Identifier: MIT */
/* Runs one emitted model once on the board, on given inputs, and compares its outputs.
 *
 * Built with MODEL (the emitted prefix, kws), MODEL_UPPER (KWS) and MODEL_HEADER ("kws.h"). The inputs and expected
 * outputs are linked in as .npy files, and `cross_vectors` lists them, all inputs before all outputs, in the model's
 * order. Float outputs agree if |got - expected| <= 1e-4 + 1e-3 |expected|, integers if they are equal. Exit status: 0
 * they agree, 1 they differ, 2 a file does not fit the model, 3 a fault, 4 the model refused to run. */
#include <stdint.h>
#include <string.h>

#include "board.h"
#include "inference.h"

struct vector { const unsigned char *begin, *end; };
extern const struct vector cross_vectors[];
extern const uint32_t cross_vector_count;

/* The bytes of vector `index`, or NULL with a message if their number is another. */
static const void *vector_bytes(uint32_t index, const char *name, uint32_t bytes)
{
    const struct vector *vector = &cross_vectors[index];
    if (index < cross_vector_count && (uint32_t)(vector->end - vector->begin) == bytes)
        return vector->begin;
    board_text(index < cross_vector_count ? "wrong size of the file for " : "no file for ");
    board_text(name);
    board_report(": its bytes must be", bytes);
    return NULL;
}

static float magnitude(float x)
{
    return x < 0.0f ? -x : x;
}

/* Written so that NaN is never close to anything. */
static int is_close(float got, float want)
{
    return magnitude(got - want) <= 1e-4f + 1e-3f * magnitude(want);
}

static int equal_element(const unsigned char *got, const unsigned char *want, uint32_t bytes, int is_float)
{
    float a, b;
    if (!is_float)
        return memcmp(got, want, bytes) == 0;
    if (bytes != sizeof a)
        return 0;
    memcpy(&a, got, sizeof a);
    memcpy(&b, want, sizeof b);
    return is_close(a, b);
}

/* Compares one output with vector `index`; prints the number of elements that differ. */
static int check_output(uint32_t index, const char *name, const void *got, uint32_t count,
                        uint32_t bytes, int is_float)
{
    const unsigned char *want = vector_bytes(index, name, count * bytes);
    uint32_t differing = 0, first = 0;
    if (!want)
        return 2;
    for (uint32_t i = count; i-- > 0;) {
        if (!equal_element((const unsigned char *)got + i * bytes, want + i * bytes, bytes, is_float)) {
            differing++;
            first = i;
        }
    }
    board_text(name);
    board_report(": elements", count);
    if (differing) {
        board_text(name);
        board_report(": differing", differing);
        board_text(name);
        board_report(": first at", first);
    }
    return differing ? 1 : 0;
}

int main(void)
{
    struct inference inference;
    uint32_t index = 0;
    int worst = 0;
    inference.arena = arena_start();
    memset(memory, 0xA5, sizeof memory);

#define BIND_INPUT(name, type, count) \
    inference.in.name = vector_bytes(index++, #name, (uint32_t)sizeof(type) * (count)); \
    if (!inference.in.name) \
        return 2;
    JOIN(MODEL_UPPER, _INPUTS)(BIND_INPUT)

/* Filled with a pattern, so an element that is never written is noticed. */
#define BIND_OUTPUT(name, type, count) \
    memset(name##_got, 0xFF, sizeof name##_got); \
    inference.out.name = name##_got;
    JOIN(MODEL_UPPER, _OUTPUTS)(BIND_OUTPUT)

    struct board_cost cost = board_measure(infer, &inference);
    if (inference.status) {
        board_text("the model refused to run\n");
        return 4;
    }

#define CHECK_OUTPUT(name, type, count) { \
        int result = check_output(index++, #name, name##_got, (count), (uint32_t)sizeof(type), \
                                  (type)0.5f > (type)0); \
        worst = result > worst ? result : worst; \
    }
    JOIN(MODEL_UPPER, _OUTPUTS)(CHECK_OUTPUT)

    if (index != cross_vector_count) {
        board_report("files given that the model has no use for:", cross_vector_count - index);
        worst = 2;
    }
    board_report("instructions", cost.instructions);
    board_report("stack bytes", cost.stack_bytes);
    board_report("arena bytes", ARENA_SIZE);
    return worst;
}
