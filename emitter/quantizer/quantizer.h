/* SPDX-License-Identifier: MIT */
#ifndef LW_QUANTIZER_QUANTIZER_H
#define LW_QUANTIZER_QUANTIZER_H
/* Quantizes after training: turns a float network and samples into integer C, in passes over one DAG.
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
 *   refine.c      weights rounded by the error of their layer's output; always for recurrent layers
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

/* The samples of all inputs, in the model's types. Samples of .npy files stay in their files, so memory does not grow
 * with their number. Samples of archives, and of arrays in Fortran order, are in memory. */
typedef struct Samples {
    int64_t count, first;              /* the number of samples, and the number of the first one in the files */
    int input_count;
    int64_t *bytes;                    /* [input_count]: the bytes of one sample */
    const struct SampleInput *input;   /* [input_count]: the files of the samples */
} Samples;

/* Opens samples. `path` holds a .npy file per input, in the model's order, or a folder of such files. The files of a
 * folder are joined in the order of their names. Alternatively, one path is used for all inputs: an .npz file with an
 * array for each input's name, or a folder with NAME.npy or a folder NAME for each. The first axis of the arrays counts
 * samples. Float types are converted; NaN and infinity are refused. Returns false, with a diagnostic, if the files do
 * not fit the inputs. */
bool samples_read(Build *b, const char *const *path, int path_count, Samples *out);

/* Copies one sample of an input. Returns false, with a diagnostic, if the sample's file has changed. */
bool samples_copy(Ctx *cx, const Samples *s, int input, int64_t number, void *to);

/* Returns the samples in the types of other ports of the same model, converting floats by scale and zero point. */
Samples samples_for(Ctx *cx, const Samples *s, Tensor *const *port);
/* Returns the samples beginning with `first`, at most `most` of them. */
Samples samples_from(const Samples *s, int64_t first, int64_t most);
/* Returns samples that are in memory: `count` samples of each input, of bytes[i] each, stored one after another. */
Samples samples_in_memory(Ctx *cx, int64_t count, int input_count, const int64_t *bytes, const char *const *data);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* Handles the user's own annotations, which take precedence over the operators' rows: annotation.simulated_quantize of
 * the model, of a .te file or of --annotate. The passes carry each as a mark of the graph. */

enum { FLOAT_BITS = 32 };

typedef struct Request {
    const Node *annotation;
    Tensor *tensor;                    /* activation, or constant weights */
    int bits;                          /* 8, 16, or FLOAT_BITS for no grid; for weights, 2 to 8 */
    bool has_grid;                     /* true if scale and zero point are given */
    Grid grid;                         /* the grid of an activation */
    /* For weights: true if their scales minimize the squared error, so that large weights saturate. Edges.refined has
     * their values. */
    bool saturates;
    const float *scale; int64_t scale_count;       /* for weights: one scale, or one for each index of the last axis */
} Request;

/* Moves the marks to tensors of the graph; call it after the passes. Returns false, with a diagnostic, if passes folded
 * an annotated tensor away. */
bool requests_resolve(Ctx *cx, Graph *g);
/* Returns the requests of the graph, by tensor. Reports a request that no grid can satisfy. */
Map requests_of(Ctx *cx, const Graph *g);
const Request *request_of(const Map *requests, const Tensor *t);       /* returns NULL if the tensor has no request */
/* Returns the request's place for a diagnostic. */
const char *request_place(Ctx *cx, const Request *r);

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

enum { TRIAL_SAMPLES = 32 };         /* the most samples on which a choice is measured */

/* The method that selects the grid of a tensor. */
typedef enum EdgeRange {
    EDGE_CALIBRATED,                   /* from the histogram, by least squared error */
    EDGE_WHOLE,                        /* from the histogram: minimum to maximum */
    /* EDGE_WHOLE without a share of the low end, chosen by the error of the softmax that follows */
    EDGE_BY_RESULT,
    EDGE_FIXED,                        /* given by the operator: 1/256 for sigmoid and softmax; for a table with a
                                        * smaller range, the whole range from the histogram */
    EDGE_GIVEN                         /* by the user's annotation */
} EdgeRange;

/* A function of a tensor, represented by its result, and the next function of the group. */
typedef struct CurveOf { Tensor *source, *result; struct CurveOf *next; } CurveOf;

/* Tensors that share a grid: the result of a move has the grid of its operand. */
typedef struct EdgeGroup {
    const char *name;                  /* the name of the group's first tensor */
    EdgeRange range;
    /* True for 16 bits around 0, because only layers with integer weights read the tensors. */
    bool is_wide;
    /* The width in bits: 8, or 16 with the grid around 0, or 32 without a grid. Without a grid, the calls that read or
     * write the tensor compute in floats. */
    int bits;
    bool is_given;                     /* true if the user's annotation determines the width */
    /* True for an operand or the result of a sum or difference of two tensors. */
    bool is_term;
    Histogram seen;
    double low;                        /* for EDGE_BY_RESULT: the low end of the range */
    /* The only functions that read the tensors of the group; NULL if other calls also read them. */
    CurveOf *curves;
    double curve_low, curve_high;      /* the range with the smallest error of the results of `curves` */
    bool is_table;                     /* for EDGE_FIXED: true if all calls of the group are functions of one tensor */
    Grid fixed;                        /* for EDGE_FIXED: the operator's grid */
    Grid grid;
} EdgeGroup;

/* least, greatest: the extremes of only this tensor, over the samples of the calibration */
typedef struct Edge { Tensor *tensor; int group; float least, greatest; } Edge;

typedef struct Tuned Tuned;            /* see finetune.h */

/* The groups before and after a call that adds products: y = factor * a * b. b is -1 if the second factor is constant,
 * or for a mean. */
typedef struct Between { int a, b, y; double factor; } Between;

typedef struct Edges {
    int count; Edge *at;               /* in execution order */
    int group_count; EdgeGroup *group;
    Map of;                            /* maps a tensor that has a grid to its Edge */
    Map requests;                      /* the requests of the graph's marks, by tensor */
    /* maps weights to Between: the groups around the only layer that reads them; NULL if there is none */
    Map between;
    int product_count; Between *product;      /* the calls that are means, and the products of two tensors */
    /* maps weights to their elements, on the grid of the weights; NULL for the nearest values */
    const Map *refined;
    /* maps a bias to its elements in layers that compute on integers; NULL if unchanged */
    const Map *corrected;
    /* Receives the parameters of a simulation that is trained, or NULL if they are constants. */
    Tuned *tuned;
    int wider;                         /* outputs have their whole range, widened by this many 256ths */
    /* the index of the weights' scale among the scales without ties; 0 for the smallest */
    int coarser;
    bool per_tensor;                   /* true if weights have one scale, not one for each output channel */
    bool follows_rounding;             /* true if the last biases also subtract the mean error of the rounded results */
    bool ends_before_grids;            /* true if a simulation's outputs are not rounded to their own grids */
    /* True if a layer whose output has a grid computes on integers, regardless of its inputs. */
    bool is_partial;
} Edges;

typedef enum Ports { PORTS_INT8, PORTS_INT16, PORTS_FLOAT } Ports;
Edges edges_of(Ctx *cx, const Graph *g, Ports ports);
const Edge *edge_of(const Edges *e, const Tensor *t);        /* returns NULL if the tensor has no edge */
bool is_sampled(const EdgeGroup *g);                         /* returns true if samples determine the group's range */
int group_bits(const EdgeGroup *g);                          /* returns 8, 16, or FLOAT_BITS for no grid */

/* Returns the constant operand that a call multiplies by, or -1 if there is none. *axis receives its last axis if it
 * has a scale per channel, otherwise -1. */
int weights_operand(const Node *n, int *axis);
/* Returns true if the call computes in floats but multiplies its weights, inputs 1 and 2, on integers. bits[2] receives
 * the bits that the user requested for them, or 0. */
bool has_integer_weights(Ctx *cx, const Edges *e, const Node *n, int *bits);

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* A graph that runs on one sample after another, in memory allocated once. */
typedef struct Runner Runner;
Runner *runner_new(const Build *like, const Graph *g);                   /* returns NULL on error */
void runner_free(Runner *r);                                 /* frees the newest of all runners; r may be NULL */
bool runner_run(Runner *r, const Samples *s, int64_t number);
const void *runner_input(const Runner *r, int i);                            /* returns an input of the last run */
/* Returns an output, which is valid until the next run. */
const void *runner_output(const Runner *r, int i);
/* Runs the graph on the first `count` samples. Returns its float outputs, [output_count][count][elements], with NULL
 * for other outputs. Returns NULL on error. */
float **runner_outputs(const Build *b, const Graph *g, const Samples *s, int64_t count);
/* Adds the squares of an output and of its error. */
void  add_noise(const float *want, const float *got, int64_t count, double *signal, double *noise);

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* Statistics of a tensor's last axis over the samples. */
typedef struct ChannelStats { int64_t channels, count; double *sum, *greatest; } ChannelStats;

/* Runs at most `most` samples; fills histograms and, if `stats` is not NULL, stats[i] of edge i. */
bool calibrate(const Build *b, const Graph *g, const Samples *s, int64_t most, Edges *e, ChannelStats *stats);
/* Chooses the low ends of ranges over samples. If only functions read a tensor, the error of these functions
 * decides. */
bool choose_by_results(const Build *b, const Graph *g, const Samples *s, Edges *e);
/* Chooses ranges from the histograms. If only functions of one tensor read a tensor, the error of these functions
 * decides. Returns false if no group has such functions. */
bool choose_by_curves(Ctx *cx, Edges *e);
/* Gives every group its grid, with which no sum is near a tie. Calibrated groups get it by the method, which must not
 * be RANGE_BEST. */
void choose_grids(Ctx *cx, Edges *e, RangeMethod method);
/* Warns of each tensor that is constant in all samples. */
void warn_of_constants(Ctx *cx, const Edges *e);
/* Warns of each part of a concatenation or of a slice for which the shared grid has few steps. */
void warn_of_parts(Ctx *cx, const Graph *g, const Edges *e);
/* Chooses the rounding of weights by the error of the layers' outputs over the samples, and enters a float[] for the
 * weights: one function for recurrent layers, one for all other layers. */
bool refine_recurrent(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *refined);
bool refine_layers(const Build *b, const Graph *g, const Samples *s, const Edges *e, Map *refined);
/* Returns the weights that a layer on integers has: refined weights if there are any. */
Tensor *weights_on_grid(Ctx *cx, const Edges *e, Tensor *w);
/* Splits layers: parts of a result that are read separately, and whose ranges differ, get a layer each. Returns false
 * if no layer is split. */
bool cut_parts(Ctx *cx, Graph *g, const Edges *e);
/* Returns the graph with scales moved between layers. */
Graph equalize(Ctx *cx, Graph g, const Edges *e, const ChannelStats *stats);
/* Returns the elements of the biases minus the mean error of the rounded weights, from the means of the inputs; the map
 * leads from a tensor to its float[]. */
Map corrected_biases(Ctx *cx, const Graph *g, const Edges *e, const ChannelStats *stats);
/* Returns the last layers before the outputs, with their results in the float network on some samples, or NULL on
 * error. */
typedef struct LastLayers LastLayers;
LastLayers *last_layers_of(const Build *b, const Graph *g, const Samples *s, const Edges *e);
/* Subtracts from the biases of these layers the mean error of the simulated network at their outputs, over at most
 * `most` samples. Enters the biases. */
bool correct_last_biases(const LastLayers *l, const Edges *e, int64_t most, Map *corrected);

/* Returns the graph with a simulated quantization on every edge and weight. */
Graph simulate(Ctx *cx, const Graph *g, const Edges *e, Ports ports);
/* Returns the graph with the corrected biases of the layers that compute on integers. */
Graph with_corrected_biases(Ctx *cx, Graph g, const Edges *e);

/* Computes symmetric scales of weights in -127 to 127, or uses the scales of a request: one scale, or one for each
 * index of the last axis. The scales are rounded to f32, the form in which the simulated network and the exported one
 * store them. */
float *weight_scales(Ctx *cx, const Edges *e, const Tensor *w, int axis, int64_t *count);

/* Moves the steps of groups that samples determine. No mean or product of two tensors is then near a tie, and sums of
 * two tensors are exact in floats. */
void avoid_ties(Edges *e);
/* Returns the scale of weights next to `scale` that keeps the sums of their layer from ties; the largest weight is
 * `most` times `scale`. Returns `scale` itself if the grids around the layer are not known. */
float scale_without_ties(const Edges *e, const Tensor *w, float scale, float most);
/* Returns the unit of biases that prevents ties of the sums, or 0 if any bias does. */
double unit_without_ties(const Edges *e, const Tensor *w, float scale);

/* Returns the float graph with an annotation on every edge and on all quantized weights, which the quantizer reads back
 * as requests. If with_grids is true, the annotations have scales and zero points. */
Graph annotated(Ctx *cx, const Graph *g, const Edges *e, bool with_grids);

/* Removes the grids of a quantized model written in real numbers, so that values are no longer rounded. Stored
 * constants keep their grids. */
void model_without_grids(Ctx *cx, Model *m);

/* Replaces the constants in all calls that read them, and in marks; all other constants are kept. */
Graph with_constants(Ctx *cx, Graph g, const Map *replaced);

typedef struct QualityBounds QualityBounds;
typedef struct Precision Precision;

typedef struct TuneJob TuneJob;
/* The function that trains the parameters of a job (finetune.h). The function returns false on error. */
typedef struct Tuner {
    void *self;
    int seed;
    /* the class of each sample; NULL if the targets are the float network's outputs */
    const int64_t *label;
    bool (*run)(void *self, const TuneJob *job);
} Tuner;

/* The bits of weights: one number for all layers, or the largest numbers that fit the flash. */
typedef struct WeightBits {
    int bits;                          /* 2 or 4; 0 for 8 bits */
    int64_t flash;                     /* the most bytes of the emitted constants; 0 for no limit */
} WeightBits;
/* Adds requests for the bits of weights to the edges, and their rounded values to `refined` (weight_bits.c). The edges
 * have grids. Returns false on error. */
bool choose_weight_bits(const Build *b, const Graph *g, const Samples *s, Ports ports, const WeightBits *asked,
                        Edges *e, Map *refined);
/* Adds to of_bits[n] the number of integer layers whose weights have n bits, 2 to 8. */
void count_weight_bits(Ctx *cx, const Graph *g, const Edges *e, int *of_bits);

typedef struct QuantizeSettings {
    Ports ports;
    const QualityBounds *bounds;       /* precision.h; NULL if all grids have 8 bits */
    RangeMethod ranges;
    bool refines;                      /* true if weights are rounded by the error of their layer */
    bool per_tensor, no_equalization;
    WeightBits weights;
    const Tuner *tuner;                /* NULL if nothing is trained */
} QuantizeSettings;

/* Runs the whole quantization: replaces the model by its quantized form; call it after build_read. */
typedef struct Quantized {
    Edges edges;                       /* the edges of `floats`, with their grids */
    Graph floats;                      /* the graph with the biases that the simulated graph has */
    /* the graph before the passes: its calls compute in floats, its ports are the model's */
    Graph simulated;
    const Precision *precision;        /* precision.h; NULL without bounds */
} Quantized;
bool build_quantize(Build *b, const Samples *s, const QuantizeSettings *settings, Quantized *out);
/* Runs the first part: the float graph and its edges, without samples and grids. */
bool build_annotate(Build *b, Ports ports, Quantized *out);

/* A call of the integer network that computes in floats, with the reason. `after` is the number of later calls that
 * compute in floats only because of this call. */
typedef struct FloatCall { const Node *node; const char *why; int after; } FloatCall;
/* Lists these calls of the graph after the passes; returns the length of the list. */
int calls_in_floats(Ctx *cx, const Graph *realized, FloatCall **out);

/* Returns a tensor whose grid only samples can choose, or NULL if all grids are given. */
const Tensor *edges_without_grid(const Edges *e);

#endif
