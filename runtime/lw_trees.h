/* SPDX-License-Identifier: 0BSD */
/* Decision trees as data: walks, and the weights of the leaves that they reach. Operands are arrays of any integer or
 * float type:
 *
 *   x         [rows][features]
 *   root      [trees]           a link: 0 or more is a node, -1 - p the leaf whose first pair is p
 *   feature   [nodes]           below features
 *   threshold [nodes]           x <= threshold selects the first link of a node; LT: x < threshold
 *   child     [nodes][2]        links to later nodes or to leaves, so each walk ends
 *   column    [pairs]           the pair's column in y; columns is added for all but the last pair of a leaf
 *   value     [pairs]
 *   y         [rows][columns]   the sums over the trees, in their order
 *
 * visits, the most nodes that the walks of all rows visit, is for estimates alone. */
#ifndef LW_TREES_H
#define LW_TREES_H

#include <stdint.h>

/* lw: LW_FOREST_BY needs */
#define LW_FOREST_BY(less, x, root, feature, threshold, child, column, value, y, rows, features, trees, columns, \
                     visits) \
    do { \
        for (int32_t lw_n = 0; lw_n < (rows); lw_n++) { \
            int32_t lw_zero = lw_n * (columns); \
            for (; lw_zero + 3 < (lw_n + 1) * (columns); lw_zero += 4) \
                (y)[lw_zero] = (y)[lw_zero + 1] = (y)[lw_zero + 2] = (y)[lw_zero + 3] = 0; \
            for (; lw_zero < (lw_n + 1) * (columns); lw_zero++) (y)[lw_zero] = 0; \
            for (int32_t lw_t = 0; lw_t < (trees); lw_t++) { \
                int32_t lw_at = (int32_t)(root)[lw_t], lw_c; \
                while (lw_at >= 0) \
                    lw_at = (x)[lw_n * (features) + (int32_t)(feature)[lw_at]] less (threshold)[lw_at] \
                          ? (int32_t)(child)[2 * lw_at] : (int32_t)(child)[2 * lw_at + 1]; \
                for (lw_at = -1 - lw_at; (lw_c = (int32_t)(column)[lw_at]) >= (columns); lw_at++) \
                    (y)[lw_n * (columns) + lw_c - (columns)] += (value)[lw_at]; \
                (y)[lw_n * (columns) + lw_c] += (value)[lw_at]; \
            } \
        } \
    } while (0)
/* lw: end */

/* lw: LW_FOREST_LE needs LW_FOREST_BY */
#define LW_FOREST_LE(...) LW_FOREST_BY(<=, __VA_ARGS__)
/* lw: end */

/* lw: LW_FOREST_LT needs LW_FOREST_BY */
#define LW_FOREST_LT(...) LW_FOREST_BY(<, __VA_ARGS__)
/* lw: end */

#endif
