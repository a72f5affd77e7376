#!/bin/sh
# SPDX-License-Identifier: MIT
# docs.sh BUILD PAGE: prints PAGE (README.md, docs/NAME.md) with its generated parts renewed, and runs its marked
# commands.
#
#   <!-- run -->                  the ```sh block that follows runs; its status must be 0
#   <!-- run: status N -->        the same, but its status must be N
#   <!-- file NAME -->            the block that follows is written to the file NAME, for a command behind it
#   <!-- check COMMAND -->        a command that the page does not show runs; its status must be 0
#   <!-- begin output -->         between this line and `<!-- end -->`: the output of the last block that ran
#   <!-- begin shown LANG: COMMAND -->   the same of a COMMAND that the page does not show, in a block of language LANG
#   <!-- begin operators -->      the tables of all operators
#   <!-- begin python -->         the reference of the Python package, from its docstrings
#   <!-- begin decisions -->      the decisions that heads of files state: comments that begin with `Decision: `
#
# The blocks of a page run one after the other in one scratch folder. In it `build` is BUILD, and the project's other
# folders have their names.
# Status 1 if a command ends with another status than the page states.
#
# Decision: pages show what the program prints. Commands in README.md and `docs/` run, and their outputs are
# compared (`tests/tools/docs.sh`), so a change of behaviour that a page describes cannot pass unnoticed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: docs.sh BUILD PAGE}" && pwd)
page=${2:?usage: docs.sh BUILD PAGE}
work=$build/docs/$(basename "$page" .md)
rm -rf "$work"
mkdir -p "$work/scratch"
for entry in "$root"/*; do
    case ${entry##*/} in build) ;; *) ln -s "$entry" "$work/scratch/" ;; esac
done
ln -s "$build" "$work/scratch/build"

# The pages print `cc`, whichever compiler the tests use. It does not optimize, which halves the time of builds; no page
# prints a size or a time of this machine's code.
mkdir "$work/bin"
printf '#!/bin/sh\nPATH="%s"\nexec %s "$@" -O0\n' "$PATH" "${CC:-cc}" > "$work/bin/cc"
chmod +x "$work/bin/cc"
unset CC
PATH=$work/bin:$PATH
failed=0

# run STATUS: runs the commands in $work/block; their output is in $work/output.
run() {
    status=0
    (cd "$work/scratch" && sh -e "$work/block") > "$work/output" 2>&1 < /dev/null || status=$?
    [ "$status" -eq "$1" ] && return
    {
        echo "$page: status $status, not $1:"
        sed 's/^/    /' "$work/block"
        echo "prints:"
        sed 's/^/    /' "$work/output"
    } >&2
    failed=1
}

fenced() { printf '```%s\n' "$1"; cat "$work/output"; echo '```'; }

# comma_list: the words of the input as one line of code words.
comma_list() { awk '{ printf "%s`%s`", (NR > 1 ? ", " : ""), $1 } END { print "" }'; }

operators() {
    "$build/loopwright" ops | sed 1d > "$work/ops"
    echo "$(wc -l < "$work/ops" | tr -d ' ') operators."
    echo
    echo '| call | level | fused as | meaning |'
    echo '|---|---|---|---|'
    awk '{ name = $1; level = $2; pattern = $3; sub(/^[^ ]+ +[0-9]+ +[^ ]+ +/, ""); gsub(/\|/, "\\|")
           at = index($0, ": " name "(")
           printf "| `%s` | %s | %s | `%s` |\n", substr($0, at + 2), level, pattern, substr($0, 1, at - 1)
         }' "$work/ops"
    for importer in onnx tflite; do
        "$build/loopwright" ops --$importer | sed 1d > "$work/$importer"
        case $importer in
        onnx) what="ONNX, all operator sets" ;;
        tflite) what="TFLite: floats, 8 bits with and without a sign, 16 bits" ;;
        esac
        printf '\n## %s\n\n' "$what"
        count=$(wc -l < "$work/$importer" | tr -d ' ')
        echo "$count operators; \`loopwright ops --$importer\` prints them with the attributes or types that are read."
        echo
        comma_list < "$work/$importer" | fold -s -w 118 | sed 's/ $//'
    done
}

# decision_of FILE...: `FILE<tab>DECISION`, the first sentence of each comment that begins with "Decision: ".
decision_of() {
    awk '
        function end() {
            sub(/\. .*/, "", text)
            sub(/\.$/, "", text)
            if (text != "") print file "\t" text
            text = ""
        }
        FNR == 1 { end(); file = FILENAME }
        /^(\/\*|#) Decision: / { end(); sub(/^(\/\*|#) Decision: /, ""); text = $0; next }
        text != "" && /^( \*|#) [^ ]/ { sub(/^( \*|#) /, ""); text = text " " $0; next }
        { end() }
        END { end() }' "$@" | sed 's| \*/$||'
}
decisions() {
    echo '| decision | file |'
    echo '|---|---|'
    (cd "$root" && find emitter ops schedules runtime tests samples -type f |
        xargs grep -l '^\(/\*\|#\) Decision: ' | LC_ALL=C sort | while read -r file; do decision_of "$file"; done) |
        awk -F '\t' '{ printf "| %s%s | `%s` |\n", toupper(substr($2, 1, 1)), substr($2, 2), $1 }'
}

# Without Python, the part remains.
python_reference() {
    if command -v python3 > /dev/null; then python3 "$root/emitter/python/reference.py"
    else sed '1,/^<!-- begin python -->/d; /^<!-- end -->/,$d' "$root/$page"; fi
}

state=text
while IFS= read -r line; do
    case $state:$line in
    old:'<!-- end -->') state=text ;;
    old:*) continue ;;
    block:'```')
        state=text
        [ -n "$file" ] || run "$want" ;;
    block:*) printf '%s\n' "$line" >> "${file:-$work/block}" ;;
    marked:'```'*) state=block; : > "${file:-$work/block}" ;;
    marked:*) echo "$page: no block behind the mark" >&2; failed=1; state=text ;;
    text:'<!-- run -->') state=marked file= want=0 ;;
    text:'<!-- run: status '*) state=marked file= want=${line#*status } want=${want% -->} ;;
    text:'<!-- file '*) state=marked file=${line#<!-- file } file=$work/scratch/${file% -->} ;;
    text:'<!-- check '*)
        check=${line#<!-- check }
        printf '%s\n' "${check% -->}" > "$work/block"
        run 0 ;;
    text:'<!-- begin '*)
        printf '%s\n' "$line"
        name=${line#<!-- begin } name=${name% -->}
        case $name in
        output) fenced '' ;;
        operators) operators ;;
        decisions) decisions ;;
        python) python_reference || failed=1 ;;
        'shown '*)
            printf '%s\n' "${name#*: }" > "$work/block"
            run 0
            name=${name%%:*}
            fenced "${name#shown }" ;;
        *) echo "$page: no generated part '$name'" >&2; failed=1 ;;
        esac
        state=old
        continue ;;
    esac
    printf '%s\n' "$line"
done < "$root/$page"
[ "$state" = text ] || { echo "$page: a block or a generated part does not end" >&2; failed=1; }
exit $failed
