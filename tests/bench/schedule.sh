#!/bin/sh
# SPDX-License-Identifier: MIT
# schedule.sh BUILD: the time of scheduling and emitting a nest with 60 steps and more, each of them proved: three
# convolutions and a pooling, combined, printed as a block and compiled from that. The least of nine runs.
set -eu
lw=$(cd "${1:?usage: schedule.sh BUILD}" && pwd)/loopwright
work=$1/bench-schedule
mkdir -p "$work"
cat > "$work/model.te" <<'END'
input x: f32[1][34][34][16]
input k: f32[3][3][16][16]
input k2: f32[3][3][16][16]
input k3: f32[3][3][16][16]
zero = conv2d(x, k)
first = conv2d(zero, k2)
conv = conv2d(first, k3)
act = relu(conv)
y = max_pool2d(act, kernel=3,3, stride=2,2)
output y
END
"$lw" dump "$work/model.te" --at scheduled --combine all --target cortex-m4 > "$work/steps.txt"
least=$(for run in 1 2 3 4 5 6 7 8 9; do
    "$lw" "$work/model.te" --schedule "$work/steps.txt" --combine none -o "$work/net.c" --target cortex-m4 \
        --time-passes 2>&1 |
        sed -n 's/^note: *\([0-9.]*\) ms  total$/\1/p'
done | sort -n | head -n 1)
echo "$(grep -c '^  [a-z]' "$work/steps.txt") steps, each proved, scheduled and emitted in $least ms"
