#!/bin/sh
# SPDX-License-Identifier: MIT
# emitted.sh BUILD: emitted C as firmware uses it: two models in one program, a static arena, nothing but the two files,
# the header from C++, parallel loops in threads, hooks before layers, refused arenas, the test bench, the samples.
set -u
. "$(dirname "$0")/report.sh"
begin "emitted.sh BUILD" "$@"
rm -rf "$work"/*

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
digits=samples/digits/digits.onnx
first=tests/golden/residual/residual.onnx
second=tests/golden/depthwise-pool-concat/depthwise-pool-concat.onnx

# emit NAME MODEL OPTION...: NAME.c and NAME.h in BUILD/emitted/NAME.
emit() {
    name=$1 model=$2
    shift 2
    mkdir -p "$work/$name"
    "$lw" "$model" -o "$work/$name/$name.c" --name "$name" "$@"
}

# build PROGRAM ARGUMENT...: builds it; a warning is an error.
build() {
    program=$1
    shift
    $cc $strict "$@" -lm -o "$work/$program"
}

# ---- Two models in one program, run alternately ----------------------------------------------------------------------
# Each gives the same results as alone: they share no memory, no name is defined twice, all state is in the arenas.

setup emit-first emit one "$first"
setup emit-second emit two "$second"
setup build-two-models build two_models -Iruntime -I"$work/one" -I"$work/two" tests/emitted/two_models.c \
    "$work/one/one.c" "$work/two/two.c"
check two-models-alternate "$work/two_models"

# threads FLAG...: the same two models in four threads.
threads() {
    build threads -O1 -g -pthread "$@" -Iruntime -I"$work/one" -I"$work/two" tests/emitted/threads.c "$work/one/one.c" \
        "$work/two/two.c" &&
        "$work/threads"
}
# usable FLAG...: a program built with the flags runs on this machine.
usable() {
    echo 'int main(void) { return 0; }' > "$work/empty.c" && $cc "$@" "$work/empty.c" -o "$work/empty" 2> /dev/null &&
        "$work/empty" 2> /dev/null
}
if usable -pthread; then check two-models-in-threads threads
else skip two-models-in-threads "there are no POSIX threads"; fi
if usable -pthread -fsanitize=thread; then check two-models-in-threads-without-races threads -fsanitize=thread
else skip two-models-in-threads-without-races "$cc has no thread sanitizer"; fi

# ---- The arena -------------------------------------------------------------------------------------------------------

setup arena-refusals-build build arena -Iruntime -I"$work/one" tests/emitted/arena.c "$work/one/one.c"
check arena-null-misaligned-exact "$work/arena"
setup emit-static-arena emit fixed "$first" --static-arena
setup build-static-arena build static_arena -Iruntime -I"$work/fixed" -I"$work/one" tests/emitted/static_arena.c \
    "$work/fixed/fixed.c" "$work/one/one.c"
check static-arena-same-values "$work/static_arena"

# The same bytes of the arena hold floats, then 16-bit and 32-bit integers. Type-based alias analysis may not change the
# results, with an allocated arena and with a static array.
mixed="tests/golden/quantized-reals/quantized-reals.te tests/golden/residual-bytes/residual-bytes.te
tests/golden/control-flow/control-flow.onnx ../shared/models/onnx/kws_micro_qdq.onnx"
strictly() { CC="$work/$compiler-O3" "$lw" verify "$@"; }
for compiler in gcc clang; do
    if ! has $compiler; then skip "strict-aliasing-$compiler" "$compiler is not installed"; continue; fi
    printf '#!/bin/sh\nexec %s "$@" -O3 -fstrict-aliasing -Wstrict-aliasing=2 -Werror\n' $compiler \
        > "$work/$compiler-O3"
    chmod +x "$work/$compiler-O3"
    for model in $mixed; do
        name=${model##*/}
        if [ ! -f "$model" ]; then
            skip "strict-aliasing-$compiler-$name" "no recorded models beside the project"
            continue
        fi
        check "strict-aliasing-$compiler-$name" strictly "$model"
        check "strict-aliasing-$compiler-$name-static" strictly "$model" --static-arena --target cortex-m4
    done
done

# ---- Instructions ----------------------------------------------------------------------------------------------------
# A loop nest printed as a macro gives the same results with the macro and with its portable loops.

setup emit-instructions emit tiled tests/emitted/instruction.te
setup build-without-macros build untiled -Iruntime -I"$work/tiled" tests/emitted/tensorized.c
setup build-with-macros build tiled_macros -DMACROS -Iruntime -I"$work/tiled" tests/emitted/tensorized.c
check without-macros-same-values "$work/untiled"
check with-macros-same-values "$work/tiled_macros"

# ---- Parallel loops --------------------------------------------------------------------------------------------------
# Random programs in which every loop that may be parallel is parallel, with threads and without, beside the evaluator.

# parallel FLAG...
parallel() {
    TMPDIR=$work EMIT_PARALLEL=1 OMP_NUM_THREADS=4 EMIT_FLAGS="$strict -O1 -ffp-contract=off $*" \
        "$build/test/test_random_emission" 5001 60
}
if usable -fopenmp; then check parallel-loops-in-threads parallel -fopenmp
else skip parallel-loops-in-threads "$cc has no OpenMP"; fi

# ---- State -----------------------------------------------------------------------------------------------------------

pairs="--state level=new_level --state last=new_last"
setup emit-state emit kept tests/emitted/filter.te $pairs
setup emit-state-passed emit passed tests/emitted/filter.te
setup build-state build state -Iruntime -I"$work/kept" -I"$work/passed" tests/emitted/state.c "$work/kept/kept.c" \
    "$work/passed/passed.c"
check state-kept-equals-state-passed "$work/state"
check state-verify "$lw" verify tests/emitted/filter.te $pairs
begins="--state h=new_h --state last=new_last"
setup emit-state-initial emit initial tests/emitted/initial.te $begins
setup build-state-initial build initial_state -Iruntime -I"$work/initial" tests/emitted/initial.c \
    "$work/initial/initial.c"
check state-begins-with-its-values "$work/initial_state"
check state-initial-verify "$lw" verify tests/emitted/initial.te $begins
setup emit-state-static-arena emit chain tests/emitted/chain.te --state h=new_h --static-arena --testbench
check state-in-one-array grep -q '^    float h\[6\];$' "$work/chain/chain.h"

# Three runs of the test bench give the results of three runs of the interpreter that pass the state in files.
runs() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 6), }" \
        > "$work/x.npy"
    cp "$work/x.npy" "$work/h.npy"
    printf '\000\000\200\077\000\000\000\100\000\000\200\076\000\000\000\000\000\000\000\277\000\000\100\100' \
        >> "$work/x.npy"
    head -c 24 /dev/zero >> "$work/h.npy"
    for _ in 1 2 3; do
        "$lw" run tests/emitted/chain.te "$work/x.npy" "$work/h.npy" -o "$work/h2.npy" -o "$work/y.npy" &&
            mv "$work/h2.npy" "$work/h.npy" || return
    done
    build chain_bench -O2 -ffp-contract=off -Iruntime -I"$work/chain" "$work/chain/chain.c" \
        "$work/chain/chain_main.c" &&
        "$work/chain_bench" "$work/x.npy" "$work/y2.npy" --repeat 3 > /dev/null &&
        "$work/chain_bench" "$work/x.npy" "$work/y1.npy" || return
    for y in y y1 y2; do tail -c 4 "$work/$y.npy" > "$work/$y"; done      # the element; headers are padded otherwise
    cmp "$work/y" "$work/y2" && ! cmp -s "$work/y" "$work/y1"
}
check state-through-three-runs runs
# A recorded network on two frames: the bench stores the state, the interpreter receives it as an input.
recorded=../shared/models/onnx/dtln1
stream() {
    emit stream "$recorded.onnx" --state input_3=tf_op_layer_stack_2 --testbench || return
    build stream_bench -O2 -ffp-contract=off -Iruntime -I"$work/stream" "$work/stream/stream.c" \
        "$work/stream/stream_main.c" || return
    head -c 128 "$recorded.in0.1.npy" > "$work/h.npy"
    head -c 2048 /dev/zero >> "$work/h.npy"
    for _ in 1 2; do
        "$lw" run "$recorded.onnx" "$recorded.in0.0.npy" "$work/h.npy" -o "$work/y.npy" -o "$work/h2.npy" &&
            mv "$work/h2.npy" "$work/h.npy" || return
    done
    "$work/stream_bench" "$recorded.in0.0.npy" "$work/y2.npy" --repeat 2 > /dev/null &&
        "$work/stream_bench" "$recorded.in0.0.npy" "$work/y1.npy" || return
    for y in y y1 y2; do tail -c 1028 "$work/$y.npy" > "$work/$y"; done
    cmp "$work/y" "$work/y2" && ! cmp -s "$work/y" "$work/y1"
}
if [ -f "$recorded.onnx" ]; then check state-of-a-recorded-network stream
else skip state-of-a-recorded-network "no recorded models beside the project"; fi
# A variable of a TFLite model is 10, 20 at first; each run adds x to it.
variable() {
    model=tests/fuzz/corpus-tflite/variable.tflite
    "$lw" verify "$model" && emit variable "$model" --testbench || return
    grep -q '^    float total' "$work/variable/variable.h" || return
    build variable_bench -O2 -Iruntime -I"$work/variable" "$work/variable/variable.c" \
        "$work/variable/variable_main.c" || return
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }" \
        > "$work/ones.npy"
    printf '\000\000\200\077\000\000\200\077' >> "$work/ones.npy"
    "$work/variable_bench" "$work/ones.npy" "$work/total.npy" --repeat 3 > /dev/null || return
    tail -c 8 "$work/total.npy" > "$work/total"
    printf '\000\000\120\101\000\000\270\101' | cmp - "$work/total"      # 13, 23
}
check state-of-a-variable variable
refused() {
    ! "$lw" tests/emitted/filter.te -o "$work/no.c" --state "$1" 2> "$work/said" && grep -q "$2" "$work/said" &&
        [ ! -e "$work/no.c" ]
}
check state-no-such-input refused levle=new_level "no input 'levle'.*did you mean 'level'"
check state-no-such-output refused level=level "no output 'level'"
begins_otherwise() {
    ! "$lw" tests/emitted/initial.te -o "$work/no.c" --state h=new_h --value h=tests/models/digits.in0.npy \
        2> "$work/said" &&
        grep -q 'does not hold a tensor f32\[4\]' "$work/said"
}
check state-of-another-beginning begins_otherwise
check state-of-another-shape refused level=new_last 'is f32\[8\], but its output "new_last" is f32\[3\]'

# ---- Sizes that stay open --------------------------------------------------------------------------------------------
# The least size, a middle one and the greatest, beside the interpreter on the model with that size fixed.

open_models="classifier:batch convolution:n attention:time"
for case in $open_models; do
    check "open-${case%:*}-verify" "$lw" verify "tests/models/open_${case%:*}.onnx" --dim "${case#*:}<=9"
done
check open-verify-te "$lw" verify tests/golden/stencil-fused/stencil-fused.te
setup emit-open-size emit open_classifier tests/models/open_classifier.onnx --dim 'batch<=9'
setup build-open-size build open_size -Iruntime -I"$work/open_classifier" tests/emitted/open_size.c \
    "$work/open_classifier/open_classifier.c"
check open-size-in-its-range-alone "$work/open_size"
check open-length-of-windows-and-recurrences "$lw" verify tests/models/open_keywords.onnx --dim '8<=time<=40' \
    --dim 'batch<=3'
check open-length-in-blocks-of-steps "$lw" verify tests/models/open_keywords.onnx --dim 'time=40' --dim 'batch<=3' \
    --target cortex-m4
check open-length-for-a-scalar-core "$lw" verify tests/models/open_keywords.onnx --dim '8<=time<=40' --dim 'batch=1' \
    --target cortex-m4
check open-height-and-width "$lw" verify tests/models/open_image.onnx --dim '5<=height<=20' --dim '4<=width<=17'
too_short() {
    ! "$lw" tests/models/open_image.onnx -o "$work/no.c" --dim 'height<=20' --dim 'width=17' 2> "$work/said" &&
        grep -q "LEAST<=NAME<=MOST" "$work/said"
}
check open-size-too-small-for-a-window too_short
setup emit-open-length emit open_keywords tests/models/open_keywords.onnx --dim '8<=time<=40' --dim 'batch<=3'
least_is_checked() { grep -q 'time < 8\|time >= 8' "$work/open_keywords/open_keywords.c"; }
check open-least-size-is-checked least_is_checked
for target in generic cortex-m4 x86-avx2; do
    check "sums-over-nothing-$target" "$lw" verify tests/emitted/nothing.te --target "$target"
done
check open-size-by-place "$lw" verify tests/models/open_convolution.onnx --dim 'x.0<=4'
quantized=../shared/models/onnx/kws_micro_qdq.onnx
if [ -f "$quantized" ]; then check open-batch-of-a-recorded-network "$lw" verify "$quantized" --dim 'unk__68<=3'
else skip open-batch-of-a-recorded-network "no recorded models beside the project"; fi

# ---- Recurrent layers in blocks of steps -----------------------------------------------------------------------------

check recurrence-in-a-nest-verify "$lw" verify tests/emitted/recurrence_in_a_nest.te
check steps-verify "$lw" verify tests/emitted/steps.te --target cortex-m4
setup emit-steps emit steps tests/emitted/steps.te --target cortex-m4
steps_in_blocks() { [ "$(grep -c 'for (int32_t to = 0;' "$work/steps/steps.c")" -eq 4 ]; }
check steps-in-blocks steps_in_blocks
# A pragma that one of two layers has keeps their functions apart.
keeps_pragma() {
    mkdir -p "$work/pools" || return
    "$lw" dump tests/emitted/pools.te --target cortex-m4 --at scheduled --only a --combine none |
        sed '/^#/d; /^$/d' > "$work/pools/a.txt"
    echo "  pragma acc.i unroll 2" >> "$work/pools/a.txt"
    "$lw" tests/emitted/pools.te --target cortex-m4 --combine none --schedule "$work/pools/a.txt" \
        -o "$work/pools/pools.c" &&
        grep -q 'void pools_a(' "$work/pools/pools.c" && grep -q 'void pools_y(' "$work/pools/pools.c" &&
        [ "$(grep -c 'LW_UNROLL(2)' "$work/pools/pools.c")" -eq 1 ]
}
check pragma-of-one-layer-keeps-functions-apart keeps_pragma
one_function() {
    $cc -std=c99 -Wall -Wextra -Iemitter samples/conv_pool/one_function.c "$build/internal.a" -lm \
        -o "$work/one_function" &&
        "$work/one_function" "$work/one_function.c" && grep -q 'ARENA_SIZE *6144u' "$work/one_function.h"
}
check two-schedules-from-c-are-one-function one_function
check steps-buffers-have-the-layers-words grep -q 'float \*restrict input, float \*restrict sums' "$work/steps/steps.c"

# ---- Weights stored as bytes -----------------------------------------------------------------------------------------
# They are in flash as bytes, in the order of the reads, and in no other memory.

stored() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (60, 40), }" \
        > "$work/k.npy"
    head -c 4000 tests/models/open_attention.onnx | tail -c 2400 >> "$work/k.npy"
    printf 'input x: f32[20][40]\nconst k: i8[60][40] = "k.npy"\nconst s: f32 = {0.0125}\nconst z: i8 = {3}\n' \
        > "$work/stored.te"
    printf 'w = dequantize(k, s, z)\nt = transpose(w, perm=1,0)\ny = dense(x, t)\noutput y\n' >> "$work/stored.te"
    for target in generic cortex-m4; do
        stored=stored_$(echo $target | tr - _)
        "$lw" verify "$work/stored.te" --target $target && emit "$stored" "$work/stored.te" --target $target || return
        grep -q 'ARENA_SIZE   0u' "$work/$stored/$stored.h" && grep -q 'WEIGHTS_SIZE 2400u' "$work/$stored/$stored.h" ||
            return
    done
}
check weights-stored-as-bytes stored

# ---- model.c and model.h alone ---------------------------------------------------------------------------------------

setup emit-standalone emit alone "$digits" --standalone
check standalone-builds-without-runtime $cc $strict -O2 -c "$work/alone/alone.c" -o "$work/alone.o"
no_own_includes() { ! grep -n '#include "' "$work/alone/alone.c" | grep -v '"alone.h"'; }
check standalone-includes-nothing-else no_own_includes
# lw_math.h has one text for float and double; --standalone copies it in the words of each type. All functions of both:
# the file builds, and its C computes what the headers compute.
all_functions() {
    for f in exp exp2 expm1 sigmoid tanh erf sinh cosh log log2 log10 log1p asinh acosh atanh sin cos tan asin acos \
        atan sqrt rsqrt abs floor ceil trunc round nearbyint; do
        echo "x_$f[i] = $f(x[i])"
        echo "d_$f[i] = $f(d[i])"
    done
    for f in atan2 pow fmod min max; do
        echo "x_$f[i] = $f(x[i], 0.75)"
        echo "d_$f[i] = $f(d[i], 0.75)"
    done
}
typed() {
    { printf 'nest\ninput x: f32[20]\ninput d: f64[20]\n'; all_functions; } > "$work/functions.te"
    all_functions | sed 's/\[.*//; s/^/output /' >> "$work/functions.te"
    both=$work/functions/functions.c
    emit functions "$work/functions.te" --standalone && $cc $strict -O2 -c "$both" -o "$work/functions.o" &&
        ! grep -E 'LW_(REAL|BITS|FN|NUM|PICK|TO_BITS|FROM_BITS)' "$both" &&
        grep -q 'double lw_atanh(double x)' "$both" && grep -q 'float lw_atanhf(float x)' "$both" &&
        CC="$cc -O0" "$lw" verify "$work/functions.te"
}
check standalone-has-both-types-of-functions typed
setup emit-both-ways emit digits "$digits" --testbench
setup emit-standalone-bench emit alone "$digits" --standalone --testbench
bench() {
    build "$1_bench" -O2 -Iruntime -I"$work/$1" "$work/$1/$1.c" "$work/$1/$1_main.c" &&
        "$work/$1_bench" tests/models/digits.in0.npy "$work/$1.npy"
}
setup testbench-runs bench digits
setup testbench-of-standalone-runs bench alone
check standalone-same-values cmp "$work/digits.npy" "$work/alone.npy"
repeats() {
    "$work/digits_bench" tests/models/digits.in0.npy "$work/again.npy" --repeat 3 | grep -q '^[0-9]* ns per run$' &&
        cmp "$work/again.npy" "$work/digits.npy"
}
check testbench-repeat repeats
bench_fails() { ! "$work/digits_bench" "$@" > "$work/said" 2>&1 && [ -s "$work/said" ]; }
check testbench-no-arguments bench_fails
check testbench-no-such-file bench_fails "$work/none.npy" "$work/x.npy"
check testbench-wrong-file bench_fails "$digits" "$work/x.npy"
check testbench-wrong-shape bench_fails tests/models/digits.out0.npy "$work/x.npy"

# ---- Results over their operands -------------------------------------------------------------------------------------

# Two of its tensors, of 4608 bytes each, are live at once.
arena_at_most() { test "$(sed -n 's/^#define [A-Z_0-9]*_ARENA_SIZE *\([0-9]*\)u.*/\1/p' "$work/$1/$1.h")" -le "$2"; }
for target in generic cortex-m4; do
    setup "emit-overlap-$target" emit overlap tests/emitted/overlap.te --target "$target"
    check "overlap-$target-arena" arena_at_most overlap 7168
    check "overlap-$target-values" "$lw" verify tests/emitted/overlap.te --target "$target"
done

# A macro with an open dimension has the same parameters for one row as for eight.
open_rows() {
    "$lw" tests/emitted/open_rows.te --name m -o "$work/m.c" &&
        "$lw" instruction tests/emitted/open_rows.te MM > "$work/mm.h" &&
        $cc -std=c99 -Wall -Wextra -Werror -Iruntime -I"$work" -include "$work/mm.h" -c "$work/m.c" -o "$work/m.o" &&
        grep -q 'MM(8, ' "$work/m.c" && grep -q 'MM(1, ' "$work/m.c"
}
check open-rows-have-strides open_rows
check async-with-first-values "$lw" verify tests/emitted/async_init.te

# An operand is stored in its padding if that costs at most a sixteenth of the arena, or RAM is free. Here: a quarter.
for target in generic cortex-m4 x86-avx2; do
    check "padded-$target-values" "$lw" verify tests/emitted/padded.te --target "$target" --optimize speed
done
in_padding() {
    "$lw" tests/emitted/padded.te --quiet -o "$work/padded.c" "$@" && grep -c ' is stored in y; ' "$work/padded.c"
}
both_in_padding() { [ "$(in_padding --optimize speed)" = 2 ]; }
none_in_padding() { [ "$(in_padding "$@")" = 0 ]; }
check padded-in-place both_in_padding
check padded-apart-for-less-ram none_in_padding
check padded-apart-for-size none_in_padding --optimize size
check padded-apart-with-combine none_in_padding --combine all

# Without overlap the two largest take 25600 bytes.
for target in generic cortex-m0plus cortex-m4 cortex-m55; do
    setup "emit-rolled-$target" emit rolled tests/emitted/rolled.te --target "$target"
    check "rolled-$target-arena" arena_at_most rolled 12800
    check "rolled-$target-values" "$lw" verify tests/emitted/rolled.te --target "$target"
done
setup emit-not-rolled emit not_rolled tests/emitted/rolled.te --combine none
not_rolled_arena() {
    [ "$(sed -n 's/^#define NOT_ROLLED_ARENA_SIZE *\([0-9]*\)u.*/\1/p' "$work/not_rolled/not_rolled.h")" -eq 25600 ]
}
check not-rolled-arena not_rolled_arena
rolled_is_reported() {
    "$lw" report tests/emitted/rolled.te | grep -q \
        'b is computed in each iteration of c_max_pool2d.h; 4 of its 16 elements along h are stored'
}
check rolled-is-reported rolled_is_reported

# ---- Layers ----------------------------------------------------------------------------------------------------------

layers() {
    printf '#include <stdio.h>\n#define LW_LAYER(number, name) printf("%%d %%s\\n", number, name);\n' > "$work/watch.h"
    build layers -Iruntime -I"$work/one" -include "$work/watch.h" tests/emitted/arena.c "$work/one/one.c" || return
    "$work/layers" |
        awk '$1 == "0" { n = 0 } /^[0-9]+ ./ { if ($1 != n++) exit 1; if (n > most) most = n } END { exit most < 3 }'
}
check layers-in-order layers

# ---- Other readers of the header and the C ---------------------------------------------------------------------------

cplusplus() {
    printf '%s\n' '#include "one.h"' '#include "two.h"' \
        'int main() { return one_run(nullptr, nullptr, nullptr) == ONE_E_ARENA ? 0 : 1; }' > "$work/main.cc"
    $cc $strict -c -Iruntime "$work/one/one.c" -o "$work/one.o" &&
        g++ -std=c++11 -pedantic -Wall -Wextra -Werror -I"$work/one" -I"$work/two" "$work/main.cc" "$work/one.o" -lm \
            -o "$work/cplusplus" &&
        "$work/cplusplus"
}
if has g++; then check header-in-c++ cplusplus
else skip header-in-c++ "g++ is not installed"; fi

# symbols: the object exports one function and contains no writable data.
symbols() {
    $cc $strict -O2 -c -Iruntime "$work/one/one.c" -o "$work/one.o" || return
    nm "$work/one.o" > "$work/symbols"
    [ "$(awk '$2 ~ /^[A-Z]$/ && $2 != "U" { print $3 }' "$work/symbols")" = one_run ] &&
        ! awk '$2 ~ /^[bBdDC]$/' "$work/symbols" | grep .
}
if has nm; then check one-symbol-no-variables symbols
else skip one-symbol-no-variables "nm is not installed"; fi

# For a machine with 16-bit int, whose compiler gives no warning on the emitted file. (Its double has 32 bits, so
# constants of lw_math.h that the model does not use are out of range there.)
small_int() {
    avr-gcc -mmcu=atmega2560 ${strict% -Werror} -O2 -c -Iruntime "$work/one/one.c" -o "$work/avr.o" 2> "$work/said" ||
        { cat "$work/said"; return 1; }
    ! grep 'one\.c:[0-9]*:[0-9]*: warning' "$work/said"
}
if has avr-gcc; then check int-of-16-bits small_int
else skip int-of-16-bits "avr-gcc is not installed"; fi

escape=$(printf '\033')      # the simulator colours the firmware's output

# agrees NAME MODEL: the emitted C on a simulated AVR gives the bytes that it gives here.
agrees() {
    name=$1 model=$2
    emit "$name" "$model" || return
    set -- -std=c99 -O2 -ffp-contract=off -DMODEL="$name" -DUPPER="$(echo "$name" | tr a-z A-Z)" \
        -DHEADER="\"$name.h\"" -Iruntime -I"$work/$name" tests/emitted/small_int.c "$work/$name/$name.c" -lm
    $cc "$@" -o "$work/$name/host" && avr-gcc -w -mmcu=atmega1284p "$@" -o "$work/$name/avr.elf" || return
    "$work/$name/host" | grep . > "$work/$name/want"
    timeout 60 simavr -m atmega1284p -f 8000000 "$work/$name/avr.elf" 2>&1 | sed "s/$escape\[[0-9;]*m//g" |
        sed -n 's/^\([0-9a-f][0-9a-f]*\)\.$/\1/p' > "$work/$name/got"
    [ "$(sed -n 1p "$work/$name/want")" = 0 ] && cmp "$work/$name/want" "$work/$name/got"
}
for case in residual depthwise-pool-concat elementwise dense-softmax; do
    if has avr-gcc && has simavr; then
        check "int-of-16-bits-runs-$case" agrees "avr_${case%%-*}" "tests/golden/$case/$case.onnx"
    else
        skip "int-of-16-bits-runs-$case" "$(missing avr-gcc simavr)"
    fi
done
if has avr-gcc && has simavr; then check int-of-16-bits-integers agrees avr_integers tests/emitted/small_int.te
else skip int-of-16-bits-integers "$(missing avr-gcc simavr)"; fi

setup emit-reserved-names emit names tests/emitted/names.te
check reserved-names-build $cc $strict -Iruntime -c "$work/names/names.c" -o "$work/names.o"
verify_elsewhere() { (cd "$work" && "$lw" verify "$root/$1"); }
check reserved-names-build-gnu $cc -std=gnu99 -Wall -Wextra -Werror -Iruntime -c "$work/names/names.c" \
    -o "$work/names.o"
check reserved-size-names-verify env CC="$cc -std=gnu99" "$lw" verify tests/emitted/size_names.te
check verify-in-any-folder verify_elsewhere tests/emitted/names.te

# ---- Lines of at most 120 columns ------------------------------------------------------------------------------------
# Long names of the model, its ports, a state and an open size; a loop and a branch; each way to pass memory.

# narrow MODEL OPTION...: emits it under a long name; builds without a warning and has no line above 120 columns.
narrow() {
    model=$1 name=keyword_classifier_of_the_door_controller
    shift
    emit "$name" "$model" --testbench "$@" &&
        awk 'length($0) > 120 { print FILENAME ":" FNR ": " $0; bad = 1 } END { exit bad }' "$work/$name/$name.c" \
            "$work/$name/$name.h" "$work/$name/${name}_main.c" &&
        $cc $strict -Iruntime -c "$work/$name/$name.c" -o "$work/narrow.o" &&
        $cc -std=c99 -Iruntime -c "$work/$name/${name}_main.c" -o "$work/narrow.o"
}
for how in caller static arena; do
    case $how in caller) set -- ;; static) set -- --static-arena ;; arena) set -- --io arena ;; esac
    check "long-names-fit-$how" narrow tests/emitted/long_names.te "$@"
    check "long-names-of-control-flow-fit-$how" narrow tests/golden/control-flow/control-flow.onnx "$@"
done
check long-names-of-state-fit narrow tests/emitted/long_names.te \
    --state slowly_adapting_background_estimate=next_slowly_adapting_background_estimate
check long-names-of-instructions-fit narrow tests/golden/dense-int8/dense-int8.te --target cortex-m4
check long-names-inlined-runtime-fits narrow tests/emitted/long_names.te --standalone

# ---- The samples -----------------------------------------------------------------------------------------------------

check matmul-equal-after-every-step samples/matmul/run.sh "$build"
# The same through the library, in the vectors of two targets, computed by scalar.h.
if has "${OBJCOPY:-objcopy}" && has ld; then
    setup library-builds "${MAKE:-make}" BUILD="$build" library
    for target in x86 x86-avx512; do
        check "matmul-from-c-$target" env CFLAGS=-O2 samples/matmul/steps.sh "$build" $target 48
    done
    check custom-operators samples/custom_op/run.sh "$build"
    check generic-schedule samples/generic_schedule/run.sh "$build"
    if ! wanted extern-blas; then :
    elif linked=$(samples/extern_blas/run.sh "$build" 2>&1); then pass extern-blas
    elif [ $? -eq 77 ]; then skip extern-blas "$linked"
    else fail extern-blas "$linked"; fi
else
    for name in matmul-from-c custom-operators generic-schedule extern-blas; do
        skip $name "$(missing "${OBJCOPY:-objcopy}" ld)"
    done
fi
check one-text-inputs-in-another-order "$lw" verify tests/emitted/order_of_inputs.te
check conv-pool-verified "$lw" verify samples/matmul/conv_pool.te
for schedule in two_nests rolling chain; do
    check "conv-pool-$schedule" "$lw" verify "samples/conv_pool/$schedule.te"
done
awk -v N=64 -f samples/kernels/fft.awk > "$work/fft.te"
check kernel-fft "$lw" verify "$work/fft.te" --target x86-avx2
for kernel in conv3x3 equalize laplacian solve; do
    check "kernel-$kernel" "$lw" verify "samples/kernels/$kernel.te"
done
if has bash; then check conv-pool-rows-once-and-no-slower samples/conv_pool/run.sh "$build"
else skip conv-pool-rows-once-and-no-slower "bash is not installed"; fi

report_end
