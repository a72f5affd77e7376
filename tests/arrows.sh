#!/bin/sh
# SPDX-License-Identifier: MIT
# arrows.sh: includes point downwards only. Reads every #include "..." of emitter/, ops/, schedules/, runtime/ and the
# system headers of runtime/, and holds them against the table of allowed arrows (ARCHITECTURE.md).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
log=/dev/null
. tests/report.sh

# Folder, and what it may include besides itself; `x/` is a folder, anything else one file. Arrows are transitive:
# who may use ir may use support. The compiler computes with the very functions that it emits calls of: lw_math.h, lw_fixed.h, lw_random.h.
arrows='
emitter/support
emitter/ir        support/ runtime/lw_math.h runtime/lw_fixed.h runtime/lw_random.h
emitter/schedule  support/ ir/
emitter/lower     support/ ir/
emitter/cgen      support/ ir/
emitter/graph     support/ ir/ schedule/
emitter/import    support/ ir/ schedule/ graph/
ops               support/ ir/ graph/dag/op.h graph/dag/op_build.h
schedules         support/ ir/ schedule/ graph/dag/op.h graph/dag/target.h
emitter/driver    support/ ir/ schedule/ lower/ cgen/ graph/ import/ loopwright.h
emitter/api       support/ ir/ schedule/ lower/ cgen/ graph/ import/ driver/ loopwright.h
emitter/main.c    loopwright.h
emitter/loopwright.h
runtime           ../lw_base.h ../lw_math.h
'

# is_allowed FOLDER INCLUDED ALLOWED...
is_allowed() {
    own=${1#emitter/}/ included=$2
    shift 2
    case $included in
    "$own"*) return 0 ;;
    builtin.h)      [ "$own" = graph/ ]; return ;;               # generated: the names of the built-in rows
    runtime_text.h) [ "$own" = cgen/ ]; return ;;                # generated: the runtime headers as text
    */*) ;;
    *) [ "$own" = ops/ ] || [ "$own" = runtime/ ] && return 0 ;; # beside the file
    esac
    for allowed in "$@"; do
        case $allowed in
        */) case $included in "$allowed"*) return 0 ;; esac ;;
        *)  [ "$included" = "$allowed" ] && return 0 ;;
        esac
    done
    return 1
}

# A row of the table for one file or folder.
check_row() {
    row=$1
    shift
    bad=
    for file in $(find "$row" -name '*.[ch]' -o -name '*.def' | sort); do
        for included in $(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$file"); do
            is_allowed "$row" "$included" "$@" || bad="$bad $file->$included"
        done
    done
    if [ -z "$bad" ]; then pass "arrows-$row"; else fail "arrows-$row" "not allowed:$bad"; fi
}

while read -r row allowed; do
    [ -n "$row" ] || continue
    # shellcheck disable=SC2086
    if [ -e "$row" ]; then check_row "$row" $allowed; else fail "arrows-$row" "there is no such file or folder"; fi
done <<TABLE
$arrows
TABLE

# No file stands outside the table.
stray=
for file in $(find emitter ops schedules -name "*.[ch]"); do
    [ -f "$file" ] || continue
    case $file in
    emitter/*/*) key=${file#emitter/} key=emitter/${key%%/*} ;;
    emitter/*)   key=$file ;;
    *)           key=${file%%/*} ;;
    esac
    printf '%s\n' "$arrows" | grep -q "^$key\( \|\$\)" || stray="$stray $file"
done
if [ -z "$stray" ]; then pass arrows-all-files-known; else fail arrows-all-files-known "$stray"; fi

# What is built into a firmware needs four headers of the standard library, and target intrinsics; nothing else.
bad=
for file in $(find runtime -name '*.h'); do
    for included in $(sed -n 's/^[ \t]*#[ \t]*include[ \t]*<\([^>]*\)>.*/\1/p' "$file"); do
        case $included in
        stdint.h | stddef.h | string.h | math.h | immintrin.h | arm_*.h | riscv_*.h) ;;
        *) bad="$bad $file->$included" ;;
        esac
    done
done
if [ -z "$bad" ]; then pass arrows-runtime-system-headers; else fail arrows-runtime-system-headers "$bad"; fi

report_end
