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
    const int64_t *label;              /* [samples]: the class of each sample, for most_drop */
    bool lists_layers;                 /* true if sensitivities are measured even without a bound */
};

/* A grid, with the calls that write it and their weights, which have 8 bits or fewer. The grid of a recurrent layer's
 * input includes the weights of that layer. */
typedef struct LayerPrecision {
    const char *name;
    /* The bits before any grid is widened: 8, the user's bits, or the bits of its reader. */
    int first;
    int bits;                          /* the bits that are chosen */
    /* True if only `first` and floats are possible, by the user's annotation or the grid's reader. */
    bool has_one_width;
    bool is_port;                      /* true if the caller chose 8 bits */
    /* The signal to noise of its tensors in dB, if all grids have their first bits; NaN if the grid is wide and not
     * rounded */
    double own;
    /* The signal to noise of the worst output in dB, if only this grid is quantized. */
    double alone8, alone16;
    /* The cost that 16 bits add, and the cost that floats add to that; counted with a bound. */
    NetworkCost wide, floats;
} LayerPrecision;

/* The quality of the outputs with a choice of widths. sqnr is the signal to noise of the worst output, or of the worst
 * part of an output. `worst` is its name, or NULL if the only output is not a concatenation. */
typedef struct Quality { double sqnr; int64_t right; const char *worst; } Quality;

struct Precision {
    int count; LayerPrecision *at;     /* figures by group; count is 0 if they were not measured */
    int64_t samples, measured;         /* the samples of the bound; the samples of the sensitivities */
    int64_t right;                     /* the number of labels that the float network gives */
    Quality narrow, chosen;            /* the qualities with the first bits of all grids, and with the chosen bits */
    NetworkCost narrow_cost, chosen_cost;          /* counted with a bound if a grid is widened for it; otherwise 0 */
};

/* The functions below compare with the outputs of `model`, the float network before scales are moved between layers. */
/* Gives every group its grid, by the method. RANGE_BEST chooses the method among `least`, `min-max` and `percentile`
 * that has the lowest noise at the outputs, over some of the samples. Returns false on error. */
bool choose_ranges(const Build *b, const Graph *model, const Graph *g, const Samples *s, RangeMethod method,
                   const ChannelStats *stats, const LastLayers *last, Edges *e);
/* Returns the samples of a trial: fewer for a network of many multiply-adds, so that the trials' time is bounded.
 * CHOICE has a dozen trials; SEARCH has hundreds. */
enum { CHOICE_MACS = 1 << 29, SEARCH_MACS = 1 << 27 };
int64_t trial_samples(Ctx *cx, const Graph *g, int64_t most_macs);
/* Measures the outputs over the later half of the samples, with ranges by the first half. Returns false on error. */
bool measure_unseen(const Build *b, const Graph *model, const Graph *g, const Samples *s, Edges *e, double *sqnr);
/* Chooses bits and grid of every group; the 8-bit grids are chosen already. Returns false, with a diagnostic, if no
 * choice keeps the bounds. */
bool choose_precision(const Build *b, const Graph *model, const Graph *g, const Samples *s, Ports ports,
                      const QualityBounds *bounds, Edges *e, Precision *out);

/* ---- Counted costs: width_cost.c --------------------------------------------------------------------------------- */

/* Counts the bytes of the constants of the emitted network. Returns false on error. */
bool network_constants(const Build *like, const Graph *g, const Edges *e, Ports ports, int64_t *bytes);
/* Counts the network with the present widths of the groups. Returns false on error. */
bool network_cost(const Build *like, const Graph *g, const Edges *e, Ports ports, NetworkCost *out);
/* Returns the part of the network that depends on the group's width: the calls that write and read its tensors, up to
 * other tensors with a grid, which become inputs. *edges receives the edges of the part, which share the groups of
 * `e`. */
Graph part_around(Ctx *cx, const Graph *g, const Edges *e, int group, Edges *edges);
#endif
