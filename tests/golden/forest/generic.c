/* forest: forest.te for generic, emitted by Loopwright. */
#include "generic.h"

#include <stddef.h>

#include "lw_base.h"
#include "lw_trees.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* forest
 * from[n<4, t<2] = root[t]
 * at_1[n<4, t<2] = select(0 <= i32(from[n, t]), select(x[n, min(i32(feature[max(min(i32(from[n,
 *     t]),1),0)]),1)] <= threshold[max(min(i32(from[n, t]),1),0)], child[max(min(i32(from[n, t]),1),0), 0],
 *     child[max(min(i32(from[n, t]),1),0), 1]), from[n, t])
 * at_2[n<4, t<2] = select(0 <= i32(at_1[n, t]), select(x[n, min(i32(feature[max(min(i32(at_1[n,
 *     t]),1),0)]),1)] <= threshold[max(min(i32(at_1[n, t]),1),0)], child[max(min(i32(at_1[n, t]),1),0), 0],
 *     child[max(min(i32(at_1[n, t]),1),0), 1]), at_1[n, t])
 * end[n<4, t<2] = min(j<2) select(i32(column[max(min(j-i32(at_2[n, t])-1,3),0)]) < 3, j, 2)
 * y[n<4, c<3] = sum(t<2, j<2) select(j <= end[n, t] && i32(column[max(min(j-i32(at_2[n,
 *     t])-1,3),0)]) - select(j < end[n, t], 3, 0) == c, value[max(min(j-i32(at_2[n, t])-1,3),0)], 0.0)
 * x: [4][2]  root: [2]  feature: [2]  threshold: [2]  child: [2][2]  column: [4]  value: [4]  y: [4][3]
 * schedule trees.forest: calls LW_FOREST_LE */
static void forest_y(const float *restrict x, const int8_t *root, const uint8_t *feature, const float *threshold,
    const int8_t *child, const uint8_t *column, const float *value, float *restrict y)
{
    LW_FOREST_LE(x, root, feature, threshold, child, column, value, y, 4, 2, 2, 3, 16);
}

/* [2] */
static const LW_ALIGN(16) int8_t forest_y_root[2] = {
    0,-4
};

/* [2] */
static const LW_ALIGN(16) uint8_t forest_y_feature[2] = {
    0,1
};

/* [2] */
static const LW_ALIGN(16) float forest_y_threshold[2] = {
    0.f,.5f
};

/* [2][2] */
static const LW_ALIGN(16) int8_t forest_y_child[4] = {
    -1,1,-2,-3
};

/* [4] */
static const LW_ALIGN(16) uint8_t forest_y_column[4] = {
    0,3,2,1
};

/* [4] */
static const LW_ALIGN(16) float forest_y_value[4] = {
    1.5f,.25f,.75f,2.f
};

int forest_run(void *arena, const struct forest_inputs *in, const struct forest_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return FOREST_E_NULL;
    if (out == NULL || out->y == NULL) return FOREST_E_NULL;
    LW_LAYER(0, "y")
    forest_y(in->x, forest_y_root, forest_y_feature, forest_y_threshold, forest_y_child, forest_y_column,
        forest_y_value, out->y);
    return 0;
}
