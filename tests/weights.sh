#!/bin/sh
# SPDX-License-Identifier: MIT
# weights.sh BUILD: --weights: the constants as text, in a file that the caller passes or the assembler includes, in a
# named section, in the program memory of an AVR. Each gives the values of the interpreter; a wrong file is refused.
set -u
. "$(dirname "$0")/report.sh"
begin "weights.sh BUILD" "$@"
rm -rf "${work:?}"/*

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
digits=samples/digits/digits.onnx int8=tests/fuzz/corpus-tflite/conv-int8.tflite
flow=tests/golden/control-flow/control-flow.onnx

# refuses STATUS TEXT ARGUMENT...: the compiler ends with that status and says the text.
refuses() {
    status=0 wanted_status=$1 said=$2
    shift 2
    "$lw" "$@" -o "$work/refused.c" > "$work/said" 2>&1 || status=$?
    cat "$work/said"
    [ "$status" -eq "$wanted_status" ] && grep -q -- "$said" "$work/said" && [ ! -e "$work/refused.c" ]
}

# ---- The same values ----------------------------------------------------------------------------------------------

for kind in bin incbin progmem section=.rodata.apart; do
    case $(uname -s)-$kind in
    *-incbin | *-section=*)
        [ "$(uname -s)" = Linux ] || { skip "same-values-${kind%=*}" "the object format is not ELF"; continue; } ;;
    esac
    check "same-values-${kind%=*}" "$lw" verify "$digits" --weights "$kind"
    check "same-bytes-${kind%=*}" "$lw" verify "$int8" --weights "$kind"
done
check same-values-in-control-flow "$lw" verify "$flow" --weights bin
check same-bytes-of-packed-weights "$lw" verify "$int8" --weights bin --target cortex-m55
arena() { "$lw" verify "$digits" --weights bin --static-arena && "$lw" verify "$digits" --weights bin --io arena; }
check same-values-in-other-arenas arena

# ---- Few bits -------------------------------------------------------------------------------------------------------

# few NAME SHAPE COUNT FIRST LEVELS: a constant of so many adjacent integers from FIRST on.
few() {
    awk -v name="$1" -v shape="$2" -v n="$3" -v first="$4" -v levels="$5" 'BEGIN {
        printf "const %s: %s = {", name, shape
        for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", first + i * i * 37 % 251 % levels; print "}" }'
}
{
    printf '%s\n' 'input x: i8[1][6][5][16]'
    few wide 'i8[3][3][16][16]' 2304 -8 16
    few odd 'i8[1][1][16][33]' 528 -113 16
    few two 'i8[3][2][33][19]' 3762 -2 4
    few last 'i8[304][19]' 5776 -7 15
    printf '%s\n' 'a = rescale(conv2d(x, wide, pad=[1,1,1,1], zero=3), multiplier=1500000000, shift=8, zero=3)' \
        'b = rescale(conv2d(a, odd, zero=3), multiplier=1500000000, shift=11, zero=-4)' \
        'c = rescale(conv2d(b, two, zero=-4), multiplier=1500000000, shift=6)' \
        'd = rescale(dense(reshape(c, shape=[1,304]), last), multiplier=1500000000, shift=5)' 'output d'
} > "$work/few.te"
# flash TARGET: 12,370 weights of 4 and 2 bits are 5,245 bytes, apart from padding and the first values of the sums.
flash() { "$lw" report "$work/few.te" --target "$1" | grep '^flash  *[5-7][0-9][0-9][0-9] bytes'; }
# ram TARGET: the weights of a few channels are unpacked at once, not all of a layer.
ram() { "$lw" report "$work/few.te" --target "$1" | grep '^RAM  *[1-5][0-9][0-9][0-9] bytes'; }
for target in generic cortex-m0plus cortex-m3 cortex-m4 cortex-m55 x86-avx2 aarch64 rv32imc; do
    check "few-bits-stay-packed-$target" flash $target
    check "few-bits-have-no-copy-$target" ram $target
    check "few-bits-give-the-same-bytes-$target" "$lw" verify "$work/few.te" --target $target
done

# ---- Equal constants ------------------------------------------------------------------------------------------------

# `a` and `b` are one array: type and bytes agree. `c` has another last element, `d` another type.
{
    echo 'input x: f32[20]'
    for name in a b c; do
        [ $name = c ] && last=21 || last=20
        echo "const $name: f32[20] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,$last}"
    done
    echo 'const d: i32[20] = {1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}'
    echo 'y[i] = x[i] * a[i] + b[i]'
    echo 'z[i] = (x[i] + c[i]) * f32(d[i])'
    echo 'output y, z'
} > "$work/equal.te"
stored() {
    "$lw" "$work/equal.te" -o "$work/equal.c" && [ "$(grep -c 'static const.*\[20\] = {' "$work/equal.c")" -eq "$1" ]
}
check equal-constants-are-stored-once stored 3
check equal-constants-give-the-same-values "$lw" verify "$work/equal.te"

# ---- The file -----------------------------------------------------------------------------------------------------

emit() { "$lw" "$digits" -o "$work/$1.c" --name one --weights "$2" --cpp; }
setup emit-file emit one bin
twice() { cp "$work/one.bin" "$work/first.bin" && emit one bin && cmp "$work/one.bin" "$work/first.bin"; }
check same-file-twice twice
sizes() {
    grep -q "ONE_WEIGHTS_FILE_SIZE $(wc -c < "$work/one.bin" | tr -d ' ')u" "$work/one.h" &&
        [ "$(head -c 8 "$work/one.bin")" = LWWEIGHT ] &&
        [ "$(wc -c < "$work/one.c")" -lt 40000 ]
}
check file-size-and-magic sizes
digest() {
    tail -c +65 "$work/one.bin" | sha256sum | cut -c 1-64 > "$work/want"
    tail -c +33 "$work/one.bin" | head -c 32 | od -An -v -tx1 | tr -d ' \n' > "$work/got"
    [ "$(cat "$work/want")" = "$(cat "$work/got")" ]
}
if has sha256sum; then check file-digest digest
else skip file-digest "sha256sum is not installed"; fi
refused() {
    $cc $strict -Iruntime -I"$work" -o "$work/refusals" tests/emitted/weights.c "$work/one.c" -lm &&
        "$work/refusals" "$work/one.bin"
}
check null-misaligned-short-damaged-and-foreign-files refused
class() { ${CXX:-g++} -std=c++11 -Wall -Wextra -Werror -x c++ -fsyntax-only -Iruntime "$work/one.hpp"; }
if has "${CXX:-g++}"; then check class-of-a-file class
else skip class-of-a-file "there is no C++ compiler"; fi

# The program of one training reads the weights of another, and computes what those compute; a network whose code or
# ports differ is refused. trained NAME VALUE SCALE BIAS: y = relu(VALUE * x) * SCALE + BIAS.
trained() {
    printf 'input x: f32[4]\nconst k: f32[3][4] = {%s}\nconst b: f32[3] = {%s}\n' \
        "$2,2,3,4,5,6,7,8,9,10,11,12" "$4" > "$work/$1.te"
    printf 't[i] = sum(j) x[j] * k[i, j]\nu = relu(t)\ny[i] = u[i] * %s + b[i]\noutput y\n' "$3" >> "$work/$1.te"
    "$lw" "$work/$1.te" --name "$5" -o "$work/$1/$1.c" --weights bin --testbench
}
retrained() {
    mkdir -p "$work/old" "$work/new" "$work/other"
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }" \
        > "$work/x.npy"
    printf '\000\000\200\077\000\000\000\100\000\000\200\077\000\000\200\277' >> "$work/x.npy"
    trained old 1 0.5 1,2,3 net && trained new 7 0.5 4,5,6 retrained && trained other 7 0.25 4,5,6 net || return
    "$lw" run "$work/new.te" "$work/x.npy" -o "$work/want.npy" || return
    $cc $strict -Iruntime -I"$work/old" -o "$work/bench" "$work/old/old.c" "$work/old/old_main.c" -lm &&
        "$work/bench" --weights "$work/new/new.bin" "$work/x.npy" "$work/got.npy" &&
        tail -c 12 "$work/want.npy" > "$work/want" && tail -c 12 "$work/got.npy" | cmp - "$work/want" || return
    ! "$work/bench" --weights "$work/other/other.bin" "$work/x.npy" "$work/got.npy" 2> "$work/said" &&
        grep 'is damaged, or of another network' "$work/said"
}
check weights-of-a-retrained-network-are-accepted retrained

# The file of another network is assembled into the program: the run refuses it.
foreign() {
    "$lw" "$digits" -o "$work/two.c" --name two --weights incbin --testbench && cp "$work/two.bin" "$work/good.bin" ||
        return
    $cc $strict -Iruntime -DTWO_WEIGHTS_FILE="\"$work/good.bin\"" -o "$work/good" tests/emitted/weights_included.c \
        -I"$work" "$work/two.c" -lm &&
        "$work/good" 0 || return
    tr '\000' '\001' < "$work/two.bin" > "$work/bad.bin"
    $cc $strict -Iruntime -DTWO_WEIGHTS_FILE="\"$work/bad.bin\"" -o "$work/bad" tests/emitted/weights_included.c \
        -I"$work" "$work/two.c" -lm &&
        "$work/bad" -6
}
if [ "$(uname -s)" = Linux ]; then check included-file-is-checked foreign
else skip included-file-is-checked "the object format is not ELF"; fi

# ---- Sections and program memory ----------------------------------------------------------------------------------

in_section() {
    "$lw" "$digits" -o "$work/three.c" --name three --weights section=.apart &&
        $cc $strict -Iruntime -c -o "$work/three.o" "$work/three.c" || return
    size=$(objdump -h "$work/three.o" | awk '$2 == ".apart" { print $3 }')
    [ "$((0x${size:-0}))" -ge "$(sed -n 's/.*WEIGHTS_SIZE \([0-9]*\)u.*/\1/p' "$work/three.h")" ]
}
if has objdump && [ "$(uname -s)" = Linux ]; then check section-holds-all in_section
else skip section-holds-all "$(missing objdump) or the object format is not ELF"; fi

escape=$(printf '\033')      # the simulator colours the firmware's output
# flash NAME MODEL: on a simulated AVR, the bytes of this machine; data memory holds no constants.
flash() {
    name=$1
    "$lw" "$2" -o "$work/$name.c" --name "$name" --weights progmem || return
    set -- -std=gnu99 -O2 -ffp-contract=off -DMODEL="$name" -DUPPER="$(echo "$name" | tr a-z A-Z)" \
        -DHEADER="\"$name.h\"" -Iruntime -I"$work" tests/emitted/small_int.c "$work/$name.c" -lm
    $cc "$@" -o "$work/$name.host" && avr-gcc -w -mmcu=atmega1284p "$@" -o "$work/$name.elf" &&
        avr-gcc -w -mmcu=atmega1284p -std=gnu99 -O2 -Iruntime -c -o "$work/$name.o" "$work/$name.c" || return
    avr-size "$work/$name.o"
    [ "$(avr-size "$work/$name.o" | awk 'NR == 2 { print $2 + $3 }')" -eq 0 ] || return
    "$work/$name.host" | grep . > "$work/want"
    timeout 60 simavr -m atmega1284p -f 8000000 "$work/$name.elf" 2>&1 | sed "s/$escape\[[0-9;]*m//g" |
        sed -n 's/^\([0-9a-f][0-9a-f]*\)\.$/\1/p' > "$work/got"
    [ "$(sed -n 1p "$work/want")" = 0 ] && cmp "$work/want" "$work/got"
}
for case in residual depthwise-pool-concat; do
    if has avr-gcc && has simavr; then
        check "program-memory-$case" flash "flash_${case%%-*}" "tests/golden/$case/$case.onnx"
    else
        skip "program-memory-$case" "$(missing avr-gcc simavr)"
    fi
done
far() {
    "$lw" "$digits" -o "$work/far.c" --name far --weights progmem && sed -i 's/LW_FLASH/LW_FAR_FLASH/g' "$work/far.c" &&
        avr-gcc -mmcu=atmega1284p -std=gnu99 -O2 -Wall -Iruntime -c -o "$work/far.o" "$work/far.c" &&
        ! grep -q 'far\.c:[0-9]*:[0-9]*: warning' "$log"
}
if has avr-gcc; then check program-memory-beyond-64-kilobytes far
else skip program-memory-beyond-64-kilobytes "avr-gcc is not installed"; fi
needs_gnu() {
    ! avr-gcc -std=c99 -mmcu=atmega1284p -Iruntime -c -o "$work/far.o" "$work/far.c" 2> "$work/said" &&
        grep -q "std_gnu99" "$work/said"
}
if has avr-gcc; then check program-memory-asks-for-gnu-c needs_gnu
else skip program-memory-asks-for-gnu-c "avr-gcc is not installed"; fi

# ---- Refusals -----------------------------------------------------------------------------------------------------

check refuses-an-unknown-word refuses 2 'does not accept "binary"; use c|bin|incbin|progmem|section=NAME' \
    "$digits" --weights binary
check refuses-a-training-step refuses 2 "train excludes" "$digits" --weights bin --train spec
check refuses-a-section-with-blanks refuses 2 'section=a b' "$digits" --weights "section=a b"
check refuses-control-flow-in-program-memory refuses 1 'progmem does not accept control flow' "$flow" --weights progmem
check refuses-instructions-on-program-memory refuses 1 'progmem places outside data memory' \
    "$int8" --weights progmem --target cortex-m4
# 40,000 elements of int8 in one constant.
printf 'input x: i8[40000]\ninput w: i8[40000]\ny[i<40000] = x[i] + w[i]\noutput y\n' > "$work/large.te"
{
    printf '\223NUMPY\001\000\166\000' &&
        printf '%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (40000,), }" &&
        head -c 40000 /dev/zero | tr '\000' '\003'
} > "$work/large.npy"
check refuses-a-constant-beyond-an-object refuses 1 \
    'the constant has 40000 bytes, but the largest object of an AVR has 32767; use --weights c' \
    "$work/large.te" --value "w=$work/large.npy" --weights progmem
report_end
