/* SPDX-License-Identifier: MIT */
#ifndef LW_PLAYGROUND_SETJMP_H
#define LW_PLAYGROUND_SETJMP_H
/* setjmp of WebAssembly, which wasi-libc lacks. With -enable-emscripten-sjlj, clang routes the calls of a function that
 * calls setjmp through the host, which catches a jump as an exception: see host.c and compiler.js. */
typedef unsigned long jmp_buf[1];
int setjmp(jmp_buf) __attribute__((__returns_twice__));
void longjmp(jmp_buf, int) __attribute__((__noreturn__));
#endif
