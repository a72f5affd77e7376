/* SPDX-License-Identifier: MIT */
/* Starts the threads of samples/cores before main(), which is the emitted test program's. */
#include "../../samples/cores/fork.h"

static void __attribute__((constructor)) start(void) { cores_start(); }
