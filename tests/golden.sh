#!/bin/sh
# SPDX-License-Identifier: MIT
# golden.sh BUILD [--accept]: compares emitted text with text that a person has read and accepted.
#
# A case is a folder tests/golden/CASE with one model (CASE.te, CASE.onnx, or a file whose first line in `model` is its
# path from the project's root) and a file `targets`: a line for each target, with its options.
#
#   TARGET.c             the emitted text
#   TARGET.h             the emitted header, where the case is about the interface: headers differ in little else than
#                        names. --accept renews a header that is kept; `touch TARGET.h` begins to keep one.
#   TARGET.err           the model is refused with these words
#   dumps                stages of the model, one per line: `loopwright dump MODEL --at STAGE` prints STAGE.txt (with
#                        `-` for `:`)
#   verify               options of `loopwright verify`, which runs the emitted C and compares it with the interpreter
#
# --accept rewrites these files; read the diff before you commit it.
set -u
. "$(dirname "$0")/report.sh"
begin "golden.sh BUILD [--accept]" "$@"
accept=${2:-}
# Building takes most of the time. The suites emitted and models build with -O2 and more.
case $cc in *" -O"*) ;; *) export CC="$cc -O0" ;; esac

model_of() {
    if [ -f "$1/model" ]; then sed -n 1p "$1/model"
    else ls "$1"/*.te "$1"/*.onnx 2> /dev/null | sed -n 1p
    fi
}

# emit CASE TARGET OPTIONS...: TARGET.c and TARGET.h, or TARGET.err, into BUILD/golden/CASE.
emit() {
    out=$work/$1 case_name=$1 target=$2
    shift 2
    mkdir -p "$out"
    rm -f "$out/$target".*
    "$build/loopwright" "$(model_of "tests/golden/$case_name")" -o "$out/$target.c" --target "$target" \
        --name "$(echo "$case_name" | tr - _)" "$@" 2> "$out/$target.err" && rm -f "$out/$target.err" || true
}

# compare CASE TARGET OPTIONS...: the emitted files are the accepted ones; a header may be emitted without being kept.
compare() {
    emit "$@"
    for kept in "tests/golden/$1/$2".*; do
        [ -f "$kept" ] || continue
        diff -u "$kept" "$work/$1/${kept##*/}" || return 1
    done
    for made in "$work/$1/$2".*; do
        case $made in *.h) continue ;; esac
        [ -f "tests/golden/$1/${made##*/}" ] || { echo "${made##*/} is emitted but not kept:"; cat "$made"; return 1; }
    done
}

# dump CASE STAGE: into BUILD/golden/CASE.
dump() {
    mkdir -p "$work/$1"
    "$build/loopwright" dump "$(model_of "tests/golden/$1")" --at "$2" > "$work/$1/$(file_of "$2")" 2>&1
}
file_of() { echo "$1.txt" | tr : -; }
compare_dump() { dump "$1" "$2"; diff -u "tests/golden/$1/$(file_of "$2")" "$work/$1/$(file_of "$2")"; }

accept_files() {
    [ -f "tests/golden/$1/$2.h" ] || rm -f "$work/$1/$2.h"
    rm -f "tests/golden/$1/$2.c" "tests/golden/$1/$2.h" "tests/golden/$1/$2.err"
    cp "$work/$1/$2".* "tests/golden/$1/"
}

for folder in tests/golden/*/; do
    [ -f "$folder/targets" ] || continue
    name=${folder%/}
    name=${name##*/}
    while read -r target options; do
        [ -n "$target" ] || continue
        # shellcheck disable=SC2086
        [ "$accept" = --accept ] && wanted "golden-$name-$target" && emit "$name" "$target" $options &&
            accept_files "$name" "$target"
        # shellcheck disable=SC2086
        check "golden-$name-$target" compare "$name" "$target" $options
    done < "$folder/targets"
    [ ! -f "$folder/dumps" ] || while read -r stage; do
        [ "$accept" = --accept ] && wanted "golden-$name-$stage" && dump "$name" "$stage" &&
            cp "$work/$name/$(file_of "$stage")" "$folder"
        check "golden-$name-$stage" compare_dump "$name" "$stage"
    done < "$folder/dumps"
    options=
    [ -f "$folder/verify" ] && options=$(cat "$folder/verify")
    # shellcheck disable=SC2086
    [ -f "$folder/generic.err" ] ||
        check "golden-$name-verify" "$build/loopwright" verify "$(model_of "$folder")" $options
done

# A case shows one mechanism, so it has at most 64 lines and 6 for the names in its arena; the exceptions are three
# whole networks.
whole="/(residual|quantized-reals|control-flow)/"
long=$(wc -l tests/golden/*/*.c |
    awk -v whole="$whole" '$2 != "total" && $1 > 70 && $2 !~ whole { print $2, "has", $1, "lines" }')
if [ -z "$long" ]; then pass "golden-cases-are-short"; else fail "golden-cases-are-short" "$long"; fi

report_end
