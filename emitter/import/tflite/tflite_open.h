/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_TFLITE_OPEN_H
#define LW_IMPORT_TFLITE_TFLITE_OPEN_H
/* Handles open dimensions of a TFLite file (-1 in a tensor's shape_signature), and --dim for them. The format has no
 * names for them: INPUT.AXIS names a dimension, and `batch` names the first dimension of all inputs. */
#include "import/model/model.h"
#include "import/tflite/ops/tflite_decided.h"
#include "import/tflite/ops/tflite_ops.h"
#include "support/map.h"

typedef struct TfliteOpen {
    Ctx *cx;
    const ImportOptions *options;
    TfliteSizes *sizes;
    Map size;                        /* maps the name of an option to the size that stays open */
    bool sets_unmarked;              /* true if an option gave a size to a dimension without a signature */
} TfliteOpen;

/* Returns the size of an input's dimension: the option's, or the file's example. An option for a fixed dimension is an
 * error. */
const Expr *tflite_dim(TfliteOpen *o, const TfliteTensor *t, int axis);
/* Returns true if the file's size of a dimension is valid: no signature marks the dimension as open, and no option may
 * have changed it. Otherwise the stored size is a placeholder. */
bool tflite_is_declared(const TfliteOpen *o, const TfliteTensor *t, int axis);
/* Returns the names that --dim accepts, such as "batch, x.0, x.1", or NULL if there is none. */
const char *tflite_dim_names(Ctx *cx, const TfliteFile *f);
/* returns false, with a diagnostic, if the operator requires fixed sizes */
bool tflite_keeps_open(TfliteCall *c);
#endif
