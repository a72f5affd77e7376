/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_PRECISION_H
#define LW_QUANTIZER_PRECISION_H
/* The width of each grid: 8 bits, 16 bits or none, the cheapest that keep a bound on the outputs. */
#include "quantizer/quantizer.h"

/* Instructions of a run, and bytes of code, constants and arena, as emitted for the target of the build. */
typedef struct NetworkCost { int64_t instructions, bytes; } NetworkCost;

/* Requirements on the outputs, over all samples. */
struct QualityBounds {
    double least_sqnr;                 /* dB, of the worst output, or 0 if there is none */
    double most_drop;                  /* of the first output's accuracy, as a share; negative: none */
    const int64_t *label;              /* [samples], with most_drop */
    bool lists_layers;                 /* sensitivities are measured even without a bound */
};

/* A grid: the calls that write it, with their weights, which have 8 bits or fewer; for the input of a recurrent layer,
 * the weights of that layer. */
typedef struct LayerPrecision {
    const char *name;
    int first;                         /* bits before any is widened: 8, the user's, or those of its reader */
    int bits;                          /* chosen */
    bool has_one_width;                /* `first`, or floats: by the user's annotation or its reader */
    bool is_port;                      /* 8 bits by the caller's choice */
    double own;                        /* dB of its tensors, all grids having first bits; NaN: wide, not rounded */
    double alone8, alone16;            /* dB of the worst output, if only this one is quantized */
    NetworkCost wide, floats;          /* added by 16 bits, and by floats instead of them; counted with a bound */
} LayerPrecision;

/* The quality of the outputs with a choice of widths. sqnr: of the worst output, or part of one; worst: its name, or
 * NULL if there is one output, which is not a concatenation. */
typedef struct Quality { double sqnr; int64_t right; const char *worst; } Quality;

struct Precision {
    int count; LayerPrecision *at;     /* by group; count 0: not measured */
    int64_t samples, measured;         /* of the bound; of the sensitivities */
    int64_t right;                     /* labels that the float network gives */
    Quality narrow, chosen;            /* all grids of their first bits; as chosen */
    NetworkCost narrow_cost, chosen_cost;          /* counted with a bound, and if a grid is widened for it; else 0 */
};

/* Both compare with the outputs of `model`, the float network before scales are moved between layers. */
/* Gives every group its grid, by the method; RANGE_BEST: by the one of `least`, `min-max` and `percentile` with the
 * least noise at the outputs, over some of the samples. False on error. */
bool choose_ranges(const Build *b, const Graph *model, const Graph *g, const Samples *s, RangeMethod method,
                   const ChannelStats *stats, const LastLayers *last, Edges *e);
/* Returns the samples of a trial: fewer for a network of many multiply-adds, so that the trials' time is bounded.
 * CHOICE: a dozen trials; SEARCH: hundreds. */
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
 * other tensors with a grid, which become inputs. *edges: those of the part; they share the groups of `e`. */
Graph part_around(Ctx *cx, const Graph *g, const Edges *e, int group, Edges *edges);
#endif
