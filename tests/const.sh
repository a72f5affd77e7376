#!/bin/sh
# SPDX-License-Identifier: MIT
# const.sh BUILD: no cast drops const. A cast through uintptr_t would hide it from the compiler. Instead the type that
# owns an object is not const: Map holds either (map_put_const), tensor_zeros returns writable elements, and a
# rewriter's `user` points to a pointer to const.
set -u
. "$(dirname "$0")/report.sh"
begin "const.sh BUILD" "$@"

# An expression reads a tensor through a const pointer; the compute node of the expressions owns the tensor.
allowed='emitter/ir/expr/tensor.c:    for (int i = 0; i < n->in_count; i++) n->in[i] = (Tensor *)(uintptr_t)reads[i];'

casts() {
    found=$(grep -r '\*) *(uintptr_t)' emitter ops schedules --include='*.[ch]' | grep -vF "$allowed")
    echo "$found"
    [ -z "$found" ]
}
check no-cast-drops-const casts
report_end
