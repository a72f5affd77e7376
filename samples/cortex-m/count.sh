#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# count.sh CPU PROGRAM IN.npy... OUT.npy...: a runner for `loopwright tune` and `verify`. PROGRAM,
# built for this machine, computes the outputs; model.c beside it is built for CPU (-O3, or
# CFLAGS_TARGET) and runs in QEMU on the same inputs, where the outputs have to be the same
# (tests/cross/run.sh). Prints `instructions N`.
set -euo pipefail

[ $# -ge 3 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
cpu=$1
program=$2
shift 2
inputs=() outputs=()
for file in "$@"; do
    case ${file##*/} in
    in*) inputs+=("$file") ;;
    *) outputs+=("$file") ;;
    esac
done
"$program" "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$(dirname "$program")"/model.[ch] "$work"
name=$(sed -n 's/^int \([A-Za-z0-9_]*\)_run(.*/\1/p' "$work/model.h")
cp "$work/model.c" "$work/$name.c"
cp "$work/model.h" "$work/$name.h"
"$(dirname "$0")/../../tests/cross/run.sh" "$cpu" "$work" "$name" "${inputs[@]}" -- "${outputs[@]}" |
    grep '^instructions'
