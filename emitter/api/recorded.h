/* SPDX-License-Identifier: MIT */
#ifndef LW_RECORDED_H
#define LW_RECORDED_H
/* What each layer must make, for `verify --recorded`: a folder of LAYER.npy, or a .npz. */
#include "driver/driver.h"
#include "import/formats/zip.h"

typedef struct Recorded {
    const char *path;                /* NULL: nothing is recorded */
    bool is_zip;
    Zip zip;
    int found;                       /* layers asked for that were there */
} Recorded;

bool recorded_open(Build *b, Recorded *r);                               /* as --recorded says; false on error */
/* NULL: there is none of this layer, or an error */
const void *recorded_layer(Build *b, Recorded *r, const Tensor *t);
#endif
