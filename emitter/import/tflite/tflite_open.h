/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_TFLITE_OPEN_H
#define LW_IMPORT_TFLITE_TFLITE_OPEN_H
/* Dimensions that a TFLite file leaves open (-1 in a tensor's shape_signature), by what --dim says of them. They have no names there:
 * one is INPUT.AXIS, and the first dimension of an input is the batch as well, one for all inputs. */
#include "import/model/model.h"
#include "import/tflite/ops/tflite_ops.h"
#include "support/map.h"

typedef struct TfliteOpen {
    Ctx *cx;
    const ImportOptions *options;
    Map size; /* of the option's name: what stays open */
} TfliteOpen;

/* The size of an input's dimension: the option's, or the file's example. An option for a dimension that is fixed is an error. */
const Expr *tflite_dim(TfliteOpen *o, const TfliteTensor *t, int axis);
/* "batch, x.0, x.1": what --dim may name; NULL: nothing */
const char *tflite_dim_names(Ctx *cx, const TfliteFile *f);
bool tflite_keeps_open(TfliteCall *c);                            /* false: the operator cannot, which was reported */
#endif
