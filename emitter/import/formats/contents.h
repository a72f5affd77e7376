/* SPDX-License-Identifier: MIT */
#ifndef LW_CONTENTS_H
#define LW_CONTENTS_H
/* What a file contains, told from its bytes: for files that are not what their names promise. */
#include "support/file.h"

typedef struct Contents {
    const char *what;            /* "a TensorFlow Lite model" */
    const char *extension;       /* of its format: "tflite"; NULL: it is no format that is read */
    const char *advice;          /* what to do with it; NULL: nothing is to be said */
} Contents;

/* NULL: nothing that is known. Text is known where `extension` does not promise text. */
const Contents *contents_of(Bytes file);
#endif
