#!/bin/sh
# SPDX-License-Identifier: MIT
# arrows.sh [BUILD]: the layers of the source (ARCHITECTURE.md). Compares every #include "..." of emitter/, ops/,
# schedules/ and runtime/, and the system headers of runtime/, with the table below. If BUILD and nm exist, it checks
# the symbols between object files, too: they form no circle but the recursions that are named here.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-}
[ -z "$build" ] || build=$(cd "$build" && pwd)
cd "$root" || exit 1
log=/dev/null
. tests/report.sh

# A folder or file, then those directly below it. A file may include its own folder and everything reachable downwards.
# A row names only rows above it, so the layers form no circle.
floors='
runtime/lw_math.h
runtime/lw_fixed.h
runtime/lw_random.h
emitter/loopwright.h
emitter/support
emitter/machine              emitter/support
emitter/ir/expr              emitter/support runtime/lw_math.h runtime/lw_fixed.h runtime/lw_random.h
emitter/ir/algebra           emitter/ir/expr
emitter/ir/nest              emitter/ir/algebra
emitter/ir/text              emitter/ir/nest
emitter/ir/check             emitter/ir/text
emitter/ir/interpret         emitter/ir/check
emitter/schedule/step        emitter/ir/check
emitter/schedule/draft       emitter/schedule/step
emitter/schedule/primitives  emitter/schedule/draft
emitter/schedule             emitter/schedule/primitives
emitter/lower/expand         emitter/ir/check
emitter/lower/passes         emitter/lower/expand
emitter/lower                emitter/lower/passes
emitter/cgen                 emitter/ir/text
emitter/graph/dag            emitter/ir/interpret
emitter/graph/quantize       emitter/graph/dag
emitter/graph/shrink         emitter/graph/dag
emitter/graph/stream         emitter/graph/shrink
emitter/graph/differentiate  emitter/graph/dag
emitter/graph/train          emitter/graph/differentiate
emitter/graph/condition      emitter/graph/dag
emitter/graph/passes         emitter/graph/differentiate emitter/graph/quantize emitter/graph/stream
emitter/graph/passes         emitter/graph/condition
emitter/graph/plan           emitter/graph/condition emitter/schedule
ops                          emitter/graph/dag
schedules                    emitter/graph/dag emitter/schedule
emitter/context              emitter/graph/dag
emitter/import/formats       emitter/ir/expr
emitter/import/model         emitter/graph/dag
emitter/import/te            emitter/import/model emitter/import/formats emitter/schedule
emitter/import/onnx/file     emitter/import/formats emitter/ir/algebra
emitter/import/onnx/graph    emitter/import/onnx/file emitter/import/model
emitter/import/onnx/ml       emitter/import/onnx/graph
emitter/import/onnx/ops      emitter/import/onnx/graph emitter/import/onnx/ml
emitter/import/onnx          emitter/import/onnx/ops
emitter/import/tflite/file   emitter/import/formats
emitter/import/tflite/ops    emitter/import/tflite/file emitter/import/model
emitter/import/tflite/custom emitter/import/tflite/ops
emitter/import/tflite        emitter/import/tflite/custom
emitter/import               emitter/import/onnx emitter/import/tflite emitter/import/te
emitter/export               emitter/import/formats emitter/graph/dag
emitter/driver               emitter/import emitter/graph/train emitter/graph/passes emitter/graph/plan
emitter/driver               emitter/lower emitter/cgen emitter/loopwright.h
emitter/quantizer            emitter/driver
emitter/api/computation      emitter/driver emitter/context
emitter/api/extend           emitter/api/computation
emitter/api/page             emitter/quantizer
emitter/api                  emitter/api/extend emitter/api/page emitter/export
emitter/api/package          emitter/api
emitter/api/report           emitter/api emitter/machine
emitter/api/evidence         emitter/api/report
emitter/api/tune             emitter/api
emitter/command              emitter/loopwright.h
emitter/main.c               emitter/command
emitter/playground
'

# A new folder of schedules is on a floor at once.
floors=$floors$(for folder in schedules/*/; do echo "${folder%/} schedules"; done)

# Files that require each other, and the reason.
recursions='
emitter/ir/algebra/bounds emitter/ir/algebra/linear    linear facts narrow intervals, which show that a sum never wraps
emitter/ir/text/read emitter/ir/text/read_access       the grammar: values contain accesses, calls, reductions, types
emitter/ir/text/read emitter/ir/text/read_call
emitter/ir/text/read emitter/ir/text/read_formula
emitter/ir/text/read emitter/ir/text/read_tensor
emitter/graph/dag/graph emitter/graph/dag/region       a region is a node that holds graphs
emitter/driver/nests emitter/driver/region_graphs      the graphs of a region are compiled as the one around it is
emitter/driver/assemble emitter/driver/region_bodies   a call of a region calls the groups of its graphs
'

# ---- Includes --------------------------------------------------------------------------------------------------------

# `FILE INCLUDED` for every include of the project's own files, both from the root.
includes() {
    sources=$(find emitter ops schedules runtime -path '*/templates' -prune -o \
        \( -name '*.[ch]' -o -name '*.def' \) -print)
    # shellcheck disable=SC2086
    { echo "$sources"; grep -n '^[ 	]*#[ 	]*include[ 	]*"' /dev/null $sources; } | awk -F '[:"]' '
        function normal(path) { sub("[^/.]*/\\.\\./", "", path); return path }
        NF == 1 { there[$1] = 1; next }
        {
            beside = $1; sub("/[^/]*$", "/", beside)
            if (("emitter/" $4) in there) print $1, "emitter/" $4
            else if ($4 in there) print $1, $4
            else if (normal(beside $4) in there) print $1, normal(beside $4)
            else print $1, "generated/" $4
        }'
}

# Prints `not ok` for each include that the table does not allow. The generated rows belong to context, the runtime's
# text to cgen.
arrows() {
    includes | awk -v table="$floors" '
        function folder(f) { sub("/[^/]*$", "", f); return f }
        function room(f) { return f ~ "^ops/" ? "ops" : (f in known) ? f : folder(f) }
        BEGIN {
            count = split(table, line, "\n")
            for (i = 1; i <= count; i++) {
                fields = split(line[i], word, " ")
                if (!fields) continue
                known[word[1]] = 1
                for (j = 2; j <= fields; j++) {
                    if (!(word[j] in known)) print "the row of " word[1] " names " word[j] ", which is no row above it"
                    below[word[1], word[j]] = 1
                    for (r in known) if ((word[j], r) in below) below[word[1], r] = 1
                }
            }
        }
        {
            from = room($1); to = room($2)
            if (from ~ "^runtime") from = "runtime"
            if (from == to || (from == "runtime" && to ~ "^runtime")) next
            if ($2 == "generated/builtin.h" && from == "emitter/context") next
            if ($2 == "generated/runtime_text.h" && from == "emitter/cgen") next
            if ($2 == "generated/template_text.h" && from == "emitter/cgen") next
            if ($2 == "generated/package_text.h" && from == "emitter/api/package") next
            if ($2 == "generated/page_text.h" && from == "emitter/api/report") next
            if (!((from, to) in below)) print $1 " -> " $2
        }
        '
}

wrong=$(arrows)
if [ -z "$wrong" ]; then pass "includes point downwards"; else fail "includes point downwards" "$wrong"; fi

stray=$(find emitter ops schedules -path '*/templates' -prune -o -name '*.[ch]' -print | while read -r file; do
    folder=$(dirname "$file")
    case $folder in ops/*) folder=ops ;; esac
    printf '%s\n' "$floors" | grep -q "^\($folder\|$file\)\( \|\$\)" || echo "$file"
done)
if [ -z "$stray" ]; then pass "every file stands on a floor"; else fail "every file stands on a floor" "$stray"; fi

# ARCHITECTURE.md says what each folder holds: in a row of its own, or by its name in the row of a folder around it. A
# folder without a subject cannot be found.
rows=$(grep '^| [a-z/_]* |' ARCHITECTURE.md)
has_subject() {
    case $1 in ops/* | schedules/*) return 0 ;; esac
    printf '%s\n' "$rows" | grep -q "^| $1 |" && return
    around=${1%/*}
    while [ "$around" != "${around%/*}" ] || [ "$around" = runtime ]; do
        printf '%s\n' "$rows" | grep "^| $around |" | grep -q "\`\($1\|${1#"$around"/}\|${1##*/}\)\`" && return
        [ "$around" != runtime ] || return 1
        around=${around%/*}
    done
    return 1
}
unnamed=$(find emitter ops schedules runtime -path '*/templates' -prune -o -name '*.[ch]' -print | sed 's|/[^/]*$||' |
    sort -u | while read -r folder; do [ "$folder" = emitter ] || has_subject "$folder" || echo "$folder"; done)
if [ -z "$unnamed" ]; then pass "every folder has a subject"
else fail "every folder has a subject" "$unnamed"; fi

# Code in a firmware requires five headers of the standard library, and target intrinsics; nothing else. --profile
# reads clock() on cores without a counter.
foreign=$(find runtime -name '*.h' | while read -r file; do
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*<\([^>]*\)>.*/\1/p' "$file" | while read -r included; do
        case $included in
        stdint.h | stddef.h | string.h | math.h | float.h | immintrin.h | arm_*.h | riscv_*.h) ;;
        *) [ "$file $included" = "runtime/lw_counter.h time.h" ] || echo "$file -> $included" ;;
        esac
    done
done)
if [ -z "$foreign" ]; then pass "runtime headers include five of C's alone"
else fail "runtime headers include five of C's alone" "$foreign"; fi

# ---- Rows ------------------------------------------------------------------------------------------------------------

# A row of costs that nothing reads: neither the counter, nor a row that falls back to it.
unread=$(sed -n 's/^COST(\([A-Z0-9_]*\),.*/\1/p' emitter/ir/nest/costs.def | while read -r key; do
    grep -q "COST_$key\\>" emitter/lower/count.c emitter/ir/nest/costs.c ||
        grep -v "^COST($key," emitter/ir/nest/costs.def | grep -q ", $key[,)]" || echo "$key"
done)
if [ -z "$unread" ]; then pass "rows of costs are read"; else fail "rows of costs are read" "$unread"; fi

# ---- Symbols ---------------------------------------------------------------------------------------------------------

# Prints `USER DEFINER` for every symbol that one object takes from another, except pairs of a named recursion.
symbols() {
    (cd "$build/obj" && find emitter ops schedules -name '*.o' | while read -r object; do
        [ ! -f "$root/${object%.o}.c" ] || echo "$object"
    done | xargs nm -A -P) | sed 's/\.o: / /' | awk -v named="$recursions" '
        BEGIN {
            count = split(named, line, "\n")
            for (i = 1; i <= count; i++)
                if (split(line[i], word, " ") > 1)
                    excepted[word[1], word[2]] = excepted[word[2], word[1]] = 1
        }
        $3 == "U" { users[$2] = users[$2] " " $1 }
        $3 ~ /^[TDRBC]$/ { definer[$2] = $1 }
        END {
            for (s in users) {
                if (!(s in definer)) continue
                count = split(users[s], user, " ")
                for (i = 1; i <= count; i++)
                    if (user[i] != definer[s] && !((user[i], definer[s]) in excepted)) print user[i], definer[s]
            }
        }' | sort -u
}

if [ -z "$build" ]; then skip "symbols form no circle" "no build is named"
elif ! has nm || ! has tsort; then skip "symbols form no circle" "$(missing nm tsort)"
else
    circles=$(symbols | tsort 2>&1 > /dev/null)
    if [ -z "$circles" ]; then pass "symbols form no circle"; else fail "symbols form no circle" "$circles"; fi
    unused=$(printf '%s\n' "$recursions" | while read -r a b rest; do
        [ -z "$a" ] || { [ -f "$a.c" ] && [ -f "$b.c" ]; } || echo "$a $b"
    done)
    if [ -z "$unused" ]; then pass "named recursions are files"; else fail "named recursions are files" "$unused"; fi
fi

report_end
