#!/bin/sh
# SPDX-License-Identifier: MIT
# open.sh BUILD: which operators keep dimensions open, and with what numbers; see tests/open.py.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: open.sh BUILD}" && pwd)
cd "$root" || exit 1
. tests/report.sh

python=
for candidate in python3 /usr/bin/python3; do
    [ -z "$python" ] && "$candidate" -c 'import numpy, onnx.parser, onnx.reference' > /dev/null 2>&1 && python=$candidate
done
if [ -n "$python" ]; then exec "$python" tests/open.py "$build"; fi
skip open "there is no python3 with onnx and numpy"
report_end
