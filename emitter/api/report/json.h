/* SPDX-License-Identifier: MIT */
#ifndef LW_API_REPORT_JSON_H
#define LW_API_REPORT_JSON_H
/* The parts of report.json. Each function prints a part of the JSON text, which data.c joins. */
#include "api/report/footprint.h"
#include "api/report/parts.h"
#include "support/text.h"

void json_text(Text *t, const char *s);                                    /* in quotes */
/* Each of these functions adds a comma before its text unless the text so far ends in a bracket or a blank: a comma,
 * the beginning of an object in a list, a key, and a key with its value. A NULL text and a negative number of
 * json_known are null. */
void json_next(Text *t);
void json_item(Text *t);
void json_name(Text *t, const char *key);
void json_key(Text *t, const char *key, const char *value);
void json_line(Text *t, const char *key, const char *value);               /* a key of the report, on its own line */
void json_number(Text *t, const char *key, int64_t n);
void json_known(Text *t, const char *key, int64_t n);
void json_flag(Text *t, const char *key, bool value);
void json_shape(Ctx *cx, Text *t, const Tensor *x);                        /* an open size is printed as its maximum */
void json_scale(Text *t, const Tensor *x);                                 /* nothing without one scale */

/* The state that the parts of the JSON text share. `whole` is the model's graph. */
typedef struct JsonReport {
    Build *whole;
    ReportBuffers buffers;
    Map functions;                                                         /* of report_functions */
    int removed_count; const Removed *removed;                             /* of report_removed */
} JsonReport;
/* layer_facts.c: the keys of a layer after its figures */
void json_layer_facts(const JsonReport *r, const Build *b, int group, Text *t);
void json_unit(const Build *b, int group, Text *t);
void json_traffic(const JsonReport *r, const Build *b, int group, Text *t);
int json_layer_id(const JsonReport *r, const Build *b, int group);
/* Returns the measured bytes of the function, both -1 if they are unknown. A NULL function has none. */
CodeSize json_code_size(const Build *b, const Function *f);
const Function *json_called(const Build *b, int group);                    /* NULL: the layer emits no function */
/* structure.c: keys of the whole report */
void json_structure(const JsonReport *r, Text *t);
/* json.c: prints "key": [ITEM, ITEM], with a function that prints item i */
typedef void JsonItem(const JsonReport *r, int i, Text *t);
void json_list(const JsonReport *r, Text *t, const char *key, int count, JsonItem *item);
/* data.c: prints the whole report; `against` is the JSON of another one, or NULL. */
void json_report(Build *b, const Footprint *f, const char *against, Text *t);
/* data.c: reads and measures the model, and returns the text that `print` prints; NULL on error. function: the name of
 * the API's function, for diagnostics. weighs: true if the text states the costs of checkpoints. */
typedef void ReportPrint(Build *b, const Footprint *f, const char *against, Text *t);
const char *report_as(Ctx *cx, const char *function, const char *model, const lw_options *o, ReportPrint *print,
                      bool weighs);
/* validation.c: builds and runs the C as `verify` does (--validate); NULL without the option, or on error. The prints
 * give an empty text and null for NULL. */
struct Validation;
const struct Validation *report_validate(Build *b, const char *model);
void validation_print(const struct Validation *v, Text *t);
void validation_json(const struct Validation *v, Text *t);
/* against.c: returns the JSON of --against; NULL without the option, or with a diagnostic. */
const char *against_read(Ctx *cx, const lw_options *o);
void against_print(const Build *b, const Footprint *f, const char *other, Text *t);    /* compares the totals */
#endif
