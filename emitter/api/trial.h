/* SPDX-License-Identifier: MIT */
#ifndef LW_API_TRIAL_H
#define LW_API_TRIAL_H
/* Builds the emitted C in a scratch folder and runs it on .npy files, on the host or with a runner. */
#include "driver/driver.h"
#include "support/shell.h"
#include "support/text.h"

/* The scratch folder, and a buffer for the path of a file in it, because removing the folder must not allocate. */
typedef struct Folder { const char *path; char *file; size_t capacity; int input_count; } Folder;

Folder *trial_folder(Ctx *cx, int input_count);      /* creates the folder; returns NULL on error */
void trial_remove(void *folder);

void trial_quote(Text *t, const char *path);         /* adds a space and the path, quoted as one word of the shell */
/* runs the command, which `progress` of the options may end */
Ending trial_command(const lw_options *o, const char *command);
const char *trial_compiler(const lw_options *o);     /* returns --cc, $CC or cc */
const char *trial_flags(const lw_options *o);            /* returns -O2, unless the compiler's words have a level */
/* Adds the target's flags to the compiler of the options if the compiler accepts them and the machine (or the machine
 * behind the runner) has the instructions. Does not change a compiler command that has options beginning with -m.
 * Returns true if programs use the instructions, false if they use the portable form. */
bool trial_instructions(Ctx *cx, const Folder *folder, const Target *t, lw_options *o);
bool trial_build(Ctx *cx, const char *folder, const lw_options *o);
/* Runs a program that reads the file `in` of the folder and writes `out`. */
bool trial_run_all(Ctx *cx, const char *folder, const lw_options *o);
/* Runs the program; `sizes` are its arguments, such as " n=4". The lines `instructions N`, `cycles N` and `ns N` that
 * the runner prints are added to `said`; with --profile, the counts of layers are also added. */
bool trial_run(Build *b, const char *folder, const char *sizes, const void *const *inputs, int runs, Text *said);
/* Returns the output with the shape that the program gave it, or NULL on error. */
const Tensor *trial_shape(Ctx *cx, const char *folder, int number, const Tensor *out);
/* the data of the output, or NULL on error */
const void *trial_output(Ctx *cx, const char *folder, int number, const Tensor *out);
#endif
