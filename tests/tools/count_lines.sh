#!/bin/sh
# SPDX-License-Identifier: MIT
# count_lines.sh [COMMIT]: the lines that are not blank in .c, .h and .def of each top-level folder of sources, in the
# work tree or in the commit.
set -u
at=${1:-}
sources() {
    if [ "$at" ]; then git ls-tree -r --name-only "$at" -- "$1"
    else git ls-files --cached --others --exclude-standard -- "$1"; fi | grep '\.[ch]$\|\.def$'
}
# text_of FILE: its text; a file that the work tree no longer has is empty.
text_of() { if [ "$at" ]; then git show "$at:$1"; elif [ -f "$1" ]; then cat "$1"; fi; }
sum=0
for folder in emitter ops schedules runtime; do
    count=$(sources $folder | while read -r file; do text_of "$file"; done | grep -c '[^[:space:]]')
    printf '%-10s %7d\n' $folder "$count"
    sum=$((sum + count))
done
printf '%-10s %7d\n' sum $sum
