/* SPDX-License-Identifier: MIT */
#ifndef LW_API_RECORDED_H
#define LW_API_RECORDED_H
/* The expected outputs of layers, for `verify --recorded`: a folder of LAYER.npy, or a .npz. */
#include "driver/driver.h"
#include "import/formats/zip.h"

typedef struct Recorded {
    const char *path;                /* NULL: nothing is recorded */
    bool is_zip;
    Zip zip;
    int found;                       /* layers that have an entry, among those looked up */
} Recorded;

bool recorded_open(Build *b, Recorded *r);                               /* the path of --recorded; false on error */
/* NULL: the layer has no entry, or an error */
const void *recorded_layer(Build *b, Recorded *r, const Tensor *t);
#endif
