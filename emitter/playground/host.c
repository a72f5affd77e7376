/* SPDX-License-Identifier: MIT */
/* Two functions that WebAssembly lacks: system, which here runs no command, and setjmp. Clang replaces a call of setjmp
 * by saveSetjmp, and longjmp by emscripten_longjmp. After each call in a function that has called setjmp, the function
 * reads __THREW__ and asks testSetjmp whether the jump is for it. */

/* Decision: in a browser, files are in memory, below the compiler. The compiler reads and writes files in one place
 * (emitter/support/file.c), and a model, its weights, samples and files that options name all come from paths. So the
 * host provides a file system instead of the API providing a sink for outputs: inputs need one anyway, the C has no
 * second way to write, and `package`, which creates folders, works as on any system. */
#include <stdint.h>
#include <stdlib.h>

int system(const char *command)
{
    return command ? -1 : 0;
}

/* A function's table: the jump buffers that it has set, and for each the place at which the function continues. Clang
 * allocates five rows and passes 4 as their number; the row after the last one has no number. */
typedef struct Place { uintptr_t number; uint32_t label; } Place;

uintptr_t __THREW__;             /* the buffer of a jump that is under way */
int __threwValue;
static uint32_t second_result;
static uintptr_t buffers;

void setTempRet0(uint32_t value) { second_result = value; }
uint32_t getTempRet0(void) { return second_result; }

Place *saveSetjmp(uintptr_t *buffer, uint32_t label, Place *table, uint32_t size)
{
    uint32_t i = 0;
    while (i < size && table[i].number && table[i].label != label) i++;
    if (i == size) abort();
    if (!table[i].number) table[i + 1].number = 0;
    table[i] = (Place){ *buffer = ++buffers, label };
    setTempRet0(size);
    return table;
}

uint32_t testSetjmp(uintptr_t number, const Place *table, uint32_t size)
{
    for (uint32_t i = 0; i < size && table[i].number; i++)
        if (table[i].number == number) return table[i].label;
    return 0;
}

_Noreturn void throw_jump(void) __attribute__((__import_module__("host"), __import_name__("throw_jump")));

_Noreturn void emscripten_longjmp(uintptr_t buffer, int value)
{
    __THREW__ = buffer;
    __threwValue = value;
    throw_jump();
}
