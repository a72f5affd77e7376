#!/bin/sh
# SPDX-License-Identifier: MIT
# interface.sh BUILD: the emitted header as firmware includes it: README's snippet in C99, C11 and C++, and the codes
# that NAME_run returns for null pointers.
set -u
. "$(dirname "$0")/report.sh"
begin "interface.sh BUILD" "$@"
rm -rf "$work"/*
strict="-pedantic -Wall -Wextra -Werror"

# ---- README's snippet ------------------------------------------------------------------------------------------------

awk '/^```c$/ { block = ""; on = 1; next } /^```$/ && on { if (block ~ /#include "kws.h"/) { printf "%s", block; exit } on = 0 } on { block = block $0 "\n" }' \
    README.md > "$work/snippet.c"
"$lw" samples/digits/digits.onnx --name kws -o "$work/kws.c"
for compiler in "gcc -std=c99" "gcc -std=c11" "clang -std=c99" "clang -std=c11" "g++ -x c++ -std=c++11" "g++ -x c++ -std=c++17" \
    "clang++ -x c++ -std=c++11" "clang++ -x c++ -std=c++17" "tcc"; do
    name=snippet-$(echo "${compiler#* }" | sed 's/-x c++ //; s/-std=//')-$(echo "${compiler%% *}")
    # Also without the compiler's extensions: as a compiler with the standard keywords alone.
    for words in own language; do
        [ $words = own ] && undefine= || undefine=-U__GNUC__
        if ! has "${compiler%% *}"; then skip "$name-$words" "${compiler%% *} is not installed"
        # shellcheck disable=SC2086
        else check "$name-$words" $compiler $undefine $strict -c "$work/snippet.c" -o "$work/snippet.o"; fi
    done
done

# ---- Null pointers ---------------------------------------------------------------------------------------------------

printf 'input a: f32[4]\ninput b: f32[4]\ns = add(a, b)\nd = sub(a, b)\nt = softmax(s)\noutput t\noutput d\n' > "$work/two.te"
cat > "$work/null.c" <<'END'
#include <stdio.h>
#include "two.h"
#ifdef STATIC_ARENA
#define RUN(in, out) two_run(in, out)
#else
static TWO_ARENA(memory);
#define RUN(in, out) two_run(memory, in, out)
#endif
int main(void)
{
    const float a[4] = { 1, 2, 3, 4 }, b[4] = { 0 };
    float t[4], d[4];
    const struct two_inputs in = { a, b }, no_a = { NULL, b }, no_b = { a, NULL };
    const struct two_outputs out = { t, d }, no_t = { NULL, d }, no_d = { t, NULL };
    if (RUN(&in, &out) != 0) return 1;
    if (RUN(NULL, &out) != TWO_E_NULL || RUN(&in, NULL) != TWO_E_NULL) return 2;
    if (RUN(&no_a, &out) != TWO_E_NULL || RUN(&no_b, &out) != TWO_E_NULL) return 3;
    if (RUN(&in, &no_t) != TWO_E_NULL || RUN(&in, &no_d) != TWO_E_NULL) return 4;
#ifndef STATIC_ARENA
    if (two_run(memory + 1, &in, &out) != TWO_E_ARENA && TWO_ARENA_SIZE) return 5;
#endif
    return TWO_E_NULL < 0 ? 0 : 6;
}
END
# null_pointers WORDS OPTION...: with these options of the compiler.
null_pointers() {
    words=$1
    shift
    # shellcheck disable=SC2086
    "$lw" "$work/two.te" -o "$work/two.c" "$@" && $cc -std=c99 $strict $words -Iruntime -I. "$work/two.c" "$work/null.c" -o "$work/null" -lm && "$work/null"
}
check null-pointers-give-codes      null_pointers ""
check null-pointers-give-codes-static-arena null_pointers -DSTATIC_ARENA --static-arena
check null-pointers-give-codes-on-a-core null_pointers "" --target cortex-m4
documented() { "$lw" "$work/two.te" -o "$work/two.c" && grep -q '^#define TWO_E_NULL  *(-4) */\* .*null' "$work/two.h"; }
check null-pointers-are-documented  documented

report_end
