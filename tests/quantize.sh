#!/bin/sh
# SPDX-License-Identifier: MIT
# quantize.sh BUILD: quantization from the command line: the refusals; where the recorded networks and their data are
# there, the accuracy of the emitted integer C.
set -u
. "$(dirname "$0")/report.sh"
begin "quantize.sh BUILD" "$@"
rm -rf "$work"/*
data=../shared/models/kws

# Building the emitted C is most of the time; an integer has the same bits at every level. The networks of both widths
# and the recorded ones are built by the compiler's default, -O2, too.
case $cc in *" -O"*) ;; *) export CC="$cc -O0" ;; esac
optimized() { (CC=$cc && "$@"); }

# npy FILE SHAPE FORMAT COUNT BYTES: a .npy file of COUNT elements, each the octal escape BYTES.
npy() {
    header="{'descr': '$3', 'fortran_order': False, 'shape': ($2), }"
    { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$header"
      i=0; while [ $i -lt "$4" ]; do printf "$5"; i=$((i + 1)); done; } > "$work/$1"
}
one='\000\000\200\077' nan='\000\000\300\177'
cat > "$work/net.te" << 'TE'
input x: f32[1][4]
const w: f32[4][2] = [1, 2, 3, 4, 1, 2, 3, 4]
y = dense(x, w)
output y
TE
npy good.npy '3, 4' '<f4' 12 "$one"
npy other.npy '3, 5' '<f4' 15 "$one"
npy nan.npy '3, 4' '<f4' 12 "$nan"
npy empty.npy '0, 4' '<f4' 0 ''
npy ints.npy '3, 4' '<i4' 12 "$one"
npy ints4.npy '3, 4' '<i4' 12 "$one"
npy varied.npy '2, 4' '<f4' 0 ''
printf '\000\000\000\077\000\000\100\076\232\231\231\277\000\000\200\100' >> "$work/varied.npy"
printf '\315\314\314\075\000\000\240\300\063\063\063\077\000\000\000\100' >> "$work/varied.npy"
npy labels.npy '3, ' '<i4' 3 '\001\000\000\000'
npy far.npy '3, ' '<i4' 3 '\007\000\000\000'

# refuses WORDS ARGUMENT...: status 1 or 2, with WORDS; nothing is written.
refuses() {
    words=$1
    shift
    "$lw" "$@" -o "$work/out.c" > "$work/said" 2>&1 && return 1
    grep -q -e "$words" "$work/said" && [ ! -e "$work/out.c" ] && return
    cat "$work/said"
    return 1
}
check samples-of-another-shape-are-refused  refuses \
    'is f32\[3\]\[5\]; samples of the input "x" are f32\[N\]\[1\]\[4\]' \
    quantize "$work/net.te" --samples "$work/other.npy"
check samples-of-another-type-are-refused   refuses 'is i32' quantize "$work/net.te" --samples "$work/ints.npy"
check samples-with-nan-are-refused          refuses 'sample 0 has NaN at element 0' \
    quantize "$work/net.te" --samples "$work/nan.npy"
npy inf.npy '3, 4' '<f4' 12 '\000\000\200\377'
check samples-with-infinity-are-refused     refuses 'sample 0 has an infinity at element 0' \
    quantize "$work/net.te" --samples "$work/inf.npy"
: > "$work/bytes0.npy"
check empty-files-are-refused               refuses 'bytes0.npy' quantize "$work/net.te" --samples "$work/bytes0.npy"
head -c 140 "$work/good.npy" > "$work/short.npy"
check files-that-end-early-are-refused      refuses 'short.npy' quantize "$work/net.te" --samples "$work/short.npy"
check a-missing-file-is-refused             refuses 'cannot open' quantize "$work/net.te" --samples "$work/nowhere.npy"
# Samples of 60 MB under a limit of 48 MB of memory.
in_little_memory() {
    printf 'input x: f32[1][20000]\ny = relu(x)\noutput y\n' > "$work/wide.te"
    npy many.npy '750, 20000' '<f4' 0 ''
    cat "$work/varied.npy" "$work/varied.npy" | tail -c 32 >> "$work/many.npy"
    head -c 59999968 /dev/zero >> "$work/many.npy"
    (ulimit -v 48000 && "$lw" --version > /dev/null 2>&1) || return 77
    (ulimit -v 48000 &&
        "$lw" quantize "$work/wide.te" --samples "$work/many.npy" -o "$work/wide.c" > "$work/said" 2>&1) && return
    cat "$work/said"
    return 1
}
check samples-stay-in-their-files           in_little_memory
npy two_labels.npy '2, ' '<i4' 2 '\001\000\000\000'
npy less_labels.npy '3, ' '<i4' 3 '\377\377\377\377'
npy real_labels.npy '3, ' '<f4' 3 "$one"
check fewer-labels-are-refused              refuses 'two_labels.npy' \
    quantize "$work/net.te" --samples "$work/good.npy" --labels "$work/two_labels.npy" --max-drop 1%
check negative-labels-are-refused           refuses 'label -1 of sample 0 is out of range' quantize "$work/net.te" \
    --samples "$work/good.npy" --labels "$work/less_labels.npy" --max-drop 1%
check labels-in-floats-are-refused          refuses 'real_labels.npy' \
    quantize "$work/net.te" --samples "$work/good.npy" --labels "$work/real_labels.npy" --max-drop 1%
cat > "$work/exp.te" << 'TE'
input x: f32[1][4]
const w: f32[4][2] = [100, 2, 300, 4, 1, 2, 3, 4]
const v: f32[2][2] = [1, 2, 3, 4]
a = dense(x, w)
b = exp(a)
y = dense(b, v)
output y
TE
check infinite-activations-are-refused      refuses 'tensor "b" has an infinity on sample 0' \
    quantize "$work/exp.te" --samples "$work/good.npy"
check no-samples-are-refused                refuses 'holds no samples' \
    quantize "$work/net.te" --samples "$work/empty.npy"
check samples-are-required-is-refused       refuses 'samples are required' quantize "$work/net.te"
check labels-out-of-range-are-refused       refuses 'label 7 of sample 0 is out of range' quantize "$work/net.te" \
    --samples "$work/good.npy" --test "$work/good.npy" --test-labels "$work/far.npy"
check labels-without-samples-are-refused    refuses 'without --test' \
    quantize "$work/net.te" --samples "$work/good.npy" --test-labels "$work/labels.npy"
check unknown-ports-are-refused             refuses 'use int8|int16|float' \
    quantize "$work/net.te" --samples "$work/good.npy" --ports int4

# ---- Bits of weights -------------------------------------------------------------------------------------------------

# Two dense layers of 3,072 weights, and one of fewer than few bits are worth.
{
    awk 'BEGIN { print "input x: f32[1][4]"
        split("4 64 48 8", size)
        for (l = 1; l < 4; l++) { printf "const w%d: f32[%d][%d] = {", l, size[l], size[l + 1]
            for (i = 0; i < size[l] * size[l + 1]; i++) printf "%s%d", i ? "," : "", i * i * (31 + l) % 251 - 125
            print "}" } }'
    printf '%s\n' 'a = relu(dense(x, w1))' 'b = relu(dense(a, w2))' 'y = dense(b, w3)' 'output y'
} > "$work/wide_layers.te"
narrowed() {
    wanted=$1
    shift
    "$lw" quantize "$work/wide_layers.te" --samples "$work/varied.npy" -o "$work/narrow.c" "$@" > "$work/said" 2>&1 &&
        grep -qx "weights: $wanted" "$work/said" && grep -q 'uint8_t .*_k\[\(1536\|768\)\]' "$work/narrow.c" && return
    cat "$work/said"
    return 1
}
check weights-of-4-bits         narrowed '2 layers of 8 bits, 1 layer of 4 bits' --weights-bits 4
check weights-of-4-bits-refined narrowed '2 layers of 8 bits, 1 layer of 4 bits' --weights-bits 4 --refine
check weights-of-2-bits         narrowed '2 layers of 8 bits, 1 layer of 2 bits' --weights-bits 2
check weights-that-fit-flash    narrowed '2 layers of 8 bits, 1 layer of 4 bits' --flash 4K
check weights-that-fit-little-flash narrowed '2 layers of 8 bits, 1 layer of 2 bits' --flash 2900 --weights-bits auto
check flash-too-small-is-refused    refuses 'bytes with the fewest bits, but --flash is 1000; use at least' \
    quantize "$work/wide_layers.te" --samples "$work/varied.npy" --flash 1000
check bits-of-weights-auto-needs-flash-is-refused refuses 'pass --flash BYTES' \
    quantize "$work/net.te" --samples "$work/good.npy" --weights-bits auto
check bits-of-weights-and-flash-are-refused refuses 'use --weights-bits auto, or omit one of the two options' \
    quantize "$work/net.te" --samples "$work/good.npy" --weights-bits 4 --flash 1K
check other-bits-of-weights-are-refused refuses 'use 8, 4, 2 or auto' \
    quantize "$work/net.te" --samples "$work/good.npy" --weights-bits 3

# A feature that is constant in all samples has a grid with a stated range.
constant() {
    "$lw" quantize "$work/net.te" --samples "$work/good.npy" --test "$work/good.npy" -o "$work/net.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    grep -q 'int8_t   \[1\]\[4\]  scale' "$work/net.h" && ! grep -q float "$work/net.c" &&
        grep -q 'integer C' "$work/said"
}
check constant-samples-give-a-grid constant

# An output that passes rebuild keeps the scale of its port in every form: the simulation is that of the integer C.
turned() {
    printf 'input x: f32[2][2]\nconst w: f32[2][2] = [1, 2, 3, 5]\na = dense(x, w)\ny = transpose(a)\noutput y\n' \
        > "$work/turned.te"
    npy square.npy '1, 2, 2' '<f4' 0 ''
    tail -c 16 "$work/varied.npy" >> "$work/square.npy"
    "$lw" quantize "$work/turned.te" --samples "$work/square.npy" --test "$work/square.npy" -o "$work/turned.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    [ "$(sed -n 's/^simulated //p' "$work/said")" = "$(sed -n 's/^integer C //p' "$work/said")" ] && return
    cat "$work/said"
    return 1
}
check a-transposed-port-is-simulated-with-its-scale turned

says_constant() {
    "$lw" quantize "$work/net.te" --samples "$work/good.npy" -o "$work/net.c" 2>&1 |
        grep 'warning: tensor "x" is 1 in all samples'
}
check constant-samples-are-a-warning says_constant

check methods-of-ranges-are-words           refuses '\-\-ranges does not accept "kl"; use best|least' \
    quantize "$work/net.te" --samples "$work/good.npy" --ranges kl
npy huge.npy '3, 4' '<f4' 12 '\377\377\177\177'
check activations-that-overflow-are-refused  refuses 'finite' quantize "$work/net.te" --samples "$work/huge.npy"
npy zeros.npy '3, 4' '<f4' 12 '\000\000\000\000'
npy tiny.npy '3, 4' '<f4' 12 '\001\000\000\000'

# A range of zero, and one of the least floats, have a positive step.
any_range() {
    for file in zeros tiny; do
        "$lw" quantize "$work/net.te" --samples "$work/$file.npy" --test "$work/good.npy" --refine -o "$work/$file.c" \
            > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
        grep -q 'grid covers\|integer C' "$work/said" || { cat "$work/said"; return 1; }
    done
}
check ranges-of-zero-have-a-grid any_range

# The network with one scale for weights whose channels differ by 4,000 times is right after training, and the same for
# the same seed.
finetunes() {
    cat > "$work/skewed.te" <<'END'
input x: f32[1][2]
const w: f32[2][2] = [1, 0.0005, 0.5, -0.0005]
const v: f32[2][2] = [1, -1, 2000, 1000]
a = relu(dense(x, w))
y = dense(a, v)
output y
END
    {
        printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (128, 1, 2), }"
        i=0
        while [ $i -lt 128 ]; do
            printf "\\000\\000\\$(printf %o $((i * 37 % 128)))\\$(printf %o $((62 + i % 2)))"
            printf "\\000\\000\\$(printf %o $((i * 91 % 128)))\\$(printf %o $((62 + i / 2 % 2)))"
            i=$((i + 1))
        done
    } > "$work/many.npy"
    for run in plain once again other; do
        set -- --per-tensor --no-equalization
        [ $run = plain ] || set -- "$@" --finetune 30
        [ $run = other ] && set -- "$@" --seed 2
        case $run in plain | once) set -- "$@" --test "$work/many.npy" ;; esac
        "$lw" quantize "$work/skewed.te" --samples "$work/many.npy" "$@" -o "$work/tuned.c" \
            > "$work/$run.txt" 2>&1 || { cat "$work/$run.txt"; return 1; }
        mv "$work/tuned.c" "$work/$run.c"
    done
    decibel() { awk '/^integer C/ { print int($3) }' "$work/$1.txt"; }
    cmp -s "$work/once.c" "$work/again.c" && ! cmp -s "$work/once.c" "$work/other.c" \
        && [ "$(decibel once)" -gt $(($(decibel plain) + 6)) ] && return
    cat "$work/plain.txt" "$work/once.txt"
    return 1
}
check training-recovers-skewed-channels finetunes

# finetunes_to OUTPUTS OPTION...: the same network with probabilities, of which all labels are 1.
npy ones.npy '128, ' '<i4' 128 '\001\000\000\000'
finetunes_to() {
    [ -f "$work/skewed.te" ] || finetunes > "$work/said" || return 1
    sed "s/^output y\$/z = softmax(y)\nr = reshape(z, shape=[2])\noutput $1/" "$work/skewed.te" > "$work/labelled.te"
    shift
    "$lw" quantize "$work/labelled.te" --samples "$work/many.npy" --per-tensor --no-equalization --finetune 30 "$@" \
        --test "$work/many.npy" --test-labels "$work/ones.npy" -o "$work/tuned.c" > "$work/said" 2>&1 && return
    cat "$work/said"
    return 1
}
right() { sed -n "s/^$1 *\([0-9]*\)\.[0-9]* %.*/\1/p" "$work/said"; }
follows_labels() {
    finetunes_to $1 --labels "$work/ones.npy" || return
    [ "$(right float)" -lt 90 ] && [ "$(right 'integer C')" -eq 100 ] && return
    cat "$work/said"
    return 1
}
check training-follows-labels follows_labels z
check training-follows-labels-through-a-view follows_labels r
tunes_several_outputs() {
    finetunes_to 'y, z' || return
    decibels=$(sed -n 's/^integer C.* \([0-9]*\)\.[0-9]* dB/\1/p' "$work/said")
    [ "$decibels" -gt $(($(decibel plain) + 6)) ] && return
    cat "$work/said"
    return 1
}
check training-of-several-outputs tunes_several_outputs
printf 'input x: f32[2][2]\nconst w: f32[2][2] = [1, 2, 3, 4]\ny = dense(x, w)\noutput y\n' > "$work/rows.te"
npy rows.npy '3, 2, 2' '<f4' 12 "$one"
check labels-of-several-rows-are-refused    refuses 'the output is \[2\]\[2\]; use one class per sample' \
    quantize "$work/rows.te" --samples "$work/rows.npy" --finetune 3 --labels "$work/labels.npy"
check finetuning-needs-samples              refuses 'finetune trains on samples' quantize "$work/net.te" --finetune 3
check epochs-are-a-number                   refuses 'finetune does not accept "some"; use a number from 1 to 10000' \
    quantize "$work/net.te" --samples "$work/good.npy" --finetune some
check a-seed-needs-finetuning               refuses 'seed has no effect without' quantize "$work/net.te" \
    --samples "$work/good.npy" --seed 3

# Inputs beyond the samples saturate as in the simulated network: both rows of the test set agree.
saturates() {
    npy far_out.npy '3, 4' '<f4' 12 '\000\000\310\102'
    "$lw" quantize "$work/net.te" --samples "$work/varied.npy" --test "$work/far_out.npy" -o "$work/far.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    awk '/^simulated/ { a = $2 } /^integer C/ { b = $3 } END { exit !(a != "" && a == b) }' "$work/said" && return
    cat "$work/said"
    return 1
}
check unseen-inputs-saturate-as-simulated saturates

nothing_to_quantize() {
    printf 'input x: i32[1][4]\ny = add(x, x)\noutput y\n' > "$work/none.te"
    "$lw" quantize "$work/none.te" --samples "$work/ints4.npy" -o "$work/none.c" > "$work/said" 2>&1 && return 1
    grep -q 'no call of the model has an integer form' "$work/said" && [ ! -e "$work/none.c" ] && return
    cat "$work/said"
    return 1
}
check networks-without-floats-are-refused nothing_to_quantize
check bounds-are-numbers                    refuses \
    '\-\-min-sqnr does not accept "high"; use a number from 0.1 to 1000, such as 40dB' \
    quantize "$work/net.te" --samples "$work/good.npy" --min-sqnr high
check a-drop-needs-the-classes              refuses 'requires the classes of the samples; pass --labels' \
    quantize "$work/net.te" --samples "$work/good.npy" --max-drop 1%
check drop-is-a-share                       refuses \
    '\-\-max-drop does not accept "150%"; use a number from 0 to 100, such as 0.5%' \
    quantize "$work/net.te" --samples "$work/good.npy" --labels "$work/labels.npy" --max-drop 150%
check a-drop-has-its-unit                   refuses 'max-drop does not accept "0.5"; .*as 0.5%' \
    quantize "$work/net.te" --samples "$work/good.npy" --labels "$work/labels.npy" --max-drop 0.5
check a-missing-folder-is-named-first       refuses 'cannot write .*there is no folder ".*drop/"' \
    quantize "$work/net.te" --samples "$work/nowhere.npy" -o "$work/drop/net.onnx"
check two-files-of-one-kind-are-refused     refuses \
    '\-o other.c and -o .*out.c cannot be combined; use one file that ends in .c, one that ends in .onnx' \
    quantize "$work/net.te" --samples "$work/good.npy" -o other.c
check classes-need-a-drop                   refuses '\-\-labels has no effect without --max-drop' \
    quantize "$work/net.te" --samples "$work/good.npy" --labels "$work/labels.npy"
check classes-out-of-range-are-refused      refuses 'label 7 of sample 0 is out of range' \
    quantize "$work/net.te" --samples "$work/good.npy" --labels "$work/far.npy" --max-drop 1%
check bounds-out-of-reach-are-refused       refuses 'no choice of widths reaches 190 dB; .*--ports float' \
    quantize "$work/net.te" --samples "$work/varied.npy" --min-sqnr 190

# A bound widens tensors until the integers keep it; the tensors are named.
widened() {
    "$lw" quantize "$work/net.te" --samples "$work/varied.npy" --test "$work/varied.npy" --ports float --min-sqnr 60 \
        -o "$work/wide.c" -o "$work/wide.onnx" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    grep -q '^16 bits: .*; [+-][0-9]* instructions, [+-][0-9]* bytes)' "$work/said" &&
        grep -q '^as chosen: .* instructions counted' "$work/said" &&
        awk '/^integer C/ { ok = $3 >= 60 } END { exit !ok }' "$work/said" &&
        grep -q int16_t "$work/wide.c" && return
    cat "$work/said"
    return 1
}
check a-bound-widens-tensors widened

# A bound that 8 bits keep is said to hold, with the counts; the header says how often the network rounds.
holding() {
    "$lw" quantize "$work/net.te" --samples "$work/varied.npy" --min-sqnr 10 -o "$work/held.c" > "$work/said" 2>&1
    cat "$work/said"
    grep -q '^1 tensor on 1 grid of 8\|^2 tensors on 2 grids of 8' "$work/said" &&
        ! grep -q '^as chosen' "$work/said" &&
        grep -q '^all tensors at 8 bits: .* instructions counted, .* bytes$' "$work/said" &&
        grep -q '^the bound holds: no tensor is widened$' "$work/said" &&
        grep -q 'Requantization rounds once\.$' "$work/held.h"
}
check a-bound-that-holds-is-said holding

# A bias is in the unit of the sums; a requantization has a factor and a shift per channel, without 64-bit constants.
narrow() {
    printf '%s\n' 'input x: f32[1][4]' 'const w: f32[4][2] = [1, 2, 3, 4, 1, 2, 3, 40]' 'const b: f32[2] = [1, -2]' \
        'z = dense(x, w)' 'y = add(z, b)' 'output y' > "$work/bias.te"
    "$lw" quantize "$work/bias.te" --samples "$work/good.npy" -o "$work/bias.c" --quiet || return 1
    grep -q 'int32_t bias_z_b' "$work/bias.c" && ! grep -q 'static.* int64_t' "$work/bias.c" && return
    grep static "$work/bias.c"
    return 1
}
check biases-have-32-bits-and-offsets-none narrow

quantized_already() {
    npy one.npy '1, 1, 49, 20' '<f4' 980 "$one"
    "$lw" quantize $data/kws_cnn_int8.tflite --samples "$work/one.npy" -o "$work/out.c" > "$work/said" 2>&1 && return 1
    grep -q 'already quantized' "$work/said" || { cat "$work/said"; return 1; }
}

# accuracy NETWORK LEAST: integer C without floats classifies this share of test samples, in hundredths of a percent.
accuracy() {
    "$lw" quantize $data/$1.onnx --samples $data/calibration.npy --test $data/test.npy \
        --test-labels $data/test_labels.npy -o "$work/$1.c" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    reached=$(awk '/^integer C/ { print $3 * 100 }' "$work/said")
    [ "$reached" -ge "$2" ] && ! grep -q -w -e float -e double "$work/$1.c" && return
    cat "$work/said"
    grep -n -w -e float -e double "$work/$1.c" | head -n 3
    return 1
}
# The QDQ file of the same run, read back, computes what the integer C does.
written_onnx() {
    "$lw" quantize "$work/net.te" --samples "$work/good.npy" --ports float -o "$work/net.onnx" -o "$work/net.c" \
        --quiet || return 1
    "$lw" run "$work/net.onnx" "$work/row.npy" > "$work/said" || return 1
    cat "$work/said"
    awk '/\[\[/ { gsub(/[][]/, ""); ok = $1 > 7.97 && $1 < 8.03 && $2 > 11.97 && $2 < 12.03 } END { exit !ok }' \
        "$work/said"
}
npy row.npy '1, 4' '<f4' 4 "$one"
check the-qdq-file-is-read-back written_onnx

# Slices, and a network whose output has the name that an inner tensor of the file would get.
sliced_onnx() {
    printf 'input x: f32[1][4]\nconst w: f32[4][4] = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]\n' \
        > "$work/cut.te"
    printf 'z = dense(x, w)\nt3 = slice(z, begin=[1], end=[-1], axes=[1])\noutput t3\n' >> "$work/cut.te"
    "$lw" quantize "$work/cut.te" --samples "$work/good.npy" --ports float -o "$work/cut.onnx" --quiet || return 1
    "$lw" run "$work/cut.onnx" "$work/row.npy" > "$work/said" || return 1
    cat "$work/said"
    awk '/\[\[/ { gsub(/[][]/, ""); ok = $1 > 7.9 && $1 < 8.1 && $2 > 11.9 && $2 < 12.1 } END { exit !ok }' "$work/said"
}
check a-slice-is-written-to-the-qdq-file sliced_onnx

# Recurrent layers with peepholes, a bias of their own after the reset, reversed, clipped; and with other activations.
numbers() {
    awk -v n="$1" -v seed="$2" \
        'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%s%.3f", i ? ", " : "", rand() - 0.5 }'
}
recurrent_te() {
    printf 'input x: f32[4][1][3]\nconst w: f32[3][6] = [%s]\nconst r: f32[2][6] = [%s]\nconst b: f32[6] = [%s]\n' \
        "$(numbers 18 1)" "$(numbers 12 2)" "$(numbers 6 3)"
    printf 'const rb: f32[2] = [0.5, -0.25]\n'
    printf 'const v: f32[2][8] = [%s]\nconst u: f32[2][8] = [%s]\nconst p: f32[6] = [%s]\n' "$(numbers 16 4)" \
        "$(numbers 16 5)" "$(numbers 6 6)"
    printf 'const k: f32[2][3] = [%s]\nconst q: f32[3][3] = [%s]\n' "$(numbers 6 7)" "$(numbers 9 8)"
    printf '%s\n' 'a, al = gru(x, w, r, b, _, rb, linear_before_reset=1, reverse=1)' \
        'c, cl, cc = lstm(a, v, u, _, _, _, p, clip=3)'
    printf 'd, y = rnn(c, k, q%s)\noutput y\noutput cc\n' "$1"
}
recurrent_te '' > "$work/steps.te"
recurrent_te ', activations=softsign' > "$work/other.te"
npy steps.npy '20, 4, 1, 3' '<f4' 0 ''
numbers 240 9 | tr ',' '\n' |
    awk '{ v = int(256 * ($1 + 0.5)); printf "\\000\\000\\%03o\\%03o", v % 128, 62 + 128 * (v % 2) }' \
        > "$work/steps.bytes"
printf "$(cat "$work/steps.bytes")" >> "$work/steps.npy"
recurrent_onnx() {
    "$lw" quantize "$work/steps.te" --samples "$work/steps.npy" --ports float -o "$work/steps.onnx" --quiet &&
    "$lw" evaluate "$work/steps.onnx" --test "$work/steps.npy" --reference "$work/steps.te" > "$work/said" || return 1
    cat "$work/said"
    grep -q '^against .*noise [4-6][0-9]' "$work/said"
}
check recurrent-layers-are-written-to-the-qdq-file recurrent_onnx
# Outputs that hardly vary: the bias follows the error of the sums, not the rounding of the output, so no value is more
# than half a step from its own. A sigmoid that stays near a half has a grid of its range.
nearly_constant() {
    npy calm.npy '20, 1, 12' '<f4' 0 '' && tail -c 960 "$work/steps.npy" >> "$work/calm.npy"
    { printf 'input x: f32[1][12]\nconst w: f32[12][8] = [%s]\nconst small: f32[1] = [0.00001]\n' "$(numbers 96 3)"
      printf 'const b: f32[8] = [%s]\na = dense(x, w)\nc = mul(a, small)\nz = add(c, b)\n' "$(numbers 8 "$2")"
      printf 'y = %s\noutput y\n' "$1"; } > "$work/calm.te"
    "$lw" quantize "$work/calm.te" --samples "$work/calm.npy" --test "$work/calm.npy" --ports float -o "$work/calm.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    awk -v least="$3" '/^integer C/ { good = $3 >= least } END { exit !good }' "$work/said"
}
for seed in 5 6 7; do
    check "a-nearly-constant-output-is-rounded-once-$seed" nearly_constant 'reshape(z, shape=[8])' $seed 51
done
check a-sigmoid-of-a-small-range-has-its-grid nearly_constant 'sigmoid(z)' 5 56

# Channels of which few values are seen, measured on others: equal ranges of all channels would clip in each of them.
few_values() {
    npy calm.npy '20, 1, 12' '<f4' 0 '' && tail -c 960 "$work/steps.npy" >> "$work/calm.npy"
    npy unseen.npy '20, 1, 12' '<f4' 0 '' && numbers 240 77 | tr ',' '\n' |
        awk '{ v = int(256 * ($1 + 0.5)); printf "\\000\\000\\%03o\\%03o", v % 128, 62 + 128 * (v % 2) }' \
        > "$work/unseen.bytes" && printf "$(cat "$work/unseen.bytes")" >> "$work/unseen.npy"
    { printf 'input x: f32[1][12]\nconst w: f32[12][96] = [%s]\nconst v: f32[96][8] = [%s]\n' "$(numbers 1152 "$1")" \
          "$(numbers 768 $(($1 + 40)))"
      printf 'a = dense(x, w)\nb = relu(a)\ny = dense(b, v)\noutput y\n'; } > "$work/few.te"
    "$lw" quantize "$work/few.te" --samples "$work/calm.npy" --test "$work/unseen.npy" --ports float -o "$work/few.c" \
        > "$work/said" 2>&1
    cat "$work/said"
    awk -v least="$2" '/^integer C/ { good = $3 >= least } END { exit !good }' "$work/said"
}
check scales-do-not-move-on-few-values    few_values 6 38
check scales-do-not-move-on-fewer-values  few_values 3 38

# Boxes of hundreds and scores below 1 in one output: with float ports each part has a grid of its own; where they share
# one, a warning names both ranges, and the bound counts for the scores alone.
boxes_te() {
    printf 'input x: f32[1][4][3]\nconst w: f32[3][4] = [%s]\nconst s: f32[3][2] = [%s]\n' "$(numbers 12 3)" \
        "$(numbers 6 4)"
    printf '%s\n' 'const large: f32[1] = [500]' 'a = dense(x, w)' 'big = mul(a, large)' 'boxes = relu(big)' \
        'b = dense(x, s)' 'scores = sigmoid(b)' 'both = concat(boxes, scores, axis=2)' \
        'y = transpose(both, perm=[0,2,1])' 'output y'
}
parts_of_an_output() {
    boxes_te > "$work/boxes.te"
    npy boxes.npy '20, 1, 4, 3' '<f4' 0 '' && tail -c 960 "$work/steps.npy" >> "$work/boxes.npy"
    "$lw" quantize "$work/boxes.te" --samples "$work/boxes.npy" --test "$work/boxes.npy" --ports float --min-sqnr 30 \
        -o "$work/boxes.c" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q 'the bound holds' "$work/said" && grep -q '^integer C .*, [3-6][0-9].* dB of "' "$work/said" &&
        ! grep -q warning "$work/said"
}
shared_grid() {
    refuses 'reaches 30 dB; the best has .* of "scores"' quantize "$work/boxes.te" --samples \
        "$work/boxes.npy" --min-sqnr 30 && cat "$work/said" &&
        grep -q 'warning: "scores", from .* to .*, has the grid of "boxes", from .* to .*, whose step is' "$work/said"
}
setup parts-of-an-output-have-grids-of-their-own parts_of_an_output
check parts-of-one-grid-are-a-warning-and-count shared_grid

# Parts of one layer's result with ranges of their own, which calls read apart: each has a layer and a grid. The numbers
# of the layer's columns: hundreds, or below 1, by the pattern of digits.
columns() {
    numbers 24 5 | tr ',' '\n' | awk -v of="$1" '{ if (NR > 1) printf ", "
        printf "%.4f", substr(of, (NR - 1) % 8 + 1, 1) == "1" ? $1 * 500 : $1 }'
}
# parts_apart PORTS PATTERN LINE...: the lines read z: f32[1][4][8] and write boxes and scores.
parts_apart() {
    ports=$1 pattern=$2
    shift 2
    { printf 'input x: f32[1][4][3]\nconst w: f32[3][8] = [%s]\n' "$(columns "$pattern")"
      printf 'const b: f32[8] = [%s]\nz0 = dense(x, w)\nz = add(z0, b)\n' "$(numbers 8 6)"
      printf '%s\n' "$@" 'output boxes' 'output scores'; } > "$work/apart.te"
    "$lw" quantize "$work/apart.te" --samples "$work/boxes.npy" --test "$work/boxes.npy" --ports "$ports" \
        --min-sqnr 30 -o "$work/apart.c" -o "$work/apart.onnx" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q '^all tensors at 8 bits: [3-9][0-9]\.. dB of "\(boxes\|scores\)"' "$work/said" &&
        grep -q 'the bound holds' "$work/said" && ! grep -q warning "$work/said"
}
check parts-apart-slices parts_apart int8 11110000 'boxes = slice(z, begin=[0], end=[4], axes=[2])' \
    's = slice(z, begin=[4], end=[8], axes=[2])' 'scores = sigmoid(s)'
check parts-apart-of-a-function parts_apart int8 11111111 'const k: f32[8] = [1, 1, 1, 1, 0.01, 0.01, 0.01, 0.01]' \
    'r = softmax(z, axis=1)' 'y = mul(r, k)' 'boxes = slice(y, begin=[0], end=[4], axes=[2])' \
    'scores = slice(y, begin=[4], end=[8], axes=[2])'
check parts-apart-strides parts_apart int8 10101010 'boxes = slice(z, begin=[0], end=[8], axes=[2], step=[2])' \
    'scores = slice(z, begin=[1], end=[8], axes=[2], step=[2])'
check parts-apart-indices parts_apart int8 01100110 'const i: i64[4] = [6, 1, 2, 5]' 'const k: i64[4] = [0, 3, 4, 7]' \
    'r = relu(z)' 't = transpose(r, perm=[0,2,1])' 'boxes = gather(t, i, axis=1)' 'scores = gather(t, k, axis=1)'
check parts-apart-one-index parts_apart int8 10000000 'const i: i64 = [0]' 'const k: i64 = [5]' \
    'boxes = gather(z, i, axis=2)' 'scores = gather(z, k, axis=2)'
check parts-apart-behind-views parts_apart float 11001100 'v = reshape(z, shape=[1,4,2,4])' \
    't = transpose(v, perm=[0,2,3,1])' 'u = reshape(t, shape=[2,16])' \
    'boxes = slice(u, begin=[0], end=[8], axes=[1])' 'scores = slice(u, begin=[8], end=[16], axes=[1])'
check parts-apart-of-a-sum parts_apart int8 11110000 'y = tanh(z)' 's = add(z, y)' \
    'boxes = slice(s, begin=[0], end=[4], axes=[2])' 'scores = slice(s, begin=[4], end=[8], axes=[2])'
check parts-apart-alike-in-one-layer parts_apart int8 11110000 'a = slice(z, begin=[0], end=[2], axes=[2])' \
    'c = slice(z, begin=[2], end=[4], axes=[2])' 'boxes = add(a, c)' 'scores = slice(z, begin=[4], end=[8], axes=[2])'
# Of a float input each part is quantized for itself; where a call reads the whole, too, one grid is a warning.
parts_of_an_input() {
    awk '{ split($0, v, "\\"); for (i = 0; i < 240; i++)
        printf "\\%s\\%s\\%s\\%s", v[4 * i + 2], v[4 * i + 3], v[4 * i + 4], i % 3 ? v[4 * i + 5] : "102" }' \
        "$work/steps.bytes" > "$work/mixed.bytes"
    npy mixed.npy '20, 1, 4, 3' '<f4' 0 '' && printf "$(cat "$work/mixed.bytes")" >> "$work/mixed.npy"
    printf '%s\n' 'input x: f32[1][4][3]' 'const w: f32[2][2] = [1, 2, 3, -2]' 'v = transpose(x, perm=[0,2,1])' \
        'boxes = slice(v, begin=[0], end=[1], axes=[1])' 'a = slice(v, begin=[1], end=[3], axes=[1])' \
        's = transpose(a, perm=[0,2,1])' 'scores = dense(s, w)' 'output boxes' 'output scores' > "$work/inputs.te"
    [ -z "$1" ] || printf '%s\n' 'const u: f32[3][1] = [1, 2, 3]' 'whole = dense(x, u)' 'output whole' \
        >> "$work/inputs.te"
    "$lw" quantize "$work/inputs.te" --samples "$work/mixed.npy" --ports float --min-sqnr 30 -o "$work/inputs.c" \
        > "$work/said" 2>&1
    cat "$work/said"
    if [ -z "$1" ]; then grep -q '^all tensors at 8 bits: [3-9][0-9]\.' "$work/said"
    else grep -q 'warning: "a", from .* to .*, has the grid of ".*", from .* to .*, whose step is' "$work/said"; fi
}
check parts-apart-in-floats                  parts_of_an_input ''
check parts-apart-unless-the-whole-is-read   parts_of_an_input whole

# A border with a value keeps it: scales do not move through it. The measure is the model itself, not what it became.
bordered() {
    npy border.npy '20, 1, 4, 3, 1' '<f4' 0 '' && tail -c 960 "$work/steps.npy" >> "$work/border.npy"
    printf '%s\n' 'input x: f32[1][4][3][1]' 'const w: f32[1][1][1][2] = [1, 16]' \
        'const v: f32[2][2][2][1] = [1, 0.04, 0.5, 0.08, -0.7, 0.03, 0.3, 0.04]' 'a = conv2d(x, w)' \
        'p = pad(a, pad=[0,1,1,0,0,1,1,0], value=1)' 'y = conv2d(p, v)' 'output y' > "$work/border.te"
    "$lw" dump "$work/border.te" --at calibrated --samples "$work/border.npy" -o "$work/stage.te" &&
        "$lw" evaluate "$work/stage.te" --test "$work/border.npy" --reference "$work/border.te" > "$work/said"
    cat "$work/said"
    grep -q '^against.*noise [2-9][0-9]\.' "$work/said"
}
check a-border-with-a-value-is-not-scaled bordered
# The state of integer layers passes through 16 bits in the file, too, so it computes what the integers do: with
# sequences of other lengths, given states, peepholes, both places of the reset, reversed and clipped.
layers_te() {
    printf 'input x: f32[4][2][3]\nconst w: f32[3][6] = [%s]\nconst r: f32[2][6] = [%s]\nconst b: f32[6] = [%s]\n' \
        "$(numbers 18 1)" "$(numbers 12 2)" "$(numbers 6 3)"
    printf '%s\n' 'const h: f32[2][2] = [0.5, -0.25, 0.75, -1]' 'const c: f32[2][2] = [1, 0.5, -2, 0.25]' \
        'const rb: f32[2] = [0.5, -0.25]' 'const n: i32[2] = [3, 2]'
    printf 'const v: f32[2][8] = [%s]\nconst u: f32[2][8] = [%s]\nconst p: f32[6] = [%s]\n' "$(numbers 16 4)" \
        "$(numbers 16 5)" "$(numbers 6 6)"
    printf 'a, al = gru(%s)\nd, y, yc = lstm(a, v, u, %s)\noutput al\noutput d\noutput y\noutput yc\n' "$1" "$2"
}
npy pairs.npy '10, 4, 2, 3' '<f4' 0 ''
tail -c 960 "$work/steps.npy" >> "$work/pairs.npy"
layers_in_16_bits() {
    layers_te "$1" "$2" > "$work/pairs.te"
    "$lw" quantize "$work/pairs.te" --samples "$work/pairs.npy" --ports float -o "$work/pairs.onnx" --quiet &&
        "$lw" dump "$work/pairs.te" --samples "$work/pairs.npy" --ports float --at realized -o "$work/integers.te" &&
        "$lw" evaluate "$work/pairs.onnx" --test "$work/pairs.npy" --reference "$work/integers.te" > "$work/said" ||
        return 1
    cat "$work/said"
    grep -q -a Scan "$work/pairs.onnx" && grep -q '^against .*noise 1[2-9][0-9]' "$work/said"
}
check the-state-has-16-bits-in-the-qdq-file layers_in_16_bits 'x, w, r, b, h, rb, linear_before_reset=1, reverse=1' \
    '_, _, _, p, clip=0.7'
check sequences-of-other-lengths-in-the-qdq-file layers_in_16_bits 'x, w, r, b, h, _, n' \
    '_, h, c, p, n, reverse=1, input_forget=1'
other_activations() {
    "$lw" quantize "$work/other.te" --samples "$work/steps.npy" --ports float -o "$work/other.onnx" --quiet &&
    "$lw" evaluate "$work/other.onnx" --test "$work/steps.npy" --reference "$work/other.te" > "$work/said" || return 1
    cat "$work/said"
    grep -q '^against .*noise [4-9][0-9]' "$work/said"
}
check other-activations-are-written-to-the-qdq-file other_activations
# A recurrence that ONNX has no operator for: the refusal says how to get the C, and no file is written.
no_onnx_form() {
    printf '%s\n' 'input x: f32[1][4]' 'const w: f32[4][4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7]' \
        'a = dense(x, w)' 'm = reshape(a, shape=[1,2,2])' 'y = det(m)' 'output y' > "$work/det.te"
    refuses 'node "y": unsupported: ONNX export does not support det, .*; omit -o NAME.onnx to write only the C' \
        quantize "$work/det.te" --samples "$work/varied.npy" -o "$work/det.onnx" && [ ! -e "$work/det.onnx" ] &&
        "$lw" quantize "$work/det.te" --samples "$work/varied.npy" -o "$work/det.c"
}
check what-onnx-cannot-express-is-refused-with-advice no_onnx_form

# Before a softmax, the range leaves out values that are too low for a share of its result; the bias of a class that is
# out stays. The step of all values, -26 to 1, would be 0.1.
cat > "$work/classes.te" << 'TE'
input x: f32[1][4]
const w: f32[4][3] = [4, -2, -9, 2, 4, -9, -2, 2, -9, 2, -2, -9]
const b: f32[3] = [0, 0.5, -20]
z = dense(x, w)
s = add(z, b)
y = softmax(s)
output y
TE
npy vectors.npy '60, 1, 4' '<f4' 0 ''
tail -c 960 "$work/steps.npy" >> "$work/vectors.npy"
softmax_range() {
    "$lw" dump "$work/classes.te" --samples "$work/vectors.npy" --at calibrated -o "$work/classes.calibrated.te" ||
        return 1
    grep -e 's_scale' -e '^const b:' "$work/classes.calibrated.te"
    awk -F '[][,]' '/^const s_scale/ { step = $2 } /^const b:/ { bias = $6 }
        END { exit !(step > 0 && step < 0.05 && bias < -19.8 && bias > -20.2) }' "$work/classes.calibrated.te"
}
check values-without-a-share-of-a-softmax-are-out-of-its-range softmax_range

# Before a tanh, values that it saturates get no levels: the step is less than half, and `best` takes that range.
cat > "$work/flat.te" << 'TE'
input x: f32[1][4]
const w: f32[4][3] = [4, -2, -9, 2, 4, -9, -2, 2, -9, 2, -2, -9]
const v: f32[3][3] = [1, 0.5, -0.25, 0.125, -1, 0.75, 0.5, -0.5, 1]
a = dense(x, w)
t = tanh(a)
y = dense(t, v)
output y
TE
curve_range() {
    for method in least curves best; do
        "$lw" dump "$work/flat.te" --samples "$work/vectors.npy" --ranges $method --at calibrated |
            sed -n 's/^const a_scale.*\[\(.*\)\]/\1/p' || return 1
    done > "$work/said"
    cat "$work/said"
    awk '{ step[NR] = $1 } END { exit !(NR == 3 && step[2] > 0 && step[2] < 0.5 * step[1] && step[3] == step[2]) }' \
        "$work/said"
}
check values-beyond-a-saturation-are-out-of-the-range curve_range

# A layer that continues from a given state is on integers if an annotation of its weights says so; its input is a port.
npy steps3.npy '20, 4, 1, 3' '<f4' 0 ''
tail -c 960 "$work/steps.npy" >> "$work/steps3.npy"
mkdir -p "$work/given"
cp "$work/steps3.npy" "$work/given/x.npy"
for port in h c; do
    npy given/$port.npy '20, 1, 2' '<f4' 0 ''
    tail -c 160 "$work/steps.npy" >> "$work/given/$port.npy"
done
{
    printf 'input x: f32[4][1][3]\ninput h: f32[1][2]\ninput c: f32[1][2]\nconst w: f32[3][8] = [%s]\n' \
        "$(numbers 24 1)"
    printf 'const r: f32[2][8] = [%s]\ny, yl, yc = lstm(x, w, r, _, h, c)\noutput y\noutput yc\n' "$(numbers 16 2)"
} > "$work/given.te"
given_state() {
    : > "$work/bits.txt"
    [ -z "$1" ] || echo "simulated_quantize w bits=$1" > "$work/bits.txt"
    "$lw" quantize "$work/given.te" --samples "$work/given" --annotate "$work/bits.txt" --test "$work/given" \
        -o "$work/given.c" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q "$2" "$work/said" && [ "$(grep -c 'sum(.*i32(' "$work/given.c")" -eq "$3" ] &&
        grep -q 'x  *int8_t .*scale' "$work/given.h" &&
        awk -v least="$4" '/^integer C/ { c = $3 } END { exit !(c > least) }' "$work/said"
}
check a-given-state-stays-in-floats      given_state '' \
    'y (lstm), it continues from a given state; on integers if an annotation' 0 35
check a-given-state-on-integers-if-asked given_state 8 'y (lstm), only its gates: its products are integers' 2 30
check weights-of-a-layer-in-fewer-bits   given_state 4 'y (lstm), only its gates: its products are integers' 2 12
check weights-of-a-layer-in-floats       given_state 32 'y (lstm), it continues from a given state' 0 35

# A state that the same run computes is bounded and continues nothing: both layers are on integers.
{
    sed -n '/^input x/p;/^const w/p;/^const r/p' "$work/given.te"
    printf 'const v: f32[3][6] = [%s]\nconst u: f32[2][6] = [%s]\n' "$(numbers 18 3)" "$(numbers 12 4)"
    printf '%s\n' 'const k: f32[2][2] = [1, -0.5, 0.25, 2]' 'a, al, ac = lstm(x, w, r)' \
        'b, bl = gru(x, v, u, _, al)' 'm = dense(al, k)' 't = tanh(m)' 'd, dl, dc = lstm(x, w, r, _, t)' \
        'output b' 'output d'
} > "$work/within.te"
state_within() {
    "$lw" quantize "$work/within.te" --samples "$work/steps3.npy" --test "$work/steps3.npy" -o "$work/within.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    [ "$(grep -c 'its products are integers' "$work/said")" -eq 3 ] &&
        awk '/^integer C/ { c = $3 } END { exit !(c > 30) }' "$work/said"
}
check a-state-within-the-run-is-on-integers state_within

# Negative factors of channels, as of a batch norm before a convolution, are integers.
cat > "$work/signs.te" << 'TE'
input x: f32[1][4]
const s: f32[4] = [-1, 2, -0.3, 0.7]
const t: f32[4] = [0.5, -1, 1, 0.25]
const w: f32[4][3] = [4, -2, -9, 2, 4, -9, -2, 2, -9, 2, -2, -9]
const v: f32[3] = [-1, 0.125, -3]
a = mul(x, s)
b = add(a, t)
r = relu(b)
d = dense(r, w)
y = mul(d, v)
output y
TE
negative_factors() {
    "$lw" quantize "$work/signs.te" --samples "$work/vectors.npy" --test "$work/vectors.npy" -o "$work/signs.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q '; 0 calls stay in floats' "$work/said" &&
        awk '/^simulated/ { s = $2 } /^integer C/ { c = $3 } END { exit !(c > 25 && c > s - 0.5) }' "$work/said"
}
check negative-factors-of-channels-are-integers negative_factors

# A quotient by constants is a product with their reciprocals, behind an input and behind a layer; one of two tensors
# multiplies by reciprocals from a table, in place of which 16 bits stay in floats, with the reason.
cat > "$work/quotient.te" << 'TE'
input x: f32[1][4]
const c: f32[4] = [1, 2, 3, 0.7]
const w: f32[4][4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7]
const d: f32[4] = [1, 0.3, 5, 1.1]
a = div(x, c)
b = dense(a, w)
y = div(b, d)
output y
TE
sed -e 's/^b = .*/z = dense(a, w)\nb = sigmoid(z)/' -e 's/div(b, d)/div(a, b)/' "$work/quotient.te" > "$work/ratio.te"
quotient() {
    "$lw" quantize "$work/$1.te" --samples "$work/varied.npy" --test "$work/varied.npy" -o "$work/$1.c" \
        > "$work/said" 2>&1
    cat "$work/said"
    grep -q "$2" "$work/said" && awk '/^integer C/ { c = $3 } END { exit !(c > 25) }' "$work/said"
}
check a-quotient-by-constants-is-on-integers quotient quotient '; 0 calls stay in floats'
check a-quotient-of-tensors-is-on-integers   quotient ratio '; 0 calls stay in floats'
# With a divisor for each row, which the samples bring to 0, and a relu: every value that both forms have is equal.
cat > "$work/rows.te" << 'TE'
input x: f32[4][3]
input d: f32[4][1]
const xs: f32 = [0.25]
const ds: f32 = [0.5]
const ys: f32 = [0.03]
const xz: i8 = [3]
const dz: i8 = [-1]
const yz: i8 = [-100]
a = annotation.simulated_quantize(x, xs, xz)
b = annotation.simulated_quantize(d, ds, dz)
q = div(a, b)
r = relu(q)
y = annotation.simulated_quantize(r, ys, yz)
output y
TE
row='\000\000\200\077\000\000\000\300\000\000\140\101'
npy rows.x.npy '4, 3' '<f4' 1 "$row$row$row$row"
npy rows.d.npy '4, 1' '<f4' 1 '\000\000\100\100\000\000\240\300\000\000\000\000\000\000\000\077'
rows_divided() {
    "$lw" run "$work/rows.te" "$work/rows.x.npy" "$work/rows.d.npy" > "$work/real.txt" &&
        "$lw" dump "$work/rows.te" --at realized --ports float -o "$work/rows_r.te" &&
        "$lw" run "$work/rows_r.te" "$work/rows.x.npy" "$work/rows.d.npy" > "$work/said" &&
        "$lw" verify "$work/rows_r.te" || return 1
    ! grep -q ' div(' "$work/rows_r.te" && diff "$work/real.txt" "$work/said"
}
check quotients-of-rows-equal-their-simulation rows_divided
quotient_of_words() {
    printf 'simulated_quantize a bits=16\n' > "$work/words.txt"
    "$lw" quantize "$work/ratio.te" --annotate "$work/words.txt" --samples "$work/varied.npy" -o "$work/words.c" \
        > "$work/said"
    cat "$work/said"
    grep -q 'y (div), its operand has 16 bits, but a quotient on integers has 8 bits' "$work/said"
}
check a-quotient-of-16-bits-is-explained quotient_of_words

# All products of matrices are sums of integers.
gru() {
    "$lw" quantize $data/kws_gru.onnx --samples $data/calibration.npy --test $data/test.npy \
        --test-labels $data/test_labels.npy -o "$work/gru.c" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    reached=$(awk '/^integer C/ { print $3 * 100 }' "$work/said")
    noise=$(awk '/^integer C/ { print int($5) }' "$work/said")
    [ "$reached" -ge 9450 ] && [ "$noise" -ge 38 ] && [ "$(grep -c 'sum(.*) .*i32(' "$work/gru.c")" -eq 4 ] &&
        ! grep -q 'sum(.*) [a-z]*\[.*\] \* ' "$work/gru.c" && return
    cat "$work/said"
    grep 'sum(' "$work/gru.c"
    return 1
}

# On independent steps, the nearest weights have less noise than weights that are rounded by their sums' errors.
gru_on_noise() {
    python3 - "$work/noise.npy" << 'END' || return 1
import random, struct, sys
random.seed(7)
shape = (32, 1, 49, 20)
header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
values = [min(2.64, max(-0.81, random.gauss(0, 1))) for _ in range(32 * 49 * 20)]
data = struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\0" + data)
END
    "$lw" quantize $data/kws_gru.onnx --samples "$work/noise.npy" --test "$work/noise.npy" --ports float \
        -o "$work/noise.c" > "$work/said" 2>&1
    cat "$work/said"
    awk '/^integer C/ { c = $3 } END { exit !(c > 43) }' "$work/said"
}

# The best of the choices that miss a bound includes the choice of only 8 bits.
best_of_misses() {
    "$lw" quantize $data/kws_gru.onnx --samples $data/calibration.npy --sensitivity -o "$work/gru.c" > "$work/said" 2>&1
    start=$(sed -n 's/^all tensors at 8 bits.*: \([0-9.]*\) dB.*/\1/p' "$work/said")
    "$lw" quantize $data/kws_gru.onnx --samples $data/calibration.npy --min-sqnr 45 -o "$work/gru.c" \
        >> "$work/said" 2>&1
    cat "$work/said"
    best=$(sed -n 's/.*the best has \([0-9.]*\) dB.*/\1/p' "$work/said")
    awk -v start="$start" -v best="$best" 'BEGIN { exit !(start > 0 && best >= start) }'
}

# A bound that 8-bit weights of a recurrent layer cannot keep puts the layer in floats; so does the stage.
bound_of_recurrent() {
    "$lw" quantize "$work/given.te" --samples "$work/given" --annotate "$work/four.txt" --min-sqnr 60 --ports float \
        -o "$work/bound.c" > "$work/said" 2>&1
    cat "$work/said"
    grep -q '^floats: x ' "$work/said" && grep -q '1 in floats' "$work/said"
}
printf 'simulated_quantize w bits=4\n' > "$work/four.txt"
# A 16-bit input has no figure for 8; its reader rounds it, so it has no noise of its own.
input_of_16_bits() {
    "$lw" quantize "$work/given.te" --samples "$work/given" --annotate "$work/four.txt" --ports float --sensitivity \
        -o "$work/wide.c" --report "$work/wide.html" > "$work/said" 2>&1
    cat "$work/said"
    grep -q ' of 16; ' "$work/said" && grep -q '^x  *16  *-  *-  *[0-9.]* dB$' "$work/said" &&
        grep -q '^all tensors at 8 bits, .*x of 16.*: ' "$work/said" &&
        grep -q '<b>x</b><br><i>16 bits' "$work/wide.html"
}
check an-input-of-16-bits-is-listed-as-such input_of_16_bits
check a-bound-puts-a-recurrent-layer-in-floats bound_of_recurrent

# ---- Folders of samples and interruption -----------------------------------------------------------------------------

mkdir -p "$work/parts" "$work/two/a" "$work/none"
npy parts/10.npy '1, 4' '<f4' 4 '\000\000\200\077'
npy parts/2.npy '2, 1, 4' '<f4' 8 '\000\000\000\100'
in_parts() {
    "$lw" quantize "$work/net.te" --samples "$work/parts" --test "$work/parts" -o "$work/parts.c" > "$work/said" 2>&1
    grep -q '^3 test samples' "$work/said" || { cat "$work/said"; return 1; }
}
cat > "$work/two.te" << 'TE'
input a: f32[1][4]
input b: f32[1][4]
y = add(a, b)
output y
TE
npy two/a/1.npy '2, 1, 4' '<f4' 8 "$one"
npy two/a/2.npy '1, 4' '<f4' 4 "$one"
npy two/b.npy '3, 4' '<f4' 12 "$one"
check a-folder-of-samples-is-joined        in_parts
check a-folder-for-several-inputs          "$lw" quantize "$work/two.te" --samples "$work/two" -o "$work/two.c"
check an-empty-folder-is-refused           refuses 'holds no .npy file' quantize "$work/net.te" --samples "$work/none"
# Zeros for a minute of work, ended by a signal after a second: no file and no scratch folder is left.
{
    npy long.npy '100000, 1, 8, 8' '<f4' 0 ''
    head -c 25600000 /dev/zero >> "$work/long.npy"
}
mkdir -p "$work/out"
interrupted() {
    "$lw" quantize samples/digits/digits.onnx --samples "$work/long.npy" -o "$work/out/m.c" --quiet \
        > "$work/said" 2>&1 &
    pid=$!
    sleep 2
    kill -s "$1" $pid
    wait $pid
    status=$?
    [ $status -eq "$2" ] && grep -q 'error: interrupted while [a-z ]*, after [0-9]* of [0-9]* samples' "$work/said" &&
        [ -z "$(ls "$work/out")" ] && return
    echo "status $status"
    cat "$work/said"
    return 1
}
check interrupted-by-INT-leaves-no-file    interrupted INT 130
check interrupted-by-TERM-leaves-no-file   interrupted TERM 143

# A signal that reaches the process alone while its compiler runs: the work ends, and the compiler with it.
printf '#!/bin/sh\necho $$ > "%s"\nexec sleep 60\n' "$work/cc.pid" > "$work/waits" && chmod +x "$work/waits"
interrupted_in_compiler() {
    rm -f "$work/cc.pid" "$work/out/"*
    CC="$work/waits" "$lw" "$@" > "$work/said" 2>&1 &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s "$work/cc.pid" ] || sleep 1; done
    sleep 1
    kill -s INT $pid
    wait $pid
    status=$?
    cat "$work/said"
    [ $status -eq 130 ] && grep -q '^error: interrupted: building the emitted C has not ended$' "$work/said" || return
    [ -z "$(ls "$work/out")" ] && ! kill -0 "$(cat "$work/cc.pid")" 2> /dev/null
}
check interrupted-finetuning-ends interrupted_in_compiler quantize "$work/net.te" --samples "$work/good.npy" \
    --finetune 100 -o "$work/out/m.c"
check interrupted-evaluation-ends interrupted_in_compiler evaluate "$work/net.te" --test "$work/good.npy" \
    --expect "$work/good.npy"
check interrupted-verification-ends interrupted_in_compiler verify "$work/net.te"

# ---- Stages as .te ---------------------------------------------------------------------------------------------------

digits=samples/digits
# first N NAME: the first N images of samples/digits/NAME, as a file of the same name.
first() {
    npy "$2" "$1, 1, 8, 8" '<f2' 0 ''
    tail -c +129 "$digits/$2" | head -c $(($1 * 128)) >> "$work/$2"
}
first 10 calibration.npy
first 90 test.npy
stage() { at=$1; shift; "$lw" dump "$@" --at "$at" -o "$work/$at.te"; }
setup stage-annotated  stage annotated $digits/digits.onnx
setup stage-calibrated stage calibrated $digits/digits.onnx --samples "$work/calibration.npy"
setup stage-realized   stage realized $digits/digits.onnx --samples "$work/calibration.npy"
check annotated-needs-no-scales sh -c "! grep -q _scale '$work/annotated.te'"
check calibrated-has-scales     grep -q '= annotation.simulated_quantize(relu_4, relu_4_scale, relu_4_zero)' \
    "$work/calibrated.te"
check realized-has-no-floats    sh -c "! grep -q 'f32\[' '$work/realized.te'"
again() { file=$1; shift; "$lw" quantize "$work/$file.te" "$@" -o "$work/$file.c" --name net --quiet && code "$file"; }
# The emitted C apart from names and the lines that state the file.
code() { sed -e 1,2d -e 's/_[a-z0-9_]*//g' -e 's/LWLAYER(.*//' "$work/$1.c" | tr -d ' \n' > "$work/$1.txt"; }
setup stage-of-the-model \
    sh -c "'$lw' quantize $digits/digits.onnx --samples '$work/calibration.npy' -o '$work/whole.c' --name net --quiet"
code whole
same_code() { cmp "$work/whole.txt" "$work/$1.txt"; }
# The stage states weights of a recurrent layer as rounded, and the user's bits: without samples it gives the same C.
recurrent_stage() {
    printf 'simulated_quantize w bits=%s\n' "$1" > "$work/steps.txt"
    "$lw" quantize "$work/steps.te" --annotate "$work/steps.txt" --samples "$work/steps.npy" --name net \
        -o "$work/steps1.c" --quiet &&
        "$lw" dump "$work/steps.te" --annotate "$work/steps.txt" --samples "$work/steps.npy" --at calibrated \
            -o "$work/steps.calibrated.te" &&
        "$lw" quantize "$work/steps.calibrated.te" --name net -o "$work/steps2.c" --quiet || return 1
    code steps1 && code steps2 && cmp "$work/steps1.txt" "$work/steps2.txt"
}
check a-recurrent-layer-of-8-bits-is-the-same-from-its-stage recurrent_stage 8
check a-recurrent-layer-of-3-bits-is-the-same-from-its-stage recurrent_stage 3

setup annotated-is-quantized   again annotated --samples "$work/calibration.npy"
check annotated-is-the-same-C  same_code annotated
setup calibrated-is-quantized  again calibrated
check calibrated-is-the-same-C same_code calibrated
setup realized-is-compiled     sh -c "'$lw' '$work/realized.te' -o '$work/realized.c' --name net --quiet"
code realized
check realized-is-the-same-C   same_code realized
check calibrated-runs          "$lw" verify "$work/calibrated.te"
check realized-runs            "$lw" verify "$work/realized.te"
check annotated-requires-samples-is-refused refuses \
    'samples are required, because no annotation gives the grid of "input"' quantize "$work/annotated.te"
check stages-of-quantize-are-named-is-refused refuses 'for a quantization: annotated, calibrated, realized' \
    dump "$work/net.te" --at anotated
without_effect() {
    "$lw" dump "$work/net.te" --samples "$work/good.npy" > "$work/said" 2>&1
    [ $? -eq 2 ] && grep -q 'no effect on --at dag' "$work/said"
}
check samples-without-a-stage-are-refused without_effect
check bounds-without-a-stage-are-refused  refuses '\-\-min-sqnr has no effect on --at dag' \
    dump "$work/net.te" --min-sqnr 40
# With a bound, the calibrated stage has the chosen widths, and gives the same C.
wide_stage() {
    "$lw" dump $digits/digits.onnx --samples "$work/calibration.npy" --ports float --min-sqnr 50 --at calibrated \
        -o "$work/wide.te" &&
    "$lw" quantize "$work/wide.te" --ports float --name net --quiet -o "$work/wide.c" && code wide &&
    "$lw" quantize $digits/digits.onnx --samples "$work/calibration.npy" --ports float --min-sqnr 50 --name net \
        --quiet -o "$work/whole.c" &&
    code whole &&
    grep -q 'bits=16' "$work/wide.te" && cmp "$work/whole.txt" "$work/wide.txt"
}
check calibrated-has-the-widths-of-a-bound wide_stage
# The QDQ file has the names of the network. Its 16-bit grids are those of com.microsoft beside opset 13: ONNX Runtime
# refuses 8-bit grids in files of opset 21 at its default level.
wide_file() {
    "$lw" quantize $digits/digits.onnx --samples "$work/calibration.npy" --ports float --min-sqnr 49 \
        -o "$work/wide.onnx" --quiet || return 1
    grep -q -a 'com.microsoft' "$work/wide.onnx" && grep -q -a 'relu_1_QuantizeLinear' "$work/wide.onnx" &&
        grep -q -a 'conv_2_Conv' "$work/wide.onnx"
}
check file-with-wide-grids wide_file
check file-with-wide-grids-runs "$lw" verify "$work/wide.onnx"
# widths LINES: a 16-bit grid of an input that only a view reads, and a layer that stays in floats, are read back.
widths() {
    { printf 'simulated_quantize input bits=16\nsimulated_quantize relu_2 bits=32\n'; } > "$work/widths.txt"
    "$lw" dump $digits/digits.onnx --annotate "$work/widths.txt" --samples "$work/calibration.npy" --ports float \
        --at calibrated -o "$work/widths.te" &&
    "$lw" quantize "$work/widths.te" --ports float --quiet -o "$work/widths.c" &&
    "$lw" evaluate "$work/widths.te" --test "$work/test.npy" --reference $digits/digits.onnx > "$work/said" || return 1
    cat "$work/said"
    awk '/^emitted C/ { c = $3 } /^against/ { a = $(NF - 6) } END { exit !(c > 35) }' "$work/said" &&
        grep -q 'against .*noise [34][0-9]' "$work/said" &&
        [ "$(grep -c 'simulated_quantize(conv_[23]_*[0-9]*, conv' "$work/widths.te")" -eq 0 ]
}
check widths-are-read-back widths

# float, simulated and emitted C of one file, side by side. The file is emitted unchanged, so a softmax in it stays
# in floats; the realized file is what quantize emits.
side_by_side() {
    "$lw" evaluate "$work/calibrated.te" --test "$@" > "$work/said" 2>&1 ||
        { cat "$work/said"; return 1; }
    sed -n 2,5p "$work/said"
    awk '/^float/ { f++ } /^simulated/ && /dB/ { s++ } /^emitted C/ && /dB/ { i++ }
        END { exit !(f == 1 && s == 1 && i == 1) }' "$work/said"
}
check evaluate-compares-forms-with-labels optimized side_by_side $digits/test.npy --test-labels $digits/test_labels.npy
against() {
    "$lw" evaluate "$work/realized.te" --test "$work/test.npy" --reference $digits/digits.onnx > "$work/said" 2>&1
    cat "$work/said"
    grep -q '^against .*digits.onnx: signal to noise [34][0-9]\.[0-9] dB' "$work/said"
}
check evaluate-compares-with-a-reference  against
# The realized stage of a calibrated file has the figure that quantize prints for the network.
same_figure() {
    "$lw" dump "$work/calibrated.te" --at realized -o "$work/again.te" || return 1
    "$lw" quantize $digits/digits.onnx --samples "$work/calibration.npy" --test "$work/test.npy" -o "$work/fig.c" \
        > "$work/said" 2>&1
    "$lw" evaluate "$work/again.te" --test "$work/test.npy" --reference $digits/digits.onnx >> "$work/said" 2>&1
    cat "$work/said"
    awk '/^integer C/ { c = $3 } /^against/ { sub(/.*noise /, ""); a = $1 } END { exit !(c > 30 && a == c) }' \
        "$work/said"
}
check the-realized-stage-has-the-figure-of-quantize same_figure
# On a terminal the last line of progress is erased, whichever part was last. Work that takes more than a second has
# such lines.
erased() {
    $cc -std=c99 tests/tools/on_terminal.c -o "$work/on_terminal" &&
        "$work/on_terminal" "$lw" quantize $digits/digits.onnx --samples $digits/test.npy --refine \
            --sensitivity --min-sqnr 40 -o "$work/terminal.c" > "$work/said" || return 1
    [ "$(tail -n 1 "$work/said")" = '[]' ] || { cat "$work/said"; return 1; }
}
if echo 'int main(void) { return posix_openpt(0) < 0; }' | $cc -include stdlib.h -D_XOPEN_SOURCE=600 -x c - \
    -o "$work/has_terminals" 2> /dev/null; then check progress-is-erased-from-a-terminal erased
else skip progress-is-erased-from-a-terminal "no terminals by posix_openpt"; fi
alone() {
    "$lw" evaluate $digits/digits.onnx --test $digits/test.npy > "$work/said" 2>&1
    [ $? -eq 2 ] && grep -q 'nothing to compare with' "$work/said"
}
check evaluate-needs-something-to-compare alone

# A float .tflite: three inputs, a dense layer and a softmax.
npy three.npy '4, 1, 3' '<f4' 0 ''
i=0
while [ $i -lt 12 ]; do
    printf "$(printf '\\000\\000\\%03o\\077' $((100 + i * 7)))"
    i=$((i + 1))
done >> "$work/three.npy"
tflite() {
    "$lw" quantize tests/models/labels.tflite --samples "$work/three.npy" --test "$work/three.npy" -o "$work/tfl.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    awk '/^simulated/ { s = $2 } /^integer C/ { c = $3 } END { exit !(c > 25 && s > 25) }' "$work/said" &&
        grep -q 'int8_t  *\[1\]\[3\]' "$work/tfl.h" && ! grep -q float "$work/tfl.c"
}
check a-float-tflite-becomes-integers tflite

# ---- Files of samples ------------------------------------------------------------------------------------------------

# The same C from other files with the same samples.
cat > "$work/many.te" << 'TE'
input x: f32[1][64][64][1]
const w: f32[4][2] = [1, 2, 3, 4, 1, 2, 3, 4]
p = max_pool2d(x, kernel=[32,32], stride=[32,32])
r = reshape(p, shape=[1,4])
y = dense(r, w)
output y
TE
# stack FILE COUNT: COUNT samples, every second one with other numbers.
stack() {
    npy "$1" "$2, 64, 64, 1" '<f4' 0 ''
    i=0; while [ $i -lt $2 ]; do cat "$work/pair.bytes"; i=$((i + 2)); done >> "$work/$1"
}
tail -c 32 "$work/varied.npy" > "$work/half.bytes"
for i in 1 2 3 4 5 6 7 8 9; do
    cat "$work/half.bytes" "$work/half.bytes" > "$work/more.bytes"
    mv "$work/more.bytes" "$work/half.bytes"
done
{ cat "$work/half.bytes"; head -c 16384 "$work/half.bytes" | tr '\000' '\001'; } > "$work/pair.bytes"
# as_file SAMPLES: the C of these samples is that of eight.npy.
stack eight.npy 8
mkdir -p "$work/folder"
stack folder/a.npy 6
npy folder/b.npy '1, 64, 64, 1' '<f4' 0 ''
head -c 16384 "$work/pair.bytes" >> "$work/folder/b.npy"
npy folder/c.npy '1, 1, 64, 64, 1' '<f4' 0 ''
tail -c 16384 "$work/pair.bytes" >> "$work/folder/c.npy"
"$lw" quantize "$work/many.te" --samples "$work/eight.npy" --name net -o "$work/eight.c" --quiet
as_file() {
    "$lw" quantize "$work/many.te" --samples "$1" --name net -o "$work/again.c" --quiet > "$work/said" 2>&1 &&
        code eight && code again && cmp "$work/eight.txt" "$work/again.txt" >> "$work/said" && return
    cat "$work/said"
    return 1
}
check samples-of-a-folder       as_file "$work/folder"
piped() { cat "$work/eight.npy" | as_file /dev/stdin; }
check samples-of-a-stream       piped
# archived METHOD: in an .npz, stored as they are (0) or packed (8).
archived() {
    python3 -c "import zipfile; zipfile.ZipFile('$work/eight.npz', 'w', $1).write('$work/eight.npy', 'x.npy')" &&
        as_file "$work/eight.npz"
}
damaged() {
    archived 0 || return 1
    head -c 5000 "$work/eight.npz" > "$work/bad.npz"
    printf X >> "$work/bad.npz"
    tail -c +5002 "$work/eight.npz" >> "$work/bad.npz"
    refuses 'is damaged: its checksum' quantize "$work/many.te" --samples "$work/bad.npz"
}
if command -v python3 > /dev/null; then
    check samples-of-an-archive        archived 0
    check samples-of-a-packed-archive  archived 8
    check a-damaged-archive-is-refused damaged
else
    skip samples-of-an-archive "python3 is not there"
fi
columns() {
    npy rows.npy '2, 4' '<f4' 0 ''; npy columns.npy '2, 4' '<f4' 0 ''
    tail -c 32 "$work/varied.npy" >> "$work/rows.npy"
    sed -e 's/x: f32.*/x: f32[1][4]/' "$work/net.te" > "$work/rows.te"
    header="{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4), }"
    {
        printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
        for i in 0 4 1 5 2 6 3 7; do tail -c 32 "$work/varied.npy" | tail -c +$((4 * i + 1)) | head -c 4; done
    } > "$work/columns.npy"
    for i in rows columns; do
        "$lw" quantize "$work/rows.te" --samples "$work/$i.npy" --name net -o "$work/$i.c" --quiet && code $i ||
            return 1
    done
    cmp "$work/rows.txt" "$work/columns.txt"
}
check samples-in-fortran-order columns

# ---- Ports and report ------------------------------------------------------------------------------------------------

wide_ports() {
    "$lw" quantize $digits/digits.onnx --samples "$work/calibration.npy" --test "$work/test.npy" --ports int16 \
        -o "$work/wide.c" > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    grep 'int16_t  *\[1\]' "$work/wide.h"
    [ "$(grep -c 'int16_t  *\[1\].*scale [0-9.]*, zero point 0$' "$work/wide.h")" -eq 2 ] &&
        grep -q '; 0 calls stay in floats' "$work/said" && ! grep -q -w float "$work/wide.c" &&
        awk '/^integer C/ { ok = $3 > 35 } END { exit !ok }' "$work/said"
}
check ports-of-16-bits optimized wide_ports
# A page without scripts and addresses; a figure for each grid and a bar for each sensitivity; the same bytes again.
reported() {
    "$lw" quantize $digits/digits.onnx --samples "$work/calibration.npy" --report "$work/$1.html" -o "$work/$1.c" \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
}
page() {
    reported one && reported two && cmp "$work/one.html" "$work/two.html" || return 1
    [ "$(grep -c '^<figure>\|<figure><svg' "$work/one.html")" -eq 7 ] &&
        [ "$(grep -c '^<li>' "$work/one.html")" -eq 7 ] && ! grep -q -i '<script\|http' "$work/one.html"
}
check report-has-a-figure-for-each-grid page
check report-must-be-html refuses 'must end in .html' \
    quantize "$work/net.te" --samples "$work/good.npy" --report "$work/page.txt"

# wide_curve CALL LEAST: a function of the difference of two 16-bit tensors, in integers. The weights are on the
# grid.
wide_curve() {
    { printf 'input x: f32[1][4]\nconst w: f32[4][2] = [0.9921875, 0.25, 0.5, 0.9921875, 0.25, -0.5, -0.125, 0.0625]\n'
      printf 'const v: f32[4][2] = [-0.5, 0.9921875, 0.9921875, -0.25, 0.125, 0.5, 0.25, 0.375]\n'
      printf 'a = dense(x, w)\nb = dense(x, v)\nc = sub(a, b)\ny = %s\noutput y\n' "$1"; } > "$work/curve.te"
    printf 'simulated_quantize %s bits=16\n' x c a b > "$work/curve.txt"
    "$lw" dump "$work/curve.te" --annotate "$work/curve.txt" --samples "$work/varied.npy" --ports int16 \
        --at calibrated -o "$work/curve2.te" &&
    "$lw" quantize "$work/curve2.te" --ports int16 --test "$work/varied.npy" -o "$work/curve.c" > "$work/said" 2>&1 ||
    { cat "$work/said"; return 1; }
    cat "$work/said"
    ! grep -q -w float "$work/curve.c" &&
        awk '/^simulated/ { s = $2 } /^integer C/ { c = $3 } END { exit !(c > '"$2"' && c > s - 1) }' "$work/said"
}
check tanh-of-16-bits-is-integers    wide_curve 'tanh(c)' 60
check gelu-of-16-bits-is-integers    wide_curve 'gelu(c)' 60
check exp-of-16-bits-is-integers     wide_curve 'exp(c)' 60
check softmax-of-16-bits-is-integers wide_curve 'softmax(c, axis=1)' 60
check relu-of-a-difference-is-integers wide_curve 'relu(c)' 60

# ---- The user's annotations ------------------------------------------------------------------------------------------

# edited COMMAND WORDS: after the edit by sed, the emitted C of the annotated model has the words.
edited() {
    sed -e "$1" "$work/annotated.te" > "$work/edited.te"
    "$lw" quantize "$work/edited.te" --samples "$work/calibration.npy" -o "$work/edited.c" --name net \
        > "$work/said" 2>&1 || { cat "$work/said"; return 1; }
    grep -q -e "$2" "$work/said" "$work/edited.c" && return
    cat "$work/said"
    return 1
}
check a-tensor-stays-in-floats edited 's/(relu_2)/(relu_2, bits=32)/' \
    'stays in floats: conv_2 (depthwise_conv2d) and 5 after it'
check weights-of-four-bits edited 's/(gemm_1)/(gemm_1, bits=4)/' \
    '^  *-*[0-7],-*[0-7],-*[0-7],-*[0-7],-*[0-7],-*[0-7],-*[0-7],-*[0-7],-*[0-7],-*[0-7],'
# annotated_by LINE WORDS: as an annotation file.
annotated_by() {
    echo "$1" > "$work/said.txt"
    "$lw" dump $digits/digits.onnx --annotate "$work/said.txt" --samples "$work/calibration.npy" --at calibrated \
        > "$work/said" 2>&1
    grep -q -e "$2" "$work/said" && return
    grep -v '^ ' "$work/said" | cut -c1-100
    return 1
}
check file-gives-a-grid       annotated_by 'simulated_quantize relu_4 scale=0.0625 zero=-100' \
    '^const relu_4_scale: f32 = \[0.0625\]'
check file-reaches-an-input   annotated_by 'simulated_quantize input scale=0.03125 zero=0' \
    '^const input_scale: f32 = \[0.03125\]'
check file-names-a-result     annotated_by 'simulated_quantize scores scale=0.0078125 zero=-128' \
    '^const scores_scale: f32 = \[0.0078125\]'
check file-reaches-weights    annotated_by 'simulated_quantize conv_3.weight bits=32' \
    'conv_3_grid = annotation.simulated_quantize(conv_3_2, bits=32)'
check file-splits-a-layer     annotated_by 'simulated_quantize batchnormalization_3 bits=8' \
    '^const batchnormalization_3[_0-9]*_scale: f32 = '
check a-value-before-a-batch-norm-stays annotated_by 'simulated_quantize conv_3 bits=8' \
    '^conv_3_grid_2 = annotation.simulated_quantize(conv_3, conv_3_scale_2, conv_3_zero_2)'
# The batch norm, with a factor for each channel, stays apart from the convolution, on integers; also of the stage.
before_batch_norm() {
    echo 'simulated_quantize conv_3 bits=8' > "$work/norm.txt"
    "$lw" quantize $digits/digits.onnx --annotate "$work/norm.txt" --samples "$work/calibration.npy" --name net \
        -o "$work/before.c" > "$work/said" &&
        "$lw" dump $digits/digits.onnx --annotate "$work/norm.txt" --samples "$work/calibration.npy" --at calibrated \
            -o "$work/before.te" &&
        "$lw" quantize "$work/before.te" --name net -o "$work/before2.c" || return 1
    cat "$work/said"
    grep -q '; 0 calls stay in floats' "$work/said" && code before && code before2 &&
        cmp "$work/before.txt" "$work/before2.txt"
}
check a-batch-norm-behind-a-grid-is-integers before_batch_norm
check folded-scale-is-refused annotated_by 'simulated_quantize conv_3.weight scale=1' 'so its scale has no effect'
check odd-bits-are-refused    annotated_by 'simulated_quantize relu_4 bits=7' \
    'bits=7; use 8, 16, or 32 for floats'
check zero-off-the-grid-is-refused annotated_by 'simulated_quantize relu_4 scale=1 zero=300' \
    'zero 300 is not on the grid'
check no-positive-scale-is-refused annotated_by 'simulated_quantize relu_4 scale=0' 'the scale is 0; use a positive'
check misspelt-constant-is-refused annotated_by 'simulated_quantize conv_3.wieght bits=4' "did you mean 'conv_3.weight'"

# The calibrated network, quantized without samples, has the interface of the network that it was printed from.
same_interface() {
    "$lw" quantize $digits/digits.onnx --samples "$work/calibration.npy" -o "$work/direct/net.c" --name net --quiet ||
        return 1
    "$lw" dump $digits/digits.onnx --samples "$work/calibration.npy" --at calibrated -o "$work/net.te" &&
        "$lw" quantize "$work/net.te" -o "$work/again/net.c" --name net --quiet || return 1
    for way in direct again; do
        sed '/SHA-256\|_SHA256/d; s/digits\.onnx\|net\.te/MODEL/' "$work/$way/net.h" > "$work/$way.h"
    done
    diff "$work/direct.h" "$work/again.h" && grep -q 'const int8_t \*input;' "$work/again.h" &&
        grep -q 'int8_t \*scores;' "$work/again.h"
}
mkdir -p "$work/direct" "$work/again"
check calibrated-network-has-the-same-interface same_interface

if [ -d $data ]; then
    check a-quantized-model-is-refused quantized_already
    check kws_cnn-reaches-99.5-percent-on-integers optimized accuracy kws_cnn 9950
    check kws_gru-reaches-94.5-percent-with-integer-products optimized gru
    if command -v python3 > /dev/null; then check kws_gru-keeps-nearest-weights-on-noise optimized gru_on_noise
    else skip kws_gru-keeps-nearest-weights-on-noise "python3 is not there"; fi
    check the-best-of-misses-includes-8-bits optimized best_of_misses
    check kws_cnn_skewed-reaches-99-percent-on-integers optimized accuracy kws_cnn_skewed 9900
else
    skip recorded-networks "$data is not there"
fi
report_end
