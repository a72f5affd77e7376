/* SPDX-License-Identifier: MIT */
/* Commands of the shell: see shell.h. system() of C ignores SIGINT in this process until the command ends, so a signal
 * sent only to this process would be lost; with POSIX the process waits itself, and a signal handler of the caller
 * runs. A handler without SA_RESTART interrupts waitpid, and is_ended decides. A command with a time limit is the
 * leader of a process group, which ends as a whole: a runner's emulator does not outlive it. */

/* Decision: commands of the shell end with the work. system() ignores SIGINT while it waits, so a signal for the
 * compiler's process alone was lost. `emitter/support/shell.c` forks and waits: a handler without SA_RESTART ends
 * the wait, the field `progress` decides whether the work ends, and the command gets SIGTERM. Without POSIX it is
 * system(). */
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
#include <time.h>
#include <unistd.h>

enum { STEP = 10, GRACE = 1000 };        /* times in milliseconds: between two looks, and from SIGTERM to SIGKILL */

/* Returns true if SIGINT or SIGTERM ended the command. A crash of the command is a failure like any other; shells
 * report 128 plus the signal's number. */
static bool is_signalled(int status)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WIFEXITED(status) ? WEXITSTATUS(status) - 128 : 0;
    return number == SIGINT || number == SIGTERM;
}

/* Returns the script that runs the command. A command without operators replaces the shell, so that SIGTERM reaches the
 * command; not every shell replaces itself on its own. */
static const char *script_of(const char *command)
{
    const char *word = command + strspn(command, " ");
    const bool has_assignment = memchr(word, '=', strcspn(word, " ")) != NULL;
    const bool is_simple = !has_assignment && !command[strcspn(command, ";&|()$`{}!\n")];
    return is_simple ? "eval \"exec $1\"" : "eval \"$1\"";
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits for a child until a point in time. Returns the value of waitpid, or 0 if the time is over. */
static pid_t wait_until(pid_t child, int *status, double end)
{
    for (;;) {
        const pid_t ended = waitpid(child, status, WNOHANG);
        if (ended != 0) return ended;
        if (now() >= end) return 0;
        if (nanosleep(&(struct timespec){ 0, STEP * 1000000 }, NULL) < 0) return -1;
    }
}

static void end_group(pid_t child)
{
    int status;
    kill(-child, SIGTERM);
    for (double end = now() + GRACE / 1000.0; wait_until(child, &status, end) < 0 && errno == EINTR;) continue;
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
}

bool shell_is_there(void) { return true; }

Ending shell_run(const char *command, double seconds, IsEnded *is_ended, const void *user)
{
    int status = 0;
    bool is_interrupted = false;
    const double end = now() + seconds;
    const pid_t child = fork();
    if (child < 0) return SHELL_FAILED;
    if (seconds > 0) setpgid(child, 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", script_of(command), "sh", command, (char *)NULL);
        _exit(127);
    }
    for (pid_t ended; (ended = seconds > 0 ? wait_until(child, &status, end) : waitpid(child, &status, 0)) <= 0;) {
        if (ended == 0) return end_group(child), is_interrupted ? SHELL_INTERRUPTED : SHELL_TIMED_OUT;
        if (errno != EINTR) return SHELL_FAILED;
        if (is_interrupted || !is_ended || !is_ended(user)) continue;
        is_interrupted = true;
        kill(seconds > 0 ? -child : child, SIGTERM);
    }
    if (is_interrupted || is_signalled(status)) return SHELL_INTERRUPTED;
    if (status == 0) return SHELL_DONE;
    return is_ended && is_ended(user) ? SHELL_INTERRUPTED : SHELL_FAILED;
}
#else
bool shell_is_there(void) { return system(NULL) != 0; }

Ending shell_run(const char *command, double seconds, IsEnded *is_ended, const void *user)
{
    (void)seconds;
    if (system(command) == 0) return SHELL_DONE;
    return is_ended && is_ended(user) ? SHELL_INTERRUPTED : SHELL_FAILED;
}
#endif
