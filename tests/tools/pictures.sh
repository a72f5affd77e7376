#!/bin/sh
# SPDX-License-Identifier: MIT
# pictures.sh BUILD: draws the pictures of docs/quantizing-tutorial.md again, from the report of a quantization, with
# chromium. Each is the page with one section of it.
set -eu
build=${1:-build}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo "pictures.sh: chromium is required, to draw HTML" >&2; exit 1; }
work=$(cd "$build" && pwd)/pictures
mkdir -p "$work" docs/pictures
"$build/loopwright" quantize samples/digits/digits.onnx --samples samples/digits/calibration.npy --quiet \
    -o "$work/digits.c" --report "$work/digits.html"
head=$(sed '/<body>/q' "$work/digits.html")

# draw NAME HEIGHT: the section on stdin.
draw() {
    { echo "$head"; cat; echo '</body></html>'; } > "$work/$1.html"
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="820,$2" \
        --screenshot="$PWD/docs/pictures/$1.png" "file://$work/$1.html" > "$work/log" 2>&1
}
sed -n '/<h2>Sensitivity/,/<\/ol>/p' "$work/digits.html" | sed 1d | draw quantize-sensitivity 560
sed -n '/<div class="grids">/,$p' "$work/digits.html" |
    awk '/<div class="grids">/ || /<b>(relu_3|relu_4|gemm_1_out|scores)<\/b>/' | draw quantize-grids 350
ls -l docs/pictures
