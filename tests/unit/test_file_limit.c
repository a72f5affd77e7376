/* SPDX-License-Identifier: MIT */
/* A caller of the library with a limit on the size of files, and the default action of SIGXFSZ, which ends the process:
 * lw_compile fails with the reason and leaves no file. */
#define _DEFAULT_SOURCE      /* fork, setrlimit */
#include "check.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loopwright.h"

enum { LIMIT = 4096, GIVES_REASON = 7, OTHERWISE = 8 };
static char output[300], header[300], part[320];

/* In a child process: compiles under the limit. */
static int compile(void)
{
    const struct rlimit limit = { LIMIT, LIMIT };
    const lw_options options = { .name = "m" };
    bool gives_reason = false, is_error;
    const char *text;
    signal(SIGXFSZ, SIG_DFL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return OTHERWISE;
    lw_context *cx = lw_new();
    const bool done = lw_compile(cx, "samples/digits/digits.onnx", output, &options);
    for (int i = 0; (text = lw_diagnostic(cx, i, &is_error)) != NULL; i++)
        gives_reason = gives_reason || (is_error && strstr(text, "cannot write"));
    lw_free(cx);
    return !done && gives_reason ? GIVES_REASON : OTHERWISE;
}

int main(int argc, char **argv)
{
    (void)argc;
    snprintf(output, sizeof output, "%s_out.c", argv[0]);
    snprintf(header, sizeof header, "%s_out.h", argv[0]);
    snprintf(part, sizeof part, "%s.part", output);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) _exit(compile());
    int status = 0;
    waitpid(child, &status, 0);
    CHECK("a write beyond the limit of the process fails with a reason",
          WIFEXITED(status) && WEXITSTATUS(status) == GIVES_REASON);
    CHECK("a write beyond the limit leaves no file",
          access(output, F_OK) != 0 && access(header, F_OK) != 0 && access(part, F_OK) != 0);
    return check_done();
}
