#!/bin/sh
# SPDX-License-Identifier: MIT
# verify.sh BUILD: `loopwright verify`: the values it compares, the tolerance, how it builds and runs, and the verdict.
set -u
. "$(dirname "$0")/report.sh"
begin "verify.sh BUILD" "$@"
rm -rf "$work"/*
digits=samples/digits/digits.onnx

# says STATUS WORDS ARGUMENT...: verify ends with STATUS and prints a line with WORDS, a pattern of grep.
says() {
    want=$1 words=$2 status=0
    shift 2
    "$lw" verify "$@" > "$work/said" 2>&1 || status=$?
    grep -q -e "$words" "$work/said" && [ "$status" -eq "$want" ] && return
    echo "loopwright verify $*: status $status, $want expected, with: $words"
    cat "$work/said"
    return 1
}
te() { printf "$1" > "$work/$2.te"; }
# npy FILE TYPE SHAPE BYTES: BYTES is a format of printf.
npy() {
    {
        printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3,), }"
        printf "$4"
    } > "$work/$1.npy"
}

te 'input x: f32[4]\ny = relu(x)\noutput y\n' real
te 'input x: i8[4]\ny = relu(x)\noutput y\n' byte
npy zeros '<f4' 4 '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
npy small '<f4' 4 '\000\000\000\000\027\267\121\070\000\000\000\000\000\000\000\000'        # the second is 0.00005
npy ones '|i1' 4 '\001\001\001\001'
npy mixed '|i1' 4 '\001\002\001\001'

# A file in another order of the sizes is refused; dimensions of 1 may differ, and a list is in order.
te 'input x: f32[1][2][4]\ny = relu(x)\noutput y\n' order
four='\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
eight=$four$four
npy other_order '<f4' '4, 2' "$eight"
npy same_order '<f4' '2, 1, 4' "$eight"
npy list '<f4' 8 "$eight"
refuses_order() {
    "$lw" run "$work/order.te" "$work/other_order.npy" > "$work/said" 2>&1 && return 1
    grep -F 'has the shape [4][2], but the input "x" has [1][2][4]; use the sizes of the input in this order' \
        "$work/said"
}
check input-in-another-order-is-refused refuses_order
check input-with-other-dimensions-of-one-is-read "$lw" run "$work/order.te" "$work/same_order.npy"
check input-as-a-list-is-read "$lw" run "$work/order.te" "$work/list.npy"
# The layers of a profile have the names of the report.
same_names() {
    CC="$cc -O0" "$lw" verify "$1" --profile --quiet |
        sed -n 's/^  \([^ ]*\)  *[0-9][0-9]* .*%$/\1/p' > "$work/profiled" &&
        "$lw" report "$1" -o "$work/names.csv" --quiet &&
        while read -r layer; do
            grep -q "^\"\",\"$layer\"," "$work/names.csv" || { echo "no $layer"; cat "$work/names.csv"; return 1; }
        done < "$work/profiled"
    [ "$(wc -l < "$work/profiled")" -ge 4 ]
}
check profile-names-layers-as-report-does same_names tests/models/heads.onnx

# ---- Values that a condition skips -----------------------------------------------------------------------------------
# A statement names what it uses several times, also where a condition decides whether it is used: its text would double
# with each square. A named load keeps its condition: only the first four rows of x exist.

squares() {     # squares FIRST: lines a0 to a19, each the square of the one before; a0 of FIRST
    last=$1 i=0
    while [ $i -lt 20 ]; do echo "a$i = mul($last, $last)"; last=a$i i=$((i + 1)); done
}
{
    printf 'input x: f32[8]\ninput r: f32[1]\ninput c: bool[8]\ninput d: bool[8]\ninput z: f32[8]\n'
    printf 't = tanh(add(x, r))\n'
    squares t
    printf 'b = where(d, a19, add(a18, r))\ny = where(c, b, z)\noutput y\n'
} > "$work/skipped.te"
{
    printf 'input x: f32[4]\ninput z: f32[8]\ninput c: bool[8]\n'
    printf 'b[i<8] = select(c[i] && i < 4, tanh(x[min(i, 3)]), z[i])\n'
    squares b
    printf 'y[i<8] = select(c[i] && i < 4, a19[i] + x[min(i, 3)], 0)\noutput y\n'
} > "$work/guarded.te"
has_short_text() {
    "$lw" "$1" -o "$work/short.c" --name m --quiet && [ "$(wc -c < "$work/short.c")" -lt 12000 ]
}
for model in skipped guarded; do
    check text-of-$model-values-is-short has_short_text "$work/$model.te"
    check $model-values-are-computed says 0 '^verified: 1 of 1' "$work/$model.te"
done
printf 'input x: i8[4][128]\ny = l2_norm_fixed(x, zero=3)\noutput y\n' > "$work/norm.te"
check text-of-a-norm-is-short has_short_text "$work/norm.te"
scales_rows_once() {
    "$lw" "$work/norm.te" -o "$work/norm.c" --name m && [ "$(grep -c lw_mulhigh "$work/norm.c")" -lt 30 ]
}
check norm-of-a-row-is-computed-once scales_rows_once

# The scratch folder is the user's own, whatever the umask, and has no name that others could take before. Its rights
# are those at the time of the compilation.
printf '#!/bin/sh\nls -ld "$TMPDIR"/loopwright-verify-* >> "%s"\nexec %s "$@"\n' "$work/folders" "${CC:-cc}" \
    > "$work/listing"
chmod +x "$work/listing"
owns_folder() {
    rm -rf "$work/folders" "$work/tmp" && mkdir "$work/tmp" || return
    for run in 1 2; do
        (umask 000; TMPDIR=$work/tmp "$lw" verify "$work/real.te" --cc "$work/listing" --quiet) || return
    done
    cat "$work/folders"
    [ "$(grep -c '^drwx------' "$work/folders")" -eq 2 ] &&
        [ "$(sed 's/.*verify-//' "$work/folders" | sort -u | wc -l)" -eq 2 ]
}
check scratch-folder-is-private owns_folder
check empty-TMPDIR-is-none sh -c "TMPDIR= '$lw' verify '$work/real.te' --quiet"

# ---- Output ----------------------------------------------------------------------------------------------------------

check equal-outputs-are-verified says 0 '^y: 0 of 4 elements differ$' "$work/real.te"
last_line() {
    words='verified: 1 of 1 outputs agree with the interpreter on generated inputs; floats within 0.0001 + 0.001'
    "$lw" verify "$work/real.te" | tail -n 1 | grep -q "^$words"
}
check verdict-is-the-last-line last_line
check verdict-names-given-inputs says 0 '^verified: .* on the given inputs' "$work/real.te" "$work/zeros.npy"
check difference-is-counted    says 0 \
    '^y: 1 of 4 elements differ; largest difference 0.00005 at element 1, within the tolerance; ' \
    "$work/real.te" "$work/zeros.npy" --expect "$work/small.npy"
# One error of 0.00005 among four values, of which the others are right.
check difference-has-its-norms says 0 'tolerance; RMSE 2.5e-05, MAE 1.25e-05, L2 relative .*, cosine' \
    "$work/real.te" "$work/zeros.npy" --expect "$work/small.npy"
check compiler-and-flags-are-printed says 0 '^built by .* -std=c99 -O2 -ffp-contract=off, run by this machine$' \
    "$work/real.te"
check portable-form-is-noted   says 0 '^the instructions of cortex-m4 .* through their portable form' \
    $digits --target cortex-m4
# A compiler for which all processors of its kind have the instructions, or none.
printf '#!/bin/sh\ncase $* in *test.c*) exit %%d ;; esac\nexec %s "$@" -O0\n' "$cc" > "$work/format"
printf "$(cat "$work/format")" 1 > "$work/without"
chmod +x "$work/without"
check compiler-without-instructions-is-noted says 0 "^the instructions of x86-avx2 .* because $work/without or this" \
    $digits --target x86-avx2 --cc "$work/without"
check options-of-the-compiler-stay says 0 "^built by $cc -mtune=generic -O0 -std=c99" "$work/real.te" \
    --target x86-avx2 --cc "$cc -mtune=generic -O0"
if [ "$(uname -m)" = x86_64 ] && grep -qw sse4_1 /proc/cpuinfo; then
    setup instructions-of-the-target-run says 0 '^the instructions of x86 .* run as instructions$' $digits --target x86
    check flags-of-the-target-are-printed grep -q '^built by .* -msse4.1 -std=c99' "$work/said"
else
    skip instructions-of-the-target-run "this processor has no SSE 4.1"
fi
check no-portable-form-no-note sh -c "! '$lw' verify '$work/real.te' | grep 'portable form'"

# ---- Tolerance -------------------------------------------------------------------------------------------------------

setup tolerance-less-fails     says 1 'y: 1 of 4 elements differ; .*; 1 beyond the tolerance' \
    "$work/real.te" "$work/zeros.npy" --expect "$work/small.npy" --tolerance 1e-5
check tolerance-less-verdict-is-failed grep -q '^FAILED: 0 of 1 outputs agree with the expected outputs' "$work/said"
check tolerance-more-passes    says 0 'verified: .*; floats within 0.01 + 0.5' \
    "$work/real.te" "$work/zeros.npy" --expect "$work/small.npy" --tolerance 0.01,0.5
check steps-none-fails         says 1 'y: 1 of 4 elements differ; .*; 1 beyond the tolerance' \
    "$work/byte.te" "$work/ones.npy" --expect "$work/mixed.npy"
setup steps-one-passes         says 0 'y: 1 of 4 elements differ; .*, within the tolerance' \
    "$work/byte.te" "$work/ones.npy" --expect "$work/mixed.npy" --steps 1
check steps-are-in-the-verdict grep -q '^verified: .*; quantized values within 1 steps' "$work/said"
check tolerance-without-floats-is-refused says 1 'error: --tolerance has no effect, because no output holds floats' \
    "$work/byte.te" --tolerance 1
check steps-without-integers-is-refused says 1 'error: --steps has no effect' "$work/real.te" --steps 1
for value in -1 1,-1 x 1, 1,x ''; do
    check "tolerance-of-form-'$value'" says 2 '--tolerance' "$work/real.te" "--tolerance=$value"
done
for value in 0 -1 1.5 x; do
    check "steps-of-form-'$value'" says 2 '--steps does not accept' "$work/real.te" "--steps=$value"
done

# ---- Other compilers and machines ------------------------------------------------------------------------------------

printf '#!/bin/sh\necho "$@" > "%s"\nexec %s "$@"\n' "$work/built" "$cc" > "$work/compiler"
printf \
    '#!/bin/sh\necho "$@" > "%s"\n"$@" && echo hello && echo instructions 1234 && echo cycles 99 && echo ns 5.5 now\n' \
    "$work/ran" > "$work/runner"
printf '#!/bin/sh\nexit 3\n' > "$work/broken"
chmod +x "$work/compiler" "$work/runner" "$work/broken"
setup cc-builds                says 0 "^built by $work/compiler -std=c99" "$work/real.te" --cc "$work/compiler"
setup level-of-the-compiler-words says 0 "^built by $work/compiler -O1 -std=c99 -ffp-contract=off" \
    "$work/real.te" --cc "$work/compiler -O1"
check cc-was-called            grep -q 'model.c.* -lm' "$work/built"
setup runner-runs              says 0 "run by $work/runner" $digits --target cortex-m4 --runner "$work/runner"
check runner-is-given-files    grep -q '/prog .*/in0.npy .*/out0.npy$' "$work/ran"
check runner-of-the-portable-form-is-noted grep -q 'portable form, because .* does not use them' "$work/said"
check runner-instructions-are-printed grep -qx 'instructions 1234' "$work/said"
check runner-cycles-are-printed grep -qx 'cycles 99' "$work/said"
check runner-time-is-printed   grep -qx 'ns 5.5' "$work/said"
check runner-other-lines-are-dropped sh -c "! grep hello '$work/said'"
check runner-that-fails-is-an-error says 1 'the runner failed' "$work/real.te" --runner "$work/broken"
check cc-that-fails-is-an-error says 1 'building the emitted C failed' "$work/real.te" --cc "$work/broken"
no_rest() { [ -z "$(ls -d "$work"/tmp/* 2> /dev/null)" ]; }
mkdir -p "$work/tmp"
TMPDIR="$work/tmp" "$lw" verify "$work/real.te" --runner "$work/runner" > /dev/null
check no-file-is-left          no_rest

# ---- Counts per layer ------------------------------------------------------------------------------------------------

setup profile-is-verified      says 0 '^verified: 1 of 1' $digits --profile
check profile-names-layers     grep -q '^  conv_4  *[0-9][0-9]* .* %$' "$work/said"
check profile-has-the-sum      grep -q '^ns [0-9]' "$work/said"
long=a_name_of_more_than_fifty_two_characters_as_exporters_of_keras_write_them
te "input x: f32[16]\n$long = softmax(x)\ny = sigmoid($long)\noutput y, $long\n" long
setup profile-of-long-names    says 0 '^  a_name_of.*\.\.\..*_write_them ' "$work/long.te" --profile
one_width() { [ "$(sed -n 's/^  .* %$/&/p' "$work/said" | awk '{ print length($0) }' | sort -u | wc -l)" -eq 1 ]; }
check profile-columns-of-long-names one_width
check profile-follows-branches says 0 '^  else_c\|^  .*[0-9] %$' tests/models/control.onnx \
    tests/models/control.in0.0.npy tests/models/control.in0.1.npy tests/models/control.in0.2.npy \
    tests/models/control.in0.3.npy --profile
"$lw" $digits --profile --standalone --name net -o "$work/profiled.c" --quiet
"$lw" $digits --profile --train 'loss=cross_entropy optimizer=sgd(rate=0.01) update=last' --name step \
    -o "$work/profiled_step.c" --quiet
strict="-pedantic -Wall -Wextra -Wconversion -Wshadow -Wundef -Werror"
profiled() { $1 -std=c99 $strict -O1 -c "$work/$2.c" -Iruntime -o "$work/profiled.o"; }
check profile-without-warnings profiled "$cc" profiled
check profile-of-a-training-step profiled "$cc" profiled_step
for core in cortex-m0plus cortex-m23 cortex-m4 cortex-m7 cortex-m55; do
    if has arm-none-eabi-gcc; then check profile-$core profiled "arm-none-eabi-gcc -mcpu=$core -mthumb" profiled
    else skip profile-$core "arm-none-eabi-gcc is not installed"; fi
done
for cross in riscv64-linux-gnu-gcc aarch64-linux-gnu-gcc; do
    if has $cross; then check profile-$cross profiled $cross profiled
    else skip profile-$cross "$cross is not installed"; fi
done

# The counter is the caller's: each read is one more than the last, so a layer counts 1.
ones() {
    printf '%s\n' '#include <stdint.h>' 'uint64_t ones(void);' '#define LW_COUNTER_START() ((void)0)' \
        '#define LW_COUNTER() ones()' '#define LW_COUNTER_MASK 7u' '#define LW_COUNTER_UNIT "cycles"' > "$work/ones.h"
    printf '#include <stdint.h>\nuint64_t ones(void);\nuint64_t ones(void) { static uint64_t n; return n++ & 7u; }\n' \
        > "$work/ones.c"
    "$lw" verify $digits --profile --cc "$cc -include $work/ones.h $work/ones.c" > "$work/said" 2>&1 ||
        { cat "$work/said"; return 1; }
    [ "$(grep -c '^  .* 1  *[0-9.]* %$' "$work/said")" -eq 7 ] && grep -qx 'cycles 7' "$work/said"
}
check profile-reads-another-counter ones

# The emulator's Cortex-M4 has no DWT: the header's own counter, without that of hosted.h, is then SysTick.
counts_without_dwt() {
    printf '#undef LW_COUNTER_%s\n' START MASK UNIT > "$work/own.h" && echo '#undef LW_COUNTER' >> "$work/own.h"
    says 0 '^verified: 1 of 1' $digits --target cortex-m4 --profile \
        --cc "samples/cortex-m/hosted.sh cc cortex-m4 -include $work/own.h" \
        --runner "samples/cortex-m/hosted.sh run cortex-m4" &&
        grep -q '^cycles [1-9]' "$work/said" && [ "$(grep -c '^  .* [1-9][0-9]* *[0-9.]* %$' "$work/said")" -eq 7 ]
}
if has arm-none-eabi-gcc && has qemu-system-arm; then check profile-without-cycle-counter counts_without_dwt
else skip profile-without-cycle-counter "$(missing arm-none-eabi-gcc qemu-system-arm)"; fi

# A compiler whose programs do not link, as those of bare cores: `false`.
words='building the emitted C for a board (docs/verifying.md: --cc and --runner by samples/cortex-m/hosted.sh) failed'
check board-without-runner-is-explained says 1 "error: $words: false" $digits --target cortex-m4 --cc false

# Stacked samples, and floats for an integer input, name the command that takes them.
check stacked-samples-name-evaluate says 1 \
    'holds .* elements of f16, but .*; use `evaluate --test` for stacked samples' $digits samples/digits/test.npy

# The test bench as a bare-metal image.
on_board() {
    says 0 '^verified: 1 of 1' $digits --target cortex-m4 --profile --cc "samples/cortex-m/hosted.sh cc $1" \
        --runner "samples/cortex-m/hosted.sh run $1" &&
        grep -q '^instructions [0-9]' "$work/said"
}
for board in stm32f405 cortex-m0plus cortex-m55; do
    if has arm-none-eabi-gcc && has qemu-system-arm; then check verified-on-$board on_board $board
    else skip verified-on-$board "$(missing arm-none-eabi-gcc qemu-system-arm)"; fi
done

# ---- Models of every kind --------------------------------------------------------------------------------------------

te 'size n in 1..64\ninput x: f32[n]\ny[i] = x[i] + 1\noutput y\nschedule\n  specialize n==16\n' specialized
te 'input x: bf16[16]\ny = relu(x)\noutput y\n' bf16
te 'input x: f32[16][4]\ninput k: i32[5]\ny[i<5, j<4] = x[k[i], j]\noutput y\n' gather
npy four '<f4' 16 "$(printf '\\000\\000\\200\\077%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)"
check specialize-is-verified   says 0 '^n=64: y: 0 of 64 elements differ$' "$work/specialized.te"
check bf16-ports-are-verified  says 0 '^verified: 1 of 1' "$work/bf16.te"
check bf16-input-as-f32-is-verified says 0 '^verified: 1 of 1' "$work/bf16.te" "$work/four.npy"
check gather-by-data-is-verified says 0 '^y: 0 of 20 elements differ$' "$work/gather.te"

# The outputs of the test bench are not zero before a run: a sum that does not begin is seen.
cat > "$work/copies.te" << 'END'
input x: i8[8][40]
input w: i8[40][8]
y[i, j] = sum(k) i32(x[i, k]) * i32(w[k, j])
output y
schedule
  cache_read x stack name=xs
  split y.k 8
  reorder y.ko y.i y.j y.ki
  compute_at xs y.ko
  async xs slots=2
END
check sums-in-a-loop-of-copies "$lw" verify "$work/copies.te"

report_end
