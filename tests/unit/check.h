/* SPDX-License-Identifier: MIT */
/* The output of unit tests. A test is a program. CHECK prints one line per check, `ok NAME` or `not ok NAME: detail`.
 * main ends with `return check_done();`, which prints `N passed, N failed` (with skipped cases, `, N skipped`) and
 * fails if a check failed. If TEST_CASE is set, only cases with it in their names are printed and counted. Checks with
 * one name are one case, which passes if all of them pass. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_passed, check_failed, check_skipped;

static inline int check_is_chosen(const char *name)
{
    const char *only = getenv("TEST_CASE");
    return !only || strstr(name, only) != NULL;
}

/* The cases so far, by name: 0 for a free entry, 1 passed, 2 failed. */
enum { CHECK_SLOTS = 1 << 14 };
typedef struct CheckSlot { char *name; int verdict; } CheckSlot;
static CheckSlot check_slots[CHECK_SLOTS];

static inline CheckSlot *check_slot(const char *name)
{
    unsigned at = 5381;
    for (const char *c = name; *c; c++) at = at * 33 + (unsigned char)*c;
    CheckSlot *found = &check_slots[at % CHECK_SLOTS];
    while (found->name && strcmp(found->name, name) != 0)
        found = found == &check_slots[CHECK_SLOTS - 1] ? check_slots : found + 1;
    if (!found->name && (found->name = malloc(strlen(name) + 1)) != NULL) strcpy(found->name, name);
    return found;
}

/* Prints the verdict; of a failure, with the details in `format`. Returns is_good. */
static inline int check_that(int is_good, const char *name, const char *format, ...)
{
    if (!check_is_chosen(name)) return is_good;
    CheckSlot *c = check_slot(name);
    if (is_good) {
        if (c->verdict == 0) {
            check_passed++;
            printf("ok %s\n", name);
            c->verdict = 1;
        }
        return 1;
    }
    check_passed -= c->verdict == 1;
    check_failed += c->verdict != 2;
    c->verdict = 2;
    va_list args;
    va_start(args, format);
    printf("not ok %s: ", name);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    return 0;
}

/* Returns "NAME-EXPECTED", as in `conv-same-equals-the-evaluator`: the name of a table's case, until the next call. */
static inline const char *check_label(const char *name, const char *expected)
{
    static char label[512];
    snprintf(label, sizeof label, "%s-%s", name, expected);
    return label;
}

#define CHECK(name, cond) check_that(!!(cond), (name), "%s:%d: %s", __FILE__, __LINE__, #cond)

static inline void check_skip(const char *name, const char *reason)
{
    if (!check_is_chosen(name)) return;
    check_skipped++;
    printf("skip %s: %s\n", name, reason);
}

/* The order of tests: as they are listed, or from the last to the first if TEST_ORDER is `reversed`. */
static inline size_t check_index(size_t i, size_t count)
{
    const char *order = getenv("TEST_ORDER");
    return order && strcmp(order, "reversed") == 0 ? count - 1 - i : i;
}

typedef void CheckTest(void);
static inline void check_run(CheckTest *const *test, size_t count)
{
    for (size_t i = 0; i < count; i++) test[check_index(i, count)]();
}
#define CHECK_RUN(...) \
    check_run((CheckTest *const[]){ __VA_ARGS__ }, sizeof (CheckTest *[]){ __VA_ARGS__ } / sizeof(CheckTest *))
/* The test of each row of a table */
#define CHECK_EACH(test, rows) \
    for (size_t row_ = 0; row_ < sizeof(rows) / sizeof *(rows); row_++) \
        test(&(rows)[check_index(row_, sizeof(rows) / sizeof *(rows))])

static inline int check_done(void)
{
    printf("%d passed, %d failed", check_passed, check_failed);
    if (check_skipped > 0)
        printf(", %d skipped", check_skipped);
    printf("\n");
    return check_failed > 0;
}

#endif
