#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: builds main.c with the library, verifies net.te and open.te with OpenBLAS (Debian: libopenblas-dev),
# and ends with status 1 where a result, or a choice, differs; with status 77 where OpenBLAS is missing.
. "$(dirname "$0")/../prepare.sh"
export OPENBLAS_NUM_THREADS=1
echo 'int cblas_sgemm(void); int main(void) { return cblas_sgemm != 0 ? 0 : 1; }' > "$work/probe.c"
$cc "$work/probe.c" -lopenblas -o "$work/probe" 2> /dev/null || { echo "libopenblas-dev is not installed"; exit 77; }
build_main
has() { grep -q -e "$2" "$work/$1" || { echo "$1: no line '$2'" >&2; cat "$work/$1" >&2; exit 1; }; }

"$work/main" "$here/net.te" strategy > "$work/net.txt"
"$work/main" "$here/net.te" verify -lopenblas > "$work/verify.txt"
"$work/main" "$here/net.te" compile "$work/net.c"
has net.txt 'chosen: dense.sgemm'
has net.txt 'chosen: matmul.sgemm'
has net.txt 'dense.sgemm .* its condition does not hold'
has verify.txt 'verified: 1 of 1 outputs'
has net.c '^void cblas_sgemm(int32_t, int32_t, int32_t, int32_t, int32_t, int32_t, float, const float \*, int32_t,'
has net.c 'cblas_sgemm(101, 111, 111, 24, 48, 64, 1.0f, x, 64, w, 48, 0.0f, '
"$work/main" "$here/open.te" strategy > "$work/open.txt"
"$work/main" "$here/open.te" verify -lopenblas > "$work/verify-open.txt"
has open.txt 'two versions: the condition'
has verify-open.txt 'verified: 3 of 3 outputs'
