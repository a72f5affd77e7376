#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh BUILD: every example in the comments of loopwright.h is compiled and runs without a diagnostic. An example
# is a run of lines that begin with ` *     ` (or `/*     `); one that begins with `static bool`, `void` or `int` is a
# function, any other the body of a block. All blocks use one context, in the header's order, so a later one can use
# what an earlier one has registered.
set -u
. "$(dirname "$0")/report.sh"
begin "header.sh BUILD" "$@"
header=emitter/loopwright.h

# FUNCTION or BLOCK, the number of the header's line, and the code, a line each; `end` closes an example.
sed -n 's|^[ /]\*     |&|p; t
s|.*||p' $header | awk '
    function close_example() { if (open) print "end"; open = 0 }
    /^[ \/]\*     / {
        code = substr($0, 8); sub(/ \*\/$/, "", code)
        if (!open) { kind = code ~ /^static (bool|void|int) [a-z_]*\(/ ? "FUNCTION" : "BLOCK"; print kind, NR }
        open = 1; print "|" code; next
    }
    { close_example() }
    END { close_example() }' > "$work/examples.txt"

awk '
    BEGIN {
        print "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\n#include \"loopwright.h\""
        print "static int failed(lw_context *cx, int line);"
    }
    $1 == "FUNCTION" { is_function = 1; printf "#line %d \"emitter/loopwright.h\"\n", $2; next }
    $1 == "BLOCK" {
        is_function = 0
        line[++n] = $2
        printf "static void example_%d(lw_context *cx)\n{\n#line %d \"emitter/loopwright.h\"\n", n, $2
        next
    }
    /^\|/ { print substr($0, 2); next }
    $1 == "end" { if (!is_function) print "}" }
    END {
        print "static int failed(lw_context *cx, int line)\n{\n    bool is_error = false;"
        print "    for (int i = 0; lw_diagnostic(cx, i, &is_error); i++)"
        print "        if (is_error) return printf(\"loopwright.h, the example at line %d: %s\\n\", line,"
        print "                                    lw_diagnostic(cx, i, NULL)), 1;"
        print "    return 0;\n}\nint main(void)\n{\n    lw_context *cx = lw_new();"
        for (i = 1; i <= n; i++) printf "    example_%d(cx);\n    if (failed(cx, %d)) return 1;\n", i, line[i]
        print "    lw_free(cx);\n    return 0;\n}"
    }' "$work/examples.txt" > "$work/examples.c"

rm -f "$work/examples" "$work/digits.c" "$work/matmul.c"
count=$(grep -c '^BLOCK' "$work/examples.txt")
has_examples() { [ "$count" -ge 7 ] || { echo "only $count are found"; return 1; }; }
compiles() {
    ${CC:-cc} -std=c99 -Wall -Wextra -Wno-unused-variable -Wno-unused-function -Werror -Iemitter -o "$work/examples" \
        "$work/examples.c" "$build/internal.a" -lm
}
# Two samples of the digits' input: f32[2][1][8][8], the elements 1 and 2.
samples() {
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 8, 8), }"
    for element in '\000\000\200\077' '\000\000\000\100'; do
        i=0
        while [ $i -lt 64 ]; do printf "$element"; i=$((i + 1)); done
    done
}
has_program() { [ -x "$work/examples" ] || compiles; }
runs() {
    has_program && cp samples/digits/digits.onnx "$work" && samples > "$work/samples.npy" && (cd "$work" && ./examples)
}
compiles_emitted() {
    [ -f "$work/matmul.c" ] || runs || return
    for file in "$work"/digits.c "$work"/matmul.c; do
        ${CC:-cc} -std=c99 -Iruntime -c -o "$work/emitted.o" "$file" || return
    done
}
# Quoted text in the form of code elsewhere in a comment would be an example that no test runs.
no_other_example() {
    ! grep -nE '^(/| )\*.*"[a-z0-9_]+(\[[^"]*\])? = |/\*.*"[a-z0-9_]+(\[[^"]*\])? = ' $header |
        grep -vE '^[0-9]*:[ /]\*     '
}
check header-has-examples        has_examples
check header-examples-compile    compiles
check header-examples-run        runs
check header-examples-emit       compiles_emitted
check header-no-other-examples   no_other_example
report_end
