/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_CTX_H
#define LW_SUPPORT_CTX_H
/* The context of one compilation. It owns all memory, names, expressions, operators and diagnostics created under it,
 * and frees them as a whole. Two contexts may run in two threads; there is no other mutable state.
 *
 * Errors are sticky. The first one is kept. From then on every call on the context is a harmless no-op that returns a
 * poison value (NULL or the poison expression), so a caller checks ctx_failed() once, after all its calls. */

/* Decision: three lifetimes of memory. Results of a compilation live as long as its context. Temporary data of one
 * rewrite (memo tables) come from the context's scratch arena and are released at its end by a mark. Intervals of
 * one scope (`Ranges`) have an arena of their own, because callbacks of a rewrite add to them. Texts and tables grow
 * in place, or give a large block back. 1,000 convolutions use 227 MB, and 917 MB without the three
 * (`tests/unit/test_scale.c`). */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Classes of faults. ERROR: the input is wrong. UNSUPPORTED: the input is right, but the compiler does not support it.
 * INTERNAL: the compiler is wrong. */
typedef enum Severity { NOTE, WARNING, ERROR, UNSUPPORTED, INTERNAL } Severity;

typedef struct Diag Diag;
struct Diag {
    Diag *next;
    Severity severity;
    const char *file, *where, *what;   /* `file` and `where` may be NULL */
    const char *source;                /* the line at fault and a line with a caret, or NULL */
    const struct Refusal *refusal;     /* the value from which a refusal's text is printed; else NULL */
    /* Of notes and warnings, to find repeated ones: the hash of the text, the order, the one before in its bucket */
    uint32_t hash, number;
    Diag *before;
};
enum { DIAG_BUCKETS = 256 };

typedef struct Ctx Ctx;
struct Ctx {
    Arena *arena;                /* lifetime: the compilation */
    Arena *scratch;              /* lifetime: a function, by arena_mark and arena_reset */
    Arena *ranges;               /* the memory of Ranges (ir/algebra); lifetime: theirs */
    struct NameTable *names;     /* support/names.c: interned strings */
    struct ExprTable *exprs;     /* ir/expr/expr.c: interned expressions */
    struct RuleTable *rules;     /* ir/algebra/rules.c: the simplifier's equations, read on first use */
    struct Registry *registry;   /* graph/dag/registry.c: operators, implementations, targets, passes */
    /* Set by the folders above (context/context.c), so that folders below do not include them. NULL: none. */
    void (*read_rules)(Ctx *, struct RuleTable *);
    const struct BuiltinRows *rows;
    const struct InstructionRow *const *instruction_rows;      /* ends with NULL */
    struct Map *instructions;    /* ir/text/read_instruction.c: row -> Instruction, read on first use */
    struct Diag *diags;          /* support/ctx.c: in the order reported */
    struct Diag **last_diag;
    uint32_t diag_count;
    struct Diag *said[DIAG_BUCKETS];     /* notes and warnings by hash, the latest first */
    bool failed;                 /* an error has been reported */
    bool is_usage;               /* the error is in the arguments of the call, not in a file */
    bool refuses_warnings;       /* --werror: no file is written after a warning */
    /* A built-in template runs: its nest is checked once, after the last step */
    bool checks_late;
    bool tries_formula;          /* a formula is read over trial sizes: its reads are checked over those of a call */
#ifdef LW_TEST_SWITCH
    uint32_t off;                /* test builds: number of the disabled check (support/switch.h) */
    const char *refusing_check;  /* the last check that refused a step as wrong */
    bool off_fired;
#endif
    const char *file;            /* default file of diagnostics: the file being read, or NULL */
    uint32_t serial;             /* last serial number assigned; it orders all output */
    struct Guard *guard;         /* support/guard.c: the guard to which an allocation failure unwinds, or NULL */
    struct Resource *resources;  /* support/guard.c: released while unwinding, the newest first */
    bool is_exhausted;           /* memory has run out */
    Diag exhaustion;             /* its diagnostic, preallocated */
    char exhaustion_text[120];   /* with its severity, as by diag_text */
};

/* hook NULL: abort(); user NULL: the context itself. Returns NULL if out of memory. */
Ctx *ctx_new(OutOfMemory *hook, void *user);
void ctx_free(Ctx *cx);          /* NULL allowed */
uint32_t ctx_serial(Ctx *cx);                  /* 1, 2, 3, ... */

/* Reports an error. `where` (may be NULL) is the place inside the file: `12:7`, `node "conv_7" (Conv)`, `loop conv.h`.
 * The first error is kept; later ones are dropped, because most of them follow from it. */
void diag_error(Ctx *cx, const char *where, const char *format, ...);
/* Reports an error in an argument of the call (an option, a path's ending), which no change of a file can fix. */
void diag_usage(Ctx *cx, const char *where, const char *format, ...);
void diag_unsupported(Ctx *cx, const char *where, const char *format, ...);
void diag_internal(Ctx *cx, const char *where, const char *format, ...);
void diag_warn(Ctx *cx, const char *where, const char *format, ...);
/* Reports one of a list of independent faults, all of which are shown: never dropped. */
void diag_listed(Ctx *cx, Severity s, const char *where, const char *format, ...);
/* Reports an error that accompanies a complete result (a report beyond its limits): later calls have effect. */
void diag_verdict(Ctx *cx, const char *format, ...);
void diag_with_source(Ctx *cx, const char *where, const char *source_and_caret, const char *format, ...);

static inline bool ctx_failed(const Ctx *cx) { return cx->failed; }

/* False, with an error, if warnings were reported and the context refuses them. Called before a result leaves. */
bool ctx_accepts_warnings(Ctx *cx);

/* Reports that `bytes` could not be allocated; allocates nothing. At most once per context. */
void diag_exhausted(Ctx *cx, size_t bytes);

/* Formats `file: where: error: what`, without a trailing newline; source lines, if any, follow on separate lines. */
const char *diag_text(Ctx *cx, const Diag *d);

/* Trials: calls that may fail and be undone, such as a schedule step. diag_rewind drops every diagnostic since
 * diag_mark, restores the failed state, and returns the first dropped diagnostic (NULL if none). */
typedef struct DiagMark { Diag **last; bool failed; } DiagMark;
DiagMark diag_mark(Ctx *cx);
Diag *diag_rewind(Ctx *cx, DiagMark mark);

#endif
