/* SPDX-License-Identifier: MIT */
/* on_terminal COMMAND...: runs the command with a terminal as standard error, and prints what stands in the terminal's
 * last line whenever a '\r' begins it again or the command ends, a line each. Status: the command's, or 2. */
#define _XOPEN_SOURCE 600
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 200 };
static char line[WIDTH + 1];
static int column;

static void print_line(void)
{
    int length = (int)strlen(line);
    while (length && line[length - 1] == ' ') length--;
    printf("[%.*s]\n", length, line);
}

static void put(char c)
{
    if (c == '\r') print_line();
    if (c == '\n') memset(line, 0, sizeof line);
    if (c == '\r' || c == '\n') column = 0;
    else if (column < WIDTH) line[column++] = c;
}

int main(int argc, char **argv)
{
    char bytes[4096];
    int status = 0;
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (argc < 2 || terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return 2;
    const char *name = ptsname(terminal);
    const int side = name ? open(name, O_RDWR | O_NOCTTY) : -1;
    const pid_t child = side < 0 ? -1 : fork();
    if (child < 0) return 2;
    if (child == 0) {
        dup2(side, 2);
        close(side);
        close(terminal);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    close(side);
    for (ssize_t n; (n = read(terminal, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++) put(bytes[i]);
    waitpid(child, &status, 0);
    print_line();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
