#!/bin/sh
# SPDX-License-Identifier: MIT
# const.sh BUILD: what is const stays const. A cast by way of uintptr_t is how a compiler is kept from saying that it drops
# the qualifier; the type that owns an object is not const instead: Map holds either (map_put_const), tensor_zeros gives
# the elements that are to be written, and a rewriter's `user` points to a pointer to const.
set -u
. "$(dirname "$0")/report.sh"
begin "const.sh BUILD" "$@"

# An expression reads a tensor that is const to it; the compute node that is made of expressions owns what it reads.
allowed='emitter/ir/expr/tensor.c:    for (int i = 0; i < n->in_count; i++) n->in[i] = (Tensor *)(uintptr_t)reads[i];'

casts() {
    found=$(grep -r '\*) *(uintptr_t)' emitter ops schedules --include='*.[ch]' | grep -vF "$allowed")
    echo "$found"
    [ -z "$found" ]
}
check no-cast-drops-const casts
report_end
