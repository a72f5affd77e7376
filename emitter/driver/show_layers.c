/* SPDX-License-Identifier: MIT */
/* --layers: each tensor between groups becomes an output, in execution order, to locate the first layer in which two
 * programs differ. */
#include "driver/driver.h"

void build_show_layers(Build *b)
{
    const Groups groups = fuse(b->cx, &b->graph);
    Graph *g = &b->graph;
    Model *m = &b->model;
    int most = g->output_count;
    for (int i = 0; i < groups.count; i++) most += groups.at[i].output_count;
    Tensor **all = NEW_ARRAY(b->cx->arena, Tensor *, most), **imported = NEW_ARRAY(b->cx->arena, Tensor *, most);
    for (int i = 0; i < g->output_count; i++) all[i] = g->output[i], imported[i] = m->output[i];
    g->output = all;
    m->output = imported;
    for (int i = 0; i < groups.count; i++)
        for (int j = 0; j < groups.at[i].output_count; j++) {
            Tensor *t = groups.at[i].output[j];
            if (graph_has_output(g, t)) continue;
            imported[m->output_count++] = t;
            all[g->output_count++] = t;
        }
}
