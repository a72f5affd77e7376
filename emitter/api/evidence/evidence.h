/* SPDX-License-Identifier: MIT */
#ifndef LW_API_EVIDENCE_H
#define LW_API_EVIDENCE_H
/* The parts of `loopwright evidence`. Each function adds tables to the trace. */
#include "api/evidence/source.h"
#include "api/evidence/trace.h"
#include "api/report/json.h"

/* A node of the file, with the ids of its layers. is_merged: true if no layer contains the node's own call, and the
 * node's layers compute later values that depend on it. made_nothing: true if no call of the imported model comes from
 * the node. */
typedef struct NodeLayers { const FileNode *node; int count; int *layer; bool is_merged, made_nothing; } NodeLayers;
typedef struct Links { int count; NodeLayers *at; } Links;

/* A set of inputs, with the values that the interpreter computes from them */
typedef struct Vector { const char *name; const void **input; const Env *all; } Vector;
typedef struct Vectors { int count; Vector *at; } Vectors;

typedef struct Evidence {
    Ctx *cx;
    Build *b;
    const char *model, *folder;          /* the paths that the caller gave */
    const Footprint *footprint;
    JsonReport report;
    const char *source;                  /* the text of model.c */
    Parts parts;
    Links links;
    Vectors vectors;
    Trace trace;
    int file_count, file_capacity; FileOut *file;
} Evidence;

/* links.c: call it after build_nests; `imported` are the nodes of the model as read, in the order of execution. */
Links links_of(Build *b, Node *const *imported, int count);
void evidence_structure(Evidence *e);    /* structure.c: nodes, layers, parameters, buffers, constants, functions */
void evidence_bounds(Evidence *e);       /* bounds.c: ranges, loops, functions */
bool evidence_runs(Evidence *e);         /* runs.c: vectors, checksums, verification */
void evidence_tools(Evidence *e);        /* tools.c: proof, deviations */
/* files.c: adds a file of the folder */
void evidence_file(Evidence *e, const char *path, const void *bytes, size_t count);
void evidence_text(Evidence *e, const char *path, const char *text);
#endif
