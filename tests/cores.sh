#!/bin/sh
# SPDX-License-Identifier: MIT
# cores.sh BUILD: layers that cores share (--cores). Parts are apart: each part runs from the memory before the fork,
# and all orders of the parts give the same bytes. In threads, a sanitizer finds no race. The results are those of one
# core.
set -u
. "$(dirname "$0")/report.sh"
begin "cores.sh BUILD" "$@"
usable() {
    echo 'int main(void) { return 0; }' > "$work/empty.c" && $cc "$@" "$work/empty.c" -o "$work/empty" 2> /dev/null &&
        "$work/empty" 2> /dev/null
}

# apart MODEL TARGET CORES: verify, with a fork that checks each part; at least one layer is divided.
apart() {
    "$lw" "$1" --target "$2" --cores "$3" --io arena --name m --quiet -o "$work/m.c" && grep -q 'LW_FORK' "$work/m.c" &&
        name=$("$lw" "$1" --quiet -o "$work/own.c" && sed -n 's/^#define \(.*\)_ARENA_SIZE .*/\1/p' "$work/own.h") &&
        "$lw" verify "$1" --target "$2" --cores "$3" --io arena --quiet \
            --cc "$cc -include tests/emitted/fork_apart.h -DFORK_MEMORY=${name}_ARENA_SIZE"
}
# values COUNT SEED: 8-bit weights.
values() {
    awk -v n="$1" -v s="$2" 'BEGIN {
        for (i = 0; i < n; i++) { s = (s * 1103 + 12345) % 65536; printf "%s%d", i ? "," : "", s / 256 - 128 }
    }'
}
# An int8 network of odd sizes: a convolution, a depthwise one, a pointwise one and a dense layer.
int8=$work/int8.te
cat > "$int8" << END
input x: i8[1][9][5][12]
const sx: f32 = {0.03}
const zx: i8 = {-3}
const sk: f32 = {0.002}
const zk: i8 = {0}
const k: i8[3][3][12][14] = {$(values 1512 1)}
const d: i8[3][3][14] = {$(values 126 2)}
const p: i8[1][1][14][22] = {$(values 308 3)}
const w: i8[990][12] = {$(values 11880 4)}
k_real = dequantize(k, sk, zk)
d_real = dequantize(d, sk, zk)
p_real = dequantize(p, sk, zk)
w_real = dequantize(w, sk, zk)
x_real = dequantize(x, sx, zx)
a = conv2d(x_real, k_real, pad=[1,1,1,1])
b = annotation.simulated_quantize(a, sx, zx)
c = depthwise_conv2d(b, d_real, pad=[1,1,1,1])
e = annotation.simulated_quantize(c, sx, zx)
f = conv2d(e, p_real)
g = annotation.simulated_quantize(f, sx, zx)
h = reshape(g, shape=[1,990])
i = matmul(h, w_real)
y = quantize(i, sx, zx, to=i8)
output y
END
# A chain of convolutions whose outputs overlap their inputs.
rounds=$work/rounds.te
cat > "$rounds" << END
input x: i8[1][24][5][16]
const sx: f32 = {0.03}
const zx: i8 = {-3}
const sk: f32 = {0.002}
const zk: i8 = {0}
const p: i8[1][1][16][16] = {$(values 256 5)}
const d: i8[3][3][16] = {$(values 144 6)}
x_real = dequantize(x, sx, zx)
p_real = dequantize(p, sk, zk)
d_real = dequantize(d, sk, zk)
a = conv2d(x_real, p_real)
b = annotation.simulated_quantize(a, sx, zx)
c = depthwise_conv2d(b, d_real, pad=[1,1,1,1])
e = annotation.simulated_quantize(c, sx, zx)
f = conv2d(e, p_real)
g = annotation.simulated_quantize(f, sx, zx)
h = depthwise_conv2d(g, d_real, pad=[1,1,1,1])
y = quantize(h, sx, zx, to=i8)
output y
END
# Rounds over 18 rows of t, the same rows of y, and the rest of y: the part that reads a row of t has not computed it.
kept=$work/kept.te
cat > "$kept" << END
input x: i32[64]
t[i<18] = x[i] * 3 + 1
y[i<64] = select(i < 18, t[min(i, 17)], x[i] * x[i] + x[i] + 7)
output y
nest
schedule
  cut y.i 18
END
# The last element reads the first ones, which each round would read again.
first=$work/first.te
cat > "$first" << END
input x: i32[64]
y[i<64] = select(i == 63, (x[0] * x[1] + 3) * (x[0] * x[1] + 3), x[i] * x[i] + 7)
output y
nest
schedule
  cut y.i 63
END
digits=samples/digits/digits.onnx
check parts-of-floats-are-apart apart $digits cortex-m4 3
check parts-of-vectors-are-apart apart $digits x86-avx2 2
check parts-of-formulas-are-apart apart tests/emitted/parts.te generic 4
check parts-of-int8-rows-are-apart apart "$int8" cortex-m33 2
check parts-of-int8-rows-in-three-are-apart apart "$int8" cortex-m55 3
check parts-of-int8-bytes-are-apart apart "$int8" x86-avx2 4
check parts-in-rounds-of-rows-are-apart apart "$rounds" cortex-m33 2
check parts-in-rounds-of-channels-are-apart apart "$rounds" cortex-m4 3
check scratch-does-not-pass-from-round-to-round apart "$kept" generic 2
check what-each-round-reads-is-not-overwritten "$lw" verify "$first" --cores 2 --io arena --quiet
# An input and an output have the names of variables of the parts.
field_names() {
    printf 'input memory: i32[64]\ninput weights: i32[64]\nout[i] = memory[i] * weights[i] + 7\noutput out\n' \
        > "$work/fields.te" && "$lw" "$work/fields.te" --cores 2 "$@" --name m --quiet -o "$work/m.c" &&
        grep -q LW_FORK "$work/m.c" && $cc -std=c99 -Wall -Wextra -Werror -Iruntime -c "$work/m.c" -o "$work/m.o"
}
check ports-may-have-the-names-of-variables field_names
check ports-may-have-the-names-of-variables-beside-a-file field_names --weights bin
in_rounds() {
    "$lw" "$rounds" --target cortex-m33 --cores 2 --quiet -o "$work/r.c" && grep -q 'fork.round < ' "$work/r.c"
}
check overlapped-layers-fork-in-rounds in_rounds
check parts-of-int8-loops-are-apart apart "$int8" generic 2

# The test of the test: a fork with a race is found.
finds_a_race() {
    "$lw" verify $digits --cores 2 --io arena --quiet --cc "$cc -include tests/emitted/fork_apart.h \
        -DFORK_MEMORY=DIGITS_ARENA_SIZE -DFORK_RACES" > "$work/race.txt" 2>&1
    [ $? -ne 0 ] && grep -q "writes, as another part does" "$work/race.txt"
}
check race-is-found finds_a_race

# same MODEL TARGET CORES INPUT WORD...: the program with LW_FORK of WORD... writes the bytes of the one without cores.
same() {
    model=$1 target=$2 cores=$3 input=$4
    shift 4
    mkdir -p "$work/one" "$work/many"
    "$lw" "$model" --target "$target" --name m --testbench --quiet -o "$work/one/m.c" &&
        "$lw" "$model" --target "$target" --name m --testbench --quiet --cores "$cores" -o "$work/many/m.c" &&
        $cc -std=gnu99 -O1 -ffp-contract=off -w -Iruntime "$work/one/m.c" "$work/one/m_main.c" -o "$work/one/m" -lm &&
        $cc -std=gnu99 -O1 -ffp-contract=off -w "$@" -Iruntime "$work/many/m.c" "$work/many/m_main.c" \
            -o "$work/many/m" -lm &&
        "$work/one/m" "$input" "$work/one/y.npy" > /dev/null &&
        "$work/many/m" "$input" "$work/many/y.npy" > /dev/null && cmp "$work/one/y.npy" "$work/many/y.npy"
}
input=tests/models/digits.in0.npy
check default-fork-gives-the-bytes-of-one-core same $digits cortex-m4 4 $input
threads="-include tests/emitted/fork_threads.h -pthread"
# shellcheck disable=SC2086
if usable -pthread; then check threads-give-the-bytes-of-one-core same $digits x86-avx2 2 $input $threads
else skip threads-give-the-bytes-of-one-core "there are no POSIX threads"; fi
# shellcheck disable=SC2086
if usable -pthread -fsanitize=thread
then check threads-have-no-races same $digits cortex-m4 2 $input $threads -fsanitize=thread
else skip threads-have-no-races "$cc has no thread sanitizer"; fi

# ---- The samples -----------------------------------------------------------------------------------------------------

sample="-include samples/cores/fork.h -pthread"
# shellcheck disable=SC2086
if usable -pthread; then
    check sample-of-posix-threads same $digits generic 3 $input $sample tests/emitted/cores_start.c \
        samples/cores/posix.c
else skip sample-of-posix-threads "there are no POSIX threads"; fi
# shellcheck disable=SC2086
if usable -pthread -std=gnu11 -include threads.h
then check sample-of-c11-threads same $digits generic 2 $input $sample tests/emitted/cores_start.c samples/cores/c11.c
else skip sample-of-c11-threads "$cc has no C11 threads"; fi

arm="arm-none-eabi-gcc -mthumb -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -O2"
board_builds() { $arm -mcpu="$2" -c "samples/cores/$1.c" -o "$work/$1.o"; }
for row in rp2:cortex-m0plus rp2:cortex-m33 stm32h7:cortex-m4 rt1170:cortex-m4 mps2_an521:cortex-m33; do
    why=$(missing arm-none-eabi-gcc) name=sample-for-${row%:*}-on-${row#*:}
    if [ -z "$why" ]; then check "$name" board_builds "${row%:*}" "${row#*:}"
    else skip "$name" "$why"; fi
done

# Two emulated Cortex-M33 compute the digits' network.
two_cores() {
    "$lw" $digits --target cortex-m33 --cores 2 --name m --quiet -o "$work/m.c" &&
        CFLAGS_TARGET="-O2 -include $root/samples/cores/fork.h" MAIN_FLAGS=-Dmain=program \
            MORE_SOURCES="tests/cross/cores_start.c samples/cores/mps2_an521.c" \
            tests/cross/run.sh cortex-m33 "$work" m $input -- tests/models/digits.out0.npy
}
why=$(missing arm-none-eabi-gcc qemu-system-arm bash)
if [ -z "$why" ]; then check two-emulated-cores-agree two_cores
else skip two-emulated-cores-agree "$why"; fi

# ---- Options and report ----------------------------------------------------------------------------------------------

# refuses TEXT OPTION...
refuses() {
    text=$1
    shift
    "$lw" "$@" -o "$work/no.c" > "$work/refused.txt" 2>&1
    [ $? -ne 0 ] && grep -q -e "$text" "$work/refused.txt"
}
check cores-and-training-are-refused refuses "--cores and --train exclude each other" $digits --cores 2 \
    --train 'loss=cross_entropy optimizer=sgd(rate=0.01) update=last'
check cores-and-annotations-are-refused refuses "--cores and --acsl exclude each other" $digits --cores 2 --acsl
check cores-and-memories-are-refused refuses "--cores and --memory exclude each other" $digits --cores 2 \
    --memory a=64K,cost=1
check nine-cores-are-refused refuses "cores" $digits --cores 9

# The report: shares of the busiest core, and their sum.
has_balance() {
    "$lw" report $digits --target cortex-m33 --cores 2 --quiet > "$work/report.txt" &&
        grep -q "cores busiest core    share" "$work/report.txt" && grep -q "^cores *2: about" "$work/report.txt" &&
        "$lw" report $digits --target cortex-m33 --cores 2 --quiet -o "$work/report.json" &&
        grep -q '"parts": 2, "busiest": ' "$work/report.json"
}
check report-shows-the-balance has_balance
report_end
