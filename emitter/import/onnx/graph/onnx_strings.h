/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_ONNX_STRINGS_H
#define LW_IMPORT_ONNX_STRINGS_H
/* Represents the strings of a model. A string is represented by its index, an i64, in one list of all strings of the
 * file; -1 stands for a string that is not in the list. Labels are entered first, so the index of a label is the index
 * of its class. The list is written to the emitted header. */
#include "import/onnx/file/onnx_file.h"
#include "support/map.h"

typedef struct OnnxStrings {
    int count, capacity; const char **text;
    int class_count; const char *const *class_name; /* the first list of labels; class_count is 0 if there is none */
    Map index;                       /* maps a text to its index */
    Map tensors;                     /* the tensors whose elements are strings */
} OnnxStrings;

/* Enters the labels of the graph's nodes, its constants, and the values of its encoders. */
void onnx_strings_open(Ctx *cx, OnnxStrings *s, const OnnxGraph *g);
/* returns the index of a text; enters a new text */
int64_t onnx_string(Ctx *cx, OnnxStrings *s, const char *text);
void onnx_string_indices(Ctx *cx, OnnxStrings *s, int count, const char *const *text, int64_t *out);
void onnx_mark_strings(OnnxStrings *s, const Tensor *t);
/* returns true if its elements are strings; false for NULL */
bool onnx_holds_strings(const OnnxStrings *s, const Tensor *t);
/* returns a constant of the file as indices */
Tensor *onnx_string_tensor(Ctx *cx, OnnxStrings *s, const OnnxTensor *t);

#endif
