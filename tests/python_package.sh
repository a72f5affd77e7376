#!/bin/sh
# SPDX-License-Identifier: MIT
# python_package.sh BUILD: the package emitter/python/loopwright over BUILD/libloopwright.so: its docstrings, the cases
# of tests/python/cases.py, and the wheel, unpacked and imported.
set -u
selected=${TEST_CASE:-}
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "python_package.sh BUILD" "$@"

python=$(python_with numpy) || { skip python-package "no Python has numpy"; report_end; exit; }
export LW="$lw" LOOPWRIGHT_LIBRARY="$build/libloopwright.so" PYTHONDONTWRITEBYTECODE=1

# wheel FOLDER: builds a wheel into it.
wheel() { mkdir -p "$1" && cp "$build/libloopwright.so" "$1/" && "$python" emitter/python/wheel.py "$1"; }

is_same_wheel() { wheel "$work/one" && wheel "$work/two" && cmp "$work"/one/*.whl "$work"/two/*.whl; }

# The unpacked wheel is imported without the project in reach.
is_wheel_whole() {
    rm -rf "$work/unpacked"
    wheel "$work/one" && "$python" -m zipfile -e "$work"/one/*.whl "$work/unpacked" || return 1
    (cd "$work/unpacked" && unset LOOPWRIGHT_LIBRARY && PYTHONPATH=. "$python" -c '
import csv, base64, hashlib, pathlib, loopwright
assert "unpacked" in loopwright.__file__
m = loopwright.compile(b"input x: f32[2]\ny = relu(x)\noutput y\n")
assert "unpacked" in loopwright.include_dir()
m.write("k.c")
assert list(m.run([-1.0, 2.0])) == [0, 2]
for name, digest, size in csv.reader(next(pathlib.Path(".").glob("*.dist-info/RECORD")).open()):
    data = pathlib.Path(name).read_bytes()
    sum = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert not digest or (digest, int(size)) == (sum, len(data)), name
') && "${CC:-cc}" -std=c99 -I "$work/unpacked/loopwright/include" -c "$work/unpacked/k.c" -o "$work/k.o"
}

check wheel-is-whole is_wheel_whole
check wheel-has-same-bytes is_same_wheel

TEST_CASE=$selected PYTHONPATH=emitter/python "$python" tests/python/cases.py > "$work/cases.txt" 2> "$work/errors.txt"
grep '^ok \|^skip \|^not ok \|^    ' "$work/cases.txt"
sums=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$work/cases.txt")
[ "$sums" ] || { cat "$work/cases.txt" "$work/errors.txt"; sums="0 1 0"; }
# shellcheck disable=SC2086
set -- $sums
passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
report_end
