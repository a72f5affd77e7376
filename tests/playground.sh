#!/bin/sh
# SPDX-License-Identifier: MIT
# playground.sh BUILD: the compiler as WebAssembly (`make playground`) in headless Chromium. On all recorded models it
# gives the native compiler's files and messages to the byte; the page works from a dropped model to a saved package
# (tests/tools/playground.py).
set -u
. "$(dirname "$0")/report.sh"
begin "playground.sh BUILD" "$@"

chromium=$(command -v chromium || command -v chromium-browser || echo chromium)
page=$build/playground.html
works() { timeout 300 python3 tests/tools/playground.py "$chromium" "$page" "$lw" "$1"; }
build_page() { "${MAKE:-make}" --no-print-directory -j2 BUILD="$build" playground; }
small() { [ "$(wc -c < "$page")" -le 1500000 ]; }
wasi() { [ -e /usr/include/wasm32-wasi/stdio.h ] || echo "wasi-libc is not installed"; }
why=$(missing clang-16 wasm-ld-16 xz base64 python3 "$chromium")
why=${why:-$(wasi)}
if [ "$why" ]; then
    for name in playground-has-at-most-1500000-bytes playground-gives-the-native-bytes playground-can-be-used; do
        skip $name "$why"
    done
else
    setup playground-is-built build_page
    check playground-has-at-most-1500000-bytes small
    check playground-gives-the-native-bytes works equal
    check playground-can-be-used works used
fi
report_end
