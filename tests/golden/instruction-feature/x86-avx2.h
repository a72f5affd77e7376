/* instruction_feature: instruction-feature.te for x86-avx2, emitted by Loopwright.
 *
 * Inputs
 *   x                    float    [2][8]
 * Outputs
 *   y                    float    [2][8]
 */
#ifndef INSTRUCTION_FEATURE_H
#define INSTRUCTION_FEATURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INSTRUCTION_FEATURE_ARENA_SIZE   0u     /* bytes of scratch memory instruction_feature_run needs */
#define INSTRUCTION_FEATURE_ARENA_ALIGN  32u
#define INSTRUCTION_FEATURE_WEIGHTS_SIZE 0u     /* bytes of constants */

#define INSTRUCTION_FEATURE_E_ARENA (-1)     /* the arena is null or misaligned */
#define INSTRUCTION_FEATURE_E_DIM   (-2)     /* a size is outside of its declared range */

/* X(name, C type, number of elements) for every input and output, in the model's order */
#define INSTRUCTION_FEATURE_INPUTS(X) X(x, float, 16)
#define INSTRUCTION_FEATURE_OUTPUTS(X) X(y, float, 16)

struct instruction_feature_inputs {
    const float *x;
};
struct instruction_feature_outputs {
    float *y;
};

/* Runs the model once. Returns 0, or a negative INSTRUCTION_FEATURE_E... code. Reentrant: all state is in the arena. */
int instruction_feature_run(void *arena, const struct instruction_feature_inputs *in, const struct instruction_feature_outputs *out);

#ifdef __cplusplus
}
#endif

#endif
