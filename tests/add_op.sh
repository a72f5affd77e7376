#!/bin/sh
# SPDX-License-Identifier: MIT
# add_op.sh BUILD: adding an operator touches one file. The test adds one file to ops/ in a tree of links to this one.
# Then two files are compiled, and the operator is listed, imported, fused, scheduled, emitted and correct. Without the
# file, the next build has no such operator.
set -u
. "$(dirname "$0")/report.sh"
begin "add_op.sh BUILD" "$@"
rm -rf "$work"/*
mkdir -p "$work/tree/ops" "$work/build"

for name in Makefile emitter schedules runtime tests samples; do ln -s "$root/$name" "$work/tree/$name"; done
for file in ops/*; do ln -s "$root/$file" "$work/tree/$file"; done
cp -Rp "$build/obj" "$build/gen" "$work/build/"
# Without these: their dependence names the other folder.
for file in $(grep -rl '"builtin.h"' emitter); do rm "$work/build/obj/${file%.c}.o"; done
cat > "$work/tree/ops/probe.c" <<'END'
#include "graph/dag/op.h"

static const OpCase cases[] = { { "", "f32[2][3]", "f32[2][3]", NULL }, { 0 } };

const Op ops_probe[] = {
    { .name = "probe_cube", .summary = "y[*] = x[*] * x[*] * x[*]", .level = 10,
      .least_inputs = 1, .most_inputs = 1, .inputs = "x", .fusion.pattern = PATTERN_ELEMENTWISE,
      .meaning.formula = "y[*] = x[*] * x[*] * x[*]", .meaning.floats_only = true, .cases = cases },
    { 0 }
};
END
printf 'input x: f32[2][3]\ninput w: f32[3][4]\na = dense(x, w)\ny = probe_cube(a)\noutput y\n' > "$work/net.te"
lw=$work/build/loopwright

builds() {
    ${MAKE:-make} -C "$work/tree" BUILD="$work/build" > "$work/made.txt" 2>&1 || { cat "$work/made.txt"; return 1; }
}
compiled() { grep -c '^CC ' "$work/made.txt" | grep -qx 2; }
fused() {
    "$lw" dump "$work/net.te" --at fused | grep -q '^group .* around dense' &&
        "$lw" dump "$work/net.te" --at fused | grep -c '^group' | grep -qx 1
}
setup tree-with-one-more-file-builds builds
check two-files-are-compiled compiled
check operator-is-listed sh -c "'$lw' ops --level 10 | grep -q '^probe_cube .*y\[\*\] = x\[\*\] \* x\[\*\] \* x\[\*\]'"
check operator-is-fused fused
check operator-is-verified "$lw" verify "$work/net.te"
integers() {
    printf 'input x: i32[3]\ny = probe_cube(x)\noutput y\n' > "$work/bad.te"
    ! "$lw" dump "$work/bad.te" 2> "$work/said" &&
        grep -q 'probe_cube.*the input is i32; use a float type' "$work/said"
}
check integers-are-refused integers
rm "$work/tree/ops/probe.c"
check tree-builds-after-a-file-vanishes builds
check only-the-table-is-compiled-again sh -c "grep -c '^CC ' '$work/made.txt' | grep -qx 1"
check operator-of-a-vanished-file-is-not-listed sh -c "! '$lw' ops | grep -q '^probe_cube'"
report_end
