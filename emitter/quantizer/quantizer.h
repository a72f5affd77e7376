/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_QUANTIZER_H
#define LW_QUANTIZER_QUANTIZER_H
/* Post-training quantization: from a float network and samples to integer C, in passes over one DAG.
 *
 *   requests.c    the user's annotations
 *   edges.c       which tensors get a grid: facts of the operators' rows, and requests
 *   parts.c       a layer for each part of a result that is read apart and has a range of its own
 *   equalize.c    scales moved between layers, so that the channels of a tensor have similar ranges
 *   calibrate.c   the network runs in float over the samples; one histogram per grid; the grids
 *   histogram.c   the range of a histogram with the smallest error
 *   ties.c        steps and scales of weights for which no sum is near a tie
 *   precision.c   8 bits, 16 or none for each grid, the cheapest that keep a bound
 *   width_cost.c  the counted instructions and bytes of these widths
 *   refine.c      weights rounded by the error of their layer's output; of recurrent layers always
 *   finetune.c    weights and scales trained to the float network's outputs
 *   tuned.c       the parameters of that training
 *   bias.c        the mean error of rounded weights, subtracted from the bias
 *   simulate.c    the DAG with annotation.simulated_quantize on every edge, and 8-bit ports
 *   annotate.c    the DAG with annotations for the user: with or without their grids
 *   floats.c      the calls that compute in floats after all, with the reason
 *
 * The simulated DAG is an ordinary DAG, which graph/quantize turns into integer calls. */
#include "driver/driver.h"
#include "quantizer/histogram.h"

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* The samples of all inputs, as the model's types. Samples of .npy files stay in their files, so memory does not grow
 * with their number. Samples of archives, and of arrays in Fortran order, are in memory. */
typedef struct Samples {
    int64_t count, first;              /* the number of the first one in the files */
    int input_count;
    int64_t *bytes;                    /* [input_count] of one sample */
    const struct SampleInput *input;   /* [input_count] where they are */
} Samples;

/* Opens a .npy file per input, in the model's order, or a folder of such files, which are joined in the order of their
 * names; for all inputs, one .npz with an array for each input's name, or one folder with NAME.npy or a folder NAME for
 * each. Their first axis counts samples. Float types are converted; NaN and infinity are refused. Returns false, with a
 * diagnostic, if the files do not fit the inputs. */
bool samples_read(Build *b, const char *const *path, int path_count, Samples *out);

/* Copies one sample of an input. Returns false, with a diagnostic, if its file has changed. */
bool samples_copy(Ctx *cx, const Samples *s, int input, int64_t number, void *to);

/* Returns the samples as other ports of the same model store them: floats by scale and zero point. */
Samples samples_for(Ctx *cx, const Samples *s, Tensor *const *port);
/* Returns the samples beginning with `first`, at most `most` of them. */
Samples samples_from(const Samples *s, int64_t first, int64_t most);
/* Returns samples that are in memory: `count` of each input, of bytes[i] each, one after another. */
Samples samples_in_memory(Ctx *cx, int64_t count, int input_count, const int64_t *bytes, const char *const *data);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* The user's own annotations, which win over the table of the operators' rows: annotation.simulated_quantize of the
 * model, of a .te file or of --annotate. The passes carry each as a mark of the graph. */

enum { FLOAT_BITS = 32 };

typedef struct Request {
    const Node *annotation;
    Tensor *tensor;                    /* activation, or constant weights */
    int bits;                          /* 8, 16, or FLOAT_BITS: no grid; of weights, 2 to 8 */
    bool has_grid;                     /* scale and zero are given */
    Grid grid;                         /* of an activation */
    const float *scale; int64_t scale_count;       /* of weights: one, or one for each index of the last axis */
} Request;

/* After the passes: moves the marks to tensors of the graph. Returns false, with a diagnostic, if passes folded one
 * away. */
bool requests_resolve(Ctx *cx, Graph *g);
/* Returns the requests of the graph, by tensor. A diagnostic for one that no grid can satisfy. */
Map requests_of(Ctx *cx, const Graph *g);
const Request *request_of(const Map *requests, const Tensor *t);       /* NULL: none */
const char *request_place(Ctx *cx, const Request *r);                  /* for a diagnostic */

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

enum { TRIAL_SAMPLES = 32 };         /* the most on which a choice is measured, if not on all */

/* The method that selects a tensor's grid. */
typedef enum EdgeRange {
    EDGE_CALIBRATED,                   /* from the histogram, by least squared error */
    EDGE_WHOLE,                        /* from the histogram: minimum to maximum */
    EDGE_BY_RESULT,                    /* EDGE_WHOLE without a share of the low end, by the softmax behind */
    EDGE_FIXED,                        /* by the operator: 1/256 for sigmoid and softmax; for a table with a smaller
                                        * range, the whole range from the histogram */
    EDGE_GIVEN                         /* by the user's annotation */
} EdgeRange;

/* A function of a tensor, as its result, and the next one of the group. */
typedef struct CurveOf { Tensor *source, *result; struct CurveOf *next; } CurveOf;

/* Tensors that share a grid: the result of a move has the grid of its operand. */
typedef struct EdgeGroup {
    const char *name;                  /* of its first tensor */
    EdgeRange range;
    bool is_wide;                      /* 16 bits, around 0: only layers with integer weights read it */
    int bits;                          /* 8; 16: around 0; 32: none, what reads or writes it computes in floats */
    bool is_given;                     /* the user's annotation determines the width */
    bool is_term;                      /* of a sum or difference of two tensors, or its result */
    Histogram seen;
    double low;                        /* of EDGE_BY_RESULT: the low end of its range */
    CurveOf *curves;                   /* the only functions that read its tensors; NULL: others read them as well */
    double curve_low, curve_high;      /* the range with the smallest error of their results */
    bool is_table;                     /* of EDGE_FIXED: all its calls are functions of one tensor */
    Grid fixed;                        /* of EDGE_FIXED: the operator's grid */
    Grid grid;
} EdgeGroup;

/* least, greatest: of only this tensor, over the samples of the calibration */
typedef struct Edge { Tensor *tensor; int group; float least, greatest; } Edge;

typedef struct Tuned Tuned;            /* finetune.h */

/* The groups before and after a call that adds products: y = factor * a * b; b: -1 where it is constant, or a mean. */
typedef struct Between { int a, b, y; double factor; } Between;

typedef struct Edges {
    int count; Edge *at;               /* in execution order */
    int group_count; EdgeGroup *group;
    Map of;                            /* maps a tensor to its Edge; NULL if the tensor has no grid */
    Map requests;                      /* of the graph's marks */
    /* maps weights to Between: the groups around the only layer that reads them; NULL if there is none */
    Map between;
    int product_count; Between *product;      /* means, and products of two tensors */
    /* maps weights to their elements, on the grid of the weights; NULL for the nearest values */
    const Map *refined;
    /* maps a bias to its elements in layers that compute on integers; NULL if unchanged */
    const Map *corrected;
    Tuned *tuned;                      /* gets the parameters of a simulation that is trained; NULL: constants */
    int wider;                         /* outputs have their whole range and this many 256ths of it */
    int coarser;                       /* index of the weights' scale among the scales without ties; 0: the smallest */
    bool per_tensor;                   /* weights have one scale, not one for each output channel */
    bool follows_rounding;             /* last biases also subtract the mean error of the rounded results */
    bool ends_before_grids;            /* a simulation's outputs are not rounded to their own grids */
    bool is_partial;                   /* weights are rounded with the layer's output, whatever its inputs are */
} Edges;

typedef enum Ports { PORTS_INT8, PORTS_INT16, PORTS_FLOAT } Ports;
Edges edges_of(Ctx *cx, const Graph *g, Ports ports);
const Edge *edge_of(const Edges *e, const Tensor *t);        /* NULL: none */
bool is_sampled(const EdgeGroup *g);                         /* samples determine its range */
int group_bits(const EdgeGroup *g);                          /* 8, 16, or FLOAT_BITS: none */

/* The constant operand that a call multiplies by; -1: none. *axis: its last one if it has a scale per channel, else
 * -1. */
int weights_operand(const Node *n, int *axis);
/* Returns true if the call computes in floats from its weights, inputs 1 and 2, on integers. bits: those that the user
 * asked for, or 0 if there is none. */
bool has_integer_weights(Ctx *cx, const Edges *e, const Node *n, int *bits);

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* A graph that runs on one sample after another, in memory allocated once. */
typedef struct Runner Runner;
Runner *runner_new(const Build *like, const Graph *g);                   /* NULL on error */
void runner_free(Runner *r);                                 /* NULL allowed; the newest of all runners */
bool runner_run(Runner *r, const Samples *s, int64_t number);
const void *runner_input(const Runner *r, int i);                            /* of the last run */
const void *runner_output(const Runner *r, int i);                       /* valid until the next run */
/* Runs the graph on the first `count` samples; returns its outputs of floats, [output_count][count][elements], and NULL
 * for others. NULL on error. */
float **runner_outputs(const Build *b, const Graph *g, const Samples *s, int64_t count);
/* Adds the squares of an output and of its error. */
void  add_noise(const float *want, const float *got, int64_t count, double *signal, double *noise);

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* Statistics of a tensor's last axis over the samples. */
typedef struct ChannelStats { int64_t channels, count; double *sum, *greatest; } ChannelStats;

/* Runs at most `most` samples; fills histograms and, where `stats` is not NULL, stats[i] of edge i. */
bool calibrate(const Build *b, const Graph *g, const Samples *s, int64_t most, Edges *e, ChannelStats *stats);
/* Chooses the low ends of ranges by the error of the functions that alone read the tensors, over samples. */
bool choose_by_results(const Build *b, const Graph *g, const Samples *s, Edges *e);
/* Chooses ranges by the error of functions of one tensor that alone read it, from the histograms. False: no group has
 * such functions. */
bool choose_by_curves(Ctx *cx, Edges *e);
/* Gives every group its grid; of calibrated groups, by the method, which is not RANGE_BEST. No sum is near a tie. */
void choose_grids(Ctx *cx, Edges *e, RangeMethod method);
/* Warns of each tensor that is constant in all samples. */
void warn_of_constants(Ctx *cx, const Edges *e);
/* Warns of each part of a concatenation or of a slice that has few steps of the grid that it shares. */
void warn_of_parts(Ctx *cx, const Graph *g, const Edges *e);
/* Chooses the rounding of weights by the error of the layers' outputs over the samples, and enters weights -> float[]:
 * of recurrent layers, and of all others. */
bool refine_recurrent(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *refined);
bool refine_layers(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *refined);
/* Returns the weights as a layer on integers has them: refined, if they are. */
Tensor *weights_on_grid(Ctx *cx, const Edges *e, Tensor *w);
/* Gives parts of a layer's result that are read apart, and whose ranges differ, a layer each. False if no part is. */
bool cut_parts(Ctx *cx, Graph *g, const Edges *e);
/* Returns the graph with scales moved between layers. */
Graph equalize(Ctx *cx, Graph g, const Edges *e, const ChannelStats *stats);
/* Returns the elements of the biases less the mean error of the rounded weights, from the means of the inputs: tensor
 * -> float[]. */
Map corrected_biases(Ctx *cx, const Graph *g, const Edges *e, const ChannelStats *stats);
/* The last layers before the outputs, with their results in the float network on some samples; NULL on error. */
typedef struct LastLayers LastLayers;
LastLayers *last_layers_of(const Build *b, const Graph *g, const Samples *s, const Edges *e);
/* Subtracts from their biases the mean error that the simulated network has there, over at most `most` of these
 * samples, and enters them. */
bool correct_last_biases(const LastLayers *l, const Edges *e, int64_t most, Map *corrected);

/* Returns the graph with a simulated quantization on every edge and weight. */
Graph simulate(Ctx *cx, const Graph *g, const Edges *e, Ports ports);
/* Returns the graph with the corrected biases of the layers that compute on integers. */
Graph with_corrected_biases(Ctx *cx, Graph g, const Edges *e);

/* Symmetric scales of weights in -127 to 127, or those of a request: one, or one for each index of the last axis. They
 * are rounded to f32, the form in which the simulated network and the exported one store them. */
float *weight_scales(Ctx *cx, const Edges *e, const Tensor *w, int axis, int64_t *count);

/* Moves the steps of groups that samples determine, so that no mean or product of two tensors is near a tie, and sums
 * of two tensors are exact in floats. */
void avoid_ties(Edges *e);
/* Returns the scale of weights next to `scale` that keeps the sums of their layer from ties, where the largest weight
 * is `most` times `scale`; or `scale`, if the grids around the layer are not known. */
float scale_without_ties(const Edges *e, const Tensor *w, float scale, float most);
/* Returns the unit for biases that keep the sums so; 0: any bias does not. */
double unit_without_ties(const Edges *e, const Tensor *w, float scale);

/* Returns the float graph with an annotation on every edge and on all quantized weights, which the quantizer reads back
 * as requests; with_grids: with their scales and zeros. */
Graph annotated(Ctx *cx, const Graph *g, const Edges *e, bool with_grids);

/* Removes the grids of a quantized model written in real numbers: values are no longer rounded. Stored constants keep
 * theirs. */
void model_without_grids(Ctx *cx, Model *m);

/* Returns the constants replaced in all calls that read them, and in marks; others stay. */
Graph with_constants(Ctx *cx, Graph g, const Map *replaced);

typedef struct QualityBounds QualityBounds;
typedef struct Precision Precision;

typedef struct TuneJob TuneJob;
/* Trains the parameters of a job (finetune.h). False on error. */
typedef struct Tuner {
    void *self;
    int seed;
    const int64_t *label;              /* the class of each sample; NULL: the float network's outputs are the targets */
    bool (*run)(void *self, const TuneJob *job);
} Tuner;

typedef struct QuantizeSettings {
    Ports ports;
    const QualityBounds *bounds;       /* precision.h; NULL: all grids have 8 bits */
    RangeMethod ranges;
    bool refines;                      /* weights are rounded by the error of their layer */
    bool per_tensor, no_equalization;
    const Tuner *tuner;                /* NULL: nothing is trained */
} QuantizeSettings;

/* The whole: after build_read, replaces the model by its quantized form. */
typedef struct Quantized {
    Edges edges;                       /* of `floats`, with their grids */
    Graph floats;                      /* with the biases that the simulated graph has */
    Graph simulated;                   /* before the passes: its calls compute in floats, its ports are the model's */
    const Precision *precision;        /* precision.h; NULL without bounds */
} Quantized;
bool build_quantize(Build *b, const Samples *s, const QuantizeSettings *settings, Quantized *out);
/* The first part: the float graph and its edges, without samples and grids. */
bool build_annotate(Build *b, Ports ports, Quantized *out);

/* A call of the integer network that computes in floats, with the reason, and the number of calls with an integer form
 * that only follow it. */
typedef struct FloatCall { const Node *node; const char *why; int after; } FloatCall;
/* Lists them, in the graph after the passes; returns the length of the list. */
int calls_in_floats(Ctx *cx, const Graph *realized, FloatCall **out);

/* Returns a tensor whose grid only samples can choose; NULL: all grids are given. */
const Tensor *edges_without_grid(const Edges *e);

#endif
