#!/bin/sh
# SPDX-License-Identifier: MIT
# mutants.sh BUILD [COUNT]: makes faults in the proved C of ad01_int8, one at a time, and requires that the analyser
# finds each. A fault in the run is shown to Eva, one in a layer to WP; the faultless text must pass the same commands.
#
#   bound     a loop runs once more
#   sum       a loop's invariant states half of the range of a sum
#   slot      a tensor in the arena moves by one byte
#   unset     an accumulator keeps its first value, or a layer is not called
#   overlap   an output moves into the input that its layer reads
set -u
. "$(dirname "$0")/../report.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) build=$(cd "$1" && pwd) || exit 1
most=${2:-40}
cd "$root" || exit 1
model=../shared/models/mlperf-tiny/ad01_int8.tflite
why=$(missing frama-c why3 z3 cvc4)
[ -n "$why" ] || [ -f "$model" ] || why="$model is not beside the project"
if [ -n "$why" ]; then skip mutants "$why"; report_end; exit; fi
work=$build/proof/mutants
rm -rf "$work"
mkdir -p "$work" && "$build/loopwright" "$model" --standalone --acsl --quiet -o "$work/m.c" && cd "$work" || exit 1
# The edits below change offsets, so the names of offsets are replaced by their numbers.
sed -n 's/^    \([A-Za-z0-9_]*_at\) = \([0-9]*\),.*/s|+ \1\\b|+ \2|g/p' m.c > numbers.sed
sed -f numbers.sed m.c > sound.c
log=$work/log
prefix=ad01_int8_activation
layers=$(sed -n "s/^layers='\(.*\)'/\1/p" m_proof.sh)
frama() { frama-c -machdep gcc_x86_64 -cpp-extra-args='-I. -DLW_VECTOR=' "$@" </dev/null >"$log" 2>&1; }

# by_eva: proves the run of m.c.
by_eva() {
    frama -eva -eva-no-results -eva-ilevel 64 -eva-use-spec "$(echo "$layers" | tr ' ' ',')" m_proof.c
    grep -q '^ *0 alarms generated' "$log" && grep -q 'Preconditions .* 0 unknown *0 invalid' "$log"
}

# by_wp LAYER: proves the layer of m.c, without the elements of constants.
by_wp() {
    awk '/^static const .* = {$/ { print $0 " 0 };"; inside = 1 } !inside { print } /^};/ { inside = 0 }' m.c > layers.c
    frama -wp -wp-no-init-const -wp-prover cvc4,z3 -wp-timeout 10 -wp-par 2 -wp-rte -rte-initialized "$1" -wp-fct "$1" \
        layers.c
    awk '/Proved goals:/ { seen = 1; open = $4 != $6 } END { exit !seen || open }' "$log"
}

# mutant NAME TOOL EDIT: the fault changes the text, and the tool does not prove it.
number=0
mutant() {
    name=$1 edit=$2
    shift 2
    number=$((number + 1))
    [ $number -le "$most" ] || return 0
    sed "$edit" sound.c > m.c
    if cmp -s m.c sound.c; then fail "mutant-$name" "the edit changes nothing"
    elif "$@"; then fail "mutant-$name" "is not found"
    elif grep -q 'User Error' "$log"; then fail "mutant-$name" "the analyser does not read it"
    else pass "mutant-$name"; fi
}
cp sound.c m.c
if by_eva; then pass sound-run-is-proved; else fail sound-run-is-proved 'it is not'; fi
if by_wp "${prefix}_4_Relu"; then pass sound-layer-is-proved; else fail sound-layer-is-proved 'it is not'; fi

# in_layer NAME: the lines of a layer, for sed.
in_layer() { echo "/^static void $1(/,/^}/"; }
calls() { echo '/^int ad01_int8_run/,$'; }

for n in 1 2 3 4 5 6 7 8; do
    [ $n -eq 4 ] || [ $n -eq 5 ] || mutant "slot-above-$n" \
        "$(calls){/LW_LAYER($n,/,/LW_LAYER($((n + 1)),/s/memory + 128/memory + 129/}" by_eva
done
for n in 1 2 3 6 7; do
    mutant "overlap-of-$n" "$(calls){/LW_LAYER($n,/,/LW_LAYER($((n + 1)),/s/memory + 128/memory + 64/}" by_eva
done
for n in 0 1; do
    next=$((n + 1))
    mutant "unset-without-call-$n" "$(calls){/LW_LAYER($n,/,/LW_LAYER($next,/{/LW_LAYER/!d}}" by_eva
done
for layer in ${prefix}_4_Relu ${prefix}_5_Relu ${prefix}_1_Relu ${prefix}_Relu ad01_int8_Identity; do
    short=${layer#ad01_int8_}
    mutant "bound-k-$short" "$(in_layer "$layer")s/k < \([0-9]*\); k++/k <= \1; k++/" by_wp "$layer"
    mutant "bound-o-$short" "$(in_layer "$layer")s/o < \([0-9]*\); o++/o <= \1; o++/" by_wp "$layer"
    mutant "bound-ci-$short" "$(in_layer "$layer")s/\(c[i]*\) < \([0-9]*\); \(c[i]*\)++/\1 <= \2; \3++/" by_wp "$layer"
    mutant "sum-low-$short" "$(in_layer "$layer")s/-(k \* 16384) <= acc/-(k * 8192) <= acc/" by_wp "$layer"
    mutant "sum-high-$short" "$(in_layer "$layer")s/acc\[j_\] <= k \* 16384/acc[j_] <= k * 8192/" by_wp "$layer"
    mutant "unset-$short" "$(in_layer "$layer")s/acc\[o\] = 0;/acc[o] += 0;/" by_wp "$layer"
done
report_end
