/* SPDX-License-Identifier: MIT */
/* Runs command lines of the compiler in one process, each with a fresh context: tests/soak compiles thousands of small
 * models.
 *
 *     worker LOG
 *
 * A line on standard input is the words of a command line, separated by tabs; words `NAME=VALUE` before the first one
 * without `=` are the environment of this line. The answer is a line with the status. LOG holds standard error of the
 * last line, or the sanitizer's report if the process ended. A command line that takes more than a minute of the
 * processor's time, or a gigabyte, ends the process. */
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/fuzz/fresh.h"

static Ctx *fresh(void);
static void keep(Ctx *cx);
#define main command_line
#define lw_new fresh
#define lw_free keep
#include "../../emitter/main.c"
#undef main

enum { MOST_WORDS = 64, MOST_ENVIRONMENT = 8, SECONDS = 60, MOST_BYTES = 1 << 30 };

static Ctx *fresh(void) { return fresh_context(); }

/* Its memory serves the next command line. An allocation that only a fault of the compiler takes is one, too. */
static void keep(Ctx *cx)
{
    if (arena_used(cx->arena) <= MOST_BYTES) return;
    fprintf(stderr, "internal error: %lld bytes were taken\n", (long long)arena_used(cx->arena));
    abort();
}

static void limit_time(int seconds)
{
    const struct itimerval left = { .it_value = { .tv_sec = seconds } };
    setitimer(ITIMER_VIRTUAL, &left, NULL);
}

static int split_words(char *line, char **word)
{
    int count = 0;
    for (char *at = strtok(line, "\t\n"); at && count < MOST_WORDS - 1; at = strtok(NULL, "\t\n")) word[count++] = at;
    word[count] = NULL;
    return count;
}

static int run_words(char **word, int count)
{
    char *name[MOST_ENVIRONMENT];
    int named = 0;
    while (named < count && named < MOST_ENVIRONMENT && strchr(word[named], '=')) {
        name[named] = word[named];
        putenv(word[named++]);
    }
    limit_time(SECONDS);
    char *program = "loopwright", *argv[MOST_WORDS + 1] = { program };
    memcpy(argv + 1, word + named, (size_t)(count - named + 1) * sizeof *argv);
    const int status = command_line(count - named + 1, argv);
    limit_time(0);
    while (named > 0) {
        *strchr(name[--named], '=') = 0;
        unsetenv(name[named]);
    }
    return status;
}

int main(int argc, char **argv)
{
    static char line[1 << 16];
    char *word[MOST_WORDS];
    if (argc != 2 || !freopen(argv[1], "a", stderr)) return 2;
    while (fgets(line, sizeof line, stdin)) {
        if (ftruncate(STDERR_FILENO, 0) != 0) return 2;
        const int status = run_words(word, split_words(line, word));
        fflush(stderr);
        printf("%d\n", status);
        fflush(stdout);
    }
    return 0;
}
