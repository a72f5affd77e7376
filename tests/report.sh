# SPDX-License-Identifier: MIT
# What the test scripts say, in one way; to be sourced. A line for each thing tested, `ok NAME`, `not ok NAME: why` or
# `skip NAME: why`, and `N passed, N failed, N skipped` at the end. POSIX shell.
passed=0 failed=0 skipped=0

pass() { echo "ok $1"; passed=$((passed + 1)); }
fail() { echo "not ok $1: $2"; failed=$((failed + 1)); }
skip() { echo "skip $1: $2"; skipped=$((skipped + 1)); }
has()  { command -v "$1" > /dev/null 2>&1; }

# timeout SECONDS COMMAND...: GNU's where it is installed; without it there is no limit.
has timeout || timeout() { shift; "$@"; }

# begin "SCRIPT.sh BUILD ..." ARGUMENT...: in the project's root, with its folder in $root, BUILD in $build, the compiler in $lw, a folder of
# the script's own in $work, a file for what commands say in $log, and the C compiler in $cc.
begin() {
    [ $# -ge 2 ] || { echo "usage: $1" >&2; exit 2; }
    root=$(cd "$(dirname "$0")/.." && pwd) build=$(cd "$2" && pwd) || exit 1
    work=$build/$(basename "$0" .sh) lw=$build/loopwright cc=${CC:-cc}
    log=$work/log.txt
    mkdir -p "$work" && cd "$root" || exit 1
}

# check NAME COMMAND...: passes when the command ends with 0; shows what it said when it does not.
check() {
    check_name=$1
    shift
    if "$@" > "$log" 2>&1; then pass "$check_name"
    else
        fail "$check_name" "status $?"
        sed 's/^/    /' "$log" | head -n 30
    fi
}

# report_end: the last line; status 1 if anything failed.
report_end() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
