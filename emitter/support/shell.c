/* SPDX-License-Identifier: MIT */
/* Commands of the shell: see shell.h. system() of C ignores SIGINT in this process until the command ends, so a signal
 * for this process alone would be lost; with POSIX the process waits itself, and a handler of the caller runs. Without
 * SA_RESTART it ends waitpid, and is_ended decides. */
#if defined __unix__ || defined __APPLE__
#define _POSIX_C_SOURCE 200809L
#endif
#include "support/shell.h"

#include <stdlib.h>
#include <string.h>

#if defined __unix__ || defined __APPLE__
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A crash of the command is a failure like any other; shells report 128 and the signal's number. */
static bool is_signalled(int status)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WIFEXITED(status) ? WEXITSTATUS(status) - 128 : 0;
    return number == SIGINT || number == SIGTERM;
}

/* A command without operators takes the place of the shell, so that SIGTERM reaches it: not every shell does so. */
static const char *script_of(const char *command)
{
    const char *word = command + strspn(command, " ");
    const bool has_assignment = memchr(word, '=', strcspn(word, " ")) != NULL;
    const bool is_simple = !has_assignment && !command[strcspn(command, ";&|()$`{}!\n")];
    return is_simple ? "eval \"exec $1\"" : "eval \"$1\"";
}

Ending shell_run(const char *command, IsEnded *is_ended, const void *user)
{
    int status = 0;
    bool is_interrupted = false;
    const pid_t child = fork();
    if (child < 0) return SHELL_FAILED;
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", script_of(command), "sh", command, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return SHELL_FAILED;
        if (is_interrupted || !is_ended || !is_ended(user)) continue;
        is_interrupted = true;
        kill(child, SIGTERM);
    }
    if (is_interrupted || is_signalled(status)) return SHELL_INTERRUPTED;
    if (status == 0) return SHELL_DONE;
    return is_ended && is_ended(user) ? SHELL_INTERRUPTED : SHELL_FAILED;
}
#else
Ending shell_run(const char *command, IsEnded *is_ended, const void *user)
{
    if (system(command) == 0) return SHELL_DONE;
    return is_ended && is_ended(user) ? SHELL_INTERRUPTED : SHELL_FAILED;
}
#endif
