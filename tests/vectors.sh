#!/bin/sh
# SPDX-License-Identifier: MIT
# vectors.sh BUILD: the text for each x86 target is compiled with the flags that its header names, with --standalone and
# without. `verify` with these flags runs it beside the interpreter where the processor has the instructions. The other
# suites build the portable form.
set -u
. "$(dirname "$0")/report.sh"
begin "vectors.sh BUILD" "$@"
rm -rf "${work:?}"/*

# Floats; bytes in rows and in panels.
models="samples/digits/digits.onnx tests/fuzz/corpus-tflite/conv-int8.tflite tests/golden/dense-int8/dense-int8.te"

flags_of() { sed -n 's/^ \* Compile with \(.*\)\. Other.*/\1/p' "$1" 2> /dev/null; }
compiled() {
    # shellcheck disable=SC2086
    "$lw" "$1" --name m --target "$2" $3 -o "$work/m.c" && flags=$(flags_of "$work/m.h") && [ "$flags" ] &&
        $cc -std=c99 -pedantic -Wall -Wextra -Werror -O2 $flags -Iruntime -c "$work/m.c" \
            -o "$work/m.o"
}
# runs_here FLAGS: the processor has the instructions of all flags.
runs_here() {
    for flag in $1; do
        grep -qw "$(echo "${flag#-m}" | sed 's/sse4.1/sse4_1/; s/avx512vnni/avx512_vnni/')" /proc/cpuinfo || return 1
    done
}
case $(uname -m) in
x86_64) targets="x86 x86-avx2 x86-avx512 x86-vnni" ;;
*) targets=""; skip vectors "this processor is not x86-64" ;;
esac
for target in $targets; do
    for model in $models; do
        name=$(basename "$model")-$target
        check "compiled-$name"            compiled "$model" "$target" ""
        check "compiled-standalone-$name" compiled "$model" "$target" --standalone
        flags=$(flags_of "$work/m.h")
        if runs_here "$flags"; then check "verified-$name" "$lw" verify "$model" --target "$target" --cc "$cc $flags"
        else skip "verified-$name" "this processor has not all of $flags"; fi
    done
done

# gcc 12.2 at -O2 fills an array in the red zone as if it were aligned more than its elements are.
aligned() {
    "$lw" tests/names/hostile.onnx --name m --target x86-avx512 -o "$work/m.c" &&
        grep -q '^ *LW_ALIGN(64) ' "$work/m.c" &&
        ! grep '^ *\(float\|int32_t\|int8_t\) [a-z_0-9]*\[[0-9]*\];' "$work/m.c"
}
check arrays-on-the-stack-are-aligned aligned
report_end
