#!/bin/sh
# SPDX-License-Identifier: MIT
# harness.sh BUILD: the tests' own rules. A copy of tests/run.sh runs suites that are written here; each case that
# tests/COVERAGE.md names is in its suite.
set -u
. "$(dirname "$0")/report.sh"
begin "harness.sh BUILD" "$@"
rm -rf "$work"/*
mkdir -p "$work/tree/tests/unit" "$work/tree/tests/tools"
cp tests/run.sh tests/report.sh "$work/tree/tests/"
cp tests/tools/counts.sh "$work/tree/tests/tools/"
printf 'all:\n' > "$work/tree/Makefile"

# suite NAME STATUS LINE...: a suite that prints these lines.
suite() {
    suite_name=$1 suite_status=$2
    shift 2
    { echo 'cat << END'; printf '%s\n' "$@"; echo END; echo "exit $suite_status"; } > "$work/tree/tests/$suite_name.sh"
}
suite good 0 "ok a" "1 passed, 0 failed, 0 skipped"
suite skipped 77 "skip a: no tool" "0 passed, 0 failed, 1 skipped"
suite bad 1 "ok a" "not ok b: wrong" "1 passed, 1 failed, 0 skipped"
suite twice 0 "ok a" "ok a" "2 passed, 0 failed, 0 skipped"
suite silent 0 "nothing"
suite aborted 3 "ok a" "1 passed, 0 failed, 0 skipped"

# ends STATUS SUITE LINE: a run of the suite ends so, and prints this line.
ends() {
    ends_status=0
    BUILD=build sh "$work/tree/tests/run.sh" "$2" > "$work/said.txt" 2>&1 || ends_status=$?
    cat "$work/said.txt"
    [ "$ends_status" -eq "$1" ] && grep -qx "$3" "$work/said.txt"
}
check suite-that-passes-passes         ends 0 good    "1 passed, 0 failed, 0 skipped"
check suite-of-skipped-cases-passes    ends 0 skipped "0 passed, 0 failed, 1 skipped"
check failed-case-fails                ends 1 bad     "not ok bad/b: wrong"
check two-cases-of-one-name-fail       ends 1 twice   "not ok twice/a: several cases have this name"
check suite-without-cases-fails        ends 1 silent  "not ok silent: ended with status 0.*"
check suite-that-aborts-fails          ends 1 aborted "not ok aborted: ended with status 3.*"
# Without arguments, a suite that has passed with the same inputs is left out. Inputs are its sources, the files that
# they name, and the program.
repeats() {
    (cd "$work/again" && BUILD=build sh tests/run.sh > "$work/said.txt" 2>&1)
    cat "$work/said.txt"
    [ "$(grep -c '^good .* 1 passed' "$work/said.txt")" -eq "$1" ]
}
changes_repeat() {
    rm -rf "$work/again" &&
        mkdir -p "$work/again/tests/unit" "$work/again/tests/tools" "$work/again/build" "$work/again/samples" &&
        cp tests/run.sh tests/report.sh "$work/again/tests/" &&
        cp tests/tools/counts.sh "$work/again/tests/tools/" &&
        printf 'all build/test/test_random_emission:\n' > "$work/again/Makefile" &&
        echo 1 > "$work/again/samples/read.txt" && echo 1 > "$work/again/samples/other.txt" &&
        echo 'cat samples/read.txt; echo "ok a"; echo "1 passed, 0 failed, 0 skipped"' \
            > "$work/again/tests/good.sh" || return 1
    repeats 1 && repeats 0 || return 1
    echo 2 > "$work/again/samples/other.txt" && repeats 0 || return 1
    echo 2 > "$work/again/samples/read.txt" && repeats 1 || return 1
    echo program > "$work/again/build/loopwright" && repeats 1 || return 1
    echo '# a comment' >> "$work/again/tests/good.sh" && repeats 1 && repeats 0
}
check only-changed-inputs-repeat-a-suite changes_repeat
check misspelt-suite-names-the-nearest sh -c "sh '$work/tree/tests/run.sh' twise 2>&1 | grep -q 'did you mean twice?'"
check unknown-suite-is-wrong-usage     sh -c "BUILD=build sh '$work/tree/tests/run.sh' nosuch; [ \$? -eq 2 ]"

# The sources of a suite. The cases of `golden` are folders, those of python_package functions.
sources_of() {
    case $1 in
    golden) ls tests/golden > "$work/golden.txt"; echo "$work/golden.txt" ;;
    test_*) [ ! -f "tests/unit/$1.c" ] || ls "tests/unit/$1.c" tests/unit/*.h tests/schedules/*.txt ;;
    qdq) echo tests/qdq.py ;;
    sizes) sed "s/ /-/g" tests/sizes*.py tests/tflite_sizes.py > "$work/sizes.txt"; echo "$work/sizes.txt" ;;
    python_package)
        sed 's/_/-/g' tests/python/cases.py > "$work/python.txt"
        echo "$work/python.txt tests/python_package.sh" ;;
    *) [ ! -f "tests/$1.sh" ] || echo "tests/$1.sh" ;;
    esac
}

# is_case SUITE NAME: each part of the name between `*` is in the suite's sources.
is_case() {
    files=$(sources_of "$1")
    [ "$files" ] || { echo "there is no suite $1"; return 1; }
    echo "$2" | tr '*' '\n' | while IFS= read -r part; do
        [ -z "$part" ] || grep -qF -e "$part" $files ||
            { echo "$1/$2: '$part' is not in $(echo $files | cut -c1-60)"; return 1; }
    done
}

cases_exist() {
    grep '^|' tests/COVERAGE.md | sed 's/.* | //' | grep -o '`[a-z_0-9]*/[^`]*`' | tr -d '`' > "$work/cases.txt"
    [ "$(wc -l < "$work/cases.txt")" -ge 100 ] || { echo "too few cases are named"; return 1; }
    wrong=0
    while IFS= read -r case; do is_case "${case%%/*}" "${case#*/}" || wrong=1; done < "$work/cases.txt"
    return $wrong
}
check every-named-case-exists cases_exist
report_end
