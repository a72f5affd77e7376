/* SPDX-License-Identifier: MIT */
/* Annotations of the namespace `annotation` that have no row, written by other tools or for the user's own later pass.
 * Each becomes a recorded row of an identity, which accepts any attributes as words, so no number changes. A name that
 * resembles the name of a row is taken for a mistake, and stays unknown. */
#include <string.h>

#include "graph/dag/op.h"
#include "support/names.h"
#include "support/text.h"

static const char prefix[] = "annotation.";

/* Returns true for a word within two edits of a known annotation; the caller's diagnostic then suggests the
 * annotation. */
static bool is_misspelt(Ctx *cx, const char *word)
{
    int count, known = 0;
    const Op *const *all = op_list(cx, &count);
    const char **names = NEW_ARRAY(cx->arena, const char *, count);
    for (int i = 0; i < count; i++)
        if (strncmp(all[i]->name, prefix, sizeof prefix - 1) == 0 && !all[i]->accepts_any_attr)
            names[known++] = all[i]->name + sizeof prefix - 1;
    return text_nearest(cx, word, names, (size_t)known) != NULL;
}

const Op *op_find_annotation(Ctx *cx, const char *op_name)
{
    const Op *known = op_find(cx, op_name);
    const size_t n = sizeof prefix - 1;
    if (known || strncmp(op_name, prefix, n) != 0) return known;
    if (!op_name[n] || !text_equal(name_identifier(cx, op_name + n), op_name + n)) return NULL;
    if (is_misspelt(cx, op_name + n)) return NULL;
    Op *op = NEW(cx->arena, Op);
    *op = (Op){ .name = name(cx, op_name),
                .summary = "y = x; unknown, carried to reports",
                .level = 10,
                .least_inputs = 1,
                .most_inputs = 1,
                .inputs = "x",
                .accepts_any_attr = true,
                .meaning.formula = "y[*] = x[*]",
                .fusion = { .pattern = PATTERN_ELEMENTWISE, .annotation = ANNOTATION_RECORD } };
    op_register(cx, op);
    diag_listed(cx, NOTE, op_name, "this annotation is unknown: reports carry it, and nothing else changes");
    return op;
}
