/* SPDX-License-Identifier: MIT */
#ifndef LW_API_FINETUNE_H
#define LW_API_FINETUNE_H
/* Emits the training step of a quantization, builds it with $CC and runs it on the samples. */
#include "quantizer/finetune.h"
#include "support/text.h"

typedef struct Finetuning {
    Ctx *cx;
    const char *model;
    const lw_options *options;
    int epochs;                        /* number of epochs; 0 trains nothing */
    Text *said;                        /* receives a line about the result */
    Tuner tuner;                       /* the tuner, whose `self` is this object */
} Finetuning;

bool finetune_run(void *finetuning, const TuneJob *job);
#endif
