#!/bin/sh
# SPDX-License-Identifier: MIT
# footprint.sh BUILD: the totals of `report`: code and stack by a compiler, limits (--fit), JSON and CSV.
set -u
. "$(dirname "$0")/report.sh"
begin "footprint.sh BUILD" "$@"
rm -rf "$work"/*

digits=samples/digits/digits.onnx

# ends STATUS WORDS ARGUMENT...: `report` ends with STATUS and prints WORDS, a pattern of grep.
ends() {
    want=$1 words=$2 status=0
    shift 2
    "$lw" report "$@" > "$work/said" 2>&1 || status=$?
    grep -q -e "$words" "$work/said" && [ "$status" -eq "$want" ] && return
    echo "report $*: status $status, $want expected, with: $words"
    cat "$work/said"
    return 1
}

# ---- Limits ----------------------------------------------------------------------------------------------------------

m4="$digits --target cortex-m4"
ram=$("$lw" report $m4 | sed -n 's/^in total .*RAM at most about \([0-9]*\) bytes.*/\1/p')
check fit-within-limits-passes ends 0 "^fit            RAM $ram of 8192 bytes, [0-9]* %: $((8192 - ram)) left" \
    $m4 --fit ram=8k
check fit-exact-limit-passes ends 0 "$ram bytes, 100 %: 0 left" $m4 --fit ram="$ram"
check fit-one-byte-less-fails ends 1 "error: the model does not fit: RAM $ram of $((ram - 1)) bytes$" \
    $m4 --fit ram=$((ram - 1))
# Without a compiler, constants that exceed the flash decide; otherwise only a compiler knows the code.
check fit-names-both ends 1 "does not fit: flash without code [0-9]* of 1024 bytes, RAM $ram of 1024 bytes$" \
    $m4 --fit flash=1K,ram=1K
# A training step needs a larger arena, the parameters and a target.
check fit-counts-the-training-step ends 1 "does not fit: RAM [0-9]* of $((ram + 100)) bytes" $m4 \
    --train 'loss=cross_entropy optimizer=sgd(rate=0.01) update=all' --fit ram=$((ram + 100))
check stack-bound-names-what-measures ends 0 '^stack  .*bytes; pass --cc COMPILER to measure code and stack$' $m4
# Limits on bytes that are unknown would pass in error.
check fit-of-unknown-code-is-refused ends 2 '--fit cannot decide without the bytes of code; pass --cc' \
    $m4 --fit flash=1M,ram=1M
check fit-of-unknown-stack-is-refused ends 2 '--fit cannot decide without the bytes of stack; pass --cc' \
    $digits --fit ram=1M
check fit-of-unknown-bytes-names-both ends 2 '--fit cannot decide without the bytes of code and stack; pass' \
    $digits --fit flash=1M,ram=1M
check fit-by-a-compiler-has-a-verdict ends 0 '^fit            flash [0-9]* of 1048576 bytes' \
    $digits --fit flash=1M,ram=1M --cc "$cc"
for limits in ram flash=1X ram=0 ram=1K,ram=2K flash=1K, rom=4K 'flash=99999999999'; do
    check "fit-form-$limits-is-refused" ends 2 'use flash=N,ram=N or one of them' $digits --fit "$limits"
done
# The report of a model that does not fit is complete; the verdict alone is on standard error.
writes() {
    rm -f "$work/misfit.$1" && "$lw" report $m4 --fit ram=1K -o "$work/misfit.$1" > "$work/out" 2> "$work/err"
    [ $? -eq 1 ] && [ -s "$work/misfit.$1" ] && [ ! -s "$work/out" ] && [ "$(wc -l < "$work/err")" -eq 1 ] &&
        grep '^error: the model does not fit: RAM' "$work/err"
}
for form in txt html json csv; do check "fit-misfit-writes-$form" writes $form; done
prints() {
    "$lw" report $m4 --fit ram=1K > "$work/out" 2> "$work/err"
    [ $? -eq 1 ] && grep -q '^multiply-adds  154880' "$work/out" && [ "$(wc -l < "$work/err")" -eq 1 ]
}
check fit-misfit-prints-the-report prints
has_verdict() {
    "$lw" report $m4 --fit "$1" -o "$work/r.json" --quiet > "$work/said" 2>&1
    grep -x "  \"fit\": $2," "$work/r.json"
}
check fit-json-has-the-misfit has_verdict ram=1K \
    '{"flash": null, "ram": 1024, "fits": false}'
check fit-json-has-the-fit has_verdict ram=1M '{"flash": null, "ram": 1048576, "fits": true}'
# Without a compiler, no form of the report states the bytes of code.
states_no_code() {
    for form in txt json html csv; do "$lw" report $m4 -o "$work/bare.$form" --quiet || return 1; done
    ! grep -i 'estimated_code\|code  *about\|takes about' "$work"/bare.* && grep '"code": null' "$work/bare.json"
}
check code-without-a-compiler-is-not-stated states_no_code
has_shape() {
    "$lw" report $digits -o "$work/r.json" &&
        grep '"name": "input", "type": "f32", "shape": \[1, 8, 8, 1\]\|"shape": \[1, 1, 8, 8\]' "$work/r.json" &&
        grep 'null,$' "$work/r.json" | grep '"fit"'
}
check forms-json-shape-is-an-array has_shape
# The core that the compiler's ELF files are for.
host_is_x86() { case $(uname -m) in x86_64) true ;; *) false ;; esac; }
if host_is_x86; then
    check code-of-another-machine-is-refused ends 1 \
        "error: --cc .* compiles for x86-64, and the target \"cortex-m4\" is Arm$" $m4 --cc "$cc"
else
    skip code-of-another-machine-is-refused "the processor is no x86-64"
fi
why=$(missing arm-none-eabi-gcc)
words='and the target "cortex-m4" is Armv7E-M; use a command with -mcpu=cortex-m4'
for case in "cortex-m4 cortex-m0 1 error: .*compiles for Armv6-M, $words" \
    'cortex-m4 arm7tdmi 1 error: .*compiles for no core of the M profile, and' \
    'cortex-m0plus cortex-m4 0 warning: .*compiles for Armv7E-M, and the target "cortex-m0plus" is Armv6-M' \
    'cortex-m7 cortex-m4 0 ^code' 'cortex-m33 cortex-m33 0 ^code' 'cortex-m3 cortex-m3 0 ^code'; do
    name=code-for-${case%% *} case=${case#* }
    target=${name#code-for-} cpu=${case%% *} case=${case#* }
    if [ "$why" ]; then
        skip "$name-by-$cpu" "$why"
    else
        check "$name-by-$cpu" ends "${case%% *}" "${case#* }" \
            $digits --target "$target" --cc "arm-none-eabi-gcc -mthumb -mcpu=$cpu"
    fi
done

# value KEY: of the totals in r.json.
value() { sed -n "s/^    \"$1\": \([0-9a-z.]*\),*$/\1/p" "$work/r.json"; }

# Three floats with the old and the new value, the index of the current one, and padding.
has_state_struct() {
    printf 'input x: f32[3]\ninput h: f32[3]\ny = add(x, h)\nz = mul(y, x)\nw = add(z, h)\noutput z\noutput w\n' \
        > "$work/state.te"
    "$lw" "$work/state.te" --state h=w --combine none --name s -o "$work/s.c" &&
        "$lw" report "$work/state.te" --state h=w --combine none -o "$work/r.json" || return 1
    printf '#include <stdio.h>\n#include "s.h"\nint main(void) { printf("%%zu\\n", sizeof(struct s_state)); }\n' \
        > "$work/size.c"
    $cc -std=c99 -I"$work" -o "$work/size" "$work/size.c" && size=$("$work/size") || return 1
    echo "sizeof $size, reported $(value state)"
    [ "$(value state)" -eq "$size" ]
}
check state-is-the-size-of-its-struct has_state_struct

# ---- AVR: constants in RAM, or with --weights progmem in program memory ----------------------------------------------

avr_report() {
    "$lw" report tests/fuzz/corpus-tflite/conv-int8.tflite --target avr --cc "avr-gcc -mmcu=atmega2560 -Os" "$@" \
        --quiet -o "$work/r.json"
}
# The compiler may write a constant of a few bytes into the code.
avr_moves_constants() {
    avr_report || return
    copied=$(value constants_in_ram) ram=$(value ram)
    echo "$copied bytes of constants in $ram of RAM"
    [ "$copied" -ge 60 ] && [ "$copied" -le "$(value weights)" ] && [ "$(value library_data)" -lt 60 ] &&
        avr_report --weights progmem || return
    echo "$(value constants_in_ram) in $(value ram) with progmem"
    [ "$(value constants_in_ram)" -eq 0 ] && [ "$((ram - $(value ram)))" -ge 60 ]
}
why=$(missing avr-gcc)
if [ "$why" ]; then skip avr-constants-in-ram-are-named "$why"
else check avr-constants-in-ram-are-named avr_moves_constants; fi
check weights-in-a-file-are-refused ends 2 'a report does not accept --weights bin; use c|progmem|section=NAME' \
    $digits --weights bin

# ---- Forms -----------------------------------------------------------------------------------------------------------

# The columns of numbers end where their titles end, also behind names and operators that are too long for their column.
aligned() {
    "$lw" report "$work/long.te" > "$work/said" || return
    awk '/^layer / { end = index($0, " weights") + 8; n = 1; next }
        n && /^$/ { exit bad }
        n { bad = bad || substr($0, end, 1) != " " || substr($0, end - 1, 1) == " "; rows++ }
        END { exit bad || !rows }' "$work/said" && grep -q '^a_name_of.*\.\.\.' "$work/said" ||
        { cat "$work/said"; return 1; }
}
long=a_name_of_more_than_sixty_four_characters_as_some_exporters_of_networks_do_write_them
printf "input x: f32[16]\n$long = softmax(x)\ny = sigmoid($long)\noutput y, $long\n" > "$work/long.te"
check report-columns-of-long-names aligned

agrees_with_text() {
    "$lw" report $digits -o "$work/r.json" && "$lw" report $digits > "$work/r.txt" || return 1
    ports="inputs $(value inputs), outputs $(value outputs)"
    grep -q "^multiply-adds  $(value multiply_adds)$" "$work/r.txt" &&
        grep -q "^RAM            $(value ram) bytes: arena $(value arena), $ports$" "$work/r.txt" &&
        grep -q "^flash          $(value weights) bytes of weights" "$work/r.txt" && [ "$(value code)" = null ]
}
check forms-json-has-the-figures-of-the-text agrees_with_text
is_json() { "$lw" report "$1" -o "$work/r.json" && python3 -m json.tool "$work/r.json" > "$work/r.out"; }
why=$(missing python3)
for model in $digits tests/fuzz/corpus-tflite/conv-int8.tflite tests/emitted/filter.te; do
    name=forms-json-of-$(basename "$model" | tr . -)-is-json
    if [ "$why" ]; then skip "$name" "$why"; else check "$name" is_json "$model"; fi
done
# Edges, functions and buffers are those of the emitted C.
is_consistent() { python3 tests/tools/report_structure.py "$lw" "$work" "$1" --target "$2"; }
for model in $digits tests/models/control.onnx tests/models/recurrent.onnx tests/models/ml_trees.onnx \
    tests/fuzz/corpus-tflite/conv-int8.tflite; do
    for target in generic cortex-m4; do
        name=json-structure-of-$(basename "$model" | tr ._ -)-for-$target
        if [ "$why" ]; then skip "$name" "$why"; else check "$name" is_consistent "$model" "$target"; fi
    done
done
# Ten models: a network, branches and loops, quantization, states, trees, 16 bits, a filter; without figures of a core,
# with them, and with a clock.
agree() {
    for words in "" "--target cortex-m4" "--target cortex-m0plus --mhz 47.5"; do
        # shellcheck disable=SC2086
        python3 tests/tools/report_forms.py "$lw" "$work" "$1" $words || { echo "report $1 $words"; return 1; }
    done
}
for model in $digits tests/models/control.onnx tests/models/quantized.onnx tests/models/recurrent.onnx \
    tests/models/qlinear_s8.onnx tests/models/ml_trees.onnx tests/models/fused.onnx tests/models/sixteen.onnx \
    tests/fuzz/corpus-tflite/conv-int8.tflite tests/emitted/filter.te; do
    name=forms-agree-for-$(basename "$model" | tr ._ -)
    if [ "$why" ]; then skip "$name" "$why"; else check "$name" agree "$model"; fi
done
# The layers of the CSV add up to the total.
adds_up() {
    "$lw" report $digits -o "$work/r.csv" && "$lw" report $digits -o "$work/r.json" || return 1
    sum=$(awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "multiply_adds") last = NF - k; next }
        { sum += $(NF - last) } END { print sum }' "$work/r.csv")
    [ "$sum" = "$(value multiply_adds)" ] && [ "$(wc -l < "$work/r.csv")" -eq 10 ]
}
check forms-csv-adds-up adds_up
check forms-other-ending-is-refused ends 2 'written as .txt, .html, .json or .csv, not as' $digits -o "$work/r.xml"

# Without script, the page has the verdict and a row for each layer. It loads nothing, and has at most 60,000 bytes of
# its own.
own_text() { sed '/id="data">/,/^<.script>/d; /^<tr><td>/d; /^<dt>/d' "$work/r.html"; }
stands_alone() {
    "$lw" report "$@" --quiet -o "$work/r.html" && "$lw" report "$@" --quiet -o "$work/r.csv" || return 1
    rows=$(grep -c '^<tr><td>' "$work/r.html") own=$(own_text | wc -c)
    echo "$rows rows, $own bytes of its own"
    [ "$rows" -eq "$(($(wc -l < "$work/r.csv") - 1))" ] && [ "$own" -le 60000 ] &&
        grep -q '<dt>RAM</dt><dd>[0-9]' "$work/r.html" &&
        ! own_text | grep -i '<script src\|<link\|@import\|url([^#]\|https*://[^w]'
}
check forms-html-stands-alone       stands_alone $digits
is_small_with_errors() {
    "$lw" report $digits --board nucleo-f446re --validate layers --quiet -o "$work/r.html" &&
        [ "$(own_text | wc -c)" -le 60000 ]
}
check forms-html-with-errors-is-small is_small_with_errors
check forms-html-of-branches-stands-alone stands_alone tests/models/control.onnx --target cortex-m4 --mhz 10
check forms-html-has-the-verdict    sh -c "'$lw' report $digits --target cortex-m4 --fit ram=8K --quiet \
    -o '$work/r.html' && grep -q '^<p class=\"big\">Fits: RAM [0-9]* of 8192' '$work/r.html'"
check forms-html-has-the-other-verdict sh -c "! '$lw' report $digits --target cortex-m4 --fit flash=16K,ram=8K --quiet \
    -o '$work/r.html' 2> '$log' && grep -q '^<p class=\"big\">Does not fit: flash [0-9]* of 16384' '$work/r.html'"

# ---- Boards, and another report --------------------------------------------------------------------------------------

check boards-are-thirty             sh -c "[ \$('$lw' boards | wc -l) -gt 30 ]"
have_targets() {
    "$lw" targets > "$work/targets" && "$lw" boards | awk 'NR > 1 { print $(NF - 5) }' |
        while read -r t; do grep -q "^$t " "$work/targets" || { echo "$t"; exit 1; }; done
}
check boards-have-targets           have_targets
check board-is-target-limits-clock  ends 0 '^fit            RAM [0-9]* of 131072 bytes' $digits --board nucleo-f446re
check board-has-a-clock             ends 0 'ms at 180.0 MHz' $digits --board nucleo-f446re
check board-yields-to-the-options   ends 0 'ms at 84.0 MHz' $digits --board nucleo-f446re --mhz 84
check board-that-is-too-small       ends 1 'does not fit: flash' $digits --board arduino-uno-r3
check board-unknown-is-refused      ends 2 "no board \"nucleo-f446\"; did you mean 'nucleo-f446re'" \
    $digits --board nucleo-f446
check board-of-a-compilation        sh -c "'$lw' $digits --board pico -o '$work/b.c' &&
    grep -q 'for cortex-m0plus' '$work/b.c'"
compares() {
    "$lw" report $digits --target cortex-m4 --quiet -o "$work/other.json" &&
        ends 0 '^RAM  *[0-9]*  *[0-9]*  *[+-][0-9.]* %$' $digits --target cortex-m0plus --against "$work/other.json" &&
        "$lw" report $digits --against "$work/other.json" --quiet -o "$work/r.json" &&
        grep -q '^  "against": {' "$work/r.json"
}
check against-compares-totals       compares
# --validate: the measures of `verify`, and in JSON a row for each output and each layer
validates() {
    "$lw" verify $digits --layers | sed -n 's/.*within the tolerance; //p' > "$work/measures" &&
        "$lw" report $digits --validate layers | sed -n '/^compared with the interpreter/,/^$/s/.*differ; //p' |
        cmp - "$work/measures" && "$lw" report $digits --validate outputs --quiet -o "$work/r.json" &&
        [ "$(grep -c '"is_layer": false, .*"cosine": ' "$work/r.json")" -eq 1 ]
}
check validate-shows-what-verify-measures validates
printf 'size n in 1..4\ninput x: f32[n][3]\ny = exp(x)\noutput y\n' > "$work/open.te"
check validate-of-open-sizes        ends 0 '^y, n=4: [0-9]* of 12 elements differ' "$work/open.te" --validate outputs
check validate-unknown-is-refused   ends 2 'validate "all" is not known; use outputs or layers' $digits --validate all
check validate-in-csv-is-refused    ends 2 'validate has no effect on a report as .csv' $digits --validate outputs \
    -o "$work/v.csv"
number=0
for text in '' '{' '{"totals": {}}' '{"totals": {}, "layers": [1,]}' '{"totals": {}, "layers": []} x' \
    '{"totals": {}, "layers": [01]}'; do
    printf '%s' "$text" > "$work/not.json"
    number=$((number + 1))
    check "against-refuses-text-$number" ends 1 'is not a report in JSON; write one with' \
        $digits --against "$work/not.json"
done

# ---- Time ------------------------------------------------------------------------------------------------------------

check time-counts-instructions    ends 0 '^instructions   about [1-9][0-9]*$' $digits --target cortex-m0plus
# The text has three significant digits of an estimate; JSON has all.
check time-is-rounded-as-an-estimate ends 0 '^cycles  *about [1-9][0-9][0-9]0*: [1-9]\(\.[0-9]\{0,2\}\)* ms at 168' \
    $digits --target cortex-m4 --mhz 168
check time-has-a-column           ends 0 '^layer .* multiply-add instructions       cycles         ms ' \
    $digits --target cortex-m4 --mhz 84.5
check time-names-its-origin       ends 0 '^               cycles per instruction: .*not measured' \
    $digits --target cortex-m7 --mhz 400
check time-unknown-core-is-named ends 0 'the target "generic", whose cycles are unknown; use .*cortex-m4' \
    $digits --mhz 84
check time-unknown-is-left-out    sh -c "! '$lw' report $digits | grep instructions"
for clock in 0 -5 fast 16MHz; do
    check "time-clock-$clock-is-refused" ends 2 '^error: --mhz does not accept' \
        $digits --target cortex-m4 --mhz "$clock"
done
# A function of the runtime counts as the operations that it computes: --ram decides by the count of legal code.
same_count() {
    counted=$("$lw" "$1" --target "$2" --name m --ram 2147483647 -o "$work/m.c" 2>&1 |
        sed -n 's/.*arena of [0-9]* bytes and \([0-9]*\) counted instructions.*/\1/p')
    "$lw" report "$1" --target "$2" --ram 2147483647 --quiet -o "$work/r.json" || return 1
    reported=$(value instructions)
    echo "$reported reported, $counted counted"
    [ -n "$counted" ] && [ "$reported" = "$counted" ]
}
check time-counts-legal-code      same_count tests/models/quantized.onnx cortex-m4
# At 1 MHz, milliseconds are thousandths of the cycles; JSON and CSV have the same figures.
same_time() {
    "$lw" report $digits --target cortex-m4 --mhz 1 -o "$work/r.json" &&
        "$lw" report $digits --target cortex-m4 --mhz 1 -o "$work/r.csv" || return 1
    sums=$(awk -F, 'NR > 1 { instructions += $(NF - 2); cycles += $(NF - 1); ms += $NF }
        END { printf "%d %d %.3f", instructions, cycles, ms }' "$work/r.csv")
    [ "$sums" = "$(value instructions) $(value cycles) $(value milliseconds)" ] &&
        [ "$(value milliseconds | tr -d .)" = "$(value cycles)" ]
}
check time-is-one-in-all-forms same_time

# ---- Code and stack --------------------------------------------------------------------------------------------------

# The sections of the program that gcc links from NAME_run on, by `size`; the constants are 35,848 bytes.
has_linked_size() {
    core="-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
    "$lw" $digits --target cortex-m4 --standalone --name digits -o "$work/digits.c" || return 1
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -std=c99 -O2 -ffp-contract=off $core $1 -nostartfiles -static -Wl,--entry=digits_run \
        -Wl,--gc-sections -o "$work/digits.elf" "$work/digits.c" -lm || return 1
    linked=$(arm-none-eabi-size -A "$work/digits.elf" |
        awk '/^\.(text|rodata|data|ARM.exidx|eh_frame)/ { sum += $2 } END { print sum }')
    "$lw" report $digits --target cortex-m4 --cc "arm-none-eabi-gcc $core $1" -o "$work/r.json" || return 1
    echo "linked $linked, reported $(value flash)"
    [ "$linked" -eq "$(value flash)" ]
}
# The deepest chain of calls of a small graph is that of NAME_run; libraries count 0.
has_stack() {
    ends 0 '^code .*, stack [0-9]* bytes, by arm-none-eabi-gcc' \
        $digits --target cortex-m4 --cc "arm-none-eabi-gcc -mcpu=cortex-m4 $1"
}
why=$(missing arm-none-eabi-gcc)
for level in -O2 -Os; do
    for test in has_linked_size has_stack; do
        name=code-$(echo $test | tr _ -)-at$level
        if [ "$why" ]; then skip "$name" "$why"; else check "$name" $test $level; fi
    done
done
# The training step calls every layer: its frame and that of a layer are on the stack. Its code is in the image, also
# with a section per function.
has_step() {
    set -- "$digits" --target cortex-m4 --train 'loss=cross_entropy optimizer=sgd(rate=0.01) update=all'
    gcc="arm-none-eabi-gcc -mcpu=cortex-m4 -O1"
    mkdir -p "$work/step" && "$lw" "$@" --name m -o "$work/step/m.c" &&
        $gcc -std=c99 -ffp-contract=off -fstack-usage -Iruntime -c -o "$work/step/m.o" "$work/step/m.c" &&
        "$lw" report "$@" --cc "$gcc" -o "$work/step/whole.json" &&
        "$lw" report "$@" --cc "$gcc -ffunction-sections" -o "$work/step/parts.json" || return 1
    least=$(awk -F '\t' '$1 ~ /:m_train$/ { own = $2; next } $1 ~ /:m_run$/ { next } $2 > most { most = $2 }
        END { print own + most }' "$work/step/m.su")
    of() { sed -n "s/^.*\"$1\": \([0-9]*\).*/\1/p" "$work/step/$2.json" | head -n 1; }
    echo "stack $(of stack whole) of at least $least, code $(of code whole), in sections $(of code parts)"
    [ "$(of stack whole)" -ge "$least" ] && [ $(($(of code parts) * 10)) -ge $(($(of code whole) * 9)) ]
}
why=$(missing arm-none-eabi-gcc)
if [ "$why" ]; then skip a-training-step-is-measured "$why"; else check a-training-step-is-measured has_step; fi
# The bytes that layers read and write, counted on the lowered code and on loads and stores of the compiled code.
has_traffic() {
    model=$1 core=$2 percent=$3
    shift 3
    "$lw" report "$model" --target "$core" "$@" -o "$work/r.json" &&
        "$lw" report "$model" --target "$core" "$@" --cc "arm-none-eabi-gcc -mcpu=$core -mthumb -O3" \
            -o "$work/s.json" &&
        python3 tests/tools/same_traffic.py "$work/r.json" "$work/s.json" "$percent"
}
why=$(missing arm-none-eabi-gcc python3)
if [ "$why" ]; then skip traffic-is-that-of-compiled-code "$why"
else
    check traffic-is-that-of-compiled-code has_traffic $digits cortex-m3 3
    check traffic-of-memories-is-that-of-compiled-code has_traffic $digits cortex-m3 3 --memory fast=2K,cost=1 \
        --memory large=64K,cost=4 --memory flash=1M,rom,cost=8
fi
kws=../shared/models/mlperf-tiny/kws_ref_model.tflite
[ -e $kws ] || why="no $kws"
if [ "$why" ]; then skip traffic-of-macros-is-that-of-compiled-code "$why"
else check traffic-of-macros-is-that-of-compiled-code has_traffic $kws cortex-m7 3; fi
# The code of each function is the size of its symbol in the object file, and its stack that of the call graph.
sizes_of_functions() {
    "$lw" report $digits --cc "$cc -O2" -o "$work/r.json" && "$lw" $digits --standalone -o "$work/digits.c" &&
        $cc -std=c99 -O2 -ffp-contract=off -c "$work/digits.c" -o "$work/digits.o" &&
        nm -S "$work/digits.o" | awk 'NF == 4 { sub(/\..*/, "", $4); print $4, $2 }' | while read -r name hex; do
            echo "$name $((0x$hex))"
        done > "$work/symbols" || return 1
    sed -n 's/.*"name": "\(digits_[a-z0-9_]*\)", "layers.* "code": \([0-9]*\), "stack": [0-9].*/\1 \2/p' \
        "$work/r.json" > "$work/codes"
    [ -s "$work/codes" ] || { echo "no function has a size"; return 1; }
    while read -r name code; do
        grep -qx "$name $code" "$work/symbols" || { echo "$name $code"; cat "$work/symbols"; return 1; }
    done < "$work/codes"
}
if has nm; then check code-of-each-function-is-its-symbol sizes_of_functions
else skip code-of-each-function-is-its-symbol "$(missing nm)"; fi
check code-compiler-that-fails-is-named ends 1 'building the emitted C failed: no-such-cc' $digits --cc no-such-cc
check code-keeps-the-flags-of-the-user ends 0 "by $cc -Os -std=gnu11 -ffp-contract=off" \
    $digits --cc "$cc -Os -std=gnu11"
counts_in_totals() {
    "$lw" report $digits --cc "$cc" -o "$work/r.json" && [ "$(value flash)" -eq $(($(value weights) + $(value code))) ]
}
check code-counts-in-the-totals counts_in_totals
leaves_nothing() { "$lw" report $digits --cc "$cc" > "$work/said" && ! ls "${TMPDIR:-/tmp}" | grep loopwright-verify; }
[ -n "${TMPDIR:-}" ] && check code-leaves-no-scratch-folder leaves_nothing

# ---- Instructions and cycles of a run --------------------------------------------------------------------------------

# runner NAME TEXT: runs the program, then prints TEXT.
runner() { printf '#!/bin/sh\n"$@" > /dev/null && printf %s\n' "'$2'" > "$work/$1" && chmod +x "$work/$1"; }
runner total 'instructions 123456\n'
runner cycles 'noise\ncycles 160000\ninstructions x\n'
runner time 'ns 5\n'
runner silent ''
cat > "$work/wrong" << 'END'
#!/bin/sh
"$@" && for f; do
    case $f in */out0.npy) head -c 40 /dev/zero | tr "\0" 1 | dd of="$f" bs=1 seek=128 conv=notrunc 2> /dev/null ;; esac
done
echo instructions 5
END
chmod +x "$work/wrong"
counts_total() {
    ends 0 "^instructions   123456, measured by .*; layers are estimated$" \
        $digits --target cortex-m4 --runner "$work/total" || return 1
    "$lw" report $digits --target cortex-m4 --runner "$work/total" -o "$work/r.json" || return 1
    [ "$(value instructions)" = 123456 ] &&
        grep -q '^  "measured": {"runner": ".*", "instructions": 123456, "cycles": null},$' "$work/r.json"
}
check runner-replaces-the-total counts_total
counts_cycles() {
    ends 0 '^cycles         160000: 1.000 ms at 160.0 MHz, measured by' $digits --mhz 160 --runner "$work/cycles" &&
    ends 0 '^cycles         160000, measured by' $digits --runner "$work/cycles" &&
    ! grep -q '^instructions' "$work/said"
}
check runner-of-cycles-needs-no-core counts_cycles
# A counter that advances by one at each mark: each of the seven layers takes one instruction.
counts_layers() {
    printf '%s\n' '#include <stdint.h>' 'uint64_t ones(void);' '#define LW_COUNTER_START() ((void)0)' \
        '#define LW_COUNTER() ones()' '#define LW_COUNTER_MASK 7u' '#define LW_COUNTER_UNIT "instructions"' \
        > "$work/ones.h"
    printf '#include <stdint.h>\nuint64_t ones(void);\nuint64_t ones(void) { static uint64_t n; return n++ & 7u; }\n' \
        > "$work/ones.c"
    printf '#!/bin/sh\ncase " $* " in *" -c "*) exec %s "$@" ;; *) exec %s -include %s "$@" %s ;; esac\n' "$cc" "$cc" \
        "$work/ones.h" "$work/ones.c" > "$work/cc" &&
        chmod +x "$work/cc"
    "$lw" report $digits --cc "$work/cc" --runner env -o "$work/r.csv" || return 1
    "$lw" report $digits --cc "$work/cc" --runner env -o "$work/r.json" || return 1
    sed 1d "$work/r.csv" |
        awk -F, '{ sum += $(NF - 2); ones += $(NF - 2) == 1 } END { exit !(sum == 7 && ones == 7) }' &&
        [ "$(value instructions)" = 7 ]
}
check runner-counts-layers counts_layers
check runner-without-counts-is-refused ends 1 'silent" prints no count; use `instructions N` or `cycles N`' \
    $digits --runner "$work/silent"
check runner-of-time-is-refused ends 1 'prints `ns N` alone; use' $digits --runner "$work/time"
check runner-with-other-outputs-is-refused ends 1 'output "scores" of the runner.s program differs' \
    $digits --runner "$work/wrong"
check runner-that-fails-is-refused ends 1 'the runner failed\|false failed' $digits --runner false
check input-without-runner-is-refused ends 2 "input 'x.npy' has no effect on a report without --runner or --cc" \
    $digits x.npy
check input-of-another-shape-is-refused ends 1 'test.npy' $digits samples/digits/test.npy --runner "$work/total"
# Counted in the compiled code, and by QEMU with the bench: within two thousandths. Layers lack only the first checks.
steps() {
    board="$digits tests/models/digits.in0.npy --target $1 -o"
    "$lw" report $board "$work/r.json" --cc "arm-none-eabi-gcc -mthumb $2 --specs=nano.specs" || return 1
    stepped=$(value instructions)
    grep -q '"stepped": true' "$work/r.json" || return 1
    "$lw" report $board "$work/r.csv" --cc "arm-none-eabi-gcc -mthumb $2 --specs=nano.specs" || return 1
    layers=$(awk -F, 'NR > 1 { sum += $(NF - 2) } END { print sum }' "$work/r.csv")
    "$lw" report $board "$work/r.json" --cc "samples/cortex-m/hosted.sh cc $1 -O2 --specs=nano.specs" \
        --runner "samples/cortex-m/hosted.sh run $1" || return 1
    echo "$stepped stepped, $layers in layers, $(value instructions) in QEMU"
    awk "BEGIN { d = $stepped / $(value instructions); beside = $stepped - $layers
        exit !(d > 0.998 && d < 1.002 && beside < 100 && beside >= 0) }"
}
why=$(missing arm-none-eabi-gcc qemu-system-arm)
for core in 'cortex-m0plus -mcpu=cortex-m0plus' 'cortex-m4 -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard' \
    'cortex-m55 -mcpu=cortex-m55 -mfloat-abi=hard'; do
    name=code-is-stepped-for-${core%% *}
    if [ "$why" ]; then skip "$name" "$why"; else check "$name" steps "${core%% *}" "${core#* }"; fi
done
# Against the same program built by the runner's own compiler: the report's total is that of `verify`. The board's timer
# has one tick for 40 instructions, and the two programs begin at different places between its ticks.
on_board() {
    board="--target cortex-m4 --cc 'samples/cortex-m/hosted.sh cc cortex-m4 -O2 --specs=nano.specs'"
    board="$board --runner 'samples/cortex-m/hosted.sh run cortex-m4'"
    eval "\"$lw\" verify $digits $board --profile" > "$work/said" 2>&1 || return 1
    want=$(sed -n 's/^instructions //p' "$work/said")
    eval "\"$lw\" report $digits $board -o '$work/r.json'" || return 1
    echo "verify $want, report $(value instructions)"
    apart=$((want - $(value instructions)))
    [ "${apart#-}" -le 40 ] && [ "$want" -gt 100000 ] && [ "$(value stack)" -gt 0 ]
}
why=$(missing arm-none-eabi-gcc qemu-system-arm)
if [ "$why" ]; then skip runner-of-an-emulated-core "$why"; else check runner-of-an-emulated-core on_board; fi

# The worst case against QEMU: on inputs at the ends of their ranges, no run executes more, and the worst case is at
# most a tenth above the most that they execute. The board's timer and the marks of layers cost up to 300.
worst_holds() {
    name=$(basename "$1") folder=$work/worst-$(basename "$1") most=0
    gcc="arm-none-eabi-gcc -mthumb -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard --specs=nano.specs"
    "$lw" evidence "$1" --quiet --target cortex-m4 --name net -o "$folder" &&
        "$lw" report "$1" --quiet --target cortex-m4 --cc "$gcc" -o "$work/r.json" || return 1
    worst=$(value worst_instructions)
    for vector in generated zeros least greatest; do
        "$lw" report "$1" "$folder/vectors/$vector".in_*.npy --quiet --target cortex-m4 -o "$work/r.json" \
            --cc "samples/cortex-m/hosted.sh cc cortex-m4 -O2 --specs=nano.specs" \
            --runner "samples/cortex-m/hosted.sh run cortex-m4" || return 1
        echo "$vector: $(value instructions)"
        [ "$(value instructions)" -le "$most" ] || most=$(value instructions)
    done
    echo "$name: at most $worst; the most in QEMU is $most"
    awk "BEGIN { exit !($most <= $worst + 300 && $worst <= 1.1 * $most) }"
}
for model in samples/digits/digits.onnx tests/golden/dense-softmax/dense-softmax.onnx \
    tests/fuzz/corpus-tflite/conv-int8.tflite; do
    name=worst-case-holds-for-$(basename "${model%.*}")
    if [ "$why" ]; then skip "$name" "$why"; else check "$name" worst_holds "$model"; fi
done

# ---- Memory maps -----------------------------------------------------------------------------------------------------

# links CHIP: its vectors, code and weights are in flash, and the totals hold at least weights, arena and ports.
links() {
    samples/memory-maps/link.sh "$1" "$work/net" > "$work/said" || return 1
    cat "$work/said"
    flash=$(sed -n 's/.*flash \([0-9]*\) bytes.*/\1/p' "$work/said")
    ram=$(sed -n 's/.*RAM \([0-9]*\) bytes.*/\1/p' "$work/said")
    [ "$flash" -gt 35848 ] && [ "$flash" -lt 50000 ] && [ "$ram" -gt $((6312 + 16384)) ] && [ "$ram" -lt 80000 ]
}
# A stack of 1 MB leaves no room.
overflows() {
    CFLAGS="-O2 -Wl,--defsym=STACK_SIZE=0x100000" samples/memory-maps/link.sh "$1" "$work/net" > "$work/said" 2>&1 &&
        return 1
    grep -q "region .RAM. overflowed by [0-9]* bytes" "$work/said"
}
mkdir -p "$work/net"
"$lw" $digits --target cortex-m4 --name net -o "$work/net/net.c" --quiet
for chip in rp2040 rp2350 esp32c3; do
    case $chip in esp32c3)
        why=$(missing riscv64-unknown-elf-gcc)
        [ "$why" ] || echo | riscv64-unknown-elf-gcc --specs=picolibc.specs -E - > /dev/null 2>&1 ||
            why="picolibc is not installed" ;;
    *) why=$(missing arm-none-eabi-gcc) ;;
    esac
    for test in links overflows; do
        if [ "$why" ]; then skip "memory-map-of-$chip-$test" "$why"
        else check "memory-map-of-$chip-$test" $test $chip; fi
    done
done

report_end
