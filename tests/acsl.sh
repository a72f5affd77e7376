#!/bin/sh
# SPDX-License-Identifier: MIT
# acsl.sh BUILD: --acsl adds comments and nothing else, annotates every loop, and bounds what loops change. The proofs
# themselves run by `make proof` (tests/proof), which needs Frama-C.
set -u
. "$(dirname "$0")/report.sh"
begin "acsl.sh BUILD" "$@"
models="samples/digits/digits.onnx tests/golden/dense-int8/dense-int8.te
tests/golden/ring-buffer/ring-buffer.te tests/golden/softmax/softmax.te tests/fuzz/corpus-tflite/conv-int8.tflite"

# without_annotations FILE: drops the lines of annotations.
without_annotations() { sed '/^ *\/\*@.*\*\/$/d; /^ *\/\*@/,/\*\//d' "$1"; }

# same_code MODEL NAME: the C with annotations is the C without, and its header differs in the line of options.
same_code() {
    "$lw" "$1" --quiet -o "$work/plain/$2.c" && "$lw" "$1" --quiet --acsl -o "$work/acsl/$2.c" &&
        without_annotations "$work/acsl/$2.c" | cmp - "$work/plain/$2.c" &&
        without_annotations "$work/acsl/$2.h" > "$work/acsl/$2.plain.h" &&
        same_header "$work/acsl/$2.plain.h" "$work/plain/$2.h"
}

# annotated FILE: as many variants as loops of layers.
annotated() {
    loops=$(sed '/_run(/,$d' "$1" | grep -c '^ *for (') variants=$(grep -c 'loop variant' "$1")
    echo "$1: $loops loops, $variants variants"
    [ "$loops" -eq "$variants" ]
}

# states FILE LINE...: each line stands in the file.
states() {
    file=$1
    shift
    for line in "$@"; do grep -qF -- "$line" "$file" || { printf '%s lacks: %s\n' "$file" "$line"; return 1; }; done
}

# has_contracts FILE...: a contract stands above each function.
has_contracts() {
    awk '/^static inline/ && !/lw_joins/ && !contract { print FILENAME ": " $0; missing = 1 }
        { contract = /^\*\/$/ || /^\/\*@ .*\*\/$/ } END { exit missing }' "$@"
}

# refuses WORDS...: the compiler refuses the options and says why.
refuses() {
    ! "$lw" samples/digits/digits.onnx --acsl "$@" -o "$work/refused.c" 2> "$work/refused.txt" &&
        grep -q "exclude each other" "$work/refused.txt" && [ ! -f "$work/refused.c" ]
}

mkdir -p "$work/plain" "$work/acsl"
rm -f "$work/refused.c"
for model in $models; do
    name=${model##*/} name=${name%.*}
    setup "acsl-adds-comments-to-$name" same_code "$model" "$name"
    check "acsl-annotates-loops-of-$name" annotated "$work/acsl/$name.c"
done
check acsl-bounds-sums-of-a-row states "$work/acsl/conv-int8.c" \
    'forall integer j_; 0 <= j_ < 12 ==> -((i - \max(1 - h * 2 - h2, 0)) * 49920) <= acc2[j_]'
check acsl-bounds-what-a-tile-has-updated states "$work/acsl/conv-int8.c" \
    'forall integer j_; 0 <= j_ < w * 2 ==> (i - \max(1 - h * 2 - h2, 0)) * (-49920) -' \
    'forall integer j_; w * 2 <= j_ < 12 ==> -((i - \max(1 - h * 2 - h2, 0)) * 49920) <='
check acsl-joins-elements-with-equal-bounds states "$work/acsl/conv-int8.c" 'j_; w * 2 + o <= j_ < 12 ==> '
check acsl-keeps-inputs-that-share-memory states "$work/acsl/digits.c" \
    'loop invariant \forall integer j_; 0 <= j_ < 1024 ==> \initialized(&x[j_]);'
check acsl-states-written-elements states "$work/acsl/conv-int8.c" \
    'forall integer j_; 0 <= j_ < h * 4 ==> \initialized(&y[j_]);' 'ensures \initialized(y + (0 .. 7));'
check acsl-states-blocks-of-a-ring states "$work/acsl/ring-buffer.c" \
    'forall integer j_; 0 <= j_ < \min(i + 2, 3) * 8 ==> \initialized(&t[j_]);'
check acsl-states-ranges-of-constants states "$work/acsl/conv-int8.c" '<= shift[j_] <='
check acsl-separates-what-is-written states "$work/acsl/conv-int8.c" 'requires \separated(y + (0 .. 7), b + (0 .. '
check acsl-has-contracts-of-helpers has_contracts runtime/lw_base.h runtime/lw_fixed.h \
    runtime/lw_math*.h runtime/lw_move.h runtime/lw_random.h
check acsl-states-what-the-run-requires states "$work/acsl/digits.h" 'requires \valid_read(in->input + (0 .. 63));' \
    'requires \forall integer i_; 0 <= i_ < 64 ==> \is_finite(in->input[i_]);' \
    'requires \separated(out->scores + (0 .. 9), in->input + (0 .. 63));'
in_ranges() {
    "$lw" samples/digits/digits.onnx --acsl --check-inputs 0..16 -o "$work/acsl/ranges.c" &&
        states "$work/acsl/ranges.h" 'requires \forall integer i_; 0 <= i_ < 64 ==> 0.0f <= in->input[i_] <= 16.0f;' &&
        states "$work/acsl/ranges_proof.c" 'in_input[i] = Frama_C_float_interval(0.0f, 16.0f);'
}
check acsl-states-the-ranges-of-inputs in_ranges
# The key of a proved layer changes with its text and with the contract of a helper that it calls, on one line or on
# several, and not with a helper's body. Frama-C need not be there.
has_keys() {
    mkdir -p "$work/keys"
    "$lw" tests/golden/dense-int8/dense-int8.te --acsl --standalone -o "$work/keys/d.c" || return 1
    key() { cp "$work/keys/m.c" "$work/keys/d.c" && sh "$work/keys/d_proof.sh" keys 2> /dev/null; }
    as_edited() {
        sed "$1" "$work/keys/was.c" > "$work/keys/m.c" && ! cmp -s "$work/keys/was.c" "$work/keys/m.c" && key
    }
    cp "$work/keys/d.c" "$work/keys/was.c" && cp "$work/keys/d.c" "$work/keys/m.c" && own=$(key) || return 1
    [ "$(echo "$own" | wc -w)" -eq 2 ] &&
        [ "$own" = "$(as_edited 's/return a < -128 . -128/return -128 > a ? -128/')" ] &&
        [ "$own" != "$(as_edited 's/ensures -128 <= .result <= 127;/ensures -128 <= \\result <= 126;/')" ] &&
        [ "$own" != "$(as_edited 's/loop variant/loop  variant/')" ] &&
        [ "$own" != "$(as_edited 's/-(m \* n) <= a \* b/(m * n) <= a * b/')" ]
}
why=$(missing sha256sum)
if [ "$why" ]; then skip acsl-keys-of-proofs "$why"; else check acsl-keys-of-proofs has_keys; fi
check acsl-asserts-products states "$work/acsl/conv-int8.c" '/*@ assert lw_is_product('
check acsl-refuses-weights-apart refuses --weights bin
check acsl-refuses-ports-in-the-arena refuses --io arena
check acsl-refuses-a-self-test refuses --selftest random
report_end
