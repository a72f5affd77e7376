#!/bin/sh
# SPDX-License-Identifier: MIT
# readme.sh BUILD: README.md with what follows from the program put in anew between `<!-- begin NAME -->` and `<!-- end -->`,
# on standard output. NAME is one of the functions below.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: readme.sh BUILD}" && pwd)
cd "$root"
work=$build/readme
mkdir -p "$work"

# A whole function that is emitted for the demo, with the comment above it.
emitted() {
    "$build/loopwright" samples/digits/digits.onnx -o "$work/digits.c" --name digits
    echo '```c'
    awk '/^\/\* / { block = "" }
         { block = block $0 "\n" }
         /^}/ && block ~ /static void digits_gemm_1\(/ { printf "%s", block; exit }' "$work/digits.c"
    echo '```'
}

help() {
    echo '```'
    "$build/loopwright" --help | sed 1,2d
    echo '```'
}

te() {
    echo '```'
    cat samples/matmul/matmul.te
    echo '```'
}

# comma_list: the words of the input as one wrapped line of code words.
comma_list() { awk '{ printf "%s`%s`", (NR > 1 ? ", " : ""), $1 } END { print "" }'; }

# Operators by how they are fused, and what is read from ONNX.
ops() {
    "$build/loopwright" ops | sed 1d > "$work/ops"
    echo "$(wc -l < "$work/ops" | tr -d ' ') operators; each has a formula, which \`loopwright ops\` prints beside its name."
    echo
    echo '| fused as | operators |'
    echo '|---|---|'
    for pattern in elementwise broadcast injective reduction out-fusable opaque; do
        awk -v p="$pattern" '$3 == p' "$work/ops" > "$work/$pattern"
        [ ! -s "$work/$pattern" ] || echo "| $pattern | $(comma_list < "$work/$pattern") |"
    done
    echo
    "$build/loopwright" ops --onnx | sed 1d > "$work/onnx"
    "$build/loopwright" ops --tflite | sed 1d > "$work/tflite"
    echo "TFLite, float32 and int8, $(wc -l < "$work/tflite" | tr -d ' ') operators: $(comma_list < "$work/tflite" | tr -d '`')."
    echo
    echo "ONNX, all operator sets, $(wc -l < "$work/onnx" | tr -d ' ') operators: $(comma_list < "$work/onnx" | tr -d '`')."
}

awk '/^<!-- begin / { print; name = $3; print "@" name; skip = 1; next }
     /^<!-- end -->/ { skip = 0 }
     !skip' README.md > "$work/frame"
while IFS= read -r line; do
    case $line in
    @emitted) emitted ;;
    @help) help ;;
    @te) te ;;
    @ops) ops ;;
    *) printf '%s\n' "$line" ;;
    esac
done < "$work/frame"
