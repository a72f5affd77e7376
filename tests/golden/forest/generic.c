/* forest: forest.te for generic, emitted by Loopwright. */
#include "generic.h"
#if FOREST_HEADER_HASH != 0x177fb425
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"
#include "lw_ieee.h"
#include "lw_trees.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* forest
 * from[n<1, t<1] = i8(0)
 * at_1[n<1, t<1] = select(0 <= i32(from[n, t]), select(x[n, 0] <= 0, child[0, 0], child[0, 1]), from[n, t])
 * end[n<1, t<1] = min(j<2) select(i32(column[max(min(j-i32(at_1[0, 0])-1,2),0)]) < 3, j, 2)
 * y[n<1, c<3] = sum(t<1, j<2) select(j <= end[n, t] && i32(column[part1]) - select(j < end[n, t], 3, 0) == c,
 *     value[part1], 0.0)
 *     where part1 = max(min(j - i32(at_1[0, 0]) - 1, 2), 0)
 * x: [1][2]  root: [1]  feature: [1]  threshold: [1]  child: [1][2]  column: [3]  value: [3]  y: [1][3]
 * schedule trees.forest: calls LW_FOREST_LE */
static void forest_y(const int8_t *restrict x, const int8_t *root, const int8_t *feature, const int8_t *threshold,
    const int8_t *child, const uint8_t *column, const float *value, float *restrict y)
{
    LW_FOREST_LE(x, root, feature, threshold, child, column, value, y, 1, 2, 1, 3, 1);
}

/* [1] */
static const LW_ALIGN(16) int8_t forest_y_root[1] = {
    0
};

/* [1][2] */
static const LW_ALIGN(16) int8_t forest_y_child[2] = {
    -1,-2
};

/* [3] */
static const LW_ALIGN(16) uint8_t forest_y_column[3] = {
    0,3,2
};

/* [3] */
static const LW_ALIGN(16) float forest_y_value[3] = {
    1.5f,.25f,.75f
};

int forest_run(void *arena, const struct forest_inputs *in, const struct forest_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return FOREST_E_NULL;
    if (out == NULL || out->y == NULL) return FOREST_E_NULL;
    LW_LAYER(0, "y")
    forest_y(in->x, forest_y_root, forest_y_root, forest_y_root, forest_y_child, forest_y_column, forest_y_value,
        out->y);
    return 0;
}
