/* SPDX-License-Identifier: 0BSD */
/* The fork of models that were emitted with --cores. Compile the model with `-include fork.h`, and link one of the .c
 * files beside it. */
#ifndef CORES_FORK_H
#define CORES_FORK_H

typedef void cores_part(void *argument, int part);

/* Starts the other cores or threads; call it once, before the first run. */
void cores_start(void);
/* Calls function(argument, part) for each part on the cores, and returns when all calls have returned. */
void cores_fork(int parts, cores_part *function, void *argument);

#define LW_FORK(parts, function, argument) cores_fork((parts), (function), (argument))
#endif
