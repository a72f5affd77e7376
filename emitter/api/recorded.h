/* SPDX-License-Identifier: MIT */
#ifndef LW_API_RECORDED_H
#define LW_API_RECORDED_H
/* Reads the expected outputs of layers for `verify --recorded`, from a folder of LAYER.npy or from a .npz. */
#include "driver/driver.h"
#include "import/formats/zip.h"

typedef struct Recorded {
    const char *path;                /* the path of --recorded, or NULL */
    bool is_zip;
    Zip zip;
    int found;                       /* the number of layers that have an entry, among those that were looked up */
} Recorded;

/* Opens the path of --recorded; returns false on error. */
bool recorded_open(const Build *b, Recorded *r);
/* Returns the recorded data of the layer, or NULL if it has no entry or after an error. */
const void *recorded_layer(const Build *b, Recorded *r, const Tensor *t);
#endif
