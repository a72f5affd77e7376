/* SPDX-License-Identifier: MIT */
#include "import/model/model.h"

#include <string.h>

bool import_keeps(const ImportOptions *o, const char *input)
{
    for (int i = 0; o && i < o->state_count; i++)
        if (strcmp(o->state[i], input) == 0) return true;
    return false;
}
