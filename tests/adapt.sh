#!/bin/sh
# SPDX-License-Identifier: MIT
# adapt.sh BUILD: --from, --to, --layout, --preprocess and --postprocess give the bytes of the same steps by hand.
set -u
. "$(dirname "$0")/report.sh"
begin "adapt.sh BUILD" "$@"
rm -rf "$work"/*
digits=samples/digits/digits.onnx

# npy FILE TYPE SHAPE: a file of standard input's bytes.
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" > "$1"
    cat >> "$1"
}
data() { tail -c "+$((1 + 10 + $(od -An -tu1 -j8 -N1 "$1")))" "$1"; }
same() { data "$1" > "$work/first" && data "$2" | cmp - "$work/first"; }
run() { "$lw" run "$@" --quiet; }

# A sum over windows of an 8-bit input with channels, in the form of a TFLite file's: scale 0.0078125, zero point -1.
head -c 48 $digits | npy "$work/x.npy" '|u1' '1, 4, 4, 3'
printf 'input x: i8[1][4][4][3] scale=0.0078125 zero=-1\nk[n, h<3, w<3, c] = max(i<2, j<2) x[n, h+i, w+j, c]
y[n, c] = sum(h, w) i32(k[n, h, w, c])\noutput y\n' > "$work/m.te"
by_hand() {
    printf 'input x: u8[1][4][4][3]\nconst m: f32[3] = {10, 20.5, 127}\nr = cast(x, to=f32)
s[*] = (r[*] - m[*]) / 127.5\nq[*] = i8(i32(clamp(nearbyint(s[*] / 0.0078125), -127.0, 128.0)) - 1)
k[n, h<3, w<3, c] = max(i<2, j<2) q[n, h+i, w+j, c]\ny[n, c] = sum(h, w) i32(k[n, h, w, c])\noutput y\n' \
        > "$work/hand.te"
    run "$work/hand.te" "$work/x.npy" -o "$work/want.npy" &&
        run "$work/m.te" "$work/x.npy" --preprocess 'x=u8: (x - [10, 20.5, 127]) / 127.5' -o "$work/got.npy" &&
        same "$work/want.npy" "$work/got.npy"
}
check preprocess-equals-two-steps by_hand
no_float() {
    "$lw" "$work/m.te" -o "$work/m.c" --preprocess 'x=u8: (x - 127.5) / 127.5' && ! grep -n 'float' "$work/m.c" &&
        grep -F "Options: --preprocess 'x=u8: (x - 127.5) / 127.5'" "$work/m.h" && grep 'x  *uint8_t' "$work/m.h"
}
check preprocess-of-a-quantized-input-emits-no-float no_float
for type in u8 i8 u16 i16; do
    check "preprocess-of-$type-verifies" "$lw" verify "$work/m.te" --preprocess "x=$type: -(x - 1.5) * -2 / (1 + 6)"
done
# As in an ONNX file, the calls at the border have the grids, and the ports have none. A second reader with another
# grid leaves the input without one.
{
    printf 'input x: u8[1][4][4][3]\nconst grid: f32[1] = {0.0078125}\nconst zero: u8[1] = {127}\n'
    printf 'const t: f32[1] = {0.5}\nconst v: i8[1] = {-1}\nr = dequantize(x, grid, zero)\n'
    printf 'k[n, h<3, w<3, c] = max(i<2, j<2) r[n, h+i, w+j, c]\ny = quantize(k, t, v)\noutput y\n'
} > "$work/border.te"
has_grids() {
    "$lw" "$work/border.te" -o "$work/border.c" && grep -q '^#define BORDER_X_SCALE *0\.0078125f$' "$work/border.h" &&
        grep -q '^#define BORDER_X_ZERO_POINT *127$' "$work/border.h" &&
        grep -q '^#define BORDER_Y_SCALE *0\.5f$' "$work/border.h" &&
        sed 's/^output y/q = dequantize(x, t, zero)\noutput q\noutput y/' "$work/border.te" > "$work/several.te" &&
        "$lw" "$work/several.te" -o "$work/several.c" && ! grep -q SEVERAL_X_SCALE "$work/several.h" &&
        grep -q SEVERAL_Y_SCALE "$work/several.h"
}
check grids-of-onnx-ports-are-in-the-header has_grids
border_by_hand() {
    head -c 48 $digits | npy "$work/x.npy" '|u1' '1, 4, 4, 3'
    printf 'input x: u8[1][4][4][3]\nr = cast(x, to=f32)\ns[*] = (r[*] - 127.5) / 127.5\n' > "$work/hand.te"
    printf 'q[*] = u8(i32(clamp(nearbyint(s[*] / 0.0078125), -127.0, 128.0)) + 127)\n' >> "$work/hand.te"
    sed '1d; s/^r = dequantize(x/d = dequantize(q/; s/) r\[/) d[/' "$work/border.te" >> "$work/hand.te"
    run "$work/hand.te" "$work/x.npy" -o "$work/want.npy" &&
        run "$work/border.te" "$work/x.npy" --preprocess 'x=u8: (x - 127.5) / 127.5' -o "$work/got.npy" &&
        same "$work/want.npy" "$work/got.npy" &&
        "$lw" verify "$work/border.te" --preprocess 'x=u8: (x - 127.5) / 127.5' --postprocess y=threshold:1
}
check preprocess-of-a-grid-of-onnx-equals-two-steps border_by_hand
check preprocess-of-a-float-input-verifies "$lw" verify $digits --preprocess 'input=u8: x / 16'

# A crop and a table leave the order of the dimensions, which the header says.
keeps_layout() {
    printf 'input x: f32[1][6][6][3]\ny = max_pool2d(x, kernel=[2,2])\noutput y\n' > "$work/image.te"
    "$lw" "$work/image.te" -o "$work/image.c" --preprocess "x=$1" && grep 'x  *uint8_t.*NHWC' "$work/image.h"
}
check preprocess-of-an-image-keeps-its-layout keeps_layout 'u8 gray 20x16 crop 12x12+4+2: x / 255'
check preprocess-keeps-the-layout keeps_layout 'u8: x / 255'

# The sensor's bytes are the port's, so there is no table: the function is that of the network alone.
costs_nothing() {
    "$lw" "$work/m.te" -o "$work/alone.c" && "$lw" "$work/m.te" -o "$work/m.c" --preprocess "x=i8: $1" &&
        sed '/^ \* /d' "$work/alone.c" | sed 's/alone/m/g' > "$work/first" &&
        sed '/^ \* /d' "$work/m.c" | grep -v HEADER_HASH > "$work/second" &&
        grep -v HEADER_HASH "$work/first" | cmp - "$work/second"
}
check preprocess-of-equal-bytes-costs-nothing costs_nothing '(x + 1) * 0.0078125'
check preprocess-of-equal-bytes-for-each-channel-costs-nothing costs_nothing '(x + [1, 1, 1]) / 128'

# An image of 7 rows by 5 columns; the network sees the 4x4 pixels that are nearest to those of the crop. The second
# formula computes the same in numbers of one channel, which all three channels share.
image() {                # image WORDS CHANNELS ROW COLUMN CHANNEL: the places that the words denote
    head -c "$((35 * $2))" $digits | npy "$work/image.npy" '|u1' "1, 7, 5, $2"
    printf 'input x: u8[1][7][5][%s]\nr[n<1, h<4, w<4, c<3] = cast_x[n, %s, %s, %s]\n' "$2" "$3" "$4" "$5" |
        sed 's/cast_x/x/; s/^r\(.*\)/g\1\nr = cast(g, to=f32)/' > "$work/hand.te"
    printf 'q[*] = i8(i32(clamp(nearbyint((r[*] - 20.5) / 127.5 / 0.0078125), -127.0, 128.0)) - 1)
k[n, h<3, w<3, c] = max(i<2, j<2) q[n, h+i, w+j, c]\ny[n, c] = sum(h, w) i32(k[n, h, w, c])\noutput y\n' \
        >> "$work/hand.te"
    run "$work/hand.te" "$work/image.npy" -o "$work/want.npy" &&
        run "$work/window.te" "$work/image.npy" --preprocess "x=$1: (x - 20.5) / 127.5" -o "$work/got.npy" &&
        same "$work/want.npy" "$work/got.npy" &&
        "$lw" verify "$work/window.te" --preprocess "x=$1: (x - 20.5) / 127.5"
}
printf 'input x: i8[1][4][4][3] scale=0.0078125 zero=-1\nk = max_pool2d(x, kernel=2,2)
y[n, c] = sum(h, w) i32(k[n, h, w, c])\noutput y\n' > "$work/window.te"
check preprocess-crops image 'u8 5x7 crop 4x4+1+2' 3 'h + 2' 'w + 1' c
check preprocess-scales-to-the-nearest-pixel image 'u8 5x7' 3 'h * 7 / 4' 'w * 5 / 4' c
check preprocess-scales-a-crop-of-one-channel image 'u8 gray 5x7 crop 3x6+2+1' 1 'h * 3 / 2 + 1' 'w * 3 / 4 + 2' 0
check preprocess-of-one-channel image 'u8 gray 5x7 crop 4x4+0+0' 1 h w 0
check preprocess-of-16-bits-crops "$lw" verify "$work/window.te" --preprocess 'x=i16 gray 9x4 crop 2x2+7+2: x / 256'

transposed() {
    "$lw" $digits --to maxpool_1 -o "$work/p.c" && grep '\[1\]\[24\]\[4\]\[4\]  NCHW' "$work/p.h" &&
        "$lw" $digits --to maxpool_1 --layout maxpool_1_out=nhwc -o "$work/p.c" &&
        grep '\[1\]\[4\]\[4\]\[24\]  NHWC' "$work/p.h" &&
        "$lw" verify $digits --to maxpool_1 --layout maxpool_1_out=nhwc --layout input=nhwc
}
check layout-orders-a-port transposed
halves() {
    run $digits tests/models/digits.in0.npy -o "$work/whole.npy" &&
        run $digits tests/models/digits.in0.npy --to maxpool_1 -o "$work/half.npy" &&
        run $digits "$work/half.npy" --from maxpool_1 -o "$work/rest.npy" && same "$work/whole.npy" "$work/rest.npy"
}
check parts-compute-what-the-whole-does halves

post() { run $digits tests/models/digits.in0.npy --postprocess "scores=$1" -o "$work/post.npy"; }
best() {
    run $digits tests/models/digits.in0.npy -o "$work/scores.npy" && post argmax || return
    data "$work/scores.npy" | od -An -v -w4 -tf4 |
        awk '$1 > most { most = $1; at = NR - 1 } END { print at }' > "$work/want"
    data "$work/post.npy" | od -An -td4 | tr -d ' ' | cmp - "$work/want"
}
check postprocess-argmax best
above() {
    post threshold:0.5 && [ "$(data "$work/post.npy" | od -An -v -w1 -tu1 | grep -c 1)" -eq 1 ]
}
check postprocess-threshold above
# tests/models/scaled_float.tflite, made by the functions of tests/tflite/vectors.py: RELU of f32[1][4] whose tensors
# have the scale 0.5. A scale does not quantize floats.
scale_of_floats() {
    printf '\315\314\114\077\063\063\063\077\000\000\000\100\000\000\000\277' |
        npy "$work/f.npy" '<f4' '1, 4'
    run tests/models/scaled_float.tflite "$work/f.npy" --postprocess t1=threshold:0.75 -o "$work/t.npy" &&
        [ "$(data "$work/t.npy" | od -An -tu1 | tr -d ' ')" = 1010 ]
}
check postprocess-a-scale-of-floats-has-no-effect scale_of_floats
for step in softmax argmax topk:2 threshold:0.25; do
    check "postprocess-$step-verifies" "$lw" verify $digits --postprocess "scores=$step"
    check "postprocess-$step-of-a-quantized-output-verifies" \
        "$lw" verify tests/fuzz/corpus-tflite/conv-int8.tflite --postprocess "y=$step"
done
# An output that the model quantizes itself, as QuantizeLinear of an ONNX file does.
stored='input x: f32[1][4]\nconst s: f32 = {0.05}\nconst z: u8 = {128}\nq = quantize(x, s, z, to=u8)'
# reals STEP TEXT: the step gives the bytes of the text, which computes y from r, the real numbers.
reals() {
    printf "$stored\ny = transpose(q, perm=[0,1])\noutput y\n" > "$work/stored.te" &&
        printf "$stored\nr = dequantize(q, s, z)\n$2\noutput y\n" > "$work/reals.te" &&
        printf '\315\314\114\077\063\063\063\077\000\000\000\100\000\000\000\277' |
        npy "$work/f.npy" '<f4' '1, 4' && run "$work/reals.te" "$work/f.npy" -o "$work/want.npy" &&
        run "$work/stored.te" "$work/f.npy" --postprocess "y=$1" -o "$work/got.npy" &&
        same "$work/want.npy" "$work/got.npy"
}
check postprocess-softmax-of-what-the-model-quantizes reals softmax 'y = softmax(r)'
check postprocess-threshold-of-what-the-model-quantizes reals threshold:0.75 'y[*] = u8(r[*] >= 0.75)'
accuracy() {
    "$lw" evaluate $digits --test samples/digits/test.npy --test-labels samples/digits/test_labels.npy "$@" --quiet |
        grep '^accuracy 99.44 %: 358 of 360 samples'
}
check evaluate-accepts-labels accuracy --postprocess scores=argmax

# refuses WORDS OPTION VALUE [MODEL]
refuses() {
    "$lw" "${4-$digits}" -o "$work/refused.c" "$2" "$3" 2> "$work/said" && return 1
    grep -F -e "$1" "$work/said" || { cat "$work/said"; return 1; }
}
check unknown-tensor-is-refused refuses 'there is no tensor "relu_33"; did you mean' --to relu_33
check unknown-port-is-refused refuses 'there is no input "inputs"; did you mean' --preprocess 'inputs=u8: x'
check other-type-is-refused refuses 'use u8, i8, u16 or i16' --preprocess 'input=f32: x'
check other-image-word-is-refused refuses '"grey" is not understood; use gray, then' --preprocess 'input=u8 grey: x'
check later-gray-is-refused refuses '"gray" is not understood' --preprocess 'input=u8 9x9 gray: x'
check size-of-nothing-is-refused refuses '"0x9" is not understood' --preprocess 'input=u8 0x9: x'
check long-crop-is-refused refuses 'the crop leaves the image of 8x8' --preprocess 'input=u8 crop 8x8+0+1: x'
check image-without-windows-is-refused refuses 'no window with a height' --preprocess 'x=u8 4x4: x' "$work/m.te"
check open-parenthesis-is-refused refuses "'(' is not closed" --preprocess 'input=u8: (x'
check other-word-is-refused refuses '"y" is not understood' --preprocess 'input=u8: x * y'
check formula-without-x-is-refused refuses 'does not read x' --preprocess 'input=u8: 3'
check list-of-two-is-refused refuses 'a list has 2 values; use 1' --preprocess 'input=u8: x - [1, 2]'
check other-layout-is-refused refuses 'use nhwc or nchw' --layout input=hwc
check layout-of-a-list-is-refused refuses 'the port has 2 dimensions' --layout scores=nhwc
check topk-of-eleven-is-refused refuses 'the output has 10 classes' --postprocess scores=topk:11
check other-step-is-refused refuses 'use softmax, argmax, topk:K' --postprocess scores=sofmax
report_end
