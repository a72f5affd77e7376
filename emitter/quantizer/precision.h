/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_PRECISION_H
#define LW_QUANTIZER_PRECISION_H
/* Chooses the width of each grid: 8 bits, 16 bits or none, as cheap as a bound on the outputs permits. */
#include "quantizer/quantizer.h"

/* Instructions of a run, and bytes of code, constants and arena, as emitted for the target of the build. */
typedef struct NetworkCost { int64_t instructions, bytes; } NetworkCost;

/* Requirements on the outputs, over all samples. */
struct QualityBounds {
    double least_sqnr;                 /* dB of the worst output; 0 if there is no bound */
    /* the loss of the first output's accuracy, as a share; negative if there is no bound */
    double most_drop;
    const int64_t *label;              /* [samples], with most_drop */
    bool lists_layers;                 /* true if sensitivities are measured even without a bound */
};

/* A grid: the calls that write it, with their weights, which have 8 bits or fewer; for the input of a recurrent layer,
 * the weights of that layer. */
typedef struct LayerPrecision {
    const char *name;
    int first;                         /* the bits before any grid is widened: 8, the user's, or those of its reader */
    int bits;                          /* chosen */
    bool has_one_width;                /* `first`, or floats: by the user's annotation or its reader */
    bool is_port;                      /* true if the caller chose 8 bits */
    /* dB of its tensors if all grids have their first bits; NaN if the grid is wide and not rounded */
    double own;
    double alone8, alone16;            /* dB of the worst output if only this grid is quantized */
    /* the cost that 16 bits add, and the cost that floats add to it; counted with a bound */
    NetworkCost wide, floats;
} LayerPrecision;

/* The quality of the outputs with a choice of widths. sqnr: of the worst output, or part of one; worst: its name, or
 * NULL if there is one output, which is not a concatenation. */
typedef struct Quality { double sqnr; int64_t right; const char *worst; } Quality;

struct Precision {
    int count; LayerPrecision *at;     /* figures by group; count is 0 if not measured */
    int64_t samples, measured;         /* the samples of the bound; the samples of the sensitivities */
    int64_t right;                     /* labels that the float network gives */
    Quality narrow, chosen;            /* the network with all grids of their first bits; the network as chosen */
    NetworkCost narrow_cost, chosen_cost;          /* counted with a bound if a grid is widened for it; otherwise 0 */
};

/* Both functions compare with the outputs of `model`, the float network before scales are moved between layers. */
/* Gives every group its grid, by the method. RANGE_BEST chooses the method among `least`, `min-max` and `percentile`
 * that has the lowest noise at the outputs, over some of the samples. False on error. */
bool choose_ranges(const Build *b, const Graph *model, const Graph *g, const Samples *s, RangeMethod method,
                   const ChannelStats *stats, const LastLayers *last, Edges *e);
/* Returns the samples of a trial: fewer for a network of many multiply-adds, so that the trials' time is bounded.
 * CHOICE has a dozen trials; SEARCH has hundreds. */
enum { CHOICE_MACS = 1 << 29, SEARCH_MACS = 1 << 27 };
int64_t trial_samples(Ctx *cx, const Graph *g, int64_t most_macs);
/* Measures the outputs over the later half of the samples, with ranges by the first half. False on error. */
bool measure_unseen(const Build *b, const Graph *model, const Graph *g, const Samples *s, Edges *e, double *sqnr);
/* Chooses bits and grid of every group; the 8-bit grids are chosen already. Returns false, with a diagnostic, if no
 * choice keeps the bounds. */
bool choose_precision(const Build *b, const Graph *model, const Graph *g, const Samples *s, Ports ports,
                      const QualityBounds *bounds, Edges *e, Precision *out);

/* ---- Counted costs: width_cost.c --------------------------------------------------------------------------------- */

/* Counts the network with the widths that the groups have. False on error. */
bool network_cost(const Build *like, const Graph *g, const Edges *e, Ports ports, NetworkCost *out);
/* Returns the part of the network that depends on the group's width: the calls that write and read its tensors, up to
 * other tensors with a grid, which become inputs. *edges receives the edges of the part, which share the groups of
 * `e`. */
Graph part_around(Ctx *cx, const Graph *g, const Edges *e, int group, Edges *edges);
#endif
