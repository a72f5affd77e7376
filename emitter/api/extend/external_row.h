/* SPDX-License-Identifier: MIT */
#ifndef LW_API_EXTERNAL_ROW_H
#define LW_API_EXTERNAL_ROW_H
/* Supports implementations that call a C function (lw_implementation.call): the names of the operator's row are
 * replaced by those of the group's nest, and the step `external` receives the call. */
#include "graph/dag/target.h"

/* Returns true if the call can be read with the names of the row's operators; otherwise reports a diagnostic and
 * returns false. */
bool external_row_reads(Ctx *cx, const Implementation *i, const char *call);
/* Returns the nest with the call; returns NULL if the call names an input that the group's call lacks, or after a
 * diagnostic. */
const Nest *external_row_apply(Ctx *cx, const GroupNest *g, const char *call, bool in_place,
                               bool has_status);
#endif
