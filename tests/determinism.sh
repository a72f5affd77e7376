#!/bin/sh
# SPDX-License-Identifier: MIT
# determinism.sh BUILD: the same input gives the same bytes. A list of models is emitted twice, from another folder and
# under another locale. Compilers built by clang with some optimisation, and by gcc without any, for 32 bits where that
# gcc is installed (in BUILD/clang, and BUILD/i686 or BUILD/gcc), emit the C of every model of the tests and of those
# beside the project.
set -u
. "$(dirname "$0")/report.sh"
begin "determinism.sh BUILD" "$@"
rm -rf "$work"/*

models="samples/digits/digits.onnx"
for file in samples/matmul/*.te ../shared/models/onnx/resnet8.onnx ../shared/models/onnx/mobilenet_v2_035.onnx; do
    [ -f "$file" ] && models="$models $file"
done

# emit_all PROGRAM FOLDER: writes the C of every model of the list, and its reports, to FOLDER; then of every other
# model the C, or the reason of its refusal.
emit_all() {
    emit_listed "$1" "$2" && emit_others "$1" "$2"
}
emit_listed() {
    mkdir -p "$2"
    for model in $models; do
        name=${model##*/}
        "$1" "$model" -o "$2/${name%.*}.c" --testbench || return 1
        "$1" dump "$model" --at scheduled > "$2/${name%.*}.scheduled" || return 1
        "$1" report "$model" > "$2/${name%.*}.report" || return 1
    done
}

emit_others() {
    find samples tests ../shared/models ../shared/cases -name '*.onnx' -o -name '*.tflite' -o -name '*.te' \
        2> /dev/null | LC_ALL=C sort > "$work/models.txt"
    while IFS= read -r model; do
        to=$2/$(echo "$model" | tr '/' '+').c
        "$1" "$model" -o "$to" --name m --quiet 2> "$to.txt" || [ $? -eq 1 ] || { echo "$model"; return 1; }
    done < "$work/models.txt"
    [ "$(ls "$2"/*+*.c | wc -l)" -ge 150 ]
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

# built_by NAME CC FLAGS [LINKER-FLAGS]: the compiler built by another compiler emits the same.
built_by() {
    if ! has "$2"; then
        skip "same-bytes-built-by-$1" "$2 is not installed"
        return
    fi
    setup "build-by-$1" "${MAKE:-make}" CC="$2" CFLAGS="$3" LDFLAGS="${4:-}" BUILD="$build/$1" all
    [ -x "$build/$1/loopwright" ] || return
    setup "emit-built-by-$1" emit_all "$build/$1/loopwright" "$work/$1"
    check "same-bytes-built-by-$1" same "$1"
}

setup emit-first emit_all "$build/loopwright" "$work/first"
setup emit-second emit_listed "$build/loopwright" "$work/second"
check same-bytes-twice same_files second
setup emit-elsewhere emit_elsewhere "$build/loopwright" "$work/elsewhere"
check same-bytes-elsewhere same_files elsewhere
built_by clang clang -O1
# Static, so it runs without 32-bit libraries. The Makefile adds the flags that keep floats out of the x87.
built_by i686 i686-linux-gnu-gcc -O0 -static
has i686-linux-gnu-gcc || built_by gcc gcc -O0

report_end
