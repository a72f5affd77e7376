/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_CONTENTS_H
#define LW_IMPORT_CONTENTS_H
/* Identifies a file's format by its content; diagnostics use it when the content contradicts the file name. */
#include "support/file.h"

typedef struct Contents {
    const char *what;            /* "a TensorFlow Lite model" */
    const char *extension;       /* of its format: "tflite"; NULL: no supported format */
    const char *advice;          /* the user's next step; NULL: none */
} Contents;

/* Returns the recognized contents, or NULL. Plain text is recognized as formula text ("te"). */
const Contents *contents_of(Bytes file);
#endif
