/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SHELL_H
#define LW_SUPPORT_SHELL_H
/* Commands of the shell that end with the caller's work. */
#include <stdbool.h>

typedef enum Ending { SHELL_DONE, SHELL_FAILED, SHELL_INTERRUPTED, SHELL_TIMED_OUT } Ending;
typedef bool IsEnded(const void *user);      /* returns true if the caller ends its work */

bool shell_is_there(void);                   /* returns false where no command can run, as in a browser */
/* Waits for a command. SHELL_FAILED means that its status is not 0. SHELL_INTERRUPTED means that SIGINT or SIGTERM
 * ended it, or that a signal reached this process and is_ended returned true; the command then gets SIGTERM.
 * SHELL_TIMED_OUT means that it took more than `seconds` and was ended with all processes that it had started. is_ended
 * may be NULL; a limit of 0 seconds is none. Without POSIX, there is no limit. */
Ending shell_run(const char *command, double seconds, IsEnded *is_ended, const void *user);
#endif
