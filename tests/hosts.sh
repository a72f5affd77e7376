#!/bin/sh
# SPDX-License-Identifier: MIT
# hosts.sh BUILD: the compiler on a big-endian host (s390x under qemu-user, built in BUILD/s390x) emits the bytes of
# this host, and what it emits computes the same there: the test bench, the checksums of --selftest, the interpreter.
# The suite determinism builds it for 32 bits. HOST=ppc64, mips or x87 selects another host (`make hosts` runs all):
# big-endian ones, and a 32-bit x86 whose compiler is asked for the wide registers of the x87.
set -u
. "$(dirname "$0")/report.sh"
begin "hosts.sh BUILD" "$@"
rm -rf "${work:?}"/*

host=${HOST:-s390x} is_big=1 cflags=-O0 floats= advice=
case $host in
s390x) cross=s390x-linux-gnu-gcc qemu=qemu-s390x floats=-fexcess-precision=fast advice=$floats ;;
ppc64) cross=powerpc64-linux-gnu-gcc qemu=qemu-ppc64 ;;
mips)  cross=mips-linux-gnu-gcc qemu=qemu-mips ;;
x87)   cross=i686-linux-gnu-gcc qemu=env is_big= cflags="-O0 -mfpmath=387" floats="-msse2 -mfpmath=sse"
    advice=$floats ;;
*)     echo "hosts.sh: HOST=$host is none of s390x, ppc64, mips, x87" >&2; exit 2 ;;
esac
why=$(missing $cross $qemu)
if [ "$why" ]; then
    skip hosts "$why"
    report_end
    exit
fi
digits=samples/digits/digits.onnx
setup build-there "${MAKE:-make}" CC=$cross CFLAGS="$cflags" LDFLAGS=-static BUILD="$build/$host" all
there="$qemu $build/$host/loopwright"

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
check same-bytes-from-another-host diff -r "$work/here" "$work/there"

# The emitted C on that machine. gcc computes floats as doubles there unless it is told otherwise.
is_refused() {
    ! $cross -std=c99 -c "$work/here/digits.c" -o "$work/digits.o" 2> "$work/said.txt" &&
        grep -e "compile with $advice" "$work/said.txt"
}
[ ! "$advice" ] || check wide-floats-are-refused is_refused
flags="-std=c99 -O1 -ffp-contract=off $floats -static"

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
check self-tests-pass-on-another-machine selftest

interpreted() {
    $there run $digits "$work/x.npy" > "$work/there.txt" && "$lw" run $digits "$work/x.npy" | cmp - "$work/there.txt"
}
check interpreter-on-another-host interpreted

apart() {
    ! $cross $flags -I"$work/here" -Iruntime -c "$work/here/digits_bin.c" -o "$work/bin.o" 2> "$work/said.txt" &&
        grep -q "the file of weights is little-endian" "$work/said.txt"
}
[ ! "$is_big" ] || check weights-apart-are-refused-on-a-big-endian-machine apart
report_end
