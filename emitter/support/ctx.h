/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_CTX_H
#define LW_SUPPORT_CTX_H
/* The context of one compilation. The context owns all memory, names, expressions, operators and diagnostics created
 * under it, and frees them as a whole. Two contexts may run in two threads; there is no other mutable state.
 *
 * Errors are sticky. The first one is kept. From then on every call on the context is a harmless no-op that returns a
 * poison value (NULL or the poison expression). So a caller checks ctx_failed() once, after all its calls. */

/* Decision: three lifetimes of memory. Results of a compilation live as long as its context. Temporary data of one
 * rewrite (memo tables) come from the context's scratch arena and are released at its end by a mark. Intervals of
 * one scope (`Ranges`) have an arena of their own, because callbacks of a rewrite add to them. Texts and tables grow
 * in place, or give a large block back. 1,000 convolutions use 227 MB, and 917 MB without the three
 * (`tests/unit/test_scale.c`). */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Classes of faults. ERROR means that the input is wrong; UNSUPPORTED, that the input is right, but the compiler does
 * not support it; INTERNAL, that the compiler is wrong. */
typedef enum Severity { NOTE, WARNING, ERROR, UNSUPPORTED, INTERNAL } Severity;

typedef struct Diag Diag;
struct Diag {
    Diag *next;
    Severity severity;
    const char *file, *where, *what;   /* `file` and `where` may be NULL */
    const char *source;                /* the line at fault and a line with a caret, or NULL */
    const struct Refusal *refusal;     /* the value from which a refusal's text is printed, or NULL */
    /* For notes and warnings, to find repeated ones: the hash of the text, the number in the order of reports, and the
     * previous one in the bucket. */
    uint32_t hash, number;
    Diag *before;
};
enum { DIAG_BUCKETS = 256 };

typedef struct Ctx Ctx;
struct Ctx {
    Arena *arena;                /* lives as long as the compilation */
    Arena *scratch;              /* lives as long as a function, by arena_mark and arena_reset */
    Arena *ranges;               /* the memory of Ranges (ir/algebra), which lives as long as they do */
    struct NameTable *names;     /* the interned strings (support/names.c) */
    struct ExprTable *exprs;     /* the interned expressions (ir/expr/expr.c) */
    struct RuleTable *rules;     /* the simplifier's equations, read on first use (ir/algebra/rules.c) */
    struct Registry *registry;   /* operators, implementations, targets, passes (graph/dag/registry.c) */
    /* Set by the folders above (context/context.c), so that the folders below do not include those above. NULL if there
     * are none. */
    void (*read_rules)(Ctx *, struct RuleTable *);
    const struct BuiltinRows *rows;
    const struct InstructionRow *const *instruction_rows;      /* the tables of instructions; NULL ends the list */
    struct Map *instructions;    /* maps a row to its Instruction, read on first use (ir/text/read_instruction.c) */
    struct Diag *diags;          /* the diagnostics in the order of reports (support/ctx.c) */
    struct Diag **last_diag;
    uint32_t diag_count;
    struct Diag *said[DIAG_BUCKETS];     /* the notes and warnings by hash, the latest first */
    bool failed;                 /* true if an error has been reported */
    bool is_usage;               /* true if the error is in the arguments of the call, not in a file */
    bool refuses_warnings;       /* true with --werror: no file is written after a warning */
    /* True while a built-in template runs. The template's nest is checked once, after the last step. */
    bool checks_late;
    /* True while a formula is read over trial sizes; its reads are checked with the sizes of each call. */
    bool tries_formula;
#ifdef LW_TEST_SWITCH
    uint32_t off;                /* in test builds, the number of the disabled check (support/switch.h) */
    const char *refusing_check;  /* the last check that refused a step as wrong */
    bool off_fired;
#endif
    bool lists_nodes;            /* true if importers list the nodes of the file, for `evidence` */
    const struct FileNode *from; /* the node of the file from which calls are being made, or NULL (ir/expr/tensor.h) */
    const char *file;            /* the default file of diagnostics, which is being read, or NULL */
    uint32_t serial;             /* the last serial number assigned; serial numbers order all output */
    struct Guard *guard;         /* the guard to which an allocation failure unwinds, or NULL (support/guard.c) */
    struct Resource *resources;  /* the resources to release while unwinding, the newest first (support/guard.c) */
    bool is_exhausted;           /* true if memory has run out */
    Diag exhaustion;             /* the diagnostic of that failure, preallocated */
    char exhaustion_text[120];   /* the text of `exhaustion` with the severity, as diag_text formats it */
};

/* Returns NULL if out of memory. A hook of NULL means abort(); a user of NULL means the context itself. */
Ctx *ctx_new(OutOfMemory *hook, void *user);
void ctx_free(Ctx *cx);          /* `cx` may be NULL */
uint32_t ctx_serial(Ctx *cx);                  /* returns 1, 2, 3, ... */

/* Reports an error. `where` (may be NULL) is the place inside the file: `12:7`, `node "conv_7" (Conv)`, `loop conv.h`.
 * The first error is kept; later ones are dropped, because most of them follow from it. */
void diag_error(Ctx *cx, const char *where, const char *format, ...);
/* Reports an error in an argument of the call (an option, a path's ending), which no change of a file can fix. */
void diag_usage(Ctx *cx, const char *where, const char *format, ...);
void diag_unsupported(Ctx *cx, const char *where, const char *format, ...);
void diag_internal(Ctx *cx, const char *where, const char *format, ...);
void diag_warn(Ctx *cx, const char *where, const char *format, ...);
/* Reports one of a list of independent faults, all of which are shown; it is never dropped. */
void diag_listed(Ctx *cx, Severity s, const char *where, const char *format, ...);
/* Reports an error that accompanies a complete result, such as a report beyond its limits. Later calls still have
 * effect. */
void diag_verdict(Ctx *cx, const char *format, ...);
void diag_with_source(Ctx *cx, const char *where, const char *source_and_caret, const char *format, ...);

static inline bool ctx_failed(const Ctx *cx) { return cx->failed; }

/* Returns false, with an error, if warnings were reported and the context refuses them. Call this before a result
 * leaves. */
bool ctx_accepts_warnings(Ctx *cx);

/* Reports that `bytes` could not be allocated, at most once per context. Allocates nothing. */
void diag_exhausted(Ctx *cx, size_t bytes);

/* Formats `file: where: error: what`, without a trailing newline; source lines, if any, follow on separate lines. */
const char *diag_text(Ctx *cx, const Diag *d);

/* Trials: calls that may fail and be undone, such as a schedule step. diag_rewind drops every diagnostic since
 * diag_mark, restores the failed state, and returns the first dropped diagnostic, or NULL if there was none. */
typedef struct DiagMark { Diag **last; bool failed; } DiagMark;
DiagMark diag_mark(Ctx *cx);
Diag *diag_rewind(Ctx *cx, DiagMark mark);

#endif
