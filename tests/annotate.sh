#!/bin/sh
# SPDX-License-Identifier: MIT
# annotate.sh BUILD: annotation files; devices in emitted programs, with the default in C and with a driver instead;
# recorded annotations do not change the emitted program.
set -u
. "$(dirname "$0")/report.sh"
begin "annotate.sh BUILD" "$@"
rm -rf "$work"/*

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
cat > "$work/net.te" <<'END'
input x: f32[1][8][8][2]
const k1: f32[3][3][2][4] = {
    0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1,
    0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1,
    0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1, 0.5,-0.25,0.125,1}
conv_1 = conv2d(x, k1, pad=1,1,1,1)
relu_1 = relu(conv_1)
pool = max_pool2d(relu_1, kernel=2, stride=2)
tanh_1 = tanh(pool)
relu_2 = relu(tanh_1)
sum = reduce_sum(relu_2, axes=3)
output sum
END

# stop_fusion also ends combinations for RAM. Models in which the build combines none show that it has no other effect.
emit() { name=$1; shift; "$lw" "$work/net.te" -o "$work/$name.c" --name net --combine none --quiet "$@"; }
said() { printf "$1" > "$work/$2.txt"; }

# refuses PLACE WORDS: the file said.txt is refused at that line and column, with a caret below the text.
refuses() {
    ! "$lw" dump "$work/net.te" --annotate "$work/said.txt" > "$work/out" 2> "$work/err" &&
        grep -q "^$work/said.txt: $1: error: .*$2" "$work/err" &&
        sed -n 3p "$work/err" | grep -q '^ *^' && return
    cat "$work/err"
    return 1
}

said 'stop_fusoin conv_1\n' said
check file-unknown-annotation-is-refused refuses 1:1 "did you mean 'stop_fusion'"
said '# nothing\nstop_fusion relu_1, conv_7\n' said
check file-unknown-node-is-refused refuses 2:21 "'conv_7'; did you mean 'conv_1'"
said 'on_device npv conv_1\n' said
check file-unknown-device-is-refused refuses 1:11 "did you mean 'npu'"
said 'on_device npu relu_2..conv_1\n' said
check file-range-backwards-is-refused refuses 1:15 "' follows '"
said 'on_device npu\n' said
check file-no-pattern-is-refused   refuses 1:1 'it names no node'
said 'stop_fusion scale=2 relu_1\n' said
check file-scale-of-nothing-is-refused refuses 1:1 'does not accept scale'
said 'simulated_quantize relu_1 zero=3\n' said
check file-zero-alone-is-refused   refuses 1:1 'zero=.* is given without a scale; add scale=NUMBER'
said 'simulated_quantize relu_1 scale=1 bits=99\n' said
bad_bits() {
    ! "$lw" dump "$work/net.te" --annotate "$work/said.txt" > "$work/out" 2> "$work/err" &&
        grep -q '2 to 16' "$work/err"
}
check file-bad-bits-is-refused     bad_bits
said 'simulated_quantize relu_1 scale=1 bots=9\n' said
check file-unknown-attribute-is-refused refuses 1:1 "did you mean 'bits'"
check file-missing-is-refused sh -c "! '$lw' dump '$work/net.te' --annotate '$work/none.txt' > /dev/null 2>&1"
printf 'nest\ninput x: f32[4]\ny[i] = x[i]\noutput y\n' > "$work/formula.te"
said 'stop_fusion y\n' said
for_a_nest() {
    ! "$lw" dump "$work/formula.te" --annotate "$work/said.txt" > "$work/out" 2> "$work/err" &&
        grep -q 'annotations cannot be used with a file that is one `nest`' "$work/err"
}
check file-for-a-nest-is-refused for_a_nest

# A file of formulas: the annotations act.
sed 1d "$work/formula.te" | sed 's/y\[i\] = x\[i\]/t[i] = x[i] * 2\ny = relu(t)/' > "$work/formulas.te"
said 'on_device dsp t\nstop_fusion t\n' said
on_formulas() {
    "$lw" "$work/formulas.te" -o "$work/formulas.c" --annotate "$work/said.txt" --name f &&
        grep -q 'f_dsp' "$work/formulas.c" &&
        "$lw" dump "$work/formulas.te" --at fused --annotate "$work/said.txt" > "$work/out" &&
        [ "$(grep -c '^group' "$work/out")" -eq 5 ]
}
check file-for-formulas         on_formulas

cat > "$work/nest.te" <<'END'
nest
input x: f32[4]
a[i] = x[i] + 1
b = annotation.on_device(a, device=npu)
y[i] = b[i] * 2
output y
END
in_a_nest() {
    ! "$lw" "$work/nest.te" -o "$work/nest.c" 2> "$work/err" &&
        grep -q "nest.te: 4:5: error: 'annotation.on_device' has no effect" "$work/err"
}
check call-in-a-nest-is-refused in_a_nest

# A mark on a value that the affine pass folds away is defined where it is printed.
cat > "$work/marked.te" <<'END'
input x: f32[1][3]
const w: f32[3][2] = {1,2,3,4,5,6}
const k: f32[2] = {2,3}
a = dense(x, w)
b = annotation.stop_gradient(a)
y = mul(b, k)
output y
END
marked() {
    "$lw" dump "$work/marked.te" --at dag > "$work/out" || return
    id=$(sed -n 's/^mark   \(t[0-9]*\): annotation.stop_gradient .*/\1/p' "$work/out")
    [ -n "$id" ] && grep -q "^$id = dense(" "$work/out" && return
    cat "$work/out"
    return 1
}
check mark-of-a-folded-value-is-defined marked

groups() {
    "$lw" dump "$work/net.te" --at fused --combine none --quiet --annotate "$work/said.txt" |
        sed -n 's/^group \([^ ]*\) .*/\1/p' | tr '\n' ' '
}
has_groups() { found=$(groups); [ "$found" = "$1" ] || { echo "groups: $found"; return 1; }; }
said '' said
check file-empty-changes-no-group  has_groups 'conv_1 pool sum '
said 'stop_fusion conv_1 tanh_*\n' said
check file-patterns-split-groups   has_groups 'conv_1 conv_1_2 relu_1 pool tanh_1 sum '
said 'stop_fusion "conv_1"   # quoted\n' said
check file-quoted-name-is-found    has_groups 'conv_1 conv_1_2 relu_1 pool sum '
said 'simulated_quantize relu_1 scale=0.5,1,2,4 axis=3 bits=4 sign=0\n' said
check file-per-channel-is-dumped \
    sh -c "'$lw' dump '$work/net.te' --annotate '$work/said.txt' | grep -q 'simulated_quantize.*bits=4 sign=0'"
check file-per-channel-is-verified "$lw" verify "$work/net.te" --annotate "$work/said.txt"

# ---- No trace --------------------------------------------------------------------------------------------------------

setup emit-plain emit plain
same_code() {
    sed "s/plain[.]h/$1.h/" "$work/plain.c" | cmp - "$work/$1.c" && same_header "$work/plain.h" "$work/$1.h"
}
said 'stop_gradient *\ncheckpoint conv_1..tanh_1\n' said
setup emit-recorded emit recorded --annotate "$work/said.txt"
check recorded-leaves-no-trace same_code recorded
said 'annotation.vendor_tile conv_1 level=3\nbitpack_start conv_1\ncast_hint pool dtype=i16\nbitpack_end tanh_1\n' said
check carried emit carried --annotate "$work/said.txt"
check carried-leaves-no-trace same_code carried
reported() {
    "$lw" report "$work/net.te" --annotate "$work/said.txt" > "$work/out" 2> "$work/err" &&
        grep -q "^$1$" "$work/out" || { cat "$work/out" "$work/err"; return 1; }
}
check carried-to-report            reported 'conv_1  *annotation.vendor_tile level=3'
check carried-to-report-cast-hint  reported 'pool  *annotation.cast_hint dtype=i16'
check carried-to-report-bitpack    reported 'tanh_1  *annotation.bitpack_end'
check carried-note                 grep -q 'annotation.vendor_tile: note: this annotation is unknown' "$work/err"
said 'annotation.stop_fusoin conv_1\n' said
check file-misspelt-in-namespace-is-refused refuses 1:1 "there is no annotation 'annotation.stop_fusoin'"
said 'cast_hint conv_1 dtype=int8\n' said
bad_dtype() {
    ! "$lw" dump "$work/net.te" --annotate "$work/said.txt" > "$work/out" 2> "$work/err" &&
        grep -q "'int8'; use an element type" "$work/err"
}
check file-cast-hint-type          bad_dtype

said 'stop_fusion relu_1\n' said
setup emit-stop-between-groups emit stopped --annotate "$work/said.txt"
check stop-between-groups-leaves-no-trace sh -c "sed 's/plain[.]h/stopped.h/' '$work/plain.c' | cmp - '$work/stopped.c'"

# ---- Devices ---------------------------------------------------------------------------------------------------------

said 'on_device npu conv_1..pool relu_2\non_device dsp sum\n' device
setup emit-device emit device --testbench --annotate "$work/device.txt"
setup emit-device-again emit device_again --testbench --annotate "$work/device.txt"
check device-is-verified "$lw" verify "$work/net.te" --annotate "$work/device.txt"
noted() {
    said 'on_device npu tanh_1\n' said
    "$lw" dump "$work/net.te" --annotate "$work/said.txt" 2>&1 |
        grep -q 'note: runs on the cpu: the device npu does not accept tanh'
}
setup device-without-calls-is-noted noted
once() { [ "$("$lw" "$@" 2>&1 | grep -c 'note: runs on the cpu')" = 1 ] || { "$lw" "$@"; return 1; }; }
check device-note-once-in-verify once verify "$work/net.te" --annotate "$work/said.txt"

# The default builds without a warning. With a driver the default's functions are not in the object, and the driver's
# are called.
cat > "$work/driver.c" <<'END'
#include "device.h"
#include <stdio.h>
#include <string.h>
static int calls;
int net_npu_1(void *arena, const float *x, float *pool)
{
    (void)arena;
    calls++;
    for (int i = 0; i < 64; i++) pool[i] = x[2 * i];
    return 0;
}
int net_npu_2(void *arena, const float *tanh_1, float *relu_2)
{
    (void)arena;
    calls++;
    memcpy(relu_2, tanh_1, 64 * sizeof(float));
    return calls > 2 ? -77 : 0;
}
int main(void)
{
    static union { double align[2]; unsigned char bytes[NET_ARENA_SIZE + 16]; } memory;
    static float x[NET_ARENA_SIZE], y[16];
    void *arena = memory.bytes + (16 - (size_t)memory.bytes % 16) % 16;
    const struct net_inputs in = { x };
    const struct net_outputs out = { y };
    for (int i = 0; i < 128; i++) x[i] = 1;
    const int first = net_run(arena, &in, &out), second = net_run(arena, &in, &out);
    printf("%d %d %d %g\n", first, second, calls, (double)y[0]);
    return !(first == 0 && second == -77 && calls == 4 && y[0] > 3.04f && y[0] < 3.05f);
}
END
setup device-default-builds  $cc $strict -Iruntime -I"$work" "$work/device.c" "$work/device_main.c" -lm \
    -o "$work/default"
setup device-driver-builds   $cc $strict -DNET_HAVE_NPU -Iruntime -I"$work" "$work/device.c" "$work/driver.c" -lm \
    -o "$work/driver"
check device-driver-is-called "$work/driver"
without_default() {
    $cc $strict -O2 -DNET_HAVE_NPU -c -Iruntime -I"$work" "$work/device.c" -o "$work/device.o" &&
        ! nm "$work/device.o" | grep -e conv_1 -e ' T net_npu'
}
if command -v nm > /dev/null 2>&1; then check device-driver-leaves-no-default without_default
else skip device-driver-leaves-no-default "nm is not installed"; fi
check device-all-drivers     $cc $strict -DNET_HAVE_NPU -DNET_HAVE_DSP -c -Iruntime -I"$work" "$work/device.c" \
    -o "$work/both.o"
header_is_cxx() {
    echo '#include "device.h"' > "$work/h.cc"
    ! has c++ || c++ -Wall -Wextra -Werror -fsyntax-only -I"$work" "$work/h.cc"
}
check device-header-is-cxx   header_is_cxx
setup emit-device-static     emit device_static --static-arena --annotate "$work/device.txt"
check device-static-builds   $cc $strict -c -Iruntime -I"$work" "$work/device_static.c" -o "$work/static.o"

# ---- Open sizes on devices -------------------------------------------------------------------------------------------
# The sizes are parameters of the device's function. The driver writes all its outputs before it reads its inputs.

cat > "$work/open.te" <<'END'
size n in 1..16
input x: f32[n][4]
input z: f32[n][3]
const w: f32[4][2] = {1,2,3,4,5,6,7,8}
a = dense(x, w)
b = relu(a)
d = relu(z)
e = tanh(d)
output b, e
END
printf 'on_device npu a b d\n' > "$work/open.txt"
cat > "$work/open_driver.c" <<'END'
#include "open.h"
#include <stdio.h>
#include <string.h>
#ifdef OPEN_HAVE_NPU
int open_npu_1(void *arena, int32_t n, const float *x, const float *z, float *b, float *d)
{
    (void)arena;
    memset(b, 0xff, (size_t)n * 2 * sizeof *b);
    memset(d, 0xff, (size_t)n * 3 * sizeof *d);
    for (int32_t i = 0; i < n * 3; i++) d[i] = z[i] > 0 ? z[i] : 0;
    for (int32_t i = 0; i < n * 2; i++) {
        const float *row = x + i / 2 * 4;
        const float sum = row[0] * (float)(1 + i % 2) + row[1] * (float)(3 + i % 2) +
                          row[2] * (float)(5 + i % 2) + row[3] * (float)(7 + i % 2);
        b[i] = sum > 0 ? sum : 0;
    }
    return 0;
}
#endif
int main(void)
{
    static union { double align[2]; unsigned char bytes[OPEN_ARENA_SIZE + 16]; } memory;
    void *arena = memory.bytes + (16 - (size_t)memory.bytes % 16) % 16;
    for (int32_t n = 1; n <= 16; n += 5) {
        float x[64], z[48], b[32], e[48];
        for (int i = 0; i < 64; i++) x[i] = (float)(i % 7 - 3);
        for (int i = 0; i < 48; i++) z[i] = (float)(i % 3 - 1) * 100;
        const struct open_inputs in = { x, z, n };
        const struct open_outputs out = { b, e };
        if (open_run(arena, &in, &out) != 0) return 1;
        for (int i = 0; i < n * 2; i++) {
            float sum = 0;
            for (int k = 0; k < 4; k++) sum += x[i / 2 * 4 + k] * (float)(1 + 2 * k + i % 2);
            if (b[i] != (sum > 0 ? sum : 0)) return printf("b[%d] of %d is %g\n", i, (int)n, (double)b[i]), 2;
        }
        for (int i = 0; i < n * 3; i++)
            if (e[i] != (z[i] > 0 ? 1.0f : 0.0f)) return printf("e[%d] of %d is %g\n", i, (int)n, (double)e[i]), 3;
    }
    return 0;
}
END
setup emit-open-device "$lw" "$work/open.te" -o "$work/open.c" --name open --quiet --annotate "$work/open.txt"
check open-device-has-a-size-parameter grep -q \
    '^int open_npu_1(void \*arena, int32_t n, const float \*x, const float \*z, float \*b, float \*d);' "$work/open.h"
check open-device-size-is-documented grep -q '^ \*   n  *int32_t  1 to 16$' "$work/open.h"
check open-device-is-verified "$lw" verify "$work/open.te" --annotate "$work/open.txt"
for driver in "" -DOPEN_HAVE_NPU; do
    setup "open-device-builds$driver" $cc $strict $driver -Iruntime -I"$work" "$work/open.c" "$work/open_driver.c" -lm \
        -o "$work/open$driver"
    check "open-device-runs$driver" "$work/open$driver"
done

# ---- Lists -----------------------------------------------------------------------------------------------------------

levels() {
    for name in on_device stop_fusion stop_gradient simulated_quantize checkpoint; do
        "$lw" ops --level 10 | grep -q "^annotation.$name  *10 " || { echo "$name is not listed"; return 1; }
    done
}
check annotations-are-listed-at-level-10 levels
check devices-are-listed sh -c "'$lw' targets | grep -q '^npu '"

report_end
