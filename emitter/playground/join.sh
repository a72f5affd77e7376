#!/bin/sh
# SPDX-License-Identifier: MIT
# join.sh PROGRAM.wasm: prints the playground's page. A line of page.html that is only @word@ is replaced: the style is
# the report's, with additions; the compiler and the models are packed as LZMA in base 64.
set -eu
play=emitter/playground

packed() {
    printf '<script type="text/plain" id="%s">' "$1"
    xz --format=lzma -9e -c "$2" | base64 | tr -d '\n'
    echo '</script>'
}

while IFS= read -r line; do
    case $line in
    @style@) cat emitter/api/report/template/page.css $play/page.css ;;
    @packed@)
        packed compiler "$1"
        packed digits.onnx samples/digits/digits.onnx
        packed calibration.npy samples/digits/calibration.npy
        packed quantized.onnx tests/models/quantized.onnx ;;
    @host@) cat $play/host.js $play/unpack.js $play/serve.js ;;
    @script@)
        cat emitter/api/report/template/words.js
        for part in worker zip options results page; do cat $play/$part.js; done ;;
    *) printf '%s\n' "$line" ;;
    esac
done < $play/page.html
