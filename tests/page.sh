#!/bin/sh
# SPDX-License-Identifier: MIT
# page.sh BUILD: the page of `report` in headless Chromium: keys, selection, search, a phone's width, contrast, the page
# without script (tests/tools/report_page.py).
set -u
. "$(dirname "$0")/report.sh"
begin "page.sh BUILD" "$@"

digits=samples/digits/digits.onnx
chromium=$(command -v chromium || command -v chromium-browser || echo chromium)
works() { timeout 60 python3 tests/tools/report_page.py "$chromium" "$@"; }
write() {
    "$lw" report $digits --target cortex-m0plus --quiet -o "$work/other.json" &&
        "$lw" report $digits --board nucleo-f446re --against "$work/other.json" --validate layers --quiet \
            -o "$work/chain.html" &&
        "$lw" report tests/models/control.onnx --quiet -o "$work/branches.html"
}
why=$(missing "$chromium" python3)
if [ "$why" ]; then skip pages-can-be-used "$why"
else
    setup pages-are-written write
    check pages-can-be-used works "$work/chain.html" "$work/branches.html"
fi
report_end
