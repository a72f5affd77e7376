#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a fuzz target for COUNT inputs or seconds, in rounds. Each round begins with the corpus of the one before; a
# finding ends a round, and another follows. Findings are stored in the folder as crash-, timeout-, oom- and the like.
# Before a round, slow inputs are removed from the corpus, because their mutations would be slow, too. Prints a line for
# each round and the sum; fails if there is a finding.
#   tests/fuzz/run.sh FOLDER NAME runs|seconds COUNT [FLAGS of libFuzzer]
set -u
folder=$1 name=$2 unit=$3 most=$4
shift 4
round=500000 slow=4 stamp=$folder/$name.stamp total=0 found=0 number=0 begin=$(date +%s)
# Small inputs are freed by the hundred: neither are they kept for long, nor is their memory given back to the system.
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=1:allocator_release_to_os_interval_ms=-1:malloc_context_size=4}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
spent() { if [ "$unit" = runs ]; then echo "$total"; else echo $(($(date +%s) - begin)); fi; }
# drop_slow: removes the files added to the corpus since the last call that take SLOW milliseconds or more.
drop_slow() {
    find "$folder/corpus-$name" -type f $([ -f "$stamp" ] && echo -newer "$stamp") > "$folder/$name.new"
    touch "$stamp"
    xargs -n 1000 "$folder/fuzz_$name" < "$folder/$name.new" 2>&1 |
        sed -n "s/^Executed \(.*\) in \([0-9]*\) ms\$/\2 \1/p" |
        while read -r took file; do [ "$took" -lt $slow ] || rm -f "$file"; done
}
rm -f "$stamp"
while left=$((most - $(spent))) && [ $left -gt 0 ]; do
    number=$((number + 1))
    drop_slow
    if [ "$unit" = runs ]; then limit="-runs=$((left < round ? left : round))"; else limit="-max_total_time=$left"; fi
    log=$folder/$name-$number.log
    "$folder/fuzz_$name" "$limit" -timeout=10 -malloc_limit_mb=1024 -rss_limit_mb=2048 -max_len=4096 -entropic=0 \
        -use_cmp=0 -reload=0 -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$folder/" \
        -dict="$folder/$name.dict" "$@" "$folder/corpus-$name" > "$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    total=$((total + ${runs:-0}))
    if [ $status -eq 0 ]; then
        echo "$name round $number: ${runs:-0} inputs, $speed/s, $total in all"
        rm -f "$log"
        continue
    fi
    input=$(sed -n 's/.*Test unit written to \(.*timeout-.*\)/\1/p' "$log")
    if [ -n "$input" ] && (ulimit -t 10 && "$folder/fuzz_$name" "$input" > "$log.again" 2>&1); then
        echo "$name round $number: ${runs:-0} inputs, $total in all;" \
            "stopped by the clock, not by its own time: the machine was busy"
        rm -f "$input" "$log.again"
        continue
    fi
    found=$((found + 1))
    said=$(sed -n 's/.*\(Test unit written to .*\)/\1/p;/^SUMMARY/p;/internal error/p' "$log" | tr '\n' ' ')
    echo "$name round $number: ${runs:-0} inputs, $total in all; $said"
    [ $found -lt 100 ] || break
done
echo "$name: $total inputs, $found findings, $(($(date +%s) - begin)) s"
[ $found -eq 0 ]
