/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_TFLITE_FILE_TFLITE_SPARSE_H
#define LW_IMPORT_TFLITE_FILE_TFLITE_SPARSE_H
/* Reads sparse constants: a TFLite file stores only their nonzero elements. */
#include "import/tflite/file/tflite_file.h"

/* Scatters the stored elements, `size` bytes each, into `to`, which has zeros. Returns false if the positions are
 * damaged; some elements may have been written. */
bool tflite_densify(const TfliteTensor *t, int64_t size, unsigned char *to);

#endif
