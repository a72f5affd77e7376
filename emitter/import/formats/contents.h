/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_CONTENTS_H
#define LW_IMPORT_CONTENTS_H
/* Identifies a file's format by its content; diagnostics use it when the content contradicts the file name. */
#include "support/file.h"

typedef struct Contents {
    const char *what;            /* a description such as "a TensorFlow Lite model" */
    const char *extension;       /* the name of its format, such as "tflite"; NULL if the format is not supported */
    const char *advice;          /* the user's next step, or NULL */
} Contents;

/* Returns the recognized contents, or NULL if they are unknown. Plain text is recognized as formula text ("te"). */
const Contents *contents_of(Bytes file);
#endif
