/* SPDX-License-Identifier: MIT */
#ifndef LW_CGEN_TEMPLATE_H
#define LW_CGEN_TEMPLATE_H
/* The files of template/, which the Makefile embeds: text that is emitted with few changes. */
#include "support/text.h"

/* Returns the lines of a file; template_ends is true after the last one. The file must be there. */
const char *const *template_lines(const char *file);
bool template_ends(const char *line);
#endif
