/* SPDX-License-Identifier: MIT */
#ifndef LW_IMPORT_MODEL_FILE_NODES_H
#define LW_IMPORT_MODEL_FILE_NODES_H
/* The list of the file's nodes. An importer lists the nodes of a graph before it reads them. The importer enters a node
 * while it makes the node's calls, and the calls then name the node (Node.from). Without Ctx.lists_nodes there is no
 * list: the list and each node are NULL, and the functions do nothing. */
#include "import/model/model.h"

typedef struct FileNodes FileNodes;
FileNodes *file_nodes_new(Ctx *cx);
/* Returns the node at this place, and lists it if it is new: an importer may read a graph several times. `graph` is the
 * name of the graph in the node that is entered, and has no effect outside a node. */
FileNode *file_node(FileNodes *all, const char *graph, int number, const char *op, const char *name);
/* States that the node reads a result of the other node; `count` bounds the number of its inputs. */
void file_node_reads(FileNodes *all, FileNode *n, const FileNode *other, int count);
/* Enters the node, or none for NULL; returns the node that was entered, which the importer enters again at the end. */
const FileNode *file_node_enter(Ctx *cx, const FileNode *n);
/* States that a result of the entered node is `t`: a constant, a value of another node, or new. */
void file_node_result(Ctx *cx, const Tensor *t, bool is_new);
void file_nodes_end(const FileNodes *all, Model *out);
#endif
