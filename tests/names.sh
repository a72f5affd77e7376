#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh BUILD: every command that emits C, on a network whose names no identifier, comment or string may hold as they
# are (tests/tools/names_model.py). What is emitted compiles without a warning and computes what the interpreter does.
set -u
. "$(dirname "$0")/report.sh"
begin "names.sh BUILD" "$@"
rm -rf "${work:?}"/*

# Building takes most of the time.
case $cc in *" -O"*) ;; *) cc="$cc -O0"; export CC="$cc" ;; esac
strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
hostile=tests/names/hostile.onnx samples=tests/names/hostile.npy

builds() { $cc $strict -Iruntime -I"$work" "$@" -c "$work/m.c" -o "$work/m.o"; }
emits() { "$lw" "$hostile" --name m -o "$work/m.c" "$@" && builds; }
check compiled                emits
check compiled-with-layers    emits --layers
check compiled-with-profile   emits --profile
check compiled-standalone     emits --standalone --static-arena --stamp
check compiled-with-selftest  emits --selftest random
check compiled-with-weights   emits --weights bin
check compiled-with-testbench emits --testbench
check compiled-for-a-target   emits --target cortex-m4
check compiled-as-a-class     emits --cpp
check compiled-to-train       emits --train 'loss=mse optimizer=sgd(rate=0.1) update=all'

# The string of a layer has the bytes of its name.
labels() {
    "$lw" tests/names/trigraph.onnx --name m -o "$work/m.c" --selftest random "$@" && builds &&
        grep -qF '"a\?\?/"' "$work/m.c" && grep -qF '"/\303\251/b"' "$work/m.c"
}
check layers-have-their-names         labels
check layers-have-their-names-profile labels --profile

# Layers are named without the scope that at least half of them share, and after the first of joined names.
scopes() {
    "$lw" tests/names/scopes.onnx --name m --target cortex-m4 -o "$work/m.c" || return 1
    sed -n 's/^    m_\([a-z_]*\)_at = .*/\1/p; s/^    LW_LAYER([0-4], "\(.*\)")$/\1/p' "$work/m.c" > "$work/scopes"
    printf '%s\n' a b d net_e net/block/a 'net/block/b;net/block/c' net/block/d net/e f | diff - "$work/scopes"
}
check scopes-are-left-out scopes
# An offset above 32767 is no int of 16 bits.
offsets() {
    printf '%s\n' 'input x: f32[1][12000]' 'a = softmax(x, axis=1)' 'b = softmax(a, axis=1)' 'y = add(a, b)' \
        'output y' > "$work/large.te" && "$lw" "$work/large.te" --name m -o "$work/m.c" && builds || return 1
    grep -q '^#define m_a_power_at 48000 ' "$work/m.c" && ! grep -q '^enum' "$work/m.c"
}
check large-offsets-are-macros offsets

# Ports with the names of a class, its members, its variables and its namespace.
ports="arena_ in_ weights Model run" results="out_ state_ reset m m_run"
{
    for port in $ports; do echo "input $port: f32[1][4]"; done
    set -- $ports
    for port in $results; do echo "$port = tanh($1)"; shift; done
    for port in $results; do echo "output $port"; done
} > "$work/class.te"
class() {
    "$lw" "$work/class.te" --name m --cpp --testbench -o "$work/m.c" "$@" && builds &&
        $cc $strict -Iruntime -c "$work/m_main.c" -o "$work/m.o" &&
        ${CXX:-g++} -std=c++11 -Wall -Wextra -Wshadow -Werror -Iruntime -fsyntax-only -x c++ "$work/m.hpp"
}
if has "${CXX:-g++}"; then
    check class-of-hostile-ports                  class
    check class-of-hostile-ports-in-the-arena     class --io arena
    check class-of-hostile-ports-weights-apart    class --weights bin
else skip class-of-hostile-ports "$(missing g++)"; fi

# Of a file whose name begins no identifier: no name that C reserves at file scope, nor one with `__` for C++.
prefixes() {
    for stem in 1 -x é _A __x int lw a--b 'a*' ; do
        cp "$work/class.te" "$work/$stem.te" && "$lw" "$work/$stem.te" -o "$work/m.c" && builds || return 1
        prefix=$(sed -n 's/^#define \([A-Z0-9_]*\)_H$/\1/p' "$work/m.h")
        case $prefix in '' | [!A-Z]* | *__* | *_ | LW) echo "$stem: prefix $prefix"; return 1 ;; esac
    done
}
check prefixes-are-not-reserved prefixes
refused() {
    ! "$lw" "$work/class.te" --name "$1" -o "$work/m.c" 2> "$work/said.txt" && grep -q 'like "' "$work/said.txt"
}
for given in 1 _x __x a__b a_ lw; do
    check "prefix-$given-is-refused" refused "$given"
done

# Ports with the names of all macros without arguments of the headers of C99, which a program includes first.
headers="assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef
    stdint stdio stdlib string time wchar wctype"
for header in $headers; do echo "#include <$header.h>"; done > "$work/headers.h"
$cc -std=c99 -E -dM -x c "$work/headers.h" | sed -n 's/^#define \([A-Za-z][A-Za-z0-9_]*\) .*/\1/p' > "$work/macros"
[ $(wc -l < "$work/macros") -gt 100 ] || : > "$work/macros"
{
    sed 's/.*/input &: f32[1]/' "$work/macros"
    sed 's/.*/y_&[i] = &[i] * 2.0/' "$work/macros"
    sed 's/.*/output y_&/' "$work/macros"
} > "$work/macros.te"
{ cat "$work/headers.h"; echo '#include "m.h"'; } > "$work/m_after.c"
macros() {
    "$lw" "$work/macros.te" --name m --testbench --quiet -o "$work/m.c" "$@" && builds &&
        $cc -std=c99 -Werror -I"$work" -c "$work/m_after.c" -o "$work/m.o" &&
        $cc $strict -Iruntime -c "$work/m_main.c" -o "$work/m.o"
}
check macros-of-headers       macros
check macros-of-headers-in-the-arena macros --io arena
for result in EOF stdin errno I NULL SIGINT LONG_MAX FLT_MAX; do
    printf 'input x: f32[2]\n%s = relu(x)\noutput %s\n' $result $result > "$work/result.te"
    check "result-$result" "$lw" verify "$work/result.te"
done

check verified                "$lw" verify "$hostile"
check verified-with-layers    "$lw" verify "$hostile" --layers
check verified-with-profile   "$lw" verify "$hostile" --profile
check evaluated               "$lw" evaluate "$hostile" --test "$samples" --reference "$hostile"
check reported                "$lw" report "$hostile" --cc "$cc" -o "$work/report.html"
check packaged                "$lw" package "$hostile" --for make -o "$work/package"
printf '#!/bin/sh\n"$@" && echo "instructions 1"\n' > "$work/runner"
chmod +x "$work/runner"
check tuned                   "$lw" tune "$hostile" --runner "$work/runner" -o "$work/tune.txt"

quantizes() { "$lw" quantize "$hostile" --samples "$samples" --name m -o "$work/m.c" "$@" && builds; }
check quantized               quantizes
check quantized-in-16-bits    quantizes --ports int16
check quantized-and-tested    quantizes --test "$samples"
check quantized-and-trained   quantizes --finetune 1 --test "$samples"
check quantized-to-a-bound    quantizes --ports float --min-sqnr 60 --sensitivity --report "$work/q.html"

# Each stage is read back, and gives C that compiles.
stages() {
    for stage in annotated calibrated realized; do
        set -- --samples "$samples"
        [ $stage != annotated ] || set --
        "$lw" dump "$hostile" --at $stage "$@" -o "$work/$stage.te" || return 1
    done
    "$lw" quantize "$work/annotated.te" --samples "$samples" --name m -o "$work/m.c" && builds &&
        "$lw" verify "$work/calibrated.te" && "$lw" evaluate "$work/calibrated.te" --test "$samples" &&
        "$lw" verify "$work/realized.te"
}
check stages-are-read-back    stages

report_end
