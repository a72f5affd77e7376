/* SPDX-License-Identifier: MIT */
/* Queries of a Build that all parts of the driver use. */
#include "driver/driver.h"

#include "support/text.h"

const Node *region_of_group(const Build *b, int group)
{
    const Node *n = b->groups.at[group].anchor;
    return n && n->kind == NODE_REGION ? n : NULL;
}

Build *build_graphs_of(const Build *b, const Node *region) { return map_get_ptr(&b->inner, region); }

bool build_rounds_once(const lw_options *o) { return text_equal(o->rounding, "single"); }
