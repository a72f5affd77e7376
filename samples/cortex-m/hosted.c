/* SPDX-License-Identifier: MIT */
/* A program of the host on a bare Cortex-M: from reset to main(argc, argv), with the C library's files, standard output
 * and exit status by semihosting, so the test bench of `loopwright verify` runs unchanged on an emulator or under a
 * debugger that answers semihosting. Also counts instructions for --profile (hosted.h).
 *
 * Semihosting: BKPT 0xAB with an operation in r0 and the address of its arguments in r1 (Arm, "Semihosting for AArch32
 * and AArch64"). Files that the C library opens have their handle of semihosting plus FIRST_FILE as number. */
#include "hosted.h"

static void count_wrap(void);
#define SYSTICK_HANDLER count_wrap
#include "reset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { OPEN = 0x01, CLOSE = 0x02, WRITE = 0x05, READ = 0x06, SEEK = 0x0A, FLEN = 0x0C, COMMAND_LINE = 0x15,
       EXIT_EXTENDED = 0x20 };
enum { MODE_READ = 1, MODE_TRUNCATE = 5, MODE_OUTPUT = 4 };      /* of fopen: "rb", "wb", "w" */
enum { FIRST_FILE = 16, MOST_FILES = 64, MOST_ARGUMENTS = 32, LINE_BYTES = 4096 };
#define STOPPED_APPLICATION_EXIT 0x20026u

#ifndef SYSTICK_HZ
#error "SYSTICK_HZ: the clock of the emulated core"
#endif

extern uint32_t ram_end[];

int main(int argc, char **argv);
int _open(const char *path, int flags, ...);
int _close(int file);
int _read(int file, char *to, int bytes);
int _write(int file, const char *from, int bytes);
int _lseek(int file, int offset, int whence);
int _fstat(int file, struct stat *status);
int _isatty(int file);
void *_sbrk(ptrdiff_t bytes);
void _exit(int status);

static int semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (int)r0;
}

/* ---- Functions that the C library requires --------------------------------------------------------------------- */

static int open_in_mode(const char *path, uint32_t mode)
{
    const uint32_t argument[3] = { (uint32_t)path, mode, strlen(path) };
    return semihosting(OPEN, argument);
}

/* Semihosting seeks from the start of a file only and does not tell the position. */
static int position[MOST_FILES];

int _open(const char *path, int flags, ...)
{
    const int handle = open_in_mode(path, flags & (O_WRONLY | O_RDWR) ? MODE_TRUNCATE : MODE_READ);
    if (handle < 0 || handle >= MOST_FILES) {
        errno = handle < 0 ? ENOENT : ENFILE;
        return -1;
    }
    position[handle] = 0;
    return handle + FIRST_FILE;
}

/* Standard output and error are the emulator's console. */
static uint32_t handle_of(int file)
{
    static int console = -1;
    if (file >= FIRST_FILE) return (uint32_t)(file - FIRST_FILE);
    if (console < 0) console = open_in_mode(":tt", MODE_OUTPUT);
    return (uint32_t)console;
}

int _close(int file)
{
    const uint32_t argument[1] = { handle_of(file) };
    return file < FIRST_FILE ? 0 : semihosting(CLOSE, argument);
}

/* Reads or writes; returns the number of bytes that were. */
static int transfer(uint32_t operation, int file, uint32_t memory, int bytes)
{
    const uint32_t argument[3] = { handle_of(file), memory, (uint32_t)bytes };
    const int done = bytes - semihosting(operation, argument);
    if (file >= FIRST_FILE) position[file - FIRST_FILE] += done;
    return done;
}

int _read(int file, char *to, int bytes) { return file < FIRST_FILE ? 0 : transfer(READ, file, (uint32_t)to, bytes); }

int _write(int file, const char *from, int bytes) { return transfer(WRITE, file, (uint32_t)from, bytes); }

int _lseek(int file, int offset, int whence)
{
    if (file < FIRST_FILE) {
        errno = ESPIPE;
        return -1;
    }
    const uint32_t handle[1] = { handle_of(file) };
    int *at = &position[file - FIRST_FILE];
    const int to = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? *at : semihosting(FLEN, handle));
    const uint32_t argument[2] = { handle[0], (uint32_t)to };
    if (to < 0 || semihosting(SEEK, argument)) {
        errno = EINVAL;
        return -1;
    }
    return *at = to;
}

int _fstat(int file, struct stat *status)
{
    memset(status, 0, sizeof *status);
    status->st_mode = file < FIRST_FILE ? S_IFCHR : S_IFREG;
    return 0;
}

int _isatty(int file) { return file < FIRST_FILE; }

/* The heap is the memory after the variables. */
void *_sbrk(ptrdiff_t bytes)
{
    static char *top = (char *)bss_end;
    char *const begin = top;
    if (bytes > (char *)ram_end - top) {
        errno = ENOMEM;
        return (void *)-1;
    }
    top += bytes;
    return begin;
}

void _exit(int status)
{
    const uint32_t argument[2] = { STOPPED_APPLICATION_EXIT, (uint32_t)status };
    semihosting(EXIT_EXTENDED, argument);
    for (;;) {
    }
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_NOW     (*(volatile uint32_t *)0xE000E018u)
#define SYSTICK_MASK    0xFFFFFFu

#define INTERRUPT_STATE (*(volatile uint32_t *)0xE000ED04u)
#define SYSTICK_PENDING 0x4000000u

static volatile uint32_t wraps;

static void count_wrap(void) { wraps++; }

/* Under `-icount shift=0` an instruction takes a nanosecond; the timer counts these at SYSTICK_HZ, so its step is 6
 * instructions at 168 MHz and 40 at 25 MHz. Its interrupt counts wraps; if one falls between the reads of both, they
 * are read again. */
uint64_t hosted_instructions(void)
{
    uint32_t before, now;
    do {
        before = wraps;
        now = SYSTICK_MASK - SYSTICK_NOW;
    } while (before != wraps || (INTERRUPT_STATE & SYSTICK_PENDING));
    return (((uint64_t)before << 24) + now) * 1000u / (SYSTICK_HZ / 1000000u);
}

static void start_systick(void)
{
    SYSTICK_RELOAD = SYSTICK_MASK;
    SYSTICK_NOW = 0;
    SYSTICK_CONTROL = 7;      /* on, interrupt, the core's clock */
}

/* ---- From reset to main ---------------------------------------------------------------------------------------- */

/* Every fault ends the emulator with status 3. */
static void fault(void) { _exit(3); }

/* Splits the command line at spaces. */
static int arguments_of(char *line, char **argument)
{
    int count = 0;
    for (char *word = strtok(line, " "); word && count < MOST_ARGUMENTS; word = strtok(NULL, " "))
        argument[count++] = word;
    argument[count] = NULL;
    return count;
}

static int run_main(void)
{
    static char line[LINE_BYTES];
    static char *argument[MOST_ARGUMENTS + 1];
    const uint32_t block[2] = { (uint32_t)line, sizeof line };
    if (semihosting(COMMAND_LINE, block) != 0) return 4;
    return main(arguments_of(line, argument), argument);
}

void reset_handler(void)
{
    enable_core_features();
    initialize_variables();
    start_systick();
    extern void exit(int status);
    exit(run_main());
}
