/* SPDX-License-Identifier: MIT */
/* ONNX operators at the corners of their definition: a row is a model, its inputs, and the values that ONNX's operator
 * specification prescribes. The values were computed by hand and agree with ONNX Runtime, except where a row states
 * otherwise. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "context/context.h"
#include "graph/passes/passes.h"
#include "import/onnx/onnx.h"
#include "onnx_text.h"
#include "plain.h"
#include "support/text.h"

typedef struct Corner {
    const char *name;
    int opset;
    const char *model;
    const char *input[3], *output[3];    /* elements in order; NULL: there is none */
    double tolerance;                    /* absolute */
    bool on_integers;                    /* after the passes that put quantized calls on integers */
} Corner;

/* One tree, of two leaves with three weights each: 3, 7, 4 and 5, -2, 1. */
#define LEAVES(aggregate, targets, ids) \
    "x:2,1; ai.onnx.ml/TreeEnsembleRegressor x y aggregate_function=" aggregate " n_targets=" targets "! " \
    "nodes_treeids=0,0,0 nodes_nodeids=0,1,2 nodes_featureids=0,0,0 nodes_values=0,0,0| " \
    "nodes_modes=|BRANCH_LEQ|LEAF|LEAF| nodes_truenodeids=1,0,0 nodes_falsenodeids=2,0,0 " \
    "target_treeids=0,0,0,0,0,0 target_nodeids=1,2,1,2,1,2 target_ids=" ids " target_weights=3,5,7,-2,4,1|; >y"

/* A set of two categories: both conditions share the leaf 3. */
#define CATEGORIES(aggregate) \
    "x:4,1; ai.onnx.ml/TreeEnsembleRegressor x y aggregate_function=" aggregate " n_targets=1! " \
    "nodes_treeids=0,0,0,0 nodes_nodeids=0,1,2,3 nodes_featureids=0,0,0,0 nodes_values=1,2,0,0| " \
    "nodes_modes=|BRANCH_EQ|BRANCH_EQ|LEAF|LEAF| nodes_truenodeids=3,3,0,0 nodes_falsenodeids=1,2,0,0 " \
    "target_treeids=0,0 target_nodeids=2,3 target_ids=0,0 target_weights=5,7|; >y"

static const Corner corners[] = {
    /* The index of an element that equals the type's minimum is never an index of the padding. */
    { "max-pool-index-of-least-u8", 13, "x:1,2,2:2; MaxPool x y,i kernel_shape=3 pads=2,1; >y; >i", { "0,0,0,0" },
      { "0,0,0,0,0,0", "0,0,0,2,2,2" }, 0, false },
    { "max-pool-index-of-least-i8", 13, "x:1,2,2:3; MaxPool x y,i kernel_shape=3 pads=2,1; >y; >i",
      { "-128,-128,-128,5" },
      { "-128,-128,-128,-128,5,5", "0,0,0,2,3,3" }, 0, false },
    { "max-pool-index-of-minus-infinity", 13, "x:1,2,2; MaxPool x y,i kernel_shape=3 pads=2,1; >y; >i",
      { "-inf,-inf,-inf,-inf" },
      { "-inf,-inf,-inf,-inf,-inf,-inf", "0,0,0,2,2,2" }, 0, false },
    { "max-pool-index-of-least-in-rows", 13,
      "x:1,1,3,4:2; MaxPool x y,i kernel_shape=2,3 pads=1,1,1,1 strides=1,2; >y; >i", { "0,0,0,0,0,0,0,0,0,0,0,0" },
      { "0,0,0,0,0,0,0,0", "0,1,0,1,4,5,8,9" }, 0, false },
    { "max-pool-index-of-least-by-columns", 13,
      "x:1,1,2,2:2; MaxPool x y,i kernel_shape=2,2 pads=1,1,0,0 storage_order=1!; >y; >i", { "0,0,0,0" },
      { "0,0,0,0", "0,0,0,0" }, 0, false },
    { "max-pool-index-of-no-element", 13, "x:1,1,1:2; MaxPool x y,i kernel_shape=2 pads=1,1 dilations=2; >y; >i",
      { "1" }, { "0", "-1" }, 0, false },
    { "max-pool-index-with-dilation", 13, "x:1,1,3:2; MaxPool x y,i kernel_shape=2 pads=1,1 dilations=2; >y; >i",
      { "0,0,0" }, { "0,0,0", "1,0,1" }, 0, false },

    /* A nearest sample is rounded before it is mirrored: 2.5 of two pixels is 2, outside, and so the pixel 1. */
    { "grid-sample-of-the-nearest-is-mirrored", 16,
      "x:1,1,1,2; g:1,1,2,2; GridSample x,g y mode=nearest padding_mode=reflection; >y",
      { "3,5", "2,0,-2.5,0" }, { "5,5" }, 0, false },
    { "one-hot-of-nan", 13, "x:3; ai.onnx.ml/OneHotEncoder x y cats_int64s=0,1; >y", { "0.5,nan,1" },
      { "1,0,0,0,0,1" }, 0, false },

    /* A letter of size 1 is a letter like any other. */
    { "einsum-sum-of-size-one", 13, "x:1,3; y:1,2; Einsum x,y z equation=bi,bj->ij; >z", { "1,2,3", "10,100" },
      { "10,100,20,200,30,300" }, 0, false },
    { "einsum-all-of-size-one", 13, "x:1; Einsum x z equation=b->; >z", { "7" }, { "7" }, 0, false },
    { "einsum-trace-of-size-one", 13, "x:1,1; Einsum x z equation=ii; >z", { "-3" }, { "-3" }, 0, false },
    { "einsum-size-one-and-more", 13, "x:1,2; y:3,2; Einsum x,y z equation=bi,bi->i; >z", { "2,3", "1,2,3,4,5,6" },
      { "18,36" }, 0, false },

    /* Sequences and optional values whose course is known. */
    { "optional-has-no-element", 18, "Optional , o; OptionalHasElement o y; >y", { NULL }, { "0" }, 0, false },
    { "optional-of-a-tensor", 18, "x:2; Optional x o; OptionalGetElement o z; OptionalHasElement o y; >z; >y",
      { "3,-1" }, { "3,-1", "1" }, 0, false },
    { "sequence-in-identity", 18, "x:2; y:2; SequenceConstruct x,y s; Identity s t; Optional t o; "
      "OptionalGetElement o u; i#1; SequenceAt u,i z; >z", { "3,-1", "5,6" }, { "5,6" }, 0, false },
    /* A sequence as an output is an output for each element, under names of their own. */
    { "sequence-as-an-output", 18, "x:2; y:1; SequenceConstruct x,y s; Relu x r; >s; >r", { "3,-1", "5" },
      { "3,-1", "5", "3,0" }, 0, false },
    { "sequence-as-an-output-twice", 18, "x:2; SequenceConstruct x,x s; Relu x s_1; >s; >s_1", { "3,-1" },
      { "3,-1", "3,-1", "3,0" }, 0, false },

    { "unique-of-a-constant", 11, "k$7$6$2,1,1,3,4,3; Unique k y,i; >y; >i", { NULL }, { "1,2,3,4", "1,0,3,4" }, 0,
      false },

    /* Several weights of a leaf and target: ONNX Runtime's results. Of a single target, the first is the leaf's. */
    { "leaf-of-several-weights-sum-of-one", 17, LEAVES("SUM", "1", "0,0,0,0,0,0"), { "-1,1" }, { "3,5" }, 0, false },
    { "leaf-of-several-weights-average-of-one", 17, LEAVES("AVERAGE", "1", "0,0,0,0,0,0"), { "-1,1" }, { "3,5" }, 0,
      false },
    { "leaf-of-several-weights-least-of-one", 17, LEAVES("MIN", "1", "0,0,0,0,0,0"), { "-1,1" }, { "3,5" }, 0, false },
    { "leaf-of-several-weights-greatest-of-one", 17, LEAVES("MAX", "1", "0,0,0,0,0,0"), { "-1,1" }, { "3,5" }, 0,
      false },
    { "leaf-of-several-weights-sum", 17, LEAVES("SUM", "2", "0,1,0,1,1,1"), { "-1,1" }, { "10,4,0,4" }, 0, false },
    { "leaf-of-several-weights-least", 17, LEAVES("MIN", "2", "0,1,0,1,1,1"), { "-1,1" }, { "3,4,0,-2" }, 0, false },
    { "leaf-of-several-weights-greatest", 17, LEAVES("MAX", "2", "0,1,0,1,1,1"), { "-1,1" }, { "7,4,0,5" }, 0, false },

    /* Zero points between the numbers of the grid; ONNX Runtime's results. */
    { "zero-points-are-real-of-4-bits", 17,
      "x:1,20; w$2$1,2,8$7,22,37,52,67,82,97,112,127,142,157,172,187,202,217,232; s$1$1,2$0.5,0.25; z$1$2$7.25,3.5; "
      "com.microsoft/MatMulNBits x,w,s,z y N=1! K=20! bits=4! block_size=16!; >y",
      { "1,-1,2,0.5,1,-1,2,0.5,1,-1,2,0.5,1,-1,2,0.5,1,-1,2,0.5" }, { "-10.4375" }, 1e-5, false },
    { "zero-points-are-real-of-2-bits", 17,
      "x:1,20; w$2$1,2,4$7,22,37,52,67,82,97,112; s$1$1,2$0.5,0.25; z$1$1,2$1.25,2.5; "
      "com.microsoft/MatMulNBits x,w,s,z y N=1! K=20! bits=2! block_size=16!; >y",
      { "1,-1,2,0.5,1,-1,2,0.5,1,-1,2,0.5,1,-1,2,0.5,1,-1,2,0.5" }, { "0.0625" }, 1e-5, false },

    /* A stream that is constant: P6, 1 by 1; in BGR and, of a P5, in gray. */
    { "image-of-a-constant-pnm", 20,
      "k$2$14$80,54,10,49,32,49,10,50,53,53,10,1,2,3; ImageDecoder k y pixel_format=BGR; >y", { NULL }, { "3,2,1" }, 0,
      false },
    { "image-of-a-constant-gray", 20,
      "k$2$13$80,53,10,50,32,49,32,50,53,53,10,7,9; ImageDecoder k y pixel_format=Grayscale; >y", { NULL }, { "7,9" },
      0, false },

    { "is-inf-of-neither-sign", 10, "x:3; IsInf x y detect_negative=0! detect_positive=0!; >y", { "-inf,1,inf" },
      { "0,0,0" }, 0, false },

    /* A number of samples that depends on the cell; ONNX Runtime's results. */
    { "roi-align-adaptive-mean", 16,
      "x:1,1,3,4; r:2,4; b$7$2$0,0; RoiAlign x,r,b y output_height=1! output_width=2!; >y",
      { "1,-2,3,4,5,6,-7,8,9,10,11,-12", "0,0,4,2.5,1,-3,9,2" }, { "3.77777767,1.5555557,1.64999998,0" }, 1e-6, false },
    { "roi-align-adaptive-maximum", 16,
      "x:1,1,3,4; r:2,4; b$7$2$0,0; RoiAlign x,r,b y output_height=1! output_width=2! mode=max; >y",
      { "1,-2,3,4,5,6,-7,8,9,10,11,-12", "0,0,4,2.5,1,-3,9,2" }, { "5.83333254,6.41666603,8,0" }, 1e-6, false },

    /* Sums near a tie: the product of the stored scales is a little less than the f32 quotient, 60 * 0.05f * 0.05f /
     * 0.3f < 0.5.
     * Where 3 / 6 is a tie the even neighbour is taken. */
    { "qlinear-conv-below-a-tie", 15,
      "x:1,1,1,3:3; a$1$$0.05; z$3$$0; w$3$1,1,1,1$1; b$1$$0.05; c$1$$0.3; d$3$$5; QLinearConv x,a,z,w,b,z,c,d y; >y",
      { "60,61,-60" }, { "5,6,5" }, 0, true },
    { "qlinear-conv-at-a-tie", 15,
      "x:1,1,1,4:3; a$1$$1; z$3$$0; w$3$1,1,1,1$1; b$1$$1; c$1$$6; QLinearConv x,a,z,w,b,z,c,z y; >y",
      { "3,9,15,-9" }, { "0,2,2,-2" }, 0, true },
    { "qlinear-conv-by-channels", 15,
      "x:1,1,1,1:3; a$1$$0.05; z$3$$0; w$3$2,1,1,1$1,1; b$1$2$0.05,0.1; v$3$2$0,0; c$1$$0.3; QLinearConv "
      "x,a,z,w,b,v,c,z y; >y",
      { "60" }, { "0,1" }, 0, true },
    { "qlinear-matmul-below-a-tie", 15,
      "x:1,1:3; a$1$$0.05; z$3$$0; w$3$1,1$1; b$1$$0.05; c$1$$0.3; QLinearMatMul x,a,z,w,b,z,c,z y; >y", { "60" },
          { "0" }, 0, true },

    /* 5 * 2.8f is a little less than 14, which f32 reaches: 13 as ONNX infers shapes, 14 if the file declares it. */
    { "resize-to-the-declared-size", 13,
      "x:1,1,5; s$1$3$1,1,2.8; Resize x,,s y mode=nearest nearest_mode=floor "
      "coordinate_transformation_mode=asymmetric; >y:1,1,14",
      { "0,1,2,3,4" }, { "0,0,0,1,1,1,2,2,2,3,3,3,4,4" }, 0, false },
    { "resize-to-the-inferred-size", 13,
      "x:1,1,5; s$1$3$1,1,2.8; Resize x,,s y mode=nearest nearest_mode=floor "
      "coordinate_transformation_mode=asymmetric; >y",
      { "0,1,2,3,4" }, { "0,0,0,1,1,1,2,2,2,3,3,3,4" }, 0, false },

    /* Integers: exact sums, then the real result without its fraction. */
    { "reduce-mean-of-i32", 13, "x:3,4:6; ReduceMean x y axes=1 keepdims=0!; >y", { "-3,-2,-1,-1, 5,6,7,3, -3,1,1,0" },
      { "-1,5,0" }, 0, false },
    { "reduce-mean-of-i64", 13, "x:2,2:7; ReduceMean x y axes=0; >y", { "9007199254740993,-5,9007199254740993,-4" },
      { "9007199254740993,-4" }, 0, false },
    { "reduce-l2-of-i32", 13, "x:2,2:6; ReduceL2 x y axes=1 keepdims=0!; >y", { "30000,30000, 100,99" },
      { "42426,140" }, 0, false },
    { "reduce-l2-of-i64", 13, "x:4:7; ReduceL2 x y keepdims=0!; >y", { "60000,60000,3,3" }, { "84852" }, 0, false },
    { "reduce-log-sum-of-i32", 13, "x:2,4:6; ReduceLogSum x y axes=1 keepdims=0!; >y", { "2,2,1,1, 60000,60000,3,3" },
      { "1,11" }, 0, false },
    { "reduce-log-sum-of-zero-i32", 13, "x:2:6; ReduceLogSum x y keepdims=0!; >y", { "0,0" }, { "-2147483648" }, 0,
      false },
    { "reduce-log-sum-exp-of-i64", 13, "x:3,4:7; ReduceLogSumExp x y axes=1 keepdims=0!; >y",
      { "-3,1,1,1, 60000,60000,3,3, 100,99,98,97" }, { "2,60000,100" }, 0, false },
    /* ONNX Runtime drops the fraction of each exponential and finds 2; ONNX's function computes it in double. */
    { "reduce-log-sum-exp-of-i32-in-double", 13, "x:4:6; ReduceLogSumExp x y keepdims=0!; >y", { "2,2,1,1" }, { "3" },
      0, false },
    { "reduce-log-sum-of-a-scalar-i32", 18, "x::6; ReduceLogSum x y; >y", { "100" }, { "4" }, 0, false },
    /* NaN is the greatest value, as in numpy; an index is inside its row. */
    { "argmax-of-nan", 13, "x:4,3; ArgMax x y axis=1! keepdims=0!; >y",
      { "nan,nan,nan, 1,nan,inf, -inf,-inf,-inf, 5,7,7" }, { "0,1,0,1" }, 0, false },
    { "argmax-of-nan-last", 13, "x:3,3; ArgMax x y axis=1! keepdims=0! select_last_index=1!; >y",
      { "nan,nan,nan, nan,nan,inf, 1,nan,2" }, { "2,1,1" }, 0, false },
    { "argmin-of-nan", 13, "x:3,3; ArgMin x y axis=1! keepdims=0!; >y", { "nan,nan,nan, -inf,2,nan, inf,inf,inf" },
      { "0,2,0" }, 0, false },
    { "hardmax-of-nan", 13, "x:2,3; Hardmax x y; >y", { "nan,nan,nan, 1,nan,2" }, { "1,0,0,0,1,0" }, 0, false },
    { "max-pool-index-of-nan", 13, "x:1,1,3; MaxPool x y,i kernel_shape=2; >y; >i", { "nan,nan,1" },
      { "nan,nan", "0,1" }, 0, false },
    { "topk-of-nan", 13, "x:2,4; k#3; TopK x,k y,i; >y; >i", { "1,nan,inf,nan, nan,nan,nan,nan" },
      { "nan,nan,inf,nan,nan,nan", "1,3,2,0,1,2" }, 0, false },
    { "topk-of-nan-least", 13, "x:1,4; k#4; TopK x,k y,i largest=0!; >y; >i", { "1,nan,-inf,nan" },
      { "-inf,1,nan,nan", "2,0,1,3" }, 0, false },

    { "log-sum-exp-of-infinities", 18, "x:4,2; a#1; ReduceLogSumExp x,a y keepdims=0!; >y",
      { "-inf,-inf, inf,1, inf,-inf, 0,-inf" }, { "-inf,inf,inf,0" }, 1e-6, false },
    { "norm-of-zeros", 11, "x:3,2; LpNormalization x y; >y", { "0,0, 3,-4, nan,0" }, { "0,0,0.6,-0.8,nan,nan" }, 1e-6,
      false },
    { "norm-of-zeros-by-sums", 22, "x:2,2; LpNormalization x y p=1!; >y", { "0,0, 3,-1" }, { "0,0,0.75,-0.25" }, 1e-6,
      false },

    { "sign-of-u8", 13, "x:3:2; Sign x y; >y", { "0,1,255" }, { "0,1,1" }, 0, false },
    { "scatter-of-bools", 18, "x:4:9; i:3:7; u:3:9; ScatterElements x,i,u y; >y", { "1,1,0,0", "0,2,0", "1,1,0" },
      { "0,1,1,0" }, 0, false },
    { "scatter-of-bools-added", 18, "x:4:9; i:3:7; u:3:9; ScatterElements x,i,u y reduction=add; >y",
      { "0,1,0,0", "0,1,3", "1,0,0" }, { "1,1,0,0" }, 0, false },
    { "scatter-of-bools-least", 18, "x:2:9; i:2,1:7; u:2:9; ScatterND x,i,u y reduction=min; >y",
      { "1,1", "1,1", "1,0" }, { "1,0" }, 0, false },

    /* The power of an integer by a real number is real; ONNX Runtime's results. */
    { "power-of-i32-by-f32", 13, "x:4:6; e:4; Pow x,e y; >y", { "1,3,5,2", "0.5,2,1.5,-1" }, { "1,9,11,0" }, 0,
      false },
    { "power-of-i64-by-a-constant", 13, "x:2:7; e$1$$0.5; Pow x,e y; >y", { "16,20" }, { "4,4" }, 0, false },
    { "power-of-i32-by-i64", 13, "x:2:6; e:2:7; Pow x,e y; >y", { "2,7", "4294967297,1" }, { "2147483647,7" }, 0,
      false },
    { "power-of-f32-by-i64", 13, "x:2; e:2:7; Pow x,e y; >y", { "1.5,-2", "2,3" }, { "2.25,-8" }, 1e-5, false },

    /* Five outputs were training mode before there was the attribute. */
    { "batch-norm-of-set-9-trains", 9,
      "x:2,1,3; s$1$1$1; z$1$1$0; m$1$1$0; v$1$1$1; "
      "BatchNormalization x,s,z,m,v y,rm,rv,sm,sv epsilon=0~; >y; >rm; >rv",
      { "0,1,2,3,4,5" }, { "-1.46385,-0.87831,-0.29277,0.29277,0.87831,1.46385", "0.25", "1.19166667" }, 1e-5,
      false },
    { "batch-norm-of-set-9-infers", 9,
      "x:2,1,1; s$1$1$2; z$1$1$1; m$1$1$3; v$1$1$4; BatchNormalization x,s,z,m,v y,,,, epsilon=0~; >y", { "3,5" },
      { "1,3" }, 1e-6, false },

    { "cumsum-along-an-axis-of-the-run", 14, "x:2,3; a::7; CumSum x,a y; >y", { "1,2,3,4,5,6", "0" },
      { "1,2,3,5,7,9" }, 0, false },
    { "cumsum-along-an-axis-from-the-end", 14, "x:2,3; a:1:6; CumSum x,a y reverse=1! exclusive=1!; >y",
      { "1,2,3,4,5,6", "-1" }, { "5,3,0,11,6,0" }, 0, false },

    /* Integers are rounded to even, as in ONNX's reference. */
    { "resize-of-u8-is-rounded", 18, "x:1,1,4,4:2; s$7$4$1,1,2,3; Resize x,,,s y mode=linear antialias=1!; >y",
      { "0,13,26,39,52,65,78,91,104,117,130,143,156,169,182,195" }, { "36,52,68,127,143,159" }, 0, false },
    { "resize-of-i8-is-rounded", 18, "x:1,1,5:3; s$1$3$1,1,0.5; Resize x,,s y mode=cubic antialias=1!; >y",
      { "-100,7,50,-3,90" }, { "-42,34" }, 0, false },
    { "resize-of-i8-without-antialias", 18, "x:1,1,5:3; s$1$3$1,1,2; Resize x,,s y mode=linear; >y",
      { "-100,7,50,-3,90" }, { "-100,-73,-20,18,39,37,10,20,67,90" }, 0, false },
    /* Below operator set 11, a smaller axis takes the next element; ONNX Runtime's results. */
    { "resize-10-nearest", 10, "x:1,1,1,4; s$1$4$1,1,2,0.6; Resize x,s y mode=nearest; >y", { "1,2,3,4" },
      { "1,3,1,3" }, 0, false },
    /* 6 * 10 / 24 is 2.5, although 25 / 11 * 11 is not 25. */
    { "resize-to-corners-at-ties", 13,
      "x:1,1,11; s$7$3$1,1,25; Resize x,,,s y mode=nearest nearest_mode=round_prefer_ceil "
      "coordinate_transformation_mode=align_corners; >y",
      { "0,1,2,3,4,5,6,7,8,9,10" }, { "0,0,1,1,2,2,3,3,3,4,4,5,5,5,6,6,7,7,8,8,8,9,9,10,10" }, 0, false },
    /* 4.5 * 7 / 9 is 3.5, although 4.5 / (9.0 / 7) is less. */
    { "resize-at-whole-coordinates", 13,
      "x:1,1,7; s$7$3$1,1,9; Resize x,,,s y mode=nearest nearest_mode=floor; >y",
      { "0,1,2,3,4,5,6" }, { "0,0,1,2,3,3,4,5,6" }, 0, false },
    /* 1.2f - 0.2f is 1: the last position inside is the last element. */
    { "resize-of-a-region-ends-inside", 13,
      "x:1,1,6; r$1$6$0,0,0.2,1,1,1.2; s$7$3$1,1,11; Resize x,r,,s y mode=nearest nearest_mode=floor "
      "coordinate_transformation_mode=tf_crop_and_resize; >y",
      { "80,102,-27,95,-2,123" }, { "102,102,-27,-27,95,95,-2,-2,123,0,0" }, 0, false },

    { "diagonal-of-the-run", 14, "x:2,3; k::7; Trilu x,k y; Trilu x,k z upper=0!; >y; >z", { "1,2,3,4,5,6", "1" },
      { "0,2,3,0,0,6", "1,2,0,4,5,6" }, 0, false },
    { "wrap-after-a-crop", 19, "x:4; p#-1,2; Pad x,p y mode=wrap; >y", { "1,2,3,4" }, { "2,3,4,2,3" }, 0, false },
    { "gemm-of-i32-by-a-real-factor", 13,
      "x:2,2:6; w$6$2,2$2,0,1,5; c$6$1,2$3,1; Gemm x,w,c y alpha=1.5~ beta=2.5~; >y", { "1,2,3,4" },
      { "13,17,22,32" }, 0, false },
    { "shrink-of-i32", 13, "x:4:6; Shrink x y lambd=1.5~ bias=0.7~; >y", { "-5,-1,1,5" }, { "-4,0,0,4" }, 0, false },
    { "grid-sample-of-f64-by-f32", 20, "x:1,1,2,2:11; g:1,1,1,2; GridSample x,g y mode=linear align_corners=1!; >y",
      { "1,2,3,4", "0,0" }, { "2.5" }, 1e-9, false },

    /* A size with one possible value, whatever the data are. */
    { "size-that-ranges-prove", 18,
      "x:3:7; z:1:7; c$7$$6; a#0; ReduceMax x m keepdims=0!; Max m,c l; Min l,c b; Unsqueeze b,a u; "
      "ConstantOfShape u k; Cast z f to=1!; Add k,f y; >y", { "5,-3,9", "7" }, { "7,7,7,7,7,7" }, 0, false },
    { "size-that-a-clip-proves", 18,
      "x:1:7; l$7$$2; h$7$$2; y:1,3; Clip x,l,h n; c#3; Concat n,c s axis=0!; Expand y,s z; >z", { "9", "1,2,3" },
      { "1,2,3,1,2,3" }, 0, false },

    /* Values of qonnx 1.0. */
    { "qonnx-quant-narrow", 13,
      "x:6; s$1$$0.5; z$1$$0; b$1$$4; qonnx.custom_op.general/Quant x,s,z,b y signed=1! narrow=1! rounding_mode=ROUND; "
      ">y", { "-9,-0.25,0.25,0.75,1.3,9" }, { "-3.5,0,0,1,1.5,3.5" }, 0, false },
    { "qonnx-quant-with-a-zero", 13,
      "x:5; s$1$$0.5; z$1$$1; b$1$$2; onnx.brevitas/Quant x,s,z,b y signed=0! narrow=0! rounding_mode=HALF_UP; >y",
      { "-2,-0.25,0.25,0.75,9" }, { "-0.5,0,0.5,1,1" }, 0, false },
    { "qonnx-quant-of-a-bit", 13,
      "x:3; s$1$$0.5; z$1$$0; b$1$$1; qonnx.custom_op.general/IntQuant x,s,z,b y signed=1! narrow=0!; >y", { "-2,0,3" },
      { "-0.5,0.5,0.5" }, 0, false },
    { "qonnx-bipolar-quant", 13, "x:3; s$1$$0.25; qonnx.custom_op.general/BipolarQuant x,s y; >y", { "-2,0,3" },
      { "-0.25,0.25,0.25" }, 0, false },

    { "attention-mask-of-i32-is-added", 23,
      "q:1,1,1,1; k$1$1,1,2,1$0,0; v$1$1,1,2,1$1,5; m:1,2:6; Attention q,k,v,m y; >y", { "3", "0,100" }, { "5" }, 1e-6,
      false },
    /* softmax(0) beside a key of score 0, or of log 3, which has no value. */
    { "attention-with-a-smooth-softmax", 17,
      "x:1,1,3; l$6$1$0; t$6$$1; com.microsoft/GroupQueryAttention x,,,,,l,t y num_heads=1! kv_num_heads=1! "
      "smooth_softmax=1!; >y", { "1,0,8" }, { "4" }, 1e-6, false },
    { "attention-with-a-sink", 17,
      "x:1,1,3; l$6$1$0; t$6$$1; s$1$1$1.0986123; com.microsoft/GroupQueryAttention x,,,,,l,t,,,,,s y num_heads=1! "
      "kv_num_heads=1!; >y", { "1,0,8" }, { "2" }, 1e-5, false },

    /* Results without elements. */
    { "slice-of-nothing-by-steps", 13, "x:3,5; b#3; e#1; a#1; s#2; Slice x,b,e,a,s y; Shape y z; >z", { "0" },
      { "3,0" }, 0, false },
    { "slice-of-nothing-backwards", 13, "x:3,5; b#1; e#3; a#1; s#-1; Slice x,b,e,a,s y; Shape y z; >z", { "0" },
      { "3,0" }, 0, false },
    { "conv-of-nothing", 13, "x:1,1,2; w$1$2,1,2$1,2,3,4; b#0; e#0; a#0; Slice x,b,e,a s; Conv s,w y; Shape y z; >z",
      { "0,0" }, { "0,2,1" }, 0, false },
    { "flatten-of-nothing", 13, "x:2,3; b#1; e#1; a#1; Slice x,b,e,a s; Flatten s y axis=0!; Shape y z; >z",
      { "1,2,3,4,5,6" }, { "1,0" }, 0, false },
    { "dropout-of-nothing", 13, "x:2,3; b#1; e#1; a#1; Slice x,b,e,a s; Dropout s y,m; Shape m z; >z",
      { "1,2,3,4,5,6" }, { "2,0" }, 0, false },
    { "eye-like-nothing", 13, "x:2,2; b#0,1; e#0,2; a#0,1; Slice x,b,e,a s; EyeLike s y; Shape y z; >z", { "1,2,3,4" },
      { "0,1" }, 0, false },
    { "slice-backwards-from-before-the-first", 13, "x:3; b#-5; e#-9; a#0; s#-1; Slice x,b,e,a,s y; >y",
      { "1,2,3" }, { "1" }, 0, false },
    { "slice-of-nothing-along-two-axes", 13, "x:3,5; b#1,3; e#1,1; a#0,1; s#1,2; Slice x,b,e,a,s y; Shape y z; >z",
      { "0" }, { "0,0" }, 0, false },
    { "slice-of-nothing-beside-a-slice", 13, "x:3,5; b#1,4; e#1,-9; a#0,1; s#1,-2; Slice x,b,e,a,s y; Shape y z; >z",
      { "0" }, { "0,3" }, 0, false },
    { "views-of-nothing", 13,
      "x:1,3; b#1; Slice x,b,b y; a#2; Unsqueeze y,a u; Flatten u f axis=2!; Squeeze u,a q; Shape u c; Shape f d; "
      "Shape q e; >c; >d; >e",
      { "1,2,3" }, { "0,3,1", "0,1", "0,3" }, 0, false },
    { "nothing-beside-nothing", 13, "x:1,3; b#1; Slice x,b,b y; Concat y,y z axis=1!; Shape z c; >c; Expand y,s w; "
      "s#2,1,1; Shape w d; >d; t#2,0; Tile x,t v; Shape v e; >e", { "1,2,3" }, { "0,6", "2,0,3", "2,0" }, 0, false },
    { "sums-of-nothing", 13, "x:2,3; b#1; Slice x,b,b y; a#0; ReduceSum y,a s keepdims=0!; Add x,s z; >z; "
      "ReduceMax y m axes=0; >m", { "1,2,3,4,5,6" }, { "1,2,3,4,5,6", "-inf,-inf,-inf" }, 0, false },
    { "scatter-of-nothing", 18, "x:3; u:1; b#1; i$7$0,1$; Slice u,b,b n; ScatterND x,i,n y; >y", { "1,2,3", "9" },
      { "1,2,3" }, 0, false },
    { "no-greatest-element", 13, "x:2,3; k#0; TopK x,k y,i; Shape i z; >z", { "0" }, { "2,0" }, 0, false },
    { "compress-to-nothing", 13, "x:2,3; c$9$2$0,0; Compress x,c y axis=0!; Shape y z; >z", { "0" }, { "0,3" }, 0,
      false },

    { "branches-share-a-leaf", 13, CATEGORIES("SUM"), { "1,2,3,nan" }, { "7,7,5,5" }, 0, false },
    { "branches-share-a-leaf-greatest", 13, CATEGORIES("MAX"), { "1,2,3,nan" }, { "7,7,5,5" }, 0, false },

    { "sparse-initializer", 13, "x:1,3; w%3,2%1,4%1.5,-2; MatMul x,w y; >y", { "1,10,100" }, { "-200,1.5" }, 0, false },
    { "sparse-initializer-by-coordinates", 13, "x:1,3; w%3,2%0,1,2,0%1.5,-2; MatMul x,w y; >y", { "1,10,100" },
      { "-200,1.5" }, 0, false },
    { "sparse-initializer-of-zeros", 13, "x:1,3; w%3,2%%; MatMul x,w y; >y", { "1,10,100" }, { "0,0" }, 0, false },

    { "reduce-mean-over-no-axes-i32", 18, "x:2:6; ReduceMean x y noop_with_empty_axes=1!; >y", { "-7,9" }, { "-7,9" },
      0, false },
};

static void read_elements(const char *s, DType type, void *out)
{
    for (int64_t i = 0; *s; i++, s += *s == ',') {
        char *end;
        Scalar v = { 0 };
        if (dtype_is_float(type)) v.f = strtod(s, &end);
        else v.i = strtoll(s, &end, 10);
        dtype_store(type, out, i, v);
        s = end;
    }
}

/* NULL, or the first element that differs. */
static const char *differs(Ctx *cx, const Corner *c, const Tensor *t, const void *found, const char *expected)
{
    const int64_t count = tensor_elems(t);
    void *wanted = NEW_ARRAY(cx->arena, int64_t, count + 1);
    int64_t listed = *expected != 0;
    for (const char *s = expected; *s; s++) listed += *s == ',';
    if (listed != count)
        return text_format(cx, "%s has %lld elements, %lld are expected", t->name, (long long)count, (long long)listed);
    read_elements(expected, t->type, wanted);
    for (int64_t i = 0; i < count; i++) {
        const Scalar a = dtype_load(t->type, found, i), b = dtype_load(t->type, wanted, i);
        if (!dtype_is_float(t->type) && a.i != b.i)
            return text_format(cx, "%s[%lld] is %lld, not %lld", t->name, (long long)i, (long long)a.i, (long long)b.i);
        if (dtype_is_float(t->type) && a.f != b.f && !(fabs(a.f - b.f) <= c->tolerance) && !(isnan(a.f) && isnan(b.f)))
            return text_format(cx, "%s[%lld] is %.9g, not %.9g", t->name, (long long)i, a.f, b.f);
    }
    return NULL;
}

/* The text as a file, read. */
static bool reads_file(Ctx *cx, const char *name, Text file, Model *m)
{
    return onnx_read(cx, name, (Bytes){ (const uint8_t *)file.at, file.length }, NULL, m);
}
static bool reads(Ctx *cx, const char *name, const char *text, Model *m)
{
    return reads_file(cx, name, onnx_text(cx, text), m);
}

/* The first diagnostic; none: "" */
static const char *said_first(Ctx *cx) { return cx->diags ? diag_text(cx, cx->diags) : ""; }

static const char *run_corner(Ctx *cx, const Corner *c)
{
    Model m;
    if (!reads_file(cx, "corner.onnx", onnx_text_of(cx, c->opset, c->model), &m))
        return diag_text(cx, cx->diags);
    Env *env = env_new(cx);
    for (int i = 0; i < m.input_count; i++) {
        void *input = NEW_ARRAY(cx->arena, int64_t, tensor_elems(m.input[i]) + 1);
        read_elements(c->input[i], m.input[i]->type, input);
        env_set(env, m.input[i], input);
    }
    if (c->on_integers) {
        Graph g = { .input_count = m.input_count, .input = m.input, .output_count = m.output_count, .output =
                    m.output };
        g = graph_realize(cx, graph_simplify(cx, g));
        m.output = g.output;
        if (ctx_failed(cx)) return diag_text(cx, cx->diags);
    }
    const char *fault = NULL;
    for (int i = 0; !fault && i < m.output_count; i++) {
        const void *output = plain_value(cx, m.output[i], env);
        fault = output ? differs(cx, c, m.output[i], output, c->output[i]) : diag_text(cx, cx->diags);
    }
    return fault;
}

/* The bound of 20,000 concerns nodes that functions and bodies add. */
static void check_many_nodes(void)
{
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    const bool is_read = reads(cx, "many.onnx", "t0:4; *30000 Relu t^ t@; >t30000", &m);
    check_that(is_read, "a-model-of-30000-nodes-is-read", "%s", said_first(cx));
    ctx_free(cx);
}

/* A declared shape that differs from the operator's is overridden with a warning that shows both. */
static void check_declared(void)
{
    static const struct { const char *name, *model, *warning; } rows[] = {
        { "declared-size-differs", "x:1,1,5; s$1$3$1,1,2; Resize x,,s y mode=nearest; >y:1,1,11",
          "node \"y\" (Resize): warning: its output \"y\" is [1][1][10] by the operator's definition, but the file "
          "declares [1][1][11]" },
        { "declared-rank-differs", "x:2,3; Relu x y; >y:6",
          "node \"y\" (Relu): warning: its output \"y\" is [2][3] by the operator's definition, but the file declares "
          "[6]" },
        { "declared-shape-agrees", "x:2,3; Relu x y; >y:2,3", NULL },
        { "fraction-of-align-corners",
          "x:1,1,6; s$1$3$1,1,0.8; Resize x,,s y mode=linear coordinate_transformation_mode=align_corners; >y",
          "node \"y\" (Resize): note: positions along axis 2 follow from 6 * 0.8 = 4.8 elements, as in ONNX's "
          "reference; ONNX Runtime and PyTorch take 4 (docs/why-my-number-differs.md)" },
        { "align-corners-without-a-fraction",
          "x:1,1,6; s$1$3$1,1,0.5; Resize x,,s y mode=linear coordinate_transformation_mode=align_corners; >y", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        const bool is_read = reads(cx, "declared.onnx", rows[i].model, &m);
        const char *said = cx->diags ? diag_text(cx, cx->diags) : NULL;
        const bool is_said = rows[i].warning ? said && strstr(said, rows[i].warning) : !said;
        check_that(is_read && is_said, check_label(rows[i].name, "is-noted"), "%s", said ? said : "no warning");
        ctx_free(cx);
    }
}

/* Strings are moved, compared and encoded; operators over numbers refuse them. */
static void check_strings(void)
{
    static const struct { const char *name, *model, *refusal; } rows[] = {
        { "strings-are-moved", "x:2:8; Concat x,x y axis=0!; Reshape y,s z; s#2,2; >z", NULL },
        { "strings-are-compared", "x:2:8; y:2:8; Equal x,y z; >z", NULL },
        { "strings-are-added", "x:2:8; y:2:8; Add x,y z; >z",
          "node \"z\" (Add): unsupported: its input \"x\" holds strings; use numbers" },
        { "moved-strings-are-added", "x:2:8; Identity x t; Transpose t u; Relu u y; >y",
          "node \"y\" (Relu): unsupported: its input \"u\" holds strings; use numbers" },
        { "string-as-a-number", "x:2:8; Cast x y to=1!; >y",
          "node \"y\" (Cast): unsupported: a string is used as a number; use a LabelEncoder with the number of each "
          "string" },
        { "number-as-a-string", "x:2; Cast x y to=8!; >y", "node \"y\" (Cast): unsupported: element type string" },
        { "numbers-for-strings", "x:2; ai.onnx.ml/OneHotEncoder x y cats_strings=a; >y",
          "the categories do not suit the input" },
        { "no-keys", "x:1,2; ai.onnx.ml/DictVectorizer x y; >y", "its list of keys is empty" },
        { "another-number-of-keys", "x:1,2; ai.onnx.ml/CastMap x y map_form=SPARSE max_map=3!; >y",
          "a map of 3 keys is read from [1][2]" },
        { "map-without-a-width", "x:1,2; ai.onnx.ml/CastMap x y; >y", "'map_form' is \"DENSE\"; use SPARSE" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        const bool is_read = reads(cx, "strings.onnx", rows[i].model, &m);
        const char *said = said_first(cx);
        check_that(rows[i].refusal ? !is_read && strstr(said, rows[i].refusal) : is_read, rows[i].name, "%s", said);
        ctx_free(cx);
    }
}

/* The elements of a sequence have names that no other input or output has. */
static void check_element_names(void)
{
    static const char *const names[] = { "s_0_2", "s_1_3", "s_1", "s.0" };
    Ctx *cx = context_new(NULL, NULL);
    Model m;
    const bool is_read = reads(cx, "names.onnx",
                               "x:2; SequenceConstruct x,x s; Relu x s_1; Relu x s.0; >s; >s_1; >s.0", &m);
    check_that(is_read && m.output_count == 4, "elements-are-outputs", "%s", said_first(cx));
    for (int i = 0; is_read && i < m.output_count && i < 4; i++)
        check_that(text_equal(m.output[i]->name, names[i]), check_label(names[i], "names-an-element"), "%s",
                   m.output[i]->name);
    ctx_free(cx);
}

/* A refusal is the whole report. */
static void check_refusals(void)
{
    static const struct { const char *name, *model, *refusal; } rows[] = {
        { "saved-in-the-layout-of-a-machine", "x:1,8,4,4; com.microsoft.nchwc/ReorderInput x a channels_last=0!; "
          "com.microsoft.nchwc/Conv a,w b; w=8,8,1,1; com.microsoft.nchwc/ReorderOutput b y channels=8!; >y",
          "refused.onnx: unsupported: the file was saved by ONNX Runtime in the memory layout of the machine that "
          "saved it (operators of the domain \"com.microsoft.nchwc\"); use a file saved with "
          "`graph_optimization_level = ORT_ENABLE_EXTENDED`, or the file before optimization" },
        { "empty-sequence-as-an-output", "x:2; SequenceEmpty , s; Relu x y; >y; >s",
          "refused.onnx: output \"s\": unsupported: the sequence is empty; use a sequence with elements" },
        { "absent-value-as-an-output", "x:2; Optional , s; Relu x y; >y; >s",
          "refused.onnx: output \"s\": unsupported: the optional value has no element; use an optional value with an "
          "element" },
        { "sequences-of-many-elements-as-outputs", "x:600; SplitToSequence x s; >s; Identity s t; >t",
          "refused.onnx: output \"t\": unsupported: outputs are sequences of more than 1000 elements in total; use "
          "at most 1000 elements" },
        { "norm-of-integers", "x:2:6; LpNormalization x y; >y",
          "refused.onnx: node \"y\" (LpNormalization): error: the input is i32; use floats" },
        { "tree-with-two-roots", "x:1,1; ai.onnx.ml/TreeEnsembleRegressor x y n_targets=1! nodes_treeids=0,0 "
          "nodes_nodeids=0,1 nodes_featureids=0,0 nodes_values=1,2| nodes_modes=|LEAF|LEAF| nodes_truenodeids=0,0 "
          "nodes_falsenodeids=0,0 target_treeids=0,0 target_nodeids=0,1 target_ids=0,0 target_weights=5,7|; >y",
          "refused.onnx: node \"y\" (TreeEnsembleRegressor): error: tree 0 has two nodes without a parent; "
          "use one root per tree" },
        { "sparse-index-outside", "x:1,3; w%3,2%1,6%1.5,-2; MatMul x,w y; >y",
          "refused.onnx: tensor \"w\": error: the index of value 1 is outside [3][2]" },
        { "sparse-without-bound", "x:1,3; w%3,1000000000%1,6%1.5,-2; MatMul x,w y; >y",
          "refused.onnx: tensor \"w\": unsupported: the sparse tensor is [3][1000000000]; use at most 67108864 "
          "elements" },
        { "sparse-of-too-few-indices", "x:1,3; w%3,2%1%1.5,-2; MatMul x,w y; >y",
          "refused.onnx: tensor \"w\": error: its shape has 2 elements of 8 bytes, but 8 bytes of data are given" },
        { "real-zero-points-too-few", "x:1,16; w$2$1,1,8$1,2,3,4,5,6,7,8; s$1$1$0.5; z$1$2$7.25,3.5; "
          "com.microsoft/MatMulNBits x,w,s,z y N=1! K=16! bits=4! block_size=16!; >y",
          "refused.onnx: node \"y\" (MatMulNBits): unsupported: the zero points are [2] of f32; use constant zero "
          "points [1][1] of f32, the type of the scale" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        Model m;
        const bool is_read = reads(cx, "refused.onnx", rows[i].model, &m);
        const char *said = said_first(cx);
        check_that(!is_read && cx->diags && !cx->diags->next && text_equal(said, rows[i].refusal), rows[i].name, "%s",
                   said);
        ctx_free(cx);
    }
}

int main(void)
{
    CHECK_RUN(check_many_nodes, check_declared, check_strings, check_element_names, check_refusals);
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++) {
        Ctx *cx = context_new(NULL, NULL);
        const char *fault = run_corner(cx, &corners[i]);
        check_that(!fault, check_label(corners[i].name, "as-specified"), "%s", fault);
        ctx_free(cx);
    }
    return check_done();
}
