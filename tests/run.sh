#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh: the tests.
#
#   tests/run.sh SUITE [CASE]    one suite; its cases with CASE in their names
#   tests/run.sh                 the suites of `make test` whose inputs have changed since they passed
#   tests/run.sh --test          every suite of `make test`
#   tests/run.sh --all           every suite of `make check-all`: the slow ones, too
#   tests/run.sh --list          the names of the suites
#
#   tests/run.sh test_simplify             a unit test, tests/unit/test_simplify.c
#   tests/run.sh golden residual           the golden cases with `residual` in their names
#   tests/run.sh models lenet5             one network through every compiler
#   BUILD=build/san tests/run.sh cli       in another build folder; the default is `build`
#   TEST_ORDER=reversed tests/run.sh       suites, and the tests of a unit test, from the last to the first
#
# The inputs of a suite are its program, its sources, and the files and folders of the project that its sources name: a
# path such as tests/models/$model.onnx names the folder tests/models. A new C compiler is a new input, too; other tools
# are not.
#
# The files that a suite requires are built first. JOBS suites run at a time (default: the number of cores), each with a
# separate folder for temporary files. A suite is a program that prints `ok NAME`, `not ok NAME: WHY` or `skip NAME:
# WHY` per case and ends with `N passed, N failed, N skipped`. Its output is kept in BUILD/test-SUITE.txt, with each
# NAME as SUITE/NAME, so names are unique over all suites. Two cases of one name in a suite are a failure. `make test`
# shortens some unit tests (tests/tools/counts.sh); with a suite's name, and with --all, they are whole.
#
# Prints a line for each suite at its end, with its seconds; the skipped cases, a line per reason; then the sums,
# `N passed, N failed, N skipped`.
#
#   status 1   a case failed; with --all also if a case was skipped, unless because the recorded models are not beside
#              the project, the processor lacks an instruction, or a further version of Python is absent
#   status 2   wrong usage
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tools/counts.sh
build=${BUILD:-build}
unset MAKEFLAGS MFLAGS MAKELEVEL          # make inside a suite is independent of the caller's
export BUILD="$build"

# A suite is tests/SUITE.sh, tests/unit/SUITE.c, or tests/cross/all.sh. Suites start in this order, the longest first.
# `make test` leaves out the slow ones.
slow="models proof simd pointers budgets train stream tune python_package package warnings combine sanitize conformance"
slow="$slow replay cross emulated int8 ram open shrink determinism hosts vectors soak_random sizes qdq playground site"
slow="$slow cores weights adapt exports"
long="quantize docs emitted names cli verify memories footprint golden test_registry test_tflite_ops test_stack"
fast_suites() {
    for name in $long; do
        case $name in test_*) [ ! -f "tests/unit/$name.c" ] || echo "$name" ;; *) echo "$name" ;; esac
    done
    for file in tests/*.sh; do
        name=${file##*/} name=${name%.sh}
        case " $slow $long run report python " in *" $name "*) ;; *) echo "$name" ;; esac
    done
    for file in tests/unit/test_*.c; do
        name=${file##*/} name=${name%.c}
        case " $long " in *" $name "*) ;; *) [ ! -f "$file" ] || echo "$name" ;; esac
    done
}
all_suites() { for name in $slow; do echo "$name"; done; fast_suites; }

# command_of SUITE: runs it.
command_of() {
    case $1 in
    test_*)
        # shellcheck disable=SC2046
        case $mode in "" | --test) "$build/test/$1" $(counts "$1" test) ;; *) "$build/test/$1" ;; esac ;;
    cross)
        if command -v bash > /dev/null 2>&1; then bash tests/cross/all.sh "$build"
        else echo "skip cross: bash is not installed"; echo "0 passed, 0 failed, 1 skipped"; fi ;;
    *) sh "tests/$1.sh" "$build" ;;
    esac
}

# nearest WORD: `; did you mean SUITE?`, the suite with the fewest edits, at most 3; or the list of all suites.
nearest() {
    all_suites | awk -v word="$1" '
        function least(a, b) { return a < b ? a : b }
        function edits(a, b,    i, j, d) {
            for (i = 0; i <= length(a); i++) d[i, 0] = i
            for (j = 0; j <= length(b); j++) d[0, j] = j
            for (i = 1; i <= length(a); i++)
                for (j = 1; j <= length(b); j++)
                    d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1,
                                    d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1)))
            return d[length(a), length(b)]
        }
        { all = all " " $0; n = edits(word, $0); if (best == "" || n < fewest) { best = $0; fewest = n } }
        END { print fewest <= 3 ? "; did you mean " best "?" : "; the suites are:" all }'
}

# needs SUITE...: prints the targets of make that they require.
needs() {
    for suite in "$@"; do case $suite in test_*) echo "$build/test/$suite" ;; esac; done
    case " $* " in *" python_package "*) echo shared ;; esac
    case " $* " in *" test_core "* | *" simd "* | *" pointers "* | *" cross "* | *" emulated "*)
        echo "$build/rows/rows_cases.h" ;;
    esac
    case " $* " in *" emitted "* | *" sanitize "*) echo "$build/test/test_random_emission" ;; esac
    echo all
}

# ---- Inputs of suites ------------------------------------------------------------------------------------------------

# sources_of SUITE: the files that are scanned for paths, and are inputs themselves.
sources_of() {
    case $1 in
    test_*) ls "tests/unit/$1.c" tests/unit/*.h ;;
    cross) ls tests/cross/* ;;
    *) ls "tests/$1.sh" tests/report.sh ;;
    esac
}

# paths_in FILE...: the existing files and folders that the texts name, comments aside. The root's folders are words of
# English, too: they count on a line that names `emitter`.
paths_in() {
    sed '/^ *[#*]/d; /^ *\/[*]/d' "$@" 2> /dev/null |
        awk '{ gsub(/[^A-Za-z0-9_.\/+-]/, " "); all = / emitter( |$)/
               for (i = 1; i <= NF; i++) { sub(/^-I/, "", $i); sub(/^\.\//, "", $i); sub(/[.\/]+$/, "", $i)
                   if ($i ~ /^(\.\.\/shared|emitter|ops|schedules|runtime|tests|samples|docs)\// ||
                       (all && $i ~ /^(emitter|ops|schedules|runtime|tests|samples|docs)$/) ||
                       $i ~ /^[A-Z]+\.md$/ || $i == "Makefile") print $i } }' |
        LC_ALL=C sort -u | while read -r path; do
            while [ ! -e "$path" ] && [ "$path" != "${path%/*}" ]; do path=${path%/*}; done
            [ ! -e "$path" ] || echo "$path"
        done | LC_ALL=C sort -u
}

# inputs_of SUITE: the paths of its inputs. Scripts that a suite names are scanned, too.
inputs_of() {
    case $1 in test_*) echo "$build/test/$1" ;; *) echo "$build/loopwright" ;; esac
    named=$(sources_of "$1" 2> /dev/null)
    echo "$named"
    paths=$(paths_in $named)
    echo "$paths"
    scripts=$(echo "$paths" | grep '^tests/.*\.\(sh\|py\|c\|mk\)$')
    [ -z "$scripts" ] || paths_in $scripts
    echo runtime
}

# sum_files: a line `SUM SIZE PATH` for each file that may be an input.
sum_files() {
    { find -L emitter ops schedules runtime tests samples docs ../shared "$build/test" -type f
      ls ./*.md Makefile "$build/loopwright"; } 2> /dev/null | sed 's/^\.\/\([A-Z]\)/\1/' |
        xargs cksum > "$build/sums.txt" 2> /dev/null
    ${CC:-cc} --version 2> /dev/null | head -n 1 > "$build/compiler.txt"
}

# note_stamp SUITE: writes BUILD/test-SUITE.now, a sum of its inputs. It becomes test-SUITE.stamp when the suite passes.
note_stamp() {
    inputs_of "$1" | LC_ALL=C sort -u | awk '
        NR == FNR { input[$0] = 1; next }
        { path = $3; while (!(path in input) && sub(/\/[^\/]*$/, "", path)) continue }
        path in input' - "$build/sums.txt" | cat - "$build/compiler.txt" | cksum > "$build/test-$1.now"
}

# changed SUITE...: those whose inputs differ from the ones with which they passed.
changed() {
    for suite in "$@"; do
        cmp -s "$build/test-$suite.now" "$build/test-$suite.stamp" || echo "$suite"
    done
}

# ---- Running ---------------------------------------------------------------------------------------------------------

# number WORD TEXT: prints N of `N WORD` in the text; 0 if there is none.
number() { echo "$2" | sed -n "s/.*\(^\|[^0-9]\)\([0-9][0-9]*\) $1.*/\2/p;" | sed -n '$p' | grep . || echo 0; }

# run_suite SUITE: prints its line and the failed cases. Writes `PASSED FAILED SKIPPED` to BUILD/test-SUITE.sum. One
# more failure counts if the suite ends without a sum, if its status contradicts the sum, or if no case ran.
run_suite() {
    suite=$1 output=$build/test-$1.txt status=0 begun=$(date +%s)
    temporary=$build/tmp/$suite
    mkdir -p "$temporary"
    TMPDIR=$(cd "$temporary" && pwd)
    export TMPDIR
    command_of "$suite" < /dev/null > "$output" 2>&1 || status=$?
    rm -rf "$temporary"
    sed "s|^ok |&$suite/|; s|^not ok |&$suite/|; s|^skip |&$suite/|" "$output" > "$output.named" &&
        mv "$output.named" "$output"
    sum=$(grep '^[0-9][0-9]* passed, [0-9][0-9]* failed' "$output" | sed -n '$p')
    good=$(number passed "$sum") bad=$(number failed "$sum") skipped=$(number skipped "$sum")
    [ "$status" -ne 77 ] || [ "$good" -gt 0 ] || [ "$skipped" -eq 0 ] || status=0      # all cases are skipped
    if [ "$((good + bad + skipped))" -eq 0 ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
        echo "not ok $suite: ended with status $status${TEST_CASE:+; no case has \"$TEST_CASE\" in its name}, after:" \
            >> "$output"
        tail -n 6 "$output" | sed '$d; s/^/    /' > "$output.tail"
        cat "$output.tail" >> "$output"
        rm -f "$output.tail"
        bad=$((bad + 1))
    fi
    same=$(sed -n "s|^ok ||p; s|^skip \([^:]*\):.*|\1|p" "$output" | sort | uniq -d)
    if [ "$same" ]; then
        echo "$same" | sed 's/^/not ok /; s/$/: several cases have this name/' >> "$output"
        bad=$((bad + 1))
    fi
    echo "$good $bad $skipped" > "$build/test-$suite.sum"
    if [ "$bad" -gt 0 ]; then rm -f "$build/test-$suite.stamp"
    elif [ -z "${TEST_CASE:-}" ]; then mv "$build/test-$suite.now" "$build/test-$suite.stamp"; fi
    {
        printf '%-24s %5d passed, %d failed, %d skipped  %3d s\n' "$suite" "$good" "$bad" "$skipped" \
            "$(($(date +%s) - begun))"
        [ "$bad" -eq 0 ] ||
            awk '/^not ok/ { show = 1 } /^(ok|skip) |^[0-9]+ passed, / { show = 0 }
                show && lines++ < 60 { print "    " $0 }' "$output"
    } > "$build/test-$suite.line"
    cat "$build/test-$suite.line"
}

# run_all SUITE...: in a pool. Each line in the pipe permits one more suite to start.
run_all() {
    pool=$build/test-pool
    rm -f "$pool"
    mkfifo "$pool" && exec 3<> "$pool" && rm -f "$pool" || exit 1
    n=0
    while [ "$n" -lt "$jobs" ]; do echo >&3; n=$((n + 1)); done
    for suite in "$@"; do
        read -r leave <&3
        { run_suite "$suite"; echo >&3; } &
    done
    wait
    exec 3>&-
}

# skips SUITE...: prints `SUITE: REASON` for each skipped case.
skips() { for suite in "$@"; do sed -n "s/^skip [^:]*: \(.*\)/$suite: \1/p" "$build/test-$suite.txt"; done; }

# by_reason: prints a line per reason, with the number of cases and their suites.
by_reason() {
    awk '{ at = index($0, ": "); suite = substr($0, 1, at - 1); reason = substr($0, at + 2)
           if (!(reason in count)) order[++reasons] = reason
           count[reason]++
           if (!((reason, suite) in seen)) { seen[reason, suite] = 1; names[reason] = names[reason] " " suite } }
         END { for (i = 1; i <= reasons; i++) printf "    %s: %d in%s\n", order[i], count[order[i]], names[order[i]] }'
}

report() {
    skips "$@" > "$build/skipped.txt"
    if [ -s "$build/skipped.txt" ]; then echo "skipped:"; by_reason < "$build/skipped.txt"; fi
    echo "$# suites in $(($(date +%s) - all_begun)) s, $jobs at a time"
    for suite in "$@"; do cat "$build/test-$suite.sum"; done |
        awk '{ good += $1; bad += $2; skipped += $3 }
            END { printf "%d passed, %d failed, %d skipped\n", good, bad, skipped; exit bad > 0 }' || return 1
    [ "$mode" != --all ] ||
        ! grep -v -e ': no recorded models beside the project$' -e ': this processor has no [a-z0-9_]*$' \
            -e ': this machine has no other Python with numpy$' "$build/skipped.txt" | grep -q .
}

mode=${1:-}
case $mode in
--list) all_suites; exit ;;
"" | --test | --all)
    if [ "$mode" = --all ]; then set -- $(all_suites); else set -- $(fast_suites); fi
    if [ "${TEST_ORDER:-}" = reversed ]; then set -- $(printf '%s\n' "$@" | sed '1!G; h; $!d'); fi ;;
-*) sed -n 's/^# \{0,1\}//; 3,11p' "$0" >&2; exit 2 ;;
*)
    [ $# -le 2 ] || { sed -n 's/^# \{0,1\}//; 3,11p' "$0" >&2; exit 2; }
    all_suites | grep -qxe "$1" || { echo "no suite \"$1\"$(nearest "$1")" >&2; exit 2; }
    TEST_CASE=${2:-}
    export TEST_CASE
    set -- "$1" ;;
esac
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)}

# shellcheck disable=SC2046
${MAKE:-make} --no-print-directory -j"$jobs" BUILD="$build" $(needs "$@") > "$build.make.txt" 2>&1 ||
    { cat "$build.make.txt"; rm -f "$build.make.txt"; exit 1; }
rm -f "$build.make.txt"
all_begun=$(date +%s)
sum_files
for suite in "$@"; do note_stamp "$suite"; done
if [ -z "$mode" ]; then
    all=$#
    set -- $(changed "$@")
    [ $# -eq "$all" ] || echo "$((all - $#)) of $all suites passed before, with the same inputs; --test repeats them"
    [ $# -gt 0 ] || exit 0
fi
case $mode in
"" | --test | --all)
    run_all "$@"
    report "$@" ;;
*)
    run_suite "$1" > /dev/null
    cat "$build/test-$1.txt"
    read -r good bad skipped < "$build/test-$1.sum"
    [ "$bad" -eq 0 ] ;;
esac
