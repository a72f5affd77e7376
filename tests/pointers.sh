#!/bin/sh
# SPDX-License-Identifier: MIT
# pointers.sh BUILD: emitted C forms pointers only inside their memories. Every function of the golden models, the
# samples and the recorded models is proved for targets with and without instructions (LOOPWRIGHT_CHECK=pointers,
# lower/check_pointers.c). The macros of runtime/simd and the golden models run under clang's checks of pointers and
# gcc's checks of addresses.
set -u
. "$(dirname "$0")/report.sh"
begin "pointers.sh BUILD" "$@"

# proved MODEL OPTION...: for each kind of target. Models refused for another reason pass: other suites test that.
proved() {
    for target in generic cortex-m4 cortex-m55 x86-avx2; do
        LOOPWRIGHT_CHECK=pointers "$lw" "$@" --name model --target $target --quiet -o "$work/model.c" \
            > "$work/said.txt" 2>&1 && continue
        if grep "internal error" "$work/said.txt"; then return 1; fi
    done
}

for model in tests/golden/*/*.te tests/golden/*/*.onnx samples/*/*.te samples/*/*.onnx; do
    if [ -f "$model" ]; then check "pointers-$(echo "${model#*/}" | tr / -)" proved "$model"; fi
done
for model in ../shared/models/onnx/*.onnx ../shared/models/mlperf-tiny/*.tflite; do
    if [ -f "$model" ]; then check "pointers-${model##*/}" proved "$model"
    else skip "pointers-${model%/*}" "no recorded models beside the project"; fi
done

rows() {
    "$@" -std=c99 -O1 -g -Iruntime -I"$build/rows" -o "$work/rows" tests/simd/rows_test.c -lm && "$work/rows"
}
ran() { CC="$*" "$lw" verify "$model" --target "$target"; }

for compiler in gcc clang; do
    case $compiler in
    gcc) flags="-fsanitize=address,undefined -fno-sanitize-recover=all" ;;
    clang) flags="-fsanitize=pointer-overflow,bounds -fno-sanitize-recover=all" ;;
    esac
    if ! has $compiler; then skip "pointers-$compiler" "$compiler is not installed"; continue; fi
    # shellcheck disable=SC2086
    check "pointers-rows-$compiler" rows $compiler $flags
    for name in conv-norm-relu shapes-shared residual-bytes quantized-reals; do
        for target in generic cortex-m4; do
            model=$(ls tests/golden/$name/*.onnx tests/golden/$name/*.te 2> /dev/null)
            # shellcheck disable=SC2086
            check "pointers-$name-$target-$compiler" ran $compiler $flags
        done
    done
done
report_end
