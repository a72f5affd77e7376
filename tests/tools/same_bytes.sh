#!/bin/sh
# SPDX-License-Identifier: MIT
# same_bytes.sh BASE [quick|plain]: emits every recorded model for every target with the main options, by the compiler
# of the commit BASE and by that in BUILD (or COMPILER), and names each model whose files differ. A model that one of
# them refuses is compared by its diagnostics.
#
#   models    tests/models, samples, and ../shared/models where it is beside the project
#   targets   all of `loopwright targets`
#   options   none; --combine all; the least --ram; --optimize size and speed; --io arena; --weights bin
#
# plain: no options. quick: no options, seven networks of 8 and 16 bits, and the targets whose schedules of these
# differ. BASE is built in BUILD/same-bytes, where its digests are kept: a second run emits only with the compiler
# under test.
set -u
[ $# -ge 1 ] || { echo "usage: same_bytes.sh BASE [quick|plain]" >&2; exit 2; }
build=${BUILD:-build} set=${2:-all} root=$(pwd)
commit=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "same_bytes.sh: no commit $1" >&2; exit 2; }
work=$root/$build/same-bytes
mkdir -p "$work"

# digest.sh COMPILER MODEL TARGET OPTIONS FOLDER: one line, the digest of the files or of the diagnostics.
cat > "$work/digest.sh" <<'END'
compiler=$1 model=$2 target=$3 options=$4
folder=$(mktemp -d "$5/emit.XXXXXX") || exit 1
if [ "$options" = least-ram ]; then
    least=$("$compiler" "$model" --target "$target" --ram 1 --name m -o "$folder/m.c" --quiet 2>&1 |
        sed -n 's/.*the smallest plan needs \([0-9]*\) bytes.*/\1/p')
    options="--ram ${least:-1}"
fi
# shellcheck disable=SC2086
"$compiler" "$model" --target "$target" $options --name m -o "$folder/m.c" > "$folder/said" 2>&1
echo "$? $(cat "$folder"/* | sha256sum | cut -d ' ' -f 1) $2 $3 $4"
rm -rf "$folder"
END

models() {
    find tests/models samples -name '*.onnx' -o -name '*.tflite' -o -name '*.te'
    [ -d ../shared/models ] && find ../shared/models/ -name '*.onnx' -o -name '*.tflite'
    return 0
}
targets() { "$build/loopwright" targets | awk 'NR > 1 && !NF { exit } NR > 1 { print $1 }'; }
options() {
    printf '%s\n' "" "--combine all" least-ram "--optimize size" "--optimize speed" "--io arena" "--weights bin"
}
[ "$set" = all ] || options() { echo ""; }
if [ "$set" = quick ]; then
    models() {
        printf '%s\n' tests/models/quantized.onnx tests/models/sixteen.onnx
        ls ../shared/models/kws/kws_cnn_int8.tflite ../shared/models/mlperf-tiny/ad01_int8.tflite \
            ../shared/models/mlperf-tiny/kws_ref_model.tflite ../shared/models/mlperf-tiny/vww_96_int8.tflite \
            ../shared/models/mlperf-tiny/pretrainedResnet_quant.tflite 2> /dev/null
    }
    targets() {
        printf '%s\n' xtensa cortex-m0plus cortex-m3 cortex-m4 cortex-m55 rv32imc rv64gcv aarch64 aarch64-dotprod \
            aarch64-i8mm x86 x86-avx2 x86-vnni
    }
fi

# emit_all COMPILER: the digests of all, in a fixed order.
emit_all() {
    models | sort | while read -r model; do
        targets | while read -r target; do
            options | while read -r option; do
                printf '%s\n%s\n%s\n%s\n%s\n' "$1" "$model" "$target" "$option" "$work"
            done
        done
    done | tr '\n' '\0' | xargs -0 -n 5 -P "${JOBS:-$(nproc 2> /dev/null || echo 2)}" sh "$work/digest.sh" | sort -k 3
}

known=$work/$commit.$set.txt
if [ ! -f "$known" ]; then
    if [ ! -x "$work/$commit/build/loopwright" ]; then
        rm -rf "${work:?}/$commit"
        git archive --prefix="$commit/" "$commit" | tar -x -C "$work" &&
            make -s -C "$work/$commit" BUILD=build -j "${JOBS:-2}" > "$work/build.txt" 2>&1 ||
            { tail "$work/build.txt"; echo "same_bytes.sh: $1 cannot be built" >&2; exit 1; }
    fi
    emit_all "$work/$commit/build/loopwright" > "$known.new" && mv "$known.new" "$known"
fi
emit_all "${COMPILER:-$root/$build/loopwright}" > "$work/now.$set.txt"
differing=$(diff "$known" "$work/now.$set.txt" | grep '^>')
count=$(printf '%s' "$differing" | grep -c '^>')
[ -z "$differing" ] || printf '%s\n' "$differing" | cut -d ' ' -f 4- | sed 's/^/differs: /'
echo "$(wc -l < "$known") runs by $1 and here, $(grep -c '^0 ' "$known") of status 0, $count differ"
[ "$count" -eq 0 ]
