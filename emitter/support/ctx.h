/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_CTX_H
#define LW_SUPPORT_CTX_H
/* The context of one compilation: it owns all memory, names, expressions, operators and diagnostics made under it, and
 * they go with it. Two contexts may work in two threads; there is no other mutable state.
 *
 * Errors are sticky. The first one is kept; from then on every call on the context is a harmless no-op that returns a
 * poison value (NULL or the poison expression), so whoever composes work checks ctx_failed() once, at its end. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Whose fault it is: ERROR the input is wrong, UNSUPPORTED it is right but we cannot yet, INTERNAL we are wrong. */
typedef enum Severity { NOTE, WARNING, ERROR, UNSUPPORTED, INTERNAL } Severity;

typedef struct Diag Diag;
struct Diag {
    Diag *next;
    Severity severity;
    const char *file, *where, *what;   /* file and where may be NULL */
    const char *source;                /* the line of text at fault and a caret line below it, or NULL */
    const struct Refusal *refusal;     /* of a nest or a step: the value that the text is printed from; else NULL */
};

typedef struct Ctx Ctx;
struct Ctx {
    Arena *arena;                /* everything made while compiling */
    Arena *scratch;              /* what a function gives back before it returns: arena_mark, arena_reset */
    struct NameTable *names;     /* support/names.c: interned strings */
    struct ExprTable *exprs;     /* ir/expr/expr.c: interned expressions */
    struct RuleTable *rules;     /* ir/algebra/rules.c: the simplifier's equations, read on first use */
    struct Registry *registry;   /* graph/dag/registry.c: operators, implementations, targets, passes */
    /* Given by the floors above (context/context.c), so that the floors below need not include them. NULL: there are none. */
    void (*read_rules)(Ctx *, struct RuleTable *);
    const struct BuiltinRows *rows;
    struct Diag *diags;          /* support/diag.c: in the order reported */
    struct Diag **last_diag;
    bool failed;                 /* an error has been reported */
    bool is_usage;               /* it is in the arguments of the call, whatever the files contain */
    /* A built-in template is at work: its nest is checked when it is done, not at every step */
    bool checks_late;
#ifdef LW_TEST_SWITCH
    uint32_t off;                /* test builds: the check with this number is turned off (support/switch.h) */
    const char *asked;           /* the last check that found a step wrong */
    bool off_fired;
#endif
    const char *file;            /* default place of diagnostics: the file being read, or NULL */
    uint32_t serial;             /* last serial number given out; the order of output comes from these */
    struct Guard *guard;         /* support/guard.c: where a call ends in which memory runs out, or NULL */
    struct Resource *resources;  /* support/guard.c: what to release then, the newest first */
    bool is_exhausted;           /* memory has run out */
    Diag exhaustion;             /* the diagnostic of that, which must not allocate */
    char exhaustion_text[120];   /* with its severity in front, as diag_text gives it */
};

/* hook NULL: abort(); user NULL: the context itself. NULL where there is no memory for it. */
Ctx *ctx_new(OutOfMemory *hook, void *user);
void ctx_free(Ctx *cx);          /* NULL allowed */
uint32_t ctx_serial(Ctx *cx);                  /* 1, 2, 3, ... */

/* Reports; `where` (may be NULL) is the place inside the file: `12:7`, `node "conv_7" (Conv)`, `loop conv.h`.
 * The first error stays; later ones are dropped, for they mostly follow from it. */
void diag_error(Ctx *cx, const char *where, const char *format, ...);
/* An error in an argument of the call (an option, a path's ending) that no file can make right. */
void diag_usage(Ctx *cx, const char *where, const char *format, ...);
void diag_unsupported(Ctx *cx, const char *where, const char *format, ...);
void diag_internal(Ctx *cx, const char *where, const char *format, ...);
void diag_warn(Ctx *cx, const char *where, const char *format, ...);
/* One of a list of independent faults that are to be shown together: never dropped. */
void diag_listed(Ctx *cx, Severity s, const char *where, const char *format, ...);
void diag_with_source(Ctx *cx, const char *where, const char *source_and_caret, const char *format, ...);

static inline bool ctx_failed(const Ctx *cx) { return cx->failed; }

/* Reports that `bytes` could not be allocated; allocates nothing. Once in the life of a context. */
void diag_exhausted(Ctx *cx, size_t bytes);

/* `file: where: error: what`, without a newline; source lines follow on lines of their own when there are any. */
const char *diag_text(Ctx *cx, const Diag *d);

/* Trial: runs that may fail and be undone, as a schedule step does. diag_mark remembers; diag_rewind forgets every
 * diagnostic since and the failed state, and returns the first of them (NULL if none). */
typedef struct DiagMark { Diag **last; bool failed; } DiagMark;
DiagMark diag_mark(Ctx *cx);
Diag *diag_rewind(Ctx *cx, DiagMark mark);

#endif
