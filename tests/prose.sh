#!/bin/sh
# SPDX-License-Identifier: MIT
# prose.sh BUILD [PATH...]: the English of pages, help texts and comments. Each line of tests/prose/patterns.tsv is a
# name, a tab and an extended regular expression that finds a sentence to be rewritten. The suite fails on every line
# that matches one, unless tests/prose/exceptions.tsv excuses it. Generated parts of pages are left out, because they
# follow from sources.
#
#   tests/run.sh prose                the check, a case per pattern
#   tests/prose.sh build ops docs     FILE:LINE: PATTERN: TEXT, for these files or folders
#
# A pattern whose name begins with `md.` is for pages only, one with `diag.` for the diagnostics in the folders that
# tests/prose/patterns.tsv names behind the expression.
set -u
. "$(dirname "$0")/report.sh"
begin "prose.sh BUILD [PATH...]" "$@"
shift
# The pages, and the folders whose sources are clean.
[ $# -gt 0 ] || set -- ./*.md docs samples/*/README.md tests/COVERAGE.md tests/models emitter ops schedules runtime

tab=$(printf '\t')
rm -rf "$work/pages" && mkdir -p "$work/pages"

# Not read: files that a program wrote, which say so in their first three lines (files of three lines have no prose).
generated='docs/decisions.md|docs/SUPPORT.md|tests/prose/|tests/golden/'
find "$@" -type f \
    \( -name '*.md' -o -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' -o -name '*.te' \) |
    sed 's|^\./||' | grep -Ev "^($generated)" | LC_ALL=C sort |
    LC_ALL=C xargs awk 'FNR == 1 { made = 0 } FNR <= 3 && /(Made|Written) by / { made = 1 }
        FNR == 4 && !made { print FILENAME }' > "$work/files"
grep '\.md$' "$work/files" > "$work/md.files"
grep -v '\.md$' "$work/files" > "$work/source.files"

# Copies of the pages in which generated parts are empty lines.
while read -r page; do
    mkdir -p "$work/pages/$(dirname "$page")"
    awk '/^<!-- begin/ { made = 1 } { print made ? "" : $0 } /^<!-- end/ { made = 0 }' "$page" > "$work/pages/$page"
done < "$work/md.files"

# find_in LIST: FILE:LINE:TEXT of the lines of these files that match $pattern.
find_in() { LC_ALL=C xargs grep -nHE -e "$pattern" /dev/null < "$1"; }

# Prints FILE:LINE:TEXT for each hit of pattern $name that no exception excuses.
hits() {
    case $name in diag.*) ;; *) (cd "$work/pages" && find_in "$work/md.files") ;; esac
    case $name in
    md.*) ;;
    diag.*)
        echo "$folders" | tr ' ' '\n' | sed 's/.*/^&\//' > "$work/folders"
        grep -f "$work/folders" "$work/source.files" > "$work/diag.files"
        find_in "$work/diag.files" ;;
    *) find_in "$work/source.files" ;;
    esac
}
excused='BEGIN { FS = "\t" }
    NR == FNR { if ($1 == name) { file[++n] = $2; text[n] = $3 } next }
    { for (i = 1; i <= n; i++) if (index($0, file[i]) == 1 && index($0, text[i])) next; print }'
finds_nothing() {
    hits | awk -v name="$name" "$excused" tests/prose/exceptions.tsv -
}
is_clean() { finds_nothing > "$work/found"; cut -c1-300 "$work/found"; [ ! -s "$work/found" ]; }

while IFS=$tab read -r name pattern folders; do
    case $name in '#'*) continue ;; esac
    check "$name" is_clean
done < tests/prose/patterns.tsv
report_end
