#!/bin/sh
# SPDX-License-Identifier: MIT
# guards.sh BUILD: builds of emitted C that would compute something else are refused by the C compiler, in our words:
# the header of another run, flags that change floats, two models in one translation unit. Each refusal stands beside
# the nearest build that is accepted.
set -u
. "$(dirname "$0")/report.sh"
begin "guards.sh BUILD" "$@"
rm -rf "${work:?}"/*

digits=samples/digits/digits.onnx int8=tests/fuzz/corpus-tflite/conv-int8.tflite
emit() { "$lw" "$1" -o "$work/$2.c" --name "$2" $3; }

# refused WORDS COMMAND...: the command fails and its messages hold these words.
refused() {
    refused_words=$1
    shift
    if "$@" > "$work/said.txt" 2>&1; then echo "accepted: $*"; return 1; fi
    grep -qF -e "$refused_words" "$work/said.txt" || { cat "$work/said.txt"; return 1; }
}

# ---- The header of another run ---------------------------------------------------------------------------------------

other="the header is from another run of Loopwright"
mkdir -p "$work/fast" "$work/small"
two_runs() {
    for run in "fast --optimize speed" "small --ram 6312"; do
        # shellcheck disable=SC2086
        "$lw" $digits --name kws -o "$work/${run%% *}/kws.c" ${run#* } --cpp --testbench || return 1
    done
}
setup two-runs two_runs
with() { $cc -std=c99 -Iruntime -I"$work/$1" -fsyntax-only "$2"; }
pairs() { with fast "$work/fast/kws.c" && with fast "$work/fast/kws_main.c"; }
check header-of-the-run-is-accepted pairs
for file in kws.c kws_main.c kws.hpp; do
    cp "$work/small/$file" "$work/alone-$file"
    # A quoted #include finds the header beside its file first.
    case $file in *.hpp) language=c++ ;; *) language=c ;; esac
    check "header-of-another-run-is-refused-$file" refused "$other" \
        $cc -x $language -Iruntime -I"$work/fast" -fsyntax-only "$work/alone-$file"
done

# Two processes write one output: what stays is of one of them, and nothing else is left in the folder.
race() {
    mkdir -p "$work/race"
    for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        "$lw" $digits --name kws -o "$work/race/kws.c" --optimize speed --quiet &
        "$lw" $digits --name kws -o "$work/race/kws.c" --ram 6312 --quiet
        wait
        header=$(sed -n 's/.*define KWS_HEADER_HASH *\(0x[0-9a-f]*\).*/\1/p' "$work/race/kws.h")
        grep -q "HEADER_HASH != $header" "$work/race/kws.c" || { echo "round $round: a mixed pair"; return 1; }
    done
    [ "$(ls -A "$work/race" | wc -l)" -eq 2 ] || { ls -A "$work/race"; return 1; }
}
check two-processes-leave-no-mixed-pair race

# Equal interfaces have equal digests, whatever the file.
same_digest() {
    sed 's/^#.*//' tests/golden/in-place/in-place.te > "$work/copy.te" && emit "$work/copy.te" one "" &&
        emit tests/golden/in-place/in-place.te two "" && sed 's/two/one/g; s/TWO/ONE/g' "$work/two.h" > "$work/sed.h" &&
        emit tests/golden/in-place/in-place.te one "" && cp "$work/one.c" "$work/of-file.c" &&
        emit "$work/copy.te" one "" && sed 1d "$work/one.c" > "$work/a" && sed 1d "$work/of-file.c" | cmp - "$work/a"
}
check digest-is-of-the-interface same_digest

# ---- Flags that change floats ----------------------------------------------------------------------------------------

setup emit-floats   emit $digits floats ""
setup emit-apart    emit $digits apart --standalone
setup emit-integers emit $int8 integers ""

# has_flag COMPILER FLAG: the compiler takes the flag.
has_flag() { echo 'int x;' | $1 $2 -x c -c - -o "$work/flag.o" > "$work/flag.txt" 2>&1; }

# flag COMPILER FLAGS WORDS HELP: floats are refused under these flags in these words, integers not; HELP mends it.
flag() {
    flag_name="$1-$(echo "$2" | tr -d '\n' | tr -c 'a-z0-9-' _)"
    if ! has "$1"; then skip "refused-$flag_name" "$1 is not installed"; return; fi
    if ! has_flag "$1" "$2"; then skip "refused-$flag_name" "$1 does not know $2"; return; fi
    # shellcheck disable=SC2086
    for file in floats apart; do
        check "refused-$file-$flag_name" refused "$3" $1 -std=c99 $2 -Iruntime -c "$work/$file.c" -o "$work/flag.o"
    done
    # shellcheck disable=SC2086
    check "accepted-integers-$flag_name" $1 -std=c99 $2 -Iruntime -c "$work/integers.c" -o "$work/flag.o"
    # shellcheck disable=SC2086
    check "mended-$flag_name" $1 -std=c99 $2 $4 -Iruntime -c "$work/floats.c" -o "$work/flag.o"
}
for compiler in gcc clang; do
    flag $compiler -ffast-math "compile with -fno-fast-math" -fno-fast-math
    flag $compiler -Ofast "compile with -fno-fast-math" -fno-fast-math
    flag $compiler -ffinite-math-only "compile with -fno-finite-math-only" -fno-finite-math-only
done
flag gcc -funsafe-math-optimizations "compile with -fno-unsafe-math-optimizations" -fno-unsafe-math-optimizations
flag gcc -freciprocal-math "compile with -fno-reciprocal-math" -fno-reciprocal-math
flag gcc -fno-signed-zeros "compile with -fsigned-zeros" -fsigned-zeros
flag gcc "-ffast-math -fno-finite-math-only" "compile with -fno-unsafe-math-optimizations" -fno-fast-math
case $(uname -m) in
x86_64) flag gcc -mfpmath=387 "compile with -msse2 -mfpmath=sse" "-msse2 -mfpmath=sse" ;;
esac
for part in -funsafe-math-optimizations -freciprocal-math -fno-signed-zeros \
    "-fassociative-math -fno-signed-zeros -fno-trapping-math"; do
    flag clang "$part" "compile with -fno-fast-math" -fno-fast-math
done
# These change no value.
harmless() { $cc -std=c99 -fno-math-errno -fno-trapping-math -Iruntime -c "$work/floats.c" -o "$work/flag.o"; }
check accepted-flags-that-change-nothing harmless

# The functions of the header between real numbers and integers; a file that does not call them is not concerned.
calls() {
    printf '#include "integers.h"\nint8_t f(float x);\nint8_t f(float x) { return %s; }\n' "$1" > "$work/calls.c"
    shift
    $cc -std=c99 -I"$work" "$@" -c "$work/calls.c" -o "$work/calls.o"
}
check conversion-is-accepted             calls "integers_quantize_x(x)"
check conversion-is-refused-fast-math    refused integers_needs_the_flag_fno_fast_math \
    calls "integers_quantize_x(x)" -ffast-math
check other-files-are-accepted-fast-math calls "(int8_t)x" -ffast-math

# ---- Two models in one translation unit ------------------------------------------------------------------------------

# unit FILE...: compiles one file that includes these.
unit() {
    printf '#include "%s"\n' "$@" > "$work/unit.c"
    $cc -std=c99 -pedantic -Wall -Wextra -Werror -Iruntime -I"$work" -c "$work/unit.c" -o "$work/unit.o"
}
two_apart() { emit $digits first "--standalone" && emit $int8 second "--standalone"; }
setup emit-two-apart two_apart
# A unit begins with either; each has pieces that the other lacks.
check unit-of-two-standalone  unit first.c second.c
check unit-of-two-reversed    unit second.c first.c
two_profiles() {
    emit $int8 counted "--standalone --profile" && unit counted.c first.c &&
        $cc -E -Iruntime -I"$work" "$work/unit.c" > "$work/unit.i" &&
        ! sed -n '/^int first_run/,/^}/p' "$work/unit.i" | grep counted_
}
check unit-counts-the-layers-of-its-own two_profiles
# The counts are global, so the header must not call NAME_run reentrant.
check counts-are-not-called-reentrant grep -q "Not reentrant: the counts per layer are global" "$work/counted.h"
versions() {
    sed 's/^#define LW_COPY .*/#define LW_COPY 0x1/' "$work/second.c" > "$work/older.c"
    refused "two models in one translation unit" unit older.c first.c
}
check unit-of-two-versions-is-refused versions
check unit-of-copies-and-headers-is-refused refused "two models in one translation unit" unit first.c floats.c
check unit-of-headers-and-copies-is-refused refused "two models in one translation unit" unit floats.c first.c
report_end
