/* SPDX-License-Identifier: MIT */
#ifndef LW_API_PACKAGE_PACKAGE_H
#define LW_API_PACKAGE_PACKAGE_H
/* Declares the parts of a package that depend on the model; all other parts are the files below templates/. */
#include "driver/driver.h"
#include "loopwright.h"
#include "support/names.h"
#include "support/text.h"

/* Holds the model's program and one recorded run of it by the interpreter: the element data of each input and output
 * that is not a state, in the program's order. */
typedef struct Recording {
    const Program *program;
    const void *const *input, *const *output;
    const Tensor *const *actual;         /* the outputs, in the shapes of the recorded run */
} Recording;

/* selftest.c: NAME_selftest.c and its header; package_vector_bytes: the bytes of the recorded values */
const char *package_selftest(Ctx *cx, const Recording *r);
const char *package_selftest_header(Ctx *cx, const Program *p);
int64_t package_vector_bytes(Ctx *cx, const Program *p);

/* settings.c prints the owner's part of manifests. is_quoted: true if the value is already quoted as the manifest's
 * format requires. */
enum { PACKAGE_SETTINGS = 6 };
typedef struct Settings {
    const char *value[PACKAGE_SETTINGS];
    bool is_given[PACKAGE_SETTINGS], is_quoted[PACKAGE_SETTINGS];
} Settings;
void package_settings(Ctx *cx, Settings *s, const Program *p, const lw_options *o);
/* Reads a setting that no option gives from the template's line in an existing manifest. */
void package_keep(Ctx *cx, Settings *s, const char *line, const char *existing);
/* Returns the text for the word in a file with this extension, or NULL if the word is not a setting. */
const char *package_setting(Ctx *cx, const Settings *s, const char *word, const char *extension);

/* limits.c: refuses a name or a setting whose length the kind's manifest does not accept */
void package_limits(Ctx *cx, const char *kind, const Settings *s, const Program *p);

/* words.c: returns the text for the word of a template (`name` for @name@), or NULL if there is no such word. */
const char *package_word(Ctx *cx, const Program *p, const char *word);
#endif
