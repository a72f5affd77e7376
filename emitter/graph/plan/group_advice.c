/* SPDX-License-Identifier: MIT */
/* Gives advice for a word that names no group. Many such words are names of the model's nodes, which fusion has put
 * into a group. */
#include <string.h>

#include "graph/plan/plan.h"
#include "support/text.h"

static bool is_part(const char *parts, const char *word)
{
    const size_t length = strlen(word);
    for (const char *s = parts; s; s = strchr(s, '+'), s += s != NULL)
        if (strcspn(s, "+") == length && strncmp(s, word, length) == 0) return true;
    return false;
}

static bool has_node(const Group *g, const char *word)
{
    for (int i = 0; i < g->node_count; i++)
        if (text_equal(g->node[i]->name, word)) return true;
    return false;
}

const char *group_advice(Ctx *cx, const char *word, const Group *const *group, int count, const char *otherwise)
{
    const char **names = NEW_ARRAY(cx->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        const Group *g = group[i];
        names[i] = g->name;
        if (g->parts && is_part(g->parts, word))
            return text_format(cx, "; it is a part of '%s', which combines %s; pass --combine none to separate them",
                               g->name,
                               g->parts);
        if (has_node(g, word)) return text_format(cx, "; the node '%s' is in the group '%s'", word, g->name);
    }
    return text_hint(cx, word, names, (size_t)count, otherwise);
}
