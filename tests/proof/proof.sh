#!/bin/sh
# SPDX-License-Identifier: MIT
# proof.sh BUILD [MODEL...]: emits each model with --acsl and runs its proof. Passes if every goal is proved, without an
# alarm. Results of layers are kept in BUILD/proof/cache by the text of the function. FLAGS has options of the
# compiler. Without models, the networks whose proof is complete. Needs frama-c, why3, z3 and cvc4.
set -u
. "$(dirname "$0")/../report.sh"
models="tests/golden/dense-int8/dense-int8.te ../shared/models/mlperf-tiny/ad01_int8.tflite"
root=$(cd "$(dirname "$0")/../.." && pwd) build=$(cd "$1" && pwd) || exit 1
shift
cd "$root" || exit 1
[ $# -gt 0 ] || set -- $models
PROOF_CACHE=$build/proof/cache
export PROOF_CACHE
why=$(missing frama-c why3 z3 cvc4)
for model in "$@"; do
    name=${model##*/} name=${name%.*}
    if [ -n "$why" ]; then skip "proof-$name" "$why"; continue; fi
    if [ ! -f "$model" ]; then skip "proof-$name" "$model is not beside the project"; continue; fi
    out=$build/proof/$name
    mkdir -p "$out"
    # shellcheck disable=SC2086
    if ! "$build/loopwright" "$model" --standalone --acsl --quiet ${FLAGS:-} -o "$out/$name.c"; then
        fail "proof-$name" "the model does not compile"
    elif sh "$out/${name}_proof.sh" > "$out/log.txt" 2>&1; then
        pass "proof-$name"
        sed 's/^/    /' "$out/log.txt"
    else
        fail "proof-$name" "$(tail -n 1 "$out/log.txt")"
        sed 's/^/    /' "$out/log.txt"
    fi
done
report_end
