#!/bin/sh
# SPDX-License-Identifier: MIT
# evidence.sh BUILD: `loopwright evidence`: every node of the file is in the tables, each range of lines holds the
# function that it names, a second run writes the same bytes, and results of tools count only for the model.c that they
# saw. Frama-C and cppcheck take minutes and are not run; their results are written by hand.
set -u
. "$(dirname "$0")/report.sh"
begin "evidence.sh BUILD" "$@"
rm -rf "$work"/*
int8=tests/fuzz/corpus-tflite/conv-int8.tflite

writes() { "$lw" evidence "$1" --quiet --name net -o "$work/$2"; }
setup evidence-of-tflite    writes $int8 int8
setup evidence-of-onnx      writes samples/digits/digits.onnx digits
setup evidence-of-a-loop    writes tests/models/until.onnx until
setup evidence-of-formulas  writes tests/golden/ring-buffer/ring-buffer.te ring

# has_nodes FOLDER COUNT: as many nodes as the file has, each with a layer.
has_nodes() {
    sed 1d "$work/$1/nodes.csv" | cut -c1-150
    [ "$(sed 1d "$work/$1/nodes.csv" | wc -l)" -eq "$2" ] && ! grep ',"",' "$work/$1/nodes.csv"
}
check evidence-has-all-nodes-of-tflite        has_nodes int8 3
check evidence-has-all-nodes-of-onnx          has_nodes digits 17
check evidence-has-nodes-of-inner-graphs      has_nodes until 4
check evidence-has-all-statements             has_nodes ring 2
check evidence-names-the-graph-of-an-inner-node grep -q '^"0/body/0","Add",' "$work/until/nodes.csv"

# An unused node is listed, and said to be omitted.
unused() {
    printf 'input x: f32[4]\ny[i] = x[i] * 2.0\nz[i] = x[i] + 1.0\noutput y\n' > "$work/unused.te" &&
        writes "$work/unused.te" unused && cat "$work/unused/nodes.csv" &&
        grep -q '^"2","formula","y","0","computed' "$work/unused/nodes.csv" &&
        grep -q '^"3","formula","z","","omitted: no output depends on it"' "$work/unused/nodes.csv"
}
check evidence-lists-unused-nodes unused

# lines_name FOLDER: the lines of each function and each layer hold the function's name; loops begin with `for`.
lines_name() {
    awk -F, -v source="$work/$1/net.c" '
        BEGIN { while ((getline line < source) > 0) text[++count] = line }
        function holds(name, first, last,   i) {
            gsub(/"/, "", name)
            for (i = first; i <= last; i++) if (index(text[i], name "(")) return 1
            print FILENAME ": " name " is not in lines " first " to " last
            bad = 1
        }
        FNR == 1 { next }
        FILENAME ~ /functions.csv/ { holds($1, $2, $3); seen++ }
        FILENAME ~ /loops.csv/ && $2 != "" && text[$2] !~ /for \(/ { print "no loop at " $2; bad = 1 }
        END { exit bad || !seen }' "$work/$1/functions.csv" "$work/$1/loops.csv" &&
        grep -n -o -E '"net_[a-z_0-9]*",[0-9]+,[0-9]+,[0-9]+,[0-9]+' "$work/$1/layers.csv" | tr -d '"' | tr ':,' '  ' |
        while read -r _ name first last call call_last; do
            sed -n "${first},${last}p" "$work/$1/net.c" | grep -q "$name(" &&
                sed -n "${call},${call_last}p" "$work/$1/net.c" | grep -q "$name(" || exit 1
        done
}
for model in int8 digits until ring; do check "evidence-lines-name-functions-of-$model" lines_name $model; done

# The page that a reviewer opens first names each table, and no file that is missing.
read_me() {
    for file in $(grep -o '`[a-zA-Z]*\.[a-z]*`' "$work/$1/README.md" | tr -d '`' | sort -u); do
        [ -f "$work/$1/$file" ] || { echo "$file is missing"; return 1; }
    done
    for file in "$work/$1"/*.csv; do
        case ${file##*/} in about.csv | files.csv) continue ;; esac
        grep -q "\`${file##*/}\`" "$work/$1/README.md" || { echo "${file##*/} is not named"; return 1; }
    done
}
for model in int8 digits until ring; do check "evidence-has-a-first-page-for-$model" read_me $model; done

helper_loops() {
    printf 'input x: i32[4]\ny[i] = clz(x[i])\noutput y\n' > "$work/clz.te" && writes "$work/clz.te" clz &&
        line=$(sed -n 's/^"lw_clz_i32",\([0-9]*\),.*/\1/p' "$work/clz/loops.csv") && [ -n "$line" ] &&
        sed -n "${line}p" "$work/clz/net.c" | grep -q 'for ('
}
check evidence-lists-loops-of-helpers helper_loops

# The emitted C runs on each vector; a loop whose end data decide, on generated inputs alone.
runs_vectors() {
    cat "$work/int8/verification.txt" "$work/until/verification.txt"
    for vector in generated zeros least greatest; do
        grep -qx "vector $vector:" "$work/int8/verification.txt" || return 1
    done
    grep -q '^verified: 4 of 4 outputs .* on 4 vectors' "$work/int8/verification.txt" &&
        grep -q ' on 1 vector\($\|;\)' "$work/until/verification.txt"
}
check evidence-verifies-all-vectors runs_vectors

is_same() { "$lw" evidence "$2" --quiet --name net -o "$work/again" && diff -r "$work/$1" "$work/again"; }
check evidence-has-same-bytes is_same int8 $int8

why=$(missing sha256sum)
hashes() { (cd "$work/int8" && sha256sum -c SHA256SUMS) && [ "$(grep -c . "$work/int8/SHA256SUMS")" -gt 20 ]; }
if [ "$why" ]; then skip evidence-hashes-all-files "$why"; else check evidence-hashes-all-files hashes; fi

# The sums are those of the self-test.
selftest() {
    "$lw" $int8 --quiet --name net --selftest "$(ls "$work"/int8/vectors/least.in_*.npy)" -o "$work/selftest.c" &&
        grep '^"least",' "$work/int8/checksums.csv" | sed 's/.*"\([0-9a-f]*\)"$/\1/' > "$work/sums" &&
        [ -s "$work/sums" ] &&
        while read -r sum; do grep -q "{ 0x${sum}u," "$work/selftest.c" || exit 1; done < "$work/sums"
}
check evidence-checksums-are-those-of-the-selftest selftest
verifies() {
    "$lw" verify $int8 --quiet "$work"/int8/vectors/greatest.in_*.npy \
        --expect "$(ls "$work"/int8/vectors/greatest.out_*)"
}
check evidence-vectors-verify verifies
states_sum() {
    cat "$work/int8/ranges.csv"
    grep '"accumulator",[0-9]*,-[0-9]*,[0-9]*,"i32",.*no input makes it overflow' "$work/int8/ranges.csv"
}
check evidence-bounds-sums states_sum
# The channels of a convolution together have the range of its result, and one alone is narrower.
bounds_channels() {
    cat "$work/int8/channels.csv"
    awk -F, 'FNR == 1 || $3 != "\"conv2d\"" { next }
        FILENAME ~ /ranges/ { if ($4 == "\"result\"") { least = $6; most = $7 } next }
        { if (!count++ || $5 < low) low = $5
          if (count == 1 || $6 > high) high = $6
          if ($5 > least || $6 < most) narrow++ }
        END { exit !(count == 2 && low == least && high == most && narrow) }' \
        "$work/int8/ranges.csv" "$work/int8/channels.csv"
}
check evidence-bounds-channels bounds_channels
annotated() { grep -q 'loop variant' "$work/int8/net.c" && [ -f "$work/int8/net_proof.sh" ]; }
check evidence-has-annotations annotated

# ---- Results of tools ------------------------------------------------------------------------------------------------

digest=$(sed -n 's/^\([0-9a-f]*\)  net.c$/\1/p' "$work/int8/SHA256SUMS")
# reads FILE LINES TABLE WORDS: the file of this model.c gives a row with the words, and of another model.c none.
reads() {
    cp -r "$work/int8" "$work/tools" && rm -f "$work"/tools/*.txt
    printf "model $digest\ntool A tool 1.0\n$2" > "$work/tools/$1" &&
        "$lw" evidence $int8 --quiet --name net -o "$work/tools" && cat "$work/tools/$3.csv" &&
        grep -q -- "$4" "$work/tools/$3.csv" && grep -q "  $1\$" "$work/tools/SHA256SUMS" || return 1
    printf "model 00$digest\ntool A tool 1.0\n$2" > "$work/tools/$1" &&
        "$lw" evidence $int8 --quiet --name net -o "$work/tools" && cat "$work/tools/$3.csv" &&
        grep -q 'for a different file' "$work/tools/$3.csv" && ! grep -q -- "$4" "$work/tools/$3.csv" &&
        ! grep -q "  $1\$" "$work/tools/SHA256SUMS"
}
check evidence-reads-a-proof \
    reads proof.txt 'f, by WP: 3 goals, 2 proved, 0 alarms\n3 goals, 2 proved, 0 alarms\n' proof \
    '^"f, by WP",3,2,0,"A tool 1.0","open"'
check evidence-reads-deviations \
    reads misra.txt '15 6 12\n15 6 20\n17 7 3\n' deviations '^"15.6",.*,2,"12; 20",.*indentation'
check evidence-says-how-to-run-tools grep -q 'not run: run `sh tools.sh`' "$work/int8/proof.csv"

# The rows of deviations are those of the page.
deviations() {
    sed -n 's/^| \([0-9][0-9., ]*\) | \(.*\) | .*/\1;\2/p' docs/compilers.md > "$work/page.txt"
    sed -n 's/^DEVIATION("\([^"]*\)", "\([^"]*\)",$/\1;\2/p' emitter/api/evidence/deviations.def > "$work/rows.txt"
    [ -s "$work/rows.txt" ] && diff "$work/page.txt" "$work/rows.txt"
}
check evidence-has-the-deviations-of-the-page deviations

covers() {
    cp -r "$work/int8" "$work/covered" && sh "$work/covered/tools.sh" coverage &&
        "$lw" evidence $int8 --quiet --name net -o "$work/covered" && cat "$work/covered/coverage.csv" &&
        grep -q '^"net_run",[1-9][0-9]*,[1-9]' "$work/covered/coverage.csv"
}
why=$(missing gcc gcov sha256sum)
if [ "$why" ]; then skip evidence-reads-coverage "$why"; else check evidence-reads-coverage covers; fi

# ---- JSON ------------------------------------------------------------------------------------------------------------

json() {
    python3 - "$work/$1/evidence.json" <<'PYTHON'
import json, sys
tables = json.load(open(sys.argv[1]))
columns = {
    "about": "item value", "nodes": "node operator name layers how",
    "layers": "layer lw_layer graph name operators nodes function first_line last_line call_line call_last_line "
              "result place instructions worst_instructions",
    "parameters": "layer parameter kind bytes read written buffer at computed_by constant",
    "constants": "constant type bytes first_line last_line sha256 layers",
    "lines": "first_line last_line name kind layers nodes",
    "functions": "function first_line last_line calls arrays deepest_arrays frame deepest",
    "loops": "function line least most ends_because", "checksums": "vector layer result bytes fnv1a",
    "files": "file bytes sha256",
}
assert tables["schema"] == 1
for name, keys in columns.items():
    for row in tables[name]:
        assert list(row) == keys.split(), (name, list(row))
of_node = {(n["node"], layer) for n in tables["nodes"] for layer in n["layers"]}
of_layer = {(node, l["layer"]) for l in tables["layers"] for node in l["nodes"]}
assert of_node == of_layer, of_node ^ of_layer
of_line = {(node, layer) for l in tables["lines"] for node in l["nodes"] for layer in l["layers"]}
has_code = {l["layer"] for l in tables["layers"] if l["first_line"]}
assert {(node, l) for node, l in of_layer if l in has_code} == of_line, of_layer ^ of_line
constants = {c["constant"] for c in tables["constants"]}
assert {p["constant"] for p in tables["parameters"] if p["constant"]} <= constants
PYTHON
}
why=$(missing python3)
for model in int8 digits until ring; do
    if [ "$why" ]; then skip "evidence-json-of-$model" "$why"; else check "evidence-json-of-$model" json $model; fi
done

# ---- Refusals --------------------------------------------------------------------------------------------------------

refuses() {
    want=$1
    shift
    ! "$lw" evidence "$@" > "$work/said" 2>&1 && cat "$work/said" && grep -q -- "$want" "$work/said"
}
check evidence-needs-a-folder    refuses 'a model and -o DIR are required' $int8
check evidence-refuses-a-file    refuses 'is a file' $int8 --quiet -o "$work/int8/net.c"
wrong() { CC=false refuses 'building the emitted C failed' $int8 --quiet -o "$work/wrong" && [ ! -d "$work/wrong" ]; }
check evidence-writes-nothing-without-a-compiler wrong
state() {
    "$lw" evidence tests/emitted/filter.te --quiet --state level=new_level --state last=new_last -o "$work/state" &&
        cat "$work/state/proof.csv" && grep -q 'no annotations: they exclude a state' "$work/state/proof.csv"
}
check evidence-says-why-annotations-are-missing state
report_end
