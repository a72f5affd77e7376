#!/bin/sh
# SPDX-License-Identifier: MIT
# hosts.sh BUILD: the compiler on a big-endian host (s390x under qemu-user, built in BUILD/s390x) emits the bytes of
# this host, and what it emits computes the same there: the test bench, the checksums of --selftest, the interpreter.
# The suite determinism builds it for 32 bits.
set -u
. "$(dirname "$0")/report.sh"
begin "hosts.sh BUILD" "$@"
rm -rf "${work:?}"/*

cross=s390x-linux-gnu-gcc qemu=qemu-s390x
why=$(missing $cross $qemu)
if [ "$why" ]; then
    skip hosts "$why"
    report_end
    exit
fi
digits=samples/digits/digits.onnx
setup build-big-endian "${MAKE:-make}" CC=$cross CFLAGS=-O0 LDFLAGS=-static BUILD="$build/s390x" all
there="$qemu $build/s390x/loopwright"

# A float network, integers, 16-bit tensors, and constants of all widths.
models="$digits tests/fuzz/corpus-tflite/conv-int8.tflite tests/names/hostile.onnx tests/models/boxes.onnx"
# emit COMPILER FOLDER: the C of each model with a recorded input and its sums.
emit() {
    mkdir -p "$work/$2"
    for model in $models; do
        name=$(basename "$model" | tr - _)
        name=${name%.*}
        $1 "$model" -o "$work/$2/$name.c" --name "$name" --testbench --selftest random --standalone || return 1
        $1 "$model" -o "$work/$2/${name}_bin.c" --name "$name" --weights bin || return 1
    done
}
setup emit-here emit "$lw" here
setup emit-there emit "$there" there
check same-bytes-from-a-big-endian-host diff -r "$work/here" "$work/there"

# The emitted C on that machine. gcc computes floats as doubles there unless it is told otherwise.
is_refused() {
    ! $cross -std=c99 -c "$work/here/digits.c" -o "$work/digits.o" 2> "$work/said.txt" &&
        grep "compile with -fexcess-precision=fast" "$work/said.txt"
}
check wide-floats-are-refused is_refused
flags="-std=c99 -O1 -ffp-contract=off -fexcess-precision=fast -static"

runs() {
    for network in digits conv_int8; do
        $cross $flags "$work/here/$network.c" "$work/here/${network}_main.c" -o "$work/$network.there" -lm &&
            $cc -std=c99 -O1 -ffp-contract=off "$work/here/$network.c" "$work/here/${network}_main.c" \
                -o "$work/$network.here" -lm || return 1
    done
    "$work/digits.here" "$work/x.npy" "$work/digits.a.npy" && $qemu "$work/digits.there" "$work/x.npy" \
        "$work/digits.b.npy" && cmp "$work/digits.a.npy" "$work/digits.b.npy"
}
# 64 floats from 0 to 15.75, the bytes of a .npy file.
{
    header="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    for high in 00 3e 3f 40 40 40 41 41; do
        for low in 80 90 a0 b0 c0 d0 e0 f0; do
            printf '\000\000'
            printf "\\$(printf %03o 0x$low)\\$(printf %03o 0x$high)"
        done
    done
} > "$work/x.npy"
check test-bench-reads-and-writes-little-endian-files runs

selftest() {
    for name in digits conv_int8 hostile; do
        tests/tools/selftest_main.sh "$name" > "$work/here/${name}_test.c"
        $cross $flags -I"$work/here" "$work/here/${name}_test.c" "$work/here/$name.c" -o "$work/test" -lm &&
            $qemu "$work/test" || { echo "$name: status $?"; return 1; }
    done
}
check self-tests-pass-on-a-big-endian-machine selftest

interpreted() {
    $there run $digits "$work/x.npy" > "$work/there.txt" && "$lw" run $digits "$work/x.npy" | cmp - "$work/there.txt"
}
check interpreter-on-a-big-endian-host interpreted

apart() {
    ! $cross $flags -I"$work/here" -Iruntime -c "$work/here/digits_bin.c" -o "$work/bin.o" 2> "$work/said.txt" &&
        grep -q "the file of weights is little-endian" "$work/said.txt"
}
check weights-apart-are-refused-on-a-big-endian-machine apart
report_end
