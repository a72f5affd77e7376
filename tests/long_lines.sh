#!/bin/sh
# SPDX-License-Identifier: MIT
# long_lines.sh BUILD [--list]: no line of a source, a page, a script or a make file is longer than 120 columns. Exempt
# are tables of Markdown and its parts between `<!-- begin NAME -->` and `<!-- end -->`, tests/golden, and files whose
# first three lines contain `Made by` or `Written by`: a program wrote them.
#
#   tests/run.sh long_lines         the check; names each file with its first long line
#   tests/long_lines.sh build --list    NUMBER FILE: every file with such lines, the most first
set -u
. "$(dirname "$0")/report.sh"
begin "long_lines.sh BUILD [--list]" "$@"

# Columns are characters, not bytes. NUMBER FILE:LINE.
find .ci docs emitter ops schedules runtime samples tests ./*.md Makefile -path tests/golden -prune -o \
    -path emitter/api/package/templates -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.def' -o -name '*.md' -o -name '*.py' -o -name '*.sh' -o -name '*.mk' -o \
    -name Makefile -o -path .ci/run \) -print | sed 's|^\./||' | LC_ALL=C sort |
    LC_ALL=C xargs awk '
        function flush() { if (n) print n, file ":" first; n = 0 }
        FNR == 1 { flush(); file = FILENAME; made = 0; is_md = file ~ /\.md$/ }
        FNR <= 3 && /(Made|Written) by / { made = 1 }
        is_md && /^<!-- begin/ { made = 1 }
        is_md && /^<!-- end/ { made = 0 }
        made || (is_md && /^ *\|/) || length($0) <= 120 { next }
        { line = $0; gsub(/[\200-\277]/, "", line); if (length(line) > 120 && !n++) first = FNR }
        END { flush() }' > "$work/found.txt"

if [ "${2:-}" = --list ]; then sort -rn "$work/found.txt" | sed 's/:[0-9]*$//'; exit; fi
awk '{ print $2 ": " $1 " lines are longer than 120 columns" }' "$work/found.txt" > "$work/long.txt"
no_long_lines() { cat "$work/long.txt"; [ ! -s "$work/long.txt" ]; }
check no-line-above-120-columns no_long_lines
report_end
