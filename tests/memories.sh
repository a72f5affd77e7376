#!/bin/sh
# SPDX-License-Identifier: MIT
# memories.sh BUILD: --memory places results, scratch and constants; the results are those of one arena, nothing is
# written outside, and what does not fit or has no effect is refused.
set -u
. "$(dirname "$0")/report.sh"
begin "memories.sh BUILD" "$@"
rm -rf "${work:?}"/*

digits=samples/digits/digits.onnx
quantized=tests/models/quantized.onnx
ram="--memory fast=2K,cost=1 --memory large=64K,cost=4"

# emit NAME ARGUMENT...: emits as NAME.c and NAME.h, with the prefix m.
emit() { name=$1; shift; mkdir -p "$work/$name" && "$lw" "$@" --name m -o "$work/$name/m.c" 2> "$work/$name/said"; }

# refused STATUS WORDS ARGUMENT...: the digits are refused with these words.
refused() {
    want=$1 words=$2 status=0
    shift 2
    emit refused $digits "$@" || status=$?
    cat "$work/refused/said"
    grep -q -e "$words" "$work/refused/said" && [ "$status" -eq "$want" ]
}

# ports_test MEMORY: the self-test of a program whose ports are in that memory passes.
ports_test() {
    emit self $digits $ram --io "$1" --selftest random && cat > "$work/self/main.c" << 'END' || return 1
#include "m.h"
static M_FAST(fast);
static M_LARGE(large);
int main(void)
{
    const struct m_memories memory = { fast, large }, none = { 0, 0 };
    const struct m_outputs out = { (float *)(void *)(PORTS + M_SCORES_AT) };
    return m_selftest(&memory, &out) || m_selftest(&none, &out) != M_E_ARENA || m_selftest(0, &out) != M_E_ARENA;
}
END
    $cc -std=c99 -Wall -Wextra -Werror "-DPORTS=$1" -Iruntime -I"$work/self" -o "$work/self/main" "$work/self/main.c" \
        "$work/self/m.c" -lm && "$work/self/main"
}

# ---- Results ---------------------------------------------------------------------------------------------------------

# The test bench has 64 guard bytes before and after each memory.
arena=$("$lw" report $digits --target cortex-m4 | sed -n 's/^RAM .*arena \([0-9]*\),.*/\1/p')
for share in 3 8; do
    check "digits-with-$share-sixteenths-are-the-same" "$lw" verify $digits --target cortex-m4 \
        --memory "fast=$((arena * share / 16 + 16)),cost=1" --memory "large=$((arena + 16)),cost=4"
done
for model in $quantized tests/models/fused.onnx tests/golden/residual/residual.onnx \
    tests/golden/depthwise-pool-concat/depthwise-pool-concat.onnx tests/golden/state/state.te; do
    name=$(basename "${model%.*}")
    check "$name-in-three-memories-is-the-same" "$lw" verify $model --target cortex-m7 --memory m1=600,cost=1/2 \
        --memory m2=2000,cost=2,line=32 --memory m3=1M,cost=5
    case $name in quantized | state) ;; *) continue ;; esac
    check "$name-in-static-arrays-is-the-same" "$lw" verify $model --target cortex-m7 --memory m1=300,cost=1 \
        --memory m2=1M,cost=2 --static-arena
done
check kinds-have-memories "$lw" verify $digits --memory a=8K,for=scratch,cost=9 --memory b=64K,for=results

# ---- The interface ---------------------------------------------------------------------------------------------------

same_as_without() {
    emit none $digits --target cortex-m4 && emit one $digits --target cortex-m4 --memory sram=256K || return 1
    diff "$work/none/m.c" "$work/one/m.c" > "$work/diff"
    [ "$(grep -c '^[<>]' "$work/diff")" -eq 2 ] && grep -q HEADER_HASH "$work/diff" || [ ! -s "$work/diff" ]
}
check one-memory-is-the-arena same_as_without
check one-memory-is-a-limit refused 1 'sram holds 992 bytes' --memory sram=1000

calls() {
    emit call $digits $ram --memory slow=1M,cost=9 && cat > "$work/call/call.c" << 'END' || return 1
#include "m.h"
static M_FAST(fast);
static M_LARGE(large);
static unsigned char other[M_LARGE_SIZE + 64];
#define COUNT(name, size, align) + (size > 0)
int main(void)
{
    static float x[M_INPUT_ELEMS], y[M_SCORES_ELEMS];
    const struct m_inputs in = { x };
    const struct m_outputs out = { y };
    struct m_memories memory = { fast, large, 0 };
    if (0 M_MEMORIES(COUNT) != 2 || M_SLOW_SIZE != 0) return 1;
    if (m_run(&memory, &in, &out) != 0) return 2;
    memory.fast = 0;
    if (m_run(&memory, &in, &out) != M_E_ARENA || m_run(0, &in, &out) != M_E_ARENA) return 3;
    memory.fast = fast;
    memory.large = other + 1;
    if (((unsigned long)other & 15) == 0 && m_run(&memory, &in, &out) != M_E_ARENA) return 4;
    return 0;
}
END
    $cc -std=c99 -Wall -Wextra -Werror -Iruntime -I"$work/call" -o "$work/call/call" "$work/call/call.c" \
        "$work/call/m.c" -lm && "$work/call/call"
}
check a-caller-passes-memories calls
places_constants() {
    emit rom $digits $ram --memory near=4K,rom,cost=2,section=.near --memory far=1M,rom,cost=8,section=.far || return 1
    grep -q 'LW_SECTION(".near")' "$work/rom/m.c" && grep -q 'LW_SECTION(".far")' "$work/rom/m.c"
}
check constants-are-placed-in-roms places_constants
board() {
    printf '# a board\nfast=2K,cost=1   # near\n\nlarge=64K,cost=4\n' > "$work/board.mem"
    emit given $digits $ram && emit read $digits --memory "@$work/board.mem" || return 1
    grep '_SIZE' "$work/given/m.h" > "$work/a" && grep '_SIZE' "$work/read/m.h" > "$work/b" && cmp "$work/a" "$work/b"
}
check a-file-names-memories board
printf '# a board\nfast=2K,cost=1\n\nlarge=64Q,cost=4\n' > "$work/wrong.mem"
check a-fault-in-a-file-has-its-line refused 2 'wrong.mem:4' --memory "@$work/wrong.mem"
check static-arrays-have-sections sh -c "'$lw' $digits --memory fast=2K,section=.fast --memory large=64K,cost=3 \
    --static-arena -o '$work/s.c' && grep -q 'LW_SECTION(\".fast\") union' '$work/s.c'"
placed() {
    "$lw" report $digits $ram -o "$work/r.json" && "$lw" report $digits $ram > "$work/r.txt" || return 1
    cat "$work/r.txt"
    grep -q '"memories": \[{"name": "fast", "rom": false, "capacity": 2048' "$work/r.json" &&
        grep -q '^memory         fast: [0-9]* of 2048 bytes' "$work/r.txt" && grep -q 'fast +[0-9]' "$work/r.txt"
}
check a-report-has-the-memories placed
# What is outside the fast memory fits with the bytes that are missing, if it is the only item that changes.
outside() {
    "$lw" report $digits $ram --memory flash=1M,rom,cost=8 -o "$work/o.json" &&
        "$lw" report $digits $ram --memory flash=1M,rom,cost=8 -o "$work/o.html" &&
        "$lw" report $digits $ram --memory flash=1M,rom,cost=8 > "$work/o.txt" || return 1
    cat "$work/o.txt"
    grep -q '"memory": "fast", "copied": [1-9][0-9]*, "from": "flash"' "$work/o.json" &&
        grep -q '"outside": \[{"name": "[a-z0-9_]*", "memory": "[a-z]*", "into": "fast", "bytes": ' "$work/o.json" &&
        grep -q ' constants are copied before layers, ' "$work/o.txt" &&
        grep -q "with [1-9][0-9]* more bytes" "$work/o.txt" &&
        grep -q 'arrays on the stack: .*; put the stack in fast' "$work/o.txt" &&
        grep -q '"outside": \[{"name": "[a-z0-9_]*", "memory": "[a-z]*", "into": "fast", "bytes": ' "$work/o.html"
}
check a-report-has-copies-and-what-is-outside outside
all_inside() {
    "$lw" report $digits --memory fast=99K,cost=1 --memory large=64K,cost=4 --memory flash=1M,rom,cost=8 \
        -o "$work/i.json" &&
        grep '"outside": \[\]' "$work/i.json"
}
check nothing-is-outside-a-large-memory all_inside

# ---- Staging ---------------------------------------------------------------------------------------------------------

copied="$ram --memory flash=1M,rom,cost=8"
stages() {
    emit copied $digits $copied && grep -q 'LW_COPY_START(0, [a-z0-9_ +]*, m_[a-z0-9_]*, [0-9]*);' "$work/copied/m.c" &&
        grep -q '#include "lw_copy.h"' "$work/copied/m.c"
}
check constants-are-copied stages
check copies-are-executed-late sh -c "'$lw' verify $digits --cc '$cc -O0' --target cortex-m4 $copied |
    grep 'copies that the waits execute (-DLW_COPY_LATE): 1 of 1 outputs agree'"
for model in $quantized tests/models/fused.onnx tests/golden/residual/residual.onnx \
    tests/golden/depthwise-pool-concat/depthwise-pool-concat.onnx; do
    name=$(basename "${model%.*}")
    check "$name-with-copies-is-the-same" "$lw" verify $model --cc "$cc -O0" --target cortex-m7 \
        --memory m1=1K,cost=1,line=32,copy=1 \
        --memory m2=9K,cost=2,for=weights --memory m3=1M,cost=5 --memory rom=1M,rom,cost=20
done
check branches-and-loops-are-the-same "$lw" verify tests/models/control.onnx --cc "$cc -O0" --memory c=300,cost=1 \
    --memory b=1M,cost=3 --memory rom=1M,rom,cost=9
inner_constants() {
    mkdir -p "$work/inner" && "$lw" tests/models/control.onnx --memory a=1M --memory rom=1M,rom,section=.far --name m \
        -o "$work/inner/m.c" && grep -q 'LW_SECTION(".far")' "$work/inner/m.c" &&
        ! grep '^static const LW_ALIGN([0-9]*) [^L]' "$work/inner/m.c"
}
check constants-of-branches-are-in-roms inner_constants
# The model has layers with the names of these memories.
check static-arrays-have-names-of-their-own "$lw" verify tests/models/control.onnx --cc "$cc -O0" \
    --memory a=300,cost=1 \
    --memory b=1M,cost=3 --static-arena
# Copies from a file of weights, and from a section.
for kind in bin incbin section=.rodata; do
    # shellcheck disable=SC2086
    check "copies-from-weights-$kind-are-the-same" "$lw" verify $quantized --cc "$cc -O0" --memory a=1K \
        --memory b=1M,cost=2 --memory rom=1M,rom,cost=20 --weights $kind
done
other_weights() {
    for size in 2K 1K; do
        mkdir -p "$work/ota$size" && "$lw" $digits --name m --memory fast=$size,cost=1 --memory large=64K,cost=4 \
            --memory flash=1M,rom,cost=8 --weights bin -o "$work/ota$size/m.c" || return 1
    done
    cmp -s "$work/ota2K/m.bin" "$work/ota1K/m.bin" && return 1
    cat > "$work/ota.c" << 'END'
#include <stdio.h>
#include "m.h"
static M_FAST(fast);
static M_LARGE(large);
int main(int count, char **argument)
{
    static union { double align[2]; unsigned char bytes[M_WEIGHTS_FILE_SIZE]; } file;
    static float x[M_INPUT_ELEMS], y[M_SCORES_ELEMS];
    const struct m_inputs in = { x };
    const struct m_outputs out = { y };
    struct m_memories memory = { fast, large };
    FILE *f = fopen(argument[count - 1], "rb");
    if (!f || fread(file.bytes, 1, sizeof file.bytes, f) != sizeof file.bytes) return 9;
    return -m_run(&memory, file.bytes, &in, &out);
}
END
    $cc -std=c99 -Iruntime -I"$work/ota2K" -o "$work/ota" "$work/ota.c" "$work/ota2K/m.c" -lm || return 1
    "$work/ota" "$work/ota2K/m.bin" || return 1
    wanted=$(sed -n 's/.*M_E_WEIGHTS *(*-\([0-9]*\).*/\1/p' "$work/ota2K/m.h")
    status=0
    "$work/ota" "$work/ota1K/m.bin" || status=$?
    [ "$status" -eq "$wanted" ]
}
check weights-of-another-plan-are-refused other_weights
check copies-in-static-arrays-are-the-same "$lw" verify $quantized --cc "$cc -O0" --memory a=1K --memory b=1M,cost=2 \
    --memory rom=1M,rom,cost=20 --static-arena
# Copies by a channel begin before the previous layer, and end before their own.
overlaps() {
    emit early $digits --target cortex-m4 --memory a=4K,cost=1,line=32,copy=1 --memory b=64K,cost=4,line=32,copy=2 \
        --memory flash=1M,rom,cost=8 && awk '/LW_COPY_START/ { since_call = 0 } /^    m_[a-z]/ { since_call = 1 }
            /LW_COPY_WAIT/ { if (since_call) early++ } END { exit early < 2 }' "$work/early/m.c"
}
check copies-overlap-with-the-layer-before overlaps
check copies-that-overlap-are-the-same "$lw" verify $quantized --cc "$cc -O0" --memory a=2K,line=16,copy=1 \
    --memory b=1M,cost=3,line=8,copy=2 --memory rom=1M,rom,cost=20
dear_copies_are_left_out() {
    emit dear $digits $ram --memory flash=1M,rom,cost=0.5 && ! grep -q LW_COPY "$work/dear/m.c" || return 1
    emit none $digits --memory a=2K,cost=1,for=results,scratch --memory b=64K,cost=4,for=results,scratch \
        --memory flash=1M,rom,cost=8 && ! grep -q LW_COPY "$work/none/m.c"
}
check copies-that-cost-more-are-left-out dear_copies_are_left_out
# Whole lines: each copy begins at a multiple of 64.
lines() {
    emit lines $digits --memory a=2K,cost=1,line=64,copy=3 --memory b=64K,cost=4,line=64 --memory flash=1M,rom,cost=8 &&
        sed -n -e 's/^    \(m_[a-zA-Z0-9_]*_at\) = \([0-9]*\),.*/item \1 \2/p' \
            -e 's/.*LW_COPY_START(\([0-9]*\), \(.\) + \(m_[a-zA-Z0-9_]*_at\),.*/copy \1 \2 \3/p' "$work/lines/m.c" \
            > "$work/at" &&
        awk '$1 == "item" { at[$2] = $3; next }
            $2 != ($3 == "a" ? 3 : 0) || !($4 in at) || at[$4] % 64 { bad = 1 }
            { copies++ } END { exit bad || copies < 3 }' "$work/at"
}
check copies-have-whole-lines lines
# With copies that the waits execute, a program without waits differs.
waits_matter() {
    mkdir -p "$work/late" && cp "$work/copied/m.h" "$work/late" || return 1
    printf '#include <stdio.h>\n#include "m.h"\nstatic M_FAST(fast);\nstatic M_LARGE(large);\nint main(void)\n{
    static float x[M_INPUT_ELEMS], y[M_SCORES_ELEMS];\n    const struct m_inputs in = { x };
    const struct m_outputs out = { y };\n    struct m_memories memory = { fast, large };
    for (unsigned i = 0; i < M_INPUT_ELEMS; i++) x[i] = (float)i;\n    if (m_run(&memory, &in, &out)) return 1;
    for (unsigned i = 0; i < M_SCORES_ELEMS; i++) printf("%%a\\n", (double)y[i]);\n    return 0;\n}\n' \
        > "$work/late/main.c"
    sed '/LW_COPY_WAIT/d' "$work/copied/m.c" > "$work/late/without.c"
    cp "$work/copied/m.c" "$work/late/with.c"
    for form in with without; do
        $cc -std=c99 -Wall -Wextra -Werror -DLW_COPY_LATE -Iruntime -I"$work/late" -o "$work/late/$form" \
            "$work/late/main.c" "$work/late/$form.c" -lm && "$work/late/$form" > "$work/late/$form.out" || return 1
    done
    $cc -std=c99 -Iruntime -I"$work/late" -o "$work/late/early" "$work/late/main.c" "$work/late/with.c" -lm &&
        "$work/late/early" | cmp - "$work/late/with.out" && ! cmp -s "$work/late/with.out" "$work/late/without.out"
}
check a-missing-wait-is-seen waits_matter
# The four macros, copied at their start and by their waits.
macros() {
    cat > "$work/copies.c" << 'END'
#include "lw_copy.h"
int main(void)
{
    static const unsigned char from[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static unsigned char to[16];
    LW_COPY_FILL_START(2, to, 9, 16);
    LW_COPY_WAIT(2, 0);
    LW_COPY_ROWS_START(1, to, 4, from, 2, 2, 3);
    LW_COPY_START(1, to + 12, from + 7, 1);
    LW_COPY_WAIT(1, 1);
    if (to[0] != 1 || to[1] != 2 || to[2] != 9 || to[4] != 3 || to[8] != 5 || to[9] != 6) return 1;
    LW_COPY_WAIT(1, 0);
    return to[12] != 8 || to[13] != 9;
}
END
    for form in -DLW_COPY_EARLY -DLW_COPY_LATE; do
        $cc -std=c99 -Wall -Wextra -Werror $form -Iruntime -o "$work/copies" "$work/copies.c" && "$work/copies" ||
            return 1
    done
}
check copies-have-four-macros macros
own_macros() {
    printf '%s\n' '#include <string.h>' 'extern int copies, waits;' '#define LW_COPY_START(c, to, from, n) \' \
        '    ((void)copies++, (void)memcpy(to, from, n))' '#define LW_COPY_WAIT(c, n) ((void)waits++)' > "$work/mine.h"
    printf '%s\n' '#include "m.h"' 'int copies, waits;' 'static M_FAST(fast);' 'static M_LARGE(large);' \
        'int main(void)' '{' '    static float x[M_INPUT_ELEMS], y[M_SCORES_ELEMS];' \
        '    const struct m_inputs in = { x };' '    const struct m_outputs out = { y };' \
        '    struct m_memories memory = { fast, large };' \
        '    return m_run(&memory, &in, &out) || copies < 3 || waits < 3;' '}' > "$work/mine.c"
    for form in '' --standalone; do
        emit own $digits $copied $form && $cc -std=c99 -Wall -Wextra -Werror -include "$work/mine.h" -Iruntime \
            -I"$work/own" -o "$work/mine" "$work/mine.c" "$work/own/m.c" -lm && "$work/mine" || return 1
    done
}
check a-firmware-has-its-own-copies own_macros

# ---- Other options -------------------------------------------------------------------------------------------------

# Inputs and outputs are in the named memory, beside results and copies.
for io in fast large; do
    check "inputs-and-outputs-in-$io-are-the-same" "$lw" verify $digits --cc "$cc -O0" --memory fast=3K,cost=1 \
        --memory large=64K,cost=4 --memory flash=1M,rom,cost=8 --io $io
    check "a-self-test-with-ports-in-$io" ports_test $io
done
check ports-in-an-arena-need-a-name refused 2 'several memories replace the arena; use --io with one of fast, large' \
    $ram --io arena
check ports-in-an-unknown-memory-are-refused refused 2 'no RAM of --memory has this name; use one of fast, large' \
    $ram --io flash --memory flash=1M,rom
check ports-in-a-memory-need-memories refused 2 '"fast" without --memory; use caller or arena' --io fast
check ports-in-one-memory-are-in-the-arena "$lw" verify $digits --memory sram=64K --io sram
# The class has the addresses of memories of the caller; the three forms of one program compute the same.
class_of_memories() {
    for form in '' '--io large' --static-arena; do
        # shellcheck disable=SC2086
        emit class $digits $ram --cpp $form && case $form in
        '') set -- 'const m_memories memory = { fast, large }; m::Model model(memory);' 'x, y' ;;
        --io*) set -- 'const m_memories memory = { fast, large }; m::Model model(memory);' '' ;;
        *) set -- 'm::Model model;' 'x, y' ;;
        esac || return 1
        printf '%s\n' '#include "m.hpp"' '#include <cstdio>' > "$work/class/main.cpp"
        [ "$form" = --static-arena ] ||
            printf '%s\n' 'static M_FAST(fast);' 'static M_LARGE(large);' >> "$work/class/main.cpp"
        printf '%s\n' 'static float x[M_INPUT_ELEMS], y[M_SCORES_ELEMS];' 'int main()' '{' "    $1" \
            '    const float *out = y;' '    for (unsigned i = 0; i < M_INPUT_ELEMS; i++) x[i] = (float)i;' \
            "$([ -n "$2" ] || printf '    %s\n' 'out = model.output_scores();' \
                'for (unsigned i = 0; i < sizeof x / sizeof *x; i++)' '    model.input_input()[i] = x[i];')" \
            "    if (model.run($2)) return 1;" \
            '    for (unsigned i = 0; i < M_SCORES_ELEMS; i++) std::printf("%a\n", (double)out[i]);' '    return 0;' \
            '}' >> "$work/class/main.cpp"
        $cc -std=c99 -Iruntime -I"$work/class" -c -o "$work/class/m.o" "$work/class/m.c" &&
            g++ -std=c++11 -Wall -Wextra -Werror -Iruntime -I"$work/class" -o "$work/class/main" \
                "$work/class/main.cpp" "$work/class/m.o" -lm && "$work/class/main" > "$work/class/out" || return 1
        [ ! -f "$work/class.out" ] || cmp "$work/class.out" "$work/class/out" || return 1
        cp "$work/class/out" "$work/class.out"
    done
}
why=$(missing g++)
if [ "$why" ]; then skip a-class-of-memories "$why"; else check a-class-of-memories class_of_memories; fi
# --ram limits the sum of the memories, copies of constants included; without it, copies fill the memories.
limited() {
    for bytes in 10200 12000; do
        # shellcheck disable=SC2086
        used=$("$lw" report $digits --target cortex-m4 $copied --ram $bytes | sed -n 's/^RAM *\([0-9]*\) bytes.*/\1/p')
        [ "${used:-0}" -gt 0 ] && [ "$used" -le $bytes ] || return 1
    done
    # shellcheck disable=SC2086
    [ "$("$lw" report $digits $copied | sed -n 's/^RAM *\([0-9]*\) bytes.*/\1/p')" -gt 12000 ]
}
check a-limit-holds-for-all-memories limited
# One memory holds the plan of --ram, with results that are moved in it.
moved_within_a_memory() {
    "$lw" verify tests/budgets/chain.te --target cortex-m4 --memory ram=4416 --ram 12600 > "$work/moved" 2>&1 &&
        grep -q 'bytes of results are moved in the arena' "$work/moved"
}
check a-limit-moves-results-within-a-memory moved_within_a_memory
check a-limit-that-is-too-small-is-refused refused 1 'fast and large hold [0-9]* bytes within --ram 4000, and' \
    $ram --ram 4000
# A result that needs most of the limit in one memory leaves the cheaper memory what is left.
check a-limit-is-divided-as-results-need "$lw" verify $digits --cc "$cc -O0" --target cortex-m4 \
    --memory fast=3K,cost=1 --memory large=64K,cost=4 --ram 7500
# has_fit STATUS LIMITS WORDS: the report with these limits has the words.
has_fit() {
    status=0
    # shellcheck disable=SC2086
    "$lw" report $digits --target cortex-m4 $copied --fit "$2" > "$work/fit" 2>&1 || status=$?
    cat "$work/fit"
    grep -q -e "$3" "$work/fit" && [ "$status" -eq "$1" ]
}
check a-memory-within-its-limit has_fit 0 fast=2K,large=64K '^fit            fast [0-9]* of 2048 bytes, [0-9]* %: '
check a-memory-beyond-its-limit has_fit 1 fast=2K,large=1K 'the model does not fit: large [0-9]* of 1024 bytes$'
check a-rom-beyond-its-limit has_fit 1 ram=64K,flash=1K 'the model does not fit: flash [a-z ]*[0-9]* of 1024 bytes'
check a-limit-of-an-unknown-memory has_fit 2 lrge=1K 'no --memory has the name "lrge"; did you mean .large'

# ---- Annotations -----------------------------------------------------------------------------------------------------

# pinned LINE WORDS: the report with that line has these words.
pinned() {
    printf '%s\n' "$1" > "$work/pins.txt"
    "$lw" report $digits --target cortex-m4 --memory fast=8K,cost=1 --memory large=64K,cost=4 \
        --memory near=64K,rom,cost=1 --memory far=1M,rom,cost=9 --annotate "$work/pins.txt" > "$work/pinned" 2>&1
    cat "$work/pinned"
    grep -q -e "$2" "$work/pinned"
}
check a-result-is-pinned pinned 'in_memory large conv_1..conv_4' '^conv_4 .* large +'
check all-scratch-is-pinned pinned 'in_memory large scratch' '^memory         large: [1-9][0-9]* of'
check weights-are-pinned pinned 'in_memory far weights conv_4' '^memory         far: [1-9][0-9]* of'
printf 'in_memory large conv_4 # far\nin_memory fast scratch\n' > "$work/p.txt"
check a-pinned-plan-is-the-same "$lw" verify $digits --memory fast=8K,cost=1 --memory large=64K,cost=4 \
    --annotate "$work/p.txt"
printf 'in_memory large weights maxpool_1\nin_memory far weights conv_4\n' > "$work/w.txt"
copied_there() {
    emit pins $digits --memory fast=8K,cost=1 --memory large=64K,cost=9 --memory far=1M,rom,cost=2 \
        --annotate "$work/w.txt" && grep 'LW_COPY_START(0, large.*m_maxpool_1_k, ' "$work/pins/m.c"
}
check weights-are-copied-where-a-line-says copied_there
check weights-in-ram-need-a-rom sh -c "! '$lw' $digits --memory fast=8K --memory large=64K --annotate '$work/w.txt' \
    -o '$work/no.c' 2> '$work/said'; grep 'two RAMs and a memory with the key rom' '$work/said'"
check an-unknown-memory-is-refused pinned 'in_memory fats conv_4' 'there is no --memory "fats"; did you mean .fast'
check an-unknown-layer-is-refused pinned 'in_memory fast conv_44' 'pins.txt:1: error: in_memory: no layer is called'
check a-line-without-layers-is-refused pinned 'in_memory fast' 'it names no layer'
check a-result-in-a-rom-is-refused pinned 'in_memory far conv_4' 'results cannot be in a rom'
check an-output-is-not-pinned pinned 'in_memory fast softmax_1' 'is an output or state of the model'
check two-memories-of-a-result-are-refused pinned "in_memory fast conv_4
in_memory large conv_4" 'excludes that memory'
check pins-need-memories refused 2 'in_memory needs memories; add --memory' --annotate "$work/pins.txt"

# ---- Kept plans ------------------------------------------------------------------------------------------------------

# The plan of one program is kept by the next: the same C, and the same file; also without copies, which are optional.
keeps() {
    set -- --target cortex-m4 --memory fast=3K,cost=1,line=16,copy=1 --memory large=64K,cost=4 \
        --memory flash=1M,rom,cost=8
    emit first $digits "$@" && emit second $digits "$@" --keep-plan "$work/first/m.plan" || return 1
    for part in c h plan; do cmp "$work/first/m.$part" "$work/second/m.$part" || return 1; done
    grep '^result gemm_1.0 fast 40 ' "$work/first/m.plan" && grep '^copy ' "$work/first/m.plan" || return 1
    grep -v '^copy' "$work/first/m.plan" > "$work/fewer.plan"
    emit fewer $digits "$@" --keep-plan "$work/fewer.plan" && ! grep LW_COPY_START "$work/fewer/m.c"
}
check a-plan-is-kept keeps
# A result elsewhere is one that no search chose: the outputs are the same.
moved_by_hand() {
    sed 's/^result conv_1.0 large 4096 .*/result conv_1.0 large 4096 20000 20000/' "$work/fewer.plan" > "$work/by.plan"
    "$lw" verify $digits --cc "$cc -O0" --target cortex-m4 --memory fast=3K,cost=1,line=16,copy=1 \
        --memory large=64K,cost=4 --memory flash=1M,rom,cost=8 --keep-plan "$work/by.plan" &&
        "$lw" $digits --target cortex-m4 --memory fast=3K,cost=1,line=16,copy=1 --memory large=64K,cost=4 \
            --memory flash=1M,rom,cost=8 --keep-plan "$work/by.plan" --name m -o "$work/by.c" &&
        grep 'M_LARGE_SIZE 24096u' "$work/by.h"
}
check a-place-of-the-plan-is-used moved_by_hand
# not_kept SED WORDS: the plan after that edit is refused with these words.
not_kept() {
    sed "$1" "$work/first/m.plan" > "$work/edited.plan"
    refused 1 "$2" --target cortex-m4 --memory fast=3K,cost=1,line=16,copy=1 --memory large=64K,cost=4 \
        --memory flash=1M,rom,cost=8 --keep-plan "$work/edited.plan"
}
check an-item-that-grew-is-named not_kept 's/\(^result conv_4.0 [a-z]*\) 2048/\1 2000/' \
    'edited.plan:5: error: --keep-plan: result conv_4.0 no longer fits: it has 2048 bytes, and 2000 in the plan'
check an-item-beyond-the-memory-is-named not_kept 's/^result gemm_1.0 .*/result gemm_1.0 fast 40 3056 3056/' \
    'result gemm_1.0 no longer fits: it reaches beyond the memory'
check an-overlap-of-kept-items-is-named not_kept 's/^result conv_2.0 .*/result conv_2.0 large 4096 4096 4096/' \
    'no longer fits: it overlaps another item'
check a-copy-over-a-result-is-named not_kept 's/^\(copy maxpool_1.1 fast [0-9]*\) [0-9]*/\1 0/' \
    'copy [a-z0-9_.]* no longer fits: it overlaps another item'
check a-place-between-alignments-is-named not_kept 's/^result gemm_1.0 .*/result gemm_1.0 fast 40 520 520/' \
    'result gemm_1.0 no longer fits: its offset is not aligned'
check a-memory-that-is-gone-is-named not_kept 's/^result gemm_1.0 fast/result gemm_1.0 dtcm/' \
    'result gemm_1.0 no longer fits: "dtcm" is not a --memory for it'
check an-item-without-a-place-is-named not_kept '/^constant conv_2.2/d' \
    'constant conv_2.2 no longer fits: the plan has no place for it'
check an-item-of-another-model-is-named not_kept 's/^copy conv_2.1/copy conv_7.1/' 'the model has no copy conv_7.1'
check a-line-that-is-no-item-is-refused not_kept 's/^copy conv_2.1/move conv_2.1/' \
    'edited.plan:11: error: --keep-plan: this is not a line of a plan'
check a-file-that-is-no-plan-is-refused not_kept '1d' 'the first line is not "# loopwright plan 1"'
check a-kept-plan-needs-memories refused 2 'keep-plan needs memories; add --memory' --keep-plan "$work/first/m.plan"

# ---- Memories of a unit ----------------------------------------------------------------------------------------------

# The report has a line for each memory that the schedule declares; its bytes are not on the stack.
unit=tests/golden/padded-scratchpad/padded-scratchpad.te
units() {
    for form in txt json html; do "$lw" report $unit --target cortex-m4 -o "$work/unit.$form" || return 1; done
    grep -e '^unit memory' -e '^stack' "$work/unit.txt" && grep '"unit_memories"' "$work/unit.json" || return 1
    used=$(sed -n 's/^unit memory    scratchpad: \([0-9]*\) of \([0-9]*\) bytes.*/"capacity": \2, "used": \1/p' \
        "$work/unit.txt")
    [ "$used" ] && grep -q "\"name\": \"scratchpad\", $used" "$work/unit.json" &&
        grep -q "\"name\": \"scratchpad\", $used" "$work/unit.html" &&
        grep -q '"stack": {"read": 0, "written": 0}, "units": {"read": [1-9]' "$work/unit.json" &&
        "$lw" report $digits -o "$work/core.json" && grep -q '"unit_memories": \[\]' "$work/core.json" &&
        [ "$(sed -n 's/^stack .*about \([0-9]*\) bytes.*/\1/p' "$work/unit.txt")" -le 400 ]
}
check memories-of-a-unit-are-not-the-stack units

# ---- Boards ----------------------------------------------------------------------------------------------------------

for file in samples/memory-maps/*.mem; do
    check "board-$(basename "$file" .mem)" "$lw" report $quantized --memory "@$file"
done
# An image whose arrays are in two regions of the emulated board, with copies from a third.
regions() {
    core=cortex-m4 hosted=samples/cortex-m/hosted.sh far=section=.psram near=section=.blockram
    set -- --target $core --static-arena --memory "block=2K,cost=1,$near" --memory "psram=16M,cost=6,$far" \
        --memory code=4M,rom,cost=4
    "$lw" verify $digits "$@" --cc "$hosted cc $core" --runner "$hosted run $core" > "$work/regions" 2>&1 ||
        { cat "$work/regions"; return 1; }
    grep '^verified' "$work/regions" && mkdir -p "$work/image" &&
        "$lw" $digits "$@" --name m --testbench -o "$work/image/m.c" &&
        $hosted cc $core -std=c99 -O1 -Iruntime -I"$work/image" -o "$work/image/m" "$work/image/m.c" \
            "$work/image/m_main.c" -lm && arm-none-eabi-nm "$work/image/m" > "$work/symbols" &&
        grep '^01000000 . m_block$' "$work/symbols" && grep '^21000000 . m_psram$' "$work/symbols"
}
why=$(missing arm-none-eabi-gcc qemu-system-arm)
if [ "$why" ]; then skip a-firmware-has-two-regions "$why"; else check a-firmware-has-two-regions regions; fi

# ---- Refusals --------------------------------------------------------------------------------------------------------

check too-small-names-the-layer refused 1 'at layer "[a-z0-9_]*", a and b hold 1008 bytes, and [0-9]* are missing' \
    --memory a=500 --memory b=516
check roms-that-are-full-are-refused refused 1 'the constants do not fit' $ram --memory flash=1K,rom
check a-rom-alone-is-refused refused 2 'only memories with the key rom' --memory flash=1M,rom
check a-name-twice-is-refused refused 2 'the memory "RAM" is given twice' --memory ram=1K --memory RAM=2K
check a-name-of-c-is-refused refused 2 '"int" cannot be the name' --memory int=1K
for name in inputs Model e_dim h; do
    check "a-macro-of-the-header-is-refused-$name" refused 2 "\"$name\" cannot be the name" --memory $name=1K
done
check a-size-without-digits-is-refused refused 2 'the size cannot be read' --memory ram=big
check a-key-is-refused refused 2 'there is no key "cots"; did you mean .cost.' --memory ram=1K,cots=2
check a-cost-is-refused refused 2 'cost= does not accept "1.2345"' --memory ram=1K,cost=1.2345
check a-channel-needs-lines refused 2 'copies of channel 1 need line=N' --memory ram=1K,copy=1
check a-channel-is-a-number refused 2 'copy= does not accept "dma"' --memory ram=1K,copy=dma
check a-rom-has-no-channel refused 2 'give copy= to a RAM' --memory ram=9K --memory flash=1M,rom,copy=1
check results-need-a-memory refused 2 'no --memory is for results' --memory a=9K,for=scratch --memory b=9K,for=scratch
check progmem-is-refused-together refused 2 'program memory; omit --memory, and limit the RAM by --ram' $ram \
    --weights progmem
check training-is-refused-together refused 2 'one arena; omit --memory, and declare that arena in the section' $ram \
    --train update=all
check a-file-of-weights-needs-one-rom refused 2 'use one --memory with the key rom' $copied --memory qspi=1M,rom \
    --weights bin
check a-port-of-that-name-is-refused refused 1 'has the same macros; use --rename scores=NAME' \
    --memory scores=4K --memory b=64K
for fact in type elems at; do
    check "a-macro-of-a-port-is-refused-$fact" refused 1 'has the same macros; use --rename input=NAME' \
        --memory "input_$fact=4K" --memory b=64K
done
check a-name-that-only-begins-as-a-port emit begins $digits --memory input_ram=4K --memory b=64K
report_end
