#!/bin/sh
# SPDX-License-Identifier: MIT
# docs.sh BUILD: every page of the documentation: its marked commands run; its generated parts equal the program's
# output (tests/tools/docs.sh; `make docs` renews them); its links and paths name files; its identifiers are in the
# sources.
set -u
. "$(dirname "$0")/report.sh"
begin "docs.sh BUILD" "$@"

is_current() { tests/tools/docs.sh "$build" "$1" > "$work/page.md" && diff -u "$1" "$work/page.md"; }

# anchors PAGE: the anchors of its headings, in GitHub's form.
anchors() { sed '/^```/,/^```/d' "$1" | sed -n 's/^#\{1,6\} //p' | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }

# links_of PAGE: where its links lead, except to the web. Brackets in code are no links.
links_of() {
    sed '/^```/,/^```/d; s/`[^`]*`//g' "$1" | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//' | grep -v '^http' | sort -u
}

# Links name files, and their anchors headings. Web links are not checked.
has_its_files() {
    links_of "$1" | while read -r link; do
        file=${link%%#*} anchor=${link#*#}
        file=${file:+$(dirname "$1")/$file}
        file=${file:-$1}
        [ -e "$file" ] || echo "$1: no file $file"
        [ "$anchor" = "$link" ] || anchors "$file" | grep -qxe "$anchor" || echo "$1: no heading for $link"
    done > "$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

# A path in backquotes that begins with a folder of the project, or of emitter/, names a file or a folder, unless it is
# a pattern or the example `mycore`.
names_files() {
    folders='emitter\|ops\|schedules\|runtime\|samples\|tests\|docs'
    folders="$folders\|api\|cgen\|driver\|graph\|import\|ir\|lower\|schedule"
    sed '/^```/,/^```/d' "$1" | grep -o "\`\($folders\)/[A-Za-z0-9_./-]*\`" | tr -d '`' |
        grep -v 'FAMILY\|FILE\|NAME\|mycore' |
        sort -u | while read -r file; do
        [ -e "$file" ] || [ -e "emitter/$file" ] || echo "$1: no file $file"
    done > "$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

# An identifier in backquotes occurs in the sources.
# Comments that begin with "Decision: " in the input, and the input without them.
in_decision='/^(\/\*|#) Decision: / { inside = 1 } inside && !/^( \*|#|\/\*)/ { inside = 0 }'
the_decisions() { LC_ALL=C awk "$in_decision inside"; }
without_decisions() { LC_ALL=C awk "$in_decision !inside"; }
all_words() {
    find emitter ops schedules runtime samples tests \
        \( -name '*.[ch]' -o -name '*.def' -o -name '*.te' -o -name '*.sh' -o -name '*.py' \) \
        -exec cat {} + | without_decisions | tr -c 'A-Za-z0-9_' '\n' | grep _ | LC_ALL=C sort -u
}
names_identifiers() {
    sed '/^```/,/^```/d; /^<!-- begin/,/^<!-- end/d' "$1" | grep -o '`[A-Za-z0-9]*_[A-Za-z0-9_]*`' | tr -d '`' |
        grep -v '^NAME\|_NAME$\|^PORT_\|^CMAKE_\|^kws_\|^KWS_\|^DIGITS_\|^digits_\|_$\|MYCORE' |
        LC_ALL=C sort -u > "$work/used"
    LC_ALL=C comm -23 "$work/used" "$work/words" > "$work/missing"
    sed "s|^|$1: no identifier |" "$work/missing"
    [ ! -s "$work/missing" ]
}
all_words > "$work/words"

# Decisions at the heads of files name what exists, as pages do. The words above leave decisions out.
decisions_are_true() {
    find emitter ops schedules runtime tests samples -type f -exec cat {} + | the_decisions \
        > "$work/decisions.md"
    names_files "$work/decisions.md" && names_identifiers "$work/decisions.md"
}
check decisions-name-what-exists decisions_are_true

if has python3; then check tflite-table-is-current python3 tests/tools/tflite_table.py "$build" --check
else skip tflite-table-is-current "$(missing python3)"; fi
for page in README.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md samples/*/README.md; do
    check "current-$page" is_current "$page"
    check "links-$page" has_its_files "$page"
    check "files-$page" names_files "$page"
    check "identifiers-$page" names_identifiers "$page"
done

report_end
