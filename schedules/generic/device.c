/* SPDX-License-Identifier: MIT */
/* Declares devices for annotation.on_device. Users register rows for real devices (lw_register_device); these two rows
 * describe typical processors. */
#include "graph/dag/target.h"

const Device devices_generic[] = {
    { .name = "npu",
      .summary = "an accelerator of convolutions and their epilogues",
      .ops = "conv2d depthwise_conv2d conv2d_transpose dense max_pool2d avg_pool2d global_avg_pool concat transpose "
             "pad add sub mul relu clip "
             "leaky_relu rescale quantize requantize dequantize annotation.simulated_quantize",
      .types = "i8 u8 i16 i32 f32" },
    { .name = "dsp",
      .summary = "a signal processor with floats: sums, products, filters, transforms",
      .ops = "conv1d dense matmul add sub mul div neg abs sqrt exp log sin cos relu sigmoid tanh reduce_sum "
             "reduce_mean reduce_max softmax formula",
      .types = "f32 i16 i32" },
    { 0 }
};
