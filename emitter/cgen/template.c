/* SPDX-License-Identifier: MIT */
#include "cgen/template.h"

#include <string.h>

static const char *const lines[] = {
#define TEMPLATE_FILE(name) "\f" name,     /* a form feed starts a file */
#define TEMPLATE_LINE(text) text,
#include "template_text.h"
#undef TEMPLATE_FILE
#undef TEMPLATE_LINE
    "\f"
};

const char *const *template_lines(const char *file)
{
    int i = 0;
    while (lines[i][0] != '\f' || strcmp(lines[i] + 1, file) != 0) i++;
    return &lines[i + 1];
}

bool template_ends(const char *line) { return *line == '\f'; }
