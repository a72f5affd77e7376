/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FILE_TFLITE_SPARSE_H
#define LW_IMPORT_TFLITE_FILE_TFLITE_SPARSE_H
/* Constants of which a TFLite file holds only what is not zero. */
#include "import/tflite/file/tflite_file.h"

/* Puts the elements of the file, `size` bytes each, at their places in `to`, which is zeros. False where what the file
 * says of the places is damaged: then some may have been put. */
bool tflite_densify(const TfliteTensor *t, int64_t size, unsigned char *to);

#endif
