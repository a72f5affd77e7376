/* SPDX-License-Identifier: MIT */
/* Prints usage and help from the tables of commands and options. */
#include "command/command.h"

static const char *const status_rule =
    "exit status: 0 done; 1 the input was refused: a diagnostic on stderr gives place and reason;\n"
    "             2 wrong usage: a command, option, value or target that is wrong for every model;\n"
    "             130 interrupted by SIGINT (143: by SIGTERM); no output file is written\n";

static int count_commands(unsigned of)
{
    int count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++) count += (commands[i].bit & of) != 0;
    return count;
}

void print_commands(FILE *f, unsigned of)
{
    int left = count_commands(of);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].bit & of) fprintf(f, "%s%s", commands[i].name, --left == 0 ? "" : left == 1 ? " and " : ", ");
}

static void print_heading(unsigned of)
{
    printf("\noptions of ");
    if (of == ANY) printf("every command");
    else if (of == MODEL) printf("every command that reads a model");
    else if (count_commands(ANY & ~of) < 3) {
        printf("every command but ");
        print_commands(stdout, ANY & ~of);
    } else print_commands(stdout, of);
    printf(":\n");
}

static void print_option(const Option *o)
{
    char name[32], left[64];
    if (o->letter && o->name[1] == '-') snprintf(name, sizeof name, "-%c, %s", o->letter, o->name);
    else snprintf(name, sizeof name, "%s", o->name);
    snprintf(left, sizeof left, "%-14s %s", name, o->value ? o->value : "");
    printf("  %-34s %s\n", left, o->what);
}

void print_help(const Command *only)
{
    unsigned of = 0;
    if (!only) printf("Loopwright compiles trained networks and tensor expressions to plain C99.\n\n");
    printf("usage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!only || only == &commands[i])
            printf("  loopwright %-8s %-33s %s\n", i ? commands[i].name : "", commands[i].usage, commands[i].what);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (only && !(options[i].of & only->bit)) continue;
        if (only ? of == 0 : of != options[i].of) {
            if (only) printf("\noptions:\n");
            else print_heading(options[i].of);
        }
        of = options[i].of;
        print_option(&options[i]);
    }
    printf("\nAn option's value is the next word, or follows `=`: --target T, --target=T; -oFILE is -o FILE.\n%s",
            status_rule);
}
