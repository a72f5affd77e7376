# SPDX-License-Identifier: MIT
# The output of the test scripts; to be sourced. A line per case, `ok NAME`, `not ok NAME: why` or `skip NAME: why`, and
# `N passed, N failed, N skipped` at the end. If TEST_CASE is set, a case runs and counts if its name contains it. POSIX
# shell.
passed=0 failed=0 skipped=0
only=${TEST_CASE:-}
unset TEST_CASE

wanted() { case $1 in *"$only"*) ;; *) return 1 ;; esac; }
pass() { wanted "$1" || return 0; echo "ok $1"; passed=$((passed + 1)); }
fail() { wanted "$1" || return 0; echo "not ok $1: $2"; failed=$((failed + 1)); }
skip() { wanted "$1" || return 0; echo "skip $1: $2"; skipped=$((skipped + 1)); }
has()  { command -v "$1" > /dev/null 2>&1; }

# missing TOOL...: prints the first that is not installed, as the reason of a skip.
missing() { for tool in "$@"; do has "$tool" || { echo "$tool is not installed"; return; }; done; }

# timeout SECONDS COMMAND...: GNU's; without it there is no limit.
has timeout || timeout() { shift; "$@"; }

# begin "SCRIPT.sh BUILD ..." ARGUMENT...: changes to the project's root. Sets
#   $root  the project's root      $lw   the compiler             $log  a file for the output of commands
#   $build BUILD                   $work the script's own folder  $cc   the C compiler
begin() {
    [ $# -ge 2 ] || { echo "usage: $1" >&2; exit 2; }
    root=$(cd "$(dirname "$0")/.." && pwd) build=$(cd "$2" && pwd) || exit 1
    work=$build/$(basename "$0" .sh) lw=$build/loopwright cc=${CC:-cc}
    log=$work/log.txt
    mkdir -p "$work" && cd "$root" || exit 1
}

# check NAME COMMAND...: passes if the command ends with 0; else shows its output.
check() {
    check_name=$1
    shift
    wanted "$check_name" || return 0
    if "$@" > "$log" 2>&1; then pass "$check_name"
    else
        fail "$check_name" "status $?"
        grep -v "^ok \|^CC \|^AR \|^LD " "$log" | sed "s/^/    /" | head -n 30
    fi
}

# same_header A.h B.h: equal apart from the lines with the origin of the code, and the order of dimensions, which
# formulas without the names of operators do not give.
without_origin() {
    grep -v "SHA-256: \|_MODEL_SHA256 \|^ [*] Options: \|_OPTIONS \"\|_LAYOUT " "$1" |
        sed '/^ [*] /s/  N[A-Z]*C[A-Z]*\( \|$\)/\1/'
}
same_header() { without_origin "$1" > "$1.code" && without_origin "$2" > "$2.code" && cmp "$1.code" "$2.code"; }

# setup NAME COMMAND...: a case that produces files for later ones. It runs even if TEST_CASE does not select it, and
# its failure counts.
setup() {
    setup_name=$1
    shift
    if wanted "$setup_name"; then check "$setup_name" "$@"; return; fi
    chosen=$only only=
    "$@" > "$log" 2>&1 ||
        { fail "$setup_name" "status $?"; grep -v "^CC \|^AR \|^LD " "$log" | sed "s/^/    /" | head -n 30; }
    only=$chosen
}

# report_end: prints the last line; status 1 if a case failed.
report_end() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
