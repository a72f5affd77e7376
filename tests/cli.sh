#!/bin/sh
# SPDX-License-Identifier: MIT
# cli.sh BUILD: the command line: exit statuses, the form of diagnostics, options; output files are complete or absent.
set -u
. "$(dirname "$0")/report.sh"
begin "cli.sh BUILD" "$@"
rm -rf "$work"/*

matmul=samples/matmul/matmul.te
nest=samples/matmul/conv_pool.te
conv_pool=samples/conv_pool/combined.te
digits=samples/digits/digits.onnx

# ends STATUS WORDS ARGUMENT...: the program ends with STATUS and prints WORDS, a pattern of grep; `-` is no pattern.
ends() {
    want=$1 words=$2
    shift 2
    status=0
    "$lw" "$@" > "$work/said" 2>&1 || status=$?
    [ "$words" = - ] || grep -q -e "$words" "$work/said" && [ "$status" -eq "$want" ] && return
    echo "loopwright $*: status $status, $want expected, with: $words"
    cat "$work/said"
    return 1
}

# refuses WORDS ARGUMENT...: status 1; standard output is empty; the first line of standard error is `...: error:
# WORDS`.
refuses() {
    words=$1 status=0
    shift
    "$lw" "$@" > "$work/out" 2> "$work/err" || status=$?
    [ "$status" -eq 1 ] && [ ! -s "$work/out" ] &&
        sed -n 1p "$work/err" | grep -q -e "\(^\|: \)\(error\|unsupported\): .*$words" && return
    echo "loopwright $*: status $status"
    cat "$work/out" "$work/err"
    return 1
}

# names FILE: the last refusal's first line begins with the file.
names() { case $(sed -n 1p "$work/err") in "$1:"*) ;; *) cat "$work/err"; return 1 ;; esac; }

te() { printf "$1" > "$work/$2.te"; }

# ---- Wrong usage: 2 --------------------------------------------------------------------------------------------------

check usage-without-command-is-refused  ends 2 'usage: loopwright'
check usage-no-output-is-refused ends 2 'a model and -o DIR/model.c are required; -o is missing$' $matmul
check usage-output-without-o-is-named ends 2 "-o is missing before 'x.c'" compile $matmul x.c
check usage-no-model-is-refused ends 2 'required; the model is missing$' compile -o "$work/a.c"
for pair in '-t --target' '-q --quiet' '--json -o FILE.json' '--format -o FILE.json'; do
    check "usage-habit-${pair%% *}-is-refused" ends 2 "no option '${pair%% *}'; did you mean '${pair#* }" \
        report $matmul "${pair%% *}"
done
check usage-mhz-names-its-unit ends 2 "does not accept \"168MHz\"; use --mhz N: add estimated cycles" \
    report $digits --target cortex-m4 --mhz 168MHz
words='not an option of package, but of quantize and dump; `loopwright quantize ... -o model.onnx` writes'
check usage-quantization-names-its-command ends 2 "$words an integer model that package accepts" \
    package $digits --for make -o "$work/p" --samples x.npy
check help-is-a-word            ends 0 '^  loopwright verify ' help
check help-of-a-command-by-word ends 0 '^  loopwright report ' help report
for value in 6312 7K 7k 1M; do
    check "ram-$value-is-accepted" ends 0 '^multiply-adds  154880' report $digits --ram $value
done
for value in K 0K 4G 7KB 9999999K; do
    check "ram-$value-is-refused" ends 2 "does not accept \"$value\"" report $digits --ram $value
done
check usage-two-models-is-refused ends 2 "'$digits' is an extra argument" $matmul $digits -o "$work/a.c"
check usage-two-outputs-is-refused ends 2 '-o is given twice' $matmul -o "$work/a.c" -o "$work/b.c"
check usage-unknown-option-is-refused ends 2 "no option '--nonsense'; see" $matmul --nonsense -o "$work/a.c"
check usage-near-option-is-refused ends 2 "no option '--targte'; did you mean '--target'?" \
    $matmul --targte x -o "$work/a.c"
check usage-unknown-command-is-refused ends 2 "no command 'frobnicate'; use compile, run, verify" \
    frobnicate $matmul
check usage-near-command-is-refused ends 2 "no command 'reprot'; did you mean 'report'?" reprot $matmul
check usage-option-wants-value-is-refused ends 2 '--target requires a value' $matmul -o "$work/a.c" --target
check usage-option-takes-none-is-refused ends 2 "takes no value, but 'yes' is given" \
    $matmul -o "$work/a.c" --testbench=yes
check usage-option-twice-is-refused ends 2 '--target is given twice' \
    $matmul -o "$work/a.c" --target generic --target generic
check usage-dim-form-is-refused ends 2 'NAME=N' $matmul -o "$work/a.c" --dim n
check usage-dim-not-a-number-is-refused ends 2 'NAME=N' $matmul -o "$work/a.c" --dim n=four
check usage-dim-zero-is-refused ends 2 'NAME=N' $matmul -o "$work/a.c" --dim n=0
check usage-dim-least-too-large-is-refused ends 2 'NAME=N' $matmul -o "$work/a.c" --dim '5<=n<=4'
check usage-dim-least-of-one-is-refused ends 2 'NAME=N' $matmul -o "$work/a.c" --dim '2<=n=4'
check usage-dim-too-large-is-refused ends 2 'NAME=N' $matmul -o "$work/a.c" --dim n=99999999999999999999
check usage-unknown-command-is-an-error ends 2 "^error: there is no command 'packge'; did you mean 'package'" \
    packge $matmul
check usage-foreign-option-is-an-error ends 2 "^error: --for is not an option of report" report $matmul --for make
check help-report-has-inputs-and-forms ends 0 'report   MODEL \[IN.npy...\] .*\.json, \.csv' report --help
check usage-value-is-an-option  ends 2 "^error: --target requires a value, but the option '-o' follows: --target T" \
    $matmul --target -o "$work/a.c"
check usage-value-form-is-refused ends 2 'NAME=F.npy' $matmul -o "$work/a.c" --value a
te 'input x: f32[4]\nconst c: f32[] = 3\ny = add(x, c)\noutput y\n' scalar
check scalar-with-brackets-is-explained refuses "a size is expected, not ']'; a scalar has no brackets: f32" \
    "$work/scalar.te" -o "$work/a.c"
check usage-qdq-value-is-refused      ends 2 '"some"; use exact|integer|float' $matmul -o "$work/a.c" --qdq some
check usage-float-value-is-refused    ends 2 '"once"; use contract|separate' $matmul -o "$work/a.c" --float once
check usage-hybrid-value-is-refused   ends 2 '"none"; use rounded|float' $matmul -o "$work/a.c" --hybrid none
check usage-rounding-value-is-refused ends 2 '"none"; use double|single' $matmul -o "$work/a.c" --rounding none
check usage-level-above-11-is-refused    ends 2 '--level does not accept "12"' ops --level 12
check usage-ops-with-model-is-refused ends 2 'usage: loopwright ops' ops $matmul
check usage-two-lists-is-refused ends 2 'use one of them' ops --onnx --tflite
check usage-unknown-target-is-refused   ends 2 'no target "z80"; see `loopwright targets`' \
    $matmul -o "$work/a.c" --target z80
check usage-near-target-is-refused ends 2 "no target \"cortexm4\"; did you mean 'cortex-m4'?" \
    $matmul -o "$work/a.c" --target cortexm4
check usage-output-not-c-is-refused ends 2 'must end in .c' $matmul -o "$work/a.txt"
check usage-name-of-c-is-refused ends 2 '"int" cannot begin the names' $matmul -o "$work/a.c" --name int
check usage-name-with-digit-is-refused ends 2 '"9bad" cannot begin the names.*like "m9bad"' \
    $matmul -o "$work/a.c" --name 9bad
check usage-io-arena-static-is-refused ends 2 '--io arena and --static-arena exclude each other' \
    $digits -o "$work/a.c" --io arena --static-arena
for ending in pdf xml HTML html.gz; do
    check "usage-report-as-$ending-is-refused" ends 2 "as .txt, .html, .json or .csv, not as '$work/r.$ending'" \
        report $matmul -o "$work/r.$ending"
done
check usage-unknown-stage-is-refused ends 2 'unknown stage "nowhere"; choose one of: dag, gradient, streamed, fused' \
    dump $matmul --at nowhere
check usage-near-stage-is-refused ends 2 "unknown stage .lowerd.; did you mean 'lowered'" dump $matmul --at lowerd
check usage-unknown-pass-is-refused     ends 2 'no pass "nosuch"; use gradient, annotate, simplify' \
    dump $matmul --at pass:nosuch
check usage-near-pass-is-refused ends 2 "did you mean 'hoist'" dump $matmul --at pass:hoits
# every_pass MODEL: the DAG, the groups or the code after each listed pass, except passes that allocate memory.
every_pass() {
    for pass in $("$lw" passes | awk '$2 != "views" && $2 != "place" { print $2 }'); do
        "$lw" dump "$1" --at "pass:$pass" --target cortex-m4 | grep -q . ||
            { echo "pass:$pass prints nothing"; return 1; }
    done
}
check dump-after-every-pass     every_pass $digits
check usage-step-number-is-refused ends 2 'unknown stage "step:9x"' dump $matmul --at step:9x
check usage-only-of-dag-is-refused ends 2 '--only has no effect on --at dag' dump $matmul --at dag --only c
check usage-combine-of-dag-is-refused ends 2 '--combine has no effect on --at dag' dump $conv_pool --combine all
check usage-explain-of-lowered-is-refused ends 2 \
    '--explain has no effect on --at lowered; use it with one of: strategy' \
    dump $digits --at lowered --explain
check usage-dim-twice-is-refused ends 2 '--dim n is given twice' $matmul -o "$work/a.c" --dim n=4 --dim 'n<=8'
check usage-value-twice-is-refused ends 2 '--value a is given twice' \
    $matmul -o "$work/a.c" --value a=x.npy --value a=y.npy
check usage-leaves-no-file      [ ! -e "$work/a.c" -a ! -e "$work/r.pdf" ]

# sums_round WHAT OPTIONS...: x86-avx2 has fused multiply-adds, which WHAT ("are" or "not") in the emitted C and header.
sums_round() {
    what=$1
    shift
    mkdir -p "$work/sums"
    "$lw" $digits -o "$work/sums/sums.c" --target x86-avx2 "$@" || return 1
    found=$(grep -l -e '_fma(' -e 'fused multiply-adds' "$work/sums/sums.c" "$work/sums/sums.h" | wc -l)
    [ "$found" -eq "$([ "$what" = are ] && echo 2 || echo 0)" ] || { echo "$found files mention them"; return 1; }
}
check sums-round-once           sums_round are
check sums-round-twice          sums_round not --float separate
check sums-contract             sums_round are --float contract

# Ranges leave one value of a sum, or drop one of its bounds, or join equal operands: no word about instructions.
sum_of_one() {
    printf '%s\n' 'input x: i8[2][12][9][8]' 'a = rescale(x, zero_x=127, left=20, multiplier=1073741824, to="i32")' \
        "b = rescale(x, zero_x=$1, left=20, multiplier=1073741824, to=\"i32\")" "s = add(a, b)" \
        "y = rescale(s, multiplier=1655169521, shift=$2, zero=$3)
output y" > "$work/sum.te"
    for t in x86-avx2 cortex-m55; do
        "$lw" "$work/sum.te" --target $t --werror -o "$work/sum.c" || return 1
        [ -z "$4" ] || grep -q "$4" "$work/sum.c" || return 1
    done
}
check sum-of-one-value-is-not-warned-of   sum_of_one 127 19 -128 ""
check sum-within-a-bound-is-an-instruction sum_of_one 126 14 0 "LW_ADD_"
check sum-of-equal-operands-is-an-instruction sum_of_one 127 14 100 "LW_ADD_"

# Every option with every command. `commands_of` lists independently which commands use an option. An option is wrong
# usage with any other command.
commands_of() {
    case $1 in
    -o) echo compile run quantize dump report package evidence tune instruction ops targets boards passes steps ;;
    --board | --from | --to | --layout | --preprocess | --postprocess | \
        --target | --dim | --value | --state | --annotate | --gradient | --schedule | --combine | --optimize | \
        --ram | --hybrid | --extern | --signature | --float | --layers | --no-shrink | --werror | --quiet)
        echo compile run verify quantize evaluate dump report package evidence tune instruction ;;
    --rounding | --qdq | --cores) echo compile run verify evaluate dump report package evidence tune instruction ;;
    --stream) echo compile run verify quantize evaluate dump report package evidence tune instruction ;;
    --for | --package-version | --author | --url | --licence) echo package ;;
    --samples | --ports) echo "quantize dump" ;;
    --ranges | --refine | --per-tensor | --no-equalization | --finetune | --seed | --min-sqnr | --max-drop | \
        --labels | --weights-bits | --flash)
        echo quantize dump ;;
    --sensitivity | --report) echo quantize ;;
    --test | --test-labels) echo quantize evaluate ;;
    --top | --reference) echo evaluate ;;
    --cc) echo verify evaluate report evidence tune ;;
    --fit | --mhz | --against | --validate) echo report ;;
    --expect) echo verify evaluate ;;
    --io) echo compile verify quantize dump report evidence tune instruction ;;
    --memory | --keep-plan) echo compile verify quantize dump report evidence ;;
    --name) echo compile verify quantize dump package evidence ;;
    --static-arena | --time-passes) echo compile verify quantize ;;
    --profile) echo compile verify quantize tune ;;
    --weights | --portable) echo compile verify quantize report package ;;
    --rename) echo compile verify quantize dump package evidence ;;
    --class-names | --stamp | --check-inputs) echo compile quantize package ;;
    --testbench | --standalone | --cpp | --selftest | --acsl) echo compile quantize ;;
    --train | --checkpoint) echo compile report ;;
    --link | --runner | --timeout) echo verify report evidence tune ;;
    --expect | --recorded | --tolerance | --steps) echo verify ;;
    --at) echo run dump ;;
    --only | --explain) echo dump ;;
    --level | --onnx | --tflite | --gradients | --conditions) echo ops ;;
    esac
}
value_of() {
    case $1 in
    -o) echo "$work/word" ;;
    --dim) echo n=4 ;;
    --tolerance | --steps | --top | --ram | --mhz | --timeout) echo 1 ;;
    --optimize) echo speed ;;
    --portable) echo apart ;;
    --value | --state | --rename | --layout | --preprocess | --postprocess) echo a=b ;;
    --io) echo arena ;;
    --memory) echo ram=1M ;;
    --weights) echo bin ;;
    --level | --cores | --weights-bits) echo 2 ;;
    --flash) echo 20K ;;
    --rounding) echo double ;;
    --qdq) echo exact ;;
    --float) echo contract ;;
    --hybrid) echo float ;;
    --extern) echo Mine ;;
    --check-inputs) echo finite ;;
    --layers | --no-shrink | --werror | --quiet | --static-arena | --time-passes | --profile | --testbench | --acsl | \
        --standalone | --stamp | --cpp | --explain | --onnx | --tflite | --gradients | --conditions | --sensitivity | \
        --refine | --per-tensor | --no-equalization) ;;
    *) echo word ;;
    esac
}
every_option() {
    all="-o --target --dim --value --state --annotate --gradient --schedule --combine --optimize --ram
        --rounding --hybrid --extern --signature --qdq --float --layers --no-shrink --werror --quiet --stream --io
        --name --memory --keep-plan --for --samples --ports --report --ranges --refine --per-tensor --no-equalization
        --finetune
        --seed
        --min-sqnr --max-drop --labels --sensitivity --test --test-labels --top --reference --static-arena --weights
        --train --checkpoint --time-passes --profile --testbench --acsl --selftest --standalone --rename --class-names
        --check-inputs --stamp --cpp --expect --recorded --tolerance --steps --cc --link --runner --timeout --fit
        --mhz --at --only --explain --level --onnx --tflite --gradients --conditions --package-version
        --author --url --licence --from --to --layout --preprocess --postprocess --board --against --validate
        --cores --weights-bits --flash --portable"
    for word in $("$lw" --help | sed -n 's/^  \(-h, \|-v, \|\)\(-[-a-z]*\) .*/\2/p'); do
        case " $(echo $all) --help --version " in *" $word "*) ;; *) echo "$word is not tried"; return 1 ;; esac
    done
    for option in $all; do
        given=$(value_of $option) commands=$(commands_of $option)
        for command in compile run verify quantize evaluate dump report package evidence tune instruction ops targets \
            boards passes steps; do
            said=$("$lw" $command $option $given 2>&1)
            case $said in *"is not an option of $command"*) taken=no ;; *) taken=yes ;; esac
            case " $commands " in *" $command "*) want=yes ;; *) want=no ;; esac
            [ $taken = $want ] || { echo "$command $option: taken: $taken, expected: $want"; echo "$said"; return 1; }
        done
    done
}
check usage-every-option-of-every-command every_option

# ---- Help and lists: 0 -----------------------------------------------------------------------------------------------

check help-is-printed           ends 0 'exit status: 0 done; 1 the input was refused' --help
check help-short-is-printed     ends 0 'exit status: 0 done' -h
check help-has-rule-of-usage ends 0 '2 wrong usage: a command, option, value or target' --help
narrow() { "$lw" --help | awk 'length($0) > 120 { print; n++ } END { exit n > 0 }'; }
check help-fits-into-120-columns narrow
check version-short-is-printed  ends 0 '^loopwright [0-9]' -v
check help-of-command-is-shown  ends 0 'usage:' dump --help
check version-is-printed        ends 0 '^loopwright [0-9]' --version
check ops-are-listed   ends 0 '^softmax .*exp' ops
check ops-of-a-level-are-listed ends 0 '^conv2d' ops --level 2
check ops-of-other-levels-are-not-listed sh -c "! '$lw' ops --level 2 | grep -q '^relu'"
check onnx-ops-are-listed ends 0 '^Conv .*strides' ops --onnx
check gradients-are-listed ends 0 "^dense  *derived  *x w" ops --gradients
check conditions-are-listed ends 0 "^target has FEATURE" ops --conditions
check targets-are-listed ends 0 '^cortex-m4 ' targets
check passes-are-listed ends 0 'partition' passes
check steps-are-listed ends 0 'tail         the last tile' steps
# The portable forms of a file's instructions, in place of their loops, compute the same values.
portable_forms() {
    "$lw" instruction tests/emitted/instruction.te MLA8 > "$work/mla8.h" &&
        "$lw" instruction tests/emitted/instruction.te PLUS_ONE -o "$work/plus_one.h" &&
        "$lw" verify tests/emitted/instruction.te --cc "${CC:-cc} -include $work/mla8.h -include $work/plus_one.h"
}
check instruction-portable-forms-compute-the-formulas portable_forms
# --portable apart: no layer has the loops of an instruction whose macro receives all numbers of the formula; the
# functions compute them, and two such files build in one unit. A build with the macros does not read the functions.
te 'input a: f32[16][32]\ninput b: f32[32][24]\nc[i, j] = sum(k) a[i, k] * b[k, j]\ny = relu(c)\noutput y\n' apart
apart() {
    "$lw" "$work/apart.te" --target x86-avx2 --portable apart --standalone --name one -o "$work/one.c" --quiet &&
        "$lw" tests/emitted/instruction.te --portable apart --standalone --name two -o "$work/two.c" --quiet &&
        grep -c '^#ifndef MLA8$' "$work/two.c" | grep -qx 1 && ! grep -q '#ifdef MLA8' "$work/two.c" &&
        printf '#include "one.c"\n#include "two.c"\n' > "$work/both.c" &&
        "${CC:-cc}" -std=c99 -Wall -Wextra -Wshadow -Wconversion -Werror -c "$work/both.c" -o "$work/both.o" &&
        "$lw" verify tests/emitted/instruction.te --portable apart --cc "${CC:-cc} -Wall -Wextra -Werror"
}
check portable-apart-computes-the-formulas apart
is_at_the_call() {
    residual=tests/golden/residual-bytes/residual-bytes.te
    "$lw" $residual --target x86-avx2 --portable apart --quiet -o "$work/line.c" &&
        grep -q '#ifdef LW_ADD_LINE_I8' "$work/line.c" && "$lw" verify $residual --target x86-avx2 --portable apart
}
check portable-apart-without-a-form-is-at-the-call is_at_the_call
is_inline() {
    "$lw" tests/emitted/instruction.te --name same --quiet -o "$work/default.c" &&
        "$lw" tests/emitted/instruction.te --name same --quiet --portable inline -o "$work/same.c" &&
        sed 's/same\.h/default.h/' "$work/same.c" | cmp - "$work/default.c"
}
check portable-inline-is-the-default is_inline
check portable-apart-excludes-acsl ends 2 'exclude each other' tests/emitted/instruction.te --portable apart --acsl \
    -o "$work/acsl.c"
check portable-other-word-is-refused ends 2 'inline|apart' tests/emitted/instruction.te --portable none -o "$work/p.c"

# masked NAME EDIT: verifies instructions with masks, with the portable form of NAME edited.
masked() {
    rm -f "$work/masks.h"
    for macro in FMAZ TAILZ FROM ROWS BOX STRIDED; do
        "$lw" instruction tests/emitted/masks.te $macro > "$work/mask.h" || return 1
        if [ "$macro" = "$1" ]; then sed "/^ \*/!s/$2/" "$work/mask.h"; else cat "$work/mask.h"; fi >> "$work/masks.h"
    done
    "$lw" verify tests/emitted/masks.te --cc "${CC:-cc} -include $work/masks.h"
}
wrong_mask() { ! masked "$@" > "$work/said" 2>&1 && grep -q 'FAILED: 5 of 6' "$work/said"; }
check instruction-masks-compute-the-formulas masked '' ''
if grep -m 1 '^flags' /proc/cpuinfo 2> /dev/null | grep -qw avx512f; then
    check instruction-mask-is-a-mask-of-avx512 "$lw" verify tests/emitted/masks.te \
        --cc "${CC:-cc} -mavx512f -include tests/emitted/masks_avx512.h"
else skip instruction-mask-is-a-mask-of-avx512 "the processor has no AVX-512"; fi
check instruction-mask-of-a-triangle-is-the-last-lane wrong_mask TAILZ 'i < n/i < n - 1'
check instruction-mask-of-a-halo-is-the-first-lane wrong_mask FMAZ 'lo <= i/lo < i'
check instruction-mask-of-two-dimensions-is-the-last-column wrong_mask BOX 'j < n/j <= n'
check instruction-has-its-strides ends 0 'const int8_t \*a, int32_t a_at,$' instruction tests/emitted/instruction.te \
    LW_DOT_2X2_I8
check instruction-without-a-portable-form-is-named ends 0 'has no portable form' instruction \
    tests/emitted/instruction.te LW_ADD_LINE_I8
check instruction-unknown-is-refused refuses 'declares the instruction "MLA9"' instruction \
    tests/emitted/instruction.te MLA9
# ---- Functions of steps in files of schedules ------------------------------------------------------------------------

# same_c MODEL TARGET FILE: with the schedules of FILE, the emitted C is that of the built-in schedules.
same_c() {
    mkdir -p "$work/built-in" "$work/given" &&
        "$lw" "$1" --target "$2" --quiet -o "$work/built-in/m.c" &&
        "$lw" "$1" --target "$2" --quiet --schedule "$3" -o "$work/given/m.c" &&
        cmp "$work/built-in/m.c" "$work/given/m.c"
}
te 'input a: f32[64][96]\ninput b: f32[96][80]\nc[i, j] = sum(k) a[i, k] * b[k, j]\noutput c\n' product
templates=samples/generic_schedule/templates.txt
check functions-give-the-c-of-an-avx2-product same_c "$work/product.te" x86-avx2 $templates
check functions-give-the-c-of-a-dense-row same_c tests/models/quantized.onnx cortex-m4 $templates
printf '%b' 'schedule f(L):\n  unroll L\nfor c on generic:\n  f(c.x)\n' > "$work/call.txt"
check function-of-a-file-refuses-at-its-line refuses 'there is no loop c.x' "$work/product.te" -o "$work/a.c" \
    --schedule "$work/call.txt"
check function-of-a-file-is-named names "$work/call.txt"
printf '%b' 'schedule f(L):\n  unroll L\nschedule f(L):\n  unroll L\n' > "$work/twice.txt"
check function-of-a-file-twice-is-refused refuses "the function 'f' already exists" "$work/product.te" \
    -o "$work/a.c" --schedule "$work/twice.txt"
printf 'include product.te\n' > "$work/include.txt"
check include-without-quotes-is-refused refuses 'write include "FILE"' "$work/product.te" -o "$work/a.c" \
    --schedule "$work/include.txt"
printf 'include "product.te"\n' > "$work/include.txt"
check include-of-a-model-is-refused refuses 'may contain only .schedule NAME' "$work/product.te" -o "$work/a.c" \
    --schedule "$work/include.txt"

help_names_all() {
    "$lw" --help > "$work/help"
    for word in compile run verify quantize evaluate dump report instruction ops targets passes steps --target --name \
        --testbench --standalone --static-arena --dim --value --state --expect --rounding --hybrid --extern --qdq \
        --float --layers --recorded --at --only --combine --explain --time-passes --werror --quiet --version; do
        grep -q -e " $word " "$work/help" || [ "$word" = compile ] || { echo "$word is not in the help"; return 1; }
    done
}
check combine-says-what-is-kept ends 0 \
    'conv is computed in each iteration of y_max_pool2d.h; 4 of its 32 elements along h are stored' \
    dump $conv_pool --at strategy --combine all
check explain-effect   ends 0 \
    'buffer bytes 61568 -> 8032, loads 6482880 -> 4476064, stores 25920 -> 18976, multiply-adds 3214080 -> 2214144' \
    dump samples/conv_pool/rolling.te --at scheduled --explain
printf '%b' 'input x: f32[10]\ny[a] = x[a]\noutput y\nschedule\n  split y.a 4\n' > "$work/cut.te"
check explain-counts-guards ends 0 '^# after: loops 2, buffers 0, buffer bytes 0, loads 10, stores 10,' \
    dump "$work/cut.te" --at scheduled --explain
check explain-first-steps-is-shown ends 0 '^   2  ' dump samples/conv_pool/rolling.te --at step:2 --explain
check report-quantizations-is-shown ends 0 \
    '^14 of 16 quantizations are computed in integers; in floats: x_DequantizeLinear v3_DequantizeLinear$' \
    report tests/models/quantized.onnx
check report-qdq-integer-is-shown ends 0 \
    '^15 of 16 quantizations are computed in integers; in floats: x_DequantizeLinear$' \
    report tests/models/quantized.onnx --qdq integer
check report-qdq-float-is-shown ends 0 '^0 of 16 quantizations are computed in integers' \
    report tests/models/quantized.onnx --qdq float
check dump-realized-is-shown    ends 0 '= conv2d(.*groups=1 zero=.* : i32' dump tests/models/quantized.onnx --at dag
check help-names-everything     help_names_all

# zeros FILE: 8 x 8 x 16 floats that are 0, as .npy.
zeros() {
    {
        printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8, 8, 16), }"
        head -c 4096 /dev/zero
    } > "$1"
}
mkdir -p "$work/recorded"
zeros "$work/recorded/relu_2.npy"
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
    head -c 256 /dev/zero
} > "$work/in.npy"
cp "$work/in.npy" "$work/in.npz"
check verify-layers-is-shown    ends 0 '^relu_2: .* of 1024 elements .*within the tolerance' verify $digits --layers
# A slice and a reshape leave the last dimension strided: no view for the instruction, which takes rows.
check verify-rows-of-a-part        ends 0 'outputs agree' verify tests/models/rows_of_a_part.tflite --target x86
check verify-io-arena-is-shown  ends 0 '^ryh: 0 of 8 elements differ' verify tests/models/recurrent.onnx --io arena
check verify-io-arena-regions-is-shown ends 0 '^back: 0 of 40 elements differ' \
    verify tests/models/control.onnx --io arena
check report-io-arena-is-shown  ends 0 '^RAM  *[0-9]* bytes: arena [0-9]* with inputs and outputs$' \
    report $digits --io arena
check verify-recorded-layer-fails ends 1 'the first layer that differs is "relu_2"' \
    verify $digits --recorded "$work/recorded"
check verify-recorded-none-is-refused ends 1 'two.npz" has no file for any layer' \
    verify $digits --recorded tests/fuzz/corpus-npz/two.npz
check verify-recorded-no-zip-is-refused ends 1 \
    'in.npz" is not a zip archive that can be read: it does not end like a zip file' \
    verify $digits --recorded "$work/in.npz"
check run-layers-is-accepted    ends 0 - run $digits "$work/in.npy" --layers -o "$work/o0.npy" -o "$work/o1.npy"

# ---- Refused input: 1, as `file: where: error: what` -----------------------------------------------------------------

setup refused-no-such-file      refuses '' "$work/none.onnx" -o "$work/a.c"
check refused-names-the-file    names "$work/none.onnx"
printf 'no model' > "$work/text.onnx"
check refused-no-onnx           refuses '' "$work/text.onnx" -o "$work/a.c"
: > "$work/empty.onnx"
check refused-empty             refuses '' "$work/empty.onnx" -o "$work/a.c"
head -c 3000 $digits > "$work/cut.onnx"
setup refused-cut-off           refuses '' "$work/cut.onnx" -o "$work/a.c"
check refused-cut-off-named     names "$work/cut.onnx"
printf 'x' > "$work/model.xyz"
check refused-extension         refuses '' "$work/model.xyz" -o "$work/a.c"
mkdir -p "$work/folder.onnx"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 6\n' > "$work/lfs.onnx"
cp "$work/lfs.onnx" "$work/lfs.npy"
printf '\n<!DOCTYPE html>\n<html></html>\n' > "$work/page.tflite"
printf '\034\000\000\000TFL3\000\000' > "$work/lite.onnx"
cp "$work/lite.onnx" "$work/lite.bin"
cp $digits "$work/other.te"
check refused-folder            refuses "' is a folder; use a model file (.onnx, .te or .tflite)" \
    "$work" -o "$work/a.c"
check refused-folder-of-models  refuses "folder.onnx' is a folder; use a model file" "$work/folder.onnx" -o "$work/a.c"
check refused-lfs-pointer       refuses 'not a .onnx file, but a git-LFS pointer.*; fetch the file: git lfs pull' \
    "$work/lfs.onnx" -o "$work/a.c"
check refused-page              refuses 'not a .tflite file, but an HTML page' "$work/page.tflite" -o "$work/a.c"
check refused-text              refuses 'not a .onnx file, but text' "$work/text.onnx" -o "$work/a.c"
check refused-renamed-tflite    refuses 'but a TensorFlow Lite model; give it a name that ends in .tflite' \
    "$work/lite.onnx" -o "$work/a.c"
check refused-tflite-unnamed    refuses 'file is a TensorFlow Lite model; give it a name that ends in .tflite' \
    "$work/lite.bin" -o "$work/a.c"
check refused-renamed-onnx      refuses 'not a .te file, but an ONNX model; give it a name that ends in .onnx' \
    "$work/other.te" -o "$work/a.c"
check refused-lfs-input         refuses 'lfs.npy" is not a .npy file.*: it is a git-LFS pointer' \
    run $digits "$work/lfs.npy"
for bracket in 'relu(x' 'relu(reshape(x, shape=4)' 'concat([x, x, axis=0)' 'relu(x))'; do
    te "input x: f32[4]\\ny = $bracket\\noutput y\\n" bracket
    case $bracket in
    'relu(x))') words="')' closes no bracket" ;;
    *concat*) words="']' is missing before ')'" ;;
    *) words="'(' is not closed: ')' is missing" ;;
    esac
    setup "refused-bracket-$bracket" refuses "$words" dump "$work/bracket.te"
    check "refused-bracket-$bracket-line" names "$work/bracket.te: 2"
done
# run and verify: models and inputs that are no valid files. A sparse file is larger than memory.
mkdir -p "$work/folder.onnx" "$work/folder.npy"
: > "$work/empty.npy"
dd if=/dev/null of="$work/huge.npy" bs=1 count=0 seek=4000000000 2> /dev/null
cp "$work/huge.npy" "$work/huge.onnx"
for command in run verify; do
    check $command-folder-is-refused refuses "folder.onnx' is a folder; use a model file" \
        $command "$work/folder.onnx" tests/models/digits.in0.npy
    check $command-empty-is-refused refuses 'not a .onnx file, but an empty file' \
        $command "$work/empty.onnx" tests/models/digits.in0.npy
    check $command-missing-is-refused refuses 'cannot open' $command "$work/none.onnx" tests/models/digits.in0.npy
    check $command-too-large-is-refused refuses 'too large' $command "$work/huge.onnx" tests/models/digits.in0.npy
    check $command-input-folder-is-refused refuses 'folder.npy" is a folder; use a file' \
        $command $digits "$work/folder.npy"
    check $command-input-empty-is-refused refuses 'empty.npy' $command $digits "$work/empty.npy"
    check $command-input-missing-is-refused refuses 'cannot open' $command $digits "$work/none.npy"
    check $command-input-too-large-is-refused refuses 'too large' $command $digits "$work/huge.npy"
    if [ "$(id -u)" -ne 0 ]; then
        cp $digits "$work/secret.onnx" && chmod 000 "$work/secret.onnx"
        check $command-unreadable-is-refused refuses 'cannot open' \
            $command "$work/secret.onnx" tests/models/digits.in0.npy
    fi
done
rm -f "$work/huge.npy" "$work/huge.onnx"
# Chains: time and memory follow the number of calls, and no recursion follows the depth.
{
    printf 'input x: f32[8]\nt0 = relu(x)\n'
    i=0
    while [ $i -lt 3000 ]; do printf 't%d = neg(t%d)\n' $((i + 1)) $i; i=$((i + 1)); done
    printf 'output t%d\n' $i
} > "$work/chain.te"
deep_chain() { (ulimit -s 256 && "$lw" "$work/chain.te" -o "$work/chain.c") && grep -q chain_run "$work/chain.c"; }
check chain-of-3000             deep_chain
# Ports whose names differ only in case have distinct macros.
printf 'input x: f32[4]\ninput X: f32[4]\ny = add(x, X)\noutput y\n' > "$work/case.te"
case_macros() {
    "$lw" "$work/case.te" -o "$work/case.c" --name k --io arena && grep -q 'K_X_AT ' "$work/case.h" &&
        grep -q 'K_X_2_AT ' "$work/case.h"
}
check io-arena-case-of-names    case_macros
printf 'input x: f32[4]\ninput X: f32[4]\ny = sub(x, X)\nY = neg(y)\noutput y\noutput Y\n' > "$work/case.te"
check io-arena-case-of-names-computes "$lw" verify "$work/case.te" --io arena
te 'input x: f32[4]\ny = Foo(x)\noutput y\n' foo
check near-nothing-is-refused   refuses "there is no operator 'Foo'; see .loopwright ops." \
    "$work/foo.te" -o "$work/foo.c"
# A layer of one unit has a schedule, and no warning.
printf '%s\n' 'input x: f32[5][1][3]' 'input w: f32[3][4]' 'input r: f32[1][4]' 'input b: f32[4]' \
    'a, h, c = lstm(x, w, r, b)' 'output a' > "$work/unit.te"
for target in generic cortex-m4; do
    check "lstm-of-one-unit-$target-is-accepted" ends 0 - "$work/unit.te" -o "$work/unit.c" --target $target --werror
done
for outs in 1 5; do
    printf '%s\n' 'input x: i8[1][1]' "input w: i8[$outs][1]" "input b: i32[$outs]" 's = packed_dense(x, w, b)' \
        'y = rescale(s, to="i8", multiplier=1500000000, shift=6)' 'output y' > "$work/products.te"
    for target in cortex-m4 x86-vnni aarch64-dotprod; do
        check "products-without-a-sum-$outs-$target-are-accepted" ends 0 - "$work/products.te" -o "$work/products.c" \
            --target $target --werror
    done
done
# Bytes that become floats by scales of blocks: in the sums that alone read them; else before their first reader.
constant() { awk -v name="$1" -v n="$2" 'BEGIN { printf "const %s = {0", name
    for (i = 1; i < n; i++) printf ",%d", i * 37 % 251 - 125; print "}" }'; }
{ echo 'input x: f32[1][64]'; constant 'scale: f32[2][64]' 128; constant 'zero: i8' 1
  constant 'v8: i8[64][64]' 4096; constant 'w8: i8[64][64]' 4096; } > "$work/bytes.te"
{ cat "$work/bytes.te"; printf '%s\n' 'scales = repeat(scale, times=32, axis=0)' 'v = dequantize(v8, scales, zero)' \
    'y = dense(x, v)' 'output y'; } > "$work/one_reader.te"
{ cat "$work/bytes.te"; printf '%s\n' 'one = cast(zero, to="f32")' 'v = dequantize(v8, one, zero)' \
    'w = dequantize(w8, one, zero)' 'a = dense(x, v)' 'b = dense(a, v)' 'c = dense(b, w)' 'y = dense(c, w)' \
    'output y'; } > "$work/two_readers.te"
check bytes-of-blocks-become-floats-in-the-sums ends 0 '^y  *repeat+dequantize+dense' report "$work/one_reader.te"
# Forty squares of a repeated constant join them in one pass: 2^40 paths lead through them.
{ cat "$work/bytes.te"; echo 'm0 = repeat(scale, times=32, axis=0)'; k=0
  while [ $k -lt 40 ]; do echo "m$((k + 1)) = mul(m$k, m$k)"; k=$((k + 1)); done
  printf '%s\n' 'y = dense(x, m40)' 'output y'; } > "$work/squares.te"
check bytes-squared-often-join-the-sums ends 0 'mul+dense' report "$work/squares.te"
check bytes-become-floats-before-their-reader ends 0 '^RAM .*arena 16[0-9][0-9][0-9],' report "$work/two_readers.te"
{ echo nest; cat "$work/chain.te"; printf 'y[i] = t1[i] + 1\noutput y\n'; } > "$work/chain_nest.te"
check chain-nest-refused        refuses 'more than 2048 statements in one nest' \
    "$work/chain_nest.te" -o "$work/chain_nest.c"
# Too little memory for the model, or for a file, is an error like any other.
short_of_memory() {
    kilobytes=$1
    shift
    (ulimit -v "$kilobytes" && "$lw" --version > /dev/null 2>&1) || return 77
    mkdir "$work/short" && (ulimit -v "$kilobytes" && refuses 'out of memory' "$@") && [ -z "$(ls "$work/short")" ]
    status=$?
    rm -r "$work/short"
    return $status
}
dd if=/dev/null of="$work/large.npy" bs=1 count=0 seek=1000000000 2> /dev/null
short_of_memory 11000 $digits -o "$work/short/a.c" > "$work/said" 2>&1
status=$?
if [ $status -eq 77 ]; then skip memory "this shell cannot limit memory"
else
    check memory-compile        [ $status -eq 0 ]
    check memory-report         short_of_memory 12000 report $digits -o "$work/short/a.html"
    check memory-input          short_of_memory 500000 run $digits "$work/large.npy"
fi
rm -f "$work/large.npy"
te 'input x: f32[4]\ny[i] = x[i] + z[i]\noutput y\n' formula
check refused-combine           refuses "no group 'cnv'" $conv_pool -o "$work/a.c" --combine cnv,y
words="no group 'relu_1'; the node 'relu_1' is in the group 'conv_1'"
check refused-combine-of-a-node refuses "$words; use a group that .dump MODEL --at fused --combine none. lists" \
    $digits -o "$work/a.c" --combine relu_1,conv_2
check refused-combine-no-name   refuses '--combine "conv_1,": a name is missing; use GROUP,GROUP' \
    $digits -o "$work/a.c" --combine conv_1,
check refused-combine-gap       refuses 'which is not named but depends on a named group' \
    samples/conv_pool/chain_combined.te -o "$work/a.c" --combine first,y
setup refused-formula           refuses "'z'" "$work/formula.te" -o "$work/a.c"
check refused-formula-line      grep -q "^$work/formula.te: 2:[0-9]*: error: " "$work/err"
te 'input x: f32[4]\ny[i] = x[i]\000\noutput y\n' nul
setup refused-nul-in-te         refuses '0x00 has no meaning' "$work/nul.te" -o "$work/a.c"
nul_place() { grep -q '^[^ ]*nul.te: 2:12: error: ' "$work/err"; }
check refused-nul-has-a-place   nul_place
te 'input x: f32[4]\ny = relu(x)\noutput y\n' said_of
printf '# of y\n\000stop_fusion y\n' > "$work/nul.txt"
check refused-nul-in-annotations refuses '0x00 has no meaning' "$work/said_of.te" -o "$work/a.c" \
    --annotate "$work/nul.txt"
check refused-nul-in-tuning     refuses '0x00 has no meaning' "$work/said_of.te" -o "$work/a.c" \
    --schedule "$work/nul.txt"
te 'input x: f32[4]\ny[i] = x[i]\noutput y\nschedule\n  split y.i 0\n' step
setup refused-step              refuses 'split' "$work/step.te" -o "$work/a.c"
check refused-step-line         grep -q "^$work/step.te: 5:[0-9]*: error: " "$work/err"
check refused-leaves-no-file    [ ! -e "$work/a.c" -a ! -e "$work/a.h" ]

# ---- Options without effect: an error --------------------------------------------------------------------------------

for stage in fused strategy loops step:1 scheduled lowered; do
    check "only-unknown-at-$stage-is-refused" refuses "no group 'gemm_2'; did you mean 'gemm_1'?" \
        dump $digits --at $stage --only gemm_2
    check "only-known-at-$stage-is-shown" ends 0 gemm_1 dump $digits --at $stage --only gemm_1
done
check only-of-a-combined-part-is-refused refuses \
    "'conv_3'; it is a part of 'maxpool_1', which combines conv_3+maxpool_1; pass --combine none to separate them; " \
    dump $digits --at fused --only conv_3
check only-unknown-of-a-formula-is-refused refuses "no group 'sums'; use c" dump $matmul --at loops --only sums
check only-of-a-view-at-lowered-is-shown ends 0 'flatten_1: no function' dump $digits --at lowered --only flatten_1
check only-of-a-shared-function-is-shown ends 0 'even_out shares this function' \
    dump tests/models/control.onnx --at lowered --only even_out
check only-inside-of-a-region-is-shown ends 0 'odd_turned' dump tests/models/control.onnx --at lowered --only odd_turned
every_layer_is_lowered() {
    "$lw" report tests/models/control.onnx --target cortex-m4 |
        awk '/^multiply-adds/ { exit } NF > 4 && $3 ~ /^[0-9]+$/ { print $1 }' > "$work/layers"
    [ "$(wc -l < "$work/layers")" -ge 20 ] || return 1
    while read -r layer; do
        "$lw" dump tests/models/control.onnx --at lowered --target cortex-m4 --only "$layer" | grep -q . ||
            { echo "$layer"; return 1; }
    done < "$work/layers"
}
check only-any-layer-of-report-at-lowered every_layer_is_lowered
sed 's/vectorize sums.j/vectorize sums.k/' $matmul > "$work/refused_later.te"
check steps-before-a-refused-one-are-shown ends 0 'for sums.i < 4 unrolled' dump "$work/refused_later.te" --at step:6
check refused-step-is-not-shown refuses 'sums.k runs over a reduce axis' dump "$work/refused_later.te" --at step:7
check step-too-large-is-refused refuses 'the longest schedule has 8 steps; use step:0 to step:8' \
    dump $matmul --at step:99
check step-too-large-for-a-group-is-refused refuses "group 'softmax_1' has .* steps" \
    dump $digits --at step:99 --only softmax_1
check strategy-of-steps-is-shown ends 0 'group c: the steps of the file' dump $matmul --at strategy
check strategy-of-a-nest-is-shown ends 0 'group y: one nest, with the steps of the file' dump $nest --at strategy
check strategy-explained ends 0 '^after: loops' dump $digits --at strategy --explain
check combine-of-a-nest-is-refused refuses '--combine has no effect: the file is one `nest`' \
    $nest -o "$work/a.c" --combine nosuch
printf 'input x: f32[64]\na = relu(x)\nb = annotation.stop_fusion(a)\nc = softmax(b)\noutput a, c\n' > "$work/apart.te"
check combine-that-combines-nothing-is-shown ends 0 \
    'gemm_1: note: --combine: it stays apart: in the loops of softmax_1 it is refused: its' \
    $digits -o "$work/apart.c" --combine gemm_1,softmax_1
check combine-all-that-combines-nothing-is-shown ends 0 \
    'note: --combine all combines no groups; run .dump MODEL --at strategy' \
    "$work/apart.te" -o "$work/apart.c" --combine all
check combine-of-one-is-refused refuses "'conv' is only one group" $conv_pool -o "$work/a.c" --combine conv
check layers-of-a-nest-is-refused refuses '--layers has no effect: the file is one `nest`' verify $nest --layers
signature=$("$lw" dump $digits --at strategy --only gemm_1 | sed -n 's/^  signature //p')
other='dense(f32[2][3])'
printf '%s\n' "# records" "for $signature on generic by stages.in_order:" "for $other on generic:" \
    "for $other on cortex-m4:" > "$work/good.tuning"
printf '%s\n' "for $signature on generic by contraction.tilde:" > "$work/no.tuning"
printf '%s\n' "for $signature on generic by pool.bytes:" > "$work/not.tuning"
printf '%s\n' "for $signature on generic:" "for $signature on generic:" > "$work/twice.tuning"
printf '%s\n' "$signature contraction.tiled" > "$work/old.tuning"
setup tuning-applies            ends 0 - $digits -o "$work/tuned.c" --schedule "$work/good.tuning"
# commented FILE GROUP: the comment above the group's function.
commented() {
    awk -v f="_$2(" '/^\/\*/ { t = "" } { t = t $0 "\n" } index($0, f) && /^static void/ { printf "%s", t }' "$1"
}
in_comment() { commented "$work/tuned.c" gemm_1 | grep -q 'schedule stages.in_order'; }
check tuning-is-in-the-comment  in_comment
check tuning-counts-once ends 0 'good.tuning: warning: 1 of 2 signatures on generic match no group of this model' \
    $digits -o "$work/tuned.c" --schedule "$work/good.tuning"
check tuning-of-no-group-werror-is-refused ends 1 '1 of 2 signatures on generic match no group' \
    $digits -o "$work/tuned.c" --schedule "$work/good.tuning" --werror
# Warnings refuse, and say so; notes do not.
refuses_warnings() {
    rm -f "$work"/refused.*
    ends 1 'error: --werror refuses the model for 1 warning; nothing is written' \
        "$@" --schedule "$work/good.tuning" --werror || return 1
    grep -q 'warning: 1 of 2 signatures' "$work/said" || { cat "$work/said"; return 1; }
    set -- "$work"/refused.*
    [ ! -e "$1" ]
}
for how in '' --quiet; do check "werror-$how-writes-no-file" refuses_warnings $digits -o "$work/refused.c" $how; done
report_has_options() {
    "$lw" report $digits --target cortex-m4 --combine none --optimize size --quiet -o "$work/chosen.json" &&
        grep -qF '"options": "--combine none --optimize size"' "$work/chosen.json"
}
check report-has-the-options-of-the-plan report_has_options
check werror-writes-no-report refuses_warnings report $digits -o "$work/refused.json"
no_report() { refuses_warnings report $digits && ! grep 'multiply-adds' "$work/said"; }
check werror-prints-no-report no_report
echo 'annotation.vendor_tile conv_1' > "$work/noted.txt"
check werror-accepts-notes ends 0 'note: this annotation is unknown' \
    $digits -o "$work/noted.c" --annotate "$work/noted.txt" --werror
check tuning-unknown-row-is-refused refuses \
    'there is no implementation "contraction.tilde"; did you mean .contraction.tiled.?' \
    $digits -o "$work/a.c" --schedule "$work/no.tuning"
check tuning-does-not-apply-is-refused refuses 'the implementation pool.bytes does not apply to gemm_1' \
    $digits -o "$work/a.c" --schedule "$work/not.tuning"
check tuning-twice-is-refused   refuses 'already has a block, at 1:1' \
    $digits -o "$work/a.c" --schedule "$work/twice.tuning"
check tuning-old-form-is-refused refuses \
    'to name an implementation, write `for dense+add(.*) on TARGET by contraction.tiled:`' \
    $digits -o "$work/a.c" --schedule "$work/old.tuning"
check no-effect-leaves-no-file  [ ! -e "$work/a.c" ]

# layers_agree MODEL OPTION...: the number of rows equals the number in the totals, in text and in HTML.
layers_agree() {
    "$lw" report "$@" > "$work/report.txt" && "$lw" report "$@" -o "$work/report.html" || return
    rows=$(awk '/^multiply-adds/ { exit } /^layer / { on = 1; next } on && NF > 4 && !/^[a-z_0-9]*: / { n++ }
        END { print n }' "$work/report.txt")
    for count in $(sed -n 's/^flash .* for \([0-9]*\) layers.*/\1/p' "$work/report.txt") \
        $(sed -n 's/^floating point in [0-9]* of \([0-9]*\) layers.*/\1/p' "$work/report.txt") \
        $(sed -n 's/^<dt>Work.* multiply-adds in \([0-9]*\) layers<.*/\1/p' "$work/report.html") \
        $(grep -c '^<tr><td>' "$work/report.html"); do
        [ "$count" = "$rows" ] || { echo "$1: $rows rows, but $count layers"; return 1; }
    done
}
check report-layers-agree           layers_agree $digits
check report-layers-agree-regions   layers_agree tests/models/control.onnx
check report-layers-agree-quantized layers_agree tests/models/quantized.onnx
check report-layers-agree-states    layers_agree tests/models/recurrent.onnx

# ---- --weights section=NAME ------------------------------------------------------------------------------------------

for name in 1x "" . .$ 'a b' 'a"b' a-b a/b __DATA, ,__const a,b,c __DATA,1x; do
    check "section-name-$name-is-refused" ends 2 \
        "--weights section=.*is not a section name; use letters, digits, _, . and .," \
        $digits -o "$work/a.c" --weights "section=$name"
done
for name in x1 .weights _x .1x 'a$b' __DATA,__const; do
    check "section-name-$name-is-accepted" ends 0 - $digits -o "$work/section.c" --weights "section=$name"
done

# ---- --dim and --value -----------------------------------------------------------------------------------------------

te 'size n in 2..64\ninput x: f32[n]\ny[i] = x[i] + 1\noutput y\n' sized
te 'input x: f32[4]\ninput w: f32[4]\ny[i] = x[i] * w[i]\noutput y\n' weighted
check dim-fixed-is-shown        ends 0 'input x: f32\[16\]' dump "$work/sized.te" --at loops --dim n=16
check dim-too-large-is-refused  refuses '65 is given' "$work/sized.te" -o "$work/a.c" --dim n=65
check dim-too-small-is-refused  refuses '1 is given' "$work/sized.te" -o "$work/a.c" --dim n=1
check dim-maximum-is-accepted   ends 0 - "$work/sized.te" -o "$work/sized.c" --dim 'n<=32'
check dim-least-is-accepted     ends 0 - "$work/sized.te" -o "$work/sized.c" --dim '3<=n<=32'
check dim-least-too-small-is-refused refuses '1 is given' "$work/sized.te" -o "$work/a.c" --dim '1<=n<=32'
check dim-unknown-is-refused  refuses "no symbolic size 'm' to be given with --dim; the open sizes are: n" \
    "$work/sized.te" -o "$work/a.c" --dim m=3
check dim-unknown-in-onnx-is-refused refuses "no symbolic size 'm' to be given with --dim; the open sizes are: batch" \
    tests/models/open_classifier.onnx -o "$work/a.c" --dim batch=1 --dim m=3
check dim-misspelt-in-onnx-is-refused ends 1 \
    "error: there is no symbolic size 'bacth' to be given with --dim; the open sizes are: batch, time" \
    tests/models/open_keywords.onnx -o "$work/a.c" --dim bacth=1
check dim-that-is-fixed       refuses 'dimension 1 is 3 in the model and not open, but --dim sets it as x.1' \
    tests/models/open_classifier.onnx -o "$work/a.c" --dim batch=1 --dim 'x.1<=4'
check value-unknown-is-refused  refuses 'v' "$work/weighted.te" -o "$work/a.c" --value v=tests/models/digits.in0.npy
te 'input image: f32[4]\ninput weights: f32[4]\ny[i] = image[i] * weights[i]\noutput y\n' long
check value-near-is-refused   refuses "no input 'wieghts' to be given with --value; did you mean 'weights'?" \
    "$work/long.te" -o "$work/a.c" --value wieghts=tests/models/digits.in0.npy
check value-of-another-shape-is-refused refuses \
    '--value input=tests/models/boxes.in0.npy: the file has f32.*, but the input is f32' \
    $digits -o "$work/a.c" --value input=tests/models/boxes.in0.npy
check value-no-file-is-refused  refuses '' "$work/weighted.te" -o "$work/a.c" --value "w=$work/none.npy"
check value-other-shape-is-refused refuses 'does not hold' \
    "$work/weighted.te" -o "$work/a.c" --value w=tests/models/digits.in0.npy
check value-leaves-no-file      [ ! -e "$work/a.c" ]

# ---- Schedules as text -----------------------------------------------------------------------------------------------
# A scheduled model, printed and read back: the naive nest's stages as formulas, and the steps.

# as_te MODEL FILE OPTION...
as_te() {
    model=$1 file=$2
    shift 2
    "$lw" dump "$model" --at loops "$@" | sed -n '/^loops$/q; /^nest/!s/^stage //p; /^nest/!{/^stage/!p}' |
        awk '!seen[$0]++' > "$file"
    case "$(grep -x nest "$model")$*" in ?*) echo nest >> "$file" ;; esac
    { echo schedule; "$lw" dump "$model" --at scheduled "$@" | grep '^  '; } >> "$file"
}
loops_of() { sed -n '/^  /p; /^# loops$/,$p'; }
# replays_c FILE.te: the same C, byte for byte.
replays_c() {
    mkdir -p "$work/again" "$work/once"
    as_te "$1" "$work/again/$(basename "$1")" && "$lw" "$work/again/$(basename "$1")" -o "$work/again/r.c" --name r &&
        "$lw" "$1" -o "$work/once/r.c" --name r && cmp "$work/once/r.c" "$work/again/r.c" &&
        same_header "$work/once/r.h" "$work/again/r.h"
}
# replays_nest MODEL: the same loops and steps, of all groups combined.
replays_nest() {
    as_te "$1" "$work/nest.te" --combine all &&
        "$lw" dump "$work/nest.te" --at scheduled | loops_of > "$work/again.txt" &&
        "$lw" dump "$1" --combine all --at scheduled | loops_of > "$work/once.txt" &&
        cmp "$work/once.txt" "$work/again.txt" && [ -s "$work/once.txt" ]
}
# replays_blocks MODEL TARGET OPTION...: dump --at scheduled, fed back by --schedule, gives the same C.
replays_blocks() {
    model=$1 target=$2
    shift 2
    mkdir -p "$work/again" "$work/once"
    "$lw" dump "$model" --at scheduled --target "$target" "$@" > "$work/blocks.txt" &&
        grep -q "^for .* on $target:$" "$work/blocks.txt" &&
        "$lw" "$model" -o "$work/once/r.c" --name r --target "$target" "$@" || return
    # A block of several groups excludes the option.
    case " $* " in *" --combine all "*) set -- --combine none ;; esac
    "$lw" "$model" -o "$work/again/r.c" --name r --target "$target" --schedule "$work/blocks.txt" "$@" &&
        cmp "$work/once/r.c" "$work/again/r.c" && cmp "$work/once/r.h" "$work/again/r.h"
}
for target in generic cortex-m4 x86-avx2; do check "replay-blocks-$target" replays_blocks $digits $target; done
check replay-blocks-regions     replays_blocks tests/models/control.onnx cortex-m4
check replay-blocks-open        replays_blocks tests/models/open_attention.onnx generic --dim 'time<=16'
check replay-blocks-te          replays_blocks samples/matmul/matmul.te cortex-m4
check replay-blocks-schedules   replays_blocks tests/golden/group-schedule/group-schedule.te generic
check replay-blocks-all         replays_blocks $digits cortex-m4 --combine all
check replay-blocks-combined    replays_blocks samples/conv_pool/chain_combined.te generic --combine none
# An edited step takes effect in one group; blocks of other targets are skipped.
edited_block() {
    "$lw" dump $digits --at scheduled --only conv_2 > "$work/edited.txt" &&
        grep -q 'split relu.w 4' "$work/edited.txt" &&
        sed -i.old 's/split relu.w 4/split relu.w 2/' "$work/edited.txt" &&
        "$lw" dump $digits --at scheduled > "$work/before.txt" &&
        "$lw" dump $digits --at scheduled --schedule "$work/edited.txt" > "$work/after.txt" &&
        [ "$(diff "$work/before.txt" "$work/after.txt" | grep -c '^>   split relu.w 2$')" -eq 1 ] &&
        "$lw" $digits -o "$work/edited.c" --schedule "$work/edited.txt" &&
        grep -q 'schedule of the file' "$work/edited.c"
}
other_target() {
    mkdir -p "$work/again" "$work/once"
    printf 'for nothing on cortex-m4:\n  split y.c 4\n' > "$work/other.txt"
    "$lw" $digits -o "$work/once/o.c" --name o &&
        "$lw" $digits -o "$work/again/o.c" --name o --schedule "$work/other.txt" 2> "$work/err" &&
        cmp "$work/once/o.c" "$work/again/o.c" &&
        grep -q \
            'other.txt: 1:1: warning: no block is for the target generic, and the first one is for cortex-m4; add' \
            "$work/err"
}
# The groups' names do not depend on --name, although macros of the header begin with it, as CONV_E does.
other_name() {
    printf 'input x: f32[8]\nCONV_E = exp(x)\ny = softmax(CONV_E)\noutput y, CONV_E\n' > "$work/named.te"
    mkdir -p "$work/once" "$work/again"
    "$lw" dump "$work/named.te" --at scheduled --name conv > "$work/conv.txt" &&
        "$lw" dump "$work/named.te" --at scheduled > "$work/plain.txt" &&
        cmp "$work/conv.txt" "$work/plain.txt" && grep -q '^for CONV_E on generic:' "$work/conv.txt" &&
        "$lw" "$work/named.te" -o "$work/once/o.c" --name o &&
        "$lw" "$work/named.te" -o "$work/again/o.c" --name o --schedule "$work/conv.txt" &&
        cmp "$work/once/o.c" "$work/again/o.c"
}
check schedule-of-another-name  other_name
check schedule-edited           edited_block
check schedule-other-target     other_target
# refused_block TEXT PLACE WORDS: TEXT as a file of schedules is refused at the line and column, with the words.
refused_block() {
    printf "$1" > "$work/blocks.txt"
    refuses "$3" $digits -o "$work/a.c" --schedule "$work/blocks.txt" && grep -q "blocks.txt: $2: error: " "$work/err"
}
printf 'for @op(conv2d) on generic:\n  compute_inline @elementwise\nfor @op(conv3d) on generic:\n' > "$work/kinds.txt"
check schedule-no-group-is-refused refused_block '# mine\nfor conv_9 on generic:\n' \
    2:1 "there is no group 'conv_9'; did you mean"
check schedule-refused-step     refused_block 'for conv_1 on generic:\n\n  vectorize conv2d.i\n' 3:3 'wrong: '
check schedule-unknown-step-is-refused refused_block 'for conv_1 on generic:\n  spilt y.c 4\n' \
    2:3 'this is not a schedule step; use split'
check schedule-unknown-target-is-refused refused_block 'for conv_1 on z80:\n' 1:15 'there is no target "z80"'
check schedule-step-alone-is-refused refused_block '  split y.c 4\n' 1:3 'this step is in no block'
check schedule-no-head-is-refused refused_block 'conv_1:\n' 1:1 'a block begins `for GROUP on TARGET:`'
check schedule-folder-is-refused refuses 'folder.onnx" is a folder; use a file' \
    $digits -o "$work/a.c" --schedule "$work/folder.onnx"
check schedule-twice-is-refused refused_block 'for conv_1 on generic:\nfor conv_1 on generic:\n' \
    2:5 'conv_1 on generic already has a block, at 1:1'
check schedule-twice-by-role-is-refused refused_block 'for conv_1 on generic:\nfor @op(conv2d) on generic:\n' \
    2:1 'the group conv_1 already has a block, at 1:1'
check schedule-twice-in-parts-is-refused refused_block 'for conv_1+conv_2 on generic:\nfor conv_2 on generic:\n' \
    2:5 'conv_2 on generic already has a block, at 1:1'
check schedule-part-twice-is-refused refused_block 'for conv_1+conv_1 on generic:\n' \
    1:5 "conv_1+conv_1 names the group 'conv_1' twice"
check schedule-part-missing-is-refused refused_block 'for conv_1+conv_7 on generic:\n' \
    1:1 "there is no group 'conv_7'; did you mean"
check schedule-parts-and-role-is-refused refused_block 'for @op(conv2d) on generic:\nfor conv_1+conv_2 on generic:\n' \
    2:1 'the group conv_1 already has a block, at 1:1'
check schedule-of-a-node-is-refused refused_block 'for relu_1 on generic:\n' \
    1:1 "there is no group 'relu_1'; the node 'relu_1' is in the group 'conv_1'"
check schedule-no-call-is-refused refused_block 'for @op(conv3d) on generic:\n' 1:1 "no group has a call of 'conv3d'"
check schedule-no-call-beside-a-used-block-warns ends 0 'kinds.txt: 3:1: warning: no group has a call of .conv3d.' \
    $digits -o "$work/a.c" --schedule "$work/kinds.txt"
check schedule-no-operator-is-refused refused_block 'for @op(conv2) on generic:\n' \
    1:5 "there is no operator .conv2.; did you mean 'conv2d'?"
check schedule-other-role-is-refused refused_block 'for @contraction on generic:\n' \
    1:5 "'@contraction' does not select groups; use @op(OPERATOR)"
check schedule-role-refused     refused_block 'for @op(conv2d) on generic:\n  vectorize conv2d.i\n' \
    2:3 'in group conv_1: vectorize conv2d.i: wrong: '
check schedule-otherwise-alone-is-refused refused_block 'for conv_1 on generic:\notherwise:\n' \
    2:1 'no condition precedes .otherwise.'
check schedule-open-end-is-refused refused_block 'for conv_1 on generic when n == 4:\n' \
    1:1 'its last version has a condition; add .otherwise:'
check schedule-fixed-sizes-is-refused refused_block 'for conv_1 on generic when n == 4:\notherwise:\n' \
    1:1 'conv_1 has only constant sizes'
check schedule-row-of-parts-is-refused refused_block 'for conv_1+conv_2 on generic by contraction.tiled:\n' \
    1:1 'contraction.tiled does not apply to conv_1+conv_2'
check schedule-without-groups-is-refused ends 2 '--schedule has no effect on --at dag' \
    dump $digits --at dag --schedule "$work/blocks.txt"
# Of several files, the first with a block for a group gives its schedule.
precedence() {
    echo "for gemm_1 on generic:" > "$work/first.txt"
    "$lw" $digits -o "$work/p.c" --schedule "$work/first.txt" --schedule "$work/good.tuning" --quiet &&
        commented "$work/p.c" gemm_1 | grep -q 'dense + add' && ! commented "$work/p.c" gemm_1 | grep -q 'schedule'
}
check schedule-first-file-wins  precedence
check tuning-names-schedule     ends 2 "did you mean .--schedule." $digits -o "$work/a.c" --tuning "$work/good.tuning"
# One block for each group with a convolution; by signature, the same C.
by_role() {
    printf 'for @op(conv2d) on generic:\n  unroll relu.c by=4\n' > "$work/role.txt" &&
        "$lw" $digits -o "$work/role.c" --schedule "$work/role.txt" --combine none &&
        [ "$(grep -c 'schedule of the file: unroll' "$work/role.c")" -ge 2 ]
}
by_signature() {
    printf 'for %s on generic:\n  split add.c 2\n' "$signature" > "$work/signed.txt"
    printf 'for gemm_1 on generic:\n  split add.c 2\n' > "$work/named.txt"
    mkdir -p "$work/again" "$work/once"
    "$lw" $digits -o "$work/again/n.c" --schedule "$work/signed.txt" &&
        "$lw" $digits -o "$work/once/n.c" --schedule "$work/named.txt" &&
        cmp "$work/again/n.c" "$work/once/n.c" && grep -q 'schedule of the file: split y.c 2' "$work/once/n.c"
}
check schedule-by-role          by_role
# The steps of a block name stages by role; verify reads the model and the blocks twice.
steps_by_role() {
    printf '%s\n' 'for @op(conv2d) on generic:' '  compute_inline @elementwise' \
        '  compute_at @contraction @output.w' '  set_scope @contraction register' > "$work/roles.txt" &&
        "$lw" dump $digits --at scheduled --schedule "$work/roles.txt" --combine none > "$work/roles.out" &&
        [ "$(grep -c '^  compute_at conv2d relu.w$' "$work/roles.out")" -ge 2 ] &&
        ! grep -q '^  .*@contraction' "$work/roles.out" &&
        "$lw" verify $digits --schedule "$work/roles.txt"
}
check schedule-steps-by-role    steps_by_role
check schedule-roles-refused    refused_block 'for conv_1 on generic:\n  unroll @op(dense).o\n' \
    2:3 'no stage is @op(dense); use conv2d, add, relu'
check schedule-by-signature     by_signature
# The steps of an implementation, and more.
by_row() {
    printf 'for gemm_1 on generic by contraction.tiled:\n  pragma dense.k unroll 2\n' > "$work/row.txt" &&
        "$lw" dump $digits --at scheduled --only gemm_1 --schedule "$work/row.txt" > "$work/row.out" &&
        grep -q 'vectorize dense.o' "$work/row.out" && grep -q 'pragma dense.k unroll 2' "$work/row.out"
}
check schedule-by-row           by_row
# The end of a .te file.
te_blocks() {
    printf '%s\n' 'input x: f32[1][8][8][4]' 'y = max_pool2d(x, kernel=2,2)' 'z = relu(y)' 'output z' \
        'for y on generic:' '  split max_pool2d.h 2   # rows in pairs' 'for y on cortex-m4:' > "$work/blocks.te"
    "$lw" "$work/blocks.te" -o "$work/blocks.c" && grep -q 'schedule of the file: split' "$work/blocks.c"
}
check schedule-in-a-te-file     te_blocks
# A block for a target takes the place of the file's own schedule.
te_block_of_a_nest() {
    { cat "$matmul"; printf 'for c on cortex-m4:\n  split c.j 4\n  unroll c.ji\n'; } > "$work/nest_block.te"
    "$lw" "$work/nest_block.te" -o "$work/nest_block.c" --target cortex-m4 &&
        grep -q 'schedule of the file: split c.j 4; unroll c.ji' "$work/nest_block.c" &&
        "$lw" "$work/nest_block.te" -o "$work/nest_block.c" && grep -q 'in registers sums' "$work/nest_block.c"
}
check schedule-in-a-te-nest     te_block_of_a_nest
check schedule-missing-file-is-refused refuses 'cannot open' $digits -o "$work/a.c" --schedule "$work/none.txt"
for te in samples/*/*.te tests/golden/*/*.te tests/emitted/*.te; do
    folder=$(dirname "$te")
    grep -q '^schedule' "$te" && [ ! -f "$folder/generic.err" ] || continue
    [ ! -f "$folder/targets" ] || grep -q '^generic' "$folder/targets" || continue
    # A file of several groups is replayed by blocks: replays_blocks.
    grep -q "^schedule [a-z]" "$te" || check "replay-$(basename "$te" .te)" replays_c "$te"
done
for model in samples/conv_pool/combined.te samples/conv_pool/chain_combined.te; do
    check "replay-$(basename "$model" .te)-nest" replays_nest "$model"
done

# ---- The stack -------------------------------------------------------------------------------------------------------

within_stack() { (ulimit -s 128 && "$lw" tests/models/qlinear_s8.onnx --target "$1" -o "$work/a.c" --quiet); }
for target in generic cortex-m4; do check stack-of-128-KB-suffices-on-$target within_stack $target; done

# ---- Files and names that are not what they seem ---------------------------------------------------------------------

# Two models as formats of printf: a sum with a constant of 16 bytes in link.bin beside the model, and a call whose name
# clears the terminal and sets its title.
external='\010\010\072y\012\016\012\001x\012\001w\022\001y\042\003Add\022\001g\052\072\010\004\020\001'
external=$external'B\001wj\024\012\010location\022\010link.binj\013\012\006offset\022\0010j\014\012\006length'
external=$external'\022\00216p\001Z\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010'
external=$external'\004b\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004B\004\012'
external=$external'\000\020\021'
escapes='\010\010\072M\012\036\012\001x\022\001y\032\020\033\1332J\033\1350\073pwn\007evil\042\004Nop'
escapes=$escapes'e\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004b'
escapes=$escapes'\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004B\004\012\000'
escapes=$escapes'\020\021'
mkdir "$work/beside"
printf "$external" > "$work/beside/external.onnx"
printf "$(printf '%s' "$external" | sed 's/link/lin\\000/')" > "$work/beside/nul.onnx"
printf "$escapes" > "$work/escapes.onnx"
# beside WORDS COMMAND...: after the command, which makes link.bin, the model is refused so; WORDS -: it is read.
beside() {
    beside_words=$1
    shift
    rm -f "$work/beside/link.bin"
    "$@" || return
    if [ "$beside_words" = - ]; then "$lw" "$work/beside/external.onnx" -o "$work/a.c"
    else refuses "$beside_words" "$work/beside/external.onnx" -o "$work/a.c"; fi
}
sixteen() { printf '0123456789abcdef' > "$work/beside/link.bin"; }
check external-data-is-read         beside - sixteen
check external-link-is-refused      beside "is a symbolic link, which may leave" \
    ln -s /etc/passwd "$work/beside/link.bin"
check external-pipe-is-refused      beside 'is a device, a pipe or a folder' mkfifo "$work/beside/link.bin"
check external-nul-is-refused       refuses 'a location without NUL' "$work/beside/nul.onnx" -o "$work/a.c"
shows_no_control() {
    "$lw" "$work/escapes.onnx" -o "$work/a.c" 2> "$work/err"
    [ $? -eq 1 ] && grep -qF '\033[2J' "$work/err" && ! tr -d '\n' < "$work/err" | grep -q '[[:cntrl:]]'
}
check control-characters-are-numbers shows_no_control
keeps_model() {
    te 'input x: f32[4]\ny = relu(x)\noutput y\n' kept
    cp "$work/kept.te" "$work/kept.txt"
    "$lw" dump "$work/kept.te" --at dag -o "$work/./kept.te" 2> "$work/err"
    [ $? -eq 2 ] && grep -q 'would overwrite a file that the command reads' "$work/err" &&
        cmp "$work/kept.te" "$work/kept.txt"
}
check output-over-the-model-is-refused keeps_model

# ---- Output files ----------------------------------------------------------------------------------------------------

check output-no-folder-is-refused refuses 'there is no folder ".*/no/such/folder/"' \
    $matmul -o "$work/no/such/folder/a.c"
mkdir "$work/taken.h"
check output-header-unwritable-is-refused refuses '' $matmul -o "$work/taken.c"
check output-whole-or-none      [ ! -e "$work/taken.c" ]
# The standard output, or a device, fails before the text is complete.
if [ -c /dev/full ]; then
    full_stdout() {
        "$lw" "$@" > /dev/full 2> "$work/err"
        [ $? -eq 1 ] && grep -q 'standard output' "$work/err"
    }
    check output-full-stdout    full_stdout targets
    check output-full-stdout-of-a-long-list full_stdout ops
    check output-full-stdout-of-help full_stdout --help
    check output-full-stdout-of-version full_stdout --version
    check output-full-device-is-refused refuses 'cannot write "/dev/full"' dump $matmul -o /dev/full
fi
# beyond_limit SUFFIX ARGUMENT...: under a limit of 4 kB per file, no output exists afterwards.
beyond_limit() {
    mkdir "$work/limit" || return
    (ulimit -f 8 && refuses 'cannot write' "$@") && [ -z "$(ls "$work/limit")" ]
    status=$?
    rm -r "$work/limit"
    return $status
}
check output-beyond-limit       beyond_limit $digits -o "$work/limit/d.c" --testbench
check output-report-beyond      beyond_limit report $digits -o "$work/limit/d.html"
# Links under the temporary name are neither followed nor removed.
planted() {
    mkdir "$work/links" && echo kept > "$work/links/target" && ln -s target "$work/links/m.c.part" &&
        ln -s nowhere "$work/links/m.h.part" &&
        "$lw" $matmul -o "$work/links/m.c" && [ "$(cat "$work/links/target")" = kept ] &&
        [ "$(ls "$work/links" | tr '\n' ' ')" = "m.c m.c.part m.h m.h.part target " ]
}
check output-planted-links      planted
# The outputs of a run are written together: the second fails, so the first does not exist.
te 'input x: f32[8][8]\na[i,j] = x[i,j] + 1\nb[i,j] = x[i,j] * 2\noutput a\noutput b\n' pair
run_together() {
    refuses 'cannot write' \
        run "$work/pair.te" tests/models/digits.in0.npy -o "$work/first.npy" -o "$work/no/such.npy" &&
        [ ! -e "$work/first.npy" ]
}
check output-run-together       run_together
only_outputs() {
    mkdir "$work/alone" && "$lw" $matmul -o "$work/alone/m.c" --testbench &&
        [ "$(ls "$work/alone" | tr '\n' ' ')" = "m.c m.h m_main.c " ]
}
check output-no-other-files     only_outputs
twice() {
    "$lw" "$1" -o "$work/twice.c" --testbench && cat "$work"/twice*.[ch] > "$work/twice.txt" &&
        "$lw" "$1" -o "$work/twice.c" --testbench && cat "$work"/twice*.[ch] | cmp - "$work/twice.txt"
}
check same-bytes-te             twice $matmul
check same-bytes-onnx           twice $digits
timed() {
    "$lw" $digits -o "$work/timed.c" --name timed --time-passes --werror 2> "$work/times" &&
        "$lw" $digits -o "$work/untimed.c" --name timed || return
    sed 's/untimed\.h/timed.h/' "$work/untimed.c" | cmp - "$work/timed.c" &&
        grep -q '^note: *[0-9]*\.[0-9]* ms  total$' "$work/times" || return
    "$lw" passes | awk "{ print \$1, \$2 }" | while read -r pass; do
        grep -q " ms  $pass" "$work/times" || { echo "the pass $pass is not among the times"; return 1; }
    done
}
check time-passes-prints-each-pass timed
setup output-of-dump            ends 0 - dump $matmul --at loops -o "$work/loops.txt"
check output-of-dump-is-it      grep -q '^nest c$' "$work/loops.txt"
cp $matmul "$work/7 of-9.te"
setup name-of-file-is-made-an-identifier ends 0 - "$work/7 of-9.te" -o "$work/named.c"
setup output-in-the-same-word   ends 0 - $matmul "-o$work/joined.c" --name=joined
check output-of-that-name       grep -q 'int joined_run' "$work/joined.c"
setup output-of-targets         ends 0 - targets -o "$work/targets.txt"
check output-of-targets-is-it   grep -q '^cortex-m4 ' "$work/targets.txt"
check name-of-file-compiles     ${CC:-cc} -std=c99 -Iruntime -c "$work/named.c" -o "$work/named.o"

# ---- run -------------------------------------------------------------------------------------------------------------

check run-too-many-inputs-is-refused refuses '2 files are given; pass one .npy file for each input: input$' \
    run $digits tests/models/digits.in0.npy tests/models/digits.in0.npy
check run-too-few-inputs-is-refused refuses 'no input file is given; pass one .npy file for each input: input$' \
    run $digits -o "$work/a.npy"
check run-wrong-file-is-refused refuses '' run $digits $matmul -o "$work/a.npy"
setup run-ends-with-0           ends 0 - run $digits tests/models/digits.in0.npy -o "$work/scores.npy"
check run-prints-tensors ends 0 '^scores: f32\[1\]\[10\]$' run $digits tests/models/digits.in0.npy
te 'input x: i32[3]\ny[i, j<2] = x[i] * 10 + j\nz[i<40, j<30] = x[0] + i * 100 + j\noutput y, z\n' print
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"
    printf '\001\000\000\000\002\000\000\000\375\377\377\377'
} > "$work/three.npy"
cat > "$work/printed" <<'END'
y: i32[3][2]
[[10 11]
 [20 21]
 [-30 -29]]
z: i32[40][30]
[[1 2 3 ... 28 29 30]
 [101 102 103 ... 128 129 130]
 [201 202 203 ... 228 229 230]
 ...
 [3701 3702 3703 ... 3728 3729 3730]
 [3801 3802 3803 ... 3828 3829 3830]
 [3901 3902 3903 ... 3928 3929 3930]]
END
prints() { "$lw" run "$work/print.te" "$work/three.npy" > "$work/out" && diff "$work/out" "$work/printed"; }
check run-prints-as-numpy       prints
check run-writes-its-output     [ -s "$work/scores.npy" ]

report_end
