#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: six kernels as formula and schedule. A row for each: microseconds of the loops as written and of the
# schedule, the arena of both in bytes, and an expert version's time where its library is installed (Debian:
# libopenblas-dev, libfftw3-dev). Status 1 if a schedule changes a result beyond rounding.
. "$(dirname "$0")/../prepare.sh"
export OPENBLAS_NUM_THREADS=1
target=generic flags=
if grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null | grep -qw avx2; then target=x86-avx2 flags="-mavx2 -mfma"; fi
export OPENBLAS_CORETYPE=Haswell

awk -f "$here/fft.awk" > "$work/fft.te"
cp "$here"/*.te "$work"
cp "$root/samples/matmul/avx2.te" "$work/sgemm.te"

# built NAME FILE FLAG...: the time and the arena of the kernel, and of a peer with PEER.
built() {
    name=$1 file=$2
    shift 2
    mkdir -p "$work/$name"
    "$build/loopwright" "$file" --target "$target" --name k -o "$work/$name/k.c" 2> "$work/$name/said" || return 1
    # shellcheck disable=SC2086
    $cc -std=c99 -O3 -ffp-contract=off $flags -I"$root/runtime" -I"$work/$name" "$here/time.c" "$work/$name/k.c" "$@" \
        -lm -o "$work/$name/time" 2> "$work/$name/said" && "$work/$name/time"
}

# kernel NAME PEER FLAG...: a row of the table. PEER is `none` or the name of the library.
kernel() {
    name=$1 peer=$2
    shift 2
    sed '/^schedule/,$d' "$work/$name.te" > "$work/written.te"
    # A group's strategy is no part of this table: `schedule` without steps keeps the loops as written.
    grep -q '^nest' "$work/written.te" || printf 'schedule\n' >> "$work/written.te"
    written=$(built "$name-written" "$work/written.te") || { cat "$work/$name-written/said"; return 1; }
    if [ "$peer" != none ]; then
        found=$(built "$name" "$work/$name.te" -DPEER "$here/peers.c" "$@") || peer="$peer is not installed"
    fi
    case $peer in none | *installed) found=$(built "$name" "$work/$name.te") || return 1 ;; esac
    echo "$name|$written|$found|$peer" | awk -F'|' '{
        split($2, w, " "); split($3, s, " ")
        says = $4
        has = $4 != "none" && $4 !~ /installed/
        if (has) says = sprintf("%s: %.1f us, %d %% of its speed, difference %s", $4, s[2], 100 * s[2] / s[1], s[3])
        printf "%-10s %8.1f us %8.1f us %8d %8d bytes   %s\n", $1, w[1], s[1], w[4], s[4], says
        exit has && s[3] > 1e-4 }'
}

printf '%-10s %11s %11s %23s   %s\n' kernel "as written" scheduled "arena" expert
kernel sgemm OpenBLAS -DSGEMM -lopenblas
kernel conv3x3 none
kernel fft FFTW -DFFT -lfftw3f
kernel equalize none
kernel laplacian none
kernel solve OpenBLAS -DSOLVE -lopenblas
