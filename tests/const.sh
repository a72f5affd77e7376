#!/bin/sh
# SPDX-License-Identifier: MIT
# const.sh BUILD: no cast drops const. A cast through uintptr_t would hide it from the compiler. Instead the type that
# owns an object is not const: Map holds either (map_put_const), tensor_zeros returns writable elements, a tensor that
# an expression reads leads to the graph's own (self), and a rewriter's `user` points to a pointer to const. FFTW and
# Halide take pointers to elements that they only read.
set -u
. "$(dirname "$0")/report.sh"
begin "const.sh BUILD" "$@"

casts() {
    found=$(grep -rE '(\*|\* *const *\*)\) *\(uintptr_t\)' emitter ops schedules tests samples --include='*.[ch]' |
        grep -v '^samples/kernels/peers.c:')
    echo "$found"
    [ -z "$found" ]
}
check no-cast-drops-const casts
report_end
