/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SHELL_H
#define LW_SUPPORT_SHELL_H
/* Commands of the shell that end with the caller's work. */
#include <stdbool.h>

typedef enum Ending { SHELL_DONE, SHELL_FAILED, SHELL_INTERRUPTED, SHELL_TIMED_OUT } Ending;
typedef bool IsEnded(const void *user);      /* true: the caller ends its work */

/* Waits for a command. SHELL_FAILED: its status is not 0. SHELL_INTERRUPTED: SIGINT or SIGTERM ended it, or a signal
 * reached this process and is_ended is true: the command gets SIGTERM. is_ended may be NULL. SHELL_TIMED_OUT: it took
 * more than `seconds`, and was ended with all that it had started; 0: no limit. Without POSIX there is none. */
Ending shell_run(const char *command, double seconds, IsEnded *is_ended, const void *user);
#endif
