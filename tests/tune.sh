#!/bin/sh
# SPDX-License-Identifier: MIT
# tune.sh BUILD: `loopwright tune`: candidates are measured by a runner, the best become records that --schedule reads.
# The runner counts bytes of the emitted C in place of instructions, so the results are the same everywhere.
set -u
. "$(dirname "$0")/report.sh"
begin "tune.sh BUILD" "$@"
rm -rf "${work:?}"/*

model=tests/golden/residual/residual.onnx

printf '#!/bin/sh\necho ran >> "%s"\n"$@" && echo "instructions $(wc -c < "$(dirname "$1")/model.c" | tr -d " ")"\n' \
    "$work/runs" > "$work/runner"
printf '#!/bin/sh\nexit 3\n' > "$work/fails"
printf '#!/bin/sh\n"$@" && echo nothing\n' > "$work/silent"
chmod +x "$work/runner" "$work/fails" "$work/silent"
tune() { "$lw" tune "$model" --runner "$work/runner" "$@" > "$work/said" 2>&1; }
runs() { wc -l < "$work/runs" | tr -d ' '; }
says() {
    status=0 wanted_status=$1 text=$2
    shift 2
    "$lw" tune "$@" > "$work/said" 2>&1 || status=$?
    cat "$work/said"
    [ "$status" -eq "$wanted_status" ] && grep -q -- "$text" "$work/said"
}

first() {
    tune -o "$work/tune.txt" && cat "$work/said" && [ "$(grep -c '^# tried' "$work/tune.txt")" -ge 4 ] &&
        grep -q '^for .* on generic' "$work/tune.txt"
}
setup measures-candidates first
setup reads-its-records "$lw" "$model" -o "$work/tuned.c" --name net --werror --schedule "$work/tune.txt"
smaller() {
    "$lw" "$model" -o "$work/default.c" --name net &&
        [ "$(wc -c < "$work/tuned.c")" -lt "$(wc -c < "$work/default.c")" ] &&
        "$lw" verify "$model" --schedule "$work/tune.txt"
}
check records-improve-and-keep-the-values smaller
# Predicted to take four times the default's instructions: not measured where the target has a row of costs.
tried() {
    "$lw" tune tests/emitted/padded.te --runner "$work/runner" --target "$1" -o "$work/$1.txt" --quiet &&
        grep -q '^# tried' "$work/$1.txt"
}
slow() {
    tried cortex-m4 && tried cortex-m55 && grep -q ' c: by stages.in_order$' "$work/cortex-m4.txt" &&
        ! grep -q ' c: by stages.in_order$' "$work/cortex-m55.txt"
}
check measures-no-candidate-that-is-predicted-slow slow
# A limit of copies that changes no loop gives the default's code.
same() {
    tune --target cortex-m4 -o "$work/m4.txt" && grep -q ' first: copy_budget 64$' "$work/m4.txt" &&
        ! grep -q ' y: copy_budget' "$work/m4.txt"
}
check measures-no-candidate-with-the-code-of-the-default same
# Complete: nothing is measured but the program with all records.
again() {
    : > "$work/runs" && cp "$work/tune.txt" "$work/again.txt" && tune -o "$work/again.txt" && [ "$(runs)" -le 1 ] &&
        cmp "$work/tune.txt" "$work/again.txt"
}
check a-complete-file-is-kept again
# Interrupted: half of the values are lost, the rest is in another order.
resumed() {
    { sed -n 1,2p "$work/tune.txt" && grep '^# tried' "$work/tune.txt" | sort -r | awk 'NR % 2'; } > "$work/half.txt"
    : > "$work/runs" && tune -o "$work/half.txt" && [ "$(runs)" -lt "$(grep -c '^# tried' "$work/tune.txt")" ] &&
        cmp "$work/tune.txt" "$work/half.txt"
}
check an-interrupted-run-ends-the-same resumed
# The runner ends the compiler's process after three measurements.
stopped() {
    printf '#!/bin/sh\nn=$(wc -l < "%s")\n[ "$n" -lt 3 ] || kill -TERM "$PPID"\nexec "%s" "$@"\n' "$work/runs" \
        "$work/runner" > "$work/stops"
    chmod +x "$work/stops"
    : > "$work/runs"
    status=0
    "$lw" tune "$model" --runner "$work/stops" -o "$work/stopped.txt" > "$work/said" 2>&1 || status=$?
    cat "$work/said"
    [ "$status" -ne 0 ] && [ -f "$work/stopped.txt" ] || return 1
    tune -o "$work/stopped.txt" && cmp "$work/tune.txt" "$work/stopped.txt"
}
if has ps; then check a-signal-loses-nothing stopped
else skip a-signal-loses-nothing "ps is not installed"; fi

check refuses-a-missing-runner says 2 'runner is missing' "$model" -o "$work/no.txt"
check refuses-a-failing-runner says 1 'the default schedules are not measured' \
    "$model" --runner "$work/fails" -o "$work/no.txt"
check refuses-with-one-verdict sh -c '[ "$(grep -c "error:.*error:" "$1")" -eq 0 ]' sh "$work/said"
# A runner that waits for a board: its command and all that it started end. One candidate hangs, the others count.
printf '#!/bin/sh\nsleep 61\nexit 0\n' > "$work/hangs"
chmod +x "$work/hangs"
check refuses-a-runner-that-hangs says 1 'the runner took more than --timeout 0.2 seconds' \
    "$model" --runner "$work/hangs" --timeout 0.2 -o "$work/no.txt"
left() { sleep 1; ! ps -eo args | grep -q '^sleep [6]1$'; }
if has ps; then check ends-what-a-runner-started left
else skip ends-what-a-runner-started "ps is not installed"; fi
sometimes() {
    printf '#!/bin/sh\nn=$(wc -l < "%s")\n[ "$n" -ne 2 ] || { echo hung >> "%s"; sleep 60; }\nexec "%s" "$@"\n' \
        "$work/runs" "$work/runs" "$work/runner" > "$work/hangs"
    : > "$work/runs"
    "$lw" tune "$model" --runner "$work/hangs" --timeout 2 -o "$work/hung.txt" > "$work/said" 2>&1 &&
        cat "$work/said" && [ "$(grep -c '^# tried .* failed' "$work/hung.txt")" -eq 1 ]
}
check a-candidate-that-hangs-has-failed sometimes
check refuses-no-seconds says 2 'does not accept "0"' "$model" --runner "$work/runner" --timeout 0 -o "$work/no.txt"
check refuses-a-silent-runner says 1 'prints none of' "$model" --runner "$work/silent" -o "$work/no.txt"
check refuses-the-file-of-another-target says 1 'belongs to a different model, target or options' \
    "$model" --target cortex-m4 --runner "$work/runner" -o "$work/tune.txt"
echo notes > "$work/notes.txt"
check refuses-another-file says 1 'belongs to a different model' "$model" --runner "$work/runner" -o "$work/notes.txt"
check keeps-another-file grep -qx notes "$work/notes.txt"
check leaves-no-file [ ! -e "$work/no.txt" ]

# On an emulated core, one network: a record is read there, too.
counts() {
    "$lw" verify "$model" --name Net --target cortex-m4 --runner "samples/cortex-m/count.sh cortex-m4" \
        > "$work/said" 2>&1
    cat "$work/said"
    grep -q '^instructions [1-9]' "$work/said"
}
if has arm-none-eabi-gcc && has qemu-system-arm; then check runner-of-an-emulated-core counts
else skip runner-of-an-emulated-core "$(missing arm-none-eabi-gcc qemu-system-arm)"; fi
report_end
