#!/bin/sh
# SPDX-License-Identifier: MIT
# python_package.sh BUILD: the package emitter/python/loopwright over BUILD/libloopwright.so: its docstrings, the cases
# of tests/python/cases.py, the wheel, unpacked and imported, also by other versions of Python, and the source
# distribution. $PYTHONS names more Pythons than the PATH has.
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

# The unpacked sources have all that `make shared` reads; nothing is built.
has_its_sources() {
    rm -rf "$work/sources" && mkdir -p "$work/sources" &&
        PYTHONPATH=emitter/python "$python" -c 'import sys, wheel; wheel.build_sdist(sys.argv[1])' "$work/sources" &&
        (cd "$work/sources" && tar xzf ./*.tar.gz && cd loopwright-*/ && make -n shared > /dev/null)
}

# python_of VERSION: a Python of this version that has numpy.
python_of() {
    for candidate in ${PYTHONS:-} "$python" "python$1"; do
        "$candidate" -c "import sys, numpy; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" > /dev/null 2>&1 &&
            command -v "$candidate" && return
    done
    return 1
}

# installs_on PYTHON: installs the wheel into a folder, or unpacks it if PYTHON has no pip; runs a network and the
# docstrings.
installs_on() {
    rm -rf "$work/installed"
    wheel "$work/one" > /dev/null || return 1
    if "$1" -m pip --version > /dev/null 2>&1; then
        "$1" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$work/installed" \
            "$work"/one/*.whl
    else "$1" -m zipfile -e "$work"/one/*.whl "$work/installed"; fi || return 1
    (unset LOOPWRIGHT_LIBRARY && PYTHONPATH="$work/installed" "$1" -c '
import doctest, numpy, loopwright, loopwright.model
assert "installed" in loopwright.__file__
m = loopwright.compile("samples/digits/digits.onnx", target="cortex-m4")
x, y = (numpy.load(f"samples/digits/{name}.npy") for name in ("test", "test_labels"))
assert m.evaluate(x, y, progress=False).accuracy > 0.99
for module in (loopwright, loopwright.model, loopwright.schedule, loopwright._abi):
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0, module.__name__
')
}

check wheel-is-whole is_wheel_whole
check wheel-has-same-bytes is_same_wheel
check source-distribution-is-whole has_its_sources
for version in 3.9 3.10 3.11 3.12 3.13 3.14; do
    if other=$(python_of $version); then check "wheel-installs-on-python-$version" installs_on "$other"
    else skip "wheel-installs-on-python-$version" "this machine has no other Python with numpy"; fi
done

TEST_CASE=$selected PYTHONPATH=emitter/python "$python" tests/python/cases.py > "$work/cases.txt" 2> "$work/errors.txt"
grep '^ok \|^skip \|^not ok \|^    ' "$work/cases.txt"
sums=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$work/cases.txt")
[ "$sums" ] || { cat "$work/cases.txt" "$work/errors.txt"; sums="0 1 0"; }
# shellcheck disable=SC2086
set -- $sums
passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
report_end
