#!/bin/sh
# SPDX-License-Identifier: MIT
# long_lines.sh BUILD [--list]: no line of a .c, .h, .def or .md file is longer than 120 columns. Exempt are tables of
# Markdown and its parts between `<!-- begin NAME -->` and `<!-- end -->`, tests/golden, and files whose first three lines
# say `Made by` or `Written by` a program. The files whose names, without folders, are in tests/long_lines.txt still have
# longer lines.
#
#   tests/run.sh long_lines         the check; names each file that is not in the list, with its first long line
#   make long-lines                 writes the list anew, without the files that have become short
#   tests/long_lines.sh build --list    NUMBER FILE: every file with such lines, the most first
set -u
. "$(dirname "$0")/report.sh"
begin "long_lines.sh BUILD [--list | --accept]" "$@"
known=tests/long_lines.txt

# Columns are characters, not bytes. NUMBER FILE:LINE.
find docs emitter ops schedules runtime samples tests ./*.md -path tests/golden -prune -o \
    -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.md' \) -print | sed 's|^\./||' | LC_ALL=C sort |
    LC_ALL=C xargs awk '
        function flush() { if (n) print n, file ":" first; n = 0 }
        FNR == 1 { flush(); file = FILENAME; made = 0; is_md = file ~ /\.md$/ }
        FNR <= 3 && /(Made|Written) by / { made = 1 }
        is_md && /^<!-- begin/ { made = 1 }
        is_md && /^<!-- end/ { made = 0 }
        made || (is_md && /^ *\|/) || length($0) <= 120 { next }
        { line = $0; gsub(/[\200-\277]/, "", line); if (length(line) > 120 && !n++) first = FNR }
        END { flush() }' > "$work/found.txt"

case ${2:-} in
--list)   sort -rn "$work/found.txt" | sed 's/:[0-9]*$//'; exit ;;
--accept) sed 's/:[0-9]*$//; s/.*[ /]//' "$work/found.txt" | LC_ALL=C sort -u > $known ;;
esac
awk -v known=$known 'BEGIN { while ((getline line < known) > 0) listed[line] = 1 }
    { at = $2; sub(/:[0-9]*$/, "", at); sub(/.*\//, "", at) } !(at in listed) { print $2 ": " $1 " lines are longer than 120 columns" }' "$work/found.txt" > "$work/new.txt"
no_new_lines() { cat "$work/new.txt"; [ ! -s "$work/new.txt" ]; }
check no-line-above-120-columns no_new_lines
report_end
