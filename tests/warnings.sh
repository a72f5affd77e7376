#!/bin/sh
# SPDX-License-Identifier: MIT
# warnings.sh BUILD: compilers and checkers have nothing to say of emitted C, test benches included, but what
# docs/compilers.md lists.
set -u
. "$(dirname "$0")/report.sh"
begin "warnings.sh BUILD" "$@"
rm -rf "$work"/*

warn="-Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wdouble-promotion -Wundef -pedantic -Werror"
targets="generic cortex-m4 cortex-m55 x86-avx2"

emit() {
    for target in $targets; do
        "$lw" samples/digits/digits.onnx --target $target --testbench --name digits -o "$work/digits-$target.c" &&
        "$lw" tests/fuzz/corpus-tflite/conv-int8.tflite --target $target --name tiny -o "$work/tiny-$target.c" &&
        "$lw" tests/emitted/filter.te --target $target --testbench --state level=new_level --state last=new_last \
            --name filter -o "$work/filter-$target.c" || return 1
    done
    "$lw" tests/models/until.onnx --name until -o "$work/until-generic.c" &&
        "$lw" tests/fuzz/corpus-tflite/conv-int8.tflite --target cortex-m3 --name tiny -o "$work/tiny-cortex-m3.c" &&
        "$lw" samples/digits/digits.onnx --profile --cpp --testbench --name profiled -o "$work/profiled-generic.c" &&
        "$lw" tests/fuzz/corpus-tflite/conv-int8.tflite --selftest random --weights bin --testbench --name checked \
            -o "$work/checked-generic.c" &&
        "$lw" samples/digits/digits.onnx --io arena --weights section=.mine --standalone --testbench --name apart \
            -o "$work/apart-generic.c" &&
        "$lw" samples/digits/digits.onnx --train 'loss=cross_entropy optimizer=adam(rate=0.001) update=last' \
            --name trained -o "$work/trained-generic.c"
}
setup warnings-models-are-emitted emit

# compiles COMMAND...: each file, with the warnings as errors. One standard of each compiler is optimized, for the
# warnings that follow values; those of the others come from the compiler's front end.
compiles() {
    level=-O0
    case " $* " in *" -std=c99 -Wall"* | *" -std=c++11 "*) level=-O2 ;; esac
    for file in "$work"/*-*.c; do "$@" $level -Iruntime -c "$file" -o "$work/out.o" || return 1; done
}
for compiler in gcc clang; do
    why=$(missing $compiler)
    for standard in c99 c11 c2x; do
        if [ "$why" ]; then skip "warnings-$compiler-$standard" "$why"; continue; fi
        # shellcheck disable=SC2086
        check "warnings-$compiler-$standard" compiles $compiler -std=$standard $warn
    done
done
for compiler in g++ clang++; do
    why=$(missing $compiler)
    for standard in c++11 c++17; do
        if [ "$why" ]; then skip "warnings-$compiler-$standard" "$why"; continue; fi
        # shellcheck disable=SC2086
        check "warnings-$compiler-$standard" compiles $compiler -x c++ -std=$standard $warn
    done
done

# The class, in a file of its own.
class() {
    printf '#include "profiled-generic.hpp"\n' > "$work/class.cpp" &&
        "$1" -std=c++11 $warn -c "$work/class.cpp" -o "$work/out.o"
}
for compiler in g++ clang++; do
    why=$(missing $compiler)
    if [ "$why" ]; then skip "warnings-$compiler-class" "$why"
    else check "warnings-$compiler-class" class $compiler; fi
done

# A 16-bit int and a 32-bit double. Files with more constants than the 32 kB that an array may have are left out.
sixteen_bits() {
    "$lw" tests/fuzz/corpus-tflite/conv-int8.tflite --target avr --weights progmem --name flash \
        -o "$work/flash-avr.c" || return 1
    for file in tiny-generic checked-generic filter-generic until-generic flash-avr; do
        # shellcheck disable=SC2086
        avr-gcc -mmcu=atmega2560 -std=gnu99 ${warn% -pedantic*} -Werror -Os -Iruntime -c "$work/$file.c" \
            -o "$work/out.o" || return 1
    done
}
why=$(missing avr-gcc)
if [ "$why" ]; then skip warnings-avr-gcc "$why"; else check warnings-avr-gcc sixteen_bits; fi

# The exceptions are those of the page.
exceptions=$(sed -n 's/^| `-W\([a-z-]*\)` |.*/-Wno-\1/p' docs/compilers.md)
everything() {
    # shellcheck disable=SC2086
    compiles clang -std=c99 -Weverything -Wno-unknown-warning-option $exceptions -Werror
}
why=$(missing clang)
if [ "$why" ]; then skip warnings-clang-everything-but-the-listed "$why"
else check warnings-clang-everything-but-the-listed everything; fi

tidy() {
    off=-bugprone-easily-swappable-parameters,-bugprone-implicit-widening-of-multiplication-result
    off=$off,-bugprone-signed-char-misuse,-cert-str34-c
    clang-tidy --quiet --warnings-as-errors='*' -checks="-*,bugprone-*,cert-*,$off" \
        "$work/digits-generic.c" "$work/tiny-cortex-m4.c" "$work/filter-generic.c" -- -std=c99 -Iruntime
}
why=$(missing clang-tidy)
if [ "$why" ]; then skip warnings-clang-tidy "$why"; else check warnings-clang-tidy tidy; fi

cpp_check() {
    cppcheck --quiet --std=c99 --error-exitcode=1 --max-configs=1 --enable=warning,portability,performance \
        --suppress=shiftTooManyBitsSigned --suppress=toomanyconfigs -Iruntime "$work/digits-generic.c" \
        "$work/tiny-cortex-m4.c"
}
# Each rule that the addon names is in the page's table or in its list of advisory rules.
misra() {
    for file in tiny-generic tiny-cortex-m4 digits-generic; do
        cppcheck --quiet --std=c99 --max-configs=1 --enable=style --addon=misra -Iruntime "$work/$file.c" 2>&1
    done |
        sed -n 's/.*\[misra-c2012-\([0-9.]*\)\].*/\1/p' | sort -u > "$work/rules"
    [ -s "$work/rules" ] || { echo "the addon found nothing: it did not run"; return 1; }
    sed -n -e '/^| [0-9]/s/^| \([0-9., ]*\) |.*/\1/p' \
        -e 's/^The text does not meet the advisory rules \([0-9., and]*\)\.$/\1/p' docs/compilers.md |
        sed 's/ and /, /' | tr -d ' ' | tr , '\n' | sort -u > "$work/listed"
    comm -23 "$work/rules" "$work/listed" > "$work/unlisted"
    sed 's/^/not listed: /' "$work/unlisted"
    [ ! -s "$work/unlisted" ]
}
why=$(missing cppcheck)
if [ "$why" ]; then skip warnings-cppcheck "$why"; skip warnings-misra-deviations-are-listed "$why"
else
    check warnings-cppcheck cpp_check
    check warnings-misra-deviations-are-listed misra
fi

report_end
