/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_PORTS_H
#define LW_CGEN_PORTS_H
/* Prints the declarations of the model's inputs and outputs in model.h. */
#include "cgen/cgen.h"

int64_t port_elems(Ctx *cx, const Tensor *t);  /* counts symbolic sizes with their maximum */
bool ports_are_i8(const Program *p);       /* returns true if some port is a quantized int8_t */
void port_row(Ctx *cx, Text *t, const Port *p);     /* prints a line of the first comment */
/* Prints the origin of the code: the macros NAME_MODEL, NAME_TARGET, NAME_OPTIONS, NAME_MODEL_SHA256. */
void ports_origin(Text *t, const Program *p);
/* Prints the lists X(...), the macros of type, shape and scale, offsets in the arena, and the structs of pointers. */
void ports_declare(Ctx *cx, Text *t, const Program *p);
/* Prints inline functions that quantize floats for 8-bit and 16-bit inputs, and dequantize the integers of such
 * outputs. */
void ports_take_before(Ctx *cx, Text *t, const Program *p);
void ports_convert(Ctx *cx, Text *t, const Program *p);
#endif
