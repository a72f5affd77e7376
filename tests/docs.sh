#!/bin/sh
# SPDX-License-Identifier: MIT
# docs.sh BUILD: every page of the documentation: its marked commands run, its generated parts are what the program prints
# (tests/tools/docs.sh; `make docs` renews them), its links and paths name files.
set -u
. "$(dirname "$0")/report.sh"
begin "docs.sh BUILD" "$@"

is_current() { tests/tools/docs.sh "$build" "$1" > "$work/page.md" && diff -u "$1" "$work/page.md"; }

# Targets of links, without anchors; links of the web are left out.
has_its_files() {
    sed '/^```/,/^```/d' "$1" | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^$\|^http' | sort -u | while read -r file; do
        [ -e "$(dirname "$1")/$file" ] || echo "$1: no file $file"
    done > "$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

# A path in backquotes that begins with a folder of the project, or of emitter/, names a file or a folder, unless it is a
# pattern or the example `mycore`.
names_files() {
    folders='emitter\|ops\|schedules\|runtime\|samples\|tests\|docs\|api\|cgen\|driver\|graph\|import\|ir\|lower\|schedule'
    sed '/^```/,/^```/d' "$1" | grep -o "\`\($folders\)/[A-Za-z0-9_./-]*\`" | tr -d '`' | grep -v 'FAMILY\|FILE\|NAME\|mycore' |
        sort -u | while read -r file; do
        [ -e "$file" ] || [ -e "emitter/$file" ] || echo "$1: no file $file"
    done > "$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

for page in README.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md samples/*/README.md; do
    check "docs-current-$page" is_current "$page"
    check "docs-links-$page" has_its_files "$page"
    check "docs-files-$page" names_files "$page"
done

report_end
