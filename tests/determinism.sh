#!/bin/sh
# SPDX-License-Identifier: MIT
# determinism.sh BUILD: the same input gives the same bytes: run twice, from another folder and under another locale;
# and by compilers built by gcc without optimisation and by clang with some (in BUILD/gcc and BUILD/clang).
set -u
. "$(dirname "$0")/report.sh"
begin "determinism.sh BUILD" "$@"
rm -rf "$work"/*

models="samples/digits/digits.onnx"
for file in samples/matmul/*.te ../shared/models/onnx/resnet8.onnx ../shared/models/onnx/mobilenet_v2_035.onnx; do
    [ -f "$file" ] && models="$models $file"
done

# emit_all PROGRAM FOLDER: writes the C of every model, and its diagnostics, to FOLDER.
emit_all() {
    mkdir -p "$2"
    for model in $models; do
        name=${model##*/}
        "$1" "$model" -o "$2/${name%.*}.c" --testbench || return 1
        "$1" dump "$model" --at scheduled > "$2/${name%.*}.scheduled" || return 1
        "$1" report "$model" > "$2/${name%.*}.report" || return 1
    done
}

# The models by absolute paths, from the output folder.
emit_elsewhere() {
    mkdir -p "$2"
    for model in $models; do
        name=${model##*/}
        (cd "$2" && LC_ALL=tr_TR.UTF-8 TZ=Asia/Tokyo "$1" "$root/$model" -o "${name%.*}.c" --testbench) || return 1
    done
}

same() { diff -r "$work/first" "$work/$1"; }
same_files() { for file in "$work/$1"/*; do cmp "$file" "$work/first/${file##*/}" || return 1; done; }

# built_by CC FLAGS: the compiler built by another compiler emits the same.
built_by() {
    if ! has "$1"; then
        skip "same-bytes-built-by-$1" "$1 is not installed"
        return
    fi
    setup "build-by-$1" "${MAKE:-make}" CC="$1" CFLAGS="$2" BUILD="$build/$1" all
    [ -x "$build/$1/loopwright" ] || return
    setup "emit-built-by-$1" emit_all "$build/$1/loopwright" "$work/$1"
    check "same-bytes-built-by-$1" same "$1"
}

setup emit-first emit_all "$build/loopwright" "$work/first"
setup emit-second emit_all "$build/loopwright" "$work/second"
check same-bytes-twice same second
setup emit-elsewhere emit_elsewhere "$build/loopwright" "$work/elsewhere"
check same-bytes-elsewhere same_files elsewhere
built_by gcc -O0
built_by clang -O1

report_end
