/* SPDX-License-Identifier: MIT */
/* Expands sparse tensors. A sparse tensor is a tree with a level for each dimension in `traversal order`, then one for
 * each dimension of a tile (the schema's block). A node of a dense level has a child for each index; a node of a sparse
 * level has a child for each of indices[segment[node] .. segment[node + 1]). The leaves, from left to right, are the
 * stored elements. `block map` gives the dimension of each tile level:
 *
 *     index of the dimension = index of the tile * size of the tile + index within the tile
 *
 * The file is not trusted: a tree with more nodes than its levels times the tensor's elements is damaged. */
#include "import/tflite/file/tflite_sparse.h"

#include <string.h>

enum { SPARSITY_ORDER, SPARSITY_BLOCKS, SPARSITY_LEVELS };
enum { LEVEL_FORMAT, LEVEL_SIZE, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS, LEVEL_INDICES_TYPE, LEVEL_INDICES };
enum { DENSE, SPARSE, MOST_LEVELS = 2 * MAX_RANK };

typedef struct Level { int format, dimension; int64_t size; FlatVector segments, indices; bool is_block; } Level;
typedef struct Tree {
    const TfliteTensor *tensor;
    int level_count; Level level[MOST_LEVELS];
    int64_t index[MOST_LEVELS];                      /* indices of the visited node and its ancestors, by level */
    int64_t size;                                    /* size of an element in bytes */
    /* next: index of the next stored element; count: number of stored elements */
    int64_t next, count;
    int64_t nodes_left;
    unsigned char *to;
} Tree;

/* Returns numbers of 32, 16 or 8 bits, by the union's tag. */
static FlatVector read_numbers(const FlatTable *t, int type_field, int field)
{
    static const int bytes[] = { 0, 4, 2, 1 };
    const int64_t type = flat_int(t, type_field, 1, 0);
    const FlatTable numbers = flat_table(t, field);
    return type >= 1 && type <= 3 ? flat_vector(&numbers, 0, bytes[type]) : (FlatVector){ 0 };
}

static int64_t number_at(const FlatVector *v, int64_t i)
{
    const int64_t n = flat_int_at(v, (size_t)i);
    return v->size == 4 ? n : n & (v->size == 2 ? 0xffff : 0xff);
}

static bool read_level(const FlatTable *m, Level *l)
{
    l->format = (int)flat_int(m, LEVEL_FORMAT, 1, DENSE);
    l->size = flat_int(m, LEVEL_SIZE, 4, 0);
    if (l->format == DENSE) return l->size > 0;
    l->segments = read_numbers(m, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS);
    l->indices = read_numbers(m, LEVEL_INDICES_TYPE, LEVEL_INDICES);
    return l->format == SPARSE && l->segments.count > 0;
}

/* Reads the levels: each dimension once, then the levels of the tile. */
static bool read_tree(Tree *t)
{
    const FlatTable *s = &t->tensor->sparsity;
    const FlatVector order = flat_vector(s, SPARSITY_ORDER, 4), blocks = flat_vector(s, SPARSITY_BLOCKS, 4),
                     levels = flat_vector(s, SPARSITY_LEVELS, 4);
    const int64_t rank = t->tensor->rank;
    bool is_present[MOST_LEVELS] = { false };
    if (order.count > MOST_LEVELS || order.count != levels.count
        || (int64_t)order.count != rank + (int64_t)blocks.count)
        return false;
    t->level_count = (int)order.count;
    for (int i = 0; i < t->level_count; i++) {
        Level *l = &t->level[i];
        const FlatTable m = flat_table_at(&levels, (size_t)i);
        const int64_t d = flat_int_at(&order, (size_t)i);
        l->is_block = i >= rank;
        if (d < (l->is_block ? rank : 0) || d >= (l->is_block ? t->level_count : rank) || is_present[d]
            || !read_level(&m, l))
            return false;
        is_present[d] = true;
        const int64_t dimension = l->is_block ? flat_int_at(&blocks, (size_t)(d - rank)) : d;
        if (dimension < 0 || dimension >= rank || (l->is_block && l->format != DENSE)) return false;
        if (l->format == DENSE && l->size > t->tensor->dim[dimension]) return false;
        l->dimension = (int)dimension;
    }
    return true;
}

static bool put_element(Tree *t)
{
    int64_t place[MAX_RANK] = { 0 }, at = 0;
    for (int i = 0; i < t->level_count; i++) {
        const Level *l = &t->level[i];
        place[l->dimension] = l->is_block ? place[l->dimension] * l->size + t->index[i] : t->index[i];
        if (place[l->dimension] < 0 || place[l->dimension] >= t->tensor->dim[l->dimension]) return false;
    }
    for (int d = 0; d < t->tensor->rank; d++) at = at * t->tensor->dim[d] + place[d];
    if (t->next == t->count) return false;
    memcpy(t->to + at * t->size, t->tensor->data.at + t->next++ * t->size, (size_t)t->size);
    return true;
}

/* Visits the children of a node; `node` is its index in its level. */
static bool visit(Tree *t, int level, int64_t node)
{
    if (level == t->level_count) return put_element(t);
    const Level *l = &t->level[level];
    const bool is_dense = l->format == DENSE;
    if (!is_dense && (node < 0 || node + 1 >= (int64_t)l->segments.count)) return false;
    const int64_t begin = is_dense ? 0 : number_at(&l->segments, node),
                  end = is_dense ? l->size : number_at(&l->segments, node + 1);
    if (begin < 0 || (!is_dense && end > (int64_t)l->indices.count)) return false;
    for (int64_t i = begin; i < end; i++) {
        t->index[level] = is_dense ? i : number_at(&l->indices, i);
        if (t->nodes_left-- == 0 || !visit(t, level + 1, is_dense ? node * l->size + i : i)) return false;
    }
    return true;
}

bool tflite_densify(const TfliteTensor *tensor, int64_t size, unsigned char *to)
{
    Tree t = {
        .tensor = tensor, .size = size, .count = (int64_t)tensor->data.count / size, .to = to, .nodes_left = MOST_LEVELS
    };
    for (int d = 0; d < tensor->rank; d++) t.nodes_left *= tensor->dim[d];
    return read_tree(&t) && visit(&t, 0, 0) && t.next == t.count && (int64_t)tensor->data.count == t.count * size;
}
