#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: six kernels as formula and schedule. A row for each: microseconds of the loops as written and of the
# schedule, the arena of both in bytes, and an expert version's time where its library is installed (Debian:
# libopenblas-dev, libfftw3-dev, libdnnl-dev, libopencv-imgproc-dev; PyPI: halide). Status 1 if a schedule changes a
# result beyond rounding. CXX compiles what calls libraries in C++; PYTHON has the package halide.
. "$(dirname "$0")/../prepare.sh"
target=generic flags=
if grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null | grep -qw avx2; then target=x86-avx2 flags="-mavx2 -mfma"; fi
# The libraries have the same instructions, and one thread.
export OPENBLAS_CORETYPE=Haswell DNNL_MAX_CPU_ISA=AVX2 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

awk -f "$here/fft.awk" > "$work/fft.te"
cp "$here"/*.te "$work"
cp "$root/samples/matmul/avx2.te" "$work/sgemm.te"

# built NAME FILE FLAG...: the time and the arena of the kernel, and of a peer with -DPEER.
built() {
    at=$work/$1 file=$2
    shift 2
    mkdir -p "$at"
    "$build/loopwright" "$file" --target "$target" --name k -o "$at/k.c" 2> "$at/said" || return 1
    # shellcheck disable=SC2086
    $cc -std=c99 -O3 -ffp-contract=off $flags -I"$root/runtime" -I"$at" "$here/time.c" "$at/k.c" "$@" -lm \
        -o "$at/time" 2> "$at/said" && "$at/time"
}

# compiled NAME FLAG...: prints the object of peers.cc, compiled with the header of the kernel, which `written` wrote.
compiled() {
    from=$work/$1-written
    shift
    ${CXX:-c++} -O2 -I"$root/runtime" -I"$from" "$@" -c "$here/peers.cc" -o "$from/peers.o" 2> "$from/said"
    echo "$from/peers.o"
}

# kernel NAME PEER FLAG...: a row of the table, with the library PEER if the flags build its call.
kernel() {
    name=$1 peer=$2
    shift 2
    found=$(built "$name" "$work/$name.te" -DPEER "$@") || {
        set --
        found=$(built "$name" "$work/$name.te") || { cat "$work/$name/said"; return 1; }
    }
    echo "$written|$found|$peer|$#" | awk -F'|' -v name="$name" '{
        split($1, w, " "); split($2, s, " ")
        says = $4 ? sprintf("%s: %.1f us, %d %% of its speed, difference %s", $3, s[2], 100 * s[2] / s[1], s[3]) \
                  : $3 " is not installed"
        printf "%-10s %8.1f us %8.1f us %8d %8d bytes   %s\n", name, w[1], s[1], w[4], s[4], says
        exit $4 && s[3] > 1e-4 }'
}

# written NAME: times the loops as written. A group's strategy is no part of this table: `schedule` without steps keeps
# the loops.
written() {
    sed '/^schedule/,$d' "$work/$1.te" > "$work/written.te"
    grep -q '^nest' "$work/written.te" || echo schedule >> "$work/written.te"
    written=$(built "$1-written" "$work/written.te") || { cat "$work/$1-written/said"; return 1; }
}

printf '%-10s %11s %11s %23s   %s\n' kernel "as written" scheduled "arena" expert
written sgemm
kernel sgemm OpenBLAS -DSGEMM "$here/peers.c" -lopenblas
written conv3x3
kernel conv3x3 oneDNN "$(compiled conv3x3 -DCONV3X3)" -ldnnl -lstdc++
written fft
kernel fft FFTW -DFFT "$here/peers.c" -lfftw3f
written equalize
kernel equalize OpenCV "$(compiled equalize -DEQUALIZE -I/usr/include/opencv4)" -lopencv_imgproc -lopencv_core \
    -lstdc++
written laplacian
rm -f "$work"/laplacian_halide.*
halide=$("${PYTHON:-python3}" "$here/peers.py" "$work" 2> "$work/said") || halide=$work
kernel laplacian Halide -DLAPLACIAN -I"$work" -I"$halide" "$here/peers.c" "$work/laplacian_halide.o" -lpthread -ldl
written solve
kernel solve OpenBLAS -DSOLVE "$here/peers.c" -lopenblas
